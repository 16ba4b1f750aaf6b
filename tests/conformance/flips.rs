//! Every single bit of a valid signature, its key and its message.

use octosig_cases::{Case, Verdicts};

use crate::harness::{check, verifiers};

fn with_bit_flipped(honest: &Case, bit: usize) -> Case {
    let mut case = honest.clone();
    let (byte, mask) = (bit / 8, 1 << (bit % 8));
    match byte {
        0..32 => case.public_key[byte] ^= mask,
        32..96 => case.signature[byte - 32] ^= mask,
        _ => case.message[byte - 96] ^= mask,
    }
    Case::new(
        format!("{}, bit {bit} flipped", honest.name),
        case.public_key,
        case.signature,
        case.message,
    )
}

#[test]
fn single_bits() {
    let honest = Case::honest(7, 64);
    let flips: Vec<Case> =
        (0..(32 + 64 + 64) * 8).map(|bit| with_bit_flipped(&honest, bit)).collect();
    assert!(flips.iter().all(|case| case.verdicts == Verdicts::NONE));
    for mut verifier in verifiers() {
        check(&mut verifier, &flips);
        check(&mut verifier, flips.iter().flat_map(|flip| [flip, &honest]));
    }
}

#[test]
fn every_byte_of_a_long_message() {
    let honest = Case::honest(8, 1_232);
    let flips: Vec<Case> = (0..honest.message.len())
        .map(|byte| with_bit_flipped(&honest, (96 + byte) * 8 + byte % 8))
        .collect();
    for mut verifier in verifiers() {
        check(&mut verifier, flips.iter().chain([&honest]));
    }
}
