//! The predictive loss and the strength of a prediction, against sums over the log and draws from an urn.

use crate::arms::{Kind, random, transitions};
use crate::gradients::{AGREEMENT, derivative, tangent};
use ndarray::Array4;
use rand::RngExt;
use rand_distr::{Distribution, Gamma};
use restive::data::domain::Domain;
use restive::evaluation::*;
use restive::instance::NO_ACTION;

#[test]
fn the_loss_is_the_negative_log_likelihood_and_has_its_gradient() {
    let mut random = random(69);
    let domain = Domain { instances: 1, arms: 20, budget: 4, trajectories: 6, ..Domain::five_state() };
    let log = domain.generate(8).unwrap()[0].trajectories().clone();
    let p = transitions(Kind::Dense, 20, 5, &mut random);
    let (mut truth, mut seen) = (0.0, 0.0);
    for ((j, t, i), &a) in log.action().indexed_iter() {
        if a != NO_ACTION {
            let [s, to] = [t, t + 1].map(|t| usize::from(log.state()[[j, t, i]]));
            truth -= p[[i, s, usize::from(a), to]].ln();
            seen += 1.0;
        }
    }
    let counts = log.counts();
    let found = likelihood(&counts, p.view());
    assert!((found.per_trajectory - truth / 6.0).abs() < 1e-12 * truth);
    assert!((found.per_transition - truth / seen).abs() < 1e-12);
    let gradient = found.pullback(1.0).d_transition;
    assert!(gradient.rows().into_iter().all(|row| row.sum().abs() < 1e-9));
    let mut direction = tangent(&p, 1e-4, &mut random);
    direction *= &p.mapv(|p| p.min(0.1)); // keep small probabilities in the domain of the logarithm
    direction.rows_mut().into_iter().zip(p.rows()).for_each(|(mut d, p)| {
        let sum = d.sum();
        d.iter_mut().zip(p).for_each(|(d, p)| *d -= sum * p);
    });
    let slope = derivative(|t| likelihood(&counts, (&p + &(&direction * t)).view()).per_trajectory, 1e-3);
    let size = (gradient.mapv(|x| x * x).sum() * direction.mapv(|x| x * x).sum()).sqrt();
    let found = (&gradient * &direction).sum();
    assert!((found - slope).abs() < AGREEMENT * size, "{found} not {slope}");
    let impossible = Array4::from_shape_fn(p.dim(), |(.., to)| f64::from(to == 0));
    assert_eq!(likelihood(&counts, impossible.view()).per_trajectory, f64::INFINITY);
}

#[test]
fn the_strength_of_a_prediction_is_recovered() {
    let mut random = random(70);
    let (n, m, true_strength) = (1500, 3, [8.0, 64.0]);
    let prediction = transitions(Kind::Dense, n, m, &mut random);
    let mut counts = Array4::<f64>::zeros((n, m, 2, m));
    let mut urn = 0.0; // the likelihood as draws from an urn, one after the other
    for i in 0..n {
        for s in 0..m {
            for a in 0..2 {
                let k = true_strength[a];
                let row: Vec<f64> = (0..m)
                    .map(|to| Gamma::new(k * prediction[[i, s, a, to]], 1.0).unwrap().sample(&mut random))
                    .collect();
                let sum: f64 = row.iter().sum();
                for drawn in 0..12 {
                    let mut u = random.random::<f64>() * sum;
                    let to = (0..m - 1).find(|&to| {
                        u -= row[to];
                        u < 0.0
                    });
                    let to = to.unwrap_or(m - 1);
                    if a == 0 {
                        let (there, k) = (counts[[i, s, a, to]], 16.0);
                        urn += ((k * prediction[[i, s, a, to]] + there) / (k + f64::from(drawn))).ln();
                    }
                    counts[[i, s, a, to]] += 1.0;
                }
            }
        }
    }
    let found = log_likelihood(counts.view(), prediction.view(), 0, 16.0);
    assert!((found - urn).abs() < 1e-9 * urn.abs(), "{found} not {urn}");
    assert_eq!(fit_strength(&[(counts.view(), prediction.view())]).map(|fit| fit.value), true_strength);
    let smooth = smoothed(counts.view(), prediction.view(), [8.0, 64.0]);
    let row = smooth.view()[[3, 1, 1, 2]];
    assert!((row - (counts[[3, 1, 1, 2]] + 64.0 * prediction[[3, 1, 1, 2]]) / 76.0).abs() < 1e-15);
    // nothing to learn from: what the prior says
    let nothing = Array4::zeros((n, m, 2, m));
    assert_eq!(fit_strength(&[(nothing.view(), prediction.view())]).map(|fit| fit.value), [16.0; 2]);
    assert_eq!(empirical(nothing.view()).view()[[5, 1, 0, 2]], 1.0 / 3.0);
}
