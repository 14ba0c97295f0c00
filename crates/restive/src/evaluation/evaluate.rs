//! Every policy by every estimator, with intervals and paired gains.
//!
//! Each instance contributes the value of each policy on its log and on resamples of it: trajectories are drawn with
//! replacement, or arms where there is a single trajectory, and transitions are estimated anew on each resample. All policies
//! meet the same resamples and the same luck, so gains over the random policy and over no action are paired. Over several
//! instances values are averaged; the interval then covers these instances with other logs, not other instances.
//!
//! **Intervals.** `is`, `segmented`, `fluid`: percentiles of the bootstrap, [stretched](stretch()). `true`: the luck of the runs. `simulated`: the
//! variance over the resamples less the part of it that is the luck of their few runs, plus the luck of the runs
//! behind the value itself, ± 1.96 standard errors.
//!
//! **Dropped terms.** Where the target never does what was logged, importance sampling knows nothing of the arm. Such a term
//! counts as an average logged reward, and the interval is widened to what the smallest and the largest would make of it.
//!
//! ```
//! use restive::data::domain::Domain;
//! use restive::evaluation::{Case, Estimator, Settings, evaluate};
//! use restive::policy::Policy;
//!
//! let domain = Domain { instances: 2, arms: 10, budget: 2, trajectories: 20, ..Domain::two_state() };
//! let instances = domain.generate(1)?;
//! let policies = vec![("no-action".to_string(), Policy::NoAction), ("random".to_string(), Policy::Random)];
//! let cases: Vec<Case> =
//!     instances.iter().map(|instance| Case { instance, policies: policies.clone(), prediction: None }).collect();
//! let settings = Settings { runs: 200, resamples: 50, ..Settings::new(9) };
//! let evaluation = evaluate(&cases, &settings)?;
//! let score = evaluation.score("random", Estimator::True).unwrap();
//! assert!(score.gain_over_no_action.unwrap().low > 0.0); // a pull pays in this domain
//! # Ok::<(), restive::Error>(())
//! ```

use super::draws::{Draws, Seeds, Table, draws};
use super::{Behaviour, Covers, Drift, Estimate, RatioUpTo, drift, moments, stretch};
use crate::error::{Error, Result};
use crate::instance::{Instance, Trajectories, Transition};
use crate::policy::Policy;

/// One instance and the policies to be judged on it.
pub struct Case<'a> {
    /// the arms and their log
    pub instance: &'a Instance,
    /// policies by name: the same names in the same order for every instance
    pub policies: Vec<(String, Policy)>,
    /// a prediction of the transitions and its strength for each action, to smooth the estimated ones; absent: rows never seen
    /// are uniform
    pub prediction: Option<(&'a Transition, [f64; 2])>,
}

/// How to evaluate.
#[derive(Debug, Clone, PartialEq)]
pub struct Settings {
    /// where propensities come from; absent: nothing is judged by importance sampling
    pub behaviour: Option<Behaviour>,
    /// which decisions enter a ratio (the published choice where rewards depend on actions)
    pub ratio_up_to: RatioUpTo,
    /// H, the decisions of a simulated run
    pub horizon: usize,
    /// whether simulated runs start in the logged first states; otherwise in uniform ones
    pub starts_as_logged: bool,
    /// simulated runs
    pub runs: usize,
    /// bootstrap resamples
    pub resamples: usize,
    /// simulated runs on each resample, at least 2
    pub runs_per_resample: usize,
    /// of all random numbers
    pub seed: u64,
}

impl Settings {
    /// 1,000 runs, 200 resamples with 20 runs each, logged propensities.
    pub fn new(horizon: usize) -> Self {
        Self {
            behaviour: Some(Behaviour::Logged),
            ratio_up_to: RatioUpTo::ThisStep,
            horizon,
            starts_as_logged: true,
            runs: 1000,
            resamples: 200,
            runs_per_resample: 20,
            seed: 0,
        }
    }
}

/// The rule behind a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Estimator {
    /// CWPDIS on several trajectories
    Is,
    /// the paper's single-trajectory variant: its metric, not evidence
    Segmented,
    /// rollouts on estimated transitions
    Simulated,
    /// rollouts on the true transitions
    True,
    /// the mean-field limit on estimated transitions
    Fluid,
}

impl Estimator {
    /// All of them.
    pub const ALL: [Estimator; 5] =
        [Estimator::Is, Estimator::Segmented, Estimator::Simulated, Estimator::True, Estimator::Fluid];

