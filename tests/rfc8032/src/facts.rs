//! What holds for a public key, a signature and k, and the rules made of it.

use num_bigint::BigUint;
use sha2::{Digest, Sha512};

use crate::curve::{BASE, L, decode};

/// k: a digest of SHA-512, as a little-endian integer, modulo L.
///
/// Section 6 reduces it. Section 5.1.7 need not: its equation is multiplied by 8, and the order of
/// \[8\]A divides L. Without that factor an A of mixed order makes the difference.
#[must_use]
pub fn reduce(digest: &[u8; 64]) -> BigUint {
    BigUint::from_bytes_le(digest) % &*L
}

/// k = SHA-512(R ‖ A ‖ M) modulo L, over the bytes of R and A as they are.
#[must_use]
pub fn challenge(r: &[u8; 32], public_key: &[u8; 32], message: &[u8]) -> BigUint {
    let hash = Sha512::new().chain_update(r).chain_update(public_key).chain_update(message);
    reduce(&hash.finalize().into())
}

/// What holds for the bytes of A or R if they decode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Encoded {
    /// Section 5.1.3 accepts the bytes.
    pub canonical: bool,
    /// \[8\]P = O.
    pub small_order: bool,
}

/// What holds for a public key A, a signature R ‖ S and k.
///
/// The rules below are made of it. "Decodes" is meant as in [`decode`], canonical or not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Facts {
    /// S < L.
    pub s_below_l: bool,
    /// A, if it decodes.
    pub a: Option<Encoded>,
    /// R, if it decodes.
    pub r: Option<Encoded>,
    /// A decodes, and the encoding of \[S\]B − \[k\]A is the bytes of R.
    pub cofactorless: bool,
    /// A and R decode, and \[8\](\[S\]B − R − \[k\]A) = O.
    pub cofactored: bool,
}

impl Facts {
    /// With the k of a message.
    #[must_use]
    pub fn new(public_key: &[u8; 32], signature: &[u8; 64], message: &[u8]) -> Self {
        let (r, _) = halves(signature);
        Self::with_challenge(public_key, signature, &challenge(r, public_key, message))
    }

    /// With this k, an integer of any size. Neither k nor S is reduced.
    #[must_use]
    pub fn with_challenge(public_key: &[u8; 32], signature: &[u8; 64], k: &BigUint) -> Self {
        let (r_bytes, s_bytes) = halves(signature);
        let s = BigUint::from_bytes_le(s_bytes);
        let a = decode(public_key);
        let r = decode(r_bytes);
        // [S]B − [k]A
        let expected = a.as_ref().map(|a| BASE.mul(&s).add(&a.point.mul(k).negate()));
        let encoded = |decoding: crate::Decoding| Encoded {
            canonical: decoding.canonical,
            small_order: decoding.point.is_small_order(),
        };
        Self {
            s_below_l: s < *L,
            cofactorless: expected.as_ref().is_some_and(|point| point.encode() == *r_bytes),
            cofactored: expected
                .zip(r.as_ref())
                .is_some_and(|(point, r)| point.add(&r.point.negate()).is_small_order()),
            a: a.map(encoded),
            r: r.map(encoded),
        }
    }

    /// The rule of section 5.1.7: A and R are canonical, S < L, and the cofactored equation.
    #[must_use]
    pub fn rfc8032(&self) -> bool {
        self.both(|point| point.canonical) && self.s_below_l && self.cofactored
    }

    /// ed25519-dalek `verify_strict`: [`Self::stdlib_compat`], and neither A nor R of small order.
    #[must_use]
    pub fn dalek_strict(&self) -> bool {
        self.stdlib_compat() && self.both(|point| !point.small_order)
    }

    /// ed25519-dalek `verify`, Go, ring: S < L, A decodes, and the cofactorless equation.
    #[must_use]
    pub fn stdlib_compat(&self) -> bool {
        self.s_below_l && self.cofactorless
    }

    /// ZIP 215: S < L, A and R decode, and the cofactored equation.
    #[must_use]
    pub fn zip215(&self) -> bool {
        self.s_below_l && self.cofactored
    }

    /// SIMD-0376 as amended: [`Self::rfc8032`], and neither A nor R of small order.
    #[must_use]
    pub fn simd0376(&self) -> bool {
        self.rfc8032() && self.both(|point| !point.small_order)
    }

    /// A and R decode, and `holds` for both.
    fn both(&self, holds: impl Fn(Encoded) -> bool) -> bool {
        [self.a, self.r].into_iter().all(|point| point.is_some_and(&holds))
    }
}

/// R and S.
fn halves(signature: &[u8; 64]) -> (&[u8; 32], &[u8; 32]) {
    let (halves, _) = signature.as_chunks();
    (&halves[0], &halves[1])
}
