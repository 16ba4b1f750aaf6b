//! Half-size scalars: τ and ρ of about half the bits of k with τ k = ρ modulo 8L, so that
//! [τ S]B − [ρ]A − [τ]R takes the place of [S]B − [k]A − R, at half the doublings.
//!
//! The idea is Antipa, Brown, Gallant, Lambert, Struik and Vanstone's (2005, "Accelerated
//! Verification of ECDSA Signatures"), the search Lehmer's (Knuth, The Art of Computer Programming,
//! volume 2, section 4.5.2, algorithm L). Why the verdict does not change: docs/predicate.md. All of it rests on what
//! [`Relation::holds`] checks of every relation before it is used, and nothing on how it was found.

use crate::scalar::{L, Scalar, mul_add};

/// τ and |ρ| are below 2^131. About one scalar in a thousand has no such relation.
pub(crate) const BITS: usize = 131;

/// 8L, the order of the curve.
const EIGHT_L: [u64; 4] =
    [L[0] << 3, L[1] << 3 | L[0] >> 61, L[2] << 3 | L[1] >> 61, L[3] << 3 | L[2] >> 61];

/// τ k = ρ modulo 8L for one k. τ is odd, τ and |ρ| are below 2^[`BITS`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Relation {
    tau: [u64; 3],
    /// |ρ|
    rho: [u64; 3],
    rho_is_negative: bool,
}

/// A remainder r of Euclid's algorithm for 8L and k, and |t| with r = ±t k modulo 8L.
#[derive(Clone, Copy)]
struct Row {
    r: [u64; 4],
    t: [u64; 3],
}

/// Two remainders that follow each other.
#[derive(Clone, Copy)]
struct Remainders {
    a: Row,
    b: Row,
    /// Whether b.r = −b.t k; then a.r = a.t k. Otherwise it is the other way around.
    negative: bool,
}

impl Relation {
    /// A relation for k, if one is found.
    pub(crate) fn find(k: &Scalar) -> Option<Self> {
        Self::search(k).filter(|relation| relation.holds(k))
    }

    /// Whether the relation is what it should be.
    fn holds(&self, k: &Scalar) -> bool {
        let Self { tau, rho, rho_is_negative } = self;
        let short = |x: &[u64; 3]| x[2] >> (BITS - 128) == 0;
        // Modulo 8 and modulo L, which have no common factor.
        let mut product = [0; 8];
        mul_add(&mut product[..7], tau, k.words());
        let low = if *rho_is_negative { rho[0].wrapping_neg() } else { rho[0] };
        let rho = Scalar::from_short(rho);
        let rho = if *rho_is_negative { rho.negate() } else { rho };
        tau[0] & 1 == 1
            && short(tau)
            && short(&self.rho)
            && product[0] & 7 == low & 7
            && Scalar::reduce(&product) == rho
    }

    /// Euclid's algorithm until the remainders have half the bits, by Lehmer's method: the quotients
    /// of a round are those of the 64 leading bits.
    fn search(k: &Scalar) -> Option<Self> {
        let mut remainders = Remainders::new(k);
        loop {
            let steps = remainders.window().steps();
            if steps.count == 0 {
                return remainders.relation();
            }
            remainders.apply(&steps);
        }
    }

    /// τ
    pub(crate) fn tau(&self) -> &[u64; 3] {
        &self.tau
    }
    /// ρ: its absolute value, and whether it is negative.
    pub(crate) fn rho(&self) -> (&[u64; 3], bool) {
        (&self.rho, self.rho_is_negative)
    }
}

impl Remainders {
    fn new(k: &Scalar) -> Self {
        let a = Row { r: EIGHT_L, t: [0; 3] };
        let b = Row { r: *k.words(), t: [1, 0, 0] };
        Self { a, b, negative: false }
    }

    #[inline(always)]
    fn window(&self) -> Window {
        Window::of(&self.a.r, &self.b.r)
    }

    /// Goes on by what was found for the window.
    #[inline(always)]
    fn apply(&mut self, steps: &Steps) {
        let Self { a, b, .. } = *self;
        let odd = steps.count % 2 == 1;
        let (row_a, row_b) = (cofactors(steps.row_a), cofactors(steps.row_b));
        self.a = Row { r: difference(&a.r, &b.r, row_a, odd), t: sum(&a.t, &b.t, row_a) };
        self.b = Row { r: difference(&a.r, &b.r, row_b, !odd), t: sum(&a.t, &b.t, row_b) };
        self.negative ^= odd;
    }

