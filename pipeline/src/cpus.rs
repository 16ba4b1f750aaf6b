//! CPUs: which ones the process may use, which share a core, lists of them like `2-9,12`, and pinning.
//!
//! A CPU is named by its number in Linux, not by a position in any list.

use std::{
    collections::BTreeMap,
    fmt::{self, Write},
    fs,
    path::{Path, PathBuf},
    sync::OnceLock,
    thread,
};

use core_affinity::CoreId;

/// CPUs from this number on cannot be pinned to: the sets of `core_affinity` end there.
pub const LIMIT: usize = 1_024;

/// The CPUs that a process may use.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Machine {
    allowed: Vec<usize>,
    online: Vec<usize>,
    cores: Option<Vec<Vec<usize>>>,
    quota: Option<f64>,
}

impl Machine {
    /// This process's, read when it is first asked for and never again.
    ///
    /// It is the set of the process, not of the calling thread, which may have been pinned: what its main
    /// thread had then, without the CPUs that are offline.
    pub fn this() -> &'static Self {
        static THIS: OnceLock<Machine> = OnceLock::new();
        THIS.get_or_init(|| {
            let mut machine = Self::read(Path::new("/"));
            if machine.allowed.is_empty() {
                let cpus = core_affinity::get_core_ids().unwrap_or_default();
                machine.allowed = cpus.iter().map(|cpu| cpu.id).collect();
            }
            machine
        })
    }

    /// What the files of Linux below `root` say of the process: `proc/self` and `sys`. What is missing or
    /// makes no sense is left out.
    pub fn read(root: &Path) -> Self {
        let read = |file: &str| fs::read_to_string(root.join(file)).ok();
        let list = |text: Option<String>| text.and_then(|text| parse(&text).ok());
        let status = read("proc/self/status").unwrap_or_default();
        let mask = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:"));
        let online = list(read("sys/devices/system/cpu/online")).unwrap_or_default();
        let mut allowed = list(mask.map(str::to_owned)).unwrap_or_default();
        allowed.retain(|cpu| online.is_empty() || online.contains(cpu));
        allowed.sort_unstable();
        allowed.dedup();

        // A core is named by its first thread, whether the process may use that or not.
        let core = |cpu: &usize| {
            let file = format!("sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list");
            let siblings = list(read(&file))?;
            siblings.contains(cpu).then(|| siblings.into_iter().min()).flatten()
        };
        let names: Option<Vec<_>> = allowed.iter().map(core).collect();
        let cores = names.filter(|names| !names.is_empty()).map(|names| {
            let mut cores: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
            for (core, &cpu) in names.into_iter().zip(&allowed) {
                cores.entry(core).or_default().push(cpu);
            }
            cores.into_values().collect()
        });
        let groups = read("proc/self/cgroup").unwrap_or_default();
        let quota = groups.lines().flat_map(|line| quotas(root, line)).reduce(f64::min);
        Self { allowed, online, cores, quota }
    }

    /// The CPUs that the process may use, ascending; empty if the system does not say.
    pub fn allowed(&self) -> &[usize] {
        &self.allowed
    }

    /// The same CPUs by core, of which they are the threads (SMT); `None` if the system does not say.
    pub fn cores(&self) -> Option<&[Vec<usize>]> {
        self.cores.as_deref()
    }

    /// How many CPUs' time the control group of the process has, if that is limited.
    pub const fn quota(&self) -> Option<f64> {
        self.quota
    }

    /// The CPUs that the process may use in the order in which workers should take them: one of each core, then
    /// the second of each core, and so on.
    pub fn order(&self) -> Vec<usize> {
        let Some(cores) = &self.cores else { return self.allowed.clone() };
        let most = cores.iter().map(Vec::len).max().unwrap_or(0);
        let nth = |n: usize| cores.iter().filter_map(move |core| core.get(n).copied());
        (0..most).flat_map(nth).collect()
    }

    /// How many workers have a CPU of their own: as many as there are CPUs, but no more than the quota, rounded
    /// down; at least one.
    pub fn default_workers(&self) -> usize {
        let cpus = match self.allowed.len() {
            0 => thread::available_parallelism().map_or(1, usize::from),
            cpus => cpus,
        };
        // A float becomes an integer by truncation, and by saturation.
        self.quota.map_or(cpus, |quota| cpus.min(quota as usize)).max(1)
    }

    /// Checks a choice of CPUs.
    ///
    /// CPUs outside of [`Self::allowed`] may be chosen if they are online: those isolated at boot
    /// (`isolcpus`) are in nobody's set until they are asked for. Whether the system grants one, only
    /// pinning shows.
    ///
    /// # Errors
    ///
    /// If there is none, one appears twice, is not online, or is [`LIMIT`] or beyond.
    pub fn select(&self, cpus: &[usize]) -> Result<Vec<usize>, CpuError> {
        if cpus.is_empty() {
            return Err(CpuError::Empty);
        }
        for (position, &cpu) in cpus.iter().enumerate() {
            if cpu >= LIMIT {
                return Err(CpuError::TooLarge(cpu));
            }
            if !self.online.is_empty() && !self.online.contains(&cpu) {
                return Err(CpuError::Unknown { cpu, online: format(&self.online) });
            }
            if cpus.iter().take(position).any(|other| *other == cpu) {
                return Err(CpuError::Twice(cpu));
            }
        }
        Ok(cpus.to_vec())
    }
}

