//! A signature and its verdicts.

use ed25519_dalek::{Signer, SigningKey};
use octosig::Item;
use octosig_oracle::Verdicts;
use rand::{RngCore, SeedableRng, rngs::StdRng};

/// A signature and the verdict that each profile must give it.
#[derive(Clone, Debug)]
pub struct Case {
    /// What it is, for the report of a failure.
    pub name: String,
    /// A.
    pub public_key: [u8; 32],
    /// R ‖ S.
    pub signature: [u8; 64],
    /// M.
    pub message: Vec<u8>,
    /// What has to come out.
    pub verdicts: Verdicts,
}

impl Case {
    /// The verdicts are the oracle's.
    #[must_use]
    pub fn new(
        name: impl Into<String>,
        public_key: [u8; 32],
        signature: [u8; 64],
        message: impl Into<Vec<u8>>,
    ) -> Self {
        let (name, message) = (name.into(), message.into());
        let mut case = Self { name, public_key, signature, message, verdicts: Verdicts::NONE };
        case.verdicts = octosig_oracle::verdicts(&case.item());
        case
    }

    /// The same with R and S apart.
    #[must_use]
    pub fn from_parts(
        name: impl Into<String>,
        public_key: [u8; 32],
        r: [u8; 32],
        s: [u8; 32],
        message: impl Into<Vec<u8>>,
    ) -> Self {
        let mut signature = [0; 64];
        signature[..32].copy_from_slice(&r);
        signature[32..].copy_from_slice(&s);
        Self::new(name, public_key, signature, message)
    }

    /// A signature that every profile accepts. Equal seeds share a key; the message depends on seed
    /// and length.
    #[must_use]
    pub fn honest(seed: u64, len: usize) -> Self {
        let key = signing_key(seed);
        let mut message = vec![0; len];
        StdRng::seed_from_u64(seed ^ (len as u64) << 32).fill_bytes(&mut message);
        let signature = key.sign(&message).to_bytes();
        Self {
            name: format!("honest, seed {seed}, {len} bytes"),
            public_key: key.verifying_key().to_bytes(),
            signature,
            message,
            verdicts: Verdicts::new(|_| true),
        }
    }

    /// [`Self::honest`] with one bit of S flipped: everything decodes, only the equation fails.
    #[must_use]
    pub fn broken(seed: u64, len: usize) -> Self {
        let mut case = Self::honest(seed, len);
        case.signature[32 + seed as usize % 31] ^= 1 << (seed % 8);
        case.name = format!("broken, seed {seed}, {len} bytes");
        case.verdicts = Verdicts::NONE;
        case
    }

    /// What a verifier takes.
    #[must_use]
    pub fn item(&self) -> Item<'_> {
        Item { public_key: &self.public_key, signature: &self.signature, message: &self.message }
    }

    /// R.
    #[must_use]
    pub fn r(&self) -> [u8; 32] {
        std::array::from_fn(|i| self.signature[i])
    }

    /// S.
    #[must_use]
    pub fn s(&self) -> [u8; 32] {
        std::array::from_fn(|i| self.signature[32 + i])
    }
}

/// The secret key of a seed.
#[must_use]
pub fn signing_key(seed: u64) -> SigningKey {
    let mut secret = [0; 32];
    StdRng::seed_from_u64(seed).fill_bytes(&mut secret);
    SigningKey::from_bytes(&secret)
}
