//! Workbooks, read by calamine and as the XML that they are.

use crate::{HOSTILE, hostile, odd, people};
use calamine::{Data, Range, Reader, Xlsx, open_workbook_from_rs};
use proptest::prelude::*;
use restive_report::list::*;
use roxmltree::Document;
use std::collections::{BTreeMap, HashSet};
use std::io::{Cursor, Read};

fn open(bytes: &[u8]) -> Vec<(String, Range<Data>)> {
    let mut book: Xlsx<_> = open_workbook_from_rs(Cursor::new(bytes.to_vec())).unwrap();
    let names = book.sheet_names();
    names.into_iter().map(|name| (name.clone(), book.worksheet_range(&name).unwrap())).collect()
}

/// The parts of the archive by their names.
fn parts(bytes: &[u8]) -> BTreeMap<String, String> {
    let mut archive = zip::ZipArchive::new(Cursor::new(bytes)).unwrap();
    let part = |k| {
        let mut file = archive.by_index(k).unwrap();
        let mut text = String::new();
        file.read_to_string(&mut text).unwrap();
        (file.name().to_string(), text)
    };
    let count = zip::ZipArchive::new(Cursor::new(bytes)).unwrap().len();
    (0..count).map(part).collect()
}

fn text(data: Option<&Data>) -> String {
    match data {
        Some(Data::String(text)) => text.clone(),
        Some(Data::Empty) | None => String::new(),
        Some(other) => panic!("{other:?} is no text"),
    }
}

fn row(sheet: &Range<Data>, k: u32) -> Vec<Data> {
    let last = sheet.end().unwrap().1;
    (0..=last).map(|column| sheet.get_value((k, column)).cloned().unwrap_or(Data::Empty)).collect()
}

#[test]
fn values_come_back_as_what_they_were() {
    let sheets = open(&xlsx(&example()).unwrap());
    assert_eq!(sheets.len(), 1 + 3);
    let asha = &sheets[1].1;
    let found = row(asha, 1);
    assert_eq!(found[0], Data::String("m-17".into()));
    assert_eq!(found[1], Data::String("Invented One".into()));
    assert_eq!(found[2], Data::Float(9.0));
    assert_eq!(found[3], Data::Float(0.42));
    // 1 January 2026 is day 36526 + 26 · 365 + 7 = 46023
    assert!(matches!(&found[4], Data::DateTime(when) if when.as_f64() == 46056.0), "{:?}", found[4]);
    assert!(text(Some(&found[5])).starts_with("Stopped listening"));
    assert_eq!(found[6..9], [Data::Empty, Data::Empty, Data::Empty]);
    assert_eq!(found[9], Data::String("2026-w12".into()));
    // a row with fewer cells than there are columns
    assert_eq!(row(&sheets[2].1, 1)[4..6], [Data::Empty, Data::Empty]);
    assert_eq!(row(&sheets[2].1, 1)[9], Data::String("2026-w12".into()));
}

#[test]
fn the_reader_finds_its_columns() {
    let mut list = example();
    list.words.outcome = "résultat".into();
    list.words.day = "note".into(); // twice, and in other letters below
    list.words.note = "NOTE".into();
    list.words.plan = " \n".into();
    list.columns[0].heading = "Résultat".into();
    let headings = reading_columns(&list.words).map(|(_, heading)| heading);
    assert_eq!(headings, ["id", "plan", "résultat", "note", "NOTE (2)"].map(String::from));
    let sheets = open(&xlsx(&list).unwrap());
    let found: Vec<String> = row(&sheets[1].1, 0).iter().map(|cell| text(Some(cell))).collect();
    assert_eq!(found[1], "Résultat (2)");
    for heading in &headings {
        assert_eq!(found.iter().filter(|other| other.to_lowercase() == heading.to_lowercase()).count(), 1);
    }
}

