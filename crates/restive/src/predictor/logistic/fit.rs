//! The fit of a logistic model: by Newton's method at one penalty, at several of which held-out arms choose one, or in rounds by
//! which the [evidence](super::evidence) finds the penalties.

use super::course::Course;
use super::newton::Newton;
use super::problem::Problem;
use super::search::{Next, Search};
use super::{Arms, Form, Held, Logistic};
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
    pub model: Logistic,
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
    model: Logistic,
    search: Search,
    held_out: Option<(Array2<f64>, Array4<f64>)>,
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
/// [`Precision::HeldOut`](super::Precision::HeldOut) needs other arms (`held_out`: features and counts) to be judged on.
pub fn fit(
    features: ArrayView2<'_, f64>,
    counts: ArrayView4<'_, f64>,
    form: impl Into<Form>,
    held_out: Option<Arms<'_>>,
) -> Result<Fit> {
    let held_out = held_out.map(|(features, counts)| (features.to_owned(), counts.to_owned()));
    let mut fitting = Fitting::new(features, counts, form, held_out)?;
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
        form: impl Into<Form>,
        held_out: Option<(Array2<f64>, Array4<f64>)>,
    ) -> Result<Self> {
        let (f, m) = (features.ncols(), counts.len_of(Axis(1)));
        assert_eq!(counts.shape(), [features.nrows(), m, 2, m], "counts: [N,M,2,M]");
        let form = form.into();
        let model = Logistic::new(f, m, form)?;
        let search = Search::new(form, f, m);
        if search.asks_held_out() && held_out.is_none() {
            return Err(no_held_out());
        }
        let newton = Newton::new(Problem::new((features, counts), search.held()), &model, search.is_rough());
        let mut fitting = Self { newton: Some(newton), model, search, held_out, best: None };
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
            (Some(Newton { course, .. }), _) => {
                let share = self.search.share(course.share());
                FitProgress { steps: course.steps, gradient: course.gradient, share }
            }
            (None, Some(best)) => FitProgress { steps: best.steps, gradient: best.gradient, share: 1.0 },
            (None, None) => unreachable!("the first penalties are always taken"),
        }
    }

    /// The fit, once finished.
    pub fn finish(self) -> Fit {
        assert!(self.is_finished(), "the fit is not finished");
        Fit { held_out: self.search.tried(), ..self.best.expect("one penalty is always tried") }
    }

    /// Where a fit has ended, it is judged, and the next one begins where it ended.
    fn take_ended(&mut self) {
        while let Some(newton) = self.newton.take_if(|newton| newton.course.status.is_some()) {
            let held = self.search.held();
            let mut model = self.model.clone();
            newton.give(&mut model);
            let fitted = ended(&newton.course, model, held);
            let loss = || {
                let (features, counts) = self.held_out.as_ref().expect("checked");
                let p = fitted.model.predict(features.view());
                let seen = p.iter().zip(counts).filter(|(_, n)| **n > 0.0);
                -seen.map(|(p, n)| n * p.ln()).sum::<f64>()
            };
            let Next { is_best, then } = self.search.next(|| newton.evidence(), loss);
            if is_best {
                self.best = Some(fitted);
            }
            self.newton = then.map(|(held, is_rough)| newton.again(held, is_rough));
        }
    }
}

/// A model with the parameters where a course has ended.
pub(super) fn ended(course: &Course, mut model: Logistic, held: Held) -> Fit {
    model.form = held.form();
    let status = course.status.expect("it has ended");
    Fit { model, status, gradient: course.gradient, steps: course.steps, held_out: Vec::new() }
}

fn no_held_out() -> Error {
    let expected = "arms to judge the precision on, or a fixed precision".into();
    Error::Unsuitable { what: "held-out arms", found: "none".into(), expected }
}
