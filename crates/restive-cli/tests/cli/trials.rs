//! A trial through the program: designed, agreed, drawn, four weeks of lists, analysed. The truth is a world that the program never sees, and
//! the plain difference is computed from it.

use crate::harness::{Chance, Cli, cli, stderr, stdout};
use serde_json::Value;
use std::collections::{HashMap, HashSet};
use std::fmt::Write;
use std::fs;

const PEOPLE: usize = 240;
const BUDGET: usize = 24;
/// weeks with calls of another kind, and weeks with lists
const BEFORE: usize = 8;
const WEEKS: usize = 4;

const MAPPING: &str = r#"period = { every = "week" }
state = { at_least = 30, silence = "lowest", names = ["not engaged", "engaged"] }
[study]
budget = 24
unit = "engaged weeks"
[people]
file = "registry.csv"
id = "id"
keep = ["worker", "centre", "one"]
joined = "joined"
features.district = "text"
features.age = "number"
[[events]]
file = "messages.csv"
person = "id"
time = "when"
value = "talk"
[actions]
file = "calls.csv"
person = "id"
time = "date"
outcome = { column = "outcome", made = ["reached"] }
"#;

/// The day of week `week` (from 0) that is `day` days after its Monday, 5 January 2026 the first.
fn date(week: usize, day: usize) -> String {
    let of_january = 5 + 7 * week + day;
    let (month, day) = match of_january {
        day if day <= 31 => (1, day),
        day if day <= 59 => (2, day - 31),
        day => (3, day - 59),
    };
    format!("2026-{month:02}-{day:02}")
}

/// A programme as it truly is, and as the program knows it.
struct Programme {
    folder: Cli,
    luck: Chance,
    /// by week: who is engaged
    states: Vec<Vec<bool>>,
}

impl Programme {
    /// Weeks without lists, imported; with a model.
    fn new() -> Self {
        let mut luck = Chance::new(5);
        let first = (0..PEOPLE).map(|_| luck.next() < 0.5).collect();
        let mut all = Self { folder: cli(), luck, states: vec![first] };
        let mut calls = "id,date,outcome\n".to_string();
        for week in 1..BEFORE {
            let called: HashSet<usize> = (0..BUDGET).map(|k| (31 * (week * BUDGET + k)) % PEOPLE).collect();
            let mut sorted: Vec<&usize> = called.iter().collect();
            sorted.sort();
            sorted.iter().for_each(|i| writeln!(calls, "B{i},{},reached", date(week, 1)).unwrap());
            all.live(&called);
        }
        let mut registry = "id,worker,centre,one,joined,district,age\n".to_string();
        for i in 0..PEOPLE {
            let (district, age) = (["north", "south", "east"][i % 3], 20 + i % 17);
            writeln!(registry, "B{i},W{},C{},x,2025-12-01,{district},{age}", i % 12, i % 2).unwrap();
        }
        all.folder.write("registry.csv", registry);
        all.folder.write("calls.csv", &calls);
        all.folder.write("mapping.toml", MAPPING);
        all.import();
        all.folder.run("train programme --predictor effect").success();
        all
    }

    /// A week in which these are called: a call does much in the north, and little elsewhere.
    fn live(&mut self, called: &HashSet<usize>) {
        let mut next = Vec::new();
        for (i, engaged) in self.states.last().unwrap().iter().enumerate() {
            let alone = if *engaged { 0.6 } else { 0.25 };
            let chance = match called.contains(&i) {
                true if i % 3 == 0 => 0.95,
                true => alone + 0.05,
                false => alone,
            };
            next.push(self.luck.next() < chance);
        }
        self.states.push(next);
    }

    fn import(&self) {
        let mut text = "id,when,talk\n".to_string();
        for (week, states) in self.states.iter().enumerate() {
            for (i, engaged) in states.iter().enumerate() {
                writeln!(text, "B{i},{},{}", date(week, 2), if *engaged { 60 } else { 5 }).unwrap();
            }
        }
        self.folder.write("messages.csv", text);
        self.folder.run("import mapping.toml --out programme").success();
    }

    fn json(&self, arguments: &str) -> Value {
        let run = self.folder.run(&format!("{arguments} --json")).success();
        serde_json::from_str(&stdout(&run)).unwrap_or_else(|error| panic!("{arguments}: {error}"))
    }

    fn refused(&self, arguments: &str) -> String {
        stderr(&self.folder.run(arguments).failure())
    }

