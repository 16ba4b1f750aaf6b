//! The bound checker: the formulas of [`super`] run on intervals, so that one run covers every
//! input.
//!
//! Each number is the interval of what it can be; each operation computes the worst case of its
//! result and panics where the CPU's operation would not be the exact one that the formula means:
//! an `f64` integer beyond 2^53, a product outside its binade, an integer sum whose wrap changes a
//! value that is shifted or masked. [`widen`] closes the induction: a carried result must lie
//! within [`CARRIED_BOUND`], and goes on as that whole class.

use super::{
    AffineRow, BITS_2_52, C1, CARRIED_BOUND, Carried, LOOSE_BOUND, Loose, M, MASK51, ProjectiveRow,
    Quad,
};
use crate::field::{Field, LaneMask, Routine};

/// Needs no CPU feature.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Intervals;

/// The integers from `min` to `max`.
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
    /// −bound … bound.
    pub(crate) const fn symmetric(bound: i64) -> Self {
        Self::new(-(bound as i128), bound as i128)
    }
    const fn exactly(x: i128) -> Self {
        Self::new(x, x)
    }
    fn within(self, bound: i128, what: &str) -> Self {
        assert!(-bound <= self.min && self.max <= bound, "{what}: {self:?} exceeds ±{bound}");
        self
    }
    fn add(self, other: Self) -> Self {
        Self::new(self.min + other.min, self.max + other.max)
    }
    fn negate(self) -> Self {
        Self::new(-self.max, -self.min)
    }
    fn scale(self, factor: i128) -> Self {
        Self::new(self.min * factor, self.max * factor)
    }
    fn union(self, other: Self) -> Self {
        Self::new(self.min.min(other.min), self.max.max(other.max))
    }
    fn mul(self, other: Self) -> Self {
        let corners = [
            self.min * other.min,
            self.min * other.max,
            self.max * other.min,
            self.max * other.max,
        ];
        Self::new(*corners.iter().min().expect("four"), *corners.iter().max().expect("four"))
    }
}

/// A 64-bit integer: `bias` + an element of `value`, modulo 2^64.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Biased {
    bias: u64,
    value: Interval,
}

impl Biased {
    /// −bound … bound, no constant added.
    pub(crate) const fn symmetric(bound: i64) -> Self {
        Self { bias: 0, value: Interval::symmetric(bound) }
    }
    /// The unsigned integers that this can be; no wrap may lie between them.
    fn unsigned(self) -> Interval {
        let all = self.value.add(Interval::exactly(self.bias.into()));
        assert!(0 <= all.min && all.max < 1 << 64, "wraps: {self:?}");
        all
    }
}

/// ⌊x / 2^51⌉, as round-to-nearest takes it off.
fn quotient51(x: i128) -> i128 {
    (x + (1 << 50)) >> 51
}

impl Quad for Intervals {
    type F = Interval;
    type I = Biased;

