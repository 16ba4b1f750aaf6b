//! Points of the twisted Edwards curve −x² + y² = 1 + d x² y², one per lane.
//!
//! The formulas are those of the Explicit-Formulas Database for extended coordinates with a = −1
//! (Hisil, Wong, Carter, Dawson 2008). They are complete: they hold for every pair of points of the
//! curve, the small-order ones included, and Z is never 0.

use crate::field::{Field, LaneMask, Limbs, MASK51, MAX_LANES, ONE, Routine, Twice, ZERO};

/// d = −121665/121666 (RFC 8032, section 5.1).
const D: Limbs =
    [929955233495203, 466365720129213, 1662059464998953, 2033849074728123, 1442794654840575];
/// 2d
pub(crate) const D2: Limbs =
    [1859910466990425, 932731440258426, 1072319116312658, 1815898335770999, 633789495995903];
/// √−1 = 2^((p − 1) / 4).
const SQRT_MINUS_1: Limbs =
    [1718705420411056, 234908883556509, 2233514472574048, 2117202627021982, 765476049583133];

/// The constants of the curve in every lane.
#[derive(Clone, Copy)]
pub(crate) struct Curve<F: Field> {
    pub(crate) zero: F::Carried,
    pub(crate) one: F::Carried,
    d: F::Carried,
    d2: F::Carried,
    sqrt_minus_1: F::Carried,
}

impl<F: Field> Curve<F> {
    #[inline(always)]
    pub(crate) fn new(f: F) -> Self {
        Self {
            zero: f.splat(&ZERO),
            one: f.splat(&ONE),
            d: f.splat(&D),
            d2: f.splat(&D2),
            sqrt_minus_1: f.splat(&SQRT_MINUS_1),
        }
    }
}

/// x = X/Z, y = Y/Z, xy = T/Z.
#[derive(Clone, Copy)]
pub(crate) struct EdwardsPoint<F: Field> {
    pub(crate) projective: ProjectivePoint<F>,
    pub(crate) t: F::Carried,
}

/// x = X/Z, y = Y/Z.
#[derive(Clone, Copy)]
pub(crate) struct ProjectivePoint<F: Field> {
    pub(crate) x: F::Carried,
    pub(crate) y: F::Carried,
    pub(crate) z: F::Carried,
}

/// The intermediate of every formula: X = E F, Y = G H, Z = F G, T = E H.
#[derive(Clone, Copy)]
pub(crate) struct CompletedPoint<F: Field> {
    e: F::Carried,
    f: F::Carried,
    g: F::Carried,
    h: F::Carried,
}

/// (Y + X, Y − X, Z, 2dT), ready to be added.
#[derive(Clone, Copy)]
pub(crate) struct ProjectiveNiels<F: Field> {
    pub(crate) y_plus_x: F::Carried,
    pub(crate) y_minus_x: F::Carried,
    pub(crate) z: F::Carried,
    pub(crate) t2d: F::Carried,
}

/// (y + x, y − x, 2dxy), ready to be added.
#[derive(Clone, Copy)]
pub(crate) struct AffineNiels<F: Field> {
    pub(crate) y_plus_x: F::Carried,
    pub(crate) y_minus_x: F::Carried,
    pub(crate) xy2d: F::Carried,
}

impl<F: Field> CompletedPoint<F> {
    /// Room for a point that is written before it is read.
    #[inline(always)]
    pub(crate) fn placeholder(curve: &Curve<F>) -> Self {
        Self { e: curve.zero, f: curve.zero, g: curve.zero, h: curve.zero }
    }
    #[inline(always)]
    fn refs(&self) -> [&F::Carried; 4] {
        [&self.e, &self.f, &self.g, &self.h]
    }
    #[inline(always)]
    fn slots(&mut self) -> [&mut F::Carried; 4] {
        [&mut self.e, &mut self.f, &mut self.g, &mut self.h]
    }
    /// self = 2 · point
    #[inline(always)]
    pub(crate) fn set_double(&mut self, f: F, point: &ProjectivePoint<F>) {
        f.double(self.slots(), [&point.x, &point.y, &point.z]);
    }
    /// self = point + niels
    #[inline(always)]
    pub(crate) fn set_sum(&mut self, f: F, point: &EdwardsPoint<F>, niels: &ProjectiveNiels<F>) {
        f.add_projective(
            self.slots(),
            [&point.projective.x, &point.projective.y, &point.projective.z, &point.t],
            [&niels.y_plus_x, &niels.y_minus_x, &niels.z, &niels.t2d],
        );
    }
    /// self = point + niels
    #[inline(always)]
    pub(crate) fn set_sum_affine(&mut self, f: F, point: &EdwardsPoint<F>, niels: &AffineNiels<F>) {
        f.add_affine(
            self.slots(),
            [&point.projective.x, &point.projective.y, &point.projective.z, &point.t],
            [&niels.y_plus_x, &niels.y_minus_x, &niels.xy2d],
        );
    }
}

