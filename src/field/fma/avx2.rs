//! Four lanes in a 256-bit register: the CPU instance of [`Quad`], AVX2 and FMA.
//!
//! # Safety
//!
//! What is unsafe here is to execute an instruction that the CPU may lack; the loads, stores and
//! kernels, which touch memory too, say at their place why they may. Every function takes an
//! [`Avx2`], whose field is private: the one way to make it is [`Avx2::detect`], which asks the CPU
//! and the operating system (CPUID and XCR0) for AVX2 and FMA. So whoever calls one holds the proof
//! that its instructions exist.

use super::{
    AffineRow, BITS_2_52, C1, C2, Carried, MASK51, ProjectiveRow, Quad, TABLE_ROWS,
    TWO_POW_MINUS_51, kernels,
};
use crate::field::{Field, LaneMask, Routine};
use core::arch::x86_64::*;
use core::mem::MaybeUninit;

cpufeatures::new!(avx2_fma, "avx2", "fma");

/// Proof that the CPU has AVX2 and FMA and that the operating system saves their registers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Avx2(());

impl Avx2 {
    /// A token, if this machine can run the instructions.
    pub(crate) fn detect() -> Option<Self> {
        avx2_fma::get().then_some(Self(()))
    }
}

/// Calls an intrinsic that needs no more than AVX2 and FMA, where an [`Avx2`] is in scope.
macro_rules! avx2 {
    ($call:expr) => {{
        // SAFETY: an `Avx2` is in scope, so the CPU has all that the intrinsic needs.
        unsafe { $call }
    }};
}
pub(crate) use avx2;

/// Rows of four to columns of four.
#[inline(always)]
pub(crate) fn transpose(_: Avx2, rows: [__m256d; 4]) -> [__m256d; 4] {
    let [a, b, c, d] = rows;
    let ab_even = avx2!(_mm256_unpacklo_pd(a, b));
    let ab_odd = avx2!(_mm256_unpackhi_pd(a, b));
    let cd_even = avx2!(_mm256_unpacklo_pd(c, d));
    let cd_odd = avx2!(_mm256_unpackhi_pd(c, d));
    [
        avx2!(_mm256_permute2f128_pd::<0x20>(ab_even, cd_even)),
        avx2!(_mm256_permute2f128_pd::<0x20>(ab_odd, cd_odd)),
        avx2!(_mm256_permute2f128_pd::<0x31>(ab_even, cd_even)),
        avx2!(_mm256_permute2f128_pd::<0x31>(ab_odd, cd_odd)),
    ]
}

#[inline(always)]
fn load(_: Avx2, x: &[f64; 4]) -> __m256d {
    // SAFETY: the reference is to 32 readable bytes, the load needs no alignment, and the CPU has
    // AVX.
    unsafe { _mm256_loadu_pd(x.as_ptr()) }
}

#[inline(always)]
fn store(_: Avx2, x: __m256d, out: &mut [f64; 4]) {
    // SAFETY: the reference is to 32 writable bytes, the store needs no alignment, and the CPU has
    // AVX.
    unsafe { _mm256_storeu_pd(out.as_mut_ptr(), x) }
}

/// All bits of the lanes of `mask`.
#[inline(always)]
fn expand(_: Avx2, mask: LaneMask) -> __m256d {
    let bits = avx2!(_mm256_set_epi64x(8, 4, 2, 1));
    let all = avx2!(_mm256_set1_epi64x(i64::from(mask)));
    let here = avx2!(_mm256_and_si256(all, bits));
    let lanes = avx2!(_mm256_cmpeq_epi64(here, bits));
    avx2!(_mm256_castsi256_pd(lanes))
}

impl Quad for Avx2 {
    type F = __m256d;
    type I = __m256i;

