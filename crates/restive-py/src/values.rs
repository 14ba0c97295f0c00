//! What a soft policy on a table of indices is worth in a world that is given: the fluid and the decomposed value, and the way back to everything
//! they are computed from.

use crate::arms::slice;
use crate::border::{Number, Whole, check_finite, check_shape, floats};
use crate::error::{check_memory, raise, wrong};
use crate::threads;
use crate::worlds::{Cotangents, Rewards, World, mass_of, masses, shaped};
use ndarray::{Array2, Array3, Axis};
use numpy::{PyArray1, PyArray2, PyArray3, PyReadonlyArrayDyn, PyUntypedArrayMethods};
use pyo3::prelude::*;
use restive::check_discount;
use restive::evaluation::{MeanField, Relaxation, decomposed, fluid_of_tables};

static FLUID: Cotangents = Cotangents::new();
static DECOMPOSED: Cotangents = Cotangents::new();

/// What both values are computed from.
struct Given {
    world: World,
    rewards: Rewards,
    initial: Array2<f64>,
    /// `[S,N,M]`
    index: Array3<f64>,
    /// of the caller's table
    shape: Vec<usize>,
    budget: f64,
    temperature: f64,
    discount: f64,
}

impl Given {
    #[expect(non_snake_case, reason = "P is how the literature and the users write it")]
    fn new<'py>(
        py: Python<'py>,
        P: &Bound<'py, PyAny>,
        index: &Bound<'py, PyAny>,
        initial: &Bound<'py, PyAny>,
        [budget, temperature, discount]: [f64; 3],
        rewards: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Self> {
        let world = World::new(py, P)?.alone()?;
        check_discount(discount).map_err(raise)?;
        let rewards = Rewards::new(rewards, &world)?;
        let (n, m) = (world.n, world.m);
        let initial = mass_of(initial, n, m)?;
        let table = floats("index", index)?;
        let shape = table.shape().to_vec();
        let fits = matches!(shape[..], [arms, states] | [_, arms, states] if (arms, states) == (n, m));
        check_shape(
            "index",
            &format!("[{n}, {m}] or [H, {n}, {m}]"),
            &shape,
            fits && !slice(&table).is_empty(),
        )?;
        check_finite("index", slice(&table), &shape)?;
        let tables = slice(&table).len() / (n * m);
        let index = Array3::from_shape_vec((tables, n, m), slice(&table).to_vec()).expect("as many numbers");
        for (what, found) in [("budget", budget), ("temperature", temperature)] {
            if !(found >= 0.0 && found.is_finite()) {
                return Err(wrong(what, "a number of at least 0", found));
            }
        }
        Ok(Self { world, rewards, initial, index, shape, budget, temperature, discount })
    }

    fn field<'a>(&'a self, transition: &'a PyReadonlyArrayDyn<'_, f64>) -> MeanField<'a> {
        MeanField {
            motion: self.world.view(transition).into(),
            reward: self.rewards.view(),
            initial: self.initial.view(),
            discount: self.discount,
            budget: self.budget,
        }
    }
}

/// The fluid value of a policy, and the way back: what `fluid_value` returns.
///
/// It keeps the array of transitions that it was given, not a copy: do not change that array before the last `pullback`.
#[pyclass(frozen, dict, module = "restive")]
struct FluidValue {
    given: Given,
    horizon: usize,
    /// The discounted reward of all arms over all steps.
    #[pyo3(get)]
    value: f64,
    /// float64 [H,N,M]: the distribution of each arm at each step.
    #[pyo3(get)]
    mass: Py<PyArray3<f64>>,
    /// float64 [H,N,M]: the probability of a pull in each state at each step.
    #[pyo3(get)]
    pull: Py<PyArray3<f64>>,
    /// float64 [H]: the price of a pull at each step, as an index; infinite where nobody or everybody is pulled.
    #[pyo3(get)]
    threshold: Py<PyArray1<f64>>,
    /// The mean of the finite thresholds: the charge of `decomposed_value`.
    #[pyo3(get)]
    charge: f64,
    /// float64 [N,M]: the mean of `mass` over the steps: the occupancy of `decomposed_value`.
    #[pyo3(get)]
    occupancy: Py<PyArray2<f64>>,
}

