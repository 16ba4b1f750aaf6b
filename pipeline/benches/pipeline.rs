//! The pipeline beside solana-perf's `ed25519_verify`, both on as many threads as there are CPUs, and beside
//! the bare verifier. Prints tables in Markdown.
//!
//! `cargo bench -p octosig-pipeline --bench pipeline [-- --rounds N]`
//!
//! All contenders of a table take turns, round after round. A time is the median of its rounds, a ratio the median of
//! the ratios of the rounds; in wall time, because the question is when a batch is done. One binary holds all of them.

use std::{
    env,
    hint::black_box,
    num::NonZero,
    thread,
    time::{Duration, Instant},
};

use octosig_pipeline::{
    Pipeline, Profile, Rules, Shadow, Stream, ed25519_verify, ed25519_verify_serial,
    octosig::{Item, Verifier},
    solana_perf::{
        packet::{BytesPacket, Meta, PacketBatch},
        sigverify,
    },
    verify_batches,
};
use rand::Rng;
use rayon::{ThreadPool, ThreadPoolBuilder};
use solana_sdk::{
    hash::Hash,
    instruction::{AccountMeta, Instruction},
    message::Message,
    pubkey::Pubkey,
    signature::{Keypair, Signer},
    transaction::{Transaction, VersionedTransaction},
};

fn packet(transaction: Transaction) -> BytesPacket {
    let data = wincode::serialize(&VersionedTransaction::from(transaction)).expect("a transaction");
    let mut meta = Meta::default();
    meta.size = data.len();
    BytesPacket::new(data.into(), meta)
}

/// A transfer from a payer of its own, as in Agave's benches.
fn transfer() -> BytesPacket {
    let to = Pubkey::new_unique();
    packet(solana_system_transaction::transfer(&Keypair::new(), &to, 1, Hash::new_unique()))
}

/// An instruction that two accounts sign.
fn multisig() -> BytesPacket {
    let signers = [Keypair::new(), Keypair::new()];
    let accounts =
        signers.each_ref().map(|signer| AccountMeta::new(signer.pubkey(), true)).to_vec();
    let instruction = Instruction::new_with_bytes(Pubkey::new_unique(), &[0; 12], accounts);
    let message = Message::new(&[instruction], Some(&signers[0].pubkey()));
    packet(Transaction::new(&signers.each_ref(), message, Hash::new_unique()))
}

/// `count` transfers in batches of `len`.
fn batches(count: usize, len: usize) -> Vec<PacketBatch> {
    let packets: Vec<_> = (0..count).map(|_| transfer()).collect();
    if len == 1 {
        return packets.into_iter().map(PacketBatch::Single).collect();
    }
    packets.chunks(len).map(|batch| batch.to_vec().into()).collect()
}

/// Agave's `bench_sigverify_uneven`: batches of 1 to 127 packets, half of them with two signatures, 98 %
/// discarded.
fn uneven(total: usize) -> Vec<PacketBatch> {
    let mut random = rand::rng();
    let (one, two) = ([(); 64].map(|()| transfer()), [(); 64].map(|()| multisig()));
    let mut batches = Vec::new();
    let mut rest = total;
    while rest > 0 {
        let len = random.random_range(1..128).min(rest);
        rest -= len;
        let packets = (0..len).map(|_| {
            let packets = if random.random() { &one } else { &two };
            let mut packet = packets[random.random_range(0..64)].clone();
            packet.meta_mut().set_discard(random.random_ratio(98, 100));
            packet
        });
        batches.push(packets.collect::<Vec<_>>().into());
    }
    batches
}

/// A way to verify batches, which it may move away and back.
type Entry<'a> = &'a dyn Fn(&mut Vec<PacketBatch>);

fn time(run: impl FnOnce()) -> Duration {
    let start = Instant::now();
    run();
    start.elapsed()
}

fn quantile(times: &mut [Duration], quantile: f64) -> Duration {
    times.sort_unstable();
    times[((times.len() - 1) as f64 * quantile) as usize]
}

fn median(values: impl IntoIterator<Item = f64>) -> f64 {
    let mut values: Vec<_> = values.into_iter().collect();
    values.sort_unstable_by(f64::total_cmp);
    values[values.len() / 2]
}

/// The times of each entry in microseconds, one for each round.
struct Times<const N: usize>([Vec<f64>; N]);

