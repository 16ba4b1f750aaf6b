//! `octosig verify`: the threads around the steps.
//!
//! One thread reads and cuts the input into chunks. Each chunk goes to the workers, and a promise
//! of its outcome to the main thread, which keeps the promises in order: both queues are bounded,
//! so is memory. The threads are not joined: one that waits for input that never comes, or has lost
//! whom it worked for, must not keep the process alive.

use std::{
    fs::{self, File},
    io::{self, BufWriter, Write},
    path::{Path, PathBuf},
    thread,
    time::Instant,
};

use anyhow::{Context, Result, anyhow, bail, ensure};
use crossbeam_channel::{Receiver, Sender, bounded};
use octosig::{Backend, Verifier};
use octosig_pipeline::{
    Rules,
    cpus::{self, Machine},
};

use crate::{
    args::{Choice, VerifyArgs},
    console::Console,
    input::{self, Chunk, Gone, is_stdin},
    summary::{Summary, Tally},
    worker::{Options, Outcome, Worker},
};

/// What the reading thread tells the main thread, in the order of the input.
enum Event {
    /// A chunk went to the workers; the input had been read up to this byte.
    Chunk(Receiver<Outcome>, u64),
    End(Result<()>),
}

/// A chunk and where its outcome is awaited.
type Job = (Chunk, Sender<Outcome>);

/// The exit code.
pub(crate) fn run(args: &VerifyArgs) -> Result<u8> {
    let options = Options {
        keep_going: args.keep_going,
        oracle: args.oracle,
        rules: Rules {
            profile: args.profile,
            reject_non_vote: args.reject_non_vote,
            enable_tx_v1: args.enable_tx_v1,
        },
        verdicts: args.verdicts.is_some(),
    };
    let pins = pins(args)?;
    let threads = pins.as_ref().map_or_else(|| threads(args), |pins| Ok(pins.len()))?;
    let total = input::check(&args.files)?;
    let backend = match args.backend {
        Choice::Auto => Backend::best(),
        Choice::Named(backend) => backend,
    };
    let verifier = || Verifier::with_backend(backend);
    let workers = (0..threads)
        .map(|_| Ok(Worker::new(verifier()?, verifier()?, options)))
        .collect::<Result<Vec<_>>>()?;
    let mut sink = sink(args)?;

    let start = Instant::now();
    let console = Console::new(total);
    let jobs = spawn_workers(workers, pins.as_deref(), &console)?;
    let events = spawn_reader(args.files.clone(), jobs, threads, &console)?;
    let tally = conclude(&events, &mut sink, args.keep_going, &console);
    console.finish();
    let tally = tally?;

    let summary = Summary {
        tally: &tally,
        profile: args.profile,
        backend,
        threads,
        pinned: pins.map(|mut pins| {
            pins.sort_unstable();
            cpus::format(&pins)
        }),
        oracle: args.oracle,
        elapsed: start.elapsed(),
    };
    if args.verdicts.as_deref().is_some_and(is_stdin) {
        write!(io::stderr(), "{summary}").context("standard error")?;
    } else {
        write!(io::stdout(), "{summary}").context("standard output")?;
    }
    ensure!(tally.differences == 0, "differences to the oracle: {}", tally.differences);
    ensure!(tally.broken == 0, "broken lines, which have no verdict: {}", tally.broken);
    Ok(u8::from(tally.invalid() > 0))
}

/// The CPUs to pin to, one per worker; `None` if the system places the threads.
fn pins(args: &VerifyArgs) -> Result<Option<Vec<usize>>> {
    let Some(list) = &args.cpus else { return Ok(None) };
    let cpus = cpus::parse(list).and_then(|cpus| Machine::this().select(&cpus));
    let mut pins = cpus.with_context(|| format!("--cpus {list:?}"))?;
    if let Some(threads) = args.threads.map(usize::from) {
        ensure!(
            threads <= pins.len(),
            "--threads {threads} is more than the {} CPUs of --cpus {list}",
            pins.len()
        );
        pins.truncate(threads);
    }
    Ok(Some(pins))
}