    /// A week: the list, its calls, what came of them, and the next import. Returns who was on the list.
    fn week(&mut self, week: usize) -> HashSet<usize> {
        let said = self.json(&format!("plan programme --out list-{week}.csv"));
        let rows = said["rows"].as_array().unwrap();
        let called: HashSet<usize> =
            rows.iter().map(|row| row[0].as_str().unwrap()[1..].parse().unwrap()).collect();
        let mut filled = "id,outcome\n".to_string();
        rows.iter().for_each(|row| writeln!(filled, "{},reached", row[0].as_str().unwrap()).unwrap());
        self.folder.write("filled.csv", filled);
        self.folder.run("outcomes programme filled.csv").success();
        self.live(&called);
        self.import();
        called
    }
}

/// Mean and variance.
fn moments(x: &[f64]) -> (f64, f64) {
    let mean = x.iter().sum::<f64>() / x.len() as f64;
    (mean, x.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / (x.len() as f64 - 1.0))
}

#[test]
fn a_trial_goes_from_design_to_result() {
    let mut programme = Programme::new();
    let (before, design) =
        (programme.folder.listing(), "trial design programme --weeks 4 --trials 20 --seed 3");
    let none = programme.refused("trial analyse programme");
    assert!(none.contains("found no trial, expected one"), "{none}");
    let designed = programme.json(&format!("{design} --strata district --out protocol.toml"));
    assert_eq!((designed["people"].as_u64(), designed["groups"][0].as_u64()), (Some(240), Some(120)));
    assert!(designed["expected"].as_f64().unwrap() > 0.0, "{designed}");
    let detectable = |k: usize| designed["estimators"][k]["detectable"].as_f64().unwrap();
    assert!(detectable(2) < detectable(4), "an exchange finds less than a plain difference: {designed}");
    let taken = programme.refused(&format!("{design} --out protocol.toml"));
    assert!(taken.contains("protocol.toml") && taken.contains("--force"), "{taken}");
    assert_eq!(programme.folder.listing().len(), before.len() + 1);
    let protocol = fs::read_to_string(programme.folder.path("protocol.toml")).unwrap();
    assert!(protocol.contains("weeks = 4") && protocol.contains("seed = 3"), "{protocol}");

    let assigned = programme.json("trial assign programme protocol.toml");
    let group: HashMap<usize, &str> = assigned["people"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| (one["arm"].as_str().unwrap()[1..].parse().unwrap(), one["group"].as_str().unwrap()))
        .collect();
    // strata: as many of every district in either group, but for the seams
    for district in 0..3 {
        let list = (0..PEOPLE).filter(|i| i % 3 == district && group[i] == "list").count();
        assert!(list.abs_diff(40) <= 1, "{list} of 80");
    }
    for one in assigned["balance"].as_array().unwrap().iter().take(2) {
        assert!(one["difference"].as_f64().unwrap().abs() < 0.1, "{one}");
    }
    let again = programme.refused("trial assign programme protocol.toml");
    assert!(again.contains("which runs, expected none: groups are drawn once"), "{again}");
    assert_eq!(programme.json("trial status programme")["plans"], 0);

    let mut calls = 0;
    for week in 0..WEEKS {
        let called = programme.week(week);
        calls += called.len();
        assert_eq!(called.len(), BUDGET);
        assert!(called.iter().all(|i| group[i] == "list"), "nobody calls the others");
        if week + 1 < WEEKS {
            let early = programme.refused("trial analyse programme --out page.html");
            assert!(early.contains("found outcomes of") && early.contains("--interim"), "{early}");
            assert!(!programme.folder.path("page.html").exists());
        }
        if week == 1 {
            let look = stdout(&programme.folder.run("trial analyse programme --interim").success());
            assert!(look.starts_with("AN INTERIM LOOK: NOT THE REGISTERED ANALYSIS"), "{look}");
        }
    }
    let status = programme.json("trial status programme");
    assert_eq!((status["plans"].as_u64(), status["observed"].as_u64()), (Some(4), Some(4)), "{status}");
    assert_eq!(status["gaps"].as_array().unwrap().len(), 0, "{status}");

    let found = programme.json("trial analyse programme --protocol protocol.toml --out page.html");
    assert_eq!((found["interim"].as_bool(), found["weeks"].as_u64()), (Some(false), Some(4)));
    assert_eq!(found["calls"].as_u64(), Some(calls as u64));
    assert_eq!(found["deviations"].as_array().unwrap().len(), 0, "{found}");
    // the plain difference, from the world itself
    let total = |i: &usize| -> f64 {
        (0..WEEKS).map(|week| f64::from(u8::from(programme.states[BEFORE + week][*i]))).sum()
    };
    let of =
        |name: &str| -> Vec<f64> { (0..PEOPLE).filter(|i| group[i] == name).map(|i| total(&i)).collect() };
    let ([list, control], n) = ([of("list"), of("control")], of("list").len() as f64);
    let [(mean, variance), (other, spread)] = [moments(&list), moments(&control)];
    let plain = &found["effects"][4];
    assert_eq!(plain["estimator"], "difference");
    let number = |name: &str| plain["found"][name].as_f64().unwrap();
    assert!((number("estimate") - n * (mean - other)).abs() < 1e-9, "{plain}");
    let se = n * (variance / n + spread / control.len() as f64).sqrt();
    assert!((number("se") - se).abs() < 1e-9, "{plain}");
    // all answer, and those that replay the rules know more
    for line in found["effects"].as_array().unwrap() {
        assert!(line["refused"].is_null(), "{line}");
    }
    assert!(found["effects"][2]["found"]["se"].as_f64().unwrap() < se);
    assert_eq!(found["primary"], designed["protocol"]["primary"]);
    let page = fs::read_to_string(programme.folder.path("page.html")).unwrap();
    assert!(page.contains(found["sentence"].as_str().unwrap()), "{}", found["sentence"]);
    // an estimator does not depend on when it is asked
    assert_eq!(found, programme.json("trial analyse programme"));

    // a plan that was changed, if only by a comment
    programme.folder.write("changed.toml", protocol.clone() + "# and that is all\n");
    let changed = programme.refused("trial analyse programme --protocol changed.toml --out other.html");
    assert!(changed.contains("the plan was changed after it was registered"), "{changed}");
    let unknown = programme.refused("trial analyse programme --trial autumn");
    assert!(unknown.contains("found no trial \"autumn\""), "{unknown}");
    programme.folder.run("trial end programme --why over").success();
    assert!(programme.refused("trial end programme --why over").contains("found no trial that runs"));
    assert_eq!(found["effects"], programme.json("trial analyse programme")["effects"]);
    let known = programme.refused("trial assign programme protocol.toml");
    assert!(known.contains("expected a name that is new"), "{known}");
    // a record that was changed behind the back of the ledger
    let path = programme.folder.path("programme/ledger.db");
    let mut bytes = fs::read(&path).unwrap();
    let at = bytes.windows(9).position(|text| text == b"weeks = 4").unwrap();
    bytes[at + 8] = b'3';
    fs::write(&path, bytes).unwrap();
    let changed = programme.refused("trial analyse programme --out other.html");
    assert!(changed.contains("was changed after it was written"), "{changed}");
    assert!(!programme.folder.path("other.html").exists());
}

