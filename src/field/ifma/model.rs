//! The CPU in plain Rust: what each instruction of [`super::avx512`] does to one word, eight times.

use super::{AffineRow, MASK51, Octet, ProjectiveRow};
use crate::field::{Field, LaneMask, Limbs, Routine, TABLE_ROWS};

/// Needs no CPU feature.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Model;

type Words = [u64; 8];

fn both(a: Words, b: Words, f: impl Fn(u64, u64) -> u64) -> Words {
    core::array::from_fn(|i| f(a[i], b[i]))
}

/// The low 52 bits of each factor, multiplied.
fn product(a: u64, b: u64) -> u128 {
    const MASK52: u64 = (1 << 52) - 1;
    u128::from(a & MASK52) * u128::from(b & MASK52)
}

/// The lanes for which `f` holds.
fn mask(f: impl Fn(usize) -> bool) -> LaneMask {
    (0..8).fold(0, |mask, lane| mask | LaneMask::from(f(lane)) << lane)
}

/// `N` coordinates of one lane each to words.
fn columns<const N: usize>(lanes: [[Limbs; N]; 8]) -> [[Words; 5]; N] {
    core::array::from_fn(|i| core::array::from_fn(|k| lanes.map(|coordinates| coordinates[i][k])))
}

impl Octet for Model {
    type W = Words;

    fn splat(self, x: u64) -> Words {
        [x; 8]
    }
    fn load(self, lanes: [u64; 8]) -> Words {
        lanes
    }
    fn store(self, x: Words) -> [u64; 8] {
        x
    }
    fn add(self, a: Words, b: Words) -> Words {
        both(a, b, u64::wrapping_add)
    }
    fn sub(self, a: Words, b: Words) -> Words {
        both(a, b, u64::wrapping_sub)
    }
    fn select(self, mask: LaneMask, a: Words, b: Words) -> Words {
        core::array::from_fn(|i| if mask >> i & 1 == 1 { a[i] } else { b[i] })
    }
    fn shift_right_51(self, x: Words) -> Words {
        x.map(|x| x >> 51)
    }
    fn low51(self, x: Words) -> Words {
        x.map(|x| x & MASK51)
    }
    fn times19(self, x: Words) -> Words {
        x.map(|x| x.wrapping_mul(19))
    }
    fn madd_low(self, c: Words, a: Words, b: Words) -> Words {
        let low = both(a, b, |a, b| product(a, b) as u64 & ((1 << 52) - 1));
        self.add(c, low)
    }
    fn madd_high(self, c: Words, a: Words, b: Words) -> Words {
        let high = both(a, b, |a, b| (product(a, b) >> 52) as u64);
        self.add(c, high)
    }
    fn zero_lanes(self, x: [Words; 5]) -> LaneMask {
        mask(|lane| x.iter().all(|words| words[lane] == 0))
    }
    fn odd_lanes(self, x: Words) -> LaneMask {
        mask(|lane| x[lane] & 1 == 1)
    }
    fn load_encodings(self, encodings: &[[u8; 32]]) -> ([Words; 5], LaneMask) {
        let lanes = core::array::from_fn(|lane| [crate::edwards::load_y(&encodings[lane])]);
        let [limbs] = columns(lanes);
        (limbs, mask(|lane| encodings[lane][31] >> 7 == 1))
    }
    fn store_row(self, coordinates: [&[Words; 5]; 4], row: usize, table: &mut [ProjectiveRow]) {
        for lane in 0..8 {
            let [a, b, z, t] = coordinates.map(|limbs| limbs.map(|words| words[lane]));
            table[lane * TABLE_ROWS + row] = ProjectiveRow([
                [a[0], a[1], a[2], a[3], a[4], z[0], z[1], z[2]],
                [b[0], b[1], b[2], b[3], b[4], z[3], z[4], 0],
                [t[0], t[1], t[2], t[3], t[4], 0, 0, 0],
            ]);
        }
    }
    fn pick_projective(
        self,
        table: &[ProjectiveRow],
        slots: &[u8],
        digits: &[i8],
    ) -> ([[Words; 5]; 4], LaneMask) {
        let lanes = core::array::from_fn(|lane| {
            let digit = digits[lane];
            let row = usize::from(slots[lane]) * TABLE_ROWS + usize::from(digit.unsigned_abs());
            let ProjectiveRow([a, b, c]) = table[row];
            let [x, y] = [a, b].map(|[w0, w1, w2, w3, w4, ..]| [w0, w1, w2, w3, w4]);
            let z = [a[5], a[6], a[7], b[5], b[6]];
            let t = [c[0], c[1], c[2], c[3], c[4]];
            if digit < 0 { [y, x, z, t] } else { [x, y, z, t] }
        });
        (columns(lanes), mask(|lane| digits[lane] < 0))
    }
    fn pick_affine(self, table: &[AffineRow], digits: &[i16]) -> ([[Words; 5]; 3], LaneMask) {
        let lanes = core::array::from_fn(|lane| {
            let digit = digits[lane];
            let AffineRow([a, b]) = table[usize::from(digit.unsigned_abs())];
            let [x, y] = [a, b].map(|[w0, w1, w2, w3, w4, ..]| [w0, w1, w2, w3, w4]);
            let t = [a[5], a[6], a[7], b[5], b[6]];
            if digit < 0 { [y, x, t] } else { [x, y, t] }
        });
        (columns(lanes), mask(|lane| digits[lane] < 0))
    }
    fn permute<const CONTROL: i32>(self, x: Words) -> Words {
        core::array::from_fn(|lane| x[lane / 4 * 4 + (CONTROL as usize >> (2 * (lane % 4)) & 3)])
    }
    fn shift_lanes(self, n: [u64; 4], x: Words) -> Words {
        core::array::from_fn(|lane| x[lane].checked_shl(n[lane % 4] as u32).unwrap_or(0))
    }
    fn load_base(self, rows: [&AffineRow; 2]) -> [Words; 5] {
        let mut out = [[0; 8]; 5];
        for (half, AffineRow([a, b])) in rows.into_iter().enumerate() {
            let t = [a[5], a[6], a[7], b[5], b[6]];
            for (k, words) in out.iter_mut().enumerate() {
                let two = if k == 0 { 2 } else { 0 };
                words[4 * half..][..4].copy_from_slice(&[two, t[k], b[k], a[k]]);
            }
        }
        out
    }
    fn enter<F: Field, R: Routine<F>>(self, f: F, routine: R) -> R::Output {
        routine.run(f)
    }
}
