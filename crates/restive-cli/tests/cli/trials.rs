//! A trial through the program: designed, registered, assigned, four weeks of lists, analysed. The plain difference is computed from the
//! truth, which the program never reads.

use crate::harness::stderr;
use crate::programme::{BUDGET, Programme, RECORDED, listed, options};
use restive_tables::Model;
use restive_tables::model::Identification;
use restive_testkit::assert_snapshot;
use std::collections::{HashMap, HashSet};
use std::fmt::Write;
use std::fs;

/// Number of weeks with lists.
const WEEKS: usize = 4;

/// Returns a programme with a model; column `one` of its people has a single value.
fn programme() -> Programme {
    Programme::cached(&options(), &"with a column of one value", |programme| {
        let registry = programme.read("exports/registry.csv");
        let mut lines = registry.lines();
        let header = format!("{},one\n", lines.next().unwrap());
        let rows = lines.map(|line| format!("{line},x\n"));
        programme.write("exports/registry.csv", header + &rows.collect::<String>());
        let mapping = programme.read("exports/mapping.toml");
        let edited = mapping.replace("keep = [\"name\", ", "keep = [\"name\", \"one\", ");
        assert_ne!(mapping, edited);
        programme.write("exports/mapping.toml", edited);
        programme.train();
        programme.write("programme/rules.toml", "budget = 24\n");
    })
}

/// Plays a week: the list, its calls, their outcomes, and the next import. Returns the ids of the list.
fn play_week(programme: &mut Programme, week: usize) -> HashSet<String> {
    let called = listed(&programme.json(&format!("plan programme --out list-{week}.csv")));
    let mut filled = "id,outcome\n".to_string();
    called.iter().for_each(|id| writeln!(filled, "{id},reached").unwrap());
    programme.write("filled.csv", filled);
    programme.run("outcomes programme filled.csv").success();
    programme.advance_week(&called);
    programme.import();
    called.into_iter().collect()
}

/// Mean and variance.
fn moments(x: &[f64]) -> (f64, f64) {
    let mean = x.iter().sum::<f64>() / x.len() as f64;
    (mean, x.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / (x.len() as f64 - 1.0))
}

