//! Eight lanes in a 512-bit register: the CPU instance of [`Octet`], AVX-512 IFMA.
//!
//! # Safety
//!
//! What is unsafe here is to execute an instruction that the CPU may lack; the loads and stores, which
//! touch memory too, say at their place why they may. Every function takes an [`Avx512`], whose field
//! is private: the one way to make it is [`Avx512::detect`], which asks the CPU and the operating system
//! (CPUID and XCR0). So whoever calls one holds the proof that its instructions exist.

use super::{AffineRow, MASK51, Octet, ProjectiveRow};
use crate::field::{Field, LaneMask, Routine, TABLE_ROWS, limbwise};
use core::arch::x86_64::*;

cpufeatures::new!(avx512_ifma, "avx512f", "avx512dq", "avx512vl", "avx512bw", "avx512ifma");

/// Proof that the CPU has AVX-512 F, DQ, VL, BW and IFMA and that the operating system saves their
/// registers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Avx512(());

impl Avx512 {
    /// A token, if this machine can run the instructions.
    pub(crate) fn detect() -> Option<Self> {
        avx512_ifma::get().then_some(Self(()))
    }
}

/// Calls an intrinsic that needs no more than what an [`Avx512`] proves, where one is in scope.
macro_rules! avx512 {
    ($call:expr) => {{
        // SAFETY: an `Avx512` is in scope, so the CPU has all that the intrinsic needs.
        unsafe { $call }
    }};
}
pub(crate) use avx512;

#[inline(always)]
pub(crate) fn load(_: Avx512, x: &[u64; 8]) -> __m512i {
    // SAFETY: the reference is to 64 readable bytes, the load needs no alignment, and the CPU has
    // AVX-512 F.
    unsafe { _mm512_loadu_si512(x.as_ptr().cast()) }
}

#[inline(always)]
pub(crate) fn store(_: Avx512, x: __m512i, out: &mut [u64; 8]) {
    // SAFETY: the reference is to 64 writable bytes, the store needs no alignment, and the CPU has
    // AVX-512 F.
    unsafe { _mm512_storeu_si512(out.as_mut_ptr().cast(), x) }
}

/// Rows of eight to columns of eight.
#[inline(always)]
pub(crate) fn transpose(_: Avx512, rows: [__m512i; 8]) -> [__m512i; 8] {
    let [a, b, c, d, e, f, g, h] = rows;
    // Pairs of rows: words 0, 2, 4, 6, then 1, 3, 5, 7.
    macro_rules! pair {
        ($a:expr, $b:expr) => {
            (avx512!(_mm512_unpacklo_epi64($a, $b)), avx512!(_mm512_unpackhi_epi64($a, $b)))
        };
    }
    let ((ab0, ab1), (cd0, cd1), (ef0, ef1), (gh0, gh1)) =
        (pair!(a, b), pair!(c, d), pair!(e, f), pair!(g, h));
    // Four rows: words 0 and 4, then 2 and 6.
    macro_rules! four {
        ($ab:expr, $cd:expr) => {
            (
                avx512!(_mm512_shuffle_i64x2::<0b10_00_10_00>($ab, $cd)),
                avx512!(_mm512_shuffle_i64x2::<0b11_01_11_01>($ab, $cd)),
            )
        };
    }
    // (words 0, 4 of rows ab | of rows cd), (words 2, 6 of …), and so on.
    let ((abcd04, abcd26), (abcd15, abcd37)) = (four!(ab0, cd0), four!(ab1, cd1));
    let ((efgh04, efgh26), (efgh15, efgh37)) = (four!(ef0, gh0), four!(ef1, gh1));
    let ((c0, c4), (c2, c6)) = (four!(abcd04, efgh04), four!(abcd26, efgh26));
    let ((c1, c5), (c3, c7)) = (four!(abcd15, efgh15), four!(abcd37, efgh37));
    [c0, c1, c2, c3, c4, c5, c6, c7]
}

