//! Who is pulled and where arms start, as a caller says it; and rollouts a step at a time: for policies that are functions of the caller's, for soft policies whose tables change, and for arms that move by
//! other transitions at every step.

use crate::arms::slice;
use crate::border::{Number, array, check_finite, check_shape, floats, integers};
use crate::error::wrong;
use crate::threads;
use ndarray::{Array1, Array2, Array3, ArrayView2, ArrayView4, Axis, s};
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

/// The policy by its name, with its table of indices `[N,L]` or tables `[H,N,L]`; or the caller's function.
pub(crate) fn rule_of<'py>(
    policy: Option<&Bound<'py, PyAny>>,
    index: Option<&Bound<'py, PyAny>>,
    temperature: Option<Number>,
    n: usize,
    labels: usize,
    horizon: usize,
) -> PyResult<Rule<'py>> {
    let expected = "'strict', 'soft', 'random', 'round-robin', 'no-action' or a function";
    let name = match policy {
        None => "strict".to_string(),
        Some(policy) if policy.is_callable() => {
            if index.is_some() || temperature.is_some() {
                return Err(wrong(
                    "index",
                    "None, and no temperature, for a policy that is a function",
                    "one",
                ));
            }
            return Ok(Rule::Asked(policy.clone()));
        }
        Some(policy) => policy.extract().map_err(|_| wrong("policy", expected, policy))?,
    };
    let plain = match name.as_str() {
        "no-action" => Some(Policy::NoAction),
        "random" => Some(Policy::Random),
        "round-robin" => Some(Policy::RoundRobin),
        "strict" | "soft" => None,
        _ => return Err(wrong("policy", expected, format_args!("{name:?}"))),
    };
    if let (Some(_), Some(_)) = (&plain, index) {
        return Err(wrong("index", &format!("None for the policy {name:?}"), "an array"));
    }
    if name != "soft" && temperature.is_some() {
        return Err(wrong("temperature", &format!("None for the policy {name:?}"), "a number"));
    }
    if let Some(plain) = plain {
        return Ok(Rule::Known(plain));
    }
    let shapes = format!("[{n}, {labels}] or [{horizon}, {n}, {labels}]");
    let Some(index) = index else {
        return Err(wrong("index", &format!("an array {shapes} for the policy {name:?}"), "None"));
    };
    let index = floats("index", index)?;
    let is_by_step = index.shape() == [horizon, n, labels];
    check_shape("index", &shapes, index.shape(), is_by_step || index.shape() == [n, labels])?;
    check_finite("index", slice(&index), index.shape())?;
    let tables = if is_by_step { horizon } else { 1 };
    let tables =
        Array3::from_shape_vec((tables, n, labels), slice(&index).to_vec()).expect("as many numbers");
    let temperature = match (name.as_str(), temperature) {
        ("strict", _) if is_by_step => return Ok(Rule::Known(Policy::Horizon(tables))),
        ("strict", _) => return Ok(Rule::Known(Policy::Strict(tables.index_axis_move(Axis(0), 0)))),
        (_, Some(Number(temperature))) if temperature >= 0.0 => temperature,
        (_, Some(Number(found))) => return Err(wrong("temperature", "a number of at least 0", found)),
        (_, None) => return Err(wrong("temperature", "a number for the policy 'soft'", "None")),
    };
    if !is_by_step {
        return Ok(Rule::Known(Policy::Soft(tables.index_axis_move(Axis(0), 0), temperature)));
    }
    Ok(Rule::ByStep(tables.outer_iter().map(|table| Policy::Soft(table.to_owned(), temperature)).collect()))
}

/// Where the arms start.
pub(crate) fn initial_of(initial: Option<&Bound<'_, PyAny>>, n: usize, labels: usize) -> PyResult<Initial> {
    let Some(initial) = initial else { return Ok(Initial::Uniform) };
    let found = integers("initial", initial)?;
    let rows = match *found.shape() {
        [arms] if arms == n => 1,
        [rows, arms] if arms == n && rows > 0 => rows,
        _ => {
            return Err(wrong(
                "initial",
                &format!("[{n}] or [R, {n}]"),
                format_args!("shape {:?}", found.shape()),
            ));
        }
    };
    let mut states = Array2::zeros((rows, n));
    for (k, (to, &from)) in states.iter_mut().zip(slice(&found)).enumerate() {
        let state = u16::try_from(from).ok().filter(|s| usize::from(*s) < labels);
        *to = state.ok_or_else(|| {
            let place = format!("initial: rollout {}, arm {}", k / n, k % n);
            wrong(&place, &format!("a state from 0 to {}", labels - 1), from)
        })?;
    }
    Ok(Initial::States(states))
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
            let taken = Array2::from_shape_vec((runs, n), taken).expect("[R,N]");
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
