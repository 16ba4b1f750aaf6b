//! Running the program, and files to run it on.

use std::{
    ffi::OsStr,
    fs,
    io::{Read, Write},
    path::{Path, PathBuf},
    process::{Command, Stdio},
    thread,
};

use flate2::{Compression, read::GzDecoder, write::GzEncoder};
use serde_json::Value;

pub(crate) struct Run {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Run {
    /// The lines of `--verdicts -` as (id, verdict).
    #[track_caller]
    pub(crate) fn verdicts(&self) -> Vec<(Value, bool)> {
        verdicts(&self.stdout)
    }

    /// The number in the summary's row of this name, wherever the summary went.
    #[track_caller]
    pub(crate) fn count(&self, row: &str) -> u64 {
        let mut lines = self.stdout.lines().chain(self.stderr.lines());
        let line = lines.find(|line| line.split_whitespace().next() == Some(row));
        let line = line.unwrap_or_else(|| panic!("no row {row}: {}{}", self.stdout, self.stderr));
        let number = line.split_whitespace().nth(1).unwrap();
        number.replace(',', "").parse().unwrap()
    }
}

#[track_caller]
pub(crate) fn verdicts(text: &str) -> Vec<(Value, bool)> {
    text.lines()
        .map(|line| {
            let line: Value = serde_json::from_str(line).unwrap();
            (line["id"].clone(), line["verdict"].as_bool().unwrap())
        })
        .collect()
}

pub(crate) fn octosig<S: AsRef<OsStr>>(arguments: impl IntoIterator<Item = S>) -> Run {
    octosig_with_input(arguments, b"")
}

pub(crate) fn octosig_with_input<S: AsRef<OsStr>>(
    arguments: impl IntoIterator<Item = S>,
    input: &[u8],
) -> Run {
    let mut child = Command::new(env!("CARGO_BIN_EXE_octosig"))
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let output = thread::scope(|scope| {
        // The program may end before it has read everything.
        scope.spawn(move || _ = stdin.write_all(input));
        child.wait_with_output().unwrap()
    });
    Run {
        code: output.status.code(),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

/// The path of a file of vectors/.
pub(crate) fn vectors(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../vectors").join(name)
}

/// The content of a file, decompressed if its name ends with gz.
pub(crate) fn read(path: &Path) -> Vec<u8> {
    let bytes = fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    if path.extension().is_none_or(|extension| extension != "gz") {
        return bytes;
    }
    let mut text = Vec::new();
    GzDecoder::new(&*bytes).read_to_end(&mut text).unwrap();
    text
}

pub(crate) fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

pub(crate) fn json_lines(text: &[u8]) -> Vec<Value> {
    serde_json::Deserializer::from_slice(text).into_iter().map(Result::unwrap).collect()
}

/// What a corpus says about its cases, as (id, verdict).
pub(crate) fn expected(text: &[u8], field: &str) -> Vec<(Value, bool)> {
    let verdict = |line: &Value| (line["id"].clone(), line[field].as_bool().unwrap());
    json_lines(text).iter().map(verdict).collect()
}

/// The first four lines of RFC 8032's vectors, all valid.
pub(crate) fn some_vectors() -> Vec<String> {
    let text = String::from_utf8(read(&vectors("rfc8032-7.1.jsonl"))).unwrap();
    text.lines().take(4).map(str::to_owned).collect()
}

/// A folder for one test, which the next run of it empties.
pub(crate) struct Folder(PathBuf);

impl Folder {
    pub(crate) fn new(test: &str) -> Self {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("octosig-cli").join(test);
        if path.exists() {
            fs::remove_dir_all(&path).unwrap();
        }
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    pub(crate) fn write(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        fs::write(self.path(name), content).unwrap();
        self.path(name)
    }
}

/// Arguments of different types as a list of text.
#[macro_export]
macro_rules! args {
    ($($argument:expr),* $(,)?) => {
        [$(std::ffi::OsString::from($argument)),*]
    };
}
