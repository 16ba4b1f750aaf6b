//! Time for a call by backend, count of signatures and message length, beside ed25519-dalek; and by
//! profile.
//!
//! For ratios take benches/paired.sh: rows of one program differ by the layout of its code.

use std::hint::black_box;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use ed25519_dalek::{Signature, Signer, SigningKey, VerifyingKey};
use octosig::{Backend, Item, Profile, Verifier};
use rand::{RngCore, SeedableRng, rngs::StdRng};

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

/// `count` messages of `len` bytes, each with a key of its own.
fn signed(count: usize, len: usize) -> Vec<Signed> {
    let mut rng = StdRng::seed_from_u64(0);
    (0..count)
        .map(|_| {
            let mut secret = [0; 32];
            rng.fill_bytes(&mut secret);
            let mut message = vec![0; len];
            rng.fill_bytes(&mut message);
            let key = SigningKey::from_bytes(&secret);
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
    for len in [64, 200, 1_232] {
        let signed = signed(1_024, len);
        let mut group = criterion.benchmark_group(format!("{len} bytes"));
        for count in [1, 2, 4, 8, 64, 1_024] {
            let items: Vec<Item<'_>> = signed[..count].iter().map(Signed::item).collect();
            let mut verdicts = vec![false; count];
            group.throughput(Throughput::Elements(count as u64));
            for &backend in Backend::ALL {
                let Ok(mut verifier) = Verifier::with_backend(backend) else {
                    eprintln!("{}: not available on this CPU", backend.name());
                    continue;
                };
                group.bench_function(BenchmarkId::new(backend.name(), count), |bencher| {
                    bencher.iter(|| {
                        verifier.verify_many(Profile::DalekStrict, black_box(&items), &mut verdicts)
                    });
                });
                assert!(verifier.all_valid(Profile::DalekStrict, &items));
            }
            group.bench_function(BenchmarkId::new("ed25519-dalek", count), |bencher| {
                bencher.iter(|| black_box(&items).iter().all(dalek));
            });
        }
        group.finish();
    }
}

fn profiles(criterion: &mut Criterion) {
    let signed = signed(64, 200);
    let mut verifier = Verifier::new();
    let mut group = criterion.benchmark_group("profiles");
    for count in [1, 4, 8, 64] {
        let items: Vec<Item<'_>> = signed[..count].iter().map(Signed::item).collect();
        let mut verdicts = vec![false; count];
        group.throughput(Throughput::Elements(count as u64));
        for &profile in Profile::ALL {
            group.bench_function(BenchmarkId::new(profile.name(), count), |bencher| {
                bencher.iter(|| verifier.verify_many(profile, black_box(&items), &mut verdicts));
            });
            assert!(verifier.all_valid(profile, &items));
        }
    }
    group.finish();
}

criterion_group!(benches, backends, profiles);
criterion_main!(benches);
