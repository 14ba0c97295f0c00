//! `restive fairness` against the rows of the ledger, counted here; floors against lists that the program makes under a rule.

use crate::harness::{Chance, Cli, cli, stderr, stdout};
use restive_ledger::{Code, Ledger};
use serde_json::Value;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt::Write;
use std::fs;

const PEOPLE: usize = 200;
const BUDGET: usize = 30;
const BEFORE: usize = 8;
const WEEKS: usize = 3;

const MAPPING: &str = r#"period = { every = "week" }
state = { at_least = 30, silence = "lowest", names = ["not engaged", "engaged"] }
[study]
budget = 30
unit = "engaged weeks"
[people]
file = "registry.csv"
id = "id"
keep = ["name", "worker", "household", "village"]
joined = "joined"
features.district = "text"
features.language = "text"
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

/// The Monday of a week, 5 January 2026 the first, and days after it.
fn date(week: usize, day: usize) -> String {
    let (mut left, mut month) = (5 + 7 * week + day, 0);
    let days = [31, 28, 31, 30, 31, 30];
    while left > days[month] {
        left -= days[month];
        month += 1;
    }
    format!("2026-{:02}-{left:02}", month + 1)
}

fn district(i: usize) -> &'static str {
    ["north", "south", "south", "east", "east"][i % 5]
}

/// Four people speak a language of their own.
fn language(i: usize) -> &'static str {
    match i % 50 {
        49 => "konkani",
        k if k % 3 == 0 => "urdu",
        k if k % 3 == 1 => "hindi",
        _ => "marathi",
    }
}

fn age(i: usize) -> usize {
    18 + (7 * i) % 23
}

fn number(arm: &str) -> usize {
    arm[1..].parse().unwrap()
}

fn json(folder: &Cli, arguments: &str) -> Value {
    let run = folder.run(&format!("{arguments} --json")).success();
    serde_json::from_str(&stdout(&run)).unwrap_or_else(|error| panic!("{arguments}: {error}"))
}

/// A programme of some weeks with lists, in `calls`; a call does much in the north.
fn programme(rules: &str, plan: &str) -> Cli {
    let folder = cli();
    let mut luck = Chance::new(3);
    let mut registry = "id,name,worker,household,village,joined,district,language,age\n".to_string();
    for i in 0..PEOPLE {
        let (worker, household, village) = (i % 6, i / 2, i % 31);
        writeln!(
            registry,
            "B{i},Invented {i},W{worker},H{household},V{village},2025-12-01,{},{},{}",
            district(i),
            language(i),
            age(i)
        )
        .unwrap();
    }
    let mut states: Vec<Vec<bool>> = vec![(0..PEOPLE).map(|_| luck.next() < 0.5).collect()];
    let mut live = |states: &mut Vec<Vec<bool>>, called: &HashSet<usize>| {
        let now = states.last().unwrap();
        let next = now.iter().enumerate().map(|(i, engaged)| {
            let speaks = match language(i) {
                "urdu" => -0.2,
                "hindi" => 0.2,
                _ => 0.0,
            };
            let alone = if *engaged { 0.6 } else { 0.3 } + speaks;
            let called = called.contains(&i);
            luck.next()
                < if called && district(i) == "north" { 0.95 } else { alone + 0.05 * f64::from(called) }
        });
        let next = next.collect();
        states.push(next);
    };
    let mut calls = "id,date,outcome\n".to_string();
    for week in 1..BEFORE {
        let called: HashSet<usize> = (0..BUDGET).map(|k| (37 * (week * BUDGET + k)) % PEOPLE).collect();
        called.iter().for_each(|i| writeln!(calls, "B{i},{},reached", date(week, 1)).unwrap());
        live(&mut states, &called);
    }
    folder.write("registry.csv", registry);
    folder.write("calls.csv", calls);
    folder.write("mapping.toml", MAPPING);
    let import = |states: &[Vec<bool>]| {
        let mut text = "id,when,talk\n".to_string();
        for (week, states) in states.iter().enumerate() {
            for (i, engaged) in states.iter().enumerate() {
                writeln!(text, "B{i},{},{}", date(week, 2), if *engaged { 60 } else { 5 }).unwrap();
            }
        }
        folder.write("messages.csv", text);
        folder.run("import mapping.toml --out programme").success();
    };
    import(&states);
    folder.write("programme/rules.toml", rules);
    folder.run("train programme --predictor effect").success();
    for week in 0..WEEKS {
        if week > 0 {
            import(&states);
        }
        let made = json(&folder, &format!("plan programme {plan}"));
        let listed: Vec<usize> =
            made["rows"].as_array().unwrap().iter().map(|row| number(row[0].as_str().unwrap())).collect();
        // the outcomes of the last list are not all known yet
        let mut sheet = "plan,id,outcome\n".to_string();
        for (k, i) in listed.iter().enumerate().filter(|(k, _)| week + 1 < WEEKS || k % 4 > 0) {
            let what = if k % 3 == 0 { "no answer" } else { "reached" };
            writeln!(sheet, "{},B{i},{what}", made["record"]["id"].as_str().unwrap()).unwrap();
        }
        folder.write("sheet.csv", sheet);
        folder.run("outcomes programme sheet.csv").success();
        live(&mut states, &listed.into_iter().collect());
    }
    folder
}

