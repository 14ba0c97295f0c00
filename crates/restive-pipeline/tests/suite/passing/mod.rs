//! Warnings and refusals of trainings in memory and of a stream, against records; contents of studies; samples of the doctor.

mod contents;
pub mod made;

use crate::oracle::{difference, read_records, write_records};
use made::Made;
use restive::predictor::Precision;
use restive_pipeline::{
    Asked, Begun, Doctor, Error, PassingTraining, PredictorName, Progressed, Severity, Training,
};
use restive_tables::model::Model;
use restive_tables::{Roll, Study, arm_key};
use serde_json::{Value, json};
use std::path::Path;

const FILE: &str = "trainings.json";

fn effect() -> Asked {
    Asked { predictor: Some(PredictorName::Effect), ..Asked::default() }
}

fn hierarchical() -> Asked {
    Asked { predictor: Some(PredictorName::Hierarchical), ..Asked::default() }
}

/// A model, or why there is none, and what was warned of.
type Outcome = Result<(Model, Vec<String>), String>;

fn in_memory(folder: &Path, asked: &Asked) -> Outcome {
    let trained = || -> Result<(Model, Vec<String>), Error> {
        let training = Training::new(&Study::read(folder)?, asked, "a test")?;
        let Progressed { members, histories, .. } =
            training.run(Default::default(), None, |_| Ok::<_, Error>(()))?;
        let warnings = training.warnings.iter().map(ToString::to_string).collect();
        Ok((training.model(members, histories), warnings))
    };
    trained().map_err(|error| error.to_string())
}

fn passing(folder: &Path, asked: &Asked) -> Outcome {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
    let trained = || -> Result<(Model, Vec<String>), Error> {
        let begun = pool.install(|| PassingTraining::begin(Roll::read(folder)?, asked, "a test"))?;
        let Begun::Passing(training) = begun else { panic!("too wide") };
        let Progressed { members, histories, .. } =
            training.run(Default::default(), Some(&pool), |_| Ok::<_, Error>(()))?;
        let warnings = training.warnings.iter().map(ToString::to_string).collect();
        Ok((pool.install(|| training.model(members, histories))?, warnings))
    };
    trained().map_err(|error| error.to_string())
}

/// A training that warns or refuses.
struct Doubtful {
    name: &'static str,
    made: Made,
    asked: Asked,
    /// Key of the record that contains the message: `warnings` or `refused`.
    key: &'static str,
    /// Part of the message.
    part: &'static str,
}

/// Trainings that warn of, or refuse, what is wrong with a study or a request.
fn doubtful() -> Vec<Doubtful> {
    let given = Made { has_split: true, ..Made::default() };
    let changed = |changed: fn(usize, &str) -> String| Made { changed, ..given.clone() };
    let warned = |name, changed_line, part| {
        let (made, asked) = (changed(changed_line), effect());
        Doubtful { name, made, asked, key: "warnings", part }
    };
    let refused = |name, made, asked, part| Doubtful { name, made, asked, key: "refused", part };
    let numbered = |row: usize, line: &str| match row {
        0 => line.replace("income", "file"),
        row => {
            let cells: Vec<&str> = line.split(',').collect();
            format!("{},{},{},{},{}", cells[..3].join(","), 4000 + 3 * row, cells[4], cells[5], cells[6])
        }
    };
    let strange = |_: usize, line: &str| match line.ends_with(",test") {
        true => line.replacen("none at all", "shared", 1),
        false => line.into(),
    };
    let crowded = |row: usize, line: &str| line.replacen("own", &format!("own {row}"), 1);
    let constant = |row: usize, line: &str| {
        let cells: Vec<&str> = line.split(',').collect();
        let income = if row == 0 { cells[3] } else { "5" };
        format!("{},{income},{}", cells[..3].join(","), cells[4..].join(","))
    };
    let missing = |row: usize, line: &str| {
        let cells: Vec<&str> = line.split(',').collect();
        let is_missing = row > 0 && line.ends_with(",test") && row.is_multiple_of(3);
        let income = if is_missing { "" } else { cells[3] };
        format!("{},{income},{}", cells[..3].join(","), cells[4..].join(","))
    };
    let held_out = Asked { precision: Some(Precision::HeldOut { cap: 10.0 }), ..effect() };
    let no_validation = |_: usize, line: &str| line.replace(",validation", ",test");
    let nobody = |_: usize, line: &str| line.replace(",train", ",test");
    let unknown = Asked { drop: vec!["height".into()], ..effect() };
    let twice = Asked { ensemble: 2, ..hierarchical() };
    // hundreds of columns without meaning, few arms
    let lost = Made { people: vec![60], periods: 2, strength: 0.0, ..changed(crowded) };
    let loose = Asked { precision: Some(Precision::Fixed(1e-6)), ..effect() };
    let uncalled = Made { called: 0.0, ..given.clone() };
    vec![
        warned("identifier", numbered, "looks like an identifier"),
        // one arm that is not learnt from has it
        warned("unseen category", strange, "which no training arm has"),
        warned("many categories", crowded, "values among"),
        warned("missing values", missing, "44 arms without a value, which all training arms have"),
        refused("constant column", changed(constant), effect(), "--drop income"),
        refused("no validation part", changed(no_validation), held_out, "no validation part"),
        refused("no training part", changed(nobody), effect(), "split: "),
        refused("no pull", uncalled, effect(), "found no pull"),
        refused("unknown column", given.clone(), unknown, "expected a feature"),
        refused("equal fits", given.clone(), twice, "they are all the same"),
        refused("useless model", lost, loose, "worse than the bare frequencies"),
    ]
}

