//! Signatures into lanes, lanes into verdicts: hash → decode → multiply → compare.
//!
//! There are two ways. With half-size scalars, A and R are decoded, and [τ S]B − [ρ]A − [τ]R is
//! compared with the identity. With scalars of whole size, A is decoded and [2^130]A computed from it, and
//! [S]B − [k]A is compared with R. The second way is for keys that several signatures of a chunk have, and for the
//! few k that have no short relation.

use crate::Item;
use crate::digits::Digits;
use crate::edwards::{CompletedPoint, Curve, EdwardsPoint, ProjectivePoint, compress};
use crate::field::{Field, LaneMask, MAX_LANES, Routine, TABLE_ROWS, Twice};
use crate::half_size::Relation;
use crate::profile::{Equation, Profile, halves};
use crate::scalar::{CUT, Scalar};
use crate::sha512::Preimage;
use crate::straus::{fill_table, multi_scalar_mul};
use alloc::vec;
use alloc::vec::Vec;

/// The signatures that may share keys and inversions, and are sorted by length for hashing.
pub(crate) const CHUNK: usize = 64;

/// What a call asks for, beside its signatures.
#[derive(Clone, Copy)]
pub(crate) struct Request {
    pub(crate) profile: Profile,
    pub(crate) challenge: Challenge,
    /// Whether half-size scalars may be used.
    pub(crate) half_size: bool,
}

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
    /// Of those that half-size scalars are used for.
    relations: [Option<Relation>; CHUNK],
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
            relations: [None; CHUNK],
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

    pub(crate) fn item(&self, i: u8) -> &Item<'a> {
        &self.items[usize::from(i)]
    }

    /// R of signature `i`.
    fn r(&self, i: u8) -> &'a [u8; 32] {
        halves(self.item(i).signature).0
    }

    /// Whether signature `i` takes half-size scalars.
    pub(crate) fn is_half_size(&self, i: u8) -> bool {
        self.relations[usize::from(i)].is_some()
    }

    /// Sets one lane's digits to those of signature `i`.
    pub(crate) fn set_digits(&self, i: u8, lane: usize, digits: &mut Digits) {
        let i = usize::from(i);
        match &self.relations[i] {
            Some(relation) => digits.set_half_size(lane, relation, &self.s[i]),
            None => digits.set_whole(lane, &self.k[i], &self.s[i]),
        }
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
    pub(crate) fn decide(&self, i: u8, valid: bool, verdicts: &mut [bool]) {
        verdicts[usize::from(self.places[usize::from(i)])] = valid;
    }
}

/// Which of a chunk's signatures have the same public key.
struct Keys {
    /// The number of different keys.
    count: usize,
    /// For each key, a signature under it, and how many there are.
    signature: [u8; CHUNK],
    signatures: [u8; CHUNK],
    /// For each signature, its key.
    key: [u8; CHUNK],
}

impl Keys {
    /// `items` are at most [`CHUNK`].
    fn of(items: &[Item<'_>]) -> Self {
        let zeros = [0; CHUNK];
        let mut keys = Self { count: 0, signature: zeros, signatures: zeros, key: zeros };
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
            keys.signatures[key] += 1;
            keys.key[i] = key as u8;
        }
        keys
    }
}

/// A key is shared from so many signatures of a chunk on.
const SHARED_FROM: u8 = 3;
/// The most keys of a chunk that can be shared.
pub(crate) const MAX_SHARED: usize = CHUNK / SHARED_FROM as usize;

/// What it costs to compute a group with scalars of whole size, in hundredths of a full group's cost with
/// half-size ones: docs/performance.md.
mod cost {
    /// To decode the keys and fill their tables,
    pub(super) const PREPARE: usize = 40;
    /// and to multiply and compare.
    pub(super) const MULTIPLY: usize = 74;
}

/// Which way each signature of a chunk takes.
pub(crate) struct Plan {
    /// Signatures in the order of the ways: under shared keys, with other scalars of whole size, with
    /// half-size scalars.
    order: [u8; CHUNK],
    shared_end: usize,
    whole_end: usize,
    end: usize,
    /// For each shared key, a signature under it.
    keys: [u8; MAX_SHARED],
    key_count: usize,
    /// For each signature under a shared key, the key.
    key: [u8; CHUNK],
}

