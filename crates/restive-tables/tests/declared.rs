//! Availability, clusters and pulls per person: what is read, what is refused, and what is written.

use arrow_array::{ArrayRef, BooleanArray, Float64Array, Int64Array, RecordBatch, StringArray};
use ndarray::{Array3, array};
use restive::Trajectories;
use restive::data::encoding::{Encoding, Standardise};
use restive::data::split::Group;
use restive::instance::{Assignment, Logged, NO_ACTION};
use restive_tables::{Error, Format, Study, StudySettings};
use std::fs;
use std::path::Path;
use std::sync::Arc;

const SETTINGS: &str = "states = 2\ndiscount = 1\nbudget = 1\nhorizon = 3\nbehaviour = \"uniform\"\n";
const ARMS: &str = "arm,age,household\nA,1,h 1\nB,2,h 7\nC,3,h 1\n";
const ROWS: &str = "trajectory,t,arm,state,action,propensity,available\n\
    1,1,A,0,1,0.5,1\n1,1,B,1,0,9,0\n1,1,C,1,0,0.5,1\n1,2,A,1,,,0\n1,2,B,0,,,1\n1,2,C,,,,0\n";

fn read(folder: &Path, settings: &str, arms: &str, rows: &str) -> Result<Study, Error> {
    fs::write(folder.join("study.toml"), settings).unwrap();
    fs::write(folder.join("arms.csv"), arms).unwrap();
    fs::write(folder.join("trajectories.csv"), rows).unwrap();
    Study::read(folder)
}

#[test]
fn availability_is_read_and_its_propensities_are_not() {
    let folder = tempfile::tempdir().unwrap();
    let settings = SETTINGS.replace("uniform", "logged");
    let study = read(folder.path(), &settings, ARMS, ROWS).unwrap();
    let log = &study.instances[0].trajectories;
    assert_eq!(log.available().unwrap(), array![[[true, false, true], [false, true, false]]].view());
    assert_eq!(log.action(), array![[[1, 0, 0], [NO_ACTION, NO_ACTION, NO_ACTION]]].view());
    // the propensity of B, who could not be pulled, is 1 whatever its cell says, and does not count
    assert_eq!(log.propensity().unwrap()[[0, 0, 1]], 1.0);
    assert_eq!(log.known_propensities(), (2, 2));
    assert_eq!(study.instances[0].features.names(), ["age", "household"]);
    // rows that are missing say nothing of availability
    let rows = ROWS.replace("1,2,A,1,,,0\n", "");
    let short = read(folder.path(), &settings, ARMS, &rows).unwrap();
    assert!(short.instances[0].trajectories.is_available([0, 1, 0]));
    assert_ne!(short.fingerprint(), study.fingerprint());
}

#[test]
fn clusters_are_numbered_over_all_instances_and_are_not_features() {
    let folder = tempfile::tempdir().unwrap();
    let settings = SETTINGS.to_string() + "cluster = \"household\"\nassignment = \"per-person\"\n";
    let arms = "instance,household,arm,age,split\nwest,h 2,A,3,train\nwest,07,C,4,train\neast,07,B,2,train\neast,h 2,A,1,test\n";
    let rows = "instance,trajectory,t,arm,state,action\neast,1,0,A,0,1\neast,1,1,A,1,\nwest,1,0,C,0,1\nwest,1,1,C,1,\n";
    let study = read(folder.path(), &settings, arms, rows).unwrap();
    let names: Vec<_> = study.instances.iter().map(|instance| instance.clusters.clone().unwrap()).collect();
    assert_eq!(names, [["h 2", "07"], ["h 2", "07"]].map(|names| names.map(String::from).to_vec()));
    assert_eq!(study.settings.cluster.as_deref(), Some("household"));
    assert_eq!(study.settings.assignment, Assignment::PerPerson);
    assert_eq!(study.instances[0].features.names(), ["age"]);
    let all: Vec<Group> = (0..2).map(|instance| Group { instance, arms: vec![0, 1] }).collect();
    let encoding = Encoding::fit(&study.features(&all), Standardise::No, &[]).unwrap();
    let instances = study.instances(&encoding).unwrap();
    assert_eq!([instances[0].clusters(), instances[1].clusters()], [Some(&[0, 1][..]); 2]);
    assert_eq!(instances[0].select_arms(&[1]).clusters(), Some(&[1][..]));
    // there and back, in both formats
    for format in [Format::Csv, Format::Parquet] {
        let path = folder.path().join("written");
        study.write(&path, format, true, |_| ()).unwrap();
        let back = Study::read(&path).unwrap();
        assert_eq!((&back.settings, back.fingerprint()), (&study.settings, study.fingerprint()));
        assert!(back.instances.iter().zip(&study.instances).all(|(a, b)| a.clusters == b.clusters));
    }
    let other =
        Study { settings: StudySettings { cluster: None, ..study.settings.clone() }, ..study.clone() };
    assert_ne!(other.fingerprint(), study.fingerprint());
    let mut renamed = study.clone();
    renamed.instances[1].clusters.as_mut().unwrap()[0] = "h 3".into();
    assert_ne!(renamed.fingerprint(), study.fingerprint());
}

