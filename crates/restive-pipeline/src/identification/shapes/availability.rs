//! Availability: are pulls of an arm more serially dependent than the assignment explains?
//!
//! The chance e of a pull is the recorded one, the share of the step, or for an estimated design that of a model with the state and the
//! features. If pulls were assigned at every decision as the design says, the residuals a − e of an arm in one trajectory are
//! exchangeable over its decisions, except for their scale. If an arm could not be pulled for some time, residuals of decisions that are
//! close to each other are more alike than those of distant ones. With residuals r_it less their mean over the decisions of the arm,
//!
//! ```text
//! S_i = n_i (mean of r_it r_is over 1 ≤ |s − t| ≤ L  −  mean over |s − t| > L),   z = Σ S_i/√(Σ S_i²),
//! ```
//!
//! where L = [`LARGEST_LAG`], or half of the decisions if that is less, and n_i is the number of close pairs. Sums are by cluster if the study declares
//! clusters. The mean is subtracted because arms may have different chances for good: some are never pulled because people do not want
//! to be called, and a column of the table of arms may say so. Rules that keep a distance between two pulls make z negative. A rota is
//! not tested: its order repeats.

use super::decisions::Decisions;
use restive::evidence::Design;

/// Largest distance of close decisions.
const LARGEST_LAG: u32 = 5;
/// Maximum of z that chance may make.
pub(crate) const MOST_Z: f64 = 4.0;
/// Approximate maximum number of decisions that are read: of more, those of every n-th arm.
const MOST_ROWS: usize = 1_000_000;

/// Residual of an arm at a decision.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Residual {
    /// Number of the arm over all instances.
    pub(crate) arm: u32,
    pub(crate) trajectory: u32,
    pub(crate) step: u32,
    /// a − e
    pub(crate) value: f64,
}

/// Pulls that are expected at a decision with recorded chances before their absence means that the list was not worked off.
const EXPECTED_PULLS: f64 = 5.0;

