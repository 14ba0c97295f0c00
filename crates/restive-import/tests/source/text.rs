//! Delimited text: encodings, delimiters, quotes, lines.

use super::*;
use proptest::prelude::*;

fn wide(text: &str, bytes: fn(u16) -> [u8; 2]) -> Vec<u8> {
    text.encode_utf16().flat_map(bytes).collect()
}

#[test]
fn every_encoding_gives_the_same_cells() {
    let text = "id,naïve name\r\n1,Ñandú\r\n2,Émilie Lefèvre\r\n";
    let (latin, _, _) = encoding_rs::WINDOWS_1252.encode(text);
    let marked = format!("\u{feff}{text}");
    let cases: [(&str, Vec<u8>, bool); 7] = [
        ("UTF-8", text.into(), false),
        ("UTF-8 with a mark", marked.clone().into(), false),
        ("UTF-16LE with a mark", wide(&marked, u16::to_le_bytes), false),
        ("UTF-16BE with a mark", wide(&marked, u16::to_be_bytes), false),
        ("UTF-16LE", wide(text, u16::to_le_bytes), true),
        ("UTF-16BE", wide(text, u16::to_be_bytes), true),
        ("ISO-8859-1", latin.to_vec(), true),
    ];
    for (name, bytes, is_guess) in cases {
        let whole = read_bytes("a.csv", bytes, Reading::default()).unwrap();
        assert_eq!(whole.header, ["id", "naïve name"], "{name}");
        assert_eq!(whole.cells(), [["1", "Ñandú"], ["2", "Émilie Lefèvre"]], "{name}");
        assert_eq!(whole.lines(), [2, 3], "{name}");
        assert_eq!(whole.notes.len(), usize::from(is_guess), "{name}: {:?}", whole.notes);
    }
    let declared = Reading { encoding: Some("iso-8859-1".into()), ..Reading::default() };
    let whole = read_bytes("a.csv", latin, declared).unwrap();
    assert_eq!((whole.cells()[0][1], whole.notes.len()), ("Ñandú", 0));
}

#[test]
fn bytes_that_are_no_utf8_after_the_first_mebibyte_are_a_fault_of_their_row() {
    let mut bytes = b"id,name\n".to_vec();
    for i in 0..200_000 {
        bytes.extend_from_slice(format!("{i},Anita\n").as_bytes());
    }
    bytes.extend_from_slice(b"x,Andr\xe9\ny,B\n");
    let whole = read_bytes("a.csv", bytes, Reading::default()).unwrap();
    let [.., odd, last] = &whole.rows[..] else { panic!("many rows") };
    assert_eq!((odd.line, odd.fault.as_deref()), (200_002, Some("bytes that are no UTF-8")));
    assert_eq!(odd.cells, ["", ""]);
    assert_eq!((last.cells[0].as_str(), &last.fault), ("y", &None));
}

#[test]
fn delimiters_are_found_and_noted() {
    for (delimiter, note) in
        [(',', None), (';', Some("for ;")), ('\t', Some("for a tab")), ('|', Some("for |"))]
    {
        let text = "\"id\"D\"a,b;c\"D\"x\"\n\"1\"D\"12,5;3\"D\"\"\n".replace('D', &delimiter.to_string());
        let whole = read_bytes("kobo.csv", text, Reading::default()).unwrap();
        assert_eq!(
            (&whole.header[..], whole.cells()),
            (&["id", "a,b;c", "x"].map(String::from)[..], vec![vec!["1", "12,5;3", ""]])
        );
        match note {
            Some(note) => assert!(whole.notes[0].ends_with(note), "{:?}", whole.notes),
            None => assert!(whole.notes.is_empty()),
        }
    }
    let forced = Reading { delimiter: Some(b';'), ..Reading::default() };
    assert_eq!(read_bytes("a.csv", "a,b,c;d\n1,2;3\n", forced).unwrap().header, ["a,b,c", "d"]);
}

