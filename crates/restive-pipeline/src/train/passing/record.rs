//! What people's own records are worth, from validation arms that are looked at once more: the same ones as in memory, in the same order.

use super::PassingTraining;
use super::parts::sort_by_name;
use crate::error::Result;
use crate::own_record::{heard, learnt};
use crate::passing::{pass, usual};
use ndarray::{Array4, ArrayView3, Axis, stack};
use rayon::prelude::*;
use restive::Trajectories;
use restive::data::split::Part;
use restive::history::HeldOut;
use restive::predictor::Ensemble;
use restive_tables::arm_key;
use restive_tables::model::OwnRecord;
use restive_tables::model::own_record::HeldOutArms;
use std::collections::HashMap;

impl PassingTraining {
    /// None where nobody can say.
    pub(super) fn own_record(&self, ensemble: &Ensemble) -> Result<Option<OwnRecord>> {
        let (roll, instances) = (&self.roll, self.roll.instances());
        let keyed = (0..roll.people() as u32)
            .into_par_iter()
            .filter(|i| self.parts.of[*i as usize] == Part::Validation)
            .map(|i| (arm_key(&instances[roll.instance_of(i as usize)].name, roll.name(i as usize)), i));
        let heard = heard(keyed.collect());
        let mut predicted: HashMap<u32, Vec<f64>> = HashMap::new();
        pass(
            roll.some(&heard)?,
            usual(),
            |piece| Ok((self.predict(ensemble, &piece)?, piece.positions)),
            |(p, positions)| {
                let rows = p.outer_iter().map(|row| row.iter().copied().collect());
                predicted.extend(positions.into_iter().zip(rows));
                Ok(())
            },
        )?;
        let m = roll.settings.reward.states();
        let mut people: Vec<(Trajectories, Array4<f64>)> = Vec::new();
        for k in 0..instances.len() {
            let mut there: Vec<u32> =
                heard.iter().copied().filter(|i| roll.instance_of(*i as usize) == k).collect();
            if there.is_empty() {
                continue;
            }
            sort_by_name(roll, &mut there);
            let row = |i: &u32| ArrayView3::from_shape((m, 2, m), &predicted[i]).expect("[M,2,M]");
            let rows: Vec<_> = there.iter().map(row).collect();
            let prediction = stack(Axis(0), &rows).expect("as many states each");
            people.push((roll.trajectories_of(k, &there)?, prediction));
        }
        let held_out: Vec<HeldOut<'_>> = people
            .iter()
            .map(|(log, prediction)| HeldOut {
                log,
                observation: roll.settings.observation,
                prediction: prediction.view(),
            })
            .collect();
        Ok(learnt(&held_out, HeldOutArms::Validation, &ensemble.members[0].architecture().kind))
    }
}
