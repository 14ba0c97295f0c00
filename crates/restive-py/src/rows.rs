//! Problems in rows: scores `[...,N]`, each row a problem of its own, with what arms have beside their scores: costs, and whether
//! they are there at all.
//!
//! Costs and masks come in the shape of the scores, or as `[N]` for all problems. An arm that is absent takes no part: a problem is
//! solved without it, whatever its score, and its place in the answer is filled afterwards.

use crate::arms::slice;
use crate::border::{bools, check_shape, floats, position};
use crate::error::wrong;
use numpy::PyUntypedArrayMethods;
use pyo3::prelude::*;

/// One value per arm, of every problem or of all.
struct PerArm<T> {
    values: Vec<T>,
    is_shared: bool,
    arms: usize,
}

impl<T: Copy> PerArm<T> {
    fn new(what: &str, values: &[T], found: &[usize], shape: &[usize]) -> PyResult<Self> {
        let arms = shape.last().copied().unwrap_or_default();
        let expected = match shape.len() {
            1 => format!("shape {shape:?}, that of the scores"),
            _ => format!("shape {shape:?}, that of the scores, or [{arms}]"),
        };
        check_shape(what, &expected, found, found == shape || found == [arms])?;
        Ok(Self { values: values.to_vec(), is_shared: found != shape, arms })
    }

    fn row(&self, row: usize) -> &[T] {
        &self.values[if self.is_shared { 0 } else { row * self.arms }..][..self.arms]
    }
}

/// What arms have beside their scores.
pub(crate) struct Beside {
    costs: Option<PerArm<f64>>,
    mask: Option<PerArm<bool>>,
}

/// The arms of one problem that are there.
pub(crate) struct Present {
    /// their places; none where all are there
    places: Option<Vec<usize>>,
}

impl Beside {
    /// Checked against scores of this shape.
    pub(crate) fn new(
        costs: Option<&Bound<'_, PyAny>>,
        mask: Option<&Bound<'_, PyAny>>,
        shape: &[usize],
    ) -> PyResult<Self> {
        let costs = match costs {
            None => None,
            Some(costs) => {
                let found = floats("costs", costs)?;
                let values = slice(&found);
                let costs = PerArm::new("costs", values, found.shape(), shape)?;
                if let Some(flat) = values.iter().position(|c| !(*c > 0.0 && c.is_finite())) {
                    let place = position(flat, found.shape());
                    return Err(wrong(&format!("costs: entry {place:?}"), "a number above 0", values[flat]));
                }
                Some(costs)
            }
        };
        let mask = match mask {
            None => None,
            Some(mask) => {
                let found = bools("mask", mask)?;
                Some(PerArm::new("mask", slice(&found), found.shape(), shape)?)
            }
        };
        Ok(Self { costs, mask })
    }

    /// The costs of one problem.
    pub(crate) fn costs(&self, row: usize) -> Option<&[f64]> {
        self.costs.as_ref().map(|costs| costs.row(row))
    }

    /// Whether every problem has costs of its own; none where there are no costs.
    pub(crate) fn has_own_costs(&self) -> Option<bool> {
        self.costs.as_ref().map(|costs| !costs.is_shared)
    }

    pub(crate) fn present(&self, row: usize) -> Present {
        let places = self.mask.as_ref().map(|mask| {
            let there = mask.row(row).iter().enumerate().filter(|(_, there)| **there);
            there.map(|(i, _)| i).collect()
        });
        Present { places }
    }

    /// Refuses the first score of an arm that is there and that is not fit.
    pub(crate) fn check_scores(
        &self,
        scores: &[f64],
        shape: &[usize],
        expected: &str,
        is_fit: fn(f64) -> bool,
    ) -> PyResult<()> {
        let n = shape.last().copied().unwrap_or_default().max(1);
        let is_there = |flat: usize| self.mask.as_ref().is_none_or(|mask| mask.row(flat / n)[flat % n]);
        if let Some(costs) = &self.costs {
            // arms are ranked by score and cost: what overflows would tie
            let is_beyond = |(flat, x): (usize, &f64)| {
                x.is_finite() && !(x / costs.row(flat / n)[flat % n]).is_finite() && is_there(flat)
            };
            if let Some(flat) = scores.iter().enumerate().position(is_beyond) {
                let place = position(flat, shape);
                let expected = "a score that is finite when it is divided by its cost";
                return Err(wrong(&format!("scores: entry {place:?}"), expected, scores[flat]));
            }
        }
        if scores.iter().fold(true, |all, x| all & is_fit(*x)) {
            return Ok(());
        }
        match scores.iter().enumerate().position(|(flat, x)| !is_fit(*x) && is_there(flat)) {
            None => Ok(()),
            Some(flat) => {
                let place = position(flat, shape);
                Err(wrong(&format!("scores: entry {place:?}"), expected, scores[flat]))
            }
        }
    }
}

impl Present {
    /// The values of those that are there.
    pub(crate) fn gather<'a>(&self, values: &'a [f64]) -> std::borrow::Cow<'a, [f64]> {
        match &self.places {
            None => values.into(),
            Some(places) => places.iter().map(|&i| values[i]).collect::<Vec<_>>().into(),
        }
    }

    /// Their values back in their places, and this one for those who are absent.
    pub(crate) fn scatter<T: Copy>(&self, values: &[T], absent: T, out: &mut [T]) {
        match &self.places {
            None => out.copy_from_slice(values),
            Some(places) => {
                out.fill(absent);
                places.iter().zip(values).for_each(|(&i, value)| out[i] = *value);
            }
        }
    }
}