/// The number format of a cell.
fn format_of(parts: &BTreeMap<String, String>, sheet: &str, cell: &str) -> String {
    let sheet = Document::parse(&parts[sheet]).unwrap();
    let styles = Document::parse(&parts["xl/styles.xml"]).unwrap();
    let cell = sheet.descendants().find(|n| n.attribute("r") == Some(cell)).unwrap();
    let style: usize = cell.attribute("s").unwrap().parse().unwrap();
    let all = styles
        .descendants()
        .find(|n| n.has_tag_name(("http://schemas.openxmlformats.org/spreadsheetml/2006/main", "cellXfs")))
        .unwrap();
    let id = all.children().filter(|n| n.is_element()).nth(style).unwrap().attribute("numFmtId").unwrap();
    let own =
        styles.descendants().find(|n| n.tag_name().name() == "numFmt" && n.attribute("numFmtId") == Some(id));
    own.map_or(id.into(), |n| n.attribute("formatCode").unwrap().into())
}

#[test]
fn a_sheet_can_be_filled_in_filtered_and_printed() {
    let mut list = example();
    list.rows[0].sheet = Some("Asha & Co".into());
    let parts = parts(&xlsx(&list).unwrap());
    let sheet = Document::parse(&parts["xl/worksheets/sheet2.xml"]).unwrap();
    let find = |name: &str| {
        sheet.descendants().find(|n| n.tag_name().name() == name).unwrap_or_else(|| panic!("no {name}"))
    };
    let pane = find("pane");
    assert_eq!((pane.attribute("ySplit"), pane.attribute("state")), (Some("1"), Some("frozen")));
    assert_eq!(find("autoFilter").attribute("ref"), Some("A1:J2"));
    let rules: Vec<_> = sheet.descendants().filter(|n| n.tag_name().name() == "dataValidation").collect();
    let formula =
        |k: usize| rules[k].descendants().find(|n| n.tag_name().name() == "formula1").unwrap().text();
    assert_eq!((rules[0].attribute("type"), rules[0].attribute("sqref")), (Some("list"), Some("G2")));
    assert_eq!(formula(0), Some("\"reached,no answer,wrong number\""));
    assert_eq!(rules[0].attribute("showErrorMessage"), Some("1"));
    assert_eq!((rules[1].attribute("type"), rules[1].attribute("sqref")), (Some("date"), Some("H2")));
    // 16 March 2026
    assert_eq!((formula(1), rules[1].attribute("operator")), (Some("46097"), Some("greaterThanOrEqual")));
    let page = find("pageSetup");
    assert_eq!((page.attribute("paperSize"), page.attribute("orientation")), (Some("9"), Some("landscape")));
    assert_eq!((page.attribute("fitToWidth"), page.attribute("fitToHeight")), (None, Some("0")));
    assert_eq!(find("pageSetUpPr").attribute("fitToPage"), Some("1"));
    assert_eq!(find("oddFooter").text(), Some("&CAsha && Co – page &P of &N"));
    assert!(parts["xl/workbook.xml"].contains("_xlnm.Print_Titles"));
    assert!(parts["xl/workbook.xml"].contains("'Asha &amp; Co'!$1:$1"));

    let format = |cell| format_of(&parts, "xl/worksheets/sheet2.xml", cell);
    assert_eq!(format("B2"), "49"); // text
    assert_eq!(format("D2"), "0%");
    assert_eq!(format("E2"), "yyyy-mm-dd");
    assert_eq!(format("H2"), "yyyy-mm-dd"); // the day of the call
    assert_eq!(format("I2"), "49"); // the note
}