/// What the ledger says of the last plans: people, who could be called, places, outcomes, reached, worth; by group.
fn counted(folder: &Cli, plans: usize, group: impl Fn(usize) -> String) -> BTreeMap<String, [f64; 6]> {
    let reader = Ledger::read(&folder.path("programme/ledger.db")).unwrap();
    let mut people: BTreeMap<String, HashSet<String>> = BTreeMap::new();
    let mut counts: BTreeMap<String, [f64; 6]> = BTreeMap::new();
    let all = reader.plans().unwrap();
    for plan in &all[all.len() - plans..] {
        let codes: HashMap<String, Code> =
            reader.outcomes(&plan.id).unwrap().into_iter().map(|one| (one.arm, one.code)).collect();
        let mut met = |arm: &str| {
            people.entry(group(number(arm))).or_default().insert(arm.to_string());
        };
        reader
            .excluded(&plan.id)
            .unwrap()
            .iter()
            .filter(|one| one.why != "gone")
            .for_each(|one| met(&one.arm));
        for person in reader.people(&plan.id).unwrap() {
            met(&person.arm);
            counts.entry(group(number(&person.arm))).or_default()[1] += 1.0;
        }
        for person in reader.listed(&plan.id).unwrap() {
            let count = counts.entry(group(number(&person.arm))).or_default();
            let code = codes.get(&person.arm);
            count[2] += 1.0;
            count[3] += f64::from(code.is_some());
            count[4] += f64::from(code == Some(&Code::Reached));
            count[5] += person.value;
        }
    }
    people.into_iter().for_each(|(name, people)| counts.entry(name).or_default()[0] = people.len() as f64);
    counts
}

/// Wilson's interval, from its formula.
fn wilson(found: f64, of: f64) -> [f64; 2] {
    let (z, p) = (1.959_963_984_540_054_f64, found / of);
    let middle = p + z * z / (2.0 * of);
    let half = z * (p * (1.0 - p) / of + z * z / (4.0 * of * of)).sqrt();
    [-1.0, 1.0].map(|sign| (middle + sign * half) / (1.0 + z * z / of))
}

fn close(found: &Value, expected: f64) -> bool {
    (found.as_f64().unwrap_or(f64::NAN) - expected).abs() < 1e-9
}

fn table<'a>(answer: &'a Value, column: &str) -> &'a Value {
    let mut tables = answer["tables"].as_array().unwrap().iter();
    tables.find(|table| table["column"] == column).unwrap_or_else(|| panic!("no {column} in {answer}"))
}

fn group<'a>(answer: &'a Value, column: &str, name: &str) -> &'a Value {
    let mut groups = table(answer, column)["groups"].as_array().unwrap().iter();
    groups.find(|group| group["name"] == name).unwrap_or_else(|| panic!("no {name} in {answer}"))
}

