//! The verdicts of every backend under every profile, with k given, beside the rules in the
//! arithmetic of curve25519-dalek.
#![no_main]

use libfuzzer_sys::fuzz_target;
use octosig::Verifier;
use octosig_fuzz::{Input, challenges};

fuzz_target!(|data: &[u8]| {
    let set = challenges::read(&mut Input::new(data));
    set.check(challenges::verdicts, Verifier::verify_challenges);
});
