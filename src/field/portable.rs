//! The portable representation: one lane, 5 × `u64`, products in `u128`. Runs on every CPU.
//!
//! | class | limbs |
//! |---|---|
//! | carried | below 2^51 + 2^13 |
//! | sum | below 2^53 |
//! | loose | two's complement, at most 2^54 in absolute value |
//!
//! Products take factors with limbs below 2^54: a column is then below 5 · 19 · 2^108 < 2^115, its
//! carry below 2^64, and the carry out of column 4, which has no term × 19, below 5 · 2^108 / 2^51
//! < 2^59.4, so that 19 times it fits 64 bits.
//!
//! The functions on [`Limbs`] are `const`: the table of multiples of B is computed with them at
//! compile time.

use super::{Field, LaneMask, Limbs, MASK51, Routine, TABLE_ROWS, ZERO};
use crate::basepoint;

/// Every limb of a carried element is below this.
#[cfg(test)]
pub(super) const CARRIED_LIMIT: u64 = (1 << 51) + (1 << 13);

/// 2p, limb by limb: at least any carried limb.
const TWO_P: Limbs = [2 * (MASK51 - 18), 2 * MASK51, 2 * MASK51, 2 * MASK51, 2 * MASK51];

/// 16p, limb by limb: makes every loose limb positive.
const SIXTEEN_P: Limbs = [16 * (MASK51 - 18), 16 * MASK51, 16 * MASK51, 16 * MASK51, 16 * MASK51];

/// One carry in parallel: limbs below 2^51 + 2^13 from limbs below 2^59, for 19 · 2^8 < 2^13.
#[inline(always)]
const fn carry(a: &Limbs) -> Limbs {
    [
        (a[0] & MASK51) + 19 * (a[4] >> 51),
        (a[1] & MASK51) + (a[0] >> 51),
        (a[2] & MASK51) + (a[1] >> 51),
        (a[3] & MASK51) + (a[2] >> 51),
        (a[4] & MASK51) + (a[3] >> 51),
    ]
}

#[inline(always)]
pub(crate) const fn add(a: &Limbs, b: &Limbs) -> Limbs {
    [a[0] + b[0], a[1] + b[1], a[2] + b[2], a[3] + b[3], a[4] + b[4]]
}

/// a − b + 2p for carried b.
#[inline(always)]
pub(crate) const fn sub(a: &Limbs, b: &Limbs) -> Limbs {
    [
        a[0] + (TWO_P[0] - b[0]),
        a[1] + (TWO_P[1] - b[1]),
        a[2] + (TWO_P[2] - b[2]),
        a[3] + (TWO_P[3] - b[3]),
        a[4] + (TWO_P[4] - b[4]),
    ]
}

/// Carries five columns.
#[inline(always)]
const fn carry_columns(mut c: [u128; 5]) -> Limbs {
    c[1] += c[0] >> 51;
    c[2] += c[1] >> 51;
    c[3] += c[2] >> 51;
    c[4] += c[3] >> 51;
    let low = (c[0] as u64 & MASK51) + 19 * (c[4] >> 51) as u64;
    [
        low & MASK51,
        (c[1] as u64 & MASK51) + (low >> 51),
        c[2] as u64 & MASK51,
        c[3] as u64 & MASK51,
        c[4] as u64 & MASK51,
    ]
}

#[inline(always)]
const fn wide(a: u64, b: u64) -> u128 {
    a as u128 * b as u128
}

/// a · b for limbs below 2^54.
#[inline]
pub(crate) const fn mul(a: &Limbs, b: &Limbs) -> Limbs {
    let [a0, a1, a2, a3, a4] = *a;
    let [b0, b1, b2, b3, b4] = *b;
    let (c1, c2, c3, c4) = (19 * b1, 19 * b2, 19 * b3, 19 * b4);
    carry_columns([
        wide(a0, b0) + wide(a4, c1) + wide(a3, c2) + wide(a2, c3) + wide(a1, c4),
        wide(a1, b0) + wide(a0, b1) + wide(a4, c2) + wide(a3, c3) + wide(a2, c4),
        wide(a2, b0) + wide(a1, b1) + wide(a0, b2) + wide(a4, c3) + wide(a3, c4),
        wide(a3, b0) + wide(a2, b1) + wide(a1, b2) + wide(a0, b3) + wide(a4, c4),
        wide(a4, b0) + wide(a3, b1) + wide(a2, b2) + wide(a1, b3) + wide(a0, b4),
    ])
}

