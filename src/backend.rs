//! How lanes are computed: the choice of a backend at run time, and the one function per backend
//! that enables its CPU features.

use crate::Item;
use crate::field::portable::Portable;
#[cfg(target_arch = "x86_64")]
use crate::field::{Fma, Ifma, Twice, fma::avx2::Avx2, ifma::avx512::Avx512};
use crate::selftest::{self, SelfTest};
use crate::sha512;
#[cfg(target_arch = "x86_64")]
use crate::solo;
use crate::verifier::Stats;
use crate::verify::{CHUNK, HashBuffers, Live, MAX_SHARED, Plan, Request, Workspace};
use alloc::boxed::Box;
use core::fmt;
use core::str::FromStr;
use core::sync::atomic::{AtomicU8, Ordering};

/// How lanes are computed. The verdicts are the same.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Backend {
    /// 64-bit integers, one signature at a time. Runs on every CPU.
    Portable,
    /// AVX2 and FMA: eight signatures at a time, four `f64` to a register.
    Avx2,
    /// AVX-512 IFMA: eight signatures at a time, eight `u64` to a register.
    Avx512,
}

impl Backend {
    /// Every backend, the slowest first.
    pub const ALL: &'static [Self] = &[Self::Portable, Self::Avx2, Self::Avx512];

    /// The name on the command line: `portable`, `avx2`, `avx512`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Portable => "portable",
            Self::Avx2 => "avx2",
            Self::Avx512 => "avx512",
        }
    }

    /// The CPU features it needs, as `/proc/cpuinfo` spells them: empty for [`Backend::Portable`].
    #[must_use]
    pub const fn required_features(self) -> &'static [&'static str] {
        match self {
            Self::Portable => &[],
            Self::Avx2 => &["avx2", "fma"],
            Self::Avx512 => &["avx512f", "avx512dq", "avx512vl", "avx512bw", "avx512ifma"],
        }
    }

    /// Whether this CPU and operating system can run it (CPUID and XCR0).
    #[must_use]
    pub fn is_available(self) -> bool {
        match self {
            Self::Portable => true,
            #[cfg(target_arch = "x86_64")]
            Self::Avx2 => Avx2::detect().is_some(),
            #[cfg(target_arch = "x86_64")]
            Self::Avx512 => Avx512::detect().is_some(),
            #[cfg(not(target_arch = "x86_64"))]
            Self::Avx2 | Self::Avx512 => false,
        }
    }

    /// The fastest backend that is available and has passed its self-test; the portable one if none
    /// has. The first call tests it, which takes some tens of milliseconds.
    #[must_use]
    pub fn best() -> Self {
        let usable = Self::ALL.iter().rev().copied().find(|backend| backend.usable().is_ok());
        usable.unwrap_or(Self::Portable)
    }

    /// Runs the known-answer test of every lane of every path now.
    ///
    /// # Errors
    ///
    /// [`BackendError::Unavailable`] if the machine cannot run the backend,
    /// [`BackendError::FloatMode`] if this thread cannot. A wrong answer is not an error but a lane
    /// of the report.
    pub fn self_test(self) -> Result<SelfTest, BackendError> {
        let mut engine = Engine::new(self).ok_or(BackendError::Unavailable(self))?;
        // In another mode the engine would step aside, and another backend would be tested.
        #[cfg(target_arch = "x86_64")]
        if self == Self::Avx2 && !float_mode_is_default() {
            return Err(BackendError::FloatMode(self));
        }
        Ok(selftest::run(self, &mut engine))
    }

    /// Ok if the backend is available and has passed its self-test, which runs once per process.
    fn usable(self) -> Result<(), BackendError> {
        static RESULTS: [AtomicU8; Backend::ALL.len()] =
            [const { AtomicU8::new(UNTESTED) }; Backend::ALL.len()];
        if !self.is_available() {
            return Err(BackendError::Unavailable(self));
        }
        let passed = latch(&RESULTS[self as usize], || Ok(self.self_test()?.passed()))?;
        passed.then_some(()).ok_or(BackendError::SelfTestFailed(self))
    }

    /// Scratch memory and CPU token of a usable backend.
    pub(crate) fn engine(self) -> Result<Engine, BackendError> {
        self.usable()?;
        Engine::new(self).ok_or(BackendError::Unavailable(self))
    }
}

