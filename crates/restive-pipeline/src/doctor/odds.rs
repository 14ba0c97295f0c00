//! Log-odds of a call: the rows that they are fitted to, how well they foretell calls of people whom they were not fitted to, and which
//! single columns go with calls.
//!
//! The residuals of calls at decisions without recorded chances are for the check of availability.

use super::log::{Log, Moment};
use crate::identification::Residual;
use ndarray::{Array2, Axis};
use restive::statistics::{Auc, WithinRow, logistic, within};
use restive_tables::{Study, show};

/// Rows that the log-odds are fitted to and tried on.
const ROWS: usize = 60_000;

/// Decisions of some people, as the log-odds read them.
pub(super) struct Rows {
    /// `[rows, P]`
    pub z: Array2<f64>,
    /// Columns of `z` that are about earlier calls.
    history: [usize; 2],
    pub is_called: Vec<bool>,
    /// log-odds of the step's share
    pub offset: Vec<f64>,
    group: Vec<u32>,
    person: Vec<u32>,
    /// worth of the state, where it is known
    worth: Vec<Option<f64>>,
    /// decisions of single people at steps at which some were called and some were not, of all people
    pub open: usize,
}

impl Rows {
    pub(super) fn new(log: &Log<'_>, moments: &[Moment<'_>]) -> Self {
        let share = |moment: &Moment<'_>| {
            let calls = moment.choices().filter(|(_, a)| *a == 1).count();
            let there = moment.choices().count();
            (calls > 0 && calls < there && !moment.is_recorded).then(|| (calls as f64 / there as f64, there))
        };
        let open: usize = moments.iter().filter_map(share).map(|(_, there)| there).sum();
        let stride = open.div_ceil(ROWS).max(1);
        let own = if log.states <= 9 { log.states } else { 2 };
        let width = 1 + own + 2 + log.known.names.len();
        let (mut z, mut is_called, mut offset) = (Vec::new(), Vec::new(), Vec::new());
        let (mut group, mut person, mut worth) = (Vec::new(), Vec::new(), Vec::new());
        let mut so_far: Vec<u32> = Vec::new();
        for (step, moment) in moments.iter().enumerate() {
            if moment.t == 0 {
                so_far = vec![0; moment.action.len()];
            }
            let share = share(moment);
            for (i, a) in moment.choices() {
                if let Some((share, _)) = share.filter(|_| (moment.first + i).is_multiple_of(stride)) {
                    let state = log.state_of(moment.state[i]);
                    let last = moment.before.as_ref().is_some_and(|(_, action)| action[i] == 1);
                    let at = z.len();
                    z.resize(at + width, 0.0);
                    z[at] = 1.0;
                    match state {
                        // the first place is for those whose state is not known
                        None => z[at + 1] = 1.0,
                        Some(0) if log.states <= 9 => {}
                        Some(s) if log.states <= 9 => z[at + 1 + s] = 1.0,
                        Some(s) => z[at + 2] = log.worth[s],
                    }
                    z[at + 1 + own] = f64::from(u8::from(last));
                    z[at + 2 + own] = f64::from(so_far[i]).ln_1p();
                    for (f, x) in log.known.values.row(moment.first + i).iter().enumerate() {
                        z[at + 3 + own + f] = *x;
                    }
                    is_called.push(a == 1);
                    offset.push((share / (1.0 - share)).ln());
                    group.push(step as u32);
                    person.push((moment.first + i) as u32);
                    worth.push(state.map(|s| log.worth[s]));
                }
                so_far[i] += u32::from(a == 1);
            }
        }
        let rows = is_called.len();
        let z = Array2::from_shape_vec((rows, width), z).expect("rows of one width");
        Self { z, history: [1 + own, 2 + own], is_called, offset, group, person, worth, open }
    }

    /// Chances by odds of the state and the features that are fitted to all rows.
    fn fitted(&self) -> Vec<f64> {
        if self.is_called.is_empty() {
            return Vec::new();
        }
        // earlier calls would explain most of a run
        let columns: Vec<usize> =
            (0..self.z.ncols()).filter(|column| !self.history.contains(column)).collect();
        let z = self.z.select(Axis(1), &columns);
        let weights = logistic(z.view(), &self.is_called, &self.offset, 1.0);
        let along = z.dot(&weights);
        along
            .iter()
            .zip(&self.offset)
            .map(|(along, offset)| 1.0 / (1.0 + (-(along + offset)).exp()))
            .collect()
    }

    /// How well the odds of one half of people are foretold by the other, and the chances.
    pub(super) fn tried(&self) -> (Auc, Vec<f64>) {
        // people who are next to each other in the table go to the same half where they have the same number
        let half = |k: usize| (self.person[k].wrapping_mul(0x9e37_79b9) >> 16) & 1;
        let mut chance = vec![0.0; self.is_called.len()];
        for fold in 0..2 {
            let learnt: Vec<usize> = (0..chance.len()).filter(|k| half(*k) != fold).collect();
            let yes: Vec<bool> = learnt.iter().map(|k| self.is_called[*k]).collect();
            let offset: Vec<f64> = learnt.iter().map(|k| self.offset[*k]).collect();
            let weights = logistic(self.z.select(Axis(0), &learnt).view(), &yes, &offset, 1.0);
            for k in (0..chance.len()).filter(|k| half(*k) == fold) {
                let along = self.z.row(k).dot(&weights) + self.offset[k];
                chance[k] = 1.0 / (1.0 + (-along).exp());
            }
        }
        let (mut auc, mut from) = (Auc::default(), 0);
        while from < chance.len() {
            let to = from + self.group[from..].iter().take_while(|group| **group == self.group[from]).count();
            // scores of two fits are not compared with each other
            for fold in 0..2 {
                let of = (from..to).filter(|k| half(*k) == fold).map(|k| (chance[k], self.is_called[k]));
                auc.add(&mut of.collect::<Vec<_>>());
            }
            from = to;
        }
        (auc, chance)
    }

    /// What those who were called have more or less of, the strongest first.
    pub(super) fn strengths(&self, log: &Log<'_>) -> Vec<String> {
        let z = |x: &dyn Fn(usize) -> Option<f64>| {
            let row = |k: usize| {
                let y = f64::from(u8::from(self.is_called[k]));
                Some(WithinRow { group: self.group[k], cluster: self.person[k], x: x(k)?, y })
            };
            within(&(0..self.is_called.len()).filter_map(row).collect::<Vec<_>>())
                .map_or(0.0, |found| found.z())
        };
        let state = z(&|k| self.worth[k]);
        let what = if state < 0.0 {
            "the state (the worse off were called more)"
        } else {
            "the state (the better off were called more)"
        };
        let mut all = vec![(state.abs(), what.to_string())];
        for (f, name) in log.known.names.iter().enumerate() {
            let strength = z(&|k| Some(log.known.values[[self.person[k] as usize, f]]));
            all.push((strength.abs(), format!("feature {}", show::name(name))));
        }
        all.sort_by(|a, b| b.0.total_cmp(&a.0));
        let mut names: Vec<String> =
            all.into_iter().filter(|(z, _)| *z > 4.0).map(|(_, name)| name).collect();
        names.dedup();
        names.truncate(3);
        names
    }
}

/// Residuals of calls at decisions without recorded chances, by odds of a call from state and features.
pub(crate) fn residuals(study: &Study) -> Vec<Residual> {
    let log = Log::new(study);
    let moments = log.moments();
    let rows = Rows::new(&log, &moments);
    let residual = |(k, chance): (usize, f64)| {
        let moment = &moments[rows.group[k] as usize];
        let (trajectory, step) = (moment.trajectory as u32, moment.t as u32);
        Residual {
            arm: rows.person[k],
            trajectory,
            step,
            value: f64::from(u8::from(rows.is_called[k])) - chance,
        }
    };
    rows.fitted().into_iter().enumerate().map(residual).collect()
}
