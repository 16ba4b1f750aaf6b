//! Scalars modulo L = 2^252 + 27742317777372353535851937790883648493, the order of B.

/// L (RFC 8032, section 5.1), 64 bits a word, lowest first.
pub(crate) const L: [u64; 4] = [0x5812631a5cf5d3ed, 0x14def9dea2f79cd6, 0, 0x1000000000000000];

/// ⌊2^512 / L⌋, for Barrett's reduction.
const MU: [u64; 5] =
    [0xed9ce5a30a2c131b, 0x2106215d086329a7, 0xffffffffffffffeb, 0xffffffffffffffff, 0xf];

/// Where scalars are cut in two: [2^130] of a point goes with the upper part.
pub(crate) const CUT: usize = 130;

/// An integer below L, 64 bits a word, lowest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Scalar([u64; 4]);

impl Scalar {
    pub(crate) const ZERO: Self = Self([0; 4]);

    /// The scalar of a canonical encoding; `None` for integers of L and more.
    pub(crate) fn from_canonical(bytes: &[u8; 32]) -> Option<Self> {
        let words = words::<4>(bytes);
        let (_, below) = sub(&words, &L);
        below.then_some(Self(words))
    }

    /// The integer of 512 bits modulo L.
    pub(crate) fn from_wide(bytes: &[u8; 64]) -> Self {
        Self::reduce(&words(bytes))
    }

    /// The integer of 192 bits, which is below L.
    pub(crate) fn from_short(&[x0, x1, x2]: &[u64; 3]) -> Self {
        Self([x0, x1, x2, 0])
    }

    /// The integer's words, the lowest first.
    pub(crate) fn words(&self) -> &[u64; 4] {
        &self.0
    }

    /// −x
    pub(crate) fn negate(&self) -> Self {
        if self.0 == [0; 4] { *self } else { Self(sub(&L, &self.0).0) }
    }

    /// a · x for an integer a of 192 bits.
    pub(crate) fn mul_short(&self, a: &[u64; 3]) -> Self {
        let mut product = [0; 8];
        mul_add(&mut product[..7], a, &self.0);
        Self::reduce(&product)
    }

    /// The integer of 512 bits, 64 bits a word, lowest first, modulo L.
    ///
    /// Barrett (Handbook of Applied Cryptography, 14.42) with the quotient q = ⌊x · MU / 2^512⌋.
    /// From 2^512/L − 1 < MU ≤ 2^512/L follows x/L − 2 < q ≤ x/L for x < 2^512, so that x − q L
    /// lies in [0, 2L): one subtraction is left at most. Both fit 254 bits: the low four words are
    /// enough.
    pub(crate) fn reduce(x: &[u64; 8]) -> Self {
        let mut product = [0; 13];
        mul_add(&mut product, x, &MU);
        let quotient = [product[8], product[9], product[10], product[11], product[12]];
        let mut multiple = [0; 9];
        mul_add(&mut multiple, &quotient, &L);
        let (rest, _) =
            sub(&[x[0], x[1], x[2], x[3]], &[multiple[0], multiple[1], multiple[2], multiple[3]]);
        let (reduced, below) = sub(&rest, &L);
        Self(if below { rest } else { reduced })
    }
}

/// `N` words of little-endian bytes.
fn words<const N: usize>(bytes: &[u8]) -> [u64; N] {
    let mut words = [0; N];
    for (word, bytes) in words.iter_mut().zip(bytes.chunks_exact(8)) {
        let mut array = [0; 8];
        array.copy_from_slice(bytes);
        *word = u64::from_le_bytes(array);
    }
    words
}

/// a − b modulo 2^256, and whether a < b.
fn sub(a: &[u64; 4], b: &[u64; 4]) -> ([u64; 4], bool) {
    let mut out = [0; 4];
    let mut borrow = false;
    for i in 0..4 {
        let (difference, first) = a[i].overflowing_sub(b[i]);
        let (difference, second) = difference.overflowing_sub(u64::from(borrow));
        out[i] = difference;
        borrow = first | second;
    }
    (out, borrow)
}

/// out += a · b, where `out` has room for all of it.
pub(crate) fn mul_add(out: &mut [u64], a: &[u64], b: &[u64]) {
    for (i, a) in a.iter().enumerate() {
        let mut carry = 0;
        for (j, b) in b.iter().enumerate() {
            let sum = u128::from(*a) * u128::from(*b) + u128::from(out[i + j]) + carry;
            out[i + j] = sum as u64;
            carry = sum >> 64;
        }
        out[i + b.len()] = carry as u64;
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::field::tests::Random;
    use num_bigint::BigUint;

    pub(crate) fn order() -> BigUint {
        (BigUint::from(1u8) << 252) + 27742317777372353535851937790883648493u128
    }

    pub(crate) fn integer(scalar: &Scalar) -> BigUint {
        scalar.0.iter().rev().fold(BigUint::from(0u8), |sum, word| (sum << 64) + *word)
    }

    pub(crate) fn bytes<const N: usize>(x: &BigUint) -> [u8; N] {
        let mut out = [0; N];
        let bytes = x.to_bytes_le();
        out[..bytes.len()].copy_from_slice(&bytes);
        out
    }

    /// 0, L ± i, 2^i ± 1, runs of ones and zeros, random; below 2^`bits`.
    pub(crate) fn edges(bits: u64) -> Vec<BigUint> {
        let limit = BigUint::from(1u8) << bits;
        let mut out: Vec<BigUint> = vec![];
        for i in 0..20u8 {
            for multiple in 0..16u8 {
                out.push(order() * multiple + i);
                out.push(order() * (multiple + 1) - i);
            }
            out.push(&limit - 1u8 - i);
        }
        for i in 0..bits {
            let power = BigUint::from(1u8) << i;
            out.extend([power.clone(), &power - 1u8, &power + 1u8, &limit - &power]);
            for length in [2, 5, 10, 16, 60, 128] {
                let run = (BigUint::from(1u8) << length) - 1u8;
                out.push((&run << i) % &limit);
                out.push(&limit - 1u8 - ((&run << i) % &limit));
            }
            // Multiples of L and the integers around them, up to the top.
            let multiple = &power / order() * order();
            out.extend([&multiple + 1u8, multiple]);
        }
        let top = (&limit - 1u8) / order() * order();
        out.extend([&top - 1u8, top.clone(), &top + 1u8]);
        let mut random = Random::new(3);
        for _ in 0..2000 {
            let bytes: Vec<u8> = (0..bits / 8).map(|_| random.next() as u8).collect();
            out.push(BigUint::from_bytes_le(&bytes));
        }
        out.retain(|x| *x < limit);
        out
    }

    #[test]
    fn constants_are_l_and_mu() {
        assert_eq!(integer(&Scalar(L)), order());
        let mu = MU.iter().rev().fold(BigUint::from(0u8), |sum, word| (sum << 64) + *word);
        assert_eq!(mu, (BigUint::from(1u8) << 512) / order());
    }

    #[test]
    fn from_canonical_accepts_exactly_what_is_below_l() {
        for x in edges(256) {
            match Scalar::from_canonical(&bytes(&x)) {
                Some(scalar) => assert!(x < order() && integer(&scalar) == x, "{x}"),
                None => assert!(x >= order(), "{x}"),
            }
        }
    }

    #[test]
    fn from_wide_reduces_modulo_l() {
        for x in edges(512) {
            assert_eq!(integer(&Scalar::from_wide(&bytes(&x))), &x % order(), "{x}");
        }
    }
}
