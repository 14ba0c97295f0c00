//! How much memory there is, and what does not fit into it.
//!
//! Where the sizes of something are known before it is made (arms × states², trajectories × steps × arms), [`require`] refuses what cannot
//! fit, with what it takes and what there is, in the place of a process that is killed half way. What there is, is the smallest of:
//!
//! | limit | where Linux says it |
//! |---|---|
//! | what the machine can give without harm to others, with what it may put aside | `MemAvailable` and `SwapFree` in `/proc/meminfo` |
//! | what the group of this process may have, and all groups around it | `memory.max`, or `memory.limit_in_bytes`, less what is in use; files that are merely remembered count as free |
//! | the addresses that the process may have (`ulimit -v`) | `/proc/self/limits`, less `VmSize` in `/proc/self/status` |
//!
//! Where nothing of this can be read, nothing is known and nothing is refused.

use crate::error::{Error, Result};
use std::fs;

/// Refuses what takes more bytes than there are; `place` is what messages name, `what` is what it takes them for.
pub fn require(place: impl ToString, what: impl ToString, needed: f64) -> Result<()> {
    match available() {
        Some(found) if needed > found as f64 => {
            Err(Error::Memory { place: place.to_string(), what: what.to_string(), needed, found })
        }
        _ => Ok(()),
    }
}

/// The bytes that this process can still have, where the system says.
pub fn available() -> Option<u64> {
    of_system(|path| fs::read_to_string(path).ok())
}

fn of_system(read: impl Fn(&str) -> Option<String>) -> Option<u64> {
    let machine = read("/proc/meminfo").and_then(|text| {
        let kibibytes = field(&text, "MemAvailable:")? + field(&text, "SwapFree:").unwrap_or(0);
        Some(1024 * kibibytes)
    });
    let addresses = read("/proc/self/limits").and_then(|text| {
        let most = field(&text, "Max address space")?;
        let used = 1024 * field(&read("/proc/self/status")?, "VmSize:")?;
        Some(most.saturating_sub(used))
    });
    let groups = read("/proc/self/cgroup").and_then(|text| of_groups(&text, &read));
    [machine, addresses, groups].into_iter().flatten().min()
}

/// The least that any group of this process has left. A line is `NUMBER:CONTROLLERS:PATH`, without controllers for version 2.
fn of_groups(groups: &str, read: &impl Fn(&str) -> Option<String>) -> Option<u64> {
    let mut least = None;
    for line in groups.lines() {
        let mut parts = line.splitn(3, ':').skip(1);
        let (Some(controllers), Some(path)) = (parts.next(), parts.next()) else { continue };
        let (root, most, used, files) = match controllers {
            "" => ("/sys/fs/cgroup", "memory.max", "memory.current", ["inactive_file", "active_file"]),
            _ if controllers.split(',').any(|name| name == "memory") => (
                "/sys/fs/cgroup/memory",
                "memory.limit_in_bytes",
                "memory.usage_in_bytes",
                ["total_inactive_file", "total_active_file"],
            ),
            _ => continue,
        };
        // the group itself, then those around it
        let mut path = path.trim_end_matches('/');
        loop {
            let file = |name: &str| read(&format!("{root}{path}/{name}"));
            let number = |name: &str| file(name)?.trim().parse::<u64>().ok();
            if let Some(most) = number(most) {
                let remembered = file("memory.stat").map_or(0, |stat| {
                    files.iter().filter_map(|name| field(&stat, &format!("{name} "))).sum::<u64>()
                });
                let used = number(used).unwrap_or(0).saturating_sub(remembered);
                let left = most.saturating_sub(used);
                least = Some(least.map_or(left, |least: u64| least.min(left)));
            }
            match path.rfind('/') {
                Some(end) => path = &path[..end],
                None => break,
            }
        }
    }
    least
}

/// The number after a name at the start of a line; none where it is a word, such as `unlimited`.
fn field(text: &str, name: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    line.split_whitespace().next()?.parse().ok()
}

