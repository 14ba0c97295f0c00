//! A short name for the contents of a study.
//!
//! The 128-bit XXH3 hash of everything that a model can learn from: settings (without name, notes and what is silenced), names, features,
//! splits, trajectories and truth, as little-endian numbers and length-prefixed text. It is the same for CSV and Parquet and
//! on every machine, and says which data a model was trained on; it is no proof against forgery. The weights of a model get a
//! name in the same way, [`of_bytes`].

use super::{Study, StudyInstance};
use restive::data::features::Column;
use restive::instance::{Chain, Observation};
use xxhash_rust::xxh3::{Xxh3, xxh3_128};

/// A number of an arm that depends on its names alone: whoever takes the arms of the smallest numbers takes the same ones from any
/// file, in any order, on any machine.
pub fn arm_key(instance: &str, arm: &str) -> u64 {
    let mut digest = Digest(Xxh3::new());
    digest.text(instance);
    digest.text(arm);
    digest.0.digest()
}

/// A short name for a list of texts, 32 hexadecimal digits: the same for the same texts in the same order, on every machine.
pub fn texts_key<'a>(texts: impl IntoIterator<Item = &'a str>) -> String {
    let mut digest = Digest(Xxh3::new());
    texts.into_iter().for_each(|text| digest.text(text));
    format!("{:032x}", digest.0.digest128())
}

struct Digest(Xxh3);

impl Digest {
    fn number(&mut self, number: u64) {
        self.0.update(&number.to_le_bytes());
    }

    fn text(&mut self, text: &str) {
        self.number(text.len() as u64);
        self.0.update(text.as_bytes());
    }

    /// NaN counts as one value, as do 0 and −0.
    fn floats<'a>(&mut self, values: impl ExactSizeIterator<Item = &'a f64>) {
        self.number(values.len() as u64);
        for value in values {
            self.number(if value.is_nan() { f64::NAN.to_bits() } else { (value + 0.0).to_bits() });
        }
    }
}

/// The hash of a file as it stands, 32 hexadecimal digits.
pub(crate) fn of_bytes(bytes: &[u8]) -> String {
    format!("{:032x}", xxh3_128(bytes))
}

/// 32 hexadecimal digits.
pub(super) fn of_study(study: &Study) -> String {
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
