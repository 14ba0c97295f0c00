//! Every policy by every estimator, with intervals and paired gains.
//!
//! Each instance contributes the value of each policy on its log and on resamples of it: trajectories are drawn with
//! replacement, or arms where there is a single trajectory (whole [clusters](Instance::clusters) of arms if they are
//! declared), and transitions are estimated anew on each resample. All policies meet the same resamples and the same
//! noise, so gains over the random policy and over no action are paired. Over several
//! instances values are averaged; the interval then covers these instances with other logs, not other instances.
//!
//! **Intervals.** `is`, `segmented`, `fluid`: percentiles of the bootstrap, [stretched](stretch()); of `fluid` standard errors where [asked for](Ends). `true`: the noise of the runs. `simulated`: the
//! variance over the resamples less the part of it that is the noise of their few runs, plus the noise of the runs
//! behind the value itself, ± 1.96 standard errors.
//!
//! **Predictions.** Where a [prediction](Foreseen) is uncertain, every resample has a guess of its own, and the intervals of
//! `simulated` and `fluid` cover that too. They are stretched as a whole, so that few trajectories widen also the part of the
//! prediction.
//!
//! **Rotas.** Where arms are resampled, each keeps its own turns of round robin: the pulls of a resample are K on average, and
//! a rota is judged for what it is, not for its chance order in the resample.
//!
//! **Availability.** If the log has the [availability](crate::instance::Trajectories::available) of arms, policies choose among the
//! available arms. `simulated` and `true` follow the logged availability of the first steps and then a two-state chain fitted to the log, or this chain
//! from the latest availability, as [`Start`] says; `fluid` follows the chain from the first step on. In `is` and `segmented` an
//! unavailable decision is not a decision of the policy: its ratio is 1. Availability needs states that are seen at every step.
//!
//! **Logs that show no other policy.** Where every logged action was certain, or impossible under the assumed behaviour
//! ([`Hindrance`](super::Hindrance)), `is` and `segmented` are absent and the evidence says why; the others need no propensities. A *logged*
//! propensity of 0 for an action that was taken is broken data, and an error.
//!
//! **Dropped terms.** Where the target never does what was logged, importance sampling knows nothing of the arm. Such a term
//! counts as an average logged reward, and the interval is widened to what the smallest and the largest would make of it. Where
//! that holds of every term of a policy, there is no value ([`Evaluation::imputed`]) and no gain over it.
//!
//! ```
//! use restive::data::domain::Domain;
//! use restive::evaluation::{Case, Estimator, EvaluationSettings, evaluate};
//! use restive::policy::Policy;
//!
//! let domain = Domain { instances: 2, arms: 10, budget: 2, trajectories: 20, ..Domain::two_state() };
//! let instances = domain.generate(1)?;
//! let policies = vec![("no-action".to_string(), Policy::NoAction), ("random".to_string(), Policy::Random)];
//! let cases: Vec<Case> =
//!     instances.iter().map(|instance| Case { instance, policies: policies.clone(), prediction: None }).collect();
//! let settings = EvaluationSettings { runs: 200, resamples: 50, ..EvaluationSettings::new(9) };
//! let evaluation = evaluate(&cases, &settings)?;
//! let score = evaluation.score("random", Estimator::True).unwrap();
//! assert!(score.gain_over_no_action.unwrap().low > 0.0); // a pull pays in this domain
//! # Ok::<(), restive::Error>(())
//! ```

use super::bootstrap::Units;
use super::combine::{combine, covers};
use super::draws::{Draws, Seeds, draws};
use super::{
    Behaviour, Drift, Estimate, Estimator, Evaluation, Evidence, Foreseen, RatioUpTo, Score, Start, drift,
    stretch,
};
use crate::error::{Error, Result};
use crate::instance::{Instance, Observation};
use crate::policy::Policy;

/// One instance and the policies to be judged on it.
pub struct Case<'a> {
    /// the arms and their log
    pub instance: &'a Instance,
    /// policies by name: the same names in the same order for every instance
    pub policies: Vec<(String, Policy)>,
    /// what the transitions are taken to be where the log says little; absent: counted shares, and rows never seen are uniform, as
    /// published
    pub prediction: Option<Foreseen<'a>>,
}

