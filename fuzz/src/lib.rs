//! What the fuzz targets share: the grammars that turn the fuzzer's bytes into signatures and
//! packets, so that a mutation of a byte is a meaningful change of one of them.

use std::cell::Cell;

use octosig::{Backend, Verifier};

pub mod challenges;
mod input;
pub mod packets;
pub mod signatures;

pub use input::{Input, PATTERN, RAW};

/// Two verifiers for each backend that this CPU can run: with half-size scalars, and without.
#[must_use]
pub fn verifiers() -> Vec<Verifier> {
    let available = Backend::ALL.iter().filter(|backend| backend.is_available());
    let ways = available.flat_map(|backend| [true, false].map(|half_size| (*backend, half_size)));
    ways.map(|(backend, half_size)| {
        let mut verifier = Verifier::with_backend(backend).expect("passes its test");
        verifier.set_half_size_scalars(half_size);
        verifier
    })
    .collect()
}

/// Adds `results` to those compared with another implementation's. The process prints their number
/// when it ends.
pub fn count_compared(results: usize) {
    /// Dropped at the end of the main thread, which runs the target.
    struct Compared(Cell<usize>);

    impl Drop for Compared {
        fn drop(&mut self) {
            eprintln!("stat::results_compared: {}", self.0.get());
        }
    }

    thread_local! {
        static COMPARED: Compared = const { Compared(Cell::new(0)) };
    }
    COMPARED.with(|compared| compared.0.set(compared.0.get() + results));
}
