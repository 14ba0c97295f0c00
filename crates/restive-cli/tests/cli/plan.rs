//! `restive plan`: the list is the one that sorting the indices gives.

use crate::harness::{Cli, Run, assert_output, cli, stderr, stdout};
use crate::models::write_model;
use ndarray::{Array2, ArrayView4};
use restive::history::{HeldOut, Rule, learn};
use restive::index::{Algorithm, whittle_index};
use restive::instance::Observation;
use restive_tables::Study;
use serde_json::Value;
use std::fs;

const GENERATE: &str = "generate two-state --out s --seed 3 --instances 3 --arms 15 --budget 4 --trajectories 4 \
                        --horizon 5 --format csv";

fn plan(folder: &Cli, arguments: &str) -> Value {
    let run = folder.run(&format!("plan m s --json {arguments}")).success();
    serde_json::from_str(&stdout(&run)).unwrap()
}

/// (arm, state, index) of the best, as the library sees it.
fn best(states: &[u16], table: &Array2<f64>, budget: usize) -> Vec<(String, u64, f64)> {
    let score = |i: usize| table[[i, usize::from(states[i])]];
    let mut arms: Vec<usize> = (0..states.len()).collect();
    arms.sort_by(|a, b| score(*b).total_cmp(&score(*a)));
    arms.truncate(budget);
    arms.into_iter().map(|i| (i.to_string(), states[i].into(), score(i))).collect()
}

fn rows(plan: &Value, instance: &str) -> Vec<(String, u64, f64)> {
    let rows = plan["plan"].as_array().unwrap().iter().filter(|row| row["instance"] == instance);
    let row = |row: &Value| {
        (row["arm"].as_str().unwrap().into(), row["state"].as_u64().unwrap(), row["index"].as_f64().unwrap())
    };
    rows.map(row).collect()
}

fn index(transition: ArrayView4<'_, f64>, study: &Study, discount: f64) -> Array2<f64> {
    whittle_index(transition, study.settings.reward.view(), discount, Algorithm::Auto).index
}

#[test]
fn the_plan_is_the_top_of_the_sorted_indices() {
    let folder = cli();
    folder.run(GENERATE).success();
    let (encoding, predictor) = write_model(&folder.path("s"), &folder.path("m"));
    let study = Study::read(&folder.path("s")).unwrap();
    let instances = study.instances(&encoding).unwrap();
    let predictions: Vec<_> = instances.iter().map(|one| predictor.predict(one.features())).collect();
    let groups = study.given_split().unwrap().unwrap().validation;
    let held_out: Vec<_> = groups
        .iter()
        .map(|g| HeldOut {
            log: instances[g.instance].trajectories(),
            observation: Observation::Full,
            prediction: predictions[g.instance].view(),
        })
        .collect();
    let learnt = learn(&held_out, Some(1.0));
    let Rule::Carry(carry) = learnt.candidate else {
        panic!("two states of few arms: {:?}", learnt.candidate)
    };
    let plans =
        [plan(&folder, ""), plan(&folder, "--history"), plan(&folder, "--budget 7 --index-discount 0.99")];
    for (k, instance) in instances.iter().enumerate() {
        let state = instance.trajectories().state();
        let states: Vec<u16> = (0..15).map(|i| state[[3, 5, i]]).collect();
        let (name, p) = (k.to_string(), predictions[k].view());
        assert_eq!(rows(&plans[0], &name), best(&states, &index(p, &study, 0.8), 4));
        let own = carry.apply(instance.trajectories().counts().view(), p);
        assert_eq!(rows(&plans[1], &name), best(&states, &index(own.view(), &study, 0.8), 4));
        assert_eq!(rows(&plans[2], &name), best(&states, &index(p, &study, 0.99), 7));
    }
    let said = &plans[1]["history"];
    assert_eq!(
        (&said["from"], &said["is_used"], &said["is_asked"]),
        (&"validation".into(), &true.into(), &true.into())
    );
    let [passive, active] = carry.strength;
    assert_eq!(
        said["rule"],
        serde_json::json!({"kind": "carry", "passive": passive, "active": active, "rho": 1.0})
    );
    // too few arms to listen to unless one insists
    assert_eq!((&plans[0]["history"]["is_used"], learnt.rule), (&false.into(), Rule::Alone));
    assert!(plan(&folder, "--history no").get("history").is_none());
    let ranks: Vec<u64> =
        plans[0]["plan"].as_array().unwrap().iter().map(|r| r["rank"].as_u64().unwrap()).collect();
    assert_eq!(ranks, [1, 2, 3, 4].repeat(3));
    // one instance alone is planned as it is among the others
    assert_eq!(rows(&plan(&folder, "--instance 1"), "1"), rows(&plans[0], "1"));
    assert_eq!(plan(&folder, "--instance 1")["plan"].as_array().unwrap().len(), 4);
    assert_eq!(plan(&folder, "--budget 0")["plan"].as_array().unwrap().len(), 0);
    let all = plan(&folder, "--budget 100");
    assert_eq!(all["plan"].as_array().unwrap().len(), 45);
    assert!(all["plan"].as_array().unwrap().iter().all(|row| row["inclusion"] == 1.0));
}