    /// The word used in tables.
    pub const fn name(self) -> &'static str {
        match self {
            Estimator::Is => "is",
            Estimator::Segmented => "segmented",
            Estimator::Simulated => "simulated",
            Estimator::True => "true",
            Estimator::Fluid => "fluid",
        }
    }
}

/// What one estimator says of one policy.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Score {
    /// the rule
    pub estimator: Estimator,
    /// the value
    pub value: Estimate,
    /// paired, where the random policy is among the policies
    pub gain_over_random: Option<Estimate>,
    /// paired, where no action is among the policies
    pub gain_over_no_action: Option<Estimate>,
    /// terms about which the log says nothing
    pub dropped: usize,
    /// logged decisions that the behaviour policy could not have taken otherwise, while the target might
    pub without_overlap: usize,
}

/// What the log-based values rest on.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Evidence {
    /// where propensities came from
    pub behaviour: Option<Behaviour>,
    /// how the states drift over time, in the instance where they do so most
    pub drift: Drift,
    /// J, the fewest trajectories of an instance
    pub trajectories: usize,
}

/// All policies by all estimators.
#[derive(Debug, Clone, PartialEq)]
pub struct Evaluation {
    /// by name, in the order given
    pub policies: Vec<(String, Vec<Score>)>,
    /// what the log-based values rest on
    pub evidence: Evidence,
}

impl Evaluation {
    /// What one estimator says of one policy; none where it does not apply.
    pub fn score(&self, policy: &str, estimator: Estimator) -> Option<&Score> {
        let (_, scores) = self.policies.iter().find(|(name, _)| name == policy)?;
        scores.iter().find(|score| score.estimator == estimator)
    }
}

