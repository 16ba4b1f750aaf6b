//! The multiples 0 … 512 of the base point B and of [2^130]B, computed at compile time.
//!
//! A row is an affine Niels point (y + x, y − x, 2dxy) with canonical coordinates. Each
//! representation has the same table in its own layout.

use crate::edwards::D2;
use crate::field::portable::{add, canonical, mul, square, sub};
use crate::field::{Limbs, ONE, ZERO};
use crate::scalar::CUT;

/// Rows 0 … 512: signed digits of ten bits.
pub(crate) const ROWS: usize = 513;

/// x of B (RFC 8032, section 5.1).
const BASE_X: Limbs =
    [1738742601995546, 1146398526822698, 2070867633025821, 562264141797630, 587772402128613];

/// y = 4/5 of B.
const BASE_Y: Limbs =
    [1801439850948184, 1351079888211148, 450359962737049, 900719925474099, 1801439850948198];

/// The tables of B and of [2^130]B as the portable representation reads them.
pub(crate) static TABLES: [[[Limbs; 3]; ROWS]; 2] = {
    let base = [BASE_X, BASE_Y, ONE, mul(&BASE_X, &BASE_Y)];
    let mut upper = base;
    let mut doublings = 0;
    while doublings < CUT {
        upper = add_points(&upper, &upper);
        doublings += 1;
    }
    [multiples(&base), multiples(&upper)]
};

/// X, Y, Z, T with x = X/Z, y = Y/Z, xy = T/Z.
type Point = [Limbs; 4];

/// p + q by the complete formula add-2008-hwcd-3 (EFD) for a = −1.
const fn add_points(p: &Point, q: &Point) -> Point {
    let [x1, y1, z1, t1] = p;
    let [x2, y2, z2, t2] = q;
    let a = mul(&sub(y1, x1), &sub(y2, x2));
    let b = mul(&add(y1, x1), &add(y2, x2));
    let c = mul(&mul(t1, &D2), t2);
    let d = mul(&add(z1, z1), z2);
    let (e, f, g, h) = (sub(&b, &a), sub(&d, &c), add(&d, &c), add(&b, &a));
    [mul(&e, &f), mul(&g, &h), mul(&f, &g), mul(&e, &h)]
}

/// a^(2^255 − 21) = 1/a by square and multiply.
const fn invert(a: &Limbs) -> Limbs {
    let mut x = *a;
    let mut bit = 254;
    while bit > 0 {
        bit -= 1;
        x = square(&x);
        // 2^255 − 21 has every bit set but bits 2 and 4.
        if bit != 2 && bit != 4 {
            x = mul(&x, a);
        }
    }
    x
}

/// All rows, with one inversion for all of them (Montgomery's trick).
#[allow(long_running_const_eval)] // 513 point additions: about a second for each table, once per build
const fn multiples(base: &Point) -> [[Limbs; 3]; ROWS] {
    let mut points: [Point; ROWS] = [[ZERO, ONE, ONE, ZERO]; ROWS];
    let mut products = [ONE; ROWS]; // products[i] = Z_0 · … · Z_(i−1)
    let mut i = 1;
    while i < ROWS {
        points[i] = add_points(&points[i - 1], base);
        products[i] = mul(&products[i - 1], &points[i - 1][2]);
        i += 1;
    }
    let mut inverse = invert(&mul(&products[ROWS - 1], &points[ROWS - 1][2]));
    let mut rows = [[ZERO; 3]; ROWS];
    while i > 0 {
        i -= 1;
        let [x, y, z, _] = points[i];
        let z_inverse = mul(&inverse, &products[i]);
        inverse = mul(&inverse, &z);
        let (x, y) = (mul(&x, &z_inverse), mul(&y, &z_inverse));
        rows[i] =
            [canonical(&add(&y, &x)), canonical(&sub(&y, &x)), canonical(&mul(&mul(&x, &y), &D2))];
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;
    use curve25519_dalek::{EdwardsPoint, Scalar};
    use num_bigint::BigUint;

    fn integer(limbs: &Limbs) -> BigUint {
        limbs.iter().rev().fold(BigUint::from(0u8), |sum, limb| (sum << 51) + *limb)
    }

    #[test]
    fn rows_are_dalek_s_multiples() {
        let p = (BigUint::from(1u8) << 255) - 19u8;
        let half = (&p + 1u8) / 2u8;
        let root = Scalar::from(1u128 << (CUT / 2));
        let shifts = [Scalar::ONE, root * root];
        let rows = TABLES.iter().zip(shifts).flat_map(|(table, shift)| {
            (0u64..).map(move |multiple| Scalar::from(multiple) * shift).zip(table)
        });
        for (multiple, row) in rows {
            let [y_plus_x, y_minus_x, xy2d] = row.each_ref().map(integer);
            assert!([&y_plus_x, &y_minus_x, &xy2d].iter().all(|coordinate| **coordinate < p));
            let x = (&y_plus_x + &p - &y_minus_x) * &half % &p;
            let y = (&y_plus_x + &y_minus_x) * &half % &p;
            assert_eq!(xy2d, &x * &y * integer(&D2) % &p);

            let expected = EdwardsPoint::mul_base(&multiple).compress();
            let mut encoding = y.to_bytes_le();
            encoding.resize(32, 0);
            encoding[31] |= u8::from(x.bit(0)) << 7;
            assert_eq!(encoding, expected.as_bytes(), "{multiple:?} B");
        }
    }
}
