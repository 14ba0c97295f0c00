//! Slow, obvious truths to hold the fast kernels against.

use ndarray::{Array1, Array2, ArrayView2, ArrayView3, s};

/// What an arm's indices are, by definition.
#[derive(Debug, Clone)]
pub struct Truth {
    pub first: Vec<f64>,
    pub last: Vec<f64>,
    pub is_indexable: bool,
}

/// Solves A·X = B by Gaussian elimination with partial pivoting.
pub fn solve(mut a: Array2<f64>, mut b: Array2<f64>) -> Array2<f64> {
    let n = a.nrows();
    for k in 0..n {
        let best = (k..n).max_by(|&i, &j| a[[i, k]].abs().total_cmp(&a[[j, k]].abs())).unwrap();
        for c in 0..n {
            a.swap([k, c], [best, c]);
        }
        for c in 0..b.ncols() {
            b.swap([k, c], [best, c]);
        }
        for i in k + 1..n {
            let f = a[[i, k]] / a[[k, k]];
            for c in k..n {
                a[[i, c]] -= f * a[[k, c]];
            }
            for c in 0..b.ncols() {
                b[[i, c]] -= f * b[[k, c]];
            }
        }
    }
    for k in (0..n).rev() {
        for c in 0..b.ncols() {
            let known: f64 = (k + 1..n).map(|i| a[[k, i]] * b[[i, c]]).sum();
            b[[k, c]] = (b[[k, c]] - known) / a[[k, k]];
        }
    }
    b
}

/// The value of a policy as u + m·w: column 0 is u, column 1 is w.
fn value(
    arm: ArrayView3<f64>,
    reward: ArrayView2<f64>,
    g: f64,
    is_passive: &dyn Fn(usize) -> bool,
) -> Array2<f64> {
    let m = reward.nrows();
    let mut a = Array2::eye(m);
    let mut b = Array2::zeros((m, 2));
    for s in 0..m {
        let action = usize::from(!is_passive(s));
        let row = arm.slice(s![s, action, ..]);
        a.row_mut(s).scaled_add(-g, &row);
        b[[s, 0]] = reward[[s, action]];
        b[[s, 1]] = if action == 0 { 1.0 } else { 0.0 };
    }
    solve(a, b)
}

/// The advantage of acting in every state, as α − m·β, given u + m·w.
fn advantage(
    arm: ArrayView3<f64>,
    reward: ArrayView2<f64>,
    g: f64,
    value: &Array2<f64>,
) -> (Vec<f64>, Vec<f64>) {
    (0..reward.nrows())
        .map(|s| {
            let d: Array1<f64> = &arm.slice(s![s, 1, ..]) - &arm.slice(s![s, 0, ..]);
            let gain = reward[[s, 1]] - reward[[s, 0]];
            (gain + g * d.dot(&value.column(0)), 1.0 - g * d.dot(&value.column(1)))
        })
        .unzip()
}

/// All policies are tried: the breakpoints are the subsidies at which some state is indifferent under a policy
/// that is optimal there; between two of them the passive set is that of the best policy.
pub fn enumerate(arm: ArrayView3<f64>, reward: ArrayView2<f64>, g: f64) -> Truth {
    let m = reward.nrows();
    let policies: Vec<_> = (0..1usize << m)
        .map(|bits| {
            let value = value(arm, reward, g, &|s| bits >> s & 1 == 1);
            let (alpha, beta) = advantage(arm, reward, g, &value);
            (bits, value, alpha, beta)
        })
        .collect();
    // the size of this arm's subsidies, or of its rewards where they cancel
    let rewards = reward.iter().fold(0.0f64, |a, r| a.max(r.abs()));
    let size =
        policies[0].2.iter().chain(&policies[policies.len() - 1].2).fold(rewards, |a, x| a.max(x.abs()));
    let tolerance = 1e-11 * size;
    let mut breakpoints = Vec::new();
    for (bits, _, alpha, beta) in &policies {
        for s in 0..m {
            if beta[s].abs() < 1e-9 {
                continue;
            }
            let subsidy = alpha[s] / beta[s];
            let is_optimal = (0..m).all(|t| {
                let advantage = alpha[t] - subsidy * beta[t];
                if bits >> t & 1 == 1 { advantage <= tolerance } else { advantage >= -tolerance }
            });
            if is_optimal {
                breakpoints.push(subsidy);
            }
        }
    }
    breakpoints.sort_by(f64::total_cmp);
    breakpoints.dedup_by(|b, a| *b - *a <= tolerance);
    let passive_at = |subsidy: f64| {
        let total = |value: &Array2<f64>| value.column(0).sum() + subsidy * value.column(1).sum();
        let best = policies.iter().max_by(|a, b| total(&a.1).total_cmp(&total(&b.1))).unwrap();
        // indifference on a whole interval counts as passive: "as good as a pull"
        (0..m).map(|s| best.2[s] - subsidy * best.3[s] <= tolerance).collect::<Vec<bool>>()
    };
    let mut truth = Truth { first: vec![f64::NAN; m], last: vec![f64::NAN; m], is_indexable: true };
    let mut before = vec![false; m];
    for (k, &at) in breakpoints.iter().enumerate() {
        let middle = breakpoints.get(k + 1).map_or(at + 1.0 + size, |next| 0.5 * (at + next));
        let passive = passive_at(middle);
        for s in 0..m {
            if passive[s] && !before[s] {
                truth.last[s] = at;
                if truth.first[s].is_nan() {
                    truth.first[s] = at;
                }
            }
            truth.is_indexable &= passive[s] || !before[s];
        }
        before = passive;
    }
    assert!(before.iter().all(|p| *p), "every state is passive in the end");
    truth
}

