//! Arms with more than two actions: the prices at which best actions change, the Lagrangian policy, and the ways back.

use crate::arms::slice;
use crate::border::{Number, check_finite, check_shape, floats};
use crate::error::wrong;
use crate::threads;
use crate::worlds::{Cotangents, Discounts, Rewards, World, mass_of, shaped, statuses};
use ndarray::{Array1, Array2, ArrayView3};
use numpy::{
    PyArray1, PyArray2, PyArray3, PyArrayDyn, PyArrayMethods, PyReadonlyArrayDyn, PyUntypedArrayMethods,
};
use pyo3::prelude::*;
use restive::index::actions::{ActionCotangent, Actions};

static THRESHOLDS: Cotangents = Cotangents::new();
static LAGRANGIAN: Cotangents = Cotangents::new();
static CHANGES: Cotangents = Cotangents::new();

/// Arms with actions, as they were given.
struct Given {
    world: World,
    rewards: Rewards,
    discounts: Discounts,
    costs: Vec<f64>,
}

impl Given {
    #[expect(non_snake_case, reason = "P is how the literature and the users write it")]
    fn new<'py>(
        py: Python<'py>,
        P: &Bound<'py, PyAny>,
        costs: &Bound<'py, PyAny>,
        rewards: Option<&Bound<'py, PyAny>>,
        discount: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Self> {
        let world = World::with_actions(py, P)?;
        let rewards = Rewards::new(rewards, &world)?;
        let discounts = Discounts::new(discount, 0.99, &world)?;
        let found = floats("costs", costs)?;
        check_shape(
            "costs",
            &format!("[{}], one for each action", world.a),
            found.shape(),
            found.shape() == [world.a],
        )?;
        check_finite("costs", slice(&found), found.shape())?;
        let costs = slice(&found).to_vec();
        if costs[0] != 0.0 || costs.windows(2).any(|pair| pair[0] >= pair[1]) {
            return Err(wrong(
                "costs",
                "0 for the first action and more for each one after it",
                format_args!("{costs:?}"),
            ));
        }
        Ok(Self { world, rewards, discounts, costs })
    }

    fn arms<'a>(&'a self, transition: &'a PyReadonlyArrayDyn<'_, f64>) -> Actions<'a> {
        Actions {
            transition: self.world.view(transition),
            reward: self.rewards.values.view(),
            cost: &self.costs,
            discount: &self.discounts.values,
        }
    }
}

/// The prices at which best actions change, and the way back: what `action_index` returns.
///
/// It keeps the array of transitions that it was given, not a copy: do not change that array before the last `pullback`.
#[pyclass(frozen, dict, module = "restive")]
struct ActionIndices {
    given: Given,
    /// float64 [...,N,M,A-1]: at k - 1 the smallest price at which the best action of the state costs less than action k. NaN where it could
    /// not be determined (`status`).
    #[pyo3(get)]
    threshold: Py<PyAny>,
    /// float64 [...,N,M,A-1]: the price from which it does for good; `threshold` itself where the arm is indexable.
    #[pyo3(get)]
    last: Py<PyAny>,
    /// bool [...,N]: whether the cost of no state's best action ever rises with the price. False also where that is not known.
    #[pyo3(get)]
    is_indexable: Py<PyAny>,
    /// float64 [...,N]: an estimate of the relative error of the arm's thresholds; NaN where they are undetermined.
    #[pyo3(get)]
    residual: Py<PyAny>,
    /// str [...,N]: "exact", "ill-conditioned" (see `residual`) or "undetermined".
    #[pyo3(get)]
    status: Py<PyAny>,
    /// All changes, by arm and price, as named arrays of one length: (arm, state, action, price): from that price on the action is best.
    /// Below an arm's first change the costliest action is best in every state. Arms of a batch are counted through.
    #[pyo3(get)]
    changes: Py<PyAny>,
}

