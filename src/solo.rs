//! One signature in four lanes: the coordinates of one point side by side, for calls that are too
//! small to fill a group.
//!
//! A lone signature in a group of four leaves three lanes idle, and the group takes as long as
//! ever. Here the four products of a step run in the four lanes instead (Hisil, Wong, Carter,
//! Dawson 2008, section 4). A and R are decoded together, one in each lane of a group, and the
//! result is compared with R as a point, which saves the inversion. That is the comparison of
//! encodings because the rules on bytes let only a canonical R get here where encodings count.

use crate::digits::{Digits, WIDTH};
use crate::edwards::{Curve, D2, EdwardsPoint, ProjectivePoint};
use crate::field::fma::{self, AffineRow, BASE_TABLES, Carried, Fma, Quad};
use crate::field::{Field, Limbs, MAX_LANES, ONE, Routine, TABLE_ROWS, ZERO, limbwise};
use crate::profile::{Equation, halves};
use crate::scalar::CUT;
use crate::verify::{IDENTITY, Live};

/// The signatures that are decoded together.
const SOLO_MAX: usize = 2;

const TWO: Limbs = [2, 0, 0, 0, 0];

/// Lanes (Z, X, X + Y, Y): the input of a doubling.
struct Doubling<F>(Carried<F>);
/// Lanes (Z, T, Y − X, Y + X): the first input of an addition.
#[derive(Clone, Copy)]
struct Adding<F>(Carried<F>);
/// Lanes (2Z, 2dT, Y − X, Y + X): the second input of an addition.
#[derive(Clone, Copy)]
struct Cached<F>(Carried<F>);
/// Lanes (F, G, E, H).
struct Completed<F>(Carried<F>);

/// The control of [`Quad::permute`] that puts lane `a` first, then `b`, `c` and `d`.
const fn lanes(a: i32, b: i32, c: i32, d: i32) -> i32 {
    a | b << 2 | c << 4 | d << 6
}

/// (F, G, E, H) of the double of (Z, X, X + Y, Y), as [`crate::edwards::double`].
#[inline(always)]
pub(crate) fn double<Q: Quad>(q: Q, point: &[Q::F; 5]) -> [Q::F; 5] {
    let squares = q.square_loose(point);
    // (2Z², 0, (X+Y)², 0) + (X², −X², −Y², Y²) + (−Y², Y², −X², X²)
    let sums = limbwise!(|squares| {
        let first = q.permute_int::<{ lanes(1, 1, 3, 3) }>(squares);
        let second = q.permute_int::<{ lanes(3, 3, 1, 1) }>(squares);
        let signed = q.add_int(q.negate_lanes(0b0110, first), q.negate_lanes(0b0101, second));
        q.add_int(q.shift_lanes([1, 64, 0, 64], squares), signed)
    });
    fma::carry(q, &sums)
}

/// (F, G, E, H) of (Z, T, Y − X, Y + X) + (2Z, 2dT, Y − X, Y + X), as
/// [`crate::edwards::add_projective`].
#[inline(always)]
pub(crate) fn add<Q: Quad>(q: Q, point: &[Q::F; 5], cached: &[Q::F; 5]) -> [Q::F; 5] {
    // (D, C, A, B)
    let products = q.mul_loose(point, cached);
    // (D, D, B, B) + (−C, C, −A, A)
    let sums = limbwise!(|products| {
        let first = q.permute_int::<{ lanes(0, 0, 3, 3) }>(products);
        let second = q.permute_int::<{ lanes(1, 1, 2, 2) }>(products);
        q.add_int(first, q.negate_lanes(0b0101, second))
    });
    fma::carry(q, &sums)
}

/// (Z, X, X + Y, Y) of (F, G, E, H).
#[inline(always)]
pub(crate) fn doubling<Q: Quad>(q: Q, completed: &[Q::F; 5]) -> [Q::F; 5] {
    let c = *completed;
    let a = limbwise!(|c| q.permute::<{ lanes(0, 0, 2, 3) }>(c));
    let b = limbwise!(|c| q.permute::<{ lanes(1, 2, 0, 1) }>(c));
    // (Z, X, X, Y)
    let products = q.mul_loose(&a, &b);
    let sums = limbwise!(|products| {
        let y = q.permute_int::<{ lanes(3, 3, 3, 3) }>(products);
        q.add_int(products, q.shift_lanes([64, 64, 0, 64], y))
    });
    fma::carry(q, &sums)
}

