//! Ed25519 verification with big integers: what octosig's arithmetic is compared with.
//!
//! It is written from RFC 8032 alone: the sections 5.1 to 5.1.7, and the Python of section 6. It
//! uses big integers and SHA-512, no curve crate, and shares nothing with octosig.
//!
//! - [`Point`], [`decode`], [`BASE`]: the curve (sections 5.1 to 5.1.4).
//! - [`challenge`], [`reduce`]: k (section 5.1.7).
//! - [`Facts`]: all that a rule can ask of a public key, a signature and k. A rule is then a line.
//!
//! The RFC states one rule, [`Facts::rfc8032`]. The rules in use differ from it in which encodings
//! and which points they take, and in whether the equation is multiplied by 8.
//!
//! [`Facts::with_challenge`] takes k as given. k is a hash, so a test that starts from a message
//! reaches neither k = 0 nor a valid signature with a chosen R and A; one that chooses k does: with
//! A = \[1/k\](\[S\]B − R), every S, R and k ≠ 0 fulfil the cofactored equation.
//!
//! **For tests only.** It is slow, and neither time nor memory access is independent of its inputs.

mod curve;
mod facts;

pub use curve::{BASE, D, Decoding, L, P, Point, decode};
pub use facts::{Encoded, Facts, challenge, reduce};
