//! `restive fairness` against counts of the rows of the ledger; floors against lists that the program makes under a rule.

use crate::harness::{cli, stderr, stdout};
use crate::programme::{Programme, listed, options};
use restive_import::demo::Person;
use restive_ledger::{Code, Ledger};
use restive_testkit::assert_snapshot;
use restive_testkit::programme::table as rows_of;
use serde_json::Value;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt::Write;
use std::fs;

/// Number of weeks with lists.
const WEEKS: usize = 3;

/// Rules without limits.
const FREE: &str = "budget = 24\n";

/// Returns a programme with lists under these rules, made with these options of `restive plan`.
fn programme(rules: &str, plan: &str) -> Programme {
    Programme::cached(&options(), &(rules, plan), |mut programme| {
        programme.train();
        programme.write("programme/rules.toml", rules);
        for week in 0..WEEKS {
            let made = programme.json(&format!("plan programme {plan}"));
            let listed = listed(&made);
            // the outcomes of the last list are not all known yet
            let mut sheet = "plan,id,outcome\n".to_string();
            for (k, id) in listed.iter().enumerate().filter(|(k, _)| week + 1 < WEEKS || k % 4 > 0) {
                let word = if k % 3 == 0 { "no answer" } else { "reached" };
                writeln!(sheet, "{},{id},{word}", made["record"]["id"].as_str().unwrap()).unwrap();
            }
            programme.write("sheet.csv", sheet);
            programme.run("outcomes programme sheet.csv").success();
            if week + 1 < WEEKS {
                let reached = listed.into_iter().enumerate().filter(|(k, _)| k % 3 > 0);
                programme.advance_week(reached.map(|(_, id)| id));
                programme.import();
            }
        }
    })
}

fn person<'a>(programme: &'a Programme, arm: &str) -> &'a Person {
    &programme.truth().people()[programme.position(arm)]
}

