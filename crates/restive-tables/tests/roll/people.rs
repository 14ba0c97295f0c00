//! The tables of people for engines, against the library's records, pasts and latest states.

use crate::parquet::write_parquet;
use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, UInt32Type};
use arrow_array::{Array, RecordBatch};
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use restive::data::features::Column;
use restive::evaluation::{Record, latest};
use restive::history::Past;
use restive::instance::{NO_ACTION, Observation, UNSEEN};
use restive_tables::{Roll, Study, write_people};
use restive_testkit::random_study::{Observed, RandomStudy};
use std::fs::File;
use std::path::Path;

fn read(path: &Path) -> Vec<RecordBatch> {
    let builder = ParquetRecordBatchReaderBuilder::try_new(File::open(path).unwrap()).unwrap();
    builder.build().unwrap().collect::<Result<_, _>>().unwrap()
}

#[test]
fn everybody_has_a_row_that_says_what_the_library_says() {
    let folder = tempfile::tempdir().unwrap();
    let mut rows = 0;
    for seed in 0..50 {
        write_parquet(&RandomStudy::new(seed, Observed::Always), &folder.path().join("s"), 10);
        let study = Study::read(&folder.path().join("s")).unwrap();
        let roll = Roll::read(&folder.path().join("s")).unwrap();
        let out = folder.path().join(format!("people {seed}"));
        write_people(&roll, &out, 3).unwrap();
        let mut names: Vec<(String, String)> = Vec::new();
        for file in 0..3 {
            for batch in read(&out.join(format!("part-{file:04}.parquet"))) {
                check(&batch, &study, &mut names);
            }
        }
        rows += names.len();
        names.sort();
        let count = names.len();
        names.dedup();
        assert_eq!((names.len(), count), (roll.people(), roll.people()), "everybody, once");
        assert!(write_people(&roll, &out, 3).is_err(), "a folder that is there stays");
    }
    assert!(rows > 500);
}

fn check(batch: &RecordBatch, study: &Study, names: &mut Vec<(String, String)>) {
    let text = |name: &str| batch.column_by_name(name).unwrap().as_string::<i32>().clone();
    let whole = |name: &str, row: usize| {
        let column = batch.column_by_name(name).unwrap().as_primitive::<UInt32Type>();
        column.is_valid(row).then(|| column.value(row))
    };
    let m = study.settings.reward.states();
    for row in 0..batch.num_rows() {
        let (instance, arm) = (text("instance").value(row).to_string(), text("arm").value(row).to_string());
        let there = study.instances.iter().find(|there| there.name == instance).unwrap();
        let i = there.arms.iter().position(|other| *other == arm).unwrap();
        names.push((instance, arm));
        for (name, column) in there.features.names().iter().zip(there.features.columns()) {
            match column {
                Column::Number(values) => {
                    let cells = batch.column_by_name(name).unwrap().as_primitive::<Float64Type>().clone();
                    assert_eq!(cells.is_null(row), values[i].is_nan());
                    assert!(cells.is_null(row) || cells.value(row) == values[i]);
                }
                Column::Text(values) => {
                    let cells = text(name);
                    assert_eq!(cells.is_valid(row).then(|| cells.value(row)), values[i].as_deref());
                }
            }
        }
        let part = batch.column_by_name("split").map(|cells| cells.as_string::<i32>().value(row).to_string());
        assert_eq!(part.as_deref(), there.split.as_ref().map(|split| split[i].name()));

        let log = there.trajectories.select_arms(&[i]);
        assert_eq!(whole("state", row), latest(&log, Observation::Full)[0].map(u32::from));
        let record = Record::from_log(&log, Observation::Full);
        let moves = record.moves().unwrap();
        for (s, a, next) in
            (0..m).flat_map(|s| (0..2).flat_map(move |a| (0..m).map(move |next| (s, a, next))))
        {
            let count = moves.view()[[0, s, a, next]];
            assert_eq!(whole(&format!("moves_{s}_{a}_{next}"), row).map(f64::from), Some(count));
        }
        let begins: Vec<u32> = (0..m).map(|s| whole(&format!("begins_{s}"), row).unwrap()).collect();
        let total: u32 = begins.iter().sum();
        if m == 2 {
            let share = (total > 0).then(|| f64::from(begins[1]) / f64::from(total));
            assert_eq!(Past::new(&log, Observation::Full).first[0], share);
        }
        // periods one by one, backwards from the step that is planned
        let (last, steps) = (log.trajectories() - 1, log.steps());
        let everybody = &there.trajectories;
        let is_any = |t: usize| {
            let decided = (0..everybody.arms()).any(|i| everybody.action()[[last, t, i]] != NO_ACTION);
            let seen = (0..everybody.arms()).any(|i| everybody.state()[[last, t, i]] != UNSEEN);
            if decided { Some(t + 1) } else { seen.then_some(t) }
        };
        let now = (0..steps).rev().find_map(is_any).unwrap_or(0);
        let periods: Vec<(usize, usize)> = (0..=last).flat_map(|j| (0..steps).map(move |t| (j, t))).collect();
        let since = |(j, t): (usize, usize)| ((last - j) * steps + now.saturating_sub(t)) as u32;
        let seen = periods.iter().rev().find(|(j, t)| log.state()[[*j, *t, 0]] != UNSEEN);
        assert_eq!(whole("last_seen", row), seen.map(|at| since(*at)));
        let called = periods.iter().rev().find(|(j, t)| log.action()[[*j, *t, 0]] == 1);
        assert_eq!(whole("last_call", row), called.map(|(j, t)| since((*j, *t + 1))));
        let calls = log.action().iter().filter(|a| **a == 1).count() as u32;
        assert_eq!(whole("calls", row), Some(calls));
    }
}

#[test]
fn a_feature_that_is_called_as_the_log_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    write("study.toml", "states = 2\ndiscount = 0.9\nbudget = 1\nhorizon = 9\nbehaviour = \"uniform\"\n");
    write("arms.csv", "arm,calls\nAda,31\n");
    write("trajectories.csv", "trajectory,t,arm,state,action\n1,0,Ada,0,1\n");
    let roll = Roll::read(folder.path()).unwrap();
    let said = write_people(&roll, &folder.path().join("out"), 1).unwrap_err().to_string();
    assert!(said.contains("found a feature called calls, expected another name"), "{said}");
    assert!(!folder.path().join("out").exists());
}
