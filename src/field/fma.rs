//! The FMA representation: four lanes, 5 × `f64` with signed limbs, radix 2^51.
//!
//! A product of two limbs is split by two fused multiply-adds, exactly, under round-to-nearest:
//!
//! ```text
//! C1 = 1.5 · 2^103    M = 1.5 · 2^52
//! hi = fma(a, b, C1)                 = C1 + 2^51 h    (a multiple of 2^51: the spacing of f64 in [2^103, 2^104))
//! lo = fma(a, b, (C1 + M) − hi)      = M + l          (exact: |l| ≤ 2^50)
//! a b = 2^51 h + l
//! ```
//!
//! The bits of `hi`, as an integer, are those of C1 plus h, and the bits of `lo` those of M plus l,
//! as long as both stay in their binade, which |a b| < 2^102 − 2^50 ensures. So the split halves
//! are summed as integers, column by column; the sum of the constants is known and subtracted once
//! per column. It falls exactly on the radix: no factor 2 between the halves, no 32-bit limbs.
//!
//! | class | limbs |
//! |---|---|
//! | carried | `f64`, integer, at most [`CARRIED_BOUND`] in absolute value |
//! | sum | `f64`, integer, at most twice that |
//! | loose | `i64` in two's complement, at most [`LOOSE_BOUND`] in absolute value |
//!
//! So carried × sum stays below 2 · (2^50 + 2^11)² < 2^102 − 2^50, as do the doubled cross terms of
//! a square of a carried element. Sum × sum does not, nor does the square of a sum: neither exists
//! in [`Field`].
//!
//! The formulas below are written over [`Quad`], four numbers at once. Its instances are the CPU
//! ([`avx2`]), a model of it in plain Rust (`model`), and intervals (`intervals`), which compute
//! the worst case of every intermediate and so check the bounds of this page on the code that runs.
//! The products of the CPU instance are generated assembly, tested limb for limb against the model.

use super::{Field, LaneMask, Limbs, MASK51, Routine, TABLE_ROWS, limbwise, portable};
use crate::basepoint;
use crate::edwards;
use crate::solo::{self, Coordinates};

#[cfg(target_arch = "x86_64")]
#[allow(unsafe_code)]
pub(crate) mod avx2;
#[cfg(test)]
pub(crate) mod intervals;
#[cfg(target_arch = "x86_64")]
#[allow(unsafe_code)]
#[rustfmt::skip] // generated
mod kernels;
#[cfg(test)]
pub(crate) mod model;

/// |limb| of a carried element.
#[cfg(test)]
pub(crate) const CARRIED_BOUND: i64 = (1 << 50) + (1 << 11);

/// |limb| of a loose element: [`super::LOOSE_TERMS`] products of a sum and a carried element. Limb 4
/// has the tightest bound because its carry enters limb 0 nineteen times: 19 · 2^57 / 2^51 < 2^11.
#[cfg(test)]
pub(crate) const LOOSE_BOUND: [i64; 5] = [1 << 60, 1 << 60, 1 << 60, 1 << 60, 1 << 57];

/// C1 = 1.5 · 2^103.
pub(crate) const C1: f64 = 1.5 * (1u128 << 103) as f64;
/// M = 1.5 · 2^52.
pub(crate) const M: f64 = 1.5 * (1u64 << 52) as f64;
/// C1 + M, exact.
pub(crate) const C2: f64 = C1 + M;
/// The bits of 2^52: OR-ed to an integer below 2^52 they make the `f64` 2^52 + that integer.
pub(crate) const BITS_2_52: u64 = (1f64 * (1u64 << 52) as f64).to_bits();

