//! Carrying for arms that are seen at pulls only.
//!
//! Their log has no passive moves to count, but transitions can be [fitted] to what pulls saw. So the fit is made twice: once with the
//! prediction as it is, and, with m₁′ ∝ m₁ (p₀/m₀)^ρ formed from the p₀ that was found, once more. This is reasoned, not tried
//! in programmes; all the more it has to pass the gate.
//!
//! κ is that of [`strength`](crate::evaluation::strength()), which deals sightings to two halves at random. ρ is judged in *time*: the rule is fitted to
//! the first half of every arm's steps (trajectories one after the other), and the sightings of the second half have a likelihood
//! under the beliefs of what it found. By the same likelihood, on other arms, the gate decides.

use super::fit_carry::{penalty, rhos};
use super::{Carry, CarryFit, HeldOut};
use crate::belief::beliefs;
use crate::evaluation::{Record, fitted, labelled, strength};
use crate::instance::{Layout, Logged, NO_ACTION, Trajectories, Transition};
use ndarray::{Array3, ArrayView3, ArrayView4, Axis};

/// The least chance that a sighting is given, so that none decides alone.
const LEAST: f64 = super::prequential::LEAST;

/// Transitions by sightings (`[N,L,M]`) and a prediction (`[N,M,2,M]`).
pub(super) fn apply(carry: &Carry, seen: ArrayView3<'_, f64>, prediction: ArrayView4<'_, f64>) -> Transition {
    carry.check();
    let once = fitted(seen, Some((prediction, carry.strength)));
    again(carry, seen, prediction, once)
}

/// The second fit, by what the first one found.
fn again(
    carry: &Carry,
    seen: ArrayView3<'_, f64>,
    prediction: ArrayView4<'_, f64>,
    once: Transition,
) -> Transition {
    if carry.rho == 0.0 {
        return once;
    }
    let mut mean = prediction.to_owned();
    for (mut arm, found) in mean.outer_iter_mut().zip(once.view().outer_iter()) {
        for (mut rows, found) in arm.outer_iter_mut().zip(found.outer_iter()) {
            let (passive, mut active) = rows.multi_slice_mut((ndarray::s![0, ..], ndarray::s![1, ..]));
            let ratio = |p: f64, m: f64| (p.max(1e-12) / m.max(1e-12)).powf(carry.rho);
            let factors = found.row(0).into_iter().zip(passive.iter()).map(|(p, m)| ratio(*p, *m));
            active.iter_mut().zip(factors).for_each(|(m, factor)| *m *= factor);
            let sum = active.sum();
            active /= sum;
        }
    }
    let mean = Transition::new(mean, Layout::Nsas).expect("rows divided by their sums");
    fitted(seen, Some((mean.view(), carry.strength)))
}

/// Arms in two halves of time: what either saw, and what was predicted.
pub(super) struct Halves {
    whole: Record,
    early: Array3<f64>,
    late: Array3<f64>,
    prediction: Transition,
}

impl Halves {
    /// Some arms of a held-out log.
    pub(super) fn new(held_out: &HeldOut<'_>, arms: &[usize]) -> Self {
        let HeldOut { log, observation, prediction } = held_out;
        let log = labelled(log, *observation).select_arms(arms);
        let half_seen = |is_late: bool| match Record::from_log(&half(&log, is_late), *observation) {
            Record::Sightings { seen, .. } => seen,
            Record::Moves(_) => unreachable!("states are seen at pulls only"),
        };
        let prediction = Transition::new(prediction.select(Axis(0), arms), Layout::Nsas).expect("predicted");
        Self {
            early: half_seen(false),
            late: half_seen(true),
            whole: Record::from_log(&log, *observation),
            prediction,
        }
    }

    /// Sightings of all arms: in all, and in the second half.
    pub(super) fn sightings(&self) -> [f64; 2] {
        [self.whole.total(), self.late.sum()]
    }

    /// By arm: how much higher the log-likelihood of the second half is under the rule than under the prediction; how many
    /// sightings of either half there are.
    pub(super) fn leads(&self, carry: &Carry) -> Vec<(f64, [f64; 2])> {
        let p = apply(carry, self.early.view(), self.prediction.view());
        let [ours, theirs] = [&p, &self.prediction].map(|p| self.likelihood(p));
        let sum = |half: &Array3<f64>, i: usize| half.index_axis(Axis(0), i).sum();
        let lead = |i: usize| (ours[i] - theirs[i], [sum(&self.early, i), sum(&self.late, i)]);
        (0..p.arms()).map(lead).collect()
    }

    /// By arm: the log-likelihood of the second half.
    fn likelihood(&self, transition: &Transition) -> Vec<f64> {
        let (_, labels, m) = self.late.dim();
        let found = beliefs(transition.view(), labels / m);
        let belief = found.belief.view();
        let arms = self.late.outer_iter().zip(belief.outer_iter());
        let seen = |(n, b): (&f64, &f64)| if *n > 0.0 { n * b.max(LEAST).ln() } else { 0.0 };
        arms.map(|(n, b)| n.iter().zip(b).map(seen).sum()).collect()
    }
}

/// The actions of one half of the steps; those of the other are forgotten.
fn half(log: &Trajectories, is_late: bool) -> Trajectories {
    let mut action = log.action().to_owned();
    let (trajectories, steps, _) = action.dim();
    let decisions = trajectories * (steps - 1);
    for ((j, t, _), action) in action.indexed_iter_mut() {
        if (2 * (j * (steps - 1) + t) >= decisions) != is_late {
            *action = NO_ACTION;
        }
    }
    let logged =
        Logged { state: log.state().to_owned(), action, propensity: None, reward: None, available: None };
    Trajectories::new(logged, log.states()).expect("a checked log with fewer actions")
}

/// The rule that suits held-out arms; with ρ chosen, or known.
pub(super) fn fit(held_out: &[&Halves], rho: Option<f64>) -> CarryFit {
    let records: Vec<_> = held_out.iter().map(|half| (&half.whole, half.prediction.view())).collect();
    let strength = strength(&records);
    let carry = |rho| Carry { strength: strength.map(|strength| strength.value), rho };
    let once =
        |half: &&Halves| fitted(half.early.view(), Some((half.prediction.view(), carry(0.0).strength)));
    let firsts: Vec<Transition> = held_out.iter().map(once).collect();
    let score = |rho: f64| {
        let likelihood = |(half, once): (&&Halves, &Transition)| {
            let p = again(&carry(rho), half.early.view(), half.prediction.view(), once.clone());
            half.likelihood(&p).iter().sum::<f64>()
        };
        held_out.iter().zip(&firsts).map(likelihood).sum::<f64>() - penalty(rho)
    };
    let tried = rhos(rho);
    let better = |best: (f64, f64), rho: f64| {
        let score = if tried.len() > 1 { score(rho) } else { 0.0 };
        if score >= best.0 { (score, rho) } else { best }
    };
    let (_, rho) = tried.iter().copied().fold((f64::NEG_INFINITY, 1.0), better);
    CarryFit { carry: carry(rho), strength }
}
