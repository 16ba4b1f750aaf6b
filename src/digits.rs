//! The scalars of a group in signed digits.
//!
//! Two points P and Q of the lane's own have digits of two bits, −2 … 1, and 2 in the last place; a pair of
//! them is one digit here. B and [2^130]B have digits of ten bits, at every fifth position.

use crate::field::MAX_LANES;
use crate::half_size::{self, Relation};
use crate::scalar::{CUT, Scalar};

/// Bits of a digit of P and Q.
pub(crate) const WIDTH: usize = 2;
/// Bits of a digit of B and [2^130]B.
const BASE_WIDTH: usize = 10;
/// Digits of S, which is below 2^253.
const BASE_DIGITS: usize = 2 * CUT / BASE_WIDTH;
/// Positions of scalars of whole size: digits below the cut.
const WHOLE_POSITIONS: usize = CUT / WIDTH;
/// Positions of half-size scalars.
const HALF_SIZE_POSITIONS: usize = (half_size::BITS + 1) / WIDTH;
/// Room for positions, in whole words of bytes.
const POSITIONS: usize = HALF_SIZE_POSITIONS.next_multiple_of(8);

const _: () = {
    assert!(WIDTH == 2, "written for it");
    assert!(CUT.is_multiple_of(BASE_WIDTH) && BASE_WIDTH.is_multiple_of(WIDTH));
    assert!(
        WHOLE_POSITIONS == 65 && HALF_SIZE_POSITIONS == 66,
        "set_whole and set_half_size are written for them"
    );
    assert!(HALF_SIZE_POSITIONS * WIDTH == half_size::BITS + 1);
};

/// A pair of digits i of P and j of Q is the digit 5 i + j: i and j can be told from it, and its sign
/// changes with both of theirs.
pub(crate) const STRIDE: u8 = 5;

/// The digits of a group's scalars.
pub(crate) struct Digits {
    /// How many positions are in use.
    positions: usize,
    /// Of each position, the lowest first, each lane's.
    points: [[i8; MAX_LANES]; POSITIONS],
    /// B's digits and then those of [2^130]B.
    base: [[i16; MAX_LANES]; BASE_DIGITS],
}

/// The digits of one position, of all lanes.
pub(crate) struct Position<'a> {
    /// Of P and Q, −12 … 12.
    pub(crate) points: &'a [i8; MAX_LANES],
    /// Of B and [2^130]B, −512 … 512.
    pub(crate) base: Option<[&'a [i16; MAX_LANES]; 2]>,
    /// No doublings follow.
    pub(crate) last: bool,
}

impl Digits {
    const ZERO: Self = Self {
        positions: 0,
        points: [[0; MAX_LANES]; POSITIONS],
        base: [[0; MAX_LANES]; BASE_DIGITS],
    };

    /// Zeros, for [`Self::set_whole`].
    pub(crate) const WHOLE: Self = Self { positions: WHOLE_POSITIONS, ..Self::ZERO };
    /// Zeros, for [`Self::set_half_size`].
    pub(crate) const HALF_SIZE: Self = Self { positions: HALF_SIZE_POSITIONS, ..Self::ZERO };

    /// The scalars of [S]B − [k]A, P and Q being −A and [2^130](−A).
    pub(crate) fn set_whole(&mut self, lane: usize, k: &Scalar, s: &Scalar) {
        // 2 at each of the 130 places of both halves: no digit of k's is without.
        let &[k0, k1, k2, k3] = k.words();
        let [s0, s1, s2, s3, s4] = add(&[k0, k1, k2, k3, 0], &[TWOS, TWOS, TWOS, TWOS, TWOS & 0xf]);
        let lower = [s0, s1, s2 & 3];
        let upper = [s2 >> 2 | s3 << 62, s3 >> 2 | s4 << 62, s4 >> 2];
        set_pairs(&mut self.points, lane, &lower, &upper, false);
        self.set_base(lane, s);
    }

    /// The scalars of [τ S]B − [ρ]A − [τ]R, P and Q being −A and −R.
    pub(crate) fn set_half_size(&mut self, lane: usize, relation: &Relation, s: &Scalar) {
        // 2 at each place but the last, whose digit is the two highest bits of less than
        // 2^131 + 2^130.
        const HALVES: [u64; 3] = [TWOS, TWOS, TWOS & 3];
        const LAST: usize = HALF_SIZE_POSITIONS - 1;
        let (rho, negative) = relation.rho();
        let [rho, tau] = [rho, relation.tau()].map(|x| add(x, &HALVES));
        set_pairs(&mut self.points, lane, &rho, &tau, negative);
        let [i, j] = [rho, tau].map(|x| (x[2] >> 2) as i8);
        let i = if negative { -i } else { i };
        self.points[LAST][lane] = STRIDE as i8 * i + j;
        self.set_base(lane, &s.mul_short(relation.tau()));
    }