/// Added before a carry so that the limb is positive: 2^63, which the carry counts as 4096, and
/// 2^50, which centres the remainder.
pub(crate) const CARRY_BIAS: u64 = (1 << 63) + (1 << 50);
/// What the bias left in limbs 1 … 4 of a carry: 2^52 from the exponent bits, 2^50, and 4096 from
/// the limb below.
pub(crate) const CARRY_OFFSET: f64 = ((1u64 << 52) + (1 << 50) + 4096) as f64;
/// The same in limb 0, where the carry of limb 4 enters 19 times.
pub(crate) const CARRY_OFFSET_0: f64 = ((1u64 << 52) + (1 << 50) + 19 * 4096) as f64;

const TWO_POW_MINUS_51: f64 = 1.0 / (1u64 << 51) as f64;

/// The sum of the constants in the columns of a product that was summed from `lo` and `hi` bits:
/// column k has `low[k]` terms with M's bits and `high[k]` with C1's, and column k + 5 counts 19
/// times.
pub(crate) const fn column_constants(low: &[u64; 10], high: &[u64; 10]) -> [u64; 5] {
    let mut out = [0u64; 5];
    let mut k = 0;
    while k < 10 {
        let column =
            low[k].wrapping_mul(M.to_bits()).wrapping_add(high[k].wrapping_mul(C1.to_bits()));
        let weight = if k < 5 { 1 } else { 19 };
        out[k % 5] = out[k % 5].wrapping_add(column.wrapping_mul(weight));
        k += 1;
    }
    out
}

/// The constants in the columns of a product of 25 terms.
pub(crate) const MUL_CONSTANTS: [u64; 5] =
    column_constants(&[1, 2, 3, 4, 5, 4, 3, 2, 1, 0], &[0, 1, 2, 3, 4, 5, 4, 3, 2, 1]);
/// The constants in the columns of a square of 15 terms.
pub(crate) const SQUARE_CONSTANTS: [u64; 5] =
    column_constants(&[1, 1, 2, 2, 3, 2, 2, 1, 1, 0], &[0, 1, 1, 2, 2, 3, 2, 2, 1, 1]);

/// Four `f64` or four 64-bit integers at once, one per lane.
///
/// As with [`Field`], a value of the implementing type is a token that proves the CPU's features.
pub(crate) trait Quad: Copy {
    /// Four `f64`, all of them integers of at most 53 bits unless said otherwise.
    type F: Copy;
    /// Four 64-bit integers; arithmetic is modulo 2^64.
    type I: Copy;

    fn splat(self, x: f64) -> Self::F;
    fn load(self, lanes: [f64; 4]) -> Self::F;
    fn store(self, x: Self::F) -> [f64; 4];
    fn add(self, a: Self::F, b: Self::F) -> Self::F;
    fn sub(self, a: Self::F, b: Self::F) -> Self::F;
    /// a in the lanes of `mask`, b in the others.
    fn select(self, mask: LaneMask, a: Self::F, b: Self::F) -> Self::F;
    /// (x mod± 2^51, the multiple of 2^51 that was taken off), |x| < 2^53.
    fn split51(self, x: Self::F) -> (Self::F, Self::F);
    /// x + factor · 2^−51 · c, where c is a multiple of 2^51 from [`Self::split51`].
    fn add_quotient(self, x: Self::F, c: Self::F, factor: u32) -> Self::F;
    /// The bits of (hi, lo) of the module's documentation. |a b| < 2^102 − 2^50.
    fn product(self, a: Self::F, b: Self::F) -> (Self::I, Self::I);

    /// The bits of x, 2^52 ≤ x < 2^53.
    fn bits(self, x: Self::F) -> Self::I;
    /// The inverse of [`Self::bits`].
    fn float(self, x: Self::I) -> Self::F;
    fn splat_int(self, x: u64) -> Self::I;
    fn add_int(self, a: Self::I, b: Self::I) -> Self::I;
    fn sub_int(self, a: Self::I, b: Self::I) -> Self::I;
    /// x · 2^n mod 2^64
    fn shift_left<const N: i32>(self, x: Self::I) -> Self::I;
    /// ⌊x / 2^n⌋, x unsigned.
    fn shift_right<const N: i32>(self, x: Self::I) -> Self::I;
    /// x & [`MASK51`]
    fn low51(self, x: Self::I) -> Self::I;
    /// x | [`BITS_2_52`], x < 2^52.
    fn or_bits_2_52(self, x: Self::I) -> Self::I;
    /// 19 x, x < 2^32.
    fn times19(self, x: Self::I) -> Self::I;

