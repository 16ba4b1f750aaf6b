//! Arithmetic modulo p = 2^255 − 19, one field element per lane.
//!
//! Everything above the field is written once, over the trait [`Field`]. What lies below it decides
//! how lanes are computed: [`portable`] (one lane, 5 × `u64`), [`fma`] (four lanes, 5 × `f64`) and
//! [`ifma`] (eight lanes, 5 × `u64`); [`Twice`] makes eight lanes of four, or sixteen of eight.
//!
//! A lane's value is x = Σ 2^(51 i) x_i. Three classes of limbs are types, so that a value which is
//! too large for an operation does not compile:
//!
//! | class | what it is | what may be done with it |
//! |---|---|---|
//! | carried | after a carry | everything |
//! | sum | the sum or difference of two carried elements | multiplied by a carried element, or carried |
//! | loose | uncarried product, or the sum or difference of up to [`LOOSE_TERMS`] of them | added, subtracted, carried |
//!
//! Each representation states the bounds of its classes, and the tests check that no intermediate
//! leaves them.

use crate::edwards;

pub(crate) mod fma;
pub(crate) mod ifma;
pub(crate) mod portable;
mod twice;

#[cfg(test)]
pub(crate) mod tests;

#[cfg(target_arch = "x86_64")]
pub(crate) use fma::Fma;
#[cfg(target_arch = "x86_64")]
pub(crate) use ifma::Ifma;
pub(crate) use twice::Twice;

/// The limbs of one lane, radix 2^51.
pub(crate) type Limbs = [u64; 5];

/// The low 51 bits of a word.
pub(crate) const MASK51: u64 = (1 << 51) - 1;
pub(crate) const ZERO: Limbs = [0; 5];
pub(crate) const ONE: Limbs = [1, 0, 0, 0, 0];

/// The most lanes that any field has: the size of per-lane arrays.
pub(crate) const MAX_LANES: usize = 16;

/// The most products that may be added into one loose element: F = 2Z² − Y² + X² of a doubling has
/// four.
#[cfg(test)]
pub(crate) const LOOSE_TERMS: usize = 4;

/// The number of points in a lane's table: i P + j Q for i and j of −2 … 2, but for negatives.
pub(crate) const TABLE_ROWS: usize = 13;

/// One bit per lane, lane 0 lowest.
pub(crate) type LaneMask = u16;

/// Applies a function of vectors limb by limb.
macro_rules! limbwise {
    (|$($x:ident),+| $body:expr) => {{
        macro_rules! limb {
            ($k:literal) => {{
                $(let $x = $x[$k];)+
                $body
            }};
        }
        [limb!(0), limb!(1), limb!(2), limb!(3), limb!(4)]
    }};
}
pub(crate) use limbwise;

/// A computation that is compiled as a function of its own.
///
/// Functions over a field are inlined into the one that enables the CPU features of its lanes. If
/// everything were, that one would have a hundred thousand instructions. A routine is called
/// instead: [`Field::call`].
pub(crate) trait Routine<F> {
    type Output;
    /// `#[inline(always)]`, as all that works on lanes.
    fn run(self, f: F) -> Self::Output;
}

/// The field: [`Field::LANES`] independent elements per value.
///
/// A value of the implementing type is a token: where lanes need CPU features, holding one proves
/// that the CPU has them. All methods are `#[inline(always)]` so that they become part of the one
/// function per backend that enables those features.
pub(crate) trait Field: Copy {
    /// Elements per value, at most [`MAX_LANES`].
    const LANES: usize;
    /// Whether a chain of squarings leaves room for another one beside it: docs/performance.md.
    const SQUARES_SIDE_BY_SIDE: bool = false;
    /// Elements after a carry.
    type Carried: Copy;
    /// Sums or differences of two carried elements.
    type Sum: Copy;
    /// Uncarried products and their sums.
    type Loose: Copy;
    /// One lane's projective Niels point in a table.
    type ProjectiveRow: Copy + Default;
    /// An affine Niels point in the table of multiples of B.
    type AffineRow: 'static;

    /// The same element in every lane; `limbs` below 2^51.
    fn splat(self, limbs: &Limbs) -> Self::Carried;
    /// One element per lane; `limbs[lane]` below 2^51 each. Has [`Self::LANES`] entries.
    fn pack(self, limbs: &[Limbs]) -> Self::Carried;
    /// The canonical representative (below p) of each lane, into [`Self::LANES`] entries.
    fn unpack(self, a: &Self::Carried, limbs: &mut [Limbs]);