#[test]
fn settings_that_contradict_each_other_are_refused_with_both_lines() {
    let read = |more: &str| StudySettings::from_text(Path::new("study.toml"), &(SETTINGS.to_string() + more));
    let none = SETTINGS.replace("uniform", "none") + "assignment = \"per-person\"\n";
    let rota = none.replace("\"none\"", "\"round-robin-as-uniform\"");
    for (text, behaviour) in [(none, "none"), (rota, "round-robin-as-uniform")] {
        let said = StudySettings::from_text(Path::new("study.toml"), &text).unwrap_err().to_string();
        let expected = format!(
            "study.toml: line 6, column 14: assignment: found \"per-person\", expected \"per-decision\" with behaviour = \"{behaviour}\" (line 5); \
             \"per-person\" requires \"uniform\", \"logged\" or \"estimated\""
        );
        assert_eq!(said, expected);
    }
    let collapsing = "observation = \"collapsing\"\nchain = 4\n";
    for line in ["cluster = \"household\"\n", "assignment = \"per-person\"\n"] {
        let said = read(&format!("{collapsing}{line}")).unwrap_err().to_string();
        let expected = "expected no such line with observation = \"collapsing\" (line 6): it requires observation = \"full\"";
        assert!(said.starts_with("study.toml: line 8, ") && said.ends_with(expected), "{said}");
    }
    assert!(read(&format!("{collapsing}assignment = \"per-decision\"\n")).is_ok());
    for (line, expected) in [
        (
            "cluster = \"arm\"\n",
            "cluster: found \"arm\", expected the name of a column in quotation marks, other than instance, arm and split",
        ),
        ("cluster = \" \"\n", "cluster: found \" \", expected the name of a column"),
        ("cluster = 7\n", "cluster: found 7, expected the name of a column"),
        (
            "assignment = \"per-week\"\n",
            "assignment: found \"per-week\", expected \"per-decision\" or \"per-person\"",
        ),
    ] {
        let said = read(line).unwrap_err().to_string();
        assert!(said.contains(expected), "{said}");
    }
}

#[test]
fn cells_and_columns_that_cannot_be_are_refused_with_their_line() {
    let folder = tempfile::tempdir().unwrap();
    let cluster = SETTINGS.to_string() + "cluster = \"household\"\n";
    let collapsing = SETTINGS.to_string() + "observation = \"collapsing\"\nchain = 4\n";
    let all = [
        (
            SETTINGS,
            ARMS.into(),
            ROWS.replace("9,0\n", "9,2\n"),
            "line 3 (arm B), column available, trajectory 1, t 1: found 2, expected 0 or 1",
        ),
        (
            SETTINGS,
            ARMS.into(),
            ROWS.replace(",,0\n1,2,B", ",,\n1,2,B"),
            "line 5 (arm A), column available, trajectory 1, t 2: found an empty cell, expected 0 or 1",
        ),
        (
            SETTINGS,
            ARMS.into(),
            ROWS.replace("9,0\n", "9,yes\n"),
            "line 3 (arm B), column available: found \"yes\", expected 0 or 1",
        ),
        (
            SETTINGS,
            ARMS.into(),
            ROWS.replace("B,1,0,", "B,1,1,"),
            "line 3 (arm B), column action, trajectory 1, t 1: found 1, expected 0 or an empty cell: available = 0 says that the arm could \
             not be pulled",
        ),
        (
            collapsing.as_str(),
            ARMS.into(),
            ROWS.into(),
            "trajectories.csv: found a column available, expected no such column with observation = \"collapsing\"",
        ),
        (
            cluster.as_str(),
            ARMS.replace("household", "house"),
            ROWS.into(),
            "arms.csv: found no column \"household\", expected a column of that name: study.toml has the line cluster = \"household\"",
        ),
        (
            cluster.as_str(),
            ARMS.replace("B,2,h 7", "B,2, "),
            ROWS.into(),
            "arms.csv: line 3 (arm B), column household: found an empty cell, expected the name of a cluster",
        ),
        (
            cluster.as_str(),
            ARMS.replace("B,2,h 7", "B,2,NaN"),
            ROWS.into(),
            "line 3 (arm B), column household: found \"NaN\", expected the name of a cluster",
        ),
    ];
    for (settings, arms, rows, expected) in all {
        let said = read(folder.path(), settings, &arms, &rows).unwrap_err().to_string();
        assert!(said.contains(expected), "{said}");
    }
}

