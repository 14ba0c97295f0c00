//! `restive experiment quality`, in tiny sizes.

use crate::harness::{Cli, assert_output, cli};
use restive::data::domain::Domain;
use restive::policy::Policy;
use restive::simulation::{Initial, Setting, values};
use std::fs;

type Row = (String, usize, String, String, usize, f64);

/// (domain, run, method, metric, history, value) of every row.
fn rows(folder: &Cli, name: &str) -> Vec<Row> {
    let text = fs::read_to_string(folder.path(name)).unwrap();
    let mut lines = text.lines();
    assert_eq!(lines.next(), Some("domain,run,seed,method,metric,history,value"));
    let row = |line: &str| {
        let cells: Vec<&str> = line.split(',').collect();
        let [domain, run, _, method, metric, history, value] = cells[..] else { panic!("{line}") };
        let own = |text: &str| text.to_string();
        (
            own(domain),
            run.parse().unwrap(),
            own(method),
            own(metric),
            history.parse::<f64>().unwrap() as usize,
            value.parse().unwrap(),
        )
    };
    lines.map(row).collect()
}

const TINY: &str = "experiment quality --quick --arms 10";

#[test]
fn every_training_is_judged_on_the_truth_with_and_without_histories() {
    let folder = cli();
    let run = folder.run(&format!("{TINY} --domain two-state --runs 2 --out q")).success();
    assert_output("experiment-quality", &[&run]);
    for file in ["quality.parquet", "quality.svg", "quality.png", "report.html"] {
        assert!(folder.path("q").join(file).exists(), "{file}");
    }
    let page = fs::read_to_string(folder.path("q/report.html")).unwrap();
    restive_testkit::assert_page!("experiment-page-quality", &page);

    let rows = rows(&folder, "q/quality.csv");
    let found = |regime: &str, run: usize, method: &str, metric: &str, history: usize| -> Vec<f64> {
        let is_it =
            |row: &&Row| (&*row.0, row.1, &*row.2, &*row.3, row.4) == (regime, run, method, metric, history);
        rows.iter().filter(is_it).map(|row| row.5).collect()
    };
    let methods = [
        "random",
        "oracle",
        "oracle-matched",
        "two-stage",
        "two-stage-converged",
        "two-stage-recommended",
        "decision-focused",
        "decision-focused-fluid",
        "decision-focused-recommended",
        "decision-focused-strong",
        "decision-focused-control",
        "oracle-horizon",
        "two-stage-horizon",
        "decision-focused-horizon",
        "auto",
        "auto-horizon",
    ];
    let singles = ["single-linear", "single-effect", "single-hierarchical"];
    for regime in ["two-state", "linear-4-features", "noise-0.1"] {
        for run in 0..2 {
            for method in methods {
                let values = found(regime, run, method, "strict_true", 0);
                assert!(values.len() == 1 && values[0].is_finite(), "{regime} {run} {method}: {values:?}");
            }
            for method in ["two-stage-recommended", "decision-focused-recommended"] {
                for history in [3, 9, 27] {
                    assert_eq!(
                        found(regime, run, method, "strict_true", history).len(),
                        1,
                        "{regime} {method}"
                    );
                }
            }
            // beside the network, and nowhere else
            for method in singles {
                let count = usize::from(regime != "linear-4-features");
                assert_eq!(found(regime, run, method, "strict_true", 0).len(), count, "{regime} {method}");
            }
            // where held-out arms do not say that records help, records change nothing
            let rule = found(regime, run, "auto-horizon", "rule", 0);
            assert!(rule.len() == 1 && [0.0, 1.0, 2.0].contains(&rule[0]), "{regime} {run}: {rule:?}");
            let alone = found(regime, run, "auto-horizon", "strict_true", 0);
            for history in [9, 27] {
                let with_record = found(regime, run, "auto-horizon", "strict_true", history);
                assert!(with_record.len() == 1 && with_record[0].is_finite());
                assert!(rule[0] != 0.0 || with_record == alone, "{regime} {run}");
            }
            let forced = found(regime, run, "auto-history-forced", "strict_true", 27);
            let forced_rule = found(regime, run, "auto-history-forced", "rule", 0);
            assert!(forced.len() == 1 && [1.0, 2.0].contains(&forced_rule[0]), "{regime} {run}");
            if rule[0] != 0.0 {
                assert_eq!(forced, found(regime, run, "auto-horizon", "strict_true", 27), "{regime} {run}");
            }
            let base = found(regime, run, "auto", "base", 0);
            assert!(base.len() == 1 && (0..6).any(|k| base[0] == f64::from(k)), "{regime} {run}: {base:?}");
            let answer = "decision-focused-recommended";
            let choice = found(regime, run, answer, "choice", 0);
            assert!(choice.len() == 1 && [0.0, 1.0, 2.0].contains(&choice[0]));
            // what folds chose is what is measured
            let other = ["two-stage-recommended", "", "decision-focused-strong"][choice[0] as usize];
            if !other.is_empty() {
                let own = found(regime, run, answer, "strict_true", 0);
                assert_eq!(own, found(regime, run, other, "strict_true", 0), "{regime} {run}");
            }
        }
    }
    // histories of the recommended methods and of the default, forced ones, what folds and held-out arms chose
    assert_eq!(rows.len(), 2 * (3 * (methods.len() + 6 + 3 + 4) + 2 * singles.len()));

    // random pulls on the last two instances of seed 10,001, which is that of run 1
    let domain = Domain { arms: 10, budget: 2, ..Domain::two_state() };
    let test = domain.generate(10_001).unwrap().split_off(8);
    let of = |(k, instance): (usize, &restive::Instance)| {
        let setting = Setting {
            motion: instance.truth().unwrap().view().into(),
            reward: instance.reward().into(),
            discount: 0.99,
            budget: 2,
            horizon: 9,
        };
        let noise = 2 * 10_001 + k as u64;
        values(&setting, &Initial::Uniform, &Policy::Random, 1000, noise).mean().unwrap()
    };
    let expected = test.iter().enumerate().map(of).sum::<f64>() / 2.0;
    let random = found("two-state", 1, "random", "strict_true", 0)[0];
    assert!((random - expected).abs() < 1e-9, "{random}, expected {expected}");
}

#[test]
fn a_run_that_was_lost_is_made_again_and_threads_change_nothing() {
    let folder = cli();
    let command = format!("{TINY} --domain two-state --runs 1");
    folder.run(&format!("{command} --threads 1 --out one")).success();
    folder.run(&format!("{command} --threads 3 --out three")).success();
    let table = |name: &str| fs::read_to_string(folder.path(name).join("quality.csv")).unwrap();
    let whole = table("one");
    assert_eq!(whole, table("three"));
    fs::remove_file(folder.path("one/units/quality/noise-0.1-0000.csv")).unwrap();
    fs::remove_file(folder.path("one/quality.csv")).unwrap();
    folder.run(&format!("{command} --out one")).success();
    assert_eq!(whole, table("one"));
}

#[test]
fn the_effect_model_has_no_published_training() {
    let folder = cli();
    folder.run(&format!("{TINY} --domain maternal --runs 1 --out q")).success();
    let rows = rows(&folder, "q/quality.csv");
    assert!(rows.iter().all(|row| row.0 == "maternal-effect" && row.5.is_finite()));
    let has = |method: &str| rows.iter().any(|row| row.2 == method);
    assert!(has("decision-focused-recommended") && has("decision-focused-control"));
    assert!(!has("two-stage") && !has("decision-focused"));
    assert!(has("auto-horizon") && !has("single-effect"));
}