/// The same for rows of four.
#[inline(always)]
fn transpose_halves(_: Avx512, rows: [&[u8; 32]; 8]) -> [__m512i; 4] {
    macro_rules! row {
        ($lane:expr) => {{
            // SAFETY: the reference is to 32 readable bytes, the load needs no alignment, and the CPU
            // has AVX.
            unsafe { _mm256_loadu_si256(rows[$lane].as_ptr().cast()) }
        }};
    }
    // Rows i and i + 4 side by side.
    macro_rules! both {
        ($i:literal) => {{
            let (low, high) = (row!($i), row!($i + 4));
            let low = avx512!(_mm512_castsi256_si512(low));
            avx512!(_mm512_inserti64x4::<1>(low, high))
        }};
    }
    let (ae, bf, cg, dh) = (both!(0), both!(1), both!(2), both!(3));
    let (x, y) = (avx512!(_mm512_unpacklo_epi64(ae, bf)), avx512!(_mm512_unpackhi_epi64(ae, bf)));
    let (z, w) = (avx512!(_mm512_unpacklo_epi64(cg, dh)), avx512!(_mm512_unpackhi_epi64(cg, dh)));
    // x: words 0 of a and b, 2 of a and b, 0 of e and f, 2 of e and f; z: the same of c, d, g, h.
    let low = avx512!(_mm512_setr_epi64(0, 1, 8, 9, 4, 5, 12, 13));
    let high = avx512!(_mm512_setr_epi64(2, 3, 10, 11, 6, 7, 14, 15));
    [
        avx512!(_mm512_permutex2var_epi64(x, low, z)),
        avx512!(_mm512_permutex2var_epi64(y, low, w)),
        avx512!(_mm512_permutex2var_epi64(x, high, z)),
        avx512!(_mm512_permutex2var_epi64(y, high, w)),
    ]
}

/// Loads group `GROUP` of eight words from each of eight rows, to columns.
///
/// # Safety
///
/// Each row is `GROUP` + 1 groups at least, and may be read.
#[inline(always)]
unsafe fn gather<const GROUP: usize>(q: Avx512, rows: [*const [u64; 8]; 8]) -> [__m512i; 8] {
    macro_rules! lane {
        ($lane:literal) => {{
            // SAFETY: the caller's row has this group.
            let group = unsafe { &*rows[$lane].add(GROUP) };
            load(q, group)
        }};
    }
    transpose(q, [lane!(0), lane!(1), lane!(2), lane!(3), lane!(4), lane!(5), lane!(6), lane!(7)])
}

/// The rows of a table that eight indices name.
///
/// # Panics
///
/// If the table has no such row.
#[inline(always)]
fn rows<T>(q: Avx512, table: &[T], indices: __m512i) -> [*const T; 8] {
    let beyond = avx512!(_mm512_cmpge_epu64_mask(indices, q.splat(table.len() as u64)));
    assert!(beyond == 0, "a digit or a slot beyond the table");
    // SAFETY: each index is below the length of `table`.
    q.store(indices).map(|index| unsafe { table.as_ptr().add(index as usize) })
}

/// a and b, in the other order in the lanes of `mask`.
#[inline(always)]
fn exchange(q: Avx512, mask: LaneMask, a: [__m512i; 5], b: [__m512i; 5]) -> [[__m512i; 5]; 2] {
    [limbwise!(|a, b| q.select(mask, b, a)), limbwise!(|a, b| q.select(mask, a, b))]
}

impl Octet for Avx512 {
    type W = __m512i;

