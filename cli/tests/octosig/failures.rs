//! What cannot be done is said in one line, with exit code 2.

use std::{
    fs,
    io::{BufRead, BufReader, Read},
    process::{Command, Stdio},
};

use serde_json::json;

use crate::{
    args,
    harness::{Folder, gzip, octosig, octosig_with_input, read, some_vectors, vectors},
};

/// A line that is none, and what is said about it.
fn broken_lines() -> Vec<(String, &'static str)> {
    let vector = &some_vectors()[1];
    let value: serde_json::Value = serde_json::from_str(vector).unwrap();
    let with = |key: &str, text: &str| {
        let mut value = value.clone();
        value[key] = json!(text);
        value.to_string()
    };
    vec![
        (with("pk", "zz"), "pk is not hex"),
        (with("msg", "abc"), "msg is not hex"),
        (with("sig", "0 "), "sig is not hex"),
        (json!({"tx_base64": "A"}).to_string(), "tx_base64 is not base64"),
        (json!({"tx_base64": "AAA"}).to_string(), "tx_base64 is not base64"),
        (json!({"packet_base64": "A-=="}).to_string(), "packet_base64 is not base64"),
        (json!({"pk": "", "sig": ""}).to_string(), "needs either"),
        (with("tx_base64", ""), "needs either"),
        ("{}".into(), "needs either"),
        (json!({"packet_base64": 1}).to_string(), "invalid type"),
        (vector.replacen('{', r#"{"pk":"","#, 1), "duplicate field"),
        (vector[..vector.len() - 1].into(), "invalid JSON"),
        (format!("{vector}{vector}"), "invalid JSON"),
        ("\u{7f}ELF".into(), "invalid JSON"),
    ]
}

#[test]
fn a_broken_line_ends_the_run_and_is_named() {
    let folder = Folder::new("broken");
    let good = some_vectors();
    for (line, reason) in broken_lines() {
        let text = [&*good[0], &good[1], "", &line, &good[2]].join("\n");
        for content in [gzip(text.as_bytes()), text.into_bytes()] {
            let path = folder.write("broken.jsonl", content);
            let run = octosig(args!["verify", "--verdicts", "-", &path]);
            assert_eq!(run.code, Some(2), "{line}");
            assert_eq!(run.stderr.lines().count(), 1, "{}", run.stderr);
            assert!(run.stderr.contains("broken.jsonl:4: "), "{}", run.stderr);
            assert!(run.stderr.contains(reason), "{}", run.stderr);
            let verdicts = run.verdicts();
            assert_eq!(verdicts, [(json!("rfc8032-1"), true), (json!("rfc8032-2"), true)]);
        }
    }
}

#[test]
fn the_first_line_may_be_the_broken_one() {
    let folder = Folder::new("broken-first");
    for (line, _) in broken_lines() {
        let path = folder.write("broken.jsonl", format!("{line}\n{}", some_vectors()[0]));
        let run = octosig(args!["verify", path]);
        assert_eq!(run.code, Some(2), "{line}");
        assert_eq!(run.stderr.lines().count(), 1, "{}", run.stderr);
        assert!(run.stderr.contains("broken.jsonl:1: "), "{}", run.stderr);
    }
}

#[test]
fn the_line_is_right_far_into_a_file_and_nothing_after_it_gets_a_verdict() {
    let mut lines: Vec<_> = some_vectors().into_iter().cycle().take(3_000).collect();
    lines[1_234] = "broken".into();
    lines[2_345] = "broken".into();
    let input = lines.join("\n");
    let run = octosig_with_input(["verify", "--verdicts", "-", "-"], input.as_bytes());
    assert_eq!(run.code, Some(2));
    assert_eq!(run.verdicts().len(), 1_234);
    assert_eq!(run.stderr.lines().count(), 1);
    assert!(run.stderr.contains("-:1235: "), "{}", run.stderr);
    let run =
        octosig_with_input(["verify", "--verdicts", "-", "--keep-going", "-"], input.as_bytes());
    assert_eq!(run.code, Some(2));
    assert_eq!(run.verdicts().len(), 2_998);
    assert_eq!((run.count("broken"), run.count("valid")), (2, 2_998));
    for line in [1_235, 2_346] {
        assert!(run.stderr.contains(&format!("-:{line}: ")), "{}", run.stderr);
    }
}

#[test]
fn wrong_usage_is_said_in_one_line() {
    let folder = Folder::new("usage");
    let input = vectors("rfc8032-7.1.jsonl");
    let input = input.to_str().unwrap();
    let missing = folder.path("missing");
    let missing = missing.to_str().unwrap();
    for (arguments, reason) in [
        (
            &["verify", "--profile", "strict", input][..],
            "'strict' for '--profile <PROFILE>' [possible values: dalek-strict, stdlib-compat, ",
        ),
        (&["verify", "--profile", "ZIP215", input], "stdlib-compat, zip215, simd0376]"),
        (&["verify", "--profile", "", input], "--profile"),
        (&["verify", "--backend", "gpu", input], "unknown; this build has portable"),
        (&["verify", "--threads", "0", input], "--threads"),
        (&["verify", "--threads", "many", input], "--threads"),
        (&["verify", "--cpus", "", input], "--cpus"),
        (&["verify", "--cpus", "3-1", input], "runs backwards"),
        (&["verify", "--cpus", "1,x", input], "\"x\""),
        (&["verify", "--cpus", "1023", input], "CPU 1023 is not among"),
        (&["verify", "--cpus", "65535", input], "CPU 65535 is beyond"),
        (&["verify", "--verdicts", missing, "--frob", input], "--frob"),
        (&["verify"], "<FILE>"),
        (&["verify", "-", "-"], "once only"),
        (&["verify", input, missing], "missing: No such file"),
        (&["verify", input, env!("CARGO_MANIFEST_DIR")], "is a directory"),
        (&["verify", "--verdicts", input, input], "would destroy it"),
        (&["verify", "--verdicts", "/nowhere/verdicts", input], "/nowhere/verdicts: "),
        (&["doctor", "--frob"], "--frob"),
        (&["frob"], "frob"),
        (&[], "subcommand"),
    ] {
        let run = octosig(arguments);
        assert_eq!(run.code, Some(2), "{arguments:?}");
        assert_eq!(run.stdout, "", "{arguments:?}");
        assert_eq!(run.stderr.lines().count(), 1, "{arguments:?}: {}", run.stderr);
        assert!(run.stderr.contains(reason), "{arguments:?}: {}", run.stderr);
    }
    assert!(!folder.path("missing").exists());
    assert_eq!(read(&vectors("rfc8032-7.1.jsonl")).len(), 4_164);
}

#[test]
fn an_empty_file_is_valid_but_not_passed_over_in_silence() {
    let folder = Folder::new("empty");
    for content in [Vec::new(), b"\n \n".to_vec(), gzip(b"")] {
        let path = folder.write("empty.jsonl", content);
        let run = octosig(args!["verify", "--verdicts", "-", &path]);
        assert_eq!((run.code, &*run.stdout), (Some(0), ""));
        assert!(run.stderr.contains("empty.jsonl: no case in it"), "{}", run.stderr);
        assert_eq!(run.count("cases"), 0);
    }
}

#[test]
fn a_truncated_gzip_file_is_an_error() {
    let folder = Folder::new("gzip");
    let whole = fs::read(vectors("torsion-lattice.jsonl.gz")).unwrap();
    for length in [2, 100, whole.len() / 2, whole.len() - 1] {
        let path = folder.write("truncated.gz", &whole[..length]);
        let run = octosig(args!["verify", &path]);
        assert_eq!((run.code, &*run.stdout), (Some(2), ""), "{length}");
        assert_eq!(run.stderr.lines().count(), 1, "{}", run.stderr);
        assert!(run.stderr.contains("truncated.gz: "), "{}", run.stderr);
    }
}

#[test]
fn a_reader_that_goes_away_is_no_reason_to_complain() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_octosig"))
        .args(["verify", "--verdicts", "-"])
        .args(vec![vectors("torsion-lattice.jsonl.gz"); 8])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    assert!(line.contains("tl-00000"));
    let mut complaints = String::new();
    child.stderr.take().unwrap().read_to_string(&mut complaints).unwrap();
    assert_eq!((child.wait().unwrap().code(), &*complaints), (Some(2), ""));
}

#[test]
#[cfg(target_os = "linux")]
fn a_full_disk_is_an_error() {
    let run = octosig(args!["verify", "--verdicts", "/dev/full", vectors("rfc8032-7.1.jsonl")]);
    assert_eq!((run.code, run.stderr.lines().count()), (Some(2), 1));
    assert!(run.stderr.contains("writing the verdicts"), "{}", run.stderr);
}
