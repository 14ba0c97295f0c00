//! Refusals that an evaluation finds only after models are fitted: every command that evaluates a model stores them in its folder.

use crate::harness::{Chance, Cli, cli};
use std::fmt::Write;
use std::fs;

const ARMS: usize = 600;
const STEPS: usize = 12;
const FEATURES: usize = 36;

/// A study in folder `s` whose pulls follow the expected reward, in contradiction to its declaration. Each feature has so small a part in
/// the expected reward that no check of a single feature objects.
fn study() -> Cli {
    let folder = cli();
    let mut chance = Chance::new(6);
    let names: Vec<String> = (0..FEATURES).map(|k| format!("f{k}")).collect();
    let mut arms = format!("arm,{}\n", names.join(","));
    let mut rows = vec![String::new(); STEPS + 1];
    for arm in 0..ARMS {
        let features: Vec<f64> = (0..FEATURES).map(|_| chance.next()).collect();
        let number = FEATURES as f64;
        let sum = (features.iter().sum::<f64>() - number / 2.0) / (number / 12.0).sqrt();
        let cells: Vec<String> = features.iter().map(f64::to_string).collect();
        writeln!(arms, "{arm},{}", cells.join(",")).unwrap();
        for (step, rows) in rows.iter_mut().enumerate() {
            let state = u8::from(chance.next() < 0.5 + 0.07 * sum);
            write!(rows, "1,{step},{arm},{state},").unwrap();
            if step < STEPS {
                write!(rows, "{}", u8::from(chance.next() < 0.15 * (1.0 + 0.22 * sum))).unwrap();
            }
            rows.push('\n');
        }
    }
    fs::create_dir(folder.path("s")).unwrap();
    folder.write(
        "s/study.toml",
        "states = 2\ndiscount = 0.9\nbudget = 90\nhorizon = 8\nbehaviour = \"uniform\"\n",
    );
    folder.write("s/arms.csv", arms);
    folder.write("s/trajectories.csv", format!("trajectory,t,arm,state,action\n{}", rows.concat()));
    folder
}

#[test]
fn refusal_after_a_fit_is_stored_by_every_command_that_evaluates() {
    let folder = study();
    folder.run("train s --out m --predictor effect").success();
    folder.run("train s --out other --predictor hierarchical").success();
    let effects = || folder.run("plan m s --json").success().json()["effects"].clone();
    assert_eq!(effects(), "identified", "the checks before a fit do not object");
    for command in ["evaluate m s", "report m s --out r.html --force", "compare m other s"] {
        let run = folder.run(command).success();
        assert!(folder.path("m/refusal.json").exists(), "{command}: {}{}", run.stdout, run.stderr);
        let effects = effects();
        let reason = effects["not_identified"]["reason"].as_str().unwrap_or_default();
        assert!(reason.contains("in expected reward by") || reason.contains("in rank by"), "{effects}");
        fs::remove_file(folder.path("m/refusal.json")).unwrap();
    }
}
