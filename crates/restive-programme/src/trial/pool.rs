//! Who would be randomised: everybody who has a state, is there and may be called.
//!
//! A person's prognostic score is the reward that the model expects of her over the weeks of the trial without a call, from where she
//! stands, in the light of her record. People, or clusters of them, are dealt within strata among neighbours by that score
//! ([`restive::trial::assign`]).
//!
//! If the study declares clusters, groups are drawn by these unless another column is requested, or people one by one. A requested column
//! must not split a declared cluster.

use super::LIST;
use crate::error::{Error, Result};
use crate::status::people_counted;
use crate::week::CONTROL;
use ndarray::Array2;
use restive::data::features::Column;
use restive::trial::{Group, Unit, World, assign, balance};
use restive_pipeline::Outlook;
use restive_pipeline::words::counted;
use restive_tables::{Contacts, Study, show};
use std::collections::{BTreeMap, BTreeSet};

/// The most values that a column of strata may have, and a text that balance is shown of.
const MOST_VALUES: usize = 20;

/// Value of `by` that draws people one by one although the study declares clusters.
pub(crate) const ONE_BY_ONE: &str = "";

/// Column by which groups are drawn: as requested, or as the study declares clusters. `None`: people are drawn one by one.
pub(crate) fn drawn_by<'a>(study: &'a Study, requested: Option<&'a str>) -> Option<&'a str> {
    match requested {
        Some(ONE_BY_ONE) => None,
        Some(column) => Some(column),
        None => study.settings.cluster.as_deref(),
    }
}

/// People who can be randomised.
pub(crate) struct Pool<'a> {
    study: &'a Study,
    outlook: &'a Outlook,
    /// by position in the study
    pub(crate) people: Vec<usize>,
    /// what is expected of each without a call
    pub(crate) score: Vec<f64>,
    /// what each is dealt within, in words
    pub(crate) stratum: Option<Vec<String>>,
    /// with whom each is dealt
    pub(crate) cluster: Option<Vec<String>>,
}

impl<'a> Pool<'a> {
    /// People of a study; `by` is the column by which they are drawn, as [`drawn_by`] returns it.
    pub(crate) fn new(
        study: &'a Study,
        contacts: Option<&Contacts>,
        outlook: &'a Outlook,
        weeks: usize,
        by: Option<&str>,
        strata: &[String],
    ) -> Result<Self> {
        let people: Vec<usize> = (0..outlook.state.len()).filter(|i| outlook.is_callable[*i]).collect();
        if people.len() < 4 {
            let found = people_counted(people.len());
            return Err(refused(format!(
                "found {found} who may be called, expected at least 4 for two groups"
            )));
        }
        let start = start(outlook);
        let ahead = world(outlook, start.view()).prognosis(weeks);
        let state = |i: usize| usize::from(outlook.state[i].unwrap_or(0));
        let score = people.iter().map(|&i| ahead[[i, state(i), 0]]).collect();
        let cluster = by.map(|name| column(study, contacts, "by", name)).transpose()?;
        let cluster: Option<Vec<String>> =
            cluster.map(|values| people.iter().map(|&i| values[i].clone()).collect());
        if let (Some(values), Some(name)) = (&cluster, by) {
            let name = show::name(name);
            let empty = values.iter().filter(|value| value.is_empty()).count();
            if empty > 0 {
                let found = people_counted(empty);
                return Err(refused(format!(
                    "by {name}: found {found} without a value, expected one of everybody"
                )));
            }
            let different: BTreeSet<&String> = values.iter().collect();
            if different.len() < 4 {
                let found = counted(different.len() as u64, "value");
                return Err(refused(format!(
                    "by {name}: found {found}, expected at least 4: two clusters in each group"
                )));
            }
        }
        let mut stratum: Option<Vec<String>> = None;
        for name in strata {
            let values = column(study, contacts, "strata", name)?;
            let different: BTreeSet<&String> = people.iter().map(|&i| &values[i]).collect();
            if different.len() > MOST_VALUES {
                return Err(refused(format!(
                    "strata {}: found {}, expected at most {MOST_VALUES}",
                    show::name(name),
                    counted(different.len() as u64, "value")
                )));
            }
            let words = people.iter().map(|&i| format!("{name} {}", values[i]));
            stratum = Some(match stratum {
                None => words.collect(),
                Some(before) => before.iter().zip(words).map(|(a, b)| format!("{a}, {b}")).collect(),
            });
        }
        let pool = Self { study, outlook, people, score, stratum, cluster };
        pool.check_strata(by)?;
        pool.check_declared(by)?;
        Ok(pool)
    }