    /// a + b
    fn add(self, a: &Self::Carried, b: &Self::Carried) -> Self::Sum;
    /// a − b
    fn sub(self, a: &Self::Carried, b: &Self::Carried) -> Self::Sum;
    /// −a in the lanes of `mask`, a in the others.
    fn negate_where(self, mask: LaneMask, a: &Self::Carried) -> Self::Carried;
    /// a in the lanes of `mask`, b in the others.
    fn select(self, mask: LaneMask, a: &Self::Carried, b: &Self::Carried) -> Self::Carried;
    /// Carries a sum.
    fn carry_sum(self, a: &Self::Sum) -> Self::Carried;

    /// a · b
    fn mul(self, a: &Self::Carried, b: &Self::Carried) -> Self::Carried;
    /// out = a · b: no copy where the place of the result is known.
    fn mul_to(self, out: &mut Self::Carried, a: &Self::Carried, b: &Self::Carried);
    /// a²
    fn square(self, a: &Self::Carried) -> Self::Carried;
    /// out = a²
    fn square_to(self, out: &mut Self::Carried, a: &Self::Carried);
    /// a · b, uncarried.
    fn mul_loose(self, a: &Self::Carried, b: &Self::Carried) -> Self::Loose;
    /// a · b, uncarried, where a is a sum.
    fn mul_sum_loose(self, a: &Self::Sum, b: &Self::Carried) -> Self::Loose;
    /// a², uncarried.
    fn square_loose(self, a: &Self::Carried) -> Self::Loose;

    /// a as a loose element: counts as one product.
    fn loosen(self, a: &Self::Carried) -> Self::Loose;
    /// a + b
    fn add_loose(self, a: &Self::Loose, b: &Self::Loose) -> Self::Loose;
    /// a − b
    fn sub_loose(self, a: &Self::Loose, b: &Self::Loose) -> Self::Loose;
    /// Carries a loose element.
    fn carry(self, a: &Self::Loose) -> Self::Carried;

    /// The lanes that are 0 and the lanes whose canonical representative is odd.
    #[inline(always)]
    fn zero_and_odd(self, a: &Self::Carried) -> (LaneMask, LaneMask) {
        let mut limbs = [ONE; MAX_LANES];
        self.unpack(a, &mut limbs[..Self::LANES]);
        let (mut zero, mut odd) = (0, 0);
        for (lane, limbs) in limbs.iter().enumerate().take(Self::LANES) {
            zero |= LaneMask::from(*limbs == ZERO) << lane;
            odd |= LaneMask::from(limbs[0] & 1 == 1) << lane;
        }
        (zero, odd)
    }
    /// The 255 low bits of each lane's encoding, and the lanes whose bit 255 is set. Has
    /// [`Self::LANES`] entries.
    #[inline(always)]
    fn load_encodings(self, encodings: &[[u8; 32]]) -> (Self::Carried, LaneMask) {
        let mut limbs = [ZERO; MAX_LANES];
        let mut signs = 0;
        for (lane, encoding) in encodings.iter().enumerate().take(Self::LANES) {
            limbs[lane] = edwards::load_y(encoding);
            signs |= LaneMask::from(encoding[31] >> 7) << lane;
        }
        (self.pack(&limbs[..Self::LANES]), signs)
    }