/// The quotas, in CPUs, that a line of `proc/self/cgroup` leads to: of the group and of all above it.
fn quotas(root: &Path, line: &str) -> Vec<f64> {
    let mut fields = line.splitn(3, ':').skip(1);
    let (Some(controllers), Some(group)) = (fields.next(), fields.next()) else {
        return Vec::new();
    };
    let base = root.join("sys/fs/cgroup");
    let (base, is_v2) = if controllers.is_empty() {
        (base, true)
    } else if controllers.split(',').any(|controller| controller == "cpu") {
        let together = base.join(controllers);
        (if together.is_dir() { together } else { base.join("cpu") }, false)
    } else {
        return Vec::new();
    };
    let group: PathBuf = group.trim_start_matches('/').into();
    group.ancestors().filter_map(|group| quota(&base.join(group), is_v2)).collect()
}

/// The quota of the group in `folder`, if it has one.
fn quota(folder: &Path, is_v2: bool) -> Option<f64> {
    let read = |file| fs::read_to_string(folder.join(file)).ok();
    let number = |text: &str| text.trim().parse().ok().filter(|number: &f64| *number > 0.0);
    let (quota, period) = if is_v2 {
        // `max` is no number.
        let text = read("cpu.max")?;
        let (quota, period) = text.trim().split_once(' ')?;
        (number(quota)?, number(period)?)
    } else {
        // −1 is no quota.
        (number(&read("cpu.cfs_quota_us")?)?, number(&read("cpu.cfs_period_us")?)?)
    };
    Some(quota / period).filter(|cpus| cpus.is_finite())
}

/// Pins the calling thread to a CPU; false if the system refuses.
pub fn pin(cpu: usize) -> bool {
    cpu < LIMIT && core_affinity::set_for_current(CoreId { id: cpu })
}

/// Reads a list like `2-9,12`, in its order, duplicates included.
///
/// # Errors
///
/// If it is not such a list, or names a CPU of [`LIMIT`] or beyond.
pub fn parse(list: &str) -> Result<Vec<usize>, CpuError> {
    let mut cpus = Vec::new();
    for part in list.trim().split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let number = |text: &str| {
            let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
            digits.then(|| text.parse::<usize>().unwrap_or(usize::MAX))
        };
        let (Some(first), Some(last)) = (number(first), number(last)) else {
            return Err(CpuError::NoList(part.into()));
        };
        if first > last {
            return Err(CpuError::Backwards(part.into()));
        }
        if last >= LIMIT {
            return Err(CpuError::TooLarge(last));
        }
        cpus.extend(first..=last);
    }
    Ok(cpus)
}

/// Writes an ascending list as `2-9,12`.
pub fn format(cpus: &[usize]) -> String {
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

/// What is wrong with a choice of CPUs.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CpuError {
    /// There is none in it.
    Empty,
    /// This part of a list is neither a CPU nor a range.
    NoList(String),
    /// The range ends before it begins.
    Backwards(String),
    /// The CPU is [`LIMIT`] or beyond.
    TooLarge(usize),
    /// The CPU appears twice.
    Twice(usize),
    /// The CPU is not online.
    Unknown {
        /// Its number.
        cpu: usize,
        /// Those that are online.
        online: String,
    },
}

impl fmt::Display for CpuError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => f.write_str("no CPU is named"),
            Self::NoList(part) => write!(f, "{part:?} is neither a CPU nor a range like 2-9"),
            Self::Backwards(part) => write!(f, "the range {part} runs backwards"),
            Self::TooLarge(cpu) => write!(f, "CPU {cpu} is beyond {}", LIMIT.saturating_sub(1)),
            Self::Twice(cpu) => write!(f, "CPU {cpu} appears twice"),
            Self::Unknown { cpu, online } => {
                write!(f, "CPU {cpu} is not among those of this machine ({online})")
            }
        }
    }
}

impl std::error::Error for CpuError {}

#[cfg(test)]
mod tests {
    use std::{
        process,
        sync::atomic::{AtomicU32, Ordering},
    };

    use super::*;

    /// A folder in the place of `/`, removed at the end.
    struct Root(PathBuf);

