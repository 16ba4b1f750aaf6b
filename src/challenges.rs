//! Verification with k given, on every path and under every profile, against the big integers of
//! octosig-rfc8032.
//!
//! No message leads to these tuples. With R = [S]B − [k]A any A is valid, with
//! A = [1/k]([S]B − R) any R is; so there are valid signatures under keys and with R that are not
//! canonical and of large order, and k and S take the values that recoding and reduction have their
//! edges at.

use crate::backend::TAIL_COSTS;
use crate::half_size::Relation;
use crate::verify::{Live, MAX_SHARED, Plan};
use crate::{Backend, Item, Profile, Verifier};
use curve25519_dalek::{
    EdwardsPoint, Scalar, constants::EIGHT_TORSION, edwards::CompressedEdwardsY,
};
use num_bigint::BigUint;
use octosig_rfc8032::{Facts, L};
use rand::{Rng, SeedableRng, rngs::StdRng};
use std::{thread, vec, vec::Vec};

/// What [`Verifier::verify_challenges`] takes, and what has to come out.
#[derive(Debug)]
struct Tuple {
    public_key: [u8; 32],
    signature: [u8; 64],
    /// 512 bits that are k modulo L.
    challenge: [u8; 64],
    facts: Facts,
}

impl Tuple {
    fn new(public_key: [u8; 32], r: [u8; 32], s: [u8; 32], challenge: [u8; 64]) -> Self {
        let mut signature = [0; 64];
        signature[..32].copy_from_slice(&r);
        signature[32..].copy_from_slice(&s);
        let k = octosig_rfc8032::reduce(&challenge);
        let facts = Facts::with_challenge(&public_key, &signature, &k);
        Self { public_key, signature, challenge, facts }
    }

    fn item(&self) -> Item<'_> {
        Item { public_key: &self.public_key, signature: &self.signature, message: &self.challenge }
    }

    fn verdict(&self, profile: Profile) -> bool {
        match profile {
            Profile::DalekStrict => self.facts.dalek_strict(),
            Profile::StdlibCompat => self.facts.stdlib_compat(),
            Profile::Zip215 => self.facts.zip215(),
            Profile::Simd0376 => self.facts.simd0376(),
        }
    }
}

fn bytes<const N: usize>(x: &BigUint) -> [u8; N] {
    let mut out = [0; N];
    let bytes = x.to_bytes_le();
    out[..bytes.len()].copy_from_slice(&bytes);
    out
}

fn decompress(encoding: [u8; 32]) -> Option<EdwardsPoint> {
    CompressedEdwardsY(encoding).decompress()
}

fn compress(point: EdwardsPoint) -> [u8; 32] {
    point.compress().0
}

/// Scalars at the edges of recoding and of half-size scalars, and some between them.
fn scalars(rng: &mut StdRng) -> Vec<Scalar> {
    let one = BigUint::from(1u8);
    let mut integers: Vec<BigUint> = (0..5u8).flat_map(|i| [i.into(), &*L - 1u8 - i]).collect();
    for i in 0..=252 {
        let power: BigUint = &one << i;
        integers.extend([&power - 1u8, power.clone(), power + 1u8]);
    }
    // Runs of ones and of zeros that begin anywhere.
    for length in [10, 16, 64, 130] {
        let run: BigUint = (&one << length) - 1u8;
        for at in (0..252 - length).step_by(7) {
            integers.extend([&run << at, (&one << 252) - 1u8 - (&run << at)]);
        }
    }
    // Next to fractions of 8L, where Euclid's algorithm has a huge quotient, at every depth.
    let order: BigUint = &*L * 8u8;
    for e in 0..3u8 {
        integers.extend((9..60u8).map(|divisor| &order / divisor + e));
        for bits in 4..130 {
            let q = BigUint::from_bytes_le(&rng.random::<[u8; 17]>()) % (&one << bits) + 9u8;
            let p = BigUint::from_bytes_le(&rng.random::<[u8; 17]>()) % (&q / 8u8) + 1u8;
            integers.push(&order * p / q + e);
        }
    }
    // The same digit everywhere: the largest and the smallest ones, with and without a carry.
    for width in [2, 10] {
        let half: BigUint = &one << (width - 1);
        for digit in [&half - 1u8, half.clone(), &half + 1u8, (&half << 1) - 1u8] {
            let all = (0..252 / width).fold(BigUint::ZERO, |sum, _| (sum << width) + &digit);
            integers.extend([all.clone(), all + 1u8]);
        }
    }
    let mut scalars: Vec<Scalar> = integers
        .iter()
        .map(|x| Scalar::from_canonical_bytes(bytes(&(x % &*L))).expect("below L"))
        .collect();
    scalars.extend((0..200).map(|_| Scalar::from_bytes_mod_order(rng.random())));
    scalars
}

