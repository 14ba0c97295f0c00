//! Trajectories while they are read, and what becomes of them: arrays `[J,T,N]` of every instance.

use super::arms::Arms;
use super::roster::Roster;
use crate::error::{Error, Result};
use ndarray::Array3;
use rayon::prelude::*;
use restive::Trajectories;
use restive::instance::{Logged, NO_ACTION, UNSEEN};
use std::path::Path;

/// An action while no row has spoken of it: so that a second row is known for one.
pub(super) const NO_ROW: u8 = NO_ACTION - 1;

/// The trajectories of one instance while they are read.
#[derive(Default)]
pub(super) struct Growing {
    pub(super) names: Roster,
    pub(super) runs: Vec<Run>,
}

/// One trajectory, `[T,N]`.
#[derive(Default)]
pub(super) struct Run {
    pub(super) state: Vec<u16>,
    pub(super) action: Vec<u8>,
    pub(super) propensity: Vec<f64>,
    pub(super) reward: Vec<f64>,
}

/// Names of the trajectories and what was logged, of one instance.
pub(super) type Read = (Vec<String>, Trajectories);

/// What it takes to make trajectories whole once all rows have been placed.
pub(super) struct Whole<'a> {
    pub(super) path: &'a Path,
    pub(super) arms: &'a Arms,
    pub(super) states: usize,
    pub(super) budget: usize,
    /// the smallest step of the file
    pub(super) first: usize,
    pub(super) has_propensity: bool,
    pub(super) has_reward: bool,
}

impl Whole<'_> {
    /// Checks the budget and fills the arrays, an instance at a time.
    pub(super) fn assemble(self, instances: Vec<Growing>) -> Result<Vec<Read>> {
        let Self { path, arms, states, budget, first, has_propensity, has_reward } = self;
        if first > 1 {
            return Err(Error::content(path, "column t", format!("{first} as the first step"), "0 or 1"));
        }
        let whole = |(k, growing): (usize, Growing)| {
            let (n, instance) = (arms.arms[k].len(), arms.instances.name(k).escape_debug());
            let steps = growing.runs.iter().map(|run| run.state.len() / n).max().unwrap_or(0);
            if steps <= first {
                let (place, found) = (format!("instance {instance}"), "no rows");
                return Err(Error::content(
                    path,
                    place,
                    found,
                    "at least one row of every instance of the table of arms",
                ));
            }
            let shape = (growing.runs.len(), steps - first, n);
            let mut logged = Logged {
                state: Array3::from_elem(shape, UNSEEN),
                action: Array3::from_elem(shape, NO_ACTION),
                propensity: has_propensity.then(|| Array3::from_elem(shape, f64::NAN)),
                reward: has_reward.then(|| Array3::from_elem(shape, f64::NAN)),
            };
            for (j, run) in growing.runs.into_iter().enumerate() {
                for (t, actions) in run.action.chunks(n).enumerate() {
                    let pulls = actions.iter().filter(|a| **a == 1).count();
                    if pulls > budget {
                        let trajectory = growing.names.name(j).escape_debug();
                        let place = format!("instance {instance}, trajectory {trajectory}, t {t}");
                        let expected = format!("at most the budget of {budget}");
                        return Err(Error::content(path, place, format!("{pulls} pulls"), expected));
                    }
                }
                put(&mut logged.state, j, &run.state, first, n);
                put(&mut logged.action, j, &run.action, first, n);
                logged.propensity.iter_mut().for_each(|all| put(all, j, &run.propensity, first, n));
                logged.reward.iter_mut().for_each(|all| put(all, j, &run.reward, first, n));
            }
            logged.action.iter_mut().filter(|a| **a == NO_ROW).for_each(|a| *a = NO_ACTION);
            let source = |source: restive::Error| Error::Instance {
                instance: instance.to_string(),
                arm: None,
                fault: source.into(),
            };
            Ok((growing.names.into_names(), Trajectories::new(logged, states).map_err(source)?))
        };
        let whole: Vec<Result<Read>> = instances.into_par_iter().enumerate().map(whole).collect();
        whole.into_iter().collect()
    }
}

/// Copies one trajectory `[T′,N]` without the steps before the first to the start of its place `[J,T,N]`.
fn put<X: Copy>(all: &mut Array3<X>, j: usize, run: &[X], first: usize, n: usize) {
    let run = run.get(first * n..).unwrap_or(&[]);
    let size = all.shape()[1] * n;
    let all = all.as_slice_mut().expect("made in standard layout");
    all[j * size..][..run.len()].copy_from_slice(run);
}
