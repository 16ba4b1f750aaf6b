//! The IFMA representation: eight lanes, 5 × `u64`, radix 2^51.
//!
//! The instructions multiply the low 52 bits of two words and add half of the product's 104 bits to a
//! third one:
//!
//! ```text
//! madd_low(c, a, b)  = c + (a b mod 2^52)
//! madd_high(c, a, b) = c + ⌊a b / 2^52⌋
//! ```
//!
//! 2^52 is twice the radix: the high half of a_i b_j counts twice in column i + j + 1. So all high halves
//! are summed first, each column is doubled once, and the low halves are added to the same columns.
//!
//! | class | limbs |
//! |---|---|
//! | carried | not negative, at most those of 2p, so below 2^52 |
//! | sum | not negative, at most those of 4p |
//! | loose | two's complement, at most [`LOOSE_BOUND`] in absolute value |
//!
//! Whatever is multiplied is below 2^52, so the instructions leave out nothing. 2p − a is carried if a
//! is. A sum can have 53 bits: it is carried before it is multiplied.
//!
//! The formulas below are written over [`Octet`], eight words at once. Its instances are the CPU
//! ([`avx512`]), a model of it in plain Rust (`model`), and intervals (`intervals`), which compute
//! the worst case of every intermediate and so check the bounds of this page on the code that runs.

use super::{Field, LaneMask, Limbs, MASK51, Routine, limbwise};
use crate::basepoint;
use crate::solo::Coordinates;

#[cfg(target_arch = "x86_64")]
#[allow(unsafe_code)]
pub(crate) mod avx512;
#[cfg(test)]
pub(crate) mod intervals;
#[cfg(test)]
pub(crate) mod model;
#[cfg(test)]
mod tests;

/// |limb| of a loose element: [`super::LOOSE_TERMS`] products.
#[cfg(test)]
pub(crate) const LOOSE_BOUND: i128 = 1068 << 52;

/// m · p, limb by limb.
const fn multiple_of_p(m: u64) -> Limbs {
    [m * (MASK51 - 18), m * MASK51, m * MASK51, m * MASK51, m * MASK51]
}

/// 2p: at least any carried limb.
pub(crate) const TWO_P: Limbs = multiple_of_p(2);
/// At least any limb of a product: what a product is started with from which another is taken off.
const ONE_PRODUCT: Limbs = multiple_of_p(1 << 10);
/// At least any limb of a product that was started with [`ONE_PRODUCT`], and of another.
const THREE_PRODUCTS: Limbs = multiple_of_p(3 << 10);
/// Makes every loose limb positive.
const CARRY_BIAS: Limbs = multiple_of_p(1 << 12);

/// Eight 64-bit words at once, one per lane; arithmetic is modulo 2^64.
///
/// As with [`Field`], a value of the implementing type is a token that proves the CPU's features.
pub(crate) trait Octet: Copy {
    type W: Copy;

    fn splat(self, x: u64) -> Self::W;
    fn load(self, lanes: [u64; 8]) -> Self::W;
    fn store(self, x: Self::W) -> [u64; 8];
    fn add(self, a: Self::W, b: Self::W) -> Self::W;
    fn sub(self, a: Self::W, b: Self::W) -> Self::W;
    /// a in the lanes of `mask`, b in the others.
    fn select(self, mask: LaneMask, a: Self::W, b: Self::W) -> Self::W;
    /// ⌊x / 2^51⌋
    fn shift_right_51(self, x: Self::W) -> Self::W;
    /// x & [`MASK51`]
    fn low51(self, x: Self::W) -> Self::W;
    /// 19 x
    fn times19(self, x: Self::W) -> Self::W;
    /// c + (a b mod 2^52), a and b below 2^52.
    fn madd_low(self, c: Self::W, a: Self::W, b: Self::W) -> Self::W;
    /// c + ⌊a b / 2^52⌋, a and b below 2^52.
    fn madd_high(self, c: Self::W, a: Self::W, b: Self::W) -> Self::W;
    /// The lanes in which every word is 0.
    fn zero_lanes(self, x: [Self::W; 5]) -> LaneMask;
    /// The lanes in which x is odd.
    fn odd_lanes(self, x: Self::W) -> LaneMask;