/// Indices of arms with any number of actions of different costs: the prices at which a state's best action changes.
///
/// Action a earns R(s, a) less the price times its cost. At a low price the costliest action is best, at a high one that which is free; all
/// prices between at which some state changes its mind are found, exactly. With two actions of costs 0 and 1 the thresholds are
/// Whittle indices.
///
/// Parameters
/// ----------
/// P : array, [...,N,M,A,M]
///     Transition probabilities P(state, action, next state); leading axes are batches.
/// costs : array, [A]
///     0, and then more and more.
/// rewards : array, optional
///     R(s) [M] or R(s, a) [M,A], shared by all arms; or each arm's own, [...,N,M] or [...,N,M,A]. By default linear: s/(M-1).
/// discount : float or array [...,N]
///     From 0 to 1; 1 is the average reward per step.
///
/// Returns
/// -------
/// ActionIndices
///     `.threshold` [...,N,M,A-1], `.last`, `.is_indexable` [...,N], `.residual`, `.status`, `.changes`, `.pullback(d_threshold)` and
///     `.pullback_all(d_threshold)`.
///
/// Examples
/// --------
/// >>> import numpy as np, restive
/// >>> P = np.array([[[[0.9, 0.1], [0.7, 0.3], [0.3, 0.7]],     # in state 0: nothing, a message, a visit
/// ...                [[0.5, 0.5], [0.4, 0.6], [0.3, 0.7]]]])
/// >>> indices = restive.action_index(P, [0.0, 1.0, 4.0], discount=0.9)
/// >>> indices.threshold[0].round(5)
/// array([[0.28125, 0.17143],
///        [0.10976, 0.03   ]])
/// >>> indices.is_indexable
/// array([ True])
#[pyfunction]
#[pyo3(signature = (P, costs, rewards=None, discount=None))]
#[pyo3(text_signature = "(P, costs, rewards=None, discount=0.99)")]
#[expect(non_snake_case, reason = "P is how the literature and the users write it")]
fn action_index<'py>(
    py: Python<'py>,
    P: &Bound<'py, PyAny>,
    costs: &Bound<'py, PyAny>,
    rewards: Option<&Bound<'py, PyAny>>,
    discount: Option<&Bound<'py, PyAny>>,
) -> PyResult<ActionIndices> {
    let given = Given::new(py, P, costs, rewards, discount)?;
    let transition = given.world.read(py)?;
    let arms = given.arms(&transition);
    let solved = threads::run(py, || arms.index())?;
    let axes = given.world.axes();
    let shape = [axes, &[given.world.m, given.world.a - 1]].concat();
    let changes = || solved.changes.iter().enumerate().flat_map(|(i, each)| each.iter().map(move |c| (i, c)));
    let whole = |numbers: Vec<i64>| PyArray1::from_vec(py, numbers).into_any();
    let changes = CHANGES.of(
        py,
        vec![
            whole(changes().map(|(i, _)| i as i64).collect()),
            whole(changes().map(|(_, change)| change.state as i64).collect()),
            whole(changes().map(|(_, change)| change.action as i64).collect()),
            PyArray1::from_vec(py, changes().map(|(_, change)| change.price).collect()).into_any(),
        ],
    )?;
    let is_indexable = PyArrayDyn::from_owned_array(py, solved.is_indexable.into_dyn());
    let is_indexable = is_indexable.reshape(axes)?.into_any().unbind();
    Ok(ActionIndices {
        threshold: shaped(py, solved.threshold.into_raw_vec_and_offset().0, &shape)?.unbind(),
        last: shaped(py, solved.last.into_raw_vec_and_offset().0, &shape)?.unbind(),
        is_indexable,
        residual: shaped(py, solved.residual.to_vec(), axes)?.unbind(),
        status: statuses(py, &solved.status, axes)?,
        changes: changes.unbind(),
        given,
    })
}

