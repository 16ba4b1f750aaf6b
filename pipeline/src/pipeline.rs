//! The pipeline: threads that verify what is submitted to them, by stream, for a ticket.

use std::{
    fmt, io, iter,
    num::NonZeroUsize,
    sync::{
        Arc, Mutex, Weak,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use crossbeam_channel::bounded;
use log::{info, warn};
use octosig::{Backend, BackendError, Profile, Verifier};

use crate::{
    cpus::{self, CpuError, Machine},
    order::{Order, Patience},
    queue::{Part, Queue},
    rules::Rules,
    shadow::{Budget, Oracle, Shadow},
    stats::{Counters, Stats},
    submission::{Delivery, Payload, Submission, unknown_outcomes},
    sync::lock,
    ticket::Ticket,
    worker::{MakeEngine, Worker},
};

/// What the handles and threads of a pipeline share.
pub(crate) struct Shared {
    pub(crate) queue: Queue<Submission>,
    pub(crate) make_engine: Box<MakeEngine>,
    pub(crate) oracle: Oracle,
    pub(crate) shadow: Option<Shadow>,
    pub(crate) budget: Budget,
    /// The oracle has taken over.
    pub(crate) switched: AtomicBool,
    /// A refused pin was logged.
    warned: AtomicBool,
    rules: Rules,
    queue_depth: usize,
    streams: Mutex<Vec<Weak<Order<Delivery>>>>,
    next_stream: AtomicU64,
    /// Of each worker, and then of all submitters that verify what they submit.
    counters: Vec<Arc<Counters>>,
    /// For those, while nobody uses them.
    spare_workers: Mutex<Vec<Worker>>,
}

impl Shared {
    /// Finishes a submission that has nothing to be verified.
    fn finish_empty(&self, submission: Submission) {
        let (order, number) = (Arc::clone(&submission.order), submission.number);
        let mut stats = Stats::default();
        let delivery = submission.finish(&mut stats);
        if let Some(counters) = self.counters.last() {
            counters.add(&stats, Duration::ZERO);
        }
        order.finish(iter::once((number, delivery)));
    }

    /// Verifies a submission on the calling thread.
    fn work_here(&self, part: Part<Submission>) {
        let spare = lock(&self.spare_workers).pop();
        let Some(mut worker) = spare.or_else(|| {
            self.counters.last().map(|counters| Worker::new(self, Arc::clone(counters)))
        }) else {
            return;
        };
        worker.parts.push(part);
        worker.work(self, Stats { claims_by_submitters: 1, ..Stats::default() });
        let mut spares = lock(&self.spare_workers);
        if spares.len() < self.counters.len() {
            spares.push(worker);
        }
    }
}

/// A pool of threads with verifiers, which takes batches and gives them back with their flags set.
///
/// Every packet gets the flags that [`verify_batches`](crate::verify_batches) gives it, whatever it was
/// submitted with. Lanes are filled across packets, batches, submissions and streams: a worker takes what
/// is queued, and waits for nothing. docs/pipeline.md shows the way of a submission.
///
/// Dropping it is a [`Self::shutdown`]: what was accepted is verified, and every ticket becomes ready.
///
/// ```
/// use octosig_pipeline::{Pipeline, solana_perf::packet::PacketBatch};
///
/// let pipeline = Pipeline::builder().queue_depth(64).build()?;
/// let stream = pipeline.stream();
/// # let batches: Vec<PacketBatch> = Vec::new();
/// let ticket = stream.submit(batches)?; // returns at once; a full queue gives the batches back
/// let verified = ticket.wait()?; // the same batches, flags set
/// println!("{} of {} packets are kept", verified.valid, verified.packets);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Pipeline {
    shared: Arc<Shared>,
    threads: Vec<JoinHandle<()>>,
    backend: Backend,
    cpus: Vec<usize>,
}

impl Pipeline {
    /// How a pipeline is made.
    pub fn builder() -> Builder {
        Builder::default()
    }

    /// A new stream, under the rules of the builder. Streams do not wait for each other.
    pub fn stream(&self) -> Stream {
        let order = Arc::new(Order::new(self.shared.queue_depth));
        let mut streams = lock(&self.shared.streams);
        streams.retain(|stream| stream.strong_count() > 0);
        streams.push(Arc::downgrade(&order));
        // Relaxed: only has to be another number each time.
        let id = self.shared.next_stream.fetch_add(1, Ordering::Relaxed);
        Stream { shared: Arc::clone(&self.shared), order, id, rules: self.shared.rules }
    }

    /// How lanes are computed.
    pub const fn backend(&self) -> Backend {
        self.backend
    }

    /// The number of threads.
    pub const fn workers(&self) -> usize {
        self.threads.len()
    }

    /// The CPU of each worker; empty if they are not pinned. Where the system refused, the worker runs
    /// unpinned, and a warning was logged.
    pub fn cpus(&self) -> &[usize] {
        &self.cpus
    }

    /// Whether samples have switched the pipeline to the oracle ([`Shadow`]).
    pub fn is_switched_to_oracle(&self) -> bool {
        // Relaxed: the flag alone is communicated.
        self.shared.switched.load(Ordering::Relaxed)
    }

    /// What the pipeline has done so far. Locks one counter of each thread after the other for some
    /// nanoseconds; each thread's share is of one moment. What a ticket's submission came to is in it as
    /// soon as the ticket is ready.
    pub fn stats(&self) -> Stats {
        Counters::sum(self.shared.counters.iter().map(|counters| &**counters))
    }

    /// Waits until every ticket is ready whose submission was accepted before this call.
    pub fn drain(&self) {
        let streams: Vec<_> = lock(&self.shared.streams).iter().filter_map(Weak::upgrade).collect();
        for stream in streams {
            stream.drain();
        }
    }

    /// Accepts nothing more, verifies what was accepted, and ends all threads.
    pub fn shutdown(mut self) -> Stats {
        self.end();
        self.stats()
    }

    fn end(&mut self) {
        self.shared.queue.close();
        for thread in self.threads.drain(..) {
            // A worker catches panics; one that got through has been reported by the panic hook.
            let _ = thread.join();
        }
    }
}

impl Drop for Pipeline {
    fn drop(&mut self) {
        self.end();
    }
}

impl fmt::Debug for Pipeline {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pipeline")
            .field("backend", &self.backend)
            .field("workers", &self.threads.len())
            .field("cpus", &self.cpus)
            .field("stats", &self.stats())
            .finish_non_exhaustive()
    }
}

