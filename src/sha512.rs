//! SHA-512(R ‖ A ‖ M), four or eight messages at once.
//!
//! Messages of one call are sorted by their number of blocks and hashed one to a lane; a lane
//! whose message is shorter than its neighbours' hands over its digest at its last block and idles.
//! A lone message goes to `sha2`, as do all messages of the portable backend.

#[cfg(target_arch = "x86_64")]
#[allow(unsafe_code)]
mod avx2;
#[cfg(target_arch = "x86_64")]
#[allow(unsafe_code)]
mod avx512;

use sha2::{Digest, Sha512};

/// The most messages of any vector.
const MAX_LANES: usize = 8;
const BLOCK: usize = 128;

/// What is hashed for one signature.
#[derive(Clone, Copy)]
pub(crate) struct Preimage<'a> {
    pub(crate) r: &'a [u8; 32],
    pub(crate) a: &'a [u8; 32],
    pub(crate) message: &'a [u8],
}

/// 64-bit words, one per message. A value of the implementing type is a token that proves the CPU's
/// features.
pub(crate) trait WordLanes: Copy {
    /// Messages per vector, at most [`MAX_LANES`].
    const LANES: usize;
    type W: Copy;
    fn splat(self, x: u64) -> Self::W;
    /// Into the first [`Self::LANES`] of `out`.
    fn store(self, x: Self::W, out: &mut [u64; MAX_LANES]);
    /// The sixteen big-endian words of one block per lane, the first [`Self::LANES`] of `blocks`.
    fn load(self, blocks: &[&[u8; BLOCK]; MAX_LANES]) -> [Self::W; 16];
    fn add(self, a: Self::W, b: Self::W) -> Self::W;
    fn xor(self, a: Self::W, b: Self::W) -> Self::W;
    fn and(self, a: Self::W, b: Self::W) -> Self::W;
    fn shift_right<const N: i32>(self, x: Self::W) -> Self::W;
    /// `M` is 64 − `N`.
    fn rotate_right<const N: i32, const M: i32>(self, x: Self::W) -> Self::W;

    /// a ⊕ b ⊕ c
    #[inline(always)]
    fn xor3(self, a: Self::W, b: Self::W, c: Self::W) -> Self::W {
        self.xor(self.xor(a, b), c)
    }
    /// The bits of f where e has a one, those of g elsewhere: Ch(e, f, g).
    #[inline(always)]
    fn choose(self, e: Self::W, f: Self::W, g: Self::W) -> Self::W {
        self.xor(g, self.and(e, self.xor(f, g)))
    }
    /// Of each three bits what two of them are: Maj(a, b, c).
    #[inline(always)]
    fn majority(self, a: Self::W, b: Self::W, c: Self::W) -> Self::W {
        self.xor(b, self.and(self.xor(a, b), self.xor(b, c)))
    }
}

/// The digest of one message.
pub(crate) fn digest(preimage: &Preimage<'_>) -> [u8; 64] {
    let mut hash = Sha512::new();
    hash.update(preimage.r);
    hash.update(preimage.a);
    hash.update(preimage.message);
    hash.finalize().into()
}

/// The digest of every message, at most 256 of them. `order` is scratch memory of the same length.
#[inline(always)]
pub(crate) fn digests<W: WordLanes>(
    w: W,
    preimages: &[Preimage<'_>],
    order: &mut [u8],
    digests: &mut [[u8; 64]],
) {
    for (i, place) in order.iter_mut().enumerate() {
        *place = i as u8;
    }
    order.sort_unstable_by_key(|&i| preimages[usize::from(i)].blocks());
    for group in order.chunks(W::LANES) {
        if let [lone] = group {
            digests[usize::from(*lone)] = digest(&preimages[usize::from(*lone)]);
        } else {
            digest_group(w, preimages, group, digests);
        }
    }
}

impl Preimage<'_> {
    /// Bytes before the padding.
    fn len(&self) -> usize {
        64 + self.message.len()
    }

    /// Blocks with the padding: one bit, and sixteen bytes of length.
    fn blocks(&self) -> usize {
        (self.len() + 17).div_ceil(BLOCK)
    }

    /// Block `index`: a piece of the message itself where it lies in one, or else put together in
    /// `scratch`.
    #[inline(always)]
    fn block<'s>(&'s self, index: usize, scratch: &'s mut [u8; BLOCK]) -> &'s [u8; BLOCK] {
        let start = index * BLOCK;
        if index > 0
            && let Some(rest) = self.message.get(start - 64..)
            && let Some(block) = rest.first_chunk()
        {
            return block;
        }
        *scratch = [0; BLOCK];
        // `skip` bytes of the message come before the block, `at` is where the rest of it goes.
        let (skip, at) = if index == 0 { (0, 64) } else { (start - 64, 0) };
        if index == 0 {
            scratch[..32].copy_from_slice(self.r);
            scratch[32..64].copy_from_slice(self.a);
        }
        let rest = self.message.get(skip..).unwrap_or(&[]);
        let piece = &rest[..rest.len().min(BLOCK - at)];
        scratch[at..at + piece.len()].copy_from_slice(piece);
        if (start..start + BLOCK).contains(&self.len()) {
            scratch[self.len() - start] = 0x80;
        }
        if index + 1 == self.blocks() {
            let bits = self.len() as u128 * 8;
            scratch[BLOCK - 16..].copy_from_slice(&bits.to_be_bytes());
        }
        scratch
    }
}

