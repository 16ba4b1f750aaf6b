//! A few signatures in four lanes each: the coordinates of one point side by side, for calls that are
//! too small to fill a group.
//!
//! A lone signature in a group leaves the other lanes idle, and the group takes as long as ever. Here
//! the four products of a step run in four lanes instead (Hisil, Wong, Carter, Dawson 2008, section
//! 4), for as many points at once as the field has lanes for. A and R are decoded together, one in
//! each lane of a group, and the result is compared with R as a point, which saves the inversion. That
//! is the comparison of encodings because the rules on bytes let only a canonical R get here where
//! encodings count.

use crate::digits::{Digits, WIDTH};
use crate::edwards::{Curve, D2, EdwardsPoint, ProjectivePoint};
use crate::field::{Field, LaneMask, Limbs, MAX_LANES, ONE, Routine, TABLE_ROWS, ZERO};
use crate::profile::{Equation, halves};
use crate::scalar::CUT;
use crate::verify::{IDENTITY, Live};

const TWO: Limbs = [2, 0, 0, 0, 0];

/// A field whose lanes are taken in fours, one four for each point. Masks, controls and numbers of four
/// lanes hold for every point.
pub(crate) trait Coordinates: Field {
    /// Points in a value.
    const POINTS: usize = Self::LANES / 4;

    /// The lanes that the four two-bit fields of `CONTROL` name, the lowest field's first.
    fn permute<const CONTROL: i32>(self, a: &Self::Carried) -> Self::Carried;
    /// The same.
    fn permute_loose<const CONTROL: i32>(self, a: &Self::Loose) -> Self::Loose;
    /// −a in the lanes of `mask`.
    fn negate_lanes(self, mask: LaneMask, a: &Self::Loose) -> Self::Loose;
    /// a · 2^n with the lane's n of 0 or 1; 0 for n = 64.
    fn shift_lanes(self, n: [u64; 4], a: &Self::Loose) -> Self::Loose;
    /// Lanes (2, 2dxy, y − x, y + x) of each point's row |digit| of a table of multiples of B.
    fn load_base(self, table: &[Self::AffineRow], digits: &[i16]) -> Self::Carried;

    // The steps of a point, which a representation can pass on to kernels of its own.

    /// As [`double`].
    #[inline(always)]
    fn lone_double(self, out: &mut Self::Carried, point: &Self::Carried) {
        *out = double(self, point);
    }
    /// As [`add`].
    #[inline(always)]
    fn lone_add(self, out: &mut Self::Carried, point: &Self::Carried, cached: &Self::Carried) {
        *out = add(self, point, cached);
    }
    /// As [`doubling`].
    #[inline(always)]
    fn lone_doubling(self, out: &mut Self::Carried, completed: &Self::Carried) {
        *out = doubling(self, completed);
    }
    /// As [`doubling`] after [`double`].
    #[inline(always)]
    fn lone_double_doubling(self, out: &mut Self::Carried, point: &Self::Carried) {
        *out = doubling(self, &double(self, point));
    }
    /// As [`adding`].
    #[inline(always)]
    fn lone_adding(self, out: &mut Self::Carried, completed: &Self::Carried) {
        *out = adding(self, completed);
    }
}

/// Lanes (Z, X, X + Y, Y): the input of a doubling.
struct Doubling<F: Field>(F::Carried);
/// Lanes (Z, T, Y − X, Y + X): the first input of an addition.
#[derive(Clone, Copy)]
struct Adding<F: Field>(F::Carried);
/// Lanes (2Z, 2dT, Y − X, Y + X): the second input of an addition.
#[derive(Clone, Copy)]
struct Cached<F: Field>(F::Carried);
/// Lanes (F, G, E, H).
struct Completed<F: Field>(F::Carried);

/// The control of [`Coordinates::permute`] that puts lane `a` first, then `b`, `c` and `d`.
const fn lanes(a: i32, b: i32, c: i32, d: i32) -> i32 {
    a | b << 2 | c << 4 | d << 6
}

/// The lanes of `mask` in each point of `points`.
#[inline(always)]
const fn of_points(mask: LaneMask, points: LaneMask) -> LaneMask {
    let mut out = 0;
    let mut point = 0;
    while point < MAX_LANES / 4 {
        out |= (mask * (points >> point & 1)) << (4 * point);
        point += 1;
    }
    out
}

/// The lanes of `mask` in every point.
const fn of_every_point(mask: LaneMask) -> LaneMask {
    of_points(mask, LaneMask::MAX)
}