impl<F: Field> ProjectiveNiels<F> {
    /// The negative of the point.
    #[inline(always)]
    pub(crate) fn negate(&self, f: F) -> Self {
        let Self { y_plus_x, y_minus_x, z, t2d } = *self;
        let t2d = f.negate_where(LaneMask::MAX, &t2d);
        Self { y_plus_x: y_minus_x, y_minus_x: y_plus_x, z, t2d }
    }
}

impl<F: Field> ProjectivePoint<F> {
    /// self = completed
    #[inline(always)]
    pub(crate) fn set(&mut self, f: F, completed: &CompletedPoint<F>) {
        f.complete([&mut self.x, &mut self.y, &mut self.z], completed.refs());
    }
}

impl<F: Field> EdwardsPoint<F> {
    #[inline(always)]
    pub(crate) fn identity(curve: &Curve<F>) -> Self {
        let projective = ProjectivePoint { x: curve.zero, y: curve.one, z: curve.one };
        Self { projective, t: curve.zero }
    }

    /// self = completed
    #[inline(always)]
    pub(crate) fn set(&mut self, f: F, completed: &CompletedPoint<F>) {
        self.projective.set(f, completed);
        self.set_t(f, completed);
    }

    /// T of `completed`, whose X, Y and Z are there already.
    #[inline(always)]
    pub(crate) fn set_t(&mut self, f: F, completed: &CompletedPoint<F>) {
        f.mul_to(&mut self.t, &completed.e, &completed.h);
    }

    /// self = [2^n] self, n at least 1. T is not read.
    #[inline(always)]
    pub(crate) fn double_times(&mut self, f: F, scratch: &mut CompletedPoint<F>, n: usize) {
        f.call(DoubleTimes { point: self, scratch, n });
    }

    #[inline(always)]
    pub(crate) fn niels(&self, f: F, curve: &Curve<F>) -> ProjectiveNiels<F> {
        let ProjectivePoint { x, y, z } = &self.projective;
        ProjectiveNiels {
            y_plus_x: f.carry_sum(&f.add(y, x)),
            y_minus_x: f.carry_sum(&f.sub(y, x)),
            z: *z,
            t2d: f.mul(&self.t, &curve.d2),
        }
    }

    /// −P for each lane's encoding of P, and the lanes that have a point.
    ///
    /// RFC 8032, section 5.1.3, without its two rules for canonical encodings: y is taken modulo p,
    /// and x = 0 with the sign bit set is 0, as ed25519-dalek decodes it. A lane without a point
    /// becomes the identity, so that its later products are those of a point, and Z is not 0.
    #[inline(always)]
    pub(crate) fn decompress_negated(
        f: F,
        curve: &Curve<F>,
        encodings: &[[u8; 32]; MAX_LANES],
    ) -> (Self, LaneMask) {
        f.call(DecompressNegated { curve, encodings })
    }

    /// The same for two points in each lane: the encodings of all first ones, then of all second ones.
    #[inline(always)]
    pub(crate) fn decompress_both_negated(
        f: F,
        curve: &Curve<Twice<F>>,
        encodings: &[[u8; 32]; MAX_LANES],
    ) -> ([Self; 2], LaneMask) {
        let (point, found) = f.enter(Twice(f), DecompressNegated { curve, encodings });
        let ProjectivePoint { x, y, z } = point.projective;
        let t = point.t;
        let first = ProjectivePoint { x: x.0, y: y.0, z: z.0 };
        let second = ProjectivePoint { x: x.1, y: y.1, z: z.1 };
        ([Self { projective: first, t: t.0 }, Self { projective: second, t: t.1 }], found)
    }
}

