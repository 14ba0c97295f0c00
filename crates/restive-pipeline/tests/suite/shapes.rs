//! Availability, clusters and pulls per person: what is refused without a declaration, what plans and answers say with one, and that
//! studies without one are answered as before.

use crate::learnt;
use crate::shapes_worlds::{Shape, World};
use ndarray::Array2;
use restive::Trajectories;
use restive::data::domain::Domain;
use restive::instance::Logged;
use restive_pipeline::generate::Synthetic;
use restive_pipeline::partition::PlanJob;
use restive_pipeline::train_partition::PartitionTraining;
use restive_pipeline::{
    Applied, Asked, Doctor, Error, EstimatorsName, EvaluateAsked, EvidenceAnswer, Identification, Outcome,
    Plan, PlanAsked, PredictorName, Rules, Severity, Trained, Training, evidence_of_scores,
};
use restive_tables::{Study, StudyBehaviour};
use std::collections::BTreeSet;
use std::path::Path;

fn few() -> EvaluateAsked {
    EvaluateAsked { folds: 2, runs: Some(2), resamples: Some(2), deals: Some(19), ..EvaluateAsked::default() }
}

fn effect() -> Asked {
    Asked { predictor: Some(PredictorName::Effect), ..Asked::default() }
}

fn answer(study: &Study, scores: &[Array2<f64>]) -> EvidenceAnswer {
    match evidence_of_scores(study, scores, &few()).unwrap() {
        Outcome::Answer(answer) => *answer,
        Outcome::Refused { reason, .. } => panic!("{reason:?}"),
    }
}

fn has_too_few(answer: &EvidenceAnswer) -> bool {
    answer.cautions().iter().any(|caution| caution.contains("too few"))
}

/// Lots of 4 instances of 60 arms, 12 pulls a step.
fn by_lot() -> Study {
    let domain =
        Domain { instances: 4, arms: 60, budget: 12, horizon: 5, trajectories: 3, ..Domain::two_state() };
    Synthetic::TwoState(domain).study(6).unwrap()
}

#[test]
fn undeclared_shape_is_named_and_effects_are_withheld() {
    for (shape, severity, words) in [
        (Shape::Availability, Severity::Warning, "come in runs"),
        (Shape::AvailabilityEstimated, Severity::Warning, "come in runs"),
        (Shape::Clusters, Severity::Serious, "are pulled together"),
        (Shape::Lasting, Severity::Serious, "hardly ever change"),
    ] {
        let world = World::new(shape, false, 1);
        let study = world.undeclared();
        let finding = Doctor::new(&study).findings.into_iter().find(|one| one.name == shape.check()).unwrap();
        assert_eq!(finding.severity, severity, "{}: {finding:?}", shape.name());
        let advice = finding.what_to_do.unwrap().to_string();
        assert!(advice.contains(shape.remedy()), "{}: {advice}", shape.name());
        match Training::new(&study, &effect(), "a test").map(|training| training.card.identification) {
            Ok(Identification::NotIdentified { reason }) => assert!(reason.contains(words), "{reason}"),
            other => panic!("{}: {other:?}", shape.name()),
        }
        let declared = Doctor::new(&world.declared);
        let declared = declared.findings.iter().find(|one| one.name == shape.check()).unwrap();
        assert_eq!(declared.severity, Severity::Fine, "{}: {declared:?}", shape.name());
        assert!(declared.found.starts_with("Declared: "), "{}", declared.found);
    }
}

#[test]
fn declaration_per_person_is_refused_if_actions_change() {
    let mut study = World::new(Shape::AvailabilityEstimated, false, 1).undeclared();
    study.settings.behaviour = StudyBehaviour::Uniform;
    study.settings.assignment = restive::instance::Assignment::PerPerson;
    let scores = [Array2::zeros((study.instances[0].arms.len(), 2))];
    let Outcome::Refused { reason, what_to_do } = evidence_of_scores(&study, &scores, &few()).unwrap() else {
        panic!("pulls change at every decision");
    };
    let (reason, what_to_do) = (reason.to_string(), what_to_do.to_string());
    assert!(reason.contains("assignment was not per person"), "{reason}");
    assert!(what_to_do.contains("remove assignment"), "{what_to_do}");
    let finding = Doctor::new(&study).findings.into_iter().find(|one| one.name == "assignment").unwrap();
    assert_eq!(finding.severity, Severity::Serious, "{finding:?}");
}

#[test]
fn answer_without_declarations_has_no_new_keys() {
    let study = by_lot();
    let scores: Vec<_> =
        (0..4).map(|_| Array2::from_shape_fn((60, 2), |(i, _)| (i * 7 % 60) as f64)).collect();
    let found = answer(&study, &scores);
    assert!(!found.ranks_alike && found.policies[0].policy == "plan");
    let json = serde_json::to_value(&found).unwrap();
    for key in ["assignment", "changed", "clusters", "course", "ranks_alike", "effects_alike"] {
        assert!(json.get(key).is_none(), "{key}: {json}");
    }
    assert!(!has_too_few(&found) && found.course().is_none());
    assert!(
        !found.judged().contains("cluster") && found.counted().contains("over a programme of 5 decisions")
    );
}

#[test]
fn ranking_of_equal_scores_has_nothing_to_judge() {
    let study = by_lot();
    let found = answer(&study, &vec![Array2::from_elem((60, 2), 0.3); 4]);
    assert!(found.ranks_alike && !found.is_found());
    for said in [found.found(), found.brings()] {
        assert!(said.starts_with("Nothing to judge") && !said.contains("0.00"), "{said}");
    }
    assert!(found.policies.iter().all(|policy| policy.policy != "plan"));
    assert!(serde_json::to_value(&found).unwrap()["gain"]["value"].is_number());
}