    // Across lanes.

    /// The lanes that the four two-bit fields of `CONTROL` name, the lowest field's first.
    fn permute<const CONTROL: i32>(self, x: Self::F) -> Self::F;
    /// The same for integers.
    fn permute_int<const CONTROL: i32>(self, x: Self::I) -> Self::I;
    /// −x in the lanes of `mask`.
    fn negate_lanes(self, mask: LaneMask, x: Self::I) -> Self::I;
    /// x · 2^n mod 2^64 with the lane's n; 0 for n = 64.
    fn shift_lanes(self, n: [u64; 4], x: Self::I) -> Self::I;

    fn store_row(self, coordinates: [&[Self::F; 5]; 4], row: usize, table: &mut [ProjectiveRow]);
    fn pick_projective(
        self,
        table: &[ProjectiveRow],
        slots: &[u8],
        digits: &[i8],
    ) -> [[Self::F; 5]; 4];
    fn pick_affine(self, table: &[AffineRow], digits: &[i16]) -> [[Self::F; 5]; 3];

    /// As [`Field::enter`].
    fn enter<F: Field, R: Routine<F>>(self, f: F, routine: R) -> R::Output;

    /// a · b with all constants taken off.
    #[inline(always)]
    fn mul_loose(self, a: &[Self::F; 5], b: &[Self::F; 5]) -> [Self::I; 5] {
        mul_loose(self, a, b)
    }
    /// a² with all constants taken off.
    #[inline(always)]
    fn square_loose(self, a: &[Self::F; 5]) -> [Self::I; 5] {
        square_loose(self, a)
    }
    /// a · b, carried.
    #[inline(always)]
    fn mul(self, a: &[Self::F; 5], b: &[Self::F; 5]) -> [Self::F; 5] {
        carry(self, &self.mul_loose(a, b))
    }
    /// out = a · b, carried.
    #[inline(always)]
    fn mul_to(self, out: &mut [Self::F; 5], a: &[Self::F; 5], b: &[Self::F; 5]) {
        *out = self.mul(a, b);
    }
    /// a², carried.
    #[inline(always)]
    fn square(self, a: &[Self::F; 5]) -> [Self::F; 5] {
        carry(self, &self.square_loose(a))
    }
    /// out = a², carried.
    #[inline(always)]
    fn square_to(self, out: &mut [Self::F; 5], a: &[Self::F; 5]) {
        *out = self.square(a);
    }

    /// As [`Field::double`].
    #[inline(always)]
    fn double(self, out: [&mut Carried<Self::F>; 4], point: [&Carried<Self::F>; 3]) {
        edwards::double(Fma(self), out, point);
    }
    /// As [`Field::add_projective`].
    #[inline(always)]
    fn add_projective(
        self,
        out: [&mut Carried<Self::F>; 4],
        point: [&Carried<Self::F>; 4],
        niels: [&Carried<Self::F>; 4],
    ) {
        edwards::add_projective(Fma(self), out, point, niels);
    }
    /// As [`Field::add_affine`].
    #[inline(always)]
    fn add_affine(
        self,
        out: [&mut Carried<Self::F>; 4],
        point: [&Carried<Self::F>; 4],
        niels: [&Carried<Self::F>; 3],
    ) {
        edwards::add_affine(Fma(self), out, point, niels);
    }
    /// As [`Field::complete`].
    #[inline(always)]
    fn complete(self, out: [&mut Carried<Self::F>; 3], completed: [&Carried<Self::F>; 4]) {
        edwards::complete(Fma(self), out, completed);
    }

