//! The constants and the arithmetic of the curve: against their definitions and curve25519-dalek.

use curve25519_dalek::{
    constants::{ED25519_BASEPOINT_POINT, EIGHT_TORSION},
    edwards::{CompressedEdwardsY, EdwardsPoint},
    scalar::Scalar,
    traits::Identity,
};
use num_bigint::{BigInt, BigUint};
use octosig_rfc8032::{BASE, D, Decoding, L, P, Point, decode, reduce};
use rand::{Rng, RngCore, SeedableRng, rngs::StdRng};

/// Whether 2^(n − 1) = 1 modulo n, which fails for nearly every composite n.
fn is_probably_prime(n: &BigUint) -> bool {
    BigUint::from(2_u8).modpow(&(n - 1_u8), n) == BigUint::from(1_u8)
}

#[test]
fn constants() {
    assert_eq!(format!("{:x}", *P), format!("7{}ed", "f".repeat(61)));
    assert!(is_probably_prime(P.magnitude()) && is_probably_prime(&L));
    // Section 5.1 prints d and B in decimal, and so are they given here.
    let decimal = |text: &str| text.parse::<BigInt>().expect("an integer");
    let d = "37095705934669439343138083508754565189542113879843219016388785533085940283555";
    assert_eq!(*D, decimal(d));
    let y = "46316835694926478169428394003475163141307993866256225615783033603165251855960";
    assert_eq!(decode(&BASE.encode()).map(|base| base.point).as_ref(), Some(&*BASE));
    assert_eq!(BigInt::from(BigUint::from_bytes_le(&BASE.encode())), decimal(y));
    // x as well, by its parity above and by the equation: −x² + y² = 1 + d x² y².
    let x = "15112221349535400772501151409588531511454012693041857206046113283949847762202";
    let (x2, y2) = (decimal(x).pow(2), decimal(y).pow(2));
    assert_eq!((&y2 - &x2 - 1 - &*D * x2 * y2) % &*P, BigInt::ZERO);
    assert!(!decimal(x).bit(0));
}

#[test]
fn order_of_the_base_point() {
    assert!(BASE.mul(&L).is_identity());
    assert!(!BASE.is_identity() && !BASE.is_small_order());
    assert_eq!(BASE.mul(&(&*L - 1_u8)), BASE.negate());
    assert_eq!(BASE.mul(&(&*L + 1_u8)), *BASE);
    assert_eq!(BASE.encode(), ED25519_BASEPOINT_POINT.compress().to_bytes());
}

#[test]
fn points_are_equal_whatever_their_z() {
    let three = BASE.double().add(&BASE);
    assert_eq!(three, BASE.add(&BASE.double()));
    assert_eq!(three, decode(&three.encode()).expect("a point").point);
    assert_ne!(three, three.negate(), "same y");
    let order_2 = here(&EIGHT_TORSION[4]);
    assert_ne!(order_2, Point::identity(), "same x");
    assert_eq!(three.add(&three.negate()), Point::identity());
}

/// The point through its encoding.
fn here(point: &EdwardsPoint) -> Point {
    decode(&point.compress().to_bytes()).expect("a point").point
}

/// curve25519-dalek's decoding of the same bytes agrees.
fn check_decoding(bytes: [u8; 32]) -> Option<(Decoding, EdwardsPoint)> {
    let expected = CompressedEdwardsY(bytes).decompress();
    let decoded = decode(&bytes);
    assert_eq!(decoded.is_some(), expected.is_some(), "{bytes:02x?}");
    let (decoding, expected) = decoded.zip(expected)?;
    let encoding = decoding.point.encode();
    assert_eq!(encoding, expected.compress().to_bytes(), "{bytes:02x?}");
    assert_eq!(decoding.canonical, encoding == bytes, "{bytes:02x?}");
    assert_eq!(decoding.point.is_small_order(), expected.is_small_order(), "{bytes:02x?}");
    Some((decoding, expected))
}

/// Every encoding with a y that is not below p, both signs.
fn not_below_p() -> impl Iterator<Item = [u8; 32]> {
    (0xed..=0xff).flat_map(|first| {
        [0x7f, 0xff].map(|last| {
            let mut bytes = [0xff; 32];
            (bytes[0], bytes[31]) = (first, last);
            bytes
        })
    })
}

#[test]
fn decoding_at_the_edges() {
    let (mut canonical, mut others) = (0, 0);
    let mut count = |bytes| {
        if let Some((decoding, _)) = check_decoding(bytes) {
            *(if decoding.canonical { &mut canonical } else { &mut others }) += 1;
        }
    };
    not_below_p().for_each(&mut count);
    for y in 0..=20_u8 {
        for sign in [0, 0x80] {
            let mut bytes = [0; 32];
            (bytes[0], bytes[31]) = (y, sign);
            count(bytes); // y
            bytes = [0xff; 32];
            (bytes[0], bytes[31]) = (0xec - y, 0x7f | sign);
            count(bytes); // p − 1 − y
        }
    }
    // 24 of the 38 encodings of not_below_p(), and x = −0 with either y.
    assert_eq!((canonical, others), (50, 26));
}

