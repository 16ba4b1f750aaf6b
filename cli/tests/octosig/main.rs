//! Runs the program itself.

mod blocks;
mod corpora;
mod doctor;
mod failures;
mod harness;
mod lines;
mod options;