/// Submissions whose tickets become ready in the order in which they were made. Clones are the same
/// stream.
#[derive(Clone)]
pub struct Stream {
    shared: Arc<Shared>,
    order: Arc<Order<Delivery>>,
    id: u64,
    rules: Rules,
}

impl Stream {
    /// The same stream under other rules, for the submissions that are made with what is returned.
    #[must_use]
    pub fn with_rules(&self, rules: Rules) -> Self {
        Self { rules, ..self.clone() }
    }

    /// The rules of what is submitted.
    pub const fn rules(&self) -> Rules {
        self.rules
    }

    /// Submits batches, or a flat batch, and returns at once. Of a flat batch's rules only the profile
    /// matters.
    ///
    /// # Errors
    ///
    /// Gives back what was submitted if the stream is full or the pipeline was shut down.
    pub fn submit<P: Payload>(&self, payload: P) -> Result<Ticket<P::Verified>, SubmitError<P>> {
        self.start(payload, Patience::None, Place::Queue)
    }

    /// As [`Self::submit`], but if nothing else is queued, and there are eight packets or signatures at most, they
    /// are verified on the calling thread, before this returns. Waking a worker, and being woken by it,
    /// takes longer than that.
    ///
    /// For a thread that would wait for the ticket next, and whose CPU may be used.
    ///
    /// # Errors
    ///
    /// As [`Self::submit`].
    pub fn submit_here<P: Payload>(
        &self,
        payload: P,
    ) -> Result<Ticket<P::Verified>, SubmitError<P>> {
        self.start(payload, Patience::None, Place::Here)
    }

    /// Submits as soon as there is room, within `timeout`.
    ///
    /// # Errors
    ///
    /// As [`Self::submit`].
    pub fn submit_timeout<P: Payload>(
        &self,
        payload: P,
        timeout: Duration,
    ) -> Result<Ticket<P::Verified>, SubmitError<P>> {
        // A moment that cannot be told never comes.
        let deadline = Instant::now().checked_add(timeout);
        let patience = deadline.map_or(Patience::Forever, Patience::Until);
        self.start(payload, patience, Place::Queue)
    }