/// Every encoding that decodes and is not canonical, in 26 the small-order ones among them, all
/// points of small order, and points with each torsion part.
fn encodings(rng: &mut StdRng) -> Vec<[u8; 32]> {
    let near_p = |first: u8, last: u8| {
        let mut encoding = [0xff; 32];
        (encoding[0], encoding[31]) = (first, last);
        encoding
    };
    let mut minus_zero = [0; 32];
    (minus_zero[0], minus_zero[31]) = (1, 0x80);
    let mut encodings = vec![minus_zero, near_p(0xec, 0xff)];
    encodings.extend((0xed..=0xff).flat_map(|first| [near_p(first, 0x7f), near_p(first, 0xff)]));
    encodings.retain(|encoding| decompress(*encoding).is_some());
    assert_eq!(encodings.len(), 26);
    for torsion in EIGHT_TORSION {
        encodings.push(compress(torsion));
        let point = EdwardsPoint::mul_base(&Scalar::from_bytes_mod_order(rng.random()));
        encodings.push(compress(point + torsion));
    }
    encodings
}

/// A valid tuple and one that misses it narrowly.
fn push_pair(rng: &mut StdRng, out: &mut Vec<Tuple>, [a, r]: [[u8; 32]; 2], [k, s]: [Scalar; 2]) {
    let [k, s] = [k, s].map(|scalar| BigUint::from_bytes_le(scalar.as_bytes()));
    // An integer of 512 bits with k's residue, and k itself.
    let multiple = ((BigUint::from(1u8) << 512) - 1u8 - &k) / &*L - rng.random::<u64>();
    let challenge = if rng.random() { &k + &*L * multiple } else { k.clone() };
    out.push(Tuple::new(a, r, bytes(&s), bytes(&challenge)));
    let narrow_miss = match rng.random_range(0..6) {
        0 => Tuple::new(a, r, bytes(&s), bytes(&(k + 1u8))),
        1 => Tuple::new(a, r, bytes(&s), bytes(&(&*L * 8u8 - k))),
        2 => Tuple::new(a, r, bytes(&(s + 1u8)), bytes(&k)),
        3 => Tuple::new(a, r, bytes(&(s + &*L)), bytes(&k)),
        4 => {
            let point = decompress(r).expect("decodes") + EIGHT_TORSION[rng.random_range(1..8)];
            Tuple::new(a, compress(point), bytes(&s), bytes(&k))
        }
        _ => {
            let mut points = [a, r];
            points[rng.random_range(0..2)][31] ^= 0x80;
            Tuple::new(points[0], points[1], bytes(&s), bytes(&k))
        }
    };
    out.push(narrow_miss);
}

/// With each of [`scalars`] as k or S, and each of [`encodings`] as A and as R.
fn tuples(seed: u64) -> Vec<Tuple> {
    let mut rng = StdRng::seed_from_u64(seed);
    let scalars = scalars(&mut rng);
    let encodings = encodings(&mut rng);
    let mut tuples = Vec::new();
    for (i, &edge) in scalars.iter().enumerate() {
        let other = scalars[rng.random_range(0..scalars.len())];
        let [k, s] = if rng.random() { [edge, other] } else { [other, edge] };
        let encoding = encodings[i % encodings.len()];
        let point = decompress(encoding).expect("decodes");
        let r = compress(EdwardsPoint::mul_base(&s) - point * k);
        push_pair(&mut rng, &mut tuples, [encoding, r], [k, s]);
        if k != Scalar::ZERO {
            let a = compress((EdwardsPoint::mul_base(&s) - point) * k.invert());
            push_pair(&mut rng, &mut tuples, [a, encoding], [k, s]);
        }
    }
    tuples
}

fn check(verifier: &mut Verifier, profile: Profile, tuples: &[&Tuple]) {
    let items: Vec<Item<'_>> = tuples.iter().map(|tuple| tuple.item()).collect();
    let mut verdicts: Vec<bool> = tuples.iter().map(|tuple| !tuple.verdict(profile)).collect();
    verifier.verify_challenges(profile, &items, &mut verdicts);
    for (i, (tuple, verdict)) in tuples.iter().zip(verdicts).enumerate() {
        let expected = tuple.verdict(profile);
        let (backend, count) = (verifier.backend(), tuples.len());
        assert_eq!(
            verdict, expected,
            "{backend} under {profile}, item {i} of {count}: {tuple:02x?}"
        );
    }
}

