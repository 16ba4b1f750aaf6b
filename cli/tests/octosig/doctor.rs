//! What the program says about the machine.

use std::{fs, path::Path};

use serde_json::{Value, json};

use crate::harness::octosig;

#[test]
fn the_json_is_complete() {
    let run = octosig(["doctor", "--json"]);
    assert_eq!((run.code, &*run.stderr), (Some(0), ""));
    let report: Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(report["healthy"], true);
    assert_eq!(report["versions"]["octosig"], env!("CARGO_PKG_VERSION"));
    assert_eq!(report["profiles"], json!(["dalek-strict", "stdlib-compat", "zip215", "simd0376"]));
    assert!(report["system"]["kernel"].is_string());
    assert!(report["cpu"]["features"].is_array());
    let backends = report["backends"].as_array().unwrap();
    assert_eq!(backends.iter().filter(|backend| backend["chosen"] == true).count(), 1);
    assert_eq!(backends[0]["name"], "portable");
    for backend in backends {
        if backend["available"] == false {
            assert!(backend["self_test"].is_null());
            continue;
        }
        assert_eq!(backend["self_test"]["passed"], true);
        let paths = backend["self_test"]["paths"].as_object().unwrap();
        assert!(!paths.is_empty());
        for (path, lanes) in paths {
            let lanes = lanes.as_array().unwrap();
            assert!(!lanes.is_empty() && lanes.iter().all(|lane| lane == true), "{path}");
        }
    }
    let allowed = report["cpus"]["allowed"].as_str().unwrap();
    assert!(allowed.starts_with(|first: char| first.is_ascii_digit()), "{allowed}");
    assert!(!report["cpus"]["suggested"].as_str().unwrap().is_empty());
}

#[test]
fn the_text_names_every_backend_and_its_paths() {
    let run = octosig(["doctor"]);
    assert_eq!((run.code, &*run.stderr), (Some(0), ""));
    let report: Value = serde_json::from_str(&octosig(["doctor", "--json"]).stdout).unwrap();
    for backend in report["backends"].as_array().unwrap() {
        let name = backend["name"].as_str().unwrap();
        assert!(run.stdout.contains(&format!("\nbackend {name} ")), "{}", run.stdout);
    }
    assert!(run.stdout.contains(" passed in "), "{}", run.stdout);
    let profiles = "\nprofiles      dalek-strict, stdlib-compat, zip215, simd0376\n";
    assert!(run.stdout.contains(profiles), "{}", run.stdout);
    assert!(!run.stdout.contains("FAILED"), "{}", run.stdout);
}

/// The versions are written down in the program; the lock file knows better.
#[test]
fn the_versions_are_those_that_were_built() {
    let lock =
        fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../Cargo.lock")).unwrap();
    let report: Value = serde_json::from_str(&octosig(["doctor", "--json"]).stdout).unwrap();
    for (name, version) in report["versions"].as_object().unwrap() {
        if name != "octosig" {
            let entry = format!("name = \"{name}\"\nversion = {version}\n");
            assert!(lock.contains(&entry), "{entry}");
        }
    }
}
