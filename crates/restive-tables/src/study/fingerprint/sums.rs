//! A fingerprint that needs no order: sums of hashes, one for each person, so that people can pass by in any.
//!
//! ```text
//! fingerprint = h(settings, columns, instances, people, Σ h(person), Σ h(log), h(values), Σ h(truth))
//! ```
//!
//! where h is XXH3-128 over little-endian numbers and length-prefixed text, and sums are taken modulo 2¹²⁸.
//!
//! - a **person** is the names of instance and arm, the features and the part of the split;
//! - a **log** is the names, and for every trajectory in which anything is known of the arm: its place, the first step of which anything
//!   is known, and states and actions up to the last one. How far an array is padded does not matter;
//! - **values** are the propensities and rewards of rows: for each step the sum of h(instance, arm, trajectory, propensity, reward) over
//!   its rows that have either, and of these sums one hash. Whether steps count from 0 or from 1 need not be known before the end;
//! - **truth** is the names and the transitions of an arm.
//!
//! [Declarations](super::declared) of a study in memory follow.
//!
//! NaN counts as one value, as do 0 and −0; a missing text is an empty one.

use super::{Digest, declared};
use crate::study::{Study, StudyInstance, StudySettings};
use rayon::prelude::*;
use restive::data::features::{Column, Features};
use restive::data::split::Part;
use restive::instance::{Chain, NO_ACTION, Observation, UNSEEN};
use xxhash_rust::xxh3::{Xxh3, xxh3_128};

/// Arms whose hashes are summed at a time.
const ARMS: usize = 4096;

/// What a hash is of: the bytes of one person, used again for the next.
#[derive(Default)]
pub(in crate::study) struct Bytes(Vec<u8>);

impl Bytes {
    fn start(&mut self, what: u8, instance: &str, arm: &str) {
        self.0.clear();
        self.0.push(what);
        self.text(instance);
        self.text(arm);
    }

    fn number(&mut self, number: u32) {
        self.0.extend_from_slice(&number.to_le_bytes());
    }

    fn text(&mut self, text: &str) {
        self.number(text.len() as u32);
        self.0.extend_from_slice(text.as_bytes());
    }

    fn float(&mut self, value: f64) {
        let bits = if value.is_nan() { f64::NAN.to_bits() } else { (value + 0.0).to_bits() };
        self.0.extend_from_slice(&bits.to_le_bytes());
    }

    /// What is known of a person, the i-th of a table.
    pub(in crate::study) fn person(
        &mut self,
        instance: &str,
        arm: &str,
        (features, i): (&Features, usize),
        part: Option<Part>,
    ) -> u128 {
        self.start(b'p', instance, arm);
        for column in features.columns() {
            match column {
                Column::Number(values) => self.float(values[i]),
                Column::Text(values) => self.text(values[i].as_deref().unwrap_or("")),
            }
        }
        self.0.push(part.map_or(0, |part| 1 + part as u8));
        xxh3_128(&self.0)
    }

    /// What was logged of a person: states and actions `[J][T]`; 0 where nothing was.
    pub(in crate::study) fn log(
        &mut self,
        instance: &str,
        arm: &str,
        (trajectories, steps): (usize, usize),
        cell: impl Fn(usize, usize) -> (u16, u8),
    ) -> u128 {
        self.start(b'l', instance, arm);
        let names = self.0.len();
        for j in 0..trajectories {
            let is_known = |t: &usize| cell(j, *t) != (UNSEEN, NO_ACTION);
            let Some(first) = (0..steps).find(is_known) else { continue };
            let last = (first..steps).rev().find(is_known).unwrap_or(first);
            [j, first, last].into_iter().for_each(|number| self.number(number as u32));
            for (state, action) in (first..=last).map(|t| cell(j, t)) {
                self.0.extend_from_slice(&state.to_le_bytes());
                self.0.push(action);
            }
        }
        if self.0.len() == names { 0 } else { xxh3_128(&self.0) }
    }

    /// The propensity and the reward of a row, NaN where there is none; 0 where it has neither.
    pub(in crate::study) fn values(
        &mut self,
        [instance, arm, trajectory]: [&str; 3],
        propensity: f64,
        reward: f64,
    ) -> u128 {
        if propensity.is_nan() && reward.is_nan() {
            return 0;
        }
        self.start(b'v', instance, arm);
        self.text(trajectory);
        self.float(propensity);
        self.float(reward);
        xxh3_128(&self.0)
    }

    /// The true transitions of a person.
    pub(in crate::study) fn truth<'a>(
        &mut self,
        instance: &str,
        arm: &str,
        values: impl Iterator<Item = &'a f64>,
    ) -> u128 {
        self.start(b't', instance, arm);
        values.for_each(|value| self.float(*value));
        xxh3_128(&self.0)
    }
}

/// Everything that becomes the fingerprint.
pub(in crate::study) struct Sums<'a> {
    pub(in crate::study) settings: &'a StudySettings,
    /// names and kinds of the features
    pub(in crate::study) columns: Vec<(&'a str, &'a str)>,
    /// names of the instances, and of their trajectories in their order
    pub(in crate::study) instances: Vec<(&'a str, &'a [String])>,
    /// whether the log has propensities, and rewards
    pub(in crate::study) has: [bool; 2],
    pub(in crate::study) people: u64,
    pub(in crate::study) person: u128,
    pub(in crate::study) log: u128,
    /// by step, counted from 0
    pub(in crate::study) values: &'a [u128],
    pub(in crate::study) truth: u128,
}