/// (F, G, E, H) of the double of (Z, X, X + Y, Y), as [`crate::edwards::double`].
#[inline(always)]
pub(crate) fn double<F: Coordinates>(f: F, point: &F::Carried) -> F::Carried {
    let squares = f.square_loose(point);
    // (2Z², 0, (X+Y)², 0) + (X², −X², −Y², Y²) + (−Y², Y², −X², X²)
    let first = f.permute_loose::<{ lanes(1, 1, 3, 3) }>(&squares);
    let second = f.permute_loose::<{ lanes(3, 3, 1, 1) }>(&squares);
    let signed = f.add_loose(&f.negate_lanes(0b0110, &first), &f.negate_lanes(0b0101, &second));
    f.carry(&f.add_loose(&f.shift_lanes([1, 64, 0, 64], &squares), &signed))
}

/// (F, G, E, H) of (Z, T, Y − X, Y + X) + (2Z, 2dT, Y − X, Y + X), as
/// [`crate::edwards::add_projective`].
#[inline(always)]
pub(crate) fn add<F: Coordinates>(f: F, point: &F::Carried, cached: &F::Carried) -> F::Carried {
    // (D, C, A, B)
    let products = f.mul_loose(point, cached);
    // (D, D, B, B) + (−C, C, −A, A)
    let first = f.permute_loose::<{ lanes(0, 0, 3, 3) }>(&products);
    let second = f.permute_loose::<{ lanes(1, 1, 2, 2) }>(&products);
    f.carry(&f.add_loose(&first, &f.negate_lanes(0b0101, &second)))
}

/// (Z, X, X + Y, Y) of (F, G, E, H).
#[inline(always)]
pub(crate) fn doubling<F: Coordinates>(f: F, completed: &F::Carried) -> F::Carried {
    let a = f.permute::<{ lanes(0, 0, 2, 3) }>(completed);
    let b = f.permute::<{ lanes(1, 2, 0, 1) }>(completed);
    // (Z, X, X, Y)
    let products = f.mul_loose(&a, &b);
    let y = f.permute_loose::<{ lanes(3, 3, 3, 3) }>(&products);
    f.carry(&f.add_loose(&products, &f.shift_lanes([64, 64, 0, 64], &y)))
}

/// (Z, T, Y − X, Y + X) of (F, G, E, H).
#[inline(always)]
pub(crate) fn adding<F: Coordinates>(f: F, completed: &F::Carried) -> F::Carried {
    let products = coordinates(f, completed);
    let y = f.permute_loose::<{ lanes(0, 1, 3, 3) }>(&products);
    let x = f.permute_loose::<{ lanes(2, 2, 2, 2) }>(&products);
    let x = f.shift_lanes([64, 64, 0, 0], &x);
    f.carry(&f.add_loose(&y, &f.negate_lanes(0b0100, &x)))
}

/// (Z, T, X, Y) = (F G, E H, E F, G H) of (F, G, E, H), uncarried.
#[inline(always)]
fn coordinates<F: Coordinates>(f: F, completed: &F::Carried) -> F::Loose {
    let a = f.permute::<{ lanes(0, 2, 2, 1) }>(completed);
    let b = f.permute::<{ lanes(1, 3, 0, 3) }>(completed);
    f.mul_loose(&a, &b)
}

impl<F: Coordinates> Doubling<F> {
    /// self = completed
    #[inline(always)]
    fn set(&mut self, f: F, completed: &Completed<F>) {
        f.lone_doubling(&mut self.0, &completed.0);
    }
    /// self = 2 · point
    #[inline(always)]
    fn set_double(&mut self, f: F, point: &Self) {
        f.lone_double_doubling(&mut self.0, &point.0);
    }
}

impl<F: Coordinates> Adding<F> {
    /// self = completed
    #[inline(always)]
    fn set(&mut self, f: F, completed: &Completed<F>) {
        f.lone_adding(&mut self.0, &completed.0);
    }

    #[inline(always)]
    fn identity(f: F) -> Self {
        Self(splat(f, [ONE, ZERO, ONE, ONE]))
    }

    /// 2Z and 2dT for Z and T; `factors` has the lanes (2, 2d, 1, 1).
    #[inline(always)]
    fn cached(&self, f: F, factors: &F::Carried) -> Cached<F> {
        Cached(f.mul(&self.0, factors))
    }
}