    /// Bits 51 i to 51 i + 50 of each lane's 32 bytes for i of 0 … 4, and the lanes whose bit 255 is set.
    fn load_encodings(self, encodings: &[[u8; 32]]) -> ([Self::W; 5], LaneMask);
    fn store_row(self, coordinates: [&[Self::W; 5]; 4], row: usize, table: &mut [ProjectiveRow]);
    /// The row |digit| of each lane, and the lanes whose digit is negative; there the first two
    /// coordinates have changed places already.
    fn pick_projective(
        self,
        table: &[ProjectiveRow],
        slots: &[u8],
        digits: &[i8],
    ) -> ([[Self::W; 5]; 4], LaneMask);
    /// The same.
    fn pick_affine(self, table: &[AffineRow], digits: &[i16]) -> ([[Self::W; 5]; 3], LaneMask);

    // Across lanes, in each half.

    /// The lanes that the four two-bit fields of `CONTROL` name, the lowest field's first.
    fn permute<const CONTROL: i32>(self, x: Self::W) -> Self::W;
    /// x · 2^n mod 2^64 with the lane's n; 0 for n = 64.
    fn shift_lanes(self, n: [u64; 4], x: Self::W) -> Self::W;
    /// Lanes (2, 2dxy, y − x, y + x) of one row in each half.
    fn load_base(self, rows: [&AffineRow; 2]) -> [Self::W; 5];

    /// As [`Field::enter`].
    fn enter<F: Field, R: Routine<F>>(self, f: F, routine: R) -> R::Output;
}

/// The words of y+x and three of z, those of y−x and the other two of z, those of 2dt.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C, align(64))]
pub(crate) struct ProjectiveRow(pub(crate) [[u64; 8]; 3]);

/// The words of y+x and three of 2dxy, those of y−x and the other two, and 2.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(64))]
pub(crate) struct AffineRow(pub(crate) [[u64; 8]; 2]);

/// The tables of multiples of B and of [2^130]B.
pub(crate) static BASE_TABLES: [[AffineRow; basepoint::ROWS]; 2] =
    [base_table(&basepoint::TABLES[0]), base_table(&basepoint::TABLES[1])];

const fn base_table(rows: &[[Limbs; 3]; basepoint::ROWS]) -> [AffineRow; basepoint::ROWS] {
    let mut out = [AffineRow([[0; 8]; 2]); basepoint::ROWS];
    let mut row = 0;
    while row < basepoint::ROWS {
        let [a, b, t] = &rows[row];
        out[row] = AffineRow([
            [a[0], a[1], a[2], a[3], a[4], t[0], t[1], t[2]],
            [b[0], b[1], b[2], b[3], b[4], t[3], t[4], 2],
        ]);
        row += 1;
    }
    out
}

/// Columns that a product is added to: doubled with the high halves, all but the first.
#[inline(always)]
fn start<O: Octet>(o: O, limbs: &Limbs) -> [O::W; 10] {
    let zero = o.splat(0);
    [
        o.splat(limbs[0]),
        o.splat(limbs[1] / 2),
        o.splat(limbs[2] / 2),
        o.splat(limbs[3] / 2),
        o.splat(limbs[4] / 2),
        zero,
        zero,
        zero,
        zero,
        zero,
    ]
}

/// Adds a half of a_i b_j to column k, for each (i, j, k).
macro_rules! accumulate {
    ($o:ident . $half:ident, $columns:ident, $a:ident, $b:ident; $($i:literal $j:literal => $k:literal),* $(,)?) => {$(
        $columns[$k] = $o.$half($columns[$k], $a[$i], $b[$j]);
    )*};
}

/// Doubles columns.
macro_rules! double {
    ($o:ident, $columns:ident; $($k:literal)*) => {$(
        $columns[$k] = $o.add($columns[$k], $columns[$k]);
    )*};
}