/// (Z, T, Y − X, Y + X) of (F, G, E, H).
#[inline(always)]
pub(crate) fn adding<Q: Quad>(q: Q, completed: &[Q::F; 5]) -> [Q::F; 5] {
    let products = coordinates(q, completed);
    let sums = limbwise!(|products| {
        let y = q.permute_int::<{ lanes(0, 1, 3, 3) }>(products);
        let x = q.permute_int::<{ lanes(2, 2, 2, 2) }>(products);
        let x = q.shift_lanes([64, 64, 0, 0], x);
        q.add_int(y, q.negate_lanes(0b0100, x))
    });
    fma::carry(q, &sums)
}

/// (Z, T, X, Y) = (F G, E H, E F, G H) of (F, G, E, H), uncarried.
#[inline(always)]
fn coordinates<Q: Quad>(q: Q, completed: &[Q::F; 5]) -> [Q::I; 5] {
    let c = *completed;
    let a = limbwise!(|c| q.permute::<{ lanes(0, 2, 2, 1) }>(c));
    let b = limbwise!(|c| q.permute::<{ lanes(1, 3, 0, 3) }>(c));
    q.mul_loose(&a, &b)
}

impl<F: Copy> Doubling<F> {
    /// self = completed
    #[inline(always)]
    fn set<Q: Quad<F = F>>(&mut self, q: Q, completed: &Completed<F>) {
        q.lone_doubling(&mut self.0.0, &completed.0.0);
    }
    /// self = 2 · point
    #[inline(always)]
    fn set_double<Q: Quad<F = F>>(&mut self, q: Q, point: &Self) {
        q.lone_double_doubling(&mut self.0.0, &point.0.0);
    }
}

impl<F: Copy> Adding<F> {
    /// self = completed
    #[inline(always)]
    fn set<Q: Quad<F = F>>(&mut self, q: Q, completed: &Completed<F>) {
        q.lone_adding(&mut self.0.0, &completed.0.0);
    }

    #[inline(always)]
    fn identity<Q: Quad<F = F>>(q: Q) -> Self {
        Self(Fma(q).pack(&[ONE, ZERO, ONE, ONE]))
    }

    /// 2Z and 2dT for Z and T; `factors` has the lanes (2, 2d, 1, 1).
    #[inline(always)]
    fn cached<Q: Quad<F = F>>(&self, q: Q, factors: &Carried<F>) -> Cached<F> {
        Cached(Carried(q.mul(&self.0.0, &factors.0)))
    }
}

impl<F: Copy> Completed<F> {
    /// self = 2 · point
    #[inline(always)]
    fn set_double<Q: Quad<F = F>>(&mut self, q: Q, point: &Doubling<F>) {
        q.lone_double(&mut self.0.0, &point.0.0);
    }
    /// self = point + other
    #[inline(always)]
    fn set_sum<Q: Quad<F = F>>(&mut self, q: Q, point: &Adding<F>, other: &Cached<F>) {
        q.lone_add(&mut self.0.0, &point.0.0, &other.0.0);
    }
    /// (Z, T, X, Y)
    #[inline(always)]
    fn coordinates<Q: Quad<F = F>>(&self, q: Q) -> Carried<F> {
        Carried(fma::carry(q, &coordinates(q, &self.0.0)))
    }
}

impl<F: Copy> Cached<F> {
    /// −P if `negative`: the last two lanes change places, the second one its sign.
    #[inline(always)]
    fn negate_if<Q: Quad<F = F>>(&self, q: Q, negative: bool) -> Self {
        if !negative {
            return *self;
        }
        let c = self.0.0;
        let swapped = Carried(limbwise!(|c| q.permute::<{ lanes(0, 1, 3, 2) }>(c)));
        Self(Fma(q).negate_where(0b0010, &swapped))
    }

    /// A row of the table of B.
    #[inline(always)]
    fn of_base<Q: Quad<F = F>>(q: Q, row: &AffineRow) -> Self {
        let [y_plus_x, y_minus_x, xy2d, last] = &row.0;
        let low = |i: usize, z: f64| q.load([z, xy2d[i], y_minus_x[i], y_plus_x[i]]);
        let top = q.load([0.0, last[2], last[1], last[0]]);
        Self(Carried([low(0, 2.0), low(1, 0.0), low(2, 0.0), low(3, 0.0), top]))
    }
}

/// A point as the first input of an addition and of a doubling.
struct Point<F> {
    adding: Adding<F>,
    doubling: Doubling<F>,
}

