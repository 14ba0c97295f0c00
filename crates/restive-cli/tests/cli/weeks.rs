//! Ten weeks of a programme through the program: import, plan, outcomes, import again. The exports do not contain the calls of the
//! lists: these are known only from the sheets that callers return, in parts, late and twice.

use crate::harness::{Chance, stdout};
use crate::programme::{BUDGET, Programme, RECORDED, options};
use restive_testkit::assert_snapshot;
use restive_testkit::programme::{fill_in, table};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::fs;

/// Number of weeks with lists.
const WEEKS: usize = 10;

const RULES: &str = r#"budget = 24
explore = 0.25
never_call = ["MB-00007"]
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

/// Returns a random outcome in the spelling of a caller.
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

/// Probabilities of the people on a list, and their outcomes.
type Decided = (HashMap<String, f64>, BTreeMap<String, &'static str>);

/// Writes names that a spreadsheet would read as formulas.
fn write_formulas(programme: &Programme) {
    let registry = programme.read("exports/registry.csv");
    let formula = |line: &str| match line.starts_with("MB-") {
        true => line.replacen(',', ",=", 1) + "\n",
        false => format!("{line}\n"),
    };
    programme.write("exports/registry.csv", registry.lines().map(formula).collect::<String>());
}

#[test]
fn ten_weeks_of_lists_and_outcomes_are_the_study_that_truly_was() {
    let mut programme = Programme::exported(&options());
    write_formulas(&programme);
    programme.import();
    programme.run("programme init programme").success();
    programme.write("programme/rules.toml", RULES);
    let early = programme.refused("plan programme");
    assert!(early.contains("found no model, expected one: restive train programme makes one"), "{early}");
    programme.train_again();

    let mut luck = Chance::new(11);
    let mut late: Option<(String, usize)> = None;
    let mut decided: Vec<Decided> = Vec::new();
    let mut wrong: HashSet<String> = HashSet::new();
    let mut reached: HashMap<String, usize> = HashMap::new();
    for week in 0..WEEKS {
        if week > 0 {
            programme.import();
        }
        let out = format!("list-{week}.csv");
        let said = programme.json(&format!("plan programme --out {out}"));
        let plan = said["record"]["id"].as_str().unwrap().to_string();
        assert_eq!(plan, programme.date(RECORDED + week, 0));
        let list = programme.read(&out);
        let rows = table(&list);
        check_rules(&rows);
        for row in &rows {
            let id = row["id"].as_str();
            assert!(!wrong.contains(id), "{id}");
            assert!(reached.get(id).is_none_or(|then| week - then > 2), "{id} in week {week}");
        }
        // a second plan of the week needs an option
        let again = programme.refused("plan programme");
        assert!(again.contains(&format!("found the plan {plan}")) && again.contains("--again"), "{again}");
        // the second half of the sheet comes a week later
        let words: Vec<&'static str> = rows.iter().map(|_| outcome(&mut luck)).collect();
        let half = |half: usize| {
            fill_in(&list, |k, _| (k % 2 == half).then(|| (words[k], programme.date(RECORDED + week, k % 5))))
        };
        programme.write("first.csv", half(0));
        programme.write(&format!("second-{week}.csv"), half(1));
        let told = programme.json("outcomes programme first.csv");
        assert_eq!(told["new"], rows.len().div_ceil(2));
        let twice = programme.json("outcomes programme first.csv");
        assert_eq!((twice["new"].as_u64(), twice["same"].as_u64()), (Some(0), told["new"].as_u64()));
        if let Some((file, expected)) = late.take() {
            let told = programme.json(&format!("outcomes programme {file}"));
            assert_eq!(told["new"], expected);
        }
        late = Some((format!("second-{week}.csv"), rows.len() / 2));
        let outcomes: BTreeMap<String, &'static str> =
            rows.iter().map(|row| row["id"].clone()).zip(words.iter().copied()).collect();
        // only the first half is known when the next list is made
        for (row, word) in rows.iter().zip(&words).step_by(2) {
            match *word {
                "wrong_number" => drop(wrong.insert(row["id"].clone())),
                "Reached" => drop(reached.insert(row["id"].clone(), week)),
                _ => {}
            }
        }
        assert_eq!(programme.json("programme status programme")["is_planned"], true);
        let by_call = outcomes.iter().filter(|(_, word)| **word == "Reached").map(|(id, _)| id.clone());
        programme.advance_week(by_call);
        let chances = rows.iter().map(|row| (row["id"].clone(), row["probability"].parse().unwrap()));
        decided.push((chances.collect(), outcomes));
    }
    let (file, _) = late.unwrap();
    programme.run(&format!("outcomes programme {file}")).success();
    let said = programme.import();
    assert_eq!(said["planned"]["weeks"], WEEKS);
    assert_eq!(said["planned"]["without_outcome"], 0);
    check_study(&programme, &decided);
    // a list of the past that is written again has the people of then
    let first = programme.date(RECORDED, 0);
    programme.run(&format!("programme list programme --plan {first} --out again.csv")).success();
    assert_eq!(ids(&programme, "again.csv"), ids(&programme, "list-0.csv"));
    audited(&programme);
}

/// Returns the ids of a list in their order.
fn ids(programme: &Programme, name: &str) -> Vec<String> {
    table(&programme.read(name)).into_iter().map(|row| row["id"].clone()).collect()
}

/// Checks the rows of a list against the rules, and its cells.
fn check_rules(rows: &[HashMap<String, String>]) {
    assert!(rows.len() <= BUDGET && rows.len() > BUDGET / 2, "{}", rows.len());
    let mut by_worker: HashMap<&str, usize> = HashMap::new();
    let mut households = HashSet::new();
    for row in rows {
        *by_worker.entry(row["worker"].as_str()).or_default() += 1;
        assert!(households.insert(row["household"].as_str()), "two of {}", row["household"]);
        assert_ne!(row["id"], "MB-00007");
        assert!(row["name"].starts_with("'="), "{}", row["name"]);
        assert!(row["reason"].len() > 10, "{row:?}");
        let chance: f64 = row["probability"].parse().unwrap();
        assert!(chance > 0.0 && chance <= 1.0);
        let [alone, called]: [f64; 2] = ["left_alone", "called"].map(|name| row[name].parse().unwrap());
        assert!((0.0..=1.0).contains(&alone) && (0.0..=1.0).contains(&called));
    }
    assert!(by_worker.values().all(|count| *count <= 4), "{by_worker:?}");
}

/// Checks every row of the study against the truth, the lists and the outcomes.
fn check_study(programme: &Programme, decided: &[Decided]) {
    let truth = programme.truth();
    let mut known = 0;
    let rows = table(&programme.read(&programme.imported("study/trajectories.csv")));
    assert_eq!(rows.len(), truth.people().len() * (RECORDED + WEEKS));
    for row in rows {
        let (t, arm): (usize, &str) = (row["t"].parse().unwrap(), &row["arm"]);
        let i = programme.position(arm);
        assert_eq!(row["state"], ["0", "1"][usize::from(truth.states()[i][t].unwrap())], "{row:?}");
        let is_called = |called: bool| assert_eq!(row["action"], ["0", "1"][usize::from(called)], "{row:?}");
        if t + 1 < RECORDED {
            is_called(truth.is_called(i, t + 1));
            continue;
        }
        let Some((chances, outcomes)) = decided.get(t + 1 - RECORDED) else { continue };
        let outcome = outcomes.get(arm).copied();
        is_called(outcome.is_some_and(is_call));
        match outcome {
            // the probability of a call that was listed and not made is unknown
            Some(word) if !is_call(word) => assert_eq!(row["propensity"], "", "{row:?}"),
            Some(_) => {
                let p: f64 = row["propensity"].parse().unwrap();
                assert!((p - chances[arm]).abs() < 1e-12, "{row:?}");
                known += 1;
            }
            None => {
                let p: f64 = row["propensity"].parse().unwrap();
                assert!(p > 0.0 && p <= 1.0, "{row:?}");
            }
        }
    }
    assert!(known > WEEKS * BUDGET / 2, "{known}");
}

#[test]
fn words_of_two_weeks_are_those_of_the_snapshots() {
    let mut programme = Programme::cached(&options(), &(), |programme| programme.train());
    programme.write("programme/rules.toml", RULES);
    for week in 0..2 {
        let planned = programme.text("plan programme --out list.csv");
        let list = programme.read("list.csv");
        let words = ["reached", "no answer", "later", "wrong number", "moved"];
        let filled = fill_in(&list, |k, _| {
            (k % 6 < 5).then(|| (words[k % 6], programme.date(RECORDED + week, k % 4)))
        });
        programme.write("filled.csv", &filled);
        let told = programme.text("outcomes programme filled.csv");
        fs::remove_file(programme.path("list.csv")).unwrap();
        if week == 0 {
            assert_snapshot!("plan-programme", &planned);
            assert_snapshot!("outcomes-programme", &told);
        }
        let reached = table(&filled).into_iter().filter(|row| row["outcome"] == "reached");
        programme.advance_week(reached.map(|row| row["id"].clone()));
        programme.import();
    }
    let head = programme.json("audit verify programme")["head"].as_str().unwrap().to_string();
    assert_snapshot!("audit-list", &programme.text("audit list programme"));
    assert_snapshot!("audit-show", &programme.text("audit show programme"));
    assert_snapshot!("audit-diff", &programme.text("audit diff programme --rows 3"));
    let verified = programme.text(&format!("audit verify programme --head {head}"));
    assert_snapshot!("audit-verify", &verified);
}

/// Checks that every plan can be made again after all imports, and that every change of the record is found.
fn audited(programme: &Programme) {
    let said = programme.json("audit verify programme");
    let plans = said["plans"].as_array().unwrap();
    assert_eq!(plans.len(), WEEKS);
    assert!(plans.iter().all(|plan| plan["found"] == "same"), "{said}");
    assert_eq!(said["faults"].as_array().unwrap().len(), 0, "{said}");
    let head = said["head"].as_str().unwrap();
    assert_eq!(head.len(), 64);
    programme.run(&format!("audit verify programme --quick --head {head}")).success();
    let other = "0".repeat(64);
    let unknown = stdout(&programme.run(&format!("audit verify programme --quick --head {other}")).failure());
    assert!(unknown.contains("without the head 000"), "{unknown}");

    let list = programme.json("audit list programme");
    assert_eq!(list.as_array().unwrap().len(), WEEKS);
    for plan in list.as_array().unwrap() {
        let share = plan["share"].as_f64().unwrap();
        assert!(share > 0.3 && share < 1.2, "{plan}");
        assert_eq!((&plan["is_kept"], &plan["outcomes"]), (&true.into(), &plan["listed"]), "{plan}");
    }
    let shown = programme.json("audit show programme");
    assert_eq!(shown["entry"]["plan"].as_str().unwrap(), programme.date(RECORDED + WEEKS - 1, 0));
    let curve = shown["certificate"]["curve"].as_array().unwrap();
    assert!(curve.len() > 5 && curve[0]["budget"] == 0);
    assert!(stdout(&programme.run("audit show programme").success()).contains("never_call 1"));

    // people who came and went, against the lists
    let listed = |name: &str| -> HashSet<String> { ids(programme, name).into_iter().collect() };
    let [before, after] = [listed("list-8.csv"), listed("list-9.csv")];
    let diff = programme.json("audit diff programme");
    let moved = |which: &str| -> HashSet<String> {
        let all = diff[which].as_array().unwrap().iter();
        all.map(|one| one["id"].as_str().unwrap().to_string()).collect()
    };
    assert_eq!(diff["stayed"], before.intersection(&after).count());
    assert_eq!(moved("came"), &after - &before);
    assert_eq!(moved("went"), &before - &after);
    let reasons = diff["went"].as_array().unwrap().iter();
    assert!(reasons.clone().all(|one| one["reason"].as_str().unwrap().len() > 8), "{diff}");
    // a person who was reached a week ago is left alone for two
    assert!(reasons.filter(|one| one["why"] == "rule").count() > 0, "{diff}");

    for (arguments, expected) in [
        ("audit show programme 2020-01-06", "2020-01-06"),
        ("audit verify programme 2020-01-06", "2020-01-06"),
        ("audit diff programme 2020-01-06", "2020-01-06"),
        (
            &format!("audit list {}", programme.imported("study")),
            "found a study, expected the folder of a programme",
        ),
    ] {
        let said = programme.refused(arguments);
        assert!(said.contains(expected) && said.trim_end().lines().count() == 1, "{arguments}: {said}");
    }

    // a content that was changed, and one that is gone
    let inputs = shown["inputs"].as_array().unwrap();
    let people = inputs.iter().find(|input| input["name"] == "people.json").unwrap();
    let digest = people["digest"].as_str().unwrap();
    let content = programme.path(&format!("programme/records/{}/{digest}", &digest[..2]));
    let whole = fs::read(&content).unwrap();
    fs::write(&content, &whole[..whole.len() / 2]).unwrap();
    let said = stdout(&programme.run("audit verify programme --quick").failure());
    assert!(said.contains("CANNOT be made again: people.json was changed"), "{said}");
    fs::remove_file(&content).unwrap();
    let said = stdout(&programme.run("audit verify programme --quick").failure());
    assert!(said.contains("CANNOT be made again: people.json is missing"), "{said}");
    fs::write(&content, &whole).unwrap();
    programme.run("audit verify programme --quick").success();

    // one word of the past, changed without a database; some stand in pages that are no longer used
    let ledger = programme.path("programme/ledger.db");
    let whole = fs::read(&ledger).unwrap();
    let words = whole.windows(7).enumerate().filter(|(_, word)| word == b"reached");
    let places: Vec<usize> = words.map(|(at, _)| at).collect();
    let mut found = 0;
    for at in places.iter().step_by(places.len().div_ceil(12)) {
        let mut bytes = whole.clone();
        bytes[*at..at + 7].copy_from_slice(b"refused");
        fs::write(&ledger, &bytes).unwrap();
        let shown =
            |when: &str| stdout(&programme.run(&format!("audit show programme {when} --json")).success());
        let run = programme.run("audit verify programme --quick");
        let said = stdout(&run);
        match run.status.success() {
            // then no command reads it
            true => {
                let changed = shown(&programme.date(RECORDED, 0));
                fs::write(&ledger, &whole).unwrap();
                assert_eq!(changed, shown(&programme.date(RECORDED, 0)));
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
    programme.run("audit verify programme --quick").success();
}
