//! Packets with signatures on which the profiles disagree.

use curve25519_dalek::{
    constants::{ED25519_BASEPOINT_POINT as B, EIGHT_TORSION},
    edwards::EdwardsPoint,
    scalar::Scalar,
    traits::{Identity, IsIdentity},
};
use octosig_pipeline::Profile;
use sha2::{Digest, Sha512};
use solana_sdk::{pubkey::Pubkey, signature::Signature, transaction::VersionedTransaction};

use crate::{
    harness::Raw,
    transactions::{Version, bytes, message},
};

/// p + 1, another encoding of the identity.
const NON_CANONICAL: [u8; 32] = {
    let mut encoding = [0xff; 32];
    (encoding[0], encoding[31]) = (0xee, 0x7f);
    encoding
};

/// What is special about a signature.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Kind {
    Honest,
    /// A of order 8, and [k]A = O.
    SmallOrderKey,
    /// A of mixed order, and [S]B − [k]A − R of order 2, 4 or 8.
    MixedOrderKey,
    /// R the identity.
    SmallOrderR,
    /// R the identity, encoded as no point is encoded.
    NonCanonicalR,
    /// S off by one.
    Broken,
}

impl Kind {
    pub(crate) const ALL: [Self; 6] = [
        Self::Honest,
        Self::SmallOrderKey,
        Self::MixedOrderKey,
        Self::SmallOrderR,
        Self::NonCanonicalR,
        Self::Broken,
    ];

    pub(crate) fn is_valid_under(self, profile: Profile) -> bool {
        match self {
            Self::Honest => true,
            Self::SmallOrderKey | Self::SmallOrderR => {
                matches!(profile, Profile::StdlibCompat | Profile::Zip215)
            }
            Self::MixedOrderKey => matches!(profile, Profile::Zip215 | Profile::Simd0376),
            Self::NonCanonicalR => profile == Profile::Zip215,
            Self::Broken => false,
        }
    }

    /// A is the sum of [secret]B and a point of small order.
    fn secret(self, number: u64) -> (Scalar, EdwardsPoint) {
        let secret = Scalar::from(number + 1);
        match self {
            Self::SmallOrderKey => (Scalar::ZERO, EIGHT_TORSION[1]),
            Self::MixedOrderKey => (secret, EIGHT_TORSION[1]),
            _ => (secret, EdwardsPoint::identity()),
        }
    }

    fn key(self, number: u64) -> [u8; 32] {
        let (secret, torsion) = self.secret(number);
        (secret * B + torsion).compress().to_bytes()
    }

    fn sign(self, number: u64, message: &[u8]) -> Signature {
        let ((secret, torsion), key) = (self.secret(number), self.key(number));
        for nonce in 1..=1_000_u64 {
            let (r, r_bytes) = match self {
                Self::SmallOrderR => (Scalar::ZERO, EdwardsPoint::identity().compress().to_bytes()),
                Self::NonCanonicalR => (Scalar::ZERO, NON_CANONICAL),
                _ => (Scalar::from(nonce), (Scalar::from(nonce) * B).compress().to_bytes()),
            };
            let hash = Sha512::new().chain_update(r_bytes).chain_update(key).chain_update(message);
            let k = Scalar::from_bytes_mod_order_wide(&hash.finalize().into());
            if (k * torsion).is_identity() == matches!(self, Self::MixedOrderKey) {
                continue;
            }
            let error = if matches!(self, Self::Broken) { Scalar::ONE } else { Scalar::ZERO };
            let mut signature = [0; 64];
            signature[..32].copy_from_slice(&r_bytes);
            signature[32..].copy_from_slice((r + k * secret + error).as_bytes());
            return signature.into();
        }
        panic!("no nonce gives the residue of {self:?}");
    }
}

/// A packet signed by one signer of each of `kinds`, in this order, which calls `program`.
pub(crate) fn packet(version: Version, number: u64, kinds: &[Kind], program: Pubkey) -> Raw {
    let signers = || (number..).zip(kinds);
    let keys: Vec<_> = signers().map(|(n, kind)| kind.key(n).into()).collect();
    let message = message(version, number, &keys, program);
    let signed = message.serialize();
    let signatures = signers().map(|(n, kind)| kind.sign(n, &signed)).collect();
    Raw::from(bytes(VersionedTransaction { signatures, message }))
}
