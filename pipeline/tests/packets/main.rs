//! Every test compares the whole `Meta` of every packet with what solana-perf 4.2.2 leaves there,
//! or under another profile the reference, in the same process; most state the expected flags as
//! well.

mod agave;
mod blocks;
mod crafted;
mod files;
mod fuzz;
mod harness;
mod multisig;
mod pipeline;
mod profiles;
mod reference;
mod sizes;
mod transactions;
mod vectors;
