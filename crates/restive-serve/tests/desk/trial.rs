//! A trial that is over: the page *Evidence* shows what it found.

use crate::common::Desk;
use crate::data::finished;
use jiff::civil::{Date, date};
use jiff::{Timestamp, ToSpan};
use restive_import::{ImportAsked, Input, Mapping};
use restive_ledger::{Code, Ledger, Outcome};
use restive_pipeline::{Asked, FolderTraining, PredictorName, Progressed};
use restive_programme::{AnalyseAsked, DesignAsked, Programme, WeekAsked, grow};
use std::collections::HashSet;
use std::fmt::Write;
use std::path::Path;

const PEOPLE: usize = 80;
const BEFORE: usize = 7;
const WEEKS: usize = 2;
const MAPPING: &str = r#"period = { every = "week" }
study = { unit = "good weeks", budget = 8 }
state = { at_least = 30, silence = "lowest", names = ["bad", "good"] }
[people]
file = "registry.csv"
id = "id"
keep = ["name"]
features.age = { number = "age" }
features.owner = "text"
[[events]]
file = "messages.csv"
person = "id"
time = "sent"
value = "seconds"
[actions]
file = "calls.csv"
person = "id"
time = "called"
"#;

fn day(week: usize, weekday: i64) -> Date {
    date(2026, 1, 5) + (week as i64 * 7 + weekday).days()
}

/// Whether somebody listened in a week: chance by the numbers, and a call before it does much.
fn listened(person: usize, week: usize, called: bool) -> bool {
    (person * 7919 + week * 104_729) % 101 < 35 + (person % 5) * 6 + if called { 40 } else { 0 }
}

/// Writes what is known after so many weeks, and imports it; `called` has who was called in which week.
fn import(folder: &Path, weeks: usize, called: &HashSet<(usize, usize)>) {
    let mut registry = String::from("id,name,age,owner\n");
    let (mut messages, mut calls) = (String::from("id,sent,seconds\n"), String::from("id,called\n"));
    for k in 0..PEOPLE {
        writeln!(registry, "B{k:02},Name {k},{},{}", 20 + k % 17, ["own", "shared"][k % 2]).unwrap();
        for week in 0..weeks {
            let is_called = called.contains(&(k, week));
            let seconds = if listened(k, week, is_called) { 60 } else { 3 };
            writeln!(messages, "B{k:02},{},{seconds}", day(week, 4)).unwrap();
            if is_called && week < BEFORE {
                writeln!(calls, "B{k:02},{}", day(week, 1)).unwrap();
            }
        }
    }
    for (name, text) in [("registry.csv", registry), ("messages.csv", messages), ("calls.csv", calls)] {
        std::fs::write(folder.join(name), text).unwrap();
    }
    std::fs::write(folder.join("mapping.toml"), MAPPING).unwrap();
    let mapping = Mapping::read(&folder.join("mapping.toml")).unwrap();
    let asked = ImportAsked { out: Some(folder.join("programme")), ..ImportAsked::default() };
    grow(&mapping, &Input::Files { base: mapping.text.base() }, &asked, |_, _| {}).unwrap();
}

fn at(week: usize) -> Timestamp {
    day(week, 0).at(7, 0, 0, 0).to_zoned(jiff::tz::TimeZone::UTC).unwrap().timestamp()
}

#[test]
fn a_trial_that_is_over_is_told_with_its_result() {
    let kept = tempfile::tempdir().unwrap();
    let folder = kept.path().join("programme");
    let by_hand = |week: usize| (0..PEOPLE).filter(move |k| (k + 3 * week).is_multiple_of(9));
    let mut called: HashSet<(usize, usize)> =
        (1..BEFORE).flat_map(|week| by_hand(week).map(move |k| (k, week))).collect();
    import(kept.path(), BEFORE, &called);
    let programme = Programme::open(&folder).unwrap();
    let asked = Asked { predictor: Some(PredictorName::Effect), ..Asked::default() };
    let training = FolderTraining::new(&programme.study(), &asked, "study", |_| {}).unwrap();
    let done = training.run::<restive_pipeline::Error>(Progressed::default(), |_| Ok(())).unwrap();
    let model = programme.new_model(day(BEFORE, 0)).unwrap();
    training.model(done.members, done.histories).unwrap().write(&model, false).unwrap();
    programme.init().unwrap();

    // agreed, drawn, two weeks of lists, and over
    let asked = DesignAsked {
        id: Some("spring".into()),
        weeks: WEEKS,
        share: 0.5,
        by: None,
        strata: vec![],
        cluster_sd: 0.0,
        trials: 8,
        seed: 3,
    };
    let designed = programme.design_trial(&asked, |_| {}).unwrap();
    let protocol = kept.path().join("protocol.toml");
    std::fs::write(&protocol, designed.protocol.text(designed.people, "week")).unwrap();
    programme.assign_trial(&protocol, at(BEFORE)).unwrap();
    for week in BEFORE..BEFORE + WEEKS {
        let programme = Programme::open(&folder).unwrap();
        let list = programme.plan(&WeekAsked::default(), at(week)).unwrap();
        let outcome = |arm: &String| Outcome {
            plan: list.record.id.clone(),
            arm: arm.clone(),
            code: Code::Reached,
            day: Some(day(week, 1).to_string()),
            note: None,
            source: "test".into(),
            received_at: format!("{}T18:00:00Z", day(week, 6)),
        };
        let outcomes: Vec<Outcome> = list.rows.iter().map(|(arm, _)| outcome(arm)).collect();
        assert!(!outcomes.is_empty());
        Ledger::open(&programme.ledger()).unwrap().receive(&outcomes).unwrap();
        called.extend(outcomes.iter().map(|one| (one.arm[1..].parse().unwrap(), week)));
        import(kept.path(), week + 1, &called);
    }
    let programme = Programme::open(&folder).unwrap();
    let found = programme.analyse_trial(&AnalyseAsked::default()).unwrap();
    programme.end_trial("as agreed", at(BEFORE + WEEKS)).unwrap();

    let desk = Desk::of(kept, folder, |_| {});
    let mut planner = desk.planner();
    let begun = planner.post("/evidence/judge", &[]);
    let done = finished(&mut planner, &begun);
    assert!(done.body.contains("It is done."), "{}", done.body);
    let page = planner.get("/evidence").body;
    let told = page.split("<dt>result</dt><dd>").nth(1).unwrap_or_else(|| panic!("{page}"));
    let told = told.split("</dd>").next().unwrap().replace("&#39;", "'").replace("&#38;", "&");
    assert_eq!(told, found.sentence);
    assert!(page.contains("spring"), "{page}");
}
