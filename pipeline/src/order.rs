//! The order of a stream: submissions are numbered as they come in, and delivered in that order,
//! whichever is finished first. This is also where a stream is full.

use std::{collections::VecDeque, time::Instant};

use crate::sync::{Condvar, Mutex, MutexGuard, lock};

/// What a finished submission becomes: something that reaches its owner.
pub(crate) trait Deliver {
    fn deliver(self);
}

/// A stream's submissions that have not been delivered, `depth` at most.
pub(crate) struct Order<D> {
    depth: usize,
    state: Mutex<State<D>>,
    delivered: Condvar,
}

struct State<D> {
    /// The number of the oldest submission that has not been delivered.
    first: u64,
    /// From that one on; `None` while it is not finished.
    slots: VecDeque<Option<D>>,
    /// Threads that wait until something is delivered.
    watchers: usize,
}

/// How long to wait for room.
#[derive(Clone, Copy)]
pub(crate) enum Patience {
    None,
    Until(Instant),
    Forever,
}

/// The right to the next number. Nothing is delivered, and no other number given, while it is held.
pub(crate) struct Place<'a, D> {
    state: MutexGuard<'a, State<D>>,
}

impl<D> Place<'_, D> {
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
    pub(crate) const fn new(depth: usize) -> Self {
        let state = State { first: 0, slots: VecDeque::new(), watchers: 0 };
        Self { depth, state: Mutex::new(state), delivered: Condvar::new() }
    }

    /// A place, as soon as there is room; `None` if there is none in time.
    pub(crate) fn place(&self, patience: Patience) -> Option<Place<'_, D>> {
        let mut state = lock(&self.state);
        while state.slots.len() >= self.depth {
            state = self.watch(state, patience)?;
        }
        Some(Place { state })
    }

    /// Hands over what number `number` has become. It is delivered when all before it are.
    pub(crate) fn finish(&self, number: u64, finished: D) {
        let mut state = lock(&self.state);
        let slot = number.checked_sub(state.first).and_then(|slot| usize::try_from(slot).ok());
        if let Some(slot) = slot.and_then(|slot| state.slots.get_mut(slot)) {
            *slot = Some(finished);
        }
        while let Some(Some(_)) = state.slots.front()
            && let Some(Some(finished)) = state.slots.pop_front()
        {
            // While the lock is held: else another thread could deliver the next one before this.
            finished.deliver();
            state.first = state.first.saturating_add(1);
        }
        let watched = state.watchers > 0;
        drop(state);
        if watched {
            self.delivered.notify_all();
        }
    }

    /// Waits until everything that was submitted before this call has been delivered.
    pub(crate) fn drain(&self) {
        let mut state = lock(&self.state);
        let end = state.end();
        while state.first < end {
            match self.watch(state, Patience::Forever) {
                Some(again) => state = again,
                None => return,
            }
        }
    }

    /// Waits for a delivery; `None` when patience is over.
    fn watch<'a>(
        &self,
        mut state: MutexGuard<'a, State<D>>,
        patience: Patience,
    ) -> Option<MutexGuard<'a, State<D>>> {
        let timeout = match patience {
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
        state.watchers = state.watchers.saturating_add(1);
        let mut state = match timeout {
            None => self.delivered.wait(state).unwrap_or_else(|poisoned| poisoned.into_inner()),
            Some(left) => {
                self.delivered
                    .wait_timeout(state, left)
                    .unwrap_or_else(|poisoned| poisoned.into_inner())
                    .0
            }
        };
        state.watchers = state.watchers.saturating_sub(1);
        Some(state)
    }
}
