//! Times ed25519-zebra's `verify`, from bytes as octosig.

use ed25519_zebra::{Signature, VerificationKey};
use paired::Plan;

fn main() -> Result<(), String> {
    let plan = Plan::from_args()?;
    let items: Vec<_> = plan.signed().collect();
    plan.time(&items, |items| {
        items.iter().all(|(public_key, signature, message)| {
            let signature = Signature::from_bytes(signature);
            VerificationKey::try_from(**public_key)
                .is_ok_and(|key| key.verify(&signature, message).is_ok())
        })
    })
}
