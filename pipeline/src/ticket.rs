//! Tickets: what a submitter gets at once, and what it gets for them later.

use std::{fmt, time::Duration};

use crossbeam_channel::{Receiver, RecvTimeoutError, TryRecvError};
use solana_perf::packet::PacketBatch;

use crate::flat::FlatBatch;

/// Batches whose flags are set.
#[derive(Debug)]
pub struct VerifiedBatches {
    /// The batches that were submitted, in their order.
    pub batches: Vec<PacketBatch>,
    /// Packets in all of them.
    pub packets: usize,
    /// Packets that came with a discard flag.
    pub discarded_before: usize,
    /// Packets that are kept.
    pub valid: usize,
}

/// A flat batch with its verdicts.
#[derive(Debug)]
pub struct VerifiedFlat {
    /// What was submitted.
    pub batch: FlatBatch,
    /// A byte for each signature: 1 if it is valid, 0 if not.
    pub verdicts: Vec<u8>,
}

/// The right to one result: [`VerifiedBatches`] or [`VerifiedFlat`].
///
/// Tickets of one stream become ready in the order of their submissions. A ticket that is dropped takes its
/// result with it; the work is done all the same.
pub struct Ticket<T> {
    receiver: Receiver<T>,
    number: u64,
}

/// The result of a ticket was taken before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Taken;

impl fmt::Display for Taken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the result of this ticket was taken before")
    }
}

impl std::error::Error for Taken {}

impl<T> Ticket<T> {
    pub(crate) const fn new(receiver: Receiver<T>, number: u64) -> Self {
        Self { receiver, number }
    }

    /// The number of the submission in its stream, from 0 on.
    #[must_use]
    pub const fn number(&self) -> u64 {
        self.number
    }

    /// Waits for the result.
    ///
    /// # Errors
    ///
    /// If the result was taken before, by [`Self::try_wait`], [`Self::wait_timeout`] or from
    /// [`Self::receiver`].
    pub fn wait(self) -> Result<T, Taken> {
        self.receiver.recv().map_err(|_| Taken)
    }

    /// The result if it is ready, `None` if not.
    ///
    /// # Errors
    ///
    /// If the result was taken before.
    pub fn try_wait(&self) -> Result<Option<T>, Taken> {
        match self.receiver.try_recv() {
            Ok(result) => Ok(Some(result)),
            Err(TryRecvError::Empty) => Ok(None),
            Err(TryRecvError::Disconnected) => Err(Taken),
        }
    }

    /// Waits for the result no longer than `timeout`; `None` if it is not ready then.
    ///
    /// # Errors
    ///
    /// If the result was taken before.
    pub fn wait_timeout(&self, timeout: Duration) -> Result<Option<T>, Taken> {
        match self.receiver.recv_timeout(timeout) {
            Ok(result) => Ok(Some(result)),
            Err(RecvTimeoutError::Timeout) => Ok(None),
            Err(RecvTimeoutError::Disconnected) => Err(Taken),
        }
    }

    /// Where the result will arrive, to be selected on among other channels: once, then it is disconnected.
    #[must_use]
    pub const fn receiver(&self) -> &Receiver<T> {
        &self.receiver
    }
}

impl<T> fmt::Debug for Ticket<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ticket")
            .field("number", &self.number)
            .field("ready", &!self.receiver.is_empty())
            .finish_non_exhaustive()
    }
}
