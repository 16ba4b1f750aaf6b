//! Counts octosig's `verify_many` on its best backend.

use octosig::{Item, Profile, Verifier};

fn main() -> Result<(), String> {
    let mut verifier = Verifier::new();
    let name = format!("octosig, {}", verifier.backend());
    instructions::count(&name, |signed, verdicts| {
        let items: Vec<Item<'_>> = signed
            .each()
            .map(|(public_key, signature, message)| Item { public_key, signature, message })
            .collect();
        let result = verifier.verify_many(Profile::DalekStrict, &items, verdicts);
        result.expect("as many verdicts as items");
    })
}
