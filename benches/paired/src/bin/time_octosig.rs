//! Times octosig's `verify_many`.

use octosig::{Backend, Item, Profile, Verifier};
use paired::Plan;

fn main() -> Result<(), String> {
    let plan = Plan::from_args()?;
    let items: Vec<Item<'_>> = plan
        .signed()
        .map(|(public_key, signature, message)| Item { public_key, signature, message })
        .collect();
    let mut verifier = match plan.rest.as_deref() {
        None | Some("auto") => Verifier::new(Profile::DalekStrict),
        Some(name) => {
            let backend: Backend = name.parse().map_err(|error| format!("{name}: {error}"))?;
            Verifier::with_backend(Profile::DalekStrict, backend).map_err(|e| e.to_string())?
        }
    };
    let mut verdicts = vec![false; plan.count];
    plan.time(&items, |items| {
        verifier.verify_many(items, &mut verdicts).is_ok() && verdicts.iter().all(|&valid| valid)
    })
}
