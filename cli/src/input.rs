//! Files → chunks of cases.
//!
//! One thread reads all files in order and cuts them into chunks, small enough that any number of
//! lines passes through bounded memory, large enough to fill lanes. Only a block, which is one JSON
//! document, has to be in memory at once.

mod block;
mod source;

use std::{
    io::{BufRead, Read},
    mem,
    path::PathBuf,
    sync::Arc,
};

use anyhow::{Context, Result};

pub(crate) use block::{Encoded, describe};
pub(crate) use source::{check, is_stdin};

use crate::console::Console;
use source::{Position, open};

/// Cases per chunk: what one worker takes at a time and verifies together.
const CASES: usize = 256;
/// A chunk of lines ends with the line that brings it to this many bytes.
const CHUNK_BYTES: usize = 256 << 10;
/// The longest line, and the largest block, in bytes.
const MAX_DOCUMENT: u64 = 256 << 20;

/// Some cases that lie next to each other in one file.
#[derive(Debug)]
pub(crate) struct Chunk {
    /// The file as it was named on the command line.
    pub(crate) file: Arc<str>,
    /// The line of the first case; lines count from 1.
    pub(crate) line: u64,
    pub(crate) content: Content,
    /// How many bytes of all input had been read with this chunk.
    pub(crate) position: u64,
}

#[derive(Debug)]
pub(crate) enum Content {
    /// Whole lines of which each holds a case, if it is not blank.
    Lines(Vec<u8>),
    /// Transactions of a block, the first of which has this index in it.
    Transactions(usize, Vec<Encoded>),
    /// A block that cannot be used, and why.
    Broken(String),
}

/// How a file holds its cases.
#[derive(Debug, PartialEq, Eq)]
enum Layout {
    /// One case per line.
    Lines,
    /// One block per line.
    Blocks,
    /// Blocks that run over many lines.
    Document,
}

/// Whoever takes the chunks has gone away.
pub(crate) struct Gone;

/// Reads `files` and hands every chunk to `emit`, until that fails or the files end.
pub(crate) fn read(
    files: &[PathBuf],
    console: &Console,
    emit: impl FnMut(Chunk) -> Result<(), Gone>,
) -> Result<()> {
    let position = Position::default();
    let mut reader = Reader { emit, position: position.clone(), file: Arc::from(""), line: 1 };
    for path in files {
        reader.file = if is_stdin(path) { "-".into() } else { path.to_string_lossy().into() };
        reader.line = 1;
        let mut input = open(path, &position).with_context(|| reader.file.to_string())?;
        match reader.read_file(&mut *input) {
            Ok(true) => {}
            Ok(false) => console.complain(&format!("warning: {}: no case in it", reader.file)),
            Err(Stop::Gone) => return Ok(()),
            Err(Stop::Failed(error)) => return Err(error.context(reader.file.to_string())),
        }
    }
    Ok(())
}

/// Why reading ends early.
enum Stop {
    Gone,
    Failed(anyhow::Error),
}

impl From<Gone> for Stop {
    fn from(_: Gone) -> Self {
        Self::Gone
    }
}

impl From<anyhow::Error> for Stop {
    fn from(error: anyhow::Error) -> Self {
        Self::Failed(error)
    }
}

struct Reader<F> {
    emit: F,
    position: Position,
    file: Arc<str>,
    line: u64,
}

impl<F: FnMut(Chunk) -> Result<(), Gone>> Reader<F> {
    /// Whether the file holds anything.
    fn read_file(&mut self, input: &mut dyn BufRead) -> Result<bool, Stop> {
        let mut text = Vec::new();
        while text.trim_ascii().is_empty() {
            self.line += u64::from(!text.is_empty());
            text.clear();
            if self.read_line(input, &mut text)? == 0 {
                return Ok(false);
            }
            if self.line == 1 && text.starts_with(b"\xef\xbb\xbf") {
                text.drain(..3);
            }
        }
        match layout(&text) {
            Layout::Lines => self.read_lines(input, text)?,
            Layout::Blocks => loop {
                self.blocks(&text)?;
                self.line += 1;
                text.clear();
                if self.read_line(input, &mut text)? == 0 {
                    break;
                }
            },
            Layout::Document => {
                let mut rest = input.take(MAX_DOCUMENT + 1);
                rest.read_to_end(&mut text).map_err(anyhow::Error::from)?;
                if text.len() as u64 > MAX_DOCUMENT {
                    return Err(too_large(self.line).into());
                }
                self.blocks(&text)?;
            }
        }
        Ok(true)
    }

