//! The policies that are judged: some that know nothing, and those that follow the model and, where it is known, the truth.

use crate::apply::RankIndex;
use crate::error::Result;
use ndarray::Array2;
use restive::evaluation::{Start, World};
use restive::planning::Ending;
use restive::policy::{Policy, Temperature};
use restive::{Instance, Transition};

/// All policies of an instance by name, soft ones where there is a temperature; and how many arms are predicted not to be
/// indexable.
pub(super) fn policies(
    instance: &Instance,
    prediction: &Transition,
    truth: Option<&Transition>,
    index: RankIndex,
    temperature: Option<Temperature>,
    horizon: usize,
    start: Start,
) -> Result<(Vec<(String, Policy)>, usize)> {
    let (reward, observation) = (instance.reward(), instance.observation());
    // those who fare worst first, as caseworkers might
    let world = World::new(observation, reward, prediction);
    let (labels, myopic) = (world.reward(), world.myopic_index(instance.discount()));
    let least = Array2::from_shape_fn((instance.arms(), instance.labels()), |(i, l)| -labels.at(i, l, 0));
    let mut policies = vec![
        ("no-action".to_string(), Policy::NoAction),
        ("random".to_string(), Policy::Random),
        ("round-robin".to_string(), Policy::RoundRobin),
        ("least-engaged".to_string(), Policy::Strict(least)),
        ("myopic".to_string(), Policy::Strict(myopic)),
    ];
    let mut add = |name: &str, transition: &Transition| -> Result<usize> {
        let (table, not_indexable) = index.table(transition, reward, observation)?;
        if let Some(temperature) = temperature {
            let softness = temperature.resolve(table.as_slice().expect("row-major"));
            policies.push((format!("{name}-soft"), Policy::Soft(table.clone(), softness)));
        }
        policies.push((format!("{name}-strict"), Policy::Strict(table)));
        policies.push((format!("{name}-horizon"), horizon_policy(instance, transition, horizon, start)));
        Ok(not_indexable)
    };
    let not_indexable = add("model", prediction)?;
    truth.map_or(Ok(0), |truth| add("oracle", truth))?;
    Ok((policies, not_indexable))
}

/// The plan for a deployment of so many steps that begins there: what is counted ends with them, as the estimators do.
fn horizon_policy(instance: &Instance, transition: &Transition, horizon: usize, start: Start) -> Policy {
    let world = World::new(instance.observation(), instance.reward(), transition);
    let start = start.initial(instance.trajectories(), instance.observation());
    let start = start.mass(instance.arms(), instance.labels());
    world.horizon_plan(instance.discount(), instance.budget() as f64, horizon, Ending::Nothing, start.view())
}
