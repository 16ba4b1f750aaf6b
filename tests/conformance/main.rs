//! Every verdict of every backend under every profile is the oracle's: corpora, lanes, counts,
//! neighbours, lengths, and the behaviour of the public API.

mod api;
mod backend;
mod corpora;
mod flips;
#[cfg(target_arch = "x86_64")]
mod float_mode;
mod harness;
mod lanes;
mod lengths;
