//! A recipe, trained again in folds of people, so that everybody is judged by a model that never saw them.
//!
//! A model can be judged on its test arms alone, a fifth of the people, and intervals are wide. But a recipe can be judged on everybody:
//! people are dealt to folds, and for each fold the [recipe](crate::Asked::from_card) is trained without it. What is judged so is the
//! recipe, by models that learnt from fewer people than the one at hand, and so it is judged with some caution.
//!
//! Folds are whole clusters if the study declares any: pulls of a cluster may go together, and then a model that knows one member knows
//! the pulls of the others. Otherwise folds are whole instances where there are as many of them as folds and nobody of them is missing, else arms. For each fold its arms,
//! and those that are not among the people at all, become the test part of a copy of the study, which no training looks at; the rest is
//! dealt to train and validation seven to one. Features are read as all these people need it, so that a category or a gap that only
//! the judged have is no stranger; nothing of what became of anybody is in that. All of it by a seed, so that recipes can be held
//! against each other on the same folds; each is trained with its own. (Their
//! cards have the fingerprint of that copy, whose split is another.)

use crate::asked::Asked;
use crate::error::{Error, Result};
use crate::message::{Opt, message};
use crate::model::Trained;
use crate::train::Training;
use rayon::ThreadPool;
use restive::data::split::{Group, Part, arm_folds, cluster_folds, folds as group_folds};
use restive_tables::Study;
use restive_tables::model::{Card, Model};
use std::collections::{BTreeMap, BTreeSet};

/// How many folds, unless said otherwise.
pub const FOLDS: usize = 5;
/// Of so many people that are left one is for validation.
const DEALT: usize = 8;
/// The fewest instances that are dealt to train and validation whole.
const LEAST_INSTANCES: usize = 3;

/// A model that never saw some arms.
#[derive(Clone)]
pub struct FoldModel {
    /// the model
    pub trained: Trained,
    /// the arms that it may be judged on
    pub judged: Vec<Group>,
}

/// A cross-fit on its way.
#[derive(Debug, Clone, PartialEq)]
pub struct FoldProgress {
    /// in training, from 0
    pub fold: usize,
    /// all of them
    pub folds: usize,
    /// how much of the whole is done, from 0 to 1
    pub share: f64,
    /// what there is to say of it
    pub message: String,
}

/// Trains the recipe of a card once for each of so many folds of `people`, dealt by `seed`, without them, on the threads of `pool` (none: rayon's own);
/// `visit` hears of every step, and may end it by an error of his own.
pub fn cross_fit<E: From<Error>>(
    card: &Card,
    study: &Study,
    people: &[Group],
    folds: usize,
    seed: u64,
    pool: Option<&ThreadPool>,
    mut visit: impl FnMut(FoldProgress) -> std::result::Result<(), E>,
) -> std::result::Result<Vec<FoldModel>, E> {
    let asked = Asked::from_card(card)?;
    let people = by_instance(people);
    let (cut, is_whole) = cut(&people, study, folds, seed)?;
    let mut models = Vec::with_capacity(folds);
    for (fold, judged) in cut.into_iter().enumerate() {
        let share = |within: f64| (fold as f64 + within) / folds as f64;
        let hears = |within: f64, message: String| {
            visit(FoldProgress { fold, folds, share: share(within), message }).map_err(Ended::Told)
        };
        let place = format!("fold {} of {folds}", fold + 1);
        let trained = dealt(study, &people, &judged, is_whole, seed.wrapping_add(1 + fold as u64))
            .map_err(Ended::Refused)
            .and_then(|without| train(&without, &asked, &people, &place, pool, hears));
        let trained = trained.map_err(|ended| match ended {
            Ended::Told(error) => error,
            Ended::Refused(error) => refused(&place, error).into(),
        })?;
        models.push(FoldModel { trained, judged });
    }
    Ok(models)
}

/// Why a fold came to no end.
enum Ended<E> {
    /// its training could not be, or was refuted
    Refused(Error),
    /// whoever looked on said so
    Told(E),
}

