//! The policies that are judged: some that know nothing, and those that follow the model and, where it is known, the truth.

use crate::apply::indices;
use crate::error::Result;
use restive::evaluation::World;
use restive::policy::{Policy, Temperature};
use restive::{Instance, Transition};

/// All policies of an instance by name, and how many arms are predicted not to be indexable.
pub(super) fn policies(
    instance: &Instance,
    prediction: &Transition,
    truth: Option<&Transition>,
    index_discount: f64,
    temperature: Temperature,
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
        Ok(not_indexable)
    };
    let not_indexable = add("model", prediction)?;
    truth.map_or(Ok(0), |truth| add("oracle", truth))?;
    Ok((policies, not_indexable))
}
