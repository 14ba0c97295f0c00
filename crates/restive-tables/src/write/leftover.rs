//! The names of drafts, and what is left of a run that was killed.
//!
//! A draft is called `.restive-HOST-PROCESS-RANDOM.tmp`, where HOST stands for the machine and its space of process numbers. Who is
//! killed with -9, or by a power cut, leaves its drafts behind. The first draft of a run in a folder is the occasion to look for
//! them there:
//!
//! | whose draft | is removed |
//! |---|---|
//! | of a process of this host that is gone | at once |
//! | of a process of this host with a number that is in use, perhaps again | after a [`DAY`] without a change |
//! | of another host, in a folder that is shared or synchronised | after a day without a change |
//! | of an earlier version, `.restive-RANDOM.tmp` | after a day without a change |
//!
//! What is called otherwise is not looked at.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{LazyLock, Mutex, PoisonError};
use std::time::Duration;
use xxhash_rust::xxh3::xxh3_64;

const START: &str = ".restive-";
const END: &str = ".tmp";
/// Characters of the random part.
const RANDOM: usize = 6;
/// So long without a change means that nobody is writing any more.
const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// Makes a draft of this process.
pub(super) fn named<T>(make: impl FnOnce(&mut tempfile::Builder<'_, '_>) -> T) -> T {
    let prefix = format!("{START}{}-{}-", *HOST, std::process::id());
    make(tempfile::Builder::new().prefix(&prefix).suffix(END).rand_bytes(RANDOM))
}

/// The machine and the space of process numbers, as 8 hexadecimal digits.
static HOST: LazyLock<String> = LazyLock::new(|| {
    let mut known = Vec::new();
    #[cfg(unix)]
    known.extend_from_slice(rustix::system::uname().nodename().to_bytes());
    known.push(0);
    // Linux: the name may be "localhost" on every machine, and a container has process numbers of its own
    known.extend(fs::read("/etc/machine-id").unwrap_or_default());
    known.push(0);
    let space = fs::read_link("/proc/self/ns/pid").unwrap_or_default();
    known.extend_from_slice(space.as_os_str().as_encoded_bytes());
    format!("{:08x}", xxh3_64(&known) as u32)
});

/// Removes the drafts that runs which were killed left in a folder; the first time in a run.
pub fn remove_from(folder: &Path) {
    static LOOKED_AT: LazyLock<Mutex<HashSet<PathBuf>>> = LazyLock::new(Default::default);
    if LOOKED_AT.lock().unwrap_or_else(PoisonError::into_inner).insert(folder.into()) {
        look_at(folder);
    }
}

fn look_at(folder: &Path) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        if let Some(name) = entry.file_name().to_str()
            && let Some(owner) = owner(name)
            && (owner.is_some_and(is_gone) || is_untouched(&entry.path()))
        {
            // one that stays is no reason not to work
            let _ = remove(&entry.path());
        }
    }
}

/// Removes a file or a folder; of a link, the link.
pub(super) fn remove(path: &Path) -> std::io::Result<()> {
    if fs::symlink_metadata(path)?.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) }
}

/// For the name of a draft, the process of this host that it belongs to; `Some(None)`: whoever else.
fn owner(name: &str) -> Option<Option<u32>> {
    let parts: Vec<&str> = name.strip_prefix(START)?.strip_suffix(END)?.split('-').collect();
    let is_word =
        |word: &str, length| word.len() == length && word.bytes().all(|b| b.is_ascii_alphanumeric());
    match parts[..] {
        [random] if is_word(random, RANDOM) => Some(None),
        [host, process, random] if is_word(host, 8) && is_word(random, RANDOM) => {
            let process = process.parse().ok()?;
            Some((host == *HOST).then_some(process))
        }
        _ => None,
    }
}

#[cfg(unix)]
fn is_gone(process: u32) -> bool {
    let number = i32::try_from(process).ok().and_then(rustix::process::Pid::from_raw);
    let answer = number.map(rustix::process::test_kill_process);
    answer == Some(Err(rustix::io::Errno::SRCH))
}

/// Where the system is not asked, drafts go by their age.
#[cfg(not(unix))]
fn is_gone(_: u32) -> bool {
    false
}

/// Whether nothing in it has changed for a day.
fn is_untouched(path: &Path) -> bool {
    let Ok(found) = fs::symlink_metadata(path) else { return false };
    let age = found.modified().ok().and_then(|changed| changed.elapsed().ok());
    let mut within = fs::read_dir(path).into_iter().flatten().flatten();
    age.is_some_and(|age| age > DAY) && (!found.is_dir() || within.all(|entry| is_untouched(&entry.path())))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::File;
    use std::time::SystemTime;

    #[test]
    fn only_names_of_drafts_are_looked_at() {
        let (folder, own) = (tempfile::tempdir().unwrap(), std::process::id());
        let draft = named(|builder| builder.tempfile_in(folder.path())).unwrap();
        assert_eq!(owner(draft.path().file_name().unwrap().to_str().unwrap()), Some(Some(own)));
        assert_eq!(owner(&format!(".restive-{}-17-aB3xyZ.tmp", *HOST)), Some(Some(17)));
        assert_eq!(owner(".restive-zzzzzzzz-17-aB3xyZ.tmp"), Some(None));
        assert_eq!(owner(".restive-aB3xyZ.tmp"), Some(None));
        for other in
            [".restive-mine.tmp", ".restive-aB3xyZ.old", "restive-aB3xyZ.tmp", ".restive-1-x-aB3xyZ.tmp", ""]
        {
            assert_eq!(owner(other), None, "{other}");
        }
    }

    #[test]
    fn drafts_go_when_their_owner_is_gone_or_after_a_day() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        let own = format!(".restive-{}-{}-aaaaaa.tmp", *HOST, std::process::id());
        let [foreign, earlier] = [".restive-zzzzzzzz-17-aaaaaa.tmp", ".restive-aB3xyZ.tmp"];
        for name in [&own, foreign, earlier, ".restive-notes.tmp"] {
            fs::write(path(name), "").unwrap();
        }
        // a process that has been waited for is gone
        let mut child = std::process::Command::new(std::env::current_exe().unwrap());
        let mut child = child.arg("--list").stdout(std::process::Stdio::null()).spawn().unwrap();
        child.wait().unwrap();
        let gone = format!(".restive-{}-{}-aaaaaa.tmp", *HOST, child.id());
        fs::create_dir(path(&gone)).unwrap();
        fs::write(path(&gone).join("arms.csv"), "").unwrap();
        look_at(folder.path());
        assert_eq!(path(&gone).exists(), cfg!(not(unix)));
        assert!([&own, foreign, earlier].iter().all(|name| path(name).exists()), "they may be in use");

        for name in [&own, foreign, earlier, ".restive-notes.tmp"] {
            let file = File::options().write(true).open(path(name)).unwrap();
            file.set_modified(SystemTime::now() - 2 * DAY).unwrap();
        }
        look_at(folder.path());
        let left: Vec<_> = fs::read_dir(folder.path()).unwrap().map(|e| e.unwrap().file_name()).collect();
        assert_eq!(left, [".restive-notes.tmp"], "what is called otherwise is not ours");
    }
}
