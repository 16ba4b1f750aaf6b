//! Standard error: complaints, and a progress bar if it is a terminal.

use std::{
    io::{self, IsTerminal, Write},
    time::Duration,
};

use indicatif::{ProgressBar, ProgressStyle};

/// Says `text` on standard error. If that is closed there is nobody left to tell.
pub(crate) fn complain(text: &str) {
    let _ = writeln!(io::stderr(), "octosig: {text}");
}

/// Standard error shared by all threads of a run.
#[derive(Clone, Debug)]
pub(crate) struct Console {
    bar: Option<ProgressBar>,
}

impl Console {
    /// `total` is the size of all input in bytes, if known.
    pub(crate) fn new(total: Option<u64>) -> Self {
        let bar = io::stderr().is_terminal().then(|| {
            let bar = total.map_or_else(ProgressBar::new_spinner, ProgressBar::new);
            let template = if total.is_some() {
                "{bar:30} {percent:>3} %  {binary_bytes}/{binary_total_bytes}  {msg}  {eta} left"
            } else {
                "{spinner} {binary_bytes}  {msg}  {elapsed}"
            };
            // An invalid template is found by the first run on a terminal; the default serves too.
            let style = ProgressStyle::with_template(template)
                .unwrap_or_else(|_| ProgressStyle::default_bar());
            bar.set_style(style);
            bar.enable_steady_tick(Duration::from_millis(200));
            bar
        });
        Self { bar }
    }

    /// Says `text` above the progress bar.
    pub(crate) fn complain(&self, text: &str) {
        match &self.bar {
            Some(bar) => bar.suspend(|| complain(text)),
            None => complain(text),
        }
    }

    pub(crate) fn advance(&self, bytes: u64, cases: u64) {
        if let Some(bar) = &self.bar {
            bar.set_position(bytes);
            bar.set_message(format!("{cases} cases"));
        }
    }

    /// Takes the progress bar away.
    pub(crate) fn finish(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}
