//! A log that records the chances of some of its decisions: what is used, what is said of it, and who refuses.

use ndarray::Array2;
use restive::Trajectories;
use restive::data::domain::Domain;
use restive::instance::{Logged, NO_ACTION};
use restive_pipeline::generate::Synthetic;
use restive_pipeline::{
    BehaviourName, Doctor, EvaluateAsked, EvidenceAnswer, Outcome, StudyContents, evidence_of_scores,
};
use restive_tables::{Study, StudyBehaviour};

/// Lots of 4 instances of 60 arms, 12 pulls a step; chances are known from the third of 5 decisions on, but of `astray` arms.
fn study(astray: usize) -> Study {
    let domain =
        Domain { instances: 4, arms: 60, budget: 12, horizon: 5, trajectories: 3, ..Domain::two_state() };
    let mut study = Synthetic::TwoState(domain).study(6).unwrap();
    for instance in &mut study.instances {
        let log = &instance.trajectories;
        let mut propensity = log.propensity().unwrap().to_owned();
        for ((_, t, i), p) in propensity.indexed_iter_mut() {
            if t < 2 || i < astray {
                *p = f64::NAN;
            }
        }
        let (state, action) = (log.state().to_owned(), log.action().to_owned());
        let reward = log.reward().map(|reward| reward.to_owned());
        let logged = Logged { state, action, propensity: Some(propensity), reward, available: None };
        instance.trajectories = Trajectories::new(logged, 2).unwrap();
    }
    study
}

fn answer(study: &Study, behaviour: Option<BehaviourName>) -> EvidenceAnswer {
    let scores: Vec<Array2<f64>> = study
        .instances
        .iter()
        .map(|instance| Array2::from_shape_fn((instance.arms.len(), 2), |(i, _)| (i * 7 % 60) as f64))
        .collect();
    let asked = EvaluateAsked { behaviour, deals: Some(19), ..EvaluateAsked::default() };
    match evidence_of_scores(study, &scores, &asked).unwrap() {
        Outcome::Answer(answer) => *answer,
        Outcome::Refused { reason, .. } => panic!("{reason:?}"),
    }
}

#[test]
fn recorded_chances_are_used_whatever_is_declared_of_the_rest() {
    let mut study = study(0);
    let pulls = |from: usize| 4 * 3 * 12 * (5 - from);
    for declared in [StudyBehaviour::Logged, StudyBehaviour::None] {
        study.settings.behaviour = declared;
        let alone = answer(&study, None);
        let recorded = alone.recorded.unwrap();
        // three trajectories of three decisions each
        assert_eq!((recorded.decisions, recorded.calls, recorded.sure), (9, pulls(2), 0));
        assert_eq!((alone.calls, alone.logged_calls), (pulls(2), pulls(0)));
        assert_eq!(alone.assumptions[0], "the logged propensities are those by which pulls were drawn");
        assert!(alone.judged().ends_with("there the answer is about those who could have been drawn"));
        assert!(alone.cautions().is_empty());
    }
    for behaviour in [BehaviourName::Uniform, BehaviourName::Estimated] {
        let mixed = answer(&study, Some(behaviour));
        // a model leaves out who had nearly no chance
        let is_all =
            mixed.calls == pulls(0) || (mixed.calls > pulls(1) && behaviour == BehaviourName::Estimated);
        assert!(is_all && mixed.recorded.unwrap().calls == pulls(2), "{}", mixed.calls);
        assert_eq!(mixed.assumptions.len(), 3);
        let said = mixed.judged();
        assert!(said.contains("432 of them with recorded chances, at 9 decisions"), "{said}");
    }
}

#[test]
fn whoever_did_not_get_what_was_drawn_is_left_out_and_counted() {
    let study = study(8);
    let found = answer(&study, Some(BehaviourName::Uniform));
    let recorded = found.recorded.unwrap();
    let (mut left, mut called) = (0, 0);
    for instance in &study.instances {
        for ((_, t, i), a) in instance.trajectories.action().indexed_iter() {
            if (2..5).contains(&t) && i < 8 && *a != NO_ACTION {
                *if *a == 1 { &mut called } else { &mut left } += 1;
            }
        }
    }
    assert_eq!((recorded.not_called, recorded.unlisted, recorded.untold), (left, called, 0));
    assert_eq!(recorded.calls + called, 4 * 3 * 12 * 3);
    let caution = &found.cautions()[0];
    let expected = format!("{left} listed and not pulled, {called} pulled and not listed: more than 5 %");
    assert!(caution.starts_with("left out") && caution.contains(&expected), "{caution}");
}

#[test]
fn the_doctor_and_the_contents_say_how_much_is_known() {
    let mut study = study(0);
    let contents = StudyContents::new(&study);
    assert!(
        contents.notes.contains(&"propensities are known of 2,160 of 3,600 actions".to_string()),
        "{:?}",
        contents.notes
    );
    study.settings.behaviour = StudyBehaviour::Logged;
    let doctor = Doctor::new(&study);
    let found: Vec<String> = doctor.findings.iter().map(|finding| finding.found.to_string()).collect();
    assert!(
        found.iter().any(|found| found.contains("Propensities are logged for 60.0 % of the actions")),
        "{found:?}"
    );
    assert!(
        found.iter().any(|found| found.contains("propensities add up to 432 calls, and 432 were made")),
        "{found:?}"
    );
}
