//! `restive generate maternal`: the study on disk is the programme in memory, and the other commands work on it.

use crate::harness::{assert_output, cli, stderr, stdout};
use restive::data::encoding::{Encoding, Standardise};
use restive::data::maternal::Maternal;
use restive::data::split::Part;
use restive_tables::{Study, StudyBehaviour};
use serde_json::Value;

const SMALL: &str = "--seed 7 --groups 4 --people 300 --budget 9 --weeks 5 --discount 0.95 --stay-disengaged 0.8 \
                     --stay-engaged 0.7 --baseline-spread 1.5 --effect 0.7 --effect-spread 1 --explained-baseline 0.5 \
                     --explained-effect 0.6";

fn small() -> Maternal {
    Maternal {
        groups: 4,
        people: 300,
        budget: 9,
        weeks: 5,
        discount: 0.95,
        stay_disengaged: 0.8,
        stay_engaged: 0.7,
        baseline_spread: 1.5,
        effect: 0.7,
        effect_spread: 1.0,
        explained_baseline: 0.5,
        explained_effect: 0.6,
    }
}

#[test]
fn the_study_is_the_programme_bit_for_bit() {
    let folder = cli();
    let programme = small().generate(7).unwrap();
    for format in ["csv", "parquet"] {
        let command = format!("generate maternal --out {format} {SMALL} --format {format} --json");
        let summary: Value = serde_json::from_str(&stdout(&folder.run(&command).success())).unwrap();
        let study = Study::read(&folder.path(format)).unwrap();
        assert_eq!(summary["fingerprint"], study.fingerprint());
        assert_eq!((&summary["rows"], &summary["features"]), (&Value::from(4 * 300 * 6), &Value::from(15)));
        assert_eq!(study.settings.behaviour, StudyBehaviour::RoundRobinAsUniform);
        assert!(study.settings.notes.as_ref().unwrap().contains("not real data"));
        let people: Vec<_> = study.instances.iter().map(|instance| instance.features.clone()).collect();
        assert_eq!(people, programme.people);
        assert_eq!(study.instances(&programme.encoding).unwrap(), programme.instances);
        let split = study.given_split().unwrap().unwrap();
        assert_eq!(split, small().split(7).unwrap());
        assert_eq!(Part::ALL.map(|part| split.part(part).len()), [2, 1, 1]);
    }
}

#[test]
fn at_the_published_sizes_the_training_arms_teach_43_columns() {
    let folder = cli();
    let run = folder.run("generate maternal --out programme").success();
    assert_output("generate-maternal", &[&run]);
    let numbers = run.stdout.split(|c: char| !c.is_ascii_digit()).filter_map(|text| text.parse().ok());
    assert_eq!(numbers.take(6).collect::<Vec<u32>>(), [12, 639, 18, 7, 20, 0]);
    let study = Study::read(&folder.path("programme")).unwrap();
    let split = study.given_split().unwrap().unwrap();
    assert_eq!(Part::ALL.map(|part| split.part(part).len()), [8, 1, 3]);
    let encoding = Encoding::fit(&study.features(&split.train), Standardise::Yes, &["age"]).unwrap();
    assert_eq!(encoding.width(), 43);
}

#[test]
fn a_programme_can_be_studied_learnt_judged_and_planned() {
    let folder = cli();
    folder.run(&format!("generate maternal --out p {SMALL}")).success();
    folder.run("study p").success();
    folder.run("train p --out model --predictor effect --drop age").success();
    let run = folder.run("evaluate model p --estimators published --json --runs 50 --resamples 5").success();
    let scores: Value = serde_json::from_str(&stdout(&run)).unwrap();
    let value =
        |policy: &str, estimator: &str| scores["policies"][policy][estimator]["value"].as_f64().unwrap();
    assert!(value("oracle-strict", "true") > value("random", "true"));
    assert!(value("random", "segmented") > 0.0);
    folder.run("plan model p --out plan.csv").success();
    assert_eq!(folder.read("plan.csv").lines().count(), 1 + 36);
}

#[test]
fn numbers_that_make_no_programme() {
    let folder = cli();
    for (arguments, part) in [
        ("--out s --budget 640", "budget"),
        ("--out s --groups 0", "groups"),
        ("--out s --stay-engaged 1", "stay engaged"),
        ("--out s --explained-effect -0.1", "explained effect"),
        ("--out s --effect-spread nan", "effect spread"),
        ("--out s --people 4000000000", "cells"),
        ("--out s --instances 3", "--instances"),
        ("", "--out"),
    ] {
        let message = stderr(&folder.run(&format!("generate maternal {arguments}")).code(2));
        assert_eq!(message.lines().count(), 1, "{message}");
        assert!(message.contains(part), "{arguments}: {message}");
    }
    assert_eq!(folder.listing(), Vec::<String>::new());
}
