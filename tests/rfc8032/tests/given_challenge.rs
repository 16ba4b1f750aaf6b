//! Verdicts with k given, where no message leads: non-canonical A and R of large order that fulfil
//! the equation, and k and S at their edges. Compared with the same facts by curve25519-dalek.

use curve25519_dalek::{
    constants::EIGHT_TORSION,
    edwards::{CompressedEdwardsY, EdwardsPoint},
    scalar::Scalar,
    traits::IsIdentity,
};
use num_bigint::BigUint;
use octosig_rfc8032::{Encoded, Facts, L};
use rand::{Rng, SeedableRng, rngs::StdRng};

fn decompress(bytes: &[u8; 32]) -> Option<EdwardsPoint> {
    CompressedEdwardsY(*bytes).decompress()
}

fn compress(point: EdwardsPoint) -> [u8; 32] {
    point.compress().0
}

fn integer(scalar: Scalar) -> BigUint {
    BigUint::from_bytes_le(scalar.as_bytes())
}

fn bytes(integer: &BigUint) -> [u8; 32] {
    let mut bytes = integer.to_bytes_le();
    bytes.resize(32, 0);
    bytes.try_into().expect("32 bytes")
}

fn facts(a: &[u8; 32], r: &[u8; 32], s: &BigUint, k: &BigUint) -> Facts {
    let mut signature = [0; 64];
    signature[..32].copy_from_slice(r);
    signature[32..].copy_from_slice(&bytes(s));
    Facts::with_challenge(a, &signature, k)
}

/// What curve25519-dalek finds.
fn oracle(a: &[u8; 32], r: &[u8; 32], s: Scalar, k: Scalar) -> Facts {
    let encoded = |bytes: &[u8; 32]| {
        decompress(bytes).map(|point| Encoded {
            canonical: compress(point) == *bytes,
            small_order: point.is_small_order(),
        })
    };
    let expected =
        decompress(a).map(|a| EdwardsPoint::vartime_double_scalar_mul_basepoint(&k, &-a, &s));
    Facts {
        s_below_l: true,
        a: encoded(a),
        r: encoded(r),
        cofactorless: expected.is_some_and(|point| compress(point) == *r),
        cofactored: expected
            .zip(decompress(r))
            .is_some_and(|(point, r)| (point - r).mul_by_cofactor().is_identity()),
    }
}

fn check(a: &[u8; 32], r: &[u8; 32], s: Scalar, k: Scalar) -> Facts {
    let facts = facts(a, r, &integer(s), &integer(k));
    assert_eq!(facts, oracle(a, r, s, k), "A {a:02x?}, R {r:02x?}, {s:?}, k {k:?}");
    facts
}

/// 0, 1, 2, L − 1, L − 2, and long runs of zeros and of ones, up to 2^252 + 1.
fn edges() -> Vec<Scalar> {
    let mut edges = vec![Scalar::ZERO, Scalar::ONE, -Scalar::ONE, -Scalar::from(2_u8)];
    for power in [1, 4, 5, 51, 64, 102, 127, 128, 204, 250, 251, 252] {
        let two_to: BigUint = BigUint::from(1_u8) << power;
        for value in [&two_to - 1_u8, two_to.clone(), two_to + 1_u8] {
            edges.push(Scalar::from_canonical_bytes(bytes(&value)).expect("below L"));
        }
    }
    edges
}