    #[inline(always)]
    fn splat(self, x: f64) -> __m256d {
        avx2!(_mm256_set1_pd(x))
    }
    #[inline(always)]
    fn load(self, lanes: [f64; 4]) -> __m256d {
        load(self, &lanes)
    }
    #[inline(always)]
    fn store(self, x: __m256d) -> [f64; 4] {
        let mut out = [0.0; 4];
        store(self, x, &mut out);
        out
    }
    #[inline(always)]
    fn add(self, a: __m256d, b: __m256d) -> __m256d {
        avx2!(_mm256_add_pd(a, b))
    }
    #[inline(always)]
    fn sub(self, a: __m256d, b: __m256d) -> __m256d {
        avx2!(_mm256_sub_pd(a, b))
    }
    #[inline(always)]
    fn select(self, mask: LaneMask, a: __m256d, b: __m256d) -> __m256d {
        avx2!(_mm256_blendv_pd(b, a, expand(self, mask)))
    }
    #[inline(always)]
    fn split51(self, x: __m256d) -> (__m256d, __m256d) {
        let c1 = self.splat(C1);
        let multiple = self.sub(self.add(x, c1), c1);
        (self.sub(x, multiple), multiple)
    }
    #[inline(always)]
    fn add_quotient(self, x: __m256d, c: __m256d, factor: u32) -> __m256d {
        avx2!(_mm256_fmadd_pd(c, self.splat(f64::from(factor) * TWO_POW_MINUS_51), x))
    }
    #[inline(always)]
    fn product(self, a: __m256d, b: __m256d) -> (__m256i, __m256i) {
        let hi = avx2!(_mm256_fmadd_pd(a, b, self.splat(C1)));
        let lo = avx2!(_mm256_fmadd_pd(a, b, self.sub(self.splat(C2), hi)));
        (self.bits(hi), self.bits(lo))
    }
    #[inline(always)]
    fn bits(self, x: __m256d) -> __m256i {
        avx2!(_mm256_castpd_si256(x))
    }
    #[inline(always)]
    fn float(self, x: __m256i) -> __m256d {
        avx2!(_mm256_castsi256_pd(x))
    }
    #[inline(always)]
    fn splat_int(self, x: u64) -> __m256i {
        avx2!(_mm256_set1_epi64x(x as i64))
    }
    #[inline(always)]
    fn add_int(self, a: __m256i, b: __m256i) -> __m256i {
        avx2!(_mm256_add_epi64(a, b))
    }
    #[inline(always)]
    fn sub_int(self, a: __m256i, b: __m256i) -> __m256i {
        avx2!(_mm256_sub_epi64(a, b))
    }
    #[inline(always)]
    fn shift_left<const N: i32>(self, x: __m256i) -> __m256i {
        avx2!(_mm256_slli_epi64::<N>(x))
    }
    #[inline(always)]
    fn shift_right<const N: i32>(self, x: __m256i) -> __m256i {
        avx2!(_mm256_srli_epi64::<N>(x))
    }
    #[inline(always)]
    fn low51(self, x: __m256i) -> __m256i {
        avx2!(_mm256_and_si256(x, self.splat_int(MASK51)))
    }
    #[inline(always)]
    fn or_bits_2_52(self, x: __m256i) -> __m256i {
        avx2!(_mm256_or_si256(x, self.splat_int(BITS_2_52)))
    }
    #[inline(always)]
    fn times19(self, x: __m256i) -> __m256i {
        avx2!(_mm256_mul_epu32(x, self.splat_int(19)))
    }

    #[inline(always)]
    fn permute<const CONTROL: i32>(self, x: __m256d) -> __m256d {
        avx2!(_mm256_permute4x64_pd::<CONTROL>(x))
    }
    #[inline(always)]
    fn permute_int<const CONTROL: i32>(self, x: __m256i) -> __m256i {
        avx2!(_mm256_permute4x64_epi64::<CONTROL>(x))
    }
    #[inline(always)]
    fn negate_lanes(self, mask: LaneMask, x: __m256i) -> __m256i {
        let mask = self.bits(expand(self, mask));
        let complement = avx2!(_mm256_xor_si256(x, mask));
        self.sub_int(complement, mask)
    }
    #[inline(always)]
    fn shift_lanes(self, n: [u64; 4], x: __m256i) -> __m256i {
        let [a, b, c, d] = n.map(|n| n as i64);
        let n = avx2!(_mm256_set_epi64x(d, c, b, a));
        avx2!(_mm256_sllv_epi64(x, n))
    }

