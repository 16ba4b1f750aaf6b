//! Scalars, their signed digits and half-size scalars beside big integers.
#![no_main]

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use num_bigint::{BigInt, BigUint};
use octosig::fuzzing::{self, Digits, Relation};
use octosig_cases::edges;
use octosig_fuzz::{Input, count_compared};

static L: LazyLock<BigUint> = LazyLock::new(|| BigUint::from_bytes_le(&edges::L));

fuzz_target!(|data: &[u8]| {
    let mut input = Input::new(data);
    let wide = read(&mut input);
    let k = BigUint::from_bytes_le(&wide) % &*L;
    check(&fuzzing::wide_digits(&wide), &k);
    if let Some(relation) = fuzzing::relation(&wide) {
        check_relation(&relation, &k);
    }
    for half in wide.as_chunks().0 {
        let integer = BigUint::from_bytes_le(half);
        let digits = fuzzing::canonical_digits(half);
        assert_eq!(digits.is_some(), integer < *L, "{half:02x?}");
        digits.inspect(|digits| check(digits, &integer));
    }
    count_compared(4);
});

/// Anything; a run of ones or zeros in it; or next to a multiple of L.
fn read(input: &mut Input<'_>) -> [u8; 64] {
    let kind = input.byte();
    let mut wide: [u8; 64] = input.array();
    match kind {
        0..0x60 => {}
        0x60..0xa0 => {
            for bit in input.index(512)..=input.index(512) {
                let (byte, mask) = (&mut wide[bit / 8], 1 << (bit % 8));
                *byte = if kind & 1 == 0 { *byte | mask } else { *byte & !mask };
            }
        }
        0xa0.. => {
            let multiple = (BigUint::from_bytes_le(&wide) / &*L + 1u8) * &*L;
            let near = (multiple - 0x30u8 + (kind - 0xa0)).to_bytes_le();
            if near.len() <= wide.len() {
                wide = [0; 64];
                wide[..near.len()].copy_from_slice(&near);
            }
        }
    }
    wide
}

fn check((twos, tens): &Digits, expected: &BigUint) {
    check_digits(2, twos, expected);
    check_digits(10, tens, expected);
}

/// τ k = ρ modulo 8L, τ odd, both of at most 131 bits.
fn check_relation(&(tau, rho, rho_is_negative): &Relation, k: &BigUint) {
    let [tau, rho] = [tau, rho]
        .map(|words| words.iter().rev().fold(BigUint::ZERO, |sum, word| (sum << 64) + *word));
    assert!(tau.bit(0) && tau.bits() <= 131 && rho.bits() <= 131, "{tau} {rho}");
    let sum = if rho_is_negative { tau * k + rho } else { tau * k + &*L * 8u8 * &rho - rho };
    assert_eq!(sum % (&*L * 8u8), BigUint::ZERO, "{k}");
}

/// The digits are in range and add up to the integer.
fn check_digits(width: u32, digits: &[i16], expected: &BigUint) {
    let half = 1 << (width - 1);
    assert!(digits.iter().all(|digit| (-half..=half).contains(digit)), "{digits:?}");
    let sum = digits.iter().rev().fold(BigInt::ZERO, |sum, digit| (sum << width) + *digit);
    assert_eq!(sum, expected.clone().into(), "{digits:?}");
}