/// Every encoding that is not canonical, of whatever order, and points of every torsion part.
fn encodings(rng: &mut StdRng) -> Vec<[u8; 32]> {
    let ends_with_ones = |first: u8, last: u8| {
        let mut bytes = [0xff; 32];
        (bytes[0], bytes[31]) = (first, last);
        bytes
    };
    let mut minus_zero = [0; 32];
    (minus_zero[0], minus_zero[31]) = (1, 0x80);
    let mut encodings = vec![minus_zero, ends_with_ones(0xec, 0xff)];
    for first in 0xed..=0xff {
        encodings.extend([ends_with_ones(first, 0x7f), ends_with_ones(first, 0xff)]);
    }
    encodings.retain(|bytes| decompress(bytes).is_some());
    assert_eq!(encodings.len(), 26);
    for torsion in EIGHT_TORSION {
        let point = EdwardsPoint::mul_base(&Scalar::from_bytes_mod_order(rng.random()));
        encodings.extend([compress(torsion), compress(point + torsion)]);
    }
    encodings
}

const RULES: [fn(&Facts) -> bool; 5] =
    [Facts::dalek_strict, Facts::stdlib_compat, Facts::zip215, Facts::simd0376, Facts::rfc8032];

/// How many each of [`RULES`] accepts.
fn accepted(facts: &[Facts]) -> [usize; 5] {
    RULES.map(|rule| facts.iter().filter(|facts| rule(facts)).count())
}

/// A = [1/k]([S]B − R): the cofactored equation holds, whatever R is.
#[test]
fn chosen_r() {
    let mut rng = StdRng::seed_from_u64(1);
    let mut all = Vec::new();
    for r in encodings(&mut rng) {
        let point = decompress(&r).expect("decodes");
        for (k, s) in edges().into_iter().skip(1).zip(edges().into_iter().rev()) {
            let a = compress((EdwardsPoint::mul_base(&s) - point) * k.invert());
            let facts = check(&a, &r, s, k);
            assert!(facts.zip215(), "R {r:02x?}, {s:?}, {k:?}");
            all.push(facts);
        }
    }
    // 42 R, 39 pairs of k and S. 16 R are canonical, 8 of these of large order. For 220 of those
    // 16 · 39 the torsion part of R comes back from [k][1/k], half of them for the large order.
    assert_eq!(accepted(&all), [110, 220, 42 * 39, 8 * 39, 16 * 39]);
}

/// R = [S]B − [k]A: the cofactorless equation holds, whatever A is; with a torsion part more, only
/// the cofactored one.
#[test]
fn chosen_a() {
    let mut rng = StdRng::seed_from_u64(2);
    let mut all = Vec::new();
    for a in encodings(&mut rng) {
        let point = decompress(&a).expect("decodes");
        for (i, (k, s)) in edges().into_iter().zip(edges().into_iter().rev()).enumerate() {
            let r = EdwardsPoint::mul_base(&s) - point * k;
            let facts = check(&a, &compress(r), s, k);
            assert!(facts.stdlib_compat() && facts.zip215(), "A {a:02x?}, {s:?}, {k:?}");
            all.push(facts);
            let facts = check(&a, &compress(r + EIGHT_TORSION[1 + i % 7]), s, k);
            assert!(!facts.stdlib_compat() && facts.zip215(), "A {a:02x?}, {s:?}, {k:?}");
            all.push(facts);
        }
    }
    // 42 A, 40 pairs of k and S, two R each. 16 A are canonical, 8 of these of large order, as are
    // 20 of the other 26.
    assert_eq!(accepted(&all), [28 * 40, 42 * 40, 42 * 40 * 2, 8 * 40 * 2, 16 * 40 * 2]);
}

/// Both of small order, in every encoding, with S = 0.
#[test]
fn chosen_a_and_r() {
    let mut encodings = encodings(&mut StdRng::seed_from_u64(3));
    encodings.retain(|bytes| decompress(bytes).is_some_and(|point| point.is_small_order()));
    assert_eq!(encodings.len(), 14);
    let mut all = Vec::new();
    for a in &encodings {
        for r in &encodings {
            for k in 0..8_u8 {
                let facts = check(a, r, Scalar::ZERO, k.into());
                assert!(facts.zip215());
                all.push(facts);
            }
        }
    }
    // Eight encodings are canonical; one R for each A and k is [k](−A).
    assert_eq!(accepted(&all), [0, 14 * 8, 14 * 14 * 8, 0, 8 * 8 * 8]);
}

