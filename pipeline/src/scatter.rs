//! verdicts → discard flags.

use solana_perf::packet::{PacketFlags, PacketRefMut};

use crate::parse::Transaction;

/// What is to be written into the `Meta` of one packet that came in without a discard flag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Outcome {
    pub(crate) is_simple_vote: bool,
    /// Starts true for a packet that parsed; every signature that fails makes it false.
    pub(crate) keep: bool,
}

impl Outcome {
    pub(crate) fn before_signatures(transaction: Option<&Transaction<'_>>) -> Self {
        Self {
            is_simple_vote: transaction.is_some_and(|transaction| transaction.is_simple_vote),
            keep: transaction.is_some(),
        }
    }
}

/// Sets flags and clears none.
pub(crate) fn scatter(packet: &mut PacketRefMut<'_>, outcome: Outcome) {
    if outcome.is_simple_vote {
        packet.meta_mut().flags |= PacketFlags::SIMPLE_VOTE_TX;
    }
    if !outcome.keep {
        packet.meta_mut().set_discard(true);
    }
}
