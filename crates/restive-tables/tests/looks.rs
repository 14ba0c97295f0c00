//! What was judged in a study is counted, and kept beside it.

use restive::data::split::Part;
use restive_tables::{Looks, People, Study};
use std::fs;
use std::path::Path;

fn key(digit: char) -> String {
    digit.to_string().repeat(32)
}

fn test_of(split: &str) -> People {
    People::of(split, &[Part::Test])
}

/// What reading the folder of a study refuses.
fn refusal(folder: &Path, text: impl AsRef<[u8]>) -> String {
    fs::write(Looks::path(folder), text).unwrap();
    let said = Looks::read(folder).unwrap_err().to_string();
    assert!(said.contains("looks.csv") && !said.contains('\n'), "{said}");
    said
}

#[test]
fn recipes_are_counted_once_and_where_people_overlap() {
    let mut looks = Looks::default();
    assert_eq!(looks.look(&key('a'), &test_of("given"), "auto"), 1);
    assert_eq!(looks.look(&key('a'), &test_of("given"), "the same in other words"), 1);
    assert_eq!(looks.look(&key('b'), &test_of("given"), "network"), 2);
    // other people of the same split, then everybody, with a recipe that is known already
    assert_eq!(looks.look(&key('c'), &People::of("given", &[Part::Validation]), "linear"), 1);
    assert_eq!(looks.look(&key('a'), &People::all(), "auto"), 3);
    // everybody is among the people of every part
    assert_eq!(looks.look("random", &People::of("given", &[Part::Train]), ""), 2);
    assert_eq!(looks.look(&key('d'), &test_of("seed 7"), "effect"), 5);
    assert_eq!(looks.look(&key('d'), &test_of("seed 7"), "effect"), 5);
}

#[test]
fn looks_come_back_as_they_were() {
    let folder = tempfile::tempdir().unwrap();
    assert_eq!(Looks::read(folder.path()).unwrap(), Looks::default());
    Looks::default().write(folder.path()).unwrap();
    assert!(!Looks::path(folder.path()).exists(), "nothing was judged, nothing is written");
    let mut looks = Looks::default();
    let words = [
        "auto, two-stage, seed 3",
        "",
        "  spaces  ",
        "\"quoted\", 'so', so",
        "=1+1",
        "größer\nals eine Zeile",
        "-",
        "'",
        "\"",
    ];
    for (k, what) in words.into_iter().enumerate() {
        looks.look(&format!("recipe-{k}"), &test_of("seed 3"), what);
        looks.write(folder.path()).unwrap();
        assert_eq!(Looks::read(folder.path()).unwrap(), looks, "{what:?}");
    }
    let text = fs::read_to_string(Looks::path(folder.path())).unwrap();
    assert!(
        text.starts_with("recipe,people,what\nrecipe-0,test of seed 3,\"auto, two-stage, seed 3\"\n"),
        "{text}"
    );
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "no draft is left");
}

#[test]
fn a_table_that_is_none_of_looks_is_refused_and_stays() {
    let folder = tempfile::tempdir().unwrap();
    let head = "recipe,people,what\n";
    let cases = [
        (
            format!("{head}x,all,\nx y,all,\n"),
            "line 3, column recipe: found \"x y\", expected 32 hexadecimal digits or a word",
        ),
        (format!("{head},all,\n"), "line 2, column recipe: found an empty cell"),
        (
            format!("{head}x,everybody,\n"),
            "line 2, column people: found \"everybody\", expected all, or parts of a split",
        ),
        (format!("{head}x,,\n"), "line 2, column people: found an empty cell"),
        (format!("{head}x,all\n"), "line 2: found 2 fields, expected 3"),
        (head.into(), "found a header and no rows"),
        ("recipe,what\nx,y\n".into(), "people"),
        (
            "recipe,people,what,note\nx,all,,mine\n".into(),
            "header: found a column note, expected recipe, people, what and nothing else",
        ),
        (String::new(), "found an empty file"),
    ];
    for (text, expected) in cases {
        let said = refusal(folder.path(), &text);
        assert!(said.contains(expected), "no {expected:?} in {said}");
    }
    let said = refusal(folder.path(), b"recipe,people,what\nx,all,\xff\n");
    assert!(said.contains("line 2, column what") && said.contains("expected text in UTF-8"), "{said}");

    let mut looks = Looks::default();
    looks.look("x", &People::all(), "");
    let thesis = "recipe,people,what,note\nx,all,,years of work\n";
    fs::write(Looks::path(folder.path()), thesis).unwrap();
    let said = looks.write(folder.path()).unwrap_err().to_string();
    assert!(said.contains("expected a table of looks to replace"), "{said}");
    assert_eq!(fs::read_to_string(Looks::path(folder.path())).unwrap(), thesis);
}

#[test]
fn where_nothing_can_be_written_that_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let mut looks = Looks::default();
    looks.look("x", &People::all(), "");
    let said = looks.write(&folder.path().join("nowhere")).unwrap_err().to_string();
    assert!(said.contains("looks.csv: cannot write: there is no folder"), "{said}");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o555)).unwrap();
        // whoever may do everything is not kept out by permissions; nobody can write here
        let closed = if fs::write(folder.path().join("probe"), "").is_ok() {
            Path::new("/proc/self").to_path_buf()
        } else {
            folder.path().to_path_buf()
        };
        if closed.is_dir() {
            let said = looks.write(&closed).unwrap_err().to_string();
            assert!(said.contains("looks.csv: cannot write: "), "{said}");
        }
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
    }
}

#[test]
fn whoever_reads_while_others_write_finds_a_whole_table() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    std::thread::scope(|scope| {
        for k in 0..3 {
            scope.spawn(move || {
                for round in 0..25 {
                    let mut looks = Looks::read(folder).unwrap();
                    looks.look(&format!("recipe-{k}-{round}"), &People::all(), "a, b");
                    looks.write(folder).unwrap();
                }
            });
        }
    });
    let mut looks = Looks::read(folder).unwrap();
    assert!(looks.look("recipe-0-24", &People::all(), "") >= 1);
    assert_eq!(fs::read_dir(folder).unwrap().count(), 1, "no draft is left");
}

#[test]
fn looks_are_beside_a_study_and_no_part_of_it() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let write = |name: &str, text: &str| fs::write(folder.join(name), text).unwrap();
    write("study.toml", "states = 2\ndiscount = 0.9\nbudget = 1\nhorizon = 9\nbehaviour = \"uniform\"\n");
    write("arms.csv", "arm,age\nAda,31\nBen,24\n");
    write("trajectories.csv", "trajectory,t,arm,state,action\n1,0,Ada,0,1\n1,1,Ada,1,\n");
    let before = Study::read(folder).unwrap();
    let mut looks = Looks::default();
    looks.look(&key('0'), &People::all(), "auto");
    looks.write(folder).unwrap();
    let after = Study::read(folder).unwrap();
    assert_eq!((after.fingerprint(), &after), (before.fingerprint(), &before));
    // a study that was judged is a study still
    Study::recognise(folder).unwrap();
    write("looks.csv", "something,else\n1,2\n");
    Study::recognise(folder).unwrap_err();
}