impl<const N: usize> Times<N> {
    /// All take turns on copies of `batches`.
    fn of(rounds: usize, batches: &[PacketBatch], entries: [Entry<'_>; N]) -> Self {
        let mut times = [const { Vec::new() }; N];
        let mut copies = [(); N].map(|()| batches.to_vec());
        let kept = sigverify::count_valid_packets(batches);
        // Short ones several times.
        let repeats = (2_000 / kept.max(1)).clamp(1, 20);
        for round in 0..=rounds {
            for i in 0..N {
                // Another one begins each round.
                let i = (i + round) % N;
                let run = || (0..repeats).for_each(|_| entries[i](black_box(&mut copies[i])));
                let elapsed = time(run);
                // The first round warms up.
                if round > 0 {
                    times[i].push(elapsed.as_secs_f64() * 1e6 / repeats as f64);
                }
            }
        }
        assert!(copies.iter().all(|copy| sigverify::count_valid_packets(copy) == kept));
        Self(times)
    }

    fn median(&self, entry: usize) -> f64 {
        median(self.0[entry].iter().copied())
    }

    /// The median over the rounds of the time of one divided by that of another.
    fn ratio(&self, of: usize, to: usize) -> f64 {
        median(self.0[of].iter().zip(&self.0[to]).map(|(of, to)| of / to))
    }
}

fn on(stream: &Stream) -> impl Fn(&mut Vec<PacketBatch>) + '_ {
    |batches| {
        let ticket = stream.submit_here(std::mem::take(batches)).expect("room");
        *batches = ticket.wait().expect("once").batches;
    }
}

fn rayon(threads: usize) -> ThreadPool {
    ThreadPoolBuilder::new().num_threads(threads).build().expect("threads")
}

fn pipeline(workers: usize) -> Pipeline {
    Pipeline::builder().workers(workers).queue_depth(60_000).build().expect("a pipeline")
}

/// The bare verifiers on one thread: ed25519-dalek divided by octosig, many signatures in a call.
fn bare_ratio(rounds: usize) -> f64 {
    let batches = batches(1_024, 128);
    let mut verifier = Verifier::new();
    let mut items = Vec::new();
    for packet in batches.iter().flatten() {
        // One signature, the first key after the counts.
        let data = packet.data(..).expect("bytes");
        items.push(Item {
            public_key: data[69..].first_chunk().expect("a key"),
            signature: data[1..].first_chunk().expect("a signature"),
            message: &data[65..],
        });
    }
    let mut times = [Vec::new(), Vec::new()];
    let mut verdicts = vec![false; items.len()];
    for round in 0..=rounds {
        let octosig = time(|| {
            verifier.verify_many(Profile::DalekStrict, &items, &mut verdicts).expect("one length");
        });
        let dalek = time(|| {
            let valid = |item| octosig_oracle::verdict(Profile::DalekStrict, item);
            assert!(items.iter().all(valid));
        });
        assert!(verdicts.iter().all(|valid| *valid));
        if round > 0 {
            times[0].push(octosig);
            times[1].push(dalek);
        }
    }
    let seconds = |times: &Vec<Duration>| median(times.iter().map(Duration::as_secs_f64));
    let [octosig, dalek] = times.each_ref().map(seconds);
    let pairs = times[1].iter().zip(&times[0]);
    let ratio = median(pairs.map(|(dalek, octosig)| dalek.as_secs_f64() / octosig.as_secs_f64()));
    let each = 1e6 / items.len() as f64;
    println!(
        "Bare, one thread: octosig {:.2} µs, ed25519-dalek {:.2} µs a signature, ratio {ratio:.2}.\n",
        octosig * each,
        dalek * each
    );
    ratio
}

fn shapes(rounds: usize, cpus: usize, bare: f64) {
    let (pipeline, pool) = (pipeline(cpus), rayon(cpus));
    let stream = pipeline.stream();
    println!("## Agave's own bench shapes, {cpus} threads\n");
    println!(
        "| shape | pipeline, µs | `ed25519_verify`, µs | solana-perf, µs | ratio of the pipeline | of the bare \
         ratio | ratio of `ed25519_verify` |"
    );
    println!("|---|---|---|---|---|---|---|");
    let mut shapes = vec![("simple, 256 in batches of 128".to_owned(), batches(256, 128))];
    for count in [127, 1_024, 4_096] {
        for len in [1, 128] {
            shapes.push((format!("{count} in batches of {len}"), batches(count, len)));
        }
    }
    shapes.push(("uneven, 12,800, 98 % discarded".to_owned(), uneven(12_800)));
    shapes.push(("1".to_owned(), batches(1, 1)));
    shapes.push(("8 in batches of 1".to_owned(), batches(8, 1)));
    for (name, batches) in shapes {
        let times = Times::of(
            rounds,
            &batches,
            [
                &on(&stream),
                &|batches| ed25519_verify(&pool, batches, false, 0, false),
                &|batches| sigverify::ed25519_verify(&pool, batches, false, 0, false),
            ],
        );
        let ratio = times.ratio(2, 0);
        println!(
            "| {name} | {:.0} | {:.0} | {:.0} | {ratio:.2} | {:.2} | {:.2} |",
            times.median(0),
            times.median(1),
            times.median(2),
            ratio / bare,
            times.ratio(2, 1)
        );
    }
    println!();
}

