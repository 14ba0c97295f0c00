//! `restive experiment limited-data`, `cost-arms` and `cost-states`: the shape of their tables, and what is dotted.

use crate::harness::{Cli, cli, page_headings};
use std::collections::BTreeSet;
use std::fs;

/// A table by lines and cells, without its header.
fn table(folder: &Cli, path: &str, header: &str) -> Vec<Vec<String>> {
    let text = fs::read_to_string(folder.path(path)).unwrap();
    let (first, rest) = text.split_once('\n').unwrap();
    assert_eq!(first, header);
    rest.lines().map(|line| line.split(',').map(String::from).collect()).collect()
}

fn column(rows: &[Vec<String>], k: usize) -> BTreeSet<&str> {
    rows.iter().map(|row| row[k].as_str()).collect()
}

#[test]
fn limited_data_has_a_row_for_every_number_of_trajectories() {
    let folder = cli();
    folder.run("experiment limited-data --arms 10 --runs 2 --out out").success();
    let rows = table(&folder, "out/limited-data.csv", "domain,run,seed,method,metric,trajectories,value");
    assert_eq!(column(&rows, 0), BTreeSet::from(["two-state"]));
    assert_eq!(column(&rows, 3), BTreeSet::from(["decision-focused", "two-stage"]));
    assert_eq!(column(&rows, 4), BTreeSet::from(["is", "simulated", "strict_simulated", "strict_true"]));
    let numbers: BTreeSet<u32> = rows.iter().map(|row| row[5].parse::<f64>().unwrap() as u32).collect();
    assert_eq!(numbers, BTreeSet::from([1, 2, 5, 10, 20, 50, 100]));
    assert_eq!(rows.len(), 2 * 2 * 4 * 7);
    assert!(rows.iter().all(|row| row[6].parse::<f64>().unwrap().is_finite()));
    for ending in ["svg", "png", "parquet"] {
        assert!(folder.path(&format!("out/limited-data.{ending}")).exists());
    }
    let page = fs::read_to_string(folder.path("out/report.html")).unwrap();
    restive_testkit::assert_snapshot!("experiment-headings-limited-data", &page_headings(&page));
    let text = restive_testkit::page_text::page_text(&page);
    assert!(text.contains("p (t)") && text.contains("p (Wilcoxon)"), "{text}");
}

#[test]
fn the_roads_of_the_costs_are_timed() {
    let folder = cli();
    folder.run("experiment cost-arms --arms 30 --out out").success();
    let rows = table(&folder, "out/cost-arms.csv", "domain,run,seed,method,metric,arms,value");
    assert_eq!(column(&rows, 3), BTreeSet::from(["bisection", "fast", "fast-decomposed", "fast-fluid"]));
    assert_eq!(column(&rows, 4), BTreeSet::from(["seconds"]));
    assert!(column(&rows, 5).contains("10.0") || column(&rows, 5).contains("10"));
    assert!(rows.iter().all(|row| row[6].parse::<f64>().unwrap() > 0.0));

    folder.run("experiment cost-states --arms 10 --out out").code(1); // other settings
    folder.run("experiment cost-states --arms 30 --out out").success();
    let rows = table(&folder, "out/cost-states.csv", "domain,run,seed,method,metric,states,value");
    assert_eq!(column(&rows, 3), BTreeSet::from(["bisection", "fast"]));
    let page = fs::read_to_string(folder.path("out/report.html")).unwrap();
    restive_testkit::assert_snapshot!("experiment-headings-costs", &page_headings(&page));
}

/// A made-up table: what is drawn must not hang on how fast the machine is.
fn drawn(bisection: &[(u32, f64)]) -> String {
    let folder = cli();
    folder.run("experiment cost-arms --arms 100 --out out").success();
    let fast = [(10, 1e-4), (30, 3e-4), (100, 1e-3)];
    let mut text = String::from("domain,run,seed,method,metric,arms,value\n");
    for (method, points) in [("fast", &fast[..]), ("bisection", bisection)] {
        points.iter().for_each(|(n, s)| text += &format!("random,0,0,{method},seconds,{n},{s}\n"));
    }
    folder.write("out/cost-arms.csv", text);
    folder.run("experiment report out").success();
    fs::read_to_string(folder.path("out/report.html")).unwrap()
}

#[test]
fn a_road_is_continued_only_past_the_limit() {
    let dotted = |page: &str| page.matches("class=\"more\"").count();
    // the theoretical line is always dotted; the limit is 0.02 s where arms are few
    let whole = drawn(&[(10, 1e-3), (30, 3e-3), (100, 1e-2)]);
    let stopped = drawn(&[(10, 1e-2), (30, 3e-2)]);
    assert_eq!(dotted(&stopped), dotted(&whole) + 2); // a page has a drawing for a desk and one for a phone
    // slow, but at the largest size there is nothing to continue to
    assert_eq!(dotted(&drawn(&[(10, 1e-3), (30, 1e-2), (100, 3e-2)])), dotted(&whole));
    assert!(stopped.contains("exponent of the last decade") && stopped.contains("1.00"));
}
