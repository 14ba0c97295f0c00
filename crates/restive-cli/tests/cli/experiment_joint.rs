//! `restive experiment baselines` and `selection`, small.

use crate::harness::{Cli, cli, page_headings};
use std::fs;

/// (method, metric, axis, value) of a table with an axis.
fn cells(folder: &Cli, name: &str) -> Vec<(String, String, f64, f64)> {
    let text = fs::read_to_string(folder.path(name)).unwrap();
    let number = |cell: &str| if cell.is_empty() { f64::NAN } else { cell.parse().unwrap() };
    let row = |line: &str| {
        let cells: Vec<&str> = line.split(',').collect();
        let at = if cells.len() == 7 { number(cells[5]) } else { f64::NAN };
        (cells[3].to_string(), cells[4].to_string(), at, number(cells[cells.len() - 1]))
    };
    text.lines().skip(1).map(row).collect()
}

#[test]
fn the_joint_baselines_are_timed_and_valued() {
    let folder = cli();
    let command = "experiment baselines --quick --runs 2 --arms 6 --out e";
    let run = folder.run(command).success();
    let costs = cells(&folder, "e/baselines.csv");
    for method in ["implicit", "unrolled", "decision-focused"] {
        let timed: Vec<f64> = (costs.iter())
            .filter(|(of, metric, ..)| of == method && metric == "seconds")
            .map(|(.., arms, taken)| if *taken > 0.0 { *arms } else { f64::NAN })
            .collect();
        assert_eq!(timed, [2.0, 3.0, 4.0, 5.0, 6.0], "{method}");
    }
    // beyond some 20 arms nothing fits
    let refused: Vec<f64> =
        costs.iter().filter(|(_, metric, ..)| metric == "refused").map(|(.., arms, _)| *arms).collect();
    assert!(refused.len() == 2 && refused.iter().all(|arms| (15.0..35.0).contains(arms)), "{refused:?}");
    assert!(run.stdout.contains("refused"), "{}", run.stdout);

    let values = cells(&folder, "e/baselines-value.csv");
    let of = |method: &str| -> Vec<f64> {
        (values.iter())
            .filter(|(of, metric, ..)| of == method && metric == "exact")
            .map(|(.., value)| *value)
            .collect()
    };
    let best = of("optimum");
    assert_eq!(best.len(), 2);
    assert!(run.stdout.contains("optimum"), "{}", run.stdout);
    for method in ["random", "two-stage", "decision-focused-recommended", "oracle", "joint-oracle"] {
        assert!(of(method).iter().zip(&best).all(|(value, best)| *value <= best + 1e-9), "{method}");
    }
    for planner in ["implicit", "unrolled"] {
        let runs = of(planner);
        assert_eq!(runs.len(), 10, "five temperatures in each run");
        let is_below = |(k, value): (usize, &f64)| *value <= best[k / 5] + 1e-9;
        assert!(runs.iter().enumerate().all(is_below));
    }
    for name in ["baselines.png", "baselines.parquet", "baselines-value.svg", "report.html"] {
        assert!(folder.path("e").join(name).exists(), "{name}");
    }
    // what is there is not computed again
    let before = fs::read_to_string(folder.path("e/baselines.csv")).unwrap();
    folder.run(command).success();
    assert_eq!(fs::read_to_string(folder.path("e/baselines.csv")).unwrap(), before);
}

#[test]
fn who_is_called_is_told_in_shares_that_add_up() {
    let folder = cli();
    folder.run("experiment selection --quick --runs 2 --arms 40 --out e").success();
    let rows = cells(&folder, "e/selection.csv");
    let sum = |method: &str, feature: &str| -> f64 {
        let start = format!("share:{feature}=");
        (rows.iter())
            .filter(|(of, metric, ..)| of == method && metric.starts_with(&start))
            .map(|(.., value)| value)
            .sum()
    };
    for method in ["everyone", "two-stage", "decision-focused", "oracle"] {
        for feature in ["stage", "gestation", "poverty line", "language", "income", "call slot"] {
            assert!((sum(method, feature) - 2.0).abs() < 1e-9, "{method}: {feature}"); // two runs
        }
    }
    let pairs: Vec<_> =
        rows.iter().filter(|(method, ..)| method == "decision-focused and two-stage").collect();
    assert!(pairs.iter().any(|(_, metric, ..)| metric == "p:age"));
    assert!(pairs.iter().all(|(.., value)| (0.0..=1.0).contains(value)));
    let report = fs::read_to_string(folder.path("e/report.html")).unwrap();
    restive_testkit::assert_snapshot!("experiment-headings-selection", &page_headings(&report));
    // the same runs serve the other experiments
    folder.run("experiment bars --domain maternal --quick --runs 2 --arms 40 --out e").success();
    let bars = fs::read_to_string(folder.path("e/bars.csv")).unwrap();
    assert!(bars.contains("strict_true") && !bars.contains("share:"));
}
