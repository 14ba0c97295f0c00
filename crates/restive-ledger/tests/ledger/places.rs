//! Paths that lead to no ledger, to nothing, or to where nothing may be written.

use crate::child;
use crate::made;
use restive_ledger::{Error, Ledger};
use rusqlite::Connection;
use std::path::Path;

fn refused(path: &Path, found: &str) {
    let expected = format!("{}: found {found}, expected the ledger of a programme", path.display());
    assert_eq!(Ledger::open(path).unwrap_err().to_string(), expected);
    assert_eq!(Ledger::read(path).unwrap_err().to_string(), expected);
}

#[test]
fn what_is_no_ledger_is_refused_and_left_alone() {
    let (folder, path) = made::place();
    for text in ["x", "id,name\nB1,Ada\n", "SQLite format 2\u{0}", &"long ".repeat(10_000)] {
        std::fs::write(&path, text).unwrap();
        refused(&path, "no SQLite database");
        assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
    }
    std::fs::remove_file(&path).unwrap();
    let other = Connection::open(&path).unwrap();
    other.execute_batch("CREATE TABLE plans (id)").unwrap();
    refused(&path, "the SQLite database of another program (application_id 0)");
    other.pragma_update(None, "application_id", 0x7273_7477).unwrap();
    other.execute_batch("DROP TABLE plans").unwrap();
    refused(&path, "the SQLite database of another program (application_id 1920169079)");
    other.pragma_update(None, "application_id", 0x7273_7476).unwrap();
    refused(&path, "one of version 0");
    drop(other);
    // nothing was put beside it
    assert_eq!(folder.path().read_dir().unwrap().count(), 1);
    refused(folder.path(), "a folder");
    refused(&folder.path().join(".."), "a folder");
    #[cfg(unix)]
    {
        let link = folder.path().join("link");
        std::os::unix::fs::symlink("nowhere", &link).unwrap();
        refused(&link, "a link that leads nowhere");
        refused(Path::new("/dev/null"), "a pipe or a device");
    }
}

#[test]
fn where_there_is_none_a_reader_is_told_and_a_writer_makes_one() {
    let (folder, path) = made::place();
    let error = Ledger::read(&path).unwrap_err();
    let expected = format!("{}: found no such file, expected the ledger of a programme", path.display());
    assert_eq!(error.to_string(), expected);
    assert_eq!(folder.path().read_dir().unwrap().count(), 0);
    // an empty file is as good as none: a writer was killed before it began
    std::fs::write(&path, "").unwrap();
    let error = Ledger::read(&path).unwrap_err();
    assert!(
        error.to_string().ends_with(": found an empty file, expected the ledger of a programme"),
        "{error}"
    );
    Ledger::open(&path).unwrap();
    Ledger::read(&path).unwrap();
    let error = Ledger::open(&folder.path().join("no/ledger.db")).unwrap_err();
    assert!(matches!(error, Error::Io { .. }), "{error}");
    // a reader leaves nothing behind, and neither does a writer but its lock
    let mut names: Vec<_> =
        folder.path().read_dir().unwrap().map(|entry| entry.unwrap().file_name()).collect();
    names.sort();
    assert_eq!(names, ["ledger.db", "ledger.db.lock"]);
}

#[test]
fn names_that_mean_something_to_sqlite_are_names() {
    let folder = tempfile::tempdir().unwrap();
    let names = [":memory:", "file:x", "file:x?mode=memory", "a b#c%41.db", "नीता", "-v", "'"];
    for name in names {
        let mut command = child::command(&std::env::current_exe().unwrap(), "open", name);
        let mut process = command.current_dir(folder.path()).spawn().unwrap();
        let mut said = std::io::BufReader::new(process.stdout.take().unwrap());
        child::wait_for(&mut said, "opened");
        assert!(process.wait().unwrap().success());
        assert!(folder.path().join(name).is_file(), "{name}");
    }
    assert_eq!(folder.path().read_dir().unwrap().count(), 2 * names.len());
}

#[cfg(unix)]
mod unix {
    use super::*;
    use std::fs::Permissions;
    use std::os::unix::fs::{MetadataExt, PermissionsExt};
    use std::os::unix::process::CommandExt;

    fn mode(path: &Path) -> u32 {
        path.metadata().unwrap().permissions().mode() & 0o777
    }

