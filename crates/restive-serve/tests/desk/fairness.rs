//! The page *Fairness*: the same groups, the same words and the same gaps as `restive fairness`, and the price of a floor.

use crate::harness::{WebUi, assert_main, done_job, escaped, failed_job};
use crate::world::{WorldOptions, world};
use restive_programme::Programme;
use restive_programme::fairness::{FairnessAsked, WhichLists, page};

#[test]
fn groups_are_those_of_the_command_line_and_floors_have_a_price() {
    let ui = WebUi::start();
    let mut planner = ui.planner();
    assert_main("fairness", &planner.get("/fairness"));
    let begun = planner.post("/fairness", &[]);
    done_job(&mut planner, &begun);
    let looked = planner.get("/fairness");
    assert_main("fairness_looked", &looked);
    let shown = looked.body;
    let programme = Programme::open(&ui.folder).unwrap();
    let answer = programme.fairness(&FairnessAsked::default()).unwrap();
    assert!(shown.contains(&escaped(&answer.verdict())));
    for section in &page(&answer).sections {
        assert!(shown.contains(&section.fragment(2)), "{}", section.heading);
    }
    // of ninety people small groups are withheld, here as there
    assert!(answer.is_withheld());
    assert!(answer.columns.contains(&"centre".to_string()) && !answer.columns.contains(&"name".to_string()));

    let begun = planner.post("/fairness", &[("by:centre", "on"), ("last", "4")]);
    done_job(&mut planner, &begun);
    let shown = planner.get("/fairness").body;
    let asked =
        FairnessAsked { by: vec!["centre".into()], lists: WhichLists::Last(4), ..FairnessAsked::default() };
    let answer = programme.fairness(&asked).unwrap();
    let sections = page(&answer).sections;
    assert!(shown.contains(&sections[0].fragment(2)) && shown.contains("<option value=\"4\" selected>"));

    // a floor for every group that the page offers: a price, or why there is none
    let group = answer.tables[0].groups[0].name.clone();
    let begun = planner
        .post("/fairness", &[("by:centre", "on"), ("group", &format!("centre={group}")), ("places", "3")]);
    done_job(&mut planner, &begun);
    let asked = FairnessAsked {
        by: vec!["centre".into()],
        floors: vec![["centre".into(), group]],
        ..FairnessAsked::default()
    };
    let answer = programme.fairness(&asked).unwrap();
    let said =
        answer.floors.first().map_or_else(|| answer.notes.last().unwrap().clone(), |floor| floor.price(3));
    assert!(planner.get("/fairness").body.contains(&escaped(&said)), "{said}");
}

#[test]
fn what_cannot_be_asked_is_refused_with_what_was_expected() {
    let ui = WebUi::start();
    let mut planner = ui.planner();
    for (fields, said) in [
        (vec![("last", "2")], "expected 1, 4 or 13"),
        (vec![("group", "centre=north"), ("places", "lots")], "expected one from 1 on"),
        (vec![("group", "nothing"), ("places", "1")], "expected one of those on the page"),
    ] {
        let refused = planner.post("/fairness", &fields);
        assert_eq!(refused.status, 422);
        assert!(refused.body.contains(said), "{}", refused.body);
    }
    // names tell people apart, and a column that is not there groups nobody
    for column in ["name", "phone", "<b>"] {
        let begun = planner.post("/fairness", &[(&format!("by:{column}"), "on")]);
        let failed = failed_job(&mut planner, &begun);
        assert!(!failed.body.contains("<b>"), "{}", failed.body);
    }
    assert!(!planner.get("/fairness").body.contains("class=\"verdict\""));
}

#[test]
fn a_programme_without_a_list_is_told_what_to_do() {
    let files = world(&WorldOptions::default());
    let folder = files.path("programme");
    for name in ["ledger.db", "ledger.db-wal", "ledger.db-shm"] {
        let _ = std::fs::remove_file(folder.join(name));
    }
    let ui = WebUi::start_in(files, |_| {});
    let mut planner = ui.planner();
    assert_main("fairness_without_list", &planner.get("/fairness"));
    assert_main("evidence_without_list", &planner.get("/evidence"));
}
