//! The matrix corpus × profile: how many cases octosig accepts, and on how many it differs.
//!
//!     cargo run --release --example conformance -- [--json] [FOLDER]
//!
//! The corpora are those of vectors/, Wycheproof's and the edges of the rules, and with FOLDER all
//! of its files `*.jsonl` that hold signatures (vectors/README.md). A difference is a case on which
//! any two of these disagree: each available backend, the stored verdict, the oracle of the profile
//! and its second opinion. The exit code is 1 if there is one.

use std::{env, error::Error, path::Path, process::ExitCode};

use octosig::{Backend, Item, Profile, Verifier};
use octosig_cases::corpora::{self, Corpus};
use octosig_oracle as oracle;
use serde_json::{Value, json};

/// One corpus under one profile.
struct Cell {
    profile: Profile,
    accepted: usize,
    differences: usize,
}

fn main() -> Result<ExitCode, Box<dyn Error>> {
    let (options, folders): (Vec<String>, Vec<String>) =
        env::args().skip(1).partition(|argument| argument.starts_with('-'));
    let as_json = match options.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [] => false,
        ["--json"] => true,
        _ => return Err("usage: conformance [--json] [FOLDER]".into()),
    };
    let mut corpora = corpora::built_in();
    for folder in &folders {
        corpora.extend(corpora::of_folder(Path::new(folder))?);
    }
    let mut verifiers = Vec::new();
    for &backend in Backend::ALL.iter().filter(|backend| backend.is_available()) {
        verifiers.push(Verifier::with_backend(backend)?);
    }
    let rows: Vec<(&Corpus, Vec<Cell>)> = corpora
        .iter()
        .map(|corpus| {
            let cells = Profile::ALL.iter().map(|profile| cell(corpus, *profile, &mut verifiers));
            (corpus, cells.collect())
        })
        .collect();
    if as_json {
        println!("{:#}", to_json(&rows, &verifiers));
    } else {
        print_table(&rows, &verifiers);
    }
    let differences: usize =
        rows.iter().flat_map(|(_, cells)| cells).map(|cell| cell.differences).sum();
    Ok(if differences == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn cell(corpus: &Corpus, profile: Profile, verifiers: &mut [Verifier]) -> Cell {
    let items: Vec<Item<'_>> = corpus.cases.iter().map(|case| case.item()).collect();
    let by_backend: Vec<Vec<bool>> = verifiers
        .iter_mut()
        .map(|verifier| {
            let mut verdicts = vec![false; items.len()];
            verifier.verify_many(profile, &items, &mut verdicts).expect("as many as items");
            verdicts
        })
        .collect();
    let differs = |i: usize| {
        let stored = corpus.cases[i].verdicts.of(profile);
        by_backend.iter().any(|verdicts| verdicts[i] != stored)
            || oracle::verdict(profile, &items[i]) != stored
            || oracle::second_opinion(profile, &items[i]).is_some_and(|second| second != stored)
    };
    // The last backend is the fastest one.
    let accepted = by_backend.last().into_iter().flatten().filter(|accepted| **accepted).count();
    Cell { profile, accepted, differences: (0..items.len()).filter(|i| differs(*i)).count() }
}

fn print_table(rows: &[(&Corpus, Vec<Cell>)], verifiers: &[Verifier]) {
    let backends: Vec<&str> = verifiers.iter().map(|verifier| verifier.backend().name()).collect();
    println!("accepted / cases / differences, backends: {}\n", backends.join(", "));
    print!("{:24}", "corpus");
    for profile in Profile::ALL {
        print!("{:>22}", profile.name());
    }
    println!();
    for (corpus, cells) in rows {
        print!("{:24}", corpus.name);
        for Cell { accepted, differences, .. } in cells {
            print!("{:>22}", format!("{accepted} / {} / {differences}", corpus.cases.len()));
        }
        println!();
    }
}

fn to_json(rows: &[(&Corpus, Vec<Cell>)], verifiers: &[Verifier]) -> Value {
    let cell = |cell: &Cell| {
        let Cell { profile, accepted, differences } = cell;
        json!({ "profile": profile.name(), "accepted": accepted, "differences": differences })
    };
    let row = |(corpus, cells): &(&Corpus, Vec<Cell>)| {
        let profiles: Vec<Value> = cells.iter().map(cell).collect();
        json!({ "corpus": corpus.name, "cases": corpus.cases.len(), "profiles": profiles })
    };
    let backends: Vec<&str> = verifiers.iter().map(|verifier| verifier.backend().name()).collect();
    json!({ "backends": backends, "corpora": rows.iter().map(row).collect::<Vec<_>>() })
}