/// Twelve arms of one instance; those with x = 1 do well when pulled. Ada's record is long and says the opposite.
fn programme(folder: &Cli, newcomer: bool) {
    fs::create_dir(folder.path("s")).unwrap();
    folder.write(
        "s/study.toml",
        "states = 2\ndiscount = 0.9\nbudget = 2\nhorizon = 10\nbehaviour = \"estimated\"\n",
    );
    let mut arms = "arm,x,split\nAda,1,test\n".to_string();
    let mut log = "trajectory,t,arm,state,action\n".to_string();
    let parts = ["train", "train", "train", "validation"];
    (0..11).for_each(|i| arms += &format!("arm{i},{},{}\n", i % 2, parts[i % 4]));
    if newcomer {
        arms += "New,1,test\n";
    }
    for t in 0..41 {
        // Ada is called all the time, and only ever engaged when she is not
        let (state, action) = (usize::from(t % 4 == 1), usize::from(t % 4 != 0));
        log += &format!("1,{t},Ada,{state},{}\n", if t == 40 { String::new() } else { action.to_string() });
        for i in 0..11 {
            // one of the others is pulled at a time: it follows with x = 1
            let was_pulled = t > 0 && (t - 1) % 11 == i;
            let state = usize::from(was_pulled && i % 2 == 1 || (t + i) % 5 == 0);
            let action = if t == 40 { String::new() } else { usize::from(t % 11 == i).to_string() };
            log += &format!("1,{t},arm{i},{state},{action}\n");
        }
    }
    folder.write("s/arms.csv", arms);
    folder.write("s/trajectories.csv", log);
}

#[test]
fn a_long_record_outweighs_the_prediction() {
    let folder = cli();
    programme(&folder, true);
    write_model(&folder.path("s"), &folder.path("m"));
    let of_ada = |plan: &Value| rows(plan, "").into_iter().chain(rows(plan, "0")).find(|row| row.0 == "Ada");
    let all = |arguments: &str| {
        let plan = plan(&folder, arguments);
        let rows = plan["plan"].as_array().unwrap().clone();
        rows.into_iter().find(|row| row["arm"] == "Ada").map(|row| row["index"].as_f64().unwrap()).unwrap()
    };
    let (predicted, own) = (all("--budget 13"), all("--budget 13 --history"));
    assert!(predicted > 0.0 && own < 0.0, "{predicted} {own}");
    // the newcomer has no state
    let everybody = plan(&folder, "--budget 13 --history");
    let ranked = everybody["plan"].as_array().unwrap();
    assert!(ranked.iter().all(|row| row["arm"] != "New"));
    assert!(ranked.iter().any(|row| row["is_beneficial"] == false));
    assert_output("plan-newcomer", &[&folder.run("plan m s --budget 13 --history").success()]);
    let few = plan(&folder, "--budget 13 --history --only-beneficial");
    assert!(few["plan"].as_array().unwrap().iter().all(|row| row["is_beneficial"] == true));
    assert!(of_ada(&few).is_none() && !few["plan"].as_array().unwrap().is_empty());
    assert_eq!(few["never_observed"], 1);
}

