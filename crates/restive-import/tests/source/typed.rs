//! Workbooks, Parquet, frames: values with types.

use super::*;
use arrow_array::types::Int32Type;
use arrow_array::*;
use arrow_schema::{DataType, TimeUnit};
use rust_xlsxwriter::{ExcelDateTime, Format, Workbook};
use std::collections::BTreeMap;
use std::io::{Cursor, Read};
use std::sync::Arc;

fn book() -> Vec<u8> {
    let mut book = Workbook::new();
    let date = Format::new().set_num_format("yyyy-mm-dd");
    let time = Format::new().set_num_format("dd/mm/yyyy hh:mm:ss");
    let clock = Format::new().set_num_format("hh:mm");
    let sheet = book.add_worksheet();
    sheet.set_name("Contacts").unwrap();
    sheet.write(0, 0, "Exported by somebody").unwrap();
    for (c, name) in ["id ", "phone", "born", "seen", "at", "ok", "score"].into_iter().enumerate() {
        sheet.write(2, c as u16, name).unwrap();
    }
    sheet.write(3, 0, "p1").unwrap();
    sheet.write(3, 1, 919_876_543_210.0).unwrap();
    sheet.write_with_format(3, 2, ExcelDateTime::from_ymd(1999, 12, 31).unwrap(), &date).unwrap();
    let seen = ExcelDateTime::parse_from_str("2026-03-05T14:30:00").unwrap();
    sheet.write_with_format(3, 3, &seen, &time).unwrap();
    sheet.write_with_format(3, 4, ExcelDateTime::from_hms(9, 5, 0).unwrap(), &clock).unwrap();
    sheet.write(3, 5, true).unwrap();
    sheet.write(3, 6, 0.125).unwrap();
    sheet.write(5, 0, "p2").unwrap();
    sheet.write(5, 1, "\u{a0}+91 98 ").unwrap();
    sheet.write(6, 0, "p3").unwrap();
    sheet.write(6, 8, "beyond").unwrap();
    for (name, id) in [("Messages", "m1"), ("Messages (2)", "m2")] {
        let sheet = book.add_worksheet();
        sheet.set_name(name).unwrap();
        sheet.write_row(0, 0, ["id", "text"]).unwrap();
        sheet.write_row(1, 0, [id, "hello"]).unwrap();
    }
    book.add_worksheet().set_name("Empty").unwrap();
    book.save_to_buffer().unwrap()
}

/// The same workbook with something in its description changed.
fn patched(book: &[u8], member: &str, from: &str, to: &str) -> Vec<u8> {
    let mut archive = zip::ZipArchive::new(Cursor::new(book)).unwrap();
    let mut members = Vec::new();
    for i in 0..archive.len() {
        let mut file = archive.by_index(i).unwrap();
        let (name, mut bytes) = (file.name().to_string(), Vec::new());
        file.read_to_end(&mut bytes).unwrap();
        if name == member {
            let text = String::from_utf8(bytes).unwrap();
            assert!(text.contains(from), "{text}");
            bytes = text.replace(from, to).into_bytes();
        }
        members.push((name, bytes));
    }
    zipped(&members.iter().map(|(name, bytes)| (name.as_str(), &bytes[..])).collect::<Vec<_>>())
}

fn read_book(bytes: &[u8], part: &str, skip: usize) -> Result<Whole, SourceError> {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("book.xlsx"), bytes).unwrap();
    read(folder.path(), &Reading { skip, ..reading(&format!("book.xlsx{part}")) })
}

#[test]
fn sheets_have_dates_and_whole_numbers() {
    let whole = read_book(&book(), "", 1).unwrap();
    assert_eq!(whole.header, ["id", "phone", "born", "seen", "at", "ok", "score"]);
    assert_eq!((whole.is_typed, whole.files[0].as_str()), (true, "book.xlsx#Contacts"));
    assert_eq!(whole.lines(), [4, 6, 7]);
    assert_eq!(
        whole.cells()[0],
        ["p1", "919876543210", "1999-12-31", "2026-03-05 14:30:00", "09:05:00", "true", "0.125"]
    );
    assert_eq!(whole.cells()[1], ["p2", "+91 98", "", "", "", "", ""]);
    assert_eq!(whole.rows[2].fault.as_deref(), Some("found 9 fields, expected 7 as in the header"));
}

