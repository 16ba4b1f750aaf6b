//! [S]B − [k]A in every lane: one chain of doublings for both scalars (Straus).
//!
//! k in 51 signed digits of five bits, from a table of −A that each lane has for itself; S in 26
//! signed digits of ten bits, from the constant table of B, one at every other digit of k.

use crate::edwards::{AffineNiels, CompletedPoint, Curve, EdwardsPoint, ProjectiveNiels};
use crate::field::{Field, MAX_LANES, Routine, TABLE_ROWS};
use crate::scalar::{BASE_DIGITS, KEY_DIGITS, Scalar};

/// Digits of a group's scalars, position by position, lowest first.
pub(crate) struct Digits {
    key: [[i8; MAX_LANES]; KEY_DIGITS],
    base: [[i16; MAX_LANES]; BASE_DIGITS],
}

impl Digits {
    /// All zero: [0]B − [0]A, the identity.
    pub(crate) const ZERO: Self =
        Self { key: [[0; MAX_LANES]; KEY_DIGITS], base: [[0; MAX_LANES]; BASE_DIGITS] };

    /// Sets the scalars of one lane.
    pub(crate) fn set(&mut self, lane: usize, k: &Scalar, s: &Scalar) {
        for (position, digit) in self.key.iter_mut().zip(k.signed_digits::<5, KEY_DIGITS>()) {
            position[lane] = digit as i8;
        }
        for (position, digit) in self.base.iter_mut().zip(s.signed_digits::<10, BASE_DIGITS>()) {
            position[lane] = digit;
        }
    }
}

/// Fills each lane's table with 0·P … 16·P.
struct FillTable<'a, F: Field> {
    curve: &'a Curve<F>,
    point: &'a EdwardsPoint<F>,
    table: &'a mut [F::ProjectiveRow],
}

impl<F: Field> Routine<F> for FillTable<'_, F> {
    type Output = ();
    #[inline(always)]
    fn run(self, f: F) {
        let Self { curve, point, table } = self;
        let mut store = |multiple: &EdwardsPoint<F>, row: usize| {
            let ProjectiveNiels { y_plus_x, y_minus_x, z, t2d } = &multiple.niels(f, curve);
            f.store_row([y_plus_x, y_minus_x, z, t2d], row, table);
        };
        store(&EdwardsPoint::identity(curve), 0);
        let first = point.niels(f, curve);
        let mut multiple = *point;
        let mut completed = CompletedPoint::placeholder(curve);
        for row in 1..TABLE_ROWS - 1 {
            store(&multiple, row);
            completed.set_sum(f, &multiple, &first);
            multiple.set(f, &completed);
        }
        store(&multiple, TABLE_ROWS - 1);
    }
}

/// sum += [digit]P, T left as it was; with a second digit, + [digit]B.
struct AddDigits<'a, F: Field> {
    sum: &'a mut EdwardsPoint<F>,
    scratch: &'a mut CompletedPoint<F>,
    table: &'a [F::ProjectiveRow],
    slots: &'a [u8; MAX_LANES],
    key: &'a [i8; MAX_LANES],
    base: Option<&'a [i16; MAX_LANES]>,
}

impl<F: Field> Routine<F> for AddDigits<'_, F> {
    type Output = ();
    #[inline(always)]
    fn run(self, f: F) {
        let Self { sum, scratch: completed, table, slots, key, base } = self;
        let [y_plus_x, y_minus_x, z, t2d] = f.pick_projective(table, slots, key);
        completed.set_sum(f, sum, &ProjectiveNiels { y_plus_x, y_minus_x, z, t2d });
        if let Some(base) = base {
            sum.set(f, completed);
            let [y_plus_x, y_minus_x, xy2d] = f.pick_affine(f.base_table(), base);
            completed.set_sum_affine(f, sum, &AffineNiels { y_plus_x, y_minus_x, xy2d });
        }
        sum.projective.set(f, completed);
    }
}

/// Fills one slot of the table for each lane of P: [`TABLE_ROWS`] rows.
#[inline(always)]
pub(crate) fn fill_table<F: Field>(
    f: F,
    curve: &Curve<F>,
    point: &EdwardsPoint<F>,
    table: &mut [F::ProjectiveRow],
) {
    f.call(FillTable { curve, point, table });
}

/// [S]B + [k]P in every lane, P being the point of the lane's slot of the table.
#[inline(always)]
pub(crate) fn double_scalar_mul<F: Field>(
    f: F,
    curve: &Curve<F>,
    slots: &[u8; MAX_LANES],
    digits: &Digits,
    table: &[F::ProjectiveRow],
) -> EdwardsPoint<F> {
    let mut sum = EdwardsPoint::identity(curve);
    let mut scratch = CompletedPoint::placeholder(curve);
    for position in (0..KEY_DIGITS).rev() {
        let base = position.is_multiple_of(2).then(|| &digits.base[position / 2]);
        let key = &digits.key[position];
        f.call(AddDigits { sum: &mut sum, scratch: &mut scratch, table, slots, key, base });
        if position > 0 {
            sum.double_times(f, &mut scratch, 5);
        }
    }
    sum.set_t(f, &scratch);
    sum
}
