//! One chain of doublings for the four products of a lane (Straus): two points P and Q of its own, B and
//! [2^130]B.
//!
//! Scalars of whole size are cut at bit 130: [S]B − [k]A = [S₀]B + [S₁][2^130]B + [k₀](−A) +
//! [k₁][2^130](−A). With half-size scalars the points are −A and −R, and only τ S is cut.
//!
//! The scalars of P and Q are in signed digits of two bits, and each pair of digits is one addition of
//! i P + j Q from a table that the lane has for itself. The scalars of B and [2^130]B are in signed
//! digits of ten bits, at every fifth position, from constant tables.

use crate::edwards::{AffineNiels, CompletedPoint, Curve, EdwardsPoint, ProjectiveNiels};
use crate::field::{Field, MAX_LANES, Routine};
use crate::half_size::{self, Relation};
use crate::scalar::{CUT, Scalar, signed_digits};

/// Bits of a digit of the lane's points.
pub(crate) const WIDTH: usize = 2;
/// Bits of a digit of B and [2^130]B.
const BASE_WIDTH: usize = 10;
/// Digits of k, which is below 2^253.
const KEY_DIGITS: usize = 254 / WIDTH;
/// Digits of S.
const BASE_DIGITS: usize = 2 * CUT / BASE_WIDTH;
/// Positions of scalars of whole size: digits below the cut.
const WHOLE_POSITIONS: usize = CUT / WIDTH;
/// Positions of half-size scalars.
const HALF_SIZE_POSITIONS: usize = (half_size::BITS + 1) / WIDTH;
const BASE_POSITIONS: usize = CUT / BASE_WIDTH;

const _: () = {
    assert!(CUT.is_multiple_of(BASE_WIDTH) && BASE_WIDTH.is_multiple_of(WIDTH));
    assert!(HALF_SIZE_POSITIONS * WIDTH == half_size::BITS + 1);
    assert!(WHOLE_POSITIONS <= HALF_SIZE_POSITIONS);
};

/// i P + j Q is row i · [`STRIDE`] + j of a table, for i and j of −2 … 2; the negative of a row stands for
/// itself and minus its row.
const STRIDE: i8 = 5;

/// Digits of a group's scalars, position by position, lowest first.
pub(crate) struct Digits {
    /// How many positions are in use.
    positions: usize,
    /// [`STRIDE`] · the digit of P + the digit of Q.
    points: [[i8; MAX_LANES]; HALF_SIZE_POSITIONS],
    /// Of B and [2^130]B.
    base: [[[i16; MAX_LANES]; 2]; BASE_POSITIONS],
}

impl Digits {
    const ZERO: Self = Self {
        positions: 0,
        points: [[0; MAX_LANES]; HALF_SIZE_POSITIONS],
        base: [[[0; MAX_LANES]; 2]; BASE_POSITIONS],
    };

    /// Zeros, for [`Self::set_whole`].
    pub(crate) const WHOLE: Self = Self { positions: WHOLE_POSITIONS, ..Self::ZERO };
    /// Zeros, for [`Self::set_half_size`].
    pub(crate) const HALF_SIZE: Self = Self { positions: HALF_SIZE_POSITIONS, ..Self::ZERO };

    /// The scalars of [S]B − [k]A, the points being −A and [2^130](−A).
    pub(crate) fn set_whole(&mut self, lane: usize, k: &Scalar, s: &Scalar) {
        let digits = signed_digits::<WIDTH, KEY_DIGITS>(k.words());
        let (lower, upper) = digits.split_at(WHOLE_POSITIONS);
        let upper = upper.iter().chain(core::iter::repeat(&0));
        for ((position, i), j) in self.points.iter_mut().zip(lower).zip(upper) {
            position[lane] = STRIDE * *i as i8 + *j as i8;
        }
        self.set_base(lane, s);
    }

    /// The scalars of [τ S]B − [ρ]A − [τ]R, the points being −A and −R.
    pub(crate) fn set_half_size(&mut self, lane: usize, relation: &Relation, s: &Scalar) {
        let digits = |&[x0, x1, x2]: &[u64; 3]| {
            signed_digits::<WIDTH, HALF_SIZE_POSITIONS>(&[x0, x1, x2, 0])
        };
        let (rho, negative) = relation.rho();
        let stride = if negative { -STRIDE } else { STRIDE };
        let tau = digits(relation.tau());
        for ((position, i), j) in self.points.iter_mut().zip(digits(rho)).zip(tau) {
            position[lane] = stride * i as i8 + j as i8;
        }
        self.set_base(lane, &s.mul_short(relation.tau()));
    }

    fn set_base(&mut self, lane: usize, s: &Scalar) {
        let digits = signed_digits::<BASE_WIDTH, BASE_DIGITS>(s.words());
        for (i, digit) in digits.into_iter().enumerate() {
            self.base[i % BASE_POSITIONS][i / BASE_POSITIONS][lane] = digit;
        }
    }

    /// The positions, the last one first.
    #[inline(always)]
    pub(crate) fn positions(&self) -> impl Iterator<Item = Position<'_>> {
        const EVERY: usize = BASE_WIDTH / WIDTH;
        self.points[..self.positions].iter().enumerate().rev().map(|(i, points)| Position {
            points,
            base: if i.is_multiple_of(EVERY) { self.base.get(i / EVERY) } else { None },
            last: i == 0,
        })
    }
}

/// The digits of one position.
pub(crate) struct Position<'a> {
    /// For each lane, the row of its table, and whether it is negative.
    pub(crate) points: &'a [i8; MAX_LANES],
    /// The digits of B and [2^130]B.
    pub(crate) base: Option<&'a [[i16; MAX_LANES]; 2]>,
    /// No doublings follow.
    pub(crate) last: bool,
}

/// Fills each lane's table with i P + j Q.
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
                let [y_plus_x, y_minus_x, xy2d] = f.pick_affine(table, digits);
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
