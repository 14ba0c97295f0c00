//! The weights of a pool: b ≥ 0 with the least squared error of the next reward, out of fold.
//!
//! With P_b the [pool](crate::predictor::Pool) of the bases' predictions, r the reward of the next state, and v the mean squared
//! error at equal weights,
//!
//! ```text
//! minimise  Σ n·(r(s′) − E_b[r])²/(2v) + |b − 1/B|²/2
//! ```
//!
//! The squared error of the expected reward feels the effect of a call more than the likelihood does. With z = Σ b_k·ln P_k the
//! derivative of E_b[r] by b_k is the covariance of r and ln P_k under P_b. The minimum is found by Gauss and Newton: the squares are
//! linearised, the best b ≥ 0 of that quadratic is found by trying every set of bases that stay at zero (there are three
//! bases), and the step is halved until the error falls.

use crate::predictor::{logs, pooled};
use ndarray::Array4;

const MOST_STEPS: usize = 100;
const SHORT: f64 = 1e-12;

/// Moves of some arms, and what each base predicts of them.
pub struct Seen<'a> {
    /// `[N,M,2,M]`
    pub counts: ndarray::ArrayView4<'a, f64>,
    /// of each base, `[N,M,2,M]`
    pub predictions: Vec<ndarray::ArrayView4<'a, f64>>,
}

/// The weights of a pool.
#[derive(Debug, Clone, PartialEq)]
pub struct PoolWeights {
    /// of each base
    pub weights: Vec<f64>,
    /// `Σ n·(r(s′) − E[r])²` of each group of arms with these weights
    pub error: Vec<f64>,
    /// and under each base alone
    pub alone: Vec<Vec<f64>>,
    /// moves of each group
    pub moves: Vec<f64>,
}

/// One group, ready for many weights.
struct Group<'a> {
    counts: ndarray::ArrayView4<'a, f64>,
    /// ln P of each base
    logs: Vec<Array4<f64>>,
}