#[test]
fn a_trial_goes_from_design_to_result() {
    let mut programme = programme();
    let (before, design) = (programme.listing(), "trial design programme --weeks 4 --trials 20 --seed 3");
    let none = programme.refused("trial analyse programme");
    assert!(none.contains("found no trial, expected one"), "{none}");
    let designed = programme.json(&format!("{design} --strata district --out protocol.toml"));
    let callable = designed["people"].as_u64().unwrap();
    let people = programme.truth().people();
    // people who object to calls may not be called
    assert_eq!(callable, people.iter().filter(|person| !person.do_not_call).count() as u64);
    assert_eq!(designed["groups"][0].as_u64(), Some(callable.div_ceil(2)));
    assert!(designed["expected"].as_f64().unwrap() > 0.0, "{designed}");
    let detectable = |k: usize| designed["estimators"][k]["detectable"].as_f64().unwrap();
    assert!(detectable(2) < detectable(4), "an exchange finds less than a plain difference: {designed}");
    let taken = programme.refused(&format!("{design} --out protocol.toml"));
    assert!(taken.contains("protocol.toml") && taken.contains("--force"), "{taken}");
    assert_eq!(programme.listing().len(), before.len() + 1);
    let protocol = programme.read("protocol.toml");
    assert!(protocol.contains("weeks = 4") && protocol.contains("seed = 3"), "{protocol}");

    let assigned = programme.json("trial assign programme protocol.toml");
    let group: HashMap<&str, &str> = assigned["people"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| (one["arm"].as_str().unwrap(), one["group"].as_str().unwrap()))
        .collect();
    assert_eq!(group.len() as u64, callable);
    // strata: half of each district in either group, up to one person
    for district in ["north", "south", "east"] {
        let of_group = |name: &str| {
            let ids = group.iter().filter(|(_, group)| **group == name).map(|(id, _)| *id);
            ids.filter(|id| people[programme.position(id)].district == district).count()
        };
        let [list, control] = [of_group("list"), of_group("control")];
        assert!(list.abs_diff(control) <= 2 && list > 30, "{list} and {control}");
    }
    for one in assigned["balance"].as_array().unwrap().iter().take(2) {
        assert!(one["difference"].as_f64().unwrap().abs() < 0.1, "{one}");
    }
    let again = programme.refused("trial assign programme protocol.toml");
    assert!(again.contains("which runs, expected none: groups are drawn once"), "{again}");
    assert_eq!(programme.json("trial status programme")["plans"], 0);

    let mut calls = 0;
    for week in 0..WEEKS {
        let called = play_week(&mut programme, week);
        calls += called.len();
        assert_eq!(called.len(), BUDGET);
        assert!(
            called.iter().all(|id| group[id.as_str()] == "list"),
            "a person of the control group is called"
        );
        if week + 1 < WEEKS {
            let early = programme.refused("trial analyse programme --out page.html");
            assert!(early.contains("found outcomes of") && early.contains("--interim"), "{early}");
            assert!(!programme.path("page.html").exists());
        }
        if week == 1 {
            let look = programme.text("trial analyse programme --interim");
            assert_snapshot!("trial-analyse-interim", &look);
        }
    }
    assert_snapshot!("trial-status", &programme.text("trial status programme"));
    let status = programme.json("trial status programme");
    assert_eq!((status["plans"].as_u64(), status["observed"].as_u64()), (Some(4), Some(4)), "{status}");
    assert_eq!(status["gaps"].as_array().unwrap().len(), 0, "{status}");

    let found = programme.json("trial analyse programme --protocol protocol.toml --out page.html");
    assert_eq!((found["interim"].as_bool(), found["weeks"].as_u64()), (Some(false), Some(4)));
    assert_eq!(found["calls"].as_u64(), Some(calls as u64));
    assert_eq!(found["deviations"].as_array().unwrap().len(), 0, "{found}");
    // the plain difference, from the truth
    let total = |id: &str| -> f64 {
        let states = &programme.truth().states()[programme.position(id)][RECORDED..];
        assert_eq!(states.len(), WEEKS);
        states.iter().map(|state| f64::from(u8::from(state.unwrap()))).sum()
    };
    let of = |name: &str| -> Vec<f64> {
        group.iter().filter(|(_, group)| **group == name).map(|(id, _)| total(id)).collect()
    };
    let ([list, control], n) = ([of("list"), of("control")], of("list").len() as f64);
    let [(mean, variance), (other, spread)] = [moments(&list), moments(&control)];
    let plain = &found["effects"][4];
    assert_eq!(plain["estimator"], "difference");
    let number = |name: &str| plain["found"][name].as_f64().unwrap();
    assert!((number("estimate") - n * (mean - other)).abs() < 1e-9, "{plain}");
    let se = n * (variance / n + spread / control.len() as f64).sqrt();
    assert!((number("se") - se).abs() < 1e-9, "{plain}");
    assert_snapshot!("trial-analyse", &programme.text("trial analyse programme"));
    // no estimator is refused, and one that replays the rules is more precise
    for line in found["effects"].as_array().unwrap() {
        assert!(line["refused"].is_null(), "{line}");
    }
    assert!(found["effects"][2]["found"]["se"].as_f64().unwrap() < se);
    assert_eq!(found["primary"], designed["protocol"]["primary"]);
    let page = programme.read("page.html");
    assert!(page.contains(found["sentence"].as_str().unwrap()), "{}", found["sentence"]);
    // an estimator does not depend on when it is asked
    assert_eq!(found, programme.json("trial analyse programme"));

    // a plan that was changed, if only by a comment
    programme.write("changed.toml", protocol.clone() + "# and that is all\n");
    let changed = programme.refused("trial analyse programme --protocol changed.toml --out other.html");
    assert!(changed.contains("the plan was changed after it was registered"), "{changed}");
    let unknown = programme.refused("trial analyse programme --trial autumn");
    assert!(unknown.contains("found no trial \"autumn\""), "{unknown}");
    programme.run("trial end programme --why over").success();
    assert!(programme.refused("trial end programme --why over").contains("found no trial that runs"));
    assert_eq!(found["effects"], programme.json("trial analyse programme")["effects"]);
    let known = programme.refused("trial assign programme protocol.toml");
    assert!(known.contains("expected a name that is new"), "{known}");
    // a record that was changed behind the back of the ledger
    let path = programme.path("programme/ledger.db");
    let mut bytes = fs::read(&path).unwrap();
    let at = bytes.windows(9).position(|text| text == b"weeks = 4").unwrap();
    bytes[at + 8] = b'3';
    fs::write(&path, bytes).unwrap();
    let changed = programme.refused("trial analyse programme --out other.html");
    assert!(changed.contains("was changed after it was written"), "{changed}");
    assert!(!programme.path("other.html").exists());
}

