//! The loop around the steps: gather a window of packets, verify, set its flags, go on.

use std::sync::Once;

use arrayvec::ArrayVec;
use log::error;
use octosig::{Backend, Verifier};
use solana_perf::packet::{PacketBatch, PacketRefMut};

use crate::{
    gather::Chunk,
    parse::Transaction,
    rules::Rules,
    scatter::{Outcome, scatter},
};

/// Packets whose flags are set together. Only the end of a window can leave lanes empty.
const WINDOW: usize = 512;

/// Verifies packets with a [`Verifier`] of the caller's choice, on the calling thread.
///
/// Owns the verifier and so its scratch memory: keep one per thread and use it again. The rules
/// come with each call. The default one has the best backend.
#[derive(Debug)]
pub struct Sigverifier {
    verifier: Verifier,
}

impl Sigverifier {
    /// Verifies with `verifier`: its backend, its scratch memory.
    pub const fn new(verifier: Verifier) -> Self {
        Self { verifier }
    }

    /// The verifier, for example for its counters.
    pub const fn verifier(&self) -> &Verifier {
        &self.verifier
    }

    /// Sets the flags of the packets of all batches, filling lanes across batches.
    pub fn verify_batches(&mut self, batches: &mut [PacketBatch], rules: Rules) {
        self.verify_packets(batches.iter_mut().flatten(), rules);
    }

    /// Sets the flags of all packets, from wherever they come.
    pub fn verify_packets<'a>(
        &mut self,
        packets: impl IntoIterator<Item = PacketRefMut<'a>>,
        rules: Rules,
    ) {
        let mut window = ArrayVec::<_, WINDOW>::new();
        for packet in packets.into_iter().filter(|packet| !packet.meta().discard()) {
            window.push(packet);
            if window.is_full() {
                self.verify_window(&mut window, rules);
                window.clear();
            }
        }
        self.verify_window(&mut window, rules);
    }

    /// Sets the flags of packets none of which is discarded yet.
    pub(crate) fn verify_live(&mut self, packets: &mut [PacketRefMut<'_>], rules: Rules) {
        for window in packets.chunks_mut(WINDOW) {
            self.verify_window(window, rules);
        }
    }

    /// At most [`WINDOW`] packets, none of which is discarded yet.
    fn verify_window(&mut self, window: &mut [PacketRefMut<'_>], rules: Rules) {
        let outcomes = self.outcomes(window, rules);
        for (packet, outcome) in window.iter_mut().zip(outcomes) {
            scatter(packet, outcome);
        }
    }

    fn outcomes(&mut self, window: &[PacketRefMut<'_>], rules: Rules) -> ArrayVec<Outcome, WINDOW> {
        let mut outcomes = ArrayVec::new();
        let mut chunk = Chunk::new(rules.profile);
        for (owner, packet) in window.iter().enumerate() {
            let transaction = packet.data(..).and_then(|data| Transaction::parse(data, rules));
            outcomes.push(Outcome::before_signatures(transaction.as_ref()));
            for item in transaction.iter().flat_map(Transaction::items) {
                chunk.push(item, owner, &mut self.verifier, &mut outcomes);
            }
        }
        chunk.verify(&mut self.verifier, &mut outcomes);
        outcomes
    }
}

impl Default for Sigverifier {
    /// Logs an error, once per process, if the fastest backend that is available cannot be used:
    /// because it fails its self-test, or because the thread's floating-point mode keeps it from
    /// being tested.
    fn default() -> Self {
        static REPORT: Once = Once::new();
        let verifier = Verifier::new();
        REPORT.call_once(|| {
            let fastest = Backend::ALL.iter().rev().find(|backend| backend.is_available());
            if let Some(&fastest) = fastest
                && let Err(error) = Verifier::with_backend(fastest)
            {
                error!("octosig: {error}; {} is used", verifier.backend());
            }
        });
        Self::new(verifier)
    }
}
