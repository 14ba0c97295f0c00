//! One instance of very many arms, judged by simulation and by the fluid limit: arms are resampled by weights.
//!
//! A resample with replacement gives arm i a whole weight w_i. In the fluid limit an arm that is there twice is one arm of twice the mass:
//! the [value](super::fluid()) of a resample is that of all arms with masses w_i μ_i, to the order of a sum. So no arm is copied, the log of
//! an arm is counted once for all resamples, and scores are sorted once. Otherwise a crowd of arms would be built, estimated and sorted
//! for every resample.
//!
//! **Simulated runs** of a resample are left out. The mean of runs differs from the fluid value by O(1/N), so that over resamples and
//! guesses both vary alike, and the variance of `simulated` is that of the fluid values plus the noise of the runs behind the value itself.
//!
//! **Clusters.** The weights of a resample of clusters sum to n′; masses are scaled by n/n′.

use super::availability::{LoggedAvailability, first_masses, rota};
use super::bootstrap::{Units, numbered, times_drawn};
use super::draws::{Draws, Seeds, setting};
use super::evaluate::{Case, EvaluationSettings};
use super::flow::{Absent, MeanField, flow_value};
use super::foreseen::guess_seed;
use super::{Estimator, Record, World};
use crate::policy::soft_top_k::Crowd;
use crate::policy::{Chooser, Policy};
use crate::simulation::{AvailabilityChain, AvailabilityCourse, Initial, availability_moves};
use ndarray::{Array2, Axis};

/// A policy, made ready for the masses of many resamples.
pub(super) enum Prepared {
    /// a table of scores for each step; the last for all that follow
    Crowds(Vec<Crowd>),
    /// pulls that do not look at states: `[H,N]`
    Pulls(Array2<f64>),
    /// the same probability for all available masses
    Even,
}

impl Prepared {
    pub(super) fn new(policy: &Policy, budget: usize, horizon: usize, n: usize) -> Self {
        let crowd = |table: ndarray::ArrayView2<'_, f64>, temperature: f64| {
            Crowd::new(&table.iter().copied().collect::<Vec<_>>(), temperature)
        };
        match policy {
            Policy::Strict(table) => Prepared::Crowds(vec![crowd(table.view(), 0.0)]),
            Policy::Soft(table, temperature) => Prepared::Crowds(vec![crowd(table.view(), *temperature)]),
            Policy::Horizon(tables) => {
                let steps = tables.axis_iter(Axis(0)).take(horizon);
                Prepared::Crowds(steps.map(|table| crowd(table, 0.0)).collect())
            }
            Policy::NoAction | Policy::Random | Policy::RoundRobin => {
                let mut chooser = Chooser::new(policy, budget);
                let (state, mut inclusion) = (vec![0; n], vec![0.0; n]);
                let mut pulls = Array2::zeros((horizon, n));
                for (t, mut row) in pulls.rows_mut().into_iter().enumerate() {
                    chooser.inclusion(&state, t, &mut inclusion);
                    row.iter_mut().zip(&inclusion).for_each(|(pull, p)| *pull = *p);
                }
                Prepared::Pulls(pulls)
            }
        }
    }

    /// For arms that are available at some steps only.
    pub(super) fn among_available(
        policy: &Policy,
        budget: usize,
        horizon: usize,
        n: usize,
        course: &AvailabilityCourse,
    ) -> Self {
        match policy {
            Policy::Random => Prepared::Even,
            Policy::RoundRobin => Prepared::Pulls(rota(course, n, budget.min(n), horizon)),
            _ => Prepared::new(policy, budget, horizon, n),
        }
    }

    /// The fluid value of masses.
    pub(super) fn value(&self, field: &MeanField<'_>, absent: Option<Absent<'_>>, horizon: usize) -> f64 {
        let m = field.initial.ncols();
        flow_value(field, absent, horizon, |t, mass, pull| match self {
            Prepared::Crowds(crowds) => {
                crowds[t.min(crowds.len() - 1)].solve(mass, field.budget, pull);
            }
            Prepared::Pulls(pulls) => {
                pull.chunks_exact_mut(m).zip(pulls.row(t)).for_each(|(pull, p)| pull.fill(*p));
            }
            Prepared::Even => pull.fill((field.budget / mass.iter().sum::<f64>()).min(1.0)),
        })
    }
}