/// Counts of the last plans in the ledger by group: people, people who could be called, places, outcomes, reached, worth.
fn counted(
    programme: &Programme,
    plans: usize,
    group: impl Fn(&Person) -> String,
) -> BTreeMap<String, [f64; 6]> {
    let group = |arm: &str| group(person(programme, arm));
    let reader = Ledger::read(&programme.path("programme/ledger.db")).unwrap();
    let mut people: BTreeMap<String, HashSet<String>> = BTreeMap::new();
    let mut counts: BTreeMap<String, [f64; 6]> = BTreeMap::new();
    let all = reader.plans().unwrap();
    for plan in &all[all.len() - plans..] {
        let codes: HashMap<String, Code> =
            reader.outcomes(&plan.id).unwrap().into_iter().map(|one| (one.arm, one.code)).collect();
        let mut met = |arm: &str| {
            people.entry(group(arm)).or_default().insert(arm.to_string());
        };
        reader
            .excluded(&plan.id)
            .unwrap()
            .iter()
            .filter(|one| one.why != "gone")
            .for_each(|one| met(&one.arm));
        for person in reader.people(&plan.id).unwrap() {
            met(&person.arm);
            counts.entry(group(&person.arm)).or_default()[1] += 1.0;
        }
        for person in reader.listed(&plan.id).unwrap() {
            let count = counts.entry(group(&person.arm)).or_default();
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
    let programme = programme(FREE, "");
    // a change by hand counts: somebody of the south instead of somebody of the north
    let reader = Ledger::read(&programme.path("programme/ledger.db")).unwrap();
    let plan = reader.plans().unwrap().pop().unwrap().id;
    let listed: HashSet<String> = reader.listed(&plan).unwrap().into_iter().map(|one| one.arm).collect();
    let people = reader.people(&plan).unwrap();
    let other = people
        .iter()
        .find(|one| !listed.contains(&one.arm) && person(&programme, &one.arm).district == "south");
    let other = other.unwrap().arm.clone();
    drop(reader);
    programme.run(&format!("programme add programme --id {other} --who me --why why")).success();

    for (arguments, plans) in [("", 1), ("--last 3", 3), ("--last 2 --by district", 2)] {
        let answer = programme.json(&format!("fairness programme --least 1 {arguments}"));
        assert_eq!(answer["plans"].as_array().unwrap().len(), plans);
        // one plan before the last, none before three, and one is not as many as two
        assert_eq!(answer["before"].as_array().unwrap().len(), usize::from(plans == 1));
        let truth = counted(&programme, plans, |person| person.district.into());
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
    // calls do little in the south and the east, so that fewer of their people are listed than by chance
    let answer = programme.json("fairness programme --last 3 --least 1");
    for district in ["south", "east"] {
        let lists = &group(&answer, "district", district)["lists"];
        assert_eq!(lists["by_chance"]["verdict"], "fewer_than_chance", "{lists}");
        let mut passed = answer["passed_over"].as_array().unwrap().iter();
        assert!(passed.any(|one| one["column"] == "district" && one["group"] == district), "{answer}");
    }
    assert_snapshot!("fairness-programme", &programme.text("fairness programme --last 3 --least 1"));
    // ages are cut at their quartiles: equal numbers of people, except for people of one age
    let ages = programme.json("fairness programme --by age --least 1");
    let cut = table(&ages, "age")["groups"].as_array().unwrap();
    let people = |group: &Value| group["population"]["people"].as_u64().unwrap();
    let everybody = programme.truth().people().len() as u64;
    let mut of_one_age: HashMap<String, u64> = HashMap::new();
    for row in rows_of(&programme.read(&programme.imported("study/arms.csv"))) {
        *of_one_age.entry(row["age"].clone()).or_default() += 1;
    }
    let most = *of_one_age.values().max().unwrap();
    assert_eq!((cut.len(), cut.iter().map(people).sum::<u64>()), (4, everybody));
    assert!(cut.iter().all(|group| people(group).abs_diff(everybody / 4) <= most), "{ages}");
    assert!(most < everybody / 8 && cut[0]["name"].as_str().unwrap().starts_with("up to "), "{ages}");
    // the same twice, whatever the threads
    let once = stdout(&programme.run("fairness programme --last 3 --json --threads 1").success());
    assert_eq!(once, stdout(&programme.run("fairness programme --last 3 --json --threads 4").success()));
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
    let programme = programme(FREE, "");
    let answer = programme.json("fairness programme --by language --cross language,district --out page.html");
    let page = programme.read("page.html");
    let text = stdout(&programme.run("fairness programme --by language --cross language,district").success());
    // four people speak Konkani
    let rare = group(&answer, "language", "Konkani");
    assert_eq!(rare.as_object().unwrap().keys().collect::<Vec<_>>(), ["name"], "{rare}");
    let mut withheld = 0;
    for table in answer["tables"].as_array().unwrap() {
        if table["column"] != "district" {
            assert_eq!(table["is_withheld"], true, "{table}");
            assert!(table["p"].is_null() && table["lowest_to_highest"].is_null(), "{table}");
        }
        for group in table["groups"].as_array().unwrap() {
            let name = group["name"].as_str().unwrap();
            let people = programme.truth().people().iter().filter(|one| match name.split_once(", ") {
                None => one.language == name || one.district == name,
                Some((a, b)) => one.language == a && one.district == b,
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
    let withheld = programme.text("fairness programme --by language --cross language,district");
    assert_snapshot!("fairness-programme-withheld", &withheld);
    let whole = programme.json("fairness programme --by language --least 1");
    assert_eq!(group(&whole, "language", "Konkani")["population"]["people"], 4);
    let floor = programme.json("fairness programme --floor language=Konkani");
    assert_eq!(floor["floors"].as_array().unwrap().len(), 0);
    assert!(floor["notes"].to_string().contains("its places on this list are withheld"), "{floor}");
}

#[test]
fn a_floor_costs_what_a_list_under_that_rule_loses() {
    let limit = "budget = 24\n[[limit]]\nby = \"worker\"\nat_most = 3\n";
    for (plan, worth) in [("--remaining 6", "advantage"), ("", "index")] {
        let programme = programme(limit, plan);
        let answer = programme.json("fairness programme --floor district=east --least 1");
        let floor = &answer["floors"][0];
        assert_eq!(floor["unit"], if worth == "index" { "index" } else { "engaged weeks" });
        let rehearse = |rules: &str| {
            programme.write("floor.toml", rules);
            programme.json(&format!("plan programme --rehearse --rules floor.toml {plan}"))
        };
        let worth_of = |week: &Value| -> f64 {
            week["plan"]["plan"].as_array().unwrap().iter().map(|one| one[worth].as_f64().unwrap()).sum()
        };
        let district = |arm: &Value| person(&programme, arm.as_str().unwrap()).district;
        let places = |week: &Value| -> BTreeMap<String, i64> {
            let mut places: BTreeMap<String, i64> = BTreeMap::new();
            for one in week["plan"]["plan"].as_array().unwrap() {
                *places.entry(district(&one["arm"]).into()).or_default() += 1;
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
        programme.write("floor.toml", rule);
        programme.run(&format!("plan programme --rehearse --rules floor.toml {plan}")).failure();
        if plan.is_empty() {
            let text = programme.text("fairness programme --floor district=east --least 1");
            assert_snapshot!("fairness-programme-floor", &text);
        }
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
    let rows = |name: &str| rows_of(&folder.read(name));
    let key = |row: &HashMap<String, String>| (row["instance"].clone(), row["arm"].clone());
    let people = rows("p/arms.csv");
    let listed: HashSet<(String, String)> = rows("plan.csv").iter().map(key).collect();
    assert_eq!(listed.len(), 36);
    let answer = folder.run("fairness model p --least 1 --json").success().json();
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
    let text = folder.run("fairness model p").success().stdout;
    assert_snapshot!("fairness-model", &text);
    assert!(!text.contains("reached"), "{text}");
}

#[test]
fn what_cannot_be_told_is_refused_in_one_line() {
    let programme = programme(FREE, "");
    let values = |of: fn(&Person) -> &String| {
        let different: HashSet<&String> = programme.truth().people().iter().map(of).collect();
        format!("found {} values, expected at most 30", different.len())
    };
    let (names, households) = (values(|person| &person.name), values(|person| &person.household));
    for (arguments, expected) in [
        ("programme --plan 2020-01-06", "2020-01-06"),
        (
            "programme --by caste",
            "found no such column, expected one of name, phone, worker, centre, household, village, language, ",
        ),
        ("programme --by name", names.as_str()),
        ("programme --by household", &households),
        ("programme --cross district,district", "found the same column twice, expected two"),
        ("programme --cross district", "expected two texts with , between"),
        (
            "programme --floor language=tamil",
            "found nobody with that value, expected one of Gujarati, Hindi, Konkani, Marathi",
        ),
        ("programme --floor language", "expected two texts with = between"),
        ("programme --last 0", "--last"),
        ("programme --plan x --last 3", "--plan"),
        ("programme --seed 3", "STUDY"),
        ("programme --out page.pdf", "expected a name that ends in .html"),
        ("programme --cross district,language --cross language,state --cross district,state", "circle"),
    ] {
        let before = programme.listing();
        let said = stderr(
            &programme
                .run(&format!("fairness {arguments} --out none.html").replace(".pdf --out none.html", ".pdf"))
                .failure(),
        );
        assert!(said.contains(expected) && said.trim_end().lines().count() == 1, "{arguments}: {said}");
        assert_eq!(programme.listing(), before, "{arguments}");
    }
    fs::remove_file(programme.path("programme/ledger.db")).unwrap();
    let said = programme.refused("fairness programme --out none.html");
    assert!(said.contains("found no plan on record, expected one"), "{said}");
    let model =
        fs::read_dir(programme.path("programme/models")).unwrap().next().unwrap().unwrap().file_name();
    let said = stderr(&programme.run(&format!("fairness programme/models/{}", model.display())).code(2));
    assert!(said.contains("found a model and no STUDY, expected both"), "{said}");
    assert!(!programme.path("none.html").exists());
}