impl<F: Coordinates> Completed<F> {
    /// self = 2 · point
    #[inline(always)]
    fn set_double(&mut self, f: F, point: &Doubling<F>) {
        f.lone_double(&mut self.0, &point.0);
    }
    /// self = point + other
    #[inline(always)]
    fn set_sum(&mut self, f: F, point: &Adding<F>, other: &Cached<F>) {
        f.lone_add(&mut self.0, &point.0, &other.0);
    }
    /// (Z, T, X, Y)
    #[inline(always)]
    fn coordinates(&self, f: F) -> F::Carried {
        f.carry(&coordinates(f, &self.0))
    }
}

impl<F: Coordinates> Cached<F> {
    /// −P for the points of `negative`: the last two lanes change places, the second one its sign.
    #[inline(always)]
    fn negate(&self, f: F, negative: LaneMask) -> Self {
        if negative == 0 {
            return *self;
        }
        let swapped = f.permute::<{ lanes(0, 1, 3, 2) }>(&self.0);
        let negated = f.negate_where(of_every_point(0b0010), &swapped);
        if F::POINTS == 1 {
            return Self(negated);
        }
        Self(f.select(of_points(0b1111, negative), &negated, &self.0))
    }

    /// Each point's row |digit| of the table, negated where the digit is negative.
    #[inline(always)]
    fn pick(f: F, table: &[Self; TABLE_ROWS], digits: &[i8; MAX_LANES]) -> Self {
        let row = |point: usize| &table[usize::from(digits[point].unsigned_abs())];
        let mut picked = *row(0);
        let mut negative = LaneMask::from(digits[0] < 0);
        for (point, digit) in digits.iter().enumerate().take(F::POINTS).skip(1) {
            picked = Self(f.select(of_points(0b1111, 1 << point), &row(point).0, &picked.0));
            negative |= LaneMask::from(*digit < 0) << point;
        }
        picked.negate(f, negative)
    }

    /// The same from a table of multiples of B.
    #[inline(always)]
    fn pick_base(f: F, table: &[F::AffineRow], digits: &[i16; MAX_LANES]) -> Self {
        let mut negative = 0;
        for (point, digit) in digits.iter().enumerate().take(F::POINTS) {
            negative |= LaneMask::from(*digit < 0) << point;
        }
        Self(f.load_base(table, &digits[..F::POINTS])).negate(f, negative)
    }
}

/// The same four lanes for every point.
#[inline(always)]
fn splat<F: Coordinates>(f: F, lanes: [Limbs; 4]) -> F::Carried {
    let mut all = [ZERO; MAX_LANES];
    for (lane, limbs) in all.iter_mut().enumerate() {
        *limbs = lanes[lane % 4];
    }
    f.pack(&all[..F::LANES])
}

/// x, y and xy of each point that a value can have.
type Affine = [[Limbs; 3]; MAX_LANES / 4];

const NO_POINTS: Affine = [[ZERO, ONE, ZERO]; MAX_LANES / 4];

/// Four lanes for each point.
#[inline(always)]
fn pack<F: Coordinates>(f: F, points: &Affine, lanes: fn(&[Limbs; 3]) -> [Limbs; 4]) -> F::Carried {
    let mut all = [ZERO; MAX_LANES];
    for (four, point) in all.chunks_exact_mut(4).zip(points) {
        four.copy_from_slice(&lanes(point));
    }
    f.pack(&all[..F::LANES])
}

/// Points as the first input of an addition and of a doubling.
struct Points<F: Field> {
    adding: Adding<F>,
    doubling: Doubling<F>,
}

impl<F: Coordinates> Points<F> {
    #[inline(always)]
    fn from_affine(f: F, points: &Affine) -> Self {
        let ys = pack(f, points, |[_, y, xy]| [ONE, *xy, *y, *y]);
        let xs = pack(f, points, |[x, ..]| [ZERO, ZERO, *x, *x]);
        let xs = f.negate_where(of_every_point(0b0100), &xs);
        let adding = Adding(f.carry_sum(&f.add(&ys, &xs)));
        let sum = f.add(
            &pack(f, points, |[x, y, _]| [ONE, *x, *y, *y]),
            &pack(f, points, |[x, ..]| [ZERO, ZERO, *x, ZERO]),
        );
        Self { adding, doubling: Doubling(f.carry_sum(&sum)) }
    }

    /// self = completed
    #[inline(always)]
    fn set(&mut self, f: F, completed: &Completed<F>) {
        self.adding.set(f, completed);
        self.doubling.set(f, completed);
    }

    /// self = [2^n] self, n at least 1.
    #[inline(always)]
    fn double_times(&mut self, f: F, n: usize) {
        let mut completed = Completed(self.doubling.0);
        for _ in 1..n {
            completed.set_double(f, &self.doubling);
            self.doubling.set(f, &completed);
        }
        completed.set_double(f, &self.doubling);
        self.set(f, &completed);
    }
}

