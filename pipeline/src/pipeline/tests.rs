//! Faults, with verifiers, oracles and systems that fail on purpose.

use std::{
    collections::BTreeSet,
    fs,
    path::Path,
    sync::{LazyLock, atomic::AtomicUsize},
};

use log::{Level, LevelFilter, Log, Metadata, Record};
use octosig::Item;
use solana_perf::packet::{BytesPacket, Meta, PacketBatch};
use solana_sdk::{
    hash::Hash, pubkey::Pubkey, signature::Keypair, transaction::VersionedTransaction,
};

use super::*;
use crate::{gather::Verify, shadow::OnDifference, worker::Engine};

/// A transfer of so many lamports, from an account of its own.
fn packet(lamports: u64, is_valid: bool) -> BytesPacket {
    let mut seed = [1; 32];
    seed[..8].copy_from_slice(&lamports.to_le_bytes());
    let payer = Keypair::new_from_array(seed);
    let to = Pubkey::new_from_array([2; 32]);
    let mut transfer = solana_system_transaction::transfer(&payer, &to, lamports, Hash::default());
    if !is_valid {
        transfer.signatures[0] = [7; 64].into();
    }
    let data = wincode::serialize(&VersionedTransaction::from(transfer)).expect("a transaction");
    BytesPacket::new(data.into(), Meta::default())
}

/// Transfers of 0, 1, … lamports, of which every third is invalid; and which ones are kept.
fn packets(count: u64) -> (Vec<BytesPacket>, Vec<bool>) {
    let valid: Vec<_> = (0..count).map(|lamports| lamports % 3 != 0).collect();
    ((0..).zip(&valid).map(|(lamports, valid)| packet(lamports, *valid)).collect(), valid)
}

fn kept(batches: &[PacketBatch]) -> Vec<bool> {
    batches.iter().flatten().map(|packet| !packet.meta().discard()).collect()
}

fn lamports(item: &Item<'_>) -> u64 {
    u64::from_le_bytes(*item.message.last_chunk().expect("a transfer"))
}

/// Octosig, but for transfers of so many lamports.
struct Faulty {
    verifier: Verifier,
    panics_from: u64,
    lies_from: u64,
}

