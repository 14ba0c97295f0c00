//! What is made of a prediction beside a past: plain data, to be kept with a model.

use super::{Carry, Gauss, Past, sighted};
use crate::error::{Error, Result};
use crate::evaluation::Record;
use crate::instance::{Layout, Transition};
use ndarray::ArrayView4;

/// How a person's own past counts beside the prediction.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Rule {
    /// not at all
    Alone,
    /// in closed form, for any number of states
    Carry(Carry),
    /// by a posterior on the scale of log-odds, for two states that are seen at every step
    Gauss(Gauss),
}

impl Rule {
    /// The transitions to plan with, `[N,M,2,M]`: the prediction (likewise), in the light of the past.
    pub fn apply(&self, past: &Past, prediction: ArrayView4<'_, f64>) -> Result<Transition> {
        match (self, &past.record) {
            (Rule::Alone, _) => Transition::new(prediction.to_owned(), Layout::Nsas),
            (Rule::Carry(carry), Record::Moves(counts)) => Ok(carry.apply(counts.view(), prediction)),
            (Rule::Carry(carry), Record::Sightings { seen, .. }) => {
                Ok(sighted::apply(carry, seen.view(), prediction))
            }
            (Rule::Gauss(gauss), Record::Moves(counts)) if counts.view().shape()[1] == 2 => {
                Ok(gauss.apply(counts.view(), &past.first, prediction))
            }
            (Rule::Gauss(_), record) => {
                let found = match record {
                    Record::Moves(counts) => format!("{} states", counts.view().shape()[1]),
                    Record::Sightings { .. } => "states that are seen at pulls only".into(),
                };
                let expected = "two states, seen at every step, as the Gaussian rule has".into();
                Err(Error::Unsuitable { what: "record", found, expected })
            }
        }
    }
}
