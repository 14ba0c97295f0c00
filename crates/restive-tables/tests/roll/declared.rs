//! Studies with availability, clusters and pulls per person: read into memory like the naive reader, refused by streams.

use super::naive::assert_study;
use super::parquet::write_parquet;
use restive_tables::{Format, Roll, Study, StudySettings, unsupported_in_passes};
use restive_testkit::Chance;
use restive_testkit::naive_study::NaiveStudy;
use restive_testkit::random_study::{Observed, RandomStudy};
use std::path::Path;

fn refused_by_streams(folder: &Path, found: &str) {
    let said = Roll::read(folder).map(drop).unwrap_err().to_string();
    let expected = "expected a study without it: people pass by in pieces here, and such a study requires all of them in memory";
    assert!(said.contains(found) && said.ends_with(expected), "{said}");
    assert_eq!(Roll::estimate(folder).unwrap(), None);
}

#[test]
fn reader_of_declarations_agrees_with_the_naive_reader_on_150_studies() {
    let (folder, written) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let mut fingerprints = Vec::new();
    for seed in 0..150 {
        let (mut study, mut chance) = (RandomStudy::declared(seed), Chance::new(seed + 1000));
        let mut found = Vec::new();
        for group in [None, Some(1 + chance.below(20)), Some(1000)] {
            study.write(folder.path());
            let naive = NaiveStudy::read(folder.path());
            if let Some(group) = group {
                write_parquet(&study, folder.path(), group);
            }
            let read = Study::read(folder.path()).unwrap();
            assert_study(&read, &naive);
            refused_by_streams(folder.path(), "found ");
            found.push(read.fingerprint());
            assert!(read.has_fingerprint(&read.earlier_fingerprint()));
            // there and back
            let format = *chance.pick(&[Format::Csv, Format::Parquet]);
            let path = written.path().join("s");
            read.write(&path, format, true, |_| {}).unwrap();
            let back = Study::read(&path).unwrap();
            let declared = |study: &Study| (study.settings.cluster.clone(), study.settings.assignment);
            assert_eq!(declared(&back), declared(&read));
            assert_eq!(back.fingerprint(), read.fingerprint());
            study.reorder(&mut chance);
        }
        found.dedup();
        assert_eq!(found.len(), 1, "fingerprints of seed {seed}");
        fingerprints.append(&mut found);
        RandomStudy::new(seed, Observed::Always).write(folder.path());
        fingerprints.push(Study::read(folder.path()).unwrap().fingerprint());
    }
    fingerprints.sort();
    fingerprints.dedup();
    assert_eq!(fingerprints.len(), 300, "declarations change the fingerprint");
}

#[test]
fn streams_name_the_declaration_that_they_refuse() {
    let folder = tempfile::tempdir().unwrap();
    let settings = |more: &str| {
        format!("states = 2\ndiscount = 0.9\nbudget = 1\nhorizon = 2\nbehaviour = \"uniform\"\n{more}")
    };
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    write("arms.csv", "arm,age,household\nAda,31,1\nBen,24,1\n");
    let plain = "trajectory,t,arm,state,action\n1,0,Ada,0,1\n1,0,Ben,1,0\n";
    write("trajectories.csv", plain);
    for (line, found) in [
        ("cluster = \"household\"\n", "found cluster = \"household\" in study.toml, "),
        ("assignment = \"per-person\"\n", "found assignment = \"per-person\" in study.toml, "),
    ] {
        write("study.toml", &settings(line));
        refused_by_streams(folder.path(), found);
        let settings = StudySettings::from_text(Path::new("study.toml"), &settings(line)).unwrap();
        assert!(!Roll::can_read(&settings) && unsupported_in_passes(&settings, false).is_some());
        assert!(Study::read(folder.path()).is_ok());
    }
    // the default needs no line, and a line with it changes nothing
    write("study.toml", &settings("assignment = \"per-decision\"\n"));
    assert_eq!(Roll::estimate(folder.path()).unwrap(), Some(2));
    assert!(Roll::read(folder.path()).is_ok());
    write("trajectories.csv", "trajectory,t,arm,state,action,available\n1,0,Ada,0,1,1\n1,0,Ben,1,0,0\n");
    refused_by_streams(folder.path(), "found a column available in the trajectories, ");
    assert!(Study::read(folder.path()).is_ok());
}