    // The steps of one point in four lanes.

    /// As [`solo::double`].
    #[inline(always)]
    fn lone_double(self, out: &mut Carried<Self::F>, point: &Carried<Self::F>) {
        *out = solo::double(Fma(self), point);
    }
    /// As [`solo::add`].
    #[inline(always)]
    fn lone_add(
        self,
        out: &mut Carried<Self::F>,
        point: &Carried<Self::F>,
        cached: &Carried<Self::F>,
    ) {
        *out = solo::add(Fma(self), point, cached);
    }
    /// As [`solo::doubling`].
    #[inline(always)]
    fn lone_doubling(self, out: &mut Carried<Self::F>, completed: &Carried<Self::F>) {
        *out = solo::doubling(Fma(self), completed);
    }
    /// As [`solo::doubling`] after [`solo::double`].
    #[inline(always)]
    fn lone_double_doubling(self, out: &mut Carried<Self::F>, point: &Carried<Self::F>) {
        *out = solo::doubling(Fma(self), &solo::double(Fma(self), point));
    }
    /// As [`solo::adding`].
    #[inline(always)]
    fn lone_adding(self, out: &mut Carried<Self::F>, completed: &Carried<Self::F>) {
        *out = solo::adding(Fma(self), completed);
    }
}

/// (y+x, y−x, z, 2dt) of one lane: limbs 0 … 3 of each coordinate, then the four limbs 4. A vector
/// is loaded from each group of four, and a negative point reads the first two groups in the other
/// order.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C, align(32))]
pub(crate) struct ProjectiveRow(pub(crate) [[f64; 4]; 5]);

/// (y+x, y−x, 2dxy) in the same layout, for all lanes.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(32))]
pub(crate) struct AffineRow(pub(crate) [[f64; 4]; 4]);

/// The tables of multiples of B and of [2^130]B.
pub(crate) static BASE_TABLES: [[AffineRow; basepoint::ROWS]; 2] =
    [base_table(&basepoint::TABLES[0]), base_table(&basepoint::TABLES[1])];

const fn base_table(rows: &[[Limbs; 3]; basepoint::ROWS]) -> [AffineRow; basepoint::ROWS] {
    let mut out = [AffineRow([[0.0; 4]; 4]); basepoint::ROWS];
    let mut row = 0;
    while row < basepoint::ROWS {
        let mut coordinate = 0;
        while coordinate < 3 {
            let limbs = balance(&rows[row][coordinate]);
            let mut i = 0;
            while i < 4 {
                out[row].0[coordinate][i] = limbs[i];
                i += 1;
            }
            out[row].0[3][coordinate] = limbs[4];
            coordinate += 1;
        }
        row += 1;
    }
    out
}

/// Signed limbs of at most 2^50 + 19 in absolute value from limbs below 2^51.
#[inline(always)]
const fn balance(limbs: &Limbs) -> [f64; 5] {
    const HALF: u64 = 1 << 50;
    let carry = [
        (limbs[0] + HALF) >> 51,
        (limbs[1] + HALF) >> 51,
        (limbs[2] + HALF) >> 51,
        (limbs[3] + HALF) >> 51,
        (limbs[4] + HALF) >> 51,
    ];
    [
        (limbs[0] + 19 * carry[4]) as i64 as f64 - (carry[0] << 51) as i64 as f64,
        (limbs[1] + carry[0]) as i64 as f64 - (carry[1] << 51) as i64 as f64,
        (limbs[2] + carry[1]) as i64 as f64 - (carry[2] << 51) as i64 as f64,
        (limbs[3] + carry[2]) as i64 as f64 - (carry[3] << 51) as i64 as f64,
        (limbs[4] + carry[3]) as i64 as f64 - (carry[4] << 51) as i64 as f64,
    ]
}

