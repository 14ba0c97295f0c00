//! Rolls arms forward under a policy.

use crate::arms::{arms, checked, form_of, slice};
use crate::border::{Number, Seed, Whole, array, check_shape, floats};
use crate::error::{check_memory, raise, wrong};
use crate::index::chain_of;
use crate::problems::{Each, Part, ProblemAxes};
use crate::rollouts::{self, Kept, Rule, initial_of, rule_of};
use crate::threads;
use crate::worlds::Rewards;
use ndarray::{Array1, s};
use numpy::{PyArray1, PyArray3, PyArrayMethods, PyUntypedArrayMethods};
use pyo3::prelude::*;
use restive::belief::{Motion, beliefs};
use restive::instance::Chain;
use restive::simulation::{Setting, trajectories, values};
use restive::{RewardView, check_discount};

/// Rollouts of a policy: what `simulate` returns.
#[pyclass(frozen, get_all, dict, module = "restive")]
struct Simulation {
    /// float64 [...,R]: the discounted reward of each rollout, over all arms and steps.
    values: Py<PyAny>,
    /// uint16 [...,R,H+1,N]: the states, or labels s*T + h where states are seen at pulls only; None unless asked for.
    state: Option<Py<PyAny>>,
    /// uint8 [...,R,H,N]: 1 for a pull; None unless asked for.
    action: Option<Py<PyAny>>,
    /// float64 [...,R,H,N]: the probability that the policy gave to each action; None unless asked for.
    propensity: Option<Py<PyAny>>,
}

#[pymethods]
impl Simulation {
    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let shape: Vec<usize> = self.values.bind(py).getattr("shape")?.extract()?;
        let (rollouts, problems) = shape.split_last().expect("[...,R]");
        Ok(match problems {
            [] => format!("<restive.Simulation of {rollouts} rollouts>"),
            _ => format!("<restive.Simulation of {problems:?} problems, {rollouts} rollouts each>"),
        })
    }
}

