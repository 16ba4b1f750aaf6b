//! The CPU in plain Rust: what each instruction of [`super::avx2`] does to one number, four times.

use super::{
    AffineRow, BITS_2_52, C1, C2, MASK51, ProjectiveRow, Quad, TABLE_ROWS, TWO_POW_MINUS_51,
};
use crate::field::{Field, LaneMask, Routine};

/// Needs no CPU feature.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Model;

fn each<T: Copy, U>(x: [T; 4], f: impl Fn(T) -> U) -> [U; 4] {
    x.map(f)
}

fn both<T: Copy, U>(a: [T; 4], b: [T; 4], f: impl Fn(T, T) -> U) -> [U; 4] {
    core::array::from_fn(|i| f(a[i], b[i]))
}

impl Quad for Model {
    type F = [f64; 4];
    type I = [u64; 4];

    fn splat(self, x: f64) -> [f64; 4] {
        [x; 4]
    }
    fn load(self, lanes: [f64; 4]) -> [f64; 4] {
        lanes
    }
    fn store(self, x: [f64; 4]) -> [f64; 4] {
        x
    }
    fn add(self, a: [f64; 4], b: [f64; 4]) -> [f64; 4] {
        both(a, b, |a, b| a + b)
    }
    fn sub(self, a: [f64; 4], b: [f64; 4]) -> [f64; 4] {
        both(a, b, |a, b| a - b)
    }
    fn select(self, mask: LaneMask, a: [f64; 4], b: [f64; 4]) -> [f64; 4] {
        core::array::from_fn(|i| if mask >> i & 1 == 1 { a[i] } else { b[i] })
    }
    fn split51(self, x: [f64; 4]) -> ([f64; 4], [f64; 4]) {
        let multiple = each(x, |x| (x + C1) - C1);
        (both(x, multiple, |x, c| x - c), multiple)
    }
    fn add_quotient(self, x: [f64; 4], c: [f64; 4], factor: u32) -> [f64; 4] {
        both(x, c, |x, c| c.mul_add(f64::from(factor) * TWO_POW_MINUS_51, x))
    }
    fn product(self, a: [f64; 4], b: [f64; 4]) -> ([u64; 4], [u64; 4]) {
        let hi = both(a, b, |a, b| a.mul_add(b, C1));
        let lo = core::array::from_fn(|i| a[i].mul_add(b[i], C2 - hi[i]).to_bits());
        (each(hi, f64::to_bits), lo)
    }
    fn bits(self, x: [f64; 4]) -> [u64; 4] {
        each(x, f64::to_bits)
    }
    fn float(self, x: [u64; 4]) -> [f64; 4] {
        each(x, f64::from_bits)
    }
    fn splat_int(self, x: u64) -> [u64; 4] {
        [x; 4]
    }
    fn add_int(self, a: [u64; 4], b: [u64; 4]) -> [u64; 4] {
        both(a, b, u64::wrapping_add)
    }
    fn sub_int(self, a: [u64; 4], b: [u64; 4]) -> [u64; 4] {
        both(a, b, u64::wrapping_sub)
    }
    fn shift_left<const N: i32>(self, x: [u64; 4]) -> [u64; 4] {
        each(x, |x| x << N)
    }
    fn shift_right<const N: i32>(self, x: [u64; 4]) -> [u64; 4] {
        each(x, |x| x >> N)
    }
    fn low51(self, x: [u64; 4]) -> [u64; 4] {
        each(x, |x| x & MASK51)
    }
    fn or_bits_2_52(self, x: [u64; 4]) -> [u64; 4] {
        each(x, |x| x | BITS_2_52)
    }
    fn times19(self, x: [u64; 4]) -> [u64; 4] {
        each(x, |x| (x & u64::from(u32::MAX)) * 19)
    }
    fn permute<const CONTROL: i32>(self, x: [f64; 4]) -> [f64; 4] {
        core::array::from_fn(|lane| x[(CONTROL >> (2 * lane) & 3) as usize])
    }
    fn permute_int<const CONTROL: i32>(self, x: [u64; 4]) -> [u64; 4] {
        core::array::from_fn(|lane| x[(CONTROL >> (2 * lane) & 3) as usize])
    }
    fn negate_lanes(self, mask: LaneMask, x: [u64; 4]) -> [u64; 4] {
        core::array::from_fn(
            |lane| {
                if mask >> lane & 1 == 1 { x[lane].wrapping_neg() } else { x[lane] }
            },
        )
    }
    fn shift_lanes(self, n: [u64; 4], x: [u64; 4]) -> [u64; 4] {
        both(x, n, |x, n| if n == 64 { 0 } else { x << n })
    }
    fn store_row(self, coordinates: [&[[f64; 4]; 5]; 4], row: usize, table: &mut [ProjectiveRow]) {
        for lane in 0..4 {
            let groups = &mut table[lane * TABLE_ROWS + row].0;
            for (coordinate, limbs) in coordinates.iter().enumerate() {
                for limb in 0..4 {
                    groups[coordinate][limb] = limbs[limb][lane];
                }
                groups[4][coordinate] = limbs[4][lane];
            }
        }
    }
    fn pick_projective(
        self,
        table: &[ProjectiveRow],
        slots: &[u8],
        digits: &[i8],
    ) -> [[[f64; 4]; 5]; 4] {
        let mut out = [[[0.0; 4]; 5]; 4];
        for (lane, &digit) in digits.iter().enumerate().take(4) {
            let groups =
                &table[usize::from(slots[lane]) * TABLE_ROWS + usize::from(digit.unsigned_abs())].0;
            pick_lane(groups, digit < 0, lane, &mut out);
        }
        out
    }
    fn pick_affine(self, table: &[AffineRow], digits: &[i16]) -> [[[f64; 4]; 5]; 3] {
        let mut out = [[[0.0; 4]; 5]; 3];
        for (lane, &digit) in digits.iter().enumerate().take(4) {
            let groups = &table[usize::from(digit.unsigned_abs())].0;
            pick_lane(groups, digit < 0, lane, &mut out);
        }
        out
    }
    // Out of line: the formulas are long, and the tests call them in many places.
    #[inline(never)]
    fn mul_loose(self, a: &[[f64; 4]; 5], b: &[[f64; 4]; 5]) -> [[u64; 4]; 5] {
        super::mul_loose(self, a, b)
    }
    #[inline(never)]
    fn square_loose(self, a: &[[f64; 4]; 5]) -> [[u64; 4]; 5] {
        super::square_loose(self, a)
    }
    fn enter<F: Field, R: Routine<F>>(self, f: F, routine: R) -> R::Output {
        routine.run(f)
    }
}

/// Row `groups` into lane `lane` of `N` coordinates, the last of which changes its sign.
fn pick_lane<const N: usize>(
    groups: &[[f64; 4]],
    negative: bool,
    lane: usize,
    out: &mut [[[f64; 4]; 5]; N],
) {
    for (coordinate, limbs) in out.iter_mut().enumerate() {
        let from = if negative && coordinate < 2 { 1 - coordinate } else { coordinate };
        let sign = if negative && coordinate == N - 1 { -1.0 } else { 1.0 };
        for (limb, value) in limbs.iter_mut().enumerate() {
            value[lane] = sign * if limb < 4 { groups[from][limb] } else { groups[N][from] };
        }
    }
}
