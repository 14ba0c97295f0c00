//! The fit of the effect model: by Newton's method at one precision, or at several of which held-out arms choose one.

use super::newton::Newton;
use super::problem::Problem;
use super::{Arms, Effect, GRID, Precision};
use crate::error::{Error, Result};
use ndarray::{Array2, Array4, ArrayView2, ArrayView4, Axis};

/// How a fit ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FitStatus {
    /// at the minimum
    Converged,
    /// the derivatives did not vanish: see the fit's `gradient`
    NotConverged,
}

/// A fitted model, and how well that went.
#[derive(Debug, Clone, PartialEq)]
pub struct Fit {
    /// the model
    pub effect: Effect,
    /// whether it is at the minimum
    pub status: FitStatus,
    /// the largest derivative of the objective, per observed transition
    pub gradient: f64,
    /// Newton steps made
    pub steps: usize,
    /// the precisions tried, each with the negative log-likelihood of the held-out arms
    pub held_out: Vec<(f64, f64)>,
}

/// A fit on its way: advanced step by step, so that whoever waits for it can look on, or leave.
pub struct Fitting {
    /// none once all is done
    newton: Option<Newton>,
    /// the precisions to be tried, and how many of them are done
    precisions: Vec<f64>,
    effect: Effect,
    held_out: Option<(Array2<f64>, Array4<f64>)>,
    tried: Vec<(f64, f64)>,
    best: Option<Fit>,
}

/// How far a fit has come.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FitProgress {
    /// Newton steps made, with this precision
    pub steps: usize,
    /// the largest derivative of the objective, per observed transition
    pub gradient: f64,
    /// how much of the fit is done, from 0 to 1, as far as that can be known
    pub share: f64,
}

/// Fits the model to arms with features `[N,F]`, seen to move so often from s under a to s′ (`counts`, `[N,M,2,M]`).
///
/// [`Precision::HeldOut`] needs other arms (`held_out`: features and counts) to be judged on.
pub fn fit(
    features: ArrayView2<'_, f64>,
    counts: ArrayView4<'_, f64>,
    precision: Precision,
    held_out: Option<Arms<'_>>,
) -> Result<Fit> {
    let held_out = held_out.map(|(features, counts)| (features.to_owned(), counts.to_owned()));
    let mut fitting = Fitting::new(features, counts, precision, held_out)?;
    while !fitting.is_finished() {
        fitting.advance();
    }
    Ok(fitting.finish())
}

impl Fitting {
    /// At its beginning; see [`fit`](fn@fit).
    pub fn new(
        features: ArrayView2<'_, f64>,
        counts: ArrayView4<'_, f64>,
        precision: Precision,
        held_out: Option<(Array2<f64>, Array4<f64>)>,
    ) -> Result<Self> {
        let (f, m) = (features.ncols(), counts.len_of(Axis(1)));
        assert_eq!(counts.shape(), [features.nrows(), m, 2, m], "counts: [N,M,2,M]");
        let effect = Effect::new(f, m, precision)?;
        let (precisions, held_out) = match precision {
            Precision::Fixed(precision) => (vec![precision], None),
            Precision::HeldOut { cap } => {
                let grid = GRID.into_iter().filter(|p| *p < cap).chain([cap]);
                (grid.collect(), Some(held_out.ok_or_else(no_held_out)?))
            }
        };
        let newton = Newton::new(Problem::new((features, counts), precisions[0]), &effect);
        let mut fitting =
            Self { newton: Some(newton), precisions, effect, held_out, tried: Vec::new(), best: None };
        fitting.take_ended();
        Ok(fitting)
    }

    /// Whether there is nothing left to do.
    pub fn is_finished(&self) -> bool {
        self.newton.is_none()
    }

    /// A Newton step, or a part of a long one.
    pub fn advance(&mut self) {
        self.newton.as_mut().expect("a fit that is not finished").advance();
        self.take_ended();
    }

    /// How far it has come.
    pub fn progress(&self) -> FitProgress {
        match (&self.newton, &self.best) {
            (Some(newton), _) => {
                let done = self.tried.len() as f64 + newton.share();
                let share = done / self.precisions.len() as f64;
                FitProgress { steps: newton.steps, gradient: newton.gradient, share }
            }
            (None, Some(best)) => FitProgress { steps: best.steps, gradient: best.gradient, share: 1.0 },
            (None, None) => unreachable!("the first precision is always taken"),
        }
    }

    /// The fit, once finished.
    pub fn finish(self) -> Fit {
        assert!(self.is_finished(), "the fit is not finished");
        Fit { held_out: self.tried, ..self.best.expect("one precision is always tried") }
    }

    /// Where a precision is done, it is judged and the next one begins where it ended.
    fn take_ended(&mut self) {
        while let Some(newton) = self.newton.take_if(|newton| newton.status.is_some()) {
            let precision = self.precisions[self.tried.len()];
            let mut effect = self.effect.clone();
            effect.precision = Precision::Fixed(precision);
            newton.give(&mut effect);
            let status = newton.status.expect("it has ended");
            let (gradient, steps) = (newton.gradient, newton.steps);
            let fitted = Fit { effect, status, gradient, steps, held_out: Vec::new() };
            let Some((features, counts)) = &self.held_out else {
                self.best = Some(fitted);
                return;
            };
            let p = fitted.effect.predict(features.view());
            let seen = p.iter().zip(counts).filter(|(_, n)| **n > 0.0);
            let loss = -seen.map(|(p, n)| n * p.ln()).sum::<f64>();
            if self.best.is_none() || self.tried.iter().all(|(_, other)| loss < *other) {
                self.best = Some(fitted);
            }
            self.tried.push((precision, loss));
            self.newton = self.precisions.get(self.tried.len()).map(|next| newton.again(*next));
        }
    }
}

fn no_held_out() -> Error {
    let expected = "arms to judge the precision on, or a fixed precision".into();
    Error::Unsuitable { what: "held-out arms", found: "none".into(), expected }
}
