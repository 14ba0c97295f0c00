//! What indices are asked of beside the transitions: rewards and discounts, of all arms or each arm's own, in the shapes in which
//! they were given and in which their cotangents go back.
//!
//! P is `[...,N,M,2,M]` or `[...,N,4]`: its *arms axes* are those before the states. What every arm has of its own has the arms
//! axes first. Inside there is one axis of arms.

use crate::arms::{Form, form_of, layout_of, slice};
use crate::border::{Numbers, check_finite, floats};
use crate::error::wrong;
use ndarray::{Array1, Array2, Array3, ArrayD, Axis};
use numpy::{PyArrayDyn, PyUntypedArrayMethods};
use pyo3::prelude::*;
use restive::Reward;
use restive::index::{Discounts, Rewards};

/// Form, number of states and arms axes of an array of this shape. One that ends as arms of four states do is read as such.
pub(crate) fn arms_of<'a>(shape: &'a [usize], layout: &str) -> PyResult<(Form, usize, &'a [usize])> {
    layout_of(layout)?;
    let axes = shape.len();
    let full = form_of(&shape[axes.saturating_sub(4)..], layout);
    match (full, shape) {
        (Ok((form, m)), _) if form != Form::Compact => Ok((form, m, &shape[..axes - 3])),
        (_, [_, .., 4]) => Ok((Form::Compact, 2, &shape[..axes - 1])),
        // says what is wrong with the whole shape
        _ => form_of(shape, layout).map(|(form, m)| (form, m, &shape[..1])),
    }
}

/// Rewards and discounts of a batch, and how they were given.
pub(crate) struct Inputs {
    pub(crate) rewards: Rewards<'static>,
    pub(crate) discounts: Discounts<'static>,
    /// the shape of the rewards as given, `[M]` where they were not
    shape: Vec<usize>,
    /// whether they depend on the action
    by_action: bool,
    /// the arms axes
    axes: Vec<usize>,
}

/// Cotangents of rewards and discounts: of what all arms share, or arm by arm.
pub(crate) enum Cotangent {
    /// `[M,2]` and one number
    Shared(Array2<f64>, f64),
    /// `[N,M,2]` and `[N]`
    PerArm(Array3<f64>, Array1<f64>),
}

impl Inputs {
    pub(crate) fn new(
        rewards: Option<&Bound<'_, PyAny>>,
        discount: Numbers<'_>,
        m: usize,
        axes: &[usize],
    ) -> PyResult<Self> {
        let is_fit = |g: f64| (0.0..=1.0).contains(&g);
        let discount =
            discount.over("discount", axes, "the arms axes of P", "a number from 0 to 1", is_fit)?;
        let discounts = match discount.is_shared() {
            true => Discounts::Shared(discount.of(0)),
            false => Discounts::PerArm(Array1::from(discount.into_vec()).into()),
        };
        let axes = axes.to_vec();
        let Some(rewards) = rewards else {
            let rewards = Rewards::Shared(Reward::linear(m).view().to_owned().into());
            return Ok(Self { rewards, discounts, shape: vec![m], by_action: false, axes });
        };
        let found = floats("rewards", rewards)?;
        let shape = found.shape().to_vec();
        check_finite("rewards", slice(&found), &shape)?;
        if let Some(found) = slice(&found).iter().find(|r| r.abs() > 1e100) {
            return Err(wrong("rewards", "at most 1e100 in size", found));
        }
        let (per_arm, by_action) = kind_of(&shape, m, &axes)?;
        let of = if by_action {
            slice(&found).to_vec()
        } else {
            slice(&found).iter().flat_map(|r| [*r, *r]).collect()
        };
        let fits = "the shape was checked";
        let rewards = match per_arm {
            true => {
                Rewards::PerArm(Array3::from_shape_vec((of.len() / (2 * m), m, 2), of).expect(fits).into())
            }
            false => Rewards::Shared(Array2::from_shape_vec((m, 2), of).expect(fits).into()),
        };
        Ok(Self { rewards, discounts, shape, by_action, axes })
    }

    /// M.
    pub(crate) fn states(&self) -> usize {
        self.rewards.states()
    }

    /// The shared reward and discount, where both are.
    pub(crate) fn shared(&self) -> Option<(ndarray::ArrayView2<'_, f64>, f64)> {
        match (&self.rewards, &self.discounts) {
            (Rewards::Shared(reward), Discounts::Shared(discount)) => Some((reward.view(), *discount)),
            _ => None,
        }
    }

    /// Cotangents in the shapes in which rewards and discount were given.
    pub(crate) fn give<'py>(
        &self,
        py: Python<'py>,
        cotangent: Cotangent,
    ) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyAny>)> {
        let (d_reward, d_discount): (ArrayD<f64>, Array1<f64>) = match (cotangent, &self.rewards) {
            (Cotangent::Shared(d_reward, d_discount), _) => {
                (d_reward.into_dyn(), Array1::from_elem(1, d_discount))
            }
            (Cotangent::PerArm(d_reward, d_discount), Rewards::PerArm(_)) => {
                (d_reward.into_dyn(), d_discount)
            }
            (Cotangent::PerArm(d_reward, d_discount), Rewards::Shared(_)) => {
                (d_reward.sum_axis(Axis(0)).into_dyn(), d_discount)
            }
        };
        let d_reward = match self.by_action {
            true => d_reward,
            false => d_reward.sum_axis(Axis(d_reward.ndim() - 1)),
        };
        let d_reward = d_reward.into_shape_with_order(self.shape.clone()).expect("as many numbers");
        let d_reward = PyArrayDyn::from_owned_array(py, d_reward).into_any();
        let d_discount = match &self.discounts {
            Discounts::Shared(_) => d_discount.iter().sum::<f64>().into_pyobject(py)?.into_any(),
            Discounts::PerArm(_) => {
                let d_discount =
                    d_discount.into_shape_with_order(self.axes.clone()).expect("as many numbers");
                PyArrayDyn::from_owned_array(py, d_discount).into_any()
            }
        };
        Ok((d_reward, d_discount))
    }
}

/// Whether rewards of this shape are each arm's own, and whether they depend on the action.
fn kind_of(shape: &[usize], m: usize, axes: &[usize]) -> PyResult<(bool, bool)> {
    let own = |last: &[usize]| shape.strip_prefix(axes).is_some_and(|rest| rest == last);
    let (by_state, by_action) = (shape == [m], shape == [m, 2]);
    match (by_state, by_action, own(&[m]), own(&[m, 2])) {
        (false, true, true, _) => Err(wrong(
            "rewards",
            "[2, 2, 2], expanded to [N, M, 2]: with two arms of two states [2, 2] could be [N, M] or [M, 2]",
            "shape [2, 2]",
        )),
        (true, ..) => Ok((false, false)),
        (_, true, ..) => Ok((false, true)),
        (_, _, true, _) => Ok((true, false)),
        (.., true) => Ok((true, true)),
        _ => {
            let (mut per_state, mut per_action) = (axes.to_vec(), axes.to_vec());
            per_state.push(m);
            per_action.extend([m, 2]);
            let expected = format!(
                "[{m}] or [{m}, 2] for all arms, {per_state:?} or {per_action:?} for each arm its own"
            );
            Err(wrong("rewards", &expected, format_args!("shape {shape:?}")))
        }
    }
}
