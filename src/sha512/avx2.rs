//! Four words in a 256-bit register.
//!
//! # Safety
//!
//! As in [`crate::field::fma::avx2`]: every method takes an [`Avx2`], which proves that the CPU has
//! AVX2.

use super::{BLOCK, MAX_LANES, WordLanes};
use crate::field::fma::avx2::{Avx2, avx2, transpose};
use core::arch::x86_64::*;

impl WordLanes for Avx2 {
    const LANES: usize = 4;
    type W = __m256i;

    #[inline(always)]
    fn splat(self, x: u64) -> __m256i {
        avx2!(_mm256_set1_epi64x(x as i64))
    }
    #[inline(always)]
    fn store(self, x: __m256i, out: &mut [u64; MAX_LANES]) {
        // SAFETY: `out` is 64 writable bytes, of which the store takes 32; it needs no alignment, and
        // the CPU has AVX.
        unsafe { _mm256_storeu_si256(out.as_mut_ptr().cast(), x) };
    }
    #[inline(always)]
    fn load(self, blocks: &[&[u8; BLOCK]; MAX_LANES]) -> [__m256i; 16] {
        macro_rules! four {
            ($i:literal) => {{
                let row = |lane: usize| {
                    let bytes = &blocks[lane][32 * $i..32 * $i + 32];
                    // SAFETY: `bytes` is 32 readable bytes, the load needs no alignment, and the
                    // CPU has AVX.
                    unsafe { _mm256_loadu_si256(bytes.as_ptr().cast()) }
                };
                columns(self, [row(0), row(1), row(2), row(3)])
            }};
        }
        let [a, b, c, d] = four!(0);
        let [e, f, g, h] = four!(1);
        let [i, j, k, l] = four!(2);
        let [m, n, o, p] = four!(3);
        [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p]
    }
    #[inline(always)]
    fn add(self, a: __m256i, b: __m256i) -> __m256i {
        avx2!(_mm256_add_epi64(a, b))
    }
    #[inline(always)]
    fn xor(self, a: __m256i, b: __m256i) -> __m256i {
        avx2!(_mm256_xor_si256(a, b))
    }
    #[inline(always)]
    fn and(self, a: __m256i, b: __m256i) -> __m256i {
        avx2!(_mm256_and_si256(a, b))
    }
    #[inline(always)]
    fn shift_right<const N: i32>(self, x: __m256i) -> __m256i {
        avx2!(_mm256_srli_epi64::<N>(x))
    }
    #[inline(always)]
    fn rotate_right<const N: i32, const M: i32>(self, x: __m256i) -> __m256i {
        const { assert!(N + M == 64) };
        let (low, high) = (avx2!(_mm256_srli_epi64::<N>(x)), avx2!(_mm256_slli_epi64::<M>(x)));
        avx2!(_mm256_or_si256(low, high))
    }
}

/// Four rows of big-endian words to four words of four lanes.
#[inline(always)]
fn columns(q: Avx2, rows: [__m256i; 4]) -> [__m256i; 4] {
    let order = avx2!(_mm256_setr_epi8(
        7, 6, 5, 4, 3, 2, 1, 0, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0, 15, 14, 13,
        12, 11, 10, 9, 8,
    ));
    macro_rules! reversed {
        ($row:expr) => {{
            let words = avx2!(_mm256_shuffle_epi8($row, order));
            avx2!(_mm256_castsi256_pd(words))
        }};
    }
    let [a, b, c, d] = rows;
    let [a, b, c, d] = transpose(q, [reversed!(a), reversed!(b), reversed!(c), reversed!(d)]);
    [
        avx2!(_mm256_castpd_si256(a)),
        avx2!(_mm256_castpd_si256(b)),
        avx2!(_mm256_castpd_si256(c)),
        avx2!(_mm256_castpd_si256(d)),
    ]
}