/// Judges the policies on the instances by every estimator that applies to all of them.
pub fn evaluate(cases: &[Case<'_>], settings: &Settings) -> Result<Evaluation> {
    check(cases, settings)?;
    let names: Vec<String> = cases[0].policies.iter().map(|(name, _)| name.clone()).collect();
    let tables = cases.iter().enumerate();
    let tables = tables.map(|(k, case)| draws(case, settings, Seeds::new(settings.seed, k)));
    let tables = tables.collect::<Result<Vec<Table>>>()?;
    let units = cases.iter().map(|case| resampled_units(case.instance.trajectories()));
    let (units, fewest) = (units.clone().sum(), units.min().unwrap_or(0));
    let find = |sought: &Policy| cases[0].policies.iter().position(|(_, policy)| policy == sought);
    let (random, no_action) = (find(&Policy::Random), find(&Policy::NoAction));
    let mut policies: Vec<(String, Vec<Score>)> = names.into_iter().map(|name| (name, Vec::new())).collect();
    for estimator in Estimator::ALL {
        let parts: Option<Vec<&Vec<Draws>>> =
            tables.iter().map(|table| table.iter().find(|(e, _)| *e == estimator).map(|(_, d)| d)).collect();
        let Some(parts) = parts else { continue };
        let covers = covers(estimator, cases);
        for (k, (_, scores)) in policies.iter_mut().enumerate() {
            let each = |k: usize| parts.iter().map(move |part| &part[k]);
            let size = |k: usize| -> Option<f64> {
                let sum: Option<f64> = each(k).map(|draws| draws.effective_sample_size).sum();
                sum.map(|sum| sum / cases.len() as f64)
            };
            // the effective sample size of CWPDIS counts trajectories; elsewhere the units resampled count themselves
            let stretched = |k: usize| match (estimator, size(k)) {
                (Estimator::Is, Some(size)) => stretch(units, size),
                _ => stretch(units, fewest as f64),
            };
            let gain = |base: usize| {
                let pairs: Vec<Draws> = each(k).zip(each(base)).map(|(a, b)| a.less(b)).collect();
                combine(pairs.iter(), stretched(k).max(stretched(base)), covers)
            };
            scores.push(Score {
                estimator,
                value: Estimate { effective_sample_size: size(k), ..combine(each(k), stretched(k), covers) },
                gain_over_random: random.map(gain),
                gain_over_no_action: no_action.map(gain),
                dropped: each(k).map(|draws| draws.dropped).sum(),
                without_overlap: each(k).map(|draws| draws.without_overlap).sum(),
            });
        }
    }
    let drifts = cases.iter().map(|case| drift(case.instance.trajectories()));
    let excess = |drift: &Drift| drift.chi_square - drift.freedom as f64;
    let drift = drifts.max_by(|a, b| excess(a).total_cmp(&excess(b))).expect("at least one case");
    let trajectories = cases.iter().map(|case| case.instance.trajectories().trajectories()).min();
    let trajectories = trajectories.expect("at least one case");
    Ok(Evaluation { policies, evidence: Evidence { behaviour: settings.behaviour, drift, trajectories } })
}

/// What is drawn with replacement: trajectories, or arms where there is a single trajectory.
pub(super) fn resampled_units(log: &Trajectories) -> usize {
    if log.trajectories() == 1 { log.arms() } else { log.trajectories() }
}

fn check(cases: &[Case<'_>], settings: &Settings) -> Result<()> {
    let at_least = |what, least: usize, expected, found: usize| {
        if found >= least { Ok(()) } else { Err(Error::Range { what, expected, found: found as f64 }) }
    };
    at_least("instances", 1, "at least 1 to evaluate on", cases.len())?;
    at_least("horizon", 1, "at least 1", settings.horizon)?;
    at_least("runs", 2, "at least 2", settings.runs)?;
    at_least("resamples", 2, "at least 2", settings.resamples)?;
    at_least("runs per resample", 2, "at least 2", settings.runs_per_resample)?;
    for case in cases {
        at_least(
            "steps",
            2,
            "at least 2, a decision and what came of it",
            case.instance.trajectories().steps(),
        )?;
        let same = case.policies.iter().map(|p| &p.0).eq(cases[0].policies.iter().map(|p| &p.0));
        assert!(same, "policies: the same names for every instance");
    }
    Ok(())
}

fn covers(estimator: Estimator, cases: &[Case<'_>]) -> Covers {
    let is_single = cases.iter().any(|case| case.instance.trajectories().trajectories() == 1);
    match (estimator, is_single) {
        (Estimator::True, _) => Covers::Rollouts,
        (Estimator::Segmented, _) | (Estimator::Fluid, true) => Covers::Arms,
        (Estimator::Is, _) | (Estimator::Fluid, false) => Covers::Trajectories,
        (Estimator::Simulated, true) => Covers::ArmsAndRollouts,
        (Estimator::Simulated, false) => Covers::TrajectoriesAndRollouts,
    }
}

impl Draws {
    /// The paired difference to another policy.
    fn less(&self, other: &Draws) -> Draws {
        let minus = |a: &[f64], b: &[f64]| -> Vec<f64> { a.iter().zip(b).map(|(a, b)| a - b).collect() };
        let pairs = self.resampled_runs.iter().zip(&other.resampled_runs);
        // the terms that two policies drop may be off in opposite directions; against itself a policy gains nothing
        let is_same = std::ptr::eq(self, other);
        let slack = [self.slack[0] + other.slack[1], self.slack[1] + other.slack[0]];
        Draws {
            value: self.value - other.value,
            resamples: minus(&self.resamples, &other.resamples),
            runs: minus(&self.runs, &other.runs),
            resampled_runs: pairs.map(|(a, b)| minus(a, b)).collect(),
            slack: if is_same { [0.0; 2] } else { slack },
            ..Draws::default()
        }
    }
}

/// The mean over the instances, with its interval.
fn combine<'a>(parts: impl Iterator<Item = &'a Draws> + Clone, stretch: f64, covers: Covers) -> Estimate {
    let count = parts.clone().count() as f64;
    let mean = |f: &dyn Fn(&Draws) -> f64| parts.clone().map(f).sum::<f64>() / count;
    let value = mean(&|part| part.value);
    // the variance of a mean of independent instances
    let luck = |runs: &[f64]| moments(runs).1 / runs.len() as f64;
    let rollouts = mean(&|part| luck(&part.runs)) / count;
    let resamples = parts.clone().map(|part| part.resamples.len()).min().unwrap_or(0);
    let resampled: Vec<f64> = (0..resamples).map(|b| mean(&|part| part.resamples[b])).collect();
    let estimate = match covers {
        Covers::Rollouts => Estimate::normal(value, rollouts, covers),
        Covers::TrajectoriesAndRollouts | Covers::ArmsAndRollouts => {
            let within = mean(&|part| {
                part.resampled_runs.iter().map(|runs| luck(runs)).sum::<f64>() / resamples as f64
            });
            let sampling = (moments(&resampled).1 - within / count).max(0.0);
            Estimate::normal(value, stretch * stretch * sampling + rollouts, covers)
        }
        Covers::Trajectories | Covers::Arms => Estimate::percentile(value, &resampled, stretch, covers),
    };
    let slack = [0, 1].map(|side| mean(&|part| part.slack[side]));
    Estimate { low: estimate.low - slack[0], high: estimate.high + slack[1], ..estimate }
}
