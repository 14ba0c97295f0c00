//! True gains of rankings.
//!
//! A pull at decision t of H raises the probability of state 1 at step t + k by effect·ρ^(k − 1), where ρ is the persistence. So it
//! raises the discounted reward of the steps up to H by effect·γ^(t + 1)·D(t + 1) with D(H) = 1 and D(t) = 1 + γρ D(t + 1). With K pulls
//! at each decision, a ranking brings over random pulls
//!
//! ```text
//! K δ Σ_t γ^(t + 1) D(t + 1)
//! ```
//!
//! where δ is the mean effect of the K people with the highest scores, of those who can be pulled, less that of all of them.

use super::people::PERSISTENCE;

/// Σ_t γ^(t + 1) D(t + 1) over H decisions: discounted reward of a programme with a pull at every decision, per effect.
pub fn programme(horizon: usize, discount: f64) -> f64 {
    let (mut later, mut sum) = (1.0, 0.0);
    for t in (0..horizon).rev() {
        sum += discount.powi(t as i32 + 1) * later;
        later = 1.0 + discount * PERSISTENCE * later;
    }
    sum
}

/// Discounted reward of a course of pulls over all decisions, per effect: Σ_t γ^t (1 − ρ^t)/(1 − ρ) over the steps after the first.
pub fn course(decisions: usize, discount: f64) -> f64 {
    let risen = |t: usize| (1.0 - PERSISTENCE.powi(t as i32)) / (1.0 - PERSISTENCE);
    (1..=decisions).map(|t| discount.powi(t as i32) * risen(t)).sum()
}

/// People by descending score.
pub fn order(scores: &[f64]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..scores.len()).collect();
    order.sort_by(|a, b| scores[*b].total_cmp(&scores[*a]));
    order
}

/// δ: mean effect of the first `count` people of an order who can be pulled, less that of all who can.
pub fn advantage(
    order: &[usize],
    effect: impl Fn(usize) -> f64,
    count: usize,
    can_be_pulled: &[bool],
) -> f64 {
    let mean = |people: &[usize]| people.iter().map(|i| effect(*i)).sum::<f64>() / people.len() as f64;
    let there: Vec<usize> = order.iter().copied().filter(|i| can_be_pulled[*i]).collect();
    mean(&there[..count]) - mean(&there)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rise of the probability of state 1 at each step after pulls at some decisions, by the recursion of the chain.
    fn rises(decisions: usize, is_pulled: impl Fn(usize) -> bool) -> Vec<f64> {
        let mut rise = vec![0.0];
        for t in 0..decisions {
            rise.push(PERSISTENCE * rise[t] + f64::from(u8::from(is_pulled(t))));
        }
        rise
    }

    fn discounted(rises: &[f64], discount: f64) -> f64 {
        rises.iter().enumerate().map(|(t, rise)| discount.powi(t as i32) * rise).sum()
    }

    #[test]
    fn sums_of_gains_are_those_of_the_chain() {
        for (horizon, discount) in [(1, 0.9), (8, 0.9), (12, 1.0)] {
            let one_by_one: f64 =
                (0..horizon).map(|k| discounted(&rises(horizon, |t| t == k), discount)).sum();
            assert!((programme(horizon, discount) - one_by_one).abs() < 1e-12);
            let together = discounted(&rises(horizon, |_| true), discount);
            assert!((course(horizon, discount) - together).abs() < 1e-12);
        }
    }

    #[test]
    fn people_who_cannot_be_pulled_are_passed_over() {
        let (order, effect) = (order(&[0.1, 0.9, 0.5]), [1.0, 2.0, 4.0]);
        assert_eq!(order, [1, 2, 0]);
        assert_eq!(advantage(&order, |i| effect[i], 1, &[true, false, true]), 4.0 - 2.5);
    }
}