/// An OpenDocument workbook of one sheet with these rows.
fn ods(rows: &str) -> Vec<u8> {
    let content = format!(
        "<office:document-content><office:body><office:spreadsheet><table:table table:name=\"S\">{rows}</table:table>\
         </office:spreadsheet></office:body></office:document-content>"
    );
    zipped(&[
        ("mimetype", b"application/vnd.oasis.opendocument.spreadsheet"),
        ("META-INF/manifest.xml", b"<manifest:manifest/>"),
        ("content.xml", content.as_bytes()),
    ])
}

#[test]
fn formula_of_opendocument_without_a_stored_result_is_not_empty() {
    let cell = |attributes: &str, text: &str| {
        format!("<table:table-cell {attributes}><text:p>{text}</text:p></table:table-cell>")
    };
    let name = |name: &str| cell("office:value-type=\"string\"", name);
    let row = |cells: &[String]| format!("<table:table-row>{}</table:table-row>", cells.concat());
    let unknown = "<table:table-cell table:formula=\"of:=[.A1]\"/>".to_string();
    let rows = [
        "<table:table-row table:number-rows-repeated=\"2\"><table:table-cell table:number-columns-repeated=\"4\"/></table:table-row>".to_string(),
        row(&["a", "b", "c"].map(name)),
        row(&[
            cell("table:formula=\"of:=1\" office:value-type=\"float\" office:value=\"1\"", "1"),
            unknown.clone(),
            "<table:table-cell table:formula=\"of:=&quot;&quot;\" office:value-type=\"string\" office:string-value=\"\"/>".into(),
        ]),
        row(&[
            unknown.replace("table:formula", "table:number-columns-repeated=\"2\" table:formula"),
            cell(
                "table:formula=\"of:=1/0\" office:value-type=\"string\" office:string-value=\"\" calcext:value-type=\"error\"",
                "#DIV/0!",
            ),
        ])
        .replace("<table:table-row>", "<table:table-row table:number-rows-repeated=\"2\">"),
        row(&["<table:table-cell/>".into()]),
        row(&["<table:table-cell table:number-columns-repeated=\"2\"/>".into(), unknown]),
    ];
    let whole = read_bytes("book.ods", ods(&rows.concat()), Reading::default()).unwrap();
    assert_eq!(whole.header, ["a", "b", "c"]);
    assert_eq!(whole.lines(), [4, 5, 6, 8]);
    let unknown = "#NOT_CALCULATED!";
    let both = [unknown, unknown, "#DIV/0!"];
    assert_eq!(whole.cells(), [["1", unknown, ""], both, both, ["", "", unknown]]);
}

#[test]
fn the_epoch_of_1904_is_respected() {
    let old = patched(&book(), "xl/workbook.xml", "<workbookPr ", "<workbookPr date1904=\"1\" ");
    let whole = read_book(&old, "", 1).unwrap();
    assert_eq!(whole.cells()[0][2..4], ["2004-01-01", "2030-03-06 14:30:00"]);
}

#[test]
fn a_table_may_go_on_in_further_sheets() {
    let whole = read_book(&book(), "#Messages*", 0).unwrap();
    assert_eq!(whole.files, ["book.xlsx#Messages", "book.xlsx#Messages (2)"]);
    assert_eq!(whole.cells(), [["m1", "hello"], ["m2", "hello"]]);
    let named = read_book(&book(), "#Messages (2)", 0).unwrap();
    assert_eq!(named.cells(), [["m2", "hello"]]);
    let with_empty = patched(&book(), "xl/workbook.xml", "Empty", "Nothing here");
    let whole = read_book(&with_empty, "#*e*", 0).unwrap();
    assert_eq!(whole.rows.len(), 2);
    assert_eq!(whole.notes, ["book.xlsx#Nothing here: the sheet is empty and was left out"]);
}

