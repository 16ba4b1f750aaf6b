//! Which signatures are valid: the rules on bytes, and the one table of small-order encodings.

use crate::scalar::Scalar;
use core::fmt;
use core::str::FromStr;

/// The rule that a [`Verifier`](crate::Verifier) applies.
///
/// `docs/predicate.md` states each rule and its source.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Profile {
    /// ed25519-dalek 2.2.0 `verify_strict`, bit for bit: S < L, neither A nor R of small order, and
    /// the canonical encoding of \[S\]B − \[k\]A equal to the bytes of R.
    #[default]
    DalekStrict,
}

impl Profile {
    /// Every profile.
    pub const ALL: &'static [Self] = &[Self::DalekStrict];

    /// The name on the command line: `dalek-strict`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::DalekStrict => "dalek-strict",
        }
    }

    /// S, if the rules on bytes let the signature pass: what is left to decide is whether A decodes
    /// and whether [S]B − [k]A encodes to the bytes of R.
    ///
    /// Comparing with R's bytes implies the rules that R decodes and that its encoding is
    /// canonical.
    pub(crate) fn admit(self, public_key: &[u8; 32], signature: &[u8; 64]) -> Option<Scalar> {
        let (r, s) = halves(signature);
        match self {
            Self::DalekStrict => {
                if is_small_order(public_key) || is_small_order(r) {
                    return None;
                }
            }
        }
        Scalar::from_canonical(s)
    }
}

impl fmt::Display for Profile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// No profile has this name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnknownProfile;

impl fmt::Display for UnknownProfile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("unknown profile")
    }
}

impl core::error::Error for UnknownProfile {}

impl FromStr for Profile {
    type Err = UnknownProfile;

    fn from_str(name: &str) -> Result<Self, UnknownProfile> {
        Self::ALL.iter().copied().find(|profile| profile.name() == name).ok_or(UnknownProfile)
    }
}

/// R and S.
pub(crate) fn halves(signature: &[u8; 64]) -> (&[u8; 32], &[u8; 32]) {
    let (halves, _) = signature.as_chunks::<32>();
    (&halves[0], &halves[1])
}

/// The seven y, each with either sign bit an encoding, that decode to the eight points of small
/// order: 0, 1, −1, the two of order 8, and the non-canonical forms p of 0 and p + 1 of 1.
const SMALL_ORDER_Y: [[u8; 32]; 7] = [
    y(0x00, 0x00, 0x00),
    y(0x01, 0x00, 0x00),
    [
        0x26, 0xe8, 0x95, 0x8f, 0xc2, 0xb2, 0x27, 0xb0, 0x45, 0xc3, 0xf4, 0x89, 0xf2, 0xef, 0x98,
        0xf0, 0xd5, 0xdf, 0xac, 0x05, 0xd3, 0xc6, 0x33, 0x39, 0xb1, 0x38, 0x02, 0x88, 0x6d, 0x53,
        0xfc, 0x05,
    ],
    [
        0xc7, 0x17, 0x6a, 0x70, 0x3d, 0x4d, 0xd8, 0x4f, 0xba, 0x3c, 0x0b, 0x76, 0x0d, 0x10, 0x67,
        0x0f, 0x2a, 0x20, 0x53, 0xfa, 0x2c, 0x39, 0xcc, 0xc6, 0x4e, 0xc7, 0xfd, 0x77, 0x92, 0xac,
        0x03, 0x7a,
    ],
    y(0xec, 0xff, 0x7f),
    y(0xed, 0xff, 0x7f),
    y(0xee, 0xff, 0x7f),
];

/// The bytes of a y whose bytes 1 … 30 are equal.
const fn y(first: u8, middle: u8, last: u8) -> [u8; 32] {
    let mut bytes = [middle; 32];
    bytes[0] = first;
    bytes[31] = last;
    bytes
}

/// Whether a point's encoding, canonical or not, is of order 1, 2, 4 or 8.
pub(crate) fn is_small_order(encoding: &[u8; 32]) -> bool {
    // The seven first bytes differ, and few other encodings begin like one of them.
    SMALL_ORDER_Y
        .iter()
        .any(|y| y[0] == encoding[0] && y[1..31] == encoding[1..31] && y[31] == encoding[31] & 0x7f)
}

/// Whether the y of an encoding is below p = 2^255 − 19. (The other rule for canonical encodings,
/// no sign bit where x = 0, concerns y = ±1 alone: small order.)
pub(crate) fn is_canonical(encoding: &[u8; 32]) -> bool {
    encoding[31] & 0x7f != 0x7f
        || encoding[1..31].iter().any(|byte| *byte != 0xff)
        || encoding[0] < 0xed
}

#[cfg(test)]
mod tests {
    use super::*;
    use ed25519_dalek::VerifyingKey;

    #[test]
    fn small_order_table_is_dalek_s_test() {
        let mut rows = 0;
        for y in SMALL_ORDER_Y {
            for sign in [0, 0x80] {
                let mut encoding = y;
                encoding[31] |= sign;
                let key = VerifyingKey::from_bytes(&encoding).expect("decodes");
                assert!(key.is_weak() && is_small_order(&encoding), "{encoding:02x?}");
                rows += 1;
                // One bit away, whatever decodes is of large order, or is another row.
                for bit in 0..255 {
                    let mut other = encoding;
                    other[bit / 8] ^= 1 << (bit % 8);
                    let weak = VerifyingKey::from_bytes(&other).is_ok_and(|key| key.is_weak());
                    assert_eq!(is_small_order(&other), weak, "{other:02x?}");
                }
            }
        }
        assert_eq!(rows, 14);
    }

    #[test]
    fn canonical_is_below_p() {
        for sign in [0, 0x80] {
            let encoding = |first| {
                let mut encoding = y(first, 0xff, 0x7f);
                encoding[31] |= sign;
                encoding
            };
            for first in 0..=255 {
                assert_eq!(is_canonical(&encoding(first)), first < 0xed);
                for bit in 8..255 {
                    let mut smaller = encoding(first);
                    smaller[bit / 8] ^= 1 << (bit % 8);
                    assert!(is_canonical(&smaller));
                }
            }
        }
    }

    #[test]
    fn names_are_parsed_back() {
        for profile in Profile::ALL {
            assert_eq!(profile.name().parse(), Ok(*profile));
        }
        assert_eq!("Dalek".parse::<Profile>(), Err(UnknownProfile));
    }
}