#[pymethods]
impl ActionIndices {
    /// What a cotangent of the thresholds (in their shape) becomes on the transitions, in the shape of P: its rows sum to zero.
    fn pullback<'py>(&self, py: Python<'py>, d_threshold: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let d = self.back(py, d_threshold)?;
        self.given.world.cotangent(py, d.d_transition)
    }

    /// The same for all inputs: (d_P, d_costs, d_rewards, d_discount), in the shapes in which they were given.
    fn pullback_all<'py>(
        &self,
        py: Python<'py>,
        d_threshold: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let d = self.back(py, d_threshold)?;
        let parts = vec![
            self.given.world.cotangent(py, d.d_transition)?,
            PyArray1::from_vec(py, d.d_cost).into_any(),
            self.given.rewards.cotangent(py, d.d_reward)?,
            self.given.discounts.cotangent(py, &d.d_discount)?,
        ];
        THRESHOLDS.of(py, parts)
    }

    fn __repr__(&self) -> String {
        let World { n, a, .. } = self.given.world;
        format!("<restive.ActionIndices of {n} arms with {a} actions>")
    }
}

impl ActionIndices {
    fn back<'py>(&self, py: Python<'py>, d_threshold: &Bound<'py, PyAny>) -> PyResult<ActionCotangent> {
        let World { n, m, a, .. } = self.given.world;
        let cotangent = floats("d_threshold", d_threshold)?;
        let shape = [self.given.world.axes(), &[m, a - 1]].concat();
        check_shape(
            "d_threshold",
            &format!("shape {shape:?}"),
            cotangent.shape(),
            cotangent.shape() == shape,
        )?;
        let transition = self.given.world.read(py)?;
        let d_threshold = ArrayView3::from_shape((n, m, a - 1), slice(&cotangent)).expect("as many numbers");
        let arms = self.given.arms(&transition);
        threads::run(py, || arms.pullback(d_threshold))
    }
}

/// One price for all arms, and what every action is worth at it: what `lagrangian_policy` returns.
#[pyclass(frozen, dict, module = "restive")]
struct LagrangianPolicy {
    given: Given,
    initial: Array2<f64>,
    budget: f64,
    /// The price of a unit of cost at which the arms are expected to cost the budget; 0 where it does not bind.
    #[pyo3(get)]
    price: f64,
    /// Per step, what no policy within the budget exceeds.
    #[pyo3(get)]
    bound: f64,
    /// float64 [N]: what each arm is expected to cost per step just above the price.
    #[pyo3(get)]
    spent: Py<PyArray1<f64>>,
    /// float64 [N,M,A]: Q(s, a) - Q(s, 0) at the price, costs included: positive where an action pays.
    #[pyo3(get)]
    advantage: Py<PyArray3<f64>>,
    /// The arm whose change of policy sets the price; None where the price is 0.
    #[pyo3(get)]
    marginal: Option<usize>,
}

/// The Lagrangian policy: the price at which what all arms cost equals the budget, and what every action is worth at it.
///
/// It needs no indexability: where `action_index` has no verdict to rely on, rank actions by `advantage`.
///
/// Parameters
/// ----------
/// P : array, [N,M,A,M]
/// costs : array, [A]
///     0, and then more and more.
/// initial : integer array [N], or array [N,M]
///     The states in which the arms are, or a distribution for each.
/// budget : float
///     Cost per step, at least 0.
/// rewards, discount : as for `action_index`
///
/// Returns
/// -------
/// LagrangianPolicy
///     `.price`, `.bound`, `.spent` [N], `.advantage` [N,M,A], `.marginal` and `.pullback(d_bound, d_advantage)`. All are NaN where, at a discount
///     of 1, an arm has several recurrent classes.
///
/// Examples
/// --------
/// >>> import numpy as np, restive
/// >>> P = np.tile(np.array([[[0.9, 0.1], [0.7, 0.3], [0.3, 0.7]], [[0.5, 0.5], [0.4, 0.6], [0.3, 0.7]]]), (8, 1, 1, 1))
/// >>> found = restive.lagrangian_policy(P, [0.0, 1.0, 4.0], np.zeros(8, int), budget=4.0, discount=0.9)
/// >>> round(found.price, 5), bool(found.spent.sum() <= 4.0)
/// (0.28125, True)
#[pyfunction]
#[pyo3(signature = (P, costs, initial, budget, rewards=None, discount=None))]
#[pyo3(text_signature = "(P, costs, initial, budget, rewards=None, discount=0.99)")]
#[expect(non_snake_case, reason = "P is how the literature and the users write it")]
fn lagrangian_policy<'py>(
    py: Python<'py>,
    P: &Bound<'py, PyAny>,
    costs: &Bound<'py, PyAny>,
    initial: &Bound<'py, PyAny>,
    budget: Number,
    rewards: Option<&Bound<'py, PyAny>>,
    discount: Option<&Bound<'py, PyAny>>,
) -> PyResult<LagrangianPolicy> {
    let mut given = Given::new(py, P, costs, rewards, discount)?;
    given.world = given.world.alone()?;
    let initial = mass_of(initial, given.world.n, given.world.m)?;
    let budget = budget.0;
    if !(budget >= 0.0 && budget.is_finite()) {
        return Err(wrong("budget", "a number of at least 0", budget));
    }
    let transition = given.world.read(py)?;
    let arms = given.arms(&transition);
    let found = threads::run(py, || arms.lagrangian(initial.view(), budget))?;
    let spent: Array1<f64> = found.spent;
    Ok(LagrangianPolicy {
        price: found.price,
        bound: found.bound,
        spent: PyArray1::from_owned_array(py, spent).unbind(),
        advantage: PyArray3::from_owned_array(py, found.advantage).unbind(),
        marginal: found.marginal,
        given,
        initial,
        budget,
    })
}

