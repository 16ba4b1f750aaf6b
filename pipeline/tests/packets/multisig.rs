//! Packets of many signatures: spread over lanes, judged as one.

use octosig_pipeline::{
    Rules, Sigverifier, ed25519_verify, ed25519_verify_batches,
    solana_perf::packet::{BytesPacket, Meta, PacketRefMut},
};
use rand::{Rng, SeedableRng, rngs::StdRng, seq::SliceRandom};

use crate::{
    harness::{Raw, Shape, batches, check, check_profiles, metas, pool},
    transactions::{Version, multisig, signature_offset},
};

/// A packet of `signers` signatures of which `bad`, if any, is damaged.
fn packet(version: Version, number: u64, signers: u8, bad: Option<u8>) -> Raw {
    let mut data = multisig(version, number, signers);
    if let Some(bad) = bad {
        let at = signature_offset(version, data.len(), signers.into(), bad.into());
        data[at + 33] ^= 4;
    }
    Raw::from(data)
}

/// Mixed packets and, for each, whether it is to be discarded.
fn mixture(seed: u64, packets: u64) -> (Vec<Raw>, Vec<bool>) {
    let mut rng = StdRng::seed_from_u64(seed);
    let mixed = (0..packets).map(|number| {
        let signers = if rng.random_ratio(1, 2) { 1 } else { rng.random_range(1..=12) };
        let bad = rng.random_ratio(1, 8).then(|| rng.random_range(0..signers));
        let version = Version::ALL[rng.random_range(0..3)];
        (packet(version, 50 * number, signers, bad), bad.is_some())
    });
    mixed.unzip()
}

fn discarded(metas: &[Meta]) -> Vec<bool> {
    metas.iter().map(|meta| meta.discard()).collect()
}

#[test]
fn one_bad_signature_at_each_place_discards_only_its_packet() {
    for version in Version::ALL {
        let (mut packets, mut expected) = (Vec::new(), Vec::new());
        for signers in 2..=12 {
            for bad in 0..signers {
                packets.push(packet(version, 20, signers, None));
                packets.push(packet(version, 40, signers, Some(bad)));
                packets.push(packet(version, 60, 1 + bad % 3, None));
                expected.extend([false, true, false]);
            }
        }
        for split in [&[usize::MAX][..], &[1], &[5, 2]] {
            let batches = batches(&packets, Shape::Mixed, split);
            assert_eq!(discarded(&check(&batches, false, true)), expected, "{version:?}");
        }
        for (profile, metas) in check_profiles(&batches(&packets, Shape::Bytes, &[30]), false, true)
        {
            assert_eq!(discarded(&metas), expected, "{version:?}, {profile}");
        }
    }
}

#[test]
fn every_signature_of_a_packet_bad_but_one() {
    for version in Version::ALL {
        let (mut packets, mut expected) = (Vec::new(), Vec::new());
        for good in 0..12 {
            let mut raw = packet(version, 80, 12, None);
            for bad in (0..12).filter(|&i| i != good) {
                let at = signature_offset(version, raw.data.len(), 12, bad);
                raw.data[at] ^= 1;
            }
            packets.extend([raw, packet(version, 100, 2, None)]);
            expected.extend([true, false]);
        }
        let batches = batches(&packets, Shape::Bytes, &[7]);
        assert_eq!(discarded(&check(&batches, false, true)), expected, "{version:?}");
    }
}

#[test]
fn packets_that_straddle_chunks_and_windows() {
    // More packets than two windows hold, and more signatures than a dozen chunks.
    let (packets, expected) = mixture(1, 1_100);
    let signatures = packets.iter().map(|packet| match packet.data[0] {
        0x81 => usize::from(packet.data[1]),
        count => usize::from(count),
    });
    assert!(signatures.sum::<usize>() > 12 * 256);
    for len in [usize::MAX, 511, 512, 513, 256, 1] {
        let mut batches = batches(&packets, Shape::Bytes, &[len]);
        ed25519_verify_batches(&mut batches, false, true);
        assert_eq!(discarded(&metas(&batches)), expected, "batches of {len}");
    }
    check(&batches(&packets, Shape::Bytes, &[usize::MAX]), false, true);
}

#[test]
fn flags_depend_on_neither_threads_nor_split_nor_order() {
    let (packets, expected) = mixture(2, 300);
    for threads in 1..=4 {
        for split in [&[usize::MAX][..], &[1], &[8], &[0, 100, 3]] {
            let mut batches = batches(&packets, Shape::Mixed, split);
            ed25519_verify(pool(threads), &mut batches, false, packets.len(), true);
            assert_eq!(discarded(&metas(&batches)), expected, "{threads} threads, {split:?}");
        }
    }
    let mut rng = StdRng::seed_from_u64(3);
    let mut order: Vec<_> = (0..packets.len()).collect();
    for _ in 0..5 {
        order.shuffle(&mut rng);
        let shuffled: Vec<_> = order.iter().map(|&i| packets[i].clone()).collect();
        let mut batches = batches(&shuffled, Shape::Bytes, &[rng.random_range(1..50)]);
        ed25519_verify_batches(&mut batches, false, true);
        let shuffled: Vec<_> = order.iter().map(|&i| expected[i]).collect();
        assert_eq!(discarded(&metas(&batches)), shuffled);
    }
}

#[test]
fn packets_from_anywhere() {
    let (packets, expected) = mixture(4, 40);
    let mut packets: Vec<_> =
        packets.into_iter().map(|raw| BytesPacket::new(raw.data.into(), raw.meta)).collect();
    let live = packets.iter_mut().map(PacketRefMut::from);
    let rules = Rules { enable_tx_v1: true, ..Rules::default() };
    Sigverifier::default().verify_packets(live, rules);
    let metas: Vec<_> = packets.iter().map(|packet| packet.meta().clone()).collect();
    assert_eq!(discarded(&metas), expected);
}