    #[inline(always)]
    fn store_row(self, coordinates: [&[__m256d; 5]; 4], row: usize, table: &mut [ProjectiveRow]) {
        macro_rules! group {
            ($group:literal, $vectors:expr) => {{
                let [a, b, c, d] = transpose(self, $vectors);
                store(self, a, &mut table[row].0[$group]);
                store(self, b, &mut table[TABLE_ROWS + row].0[$group]);
                store(self, c, &mut table[2 * TABLE_ROWS + row].0[$group]);
                store(self, d, &mut table[3 * TABLE_ROWS + row].0[$group]);
            }};
        }
        let [a, b, c, d] = coordinates;
        group!(0, [a[0], a[1], a[2], a[3]]);
        group!(1, [b[0], b[1], b[2], b[3]]);
        group!(2, [c[0], c[1], c[2], c[3]]);
        group!(3, [d[0], d[1], d[2], d[3]]);
        group!(4, [a[4], b[4], c[4], d[4]]);
    }

    #[inline(always)]
    fn pick_projective(
        self,
        table: &[ProjectiveRow],
        slots: &[u8],
        digits: &[i8],
    ) -> [[__m256d; 5]; 4] {
        let digits = [digits[0], digits[1], digits[2], digits[3]];
        let row = |lane: usize| {
            let first = usize::from(slots[lane]) * TABLE_ROWS;
            &table[first + usize::from(digits[lane].unsigned_abs())].0
        };
        let rows = [row(0), row(1), row(2), row(3)];
        let signs = Signs::of(self, digits.map(i64::from));
        let [a0, a1, a2, a3] = gather(self, rows, signs.first());
        let [b0, b1, b2, b3] = gather(self, rows, signs.second());
        let [c0, c1, c2, c3] = gather(self, rows, [2; 4]);
        let [t0, t1, t2, t3] = gather(self, rows, [3; 4]);
        let [a4, b4, c4, t4] = gather(self, rows, [4; 4]);
        let (a4, b4) = signs.exchange(self, a4, b4);
        [
            [a0, a1, a2, a3, a4],
            [b0, b1, b2, b3, b4],
            [c0, c1, c2, c3, c4],
            signs.negate(self, [t0, t1, t2, t3, t4]),
        ]
    }

    #[inline(always)]
    fn pick_affine(self, table: &[AffineRow], digits: &[i16]) -> [[__m256d; 5]; 3] {
        let digits = [digits[0], digits[1], digits[2], digits[3]];
        let row = |lane: usize| &table[usize::from(digits[lane].unsigned_abs())].0;
        let rows = [row(0), row(1), row(2), row(3)];
        let signs = Signs::of(self, digits.map(i64::from));
        let [a0, a1, a2, a3] = gather(self, rows, signs.first());
        let [b0, b1, b2, b3] = gather(self, rows, signs.second());
        let [t0, t1, t2, t3] = gather(self, rows, [2; 4]);
        let [a4, b4, t4, _] = gather(self, rows, [3; 4]);
        let (a4, b4) = signs.exchange(self, a4, b4);
        [[a0, a1, a2, a3, a4], [b0, b1, b2, b3, b4], signs.negate(self, [t0, t1, t2, t3, t4])]
    }

    #[inline(always)]
    fn enter<F: Field, R: Routine<F>>(self, f: F, routine: R) -> R::Output {
        #[target_feature(enable = "avx2,fma")]
        #[inline(never)]
        fn run<F: Field, R: Routine<F>>(f: F, routine: R) -> R::Output {
            routine.run(f)
        }
        // SAFETY: `self` proves AVX2 and FMA.
        unsafe { run(f, routine) }
    }