impl<E> From<Error> for Ended<E> {
    fn from(error: Error) -> Self {
        Ended::Refused(error)
    }
}

/// Which fold it was and, where its data are the reason, what to do.
fn refused(place: &str, error: Error) -> Error {
    let is_of_files = matches!(error, Error::Tables(_));
    let advice = message!(
        "; without these people the recipe cannot be trained, so it cannot be judged on them: train by another recipe, or judge \
         the model on those that it never saw, ",
        Opt("part"),
        " test"
    );
    match Error::at(place.to_string())(error) {
        Error::Data(said) if !is_of_files => Error::Data(said.and(advice)),
        other => other,
    }
}

/// One training, without files.
fn train<E>(
    study: &Study,
    asked: &Asked,
    people: &[Group],
    place: &str,
    pool: Option<&ThreadPool>,
    mut hears: impl FnMut(f64, String) -> std::result::Result<(), Ended<E>>,
) -> std::result::Result<Trained, Ended<E>> {
    let origin = format!("all people but {place}");
    let training = Training::reading(study, asked, &origin, Some(people))?;
    let progressed = training.run(Default::default(), pool, |step| hears(step.share, step.message))?;
    let (members, histories) = (progressed.members, progressed.histories);
    let model = || -> Model { training.model(members, histories) };
    let model = match pool {
        Some(pool) => pool.install(model),
        None => model(),
    };
    Ok(Trained::new(model)?)
}

/// One group for each instance of which there are arms, in order, each arm once and ascending.
fn by_instance(people: &[Group]) -> Vec<Group> {
    let mut all: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    people.iter().for_each(|group| all.entry(group.instance).or_default().extend(&group.arms));
    let group = |(instance, mut arms): (usize, Vec<usize>)| {
        arms.sort_unstable();
        arms.dedup();
        Group { instance, arms }
    };
    all.into_iter().map(group).filter(|group| !group.arms.is_empty()).collect()
}

/// The folds of people of a study, and whether they are whole instances.
pub(crate) fn cut(
    people: &[Group],
    study: &Study,
    folds: usize,
    seed: u64,
) -> Result<(Vec<Vec<Group>>, bool)> {
    let (arms, clusters) = (study.arms(), study.cluster_numbers());
    let is_whole = clusters.is_none()
        && people.len() >= folds
        && people.iter().all(|group| group.arms.len() == arms[group.instance]);
    let cut = match clusters {
        Some(clusters) => cluster_folds(people, |instance, arm| clusters[instance][arm], folds, seed),
        None if is_whole => group_folds(people, folds, seed),
        None => arm_folds(people, folds, seed),
    };
    Ok((cut.map_err(|error| Error::at("folds")(error.into()))?, is_whole))
}

