//! The logs of a batch of decision problems, as they were given and as the estimators want them.
//!
//! An arm that is absent from a decision is one of which nothing is recorded there, whatever its entries say: it did not act, and what it
//! earned is not known. K arms at random are then K of those that were there.

use crate::arms::slice;
use crate::border::{PerPlace, check_shape};
use crate::error::raise;
use crate::trajectories::Log;
use ndarray::{Array2, Array3, ArrayView3, CowArray, Ix3, Zip, s};
use numpy::{PyReadonlyArrayDyn, PyUntypedArrayMethods};
use pyo3::prelude::*;
use restive::Reward;
use restive::evaluation::{Behaviour, Decisions, Propensity};
use restive::instance::{NO_ACTION, Trajectories, UNSEEN};

/// Entries `[J,H,N]` of every problem, or of all of them.
pub(crate) struct Part<'py, T: numpy::Element> {
    array: PyReadonlyArrayDyn<'py, T>,
    pub(crate) is_shared: bool,
}

impl<'py, T: numpy::Element> Part<'py, T> {
    /// With the axes in front, or without any.
    pub(crate) fn new(
        what: &str,
        array: PyReadonlyArrayDyn<'py, T>,
        axes: &[usize],
        tails: &[[usize; 3]],
    ) -> PyResult<Self> {
        let found = array.shape();
        let fits = |axes: &[usize]| tails.iter().any(|tail| found == [axes, tail].concat());
        let name = |axes: &[usize]| {
            let shapes: Vec<String> =
                tails.iter().map(|tail| format!("{:?}", [axes, tail].concat())).collect();
            shapes.join(" or ")
        };
        let mut expected = format!("{} (trajectory, step, arm)", name(&[]));
        if !axes.is_empty() {
            expected = format!("{expected} for all problems, or {} of their own", name(axes));
        }
        check_shape(what, &expected, found, fits(&[]) || fits(axes))?;
        let is_shared = found.len() == 3;
        Ok(Self { array, is_shared })
    }

    fn of(&self, problem: usize) -> ArrayView3<'_, T> {
        let shape = self.array.shape();
        let &[.., j, t, n] = shape else { unreachable!("checked") };
        let start = if self.is_shared { 0 } else { problem * j * t * n };
        ArrayView3::from_shape((j, t, n), &slice(&self.array)[start..][..j * t * n]).expect("as many numbers")
    }
}

/// Rewards as they were given.
pub(crate) enum Rewards<'py> {
    Table(Reward),
    Logged(Part<'py, f64>),
}

/// A log, ready to be judged by.
pub(crate) struct Laid {
    pub(crate) decisions: Decisions,
    /// `[J,H,N]`: 3s + a, a being 2 where there was none, and [`NOWHERE`] where s is not known; none where rewards were logged
    pub(crate) cells: Option<Array3<u32>>,
}

pub(crate) const NOWHERE: u32 = u32::MAX;

/// What was given of the logs, as it was.
pub(crate) struct Given<'a, 'py> {
    pub(crate) dim: (usize, usize, usize),
    pub(crate) state: Part<'py, i64>,
    pub(crate) action: Part<'py, i64>,
    pub(crate) propensity: Option<Part<'py, f64>>,
    pub(crate) budget: Option<PerPlace>,
    pub(crate) earned: Rewards<'py>,
    pub(crate) mask: Option<&'a [bool]>,
}

impl Given<'_, '_> {
    pub(crate) fn laid(&self, problem: usize) -> PyResult<Laid> {
        let (j, h, n) = self.dim;
        let mask = self.mask.map(|mask| {
            ArrayView3::from_shape(self.dim, &mask[problem * j * h * n..][..j * h * n]).expect("as many")
        });
        let (state, action) =
            (seen(self.state.of(problem), mask, -1), seen(self.action.of(problem), mask, -1));
        let reward = match &self.earned {
            Rewards::Logged(part) => Some(seen(part.of(problem), mask, f64::NAN)),
            Rewards::Table(_) => None,
        };
        let none = Reward::of_state(&[0.0]).map_err(raise)?; // not read: rewards were logged
        let (table, m) = match &self.earned {
            Rewards::Table(table) => (table, table.states()),
            Rewards::Logged(_) => {
                (&none, (state.iter().copied().max().unwrap_or(0).max(0) as usize).saturating_add(1))
            }
        };
        let propensity: Option<CowArray<'_, f64, Ix3>> = match (&self.propensity, mask) {
            (Some(part), _) => Some(part.of(problem).into()),
            (None, Some(mask)) => Some(self.among(mask, action.view(), problem).into()),
            (None, None) => None,
        };
        let log = Log {
            state: state.view(),
            action: action.view(),
            decisions: h,
            propensity: propensity.as_ref().map(|values| values.view()),
            reward: reward.as_ref().map(|reward| reward.view()),
        };
        let trajectories = log.trajectories(m)?;
        let propensity = match (&self.budget, mask) {
            (Some(budget), None) => {
                Propensity::new(&trajectories, Behaviour::Uniform, budget.of(problem) as usize)
            }
            _ => Propensity::new(&trajectories, Behaviour::Logged, n),
        };
        let decisions = Decisions::new(&trajectories, table, &propensity.map_err(raise)?);
        let cells = reward.is_none().then(|| cells(&trajectories));
        Ok(Laid { decisions, cells })
    }

    /// The chance of every action where K of the arms that were there are pulled at random, or all of them if they are fewer.
    fn among(&self, mask: ArrayView3<'_, bool>, action: ArrayView3<'_, i64>, problem: usize) -> Array3<f64> {
        let (j, h, _) = self.dim;
        let budget = self.budget.as_ref().map_or(0.0, |budget| budget.of(problem));
        let share = Array2::from_shape_fn((j, h), |(j, t)| {
            let there = mask.slice(s![j, t, ..]).iter().filter(|there| **there).count() as f64;
            budget.min(there) / there.max(1.0)
        });
        Array3::from_shape_fn(self.dim, |at| {
            let share = share[[at.0, at.1]];
            if action[at] == 1 { share } else { 1.0 - share }
        })
    }
}

/// What is recorded of the arms that are there; the state after the last decision is that of whoever was there at it.
fn seen<'a, T: Copy>(
    values: ArrayView3<'a, T>,
    mask: Option<ArrayView3<'_, bool>>,
    absent: T,
) -> CowArray<'a, T, Ix3> {
    let Some(mask) = mask else { return values.into() };
    let last = mask.dim().1 - 1;
    let entry = |(j, t, i): (usize, usize, usize)| {
        if mask[[j, t.min(last), i]] { values[[j, t, i]] } else { absent }
    };
    Array3::from_shape_fn(values.dim(), entry).into()
}

/// Where in a table of rewards each decision looks.
fn cells(trajectories: &Trajectories) -> Array3<u32> {
    let decided = s![.., ..trajectories.steps() - 1, ..];
    let (state, action) = (trajectories.state(), trajectories.action());
    Zip::from(state.slice(decided)).and(action.slice(decided)).map_collect(|&s, &a| match (s, a) {
        (UNSEEN, _) => NOWHERE,
        (s, NO_ACTION) => 3 * u32::from(s) + 2,
        (s, a) => 3 * u32::from(s) + u32::from(a),
    })
}