#[test]
fn the_answer_says_whether_records_count_and_who_said_so() {
    let folder = cli();
    programme(&folder, false);
    write_model(&folder.path("s"), &folder.path("m"));
    let as_trained = fs::read_to_string(folder.path("s/arms.csv")).unwrap();
    let history = |arguments: &str| plan(&folder, arguments)["history"].clone();
    for (arguments, is_used) in [("", false), ("--history", true)] {
        let history = history(arguments);
        assert_eq!((&history["is_used"], &history["helps"]), (&is_used.into(), &false.into()));
        // two arms were pulled, fewer than the 20 that are needed
        assert_eq!((&history["arms"], &history["moves"]), (&2.into(), &80.into()));
        assert!(history["why"].as_str().unwrap().starts_with("2 "), "{history}");
    }
    let [left_out, as_asked] =
        ["plan m s", "plan m s --history"].map(|command| folder.run(command).success());
    assert_output("plan", &[&left_out]);
    assert!(as_asked.stderr.contains("2 held-out arms were pulled"), "{}", as_asked.stderr);
    assert!(as_asked.stderr.contains("at least 20 are needed"), "{}", as_asked.stderr);
    assert_output("plan-history", &[&as_asked]);
    // nobody to ask, or nobody who was surely not learnt from
    let no_split: String =
        as_trained.lines().map(|line| line.rsplit_once(',').unwrap().0.to_owned() + "\n").collect();
    for arms in [as_trained.replace("validation", "train"), no_split] {
        folder.write("s/arms.csv", arms);
        let run = folder.run("plan m s --history").failure().code(1);
        let expected = "restive: --history: found no arms that were surely not learnt from, expected some";
        assert!(stderr(&run).contains(expected), "{}", stderr(&run));
        assert_eq!(history(""), Value::Null);
    }
}

#[test]
fn a_plan_that_knows_its_end_ranks_by_advantage_and_says_what_is_within_reach() {
    let folder = cli();
    folder.run(GENERATE).success();
    let (encoding, predictor) = write_model(&folder.path("s"), &folder.path("m"));
    let study = Study::read(&folder.path("s")).unwrap();
    let open = plan(&folder, "");
    assert_eq!((&open["policy"], &open["steps"]), (&"whittle".into(), &serde_json::json!([5, 5])));
    let ending = plan(&folder, "--remaining 1");
    assert_eq!((&ending["policy"], &ending["steps"]), (&"horizon".into(), &serde_json::json!([1, 1])));
    assert!(ending.get("index_discount").is_none());
    // with one decision left a pull is worth what it changes in the next state, discounted once
    let instances = study.instances(&encoding).unwrap();
    let (mut without, mut best) = (0.0, 0.0);
    for (k, instance) in instances.iter().enumerate() {
        let p = predictor.predict(instance.features());
        let state = |i: usize| usize::from(instance.trajectories().state()[[3, 5, i]]);
        let gain = |i: usize| 0.99 * (p[[i, state(i), 1, 1]] - p[[i, state(i), 0, 1]]);
        let mut gains: Vec<f64> = (0..15).map(gain).collect();
        without += (0..15).map(|i| state(i) as f64 + 0.99 * p[[i, state(i), 0, 1]]).sum::<f64>();
        gains.sort_by(|a, b| b.total_cmp(a));
        best += gains[..4].iter().map(|gain| gain.max(0.0)).sum::<f64>();
        let found: Vec<f64> = ending["plan"]
            .as_array()
            .unwrap()
            .iter()
            .filter(|row| row["instance"].as_str() == Some(&*k.to_string()))
            .map(|row| row["advantage"].as_f64().unwrap())
            .collect();
        assert!(
            found.iter().zip(&gains).all(|(found, gain)| (found - gain).abs() < 1e-12),
            "{found:?} {gains:?}"
        );
    }
    let bound = |plan: &Value, name: &str| plan["bound"][name].as_f64().unwrap();
    assert!((bound(&ending, "no_action") - without).abs() < 1e-9);
    assert!(bound(&ending, "any_policy") >= without + best - 1e-9);
    assert!(bound(&ending, "any_policy") < without + 1.01 * best + 1e-9);
    assert_eq!(ending["bound"]["arms"], 45);
    // the study may say when it ends: the log has steps 0 to 5, so step 5 is planned
    let toml = fs::read_to_string(folder.path("s/study.toml")).unwrap();
    folder.write("s/study.toml", toml.clone() + "ends = 6\n");
    assert_eq!(plan(&folder, "")["plan"], ending["plan"]);
    // an index knows no end; what a call is worth over the steps ahead does
    let ranked = |plan: &Value| -> Vec<(Value, Value)> {
        let rows = plan["plan"].as_array().unwrap();
        rows.iter().map(|row| (row["arm"].clone(), row["index"].clone())).collect()
    };
    assert_eq!(ranked(&plan(&folder, "--policy whittle")), ranked(&open));
    assert_output("plan-horizon", &[&folder.run("plan m s").success()]);
    folder.write("s/study.toml", toml + "ends = 5\n");
    let over = folder.run("plan m s").failure().code(1);
    let expected = "study.toml: ends = 5: found step 5 to be planned in instance 0, expected an earlier one: the programme is over; --remaining N";
    assert!(stderr(&over).contains(expected), "{}", stderr(&over));
    for (options, expected) in [
        ("--remaining 0", "--remaining: found 0, expected a whole number from 1 to 10000"),
        ("--policy whittle --remaining 3", "--remaining: an index knows no end; it needs --policy horizon"),
        (
            "--policy horizon --remaining 3 --index-discount 0.9",
            "--index-discount: prices have the study's own discount",
        ),
    ] {
        let run = folder.run(&format!("plan m s {options}")).failure().code(2);
        assert!(stderr(&run).contains(expected), "{options}: {}", stderr(&run));
    }
    folder.write(
        "s/study.toml",
        fs::read_to_string(folder.path("s/study.toml")).unwrap().replace("ends = 5\n", ""),
    );
    let run = folder.run("plan m s --policy horizon").failure().code(2);
    assert!(stderr(&run).contains("--policy horizon: found no end of the programme"), "{}", stderr(&run));
    // the file has the column, and is known again
    folder.run("plan m s --remaining 2 --out p.csv").success();
    let header = fs::read_to_string(folder.path("p.csv")).unwrap().lines().next().unwrap().to_string();
    assert_eq!(header, "instance,arm,state,advantage,rank,inclusion,is_beneficial");
    folder.run("plan m s --out p.csv --force").success();
}