struct DecompressNegated<'a, F: Field> {
    curve: &'a Curve<F>,
    encodings: &'a [[u8; 32]; MAX_LANES],
}

impl<F: Field> Routine<F> for DecompressNegated<'_, F> {
    type Output = (EdwardsPoint<F>, LaneMask);
    #[inline(always)]
    fn run(self, f: F) -> Self::Output {
        let Self { curve, encodings } = self;
        let (y, signs) = f.load_encodings(&encodings[..F::LANES]);

        // x² = u/v with u = y² − 1, v = d y² + 1. The candidate u (uv)^((p − 5) / 8) squared is
        // (u/v) times a fourth root of unity: ±1 if u/v is a square.
        let yy = f.square(&y);
        let u = f.carry_sum(&f.sub(&yy, &curve.one));
        let v = f.carry_sum(&f.add(&f.mul(&yy, &curve.d), &curve.one));
        let candidate = f.mul(&u, &f.pow_p58(&f.mul(&u, &v)));
        let vxx = f.mul(&v, &f.square(&candidate));
        let (is_u, _) = f.zero_and_odd(&f.carry_sum(&f.sub(&vxx, &u)));
        let (is_minus_u, _) = f.zero_and_odd(&f.carry_sum(&f.add(&vxx, &u)));
        let x = f.select(is_u, &candidate, &f.mul(&candidate, &curve.sqrt_minus_1));
        let found = is_u | is_minus_u;

        // Negate where x has the parity that the encoding asks for: the point is −P.
        let (_, odd) = f.zero_and_odd(&x);
        let x = f.negate_where(!(odd ^ signs), &x);

        let x = f.select(found, &x, &curve.zero);
        let y = f.select(found, &y, &curve.one);
        let projective = ProjectivePoint { x, y, z: curve.one };
        (EdwardsPoint { projective, t: f.mul(&x, &y) }, found)
    }
}

struct DoubleTimes<'a, F: Field> {
    point: &'a mut EdwardsPoint<F>,
    scratch: &'a mut CompletedPoint<F>,
    n: usize,
}

impl<F: Field> Routine<F> for DoubleTimes<'_, F> {
    type Output = ();
    #[inline(always)]
    fn run(self, f: F) {
        let Self { point, scratch: completed, n } = self;
        for _ in 1..n {
            completed.set_double(f, &point.projective);
            point.projective.set(f, completed);
        }
        completed.set_double(f, &point.projective);
        point.set(f, completed);
    }
}

/// dbl-2008-hwcd with F and H negated, which negates X, Y, Z and T: the same point.
#[inline(always)]
pub(crate) fn double<F: Field>(f: F, out: [&mut F::Carried; 4], point: [&F::Carried; 3]) {
    let [x, y, z] = point;
    let xx = f.square_loose(x);
    let yy = f.square_loose(y);
    let zz = f.square_loose(z);
    let sum_squared = f.square_loose(&f.carry_sum(&f.add(x, y)));
    let h = f.add_loose(&yy, &xx);
    let g = f.sub_loose(&yy, &xx);
    *out[0] = f.carry(&f.sub_loose(&sum_squared, &h));
    *out[1] = f.carry(&f.sub_loose(&f.add_loose(&zz, &zz), &g));
    *out[2] = f.carry(&g);
    *out[3] = f.carry(&h);
}

/// add-2008-hwcd-3, k = 2d taken into the second point.
#[inline(always)]
pub(crate) fn add_projective<F: Field>(
    f: F,
    out: [&mut F::Carried; 4],
    point: [&F::Carried; 4],
    niels: [&F::Carried; 4],
) {
    let ([x, y, z, t], [y_plus_x, y_minus_x, z2, t2d]) = (point, niels);
    let b = f.mul_sum_loose(&f.add(y, x), y_plus_x);
    let a = f.mul_sum_loose(&f.sub(y, x), y_minus_x);
    let c = f.mul_loose(t, t2d);
    let zz = f.mul_loose(z, z2);
    finish_sum(f, out, [&a, &b, &c, &zz]);
}