/// i P + j Q in the rows that [`crate::straus`] names. `factors` as for [`Adding::cached`].
#[inline(always)]
fn fill_table<F: Coordinates>(
    f: F,
    factors: &F::Carried,
    points: [&Points<F>; 2],
    table: &mut [Cached<F>; TABLE_ROWS],
) {
    let [a, b] = points;
    // Places that are written before they are read.
    let mut completed = Completed(a.adding.0);
    let (mut twice_a, mut sum) = (a.adding, a.adding);
    let mut doubling = Doubling(a.doubling.0);
    completed.set_double(f, &a.doubling);
    twice_a.set(f, &completed);
    completed.set_double(f, &b.doubling);
    sum.set(f, &completed);
    table[0] = Adding::identity(f).cached(f, factors);
    table[1] = b.adding.cached(f, factors);
    table[2] = sum.cached(f, factors);
    table[5] = a.adding.cached(f, factors);
    table[10] = twice_a.cached(f, factors);
    // P ± Q and twice these.
    for (negative, row) in [(LaneMask::MAX, 4), (0, 6)] {
        completed.set_sum(f, &a.adding, &table[1].negate(f, negative));
        sum.set(f, &completed);
        table[row] = sum.cached(f, factors);
        doubling.set(f, &completed);
        completed.set_double(f, &doubling);
        sum.set(f, &completed);
        table[2 * row] = sum.cached(f, factors);
    }
    // P ± 2Q and 2P ± Q.
    for (point, multiple, negative, row) in [
        (&a.adding, 2, LaneMask::MAX, 3),
        (&a.adding, 2, 0, 7),
        (&twice_a, 1, LaneMask::MAX, 9),
        (&twice_a, 1, 0, 11),
    ] {
        completed.set_sum(f, point, &table[multiple].negate(f, negative));
        sum.set(f, &completed);
        table[row] = sum.cached(f, factors);
    }
}

/// The sum of the products that the first lanes of `digits` describe, one lane a point, as
/// [`crate::straus::multi_scalar_mul`].
#[inline(always)]
fn multi_scalar_mul<F: Coordinates>(
    f: F,
    digits: &Digits,
    table: &[Cached<F>; TABLE_ROWS],
) -> Completed<F> {
    let mut sum = Adding::identity(f);
    // Places that are written before they are read.
    let mut completed = Completed(sum.0);
    let (mut doubling, mut again) = (Doubling(sum.0), Doubling(sum.0));
    for position in digits.positions() {
        completed.set_sum(f, &sum, &Cached::pick(f, table, position.points));
        if let Some(digits) = position.base {
            for (table, digits) in f.base_tables().iter().zip(digits) {
                let row = Cached::pick_base(f, table, digits);
                sum.set(f, &completed);
                completed.set_sum(f, &sum, &row);
            }
        }
        if !position.last {
            const { assert!(WIDTH == 2) };
            doubling.set(f, &completed);
            again.set_double(f, &doubling);
            completed.set_double(f, &again);
            sum.set(f, &completed);
        }
    }
    completed
}

/// Decides the `signatures` of `live`, of which all or none take half-size scalars.
#[inline(always)]
pub(crate) fn decide<F: Coordinates>(
    f: F,
    curve: &Curve<F>,
    live: &Live<'_>,
    signatures: &[u8],
    verdicts: &mut [bool],
) {
    for signatures in signatures.chunks(F::LANES / 2) {
        // Lanes A, R, A, R, …
        let mut encodings = [IDENTITY; MAX_LANES];
        for (&i, pair) in signatures.iter().zip(encodings.chunks_exact_mut(2)) {
            let item = live.item(i);
            pair.copy_from_slice(&[*item.public_key, *halves(item.signature).0]);
        }
        let (points, decoded) = EdwardsPoint::decompress_negated(f, curve, &encodings);
        let ProjectivePoint { x, y, .. } = &points.projective;
        let mut affine = [[ZERO; MAX_LANES]; 3];
        for (coordinate, limbs) in [x, y, &points.t].into_iter().zip(&mut affine) {
            f.unpack(coordinate, &mut limbs[..F::LANES]);
        }
        let [x, y, xy] = &affine;
        for (together, signatures) in signatures.chunks(F::POINTS).enumerate() {
            let half_size = live.is_half_size(signatures[0]);
            let mut digits = if half_size { Digits::HALF_SIZE } else { Digits::WHOLE };
            let (mut minus_a, mut minus_r) = (NO_POINTS, NO_POINTS);
            for (point, &i) in signatures.iter().enumerate() {
                let lane = 2 * (together * F::POINTS + point);
                minus_a[point] = [x[lane], y[lane], xy[lane]];
                minus_r[point] = [x[lane + 1], y[lane + 1], xy[lane + 1]];
                live.set_digits(i, point, &mut digits);
            }
            let equation = live.equation();
            let (minus_a, minus_r, digits) = (&minus_a, &minus_r, &digits);
            let holds = f.call(Decide { equation, half_size, minus_a, minus_r, digits });
            for (point, &i) in signatures.iter().enumerate() {
                let lane = 2 * (together * F::POINTS + point);
                let valid = decoded >> lane & 0b11 == 0b11 && holds >> point & 1 == 1;
                live.decide(i, valid, verdicts);
            }
        }
    }
}

