//! The reference: ed25519-dalek's `verify_strict`, and solana-perf's sigverify on top of it.

use ed25519_dalek::{Signature, VerifyingKey};
use octosig::Item;
use solana_perf::{
    packet::{BytesPacket, Meta, PacketBatch},
    sigverify::ed25519_verify_serial,
};

pub(crate) fn is_valid(item: &Item<'_>) -> bool {
    VerifyingKey::from_bytes(item.public_key).is_ok_and(|key| {
        key.verify_strict(item.message, &Signature::from_bytes(item.signature)).is_ok()
    })
}

/// Whether solana-perf keeps `packet`.
pub(crate) fn keeps(packet: &BytesPacket, reject_non_vote: bool, enable_tx_v1: bool) -> bool {
    let fresh = BytesPacket::new(packet.buffer().clone(), Meta::default());
    let mut batch = PacketBatch::Single(fresh);
    ed25519_verify_serial(&mut batch, reject_non_vote, enable_tx_v1);
    batch.iter().all(|packet| !packet.meta().discard())
}
