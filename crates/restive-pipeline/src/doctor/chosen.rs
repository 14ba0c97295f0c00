//! `chosen`: how people were chosen: in turn, by lot, or by something that is seen. `overlap`: who could have been chosen at all.
//!
//! **In turn.** At each step it is the turn of those with the fewest calls so far. Where nearly all calls go to them, though a lot would
//! have called many others, it was a rota.
//!
//! **By something seen.** Log-odds of a call from state, earlier calls and features, fitted to half of the people and tried on the other
//! half: of one who was called and one who was not at the same step, how often has the one who was called the higher odds (AUC)? A lot
//! gives a half. Single columns are slopes within steps, errors by person. A choice by what no table shows is seen by none of this.
//!
//! **Overlap.** Whoever had less than a tenth of the average chance, or more than nine in ten, can be compared with nobody. Weights
//! 1/chance of those who were called are worth (Σw)²/Σw² calls of a lot.

use super::finding::{Finding, Severity};
use super::log::{Log, Moment};
use crate::words::{grouped, percent};
use ndarray::{Array2, Axis};
use restive::instance::NO_ACTION;
use restive::statistics::{Auc, WithinRow, logistic, within};
use restive_tables::show;

const CHOSEN: &str = "chosen";
const OVERLAP: &str = "overlap";
/// Rows that the log-odds are fitted to and tried on.
const ROWS: usize = 60_000;
/// Calls below which nobody can tell.
const FEW: usize = 30;

/// How people were chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum How {
    Unknown,
    Turn,
    Lot,
    Seen,
}

pub(super) struct Chosen {
    pub how: How,
    calls: usize,
    /// calls of those whose turn it was, and what a lot would have given
    pub in_turn: f64,
    expected: f64,
    auc: Option<f64>,
    /// what those who were called have more or less of
    by: Vec<String>,
    /// share of decisions in which a person could hardly be compared
    alone: f64,
    /// calls of a lot that those that were made are worth, as a share
    effective: f64,
    /// decisions at which some were called and some were not
    open: usize,
}

impl Chosen {
    pub(super) fn new(log: &Log<'_>) -> Self {
        let moments = log.moments();
        let (in_turn, expected) = turns(log, &moments);
        let rows = Rows::new(log, &moments);
        let mut chosen = Self {
            how: How::Unknown,
            calls: log.pulls(),
            in_turn,
            expected,
            auc: None,
            by: Vec::new(),
            alone: 0.0,
            effective: 1.0,
            open: rows.open,
        };
        if chosen.calls < FEW || rows.open == 0 || rows.z.nrows() < 4 {
            return chosen;
        }
        let (auc, chance) = rows.tried();
        let strengths = rows.strengths(log);
        chosen.auc = auc.value();
        let is_seen = auc.value().is_some_and(|auc| auc > 0.53) && auc.z().is_some_and(|z| z > 4.0);
        chosen.how = match () {
            () if in_turn >= 0.98 && expected <= 0.85 => How::Turn,
            () if is_seen => How::Seen,
            () => How::Lot,
        };
        if chosen.how == How::Seen {
            chosen.by = strengths;
            chosen.overlapping(&rows, &chance);
        }
        chosen
    }

    fn overlapping(&mut self, rows: &Rows, chance: &[f64]) {
        let (mut alone, mut sum, mut squares, mut called) = (0usize, 0.0, 0.0, 0usize);
        for (k, e) in chance.iter().enumerate() {
            let share = 1.0 / (1.0 + (-rows.offset[k]).exp());
            alone += usize::from(*e < 0.1 * share || *e > 0.9);
            if rows.is_called[k] {
                // relative to the share, so that steps with few calls do not count as rare ones
                let weight = share / e.max(1e-6);
                sum += weight;
                squares += weight * weight;
                called += 1;
            }
        }
        self.alone = alone as f64 / chance.len().max(1) as f64;
        if called > 0 && squares > 0.0 {
            self.effective = (sum * sum / squares / called as f64).min(1.0);
        }
    }

    pub(super) fn chosen(&self) -> Finding {
        let auc = self.auc.map_or(String::new(), |auc| format!(" (AUC {auc:.2}; a lot has 0.50)"));
        match self.how {
            How::Unknown => Finding::note(
                CHOSEN,
                format!(
                    "Cannot tell: {} calls at {} decisions with a choice.",
                    grouped(self.calls as u64),
                    grouped(self.open as u64)
                ),
            ),
            How::Turn => Finding::fine(
                CHOSEN,
                format!(
                    "In turn: {} of the calls went to those with the fewest so far; a lot would have given {}.",
                    percent(self.in_turn),
                    percent(self.expected)
                ),
            ),
            How::Lot => Finding::fine(
                CHOSEN,
                format!("As by lot: nothing that is seen foretells who is called{auc}."),
            ),
            How::Seen => {
                let by = match self.by.is_empty() {
                    true => "a combination of what is known".into(),
                    false => self.by.join(", "),
                };
                Finding::new(
                    CHOSEN,
                    Severity::Note,
                    format!(
                        "By something that is seen: {by}{auc}. Whether the choice looked at more than the tables show cannot be seen."
                    ),
                    "say behaviour = \"estimated\" in study.toml, and see that the tables show what the choice looked at",
                )
            }
        }
    }