/// The draws of `simulated` and `fluid`, given (runs, fluid value) of each policy on the log as it is.
pub(super) fn weighted_draws(
    case: &Case<'_>,
    settings: &EvaluationSettings,
    seeds: Seeds,
    initial: &Initial,
    availability: Option<&LoggedAvailability>,
    point: Vec<(Vec<f64>, f64)>,
) -> [(Estimator, Vec<Draws>); 2] {
    let instance = case.instance;
    let (n, m) = (instance.arms(), instance.states());
    let (log, observation) = (instance.trajectories(), instance.observation());
    let record = Record::from_log(log, observation);
    let every_arm: Vec<usize> = (0..n).collect();
    let course = availability.map(|availability| availability.course(log, &every_arm));
    let (mass, absent) = match &course {
        None => (initial.mass(n, m), None),
        Some(course) => {
            let [available, absent] = first_masses(course, initial, n, m);
            (available, Some(absent))
        }
    };
    let moves = availability_moves(log);
    let (budget, horizon) = (instance.budget(), settings.horizon);
    let prepare = |policy: &Policy| match &course {
        None => Prepared::new(policy, budget, horizon, n),
        Some(course) => Prepared::among_available(policy, budget, horizon, n, course),
    };
    let prepared: Vec<Prepared> = case.policies.iter().map(|(_, policy)| prepare(policy)).collect();
    let units = Units::new(instance);
    let resampled = numbered(units.count(), settings.resamples, seeds.resamples, |b, which, _| {
        let prediction = case.prediction.as_ref().map(|foreseen| {
            let seed = Some(guess_seed(settings.seed, b));
            (foreseen.of_everybody(seed), foreseen.strength)
        });
        let prediction = prediction.as_ref().map(|(p, strength)| (p.view(), *strength));
        let world = World::estimated(instance.reward(), &record, prediction);
        let setting = setting(case, settings, &world);
        let arms = units.arms(which);
        let (times, scale) = (times_drawn(&arms, n), units.scale(arms.len()));
        let weigh = |mass: &Array2<f64>| {
            let mut drawn = mass.clone();
            for (mut row, times) in drawn.rows_mut().into_iter().zip(&times) {
                row *= times * scale;
            }
            drawn
        };
        let (drawn, absent) = (weigh(&mass), absent.as_ref().map(weigh));
        let chain =
            moves.as_ref().map(|moves| AvailabilityChain::of_moves(moves.iter().zip(times.iter().copied())));
        let absent = absent.as_ref().zip(chain);
        let absent = absent.map(|(mass, chain)| Absent { mass: mass.view(), chain });
        let field = MeanField {
            motion: setting.motion,
            reward: setting.reward,
            initial: drawn.view(),
            discount: setting.discount,
            budget: budget.min(n) as f64,
        };
        prepared.iter().map(|policy| policy.value(&field, absent, horizon)).collect::<Vec<f64>>()
    });
    let mut simulated = Vec::with_capacity(point.len());
    let mut fluids = Vec::with_capacity(point.len());
    for (k, (runs, value)) in point.into_iter().enumerate() {
        let resamples: Vec<f64> = resampled.iter().map(|values| values[k]).collect();
        let of_runs = super::moments(&runs).0;
        simulated.push(Draws { value: of_runs, runs, resamples: resamples.clone(), ..Draws::default() });
        fluids.push(Draws { value, resamples, is_by_errors: true, ..Draws::default() });
    }
    [(Estimator::Simulated, simulated), (Estimator::Fluid, fluids)]
}

#[cfg(test)]
mod tests {
    use super::super::{fluid, fluid_by_step};
    use super::*;
    use crate::data::domain::Domain;
    use ndarray::Array3;

