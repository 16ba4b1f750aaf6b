//! The order of a stream: submissions are numbered as they come in, and delivered in that order,
//! whichever is finished first. This is also where a stream is full.

use std::{collections::VecDeque, sync::PoisonError, time::Instant};

use crate::sync::{Condvar, Mutex, MutexGuard, lock};

/// What a finished submission becomes: something that reaches its owner.
pub(crate) trait Deliver {
    fn deliver(self);
}

/// A stream's submissions that have not been delivered, `depth` at most.
pub(crate) struct Order<D> {
    depth: usize,
    state: Mutex<State<D>>,
    /// For threads that wait for room, and for those that wait for a delivery.
    room: Condvar,
    delivered: Condvar,
}

struct State<D> {
    /// The number of the oldest submission that has not been delivered.
    first: u64,
    /// From that one on; `None` while it is not finished.
    slots: VecDeque<Option<D>>,
    /// Threads that wait for room.
    waiting: usize,
    /// For each thread that waits for deliveries, the number of the first submission that it does not wait for.
    ends: Vec<u64>,
}

/// How long to wait for room.
#[derive(Clone, Copy)]
pub(crate) enum Patience {
    None,
    Until(Instant),
    Forever,
}

/// The right to the next number. Nothing is delivered, and no other number given, while it is held.
pub(crate) struct Turn<'a, D> {
    state: MutexGuard<'a, State<D>>,
}

impl<D> Turn<'_, D> {
    /// The number of the submission to come.
    pub(crate) fn number(&self) -> u64 {
        self.state.end()
    }

    /// Takes the number. Whoever does owes [`Order::finish`].
    pub(crate) fn take(mut self) {
        self.state.slots.push_back(None);
    }
}

impl<D> State<D> {
    fn end(&self) -> u64 {
        self.first.saturating_add(self.slots.len() as u64)
    }
}

impl<D: Deliver> Order<D> {
    pub(crate) fn new(depth: usize) -> Self {
        let state = State { first: 0, slots: VecDeque::new(), waiting: 0, ends: Vec::new() };
        let (room, delivered) = (Condvar::new(), Condvar::new());
        Self { depth, state: Mutex::new(state), room, delivered }
    }

    /// The next turn, as soon as there is room; `None` if there is none in time.
    pub(crate) fn turn(&self, patience: Patience) -> Option<Turn<'_, D>> {
        let mut state = lock(&self.state);
        while state.slots.len() >= self.depth {
            let left = match patience {
                Patience::None => return None,
                Patience::Until(deadline) => {
                    let left = deadline.saturating_duration_since(Instant::now());
                    if left.is_zero() {
                        return None;
                    }
                    Some(left)
                }
                Patience::Forever => None,
            };
            state.waiting = state.waiting.saturating_add(1);
            state = match left {
                None => self.room.wait(state).unwrap_or_else(PoisonError::into_inner),
                Some(left) => {
                    let waited = self.room.wait_timeout(state, left);
                    waited.unwrap_or_else(PoisonError::into_inner).0
                }
            };
            state.waiting = state.waiting.saturating_sub(1);
        }
        Some(Turn { state })
    }

    /// Hands over what each of these numbers has become. A number is delivered when all before it are.
    pub(crate) fn finish(&self, finished: impl Iterator<Item = (u64, D)>) {
        let mut state = lock(&self.state);
        for (number, finished) in finished {
            let slot = number.checked_sub(state.first).and_then(|slot| usize::try_from(slot).ok());
            if let Some(slot) = slot.and_then(|slot| state.slots.get_mut(slot)) {
                *slot = Some(finished);
            }
        }
        while let Some(Some(_)) = state.slots.front()
            && let Some(Some(finished)) = state.slots.pop_front()
        {
            // While the lock is held: else another thread could deliver the next one before this.
            finished.deliver();
            state.first = state.first.saturating_add(1);
        }
        let has_room = state.waiting > 0 && state.slots.len() < self.depth;
        let first = state.first;
        let is_awaited = state.ends.iter().any(|end| *end <= first);
        drop(state);
        if has_room {
            self.room.notify_all();
        }
        if is_awaited {
            self.delivered.notify_all();
        }
    }

    /// Waits until everything that was submitted before this call has been delivered.
    pub(crate) fn drain(&self) {
        let mut state = lock(&self.state);
        let end = state.end();
        if state.first >= end {
            return;
        }
        state.ends.push(end);
        while state.first < end {
            state = self.delivered.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        if let Some(own) = state.ends.iter().position(|other| *other == end) {
            state.ends.swap_remove(own);
        }
    }
}
