//! What the evidence says of a ranking: does it find those for whom a call makes a difference, and what would its plan bring?
//!
//! **Slope.** b of worth on normal scores of rank, both centred within cells. A person's influence on it is ψ = Σ w (y − b w)/Σ w²
//! over his rows; influences are summed by [cluster](super::clusters), so se² = Σ ψ², and b/se is held against chance.
//!
//! **Gain.** A plan calls the top K: gain = b L, with L the mean centred score of those it would have called, times the calls of a
//! programme. That assumes a line. *Top* is the mean worth of those it would have called, times as many: no line, three times the
//! noise. **Plan** is both: (1 − k) gain + k top with k = v/(v + se²(top − gain)), where v allows the top to be off the line by half
//! of the largest of |gain|, its standard error and what random calls bring; that it may be off by as much stays in the variance,
//! se² = Σ((1 − k) ψ_gain + k ψ_top)² + (1 − k)² v.
//!
//! **What later steps bring** is the judge's word: scores are of the next state, and what that is worth over a programme he takes from
//! features and records. People whom a ranking puts first may stay where a call brings them longer or shorter than he thinks; a quarter
//! of the plan is allowed for that, in the interval of the plan alone. Outcomes of a [course](super::course) are seen to the end, and
//! nothing is allowed.
//!
//! All numbers are reward over a programme of H decisions and the budget of all judged groups together, more than random calls. Where
//! chances were recorded they are about those who could have been drawn: of people who were sure of a call nothing is known.

use super::called::Called;
use super::design::Design;
use super::ranks::Ranks;
use super::rows::Evidence;
use crate::error::Result;
use crate::instance::Assignment;
use crate::statistics::normal_tail;
use ndarray::Array3;

/// Half the width of a 95 % interval in standard errors.
const REACH: f64 = 1.959_963_984_540_054;
/// One-sided 5 %, power 80 %: Φ⁻¹(.95) + Φ⁻¹(.8).
const DETECTABLE: f64 = 2.486_474_860_5;

/// How far the judge's word on later steps may be out, as a share of the plan.
const LATER: f64 = 0.25;

/// A number, its standard error and a 95 % interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Gain {
    /// the estimate
    pub value: f64,
    /// its standard error
    pub error: f64,
}

impl Gain {
    /// The ends of the 95 % interval.
    pub fn interval(&self) -> [f64; 2] {
        [self.value - REACH * self.error, self.value + REACH * self.error]
    }

    fn from_influences(value: f64, influence: &[f64]) -> Self {
        Self { value, error: squares(influence).sqrt() }
    }

    /// The same in another unit.
    pub fn times(&self, factor: f64) -> Self {
        Self { value: self.value * factor, error: self.error * factor.abs() }
    }
}

/// What the evidence says of a ranking.
pub struct Ranking {
    /// b/se: how far the slope is from chance
    pub statistic: f64,
    /// of a slope as large by chance, one-sided, by the normal law; [`Evidence::redealt`] deals calls anew instead
    pub p: f64,
    /// the programme's gain over random calls, where worth goes with rank along a line
    pub gain: Gain,
    /// by those at the top alone; never to be shown by itself
    pub top: Gain,
    /// both together: what is to be shown
    pub plan: Gain,
    /// k, how much of the plan is the top
    pub weight_of_top: f64,
    /// (top − gain) over its standard error: whether the top behaves as the ranks say
    pub off_the_line: f64,
    /// the gain that would have been found four times in five
    pub detectable: f64,
    /// ψ of the plan, `[clusters]`
    influence: Vec<f64>,
    /// Possible error of effects on later steps, as a share of the plan.
    later: f64,
    /// what is allowed for being off the line
    allowance: f64,
    pub(super) ranks: Ranks,
}

impl Ranking {
    /// The plan of this ranking less that of another on the same evidence. Most of the noise is shared, and what is allowed for being off
    /// the line only counts for the people whom one of them would call and the other not.
    pub fn less(&self, other: &Self) -> Gain {
        assert_eq!(self.influence.len(), other.influence.len(), "rankings of the same evidence");
        let value = self.plan.value - other.plan.value;
        let noise: f64 = self.influence.iter().zip(&other.influence).map(|(a, b)| (a - b) * (a - b)).sum();
        let tops = || self.ranks.is_top.iter().zip(&other.ranks.is_top);
        let either = tops().filter(|(a, b)| **a || **b).count().max(1) as f64;
        let apart = tops().filter(|(a, b)| a != b).count() as f64 / either;
        let variance =
            noise + apart * (self.allowance + other.allowance) + self.later * self.later * value * value;
        Gain { value, error: variance.sqrt() }
    }
}

