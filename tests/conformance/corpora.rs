//! Published and generated corpora, each case in every lane and among every count of others, under
//! every profile.

use std::{env, path::Path, sync::LazyLock};

use octosig::{Backend, Profile};
use octosig_cases::{
    Case,
    corpora::{self, Corpus},
};
use octosig_oracle as oracle;
use rand::{Rng, SeedableRng, rngs::StdRng, seq::SliceRandom};

use crate::harness::{LANES, check, check_alone, verifiers};

/// All corpora that are at hand without a network or another folder.
static CASES: LazyLock<Vec<Case>> = LazyLock::new(|| flatten(corpora::built_in()));

fn flatten(corpora: Vec<Corpus>) -> Vec<Case> {
    corpora.into_iter().flat_map(|corpus| corpus.cases).collect()
}

/// Stored verdicts against the other implementations, as they are linked here.
fn oracles_agree(cases: &[Case]) {
    for case in cases {
        let item = case.item();
        for &profile in Profile::ALL {
            let expected = case.verdicts.of(profile);
            assert_eq!(oracle::verdict(profile, &item), expected, "{profile}: {}", case.name);
            if let Some(second) = oracle::second_opinion(profile, &item) {
                assert_eq!(second, expected, "{profile}, second opinion: {}", case.name);
            }
        }
    }
}

fn alone(cases: &[Case]) {
    for mut verifier in verifiers() {
        for case in cases {
            check_alone(&mut verifier, case);
        }
    }
}

fn in_one_call(cases: &[Case]) {
    for mut verifier in verifiers() {
        check(&mut verifier, cases);
        check(&mut verifier, cases.iter().rev());
    }
}

/// Each case at each place of a call of `count`, its neighbours in turn honest and broken. They
/// pass every check that comes before the lanes, so that places are lanes.
fn in_every_lane(count: usize, cases: &[Case]) {
    let neighbours: Vec<Case> = (0..count)
        .map(|i| match i % 2 {
            0 => Case::honest(i as u64, 150 * i),
            _ => Case::broken(i as u64, 150 * i),
        })
        .collect();
    // The portable backend has one lane.
    for mut verifier in verifiers().filter(|v| count <= 2 || v.backend() != Backend::Portable) {
        for case in cases {
            for lane in 0..count {
                let (before, after) = neighbours[1..].split_at(lane);
                check(&mut verifier, before.iter().chain([case]).chain(after));
            }
        }
    }
}

/// Every count of items on both sides of a few groups, and around powers of two beyond them; each
/// with several windows into the shuffled corpora.
fn at_every_count(cases: &[Case]) {
    let mut rng = StdRng::seed_from_u64(65);
    let mut mixed: Vec<&Case> = cases.iter().collect();
    mixed.shuffle(&mut rng);
    let beyond = [127, 128, 129, 255, 256, 257, 1_023, 1_024, 1_025];
    for mut verifier in verifiers() {
        for count in (1..=65).chain(beyond) {
            for _ in 0..512_usize.div_ceil(count) {
                let start = rng.random_range(0..mixed.len());
                let window = mixed.iter().copied().cycle().skip(start).take(count);
                check(&mut verifier, window);
            }
        }
    }
}

#[test]
fn corpora_are_whole() {
    let sizes: Vec<_> =
        corpora::built_in().into_iter().map(|corpus| (corpus.name, corpus.cases.len())).collect();
    let expected = [("torsion-lattice", 5_326), ("rfc8032", 5), ("wycheproof", 139), ("edges", 0)];
    for ((name, size), (expected, cases)) in sizes.iter().zip(expected) {
        assert_eq!(name, expected);
        assert!(*size == cases || cases == 0, "{name}: {size}");
    }
}

#[test]
fn corpora_have_the_verdicts_of_other_implementations() {
    oracles_agree(&CASES);
}

/// Any two profiles differ on some case, in the direction that their rules say.
#[test]
fn corpora_tell_the_profiles_apart() {
    use Profile::{DalekStrict, Simd0376, StdlibCompat, Zip215};
    let count = |accepts, refuses| {
        let differs = |case: &&Case| case.verdicts.of(accepts) && !case.verdicts.of(refuses);
        CASES.iter().filter(differs).count()
    };
    for (narrow, wide) in [
        (DalekStrict, StdlibCompat),
        (DalekStrict, Simd0376),
        (DalekStrict, Zip215),
        (StdlibCompat, Zip215),
        (Simd0376, Zip215),
    ] {
        assert!(count(wide, narrow) > 0 && count(narrow, wide) == 0, "{narrow} and {wide}");
    }
    assert!(count(StdlibCompat, Simd0376) > 0 && count(Simd0376, StdlibCompat) > 0);
}

#[test]
fn corpora_alone() {
    alone(&CASES);
}

#[test]
fn corpora_in_one_call() {
    in_one_call(&CASES);
}

#[test]
fn corpora_in_every_lane_of_eight() {
    in_every_lane(LANES, &CASES);
}

/// What is left beside full groups may take other paths.
#[test]
fn corpora_in_every_lane_of_smaller_groups() {
    for count in [2, 4, 6] {
        in_every_lane(count, &CASES);
    }
}

#[test]
fn corpora_at_every_count() {
    at_every_count(&CASES);
}

#[test]
#[ignore = "needs OCTOSIG_VECTORS_CI, the folder of the corpora that are not in the repository"]
fn corpora_outside_of_the_repository() {
    let folder = env::var_os("OCTOSIG_VECTORS_CI").expect("OCTOSIG_VECTORS_CI names no folder");
    let cases = flatten(corpora::of_folder(Path::new(&folder)).expect("a folder of UTF-8 files"));
    assert!(!cases.is_empty(), "no corpus in the folder");
    oracles_agree(&cases);
    alone(&cases);
    in_one_call(&cases);
    for count in [2, 4, 6, LANES] {
        in_every_lane(count, &cases);
    }
    at_every_count(&cases);
}
