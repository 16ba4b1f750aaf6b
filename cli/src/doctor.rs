//! `octosig doctor`: what this machine is and what octosig makes of it.
//!
//! With `--json` the report is one object:
//!
//! | key | value |
//! |---|---|
//! | `versions` | object: `octosig`, and the released crates whose rules it follows |
//! | `profiles` | array of the names that `--profile` takes, the default first |
//! | `system` | object: `os`, `arch`, `kernel` |
//! | `cpu` | object: `model`; `features`, the detected ones that a backend could use |
//! | `backends` | array, the slowest first: objects of `name`, `requires`, `available`, `chosen`, and `self_test` |
//! | `cpus` | object: `allowed`, a list like `0-3`; `cores`, one list of allowed SMT siblings per physical core, null if the system does not tell; `quota`, how many CPUs' time the control group has, null if not limited; `suggested`, one allowed CPU per physical core, to be given to `--cpus` |
//! | `healthy` | bool: no self-test failed |
//!
//! `self_test` is null for a backend that is not available, and otherwise an object of `passed` and
//! `paths`, an object that maps each code path to its lanes: an array of bool, true if every known
//! answer came out right in that lane.

use std::{collections::BTreeMap, fs, io::Write};

use anyhow::Result;
use octosig::{Backend, SelfTest};
use octosig_pipeline::cpus::{self, Machine};
use serde::Serialize;

use crate::args::{DoctorArgs, PROFILES};

#[derive(Serialize)]
struct Report {
    versions: Versions,
    profiles: Vec<&'static str>,
    system: System,
    cpu: Cpu,
    backends: Vec<BackendReport>,
    cpus: Cpus,
    healthy: bool,
}

#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
struct Versions {
    octosig: &'static str,
    ed25519_dalek: &'static str,
    ed25519_zebra: &'static str,
    agave_transaction_view: &'static str,
    solana_perf: &'static str,
}

#[derive(Serialize)]
struct System {
    os: &'static str,
    arch: &'static str,
    kernel: Option<String>,
}

#[derive(Serialize)]
struct Cpu {
    model: Option<String>,
    features: Vec<&'static str>,
}

#[derive(Serialize)]
struct BackendReport {
    name: &'static str,
    requires: &'static [&'static str],
    available: bool,
    chosen: bool,
    self_test: Option<SelfTestReport>,
}

#[derive(Serialize)]
struct SelfTestReport {
    passed: bool,
    paths: BTreeMap<&'static str, Vec<bool>>,
}

#[derive(Serialize)]
struct Cpus {
    allowed: String,
    cores: Option<Vec<String>>,
    quota: Option<f64>,
    suggested: String,
}

/// The exit code.
pub(crate) fn run(args: &DoctorArgs) -> Result<u8> {
    let report = Report::new();
    let mut out = std::io::stdout();
    if args.json {
        writeln!(out, "{}", serde_json::to_string_pretty(&report)?)?;
    } else {
        report.print(&mut out)?;
    }
    Ok(u8::from(!report.healthy))
}

impl Report {
    fn new() -> Self {
        let best = Backend::best();
        let backends: Vec<_> = Backend::ALL.iter().map(|&one| backend(one, one == best)).collect();
        let healthy = backends
            .iter()
            .all(|backend| backend.self_test.as_ref().is_none_or(|test| test.passed));
        Self {
            versions: Versions {
                octosig: env!("CARGO_PKG_VERSION"),
                ed25519_dalek: "2.2.0",
                ed25519_zebra: "4.2.0",
                agave_transaction_view: "4.2.2",
                solana_perf: "4.2.2",
            },
            profiles: PROFILES.iter().map(|(profile, _)| profile.name()).collect(),
            system: System {
                os: std::env::consts::OS,
                arch: std::env::consts::ARCH,
                kernel: fs::read_to_string("/proc/sys/kernel/osrelease")
                    .ok()
                    .map(|text| text.trim().to_owned()),
            },
            cpu: Cpu { model: cpu_model(), features: features() },
            backends,
            cpus: Cpus::new(),
            healthy,
        }
    }