/// The canonical representative of signed limbs.
#[inline(always)]
fn canonical(limbs: &[f64; 5]) -> Limbs {
    /// 4p: every limb exceeds any carried limb's absolute value.
    const FOUR_P: [i64; 5] = [
        4 * (MASK51 - 18) as i64,
        4 * MASK51 as i64,
        4 * MASK51 as i64,
        4 * MASK51 as i64,
        4 * MASK51 as i64,
    ];
    portable::canonical(&[
        (limbs[0] as i64 + FOUR_P[0]) as u64,
        (limbs[1] as i64 + FOUR_P[1]) as u64,
        (limbs[2] as i64 + FOUR_P[2]) as u64,
        (limbs[3] as i64 + FOUR_P[3]) as u64,
        (limbs[4] as i64 + FOUR_P[4]) as u64,
    ])
}

/// Adds the products a_i · b_j for each (i, j) to the columns.
macro_rules! accumulate {
    ($q:ident, $columns:ident, $($a:expr, $b:expr => $k:literal),* $(,)?) => {$(
        let (hi, lo) = $q.product($a, $b);
        $columns[$k] = $q.add_int($columns[$k], lo);
        $columns[$k + 1] = $q.add_int($columns[$k + 1], hi);
    )*};
}

/// The product formula: 25 split products in ten columns, column k + 5 folded into column k by
/// 2^255 = 19.
#[inline(always)]
fn mul_loose<Q: Quad>(q: Q, a: &[Q::F; 5], b: &[Q::F; 5]) -> [Q::I; 5] {
    let mut c = [q.splat_int(0); 10];
    accumulate!(q, c,
        a[0], b[0] => 0,
        a[0], b[1] => 1, a[1], b[0] => 1,
        a[0], b[2] => 2, a[1], b[1] => 2, a[2], b[0] => 2,
        a[0], b[3] => 3, a[1], b[2] => 3, a[2], b[1] => 3, a[3], b[0] => 3,
        a[0], b[4] => 4, a[1], b[3] => 4, a[2], b[2] => 4, a[3], b[1] => 4, a[4], b[0] => 4,
        a[1], b[4] => 5, a[2], b[3] => 5, a[3], b[2] => 5, a[4], b[1] => 5,
        a[2], b[4] => 6, a[3], b[3] => 6, a[4], b[2] => 6,
        a[3], b[4] => 7, a[4], b[3] => 7,
        a[4], b[4] => 8,
    );
    fold(q, &c, &MUL_CONSTANTS)
}

/// The square formula: 15 split products, the cross terms with one factor doubled.
#[inline(always)]
fn square_loose<Q: Quad>(q: Q, a: &[Q::F; 5]) -> [Q::I; 5] {
    let mut c = [q.splat_int(0); 10];
    let d = [q.add(a[0], a[0]), q.add(a[1], a[1]), q.add(a[2], a[2]), q.add(a[3], a[3])];
    accumulate!(q, c,
        a[0], a[0] => 0,
        d[0], a[1] => 1,
        d[0], a[2] => 2, a[1], a[1] => 2,
        d[0], a[3] => 3, d[1], a[2] => 3,
        d[0], a[4] => 4, d[1], a[3] => 4, a[2], a[2] => 4,
        d[1], a[4] => 5, d[2], a[3] => 5,
        d[2], a[4] => 6, a[3], a[3] => 6,
        d[3], a[4] => 7,
        a[4], a[4] => 8,
    );
    fold(q, &c, &SQUARE_CONSTANTS)
}

/// column k + 19 · column (k + 5) − constants.
#[inline(always)]
fn fold<Q: Quad>(q: Q, columns: &[Q::I; 10], constants: &[u64; 5]) -> [Q::I; 5] {
    macro_rules! limb {
        ($k:literal) => {{
            let high = columns[$k + 5];
            let times19 =
                q.add_int(q.add_int(q.shift_left::<4>(high), q.add_int(high, high)), high);
            q.sub_int(q.add_int(columns[$k], times19), q.splat_int(constants[$k]))
        }};
    }
    [limb!(0), limb!(1), limb!(2), limb!(3), limb!(4)]
}