#[test]
fn many_or_long_outcomes_are_chosen_from_the_summary() {
    for (words, count) in [("reached, and will listen", 3), ("an outcome of some length", 12)] {
        let mut list = example();
        list.words.summary = "It's a summary".into();
        let outcome = |k: usize| OutcomeCode { code: format!("o{k}"), words: format!("{words} {k}") };
        list.outcomes = (0..count).map(outcome).collect();
        let bytes = xlsx(&list).unwrap();
        let parts = parts(&bytes);
        let sheet = Document::parse(&parts["xl/worksheets/sheet2.xml"]).unwrap();
        let formula =
            sheet.descendants().find(|n| n.tag_name().name() == "formula1").unwrap().text().unwrap();
        let rows = formula.strip_prefix("'It''s a summary'!$B$").unwrap();
        let (first, last) = rows.split_once(":$B$").unwrap();
        let (first, last): (u32, u32) = (first.parse().unwrap(), last.parse().unwrap());
        let summary = &open(&bytes)[0].1;
        let listed: Vec<String> = (first..=last).map(|k| text(summary.get_value((k - 1, 1)))).collect();
        let wanted: Vec<String> = reading_outcomes(&list.outcomes).into_iter().map(|o| o.1).collect();
        assert_eq!((listed.len(), listed), (count, wanted));
    }
}

#[test]
fn nothing_becomes_a_formula() {
    for nasty in HOSTILE {
        let list = hostile(nasty);
        for bytes in [xlsx(&list).unwrap(), commcare(&list).unwrap()] {
            for (name, part) in parts(&bytes) {
                let part =
                    Document::parse(&part).unwrap_or_else(|fault| panic!("{name} of {nasty:?}: {fault}"));
                for node in part.descendants() {
                    let tag = node.tag_name().name();
                    assert!(
                        !["f", "hyperlink", "ddeLink", "oleLink"].contains(&tag),
                        "{nasty:?}: {tag} in {name}"
                    );
                    if name.contains("worksheets") && tag == "c" {
                        assert!([Some("s"), Some("n"), None].contains(&node.attribute("t")), "{nasty:?}");
                    }
                    if tag == "formula1" {
                        let rule = node.text().unwrap();
                        let is_text = rule.starts_with('"') && rule.ends_with('"');
                        assert!(is_text || rule.contains("!$B$") || rule == "46097", "{rule}");
                    }
                    if tag == "Relationship" {
                        assert_ne!(node.attribute("TargetMode"), Some("External"));
                    }
                }
                assert!(!name.contains("external"));
            }
        }
    }
}

#[test]
fn hostile_text_is_text() {
    for nasty in HOSTILE {
        // what a spreadsheet can hold of it
        let kept: String = nasty
            .replace('\r', "\n")
            .chars()
            .filter(|c| *c == '\t' || *c == '\n' || (' '..'\u{ffff}').contains(c))
            .collect();
        let sheets = open(&xlsx(&hostile(nasty)).unwrap());
        assert_eq!(sheets.len(), 3, "{nasty:?}");
        for (_, sheet) in &sheets[1..] {
            let found = row(sheet, 1);
            for k in [0, 1, 2, 3, 4, 5, 6, 10] {
                assert_eq!(text(Some(&found[k])), kept, "column {k}");
            }
        }
    }
}

#[test]
fn long_text_is_cut_to_what_a_cell_holds() {
    let mut list = example();
    list.rows[0].cells[4] = Cell::Text("ab".repeat(20_000));
    list.rows[0].cells[0] = Cell::Text("😀".repeat(20_000));
    list.title = "t".repeat(40_000);
    list.rows[0].sheet = Some("w".repeat(40_000));
    list.outcomes[0].words = "o".repeat(40_000);
    list.words.outcome_error = "e".repeat(40_000);
    list.words.page = "p".repeat(40_000);
    let sheets = open(&xlsx(&list).unwrap());
    let found = row(&sheets[2].1, 1);
    let reason = text(Some(&found[5]));
    assert!(reason.encode_utf16().count() == 32_767 && reason.ends_with("ab…"));
    let name = text(Some(&found[1]));
    assert!(name.encode_utf16().count() <= 32_767 && name.ends_with("😀…"));
    assert_eq!(sheets[2].0, "w".repeat(30) + "…");
}

