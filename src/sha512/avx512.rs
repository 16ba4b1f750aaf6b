//! Eight words in a 512-bit register.
//!
//! # Safety
//!
//! As in [`crate::field::ifma::avx512`]: every method takes an [`Avx512`], which proves that the CPU
//! has AVX-512 F and BW.

use super::{BLOCK, MAX_LANES, WordLanes};
use crate::field::ifma::avx512::{Avx512, avx512, store, transpose};
use core::arch::x86_64::*;

impl WordLanes for Avx512 {
    const LANES: usize = 8;
    type W = __m512i;

    #[inline(always)]
    fn splat(self, x: u64) -> __m512i {
        avx512!(_mm512_set1_epi64(x as i64))
    }
    #[inline(always)]
    fn store(self, x: __m512i, out: &mut [u64; MAX_LANES]) {
        store(self, x, out);
    }
    #[inline(always)]
    fn load(self, blocks: &[&[u8; BLOCK]; MAX_LANES]) -> [__m512i; 16] {
        // Each word's bytes in reverse.
        let order = avx512!(_mm512_broadcast_i64x2(_mm_setr_epi8(
            7, 6, 5, 4, 3, 2, 1, 0, 15, 14, 13, 12, 11, 10, 9, 8
        )));
        macro_rules! eight {
            ($i:literal) => {{
                macro_rules! row {
                    ($lane:literal) => {{
                        let bytes = &blocks[$lane][64 * $i..64 * $i + 64];
                        // SAFETY: `bytes` is 64 readable bytes, the load needs no alignment, and the
                        // CPU has AVX-512 F.
                        let row = unsafe { _mm512_loadu_si512(bytes.as_ptr().cast()) };
                        avx512!(_mm512_shuffle_epi8(row, order))
                    }};
                }
                transpose(
                    self,
                    [row!(0), row!(1), row!(2), row!(3), row!(4), row!(5), row!(6), row!(7)],
                )
            }};
        }
        let [a, b, c, d, e, f, g, h] = eight!(0);
        let [i, j, k, l, m, n, o, p] = eight!(1);
        [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p]
    }
    #[inline(always)]
    fn add(self, a: __m512i, b: __m512i) -> __m512i {
        avx512!(_mm512_add_epi64(a, b))
    }
    #[inline(always)]
    fn xor(self, a: __m512i, b: __m512i) -> __m512i {
        avx512!(_mm512_xor_si512(a, b))
    }
    #[inline(always)]
    fn and(self, a: __m512i, b: __m512i) -> __m512i {
        avx512!(_mm512_and_si512(a, b))
    }
    #[inline(always)]
    fn shift_right<const N: i32>(self, x: __m512i) -> __m512i {
        avx512!(_mm512_srl_epi64(x, _mm_cvtsi32_si128(N)))
    }
    #[inline(always)]
    fn rotate_right<const N: i32, const M: i32>(self, x: __m512i) -> __m512i {
        const { assert!(N + M == 64) };
        avx512!(_mm512_ror_epi64::<N>(x))
    }
    #[inline(always)]
    fn xor3(self, a: __m512i, b: __m512i, c: __m512i) -> __m512i {
        avx512!(_mm512_ternarylogic_epi64::<0x96>(a, b, c))
    }
    #[inline(always)]
    fn choose(self, e: __m512i, f: __m512i, g: __m512i) -> __m512i {
        avx512!(_mm512_ternarylogic_epi64::<0xca>(e, f, g))
    }
    #[inline(always)]
    fn majority(self, a: __m512i, b: __m512i, c: __m512i) -> __m512i {
        avx512!(_mm512_ternarylogic_epi64::<0xe8>(a, b, c))
    }
}