/// The value of soft top-k on indices in the limit of many arms: deterministic, and differentiable by everything.
///
/// Every arm is a distribution over its states, and the budget holds on average at each step. With N arms it differs from the expected
/// value by O(1/N). Use it for training and comparing; simulate to report.
///
/// Parameters
/// ----------
/// P : array, [N,M,2,M] or [N,4]
///     Transition probabilities of the world, as for `whittle_index`.
/// index : array, [N,M] or [H,N,M]
///     Scores of the arms in each state, finite; of each step, where they change (from the last table on, that).
/// initial : integer array [N], or array [N,M]
///     The states in which the arms start, or a distribution for each.
/// budget : float
///     Pulls per step; need not be whole.
/// temperature : float
///     At least 0; 0 is strict, and has no gradient by the indices.
/// horizon : int
///     H.
/// rewards : array, optional
///     [M], [M,2], or each arm's own, [N,M] or [N,M,2]; by default linear.
/// discount : float
///     From 0 to 1.
///
/// Returns
/// -------
/// FluidValue
///     `.value`, `.mass` [H,N,M], `.pull` [H,N,M], `.threshold` [H], `.charge`, `.occupancy` [N,M] and `.pullback(d_value)`.
///
/// Examples
/// --------
/// >>> import numpy as np, restive
/// >>> P = np.array([[0.2, 0.3, 0.5, 0.6], [0.2, 0.8, 0.5, 0.9]])     # a pull helps the second arm more
/// >>> index = np.array([[0.0, 0.0], [0.1, 0.1]])
/// >>> fluid = restive.fluid_value(P, index, np.full((2, 2), 0.5), 1, 0.1, 9)
/// >>> back = fluid.pullback()
/// >>> bool(back.d_index[1].sum() > 0), bool(back.d_budget > 0)
/// (True, True)
#[pyfunction]
#[pyo3(signature = (P, index, initial, budget, temperature, horizon, rewards=None, discount=Number(0.99)))]
#[pyo3(text_signature = "(P, index, initial, budget, temperature, horizon, rewards=None, discount=0.99)")]
#[expect(non_snake_case, reason = "P is how the literature and the users write it")]
fn fluid_value<'py>(
    py: Python<'py>,
    P: &Bound<'py, PyAny>,
    index: &Bound<'py, PyAny>,
    initial: &Bound<'py, PyAny>,
    budget: Number,
    temperature: Number,
    horizon: Whole,
    rewards: Option<&Bound<'py, PyAny>>,
    discount: Number,
) -> PyResult<FluidValue> {
    let given = Given::new(py, P, index, initial, [budget.0, temperature.0, discount.0], rewards)?;
    let horizon = horizon.between("horizon", 1, i32::MAX as usize)?;
    check_memory("mass", &[horizon, given.world.n, given.world.m, 2])?;
    let transition = given.world.read(py)?;
    let field = given.field(&transition);
    let (value, mass, pull, threshold, relaxation) = threads::run(py, || {
        let solved = fluid_of_tables(given.index.view(), &field, given.temperature, horizon);
        let relaxation = Relaxation::from_run(&solved);
        (solved.value, solved.mass, solved.pull, solved.threshold, relaxation)
    })?;
    Ok(FluidValue {
        value,
        mass: PyArray3::from_owned_array(py, mass).unbind(),
        pull: PyArray3::from_owned_array(py, pull).unbind(),
        threshold: PyArray1::from_vec(py, threshold).unbind(),
        charge: relaxation.charge,
        occupancy: PyArray2::from_owned_array(py, relaxation.mass).unbind(),
        horizon,
        given,
    })
}