/// Verifies every packet on so many threads that have nothing to do with each other: what the machine gives.
fn apart(threads: usize, batches: &mut [PacketBatch]) {
    let share = batches.len().div_ceil(threads);
    thread::scope(|scope| {
        for batches in batches.chunks_mut(share) {
            scope.spawn(|| verify_batches(batches, Rules::default()));
        }
    });
}

fn scaling(rounds: usize, cpus: usize) {
    println!("## From one thread to {cpus}, 8,192 packets in batches of 128\n");
    println!("| | 1 thread, packets/s | {cpus} threads, packets/s | efficiency |");
    println!("|---|---|---|---|");
    let batches = batches(8_192, 128);
    let (one, all) = (pipeline(1), pipeline(cpus));
    let (pool_of_one, pool_of_all) = (rayon(1), rayon(cpus));
    let times = Times::of(
        rounds,
        &batches,
        [
            &on(&one.stream()),
            &on(&all.stream()),
            &|batches| sigverify::ed25519_verify(&pool_of_one, batches, false, 0, false),
            &|batches| sigverify::ed25519_verify(&pool_of_all, batches, false, 0, false),
            &|batches| apart(1, batches),
            &|batches| apart(cpus, batches),
        ],
    );
    let names = ["pipeline", "solana-perf on rayon", "octosig on threads that share nothing"];
    for (i, name) in names.iter().enumerate() {
        let (one, all) = (2 * i, 2 * i + 1);
        let rate = |entry| 8_192e6 / times.median(entry);
        let efficiency = times.ratio(one, all) / cpus as f64;
        println!("| {name} | {:.0} | {:.0} | {efficiency:.3} |", rate(one), rate(all));
    }
    println!();
}

fn backlog(rounds: usize, cpus: usize) {
    const PACKETS: usize = 50_000;
    let pipeline = pipeline(cpus);
    let stream = pipeline.stream();
    let mut singles = batches(4_096, 1).into_iter().cycle().take(PACKETS).collect::<Vec<_>>();
    let mut bulk: Vec<PacketBatch> = vec![
        singles
            .iter()
            .flat_map(|batch| match batch {
                PacketBatch::Single(packet) => Some(packet.clone()),
                _ => None,
            })
            .collect::<Vec<_>>()
            .into(),
    ];
    let (mut bulk_rates, mut rates, mut drain_rates) = (Vec::new(), Vec::new(), Vec::new());
    let rate = |packets: usize, time: Duration| packets as f64 / time.as_secs_f64();
    for round in 0..=rounds {
        let bulk_time = time(|| on(&stream)(&mut bulk));
        let start = Instant::now();
        let submit = |single| stream.submit(vec![single]).expect("room");
        let tickets: Vec<_> = singles.drain(..).map(submit).collect();
        // From here on, the submitter takes no time from the workers.
        let submitted = Instant::now();
        let left = tickets.iter().filter(|ticket| ticket.receiver().is_empty()).count();
        pipeline.drain();
        let end = Instant::now();
        let results = tickets.into_iter().map(|ticket| ticket.wait().expect("once"));
        singles.extend(results.flat_map(|verified| verified.batches));
        if round > 0 {
            bulk_rates.push(rate(PACKETS, bulk_time));
            rates.push(rate(PACKETS, end - start));
            drain_rates.push(rate(left, end - submitted));
        }
    }
    assert_eq!(singles.len(), PACKETS);
    let of_bulk =
        |rates: &[f64]| median(rates.iter().zip(&bulk_rates).map(|(rate, bulk)| rate / bulk));
    let (drain_ratio, ratio) = (of_bulk(&drain_rates), of_bulk(&rates));
    let [bulk, all, drain] = [bulk_rates, rates, drain_rates].map(median);
    println!("## A backlog of {PACKETS} packets\n");
    println!("| | packets/s | of that of one submission |");
    println!("|---|---|---|");
    println!("| one submission | {bulk:.0} | 1 |");
    println!(
        "| submissions of one packet each, once all are queued | {drain:.0} | {drain_ratio:.3} |"
    );
    println!(
        "| the same, from the first on: the submitter needs one of {cpus} CPUs for a while | {all:.0} | {ratio:.3} |\n"
    );
}