    /// Waits until every ticket is ready whose submission to this stream was accepted before this call.
    pub fn drain(&self) {
        self.order.drain();
    }

    fn start<P: Payload>(
        &self,
        payload: P,
        patience: Patience,
        place: Place,
    ) -> Result<Ticket<P::Verified>, SubmitError<P>> {
        let (live, items) = payload.live();
        let outcomes = unknown_outcomes(items);
        let (reply, receiver) = bounded(1);
        let Some(turn) = self.order.turn(patience) else {
            return Err(SubmitError::Full(payload));
        };
        let Some(entrance) = self.shared.queue.enter() else {
            return Err(SubmitError::ShutDown(payload));
        };
        let number = turn.number();
        let submission = Submission {
            number,
            order: Arc::clone(&self.order),
            rules: self.rules,
            submitted: Instant::now(),
            load: payload.load(live, reply),
            outcomes,
        };
        match NonZeroUsize::new(items) {
            Some(items) if place == Place::Here && entrance.is_better_done_here(items) => {
                drop(entrance);
                turn.take();
                self.shared.work_here(Part::whole(submission, items));
            }
            Some(items) => {
                entrance.push(self.id, submission, items);
                turn.take();
            }
            None => {
                drop(entrance);
                turn.take();
                self.shared.finish_empty(submission);
            }
        }
        Ok(Ticket::new(receiver, number))
    }
}

/// Where a small submission is verified that would wait alone.
#[derive(Clone, Copy, PartialEq)]
enum Place {
    Queue,
    Here,
}

impl fmt::Debug for Stream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Stream")
            .field("id", &self.id)
            .field("rules", &self.rules)
            .finish_non_exhaustive()
    }
}

/// Why a submission was not accepted; it is given back.
#[non_exhaustive]
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum SubmitError<P> {
    /// As many submissions of the stream as the queue is deep are not ready yet.
    Full(P),
    /// The pipeline has ended.
    ShutDown(P),
}

impl<P> SubmitError<P> {
    /// What was submitted.
    pub fn into_inner(self) -> P {
        match self {
            Self::Full(payload) | Self::ShutDown(payload) => payload,
        }
    }
}

impl<P> fmt::Display for SubmitError<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Full(_) => "the stream is full",
            Self::ShutDown(_) => "the pipeline was shut down",
        })
    }
}

impl<P> fmt::Debug for SubmitError<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Full(_) => "Full(..)",
            Self::ShutDown(_) => "ShutDown(..)",
        })
    }
}

impl<P> std::error::Error for SubmitError<P> {}

/// How threads are started; tests let it fail.
type Spawn = fn(thread::Builder, Box<dyn FnOnce() + Send>) -> io::Result<JoinHandle<()>>;

/// Where workers run.
#[derive(Clone, Debug)]
enum Placement {
    /// On the CPUs that the process may use.
    Allowed,
    List(Vec<usize>),
    Unpinned,
}

/// What a [`Pipeline`] is made of. Every setting has a default.
#[must_use]
pub struct Builder {
    rules: Rules,
    backend: Option<Backend>,
    placement: Placement,
    workers: Option<usize>,
    queue_depth: usize,
    thread_name_prefix: String,
    stack_size: Option<usize>,
    shadow: Option<Shadow>,
    oracle: Oracle,
    make_engine: Option<Box<MakeEngine>>,
    spawn: Spawn,
}

impl Default for Builder {
    fn default() -> Self {
        Self {
            rules: Rules::default(),
            backend: None,
            placement: Placement::Allowed,
            workers: None,
            queue_depth: 1_024,
            thread_name_prefix: "octosig".into(),
            stack_size: None,
            shadow: None,
            oracle: octosig_oracle::verdict,
            make_engine: None,
            spawn: thread::Builder::spawn,
        }
    }
}

/// The longest name of a thread that Linux keeps, in bytes.
const MAX_THREAD_NAME: usize = 15;

