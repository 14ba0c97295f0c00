//! Comparison of both readers with the naive reader.

use ndarray::Array2;
use restive::Reward;
use restive::data::features::Column;
use restive::data::split::Part;
use restive::instance::{Assignment, Chain, NO_ACTION, Observation, OverBudget, UNSEEN};
use restive_tables::{Piece, Roll, RollCounts, Study, StudyBehaviour, StudyInstance, StudySettings};
use restive_testkit::naive_study::{NaiveStep, NaiveStudy, StepKey, Value, name_key};
use std::collections::BTreeMap;
use toml::Value as TomlValue;

/// Names in their order.
fn sorted<'a>(names: impl Iterator<Item = &'a String>) -> Vec<&'a String> {
    let mut names: Vec<&String> = names.collect();
    names.sort_by_key(|name| name_key(name));
    names.dedup();
    names
}

fn instances(naive: &NaiveStudy) -> Vec<&String> {
    sorted(naive.arms.keys().map(|(instance, _)| instance))
}

fn arms<'a>(naive: &'a NaiveStudy, instance: &str) -> Vec<&'a String> {
    sorted(naive.arms.keys().filter(|(other, _)| other == instance).map(|(_, arm)| arm))
}

/// Settings that `study.toml` contains, and defaults for the optional ones that no study of the test kit has.
fn settings(naive: &NaiveStudy) -> StudySettings {
    let setting = |name: &str| naive.settings.get(name);
    let integer = |name: &str| setting(name).unwrap().as_integer().unwrap() as usize;
    let rewards = Array2::from_shape_fn((naive.rewards.len(), 2), |(s, a)| naive.rewards[s][a]);
    let chain = |labels: usize| match setting("chain").and_then(TomlValue::as_str) {
        Some("infinite") => Chain::Infinite { beliefs: labels },
        _ => Chain::Finite(labels),
    };
    let text = setting("text").and_then(TomlValue::as_array).into_iter().flatten();
    StudySettings {
        name: None,
        notes: None,
        unit: None,
        reward: Reward::of_state_and_action(rewards).unwrap(),
        discount: setting("discount").unwrap().as_float().unwrap(),
        budget: integer("budget"),
        horizon: integer("horizon"),
        ends: None,
        observation: naive.labels.map_or(Observation::Full, |labels| Observation::Collapsing(chain(labels))),
        behaviour: match setting("behaviour").unwrap().as_str().unwrap() {
            "logged" => StudyBehaviour::Logged,
            "uniform" => StudyBehaviour::Uniform,
            other => panic!("found behaviour {other}, expected logged or uniform"),
        },
        cluster: setting("cluster").map(|name| name.as_str().unwrap().to_string()),
        assignment: match setting("assignment").map(|name| name.as_str().unwrap()) {
            None => Assignment::PerDecision,
            Some("per-person") => Assignment::PerPerson,
            Some(other) => panic!("found assignment {other}, expected per-person"),
        },
        text: text.map(|name| name.as_str().unwrap().to_string()).collect(),
        silenced: BTreeMap::new(),
    }
}

/// Checks a study that was read at once: everything is there, nothing else is, and names are in their order.
pub fn assert_study(study: &Study, naive: &NaiveStudy) {
    assert_eq!(study.settings, settings(naive));
    let names: Vec<&String> = study.instances.iter().map(|instance| &instance.name).collect();
    assert_eq!(names, instances(naive));
    for instance in &study.instances {
        assert_eq!(instance.arms.iter().collect::<Vec<_>>(), arms(naive, &instance.name));
        assert_arms(instance, naive, true);
    }
    assert_eq!(study.over_budget(), over_budget(naive));
}

/// Checks the pieces of a roll: each arm is in one of them, at the position of its row.
pub fn assert_pieces(roll: &Roll, pieces: &[Piece], naive: &NaiveStudy, rows: usize) {
    assert_eq!(roll.settings, settings(naive));
    let instances = instances(naive);
    let mut found: Vec<(&String, &String)> = Vec::new();
    for piece in pieces {
        let instance = &piece.there;
        assert_eq!(&instance.name, instances[piece.instance]);
        assert!(piece.positions.is_sorted_by(|a, b| a < b) && piece.positions.len() <= rows);
        assert_positions(roll, piece, naive);
        found.extend(instance.arms.iter().map(|arm| (&instance.name, arm)));
    }
    found.sort();
    let expected: Vec<(&String, &String)> =
        naive.arms.keys().map(|(instance, arm)| (instance, arm)).collect();
    assert_eq!(found, expected, "each arm once");
}