#[test]
fn every_count_is_that_of_the_ledger() {
    let folder = programme("", "");
    // a change by hand counts: somebody of the south instead of somebody of the north
    let reader = Ledger::read(&folder.path("programme/ledger.db")).unwrap();
    let plan = reader.plans().unwrap().pop().unwrap().id;
    let listed: HashSet<String> = reader.listed(&plan).unwrap().into_iter().map(|one| one.arm).collect();
    let people = reader.people(&plan).unwrap();
    let other = people.iter().find(|one| !listed.contains(&one.arm) && district(number(&one.arm)) == "south");
    let other = other.unwrap().arm.clone();
    drop(reader);
    folder.run(&format!("programme add programme --id {other} --who me --why why")).success();

    for (arguments, plans) in [("", 1), ("--last 3", 3), ("--last 2 --by district", 2)] {
        let answer = json(&folder, &format!("fairness programme --least 1 {arguments}"));
        assert_eq!(answer["plans"].as_array().unwrap().len(), plans);
        // one plan before the last, none before three, and one is not as many as two
        assert_eq!(answer["before"].as_array().unwrap().len(), usize::from(plans == 1));
        let truth = counted(&folder, plans, |i| district(i).into());
        assert_eq!(table(&answer, "district")["groups"].as_array().unwrap().len(), truth.len());
        let all = |k: usize| truth.values().map(|count| count[k]).sum::<f64>();
        for (name, [people, could, listed, heard, reached, worth]) in &truth {
            let said = group(&answer, "district", name);
            let (population, lists, reach) = (&said["population"], &said["lists"], &said["reach"]);
            assert!(
                close(&population["people"], *people) && close(&population["share"], people / all(0)),
                "{said}"
            );
            assert!(close(&lists["places"], *listed) && close(&lists["share"], listed / all(2)), "{said}");
            assert!(
                close(&lists["rate"]["value"], listed / could) && close(&lists["worth"], *worth),
                "{said}"
            );
            match *heard > 0.0 {
                true => assert!(close(&reach["rate"]["value"], reached / heard), "{said}"),
                false => assert!(reach["rate"].is_null(), "{said}"),
            }
            let chance = &lists["by_chance"];
            assert!(close(&chance["expected"], all(2) * could / all(1)), "{said}");
            if plans == 1 {
                assert!(close(&population["could"], *could) && close(&reach["heard"], *heard), "{said}");
                let [low, high] = wilson(*listed, *could);
                assert!(close(&lists["rate"]["low"], low) && close(&lists["rate"]["high"], high), "{said}");
                // how many of all ways to deal the places give the group so few, or so many
                let cumulative =
                    |most: u64| (0..=most).map(|x| dealt(x, *could, all(1), all(2))).sum::<f64>();
                let [low, high] = ["low", "high"].map(|end| chance[end].as_u64().unwrap());
                assert!(low == 0 || cumulative(low - 1) <= 0.025 + 1e-12, "{said}");
                assert!(1.0 - cumulative(high) <= 0.025 + 1e-12, "{said}");
            }
        }
    }
    // whoever speaks urdu is hardest to help, and the lists know it
    let answer = json(&folder, "fairness programme --last 3 --least 1");
    assert_eq!(group(&answer, "language", "urdu")["lists"]["by_chance"]["verdict"], "fewer_than_chance");
    let passed = answer["passed_over"].as_array().unwrap().iter();
    assert!(passed.clone().any(|one| one["column"] == "language" && one["group"] == "urdu"), "{answer}");
    let text = stdout(&folder.run("fairness programme --last 3 --least 1").success());
    let first = text.lines().next().unwrap();
    assert!(first.starts_with("Passed over beyond chance: ") && first.contains("language urdu"), "{text}");
    assert!(text.contains("what a floor would cost"), "{text}");
    // ages are cut at their quartiles: as many people in each, but for people of one age
    let ages = json(&folder, "fairness programme --by age --least 1");
    let cut = table(&ages, "age")["groups"].as_array().unwrap();
    let people = |group: &Value| group["population"]["people"].as_u64().unwrap();
    assert_eq!((cut.len(), cut.iter().map(people).sum::<u64>()), (4, PEOPLE as u64));
    assert!(cut.iter().all(|group| people(group).abs_diff(PEOPLE as u64 / 4) <= 9), "{ages}");
    assert!(cut[0]["name"].as_str().unwrap().starts_with("up to "), "{ages}");
    // the same twice, whatever the threads
    let once = stdout(&folder.run("fairness programme --last 3 --json --threads 1").success());
    assert_eq!(once, stdout(&folder.run("fairness programme --last 3 --json --threads 4").success()));
}

/// The probability that x of n people get a place when K are dealt among N.
fn dealt(x: u64, n: f64, all: f64, places: f64) -> f64 {
    let choose = |n: f64, k: f64| (1..=k as u64).map(|j| ((n - k + j as f64) / j as f64).ln()).sum::<f64>();
    let x = x as f64;
    if x > n || x > places || places - x > all - n {
        return 0.0;
    }
    (choose(n, x) + choose(all - n, places - x) - choose(all, places)).exp()
}

