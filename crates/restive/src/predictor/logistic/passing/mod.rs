//! A fit whose arms pass by in pieces: it asks, and takes answers.
//!
//! Ten million people do not fit in memory, and partitions of a cluster do not meet. But a Newton step needs sums over the arms alone,
//! and these are small: value, slope and curvature of the likelihood at some weights. So the fit holds no arms. It has a
//! [`Question`]; whoever has the arms makes [`Sums`] of it, piece by piece, in any number of places, [merges](Sums::merge) them and
//! [answers](Passing::answer); and so on until there is no question left.
//!
//! **Passes.** One question is one pass over the arms, and it asks for all that the next step needs: a step that is taken costs one pass,
//! one that has to be shortened one more. How far a step changes logits, which [cuts](super::course) long ones, is asked in the same pass. Sums
//! do not know the penalties, so that rounds of [evidence](super::evidence) and further precisions begin without a
//! pass; and where held-out arms choose the precision their loss is asked beside every question, so that none is asked for them alone.
//!
//! **The same fit.** Steps, ends and penalties are those of [`fit`](fn@super::fit), with exact steps always; weights agree to what
//! rounding leaves, 10⁻⁹. (Of millions of arms `fit` takes the traces of its evidence column by column; a pass has them exactly.)
//! Where the matrices would be too large to solve with, [`Passing::new`] refuses.
//!
//! ```
//! use ndarray::{Array2, Array4, Axis};
//! use restive::predictor::logistic::{Passing, Precision, Question, Sums};
//!
//! let features = Array2::from_shape_fn((90, 1), |(i, _)| (i as f64 - 44.5) / 26.0);
//! let counts = Array4::from_shape_fn((90, 2, 2, 2), |(i, s, a, next)| ((i / 30 + s * a + next) % 3) as f64);
//! let mut passing = Passing::new(1, 2, Precision::Fixed(100.0))?;
//! while let Some(question) = passing.question() {
//!     let sent = question.to_bytes();
//!     // elsewhere, on three partitions
//!     let question = Question::from_bytes(&sent)?;
//!     let pieces = features.axis_chunks_iter(Axis(0), 30).zip(counts.axis_chunks_iter(Axis(0), 30));
//!     let answers: Vec<Vec<u8>> = pieces
//!         .map(|(features, counts)| {
//!             let mut sums = Sums::new(&question);
//!             sums.add(&question, features, counts);
//!             sums.to_bytes()
//!         })
//!         .collect();
//!     // and here again
//!     let mut sums = Sums::new(&question);
//!     for answer in answers {
//!         sums.merge(&Sums::from_bytes(&answer)?)?;
//!     }
//!     passing.answer(sums)?;
//! }
//! let fitted = passing.finish();
//! assert_eq!(fitted.model.predict(features.view()).dim(), (90, 2, 2, 2));
//! # Ok::<(), restive::Error>(())
//! ```

mod question;
mod rank;
mod rows;
mod sums;
mod tally;

pub use question::Question;
pub use sums::Sums;

use super::arrow::{Arrow, Grams};
use super::course::{Course, halved, is_downhill, is_short, moved, within_reach};
use super::fit::{Fit, FitProgress, ended};
use super::layout::Layout;
use super::ridge::Ridge;
use super::search::{Next, Search};
use super::{Form, Logistic, cost, evidence};
use crate::error::{Error, Result};
use ndarray::Array2;
use question::{carry_back, row_weights};

/// A fit whose arms pass by in pieces.
pub struct Passing {
    layout: Layout,
    ridge: Ridge,
    search: Search,
    untrained: Logistic,
    /// where it stands, once that is known
    here: Option<Here>,
    /// where it would go; none once the fit is done
    there: Option<There>,
    /// questions asked
    asked: u64,
    best: Option<Fit>,
}

/// Parameters, and what the arms say there.
struct Here {
    params: Vec<f64>,
    sums: Sums,
    slope: Vec<f64>,
    course: Course,
}

/// Parameters about which is asked.
struct There {
    params: Vec<f64>,
    question: Question,
    /// the step that leads there, and how much of it; none at the beginning
    step: Option<(Vec<f64>, f64)>,
}

impl Passing {
    /// At its beginning, for so many encoded features and states.
    pub fn new(features: usize, states: usize, form: impl Into<Form>) -> Result<Self> {
        if states == 0 {
            return Err(Error::Range { what: "states", expected: "at least 1", found: 0.0 });
        }
        let form = form.into();
        cost::check_direct(features, states, form)?;
        let untrained = Logistic::new(features, states, form)?;
        let search = Search::new(form, features, states);
        let layout = Layout { columns: features + 1, states, is_by_state: search.held().is_by_state() };
        let ridge = Ridge::new(layout.columns, states, search.held());
        let mut passing =
            Self { layout, ridge, search, untrained, here: None, there: None, asked: 0, best: None };
        passing.ask(vec![0.0; layout.len()], None);
        if layout.len() == 0 {
            // with one state there is nothing to ask
            let nothing = passing.question().map(Sums::new).expect("just asked");
            passing.answer(nothing)?;
        }
        Ok(passing)
    }

    /// What is to be summed over all arms next; none once the fit is done.
    pub fn question(&self) -> Option<&Question> {
        self.there.as_ref().map(|there| &there.question)
    }

