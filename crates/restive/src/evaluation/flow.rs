//! Masses that flow: the distribution of every arm, a step at a time, under pulls that a caller chooses.
//!
//! ```text
//! value += γ^t Σ μ (p R(·,1) + (1 − p) R(·,0)),    μ ← (μ p) P₁ + (μ (1 − p)) P₀
//! ```
//!
//! O(M²) per arm and step for M states, O(L·M) for the L labels of chains.
//!
//! **Availability.** The joint distribution of state and availability is kept as two masses, μ of the available and ν of the [`Absent`].
//! Only μ is offered to `choose`, ν earns and moves without pulls, and then both are mixed by the chain of availability:
//! μ ← stays·μ′ + returns·ν′ and ν ← (1 − stays)·μ′ + (1 − returns)·ν′.

use crate::belief::{Belief, Motion};
use crate::instance::RewardView;
use crate::interrupt;
use crate::simulation::AvailabilityChain;
use ndarray::{Array3, ArrayView2};

/// Arms as distributions over their states, with a budget that holds on average.
#[derive(Debug, Clone, Copy)]
pub struct MeanField<'a> {
    /// how states move: by transitions `[N,M,2,M]`, or labels along their chains
    pub motion: Motion<'a>,
    /// `[M,2]`, or each arm's own
    pub reward: RewardView<'a>,
    /// `[N,M]`: where each arm begins
    pub initial: ArrayView2<'a, f64>,
    /// γ
    pub discount: f64,
    /// K, the pulls per step; need not be whole
    pub budget: f64,
}

/// Masses that cannot be pulled at the first step, in addition to the available masses in [`MeanField::initial`].
#[derive(Debug, Clone, Copy)]
pub(super) struct Absent<'a> {
    /// `[N,M]`
    pub(super) mass: ArrayView2<'a, f64>,
    pub(super) chain: AvailabilityChain,
}

/// (value, masses, pulls) of arms whose pulls at each step `choose(t, mass, pull)` writes, `[N·M]` each.
pub(super) fn flow(
    field: &MeanField<'_>,
    horizon: usize,
    mut choose: impl FnMut(usize, &[f64], &mut [f64]),
) -> (f64, Array3<f64>, Array3<f64>) {
    let (n, m) = field.initial.dim();
    let (mut masses, mut pulls) = (Array3::zeros((horizon, n, m)), Array3::zeros((horizon, n, m)));
    let at = |t: usize| t * n * m..(t + 1) * n * m;
    let value = flow_value(field, None, horizon, |t, mass, pull| {
        choose(t, mass, pull);
        masses.as_slice_mut().expect("standard layout")[at(t)].copy_from_slice(mass);
        pulls.as_slice_mut().expect("standard layout")[at(t)].copy_from_slice(pull);
    });
    (value, masses, pulls)
}

/// The value alone, in the memory of one step; without `absent` all arms are available.
pub(super) fn flow_value(
    field: &MeanField<'_>,
    absent: Option<Absent<'_>>,
    horizon: usize,
    mut choose: impl FnMut(usize, &[f64], &mut [f64]),
) -> f64 {
    let &MeanField { motion, reward, initial, discount, .. } = field;
    let (n, m) = initial.dim();
    assert_eq!((motion.arms(), motion.states()), (n, m), "transition: [N,M,2,M], initial: [N,M]");
    assert_eq!(reward.states(), m, "reward: [M,2]");
    let rows = match &motion {
        Motion::Rows(transition) => Some(transition.as_standard_layout()),
        Motion::Chains(_) => None,
    };
    let mut here: Vec<f64> = initial.iter().copied().collect();
    let (mut next, mut pull) = (vec![0.0; n * m], vec![0.0; n * m]);
    let step = |here: &[f64], pull: &[f64], next: &mut [f64]| {
        next.fill(0.0);
        match (motion, &rows) {
            (Motion::Chains(belief), _) => along_chains(belief, reward, here, pull, next),
            (_, Some(p)) => by_rows(p.as_slice().expect("row-major"), m, reward, here, pull, next),
            _ => unreachable!("rows were laid out"),
        }
    };
    let mut absent = absent.map(|absent| {
        assert_eq!(absent.mass.dim(), (n, m), "absent mass: [N,M]");
        let here: Vec<f64> = absent.mass.iter().copied().collect();
        (here, vec![0.0; n * m], vec![0.0; n * m], absent.chain)
    });
    let (mut value, mut weight) = (0.0, 1.0);
    for t in 0..horizon {
        interrupt::check();
        choose(t, &here, &mut pull);
        let mut earned = step(&here, &pull, &mut next);
        if let Some((here, after, no_pull, chain)) = &mut absent {
            earned += step(here, no_pull, after);
            for (available, absent) in next.iter_mut().zip(after.iter_mut()) {
                let moved = [*available, *absent];
                *available = chain.stays * moved[0] + chain.returns * moved[1];
                *absent = (1.0 - chain.stays) * moved[0] + (1.0 - chain.returns) * moved[1];
            }
            std::mem::swap(here, after);
        }
        value += weight * earned;
        weight *= discount;
        std::mem::swap(&mut here, &mut next);
    }
    value
}

/// One step: what is earned; the masses of the next step are added to `next`.
fn by_rows(p: &[f64], m: usize, reward: RewardView<'_>, here: &[f64], pull: &[f64], next: &mut [f64]) -> f64 {
    // the same loop; two states are known beforehand, so that it is unrolled
    match m {
        2 => rows_of(p, 2, reward, here, pull, next),
        _ => rows_of(p, m, reward, here, pull, next),
    }
}

#[inline(always)]
fn rows_of(p: &[f64], m: usize, reward: RewardView<'_>, here: &[f64], pull: &[f64], next: &mut [f64]) -> f64 {
    let mut earned = 0.0;
    let arms = here.chunks_exact(m).zip(pull.chunks_exact(m)).zip(next.chunks_exact_mut(m));
    for (i, (((here, pull), next), p)) in arms.zip(p.chunks_exact(2 * m * m)).enumerate() {
        for s in 0..m {
            let active = here[s] * pull[s];
            let passive = here[s] - active;
            earned += active * reward.at(i, s, 1) + passive * reward.at(i, s, 0);
            let rows = &p[2 * s * m..2 * (s + 1) * m];
            for to in 0..m {
                next[to] += passive * rows[to] + active * rows[m + to];
            }
        }
    }
    earned
}

/// The same for labels.
fn along_chains(
    belief: &Belief,
    reward: RewardView<'_>,
    here: &[f64],
    pull: &[f64],
    next: &mut [f64],
) -> f64 {
    let (labels, m, chain) = (belief.labels(), belief.states(), belief.chain());
    let mut earned = 0.0;
    for (k, b) in belief.view().to_slice().expect("row-major").chunks_exact(m).enumerate() {
        let active = here[k] * pull[k];
        let passive = here[k] - active;
        let (i, l) = (k / labels, k % labels);
        earned += active * reward.at(i, l, 1) + passive * reward.at(i, l, 0);
        let next = &mut next[k - l..][..labels];
        next[Belief::later(l, chain)] += passive;
        next.iter_mut().step_by(chain).zip(b).for_each(|(next, b)| *next += active * b);
    }
    earned
}