/// One carry, all limbs in parallel.
#[inline(always)]
pub(crate) fn carry<Q: Quad>(q: Q, a: &[Q::I; 5]) -> [Q::F; 5] {
    let bias = q.splat_int(CARRY_BIAS);
    let z = [
        q.add_int(a[0], bias),
        q.add_int(a[1], bias),
        q.add_int(a[2], bias),
        q.add_int(a[3], bias),
        q.add_int(a[4], bias),
    ];
    macro_rules! limb {
        ($k:literal, $carry:expr, $offset:expr) => {{
            let low = q.or_bits_2_52(q.low51(z[$k]));
            q.sub(q.float(q.add_int(low, $carry)), q.splat($offset))
        }};
    }
    [
        limb!(0, q.times19(q.shift_right::<51>(z[4])), CARRY_OFFSET_0),
        limb!(1, q.shift_right::<51>(z[0]), CARRY_OFFSET),
        limb!(2, q.shift_right::<51>(z[1]), CARRY_OFFSET),
        limb!(3, q.shift_right::<51>(z[2]), CARRY_OFFSET),
        limb!(4, q.shift_right::<51>(z[3]), CARRY_OFFSET),
    ]
}

/// See the module's documentation.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fma<Q>(pub(crate) Q);

#[derive(Clone, Copy, Debug)]
#[repr(transparent)]
pub(crate) struct Carried<F>(pub(crate) [F; 5]);
#[derive(Clone, Copy, Debug)]
#[repr(transparent)]
pub(crate) struct Sum<F>(pub(crate) [F; 5]);
#[derive(Clone, Copy, Debug)]
#[repr(transparent)]
pub(crate) struct Loose<I>(pub(crate) [I; 5]);

impl<Q: Quad> Field for Fma<Q> {
    const LANES: usize = 4;
    type Carried = Carried<Q::F>;
    type Sum = Sum<Q::F>;
    type Loose = Loose<Q::I>;
    type ProjectiveRow = ProjectiveRow;
    type AffineRow = AffineRow;

