//! Verdicts on the project's vectors: against the stored ones, ed25519-dalek and ed25519-zebra.

use std::{fs::File, io::Read, path::PathBuf, thread};

use curve25519_dalek::edwards::CompressedEdwardsY;
use ed25519_dalek::VerifyingKey;
use ed25519_zebra::VerificationKey;
use flate2::read::GzDecoder;
use octosig_rfc8032::Facts;
use serde_json::Value;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Verdicts {
    dalek_strict: bool,
    stdlib_compat: bool,
    zip215: bool,
    simd0376: bool,
}

impl Verdicts {
    fn of(facts: &Facts) -> Self {
        Self {
            dalek_strict: facts.dalek_strict(),
            stdlib_compat: facts.stdlib_compat(),
            zip215: facts.zip215(),
            simd0376: facts.simd0376(),
        }
    }
}

struct Case {
    id: String,
    public_key: [u8; 32],
    signature: [u8; 64],
    message: Vec<u8>,
    stored: Verdicts,
}

impl Case {
    fn parse(line: &str) -> Self {
        let json: Value = serde_json::from_str(line).expect("JSON");
        let text = |field: &str| json[field].as_str().expect("a string");
        let bytes = |field: &str| hex::decode(text(field)).expect("hexadecimal");
        let verdict = |field: &str| json[field].as_bool().expect("a boolean");
        Self {
            id: text("id").to_owned(),
            public_key: bytes("pk").try_into().expect("32 bytes"),
            signature: bytes("sig").try_into().expect("64 bytes"),
            message: bytes("msg"),
            stored: Verdicts {
                dalek_strict: verdict("dalek_strict"),
                stdlib_compat: verdict("dalek_verify"),
                zip215: verdict("zip215"),
                simd0376: verdict("simd0376_amended"),
            },
        }
    }

    /// Compares all verdicts on this case.
    fn check(&self) -> Facts {
        let Self { id, public_key, signature, message, stored } = self;
        let facts = Facts::new(public_key, signature, message);
        assert_eq!(Verdicts::of(&facts), *stored, "{id}: {facts:?}");

        let dalek_signature = ed25519_dalek::Signature::from_bytes(signature);
        let dalek = |verify: fn(&VerifyingKey, &[u8], &ed25519_dalek::Signature) -> bool| {
            VerifyingKey::from_bytes(public_key)
                .is_ok_and(|key| verify(&key, message, &dalek_signature))
        };
        let strict = dalek(|key, message, signature| key.verify_strict(message, signature).is_ok());
        assert_eq!(facts.dalek_strict(), strict, "{id}: verify_strict, {facts:?}");
        let plain = dalek(|key, message, signature| {
            ed25519_dalek::Verifier::verify(key, message, signature).is_ok()
        });
        assert_eq!(facts.stdlib_compat(), plain, "{id}: verify, {facts:?}");

        let zebra = VerificationKey::try_from(*public_key).is_ok_and(|key| {
            key.verify(&ed25519_zebra::Signature::from_bytes(signature), message).is_ok()
        });
        assert_eq!(facts.zip215(), zebra, "{id}: zebra, {facts:?}");
        let canonical = |bytes: &[u8]| {
            let encoding = CompressedEdwardsY::from_slice(bytes).expect("32 bytes");
            encoding.decompress().is_some_and(|point| point.compress() == encoding)
        };
        let rfc8032 = zebra && canonical(public_key) && canonical(&signature[..32]);
        assert_eq!(facts.rfc8032(), rfc8032, "{id}: {facts:?}");
        facts
    }
}

fn read(name: &str) -> Vec<Case> {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../vectors").join(name);
    let mut file = File::open(&path).expect("the vectors are there");
    let mut text = String::new();
    if name.ends_with(".gz") {
        GzDecoder::new(file).read_to_string(&mut text).expect("gzip");
    } else {
        file.read_to_string(&mut text).expect("text");
    }
    text.lines().map(Case::parse).collect()
}

#[test]
fn rfc8032_section_7_1() {
    let cases = read("rfc8032-7.1.jsonl");
    assert_eq!(cases.len(), 5);
    for case in cases {
        assert!(case.check().rfc8032(), "{}", case.id);
        // Another bit anywhere in the signature makes it invalid.
        for bit in (0..512).step_by(37) {
            let mut signature = case.signature;
            signature[bit / 8] ^= 1 << (bit % 8);
            assert!(!Facts::new(&case.public_key, &signature, &case.message).rfc8032(), "{bit}");
        }
    }
}

#[test]
fn torsion_lattice() {
    let cases = read("torsion-lattice.jsonl.gz");
    assert_eq!(cases.len(), 5326);
    let (first, second) = cases.split_at(cases.len() / 2);
    let check = |cases: &[Case]| cases.iter().map(Case::check).collect::<Vec<_>>();
    let facts = thread::scope(|scope| {
        let other = scope.spawn(|| check(second));
        let mut facts = check(first);
        facts.extend(other.join().expect("no case fails"));
        facts
    });
    // The cases tell the rules apart.
    let differ = |takes: fn(&Facts) -> bool, refuses: fn(&Facts) -> bool| {
        facts.iter().any(|facts| takes(facts) && !refuses(facts))
    };
    assert!(differ(Facts::stdlib_compat, Facts::dalek_strict));
    assert!(differ(Facts::rfc8032, Facts::simd0376));
    assert!(differ(Facts::zip215, Facts::rfc8032));
    assert!(differ(Facts::zip215, Facts::stdlib_compat));
    assert!(differ(Facts::simd0376, Facts::stdlib_compat));
    assert!(differ(Facts::stdlib_compat, Facts::simd0376));
}