#[test]
fn sheets_that_cannot_be_read_are_refused() {
    assert_eq!(
        read_book(&book(), "#Mesages", 0).unwrap_err().to_string(),
        "book.xlsx: found a workbook without it, expected a sheet Mesages; there is Messages, Messages (2), \
         Contacts, Empty"
    );
    assert_eq!(
        read_book(&book(), "#Empty", 0).unwrap_err().to_string(),
        "book.xlsx: found nothing but empty sheets, expected a table"
    );
    let odd = patched(&book(), "xl/worksheets/sheet2.xml", "<sheetData>", "<sheetData><row r=\"x\">");
    let message = read_book(&odd, "#Messages", 0).unwrap_err().to_string();
    assert_eq!(
        message,
        "book.xlsx#Messages: found an unreadable workbook (its parts contradict each other), expected a whole one"
    );
    let old = read_bytes("old.xls", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1 and no more", Reading::default());
    assert!(old.unwrap_err().to_string().starts_with("old.xls: found an unreadable workbook ("));
}

#[test]
fn damaged_workbooks_make_no_panic() {
    let whole = book();
    for place in (0..whole.len()).step_by(13) {
        let mut damaged = whole.clone();
        damaged[place] ^= 0x55;
        let _ = read_book(&damaged, "#*", 0);
        let _ = read_book(&whole[..place], "", 0);
    }
}

fn frame() -> RecordBatch {
    let seconds = 1_772_721_000_i64; // 2026-03-05 14:30:00
    let null: [Option<i64>; 3] = [Some(-7), None, Some(0)];
    let dictionary: DictionaryArray<Int32Type> = [Some("Ñ"), None, Some("b ")].into_iter().collect();
    let columns: Vec<(&str, ArrayRef)> = vec![
        ("text", Arc::new(StringArray::from(vec![Some(" a "), None, Some("")]))),
        ("large", Arc::new(LargeStringArray::from(vec!["x", "y", "z"]))),
        ("view", Arc::new(StringViewArray::from(vec!["a view that is rather long", "y", "z"]))),
        ("word", Arc::new(dictionary)),
        ("whole", Arc::new(Int64Array::from(null.to_vec()))),
        ("small", Arc::new(UInt8Array::from(vec![0, 1, 255]))),
        ("real", Arc::new(Float64Array::from(vec![919_876_543_210.0, f64::NAN, -0.5]))),
        ("single", Arc::new(Float32Array::from(vec![0.1, 2.0, -0.0]))),
        ("yes", Arc::new(BooleanArray::from(vec![true, false, true]))),
        ("day", Arc::new(Date32Array::from(vec![0, 20_517, -1]))),
        ("naive", Arc::new(TimestampMicrosecondArray::from(vec![seconds * 1_000_000, 0, -1_500_000]))),
        (
            "zoned",
            Arc::new(
                TimestampMillisecondArray::from(vec![seconds * 1000, 5, i64::MAX])
                    .with_timezone("Asia/Kolkata"),
            ),
        ),
        ("time", Arc::new(Time64MicrosecondArray::from(vec![0, 3_661_000_000, 86_399_000_001]))),
        (
            "money",
            Arc::new(Decimal128Array::from(vec![1250, -5, 0]).with_precision_and_scale(10, 2).unwrap()),
        ),
    ];
    RecordBatch::try_from_iter_with_nullable(columns.into_iter().map(|(name, array)| (name, array, true)))
        .unwrap()
}

const FRAME: [[&str; 14]; 3] = [
    [
        "a",
        "x",
        "a view that is rather long",
        "Ñ",
        "-7",
        "0",
        "919876543210",
        "0.1",
        "true",
        "1970-01-01",
        "2026-03-05 14:30:00",
        "2026-03-05T14:30:00Z",
        "00:00:00",
        "12.50",
    ],
    [
        "",
        "y",
        "y",
        "",
        "",
        "1",
        "",
        "2",
        "false",
        "2026-03-05",
        "1970-01-01 00:00:00",
        "1970-01-01T00:00:00.005Z",
        "01:01:01",
        "-0.05",
    ],
    [
        "",
        "z",
        "z",
        "b",
        "0",
        "255",
        "-0.5",
        "0",
        "true",
        "1969-12-31",
        "1969-12-31 23:59:58.500",
        "9223372036854775807",
        "23:59:59.000001",
        "0.00",
    ],
];

#[test]
fn frames_have_text_for_every_type() {
    let frames = BTreeMap::from([("calls".to_string(), vec![frame(), frame().slice(1, 1)])]);
    let whole = read_input(&reading("calls"), &Input::Tables(&frames)).unwrap();
    assert_eq!((whole.is_typed, whole.files[0].as_str()), (true, "calls"));
    assert_eq!(whole.lines(), [0, 1, 2, 3]);
    for (found, expected) in whole.cells().iter().zip(FRAME) {
        assert_eq!(found[..], expected[..]);
    }
    assert_eq!(whole.cells()[3], FRAME[1]);
    assert_eq!(whole.rows[1].content, whole.rows[3].content);
    let error = read_input(&reading("call"), &Input::Tables(&frames)).unwrap_err();
    assert_eq!(
        error.to_string(),
        "call: found no frame of this name, expected one of those that were given; there is calls"
    );
    let source = Source::open(&reading("calls"), &Input::Tables(&frames)).unwrap();
    assert_eq!(source.bytes(), None);
}

#[test]
fn parquet_is_read_as_frames_are() {
    // the calendar of Parquet has no such time
    let frame = frame().slice(0, 2);
    let mut writer = parquet::arrow::ArrowWriter::try_new(Vec::new(), frame.schema(), None).unwrap();
    writer.write(&frame).unwrap();
    let bytes = writer.into_inner().unwrap();
    let whole = read_bytes("calls.csv", &bytes, Reading::default()).unwrap();
    assert_eq!(whole.header[..3], ["text", "large", "view"]);
    for (found, expected) in whole.cells().iter().zip(FRAME) {
        assert_eq!(found[..], expected[..]);
    }
    assert_eq!((whole.is_typed, whole.lines()), (true, vec![0, 1]));
    for place in (0..bytes.len()).step_by(7) {
        let mut damaged = bytes.clone();
        damaged[place] ^= 0x55;
        let _ = read_bytes("calls.parquet", damaged, Reading::default());
        let cut = read_bytes("calls.parquet", &bytes[..place], Reading::default()).unwrap_err();
        assert!(cut.to_string().starts_with("calls.parquet: found "), "{cut}");
    }
}

#[test]
fn a_column_without_text_is_refused_where_it_is_wanted() {
    let lists = ListArray::from_iter_primitive::<Int32Type, _, _>([Some([Some(1)]), Some([Some(2)])]);
    let zones =
        TimestampSecondArray::from(vec![0, 1]).with_data_type(DataType::Timestamp(TimeUnit::Second, None));
    let columns: Vec<(&str, ArrayRef)> = vec![
        ("lists", Arc::new(lists)),
        ("id", Arc::new(StringArray::from(vec!["a", "b"]))),
        ("when", Arc::new(zones)),
    ];
    let frames = BTreeMap::from([("f".to_string(), vec![RecordBatch::try_from_iter(columns).unwrap()])]);
    let error = read_input(&reading("f"), &Input::Tables(&frames)).unwrap_err().to_string();
    assert!(error.starts_with("f: column lists: found List("), "{error}");
    let mut source = Source::open(&reading("f"), &Input::Tables(&frames)).unwrap();
    let mut ids = Vec::new();
    let visited = source.rows(&[1], |row| {
        ids.push(row.cell(0).to_string());
        Ok::<(), SourceError>(())
    });
    assert!(visited.is_ok());
    assert_eq!(ids, ["a", "b"]);
}
