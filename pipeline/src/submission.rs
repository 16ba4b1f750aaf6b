//! What was submitted, while workers share it: read by all of them, written only where each packet has
//! a byte of its own, until the last one takes it and writes the flags.

use std::{
    iter,
    sync::{
        Arc,
        atomic::{AtomicU8, Ordering},
    },
    time::Instant,
};

use arrayvec::ArrayVec;
use crossbeam_channel::Sender;
use smallvec::SmallVec;
use solana_perf::packet::PacketBatch;

use crate::{
    flat::FlatBatch,
    gather::{Chunk, Verify},
    order::{Deliver, Order},
    parse::Transaction,
    queue::{MAX_CLAIM, Part},
    rules::Rules,
    scatter::{Outcome, scatter},
    stats::Stats,
    ticket::{VerifiedBatches, VerifiedFlat},
};

/// One submission, and where it goes.
pub(crate) struct Submission {
    pub(crate) number: u64,
    pub(crate) order: Arc<Order<Delivery>>,
    pub(crate) rules: Rules,
    pub(crate) submitted: Instant,
    pub(crate) load: Load,
    /// Of each item: an [`Outcome`].
    pub(crate) outcomes: UnknownOutcomes,
}

/// What can be submitted: a `Vec<PacketBatch>`, or a [`FlatBatch`].
pub trait Payload: sealed::Payload {}

impl Payload for Vec<PacketBatch> {}
impl Payload for FlatBatch {}

mod sealed {
    use crossbeam_channel::Sender;

    /// The private half of [`super::Payload`].
    pub trait Payload: Sized {
        /// What it becomes.
        type Verified;

        /// Where its items are.
        type Live;

        /// The items, which are what has to be verified, and their number.
        fn live(&self) -> (Self::Live, usize);

        fn load(self, live: Self::Live, reply: Sender<Self::Verified>) -> super::Load;
    }
}

/// What was submitted, and who waits for it.
pub enum Load {
    /// The items are the packets that are not discarded yet.
    Packets {
        batches: Vec<PacketBatch>,
        /// Of each its batch, and its place there.
        live: Live,
        reply: Sender<VerifiedBatches>,
    },
    /// The items are signatures.
    Flat { batch: FlatBatch, reply: Sender<VerifiedFlat> },
}

impl sealed::Payload for Vec<PacketBatch> {
    type Verified = VerifiedBatches;
    type Live = Live;

    fn live(&self) -> (Self::Live, usize) {
        let mut live = Live::with_capacity(self.iter().map(PacketBatch::len).sum());
        for (b, batch) in self.iter().enumerate() {
            for (p, packet) in batch.iter().enumerate() {
                if !packet.meta().discard() {
                    live.push((b, p));
                }
            }
        }
        let items = live.len();
        (live, items)
    }

    fn load(self, live: Self::Live, reply: Sender<VerifiedBatches>) -> Load {
        Load::Packets { batches: self, live, reply }
    }
}

impl sealed::Payload for FlatBatch {
    type Verified = VerifiedFlat;
    type Live = ();

    fn live(&self) -> ((), usize) {
        ((), self.len())
    }

    fn load(self, (): (), reply: Sender<VerifiedFlat>) -> Load {
        Load::Flat { batch: self, reply }
    }
}

/// Where live packets are. The TPU submits one at a time, which needs no allocation.
type Live = SmallVec<[(usize, usize); 1]>;

/// Of each item, what came of it; not known at first.
pub(crate) type UnknownOutcomes = SmallVec<[AtomicU8; 16]>;

/// Room for what will come of so many items.
pub(crate) fn unknown_outcomes(items: usize) -> UnknownOutcomes {
    iter::repeat_with(AtomicU8::default).take(items).collect()
}

impl Submission {
    /// Remembers what came of item `index`.
    fn set_outcome(&self, index: usize, outcome: Outcome) {
        if let Some(byte) = self.outcomes.get(index) {
            // Relaxed: whoever reads it has taken the submission from the last `Arc`, which orders.
            byte.store(outcome.to_byte(), Ordering::Relaxed);
        }
    }