/// a · b + `initial`: 25 products in ten columns, column k + 5 folded into column k by 2^255 = 19.
/// `initial` has even limbs.
#[inline(always)]
fn mul_onto<O: Octet>(o: O, initial: &Limbs, a: &[O::W; 5], b: &[O::W; 5]) -> [O::W; 5] {
    let mut c = start(o, initial);
    accumulate!(o.madd_high, c, a, b;
        0 0 => 1,
        0 1 => 2, 1 0 => 2,
        0 2 => 3, 1 1 => 3, 2 0 => 3,
        0 3 => 4, 1 2 => 4, 2 1 => 4, 3 0 => 4,
        0 4 => 5, 1 3 => 5, 2 2 => 5, 3 1 => 5, 4 0 => 5,
        1 4 => 6, 2 3 => 6, 3 2 => 6, 4 1 => 6,
        2 4 => 7, 3 3 => 7, 4 2 => 7,
        3 4 => 8, 4 3 => 8,
        4 4 => 9,
    );
    double!(o, c; 1 2 3 4 5 6 7 8 9);
    accumulate!(o.madd_low, c, a, b;
        0 0 => 0,
        0 1 => 1, 1 0 => 1,
        0 2 => 2, 1 1 => 2, 2 0 => 2,
        0 3 => 3, 1 2 => 3, 2 1 => 3, 3 0 => 3,
        0 4 => 4, 1 3 => 4, 2 2 => 4, 3 1 => 4, 4 0 => 4,
        1 4 => 5, 2 3 => 5, 3 2 => 5, 4 1 => 5,
        2 4 => 6, 3 3 => 6, 4 2 => 6,
        3 4 => 7, 4 3 => 7,
        4 4 => 8,
    );
    fold(o, &c)
}

/// a² + `initial`: the ten products of different limbs count twice, so their halves are doubled once more.
/// `initial` has limbs that are multiples of four.
#[inline(always)]
fn square_onto<O: Octet>(o: O, initial: &Limbs, a: &[O::W; 5]) -> [O::W; 5] {
    let [l0, l1, l2, l3, l4] = *initial;
    let mut c = start(o, &[l0, l1, l2 / 2, l3 / 2, l4 / 2]);
    accumulate!(o.madd_high, c, a, a;
        0 1 => 2,
        0 2 => 3,
        0 3 => 4, 1 2 => 4,
        0 4 => 5, 1 3 => 5,
        1 4 => 6, 2 3 => 6,
        2 4 => 7,
        3 4 => 8,
    );
    double!(o, c; 2 3 4 5 6 7 8);
    accumulate!(o.madd_high, c, a, a; 0 0 => 1, 1 1 => 3, 2 2 => 5, 3 3 => 7, 4 4 => 9);
    accumulate!(o.madd_low, c, a, a;
        0 1 => 1,
        0 2 => 2,
        0 3 => 3, 1 2 => 3,
        0 4 => 4, 1 3 => 4,
        1 4 => 5, 2 3 => 5,
        2 4 => 6,
        3 4 => 7,
    );
    double!(o, c; 1 2 3 4 5 6 7 8 9);
    accumulate!(o.madd_low, c, a, a; 0 0 => 0, 1 1 => 2, 2 2 => 4, 3 3 => 6, 4 4 => 8);
    fold(o, &c)
}

/// column k + 19 · column (k + 5)
#[inline(always)]
fn fold<O: Octet>(o: O, c: &[O::W; 10]) -> [O::W; 5] {
    [
        o.add(c[0], o.times19(c[5])),
        o.add(c[1], o.times19(c[6])),
        o.add(c[2], o.times19(c[7])),
        o.add(c[3], o.times19(c[8])),
        o.add(c[4], o.times19(c[9])),
    ]
}

/// One carry, all limbs in parallel, none of which is negative.
#[inline(always)]
fn carry<O: Octet>(o: O, a: &[O::W; 5]) -> [O::W; 5] {
    let a = *a;
    let c = limbwise!(|a| o.shift_right_51(a));
    let l = limbwise!(|a| o.low51(a));
    [
        o.madd_low(l[0], c[4], o.splat(19)),
        o.add(l[1], c[0]),
        o.add(l[2], c[1]),
        o.add(l[3], c[2]),
        o.add(l[4], c[3]),
    ]
}

