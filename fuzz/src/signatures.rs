//! Signatures: A, R and S chosen each by one byte, so that most combinations of special ones are
//! near; S is then mostly what solves the equation.

use std::{cell::RefCell, iter, sync::LazyLock};

use curve25519_dalek::{
    constants::{ED25519_BASEPOINT_POINT as B, EIGHT_TORSION},
    scalar::Scalar,
};
use octosig::{Backend, Item, Profile, Verifier};
use octosig_cases::{
    Verdicts,
    edges::{L, add, challenge, integer, small_order, y_near_p},
    signing_key,
};

use crate::{Input, count_compared, verifiers};

/// The most signatures of a set: more than one chunk of 64, and a tail.
pub const MAX: usize = 72;

/// A signature.
#[derive(Clone, Debug)]
pub struct Signature {
    /// A.
    pub a: [u8; 32],
    /// R ‖ S.
    pub rs: [u8; 64],
    /// M.
    pub message: Vec<u8>,
}

impl Signature {
    /// With R and S apart.
    #[must_use]
    pub fn new(a: [u8; 32], r: [u8; 32], s: [u8; 32], message: Vec<u8>) -> Self {
        let mut rs = [0; 64];
        rs[..32].copy_from_slice(&r);
        rs[32..].copy_from_slice(&s);
        Self { a, rs, message }
    }

    /// What a verifier takes.
    #[must_use]
    pub fn item(&self) -> Item<'_> {
        Item { public_key: &self.a, signature: &self.rs, message: &self.message }
    }

    /// One signature of the grammar.
    fn read(input: &mut Input<'_>) -> Self {
        let (a, r, s) = (read_point(input), read_point(input), input.byte());
        let edit = input.byte();
        let message = input.message(1_300);
        let s = match s {
            // Solved; and then out of range by a multiple of L.
            0..0x60 => multiples_above(solve(&a, &r, &message), 0),
            0x60..0x80 => multiples_above(solve(&a, &r, &message), s & 0x0f),
            0x80..0xa0 => multiples_above(integer(s & 0x0f), s >> 4 & 1),
            0xa0..0xb0 => multiples_above((-Scalar::from(s & 7)).to_bytes(), s >> 3 & 1),
            0xb0..0xd0 => [s << 3; 32],
            0xd0.. => input.array(),
        };
        let mut signature = Self::new(a.encoding, r.encoding, s, message);
        signature.edit(edit, input);
        signature
    }

    /// Often nothing; else flips a bit or cuts the message.
    pub(crate) fn edit(&mut self, kind: u8, input: &mut Input<'_>) {
        match kind {
            0..0xa0 => {}
            // The signs of A and of R.
            0xa0..0xb0 => self.flip(255),
            0xb0..0xc0 => self.flip(511),
            0xc0..0xf0 => self.flip(input.index(8 * (96 + 64))),
            0xf0.. => self.message.truncate(input.index(self.message.len() + 1)),
        }
    }

    /// Flips a bit of A ‖ R ‖ S, or beyond them of the message.
    fn flip(&mut self, bit: usize) {
        let place = bit / 8;
        let byte = match place {
            0..32 => self.a.get_mut(place),
            32..96 => self.rs.get_mut(place - 32),
            _ => self.message.get_mut(place - 96),
        };
        if let Some(byte) = byte {
            *byte ^= 1 << (bit % 8);
        }
    }
}

/// A point's encoding, and what is known of its discrete logarithm.
pub struct Point {
    /// Not always canonical, nor that of a point.
    pub encoding: [u8; 32],
    /// x, where the point is xB or differs from it by a point of small order; else 0.
    scalar: Scalar,
}