#[pymethods]
impl FluidValue {
    /// What a cotangent of the value becomes on everything it was computed from.
    ///
    /// Returns
    /// -------
    /// FluidCotangents
    ///     Named: (d_P, d_index, d_initial, d_budget, d_temperature, d_rewards, d_discount), in the shapes in which they were given; d_initial is
    ///     [N,M]. Tables beyond the horizon have cotangents of 0.
    #[pyo3(signature = (d_value=Number(1.0)), text_signature = "($self, d_value=1.0)")]
    fn pullback<'py>(&self, py: Python<'py>, d_value: Number) -> PyResult<Bound<'py, PyAny>> {
        let given = &self.given;
        let transition = given.world.read(py)?;
        let field = given.field(&transition);
        let d = threads::run(py, || {
            let solved = fluid_of_tables(given.index.view(), &field, given.temperature, self.horizon);
            solved.pullback_by_step(d_value.0)
        })?;
        let mut d_index = d.d_index.into_raw_vec_and_offset().0;
        d_index.resize(given.index.len(), 0.0);
        let parts = vec![
            given.world.cotangent(py, d.d_transition.expect("rows have a cotangent"))?,
            shaped(py, d_index, &given.shape)?,
            PyArray2::from_owned_array(py, d.d_initial).into_any(),
            d.d_budget.into_pyobject(py)?.into_any(),
            d.d_temperature.into_pyobject(py)?.into_any(),
            given.rewards.cotangent(py, d.d_reward)?,
            d.d_discount.into_pyobject(py)?.into_any(),
        ];
        FLUID.of(py, parts)
    }

    fn __repr__(&self) -> String {
        format!("<restive.FluidValue {} over {} steps>", self.value, self.horizon)
    }
}

/// The decomposed value of a policy, and the way back: what `decomposed_value` returns.
///
/// It keeps the array of transitions that it was given, not a copy: do not change that array before the last `pullback`.
#[pyclass(frozen, dict, module = "restive")]
struct DecomposedValue {
    given: Given,
    relaxation: Relaxation,
    /// Earnings per step of all arms; NaN at a discount of 1 where an arm has several recurrent classes.
    #[pyo3(get)]
    value: f64,
    /// float64 [N,M]: the probability of a pull in each state.
    #[pyo3(get)]
    pull: Py<PyArray2<f64>>,
}

/// What a soft policy earns per step where arms are apart from each other and pay for their pulls: for training, not for reporting.
///
/// Charge and occupancy are taken once from the world that the policy is to serve, usually from a `fluid_value` on that world's own
/// indices: `charge=fluid.charge, occupancy=fluid.occupancy`.
///
/// Parameters
/// ----------
/// P : array, [N,M,2,M] or [N,4]
///     Transition probabilities of the world.
/// index : array, [N,M]
///     Scores of the arms in each state, finite.
/// initial : integer array [N], or array [N,M]
///     The states in which the arms start, or a distribution for each.
/// budget : float
///     Pulls per step.
/// temperature : float
///     At least 0.
/// charge : float
///     The price of a pull.
/// occupancy : array, [N,M]
///     How much of its time each arm spends in each state.
/// rewards : array, optional
///     [M], [M,2], or each arm's own, [N,M] or [N,M,2]; by default linear.
/// discount : float
///     From 0 to 1; 1 is the average reward.
///
/// Returns
/// -------
/// DecomposedValue
///     `.value`, `.pull` [N,M] and `.pullback(d_value)`.
///
/// Examples
/// --------
/// >>> import numpy as np, restive
/// >>> P, start = np.array([[0.2, 0.3, 0.5, 0.6], [0.2, 0.8, 0.5, 0.9]]), np.full((2, 2), 0.5)
/// >>> fluid = restive.fluid_value(P, restive.whittle_index(P).index, start, 1, 0.1, 9)
/// >>> wrong = np.array([[0.2, 0.2], [0.1, 0.1]])                     # ranks the arms the other way round
/// >>> value = restive.decomposed_value(P, wrong, start, 1, 0.1, fluid.charge, fluid.occupancy)
/// >>> value.pullback().d_index.sum(axis=1) > 0
/// array([False,  True])
#[pyfunction]
#[pyo3(signature = (P, index, initial, budget, temperature, charge, occupancy, rewards=None, discount=Number(0.99)))]
#[pyo3(
    text_signature = "(P, index, initial, budget, temperature, charge, occupancy, rewards=None, discount=0.99)"
)]
#[expect(non_snake_case, reason = "P is how the literature and the users write it")]
fn decomposed_value<'py>(
    py: Python<'py>,
    P: &Bound<'py, PyAny>,
    index: &Bound<'py, PyAny>,
    initial: &Bound<'py, PyAny>,
    budget: Number,
    temperature: Number,
    charge: Number,
    occupancy: &Bound<'py, PyAny>,
    rewards: Option<&Bound<'py, PyAny>>,
    discount: Number,
) -> PyResult<DecomposedValue> {
    let given = Given::new(py, P, index, initial, [budget.0, temperature.0, discount.0], rewards)?;
    let (n, m) = (given.world.n, given.world.m);
    check_shape("index", &format!("[{n}, {m}]"), &given.shape, given.shape.len() == 2)?;
    if !charge.0.is_finite() {
        return Err(wrong("charge", "a finite number", charge.0));
    }
    let relaxation = Relaxation { charge: charge.0, mass: masses("occupancy", occupancy, n, m)? };
    let transition = given.world.read(py)?;
    let field = given.field(&transition);
    let (value, pull) = threads::run(py, || {
        let solved = decomposed(given.index.index_axis(Axis(0), 0), &field, given.temperature, &relaxation);
        (solved.value, solved.pull)
    })?;
    let pull = PyArray2::from_owned_array(py, pull).unbind();
    Ok(DecomposedValue { given, relaxation, value, pull })
}

