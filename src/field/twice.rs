//! Twice the lanes: two values of a field side by side.
//!
//! Every operation works on the first half, then on the second. The two halves do not depend on
//! each other, so an out-of-order CPU computes one while it waits for the other: in a chain of
//! dependent squarings this hides most of the latency of the four-lane field.

use super::{Field, LaneMask, Limbs, Routine};

/// Two values of `F` side by side; lanes 0 … n−1 in the first, n … 2n−1 in the second.
#[derive(Clone, Copy)]
pub(crate) struct Twice<F>(pub(crate) F);

impl<F: Field> Field for Twice<F> {
    const LANES: usize = 2 * F::LANES;
    type Carried = (F::Carried, F::Carried);
    type Sum = (F::Sum, F::Sum);
    type Loose = (F::Loose, F::Loose);
    type ProjectiveRow = F::ProjectiveRow;
    type AffineRow = F::AffineRow;

    #[inline(always)]
    fn splat(self, limbs: &Limbs) -> Self::Carried {
        (self.0.splat(limbs), self.0.splat(limbs))
    }
    #[inline(always)]
    fn pack(self, limbs: &[Limbs]) -> Self::Carried {
        let (low, high) = limbs.split_at(F::LANES);
        (self.0.pack(low), self.0.pack(high))
    }
    #[inline(always)]
    fn unpack(self, a: &Self::Carried, limbs: &mut [Limbs]) {
        let (low, high) = limbs.split_at_mut(F::LANES);
        self.0.unpack(&a.0, low);
        self.0.unpack(&a.1, high);
    }
    #[inline(always)]
    fn add(self, a: &Self::Carried, b: &Self::Carried) -> Self::Sum {
        (self.0.add(&a.0, &b.0), self.0.add(&a.1, &b.1))
    }
    #[inline(always)]
    fn sub(self, a: &Self::Carried, b: &Self::Carried) -> Self::Sum {
        (self.0.sub(&a.0, &b.0), self.0.sub(&a.1, &b.1))
    }
    #[inline(always)]
    fn negate_where(self, mask: LaneMask, a: &Self::Carried) -> Self::Carried {
        (self.0.negate_where(mask, &a.0), self.0.negate_where(mask >> F::LANES, &a.1))
    }
    #[inline(always)]
    fn select(self, mask: LaneMask, a: &Self::Carried, b: &Self::Carried) -> Self::Carried {
        (self.0.select(mask, &a.0, &b.0), self.0.select(mask >> F::LANES, &a.1, &b.1))
    }
    #[inline(always)]
    fn carry_sum(self, a: &Self::Sum) -> Self::Carried {
        (self.0.carry_sum(&a.0), self.0.carry_sum(&a.1))
    }
    #[inline(always)]
    fn mul(self, a: &Self::Carried, b: &Self::Carried) -> Self::Carried {
        (self.0.mul(&a.0, &b.0), self.0.mul(&a.1, &b.1))
    }
    #[inline(always)]
    fn mul_to(self, out: &mut Self::Carried, a: &Self::Carried, b: &Self::Carried) {
        self.0.mul_to(&mut out.0, &a.0, &b.0);
        self.0.mul_to(&mut out.1, &a.1, &b.1);
    }
    #[inline(always)]
    fn square(self, a: &Self::Carried) -> Self::Carried {
        (self.0.square(&a.0), self.0.square(&a.1))
    }
    #[inline(always)]
    fn square_to(self, out: &mut Self::Carried, a: &Self::Carried) {
        self.0.square_to(&mut out.0, &a.0);
        self.0.square_to(&mut out.1, &a.1);
    }
    #[inline(always)]
    fn mul_loose(self, a: &Self::Carried, b: &Self::Carried) -> Self::Loose {
        (self.0.mul_loose(&a.0, &b.0), self.0.mul_loose(&a.1, &b.1))
    }
    #[inline(always)]
    fn mul_sum_loose(self, a: &Self::Sum, b: &Self::Carried) -> Self::Loose {
        (self.0.mul_sum_loose(&a.0, &b.0), self.0.mul_sum_loose(&a.1, &b.1))
    }
    #[inline(always)]
    fn square_loose(self, a: &Self::Carried) -> Self::Loose {
        (self.0.square_loose(&a.0), self.0.square_loose(&a.1))
    }
    #[inline(always)]
    fn loosen(self, a: &Self::Carried) -> Self::Loose {
        (self.0.loosen(&a.0), self.0.loosen(&a.1))
    }
    #[inline(always)]
    fn add_loose(self, a: &Self::Loose, b: &Self::Loose) -> Self::Loose {
        (self.0.add_loose(&a.0, &b.0), self.0.add_loose(&a.1, &b.1))
    }
    #[inline(always)]
    fn sub_loose(self, a: &Self::Loose, b: &Self::Loose) -> Self::Loose {
        (self.0.sub_loose(&a.0, &b.0), self.0.sub_loose(&a.1, &b.1))
    }
    #[inline(always)]
    fn carry(self, a: &Self::Loose) -> Self::Carried {
        (self.0.carry(&a.0), self.0.carry(&a.1))
    }
    #[inline(always)]
    fn zero_and_odd(self, a: &Self::Carried) -> (LaneMask, LaneMask) {
        let (zero, odd) = self.0.zero_and_odd(&a.0);
        let (more_zero, more_odd) = self.0.zero_and_odd(&a.1);
        (zero | more_zero << F::LANES, odd | more_odd << F::LANES)
    }
    #[inline(always)]
    fn load_encodings(self, encodings: &[[u8; 32]]) -> (Self::Carried, LaneMask) {
        let (low, high) = encodings.split_at(F::LANES);
        let ((low, signs), (high, more_signs)) =
            (self.0.load_encodings(low), self.0.load_encodings(high));
        ((low, high), signs | more_signs << F::LANES)
    }
    #[inline(always)]
    fn store_row(
        self,
        coordinates: [&Self::Carried; 4],
        row: usize,
        table: &mut [Self::ProjectiveRow],
    ) {
        let [a, b, c, d] = coordinates;
        let (low, high) = table.split_at_mut(table.len() / 2);
        self.0.store_row([&a.0, &b.0, &c.0, &d.0], row, low);
        self.0.store_row([&a.1, &b.1, &c.1, &d.1], row, high);
    }
    #[inline(always)]
    fn pick_projective(
        self,
        table: &[Self::ProjectiveRow],
        slots: &[u8],
        digits: &[i8],
    ) -> [Self::Carried; 4] {
        let [a, b, c, d] = self.0.pick_projective(table, &slots[..F::LANES], &digits[..F::LANES]);
        let [e, f, g, h] = self.0.pick_projective(table, &slots[F::LANES..], &digits[F::LANES..]);
        [(a, e), (b, f), (c, g), (d, h)]
    }
    #[inline(always)]
    fn base_tables(self) -> [&'static [Self::AffineRow]; 2] {
        self.0.base_tables()
    }
    #[inline(always)]
    fn pick_affine(self, table: &[Self::AffineRow], digits: &[i16]) -> [Self::Carried; 3] {
        let [a, b, c] = self.0.pick_affine(table, &digits[..F::LANES]);
        let [d, e, f] = self.0.pick_affine(table, &digits[F::LANES..]);
        [(a, d), (b, e), (c, f)]
    }
    #[inline(always)]
    fn double(self, out: [&mut Self::Carried; 4], point: [&Self::Carried; 3]) {
        let ([e, f, g, h], [x, y, z]) = (out, point);
        self.0.double([&mut e.0, &mut f.0, &mut g.0, &mut h.0], [&x.0, &y.0, &z.0]);
        self.0.double([&mut e.1, &mut f.1, &mut g.1, &mut h.1], [&x.1, &y.1, &z.1]);
    }
    #[inline(always)]
    fn add_projective(
        self,
        out: [&mut Self::Carried; 4],
        point: [&Self::Carried; 4],
        niels: [&Self::Carried; 4],
    ) {
        let ([e, f, g, h], [x, y, z, t], [a, b, c, d]) = (out, point, niels);
        self.0.add_projective(
            [&mut e.0, &mut f.0, &mut g.0, &mut h.0],
            [&x.0, &y.0, &z.0, &t.0],
            [&a.0, &b.0, &c.0, &d.0],
        );
        self.0.add_projective(
            [&mut e.1, &mut f.1, &mut g.1, &mut h.1],
            [&x.1, &y.1, &z.1, &t.1],
            [&a.1, &b.1, &c.1, &d.1],
        );
    }
    #[inline(always)]
    fn add_affine(
        self,
        out: [&mut Self::Carried; 4],
        point: [&Self::Carried; 4],
        niels: [&Self::Carried; 3],
    ) {
        let ([e, f, g, h], [x, y, z, t], [a, b, c]) = (out, point, niels);
        self.0.add_affine(
            [&mut e.0, &mut f.0, &mut g.0, &mut h.0],
            [&x.0, &y.0, &z.0, &t.0],
            [&a.0, &b.0, &c.0],
        );
        self.0.add_affine(
            [&mut e.1, &mut f.1, &mut g.1, &mut h.1],
            [&x.1, &y.1, &z.1, &t.1],
            [&a.1, &b.1, &c.1],
        );
    }
    #[inline(always)]
    fn complete(self, out: [&mut Self::Carried; 3], completed: [&Self::Carried; 4]) {
        let ([x, y, z], [e, f, g, h]) = (out, completed);
        self.0.complete([&mut x.0, &mut y.0, &mut z.0], [&e.0, &f.0, &g.0, &h.0]);
        self.0.complete([&mut x.1, &mut y.1, &mut z.1], [&e.1, &f.1, &g.1, &h.1]);
    }
    #[inline(always)]
    fn enter<G: Field, R: Routine<G>>(self, f: G, routine: R) -> R::Output {
        self.0.enter(f, routine)
    }
}
