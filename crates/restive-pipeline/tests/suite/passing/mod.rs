//! Warnings and refusals of trainings of people who pass by, and of those of the same people in memory.

mod contents;
pub mod made;

use made::Made;
use restive::predictor::Precision;
use restive_pipeline::{
    Asked, Begun, Doctor, Error, PassingTraining, PredictorName, Progressed, Severity, Training,
};
use restive_tables::model::Model;
use restive_tables::{Roll, Study, arm_key};
use std::path::Path;

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

/// Trains in both ways. Numbers of the models are compared with records (`oracle::models`).
fn same(made: &Made, asked: &Asked) -> Outcome {
    let folder = made.write();
    let (truth, found) = (in_memory(folder.path(), asked), passing(folder.path(), asked));
    match (&found, &truth) {
        (Ok((found, warned)), Ok((truth, warnings))) => {
            assert_eq!(warned, warnings, "{made:?}");
            assert_eq!(found.card.fingerprint, truth.card.fingerprint);
            assert_eq!(found.card.configuration, truth.card.configuration);
        }
        (Err(found), Err(truth)) => assert_eq!(found, truth, "{made:?}"),
        (found, truth) => panic!("{made:?}: {:?} not {:?}", found.as_ref().err(), truth.as_ref().err()),
    }
    found
}

#[test]
fn what_is_warned_of_and_refused_is_told_in_the_same_words() {
    let warned = |made: &Made, asked: &Asked, what: &str| {
        let (_, warnings) = same(made, asked).unwrap();
        assert!(warnings.iter().any(|warning| warning.contains(what)), "{warnings:?}");
    };
    let refused = |made: &Made, asked: &Asked, what: &str| {
        let error = same(made, asked).map(drop).unwrap_err();
        assert!(error.contains(what), "{error}");
    };
    let given = Made { has_split: true, ..Made::default() };
    // an identifier; a category that one person has, who is not learnt from; too many categories
    let numbered = |row: usize, line: &str| match row {
        0 => line.replace("income", "file"),
        row => {
            let cells: Vec<&str> = line.split(',').collect();
            format!("{},{},{},{},{}", cells[..3].join(","), 4000 + 3 * row, cells[4], cells[5], cells[6])
        }
    };
    warned(&Made { changed: numbered, ..given.clone() }, &effect(), "looks like an identifier");
    let strange = |_: usize, line: &str| match line.ends_with(",test") {
        true => line.replacen("none at all", "shared", 1),
        false => line.into(),
    };
    warned(&Made { changed: strange, ..given.clone() }, &effect(), "which no training arm has");
    let crowded = |row: usize, line: &str| line.replacen("own", &format!("own {row}"), 1);
    warned(&Made { changed: crowded, ..given.clone() }, &effect(), "values among");

    let constant = |row: usize, line: &str| {
        let cells: Vec<&str> = line.split(',').collect();
        let income = if row == 0 { cells[3] } else { "5" };
        format!("{},{income},{}", cells[..3].join(","), cells[4..].join(","))
    };
    refused(&Made { changed: constant, ..given.clone() }, &effect(), "--drop income");
    let missing = |row: usize, line: &str| {
        let cells: Vec<&str> = line.split(',').collect();
        let is_missing = row > 0 && line.ends_with(",test") && row.is_multiple_of(3);
        let income = if is_missing { "" } else { cells[3] };
        format!("{},{income},{}", cells[..3].join(","), cells[4..].join(","))
    };
    refused(&Made { changed: missing, ..given.clone() }, &effect(), "income");
    let held_out = Asked { precision: Some(Precision::HeldOut { cap: 10.0 }), ..effect() };
    let no_validation = |_: usize, line: &str| line.replace(",validation", ",test");
    refused(&Made { changed: no_validation, ..given.clone() }, &held_out, "no validation part");
    let nobody = |_: usize, line: &str| line.replace(",train", ",test");
    refused(&Made { changed: nobody, ..given.clone() }, &effect(), "split: ");
    refused(&Made { called: 0.0, ..given.clone() }, &effect(), "found no pull");
    let unknown = Asked { drop: vec!["height".into()], ..effect() };
    refused(&given, &unknown, "expected a feature");
    let twice = Asked { ensemble: 2, ..hierarchical() };
    refused(&given, &twice, "they are all the same");
    // hundreds of numbers that mean nothing, few people
    let lost = Made { people: vec![60], periods: 2, strength: 0.0, changed: crowded, ..given };
    let loose = Asked { precision: Some(Precision::Fixed(1e-6)), ..effect() };
    refused(&lost, &loose, "worse than the bare frequencies");
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
