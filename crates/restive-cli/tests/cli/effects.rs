//! Documents of a programme whose calls were chosen by hunch state nothing about what calls do; those of the programme whose calls
//! were drawn by lot do.

use crate::desk::{ask, enter, serve};
use crate::programme::Programme;
use calamine::{Data, Reader, Xlsx, open_workbook_from_rs};
use restive_import::demo::Assignment;
use restive_tables::Model;
use restive_tables::model::Identification;
use restive_testkit::programme::{ProgrammeFixture, ProgrammeOptions};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::Cursor;

/// Keys of JSON, columns of tables and phrases of texts that state an effect of a call.
const KEYS: [&str; 18] = [
    "bound",
    "called_interval",
    "certificate",
    "costs",
    "curve",
    "index",
    "is_beneficial",
    "left_alone",
    "left_alone_interval",
    "margin",
    "moves",
    "no_action",
    "one_more",
    "typical",
    "value",
    "worth",
    "worth_each",
    "by_state",
];
/// Paths of JSON that end with one of [`KEYS`] and state no effect of a call; positions in lists are not part of a path.
const PLAIN_PATHS: [&str; 8] = [
    // field of the ledger with the effects of a plan as JSON: the reason alone if they are withheld; what it contains is searched
    "record.certificate",
    // number of logged moves of the arms that decide whether an arm's own record counts
    "history.moves",
    "plan.history.moves",
    // places on lists by the times that a call was possible
    "tables.groups.lists.rate.value",
    "tables.all.lists.rate.value",
    // ratio of that rate to the rate of all other groups
    "tables.groups.lists.to_others.value",
    // people reached by people with an outcome
    "tables.groups.reach.rate.value",
    "tables.all.reach.rate.value",
];
const PHRASES: [&str; 14] = [
    "a call helps",
    "a call is worth",
    "better off anyway",
    "comes:",
    "costs nothing",
    "engaged weeks over",
    "expected to add",
    "good if called",
    "good if left alone",
    "if left alone",
    "likely if called",
    "of what any list could bring",
    "one more call",
    "worse off anyway",
];

/// Documents by name: text, and JSON.
#[derive(Default)]
struct Documents {
    texts: Vec<(String, String)>,
    json: Vec<(String, Value)>,
}

fn programme(assignment: Assignment) -> Programme {
    let options = ProgrammeOptions {
        people: 600,
        weeks: 26,
        calls: 36,
        assignment,
        seed: 5,
        ..ProgrammeFixture::plain_options()
    };
    let programme = Programme::exported(&options);
    programme.import();
    programme.run("programme init programme").success();
    let rules = "budget = 36\nexplore = 0.1\nworker = \"worker\"\n[[limit]]\nby = \"worker\"\nat_most = 6\n[[cool_down]]\nperiods = 2\n";
    programme.write("programme/rules.toml", rules);
    programme.run("train programme --predictor effect").success();
    programme.run("plan programme").success();
    programme
}

/// Folder of the only model.
fn model(programme: &Programme) -> String {
    let mut names = fs::read_dir(programme.path("programme/models")).unwrap();
    let name = names.next().unwrap().unwrap().file_name().into_string().unwrap();
    assert!(names.next().is_none());
    format!("programme/models/{name}")
}

/// Cells of all sheets of a workbook, a line each.
fn cells(bytes: Vec<u8>) -> String {
    let mut book: Xlsx<_> = open_workbook_from_rs(Cursor::new(bytes)).unwrap();
    let sheets = book.worksheets();
    let cells = sheets.iter().flat_map(|(_, sheet)| sheet.used_cells().map(|(.., cell)| cell));
    cells.filter(|cell| **cell != Data::Empty).map(|cell| format!("{cell}\n")).collect()
}

fn documents(programme: &Programme) -> Documents {
    let mut all = Documents::default();
    let model = model(programme);
    programme
        .run("programme list programme --out l.csv --out l.xlsx --out l.html --out l.json --force")
        .success();
    let study = programme.imported("study");
    programme.run(&format!("plan {model} {study} --out p.csv --force")).success();
    programme.run("report programme --quick --out r.html --force").success();
    for name in ["l.csv", "l.html", "p.csv", "r.html"] {
        all.texts.push((name.into(), programme.read(name)));
    }
    all.texts.push(("l.xlsx".into(), cells(fs::read(programme.path("l.xlsx")).unwrap())));
    all.json.push(("l.json".into(), serde_json::from_str(&programme.read("l.json")).unwrap()));
    let commands = [
        "plan programme --rehearse".into(),
        format!("plan {model} {study}"),
        "report programme --quick --out r.html --force".into(),
        "audit show programme".into(),
        "audit list programme".into(),
        "fairness programme".into(),
    ];
    for command in commands {
        all.texts.push((command.clone(), programme.text(&command)));
        all.json.push((command.clone(), programme.json(&command)));
    }
    let desk = serve(programme, "programme");
    let cookie = enter(&desk);
    let get = |path: &str| {
        let (status, _, body) = ask(&desk.host, &cookie, "GET", path, "").unwrap();
        assert_eq!(status, 200, "{path}: {body}");
        body
    };
    let week = get("/week");
    let (_, link) = week.split_once("href=\"/person/").unwrap();
    let person = format!("/person/{}", link.split_once('"').unwrap().0);
    let plan = &all.json.iter().find(|(name, _)| name == "audit show programme").unwrap().1["entry"]["plan"];
    let record = format!("/record/{}", plan.as_str().unwrap());
    let pages = [
        "/week",
        &person,
        "/capacity",
        "/evidence",
        "/fairness",
        "/outcomes",
        "/record",
        &record,
        "/week/print",
    ];
    for page in pages {
        all.texts.push((page.into(), get(page)));
    }
    all
}

