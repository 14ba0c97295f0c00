//! What everybody can expect without a call, and the states that it is expected from.

use super::columns::Everybody;
use crate::error::Result;
use restive_pipeline::{Applied, Effects, latest};
use restive_tables::Study;

/// The last state that was seen of everybody, instance by instance.
pub(super) fn states(study: &Study) -> Vec<Vec<Option<u16>>> {
    let observation = study.settings.observation;
    let of_label = |label: u16| match observation.chain() {
        None => label,
        Some(chain) => label / chain.beliefs() as u16,
    };
    let instance = |one: &restive_tables::StudyInstance| {
        latest(&one.trajectories, observation).into_iter().map(|state| state.map(of_label)).collect()
    };
    study.instances.iter().map(instance).collect()
}

/// What everybody expects without a call; whose state was never seen, the mean over states.
pub(super) fn need(applied: &Applied<'_>, everybody: &Everybody<'_>) -> Result<Effects<Vec<f64>>> {
    let study = applied.study;
    let mut alone = Vec::with_capacity(study.instances.len());
    for k in 0..study.instances.len() {
        match applied.left_alone(k, None)? {
            Effects::Identified(found) => alone.push(found),
            Effects::Withheld(why) => return Ok(Effects::Withheld(why)),
        }
    }
    let observation = study.settings.observation;
    let labels: Vec<Vec<Option<u16>>> =
        study.instances.iter().map(|one| latest(&one.trajectories, observation)).collect();
    let one = |(place, state): (&Option<[usize; 2]>, &Option<u16>)| {
        let Some([k, i]) = *place else { return 0.0 };
        // a plan on record says in which state it found her; a label is the study's to say
        let now = if observation.chain().is_some() { labels[k][i] } else { *state };
        let row = alone[k].row(i);
        match now.and_then(|state| row.get(usize::from(state))) {
            Some(reward) => *reward,
            None => row.mean().unwrap_or(0.0),
        }
    };
    Ok(Effects::Identified(everybody.place.iter().zip(&everybody.state).map(one).collect()))
}