    #[test]
    fn only_the_owner_reads_it() {
        let (folder, path) = made::place();
        let mut ledger = Ledger::open(&path).unwrap();
        ledger.record(&made::plan(0), &made::people(), &[], false).unwrap();
        let _reader = Ledger::read(&path).unwrap();
        for name in ["ledger.db", "ledger.db-wal", "ledger.db-shm", "ledger.db.lock"] {
            assert_eq!(mode(&folder.path().join(name)), 0o600, "{name}");
        }
    }

    /// Whom a folder without leave to write keeps from writing: anybody but the superuser.
    struct Somebody {
        id: Option<u32>,
        _folder: tempfile::TempDir,
        program: std::path::PathBuf,
    }

    impl Somebody {
        fn new() -> Self {
            let folder = tempfile::tempdir().unwrap();
            let id = (folder.path().metadata().unwrap().uid() == 0).then_some(65_534);
            // where that person can run it
            std::fs::set_permissions(folder.path(), Permissions::from_mode(0o755)).unwrap();
            let program = folder.path().join("program");
            std::fs::copy(std::env::current_exe().unwrap(), &program).unwrap();
            Self { id, _folder: folder, program }
        }

        fn own(&self, path: &Path) {
            std::os::unix::fs::chown(path, self.id, self.id).unwrap();
        }

        fn says(&self, task: &str, path: &Path) -> String {
            let mut command = child::command(&self.program, task, path);
            if let Some(id) = self.id {
                command.uid(id).gid(id);
            }
            let output = command.current_dir("/").output().unwrap();
            let text = String::from_utf8(output.stdout).unwrap();
            let line = |line: &&str| ["plans", "error", "opened"].iter().any(|word| line.starts_with(word));
            text.lines().find(line).unwrap_or_else(|| panic!("{text}")).to_string()
        }
    }

    #[test]
    fn a_ledger_is_read_where_nothing_may_be_written() {
        let somebody = Somebody::new();
        let outer = tempfile::tempdir().unwrap();
        let folder = outer.path().join("a b?c=#%41 é");
        std::fs::create_dir(&folder).unwrap();
        let path = folder.join("ledger.db");
        let mut ledger = Ledger::open(&path).unwrap();
        ledger.record(&made::plan(0), &made::people(), &[], false).unwrap();
        drop(ledger);
        for file in [outer.path(), &folder, &path, &folder.join("ledger.db.lock")] {
            somebody.own(file);
        }
        let set = |mode| std::fs::set_permissions(&folder, Permissions::from_mode(mode)).unwrap();
        set(0o500);
        assert_eq!(somebody.says("read", &path), "plans 2026-01-05");
        std::fs::set_permissions(&path, Permissions::from_mode(0o400)).unwrap();
        assert_eq!(somebody.says("read", &path), "plans 2026-01-05");
        let said = somebody.says("open", &path);
        assert!(said.starts_with(&format!("error {}: cannot ", path.display())), "{said}");
        std::fs::set_permissions(&path, Permissions::from_mode(0o600)).unwrap();
        assert_eq!(folder.read_dir().unwrap().count(), 2);

        // a writer was killed, and its last words are beside the ledger
        set(0o700);
        let (mut process, mut told) = child::start("write", &path);
        child::wait_for(&mut told, "recorded");
        process.kill().unwrap();
        process.wait().unwrap();
        for file in folder.read_dir().unwrap() {
            somebody.own(&file.unwrap().path());
        }
        set(0o500);
        let said = somebody.says("read", &path);
        assert!(said.starts_with("plans 2026-01-05 2026-01-12"), "{said}");
        std::fs::remove_file(folder.join("ledger.db-shm"))
            .or_else(|_| {
                set(0o700);
                std::fs::remove_file(folder.join("ledger.db-shm")).inspect(|()| set(0o500))
            })
            .unwrap();
        let expected = "found changes in the file -wal beside it and a folder that cannot be written, expected one that can: copy both there";
        assert_eq!(somebody.says("read", &path), format!("error {}: {expected}", path.display()));
        set(0o700);
        let said = somebody.says("read", &path);
        assert!(said.starts_with("plans 2026-01-05 2026-01-12"), "{said}");
    }
}