    /// Takes the sums over all arms that the question asked for, and goes on to the next one; an error where they are those of
    /// another question, or of nobody.
    pub fn answer(&mut self, sums: Sums) -> Result<()> {
        let Some(There { question, .. }) = &self.there else {
            let expected = "none: the fit is done".into();
            return Err(Error::Unsuitable { what: "sums", found: "an answer".into(), expected });
        };
        sums.check(question.number, question.features, question.states)?;
        if question.asks_held_out && sums.held_out_arms() == 0 {
            let expected = "arms to judge the precision on, or a fixed precision".into();
            return Err(Error::Unsuitable { what: "held-out arms", found: "none".into(), expected });
        }
        let There { params, step, .. } = self.there.take().expect("seen");
        match (self.here.take(), step) {
            (Some(here), Some((step, share))) => self.arrive(here, params, step, share, sums),
            _ => {
                let slope = self.slope(&params, &sums);
                let course = Course::new(self.search.is_rough(), &slope, sums.observed());
                self.go_on(Here { params, sums, slope, course });
            }
        }
        Ok(())
    }

    /// How far it has come.
    pub fn progress(&self) -> FitProgress {
        match (&self.best, &self.here) {
            (Some(best), _) if self.there.is_none() => {
                FitProgress { steps: best.steps, gradient: best.gradient, share: 1.0 }
            }
            (_, Some(Here { course, .. })) => {
                let share = self.search.share(course.share());
                FitProgress { steps: course.steps, gradient: course.gradient, share }
            }
            _ => FitProgress { steps: 0, gradient: f64::INFINITY, share: 0.0 },
        }
    }

    /// Questions asked so far: passes over the arms.
    pub fn passes(&self) -> u64 {
        self.asked
    }

    /// The fit, once there is no question left.
    pub fn finish(self) -> Fit {
        assert!(self.there.is_none(), "the fit is not finished");
        Fit { held_out: self.search.tried(), ..self.best.expect("one penalty is always tried") }
    }

    /// The objective.
    fn value(&self, params: &[f64], sums: &Sums) -> f64 {
        sums.value() + self.ridge.value(params)
    }

    /// And its gradient.
    fn slope(&self, params: &[f64], sums: &Sums) -> Vec<f64> {
        let mut slope = carry_back(&self.layout, |row, k, g| sums.slope(row, k, g));
        self.ridge.add_gradient(params, &mut slope);
        slope
    }

    /// Asks about parameters: those after some share of a step, whose reach is asked where all of it is made.
    fn ask(&mut self, params: Vec<f64>, step: Option<(Vec<f64>, f64)>) {
        self.asked += 1;
        let whole = step.as_ref().filter(|(_, share)| *share == 1.0);
        let question = Question {
            number: self.asked,
            features: self.layout.columns - 1,
            states: self.layout.states,
            weights: row_weights(&self.layout, &params),
            change: whole.map(|(step, _)| row_weights(&self.layout, step)),
            asks_held_out: self.search.asks_held_out(),
        };
        self.there = Some(There { params, question, step });
    }

    /// Takes a step, or asks about less of it.
    fn arrive(&mut self, mut here: Here, params: Vec<f64>, step: Vec<f64>, share: f64, sums: Sums) {
        let reachable = if share == 1.0 { within_reach(sums.reach) } else { share };
        let less = if reachable < share {
            Some(reachable)
        } else if is_downhill(self.value(&here.params, &here.sums), self.value(&params, &sums)) {
            let was_short = is_short(&step, &here.params);
            let slope = self.slope(&params, &sums);
            here.course.arrive(was_short, &slope, sums.observed());
            return self.go_on(Here { params, sums, slope, ..here });
        } else {
            halved(share)
        };
        match less {
            Some(share) => {
                let params = moved(&here.params, &step, share);
                self.here = Some(here);
                self.ask(params, Some((step, share)));
            }
            None => {
                here.course.end();
                self.go_on(here);
            }
        }
    }

    /// Asks about the next step; where a fit has ended it is judged, and the next one begins where it ended.
    fn go_on(&mut self, mut here: Here) {
        loop {
            if here.course.status.is_none() {
                match arrow(&self.layout, &self.ridge, &here.sums) {
                    Some(arrow) => {
                        let step = arrow.solve(&self.layout, &here.slope);
                        let params = moved(&here.params, &step, 1.0);
                        self.here = Some(here);
                        return self.ask(params, Some((step, 1.0)));
                    }
                    None => here.course.give_up(),
                }
            }
            let held = self.search.held();
            let Self { layout, ridge, search, .. } = &mut *self;
            let evidence = || {
                let traces = arrow(layout, ridge, &here.sums)?.traces(layout, ridge);
                Some(evidence::penalties(layout, ridge, &here.params, traces))
            };
            let Next { is_best, then } = search.next(evidence, || here.sums.held_out());
            if is_best {
                let features: Vec<usize> = (0..self.layout.columns - 1).collect();
                let mut model = self.untrained.clone();
                self.layout.give(&features, &here.params, &mut model);
                self.best = Some(ended(&here.course, model, held));
            }
            let Some((held, is_rough)) = then else { return };
            self.ridge = Ridge::new(self.layout.columns, self.layout.states, held);
            here.slope = self.slope(&here.params, &here.sums);
            here.course = Course::new(is_rough, &here.slope, here.sums.observed());
        }
    }
}

/// The factors of the Hessian of an objective.
fn arrow(layout: &Layout, ridge: &Ridge, sums: &Sums) -> Option<Arrow> {
    let Layout { columns, states, .. } = *layout;
    let pairs = layout.odds() * (layout.odds() + 1) / 2;
    let matrix = |row: usize, pair: usize| {
        Array2::from_shape_fn((columns, columns), |(g, h)| sums.gram(row, pair, g, h))
    };
    let grams = |(s, pair): (usize, usize)| {
        let active = matrix(2 * s + 1, pair);
        Grams { both: matrix(2 * s, pair) + &active, active }
    };
    let cells = (0..states).flat_map(|s| (0..pairs).map(move |pair| (s, pair)));
    Arrow::new(layout, ridge, &cells.map(grams).collect::<Vec<_>>())
}
