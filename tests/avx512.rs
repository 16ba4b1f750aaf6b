//! The AVX-512 backend over every corpus, each case in every lane, and every count of signatures up to
//! four groups: few enough calls for an emulated CPU, where `ci/emulator.sh` runs them. Elsewhere they
//! pass without doing anything if the CPU lacks the instructions.

use std::{env, fs, sync::LazyLock};

use octosig::{Backend, Item, Profile, Verifier};
use octosig_cases::{
    Case,
    corpora::{self, Corpus},
};

/// The file that [`write_corpora`] writes and, if there is one, the corpora are read from: an emulated
/// CPU would take minutes to ask the oracles for them.
const FILE: &str = "OCTOSIG_CORPORA_FILE";

static CASES: LazyLock<Vec<Case>> = LazyLock::new(|| match env::var_os(FILE) {
    Some(file) => Corpus::parse("", &fs::read_to_string(file).expect("a file of UTF-8")).cases,
    None => corpora::built_in().into_iter().flat_map(|corpus| corpus.cases).collect(),
});

#[test]
#[ignore = "writes the corpora into a file, for the emulator"]
fn write_corpora() {
    let file = env::var_os(FILE).expect("the file's name");
    let text: String = corpora::built_in().iter().map(Corpus::to_jsonl).collect();
    fs::write(file, text).expect("a file that can be written");
}

/// None if the CPU lacks AVX-512.
fn verifier(half_size: bool) -> Option<Verifier> {
    Backend::Avx512.is_available().then(|| {
        let mut verifier = Verifier::with_backend(Backend::Avx512).expect("available");
        verifier.set_half_size_scalars(half_size);
        verifier
    })
}

/// What the verdicts hold before the call is wrong everywhere.
#[track_caller]
fn check<'a>(
    verifier: &mut Verifier,
    profile: Profile,
    cases: impl Iterator<Item = &'a Case> + Clone,
) {
    let items: Vec<Item<'_>> = cases.clone().map(Case::item).collect();
    let expected: Vec<bool> = cases.clone().map(|case| case.verdicts.of(profile)).collect();
    let mut verdicts: Vec<bool> = expected.iter().map(|verdict| !verdict).collect();
    verifier.verify_many(profile, &items, &mut verdicts).expect("as many verdicts as items");
    for (i, case) in cases.enumerate() {
        assert_eq!(
            verdicts[i],
            expected[i],
            "{verifier:?} under {profile}, item {i} of {}: {}",
            items.len(),
            case.name
        );
    }
}

/// Without this the others might pass for want of the instructions.
#[test]
#[ignore = "for the emulator"]
fn avx512_is_there_and_passes_its_self_test() {
    assert!(std::arch::is_x86_feature_detected!("avx512ifma"));
    assert_eq!(Backend::best(), Backend::Avx512);
    let report = Backend::Avx512.self_test().expect("available");
    assert!(report.passed(), "{report:?}");
}

/// Calls of eight, turned seven times. Both profiles ask no more of the bytes than S < L and a canonical
/// R, so that places are lanes.
#[test]
fn corpora_in_every_lane() {
    let admitted: Vec<&Case> = CASES.iter().filter(|case| case.signature[63] < 0x10).collect();
    assert!(admitted.len() > 5_000);
    // Each equation, and each way.
    for (profile, half_size) in [(Profile::Zip215, true), (Profile::StdlibCompat, false)] {
        let Some(mut verifier) = verifier(half_size) else { return };
        for eight in admitted.chunks(8) {
            for turn in 0..eight.len() {
                let (end, start) = eight.split_at(turn);
                check(&mut verifier, profile, start.iter().chain(end).copied());
            }
        }
    }
}

#[test]
fn corpora_under_every_profile() {
    for &profile in Profile::ALL {
        let Some(mut verifier) = verifier(true) else { return };
        check(&mut verifier, profile, CASES.iter());
    }
}

/// Windows of every count from 1 to 33, which begin at another case each.
#[test]
fn every_count() {
    for half_size in [true, false] {
        let Some(mut verifier) = verifier(half_size) else { return };
        let mut next = 0;
        for _ in 0..2 {
            for count in 1..=33 {
                for profile in [Profile::DalekStrict, Profile::StdlibCompat, Profile::Zip215] {
                    // A step that has no factor in common with the number of cases mixes the corpora.
                    let window = (next..next + count).map(|i| &CASES[i * 4_099 % CASES.len()]);
                    check(&mut verifier, profile, window);
                    next += count;
                }
            }
        }
    }
}