fn samples(rounds: usize) {
    println!("## Accepted signatures verified again, 4,096 packets, one worker\n");
    println!("| one in | more time |");
    println!("|---|---|");
    let batches = batches(4_096, 128);
    let with = |accepted_one_in| {
        let shadow = Shadow { accepted_one_in, ..Shadow::default() };
        Pipeline::builder().workers(1).shadow(shadow).build().expect("a pipeline")
    };
    let rates = [10_000, 1_000, 100];
    let (none, [rare, some, many]) = (pipeline(1), rates.map(with));
    let times = Times::of(
        rounds,
        &batches,
        [&on(&none.stream()), &on(&rare.stream()), &on(&some.stream()), &on(&many.stream())],
    );
    for (rate, entry) in rates.iter().zip(1..) {
        println!("| {rate} | {:.1} % |", (times.ratio(entry, 0) - 1.0) * 100.0);
    }
    println!();
}

fn latency(rounds: usize) {
    println!("## One packet with one signature, from submitting to its flags\n");
    println!(
        "| | one after the other: p50, µs | p99, µs | 1 ms after the one before: p50, µs | p99, µs |"
    );
    println!("|---|---|---|---|---|");
    let batch = batches(1, 1);
    let data = batch[0].get(0).expect("a packet").data(..).expect("bytes").to_vec();
    let mut verifier = Verifier::new();
    let pipeline = pipeline(1);
    let stream = pipeline.stream();
    let mut bare = || {
        let (key, signature) = (data[69..].first_chunk(), data[1..].first_chunk());
        let (key, signature) = (key.expect("a key"), signature.expect("a signature"));
        assert!(verifier.verify(Profile::DalekStrict, key, signature, &data[65..]));
    };
    let serial = || {
        let mut batch = batch[0].clone();
        move || ed25519_verify_serial(&mut batch, false, false)
    };
    let here = || {
        let batch = batch.clone();
        || drop(stream.submit_here(batch).expect("room").wait().expect("once"))
    };
    let waited = || {
        let batch = batch.clone();
        || drop(stream.submit(batch).expect("room").wait().expect("once"))
    };
    let names = [
        "`Verifier::verify`",
        "`ed25519_verify_serial`",
        "`submit_here`, then `wait`",
        "`submit`, then `wait`",
    ];
    let gaps = [Duration::ZERO, Duration::from_millis(1)];
    let mut times = [const { [const { Vec::new() }; 4] }; 2];
    for (gap, times) in gaps.into_iter().zip(&mut times) {
        for _ in 0..100 * rounds {
            // Ten of each in a row, so that each has its own data near in the first case.
            for _ in 0..10 {
                thread::sleep(gap);
                times[0].push(time(&mut bare));
            }
            for _ in 0..10 {
                let run = serial();
                thread::sleep(gap);
                times[1].push(time(run));
            }
            for _ in 0..10 {
                let run = here();
                thread::sleep(gap);
                times[2].push(time(run));
            }
            for _ in 0..10 {
                let run = waited();
                thread::sleep(gap);
                times[3].push(time(run));
            }
            if !gap.is_zero() && times[0].len() >= 50 * rounds {
                break;
            }
        }
    }
    for (i, name) in names.iter().enumerate() {
        let [hot, cold] = times
            .each_mut()
            .map(|times| [0.5, 0.99].map(|q| quantile(&mut times[i], q).as_secs_f64() * 1e6));
        println!("| {name} | {:.1} | {:.1} | {:.1} | {:.1} |", hot[0], hot[1], cold[0], cold[1]);
    }
    println!();
}

fn main() {
    let mut arguments = env::args().skip_while(|argument| argument != "--rounds").skip(1);
    let rounds = arguments.next().map_or(11, |rounds| rounds.parse().expect("a number of rounds"));
    let cpus = thread::available_parallelism().map_or(1, NonZero::get);
    println!("Backend {}, {rounds} rounds.\n", Verifier::new().backend());
    let bare = bare_ratio(rounds);
    shapes(rounds, cpus, bare);
    scaling(rounds, cpus);
    backlog(rounds, cpus);
    samples(rounds);
    latency(rounds);
}
