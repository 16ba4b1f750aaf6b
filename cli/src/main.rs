//! `octosig`: verifies the Ed25519 signatures of files of vectors, transactions, packets and blocks.
//!
//! # Reading order
//! `args` (what the user asked for) → `input` (files → chunks of cases) → `cases` (text → bytes) →
//! `plan` (bytes → items) → `worker` (items → verdicts) → `verify` (the threads around these steps,
//! and the order of the output) → `summary`. `doctor` describes the machine.
//!
//! # Exit codes
//! `verify`: 0 all cases valid; 1 at least one invalid; 2 the run could not say: usage, input or
//! output, an unusable backend, a broken line, or a difference to the oracle.
//! `doctor`: 0 fine; 1 a self-test failed; 2 as above.

mod args;
mod cases;
mod console;
mod doctor;
mod input;
mod oracle;
mod plan;
mod summary;
mod verify;
mod worker;

use std::{
    io::{self, Write},
    process::ExitCode,
};

use args::{Args, Command};
use clap::Parser;

/// The exit code of a run that could not say.
const CANNOT_SAY: u8 = 2;

fn main() -> ExitCode {
    let args = match Args::try_parse() {
        Ok(args) => args,
        Err(help) if !help.use_stderr() => {
            // A reader that closed the pipe has seen what it wanted of the help.
            let _ = help.print();
            return ExitCode::SUCCESS;
        }
        Err(usage) => {
            console::complain(&args::one_line(&usage));
            return ExitCode::from(CANNOT_SAY);
        }
    };
    let code = match args.command {
        Command::Verify(options) => verify::run(&options),
        Command::Doctor(options) => doctor::run(&options),
    };
    match code.and_then(|code| Ok(io::stdout().flush().map(|()| code)?)) {
        Ok(code) => ExitCode::from(code),
        Err(error) => {
            if !is_closed_pipe(&error) {
                console::complain(&format!("{error:#}"));
            }
            ExitCode::from(CANNOT_SAY)
        }
    }
}

/// Whether whoever read our output has gone away, which `head` does and nobody needs to be told.
fn is_closed_pipe(error: &anyhow::Error) -> bool {
    error.downcast_ref::<io::Error>().is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
}
