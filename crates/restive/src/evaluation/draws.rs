//! One instance: the value of every policy by every estimator, on the log and on its resamples.

use super::evaluate::{Case, Estimator, Settings, resampled_units};
use super::fluid::flow;
use super::{
    Decisions, Propensity, RatioUpTo, Simulated, bootstrap, cwpdis, empirical, first_states, fluid,
    known_states, moments, segmented, smoothed, target_pull, times_drawn, without_overlap,
};
use crate::error::{Error, Result};
use crate::instance::{Instance, NO_ACTION, Trajectories, Transition};
use crate::policy::{Chooser, Policy};
use crate::random::stream;
use crate::simulation::{Initial, Setting};
use ndarray::{Array2, Array3, s};
use rand::RngExt;

/// The seeds of one instance: instances must not share their luck, or their mean would vary more than it shows.
#[derive(Clone, Copy)]
pub(super) struct Seeds {
    runs: u64,
    resamples: u64,
}

impl Seeds {
    pub(super) fn new(seed: u64, instance: usize) -> Self {
        let mut random = stream(seed, &[EVALUATION, instance as u64]);
        Self { runs: random.random(), resamples: random.random() }
    }
}

/// The first step of the paths of this room's streams, so that a log simulated with the same seed had other luck.
const EVALUATION: u64 = 0x6576_616c;

/// The value of one policy by one estimator, with all that its interval needs.
#[derive(Debug, Clone, Default)]
pub(super) struct Draws {
    pub value: f64,
    /// the value on each resample; empty where nothing is estimated from the log
    pub resamples: Vec<f64>,
    /// the values of the runs; empty where nothing is simulated
    pub runs: Vec<f64>,
    /// the values of the runs of each resample
    pub resampled_runs: Vec<Vec<f64>>,
    /// how far below and above the value the dropped terms might lie
    pub slack: [f64; 2],
    pub effective_sample_size: Option<f64>,
    pub dropped: usize,
    pub without_overlap: usize,
}

/// An estimator's draws for each policy.
pub(super) type Table = Vec<(Estimator, Vec<Draws>)>;

pub(super) fn draws(case: &Case<'_>, settings: &Settings, seeds: Seeds) -> Result<Table> {
    let log = case.instance.trajectories();
    let mut table = Vec::new();
    if settings.behaviour.is_some() {
        table.push(ratio_draws(case, settings, seeds)?);
    }
    table.extend(model_draws(case, settings, seeds));
    if let Some(truth) = case.instance.truth() {
        let initial = settings.initial(log);
        let setting = setting(case, settings, truth);
        let each = case.policies.iter().map(|(_, policy)| {
            let runs = Simulated::new(&setting, &initial, policy, settings.runs, seeds.runs).values.to_vec();
            Draws { value: moments(&runs).0, runs, ..Draws::default() }
        });
        table.push((Estimator::True, each.collect()));
    }
    Ok(table)
}

impl Settings {
    fn initial(&self, log: &Trajectories) -> Initial {
        if self.starts_as_logged { first_states(log) } else { Initial::Uniform }
    }
}

fn setting<'a>(case: &Case<'a>, settings: &Settings, transition: &'a Transition) -> Setting<'a> {
    let instance = case.instance;
    Setting {
        transition: transition.view(),
        reward: instance.reward(),
        discount: instance.discount(),
        budget: instance.budget(),
        horizon: settings.horizon,
    }
}

/// CWPDIS, or the segmented variant of a single trajectory.
fn ratio_draws(case: &Case<'_>, settings: &Settings, seeds: Seeds) -> Result<(Estimator, Vec<Draws>)> {
    let (instance, log) = (case.instance, case.instance.trajectories());
    let behaviour = settings.behaviour.expect("asked for");
    let propensity = Propensity::new(log, behaviour, instance.budget())?;
    let action = log.action();
    let decided = action.slice(s![.., ..log.steps() - 1, ..]);
    if decided.iter().zip(&propensity.values).all(|(a, p)| *a == NO_ACTION || *p >= 1.0) {
        return Err(Error::Range {
            what: "propensity",
            expected: "below 1 somewhere: a log in which every action was certain shows no other policy",
            found: 1.0,
        });
    }
    let decisions = Decisions::new(log, instance.reward(), &propensity);
    let states = known_states(log);
    let discount = instance.discount();
    let is_single = log.trajectories() == 1;
    let pulls: Vec<Array3<f64>> = (case.policies.iter())
        .map(|(_, policy)| target_pull(states.view(), policy, instance.budget()))
        .collect();
    // a dropped term counts as an average reward; at worst it was the smallest, at best the largest
    let (mean, smallest, largest) = decisions.reward_moments();
    let slack = |terms: f64| [terms * (mean - smallest), terms * (largest - mean)];
    let draws = pulls.iter().map(|pull| {
        let missed = without_overlap(log, &propensity, pull.view());
        if is_single {
            let solved = segmented(&decisions, pull.view(), discount);
            let terms: f64 = (0..log.steps() - 1).map(|t| discount.powi(t as i32)).sum();
            let fill = terms * mean;
            let arm: Vec<f64> = (0..log.arms())
                .map(|i| solved.arm_value[[0, i]] + fill * f64::from(solved.is_dropped(0, i)))
                .collect();
            let sum = |which: &[usize], _| which.iter().map(|&i| arm[i]).sum::<f64>();
            return Draws {
                value: arm.iter().sum(),
                resamples: bootstrap(log.arms(), settings.resamples, seeds.resamples, sum),
                slack: slack(terms * solved.dropped as f64),
                effective_sample_size: Some(solved.effective_sample_size),
                dropped: solved.dropped,
                without_overlap: missed,
                ..Draws::default()
            };
        }
        let up_to =
            if reward_depends_on_action(instance) { RatioUpTo::ThisStep } else { settings.ratio_up_to };
        let solved = cwpdis(&decisions, pull.view(), discount, up_to);
        let fill = solved.dropped_discount * mean;
        let j = log.trajectories();
        let resample = |which: &[usize], _| solved.resampled(&times_drawn(which, j)) + fill;
        Draws {
            value: solved.value + fill,
            resamples: bootstrap(j, settings.resamples, seeds.resamples, resample),
            slack: slack(solved.dropped_discount),
            effective_sample_size: Some(solved.effective_sample_size),
            dropped: solved.dropped,
            without_overlap: missed,
            ..Draws::default()
        }
    });
    let draws = draws.collect();
    Ok((if is_single { Estimator::Segmented } else { Estimator::Is }, draws))
}

