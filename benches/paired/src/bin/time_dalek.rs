//! Times ed25519-dalek's `verify_strict`, from bytes as octosig.

use ed25519_dalek::{Signature, VerifyingKey};
use paired::Plan;

fn main() -> Result<(), String> {
    let plan = Plan::from_args()?;
    let items: Vec<_> = plan.signed().collect();
    plan.time(&items, |items| {
        items.iter().all(|(public_key, signature, message)| {
            let signature = Signature::from_bytes(signature);
            VerifyingKey::from_bytes(public_key)
                .is_ok_and(|key| key.verify_strict(message, &signature).is_ok())
        })
    })
}
