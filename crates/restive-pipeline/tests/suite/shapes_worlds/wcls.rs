//! Plain estimators of mean effects, independent of the library: difference in means with standard errors by cluster, and weighted and
//! centred least squares (Boruvka, Almirall, Witkiewitz and Murphy 2018, JASA 113:1112).

use std::collections::BTreeMap;

/// Number of regressors: constant, state, centred action.
const WIDTH: usize = 3;

/// Estimate with its standard error.
#[derive(Debug, Clone, Copy)]
pub struct Estimate {
    /// The estimate.
    pub value: f64,
    /// Its standard error.
    pub error: f64,
}

/// A person at a decision at which a pull was possible.
pub struct Decision {
    /// Person or cluster.
    pub unit: usize,
    /// State before the decision.
    pub state: f64,
    /// Whether the person was pulled.
    pub is_pulled: bool,
    /// Probability of a pull.
    pub propensity: f64,
    /// Reward of the next state.
    pub outcome: f64,
}

/// Mean outcome of the pulled less that of the others, with standard errors by unit.
pub fn difference_in_means(decisions: &[Decision]) -> Estimate {
    let mean = |is_pulled: bool| {
        let own = || decisions.iter().filter(|decision| decision.is_pulled == is_pulled);
        let count = own().count() as f64;
        (own().map(|decision| decision.outcome).sum::<f64>() / count, count)
    };
    let (pulled, others) = (mean(true), mean(false));
    let mut by_unit = BTreeMap::<usize, f64>::new();
    for decision in decisions {
        *by_unit.entry(decision.unit).or_default() += match decision.is_pulled {
            true => (decision.outcome - pulled.0) / pulled.1,
            false => -(decision.outcome - others.0) / others.1,
        };
    }
    let variance: f64 = by_unit.values().map(|sum| sum * sum).sum();
    Estimate { value: pulled.0 - others.0, error: variance.sqrt() }
}

/// Weighted and centred least squares: the outcome on a constant, the state and the action less its mean, with weights of the mean
/// probability over the recorded one, and standard errors by unit.
pub fn weighted_centred(decisions: &[Decision]) -> Estimate {
    let pulls = decisions.iter().filter(|decision| decision.is_pulled).count();
    let mean = pulls as f64 / decisions.len() as f64;
    let row = |decision: &Decision| {
        let (action, weight) = match decision.is_pulled {
            true => (1.0, mean / decision.propensity),
            false => (0.0, (1.0 - mean) / (1.0 - decision.propensity)),
        };
        ([1.0, decision.state, action - mean], weight)
    };
    let (mut matrix, mut right) = ([[0.0; WIDTH]; WIDTH], [0.0; WIDTH]);
    for decision in decisions {
        let (x, weight) = row(decision);
        for a in 0..WIDTH {
            right[a] += weight * x[a] * decision.outcome;
            (0..WIDTH).for_each(|b| matrix[a][b] += weight * x[a] * x[b]);
        }
    }
    let inverse = inverse(matrix);
    let times =
        |right: [f64; WIDTH]| inverse.map(|row| row.iter().zip(right).map(|(a, b)| a * b).sum::<f64>());
    let coefficients = times(right);
    let mut by_unit = BTreeMap::<usize, [f64; WIDTH]>::new();
    for decision in decisions {
        let (x, weight) = row(decision);
        let fitted: f64 = x.iter().zip(coefficients).map(|(x, c)| x * c).sum();
        let sum = by_unit.entry(decision.unit).or_default();
        (0..WIDTH).for_each(|a| sum[a] += weight * x[a] * (decision.outcome - fitted));
    }
    let variance: f64 = by_unit.values().map(|sum| times(*sum)[WIDTH - 1].powi(2)).sum();
    Estimate { value: coefficients[WIDTH - 1], error: variance.sqrt() }
}

/// Inverse of a positive definite matrix, by elimination.
fn inverse(mut matrix: [[f64; WIDTH]; WIDTH]) -> [[f64; WIDTH]; WIDTH] {
    let mut inverse = [[0.0; WIDTH]; WIDTH];
    (0..WIDTH).for_each(|a| inverse[a][a] = 1.0);
    for pivot in 0..WIDTH {
        let scale = matrix[pivot][pivot];
        for b in 0..WIDTH {
            matrix[pivot][b] /= scale;
            inverse[pivot][b] /= scale;
        }
        for a in (0..WIDTH).filter(|a| *a != pivot) {
            let factor = matrix[a][pivot];
            for b in 0..WIDTH {
                matrix[a][b] -= factor * matrix[pivot][b];
                inverse[a][b] -= factor * inverse[pivot][b];
            }
        }
    }
    inverse
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decision(unit: usize, state: f64, is_pulled: bool, outcome: f64) -> Decision {
        Decision { unit, state, is_pulled, propensity: 0.5, outcome }
    }

    #[test]
    fn estimates_of_a_line_without_noise_are_its_effect() {
        // outcome 1 + 2 s + 3 a
        let one = |k: u8| {
            let (state, is_pulled) = (f64::from(k % 2), k % 4 < 2);
            let effect = if is_pulled { 3.0 } else { 0.0 };
            decision(usize::from(k) / 2, state, is_pulled, 1.0 + 2.0 * state + effect)
        };
        let all: Vec<Decision> = (0..8).map(one).collect();
        let found = weighted_centred(&all);
        assert!((found.value - 3.0).abs() < 1e-12 && found.error < 1e-12, "{found:?}");
        assert!((difference_in_means(&all).value - 3.0).abs() < 1e-12);
    }

    #[test]
    fn errors_by_unit_are_those_of_the_formula() {
        let all = [
            decision(0, 0.0, true, 1.0),
            decision(0, 0.0, true, 1.0),
            decision(1, 0.0, true, 0.0),
            decision(1, 0.0, true, 0.0),
            decision(2, 0.0, false, 1.0),
            decision(3, 0.0, false, 0.0),
        ];
        // pulled: two units of two people, deviations ±1/2 of 4; others: two people, deviations ±1/2 of 2
        let expected = (2.0 * (2.0 * 0.5 / 4.0_f64).powi(2) + 2.0 * (0.5 / 2.0_f64).powi(2)).sqrt();
        let found = difference_in_means(&all);
        assert!(found.value.abs() < 1e-12 && (found.error - expected).abs() < 1e-12, "{found:?}");
    }
}