#[test]
fn few_people_are_too_few_for_an_interval() {
    let study = by_lot();
    let mut found = answer(&study, &vec![Array2::from_elem((60, 2), 0.3); 4]);
    found.people = 9;
    assert_eq!(found.cautions()[0], "too few for an interval: 9 people, expected at least 30");
    found.clusters = Some(12);
    assert_eq!(found.cautions()[0], "too few for an interval: 12 clusters, expected at least 30");
    found.clusters = Some(30);
    assert!(!has_too_few(&found));
}

#[test]
fn intervals_are_by_declared_cluster() {
    let world = World::new(Shape::Clusters, true, 1);
    let found = answer(&world.declared, std::slice::from_ref(&world.rankings[0].scores));
    let clusters: BTreeSet<&String> = world.declared.instances[0].clusters.iter().flatten().collect();
    assert_eq!(found.clusters, Some(clusters.len()));
    let expected = format!("intervals are by cluster, of which there are {}", clusters.len());
    assert!(found.judged().contains(&expected), "{}", found.judged());
}

#[test]
fn evaluation_of_pulls_per_person_states_a_course_and_no_simulations() {
    let study = World::new(Shape::Lasting, true, 1).declared;
    let training = Training::new(&study, &effect(), "a test").unwrap();
    let done = training.run(Default::default(), None, |_| Ok::<_, Error>(())).unwrap();
    let trained = Trained::new(training.model(done.members, done.histories)).unwrap();
    let applied = Applied::new(&trained, &study, "the model", "the study").unwrap();
    let evaluated = applied.evaluate(&few(), None, |_| Ok::<_, Error>(())).unwrap();
    let Some(Outcome::Answer(found)) = &evaluated.evidence else { panic!("{:?}", evaluated.evidence) };
    assert_eq!((found.assignment, found.changed), (Some("per-person"), Some(0)));
    assert!(found.course().unwrap().contains("per person"));
    assert!(found.judged().contains("once per person"), "{}", found.judged());
    assert!(found.policies.iter().all(|policy| policy.is_measured) && evaluated.policies.is_empty());
    let notes: Vec<String> = evaluated.about.notes.iter().map(ToString::to_string).collect();
    assert!(
        notes.iter().any(|note| note.contains("simulated policies choose at every decision")),
        "{notes:?}"
    );
    let published = EvaluateAsked { estimators: EstimatorsName::Published, ..few() };
    let refused = applied.evaluate(&published, None, |_| Ok::<_, Error>(())).unwrap_err().to_string();
    assert!(refused.contains("found assignment = \"per-person\""), "{refused}");
}

#[test]
fn arm_that_is_not_available_is_left_out_with_the_reason() {
    let (trained, mut study) = learnt();
    let asked = PlanAsked { instance: Some("0".into()), ..PlanAsked::default() };
    let plan = |study: &Study, asked: &PlanAsked| -> Result<Plan, Error> {
        Applied::new(&trained, study, "the model", "the study")?.plan(asked)
    };
    let names = |plan: &Plan| plan.plan.iter().map(|row| row.arm.clone()).collect::<Vec<_>>();
    let before = plan(&study, &asked).unwrap();
    assert_eq!((before.unavailable, before.left_out()), (0, None));
    assert!(serde_json::to_value(&before).unwrap().get("unavailable").is_none());

    let first = before.plan[0].arm.clone();
    let arm = study.instances[0].arms.iter().position(|arm| *arm == first).unwrap();
    let log = study.instances[0].trajectories.clone();
    let mut available = log.state().mapv(|_| true);
    available[[log.trajectories() - 1, log.steps() - 1, arm]] = false;
    let logged = Logged {
        state: log.state().to_owned(),
        action: log.action().to_owned(),
        propensity: None,
        reward: None,
        available: Some(available),
    };
    study.instances[0].trajectories = Trajectories::new(logged, 2).unwrap();
    let after = plan(&study, &asked).unwrap();
    // the others move up
    assert_eq!(names(&after)[..2], names(&before)[1..3]);
    assert_eq!(after.plan.len(), 3);
    let excluded: Vec<(usize, &str)> = after.excluded.iter().map(|one| (one.arm, one.why.as_str())).collect();
    assert_eq!(excluded, [(arm, "not available at this decision")]);
    let expected = "1 left out: 0 gone by now, 0 not to be called, 1 not available at this decision";
    assert_eq!(after.left_out().as_deref(), Some(expected));

    let rules = Rules::parse(Path::new("rules.toml"), &format!("must_call = [\"{first}\"]\n")).unwrap();
    let refused = plan(&study, &PlanAsked { rules, ..asked }).map(drop).unwrap_err().to_string();
    let expected =
        format!("must_call: {first} is not available at this decision, expected somebody who may be called");
    assert!(refused.ends_with(&expected), "{refused}");
}

#[test]
fn partitions_refuse_declarations() {
    let (trained, _) = learnt();
    for line in ["cluster = \"household\"", "assignment = \"per-person\""] {
        let settings =
            format!("states = 2\ndiscount = 0.9\nbudget = 3\nhorizon = 5\nbehaviour = \"uniform\"\n{line}\n");
        let plan = PlanJob::new(trained.clone(), &settings, PlanAsked::default(), 4).map(drop);
        let training = PartitionTraining::new(&settings, effect(), "a test").map(drop);
        for refused in [plan, training] {
            let refused = refused.unwrap_err().to_string();
            assert!(refused.starts_with(&format!("found {line} in study.toml, expected")), "{refused}");
        }
    }
}