#[test]
fn the_same_list_gives_the_same_bytes() {
    for make in [xlsx, commcare] {
        let first = make(&example()).unwrap();
        assert_eq!(first, make(&example()).unwrap());
        // no clock has a say: the only times in it are the fixed one
        let core = &parts(&first)["docProps/core.xml"];
        let core = Document::parse(core).unwrap();
        let times: Vec<&str> = core
            .descendants()
            .filter(|n| n.tag_name().namespace() == Some("http://purl.org/dc/terms/"))
            .filter_map(|n| n.text())
            .collect();
        assert_eq!(times, ["2000-01-01T00:00:00Z"; 2]);
        let mut archive = zip::ZipArchive::new(Cursor::new(&first)).unwrap();
        for k in 0..archive.len() {
            assert_eq!(archive.by_index(k).unwrap().last_modified().unwrap().year(), 1980);
        }
    }
}

#[test]
fn two_hundred_workers_with_names_alike() {
    let mut list = people(400);
    let worker = |k: usize| match k % 5 {
        0 => format!("{}{}", "A worker with a name so long that ", k / 5), // alike in its first 31 characters
        1 => "History/".repeat(k / 5 + 1),
        2 => format!("asha{}", "'".repeat(k / 5)),
        3 => format!("ASHA{}", " ?".repeat(k / 5)),
        _ => format!("Sümmary{}", "*".repeat(k / 5)),
    };
    for (k, row) in list.rows.iter_mut().enumerate() {
        row.sheet = Some(worker(k / 2));
    }
    let sheets = open(&xlsx(&list).unwrap());
    let workers: HashSet<String> = (0..200).map(|k| worker(k).trim().to_string()).collect();
    assert_eq!(sheets.len(), workers.len() + 1);
    let names: HashSet<String> = sheets.iter().map(|sheet| sheet.0.to_lowercase()).collect();
    assert_eq!(names.len(), sheets.len());
    assert!(!names.contains("history"));
    for (name, _) in &sheets {
        assert!(!name.is_empty() && name.encode_utf16().count() <= 31, "{name}");
        assert!(
            !name.starts_with('\'')
                && !name.ends_with('\'')
                && !name.contains(['[', ']', ':', '*', '?', '/', '\\'])
        );
    }
    // everybody once, by rank
    let mut ids = HashSet::new();
    for (_, sheet) in &sheets[1..] {
        let ranks: Vec<usize> = (1..sheet.height() as u32)
            .map(|k| text(sheet.get_value((k, 0))).strip_prefix('p').unwrap().parse().unwrap())
            .collect();
        assert!(!ranks.is_empty() && ranks.is_sorted());
        ids.extend(ranks);
    }
    assert_eq!(ids.len(), 400);
    // and the summary counts them
    let counts: Vec<f64> = sheets[0]
        .1
        .rows()
        .filter_map(|row| if let Data::Float(count) = row[1] { Some(count) } else { None })
        .collect();
    let (all, each) = counts.split_last().unwrap();
    assert_eq!((*all, each.iter().sum::<f64>(), each.len()), (400.0, 400.0, workers.len()));
}

#[test]
fn nobody_somebody_and_right_to_left() {
    let mut list = example();
    list.rows.clear();
    let sheets = open(&xlsx(&list).unwrap());
    assert_eq!((sheets.len(), text(sheets[1].1.get_value((0, 0)))), (2, "id".into()));
    list.columns.clear();
    list.outcomes.clear();
    list.words.how_lines.clear();
    list.summary.clear();
    assert_eq!(open(&xlsx(&list).unwrap()).len(), 2);
    assert_eq!(open(&commcare(&list).unwrap())[0].1.height(), 1);

    let mut list = people(1);
    list.direction = Direction::RightToLeft;
    let bytes = xlsx(&list).unwrap();
    assert_eq!(open(&bytes)[1].1.height(), 2);
    for (name, part) in parts(&bytes).iter().filter(|part| part.0.contains("worksheets/sheet")) {
        assert!(part.contains("rightToLeft=\"1\""), "{name}");
    }
}

