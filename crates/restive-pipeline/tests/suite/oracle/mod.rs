//! Recorded plans and models, and the naive reader: oracles for the modes of execution.
//!
//! | file | contents |
//! |---|---|
//! | `plan_cases` | random studies, six kinds of rules, two policies, models of four kinds |
//! | `plan_record` | a plan as JSON |
//! | `plan_naive` | facts of a plan that follow from the rows of the study, by the naive reader |
//! | `plans` | plans in memory, of a stream and of partitions, against the records, to the last digit against each other |
//! | `model_cases` | logistic models, networks and pools on random studies |
//! | `model_record` | a model as JSON: predictions, weights, card, warnings |
//! | `model_naive` | facts of a model that follow from the rows of the study |
//! | `models` | models trained in memory, of a stream and of partitions, against the records |
//!
//! `tests/recorded/*.json` contains one record per line, and in its header the commit that it was recorded from. Every mode is compared
//! with the record and with the naive reader: a fault that two modes share is found. Only identity of all digits of a plan across modes is
//! a comparison of modes. `passing` records warnings and refusals of trainings, and contents of studies, likewise.
//!
//! Names, order and integers must be equal. Numbers were recorded with 12 significant digits and may differ by the relative tolerance of
//! their suite, because `exp` and `ln` differ by one unit in the last place between machines; [`ABSOLUTE`] is for differences of numbers
//! near 1. Recording makes each result several times, from inputs that are changed by [`LAST_DIGITS`]. A number that this changes by more
//! than the tolerance is recorded as [`UNDETERMINED`] and not compared. It may occur in certificates, because the search for prices ends
//! elsewhere after other rounding errors, but not in lists: their studies are chosen so that all numbers are determined.
//!
//! To record anew, from committed sources:
//!
//!     cargo test --workspace --test suite -- --ignored record_
//!
//! Records contain notes and warnings. A commit that changes their words replaces these words in the records and records nothing anew.
//!
//! `scripts/deliberate-faults` inserts a dropped row, a partial result that is merged twice and a tie that is broken by position into the
//! product, one by one, and demands that these tests find each of them.

mod model_cases;
mod model_naive;
mod model_record;
mod models;
mod plan_cases;
mod plan_naive;
mod plan_record;
mod plans;

pub use plan_cases::{rules as rules_of_kind, trained as trained_on};
use rayon::{ThreadPool, ThreadPoolBuilder};
use restive_testkit::Chance;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;

/// Difference that is allowed between numbers of any size.
const ABSOLUTE: f64 = 1e-11;

/// Record of a number that last digits of the inputs change.
const UNDETERMINED: &str = "undetermined";

/// Relative change of inputs by a few units in the last place.
const LAST_DIGITS: f64 = 1e-15;

/// Pools of 1 to 5 threads.
pub static POOLS: LazyLock<Vec<ThreadPool>> = LazyLock::new(|| {
    (1..=5).map(|threads| ThreadPoolBuilder::new().num_threads(threads).build().unwrap()).collect()
});

fn path(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/recorded").join(name)
}

/// Reads the records of a file by name.
pub fn read_records(name: &str) -> BTreeMap<String, Value> {
    let text = std::fs::read_to_string(path(name)).unwrap();
    let file: Value = serde_json::from_str(&text).unwrap();
    file["records"].as_object().unwrap().clone().into_iter().collect()
}

/// Writes records, one per line. The sources of the crates must be committed.
pub fn write_records(name: &str, records: &[(String, Value)]) {
    let git = |arguments: &[&str]| {
        let output = Command::new("git").args(arguments).current_dir(env!("CARGO_MANIFEST_DIR")).output();
        String::from_utf8(output.unwrap().stdout).unwrap().trim().to_string()
    };
    let changed = git(&["status", "--porcelain", "--", ":/crates/*/src"]);
    assert!(
        changed.is_empty(),
        "found sources that are not committed, expected a commit to record from: {changed}"
    );
    let header = json!({
        "commit": git(&["rev-parse", "--short=10", "HEAD"]),
        "how": "cargo test --workspace --test suite -- --ignored record_",
        "mode": "in memory",
        "significant_digits": DIGITS,
    });
    let lines =
        records.iter().map(|(name, record)| format!("{}:{}", json!(name), significant(record, DIGITS)));
    let lines: Vec<String> = lines.collect();
    let text = format!("{{\"header\":{header},\n\"records\":{{\n{}\n}}}}\n", lines.join(",\n"));
    std::fs::create_dir_all(path("")).unwrap();
    std::fs::write(path(name), text).unwrap();
}

/// Significant digits of recorded numbers.
const DIGITS: usize = 12;

/// Rounds all numbers to significant digits.
pub fn significant(value: &Value, digits: usize) -> Value {
    match value {
        Value::Number(number) if number.is_f64() => json!(rounded(number.as_f64().unwrap(), digits)),
        Value::Array(all) => all.iter().map(|value| significant(value, digits)).collect(),
        Value::Object(all) => {
            all.iter().map(|(key, value)| (key.clone(), significant(value, digits))).collect()
        }
        value => value.clone(),
    }
}

