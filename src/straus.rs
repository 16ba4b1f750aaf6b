//! One chain of doublings for the four products of a lane (Straus): two points P and Q of its own, B and
//! [2^130]B.
//!
//! Scalars of whole size are cut at bit 130: [S]B − [k]A = [S₀]B + [S₁][2^130]B + [k₀](−A) +
//! [k₁][2^130](−A). With half-size scalars the points are −A and −R, and only τ S is cut.
//!
//! A pair of digits of P and Q is one addition of i P + j Q from a table that the lane has for itself; the
//! multiples of B and [2^130]B are from constant tables.

use crate::digits::{Digits, Position, WIDTH};
use crate::edwards::{AffineNiels, CompletedPoint, Curve, EdwardsPoint, ProjectiveNiels};
use crate::field::{Field, MAX_LANES, Routine};

/// Fills each lane's table with i P + j Q: in row [`crate::digits::STRIDE`] i + j.
struct FillTable<'a, F: Field> {
    curve: &'a Curve<F>,
    points: [&'a EdwardsPoint<F>; 2],
    table: &'a mut [F::ProjectiveRow],
}

impl<F: Field> Routine<F> for FillTable<'_, F> {
    type Output = ();
    #[inline(always)]
    fn run(self, f: F) {
        let Self { curve, points: [p, q], table } = self;
        let mut completed = CompletedPoint::placeholder(curve);
        let [mut twice_p, mut twice_q, mut sum] = [*p, *q, *p];
        twice_p.double_times(f, &mut completed, 1);
        twice_q.double_times(f, &mut completed, 1);
        store(f, curve, table, 0, &EdwardsPoint::identity(curve));
        let q = store(f, curve, table, 1, q);
        let twice_q = store(f, curve, table, 2, &twice_q);
        store(f, curve, table, 5, p);
        store(f, curve, table, 10, &twice_p);
        // P ± Q and twice these.
        for (niels, row) in [(q.negate(f), 4), (q, 6)] {
            completed.set_sum(f, p, &niels);
            sum.set(f, &completed);
            store(f, curve, table, row, &sum);
            sum.double_times(f, &mut completed, 1);
            store(f, curve, table, 2 * row, &sum);
        }
        // P ± 2Q and 2P ± Q.
        for (point, niels, row) in [
            (p, twice_q.negate(f), 3),
            (p, twice_q, 7),
            (&twice_p, q.negate(f), 9),
            (&twice_p, q, 11),
        ] {
            completed.set_sum(f, point, &niels);
            sum.set(f, &completed);
            store(f, curve, table, row, &sum);
        }
    }
}

/// Stores a point as a row of each lane's table.
#[inline(always)]
fn store<F: Field>(
    f: F,
    curve: &Curve<F>,
    table: &mut [F::ProjectiveRow],
    row: usize,
    point: &EdwardsPoint<F>,
) -> ProjectiveNiels<F> {
    let niels = point.niels(f, curve);
    let ProjectiveNiels { y_plus_x, y_minus_x, z, t2d } = &niels;
    f.store_row([y_plus_x, y_minus_x, z, t2d], row, table);
    niels
}

/// sum += [digit]P for a position's digits, T left as it was.
struct AddDigits<'a, F: Field> {
    sum: &'a mut EdwardsPoint<F>,
    scratch: &'a mut CompletedPoint<F>,
    table: &'a [F::ProjectiveRow],
    slots: &'a [u8; MAX_LANES],
    position: Position<'a>,
}

impl<F: Field> Routine<F> for AddDigits<'_, F> {
    type Output = ();
    #[inline(always)]
    fn run(self, f: F) {
        let Self { sum, scratch: completed, table, slots, position } = self;
        let [y_plus_x, y_minus_x, z, t2d] = f.pick_projective(table, slots, position.points);
        completed.set_sum(f, sum, &ProjectiveNiels { y_plus_x, y_minus_x, z, t2d });
        if let Some(digits) = position.base {
            for (digits, table) in digits.iter().zip(f.base_tables()) {
                sum.set(f, completed);
                let [y_plus_x, y_minus_x, xy2d] = f.pick_affine(table, &digits[..]);
                completed.set_sum_affine(f, sum, &AffineNiels { y_plus_x, y_minus_x, xy2d });
            }
        }
        sum.projective.set(f, completed);
    }
}

/// Fills one slot of the table for each lane, [`crate::field::TABLE_ROWS`] rows, from its two points.
#[inline(always)]
pub(crate) fn fill_table<F: Field>(
    f: F,
    curve: &Curve<F>,
    points: [&EdwardsPoint<F>; 2],
    table: &mut [F::ProjectiveRow],
) {
    f.call(FillTable { curve, points, table });
}

/// The sum of the products that `digits` describes, in every lane, P and Q being those of the lane's slot
/// of the table.
#[inline(always)]
pub(crate) fn multi_scalar_mul<F: Field>(
    f: F,
    curve: &Curve<F>,
    slots: &[u8; MAX_LANES],
    digits: &Digits,
    table: &[F::ProjectiveRow],
) -> EdwardsPoint<F> {
    let mut sum = EdwardsPoint::identity(curve);
    let mut scratch = CompletedPoint::placeholder(curve);
    for position in digits.positions() {
        let last = position.last;
        f.call(AddDigits { sum: &mut sum, scratch: &mut scratch, table, slots, position });
        if !last {
            sum.double_times(f, &mut scratch, WIDTH);
        }
    }
    sum.set_t(f, &scratch);
    sum
}
