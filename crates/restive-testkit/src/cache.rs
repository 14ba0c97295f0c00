//! Cache of built fixtures on disk, shared by threads, processes and test runs.
//!
//! An entry is a folder `target/testkit/NAME-HASH`. The hash covers the inputs of the fixture and the test executable, which contains
//! the function that builds it; a fixture that is built by a program adds the program with [`Cache::file`]. An entry is built once,
//! under an exclusive lock and in a temporary folder that is then renamed. Tests get copies. At most [`CAPACITY`] entries are kept.

use crate::folder::{Folder, copy_folder};
use std::fmt::Debug;
use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::SystemTime;
use xxhash_rust::xxh3::Xxh3Default;

/// Largest number of entries on disk; the least recently used ones are removed first.
pub const CAPACITY: usize = 48;

/// Number of lock files. Lock files are never removed: two processes would lock two files of one name.
const LOCKS: u64 = 64;

/// One fixture in the cache, identified by its name and inputs.
///
/// ```
/// use restive_testkit::cache::Cache;
///
/// let folder = Cache::new("greeting").input(&"hello").copy(|folder| {
///     std::fs::write(folder.join("greeting.txt"), "hello").unwrap();
/// });
/// assert_eq!(folder.read("greeting.txt"), "hello");
/// ```
pub struct Cache {
    root: PathBuf,
    name: String,
    hash: Xxh3Default,
}

impl Cache {
    /// Creates a key from the name of a fixture and the test executable. A name contains letters, digits and hyphens.
    pub fn new(name: &str) -> Self {
        let mut cache = Self::in_folder(root(), name);
        cache.hash.update(&executable_hash().to_le_bytes());
        cache
    }

    fn in_folder(root: PathBuf, name: &str) -> Self {
        let mut hash = Xxh3Default::new();
        hash.update(name.as_bytes());
        Self { root, name: name.into(), hash }
    }

    /// Adds an input by its `Debug` representation.
    pub fn input(mut self, input: &impl Debug) -> Self {
        self.hash.update(format!("\0{input:?}").as_bytes());
        self
    }

    /// Adds the content of a file, such as the program that builds the fixture.
    pub fn file(mut self, path: &Path) -> Self {
        self.hash.update(&file_hash(path).to_le_bytes());
        self
    }

    /// Returns a private copy of the fixture. If the cache has no such entry, `build` fills an empty folder first.
    ///
    /// `build` must not use the cache itself: its lock may be the one that is held.
    ///
    /// # Panics
    /// If `build` panics, or the disk fails; no entry is left behind.
    pub fn copy(&self, build: impl FnOnce(&Path)) -> Folder {
        let folder = Folder::new();
        self.with(build, |entry| copy_folder(entry, folder.root()));
        folder
    }

    /// Calls `use_entry` with the entry, which no process removes meanwhile.
    fn with(&self, build: impl FnOnce(&Path), use_entry: impl FnOnce(&Path)) {
        let hash = self.hash.digest();
        let entry = self.root.join(format!("{}-{hash:016x}", self.name));
        fs::create_dir_all(&self.root).unwrap();
        let lock = lock_file(&self.root, hash);
        lock.lock_shared().unwrap();
        if !entry.exists() {
            lock.unlock().unwrap();
            lock.lock().unwrap();
            // another process may have built it
            if !entry.exists() {
                let part = entry.with_extension("part");
                // left by a process that was killed
                let _ = fs::remove_dir_all(&part);
                fs::create_dir_all(part.join(CONTENT)).unwrap();
                build(&part.join(CONTENT));
                fs::rename(&part, &entry).unwrap();
                remove_stale(&self.root, hash % LOCKS);
            }
        }
        // the exclusive lock is kept by the builder: a shared lock would need an unlocked moment in which the entry may go
        let used = entry.join(USED);
        File::create(&used).and_then(|file| file.set_modified(SystemTime::now())).unwrap();
        use_entry(&entry.join(CONTENT));
    }
}

/// File of an entry whose time of modification is the last use.
const USED: &str = "last-used";

/// Folder of an entry with the files of the fixture.
const CONTENT: &str = "content";

fn lock_file(root: &Path, hash: u64) -> File {
    let path = root.join(format!("{:02}.lock", hash % LOCKS));
    File::options().create(true).truncate(false).write(true).open(path).unwrap()
}

/// Removes the least recently used entries beyond [`CAPACITY`], except those in use; `own` is the lock that the caller holds.
fn remove_stale(root: &Path, own: u64) {
    let last_use = |path: &Path| fs::metadata(path.join(USED)).and_then(|used| used.modified()).ok();
    let entries = fs::read_dir(root).unwrap().map(|entry| entry.unwrap().path());
    let mut entries: Vec<(SystemTime, PathBuf)> =
        entries.filter_map(|path| Some((last_use(&path)?, path))).collect();
    entries.sort();
    // the entry of the caller is not counted here: it has not been used yet
    let excess = (entries.len() + 1).saturating_sub(CAPACITY);
    for (_, path) in entries.into_iter().take(excess) {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let hash = name.rsplit_once('-').and_then(|(_, hash)| u64::from_str_radix(hash, 16).ok());
        let Some(hash) = hash.filter(|hash| hash % LOCKS != own) else { continue };
        let lock = lock_file(root, hash);
        if lock.try_lock().is_ok() {
            // an entry that is removed in part must not look complete
            let part = path.with_extension("part");
            let _ = fs::remove_dir_all(&part);
            if fs::rename(&path, &part).is_ok() {
                let _ = fs::remove_dir_all(&part);
            }
        }
    }
}