impl Verify for Faulty {
    fn set_verdicts(&mut self, profile: Profile, items: &[Item<'_>], verdicts: &mut [bool]) {
        self.verifier.set_verdicts(profile, items, verdicts);
        for (item, verdict) in items.iter().zip(verdicts) {
            *verdict ^= lamports(item) >= self.lies_from;
            assert!(lamports(item) < self.panics_from, "on purpose");
        }
    }
}

impl Engine for Faulty {
    fn counts(&self) -> octosig::Stats {
        self.verifier.stats()
    }
}

/// Two workers whose verifiers panic, or lie, about transfers of so many lamports and more.
fn faulty(panics_from: u64, lies_from: u64) -> Builder {
    let make = move || -> Result<Box<dyn Engine>, _> {
        Ok(Box::new(Faulty { verifier: Verifier::new(), panics_from, lies_from }))
    };
    let builder = Pipeline::builder().unpinned().workers(2);
    Builder { make_engine: Some(Box::new(make)), ..builder }
}

/// What was logged, by any test.
static LOGGED: LazyLock<Mutex<Vec<(Level, String)>>> = LazyLock::new(|| {
    struct Logger;
    impl Log for Logger {
        fn enabled(&self, _: &Metadata<'_>) -> bool {
            true
        }
        fn log(&self, record: &Record<'_>) {
            lock(&LOGGED).push((record.level(), record.args().to_string()));
        }
        fn flush(&self) {}
    }
    log::set_logger(&Logger).expect("the only logger");
    log::set_max_level(LevelFilter::Warn);
    Mutex::default()
});

/// How often lines of this level were logged that contain all of these words.
fn logged(level: Level, words: &[&str]) -> usize {
    let holds = |(at, line): &&(Level, String)| {
        *at == level && words.iter().all(|word| line.contains(word))
    };
    lock(&LOGGED).iter().filter(holds).count()
}

#[test]
fn a_panic_costs_nobody_a_verdict() {
    LazyLock::force(&LOGGED);
    let pipeline = faulty(300, u64::MAX).build().unwrap();
    let stream = pipeline.stream();
    let (packets, valid) = packets(400);
    let batches: Vec<_> = packets.into_iter().map(PacketBatch::Single).collect();
    for _ in 0..20 {
        let verified = stream.submit(batches.clone()).unwrap().wait().unwrap();
        assert_eq!(kept(&verified.batches), valid);
    }
    let stats = pipeline.stats();
    assert!(stats.panics >= 20, "{stats:?}");
    assert!((100 * 20..400 * 20).contains(&stats.signatures_by_oracle), "{stats:?}");
    assert_eq!(stats.signatures + stats.signatures_by_oracle, 400 * 20);
    assert_eq!((stats.discarded_by_panic, stats.total_packets), (0, 400 * 20));
    assert!(logged(Level::Error, &["a panic in a worker"]) >= 20);
    assert!(pipeline.threads.iter().all(|thread| !thread.is_finished()));
}

#[test]
fn a_packet_that_the_oracle_panics_on_is_discarded() {
    let oracle = |profile, item: &Item<'_>| {
        assert!(lamports(item) < 350, "on purpose");
        octosig_oracle::verdict(profile, item)
    };
    let pipeline = Builder { oracle, ..faulty(300, u64::MAX) }.build().unwrap();
    let (packets, mut valid) = packets(400);
    valid[350..].fill(false);
    let verified = pipeline.stream().submit(vec![PacketBatch::from(packets)]).unwrap().wait();
    assert_eq!(kept(&verified.unwrap().batches), valid);
    assert_eq!(pipeline.shutdown().discarded_by_panic, 50);
}

#[test]
fn a_submitter_survives_a_panic_too() {
    let pipeline = faulty(5, u64::MAX).build().unwrap();
    let stream = pipeline.stream();
    for _ in 0..200 {
        let batch = PacketBatch::Single(packet(7, true));
        let verified = stream.submit_here(vec![batch]).unwrap().wait().unwrap();
        assert_eq!((verified.packets, verified.valid), (1, 1));
    }
    let stats = pipeline.shutdown();
    assert_eq!((stats.panics, stats.signatures_by_oracle), (200, 200));
    assert_eq!((stats.claims, stats.claims_by_submitters), (200, 200));
}

#[test]
fn a_difference_is_counted_and_logged_with_its_bytes() {
    LazyLock::force(&LOGGED);
    let shadow = Shadow {
        accepted_one_in: 1,
        rejected_one_in: 1,
        rejected_per_second: 1_000,
        on_difference: OnDifference::Report,
    };
    let pipeline = faulty(u64::MAX, 390).shadow(shadow).build().unwrap();
    let (packets, mut valid) = packets(400);
    let public_key = hex::encode(&packets[399].buffer()[69..101]);
    valid[390..].iter_mut().for_each(|valid| *valid = !*valid);
    let verified = pipeline.stream().submit(vec![PacketBatch::from(packets)]).unwrap().wait();
    assert_eq!(kept(&verified.unwrap().batches), valid, "verdicts remain octosig's");
    assert!(!pipeline.is_switched_to_oracle());
    let stats = pipeline.shutdown();
    assert_eq!(stats.differences, 10);
    assert_eq!(stats.sampled_accepted + stats.sampled_rejected, 400);
    assert_eq!((stats.signatures, stats.signatures_by_oracle), (400, 0));
    let octosig_says = format!("octosig says {}", valid[399]);
    let words = ["differs", "dalek-strict", &octosig_says, &public_key, "message"];
    assert_eq!(logged(Level::Error, &words), 1);
}

