//! Rolls arms forward under a policy.

use crate::arms::{arms, checked, form_of, reward_of, slice, view};
use crate::border::{Number, Seed, Whole, check_finite, check_shape, floats, integers};
use crate::error::{check_memory, raise, wrong};
use crate::evaluation::array1;
use crate::index::chain_of;
use crate::threads;
use ndarray::{Array1, Array2, s};
use numpy::{PyArray1, PyArray3, PyUntypedArrayMethods};
use pyo3::prelude::*;
use restive::belief::{Motion, beliefs};
use restive::instance::{Chain, Trajectories};
use restive::policy::Policy;
use restive::simulation::{Initial, Setting, trajectories, values};
use restive::{RewardView, check_discount};

/// Rollouts of a policy: what `simulate` returns.
#[pyclass(frozen, get_all, module = "restive")]
struct Simulation {
    /// float64 [R]: the discounted reward of each rollout, over all arms and steps.
    values: Py<PyArray1<f64>>,
    /// uint16 [R,H+1,N]: the states, or labels s*T + h where states are seen at pulls only; None unless asked for.
    state: Option<Py<PyArray3<u16>>>,
    /// uint8 [R,H,N]: 1 for a pull; None unless asked for.
    action: Option<Py<PyArray3<u8>>>,
    /// float64 [R,H,N]: the probability that the policy gave to each action; None unless asked for.
    propensity: Option<Py<PyArray3<f64>>>,
}

#[pymethods]
impl Simulation {
    fn __repr__(&self, py: Python<'_>) -> String {
        format!("<restive.Simulation of {} rollouts>", self.values.bind(py).len())
    }
}

/// Rolls arms forward under a policy, many times.
///
/// At each of H steps the policy draws who is pulled, rewards are collected, and every arm moves by its own P, pulled or not.
/// Two policies with one seed meet the same noise, so that their values compare rollout by rollout.
///
/// Parameters
/// ----------
/// P : array, [N,M,2,M] or [N,4]
///     Transition probabilities, as for `whittle_index`.
/// budget : int
///     The budget: arms that are pulled at each step, from 0 to N.
/// policy : "strict", "soft", "random", "round-robin" or "no-action"
///     The highest indices, as many as the budget; soft top-k of the indices; as many arms at random; in turn; nobody.
/// index : array, [N,M] (collapsing: [N,M*T]), for "strict" and "soft"
///     Scores of the arms in each state, finite; usually `whittle_index(P).index`.
/// temperature : float, for "soft"
///     At least 0.
/// rewards : array, [M] or [M,2], optional
///     R(s) or R(s, a); by default linear.
/// discount : float
///     From 0 to 1.
/// horizon : int
///     H, the number of decisions.
/// rollouts : int
///     R.
/// seed : int
///     At least 0.
/// initial : integer array, [N] or [R,N], optional
///     The states (or labels) in which the arms start; rows are used in turn. By default uniform.
/// layout : "nsas" or "nass"
///     The order of the axes of P.
/// observation, chain : as for `whittle_index`
///     With "collapsing" and a number of beliefs, what moves are labels s*T + h.
/// keep_trajectories : bool
///     Whether to return states, actions and propensities too.
///
/// Returns
/// -------
/// Simulation
///     `.values` [R]; and `.state` [R,H+1,N], `.action` [R,H,N], `.propensity` [R,H,N], or None.
///
/// Examples
/// --------
/// >>> import numpy as np, restive
/// >>> P = np.tile([[0.2, 0.8, 0.5, 0.5]], (10, 1))
/// >>> index = restive.whittle_index(P).index
/// >>> strict = restive.simulate(P, 3, "strict", index, horizon=9, rollouts=200)
/// >>> random = restive.simulate(P, 3, "random", horizon=9, rollouts=200)
/// >>> bool(strict.values.mean() > random.values.mean())
/// True
#[pyfunction]
#[pyo3(signature = (P, budget, policy="strict", index=None, temperature=None, *, rewards=None, discount=Number(0.99), horizon=Whole(10), rollouts=Whole(100), seed=Seed(0), initial=None, layout="nsas", observation="full", chain=None, keep_trajectories=false))]
#[pyo3(
    text_signature = "(P, budget, policy='strict', index=None, temperature=None, *, rewards=None, discount=0.99, horizon=10, rollouts=100, seed=0, initial=None, layout='nsas', observation='full', chain=None, keep_trajectories=False)"
)]
#[expect(non_snake_case, reason = "P is how the literature and the users write it")]
fn simulate<'py>(
    py: Python<'py>,
    P: &Bound<'py, PyAny>,
    budget: Whole,
    policy: &str,
    index: Option<&Bound<'py, PyAny>>,
    temperature: Option<Number>,
    rewards: Option<&Bound<'py, PyAny>>,
    discount: Number,
    horizon: Whole,
    rollouts: Whole,
    seed: Seed,
    initial: Option<&Bound<'py, PyAny>>,
    layout: &str,
    observation: &str,
    chain: Option<&Bound<'py, PyAny>>,
    keep_trajectories: bool,
) -> PyResult<Simulation> {
    check_discount(discount.0).map_err(raise)?;
    let raw = floats("P", P)?;
    let (form, m) = form_of(raw.shape(), layout)?;
    let transition = checked(py, raw, form, m)?;
    let n = transition.shape()[0];
    check_shape("P", "at least one arm", transition.shape(), n > 0)?;
    let budget = budget.between("budget", 0, n)?;
    let most = u32::MAX as usize;
    let (horizon, runs) = (horizon.between("horizon", 1, most)?, rollouts.between("rollouts", 1, most)?);
    let seed = seed.0;
    let reward = reward_of("rewards", rewards, m)?;
    let length = match chain_of(observation, chain, None)? {
        None => None,
        Some(Chain::Finite(length)) => Some(length),
        Some(_) => return Err(wrong("chain", "a number of beliefs, in a simulation", "'infinite'")),
    };
    let labels = m.saturating_mul(length.unwrap_or(1));
    if labels >= usize::from(u16::MAX) {
        return Err(wrong("chain", "fewer than 65535 states or labels", labels));
    }
    check_memory("beliefs", &[n, labels, m])?;
    let policy = policy_of(policy, index, temperature, n, labels)?;
    let initial = initial_of(initial, n, labels)?;
    check_memory("values", &[runs])?;
    if keep_trajectories {
        check_memory("trajectories", &[runs, horizon + 1, n, 2])?;
    }
    let p = arms(slice(&transition), m);
    let (values, log) = threads::run(py, || {
        let belief = length.map(|length| beliefs(p, length).belief);
        let own = belief.as_ref().map(|belief| belief.reward(reward.view()));
        let setting = Setting {
            motion: belief.as_ref().map_or(Motion::from(p), Motion::from),
            reward: own.as_ref().map_or((&reward).into(), |own| RewardView::by_arm(own.view())),
            discount: discount.0,
            budget,
            horizon,
        };
        let values: Array1<f64> = values(&setting, &initial, &policy, runs, seed);
        let log = keep_trajectories.then(|| trajectories(&setting, &initial, &policy, runs, seed));
        (values, log)
    })?;
    let decided = s![.., ..horizon, ..];
    let array = |log: &Trajectories| {
        let propensity = log.propensity().expect("simulated").slice(decided).to_owned();
        (
            PyArray3::from_owned_array(py, log.state().to_owned()).unbind(),
            PyArray3::from_owned_array(py, log.action().slice(decided).to_owned()).unbind(),
            PyArray3::from_owned_array(py, propensity).unbind(),
        )
    };
    let (state, action, propensity) = match log.as_ref().map(array) {
        Some((state, action, propensity)) => (Some(state), Some(action), Some(propensity)),
        None => (None, None, None),
    };
    Ok(Simulation { values: array1(py, values), state, action, propensity })
}