/// The weights by which the moves of all groups are told best, for the reward of each state, `[M]`.
pub fn pool_weights(groups: &[Seen<'_>], reward: &[f64]) -> PoolWeights {
    let groups: Vec<Group<'_>> = groups.iter().map(Group::new).collect();
    let bases = groups.first().map_or(0, |group| group.logs.len());
    let moves: Vec<f64> = groups.iter().map(|group| group.counts.sum()).collect();
    let errors = |b: &[f64]| -> Vec<f64> { groups.iter().map(|group| group.error(b, reward)).collect() };
    let start = vec![1.0 / bases as f64; bases];
    let total = moves.iter().sum::<f64>().max(1.0);
    let variance = (errors(&start).iter().sum::<f64>() / total).max(1e-12);
    let objective = |b: &[f64]| {
        let away: f64 = b.iter().zip(&start).map(|(b, start)| (b - start).powi(2)).sum();
        errors(b).iter().sum::<f64>() / (2.0 * variance) + away / 2.0
    };
    let mut weights = start.clone();
    let mut value = objective(&weights);
    for _ in 0..MOST_STEPS {
        let (mut slope, mut bend) = (vec![0.0; bases], vec![vec![0.0; bases]; bases]);
        groups.iter().for_each(|group| group.add_slopes(&weights, reward, &mut slope, &mut bend));
        for k in 0..bases {
            slope[k] = slope[k] / variance + weights[k] - start[k];
            bend[k].iter_mut().for_each(|h| *h /= variance);
            bend[k][k] += 1.0;
        }
        let aim = best_quadratic(&slope, &bend, &weights);
        let step: Vec<f64> = aim.iter().zip(&weights).map(|(aim, b)| aim - b).collect();
        let mut share = 1.0;
        let next = loop {
            let there: Vec<f64> = weights.iter().zip(&step).map(|(b, d)| b + share * d).collect();
            let found = objective(&there);
            if found < value {
                break Some((there, found));
            }
            share *= 0.5;
            if share < 1e-9 {
                break None;
            }
        };
        let Some((there, found)) = next else { break };
        let is_end = value - found < SHORT * value.abs();
        (weights, value) = (there, found);
        if is_end {
            break;
        }
    }
    let alone =
        |k: usize| errors(&(0..bases).map(|other| f64::from(u8::from(other == k))).collect::<Vec<_>>());
    PoolWeights { error: errors(&weights), alone: (0..bases).map(alone).collect(), weights, moves }
}

impl<'a> Group<'a> {
    fn new(seen: &Seen<'a>) -> Self {
        Self { counts: seen.counts, logs: seen.predictions.iter().map(|p| logs(*p)).collect() }
    }

    /// The pool's prediction.
    fn pooled(&self, b: &[f64]) -> Array4<f64> {
        pooled(b.iter().copied().zip(&self.logs))
    }

    fn error(&self, b: &[f64], reward: &[f64]) -> f64 {
        let p = self.pooled(b);
        let rows = p.rows().into_iter().zip(self.counts.rows());
        let one = |(p, n): (ndarray::ArrayView1<'_, f64>, ndarray::ArrayView1<'_, f64>)| {
            let mean: f64 = p.iter().zip(reward).map(|(p, r)| p * r).sum();
            n.iter().zip(reward).map(|(n, r)| n * (r - mean).powi(2)).sum::<f64>()
        };
        rows.map(one).sum()
    }

    /// Half the derivative of the error, and its curvature with the squares linearised.
    fn add_slopes(&self, b: &[f64], reward: &[f64], slope: &mut [f64], bend: &mut [Vec<f64>]) {
        let p = self.pooled(b);
        let logs: Vec<_> = self.logs.iter().map(|log| log.rows()).collect();
        let mut logs: Vec<_> = logs.into_iter().map(|rows| rows.into_iter()).collect();
        let mut felt = vec![0.0; b.len()];
        for (p, n) in p.rows().into_iter().zip(self.counts.rows()) {
            let mean: f64 = p.iter().zip(reward).map(|(p, r)| p * r).sum();
            for (felt, rows) in felt.iter_mut().zip(&mut logs) {
                let log = rows.next().expect("as many rows");
                *felt = p.iter().zip(reward).zip(log).map(|((p, r), log)| p * (r - mean) * log).sum();
            }
            let total = n.sum();
            if total == 0.0 {
                continue;
            }
            let off: f64 = n.iter().zip(reward).map(|(n, r)| n * (mean - r)).sum();
            for k in 0..felt.len() {
                slope[k] += off * felt[k];
                (0..felt.len()).for_each(|l| bend[k][l] += total * felt[k] * felt[l]);
            }
        }
    }
}

/// The x ≥ 0 with the least slope·(x − b) + ½·(x − b)ᵀ·bend·(x − b).
fn best_quadratic(slope: &[f64], bend: &[Vec<f64>], b: &[f64]) -> Vec<f64> {
    let n = b.len();
    let value = |x: &[f64]| -> f64 {
        let d: Vec<f64> = x.iter().zip(b).map(|(x, b)| x - b).collect();
        let curved: f64 = (0..n).map(|k| d[k] * (0..n).map(|l| bend[k][l] * d[l]).sum::<f64>()).sum();
        d.iter().zip(slope).map(|(d, g)| d * g).sum::<f64>() + 0.5 * curved
    };
    let mut best: Option<(f64, Vec<f64>)> = None;
    for free in 0..1usize << n {
        let free: Vec<usize> = (0..n).filter(|k| free >> k & 1 == 1).collect();
        // bend·(x − b) = −slope on the free ones, the others at zero
        let rows = free.iter().map(|k| {
            let held: f64 = (0..n).filter(|l| !free.contains(l)).map(|l| bend[*k][l] * b[l]).sum();
            let mut row: Vec<f64> = free.iter().map(|l| bend[*k][*l]).collect();
            row.push(-slope[*k] + held + free.iter().map(|l| bend[*k][*l] * b[*l]).sum::<f64>());
            row
        });
        let solved = solve(rows.collect());
        let mut x = vec![0.0; n];
        free.iter().zip(&solved).for_each(|(k, found)| x[*k] = *found);
        if x.iter().any(|x| !(*x >= 0.0)) {
            continue;
        }
        let found = value(&x);
        if best.as_ref().is_none_or(|(least, _)| found < *least) {
            best = Some((found, x));
        }
    }
    best.map_or_else(|| b.to_vec(), |(_, x)| x)
}

/// Gauss's elimination, of a positive definite system with its right side behind each row.
fn solve(mut rows: Vec<Vec<f64>>) -> Vec<f64> {
    let n = rows.len();
    for j in 0..n {
        for i in j + 1..n {
            let share = rows[i][j] / rows[j][j];
            let (above, below) = rows.split_at_mut(i);
            below[0].iter_mut().zip(&above[j]).for_each(|(x, y)| *x -= share * y);
        }
    }
    let mut x = vec![0.0; n];
    for j in (0..n).rev() {
        let known: f64 = (j + 1..n).map(|k| rows[j][k] * x[k]).sum();
        x[j] = (rows[j][n] - known) / rows[j][j];
    }
    x
}