#[test]
fn frames_have_truths_and_integers() {
    let names = |names: [&str; 2]| -> ArrayRef { Arc::new(StringArray::from_iter_values(names)) };
    let batch = |columns: Vec<(&str, ArrayRef)>| RecordBatch::try_from_iter(columns).unwrap();
    let arms = batch(vec![("arm", names(["A", "B"])), ("home", Arc::new(Int64Array::from(vec![12, 7])))]);
    let rows = |available: ArrayRef| {
        batch(vec![
            ("trajectory", names(["1", "1"])),
            ("t", Arc::new(Int64Array::from(vec![0, 0]))),
            ("arm", names(["A", "B"])),
            ("state", Arc::new(Int64Array::from(vec![0, 1]))),
            ("action", Arc::new(Int64Array::from(vec![1, 0]))),
            ("available", available),
        ])
    };
    let settings = SETTINGS.to_string() + "cluster = \"home\"\n";
    let made = |available: ArrayRef| Study::from_tables(&settings, &arms, &rows(available), None);
    let study = made(Arc::new(BooleanArray::from(vec![true, false]))).unwrap();
    assert_eq!(study.instances[0].trajectories.available().unwrap(), array![[[true, false]]].view());
    assert_eq!(study.instances[0].clusters.as_deref().unwrap(), ["12", "7"]);
    assert_eq!(study, made(Arc::new(Int64Array::from(vec![1, 0]))).unwrap());
    let said = made(Arc::new(Float64Array::from(vec![1.0, 0.5]))).unwrap_err().to_string();
    let expected =
        "trajectories: row 1 (arm B), column available, trajectory 1, t 0: found 0.5, expected 0 or 1";
    assert_eq!(said, expected);
    // the table that goes out has the column again
    let (arms, rows, _) = study.tables();
    let has = |batches: &[RecordBatch], name: &str| batches[0].column_by_name(name).is_some();
    assert!(has(&arms, "home") && has(&rows, "available"));
}

#[test]
fn studies_without_declarations_are_written_as_before() {
    let folder = tempfile::tempdir().unwrap();
    let rows = "trajectory,t,arm,state,action\n1,0,A,0,1\n1,0,B,1,0\n1,1,A,1,\n";
    let mut study = read(folder.path(), SETTINGS, "arm,age\nA,1\nB,2\n", rows).unwrap();
    let fingerprint = study.fingerprint();
    let written = |study: &Study| {
        let path = folder.path().join("written");
        study.write(&path, Format::Csv, true, |_| ()).unwrap();
        ["study.toml", "arms.csv", "trajectories.csv"]
            .map(|name| fs::read_to_string(path.join(name)).unwrap())
    };
    let [toml, arms, trajectories] = written(&study);
    assert!(!toml.contains("cluster") && !toml.contains("assignment"), "{toml}");
    assert_eq!(arms.lines().next(), Some("instance,arm,age"));
    assert_eq!(trajectories.lines().next(), Some("instance,trajectory,t,arm,state,action"));
    // the same with every declaration
    let log = &study.instances[0].trajectories;
    let logged = Logged {
        state: log.state().to_owned(),
        action: log.action().to_owned(),
        propensity: None,
        reward: None,
        available: Some(Array3::from_shape_fn((1, 2, 2), |(_, t, i)| (t, i) != (1, 1))),
    };
    study.instances[0].trajectories = Trajectories::new(logged, 2).unwrap();
    study.instances[0].clusters = Some(vec!["=1".into(), "b".into()]);
    study.settings.cluster = Some("household".into());
    study.settings.assignment = Assignment::PerPerson;
    assert_ne!(study.fingerprint(), fingerprint);
    let [toml, arms, trajectories] = written(&study);
    assert!(toml.contains("cluster = \"household\"\nassignment = \"per-person\"\n"), "{toml}");
    assert_eq!(arms.lines().next(), Some("instance,arm,age,household"));
    assert_eq!(trajectories.lines().next(), Some("instance,trajectory,t,arm,state,action,available"));
    // B at step 1 has a row for its availability alone
    assert_eq!(trajectories.lines().count(), 5);
    let back = Study::read(&folder.path().join("written")).unwrap();
    assert_eq!(back, study);
    assert_eq!(back.fingerprint(), study.fingerprint());
}