/// The policy by its name, with its table of indices `[N,L]`.
fn policy_of(
    name: &str,
    index: Option<&Bound<'_, PyAny>>,
    temperature: Option<Number>,
    n: usize,
    labels: usize,
) -> PyResult<Policy> {
    let plain = match name {
        "no-action" => Some(Policy::NoAction),
        "random" => Some(Policy::Random),
        "round-robin" => Some(Policy::RoundRobin),
        "strict" | "soft" => None,
        _ => {
            let expected = "'strict', 'soft', 'random', 'round-robin' or 'no-action'";
            return Err(wrong("policy", expected, format_args!("{name:?}")));
        }
    };
    if let (Some(_), Some(_)) = (&plain, index) {
        return Err(wrong("index", &format!("None for the policy {name:?}"), "an array"));
    }
    if name != "soft" && temperature.is_some() {
        return Err(wrong("temperature", &format!("None for the policy {name:?}"), "a number"));
    }
    if let Some(plain) = plain {
        return Ok(plain);
    }
    let Some(index) = index else {
        return Err(wrong("index", &format!("an array [{n}, {labels}] for the policy {name:?}"), "None"));
    };
    let index = floats("index", index)?;
    check_shape("index", &format!("[{n}, {labels}]"), index.shape(), index.shape() == [n, labels])?;
    check_finite("index", slice(&index), index.shape())?;
    let table: Array2<f64> = view(&index).to_owned().into_dimensionality().expect("two axes");
    match (name, temperature) {
        ("strict", _) => Ok(Policy::Strict(table)),
        (_, Some(Number(temperature))) if temperature >= 0.0 => Ok(Policy::Soft(table, temperature)),
        (_, Some(Number(found))) => Err(wrong("temperature", "a number of at least 0", found)),
        (_, None) => Err(wrong("temperature", "a number for the policy 'soft'", "None")),
    }
}

/// Where the arms start.
fn initial_of(initial: Option<&Bound<'_, PyAny>>, n: usize, labels: usize) -> PyResult<Initial> {
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

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Simulation>()?;
    module.add_function(wrap_pyfunction!(simulate, module)?)
}
