//! Which signatures are valid: the rules on bytes, and the one table of small-order encodings.

use crate::scalar::Scalar;
use core::fmt;
use core::str::FromStr;

/// The rule that a call of a [`Verifier`](crate::Verifier) applies.
///
/// L is the order of the base point B; A is the public key, R and S are the halves of the signature,
/// k = SHA-512(R ‖ A ‖ M) mod L. Every profile wants S < L and an A that decodes; "decodes" takes y
/// modulo p = 2^255 − 19 and ignores the sign bit where x = 0, as ed25519-dalek does.
///
/// `docs/predicate.md` states each rule with its source, and shows where they differ.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Profile {
    /// ed25519-dalek 2.2.0 `verify_strict`, bit for bit: neither A nor R of small order, and the
    /// canonical encoding of \[S\]B − \[k\]A equal to the bytes of R. What Agave 4.2 applies.
    #[default]
    DalekStrict,
    /// ed25519-dalek 2.2.0 `verify`, ring, Go's crypto/ed25519: [`Self::DalekStrict`] without its rule
    /// on small order.
    StdlibCompat,
    /// ZIP 215, as ed25519-zebra and solana-ed25519 `verify_zebra` decide it: R decodes, and
    /// \[8\](\[S\]B − R − \[k\]A) = O.
    Zip215,
    /// The proposal SIMD-0376 as amended: A and R canonical encodings of points that are not of small
    /// order, and the equation of [`Self::Zip215`].
    Simd0376,
}

/// The comparison at the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Equation {
    /// The encoding of [S]B − [k]A equals the bytes of R. So R decodes, and is canonical.
    Cofactorless,
    /// R decodes, and [8]([S]B − [k]A − R) = O.
    Cofactored,
}

impl Profile {
    /// Every profile.
    pub const ALL: &'static [Self] =
        &[Self::DalekStrict, Self::StdlibCompat, Self::Zip215, Self::Simd0376];

    /// The name on the command line: `dalek-strict`, `stdlib-compat`, `zip215`, `simd0376`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::DalekStrict => "dalek-strict",
            Self::StdlibCompat => "stdlib-compat",
            Self::Zip215 => "zip215",
            Self::Simd0376 => "simd0376",
        }
    }

    pub(crate) const fn equation(self) -> Equation {
        match self {
            Self::DalekStrict | Self::StdlibCompat => Equation::Cofactorless,
            Self::Zip215 | Self::Simd0376 => Equation::Cofactored,
        }
    }

    /// S, if the rules on bytes let the signature pass: what is left to decide is whether A decodes,
    /// and the [`Equation`].
    pub(crate) fn admit(self, public_key: &[u8; 32], signature: &[u8; 64]) -> Option<Scalar> {
        let (r, s) = halves(signature);
        let small_order = || is_small_order(public_key) || is_small_order(r);
        let pass = match self {
            Self::DalekStrict => is_canonical(r) && !small_order(),
            // [S]B − [k]A could have no other encoding.
            Self::StdlibCompat => is_canonical(r),
            Self::Zip215 => true,
            Self::Simd0376 => is_canonical(public_key) && is_canonical(r) && !small_order(),
        };
        pass.then(|| Scalar::from_canonical(s)).flatten()
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

/// Whether no other encoding decodes to the same point: y is below p = 2^255 − 19, and there is no
/// sign bit where x = 0, that is where y = ±1 (RFC 8032, section 5.1.3).
pub(crate) fn is_canonical(encoding: &[u8; 32]) -> bool {
    if encoding[31] & 0x7f == 0x7f && encoding[1..31] == [0xff; 30] {
        // y = 2^255 − 256 + the first byte; p − 1 ends in 0xec.
        return encoding[0] < 0xec || encoding[0] == 0xec && encoding[31] == 0x7f;
    }
    const MINUS_ZERO: [u8; 32] = y(0x01, 0x00, 0x80);
    *encoding != MINUS_ZERO
}

#[cfg(test)]
mod tests {
    use super::*;
    use curve25519_dalek::edwards::CompressedEdwardsY;
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
    fn canonical_is_what_encodes_back() {
        let check = |encoding: [u8; 32]| {
            if let Some(point) = CompressedEdwardsY(encoding).decompress() {
                let back = point.compress().to_bytes();
                assert_eq!(is_canonical(&encoding), back == encoding, "{encoding:02x?}");
            }
        };
        for sign in [0, 0x80] {
            for first in 0..=255 {
                for (middle, last) in [(0x00, 0x00), (0xff, 0x7f)] {
                    let encoding = y(first, middle, last | sign);
                    check(encoding);
                    // y on no point, too: nothing but the modulus and x = 0 count.
                    let (first, negative) = (encoding[0], sign != 0);
                    let expected = match middle {
                        0 => first != 1 || !negative,
                        _ => first < 0xec || first == 0xec && !negative,
                    };
                    assert_eq!(is_canonical(&encoding), expected, "{encoding:02x?}");
                    for bit in 8..255 {
                        let mut other = encoding;
                        other[bit / 8] ^= 1 << (bit % 8);
                        assert!(is_canonical(&other), "{other:02x?}");
                        check(other);
                    }
                }
            }
        }
    }

    /// Every rule on bytes, alone: of small order, not canonical, S out of range.
    #[test]
    fn profiles_admit_by_their_own_rules() {
        let plain = y(0x03, 0x00, 0x00);
        let small = SMALL_ORDER_Y[2];
        let not_canonical = y(0xf0, 0xff, 0x7f);
        let both = y(0xed, 0xff, 0x7f);
        assert!(!is_small_order(&plain) && is_canonical(&plain));
        assert!(is_small_order(&small) && is_canonical(&small));
        assert!(!is_small_order(&not_canonical) && !is_canonical(&not_canonical));
        assert!(is_small_order(&both) && !is_canonical(&both));
        //            DalekStrict, StdlibCompat, Zip215, Simd0376
        let table = [
            (plain, plain, [true, true, true, true]),
            (small, plain, [false, true, true, false]),
            (plain, small, [false, true, true, false]),
            (not_canonical, plain, [true, true, true, false]),
            (plain, not_canonical, [false, false, true, false]),
            (both, plain, [false, true, true, false]),
            (plain, both, [false, false, true, false]),
        ];
        for (a, r, expected) in table {
            for (&profile, expected) in Profile::ALL.iter().zip(expected) {
                let mut signature = [0; 64];
                signature[..32].copy_from_slice(&r);
                assert_eq!(
                    profile.admit(&a, &signature).is_some(),
                    expected,
                    "{profile} {a:x?} {r:x?}"
                );
                signature[63] = 0x20;
                assert_eq!(profile.admit(&a, &signature), None, "S = 2^253");
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
