//! `restive report`: the page for a director, against lists and tables that are counted anew here.

use crate::harness::{Chance, Cli, assert_output, cli, stderr, stdout};
use restive_testkit::page_text::page_text;
use serde_json::Value;
use std::collections::{BTreeMap, HashMap};
use std::fmt::Write;
use std::fs;

const PEOPLE: usize = 300;
const WEEKS: usize = 14;
const HORIZON: usize = 10;
const CALLS: usize = 40;

fn name(i: usize) -> String {
    format!("Invented-{i:03}-Person")
}

/// Six people of the village Nook are too few to be told of.
fn village(i: usize) -> &'static str {
    match i {
        0..6 => "Nook",
        i if i % 2 == 0 => "Northam",
        _ => "Southam",
    }
}

/// A study in which a call does much in Northam and nothing in Southam, and goes by lot; `behaviour` is what it says of that.
fn study(folder: &Cli, behaviour: &str) {
    let mut luck = Chance::new(7);
    let mut arms = "arm,village,age\n".to_string();
    (0..PEOPLE).for_each(|i| writeln!(arms, "{},{},{}", name(i), village(i), 20 + i % 23).unwrap());
    let mut rows = "trajectory,t,arm,state,action\n".to_string();
    let mut states: Vec<bool> = (0..PEOPLE).map(|_| luck.next() < 0.4).collect();
    for t in 1..=WEEKS {
        let mut keys: Vec<(f64, usize)> = (0..PEOPLE).map(|i| (luck.next(), i)).collect();
        keys.sort_by(|a, b| a.0.total_cmp(&b.0));
        let mut is_called = vec![false; PEOPLE];
        keys[..CALLS].iter().for_each(|(_, i)| is_called[*i] = true);
        for i in 0..PEOPLE {
            let action = if t == WEEKS { "" } else { ["0", "1"][usize::from(is_called[i])] };
            writeln!(rows, "log,{t},{},{},{action}", name(i), u8::from(states[i])).unwrap();
            let alone = if states[i] { 0.6 } else { 0.15 };
            let chance = if is_called[i] && village(i) == "Northam" { 0.95 } else { alone };
            states[i] = luck.next() < chance;
        }
    }
    fs::create_dir(folder.path("study")).unwrap();
    folder.write("study/arms.csv", arms);
    folder.write("study/trajectories.csv", rows);
    folder.write(
        "study/study.toml",
        format!(
            "name = \"<b>invented</b> & more\"\nstates = 2\nrewards = [0, 1]\nunit = \"engaged weeks\"\ndiscount = 0.99\nbudget = {CALLS}\n\
             horizon = {HORIZON}\nbehaviour = \"{behaviour}\"\n"
        ),
    );
}

fn model(folder: &Cli) {
    folder.run("train study --out model --predictor effect --profile published").success();
}

fn page(folder: &Cli, name: &str) -> String {
    fs::read_to_string(folder.path(name)).unwrap()
}

/// Checks that a page is well-formed.
fn check_form(html: &str) {
    let options = roxmltree::ParsingOptions { allow_dtd: true, ..Default::default() };
    roxmltree::Document::parse_with_options(html, options).unwrap_or_else(|error| panic!("{error}"));
}

#[test]
fn a_study_that_was_dealt_by_lot_has_a_page_with_a_verdict() {
    let folder = cli();
    study(&folder, "uniform");
    model(&folder);
    let said = folder.run("report model study --out one.html --json --threads 1").success();
    let facts: Value = serde_json::from_str(&stdout(&said)).unwrap();
    let html = page(&folder, "one.html");
    check_form(&html);
    let text = page_text(&html);
    restive_testkit::assert_page!("report-page", &html);
    assert!(text.contains(&format!("engaged weeks per 100 people over {HORIZON} steps")), "{text}");
    assert!(html.contains("&lt;b&gt;invented&lt;/b&gt; &amp; more"));
    assert!(!html.contains("<script") && !html.replace("http://www.w3.org/2000/svg", "").contains("://"));
    // half of the people gain by a call, the others do not: that is seen in the log
    let gain = facts["evidence"]["gain"]["value"].as_f64().unwrap();
    let (_, said) = text.split_once("would bring ").unwrap();
    let said: f64 = said.split(' ').next().unwrap().parse().unwrap();
    assert!((said - gain).abs() <= 0.5, "{gain} in {text}");

    // nobody is named, and the six of Nook are not told of
    for secret in (0..PEOPLE).map(name).chain(["Nook".into()]) {
        assert!(!html.contains(&secret) && !facts.to_string().contains(&secret), "{secret}");
    }

    // the list, counted anew from the plan and the table of arms
    let plan: Value =
        serde_json::from_str(&stdout(&folder.run("plan model study --json").success())).unwrap();
    let mut counted: BTreeMap<&str, [u64; 2]> = BTreeMap::new();
    (0..PEOPLE).for_each(|i| counted.entry(village(i)).or_default()[0] += 1);
    let places: HashMap<String, usize> = (0..PEOPLE).map(|i| (name(i), i)).collect();
    for row in plan["plan"].as_array().unwrap() {
        counted.get_mut(village(places[row["arm"].as_str().unwrap()])).unwrap()[1] += 1;
    }
    let by_village = &facts["fairness"][0];
    assert_eq!(by_village["column"], "village");
    for group in by_village["groups"].as_array().unwrap() {
        let [could, listed] = counted[group["name"].as_str().unwrap()];
        assert_eq!(group["could"], could);
        assert!(could >= 10);
        let on = &group["on_list"];
        if on.is_object() {
            assert_eq!(on["people"], listed);
            assert!((listed == 0 || listed >= 10) && could - listed >= 10);
            let rate = on["rate"][0].as_f64().unwrap();
            assert!((rate - listed as f64 / could as f64).abs() < 1e-12);
        }
    }
    assert!(by_village["withheld"].as_u64().unwrap() >= 1);
    assert_eq!(facts["list"]["listed"], CALLS);
    for typical in facts["list"]["typical"].as_array().unwrap() {
        assert!(typical["people"].as_u64().unwrap() >= 10);
        assert!(typical["called"].as_f64().unwrap() > typical["left_alone"].as_f64().unwrap());
    }

    // the same page again, by another number of threads; a page is replaced only where that is asked for
    folder.run("report model study --out two.html --threads 2").success();
    assert_eq!(html, page(&folder, "two.html"));
    let message = stderr(&folder.run("report model study --out two.html").code(1));
    assert!(message.contains("two.html") && message.lines().count() == 1, "{message}");
    folder.run("report model study --out two.html --force --quick").success();
    restive_testkit::assert_page!("report-page-quick", &page(&folder, "two.html"));
    folder.write("mine.html", "my own");
    folder.run("report model study --out mine.html --force --quick").code(1);
    assert_eq!(page(&folder, "mine.html"), "my own");
}