impl Plan {
    /// For groups of as many lanes as `tail_costs` has entries: what so many signatures beside full groups
    /// cost, in hundredths of a group. Keys may be shared if they are `room` at most.
    pub(crate) fn new(
        live: &mut Live<'_>,
        tail_costs: &[usize],
        room: usize,
        half_size: bool,
    ) -> Self {
        let count = live.count;
        let keys = Keys::of(&live.items[..count]);
        let is_shared = |key: usize| keys.signatures[key] >= SHARED_FROM;
        let mut plan = Self {
            order: [0; CHUNK],
            shared_end: 0,
            whole_end: 0,
            end: 0,
            keys: [0; MAX_SHARED],
            key_count: 0,
            key: [0; CHUNK],
        };

        // Sharing has to pay for the groups that it fills in part, where there is no cheaper tail.
        let shared_keys = (0..keys.count).filter(|key| is_shared(*key));
        let (key_count, signatures) = shared_keys
            .clone()
            .fold((0, 0), |(n, sum), key| (n + 1, sum + usize::from(keys.signatures[key])));
        let lanes = tail_costs.len();
        let groups = |n: usize| n.div_ceil(lanes);
        let cost = groups(key_count) * cost::PREPARE + groups(signatures) * cost::MULTIPLY;
        let alone = |n: usize| {
            let groups = n / lanes * 100 + tail_costs[n % lanes];
            if half_size { groups } else { groups * (cost::PREPARE + cost::MULTIPLY) / 100 }
        };
        let saved = alone(count).saturating_sub(alone(count - signatures));
        let mut slot = [None; CHUNK];
        if key_count <= room && cost < saved {
            for key in shared_keys {
                slot[key] = Some(plan.key_count as u8);
                plan.keys[plan.key_count] = keys.signature[key];
                plan.key_count += 1;
            }
        }

        for i in 0..count {
            if let Some(slot) = slot[usize::from(keys.key[i])] {
                plan.key[i] = slot;
                plan.push(i);
            } else if half_size {
                live.relations[i] = Relation::find(&live.k[i]);
            }
        }
        plan.shared_end = plan.end;
        for half_size in [false, true] {
            for i in 0..count {
                let shared = slot[usize::from(keys.key[i])].is_some();
                if !shared && live.relations[i].is_some() == half_size {
                    plan.push(i);
                }
            }
            if !half_size {
                plan.whole_end = plan.end;
            }
        }
        plan
    }

    fn push(&mut self, i: usize) {
        self.order[self.end] = i as u8;
        self.end += 1;
    }

    /// How many signatures are under shared keys.
    pub(crate) fn shared(&self) -> usize {
        self.shared_end
    }

    /// The signatures that have keys of their own: with scalars of whole size, and with half-size ones.
    pub(crate) fn unshared(&self) -> [&[u8]; 2] {
        let (whole, half_size) = (self.shared_end..self.whole_end, self.whole_end..self.end);
        [&self.order[whole], &self.order[half_size]]
    }
}

/// The slots of lanes that have a block for themselves.
const OWN_SLOTS: [u8; MAX_LANES] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15];

/// What the lanes of one field need, for up to [`CHUNK`] signatures.
pub(crate) struct Workspace<F: Field> {
    pub(crate) curve: Curve<F>,
    /// For A and R decoded side by side.
    twice_curve: Curve<Twice<F>>,
    /// Blocks of a slot for each lane.
    table: Vec<F::ProjectiveRow>,
    results: Vec<Group<F>>,
}

/// Up to [`Field::LANES`] signatures after a multiplication by scalars of whole size.
#[derive(Clone, Copy)]
struct Group<F: Field> {
    signatures: [u8; MAX_LANES],
    lanes: usize,
    /// The lanes whose A decodes.
    decoded: LaneMask,
    /// [S]B − [k]A.
    point: ProjectivePoint<F>,
    /// The product of Z over all groups before this one.
    product: F::Carried,
}

impl<F: Field> Workspace<F> {
    /// With room for the tables of so many shared keys.
    #[inline(always)]
    pub(crate) fn new(f: F, keys: usize) -> Self {
        let blocks = keys.div_ceil(F::LANES).max(1);
        Self {
            curve: Curve::new(f),
            twice_curve: Curve::new(Twice(f)),
            table: vec![F::ProjectiveRow::default(); blocks * Self::BLOCK_ROWS],
            results: Vec::with_capacity(CHUNK.div_ceil(F::LANES)),
        }
    }

    const BLOCK_ROWS: usize = F::LANES * TABLE_ROWS;

    /// Decides the signatures under shared keys.
    #[inline(always)]
    pub(crate) fn decide_shared(
        &mut self,
        f: F,
        live: &Live<'_>,
        plan: &Plan,
        verdicts: &mut [bool],
    ) {
        let mut decoded_keys = 0u64;
        for (block, keys) in plan.keys[..plan.key_count].chunks(F::LANES).enumerate() {
            decoded_keys |= u64::from(self.prepare(f, live, keys, block)) << (block * F::LANES);
        }
        let shared = &plan.order[..plan.shared_end];
        self.decide_whole(f, live, shared, Some((plan, decoded_keys)), verdicts);
    }

