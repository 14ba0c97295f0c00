//! Ten weeks of a programme through the program: import, plan, outcomes, import again. Its exports know nothing of the lists: what came of
//! them is known by the sheets alone that callers fill in, in parts, late and twice.

use crate::harness::{Chance, Cli, cli, stderr, stdout};
use serde_json::Value;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt::Write;
use std::fs;

const PEOPLE: usize = 240;
const WORKERS: usize = 8;
const BUDGET: usize = 24;
/// weeks with a log of calls of its own, and weeks with lists
const BEFORE: usize = 8;
const WEEKS: usize = 10;

const MAPPING: &str = r#"period = { every = "week" }
state = { at_least = 30, silence = "lowest", names = ["not engaged", "engaged"] }
[study]
budget = 24
unit = "engaged weeks"
[people]
file = "registry.csv"
id = "id"
keep = ["name", "phone", "worker", "household"]
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
outcome = { column = "outcome", made = ["reached", "no answer"] }
"#;

const RULES: &str = r#"explore = 0.25
never_call = ["B7"]
[[limit]]
by = "worker"
at_most = 4
[[limit]]
by = "household"
at_most = 1
[[cool_down]]
periods = 2
after = "reached"
"#;

/// The day of week `week` (from 0) that is `day` days after its Monday, 5 January 2026 the first.
fn date(week: usize, day: usize) -> String {
    let mut left = 5 + 7 * week + day;
    for (month, days) in [31, 28, 31, 30, 31, 30].iter().enumerate() {
        if left <= *days {
            return format!("2026-{:02}-{left:02}", month + 1);
        }
        left -= days;
    }
    unreachable!("weeks of half a year")
}

fn district(i: usize) -> &'static str {
    ["north", "south", "east"][i % 3]
}

/// The programme as it truly is.
struct World {
    luck: Chance,
    /// by week: who is engaged
    states: Vec<Vec<bool>>,
}

impl World {
    fn new() -> Self {
        let mut luck = Chance::new(5);
        let first = (0..PEOPLE).map(|_| luck.next() < 0.5).collect();
        Self { luck, states: vec![first] }
    }

    /// A week in which these are called: a call does much in the north, and little elsewhere.
    fn live(&mut self, called: &HashSet<usize>) {
        let now = self.states.last().unwrap().clone();
        let next = now.iter().enumerate().map(|(i, engaged)| {
            let alone = if *engaged { 0.6 } else { 0.25 };
            let chance = match (called.contains(&i), district(i)) {
                (true, "north") => 0.9,
                (true, _) => alone + 0.05,
                (false, _) => alone,
            };
            self.luck.next() < chance
        });
        let next = next.collect();
        self.states.push(next);
    }

    fn messages(&self) -> String {
        let mut text = "id,when,talk\n".to_string();
        for (week, states) in self.states.iter().enumerate() {
            for (i, engaged) in states.iter().enumerate() {
                writeln!(text, "B{i},{},{}", date(week, 2), if *engaged { 60 } else { 5 }).unwrap();
            }
        }
        text
    }
}

fn registry() -> String {
    let mut text = "id,name,phone,worker,household,joined,district,age\n".to_string();
    for i in 0..PEOPLE {
        // two neighbours share a household and a worker
        let (worker, household) = (i / 2 % WORKERS, i / 2);
        writeln!(
            text,
            "B{i},=Invented {i},0{i:05},W{worker},H{household},2025-12-01,{},{}",
            district(i),
            20 + i % 17
        )
        .unwrap();
    }
    text
}

fn json(folder: &Cli, arguments: &str) -> Value {
    let run = folder.run(&format!("{arguments} --json")).success();
    serde_json::from_str(&stdout(&run)).unwrap_or_else(|error| panic!("{arguments}: {error}"))
}

/// A filled-in list: what a caller writes beside a person, by chance.
fn outcome(luck: &mut Chance) -> &'static str {
    match luck.next() {
        x if x < 0.7 => "Reached",
        x if x < 0.9 => "no answer",
        x if x < 0.94 => "wrong_number",
        _ => "not called",
    }
}

fn is_call(outcome: &str) -> bool {
    outcome != "not called"
}