#[test]
fn line_that_declares_the_delimiter_is_not_the_header() {
    for start in ["sep=;\n", "SEP=;\r\n", "\"sep=;\"\n", "\n\nsep=;\n", "\u{feff}sep=;\n"] {
        let whole = read_bytes("a.csv", format!("{start}a,b;c\n1,5;2\n"), Reading::default()).unwrap();
        assert_eq!(
            (&whole.header[..], whole.cells()),
            (&["a,b", "c"].map(String::from)[..], vec![vec!["1,5", "2"]])
        );
        assert_eq!(whole.lines(), [start.matches('\n').count() as u64 + 2], "{start:?}");
    }
    let headless = Reading { header: Some(vec!["x".into(), "y".into()]), ..Reading::default() };
    assert_eq!(read_bytes("a.csv", "sep=,\n1,2\n", headless).unwrap().cells(), [["1", "2"]]);
    // a column may be called so
    assert_eq!(read_bytes("a.csv", "sep=,b\n1,2\n", Reading::default()).unwrap().header, ["sep=", "b"]);
}

#[test]
fn quotes_may_be_escaped_and_cells_hold_json() {
    let text = "_id,fields,from\n\"1\",\"[{\\\"k\\\":\\\"a, b\\\"},\n\\\"c\\\\d\\\"]\",\"+91\"\n2,[],\n";
    let escaped = Reading { escape: Some(b'\\'), ..Reading::default() };
    let whole = read_bytes("reports.csv", text, escaped).unwrap();
    assert_eq!(whole.cells(), [["1", "[{\"k\":\"a, b\"},\n\"c\\d\"]", "+91"], ["2", "[]", ""]]);
    assert_eq!(whole.lines(), [2, 4]);
}

#[test]
fn lines_are_those_of_an_editor() {
    for end in ["\n", "\r\n", "\r"] {
        let text = "title; not, a, table|\n\nid,text\n1,a\n\n\n2,\"two\n\nlines\"\n   \n,\n3,c\n4,d"
            .replace('\n', end);
        let whole = read_bytes("a.csv", text, Reading { skip: 1, ..Reading::default() }).unwrap();
        let expected: &[u64] = if end == "\r" { &[4, 7, 10, 11] } else { &[4, 7, 12, 13] };
        assert_eq!(whole.header, ["id", "text"]);
        assert_eq!(whole.lines(), expected, "{end:?}");
        assert_eq!(whole.rows[1].cells[1], format!("two{end}{end}lines"));
    }
}

#[test]
fn text_may_have_rows_above_its_header_or_none_at_all() {
    let skipping = Reading { skip: 2, ..Reading::default() };
    let whole = read_bytes("a.csv", "Export of \"May\n\nid,b\n1,2\n", skipping).unwrap();
    assert_eq!((whole.header.len(), whole.lines()), (2, vec![4]));
    let named = Reading { header: Some(vec!["a".into(), " b ".into()]), ..Reading::default() };
    let whole = read_bytes("a.csv", "12,5;13,5\n1;2\n", named).unwrap();
    assert_eq!((whole.header, whole.files), (vec!["a".to_string(), "b".into()], vec!["a.csv".to_string()]));
    assert_eq!(whole.rows.iter().map(|row| row.cells.join("|")).collect::<Vec<_>>(), ["12,5|13,5", "1|2"]);
    assert_eq!(whole.rows[0].line, 1);
}

#[test]
fn ragged_rows_are_faults() {
    let whole = read_bytes("a.csv", "a,b,c\n1,2\n1,2,3\n1,2,3,4\n7\n", Reading::default()).unwrap();
    let faults: Vec<Option<&str>> = whole.rows.iter().map(|row| row.fault.as_deref()).collect();
    assert_eq!(
        faults,
        [
            Some("found 2 fields, expected 3 as in the header"),
            None,
            Some("found 4 fields, expected 3 as in the header"),
            Some("found 1 field, expected 3 as in the header"),
        ]
    );
    assert_eq!(whole.cells()[0], ["", "", ""]);
}