#[test]
fn decoding_of_random_bytes() {
    let mut rng = StdRng::seed_from_u64(1);
    let decoded = (0..2000).filter(|_| check_decoding(rng.random()).is_some()).count();
    assert!((900..1100).contains(&decoded), "{decoded}: half of the y are on the curve");
}

#[test]
fn points_of_small_order() {
    let eight = BigUint::from(8_u8);
    for (i, torsion) in EIGHT_TORSION.iter().enumerate() {
        let point = here(torsion);
        assert!(point.is_small_order() && point.mul(&eight).is_identity());
        assert_eq!(point.is_identity(), i == 0);
        // EIGHT_TORSION[i] is [i]T, T of order 8.
        let order = 8 >> i.trailing_zeros().min(3);
        for n in 1..=8_u8 {
            assert_eq!(point.mul(&n.into()).is_identity(), n % order == 0, "[{n}][{i}]T");
        }
        assert!(!point.add(&BASE).is_small_order());
    }
}

/// Points of all kinds: small order, mixed order, prime order, decoded from non-canonical bytes.
fn points(rng: &mut StdRng) -> Vec<(Point, EdwardsPoint)> {
    let random: Vec<_> = (0..8).map(|_| EdwardsPoint::mul_base(&random_scalar(rng))).collect();
    let mut points = vec![EdwardsPoint::identity(), ED25519_BASEPOINT_POINT];
    for (torsion, point) in EIGHT_TORSION.iter().zip(random) {
        points.extend([*torsion, point, point + torsion, -point]);
    }
    let decoded = not_below_p().filter_map(|bytes| CompressedEdwardsY(bytes).decompress());
    points.into_iter().chain(decoded).map(|point| (here(&point), point)).collect()
}

fn random_scalar(rng: &mut StdRng) -> Scalar {
    Scalar::from_bytes_mod_order(rng.random())
}

#[test]
fn sums_doubles_and_negatives() {
    let mut rng = StdRng::seed_from_u64(2);
    let points = points(&mut rng);
    let same = |ours: Point, theirs: EdwardsPoint| {
        assert_eq!(ours.encode(), theirs.compress().to_bytes());
    };
    for (p, q) in &points {
        same(p.negate(), -q);
        same(p.double(), q + q);
        assert_eq!(p.double(), p.add(p));
        assert_eq!(p.mul_by_cofactor(), p.double().double().double());
        for (p2, q2) in &points {
            // Coordinates with Z ≠ 1 on either side, as well.
            same(p.add(p2), q + q2);
            same(p.double().add(p2).add(&p2.double()), q + q + q2 + q2 + q2);
        }
    }
}

#[test]
fn multiples() {
    let mut rng = StdRng::seed_from_u64(3);
    let order_minus_1 = Scalar::ZERO - Scalar::ONE;
    let powers = (0..253).map(|bit| {
        let mut bytes = [0; 32];
        bytes[bit / 8] = 1 << (bit % 8);
        Scalar::from_bytes_mod_order(bytes)
    });
    let mut scalars = vec![Scalar::ZERO, Scalar::ONE, order_minus_1];
    scalars.extend(powers);
    scalars.extend((0..300).map(|_| random_scalar(&mut rng)));
    let points = points(&mut rng);
    for (i, scalar) in scalars.iter().enumerate() {
        let (p, q) = &points[i % points.len()];
        let integer = BigUint::from_bytes_le(scalar.as_bytes());
        assert_eq!(p.mul(&integer).encode(), (q * scalar).compress().to_bytes(), "{scalar:?}");
    }
}

#[test]
fn reduction() {
    let mut rng = StdRng::seed_from_u64(4);
    let mut digests = vec![[0; 64], [0xff; 64]];
    for multiple in [1_u8, 2, 8, 255] {
        for offset in [0_u8, 1, 2] {
            let mut bytes = (&*L * multiple + 1_u8 - offset).to_bytes_le();
            bytes.resize(64, 0);
            digests.push(bytes.try_into().expect("64 bytes"));
        }
    }
    digests.extend((0..200).map(|_| {
        let mut digest = [0; 64];
        rng.fill_bytes(&mut digest);
        digest
    }));
    for digest in &digests {
        let expected = Scalar::from_bytes_mod_order_wide(digest);
        assert_eq!(reduce(digest), BigUint::from_bytes_le(expected.as_bytes()));
    }
}
