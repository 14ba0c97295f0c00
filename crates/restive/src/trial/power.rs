//! How large a trial has to be: the whole of it, many times over, in a [world](World) that is known.
//!
//! Every trial deals people into arms, calls by rank, loses outcomes, and is analysed by all estimators. So the coupling of people
//! by the budget, the correlation of weeks within a person, missing outcomes and clusters are in the answer without a formula. For each size,
//! effect and estimator: the true effect (with the same random numbers in both worlds), the estimate and its bias, the
//! spread, the standard error that was claimed, how often the interval covers the true mean, how often it leaves out 0, each with the
//! Monte-Carlo error of the figure. The detectable effect is (q + .84)·se, 2.80·se without clusters, for 80 % power at 5 %.
//!
//! The trials of one effect have the random numbers of every other, trials are shared among threads, and the result does
//! not depend on how.

use super::analyse::Estimator;
use super::effect::Effect;
use super::record::unsuitable;
use super::refusal::Refusal;
use super::stage::Stage;
use super::world::World;
use crate::error::{Error, Result};
use crate::interrupt;
use crate::random::stream;
use rand::RngExt;
use rayon::prelude::*;

/// Clusters that are assigned instead of people.
#[derive(Debug, Clone, PartialEq)]
pub struct Clusters {
    /// `[N]`: the cluster of each person, numbered from 0
    pub of: Vec<usize>,
    /// standard deviation of the shock that a cluster shares, in log-odds
    pub sd: f64,
}

impl Clusters {
    pub(super) fn count(&self) -> usize {
        self.of.iter().max().map_or(0, |last| last + 1)
    }
}

/// How the trial is to be run.
#[derive(Debug, Clone, PartialEq)]
pub struct Design {
    /// T
    pub weeks: usize,
    /// how people are shared between the policy arm and the control arm
    pub shares: [usize; 2],
    /// calls a week in each arm at full size; those of the control arm count only where it has an index
    pub budget: [usize; 2],
    /// the rate at which outcomes are missing
    pub missing: f64,
    /// none where people are assigned
    pub clusters: Option<Clusters>,
    /// parts of the people (or of the clusters) that take part, each above 0 and at most 1; budgets go with them
    pub sizes: Vec<f64>,
}

/// A figure with its Monte-Carlo standard error.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Simulated {
    /// the figure
    pub value: f64,
    /// its standard error over the trials
    pub error: f64,
}

/// What an estimator does at one size and effect.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Power {
    /// the part of the people that takes part
    pub size: f64,
    /// δ: calls do so many times what the world says
    pub effect: f64,
    /// the estimator
    pub estimator: Estimator,
    /// people of the policy arm, in the mean
    pub people: f64,
    /// those of them who are called at any time, in the mean
    pub called: f64,
    /// trials in which it answered
    pub answered: usize,
    /// the first refusal, where there was one
    pub refused: Option<Refusal>,
    /// the true effect
    pub truth: Simulated,
    /// the estimate
    pub estimate: Simulated,
    /// the estimate less the true effect of its trial
    pub bias: Simulated,
    /// standard deviation of the estimate
    pub sd: f64,
    /// the standard error that it claims
    pub se: Simulated,
    /// how often the interval holds the mean true effect
    pub coverage: Simulated,
    /// how often the interval leaves out 0
    pub rejection: Simulated,
    /// the arm total that is found in four of five trials
    pub detectable: f64,
    /// the same per person called; none where nobody is
    pub detectable_per_person_called: Option<f64>,
}

