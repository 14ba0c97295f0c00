//! What a model says of the people of a batch, row by row: what a call is worth, chances, and what sets her apart.
//!
//! | column | what it holds |
//! |---|---|
//! | `index` | the Whittle index in the latest state. Null, like all columns, if the person was never seen or the training saw no transition from the state. If effects are not identified, it is only the order of the model |
//! | `value` | the reward that a call adds over the steps ahead, given what later calls cost; null where prices are not known |
//! | `chance_left_alone`, `chance_called` | of a good state next, without and with a call |
//! | `reason_level`, `reason_effect` | the column that sets her chance if left alone, or the effect of a call, most apart from a typical person's; `own record` where that is it |
//! | `reason_level_points`, `reason_effect_points` | how many percentage points it adds to the chance if left alone, or if called |
//!
//! All other columns are null if effects of calls are not identified.
//!
//! Rows are those of the batch, in its order. A function of the job and the row alone: the same bits in every batch and on every machine.

use super::super::ahead::Ahead;
use super::job::PlanJob;
use crate::error::Result;
use crate::identification::Identification;
use crate::reasons::{chance, good_states, points};
use arrow_array::{ArrayRef, Float64Array, RecordBatch, StringArray};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use ndarray::{ArrayView1, Axis, s};
use restive::data::reference::Reference;
use restive::history::Rule;
use restive::predictor::contributions::{Question, contributions};
use restive_tables::PeoplePiece;
use std::sync::Arc;

/// What a reason is called that is no column.
const OWN_RECORD: &str = "own record";
const NUMBERS: [&str; 6] =
    ["index", "value", "chance_left_alone", "chance_called", "reason_level_points", "reason_effect_points"];
const WORDS: [&str; 2] = ["reason_level", "reason_effect"];

/// The columns on their way, by row of the batch.
struct Scored {
    numbers: [Vec<Option<f64>>; 6],
    words: [Vec<Option<String>>; 2],
}

impl PlanJob {
    /// The columns that a score has.
    pub fn score_schema() -> SchemaRef {
        let number = NUMBERS.map(|name| Field::new(name, DataType::Float64, true));
        let word = WORDS.map(|name| Field::new(name, DataType::Utf8, true));
        Arc::new(Schema::new(number.into_iter().chain(word).collect::<Vec<_>>()))
    }

    /// What the model says of the people of a batch, a row for each of theirs.
    pub fn score(&self, batch: &RecordBatch) -> Result<RecordBatch> {
        let n = batch.num_rows();
        let mut scored = Scored {
            numbers: std::array::from_fn(|_| vec![None; n]),
            words: std::array::from_fn(|_| vec![None; n]),
        };
        for piece in self.pieces(batch, |_, _| true)? {
            self.score_piece(&piece, &mut scored)?;
        }
        let Scored { numbers, words } = scored;
        let numbers = numbers.into_iter().map(|column| -> ArrayRef { Arc::new(Float64Array::from(column)) });
        let words = words.into_iter().map(|column| -> ArrayRef { Arc::new(StringArray::from(column)) });
        Ok(RecordBatch::try_new(Self::score_schema(), numbers.chain(words).collect())
            .expect("a row for each"))
    }

    fn score_piece(&self, piece: &PeoplePiece, scored: &mut Scored) -> Result<()> {
        let outset = match &self.priced {
            Some(_) => self.outset_with_prices()?,
            None => self.outset(&[&piece.instance])?,
        };
        let here = self.here(&outset, piece)?;
        let (settings, transition) = (&self.settings, &here.transition);
        let (index, _) = outset.index.table(transition, &settings.reward, settings.observation)?;
        let stage = outset.stages.iter().find(|stage| stage.name == piece.instance);
        let advantage = stage.and_then(|stage| Some((stage, stage.price.clone()?))).map(|(stage, price)| {
            Ahead::at(settings, transition, &here.ranked, stage.steps, price).advantage()
        });
        let is_scored = |i: &usize| here.ranked[*i].is_some_and(|state| !outset.is_unobserved(state));
        let seen: Vec<usize> = (0..here.len()).filter(is_scored).collect();
        let states: Vec<usize> = seen.iter().map(|i| usize::from(here.ranked[*i].unwrap_or(0))).collect();
        let (card, good) = (&self.trained.model.card, good_states(settings)?);
        let encoding = &card.encoding;
        let typical = card.reference.clone().unwrap_or_else(|| Reference::of_encoding(encoding));
        let (reference, groups) = (typical.encode(encoding), encoding.groups());
        let question = Question { reference: reference.view(), groups: &groups, good: &good };
        let features = piece.encode(encoding)?.select(Axis(0), &seen);
        let found = contributions(&self.trained.ensemble, features.view(), &states, &question);
        let names: Vec<&str> = encoding.columns.iter().map(|column| column.name.as_str()).collect();
        for (k, (&i, &state)) in seen.iter().zip(&states).enumerate() {
            let row = |a: usize| transition.view().slice_move(s![i, state, a, ..]).to_owned();
            let [(alone, z_alone), (called, z_called)] = [0, 1].map(|a| chance(row(a).view(), &good));
            let own = |amount: f64| if outset.rule == Rule::Alone { 0.0 } else { amount };
            let (level, to_level) = largest(&names, found.level.row(k), own(z_alone - found.own[[k, 0]]));
            let (effect, to_effect) =
                largest(&names, found.effect.row(k), own(z_called - z_alone - found.own[[k, 1]]));
            let at = piece.rows[i] as usize;
            if card.identification != Identification::Identified {
                scored.numbers[0][at] = Some(index[[i, state]] + 0.0);
                continue;
            }
            let numbers = [
                Some(index[[i, state]] + 0.0),
                advantage.as_ref().map(|advantage| advantage[[i, state]] + 0.0),
                Some(alone),
                Some(called),
                Some(points(alone, to_level)),
                Some(points(called, to_effect)),
            ];
            scored.numbers.iter_mut().zip(numbers).for_each(|(column, number)| column[at] = number);
            scored.words[0][at] = Some(level.into());
            scored.words[1][at] = Some(effect.into());
        }
        Ok(())
    }
}

/// What is apart most, and by how much: a column, or the own record.
fn largest<'n>(names: &[&'n str], amounts: ArrayView1<'_, f64>, record: f64) -> (&'n str, f64) {
    let mut best = (OWN_RECORD, record);
    for (name, amount) in names.iter().zip(amounts) {
        if amount.abs() > best.1.abs() || best.1 == 0.0 && *amount != 0.0 {
            best = (name, *amount);
        }
    }
    best
}
