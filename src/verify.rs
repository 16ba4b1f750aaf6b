//! Signatures into lanes, lanes into verdicts: hash → decode → double-scalar multiplication →
//! compare.

use crate::Item;
use crate::edwards::{Curve, EdwardsPoint, ProjectivePoint, compress};
use crate::field::{Field, LaneMask, MAX_LANES, TABLE_ROWS};
use crate::profile::{Profile, halves};
use crate::scalar::Scalar;
use crate::sha512::Preimage;
use crate::straus::{Digits, double_scalar_mul};
use alloc::vec;
use alloc::vec::Vec;

/// The signatures that share one inversion and are sorted by length for hashing.
pub(crate) const CHUNK: usize = 64;

/// The signatures of a chunk that the rules on bytes let pass, one after the other whatever their
/// place in the call was: the others take no lane.
pub(crate) struct Live<'a> {
    count: usize,
    items: [Item<'a>; CHUNK],
    /// Place of each in the chunk.
    places: [u8; CHUNK],
    s: [Scalar; CHUNK],
    k: [Scalar; CHUNK],
}

/// Scratch memory for hashing.
#[derive(Clone)]
pub(crate) struct HashBuffers {
    order: [u8; CHUNK],
    digests: [[u8; 64]; CHUNK],
}

impl HashBuffers {
    pub(crate) const fn new() -> Self {
        Self { order: [0; CHUNK], digests: [[0; 64]; CHUNK] }
    }
}

impl<'a> Live<'a> {
    /// Those of `items`, at most [`CHUNK`], that pass the rules on bytes. All verdicts become
    /// `false`.
    #[inline(always)]
    pub(crate) fn admit(profile: Profile, items: &[Item<'a>], verdicts: &mut [bool]) -> Self {
        const NOTHING: Item<'static> =
            Item { public_key: &[0; 32], signature: &[0; 64], message: &[] };
        let mut live = Self {
            count: 0,
            items: [NOTHING; CHUNK],
            places: [0; CHUNK],
            s: [Scalar::ZERO; CHUNK],
            k: [Scalar::ZERO; CHUNK],
        };
        verdicts.fill(false);
        for (place, item) in items.iter().enumerate() {
            if let Some(s) = profile.admit(item.public_key, item.signature) {
                live.items[live.count] = *item;
                live.places[live.count] = place as u8;
                live.s[live.count] = s;
                live.count += 1;
            }
        }
        live
    }

    pub(crate) fn item(&self, i: usize) -> &Item<'a> {
        &self.items[i]
    }

    /// k and S.
    pub(crate) fn scalars(&self, i: usize) -> (&Scalar, &Scalar) {
        (&self.k[i], &self.s[i])
    }

    pub(crate) fn len(&self) -> usize {
        self.count
    }

    /// k = SHA-512(R ‖ A ‖ M) mod L of every signature. `hash` fills in one digest for each
    /// preimage; the middle argument is its scratch memory.
    #[inline(always)]
    pub(crate) fn challenge(
        &mut self,
        buffers: &mut HashBuffers,
        hash: impl FnOnce(&[Preimage<'a>], &mut [u8], &mut [[u8; 64]]),
    ) {
        let preimages = self.items.map(|item| Preimage {
            r: halves(item.signature).0,
            a: item.public_key,
            message: item.message,
        });
        let digests = &mut buffers.digests[..self.count];
        hash(&preimages[..self.count], &mut buffers.order[..self.count], digests);
        for (k, digest) in self.k.iter_mut().zip(digests) {
            *k = Scalar::from_wide(digest);
        }
    }

    /// Sets the verdict of signature `i`.
    pub(crate) fn decide(&self, i: usize, valid: bool, verdicts: &mut [bool]) {
        verdicts[usize::from(self.places[i])] = valid;
    }
}

/// What the lanes of one field need, for up to [`CHUNK`] signatures.
pub(crate) struct Workspace<F: Field> {
    pub(crate) curve: Curve<F>,
    table: Vec<F::ProjectiveRow>,
    results: Vec<Group<F>>,
}

/// [`Field::LANES`] signatures after the multiplication.
#[derive(Clone, Copy)]
struct Group<F: Field> {
    /// Index of lane 0's signature; the following lanes have the following ones.
    first: usize,
    /// The lanes whose A decodes.
    decoded: LaneMask,
    /// [S]B − [k]A.
    point: ProjectivePoint<F>,
    /// The product of Z over all groups before this one.
    product: F::Carried,
}

impl<F: Field> Workspace<F> {
    #[inline(always)]
    pub(crate) fn new(f: F) -> Self {
        Self {
            curve: Curve::new(f),
            table: vec![F::ProjectiveRow::default(); TABLE_ROWS * F::LANES],
            results: Vec::with_capacity(CHUNK.div_ceil(F::LANES)),
        }
    }

    /// Decides signatures `from .. to` of `live`. The last group may be filled in part.
    #[inline(always)]
    pub(crate) fn decide(
        &mut self,
        f: F,
        live: &Live<'_>,
        from: usize,
        to: usize,
        verdicts: &mut [bool],
    ) {
        self.results.clear();
        let mut product = self.curve.one;
        let mut first = from;
        while first < to {
            let lanes = F::LANES.min(to - first);
            let (point, decoded) = self.multiply(f, live, first, lanes);
            self.results.push(Group { first, decoded, point, product });
            product = f.mul(&product, &point.z);
            first += lanes;
        }
        self.compare(f, live, &product, to, verdicts);
    }

    /// [S]B − [k]A for `lanes` signatures from `first` on.
    #[inline(always)]
    fn multiply(
        &mut self,
        f: F,
        live: &Live<'_>,
        first: usize,
        lanes: usize,
    ) -> (ProjectivePoint<F>, LaneMask) {
        // Lanes without a signature work on the identity's encoding and zero scalars.
        let mut encodings = [IDENTITY; MAX_LANES];
        let mut digits = Digits::ZERO;
        for (lane, encoding) in encodings.iter_mut().enumerate().take(lanes) {
            let i = first + lane;
            *encoding = *live.items[i].public_key;
            digits.set(lane, &live.k[i], &live.s[i]);
        }
        let (minus_a, decoded) = EdwardsPoint::decompress_negated(f, &self.curve, &encodings);
        let point = double_scalar_mul(f, &self.curve, &minus_a, &digits, &mut self.table);
        (point, decoded)
    }

    /// Encodes every group's points and compares them with R. One inversion serves all groups of a
    /// lane (Montgomery's trick); `product` is the product of every Z, none of which is 0.
    #[inline(always)]
    fn compare(
        &self,
        f: F,
        live: &Live<'_>,
        product: &F::Carried,
        to: usize,
        verdicts: &mut [bool],
    ) {
        let mut inverse = f.invert(product);
        for group in self.results.iter().rev() {
            let z_inverse = f.mul(&inverse, &group.product);
            inverse = f.mul(&inverse, &group.point.z);
            let x = f.mul(&group.point.x, &z_inverse);
            let y = f.mul(&group.point.y, &z_inverse);
            let encodings = compress(f, &x, &y);
            let lanes = F::LANES.min(to - group.first);
            for (lane, encoding) in encodings.iter().enumerate().take(lanes) {
                let i = group.first + lane;
                let (r, _) = halves(live.items[i].signature);
                let valid = group.decoded >> lane & 1 == 1 && encoding == r;
                live.decide(i, valid, verdicts);
            }
        }
    }
}

/// The encoding of the identity (0, 1).
pub(crate) const IDENTITY: [u8; 32] = {
    let mut bytes = [0; 32];
    bytes[0] = 1;
    bytes
};
