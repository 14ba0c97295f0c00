//! Models trained in memory, of a stream and of partitions, against the records and the naive reader.

use super::model_cases::{ModelCase, model_cases};
use super::model_naive::assert_model;
use super::model_record::record;
use super::{POOLS, UNDETERMINED, changed_digits, determined, difference, read_records, write_records};
use crate::partition::passes::{deal, people_table, train_by_partitions};
use restive::data::features::{Column, Features};
use restive_pipeline::{Asked, Begun, Error, PassingTraining, Trained, Training};
use restive_tables::{Roll, Study, write_people};
use restive_testkit::Chance;
use restive_testkit::naive_study::NaiveStudy;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;

const FILE: &str = "models.json";

/// A model, and the warnings of its training.
type Warned = (Trained, Vec<String>);

fn in_memory(study: &Study, asked: &Asked) -> Warned {
    let training = Training::new(study, asked, "a study").unwrap();
    let run = training.run(Default::default(), None, |_| Ok::<_, Error>(())).unwrap();
    let warnings = training.warnings.iter().map(ToString::to_string).collect();
    (Trained::new(training.model(run.members, run.histories)).unwrap(), warnings)
}

/// Trains a model of a stream, on the threads of the caller's pool.
fn of_stream(folder: &Path, asked: &Asked, rows: usize) -> Warned {
    let mut roll = Roll::read(folder).unwrap();
    roll.limit_pieces(rows);
    let Begun::Passing(training) = PassingTraining::begin(roll, asked, "a study").unwrap() else {
        panic!("found a study that is too wide, expected one that can be streamed")
    };
    let run = training.run(Default::default(), None, |_| Ok::<_, Error>(())).unwrap();
    let warnings = training.warnings.iter().map(ToString::to_string).collect();
    (Trained::new(training.model(run.members, run.histories).unwrap()).unwrap(), warnings)
}

/// A model must be the recorded one, and fit the rows of the study. Partitions do not record what own records are worth, and have no
/// fingerprint.
fn assert_recorded(
    (trained, warnings): &Warned,
    records: &BTreeMap<String, Value>,
    folder: &Path,
    case: &ModelCase,
    context: &str,
) {
    let context = format!("{}, {context}", case.name);
    let mut recorded = records[&case.name].clone();
    if trained.model.card.own_record.is_none() {
        recorded["own_record"] = Value::Null;
        recorded["fingerprint"] = "".into();
    }
    let found = record(trained, warnings, folder);
    assert_eq!(difference(&found, &recorded, case.tolerance(), ""), None, "{context}");
    assert_model(trained, &NaiveStudy::read(folder), &context);
}

#[test]
fn models_in_memory_are_the_recorded_ones() {
    let (folder, records) = (tempfile::tempdir().unwrap(), read_records(FILE));
    let cases = model_cases();
    assert_eq!(records.len(), cases.len());
    for (c, case) in cases.iter().enumerate() {
        let (order, threads) = (c % 2, 1 + c % 5);
        case.write(order, folder.path());
        let study = Study::read(folder.path()).unwrap();
        let trained = POOLS[threads - 1].install(|| in_memory(&study, &case.asked));
        assert!(trained.0.model.card.own_record.is_some(), "{}", case.name);
        assert_eq!(trained.0.model.card.fingerprint, study.fingerprint());
        assert_recorded(
            &trained,
            &records,
            folder.path(),
            case,
            &format!("order {order}, {threads} threads"),
        );
    }
}

/// Pieces of one arm, of a few and of all arms, with rows in two orders and 1 to 5 threads.
#[test]
fn models_of_a_stream_are_the_recorded_ones() {
    let (folder, records) = (tempfile::tempdir().unwrap(), read_records(FILE));
    let cases = model_cases();
    for (c, case) in cases.iter().filter(|case| case.is_logistic).enumerate() {
        for (k, rows) in [[1, usize::MAX], [2 + 5 * c, usize::MAX]][c % 2].into_iter().enumerate() {
            let (order, threads) = ((c + k) % 2, 1 + (c + 2 * k) % 5);
            case.write(order, folder.path());
            let train =
                |threads: usize| POOLS[threads - 1].install(|| of_stream(folder.path(), &case.asked, rows));
            let trained = train(threads);
            let context = format!("order {order}, pieces of {rows}, {threads} threads");
            assert!(trained.0.model.card.own_record.is_some(), "{}, {context}", case.name);
            assert_recorded(&trained, &records, folder.path(), case, &context);
            // the number of threads does not change a digit
            assert!(k == 0 || train(1 + threads % 5).0.model == trained.0.model, "{}, {context}", case.name);
        }
    }
}

