//! Adversarial signatures in random company: every verdict of every backend under every profile is
//! the one that follows from how the signature was made, and that is the oracles' too.
//!
//! The long run takes its duration in seconds, and optionally the seed of a failure:
//!
//! ```text
//! OCTOSIG_ADVERSARY_SECONDS=60 cargo test --release --test adversary -- --ignored --nocapture
//! ```

use std::{
    collections::{BTreeMap, BTreeSet, HashSet},
    env, fmt,
    mem::discriminant,
    num::NonZero,
    sync::atomic::{AtomicBool, Ordering},
    thread,
    time::Instant,
};

use curve25519_dalek::scalar::Scalar;
use octosig::{Backend, Item, Profile, Verifier};
use octosig_cases::adversary::{Adversarial, Generator, Origin, OriginOfS, Recipe};
use octosig_oracle as oracle;

/// Batches of a seed, with `count` signatures or a few more.
fn for_each_batch(seed: u64, count: usize, mut each: impl FnMut(&[Adversarial])) {
    let (mut generator, mut cases, mut made) = (Generator::new(seed), Vec::new(), 0);
    while made < count {
        generator.batch(&mut cases);
        each(&cases);
        made += cases.len();
    }
}

/// What the oracles say otherwise about a signature, if anything.
fn oracles_differ(case: &Adversarial) -> Option<String> {
    let item = case.item();
    Profile::ALL.iter().find_map(|&profile| {
        let verdict = oracle::verdict(profile, &item);
        let second = oracle::second_opinion(profile, &item).unwrap_or(verdict);
        let agree = [verdict, second] == [case.verdicts.of(profile); 2];
        (!agree).then(|| format!("under {profile} the oracles say {verdict}, {second}: {case:?}"))
    })
}

#[test]
fn verdicts_by_construction_are_the_oracles() {
    for_each_batch(1, 10_000, |cases| {
        for case in cases {
            assert_eq!(oracles_differ(case), None);
        }
    });
}

/// t, if the encoding is that of [a]B + [t]T with a ≠ 0.
fn torsion_of_large_order(origin: Origin) -> Option<u8> {
    match origin {
        Origin::PrimeOrder => Some(0),
        Origin::MixedOrder { torsion } => Some(torsion),
        _ => None,
    }
}