    /// Appends the next line, with its end, to `text`; 0 at the end of the file.
    fn read_line(&self, input: &mut dyn BufRead, text: &mut Vec<u8>) -> Result<usize> {
        let length = input.take(MAX_DOCUMENT).read_until(b'\n', text)?;
        if length as u64 == MAX_DOCUMENT && !text.ends_with(b"\n") {
            return Err(too_large(self.line));
        }
        Ok(length)
    }

    /// Cuts the rest of the file, of which `text` is the first line, into chunks of lines.
    fn read_lines(&mut self, input: &mut dyn BufRead, mut text: Vec<u8>) -> Result<(), Stop> {
        let mut count = 1;
        loop {
            let whole = text.len();
            let next = self.read_line(input, &mut text);
            if next.is_err() {
                // The lines before the one that cannot be read still count.
                text.truncate(whole);
            }
            let ended = !matches!(next, Ok(1..));
            let full = count == CASES || whole >= CHUNK_BYTES;
            if ended || full {
                let rest = text.split_off(whole);
                let lines = mem::replace(&mut text, rest);
                self.emit(self.line, Content::Lines(lines))?;
                self.line += count as u64;
                count = 0;
            }
            next?;
            if ended {
                return Ok(());
            }
            count += 1;
        }
    }

    /// Emits the transactions of the blocks in `text`, which begins on the current line.
    fn blocks(&mut self, text: &[u8]) -> Result<(), Stop> {
        for (lines_before, block) in block::parse(text) {
            let line = self.line + lines_before;
            match block {
                Err(why) => self.emit(line, Content::Broken(why))?,
                Ok(mut transactions) => {
                    let mut first = 0;
                    while !transactions.is_empty() {
                        let rest = transactions.split_off(CASES.min(transactions.len()));
                        let some = mem::replace(&mut transactions, rest);
                        let count = some.len();
                        self.emit(line, Content::Transactions(first, some))?;
                        first += count;
                    }
                }
            }
        }
        Ok(())
    }

    fn emit(&mut self, line: u64, content: Content) -> Result<(), Gone> {
        let position = self.position.get();
        (self.emit)(Chunk { file: Arc::clone(&self.file), line, content, position })
    }
}

fn too_large(line: u64) -> anyhow::Error {
    anyhow::anyhow!("line {line}: longer than {} MiB", MAX_DOCUMENT >> 20)
}

/// Recognises the layout of a file by its first line.
fn layout(line: &[u8]) -> Layout {
    let text = String::from_utf8_lossy(line);
    if ["\"pk\"", "\"tx_base64\"", "\"packet_base64\""].iter().any(|key| text.contains(key)) {
        return Layout::Lines;
    }
    match block::probe(line) {
        Some(true) => Layout::Blocks,
        Some(false) => Layout::Lines,
        None => Layout::Document,
    }
}

#[cfg(test)]
mod tests {
    use super::{Layout, layout};

    #[test]
    fn the_first_line_tells_the_layout() {
        for (line, expected) in [
            (r#"{"id":1,"pk":"00","msg":"","sig":"00"}"#, Layout::Lines),
            (r#"{"tx_base64":"AA=="}"#, Layout::Lines),
            (r#"{"id":"x","packet_base64":"AA"#, Layout::Lines),
            (r#"{"jsonrpc":"2.0","result":{"transactions":[]}}"#, Layout::Blocks),
            (r#"{"transactions":[]}"#, Layout::Blocks),
            (r#"{"jsonrpc":"2.0","result":null}"#, Layout::Blocks),
            ("{\n", Layout::Document),
            ("{\"jsonrpc\": \"2.0\",\n", Layout::Document),
            ("{}", Layout::Lines),
            ("[1]", Layout::Lines),
            ("hello", Layout::Lines),
        ] {
            assert_eq!(layout(line.as_bytes()), expected, "{line}");
        }
    }
}
