//! The entries of a verifier agree with each other, and with what they document.

use octosig::{Item, LengthMismatch, Profile, UnknownProfile};

use octosig_cases::{Case, edges};

use crate::harness::{LANES, check, check_alone, verifiers};

fn items(cases: &[Case]) -> Vec<Item<'_>> {
    cases.iter().map(Case::item).collect()
}

#[test]
fn all_valid_is_the_conjunction() {
    let honest: Vec<Case> = (0..20).map(|seed| Case::honest(seed, 100)).collect();
    let broken: Vec<Case> = (0..20).map(|seed| Case::broken(seed, 100)).collect();
    for mut verifier in verifiers() {
        for count in 0..=honest.len() {
            let mut items = items(&honest[..count]);
            assert!(verifier.all_valid(Profile::DalekStrict, &items), "{count} valid items");
            for (at, broken) in broken[..count].iter().enumerate() {
                let good = std::mem::replace(&mut items[at], broken.item());
                assert!(
                    !verifier.all_valid(Profile::DalekStrict, &items),
                    "{count} items, item {at} is broken"
                );
                items[at] = good;
            }
        }
    }
}

#[test]
fn verify_is_verify_many_of_one() {
    for mut verifier in verifiers() {
        for seed in 0..2 * LANES as u64 {
            for case in [Case::honest(seed, 33), Case::broken(seed, 33)] {
                check_alone(&mut verifier, &case);
                check(&mut verifier, [&case]);
            }
        }
    }
}

#[test]
fn no_items() {
    for mut verifier in verifiers() {
        assert_eq!(verifier.verify_many(Profile::DalekStrict, &[], &mut []), Ok(()));
        assert!(verifier.all_valid(Profile::DalekStrict, &[]));
        assert_eq!(verifier.stats().signatures, 0);
    }
}

#[test]
fn lengths_that_differ_are_an_error_and_verify_nothing() {
    let cases: Vec<Case> = (0..9).map(|seed| Case::honest(seed, 5)).collect();
    let items = items(&cases);
    for mut verifier in verifiers() {
        for room in [0, 1, 8, 10, 64] {
            let mut verdicts = vec![false; room];
            let error =
                verifier.verify_many(Profile::DalekStrict, &items, &mut verdicts).unwrap_err();
            assert_eq!(error, LengthMismatch { items: 9, verdicts: room });
            let text = error.to_string();
            assert!(text.contains('9') && text.contains(&room.to_string()), "{text}");
            assert!(verdicts.iter().all(|&verdict| !verdict));
        }
        assert_eq!(verifier.stats().signatures, 0);
        check(&mut verifier, &cases);
    }
}

#[test]
fn every_signature_is_counted() {
    let cases: Vec<Case> = (0..65).map(|seed| Case::honest(seed, 5)).collect();
    for mut verifier in verifiers() {
        let mut expected = 0;
        for count in [1, 2, 3, 4, 5, 8, 9, 64, 65] {
            check(&mut verifier, &cases[..count]);
            expected += (Profile::ALL.len() * count) as u64;
        }
        let [first, ..] = &cases[..] else { unreachable!("65 cases") };
        check_alone(&mut verifier, first);
        expected += Profile::ALL.len() as u64;
        assert_eq!(verifier.stats().signatures, expected);
        assert!(verifier.all_valid(Profile::DalekStrict, &items(&cases)));
        assert_eq!(verifier.stats().signatures, expected + 65);
        assert_eq!(verifier.stats().float_mode_fallbacks, 0);
    }
}

#[test]
fn profiles() {
    assert_eq!(Profile::default(), Profile::DalekStrict);
    assert_eq!(Profile::DalekStrict.name(), "dalek-strict");
    let names: Vec<&str> = Profile::ALL.iter().map(|profile| profile.name()).collect();
    assert_eq!(names, ["dalek-strict", "stdlib-compat", "zip215", "simd0376"]);
    for &profile in Profile::ALL {
        assert_eq!(profile.name().parse(), Ok(profile));
        assert_eq!(profile.to_string(), profile.name());
    }
    for name in ["", "Zip215", "zip215 ", "strict"] {
        assert_eq!(name.parse::<Profile>(), Err(UnknownProfile));
    }
    assert_eq!(UnknownProfile.to_string(), "unknown profile");
}

/// Each entry, one call after the other, gives the verdict of the call's own profile.
#[test]
fn a_profile_is_chosen_per_call() {
    for mut verifier in verifiers() {
        for case in edges::cases().iter().step_by(3) {
            check_alone(&mut verifier, case);
            check(&mut verifier, [case]);
            for &profile in Profile::ALL {
                let valid = verifier.all_valid(profile, &[case.item(); 3]);
                assert_eq!(valid, case.verdicts.of(profile), "{profile}: {}", case.name);
            }
        }
    }
}
