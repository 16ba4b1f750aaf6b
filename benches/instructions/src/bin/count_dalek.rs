//! Counts ed25519-dalek 2.2.0's `verify_strict`, one call a signature.

use ed25519_dalek::{Signature, VerifyingKey};

fn main() -> Result<(), String> {
    instructions::count("ed25519-dalek 2.2.0", |signed, verdicts| {
        for (verdict, (key, signature, message)) in verdicts.iter_mut().zip(signed.each()) {
            *verdict = VerifyingKey::from_bytes(key).is_ok_and(|key| {
                key.verify_strict(message, &Signature::from_bytes(signature)).is_ok()
            });
        }
    })
}