    /// Refuses a column that splits a cluster of the study.
    fn check_declared(&self, by: Option<&str>) -> Result<()> {
        let declared = self.study.settings.cluster.as_deref().zip(self.study.instances[0].clusters.as_ref());
        let (Some(by), Some(drawn), Some((column, clusters))) = (by, &self.cluster, declared) else {
            return Ok(());
        };
        let mut known: BTreeMap<&String, &String> = BTreeMap::new();
        for (&i, drawn) in self.people.iter().zip(drawn) {
            if let Some(other) = known.insert(&clusters[i], drawn).filter(|other| *other != drawn) {
                let (name, cluster) = (show::name(column), show::name(&clusters[i]));
                return Err(refused(format!(
                    "by {}: {name} {cluster} has the values {} and {}, but the study declares cluster = {}; draw by that column, or people \
                     one by one",
                    show::name(by),
                    show::plain(other),
                    show::plain(drawn),
                    show::quoted_name(column)
                )));
            }
        }
        Ok(())
    }

    /// People of a cluster are dealt together, so that they have to be of one stratum.
    fn check_strata(&self, by: Option<&str>) -> Result<()> {
        let (Some(cluster), Some(stratum)) = (&self.cluster, &self.stratum) else { return Ok(()) };
        let mut known = BTreeMap::new();
        for (cluster, stratum) in cluster.iter().zip(stratum) {
            if let Some(other) = known.insert(cluster, stratum).filter(|other| *other != stratum) {
                return Err(refused(format!(
                    "by {}: found {} in two strata ({}; {}), expected every cluster in one",
                    show::name(by.unwrap_or_default()),
                    show::name(cluster),
                    show::plain(other),
                    show::plain(stratum)
                )));
            }
        }
        Ok(())
    }

    /// The names of people, in the order of [`people`](Self::people).
    pub(crate) fn arms(&self) -> impl Iterator<Item = &'a String> {
        self.people.iter().map(|&i| &self.study.instances[0].arms[i])
    }

    /// The number of a stratum, or of a cluster, of each person: by name.
    pub(crate) fn numbers(names: &[String]) -> Vec<usize> {
        let all: BTreeSet<&String> = names.iter().collect();
        let number: BTreeMap<&String, usize> = all.into_iter().zip(0..).collect();
        names.iter().map(|name| number[name]).collect()
    }

    /// The group of each person, by the seed.
    pub(crate) fn draw(&self, share: f64, seed: u64) -> Result<Vec<Group>> {
        let shares = shares(share)?;
        let stratum =
            self.stratum.as_ref().map_or_else(|| vec![0; self.people.len()], |names| Self::numbers(names));
        let arms: Vec<&String> = self.arms().collect();
        let names: Vec<&String> = match &self.cluster {
            Some(cluster) => cluster.iter().collect(),
            None => arms,
        };
        let mut units: BTreeMap<&String, (usize, f64, f64)> = BTreeMap::new();
        for (k, name) in names.iter().enumerate() {
            let unit = units.entry(name).or_insert((stratum[k], 0.0, 0.0));
            unit.1 += self.score[k];
            unit.2 += 1.0;
        }
        let dealt: Vec<Unit<'_>> = units
            .iter()
            .map(|(id, (stratum, sum, count))| Unit { id, stratum: *stratum, score: sum / count })
            .collect();
        let arm = assign(&dealt, &shares, seed).map_err(restive_pipeline::Error::from)?;
        let group: BTreeMap<&str, usize> = dealt.iter().map(|unit| unit.id).zip(arm).collect();
        let of = |name: &&String| if group[name.as_str()] == 0 { Group::Policy } else { Group::Control };
        let groups: Vec<Group> = names.iter().map(of).collect();
        for (group, name) in [(Group::Policy, LIST), (Group::Control, CONTROL)] {
            let found = groups.iter().filter(|one| **one == group).count();
            if found < 2 {
                let found = people_counted(found);
                return Err(refused(format!(
                    "share {share}: found {found} in the group {name}, expected at least 2"
                )));
            }
        }
        Ok(groups)
    }

    /// By how much the groups differ, in standard deviations: the score, the reward of the state, every feature.
    pub(crate) fn balance(&self, groups: &[Group]) -> Vec<(String, f64)> {
        let state = |i: &usize| self.outlook.reward[usize::from(self.outlook.state[*i].unwrap_or(0))];
        let mut all = vec![
            ("expected without calls".to_string(), self.score.clone()),
            ("state now".into(), self.people.iter().map(state).collect()),
        ];
        let features = &self.study.instances[0].features;
        for (name, column) in features.names().iter().zip(features.columns()) {
            match column {
                Column::Number(values) => {
                    let known: Vec<f64> =
                        self.people.iter().map(|&i| values[i]).filter(|x| x.is_finite()).collect();
                    let mean = known.iter().sum::<f64>() / known.len().max(1) as f64;
                    let value = |&i: &usize| if values[i].is_finite() { values[i] } else { mean };
                    all.push((name.clone(), self.people.iter().map(value).collect()));
                }
                Column::Text(values) => {
                    let different: BTreeSet<&String> =
                        self.people.iter().filter_map(|&i| values[i].as_ref()).collect();
                    for word in different.into_iter().take(MOST_VALUES) {
                        let is = |&i: &usize| f64::from(u8::from(values[i].as_ref() == Some(word)));
                        all.push((format!("{name} {word}"), self.people.iter().map(is).collect()));
                    }
                }
            }
        }
        let columns = Array2::from_shape_fn((self.people.len(), all.len()), |(k, p)| all[p].1[k]);
        all.into_iter().map(|(name, _)| name).zip(balance(groups, columns.view())).collect()
    }
}

