//! `chosen`: how people were chosen: in turn, by lot, or by something that is seen. `overlap`: who could have been chosen at all.
//!
//! **In turn.** At each step it is the turn of those with the fewest calls so far. Where nearly all calls go to them, though a lot would
//! have called many others, it was a rota.
//!
//! **By something seen.** Log-odds of a call from state, earlier calls and features, fitted to half of the people and tried on the other
//! half: of one who was called and one who was not at the same step, how often has the one who was called the higher odds (AUC)? A lot
//! gives a half. Single columns are slopes within steps, errors by person. A choice by what no table shows is seen by none of this.
//!
//! **Recorded chances.** Decisions of which a log says how likely each action was, in a log that does not say it of all, are left out of
//! this: how people were chosen there is known.
//!
//! **Overlap.** Whoever had less than a tenth of the average chance, or more than nine in ten, can be compared with nobody. Weights
//! 1/chance of those who were called are worth (Σw)²/Σw² calls of a lot.

use super::finding::{Finding, Severity};
use super::log::{Log, Moment};
use super::odds::Rows;
use crate::words::{grouped, percent};

const CHOSEN: &str = "chosen";
const OVERLAP: &str = "overlap";
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
            calls: moments
                .iter()
                .filter(|moment| !moment.is_recorded)
                .map(|moment| moment.choices().filter(|(_, a)| *a == 1).count())
                .sum(),
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
        let known = match log.known_propensities() {
            (0, _) => "Propensities are not logged and would be estimated".into(),
            (known, all) if known == all => "Propensities are logged".to_string(),
            (known, all) => format!(
                "Propensities are logged for {} of the actions; for the others they would be estimated",
                percent(known as f64 / all as f64)
            ),
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
        let there = || moment.choices();
        let fewest = there().filter_map(|(i, _)| so_far[i]).min().unwrap_or(0);
        let (mut people, mut turn, mut calls) = (0.0, 0.0, 0.0);
        for (i, a) in there() {
            let calls_so_far = *so_far[i].get_or_insert(fewest);
            let (is_turn, is_called) = (calls_so_far == fewest, a == 1);
            if moment.is_recorded {
                so_far[i] = Some(calls_so_far + u32::from(is_called));
                continue;
            }
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
