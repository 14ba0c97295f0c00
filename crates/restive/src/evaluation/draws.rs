//! One instance: the value of every policy by every estimator, on the log and on its resamples.

use super::availability::LoggedAvailability;
use super::by_model::model_draws;
use super::by_ratio::ratio_draws;
use super::evaluate::{Case, EvaluationSettings};
use super::{Estimator, Hindrance, Propensity, Simulated, World, moments};
use crate::error::Result;
use crate::random::stream;
use crate::simulation::Setting;
use rand::RngExt;

/// The seeds of one instance: instances must not share their noise, or their mean would vary more than it shows.
#[derive(Clone, Copy)]
pub(super) struct Seeds {
    pub(super) runs: u64,
    pub(super) resamples: u64,
}

impl Seeds {
    pub(super) fn new(seed: u64, instance: usize) -> Self {
        let mut random = stream(seed, &[EVALUATION, instance as u64]);
        Self { runs: random.random(), resamples: random.random() }
    }
}

/// The first step of the paths of this room's streams, so that a log simulated with the same seed had other noise.
const EVALUATION: u64 = 0x6576_616c;

/// The value of one policy by one estimator, with all that its interval needs.
#[derive(Debug, Clone, Default)]
pub(super) struct Draws {
    pub value: f64,
    /// the value on each resample; empty where nothing is estimated from the log
    pub resamples: Vec<f64>,
    /// the values of the runs; empty where nothing is simulated
    pub runs: Vec<f64>,
    /// how many logged starts the runs go through in turn; 0 where they draw their own
    pub start_rows: usize,
    /// whether the interval has standard errors of the resamples for its ends: where the value is on transitions fitted to sightings,
    /// whose resamples lean further to the side to which it leans itself, or where that was [asked for](super::Ends)
    pub is_by_errors: bool,
    /// the values of the runs of each resample
    pub resampled_runs: Vec<Vec<f64>>,
    /// how far below and above the value the dropped terms might lie
    pub slack: [f64; 2],
    pub effective_sample_size: Option<f64>,
    pub dropped: usize,
    /// whether all terms were dropped, so that the value is made of nothing but average rewards
    pub is_imputed: bool,
    pub without_overlap: usize,
}

/// An estimator's draws for each policy.
pub(super) type Table = Vec<(Estimator, Vec<Draws>)>;

/// The draws of every estimator that applies, and why importance sampling does not where it was asked for.
pub(super) fn draws(
    case: &Case<'_>,
    settings: &EvaluationSettings,
    seeds: Seeds,
) -> Result<(Table, Option<Hindrance>)> {
    let log = case.instance.trajectories();
    let (mut table, mut hindrance) = (Vec::new(), None);
    if let Some(behaviour) = settings.behaviour {
        match Propensity::or_hindrance(log, behaviour, case.instance.budget())? {
            Ok(propensity) => table.push(ratio_draws(case, settings, &propensity, seeds)),
            Err(found) => hindrance = Some(found),
        }
    }
    table.extend(model_draws(case, settings, seeds));
    if let Some(truth) = case.instance.truth() {
        let initial = settings.start.initial(log, case.instance.observation());
        let world = World::new(case.instance.observation(), case.instance.reward(), truth);
        let setting = setting(case, settings, &world);
        let every_arm: Vec<usize> = (0..log.arms()).collect();
        let course = LoggedAvailability::new(log, settings.start)
            .map(|availability| availability.course(log, &every_arm));
        let (runs, seed) = (settings.runs, seeds.runs);
        let each = case.policies.iter().map(|(_, policy)| {
            let runs = match &course {
                None => Simulated::new(&setting, &initial, policy, runs, seed).values,
                Some(course) => course.values(&setting, &initial, policy, runs, seed),
            };
            let runs = runs.to_vec();
            Draws { value: moments(&runs).0, runs, ..Draws::default() }
        });
        table.push((Estimator::True, each.collect()));
    }
    Ok((table, hindrance))
}

pub(super) fn setting<'a>(case: &Case<'a>, settings: &EvaluationSettings, world: &'a World) -> Setting<'a> {
    let instance = case.instance;
    Setting {
        motion: world.motion(),
        reward: world.reward(),
        discount: instance.discount(),
        budget: instance.budget(),
        horizon: settings.horizon,
    }
}