/// 1 to 7 partitions, some of them empty or with nearly all arms, with rows in two orders and 1 to 5 threads.
#[test]
fn models_of_partitions_are_the_recorded_ones() {
    let (folder, records) = (tempfile::tempdir().unwrap(), read_records(FILE));
    let cases = model_cases();
    for (c, case) in cases.iter().filter(|case| case.is_logistic && case.has_split).enumerate() {
        let (order, parts, threads) = (c % 2, 1 + c % 7, 1 + (2 * c) % 5);
        let mut chance = Chance::new(c as u64);
        let (there, people) = (folder.path().join("study"), folder.path().join(format!("people {c}")));
        case.write(order, &there);
        let roll = Roll::read(&there).unwrap();
        write_people(&roll, &people, 3).unwrap();
        let settings = std::fs::read_to_string(there.join("study.toml")).unwrap();
        let most = [1, 40][c / 2 % 2];
        let dealt = deal(&people_table(&people), parts, most, &mut chance);
        let (trained, warnings, passes) = POOLS[threads - 1]
            .install(|| train_by_partitions(&case.asked, &settings, &dealt, &mut chance))
            .unwrap();
        let context = format!("order {order}, {parts} partitions, batches of {most}, {threads} threads");
        assert!(passes < 200, "{}, {context}: {passes} passes", case.name);
        assert!(trained.model.card.own_record.is_none(), "{}, {context}", case.name);
        assert_recorded(&(trained, warnings), &records, &there, case, &context);
    }
}

/// The record detects one missing row of the log of an arm that is learnt from.
#[test]
fn model_of_a_study_without_one_row_is_not_the_recorded_one() {
    let (folder, records) = (tempfile::tempdir().unwrap(), read_records(FILE));
    let cases = model_cases();
    let case = cases.iter().find(|case| case.name == "effect, learnable 0").unwrap();
    case.write(0, folder.path());
    let naive = NaiveStudy::read(folder.path());
    let path = folder.path().join("trajectories.csv");
    let text = std::fs::read_to_string(&path).unwrap();
    let is_learnt_from = |line: &str| {
        let cells: Vec<&str> = line.split(',').collect();
        let arm = &naive.arms[&(cells[0].to_string(), cells[3].to_string())];
        arm.split.as_deref() == Some("train") && cells[2] == "1" && !cells[4].is_empty()
    };
    let dropped = text.lines().skip(1).find(|line| is_learnt_from(line)).unwrap();
    std::fs::write(&path, text.replacen(&format!("{dropped}\n"), "", 1)).unwrap();
    let (trained, warnings) = of_stream(folder.path(), &case.asked, 9);
    let mut expected = records[&case.name].clone();
    expected["fingerprint"] = trained.model.card.fingerprint.clone().into();
    let found = record(&trained, &warnings, folder.path());
    assert!(difference(&found, &expected, case.tolerance(), "").is_some());
    assert!(std::panic::catch_unwind(|| assert_model(&trained, &naive, "")).is_err());
}

/// Record of a model, with studies whose last digits differ.
fn determined_record(case: &ModelCase, folder: &Path) -> Value {
    let study = Study::read(folder).unwrap();
    let record = |study: &Study| {
        let (trained, warnings) = in_memory(study, &case.asked);
        record(&trained, &warnings, folder)
    };
    let mut records = vec![record(&study)];
    for pattern in 2..4 {
        let mut changed = record(&with_changed_digits(&study, pattern));
        changed["fingerprint"] = records[0]["fingerprint"].clone();
        records.push(changed);
    }
    determined(&records, case.tolerance(), "")
}

#[test]
#[ignore = "writes the records anew"]
fn record_models() {
    let folder = tempfile::tempdir().unwrap();
    let mut records = Vec::new();
    for case in model_cases() {
        case.write(0, folder.path());
        let study = Study::read(folder.path()).unwrap();
        assert_model(&in_memory(&study, &case.asked).0, &NaiveStudy::read(folder.path()), &case.name);
        let record = determined_record(&case, folder.path());
        let undetermined = record.to_string().matches(UNDETERMINED).count();
        println!("{}: {undetermined} undetermined", case.name);
        records.push((case.name, record));
    }
    assert!(records.iter().all(|(_, record)| !record.to_string().contains(UNDETERMINED)));
    write_records(FILE, &records);
}

/// Study with changed last digits of all numbers of the features.
fn with_changed_digits(study: &Study, pattern: usize) -> Study {
    let mut study = study.clone();
    for there in &mut study.instances {
        let columns = there.features.columns().iter().map(|column| match column {
            Column::Number(values) => {
                let change = |(i, x): (usize, &f64)| x * changed_digits(i, pattern);
                Column::Number(values.iter().enumerate().map(change).collect())
            }
            text => text.clone(),
        });
        // zeros and ones stay a column of zeros and ones
        let columns = there.features.columns().iter().zip(columns).map(|(column, changed)| match column {
            Column::Number(values) if values.iter().all(|x| x.is_nan() || *x == 0.0 || *x == 1.0) => {
                column.clone()
            }
            _ => changed,
        });
        let columns = there.features.names().iter().cloned().zip(columns).collect();
        there.features = Features::new(there.arms.len(), columns).unwrap();
    }
    study
}