    #[inline(always)]
    fn splat(self, x: u64) -> __m512i {
        avx512!(_mm512_set1_epi64(x as i64))
    }
    #[inline(always)]
    fn load(self, lanes: [u64; 8]) -> __m512i {
        load(self, &lanes)
    }
    #[inline(always)]
    fn store(self, x: __m512i) -> [u64; 8] {
        let mut out = [0; 8];
        store(self, x, &mut out);
        out
    }
    #[inline(always)]
    fn add(self, a: __m512i, b: __m512i) -> __m512i {
        avx512!(_mm512_add_epi64(a, b))
    }
    #[inline(always)]
    fn sub(self, a: __m512i, b: __m512i) -> __m512i {
        avx512!(_mm512_sub_epi64(a, b))
    }
    #[inline(always)]
    fn select(self, mask: LaneMask, a: __m512i, b: __m512i) -> __m512i {
        avx512!(_mm512_mask_blend_epi64(mask as __mmask8, b, a))
    }
    #[inline(always)]
    fn shift_right_51(self, x: __m512i) -> __m512i {
        avx512!(_mm512_srli_epi64::<51>(x))
    }
    #[inline(always)]
    fn low51(self, x: __m512i) -> __m512i {
        avx512!(_mm512_and_si512(x, self.splat(MASK51)))
    }
    #[inline(always)]
    fn times19(self, x: __m512i) -> __m512i {
        avx512!(_mm512_mullo_epi64(x, self.splat(19)))
    }
    #[inline(always)]
    fn madd_low(self, c: __m512i, a: __m512i, b: __m512i) -> __m512i {
        avx512!(_mm512_madd52lo_epu64(c, a, b))
    }
    #[inline(always)]
    fn madd_high(self, c: __m512i, a: __m512i, b: __m512i) -> __m512i {
        avx512!(_mm512_madd52hi_epu64(c, a, b))
    }
    #[inline(always)]
    fn zero_lanes(self, x: [__m512i; 5]) -> LaneMask {
        let [a, b, c, d, e] = x;
        let or = |x, y| avx512!(_mm512_or_si512(x, y));
        let any = or(or(or(a, b), or(c, d)), e);
        avx512!(_mm512_testn_epi64_mask(any, any)).into()
    }
    #[inline(always)]
    fn odd_lanes(self, x: __m512i) -> LaneMask {
        avx512!(_mm512_test_epi64_mask(x, self.splat(1))).into()
    }

    #[inline(always)]
    fn load_encodings(self, encodings: &[[u8; 32]]) -> ([__m512i; 5], LaneMask) {
        let e = |lane: usize| &encodings[lane];
        let [w0, w1, w2, w3] =
            transpose_halves(self, [e(0), e(1), e(2), e(3), e(4), e(5), e(6), e(7)]);
        macro_rules! limb {
            ($low:expr, $right:literal, $high:expr, $left:literal) => {{
                let low = avx512!(_mm512_srli_epi64::<$right>($low));
                let high = avx512!(_mm512_slli_epi64::<$left>($high));
                self.low51(avx512!(_mm512_or_si512(low, high)))
            }};
        }
        let limbs = [
            self.low51(w0),
            limb!(w0, 51, w1, 13),
            limb!(w1, 38, w2, 26),
            limb!(w2, 25, w3, 39),
            self.low51(avx512!(_mm512_srli_epi64::<12>(w3))),
        ];
        (limbs, avx512!(_mm512_movepi64_mask(w3)).into())
    }

    #[inline(always)]
    fn store_row(self, coordinates: [&[__m512i; 5]; 4], row: usize, table: &mut [ProjectiveRow]) {
        let [a, b, z, t] = coordinates;
        macro_rules! group {
            ($group:literal, $vectors:expr) => {{
                let rows = transpose(self, $vectors);
                macro_rules! lane {
                    ($lane:literal) => {
                        store(self, rows[$lane], &mut table[$lane * TABLE_ROWS + row].0[$group])
                    };
                }
                lane!(0);
                lane!(1);
                lane!(2);
                lane!(3);
                lane!(4);
                lane!(5);
                lane!(6);
                lane!(7);
            }};
        }
        group!(0, [a[0], a[1], a[2], a[3], a[4], z[0], z[1], z[2]]);
        let zero = self.splat(0);
        group!(1, [b[0], b[1], b[2], b[3], b[4], z[3], z[4], zero]);
        group!(2, [t[0], t[1], t[2], t[3], t[4], zero, zero, zero]);
    }

