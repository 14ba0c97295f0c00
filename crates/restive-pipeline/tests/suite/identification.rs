//! Logs whose assignment of calls is known: which of them identify effects, and that an evaluation refuses the others before it trains.

use ndarray::Array3;
use rand::RngExt;
use restive::data::features::{Column, Features};
use restive::instance::{Logged, NO_ACTION, Observation};
use restive::random::{Random, stream};
use restive::{Reward, Trajectories};
use restive_pipeline::{
    Applied, Asked, Error, EvaluateAsked, Identification, Outcome, PredictorName, Trained, Training,
};
use restive_tables::{Study, StudyBehaviour, StudyInstance, StudySettings};

const PEOPLE: usize = 400;
const WEEKS: usize = 12;

/// A person at a decision.
struct Person {
    number: usize,
    week: usize,
    state: u16,
    /// hidden: those with a high one are engaged more often
    inclination: f64,
    age: f64,
}

/// A log in which a person is called with the given chance.
fn study(seed: u64, behaviour: StudyBehaviour, chance: impl Fn(&Person) -> f64) -> Study {
    let mut random: Random = stream(seed, &[37]);
    let mut state = Array3::zeros((1, WEEKS + 1, PEOPLE));
    let mut action = Array3::zeros((1, WEEKS + 1, PEOPLE));
    action.slice_mut(ndarray::s![0, WEEKS, ..]).fill(NO_ACTION);
    let (mut ages, mut incomes) = (Vec::new(), Vec::new());
    for number in 0..PEOPLE {
        let (inclination, age) = (random.random::<f64>(), random.random::<f64>());
        ages.push(20.0 + 20.0 * age);
        incomes.push(random.random::<f64>());
        let mut now = u16::from(random.random::<f64>() < inclination);
        state[[0, 0, number]] = now;
        for week in 0..WEEKS {
            let called =
                random.random::<f64>() < chance(&Person { number, week, state: now, inclination, age });
            let engaged = 0.1 + 0.6 * inclination + 0.1 * f64::from(now) + if called { 0.1 } else { 0.0 };
            now = u16::from(random.random::<f64>() < engaged);
            (state[[0, week + 1, number]], action[[0, week, number]]) = (now, u8::from(called));
        }
    }
    let columns = vec![("age".into(), Column::Number(ages)), ("income".into(), Column::Number(incomes))];
    let logged = Logged { state, action, propensity: None, reward: None, available: None };
    let settings = StudySettings {
        name: None,
        notes: None,
        unit: None,
        reward: Reward::linear(2),
        discount: 0.9,
        budget: 40,
        horizon: 8,
        ends: None,
        observation: Observation::Full,
        behaviour,
        cluster: None,
        assignment: Default::default(),
        text: Vec::new(),
        silenced: Default::default(),
    };
    let instance = StudyInstance {
        name: "0".into(),
        arms: (0..PEOPLE).map(|number| number.to_string()).collect(),
        features: Features::new(PEOPLE, columns).unwrap(),
        split: None,
        clusters: None,
        trajectory_names: vec!["1".into()],
        trajectories: Trajectories::new(logged, 2).unwrap(),
        truth: None,
    };
    Study { settings, instances: vec![instance] }
}

fn training(study: &Study) -> Training {
    let asked = Asked { predictor: Some(PredictorName::Effect), ..Asked::default() };
    Training::new(study, &asked, "a test").unwrap()
}

fn found(study: &Study) -> Identification {
    training(study).card.identification
}

fn by_lot(_: &Person) -> f64 {
    0.1
}

/// As the caseworkers of synthetic programmes choose: those who are engaged more often anyway.
fn by_hunch(person: &Person) -> f64 {
    0.04 * (1.0 + person.inclination).powi(3)
}

#[track_caller]
fn refused(study: &Study, is_unknown: bool, expected: &str) {
    let found = found(study);
    assert_eq!(matches!(found, Identification::Unknown { .. }), is_unknown, "{found:?}");
    let reason = found.reason().unwrap_or_else(|| panic!("no reason, expected {expected}"));
    assert!(reason.contains(expected), "{reason}");
}

#[test]
fn effects_are_identified_by_lots_turns_and_choices_that_the_tables_show() {
    use StudyBehaviour::{Estimated, RoundRobinAsUniform, Uniform};
    let in_turn = |person: &Person| f64::from(u8::from(person.number % 10 == person.week % 10));
    let by_state = |person: &Person| if person.state == 0 { 0.15 } else { 0.05 };
    for (behaviour, chance) in [
        (Uniform, Box::new(by_lot) as Box<dyn Fn(&Person) -> f64>),
        (Estimated, Box::new(by_lot)),
        (Estimated, Box::new(by_state)),
        (Estimated, Box::new(|person: &Person| 0.05 + 0.1 * person.age)),
        (RoundRobinAsUniform, Box::new(in_turn)),
    ] {
        assert_eq!(found(&study(1, behaviour, chance)), Identification::Identified, "{behaviour:?}");
    }
}

#[test]
fn effects_are_not_identified_if_the_log_contradicts_the_declaration() {
    use StudyBehaviour::{Estimated, None as Undeclared, RoundRobinAsUniform, Uniform};
    refused(&study(1, Estimated, by_hunch), false, "in earlier states by");
    refused(&study(1, Uniform, |person| if person.state == 0 { 0.15 } else { 0.05 }), false, "in state by");
    refused(&study(1, Uniform, |person| 0.02 + 0.16 * person.age), false, "in feature age by");
    refused(&study(1, RoundRobinAsUniform, by_lot), false, "that was no rota");
    // of each week all or nobody
    let all_or_none = |person: &Person| f64::from(u8::from(person.week.is_multiple_of(3)));
    refused(
        &study(1, Uniform, all_or_none),
        false,
        "0 pulls of people who might as well not have been pulled",
    );
    refused(
        &study(1, Uniform, |person| if person.week < 3 { 0.1 } else { 0.0 }),
        true,
        "expected at least 200",
    );
    refused(&study(1, Undeclared, by_lot), true, "nobody says how those who were pulled were chosen");
}

#[test]
fn lots_are_refused_about_as_often_as_their_checks_allow() {
    // four checks beyond 3 standard errors and one of two features: 1.4 % together, 1.6 of 120 logs on average
    let is_refused =
        |seed: u64| found(&study(seed, StudyBehaviour::Uniform, by_lot)) != Identification::Identified;
    let refusals = (0..120).filter(|seed| is_refused(*seed)).count();
    assert!(refusals <= 6, "{refusals} of 120");
}

#[test]
fn evaluation_of_calls_by_hunch_is_refused_before_a_model_is_trained() {
    for (chance, is_refused) in [(by_hunch as fn(&Person) -> f64, true), (by_lot, false)] {
        let study = study(1, StudyBehaviour::Estimated, chance);
        let training = training(&study);
        let done = training.run(Default::default(), None, |_| Ok::<_, Error>(())).unwrap();
        let trained = Trained::new(training.model(done.members, done.histories)).unwrap();
        let applied = Applied::new(&trained, &study, "the model", "the study").unwrap();
        let few = EvaluateAsked {
            folds: 2,
            runs: Some(2),
            resamples: Some(2),
            deals: Some(2),
            ..Default::default()
        };
        let mut visits = 0;
        let evaluated = applied.evaluate(&few, None, |_| {
            visits += 1;
            Ok::<_, Error>(())
        });
        let evidence = evaluated.unwrap().evidence;
        assert_eq!(matches!(evidence, Some(Outcome::Refused { .. })), is_refused);
        assert_eq!(visits == 0, is_refused, "{visits} steps of a training");
    }
}
