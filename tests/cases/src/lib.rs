//! Signatures with the verdicts that they must get: published corpora, the edges of every rule, and
//! a generator of adversarial ones. Shared by the tests, the fuzz targets and the example
//! `conformance`.

pub mod adversary;
mod case;
pub mod corpora;
pub mod edges;

pub use case::{Case, signing_key};
pub use octosig_oracle::Verdicts;