/// Checks the arms of a piece, and that each is at the position of its row.
pub fn assert_positions(roll: &Roll, piece: &Piece, naive: &NaiveStudy) {
    assert_arms(&piece.there, naive, false);
    for (position, arm) in piece.positions.iter().zip(&piece.there.arms) {
        let position = *position as usize;
        assert_eq!(position, naive.arms[&(piece.there.name.clone(), arm.clone())].row);
        assert_eq!((roll.name(position), roll.instance_of(position)), (arm.as_str(), piece.instance));
        assert_eq!(roll.find(piece.instance, arm), Some(position));
    }
}

/// Checks some arms of an instance. Rolls keep no propensities, rewards and true transitions.
fn assert_arms(instance: &StudyInstance, naive: &NaiveStudy, has_values: bool) {
    let log = &instance.trajectories;
    assert_eq!(instance.trajectory_names, naive.trajectories[&instance.name]);
    assert_eq!(instance.features.names(), naive.features);
    let is_text = instance.features.columns().iter().map(|column| matches!(column, Column::Text(_)));
    assert!(is_text.eq(naive.is_text.iter().copied()), "{:?}: {:?}", naive.features, naive.is_text);
    assert_eq!((log.steps(), log.arms()), (naive.lengths[&instance.name], instance.arms.len()));
    assert_eq!(log.trajectories(), instance.trajectory_names.len());
    assert_eq!(log.states(), naive.rewards.len() * naive.labels.unwrap_or(1));
    assert_eq!(log.available().is_some(), naive.columns.iter().any(|column| column == "available"));
    for (i, arm) in instance.arms.iter().enumerate() {
        let expected = &naive.arms[&(instance.name.clone(), arm.clone())];
        assert_eq!(instance.split.as_ref().map(|split| split[i].name()), expected.split.as_deref());
        assert_eq!(instance.clusters.as_ref().map(|names| &names[i]), expected.cluster.as_ref());
        let features: Vec<Value> =
            instance.features.columns().iter().map(|column| value(column, i)).collect();
        assert_eq!(features, expected.features, "{arm}");
        if has_values {
            let truth = instance.truth.as_ref().map(|truth| truth.view());
            let truth =
                truth.map(|all| all.index_axis(ndarray::Axis(0), i).iter().copied().collect::<Vec<_>>());
            assert_eq!(truth, expected.truth);
        }
        for (j, trajectory) in instance.trajectory_names.iter().enumerate() {
            for t in 0..log.steps() {
                let key = (instance.name.clone(), trajectory.clone(), arm.clone(), t);
                let mut expected = naive.steps.get(&key).cloned().unwrap_or_default();
                if !has_values {
                    (expected.propensity, expected.reward) = (None, None);
                }
                assert_eq!(step(instance, naive.labels, [j, t, i]), expected, "{key:?}");
            }
        }
    }
}

fn value(column: &Column, i: usize) -> Value {
    match column {
        Column::Number(values) if values[i].is_nan() => Value::Missing,
        Column::Number(values) => Value::Number(values[i]),
        Column::Text(values) => values[i].clone().map_or(Value::Missing, Value::Text),
    }
}

fn step(instance: &StudyInstance, labels: Option<usize>, at: [usize; 3]) -> NaiveStep {
    let log = &instance.trajectories;
    let state = Some(usize::from(log.state()[at])).filter(|state| *state != usize::from(UNSEEN));
    let action = Some(usize::from(log.action()[at])).filter(|action| *action != usize::from(NO_ACTION));
    let number = |all: Option<ndarray::ArrayView3<f64>>| all.map(|all| all[at]).filter(|x| !x.is_nan());
    NaiveStep {
        state: state.map(|state| labels.map_or(state, |labels| state / labels)),
        since: state.and_then(|state| labels.map(|labels| state % labels)),
        action,
        propensity: number(log.propensity()).filter(|_| action.is_some()),
        reward: number(log.reward()),
        is_unavailable: !log.is_available(at),
    }
}