/// A slope within cells, and the influence of each cluster on it.
pub(super) struct Slope {
    pub value: f64,
    pub influence: Vec<f64>,
}

impl Slope {
    pub(super) fn statistic(&self) -> f64 {
        let error = squares(&self.influence).sqrt();
        if error > 0.0 { self.value / error } else { 0.0 }
    }
}

impl Evidence {
    /// What is to be said of a ranking: a table for each group, `[1 or D, n, M]`, a number for every person and state, at every
    /// logged decision or the same at all. Higher is called first.
    pub fn ranking(&self, tables: &[Array3<f64>]) -> Result<Ranking> {
        let ranks = self.ranks(tables)?;
        let scored = &self.scores.is_scored;
        let slope = self.slope(&ranks.z, &self.scores.worth, scored, true);
        let centred = self.centred(&ranks.z, scored);
        let chosen: Vec<bool> =
            ranks.is_top.iter().zip(scored).map(|(top, scored)| *top && *scored).collect();
        let of_top =
            |x: &[f64]| -> f64 { x.iter().zip(&chosen).filter(|(_, top)| **top).map(|(x, _)| x).sum() };
        let calls = chosen.iter().filter(|top| **top).count().max(1) as f64;
        let scale = self.programme_calls() / calls;
        let reach = scale * of_top(&centred);

        let worth = self.centred(&self.scores.worth, scored);
        let mut top_influence = self
            .by_cluster(worth.iter().zip(&chosen).map(|(worth, top)| if *top { scale * worth } else { 0.0 }));
        let top_value: f64 = top_influence.iter().sum();
        let mean = top_value / self.clusters.count() as f64;
        if let Some(called) = &self.called {
            let indicator: Vec<f64> = chosen.iter().map(|top| f64::from(u8::from(*top))).collect();
            let factor: Vec<f64> = self.centred(&indicator, scored).iter().map(|x| scale * x).collect();
            let added = self.adjustment(called, &factor);
            top_influence.iter_mut().zip(added).for_each(|(x, added)| *x += added);
        }
        let top_error = top_influence.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>().sqrt();

        let influence: Vec<f64> = slope.influence.iter().map(|psi| reach * psi).collect();
        let gain = Gain::from_influences(slope.value * reach, &influence);
        let apart: Vec<f64> = top_influence.iter().zip(&influence).map(|(top, gain)| top - gain).collect();
        let apart_error = squares(&apart).sqrt();
        let random = self.random().value;
        let off = 0.5 * gain.value.abs().max(gain.error).max(random.abs());
        let v = off * off;
        let k = if v > 0.0 { v / (v + apart_error * apart_error) } else { 0.0 };
        let value = (1.0 - k) * gain.value + k * top_value;
        let both = influence.iter().zip(&top_influence).map(|(gain, top)| (1.0 - k) * gain + k * top);
        let both: Vec<f64> = both.collect();
        let allowance = (1.0 - k) * (1.0 - k) * v;
        let later = match self.settings.assignment {
            Assignment::PerDecision => LATER,
            Assignment::PerPerson => 0.0,
        };
        let variance = squares(&both) + allowance + later * later * value * value;
        Ok(Ranking {
            statistic: slope.statistic(),
            p: normal_tail(slope.statistic()),
            gain,
            top: Gain { value: top_value, error: top_error },
            plan: Gain { value, error: variance.sqrt() },
            weight_of_top: k,
            off_the_line: if apart_error > 0.0 { (top_value - gain.value) / apart_error } else { 0.0 },
            detectable: DETECTABLE * gain.error,
            influence: both,
            later,
            allowance,
            ranks,
        })
    }

    /// What the calls of a programme bring, made at random: over none.
    pub fn random(&self) -> Gain {
        self.total(|_| 1.0)
    }

    /// What as many calls bring, made as they were made in the log: over none.
    pub fn practice(&self) -> Gain {
        match self.settings.design {
            Design::Uniform | Design::Rota if !self.has_recorded() => self.random(),
            _ => self.total(|e| e),
        }
    }

    /// What the logged calls brought until the end of a programme, each counted as one at an average decision: over none. Calls that
    /// were certain, and those that were made otherwise than they were drawn, are left out: there is nobody to hold them against.
    pub fn brought(&self) -> Gain {
        let recorded = self.recorded();
        let calls = self.logged_calls() - recorded.sure - recorded.unlisted;
        self.practice().times(calls as f64 / self.programme_calls())
    }