/// Rolls arms forward under a policy, many times.
///
/// At each of H steps the policy draws who is pulled, rewards are collected, and every arm moves by its own P, pulled or not.
/// Two policies with one seed meet the same noise, so that their values compare rollout by rollout.
///
/// Parameters
/// ----------
/// P : array, [N,M,2,M] or [N,4]; or [H,N,M,2,M] or [H,N,4]
///     Transition probabilities, as for `whittle_index`; of every step, where they change.
/// budget : int, or [...], one for each problem
///     The budget: arms that are pulled at each step, from 0 to N.
/// policy : "strict", "soft", "random", "round-robin", "no-action", or a function
///     The highest indices, as many as the budget; soft top-k of the indices; as many arms at random; in turn; nobody. A function
///     `policy(t, state)` sees the step and the states of all rollouts, uint16 [R,N], and answers for all of them: pulls, as booleans [R,N]
///     within the budget, or scores [R,N], of which the highest are pulled. Where there are problems it is asked for each of them in turn, and
///     told which: `policy(t, state, problem=b)`.
/// index : array, [N,M] (collapsing: [N,M*T]), for "strict" and "soft"; or [H,N,M]
///     Scores of the arms in each state, finite; usually `whittle_index(P).index`. Of every step, where they change:
///     `plan_prices(...).advantage` or `horizon_index(...).index`.
/// temperature : float, or [...], for "soft"
///     At least 0.
/// rewards : array, [M] or [M,2], or each arm's own, [N,M] or [N,M,2], optional
///     R(s) or R(s, a); by default linear.
/// discount : float, or [...]
///     From 0 to 1.
/// horizon : int
///     H, the number of decisions.
/// rollouts : int
///     R.
/// seed : int, or [...]
///     From 0 to 2^64 - 1. Problems with the same seed meet the same noise.
/// initial : integer array, [N] or [R,N], optional
///     The states (or labels) in which the arms start; rows are used in turn. By default uniform.
/// layout : "nsas" or "nass"
///     The order of the axes of P.
/// observation, chain : as for `whittle_index`
///     With "collapsing" and a number of beliefs, what moves are labels s*T + h.
/// keep_trajectories : bool
///     Whether to return states, actions and propensities too.
/// problems : int, or a tuple of them, optional
///     How many problems there are, or the shape of their axes. P, index, initial and rewards of each arm whose shapes begin with these axes hold one
///     part for each problem, and so do numbers that are arrays of that shape; all else is shared. What could be read either way (as many
///     problems as steps or rollouts) is refused: give it both axes.
///
/// Returns
/// -------
/// Simulation
///     `.values` [R]; and `.state` [R,H+1,N], `.action` [R,H,N], `.propensity` [R,H,N], or None. The axes of problems come first.
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
/// >>> def by_index(t, state):                     # the same policy as a function of one's own
/// ...     return index[np.arange(10), state]
/// >>> own = restive.simulate(P, 3, by_index, horizon=9, rollouts=200)
/// >>> bool((own.values == strict.values).all())
/// True
/// >>> run = restive.simulate(P, [1, 3, 5], "strict", index, horizon=9, rollouts=200, problems=3)
/// >>> run.values.shape, bool((run.values[1] == strict.values).all())
/// ((3, 200), True)
#[pyfunction]
#[pyo3(signature = (P, budget, policy=None, index=None, temperature=None, *, rewards=None, discount=Each::One(Number(0.99)), horizon=Whole(10), rollouts=Whole(100), seed=Each::One(Seed(0)), initial=None, layout="nsas", observation="full", chain=None, keep_trajectories=false, problems=None))]
#[pyo3(
    text_signature = "(P, budget, policy='strict', index=None, temperature=None, *, rewards=None, discount=0.99, horizon=10, rollouts=100, seed=0, initial=None, layout='nsas', observation='full', chain=None, keep_trajectories=False, problems=None)"
)]
#[expect(non_snake_case, reason = "P is how the literature and the users write it")]
fn simulate<'py>(
    py: Python<'py>,
    P: &Bound<'py, PyAny>,
    budget: Each<'py, Whole>,
    policy: Option<&Bound<'py, PyAny>>,
    index: Option<&Bound<'py, PyAny>>,
    temperature: Option<Each<'py, Number>>,
    rewards: Option<&Bound<'py, PyAny>>,
    discount: Each<'py, Number>,
    horizon: Whole,
    rollouts: Whole,
    seed: Each<'py, Seed>,
    initial: Option<&Bound<'py, PyAny>>,
    layout: &str,
    observation: &str,
    chain: Option<&Bound<'py, PyAny>>,
    keep_trajectories: bool,
    problems: Option<&Bound<'py, PyAny>>,
) -> PyResult<Simulation> {
    let most = u32::MAX as usize;
    let common = Common {
        horizon: horizon.between("horizon", 1, most)?,
        runs: rollouts.between("rollouts", 1, most)?,
        layout,
        length: match chain_of(observation, chain, None)? {
            None => None,
            Some(Chain::Finite(length)) => Some(length),
            Some(_) => return Err(wrong("chain", "a number of beliefs, in a simulation", "'infinite'")),
        },
        keep: keep_trajectories,
    };
    let Some(problems) = problems else {
        let asked = Asked {
            transition: P.clone(),
            budget: budget.alone("budget", "a whole number")?,
            policy: policy.cloned(),
            index: index.cloned(),
            temperature: temperature.map(|e| e.alone("temperature", "a number")).transpose()?,
            rewards: rewards.cloned(),
            discount: discount.alone("discount", "a number")?,
            seed: seed.alone("seed", "a whole number")?,
            initial: initial.cloned(),
        };
        return one(py, &asked, &common);
    };
    let problems = ProblemAxes::new(problems)?;
    let steps = common.horizon;
    let is_arm = |[s, a, t]: [usize; 3]| (s == t && a == 2) || (a == t && s == 2);
    let is_fit = |rest: &[usize]| match *rest {
        [_, 4] => true,
        [h, _, 4] => h == steps,
        [_, s, a, t] => is_arm([s, a, t]),
        [h, _, s, a, t] => h == steps && is_arm([s, a, t]),
        _ => false,
    };
    let each_step = "axes of problems and of steps";
    let transitions = problems.part("P", Some(P), is_fit, each_step)?;
    let shape = match &transitions {
        Part::Own(all) => all.get_item(0)?.getattr("shape")?.extract::<Vec<usize>>()?,
        Part::Shared(_) => array("P", P)?.shape().to_vec(),
    };
    let n = if matches!(shape.len(), 3 | 5) { shape[1] } else { shape.first().copied().unwrap_or(0) };
    let is_fit = |rest: &[usize]| match *rest {
        [a, _] => a == n,
        [h, a, _] => h == steps && a == n,
        _ => false,
    };
    let index = problems.part("index", index, is_fit, each_step)?;
    let m = if matches!(shape.len(), 2 | 3) { 2 } else { shape.last().copied().unwrap_or(0) };
    let is_fit = |rest: &[usize]| matches!(*rest, [a, s] | [a, s, 2] if a == n && s == m);
    let rewards = problems.part("rewards", rewards, is_fit, "R(s, a) of every arm of every problem")?;
    let runs = common.runs;
    let is_fit = |rest: &[usize]| match *rest {
        [a] => a == n,
        [r, a] => r == runs && a == n,
        _ => false,
    };
    let rows = "axes of problems and of rollouts";
    let initial = problems.part("initial", initial, is_fit, rows)?;
    let budgets = problems.numbers("budget", budget)?;
    let temperatures = temperature.map(|e| problems.numbers("temperature", e)).transpose()?;
    let discounts = problems.numbers("discount", discount)?;
    let seeds = problems.numbers("seed", seed)?;
    let mut answers = Vec::with_capacity(problems.count);
    for b in 0..problems.count {
        py.check_signals()?; // one that is over in a moment does not look
        let is_told = policy.is_some_and(|policy| policy.is_callable());
        let asked = Asked {
            transition: transitions.of(b)?.expect("there are arms"),
            budget: budgets[b],
            policy: policy.map(|f| if is_told { problems.told(f, b) } else { Ok(f.clone()) }).transpose()?,
            index: index.of(b)?,
            temperature: temperatures.as_ref().map(|all| all[b]),
            rewards: rewards.of(b)?,
            discount: discounts[b],
            seed: seeds[b],
            initial: initial.of(b)?,
        };
        answers.push(one(py, &asked, &common).map_err(|error| problems.named(py, b, error))?);
    }
    let stacked = |part: fn(&Simulation) -> Option<&Py<PyAny>>| {
        let parts: Option<Vec<Py<PyAny>>> =
            answers.iter().map(|answer| part(answer).map(|x| x.clone_ref(py))).collect();
        parts.map(|parts| problems.stacked(py, parts)).transpose()
    };
    Ok(Simulation {
        values: stacked(|answer| Some(&answer.values))?.expect("a problem at least"),
        state: stacked(|answer| answer.state.as_ref())?,
        action: stacked(|answer| answer.action.as_ref())?,
        propensity: stacked(|answer| answer.propensity.as_ref())?,
    })
}

