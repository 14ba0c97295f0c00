//! The pass after a fit: how well it predicts the three parts, as in memory.
//!
//! Of every instance and part −Σ n·ln P is summed. Where the validation arms are predicted worse than by the bare frequencies of moves,
//! one more pass says whether surely so.

use super::PassingTraining;
use super::parts::sort_by_name;
use crate::error::Result;
use crate::loss::minus_log;
use crate::nothing::{Compared, GROUPS, cause, is_judged_by_profile};
use crate::passing::{ROWS, of_part, pass, usual};
use ndarray::{Array3, Array4, Axis};
use restive::data::split::Part;
use restive::evaluation::{Record, frequencies};
use restive::instance::Counts;
use restive::predictor::{Ensemble, are_uneven};
use restive::training::Fitted;
use restive_tables::Piece;
use restive_tables::model::history::{Losses, PartLoss};

/// −Σ n·ln P by instance and part.
#[derive(Clone)]
pub(super) struct Judged(Vec<[f64; 3]>);

impl PassingTraining {
    pub(super) fn judge(&self, ensemble: &Ensemble) -> Result<Judged> {
        let mut sums = vec![[0.0; 3]; self.roll.instances().len()];
        pass(
            self.roll.pieces(ROWS)?,
            usual(),
            |piece| {
                let p = self.predict(ensemble, &piece)?;
                let counts = piece.there.trajectories.counts();
                let mut own = [0.0; 3];
                for (i, position) in piece.positions.iter().enumerate() {
                    let part = self.parts.of[*position as usize] as usize;
                    own[part] +=
                        minus_log(counts.view().index_axis(Axis(0), i), p.view().index_axis(Axis(0), i));
                }
                Ok((piece.instance, own))
            },
            |(instance, own)| {
                sums[instance].iter_mut().zip(own).for_each(|(sum, own)| *sum += own);
                Ok(())
            },
        )?;
        Ok(Judged(sums))
    }

    pub(super) fn predict(&self, ensemble: &Ensemble, piece: &Piece) -> Result<Array4<f64>> {
        let features = piece.there.encode(&self.card.encoding)?;
        Ok(ensemble.predict(features.view()))
    }

    /// The mean over the instances of a part of their loss per trajectory; none without any.
    pub(super) fn mean_loss(&self, Judged(sums): &Judged, part: Part) -> Option<f64> {
        let there = self.parts.instances(part);
        let one = |k: usize| sums[k][part as usize] / self.roll.instances()[k].trajectory_names.len() as f64;
        let count = there.clone().count();
        (count > 0).then(|| there.map(one).sum::<f64>() / count as f64)
    }

    /// As the card says them.
    pub(super) fn losses_of(&self, judged: &Judged) -> Losses {
        let [train, validation, test] = Part::ALL.map(|part| {
            let per_trajectory = self.mean_loss(judged, part)?;
            let transitions = self.moves[part as usize].sum();
            let total: f64 = judged.0.iter().map(|sums| sums[part as usize]).sum();
            Some(PartLoss {
                per_trajectory: Some(per_trajectory),
                per_transition: Some(total / transitions),
                transitions: transitions as u64,
            })
        });
        let frequencies = validation.map(|_| self.frequencies_loss()).filter(|loss| loss.is_finite());
        Losses { train, validation, test, frequencies }
    }

    /// How everybody moves who is known to nobody.
    fn frequencies(&self) -> Array3<f64> {
        let moves = self.moves[Part::Train as usize].clone().insert_axis(Axis(0));
        frequencies(&[&Record::Moves(Counts::new(moves, 1))])
    }

    /// −ln P of a transition of validation arms under them.
    fn frequencies_loss(&self) -> f64 {
        let moves = &self.moves[Part::Validation as usize];
        minus_log(moves.view(), self.frequencies().view()) / moves.sum()
    }

    /// Refuses a fit that held-out arms refute.
    pub(super) fn refuse_worse_than_nothing(&self, fitted: &Fitted, judged: &Judged) -> Result<()> {
        let losses = self.losses_of(judged);
        let found = losses.validation.and_then(|loss| loss.per_transition);
        let configuration = &self.card.configuration;
        let (true, Some(found)) = (is_judged_by_profile(configuration.profile), found) else {
            return Ok(());
        };
        // without a transition nobody can tell
        let nothing = self.frequencies_loss();
        if nothing.is_nan() || found <= nothing {
            return Ok(());
        }
        let seen = self.moves[Part::Train as usize].sum();
        let is_uneven = || are_uneven(self.sizes.iter().copied());
        let compared = self.compare(&Ensemble { members: vec![fitted.predictor.clone()] })?;
        compared.refuse_worse(configuration.predictor, || cause(fitted, is_uneven, seen))
    }

    /// The model beside the frequencies, over groups of validation arms.
    fn compare(&self, ensemble: &Ensemble) -> Result<Compared> {
        let (roll, row) = (&self.roll, self.frequencies());
        let is_held_out = |i: &u32| self.parts.of[*i as usize] == Part::Validation;
        let mut held_out: Vec<Vec<u32>> = vec![Vec::new(); roll.instances().len()];
        let everybody = (0..roll.people() as u32).filter(is_held_out);
        everybody.for_each(|i| held_out[roll.instance_of(i as usize)].push(i));
        held_out.iter_mut().for_each(|people| sort_by_name(roll, people));
        let held_out = held_out.concat();
        let mut group = vec![0u8; roll.people()];
        held_out.iter().enumerate().for_each(|(rank, i)| group[*i as usize] = (rank % GROUPS) as u8);
        let mut groups = vec![[0.0; 3]; GROUPS.min(held_out.len())];
        pass(
            roll.pieces(ROWS)?,
            usual(),
            |piece| {
                let p = self.predict(ensemble, &piece)?;
                let counts = piece.there.trajectories.counts();
                let mut own = [[0.0; 3]; GROUPS];
                for i in of_part(&self.parts.of, &piece, Part::Validation) {
                    let moves = counts.view().index_axis_move(Axis(0), i);
                    let sums = &mut own[usize::from(group[piece.positions[i] as usize])];
                    sums[0] += minus_log(moves, p.view().index_axis(Axis(0), i));
                    sums[1] += minus_log(moves, row.view());
                    sums[2] += moves.sum();
                }
                Ok(own)
            },
            |own| {
                let each = groups.iter_mut().zip(own);
                each.for_each(|(sum, own)| sum.iter_mut().zip(own).for_each(|(sum, own)| *sum += own));
                Ok(())
            },
        )?;
        Ok(Compared::new(&groups))
    }
}