    fn set_base(&mut self, lane: usize, s: &Scalar) {
        for (digits, digit) in self.base.iter_mut().zip(base_digits(s)) {
            digits[lane] = digit;
        }
    }

    /// The positions, the last one first.
    #[inline(always)]
    pub(crate) fn positions(&self) -> impl Iterator<Item = Position<'_>> {
        const EVERY: usize = BASE_WIDTH / WIDTH;
        const HALF: usize = BASE_DIGITS / 2;
        (0..self.positions).rev().map(|i| Position {
            points: &self.points[i],
            base: if i.is_multiple_of(EVERY) && i / EVERY < HALF {
                let i = i / EVERY;
                Some([&self.base[i], &self.base[HALF + i]])
            } else {
                None
            },
            last: i == 0,
        })
    }
}

/// 2 in each pair of bits: half of a digit's range, added at every place and taken off each digit again,
/// so that no digit waits for a carry.
const TWOS: u64 = 0xaaaa_aaaa_aaaa_aaaa;

/// a + b without a carry out of the last word.
fn add<const N: usize>(a: &[u64; N], b: &[u64; N]) -> [u64; N] {
    let mut sum = [0; N];
    let mut carry = 0;
    for ((sum, a), b) in sum.iter_mut().zip(a).zip(b) {
        let wide = u128::from(*a) + u128::from(*b) + carry;
        *sum = wide as u64;
        carry = wide >> 64;
    }
    debug_assert_eq!(carry, 0);
    sum
}

/// Digits 5 i + j, or −5 i + j if the first scalar is `negative`, from scalars with 2 added at each place.
fn set_pairs(
    digits: &mut [[i8; MAX_LANES]; POSITIONS],
    lane: usize,
    first: &[u64; 3],
    second: &[u64; 3],
    negative: bool,
) {
    // −(i − 2) = (3 − i) − 1, and 3 − i has the bits of i inverted.
    const ONES: u64 = 0x0101_0101_0101_0101;
    let (invert, bias) = if negative { (3 * ONES, 7 * ONES) } else { (0, 12 * ONES) };
    for (word, digits) in digits.chunks_exact_mut(8).enumerate() {
        let pairs = |x: &[u64; 3]| bytes_of_pairs((x[word / 4] >> (16 * (word % 4))) as u16);
        let sums = u64::from(STRIDE) * (pairs(first) ^ invert) + pairs(second);
        // Bytes 0 … 18, less the bias in two's complement: 0x80 keeps them from borrowing.
        let differences = (sums + 0x80 * ONES - bias) ^ (0x80 * ONES);
        for (digit, byte) in digits.iter_mut().zip(differences.to_le_bytes()) {
            digit[lane] = byte as i8;
        }
    }
}

/// Eight pairs of bits, one to a byte.
fn bytes_of_pairs(bits: u16) -> u64 {
    let x = u64::from(bits);
    let x = (x | x << 24) & 0x0000_00ff_0000_00ff;
    let x = (x | x << 12) & 0x000f_000f_000f_000f;
    (x | x << 6) & 0x0303_0303_0303_0303
}

/// Digits d_i of −512 … 511 with Σ 1024^i d_i = S. Half of the range is added at every place but the last,
/// whose digit is at most 8.
fn base_digits(s: &Scalar) -> [i16; BASE_DIGITS] {
    const HALF: i16 = 1 << (BASE_WIDTH - 1);
    const HALVES: [u64; 4] = {
        let mut words = [0; 4];
        let mut i = 1;
        while i < BASE_DIGITS {
            let bit = BASE_WIDTH * i - 1;
            words[bit / 64] |= 1 << (bit % 64);
            i += 1;
        }
        words
    };
    // Four bytes from any byte on that a digit begins in.
    let mut bytes = [0; 36];
    for (bytes, word) in bytes.chunks_exact_mut(8).zip(add(s.words(), &HALVES)) {
        bytes.copy_from_slice(&word.to_le_bytes());
    }
    let mut digits = [0; BASE_DIGITS];
    for (i, digit) in digits.iter_mut().enumerate() {
        let (byte, shift) = (i * BASE_WIDTH / 8, i * BASE_WIDTH % 8);
        let four = [bytes[byte], bytes[byte + 1], bytes[byte + 2], bytes[byte + 3]];
        let value = (u32::from_le_bytes(four) >> shift) as i16 & (2 * HALF - 1);
        *digit = if i + 1 < BASE_DIGITS { value - HALF } else { value };
    }
    digits
}