#[test]
fn white_space_of_every_kind_goes() {
    let text = "\u{a0}id ,\u{feff}phone\n\u{a0}1\u{200b},\u{202a}+91 98\u{202c} \n2,\"\n കെ\u{200d}\"\n";
    let whole = read_bytes("a.csv", text, Reading::default()).unwrap();
    assert_eq!(whole.header, ["id", "phone"]);
    assert_eq!(whole.cells(), [["1", "+91 98"], ["2", "കെ\u{200d}"]]);
}

#[test]
fn repeated_and_missing_names_are_told_apart() {
    let whole = read_bytes("a.csv", "a,a,,a\n1,2,3,4\n", Reading::default()).unwrap();
    assert_eq!(whole.header, ["a", "a.2", "column 3", "a.3"]);
}

#[test]
fn content_changes_with_any_cell_and_with_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("a.csv"), "id,b,c\n1,x,y\n1, x ,\"y\"\n1,x,z\n1,xy,\n").unwrap();
    std::fs::write(folder.path().join("b.csv"), "c;id;b\ny;1;x\n").unwrap();
    let whole = read(folder.path(), &reading("*.csv")).unwrap();
    let content: Vec<u64> = whole.rows.iter().map(|row| row.content).collect();
    assert_eq!((content[0], content[0]), (content[1], content[4]));
    assert!(content[2] != content[0] && content[3] != content[0] && content[2] != content[3]);
}

#[test]
fn only_wanted_columns_are_shown_in_the_order_they_are_wanted() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("a.csv"), "a,b,c\n1,2,3\n").unwrap();
    let mut source = Source::open(&reading("a.csv"), &Input::Files { base: folder.path() }).unwrap();
    assert_eq!(source.bytes(), Some(12));
    let mut cells = Vec::new();
    let stopped = source.rows(&[2, 0], |row| {
        cells.push((row.cell(0).to_string(), row.cell(1).to_string()));
        Err(SourceError::Unending { file: "mine".into(), line: 1 })
    });
    assert_eq!(cells, [("3".to_string(), "1".to_string())]);
    assert!(stopped.unwrap_err().to_string().starts_with("mine:"));
}

proptest! {
    #![proptest_config(proptest::test_runner::Config {
        cases: 300,
        rng_seed: proptest::test_runner::RngSeed::Fixed(1),
        failure_persistence: None,
        ..Default::default()
    })]

    /// Whatever is in the cells, and whatever stands between them.
    #[test]
    fn any_cells_survive(
        rows in prop::collection::vec(prop::collection::vec("[\",;|\t\r\n\\\\ aé₹]{0,6}|\\PC{0,5}", 3), 1..12),
        delimiter in prop::sample::select(&b",;\t|"[..]),
        all_quoted: bool,
    ) {
        let style = if all_quoted { csv::QuoteStyle::Always } else { csv::QuoteStyle::Necessary };
        let mut writer =
            csv::WriterBuilder::new().delimiter(delimiter).quote_style(style).from_writer(Vec::new());
        writer.write_record(["id", "b", "c", "d"]).unwrap();
        let mut lines = Vec::new();
        let mut line = 2;
        for (i, row) in rows.iter().enumerate() {
            writer.write_record(std::iter::once(&format!("p{i}")).chain(row)).unwrap();
            lines.push(line);
            line += 1 + row.iter().map(|cell| cell.matches('\n').count() as u64).sum::<u64>();
        }
        let whole = read_bytes("a.csv", writer.into_inner().unwrap(), Reading::default()).unwrap();
        prop_assert_eq!(whole.lines(), lines);
        for (seen, row) in whole.rows.iter().zip(&rows) {
            prop_assert_eq!(&seen.fault, &None);
            let air = |c: char| c.is_whitespace()
                || "\u{200b}\u{200e}\u{200f}\u{2060}\u{feff}".contains(c)
                || ('\u{202a}'..='\u{202e}').contains(&c)
                || ('\u{2066}'..='\u{2069}').contains(&c);
            let expected: Vec<&str> = row.iter().map(|cell| cell.trim_matches(air)).collect();
            prop_assert_eq!(seen.cells[1..].iter().map(String::as_str).collect::<Vec<_>>(), expected);
        }
    }
}