/// a² for limbs below 2^54.
#[inline]
pub(crate) const fn square(a: &Limbs) -> Limbs {
    let [a0, a1, a2, a3, a4] = *a;
    let (d0, d1, d2) = (2 * a0, 2 * a1, 2 * a2);
    let (c3, c4) = (19 * a3, 19 * a4);
    carry_columns([
        wide(a0, a0) + wide(d1, c4) + wide(d2, c3),
        wide(d0, a1) + wide(d2, c4) + wide(a3, c3),
        wide(d0, a2) + wide(a1, a1) + wide(2 * a3, c4),
        wide(d0, a3) + wide(d1, a2) + wide(a4, c4),
        wide(d0, a4) + wide(d1, a3) + wide(a2, a2),
    ])
}

/// The canonical representative, below p, of any limbs below 2^59.
#[inline]
pub(crate) const fn canonical(a: &Limbs) -> Limbs {
    let a = carry(&carry(a));
    // a < 2^255 + 2^205 < 2p: the quotient by p is 0 or 1, and it is the carry of a + 19 out of bit
    // 255.
    let mut q = (a[0] + 19) >> 51;
    q = (a[1] + q) >> 51;
    q = (a[2] + q) >> 51;
    q = (a[3] + q) >> 51;
    q = (a[4] + q) >> 51;
    let l0 = a[0] + 19 * q;
    let l1 = a[1] + (l0 >> 51);
    let l2 = a[2] + (l1 >> 51);
    let l3 = a[3] + (l2 >> 51);
    let l4 = a[4] + (l3 >> 51);
    [l0 & MASK51, l1 & MASK51, l2 & MASK51, l3 & MASK51, l4 & MASK51]
}

/// See the module's documentation.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Portable;

#[derive(Clone, Copy, Debug)]
pub(crate) struct Carried(pub(super) Limbs);
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sum(Limbs);
#[derive(Clone, Copy, Debug)]
pub(crate) struct Loose(Limbs);

impl Field for Portable {
    const LANES: usize = 1;
    type Carried = Carried;
    type Sum = Sum;
    type Loose = Loose;
    type ProjectiveRow = [Limbs; 4];
    type AffineRow = [Limbs; 3];

