//! The policies that are judged: some that know nothing, and those that follow the model and, where it is known, the truth.

use crate::apply::indices;
use crate::error::Result;
use restive::evaluation::{World, first_mass};
use restive::planning::Ending;
use restive::policy::{Policy, Temperature};
use restive::{Instance, Transition};

/// All policies of an instance by name, and how many arms are predicted not to be indexable.
pub(super) fn policies(
    instance: &Instance,
    prediction: &Transition,
    truth: Option<&Transition>,
    index_discount: f64,
    temperature: Temperature,
    horizon: usize,
) -> Result<(Vec<(String, Policy)>, usize)> {
    let (reward, observation) = (instance.reward(), instance.observation());
    let myopic = World::new(observation, reward, prediction).myopic_index(instance.discount());
    let mut policies = vec![
        ("no-action".to_string(), Policy::NoAction),
        ("random".to_string(), Policy::Random),
        ("round-robin".to_string(), Policy::RoundRobin),
        ("myopic".to_string(), Policy::Strict(myopic)),
    ];
    let mut add = |name: &str, transition: &Transition| -> Result<usize> {
        let (table, not_indexable) = indices(transition.view(), reward.view(), index_discount, observation)?;
        let softness = temperature.resolve(table.as_slice().expect("row-major"));
        policies.push((format!("{name}-soft"), Policy::Soft(table.clone(), softness)));
        policies.push((format!("{name}-strict"), Policy::Strict(table)));
        policies.push((format!("{name}-horizon"), horizon_policy(instance, transition, horizon)));
        Ok(not_indexable)
    };
    let not_indexable = add("model", prediction)?;
    truth.map_or(Ok(0), |truth| add("oracle", truth))?;
    Ok((policies, not_indexable))
}

/// The plan for a deployment of so many steps that begins where the log did: what is counted ends with them, as the estimators do.
fn horizon_policy(instance: &Instance, transition: &Transition, horizon: usize) -> Policy {
    let world = World::new(instance.observation(), instance.reward(), transition);
    let start = first_mass(instance.trajectories(), instance.observation());
    world.horizon_plan(instance.discount(), instance.budget() as f64, horizon, Ending::Nothing, start.view())
}
