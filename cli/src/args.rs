//! The command line.

use std::path::PathBuf;

use clap::{Parser, Subcommand, builder::NonEmptyStringValueParser};
use octosig::{Backend, Profile};

/// Verifies Ed25519 signatures for Solana, eight at a time.
///
/// Every verdict is the signature's own and equals ed25519-dalek 2.2.0 `verify_strict`.
#[derive(Debug, Parser)]
#[command(name = "octosig", version, max_term_width = 100, arg_required_else_help = false)]
pub(crate) struct Args {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Verify(VerifyArgs),
    Doctor(DoctorArgs),
}

/// Verify every signature of files of vectors, transactions, packets or blocks
///
/// What a file holds is recognised by its content; gzip is, too:
///
///   signature vectors   one JSON object a line: pk, msg, sig in hex
///   transactions        one JSON object a line: tx_base64
///   packets             one JSON object a line: packet_base64
///   blocks              answers of the RPC method getBlock, encoding base64 or base58, on one
///                       line or many
///
/// A transaction is valid if it parses, brings as many signatures as its header requires, and each
/// of them verifies. A packet is valid if Agave 4.2's sigverify would keep it.
#[derive(Debug, clap::Args)]
#[command(
    verbatim_doc_comment,
    after_long_help = "\
Exit code:
  0  every case is valid
  1  at least one case is invalid
  2  usage, input or output; a backend that cannot be used; broken lines (also with --keep-going);
     a difference to the oracle

Examples:
  octosig verify block.json.gz
  octosig verify --verdicts verdicts.jsonl vectors.jsonl more-vectors.jsonl.gz
  octosig verify --verdicts - --oracle transactions.jsonl | grep false
  zcat packets.jsonl.gz | octosig verify --reject-non-vote --threads 4 -"
)]
pub(crate) struct VerifyArgs {
    /// Files to verify, in this order; - is standard input
    #[arg(value_name = "FILE", required = true)]
    pub(crate) files: Vec<PathBuf>,

    /// The rule that says which signatures are valid
    ///
    /// dalek-strict (ed25519-dalek 2.2.0 verify_strict: what Agave 4.2 applies). stdlib-compat,
    /// zip215 and simd0376 are names reserved for rules that this build does not have.
    #[arg(long, value_name = "PROFILE", default_value = Profile::DalekStrict.name(), value_parser = profile)]
    pub(crate) profile: Profile,

    /// How lanes are computed: auto, portable or avx2
    ///
    /// auto is the fastest backend that this CPU has and that passes its self-test. One that is
    /// named but cannot be used is an error. avx512 is reserved: this build does not have it.
    #[arg(long, value_name = "BACKEND", default_value = "auto", value_parser = backend)]
    pub(crate) backend: Choice,

    /// Worker threads [default: one per CPU that the process may use]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(crate) threads: Option<u16>,

    /// Pin one worker thread to each of these CPUs, for example 2-9,12
    ///
    /// With fewer --threads, the first CPUs of the list are used.
    #[arg(long, value_name = "LIST", value_parser = NonEmptyStringValueParser::new())]
    pub(crate) cpus: Option<String>,

    /// Write one line per case, in input order: {"id":…,"verdict":true|false}
    ///
    /// - is standard output; the summary then goes to standard error. A case without an id is
    ///   named FILE-LINE, a transaction of a block by its first signature in base58.
    #[arg(long, value_name = "OUT")]
    pub(crate) verdicts: Option<PathBuf>,

    /// Verify again with ed25519-dalek 2.2.0 and report every difference
    ///
    /// Signatures go through verify_strict, packets through solana-perf 4.2.2's own sigverify on
    /// top of it. Any difference makes the exit code 2.
    #[arg(long)]
    pub(crate) oracle: bool,

    /// List broken lines and carry on, instead of ending at the first
    ///
    /// Broken lines get no verdict, are counted, and make the exit code 2.
    #[arg(long)]
    pub(crate) keep_going: bool,

    /// Packets: keep simple votes only
    #[arg(long)]
    pub(crate) reject_non_vote: bool,

    /// Packets: keep version 1 transactions
    #[arg(long)]
    pub(crate) enable_tx_v1: bool,
}

/// Describe this machine: CPU, backends and their self-tests, CPUs to pin threads to
///
/// Exit code 0, or 1 if the self-test of a backend failed.
#[derive(Debug, clap::Args)]
#[command(after_long_help = "Examples:\n  octosig doctor\n  octosig doctor --json | jq .backends")]
pub(crate) struct DoctorArgs {
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// What `--backend` says.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Choice {
    Auto,
    Named(Backend),
}

fn backend(name: &str) -> Result<Choice, String> {
    if name == "auto" {
        return Ok(Choice::Auto);
    }
    by_name(Backend::ALL, Backend::name, name, &["avx512"]).map(Choice::Named)
}

fn profile(name: &str) -> Result<Profile, String> {
    by_name(Profile::ALL, Profile::name, name, &["stdlib-compat", "zip215", "simd0376"])
}

/// The one of `all` that is called `name`. `reserved` names are known but not in this build.
fn by_name<T: Copy>(
    all: &[T],
    name_of: fn(T) -> &'static str,
    name: &str,
    reserved: &[&str],
) -> Result<T, String> {
    if let Some(&found) = all.iter().find(|&&candidate| name_of(candidate) == name) {
        return Ok(found);
    }
    let have = all.iter().map(|&one| name_of(one)).collect::<Vec<_>>().join(", ");
    Err(if reserved.contains(&name) {
        format!("this build does not have it yet; it has {have}")
    } else {
        format!("unknown; this build has {have}")
    })
}

/// What clap says, without its paragraphs of advice.
pub(crate) fn one_line(usage: &clap::Error) -> String {
    let text = usage.to_string();
    let first = text.split("\n\n").next().unwrap_or_default();
    let first = first.split_whitespace().collect::<Vec<_>>().join(" ");
    let first = first.strip_prefix("error: ").unwrap_or(&first);
    format!("{first} (octosig --help says more)")
}
