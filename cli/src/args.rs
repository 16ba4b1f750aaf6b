//! The command line.

use std::path::PathBuf;

use clap::{
    Parser, Subcommand,
    builder::{NonEmptyStringValueParser, PossibleValue, PossibleValuesParser, TypedValueParser},
};
use octosig::{Backend, Profile};

/// Verifies Ed25519 signatures for Solana, eight at a time.
///
/// Every verdict is the signature's own and follows a published rule: that of ed25519-dalek 2.2.0
/// `verify_strict`, or the one that --profile names.
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
/// of them is valid. A packet is valid if Agave 4.2's sigverify would keep it, given the rule that
/// --profile names for its signatures.
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
  octosig verify --profile zip215 --verdicts verdicts.jsonl vectors.jsonl more-vectors.jsonl.gz
  octosig verify --verdicts - --oracle transactions.jsonl | grep false
  zcat packets.jsonl.gz | octosig verify --reject-non-vote --threads 4 -"
)]
pub(crate) struct VerifyArgs {
    /// Files to verify, in this order; - is standard input
    #[arg(value_name = "FILE", required = true)]
    pub(crate) files: Vec<PathBuf>,

    /// The rule that says which signatures are valid
    #[arg(
        long,
        value_name = "PROFILE",
        default_value = Profile::DalekStrict.name(),
        value_parser = profile(),
    )]
    pub(crate) profile: Profile,

    /// How lanes are computed: auto, portable, avx2 or avx512
    ///
    /// auto is the fastest backend that this CPU has and that passes its self-test. One that is
    /// named but cannot be used is an error.
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

    /// Verify again with published implementations and report every difference
    ///
    ///   dalek-strict   ed25519-dalek 2.2.0 verify_strict; packets: solana-perf 4.2.2
    ///   stdlib-compat  ed25519-dalek 2.2.0 verify
    ///   zip215         ed25519-zebra 4.2.0 verify
    ///   simd0376       the same, and curve25519-dalek 4.1.3 about the encodings of A and R
    ///
    /// Packets under the last three: agave-transaction-view 4.2.2 parses them, solana-perf
    /// says what is a simple vote. Any difference makes the exit code 2.
    #[arg(long, verbatim_doc_comment)]
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
    name.parse().map(Choice::Named).map_err(|_| {
        let have = Backend::ALL.iter().map(|one| one.name()).collect::<Vec<_>>().join(", ");
        format!("unknown; this build has {have}")
    })
}

/// Every profile and its rule in a line.
pub(crate) const PROFILES: [(Profile, &str); 4] = [
    (
        Profile::DalekStrict,
        "ed25519-dalek 2.2.0 verify_strict, as Agave 4.2: no small order A or R",
    ),
    (Profile::StdlibCompat, "ed25519-dalek 2.2.0 verify, ring, Go: small order allowed"),
    (Profile::Zip215, "ZIP 215, ed25519-zebra 4.2.0: cofactored, any encoding of A and R"),
    (Profile::Simd0376, "proposal, as amended: cofactored, canonical A and R, no small order"),
];

fn profile() -> impl TypedValueParser<Value = Profile> {
    let values = PROFILES.map(|(profile, rule)| PossibleValue::new(profile.name()).help(rule));
    PossibleValuesParser::new(values).try_map(|name| name.parse())
}

/// What clap says, without its paragraphs of advice.
pub(crate) fn one_line(usage: &clap::Error) -> String {
    let text = usage.to_string();
    let first = text.split("\n\n").next().unwrap_or_default();
    let first = first.split_whitespace().collect::<Vec<_>>().join(" ");
    let first = first.strip_prefix("error: ").unwrap_or(&first);
    format!("{first} (octosig --help says more)")
}

#[cfg(test)]
mod tests {
    use octosig::Profile;

    use super::PROFILES;

    #[test]
    fn every_profile_is_explained() {
        assert_eq!(PROFILES.map(|(profile, _)| profile), Profile::ALL);
    }
}