#[test]
fn ties_are_broken_at_random() {
    let folder = cli();
    programme(&folder, false);
    write_model(&folder.path("s"), &folder.path("m"));
    // at a discount of 0 no pull is worth anything to anybody
    let tie_breaks: Vec<Value> =
        (0..8).map(|seed| plan(&folder, &format!("--index-discount 0 --seed {seed}"))).collect();
    for drawn in &tie_breaks {
        let rows = drawn["plan"].as_array().unwrap();
        assert_eq!(rows.len(), 2);
        for row in rows {
            assert_eq!((row["index"].as_f64(), row["is_beneficial"].as_bool()), (Some(0.0), Some(false)));
            assert_eq!(row["inclusion"].as_f64(), Some(2.0 / 12.0));
        }
    }
    assert!(tie_breaks.iter().any(|drawn| drawn != &tie_breaks[0]));
    assert_eq!(plan(&folder, "--index-discount 0 --seed 3"), tie_breaks[3]);
}

#[test]
fn the_file_holds_the_plan() {
    let folder = cli();
    folder.run(GENERATE).success();
    write_model(&folder.path("s"), &folder.path("m"));
    let json = plan(&folder, "--out plan.csv");
    let text = fs::read_to_string(folder.path("plan.csv")).unwrap();
    let mut lines = text.lines();
    assert_eq!(lines.next(), Some("instance,arm,state,index,rank,inclusion,is_beneficial"));
    for (line, row) in lines.zip(json["plan"].as_array().unwrap()) {
        let cells: Vec<&str> = line.split(',').collect();
        assert_eq!((cells[0], cells[1]), (row["instance"].as_str().unwrap(), row["arm"].as_str().unwrap()));
        assert_eq!(cells[3].parse::<f64>().ok(), row["index"].as_f64());
        assert_eq!(cells[6], row["is_beneficial"].to_string());
    }
    assert_eq!(text.lines().count(), 13);
    let [written, five] =
        ["--out plan.parquet", "--rows 5"].map(|more| folder.run(&format!("plan m s {more}")).success());
    assert_eq!(&fs::read(folder.path("plan.parquet")).unwrap()[..4], b"PAR1");
    let ranks = |run: &Run| run.stdout.lines().filter(|line| line.ends_with(" yes")).count();
    assert_eq!([ranks(&written), ranks(&five)], [0, 5]);
    assert_output("plan-rows", &[&written, &five]);
    for (arguments, part) in [
        ("--out plan.npy", "expected .csv or .parquet"),
        ("--out plan.json", "expected .csv or .parquet"),
        ("--budget -1", "'-1' for '--budget <K>'"),
        ("--instance north", "found \"north\", expected an instance such as 0, 1, 2"),
        ("--index-discount 2", "--index-discount"),
    ] {
        let message = stderr(&folder.run(&format!("plan m s {arguments}")).code(2));
        assert!(message.contains(part) && message.lines().count() == 1, "{message}");
        assert!(!arguments.contains("json") || !message.contains("npy"), "{message}");
    }
    let message = stderr(&folder.run("plan s m").code(2));
    assert!(message.contains("s: found a study, expected the folder of a model"), "{message}");
}

