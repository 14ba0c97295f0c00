//! Prices for the pulls of a programme that ends, the bound that they certify, what a pull is worth beside them, and the way back.

use crate::arms::slice;
use crate::border::{Number, Whole, check_shape, floats};
use crate::error::{check_memory, raise, wrong};
use crate::threads;
use crate::worlds::{Cotangents, LARGEST, Rewards, World, ending_of, mass_of};
use ndarray::{Array2, ArrayView2, ArrayView3};
use numpy::{PyArray1, PyArray2, PyArray3, PyReadonlyArrayDyn, PyUntypedArrayMethods};
use pyo3::prelude::*;
use restive::check_discount;
use restive::planning::{self, Ending, Programme, SmoothPrices, pullback, smooth_prices};

static COTANGENTS: Cotangents = Cotangents::new();

/// A programme as it was asked for.
struct Asked {
    world: World,
    rewards: Rewards,
    initial: Array2<f64>,
    budget: [f64; 1],
    horizon: usize,
    discount: f64,
    ending: Ending,
}

impl Asked {
    fn programme<'a>(&'a self, transition: &'a PyReadonlyArrayDyn<'_, f64>) -> Programme<'a> {
        Programme {
            motion: self.world.view(transition).into(),
            reward: self.rewards.view(),
            discount: self.discount,
            horizon: self.horizon,
            ending: self.ending,
            group: None,
            budget: &self.budget,
            presence: None,
        }
    }
}

/// Prices beside a corner, `[1,H]`; or at a temperature, with a derivative of their own.
enum Found {
    Held(Array2<f64>),
    Smooth(SmoothPrices),
}

/// Prices, their bound and the advantages beside them: what `plan_prices` returns.
///
/// It keeps the array of transitions that it was given, not a copy: do not change that array before the last `pullback`.
#[pyclass(frozen, dict, module = "restive")]
struct PlanPrices {
    asked: Asked,
    found: Found,
    /// float64 [H]: what a pull costs at each step, in units of the reward; at least 0.
    #[pyo3(get)]
    price: Py<PyArray1<f64>>,
    /// What no policy of at most `budget` pulls a step exceeds in expectation: the dual at these prices, smoothed where there is a temperature.
    #[pyo3(get)]
    bound: f64,
    /// float64 [H,N,M]: what a pull is worth at each step in each state, later pulls being paid for: the scores of a plan.
    #[pyo3(get)]
    advantage: Py<PyArray3<f64>>,
    /// Whether the search for prices ended by itself; the bound is valid in any case. At a temperature also whether there is only one such list of
    /// prices: where it is so low that no arm is near a price there are many, and no derivative but the bound's. (Steps that a discount of 0 makes
    /// weigh nothing have the price 0.)
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
/// temperature : float, optional
///     Above 0, in units of the reward: every choice between a pull and none is softened, and the prices are those with the smallest bound that is
///     softened so, to the last digits. Prices, bound (above the sharp one by at most temperature * ln 2 for each arm and step) and advantages
///     then have full derivatives; a hundredth of the range of the rewards is a good start. Budgets are above 0 then.
///
/// Returns
/// -------
/// PlanPrices
///     `.price` [H], `.bound`, `.advantage` [H,N,M], `.is_converged` and `.pullback(d_bound, d_advantage, d_price)`.
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
/// >>> smooth = restive.plan_prices(P, np.zeros(10, int), budget=2, horizon=5, temperature=0.01)
/// >>> by_first_price = smooth.pullback(0.0, d_price=[1, 0, 0, 0, 0])
/// >>> bool(by_first_price.d_budget < 0)                           # with more places a pull costs less
/// True
#[pyfunction]
#[pyo3(signature = (P, initial, budget, horizon, rewards=None, discount=Number(1.0), ending="nothing", *, temperature=None))]
#[pyo3(
    text_signature = "(P, initial, budget, horizon, rewards=None, discount=1.0, ending='nothing', *, temperature=None)"
)]
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
    temperature: Option<Number>,
) -> PyResult<PlanPrices> {
    let world = World::new(py, P)?.alone()?;
    check_discount(discount.0).map_err(raise)?;
    let rewards = Rewards::new(rewards, &world)?;
    let initial = mass_of(initial, world.n, world.m)?;
    let horizon = horizon.between("horizon", 1, i32::MAX as usize)?;
    if !(budget.0 >= 0.0 && budget.0.is_finite()) {
        return Err(wrong("budget", "a number of at least 0", budget.0));
    }
    if let Some(temperature) = &temperature {
        if !(temperature.0 > 0.0 && temperature.0 <= LARGEST) {
            return Err(wrong("temperature", "a number above 0, up to 1e100, or none", temperature.0));
        }
        if budget.0 == 0.0 {
            return Err(wrong("budget", "a number above 0 where there is a temperature", budget.0));
        }
        check_memory("slopes of prices", &[horizon, world.m, horizon])?;
    }
    check_memory("advantage", &[horizon, world.n, world.m])?;
    let ending = ending_of(ending)?;
    let asked = Asked { world, rewards, initial, budget: [budget.0], horizon, discount: discount.0, ending };
    let transition = asked.world.read(py)?;
    let programme = asked.programme(&transition);
    let start = asked.initial.view();
    let (found, bound, advantage, is_converged) = threads::run(py, || match &temperature {
        None => {
            let found = planning::prices(&programme, start);
            let advantage = planning::advantages(&programme, found.price.view());
            (Found::Held(found.price), found.bound, advantage, found.is_converged[0])
        }
        Some(temperature) => {
            let mut found = smooth_prices(&programme, start, temperature.0);
            let advantage = std::mem::take(&mut found.advantage);
            let (bound, is_converged) = (found.bound, found.is_converged);
            (Found::Smooth(found), bound, advantage, is_converged)
        }
    })?;
    drop(transition);
    let price = match &found {
        Found::Held(price) => price.row(0).to_owned(),
        Found::Smooth(found) => found.price.row(0).to_owned(),
    };
    Ok(PlanPrices {
        price: PyArray1::from_owned_array(py, price).unbind(),
        bound,
        advantage: PyArray3::from_owned_array(py, advantage).unbind(),
        is_converged,
        found,
        asked,
    })
}