#[test]
fn the_same_seed_draws_the_same_groups_and_what_cannot_be_drawn_is_refused() {
    let programme = programme();
    let design = "trial design programme --trials 2";
    for (arguments, expected) in [
        ("--share 1", "share: found 1, expected a number from 0.01 to 0.99"),
        ("--by worker --share 0.01", "share 0.01: found 0 people in the group list, expected at least 2"),
        ("--by one", "by one: found 1 value, expected at least 4"),
        ("--by phone_owner", "by phone_owner: found 3 values, expected at least 4"),
        (
            "--by colour",
            "by: found no column colour, expected one of: name, one, phone, worker, centre, household, ",
        ),
        ("--by worker --strata district", "in two strata"),
        ("--weeks 0", "weeks: found 0, expected 1 to 520"),
        ("--out plan.txt", "expected .toml"),
    ] {
        let said = programme.refused(&format!("{design} {arguments}"));
        assert!(said.contains(expected) && said.lines().count() == 1, "{arguments}: {said}");
    }
    let few = programme.refused("trial design programme --trials 1");
    assert!(few.contains("expected a whole number from 2 to 100000"), "{few}");
    let designed = programme.text(&format!("{design} --by worker --seed 1 --out one.toml"));
    assert_snapshot!("trial-design", &designed);
    programme.run(&format!("{design} --by worker --seed 2 --out two.toml")).success();
    let one = programme.read("one.toml");
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
        programme.write("wrong.toml", wrong);
        let said = programme.refused("trial assign programme wrong.toml");
        assert!(said.contains(expected), "{from}: {said}");
    }
    let draw = |text: &str, name: &str| {
        programme.write("named.toml", text.replace("id = \"", &format!("id = \"{name} ")));
        let assigned = programme.json("trial assign programme named.toml");
        programme.run("trial end programme --why rehearsed").success();
        assigned
    };
    let first = draw(&one, "first");
    assert_eq!(first["people"], draw(&one, "again")["people"]);
    let two = programme.read("two.toml");
    assert_ne!(first["people"], draw(&two, "other")["people"]);
    // whole clusters
    let mut of: HashMap<&str, HashSet<&str>> = HashMap::new();
    for person in first["people"].as_array().unwrap() {
        of.entry(person["cluster"].as_str().unwrap()).or_default().insert(person["group"].as_str().unwrap());
    }
    assert!(of.len() == 12 && of.values().all(|groups| groups.len() == 1), "{of:?}");
    // the list of the next week is made already
    programme.run("plan programme").success();
    programme.write("four.toml", one.replace("id = \"", "id = \"late "));
    let late = programme.refused("trial assign programme four.toml");
    assert!(late.contains("found the plan 2026-03-02") && late.contains("expected none"), "{late}");
}

#[test]
fn design_on_effects_that_are_not_identified_states_them_as_assumed() {
    let programme = programme();
    let design = "trial design programme --trials 2";
    let identified = programme.json(design);
    assert_eq!(identified["effects"], "identified");
    let refusal = Identification::NotIdentified { reason: "those who were pulled were chosen".into() };
    for model in fs::read_dir(programme.path("programme/models")).unwrap() {
        Model::refuse(&model.unwrap().path(), &refusal).unwrap();
    }
    let run = programme.run(design).success();
    assert!(run.stdout.contains("\nassumed, as the model has it and the log does not"), "{}", run.stdout);
    assert!(!run.stdout.contains("the model expects the calls"), "{}", run.stdout);
    assert!(
        run.stderr.contains("does not identify it (those who were called were chosen)"),
        "{}",
        run.stderr
    );
    let assumed = programme.json(design);
    assert_eq!(assumed["effects"]["not_identified"]["reason"], "those who were pulled were chosen");
    assert_eq!(assumed["estimators"], identified["estimators"]);
}

#[test]
fn what_the_record_lacks_and_what_was_done_otherwise_is_said() {
    let mut programme = programme();
    programme.run("trial design programme --weeks 4 --trials 20 --out protocol.toml").success();
    assert_snapshot!("trial-assign", &programme.text("trial assign programme protocol.toml"));
    play_week(&mut programme, 0);
    // from now on rank alone does not decide, and somebody is taken off the list by hand
    programme.write("programme/rules.toml", "budget = 24\n[[limit]]\nby = \"worker\"\nat_most = 3\n");
    let said = programme.json("plan programme");
    let name = said["rows"][0][0].as_str().unwrap();
    programme.run(&format!("programme remove programme --id {name} --who Amina --why moved")).success();
    programme.advance_week(Vec::<String>::new());
    programme.import();
    let status = programme.json("trial status programme");
    assert_eq!(
        (status["overrides"].as_u64(), status["without_outcome"].as_u64()),
        (Some(1), Some(23)),
        "{status}"
    );
    let end = ["trial", "end", "programme", "--why", "the phones were down"];
    programme.run_args(end).success();
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
    let design = stderr(&programme.run("trial design programme --trials 2").success());
    assert!(design.contains("the rules have limits, costs, must_call or explore"), "{design}");
}
