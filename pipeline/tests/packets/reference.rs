//! What a call has to leave under any profile, put together from the work of others: the parser
//! of agave-transaction-view, what solana-perf marks as a simple vote, and the oracle's verdict on
//! each signature.

use agave_transaction_view::{
    transaction_version::TransactionVersion, transaction_view::SanitizedTransactionView,
};
use octosig_pipeline::{
    Rules,
    octosig::Item,
    solana_perf::{
        packet::{BytesPacket, Meta, PacketBatch, PacketFlags},
        sigverify,
    },
};
use solana_runtime_transaction::sanitize_config::sanitize_config;

/// Sets the flags of every packet that is not yet discarded.
pub(crate) fn verify(batches: &mut [PacketBatch], rules: Rules) {
    for mut packet in batches.iter_mut().flatten().filter(|packet| !packet.meta().discard()) {
        let data = packet.data(..).unwrap_or_default().to_vec();
        let is_simple_vote = is_simple_vote(data.clone());
        if is_simple_vote {
            packet.meta_mut().flags |= PacketFlags::SIMPLE_VOTE_TX;
        }
        if rules.reject_non_vote && !is_simple_vote || !is_valid(&data, rules) {
            packet.meta_mut().set_discard(true);
        }
    }
}

fn is_simple_vote(data: Vec<u8>) -> bool {
    let mut batch = PacketBatch::Single(BytesPacket::new(data.into(), Meta::default()));
    sigverify::ed25519_verify_serial(&mut batch, false, true);
    batch.iter().all(|packet| packet.meta().is_simple_vote_tx())
}

fn is_valid(data: &[u8], rules: Rules) -> bool {
    let Ok(view) = SanitizedTransactionView::try_new_sanitized(data, &sanitize_config(true)) else {
        return false;
    };
    let message = view.message_data();
    (rules.enable_tx_v1 || !matches!(view.version(), TransactionVersion::V1))
        && view.signatures().iter().zip(view.static_account_keys()).all(|(signature, key)| {
            let (public_key, signature) = (key.as_array(), signature.as_array());
            octosig_oracle::verdict(rules.profile, &Item { public_key, signature, message })
        })
}
