//! A sigverify stage on the pipeline, after that of solana-core 4.2: it selects over the channels of the TPU
//! and of votes, takes what else has queued up, drops duplicates, has the signatures verified, and sends
//! the batches on in their order. Every second it prints datapoints as Agave's log has them.
//!
//! `cargo run --release -p octosig-pipeline --example sigverify_stage`
//!
//! What differs from Agave's: its stage verifies on the thread that received, one batch at a time. Here one
//! thread receives and sends, and the workers of the pipeline verify what both channels have brought.

use std::{
    collections::VecDeque,
    error::Error,
    thread,
    time::{Duration, Instant},
};

use crossbeam_channel::{Receiver, Sender, bounded, never, select, unbounded};
use octosig_pipeline::{
    Pipeline, Rules, Stats, Stream, Ticket, VerifiedBatches,
    solana_perf::{
        deduper::{Deduper, dedup_packets_and_count_discards},
        packet::{BytesPacket, Meta, PacketBatch},
        sigverify::count_valid_packets,
    },
};
use solana_sdk::{
    hash::Hash,
    instruction::{AccountMeta, Instruction},
    message::Message,
    pubkey::Pubkey,
    signature::{Keypair, Signer},
    transaction::{Transaction, VersionedTransaction},
};

/// Batches taken out of a channel at once at most.
const DRAIN: usize = 256;
/// Submissions of a channel on their way at most; what comes then stays in the channel.
const DEPTH: usize = 64;
/// How often datapoints are printed.
const REPORT: Duration = Duration::from_secs(1);
// Of Agave's stage.
const DEDUPER_BITS: u64 = 63_999_979;
const DEDUPER_FALSE_POSITIVES: f64 = 0.001;
const DEDUPER_RESET: Duration = Duration::from_secs(2);

/// One channel, from its receiver to its sender.
struct Channel {
    name: &'static str,
    input: Receiver<PacketBatch>,
    output: Sender<Vec<PacketBatch>>,
    stream: Stream,
    tickets: VecDeque<Ticket<VerifiedBatches>>,
    counts: Counts,
}

/// The fields of Agave's datapoint of the same names.
#[derive(Default)]
struct Counts {
    total_batches: usize,
    total_packets: usize,
    total_dedup: u64,
    total_valid_packets: usize,
}

impl Channel {
    /// Where the next batch comes from: nowhere while the stream is full.
    fn next(&self) -> Receiver<PacketBatch> {
        if self.tickets.len() < DEPTH { self.input.clone() } else { never() }
    }

    /// Where the oldest submission's result comes from. Tickets are ready in order, so no other one
    /// needs to be watched.
    fn oldest(&self) -> Receiver<VerifiedBatches> {
        self.tickets.front().map_or_else(never, |ticket| ticket.receiver().clone())
    }

    fn is_done(&self) -> bool {
        self.tickets.is_empty() && self.input.is_empty()
    }

    /// Submits a batch, and what has queued up behind it.
    fn submit(&mut self, first: PacketBatch, deduper: &Deduper<2, [u8]>) {
        let mut batches = vec![first];
        batches.extend(self.input.try_iter().take(DRAIN - 1));
        self.counts.total_batches += batches.len();
        self.counts.total_packets += batches.iter().map(PacketBatch::len).sum::<usize>();
        self.counts.total_dedup += dedup_packets_and_count_discards(deduper, &mut batches);
        if count_valid_packets(&batches) == 0 {
            return;
        }
        match self.stream.submit(batches) {
            Ok(ticket) => self.tickets.push_back(ticket),
            // There was room, so the pipeline has ended.
            Err(error) => eprintln!("{}: {error}", self.name),
        }
    }

    /// Sends on what is verified.
    fn send(&mut self, verified: VerifiedBatches) {
        self.tickets.pop_front();
        self.counts.total_valid_packets += verified.valid;
        // If nobody listens, the validator is going down.
        let _ = self.output.send(verified.batches);
    }

    fn report(&mut self) {
        let Counts { total_batches, total_packets, total_dedup, total_valid_packets } =
            std::mem::take(&mut self.counts);
        println!(
            "datapoint: {} total_batches={total_batches}i total_packets={total_packets}i total_dedup={total_dedup}i \
             total_valid_packets={total_valid_packets}i",
            self.name
        );
    }
}

/// What the pipeline did since `earlier`; the microseconds are those of all workers together.
fn report(stats: Stats) {
    let lanes: u64 = stats.groups.iter().zip(1..).map(|(groups, size)| groups * size).sum();
    let groups: u64 = stats.groups.iter().sum();
    println!(
        "datapoint: octosig-pipeline total_verify_time_us={}i submissions={}i claims={}i signatures={}i groups={groups}i \
         full_groups={}i signatures_per_group={:.2} panics={}i",
        stats.total_verify_time_us,
        stats.submissions,
        stats.claims,
        stats.signatures,
        stats.groups[7],
        lanes as f64 / groups.max(1) as f64,
        stats.panics
    );
}