/// The points that one byte names: every torsion part, alone and beside five multiples of B; the
/// encodings of points of small order, three times over; all y near p, near 0 and below 2^255, with
/// both signs.
static POINTS: LazyLock<Vec<Point>> = LazyLock::new(|| {
    let secret = |seed| signing_key(seed).to_scalar();
    let scalars = [secret(1), secret(2), secret(3), Scalar::ONE, -Scalar::ONE];
    let known = scalars.into_iter().flat_map(|scalar| {
        EIGHT_TORSION.map(|t| Point { encoding: (scalar * B + t).compress().to_bytes(), scalar })
    });
    let near = [false, true].into_iter().flat_map(|sign| {
        let near_0 = (0..=18).map(move |y| {
            let mut encoding = integer(y);
            encoding[31] = u8::from(sign) << 7;
            encoding
        });
        (-19..=18).map(move |offset| y_near_p(offset, sign)).chain(near_0)
    });
    let unknown = small_order().repeat(3).into_iter().chain(near);
    known.chain(unknown.map(|encoding| Point { encoding, scalar: Scalar::ZERO })).collect()
});

/// One of `POINTS`, or bytes of the input.
pub fn read_point(input: &mut Input<'_>) -> Point {
    match POINTS.get(usize::from(input.byte())) {
        Some(&Point { encoding, scalar }) => Point { encoding, scalar },
        None => Point { encoding: input.array(), scalar: Scalar::ZERO },
    }
}

/// The S with [S]B = R + [k]A, but for points of small order.
fn solve(a: &Point, r: &Point, message: &[u8]) -> [u8; 32] {
    (r.scalar + challenge(&r.encoding, &a.encoding, message) * a.scalar).to_bytes()
}

/// s + n L modulo 2^256.
pub fn multiples_above(s: [u8; 32], n: u8) -> [u8; 32] {
    iter::repeat_n(L, n.into()).fold(s, |s, l| add(s, l).0)
}

/// Signatures, and how many a call takes: the set again and again.
pub struct Set {
    signatures: Vec<Signature>,
    count: usize,
}

impl Set {
    /// Signatures by the grammar of this file.
    #[must_use]
    pub fn read(input: &mut Input<'_>) -> Self {
        Self::read_with(input, Signature::read)
    }

    pub(crate) fn read_with(
        input: &mut Input<'_>,
        mut read: impl FnMut(&mut Input<'_>) -> Signature,
    ) -> Self {
        let more = usize::from(input.byte());
        let mut signatures = vec![read(input)];
        while !input.is_empty() && signatures.len() < MAX {
            signatures.push(read(input));
        }
        let count = if more < 0x80 { 0 } else { more % (MAX + 1) };
        Self { count: count.max(signatures.len()), signatures }
    }

    /// Compares the verdicts of every backend under every profile with those of `reference`. `verify`
    /// sets the verdicts of a call.
    ///
    /// # Panics
    ///
    /// If they differ.
    pub fn check(
        &self,
        reference: impl Fn(&Signature) -> Verdicts,
        verify: impl Fn(&mut Verifier, Profile, &[Item<'_>], &mut [bool]),
    ) {
        thread_local! {
            static VERIFIERS: RefCell<Vec<Verifier>> = RefCell::new(verifiers());
        }
        let expected: Vec<Verdicts> = self.signatures.iter().map(reference).collect();
        VERIFIERS.with_borrow_mut(|verifiers| {
            for verifier in verifiers {
                // One signature after the other: a longer call would be the same again.
                let portable = verifier.backend() == Backend::Portable;
                let count = if portable { expected.len() } else { self.count };
                let place = |i| i % expected.len();
                let items: Vec<Item<'_>> =
                    (0..count).map(|i| self.signatures[place(i)].item()).collect();
                for &profile in Profile::ALL {
                    let mut check = |from: usize, to: usize| {
                        let expected = |i| expected[place(i)].of(profile);
                        // Wrong everywhere before the call, so that one that is not written shows.
                        let mut verdicts: Vec<bool> = (from..to).map(|i| !expected(i)).collect();
                        verify(verifier, profile, &items[from..to], &mut verdicts);
                        for (i, verdict) in (from..to).zip(verdicts) {
                            assert!(
                                verdict == expected(i),
                                "{verifier:?} under {profile} says {verdict} to {i} in {from}..{to}: {:02x?}",
                                items[i]
                            );
                        }
                        count_compared(to - from);
                    };
                    check(0, count);
                    // Alone, it is computed in another way than in a group.
                    if !portable && count > 1 {
                        (0..expected.len()).for_each(|i| check(i, i + 1));
                    }
                }
            }
        });
    }
}
