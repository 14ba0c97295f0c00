//! What happens to a place while a draft is on its way to it.

use restive_tables::{
    Cells, Detail, Error, FolderDraft, IndexWriter, recognise_table, write_files, write_table,
};
use std::fs;
use std::path::Path;
use std::sync::Barrier;

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let mut names: Vec<String> = entries.map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

fn own(path: &Path) -> restive_tables::Result<()> {
    recognise_table(path, "numbers", |columns| columns == ["number"])
}

fn write(path: &Path, number: f64, replace: bool) -> restive_tables::Result<()> {
    write_table(path, replace.then_some(own), vec![("number", Cells::Number(vec![number]))])
}

#[test]
fn a_folder_that_appears_while_one_is_written_stays() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("answers");
    let draft = FolderDraft::create(&path, None).unwrap();
    fs::write(draft.file("answer.txt"), "42").unwrap();
    fs::create_dir(&path).unwrap();
    fs::write(path.join("thesis.txt"), "years of work").unwrap();
    assert!(matches!(draft.put_in_place(), Err(Error::Exists { .. })));
    assert_eq!(fs::read_to_string(path.join("thesis.txt")).unwrap(), "years of work");
    assert_eq!((names(folder.path()), names(&path)), (vec!["answers".into()], vec!["thesis.txt".into()]));

    // with leave, only for what is recognised at that moment
    let fresh = |path: &Path| match path.join("thesis.txt").exists() {
        true => {
            Err(Error::Content { path: path.into(), place: "".into(), found: "".into(), expected: "".into() })
        }
        false => Ok(()),
    };
    fs::rename(path.join("thesis.txt"), folder.path().join("thesis.txt")).unwrap();
    fs::write(path.join("answer.txt"), "41").unwrap();
    let start = || {
        let draft = FolderDraft::create(&path, Some(fresh)).unwrap();
        fs::write(draft.file("answer.txt"), "42").unwrap();
        draft
    };
    let draft = start();
    fs::rename(folder.path().join("thesis.txt"), path.join("thesis.txt")).unwrap();
    assert!(matches!(draft.put_in_place(), Err(Error::Content { .. })));
    assert_eq!(names(&path), ["answer.txt", "thesis.txt"]);
    fs::remove_file(path.join("thesis.txt")).unwrap();
    start().put_in_place().unwrap();
    assert_eq!(fs::read_to_string(path.join("answer.txt")).unwrap(), "42");
    assert_eq!(names(folder.path()), ["answers"]);
}

#[test]
fn a_file_that_appears_while_one_is_written_stays() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["w.csv", "w.parquet", "w.npy", "v.npy"] {
        let path = folder.path().join(name);
        // of a pair, the second one
        let taken = if name == "v.npy" { folder.path().join("v.npy.verdict.npy") } else { path.clone() };
        for replace in [false, true] {
            let labels = ["0".to_string(), "1".to_string()];
            let arms = arrow_schema::DataType::Int64;
            let writer = IndexWriter::create(&path, replace, &labels, Detail::Short, arms).unwrap();
            fs::write(&taken, "years of work").unwrap();
            writer.finish().unwrap_err();
            assert_eq!(fs::read_to_string(&taken).unwrap(), "years of work");
            assert_eq!(names(folder.path()), [taken.file_name().unwrap().to_str().unwrap()], "{name}");
            fs::remove_file(&taken).unwrap();
        }
    }
}

#[test]
fn of_many_writers_of_a_new_file_one_wins() {
    let folder = tempfile::tempdir().unwrap();
    for round in 0..20 {
        let path = folder.path().join(format!("{round}.csv"));
        let (start, writers) = (Barrier::new(8), 8);
        let outcomes: Vec<bool> = std::thread::scope(|scope| {
            let write = |k: usize| {
                start.wait();
                write(&path, k as f64, false).is_ok()
            };
            let threads: Vec<_> = (0..writers).map(|k| scope.spawn(move || write(k))).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        let winner = outcomes.iter().position(|won| *won).unwrap();
        assert_eq!(outcomes.iter().filter(|won| **won).count(), 1);
        assert_eq!(fs::read_to_string(&path).unwrap(), format!("number\n{winner}.0\n"));
    }
    assert_eq!(names(folder.path()).len(), 20, "nothing is left behind");
}

#[test]
fn writers_that_may_replace_each_other_all_succeed_and_leave_one_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("numbers.csv");
    std::thread::scope(|scope| {
        for k in 0..4 {
            let path = &path;
            scope.spawn(move || (0..25).for_each(|_| write(path, f64::from(k), true).unwrap()));
        }
    });
    assert!(fs::read_to_string(&path).unwrap().starts_with("number\n"));
    assert_eq!(names(folder.path()), ["numbers.csv"]);
}

#[test]
fn of_several_files_all_or_none_are_put_in_their_places() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    fs::write(path("b.csv"), "number\n1\n").unwrap();
    let both = [(path("a.csv"), &b"number\n2\n"[..]), (path("b.csv"), b"number\n2\n")];
    assert!(matches!(write_files(&both, None), Err(Error::Exists { .. })));
    assert_eq!(names(folder.path()), ["b.csv"]);
    write_files(&both, Some(own)).unwrap();
    assert_eq!(fs::read_to_string(path("b.csv")).unwrap(), "number\n2\n");
    assert_eq!(names(folder.path()), ["a.csv", "b.csv"]);
}
