//! What cannot be read is refused in a line that says what was found and what was expected.

use super::*;

fn refusal(name: &str, bytes: impl AsRef<[u8]>, reading: Reading) -> String {
    let message = read_bytes(name, bytes, reading).unwrap_err().to_string();
    assert!(!message.contains('\n'), "{message}");
    message
}

fn plain(name: &str, bytes: impl AsRef<[u8]>) -> String {
    refusal(name, bytes, Reading::default())
}

#[test]
fn files_without_a_table_are_refused() {
    assert_eq!(plain("a.csv", ""), "a.csv: found an empty file, expected a table");
    assert_eq!(
        plain("a.csv", "\u{feff}\r\n\n"),
        "a.csv: found nothing but blank or skipped lines, expected a table"
    );
    assert_eq!(
        plain("a.csv", "a,b\n\n , \n"),
        "a.csv: found a header and no rows, expected at least one row"
    );
    assert_eq!(
        plain("a.csv", "<!DOCTYPE html><html>login</html>"),
        "a.csv: found a web page or XML, expected a table as text, .xlsx, .xls, .ods or Parquet, or such text as .gz \
         or in a .zip"
    );
    assert!(plain("a.csv", b"\x01\x00\x00\x02".repeat(9)).contains("found bytes that are no text"));
    assert!(plain("a.csv", gzipped(&zipped(&[("a.csv", b"a\n1\n")]))).contains("within another file"));
    for (text, mark) in [("a,b\n1,2\n", ""), ("id;name\n1;अनिता\n", "\u{feff}")] {
        for bytes in [u32::to_le_bytes, u32::to_be_bytes] {
            let wide: Vec<u8> = format!("{mark}{text}").chars().flat_map(|c| bytes(c as u32)).collect();
            assert_eq!(
                plain("a.csv", wide),
                "a.csv: found text in UTF-32, expected UTF-8 or UTF-16: save it as \"CSV UTF-8\""
            );
        }
    }
    let half: Vec<u8> = "id,नाम\n1,अनिता\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    assert!(plain("a.csv", &half).ends_with("; for text in UTF-16 say encoding = \"utf-16le\" beside file"));
    let declared = Reading { encoding: Some("utf-16le".into()), ..Reading::default() };
    assert_eq!(read_bytes("a.csv", half, declared).unwrap().cells(), [["1", "अनिता"]]);
    let label = Reading { encoding: Some("latin-one".into()), ..Reading::default() };
    assert_eq!(
        refusal("a.csv", "a\n1\n", label),
        "a.csv: found the encoding \"latin-one\" in the mapping, expected one such as utf-8, utf-16 or windows-1252"
    );
}

#[test]
fn missing_files_are_named_with_what_there_is() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("exports")).unwrap();
    for name in ["calls_may.csv", "calls_june.csv", "people.csv", "1", "2", "3", "4"] {
        std::fs::write(folder.path().join("exports").join(name), "a\n1\n").unwrap();
    }
    let refused = |file: &str| read(folder.path(), &reading(file)).unwrap_err().to_string();
    let message = refused("exports/call_may.csv");
    let start = "exports/call_may.csv: found no such file, expected the export; there is calls_may.csv, calls_june.csv, ";
    assert!(message.starts_with(start), "{message}");
    assert_eq!(message.matches(", ").count(), 5, "{message}");
    let message = refused("exports/visits*.csv");
    let start =
        "exports/visits*.csv: found no file that matches, expected at least one visits*.csv; there is ";
    assert!(message.starts_with(start), "{message}");
    assert_eq!(
        refused("export/a.csv"),
        "export/a.csv: found no folder export, expected the folder of the export"
    );
    assert_eq!(
        refused("exports"),
        "exports: found a folder, expected a file (for all its files, end with /*)"
    );
    assert_eq!(
        refused("exports/1#x"),
        "exports/1: found \"x\" after the #, but a file without parts, expected an archive or a workbook"
    );
    assert!(refused("").contains("found no such file"));
}

#[test]
fn open_quotes_name_the_line_where_they_open() {
    let message = "a.csv: found a row that begins on line 3 and does not end, expected as many quotation marks that \
                   close as open";
    assert_eq!(plain("a.csv", "a,b\n1,2\n3,\"four\n5,6\n"), message);
    assert_eq!(plain("a.csv", "a,b\n1,2\n3,\"four\n5,6"), message);
    let long = format!("a,b\n1,2\n3,\"{}", "secret,4\n".repeat(10 << 20));
    assert_eq!(plain("a.csv", long), message);
    assert!(read_bytes("a.csv", "a,b\n1,\"2\"", Reading::default()).is_ok());
}

#[test]
fn archives_that_cannot_be_read_are_refused() {
    let empty = plain("a.zip", zipped(&[]));
    assert_eq!(empty, "a.zip: found an empty archive, expected a member that ends in .csv, .tsv or .txt");
    let other = plain("a.zip", zipped(&[("a.json", b"{}")]));
    assert!(other.ends_with("expected a member that ends in .csv, .tsv or .txt; there is a.json"), "{other}");
    let whole = zipped(&[("a.csv", b"a,b\n1,2\n")]);
    assert!(
        plain("a.zip", &whole[..whole.len() - 30]).starts_with("a.zip: found an unreadable zip archive (")
    );
    // the bit that says that a member is encrypted, in both its headers
    let mut locked = whole.clone();
    let central = locked.windows(4).position(|bytes| bytes == b"PK\x01\x02").unwrap();
    (locked[6], locked[central + 8]) = (locked[6] | 1, locked[central + 8] | 1);
    assert_eq!(
        plain("a.zip", locked),
        "a.zip: found the member a.csv behind a password, expected an archive without one"
    );
    // a size of four GiB from a few bytes
    let mut bomb = whole;
    bomb[central + 24..central + 28].fill(0xfe);
    assert!(plain("a.zip", bomb).contains("unpacks to more than it should"));
}

#[test]
fn no_damage_makes_a_panic() {
    let text = "id,name\n1,\"a\nb\"\n2,c\n";
    let sound = [
        ("a.csv", text.as_bytes().to_vec()),
        ("b.csv.gz", gzipped(text.as_bytes())),
        ("c.zip", zipped(&[("x.csv", text.as_bytes())])),
        ("d.csv", text.encode_utf16().flat_map(u16::to_le_bytes).collect()),
    ];
    for (name, whole) in sound {
        for place in 0..whole.len() {
            let _ = read_bytes(name, &whole[..place], Reading::default());
            for flip in [0xff, 0x01, 0x80] {
                let mut damaged = whole.clone();
                damaged[place] ^= flip;
                let _ = read_bytes(name, damaged, Reading::default());
            }
        }
    }
}