/// The advantage of acting in every state at one subsidy, by policy iteration with exact evaluation.
pub fn advantage_at(arm: ArrayView3<f64>, reward: ArrayView2<f64>, g: f64, subsidy: f64) -> Vec<f64> {
    let m = reward.nrows();
    let mut passive = vec![false; m];
    for _ in 0..1000 {
        let value = value(arm, reward, g, &|s| passive[s]);
        let (alpha, beta) = advantage(arm, reward, g, &value);
        let advantage: Vec<f64> = alpha.iter().zip(&beta).map(|(a, b)| a - subsidy * b).collect();
        // change only where it is an improvement beyond rounding, so that ties cannot cycle
        let size = value.iter().fold(1e-300f64, |a, v| a.max(v.abs())) * (1.0 + subsidy.abs());
        let mut changed = false;
        for s in 0..m {
            let better = if passive[s] { advantage[s] > 1e-14 * size } else { advantage[s] < -1e-14 * size };
            if better {
                passive[s] = !passive[s];
                changed = true;
            }
        }
        if !changed {
            return advantage;
        }
    }
    panic!("policy iteration did not settle");
}

/// The index of one state of an indexable arm, by bisection over policy iteration.
pub fn bisect(arm: ArrayView3<f64>, reward: ArrayView2<f64>, g: f64, state: usize) -> f64 {
    let size = reward.iter().fold(0.0f64, |a, r| a.max(r.abs())) * 4.0 / (1.0 - g);
    let (mut low, mut high) = (-size, size);
    while high - low > 1e-13 * size {
        let middle = 0.5 * (low + high);
        if advantage_at(arm, reward, g, middle)[state] > 0.0 { low = middle } else { high = middle }
    }
    0.5 * (low + high)
}

/// Soft top-k as Xie et al. define it: the entropic transport of N scores onto the anchors 0 and 1, by Sinkhorn's
/// iteration in the log domain until the marginals hold to 1e-14. Returns the pulls.
pub fn sinkhorn(score: &[f64], budget: f64, temperature: f64) -> Vec<f64> {
    let (n, epsilon) = (score.len() as f64, 2.0 * temperature);
    let cost = |x: f64, anchor: f64| (x - anchor) * (x - anchor);
    let log_sum = |a: f64, b: f64| a.max(b) + (-(a - b).abs()).exp().ln_1p();
    let log_target = [((n - budget) / n).ln(), (budget / n).ln()];
    let mut g = [0.0f64; 2];
    let rows = |g: [f64; 2]| -> Vec<f64> {
        let row =
            |&x: &f64| -n.ln() - log_sum((g[0] - cost(x, 0.0)) / epsilon, (g[1] - cost(x, 1.0)) / epsilon);
        score.iter().map(row).collect()
    };
    for _ in 0..2_000_000 {
        let f = rows(g);
        let mut change = 0.0f64;
        for (j, anchor) in [0.0, 1.0].into_iter().enumerate() {
            let terms: Vec<f64> =
                score.iter().zip(&f).map(|(&x, f)| f + (g[j] - cost(x, anchor)) / epsilon).collect();
            let top = terms.iter().fold(f64::NEG_INFINITY, |a, t| a.max(*t));
            let column = top + terms.iter().map(|t| (t - top).exp()).sum::<f64>().ln();
            let step = log_target[j] - column;
            g[j] += epsilon * step;
            change = change.max(step.abs());
        }
        if change < 1e-14 {
            break;
        }
    }
    let f = rows(g);
    score.iter().zip(&f).map(|(&x, f)| n * (f + (g[1] - cost(x, 1.0)) / epsilon).exp()).collect()
}

/// The same by value iteration, for many states: O(M²) a sweep, until the values move by less than 1e-12.
pub fn advantage_by_value_iteration(
    arm: ArrayView3<f64>,
    reward: ArrayView2<f64>,
    g: f64,
    subsidy: f64,
) -> Vec<f64> {
    let m = reward.nrows();
    let mut value = vec![0.0f64; m];
    loop {
        let look_ahead =
            |s: usize, a: usize| -> f64 { (0..m).map(|t| arm[[s, a, t]] * value[t]).sum::<f64>() * g };
        let idle: Vec<f64> = (0..m).map(|s| reward[[s, 0]] + subsidy + look_ahead(s, 0)).collect();
        let pull: Vec<f64> = (0..m).map(|s| reward[[s, 1]] + look_ahead(s, 1)).collect();
        let next: Vec<f64> = idle.iter().zip(&pull).map(|(a, b)| a.max(*b)).collect();
        let moved = next.iter().zip(&value).fold(0.0f64, |a, (x, y)| a.max((x - y).abs()));
        if moved < 1e-12 {
            return pull.iter().zip(&idle).map(|(a, b)| a - b).collect();
        }
        value = next;
    }
}