    impl Root {
        fn new(files: &[(&str, &str)]) -> Self {
            static NUMBER: AtomicU32 = AtomicU32::new(0);
            let number = NUMBER.fetch_add(1, Ordering::Relaxed);
            let name = format!("octosig-cpus-{}-{number}", process::id());
            let root = Self(std::env::temp_dir().join(name));
            root.add(files);
            root
        }

        fn add(&self, files: &[(&str, &str)]) {
            for (file, text) in files {
                let path = self.0.join(file);
                fs::create_dir_all(path.parent().unwrap()).unwrap();
                fs::write(path, text).unwrap();
            }
        }

        /// With so many CPUs, all allowed, of these siblings.
        fn with_cores(cores: &[&[usize]]) -> Self {
            let mut cpus = cores.concat();
            cpus.sort_unstable();
            let root = Self::new(&[]);
            root.allow(&format(&cpus));
            root.add(&[("sys/devices/system/cpu/online", &format(&cpus))]);
            for core in cores {
                for cpu in *core {
                    let file =
                        format!("sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list");
                    root.add(&[(&file, &format(core))]);
                }
            }
            root
        }

        fn allow(&self, list: &str) {
            let status =
                format!("Name:\tx\nCpus_allowed:\tff\nCpus_allowed_list:\t{list}\nMems:\n");
            self.add(&[("proc/self/status", &status)]);
        }

        fn machine(&self) -> Machine {
            Machine::read(&self.0)
        }
    }

    impl Drop for Root {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    #[test]
    fn lists_are_read_and_written() {
        assert_eq!(parse("2-5,9,0\n").unwrap(), [2, 3, 4, 5, 9, 0]);
        assert_eq!(parse("63-65,127,1023").unwrap(), [63, 64, 65, 127, 1_023]);
        assert_eq!(format(&[0, 2, 3, 4, 9, 11, 12]), "0,2-4,9,11-12");
        assert_eq!(format(&[]), "");
        for bad in ["", ",", "1,", "a", "1-", "-1", "1-2-3", "+1", "0x1", "1 2", "0-2:1/2"] {
            assert!(matches!(parse(bad), Err(CpuError::NoList(_))), "{bad:?}");
        }
        assert_eq!(parse("3-1"), Err(CpuError::Backwards("3-1".into())));
        // None of these is written out first.
        for (bad, cpu) in [
            ("1024", 1_024),
            ("0-1024", 1_024),
            ("0-99999999999", 99_999_999_999),
            ("0-99999999999999999999999", usize::MAX),
        ] {
            assert_eq!(parse(bad), Err(CpuError::TooLarge(cpu)), "{bad}");
        }
    }

    #[test]
    fn siblings_come_after_the_first_threads_of_all_cores() {
        let adjacent = Root::with_cores(&[&[0, 1], &[2, 3], &[4, 5]]);
        assert_eq!(adjacent.machine().order(), [0, 2, 4, 1, 3, 5]);
        let split = Root::with_cores(&[&[0, 4], &[1, 5], &[2, 6], &[3, 7]]);
        assert_eq!(split.machine().order(), [0, 1, 2, 3, 4, 5, 6, 7]);
        let four_threads = Root::with_cores(&[&[0, 1, 2, 3], &[4, 5, 6, 7]]);
        assert_eq!(four_threads.machine().order(), [0, 4, 1, 5, 2, 6, 3, 7]);
        let mixed = Root::with_cores(&[&[0, 1], &[2], &[3]]);
        assert_eq!(mixed.machine().order(), [0, 2, 3, 1]);
        assert_eq!(mixed.machine().default_workers(), 4);
    }

    #[test]
    fn gaps_keep_the_numbers_of_cpus() {
        let root = Root::with_cores(&[&[0, 1], &[2, 3], &[4, 5], &[6, 7]]);
        for (allowed, order) in [
            ("2,4", &[2, 4][..]),
            ("5,7", &[5, 7]),
            ("3-5", &[3, 4, 5]),
            ("1-3,6", &[1, 2, 6, 3]),
            // Offline, and possible only.
            ("0-127", &[0, 2, 4, 6, 1, 3, 5, 7]),
            ("7-1000", &[7]),
        ] {
            root.allow(allowed);
            let machine = root.machine();
            assert_eq!(machine.order(), order, "{allowed}");
            assert_eq!(machine.default_workers(), order.len());
        }
        let high = Root::with_cores(&[&[63, 64], &[65, 127], &[1_023]]);
        assert_eq!(high.machine().order(), [63, 65, 1_023, 64, 127]);
    }

