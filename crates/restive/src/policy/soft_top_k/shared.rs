//! Many soft top-k problems on one table of indices.
//!
//! Every step of every trajectory of an instance chooses among the same N·M indices W_i(s): problem p sees the scores
//! W_i(s_pi). The exponentials of the table are computed once, the start of the root finding is shared (the threshold
//! of an average arm), and each problem then costs a few divisions per arm. Problems are independent of each other, so
//! results do not depend on threads or on which problems are solved together.

use super::root::{Root, exponentials, halley, reference, solve};
use super::slopes::pull_back_log_odds;
use crate::interrupt;
use crate::policy::odds::sigmoid;
use ndarray::{Array1, Array2, ArrayView2};
use rayon::prelude::*;

/// Problems whose gradients are added up by one thread; part of the arithmetic.
const SEVERAL: usize = 32;

/// The soft choices of P problems over N arms.
pub struct SoftTopKMany<'a> {
    /// `[P,N]`: the [log-odds](crate::policy::log_odds) of pulling each arm
    pub log_odds: Array2<f64>,
    /// `[P]`: the threshold of each problem
    pub threshold: Array1<f64>,
    table: ArrayView2<'a, f64>,
    state: ArrayView2<'a, u16>,
    temperature: f64,
    roots: Vec<Root>,
}

/// What a cotangent of all log-odds becomes on their inputs.
#[derive(Debug, Clone, PartialEq)]
pub struct TableCotangent {
    /// `[N,M]`, the shape of the table
    pub d_index: Array2<f64>,
    /// by the budget K, summed over the problems
    pub d_budget: f64,
    /// by the temperature e, summed over the problems
    pub d_temperature: f64,
}

/// Solves one soft top-k per row of `state` (`[P,N]`): arm i has the score `table[i, state[p,i]]` (`[N,M]`).
///
/// ```
/// use ndarray::array;
/// use restive::policy::soft_top_k::soft_top_k_many;
///
/// let table = array![[0.1, 0.9], [0.3, 0.2], [0.5, 0.6]]; // 3 arms, 2 states
/// let state = array![[0u16, 0, 0], [1, 0, 1]]; // 2 problems
/// let solved = soft_top_k_many(table.view(), state.view(), 1.0, 0.1);
/// let pull = solved.pull();
/// assert!(pull[[0, 2]] > 0.5 && pull[[1, 0]] > 0.5);
/// ```
pub fn soft_top_k_many<'a>(
    table: ArrayView2<'a, f64>,
    state: ArrayView2<'a, u16>,
    budget: f64,
    temperature: f64,
) -> SoftTopKMany<'a> {
    assert!(temperature >= 0.0, "temperature: at least 0, not {temperature}");
    assert!(!budget.is_nan(), "budget: a number");
    let ((n, m), problems) = (table.dim(), state.nrows());
    assert_eq!(state.ncols(), n, "state: [P,N]");
    assert!(n > 0 && m > 0, "table: at least one arm and one state");
    assert!(!table.iter().fold(false, |is, x| is | x.is_nan()), "table: numbers");
    let contiguous = table.as_standard_layout();
    let scores = contiguous.as_slice().expect("standard layout");
    let average_budget = budget * m as f64;
    let reference = reference(scores, average_budget);
    let mut table_exponentials = vec![0.0; n * m];
    exponentials(scores, reference, temperature, &mut table_exponentials);
    let start = halley(&table_exponentials, None, average_budget, 0.0);
    let mut log_odds = Array2::zeros((problems, n));
    let state_rows = state.as_standard_layout();
    assert!(state_rows.iter().all(|&s| usize::from(s) < m), "state: below M");
    let roots: Vec<Root> = (log_odds.as_slice_mut().expect("standard layout").par_chunks_mut(n))
        .zip(state_rows.as_slice().expect("standard layout").par_chunks(n))
        .map_init(
            || vec![0.0; n],
            |score, (row, state)| {
                interrupt::check();
                let rows = scores.chunks_exact(m).zip(table_exponentials.chunks_exact(m));
                // the row holds the exponentials until the threshold is found
                for ((score, row), ((w, e), &s)) in score.iter_mut().zip(&mut *row).zip(rows.zip(state)) {
                    *score = w[usize::from(s)];
                    *row = e[usize::from(s)];
                }
                let root = solve(score, budget, temperature, reference, start, row);
                root.log_odds(score, temperature, row);
                root
            },
        )
        .collect();
    let threshold = roots.iter().map(|root| root.threshold).collect();
    SoftTopKMany { log_odds, threshold, table, state, temperature, roots }
}

impl SoftTopKMany<'_> {
    /// `[P,N]`: the pulls.
    pub fn pull(&self) -> Array2<f64> {
        self.log_odds.mapv(sigmoid)
    }

    /// What a cotangent of the log-odds (`[P,N]`) becomes on the table, the budget and the temperature.
    pub fn pullback(&self, d_log_odds: ArrayView2<'_, f64>) -> TableCotangent {
        assert_eq!(d_log_odds.shape(), self.log_odds.shape(), "d_log_odds: [P,N]");
        let (n, m) = self.table.dim();
        let (state, d_log_odds) = (self.state.as_standard_layout(), d_log_odds.as_standard_layout());
        // a few problems at a time are added up by one thread, and those sums in their order, whatever the threads did
        let several = SEVERAL * n;
        let groups = (state.as_slice().expect("standard layout").par_chunks(several))
            .zip(d_log_odds.as_slice().expect("standard layout").par_chunks(several))
            .zip(self.log_odds.as_slice().expect("standard layout").par_chunks(several))
            .zip(self.roots.par_chunks(SEVERAL));
        let parts: Vec<(Vec<f64>, [f64; 2])> = groups
            .map(|(((state, d_log_odds), log_odds), roots)| {
                let mut d_score = vec![0.0; n];
                let (mut sums, mut shared) = (vec![0.0; n * m], [0.0; 2]);
                let problems =
                    state.chunks_exact(n).zip(d_log_odds.chunks_exact(n)).zip(log_odds.chunks_exact(n));
                for (((state, d_log_odds), log_odds), root) in problems.zip(roots) {
                    interrupt::check();
                    let (d_budget, d_temperature) =
                        pull_back_log_odds(root, self.temperature, log_odds, d_log_odds, &mut d_score);
                    shared = [shared[0] + d_budget, shared[1] + d_temperature];
                    for ((row, d), &s) in sums.chunks_exact_mut(m).zip(&d_score).zip(state) {
                        row[usize::from(s)] += d;
                    }
                }
                (sums, shared)
            })
            .collect();
        let mut d_index = Array2::zeros((n, m));
        let (mut d_budget, mut d_temperature) = (0.0, 0.0);
        for (sums, [budget, temperature]) in &parts {
            d_index.iter_mut().zip(sums).for_each(|(total, sum)| *total += sum);
            (d_budget, d_temperature) = (d_budget + budget, d_temperature + temperature);
        }
        TableCotangent { d_index, d_budget, d_temperature }
    }
}
