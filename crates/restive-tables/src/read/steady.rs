//! Whether a file stayed as it was while it was read.
//!
//! A table that another program goes on writing, or cuts, would be read as half of one state and half of another, and a text may end
//! after any row without a fault. The size and the time of the last change, as they were when the file was opened, are compared with
//! what they are when all of it has been read, or when something is wrong with it. The file is asked by its handle: one that was replaced
//! under its name by another was read whole as it was. A pipe has neither size nor time, and always stays.

use crate::error::{Error, Result};
use std::fs::{File, Metadata};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// An open file, as it was when it was opened.
pub(crate) struct Steady {
    path: PathBuf,
    file: File,
    before: Option<(u64, SystemTime)>,
}

impl Steady {
    /// Of a file that was just opened.
    pub(crate) fn new(path: &Path, file: &File) -> Result<Self> {
        let refused = Error::io(path, "open");
        match file.try_clone().and_then(|file| Ok((stamp(&file.metadata()?), file))) {
            Ok((before, file)) => Ok(Self { path: path.into(), file, before }),
            Err(answer) => Err(refused(answer)),
        }
    }

    /// The same file, as it was then.
    pub(crate) fn copy(&self) -> Result<Self> {
        let file = self.file.try_clone().map_err(Error::io(&self.path, "open"))?;
        Ok(Self { path: self.path.clone(), file, before: self.before })
    }

    /// Refuses a file that has changed since.
    pub(crate) fn check(&self) -> Result<()> {
        self.compare(stamp(&self.file.metadata().map_err(Error::io(&self.path, "read"))?))
    }

    /// Refuses the same file, opened again, where it has changed in between.
    pub(crate) fn refuse_other(&self, again: &Self) -> Result<()> {
        self.compare(again.before)
    }

    fn compare(&self, now: Option<(u64, SystemTime)>) -> Result<()> {
        let size = |stamp: Option<(u64, SystemTime)>| stamp.map_or(0, |(bytes, _)| bytes);
        if now == self.before {
            return Ok(());
        }
        let (before, now) = (size(self.before), size(now));
        let found = match before == now {
            true => "a file that changed while it was read".into(),
            false => format!("a file that went from {before} to {now} bytes while it was read"),
        };
        Err(Error::content(&self.path, "", found, "one that stays as it is: is another program writing it?"))
    }

    /// What a reader says, unless the file has changed: then that is what was wrong.
    pub(crate) fn vouch<T>(&self, said: Result<Option<T>>) -> Result<Option<T>> {
        match said {
            Ok(Some(_)) => said,
            Ok(None) | Err(_) => self.check().and(said),
        }
    }
}

fn stamp(file: &Metadata) -> Option<(u64, SystemTime)> {
    file.is_file().then(|| Some((file.len(), file.modified().ok()?))).flatten()
}

#[cfg(test)]
mod tests {
    use crate::ArmReader;
    use restive::Layout;
    use std::fs::{File, OpenOptions};
    use std::io::Write;
    use std::path::Path;
    use std::time::{Duration, SystemTime};

    const HEADER: &str = "arm,p_0_0_1,p_0_1_1,p_1_0_1,p_1_1_1\n";
    const ROW: &str = "A,0.2,0.8,0.5,0.5\n";

    /// Reads a table of several batches, with something done to it after the first.
    fn read(path: &Path, meanwhile: impl Fn(&mut File)) -> Result<usize, String> {
        let rows = 300_000;
        std::fs::write(path, HEADER.to_string() + &ROW.repeat(rows)).unwrap();
        let long_ago = SystemTime::now() - Duration::from_secs(60);
        File::options().append(true).open(path).unwrap().set_modified(long_ago).unwrap();
        let mut reader = ArmReader::open(path, Layout::Nsas).map_err(|e| e.to_string())?;
        let mut arms = 0;
        while let Some(batch) = reader.next_batch().map_err(|e| e.to_string())? {
            if arms == 0 {
                meanwhile(&mut OpenOptions::new().append(true).open(path).unwrap());
            }
            arms += batch.probabilities.arms();
        }
        Ok(arms)
    }

    #[test]
    fn a_table_that_changes_while_it_is_read_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("arms.csv");
        let size = HEADER.len() + 300_000 * ROW.len();
        assert_eq!(read(&path, |_| ()), Ok(300_000));
        // cut after a row, cut within a row, one row more, the same bytes again
        for length in [size - 1000 * ROW.len(), size - 1003] {
            let said = read(&path, |file| file.set_len(length as u64).unwrap()).unwrap_err();
            let expected = format!(
                "found a file that went from {size} to {length} bytes while it was read, expected one"
            );
            assert!(said.contains(&expected), "{said}");
        }
        let said = read(&path, |file| file.write_all(ROW.as_bytes()).unwrap()).unwrap_err();
        assert!(said.contains(&format!("from {size} to {} bytes", size + ROW.len())), "{said}");
        let said = read(&path, |file| file.set_modified(SystemTime::now()).unwrap()).unwrap_err();
        assert!(said.contains("found a file that changed while it was read"), "{said}");
        // one that was put in its place is another file
        let other = folder.path().join("other.csv");
        let replaced = read(&path, |_| {
            std::fs::write(&other, HEADER).unwrap();
            std::fs::rename(&other, &path).unwrap();
        });
        assert_eq!(replaced, Ok(300_000));
    }
}
