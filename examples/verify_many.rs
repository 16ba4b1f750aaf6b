//! Verifies a thousand signatures in one call, two of them broken, and says which.
//!
//!     cargo run --release --example verify_many

use std::time::Instant;

use ed25519_dalek::{Signer, SigningKey};
use octosig::{Item, LengthMismatch, Profile, Verifier};

struct Signed {
    public_key: [u8; 32],
    signature: [u8; 64],
    message: String,
}

fn signed(number: u32) -> Signed {
    let mut secret = [0; 32];
    secret[..4].copy_from_slice(&number.to_le_bytes());
    let key = SigningKey::from_bytes(&secret);
    let message = format!("message number {number}");
    let signature = key.sign(message.as_bytes()).to_bytes();
    Signed { public_key: key.verifying_key().to_bytes(), signature, message }
}

fn main() -> Result<(), LengthMismatch> {
    let mut signed: Vec<Signed> = (0..1_000).map(signed).collect();
    signed[7].message.push('!');
    signed[500].signature[0] ^= 1;

    let items: Vec<Item<'_>> = signed
        .iter()
        .map(|Signed { public_key, signature, message }| Item {
            public_key,
            signature,
            message: message.as_bytes(),
        })
        .collect();
    let mut verdicts = vec![false; items.len()];
    let mut verifier = Verifier::new();

    let start = Instant::now();
    verifier.verify_many(Profile::DalekStrict, &items, &mut verdicts)?;
    let time = start.elapsed();

    for (number, _) in verdicts.iter().enumerate().filter(|(_, valid)| !**valid) {
        println!("signature {number} is invalid");
    }
    println!("{} signatures in {time:.1?}, backend {}", items.len(), verifier.backend().name());
    Ok(())
}
