//! Verifiers for every backend, and the check of a call against the verdicts that it must give.

use octosig::{Backend, Item, Profile, Verifier};
use octosig_cases::Case;

/// The lanes of the widest backend.
pub(crate) const LANES: usize = 8;

/// The backends that this CPU can run.
pub(crate) fn backends() -> impl Iterator<Item = Backend> {
    Backend::ALL.iter().copied().filter(|backend| backend.is_available())
}

/// Two verifiers for each of [`backends`]: with half-size scalars, and without.
pub(crate) fn verifiers() -> impl Iterator<Item = Verifier> {
    backends().flat_map(|backend| {
        [true, false].map(|half_size| {
            let mut verifier = Verifier::with_backend(backend).expect("an available backend");
            verifier.set_half_size_scalars(half_size);
            verifier
        })
    })
}

/// Verifies `cases` in one call for each profile.
#[track_caller]
pub(crate) fn check<'a>(verifier: &mut Verifier, cases: impl IntoIterator<Item = &'a Case>) {
    let cases: Vec<&Case> = cases.into_iter().collect();
    for &profile in Profile::ALL {
        check_profile(verifier, profile, &cases);
    }
}

/// What the verdicts hold before the call is wrong everywhere, so that one that is not written
/// shows.
#[track_caller]
pub(crate) fn check_profile(verifier: &mut Verifier, profile: Profile, cases: &[&Case]) {
    let items: Vec<Item<'_>> = cases.iter().map(|case| case.item()).collect();
    let mut verdicts: Vec<bool> = cases.iter().map(|case| !case.verdicts.of(profile)).collect();
    verifier.verify_many(profile, &items, &mut verdicts).expect("as many verdicts as items");
    for (i, (case, verdict)) in cases.iter().zip(verdicts).enumerate() {
        assert!(
            verdict == case.verdicts.of(profile),
            "{verifier:?} under {profile} says {verdict} to item {i} of {}: {}",
            cases.len(),
            case.name
        );
    }
}

/// Verifies a case by itself under each profile.
#[track_caller]
pub(crate) fn check_alone(verifier: &mut Verifier, case: &Case) {
    for &profile in Profile::ALL {
        let verdict = verifier.verify(profile, &case.public_key, &case.signature, &case.message);
        let expected = case.verdicts.of(profile);
        assert_eq!(verdict, expected, "{verifier:?} under {profile}: {}", case.name);
    }
}
