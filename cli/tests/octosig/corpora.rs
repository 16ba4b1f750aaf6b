//! Every verdict of every corpus, with the oracle watching.

use std::{env, fs, path::Path};

use crate::{
    args,
    harness::{expected, gzip, octosig, octosig_with_input, read, vectors},
};

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
        compare(&vectors("rfc8032-7.1.jsonl"), "dalek_strict", &["--backend", backend]);
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
            compare(&path, if transactions { "valid" } else { "dalek_strict" }, &[]);
            count += 1;
        }
    }
    assert!(count > 0, "no corpus in the folder");
}
