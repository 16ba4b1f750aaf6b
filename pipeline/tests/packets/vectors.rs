//! vectors/packets.jsonl: every packet, every shape, every gate, against the stored flags too.

use std::io::BufRead;

use octosig_pipeline::{Profile, solana_perf::packet::PacketFlags};
use serde_json::Value;

use crate::{
    files,
    harness::{Raw, Shape, batches, check, check_profiles},
};

struct Vector {
    id: String,
    note: String,
    data: Vec<u8>,
    kept: bool,
    kept_votes_only: bool,
    simple_vote: bool,
}

impl Vector {
    fn has_small_order_signer(&self) -> bool {
        ["fee payer key ", "second signer key "].iter().any(|start| self.note.starts_with(start))
    }
}

fn load() -> Vec<Vector> {
    let parse = |line: std::io::Result<String>| {
        let value: Value = serde_json::from_str(&line.expect("readable")).expect("JSON");
        let text = |field: &str| value[field].as_str().expect("a string").to_owned();
        let flag = |field: &str| value[field].as_bool().expect("a boolean");
        Vector {
            id: text("id"),
            note: text("note"),
            data: files::base64(&value["packet_base64"]),
            kept: flag("agave_4_2_2"),
            kept_votes_only: flag("agave_4_2_2_votes_only"),
            simple_vote: flag("simple_vote_flag_4_2_2"),
        }
    };
    files::open("packets.jsonl.gz").lines().map(parse).collect()
}

/// Part of the next test, for a CPU that is emulated.
#[test]
#[ignore = "for the emulator"]
fn stored_flags_in_one_split() {
    let vectors = load();
    let packets: Vec<_> = vectors.iter().map(|vector| Raw::from(vector.data.clone())).collect();
    let batches = batches(&packets, Shape::Mixed, &[3, 0, 17, 64, 1, 8]);
    let metas = check(&batches, false, false);
    assert_eq!(metas.len(), 1_688);
    for (vector, meta) in vectors.iter().zip(metas) {
        assert_eq!(!meta.discard(), vector.kept, "{}", vector.id);
    }
}

#[test]
fn stored_flags_in_every_shape_and_split() {
    let vectors = load();
    assert_eq!(vectors.len(), 1_688);
    let packets: Vec<_> = vectors.iter().map(|vector| Raw::from(vector.data.clone())).collect();
    let splits: [&[usize]; 3] = [&[usize::MAX], &[1], &[3, 0, 17, 64, 1, 8]];
    for (shape, split) in Shape::ALL.iter().flat_map(|shape| splits.map(|split| (*shape, split))) {
        let batches = batches(&packets, shape, split);
        for reject_non_vote in [false, true] {
            check(&batches, reject_non_vote, true);
            let metas = check(&batches, reject_non_vote, false);
            assert_eq!(metas.len(), vectors.len());
            for (vector, meta) in vectors.iter().zip(metas) {
                let kept = if reject_non_vote { vector.kept_votes_only } else { vector.kept };
                assert_eq!(!meta.discard(), kept, "{}", vector.id);
                assert_eq!(meta.is_simple_vote_tx(), vector.simple_vote, "{}", vector.id);
            }
        }
    }
}

#[test]
fn every_backend_and_profile() {
    let vectors = load();
    let packets: Vec<_> = vectors.iter().map(|vector| Raw::from(vector.data.clone())).collect();
    let batches = batches(&packets, Shape::Mixed, &[5, 40]);
    let small_order_signers = vectors.iter().filter(|v| v.has_small_order_signer()).count();
    assert_eq!(small_order_signers, 24);
    for (reject_non_vote, enable_tx_v1) in
        [(false, false), (false, true), (true, false), (true, true)]
    {
        for (profile, metas) in check_profiles(&batches, reject_non_vote, enable_tx_v1) {
            let mut more = 0;
            for (vector, meta) in vectors.iter().zip(metas) {
                let kept = if reject_non_vote { vector.kept_votes_only } else { vector.kept };
                if meta.discard() == kept {
                    assert!(!kept, "{profile} discards {}", vector.id);
                    assert!(vector.has_small_order_signer(), "{profile} {}", vector.id);
                    more += 1;
                }
            }
            // None of them is a vote.
            let expected = match profile {
                Profile::StdlibCompat if !reject_non_vote => 16,
                Profile::Zip215 if !reject_non_vote => small_order_signers,
                _ => 0,
            };
            assert_eq!(more, expected, "{profile}");
        }
    }
}

#[test]
fn flags_that_are_set_stay_set() {
    let vectors = load();
    let packets = vectors.iter().enumerate().map(|(i, vector)| {
        let discard = if i % 3 == 0 { PacketFlags::DISCARD } else { PacketFlags::empty() };
        Raw::from(vector.data.clone())
            .with_flags(discard | PacketFlags::SIMPLE_VOTE_TX | PacketFlags::FROM_STAKED_NODE)
    });
    let packets: Vec<_> = packets.collect();
    for reject_non_vote in [false, true] {
        let metas = check(&batches(&packets, Shape::Mixed, &[9]), reject_non_vote, false);
        for (i, (vector, meta)) in vectors.iter().zip(metas).enumerate() {
            let kept = if reject_non_vote { vector.kept_votes_only } else { vector.kept };
            assert_eq!(meta.discard(), !kept || i % 3 == 0, "{}", vector.id);
            assert!(meta.is_simple_vote_tx() && meta.is_from_staked_node(), "{}", vector.id);
        }
    }
}
