//! Signatures whose k is given, so that A and R may be points whose discrete logarithms nobody
//! knows.

use curve25519_dalek::{
    constants::EIGHT_TORSION,
    edwards::{CompressedEdwardsY, EdwardsPoint},
    scalar::Scalar,
    traits::IsIdentity,
};
use octosig::Profile;
use octosig_cases::Verdicts;

use crate::{
    Input,
    signatures::{Set, Signature, multiples_above, read_point},
};

/// The set of an input. The messages are the 64 bytes of k.
#[must_use]
pub fn read(input: &mut Input<'_>) -> Set {
    Set::read_with(input, read_one)
}

fn read_one(input: &mut Input<'_>) -> Signature {
    let (mut a, mut r) = (read_point(input).encoding, read_point(input).encoding);
    let s = read_scalar(input);
    let k: [u8; 64] = match input.byte() {
        0..0xe0 => {
            let mut k = [0; 64];
            k[..32].copy_from_slice(&read_scalar(input));
            k
        }
        0xe0.. => input.array(),
    };
    let (solve, edit) = (input.byte(), input.byte());
    let torsion = EIGHT_TORSION[usize::from(solve & 7)];
    let (s_mod_l, k_mod_l) =
        (Scalar::from_bytes_mod_order(s), Scalar::from_bytes_mod_order_wide(&k));
    match solve {
        // R := [S]B − [k]A + T
        0..0x70 => {
            if let Some(a) = decode(&a) {
                r = encode(equation(&k_mod_l, &a, &s_mod_l) + torsion);
            }
        }
        // A := [1/k]([S]B − R) + T
        0x70..0xe0 => {
            if let Some(r) = decode(&r)
                && k_mod_l != Scalar::ZERO
            {
                let k_a = EdwardsPoint::mul_base(&s_mod_l) - r;
                a = encode(k_mod_l.invert() * k_a + torsion);
            }
        }
        0xe0.. => {}
    }
    let mut signature = Signature::new(a, r, s, k.to_vec());
    // The message keeps its length.
    signature.edit(edit.min(0xef), input);
    signature
}

/// Near 0 or a multiple of L, a run of ones or zeros, or anything.
fn read_scalar(input: &mut Input<'_>) -> [u8; 32] {
    let kind = input.byte();
    match kind {
        0..0x30 => Scalar::from(input.byte()).to_bytes(),
        0x30..0x40 => multiples_above(Scalar::from(input.byte()).to_bytes(), kind & 0x0f),
        0x40..0x60 => multiples_above((-Scalar::from(input.byte())).to_bytes(), kind & 1),
        0x60..0xa0 => {
            let [first, last] = input.array();
            bits(|bit| (first..=last).contains(&bit) == (kind & 1 == 0))
        }
        // For the most part below L.
        0xa0..0xf0 => {
            let mut bytes: [u8; 32] = input.array();
            bytes[31] &= 0x0f;
            bytes
        }
        0xf0.. => input.array(),
    }
}

/// The integer with these bits.
fn bits(is_set: impl Fn(u8) -> bool) -> [u8; 32] {
    let mut bytes = [0; 32];
    for bit in (0..=u8::MAX).filter(|bit| is_set(*bit)) {
        bytes[usize::from(bit / 8)] |= 1 << (bit % 8);
    }
    bytes
}

/// The verdict of each profile, by its rule in the arithmetic of curve25519-dalek.
#[must_use]
pub fn verdicts(signature: &Signature) -> Verdicts {
    let (r_bytes, s) = signature.rs.split_first_chunk().expect("64 bytes");
    let s = s.try_into().ok().and_then(|s| Scalar::from_canonical_bytes(s).into());
    let k = Scalar::from_bytes_mod_order_wide(signature.message[..].try_into().expect("64 bytes"));
    let (Some(s), Some(a)) = (s, decode(&signature.a)) else { return Verdicts::NONE };
    let r = decode(r_bytes);
    let sum = equation(&k, &a, &s);
    let equal = encode(sum) == *r_bytes;
    let equal_up_to_torsion = r.is_some_and(|r| (sum - r).mul_by_cofactor().is_identity());
    let small_order = a.is_small_order() || r.is_some_and(|r| r.is_small_order());
    let canonical = encode(a) == signature.a && r.is_some_and(|r| encode(r) == *r_bytes);
    Verdicts::new(|profile| match profile {
        Profile::DalekStrict => equal && !small_order,
        Profile::StdlibCompat => equal,
        Profile::Zip215 => equal_up_to_torsion,
        Profile::Simd0376 => equal_up_to_torsion && canonical && !small_order,
        _ => unreachable!("a profile without a rule: {profile}"),
    })
}

/// [S]B − [k]A
fn equation(k: &Scalar, a: &EdwardsPoint, s: &Scalar) -> EdwardsPoint {
    EdwardsPoint::vartime_double_scalar_mul_basepoint(k, &-a, s)
}

fn decode(bytes: &[u8; 32]) -> Option<EdwardsPoint> {
    CompressedEdwardsY(*bytes).decompress()
}

fn encode(point: EdwardsPoint) -> [u8; 32] {
    point.compress().to_bytes()
}