    fn splat(self, x: f64) -> Interval {
        Interval::exactly(x as i128)
    }
    fn load(self, lanes: [f64; 4]) -> Interval {
        lanes.map(|x| self.splat(x)).into_iter().reduce(Interval::union).expect("four lanes")
    }
    fn store(self, _: Interval) -> [f64; 4] {
        unimplemented!("an interval is not a number")
    }
    fn add(self, a: Interval, b: Interval) -> Interval {
        a.add(b).within(1 << 53, "sum")
    }
    fn sub(self, a: Interval, b: Interval) -> Interval {
        a.add(b.negate()).within(1 << 53, "difference")
    }
    fn select(self, _: LaneMask, a: Interval, b: Interval) -> Interval {
        a.union(b)
    }
    fn split51(self, x: Interval) -> (Interval, Interval) {
        let quotients = Interval::new(quotient51(x.min), quotient51(x.max));
        (Interval::symmetric(1 << 50), quotients.scale(1 << 51))
    }
    fn add_quotient(self, x: Interval, c: Interval, factor: u32) -> Interval {
        let quotients = Interval::new(c.min >> 51, c.max >> 51);
        self.add(x, quotients.scale(factor.into()))
    }
    fn product(self, a: Interval, b: Interval) -> (Biased, Biased) {
        let product = a.mul(b).within((1 << 102) - (1 << 50), "product");
        let high = Interval::new(quotient51(product.min), quotient51(product.max));
        (
            Biased { bias: C1.to_bits(), value: high },
            Biased { bias: M.to_bits(), value: Interval::symmetric(1 << 50) },
        )
    }
    fn bits(self, x: Interval) -> Biased {
        assert!(1 << 52 <= x.min && x.max < 1 << 53, "outside the binade of 2^52: {x:?}");
        Biased { bias: BITS_2_52, value: x.add(Interval::exactly(-(1 << 52))) }
    }
    fn float(self, x: Biased) -> Interval {
        let bits = x.unsigned();
        let value = bits.add(Interval::exactly(-i128::from(BITS_2_52)));
        assert!(0 <= value.min && value.max < 1 << 52, "outside the binade of 2^52: {x:?}");
        value.add(Interval::exactly(1 << 52))
    }
    fn splat_int(self, x: u64) -> Biased {
        Biased { bias: x, value: Interval::exactly(0) }
    }
    fn add_int(self, a: Biased, b: Biased) -> Biased {
        Biased {
            bias: a.bias.wrapping_add(b.bias),
            value: a.value.add(b.value).within(i64::MAX.into(), "integer sum"),
        }
    }
    fn sub_int(self, a: Biased, b: Biased) -> Biased {
        Biased {
            bias: a.bias.wrapping_sub(b.bias),
            value: a.value.add(b.value.negate()).within(i64::MAX.into(), "integer difference"),
        }
    }
    fn shift_left<const N: i32>(self, x: Biased) -> Biased {
        Biased {
            bias: x.bias << N,
            value: x.value.scale(1 << N).within(i64::MAX.into(), "left shift"),
        }
    }
    fn shift_right<const N: i32>(self, x: Biased) -> Biased {
        let all = x.unsigned();
        Biased { bias: 0, value: Interval::new(all.min >> N, all.max >> N) }
    }
    fn low51(self, x: Biased) -> Biased {
        x.unsigned();
        Biased { bias: 0, value: Interval::new(0, MASK51.into()) }
    }
    fn or_bits_2_52(self, x: Biased) -> Biased {
        assert!(x.unsigned().max < 1 << 52, "no room for the exponent: {x:?}");
        Biased { bias: BITS_2_52.wrapping_add(x.bias), value: x.value }
    }
    fn times19(self, x: Biased) -> Biased {
        let all = x.unsigned();
        assert!(all.max < 1 << 32, "not a 32-bit factor: {x:?}");
        Biased { bias: 0, value: all.scale(19) }
    }
    // Every lane has the same interval.
    fn permute<const CONTROL: i32>(self, x: Interval) -> Interval {
        x
    }
    fn permute_int<const CONTROL: i32>(self, x: Biased) -> Biased {
        x
    }
    fn negate_lanes(self, _: LaneMask, x: Biased) -> Biased {
        assert_eq!(x.bias, 0, "the bias would be negated too");
        Biased { bias: 0, value: x.value.union(x.value.negate()) }
    }
    fn shift_lanes(self, n: [u64; 4], x: Biased) -> Biased {
        assert_eq!(x.bias, 0, "the bias would be shifted too");
        let shifted = n.map(|n| x.value.scale(if n == 64 { 0 } else { 1 << n }));
        let value = shifted.into_iter().reduce(Interval::union).expect("four lanes");
        Biased { bias: 0, value: value.within(i64::MAX.into(), "shift") }
    }
    fn store_row(self, _: [&[Interval; 5]; 4], _: usize, _: &mut [ProjectiveRow]) {}
    fn pick_projective(self, _: &[ProjectiveRow], _: &[u8], _: &[i8]) -> [[Interval; 5]; 4] {
        [[Interval::symmetric(CARRIED_BOUND); 5]; 4]
    }
    fn pick_affine(self, _: &[AffineRow], _: &[i16]) -> [[Interval; 5]; 3] {
        [[Interval::symmetric(CARRIED_BOUND); 5]; 3]
    }
    fn mul_loose(self, a: &[Interval; 5], b: &[Interval; 5]) -> [Biased; 5] {
        check_loose(super::mul_loose(self, a, b))
    }
    fn square_loose(self, a: &[Interval; 5]) -> [Biased; 5] {
        check_loose(super::square_loose(self, a))
    }
    fn mul(self, a: &[Interval; 5], b: &[Interval; 5]) -> [Interval; 5] {
        widen(super::carry(self, &self.mul_loose(a, b)))
    }
    fn square(self, a: &[Interval; 5]) -> [Interval; 5] {
        widen(super::carry(self, &self.square_loose(a)))
    }
    fn enter<F: Field, R: Routine<F>>(self, f: F, routine: R) -> R::Output {
        routine.run(f)
    }
}

/// Products of the formulas: all constants are off, and [`super::super::LOOSE_TERMS`] of them fit
/// the class.
fn check_loose(limbs: [Biased; 5]) -> [Biased; 5] {
    for (limb, bound) in limbs.iter().zip(LOOSE_BOUND) {
        assert_eq!(limb.bias, 0, "constants left in a column");
        let terms = super::super::LOOSE_TERMS as i128;
        limb.value.scale(terms).within(bound.into(), "loose");
    }
    limbs
}

/// The whole class of carried limbs, in which `limbs` must lie.
pub(crate) fn widen(limbs: [Interval; 5]) -> [Interval; 5] {
    for limb in limbs {
        limb.within(CARRIED_BOUND.into(), "carried");
    }
    carried().0
}

/// Any carried element.
pub(crate) fn carried() -> Carried<Interval> {
    Carried([Interval::symmetric(CARRIED_BOUND); 5])
}

/// Any loose element.
pub(crate) fn loose() -> Loose<Biased> {
    Loose(LOOSE_BOUND.map(Biased::symmetric))
}
