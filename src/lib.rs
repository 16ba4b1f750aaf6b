//! Ed25519 verification for Solana, eight signatures at a time, one to a SIMD lane.
//!
//! A [`Verifier`] takes [`Item`]s, each a public key, a signature and a message, and gives each its
//! own verdict by the rule of a [`Profile`]: by default that of ed25519-dalek 2.2.0 `verify_strict`,
//! bit for bit. It is deterministic, there is no random aggregate, and no verdict depends on the
//! other items of a call.
//!
//! How lanes are computed is the [`Backend`]'s choice, made at run time from what the CPU has; a
//! backend passes a known-answer test in every lane before its first use.
//!
//! # Reading order
//!
//! The files follow the way of the data:
//!
//! 1. `verifier`: items in, verdicts out; `backend`: which path they take
//! 2. `profile`: the rules on bytes: S < L, small order, canonical encodings
//! 3. `sha512`: k = SHA-512(R ‖ A ‖ M), four messages at once; `scalar`: modulo L
//! 4. `verify`: which way each signature takes, and signatures into lanes; `half_size`: half-size
//!    scalars for k; `digits`: into digits
//! 5. `edwards`: points decoded, and the curve's formulas
//! 6. `straus`: \[S\]B − \[k\]A, or an odd multiple of \[S\]B − \[k\]A − R, in every lane; `solo`:
//!    for one signature in four lanes
//! 7. `verify` again: the former compared with R, the latter with O, exactly or up to small order
//!
//! Below them all lies `field`, arithmetic modulo 2^255 − 19 over lanes, in two representations.
#![cfg_attr(not(any(feature = "std", test)), no_std)]
// Elsewhere the representation in lanes has no CPU instance, and the portable backend alone is
// left.
#![cfg_attr(not(target_arch = "x86_64"), allow(dead_code, unused_imports))]

extern crate alloc;

#[allow(unsafe_code)]
mod backend;
mod basepoint;
#[cfg(test)]
mod challenges;
mod digits;
mod edwards;
mod field;
#[cfg(fuzzing)]
#[doc(hidden)]
pub mod fuzzing;
mod half_size;
mod profile;
mod scalar;
mod selftest;
mod sha512;
mod solo;
mod straus;
mod verifier;
mod verify;

pub use backend::{Backend, BackendError, UnknownBackend};
pub use profile::{Profile, UnknownProfile};
pub use selftest::{PathTest, SelfTest};
pub use verifier::{Item, LengthMismatch, Stats, Verifier};