    #[inline(always)]
    fn pick_projective(
        self,
        table: &[ProjectiveRow],
        slots: &[u8],
        digits: &[i8],
    ) -> ([[__m512i; 5]; 4], LaneMask) {
        let (slots, digits) = (&slots[..8], &digits[..8]);
        // SAFETY: eight readable bytes, the load needs no alignment, and the CPU has SSE2.
        let slots = unsafe { _mm_loadl_epi64(slots.as_ptr().cast()) };
        // SAFETY: as above.
        let digits = unsafe { _mm_loadl_epi64(digits.as_ptr().cast()) };
        let digits = avx512!(_mm512_cvtepi8_epi64(digits));
        let slots = avx512!(_mm512_cvtepu8_epi64(slots));
        let indices = avx512!(_mm512_abs_epi64(digits));
        let indices = self.madd_low(indices, slots, self.splat(TABLE_ROWS as u64));
        let rows = rows(self, table, indices).map(|row| row.cast());
        // SAFETY: the rows are of `table`, which is borrowed, and each is three groups.
        let [a0, a1, a2, a3, a4, z0, z1, z2] = unsafe { gather::<0>(self, rows) };
        // SAFETY: as above.
        let [b0, b1, b2, b3, b4, z3, z4, _] = unsafe { gather::<1>(self, rows) };
        // SAFETY: as above.
        let [t0, t1, t2, t3, t4, ..] = unsafe { gather::<2>(self, rows) };
        let negative = avx512!(_mm512_movepi64_mask(digits)).into();
        let [a, b] = exchange(self, negative, [a0, a1, a2, a3, a4], [b0, b1, b2, b3, b4]);
        ([a, b, [z0, z1, z2, z3, z4], [t0, t1, t2, t3, t4]], negative)
    }

    #[inline(always)]
    fn pick_affine(self, table: &[AffineRow], digits: &[i16]) -> ([[__m512i; 5]; 3], LaneMask) {
        let digits = &digits[..8];
        // SAFETY: sixteen readable bytes, the load needs no alignment, and the CPU has SSE2.
        let digits = unsafe { _mm_loadu_si128(digits.as_ptr().cast()) };
        let digits = avx512!(_mm512_cvtepi16_epi64(digits));
        let indices = avx512!(_mm512_abs_epi64(digits));
        let rows = rows(self, table, indices).map(|row| row.cast());
        // SAFETY: the rows are of `table`, which is borrowed, and each is two groups.
        let [a0, a1, a2, a3, a4, t0, t1, t2] = unsafe { gather::<0>(self, rows) };
        // SAFETY: as above.
        let [b0, b1, b2, b3, b4, t3, t4, _] = unsafe { gather::<1>(self, rows) };
        let negative = avx512!(_mm512_movepi64_mask(digits)).into();
        let [a, b] = exchange(self, negative, [a0, a1, a2, a3, a4], [b0, b1, b2, b3, b4]);
        ([a, b, [t0, t1, t2, t3, t4]], negative)
    }

    #[inline(always)]
    fn permute<const CONTROL: i32>(self, x: __m512i) -> __m512i {
        avx512!(_mm512_permutex_epi64::<CONTROL>(x))
    }
    #[inline(always)]
    fn shift_lanes(self, n: [u64; 4], x: __m512i) -> __m512i {
        let [a, b, c, d] = n.map(|n| n as i64);
        avx512!(_mm512_sllv_epi64(x, _mm512_setr_epi64(a, b, c, d, a, b, c, d)))
    }
    #[inline(always)]
    fn load_base(self, rows: [&AffineRow; 2]) -> [__m512i; 5] {
        let [AffineRow([a, b]), AffineRow([c, d])] = rows;
        let (a, b, c, d) = (load(self, a), load(self, b), load(self, c), load(self, d));
        // Words 0 … 7 are those of the first group, 8 … 15 those of the second.
        macro_rules! limb {
            ($mask:literal, $t:literal, $k:literal) => {{
                let index = avx512!(_mm512_setr_epi64(15, $t, 8 + $k, $k, 15, $t, 8 + $k, $k));
                let low = avx512!(_mm512_maskz_permutex2var_epi64($mask & 0x0f, a, index, b));
                avx512!(_mm512_or_si512(
                    low,
                    _mm512_maskz_permutex2var_epi64($mask & 0xf0, c, index, d)
                ))
            }};
        }
        // The 2 is in limb 0 alone.
        [
            limb!(0xff, 5, 0),
            limb!(0xee, 6, 1),
            limb!(0xee, 7, 2),
            limb!(0xee, 13, 3),
            limb!(0xee, 14, 4),
        ]
    }
    #[inline(always)]
    fn enter<F: Field, R: Routine<F>>(self, f: F, routine: R) -> R::Output {
        #[target_feature(enable = "avx512f,avx512dq,avx512vl,avx512bw,avx512ifma")]
        #[inline(never)]
        fn run<F: Field, R: Routine<F>>(f: F, routine: R) -> R::Output {
            routine.run(f)
        }
        // SAFETY: `self` proves all of these features.
        unsafe { run(f, routine) }
    }
}