#[pymethods]
impl LagrangianPolicy {
    /// What cotangents of the bound and of the advantages become, the price being held.
    ///
    /// For the bound this is its derivative (at a minimum the price moves nothing), up to the arms at the margin; advantages feel the price,
    /// which is left out: whoever wants it takes the gradient of the threshold of the marginal arm, with `d_price`.
    ///
    /// Returns
    /// -------
    /// LagrangianCotangents
    ///     Named: (d_P, d_costs, d_initial, d_budget, d_rewards, d_discount, d_price); d_initial is [N,M].
    #[pyo3(signature = (d_bound=Number(1.0), d_advantage=None), text_signature = "($self, d_bound=1.0, d_advantage=None)")]
    fn pullback<'py>(
        &self,
        py: Python<'py>,
        d_bound: Number,
        d_advantage: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let World { n, m, a, .. } = self.given.world;
        let cotangent = d_advantage.map(|d| floats("d_advantage", d)).transpose()?;
        if let Some(found) = &cotangent {
            check_shape(
                "d_advantage",
                &format!("[{n}, {m}, {a}]"),
                found.shape(),
                found.shape() == [n, m, a],
            )?;
        }
        let d_advantage =
            cotangent.as_ref().map(|d| ArrayView3::from_shape((n, m, a), slice(d)).expect("as many numbers"));
        let transition = self.given.world.read(py)?;
        let (arms, initial) = (self.given.arms(&transition), self.initial.view());
        let d = threads::run(py, || {
            arms.lagrangian_pullback(initial, self.budget, self.price, d_bound.0, d_advantage)
        })?;
        let parts = vec![
            self.given.world.cotangent(py, d.d_transition)?,
            PyArray1::from_vec(py, d.d_cost).into_any(),
            PyArray2::from_owned_array(py, d.d_initial).into_any(),
            d.d_budget.into_pyobject(py)?.into_any(),
            self.given.rewards.cotangent(py, d.d_reward)?,
            self.given.discounts.cotangent(py, &d.d_discount)?,
            d.d_price.into_pyobject(py)?.into_any(),
        ];
        LAGRANGIAN.of(py, parts)
    }

    fn __repr__(&self) -> String {
        format!("<restive.LagrangianPolicy price {}, bound {}>", self.price, self.bound)
    }
}

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    THRESHOLDS.register(module, "ActionCotangents", &["d_P", "d_costs", "d_rewards", "d_discount"])?;
    let fields = ["d_P", "d_costs", "d_initial", "d_budget", "d_rewards", "d_discount", "d_price"];
    LAGRANGIAN.register(module, "LagrangianCotangents", &fields)?;
    CHANGES.register(module, "Changes", &["arm", "state", "action", "price"])?;
    module.add_class::<ActionIndices>()?;
    module.add_class::<LagrangianPolicy>()?;
    module.add_function(wrap_pyfunction!(action_index, module)?)?;
    module.add_function(wrap_pyfunction!(lagrangian_policy, module)?)
}
