//! A seeded generator of adversarial signatures, with verdicts that follow from how they are made.
//!
//! A and R are drawn from a pool of encodings. Most are of points \[a\]B + \[t\]T with a and t known,
//! T being of order 8. For A = \[a\]B + \[t\]T and R = \[r\]B + \[u\]T,
//!
//! \[S\]B − \[k\]A − R = \[S − k a − r\]B − \[k t + u\]T,
//!
//! and since the curve's group is the direct sum of the multiples of B and of T, that is O iff S = k
//! a + r modulo L and k t + u = 0 modulo 8; times 8, it is O iff the first holds. Here k is already
//! reduced modulo L. So a verdict costs a hash and some arithmetic modulo L, and none on points.
//! Where A or R is no point, or one whose discrete logarithm nobody knows, every verdict is no.

mod encoding;

use std::{fmt, sync::LazyLock};

use curve25519_dalek::scalar::Scalar;
use octosig::{Item, Profile};
use octosig_oracle::Verdicts;
use rand::{Rng, SeedableRng, rngs::StdRng};
use sha2::{Digest, Sha512};

use crate::edges::{L, add, integer, power_of_two};
pub use encoding::Origin;
use encoding::{Encoding, Pool, runs};

/// A signature and the verdict that each profile must give it.
#[derive(Clone)]
pub struct Adversarial {
    /// A.
    pub public_key: [u8; 32],
    /// R ‖ S.
    pub signature: [u8; 64],
    /// M.
    pub message: Vec<u8>,
    /// What has to come out.
    pub verdicts: Verdicts,
    /// How it was made.
    pub recipe: Recipe,
}

/// How a signature was made.
#[derive(Clone, Copy, Debug)]
pub struct Recipe {
    /// Of A.
    pub a: Origin,
    /// Of R.
    pub r: Origin,
    /// Of S.
    pub s: OriginOfS,
    /// (k mod L) mod 8.
    pub k_mod_8: u8,
}

/// Where an S comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum OriginOfS {
    /// r + k a mod L, as a signer computes it.
    Signed,
    /// The signer's S plus that many L, modulo 2^256.
    PlusL(u8),
    /// The signer's S + 1 mod L.
    OneMore,
    /// The signer's S − 1 mod L.
    OneLess,
    /// The signer's S with that bit flipped.
    OtherBit(u8),
    /// r − k a mod L: the signer's for −A.
    ForMinusA,
    /// k a − r mod L: the signer's for −R.
    ForMinusR,
    /// A constant.
    Edge(&'static str),
    /// Long runs of zeros and ones.
    Runs,
}

impl Adversarial {
    /// What a verifier takes.
    #[must_use]
    pub fn item(&self) -> Item<'_> {
        Item { public_key: &self.public_key, signature: &self.signature, message: &self.message }
    }

    /// To be filled in.
    const fn empty() -> Self {
        let (a, r, s) = (Origin::NoPoint, Origin::NoPoint, OriginOfS::Signed);
        Self {
            public_key: [0; 32],
            signature: [0; 64],
            message: Vec::new(),
            verdicts: Verdicts::NONE,
            recipe: Recipe { a, r, s, k_mod_8: 0 },
        }
    }
}

/// All that a reader needs to make a vector of it.
impl fmt::Debug for Adversarial {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let hex = |bytes: &[u8]| hex::encode(bytes);
        f.debug_struct("Adversarial")
            .field("public_key", &hex(&self.public_key))
            .field("signature", &hex(&self.signature))
            .field("message", &hex(&self.message))
            .field("verdicts", &self.verdicts)
            .field("recipe", &self.recipe)
            .finish()
    }
}

/// Lengths of messages: around the ends of SHA-512's blocks of 128 bytes, 64 of which are R and A,
/// and 17 at the least padding; the usual and the largest one on Solana.
const LENGTHS: [usize; 18] =
    [0, 1, 2, 7, 8, 32, 47, 48, 63, 64, 65, 175, 176, 192, 200, 303, 304, 1_232];

/// Edges of S, and of the discrete logarithms, which are reduced modulo L.
static EDGES: LazyLock<[(&str, [u8; 32]); 10]> = LazyLock::new(|| {
    let two_252 = power_of_two(252);
    [
        ("0", integer(0)),
        ("1", integer(1)),
        ("L - 1", (-Scalar::ONE).to_bytes()),
        ("L", L),
        ("L + 1", add(L, integer(1)).0),
        ("2^252 - 1", (Scalar::from_bytes_mod_order(two_252) - Scalar::ONE).to_bytes()),
        ("2^252", two_252),
        ("2^252 + 1", add(two_252, integer(1)).0),
        ("2^253", power_of_two(253)),
        ("2^256 - 1", [0xff; 32]),
    ]
});

/// Shares of honest signatures in a batch.
const HONEST: [f64; 6] = [0., 0.1, 0.25, 0.5, 0.9, 1.];

/// Makes signatures. Equal seeds make equal ones.
pub struct Generator {
    rng: StdRng,
    pool: Pool,
}

