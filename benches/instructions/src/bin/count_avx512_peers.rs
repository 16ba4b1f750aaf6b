//! Counts the peers that take AVX-512 only if they are built for it: ed25519-simd 0.1.0, and
//! ed25519-dalek 3.0.0 on its IFMA backend.

use dalek3::{Signature, VerifyingKey};
use ed25519_simd::{DalekPolicy, NullKeyCache, Verifier, VerifyInput};

fn main() -> Result<(), String> {
    instructions::count("ed25519-dalek 3.0.0", |signed, verdicts| {
        for (verdict, (key, signature, message)) in verdicts.iter_mut().zip(signed.each()) {
            *verdict = VerifyingKey::from_bytes(key).is_ok_and(|key| {
                key.verify_strict(message, &Signature::from_bytes(signature)).is_ok()
            });
        }
    })?;
    let mut verifier = Verifier::<DalekPolicy, NullKeyCache>::with_cache(NullKeyCache);
    instructions::count("ed25519-simd 0.1.0", |signed, verdicts| {
        let inputs: Vec<VerifyInput<'_>> = signed
            .each()
            .map(|(key, signature, message)| VerifyInput {
                public_key: *key,
                signature: *signature,
                message,
            })
            .collect();
        verifier.verify_batch(&inputs, verdicts);
    })
}
