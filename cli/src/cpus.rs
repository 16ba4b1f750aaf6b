//! CPUs: which ones the process may use, which share a core, and lists of them like `2-9,12`.

use std::{fmt::Write, fs};

use anyhow::{Context, Result, bail, ensure};

/// The CPUs this process may run on, ascending; empty if the system does not say.
///
/// To be read before any thread is pinned: a pinned thread and its children see their own CPU only.
pub(crate) fn allowed() -> Vec<u16> {
    let cpus = core_affinity::get_core_ids().unwrap_or_default();
    cpus.iter().filter_map(|cpu| u16::try_from(cpu.id).ok()).collect()
}

/// Reads a list like `2-9,12`, in its order, duplicates included.
pub(crate) fn parse(list: &str) -> Result<Vec<u16>> {
    let mut cpus = Vec::new();
    for part in list.trim().split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let number = |text: &str| {
            let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
            digits.then(|| text.parse::<u16>().ok()).flatten()
        };
        let (Some(first), Some(last)) = (number(first), number(last)) else {
            bail!("{part:?} in the CPU list {list:?} is neither a CPU nor a range like 2-9");
        };
        ensure!(first <= last, "the range {part} in the CPU list {list:?} runs backwards");
        cpus.extend(first..=last);
    }
    Ok(cpus)
}

/// Reads the list of `--cpus`: each CPU once, and only those that the process may use.
pub(crate) fn select(list: &str, allowed: &[u16]) -> Result<Vec<u16>> {
    let cpus = parse(list).context("--cpus")?;
    for (position, cpu) in cpus.iter().enumerate() {
        ensure!(
            allowed.contains(cpu),
            "--cpus: CPU {cpu} is not among those this process may use ({})",
            format(allowed)
        );
        ensure!(!cpus[..position].contains(cpu), "--cpus: CPU {cpu} appears twice in {list:?}");
    }
    Ok(cpus)
}

/// Writes an ascending list as `2-9,12`.
pub(crate) fn format(cpus: &[u16]) -> String {
    let mut text = String::new();
    for run in cpus.chunk_by(|a, b| a.checked_add(1) == Some(*b)) {
        let comma = if text.is_empty() { "" } else { "," };
        // Writing to a string cannot fail.
        let _ = match run {
            [first, .., last] => write!(text, "{comma}{first}-{last}"),
            [only] => write!(text, "{comma}{only}"),
            [] => Ok(()),
        };
    }
    text
}

/// The `allowed` CPUs, grouped by physical core (SMT siblings together); `None` if the system does
/// not tell which CPUs are siblings.
pub(crate) fn cores(allowed: &[u16]) -> Option<Vec<Vec<u16>>> {
    let mut cores: Vec<Vec<u16>> = Vec::new();
    for &cpu in allowed {
        if cores.iter().any(|core| core.contains(&cpu)) {
            continue;
        }
        let file = format!("/sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list");
        let siblings = parse(&fs::read_to_string(file).ok()?).ok()?;
        let siblings: Vec<_> = siblings.into_iter().filter(|cpu| allowed.contains(cpu)).collect();
        cores.push(if siblings.contains(&cpu) { siblings } else { vec![cpu] });
    }
    Some(cores)
}

#[cfg(test)]
mod tests {
    use super::{format, parse, select};

    #[test]
    fn lists_are_read_and_written() {
        assert_eq!(parse("2-5,9,0\n").unwrap(), [2, 3, 4, 5, 9, 0]);
        assert_eq!(format(&[0, 2, 3, 4, 9, 11, 12]), "0,2-4,9,11-12");
        assert_eq!(format(&[]), "");
        for bad in ["", ",", "1,", "a", "1-", "-1", "3-1", "1-2-3", "+1", "0x1", "99999999999"] {
            assert!(parse(bad).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn a_selection_keeps_its_order_and_refuses_strangers_and_duplicates() {
        let allowed = [0, 1, 2, 3];
        assert_eq!(select("3,0-1", &allowed).unwrap(), [3, 0, 1]);
        assert!(select("0,4", &allowed).unwrap_err().to_string().contains("CPU 4 is not among"));
        assert!(select("0-2,1", &allowed).unwrap_err().to_string().contains("CPU 1 appears twice"));
        assert!(select("0-65535", &allowed).unwrap_err().to_string().contains("CPU 4"));
    }
}