/// The probabilities of those who were listed in a week, and what came of it.
type Decided = (HashMap<String, f64>, BTreeMap<String, &'static str>);

/// The cells of a line of CSV.
fn cells(line: &str) -> Vec<String> {
    let (mut cells, mut is_quoted) = (vec![String::new()], false);
    for c in line.trim_end_matches('\r').chars() {
        match c {
            '"' => is_quoted = !is_quoted,
            ',' if !is_quoted => cells.push(String::new()),
            c => cells.last_mut().unwrap().push(c),
        }
    }
    cells
}

/// A line of CSV, everything in quotation marks.
fn line(cells: &[String]) -> String {
    cells.iter().map(|cell| format!("\"{cell}\"")).collect::<Vec<_>>().join(",")
}

#[test]
fn ten_weeks_of_lists_and_outcomes_are_the_study_that_truly_was() {
    let folder = cli();
    let mut world = World::new();
    let mut calls = "id,date,outcome\n".to_string();
    for week in 1..BEFORE {
        let called: HashSet<usize> = (0..BUDGET).map(|k| (31 * (week * BUDGET + k)) % PEOPLE).collect();
        for i in &called {
            writeln!(calls, "B{i},{},reached", date(week, 1)).unwrap();
        }
        world.live(&called);
    }
    folder.write("registry.csv", registry());
    folder.write("calls.csv", &calls);
    folder.write("mapping.toml", MAPPING);
    let import = |world: &World| {
        folder.write("messages.csv", world.messages());
        json(&folder, "import mapping.toml --out programme")
    };
    import(&world);
    folder.run("programme init programme").success();
    folder.write("programme/rules.toml", RULES);
    let early = stderr(&folder.run("plan programme").failure());
    assert!(early.contains("found no model, expected one: restive train programme makes one"), "{early}");
    folder.run("train programme --predictor effect").success();

    let mut luck = Chance::new(11);
    let mut late: Option<(String, usize)> = None;
    // by week: probabilities of all who could be listed, who was, and what came of it
    let mut decided: Vec<Decided> = Vec::new();
    let mut wrong: HashSet<String> = HashSet::new();
    let mut reached: HashMap<String, usize> = HashMap::new();
    for week in 0..WEEKS {
        if week > 0 {
            import(&world);
        }
        let out = format!("list-{week}.csv");
        let said = json(&folder, &format!("plan programme --out {out}"));
        let plan = said["record"]["id"].as_str().unwrap().to_string();
        assert_eq!(plan, date(BEFORE + week, 0));
        let list = fs::read_to_string(folder.path(&out)).unwrap();
        let mut lines = list.lines();
        let header = cells(lines.next().unwrap());
        let at = |name: &str| {
            header.iter().position(|found| found == name).unwrap_or_else(|| panic!("{name} in {header:?}"))
        };
        let rows: Vec<Vec<String>> = lines.map(cells).collect();
        // the rules hold
        assert!(rows.len() <= BUDGET && rows.len() > BUDGET / 2, "{}", rows.len());
        let mut by_worker: HashMap<&str, usize> = HashMap::new();
        let mut households = HashSet::new();
        for row in &rows {
            let id = row[at("id")].as_str();
            *by_worker.entry(row[at("worker")].as_str()).or_default() += 1;
            assert!(households.insert(row[at("household")].as_str()), "two of {}", row[at("household")]);
            assert!(id != "B7" && !wrong.contains(id), "{id}");
            assert!(reached.get(id).is_none_or(|then| week - then > 2), "{id} in week {week}");
            assert!(row[at("name")].starts_with("'="), "{}", row[at("name")]);
            assert!(row[at("reason")].len() > 10, "{row:?}");
            let chance: f64 = row[at("probability")].parse().unwrap();
            assert!(chance > 0.0 && chance <= 1.0);
            let [alone, called]: [f64; 2] =
                ["left_alone", "called"].map(|name| row[at(name)].parse().unwrap());
            assert!((0.0..=1.0).contains(&alone) && (0.0..=1.0).contains(&called));
        }
        assert!(by_worker.values().all(|count| *count <= 4), "{by_worker:?}");
        // the same week again has to be asked for
        let again = stderr(&folder.run("plan programme").failure());
        assert!(again.contains(&format!("found the plan {plan}")) && again.contains("--again"), "{again}");
        // callers fill it in
        let mut outcomes = BTreeMap::new();
        let mut filled = [line(&header), line(&header)];
        for (k, row) in rows.iter().enumerate() {
            let what = outcome(&mut luck);
            outcomes.insert(row[at("id")].clone(), what);
            let mut row = row.clone();
            row[at("outcome")] = what.into();
            row[at("day")] = date(BEFORE + week, k % 5);
            let line = line(&row);
            // the second half comes a week later, if at all
            write!(filled[usize::from(k % 2 == 1)], "\n{line}").unwrap();
        }
        folder.write("first.csv", &filled[0]);
        folder.write(&format!("second-{week}.csv"), &filled[1]);
        let told = json(&folder, "outcomes programme first.csv");
        assert_eq!(told["new"], rows.len().div_ceil(2));
        let twice = json(&folder, "outcomes programme first.csv");
        assert_eq!((twice["new"].as_u64(), twice["same"].as_u64()), (Some(0), told["new"].as_u64()));
        if let Some((file, expected)) = late.take() {
            let told = json(&folder, &format!("outcomes programme {file}"));
            assert_eq!(told["new"], expected);
        }
        late = Some((format!("second-{week}.csv"), rows.len() / 2));
        for (k, row) in rows.iter().enumerate() {
            let id = row[at("id")].clone();
            // what is not told by next week is not known by then
            if k % 2 == 0 {
                match outcomes[&id] {
                    "wrong_number" => drop(wrong.insert(id)),
                    "Reached" => drop(reached.insert(id, week)),
                    _ => {}
                }
            }
        }
        let eligible = folder.run("programme status programme --json").success();
        let status: Value = serde_json::from_str(&stdout(&eligible)).unwrap();
        assert_eq!(status["is_planned"], true);
        let called: HashSet<usize> = outcomes
            .iter()
            .filter(|(_, what)| is_call(what))
            .map(|(id, _)| id[1..].parse().unwrap())
            .collect();
        world.live(&called);
        let chances = rows.iter().map(|row| (row[at("id")].clone(), row[at("probability")].parse().unwrap()));
        decided.push((chances.collect(), outcomes));
    }
    let (file, _) = late.unwrap();
    folder.run(&format!("outcomes programme {file}")).success();
    let said = import(&world);
    assert_eq!(said["planned"]["weeks"], WEEKS);
    assert_eq!(said["planned"]["without_outcome"], 0);

    // every row is what truly was
    let rows = fs::read_to_string(folder.path("programme/study/trajectories.csv")).unwrap();
    let header: Vec<&str> = rows.lines().next().unwrap().split(',').collect();
    let at = |name: &str| header.iter().position(|found| *found == name).unwrap();
    let mut known = 0;
    for line in rows.lines().skip(1) {
        let cells: Vec<&str> = line.split(',').collect();
        let t: usize = cells[at("t")].parse().unwrap();
        let i: usize = cells[at("arm")][1..].parse().unwrap();
        assert_eq!(cells[at("state")], ["0", "1"][usize::from(world.states[t][i])], "{line}");
        let Some(week) = (t + 1).checked_sub(BEFORE).filter(|week| *week < WEEKS) else { continue };
        let (chances, outcomes) = &decided[week];
        let outcome = outcomes.get(cells[at("arm")]).copied();
        assert_eq!(cells[at("action")], ["0", "1"][usize::from(outcome.is_some_and(is_call))], "{line}");
        match outcome {
            // listed and not called: nobody knows how likely that was
            Some(what) if !is_call(what) => assert_eq!(cells[at("propensity")], "", "{line}"),
            Some(_) => {
                let p: f64 = cells[at("propensity")].parse().unwrap();
                assert!((p - chances[cells[at("arm")]]).abs() < 1e-12, "{line}");
                known += 1;
            }
            None => {
                let p: f64 = cells[at("propensity")].parse().unwrap();
                assert!(p > 0.0 && p <= 1.0, "{line}");
            }
        }
    }
    assert!(known > WEEKS * BUDGET / 2, "{known}");
    // a list of the past, written again, is the list that was
    folder.run(&format!("programme list programme --plan {} --out again.csv", date(BEFORE, 0))).success();
    let ids = |name: &str| -> Vec<String> {
        let text = fs::read_to_string(folder.path(name)).unwrap();
        text.lines().map(|line| cells(line).remove(0)).collect()
    };
    assert_eq!(ids("again.csv"), ids("list-0.csv"));
    audited(&folder);
}

/// After all these imports every plan comes out the same again, and whatever is changed is found.
fn audited(folder: &Cli) {
    let said = json(folder, "audit verify programme");
    let plans = said["plans"].as_array().unwrap();
    assert_eq!(plans.len(), WEEKS);
    assert!(plans.iter().all(|plan| plan["found"] == "same"), "{said}");
    assert_eq!(said["faults"].as_array().unwrap().len(), 0, "{said}");
    let head = said["head"].as_str().unwrap();
    assert_eq!(head.len(), 64);
    let noted = stdout(&folder.run(&format!("audit verify programme --quick --head {head}")).success());
    assert!(noted.contains("the link that was noted is in the chain"), "{noted}");
    let other = "0".repeat(64);
    let unknown = stdout(&folder.run(&format!("audit verify programme --quick --head {other}")).failure());
    assert!(unknown.contains("without the head 000"), "{unknown}");

    let list = json(folder, "audit list programme");
    assert_eq!(list.as_array().unwrap().len(), WEEKS);
    for plan in list.as_array().unwrap() {
        let share = plan["share"].as_f64().unwrap();
        assert!(share > 0.3 && share < 1.2, "{plan}");
        assert_eq!((&plan["is_kept"], &plan["outcomes"]), (&true.into(), &plan["listed"]), "{plan}");
    }
    let shown = json(folder, "audit show programme");
    assert_eq!(shown["entry"]["plan"].as_str().unwrap(), date(BEFORE + WEEKS - 1, 0));
    let curve = shown["certificate"]["curve"].as_array().unwrap();
    assert!(curve.len() > 5 && curve[0]["budget"] == 0);
    assert!(stdout(&folder.run("audit show programme").success()).contains("never_call 1"));

    // who came and who went, against the lists themselves
    let ids = |name: &str| -> HashSet<String> {
        let text = fs::read_to_string(folder.path(name)).unwrap();
        text.lines().skip(1).map(|line| cells(line).remove(0)).collect()
    };
    let [before, after] = [ids("list-8.csv"), ids("list-9.csv")];
    let diff = json(folder, "audit diff programme");
    let moved = |which: &str| -> HashSet<String> {
        let all = diff[which].as_array().unwrap().iter();
        all.map(|one| one["id"].as_str().unwrap().to_string()).collect()
    };
    // the first column of a list is not the id: compare by how many
    assert_eq!(diff["stayed"].as_u64().unwrap() as usize + moved("came").len(), after.len());
    assert_eq!(diff["stayed"].as_u64().unwrap() as usize + moved("went").len(), before.len());
    let reasons = diff["went"].as_array().unwrap().iter();
    assert!(reasons.clone().all(|one| one["reason"].as_str().unwrap().len() > 8), "{diff}");
    // whoever was reached a week ago is left alone for two
    assert!(reasons.filter(|one| one["why"] == "rule").count() > 0, "{diff}");
    assert!(stdout(&folder.run("audit diff programme --rows 3").success()).contains(" stayed, "));

    for (arguments, expected) in [
        ("audit show programme 2020-01-06", "2020-01-06"),
        ("audit verify programme 2020-01-06", "2020-01-06"),
        ("audit diff programme 2020-01-06", "2020-01-06"),
        ("audit list programme/study", "found a study, expected the folder of a programme"),
    ] {
        let said = stderr(&folder.run(arguments).failure());
        assert!(said.contains(expected) && said.trim_end().lines().count() == 1, "{arguments}: {said}");
    }

    // a content that was changed, and one that is gone
    let inputs = shown["inputs"].as_array().unwrap();
    let people = inputs.iter().find(|input| input["name"] == "people.json").unwrap();
    let digest = people["digest"].as_str().unwrap();
    let content = folder.path(&format!("programme/records/{}/{digest}", &digest[..2]));
    let whole = fs::read(&content).unwrap();
    fs::write(&content, &whole[..whole.len() / 2]).unwrap();
    let said = stdout(&folder.run("audit verify programme --quick").failure());
    assert!(said.contains("CANNOT be made again: people.json was changed"), "{said}");
    fs::remove_file(&content).unwrap();
    let said = stdout(&folder.run("audit verify programme --quick").failure());
    assert!(said.contains("CANNOT be made again: people.json is missing"), "{said}");
    fs::write(&content, &whole).unwrap();
    folder.run("audit verify programme --quick").success();

    // one word of the past, changed without a database; some stand in pages that are no longer used
    let ledger = folder.path("programme/ledger.db");
    let whole = fs::read(&ledger).unwrap();
    let words = whole.windows(7).enumerate().filter(|(_, word)| word == b"reached");
    let places: Vec<usize> = words.map(|(at, _)| at).collect();
    let mut found = 0;
    for at in places.iter().step_by(places.len().div_ceil(12)) {
        let mut bytes = whole.clone();
        bytes[*at..at + 7].copy_from_slice(b"refused");
        fs::write(&ledger, &bytes).unwrap();
        let shown =
            |when: &str| stdout(&folder.run(&format!("audit show programme {when} --json")).success());
        let run = folder.run("audit verify programme --quick");
        let said = stdout(&run);
        match said.contains("all is well") {
            // then nobody reads it
            true => {
                let changed = shown(&date(BEFORE, 0));
                fs::write(&ledger, &whole).unwrap();
                assert_eq!(changed, shown(&date(BEFORE, 0)));
            }
            false => {
                assert!(said.contains("CHANGED") && said.contains("NOT as it was written"), "{said}");
                run.code(1);
                found += 1;
            }
        }
    }
    assert!(found > 3, "{found} of {}", places.len());
    fs::write(&ledger, &whole).unwrap();
    folder.run("audit verify programme --quick").success();
}