/// The digests of `group`, two to [`WordLanes::LANES`] messages sorted by their number of blocks.
#[inline(always)]
fn digest_group<W: WordLanes>(
    w: W,
    preimages: &[Preimage<'_>],
    group: &[u8],
    digests: &mut [[u8; 64]],
) {
    let last = &preimages[usize::from(group[group.len() - 1])];
    let mut scratch = [[0; BLOCK]; MAX_LANES];
    let mut state = [
        w.splat(INITIAL[0]),
        w.splat(INITIAL[1]),
        w.splat(INITIAL[2]),
        w.splat(INITIAL[3]),
        w.splat(INITIAL[4]),
        w.splat(INITIAL[5]),
        w.splat(INITIAL[6]),
        w.splat(INITIAL[7]),
    ];
    for index in 0..last.blocks() {
        // Lanes without a message have a block of zeros.
        let mut blocks = [&[0; BLOCK]; MAX_LANES];
        for ((block, scratch), &i) in blocks.iter_mut().zip(&mut scratch).zip(group) {
            *block = preimages[usize::from(i)].block(index, scratch);
        }
        state = compress(w, state, w.load(&blocks));
        // The shortest messages are the first lanes.
        let ends = |i: &u8| preimages[usize::from(*i)].blocks() == index + 1;
        if group.iter().any(ends) {
            let mut words = [[0; MAX_LANES]; 8];
            for (words, word) in words.iter_mut().zip(&state) {
                w.store(*word, words);
            }
            for (lane, i) in group.iter().enumerate().filter(|(_, i)| ends(i)) {
                let digest = &mut digests[usize::from(*i)];
                for (bytes, words) in digest.chunks_exact_mut(8).zip(&words) {
                    bytes.copy_from_slice(&words[lane].to_be_bytes());
                }
            }
        }
    }
}

/// The compression function (FIPS 180-4, section 6.4.2).
#[inline(always)]
fn compress<W: WordLanes>(w: W, state: [W::W; 8], mut block: [W::W; 16]) -> [W::W; 8] {
    let [mut a, mut b, mut c, mut d, mut e, mut f, mut g, mut h] = state;
    macro_rules! round {
        ($t:expr, $i:literal) => {{
            let sigma1 = w.xor3(
                w.rotate_right::<14, 50>(e),
                w.rotate_right::<18, 46>(e),
                w.rotate_right::<41, 23>(e),
            );
            let choose = w.choose(e, f, g);
            let constant = w.add(block[$i], w.splat(ROUND[$t + $i]));
            let t1 = w.add(w.add(h, constant), w.add(sigma1, choose));
            let sigma0 = w.xor3(
                w.rotate_right::<28, 36>(a),
                w.rotate_right::<34, 30>(a),
                w.rotate_right::<39, 25>(a),
            );
            let majority = w.majority(a, b, c);
            h = g;
            g = f;
            f = e;
            e = w.add(d, t1);
            d = c;
            c = b;
            b = a;
            a = w.add(t1, w.add(sigma0, majority));
        }};
    }
    macro_rules! schedule {
        ($i:literal) => {{
            let (x, y) = (block[($i + 1) % 16], block[($i + 14) % 16]);
            let s0 = w.xor3(
                w.rotate_right::<1, 63>(x),
                w.rotate_right::<8, 56>(x),
                w.shift_right::<7>(x),
            );
            let s1 = w.xor3(
                w.rotate_right::<19, 45>(y),
                w.rotate_right::<61, 3>(y),
                w.shift_right::<6>(y),
            );
            block[$i] = w.add(w.add(block[$i], s0), w.add(block[($i + 9) % 16], s1));
        }};
    }
    macro_rules! sixteen {
        ($macro:ident $(, $t:expr)?) => {
            $macro!($($t,)? 0); $macro!($($t,)? 1); $macro!($($t,)? 2); $macro!($($t,)? 3);
            $macro!($($t,)? 4); $macro!($($t,)? 5); $macro!($($t,)? 6); $macro!($($t,)? 7);
            $macro!($($t,)? 8); $macro!($($t,)? 9); $macro!($($t,)? 10); $macro!($($t,)? 11);
            $macro!($($t,)? 12); $macro!($($t,)? 13); $macro!($($t,)? 14); $macro!($($t,)? 15);
        };
    }
    sixteen!(round, 0);
    for t in [16, 32, 48, 64] {
        sixteen!(schedule);
        sixteen!(round, t);
    }
    let [s0, s1, s2, s3, s4, s5, s6, s7] = state;
    [
        w.add(s0, a),
        w.add(s1, b),
        w.add(s2, c),
        w.add(s3, d),
        w.add(s4, e),
        w.add(s5, f),
        w.add(s6, g),
        w.add(s7, h),
    ]
}

/// FIPS 180-4, section 5.3.5.
const INITIAL: [u64; 8] = [
    0x6a09e667f3bcc908,
    0xbb67ae8584caa73b,
    0x3c6ef372fe94f82b,
    0xa54ff53a5f1d36f1,
    0x510e527fade682d1,
    0x9b05688c2b3e6c1f,
    0x1f83d9abfb41bd6b,
    0x5be0cd19137e2179,
];

/// FIPS 180-4, section 4.2.3.
const ROUND: [u64; 80] = [
    0x428a2f98d728ae22,
    0x7137449123ef65cd,
    0xb5c0fbcfec4d3b2f,
    0xe9b5dba58189dbbc,
    0x3956c25bf348b538,
    0x59f111f1b605d019,
    0x923f82a4af194f9b,
    0xab1c5ed5da6d8118,
    0xd807aa98a3030242,
    0x12835b0145706fbe,
    0x243185be4ee4b28c,
    0x550c7dc3d5ffb4e2,
    0x72be5d74f27b896f,
    0x80deb1fe3b1696b1,
    0x9bdc06a725c71235,
    0xc19bf174cf692694,
    0xe49b69c19ef14ad2,
    0xefbe4786384f25e3,
    0x0fc19dc68b8cd5b5,
    0x240ca1cc77ac9c65,
    0x2de92c6f592b0275,
    0x4a7484aa6ea6e483,
    0x5cb0a9dcbd41fbd4,
    0x76f988da831153b5,
    0x983e5152ee66dfab,
    0xa831c66d2db43210,
    0xb00327c898fb213f,
    0xbf597fc7beef0ee4,
    0xc6e00bf33da88fc2,
    0xd5a79147930aa725,
    0x06ca6351e003826f,
    0x142929670a0e6e70,
    0x27b70a8546d22ffc,
    0x2e1b21385c26c926,
    0x4d2c6dfc5ac42aed,
    0x53380d139d95b3df,
    0x650a73548baf63de,
    0x766a0abb3c77b2a8,
    0x81c2c92e47edaee6,
    0x92722c851482353b,
    0xa2bfe8a14cf10364,
    0xa81a664bbc423001,
    0xc24b8b70d0f89791,
    0xc76c51a30654be30,
    0xd192e819d6ef5218,
    0xd69906245565a910,
    0xf40e35855771202a,
    0x106aa07032bbd1b8,
    0x19a4c116b8d2d0c8,
    0x1e376c085141ab53,
    0x2748774cdf8eeb99,
    0x34b0bcb5e19b48a8,
    0x391c0cb3c5c95a63,
    0x4ed8aa4ae3418acb,
    0x5b9cca4f7763e373,
    0x682e6ff3d6b2b8a3,
    0x748f82ee5defb2fc,
    0x78a5636f43172f60,
    0x84c87814a1f0ab72,
    0x8cc702081a6439ec,
    0x90befffa23631e28,
    0xa4506cebde82bde9,
    0xbef9a3f7b2c67915,
    0xc67178f2e372532b,
    0xca273eceea26619c,
    0xd186b8c721c0c207,
    0xeada7dd6cde0eb1e,
    0xf57d4f7fee6ed178,
    0x06f067aa72176fba,
    0x0a637dc5a2c898a6,
    0x113f9804bef90dae,
    0x1b710b35131c471b,
    0x28db77f523047d84,
    0x32caab7b40c72493,
    0x3c9ebe0a15c9bebc,
    0x431d67c49c100d4c,
    0x4cc5d4becb3e42b6,
    0x597f299cfc657e2a,
    0x5fcb6fab3ad6faec,
    0x6c44198c4a475817,
];

#[cfg(test)]
mod tests {
    use super::*;

    /// The vector's instructions in plain Rust.
    #[derive(Clone, Copy)]
    struct Model<const LANES: usize>;

    impl<const LANES: usize> WordLanes for Model<LANES> {
        const LANES: usize = LANES;
        type W = [u64; LANES];
        fn splat(self, x: u64) -> Self::W {
            [x; LANES]
        }
        fn store(self, x: Self::W, out: &mut [u64; MAX_LANES]) {
            out[..LANES].copy_from_slice(&x);
        }
        fn load(self, blocks: &[&[u8; BLOCK]; MAX_LANES]) -> [Self::W; 16] {
            core::array::from_fn(|word| {
                core::array::from_fn(|lane| {
                    let bytes = blocks[lane][8 * word..8 * word + 8].try_into();
                    u64::from_be_bytes(bytes.expect("eight bytes"))
                })
            })
        }
        fn add(self, a: Self::W, b: Self::W) -> Self::W {
            core::array::from_fn(|i| a[i].wrapping_add(b[i]))
        }
        fn xor(self, a: Self::W, b: Self::W) -> Self::W {
            core::array::from_fn(|i| a[i] ^ b[i])
        }
        fn and(self, a: Self::W, b: Self::W) -> Self::W {
            core::array::from_fn(|i| a[i] & b[i])
        }
        fn shift_right<const N: i32>(self, x: Self::W) -> Self::W {
            x.map(|x| x >> N)
        }
        fn rotate_right<const N: i32, const M: i32>(self, x: Self::W) -> Self::W {
            assert_eq!(N + M, 64);
            x.map(|x| x.rotate_right(N as u32))
        }
    }

    /// Every length from 0 to 400 and around the multiples of a block, ragged within a call, in
    /// calls of every size up to 9, against `sha2`.
    fn against_sha2<W: WordLanes>(w: W) {
        let bytes: Vec<u8> = (0..20_000u32).map(|i| ((i * i) >> 7) as u8).collect();
        let mut lengths: Vec<usize> = (0..400).chain([1231, 1232, 1233, 5000, 19_000]).collect();
        for block in 1..12 {
            lengths.extend(block * BLOCK - 3..block * BLOCK + 4);
        }
        let r: [u8; 32] = core::array::from_fn(|i| i as u8);
        let a: [u8; 32] = core::array::from_fn(|i| 0xff - i as u8);
        for count in 1..10 {
            // Steps of 37 mix short and long messages in one call.
            for start in 0..lengths.len() {
                let preimages: Vec<Preimage<'_>> = (0..count)
                    .map(|i| {
                        let length = lengths[(start + 37 * i) % lengths.len()];
                        Preimage { r: &r, a: &a, message: &bytes[i..i + length] }
                    })
                    .collect();
                let (mut order, mut out) = (vec![0; count], vec![[0; 64]; count]);
                digests(w, &preimages, &mut order, &mut out);
                for (preimage, out) in preimages.iter().zip(&out) {
                    assert_eq!(*out, digest(preimage), "{} bytes", preimage.message.len());
                }
            }
        }
    }

    #[test]
    fn model_equals_sha2() {
        against_sha2(Model::<4>);
        against_sha2(Model::<8>);
    }

    #[cfg(target_arch = "x86_64")]
    #[test]
    fn cpu_equals_sha2() {
        if let Some(avx2) = crate::field::fma::avx2::Avx2::detect() {
            against_sha2(avx2);
        }
        if let Some(avx512) = crate::field::ifma::avx512::Avx512::detect() {
            against_sha2(avx512);
        }
    }
}