impl<F: Copy> Point<F> {
    /// A point given by x, y and xy.
    #[inline(always)]
    fn from_affine<Q: Quad<F = F>>(q: Q, [x, y, xy]: &[Limbs; 3]) -> Self {
        let f = Fma(q);
        let ys = f.pack(&[ONE, *xy, *y, *y]);
        let xs = f.negate_where(0b0100, &f.pack(&[ZERO, ZERO, *x, *x]));
        let adding = Adding(f.carry_sum(&f.add(&ys, &xs)));
        let sum = f.add(&f.pack(&[ONE, *x, *y, *y]), &f.pack(&[ZERO, ZERO, *x, ZERO]));
        Self { adding, doubling: Doubling(f.carry_sum(&sum)) }
    }

    /// self = completed
    #[inline(always)]
    fn set<Q: Quad<F = F>>(&mut self, q: Q, completed: &Completed<F>) {
        self.adding.set(q, completed);
        self.doubling.set(q, completed);
    }

    /// self = [2^n] self, n at least 1.
    #[inline(always)]
    fn double_times<Q: Quad<F = F>>(&mut self, q: Q, n: usize) {
        let mut completed = Completed(self.doubling.0);
        for _ in 1..n {
            completed.set_double(q, &self.doubling);
            self.doubling.set(q, &completed);
        }
        completed.set_double(q, &self.doubling);
        self.set(q, &completed);
    }
}

/// i P + j Q in the rows that [`crate::straus`] names. `factors` as for [`Adding::cached`].
#[inline(always)]
fn fill_table<Q: Quad>(
    q: Q,
    factors: &Carried<Q::F>,
    points: [&Point<Q::F>; 2],
    table: &mut [Cached<Q::F>; TABLE_ROWS],
) {
    let [a, b] = points;
    // Places that are written before they are read.
    let mut completed = Completed(a.adding.0);
    let (mut twice_a, mut sum) = (a.adding, a.adding);
    let mut doubling = Doubling(a.doubling.0);
    completed.set_double(q, &a.doubling);
    twice_a.set(q, &completed);
    completed.set_double(q, &b.doubling);
    sum.set(q, &completed);
    table[0] = Adding::identity(q).cached(q, factors);
    table[1] = b.adding.cached(q, factors);
    table[2] = sum.cached(q, factors);
    table[5] = a.adding.cached(q, factors);
    table[10] = twice_a.cached(q, factors);
    // P ± Q and twice these.
    for (negative, row) in [(true, 4), (false, 6)] {
        completed.set_sum(q, &a.adding, &table[1].negate_if(q, negative));
        sum.set(q, &completed);
        table[row] = sum.cached(q, factors);
        doubling.set(q, &completed);
        completed.set_double(q, &doubling);
        sum.set(q, &completed);
        table[2 * row] = sum.cached(q, factors);
    }
    // P ± 2Q and 2P ± Q.
    for (point, multiple, negative, row) in [
        (&a.adding, 2, true, 3),
        (&a.adding, 2, false, 7),
        (&twice_a, 1, true, 9),
        (&twice_a, 1, false, 11),
    ] {
        completed.set_sum(q, point, &table[multiple].negate_if(q, negative));
        sum.set(q, &completed);
        table[row] = sum.cached(q, factors);
    }
}

/// The sum of the products that lane 0 of `digits` describes, as [`crate::straus::multi_scalar_mul`].
#[inline(always)]
fn multi_scalar_mul<Q: Quad>(
    q: Q,
    digits: &Digits,
    table: &[Cached<Q::F>; TABLE_ROWS],
) -> Completed<Q::F> {
    let mut sum = Adding::identity(q);
    // Places that are written before they are read.
    let mut completed = Completed(sum.0);
    let (mut doubling, mut again) = (Doubling(sum.0), Doubling(sum.0));
    for position in digits.positions(1) {
        let digit = position.points[0];
        let row = table[usize::from(digit.unsigned_abs())].negate_if(q, digit < 0);
        completed.set_sum(q, &sum, &row);
        if let Some(digits) = position.base {
            for (table, digits) in BASE_TABLES.iter().zip(digits) {
                let digit = digits[0];
                let row = Cached::of_base(q, &table[usize::from(digit.unsigned_abs())]);
                sum.set(q, &completed);
                completed.set_sum(q, &sum, &row.negate_if(q, digit < 0));
            }
        }
        if !position.last {
            const { assert!(WIDTH == 2) };
            doubling.set(q, &completed);
            again.set_double(q, &doubling);
            completed.set_double(q, &again);
            sum.set(q, &completed);
        }
    }
    completed
}

