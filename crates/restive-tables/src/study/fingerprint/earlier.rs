//! The first kind of fingerprint, which cards and ledgers of earlier versions carry: one XXH3-128 over everything, arms in the order of
//! their names, as little-endian numbers and length-prefixed text. [Declarations](super::declared), of which earlier versions knew
//! nothing, follow.

use super::{Digest, declared};
use crate::study::{Study, StudyInstance};
use restive::data::features::Column;
use restive::instance::{Chain, Observation};
use xxhash_rust::xxh3::Xxh3;

/// 32 hexadecimal digits.
pub(in crate::study) fn of_study(study: &Study) -> String {
    let mut digest = Digest(Xxh3::new());
    let settings = &study.settings;
    digest.text("restive study 1");
    digest.floats(settings.reward.view().iter());
    digest.floats([settings.discount].iter());
    digest.number(settings.budget as u64);
    digest.number(settings.horizon as u64);
    digest.text(settings.behaviour.name());
    if let Observation::Collapsing(chain) = settings.observation {
        digest.text(if let Chain::Infinite { .. } = chain { "infinite" } else { "finite" });
        digest.number(chain.beliefs() as u64);
    }
    digest.number(study.instances.len() as u64);
    study.instances.iter().for_each(|instance| add(&mut digest, instance));
    declared::add(&mut digest, study);
    format!("{:032x}", digest.0.digest128())
}

fn add(digest: &mut Digest, instance: &StudyInstance) {
    digest.text(&instance.name);
    digest.number(instance.arms.len() as u64);
    instance.arms.iter().for_each(|arm| digest.text(arm));
    for (name, column) in instance.features.names().iter().zip(instance.features.columns()) {
        digest.text(name);
        digest.text(column.kind());
        match column {
            Column::Number(values) => digest.floats(values.iter()),
            Column::Text(values) => values.iter().for_each(|text| digest.text(text.as_deref().unwrap_or(""))),
        }
    }
    match &instance.split {
        None => digest.number(0),
        Some(parts) => parts.iter().for_each(|part| digest.number(1 + *part as u64)),
    }
    let logged = &instance.trajectories;
    logged.state().shape().iter().for_each(|length| digest.number(*length as u64));
    instance.trajectory_names.iter().for_each(|name| digest.text(name));
    let steps = logged.state().iter().flat_map(|state| state.to_le_bytes()).collect::<Vec<u8>>();
    digest.0.update(&steps);
    match logged.action().as_slice() {
        Some(actions) => digest.0.update(actions),
        None => logged.action().iter().for_each(|action| digest.0.update(&[*action])),
    }
    for values in [logged.propensity(), logged.reward()] {
        digest.floats(values.iter().flat_map(|all| all.iter()).collect::<Vec<_>>().into_iter());
    }
    digest.floats(instance.truth.iter().flat_map(|p| p.view()).collect::<Vec<_>>().into_iter());
}