#[test]
fn a_difference_can_switch_to_the_oracle() {
    let shadow = Shadow {
        accepted_one_in: 1,
        rejected_one_in: 1,
        rejected_per_second: 1_000,
        on_difference: OnDifference::SwitchToOracle,
    };
    let pipeline = faulty(u64::MAX, 0).shadow(shadow).build().unwrap();
    let stream = pipeline.stream();
    let (packets, valid) = packets(50);
    for _ in 0..3 {
        let batches = vec![PacketBatch::from(packets.clone())];
        let verified = stream.submit(batches).unwrap().wait().unwrap();
        assert_eq!(kept(&verified.batches), valid);
        assert!(pipeline.is_switched_to_oracle());
    }
    let stats = pipeline.shutdown();
    assert!(stats.differences > 0 && stats.signatures_by_oracle == 150, "{stats:?}");
}

#[test]
fn samples_are_as_many_as_asked_for() {
    let shadow = Shadow {
        accepted_one_in: 10,
        rejected_one_in: 1,
        rejected_per_second: 5,
        on_difference: OnDifference::Report,
    };
    let (packets, valid) = packets(300);
    for (shadow, accepted, rejected) in [
        (Some(shadow), 19..=20, 5..=40),
        (Some(Shadow::default()), 0..=0, 0..=0),
        (None, 0..=0, 0..=0),
    ] {
        let pipeline = Builder { shadow, ..faulty(u64::MAX, u64::MAX) }.build().unwrap();
        let batches = vec![PacketBatch::from(packets.clone())];
        let verified = pipeline.stream().submit(batches).unwrap().wait().unwrap();
        assert_eq!(kept(&verified.batches), valid);
        let stats = pipeline.shutdown();
        assert!(accepted.contains(&stats.sampled_accepted), "{stats:?}");
        assert!(rejected.contains(&stats.sampled_rejected), "{stats:?}");
        assert_eq!(stats.differences, 0);
    }
}

#[test]
fn every_worker_has_its_share() {
    let (packets, valid) = packets(4_096);
    let singles: Vec<_> = packets.iter().cloned().map(PacketBatch::Single).collect();
    let repeated = singles.iter().cloned().cycle().take(100_000).collect();
    let pipeline = Pipeline::builder().unpinned().workers(2).queue_depth(5_000).build().unwrap();
    let stream = pipeline.stream();
    let mut before = [0; 2];
    for batches in [vec![PacketBatch::from(packets)], singles.clone(), repeated] {
        let count = batches.len();
        let verified = stream.submit(batches).unwrap().wait().unwrap();
        assert!(
            kept(&verified.batches).into_iter().eq(valid
                .iter()
                .copied()
                .cycle()
                .take(verified.packets))
        );
        let now =
            [0, 1].map(|worker| Counters::sum([&*pipeline.shared.counters[worker]]).signatures);
        for (now, before) in now.iter().zip(before) {
            let share = (now - before) as f64 / verified.packets as f64;
            assert!(share > 0.2, "{count} batches: {share} of the signatures");
        }
        before = now;
    }
    let tickets: Vec<_> =
        singles.into_iter().map(|single| stream.submit(vec![single]).unwrap()).collect();
    let results: Vec<_> =
        tickets.into_iter().map(|ticket| ticket.wait().unwrap().valid == 1).collect();
    assert_eq!(results, valid);
    let stats = pipeline.shutdown();
    let signatures: u64 = stats.groups.iter().zip(1..).map(|(groups, size)| groups * size).sum();
    assert!(stats.groups[7] * 8 * 100 > signatures * 98, "lanes are not filled: {stats:?}");
}

/// The names of this process's threads.
fn thread_names() -> BTreeSet<String> {
    let tasks = fs::read_dir("/proc/self/task").expect("/proc");
    let name =
        |task: io::Result<fs::DirEntry>| fs::read_to_string(task.ok()?.path().join("comm")).ok();
    tasks.filter_map(name).map(|name| name.trim().to_owned()).collect()
}

