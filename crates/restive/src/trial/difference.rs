//! (1) The difference in means: nobody can object to it, and it is wide.
//!
//! n(Ȳ − Ȳ′) with n people in the policy arm and Y the sum of a person's outcomes; se = n·√(s²/n + s′²/n′). Most people of
//! either arm were never called and only add noise: at 40 calls a week among 2,000 people it needs an effect seven times
//! as large as the estimators that know whom the rules would treat differently.

use super::complete::completed;
use super::effect::Effect;
use super::record::{Group, Record};
use super::refusal::Refusal;

/// The difference in means, times the people of the policy arm.
pub fn difference(record: &Record) -> Result<Effect, Refusal> {
    if record.parts().cluster.is_some() {
        return Err(Refusal::Clusters);
    }
    let y: Vec<f64> = completed(record, |_, _| false)?.outer_iter().map(|row| row.sum()).collect();
    Ok(between_arms(record, &y))
}

/// The difference of the arms in a number per person, times the people of the policy arm.
pub(super) fn between_arms(record: &Record, number: &[f64]) -> Effect {
    let group = &record.parts().group;
    let of = |arm| -> Vec<f64> { (0..group.len()).filter(|&i| group[i] == arm).map(|i| number[i]).collect() };
    let (ours, theirs) = (of(Group::Policy), of(Group::Control));
    let (n, m) = (ours.len() as f64, theirs.len() as f64);
    let [(mean, variance), (other, spread)] = [moments(&ours), moments(&theirs)];
    Effect::new(record, n * (mean - other), n * (variance / n + spread / m).sqrt())
}

/// Mean and variance of at least two numbers.
pub(super) fn moments(x: &[f64]) -> (f64, f64) {
    let n = x.len() as f64;
    let mean = x.iter().sum::<f64>() / n;
    (mean, x.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / (n - 1.0))
}