/// The canonical representative of carried limbs.
#[inline(always)]
fn canonical<O: Octet>(o: O, a: &[O::W; 5]) -> [O::W; 5] {
    // a < 2^255 + 2^205 < 2p: the quotient by p is 0 or 1, and it is the carry of a + 19 out of bit 255.
    let a = carry(o, a);
    let mut q = o.shift_right_51(o.add(a[0], o.splat(19)));
    q = o.shift_right_51(o.add(a[1], q));
    q = o.shift_right_51(o.add(a[2], q));
    q = o.shift_right_51(o.add(a[3], q));
    q = o.shift_right_51(o.add(a[4], q));
    let l0 = o.madd_low(a[0], q, o.splat(19));
    let l1 = o.add(a[1], o.shift_right_51(l0));
    let l2 = o.add(a[2], o.shift_right_51(l1));
    let l3 = o.add(a[3], o.shift_right_51(l2));
    let l4 = o.add(a[4], o.shift_right_51(l3));
    [o.low51(l0), o.low51(l1), o.low51(l2), o.low51(l3), o.low51(l4)]
}

/// See the module's documentation.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ifma<O>(pub(crate) O);

#[derive(Clone, Copy, Debug)]
pub(crate) struct Carried<W>(pub(crate) [W; 5]);
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sum<W>(pub(crate) [W; 5]);
#[derive(Clone, Copy, Debug)]
pub(crate) struct Loose<W>(pub(crate) [W; 5]);

impl<O: Octet> Ifma<O> {
    #[inline(always)]
    fn add_words(self, a: &[O::W; 5], b: &[O::W; 5]) -> [O::W; 5] {
        limbwise!(|a, b| self.0.add(a, b))
    }
    #[inline(always)]
    fn sub_words(self, a: &[O::W; 5], b: &[O::W; 5]) -> [O::W; 5] {
        limbwise!(|a, b| self.0.sub(a, b))
    }
    #[inline(always)]
    fn splat_words(self, limbs: &Limbs) -> [O::W; 5] {
        limbwise!(|limbs| self.0.splat(limbs))
    }
    /// −a in the lanes of `mask`, a in the others.
    #[inline(always)]
    fn negate_words(self, mask: LaneMask, a: &[O::W; 5]) -> [O::W; 5] {
        let negative = self.sub_words(&self.splat_words(&TWO_P), a);
        limbwise!(|a, negative| self.0.select(mask, negative, a))
    }
    /// E, F, G, H of the four products of an addition: b was started with [`ONE_PRODUCT`], and d is at
    /// least as large as c.
    #[inline(always)]
    fn finish_sum(self, out: [&mut Carried<O::W>; 4], [a, b, c, d]: [&[O::W; 5]; 4]) {
        let o = self.0;
        out[0].0 = carry(o, &self.sub_words(b, a));
        out[1].0 = carry(o, &self.sub_words(d, c));
        out[2].0 = carry(o, &self.add_words(d, c));
        out[3].0 = carry(o, &self.add_words(b, a));
    }
}

impl<O: Octet> Field for Ifma<O> {
    const LANES: usize = 8;
    const SQUARES_SIDE_BY_SIDE: bool = true;
    type Carried = Carried<O::W>;
    type Sum = Sum<O::W>;
    type Loose = Loose<O::W>;
    type ProjectiveRow = ProjectiveRow;
    type AffineRow = AffineRow;