/// A bit more or less, anywhere, and the equation does not hold.
#[test]
fn one_bit_off() {
    let mut rng = StdRng::seed_from_u64(4);
    let a = EdwardsPoint::mul_base(&Scalar::from_bytes_mod_order(rng.random())) + EIGHT_TORSION[3];
    let (k, s) = (edges()[10], edges()[20]);
    let r = compress(EdwardsPoint::mul_base(&s) - a * k);
    let a = compress(a);
    assert!(check(&a, &r, s, k).dalek_strict());
    let flip = |mut bytes: [u8; 32], bit: usize| {
        bytes[bit / 8] ^= 1 << (bit % 8);
        bytes
    };
    for bit in 0..256 {
        let mut all = vec![check(&flip(a, bit), &r, s, k), check(&a, &flip(r, bit), s, k)];
        let other = |scalar: Scalar| Scalar::from_canonical_bytes(flip(scalar.to_bytes(), bit));
        all.extend(other(s).into_option().map(|s| check(&a, &r, s, k)));
        all.extend(other(k).into_option().map(|k| check(&a, &r, s, k)));
        assert_eq!(accepted(&all), [0; 5], "bit {bit}");
    }
}

/// Neither S nor k is reduced.
#[test]
fn s_and_k_are_integers() {
    let mut rng = StdRng::seed_from_u64(5);
    let mut differ = 0;
    for a in encodings(&mut rng) {
        let point = decompress(&a).expect("decodes");
        let (s, k) = (Scalar::from(rng.random::<u128>()), Scalar::from(rng.random::<u128>()));
        let r = compress(EdwardsPoint::mul_base(&s) - point * k);
        let valid = check(&a, &r, s, k);
        let (s, k) = (integer(s), integer(k));
        // The order of B is L: only the rule on S is broken.
        let expected = Facts { s_below_l: false, ..valid };
        assert_eq!(facts(&a, &r, &(&s + &*L), &k), expected);
        assert_eq!(accepted(&[expected]), [0; 5]);
        // The order of A divides 8 L, and is no divisor of L if A has a torsion part.
        assert_eq!(facts(&a, &r, &s, &(&k + &*L * 8_u8)), valid);
        let cofactorless = (point * -Scalar::ONE + point).is_identity(); // [L]A
        assert_eq!(facts(&a, &r, &s, &(&k + &*L)), Facts { cofactorless, ..valid });
        differ += usize::from(!cofactorless);
    }
    // All but O, in four encodings, and the one point of prime order.
    assert_eq!(differ, 42 - 4 - 1);
    for (s, below) in [(&*L - 1_u8, true), (L.clone(), false), (&*L + 1_u8, false)] {
        let encoding = compress(EdwardsPoint::mul_base(&Scalar::from_bytes_mod_order(bytes(&s))));
        let facts = facts(&encoding, &encoding, &s, &BigUint::ZERO);
        assert!(facts.cofactorless && facts.cofactored);
        assert_eq!(facts.s_below_l, below);
        assert_eq!(facts.stdlib_compat(), below);
    }
}

/// What does not decode is refused by every rule.
#[test]
fn undecodable() {
    let mut two = [0; 32];
    two[0] = 2;
    assert_eq!(decompress(&two), None);
    let base = compress(EdwardsPoint::mul_base(&Scalar::ONE));
    // With O in place of A, or of R, the equation would hold.
    for (a, r, s) in [(two, base, Scalar::ONE), (base, two, Scalar::ONE), (two, two, Scalar::ZERO)]
    {
        let facts = check(&a, &r, s, Scalar::ONE);
        assert_eq!((facts.a.is_none(), facts.r.is_none()), (a == two, r == two));
        assert_eq!(accepted(&[facts]), [0; 5]);
    }
}
