//! To which part everybody belongs: a byte for each, the same as in memory.
//!
//! As the study says; otherwise by the seed: whole instances, or the arms of fewer than three in the order of their names; of very many by
//! their keys.

use crate::error::{Error, Result};
use crate::prepare::is_dealt_by_key;
use rayon::prelude::*;
use restive::data::split::{Part, Split, keyed_part};
use restive_tables::model::configuration::{Dealt, PartSize, SplitOrigin};
use restive_tables::{Roll, arm_key, by_name};

/// The split of a roll.
pub(super) struct Parts {
    /// by position
    pub(super) of: Vec<Part>,
    /// people of each instance and part
    pub(super) people: Vec<[usize; 3]>,
    origin: SplitOrigin,
}

impl Parts {
    pub(super) fn new(roll: &Roll, seed: u64) -> Result<Self> {
        let is_given = roll.counts().split.is_some();
        let of = if is_given { given(roll) } else { seeded(roll, seed) };
        let of = of.map_err(|error| Error::at("split")(error.into()))?;
        let mut people = vec![[0; 3]; roll.instances().len()];
        of.iter().enumerate().for_each(|(i, part)| people[roll.instance_of(i)][*part as usize] += 1);
        if people.iter().all(|parts| parts[Part::Train as usize] == 0) {
            // in the words of a split that gives nobody to training
            let nobody = Split::given(&[]).expect_err("nobody to learn from");
            return Err(Error::at("split")(nobody.into()));
        }
        let origin = if is_given { SplitOrigin::Study } else { SplitOrigin::Seed };
        Ok(Self { of, people, origin })
    }

    /// The instances that have people of a part.
    pub(super) fn instances(&self, part: Part) -> impl Iterator<Item = usize> + Clone + '_ {
        let is_any = move |k: &usize| self.people[*k][part as usize] > 0;
        (0..self.people.len()).filter(is_any)
    }

    /// For the card.
    pub(super) fn dealt(&self) -> Dealt {
        let [train, validation, test] = Part::ALL.map(|part| PartSize {
            instances: self.instances(part).count(),
            arms: self.people.iter().map(|parts| parts[part as usize]).sum(),
        });
        Dealt { origin: self.origin, train, validation, test }
    }
}

fn given(roll: &Roll) -> restive::Result<Vec<Part>> {
    Ok((0..roll.people()).map(|i| roll.part(i).expect("the study says so of everybody")).collect())
}

fn seeded(roll: &Roll, seed: u64) -> restive::Result<Vec<Part>> {
    let instances = roll.instances();
    let sizes: Vec<usize> = instances.iter().map(|instance| instance.people).collect();
    if is_dealt_by_key(&sizes) {
        let part = |i: usize| {
            let key = arm_key(&instances[roll.instance_of(i)].name, roll.name(i));
            keyed_part(seed, key)
        };
        return Ok((0..roll.people()).into_par_iter().map(part).collect());
    }
    let split = Split::seeded(&sizes, seed)?;
    let groups = || Part::ALL.into_iter().flat_map(|part| split.part(part).iter().map(move |g| (part, g)));
    let mut of = vec![Part::Train; roll.people()];
    if sizes.len() >= 3 {
        let mut whole = vec![Part::Train; sizes.len()];
        groups().for_each(|(part, group)| whole[group.instance] = part);
        of.par_iter_mut().enumerate().for_each(|(i, of)| *of = whole[roll.instance_of(i)]);
        return Ok(of);
    }
    let mut sorted = vec![Vec::new(); sizes.len()];
    (0..roll.people()).for_each(|i| sorted[roll.instance_of(i)].push(i as u32));
    sorted.iter_mut().for_each(|people| sort_by_name(roll, people));
    for (part, group) in groups() {
        group.arms.iter().for_each(|arm| of[sorted[group.instance][*arm] as usize] = part);
    }
    Ok(of)
}

/// Puts people of one instance in the order of their names.
pub(super) fn sort_by_name(roll: &Roll, people: &mut [u32]) {
    people.par_sort_unstable_by(|a, b| by_name(roll.name(*a as usize), roll.name(*b as usize)));
}