    #[test]
    fn a_choice_may_name_isolated_cpus_and_no_others() {
        let root = Root::with_cores(&[&[0, 1], &[2, 3]]);
        root.allow("0-1");
        let machine = root.machine();
        assert_eq!(machine.select(&[3, 0, 2]), Ok(vec![3, 0, 2]));
        assert_eq!(machine.select(&[]), Err(CpuError::Empty));
        assert_eq!(machine.select(&[1, 0, 1]), Err(CpuError::Twice(1)));
        let online = "0-3".to_owned();
        assert_eq!(machine.select(&[4]), Err(CpuError::Unknown { cpu: 4, online }));
        assert_eq!(machine.select(&[1_024]), Err(CpuError::TooLarge(1_024)));
        assert_eq!(machine.select(&[100_000]), Err(CpuError::TooLarge(100_000)));
        let unknown = Machine::default();
        assert_eq!(unknown.select(&[63, 1_023]), Ok(vec![63, 1_023]));
        assert_eq!(unknown.select(&[usize::MAX]), Err(CpuError::TooLarge(usize::MAX)));
    }

    #[test]
    fn quotas_limit_the_workers() {
        let workers = |group: &str, files: &[(&str, &str)]| {
            let root = Root::with_cores(&[&[0, 1], &[2, 3], &[4, 5], &[6, 7]]);
            root.add(&[("proc/self/cgroup", group)]);
            root.add(files);
            root.machine().default_workers()
        };
        let v2 = |text| workers("0::/a/b\n", &[("sys/fs/cgroup/a/b/cpu.max", text)]);
        assert_eq!(v2("max 100000\n"), 8);
        assert_eq!(v2("50000 100000\n"), 1);
        assert_eq!(v2("200000 100000\n"), 2);
        assert_eq!(v2("250000 100000\n"), 2);
        assert_eq!(v2("1600000 100000\n"), 8);
        for garbage in ["", "max", "0 0", "-1 100000", "x y", "100000 0", "nan nan", "1e999 1"] {
            assert_eq!(v2(garbage), 8, "{garbage:?}");
        }
        // The parent's quota, and the least of several.
        let parent = [("sys/fs/cgroup/a/cpu.max", "300000 100000")];
        assert_eq!(workers("0::/a/b\n", &parent), 3);
        assert_eq!(workers("0::/\n", &[("sys/fs/cgroup/cpu.max", "300000 100000")]), 3);
        let both = [parent[0], ("sys/fs/cgroup/a/b/cpu.max", "400000 100000")];
        assert_eq!(workers("0::/a/b\n", &both), 3);
        // A group outside of the namespace.
        assert_eq!(workers("0::/../x\n", &[]), 8);

        let v1 = |folder: &str, quota: &str| {
            let files = ["cpu.cfs_quota_us", "cpu.cfs_period_us"]
                .map(|file| format!("sys/fs/cgroup/{folder}/a/{file}"));
            let group = "5:devices:/a\n4:cpu,cpuacct:/a\n3:cpuset:/a\n0::/\n";
            workers(group, &[(&files[0], quota), (&files[1], "100000\n")])
        };
        assert_eq!(v1("cpu,cpuacct", "-1\n"), 8);
        assert_eq!(v1("cpu,cpuacct", "50000\n"), 1);
        assert_eq!(v1("cpu,cpuacct", "200000\n"), 2);
        assert_eq!(v1("cpu", "300000\n"), 3);
        assert_eq!(v1("cpuset", "300000\n"), 8);
        for garbage in [":", "::", "\n\n", "cpu", "4:cpu", "\0"] {
            assert_eq!(workers(garbage, &[]), 8, "{garbage:?}");
        }
    }

    #[test]
    fn what_makes_no_sense_is_left_out() {
        let nothing = Root::new(&[]).machine();
        assert_eq!(nothing, Machine::default());
        assert!(nothing.order().is_empty() && nothing.default_workers() >= 1);
        for garbage in ["", "x", "9-1", "-1", "4096-5000", "\n\n", "1,,2", "99999999999999999999"] {
            let root = Root::with_cores(&[&[0, 1]]);
            root.allow(garbage);
            assert!(root.machine().order().is_empty(), "{garbage:?}");

            let root = Root::with_cores(&[&[0, 1]]);
            root.add(&[("sys/devices/system/cpu/online", garbage)]);
            assert_eq!(root.machine().order(), [0, 1], "{garbage:?}");

            let root = Root::with_cores(&[&[0, 1]]);
            let siblings = "sys/devices/system/cpu/cpu0/topology/thread_siblings_list";
            root.add(&[(siblings, garbage)]);
            assert_eq!((root.machine().order(), root.machine().cores()), (vec![0, 1], None));
        }
    }

    #[test]
    fn what_cannot_be_pinned_to_is_refused() {
        assert!([LIMIT, 100_000, usize::MAX].map(pin).iter().all(|pinned| !pinned));
    }
}