impl Builder {
    /// The profile of streams that do not name another. Default: [`Profile::DalekStrict`].
    pub const fn profile(mut self, profile: Profile) -> Self {
        self.rules.profile = profile;
        self
    }

    /// The rules of streams that do not name others. Default: [`Rules::default`].
    pub const fn rules(mut self, rules: Rules) -> Self {
        self.rules = rules;
        self
    }

    /// How lanes are computed. Default: [`Backend::best`].
    pub const fn backend(mut self, backend: Backend) -> Self {
        self.backend = Some(backend);
        self
    }

    /// Pins one worker to each of these CPUs. Default: the CPUs that the process may use, the first thread
    /// of each core before its siblings, as many as the quota of its control group allows.
    pub fn cpus(mut self, cpus: impl IntoIterator<Item = usize>) -> Self {
        self.placement = Placement::List(cpus.into_iter().collect());
        self
    }

    /// Pins no worker.
    pub fn unpinned(mut self) -> Self {
        self.placement = Placement::Unpinned;
        self
    }

    /// How many workers, on the first of the CPUs. Default: one for each CPU.
    pub const fn workers(mut self, workers: usize) -> Self {
        self.workers = Some(workers);
        self
    }

    /// How many submissions of a stream may be unready at the same time, at least 1. Default: 1,024. This bounds
    /// the memory that a stream holds: so many times what is submitted at once.
    pub const fn queue_depth(mut self, submissions: usize) -> Self {
        self.queue_depth = submissions;
        self
    }

    /// The beginning of the names of threads, before a number of two digits or more; names have 15 bytes at most.
    /// Default: `octosig`.
    pub fn thread_name_prefix(mut self, prefix: impl Into<String>) -> Self {
        self.thread_name_prefix = prefix.into();
        self
    }

    /// The stack of a worker in bytes, of which it needs less than 256 KiB. Default: that of
    /// [`std::thread::Builder`].
    pub const fn stack_size(mut self, bytes: usize) -> Self {
        self.stack_size = Some(bytes);
        self
    }

    /// Verifies samples again by the oracle. Default: none.
    pub const fn shadow(mut self, shadow: Shadow) -> Self {
        self.shadow = Some(shadow);
        self
    }

    /// Starts the threads.
    ///
    /// # Errors
    ///
    /// If a setting makes no sense, if the backend cannot be used, or if the system starts no more
    /// threads. No thread is left behind.
    pub fn build(self) -> Result<Pipeline, BuildError> {
        if self.queue_depth == 0 {
            return Err(BuildError::QueueDepth);
        }
        let (cpus, workers) = place(&self.placement, self.workers, Machine::this())?;
        let name = |number: usize| format!("{}{number:02}", self.thread_name_prefix);
        let longest = name(workers.saturating_sub(1));
        if longest.len() > MAX_THREAD_NAME || longest.contains('\0') {
            return Err(BuildError::ThreadName(longest));
        }
        let backend = self.backend.unwrap_or_else(Backend::best);
        // Each worker makes its own, after it was pinned, so that its memory is near. Here, errors are seen.
        Verifier::with_backend(backend).map_err(BuildError::Backend)?;
        let make_engine = self
            .make_engine
            .unwrap_or_else(|| Box::new(move || Ok(Box::new(Verifier::with_backend(backend)?))));
        let counters = iter::repeat_with(Arc::<Counters>::default);
        let shared = Arc::new(Shared {
            queue: Queue::new(workers),
            make_engine,
            oracle: self.oracle,
            shadow: self.shadow,
            budget: Budget::default(),
            switched: AtomicBool::new(false),
            warned: AtomicBool::new(false),
            rules: self.rules,
            queue_depth: self.queue_depth,
            streams: Mutex::default(),
            next_stream: AtomicU64::new(0),
            counters: counters.take(workers.saturating_add(1)).collect(),
            spare_workers: Mutex::default(),
        });
        // From here on, dropping it ends the threads that were started.
        let mut pipeline = Pipeline { shared, threads: Vec::new(), backend, cpus };
        for (number, counters) in pipeline.shared.counters.iter().take(workers).enumerate() {
            let mut thread = thread::Builder::new().name(name(number));
            if let Some(bytes) = self.stack_size {
                thread = thread.stack_size(bytes);
            }
            let (shared, counters) = (Arc::clone(&pipeline.shared), Arc::clone(counters));
            let cpu = pipeline.cpus.get(number).copied();
            let run = move || run(&shared, counters, cpu);
            let thread = (self.spawn)(thread, Box::new(run)).map_err(BuildError::Spawn)?;
            pipeline.threads.push(thread);
        }
        info!(
            "octosig: backend={backend} workers={workers} cpus={}",
            if pipeline.cpus.is_empty() { "any".into() } else { cpus::format(&pipeline.cpus) }
        );
        Ok(pipeline)
    }
}

