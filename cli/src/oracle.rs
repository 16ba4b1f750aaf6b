//! The reference for packets: solana-perf and, since it knows one rule for signatures only, the
//! parser below it with [`octosig_oracle`]. Nothing of octosig is asked.

use agave_transaction_view::{
    transaction_version::TransactionVersion, transaction_view::SanitizedTransactionView,
};
use octosig::{Item, Profile};
use octosig_pipeline::Rules;
use solana_perf::{
    packet::{BytesPacket, Meta, PacketBatch},
    sigverify::ed25519_verify_serial,
};
use solana_runtime_transaction::sanitize_config::sanitize_config;

/// Whether `packet` is kept.
pub(crate) fn keeps(packet: &BytesPacket, rules: Rules) -> bool {
    match rules.profile {
        Profile::DalekStrict => !solana_perf(packet, rules).discard(),
        _ => keeps_under_any_profile(packet, rules),
    }
}

/// What solana-perf sets under its one profile, `DalekStrict`.
fn solana_perf(packet: &BytesPacket, rules: Rules) -> Meta {
    let fresh = BytesPacket::new(packet.buffer().clone(), Meta::default());
    let mut batch = PacketBatch::Single(fresh);
    ed25519_verify_serial(&mut batch, rules.reject_non_vote, rules.enable_tx_v1);
    batch.iter().next().map(|packet| packet.meta().clone()).unwrap_or_default()
}

/// The steps of solana-perf. What a simple vote is it says itself, whatever the signatures are.
fn keeps_under_any_profile(packet: &BytesPacket, rules: Rules) -> bool {
    if rules.reject_non_vote && !solana_perf(packet, rules).is_simple_vote_tx() {
        return false;
    }
    let config = sanitize_config(true);
    let Ok(view) = SanitizedTransactionView::try_new_sanitized(&packet.buffer()[..], &config)
    else {
        return false;
    };
    if matches!(view.version(), TransactionVersion::V1) && !rules.enable_tx_v1 {
        return false;
    }
    let message = view.message_data();
    view.signatures().iter().zip(view.static_account_keys()).all(|(signature, key)| {
        let (public_key, signature) = (key.as_array(), signature.as_array());
        octosig_oracle::verdict(rules.profile, &Item { public_key, signature, message })
    })
}

#[cfg(test)]
mod tests {
    use std::{fs::File, io::Read, path::Path};

    use data_encoding::BASE64;
    use flate2::read::GzDecoder;

    use super::*;

    #[test]
    fn its_steps_are_those_of_solana_perf() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../vectors/packets.jsonl.gz");
        let mut text = String::new();
        GzDecoder::new(File::open(path).unwrap()).read_to_string(&mut text).unwrap();
        let mut kept = 0;
        for line in text.lines() {
            let line: serde_json::Value = serde_json::from_str(line).unwrap();
            let data = BASE64.decode(line["packet_base64"].as_str().unwrap().as_bytes()).unwrap();
            let packet = BytesPacket::new(data.into(), Meta::default());
            for (reject_non_vote, enable_tx_v1) in
                [(false, false), (false, true), (true, false), (true, true)]
            {
                let rules = Rules { profile: Profile::DalekStrict, reject_non_vote, enable_tx_v1 };
                let keeps = keeps_under_any_profile(&packet, rules);
                assert_eq!(keeps, !solana_perf(&packet, rules).discard(), "{}", line["id"]);
                kept += u32::from(keeps);
            }
        }
        assert!(kept > 0);
    }
}