impl Sums<'_> {
    /// 32 hexadecimal digits.
    pub(in crate::study) fn fingerprint(&self) -> String {
        format!("{:032x}", self.digest().0.digest128())
    }

    fn digest(&self) -> Digest {
        let mut digest = Digest(Xxh3::new());
        let settings = self.settings;
        digest.text("restive study 2");
        digest.floats(settings.reward.view().iter());
        digest.floats([settings.discount].iter());
        digest.number(settings.budget as u64);
        digest.number(settings.horizon as u64);
        digest.text(settings.behaviour.name());
        if let Observation::Collapsing(chain) = settings.observation {
            digest.text(if let Chain::Infinite { .. } = chain { "infinite" } else { "finite" });
            digest.number(chain.beliefs() as u64);
        }
        digest.number(self.columns.len() as u64);
        self.columns.iter().flat_map(|(name, kind)| [name, kind]).for_each(|text| digest.text(text));
        digest.number(self.instances.len() as u64);
        for (name, trajectories) in &self.instances {
            digest.text(name);
            digest.number(trajectories.len() as u64);
            trajectories.iter().for_each(|name| digest.text(name));
        }
        self.has.iter().for_each(|has| digest.number(u64::from(*has)));
        digest.number(self.people);
        let values = self.values.iter().enumerate().filter(|(_, sum)| **sum != 0);
        let values = values.fold(0u128, |all, (t, sum)| {
            let step = [&(t as u64).to_le_bytes()[..], &sum.to_le_bytes()].concat();
            all.wrapping_add(xxh3_128(&step))
        });
        for sum in [self.person, self.log, values, self.truth] {
            digest.0.update(&sum.to_le_bytes());
        }
        digest
    }
}

/// The fingerprint of a study in memory.
pub(in crate::study) fn of_study(study: &Study) -> String {
    let mut sums = Sums {
        settings: &study.settings,
        columns: study.instances.first().map_or(Vec::new(), |first| {
            let columns = first.features.names().iter().zip(first.features.columns());
            columns.map(|(name, column)| (name.as_str(), column.kind())).collect()
        }),
        instances: study.instances.iter().map(|k| (k.name.as_str(), &k.trajectory_names[..])).collect(),
        has: [
            study.instances.iter().any(|instance| instance.trajectories.propensity().is_some()),
            study.instances.iter().any(|instance| instance.trajectories.reward().is_some()),
        ],
        people: study.instances.iter().map(|instance| instance.arms.len() as u64).sum(),
        person: 0,
        log: 0,
        values: &[],
        truth: 0,
    };
    let mut values: Vec<u128> = Vec::new();
    for instance in &study.instances {
        let each = (0..instance.arms.len()).into_par_iter().step_by(ARMS).map(|first| some(instance, first));
        for (one, steps) in each.collect::<Vec<_>>() {
            sums.person = sums.person.wrapping_add(one[0]);
            sums.log = sums.log.wrapping_add(one[1]);
            sums.truth = sums.truth.wrapping_add(one[2]);
            add(&mut values, &steps);
        }
    }
    let mut digest = Sums { values: &values, ..sums }.digest();
    declared::add(&mut digest, study);
    format!("{:032x}", digest.0.digest128())
}

/// Adds sums by step to others.
pub(in crate::study) fn add(all: &mut Vec<u128>, more: &[u128]) {
    all.resize(all.len().max(more.len()), 0);
    all.iter_mut().zip(more).for_each(|(sum, more)| *sum = sum.wrapping_add(*more));
}

/// The sums of some arms of an instance: people, logs and truth; and values by step.
fn some(instance: &StudyInstance, first: usize) -> ([u128; 3], Vec<u128>) {
    let mut bytes = Bytes::default();
    let (name, log) = (&instance.name, &instance.trajectories);
    let (state, action) = (log.state(), log.action());
    let (trajectories, steps, _) = state.dim();
    let (mut sums, mut values) = ([0u128; 3], Vec::new());
    for i in first..instance.arms.len().min(first + ARMS) {
        let arm = &instance.arms[i];
        let part = instance.split.as_ref().map(|parts| parts[i]);
        let truth = instance.truth.as_ref().map_or(0, |truth| {
            let p = truth.view();
            bytes.truth(name, arm, p.index_axis(ndarray::Axis(0), i).iter())
        });
        let cell = |j, t| (state[[j, t, i]], action[[j, t, i]]);
        let logged = bytes.log(name, arm, (trajectories, steps), cell);
        let one = [bytes.person(name, arm, (&instance.features, i), part), logged, truth];
        sums.iter_mut().zip(one).for_each(|(sum, one)| *sum = sum.wrapping_add(one));
        if log.propensity().is_none() && log.reward().is_none() {
            continue;
        }
        values.resize(steps, 0u128);
        for (j, trajectory) in instance.trajectory_names.iter().enumerate() {
            for t in 0..steps {
                let propensity = log.propensity().filter(|_| action[[j, t, i]] != NO_ACTION);
                let [propensity, reward] =
                    [propensity, log.reward()].map(|all| all.map_or(f64::NAN, |all| all[[j, t, i]]));
                let one = bytes.values([name, arm, trajectory], propensity, reward);
                values[t] = values[t].wrapping_add(one);
            }
        }
    }
    (sums, values)
}
