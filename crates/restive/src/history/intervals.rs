//! How far a person's true chances may be from those that are planned with: central 90 % intervals.
//!
//! **What they say.** Among people with these features and this record, nine in ten have their true chance of a good state next inside. It
//! is the spread *between people* that the rule has learnt on held-out ones, narrowed by her own record. The predictor's own
//! error of sampling, which all people like her share, is not in them: other arms to learn from would have moved it.
//!
//! | rule | what is known of the chance |
//! |---|---|
//! | [`Carry`] | beta: the good part of a Dirichlet row n + κm (m₁′ for a pull), so that its mean is what is planned with |
//! | [`Gauss`](super::Gauss) | normal on the scale of log-odds, with the mean and the variance of the posterior by its 81 points |
//! | [`Rule::Alone`] | the prediction, and around it what a candidate rule says of people of whom nothing was seen |
//! | none | nothing: no interval is made up |
//!
//! With `Alone` her record counts for nothing, and so it does here: a Carry candidate gives the beta distribution of κm, a Gaussian one
//! the normal distribution with the prediction's log-odds in its middle and the variance of u, or of u + v. A record of sightings
//! leads to fitted transitions, which are no distribution: it has no intervals.

use super::carry::carried;
use super::gauss::Ready;
use super::{Carry, Past, Rule};
use crate::evaluation::Record;
use crate::statistics::{beta_quantile, normal_quantile};
use ndarray::{ArrayView4, s};
use rayon::prelude::*;

/// How many of ten people are inside: nine.
pub const COVERAGE: f64 = 0.9;

/// For arms in states, each by (arm, state): the interval of the chance of a good state next, left alone and pulled. `candidate` is
/// the rule that was judged, where the rule is to leave records alone; `good` says which of the M states are good.
pub fn intervals(
    rule: &Rule,
    candidate: Option<&Rule>,
    past: &Past,
    prediction: ArrayView4<'_, f64>,
    arms: &[(usize, usize)],
    good: &[bool],
) -> Vec<[Option<[f64; 2]>; 2]> {
    assert_eq!(good.len(), prediction.shape()[3], "good: [M]");
    let Record::Moves(counts) = &past.record else { return vec![[None; 2]; arms.len()] };
    let counts = counts.view();
    assert_eq!(counts.shape(), prediction.shape(), "prediction: [N,M,2,M], as the counts");
    let two_states = good.len() == 2 && good[0] != good[1];
    let (listens, used) = match rule {
        Rule::Alone => (false, candidate),
        rule => (true, Some(rule)),
    };
    let ready = match used {
        Some(Rule::Gauss(gauss)) if two_states => Ready::new(gauss),
        _ => None,
    };
    let z = normal_quantile(0.5 + 0.5 * COVERAGE);
    let one = |&(i, state): &(usize, usize)| -> [Option<[f64; 2]>; 2] {
        match used {
            None | Some(Rule::Alone) => [None; 2],
            Some(Rule::Carry(carry)) => {
                let row = |array: ArrayView4<'_, f64>, a: usize| array.slice(s![i, state, a, ..]).to_vec();
                let rows = [0, 1].map(|a| row(prediction, a));
                let n = [0, 1].map(|a| if listens { row(counts, a) } else { vec![0.0; good.len()] });
                by_carry(carry, &n, &rows, good).map(Some)
            }
            Some(Rule::Gauss(gauss)) => {
                let Some(ready) = &ready else { return [None; 2] };
                let arm = |array: ArrayView4<'_, f64>| -> Vec<f64> {
                    array.slice(s![i, .., .., ..]).iter().copied().collect()
                };
                let m = arm(prediction);
                let normal = if listens {
                    ready.log_odds(&arm(counts), past.first[i], &m)
                } else {
                    let sd = gauss.deviations();
                    Some(std::array::from_fn(|r| [(m[2 * r + 1] / m[2 * r]).ln(), sd[r]]))
                };
                let Some(normal) = normal else { return [None; 2] };
                [0, 1].map(|a| {
                    let [mean, sd] = normal[2 * state + a];
                    let [low, high] = [mean - z * sd, mean + z * sd].map(|z| 1.0 / (1.0 + (-z).exp()));
                    Some(if good[1] { [low, high] } else { [1.0 - high, 1.0 - low] })
                })
            }
        }
    };
    arms.par_iter().map(one).collect()
}

/// Both rows of one state, by counts and predictions.
fn by_carry(carry: &Carry, n: &[Vec<f64>; 2], m: &[Vec<f64>; 2], good: &[bool]) -> [[f64; 2]; 2] {
    carry.check();
    let mut mean = vec![0.0; good.len()];
    carried([&n[0], &m[0], &m[1]], carry.strength[0], carry.rho, &mut mean);
    [(0, &m[0]), (1, &mean)].map(|(a, mean)| {
        let (mut to_good, mut to_others) = (0.0, 0.0);
        for ((n, mean), is_good) in n[a].iter().zip(mean).zip(good) {
            *(if *is_good { &mut to_good } else { &mut to_others }) += n + carry.strength[a] * mean;
        }
        // a chance that is predicted to be 0 or 1 and was never seen otherwise has no spread
        if !(to_good > 0.0) {
            return [0.0; 2];
        }
        if !(to_others > 0.0) {
            return [1.0; 2];
        }
        [0.5 - 0.5 * COVERAGE, 0.5 + 0.5 * COVERAGE].map(|p| beta_quantile(p, to_good, to_others))
    })
}
