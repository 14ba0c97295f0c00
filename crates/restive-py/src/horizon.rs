//! Whittle indices of arms with H decisions before them, and the way back.

use crate::arms::slice;
use crate::border::{Whole, check_shape, floats};
use crate::error::check_memory;
use crate::threads;
use crate::worlds::{Cotangents, Discounts, Rewards, World, ending_of, shaped};
use ndarray::ArrayView3;
use numpy::{PyArrayDyn, PyArrayMethods, PyReadonlyArrayDyn, PyUntypedArrayMethods};
use pyo3::prelude::*;
use restive::planning::{Ending, Horizon, HorizonCotangent};

static COTANGENTS: Cotangents = Cotangents::new();

/// Indices of arms that end, and the way back: what `horizon_index` returns.
///
/// It keeps the array of transitions that it was given, not a copy: do not change that array before the last `pullback`.
#[pyclass(frozen, dict, module = "restive")]
pub(crate) struct HorizonIndices {
    world: World,
    rewards: Rewards,
    discounts: Discounts,
    horizon: usize,
    ending: Ending,
    /// float64 [H,...,N,M]: the subsidy for passivity, paid at every step until the end, at which either action is as good at this
    /// step in this state; the smallest, where there are several. NaN where it could not be determined (`status`).
    #[pyo3(get)]
    index: Py<PyAny>,
    /// float64 [H,...,N,M]: the subsidy from which the state stays passive; `index` itself where the arm is indexable.
    #[pyo3(get)]
    last: Py<PyAny>,
    /// bool [...,N]: whether every state turns passive once at every step. False also where that is not known.
    #[pyo3(get)]
    is_indexable: Py<PyAny>,
    /// str [...,N]: "exact", or "undetermined" (the indices are NaN).
    #[pyo3(get)]
    status: Py<PyAny>,
}

/// Whittle indices of arms with H decisions before them, exact and differentiable.
///
/// With few decisions left a pull has little time to pay. At step t in state s the index is the subsidy, paid for every passive step
/// until the end, at which passivity is as good as a pull. Far from the end it is that of the endless problem, `whittle_index`.
///
/// Parameters
/// ----------
/// P : array, [...,N,M,2,M] or [...,N,4]
///     Transition probabilities, as for `whittle_index`; leading axes are batches.
/// horizon : int
///     H, the decisions that are left.
/// rewards : array, optional
///     R(s) [M] or R(s, a) [M,2], shared by all arms; or each arm's own, [...,N,M] or [...,N,M,2]. By default linear: s/(M-1).
/// discount : float or array [...,N]
///     From 0 to 1.
/// ending : "nothing" or "state"
///     What the state after the last decision counts for: nothing, or R(s, passive).
///
/// Returns
/// -------
/// HorizonIndices
///     `.index` [H,...,N,M], `.last` [H,...,N,M], `.is_indexable` [...,N], `.status` [...,N], `.pullback(d_index)` and
///     `.pullback_all(d_index)`.
///
/// Examples
/// --------
/// >>> import numpy as np, restive
/// >>> arm = np.array([[0.2, 0.8, 0.5, 0.5]])
/// >>> indices = restive.horizon_index(arm, 3, discount=0.5)
/// >>> indices.index[:, 0].round(6)
/// array([[0.345, 0.   ],
///        [0.3  , 0.   ],
///        [0.   , 0.   ]])
/// >>> d_index = np.zeros((3, 1, 2)); d_index[1, 0, 0] = 1.0    # the index of state 0 at the second step
/// >>> indices.pullback(d_index)
/// array([[-0.5,  0.5,  0. ,  0. ]])
#[pyfunction]
#[pyo3(signature = (P, horizon, rewards=None, discount=None, ending="nothing"))]
#[pyo3(text_signature = "(P, horizon, rewards=None, discount=0.99, ending='nothing')")]
#[expect(non_snake_case, reason = "P is how the literature and the users write it")]
pub(crate) fn horizon_index<'py>(
    py: Python<'py>,
    P: &Bound<'py, PyAny>,
    horizon: Whole,
    rewards: Option<&Bound<'py, PyAny>>,
    discount: Option<&Bound<'py, PyAny>>,
    ending: &str,
) -> PyResult<HorizonIndices> {
    let world = World::new(py, P)?;
    let rewards = Rewards::new(rewards, &world)?;
    let discounts = Discounts::new(discount, 0.99, &world)?;
    let horizon = horizon.between("horizon", 1, u32::MAX as usize)?;
    let ending = ending_of(ending)?;
    check_memory("index", &[horizon, world.n, world.m, 4])?;
    let transition = world.read(py)?;
    let solver = solver(&world, &rewards, &discounts, horizon, ending, &transition);
    let solved = threads::run(py, || solver.index())?;
    let shape = [&[horizon], world.axes(), &[world.m]].concat();
    let index = shaped(py, solved.index.into_raw_vec_and_offset().0, &shape)?.unbind();
    let last = shaped(py, solved.last.into_raw_vec_and_offset().0, &shape)?.unbind();
    let is_indexable = PyArrayDyn::from_owned_array(py, solved.is_indexable.into_dyn());
    let is_indexable = is_indexable.reshape(world.axes())?.into_any().unbind();
    let status = crate::worlds::statuses(py, &solved.status, world.axes())?;
    Ok(HorizonIndices { world, rewards, discounts, horizon, ending, index, last, is_indexable, status })
}