/// The same with Z₂ = 1.
#[inline(always)]
pub(crate) fn add_affine<F: Field>(
    f: F,
    out: [&mut F::Carried; 4],
    point: [&F::Carried; 4],
    niels: [&F::Carried; 3],
) {
    let ([x, y, z, t], [y_plus_x, y_minus_x, xy2d]) = (point, niels);
    let b = f.mul_sum_loose(&f.add(y, x), y_plus_x);
    let a = f.mul_sum_loose(&f.sub(y, x), y_minus_x);
    let c = f.mul_loose(t, xy2d);
    finish_sum(f, out, [&a, &b, &c, &f.loosen(z)]);
}

#[inline(always)]
fn finish_sum<F: Field>(f: F, out: [&mut F::Carried; 4], products: [&F::Loose; 4]) {
    let [a, b, c, zz] = products;
    let d = f.add_loose(zz, zz);
    *out[0] = f.carry(&f.sub_loose(b, a));
    *out[1] = f.carry(&f.sub_loose(&d, c));
    *out[2] = f.carry(&f.add_loose(&d, c));
    *out[3] = f.carry(&f.add_loose(b, a));
}

/// (X, Y, Z) = (E F, G H, F G).
#[inline(always)]
pub(crate) fn complete<F: Field>(field: F, out: [&mut F::Carried; 3], completed: [&F::Carried; 4]) {
    let ([x, y, z], [e, f, g, h]) = (out, completed);
    field.mul_to(x, e, f);
    field.mul_to(y, g, h);
    field.mul_to(z, f, g);
}

/// The 255 low bits of an encoding.
#[inline(never)]
pub(crate) fn load_y(encoding: &[u8; 32]) -> Limbs {
    let word = |i: usize| {
        let mut bytes = [0; 8];
        bytes.copy_from_slice(&encoding[8 * i..8 * i + 8]);
        u64::from_le_bytes(bytes)
    };
    let (a, b, c, d) = (word(0), word(1), word(2), word(3));
    [
        a & MASK51,
        (a >> 51 | b << 13) & MASK51,
        (b >> 38 | c << 26) & MASK51,
        (c >> 25 | d << 39) & MASK51,
        (d >> 12) & MASK51,
    ]
}

/// The canonical encoding of each lane: y, and the parity of x in bit 255 (RFC 8032, section
/// 5.1.2).
#[inline(always)]
pub(crate) fn compress<F: Field>(f: F, x: &F::Carried, y: &F::Carried) -> [[u8; 32]; MAX_LANES] {
    let mut limbs = [ZERO; MAX_LANES];
    f.unpack(y, &mut limbs[..F::LANES]);
    let (_, odd) = f.zero_and_odd(x);
    let mut encodings = [[0; 32]; MAX_LANES];
    for (lane, encoding) in encodings.iter_mut().enumerate().take(F::LANES) {
        let [l0, l1, l2, l3, l4] = limbs[lane];
        let words = [
            l0 | l1 << 51,
            l1 >> 13 | l2 << 38,
            l2 >> 26 | l3 << 25,
            l3 >> 39 | l4 << 12 | u64::from(odd >> lane & 1) << 63,
        ];
        for (bytes, word) in encoding.chunks_exact_mut(8).zip(words) {
            bytes.copy_from_slice(&word.to_le_bytes());
        }
    }
    encodings
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::field::fma::Fma;
    use crate::field::fma::intervals::{self, Intervals};

    /// No intermediate of any step leaves its bounds, for all inputs of the classes.
    #[test]
    fn bounds_hold_for_all_inputs() {
        let (f, any) = (Fma(Intervals), intervals::carried());
        let check = |step: &dyn Fn([&mut _; 4])| {
            let (mut e, mut ff, mut g, mut h) = (any, any, any, any);
            step([&mut e, &mut ff, &mut g, &mut h]);
            for out in [e, ff, g, h] {
                intervals::widen(out.0);
            }
        };
        check(&|out| double(f, out, [&any; 3]));
        check(&|out| add_projective(f, out, [&any; 4], [&any; 4]));
        check(&|out| add_affine(f, out, [&any; 4], [&any; 3]));
    }
}