    /// Writes all flags, counts, and is ready to be delivered.
    pub(crate) fn finish(self, stats: &mut Stats) -> Delivery {
        let outcomes = self.outcomes.into_iter().map(|byte| Outcome::from_byte(byte.into_inner()));
        stats.submissions = stats.submissions.saturating_add(1);
        match self.load {
            Load::Packets { mut batches, live, reply } => {
                let packets: usize = batches.iter().map(PacketBatch::len).sum();
                let discarded_before = packets.saturating_sub(live.len());
                let mut valid = 0usize;
                for ((b, p), outcome) in live.into_iter().zip(outcomes) {
                    valid = valid.saturating_add(usize::from(outcome.keep));
                    if let Some(mut packet) = batches.get_mut(b).and_then(|batch| batch.get_mut(p))
                    {
                        scatter(&mut packet, outcome);
                    }
                }
                stats.total_batches = stats.total_batches.saturating_add(batches.len() as u64);
                stats.total_packets = stats.total_packets.saturating_add(packets as u64);
                stats.total_valid_packets = stats.total_valid_packets.saturating_add(valid as u64);
                let verified = VerifiedBatches { batches, packets, discarded_before, valid };
                Delivery::Packets(reply, verified)
            }
            Load::Flat { batch, reply } => {
                let verdicts: Vec<_> = outcomes.map(|outcome| u8::from(outcome.keep)).collect();
                Delivery::Flat(reply, VerifiedFlat { batch, verdicts })
            }
        }
    }
}

impl Outcome {
    fn to_byte(self) -> u8 {
        u8::from(self.keep) | u8::from(self.is_simple_vote) << 1
    }

    const fn from_byte(byte: u8) -> Self {
        Self { keep: byte & 1 == 1, is_simple_vote: byte & 2 == 2 }
    }
}

/// A finished submission on its way to its ticket.
pub(crate) enum Delivery {
    Packets(Sender<VerifiedBatches>, VerifiedBatches),
    Flat(Sender<VerifiedFlat>, VerifiedFlat),
}

impl Deliver for Delivery {
    fn deliver(self) {
        // Each channel has room for its one message. If nobody holds the ticket, nobody wants it.
        match self {
            Self::Packets(reply, verified) => _ = reply.try_send(verified),
            Self::Flat(reply, verified) => _ = reply.try_send(verified),
        }
    }
}

/// What came of each item of a claim, in its order.
pub(crate) type Outcomes = ArrayVec<Outcome, MAX_CLAIM>;

/// The items of a claim.
pub(crate) fn items(
    parts: &[Part<Submission>],
) -> impl Iterator<Item = (&Submission, usize)> + Clone {
    parts.iter().flat_map(|part| part.range.clone().map(|index| (&*part.work, index)))
}

/// Verifies items, of one claim at most, filling lanes across submissions. What `outcomes` holds is replaced.
pub(crate) fn verify_items<'a>(
    items: impl Iterator<Item = (&'a Submission, usize)>,
    verifier: &mut (impl Verify + ?Sized),
    outcomes: &mut Outcomes,
) {
    outcomes.clear();
    let mut chunk = Chunk::new(octosig::Profile::default());
    for (Submission { rules, load, .. }, index) in items {
        chunk.set_profile(rules.profile, verifier, outcomes);
        let owner = outcomes.len();
        match load {
            Load::Packets { batches, live, .. } => {
                let data = live.get(index).and_then(|(b, p)| batches.get(*b)?.get(*p)?.data(..));
                let transaction = data.and_then(|data| Transaction::parse(data, *rules));
                outcomes.push(Outcome::before_signatures(transaction.as_ref()));
                for item in transaction.iter().flat_map(Transaction::items) {
                    chunk.push(item, owner, verifier, outcomes);
                }
            }
            Load::Flat { batch, .. } => {
                let item = batch.item(index);
                outcomes.push(Outcome { is_simple_vote: false, keep: item.is_some() });
                if let Some(item) = item {
                    chunk.push(item, owner, verifier, outcomes);
                }
            }
        }
    }
    chunk.verify(verifier, outcomes);
}

/// Tells every submission what came of its items.
pub(crate) fn set_outcomes(parts: &[Part<Submission>], outcomes: &Outcomes) {
    for ((submission, index), outcome) in items(parts).zip(outcomes) {
        submission.set_outcome(index, *outcome);
    }
}
