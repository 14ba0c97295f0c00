//! Folders before and after: what is there, byte for byte, and the inputs that everything is done with.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The program.
pub(crate) const RESTIVE: &str = env!("CARGO_BIN_EXE_restive");

/// Every file under a folder by its path, with what it holds; folders with nothing.
pub(crate) type Contents = BTreeMap<PathBuf, Vec<u8>>;

/// What is under a folder.
pub(crate) fn contents(folder: &Path) -> Contents {
    let mut found = Contents::new();
    gather(folder, folder, &mut found);
    found
}

fn gather(root: &Path, folder: &Path, found: &mut Contents) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        let inside = path.strip_prefix(root).expect("under it").to_path_buf();
        if path.is_dir() {
            found.insert(inside, Vec::new());
            gather(root, &path, found);
        } else {
            found.insert(inside, fs::read(&path).unwrap_or_default());
        }
    }
}

/// The program with words of arguments, in a folder, silent.
pub(crate) fn restive(folder: &Path, arguments: &str) -> Command {
    let mut command = Command::new(RESTIVE);
    command.args(arguments.split_whitespace()).current_dir(folder);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command
}

/// Copies a folder.
pub(crate) fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("a temporary folder");
    for (inside, bytes) in contents(from) {
        let (source, path) = (from.join(&inside), to.join(&inside));
        let made = if source.is_dir() { fs::create_dir_all(&path) } else { fs::write(&path, bytes) };
        made.expect("a temporary folder");
    }
}

/// Studies, a model and arms in every format, made once.
pub(crate) struct Prepared {
    folder: tempfile::TempDir,
}

impl Prepared {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        for arguments in [
            "generate two-state --instances 4 --arms 12 --budget 3 --trajectories 3 --format csv --out study",
            "generate two-state --instances 4 --arms 12 --budget 3 --trajectories 3 --format parquet --out parquet",
            "train study --epochs 3 --out model",
            "train study --predictor effect --profile published --out effect",
        ] {
            let done = restive(folder.path(), arguments).status().expect("the program");
            assert!(done.success(), "{arguments}");
        }
        let arms: String = (0..40).map(|i| format!("a{i},0.{},0.8,0.5,0.6\n", i + 10)).collect();
        let table = format!("arm,p_0_0_1,p_0_1_1,p_1_0_1,p_1_1_1\n{arms}");
        fs::write(folder.path().join("arms.csv"), table).expect("a temporary folder");
        fs::write(folder.path().join("arms.npy"), npy()).expect("a temporary folder");
        for arguments in ["index arms.npy", "index parquet/truth.parquet"] {
            assert!(
                restive(folder.path(), arguments).status().expect("the program").success(),
                "{arguments}"
            );
        }
        Self { folder }
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    /// A folder with copies of all that is here.
    pub(crate) fn copied(&self) -> tempfile::TempDir {
        let folder = tempfile::tempdir().expect("a temporary folder");
        copy(self.path(), folder.path());
        folder
    }
}

/// Three arms with two states as NumPy writes them: every transition has the probability 1/2.
fn npy() -> Vec<u8> {
    let mut bytes = b"\x93NUMPY\x01\x00\x76\x00".to_vec();
    let header = "{'descr': '<f8', 'fortran_order': False, 'shape': (3, 2, 2, 2), }";
    bytes.extend(format!("{header:117}\n").bytes());
    bytes.extend([0.5f64; 24].iter().flat_map(|p| p.to_le_bytes()));
    bytes
}