#[test]
fn what_is_withheld_is_nowhere() {
    let folder = programme("", "");
    let answer = json(&folder, "fairness programme --by language --cross language,district --out page.html");
    let page = fs::read_to_string(folder.path("page.html")).unwrap();
    let text = stdout(&folder.run("fairness programme --by language --cross language,district").success());
    // four people speak konkani
    let rare = group(&answer, "language", "konkani");
    assert_eq!(rare.as_object().unwrap().keys().collect::<Vec<_>>(), ["name"], "{rare}");
    let mut withheld = 0;
    for table in answer["tables"].as_array().unwrap() {
        if table["column"] != "district" {
            assert_eq!(table["is_withheld"], true, "{table}");
            assert!(table["p"].is_null() && table["lowest_to_highest"].is_null(), "{table}");
        }
        for group in table["groups"].as_array().unwrap() {
            let name = group["name"].as_str().unwrap();
            let people = (0..PEOPLE).filter(|i| match name.split_once(", ") {
                None => language(*i) == name || district(*i) == name,
                Some((a, b)) => language(*i) == a && district(*i) == b,
            });
            if people.count() < 10 || group["population"].is_null() {
                withheld += 1;
                assert!(
                    group["population"].is_null() && group["lists"].is_null() && group["reach"].is_null(),
                    "{group}"
                );
                let line = text.lines().find(|line| line.starts_with(&format!("{name} "))).unwrap();
                let rest: HashSet<&str> = line[name.len()..].split_whitespace().collect();
                assert_eq!(rest, HashSet::from(["–"]), "{line}");
                let at =
                    page.find(&format!(">{name}<")).unwrap_or_else(|| panic!("{name} is not on the page"));
                let row = &page[at + name.len()..];
                let row = &row[..row.find("</tr>").unwrap()];
                assert!(!row.chars().any(|c| c.is_ascii_digit()), "{name}: {row}");
            }
        }
        // one alone could be worked out from the sum
        let is_withheld = |group: &&Value| group["population"].is_null();
        assert!(table["groups"].as_array().unwrap().iter().filter(is_withheld).count() != 1, "{table}");
    }
    assert!(withheld >= 4, "{answer}");
    assert!(text.contains("– withheld: a count of fewer than 10 people"), "{text}");
    let whole = json(&folder, "fairness programme --by language --least 1");
    assert_eq!(group(&whole, "language", "konkani")["population"]["people"], 4);
    let floor = json(&folder, "fairness programme --floor language=konkani");
    assert_eq!(floor["floors"].as_array().unwrap().len(), 0);
    assert!(floor["notes"].to_string().contains("its places on this list are withheld"), "{floor}");
}

#[test]
fn a_floor_costs_what_a_list_under_that_rule_loses() {
    let limit = "[[limit]]\nby = \"worker\"\nat_most = 7\n";
    for (plan, worth) in [("--remaining 6", "advantage"), ("", "index")] {
        let folder = programme(limit, plan);
        let answer = json(&folder, "fairness programme --floor district=east --least 1");
        let floor = &answer["floors"][0];
        assert_eq!(floor["unit"], if worth == "index" { "index" } else { "engaged weeks" });
        let rehearse = |rules: &str| {
            folder.write("floor.toml", rules);
            json(&folder, &format!("plan programme --rehearse --rules floor.toml {plan}"))
        };
        let worth_of = |week: &Value| -> f64 {
            week["plan"]["plan"].as_array().unwrap().iter().map(|one| one[worth].as_f64().unwrap()).sum()
        };
        let places = |week: &Value| -> BTreeMap<String, i64> {
            let mut places: BTreeMap<String, i64> = BTreeMap::new();
            for one in week["plan"]["plan"].as_array().unwrap() {
                *places.entry(district(number(one["arm"].as_str().unwrap())).into()).or_default() += 1;
            }
            places
        };
        let free = rehearse(limit);
        let before = places(&free);
        assert_eq!(floor["places"].as_i64().unwrap(), before.get("east").copied().unwrap_or(0));
        assert!(close(&floor["value"], worth_of(&free)), "{floor}");
        let steps = floor["steps"].as_array().unwrap();
        assert!(steps.len() > 4, "{floor}");
        for step in steps {
            let least = step["floor"].as_i64().unwrap();
            let rule = format!("{limit}[[limit]]\nby = \"district\"\nat_least = {{ east = {least} }}\n");
            let under = rehearse(&rule);
            assert!(close(&step["lost"], worth_of(&free) - worth_of(&under)), "{step}");
            assert!(places(&under)["east"] >= least, "{step}");
            // what the group has more, others have less
            let change = step["change"].as_array().unwrap().iter();
            let others: i64 = change.map(|change| change[1].as_i64().unwrap()).sum();
            assert_eq!(others, floor["places"].as_i64().unwrap() - least, "{step}");
        }
        // and no more can be had
        let beyond = floor["most"].as_u64().unwrap() + 1;
        let rule = format!("{limit}[[limit]]\nby = \"district\"\nat_least = {{ east = {beyond} }}\n");
        folder.write("floor.toml", rule);
        folder.run(&format!("plan programme --rehearse --rules floor.toml {plan}")).failure();
        let text = stdout(&folder.run("fairness programme --floor district=east --least 1").success());
        assert!(text.contains("places at least") && text.contains("north −"), "{text}");
    }
}