/// Result of a training as JSON. Numbers of models are compared with other records (`oracle::models`).
fn record(outcome: Outcome) -> Value {
    match outcome {
        Ok((Model { card, .. }, warnings)) => {
            let (configuration, fingerprint) = (card.configuration, card.fingerprint);
            json!({ "warnings": warnings, "configuration": configuration, "fingerprint": fingerprint })
        }
        Err(refused) => json!({ "refused": refused }),
    }
}

#[test]
fn warnings_and_refusals_in_memory_and_of_a_stream_are_the_recorded_ones() {
    let records = read_records(FILE);
    assert_eq!(records.len(), doubtful().len());
    for Doubtful { name, made, asked, key, part } in doubtful() {
        let folder = made.write();
        let found = [in_memory(folder.path(), &asked), passing(folder.path(), &asked)].map(record);
        for (found, mode) in found.iter().zip(["in memory", "stream"]) {
            let difference = difference(found, &records[name], |_| 1e-9, "");
            assert_eq!(difference, None, "{name}, {mode}");
            assert!(found[key].to_string().contains(part), "{name}, {mode}: {found}");
        }
    }
}

#[test]
#[ignore = "writes the records anew"]
fn record_trainings() {
    let record = |Doubtful { name, made, asked, .. }| {
        (String::from(name), record(in_memory(made.write().path(), &asked)))
    };
    write_records(FILE, &doubtful().into_iter().map(record).collect::<Vec<_>>());
}

#[test]
fn the_doctor_looks_at_those_with_the_smallest_keys() {
    // so many categories that a sample has too few people to each, and everybody has not
    let village = |row: usize, line: &str| line.replacen("own", &format!("own {}", row % 90), 1);
    let made = Made { people: vec![400, 300], trajectories: 2, changed: village, ..Made::default() };
    let folder = made.write();
    let (mut study, roll) = (Study::read(folder.path()).unwrap(), Roll::read(folder.path()).unwrap());
    let everybody = Doctor::new(&study);
    assert_eq!(Doctor::of_roll(&roll, 700).unwrap().findings, everybody.findings);

    let keys = |study: &Study| -> Vec<Vec<u64>> {
        let keys = study.instances.iter();
        keys.map(|there| there.arms.iter().map(|arm| arm_key(&there.name, arm)).collect()).collect()
    };
    let keys = keys(&study);
    let mut sorted = keys.concat();
    sorted.sort_unstable();
    for (there, keys) in study.instances.iter_mut().zip(keys) {
        let some: Vec<usize> = (0..keys.len()).filter(|i| keys[*i] < sorted[250]).collect();
        there.arms = some.iter().map(|i| there.arms[*i].clone()).collect();
        there.features = there.features.select_arms(&some);
        there.trajectories = there.trajectories.select_arms(&some);
        there.truth = None;
    }
    let (truth, found) = (Doctor::new(&study), Doctor::of_roll(&roll, 250).unwrap());
    let of_columns = truth.findings.iter().find(|finding| finding.name == "identifiers").unwrap();
    assert_eq!(of_columns.severity, Severity::Warning);
    for truth in &truth.findings {
        let found = found.findings.iter().find(|finding| finding.name == truth.name).unwrap();
        if ["coverage", "identifiers"].contains(&truth.name) {
            // counted over everybody
            let all = everybody.findings.iter().find(|finding| finding.name == truth.name);
            assert_eq!(Some(found), all);
            continue;
        }
        let said = truth.found.clone() + " (Looked at 250 people of 700, drawn by their names.)";
        assert_eq!((found.severity, &found.found), (truth.severity, &said));
    }
}
