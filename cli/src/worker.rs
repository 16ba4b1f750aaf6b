//! Items → verdicts: what one thread does with a chunk.

use std::{
    borrow::Cow,
    io::Write,
    time::{Duration, Instant},
};

use octosig::Verifier;
use octosig_pipeline::{Rules, Sigverifier};
use solana_perf::packet::PacketBatch;

use crate::{
    cases::{Cases, Id},
    input::Chunk,
    oracle,
    plan::{Check, Plan, View, views},
    summary::Tally,
};

/// What applies to the whole run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Options {
    pub(crate) keep_going: bool,
    pub(crate) oracle: bool,
    /// The gates apply to packets only.
    pub(crate) rules: Rules,
    /// Whether lines of verdicts are wanted.
    pub(crate) verdicts: bool,
}

/// What came of a chunk.
#[derive(Debug, Default)]
pub(crate) struct Outcome {
    /// Whole lines of JSON, one per case.
    pub(crate) verdicts: Vec<u8>,
    pub(crate) tally: Tally,
    /// One line of text for each broken line of the input.
    pub(crate) broken: Vec<String>,
    /// One line of text for each case on which the oracle differs.
    pub(crate) differences: Vec<String>,
}

/// One thread's verifiers, with their scratch memory.
pub(crate) struct Worker {
    signatures: Verifier,
    packets: Sigverifier,
    options: Options,
}

impl Worker {
    /// Takes one verifier for signatures and transactions and one for packets.
    pub(crate) fn new(signatures: Verifier, packets: Verifier, options: Options) -> Self {
        Self { signatures, packets: Sigverifier::new(packets), options }
    }

    pub(crate) fn check(&mut self, chunk: Chunk) -> Outcome {
        let file = chunk.file.clone();
        let cases = Cases::decode(chunk, self.options.keep_going);
        let views = views(&cases);
        let mut outcome = Outcome::default();
        let plan = Plan::new(&cases, &views, &mut outcome.tally);
        let answers = self.verify(&plan, &mut outcome.tally);
        for ((case, view), check) in cases.cases.iter().zip(&views).zip(&plan.checks) {
            let verdict = answers.verdict(check);
            let id = || id(&case.id, &file, view.as_ref());
            outcome.tally.add_case(verdict, || id().into_owned());
            if self.options.verdicts {
                // Writing to memory cannot fail.
                let _ = writeln!(outcome.verdicts, r#"{{"id":{},"verdict":{verdict}}}"#, id());
            }
            if self.options.oracle && answers.differs(check, &plan, self.options.rules) {
                outcome.differences.push(format!(
                    "case {} of {file}: the oracle differs from octosig, which says {verdict}",
                    id()
                ));
            }
        }
        outcome.broken = cases.broken;
        outcome.tally.broken = outcome.broken.len() as u64;
        outcome.tally.differences = outcome.differences.len() as u64;
        outcome
    }

    fn verify(&mut self, plan: &Plan<'_>, tally: &mut Tally) -> Answers {
        let before = self.verified();
        let rules @ Rules { profile, .. } = self.options.rules;
        let mut valid = vec![false; plan.items.len()];
        if !valid.is_empty() {
            tally.verification += timed(|| {
                // Both have one length; were it not so, the verdicts would still be false.
                let _ = self.signatures.verify_many(profile, &plan.items, &mut valid);
            });
        }
        let mut batches = [PacketBatch::from(plan.packets.clone())];
        if !plan.packets.is_empty() {
            tally.verification += timed(|| self.packets.verify_batches(&mut batches, rules));
        }
        tally.signatures += self.verified() - before;
        let kept = batches.iter().flatten().map(|packet| !packet.meta().discard()).collect();
        Answers { valid, kept }
    }

    fn verified(&self) -> u64 {
        self.signatures.stats().signatures + self.packets.verifier().stats().signatures
    }
}

/// What the verifiers say about a [`Plan`].
struct Answers {
    /// One per item.
    valid: Vec<bool>,
    /// One per packet.
    kept: Vec<bool>,
}

impl Answers {
    fn verdict(&self, check: &Check) -> bool {
        match check {
            Check::Items(range) => self.valid[range.clone()].iter().all(|&valid| valid),
            Check::Packet(index) => self.kept[*index],
            Check::Invalid => false,
        }
    }

    /// Whether the oracle says otherwise about any signature of a case, or about its packet.
    fn differs(&self, check: &Check, plan: &Plan<'_>, rules: Rules) -> bool {
        match check {
            Check::Items(range) => {
                let mut pairs = plan.items[range.clone()].iter().zip(&self.valid[range.clone()]);
                pairs.any(|(item, valid)| octosig_oracle::verdict(rules.profile, item) != *valid)
            }
            Check::Packet(index) => {
                oracle::keeps(&plan.packets[*index], rules) != self.kept[*index]
            }
            Check::Invalid => false,
        }
    }
}

/// The name of a case as a JSON value.
fn id<'a>(id: &'a Id, file: &str, view: Option<&View<'_>>) -> Cow<'a, str> {
    let name = match id {
        Id::Json(json) => return json.get().into(),
        Id::Line(line) => format!("{file}-{line}"),
        Id::Transaction(index) => match view.and_then(|view| view.signatures().first()) {
            Some(signature) => signature.to_string(),
            None => index.to_string(),
        },
    };
    serde_json::Value::from(name).to_string().into()
}

fn timed(work: impl FnOnce()) -> Duration {
    let start = Instant::now();
    work();
    start.elapsed()
}

#[cfg(test)]
mod tests {
    use std::{fs::File, io::Read, path::Path};

    use flate2::read::GzDecoder;
    use octosig::{Profile, Verifier};
    use octosig_pipeline::Rules;

    use super::{Answers, Options, Plan, Worker, views};
    use crate::{
        cases::Cases,
        input::{Chunk, Content},
        summary::Tally,
    };

    /// The real verifiers never differ, so the oracle is shown each wrong answer here.
    #[test]
    fn the_oracle_notices_every_wrong_answer() {
        for name in ["torsion-lattice.jsonl.gz", "packets.jsonl.gz"] {
            let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../vectors").join(name);
            let mut text = Vec::new();
            GzDecoder::new(File::open(path).unwrap()).read_to_end(&mut text).unwrap();
            let content = Content::Lines(text);
            let chunk = Chunk { file: name.into(), line: 1, content, position: 0 };
            let cases = Cases::decode(chunk, false);
            assert!(cases.broken.is_empty());
            let views = views(&cases);
            let plan = Plan::new(&cases, &views, &mut Tally::default());
            assert!(!plan.checks.is_empty());
            for &profile in Profile::ALL {
                let rules = Rules { profile, ..Rules::default() };
                let options = Options { keep_going: false, oracle: true, rules, verdicts: false };
                let mut worker = Worker::new(Verifier::new(), Verifier::new(), options);
                let right = worker.verify(&plan, &mut Tally::default());
                let flipped = |verdicts: &[bool]| verdicts.iter().map(|verdict| !verdict).collect();
                let wrong = Answers { valid: flipped(&right.valid), kept: flipped(&right.kept) };
                for check in &plan.checks {
                    assert!(!right.differs(check, &plan, rules), "{name}, {profile}: {check:?}");
                    assert!(wrong.differs(check, &plan, rules), "{name}, {profile}: {check:?}");
                }
            }
        }
    }
}
