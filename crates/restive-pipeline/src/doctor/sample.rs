//! The doctor of very many people: those with the smallest keys stand for all of them.
//!
//! What the checks test, slopes and small differences, shows in a hundred thousand people as it does in ten million. What is rare may not
//! be among them, so each finding says of how many people it speaks. What was seen by step is counted over everybody,
//! and so are the values of columns, of which a sample has more to a person.

use super::columns::identifiers_of;
use super::coverage::coverage_of;
use super::{Doctor, Finding};
use crate::error::Result;
use crate::plan::{MOST_IN_MEMORY, is_large};
use crate::words::grouped;
use rayon::prelude::*;
use restive::data::features::Features;
use restive_tables::{Roll, Study, StudyInstance, arm_key, by_name};
use std::path::Path;

impl Doctor {
    /// Looks the study of a folder through, a sample of its people where it is large; and what the study is called, where it says.
    /// (Where propensities are logged, which a roll does not keep, everybody is read into memory.)
    pub fn of_folder(folder: &Path) -> Result<(Self, Option<String>)> {
        if is_large(folder)? {
            let roll = Roll::read(folder)?;
            if !roll.counts().has_propensity {
                return Ok((Self::of_roll(&roll, MOST_IN_MEMORY as usize)?, roll.settings.name.clone()));
            }
        }
        let study = Study::read(folder)?;
        Ok((Self::new(&study), study.settings.name))
    }

    /// Looks at so many people of a roll at most, whose log says nothing of propensities.
    pub fn of_roll(roll: &Roll, most: usize) -> Result<Self> {
        let everybody = roll.people();
        let mut doctor = Self::new(&sample(roll, most)?);
        if everybody <= most {
            return Ok(doctor);
        }
        let counted = [coverage_of(roll), identifiers_of(roll)?];
        let looked_at = format!(
            " (Looked at {} people of {}, drawn by their names.)",
            grouped(most as u64),
            grouped(everybody as u64)
        );
        for finding in &mut doctor.findings {
            match counted.iter().find(|counted| counted.name == finding.name) {
                Some(counted) => *finding = Finding { silenced: finding.silenced.take(), ..counted.clone() },
                None => finding.found += &looked_at,
            }
        }
        Ok(Self::sorted(doctor.findings))
    }
}

/// The people with the smallest keys, in memory.
fn sample(roll: &Roll, most: usize) -> Result<Study> {
    let instances = roll.instances();
    let key = |i: u32| arm_key(&instances[roll.instance_of(i as usize)].name, roll.name(i as usize));
    let mut keyed: Vec<(u64, u32)> = (0..roll.people() as u32).into_par_iter().map(|i| (key(i), i)).collect();
    if keyed.len() > most {
        keyed.select_nth_unstable(most);
        keyed.truncate(most);
    }
    let chosen: Vec<u32> = keyed.into_iter().map(|(_, i)| i).collect();
    let mut there: Vec<(Vec<u32>, Vec<Features>)> = vec![Default::default(); instances.len()];
    for piece in roll.some(&chosen)? {
        let piece = piece?;
        let (positions, features) = &mut there[piece.instance];
        positions.extend(piece.positions);
        features.push(piece.there.features);
    }
    let one = |(k, (positions, features)): (usize, (Vec<u32>, Vec<Features>))| -> Result<StudyInstance> {
        let name = |at: &usize| roll.name(positions[*at] as usize);
        let mut order: Vec<usize> = (0..positions.len()).collect();
        order.par_sort_unstable_by(|a, b| by_name(name(a), name(b)));
        let people: Vec<u32> = order.iter().map(|at| positions[*at]).collect();
        Ok(StudyInstance {
            name: instances[k].name.clone(),
            arms: people.iter().map(|i| roll.name(*i as usize).to_string()).collect(),
            features: Features::stack(&features).select_arms(&order),
            split: people.iter().map(|i| roll.part(*i as usize)).collect(),
            trajectory_names: instances[k].trajectory_names.clone(),
            trajectories: roll.trajectories_of(k, &people)?,
            truth: None,
        })
    };
    let filled = there.into_iter().enumerate().filter(|(_, (positions, _))| !positions.is_empty());
    let instances = filled.map(one).collect::<Result<_>>()?;
    Ok(Study { settings: roll.settings.clone(), instances })
}
