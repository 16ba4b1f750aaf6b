//! Host threads whose floating-point mode is not the default one.
#![allow(unsafe_code)]

use std::arch::asm;

use octosig::{Backend, BackendError, Item, Profile, Verifier};

use octosig_cases::Case;

use crate::harness::{backends, check, verifiers};

/// Round to nearest, no flushing, every exception masked.
const DEFAULT: u32 = 0x1f80;
/// The sticky flags that operations raise; they are results, not modes.
const FLAGS: u32 = 0x003f;
/// The three other roundings, flush to zero, denormals are zero, and each exception unmasked.
const MODES: [u32; 11] = [
    DEFAULT | 0x2000,
    DEFAULT | 0x4000,
    DEFAULT | 0x6000,
    DEFAULT | 0x8000,
    DEFAULT | 0x0040,
    DEFAULT & !0x0080,
    DEFAULT & !0x0100,
    DEFAULT & !0x0200,
    DEFAULT & !0x0400,
    DEFAULT & !0x0800,
    DEFAULT & !0x1000,
];

fn mxcsr() -> u32 {
    let mut value = 0_u32;
    // SAFETY: STMXCSR stores four bytes at its operand, the address of a live, aligned u32.
    unsafe { asm!("stmxcsr [{}]", in(reg) &mut value, options(nostack, preserves_flags)) }
    value
}

fn set_mxcsr(value: u32) {
    // SAFETY: LDMXCSR reads four bytes from its operand, the address of a live u32; only the
    // reserved bits above 16, which no caller sets, make it fault. Compiled Rust assumes the
    // default mode for its own floating-point operations; `Mode` is in force only around a call
    // of the library, which has none but those that it guards: that is what is tested here.
    unsafe { asm!("ldmxcsr [{}]", in(reg) &value, options(nostack, readonly, preserves_flags)) }
}

/// The thread's floating-point mode until it is dropped.
struct Mode(u32);

impl Mode {
    fn set(value: u32) -> Self {
        let before = mxcsr();
        set_mxcsr(value);
        Self(before)
    }
}

impl Drop for Mode {
    fn drop(&mut self) {
        set_mxcsr(self.0);
    }
}

fn mixed_cases() -> Vec<Case> {
    (0..32).flat_map(|seed| [Case::honest(seed, 200), Case::broken(seed, 20)]).collect()
}

/// The verdicts of [`mixed_cases`], which do not depend on the profile.
fn honest_ones(cases: &[Case]) -> Vec<bool> {
    cases.iter().map(|case| case.verdicts.of(Profile::DalekStrict)).collect()
}

/// The verdicts under `mode` and the register at the end.
fn verify_under(
    mode: u32,
    verifier: &mut Verifier,
    profile: Profile,
    items: &[Item<'_>],
) -> (Vec<bool>, u32) {
    let mut verdicts = vec![false; items.len()];
    let guard = Mode::set(mode);
    let result = verifier.verify_many(profile, items, &mut verdicts);
    let after = mxcsr();
    drop(guard);
    result.expect("as many verdicts as items");
    (verdicts, after)
}

fn fallbacks(verifier: &Verifier) -> u64 {
    verifier.stats().float_mode_fallbacks
}

#[test]
fn verdicts_do_not_depend_on_the_mode() {
    let cases = mixed_cases();
    let items: Vec<Item<'_>> = cases.iter().map(Case::item).collect();
    let expected = honest_ones(&cases);
    for mut verifier in verifiers() {
        let backend = verifier.backend();
        for (mode, profile) in
            MODES.into_iter().flat_map(|m| Profile::ALL.iter().map(move |p| (m, *p)))
        {
            for count in [1, 2, 3, 4, 7, 8, 9, 64] {
                let (verdicts, after) = verify_under(mode, &mut verifier, profile, &items[..count]);
                assert_eq!(verdicts, expected[..count], "{backend:?} {profile}, MXCSR {mode:#06x}");
                assert_eq!(after & !FLAGS, mode, "{backend:?} changed MXCSR");
            }
        }
        // Back in the default mode, the same verifier does without the fallback.
        let before = fallbacks(&verifier);
        check(&mut verifier, &cases);
        assert_eq!(fallbacks(&verifier), before);
    }
}

#[test]
fn fallbacks_are_counted_by_the_call() {
    let cases = mixed_cases();
    let items: Vec<Item<'_>> = cases.iter().map(Case::item).collect();
    for mut verifier in verifiers() {
        let needs_default_mode = verifier.backend() == Backend::Avx2;
        for (calls, mode) in (1..).zip(MODES) {
            verify_under(mode, &mut verifier, Profile::DalekStrict, &items);
            assert_eq!(fallbacks(&verifier), if needs_default_mode { calls } else { 0 });
        }
    }
}

#[test]
fn raised_flags_are_no_mode() {
    let cases = mixed_cases();
    let items: Vec<Item<'_>> = cases.iter().map(Case::item).collect();
    let expected = honest_ones(&cases);
    for mut verifier in verifiers() {
        let (verdicts, after) =
            verify_under(DEFAULT | FLAGS, &mut verifier, Profile::DalekStrict, &items);
        assert_eq!(verdicts, expected);
        assert_eq!(after, DEFAULT | FLAGS);
        assert_eq!(fallbacks(&verifier), 0);
    }
}

#[test]
fn single_signatures_and_all_valid() {
    let (honest, broken) = (Case::honest(1, 200), Case::broken(2, 200));
    let good = vec![honest.item(); 9];
    let mut bad = good.clone();
    bad[8] = broken.item();
    let verify = |verifier: &mut Verifier, case: &Case| {
        let profile = Profile::DalekStrict;
        verifier.verify(profile, &case.public_key, &case.signature, &case.message)
    };
    for mut verifier in verifiers() {
        for mode in MODES {
            let guard = Mode::set(mode);
            let verdicts = [
                verify(&mut verifier, &honest),
                !verify(&mut verifier, &broken),
                verifier.all_valid(Profile::DalekStrict, &good),
                !verifier.all_valid(Profile::DalekStrict, &bad),
            ];
            drop(guard);
            assert_eq!(verdicts, [true; 4], "{:?}, MXCSR {mode:#06x}", verifier.backend());
        }
    }
}

#[test]
fn all_valid_over_several_chunks_is_one_call() {
    let honest = Case::honest(1, 200);
    for mut verifier in verifiers() {
        let guard = Mode::set(MODES[0]);
        let valid = verifier.all_valid(Profile::DalekStrict, &vec![honest.item(); 200]);
        drop(guard);
        assert!(valid);
        let expected = u64::from(verifier.backend() == Backend::Avx2);
        assert_eq!(verifier.stats().float_mode_fallbacks, expected);
        assert_eq!(verifier.stats().signatures, 200);
    }
}

/// There the answers would be another backend's.
#[test]
fn a_backend_that_needs_the_default_mode_is_not_tested_in_another() {
    for backend in backends() {
        for mode in MODES {
            let guard = Mode::set(mode);
            let report = backend.self_test();
            drop(guard);
            match backend {
                Backend::Avx2 => assert_eq!(report, Err(BackendError::FloatMode(backend))),
                _ => assert!(report.expect("an available backend").passed()),
            }
        }
    }
}
