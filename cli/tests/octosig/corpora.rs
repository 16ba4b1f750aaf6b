//! Every verdict of every corpus, with the oracle watching.

use std::{env, fs, path::Path};

use serde_json::Value;

use crate::{
    args,
    harness::{Run, expected, gzip, json_lines, octosig, octosig_with_input, read, vectors},
};

/// The profiles and the fields of their stored verdicts.
const PROFILES: [(&str, &str); 4] = [
    ("dalek-strict", "dalek_strict"),
    ("stdlib-compat", "dalek_verify"),
    ("zip215", "zip215"),
    ("simd0376", "simd0376_amended"),
];

/// Runs the program on a corpus, as it is and gzipped, and compares ids, order and verdicts.
fn compare(path: &Path, field: &str, flags: &[&str]) {
    let text = read(path);
    let expected = expected(&text, field);
    let arguments = ["verify", "--verdicts", "-", "--oracle"].iter().chain(flags).chain(&["-"]);
    for input in [gzip(&text), text] {
        let run = octosig_with_input(arguments.clone(), &input);
        let name = path.display();
        assert!(run.verdicts() == expected, "{name}: the verdicts differ; {}", run.stderr);
        assert_eq!(run.code, Some(i32::from(expected.iter().any(|case| !case.1))), "{name}");
        assert_eq!(run.count("differences"), 0, "{name}");
        assert_eq!(run.count("cases"), expected.len() as u64, "{name}");
    }
}

#[test]
fn signature_vectors() {
    for backend in ["auto", "portable"] {
        for (profile, field) in PROFILES {
            let flags = ["--backend", backend, "--profile", profile];
            compare(&vectors("rfc8032-7.1.jsonl"), field, &flags);
            compare(&vectors("torsion-lattice.jsonl.gz"), field, &flags);
        }
        compare(&vectors("torsion-lattice.jsonl.gz"), "dalek_strict", &["--backend", backend]);
    }
}

#[test]
fn packets() {
    let path = vectors("packets.jsonl.gz");
    compare(&path, "agave_4_2_2", &[]);
    compare(&path, "agave_4_2_2", &["--enable-tx-v1", "--threads", "3"]);
    compare(&path, "agave_4_2_2_votes_only", &["--reject-non-vote"]);
}

/// Some packets have a signer of small order, and only they may differ from the stored flags.
#[test]
fn packets_under_each_profile() {
    let text = read(&vectors("packets.jsonl.gz"));
    let stored = expected(&text, "agave_4_2_2");
    let lines = json_lines(&text);
    let small_order = |line: &Value| {
        let note = line["note"].as_str().unwrap();
        note.starts_with("fee payer key ") || note.starts_with("second signer key ")
    };
    assert_eq!(lines.iter().filter(|line| small_order(line)).count(), 24);
    for ((profile, _), more) in PROFILES.into_iter().zip([0, 16, 24, 0]) {
        for backend in ["auto", "portable"] {
            let flags = ["--profile", profile, "--backend", backend, "--oracle"];
            let run = verdicts_of(&flags, &text);
            assert_eq!((run.code, run.count("differences")), (Some(1), 0), "{}", run.stderr);
            let verdicts = run.verdicts();
            assert_eq!(verdicts.len(), stored.len());
            let mut differing = 0;
            for ((verdict, stored), line) in verdicts.iter().zip(&stored).zip(&lines) {
                if verdict != stored {
                    assert_eq!((&verdict.0, verdict.1), (&stored.0, true), "{profile}");
                    assert!(small_order(line), "{profile}: {line}");
                    differing += 1;
                }
            }
            assert_eq!(differing, more, "{profile}");
        }
        // Votes: what is kept is kept under every profile.
        let run = verdicts_of(&["--profile", profile, "--oracle", "--reject-non-vote"], &text);
        assert!(run.verdicts() == expected(&text, "agave_4_2_2_votes_only"), "{profile}");
        assert_eq!(run.count("differences"), 0, "{}", run.stderr);
    }
}

fn verdicts_of(flags: &[&str], text: &[u8]) -> Run {
    octosig_with_input(["verify", "--verdicts", "-"].iter().chain(flags).chain(&["-"]), text)
}

#[test]
fn blocks_are_valid_under_each_profile() {
    for (profile, _) in PROFILES {
        let block = vectors("blocks/mainnet-254170887.json.gz");
        let run = octosig(args!["verify", "--oracle", "--profile", profile, block]);
        assert_eq!((run.code, run.count("valid"), run.count("differences")), (Some(0), 602, 0));
        assert!(run.stdout.contains(&format!("\nprofile       {profile}\n")), "{}", run.stdout);
    }
}

#[test]
fn order_does_not_depend_on_threads() {
    let one = octosig(args![
        "verify",
        "--threads",
        "1",
        "--verdicts",
        "-",
        vectors("torsion-lattice.jsonl.gz"),
        vectors("packets.jsonl.gz"),
    ]);
    let many = octosig(args![
        "verify",
        "--threads",
        "7",
        "--verdicts",
        "-",
        vectors("torsion-lattice.jsonl.gz"),
        vectors("packets.jsonl.gz"),
    ]);
    assert_eq!(one.verdicts().len(), 5_326 + 1_688);
    assert!(one.stdout == many.stdout);
}

#[test]
#[ignore = "needs OCTOSIG_VECTORS_CI, the folder of the corpora that are not in the repository"]
fn corpora_outside_of_the_repository() {
    let folder = env::var_os("OCTOSIG_VECTORS_CI").expect("OCTOSIG_VECTORS_CI names no folder");
    let mut count = 0;
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "jsonl") {
            let transactions = path.ends_with("solana-transactions.jsonl");
            for (profile, field) in PROFILES {
                let field = if transactions { "valid" } else { field };
                compare(&path, field, &["--profile", profile]);
            }
            count += 1;
        }
    }
    assert!(count > 0, "no corpus in the folder");
}
