//! What becomes of trajectories once all rows have been placed: arrays `[J,T,N]` of every instance.

use super::growing::{Growing, NO_ROW, Run};
use super::label_fault::refused;
use super::labels::{Fault, follow, number};
use crate::error::{Error, Result};
use crate::memory::require;
use crate::show;
use crate::study::StudySettings;
use crate::study::arms::Arms;
use crate::study::settings::{MOST_LABELS, Rows, longest_chain};
use crate::study::table::Origin;
use ndarray::Array3;
use rayon::prelude::*;
use restive::Trajectories;
use restive::instance::{Chain, Logged, NO_ACTION, Observation, UNSEEN};
use std::path::Path;

/// Names of the trajectories and what was logged, of one instance.
pub(super) type Read = (Vec<String>, Trajectories);

/// What it takes to make trajectories whole once all rows have been placed.
pub(super) struct Whole<'a> {
    pub(super) origin: Origin<'a>,
    pub(super) arms: &'a Arms,
    pub(super) settings: &'a StudySettings,
    pub(super) rows: Rows,
    /// the smallest step of the file
    pub(super) first: usize,
    pub(super) has_propensity: bool,
    pub(super) has_reward: bool,
    pub(super) has_available: bool,
}

impl Whole<'_> {
    /// Makes labels where states are seen at pulls only and fills the arrays, an instance at a time.
    pub(super) fn assemble(self, mut instances: Vec<Growing>) -> Result<(Vec<Read>, Observation)> {
        let Self { origin, arms, settings, rows, first, has_propensity, has_reward, has_available } = self;
        let path = origin.path();
        if first > 1 {
            return Err(late(path, first));
        }
        match rows {
            Rows::All => self.refuse_pulls_alone(&instances)?,
            Rows::Pulls if has_propensity => {
                let expected = "no such column where rows = \"pulls\" in study.toml: arms without a row have no propensity; behaviour may be \
                                \"uniform\" or \"estimated\"";
                return Err(Error::content(path, "", "a column propensity", expected));
            }
            Rows::Pulls => {
                let runs = instances.iter_mut().zip(&arms.arms);
                runs.for_each(|(growing, there)| {
                    growing.runs.iter_mut().for_each(|run| run.leave_alone(first, there.len()))
                });
            }
        }
        let observation = match settings.observation {
            Observation::Full => Observation::Full,
            Observation::Collapsing(chain) => Observation::Collapsing(self.labels(&mut instances, chain)?),
        };
        let has_reward = has_reward || observation != Observation::Full;
        let states = observation.labels(settings.reward.states());
        self.refuse_giants(&instances, has_reward)?;
        let whole = |(k, mut growing): (usize, Growing)| {
            let (n, instance) = (arms.arms[k].len(), arms.instances.name(k));
            let steps = growing.runs.iter().map(|run| run.state.len() / n).max().unwrap_or(0);
            if steps <= first {
                return Err(no_rows(path, instance));
            }
            let shape = (growing.runs.len(), steps - first, n);
            let mut logged = Logged {
                state: Array3::from_elem(shape, UNSEEN),
                action: Array3::from_elem(shape, NO_ACTION),
                propensity: has_propensity.then(|| Array3::from_elem(shape, f64::NAN)),
                reward: has_reward.then(|| Array3::from_elem(shape, f64::NAN)),
                available: has_available.then(|| Array3::from_elem(shape, true)),
            };
            let order = growing.in_order();
            for (j, number) in order.iter().enumerate() {
                let run = std::mem::take(&mut growing.runs[*number]);
                put(&mut logged.state, j, &run.state, first, n);
                put(&mut logged.action, j, &run.action, first, n);
                logged.propensity.iter_mut().for_each(|all| put(all, j, &run.propensity, first, n));
                logged.reward.iter_mut().for_each(|all| put(all, j, &run.reward, first, n));
                logged.available.iter_mut().for_each(|all| put(all, j, &run.is_available, first, n));
            }
            logged.action.iter_mut().filter(|a| **a == NO_ROW).for_each(|a| *a = NO_ACTION);
            let source = |source: restive::Error| Error::Instance {
                instance: instance.to_string(),
                fault: source.into(),
            };
            let names = order.iter().map(|number| growing.names.name(*number).to_string()).collect();
            Ok((names, Trajectories::new(logged, states).map_err(source)?))
        };
        let whole: Vec<Result<Read>> = instances.into_par_iter().enumerate().map(whole).collect();
        Ok((whole.into_iter().collect::<Result<_>>()?, observation))
    }

    /// Refuses arrays that do not fit into memory, where one long trajectory makes all others of its instance as long. What has
    /// been read is given back bit by bit.
    fn refuse_giants(&self, instances: &[Growing], has_reward: bool) -> Result<()> {
        let bytes = 3.0
            + [self.has_propensity, has_reward].map(|has| if has { 8.0 } else { 0.0 }).iter().sum::<f64>()
            + if self.has_available { 1.0 } else { 0.0 };
        let cells = |growing: &Growing| growing.runs.iter().map(|run| run.state.len() as f64).sum::<f64>();
        let padded = |growing: &Growing| {
            growing.runs.len() as f64
                * growing.runs.iter().map(|run| run.state.len()).max().unwrap_or(0) as f64
        };
        let (all, largest) =
            instances.iter().map(padded).fold((0.0, 0.0f64), |(sum, most), x| (sum + x, most.max(x)));
        let read: f64 = instances.iter().map(cells).sum();
        let what = format!(
            "{all} records, one per trajectory, step and arm, all of an instance as long as its longest"
        );
        require(self.origin.path().display(), what, bytes * largest.max(all - read))
    }

    /// A log of states seen at pulls in which every row is a pull, and pulled arms have no row at other steps, has rows for pulls
    /// only: whether the others were left alone is for study.toml to say.
    fn refuse_pulls_alone(&self, instances: &[Growing]) -> Result<()> {
        let runs = || {
            instances
                .iter()
                .zip(&self.arms.arms)
                .flat_map(|(growing, arms)| growing.runs.iter().map(|run| (run, arms.len())))
        };
        if self.settings.observation == Observation::Full || runs().any(|(run, _)| run.action.contains(&0)) {
            return Ok(());
        }
        let has_gap = |(run, n): (&Run, usize)| {
            let steps = &run.action[(self.first * n).min(run.action.len())..run.decided(n) * n];
            (0..n).any(|i| {
                let arm = || steps.iter().skip(i).step_by(n);
                arm().any(|a| *a == 1) && arm().any(|a| *a == NO_ROW)
            })
        };
        if !runs().any(has_gap) {
            return Ok(());
        }
        let expected = "rows with action 0 for arms that were left alone, or rows = \"pulls\" in study.toml, which says that an arm \
                        without a row was left alone";
        Err(Error::content(self.origin.path(), "column action", "rows for pulls only", expected))
    }

    /// Labels in the place of what pulls saw, and its rewards where none were logged; the chain with all its labels counted.
    fn labels(&self, instances: &mut [Growing], chain: Chain) -> Result<Chain> {
        let reward = self.settings.reward.view();
        let (states, horizon) = (self.settings.reward.states(), self.settings.horizon);
        let is_open = chain == Chain::Infinite { beliefs: 0 };
        let most = if is_open { longest_chain(states) } else { chain.beliefs() };
        let of_instance = |(k, growing): (usize, &mut Growing)| {
            let n = self.arms.arms[k].len();
            let mut longest = 0;
            for (j, run) in growing.runs.iter_mut().enumerate() {
                let gap = follow(run, n, self.first, chain, most);
                let refused = |fault: Fault| refused(self, k, growing.names.name(j), fault, chain, most);
                longest = longest.max(gap.map_err(refused)?);
                if !self.has_reward {
                    let at_pull = |(state, action): (&u16, &u8)| match action {
                        1 => reward[[usize::from(*state), 1]],
                        _ => f64::NAN,
                    };
                    run.reward = run.state.iter().zip(&run.action).map(at_pull).collect();
                }
            }
            Ok(longest)
        };
        let gaps: Vec<Result<usize>> = instances.par_iter_mut().enumerate().map(of_instance).collect();
        let longest = gaps.into_iter().try_fold(0, |longest, gap| gap.map(|gap| longest.max(gap)))?;
        let chain = if is_open { Chain::Infinite { beliefs: longest + horizon } } else { chain };
        if chain.beliefs() > longest_chain(states) {
            let found = format!("a longest gap of {longest} steps and a horizon of {horizon}");
            let expected = format!(
                "at most {MOST_LABELS} labels of all states; beliefs in study.toml says how many are kept"
            );
            return Err(Error::content(self.origin.path(), "", found, expected));
        }
        let runs = instances.par_iter_mut().flat_map(|growing| growing.runs.par_iter_mut());
        runs.for_each(|run| number(run, chain.beliefs()));
        Ok(chain)
    }
}

/// Copies one trajectory `[T′,N]` without the steps before the first to the start of its place `[J,T,N]`.
fn put<X: Copy>(all: &mut Array3<X>, j: usize, run: &[X], first: usize, n: usize) {
    let run = run.get(first * n..).unwrap_or(&[]);
    let size = all.shape()[1] * n;
    let all = all.as_slice_mut().expect("made in standard layout");
    all[j * size..][..run.len()].copy_from_slice(run);
}

/// Steps that count from neither 0 nor 1.
pub(in crate::study) fn late(path: &Path, first: usize) -> Error {
    Error::content(path, "column t", format!("{first} as the first step"), "0 or 1")
}

/// An instance of which nothing was logged.
pub(in crate::study) fn no_rows(path: &Path, instance: &str) -> Error {
    let place = format!("instance {}", show::name(instance));
    Error::content(path, place, "no rows", "at least one row of every instance of the table of arms")
}