#[test]
fn the_list_of_a_model_and_a_study_is_told_by_group() {
    let folder = cli();
    let small = "--seed 7 --groups 4 --people 300 --budget 9 --weeks 5 --discount 0.95 --stay-disengaged 0.8 --stay-engaged 0.7 \
                 --baseline-spread 1.5 --effect 0.7 --effect-spread 1 --explained-baseline 0.5 --explained-effect 0.6";
    folder.run(&format!("generate maternal --out p --format csv {small}")).success();
    folder.run("train p --out model --predictor effect --drop age").success();
    folder.run("plan model p --out plan.csv").success();
    let rows = |name: &str| -> Vec<HashMap<String, String>> {
        let text = fs::read_to_string(folder.path(name)).unwrap();
        let mut lines = text.lines().map(|line| line.split(',').map(String::from).collect::<Vec<_>>());
        let header = lines.next().unwrap();
        lines.map(|cells| header.iter().cloned().zip(cells).collect()).collect()
    };
    let key = |row: &HashMap<String, String>| (row["instance"].clone(), row["arm"].clone());
    let people = rows("p/arms.csv");
    let listed: HashSet<(String, String)> = rows("plan.csv").iter().map(key).collect();
    assert_eq!(listed.len(), 36);
    let answer = json(&folder, "fairness model p --least 1");
    let mut looked_at = 0;
    for table in answer["tables"].as_array().unwrap() {
        let column = table["column"].as_str().unwrap();
        if column == "state" {
            continue;
        }
        for group in table["groups"].as_array().unwrap() {
            let name = group["name"].as_str().unwrap();
            let inside: Vec<_> = people.iter().filter(|row| row[column] == name).collect();
            if inside.is_empty() {
                continue;
            }
            looked_at += 1;
            let places = inside.iter().filter(|row| listed.contains(&key(row))).count();
            assert_eq!(group["population"]["people"], inside.len(), "{column} {name}");
            assert_eq!(group["lists"]["places"], places, "{column} {name}");
        }
        assert!(table["all"]["reach"]["rate"].is_null(), "{table}");
    }
    assert!(looked_at > 10, "{answer}");
    let text = stdout(&folder.run("fairness model p").success());
    assert!(!text.contains("reached"), "{text}");
}

#[test]
fn what_cannot_be_told_is_refused_in_one_line() {
    let folder = programme("", "");
    for (arguments, expected) in [
        ("programme --plan 2020-01-06", "2020-01-06"),
        ("programme --by caste", "found no such column, expected one of name, worker, household, village, "),
        ("programme --by name", "column name: found 200 values, expected at most 30"),
        ("programme --by village", "column village: found 31 values, expected at most 30"),
        ("programme --cross district,district", "found the same column twice, expected two"),
        ("programme --cross district", "expected two texts with , between"),
        (
            "programme --floor language=tamil",
            "found nobody with that value, expected one of hindi, konkani, marathi, urdu",
        ),
        ("programme --floor language", "expected two texts with = between"),
        ("programme --last 0", "--last"),
        ("programme --plan x --last 3", "--plan"),
        ("programme --seed 3", "STUDY"),
        ("programme --out page.pdf", "expected a name that ends in .html"),
        ("programme --cross district,language --cross language,state --cross district,state", "circle"),
    ] {
        let before = folder.listing();
        let said = stderr(
            &folder
                .run(&format!("fairness {arguments} --out none.html").replace(".pdf --out none.html", ".pdf"))
                .failure(),
        );
        assert!(said.contains(expected) && said.trim_end().lines().count() == 1, "{arguments}: {said}");
        assert_eq!(folder.listing(), before, "{arguments}");
    }
    fs::remove_file(folder.path("programme/ledger.db")).unwrap();
    let said = stderr(&folder.run("fairness programme --out none.html").failure());
    assert!(said.contains("found no plan on record, expected one"), "{said}");
    let model = fs::read_dir(folder.path("programme/models")).unwrap().next().unwrap().unwrap().file_name();
    let said = stderr(&folder.run(&format!("fairness programme/models/{}", model.display())).code(2));
    assert!(said.contains("found a model and no STUDY, expected both"), "{said}");
    assert!(!folder.path("none.html").exists());
}