/// How the interval of a bootstrap ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ends {
    /// at percentiles of the resamples: whatever their law
    Percentiles,
    /// 1.96 standard errors of the resamples from the value: of so many arms that the law is normal, 50 resamples tell the ends as well
    /// as 200 do by percentiles
    StandardErrors,
}

/// How to evaluate.
#[derive(Debug, Clone, PartialEq)]
pub struct EvaluationSettings {
    /// where propensities come from; absent: nothing is judged by importance sampling
    pub behaviour: Option<Behaviour>,
    /// which decisions enter a ratio (the published choice where rewards depend on actions)
    pub ratio_up_to: RatioUpTo,
    /// H, the decisions of a simulated run
    pub horizon: usize,
    /// where simulated runs and the fluid begin
    pub start: Start,
    /// simulated runs
    pub runs: usize,
    /// bootstrap resamples
    pub resamples: usize,
    /// how the intervals of `fluid` end
    pub ends: Ends,
    /// simulated runs on each resample, at least 2
    pub runs_per_resample: usize,
    /// of all random numbers
    pub seed: u64,
}

impl EvaluationSettings {
    /// 1,000 runs, 200 resamples with 20 runs each, logged propensities.
    pub fn new(horizon: usize) -> Self {
        Self {
            behaviour: Some(Behaviour::Logged),
            ratio_up_to: RatioUpTo::ThisStep,
            horizon,
            start: Start::First,
            runs: 1000,
            resamples: 200,
            ends: Ends::Percentiles,
            runs_per_resample: 20,
            seed: 0,
        }
    }
}

/// Judges the policies on the instances by every estimator that applies to all of them.
pub fn evaluate(cases: &[Case<'_>], settings: &EvaluationSettings) -> Result<Evaluation> {
    check(cases, settings)?;
    let names: Vec<String> = cases[0].policies.iter().map(|(name, _)| name.clone()).collect();
    let tables = cases.iter().enumerate();
    let tables = tables.map(|(k, case)| draws(case, settings, Seeds::new(settings.seed, k)));
    let tables = tables.collect::<Result<Vec<_>>>()?;
    let hindrance = tables.iter().find_map(|(_, hindrance)| *hindrance);
    let units = cases.iter().map(|case| Units::new(case.instance).count());
    let (units, fewest) = (units.clone().sum(), units.min().unwrap_or(0));
    let find = |sought: &Policy| cases[0].policies.iter().position(|(_, policy)| policy == sought);
    let (random, no_action) = (find(&Policy::Random), find(&Policy::NoAction));
    let mut imputed = Vec::new();
    let mut policies: Vec<(String, Vec<Score>)> = names.into_iter().map(|name| (name, Vec::new())).collect();
    for estimator in Estimator::ALL {
        let parts: Option<Vec<&Vec<Draws>>> = tables
            .iter()
            .map(|(table, _)| table.iter().find(|(e, _)| *e == estimator).map(|(_, d)| d))
            .collect();
        let Some(parts) = parts else { continue };
        let covers = covers(estimator, cases);
        let each = |k: usize| parts.iter().map(move |part| &part[k]);
        let is_imputed = |k: usize| each(k).all(|draws| draws.is_imputed);
        for (k, (name, scores)) in policies.iter_mut().enumerate() {
            if is_imputed(k) {
                imputed.push((name.clone(), estimator));
                continue;
            }
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
                gain_over_random: random.filter(|base| !is_imputed(*base)).map(gain),
                gain_over_no_action: no_action.filter(|base| !is_imputed(*base)).map(gain),
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
    let evidence = Evidence { behaviour: settings.behaviour, drift, trajectories, hindrance };
    Ok(Evaluation { policies, imputed, evidence })
}

fn check(cases: &[Case<'_>], settings: &EvaluationSettings) -> Result<()> {
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
        if case.instance.trajectories().available().is_some()
            && case.instance.observation() != Observation::Full
        {
            return Err(Error::Unsuitable {
                what: "available",
                found: "states that are seen at pulls only".into(),
                expected: "states that are seen at every step".into(),
            });
        }
        let same = case.policies.iter().map(|p| &p.0).eq(cases[0].policies.iter().map(|p| &p.0));
        assert!(same, "policies: the same names for every instance");
    }
    Ok(())
}