/// Runs until both channels are closed and everything is sent on.
fn stage(pipeline: &Pipeline, mut tpu: Channel, mut votes: Channel) {
    let mut random = rand::rng();
    let deduper = Deduper::new(&mut random, DEDUPER_BITS);
    let mut reported = Instant::now();
    let mut earlier = pipeline.stats();
    let mut open = [true; 2];
    while open != [false; 2] || !tpu.is_done() || !votes.is_done() {
        // A closed channel is always ready; it is not asked again.
        let inputs = [(&tpu, open[0]), (&votes, open[1])]
            .map(|(channel, open)| if open { channel.next() } else { never() });
        select! {
            recv(inputs[0]) -> batch => match batch {
                Ok(batch) => tpu.submit(batch, &deduper),
                Err(_) => open[0] = false,
            },
            recv(inputs[1]) -> batch => match batch {
                Ok(batch) => votes.submit(batch, &deduper),
                Err(_) => open[1] = false,
            },
            recv(tpu.oldest()) -> verified => if let Ok(verified) = verified { tpu.send(verified) },
            recv(votes.oldest()) -> verified => if let Ok(verified) = verified { votes.send(verified) },
            default(Duration::from_millis(10)) => {}
        }
        deduper.maybe_reset(&mut random, DEDUPER_FALSE_POSITIVES, DEDUPER_RESET);
        if reported.elapsed() >= REPORT {
            reported = Instant::now();
            tpu.report();
            votes.report();
            let now = pipeline.stats();
            report(now.since(&earlier));
            earlier = now;
        }
    }
    tpu.report();
    votes.report();
    report(pipeline.stats().since(&earlier));
}

fn main() -> Result<(), Box<dyn Error>> {
    let pipeline =
        Pipeline::builder().thread_name_prefix("solSigVerify").queue_depth(DEPTH).build()?;
    // A validator looks at its bank, and takes other rules where its features change.
    let rules = Rules::default();
    let votes_only = Rules { reject_non_vote: true, ..rules };
    let (tpu_sender, tpu_input) = bounded(50_000);
    let (vote_sender, vote_input) = bounded(4_000);
    let (tpu_output, tpu_verified) = unbounded();
    let (vote_output, votes_verified) = unbounded();
    let channel = |name, input, output, rules| Channel {
        name,
        input,
        output,
        stream: pipeline.stream().with_rules(rules),
        tickets: VecDeque::new(),
        counts: Counts::default(),
    };
    let tpu = channel("tpu-verifier", tpu_input, tpu_output, rules);
    let votes = channel("tpu-vote-verifier", vote_input, vote_output, votes_only);

    let transfers = packets(4_000, solana_sdk_ids::system_program::ID)?;
    let vote_packets = packets(2_000, solana_sdk_ids::vote::ID)?;
    thread::scope(|scope| {
        scope.spawn(|| stage(&pipeline, tpu, votes));
        // As they come from QUIC: one packet to a batch.
        for (sender, packets) in [(tpu_sender, &transfers), (vote_sender, &vote_packets)] {
            scope.spawn(move || {
                for packet in packets.iter().cycle().take(packets.len() * 5 / 4) {
                    let batch = PacketBatch::Single(packet.clone());
                    if sender.send(batch).is_err() {
                        break;
                    }
                }
            });
        }
    });
    for (name, verified) in [("transfers", tpu_verified), ("votes", votes_verified)] {
        let valid: usize = verified.iter().map(|batches| count_valid_packets(&batches)).sum();
        println!("{name}: {valid} passed on");
    }
    Ok(())
}

/// Packets that call `program`, each from a payer of its own; the signature of every tenth is damaged.
fn packets(count: usize, program: Pubkey) -> Result<Vec<BytesPacket>, wincode::WriteError> {
    let packet = |i: usize| {
        let payer = Keypair::new();
        let accounts = vec![AccountMeta::new(payer.pubkey(), true)];
        let instruction = Instruction::new_with_bytes(program, &i.to_le_bytes(), accounts);
        let message = Message::new(&[instruction], Some(&payer.pubkey()));
        let mut transaction = Transaction::new(&[&payer], message, Hash::new_unique());
        if i.is_multiple_of(10) {
            transaction.signatures = vec![payer.sign_message(b"another message")];
        }
        let data = wincode::serialize(&VersionedTransaction::from(transaction))?;
        let mut meta = Meta::default();
        meta.size = data.len();
        Ok(BytesPacket::new(data.into(), meta))
    };
    (0..count).map(packet).collect()
}
