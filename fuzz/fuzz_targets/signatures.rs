//! The verdicts of every backend under every profile beside those of ed25519-dalek and
//! ed25519-zebra.
#![no_main]

use libfuzzer_sys::fuzz_target;
use octosig_fuzz::{Input, signatures::Set};

fuzz_target!(|data: &[u8]| {
    Set::read(&mut Input::new(data)).check(
        |signature| octosig_oracle::verdicts(&signature.item()),
        |verifier, profile, items, verdicts| match (items, &mut *verdicts) {
            ([item], [verdict]) => {
                *verdict = verifier.verify(profile, item.public_key, item.signature, item.message);
            }
            _ => {
                verifier.verify_many(profile, items, verdicts).expect("as many verdicts as items");
                // Within a chunk of 64, all_valid asks no more than this.
                if items.len() > 64 {
                    let all_valid = verdicts.iter().all(|valid| *valid);
                    assert_eq!(verifier.all_valid(profile, items), all_valid);
                }
            }
        },
    );
});
