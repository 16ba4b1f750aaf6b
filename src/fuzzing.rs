//! What the targets of fuzz/ reach beside the public API. No part of it.

use crate::Item;
use crate::digits::Digits;
#[cfg(target_arch = "x86_64")]
use crate::field::{Field, Fma, Ifma, Routine, fma::avx2::Avx2, ifma::avx512::Avx512};
use crate::half_size::Relation;
use crate::profile::halves;
use crate::scalar::Scalar;
use crate::sha512::{self, Preimage};
use alloc::{vec, vec::Vec};

/// Pairs of signed digits of two bits, of the scalars of a signature's own two points, and signed
/// digits of ten bits, of B's scalar; the lowest first.
pub type Pairs = (Vec<(i8, i8)>, [i16; 26]);

/// The digits of k modulo L, cut at bit 130, and of S; `None` if S is not below L.
#[must_use]
pub fn whole_digits(k: &[u8; 64], s: &[u8; 32]) -> Option<Pairs> {
    let s = Scalar::from_canonical(s)?;
    let mut digits = Digits::WHOLE;
    digits.set_whole(0, &Scalar::from_wide(k), &s);
    Some((digits.pairs(0).collect(), digits.base(0)))
}

/// The digits of ρ and τ for k modulo L, and of τ S; `None` if there are no such, or S is not below L.
#[must_use]
pub fn half_size_digits(k: &[u8; 64], s: &[u8; 32]) -> Option<Pairs> {
    let s = Scalar::from_canonical(s)?;
    let relation = Relation::find(&Scalar::from_wide(k))?;
    let mut digits = Digits::HALF_SIZE;
    digits.set_half_size(0, &relation, &s);
    Some((digits.pairs(0).collect(), digits.base(0)))
}

/// SHA-512(R ‖ A ‖ M) as the portable backend computes it.
#[must_use]
pub fn digest(item: &Item<'_>) -> [u8; 64] {
    sha512::digest(&preimage(item))
}

/// SHA-512(R ‖ A ‖ M) of each item, at most 256, as each backend computes them that hashes in lanes and
/// that the CPU has.
#[must_use]
pub fn digests(items: &[Item<'_>]) -> Vec<Vec<[u8; 64]>> {
    #[cfg_attr(not(target_arch = "x86_64"), expect(unused_mut))]
    let mut backends = Vec::new();
    #[cfg(target_arch = "x86_64")]
    {
        let preimages: Vec<_> = items.iter().map(preimage).collect();
        backends.extend(Avx2::detect().map(|token| Fma(token).call(Digests(&preimages))));
        backends.extend(Avx512::detect().map(|token| Ifma(token).call(Digests(&preimages))));
    }
    backends
}

fn preimage<'a>(item: &Item<'a>) -> Preimage<'a> {
    Preimage { r: halves(item.signature).0, a: item.public_key, message: item.message }
}

#[cfg(target_arch = "x86_64")]
struct Digests<'a>(&'a [Preimage<'a>]);

#[cfg(target_arch = "x86_64")]
macro_rules! digests {
    ($field:ident<$token:ty>) => {
        impl Routine<$field<$token>> for Digests<'_> {
            type Output = Vec<[u8; 64]>;
            #[inline(always)]
            fn run(self, $field(token): $field<$token>) -> Vec<[u8; 64]> {
                let mut digests = vec![[0; 64]; self.0.len()];
                sha512::digests(token, self.0, &mut vec![0; self.0.len()], &mut digests);
                digests
            }
        }
    };
}
#[cfg(target_arch = "x86_64")]
digests!(Fma<Avx2>);
#[cfg(target_arch = "x86_64")]
digests!(Ifma<Avx512>);
