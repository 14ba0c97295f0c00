//! The study fixture of the test kit: its files against its truth, the naive reader and both readers.

use crate::naive::{assert_counts, assert_pieces, assert_study};
use crate::pieces;
use restive_tables::{Roll, Study};
use restive_testkit::naive_study::{NaiveStep, NaiveStudy};
use restive_testkit::{StudyFixture, StudyOptions};

#[test]
fn study_fixture_is_read_as_it_was_simulated() {
    let folder = tempfile::tempdir().unwrap();
    let small = StudyOptions::default();
    let large = StudyOptions { instances: 1, arms: 30, states: 4, trajectories: 1, ..small };
    for options in [small, large] {
        let fixture = StudyFixture::new(&options);
        fixture.write(folder.path());
        let naive = NaiveStudy::read(folder.path());
        assert_simulated(&naive, &fixture);
        assert_study(&Study::read(folder.path()).unwrap(), &naive);
        let roll = Roll::read(folder.path()).unwrap();
        assert_pieces(&roll, &pieces(&roll, 5, 2), &naive, 5);
        assert_counts(&roll, &naive);
    }
}

/// Checks the files against the numbers in memory.
fn assert_simulated(naive: &NaiveStudy, fixture: &StudyFixture) {
    let options = &fixture.options;
    assert_eq!(naive.arms.len(), options.instances * options.arms);
    assert_eq!(naive.steps.len(), naive.arms.len() * options.trajectories * options.steps);
    for (g, trajectories) in fixture.log.iter().enumerate() {
        for i in 0..options.arms {
            let (instance, arm) = (format!("g{g}"), format!("a{i}"));
            let found = &naive.arms[&(instance.clone(), arm.clone())];
            let split = ["train", "train", "validation", "test"][i % 4];
            assert_eq!(found.split.as_deref(), Some(split), "{arm}");
            assert_eq!(found.truth.as_ref(), Some(&fixture.truth(g, i)), "{arm}");
            for (j, steps) in trajectories.iter().enumerate() {
                for (t, rows) in steps.iter().enumerate() {
                    let expected = NaiveStep {
                        state: Some(rows[i].state),
                        action: rows[i].action,
                        propensity: rows[i].propensity,
                        ..NaiveStep::default()
                    };
                    let key = (instance.clone(), j.to_string(), arm.clone(), t);
                    assert_eq!(naive.steps[&key], expected, "{key:?}");
                }
            }
        }
    }
}