    /// Writes (Y+X, Y−X, Z, 2dT) of every lane into row `row` of that lane's table. `table` holds
    /// [`TABLE_ROWS`] rows for each lane, lane after lane.
    fn store_row(
        self,
        coordinates: [&Self::Carried; 4],
        row: usize,
        table: &mut [Self::ProjectiveRow],
    );
    /// The row |digit| of each lane's table, negated where the digit is negative: Y+X and Y−X
    /// change places and 2dT its sign. Digits lie in −12 ..= 12. `table` holds [`TABLE_ROWS`] rows for
    /// each slot, slot after slot; lanes may have the same slot.
    fn pick_projective(
        self,
        table: &[Self::ProjectiveRow],
        slots: &[u8],
        digits: &[i8],
    ) -> [Self::Carried; 4];
    /// The tables of (y+x, y−x, 2dxy) of 0·B … 512·B and of the same multiples of [2^130]B.
    fn base_tables(self) -> [&'static [Self::AffineRow]; 2];
    /// The row |digit| of one of them for each lane, negated where the digit is negative. Digits
    /// lie in −512 ..= 512.
    fn pick_affine(self, table: &[Self::AffineRow], digits: &[i16]) -> [Self::Carried; 3];

    // The steps of a point's formulas, in `edwards`. They are methods so that a representation can
    // pass them on as a whole: to its halves, or to a kernel of its own.

    /// (E, F, G, H) of the double of (X, Y, Z).
    #[inline(always)]
    fn double(self, out: [&mut Self::Carried; 4], point: [&Self::Carried; 3]) {
        edwards::double(self, out, point);
    }
    /// (E, F, G, H) of (X, Y, Z, T) + (Y+X, Y−X, Z, 2dT).
    #[inline(always)]
    fn add_projective(
        self,
        out: [&mut Self::Carried; 4],
        point: [&Self::Carried; 4],
        niels: [&Self::Carried; 4],
    ) {
        edwards::add_projective(self, out, point, niels);
    }
    /// (E, F, G, H) of (X, Y, Z, T) + (y+x, y−x, 2dxy).
    #[inline(always)]
    fn add_affine(
        self,
        out: [&mut Self::Carried; 4],
        point: [&Self::Carried; 4],
        niels: [&Self::Carried; 3],
    ) {
        edwards::add_affine(self, out, point, niels);
    }
    /// (X, Y, Z) = (E F, G H, F G).
    #[inline(always)]
    fn complete(self, out: [&mut Self::Carried; 3], completed: [&Self::Carried; 4]) {
        edwards::complete(self, out, completed);
    }

    /// Runs a routine over `f`, a field made of this one, in a function that enables this field's
    /// CPU features.
    fn enter<F: Field, R: Routine<F>>(self, f: F, routine: R) -> R::Output;

    /// Runs a routine out of line.
    #[inline(always)]
    fn call<R: Routine<Self>>(self, routine: R) -> R::Output {
        self.enter(self, routine)
    }

    /// a^(2^n), n at least 1.
    #[inline(always)]
    fn square_times(self, a: &Self::Carried, n: usize) -> Self::Carried {
        self.call(SquareTimes::<Self>(a, n))
    }

    /// (a^(2^250 − 1), a^11), the common part of the two long powers.
    #[inline(always)]
    fn pow_2_250_minus_1(self, a: &Self::Carried) -> (Self::Carried, Self::Carried) {
        let a2 = self.square(a);
        let a9 = self.mul(&self.square_times(&a2, 2), a);
        let a11 = self.mul(&a9, &a2);
        let x5 = self.mul(&self.square(&a11), &a9); // x_n = a^(2^n − 1)
        let x10 = self.mul(&self.square_times(&x5, 5), &x5);
        let x20 = self.mul(&self.square_times(&x10, 10), &x10);
        let x40 = self.mul(&self.square_times(&x20, 20), &x20);
        let x50 = self.mul(&self.square_times(&x40, 10), &x10);
        let x100 = self.mul(&self.square_times(&x50, 50), &x50);
        let x200 = self.mul(&self.square_times(&x100, 100), &x100);
        let x250 = self.mul(&self.square_times(&x200, 50), &x50);
        (x250, a11)
    }

    /// a^((p − 5) / 8) = a^(2^252 − 3), from which a square root follows.
    #[inline(always)]
    fn pow_p58(self, a: &Self::Carried) -> Self::Carried {
        let (x250, _) = self.pow_2_250_minus_1(a);
        self.mul(&self.square_times(&x250, 2), a)
    }

    /// a^(p − 2) = a^(2^255 − 21): 1/a, or 0 for 0.
    #[inline(always)]
    fn invert(self, a: &Self::Carried) -> Self::Carried {
        let (x250, a11) = self.pow_2_250_minus_1(a);
        self.mul(&self.square_times(&x250, 5), &a11)
    }
}

struct SquareTimes<'a, F: Field>(&'a F::Carried, usize);

impl<F: Field> Routine<F> for SquareTimes<'_, F> {
    type Output = F::Carried;
    #[inline(always)]
    fn run(self, f: F) -> F::Carried {
        let (mut x, mut y) = (f.square(self.0), *self.0);
        for _ in 0..(self.1 - 1) / 2 {
            f.square_to(&mut y, &x);
            f.square_to(&mut x, &y);
        }
        if self.1.is_multiple_of(2) { f.square(&x) } else { x }
    }
}