    #[inline(always)]
    fn splat(self, limbs: &Limbs) -> Self::Carried {
        Carried(self.splat_words(limbs))
    }
    #[inline(always)]
    fn pack(self, limbs: &[Limbs]) -> Self::Carried {
        let mut columns = [[0; 8]; 5];
        for (lane, limbs) in limbs.iter().enumerate().take(8) {
            for (column, limb) in columns.iter_mut().zip(limbs) {
                column[lane] = *limb;
            }
        }
        Carried(limbwise!(|columns| self.0.load(columns)))
    }
    #[inline(always)]
    fn unpack(self, a: &Self::Carried, limbs: &mut [Limbs]) {
        let a = canonical(self.0, &a.0);
        let columns = limbwise!(|a| self.0.store(a));
        for (lane, limbs) in limbs.iter_mut().enumerate().take(8) {
            *limbs = limbwise!(|columns| columns[lane]);
        }
    }
    #[inline(always)]
    fn add(self, a: &Self::Carried, b: &Self::Carried) -> Self::Sum {
        Sum(self.add_words(&a.0, &b.0))
    }
    #[inline(always)]
    fn sub(self, a: &Self::Carried, b: &Self::Carried) -> Self::Sum {
        let biased = self.add_words(&a.0, &self.splat_words(&TWO_P));
        Sum(self.sub_words(&biased, &b.0))
    }
    #[inline(always)]
    fn negate_where(self, mask: LaneMask, a: &Self::Carried) -> Self::Carried {
        Carried(self.negate_words(mask, &a.0))
    }
    #[inline(always)]
    fn select(self, mask: LaneMask, a: &Self::Carried, b: &Self::Carried) -> Self::Carried {
        let (a, b) = (a.0, b.0);
        Carried(limbwise!(|a, b| self.0.select(mask, a, b)))
    }
    #[inline(always)]
    fn carry_sum(self, a: &Self::Sum) -> Self::Carried {
        Carried(carry(self.0, &a.0))
    }
    #[inline(always)]
    fn mul(self, a: &Self::Carried, b: &Self::Carried) -> Self::Carried {
        Carried(carry(self.0, &self.mul_loose(a, b).0))
    }
    #[inline(always)]
    fn mul_to(self, out: &mut Self::Carried, a: &Self::Carried, b: &Self::Carried) {
        *out = self.mul(a, b);
    }
    #[inline(always)]
    fn square(self, a: &Self::Carried) -> Self::Carried {
        Carried(carry(self.0, &self.square_loose(a).0))
    }
    #[inline(always)]
    fn square_to(self, out: &mut Self::Carried, a: &Self::Carried) {
        *out = self.square(a);
    }
    #[inline(always)]
    fn mul_loose(self, a: &Self::Carried, b: &Self::Carried) -> Self::Loose {
        Loose(mul_onto(self.0, &[0; 5], &a.0, &b.0))
    }
    #[inline(always)]
    fn mul_sum_loose(self, a: &Self::Sum, b: &Self::Carried) -> Self::Loose {
        self.mul_loose(&self.carry_sum(a), b)
    }
    #[inline(always)]
    fn square_loose(self, a: &Self::Carried) -> Self::Loose {
        Loose(square_onto(self.0, &[0; 5], &a.0))
    }
    #[inline(always)]
    fn loosen(self, a: &Self::Carried) -> Self::Loose {
        Loose(a.0)
    }
    #[inline(always)]
    fn add_loose(self, a: &Self::Loose, b: &Self::Loose) -> Self::Loose {
        Loose(self.add_words(&a.0, &b.0))
    }
    #[inline(always)]
    fn sub_loose(self, a: &Self::Loose, b: &Self::Loose) -> Self::Loose {
        Loose(self.sub_words(&a.0, &b.0))
    }
    #[inline(always)]
    fn carry(self, a: &Self::Loose) -> Self::Carried {
        Carried(carry(self.0, &self.add_words(&a.0, &self.splat_words(&CARRY_BIAS))))
    }
    #[inline(always)]
    fn zero_and_odd(self, a: &Self::Carried) -> (LaneMask, LaneMask) {
        let a = canonical(self.0, &a.0);
        (self.0.zero_lanes(a), self.0.odd_lanes(a[0]))
    }
    #[inline(always)]
    fn load_encodings(self, encodings: &[[u8; 32]]) -> (Self::Carried, LaneMask) {
        let (limbs, signs) = self.0.load_encodings(encodings);
        (Carried(limbs), signs)
    }
    #[inline(always)]
    fn store_row(
        self,
        coordinates: [&Self::Carried; 4],
        row: usize,
        table: &mut [Self::ProjectiveRow],
    ) {
        let [a, b, c, d] = coordinates;
        self.0.store_row([&a.0, &b.0, &c.0, &d.0], row, table);
    }
    #[inline(always)]
    fn pick_projective(
        self,
        table: &[Self::ProjectiveRow],
        slots: &[u8],
        digits: &[i8],
    ) -> [Self::Carried; 4] {
        let ([a, b, c, d], negative) = self.0.pick_projective(table, slots, digits);
        [Carried(a), Carried(b), Carried(c), Carried(self.negate_words(negative, &d))]
    }
    #[inline(always)]
    fn base_tables(self) -> [&'static [Self::AffineRow]; 2] {
        BASE_TABLES.each_ref().map(|table| &table[..])
    }
    #[inline(always)]
    fn pick_affine(self, table: &[Self::AffineRow], digits: &[i16]) -> [Self::Carried; 3] {
        let ([a, b, c], negative) = self.0.pick_affine(table, digits);
        [Carried(a), Carried(b), Carried(self.negate_words(negative, &c))]
    }