/// Every estimator at every size and effect: sizes outermost, then effects, then [`Estimator::ALL`]; those that never answered
/// have NaN figures and say why.
pub fn power(
    world: &World<'_>,
    design: &Design,
    effects: &[f64],
    trials: usize,
    seed: u64,
) -> Result<Vec<Power>> {
    world.check()?;
    design.check(world.transition.arms())?;
    if let Some(position) = effects.iter().position(|delta| !delta.is_finite()) {
        return Err(Error::NotFinite { what: "effects", position, found: effects[position] });
    }
    if trials < 2 {
        return Err(unsuitable("trials", trials.to_string(), "at least 2"));
    }
    let prognosis = world.prognosis(design.weeks);
    let scaled: Vec<_> = effects.iter().map(|delta| world.scaled(*delta)).collect();
    let mut all = Vec::new();
    for (part, &size) in design.sizes.iter().enumerate() {
        for (rows, &effect) in scaled.iter().zip(effects) {
            let stage = Stage { world, design, rows, prognosis: &prognosis, size };
            let one = |k: usize| {
                interrupt::check();
                let seed = stream(seed, &[TRIAL, part as u64, k as u64]).random();
                let (record, truth) = stage.trial(seed)?;
                Ok((truth, Estimator::ALL.map(|estimator| estimator.of(&record))))
            };
            let done: Vec<Trial> = (0..trials).into_par_iter().map(one).collect::<Result<_>>()?;
            all.extend(Estimator::ALL.map(|estimator| summed(size, effect, estimator, &done)));
        }
    }
    Ok(all)
}

/// The truth of a trial and what each estimator said.
type Trial = (f64, [std::result::Result<Effect, Refusal>; 5]);

fn summed(size: f64, effect: f64, estimator: Estimator, trials: &[Trial]) -> Power {
    let said: Vec<(f64, Effect)> =
        trials.iter().filter_map(|(truth, said)| Some((*truth, said[estimator as usize].ok()?))).collect();
    let refused = trials.iter().find_map(|(_, said)| said[estimator as usize].err());
    let figure = |of: &dyn Fn(&(f64, Effect)) -> f64| simulated(&said.iter().map(of).collect::<Vec<_>>());
    let truth = simulated(&trials.iter().map(|(truth, _)| *truth).collect::<Vec<_>>());
    let is = |yes: bool| f64::from(u8::from(yes));
    let holds = |e: &Effect| e.low <= truth.value && truth.value <= e.high;
    let estimate = figure(&|(_, e)| e.estimate);
    let detectable = figure(&|(_, e)| e.detectable()).value;
    let called = figure(&|(_, e)| e.called as f64).value;
    Power {
        size,
        effect,
        estimator,
        people: figure(&|(_, e)| e.people as f64).value,
        called,
        answered: said.len(),
        refused,
        truth,
        estimate,
        bias: figure(&|(truth, e)| e.estimate - truth),
        sd: estimate.error * (said.len() as f64).sqrt(),
        se: figure(&|(_, e)| e.se),
        coverage: figure(&|(_, e)| is(holds(e))),
        rejection: figure(&|(_, e)| is(e.is_beyond_zero())),
        detectable,
        detectable_per_person_called: (called > 0.0).then(|| detectable / called),
    }
}

fn simulated(x: &[f64]) -> Simulated {
    let (value, variance) = super::difference::moments(x);
    Simulated { value, error: (variance / x.len() as f64).sqrt() }
}

impl Design {
    fn check(&self, people: usize) -> Result<()> {
        if self.weeks == 0 {
            return Err(unsuitable("weeks", "0", "at least 1"));
        }
        if self.shares.contains(&0) {
            return Err(unsuitable("shares", format!("{:?}", self.shares), "two that are not 0"));
        }
        if !(0.0..1.0).contains(&self.missing) {
            let (what, expected) = ("missing", "a rate from 0 to below 1");
            return Err(Error::Range { what, expected, found: self.missing });
        }
        if let Some(size) = self.sizes.iter().find(|size| !(**size > 0.0 && **size <= 1.0)) {
            return Err(Error::Range { what: "sizes", expected: "above 0 and at most 1", found: *size });
        }
        let Some(clusters) = &self.clusters else { return Ok(()) };
        if clusters.of.len() != people {
            let (expected, found) = (format!("[{people}]"), vec![clusters.of.len()]);
            return Err(Error::Shape { what: "clusters", expected, found });
        }
        if clusters.count() > people {
            let found = format!("cluster {}", clusters.count() - 1);
            return Err(unsuitable("clusters", found, "numbers from 0 to below the number of people"));
        }
        if !(clusters.sd >= 0.0 && clusters.sd.is_finite()) {
            return Err(Error::Range { what: "sd", expected: "at least 0", found: clusters.sd });
        }
        Ok(())
    }
}

const TRIAL: u64 = 0x7472_6961_6c00_0000;