/// Simulation and fluid on transitions estimated from the log; every resample estimates them anew.
fn model_draws(case: &Case<'_>, settings: &Settings, seeds: Seeds) -> [(Estimator, Vec<Draws>); 2] {
    let log = case.instance.trajectories();
    let policies: Vec<&Policy> = case.policies.iter().map(|(_, policy)| policy).collect();
    let all: Vec<usize> = (0..log.arms()).collect();
    let point = model_values(case, settings, log, &all, &policies, settings.runs, seeds.runs);
    let is_single = log.trajectories() == 1;
    let units = resampled_units(log);
    let runs = settings.runs_per_resample;
    let resampled = bootstrap(units, settings.resamples, seeds.resamples, |which, seed| {
        if is_single {
            let owned: Vec<Policy> = policies.iter().map(|policy| policy.select_arms(which)).collect();
            let policies: Vec<&Policy> = owned.iter().collect();
            model_values(case, settings, &log.select_arms(which), which, &policies, runs, seed)
        } else {
            model_values(case, settings, &log.select(which), &all, &policies, runs, seed)
        }
    });
    let mut simulated: Vec<Draws> = Vec::with_capacity(policies.len());
    let mut fluids = Vec::with_capacity(policies.len());
    for (k, (runs, value)) in point.into_iter().enumerate() {
        let resampled_runs: Vec<Vec<f64>> = resampled.iter().map(|all| all[k].0.clone()).collect();
        let resamples = resampled_runs.iter().map(|runs| moments(runs).0).collect();
        simulated.push(Draws {
            value: moments(&runs).0,
            runs,
            resamples,
            resampled_runs,
            ..Draws::default()
        });
        let resamples = resampled.iter().map(|all| all[k].1).collect();
        fluids.push(Draws { value, resamples, ..Draws::default() });
    }
    [(Estimator::Simulated, simulated), (Estimator::Fluid, fluids)]
}

/// (values of runs, fluid value) of each policy on the transitions of one log, whose arms are `arms` of the instance.
fn model_values(
    case: &Case<'_>,
    settings: &Settings,
    log: &Trajectories,
    arms: &[usize],
    policies: &[&Policy],
    runs: usize,
    seed: u64,
) -> Vec<(Vec<f64>, f64)> {
    let counts = log.counts();
    let transition = match &case.prediction {
        None => empirical(counts.view()),
        Some((prediction, strength)) => {
            smoothed(counts.view(), prediction.select_arms(arms).view(), *strength)
        }
    };
    let setting = setting(case, settings, &transition);
    let initial = settings.initial(log);
    let mass = initial_mass(&initial, log.arms(), log.states());
    let each = policies.iter().map(|policy| {
        let values = Simulated::new(&setting, &initial, policy, runs, seed).values.to_vec();
        (values, fluid_value(&setting, &mass, policy))
    });
    each.collect()
}

/// The distribution over the states in which each arm starts, `[N,M]`.
fn initial_mass(initial: &Initial, n: usize, m: usize) -> Array2<f64> {
    match initial {
        Initial::Uniform => Array2::from_elem((n, m), 1.0 / m as f64),
        Initial::States(rows) => {
            let mut mass = Array2::zeros((n, m));
            let share = 1.0 / rows.nrows() as f64;
            for ((_, i), &s) in rows.indexed_iter() {
                mass[[i, usize::from(s)]] += share;
            }
            mass
        }
    }
}

/// The fluid value of any policy.
fn fluid_value(setting: &Setting<'_>, mass: &Array2<f64>, policy: &Policy) -> f64 {
    let (n, m) = mass.dim();
    let budget = setting.budget.min(n) as f64;
    let (reward, discount, horizon) = (setting.reward.view(), setting.discount, setting.horizon);
    let (table, temperature) = match policy {
        Policy::Strict(table) => (table, 0.0),
        Policy::Soft(table, temperature) => (table, *temperature),
        // the others do not look at the states
        blind => {
            let mut chooser = Chooser::new(blind, setting.budget);
            let (state, mut inclusion) = (vec![0; n], vec![0.0; n]);
            let choose = |t: usize, _: &[f64], pull: &mut [f64]| {
                chooser.inclusion(&state, t, &mut inclusion);
                pull.chunks_exact_mut(m).zip(&inclusion).for_each(|(pull, p)| pull.fill(*p));
            };
            return flow(setting.transition, reward, mass.view(), discount, horizon, choose).0;
        }
    };
    let start = mass.view();
    fluid(table.view(), setting.transition, reward, start, discount, budget, temperature, horizon).value
}

/// Whether R(s, 0) and R(s, 1) differ anywhere, or rewards were logged.
fn reward_depends_on_action(instance: &Instance) -> bool {
    let table = instance.reward().view();
    table.column(0) != table.column(1) || instance.trajectories().reward().is_some()
}
