//! What a pipeline does to its process: CPUs, time and memory. In programs of their own where the process as a
//! whole is looked at.

use std::{
    env, fs,
    process::{Command, Output},
    thread,
    time::{Duration, Instant},
};

use octosig_pipeline::{
    Pipeline, SubmitError,
    cpus::{self, Machine},
    solana_perf::packet::{BytesPacket, Meta, PacketBatch},
};
use solana_sdk::{
    hash::Hash, pubkey::Pubkey, signature::Keypair, transaction::VersionedTransaction,
};

/// Batches of one packet each, all valid.
fn singles(count: usize) -> Vec<PacketBatch> {
    let payer = Keypair::new_from_array([3; 32]);
    let to = Pubkey::new_from_array([4; 32]);
    let transfer = solana_system_transaction::transfer(&payer, &to, 1, Hash::default());
    let data = wincode::serialize(&VersionedTransaction::from(transfer)).expect("a transaction");
    let packet = BytesPacket::new(data.into(), Meta::default());
    vec![PacketBatch::Single(packet); count]
}

/// Runs one of the ignored tests below in a process of its own, by `launcher`.
fn run_alone(launcher: &[&str], test: &str) -> Output {
    let this = env::current_exe().expect("this program");
    let arguments = [test, "--exact", "--ignored", "--nocapture", "--test-threads=1"];
    let [program, rest @ ..] = launcher else {
        return Command::new(this).args(arguments).output().expect("itself");
    };
    Command::new(program)
        .args(rest)
        .arg(this)
        .args(arguments)
        .output()
        .unwrap_or_else(|error| panic!("{program}, of util-linux: {error}"))
}

fn assert_ran(output: &Output) {
    let text = String::from_utf8_lossy(&output.stdout);
    let ran = output.status.success() && text.contains("1 passed");
    assert!(ran, "{text}\n{}", String::from_utf8_lossy(&output.stderr));
    print!("{text}");
}

/// The CPUs that the calling thread may use.
fn mask() -> Vec<usize> {
    let status = fs::read_to_string("/proc/thread-self/status").expect("/proc");
    let list = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:"));
    cpus::parse(list.expect("a list")).expect("a list")
}

/// The CPU of every worker, by its thread's mask.
fn workers_masks(prefix: &str) -> Vec<Vec<usize>> {
    let mut masks = Vec::new();
    for task in fs::read_dir("/proc/self/task").expect("/proc") {
        let status = fs::read_to_string(task.expect("a thread").path().join("status"));
        let status = status.expect("a thread that lives");
        let value = |key| status.lines().find_map(|line| line.strip_prefix(key)).expect("a line");
        if value("Name:").trim().starts_with(prefix) {
            masks.push(cpus::parse(value("Cpus_allowed_list:")).expect("a list"));
        }
    }
    masks.sort();
    masks
}

#[test]
fn a_process_restricted_to_one_cpu_sees_that_one() {
    for cpu in Machine::this().allowed() {
        let cpu = cpu.to_string();
        let output = run_alone(&["taskset", "-c", &cpu], "alone_restricted_to_one_cpu");
        assert_ran(&output);
    }
}

#[test]
#[ignore = "for a process restricted to one CPU"]
fn alone_restricted_to_one_cpu() {
    let mask = mask();
    assert_eq!(mask.len(), 1);
    assert_eq!(Machine::this().allowed(), mask);
    let pipeline = Pipeline::builder().build().expect("a pipeline");
    assert_eq!((pipeline.cpus(), pipeline.workers()), (&*mask, 1));
    assert_eq!(pipeline.stream().submit(singles(100)).unwrap().wait().unwrap().valid, 100);
}

#[test]
fn pins_are_the_workers_own() {
    assert_ran(&run_alone(&[], "alone_pinned_and_unpinned"));
}

#[test]
#[ignore = "for a process of its own"]
fn alone_pinned_and_unpinned() {
    // The test's thread is not the main one, and is pinned before the first question.
    let all = mask();
    let first = all[0];
    assert!(cpus::pin(first));
    assert_eq!(mask(), [first]);
    assert_eq!(Machine::this().allowed(), all);

    let before = mask();
    for round in 0..3 {
        let name = format!("pinned-{round}-");
        let pipeline = Pipeline::builder().thread_name_prefix(&*name).build().expect("a pipeline");
        assert_eq!(pipeline.stream().submit(singles(100)).unwrap().wait().unwrap().valid, 100);
        let mut cpus = pipeline.cpus().to_vec();
        cpus.sort_unstable();
        assert_eq!(cpus, all, "the second pipeline sees what the first one saw");
        let expected: Vec<_> = cpus.iter().map(|cpu| vec![*cpu]).collect();
        // A worker pins itself before it takes anything, but perhaps another one did all.
        let deadline = Instant::now() + Duration::from_secs(60);
        while workers_masks(&name) != expected && Instant::now() < deadline {
            thread::yield_now();
        }
        assert_eq!(workers_masks(&name), expected);
        assert_eq!(mask(), before, "the caller's own mask is untouched");
    }
    let last = *all.last().expect("a CPU");
    let pipeline = Pipeline::builder().cpus([last]).build().expect("a pipeline");
    assert_eq!(pipeline.cpus(), [last]);
}

