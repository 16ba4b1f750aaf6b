//! What the targets of fuzz/ reach beside the public API. No part of it.

use crate::Item;
#[cfg(target_arch = "x86_64")]
use crate::field::{Field, Fma, Routine, fma::avx2::Avx2};
use crate::half_size;
use crate::profile::halves;
use crate::scalar::{Scalar, signed_digits};
use crate::sha512::{self, Preimage};
use alloc::{vec, vec::Vec};

/// A scalar in signed digits of two bits and of ten.
pub type Digits = ([i16; 127], [i16; 26]);

/// The digits of an integer below L; `None` for the others.
#[must_use]
pub fn canonical_digits(bytes: &[u8; 32]) -> Option<Digits> {
    Scalar::from_canonical(bytes).map(digits)
}

/// The digits of the integer modulo L.
#[must_use]
pub fn wide_digits(bytes: &[u8; 64]) -> Digits {
    digits(Scalar::from_wide(bytes))
}

/// τ, |ρ| and whether ρ is negative; 64 bits a word, lowest first.
pub type Relation = ([u64; 3], [u64; 3], bool);

/// The half-size scalars for the integer modulo L, if there are any.
#[must_use]
pub fn relation(bytes: &[u8; 64]) -> Option<Relation> {
    let relation = half_size::Relation::find(&Scalar::from_wide(bytes))?;
    let (rho, rho_is_negative) = relation.rho();
    Some((*relation.tau(), *rho, rho_is_negative))
}

fn digits(scalar: Scalar) -> Digits {
    (signed_digits::<2, 127>(scalar.words()), signed_digits::<10, 26>(scalar.words()))
}

/// SHA-512(R ‖ A ‖ M) as the portable backend computes it.
#[must_use]
pub fn digest(item: &Item<'_>) -> [u8; 64] {
    sha512::digest(&preimage(item))
}

/// SHA-512(R ‖ A ‖ M) of each item, at most 256, as the AVX2 backend computes them, in lanes; `None`
/// where the CPU has no AVX2.
#[must_use]
pub fn digests(items: &[Item<'_>]) -> Option<Vec<[u8; 64]>> {
    #[cfg(target_arch = "x86_64")]
    if let Some(token) = Avx2::detect() {
        let preimages: Vec<_> = items.iter().map(preimage).collect();
        return Some(Fma(token).call(Digests(&preimages)));
    }
    None
}

fn preimage<'a>(item: &Item<'a>) -> Preimage<'a> {
    Preimage { r: halves(item.signature).0, a: item.public_key, message: item.message }
}

#[cfg(target_arch = "x86_64")]
struct Digests<'a>(&'a [Preimage<'a>]);

#[cfg(target_arch = "x86_64")]
impl Routine<Fma<Avx2>> for Digests<'_> {
    type Output = Vec<[u8; 64]>;
    #[inline(always)]
    fn run(self, Fma(token): Fma<Avx2>) -> Vec<[u8; 64]> {
        let mut digests = vec![[0; 64]; self.0.len()];
        sha512::digests(token, self.0, &mut vec![0; self.0.len()], &mut digests);
        digests
    }
}