    /// a − multiple · b, which is not negative.
    fn subtract(&self, multiple: u64) -> Row {
        let row = (1, multiple);
        let Self { a, b, .. } = self;
        Row { r: difference(&a.r, &b.r, row, false), t: sum(&a.t, &b.t, row) }
    }

    /// The relation of the first remainder with half the bits or, if its τ is even, the best one next to it.
    fn relation(mut self) -> Option<Relation> {
        // One more step if b still has more than half the bits.
        if self.b.r[3] | self.b.r[2] != 0 {
            let window = self.window();
            // At most the quotient, so that the remainder is not negative.
            let quotient = window.a / window.b.checked_add(1)?;
            let row = self.subtract(below_2_32(quotient)?);
            self = Self { a: self.b, b: row, negative: !self.negative };
        }
        let Self { a, mut b, mut negative } = self;
        // If b's τ is even, that of a and of a minus any multiple of b is odd: neighbours have no common
        // factor. The multiple is the one that leaves r and t about equal.
        if b.t[0] & 1 == 0 {
            let high = |x: &[u64]| x[1] >> 32 | x[2] << 32;
            if a.r[3] | a.r[2] >> 32 | b.r[3] | b.r[2] | b.t[2] != 0 {
                return None;
            }
            let excess = high(&a.r).saturating_sub(high(&a.t));
            let multiple = excess / (high(&b.r) + high(&b.t) + 1);
            b = self.subtract(below_2_32(multiple)?);
            negative = !negative;
        }
        let [r0, r1, r2, r3] = b.r;
        (r3 == 0).then_some(Relation { tau: b.t, rho: [r0, r1, r2], rho_is_negative: negative })
    }
}

/// x, if it is below 2^32.
fn below_2_32(x: u64) -> Option<u64> {
    (x >> 32 == 0).then_some(x)
}

/// The 64 leading bits of two remainders: ⌊r / 2^shift⌋, below 2^64 both.
struct Window {
    a: u64,
    b: u64,
    /// No remainder below it is taken: 2^32, or 2^128 of the whole remainder, whichever is more.
    least: u64,
}

impl Window {
    #[inline(always)]
    fn of(a: &[u64; 4], b: &[u64; 4]) -> Self {
        let either = [a[1] | b[1], a[2] | b[2], a[3] | b[3]];
        // The highest word in use, which is word 1 at least, and its leading zeros.
        let (word, zeros) = match either {
            [_, _, high] if high != 0 => (3, high.leading_zeros()),
            [_, high, _] if high != 0 => (2, high.leading_zeros()),
            [high, _, _] => (1, (high | 1).leading_zeros()),
        };
        let top = |x: &[u64; 4]| x[word] << zeros | (x[word - 1] >> 1) >> (63 - zeros);
        // Of word 2, the lowest bit is bit `zeros` of the window.
        let least = match word {
            3 => 1 << 32,
            2 => 1 << zeros.max(32),
            _ => u64::MAX,
        };
        Self { a: top(a), b: top(b), least }
    }

    /// The steps of Euclid's algorithm whose remainder is not below `least`.
    #[inline(always)]
    fn steps(&self) -> Steps {
        let Self { a, b, least } = *self;
        let mut steps = Steps { a, b, count: 0, row_a: 1 << 32, row_b: 1 };
        while steps.step(least) {}
        steps
    }
}

/// The last two remainders of a window, a before b, and (u, v) of each: ±(u a − v b) of the window's own
/// a and b, the upper sign for the first after an even number of steps and for the second after an
/// odd one.
///
/// u and v of a remainder are at most 2^64 divided by the remainder before, which is at least
/// 2^32. So they are below 2^32; and since the bits that the window lacks change the remainder by
/// less than 2^32 of its units, the exact one is positive too.
#[derive(Clone, Copy)]
struct Steps {
    a: u64,
    b: u64,
    count: u32,
    /// u 2^32 + v of a.
    row_a: u64,
    /// u 2^32 + v of b.
    row_b: u64,
}

