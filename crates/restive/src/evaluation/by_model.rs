//! One instance judged by simulation and by the fluid limit on transitions estimated from its log.

use super::availability::{LoggedAvailability, first_masses, rota};
use super::bootstrap::{Units, numbered};
use super::by_weight::{Prepared, weighted_draws};
use super::draws::{Draws, Seeds, setting};
use super::evaluate::{Case, Ends, EvaluationSettings};
use super::flow::{Absent, MeanField, flow_value};
use super::foreseen::guess_seed;
use super::{Estimator, Record, Start, World, fluid, fluid_by_step, labelled, moments};
use crate::instance::{Instance, Observation, Trajectories};
use crate::policy::{Chooser, Policy};
use crate::simulation::{AvailabilityCourse, Initial, Setting, planned_values, values};
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
    let availability = LoggedAvailability::new(log, start);
    let course = |log: &Trajectories, arms: &[usize]| {
        availability.as_ref().map(|availability| availability.course(log, arms))
    };
    let (runs, seed) = (settings.runs, seeds.runs);
    let point = Sample {
        log,
        arms: &every_arm,
        policies: &policies,
        initial: initial(log, &every_arm),
        course: course(log, &every_arm),
        guess: None,
        runs,
        seed,
    };
    let point = point.values(case, settings);
    let is_single = log.trajectories() == 1;
    if is_single && settings.ends == Ends::StandardErrors && observation == Observation::Full {
        let initial = initial(log, &every_arm);
        return weighted_draws(case, settings, seeds, &initial, availability.as_ref(), point);
    }
    let units = Units::new(case.instance);
    let runs = settings.runs_per_resample;
    let fixed: Vec<Followed> = {
        let course = course(log, &every_arm);
        let by_arm = |policy| Followed::by_arm(policy, case.instance, settings.horizon, course.as_ref());
        case.policies.iter().map(|(_, policy)| by_arm(policy)).collect()
    };
    let resampled = numbered(units.count(), settings.resamples, seeds.resamples, |b, which, seed| {
        let guess = Some(guess_seed(settings.seed, b));
        if is_single {
            let arms = units.arms(which);
            let arms = &*arms;
            let policies: Vec<Followed> = fixed.iter().map(|policy| policy.select_arms(arms)).collect();
            let log = &log.select_arms(arms);
            let (initial, course) = (initial(log, arms), course(log, arms));
            let sample = Sample { log, arms, policies: &policies, initial, course, guess, runs, seed };
            let scale = units.scale(arms.len());
            let mut found = sample.values(case, settings);
            for (runs, fluid) in &mut found {
                runs.iter_mut().for_each(|run| *run *= scale);
                *fluid *= scale;
            }
            found
        } else {
            let log = &log.select(which);
            let (initial, course) = (initial(log, &every_arm), course(log, &every_arm));
            let arms = &every_arm;
            let sample = Sample { log, arms, policies: &policies, initial, course, guess, runs, seed };
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
    /// Probability of a pull of each arm at each step if it is available, known beforehand: `[H,N]`; 0 or 1 if all arms are available.
    Plan(Array2<f64>),
}

impl Followed {
    /// A policy that resampled arms can follow as they did before: a rota names arms, so that its turns travel with them.
    fn by_arm(
        policy: &Policy,
        instance: &Instance,
        horizon: usize,
        course: Option<&AvailabilityCourse>,
    ) -> Self {
        let (n, budget) = (instance.arms(), instance.budget());
        match (policy, course) {
            (Policy::RoundRobin, Some(course)) => Followed::Plan(rota(course, n, budget.min(n), horizon)),
            (Policy::RoundRobin, None) => {
                let mut chooser = Chooser::new(policy, budget);
                let (state, mut inclusion) = (vec![0; n], vec![0.0; n]);
                let mut plan = Array2::zeros((horizon, n));
                for (t, mut pull) in plan.rows_mut().into_iter().enumerate() {
                    chooser.inclusion(&state, t, &mut inclusion);
                    pull.iter_mut().zip(&inclusion).for_each(|(pull, p)| *pull = *p);
                }
                Followed::Plan(plan)
            }
            _ => Followed::Policy(policy.clone()),
        }
    }

    fn select_arms(&self, arms: &[usize]) -> Self {
        match self {
            Followed::Policy(policy) => Followed::Policy(policy.select_arms(arms)),
            Followed::Plan(plan) => Followed::Plan(plan.select(Axis(1), arms)),
        }
    }

    /// The values of some runs.
    fn runs(
        &self,
        setting: &Setting<'_>,
        initial: &Initial,
        course: Option<&AvailabilityCourse>,
        runs: usize,
        seed: u64,
    ) -> Vec<f64> {
        match (self, course) {
            (Followed::Policy(policy), None) => values(setting, initial, policy, runs, seed),
            (Followed::Policy(policy), Some(course)) => course.values(setting, initial, policy, runs, seed),
            (Followed::Plan(plan), None) => {
                planned_values(setting, initial, plan.mapv(|pull| pull > 0.0).view(), runs, seed)
            }
            (Followed::Plan(plan), Some(course)) => {
                course.planned_values(setting, initial, plan.view(), runs, seed)
            }
        }
        .to_vec()
    }

    fn fluid_value(&self, field: &MeanField<'_>, horizon: usize) -> f64 {
        let (n, m) = field.initial.dim();
        match self {
            Followed::Policy(Policy::Strict(table)) => fluid(table.view(), field, 0.0, horizon).value,
            Followed::Policy(Policy::Horizon(tables)) => {
                fluid_by_step(tables.view(), field, &vec![0.0; tables.len_of(Axis(0))], horizon)
            }
            Followed::Policy(Policy::Soft(table, temperature)) => {
                fluid(table.view(), field, *temperature, horizon).value
            }
            Followed::Plan(plan) => {
                let choose = |t: usize, _: &[f64], pull: &mut [f64]| {
                    let arms = pull.chunks_exact_mut(m).zip(plan.row(t));
                    arms.for_each(|(pull, planned)| pull.fill(*planned));
                };
                flow_value(field, None, horizon, choose)
            }
            // K/N of the arms, also if K is not an integer
            Followed::Policy(Policy::Random) => {
                flow_value(field, None, horizon, |_, _, pull| pull.fill(field.budget / n as f64))
            }
            // the other policies do not look at the states
            Followed::Policy(policy) => {
                let mut chooser = Chooser::new(policy, field.budget as usize);
                let (state, mut inclusion) = (vec![0; n], vec![0.0; n]);
                let choose = |t: usize, _: &[f64], pull: &mut [f64]| {
                    chooser.inclusion(&state, t, &mut inclusion);
                    pull.chunks_exact_mut(m).zip(&inclusion).for_each(|(pull, p)| pull.fill(*p));
                };
                flow_value(field, None, horizon, choose)
            }
        }
    }

    /// The fluid value of arms that are available at some steps only.
    fn fluid_value_available(
        &self,
        field: &MeanField<'_>,
        absent: Absent<'_>,
        course: &AvailabilityCourse,
        horizon: usize,
    ) -> f64 {
        let n = field.initial.nrows();
        let prepared = match self {
            Followed::Policy(policy) => {
                Prepared::among_available(policy, field.budget as usize, horizon, n, course)
            }
            Followed::Plan(plan) => Prepared::Pulls(plan.clone()),
        };
        prepared.value(field, Some(absent), horizon)
    }
}

/// The log or a resample of it, with what is done on the transitions that it speaks of.
struct Sample<'a> {
    log: &'a Trajectories,
    /// which arms of the instance its arms are
    arms: &'a [usize],
    policies: &'a [Followed],
    initial: Initial,
    /// Availability; `None`: all arms are available.
    course: Option<AvailabilityCourse>,
    /// the seed of what is foreseen; none: the best guess
    guess: Option<u64>,
    runs: usize,
    seed: u64,
}

impl Sample<'_> {
    /// (values of runs, fluid value) of each policy.
    fn values(&self, case: &Case<'_>, settings: &EvaluationSettings) -> Vec<(Vec<f64>, f64)> {
        let &Sample { log, arms, policies, ref initial, ref course, guess, .. } = self;
        let prediction = case.prediction.map(|foreseen| (foreseen.of_arms(arms, guess), foreseen.strength));
        let prediction = prediction.as_ref().map(|(p, strength)| (p.view(), *strength));
        let (observation, reward) = (case.instance.observation(), case.instance.reward());
        let world = World::estimated(reward, &Record::from_log(log, observation), prediction);
        let setting = setting(case, settings, &world);
        let (n, m) = (log.arms(), log.states());
        let (mass, absent) = match course {
            None => (initial.mass(n, m), None),
            Some(course) => {
                let [available, absent] = first_masses(course, initial, n, m);
                (available, Some((absent, course)))
            }
        };
        let budget = self.budget(case.instance);
        let Setting { motion, reward, discount, horizon, .. } = setting;
        let field =
            MeanField { motion, reward, initial: mass.view(), discount, budget: budget.min(n as f64) };
        let fluid_value = |policy: &Followed| match &absent {
            None => policy.fluid_value(&field, horizon),
            Some((absent, course)) => {
                let absent = Absent { mass: absent.view(), chain: course.chain };
                policy.fluid_value_available(&field, absent, course, horizon)
            }
        };
        let each = policies.iter().map(|policy| (self.runs(policy, &setting, budget), fluid_value(policy)));
        each.collect()
    }

    /// K, in proportion to the arms if clusters were drawn.
    fn budget(&self, instance: &Instance) -> f64 {
        let (k, n, drawn) = (instance.budget(), instance.arms(), self.arms.len());
        if drawn == n { k as f64 } else { k.min(n) as f64 * drawn as f64 / n as f64 }
    }

    /// Values of runs with a budget that need not be an integer: between those with the two integers next to it, on the same noise.
    fn runs(&self, policy: &Followed, setting: &Setting<'_>, budget: f64) -> Vec<f64> {
        let with = |budget: usize| {
            let setting = Setting { budget, ..*setting };
            policy.runs(&setting, &self.initial, self.course.as_ref(), self.runs, self.seed)
        };
        let (below, part) = (budget as usize, budget.fract());
        let mut runs = with(below);
        if part > 0.0 {
            runs.iter_mut().zip(with(below + 1)).for_each(|(run, above)| *run += part * (above - *run));
        }
        runs
    }
}
