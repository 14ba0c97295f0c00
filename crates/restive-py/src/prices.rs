//! Prices for the pulls of a programme that ends, the bound that they certify, what a pull is worth beside them, and the way back.

use crate::arms::slice;
use crate::border::{Number, Whole, check_shape, floats};
use crate::error::{check_memory, raise, wrong};
use crate::threads;
use crate::worlds::{Cotangents, Rewards, World, ending_of, mass_of};
use ndarray::{Array2, ArrayView3};
use numpy::{PyArray1, PyArray2, PyArray3, PyUntypedArrayMethods};
use pyo3::prelude::*;
use restive::check_discount;
use restive::planning::{self, Ending, Programme, pullback};

static COTANGENTS: Cotangents = Cotangents::new();

/// Prices, their bound and the advantages beside them: what `plan_prices` returns.
///
/// It keeps the array of transitions that it was given, not a copy: do not change that array before the last `pullback`.
#[pyclass(frozen, dict, module = "restive")]
struct PlanPrices {
    world: World,
    rewards: Rewards,
    initial: Array2<f64>,
    budget: f64,
    horizon: usize,
    discount: f64,
    ending: Ending,
    prices: Array2<f64>,
    /// float64 [H]: what a pull costs at each step, in units of the reward; at least 0.
    #[pyo3(get)]
    price: Py<PyArray1<f64>>,
    /// What no policy of at most `budget` pulls a step exceeds in expectation: the dual at these prices.
    #[pyo3(get)]
    bound: f64,
    /// float64 [H,N,M]: what a pull is worth at each step in each state, later pulls being paid for: the scores of a plan.
    #[pyo3(get)]
    advantage: Py<PyArray3<f64>>,
    /// Whether the search for prices ended by itself; prices and bound are valid in any case.
    #[pyo3(get)]
    is_converged: bool,
}

/// Prices of the pulls of a programme of H decisions: a plan's scores, and a bound on every policy.
///
/// A pull at step t is priced by λ_t >= 0, which makes every arm a problem of its own. The dual at any prices bounds what any policy can
/// reach; these are nearly those with the smallest bound. The plan pulls, at step t, the arms with the largest advantage in their
/// states: `simulate(P, budget, "strict", prices.advantage, horizon=H)`.
///
/// Parameters
/// ----------
/// P : array, [N,M,2,M] or [N,4]
///     Transition probabilities, as for `whittle_index`.
/// initial : integer array [N], or array [N,M]
///     The states in which the arms are, or a distribution for each.
/// budget : float
///     Pulls per step, at least 0; need not be whole.
/// horizon : int
///     H.
/// rewards : array, optional
///     [M], [M,2], or each arm's own, [N,M] or [N,M,2]; by default linear.
/// discount : float
///     Of the value; from 0 to 1.
/// ending : "nothing" or "state"
///     What the state after the last decision counts for: nothing, or R(s, passive).
///
/// Returns
/// -------
/// PlanPrices
///     `.price` [H], `.bound`, `.advantage` [H,N,M], `.is_converged` and `.pullback(d_bound, d_advantage)`.
///
/// Examples
/// --------
/// >>> import numpy as np, restive
/// >>> P = np.tile([[0.2, 0.8, 0.5, 0.9]], (10, 1))
/// >>> plan = restive.plan_prices(P, np.zeros(10, int), budget=2, horizon=5)
/// >>> plan.advantage.shape, float(plan.price[-1])       # a last pull changes nothing that counts
/// ((5, 10, 2), 0.0)
/// >>> run = restive.simulate(P, 2, "strict", plan.advantage, discount=1.0, horizon=5, initial=np.zeros(10, int), rollouts=20000)
/// >>> bool(abs(run.values.mean() / plan.bound - 1) < 0.01)       # the plan comes close to what nobody exceeds
/// True
#[pyfunction]
#[pyo3(signature = (P, initial, budget, horizon, rewards=None, discount=Number(1.0), ending="nothing"))]
#[pyo3(text_signature = "(P, initial, budget, horizon, rewards=None, discount=1.0, ending='nothing')")]
#[expect(non_snake_case, reason = "P is how the literature and the users write it")]
fn plan_prices<'py>(
    py: Python<'py>,
    P: &Bound<'py, PyAny>,
    initial: &Bound<'py, PyAny>,
    budget: Number,
    horizon: Whole,
    rewards: Option<&Bound<'py, PyAny>>,
    discount: Number,
    ending: &str,
) -> PyResult<PlanPrices> {
    let world = World::new(py, P)?.alone()?;
    check_discount(discount.0).map_err(raise)?;
    let rewards = Rewards::new(rewards, &world)?;
    let initial = mass_of(initial, world.n, world.m)?;
    let horizon = horizon.between("horizon", 1, i32::MAX as usize)?;
    if !(budget.0 >= 0.0 && budget.0.is_finite()) {
        return Err(wrong("budget", "a number of at least 0", budget.0));
    }
    check_memory("advantage", &[horizon, world.n, world.m])?;
    let (budget, discount, ending) = (budget.0, discount.0, ending_of(ending)?);
    let transition = world.read(py)?;
    let budgets = [budget];
    let programme = Programme {
        motion: world.view(&transition).into(),
        reward: rewards.view(),
        discount,
        horizon,
        ending,
        group: None,
        budget: &budgets,
        presence: None,
    };
    let (found, advantage) = threads::run(py, || {
        let found = planning::prices(&programme, initial.view());
        let advantage = planning::advantages(&programme, found.price.view());
        (found, advantage)
    })?;
    Ok(PlanPrices {
        price: PyArray1::from_owned_array(py, found.price.row(0).to_owned()).unbind(),
        bound: found.bound,
        advantage: PyArray3::from_owned_array(py, advantage).unbind(),
        is_converged: found.is_converged[0],
        prices: found.price,
        world,
        rewards,
        initial,
        budget,
        horizon,
        discount,
        ending,
    })
}

