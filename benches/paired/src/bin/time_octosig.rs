//! Times octosig's `verify_many`.

use std::fmt::Display;

use octosig::{Backend, Item, Profile, Verifier};
use paired::Plan;

fn main() -> Result<(), String> {
    let plan = Plan::from_args()?;
    let items: Vec<Item<'_>> = plan
        .signed()
        .map(|(public_key, signature, message)| Item { public_key, signature, message })
        .collect();
    let mut verifier = match plan.rest.first().map(String::as_str) {
        None | Some("auto") => Verifier::new(),
        Some(name) => {
            let backend: Backend = name.parse().map_err(named(name))?;
            Verifier::with_backend(backend).map_err(named(name))?
        }
    };
    let profile = match plan.rest.get(1) {
        None => Profile::default(),
        Some(name) => name.parse().map_err(named(name))?,
    };
    match plan.rest.get(2).map(String::as_str) {
        None | Some("half-size") => {}
        Some("whole") => verifier.set_half_size_scalars(false),
        Some(name) => return Err(format!("{name}: scalars are half-size or whole")),
    }
    let mut verdicts = vec![false; plan.count];
    plan.time(&items, |items| {
        verifier.verify_many(profile, items, &mut verdicts).is_ok()
            && verdicts.iter().all(|&valid| valid)
    })
}

/// An error as text that begins with what it is about.
fn named<E: Display>(name: &str) -> impl Fn(E) -> String {
    move |error| format!("{name}: {error}")
}
