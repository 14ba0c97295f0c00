//! `restive generate`: the study on disk is the domain in memory, bit for bit.

use crate::harness::{assert_output, cli, stderr, stdout};
use restive::data::domain::Domain;
use restive::data::encoding::{Encoding, Standardise};
use restive::data::split::Part;
use restive_tables::Study;
use std::fs;
use std::process::Command;

const SMALL: &str = "--seed 7 --instances 4 --arms 12 --budget 3 --horizon 5 --trajectories 6 --margin 0.1 \
                     --feature-noise 0.5 --features-kept 9 --discount 0.95";

fn small(base: Domain) -> Domain {
    let (instances, arms, budget, horizon, trajectories) = (4, 12, 3, 5, 6);
    let (margin, feature_noise, features_kept, discount) = (0.1, 0.5, 9, 0.95);
    let states = base.states;
    Domain {
        states,
        instances,
        arms,
        budget,
        horizon,
        trajectories,
        margin,
        feature_noise,
        features_kept,
        discount,
        observation: base.observation,
    }
}

#[test]
fn the_study_is_the_domain_bit_for_bit() {
    let folder = cli();
    let domains = [
        ("two-state", Domain::two_state()),
        ("five-state", Domain::five_state()),
        ("collapsing", Domain::collapsing()),
    ];
    for (kind, base) in domains {
        let generated = small(base).generate(7).unwrap();
        let mut fingerprints = Vec::new();
        for format in ["csv", "parquet"] {
            let out = format!("{kind}-{format}");
            let run = folder
                .run(&format!("generate {kind} --out {out} {SMALL} --format {format} --json"))
                .success();
            let summary: serde_json::Value = serde_json::from_str(&stdout(&run)).unwrap();
            let study = Study::read(&folder.path(&out)).unwrap();
            assert_eq!(summary["fingerprint"], study.fingerprint());
            assert_eq!(summary["rows"], 4 * 12 * 6 * 6);
            let sizes = ["instances", "arms", "budget", "horizon", "trajectories", "seed"];
            assert_eq!(sizes.map(|name| summary[name].as_u64().unwrap()), [4, 12, 3, 5, 6, 7]);
            fingerprints.push(study.fingerprint());
            assert_eq!(
                (study.settings.horizon, study.settings.budget, study.settings.discount),
                (5, 3, 0.95)
            );
            assert_eq!(study.instances[0].features.names()[8], "f_08");
            // four instances: two to train, one to validate, one to test
            let split = study.given_split().unwrap().unwrap();
            let parts = Part::ALL.map(|part| split.part(part).iter().map(|g| g.instance).collect::<Vec<_>>());
            assert_eq!(parts, [vec![0, 1], vec![2], vec![3]]);
            let encoding = Encoding::fit(&study.features(&split.train), Standardise::No, &[]).unwrap();
            assert_eq!(study.instances(&encoding).unwrap(), generated);
        }
        assert_eq!(fingerprints[0], fingerprints[1]);
    }
}

#[test]
fn the_number_of_threads_does_not_matter() {
    let folder = cli();
    for threads in ["1", "2"] {
        let out = format!("study-{threads}");
        let run = Command::new(env!("CARGO_BIN_EXE_restive"))
            .args(["generate", "two-state", "--trajectories", "3", "--out", &out])
            .env("RAYON_NUM_THREADS", threads)
            .current_dir(folder.path("."))
            .output()
            .unwrap();
        assert!(run.status.success(), "{run:?}");
    }
    for name in ["study.toml", "arms.parquet", "trajectories.parquet", "truth.parquet"] {
        let [one, two] = ["1", "2"].map(|n| fs::read(folder.path(&format!("study-{n}/{name}"))).unwrap());
        assert!(one == two, "{name} differs");
    }
}

#[test]
fn a_line_says_what_was_written_and_nothing_is_replaced_without_leave() {
    let folder = cli();
    let command = format!("generate two-state --out study {SMALL}");
    let run = folder.run(&command).success();
    assert_output("generate-two-state", &[&run]);
    let message = stderr(&folder.run(&command).code(1));
    assert_eq!(message.lines().count(), 1, "{message}");
    assert!(message.contains("study: found a folder with files"), "{message}");
    folder.run(&format!("{command} --force --format csv")).success();
    assert!(folder.path("study/arms.csv").exists() && !folder.path("study/arms.parquet").exists());
    folder.write("study/mine.txt", "mine");
    assert!(stderr(&folder.run(&format!("{command} --force")).code(1)).contains("mine.txt"));
    assert_eq!(folder.listing(), ["study"]);
}

#[test]
fn numbers_that_make_no_domain() {
    let folder = cli();
    for (arguments, part) in [
        ("two-state --out s --budget 101", "budget"),
        ("two-state --out s --arms 0", "arms"),
        ("two-state --out s --margin 0.9", "margin"),
        ("two-state --out s --feature-noise -1", "feature noise"),
        ("two-state --out s --features-kept 17", "features kept"),
        ("two-state --out s --discount 2", "--discount"),
        ("two-state --out s --arms 4000000000", "cells"),
        ("two-state --out s --instances 18446744073709551615", "cells"),
        ("three-state --out s", "three-state"),
        ("two-state", "--out"),
    ] {
        let message = stderr(&folder.run(&format!("generate {arguments}")).code(2));
        assert_eq!(message.lines().count(), 1, "{message}");
        assert!(message.contains(part), "{arguments}: {message}");
    }
    let message = stderr(&folder.run("generate two-state --out none/s").code(1));
    assert!(message.contains("there is no folder none"), "{message}");
    assert_eq!(folder.listing(), Vec::<String>::new());
}

#[test]
fn one_instance_of_few_arms_has_no_split() {
    let folder = cli();
    folder.run("generate two-state --out s --instances 1 --arms 2 --budget 1 --trajectories 1").success();
    assert_eq!(Study::read(&folder.path("s")).unwrap().given_split(), None);
    folder.run("study s").success();
}
