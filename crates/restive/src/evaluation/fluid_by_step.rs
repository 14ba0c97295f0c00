//! The [fluid value](super::fluid()) of scores that change from step to step: what a plan over a horizon is worth, without its gradient.

use super::flow::{MeanField, flow_value};
use crate::policy::soft_top_k::Crowd;
use ndarray::{ArrayView3, Axis};

/// The fluid value of soft top-k on the t-th of some tables of scores `[S,N,M]` at step t, each at its own temperature (`[S]`; 0 is
/// strict); from step S on, the last table.
///
/// ```
/// use ndarray::{Array2, array};
/// use restive::Reward;
/// use restive::evaluation::{MeanField, fluid, fluid_by_step};
///
/// let p = array![
///     [[[0.8, 0.2], [0.7, 0.3]], [[0.5, 0.5], [0.4, 0.6]]],
///     [[[0.8, 0.2], [0.2, 0.8]], [[0.5, 0.5], [0.1, 0.9]]],
/// ];
/// let (score, start) = (array![[0.0, 0.0], [0.1, 0.1]], Array2::from_elem((2, 2), 0.5));
/// let (reward, motion) = (Reward::linear(2), p.view().into());
/// let field =
///     MeanField { motion, reward: (&reward).into(), initial: start.view(), discount: 0.99, budget: 1.0 };
/// let repeated = ndarray::stack![ndarray::Axis(0), score, score];
/// let by_step = fluid_by_step(repeated.view(), &field, &[0.1, 0.1], 9);
/// assert_eq!(by_step, fluid(score.view(), &field, 0.1, 9).value);
/// ```
pub fn fluid_by_step(
    scores: ArrayView3<'_, f64>,
    field: &MeanField<'_>,
    temperature: &[f64],
    horizon: usize,
) -> f64 {
    let (steps, n, m) = scores.dim();
    assert!(steps > 0 && temperature.len() == steps, "temperature: [S], one for each table");
    assert_eq!(field.initial.dim(), (n, m), "initial: [N,M], as the scores");
    let mut crowd = Crowd::new(&[], 0.0);
    flow_value(field, None, horizon, |t, mass, pull| {
        if t < steps {
            let score: Vec<f64> = scores.index_axis(Axis(0), t).iter().copied().collect();
            crowd = Crowd::new(&score, temperature[t]);
        }
        crowd.solve(mass, field.budget, pull);
    })
}