#[test]
fn what_is_no_number_and_no_date() {
    let sheets = open(&xlsx(&odd()).unwrap());
    let found: Vec<Vec<Data>> = (1..4).map(|k| row(&sheets[k].1, 1)).collect();
    assert_eq!(
        found[0][1..6],
        [
            Data::Empty,
            Data::String(i64::MAX.to_string()),
            Data::String("0000-00-00".into()),
            Data::String("-005-13-40".into()),
            Data::Empty,
        ]
    );
    assert_eq!(found[1][1..3], [Data::Float(7.0), Data::String(i64::MIN.to_string())]);
    assert!(matches!(&found[1][3], Data::DateTime(when) if when.as_f64() == 1.0));
    assert!(matches!(&found[1][4], Data::DateTime(when) if when.as_f64() == 2_958_465.0));
    assert_eq!(found[1][5], Data::String("2026-02-30".into()));
    // a number under a column of dates is a number
    assert_eq!(found[2][1..5], [Data::Float(0.0), Data::Empty, Data::Float(45_000.0), Data::Float(1e300)]);
}

#[test]
fn too_many_columns_are_refused() {
    let mut list = people(1);
    list.columns = (0..16_380).map(|k| Column::new(format!("c{k}"), format!("c{k}"), Kind::Text)).collect();
    let fault = xlsx(&list).unwrap_err();
    assert_eq!(fault, Error::TooMany { what: "columns", found: 16_380, most: 16_379 });
    assert_eq!(fault.to_string(), "16380 columns, where a workbook holds at most 16379");
    list.columns.pop();
    assert_eq!(open(&xlsx(&list).unwrap())[1].1.width(), 16_384);
}

#[test]
fn commcare_reads_plain_text() {
    let mut list = people(7);
    list.columns[4].name = "reason".into();
    list.rows[6].cells = vec![Cell::None, Cell::None, Cell::None, Cell::None, Cell::text("=why\nnot")];
    let mut again = list.rows[0].clone();
    again.rank = 90;
    list.rows.extend([again, ListRow { id: " ".into(), rank: 91, sheet: None, cells: vec![] }]);
    let bytes = commcare(&list).unwrap();
    let sheets = open(&bytes);
    assert_eq!((sheets.len(), sheets[0].0.as_str()), (1, "Sheet1"));
    let sheet = &sheets[0].1;
    let rows: Vec<Vec<String>> = (0..sheet.height() as u32)
        .map(|k| row(sheet, k).iter().map(|cell| text(Some(cell))).collect())
        .collect();
    assert_eq!(
        rows[0].join(" "),
        "case_id restive_plan restive_rank restive_priority restive_reason restive_on_list"
    );
    assert_eq!(rows[1], ["p1", "2026-w12", "1", "high", "=why\nnot", "yes"]);
    // ⌊3p / 7⌋ for p = 0, …, 6
    let priorities: Vec<&str> = rows[1..].iter().map(|row| row[3].as_str()).collect();
    assert_eq!(priorities, ["high", "high", "high", "medium", "medium", "low", "low"]);
    assert!(!parts(&bytes)["xl/worksheets/sheet1.xml"].contains(" s=\""), "no cell is formatted");
}

proptest! {
    #![proptest_config(proptest::test_runner::Config { cases: 64, rng_seed: proptest::test_runner::RngSeed::Fixed(1), failure_persistence: None, ..Default::default() })]

    #[test]
    fn any_words_make_a_workbook(words in "\\PC{0,40}|[ -~\t\r\n]{0,300}|['&\\[\\]\"=,\u{0}-\u{1f}]{0,40}") {
        let list = hostile(&words);
        let sheets = open(&xlsx(&list).unwrap());
        prop_assert!(sheets.len() >= 2);
        for (_, sheet) in &sheets[1..] {
            let found: Vec<String> = row(sheet, 0).iter().map(|cell| text(Some(cell)).to_lowercase()).collect();
            for (_, heading) in reading_columns(&list.words) {
                prop_assert_eq!(found.iter().filter(|other| **other == heading.to_lowercase()).count(), 1);
            }
        }
        open(&commcare(&list).unwrap());
    }
}
