//! The choice of a backend, and verifiers in threads.

use std::{collections::HashSet, thread};

use octosig::{Backend, BackendError, PathTest, Profile, SelfTest, UnknownBackend, Verifier};

use octosig_cases::Case;

use crate::harness::{backends, check, verifiers};

#[test]
fn names() {
    let names: HashSet<&str> = Backend::ALL.iter().map(|backend| backend.name()).collect();
    assert_eq!(names.len(), Backend::ALL.len());
    assert_eq!(Backend::Portable.name(), "portable");
    for backend in Backend::ALL {
        assert_eq!(backend.name().parse(), Ok(*backend));
        assert_eq!(backend.to_string(), backend.name());
    }
    for name in ["", "AVX2", "avx2 ", "avx512f", "sse"] {
        assert_eq!(name.parse::<Backend>(), Err(UnknownBackend));
    }
    assert_eq!(UnknownBackend.to_string(), "unknown backend");
}

#[test]
fn errors_name_the_backend_and_what_it_needs() {
    let text = BackendError::Unavailable(Backend::Avx2).to_string();
    assert!(text.contains("backend avx2") && text.ends_with("it needs avx2 fma"), "{text}");
    let text = BackendError::SelfTestFailed(Backend::Avx2).to_string();
    assert!(text.contains("backend avx2") && text.contains("self-test"), "{text}");
    let text = BackendError::FloatMode(Backend::Avx2).to_string();
    assert!(text.contains("backend avx2") && text.contains("floating-point mode"), "{text}");
}

#[test]
fn portable_is_always_there_and_first() {
    assert_eq!(Backend::ALL.first(), Some(&Backend::Portable));
    assert!(Backend::Portable.is_available());
    assert!(Backend::Portable.required_features().is_empty());
}

#[cfg(target_arch = "x86_64")]
#[test]
fn a_backend_is_there_iff_the_cpu_has_its_features() {
    assert_eq!(Backend::Avx2.name(), "avx2");
    assert_eq!(Backend::Avx2.required_features(), ["avx2", "fma"]);
    let detected = is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma");
    assert_eq!(Backend::Avx2.is_available(), detected);

    assert_eq!(Backend::Avx512.name(), "avx512");
    let features = Backend::Avx512.required_features();
    assert_eq!(features, ["avx512f", "avx512dq", "avx512vl", "avx512bw", "avx512ifma"]);
    let detected = is_x86_feature_detected!("avx512f")
        && is_x86_feature_detected!("avx512dq")
        && is_x86_feature_detected!("avx512vl")
        && is_x86_feature_detected!("avx512bw")
        && is_x86_feature_detected!("avx512ifma");
    assert_eq!(Backend::Avx512.is_available(), detected);
}

#[test]
fn best_is_the_last_available_one() {
    assert_eq!(backends().last(), Some(Backend::best()));
    assert_eq!(Verifier::new().backend(), Backend::best());
}

#[test]
fn a_backend_is_used_as_asked_for_or_refused() {
    for &backend in Backend::ALL {
        match Verifier::with_backend(backend) {
            Ok(verifier) => {
                assert!(backend.is_available());
                assert_eq!(verifier.backend(), backend);
            }
            Err(error) => {
                assert!(!backend.is_available());
                assert_eq!(error, BackendError::Unavailable(backend));
                assert!(error.to_string().contains(backend.name()), "{error}");
            }
        }
    }
}

#[test]
fn self_tests_pass_in_every_lane() {
    for backend in backends() {
        let result = backend.self_test().expect("an available backend");
        assert_eq!(result.backend, backend);
        assert!(result.passed());
        assert!(!result.paths.is_empty());
        for path in &result.paths {
            let lanes = match path.path.strip_prefix('x') {
                Some(number) => number.parse().expect("x and a number"),
                None => 16,
            };
            assert_eq!(path.lanes.len(), lanes, "{backend:?} {}", path.path);
            assert!(path.path.starts_with('x') || path.path == "shared");
            assert!(path.lanes.iter().all(|&passed| passed));
        }
    }
}

#[test]
fn one_bad_lane_fails_a_self_test() {
    let paths = |lanes| vec![PathTest { path: "x8", lanes }];
    let mut lanes = vec![true; 8];
    assert!(SelfTest { backend: Backend::Portable, paths: paths(lanes.clone()) }.passed());
    lanes[7] = false;
    assert!(!SelfTest { backend: Backend::Portable, paths: paths(lanes) }.passed());
}

#[test]
fn many_threads_with_a_verifier_each() {
    let cases: Vec<Case> =
        (0..65).flat_map(|seed| [Case::honest(seed, 60), Case::broken(seed, 90)]).collect();
    for backend in backends() {
        thread::scope(|scope| {
            for count in 1..=16 {
                let cases = &cases[count..];
                scope.spawn(move || {
                    let mut verifier =
                        Verifier::with_backend(backend).expect("an available backend");
                    for calls in cases.chunks(count) {
                        check(&mut verifier, calls);
                    }
                });
            }
        });
    }
}

/// A verifier goes from thread to thread, as in a pool.
#[test]
fn a_verifier_can_be_sent() {
    let cases: Vec<Case> = (0..9).map(|seed| Case::honest(seed, 60)).collect();
    for mut verifier in verifiers() {
        check(&mut verifier, &cases);
        let thread = thread::spawn({
            let cases = cases.clone();
            move || {
                check(&mut verifier, &cases);
                verifier
            }
        });
        let mut verifier = thread.join().expect("no panic");
        check(&mut verifier, &cases);
        assert_eq!(verifier.stats().signatures, 27 * Profile::ALL.len() as u64);
    }
}
