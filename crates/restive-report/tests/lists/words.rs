//! Words of the lists that are written for other programs.

use calamine::{Data, Reader, Xlsx};
use restive_report::list::*;
use restive_testkit::{Masks, assert_snapshot, wrapped};
use roxmltree::Document;
use std::io::{Cursor, Read};

/// Returns the sheets of a workbook as text: the rows, and the messages and notes that a cell shows.
fn text_of(workbook: &[u8]) -> String {
    let mut book: Xlsx<_> = calamine::open_workbook_from_rs(Cursor::new(workbook)).unwrap();
    let mut archive = zip::ZipArchive::new(Cursor::new(workbook)).unwrap();
    let mut out = String::new();
    for (k, name) in book.sheet_names().into_iter().enumerate() {
        out += &format!("## {name}\n");
        for row in book.worksheet_range(&name).unwrap().rows() {
            let row = row.iter().map(cell).collect::<Vec<_>>().join(" | ");
            out += &(row.trim_end_matches([' ', '|']).to_string() + "\n");
        }
        let mut part = String::new();
        let path = format!("xl/worksheets/sheet{}.xml", k + 1);
        archive.by_name(&path).unwrap().read_to_string(&mut part).unwrap();
        for rule in Document::parse(&part).unwrap().descendants() {
            for words in ["promptTitle", "prompt", "errorTitle", "error"] {
                if rule.tag_name().name() == "dataValidation"
                    && let Some(said) = rule.attribute(words)
                {
                    out += &format!("({words}: {said})\n");
                }
            }
            if rule.tag_name().name() == "oddFooter" {
                out += &format!("(footer: {})\n", rule.text().unwrap());
            }
        }
        out.push('\n');
    }
    out
}

fn cell(cell: &Data) -> String {
    match cell {
        Data::DateTime(day) => format!("day {}", day.as_f64()),
        other => other.to_string(),
    }
}

fn assert_text(name: &str, text: &str) {
    assert_snapshot!(name, &wrapped(&Masks::new().apply(text), 80));
}

#[test]
fn lists_have_their_words() {
    assert_text("list_workbook", &text_of(&xlsx(&example()).unwrap()));
    assert_text("list_commcare", &text_of(&commcare(&example()).unwrap()));
    assert_text("list_csv", &csv(&example()));
    let nobody = List { rows: vec![], ..example() };
    assert_text("list_workbook_without_people", &text_of(&xlsx(&nobody).unwrap()));
}