/// What one lane's digits add up to, digit by digit: for tests.
#[cfg(any(test, fuzzing))]
impl Digits {
    /// (i, j) of the lane's digits 5 i + j.
    pub(crate) fn pairs(&self, lane: usize) -> impl Iterator<Item = (i8, i8)> {
        self.points[..self.positions].iter().map(move |digits| {
            let digit = digits[lane];
            let j = (digit + 12).rem_euclid(5) - 2;
            ((digit - j) / 5, j)
        })
    }

    /// Of B and [2^130]B.
    pub(crate) fn base(&self, lane: usize) -> [i16; BASE_DIGITS] {
        self.base.map(|digits| digits[lane])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scalar::tests::{bytes, edges, integer, order};
    use num_bigint::BigInt;
    use std::vec::Vec;

    fn sum(width: usize, digits: impl DoubleEndedIterator<Item = i16>) -> BigInt {
        digits.rev().fold(BigInt::ZERO, |sum, digit| (sum << width) + digit)
    }

    fn check(digits: &Digits, [first, second]: [&BigInt; 2], s: &BigInt) {
        for lane in 0..MAX_LANES {
            let used = lane == 3;
            let expected = |x: &BigInt| if used { x.clone() } else { BigInt::ZERO };
            let pairs: Vec<_> = digits.pairs(lane).collect();
            assert!(pairs.iter().all(|(i, j)| i.abs() <= 2 && j.abs() <= 2));
            assert_eq!(sum(WIDTH, pairs.iter().map(|(i, _)| i16::from(*i))), expected(first));
            assert_eq!(sum(WIDTH, pairs.iter().map(|(_, j)| i16::from(*j))), expected(second));
            let base = digits.base(lane).into_iter();
            assert_eq!(sum(BASE_WIDTH, base), expected(s));
        }
        // What the multiplication reads are these digits.
        let mut places = digits.positions();
        for i in (0..digits.positions).rev() {
            let position = places.next().expect("as many positions");
            for lane in 0..MAX_LANES {
                let (first, second) = digits.pairs(lane).nth(i).expect("as many pairs");
                assert_eq!(position.points[lane], 5 * first + second);
                assert_eq!(position.base.is_some(), i % 5 == 0 && i < 65);
                if let Some([lower, upper]) = position.base {
                    assert!([lower[lane], upper[lane]].iter().all(|digit| digit.abs() <= 512));
                    assert_eq!(lower[lane], digits.base(lane)[i / 5]);
                    assert_eq!(upper[lane], digits.base(lane)[13 + i / 5]);
                }
            }
            assert_eq!(position.last, i == 0);
        }
        assert!(places.next().is_none());
    }

    #[test]
    fn digits_add_up_to_the_scalars() {
        let scalars: Vec<Scalar> =
            edges(512).iter().map(|x| Scalar::from_wide(&bytes(x))).collect();
        let mut half_size = 0;
        for (k, s) in scalars.iter().zip(scalars.iter().cycle().skip(1000)) {
            let [k_integer, s_integer] = [k, s].map(|scalar| BigInt::from(integer(scalar)));
            let mut digits = Digits::WHOLE;
            digits.set_whole(3, k, s);
            let lower: BigInt = &k_integer & ((BigInt::from(1) << CUT) - 1);
            let first = sum(
                WIDTH,
                digits.pairs(3).map(|(i, _)| i16::from(i)).collect::<Vec<_>>().into_iter(),
            );
            // The lower part may borrow from the upper one.
            let carry = i32::from(first != lower);
            check(
                &digits,
                [&(lower - (BigInt::from(carry) << CUT)), &((&k_integer >> CUT) + carry)],
                &s_integer,
            );

            if let Some(relation) = Relation::find(k) {
                let mut digits = Digits::HALF_SIZE;
                digits.set_half_size(3, &relation, s);
                let [tau, rho] = relation.integers();
                let s = &tau * &s_integer % BigInt::from(order());
                check(&digits, [&rho, &tau], &s);
                half_size += 1;
            }
        }
        assert!(half_size > 1000);
    }
}
