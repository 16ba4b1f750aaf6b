//! The edges of the rules: encodings of A and R, small and mixed order, the range of S.

use curve25519_dalek::{
    constants::{ED25519_BASEPOINT_POINT as B, EIGHT_TORSION},
    edwards::{CompressedEdwardsY, EdwardsPoint},
    scalar::Scalar,
    traits::IsIdentity,
};
use sha2::{Digest, Sha512};

use octosig::Profile;

use crate::{Case, signing_key};

/// L, the order of B, little-endian as S is.
pub const L: [u8; 32] = [
    0xed, 0xd3, 0xf5, 0x5c, 0x1a, 0x63, 0x12, 0x58, 0xd6, 0x9c, 0xf7, 0xa2, 0xde, 0xf9, 0xde, 0x14,
    0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x10,
];

/// All edges.
#[must_use]
pub fn cases() -> Vec<Case> {
    let mut cases = small_order_pairs();
    cases.extend(only_the_small_order_rule_rejects());
    cases.extend(mixed_order());
    cases.extend(all_y_near_the_modulus());
    cases.extend(undecodable());
    cases.extend(range_of_s());
    cases
}

fn none_is(profile: Profile, cases: &[Case]) -> bool {
    cases.iter().all(|case| !case.verdicts.of(profile))
}

/// x + y mod 2^256, and whether it overflowed.
#[must_use]
pub fn add(x: [u8; 32], y: [u8; 32]) -> ([u8; 32], bool) {
    let mut sum = x;
    let mut carry = 0;
    for (s, y) in sum.iter_mut().zip(y) {
        let wide = u16::from(*s) + u16::from(y) + carry;
        *s = wide.to_le_bytes()[0];
        carry = wide >> 8;
    }
    (sum, carry != 0)
}

/// x in 32 bytes.
#[must_use]
pub fn integer(x: u8) -> [u8; 32] {
    let mut bytes = [0; 32];
    bytes[0] = x;
    bytes
}

pub(crate) fn power_of_two(exponent: usize) -> [u8; 32] {
    let mut bytes = [0; 32];
    bytes[exponent / 8] = 1 << (exponent % 8);
    bytes
}

/// The encoding with y = p + `offset`, for `offset` in -19..=18, and the given sign of x.
#[must_use]
pub fn y_near_p(offset: i8, sign: bool) -> [u8; 32] {
    let mut bytes = [0xff; 32];
    bytes[0] = 0xed_u8.wrapping_add_signed(offset);
    bytes[31] = if sign { 0xff } else { 0x7f };
    bytes
}

/// All 14 encodings that decode to a point of small order: the canonical ones, those of the two
/// points with x = 0 under the wrong sign, and those whose y is not reduced.
#[must_use]
pub fn small_order() -> Vec<[u8; 32]> {
    let mut encodings = EIGHT_TORSION.map(|point| point.compress().to_bytes()).to_vec();
    let mut minus_zero = integer(1);
    minus_zero[31] = 0x80;
    encodings.extend([minus_zero, y_near_p(-1, true)]);
    for (offset, sign) in [(0, false), (0, true), (1, false), (1, true)] {
        encodings.push(y_near_p(offset, sign));
    }
    encodings
}

/// k = SHA-512(R ‖ A ‖ M) mod L.
#[must_use]
pub fn challenge(r: &[u8; 32], a: &[u8; 32], message: &[u8]) -> Scalar {
    let hash = Sha512::new().chain_update(r).chain_update(a).chain_update(message).finalize();
    Scalar::from_bytes_mod_order_wide(&hash.into())
}

fn secret(seed: u64) -> Scalar {
    signing_key(seed).to_scalar()
}

fn small_order_pairs() -> Vec<Case> {
    let minus_one = (-Scalar::ONE).to_bytes();
    let scalars =
        [integer(0), integer(1), integer(8), minus_one, L, power_of_two(252), power_of_two(253)];
    let mut cases = Vec::new();
    for (i, a) in small_order().into_iter().enumerate() {
        for (j, r) in small_order().into_iter().enumerate() {
            for s in scalars {
                let name = format!("small order: A {i}, R {j}, S {}", hex::encode(s));
                cases.push(Case::from_parts(name, a, r, s, "small order"));
            }
        }
    }
    assert!(none_is(Profile::DalekStrict, &cases) && none_is(Profile::Simd0376, &cases));
    cases
}

/// Signatures for which [S]B - [k]A does encode to R.
fn only_the_small_order_rule_rejects() -> Vec<Case> {
    let mut cases = Vec::new();
    let a = secret(1);
    let public_key = (a * B).compress().to_bytes();
    for (i, r) in small_order().into_iter().enumerate() {
        let s = (challenge(&r, &public_key, b"R") * a).to_bytes();
        cases.push(Case::from_parts(format!("small order: R {i} only"), public_key, r, s, "R"));
    }
    let s = secret(2);
    let r = (s * B).compress().to_bytes();
    for (i, public_key) in small_order().into_iter().enumerate() {
        for message in 0_u8..16 {
            let name = format!("small order: A {i} only, message {message}");
            cases.push(Case::from_parts(name, public_key, r, s.to_bytes(), [message]));
        }
    }
    let equation_holds = |case: &&Case| case.verdicts.of(Profile::StdlibCompat);
    assert!(cases.iter().filter(equation_holds).count() > 14);
    assert!(none_is(Profile::DalekStrict, &cases));
    cases
}

