//! Bytes of a file or of standard input, decompressed if they are gzip.

use std::{
    collections::HashSet,
    fs::{self, File},
    io::{self, BufRead, BufReader, Cursor, Read},
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use anyhow::{Context, Result, bail, ensure};
use flate2::bufread::MultiGzDecoder;

const BUFFER: usize = 256 << 10;

/// How many bytes of all input, as it lies on disk, have been read.
#[derive(Clone, Debug, Default)]
pub(crate) struct Position(Arc<AtomicU64>);

impl Position {
    pub(super) fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

pub(crate) fn is_stdin(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// Finds what is wrong with the files before any work is done. The size of them all, if known.
pub(crate) fn check(files: &[PathBuf]) -> Result<Option<u64>> {
    let mut total = Some(0);
    let mut stdin = HashSet::new();
    for path in files {
        if is_stdin(path) {
            ensure!(stdin.insert(path), "standard input (-) can be read once only");
            total = None;
            continue;
        }
        let name = || path.display().to_string();
        let metadata = fs::metadata(path).with_context(name)?;
        if metadata.is_dir() {
            bail!("{}: is a directory", name());
        }
        if metadata.is_file() {
            // A pipe would lose its writer by being opened twice.
            File::open(path).with_context(name)?;
            total = total.map(|total: u64| total.saturating_add(metadata.len()));
        } else {
            total = None;
        }
    }
    Ok(total)
}

pub(super) fn open(path: &Path, position: &Position) -> Result<Box<dyn BufRead>> {
    let raw: Box<dyn Read> =
        if is_stdin(path) { Box::new(io::stdin()) } else { Box::new(File::open(path)?) };
    let mut counted = Counted { raw, position: position.clone() };
    let mut magic = Vec::new();
    counted.by_ref().take(4).read_to_end(&mut magic)?;
    let gzip = magic.starts_with(&[0x1f, 0x8b]);
    ensure!(magic != [0x28, 0xb5, 0x2f, 0xfd], "compressed with zstd; octosig reads gzip or plain");
    let all = BufReader::with_capacity(BUFFER, Cursor::new(magic).chain(counted));
    Ok(if gzip {
        Box::new(BufReader::with_capacity(BUFFER, MultiGzDecoder::new(all)))
    } else {
        Box::new(all)
    })
}

struct Counted {
    raw: Box<dyn Read>,
    position: Position,
}

impl Read for Counted {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let length = self.raw.read(buffer)?;
        self.position.0.fetch_add(length as u64, Ordering::Relaxed);
        Ok(length)
    }
}
