//! Whether a log shows what a call does, and what may be stated if it does not.
//!
//! | file | content |
//! |---|---|
//! | `assignment` | how pulls were assigned, as declared or recorded |
//! | `objection` | checks of that declaration against the log: rota, number of pulls, balance |
//! | `shapes` | shapes that have to be declared: availability, clusters, pulls per person |
//! | `people` | arms whose log is checked, at most 100,000 |
//! | `effects` | numbers that a result has only if effects are identified |
//!
//! No model of outcomes is fitted, so that a training stores the answer in its card and an evaluation refuses before it fits models in
//! folds. Some refusals need a fitted model (`expected reward`, `rank`): [`refuse`](restive_tables::Model::refuse) writes them into the folder of the
//! evaluated model, and reading the model puts them on its card.

mod assignment;
mod effects;
mod objection;
mod people;
mod shapes;

pub use assignment::BehaviourName;
pub(crate) use assignment::{assumption, declared_design, design_words, settings_of};
pub use effects::{Effects, WHAT_WOULD_TELL, not_stated};
pub(crate) use objection::{BY_LOT, objection};
pub use objection::{LEAST_CALLS, Refusal};
pub(crate) use people::{constant_features, sample_of_roll};
pub use restive_tables::model::Identification;
pub(crate) use shapes::{Residual, Shapes};

use crate::error::Result;
use crate::prepare;
use assignment::design;
use objection::{feature_difference, looked_at_words};
use people::chosen;
use restive::data::encoding::Standardise;
use restive::evidence::{Design, Evidence};
use restive_tables::{Model, Roll, Study};
use std::path::Path;

/// Writes a refusal that an evaluation found into the folder of the evaluated model: later results by the model obey it. Returns a warning
/// if writing fails.
pub fn store_refusal(model: &Path, refusal: &Identification) -> Option<String> {
    let cause = Model::refuse(model, refusal).err()?;
    Some(format!(
        "this refusal is not recorded, later plans by the model state its effects all the same: {cause}"
    ))
}

/// Whether the log of a study identifies effects of calls, as its settings declare the assignment; without the features of `drop`.
pub(crate) fn identify(study: &Study, drop: &[String]) -> Identification {
    match check(study, drop, None) {
        Ok(Ok(_)) => Identification::Identified,
        Ok(Err(refusal)) => refusal.identification(),
        Err(error) => Identification::Unknown { reason: error.to_string() },
    }
}

/// Like [`identify`], of a streamed study: a sample of its people is read.
pub(crate) fn identify_roll(roll: &Roll, drop: &[String]) -> Identification {
    if roll.counts().has_propensity {
        let reason = format!(
            "chances of calls are recorded for more people than are read at once, {}",
            crate::words::grouped(people::MOST_PEOPLE as u64)
        );
        return Identification::Unknown { reason };
    }
    match sample_of_roll(roll, people::MOST_PEOPLE) {
        Ok(sample) => identify(&sample, drop),
        Err(error) => Identification::Unknown { reason: error.to_string() },
    }
}

/// Assignment of pulls, or the reason why the log does not show what they do; `behaviour` replaces the declaration of the study.
pub(crate) fn check(
    study: &Study,
    drop: &[String],
    behaviour: Option<BehaviourName>,
) -> Result<std::result::Result<Design, Refusal>> {
    let design = match design(study, behaviour)? {
        Ok(design) => design,
        Err(refusal) => return Ok(Err(refusal)),
    };
    let shapes = Shapes::new(study, design);
    if let Some(refusal) = shapes.refusal() {
        return Ok(Err(refusal));
    }
    let availability = shapes.availability();
    let mut drop = [drop, &constant_features(study)].concat();
    drop.sort_unstable();
    drop.dedup();
    let everyone = prepare::every_arm(study);
    let encoding = prepare::encoding(study, &everyone, Standardise::Yes, &drop)?;
    let instances = study.instances(&encoding)?;
    let columns = encoding.width() + study.settings.reward.states() + 2;
    let mut most = people::first_sample(study, columns, design);
    loop {
        let groups = chosen(study, most);
        let views: Vec<_> =
            groups.iter().map(|group| (&instances[group.instance], group.arms.as_slice())).collect();
        let evidence = Evidence::without_judge(&views, settings_of(study, design, 0))?;
        let is_all = most >= study.arms().iter().sum::<usize>().min(people::MOST_PEOPLE);
        if evidence.calls() < LEAST_CALLS && !is_all {
            most *= 4;
            continue;
        }
        let feature = feature_difference(&evidence, design, &views, &encoding);
        let found = objection(&evidence, design, None, feature, availability.as_ref());
        return Ok(match found {
            None => Ok(design),
            Some(refusal) => Err(refusal.of_sample(looked_at_words(&evidence, study))),
        });
    }
}