/// The generator makes everything that it is there for.
#[test]
fn every_kind_is_made() {
    const ORIGINS: usize = 7;
    const ORIGINS_OF_S: usize = 9;
    const EDGES_OF_S: usize = 10;
    let (mut counts, mut kinds, mut lanes) = (HashSet::new(), HashSet::new(), HashSet::new());
    let (mut patterns, mut small_order) = (BTreeSet::new(), HashSet::new());
    let (mut torsion, mut cancelling, mut left) = (HashSet::new(), HashSet::new(), HashSet::new());
    let (mut all_s, mut edges_of_s) = (HashSet::new(), HashSet::new());
    let mut accepted_s = HashSet::new();
    let (mut odd_cancelling, mut odd_left) = (0, 0);
    for_each_batch(2, 250_000, |cases| {
        counts.insert(cases.len());
        for (place, case) in cases.iter().enumerate() {
            let Recipe { a, r, s, k_mod_8 } = case.recipe;
            let (r_bytes, s_bytes) = case.signature.split_at(32);
            let pattern = Profile::ALL.iter().map(|&profile| case.verdicts.of(profile));
            patterns.insert(pattern.collect::<Vec<_>>());
            kinds.insert((discriminant(&a), discriminant(&r), discriminant(&s)));
            lanes.insert((discriminant(&a), discriminant(&r), place % 8));
            all_s.insert(s);
            if let OriginOfS::Edge(_) = s {
                edges_of_s.insert(s_bytes.to_vec());
            }
            if case.verdicts.of(Profile::Zip215) {
                accepted_s.insert(s_bytes.to_vec());
            }
            if let (Origin::SmallOrder { .. }, Origin::SmallOrder { .. }) = (a, r) {
                small_order.insert((case.public_key, r_bytes.to_vec()));
            }
            if let (Some(t), Some(u), true) = (
                torsion_of_large_order(a),
                torsion_of_large_order(r),
                case.verdicts.of(Profile::Simd0376),
            ) {
                torsion.insert((t, u));
                let cancels = case.verdicts.of(Profile::DalekStrict);
                let set = if cancels { &mut cancelling } else { &mut left };
                set.insert((t, k_mod_8));
                // Some k mod 8 cancels any u then.
                if t % 2 == 1 {
                    *if cancels { &mut odd_cancelling } else { &mut odd_left } += 1;
                }
            }
        }
    });

    assert_eq!(counts.len(), 130);
    assert_eq!(kinds.len(), ORIGINS * ORIGINS * ORIGINS_OF_S);
    assert_eq!(lanes.len(), ORIGINS * ORIGINS * 8);
    assert_eq!(small_order.len(), 14 * 14);
    assert_eq!((torsion.len(), cancelling.len(), left.len()), (8 * 8, 8 * 8, 8 * 8));
    // Left to chance, it would be one of eight.
    assert!(odd_cancelling * 2 > odd_left, "{odd_cancelling} cancel, {odd_left} do not");
    // S + L … S + 15 L, every bit flipped, the edges, and six kinds without a parameter.
    assert_eq!(all_s.len(), 15 + 256 + EDGES_OF_S + 6);
    let in_range = |s: &&Vec<u8>| Scalar::from_canonical_bytes(s[..].try_into().expect("32 bytes"));
    let edges_in_range = edges_of_s.iter().filter(|s| in_range(s).is_some().into());
    assert_eq!((edges_of_s.len(), edges_in_range.clone().count()), (EDGES_OF_S, 6));
    assert!(edges_in_range.clone().all(|s| accepted_s.contains(s)), "each is a valid S somewhere");
    // The differences that profiles can have. An A of large order that is not canonical would make
    // one more, if anybody knew its discrete logarithm.
    let possible = [
        [false, false, false, false],
        [false, false, true, false], // small order or R not canonical, and torsion left
        [false, false, true, true],  // torsion left
        [false, true, true, false],  // small order
        [true, true, true, true],
    ];
    assert_eq!(patterns.into_iter().collect::<Vec<_>>(), possible);
}

/// What a run did: signatures, and for each backend and profile verdicts and how many accept.
#[derive(Default)]
struct Tally {
    signatures: u64,
    verdicts: BTreeMap<(&'static str, &'static str), [u64; 2]>,
}

impl Tally {
    fn add(&mut self, other: &Self) {
        self.signatures += other.signatures;
        for (key, [verdicts, accepted]) in &other.verdicts {
            let [sum, sum_accepted] = self.verdicts.entry(*key).or_default();
            *sum += verdicts;
            *sum_accepted += accepted;
        }
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{} signatures", self.signatures)?;
        for ((backend, profile), [verdicts, accepted]) in &self.verdicts {
            writeln!(f, "{backend} {profile}: {verdicts} verdicts, {accepted} accept")?;
        }
        Ok(())
    }
}

/// Of so many batches one is verified without half-size scalars too, and by the portable backend, which
/// takes several times as long.
const OTHERS: u64 = 32;

/// Batches of a seed, as long as there are to be `more` than the signatures so far. The error is a
/// wrong verdict, with the way to it.
fn run(seed: u64, more: impl Fn(u64) -> bool) -> Result<Tally, String> {
    let available = Backend::ALL.iter().filter(|backend| backend.is_available());
    let ways = available.flat_map(|backend| [true, false].map(|half_size| (*backend, half_size)));
    let mut verifiers: Vec<_> = ways
        .map(|(backend, half_size)| {
            let mut verifier = Verifier::with_backend(backend).expect("an available backend");
            verifier.set_half_size_scalars(half_size);
            (verifier, (backend, half_size) == (Backend::best(), true))
        })
        .collect();
    let (mut generator, mut cases, mut tally) =
        (Generator::new(seed), Vec::new(), Tally::default());
    for batch in 0.. {
        if !more(tally.signatures) {
            break;
        }
        generator.batch(&mut cases);
        tally.signatures += cases.len() as u64;
        let sample = batch as usize % cases.len();
        let mut differ = oracles_differ(&cases[sample]);
        for (verifier, always) in &mut verifiers {
            let backend = verifier.backend();
            if !*always && batch % OTHERS != 0 {
                continue;
            }
            for &profile in Profile::ALL {
                differ = differ.or_else(|| wrong_verdict(verifier, profile, &cases, sample));
                let [verdicts, accepted] =
                    tally.verdicts.entry((backend.name(), profile.name())).or_default();
                *verdicts += cases.len() as u64;
                *accepted += cases.iter().filter(|case| case.verdicts.of(profile)).count() as u64;
            }
        }
        if let Some(what) = differ {
            return Err(format!("OCTOSIG_ADVERSARY_SEED={seed}, batch {batch}: {what}"));
        }
    }
    Ok(tally)
}