impl Generator {
    /// A generator with a pool of its own.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        let mut rng = StdRng::seed_from_u64(seed);
        let pool = Pool::new(&mut rng);
        Self { rng, pool }
    }

    /// Makes the signatures of one call, in place of `cases`: 1 to 130, some of them, or none, or
    /// all, such as every profile accepts.
    pub fn batch(&mut self, cases: &mut Vec<Adversarial>) {
        let max = if self.rng.random_ratio(1, 4) { 16 } else { 130 };
        let count = self.rng.random_range(1..=max);
        let honest = HONEST[self.rng.random_range(0..HONEST.len())];
        cases.resize_with(count, Adversarial::empty);
        for case in cases {
            let honest = self.rng.random_bool(honest);
            self.make(case, honest);
        }
    }

    fn make(&mut self, case: &mut Adversarial, honest: bool) {
        let rng = &mut self.rng;
        self.pool.renew(rng);
        let mut point = || if honest { self.pool.prime_order(rng) } else { self.pool.any(rng) };
        let (a, r) = (point(), point());

        let length = match rng.random_range(0..4) {
            0 => rng.random_range(0..=300),
            _ => LENGTHS[rng.random_range(0..LENGTHS.len())],
        };
        case.message.resize(length, 0);
        let wanted = if rng.random() { cancelling(&a, &r) } else { ANY };
        let k = grind(rng, &r.bytes, &a.bytes, &mut case.message, wanted);

        let (origin, s) = if honest {
            (OriginOfS::Signed, (r.secret + k * a.secret).to_bytes())
        } else {
            draw_s(rng, r.secret, k * a.secret)
        };
        case.public_key = a.bytes;
        case.signature[..32].copy_from_slice(&r.bytes);
        case.signature[32..].copy_from_slice(&s);
        case.verdicts = verdicts(&a, &r, &k, s);
        case.recipe = Recipe { a: a.origin, r: r.origin, s: origin, k_mod_8: modulo_8(&k) };
    }
}

fn modulo_8(k: &Scalar) -> u8 {
    k.as_bytes()[0] % 8
}

/// Every k mod 8, as bits.
const ANY: u8 = 0xff;

/// The k mod 8, as bits, with which the torsion parts of [k]A and R cancel; any, if none does.
fn cancelling(a: &Encoding, r: &Encoding) -> u8 {
    let (Some((_, t)), Some((_, u))) = (a.point, r.point) else { return ANY };
    let bits = (0..8).filter(|k| (k * t + u) % 8 == 0).fold(0, |bits, k| bits | 1 << k);
    if bits == 0 { ANY } else { bits }
}

/// Draws a message for which k mod 8 is `wanted`, and returns k. Gives up if the message is too
/// short to have one.
fn grind(rng: &mut StdRng, r: &[u8; 32], a: &[u8; 32], message: &mut [u8], wanted: u8) -> Scalar {
    rng.fill(message);
    let (head, tail) = message.split_at_mut(message.len().saturating_sub(8));
    let start = Sha512::new().chain_update(r).chain_update(a).chain_update(head);
    let mut draws = 0;
    loop {
        let digest = start.clone().chain_update(&*tail).finalize();
        let k = Scalar::from_bytes_mod_order_wide(&digest.into());
        draws += 1;
        if wanted >> modulo_8(&k) & 1 == 1 || tail.is_empty() || draws == 100 {
            return k;
        }
        rng.fill(tail);
    }
}

/// An S for the secret r and the product k a.
fn draw_s(rng: &mut StdRng, r: Scalar, ka: Scalar) -> (OriginOfS, [u8; 32]) {
    let signed = r + ka;
    match rng.random_range(0..24) {
        0..12 => (OriginOfS::Signed, signed.to_bytes()),
        12 => {
            // S + L is what a lax bound like 2^253 lets pass.
            let times = if rng.random() { 1 } else { rng.random_range(2..=15) };
            let sum = (0..times).fold(signed.to_bytes(), |sum, _| add(sum, L).0);
            (OriginOfS::PlusL(times), sum)
        }
        13 => (OriginOfS::OneMore, (signed + Scalar::ONE).to_bytes()),
        14 => (OriginOfS::OneLess, (signed - Scalar::ONE).to_bytes()),
        15 | 16 => {
            let bit: u8 = rng.random();
            let mut s = signed.to_bytes();
            s[usize::from(bit / 8)] ^= 1 << (bit % 8);
            (OriginOfS::OtherBit(bit), s)
        }
        17 => (OriginOfS::ForMinusA, (r - ka).to_bytes()),
        18 => (OriginOfS::ForMinusR, (ka - r).to_bytes()),
        19..23 => {
            let (name, s) = EDGES[rng.random_range(0..EDGES.len())];
            (OriginOfS::Edge(name), s)
        }
        _ => (OriginOfS::Runs, runs(rng)),
    }
}

/// The verdicts, as the module's documentation derives them.
fn verdicts(a: &Encoding, r: &Encoding, k: &Scalar, s: [u8; 32]) -> Verdicts {
    let s = Scalar::from_canonical_bytes(s);
    let (Some((log_a, t)), Some((log_r, u)), true) = (a.point, r.point, s.is_some().into()) else {
        return Verdicts::NONE;
    };
    let cofactored = s.unwrap_or(Scalar::ZERO) == k * log_a + log_r;
    let cofactorless = cofactored && (modulo_8(k) * t + u).is_multiple_of(8) && r.canonical;
    let large_order = log_a != Scalar::ZERO && log_r != Scalar::ZERO;
    Verdicts::new(|profile| match profile {
        Profile::DalekStrict => cofactorless && large_order,
        Profile::StdlibCompat => cofactorless,
        Profile::Zip215 => cofactored,
        Profile::Simd0376 => cofactored && large_order && a.canonical && r.canonical,
        _ => unreachable!("a profile without a rule: {profile}"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_seeds_make_equal_signatures() {
        let make = |seed| {
            let mut generator = Generator::new(seed);
            let (mut cases, mut report) = (Vec::new(), String::new());
            for _ in 0..5 {
                generator.batch(&mut cases);
                report += &format!("{cases:?}");
            }
            report
        };
        assert!(make(1) == make(1) && make(1) != make(2));
    }
}