fn solver<'a>(
    world: &World,
    rewards: &'a Rewards,
    discounts: &'a Discounts,
    horizon: usize,
    ending: Ending,
    transition: &'a PyReadonlyArrayDyn<'_, f64>,
) -> Horizon<'a> {
    let (transition, discount) = (world.view(transition), &discounts.values);
    Horizon { transition, reward: rewards.view(), discount, decisions: horizon, ending }
}

#[pymethods]
impl HorizonIndices {
    /// What a cotangent of the indices becomes on the transitions.
    ///
    /// Parameters
    /// ----------
    /// d_index : array of the shape of `index`
    ///
    /// Returns
    /// -------
    /// d_P : float64 array of the shape of P
    ///     Its rows sum to zero; for P in its compact form it is the plain derivative.
    fn pullback<'py>(&self, py: Python<'py>, d_index: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let d = self.back(py, d_index)?;
        self.world.cotangent(py, d.d_transition)
    }

    /// The same for all inputs: (d_P, d_rewards, d_discount), in the shapes in which they were given; [M] for rewards that were not.
    fn pullback_all<'py>(&self, py: Python<'py>, d_index: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let d = self.back(py, d_index)?;
        let parts = vec![
            self.world.cotangent(py, d.d_transition)?,
            self.rewards.cotangent(py, d.d_reward)?,
            self.discounts.cotangent(py, &d.d_discount)?,
        ];
        COTANGENTS.of(py, parts)
    }

    fn __repr__(&self) -> String {
        format!("<restive.HorizonIndices of {} arms over {} decisions>", self.world.n, self.horizon)
    }
}

impl HorizonIndices {
    fn back<'py>(&self, py: Python<'py>, d_index: &Bound<'py, PyAny>) -> PyResult<HorizonCotangent> {
        let cotangent = floats("d_index", d_index)?;
        let shape = [&[self.horizon], self.world.axes(), &[self.world.m]].concat();
        check_shape("d_index", &format!("shape {shape:?}"), cotangent.shape(), cotangent.shape() == shape)?;
        let transition = self.world.read(py)?;
        let flat = (self.horizon, self.world.n, self.world.m);
        let d_index = ArrayView3::from_shape(flat, slice(&cotangent)).expect("as many numbers");
        let solver =
            solver(&self.world, &self.rewards, &self.discounts, self.horizon, self.ending, &transition);
        threads::run(py, || solver.pullback(d_index))
    }
}

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    COTANGENTS.register(module, "HorizonCotangents", &["d_P", "d_rewards", "d_discount"])?;
    module.add_class::<HorizonIndices>()?;
    module.add_function(wrap_pyfunction!(horizon_index, module)?)
}
