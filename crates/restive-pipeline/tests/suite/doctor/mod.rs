//! Every check on programmes that were made with its fault, and on programmes that were made without.

mod columns;
mod log;
mod made;

use made::{Choice, Made, finding};
use restive::data::domain::Domain;
use restive::data::maternal::Maternal;
use restive_pipeline::generate::Synthetic;
use restive_pipeline::{Doctor, Severity};
use restive_tables::CHECKS;

#[test]
fn honest_programmes_pass() {
    let mut alarms = Vec::new();
    for choice in [Choice::Lot, Choice::Rota, Choice::Worse] {
        for seed in 0..7 {
            let doctor = Doctor::new(&Made { choice, seed, ..Made::default() }.written().study());
            let grave = doctor.findings.into_iter().filter(|finding| finding.severity > Severity::Note);
            alarms.extend(grave.map(|finding| (choice, seed, finding.name, finding.found)));
        }
    }
    // 21 programmes of 21 checks: one in a few hundred may be taken for what it is not
    assert!(alarms.len() <= 1, "{alarms:#?}");
}

#[test]
fn every_kind_of_study_has_an_answer_to_every_check() {
    let small = |published: Domain| Domain {
        instances: 3,
        arms: 30,
        budget: 5,
        horizon: 6,
        trajectories: 2,
        ..published
    };
    let tiny = |published: Domain| Domain {
        instances: 1,
        arms: 1,
        budget: 1,
        horizon: 1,
        trajectories: 1,
        ..published
    };
    for synthetic in [
        Synthetic::TwoState(small(Domain::two_state())),
        Synthetic::FiveState(small(Domain::five_state())),
        Synthetic::Collapsing(small(Domain::collapsing())),
        Synthetic::TwoState(tiny(Domain::two_state())),
        Synthetic::FiveState(tiny(Domain::five_state())),
        Synthetic::Collapsing(tiny(Domain::collapsing())),
        Synthetic::Maternal(Maternal { groups: 3, people: 60, budget: 3, ..Maternal::default() }),
    ] {
        let study = synthetic.study(1).unwrap();
        let doctor = Doctor::new(&study);
        let mut names: Vec<&str> = doctor.findings.iter().map(|finding| finding.name).collect();
        names.sort_unstable();
        let mut expected = CHECKS;
        expected.sort_unstable();
        assert_eq!(names, expected);
        assert!(
            doctor
                .findings
                .iter()
                .all(|finding| !finding.found.contains("NaN") && !finding.found.contains("inf"))
        );
        if study.settings.observation.chain().is_some() {
            for name in ["alignment", "ids-shuffled", "memory", "drift"] {
                assert!(finding(&study, name).found.starts_with("Does not apply"), "{name}");
            }
        }
    }
}

#[test]
fn what_is_silenced_comes_last_and_does_not_count() {
    let mut study = Made::default().written().early().study();
    // rows that are off look like a choice by the state, too: here nobody says how people were chosen
    study.settings.behaviour = restive_tables::StudyBehaviour::None;
    assert_eq!(Doctor::new(&study).exit_code(), 2);
    study.settings.silenced.insert("alignment".into(), "known".into());
    let doctor = Doctor::new(&study);
    assert!(doctor.exit_code() < 2, "{doctor:#?}");
    let last = doctor.findings.last().unwrap();
    assert_eq!(
        (last.name, last.severity, last.silenced.as_deref()),
        ("alignment", Severity::Serious, Some("known"))
    );
    assert_eq!(doctor.groups().last().unwrap().1.len(), 1);
    let fingerprint = study.fingerprint();
    study.settings.silenced.clear();
    assert_eq!(study.fingerprint(), fingerprint);
}

#[test]
fn the_published_programme_is_not_accused() {
    let maternal = Maternal { groups: 6, people: 200, ..Maternal::default() };
    for seed in 0..3 {
        let doctor = Doctor::new(&Synthetic::Maternal(maternal.clone()).study(seed).unwrap());
        assert!(doctor.worst < Severity::Serious, "{:#?}", doctor.findings);
    }
}
