//! Signatures into lanes, lanes into verdicts: hash → decode → double-scalar multiplication →
//! compare.

use crate::Item;
use crate::edwards::{CompletedPoint, Curve, EdwardsPoint, ProjectivePoint, compress, zero_lanes};
use crate::field::{Field, LaneMask, MAX_LANES, Routine, TABLE_ROWS};
use crate::profile::{Equation, Profile, halves};
use crate::scalar::Scalar;
use crate::sha512::Preimage;
use crate::straus::{Digits, double_scalar_mul, fill_table};
use alloc::vec;
use alloc::vec::Vec;

/// The signatures that share one inversion and are sorted by length for hashing.
pub(crate) const CHUNK: usize = 64;

/// Where k comes from.
#[derive(Clone, Copy)]
pub(crate) enum Challenge {
    /// k = SHA-512(R ‖ A ‖ M) mod L.
    Sha512,
    /// k = M mod L, M being 64 bytes. Only tests can choose k, and with it an A or R whose discrete
    /// logarithm nobody knows.
    #[cfg(any(test, fuzzing))]
    Message,
}

/// The signatures of a chunk that the rules on bytes let pass, one after the other whatever their
/// place in the call was: the others take no lane.
pub(crate) struct Live<'a> {
    equation: Equation,
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
            equation: profile.equation(),
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

    pub(crate) fn equation(&self) -> Equation {
        self.equation
    }

    /// Sets k of every signature. `hash` fills in one digest for each preimage; the middle argument
    /// is its scratch memory.
    #[inline(always)]
    pub(crate) fn set_challenges(
        &mut self,
        challenge: Challenge,
        buffers: &mut HashBuffers,
        hash: impl FnOnce(&[Preimage<'a>], &mut [u8], &mut [[u8; 64]]),
    ) {
        let preimages = self.items.map(|item| Preimage {
            r: halves(item.signature).0,
            a: item.public_key,
            message: item.message,
        });
        let preimages = &preimages[..self.count];
        let digests = &mut buffers.digests[..self.count];
        match challenge {
            Challenge::Sha512 => hash(preimages, &mut buffers.order[..self.count], digests),
            #[cfg(any(test, fuzzing))]
            Challenge::Message => {
                for (digest, preimage) in digests.iter_mut().zip(preimages) {
                    digest.copy_from_slice(preimage.message);
                }
            }
        }
        for (k, digest) in self.k.iter_mut().zip(digests) {
            *k = Scalar::from_wide(digest);
        }
    }

    /// Sets the verdict of signature `i`.
    pub(crate) fn decide(&self, i: usize, valid: bool, verdicts: &mut [bool]) {
        verdicts[usize::from(self.places[i])] = valid;
    }
}

/// Which of a chunk's signatures have the same public key.
struct Keys {
    /// The number of different keys.
    count: usize,
    /// For each key, a signature under it.
    signature: [u8; CHUNK],
    /// For each signature, its key.
    key: [u8; CHUNK],
}

impl Keys {
    /// `items` are at most [`CHUNK`].
    fn of(items: &[Item<'_>]) -> Self {
        let mut keys = Self { count: 0, signature: [0; CHUNK], key: [0; CHUNK] };
        // Half of the bytes, to compare quickly.
        let mut halves = [0; CHUNK];
        for (i, item) in items.iter().enumerate() {
            let half = item.public_key.first_chunk().map_or(0, |half| u128::from_le_bytes(*half));
            let same = |key: &usize| {
                halves[*key] == half
                    && items[usize::from(keys.signature[*key])].public_key == item.public_key
            };
            let key = (0..keys.count).find(same).unwrap_or(keys.count);
            if key == keys.count {
                halves[key] = half;
                keys.signature[key] = i as u8;
                keys.count += 1;
            }
            keys.key[i] = key as u8;
        }
        keys
    }
}

/// What the lanes of one field need, for up to [`CHUNK`] signatures.
pub(crate) struct Workspace<F: Field> {
    pub(crate) curve: Curve<F>,
    /// A slot of [`TABLE_ROWS`] rows for each lane at least.
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
    /// With room for the tables of so many keys, or of one group if that is more. Keys are shared where
    /// that saves a group, so more than [`CHUNK`] − [`Field::LANES`] are of no use.
    pub(crate) fn new(f: F, keys: usize) -> Self {
        Self {
            curve: Curve::new(f),
            table: vec![F::ProjectiveRow::default(); TABLE_ROWS * keys.max(F::LANES)],
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
        let items = &live.items[from..to];
        let keys = Keys::of(items);
        // Equal keys share a table, if that makes fewer groups of keys than of signatures.
        let groups = keys.count.div_ceil(F::LANES);
        let share = groups < items.len().div_ceil(F::LANES)
            && groups * F::LANES * TABLE_ROWS <= self.table.len();
        let mut decoded_keys = 0u64;
        if share {
            for first in (0..keys.count).step_by(F::LANES) {
                let signatures = &keys.signature[first..keys.count];
                let keys = signatures.iter().map(|i| items[usize::from(*i)].public_key);
                decoded_keys |= u64::from(self.prepare(f, keys, first)) << first;
            }
        }
        let mut product = self.curve.one;
        let mut first = from;
        while first < to {
            let lanes = F::LANES.min(to - first);
            let mut slots = [0, 1, 2, 3, 4, 5, 6, 7];
            let decoded = if share {
                let mut decoded = 0;
                for (lane, slot) in slots.iter_mut().enumerate() {
                    // A lane without a signature takes any table; its digits are 0.
                    *slot = if lane < lanes { keys.key[first - from + lane] } else { 0 };
                    decoded |= ((decoded_keys >> *slot & 1) as LaneMask) << lane;
                }
                decoded
            } else {
                let keys = live.items[first..first + lanes].iter().map(|item| item.public_key);
                self.prepare(f, keys, 0)
            };
            let sum = self.multiply(f, live, first, lanes, &slots);
            match live.equation {
                Equation::Cofactorless => {
                    let point = sum.projective;
                    self.results.push(Group { first, decoded, point, product });
                    product = f.mul(&product, &point.z);
                }
                Equation::Cofactored => {
                    let equal = self.equals_r_up_to_torsion(f, live, first, lanes, &sum);
                    let valid = decoded & equal;
                    for lane in 0..lanes {
                        live.decide(first + lane, valid >> lane & 1 == 1, verdicts);
                    }
                }
            }
            first += lanes;
        }
        if live.equation == Equation::Cofactorless {
            self.compare(f, live, &product, to, verdicts);
        }
    }

    /// Decodes the keys of one group, fewer than its lanes maybe, and fills the slots of the table
    /// from `slot` on with multiples of −A. Returns the lanes whose A decodes.
    #[inline(always)]
    fn prepare<'k>(
        &mut self,
        f: F,
        keys: impl Iterator<Item = &'k [u8; 32]>,
        slot: usize,
    ) -> LaneMask {
        let mut encodings = [IDENTITY; MAX_LANES];
        for (encoding, key) in encodings.iter_mut().zip(keys).take(F::LANES) {
            *encoding = *key;
        }
        let (minus_a, decoded) = EdwardsPoint::decompress_negated(f, &self.curve, &encodings);
        let rows = slot * TABLE_ROWS..(slot + F::LANES) * TABLE_ROWS;
        fill_table(f, &self.curve, &minus_a, &mut self.table[rows]);
        decoded
    }

    /// [S]B − [k]A for `lanes` signatures from `first` on, A being that of the lane's slot.
    #[inline(always)]
    fn multiply(
        &self,
        f: F,
        live: &Live<'_>,
        first: usize,
        lanes: usize,
        slots: &[u8; MAX_LANES],
    ) -> EdwardsPoint<F> {
        // Lanes without a signature work on zero scalars.
        let mut digits = Digits::ZERO;
        for lane in 0..lanes {
            let i = first + lane;
            digits.set(lane, &live.k[i], &live.s[i]);
        }
        double_scalar_mul(f, &self.curve, slots, &digits, &self.table)
    }

    /// The lanes whose R decodes and equals `sum` but for a point of small order.
    #[inline(always)]
    fn equals_r_up_to_torsion(
        &self,
        f: F,
        live: &Live<'_>,
        first: usize,
        lanes: usize,
        sum: &EdwardsPoint<F>,
    ) -> LaneMask {
        let mut encodings = [IDENTITY; MAX_LANES];
        for (lane, encoding) in encodings.iter_mut().enumerate().take(lanes) {
            *encoding = *halves(live.items[first + lane].signature).0;
        }
        let (minus_r, decoded) = EdwardsPoint::decompress_negated(f, &self.curve, &encodings);
        let curve = &self.curve;
        decoded & f.call(SmallOrderSum { curve, a: sum, b: &minus_r })
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

/// The lanes in which [8](a + b) = O.
struct SmallOrderSum<'a, F: Field> {
    curve: &'a Curve<F>,
    a: &'a EdwardsPoint<F>,
    b: &'a EdwardsPoint<F>,
}

impl<F: Field> Routine<F> for SmallOrderSum<'_, F> {
    type Output = LaneMask;
    #[inline(always)]
    fn run(self, f: F) -> LaneMask {
        let Self { curve, a, b } = self;
        let mut scratch = CompletedPoint::placeholder(curve);
        scratch.set_sum(f, a, &b.niels(f, curve));
        let mut point = *a;
        point.projective.set(f, &scratch);
        point.double_times(f, &mut scratch, 3);
        // The identity is (0, 1): X = 0 and Y = Z.
        let ProjectivePoint { x, y, z } = &point.projective;
        zero_lanes(f, x) & zero_lanes(f, &f.carry_sum(&f.sub(y, z)))
    }
}

/// The encoding of the identity (0, 1).
pub(crate) const IDENTITY: [u8; 32] = {
    let mut bytes = [0; 32];
    bytes[0] = 1;
    bytes
};