/// The CPU time of this process so far.
fn cpu_time() -> Duration {
    let tasks = fs::read_dir("/proc/self/task").expect("/proc");
    // The first number is the time on a CPU in nanoseconds.
    let nanos = |task: fs::DirEntry| {
        let text = fs::read_to_string(task.path().join("schedstat")).ok()?;
        text.split(' ').next()?.parse::<u64>().ok()
    };
    Duration::from_nanos(tasks.filter_map(|task| nanos(task.ok()?)).sum())
}

#[test]
fn an_idle_pipeline_uses_no_cpu() {
    assert_ran(&run_alone(&[], "alone_idle_after_a_burst"));
}

#[test]
#[ignore = "for a process of its own"]
fn alone_idle_after_a_burst() {
    const IDLE: Duration = Duration::from_secs(2);
    let pipeline = Pipeline::builder().unpinned().workers(8).queue_depth(20_000).build().unwrap();
    let stream = pipeline.stream();
    let tickets: Vec<_> =
        singles(10_000).into_iter().map(|batch| stream.submit(vec![batch]).unwrap()).collect();
    pipeline.drain();
    assert!(tickets.into_iter().all(|ticket| ticket.wait().unwrap().valid == 1));
    // Until the last worker has fallen asleep.
    thread::sleep(Duration::from_millis(100));
    let before = cpu_time();
    thread::sleep(IDLE);
    let used = cpu_time() - before;
    println!("8 workers, idle for {IDLE:?} after a burst: {used:?} of CPU time");
    // A machine busy with other tests lets some of the falling asleep happen here. One spinning worker
    // would use all of it.
    assert!(used < IDLE / 100, "{used:?}");
    assert_eq!(stream.submit(singles(3)).unwrap().wait().unwrap().valid, 3);
}

/// Memory that this process holds, in bytes.
fn resident() -> usize {
    let status = fs::read_to_string("/proc/self/status").expect("/proc");
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).expect("a line");
    1_024 * line.trim().split(' ').next().and_then(|kib| kib.parse::<usize>().ok()).expect("KiB")
}

#[test]
fn overload_does_not_grow_memory() {
    assert_ran(&run_alone(&[], "alone_overloaded"));
}

/// Submits more than is drained, for five seconds or as long as the environment variable
/// `OCTOSIG_OVERLOAD_SECONDS` says.
#[test]
#[ignore = "for a process of its own"]
fn alone_overloaded() {
    const DEPTH: usize = 500;
    let seconds = env::var("OCTOSIG_OVERLOAD_SECONDS").ok().and_then(|text| text.parse().ok());
    let end = Instant::now() + Duration::from_secs(seconds.unwrap_or(5));
    let pipeline = Pipeline::builder().queue_depth(DEPTH).build().unwrap();
    let stream = pipeline.stream();
    let batches = singles(64);
    let (mut full, mut accepted) = (0u64, 0u64);
    let mut filled = None;
    while Instant::now() < end {
        // As a stage does that gets 64 batches of a copy each, and forgets the ticket.
        let copy = batches.iter().map(|batch| {
            let packet = batch.get(0).expect("a packet");
            let bytes = packet.data(..).expect("its bytes").to_vec();
            PacketBatch::Single(BytesPacket::new(bytes.into(), Meta::default()))
        });
        match stream.submit(copy.collect::<Vec<_>>()) {
            Ok(_) => accepted += 1,
            Err(SubmitError::Full(batches)) => {
                assert_eq!(batches.len(), 64);
                full += 1;
                // The queue has been as full as it gets.
                filled.get_or_insert_with(resident);
                thread::sleep(Duration::from_micros(200));
            }
            Err(error) => panic!("{error}"),
        }
    }
    let (filled, now) = (filled.expect("overload"), resident());
    println!(
        "accepted {accepted}, full {full} times: {filled} bytes when first full, {now} at the end"
    );
    pipeline.drain();
    assert_eq!(pipeline.shutdown().total_packets, 64 * accepted);
    // What an allocator keeps by the way, but not another queue's worth a second.
    assert!(now < filled + filled / 4 + (8 << 20), "{filled} bytes grew to {now}");
}
