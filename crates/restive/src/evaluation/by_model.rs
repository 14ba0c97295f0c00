//! One instance judged by simulation and by the fluid limit on transitions estimated from its log.

use super::bootstrap::numbered;
use super::by_weight::weighted_draws;
use super::draws::{Draws, Seeds, setting};
use super::evaluate::{Case, Ends, EvaluationSettings, resampled_units};
use super::flow::{MeanField, flow_value};
use super::foreseen::guess_seed;
use super::{Estimator, Record, Start, World, fluid, fluid_by_step, labelled, moments};
use crate::instance::{Observation, Trajectories};
use crate::policy::{Chooser, Policy};
use crate::simulation::{Initial, Setting, planned_values, values};
use ndarray::{Array2, Axis};

/// Simulation and fluid on transitions estimated from the log; every resample estimates them anew.
pub(super) fn model_draws(
    case: &Case<'_>,
    settings: &EvaluationSettings,
    seeds: Seeds,
) -> [(Estimator, Vec<Draws>); 2] {
    // with the labels of the whole log, so that resamples fill none in otherwise
    let log = &*labelled(case.instance.trajectories(), case.instance.observation());
    let policies: Vec<Followed> =
        case.policies.iter().map(|(_, policy)| Followed::Policy(policy.clone())).collect();
    let every_arm: Vec<usize> = (0..log.arms()).collect();
    let (start, observation) = (settings.start, case.instance.observation());
    // the latest states are those of the whole log, whatever is drawn of it
    let latest = match start {
        Start::Latest => Some(start.initial(case.instance.trajectories(), observation)),
        Start::First | Start::Uniform => None,
    };
    let initial = |log: &Trajectories, arms: &[usize]| match &latest {
        Some(latest) => latest.select_arms(arms),
        None => start.initial(log, observation),
    };
    let (runs, seed, initially) = (settings.runs, seeds.runs, initial(log, &every_arm));
    let point =
        Sample { log, arms: &every_arm, policies: &policies, initial: initially, guess: None, runs, seed };
    let point = point.values(case, settings);
    let is_single = log.trajectories() == 1;
    if is_single && settings.ends == Ends::StandardErrors && observation == Observation::Full {
        return weighted_draws(case, settings, seeds, &initial(log, &every_arm), point);
    }
    let units = resampled_units(log);
    let runs = settings.runs_per_resample;
    let fixed: Vec<Followed> = (case.policies.iter())
        .map(|(_, policy)| Followed::by_arm(policy, case.instance.budget(), settings.horizon, log.arms()))
        .collect();
    let resampled = numbered(units, settings.resamples, seeds.resamples, |b, which, seed| {
        let guess = Some(guess_seed(settings.seed, b));
        if is_single {
            let policies: Vec<Followed> = fixed.iter().map(|policy| policy.select_arms(which)).collect();
            let log = &log.select_arms(which);
            let initial = initial(log, which);
            let sample = Sample { log, arms: which, policies: &policies, initial, guess, runs, seed };
            sample.values(case, settings)
        } else {
            let log = &log.select(which);
            let initial = initial(log, &every_arm);
            let sample = Sample { log, arms: &every_arm, policies: &policies, initial, guess, runs, seed };
            sample.values(case, settings)
        }
    });
    let mut simulated: Vec<Draws> = Vec::with_capacity(policies.len());
    let mut fluids = Vec::with_capacity(policies.len());
    for (k, (runs, value)) in point.into_iter().enumerate() {
        let resampled_runs: Vec<Vec<f64>> = resampled.iter().map(|values| values[k].0.clone()).collect();
        let resamples = resampled_runs.iter().map(|runs| moments(runs).0).collect();
        simulated.push(Draws {
            value: moments(&runs).0,
            runs,
            resamples,
            resampled_runs,
            start_rows: if start == Start::First && !is_single { log.trajectories() } else { 0 },
            ..Draws::default()
        });
        let resamples = resampled.iter().map(|values| values[k].1).collect();
        let is_by_errors = observation != Observation::Full || settings.ends == Ends::StandardErrors;
        fluids.push(Draws { value, resamples, is_by_errors, ..Draws::default() });
    }
    [(Estimator::Simulated, simulated), (Estimator::Fluid, fluids)]
}

/// What is followed in a run.
enum Followed {
    Policy(Policy),
    /// who is pulled when, known beforehand: `[H,N]`
    Plan(Array2<bool>),
}

