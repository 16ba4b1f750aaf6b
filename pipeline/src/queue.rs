//! What waits for workers: submissions by stream, claimed in parts.
//!
//! A worker takes what is there, from several submissions and streams at once, so that lanes fill when
//! there is much to do; and sleeps when there is nothing. There are no timers.
//!
//! This file knows neither packets nor threads, so that a model checker can run it.

use std::{
    collections::VecDeque,
    mem,
    num::NonZeroUsize,
    ops::Range,
    sync::{Arc, PoisonError},
};

use crate::sync::{Condvar, Mutex, MutexGuard, lock};

/// Items claimed at once at most: a bound on how long a worker is deaf to other streams.
pub(crate) const MAX_CLAIM: usize = 256;
/// Items that a stream gets in a claim before others that wait have had their turn.
const TURN: usize = 64;
/// A claim is whole groups.
pub(crate) const LANES: usize = 8;

/// The queue of a pipeline.
pub(crate) struct Queue<W> {
    workers: usize,
    state: Mutex<State<W>>,
    arrived: Condvar,
}

struct State<W> {
    /// The streams that have something waiting, in the order of their turns.
    lines: VecDeque<Line<W>>,
    /// Items that wait in all lines.
    items: usize,
    /// Threads that wait for items, and those of them that have been told to look.
    sleepers: usize,
    woken: usize,
    closed: bool,
}

struct Line<W> {
    stream: u64,
    waiting: VecDeque<Part<W>>,
}

/// Some of the items of a submission.
///
/// Whoever is done with a part gives it back to [`Part::leave`], and the last of them gets the
/// submission. That is also why the items of a submission need no counter and no lock.
pub(crate) struct Part<W> {
    pub(crate) work: Arc<W>,
    pub(crate) range: Range<usize>,
}

impl<W> Part<W> {
    /// All of a submission of so many items.
    pub(crate) fn whole(work: W, items: NonZeroUsize) -> Self {
        Self { work: Arc::new(work), range: 0..items.get() }
    }

    /// The submission, if no other part of it is left anywhere.
    pub(crate) fn leave(self) -> Option<W> {
        Arc::into_inner(self.work)
    }
}

/// The right to add something to a queue, which is locked while it is held.
pub(crate) struct Entrance<'a, W> {
    state: MutexGuard<'a, State<W>>,
    arrived: &'a Condvar,
}

impl<W> Entrance<'_, W> {
    /// Whether so many items would wait alone, and fill no group: then waking a worker may take longer
    /// than doing it here.
    pub(crate) fn is_better_done_here(&self, items: NonZeroUsize) -> bool {
        self.state.items == 0 && items.get() <= LANES
    }

    /// Adds a submission of so many items to a stream.
    pub(crate) fn push(mut self, stream: u64, work: W, items: NonZeroUsize) {
        let state = &mut *self.state;
        let part = Part::whole(work, items);
        match state.lines.iter_mut().find(|line| line.stream == stream) {
            Some(line) => line.waiting.push_back(part),
            None => state.lines.push_back(Line { stream, waiting: VecDeque::from([part]) }),
        }
        state.items = state.items.saturating_add(items.get());
        let wake = state.wake_one();
        drop(self.state);
        if wake {
            self.arrived.notify_one();
        }
    }
}

impl<W> Queue<W> {
    /// For so many workers.
    pub(crate) const fn new(workers: usize) -> Self {
        let state =
            State { lines: VecDeque::new(), items: 0, sleepers: 0, woken: 0, closed: false };
        Self { workers, state: Mutex::new(state), arrived: Condvar::new() }
    }

    /// The right to add something; `None` if the queue is closed.
    pub(crate) fn enter(&self) -> Option<Entrance<'_, W>> {
        let state = lock(&self.state);
        (!state.closed).then_some(Entrance { state, arrived: &self.arrived })
    }

    /// Waits for items and claims a worker's share of them into `parts`; false if the queue is closed and
    /// empty.
    pub(crate) fn claim(&self, parts: &mut Vec<Part<W>>) -> bool {
        let mut state = lock(&self.state);
        while state.items == 0 {
            if state.closed {
                return false;
            }
            state.sleepers = state.sleepers.saturating_add(1);
            state = self.arrived.wait(state).unwrap_or_else(PoisonError::into_inner);
            state.sleepers = state.sleepers.saturating_sub(1);
            state.woken = state.woken.saturating_sub(1);
        }
        let share = items_per_claim(state.items, self.workers);
        state.take(share, parts);
        // Whoever comes wakes the next, as long as there is something to do.
        let wake = state.wake_one();
        drop(state);
        if wake {
            self.arrived.notify_one();
        }
        true
    }

    /// Takes nothing more in. What waits is still claimed.
    pub(crate) fn close(&self) {
        let mut state = lock(&self.state);
        state.closed = true;
        state.woken = state.sleepers;
        drop(state);
        self.arrived.notify_all();
    }
}

impl<W> State<W> {
    /// Whether a thread has to be woken because there is something to do; it counts as woken then.
    const fn wake_one(&mut self) -> bool {
        let wake = self.items > 0 && self.sleepers > self.woken;
        if wake {
            self.woken = self.woken.saturating_add(1);
        }
        wake
    }

    /// Moves up to `share` items to `parts`, a turn for each stream.
    fn take(&mut self, mut share: usize, parts: &mut Vec<Part<W>>) {
        while share > 0
            && let Some(mut line) = self.lines.pop_front()
        {
            let mut turn = if self.lines.is_empty() { share } else { share.min(TURN) };
            while turn > 0
                && let Some(taken) = line.take(turn)
            {
                let items = taken.range.len();
                turn = turn.saturating_sub(items);
                share = share.saturating_sub(items);
                self.items = self.items.saturating_sub(items);
                parts.push(taken);
            }
            if !line.waiting.is_empty() {
                self.lines.push_back(line);
            }
        }
    }
}

impl<W> Line<W> {
    /// Up to `most` items of the oldest submission, the next ones.
    fn take(&mut self, most: usize) -> Option<Part<W>> {
        let oldest = self.waiting.front_mut()?;
        let middle = oldest.range.start.saturating_add(most);
        if middle >= oldest.range.end {
            return self.waiting.pop_front();
        }
        let range = mem::replace(&mut oldest.range.start, middle)..middle;
        Some(Part { work: Arc::clone(&oldest.work), range })
    }
}

/// How many of `items` one of so many workers claims: whole groups.
///
/// Few items become one claim for each worker, for a larger claim costs less per signature; many become
/// up to four for each, so that a worker with cheap packets can take over another's.
pub(crate) fn items_per_claim(items: usize, workers: usize) -> usize {
    items_per_job(items, workers).min(MAX_CLAIM)
}

/// [`items_per_claim`] without a limit.
pub(crate) fn items_per_job(items: usize, workers: usize) -> usize {
    const ENOUGH: usize = 64;
    let one_each = items.div_ceil(workers.max(1));
    let four_each = items.div_ceil(workers.max(1).saturating_mul(4));
    four_each.max(one_each.min(ENOUGH)).max(1).next_multiple_of(LANES)
}
