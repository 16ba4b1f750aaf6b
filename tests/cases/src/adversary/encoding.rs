//! Encodings for A and R, with all that is known of them.

use curve25519_dalek::{
    constants::EIGHT_TORSION,
    edwards::{CompressedEdwardsY, EdwardsPoint},
    scalar::Scalar,
};
use rand::{Rng, RngCore, rngs::StdRng};

use super::EDGES;
use crate::edges::{integer, power_of_two, small_order, y_near_p};

/// Where an encoding comes from. Torsion t is the part \[t\]T of its point.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Origin {
    /// One of the 14 that decode to a point of small order.
    SmallOrder {
        /// Which point.
        torsion: u8,
        /// Whether it is what the point encodes to: y < p, and no sign bit with x = 0.
        canonical: bool,
    },
    /// \[a\]B, as an honest signer has it.
    PrimeOrder,
    /// \[a\]B + \[t\]T, and neither summand is O.
    MixedOrder {
        /// t.
        torsion: u8,
    },
    /// The sign bit of \[a\]B + \[t\]T is flipped: −\[a\]B − \[t\]T, with signatures made with a.
    OtherSign {
        /// −t modulo 8.
        torsion: u8,
    },
    /// Another bit of \[a\]B + \[t\]T is flipped: no point, or a discrete logarithm that nobody knows.
    OtherBit,
    /// A point of large order with y next to 0 or p.
    UnknownLogarithm {
        /// Whether y < p.
        canonical: bool,
    },
    /// On no point, with y next to 0 or p.
    NoPoint,
}

#[derive(Clone, Copy)]
pub(super) struct Encoding {
    pub(super) bytes: [u8; 32],
    pub(super) origin: Origin,
    pub(super) canonical: bool,
    /// The discrete logarithm to sign with. 0 where there is none: that is the identity's, which a
    /// verifier may have in the place of what does not decode.
    pub(super) secret: Scalar,
    /// The true a and t of [a]B + [t]T, where somebody knows them.
    pub(super) point: Option<(Scalar, u8)>,
}

/// Encodings that a generator keeps of each origin that there are more of than can be kept.
const KEPT: usize = 256;

/// Signatures from one such encoding's replacement to the next's: all of a pool are replaced every
/// 2^16, at a small part of the cost of a signature.
const RENEWAL: u32 = 64;

/// How those are made.
const MAKERS: [fn(&mut StdRng) -> Encoding; 4] = [prime_order, mixed_order, other_sign, other_bit];

pub(super) struct Pool {
    small_order: Vec<Encoding>,
    unknown_logarithm: Vec<Encoding>,
    no_point: Vec<Encoding>,
    /// One for each of [`MAKERS`].
    made: [Vec<Encoding>; MAKERS.len()],
    until_renewal: u32,
}

impl Pool {
    pub(super) fn new(rng: &mut StdRng) -> Self {
        let mut pool = Self {
            small_order: Vec::new(),
            unknown_logarithm: Vec::new(),
            no_point: Vec::new(),
            made: MAKERS.map(|make| (0..KEPT).map(|_| make(rng)).collect()),
            until_renewal: RENEWAL,
        };
        let mut encodings = small_order();
        for sign in [false, true] {
            encodings.extend((-19..=18).map(|offset| y_near_p(offset, sign)));
            encodings.extend((0..=18).map(|y| {
                let mut bytes = integer(y);
                bytes[31] = u8::from(sign) << 7;
                bytes
            }));
        }
        encodings.sort_unstable();
        encodings.dedup();
        encodings.into_iter().for_each(|bytes| pool.keep(bytes));
        pool
    }

    /// Keeps an encoding that nobody made from a discrete logarithm.
    fn keep(&mut self, bytes: [u8; 32]) {
        let secret = Scalar::ZERO;
        let decoded = CompressedEdwardsY(bytes).decompress();
        let canonical = decoded.is_some_and(|point| point.compress().to_bytes() == bytes);
        let torsion = EIGHT_TORSION.iter().zip(0..).find(|(t, _)| decoded == Some(**t));
        let (origin, kept, point) = match (decoded, torsion) {
            (Some(_), Some((_, torsion))) => (
                Origin::SmallOrder { torsion, canonical },
                &mut self.small_order,
                Some((secret, torsion)),
            ),
            (Some(_), None) => {
                (Origin::UnknownLogarithm { canonical }, &mut self.unknown_logarithm, None)
            }
            (None, _) => (Origin::NoPoint, &mut self.no_point, None),
        };
        kept.push(Encoding { bytes, origin, canonical, secret, point });
    }

