//! Inputs that were written before, and the loop that times calls over them.

use std::{
    env, fs,
    time::{Duration, Instant},
};

use rustix::time::{ClockId, clock_gettime};

/// Public key and signature stand before the message.
pub const HEADER: usize = 32 + 64;

/// Signed messages of one length, as the program `inputs` writes them.
#[derive(Debug)]
pub struct Inputs(Vec<u8>);

/// What the command line asks for.
#[derive(Debug)]
pub struct Plan {
    pub count: usize,
    pub len: usize,
    pub seconds: f64,
    /// What follows, for the program itself.
    pub rest: Vec<String>,
    pub inputs: Inputs,
}

impl Plan {
    /// Reads the arguments `FILE LEN COUNT SECONDS REST...` and the file.
    pub fn from_args() -> Result<Self, String> {
        let [file, len, count, seconds, rest @ ..] = &env::args().skip(1).collect::<Vec<_>>()[..]
        else {
            return Err("arguments: FILE LEN COUNT SECONDS [BACKEND [PROFILE [SCALARS]]]".into());
        };
        let number = |text: &str| text.parse().map_err(|error| format!("{text}: {error}"));
        let plan = Self {
            count: number(count)?,
            len: number(len)?,
            seconds: seconds.parse().map_err(|error| format!("{seconds}: {error}"))?,
            rest: rest.to_vec(),
            inputs: Inputs(fs::read(file).map_err(|error| format!("{file}: {error}"))?),
        };
        let size = plan.inputs.0.len();
        if size == 0 || !size.is_multiple_of(plan.count.saturating_mul(HEADER + plan.len)) {
            return Err(format!("{file} does not hold whole calls of {} signatures", plan.count));
        }
        Ok(plan)
    }

    /// Every input once, as (public key, signature, message).
    pub fn signed(&self) -> impl Iterator<Item = (&[u8; 32], &[u8; 64], &[u8])> {
        self.inputs.0.chunks_exact(HEADER + self.len).filter_map(|record| {
            let (public_key, rest) = record.split_first_chunk()?;
            let (signature, message) = rest.split_first_chunk()?;
            Some((public_key, signature, message))
        })
    }

    /// Times `call`, which returns whether all signatures are valid, over chunks of `count` of
    /// `items`. A round is all items once. Prints the CPU time for a signature, in nanoseconds.
    pub fn time<T>(&self, items: &[T], mut call: impl FnMut(&[T]) -> bool) -> Result<(), String> {
        let mut round = || -> Result<f64, String> {
            let before = cpu_time();
            let valid = items.chunks(self.count).all(&mut call);
            let time = cpu_time() - before;
            if !valid {
                return Err("an honest signature was rejected".into());
            }
            Ok(time.as_nanos() as f64 / items.len() as f64)
        };
        round()?;
        let start = Instant::now();
        let mut times = Vec::new();
        while times.is_empty() || start.elapsed().as_secs_f64() < self.seconds {
            times.push(round()?);
        }
        times.sort_by(f64::total_cmp);
        println!(
            r#"{{"count":{},"len":{},"rounds":{},"min_ns":{:.0},"median_ns":{:.0}}}"#,
            self.count,
            self.len,
            times.len(),
            times[0],
            times[times.len() / 2]
        );
        Ok(())
    }
}

/// Of this thread. Other processes on the CPU do not count.
fn cpu_time() -> Duration {
    clock_gettime(ClockId::ThreadCPUTime).try_into().unwrap_or_default()
}
