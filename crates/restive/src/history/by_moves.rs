//! [Learning](super::learn) a rule where states are seen at every step.

use super::fit_carry::{CarryFit, fit_carry};
use super::gauss::{GaussEnd, LEAST_T, MOST_ROUNDS, fit_gauss, fit_gauss_with};
use super::learn::{judged, on_fold};
use super::prequential::{ArmLead, carry_leads, gauss_leads};
use super::{FOLDS, HeldOut, HistoryLead, Learnt, Past, RestsOn, Rule};
use crate::statistics::mean;
use ndarray::{Array4, ArrayView4, Axis, concatenate};

/// Arms of all held-out logs, one after the other.
struct People {
    /// `[N,M,2,M]`
    counts: Array4<f64>,
    /// `[N,M,2,M]`
    prediction: Array4<f64>,
    /// `[N]`
    first: Vec<Option<f64>>,
}

impl People {
    fn new(held_out: &[HeldOut<'_>]) -> Self {
        let pasts: Vec<Past> = held_out.iter().map(|h| Past::new(h.log, h.observation)).collect();
        let counts: Vec<_> = pasts.iter().filter_map(|past| Some(past.record.moves()?.view())).collect();
        let predictions: Vec<_> = held_out.iter().map(|h| h.prediction).collect();
        let all = |views: &[ArrayView4<'_, f64>]| match views {
            [] => Array4::zeros((0, 2, 2, 2)),
            views => concatenate(Axis(0), views).expect("as many states in every log"),
        };
        assert_eq!(counts.len(), held_out.len(), "states are seen at every step in every log, or in none");
        let first = pasts.iter().flat_map(|past| past.first.iter().copied()).collect();
        Self { counts: all(&counts), prediction: all(&predictions), first }
    }

    fn select(&self, is_kept: impl Fn(usize) -> bool) -> Self {
        let arms: Vec<usize> = (0..self.first.len()).filter(|i| is_kept(*i)).collect();
        Self {
            counts: self.counts.select(Axis(0), &arms),
            prediction: self.prediction.select(Axis(0), &arms),
            first: arms.iter().map(|i| self.first[*i]).collect(),
        }
    }

    fn fit_carry(&self, rho: Option<f64>) -> CarryFit {
        fit_carry(self.counts.view(), self.prediction.view(), rho)
    }
}

pub(super) fn learn(held_out: &[HeldOut<'_>], rho: Option<f64>) -> Learnt {
    let people = People::new(held_out);
    let carry = people.fit_carry(rho);
    let has_two_states = people.counts.shape()[1] == 2 && !held_out.is_empty();
    let gauss = has_two_states.then(|| {
        let People { counts, prediction, first } = &people;
        fit_gauss_with(counts.view(), first, prediction.view(), true, MOST_ROUNDS)
    });
    let sure = gauss.filter(|fit| fit.t.abs() >= LEAST_T && fit.end != GaussEnd::Failed);
    let (mut by_carry, mut by_gauss) = (Vec::new(), Vec::new());
    for fold in 0..FOLDS {
        let others = people.select(|i| i % FOLDS != fold);
        let fitted = others.fit_carry(rho).carry;
        by_carry.extend(on_fold(held_out, fold, |h, arms| carry_leads(&fitted, h.log, h.prediction, arms)));
        if sure.is_some() {
            let People { counts, prediction, first } = &others;
            let fitted = fit_gauss(counts.view(), first, prediction.view(), MOST_ROUNDS).gauss;
            by_gauss
                .extend(on_fold(held_out, fold, |h, arms| gauss_leads(&fitted, h.log, h.prediction, arms)));
        }
    }
    let carry_lead = lead(&by_carry);
    let gauss_lead = sure.map(|_| lead(&by_gauss));
    let rests_on = RestsOn {
        arms: by_carry.iter().filter(|arm| arm.moves > 0).count(),
        moves: by_carry.iter().map(|arm| arm.moves).sum(),
        called: by_carry.iter().map(|arm| arm.called).sum(),
        called_later: by_carry.iter().filter(|arm| arm.called_later > 0).count(),
    };
    let mut candidates: Vec<_> =
        sure.iter().zip(gauss_lead).map(|(fit, lead)| (Rule::Gauss(fit.gauss), lead)).collect();
    candidates.push((Rule::Carry(carry.carry), carry_lead));
    let (rule, candidate, why) = judged(&candidates, rests_on);
    Learnt { rule, candidate, why, carry, carry_lead, gauss, gauss_lead, rests_on }
}

fn lead(arms: &[ArmLead]) -> HistoryLead {
    let called: Vec<f64> = arms.iter().filter(|arm| arm.called > 0).map(|arm| arm.on_called).collect();
    let all: Vec<f64> = arms.iter().filter(|arm| arm.moves > 0).map(|arm| arm.all).collect();
    HistoryLead { called: mean(&called).ok(), all: mean(&all).ok() }
}