/// Number of arms of an instance by trajectory and step of which a property holds.
fn count(naive: &NaiveStudy, instance: &str, property: fn(&NaiveStep) -> bool) -> Vec<Vec<usize>> {
    let runs = &naive.trajectories[instance];
    let mut counts = vec![vec![0; naive.lengths[instance]]; runs.len()];
    for ((other, run, _, t), step) in &naive.steps {
        if other == instance && property(step) {
            counts[runs.iter().position(|name| name == run).unwrap()][*t] += 1;
        }
    }
    counts
}

fn is_decided(step: &NaiveStep) -> bool {
    step.action.is_some()
}

fn is_pulled(step: &NaiveStep) -> bool {
    step.action == Some(1)
}

fn over_budget(naive: &NaiveStudy) -> Option<OverBudget> {
    let budget = naive.settings["budget"].as_integer().unwrap() as usize;
    let pulls = instances(naive).into_iter().flat_map(|k| count(naive, k, is_pulled)).flatten();
    let over: Vec<usize> = pulls.filter(|pulls| *pulls > budget).collect();
    over.iter().max().map(|most| OverBudget { steps: over.len(), most: *most })
}

/// Checks all counts of a roll.
pub fn assert_counts(roll: &Roll, naive: &NaiveStudy) {
    let (mut cells, mut decisions, mut pulls) = (0, Vec::new(), Vec::new());
    for (name, found) in instances(naive).into_iter().zip(roll.instances()) {
        assert_eq!((&found.name, found.people), (name, arms(naive, name).len()));
        assert_eq!(found.trajectory_names, naive.trajectories[name]);
        assert_eq!(found.steps, naive.lengths[name]);
        assert_eq!(found.seen, count(naive, name, |step| step.state.is_some()));
        assert_eq!(found.decisions, count(naive, name, is_decided));
        assert_eq!(found.pulls, count(naive, name, is_pulled));
        cells += found.people * found.steps * found.trajectory_names.len();
        decisions.extend(count(naive, name, is_decided));
        pulls.extend(count(naive, name, is_pulled));
    }
    let steps = || naive.steps.iter();
    let is_known = |(instance, arm): &&(String, String)| {
        let is_row_of_arm = |((i, _, a, _), step): (&StepKey, &NaiveStep)| {
            (i, a) == (instance, arm) && (step.state.is_some() || step.action.is_some())
        };
        steps().any(is_row_of_arm)
    };
    let split =
        |part: Part| naive.arms.values().filter(|arm| arm.split.as_deref() == Some(part.name())).count();
    let has_split = naive.arms.values().all(|arm| arm.split.is_some());
    let last = |run: &Vec<usize>| run.iter().rposition(|count| *count > 0).map_or(0, |t| t + 1);
    let has_column = |name: &str| naive.columns.iter().any(|column| column == name);
    let expected = RollCounts {
        people: naive.arms.len(),
        newcomers: naive.arms.len() - naive.arms.keys().filter(is_known).count(),
        trajectories: naive.trajectories.values().map(Vec::len).sum(),
        decision_steps: decisions.iter().map(last).max().unwrap(),
        steps: decisions.iter().flatten().filter(|count| **count > 0).count(),
        decisions: steps().filter(|(_, step)| is_decided(step)).count(),
        pulls: steps().filter(|(_, step)| is_pulled(step)).count(),
        most_pulls: pulls.iter().flatten().copied().max().unwrap(),
        cells,
        unobserved: cells - steps().filter(|(_, step)| step.state.is_some()).count(),
        known_propensities: steps().filter(|(_, step)| step.propensity.is_some()).count(),
        has_propensity: has_column("propensity"),
        has_reward: has_column("reward"),
        split: has_split.then(|| Part::ALL.map(split)),
    };
    assert_eq!(*roll.counts(), expected);
    assert_eq!(roll.over_budget(), over_budget(naive));
    assert_eq!(roll.has_truth(), naive.arms.values().all(|arm| arm.truth.is_some()));
}
