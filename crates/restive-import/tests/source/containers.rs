//! Several files, compressed files, archives.

use super::*;

#[test]
fn files_of_a_pattern_are_one_table() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    write("calls 10.csv", "b;a;new\n20;10;x\n");
    write("calls 2.csv", "a,b\n1,2\n");
    write("calls 30.csv", "a,b\n");
    write(".~lock.calls 2.csv", "lock");
    write("~$calls.csv", "lock");
    write("other.csv", "z\n1\n");
    let whole = read(folder.path(), &reading("calls*.csv")).unwrap();
    assert_eq!(whole.files, ["calls 2.csv", "calls 10.csv", "calls 30.csv"]);
    assert_eq!(whole.cells(), [["1", "2"], ["10", "20"]]);
    assert_eq!(whole.rows.iter().map(|row| (row.file, row.line)).collect::<Vec<_>>(), [(0, 2), (1, 2)]);
    assert_eq!(
        whole.notes,
        [
            "calls 10.csv: the delimiter was taken for ;",
            "calls 10.csv: the column new is not in calls 2.csv and was left out"
        ]
    );
    write("calls 3.csv", "a\n1\n");
    let error = read(folder.path(), &reading("calls*.csv")).unwrap_err();
    assert_eq!(error.to_string(), "calls 3.csv: found no column b, expected the columns of calls 2.csv");
}

#[test]
fn gzip_is_known_by_its_bytes() {
    let twice = [gzipped(b"a,b\n1,2\n"), gzipped(b"3,4\n")].concat();
    for name in ["a.csv.gz", "a.csv"] {
        let whole = read_bytes(name, &twice, Reading::default()).unwrap();
        assert_eq!((whole.cells(), whole.is_typed), (vec![vec!["1", "2"], vec!["3", "4"]], false));
    }
    let cut = read_bytes("a.gz", &gzipped(&b"a,b\n1,2\n".repeat(100))[..30], Reading::default()).unwrap_err();
    assert!(cut.to_string().starts_with("a.gz: found an unreadable compressed file ("), "{cut}");
}

#[test]
fn a_form_and_its_repeats_are_members_of_one_archive() {
    let folder = tempfile::tempdir().unwrap();
    let archive = zipped(&[
        ("media/photo.jpg", b"\xff\xd8"),
        ("FORM.csv", b"SubmissionDate,KEY\n2026-03-05T14:30:00Z,uuid:1\n"),
        ("FORM-child.csv", b"name,PARENT_KEY,KEY\nA,uuid:1,uuid:1/c[1]\n"),
        ("__MACOSX/._FORM.csv", b"\0\x05\x16\x07"),
    ]);
    std::fs::write(folder.path().join("odk.zip"), archive).unwrap();
    let form = read(folder.path(), &reading("odk.zip#FORM.csv")).unwrap();
    assert_eq!((form.header[1].as_str(), form.files[0].as_str()), ("KEY", "odk.zip#FORM.csv"));
    let child = read(folder.path(), &reading("odk.zip#*-child.csv")).unwrap();
    assert_eq!(child.cells(), [["A", "uuid:1", "uuid:1/c[1]"]]);
    let both = read(folder.path(), &reading("odk.zip")).unwrap_err();
    assert_eq!(
        both.to_string(),
        "odk.zip#FORM.csv: found no column name, PARENT_KEY, expected the columns of odk.zip#FORM-child.csv \
         (name one member after a #)"
    );
    let none = read(folder.path(), &reading("odk.zip#FORM")).unwrap_err();
    assert_eq!(
        none.to_string(),
        "odk.zip: found an archive without it, expected a member FORM; there is FORM.csv, FORM-child.csv, \
         media/photo.jpg"
    );
}

#[test]
fn members_of_one_name_are_refused() {
    let two = zipped(&[("a/x.csv", b"a,b\n1,2\n"), ("b.csv", b"a,b\n3,4\n"), ("a/y.csv", b"a,b\n5,6\n")]);
    let renamed: Vec<u8> = {
        let mut bytes = two.clone();
        for place in 0..bytes.len() - 7 {
            if &bytes[place..place + 7] == b"a/y.csv" {
                bytes[place + 2] = b'x';
            }
        }
        bytes
    };
    for part in ["", "#a/x.csv", "#*.csv", "#b.csv"] {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("z.zip"), &renamed).unwrap();
        let error = read(folder.path(), &reading(&format!("z.zip{part}"))).unwrap_err();
        assert_eq!(
            error.to_string(),
            "z.zip: found two members called a/x.csv, members 1 and 3 of the archive, expected a name of its own for each: keep one of them"
        );
    }
    assert_eq!(read_bytes("z.zip", two, Reading::default()).unwrap().rows.len(), 3);
}

#[test]
fn all_tables_of_an_archive_are_read_where_none_is_named() {
    let bytes = zipped(&[
        ("in/b/part 2.csv", b"b\ta\n4\t3\n"),
        ("in/a/part 10.TSV", b"a,b\n1,2\n"),
        ("readme.md", b"#"),
    ]);
    let whole = read_bytes("export", &bytes, Reading::default()).unwrap();
    assert_eq!(whole.files, ["export#in/a/part 10.TSV", "export#in/b/part 2.csv"]);
    assert_eq!(whole.cells(), [["1", "2"], ["3", "4"]]);
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("x #1.zip"), bytes).unwrap();
    let whole = read(folder.path(), &reading("x #1.zip#part 2.csv")).unwrap();
    assert_eq!((whole.files[0].as_str(), whole.rows[0].line), ("x #1.zip#in/b/part 2.csv", 2));
}