#[pymethods]
impl PlanPrices {
    /// What cotangents of the bound, of the advantages and, at a temperature, of the prices become.
    ///
    /// With a temperature this is the whole derivative, prices and all. Without one the prices are held. At a minimum of the dual they do not
    /// move the bound to first order: for the bound this is the derivative of the smallest bound,
    /// up to the arms at the margin, which the dual's corner leaves between two policies. Advantages feel the prices; that part is left
    /// out then (in our trials the gradient of a plan had a cosine of 0.998 with the full one), and `d_price` says how large it would be.
    ///
    /// Parameters
    /// ----------
    /// d_bound : float
    /// d_advantage : array [H,N,M], optional
    /// d_price : array [H], optional
    ///     Where the prices were found at a temperature: those beside a corner have no derivative.
    ///
    /// Returns
    /// -------
    /// PlanCotangents
    ///     Named: (d_P, d_initial, d_budget, d_rewards, d_discount, d_price, d_temperature); d_initial is [N,M]. d_price [H] is what is left out, 0
    ///     at a temperature; d_temperature is 0 without one.
    #[pyo3(signature = (d_bound=Number(1.0), d_advantage=None, d_price=None), text_signature = "($self, d_bound=1.0, d_advantage=None, d_price=None)")]
    fn pullback<'py>(
        &self,
        py: Python<'py>,
        d_bound: Number,
        d_advantage: Option<&Bound<'py, PyAny>>,
        d_price: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let Asked { world, rewards, horizon, .. } = &self.asked;
        let by_advantage = cotangent("d_advantage", d_advantage, &[*horizon, world.n, world.m])?;
        let by_price = cotangent("d_price", d_price, &[*horizon])?;
        let d_advantage = by_advantage.as_ref().map(|d| {
            ArrayView3::from_shape((*horizon, world.n, world.m), slice(d)).expect("as many numbers")
        });
        let d_price =
            by_price.as_ref().map(|d| ArrayView2::from_shape((1, *horizon), slice(d)).expect("as many"));
        let transition = world.read(py)?;
        let (programme, initial) = (self.asked.programme(&transition), self.asked.initial.view());
        let d = match &self.found {
            Found::Held(_) if d_price.is_some() => {
                return Err(wrong("d_price", "none without a temperature, where prices are held", "one"));
            }
            Found::Held(price) => {
                threads::run(py, || pullback(&programme, initial, price.view(), 0.0, d_bound.0, d_advantage))?
            }
            Found::Smooth(found) if !found.is_converged && SmoothPrices::is_felt(d_price, d_advantage) => {
                let expected = "one at which some arm is near every price, so that prices have a derivative \
                                (a higher one, or none to hold them)";
                return Err(wrong("temperature", expected, found.temperature()));
            }
            Found::Smooth(found) => {
                threads::run(py, || found.pullback(&programme, initial, d_price, d_bound.0, d_advantage))?
            }
        };
        let parts = vec![
            world.cotangent(py, d.d_transition)?,
            PyArray2::from_owned_array(py, d.d_initial).into_any(),
            d.d_budget[0].into_pyobject(py)?.into_any(),
            rewards.cotangent(py, d.d_reward)?,
            d.d_discount.into_pyobject(py)?.into_any(),
            PyArray1::from_owned_array(py, d.d_price.row(0).to_owned()).into_any(),
            d.d_temperature.into_pyobject(py)?.into_any(),
        ];
        COTANGENTS.of(py, parts)
    }

    fn __repr__(&self) -> String {
        format!("<restive.PlanPrices of {} steps, bound {}>", self.asked.horizon, self.bound)
    }
}

/// A cotangent of this shape, where one is given.
fn cotangent<'py>(
    name: &str,
    given: Option<&Bound<'py, PyAny>>,
    shape: &[usize],
) -> PyResult<Option<PyReadonlyArrayDyn<'py, f64>>> {
    let found = given.map(|d| floats(name, d)).transpose()?;
    if let Some(found) = &found {
        check_shape(name, &format!("shape {shape:?}"), found.shape(), found.shape() == shape)?;
    }
    Ok(found)
}

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let fields = ["d_P", "d_initial", "d_budget", "d_rewards", "d_discount", "d_price", "d_temperature"];
    COTANGENTS.register(module, "PlanCotangents", &fields)?;
    module.add_class::<PlanPrices>()?;
    module.add_function(wrap_pyfunction!(plan_prices, module)?)
}
