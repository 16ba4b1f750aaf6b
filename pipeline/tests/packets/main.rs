//! Every test compares the whole `Meta` of every packet with what solana-perf 4.2.2 leaves there,
//! in the same process; most state the expected flags as well.

mod agave;
mod blocks;
mod files;
mod fuzz;
mod harness;
mod multisig;
mod sizes;
mod transactions;
mod vectors;