/// Residuals by recorded chances, if the design uses them; of decisions without any by the share of pulls, if the design is `Uniform`.
///
/// A decision with recorded chances and no pull is left out if [`EXPECTED_PULLS`] or more were expected. The mean residual of the others
/// is subtracted, because a list that is worked off in part leaves out all arms alike.
pub(super) fn residuals(instances: &[Decisions<'_>], design: Design, uses_recorded: bool) -> Vec<Residual> {
    let rows: usize = instances.iter().map(|decisions| decisions.len() * decisions.arms()).sum();
    let stride = rows.div_ceil(MOST_ROWS).max(1);
    let (mut all, mut first) = (Vec::new(), 0);
    for decisions in instances {
        let arms: Vec<usize> =
            (0..decisions.arms()).filter(|arm| (first + arm).is_multiple_of(stride)).collect();
        for d in 0..decisions.len() {
            let [trajectory, step] = decisions.place(d).map(|place| place as u32);
            let is_recorded = uses_recorded && decisions.is_recorded(d);
            if (!is_recorded && design != Design::Uniform) || (is_recorded && is_idle(decisions, d)) {
                continue;
            }
            let from = all.len();
            for &arm in &arms {
                let Some(pulled) = decisions.pulled(d, arm) else { continue };
                let e = match is_recorded {
                    true => decisions.recorded(d, arm).unwrap_or(f64::NAN),
                    false => decisions.share(d),
                };
                if e > 0.0 && e < 1.0 {
                    let value = f64::from(u8::from(pulled)) - e;
                    all.push(Residual { arm: (first + arm) as u32, trajectory, step, value });
                }
            }
            if is_recorded {
                let own = &mut all[from..];
                let mean = own.iter().map(|one| one.value).sum::<f64>() / own.len().max(1) as f64;
                own.iter_mut().for_each(|one| one.value -= mean);
            }
        }
        first += decisions.arms();
    }
    all
}

/// Whether no arm was pulled at a decision at which pulls were drawn.
fn is_idle(decisions: &Decisions<'_>, d: usize) -> bool {
    let drawn = (0..decisions.arms()).filter_map(|arm| {
        let e = decisions.recorded(d, arm).filter(|e| *e > 0.0 && *e < 1.0)?;
        Some((e, decisions.pulled(d, arm)?))
    });
    let (expected, pulls) = drawn
        .fold((0.0, 0usize), |(expected, pulls), (e, pulled)| (expected + e, pulls + usize::from(pulled)));
    pulls == 0 && expected >= EXPECTED_PULLS
}

/// z of the residuals; `cluster` is the cluster of each arm over all instances. `None` if no two residuals can be compared.
pub(super) fn dependence(mut residuals: Vec<Residual>, cluster: &[u32]) -> Option<f64> {
    let cluster_of = |residual: &Residual| cluster[residual.arm as usize];
    residuals.sort_by_key(|one| (cluster_of(one), one.arm, one.trajectory, one.step));
    let (mut sum, mut squares) = (0.0, 0.0);
    for of_cluster in residuals.chunk_by(|a, b| cluster_of(a) == cluster_of(b)) {
        let runs = of_cluster.chunk_by(|a, b| (a.arm, a.trajectory) == (b.arm, b.trajectory));
        let product: f64 = runs.map(product).sum();
        sum += product;
        squares += product * product;
    }
    (squares > 0.0).then(|| sum / squares.sqrt())
}

/// S of the residuals of one arm in one trajectory, by step; 0 if there are no close or no distant pairs.
fn product(run: &[Residual]) -> f64 {
    let (Some(first), Some(last)) = (run.first(), run.last()) else { return 0.0 };
    let largest = LARGEST_LAG.min((last.step - first.step) / 2);
    let mean = run.iter().map(|one| one.value).sum::<f64>() / run.len() as f64;
    let (mut close, mut distant) = ((0.0, 0.0), (0.0, 0.0));
    for (k, one) in run.iter().enumerate() {
        for other in &run[k + 1..] {
            let sum = if other.step - one.step <= largest { &mut close } else { &mut distant };
            sum.0 += (one.value - mean) * (other.value - mean);
            sum.1 += 1.0;
        }
    }
    if close.1 == 0.0 || distant.1 == 0.0 { 0.0 } else { close.0 - close.1 * distant.0 / distant.1 }
}

#[cfg(test)]
mod tests {
    use super::super::decisions::log_of;
    use super::*;
    use ndarray::{Array2, Array3};
    use restive::Trajectories;
    use restive::instance::{Assignment, Logged, NO_ACTION};

    fn run(values: &[f64]) -> Vec<Residual> {
        let one = |(step, value): (usize, &f64)| Residual {
            arm: 0,
            trajectory: 0,
            step: step as u32,
            value: *value,
        };
        values.iter().enumerate().map(one).collect()
    }

    #[test]
    fn close_pairs_are_compared_with_distant_ones() {
        // less their mean 1/2: 1/2, 1/2, −1/2, −1/2; steps 0 to 3, so that one step apart is close
        let found = product(&run(&[1.0, 1.0, 0.0, 0.0]));
        let (close, distant) = ([0.25, -0.25, 0.25], [-0.25, -0.25, -0.25]);
        let expected = close.iter().sum::<f64>() - 3.0 * distant.iter().sum::<f64>() / 3.0;
        assert!((found - expected).abs() < 1e-12 && expected == 1.0);
        // in turns the sign is negative; without distant pairs, or with one value alone, it is 0
        assert!(product(&run(&[1.0, 0.0, 1.0, 0.0])) < 0.0);
        assert_eq!([product(&run(&[1.0, 0.0])), product(&run(&[0.5; 6])), product(&[])], [0.0; 3]);
    }

    #[test]
    fn order_of_residuals_does_not_matter_on_average() {
        // the mean over all orders of any values is 0: pairs of positions are alike
        let values = [0.9, -0.1, -0.1, 0.4, -0.3];
        let mut orders = vec![Vec::<usize>::new()];
        for i in 0..values.len() {
            let insert = |order: &Vec<usize>| -> Vec<Vec<usize>> {
                (0..=order.len()).map(|at| [&order[..at], &[i], &order[at..]].concat()).collect()
            };
            orders = orders.iter().flat_map(insert).collect();
        }
        let sum: f64 = orders
            .iter()
            .map(|order| product(&run(&order.iter().map(|i| values[*i]).collect::<Vec<_>>())))
            .sum();
        assert_eq!(orders.len(), 120);
        assert!(sum.abs() < 1e-9, "{sum}");
    }

    #[test]
    fn sums_are_standardised_by_arm_or_by_cluster() {
        let of = |arm: u32, sign: f64| -> Vec<Residual> {
            let values = if sign > 0.0 { [1.0, 1.0, 0.0, 0.0] } else { [1.0, 0.0, 1.0, 0.0] };
            run(&values).into_iter().map(|one| Residual { arm, ..one }).collect()
        };
        // S is 1, 1 and −1
        let all = [of(1, 1.0), of(0, 1.0), of(2, -1.0)].concat();
        let z = dependence(all.clone(), &[0, 1, 2]).unwrap();
        assert!((z - 1.0 / 3f64.sqrt()).abs() < 1e-12);
        // two of them in one cluster: 2 and −1
        let z = dependence(all, &[0, 0, 1]).unwrap();
        assert!((z - 1.0 / 5f64.sqrt()).abs() < 1e-12);
        assert_eq!(dependence(run(&[1.0, 1.0]), &[0]), None);
    }

    #[test]
    fn residuals_are_by_the_design() {
        let action =
            Array2::from_shape_fn((2, 4), |(t, i)| if t == 1 { NO_ACTION } else { u8::from(i == 0) });
        let log = log_of(action);
        let decisions = [Decisions::new(&log, Assignment::PerDecision)];
        let values = |design| -> Vec<f64> {
            residuals(&decisions, design, design == Design::Logged).iter().map(|one| one.value).collect()
        };
        assert_eq!(values(Design::Uniform), [0.75, -0.25, -0.25, -0.25]);
        assert!(values(Design::Logged).is_empty() && values(Design::Estimated).is_empty());
        let propensity = Array3::from_shape_fn((1, 2, 4), |(_, _, i)| [0.5, 0.9, 1.0, f64::NAN][i]);
        let logged = Logged {
            state: log.state().to_owned(),
            action: log.action().to_owned(),
            propensity: Some(propensity),
            reward: None,
            available: None,
        };
        let log = Trajectories::new(logged, 2).unwrap();
        let decisions = [Decisions::new(&log, Assignment::PerDecision)];
        for design in [Design::Uniform, Design::Logged, Design::Estimated] {
            let found = residuals(&decisions, design, true);
            assert_eq!(found.len(), 2);
            // .5 and −.1, less their mean
            assert!((found[0].value - 0.3).abs() < 1e-12 && (found[1].value + 0.3).abs() < 1e-12);
        }
        // if a caller replaces recorded chances by another design, they are not used
        assert_eq!(residuals(&decisions, Design::Uniform, false).len(), 4);
        assert!(residuals(&decisions, Design::Estimated, false).is_empty());
    }

    #[test]
    fn decision_of_a_list_that_was_not_worked_off_is_left_out() {
        let of = |pulled: usize| {
            let action = Array3::from_shape_fn((1, 2, 20), |(_, t, i)| match t {
                0 => u8::from(i < pulled),
                _ => NO_ACTION,
            });
            let logged = Logged {
                state: action.mapv(|_| 0),
                propensity: Some(action.mapv(|action| if action == 1 { 0.3 } else { 0.7 })),
                action,
                reward: None,
                available: None,
            };
            let log = Trajectories::new(logged, 2).unwrap();
            residuals(&[Decisions::new(&log, Assignment::PerDecision)], Design::Logged, true).len()
        };
        // six pulls of twenty are expected
        assert_eq!([of(0), of(1)], [0, 20]);
    }
}