#[test]
fn the_same_seed_draws_the_same_groups_and_what_cannot_be_drawn_is_refused() {
    let programme = Programme::new();
    let design = "trial design programme --trials 2";
    for (arguments, expected) in [
        ("--share 1", "share: found 1, expected a number from 0.01 to 0.99"),
        ("--by worker --share 0.01", "share 0.01: found 0 people in the group list, expected at least 2"),
        ("--by one", "by one: found 1 value, expected at least 4"),
        ("--by centre", "by centre: found 2 values, expected at least 4"),
        ("--by colour", "by: found no column colour, expected one of: worker, centre, one, age, district"),
        ("--by worker --strata age", "in two strata"),
        ("--weeks 0", "weeks: found 0, expected 1 to 520"),
        ("--out plan.txt", "expected .toml"),
    ] {
        let said = programme.refused(&format!("{design} {arguments}"));
        assert!(said.contains(expected) && said.lines().count() == 1, "{arguments}: {said}");
    }
    let few = programme.refused("trial design programme --trials 1");
    assert!(few.contains("expected a whole number from 2 to 100000"), "{few}");
    programme.folder.run(&format!("{design} --by worker --seed 1 --out one.toml")).success();
    programme.folder.run(&format!("{design} --by worker --seed 2 --out two.toml")).success();
    let one = fs::read_to_string(programme.folder.path("one.toml")).unwrap();
    assert!(one.contains("primary = \"regression\""), "people of a cluster are no lot each: {one}");
    for (from, to, expected) in [
        ("weeks = 8", "weeks = \"8\"", "line 6, column 9: weeks: "),
        ("seed = 1", "sead = 1", "unknown field `sead`"),
        ("by = \"worker\"", "by = \"one\"", "by one: found 1 value"),
        ("counts = \"engaged weeks\"", "counts = \"smiles\"", "counts: found smiles, expected engaged weeks"),
        ("model = \"", "model = \"0", "model: found 0"),
    ] {
        let wrong = one.replace(from, to);
        assert_ne!(wrong, one, "{from}");
        programme.folder.write("wrong.toml", wrong);
        let said = programme.refused("trial assign programme wrong.toml");
        assert!(said.contains(expected), "{from}: {said}");
    }
    let draw = |text: &str, name: &str| {
        programme.folder.write("named.toml", text.replace("id = \"", &format!("id = \"{name} ")));
        let assigned = programme.json("trial assign programme named.toml");
        programme.folder.run("trial end programme --why rehearsed").success();
        assigned
    };
    let first = draw(&one, "first");
    assert_eq!(first["people"], draw(&one, "again")["people"]);
    let two = fs::read_to_string(programme.folder.path("two.toml")).unwrap();
    assert_ne!(first["people"], draw(&two, "other")["people"]);
    // whole clusters
    let mut of: HashMap<&str, HashSet<&str>> = HashMap::new();
    for person in first["people"].as_array().unwrap() {
        of.entry(person["cluster"].as_str().unwrap()).or_default().insert(person["group"].as_str().unwrap());
    }
    assert!(of.len() == 12 && of.values().all(|groups| groups.len() == 1), "{of:?}");
    // the list of the next week is made already
    programme.folder.run("plan programme").success();
    programme.folder.write("four.toml", one.replace("id = \"", "id = \"late "));
    let late = programme.refused("trial assign programme four.toml");
    assert!(late.contains("found the plan 2026-03-02") && late.contains("expected none"), "{late}");
}

