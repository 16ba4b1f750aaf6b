//! Packet batches beside solana-perf, on one thread and on a pool.
//!
//! `cargo bench -p octosig-pipeline`. One binary holds both sides, so small differences are the
//! linker's; ratios to rely on come from separate binaries run in pairs.

#[path = "../tests/packets/files.rs"]
mod files;

use std::hint::black_box;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use octosig_pipeline::{
    ed25519_verify, ed25519_verify_batches, ed25519_verify_serial,
    solana_perf::{
        packet::{BytesPacket, Meta, PacketBatch},
        sigverify,
    },
};
use rayon::{ThreadPool, ThreadPoolBuilder};
use solana_sdk::{
    hash::Hash, pubkey::Pubkey, signature::Keypair, transaction::VersionedTransaction,
};

fn packet(data: Vec<u8>) -> BytesPacket {
    let mut meta = Meta::default();
    meta.size = data.len();
    BytesPacket::new(data.into(), meta)
}

/// A transfer from a payer of its own.
fn transfer() -> BytesPacket {
    let transaction = solana_system_transaction::transfer(
        &Keypair::new(),
        &Pubkey::new_unique(),
        1,
        Hash::new_unique(),
    );
    packet(wincode::serialize(&VersionedTransaction::from(transaction)).expect("a transaction"))
}

fn mainnet_block() -> PacketBatch {
    files::mainnet_block(254_170_888).into_iter().map(packet).collect::<Vec<_>>().into()
}

type Entry<'a> = (&'a str, &'a dyn Fn(&mut [PacketBatch]));

/// Valid packets stay live, so the same batches can be verified over and over.
fn compare(c: &mut Criterion, group: &str, rows: &[(&str, Vec<PacketBatch>)], entries: &[Entry]) {
    let mut group = c.benchmark_group(group);
    for (name, batches) in rows {
        let mut batches = batches.clone();
        let packets = sigverify::count_packets_in_batches(&batches);
        group.throughput(Throughput::Elements(packets as u64));
        for (entry, verify) in entries {
            group.bench_function(BenchmarkId::new(*entry, name), |b| {
                b.iter(|| verify(black_box(&mut batches)));
            });
        }
        assert_eq!(sigverify::count_valid_packets(&batches), packets);
    }
}

fn one_thread(c: &mut Criterion) {
    let batch = |len: usize| vec![(0..len).map(|_| transfer()).collect::<Vec<_>>().into()];
    let rows = [
        ("1", batch(1)),
        ("8", batch(8)),
        ("64", batch(64)),
        ("1024", batch(1_024)),
        ("64 batches of 1", (0..64).map(|_| PacketBatch::Single(transfer())).collect()),
        ("mainnet block", vec![mainnet_block()]),
    ];
    compare(
        c,
        "one thread",
        &rows,
        &[
            ("octosig batches", &|batches| ed25519_verify_batches(batches, false, false)),
            ("octosig serial", &|batches| {
                for batch in batches {
                    ed25519_verify_serial(batch, false, false);
                }
            }),
            ("solana-perf serial", &|batches| {
                for batch in batches {
                    sigverify::ed25519_verify_serial(batch, false, false);
                }
            }),
        ],
    );
}

fn pooled(c: &mut Criterion) {
    let pool: ThreadPool = ThreadPoolBuilder::new().build().expect("rayon pool");
    let rows = [
        ("64", vec![(0..64).map(|_| transfer()).collect::<Vec<_>>().into()]),
        ("1024 batches of 1", (0..1_024).map(|_| PacketBatch::Single(transfer())).collect()),
        ("mainnet block", vec![mainnet_block()]),
    ];
    compare(
        c,
        &format!("pool of {}", pool.current_num_threads()),
        &rows,
        &[
            ("octosig", &|batches| ed25519_verify(&pool, batches, false, 0, false)),
            ("solana-perf", &|batches| {
                sigverify::ed25519_verify(&pool, batches, false, 0, false);
            }),
        ],
    );
}

criterion_group!(benches, one_thread, pooled);
criterion_main!(benches);