    #[inline(always)]
    fn splat(self, limbs: &Limbs) -> Self::Carried {
        self.pack(&[*limbs; 4])
    }
    #[inline(always)]
    fn pack(self, limbs: &[Limbs]) -> Self::Carried {
        let (a, b, c, d) =
            (balance(&limbs[0]), balance(&limbs[1]), balance(&limbs[2]), balance(&limbs[3]));
        Carried(limbwise!(|a, b, c, d| self.0.load([a, b, c, d])))
    }
    #[inline(always)]
    fn unpack(self, a: &Self::Carried, limbs: &mut [Limbs]) {
        let a = a.0;
        let columns: [[f64; 4]; 5] = limbwise!(|a| self.0.store(a));
        for (lane, limbs) in limbs.iter_mut().enumerate().take(4) {
            *limbs = canonical(&limbwise!(|columns| columns[lane]));
        }
    }
    #[inline(always)]
    fn add(self, a: &Self::Carried, b: &Self::Carried) -> Self::Sum {
        let (a, b) = (a.0, b.0);
        Sum(limbwise!(|a, b| self.0.add(a, b)))
    }
    #[inline(always)]
    fn sub(self, a: &Self::Carried, b: &Self::Carried) -> Self::Sum {
        let (a, b) = (a.0, b.0);
        Sum(limbwise!(|a, b| self.0.sub(a, b)))
    }
    #[inline(always)]
    fn negate_where(self, mask: LaneMask, a: &Self::Carried) -> Self::Carried {
        let a = a.0;
        Carried(limbwise!(|a| self.0.select(mask, self.0.sub(self.0.splat(0.0), a), a)))
    }
    #[inline(always)]
    fn select(self, mask: LaneMask, a: &Self::Carried, b: &Self::Carried) -> Self::Carried {
        let (a, b) = (a.0, b.0);
        Carried(limbwise!(|a, b| self.0.select(mask, a, b)))
    }
    #[inline(always)]
    fn carry_sum(self, a: &Self::Sum) -> Self::Carried {
        let q = self.0;
        let a = a.0;
        let [(l0, c0), (l1, c1), (l2, c2), (l3, c3), (l4, c4)] = limbwise!(|a| q.split51(a));
        Carried([
            q.add_quotient(l0, c4, 19),
            q.add_quotient(l1, c0, 1),
            q.add_quotient(l2, c1, 1),
            q.add_quotient(l3, c2, 1),
            q.add_quotient(l4, c3, 1),
        ])
    }
    #[inline(always)]
    fn mul(self, a: &Self::Carried, b: &Self::Carried) -> Self::Carried {
        Carried(self.0.mul(&a.0, &b.0))
    }
    #[inline(always)]
    fn mul_to(self, out: &mut Self::Carried, a: &Self::Carried, b: &Self::Carried) {
        self.0.mul_to(&mut out.0, &a.0, &b.0);
    }
    #[inline(always)]
    fn square(self, a: &Self::Carried) -> Self::Carried {
        Carried(self.0.square(&a.0))
    }
    #[inline(always)]
    fn square_to(self, out: &mut Self::Carried, a: &Self::Carried) {
        self.0.square_to(&mut out.0, &a.0);
    }
    #[inline(always)]
    fn mul_loose(self, a: &Self::Carried, b: &Self::Carried) -> Self::Loose {
        Loose(self.0.mul_loose(&a.0, &b.0))
    }
    #[inline(always)]
    fn mul_sum_loose(self, a: &Self::Sum, b: &Self::Carried) -> Self::Loose {
        Loose(self.0.mul_loose(&a.0, &b.0))
    }
    #[inline(always)]
    fn square_loose(self, a: &Self::Carried) -> Self::Loose {
        Loose(self.0.square_loose(&a.0))
    }
    #[inline(always)]
    fn loosen(self, a: &Self::Carried) -> Self::Loose {
        let q = self.0;
        let a = a.0;
        Loose(limbwise!(|a| q.sub_int(q.bits(q.add(a, q.splat(M))), q.splat_int(M.to_bits()))))
    }
    #[inline(always)]
    fn add_loose(self, a: &Self::Loose, b: &Self::Loose) -> Self::Loose {
        let (a, b) = (a.0, b.0);
        Loose(limbwise!(|a, b| self.0.add_int(a, b)))
    }
    #[inline(always)]
    fn sub_loose(self, a: &Self::Loose, b: &Self::Loose) -> Self::Loose {
        let (a, b) = (a.0, b.0);
        Loose(limbwise!(|a, b| self.0.sub_int(a, b)))
    }
    #[inline(always)]
    fn carry(self, a: &Self::Loose) -> Self::Carried {
        Carried(carry(self.0, &a.0))
    }
    #[inline(always)]
    fn store_row(self, coordinates: [&Self::Carried; 4], row: usize, table: &mut [ProjectiveRow]) {
        debug_assert_eq!(table.len(), 4 * TABLE_ROWS);
        let [a, b, c, d] = coordinates;
        self.0.store_row([&a.0, &b.0, &c.0, &d.0], row, table);
    }
    #[inline(always)]
    fn pick_projective(
        self,
        table: &[ProjectiveRow],
        slots: &[u8],
        digits: &[i8],
    ) -> [Self::Carried; 4] {
        let [a, b, c, d] = self.0.pick_projective(table, slots, digits);
        [Carried(a), Carried(b), Carried(c), Carried(d)]
    }
    #[inline(always)]
    fn base_tables(self) -> [&'static [AffineRow]; 2] {
        BASE_TABLES.each_ref().map(|table| &table[..])
    }
    #[inline(always)]
    fn pick_affine(self, table: &[AffineRow], digits: &[i16]) -> [Self::Carried; 3] {
        let [a, b, c] = self.0.pick_affine(table, digits);
        [Carried(a), Carried(b), Carried(c)]
    }
    #[inline(always)]
    fn double(self, out: [&mut Self::Carried; 4], point: [&Self::Carried; 3]) {
        self.0.double(out, point);
    }
    #[inline(always)]
    fn add_projective(
        self,
        out: [&mut Self::Carried; 4],
        point: [&Self::Carried; 4],
        niels: [&Self::Carried; 4],
    ) {
        self.0.add_projective(out, point, niels);
    }
    #[inline(always)]
    fn add_affine(
        self,
        out: [&mut Self::Carried; 4],
        point: [&Self::Carried; 4],
        niels: [&Self::Carried; 3],
    ) {
        self.0.add_affine(out, point, niels);
    }
    #[inline(always)]
    fn complete(self, out: [&mut Self::Carried; 3], completed: [&Self::Carried; 4]) {
        self.0.complete(out, completed);
    }
    #[inline(always)]
    fn enter<F: Field, R: Routine<F>>(self, f: F, routine: R) -> R::Output {
        self.0.enter(f, routine)
    }
}