#[test]
fn what_the_record_lacks_and_what_was_done_otherwise_is_said() {
    let mut programme = Programme::new();
    programme.folder.run("trial design programme --weeks 4 --trials 20 --out protocol.toml").success();
    programme.folder.run("trial assign programme protocol.toml").success();
    programme.week(0);
    // from now on rank alone does not decide, and somebody is taken off the list by hand
    programme.folder.write("programme/rules.toml", "[[limit]]\nby = \"worker\"\nat_most = 3\n");
    let said = programme.json("plan programme");
    let name = said["rows"][0][0].as_str().unwrap();
    programme
        .folder
        .run(&format!("programme remove programme --id {name} --who Amina --why moved"))
        .success();
    programme.live(&HashSet::new());
    programme.import();
    let status = programme.json("trial status programme");
    assert_eq!(
        (status["overrides"].as_u64(), status["without_outcome"].as_u64()),
        (Some(1), Some(23)),
        "{status}"
    );
    let end = ["trial", "end", "programme", "--why", "the phones were down"];
    programme.folder.run_args(end).success();
    let found = programme.json("trial analyse programme");
    assert_eq!((found["weeks"].as_u64(), found["interim"].as_bool()), (Some(2), Some(false)));
    for (k, line) in found["effects"].as_array().unwrap().iter().enumerate() {
        let refused = line["refused"].as_str().unwrap_or_default();
        assert_eq!(
            refused.contains("limits, costs, must_call or draws decided in plan 2026-03-09"),
            k < 3,
            "{line}"
        );
        assert_eq!(line["is_primary"].as_bool(), Some(k == 3), "{line}");
    }
    assert_eq!(found["departs_from_protocol"].as_bool(), Some(true));
    let lines = |name: &str| {
        found[name]
            .as_array()
            .unwrap()
            .iter()
            .map(|line| line.as_str().unwrap().to_string())
            .collect::<Vec<_>>()
    };
    let (flags, deviations) = (lines("flags").join("\n"), lines("deviations").join("\n"));
    assert!(
        flags.contains(
            "the registered estimator, adjusted subgroup, is refused; regression stands in its place"
        ),
        "{flags}"
    );
    for expected in [
        "ended after 2 of 4 weeks: the phones were down",
        "1 taken off lists by hand: counted as assigned a call",
        "23 on lists of whom nobody told what came of it",
    ] {
        assert!(deviations.contains(expected), "{expected}: {deviations}");
    }
    // rules that rank cannot replay are said at the design
    let design = stderr(&programme.folder.run("trial design programme --trials 2").success());
    assert!(design.contains("the rules have limits, costs, must_call or explore"), "{design}");
}
