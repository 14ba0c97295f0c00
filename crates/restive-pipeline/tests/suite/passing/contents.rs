//! Contents of a study, in memory and as it passes by, against records and the naive reader.

use super::made::Made;
use crate::oracle::{difference, read_records, write_records};
use restive_pipeline::StudyContents;
use restive_tables::{Roll, Study};
use restive_testkit::naive_study::{NaiveStep, NaiveStudy, Value};
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};

const FILE: &str = "contents.json";

/// Checks counts, columns and the split.
fn assert_contents(found: &StudyContents, naive: &NaiveStudy) {
    let steps =
        |property: fn(&NaiveStep) -> bool| naive.steps.values().filter(move |step| property(step)).count();
    let (decisions, pulls) = (steps(|step| step.action.is_some()), steps(|step| step.action == Some(1)));
    assert_eq!((found.decisions, found.pulls), (decisions as u64, pulls as u64));
    let mut by_step: BTreeMap<(&String, &String, usize), usize> = BTreeMap::new();
    for ((instance, trajectory, _, t), step) in &naive.steps {
        if step.action.is_some() {
            *by_step.entry((instance, trajectory, *t)).or_default() += usize::from(step.action == Some(1));
        }
    }
    assert_eq!(found.most_pulls, by_step.values().copied().max().unwrap());
    assert!((found.pulls_per_step - pulls as f64 / by_step.len() as f64).abs() < 1e-12);
    let is_known = |step: &NaiveStep| step.state.is_some() || step.action.is_some();
    let known = naive.steps.iter().filter(|(_, step)| is_known(step));
    let known: BTreeSet<(&String, &String)> = known.map(|((i, _, arm, _), _)| (i, arm)).collect();
    let trajectories = naive.trajectories.values().map(Vec::len).sum::<usize>();
    let counts = (found.instances, found.arms, found.newcomers, found.trajectories);
    let newcomers = naive.arms.len() - known.len();
    assert_eq!(counts, (naive.trajectories.len(), naive.arms.len(), newcomers, trajectories));
    let mut cells = 0;
    for (instance, _) in naive.arms.keys() {
        cells += naive.lengths[instance] * naive.trajectories[instance].len();
    }
    let unobserved = 1.0 - steps(|step| step.state.is_some()) as f64 / cells as f64;
    assert!((found.share_unobserved - unobserved).abs() < 1e-12);
    let has_column = |name: &str| naive.columns.iter().any(|column| column == name);
    assert_eq!((found.has_propensity, found.has_reward), (has_column("propensity"), has_column("reward")));
    let mut split: BTreeMap<&str, usize> = BTreeMap::new();
    for part in naive.arms.values().filter_map(|arm| arm.split.as_deref()) {
        *split.entry(part).or_default() += 1;
    }
    let found_split = found.split.clone().unwrap_or_default();
    assert_eq!(found_split.into_iter().filter(|(_, arms)| *arms > 0).collect::<BTreeMap<_, _>>(), split);
    let columns = found.features.iter().map(|feature| (&feature.name, feature.categories, feature.missing));
    let expected = naive.features.iter().enumerate().map(|(c, name)| {
        let cells = || naive.arms.values().map(move |arm| &arm.features[c]);
        let texts: BTreeSet<&String> =
            cells().filter_map(|cell| if let Value::Text(text) = cell { Some(text) } else { None }).collect();
        let missing = cells().filter(|cell| **cell == Value::Missing).count();
        (name, (!texts.is_empty()).then_some(texts.len()), missing)
    });
    assert!(columns.eq(expected), "{:?}", found.features);
}

/// Studies whose contents are recorded.
fn studies() -> [(&'static str, Made); 6] {
    let flat = |row: usize, line: &str| {
        let cells: Vec<&str> = line.split(',').collect();
        let income = if row == 0 { cells[3] } else { "" };
        format!("{},{income},{}", cells[..3].join(","), cells[4..].join(","))
    };
    let crowded = |row: usize, line: &str| line.replacen("own", &format!("own {row}"), 1);
    let nobody = |_: usize, line: &str| line.replace(",train", ",test");
    let given = Made { seed: 6, people: vec![70, 50], has_split: true, trajectories: 2, ..Made::default() };
    [
        ("default", Made::default()),
        ("few pulls, a constant column", Made { called: 0.01, changed: flat, ..Made::default() }),
        ("many categories", Made { changed: crowded, ..given.clone() }),
        ("no training arms", Made { changed: nobody, ..given.clone() }),
        ("propensities and rewards", Made { has_values: true, ..given.clone() }),
        ("four states", Made { states: 4, ..given }),
    ]
}

#[test]
fn contents_of_a_study_in_memory_and_of_a_stream_are_the_recorded_ones() {
    let records = read_records(FILE);
    assert_eq!(records.len(), studies().len());
    for (name, made) in studies() {
        let folder = made.write();
        let naive = NaiveStudy::read(folder.path());
        let contents = [
            StudyContents::new(&Study::read(folder.path()).unwrap()),
            StudyContents::of_roll(&Roll::read(folder.path()).unwrap()).unwrap(),
        ];
        for (found, mode) in contents.iter().zip(["in memory", "stream"]) {
            assert_contents(found, &naive);
            let difference = difference(&json!(found), &records[name], |_| 1e-11, "");
            assert_eq!(difference, None, "{name}, {mode}");
        }
    }
}

#[test]
#[ignore = "writes the records anew"]
fn record_contents() {
    let record = |(name, made): (&str, Made)| {
        let contents = StudyContents::new(&Study::read(made.write().path()).unwrap());
        (name.to_string(), json!(contents))
    };
    write_records(FILE, &studies().map(record));
}