const UNTESTED: u8 = 0;
const PASSED: u8 = 1;
const FAILED: u8 = 2;

/// The result of `test`, from the first call on that has one. Threads that come at the same time
/// may all run it.
fn latch(
    result: &AtomicU8,
    test: impl FnOnce() -> Result<bool, BackendError>,
) -> Result<bool, BackendError> {
    // Relaxed: the value alone is communicated.
    match result.load(Ordering::Relaxed) {
        UNTESTED => {
            let passed = test()?;
            result.store(if passed { PASSED } else { FAILED }, Ordering::Relaxed);
            Ok(passed)
        }
        result => Ok(result == PASSED),
    }
}

impl fmt::Display for Backend {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// No backend has this name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnknownBackend;

impl fmt::Display for UnknownBackend {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("unknown backend")
    }
}

impl core::error::Error for UnknownBackend {}

impl FromStr for Backend {
    type Err = UnknownBackend;

    fn from_str(name: &str) -> Result<Self, UnknownBackend> {
        Self::ALL.iter().copied().find(|backend| backend.name() == name).ok_or(UnknownBackend)
    }
}

/// A backend cannot be used.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BackendError {
    /// The CPU or the operating system lacks what it needs.
    Unavailable(Backend),
    /// A known answer came out wrong: the machine computes other results than it should.
    SelfTestFailed(Backend),
    /// It has not been tested yet, and cannot be on this thread, whose floating-point mode (MXCSR)
    /// is not the default one.
    FloatMode(Backend),
}

impl fmt::Display for BackendError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unavailable(backend) => {
                write!(f, "backend {backend} is not available on this machine: it needs")?;
                for feature in backend.required_features() {
                    write!(f, " {feature}")?;
                }
                Ok(())
            }
            Self::SelfTestFailed(backend) => {
                write!(f, "backend {backend} failed its self-test and is not used")
            }
            Self::FloatMode(backend) => {
                write!(
                    f,
                    "backend {backend} needs the default floating-point mode for its self-test"
                )
            }
        }
    }
}

impl core::error::Error for BackendError {}

/// A backend's scratch memory.
pub(crate) enum Engine {
    Portable(Box<Workspace<Portable>>),
    #[cfg(target_arch = "x86_64")]
    Avx2(Box<Avx2Engine>),
    #[cfg(target_arch = "x86_64")]
    Avx512(Box<Avx512Engine>),
}

/// The workspaces of each width, and the one for a thread whose floating-point mode is not the
/// default.
#[cfg(target_arch = "x86_64")]
pub(crate) struct Avx2Engine {
    token: Avx2,
    hash: HashBuffers,
    eight: Workspace<Twice<Fma<Avx2>>>,
    four: Workspace<Fma<Avx2>>,
    portable: Workspace<Portable>,
}

#[cfg(target_arch = "x86_64")]
pub(crate) struct Avx512Engine {
    token: Avx512,
    hash: HashBuffers,
    eight: Workspace<Ifma<Avx512>>,
}

impl Engine {
    pub(crate) fn portable() -> Self {
        Self::Portable(Box::new(Workspace::new(Portable, MAX_SHARED)))
    }

    /// `None` if the machine cannot run the backend.
    fn new(backend: Backend) -> Option<Self> {
        match backend {
            Backend::Portable => Some(Self::portable()),
            #[cfg(target_arch = "x86_64")]
            Backend::Avx2 => {
                let token = Avx2::detect()?;
                Some(Self::Avx2(Box::new(Avx2Engine {
                    token,
                    hash: HashBuffers::new(),
                    eight: Workspace::new(Twice(Fma(token)), MAX_SHARED),
                    four: Workspace::new(Fma(token), 0),
                    portable: Workspace::new(Portable, 0),
                })))
            }
            #[cfg(target_arch = "x86_64")]
            Backend::Avx512 => {
                let token = Avx512::detect()?;
                Some(Self::Avx512(Box::new(Avx512Engine {
                    token,
                    hash: HashBuffers::new(),
                    eight: Workspace::new(Ifma(token), MAX_SHARED),
                })))
            }
            #[cfg(not(target_arch = "x86_64"))]
            Backend::Avx2 | Backend::Avx512 => None,
        }
    }