/// People as a trial's world has them; `start` is where they stand.
pub(crate) fn world<'a>(outlook: &'a Outlook, start: ndarray::ArrayView2<'a, f64>) -> World<'a> {
    World {
        transition: &outlook.transition,
        reward: &outlook.reward,
        start,
        index: outlook.score.view(),
        control: None,
    }
}

/// `[N,M]`: where everybody stands, as chances.
pub(crate) fn start(outlook: &Outlook) -> Array2<f64> {
    let mut start = Array2::zeros(outlook.score.dim());
    for (i, state) in outlook.state.iter().enumerate() {
        start[[i, usize::from(state.unwrap_or(0))]] = 1.0;
    }
    start
}

/// A share as two small numbers, to within half a hundredth.
pub(crate) fn shares(share: f64) -> Result<[usize; 2]> {
    let near = |of: &usize| {
        let part = (share * *of as f64).round();
        part >= 1.0 && part < *of as f64 && (share - part / *of as f64).abs() <= 0.005 + 1e-12
    };
    let found = (0.0..=1.0).contains(&share).then(|| (2..=100).find(near)).flatten();
    let of = found.ok_or_else(|| {
        refused(format!(
            "share: found {share}, expected a number from 0.01 to 0.99: nobody would be in one group"
        ))
    })?;
    let part = (share * of as f64).round() as usize;
    Ok([part, of - part])
}

/// What stands in a column of people: kept of them, a feature, or their state; empty where nothing is known.
fn column(study: &Study, contacts: Option<&Contacts>, what: &str, name: &str) -> Result<Vec<String>> {
    let there = &study.instances[0];
    if let Some(clusters) =
        there.clusters.as_ref().filter(|_| study.settings.cluster.as_deref() == Some(name))
    {
        return Ok(clusters.clone());
    }
    if let Some((contacts, k)) =
        contacts.and_then(|all| Some((all, all.kept.iter().position(|kept| kept == name)?)))
    {
        let value = |arm: &String| Ok(contacts.person(arm)?.kept[k].clone());
        return there.arms.iter().map(value).collect();
    }
    match there.features.column(name) {
        Some(Column::Text(values)) => {
            Ok(values.iter().map(|value| value.clone().unwrap_or_default()).collect())
        }
        Some(Column::Number(values)) => {
            Ok(values.iter().map(|x| if x.is_nan() { String::new() } else { x.to_string() }).collect())
        }
        None => {
            let kept = contacts.map_or(&[][..], |contacts| &contacts.kept);
            let all: Vec<String> = kept
                .iter()
                .chain(there.features.names())
                .chain(&study.settings.cluster)
                .map(|name| show::name(name))
                .collect();
            let (name, all) = (show::name(name), all.join(", "));
            Err(refused(format!("{what}: found no column {name}, expected one of: {all}")))
        }
    }
}

pub(crate) fn refused(message: String) -> Error {
    Error::Refused(message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_small_numbers() {
        assert_eq!(
            [0.5, 0.33, 0.67, 0.8, 0.01].map(|share| shares(share).unwrap()),
            [[1, 1], [1, 2], [2, 1], [4, 1], [1, 66]]
        );
        for share in [0.0, 1.0, -0.5, f64::NAN, 0.001] {
            assert!(shares(share).unwrap_err().to_string().starts_with("share: found"), "{share}");
        }
    }
}
