//! A study as its checks read it: people counted over all instances, states by what they are worth, and one moment after another.

use super::known::Known;
use ndarray::ArrayView1;
use restive::Trajectories;
use restive::instance::{Assignment, NO_ACTION, UNSEEN};
use restive_tables::Study;

/// The study.
pub(super) struct Log<'a> {
    pub study: &'a Study,
    /// of every instance
    pub logs: Vec<&'a Trajectories>,
    /// over all instances
    pub people: usize,
    /// the instance of every person
    pub instance_of: Vec<u32>,
    /// M
    pub states: usize,
    /// of every state, from 0 the worst to 1 the best, `[M]`
    pub worth: Vec<f64>,
    /// whether states are seen at every step; otherwise the log holds labels
    pub is_full: bool,
    /// what is known of people, as numbers
    pub known: Known,
}

/// All arms at one step of one trajectory; the rows are `[N]`.
pub(super) struct Moment<'a> {
    /// the number of its first person
    pub first: usize,
    /// the instance
    pub instance: usize,
    /// Trajectory of the instance, from 0.
    pub trajectory: usize,
    /// the step, from 0
    pub t: usize,
    /// the steps of its trajectory, the last one without actions included
    pub steps: usize,
    /// states and actions of the step before
    pub before: Option<(ArrayView1<'a, u16>, ArrayView1<'a, u8>)>,
    pub state: ArrayView1<'a, u16>,
    pub action: ArrayView1<'a, u8>,
    /// Whether the action of each arm was chosen there. `None`: every recorded action.
    is_chosen: Option<Vec<bool>>,
    /// states of the step after
    pub next: Option<ArrayView1<'a, u16>>,
    /// how likely the actions were
    pub propensity: Option<ArrayView1<'a, f64>>,
    /// whether that is known of some of them, in a log that does not say it of all: how people were chosen is known then
    pub is_recorded: bool,
}

impl Moment<'_> {
    /// Action of an arm that was chosen there; `None` without a record, if the arm was not available, or after the first decision of an arm
    /// whose pulls are assigned per person.
    pub fn choice(&self, arm: usize) -> Option<u8> {
        let is_chosen = self.is_chosen.as_ref().is_none_or(|is_chosen| is_chosen[arm]);
        Some(self.action[arm]).filter(|action| *action != NO_ACTION && is_chosen)
    }

    /// Arms whose action was chosen there, each with its action.
    pub fn choices(&self) -> impl Iterator<Item = (usize, u8)> {
        (0..self.action.len()).filter_map(move |arm| Some((arm, self.choice(arm)?)))
    }
}

/// Whether the action of each arm was chosen at a step of a trajectory: the arm was available, and if pulls are assigned per person it had
/// not `decided` yet. `None`: every recorded action.
fn chosen(log: &Trajectories, [j, t]: [usize; 2], decided: Option<&mut Vec<bool>>) -> Option<Vec<bool>> {
    if log.available().is_none() && decided.is_none() {
        return None;
    }
    let action = log.action();
    let is_open = |arm: usize| action[[j, t, arm]] != NO_ACTION && log.is_available([j, t, arm]);
    let mut is_chosen: Vec<bool> = (0..log.arms()).map(is_open).collect();
    for (is_chosen, decided) in is_chosen.iter_mut().zip(decided.into_iter().flatten()) {
        *is_chosen &= !*decided;
        *decided |= *is_chosen;
    }
    Some(is_chosen)
}

/// A state that was seen.
pub(super) fn seen(state: u16) -> Option<usize> {
    Some(state).filter(|state| *state != UNSEEN).map(usize::from)
}

impl<'a> Log<'a> {
    pub fn new(study: &'a Study) -> Self {
        let reward = study.settings.reward.view();
        let column = reward.column(0);
        let (least, most) =
            column.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), x| (a.min(*x), b.max(*x)));
        let states = column.len();
        let worth = (0..states).map(|s| match most > least {
            true => (column[s] - least) / (most - least),
            false => s as f64 / states.saturating_sub(1).max(1) as f64,
        });
        let chain = study.settings.observation.chain();
        Self {
            study,
            logs: study.instances.iter().map(|instance| &instance.trajectories).collect(),
            people: study.arms().iter().sum(),
            instance_of: (0u32..).zip(study.arms()).flat_map(|(k, arms)| vec![k; arms]).collect(),
            states,
            worth: worth.collect(),
            is_full: chain.is_none(),
            known: Known::new(study),
        }
    }

    /// The last state that is known, where one is: that of a label, where the log holds labels.
    pub fn state_of(&self, label: u16) -> Option<usize> {
        let chain = self.study.settings.observation.chain();
        seen(label).map(|label| chain.map_or(label, |chain| label / chain.beliefs()))
    }

    /// One after another: instances, trajectories, steps.
    pub fn moments(&self) -> Vec<Moment<'a>> {
        let (mut moments, mut first) = (Vec::new(), 0);
        let (known, actions) = self.known_propensities();
        let is_partial = known > 0 && known < actions;
        let is_per_person = self.study.settings.assignment == Assignment::PerPerson;
        for (instance, log) in self.logs.iter().enumerate() {
            let (state, action, propensity) = (log.state(), log.action(), log.propensity());
            let (trajectories, steps, n) = state.dim();
            let mut decided = is_per_person.then(|| vec![false; n]);
            for j in 0..trajectories {
                let states = state.index_axis_move(ndarray::Axis(0), j);
                let actions = action.index_axis_move(ndarray::Axis(0), j);
                let likely = propensity.map(|all| all.index_axis_move(ndarray::Axis(0), j));
                let state = |t: usize| states.index_axis_move(ndarray::Axis(0), t);
                let action = |t: usize| actions.index_axis_move(ndarray::Axis(0), t);
                moments.extend((0..steps).map(|t| Moment {
                    first,
                    instance,
                    trajectory: j,
                    t,
                    steps,
                    before: (t > 0).then(|| (state(t - 1), action(t - 1))),
                    state: state(t),
                    action: action(t),
                    is_chosen: chosen(log, [j, t], decided.as_mut()),
                    next: (t + 1 < steps).then(|| state(t + 1)),
                    propensity: likely.map(|all| all.index_axis_move(ndarray::Axis(0), t)),
                    is_recorded: is_partial
                        && likely.is_some_and(|all| {
                            let both = actions.row(t).into_iter().zip(all.row(t)).enumerate();
                            // of an arm that was not available nothing was drawn
                            let mut known = both.filter(|(_, (a, p))| **a != NO_ACTION && !p.is_nan());
                            known.any(|(i, _)| log.is_available([j, t, i]))
                        }),
                }));
            }
            first += n;
        }
        moments
    }

    /// Actions whose propensity is known, and all actions.
    pub fn known_propensities(&self) -> (usize, usize) {
        let each = self.logs.iter().map(|log| log.known_propensities());
        each.fold((0, 0), |(known, actions), one| (known + one.0, actions + one.1))
    }

    /// Actions that are pulls.
    pub fn pulls(&self) -> usize {
        self.logs.iter().flat_map(|log| log.pulls()).sum()
    }
}
