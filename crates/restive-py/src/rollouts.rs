//! Rollouts a step at a time: for policies that are functions of the caller's, for soft policies whose tables change, and for arms that move by
//! other transitions at every step.

use crate::arms::slice;
use crate::border::{array, check_finite, check_shape, floats};
use crate::error::wrong;
use crate::threads;
use ndarray::{Array1, Array3, ArrayView2, ArrayView4, s};
use numpy::{PyArray2, PyArrayDescrMethods, PyUntypedArrayMethods};
use pyo3::prelude::*;
use restive::policy::Policy;
use restive::simulation::{Decision, Initial, Rollouts, Setting};

/// Who says who is pulled.
pub(crate) enum Rule<'py> {
    /// one policy, which knows the step
    Known(Policy),
    /// a policy for each step
    ByStep(Vec<Policy>),
    /// `policy(t, state)`, the caller's
    Asked(Bound<'py, PyAny>),
}

/// States `[R,H+1,N]`, actions and propensities `[R,H,N]`.
pub(crate) struct Kept {
    pub(crate) state: Array3<u16>,
    pub(crate) action: Array3<u8>,
    pub(crate) propensity: Array3<f64>,
}

/// Rolls arms forward whose transitions at step t are those of `moves(t)`; the values of all runs, and what was kept of them.
pub(crate) fn roll<'py, 'a>(
    py: Python<'py>,
    setting: &Setting<'_>,
    moves: impl Fn(usize) -> ArrayView4<'a, f64> + Sync,
    initial: &Initial,
    rule: &Rule<'py>,
    runs: usize,
    seed: u64,
    keep: bool,
) -> PyResult<(Array1<f64>, Option<Kept>)> {
    let (n, horizon, budget) = (setting.motion.arms(), setting.horizon, setting.budget);
    let mut rollouts = threads::run(py, || Rollouts::new(setting, initial, runs, seed))?;
    let mut kept = keep.then(|| Kept {
        state: Array3::zeros((runs, horizon + 1, n)),
        action: Array3::zeros((runs, horizon, n)),
        propensity: Array3::zeros((runs, horizon, n)),
    });
    for t in 0..horizon {
        let decision = match rule {
            Rule::Known(policy) => threads::run(py, || rollouts.by_policy(policy))?,
            Rule::ByStep(policies) => {
                let policy = &policies[t.min(policies.len() - 1)];
                threads::run(py, || rollouts.by_policy(policy))?
            }
            Rule::Asked(policy) => asked(py, policy, t, &mut rollouts, budget)?,
        };
        if let Some(kept) = &mut kept {
            kept.state.slice_mut(s![.., t, ..]).assign(&rollouts.state());
            kept.action.slice_mut(s![.., t, ..]).assign(&decision.pull.mapv(u8::from));
            let taken = |(pull, inclusion): (&bool, &f64)| if *pull { *inclusion } else { 1.0 - inclusion };
            let taken = decision.pull.iter().zip(&decision.inclusion).map(taken).collect();
            let taken = ndarray::Array2::from_shape_vec((runs, n), taken).expect("[R,N]");
            kept.propensity.slice_mut(s![.., t, ..]).assign(&taken);
        }
        threads::run(py, || rollouts.step(moves(t).into(), decision.pull.view()))?;
    }
    if let Some(kept) = &mut kept {
        kept.state.slice_mut(s![.., horizon, ..]).assign(&rollouts.state());
    }
    Ok((rollouts.values(), kept))
}

/// What the caller's policy says: pulls (booleans) within the budget, or scores of which the highest are pulled.
fn asked<'py>(
    py: Python<'py>,
    policy: &Bound<'py, PyAny>,
    t: usize,
    rollouts: &mut Rollouts<'_>,
    budget: usize,
) -> PyResult<Decision> {
    let shape = rollouts.state().dim();
    let state = PyArray2::from_owned_array(py, rollouts.state().to_owned());
    let answer = policy.call1((t, state))?;
    let what = format!("policy: step {t}");
    let answer = array(&what, &answer)?;
    let is_pull = answer.dtype().kind() == b'b';
    let numbers = floats(&what, answer.as_any())?;
    check_shape(
        &what,
        &format!("[{}, {}]", shape.0, shape.1),
        numbers.shape(),
        numbers.shape() == [shape.0, shape.1],
    )?;
    check_finite(&what, slice(&numbers), numbers.shape())?;
    let numbers = ArrayView2::from_shape(shape, slice(&numbers)).expect("[R,N]");
    if !is_pull {
        return threads::run(py, || rollouts.by_scores(numbers));
    }
    for (run, row) in numbers.rows().into_iter().enumerate() {
        let pulls = row.sum();
        if pulls > budget as f64 {
            let place = format!("{what}, rollout {run}");
            return Err(wrong(&place, &format!("at most {budget} pulls"), format_args!("{pulls} pulls")));
        }
    }
    Ok(Decision { pull: numbers.mapv(|x| x != 0.0), inclusion: numbers.to_owned() })
}
