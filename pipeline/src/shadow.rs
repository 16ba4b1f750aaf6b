//! Samples: some verdicts are asked again of the oracle, in production.

use std::time::Instant;
use std::{sync::Mutex, time::Duration};

use log::error;
use octosig::{Item, Profile};

use crate::{gather::Verify, stats::Stats, sync::lock};

/// Which verdicts are verified again by the published implementation of the profile (ed25519-dalek for
/// [`Profile::DalekStrict`]), to catch a machine that computes wrong. The default is none.
///
/// A sample costs what the oracle takes, some 50 µs. A difference is counted
/// ([`Stats::differences`]) and logged as an error with the bytes of the case.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Shadow {
    /// One in so many accepted signatures; 0: none.
    pub accepted_one_in: u32,
    /// One in so many rejected signatures; 0: none.
    pub rejected_one_in: u32,
    /// Rejected signatures verified again in a second at most, by all workers: a flood of invalid ones
    /// must not cost more.
    pub rejected_per_second: u32,
    /// What a difference does.
    pub on_difference: OnDifference,
}

/// What a difference does, beside being counted and logged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnDifference {
    /// No more. The verdict remains that of octosig.
    #[default]
    Report,
    /// Switches the pipeline to the oracle for good, which takes several times as long: from
    /// the claim on in which it was found, whose packets all get the verdicts of the oracle.
    SwitchToOracle,
}

/// The verdict of the published implementation of a profile.
pub(crate) type Oracle = fn(Profile, &Item<'_>) -> bool;

/// Verifies one signature after the other by the oracle.
pub(crate) struct ByOracle {
    pub(crate) oracle: Oracle,
    /// How many so far.
    pub(crate) signatures: u64,
}

impl Verify for ByOracle {
    fn set_verdicts(&mut self, profile: Profile, items: &[Item<'_>], verdicts: &mut [bool]) {
        self.signatures = self.signatures.saturating_add(items.len() as u64);
        for (verdict, item) in verdicts.iter_mut().zip(items) {
            *verdict = (self.oracle)(profile, item);
        }
    }
}

/// Takes one in so many.
#[derive(Debug, Default)]
struct Every {
    passed: u32,
}

impl Every {
    const fn takes(&mut self, one_in: u32) -> bool {
        self.passed = self.passed.saturating_add(1);
        let takes = one_in > 0 && self.passed >= one_in;
        if takes {
            self.passed = 0;
        }
        takes
    }
}

/// How many rejected signatures may still be verified again in this second.
#[derive(Debug, Default)]
pub(crate) struct Budget(Mutex<Option<(Instant, u32)>>);

impl Budget {
    fn takes(&self, per_second: u32, now: Instant) -> bool {
        let mut budget = lock(&self.0);
        let spent = match *budget {
            Some((start, spent)) if now.saturating_duration_since(start) < SECOND => spent,
            _ => 0,
        };
        let start = budget.filter(|_| spent > 0).map_or(now, |(start, _)| start);
        let takes = spent < per_second;
        if takes {
            *budget = Some((start, spent.saturating_add(1)));
        }
        takes
    }
}

const SECOND: Duration = Duration::from_secs(1);

/// What one worker remembers of its samples.
#[derive(Debug, Default)]
pub(crate) struct Sampler {
    accepted: Every,
    rejected: Every,
}

/// A verifier whose verdicts are sampled.
pub(crate) struct Sampled<'a, V: ?Sized> {
    pub(crate) verifier: &'a mut V,
    pub(crate) sampler: &'a mut Sampler,
    pub(crate) shadow: &'a Shadow,
    pub(crate) budget: &'a Budget,
    pub(crate) oracle: Oracle,
    pub(crate) stats: &'a mut Stats,
}

impl<V: Verify + ?Sized> Verify for Sampled<'_, V> {
    fn set_verdicts(&mut self, profile: Profile, items: &[Item<'_>], verdicts: &mut [bool]) {
        self.verifier.set_verdicts(profile, items, verdicts);
        for (item, &verdict) in items.iter().zip(&*verdicts) {
            let count = if verdict {
                if !self.sampler.accepted.takes(self.shadow.accepted_one_in) {
                    continue;
                }
                &mut self.stats.sampled_accepted
            } else {
                if !self.sampler.rejected.takes(self.shadow.rejected_one_in)
                    || !self.budget.takes(self.shadow.rejected_per_second, Instant::now())
                {
                    continue;
                }
                &mut self.stats.sampled_rejected
            };
            *count = count.saturating_add(1);
            if (self.oracle)(profile, item) != verdict {
                self.stats.differences = self.stats.differences.saturating_add(1);
                error!(
                    "octosig: a verdict differs from the oracle: profile {profile}, octosig says {verdict}, public \
                     key {}, signature {}, message {}",
                    hex::encode(item.public_key),
                    hex::encode(item.signature),
                    hex::encode(item.message)
                );
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_in_so_many_is_taken() {
        let taken = |one_in| {
            let mut every = Every::default();
            (0..1_000).filter(|_| every.takes(one_in)).count()
        };
        assert_eq!([0, 1, 2, 7, 1_000, 1_001].map(taken), [0, 1_000, 500, 142, 1, 0]);
    }

    #[test]
    fn a_budget_is_renewed_each_second() {
        let budget = Budget::default();
        let start = Instant::now();
        let at = |millis| {
            let now = start + Duration::from_millis(millis);
            (0..10).filter(|_| budget.takes(3, now)).count()
        };
        assert_eq!([0, 500, 999, 1_000, 1_500, 5_000].map(at), [3, 0, 0, 3, 0, 3]);
        assert!(!Budget::default().takes(0, start));
    }
}