    fn print(&self, out: &mut impl Write) -> Result<()> {
        const UNKNOWN: &str = "unknown";
        let Versions { octosig, ed25519_dalek, ed25519_zebra, agave_transaction_view, solana_perf } =
            self.versions;
        writeln!(out, "octosig       {octosig}")?;
        writeln!(
            out,
            "follows       ed25519-dalek {ed25519_dalek}, ed25519-zebra {ed25519_zebra}, \
             agave-transaction-view {agave_transaction_view}, solana-perf {solana_perf}"
        )?;
        writeln!(out, "profiles      {}", self.profiles.join(", "))?;
        let kernel = self.system.kernel.as_deref().unwrap_or(UNKNOWN);
        writeln!(out, "system        {} {}, kernel {kernel}", self.system.os, self.system.arch)?;
        writeln!(out, "CPU           {}", self.cpu.model.as_deref().unwrap_or(UNKNOWN))?;
        let features = self.cpu.features.join(" ");
        writeln!(out, "features      {}", if features.is_empty() { "none" } else { &features })?;
        writeln!(out, "allowed CPUs  {}", or_unknown(&self.cpus.allowed))?;
        match &self.cpus.cores {
            Some(cores) => writeln!(
                out,
                "cores         {}, by SMT siblings: {}",
                cores.len(),
                cores.join(" | ")
            )?,
            None => writeln!(out, "cores         {UNKNOWN}; every CPU is taken for a core")?,
        }
        if let Some(quota) = self.cpus.quota {
            writeln!(out, "quota         the time of {quota} CPUs, by the control group")?;
        }
        writeln!(out, "workers       one per core: --cpus {}", or_unknown(&self.cpus.suggested))?;
        for backend in &self.backends {
            let chosen = if backend.chosen { "chosen" } else { "available" };
            let state = if backend.available { chosen } else { "not available" };
            let requires = match backend.requires {
                [] => "nothing".to_string(),
                features => features.join(", "),
            };
            writeln!(out, "\nbackend {:<10} {state}; requires {requires}", backend.name)?;
            for (path, lanes) in backend.self_test.iter().flat_map(|test| &test.paths) {
                let failed: Vec<_> = lanes
                    .iter()
                    .enumerate()
                    .filter(|(_, passed)| !**passed)
                    .map(|(lane, _)| lane.to_string())
                    .collect();
                let count = lanes.len();
                let noun = if count == 1 { "lane" } else { "lanes" };
                if failed.is_empty() {
                    writeln!(out, "  self-test {path:<6} passed in {count} {noun}")?;
                } else {
                    let failed = failed.join(", ");
                    writeln!(out, "  self-test {path:<6} FAILED in lane {failed} of {count}")?;
                }
            }
        }
        if !self.healthy {
            writeln!(out, "\nA self-test failed: that backend is not used. Please report it.")?;
        }
        Ok(())
    }
}

impl Cpus {
    fn new() -> Self {
        let machine = Machine::this();
        let mut suggested = machine.cores().map_or_else(
            || machine.allowed().to_vec(),
            |cores| cores.iter().filter_map(|core| core.first().copied()).collect(),
        );
        suggested.sort_unstable();
        let list = |core: &Vec<usize>| cpus::format(core);
        Self {
            allowed: cpus::format(machine.allowed()),
            cores: machine.cores().map(|cores| cores.iter().map(list).collect()),
            quota: machine.quota(),
            suggested: cpus::format(&suggested),
        }
    }
}

fn or_unknown(list: &str) -> &str {
    if list.is_empty() { "unknown" } else { list }
}

fn backend(backend: Backend, chosen: bool) -> BackendReport {
    let available = backend.is_available();
    let self_test = available.then(|| match backend.self_test() {
        Ok(test) => SelfTestReport { passed: test.passed(), paths: paths(test) },
        Err(_) => SelfTestReport { passed: false, paths: BTreeMap::new() },
    });
    BackendReport {
        name: backend.name(),
        requires: backend.required_features(),
        available,
        chosen,
        self_test,
    }
}

fn paths(test: SelfTest) -> BTreeMap<&'static str, Vec<bool>> {
    test.paths.into_iter().map(|path| (path.path, path.lanes)).collect()
}

fn cpu_model() -> Option<String> {
    let text = fs::read_to_string("/proc/cpuinfo").ok()?;
    let line = text.lines().find(|line| line.starts_with("model name"))?;
    Some(line.split_once(':')?.1.trim().to_owned())
}

/// The detected features that a backend, or SHA-512, could use.
#[cfg(target_arch = "x86_64")]
fn features() -> Vec<&'static str> {
    macro_rules! detected {
        ($($name:tt)*) => {
            [$(($name, is_x86_feature_detected!($name))),*]
        };
    }
    let all = detected!(
        "avx2" "fma" "bmi1" "bmi2" "adx" "sha" "avx512f" "avx512dq" "avx512bw" "avx512vl" "avx512ifma"
        "avx512vbmi" "avxifma"
    );
    all.into_iter().filter(|(_, detected)| *detected).map(|(name, _)| name).collect()
}

#[cfg(not(target_arch = "x86_64"))]
fn features() -> Vec<&'static str> {
    Vec::new()
}