    #[inline(always)]
    fn mul_loose(self, a: &[__m256d; 5], b: &[__m256d; 5]) -> [__m256i; 5] {
        let mut out = MaybeUninit::uninit();
        // SAFETY: `self` proves AVX2 and FMA; `out` is ours to write.
        unsafe { kernels::mul_loose(out.as_mut_ptr(), a, b) };
        // SAFETY: the kernel wrote all of it.
        unsafe { out.assume_init() }
    }
    #[inline(always)]
    fn square_loose(self, a: &[__m256d; 5]) -> [__m256i; 5] {
        let mut out = MaybeUninit::uninit();
        // SAFETY: `self` proves AVX2 and FMA; `out` is ours to write.
        unsafe { kernels::square_loose(out.as_mut_ptr(), a) };
        // SAFETY: the kernel wrote all of it.
        unsafe { out.assume_init() }
    }
    #[inline(always)]
    fn mul(self, a: &[__m256d; 5], b: &[__m256d; 5]) -> [__m256d; 5] {
        let mut out = MaybeUninit::uninit();
        // SAFETY: `self` proves AVX2 and FMA; `out` is ours to write.
        unsafe { kernels::mul(out.as_mut_ptr(), a, b) };
        // SAFETY: the kernel wrote all of it.
        unsafe { out.assume_init() }
    }
    #[inline(always)]
    fn mul_to(self, out: &mut [__m256d; 5], a: &[__m256d; 5], b: &[__m256d; 5]) {
        // SAFETY: `self` proves AVX2 and FMA; `out` is ours to write.
        unsafe { kernels::mul(out, a, b) }
    }
    #[inline(always)]
    fn square(self, a: &[__m256d; 5]) -> [__m256d; 5] {
        let mut out = MaybeUninit::uninit();
        // SAFETY: `self` proves AVX2 and FMA; `out` is ours to write.
        unsafe { kernels::square(out.as_mut_ptr(), a) };
        // SAFETY: the kernel wrote all of it.
        unsafe { out.assume_init() }
    }
    #[inline(always)]
    fn square_to(self, out: &mut [__m256d; 5], a: &[__m256d; 5]) {
        // SAFETY: `self` proves AVX2 and FMA; `out` is ours to write.
        unsafe { kernels::square(out, a) }
    }

    #[inline(always)]
    fn double(self, out: [&mut Carried<__m256d>; 4], point: [&Carried<__m256d>; 3]) {
        // SAFETY: `self` proves AVX2 and FMA. Every pointer comes from a reference to an element that
        // outlives the call. The results' are exclusive: they may be written, and overlap nothing.
        unsafe { kernels::double(&out.map(place), &point.map(operand)) }
    }
    #[inline(always)]
    fn add_projective(
        self,
        out: [&mut Carried<__m256d>; 4],
        point: [&Carried<__m256d>; 4],
        niels: [&Carried<__m256d>; 4],
    ) {
        let (out, point, niels) = (out.map(place), point.map(operand), niels.map(operand));
        // SAFETY: as in `double`.
        unsafe { kernels::add_projective(&out, &point, &niels) }
    }
    #[inline(always)]
    fn add_affine(
        self,
        out: [&mut Carried<__m256d>; 4],
        point: [&Carried<__m256d>; 4],
        niels: [&Carried<__m256d>; 3],
    ) {
        let (out, point, niels) = (out.map(place), point.map(operand), niels.map(operand));
        // SAFETY: as in `double`.
        unsafe { kernels::add_affine(&out, &point, &niels) }
    }
    #[inline(always)]
    fn complete(self, out: [&mut Carried<__m256d>; 3], completed: [&Carried<__m256d>; 4]) {
        // SAFETY: as in `double`.
        unsafe { kernels::complete(&out.map(place), &completed.map(operand)) }
    }

