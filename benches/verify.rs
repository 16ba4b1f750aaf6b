//! The rows of the README's table, for every backend and ed25519-dalek; and the profiles.
//!
//! `cargo bench --bench verify -- '200 bytes/avx2/64'` picks one. For ratios take benches/paired.sh:
//! rows of one program differ by the layout of its code.

use std::{hint::black_box, time::Duration};

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use ed25519_dalek::{Signature, Signer, SigningKey, VerifyingKey};
use octosig::{Backend, Item, Profile, Verifier};
use rand::{RngCore, SeedableRng, rngs::StdRng};

/// Signed for a row, in calls of its count, so that short calls do not repeat one input.
const SIGNATURES: usize = 1_024;

/// Rows that share signatures: name, message bytes, distinct keys, signatures in a call.
const ROWS: [(&str, usize, usize, &[usize]); 3] = [
    ("200 bytes", 200, SIGNATURES, &[1, 2, 3, 4, 5, 6, 7, 8, 64, 1_024]),
    ("1232 bytes", 1_232, SIGNATURES, &[1, 2, 3, 4, 8, 64, 1_024]),
    ("200 bytes, 8 keys", 200, 8, &[64]),
];

struct Signed {
    public_key: [u8; 32],
    signature: [u8; 64],
    message: Vec<u8>,
}

impl Signed {
    fn item(&self) -> Item<'_> {
        Item { public_key: &self.public_key, signature: &self.signature, message: &self.message }
    }
}

/// Messages of `len` bytes. The keys take turns.
fn signed(len: usize, keys: usize) -> Vec<Signed> {
    let mut rng = StdRng::seed_from_u64(0);
    let keys: Vec<SigningKey> = (0..keys)
        .map(|_| {
            let mut secret = [0; 32];
            rng.fill_bytes(&mut secret);
            SigningKey::from_bytes(&secret)
        })
        .collect();
    keys.iter()
        .cycle()
        .take(SIGNATURES)
        .map(|key| {
            let mut message = vec![0; len];
            rng.fill_bytes(&mut message);
            let signature = key.sign(&message).to_bytes();
            Signed { public_key: key.verifying_key().to_bytes(), signature, message }
        })
        .collect()
}

fn dalek(item: &Item<'_>) -> bool {
    let signature = Signature::from_bytes(item.signature);
    VerifyingKey::from_bytes(item.public_key)
        .is_ok_and(|key| key.verify_strict(item.message, &signature).is_ok())
}

fn backends(criterion: &mut Criterion) {
    for (name, len, keys, counts) in ROWS {
        let signed = signed(len, keys);
        let items: Vec<Item<'_>> = signed.iter().map(Signed::item).collect();
        let mut group = criterion.benchmark_group(name);
        for &count in counts {
            let mut calls = items.chunks_exact(count).cycle();
            let mut verdicts = vec![false; count];
            group.throughput(Throughput::Elements(count as u64));
            for &backend in Backend::ALL {
                let Ok(mut verifier) = Verifier::with_backend(backend) else {
                    eprintln!("{}: not available on this CPU", backend.name());
                    continue;
                };
                group.bench_function(BenchmarkId::new(backend.name(), count), |bencher| {
                    bencher.iter(|| {
                        let call = black_box(calls.next())?;
                        verifier.verify_many(Profile::DalekStrict, call, &mut verdicts).ok()
                    });
                });
                assert!(verifier.all_valid(Profile::DalekStrict, &items));
            }
            group.bench_function(BenchmarkId::new("ed25519-dalek", count), |bencher| {
                bencher.iter(|| black_box(calls.next()).map(|call| call.iter().all(dalek)));
            });
        }
        group.finish();
    }
}

fn profiles(criterion: &mut Criterion) {
    let signed = signed(200, SIGNATURES);
    let items: Vec<Item<'_>> = signed.iter().map(Signed::item).collect();
    let mut verifier = Verifier::new();
    let mut group = criterion.benchmark_group("profiles");
    for count in [1, 4, 8, 64] {
        let mut calls = items.chunks_exact(count).cycle();
        let mut verdicts = vec![false; count];
        group.throughput(Throughput::Elements(count as u64));
        for &profile in Profile::ALL {
            group.bench_function(BenchmarkId::new(profile.name(), count), |bencher| {
                bencher.iter(|| {
                    let call = black_box(calls.next())?;
                    verifier.verify_many(profile, call, &mut verdicts).ok()
                });
            });
            assert!(verifier.all_valid(profile, &items));
        }
    }
    group.finish();
}

criterion_group! {
    name = benches;
    // Some six minutes for all rows. Few samples, since a sample is one call at least, and the
    // slowest call takes about 50 ms.
    config = Criterion::default()
        .sample_size(30)
        .warm_up_time(Duration::from_secs(1))
        .measurement_time(Duration::from_secs(3));
    targets = backends, profiles
}
criterion_main!(benches);