/// 3.2 GB
pub(crate) fn in_words(bytes: f64) -> String {
    const UNITS: [&str; 6] = ["bytes", "kB", "MB", "GB", "TB", "PB"];
    let mut scaled = bytes;
    let mut units = UNITS.into_iter();
    let mut unit = units.next().unwrap_or_default();
    while scaled >= 999.5
        && let Some(larger) = units.next()
    {
        (scaled, unit) = (scaled / 1000.0, larger);
    }
    if unit == UNITS[0] || scaled >= 99.95 {
        format!("{scaled:.0} {unit}")
    } else {
        format!("{scaled:.1} {unit}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a system of these files says.
    fn said(files: &[(&str, &str)]) -> Option<u64> {
        of_system(|path| files.iter().find(|(name, _)| *name == path).map(|(_, text)| text.to_string()))
    }

    const MACHINE: (&str, &str) = (
        "/proc/meminfo",
        "MemTotal: 16000 kB\nMemFree: 10 kB\nMemAvailable:    8000 kB\nSwapFree: 1000 kB\n",
    );

    #[test]
    fn the_smallest_limit_counts() {
        assert_eq!(said(&[]), None);
        assert_eq!(said(&[MACHINE]), Some(9000 * 1024));
        let unlimited = (
            "/proc/self/limits",
            "Max address space         unlimited            unlimited            bytes\n",
        );
        let limited = (
            "/proc/self/limits",
            "Max data size  unlimited unlimited bytes\nMax address space         5000000     9000000    bytes\n",
        );
        let status = ("/proc/self/status", "Name: restive\nVmSize:\t    1000 kB\n");
        assert_eq!(said(&[MACHINE, unlimited, status]), Some(9000 * 1024));
        assert_eq!(said(&[MACHINE, limited, status]), Some(5_000_000 - 1000 * 1024));
        assert_eq!(said(&[limited, ("/proc/self/status", "VmSize: 9999999 kB")]), Some(0));
    }

    #[test]
    fn groups_count_with_those_around_them() {
        let group = ("/proc/self/cgroup", "0::/user/session\n");
        let stat = "anon 100\ninactive_file 700\nactive_file 100\n";
        let inner = [
            ("/sys/fs/cgroup/user/session/memory.max", "3000\n"),
            ("/sys/fs/cgroup/user/session/memory.current", "1000\n"),
            ("/sys/fs/cgroup/user/session/memory.stat", stat),
        ];
        let files = |more: &[(&'static str, &'static str)]| [&[MACHINE, group], &inner[..], more].concat();
        assert_eq!(said(&files(&[])), Some(2800));
        assert_eq!(said(&files(&[("/sys/fs/cgroup/user/memory.max", "max\n")])), Some(2800));
        assert_eq!(said(&files(&[("/sys/fs/cgroup/user/memory.max", "2000\n")])), Some(2000));
        // a container sees its own group as the root
        let container = [MACHINE, ("/proc/self/cgroup", "0::/\n"), ("/sys/fs/cgroup/memory.max", "5000")];
        assert_eq!(said(&container), Some(5000));
        let older = [
            MACHINE,
            ("/proc/self/cgroup", "9:cpu,cpuacct:/a\n4:memory:/a\n0::/\n"),
            ("/sys/fs/cgroup/memory/a/memory.limit_in_bytes", "9223372036854771712"),
            ("/sys/fs/cgroup/memory/memory.limit_in_bytes", "4000"),
            ("/sys/fs/cgroup/memory/memory.usage_in_bytes", "1500"),
            (
                "/sys/fs/cgroup/memory/memory.stat",
                "cache 1\ntotal_inactive_file 400\ntotal_active_file 100\n",
            ),
        ];
        assert_eq!(said(&older), Some(3000));
    }

    #[test]
    fn sizes_are_told_in_words() {
        assert_eq!(
            [0.0, 999.0, 1500.0, 3.21e9, 4e14, 5e17].map(in_words),
            ["0 bytes", "999 bytes", "1.5 kB", "3.2 GB", "400 TB", "500 PB"]
        );
        assert_eq!(in_words(1e30), "1000000000000000 PB");
    }
}