fn threads(args: &VerifyArgs) -> Result<usize> {
    match args.threads {
        Some(threads) => Ok(usize::from(threads)),
        None => Ok(thread::available_parallelism().context("number of CPUs")?.get()),
    }
}

/// Where the verdicts go.
fn sink(args: &VerifyArgs) -> Result<Box<dyn Write>> {
    let Some(path) = &args.verdicts else { return Ok(Box::new(io::sink())) };
    if is_stdin(path) {
        return Ok(Box::new(BufWriter::new(io::stdout())));
    }
    let name = || path.display().to_string();
    ensure!(
        !args.files.iter().any(|file| is_same_file(file, path)),
        "{}: is an input, too; writing the verdicts would destroy it",
        name()
    );
    Ok(Box::new(BufWriter::new(File::create(path).with_context(name)?)))
}

fn is_same_file(a: &Path, b: &Path) -> bool {
    let regular = |path| fs::canonicalize(path).ok().filter(|path| path.is_file());
    regular(a).is_some_and(|a| regular(b) == Some(a))
}

/// Starts the workers. They end when the returned end of their queue is dropped.
fn spawn_workers(
    workers: Vec<Worker>,
    pins: Option<&[usize]>,
    console: &Console,
) -> Result<Sender<Job>> {
    let (jobs, queue) = bounded::<Job>(2 * workers.len());
    for (number, mut worker) in workers.into_iter().enumerate() {
        let queue = queue.clone();
        let cpu = pins.and_then(|pins| pins.get(number).copied());
        let console = console.clone();
        let work = move || {
            if let Some(cpu) = cpu
                && !cpus::pin(cpu)
            {
                console
                    .complain(&format!("warning: the system refuses to pin a thread to CPU {cpu}"));
            }
            for (chunk, outcome) in queue {
                // If nobody waits for it any more, the run has ended.
                let _ = outcome.send(worker.check(chunk));
            }
        };
        thread::Builder::new()
            .name(format!("octosig-{number:02}"))
            .spawn(work)
            .context("starting a worker thread")?;
    }
    Ok(jobs)
}

/// Starts the reader, which feeds the workers and announces each chunk.
fn spawn_reader(
    files: Vec<PathBuf>,
    jobs: Sender<Job>,
    threads: usize,
    console: &Console,
) -> Result<Receiver<Event>> {
    let (announce, events) = bounded(4 * threads);
    let console = console.clone();
    let read = move || {
        let end = input::read(&files, &console, |chunk| {
            let (outcome, promise) = bounded(1);
            let event = Event::Chunk(promise, chunk.position);
            announce.send(event).map_err(|_| Gone)?;
            jobs.send((chunk, outcome)).map_err(|_| Gone)
        });
        // If nobody listens any more, the run has ended.
        let _ = announce.send(Event::End(end));
    };
    thread::Builder::new()
        .name("octosig-read".into())
        .spawn(read)
        .context("starting the reading thread")?;
    Ok(events)
}

/// Takes the outcomes in the order of the input, writes the verdicts and adds up the counts.
fn conclude(
    events: &Receiver<Event>,
    sink: &mut dyn Write,
    keep_going: bool,
    console: &Console,
) -> Result<Tally> {
    const WRITING: &str = "writing the verdicts";
    let mut tally = Tally::default();
    let lost = |_| anyhow!("internal error: a thread died; the verdicts are incomplete");
    loop {
        match events.recv().map_err(lost)? {
            Event::End(end) => {
                sink.flush().context(WRITING)?;
                end?;
                return Ok(tally);
            }
            Event::Chunk(promise, position) => {
                let outcome = promise.recv().map_err(lost)?;
                sink.write_all(&outcome.verdicts).context(WRITING)?;
                for difference in &outcome.differences {
                    console.complain(difference);
                }
                for broken in outcome.broken {
                    if !keep_going {
                        sink.flush().context(WRITING)?;
                        bail!(broken);
                    }
                    console.complain(&broken);
                }
                tally.add(outcome.tally);
                console.advance(position, tally.cases);
            }
        }
    }
}