/// A and R with every torsion part; valid iff [k]T + U = O.
fn mixed_order() -> Vec<Case> {
    let (a, r) = (secret(3), secret(4));
    let mut cases = Vec::new();
    for (i, t) in EIGHT_TORSION.into_iter().enumerate() {
        for (j, u) in EIGHT_TORSION.into_iter().enumerate() {
            for message in 0_u8..4 {
                let encode = |point: EdwardsPoint| point.compress().to_bytes();
                let (public_key, r_bytes) = (encode(a * B + t), encode(r * B + u));
                let k = challenge(&r_bytes, &public_key, &[message]);
                let name = format!("mixed order: A {i}, R {j}, message {message}");
                let s = (r + k * a).to_bytes();
                let case = Case::from_parts(name, public_key, r_bytes, s, [message]);
                let strict = case.verdicts.of(Profile::DalekStrict);
                assert_eq!(strict, (k * t + u).is_identity(), "{}", case.name);
                cases.push(case);
            }
        }
    }
    let count = |profile| cases.iter().filter(|case| case.verdicts.of(profile)).count();
    let strict = count(Profile::DalekStrict);
    assert!(strict > 4 && strict < cases.len() && count(Profile::Zip215) == cases.len());
    cases
}

/// y = p - 19 to p + 18, which is 2^255 - 1, and 0 to 18, as A and as R, with both signs.
fn all_y_near_the_modulus() -> Vec<Case> {
    let honest = Case::honest(5, 32);
    let mut cases = Vec::new();
    for sign in [false, true] {
        for offset in -19..=18 {
            let mut encodings = vec![("y = p +", y_near_p(offset, sign))];
            if let Ok(y) = u8::try_from(offset) {
                let mut encoding = integer(y);
                encoding[31] = u8::from(sign) << 7;
                encodings.push(("y =", encoding));
            }
            for (kind, encoding) in encodings {
                let name = format!("{kind} {offset}, sign {sign}");
                let message = &honest.message[..];
                let (a, r, s) = (honest.public_key, honest.r(), honest.s());
                cases.push(Case::from_parts(format!("A: {name}"), encoding, r, s, message));
                cases.push(Case::from_parts(format!("R: {name}"), a, encoding, s, message));
            }
        }
    }
    cases
}

/// A that is no point, below signatures that the points which may stand in for it would pass: the
/// identity, for which R = [S]B, and with that also [S]B - [k]T for every T of small order. And R that is no
/// point, where [S]B - [k]A is the identity, or of small order.
fn undecodable() -> Vec<Case> {
    let mut cases = Vec::new();
    let s = secret(6);
    for y in (2..64).filter(|y| CompressedEdwardsY(integer(*y)).decompress().is_none()) {
        for (sign, torsion) in [0, 0x80].into_iter().cycle().zip(EIGHT_TORSION) {
            let mut public_key = integer(y);
            public_key[31] = sign;
            let r = (s * B + torsion).compress().to_bytes();
            let name = format!("no point: A {}, R {}", hex::encode(public_key), hex::encode(r));
            cases.push(Case::from_parts(name, public_key, r, s.to_bytes(), "no point"));

            let mut r = integer(y);
            r[31] = sign;
            let a = (s * B + torsion).compress().to_bytes();
            let name = format!("no point: R {}, A {}", hex::encode(r), hex::encode(a));
            let s = (challenge(&r, &a, b"no point") * s).to_bytes();
            cases.push(Case::from_parts(name, a, r, s, "no point"));
        }
    }
    assert!(cases.len() > 100 && Profile::ALL.iter().all(|&profile| none_is(profile, &cases)));
    cases
}

/// S + kL solves the same equation; so S must be below L.
fn range_of_s() -> Vec<Case> {
    let mut cases = Vec::new();
    for seed in 0..8 {
        let honest = Case::honest(seed, 32);
        let mut push = |what: String, s| {
            let name = format!("{}, {what}", honest.name);
            let (a, r, message) = (honest.public_key, honest.r(), &honest.message[..]);
            cases.push(Case::from_parts(name, a, r, s, message));
        };
        let mut s = honest.s();
        for k in 1.. {
            let (sum, overflow) = add(s, L);
            if overflow {
                break;
            }
            s = sum;
            push(format!("S + {k} L"), s);
        }
        for bit in 252..256 {
            push(format!("S + 2^{bit}"), add(honest.s(), power_of_two(bit)).0);
        }
        for s in
            [[0; 32], integer(1), (-Scalar::ONE).to_bytes(), L, add(L, integer(1)).0, [0xff; 32]]
        {
            push(format!("S = {}", hex::encode(s)), s);
        }
    }
    assert!(cases.len() >= 8 * (14 + 4 + 6));
    assert!(Profile::ALL.iter().all(|&profile| none_is(profile, &cases)));
    cases
}

#[cfg(test)]
mod tests {
    use super::*;
    use octosig_oracle::Verdicts;

    #[test]
    fn small_order_encodings_are_fourteen() {
        let mut encodings = small_order();
        encodings.sort_unstable();
        encodings.dedup();
        assert_eq!(encodings.len(), 14);
        for encoding in encodings {
            let key = ed25519_dalek::VerifyingKey::from_bytes(&encoding).expect("decodes");
            assert!(key.is_weak());
        }
    }

    /// The Cargo feature `legacy_compatibility`, which any crate of the build can switch on, would
    /// make the reference accept an S of L and above.
    #[test]
    fn the_reference_is_not_in_its_legacy_mode() {
        let mut case = Case::honest(1, 32);
        let (s, overflow) = add(case.s(), L);
        assert!(!overflow && s[31] >> 5 == 0, "legacy_compatibility would reject this one too");
        case.signature[32..].copy_from_slice(&s);
        assert_eq!(octosig_oracle::verdicts(&case.item()), Verdicts::NONE);
    }
}
