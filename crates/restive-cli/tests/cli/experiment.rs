//! `restive experiment`: tidy tables, figures and a report, resumable at any instant.

use crate::harness::{Cli, assert_output, cli, page_headings, stderr};
use crate::running::start;
use restive::data::domain::Domain;
use restive::evaluation::Record;
use restive::policy::Policy;
use restive::simulation::{Initial, Setting, values};
use restive::training::{Config, fit};
use std::collections::BTreeMap;
use std::fs;
use std::time::Duration;

const BARS: &str = "experiment bars --domain two-state --arms 10 --runs 2 --seed 5";

/// (run, method, metric) → value.
fn table(text: &str) -> BTreeMap<(usize, String, String), f64> {
    let mut lines = text.lines();
    assert_eq!(lines.next(), Some("domain,run,seed,method,metric,value"));
    let row = |line: &str| {
        let cells: Vec<&str> = line.split(',').collect();
        assert_eq!(
            (cells[0], cells[2].parse::<usize>().unwrap()),
            ("two-state", 5 + cells[1].parse::<usize>().unwrap())
        );
        ((cells[1].parse().unwrap(), cells[3].into(), cells[4].into()), cells[5].parse().unwrap())
    };
    lines.map(row).collect()
}

#[test]
fn the_bars_are_those_of_the_library() {
    let folder = cli();
    let run = folder.run(&format!("{BARS} --out e")).success();
    assert_output("experiment-bars", &[&run]);
    let rows = table(&fs::read_to_string(folder.path("e/bars.csv")).unwrap());
    let of = |run: usize, method: &str, metric: &str| rows[&(run, method.to_string(), metric.to_string())];
    for run in 0..2 {
        let seed = 5 + run as u64;
        let instances = Domain { arms: 10, budget: 2, ..Domain::two_state() }.generate(seed).unwrap();
        let test = &instances[8..];
        let trained = fit(Config { seed, ..Config::published() }, &instances[..7], &instances[7..8]).unwrap();
        let loss = |instance: &restive::Instance| {
            Record::new(instance).loss(trained.predictor.predict(instance.features()).view()).per_trajectory
        };
        let expected = (loss(&test[0]) + loss(&test[1])) / 2.0;
        assert!((of(run, "two-stage", "loss") - expected).abs() < 1e-9 * expected);
        // random pulls on the truth, by rollouts of our own
        let random = |instance: &restive::Instance| {
            let setting = Setting {
                motion: instance.truth().unwrap().view().into(),
                reward: instance.reward().into(),
                discount: 0.99,
                budget: 2,
                horizon: 9,
            };
            values(&setting, &Initial::Uniform, &Policy::Random, 20_000, 77).mean().unwrap()
        };
        let expected = (random(&test[0]) + random(&test[1])) / 2.0;
        assert!((of(run, "random", "strict_true") - expected).abs() < 0.6, "{expected}");
        for better in ["two-stage", "decision-focused", "oracle"] {
            assert!(of(run, better, "strict_true") > of(run, "random", "strict_true"));
        }
        assert!(of(run, "random", "strict_true") > of(run, "no-action", "strict_true"));
    }
    for name in ["bars.parquet", "bars.svg", "bars.png", "metric.csv", "metric.png", "report.html"] {
        assert!(fs::metadata(folder.path(&format!("e/{name}"))).unwrap().len() > 500, "{name}");
    }
    let report = fs::read_to_string(folder.path("e/report.html")).unwrap();
    restive_testkit::assert_page!("experiment-page", &report);
    // a constant changes no strict pull, and moves the soft metric
    let moved = fs::read_to_string(folder.path("e/metric.csv")).unwrap();
    let changed = moved.lines().filter(|line| line.contains(",changed,"));
    assert!(
        changed
            .map(|line| line.rsplit(',').next().unwrap())
            .all(|count| count.parse::<f64>().unwrap() == 0.0)
    );

    // drawn again from the tables alone, and other experiments of the same runs without training
    fs::remove_file(folder.path("e/report.html")).unwrap();
    fs::remove_file(folder.path("e/bars.png")).unwrap();
    folder.run("experiment report e").success();
    assert!(folder.path("e/bars.png").exists());
    assert_eq!(fs::read_to_string(folder.path("e/report.html")).unwrap(), report);
    folder.run("experiment curves --domain two-state --arms 10 --runs 2 --seed 5 --out e").success();
    let curves = fs::read_to_string(folder.path("e/curves.csv")).unwrap();
    assert!(curves.starts_with("domain,run,seed,method,metric,epoch,value\n"));
    let last = |line: &&str| line.starts_with("two-state,0,5,two-stage,loss,49.0,");
    let value: f64 = curves.lines().find(last).unwrap().rsplit(',').next().unwrap().parse().unwrap();
    assert_eq!(value, of(0, "two-stage", "loss"));
}

/// Runs a command that is killed and started again until it gets through.
fn run_killed(folder: &Cli, command: &str, patience: u64) {
    let mut kills = 0;
    loop {
        let mut child = start(folder, command);
        std::thread::sleep(Duration::from_millis(100 + patience * kills));
        if let Some(status) = child.try_wait().unwrap() {
            assert!(status.success(), "{}", std::io::read_to_string(child.stderr.take().unwrap()).unwrap());
            break;
        }
        child.kill().unwrap(); // SIGKILL
        child.wait().unwrap();
        kills += 1;
        assert!(kills < 200);
    }
    assert!(kills >= 2, "killed {kills} times");
}