    pub(super) fn overlap(&self, log: &Log<'_>) -> Finding {
        if self.calls > 0 && self.open == 0 {
            return Finding::new(
                OVERLAP,
                Severity::Serious,
                "At every step either all were called or nobody: nobody can be compared with anybody.",
                "call some and not others, by lot or in turn",
            );
        }
        let known = match log.logs.iter().any(|log| log.propensity().is_some()) {
            true => "Propensities are logged",
            false => "Propensities are not logged and would be estimated",
        };
        match self.how {
            How::Unknown => Finding::note(
                OVERLAP,
                format!("{known}. Cannot tell who could have been called: too few calls."),
            ),
            How::Turn | How::Lot => {
                Finding::fine(OVERLAP, format!("{known}. Everybody could have been called."))
            }
            How::Seen => {
                let found = format!(
                    "{known}. In {} of the decisions somebody had nearly no chance of a call, or was nearly sure of it; the {} calls are worth {} of \
                     a lot.",
                    percent(self.alone),
                    grouped(self.calls as u64),
                    grouped((self.effective * self.calls as f64).round() as u64)
                );
                let what = "leave a part of the calls to a lot: of people who are never called, or always, nothing can be learnt";
                match () {
                    () if self.alone > 0.9 => Finding::new(OVERLAP, Severity::Serious, found, what),
                    () if self.alone > 0.3 || self.effective < 0.2 => {
                        Finding::new(OVERLAP, Severity::Warning, found, what)
                    }
                    () if self.alone > 0.05 => Finding::new(OVERLAP, Severity::Note, found, what),
                    () => Finding::fine(OVERLAP, found),
                }
            }
        }
    }
}

/// The share of calls that went to those with the fewest so far, and the share that a lot would have given.
fn turns(log: &Log<'_>, moments: &[Moment<'_>]) -> (f64, f64) {
    let (mut in_turn, mut expected, mut all) = (0.0, 0.0, 0.0);
    let mut so_far: Vec<Option<u32>> = Vec::new();
    for moment in moments {
        if moment.t == 0 {
            so_far = vec![None; log.logs[moment.instance].arms()];
        }
        let there = || moment.action.iter().enumerate().filter(|(_, a)| **a != NO_ACTION);
        let fewest = there().filter_map(|(i, _)| so_far[i]).min().unwrap_or(0);
        let (mut people, mut turn, mut calls) = (0.0, 0.0, 0.0);
        for (i, a) in there() {
            let calls_so_far = *so_far[i].get_or_insert(fewest);
            let (is_turn, is_called) = (calls_so_far == fewest, *a == 1);
            people += 1.0;
            turn += f64::from(u8::from(is_turn));
            calls += f64::from(u8::from(is_called));
            in_turn += f64::from(u8::from(is_turn && is_called));
            so_far[i] = Some(calls_so_far + u32::from(is_called));
        }
        // a round that ends within a step goes on with the next one: those who remain are fewer than calls
        let spilt = (calls - turn).max(0.0);
        in_turn += spilt;
        all += calls;
        if people > 0.0 {
            expected += calls * turn / people + spilt * (1.0 - turn / people);
        }
    }
    if all > 0.0 { (in_turn / all, expected / all) } else { (0.0, 1.0) }
}

/// Decisions of some people, as the log-odds read them.
struct Rows {
    /// `[rows, P]`
    z: Array2<f64>,
    is_called: Vec<bool>,
    /// log-odds of the step's share
    offset: Vec<f64>,
    group: Vec<u32>,
    person: Vec<u32>,
    /// worth of the state, where it is known
    worth: Vec<Option<f64>>,
    /// decisions of single people at steps at which some were called and some were not, of all people
    open: usize,
}

impl Rows {
    fn new(log: &Log<'_>, moments: &[Moment<'_>]) -> Self {
        let share = |moment: &Moment<'_>| {
            let calls = moment.action.iter().filter(|a| **a == 1).count();
            let there = moment.action.iter().filter(|a| **a != NO_ACTION).count();
            (calls > 0 && calls < there).then(|| (calls as f64 / there as f64, there))
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
            for (i, &a) in moment.action.iter().enumerate().filter(|(_, a)| **a != NO_ACTION) {
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
        Self { z, is_called, offset, group, person, worth, open }
    }

    /// How well the odds of one half of people are foretold by the other, and the chances.
    fn tried(&self) -> (Auc, Vec<f64>) {
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
    fn strengths(&self, log: &Log<'_>) -> Vec<String> {
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
