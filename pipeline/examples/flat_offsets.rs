//! Signatures in one flat buffer, found by offsets, as a caller has them that once fed a GPU: one byte comes
//! back for each.
//!
//! `cargo run --release -p octosig-pipeline --example flat_offsets`

use std::error::Error;

use octosig_pipeline::{FlatBatch, Offsets, Pipeline, solana_perf::packet::bytes::Bytes};
use solana_sdk::signature::{Keypair, Signer};

fn main() -> Result<(), Box<dyn Error>> {
    // Records of a key, a signature, and a message of any length, one after the other.
    let mut buffer = Vec::new();
    let mut offsets = Offsets::default();
    for number in 0..1_000 {
        let key = Keypair::new();
        let message = format!("message {number}");
        let mut signature = key.sign_message(message.as_bytes()).as_ref().to_vec();
        if number % 100 == 0 {
            signature[0] ^= 1;
        }
        offsets.public_keys.push(u32::try_from(buffer.len())?);
        buffer.extend(key.pubkey().as_array());
        offsets.signatures.push(u32::try_from(buffer.len())?);
        buffer.extend(signature);
        offsets.messages.push(u32::try_from(buffer.len())?);
        offsets.message_lengths.push(u32::try_from(message.len())?);
        buffer.extend(message.as_bytes());
    }

    let pipeline = Pipeline::builder().build()?;
    let stream = pipeline.stream();
    let batch = FlatBatch::new(Bytes::from(buffer), offsets)?;
    let ticket = stream.submit(batch)?;
    // Here is the time to do something else.
    let verified = ticket.wait()?;

    let valid = verified.verdicts.iter().filter(|verdict| **verdict == 1).count();
    println!("{} signatures, {valid} valid", verified.batch.len());
    let stats = pipeline.shutdown();
    println!("{} claims, {} groups of eight", stats.claims, stats.groups[7]);
    Ok(())
}