/// What all problems share.
struct Common<'a> {
    horizon: usize,
    runs: usize,
    layout: &'a str,
    /// beliefs, where states are seen at pulls only
    length: Option<usize>,
    keep: bool,
}

/// One problem.
struct Asked<'py> {
    transition: Bound<'py, PyAny>,
    budget: Whole,
    policy: Option<Bound<'py, PyAny>>,
    index: Option<Bound<'py, PyAny>>,
    temperature: Option<Number>,
    rewards: Option<Bound<'py, PyAny>>,
    discount: Number,
    seed: Seed,
    initial: Option<Bound<'py, PyAny>>,
}

/// The rollouts of one problem.
fn one(py: Python<'_>, asked: &Asked<'_>, common: &Common<'_>) -> PyResult<Simulation> {
    let &Common { horizon, runs, layout, length, keep } = common;
    check_discount(asked.discount.0).map_err(raise)?;
    let raw = floats("P", &asked.transition)?;
    let shape = raw.shape().to_vec();
    // arms of every step are arms one after the other
    let (steps, flat) = match *shape {
        [h, n, 4] => (Some(h), vec![h * n, 4]),
        [h, n, s, a, t] => (Some(h), vec![h * n, s, a, t]),
        _ => (None, shape.clone()),
    };
    let (form, m) = form_of(&flat, layout)?;
    let transition = checked(py, raw.reshape(flat)?.readonly(), form, m)?;
    let n = if steps.is_some() { shape[1] } else { shape[0] };
    check_shape("P", "at least one arm", &shape, n > 0)?;
    let budget = asked.budget.between("budget", 0, n)?;
    if let Some(found) = steps.filter(|steps| *steps != horizon) {
        return Err(wrong(
            "P",
            &format!("transitions of each of the {horizon} steps"),
            format_args!("those of {found}"),
        ));
    }
    let rewards = Rewards::of_arms(asked.rewards.as_ref(), m, 2, &[n])?;
    let labels = m.saturating_mul(length.unwrap_or(1));
    if labels >= usize::from(u16::MAX) {
        return Err(wrong("chain", "fewer than 65535 states or labels", labels));
    }
    check_memory("beliefs", &[n, labels, m])?;
    let rule = rule_of(asked.policy.as_ref(), asked.index.as_ref(), asked.temperature, n, labels, horizon)?;
    let initial = initial_of(asked.initial.as_ref(), n, labels)?;
    check_memory("values", &[runs])?;
    if keep {
        check_memory("trajectories", &[runs, horizon + 1, n, 2])?;
    }
    let p = arms(slice(&transition), m);
    if steps.is_some() && length.is_some() {
        return Err(wrong(
            "observation",
            "'full' where transitions change from step to step",
            "'collapsing'",
        ));
    }
    let (discount, seed) = (asked.discount.0, asked.seed.0);
    let policy = match &rule {
        Rule::Known(policy) if steps.is_none() => policy,
        _ if length.is_some() => {
            return Err(wrong(
                "observation",
                "'full' for policies that change or are functions",
                "'collapsing'",
            ));
        }
        _ => {
            let moves = |t: usize| match steps {
                Some(_) => p.slice_move(s![t * n..(t + 1) * n, .., .., ..]),
                None => p,
            };
            let setting =
                Setting { motion: moves(0).into(), reward: rewards.view(), discount, budget, horizon };
            let (values, kept) = rollouts::roll(py, &setting, moves, &initial, &rule, runs, seed, keep)?;
            return Ok(Simulation::new(py, values, kept));
        }
    };
    let (values, log) = threads::run(py, || {
        let belief = length.map(|length| beliefs(p, length).belief);
        let own = belief.as_ref().map(|belief| belief.reward_of_each(rewards.of_each(n)));
        let setting = Setting {
            motion: belief.as_ref().map_or(Motion::from(p), Motion::from),
            reward: own.as_ref().map_or(rewards.view(), |own| RewardView::by_arm(own.view())),
            discount,
            budget,
            horizon,
        };
        let values: Array1<f64> = values(&setting, &initial, policy, runs, seed);
        let log = keep.then(|| trajectories(&setting, &initial, policy, runs, seed));
        (values, log)
    })?;
    let decided = s![.., ..horizon, ..];
    let kept = log.map(|log| Kept {
        state: log.state().to_owned(),
        action: log.action().slice(decided).to_owned(),
        propensity: log.propensity().expect("simulated").slice(decided).to_owned(),
    });
    Ok(Simulation::new(py, values, kept))
}

impl Simulation {
    fn new(py: Python<'_>, values: Array1<f64>, kept: Option<Kept>) -> Self {
        let (state, action, propensity) = match kept {
            Some(kept) => (
                Some(PyArray3::from_owned_array(py, kept.state).into_any().unbind()),
                Some(PyArray3::from_owned_array(py, kept.action).into_any().unbind()),
                Some(PyArray3::from_owned_array(py, kept.propensity).into_any().unbind()),
            ),
            None => (None, None, None),
        };
        let values = PyArray1::from_owned_array(py, values).into_any().unbind();
        Self { values, state, action, propensity }
    }
}

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Simulation>()?;
    module.add_function(wrap_pyfunction!(simulate, module)?)
}
