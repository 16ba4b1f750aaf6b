//! What a thread does with a claim: verify, remember, and finish what is finished by that.

use std::{
    iter, mem,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{Arc, atomic::Ordering},
    time::Instant,
};

use log::error;
use octosig::{BackendError, Verifier};

use crate::{
    gather::Verify,
    order::Order,
    pipeline::Shared,
    queue::Part,
    scatter::Outcome,
    shadow::{ByOracle, OnDifference, Sampled, Sampler},
    stats::{Counters, Stats},
    submission::{Delivery, Outcomes, Submission, items, set_outcomes, verify_items},
};

/// A verifier that counts.
pub(crate) trait Engine: Verify + Send {
    fn counts(&self) -> octosig::Stats;
}

impl Engine for Verifier {
    fn counts(&self) -> octosig::Stats {
        self.stats()
    }
}

/// Makes a worker's verifier.
pub(crate) type MakeEngine = dyn Fn() -> Result<Box<dyn Engine>, BackendError> + Send + Sync;

/// A thread's verifier and what else it keeps between claims.
pub(crate) struct Worker {
    /// `None` only where none can be made any more; the oracle takes over.
    engine: Option<Box<dyn Engine>>,
    counters: Arc<Counters>,
    sampler: Sampler,
    outcomes: Outcomes,
    /// What it has claimed.
    pub(crate) parts: Vec<Part<Submission>>,
    /// What is finished by that. Empty between claims.
    finished: Vec<Finished>,
}

/// A finished submission, its stream and its number there.
type Finished = (Arc<Order<Delivery>>, u64, Delivery);

impl Worker {
    pub(crate) fn new(shared: &Shared, counters: Arc<Counters>) -> Self {
        Self {
            engine: (shared.make_engine)().ok(),
            counters,
            sampler: Sampler::default(),
            outcomes: Outcomes::new(),
            parts: Vec::new(),
            finished: Vec::new(),
        }
    }

    /// Verifies what was claimed and delivers what is finished by that. `stats` are what is to be counted beside
    /// it.
    pub(crate) fn work(&mut self, shared: &Shared, mut stats: Stats) {
        let start = Instant::now();
        stats.claims = 1;
        for part in self.parts.iter().filter(|part| part.range.start == 0) {
            stats.count_wait(start.saturating_duration_since(part.work.submitted));
        }
        if !self.verify(shared, &mut stats) {
            self.verify_by_oracle(shared, &mut stats);
        }
        set_outcomes(&self.parts, &self.outcomes);
        let finished = self.parts.drain(..).filter_map(Part::leave);
        self.finished.extend(
            finished.map(|work| (Arc::clone(&work.order), work.number, work.finish(&mut stats))),
        );
        // Counted before anybody can know that it is done.
        self.counters.add(&stats, start.elapsed());
        // Those of a stream together, to lock it once.
        let mut finished = self.finished.drain(..).peekable();
        while let Some((order, number, delivery)) = finished.next() {
            let is_same = |next: &Finished| Arc::ptr_eq(&next.0, &order);
            let rest = iter::from_fn(|| finished.next_if(is_same));
            let rest = rest.map(|(_, number, delivery)| (number, delivery));
            order.finish(iter::once((number, delivery)).chain(rest));
        }
    }

    /// Sets the outcomes by octosig; false if they are not to be used.
    fn verify(&mut self, shared: &Shared, stats: &mut Stats) -> bool {
        let Some(engine) = self.engine.as_deref_mut().filter(|_| !shared.is_switched()) else {
            return false;
        };
        let before = engine.counts();
        let (outcomes, parts) = (&mut self.outcomes, &self.parts);
        let verified = catch_unwind(AssertUnwindSafe(|| match &shared.shadow {
            None => verify_items(items(parts), engine, outcomes),
            Some(shadow) => {
                let mut sampled = Sampled {
                    verifier: engine,
                    sampler: &mut self.sampler,
                    shadow,
                    budget: &shared.budget,
                    oracle: shared.oracle,
                    stats,
                };
                verify_items(items(parts), &mut sampled, outcomes);
            }
        }));
        if verified.is_err() {
            stats.panics = stats.panics.saturating_add(1);
            // Its scratch memory may be anything now.
            self.engine =
                catch_unwind(AssertUnwindSafe(|| (shared.make_engine)().ok())).ok().flatten();
            let _ = catch_unwind(|| {
                error!("octosig: a panic in a worker; the oracle verifies its packets again");
            });
            return false;
        }
        if let Some(engine) = &self.engine {
            let counts = engine.counts();
            stats.signatures = counts.signatures.saturating_sub(before.signatures);
            stats.float_mode_fallbacks =
                counts.float_mode_fallbacks.saturating_sub(before.float_mode_fallbacks);
            for (groups, (now, before)) in
                stats.groups.iter_mut().zip(counts.groups.iter().zip(before.groups))
            {
                *groups = now.saturating_sub(before);
            }
        }
        let switches = shared
            .shadow
            .is_some_and(|shadow| shadow.on_difference == OnDifference::SwitchToOracle);
        if switches && stats.differences > 0 {
            shared.switch();
            return false;
        }
        true
    }

    /// Sets the outcomes by the oracle, packet by packet: a packet that it panics on is discarded.
    fn verify_by_oracle(&mut self, shared: &Shared, stats: &mut Stats) {
        let mut by_oracle = ByOracle { oracle: shared.oracle, signatures: 0 };
        let mut outcomes = mem::take(&mut self.outcomes);
        outcomes.clear();
        for item in items(&self.parts) {
            let mut one = Outcomes::new();
            let verified = catch_unwind(AssertUnwindSafe(|| {
                verify_items([item].into_iter(), &mut by_oracle, &mut one);
            }));
            let outcome = one.first().filter(|_| verified.is_ok()).copied();
            if outcome.is_none() {
                stats.discarded_by_panic = stats.discarded_by_panic.saturating_add(1);
            }
            outcomes.push(outcome.unwrap_or(Outcome { keep: false, is_simple_vote: false }));
        }
        stats.signatures_by_oracle = by_oracle.signatures;
        self.outcomes = outcomes;
    }
}

impl Shared {
    /// Whether the oracle has taken over.
    fn is_switched(&self) -> bool {
        // Relaxed: the flag alone is communicated. A claim that does not see it yet is as if it had come before.
        self.switched.load(Ordering::Relaxed)
    }

    fn switch(&self) {
        if !self.switched.swap(true, Ordering::Relaxed) {
            let _ = catch_unwind(|| error!("octosig: the oracle verifies from now on"));
        }
    }
}