impl Steps {
    /// One step, if its remainder is not below `least`, which is 2^32 at least.
    #[inline(always)]
    fn step(&mut self, least: u64) -> bool {
        let Self { a, b, count, row_a, row_b } = *self;
        if b < least {
            return false;
        }
        let quotient = a / b;
        let rest = a % b;
        if rest < least {
            return false;
        }
        let row = row_a + quotient * row_b;
        *self = Self { a: b, b: rest, count: count + 1, row_a: row_b, row_b: row };
        true
    }
}

/// u and v of u 2^32 + v.
fn cofactors(row: u64) -> (u64, u64) {
    (row >> 32, row & 0xffff_ffff)
}

/// u a − v b, or v b − u a if `reversed`: positive, with u and v below 2^32.
#[inline(always)]
fn difference(a: &[u64; 4], b: &[u64; 4], (u, v): (u64, u64), reversed: bool) -> [u64; 4] {
    let (a, b, u, v) = if reversed { (b, a, v, u) } else { (a, b, u, v) };
    let mut out = [0; 4];
    let mut carry = 0;
    for ((out, a), b) in out.iter_mut().zip(a).zip(b) {
        let wide = carry + i128::from(*a) * i128::from(u) - i128::from(*b) * i128::from(v);
        *out = wide as u64;
        carry = wide >> 64;
    }
    debug_assert_eq!(carry, 0);
    out
}