    #[inline(always)]
    fn lone_double(self, out: &mut Carried<__m256d>, point: &Carried<__m256d>) {
        // SAFETY: `self` proves AVX2 and FMA; `out` is an exclusive reference: it may be written, and
        // overlaps no operand.
        unsafe { kernels::lone_double(place(out), &point.0) }
    }
    #[inline(always)]
    fn lone_add(
        self,
        out: &mut Carried<__m256d>,
        point: &Carried<__m256d>,
        cached: &Carried<__m256d>,
    ) {
        // SAFETY: as in `lone_double`.
        unsafe { kernels::lone_add(place(out), &point.0, &cached.0) }
    }
    #[inline(always)]
    fn lone_doubling(self, out: &mut Carried<__m256d>, completed: &Carried<__m256d>) {
        // SAFETY: as in `lone_double`.
        unsafe { kernels::lone_doubling(place(out), &completed.0) }
    }
    #[inline(always)]
    fn lone_double_doubling(self, out: &mut Carried<__m256d>, point: &Carried<__m256d>) {
        // SAFETY: as in `lone_double`.
        unsafe { kernels::lone_double_doubling(place(out), &point.0) }
    }
    #[inline(always)]
    fn lone_adding(self, out: &mut Carried<__m256d>, completed: &Carried<__m256d>) {
        // SAFETY: as in `lone_double`.
        unsafe { kernels::lone_adding(place(out), &completed.0) }
    }
}

/// A kernel's pointer to an operand.
#[inline(always)]
fn operand(a: &Carried<__m256d>) -> *const [__m256d; 5] {
    &raw const a.0
}

/// A kernel's pointer to the place of a result.
#[inline(always)]
fn place(out: &mut Carried<__m256d>) -> *mut [__m256d; 5] {
    &raw mut out.0
}

/// Group `groups[lane]` of each lane's row, to columns.
#[inline(always)]
fn gather<const N: usize>(q: Avx2, rows: [&[[f64; 4]; N]; 4], groups: [usize; 4]) -> [__m256d; 4] {
    transpose(
        q,
        [
            load(q, &rows[0][groups[0]]),
            load(q, &rows[1][groups[1]]),
            load(q, &rows[2][groups[2]]),
            load(q, &rows[3][groups[3]]),
        ],
    )
}

/// The signs of four digits: a negative one exchanges the first two coordinates and negates the
/// last.
#[derive(Clone, Copy)]
struct Signs {
    /// 1 for a negative digit.
    bits: [usize; 4],
    /// The sign bit of each lane.
    lanes: __m256d,
}

impl Signs {
    #[inline(always)]
    fn of(_: Avx2, digits: [i64; 4]) -> Self {
        let [a, b, c, d] = digits;
        let lanes = avx2!(_mm256_set_epi64x(d, c, b, a));
        Self {
            bits: [usize::from(a < 0), usize::from(b < 0), usize::from(c < 0), usize::from(d < 0)],
            lanes: avx2!(_mm256_castsi256_pd(lanes)),
        }
    }
    /// The group that is the first coordinate.
    #[inline(always)]
    fn first(self) -> [usize; 4] {
        self.bits
    }
    /// The group that is the second coordinate.
    #[inline(always)]
    fn second(self) -> [usize; 4] {
        let [a, b, c, d] = self.bits;
        [1 - a, 1 - b, 1 - c, 1 - d]
    }
    #[inline(always)]
    fn exchange(self, _: Avx2, a: __m256d, b: __m256d) -> (__m256d, __m256d) {
        let first = avx2!(_mm256_blendv_pd(a, b, self.lanes));
        let second = avx2!(_mm256_blendv_pd(b, a, self.lanes));
        (first, second)
    }
    #[inline(always)]
    fn negate(self, q: Avx2, x: [__m256d; 5]) -> [__m256d; 5] {
        let sign = avx2!(_mm256_and_pd(self.lanes, q.splat(-0.0)));
        let [a, b, c, d, e] = x;
        [
            avx2!(_mm256_xor_pd(a, sign)),
            avx2!(_mm256_xor_pd(b, sign)),
            avx2!(_mm256_xor_pd(c, sign)),
            avx2!(_mm256_xor_pd(d, sign)),
            avx2!(_mm256_xor_pd(e, sign)),
        ]
    }
}
