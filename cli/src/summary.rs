//! The counts of a run, and what is said about them at its end.

use std::{
    fmt::{self, Display},
    time::Duration,
};

use octosig::{Backend, Profile};

/// How many invalid cases the summary names.
const NAMED: usize = 5;

/// Counts that add up over chunks.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    pub(crate) cases: u64,
    pub(crate) valid: u64,
    /// Signatures verified: not those of cases that were invalid before any arithmetic.
    pub(crate) signatures: u64,
    /// Invalid because `pk` is not 32 bytes long or `sig` not 64.
    pub(crate) wrong_length: u64,
    /// Invalid because the transaction does not parse.
    pub(crate) unparsed: u64,
    /// Invalid because the transaction brings more or fewer signatures than its header requires.
    pub(crate) miscounted: u64,
    pub(crate) broken: u64,
    pub(crate) differences: u64,
    /// Time inside of the verifiers, of all threads together.
    pub(crate) verification: Duration,
    invalid: Vec<String>,
}

impl Tally {
    pub(crate) fn add_case(&mut self, verdict: bool, id: impl FnOnce() -> String) {
        self.cases += 1;
        if verdict {
            self.valid += 1;
        } else if self.invalid.len() < NAMED {
            self.invalid.push(id());
        }
    }

    pub(crate) fn add(&mut self, other: Self) {
        self.cases += other.cases;
        self.valid += other.valid;
        self.signatures += other.signatures;
        self.wrong_length += other.wrong_length;
        self.unparsed += other.unparsed;
        self.miscounted += other.miscounted;
        self.broken += other.broken;
        self.differences += other.differences;
        self.verification += other.verification;
        self.invalid.extend(other.invalid);
        self.invalid.truncate(NAMED);
    }

    pub(crate) const fn invalid(&self) -> u64 {
        self.cases - self.valid
    }
}

/// The closing summary.
pub(crate) struct Summary<'a> {
    pub(crate) tally: &'a Tally,
    pub(crate) profile: Profile,
    pub(crate) backend: Backend,
    pub(crate) threads: usize,
    pub(crate) pinned: Option<String>,
    pub(crate) oracle: bool,
    /// From the first byte read to the last verdict written.
    pub(crate) elapsed: Duration,
}

impl Display for Summary<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let tally = self.tally;
        let mut row = |name: &str, value: &dyn Display| writeln!(f, "{name:<14}{value}");
        row("cases", &grouped(tally.cases))?;
        row("signatures", &grouped(tally.signatures))?;
        row("valid", &grouped(tally.valid))?;
        row("invalid", &grouped(tally.invalid()))?;
        for (count, reason) in [
            (tally.wrong_length, "pk or sig of the wrong length"),
            (tally.unparsed, "not a transaction"),
            (tally.miscounted, "number of signatures is not what the header requires"),
        ] {
            if count > 0 {
                row("", &format_args!("of which {}: {reason}", grouped(count)))?;
            }
        }
        if !tally.invalid.is_empty() {
            let more = if tally.invalid() > NAMED as u64 { ", …" } else { "" };
            row("", &format_args!("{}{more}", tally.invalid.join(", ")))?;
        }
        if tally.broken > 0 {
            row("broken", &grouped(tally.broken))?;
        }
        if self.oracle {
            row("differences", &grouped(tally.differences))?;
        }
        row("profile", &self.profile.name())?;
        row("backend", &self.backend.name())?;
        match &self.pinned {
            Some(cpus) => row("threads", &format_args!("{} on CPUs {cpus}", self.threads))?,
            None => row("threads", &self.threads)?,
        }
        if tally.signatures > 0 {
            let count = tally.signatures as f64;
            let each = tally.verification.as_secs_f64() * 1e6 / count;
            row("verification", &format_args!("{each:.2} µs per signature on one thread"))?;
            let rate = (count / self.elapsed.as_secs_f64()).round() as u64;
            let seconds = self.elapsed.as_secs_f64();
            row("throughput", &format_args!("{} signatures/s in {seconds:.3} s", grouped(rate)))?;
        }
        Ok(())
    }
}

/// `1234567` as `1,234,567`.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (position, digit) in digits.chars().enumerate() {
        if position > 0 && (digits.len() - position).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::grouped;

    #[test]
    fn digits_are_grouped_by_three() {
        for (number, text) in [
            (0, "0"),
            (999, "999"),
            (1_000, "1,000"),
            (123_456, "123,456"),
            (1_234_567, "1,234,567"),
        ] {
            assert_eq!(grouped(number), text);
        }
    }
}
