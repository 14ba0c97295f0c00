//! What sets an arm apart from a reference arm, feature by feature, in numbers that add up.
//!
//! **What it is.** With two numbers of an arm with features x in state s, on the scale of log-odds,
//!
//! ```text
//! level  ℓ(x) = logit P(good next | s, left alone)
//! effect e(x) = logit P(good next | s, pulled) − ℓ(x)
//! ```
//!
//! where *good* is any set of states, the differences ℓ(x) − ℓ(x₀) and e(x) − e(x₀) to a reference arm x₀ are dealt to *groups* of features:
//! all numbers that one column of a table became belong together. The share of a group is its Shapley value in the game
//! v(S) = f(x on the groups of S, x₀ elsewhere): the mean, over all orders in which the groups may change from x₀ to x one after
//! the other, of what f changes by at the turn of this one. Shares add up to the difference, a group in which the arms are alike has none, and
//! groups that do the same have the same. Where f is a sum over groups (a logistic model of two states, a linear network) every
//! order agrees, and the share is Σ coefficient·(x − x₀).
//!
//! **How it is computed.** Groups in which x = x₀ have exactly 0 and drop out. Up to [`EXACT`] others: from all 2^D coalitions.
//! More: from [`ORDERS`] orders that are drawn once for everybody (`coalitions.rs`), each with its reverse; along each of them
//! the changes telescope, so that these shares add up as well. Every predictor begins with an affine map, so that a coalition that grows
//! from another by a group has its numbers plus what that group adds (`read.rs`): a network's first layer, by far its
//! largest, costs one sum for each unit. The shares of an arm are computed from its own numbers alone: they do not depend on which
//! arms are asked for with it, nor on the number of threads.
//!
//! ```
//! use ndarray::{array, Array1};
//! use restive::predictor::contributions::{Question, contributions};
//! use restive::predictor::{Ensemble, Logistic, Precision, Predictor};
//!
//! let mut model = Logistic::new(2, 2, Precision::DEFAULT)?; // two features, two states
//! model.flat_mut()[..2].copy_from_slice(&[0.5, -1.0]); // what they do to an arm in state 0 that is left alone
//! let ensemble = Ensemble { members: vec![Predictor::Logistic(model)] };
//! let reference = Array1::zeros(2);
//! let question = Question { reference: reference.view(), groups: &[0..1, 1..2], good: &[false, true] };
//! let found = contributions(&ensemble, array![[1.0, 3.0]].view(), &[0], &question);
//! assert!((found.level[[0, 0]] - 0.5).abs() < 1e-12 && (found.level[[0, 1]] + 3.0).abs() < 1e-12);
//! assert_eq!(found.effect[[0, 1]], 0.0);
//! # Ok::<(), restive::Error>(())
//! ```

mod coalitions;
mod kernels;
mod read;

pub use coalitions::{EXACT, ORDERS};

use super::Ensemble;
use crate::interrupt;
use coalitions::{Coalitions, Orders};
use ndarray::{Array2, ArrayView1, ArrayView2};
use rayon::prelude::*;
use read::{Changes, Read, Work};
use std::ops::Range;

/// Arms that a thread takes at once.
const CHUNK: usize = 32;

/// What arms are held against, and what counts.
#[derive(Debug, Clone, Copy)]
pub struct Question<'a> {
    /// x₀, `[F]`
    pub reference: ArrayView1<'a, f64>,
    /// the features of each group, `[G]`; each feature in one group at most
    pub groups: &'a [Range<usize>],
    /// which next states are good, `[M]`: at least one is, and one is not
    pub good: &'a [bool],
}

/// What sets arms apart from the reference, by group.
#[derive(Debug, Clone, PartialEq)]
pub struct Contributions {
    /// to ℓ(x) − ℓ(x₀), `[N,G]`
    pub level: Array2<f64>,
    /// to e(x) − e(x₀), `[N,G]`
    pub effect: Array2<f64>,
    /// ℓ(x) and e(x), `[N,2]`
    pub own: Array2<f64>,
    /// ℓ(x₀) and e(x₀) in the state of each arm, `[N,2]`
    pub reference: Array2<f64>,
}

/// The contributions for arms with these features `[N,F]`, each in its state (`[N]`).
pub fn contributions(
    ensemble: &Ensemble,
    features: ArrayView2<'_, f64>,
    states: &[usize],
    question: &Question<'_>,
) -> Contributions {
    let Question { reference, groups, good } = *question;
    let (n, f) = features.dim();
    assert_eq!(states.len(), n, "states: [N], as the features");
    assert_eq!(reference.len(), f, "reference: [F], as the features");
    assert!(groups.iter().all(|group| group.end <= f), "groups: of the F features");
    assert!(good.contains(&true) && good.contains(&false), "good: some states, not all");
    let mut found = Contributions {
        level: Array2::zeros((n, groups.len())),
        effect: Array2::zeros((n, groups.len())),
        own: Array2::zeros((n, 2)),
        reference: Array2::zeros((n, 2)),
    };
    let orders = Orders::new(groups.len());
    for state in 0..good.len() {
        let arms: Vec<usize> = (0..n).filter(|i| states[*i] == state).collect();
        if arms.is_empty() {
            continue;
        }
        let read = Read::ensemble(ensemble, state, reference);
        let chunk = |arms: &[usize]| -> Vec<Shares> {
            interrupt::check();
            let mut work = Work::default();
            let one = |i: &usize| shares(&read, features.row(*i), question, &orders, &mut work);
            arms.iter().map(one).collect()
        };
        let all: Vec<Vec<Shares>> = arms.par_chunks(CHUNK).map(chunk).collect();
        for (&i, shares) in arms.iter().zip(all.iter().flatten()) {
            for (&g, [level, effect]) in shares.differing.iter().zip(&shares.by_group) {
                (found.level[[i, g]], found.effect[[i, g]]) = (*level, *effect);
            }
            for k in 0..2 {
                (found.own[[i, k]], found.reference[[i, k]]) = (shares.own[k], shares.reference[k]);
            }
        }
    }
    found
}

/// What sets one arm apart.
struct Shares {
    /// the groups in which it is not like the reference, D of them
    differing: Vec<usize>,
    /// level and effect, `[D]`
    by_group: Vec<[f64; 2]>,
    own: [f64; 2],
    reference: [f64; 2],
}

fn shares(
    read: &Read,
    x: ArrayView1<'_, f64>,
    question: &Question<'_>,
    orders: &Orders,
    work: &mut Work,
) -> Shares {
    let changes = Changes::new(x, question.reference, question.groups);
    let differing = changes.groups();
    let drawn;
    let coalitions: &Coalitions = match orders.exact(differing.len()) {
        Some(exact) => exact,
        None => {
            drawn = orders.along(&differing);
            &drawn
        }
    };
    let values = read.level_and_effect(coalitions, &changes, question.good, work);
    let mut by_group = vec![[0.0; 2]; differing.len()];
    for step in &coalitions.steps {
        for k in 0..2 {
            by_group[step.who][k] += step.weight * (values[step.to][k] - values[step.from][k]);
        }
    }
    let (own, reference) = (values[coalitions.full], values[0]);
    work.values = values;
    Shares { differing, by_group, own, reference }
}
