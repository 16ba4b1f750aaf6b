//! Scalars, their signed digits and half-size scalars beside big integers.
#![no_main]

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use num_bigint::{BigInt, BigUint, Sign};
use octosig::fuzzing::{self, Pairs};
use octosig_cases::edges;
use octosig_fuzz::{Input, count_compared};

static L: LazyLock<BigUint> = LazyLock::new(|| BigUint::from_bytes_le(&edges::L));

fuzz_target!(|data: &[u8]| {
    let mut input = Input::new(data);
    let wide = read(&mut input);
    let k = BigUint::from_bytes_le(&wide) % &*L;
    for half in wide.as_chunks().0 {
        let s = BigUint::from_bytes_le(half);
        let whole = fuzzing::whole_digits(&wide, half);
        assert_eq!(whole.is_some(), s < *L, "{half:02x?}");
        if let Some(digits) = whole {
            check_whole(&digits, &k, &s);
        }
        if let Some(digits) = fuzzing::half_size_digits(&wide, half) {
            check_half_size(&digits, &k, &s);
        }
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

/// The scalars that the digits add up to.
fn sums((pairs, base): &Pairs) -> [BigInt; 3] {
    assert!(pairs.iter().all(|(i, j)| (-2..=2).contains(i) && (-2..=2).contains(j)), "{pairs:?}");
    assert!(base.iter().all(|digit| (-512..=512).contains(digit)), "{base:?}");
    let sum = |digit: fn(&(i8, i8)) -> i8| {
        pairs.iter().rev().fold(BigInt::ZERO, |sum, pair| (sum << 2) + digit(pair))
    };
    let base = base.iter().rev().fold(BigInt::ZERO, |sum, digit| (sum << 10) + *digit);
    [sum(|(i, _)| *i), sum(|(_, j)| *j), base]
}

/// k and S, as they are.
fn check_whole(digits: &Pairs, k: &BigUint, s: &BigUint) {
    let [lower, upper, base] = sums(digits);
    assert_eq!(lower + (upper << 130), k.clone().into());
    assert_eq!(base, s.clone().into());
}

/// τ k = ρ modulo 8L, τ positive and odd, both of at most 131 bits; and τ S modulo L.
fn check_half_size(digits: &Pairs, k: &BigUint, s: &BigUint) {
    let [rho, tau, base] = sums(digits);
    assert!(tau.sign() == Sign::Plus && tau.bit(0), "{tau}");
    assert!(tau.bits() <= 131 && rho.bits() <= 131, "{tau} {rho}");
    let [k, s, order] = [k, s, &*L].map(|x| BigInt::from(x.clone()));
    assert_eq!((&tau * &k - &rho) % (&order * 8), BigInt::ZERO, "{k}");
    assert_eq!(base, tau * s % order);
}