    /// To be called for each signature: replaces an encoding from time to time.
    pub(super) fn renew(&mut self, rng: &mut StdRng) {
        self.until_renewal -= 1;
        if self.until_renewal == 0 {
            self.until_renewal = RENEWAL;
            let i = rng.random_range(0..MAKERS.len());
            self.made[i][rng.random_range(0..KEPT)] = MAKERS[i](rng);
        }
    }

    /// What an honest signer could have.
    pub(super) fn prime_order(&self, rng: &mut StdRng) -> Encoding {
        self.made[0][rng.random_range(0..KEPT)]
    }

    pub(super) fn any(&self, rng: &mut StdRng) -> Encoding {
        let kept = match rng.random_range(0..13) {
            0..3 => &self.small_order,
            3..6 => &self.made[0],
            6..9 => &self.made[1],
            9 => &self.made[2],
            10 => &self.made[3],
            11 => &self.unknown_logarithm,
            _ => &self.no_point,
        };
        kept[rng.random_range(0..kept.len())]
    }
}

/// [a]B + [t]T.
fn known(rng: &mut StdRng, torsion: u8) -> Encoding {
    let secret = secret(rng);
    let point = EdwardsPoint::mul_base(&secret) + EIGHT_TORSION[usize::from(torsion)];
    let origin = if torsion == 0 { Origin::PrimeOrder } else { Origin::MixedOrder { torsion } };
    let bytes = point.compress().to_bytes();
    Encoding { bytes, origin, canonical: true, secret, point: Some((secret, torsion)) }
}

fn prime_order(rng: &mut StdRng) -> Encoding {
    known(rng, 0)
}

fn mixed_order(rng: &mut StdRng) -> Encoding {
    let torsion = rng.random_range(1..8);
    known(rng, torsion)
}

fn other_sign(rng: &mut StdRng) -> Encoding {
    let torsion = rng.random_range(0..8);
    let mut encoding = known(rng, (8 - torsion) % 8);
    encoding.bytes[31] ^= 0x80;
    encoding.origin = Origin::OtherSign { torsion };
    encoding.point = Some((-encoding.secret, torsion));
    encoding
}

fn other_bit(rng: &mut StdRng) -> Encoding {
    let torsion = rng.random_range(0..8);
    let mut encoding = known(rng, torsion);
    let bit = rng.random_range(0..255);
    encoding.bytes[bit / 8] ^= 1 << (bit % 8);
    encoding.origin = Origin::OtherBit;
    encoding.point = None;
    encoding
}

/// A discrete logarithm, not 0: any, or an edge. That of R is also the S that is signed below an A
/// of small order.
fn secret(rng: &mut StdRng) -> Scalar {
    let power = Scalar::from_bytes_mod_order(power_of_two(rng.random_range(0..=252)));
    let secret = match rng.random_range(0..12) {
        0 => power,
        1 => power - Scalar::ONE,
        2 => -power,
        3 => -Scalar::from(rng.random_range(1..=32_u8)),
        4 => Scalar::from_bytes_mod_order(EDGES[rng.random_range(0..EDGES.len())].1),
        5 | 6 => Scalar::from_bytes_mod_order(runs(rng)),
        _ => {
            let mut bytes = [0; 64];
            rng.fill_bytes(&mut bytes);
            Scalar::from_bytes_mod_order_wide(&bytes)
        }
    };
    if secret == Scalar::ZERO { Scalar::ONE } else { secret }
}

/// 32 bytes with long runs of equal bits, half of them below 2^252.
pub(super) fn runs(rng: &mut StdRng) -> [u8; 32] {
    let mut bytes = [0_u8; 32];
    let (mut one, mut end) = (rng.random::<bool>(), 0);
    for bit in 0..256 {
        if bit == end {
            one = !one;
            end += rng.random_range(1..=100);
        }
        bytes[bit / 8] |= u8::from(one) << (bit % 8);
    }
    if rng.random() {
        bytes[31] &= 0x0f;
    }
    bytes
}