#[pymethods]
impl PlanPrices {
    /// What cotangents of the bound and of the advantages become, the prices being held.
    ///
    /// At a minimum of the dual the prices do not move the bound to first order: for the bound this is the derivative of the smallest bound,
    /// up to the arms at the margin, which the dual's corner leaves between two policies. Advantages feel the prices; that part is left
    /// out here (in our trials the gradient of a plan had a cosine of 0.998 with the full one), and `d_price` says how large it would be.
    ///
    /// Parameters
    /// ----------
    /// d_bound : float
    /// d_advantage : array [H,N,M], optional
    ///
    /// Returns
    /// -------
    /// PlanCotangents
    ///     Named: (d_P, d_initial, d_budget, d_rewards, d_discount, d_price); d_initial is [N,M], d_price [H].
    #[pyo3(signature = (d_bound=Number(1.0), d_advantage=None), text_signature = "($self, d_bound=1.0, d_advantage=None)")]
    fn pullback<'py>(
        &self,
        py: Python<'py>,
        d_bound: Number,
        d_advantage: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let shape = [self.horizon, self.world.n, self.world.m];
        let cotangent = d_advantage.map(|d| floats("d_advantage", d)).transpose()?;
        if let Some(found) = &cotangent {
            check_shape("d_advantage", &format!("shape {shape:?}"), found.shape(), found.shape() == shape)?;
        }
        let d_advantage =
            cotangent.as_ref().map(|d| ArrayView3::from_shape(shape, slice(d)).expect("as many numbers"));
        let transition = self.world.read(py)?;
        let budgets = [self.budget];
        let programme = Programme {
            motion: self.world.view(&transition).into(),
            reward: self.rewards.view(),
            discount: self.discount,
            horizon: self.horizon,
            ending: self.ending,
            group: None,
            budget: &budgets,
            presence: None,
        };
        let (initial, price) = (self.initial.view(), self.prices.view());
        let d = threads::run(py, || pullback(&programme, initial, price, 0.0, d_bound.0, d_advantage))?;
        let parts = vec![
            self.world.cotangent(py, d.d_transition)?,
            PyArray2::from_owned_array(py, d.d_initial).into_any(),
            d.d_budget[0].into_pyobject(py)?.into_any(),
            self.rewards.cotangent(py, d.d_reward)?,
            d.d_discount.into_pyobject(py)?.into_any(),
            PyArray1::from_owned_array(py, d.d_price.row(0).to_owned()).into_any(),
        ];
        COTANGENTS.of(py, parts)
    }

    fn __repr__(&self) -> String {
        format!("<restive.PlanPrices of {} steps, bound {}>", self.horizon, self.bound)
    }
}

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let fields = ["d_P", "d_initial", "d_budget", "d_rewards", "d_discount", "d_price"];
    COTANGENTS.register(module, "PlanCotangents", &fields)?;
    module.add_class::<PlanPrices>()?;
    module.add_function(wrap_pyfunction!(plan_prices, module)?)
}