/// The points for which [S]B − [k]A − R = O, or eight times that, by an odd multiple of it if the scalars
/// are half-size.
struct Decide<'a> {
    equation: Equation,
    /// Whether `digits` are those of half-size scalars.
    half_size: bool,
    minus_a: &'a Affine,
    minus_r: &'a Affine,
    digits: &'a Digits,
}

impl<F: Coordinates> Routine<F> for Decide<'_> {
    type Output = LaneMask;
    #[inline(always)]
    fn run(self, f: F) -> LaneMask {
        let factors = splat(f, [TWO, D2, ONE, ONE]);
        let minus_a = Points::from_affine(f, self.minus_a);
        let minus_r = Points::from_affine(f, self.minus_r);
        let mut table = [Cached(minus_r.adding.0); TABLE_ROWS];
        let mut sum;
        if self.half_size {
            fill_table(f, &factors, [&minus_a, &minus_r], &mut table);
            sum = multi_scalar_mul(f, self.digits, &table);
        } else {
            let mut upper = Points::from_affine(f, self.minus_a);
            upper.double_times(f, CUT);
            fill_table(f, &factors, [&minus_a, &upper], &mut table);
            sum = multi_scalar_mul(f, self.digits, &table);
            let mut point = minus_a.adding;
            point.set(f, &sum);
            sum.set_sum(f, &point, &minus_r.adding.cached(f, &factors));
        }
        if self.equation == Equation::Cofactored {
            let mut doubling = Doubling(minus_a.doubling.0);
            for _ in 0..3 {
                doubling.set(f, &sum);
                sum.set_double(f, &doubling);
            }
        }
        // (Z, T, X, Y): the identity is X = 0 and Y − Z = 0.
        let sum = sum.coordinates(f);
        let z = f.permute::<{ lanes(0, 0, 0, 0) }>(&sum);
        let z = f.select(of_every_point(0b1000), &z, &splat(f, [ZERO; 4]));
        let (zero, _) = f.zero_and_odd(&f.carry_sum(&f.sub(&sum, &z)));
        let mut holds = 0;
        for point in 0..F::POINTS {
            holds |= LaneMask::from(zero >> (4 * point) & 0b1100 == 0b1100) << point;
        }
        holds
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::field::fma::{self, Fma};
    use crate::field::ifma::{self, Ifma};

    /// Runs every step on any input of the classes; `widen` checks that a result is carried.
    fn every_step<F: Coordinates>(f: F, any: impl Fn() -> F::Carried, widen: impl Fn(F::Carried)) {
        let mut completed = Completed::<F>(any());
        completed.set_double(f, &Doubling(any()));
        widen(completed.0);
        completed.set_sum(f, &Adding(any()), &Cached(any()));
        widen(completed.0);
        let (mut doubling, mut adding) = (Doubling::<F>(any()), Adding::<F>(any()));
        doubling.set(f, &Completed(any()));
        widen(doubling.0);
        doubling.set_double(f, &Doubling(any()));
        widen(doubling.0);
        adding.set(f, &Completed(any()));
        widen(adding.0);
        widen(Completed::<F>(any()).coordinates(f));
        let Cached(limbs) = Adding::<F>(any()).cached(f, &any()).negate(f, LaneMask::MAX);
        widen(limbs);
    }

    /// No intermediate of any step leaves its bounds, for all inputs of the classes.
    #[test]
    fn bounds_hold_for_all_inputs() {
        use fma::intervals;
        let widen = |carried: fma::Carried<_>| {
            intervals::widen(carried.0);
        };
        every_step(Fma(intervals::Intervals), intervals::carried, widen);
        use ifma::intervals as words;
        let widen = |carried: ifma::Carried<_>| {
            words::widen(carried.0);
        };
        every_step(Ifma(words::Intervals), words::carried, widen);
    }
}
