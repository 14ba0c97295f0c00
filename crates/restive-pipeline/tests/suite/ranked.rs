//! What arms are ranked by at a logged decision is what a plan would have said there.

use crate::learnt;
use ndarray::{Array3, s};
use restive::Trajectories;
use restive::data::domain::Domain;
use restive::data::split::Group;
use restive::instance::{Logged, NO_ACTION, UNSEEN};
use restive_pipeline::generate::Synthetic;
use restive_pipeline::{Applied, Asked, Error, LastSeen, PlanAsked, PolicyName, Trained, Training, latest};
use restive_tables::Study;

/// The study as it was before a decision.
fn until(study: &Study, j: usize, t: usize) -> Study {
    let mut until = study.clone();
    for instance in &mut until.instances {
        let log = instance.trajectories.clone();
        let mut state = log.state().slice(s![..=j, .., ..]).to_owned();
        let mut action = log.action().slice(s![..=j, .., ..]).to_owned();
        state.slice_mut(s![j, t + 1.., ..]).fill(UNSEEN);
        action.slice_mut(s![j, t.., ..]).fill(NO_ACTION);
        let logged = Logged { state, action, propensity: None, reward: None, available: None };
        instance.trajectories = Trajectories::new(logged, log.states()).unwrap();
        instance.trajectory_names.truncate(j + 1);
    }
    until
}

/// Compares the scores at every decision with plans for studies that end there. Returns the shape of the scores.
fn check(trained: &Trained, study: &Study, asked: &PlanAsked) -> [usize; 3] {
    let applied = Applied::new(trained, study, "the model", "the study").unwrap();
    let groups = applied.all();
    let scores: Vec<Array3<f64>> = groups.iter().map(|group| applied.ranked(group, asked).unwrap()).collect();
    let log = &study.instances[0].trajectories;
    let (last, decisions) = (log.trajectories() - 1, log.steps() - 1);
    for (j, t) in [(0, 0), (0, decisions - 1), (last / 2, 1), (last, 0), (last, decisions - 1)] {
        let earlier = until(study, j, t);
        let then = Applied::new(trained, &earlier, "the model", "the study").unwrap();
        let plan = then.plan(asked).unwrap();
        assert!(!plan.plan.is_empty());
        for planned in &plan.plan {
            let k = study.instances.iter().position(|there| there.name == planned.instance).unwrap();
            let there = &earlier.instances[k];
            let i = there.arms.iter().position(|arm| *arm == planned.arm).unwrap();
            let state = match planned.place {
                LastSeen::State { state } => state,
                LastSeen::Label { .. } => {
                    let Some(label) = latest(&there.trajectories, study.settings.observation)[i] else {
                        continue;
                    };
                    label
                }
            };
            let d = if scores[k].shape()[0] == 1 { 0 } else { j * decisions + t };
            let (found, expected) = (scores[k][[d, i, state.into()]], planned.worth.value());
            assert!((found - expected).abs() <= 1e-12, "{j} {t} {k} {i}: {found}, plan {expected}");
        }
    }
    scores[0].shape().try_into().unwrap()
}

#[test]
fn scores_are_those_of_a_plan_made_there() {
    let (trained, mut study) = learnt();
    let asked = |history, budget| PlanAsked { history: Some(history), budget, ..PlanAsked::default() };
    for budget in [None, Some(12)] {
        // the index of a prediction alone is the same at every decision
        assert_eq!(check(&trained, &study, &asked(false, budget)), [1, 12, 2]);
        assert_eq!(check(&trained, &study, &asked(true, budget)), [30, 12, 2]);
    }
    study.settings.ends = Some(8);
    for budget in [None, Some(12)] {
        assert_eq!(check(&trained, &study, &asked(false, budget)), [30, 12, 2]);
        assert_eq!(check(&trained, &study, &asked(true, budget)), [30, 12, 2]);
    }
    let whittle = PlanAsked { policy: Some(PolicyName::Whittle), ..asked(false, None) };
    assert_eq!(check(&trained, &study, &whittle), [1, 12, 2]);
    let rolling = PlanAsked { remaining: Some(3), ..asked(false, None) };
    assert_eq!(check(&trained, &study, &rolling), [30, 12, 2]);
    // records that were not asked for count where held-out arms say that they help
    let helps = trained.model.card.own_record.as_ref().unwrap().helps;
    let expected = if helps { 30 } else { 1 };
    study.settings.ends = None;
    assert_eq!(check(&trained, &study, &PlanAsked::default()), [expected, 12, 2]);
}

#[test]
fn labels_are_ranked_as_states_are() {
    let domain =
        Domain { instances: 3, arms: 12, budget: 3, horizon: 5, trajectories: 4, ..Domain::collapsing() };
    let mut study = Synthetic::Collapsing(domain).study(5).unwrap();
    let asked = Asked { epochs: Some(3), ..Asked::default() };
    let training = Training::new(&study, &asked, "a test").unwrap();
    let progressed = training.run(Default::default(), None, |_| Ok::<_, Error>(())).unwrap();
    let trained =
        crate::identified(Trained::new(training.model(progressed.members, progressed.histories)).unwrap());
    let labels = study.instances[0].trajectories.states();
    let plain = PlanAsked { history: Some(false), ..PlanAsked::default() };
    assert_eq!(check(&trained, &study, &plain), [1, 12, labels]);
    study.settings.ends = Some(6);
    assert_eq!(check(&trained, &study, &plain), [20, 12, labels]);
}

#[test]
fn nothing_that_came_later_enters_and_nobody_of_another_group() {
    let (trained, mut study) = learnt();
    study.settings.ends = Some(8);
    let asked = PlanAsked { history: Some(true), ..PlanAsked::default() };
    let group = Group { instance: 1, arms: vec![0, 3, 4, 9] };
    let scores = |study: &Study| {
        let applied = Applied::new(&trained, study, "the model", "the study").unwrap();
        applied.ranked(&group, &asked).unwrap()
    };
    let found = scores(&study);
    assert_eq!(found.shape(), [30, 4, 2]);
    // the third trajectory ends after two decisions, and arms that are not of the group are never seen
    let (j, t) = (2, 2);
    let mut other = study.clone();
    let log = &study.instances[1].trajectories;
    let (mut state, mut action) = (log.state().to_owned(), log.action().to_owned());
    state.slice_mut(s![j, t + 1.., ..]).fill(UNSEEN);
    action.slice_mut(s![j, t.., ..]).fill(NO_ACTION);
    for arm in (0..12).filter(|arm| !group.arms.contains(arm)) {
        state.slice_mut(s![.., .., arm]).fill(UNSEEN);
        action.slice_mut(s![.., .., arm]).fill(NO_ACTION);
    }
    let logged = Logged { state, action, propensity: None, reward: None, available: None };
    other.instances[1].trajectories = Trajectories::new(logged, 2).unwrap();
    let without = scores(&other);
    let first = j * 5 + t;
    assert_eq!(found.slice(s![..first, .., ..]), without.slice(s![..first, .., ..]));
    assert!(
        without.slice(s![first..j * 5 + 5, .., ..]).iter().all(|score| *score == 0.0),
        "nothing was decided"
    );
    assert_ne!(
        found.slice(s![j * 5 + 5.., .., ..]),
        without.slice(s![j * 5 + 5.., .., ..]),
        "records differ"
    );
}