    /// Sets one verdict per item, and counts. The slices have the same length.
    pub(crate) fn verify(
        &mut self,
        request: Request,
        items: &[Item<'_>],
        verdicts: &mut [bool],
        stats: &mut Stats,
    ) {
        stats.signatures += items.len() as u64;
        match self {
            Self::Portable(workspace) => {
                verify_portable(workspace, MAX_SHARED, request, items, verdicts, stats);
            }
            #[cfg(target_arch = "x86_64")]
            Self::Avx2(engine) => {
                if float_mode_is_default() {
                    // SAFETY: `engine.token` proves AVX2 and FMA.
                    unsafe { verify_avx2(engine, request, items, verdicts, stats) };
                } else {
                    stats.float_mode_fallbacks += 1;
                    verify_portable(&mut engine.portable, 0, request, items, verdicts, stats);
                }
            }
            #[cfg(target_arch = "x86_64")]
            Self::Avx512(engine) => {
                // SAFETY: `engine.token` proves all features.
                unsafe { verify_avx512(engine, request, items, verdicts, stats) };
            }
        }
    }
}

/// One signature after the other. The workspace has room for `room` shared keys.
fn verify_portable(
    workspace: &mut Workspace<Portable>,
    room: usize,
    request: Request,
    items: &[Item<'_>],
    verdicts: &mut [bool],
    stats: &mut Stats,
) {
    let mut hash = HashBuffers::new();
    for (items, verdicts) in items.chunks(CHUNK).zip(verdicts.chunks_mut(CHUNK)) {
        let mut live = Live::admit(request.profile, items, verdicts);
        live.set_challenges(request.challenge, &mut hash, |preimages, _, digests| {
            for (preimage, digest) in preimages.iter().zip(digests) {
                *digest = sha512::digest(preimage);
            }
        });
        let plan = Plan::new(&mut live, &[0], room, request.half_size);
        stats.count_groups(plan.shared(), 1);
        workspace.decide_shared(Portable, &live, &plan, verdicts);
        for signatures in plan.unshared() {
            stats.count_groups(signatures.len(), 1);
            workspace.decide(Portable, &live, signatures, verdicts);
        }
    }
}

/// What so many signatures cost that are left beside full groups of eight, in hundredths of such a group, on
/// AVX2: docs/performance.md.
pub(crate) const TAIL_COSTS: [usize; 8] = [0, 22, 38, 56, 56, 78, 95, 100];

/// How many of the `rest` signatures of one way that are left beside full groups of eight go to a group of
/// four, and how many go alone; those in neither are one more group of eight, filled in part.
/// Measured: docs/performance.md.
#[cfg(target_arch = "x86_64")]
const fn tail(rest: usize) -> (usize, usize) {
    match rest {
        1 | 2 => (0, rest),
        3 | 4 => (rest, 0),
        5 | 6 => (4, rest - 4),
        _ => (0, 0),
    }
}

/// Groups of eight, and a tail.
///
/// # Safety
///
/// The CPU has AVX2 and FMA.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
unsafe fn verify_avx2(
    engine: &mut Avx2Engine,
    request: Request,
    items: &[Item<'_>],
    verdicts: &mut [bool],
    stats: &mut Stats,
) {
    let Avx2Engine { token, hash, eight, four, .. } = engine;
    let f = Fma(*token);
    for (items, verdicts) in items.chunks(CHUNK).zip(verdicts.chunks_mut(CHUNK)) {
        let mut live = Live::admit(request.profile, items, verdicts);
        live.set_challenges(request.challenge, hash, |preimages, order, digests| {
            sha512::digests(*token, preimages, order, digests);
        });
        let plan = Plan::new(&mut live, &TAIL_COSTS, MAX_SHARED, request.half_size);
        stats.count_groups(plan.shared(), 8);
        eight.decide_shared(Twice(f), &live, &plan, verdicts);
        for signatures in plan.unshared() {
            let (in_fours, alone) = tail(signatures.len() % 8);
            let (eights, rest) = signatures.split_at(signatures.len() - in_fours - alone);
            let (fours, alone) = rest.split_at(in_fours);
            stats.count_groups(eights.len(), 8);
            stats.count_groups(fours.len(), 4);
            stats.count_groups(alone.len(), 1);
            eight.decide(Twice(f), &live, eights, verdicts);
            four.decide(f, &live, fours, verdicts);
            solo::decide(f, &four.curve, &live, alone, verdicts);
        }
    }
}

/// Of so many signatures that are left beside full groups of eight, the most that go two by two; more are
/// a group, filled in part. Measured: docs/performance.md.
#[cfg(target_arch = "x86_64")]
const MOST_IN_PAIRS: usize = 4;

/// As [`TAIL_COSTS`], with groups of AVX-512.
#[cfg(target_arch = "x86_64")]
const AVX512_TAIL_COSTS: [usize; 8] = [0, 41, 44, 85, 87, 100, 100, 100];

/// Groups of eight, and pairs.
///
/// # Safety
///
/// The CPU has AVX-512 F, DQ, VL, BW and IFMA.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512dq,avx512vl,avx512bw,avx512ifma")]
unsafe fn verify_avx512(
    engine: &mut Avx512Engine,
    request: Request,
    items: &[Item<'_>],
    verdicts: &mut [bool],
    stats: &mut Stats,
) {
    let Avx512Engine { token, hash, eight } = engine;
    let f = Ifma(*token);
    for (items, verdicts) in items.chunks(CHUNK).zip(verdicts.chunks_mut(CHUNK)) {
        let mut live = Live::admit(request.profile, items, verdicts);
        live.set_challenges(request.challenge, hash, |preimages, order, digests| {
            sha512::digests(*token, preimages, order, digests);
        });
        let plan = Plan::new(&mut live, &AVX512_TAIL_COSTS, MAX_SHARED, request.half_size);
        stats.count_groups(plan.shared(), 8);
        eight.decide_shared(f, &live, &plan, verdicts);
        for signatures in plan.unshared() {
            let rest = signatures.len() % 8;
            let in_pairs = if rest > MOST_IN_PAIRS { 0 } else { rest };
            let (eights, pairs) = signatures.split_at(signatures.len() - in_pairs);
            stats.count_groups(eights.len(), 8);
            stats.count_groups(pairs.len(), 2);
            eight.decide(f, &live, eights, verdicts);
            solo::decide(f, &eight.curve, &live, pairs, verdicts);
        }
    }
}

/// Whether MXCSR says round-to-nearest, all exceptions masked, no flush to zero: the mode in which
/// a fused multiply-add is the one that the FMA representation is exact with. Its sticky flags do
/// not matter.
#[cfg(target_arch = "x86_64")]
fn float_mode_is_default() -> bool {
    const DEFAULT: u32 = 0x1f80;
    const FLAGS: u32 = 0x3f;
    let mut mxcsr = 0u32;
    // SAFETY: stores the 32 bits of MXCSR to `mxcsr` and changes nothing else; every x86-64 CPU has
    // SSE.
    unsafe {
        core::arch::asm!(
            "stmxcsr [{}]",
            in(reg) &raw mut mxcsr,
            options(nostack, preserves_flags),
        );
    }
    mxcsr & !FLAGS == DEFAULT
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_parsed_back() {
        for backend in Backend::ALL {
            assert_eq!(backend.name().parse(), Ok(*backend));
        }
        assert_eq!("avx1024".parse::<Backend>(), Err(UnknownBackend));
    }

    #[test]
    fn a_self_test_runs_until_it_has_a_result() {
        let again = || unreachable!("tested already");
        for outcome in [Ok(false), Ok(true)] {
            let result = AtomicU8::new(UNTESTED);
            let error = Err(BackendError::FloatMode(Backend::Avx2));
            assert_eq!(latch(&result, || error), error);
            assert_eq!(latch(&result, || outcome), outcome);
            assert_eq!(latch(&result, again), outcome);
        }
    }
}