/// Keys of JSON that state an effect, by their paths.
fn stating_keys(value: &Value, path: &str, found: &mut BTreeMap<String, String>) {
    match value {
        Value::Array(all) => all.iter().for_each(|one| stating_keys(one, path, found)),
        Value::Object(all) => {
            for (key, one) in all {
                let path = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
                stating_keys(one, &path, found);
                // what is empty states nothing
                let is_empty = one.as_array().is_some_and(Vec::is_empty) || one.is_null();
                if !is_empty && KEYS.contains(&key.as_str()) && !PLAIN_PATHS.contains(&path.as_str()) {
                    found.insert(path, key.clone());
                }
            }
        }
        // JSON within JSON, as the ledger keeps it
        Value::String(text) if text.starts_with('{') => {
            stating_keys(&serde_json::from_str(text).unwrap_or_default(), path, found)
        }
        _ => {}
    }
}

/// Statements of effects in documents: document, with the path in JSON, and key, column or phrase.
fn statements(all: &Documents) -> BTreeSet<(String, String)> {
    let mut found = BTreeSet::new();
    let mut tell = |name: &str, what: &str| _ = found.insert((name.to_string(), what.to_string()));
    for (name, value) in &all.json {
        let mut there = BTreeMap::new();
        stating_keys(value, "", &mut there);
        there.iter().for_each(|(path, key)| tell(&format!("{name}: {path}"), key));
        let text = value.to_string().to_lowercase();
        PHRASES.iter().filter(|phrase| text.contains(**phrase)).for_each(|phrase| tell(name, phrase));
    }
    for (name, text) in &all.texts {
        if name.ends_with(".csv") {
            let header: Vec<&str> = text.lines().next().unwrap().split(',').collect();
            KEYS.iter().filter(|key| header.contains(*key)).for_each(|key| tell(name, key));
        }
        let text = text.to_lowercase();
        PHRASES.iter().filter(|phrase| text.contains(**phrase)).for_each(|phrase| tell(name, phrase));
    }
    found
}

fn says_why(all: &Documents) {
    for name in [
        "l.xlsx",
        "l.html",
        "r.html",
        "plan programme --rehearse",
        "audit show programme",
        "/week",
        "/capacity",
    ] {
        let (_, text) = all.texts.iter().find(|(known, _)| known == name).unwrap();
        assert!(text.contains("not stated") && text.contains("What would tell"), "{name}: {text}");
    }
}

#[test]
fn documents_of_calls_by_hunch_state_no_effects_and_those_by_lot_do() {
    let by_lot = programme(Assignment::Random);
    let stated = statements(&documents(&by_lot));
    let told: BTreeSet<&str> = stated.iter().map(|(_, what)| what.as_str()).collect();
    let not_told: Vec<&&str> = KEYS.iter().chain(&PHRASES).filter(|what| !told.contains(**what)).collect();
    assert!(not_told.is_empty(), "by lot: {not_told:?} of {stated:?}");

    let by_hunch = programme(Assignment::Hunch);
    let all = documents(&by_hunch);
    assert_eq!(statements(&all), BTreeSet::new());
    says_why(&all);
    let plan = by_hunch.json("plan programme --rehearse");
    let reason = plan["plan"]["effects"]["not_identified"]["reason"].as_str().unwrap();
    assert!(reason.contains("they were chosen"), "{reason}");
    assert!(plan["plan"]["plan"][0]["score"].is_number() && plan["plan"]["plan"][0]["rank"] == 1);

    // an evaluation refuses the model of calls by lot: everything that is written from then on obeys, the list on record too
    let refusal = Identification::NotIdentified { reason: "refused by an evaluation".into() };
    Model::refuse(&by_lot.path(&model(&by_lot)), &refusal).unwrap();
    let all = documents(&by_lot);
    assert_eq!(statements(&all), BTreeSet::new());
    says_why(&all);
    by_lot.run("audit verify programme").success();
}