#[test]
fn no_thread_is_left_where_one_cannot_be_started() {
    static STARTED: AtomicUsize = AtomicUsize::new(0);
    let spawn: Spawn = |builder, run| {
        if STARTED.fetch_add(1, Ordering::Relaxed) == 2 {
            // A thread gives itself its name.
            while !thread_names().contains("no-thread00") {
                thread::yield_now();
            }
            return Err(io::ErrorKind::WouldBlock.into());
        }
        builder.spawn(run)
    };
    let builder = Pipeline::builder().unpinned().workers(4).thread_name_prefix("no-thread");
    let error = Builder { spawn, ..builder }.build().unwrap_err();
    assert!(matches!(error, BuildError::Spawn(_)), "{error}");
    assert_eq!(STARTED.load(Ordering::Relaxed), 3);
    assert!(!thread_names().iter().any(|name| name.starts_with("no-thread")));

    // The system itself refuses.
    let error = Pipeline::builder().stack_size(usize::MAX / 4).build().unwrap_err();
    assert!(matches!(error, BuildError::Spawn(_)), "{error}");
}

#[test]
fn a_refused_pin_is_one_warning_and_work_goes_on() {
    LazyLock::force(&LOGGED);
    let mut pipeline = Pipeline::builder().unpinned().workers(1).build().unwrap();
    // Workers for CPUs that no machine grants: the sets of the system end before.
    for cpu in [cpus::LIMIT, usize::MAX] {
        let (shared, counters) =
            (Arc::clone(&pipeline.shared), Arc::clone(&pipeline.shared.counters[0]));
        pipeline.threads.push(thread::spawn(move || run(&shared, counters, Some(cpu))));
    }
    let (packets, valid) = packets(2_000);
    let verified = pipeline.stream().submit(vec![PacketBatch::from(packets)]).unwrap().wait();
    assert_eq!(kept(&verified.unwrap().batches), valid);
    drop(pipeline);
    assert_eq!(logged(Level::Warn, &["refuses to pin"]), 1);
}

#[test]
fn settings_that_make_no_sense_are_refused() {
    let text = |builder: Builder| builder.build().unwrap_err().to_string();
    let builder = || Pipeline::builder().unpinned().workers(1);
    assert_eq!(text(builder().queue_depth(0)), "the queue needs a depth of at least 1");
    assert_eq!(text(builder().workers(0)), "the pipeline needs at least one worker");
    for name in ["fourteen-bytes", "zero\0"] {
        assert!(text(builder().thread_name_prefix(name)).contains("no name for a thread"));
    }
    assert!(builder().thread_name_prefix("thirteen-byte").build().is_ok());
    assert_eq!(text(Pipeline::builder().cpus([])), "no CPU is named");
    assert_eq!(text(Pipeline::builder().cpus([1_024])), "CPU 1024 is beyond 1023");
    assert!(text(Pipeline::builder().cpus([1_023])).contains("CPU 1023 is not among"));
    let first = Machine::this().allowed()[0];
    let twice = text(Pipeline::builder().cpus([first, first]));
    assert_eq!(twice, format!("CPU {first} appears twice"));
    assert!(
        text(Pipeline::builder().cpus([first]).workers(2)).contains("2 workers are to be pinned")
    );
    for backend in Backend::ALL.iter().filter(|backend| !backend.is_available()) {
        assert!(text(builder().backend(*backend)).contains("is not available"));
    }
}

#[test]
fn workers_are_placed_where_the_machine_says() {
    let machine = Machine::read(Path::new("/nonexistent"));
    assert!(
        matches!(place(&Placement::Allowed, Some(3), &machine), Ok((cpus, 3)) if cpus.is_empty())
    );
    assert!(
        matches!(place(&Placement::List(vec![5, 3, 9]), None, &machine), Ok((cpus, 3)) if cpus == [5, 3, 9])
    );
    assert!(
        matches!(place(&Placement::List(vec![5, 3, 9]), Some(2), &machine), Ok((cpus, 2)) if cpus == [5, 3])
    );
    assert!(
        matches!(place(&Placement::Unpinned, None, &machine), Ok((cpus, 1..)) if cpus.is_empty())
    );
}
