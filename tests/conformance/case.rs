//! A signature, the verdict that it must get, and the check that it gets it.

use ed25519_dalek::{Signature, Signer, SigningKey, VerifyingKey};
use octosig::{Backend, Item, Profile, Verifier};
use rand::{RngCore, SeedableRng, rngs::StdRng};
use solana_ed25519::ed_sigs;

/// The lanes of the widest backend.
pub(crate) const LANES: usize = 8;

#[derive(Clone, Debug)]
pub(crate) struct Case {
    pub(crate) name: String,
    pub(crate) public_key: [u8; 32],
    pub(crate) signature: [u8; 64],
    pub(crate) message: Vec<u8>,
    pub(crate) valid: bool,
}

impl Case {
    /// The verdict is ed25519-dalek's.
    pub(crate) fn new(
        name: impl Into<String>,
        public_key: [u8; 32],
        signature: [u8; 64],
        message: impl Into<Vec<u8>>,
    ) -> Self {
        let mut case = Self {
            name: name.into(),
            public_key,
            signature,
            message: message.into(),
            valid: false,
        };
        case.valid = case.dalek_verdict();
        case
    }

    pub(crate) fn from_parts(
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

    /// A valid signature. Equal seeds share a key; the message depends on seed and length.
    pub(crate) fn honest(seed: u64, len: usize) -> Self {
        let key = signing_key(seed);
        let mut message = vec![0; len];
        StdRng::seed_from_u64(seed ^ (len as u64) << 32).fill_bytes(&mut message);
        let signature = key.sign(&message).to_bytes();
        let case = Self::new(
            format!("honest, seed {seed}, {len} bytes"),
            key.verifying_key().to_bytes(),
            signature,
            message,
        );
        assert!(case.valid);
        case
    }

    /// [`Self::honest`] with one bit of S flipped: everything decodes, only the equation fails.
    pub(crate) fn broken(seed: u64, len: usize) -> Self {
        let mut case = Self::honest(seed, len);
        case.signature[32 + seed as usize % 31] ^= 1 << (seed % 8);
        case.name = format!("broken, seed {seed}, {len} bytes");
        case.valid = false;
        case
    }

    pub(crate) fn item(&self) -> Item<'_> {
        Item { public_key: &self.public_key, signature: &self.signature, message: &self.message }
    }

    pub(crate) fn r(&self) -> [u8; 32] {
        *self.signature.first_chunk().expect("64 bytes")
    }

    pub(crate) fn s(&self) -> [u8; 32] {
        *self.signature.last_chunk().expect("64 bytes")
    }

    /// ed25519-dalek 2.2.0 `verify_strict`: the reference.
    pub(crate) fn dalek_verdict(&self) -> bool {
        let signature = Signature::from_bytes(&self.signature);
        VerifyingKey::from_bytes(&self.public_key)
            .is_ok_and(|key| key.verify_strict(&self.message, &signature).is_ok())
    }

    /// solana-ed25519 0.2.4 `verify_dalek`: an implementation of the same rule by others.
    pub(crate) fn solana_verdict(&self) -> bool {
        let signature = ed_sigs::Signature::from(self.signature);
        ed_sigs::VerificationKey::try_from(self.public_key)
            .is_ok_and(|key| key.verify_dalek(&signature, &self.message).is_ok())
    }
}

pub(crate) fn signing_key(seed: u64) -> SigningKey {
    let mut secret = [0; 32];
    StdRng::seed_from_u64(seed).fill_bytes(&mut secret);
    SigningKey::from_bytes(&secret)
}

/// The backends that this CPU can run.
pub(crate) fn backends() -> impl Iterator<Item = Backend> {
    Backend::ALL.iter().copied().filter(|backend| backend.is_available())
}

/// One verifier for each of [`backends`].
pub(crate) fn verifiers() -> impl Iterator<Item = Verifier> {
    backends().map(|backend| {
        Verifier::with_backend(Profile::DalekStrict, backend).expect("an available backend")
    })
}

/// Verifies `cases` in one call. What the verdicts hold before the call is wrong everywhere, so
/// that one that is not written shows.
#[track_caller]
pub(crate) fn check<'a>(verifier: &mut Verifier, cases: impl IntoIterator<Item = &'a Case>) {
    let cases: Vec<&Case> = cases.into_iter().collect();
    let items: Vec<Item<'_>> = cases.iter().map(|case| case.item()).collect();
    let mut verdicts: Vec<bool> = cases.iter().map(|case| !case.valid).collect();
    verifier.verify_many(&items, &mut verdicts).expect("as many verdicts as items");
    for (i, (case, verdict)) in cases.iter().zip(verdicts).enumerate() {
        assert!(
            verdict == case.valid,
            "{:?} says {verdict} to item {i} of {}: {}",
            verifier.backend(),
            cases.len(),
            case.name
        );
    }
}