    /// Arms that are there twice are copied, as a textbook would, and as the functions of single arms take them.
    #[test]
    fn an_arm_that_is_drawn_twice_is_one_of_twice_the_mass() {
        let domain = Domain { instances: 1, arms: 9, budget: 3, trajectories: 1, ..Domain::two_state() };
        let instance = &domain.generate(4).unwrap()[0];
        let truth = instance.truth().unwrap();
        let table = Array2::from_shape_fn((9, 2), |(i, s)| ((3 * i + s) as f64).sin());
        let tables = Array3::from_shape_fn((4, 9, 2), |(t, i, s)| ((t + 3 * i + s) as f64).cos());
        let which = [0, 0, 0, 2, 3, 3, 7, 8, 8];
        let weights = times_drawn(&which, 9);
        let mass = Array2::from_shape_fn((9, 2), |(i, s)| if i % 2 == s { 0.3 } else { 0.7 });
        let mut weighted = mass.clone();
        weighted.rows_mut().into_iter().zip(&weights).for_each(|(mut row, times)| row *= *times);
        let copied = (mass.select(Axis(0), &which), truth.select_arms(&which));
        let field = |transition, initial| MeanField {
            motion: transition,
            reward: instance.reward().into(),
            initial,
            discount: 0.9,
            budget: 3.0,
        };
        let all = field(truth.view().into(), weighted.view());
        let some = field(copied.1.view().into(), copied.0.view());
        let found = |policy: Policy| Prepared::new(&policy, 3, 6, 9).value(&all, None, 6);
        let chosen = table.select(Axis(0), &which);
        let by_step = tables.select(Axis(1), &which);
        for (found, expected) in [
            (found(Policy::Strict(table.clone())), fluid(chosen.view(), &some, 0.0, 6).value),
            (found(Policy::Soft(table.clone(), 0.2)), fluid(chosen.view(), &some, 0.2, 6).value),
            (found(Policy::Horizon(tables)), fluid_by_step(by_step.view(), &some, &[0.0; 4], 6)),
        ] {
            assert!((found - expected).abs() < 1e-12 * expected.abs(), "{found} {expected}");
        }
        let random = flow_value(&some, None, 6, |_, _, pull| pull.fill(3.0 / 9.0));
        assert!((found(Policy::Random) - random).abs() < 1e-12 * random.abs());
        let nobody = flow_value(&some, None, 6, |_, _, pull| pull.fill(0.0));
        assert!((found(Policy::NoAction) - nobody).abs() < 1e-12 * nobody.abs());
    }

    #[test]
    fn arms_that_are_always_available_are_those_without_availability() {
        let domain = Domain { instances: 1, arms: 9, budget: 3, trajectories: 1, ..Domain::two_state() };
        let instance = &domain.generate(5).unwrap()[0];
        let truth = instance.truth().unwrap();
        let table = Array2::from_shape_fn((9, 2), |(i, s)| ((3 * i + s) as f64).sin());
        let tables = Array3::from_shape_fn((4, 9, 2), |(t, i, s)| ((t + 3 * i + s) as f64).cos());
        let mass = Array2::from_shape_fn((9, 2), |(i, s)| if i % 2 == s { 0.3 } else { 0.7 });
        let none = Array2::zeros((9, 2));
        let field = |initial| MeanField {
            motion: truth.view().into(),
            reward: instance.reward().into(),
            initial,
            discount: 0.9,
            budget: 3.0,
        };
        let (here, nobody) = (field(mass.view()), field(none.view()));
        let idle = Prepared::new(&Policy::NoAction, 3, 6, 9).value(&here, None, 6);
        for policy in [
            Policy::NoAction,
            Policy::Random,
            Policy::RoundRobin,
            Policy::Strict(table.clone()),
            Policy::Horizon(tables),
            Policy::Soft(table, 0.2),
        ] {
            let value = |is_available: bool| {
                let chain = AvailabilityChain { stays: 1.0, returns: 0.0 };
                let known = Array3::from_elem((1, 1, 9), Some(is_available));
                let course = AvailabilityCourse { known, chain };
                let (field, absent) = if is_available { (&here, &none) } else { (&nobody, &mass) };
                let absent = Absent { mass: absent.view(), chain };
                Prepared::among_available(&policy, 3, 6, 9, &course).value(field, Some(absent), 6)
            };
            let plain = Prepared::new(&policy, 3, 6, 9).value(&here, None, 6);
            // a sum of masses may be off by a last digit, which the random policy divides by
            assert!((value(true) - plain).abs() <= 1e-14 * plain.abs(), "{policy:?}");
            assert_eq!(value(false), idle, "{policy:?}");
        }
    }
}