/// The study with everybody but the rest of the people in its test part, and these dealt to train and validation.
fn dealt(study: &Study, people: &[Group], judged: &[Group], is_whole: bool, seed: u64) -> Result<Study> {
    let is_judged = |instance: usize, arm: &usize| {
        judged.iter().any(|group| group.instance == instance && group.arms.binary_search(arm).is_ok())
    };
    let rest = |group: &Group| Group {
        instance: group.instance,
        arms: group.arms.iter().copied().filter(|arm| !is_judged(group.instance, arm)).collect(),
    };
    let rest: Vec<Group> = people.iter().map(rest).filter(|group| !group.arms.is_empty()).collect();
    let hands = match study.cluster_numbers() {
        Some(clusters) => {
            let own =
                rest.iter().flat_map(|group| group.arms.iter().map(|arm| clusters[group.instance][*arm]));
            let left = own.collect::<BTreeSet<u32>>().len();
            cluster_folds(&rest, |instance, arm| clusters[instance][arm], DEALT.min(left), seed)
        }
        None if is_whole && rest.len() >= LEAST_INSTANCES => group_folds(&rest, DEALT, seed),
        None => {
            let left: usize = rest.iter().map(|group| group.arms.len()).sum();
            arm_folds(&rest, DEALT.min(left), seed)
        }
    };
    let hands = hands.map_err(|error| Error::at("people that are left to learn from")(error.into()))?;
    let mut parts: Vec<Vec<Part>> = study.arms().into_iter().map(|n| vec![Part::Test; n]).collect();
    for (hand, groups) in hands.iter().enumerate() {
        let part = if hand == 0 { Part::Validation } else { Part::Train };
        groups.iter().for_each(|group| group.arms.iter().for_each(|arm| parts[group.instance][*arm] = part));
    }
    let mut without = study.clone();
    without.instances.iter_mut().zip(parts).for_each(|(instance, parts)| instance.split = Some(parts));
    Ok(without)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate::Synthetic;
    use crate::prepare::{every_arm, given_or_seeded};
    use restive::data::domain::Domain;

    fn study(instances: usize, arms: usize) -> Study {
        let domain =
            Domain { instances, arms, budget: 1, horizon: 3, trajectories: 1, ..Domain::two_state() };
        Synthetic::TwoState(domain).study(1).unwrap()
    }

    /// Every arm of groups, as often as it is there.
    fn arms(groups: &[Group]) -> Vec<(usize, usize)> {
        let mut all: Vec<_> =
            groups.iter().flat_map(|group| group.arms.iter().map(|arm| (group.instance, *arm))).collect();
        all.sort_unstable();
        all
    }

    /// Cuts people into folds, and looks at what each of them is trained on.
    fn check(study: &Study, people: &[Group], folds: usize, expect_whole: bool) {
        let merged = by_instance(people);
        let (cut, is_whole) = cut(&merged, study, folds, 3).unwrap();
        assert_eq!((cut.len(), is_whole), (folds, expect_whole));
        assert_eq!(arms(&cut.concat()), arms(&merged), "everybody is judged once");
        for judged in &cut {
            let split = dealt(study, &merged, judged, is_whole, 4).unwrap().given_split().unwrap().unwrap();
            let learnt = arms(&[split.train.clone(), split.validation.clone()].concat());
            let rest: Vec<_> = arms(&merged).into_iter().filter(|arm| !arms(judged).contains(arm)).collect();
            assert_eq!(learnt, rest, "all the others are learnt from, and nobody else");
            let of = |groups: &[Group]| arms(groups).len();
            let mut left: Vec<usize> = rest.iter().map(|(instance, _)| *instance).collect();
            left.dedup();
            match is_whole && left.len() >= LEAST_INSTANCES {
                true => assert!(
                    split
                        .train
                        .iter()
                        .chain(&split.validation)
                        .all(|group| { group.arms.len() == study.instances[group.instance].arms.len() })
                ),
                false => assert_eq!(of(&split.validation), rest.len().div_ceil(DEALT.min(rest.len()))),
            }
            assert!(of(&split.train) >= of(&split.validation) && of(&split.validation) > 0);
        }
    }

    #[test]
    fn everybody_is_judged_once_and_learnt_from_otherwise() {
        for (instances, n) in [(6, 4), (5, 4), (2, 30), (1, 40)] {
            let study = study(instances, n);
            let split = given_or_seeded(&study, 7).unwrap();
            let learnt = [split.train.clone(), split.validation.clone()].concat();
            let is_whole = instances >= FOLDS;
            check(&study, &every_arm(&study), FOLDS, is_whole);
            check(&study, &every_arm(&study), 2, instances >= 2);
            check(&study, &learnt, FOLDS, learnt.len() >= FOLDS && is_whole);
            check(&study, &split.test, 2, split.test.len() >= 2 && instances >= 3);
        }
    }

    #[test]
    fn too_few_people_are_refused_in_words() {
        let few = study(1, 4);
        let said = cut(&every_arm(&few), &few, FOLDS, 0).map(drop).unwrap_err().to_string();
        assert!(said.starts_with("folds: arms to cut into folds: found 4"), "{said}");
        let (people, judged) =
            ([Group { instance: 0, arms: vec![1, 2] }], [Group { instance: 0, arms: vec![1] }]);
        let said = dealt(&few, &people, &judged, false, 0).map(drop).unwrap_err().to_string();
        assert!(said.starts_with("people that are left to learn from: "), "{said}");
    }
}
