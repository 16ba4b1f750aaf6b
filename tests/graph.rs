//! What verdicts and flags are compared with is what the documentation names: one version of each
//! implementation, pinned, and without the cargo feature by which ed25519-dalek accepts more.
//!
//! A command line can switch that feature on too, and no file shows it. What it would change is
//! tested where the reference is used (`the_reference_is_not_in_its_legacy_mode`).

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use serde_json::Value;

/// Any S below 2^253 passes: of ed25519-dalek, and of curve25519-dalek below it.
const LEGACY: &str = "legacy_compatibility";

const ORACLES: [(&str, &str); 6] = [
    ("agave-transaction-view", "4.2.2"),
    ("curve25519-dalek", "4.1.3"),
    ("ed25519-dalek", "2.2.0"),
    ("ed25519-zebra", "4.2.0"),
    ("solana-ed25519", "0.2.4"),
    ("solana-perf", "4.2.2"),
];

/// Each workspace with the number of [`ORACLES`] in its Cargo.lock.
const WORKSPACES: [(&str, usize); 3] = [(".", 6), ("benches/paired", 3), ("fuzz", 6)];

fn folder(workspace: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(workspace)
}

/// What `cargo metadata` says, or what it says against it.
fn metadata(workspace: &str, arguments: &[&str]) -> Result<Value, String> {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version", "1", "--manifest-path"])
        .arg(folder(workspace).join("Cargo.toml"))
        .args(arguments)
        .output()
        .map_err(|error| error.to_string())?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned());
    }
    serde_json::from_slice(&output.stdout).map_err(|error| error.to_string())
}

fn array(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().expect("an array").iter()
}

fn str(value: &Value) -> &str {
    value.as_str().expect("a string")
}

/// The name of a package of `resolve`, whose identifier ends in `#name@version`, or in `/name` or
/// `/name#version` for one from a path.
fn name(id: &str) -> &str {
    let (url, fragment) = id.rsplit_once('#').unwrap_or((id, ""));
    match fragment.split_once('@') {
        Some((name, _)) => name,
        None => url.rsplit('/').next().unwrap_or(url),
    }
}

/// For every package of the workspace's graph: its own features, its dependants' and those of all
/// platforms together. The graphs of the other workspaces are for `ci/oracle-features.sh`, because
/// whoever builds this one need not have their packages.
#[test]
fn the_reference_accepts_no_more_than_it_should() {
    let arguments = ["--locked", "--all-features", "--filter-platform", "host-tuple"];
    // Whoever has built the workspace has all its packages and needs no network.
    let graph = metadata(".", &[&arguments[..], &["--offline"]].concat())
        .or_else(|_| metadata(".", &arguments))
        .expect("the graph of the workspace; `cargo fetch` brings all packages of it");
    let mut seen = BTreeSet::new();
    for node in array(&graph["resolve"]["nodes"]) {
        let id = str(&node["id"]);
        assert!(array(&node["features"]).all(|feature| feature != LEGACY), "{id} has {LEGACY}");
        seen.insert(name(id));
    }
    assert!(ORACLES.iter().all(|(oracle, _)| seen.contains(oracle)), "{seen:?}");
}

/// What is written in a manifest that is no part of a graph: neither the feature, nor a requirement
/// that another version would meet.
#[test]
fn manifests_ask_for_exact_versions() {
    for (workspace, _) in WORKSPACES {
        let manifests = metadata(workspace, &["--no-deps", "--offline"]).expect("the manifests");
        assert!(!manifests.to_string().contains(LEGACY), "{workspace} declares {LEGACY}");
        let mut pinned = 0;
        for package in array(&manifests["packages"]) {
            for dependency in array(&package["dependencies"]) {
                let name = str(&dependency["name"]);
                if let Some((_, version)) = ORACLES.iter().find(|(oracle, _)| *oracle == name) {
                    let requirement = str(&dependency["req"]);
                    assert_eq!(requirement, format!("={version}"), "{name} of {}", package["name"]);
                    pinned += 1;
                }
            }
        }
        assert!(pinned > 0, "{workspace} depends on no oracle");
    }
}

#[test]
fn lock_files_hold_one_version_of_each_oracle() {
    for (workspace, count) in WORKSPACES {
        let lock = folder(workspace).join("Cargo.lock");
        let lock = fs::read_to_string(&lock).unwrap_or_else(|e| panic!("{}: {e}", lock.display()));
        let value = |line: Option<&str>, key| {
            line?.strip_prefix(key)?.strip_prefix(" = \"")?.strip_suffix('"').map(str::to_owned)
        };
        let mut locked = Vec::new();
        for package in lock.split("[[package]]").skip(1) {
            let mut lines = package.trim_start().lines();
            let name = value(lines.next(), "name").expect("a name");
            let version = value(lines.next(), "version").expect("a version");
            locked.push((name, version));
        }
        let mut found = 0;
        for (oracle, version) in ORACLES {
            let versions: Vec<&str> =
                locked.iter().filter(|(name, _)| name == oracle).map(|(_, v)| &v[..]).collect();
            assert!(versions.iter().all(|v| *v == version), "{workspace}: {oracle} {versions:?}");
            found += versions.len();
        }
        assert_eq!(found, count, "{workspace}: oracles in Cargo.lock");
    }
}
