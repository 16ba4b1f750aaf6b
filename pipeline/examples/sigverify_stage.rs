//! A sigverify stage: batches arrive one packet at a time, as in Agave's TPU; the worker drains
//! what has queued up, so that lanes fill, and passes on what is kept.
//!
//! `cargo run --release -p octosig-pipeline --example sigverify_stage`

use std::{
    sync::mpsc::{Receiver, sync_channel},
    thread,
};

use octosig_pipeline::{
    Profile, Rules,
    solana_perf::{
        packet::{BytesPacket, Meta, PacketBatch},
        sigverify::count_valid_packets,
    },
    verify_batches,
};
use solana_sdk::{
    hash::Hash,
    pubkey::Pubkey,
    signature::{Keypair, Signer},
    transaction::VersionedTransaction,
};

/// Batches taken from the queue at most before they are verified.
const DRAIN: usize = 256;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let payer = Keypair::new();
    let packets = (0..1_000).map(|i| signed_packet(&payer, i)).collect::<Result<Vec<_>, _>>()?;

    let (sender, receiver) = sync_channel(1_024);
    let stage = thread::spawn(move || stage(&receiver));
    for packet in packets {
        sender.send(PacketBatch::Single(packet))?;
    }
    drop(sender);

    let (packets, kept) = stage.join().map_err(|_| "the stage panicked")?;
    println!("{packets} packets, {kept} kept, {} discarded", packets - kept);
    Ok(())
}

/// Runs until the senders are gone; returns how many packets came in and how many were kept.
fn stage(receiver: &Receiver<PacketBatch>) -> (usize, usize) {
    let (mut packets, mut kept) = (0, 0);
    while let Ok(first) = receiver.recv() {
        let mut batches = vec![first];
        batches.extend(receiver.try_iter().take(DRAIN - 1));
        verify_batches(&mut batches, rules());
        packets += batches.iter().map(PacketBatch::len).sum::<usize>();
        kept += count_valid_packets(&batches);
    }
    (packets, kept)
}

/// A validator looks at its bank here, before each call.
fn rules() -> Rules {
    Rules { profile: Profile::DalekStrict, reject_non_vote: false, enable_tx_v1: false }
}

/// A transfer; the signature of every tenth is damaged.
fn signed_packet(payer: &Keypair, i: u64) -> Result<BytesPacket, wincode::WriteError> {
    let to = Pubkey::new_unique();
    let mut transaction = solana_system_transaction::transfer(payer, &to, i, Hash::new_unique());
    if i.is_multiple_of(10) {
        transaction.signatures = vec![payer.sign_message(b"another message")];
    }
    let data = wincode::serialize(&VersionedTransaction::from(transaction))?;
    let mut meta = Meta::default();
    meta.size = data.len();
    Ok(BytesPacket::new(data.into(), meta))
}
