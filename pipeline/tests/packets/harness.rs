//! Packets of every shape, and every entry beside solana-perf.

use std::{
    sync::{LazyLock, OnceLock},
    time::Duration,
};

use octosig_pipeline::{
    Pipeline, Profile, Rules, Sigverifier, SubmitError, ed25519_verify, ed25519_verify_batches,
    ed25519_verify_serial,
    octosig::{Backend, Verifier},
    solana_perf::{
        packet::{
            BytesPacket, Meta, PACKET_DATA_SIZE, Packet, PacketBatch, PacketFlags,
            RecycledPacketBatch,
        },
        sigverify,
    },
    verify_batches, verify_batches_on,
};
use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::reference;

/// A packet before it gets the shape of a batch.
#[derive(Clone)]
pub(crate) struct Raw {
    pub(crate) data: Vec<u8>,
    pub(crate) meta: Meta,
}

impl From<Vec<u8>> for Raw {
    fn from(data: Vec<u8>) -> Self {
        let size = data.len();
        Self { data, meta: Meta::default() }.with_size(size)
    }
}

impl Raw {
    pub(crate) fn with_size(mut self, size: usize) -> Self {
        self.meta.size = size;
        self
    }

    pub(crate) fn with_flags(mut self, flags: PacketFlags) -> Self {
        self.meta.flags |= flags;
        self
    }

    fn bytes(&self) -> BytesPacket {
        BytesPacket::new(self.data.clone().into(), self.meta.clone())
    }

    /// What does not fit is cut off, but still counted by `meta.size`.
    fn pinned(&self) -> Packet {
        let mut buffer = [0; PACKET_DATA_SIZE];
        let len = self.data.len().min(PACKET_DATA_SIZE);
        buffer[..len].copy_from_slice(&self.data[..len]);
        Packet::new(buffer, self.meta.clone())
    }
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Shape {
    Pinned,
    Bytes,
    Single,
    /// The three others in turn.
    Mixed,
}

impl Shape {
    pub(crate) const ALL: [Self; 4] = [Self::Pinned, Self::Bytes, Self::Single, Self::Mixed];
}

/// Batches of the lengths in `split`, over and over; a length of 0 is an empty batch.
pub(crate) fn batches(packets: &[Raw], shape: Shape, split: &[usize]) -> Vec<PacketBatch> {
    let mut rest = packets;
    let mut batches = Vec::new();
    for (turn, &len) in split.iter().cycle().enumerate() {
        if rest.is_empty() {
            break;
        }
        let (batch, after) = rest.split_at(len.min(rest.len()));
        rest = after;
        match (shape, turn % 3) {
            (Shape::Pinned, _) | (Shape::Mixed, 0) => batches.push(PacketBatch::from(
                RecycledPacketBatch::new(batch.iter().map(Raw::pinned).collect()),
            )),
            (Shape::Bytes, _) | (Shape::Mixed, 1) => {
                batches.push(batch.iter().map(Raw::bytes).collect::<Vec<_>>().into());
            }
            (Shape::Single | Shape::Mixed, _) => {
                batches.extend(batch.iter().map(|raw| PacketBatch::Single(raw.bytes())));
            }
        }
    }
    batches
}

pub(crate) fn pool(threads: usize) -> &'static ThreadPool {
    static POOLS: OnceLock<[ThreadPool; 4]> = OnceLock::new();
    let pools = POOLS.get_or_init(|| {
        [1, 2, 3, 4].map(|n| ThreadPoolBuilder::new().num_threads(n).build().expect("rayon pool"))
    });
    &pools[threads - 1]
}

/// Verifies on a pipeline of three workers that all tests share: all batches as one submission, or each as
/// one of its own.
fn verify_on_pipeline(batches: &mut [PacketBatch], rules: Rules, one_by_one: bool) {
    static PIPELINE: LazyLock<Pipeline> =
        LazyLock::new(|| Pipeline::builder().unpinned().workers(3).build().expect("threads"));
    let stream = PIPELINE.stream().with_rules(rules);
    let submissions = batches.chunks(if one_by_one { 1 } else { batches.len().max(1) });
    let tickets: Vec<_> = submissions
        .enumerate()
        .map(|(i, batches)| {
            let batches = batches.to_vec();
            // Every other one perhaps by this thread, if there is room.
            let here = if i % 2 == 0 {
                stream.submit_here(batches)
            } else {
                Err(SubmitError::Full(batches))
            };
            here.or_else(|full| stream.submit_timeout(full.into_inner(), Duration::MAX))
                .expect("no end")
        })
        .collect();
    let verified = tickets.into_iter().flat_map(|ticket| ticket.wait().expect("once").batches);
    let mut count = 0;
    for (batch, verified) in batches.iter_mut().zip(verified) {
        *batch = verified;
        count += 1;
    }
    assert_eq!(count, batches.len());
}