/// Decides the `signatures` of `live`.
#[inline(always)]
pub(crate) fn decide<Q: Quad>(
    f: Fma<Q>,
    curve: &Curve<Fma<Q>>,
    live: &Live<'_>,
    signatures: &[u8],
    verdicts: &mut [bool],
) {
    for signatures in signatures.chunks(SOLO_MAX) {
        // Lanes A, R, A, R.
        let mut encodings = [IDENTITY; MAX_LANES];
        for (&i, pair) in signatures.iter().zip(encodings.chunks_exact_mut(2)) {
            let item = live.item(i);
            pair.copy_from_slice(&[*item.public_key, *halves(item.signature).0]);
        }
        let (points, decoded) = EdwardsPoint::decompress_negated(f, curve, &encodings);
        let ProjectivePoint { x, y, .. } = &points.projective;
        let mut affine = [[ZERO; 4]; 3];
        for (coordinate, limbs) in [x, y, &points.t].into_iter().zip(&mut affine) {
            f.unpack(coordinate, limbs);
        }
        let [x, y, xy] = &affine;
        for (&i, lane) in signatures.iter().zip([0, 2]) {
            let [minus_a, minus_r] = [lane, lane + 1].map(|lane| [x[lane], y[lane], xy[lane]]);
            let (equation, half_size) = (live.equation(), live.is_half_size(i));
            let mut digits = if half_size { Digits::HALF_SIZE } else { Digits::WHOLE };
            live.set_digits(i, 0, &mut digits);
            let holds = f.call(Decide {
                equation,
                half_size,
                minus_a: &minus_a,
                minus_r: &minus_r,
                digits: &digits,
            });
            live.decide(i, decoded >> lane & 0b11 == 0b11 && holds, verdicts);
        }
    }
}

/// Whether [S]B − [k]A − R = O, or eight times that, by an odd multiple of it if the scalars are half-size.
/// Points are given by x, y and xy.
struct Decide<'a> {
    equation: Equation,
    /// Whether `digits` are those of half-size scalars.
    half_size: bool,
    minus_a: &'a [Limbs; 3],
    minus_r: &'a [Limbs; 3],
    digits: &'a Digits,
}

impl<Q: Quad> Routine<Fma<Q>> for Decide<'_> {
    type Output = bool;
    #[inline(always)]
    fn run(self, f: Fma<Q>) -> bool {
        let q = f.0;
        let factors = f.pack(&[TWO, D2, ONE, ONE]);
        let minus_a = Point::from_affine(q, self.minus_a);
        let minus_r = Point::from_affine(q, self.minus_r);
        let mut table = [Cached(minus_r.adding.0); TABLE_ROWS];
        let mut sum;
        if self.half_size {
            fill_table(q, &factors, [&minus_a, &minus_r], &mut table);
            sum = multi_scalar_mul(q, self.digits, &table);
        } else {
            let mut upper = Point::from_affine(q, self.minus_a);
            upper.double_times(q, CUT);
            fill_table(q, &factors, [&minus_a, &upper], &mut table);
            sum = multi_scalar_mul(q, self.digits, &table);
            let mut point = minus_a.adding;
            point.set(q, &sum);
            sum.set_sum(q, &point, &minus_r.adding.cached(q, &factors));
        }
        if self.equation == Equation::Cofactored {
            let mut doubling = Doubling(minus_a.doubling.0);
            for _ in 0..3 {
                doubling.set(q, &sum);
                sum.set_double(q, &doubling);
            }
        }
        // (Z, T, X, Y): the identity is X = 0 and Y − Z = 0.
        let sum = sum.coordinates(q);
        let c = sum.0;
        let z = Carried(limbwise!(|c| q.permute::<{ lanes(0, 0, 0, 0) }>(c)));
        let z = f.select(0b1000, &z, &f.pack(&[ZERO; 4]));
        let differences = f.carry_sum(&f.sub(&sum, &z));
        f.zero_and_odd(&differences).0 & 0b1100 == 0b1100
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::field::fma::intervals::{self, Intervals};

    /// No intermediate of any step leaves its bounds, for all inputs of the classes.
    #[test]
    fn bounds_hold_for_all_inputs() {
        let (q, any) = (Intervals, intervals::carried);
        let mut completed = Completed(any());
        completed.set_double(q, &Doubling(any()));
        intervals::widen(completed.0.0);
        completed.set_sum(q, &Adding(any()), &Cached(any()));
        intervals::widen(completed.0.0);
        let (mut doubling, mut adding) = (Doubling(any()), Adding(any()));
        doubling.set(q, &Completed(any()));
        intervals::widen(doubling.0.0);
        adding.set(q, &Completed(any()));
        intervals::widen(adding.0.0);
        intervals::widen(Completed(any()).coordinates(q).0);
        let Cached(limbs) = Adding(any()).cached(q, &any()).negate_if(q, true);
        intervals::widen(limbs.0);
    }
}
