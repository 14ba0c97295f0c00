//! The fit: one pass for every question, its sums merged in the order of the file.

use super::{PassingTraining, on};
use crate::error::{Error, Result};
use crate::passing::{ROWS, of_part, pass, usual};
use ndarray::Axis;
use rayon::ThreadPool;
use restive::data::split::Part;
use restive::predictor::logistic::{Fit, FitProgress, Passing, Question, Sums};
use restive_tables::Piece;

/// Bytes of sums that pieces may take at the same time, as far as there is a choice.
const ROOM: usize = 1 << 28;
/// Groups of the arms of a piece that have sums of their own.
const GROUPS: usize = 8;

impl PassingTraining {
    /// Asks until there is no question left; `visit` hears how far it has come.
    pub(super) fn fit<E: From<Error>>(
        &self,
        pool: Option<&ThreadPool>,
        mut visit: impl FnMut(FitProgress) -> std::result::Result<(), E>,
    ) -> std::result::Result<Fit, E> {
        let (features, states) = (self.card.encoding.width(), self.card.predictor.states);
        let mut passing = Passing::new(features, states, self.form).map_err(Error::from)?;
        while let Some(question) = passing.question() {
            let sums = on(pool, || self.answer(question))?;
            passing.answer(sums).map_err(Error::from)?;
            visit(passing.progress())?;
        }
        Ok(passing.finish())
    }

    fn answer(&self, question: &Question) -> Result<Sums> {
        let (columns, m) = (question.features() + 1, question.states());
        let matrices = 8 * GROUPS * m * (m - 1) * m * columns * columns;
        let mut all = Sums::new(question);
        pass(
            self.roll.pieces(ROWS)?,
            usual().min(ROOM / matrices.max(1)),
            |piece| self.sums(question, &piece),
            |sums| Ok(all.merge(&sums)?),
        )?;
        Ok(all)
    }

    /// Of the people of a piece.
    fn sums(&self, question: &Question, piece: &Piece) -> Result<Sums> {
        let mut sums = Sums::new(question);
        let features = piece.there.encode(&self.card.encoding)?;
        let counts = piece.there.trajectories.counts();
        let some = |part: Part| {
            let arms = of_part(&self.parts.of, piece, part);
            (features.select(Axis(0), &arms), counts.view().select(Axis(0), &arms))
        };
        let (train, moves) = some(Part::Train);
        sums.add(question, train.view(), moves.view());
        if question.asks_held_out() {
            let (held_out, moves) = some(Part::Validation);
            sums.add_held_out(question, held_out.view(), moves.view());
        }
        Ok(sums)
    }
}