impl<Q: Quad> Coordinates for Fma<Q> {
    #[inline(always)]
    fn permute<const CONTROL: i32>(self, a: &Self::Carried) -> Self::Carried {
        let a = a.0;
        Carried(limbwise!(|a| self.0.permute::<CONTROL>(a)))
    }
    #[inline(always)]
    fn permute_loose<const CONTROL: i32>(self, a: &Self::Loose) -> Self::Loose {
        let a = a.0;
        Loose(limbwise!(|a| self.0.permute_int::<CONTROL>(a)))
    }
    #[inline(always)]
    fn negate_lanes(self, mask: LaneMask, a: &Self::Loose) -> Self::Loose {
        let a = a.0;
        Loose(limbwise!(|a| self.0.negate_lanes(mask, a)))
    }
    #[inline(always)]
    fn shift_lanes(self, n: [u64; 4], a: &Self::Loose) -> Self::Loose {
        let a = a.0;
        Loose(limbwise!(|a| self.0.shift_lanes(n, a)))
    }
    #[inline(always)]
    fn load_base(self, table: &[Self::AffineRow], digits: &[i16]) -> Self::Carried {
        let [y_plus_x, y_minus_x, xy2d, last] = &table[usize::from(digits[0].unsigned_abs())].0;
        let low = |i: usize, z: f64| self.0.load([z, xy2d[i], y_minus_x[i], y_plus_x[i]]);
        let top = self.0.load([0.0, last[2], last[1], last[0]]);
        Carried([low(0, 2.0), low(1, 0.0), low(2, 0.0), low(3, 0.0), top])
    }
    #[inline(always)]
    fn lone_double(self, out: &mut Self::Carried, point: &Self::Carried) {
        self.0.lone_double(out, point);
    }
    #[inline(always)]
    fn lone_add(self, out: &mut Self::Carried, point: &Self::Carried, cached: &Self::Carried) {
        self.0.lone_add(out, point, cached);
    }
    #[inline(always)]
    fn lone_doubling(self, out: &mut Self::Carried, completed: &Self::Carried) {
        self.0.lone_doubling(out, completed);
    }
    #[inline(always)]
    fn lone_double_doubling(self, out: &mut Self::Carried, point: &Self::Carried) {
        self.0.lone_double_doubling(out, point);
    }
    #[inline(always)]
    fn lone_adding(self, out: &mut Self::Carried, completed: &Self::Carried) {
        self.0.lone_adding(out, completed);
    }
}
