//! What the concurrent files take from the standard library. The model checker's test puts its own
//! in the place of this file.

use std::sync::PoisonError;
pub(crate) use std::sync::{Condvar, Mutex, MutexGuard};

/// Locks. Nothing that holds one of our locks panics, so none is ever poisoned; were one, what it
/// guards would still be whole.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
