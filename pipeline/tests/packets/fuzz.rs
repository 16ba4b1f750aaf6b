//! Random damage: whatever solana-perf says of it, these entries say too.

use octosig_pipeline::solana_perf::packet::PacketFlags;
use rand::{Rng, RngCore, SeedableRng, rngs::StdRng};

use crate::{
    harness::{Raw, Shape, batches, check},
    transactions::{Version, bytes, multisig, one_instruction, transfer, vote},
};

#[test]
fn random_edits_with_one_batch_discarded() {
    let whole = [
        bytes(transfer(1)),
        vote(Version::Legacy, 2, 1),
        vote(Version::Legacy, 3, 2),
        one_instruction(Version::V0, 4, &[1, 2, 3]),
        one_instruction(Version::V1, 5, &[1, 2, 3]),
        multisig(Version::Legacy, 6, 2),
        multisig(Version::V0, 7, 3),
        multisig(Version::V1, 8, 4),
    ];
    let mut rng = StdRng::seed_from_u64(1_217);
    for round in 0..40 {
        let edited = (0..90).map(|i| {
            let mut data = whole[rng.random_range(0..whole.len())].clone();
            for _ in 0..rng.random_range(0..3) {
                let at = rng.random_range(0..data.len());
                data[at] = match rng.random_range(0..3) {
                    0 => rng.random(),
                    1 => data[at] ^ (1 << rng.random_range(0..8)),
                    _ => data[at].wrapping_add(rng.random_range(1..4)),
                };
            }
            let discard = if i < 10 { PacketFlags::DISCARD } else { PacketFlags::empty() };
            let mut raw = Raw::from(data).with_flags(discard);
            raw.meta.flags |= PacketFlags::from_bits_truncate(rng.random::<u8>() & !1);
            raw.meta.port = rng.random();
            raw
        });
        let edited: Vec<_> = edited.collect();
        let shape = Shape::ALL[round % 4];
        let batches = batches(&edited, shape, &[10, rng.random_range(0..30), 1]);
        let metas = check(&batches, rng.random(), rng.random());
        assert!(metas[..10].iter().all(|meta| meta.discard()));
    }
}

#[test]
fn random_bytes() {
    let mut rng = StdRng::seed_from_u64(65);
    let packets: Vec<_> = (0..3_000)
        .map(|_| {
            let mut data = vec![0; rng.random_range(0..600)];
            rng.fill_bytes(&mut data);
            // A plausible first byte takes more of them past the first check.
            if let Some(first) = data.first_mut().filter(|_| rng.random()) {
                *first = [1, 2, 0x81][rng.random_range(0..3)];
            }
            Raw::from(data)
        })
        .collect();
    for shape in Shape::ALL {
        assert!(check(&batches(&packets, shape, &[64]), false, true).iter().all(|m| m.discard()));
    }
}
