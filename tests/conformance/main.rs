//! Every verdict of every backend equals ed25519-dalek 2.2.0 `verify_strict`: corpora, lanes,
//! counts, neighbours, lengths, edges of the encodings, and the behaviour of the public API.

mod api;
mod backend;
mod case;
mod corpora;
mod edges;
mod flips;
#[cfg(target_arch = "x86_64")]
mod float_mode;
mod lanes;
mod lengths;
