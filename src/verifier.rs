//! The public entry: items in, verdicts out.

use crate::backend::{Backend, BackendError, Engine};
use crate::profile::Profile;
use crate::verify::{CHUNK, Challenge, Request};
use core::fmt;

/// One signature to verify.
#[derive(Clone, Copy, Debug)]
pub struct Item<'a> {
    /// A, the encoding of the signer's point.
    pub public_key: &'a [u8; 32],
    /// R ‖ S.
    pub signature: &'a [u8; 64],
    /// M, of any length.
    pub message: &'a [u8],
}

/// As many verdicts as items are needed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LengthMismatch {
    /// The number of items.
    pub items: usize,
    /// The number of verdicts.
    pub verdicts: usize,
}

impl fmt::Display for LengthMismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} items, but room for {} verdicts", self.items, self.verdicts)
    }
}

impl core::error::Error for LengthMismatch {}

/// What a verifier has done since it was made.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// Signatures verified.
    pub signatures: u64,
    /// Calls that took the portable path because the thread's floating-point mode (MXCSR) was not
    /// the default one: right, but slow.
    pub float_mode_fallbacks: u64,
    /// Groups computed, by how many signatures they held: `groups[n - 1]` held n. Those with
    /// fewer than eight are tails, or of a path with fewer lanes. A signature that the rules on bytes
    /// refuse is in no group.
    pub groups: [u64; 8],
}

impl Stats {
    /// Counts the groups of so many signatures, `lanes` to each but perhaps the last; at most eight.
    pub(crate) const fn count_groups(&mut self, signatures: usize, lanes: usize) {
        self.groups[lanes - 1] += (signatures / lanes) as u64;
        if !signatures.is_multiple_of(lanes) {
            self.groups[signatures % lanes - 1] += 1;
        }
    }
}

/// Verifies signatures, eight at a time where the backend can.
///
/// A verifier owns its scratch memory, about 100 kB: make one for each thread and keep it. No call
/// allocates. The profile is chosen with each call and costs nothing to change. Each verdict depends on
/// its own item and the profile alone, not on the others in the call, their order or their number.
///
/// Nothing here is constant-time: public keys, signatures and messages are public.
///
/// ```
/// # use ed25519_dalek::{Signer, SigningKey};
/// # let key = SigningKey::from_bytes(&[7; 32]);
/// # let (public_key, signature) = (key.verifying_key().to_bytes(), key.sign(b"vote").to_bytes());
/// use octosig::{Item, Profile, Verifier};
///
/// let mut verifier = Verifier::new();
/// assert!(verifier.verify(Profile::DalekStrict, &public_key, &signature, b"vote"));
///
/// let items = [b"vote", b"veto"].map(|message| Item {
///     public_key: &public_key,
///     signature: &signature,
///     message,
/// });
/// let mut verdicts = [false; 2];
/// verifier.verify_many(Profile::DalekStrict, &items, &mut verdicts)?;
/// assert_eq!(verdicts, [true, false]);
/// # Ok::<(), octosig::LengthMismatch>(())
/// ```
pub struct Verifier {
    backend: Backend,
    engine: Engine,
    half_size: bool,
    stats: Stats,
}

impl Verifier {
    /// A verifier with the fastest backend that is available and passes its self-test
    /// ([`Backend::best`]).
    #[must_use]
    pub fn new() -> Self {
        let backend = Backend::best();
        let (backend, engine) = match backend.engine() {
            Ok(engine) => (backend, engine),
            Err(_) => (Backend::Portable, Engine::portable()),
        };
        Self { backend, engine, half_size: true, stats: Stats::default() }
    }

    /// A verifier with this backend and no other.
    ///
    /// # Errors
    ///
    /// If the machine cannot run the backend, or if the backend failed its self-test.
    pub fn with_backend(backend: Backend) -> Result<Self, BackendError> {
        let engine = backend.engine()?;
        Ok(Self { backend, engine, half_size: true, stats: Stats::default() })
    }

    /// How lanes are computed.
    #[must_use]
    pub const fn backend(&self) -> Backend {
        self.backend
    }

    /// Whether half-size scalars may be used, which they may unless this is called. They change how a
    /// verdict is computed and how long that takes, never the verdict.
    pub const fn set_half_size_scalars(&mut self, allowed: bool) {
        self.half_size = allowed;
    }

    /// What this verifier has done so far.
    #[must_use]
    pub const fn stats(&self) -> Stats {
        self.stats
    }