/// With each of [`encodings`] as A of several, so that they share it; one list for each. Those that the
/// same profiles admit stand together.
fn under_shared_keys(seed: u64) -> Vec<Vec<Tuple>> {
    let mut rng = StdRng::seed_from_u64(seed);
    let scalars = scalars(&mut rng);
    let mut encodings = encodings(&mut rng);
    encodings.sort_by_key(|encoding| decompress(*encoding).expect("decodes").is_small_order());
    let mut under = |encoding: [u8; 32]| {
        let point = decompress(encoding).expect("decodes");
        let mut tuples = Vec::new();
        for edge in [0, 1, 5] {
            // 0, L − 1 and L − 3 among them.
            for k in [scalars[edge], scalars[rng.random_range(0..scalars.len())]] {
                let s = scalars[rng.random_range(0..scalars.len())];
                let r = compress(EdwardsPoint::mul_base(&s) - point * k);
                push_pair(&mut rng, &mut tuples, [encoding, r], [k, s]);
            }
        }
        // R that is no point, where [S]B − [k]A = O if A is honest.
        let secret = Scalar::from_bytes_mod_order(rng.random());
        let a = compress(EdwardsPoint::mul_base(&secret));
        let mut no_point = [0; 32];
        no_point[0] = 2;
        for k in [scalars[1], Scalar::from_bytes_mod_order(rng.random())] {
            let [k, s] = [k, k * secret].map(|scalar| BigUint::from_bytes_le(scalar.as_bytes()));
            tuples.push(Tuple::new(a, no_point, bytes(&s), bytes(&k)));
        }
        tuples
    };
    encodings.into_iter().map(&mut under).collect()
}

/// Four keys to a call, on both ways, on every backend.
fn on_shared_keys(lists: &[Vec<Tuple>]) {
    for &backend in Backend::ALL.iter().filter(|backend| backend.is_available()) {
        let mut verifier = Verifier::with_backend(backend).expect("an available backend");
        for (&profile, half_size) in
            Profile::ALL.iter().flat_map(|profile| [(profile, true), (profile, false)])
        {
            verifier.set_half_size_scalars(half_size);
            let mut shared = 0;
            for lists in lists.chunks(4) {
                let tuples: Vec<&Tuple> = lists.iter().flatten().collect();
                let items: Vec<Item<'_>> = tuples.iter().map(|tuple| tuple.item()).collect();
                let mut live = Live::admit(profile, &items, &mut vec![false; items.len()]);
                shared += Plan::new(&mut live, &TAIL_COSTS, MAX_SHARED, half_size).shared();
                check(&mut verifier, profile, &tuples);
            }
            assert!(shared > 50, "{profile}: {shared}");
        }
    }
}

/// Each tuple in every lane of every path that a few signatures take.
fn on_every_path(tuples: &[Tuple]) {
    for &backend in Backend::ALL.iter().filter(|backend| backend.is_available()) {
        let mut verifier = Verifier::with_backend(backend).expect("an available backend");
        for (&profile, half_size) in
            Profile::ALL.iter().flat_map(|profile| [(profile, true), (profile, false)])
        {
            verifier.set_half_size_scalars(half_size);
            check(&mut verifier, profile, &tuples.iter().collect::<Vec<_>>());
            // Those that take a lane: so the place in a call is the lane.
            let admitted =
                |tuple: &&Tuple| profile.admit(&tuple.public_key, &tuple.signature).is_some();
            let admitted: Vec<&Tuple> = tuples.iter().filter(admitted).collect();
            let counts = if backend == Backend::Portable { 1..=1 } else { 1..=8 };
            for count in counts {
                for start in 0..count {
                    for call in admitted[start..].chunks_exact(count) {
                        check(&mut verifier, profile, call);
                    }
                }
            }
        }
    }
}

#[test]
fn verdicts_are_those_of_big_integers() {
    // As many threads as seeds; the big integers take most of the time.
    let tuples: Vec<Vec<Tuple>> = thread::scope(|scope| {
        let threads: Vec<_> = [1, 2].map(|seed| scope.spawn(move || tuples(seed))).into();
        threads.into_iter().map(|thread| thread.join().expect("no panic")).collect()
    });
    let count = |holds: &dyn Fn(&Facts) -> bool| {
        tuples.iter().flatten().filter(|tuple| holds(&tuple.facts)).count()
    };
    // Not vacuous: A and R that are not canonical and of large order, valid ones.
    let odd = |encoded: Option<octosig_rfc8032::Encoded>| {
        encoded.is_some_and(|encoded| !encoded.canonical && !encoded.small_order)
    };
    assert!(count(&|facts| facts.dalek_strict() && odd(facts.a)) > 100);
    assert!(count(&|facts| facts.zip215() && odd(facts.r)) > 100);
    assert!(count(&|facts| facts.simd0376() && !facts.dalek_strict()) > 100);
    // And valid ones that have no half-size scalars.
    let alone = |tuple: &&Tuple| {
        let k = crate::scalar::Scalar::from_wide(&tuple.challenge);
        tuple.facts.dalek_strict() && Relation::find(&k).is_none()
    };
    assert!(tuples.iter().flatten().filter(alone).count() > 100);
    thread::scope(|scope| {
        for tuples in &tuples {
            scope.spawn(|| on_every_path(tuples));
        }
    });
    on_shared_keys(&under_shared_keys(3));
}
