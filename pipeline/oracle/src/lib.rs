//! The published implementations whose verdicts octosig's have to equal, one for each profile.
//!
//! | profile | oracle | second opinion |
//! |---|---|---|
//! | `DalekStrict` | ed25519-dalek 2.2.0 `verify_strict` | solana-ed25519 0.2.4 `verify_dalek` |
//! | `StdlibCompat` | ed25519-dalek 2.2.0 `verify` | |
//! | `Zip215` | ed25519-zebra 4.2.0 `verify` | solana-ed25519 0.2.4 `verify_zebra` |
//! | `Simd0376` | ed25519-zebra 4.2.0 `verify`, and what curve25519-dalek 4.1.3 says about A and R | the same with solana-ed25519's |
//!
//! Nobody has published the rule of SIMD-0376 as amended. It is that of ZIP 215 for canonical A and
//! R of large order, so both of its parts are somebody else's code.

use curve25519_dalek::edwards::CompressedEdwardsY;
use ed25519_dalek::Verifier;
use octosig::{Item, Profile};
use solana_ed25519::ed_sigs;

/// A verdict for each profile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Verdicts([bool; Profile::ALL.len()]);

impl Verdicts {
    /// No profile accepts.
    pub const NONE: Self = Self([false; Profile::ALL.len()]);

    /// What `verdict` says of each profile.
    pub fn new(verdict: impl FnMut(Profile) -> bool) -> Self {
        let mut profiles = Profile::ALL.iter().copied().map(verdict);
        Self(std::array::from_fn(|_| profiles.next().unwrap_or_default()))
    }

    /// Whether `profile` accepts.
    #[must_use]
    pub const fn of(&self, profile: Profile) -> bool {
        self.0[profile as usize]
    }
}

/// The oracle's verdict.
#[must_use]
pub fn verdict(profile: Profile, item: &Item<'_>) -> bool {
    match profile {
        Profile::DalekStrict => dalek(item, ed25519_dalek::VerifyingKey::verify_strict),
        Profile::StdlibCompat => dalek(item, ed25519_dalek::VerifyingKey::verify),
        Profile::Zip215 => zebra(item),
        Profile::Simd0376 => of_large_order_and_canonical(item) && zebra(item),
        _ => unreachable!("a profile without an oracle: {profile}"),
    }
}

/// The oracle's verdict for each profile.
#[must_use]
pub fn verdicts(item: &Item<'_>) -> Verdicts {
    Verdicts::new(|profile| verdict(profile, item))
}

/// The verdict of an implementation of the same rule by others, if there is one.
#[must_use]
pub fn second_opinion(profile: Profile, item: &Item<'_>) -> Option<bool> {
    use ed_sigs::VerificationKey as Key;
    match profile {
        Profile::DalekStrict => Some(solana(item, Key::verify_dalek)),
        Profile::Zip215 => Some(solana(item, Key::verify_zebra)),
        Profile::Simd0376 => {
            Some(of_large_order_and_canonical(item) && solana(item, Key::verify_zebra))
        }
        _ => None,
    }
}

fn dalek<E>(
    item: &Item<'_>,
    verify: impl Fn(&ed25519_dalek::VerifyingKey, &[u8], &ed25519_dalek::Signature) -> Result<(), E>,
) -> bool {
    let signature = ed25519_dalek::Signature::from_bytes(item.signature);
    ed25519_dalek::VerifyingKey::from_bytes(item.public_key)
        .is_ok_and(|key| verify(&key, item.message, &signature).is_ok())
}

fn zebra(item: &Item<'_>) -> bool {
    let signature = ed25519_zebra::Signature::from(*item.signature);
    ed25519_zebra::VerificationKey::try_from(*item.public_key)
        .is_ok_and(|key| key.verify(&signature, item.message).is_ok())
}

fn solana<E>(
    item: &Item<'_>,
    verify: impl Fn(&ed_sigs::VerificationKey, &ed_sigs::Signature, &[u8]) -> Result<(), E>,
) -> bool {
    let signature = ed_sigs::Signature::from(*item.signature);
    ed_sigs::VerificationKey::try_from(*item.public_key)
        .is_ok_and(|key| verify(&key, &signature, item.message).is_ok())
}

/// Whether A and R are what some points of large order encode to.
fn of_large_order_and_canonical(item: &Item<'_>) -> bool {
    let (r, _) = item.signature.split_at(32);
    [&item.public_key[..], r].into_iter().all(|encoding| {
        CompressedEdwardsY::from_slice(encoding).is_ok_and(|encoding| {
            let point = encoding.decompress();
            point.is_some_and(|p| p.compress() == encoding && !p.is_small_order())
        })
    })
}