    /// The worth of the calls of a programme that are dealt in proportion to `weight`.
    fn total(&self, weight: impl Fn(f64) -> f64) -> Gain {
        self.total_of(self.programme_calls(), weight)
    }

    /// The worth of so many calls that are dealt in proportion to `weight`.
    pub(super) fn total_of(&self, calls: f64, weight: impl Fn(f64) -> f64) -> Gain {
        let scored = &self.scores.is_scored;
        let each: Vec<f64> = (self.scores.propensity.iter().zip(scored))
            .map(|(e, scored)| if *scored { weight(*e) } else { 0.0 })
            .collect();
        let sum: f64 = each.iter().sum();
        if sum == 0.0 {
            return Gain { value: 0.0, error: 0.0 };
        }
        let scale = calls / sum;
        let mean = each.iter().zip(&self.scores.worth).map(|(w, worth)| w * worth).sum::<f64>() / sum;
        let mut influence =
            self.by_cluster(each.iter().zip(&self.scores.worth).map(|(w, worth)| scale * w * (worth - mean)));
        if let Some(called) = &self.called {
            let factor: Vec<f64> = each.iter().map(|w| scale * w).collect();
            let added = self.adjustment(called, &factor);
            influence.iter_mut().zip(added).for_each(|(x, added)| *x += added);
        }
        Gain::from_influences(calls * mean, &influence)
    }

    /// Whether predicted one-step effects on the next reward, a table for each group as in [`ranking`](Self::ranking), are as large as
    /// those that were seen: 1 where calibrated, 0 where they say nothing.
    pub fn calibration(&self, effects: &[Array3<f64>]) -> Result<Gain> {
        self.check_tables(effects)?;
        let predicted: Vec<f64> = self
            .groups
            .iter()
            .zip(effects)
            .flat_map(|(group, table)| {
                let is_same = table.len_of(ndarray::Axis(0)) == 1;
                self.rows[group.rows.clone()].iter().map(move |row| {
                    let d = if is_same { 0 } else { row.decision as usize };
                    table[[d, row.arm as usize, usize::from(row.state)]]
                })
            })
            .collect();
        let (seen, scored) = self.reward_scores();
        let slope = self.slope(&predicted, &seen, &scored, false);
        Ok(Gain::from_influences(slope.value, &slope.influence))
    }

    /// The slope of y on x within cells, over scored rows.
    pub(super) fn slope(&self, x: &[f64], y: &[f64], is_scored: &[bool], is_worth: bool) -> Slope {
        let (w, y) = (self.centred(x, is_scored), self.centred(y, is_scored));
        let sum = squares(&w).max(1e-300);
        let value = w.iter().zip(&y).map(|(w, y)| w * y).sum::<f64>() / sum;
        let clusters = self.clusters.count() as f64;
        let stretch = (clusters / (clusters - 1.0).max(1.0)).sqrt();
        let mut influence =
            self.by_cluster(w.iter().zip(&y).map(|(w, y)| stretch * w * (y - value * w) / sum));
        if let Some(called) = self.called.as_ref().filter(|_| is_worth) {
            let factor: Vec<f64> = w.iter().map(|w| w / sum).collect();
            let added = self.adjustment(called, &factor);
            influence.iter_mut().zip(added).for_each(|(x, added)| *x += added);
        }
        Slope { value, influence }
    }

    /// Additions of the uncertainty of propensities to the influences of clusters on a sum of scores times `factor`, `[clusters]`.
    fn adjustment(&self, called: &Called, factor: &[f64]) -> Vec<f64> {
        let scores = &self.scores;
        let is_recorded = self.is_recorded();
        // chances that were recorded are certain
        let is_modelled = |k: usize| scores.is_scored[k] && !is_recorded[k];
        let of_modelled = |x: &[f64]| -> Vec<f64> {
            x.iter().enumerate().map(|(k, x)| if is_modelled(k) { *x } else { 0.0 }).collect()
        };
        let (factor, propensity) = (of_modelled(factor), of_modelled(&scores.propensity));
        called.adjustment(&self.rows, &self.clusters, &factor, |row| self.is_called(row), &propensity)
    }
}

pub(super) fn squares(x: &[f64]) -> f64 {
    x.iter().map(|x| x * x).sum()
}