/// Rounds a number to significant digits.
pub fn rounded(x: f64, digits: usize) -> f64 {
    format!("{x:.*e}", digits - 1).parse().unwrap()
}

/// First difference between a result and its record; `None` if numbers agree within the tolerance of their place and all else is equal.
pub fn difference(
    found: &Value,
    recorded: &Value,
    tolerance: fn(&str) -> f64,
    place: &str,
) -> Option<String> {
    match (found, recorded) {
        (Value::Number(a), Value::Number(b)) if a.is_f64() && b.is_f64() => {
            let (a, b) = (a.as_f64().unwrap(), b.as_f64().unwrap());
            let is_near = (a - b).abs() <= tolerance(place) * b.abs() + ABSOLUTE;
            (!is_near).then(|| format!("{place}: found {a}, expected {b}"))
        }
        (Value::Array(a), Value::Array(b)) if a.len() == b.len() => {
            let pairs = a.iter().zip(b).enumerate();
            pairs.into_iter().find_map(|(k, (a, b))| difference(a, b, tolerance, &format!("{place}[{k}]")))
        }
        (Value::Object(a), Value::Object(b)) if a.keys().eq(b.keys()) => {
            a.iter().find_map(|(key, a)| difference(a, &b[key], tolerance, &format!("{place}.{key}")))
        }
        (_, Value::String(text)) if text == UNDETERMINED => None,
        (found, recorded) => {
            (found != recorded).then(|| format!("{place}: found {found}, expected {recorded}"))
        }
    }
}

/// Factor that changes the last digits of the k-th number, up or down by a pattern.
pub fn changed_digits(k: usize, pattern: usize) -> f64 {
    1.0 + if k.is_multiple_of(pattern) { LAST_DIGITS } else { -LAST_DIGITS }
}

/// First of several results, without the numbers in which the others differ from it.
pub fn determined(results: &[Value], tolerance: fn(&str) -> f64, place: &str) -> Value {
    let (first, others) = results.split_first().unwrap();
    let parts = |part: &dyn Fn(&Value) -> Value, place: &str| {
        let parts: Vec<Value> = results.iter().map(part).collect();
        determined(&parts, tolerance, place)
    };
    match first {
        Value::Array(all)
            if others.iter().all(|other| other.as_array().is_some_and(|o| o.len() == all.len())) =>
        {
            (0..all.len()).map(|k| parts(&|value| value[k].clone(), &format!("{place}[{k}]"))).collect()
        }
        Value::Object(all) => {
            let part = |key: &String| parts(&|value| value[key].clone(), &format!("{place}.{key}"));
            all.keys().map(|key| (key.clone(), part(key))).collect()
        }
        _ if others.iter().all(|other| difference(other, first, tolerance, place).is_none()) => first.clone(),
        _ => json!(UNDETERMINED),
    }
}

/// Puts the rows of both tables of a study in random order. No cell contains a line break.
pub fn shuffle_rows(folder: &Path, seed: u64) {
    let mut chance = Chance::new(seed);
    for name in ["arms.csv", "trajectories.csv"] {
        let path = folder.join(name);
        let text = std::fs::read_to_string(&path).unwrap();
        let (header, rows) = text.split_once('\n').unwrap();
        let mut rows: Vec<&str> = rows.lines().collect();
        chance.shuffle(&mut rows);
        std::fs::write(&path, format!("{header}\n{}\n", rows.join("\n"))).unwrap();
    }
}

#[test]
fn numbers_that_differ_between_results_are_not_recorded() {
    let results = [json!({"a": [1.5, 2.5], "b": "x", "c": 3}), json!({"a": [1.5, 2.6], "b": "x", "c": 4})];
    let record = determined(&results, |_| 1e-9, "");
    assert_eq!(record, json!({"a": [1.5, UNDETERMINED], "b": "x", "c": UNDETERMINED}));
    assert_eq!(difference(&results[1], &record, |_| 1e-9, ""), None);
}

/// A record differs from results with one other number, name, order or count.
#[test]
fn differences_are_found() {
    let recorded = json!({"list": [["a", 1.5], ["b", 0.25]], "arms": 7});
    let near = |_: &str| 1e-9;
    let changed =
        |from: &str, to: &str| serde_json::from_str(&recorded.to_string().replace(from, to)).unwrap();
    let difference = |found: Value| difference(&found, &recorded, near, "");
    assert_eq!(difference(changed("1.5", "1.500000001")), None);
    assert_eq!(
        difference(changed("1.5", "1.500000002")).unwrap(),
        ".list[0][1]: found 1.500000002, expected 1.5"
    );
    for (from, to) in [
        ("\"a\"", "\"b\""),
        ("7", "8"),
        ("7", "7.0"),
        ("1.5", "null"),
        (",[\"b\",0.25]", ""),
        ("arms", "arm"),
    ] {
        assert!(difference(changed(from, to)).is_some(), "{from} {to}");
    }
}