/// Folder of the cache: `testkit` in cargo's target folder, which contains the test executable.
fn root() -> PathBuf {
    let executable = std::env::current_exe().unwrap();
    let target = executable.ancestors().find(|folder| folder.join("CACHEDIR.TAG").exists());
    target.map_or_else(|| std::env::temp_dir().join("restive-testkit"), |target| target.join("testkit"))
}

fn executable_hash() -> u64 {
    static HASH: OnceLock<u64> = OnceLock::new();
    *HASH.get_or_init(|| file_hash(&std::env::current_exe().unwrap()))
}

fn file_hash(path: &Path) -> u64 {
    let mut file = File::open(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let (mut hash, mut buffer) = (Xxh3Default::new(), vec![0; 1 << 20]);
    loop {
        match file.read(&mut buffer).unwrap() {
            0 => return hash.digest(),
            n => hash.update(&buffer[..n]),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;
    use std::sync::atomic::{AtomicUsize, Ordering};

    #[test]
    fn entry_is_built_once_and_copies_are_private() {
        let root = Folder::new();
        let builds = AtomicUsize::new(0);
        let copy = |input: u32| {
            Cache::in_folder(root.path("cache"), "numbers").input(&input).copy(|folder| {
                builds.fetch_add(1, Ordering::Relaxed);
                fs::write(folder.join("number"), input.to_string()).unwrap();
            })
        };
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| assert_eq!(copy(1).read("number"), "1"));
            }
        });
        copy(1).write("number", "changed");
        assert_eq!(copy(1).read("number"), "1");
        assert_eq!(builds.load(Ordering::Relaxed), 1);
        assert_eq!(copy(2).read("number"), "2");
        assert_eq!(builds.load(Ordering::Relaxed), 2);
    }

    #[test]
    fn failed_build_leaves_no_entry() {
        let root = Folder::new();
        let cache = || Cache::in_folder(root.path("cache"), "faulty");
        let build = |is_faulty: bool| {
            move |folder: &Path| {
                fs::write(folder.join(if is_faulty { "half" } else { "whole" }), "").unwrap();
                assert!(!is_faulty, "no fixture");
            }
        };
        let failed = std::panic::catch_unwind(|| cache().copy(build(true)));
        assert!(failed.is_err());
        assert_eq!(cache().copy(build(false)).listing(), ["whole"]);
    }

    #[test]
    fn least_recently_used_entries_are_removed() {
        let root = Folder::new();
        let cache = |input: usize| Cache::in_folder(root.path("cache"), "many").input(&input);
        for input in 0..CAPACITY + 20 {
            cache(input).copy(|folder| fs::write(folder.join("file"), "").unwrap());
        }
        let entries = fs::read_dir(root.path("cache")).unwrap().map(|entry| entry.unwrap().path());
        let entries = entries.filter(|path| path.is_dir()).count();
        // an entry that shares the lock of the builder stays until the next build
        assert!((CAPACITY..CAPACITY + 4).contains(&entries), "{entries}");
        cache(CAPACITY + 19).copy(|_| panic!("the newest entry was removed"));
    }

    /// Runs in the two processes that the next test starts.
    #[test]
    #[ignore = "part of two_processes_build_an_entry_once"]
    fn process_of_two() {
        let Some(root) = std::env::var_os("RESTIVE_TESTKIT_FOLDER").map(PathBuf::from) else { return };
        let copy = Cache::in_folder(root.join("cache"), "shared").copy(|folder| {
            let log = root.join(format!("built-by-{}", std::process::id()));
            fs::write(log, "").unwrap();
            std::thread::sleep(std::time::Duration::from_millis(300));
            fs::write(folder.join("file"), "built").unwrap();
        });
        assert_eq!(copy.read("file"), "built");
    }

    #[test]
    fn two_processes_build_an_entry_once() {
        let root = Folder::new();
        let start = || {
            Command::new(std::env::current_exe().unwrap())
                .args(["--ignored", "--exact", "cache::tests::process_of_two"])
                .env("RESTIVE_TESTKIT_FOLDER", root.root())
                .stdout(std::process::Stdio::null())
                .spawn()
                .unwrap()
        };
        let children = [start(), start()];
        for mut child in children {
            assert!(child.wait().unwrap().success());
        }
        let builds = root.listing().iter().filter(|name| name.starts_with("built-by-")).count();
        assert_eq!(builds, 1);
    }

    #[test]
    fn cache_lies_in_the_target_folder() {
        assert!(root().ends_with("testkit"));
        assert!(root().parent().unwrap().join("CACHEDIR.TAG").exists());
    }
}
