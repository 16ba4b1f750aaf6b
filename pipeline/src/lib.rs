//! Packet batches in, discard flags out: a drop-in for the three ways Agave 4.2 verifies the
//! signatures of its packets, and a pipeline to submit them to, over the lane-parallel verifier [`octosig`].
//!
//! # Reading order
//! The files follow the data:
//! bytes → packets (`parse`) → lanes (`gather`) → verdicts ([`octosig`]) → discard flags
//! (`scatter`). [`Sigverifier`] is the loop around these steps; the functions below put one
//! into every thread that calls them.
//!
//! [`Pipeline`] puts them into threads of its own: submissions (`submission`) wait in a queue (`queue`), workers claim
//! parts of them (`worker`), and what is finished goes back in the order of its stream (`order`) to its
//! [`Ticket`].
//!
//! # Contract
//! A call takes [`Rules`]: the [`Profile`], which says which signatures are valid, and the two
//! gates of Agave's sigverify. The three functions `ed25519_…` mean [`Profile::DalekStrict`]. Under
//! it, for every packet of every batch, the whole `Meta` afterwards equals what solana-perf 4.2.2
//! leaves there:
//! - a packet that is already discarded is neither read nor written, and no discard flag is ever
//!   cleared;
//! - a packet is kept iff agave-transaction-view 4.2.2 accepts its bytes with Agave's limits, the
//!   gates `enable_tx_v1` and `reject_non_vote` let it pass, and all of its signatures are valid;
//! - `SIMPLE_VOTE_TX` is set on a packet that parses as a simple vote, even if a signature is bad,
//!   and is never cleared.
//!
//! Under another profile nothing but the validity of a signature differs.
//!
//! No bytes make these functions panic. A verdict depends on its own packet and the rules of its
//! call alone: not on the neighbours, the split into batches, the number of threads or other calls.
//!
//! # Memory
//! Nothing is allocated per packet here (agave-transaction-view allocates a list of instructions
//! while it parses legacy and version 0 packets). One thread gathers at most 512 packets at a time
//! and verifies whenever it has 256 signatures.

#![deny(clippy::arithmetic_side_effects)]

pub mod cpus;
mod flat;
mod gather;
mod order;
mod parse;
mod pipeline;
mod queue;
#[cfg(test)]
#[path = "queue/tests.rs"]
mod queue_tests;
mod rules;
mod scatter;
mod shadow;
mod sigverifier;
mod stats;
mod submission;
mod sync;
mod ticket;
mod worker;

use std::{cell::RefCell, slice};

use log::debug;
use rayon::prelude::*;
use solana_perf::packet::PacketBatch;

pub use flat::{FlatBatch, OffsetError, Offsets};
pub use octosig::{self, Profile};
pub use pipeline::{BuildError, Builder, Pipeline, Stream, SubmitError};
pub use rules::Rules;
pub use shadow::{OnDifference, Shadow};
pub use sigverifier::Sigverifier;
pub use solana_perf;
pub use stats::Stats;
pub use submission::Payload;
pub use ticket::{Taken, Ticket, VerifiedBatches, VerifiedFlat};

use queue::items_per_job;

thread_local! {
    static SIGVERIFIER: RefCell<Sigverifier> = RefCell::default();
}

/// Verifies the packets of all batches on the calling thread, filling lanes across batches.
pub fn verify_batches(batches: &mut [PacketBatch], rules: Rules) {
    SIGVERIFIER.with_borrow_mut(|sigverifier| sigverifier.verify_batches(batches, rules));
}

/// Verifies the packets of all batches on the threads of `thread_pool`; returns when every flag is
/// set.
///
/// The packets are split anew, so a thousand batches of one packet spread like one batch of a
/// thousand. Allocates one list of the packets that are not yet discarded.
pub fn verify_batches_on(
    thread_pool: &rayon::ThreadPool,
    batches: &mut [PacketBatch],
    rules: Rules,
) {
    let mut live: Vec<_> =
        batches.iter_mut().flatten().filter(|packet| !packet.meta().discard()).collect();
    let job = items_per_job(live.len(), thread_pool.current_num_threads());
    thread_pool.install(|| {
        live.par_chunks_mut(job).with_max_len(1).for_each(|packets| {
            SIGVERIFIER.with_borrow_mut(|sigverifier| sigverifier.verify_live(packets, rules));
        });
    });
}

/// [`verify_batches_on`] under [`Profile::DalekStrict`], with the arguments of solana-perf 4.2.2's
/// function of this name. `packet_count` is only logged.
pub fn ed25519_verify(
    thread_pool: &rayon::ThreadPool,
    batches: &mut [PacketBatch],
    reject_non_vote: bool,
    packet_count: usize,
    enable_tx_v1: bool,
) {
    debug!("ed25519_verify of {packet_count} packets");
    verify_batches_on(thread_pool, batches, Rules::agave(reject_non_vote, enable_tx_v1));
}

/// [`verify_batches`] of one batch under [`Profile::DalekStrict`], with the arguments of
/// solana-perf 4.2.2's function of this name.
///
/// Since 4.1 Agave's TPU hands over batches of one packet, too few to fill lanes: with several
/// batches at hand [`ed25519_verify_batches`] is faster.
pub fn ed25519_verify_serial(batch: &mut PacketBatch, reject_non_vote: bool, enable_tx_v1: bool) {
    ed25519_verify_batches(slice::from_mut(batch), reject_non_vote, enable_tx_v1);
}

/// [`verify_batches`] under [`Profile::DalekStrict`]: [`ed25519_verify_serial`] for many batches.
pub fn ed25519_verify_batches(
    batches: &mut [PacketBatch],
    reject_non_vote: bool,
    enable_tx_v1: bool,
) {
    verify_batches(batches, Rules::agave(reject_non_vote, enable_tx_v1));
}