#[test]
fn where_nobody_says_how_people_were_chosen_nothing_is_shown() {
    let folder = cli();
    study(&folder, "none");
    model(&folder);
    assert_output("report", &[&folder.run("report model study --out page.html").success()]);
    restive_testkit::assert_page!("report-page-no-evidence", &page(&folder, "page.html"));
    assert!(!folder.path("study/looks.csv").exists(), "no answer is no look");
}

#[test]
fn what_cannot_be_reported_is_refused_in_a_line() {
    let folder = cli();
    study(&folder, "uniform");
    model(&folder);
    for (arguments, code, part) in [
        ("report model study --out page.pdf", 2, "page.pdf: found no .html, expected"),
        ("report model --out page.html", 2, "found a model and no STUDY, expected both"),
        ("report study --out page.html", 1, "found a study, expected the folder of a programme"),
        ("report study model --out page.html", 2, "found a study, expected the folder of a model"),
        ("report model study", 2, "--out"),
        (
            "report model study --quick --out page.html --by villag",
            1,
            "--by: found villag, expected one of state, village, age",
        ),
        (
            "report model study --quick --out page.html --by village age state village",
            1,
            "--by: found 4 columns, expected at most 3",
        ),
        ("report model study --out nowhere/page.html", 1, "nowhere"),
    ] {
        let message = stderr(&folder.run(arguments).code(code));
        assert!(message.contains(part) && message.lines().count() == 1, "{arguments}: {message}");
        assert!(!folder.path("page.html").exists());
    }
    // asked for, in the order asked for; numbers in three parts
    let said = folder.run("report model study --quick --out page.html --by age state --json").success();
    let facts: Value = serde_json::from_str(&stdout(&said)).unwrap();
    let columns: Vec<&str> =
        facts["fairness"].as_array().unwrap().iter().map(|by| by["column"].as_str().unwrap()).collect();
    assert_eq!(columns, ["age", "state"]);
    let age = &facts["fairness"][0];
    assert_eq!(age["groups"].as_array().unwrap().len() as u64 + age["withheld"].as_u64().unwrap(), 3);
}

#[test]
fn a_programme_reports_its_list_on_record_or_a_rehearsal() {
    let folder = cli();
    crate::import::programme(&folder, "calls", false);
    let said = stdout(&folder.run("report calls --quick --out page.html --json").success());
    let facts: Value = serde_json::from_str(&said).unwrap();
    assert_eq!((&facts["list"]["is_recorded"], &facts["period"]), (&false.into(), &"week".into()));
    assert_eq!(
        fs::read_dir(folder.path("calls"))
            .unwrap()
            .filter(|f| f.as_ref().unwrap().file_name() == "ledger.db")
            .count(),
        0
    );

    let planned: Value = serde_json::from_str(&stdout(&folder.run("plan calls --json").success())).unwrap();
    let facts: Value = serde_json::from_str(&stdout(
        &folder.run("report calls --quick --force --out page.html --json").success(),
    ))
    .unwrap();
    assert_eq!(facts["list"]["is_recorded"], true);
    assert_eq!(facts["list"]["listed"].as_u64().unwrap() as usize, planned["rows"].as_array().unwrap().len());
    assert_eq!(facts["list"]["could"], planned["record"]["people"]);
    let html = page(&folder, "page.html");
    check_form(&html);
    let text = page_text(&html);
    assert!(text.contains("on record") && text.contains("records until"), "{text}");
    for row in planned["rows"].as_array().unwrap() {
        let id = row[0].as_str().unwrap();
        assert!(!text.split(|c: char| !c.is_alphanumeric()).any(|word| word == id), "{id}");
    }
    let message = stderr(&folder.run("report calls --model other --quick --out new.html").code(1));
    assert!(message.contains("found no model other, expected one of those there"), "{message}");
}