/// Verifies a batch in one call, and one of it alone and in a small call.
fn wrong_verdict(
    verifier: &mut Verifier,
    profile: Profile,
    cases: &[Adversarial],
    sample: usize,
) -> Option<String> {
    let (backend, count) = (verifier.backend(), cases.len());
    let items: Vec<Item<'_>> = cases.iter().map(Adversarial::item).collect();
    let expected: Vec<bool> = cases.iter().map(|case| case.verdicts.of(profile)).collect();
    // Stale verdicts are wrong everywhere, so that one that is not written shows.
    let mut verdicts: Vec<bool> = expected.iter().map(|verdict| !verdict).collect();
    verifier.verify_many(profile, &items, &mut verdicts).expect("as many verdicts as items");
    if let Some(i) = (0..count).find(|&i| verdicts[i] != expected[i]) {
        let (verdict, case) = (verdicts[i], &cases[i]);
        return Some(format!("{backend}, {profile}: {verdict} to item {i} of {count}: {case:?}"));
    }
    let Item { public_key, signature, message } = items[sample];
    let alone = verifier.verify(profile, public_key, signature, message);
    if alone != expected[sample] {
        return Some(format!("{backend}, {profile}: {alone} to one alone: {:?}", cases[sample]));
    }
    let few = sample..count.min(sample + 8);
    let all_valid = verifier.all_valid(profile, &items[few.clone()]);
    (all_valid == expected[few.clone()].contains(&false))
        .then(|| format!("{backend}, {profile}: all_valid says {all_valid}: {:?}", &cases[few]))
}

#[test]
fn adversarial_batches() {
    match run(3, |signatures| signatures < 50_000) {
        Ok(tally) => println!("{tally}"),
        Err(what) => panic!("{what}"),
    }
}

#[test]
#[ignore = "needs OCTOSIG_ADVERSARY_SECONDS, the duration, and takes OCTOSIG_ADVERSARY_SEED"]
fn adversarial_batches_for_a_while() {
    let number = |name: &str| {
        let value = env::var(name).ok()?;
        Some(value.parse::<u64>().unwrap_or_else(|error| panic!("{name}={value}: {error}")))
    };
    let seconds = number("OCTOSIG_ADVERSARY_SECONDS").expect("OCTOSIG_ADVERSARY_SECONDS is set");
    let seed = number("OCTOSIG_ADVERSARY_SEED").unwrap_or_else(rand::random);
    println!("OCTOSIG_ADVERSARY_SEED={seed}");
    let start = Instant::now();
    let failed = &AtomicBool::new(false);
    // Relaxed: the flag alone is communicated.
    let more = |_| start.elapsed().as_secs() < seconds && !failed.load(Ordering::Relaxed);
    let fail = |_: &String| failed.store(true, Ordering::Relaxed);
    let threads = thread::available_parallelism().map_or(1, NonZero::get) as u64;
    let tallies: Result<Vec<Tally>, String> = thread::scope(|scope| {
        let spawn = |i| scope.spawn(move || run(seed.wrapping_add(i), more).inspect_err(fail));
        let threads: Vec<_> = (0..threads).map(spawn).collect();
        threads.into_iter().map(|thread| thread.join().expect("no panic")).collect()
    });
    match tallies {
        Ok(tallies) => {
            let mut sum = Tally::default();
            tallies.iter().for_each(|tally| sum.add(tally));
            println!("{threads} threads, {:.1?}: {sum}", start.elapsed());
        }
        Err(what) => panic!("{what}"),
    }
}
