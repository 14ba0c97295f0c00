//! The fit of a logistic model: by Newton's method at one penalty, at several of which held-out arms choose one, or in rounds by
//! which the [evidence](super::evidence) finds the penalties.

use super::evidence::{CENTRES, MOST_ROUNDS, USUAL_ROUNDS, is_steady};
use super::newton::Newton;
use super::problem::Problem;
use super::{Arms, Form, GRID, Held, Logistic, Penalties, Precision};
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
    best: Option<Fit>,
}

/// How the penalties are found.
enum Search {
    /// these
    Given(Held),
    /// by held-out arms, out of these precisions; those that were tried, with their losses
    HeldOut { precisions: Vec<f64>, arms: (Array2<f64>, Array4<f64>), tried: Vec<(f64, f64)> },
    /// by the evidence; rounds that were made, and whether these are the last penalties
    Evidence { now: [f64; 3], rounds: usize, is_last: bool },
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
        let search = match form {
            Form::Effect(Precision::Fixed(precision)) => Search::Given(Held::Effect(precision)),
            Form::Effect(Precision::HeldOut { cap }) => {
                let precisions = GRID.into_iter().filter(|p| *p < cap).chain([cap]).collect();
                Search::HeldOut { precisions, arms: held_out.ok_or_else(no_held_out)?, tried: Vec::new() }
            }
            Form::Hierarchical(Penalties::Fixed(penalties)) => Search::Given(Held::Hierarchical(penalties)),
            // without features, or with one state, there is nothing to hold
            Form::Hierarchical(Penalties::Evidence) if f == 0 || m < 2 => {
                Search::Given(Held::Hierarchical(CENTRES))
            }
            Form::Hierarchical(Penalties::Evidence) => {
                Search::Evidence { now: CENTRES, rounds: 0, is_last: false }
            }
        };
        let is_rough = matches!(search, Search::Evidence { .. });
        let newton = Newton::new(Problem::new((features, counts), search.held()), &model, is_rough);
        let mut fitting = Self { newton: Some(newton), model, search, best: None };
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
                let (done, all) = match &self.search {
                    Search::Given(_) => (0.0, 1.0),
                    Search::HeldOut { precisions, tried, .. } => {
                        (tried.len() as f64, precisions.len() as f64)
                    }
                    Search::Evidence { rounds, .. } => {
                        (*rounds as f64, USUAL_ROUNDS.max(*rounds as f64 + 1.0))
                    }
                };
                let share = (done + newton.share()) / all;
                FitProgress { steps: newton.steps, gradient: newton.gradient, share }
            }
            (None, Some(best)) => FitProgress { steps: best.steps, gradient: best.gradient, share: 1.0 },
            (None, None) => unreachable!("the first penalties are always taken"),
        }
    }

    /// The fit, once finished.
    pub fn finish(self) -> Fit {
        assert!(self.is_finished(), "the fit is not finished");
        let held_out = match self.search {
            Search::HeldOut { tried, .. } => tried,
            Search::Given(_) | Search::Evidence { .. } => Vec::new(),
        };
        Fit { held_out, ..self.best.expect("one penalty is always tried") }
    }

    /// Where a fit has ended, it is judged, and the next one begins where it ended.
    fn take_ended(&mut self) {
        while let Some(newton) = self.newton.take_if(|newton| newton.status.is_some()) {
            self.newton = match &mut self.search {
                Search::Evidence { now, rounds, is_last } if !*is_last => {
                    let next = newton.evidence().unwrap_or(*now);
                    *rounds += 1;
                    *is_last = is_steady(*now, next) || *rounds == MOST_ROUNDS;
                    *now = next;
                    Some(newton.again(Held::Hierarchical(next), !*is_last))
                }
                Search::Given(_) | Search::Evidence { .. } => {
                    self.best = Some(ended(&newton, &self.model, self.search.held()));
                    None
                }
                Search::HeldOut { precisions, arms: (features, counts), tried } => {
                    let precision = precisions[tried.len()];
                    let fitted = ended(&newton, &self.model, Held::Effect(precision));
                    let p = fitted.model.predict(features.view());
                    let seen = p.iter().zip(&*counts).filter(|(_, n)| **n > 0.0);
                    let loss = -seen.map(|(p, n)| n * p.ln()).sum::<f64>();
                    if self.best.is_none() || tried.iter().all(|(_, other)| loss < *other) {
                        self.best = Some(fitted);
                    }
                    tried.push((precision, loss));
                    precisions.get(tried.len()).map(|next| newton.again(Held::Effect(*next), false))
                }
            };
        }
    }
}

impl Search {
    /// The penalties that are tried now, or first.
    fn held(&self) -> Held {
        match self {
            Search::Given(held) => *held,
            Search::HeldOut { precisions, tried, .. } => Held::Effect(precisions[tried.len()]),
            Search::Evidence { now, .. } => Held::Hierarchical(*now),
        }
    }
}

/// The model of a Newton fit that has ended.
fn ended(newton: &Newton, untrained: &Logistic, held: Held) -> Fit {
    let mut model = untrained.clone();
    model.form = held.form();
    newton.give(&mut model);
    let status = newton.status.expect("it has ended");
    Fit { model, status, gradient: newton.gradient, steps: newton.steps, held_out: Vec::new() }
}

fn no_held_out() -> Error {
    let expected = "arms to judge the precision on, or a fixed precision".into();
    Error::Unsuitable { what: "held-out arms", found: "none".into(), expected }
}
