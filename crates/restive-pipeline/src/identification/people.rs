//! Arms whose log is checked: at most 100,000, those with the smallest keys of their names.

use crate::error::Result;
use crate::prepare::every_arm;
use rayon::prelude::*;
use restive::data::features::{Column, Features};
use restive::data::split::Group;
use restive::evidence::Design;
use restive_tables::{Roll, Study, StudyInstance, arm_key, by_name};

/// Maximum number of arms whose log is checked.
pub(super) const MOST_PEOPLE: usize = 100_000;
/// Approximate maximum number of inputs of the model of who was pulled.
const MOST_NUMBERS: usize = 30_000_000;
/// Approximate maximum number of decisions of people.
const MOST_ROWS: usize = 3_000_000;
/// Minimum number of arms that are checked.
const LEAST_PEOPLE: usize = 1_000;

/// Number of arms to begin with, so that the check takes seconds: more are taken while they have too few pulls.
pub(super) fn first_sample(study: &Study, columns: usize, design: Design) -> usize {
    let log = study.instances.iter().map(|instance| &instance.trajectories);
    let decisions = log.map(|log| log.trajectories() * (log.steps() - 1)).max().unwrap_or(1).max(1);
    let rows = match design {
        Design::Estimated => MOST_ROWS.min(MOST_NUMBERS / columns.max(1)),
        Design::Uniform | Design::Rota | Design::Logged => MOST_ROWS,
    };
    (rows / decisions).clamp(LEAST_PEOPLE, MOST_PEOPLE)
}

/// At most `most` arms of a study, by instance.
pub(super) fn chosen(study: &Study, most: usize) -> Vec<Group> {
    let everyone = every_arm(study);
    if study.arms().iter().sum::<usize>() <= most {
        return everyone;
    }
    let keys = |group: &Group| {
        let there = &study.instances[group.instance];
        let key = |arm: &usize| (arm_key(&there.name, &there.arms[*arm]), group.instance, *arm);
        group.arms.iter().map(key).collect::<Vec<_>>()
    };
    let mut keyed: Vec<_> = everyone.iter().flat_map(keys).collect();
    keyed.select_nth_unstable(most);
    keyed.truncate(most);
    let mut groups: Vec<Group> =
        everyone.iter().map(|group| Group { instance: group.instance, arms: Vec::new() }).collect();
    keyed.iter().for_each(|(_, instance, arm)| groups[*instance].arms.push(*arm));
    groups.iter_mut().for_each(|group| group.arms.sort_unstable());
    groups.retain(|group| !group.arms.is_empty());
    groups
}

/// Study in memory of at most `most` people of a streamed study, those with the smallest keys of their names.
pub(crate) fn sample_of_roll(roll: &Roll, most: usize) -> Result<Study> {
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
            clusters: None,
            trajectory_names: instances[k].trajectory_names.clone(),
            trajectories: roll.trajectories_of(k, &people)?,
            truth: None,
        })
    };
    let filled = there.into_iter().enumerate().filter(|(_, (positions, _))| !positions.is_empty());
    let instances = filled.map(one).collect::<Result<_>>()?;
    Ok(Study { settings: roll.settings.clone(), instances })
}

/// Features without a difference between people: all values are equal or missing.
pub(crate) fn constant_features(study: &Study) -> Vec<String> {
    let features = study.features(&crate::prepare::every_arm(study));
    let is_same = |name: &String| match features.column(name) {
        Some(Column::Number(x)) => {
            let known: Vec<f64> = x.iter().copied().filter(|x| !x.is_nan()).collect();
            known.windows(2).all(|pair| pair[0] == pair[1])
        }
        Some(Column::Text(x)) => {
            let known: Vec<_> = x.iter().flatten().collect();
            known.windows(2).all(|pair| pair[0] == pair[1])
        }
        None => false,
    };
    features.names().iter().filter(|name| is_same(name)).cloned().collect()
}