    /// Decides `signatures`, of which all or none take half-size scalars. The last group may be filled in
    /// part.
    #[inline(always)]
    pub(crate) fn decide(
        &mut self,
        f: F,
        live: &Live<'_>,
        signatures: &[u8],
        verdicts: &mut [bool],
    ) {
        if signatures.first().is_some_and(|i| live.is_half_size(*i)) {
            for signatures in signatures.chunks(F::LANES) {
                self.decide_half_size(f, live, signatures, verdicts);
            }
        } else {
            self.decide_whole(f, live, signatures, None, verdicts);
        }
    }

    /// −P of the encodings, one to a lane, the other lanes taking the identity; and the lanes that have a
    /// point.
    #[inline(always)]
    fn decode<'a>(
        &self,
        f: F,
        encodings: impl Iterator<Item = &'a [u8; 32]>,
    ) -> (EdwardsPoint<F>, LaneMask) {
        let mut lanes = [IDENTITY; MAX_LANES];
        for (lane, encoding) in lanes.iter_mut().zip(encodings) {
            *lane = *encoding;
        }
        EdwardsPoint::decompress_negated(f, &self.curve, &lanes)
    }

    /// −A and −R of `signatures`, and the lanes that have both.
    #[inline(always)]
    fn decode_both(
        &self,
        f: F,
        live: &Live<'_>,
        signatures: &[u8],
    ) -> ([EdwardsPoint<F>; 2], LaneMask) {
        let keys = signatures.iter().map(|&i| live.item(i).public_key);
        let rs = signatures.iter().map(|&i| live.r(i));
        if !F::SQUARES_SIDE_BY_SIDE {
            let ((minus_a, a_decoded), (minus_r, r_decoded)) =
                (self.decode(f, keys), self.decode(f, rs));
            return ([minus_a, minus_r], a_decoded & r_decoded);
        }
        let mut encodings = [IDENTITY; MAX_LANES];
        let (first, second) = encodings.split_at_mut(F::LANES);
        for ((first, second), (key, r)) in first.iter_mut().zip(second).zip(keys.zip(rs)) {
            (*first, *second) = (*key, *r);
        }
        let (points, decoded) =
            EdwardsPoint::decompress_both_negated(f, &self.twice_curve, &encodings);
        (points, decoded & decoded >> F::LANES)
    }

    /// Fills a block with multiples of −A and [2^130](−A), A being the keys of `signatures`, as many as there
    /// are lanes at most. Returns the lanes whose A decodes.
    #[inline(always)]
    fn prepare(&mut self, f: F, live: &Live<'_>, signatures: &[u8], block: usize) -> LaneMask {
        let keys = signatures.iter().map(|&i| live.item(i).public_key);
        let (minus_a, decoded) = self.decode(f, keys);
        let mut upper = minus_a;
        upper.double_times(f, &mut CompletedPoint::placeholder(&self.curve), CUT);
        let block = &mut self.table[block * Self::BLOCK_ROWS..][..Self::BLOCK_ROWS];
        fill_table(f, &self.curve, [&minus_a, &upper], block);
        decoded
    }

    /// [S]B − [k]A of up to [`Field::LANES`] `signatures`, or [τ S]B − [ρ]A − [τ]R, if they take half-size
    /// scalars. `slots` are those of the lanes.
    #[inline(always)]
    fn multiply(
        &self,
        f: F,
        live: &Live<'_>,
        signatures: &[u8],
        slots: &[u8; MAX_LANES],
        mut digits: Digits,
    ) -> EdwardsPoint<F> {
        for (lane, &i) in signatures.iter().enumerate() {
            live.set_digits(i, lane, &mut digits);
        }
        multi_scalar_mul(f, &self.curve, slots, &digits, &self.table)
    }

    /// Decides up to [`Field::LANES`] signatures with half-size scalars.
    #[inline(always)]
    fn decide_half_size(
        &mut self,
        f: F,
        live: &Live<'_>,
        signatures: &[u8],
        verdicts: &mut [bool],
    ) {
        let ([minus_a, minus_r], decoded) = self.decode_both(f, live, signatures);
        fill_table(f, &self.curve, [&minus_a, &minus_r], &mut self.table[..Self::BLOCK_ROWS]);
        let sum = self.multiply(f, live, signatures, &OWN_SLOTS, Digits::HALF_SIZE);
        let (curve, equation) = (&self.curve, live.equation);
        let holds = f.call(Holds { curve, equation, sum, minus_r: None });
        let valid = decoded & holds;
        for (lane, &i) in signatures.iter().enumerate() {
            live.decide(i, valid >> lane & 1 == 1, verdicts);
        }
    }

    /// Decides signatures with scalars of whole size. `shared` are the shared keys that they are under, whose
    /// tables are filled, and a bit for each that decodes.
    #[inline(always)]
    fn decide_whole(
        &mut self,
        f: F,
        live: &Live<'_>,
        signatures: &[u8],
        shared: Option<(&Plan, u64)>,
        verdicts: &mut [bool],
    ) {
        if signatures.is_empty() {
            return;
        }
        self.results.clear();
        let mut product = self.curve.one;
        for signatures in signatures.chunks(F::LANES) {
            let mut slots = OWN_SLOTS;
            let decoded = if let Some((plan, decoded_keys)) = shared {
                let mut decoded = 0;
                for (lane, slot) in slots.iter_mut().enumerate() {
                    // A lane without a signature takes any table; its digits are 0.
                    *slot = signatures.get(lane).map_or(0, |i| plan.key[usize::from(*i)]);
                    decoded |= ((decoded_keys >> *slot & 1) as LaneMask) << lane;
                }
                decoded
            } else {
                self.prepare(f, live, signatures, 0)
            };
            let sum = self.multiply(f, live, signatures, &slots, Digits::WHOLE);
            match live.equation {
                Equation::Cofactorless => {
                    let point = sum.projective;
                    let mut group = Group {
                        signatures: [0; MAX_LANES],
                        lanes: signatures.len(),
                        decoded,
                        point,
                        product,
                    };
                    group.signatures[..group.lanes].copy_from_slice(signatures);
                    self.results.push(group);
                    product = f.mul(&product, &point.z);
                }
                Equation::Cofactored => {
                    let (minus_r, r_decoded) =
                        self.decode(f, signatures.iter().map(|&i| live.r(i)));
                    let (curve, equation) = (&self.curve, live.equation);
                    let holds = f.call(Holds { curve, equation, sum, minus_r: Some(&minus_r) });
                    let valid = decoded & r_decoded & holds;
                    for (lane, &i) in signatures.iter().enumerate() {
                        live.decide(i, valid >> lane & 1 == 1, verdicts);
                    }
                }
            }
        }
        if live.equation == Equation::Cofactorless {
            self.compare(f, live, &product, verdicts);
        }
    }

    /// Encodes every group's points and compares them with R. One inversion serves all groups of a
    /// lane (Montgomery's trick); `product` is the product of every Z, none of which is 0.
    #[inline(always)]
    fn compare(&self, f: F, live: &Live<'_>, product: &F::Carried, verdicts: &mut [bool]) {
        let mut inverse = f.invert(product);
        for group in self.results.iter().rev() {
            let z_inverse = f.mul(&inverse, &group.product);
            inverse = f.mul(&inverse, &group.point.z);
            let x = f.mul(&group.point.x, &z_inverse);
            let y = f.mul(&group.point.y, &z_inverse);
            let encodings = compress(f, &x, &y);
            let signatures = &group.signatures[..group.lanes];
            for (lane, (&i, encoding)) in signatures.iter().zip(&encodings).enumerate() {
                let valid = group.decoded >> lane & 1 == 1 && encoding == live.r(i);
                live.decide(i, valid, verdicts);
            }
        }
    }
}