#[pymethods]
impl DecomposedValue {
    /// What a cotangent of the value becomes on everything it was computed from.
    ///
    /// Returns
    /// -------
    /// DecomposedCotangents
    ///     Named: (d_P, d_index, d_initial, d_budget, d_temperature, d_charge, d_occupancy, d_rewards, d_discount), in the shapes in which they
    ///     were given; d_initial is [N,M].
    #[pyo3(signature = (d_value=Number(1.0)), text_signature = "($self, d_value=1.0)")]
    fn pullback<'py>(&self, py: Python<'py>, d_value: Number) -> PyResult<Bound<'py, PyAny>> {
        let (given, relaxation) = (&self.given, &self.relaxation);
        let transition = given.world.read(py)?;
        let field = given.field(&transition);
        let d = threads::run(py, || {
            let index = given.index.index_axis(Axis(0), 0);
            let solved = decomposed(index, &field, given.temperature, relaxation);
            solved.pullback_to_world(&field, d_value.0)
        })?;
        let parts = vec![
            given.world.cotangent(py, d.d_transition)?,
            PyArray2::from_owned_array(py, d.d_index).into_any(),
            PyArray2::from_owned_array(py, d.d_initial).into_any(),
            d.d_budget.into_pyobject(py)?.into_any(),
            d.d_temperature.into_pyobject(py)?.into_any(),
            d.d_charge.into_pyobject(py)?.into_any(),
            PyArray2::from_owned_array(py, d.d_mass).into_any(),
            given.rewards.cotangent(py, d.d_reward)?,
            d.d_discount.into_pyobject(py)?.into_any(),
        ];
        DECOMPOSED.of(py, parts)
    }

    fn __repr__(&self) -> String {
        format!("<restive.DecomposedValue {}>", self.value)
    }
}

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let shared = ["d_P", "d_index", "d_initial", "d_budget", "d_temperature"];
    FLUID.register(module, "FluidCotangents", &[&shared[..], &["d_rewards", "d_discount"]].concat())?;
    let fields = [&shared[..], &["d_charge", "d_occupancy", "d_rewards", "d_discount"]].concat();
    DECOMPOSED.register(module, "DecomposedCotangents", &fields)?;
    module.add_class::<FluidValue>()?;
    module.add_class::<DecomposedValue>()?;
    module.add_function(wrap_pyfunction!(fluid_value, module)?)?;
    module.add_function(wrap_pyfunction!(decomposed_value, module)?)
}
