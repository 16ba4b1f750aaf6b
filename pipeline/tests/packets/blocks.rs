//! Two mainnet blocks, as they are and damaged.

use octosig_pipeline::{Rules, Sigverifier, solana_perf::packet::PacketFlags};
use rand::{Rng, SeedableRng, rngs::StdRng};

use crate::{
    files::mainnet_block,
    harness::{Raw, Shape, batches, check, check_profiles, metas},
};

/// Bytes of a packet that a flipped bit invalidates.
#[derive(Clone, Copy)]
enum Part {
    Signature,
    Key,
    Message,
}

/// Only bytes that leave the packet a transaction, so that the signatures decide.
fn flip_a_bit(data: &mut [u8], part: Part, rng: &mut StdRng) {
    let keys = 1 + 64 * usize::from(data[0]);
    // Version byte of a version 0 message, header, number of keys.
    let keys = keys + if data[keys] & 0x80 == 0 { 4 } else { 5 };
    let offset = match part {
        Part::Signature => rng.random_range(1..65),
        Part::Key => keys + rng.random_range(0..32),
        // The recent blockhash follows the keys.
        Part::Message => keys + 32 * usize::from(data[keys - 1]) + rng.random_range(0..32),
    };
    data[offset] ^= 1 << rng.random_range(0..8);
}

fn a_block(slot: u64, transactions: usize, signatures: u64) {
    let packets: Vec<_> = mainnet_block(slot).into_iter().map(Raw::from).collect();
    assert_eq!(packets.len(), transactions);

    let mut whole = batches(&packets, Shape::Bytes, &[usize::MAX]);
    let mut sigverifier = Sigverifier::default();
    sigverifier.verify_batches(&mut whole, Rules::default());
    assert_eq!(metas(&whole).iter().filter(|meta| !meta.discard()).count(), transactions);
    assert_eq!(sigverifier.verifier().stats().signatures, signatures);

    let mut rng = StdRng::seed_from_u64(slot);
    let mut bad = vec![false; transactions];
    let damaged = packets.iter().zip(&mut bad).map(|(packet, bad)| {
        let mut packet = packet.clone();
        packet.meta.port = rng.random();
        let part = match rng.random_range(0..20) {
            0 => Part::Signature,
            1 => Part::Key,
            2 => Part::Message,
            3 => {
                *bad = true;
                return packet.with_flags(PacketFlags::DISCARD);
            }
            _ => return packet,
        };
        *bad = true;
        flip_a_bit(&mut packet.data, part, &mut rng);
        packet
    });
    let damaged: Vec<_> = damaged.collect();
    assert!(bad.iter().filter(|bad| **bad).count() > transactions / 10);

    let splits: [(Shape, &[usize]); 5] = [
        (Shape::Bytes, &[usize::MAX]),
        (Shape::Single, &[1]),
        (Shape::Pinned, &[64]),
        (Shape::Pinned, &[usize::MAX]),
        (Shape::Mixed, &[1, 0, 7, 300, 2]),
    ];
    for (shape, split) in splits {
        let batches = batches(&damaged, shape, split);
        let discarded: Vec<_> = check(&batches, false, false).iter().map(|m| m.discard()).collect();
        assert_eq!(discarded, bad);
        check(&batches, true, false);
        check(&batches, false, true);
    }
    for (profile, metas) in check_profiles(&batches(&damaged, Shape::Bytes, &[99]), false, false) {
        let discarded: Vec<_> = metas.iter().map(|meta| meta.discard()).collect();
        assert_eq!(discarded, bad, "{profile}");
    }
}

#[test]
fn slot_254170888() {
    a_block(254_170_888, 1_910, 1_915);
}

#[test]
fn slot_254170887() {
    a_block(254_170_887, 602, 607);
}