pub(crate) fn metas(batches: &[PacketBatch]) -> Vec<Meta> {
    batches.iter().flatten().map(|packet| packet.meta().clone()).collect()
}

/// Runs `entry` on a copy of `batches`, which must become `expected`.
fn same(
    batches: &[PacketBatch],
    expected: &[PacketBatch],
    entry: &str,
    rules: Rules,
    run: impl FnOnce(&mut [PacketBatch]),
) {
    let mut got = batches.to_vec();
    run(&mut got);
    for (i, (got, expected)) in metas(&got).iter().zip(metas(expected)).enumerate() {
        assert_eq!(*got, expected, "{entry}, packet {i}, {rules:?}");
    }
    assert!(got == expected, "{entry} changed something else than flags");
}

/// Runs the entries with Agave's arguments and solana-perf on copies of `batches`, compares all,
/// and returns the `Meta` of every packet.
pub(crate) fn check(
    batches: &[PacketBatch],
    reject_non_vote: bool,
    enable_tx_v1: bool,
) -> Vec<Meta> {
    let mut expected = batches.to_vec();
    for batch in &mut expected {
        sigverify::ed25519_verify_serial(batch, reject_non_vote, enable_tx_v1);
    }
    let rules = Rules { profile: Profile::DalekStrict, reject_non_vote, enable_tx_v1 };
    same(batches, &expected, "ed25519_verify_serial", rules, |batches| {
        for batch in batches {
            ed25519_verify_serial(batch, reject_non_vote, enable_tx_v1);
        }
    });
    same(batches, &expected, "ed25519_verify_batches", rules, |batches| {
        ed25519_verify_batches(batches, reject_non_vote, enable_tx_v1);
    });
    same(batches, &expected, "ed25519_verify", rules, |batches| {
        let packet_count = sigverify::count_packets_in_batches(batches);
        ed25519_verify(pool(3), batches, reject_non_vote, packet_count, enable_tx_v1);
    });
    same(batches, &expected, "pipeline", rules, |batches| {
        verify_on_pipeline(batches, rules, false);
    });
    metas(&expected)
}

/// Runs the entries that take [`Rules`], one Sigverifier per backend of this CPU, and the reference
/// on copies of `batches`, compares all, and returns the `Meta` of every packet under each profile.
pub(crate) fn check_profiles(
    batches: &[PacketBatch],
    reject_non_vote: bool,
    enable_tx_v1: bool,
) -> Vec<(Profile, Vec<Meta>)> {
    let check_profile = |&profile: &Profile| {
        let rules = Rules { profile, reject_non_vote, enable_tx_v1 };
        let mut expected = batches.to_vec();
        reference::verify(&mut expected, rules);
        same(batches, &expected, "verify_batches", rules, |batches| verify_batches(batches, rules));
        same(batches, &expected, "verify_batches_on", rules, |batches| {
            verify_batches_on(pool(2), batches, rules);
        });
        same(batches, &expected, "pipeline, one by one", rules, |batches| {
            verify_on_pipeline(batches, rules, true);
        });
        for &backend in Backend::ALL.iter().filter(|backend| backend.is_available()) {
            let mut sigverifier =
                Sigverifier::new(Verifier::with_backend(backend).expect("available"));
            same(batches, &expected, backend.name(), rules, |batches| {
                sigverifier.verify_batches(batches, rules);
            });
        }
        (profile, metas(&expected))
    };
    let checked: Vec<_> = Profile::ALL.iter().map(check_profile).collect();
    let strict = checked.iter().find(|(profile, _)| *profile == Profile::DalekStrict);
    let solana_perf = check(batches, reject_non_vote, enable_tx_v1);
    assert_eq!(strict.map(|(_, metas)| metas), Some(&solana_perf), "the reference is wrong");
    checked
}

/// Whether a lone packet is kept, in every shape and through every entry.
pub(crate) fn keeps(data: Vec<u8>, reject_non_vote: bool, enable_tx_v1: bool) -> bool {
    let raw = [Raw::from(data)];
    let [bytes, single] = [Shape::Bytes, Shape::Single].map(|shape| batches(&raw, shape, &[1]));
    let kept = !check(&bytes, reject_non_vote, enable_tx_v1)[0].discard();
    assert_eq!(kept, !check(&single, reject_non_vote, enable_tx_v1)[0].discard());
    if raw[0].data.len() <= PACKET_DATA_SIZE {
        let pinned = batches(&raw, Shape::Pinned, &[1]);
        assert_eq!(kept, !check(&pinned, reject_non_vote, enable_tx_v1)[0].discard());
    }
    kept
}