#[test]
fn killed_again_and_again_it_ends_in_the_same_table() {
    let folder = cli();
    folder.run(&format!("{BARS} --out whole --threads 1")).success();
    run_killed(&folder, &format!("{BARS} --out killed"), 150);
    for name in ["bars.csv", "metric.csv", "report.html"] {
        let of = |out: &str| fs::read_to_string(folder.path(&format!("{out}/{name}"))).unwrap();
        assert!(of("whole") == of("killed"), "{name}");
    }
    // more runs later: the first are as they were
    folder.run(&format!("{} --out whole", BARS.replace("--runs 2", "--runs 3"))).success();
    let bars = |out: &str| fs::read_to_string(folder.path(&format!("{out}/bars.csv"))).unwrap();
    let (two, three) = (bars("killed"), bars("whole"));
    let kept: Vec<&str> = three.lines().filter(|line| !line.starts_with("two-state,2,")).collect();
    assert_eq!(kept, two.lines().collect::<Vec<_>>());
}

#[test]
fn all_of_the_paper_is_one_command_which_may_be_killed() {
    let folder = cli();
    let all = "experiment all --quick --arms 10 --runs 1";
    folder.run(&format!("{all} --out whole --threads 1")).success();
    run_killed(&folder, &format!("{all} --out killed"), 1000);
    let text = |out: &str, name: &str| fs::read_to_string(folder.path(&format!("{out}/{name}.csv"))).unwrap();
    for name in ["bars", "metric", "curves", "limited-data", "baselines-value", "selection"] {
        assert!(text("whole", name) == text("killed", name), "{name}");
    }
    for name in ["cost-arms", "cost-states", "baselines"] {
        assert!(text("killed", name).contains(",seconds,"), "{name}"); // no two timings are the same
    }
    let report = fs::read_to_string(folder.path("killed/report.html")).unwrap();
    restive_testkit::assert_snapshot!("experiment-headings", &page_headings(&report));
    for name in ["bars", "metric", "curves", "limited-data", "cost-arms", "baselines", "selection"] {
        let svg = fs::read_to_string(folder.path(&format!("killed/{name}.svg"))).unwrap();
        assert!(!svg.contains("<text"), "{name}: letters are outlines");
        assert!(fs::metadata(folder.path(&format!("killed/{name}.png"))).unwrap().len() > 5000, "{name}");
    }
}

#[test]
fn a_unit_that_is_not_whole_is_computed_again_and_other_domains_stay() {
    let folder = cli();
    let bars = |domain: &str, more: &str| {
        let command = format!("experiment bars --domain {domain} --arms 10 --runs 2 --quick --out e {more}");
        stderr(&folder.run(&command).success())
    };
    bars("two-state", "");
    let text = |name: &str| fs::read_to_string(folder.path(name)).unwrap();
    let (whole, unit) = (text("e/bars.csv"), "e/units/comparison/two-state-0001.csv");
    let kept = text(unit);
    let copied = text("e/units/comparison/two-state-0000.csv");
    let cut: String = kept.split_inclusive('\n').take(20).collect();
    for damaged in [&kept[..900], &cut, &copied, ""] {
        fs::write(folder.path(unit), damaged).unwrap();
        let said = bars("two-state", "");
        assert!(said.contains("two-state-0001.csv: not whole"), "{said}");
        assert!(text("e/bars.csv") == whole && text(unit) == kept);
    }
    // another domain, or fewer runs, take nothing away
    bars("five-state", "--threads 1");
    let both = text("e/bars.csv");
    assert!(both.starts_with(&whole) && both.contains("five-state,1,"));
    let fewer = "experiment bars --domain two-state --arms 10 --runs 1 --quick --out e";
    let run = folder.run(fewer).success();
    assert!(text("e/bars.csv") == both);
    assert_output("experiment-quick", &[&run]);
}

#[test]
fn what_does_not_fit_is_refused() {
    let folder = cli();
    let message = stderr(&folder.run("experiment report nowhere").code(1));
    assert!(message.contains("nowhere") && message.contains("expected a folder of results"), "{message}");
    fs::create_dir(folder.path("other")).unwrap();
    fs::write(folder.path("other/mine.txt"), "x").unwrap();
    let message = stderr(&folder.run(&format!("{BARS} --out other")).code(1));
    assert!(message.contains("other files"), "{message}");
    fs::create_dir(folder.path("e")).unwrap();
    let settings = r#"{"restive": "0.0.0", "seed": 1, "profile": "published", "is_quick": false}"#;
    fs::write(folder.path("e/experiment.json"), settings).unwrap();
    let message = stderr(&folder.run(&format!("{BARS} --out e")).code(1));
    assert!(message.contains("results of other settings (restive 0.0.0"), "{message}");
    assert_eq!(message.lines().count(), 1);
    let message = stderr(&folder.run("experiment curves --profile recommended --out n").code(2));
    assert!(message.contains("expected published or paper"), "{message}");
    for (name, domain, expected) in [
        ("cost-arms", "two-state", "times random arms of no domain"),
        ("selection", "two-state", "selection has nothing to tell; expected maternal"),
        ("limited-data", "maternal", "expected two-state, five-state, collapsing"),
        ("baselines", "five-state", "expected two-state"),
    ] {
        let message = stderr(&folder.run(&format!("experiment {name} --domain {domain} --out n")).code(2));
        assert!(message.contains(expected), "{message}");
        assert!(!folder.path("n").exists());
    }
}
