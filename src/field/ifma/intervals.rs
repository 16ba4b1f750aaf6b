//! The bound checker: the formulas of [`super`] run on intervals, so that one run covers every
//! input.
//!
//! Each word is the interval of what it can be, as an integer that may be negative; each operation
//! computes the worst case of its result and panics where the CPU's operation would not be the exact
//! one that the formula means: a factor of more than 52 bits, or a word that is shifted or masked and
//! has wrapped. [`widen`] closes the induction: a carried result must lie within its class, and goes on
//! as that whole class.

use super::{AffineRow, Carried, LOOSE_BOUND, Loose, MASK51, Octet, ProjectiveRow, TWO_P};
use crate::field::{Field, LaneMask, Routine};

/// Needs no CPU feature.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Intervals;

/// The integers from `min` to `max`, of which a word holds the residue modulo 2^64.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Interval {
    pub(crate) min: i128,
    pub(crate) max: i128,
}

impl Interval {
    pub(crate) const fn new(min: i128, max: i128) -> Self {
        assert!(min <= max);
        Self { min, max }
    }
    fn up_to(max: u64) -> Self {
        Self::new(0, max.into())
    }
    /// The integers themselves must be what the word holds, below 2^`bits`.
    fn unsigned(self, bits: u32) -> Self {
        assert!(0 <= self.min && self.max < 1 << bits, "not an integer of {bits} bits: {self:?}");
        self
    }
    fn union(self, other: Self) -> Self {
        Self::new(self.min.min(other.min), self.max.max(other.max))
    }
    fn product(self, other: Self) -> Self {
        let (a, b) = (self.unsigned(52), other.unsigned(52));
        Self::new(a.min * b.min, a.max * b.max)
    }
}

impl Octet for Intervals {
    type W = Interval;

    fn splat(self, x: u64) -> Interval {
        Interval::new(x.into(), x.into())
    }
    fn load(self, lanes: [u64; 8]) -> Interval {
        lanes.map(|x| self.splat(x)).into_iter().reduce(Interval::union).expect("eight lanes")
    }
    fn store(self, _: Interval) -> [u64; 8] {
        unimplemented!("an interval is not a number")
    }
    fn add(self, a: Interval, b: Interval) -> Interval {
        Interval::new(a.min + b.min, a.max + b.max)
    }
    fn sub(self, a: Interval, b: Interval) -> Interval {
        Interval::new(a.min - b.max, a.max - b.min)
    }
    fn select(self, _: LaneMask, a: Interval, b: Interval) -> Interval {
        a.union(b)
    }
    fn shift_right_51(self, x: Interval) -> Interval {
        let x = x.unsigned(64);
        Interval::new(x.min >> 51, x.max >> 51)
    }
    fn low51(self, x: Interval) -> Interval {
        x.unsigned(64);
        Interval::up_to(MASK51)
    }
    fn times19(self, x: Interval) -> Interval {
        Interval::new(19 * x.min, 19 * x.max)
    }
    fn madd_low(self, c: Interval, a: Interval, b: Interval) -> Interval {
        let product = a.product(b);
        let low = if product.max < 1 << 52 { product } else { Interval::up_to((1 << 52) - 1) };
        self.add(c, low)
    }
    fn madd_high(self, c: Interval, a: Interval, b: Interval) -> Interval {
        let product = a.product(b);
        self.add(c, Interval::new(product.min >> 52, product.max >> 52))
    }
    fn zero_lanes(self, _: [Interval; 5]) -> LaneMask {
        0
    }
    fn odd_lanes(self, _: Interval) -> LaneMask {
        0
    }
    fn load_encodings(self, _: &[[u8; 32]]) -> ([Interval; 5], LaneMask) {
        ([Interval::up_to(MASK51); 5], 0)
    }
    fn store_row(self, _: [&[Interval; 5]; 4], _: usize, _: &mut [ProjectiveRow]) {}
    fn pick_projective(
        self,
        _: &[ProjectiveRow],
        _: &[u8],
        _: &[i8],
    ) -> ([[Interval; 5]; 4], LaneMask) {
        ([carried().0; 4], 0)
    }
    fn pick_affine(self, _: &[AffineRow], _: &[i16]) -> ([[Interval; 5]; 3], LaneMask) {
        ([carried().0; 3], 0)
    }
    // Every lane has the same interval.
    fn permute<const CONTROL: i32>(self, x: Interval) -> Interval {
        x
    }
    fn shift_lanes(self, n: [u64; 4], x: Interval) -> Interval {
        let shifted = n.map(|n| {
            let factor = if n == 64 { 0 } else { 1 << n };
            Interval::new(x.min * factor, x.max * factor)
        });
        shifted.into_iter().reduce(Interval::union).expect("four lanes")
    }
    fn load_base(self, _: [&AffineRow; 2]) -> [Interval; 5] {
        carried().0
    }
    fn enter<F: Field, R: Routine<F>>(self, f: F, routine: R) -> R::Output {
        routine.run(f)
    }
}

/// The whole class of carried limbs, in which `limbs` must lie.
pub(crate) fn widen(limbs: [Interval; 5]) -> [Interval; 5] {
    for (limb, bound) in limbs.iter().zip(TWO_P) {
        assert!(0 <= limb.min && limb.max <= bound.into(), "not carried: {limb:?}");
    }
    carried().0
}

/// Any carried element.
pub(crate) fn carried() -> Carried<Interval> {
    Carried(TWO_P.map(Interval::up_to))
}

/// Any loose element.
pub(crate) fn loose() -> Loose<Interval> {
    Loose([Interval::new(-LOOSE_BOUND, LOOSE_BOUND); 5])
}
