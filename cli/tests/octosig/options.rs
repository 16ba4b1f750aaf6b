//! Backends, threads, CPUs, gates, help.

use data_encoding::BASE64;
use ed25519_dalek::{Signer, SigningKey};
use serde_json::{Value, json};

use crate::{
    args,
    harness::{octosig, octosig_with_input, vectors},
};

#[test]
fn every_backend_that_is_available_can_be_named() {
    let report: Value = serde_json::from_str(&octosig(["doctor", "--json"]).stdout).unwrap();
    for backend in report["backends"].as_array().unwrap() {
        let name = backend["name"].as_str().unwrap();
        let run = octosig(args!["verify", "--backend", name, vectors("rfc8032-7.1.jsonl")]);
        if backend["available"] == true {
            assert_eq!(run.code, Some(0), "{name}: {}", run.stderr);
            assert!(run.stdout.contains(&format!("backend       {name}\n")), "{}", run.stdout);
        } else {
            assert_eq!((run.code, run.stderr.lines().count()), (Some(2), 1), "{name}");
        }
    }
}

#[test]
fn threads_are_pinned_to_the_cpus_named() {
    let report: Value = serde_json::from_str(&octosig(["doctor", "--json"]).stdout).unwrap();
    let allowed = report["cpus"]["allowed"].as_str().unwrap();
    let first = allowed.split(['-', ',']).next().unwrap();
    let run =
        octosig(args!["verify", "--cpus", allowed, "--threads", "1", vectors("rfc8032-7.1.jsonl")]);
    assert_eq!((run.code, &*run.stderr), (Some(0), ""));
    assert!(run.stdout.contains(&format!("threads       1 on CPUs {first}\n")), "{}", run.stdout);

    let twice = format!("{first},{first}");
    let run = octosig(args!["verify", "--cpus", twice, vectors("rfc8032-7.1.jsonl")]);
    assert_eq!((run.code, run.stderr.lines().count()), (Some(2), 1));
    assert!(run.stderr.contains("appears twice"), "{}", run.stderr);

    let run =
        octosig(args!["verify", "--cpus", first, "--threads", "2", vectors("rfc8032-7.1.jsonl")]);
    assert_eq!((run.code, run.stderr.lines().count()), (Some(2), 1));
    assert!(run.stderr.contains("--threads 2 is more than"), "{}", run.stderr);
}

#[test]
fn packets_of_version_1_are_kept_if_enabled() {
    let key = SigningKey::from_bytes(&[7; 32]);
    // Version, three counts of accounts, configuration mask, blockhash, no instruction, one key.
    let mut packet = [&[0x81, 1, 0, 0][..], &[0; 4], &[9; 32], &[0, 1]].concat();
    packet.extend(key.verifying_key().as_bytes());
    packet.extend(key.sign(&packet).to_bytes());
    let line = json!({"id": 1, "packet_base64": BASE64.encode(&packet)}).to_string();
    for profile in ["dalek-strict", "stdlib-compat", "zip215", "simd0376"] {
        for (flag, kept) in [(&[][..], false), (&["--enable-tx-v1"], true)] {
            let arguments = ["verify", "--verdicts", "-", "--oracle", "--profile", profile, "-"];
            let run = octosig_with_input(arguments.iter().chain(flag), line.as_bytes());
            assert_eq!(run.verdicts(), [(json!(1), kept)], "{profile}");
            assert_eq!(run.code, Some(i32::from(!kept)), "{profile}: {}", run.stderr);
        }
    }
}

#[test]
fn the_help_explains_each_profile_in_a_line() {
    let run = octosig(["help", "verify"]);
    for profile in ["dalek-strict:", "stdlib-compat:", "zip215:", "simd0376:"] {
        let mut lines = run.stdout.lines().map(str::trim);
        let mut lines = lines.by_ref().skip_while(|line| !line.contains(&format!("- {profile} ")));
        assert!(lines.next().is_some(), "{profile} {}", run.stdout);
        let next = lines.next().unwrap();
        assert!(next.is_empty() || next.starts_with("- "), "{profile} {}", run.stdout);
    }
}

#[test]
fn help_and_version_are_printed_on_standard_output() {
    for arguments in [&["--help"][..], &["verify", "--help"], &["doctor", "-h"], &["--version"]] {
        let run = octosig(arguments);
        assert_eq!((run.code, &*run.stderr), (Some(0), ""));
        assert!(run.stdout.contains("octosig"), "{}", run.stdout);
    }
}