impl Followed {
    /// A policy that resampled arms can follow as they did before: a rota names arms, so that its turns travel with them.
    fn by_arm(policy: &Policy, budget: usize, horizon: usize, n: usize) -> Self {
        if *policy != Policy::RoundRobin {
            return Followed::Policy(policy.clone());
        }
        let mut chooser = Chooser::new(policy, budget);
        let (state, mut inclusion) = (vec![0; n], vec![0.0; n]);
        let mut plan = Array2::from_elem((horizon, n), false);
        for (t, mut pull) in plan.rows_mut().into_iter().enumerate() {
            chooser.inclusion(&state, t, &mut inclusion);
            pull.iter_mut().zip(&inclusion).for_each(|(pull, p)| *pull = *p > 0.0);
        }
        Followed::Plan(plan)
    }

    fn select_arms(&self, arms: &[usize]) -> Self {
        match self {
            Followed::Policy(policy) => Followed::Policy(policy.select_arms(arms)),
            Followed::Plan(plan) => Followed::Plan(plan.select(Axis(1), arms)),
        }
    }

    /// The values of some runs.
    fn runs(&self, setting: &Setting<'_>, initial: &Initial, runs: usize, seed: u64) -> Vec<f64> {
        match self {
            Followed::Policy(policy) => values(setting, initial, policy, runs, seed),
            Followed::Plan(plan) => planned_values(setting, initial, plan.view(), runs, seed),
        }
        .to_vec()
    }

    fn fluid_value<'a>(&self, setting: &Setting<'a>, mass: &'a Array2<f64>) -> f64 {
        let (n, m) = mass.dim();
        let &Setting { motion, reward, discount, horizon, .. } = setting;
        let budget = setting.budget.min(n) as f64;
        let field = MeanField { motion, reward, initial: mass.view(), discount, budget };
        match self {
            Followed::Policy(Policy::Strict(table)) => fluid(table.view(), &field, 0.0, horizon).value,
            Followed::Policy(Policy::Horizon(tables)) => {
                fluid_by_step(tables.view(), &field, &vec![0.0; tables.len_of(Axis(0))], horizon)
            }
            Followed::Policy(Policy::Soft(table, temperature)) => {
                fluid(table.view(), &field, *temperature, horizon).value
            }
            Followed::Plan(plan) => {
                let choose = |t: usize, _: &[f64], pull: &mut [f64]| {
                    let arms = pull.chunks_exact_mut(m).zip(plan.row(t));
                    arms.for_each(|(pull, is_pulled)| pull.fill(f64::from(*is_pulled)));
                };
                flow_value(&field, horizon, choose)
            }
            // the other policies do not look at the states
            Followed::Policy(policy) => {
                let mut chooser = Chooser::new(policy, setting.budget);
                let (state, mut inclusion) = (vec![0; n], vec![0.0; n]);
                let choose = |t: usize, _: &[f64], pull: &mut [f64]| {
                    chooser.inclusion(&state, t, &mut inclusion);
                    pull.chunks_exact_mut(m).zip(&inclusion).for_each(|(pull, p)| pull.fill(*p));
                };
                flow_value(&field, horizon, choose)
            }
        }
    }
}

/// The log or a resample of it, with what is done on the transitions that it speaks of.
struct Sample<'a> {
    log: &'a Trajectories,
    /// which arms of the instance its arms are
    arms: &'a [usize],
    policies: &'a [Followed],
    initial: Initial,
    /// the seed of what is foreseen; none: the best guess
    guess: Option<u64>,
    runs: usize,
    seed: u64,
}

impl Sample<'_> {
    /// (values of runs, fluid value) of each policy.
    fn values(&self, case: &Case<'_>, settings: &EvaluationSettings) -> Vec<(Vec<f64>, f64)> {
        let &Sample { log, arms, policies, ref initial, guess, runs, seed } = self;
        let prediction = case.prediction.map(|foreseen| (foreseen.of_arms(arms, guess), foreseen.strength));
        let prediction = prediction.as_ref().map(|(p, strength)| (p.view(), *strength));
        let (observation, reward) = (case.instance.observation(), case.instance.reward());
        let world = World::estimated(reward, &Record::from_log(log, observation), prediction);
        let setting = setting(case, settings, &world);
        let mass = initial.mass(log.arms(), log.states());
        let each = policies
            .iter()
            .map(|policy| (policy.runs(&setting, initial, runs, seed), policy.fluid_value(&setting, &mass)));
        each.collect()
    }
}
