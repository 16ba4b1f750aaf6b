//! Verifies one signature.
//!
//!     cargo run --release --example verify_one

use ed25519_dalek::{Signer, SigningKey};
use octosig::{Profile, Verifier};

fn main() {
    let key = SigningKey::from_bytes(&[1; 32]);
    let public_key = key.verifying_key().to_bytes();
    let signature = key.sign(b"a message").to_bytes();

    // Owns its scratch memory: make one per thread and keep it.
    let mut verifier = Verifier::new();
    println!("backend: {}", verifier.backend().name());

    for message in ["a message", "another one"] {
        let valid =
            verifier.verify(Profile::DalekStrict, &public_key, &signature, message.as_bytes());
        println!("{message}: {valid}");
    }
}