impl fmt::Debug for Builder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Builder")
            .field("rules", &self.rules)
            .field("backend", &self.backend)
            .field("placement", &self.placement)
            .field("workers", &self.workers)
            .field("queue_depth", &self.queue_depth)
            .field("thread_name_prefix", &self.thread_name_prefix)
            .field("stack_size", &self.stack_size)
            .field("shadow", &self.shadow)
            .finish_non_exhaustive()
    }
}

/// The CPUs to pin to, none for unpinned workers, and the number of workers.
fn place(
    placement: &Placement,
    workers: Option<usize>,
    machine: &Machine,
) -> Result<(Vec<usize>, usize), BuildError> {
    let default = machine.default_workers();
    let (mut cpus, all) = match placement {
        Placement::Allowed => (machine.order(), default),
        Placement::List(list) => {
            let cpus = machine.select(list).map_err(BuildError::Cpus)?;
            let all = cpus.len();
            (cpus, all)
        }
        Placement::Unpinned => (Vec::new(), default),
    };
    let workers = workers.unwrap_or(all);
    if workers == 0 {
        return Err(BuildError::NoWorkers);
    }
    // Where the system does not say which CPUs there are, none is pinned.
    if !cpus.is_empty() && workers > cpus.len() {
        return Err(BuildError::TooManyWorkers { workers, cpus: cpus.len() });
    }
    if workers > default {
        warn!("octosig: {workers} workers, but this process has {default} CPUs for its use");
    }
    cpus.truncate(workers);
    Ok((cpus, workers))
}

/// The life of a worker's thread.
fn run(shared: &Shared, counters: Arc<Counters>, cpu: Option<usize>) {
    if let Some(cpu) = cpu
        && !cpus::pin(cpu)
        && !shared.warned.swap(true, Ordering::Relaxed)
    {
        warn!("octosig: the system refuses to pin a thread to CPU {cpu}; it runs unpinned");
    }
    let mut worker = Worker::new(shared, counters);
    while shared.queue.claim(&mut worker.parts) {
        worker.work(shared, Stats::default());
    }
}

/// Why a pipeline was not built.
#[non_exhaustive]
#[derive(Debug)]
pub enum BuildError {
    /// A queue of depth 0 accepts nothing.
    QueueDepth,
    /// The CPUs cannot be used.
    Cpus(CpuError),
    /// Without a worker nothing is verified.
    NoWorkers,
    /// There is a CPU for each worker, but not so many.
    TooManyWorkers {
        /// The workers that were asked for.
        workers: usize,
        /// The CPUs.
        cpus: usize,
    },
    /// This name of a thread is longer than 15 bytes, or has a zero byte.
    ThreadName(String),
    /// The backend cannot be used.
    Backend(BackendError),
    /// The system started no thread.
    Spawn(io::Error),
}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::QueueDepth => f.write_str("the queue needs a depth of at least 1"),
            Self::Cpus(error) => error.fmt(f),
            Self::NoWorkers => f.write_str("the pipeline needs at least one worker"),
            Self::TooManyWorkers { workers, cpus } => {
                write!(f, "{workers} workers are to be pinned, but there are {cpus} CPUs")
            }
            Self::ThreadName(name) => write!(
                f,
                "{name:?} is no name for a thread: it may have {MAX_THREAD_NAME} bytes, none of them 0"
            ),
            Self::Backend(error) => error.fmt(f),
            Self::Spawn(error) => write!(f, "starting a worker's thread: {error}"),
        }
    }
}

impl std::error::Error for BuildError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Cpus(error) => Some(error),
            Self::Backend(error) => Some(error),
            Self::Spawn(error) => Some(error),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests;