#[test]
fn a_model_for_other_features_is_refused() {
    let folder = cli();
    folder.run(GENERATE).success();
    write_model(&folder.path("s"), &folder.path("m"));
    let others = [
        ("two-state --features-kept 15", "feature f_15: found no such column, expected one"),
        ("five-state", "found 5 states, expected 2 as at training"),
    ];
    for (k, (other, expected)) in others.into_iter().enumerate() {
        folder
            .run(&format!("generate {other} --instances 3 --arms 5 --budget 1 --trajectories 2 --out o{k}"))
            .success();
        for command in ["plan", "evaluate"] {
            let message = stderr(&folder.run(&format!("{command} m o{k} --out x.csv")).code(1));
            assert!(message.starts_with(&format!("restive: o{k} does not fit m: ")), "{message}");
            assert!(message.contains(expected) && message.lines().count() == 1, "{message}");
        }
    }
    let arms = folder.path("s/arms.csv");
    fs::write(&arms, fs::read_to_string(&arms).unwrap().replacen("f_03", "g_03", 1)).unwrap();
    let message = stderr(&folder.run("plan m s").code(1));
    assert!(message.contains("feature f_03: found no such column"), "{message}");
    assert!(
        message.contains("; feature g_03: found a column that was not there at training, expected none"),
        "{message}"
    );
    assert_eq!(folder.listing(), ["m", "o0", "o1", "s"]);
}

#[test]
fn features_that_tell_nothing_are_noted() {
    let folder = cli();
    folder.run("generate two-state --out s --seed 3 --instances 3 --arms 15 --budget 4 --trajectories 4 --features-kept 3 --format csv").success();
    let path = folder.path("s/arms.csv");
    let arms = fs::read_to_string(&path).unwrap();
    let with = |columns: [&dyn Fn(usize) -> &'static str; 2]| {
        let lines = arms.lines().enumerate().map(|(k, line)| match k {
            0 => format!("{line},age,village\n"),
            k => format!("{line},{},{}\n", columns[0](k), columns[1](k)),
        });
        fs::write(&path, lines.collect::<String>()).unwrap();
    };
    with([&|k| ["31", "24", ""][k % 3], &|k| ["north", "south"][k % 2]]);
    write_model(&folder.path("s"), &folder.path("m"));
    let notes = |command: &str| {
        let all = stderr(&folder.run(command).success());
        all.lines().filter(|line| line.contains(": feature ")).map(String::from).collect::<Vec<_>>()
    };
    assert_eq!(notes("plan m s"), Vec::<String>::new());
    with([&|_| "", &|_| "south"]);
    let of_plan = folder.run("plan m s --rows 2").success();
    assert_output("plan-feature-notes", &[&of_plan]);
    let [of_age, of_village] = &notes("plan m s")[..] else { panic!("two notes: {}", of_plan.stderr) };
    assert!(of_age.contains(" age: ") && of_village.contains(" village: "), "{of_age} {of_village}");
    let of_evaluation = notes("evaluate m s --estimators published --runs 20 --resamples 10");
    assert_eq!(of_evaluation, [of_age.clone(), of_village.clone()]);
}
