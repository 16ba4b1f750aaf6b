//! Times ed25519-simd's `verify_batch` without a key cache, from bytes as octosig.

use ed25519_simd::{DalekPolicy, NullKeyCache, Verifier, VerifyInput};
use paired::Plan;

fn main() -> Result<(), String> {
    let plan = Plan::from_args()?;
    let inputs: Vec<VerifyInput<'_>> = plan
        .signed()
        .map(|(public_key, signature, message)| VerifyInput {
            public_key: *public_key,
            signature: *signature,
            message,
        })
        .collect();
    let mut verifier = Verifier::<DalekPolicy, NullKeyCache>::with_cache(NullKeyCache);
    let mut verdicts = vec![false; plan.count];
    plan.time(&inputs, |inputs| {
        verifier.verify_batch(inputs, &mut verdicts);
        verdicts.iter().all(|&valid| valid)
    })
}