    // The steps of `edwards`, with the constants that keep a difference positive where its first product
    // starts.

    #[inline(always)]
    fn double(self, out: [&mut Self::Carried; 4], point: [&Self::Carried; 3]) {
        let (o, [x, y, z]) = (self.0, point);
        let xx = square_onto(o, &[0; 5], &x.0);
        let yy = square_onto(o, &ONE_PRODUCT, &y.0);
        let h = self.add_words(&yy, &xx);
        let g = self.sub_words(&yy, &xx);
        out[2].0 = carry(o, &g);
        out[3].0 = carry(o, &h);
        let sum_squared = square_onto(o, &THREE_PRODUCTS, &carry(o, &self.add_words(&x.0, &y.0)));
        out[0].0 = carry(o, &self.sub_words(&sum_squared, &h));
        let zz = square_onto(o, &ONE_PRODUCT, &z.0);
        out[1].0 = carry(o, &self.sub_words(&self.add_words(&zz, &zz), &g));
    }
    #[inline(always)]
    fn add_projective(
        self,
        out: [&mut Self::Carried; 4],
        point: [&Self::Carried; 4],
        niels: [&Self::Carried; 4],
    ) {
        let (o, [x, y, z, t], [y_plus_x, y_minus_x, z2, t2d]) = (self.0, point, niels);
        let b = mul_onto(o, &ONE_PRODUCT, &self.carry_sum(&self.add(y, x)).0, &y_plus_x.0);
        let a = mul_onto(o, &[0; 5], &self.carry_sum(&self.sub(y, x)).0, &y_minus_x.0);
        let c = mul_onto(o, &[0; 5], &t.0, &t2d.0);
        let zz = mul_onto(o, &ONE_PRODUCT, &z.0, &z2.0);
        self.finish_sum(out, [&a, &b, &c, &self.add_words(&zz, &zz)]);
    }
    #[inline(always)]
    fn add_affine(
        self,
        out: [&mut Self::Carried; 4],
        point: [&Self::Carried; 4],
        niels: [&Self::Carried; 3],
    ) {
        let (o, [x, y, z, t], [y_plus_x, y_minus_x, xy2d]) = (self.0, point, niels);
        let b = mul_onto(o, &ONE_PRODUCT, &self.carry_sum(&self.add(y, x)).0, &y_plus_x.0);
        let a = mul_onto(o, &[0; 5], &self.carry_sum(&self.sub(y, x)).0, &y_minus_x.0);
        let c = mul_onto(o, &[0; 5], &t.0, &xy2d.0);
        let biased = self.add_words(&z.0, &self.splat_words(&ONE_PRODUCT));
        self.finish_sum(out, [&a, &b, &c, &self.add_words(&biased, &z.0)]);
    }
    #[inline(always)]
    fn enter<F: Field, R: Routine<F>>(self, f: F, routine: R) -> R::Output {
        self.0.enter(f, routine)
    }
}

impl<O: Octet> Coordinates for Ifma<O> {
    #[inline(always)]
    fn permute<const CONTROL: i32>(self, a: &Self::Carried) -> Self::Carried {
        let a = a.0;
        Carried(limbwise!(|a| self.0.permute::<CONTROL>(a)))
    }
    #[inline(always)]
    fn permute_loose<const CONTROL: i32>(self, a: &Self::Loose) -> Self::Loose {
        let a = a.0;
        Loose(limbwise!(|a| self.0.permute::<CONTROL>(a)))
    }
    #[inline(always)]
    fn negate_lanes(self, mask: LaneMask, a: &Self::Loose) -> Self::Loose {
        let (o, a) = (self.0, a.0);
        let zero = o.splat(0);
        Loose(limbwise!(|a| o.select(mask | mask << 4, o.sub(zero, a), a)))
    }
    #[inline(always)]
    fn shift_lanes(self, n: [u64; 4], a: &Self::Loose) -> Self::Loose {
        let a = a.0;
        Loose(limbwise!(|a| self.0.shift_lanes(n, a)))
    }
    #[inline(always)]
    fn load_base(self, table: &[Self::AffineRow], digits: &[i16]) -> Self::Carried {
        let row = |point: usize| &table[usize::from(digits[point].unsigned_abs())];
        Carried(self.0.load_base([row(0), row(1)]))
    }
}
