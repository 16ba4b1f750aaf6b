//! Counters. Each thread has its own, behind a lock that nobody contends for, and adds once per claim.

use std::{sync::Mutex, time::Duration};

use crate::sync::lock;

/// A count, or an array of them.
trait Count {
    fn grow(&mut self, other: &Self);
    fn shrink(&mut self, other: &Self);
}

impl Count for u64 {
    fn grow(&mut self, other: &Self) {
        *self = self.saturating_add(*other);
    }
    fn shrink(&mut self, other: &Self) {
        *self = self.saturating_sub(*other);
    }
}

impl<const N: usize> Count for [u64; N] {
    fn grow(&mut self, other: &Self) {
        self.iter_mut().zip(other).for_each(|(a, b)| a.grow(b));
    }
    fn shrink(&mut self, other: &Self) {
        self.iter_mut().zip(other).for_each(|(a, b)| a.shrink(b));
    }
}

macro_rules! stats {
    ($($(#[$doc:meta])* $field:ident: $type:ty,)*) => {
        /// What a pipeline has done since it was built. Nothing is ever subtracted.
        ///
        /// The fields whose names begin with `total_` have the names and meanings of the datapoint
        /// `tpu-verifier` of Agave's sigverify stage. Packets are counted when their submission is finished,
        /// just before it is delivered; everything else when a worker has finished with its claim.
        #[non_exhaustive]
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        pub struct Stats {
            $($(#[$doc])* pub $field: $type,)*
        }

        impl Stats {
            fn grow(&mut self, other: &Self) {
                $(self.$field.grow(&other.$field);)*
            }

            /// What happened after `earlier`, a snapshot of the same pipeline.
            #[must_use]
            pub fn since(mut self, earlier: &Self) -> Self {
                $(self.$field.shrink(&earlier.$field);)*
                self
            }
        }
    };
}

stats! {
    /// Batches.
    total_batches: u64,
    /// Packets in them, those discarded before included.
    total_packets: u64,
    /// Packets that were kept.
    total_valid_packets: u64,
    /// The time of all threads in verification, in microseconds. Two workers may add two seconds in one.
    total_verify_time_us: u64,
    /// Submissions, of batches and of flat batches.
    submissions: u64,
    /// How often a thread took something to be verified.
    claims: u64,
    /// Submissions that their submitters verified ([`Stream::submit_here`](crate::Stream::submit_here));
    /// they count as claims, too.
    claims_by_submitters: u64,
    /// Of how many submissions the first item waited how long in the queue: less than 1 µs, less than 2 µs,
    /// less than 4 µs, and so on; the last for all that waited longer.
    queue_waits: [u64; 24],
    /// Signatures verified by octosig.
    signatures: u64,
    /// Groups computed, by how many signatures they held, on the pipeline's backend:
    /// [`octosig::Stats::groups`]. Those with fewer than eight are tails.
    groups: [u64; 8],
    /// Calls that took the portable backend because of the thread's floating-point mode.
    float_mode_fallbacks: u64,
    /// Panics while a claim was verified. Its packets were verified again, by the oracle.
    panics: u64,
    /// Signatures verified by the oracle: after a panic, or since the pipeline was switched to it.
    signatures_by_oracle: u64,
    /// Packets, or signatures of flat batches, that were discarded because the oracle panicked, too.
    discarded_by_panic: u64,
    /// Accepted signatures that were verified again as a sample.
    sampled_accepted: u64,
    /// Rejected signatures that were verified again as a sample.
    sampled_rejected: u64,
    /// Samples on which the oracle differed from octosig.
    differences: u64,
}

impl Stats {
    /// Counts a wait in the queue.
    pub(crate) fn count_wait(&mut self, wait: Duration) {
        let bits = u128::BITS.saturating_sub(wait.as_micros().leading_zeros()) as usize;
        let bucket = bits.min(self.queue_waits.len().saturating_sub(1));
        if let Some(count) = self.queue_waits.get_mut(bucket) {
            *count = count.saturating_add(1);
        }
    }
}

/// The counters of one thread.
#[derive(Debug, Default)]
pub(crate) struct Counters(Mutex<(Stats, Duration)>);

impl Counters {
    /// Adds what a claim came to, and the time it took.
    pub(crate) fn add(&self, stats: &Stats, time: Duration) {
        let mut counters = lock(&self.0);
        counters.0.grow(stats);
        // The sum is rounded, not its parts.
        counters.1 = counters.1.saturating_add(time);
        counters.0.total_verify_time_us = counters.1.as_micros().try_into().unwrap_or(u64::MAX);
    }

    /// The sum over all threads.
    pub(crate) fn sum<'a>(counters: impl IntoIterator<Item = &'a Self>) -> Stats {
        let mut sum = Stats::default();
        for counters in counters {
            sum.grow(&lock(&counters.0).0);
        }
        sum
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_are_counted_by_powers_of_two() {
        let mut stats = Stats::default();
        for (micros, bucket) in [(0, 0), (1, 1), (2, 2), (3, 2), (4, 3), (1_000, 10), (1 << 40, 23)]
        {
            let before = stats;
            stats.count_wait(Duration::from_micros(micros));
            let mut expected = [0; 24];
            expected[bucket] = 1;
            assert_eq!(stats.since(&before).queue_waits, expected, "{micros} µs");
        }
    }

    #[test]
    fn parts_of_microseconds_are_not_lost() {
        let counters = Counters::default();
        for _ in 0..10 {
            counters.add(&Stats { claims: 1, ..Stats::default() }, Duration::from_nanos(900));
        }
        let sum = Counters::sum([&counters, &counters]);
        assert_eq!((sum.claims, sum.total_verify_time_us), (20, 18));
    }
}