/// u a + v b, below 2^192.
#[inline(always)]
fn sum(a: &[u64; 3], b: &[u64; 3], (u, v): (u64, u64)) -> [u64; 3] {
    let mut out = [0; 3];
    let mut carry = 0;
    for ((out, a), b) in out.iter_mut().zip(a).zip(b) {
        let wide = carry + u128::from(*a) * u128::from(u) + u128::from(*b) * u128::from(v);
        *out = wide as u64;
        carry = wide >> 64;
    }
    debug_assert_eq!(carry, 0);
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::field::tests::Random;
    use crate::scalar::tests::{bytes, edges, integer, order};
    use num_bigint::{BigInt, BigUint, Sign};
    use std::vec::Vec;

    fn short(words: &[u64; 3]) -> BigUint {
        words.iter().rev().fold(BigUint::ZERO, |sum, word| (sum << 64) + *word)
    }

    impl Relation {
        /// τ and ρ.
        pub(crate) fn integers(&self) -> [BigInt; 2] {
            let (rho, negative) = self.rho();
            let [tau, rho] = [self.tau(), rho].map(|words| BigInt::from(short(words)));
            [tau, if negative { -rho } else { rho }]
        }
    }

    /// By big integers. Returns the bits of the longer one of τ and ρ.
    fn check(k: &Scalar) -> Option<u64> {
        let relation = Relation::search(k)?;
        let [tau, rho] = relation.integers();
        let bits = tau.bits().max(rho.bits());
        let difference = &tau * BigInt::from(integer(k)) - rho;
        let holds = difference % BigInt::from(order() * 8u8) == BigInt::ZERO;
        assert!(holds, "{k:?}: {relation:?}");
        assert_eq!(
            relation.holds(k),
            tau.bit(0) && tau.sign() == Sign::Plus && bits <= BITS as u64,
            "{k:?}: {relation:?}"
        );
        assert_eq!(Relation::find(k), relation.holds(k).then_some(relation));
        relation.holds(k).then_some(bits)
    }

    /// τ, ρ below 2^132, τ odd.
    fn random(random: &mut Random) -> Relation {
        let mut short = || [random.next(), random.next(), random.next() & 15];
        let (mut tau, rho) = (short(), short());
        tau[0] |= 1;
        Relation { tau, rho, rho_is_negative: random.next() & 1 == 1 }
    }

    /// A relation modulo L that is one modulo 8 or is not, and that is short enough or is not.
    #[test]
    fn relations_hold_modulo_8_l() {
        let mut source = Random::new(8);
        let mut held = 0;
        for _ in 0..20_000 {
            let relation = random(&mut source);
            let [tau, rho] = relation.integers();
            let l = BigInt::from(order());
            // k = ρ/τ, by Fermat.
            let inverse = tau.modpow(&(&l - 2), &l);
            let k = ((&rho * inverse) % &l + &l) % &l;
            let is_short = |x: &BigInt| x.bits() <= BITS as u64;
            let holds = (&tau * &k - &rho) % 8 == BigInt::ZERO && is_short(&tau) && is_short(&rho);
            let k = Scalar::from_wide(&bytes(k.magnitude()));
            assert_eq!(relation.holds(&k), holds, "{k:?}: {relation:?}");
            held += usize::from(holds);
        }
        assert!((400..900).contains(&held), "{held}");
    }

    /// One bit or one sign away from a relation there is none; nor is one that is even or too long.
    #[test]
    fn only_relations_hold() {
        let mut source = Random::new(9);
        for _ in 0..200 {
            let k = Scalar::reduce(&core::array::from_fn(|_| source.next()));
            let Some(found) = Relation::find(&k) else { continue };
            for bit in 0..BITS + 2 {
                let (word, mask) = (bit / 64, 1 << (bit % 64));
                let mut other = found;
                other.tau[word] ^= mask;
                assert!(!other.holds(&k), "bit {bit} of tau");
                let mut other = found;
                other.rho[word] ^= mask;
                assert!(!other.holds(&k), "bit {bit} of rho");
            }
            assert!(!Relation { rho_is_negative: !found.rho_is_negative, ..found }.holds(&k));
        }
        // Right, but even or too long, for small k.
        for (k, tau) in [(3, 2), (5, 6)] {
            let relation =
                Relation { tau: [tau, 0, 0], rho: [k * tau, 0, 0], rho_is_negative: false };
            assert!(!relation.holds(&Scalar::from_short(&[k, 0, 0])));
        }
        for (k, tau, rho) in [(1, [1, 0, 8], [1, 0, 8]), (2, [1, 0, 4], [2, 0, 8])] {
            let relation = Relation { tau, rho, rho_is_negative: false };
            assert!(!relation.holds(&Scalar::from_short(&[k, 0, 0])));
        }
        let one = Relation { tau: [1, 0, 4], rho: [1, 0, 4], rho_is_negative: false };
        assert!(one.holds(&Scalar::from_short(&[1, 0, 0])));
    }

    /// Where quotients are huge, at every depth, and where they are small.
    #[test]
    fn the_search_ends_everywhere() {
        let mut source = Random::new(10);
        let eight_l = order() * 8u8;
        let mut scalars: Vec<BigUint> = edges(512).iter().map(|x| x % order()).collect();
        for bits in 3..250 {
            for _ in 0..20 {
                let words: [u64; 4] = core::array::from_fn(|_| source.next());
                let q =
                    integer(&Scalar::reduce(&[words[0], words[1], words[2], words[3], 0, 0, 0, 0]));
                let q = q % (BigUint::from(1u8) << bits) + 9u8;
                let p = BigUint::from(source.next()) % (&q / 8u8) + 1u8;
                scalars.extend((0..3u8).map(|e| (&eight_l * &p / &q + e) % order()));
            }
        }
        // All quotients 1, or all 2.
        let mut golden = (BigUint::from(1u8), BigUint::from(1u8));
        let mut silver = (BigUint::from(1u8), BigUint::from(2u8));
        for _ in 0..300 {
            golden = (golden.1.clone(), golden.0 + golden.1);
            silver = (silver.1.clone(), silver.0 + silver.1 * 2u8);
            for (p, q) in [&golden, &silver] {
                scalars.extend([&eight_l * p / q % order(), p % order(), q % order()]);
            }
        }
        let found =
            scalars.iter().filter(|k| check(&Scalar::from_wide(&bytes(k))).is_some()).count();
        assert!(found > scalars.len() / 10 && found < scalars.len(), "{found}");
    }

    #[test]
    fn most_scalars_have_a_relation() {
        let mut random = Random::new(7);
        const ROUNDS: usize = 300_000;
        let mut longer_than_129 = 0;
        let mut none = 0;
        for _ in 0..ROUNDS {
            let words: [u64; 8] = core::array::from_fn(|_| random.next());
            match check(&Scalar::reduce(&words)) {
                Some(bits) => longer_than_129 += usize::from(bits > 129),
                None => none += 1,
            }
        }
        assert!(none < ROUNDS / 500);
        assert!(longer_than_129 < ROUNDS / 25);
    }
}