/// The lanes in which the difference of the equation's two sides is O, or of small order if that is
/// enough.
struct Holds<'a, F: Field> {
    curve: &'a Curve<F>,
    equation: Equation,
    /// [S]B − [k]A, or the whole difference.
    sum: EdwardsPoint<F>,
    /// What is left to be added, if anything is.
    minus_r: Option<&'a EdwardsPoint<F>>,
}

impl<F: Field> Routine<F> for Holds<'_, F> {
    type Output = LaneMask;
    #[inline(always)]
    fn run(self, f: F) -> LaneMask {
        let Self { curve, equation, sum: mut point, minus_r } = self;
        let mut scratch = CompletedPoint::placeholder(curve);
        if let Some(minus_r) = minus_r {
            scratch.set_sum(f, &point, &minus_r.niels(f, curve));
            point.projective.set(f, &scratch);
        }
        if equation == Equation::Cofactored {
            point.double_times(f, &mut scratch, 3);
        }
        // The identity is (0, 1): X = 0 and Y = Z.
        let ProjectivePoint { x, y, z } = &point.projective;
        f.zero_and_odd(x).0 & f.zero_and_odd(&f.carry_sum(&f.sub(y, z))).0
    }
}

/// The encoding of the identity (0, 1).
pub(crate) const IDENTITY: [u8; 32] = {
    let mut bytes = [0; 32];
    bytes[0] = 1;
    bytes
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::TAIL_COSTS;
    use std::vec::Vec;

    /// The plan for signatures under these keys, and k = L − 1, which has no relation, for those named.
    fn plan(keys: &[u8], without_relation: &[usize], room: usize, half_size: bool) -> Plan {
        plan_for(&TAIL_COSTS, keys, without_relation, room, half_size)
    }

    fn plan_for(
        tail_costs: &[usize],
        keys: &[u8],
        without_relation: &[usize],
        room: usize,
        half_size: bool,
    ) -> Plan {
        let keys: Vec<[u8; 32]> = keys.iter().map(|key| [*key; 32]).collect();
        let items: Vec<Item<'_>> = keys
            .iter()
            .map(|public_key| Item { public_key, signature: &[0; 64], message: &[] })
            .collect();
        let mut verdicts = vec![true; items.len()];
        let mut live = Live::admit(Profile::Zip215, &items, &mut verdicts);
        for i in without_relation {
            live.k[*i] = Scalar::from_short(&[1, 0, 0]).negate();
        }
        let plan = Plan::new(&mut live, tail_costs, room, half_size);
        let mut order = plan.order[..plan.end].to_vec();
        order.sort_unstable();
        assert!(order.into_iter().eq(0..items.len() as u8), "each signature goes one way");
        for &i in &plan.order[..plan.shared_end] {
            let key = plan.keys[usize::from(plan.key[usize::from(i)])];
            assert_eq!(items[usize::from(i)].public_key, items[usize::from(key)].public_key);
        }
        let [whole, rest] = plan.unshared();
        assert!(whole.iter().all(|i| !live.is_half_size(*i)));
        assert!(rest.iter().all(|i| live.is_half_size(*i)));
        plan
    }

    /// How many signatures share keys, take scalars of whole size otherwise, take half-size ones.
    fn ways(plan: &Plan) -> [usize; 3] {
        let [whole, half_size] = plan.unshared();
        [plan.shared_end, whole.len(), half_size.len()]
    }

    #[test]
    fn keys_are_shared_where_that_pays() {
        let distinct: Vec<u8> = (2..66).collect();
        let repeated = |keys: u8, count: u8| (0..count).map(|i| 2 + i % keys).collect::<Vec<_>>();
        assert_eq!(ways(&plan(&distinct, &[], MAX_SHARED, true)), [0, 0, 64]);
        assert_eq!(ways(&plan(&distinct, &[], MAX_SHARED, false)), [0, 64, 0]);
        assert_eq!(ways(&plan(&distinct, &[5, 63], MAX_SHARED, true)), [0, 2, 62]);
        assert_eq!(ways(&plan(&[], &[], MAX_SHARED, true)), [0, 0, 0]);
        for (keys, count) in [(1, 64), (8, 64), (21, 64), (1, 16), (1, 24)] {
            let all = usize::from(count);
            assert_eq!(ways(&plan(&repeated(keys, count), &[0], MAX_SHARED, true)), [all, 0, 0]);
            assert_eq!(ways(&plan(&repeated(keys, count), &[], MAX_SHARED, false)), [all, 0, 0]);
            assert_eq!(ways(&plan(&repeated(keys, count), &[0], 0, true)), [0, 1, all - 1]);
        }
        // Those of the self-test, on every backend.
        for (tail_costs, keys) in [(&TAIL_COSTS[..], 4), (&TAIL_COSTS, 5), (&[0], 4), (&[0], 5)] {
            let plan = plan_for(tail_costs, &repeated(keys, 16), &[], MAX_SHARED, true);
            assert_eq!(ways(&plan), [16, 0, 0]);
        }
        // No gain: two signatures to a key, one group only, or a few beside full groups.
        assert_eq!(ways(&plan(&repeated(32, 64), &[], MAX_SHARED, true)), [0, 0, 64]);
        for count in [3, 8, 9, 10, 13, 17] {
            let all = usize::from(count);
            assert_eq!(ways(&plan(&repeated(1, count), &[], MAX_SHARED, true)), [0, 0, all]);
        }
        // Some of each.
        let mixed: Vec<u8> = distinct[4..36].iter().copied().chain(repeated(4, 32)).collect();
        let mixed = plan(&mixed, &[20], MAX_SHARED, true);
        assert_eq!(ways(&mixed), [32, 1, 31]);
        assert_eq!(mixed.key_count, 4);
    }
}