    /// Whether one signature is valid.
    #[must_use]
    pub fn verify(
        &mut self,
        profile: Profile,
        public_key: &[u8; 32],
        signature: &[u8; 64],
        message: &[u8],
    ) -> bool {
        let mut verdict = [false];
        self.run(profile, &[Item { public_key, signature, message }], &mut verdict);
        verdict[0]
    }

    /// Sets `verdicts[i]` to whether `items[i]` is valid, whatever it was before.
    ///
    /// # Errors
    ///
    /// If the lengths differ; no verdict is set then.
    pub fn verify_many(
        &mut self,
        profile: Profile,
        items: &[Item<'_>],
        verdicts: &mut [bool],
    ) -> Result<(), LengthMismatch> {
        if items.len() != verdicts.len() {
            return Err(LengthMismatch { items: items.len(), verdicts: verdicts.len() });
        }
        self.run(profile, items, verdicts);
        Ok(())
    }

    /// Whether every item is valid; true if there is none. Stops soon after the first invalid one.
    #[must_use]
    pub fn all_valid(&mut self, profile: Profile, items: &[Item<'_>]) -> bool {
        let float_mode_fallbacks = self.stats.float_mode_fallbacks;
        let all_valid = items.chunks(CHUNK).all(|items| {
            let verdicts = &mut [false; CHUNK][..items.len()];
            self.run(profile, items, verdicts);
            verdicts.iter().all(|valid| *valid)
        });
        // This was one call.
        let fell_back = self.stats.float_mode_fallbacks > float_mode_fallbacks;
        self.stats.float_mode_fallbacks = float_mode_fallbacks + u64::from(fell_back);
        all_valid
    }

    fn run(&mut self, profile: Profile, items: &[Item<'_>], verdicts: &mut [bool]) {
        let request = Request { profile, challenge: Challenge::Sha512, half_size: self.half_size };
        self.engine.verify(request, items, verdicts, &mut self.stats);
    }

    /// For tests: [`Self::verify_many`] with k = M mod L, each M being 64 bytes, little-endian.
    ///
    /// # Panics
    ///
    /// If a message has another length, or if there are not as many verdicts as items.
    #[cfg(any(test, fuzzing))]
    pub fn verify_challenges(
        &mut self,
        profile: Profile,
        items: &[Item<'_>],
        verdicts: &mut [bool],
    ) {
        assert_eq!(items.len(), verdicts.len());
        let challenge = Challenge::Message;
        let request = Request { profile, challenge, half_size: self.half_size };
        self.engine.verify(request, items, verdicts, &mut self.stats);
        assert_eq!(self.stats.float_mode_fallbacks, 0, "the backend itself is to be tested");
    }
}

impl Default for Verifier {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for Verifier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Verifier")
            .field("backend", &self.backend)
            .field("half_size_scalars", &self.half_size)
            .field("stats", &self.stats)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec;

    #[test]
    fn every_signature_that_takes_a_lane_is_in_one_group() {
        for &backend in Backend::ALL.iter().filter(|backend| backend.is_available()) {
            for (count, of_one_key) in [(0, 0), (1, 0), (4, 0), (7, 0), (8, 0), (70, 0), (64, 40)] {
                let keys: vec::Vec<_> =
                    (0..count).map(|i| [if i < of_one_key { 0 } else { i as u8 }; 32]).collect();
                let item = |public_key| Item { public_key, signature: &[1; 64], message: &[] };
                // S ≥ L, which takes no lane.
                let refused = Item { public_key: &[1; 32], signature: &[255; 64], message: &[] };
                let items: vec::Vec<_> = keys.iter().map(item).chain([refused]).collect();
                let mut verifier = Verifier::with_backend(backend).unwrap();
                let mut verdicts = vec![true; items.len()];
                verifier.verify_many(Profile::StdlibCompat, &items, &mut verdicts).unwrap();
                let Stats { signatures, groups, .. } = verifier.stats();
                assert_eq!(signatures, count as u64 + 1);
                let in_groups = groups.iter().zip(1..).map(|(groups, size)| groups * size).sum();
                assert_eq!(count as u64, in_groups, "{backend}: {groups:?}");
                let eights = if backend == Backend::Portable { 0 } else { count as u64 / 8 };
                assert_eq!(groups[7], eights, "{backend}, {count}: {groups:?}");
            }
        }
    }
}