    #[inline(always)]
    fn splat(self, limbs: &Limbs) -> Carried {
        Carried(*limbs)
    }
    #[inline(always)]
    fn pack(self, limbs: &[Limbs]) -> Carried {
        Carried(limbs[0])
    }
    #[inline(always)]
    fn unpack(self, a: &Carried, limbs: &mut [Limbs]) {
        limbs[0] = canonical(&a.0);
    }
    #[inline(always)]
    fn add(self, a: &Carried, b: &Carried) -> Sum {
        Sum(add(&a.0, &b.0))
    }
    #[inline(always)]
    fn sub(self, a: &Carried, b: &Carried) -> Sum {
        Sum(sub(&a.0, &b.0))
    }
    #[inline(always)]
    fn negate_where(self, mask: LaneMask, a: &Carried) -> Carried {
        if mask & 1 == 0 { *a } else { Carried(carry(&sub(&ZERO, &a.0))) }
    }
    #[inline(always)]
    fn select(self, mask: LaneMask, a: &Carried, b: &Carried) -> Carried {
        if mask & 1 == 0 { *b } else { *a }
    }
    #[inline(always)]
    fn carry_sum(self, a: &Sum) -> Carried {
        Carried(carry(&a.0))
    }
    #[inline(always)]
    fn mul(self, a: &Carried, b: &Carried) -> Carried {
        Carried(mul(&a.0, &b.0))
    }
    #[inline(always)]
    fn mul_to(self, out: &mut Carried, a: &Carried, b: &Carried) {
        *out = self.mul(a, b);
    }
    #[inline(always)]
    fn square(self, a: &Carried) -> Carried {
        Carried(square(&a.0))
    }
    #[inline(always)]
    fn square_to(self, out: &mut Carried, a: &Carried) {
        *out = self.square(a);
    }
    #[inline(always)]
    fn mul_loose(self, a: &Carried, b: &Carried) -> Loose {
        Loose(mul(&a.0, &b.0))
    }
    #[inline(always)]
    fn mul_sum_loose(self, a: &Sum, b: &Carried) -> Loose {
        Loose(mul(&a.0, &b.0))
    }
    #[inline(always)]
    fn square_loose(self, a: &Carried) -> Loose {
        Loose(square(&a.0))
    }
    #[inline(always)]
    fn loosen(self, a: &Carried) -> Loose {
        Loose(a.0)
    }
    #[inline(always)]
    fn add_loose(self, a: &Loose, b: &Loose) -> Loose {
        let (a, b) = (a.0, b.0);
        Loose([
            a[0].wrapping_add(b[0]),
            a[1].wrapping_add(b[1]),
            a[2].wrapping_add(b[2]),
            a[3].wrapping_add(b[3]),
            a[4].wrapping_add(b[4]),
        ])
    }
    #[inline(always)]
    fn sub_loose(self, a: &Loose, b: &Loose) -> Loose {
        let (a, b) = (a.0, b.0);
        Loose([
            a[0].wrapping_sub(b[0]),
            a[1].wrapping_sub(b[1]),
            a[2].wrapping_sub(b[2]),
            a[3].wrapping_sub(b[3]),
            a[4].wrapping_sub(b[4]),
        ])
    }
    #[inline(always)]
    fn carry(self, a: &Loose) -> Carried {
        Carried(carry(&self.add_loose(a, &Loose(SIXTEEN_P)).0))
    }
    #[inline(always)]
    fn store_row(self, coordinates: [&Carried; 4], row: usize, table: &mut [[Limbs; 4]]) {
        let [a, b, c, d] = coordinates;
        table[row] = [a.0, b.0, c.0, d.0];
    }
    #[inline(always)]
    fn pick_projective(self, table: &[[Limbs; 4]], slots: &[u8], digits: &[i8]) -> [Carried; 4] {
        let (slot, digit) = (slots[0], digits[0]);
        let row = usize::from(slot) * TABLE_ROWS + usize::from(digit.unsigned_abs());
        let [y_plus_x, y_minus_x, z, t2d] = table[row];
        let (y_plus_x, y_minus_x) =
            if digit < 0 { (y_minus_x, y_plus_x) } else { (y_plus_x, y_minus_x) };
        let t2d = self.negate_where(LaneMask::from(digit < 0), &Carried(t2d));
        [Carried(y_plus_x), Carried(y_minus_x), Carried(z), t2d]
    }
    #[inline(always)]
    fn base_tables(self) -> [&'static [[Limbs; 3]]; 2] {
        basepoint::TABLES.each_ref().map(|table| &table[..])
    }
    #[inline(always)]
    fn pick_affine(self, table: &[[Limbs; 3]], digits: &[i16]) -> [Carried; 3] {
        let digit = digits[0];
        let [y_plus_x, y_minus_x, xy2d] = table[usize::from(digit.unsigned_abs())];
        let (y_plus_x, y_minus_x) =
            if digit < 0 { (y_minus_x, y_plus_x) } else { (y_plus_x, y_minus_x) };
        let xy2d = self.negate_where(LaneMask::from(digit < 0), &Carried(xy2d));
        [Carried(y_plus_x), Carried(y_minus_x), xy2d]
    }
    #[inline(never)]
    fn enter<G: Field, R: Routine<G>>(self, f: G, routine: R) -> R::Output {
        routine.run(f)
    }
}
