//! Which arms are learnt from, which choose, which judge.
//!
//! Instances are dealt to training, validation and test in the proportions 70/10/20: at random by a seed, in order as in the
//! published experiments, or as the data say. Fewer than three instances cannot be dealt to three parts; then the arms of
//! each are, at random, and a group of arms keeps a budget in proportion ([`Instance::select_arms`]). A study of one
//! programme is the usual case of that.
//!
//! **Very many arms** are dealt by their keys, whatever a programme calls its people, as 64 bits: [`keyed_part`] says of one key alone
//! where it goes, so that files that are read in pieces and partitions that never meet deal alike. Streams and partitions
//! always deal so; a study with more than [`MOST_DEALT`] arms in fewer than three instances does everywhere ([`Split::keyed`]), so that
//! its split does not depend on how it is read.
//!
//! A [`Split`] names instances and arms by position, so that it can be made before there are encoded features: what the
//! training arms have in common must not be learnt from the others.
//!
//! ```
//! use restive::data::split::{Split, folds};
//!
//! let split = Split::in_order(&[50; 10], 1)?;
//! let instances = |part: &[restive::data::split::Group]| part.iter().map(|group| group.instance).collect::<Vec<_>>();
//! assert_eq!(instances(&split.train), [0, 1, 2, 3, 4, 5, 6]);
//! assert_eq!(instances(&split.test), [8, 9]);
//!
//! // one programme of 1,000 people: 700 of them to learn from, in five folds of 140
//! let split = Split::seeded(&[1000], 1)?;
//! let folds = folds(&split.train, 5, 1)?;
//! assert!(folds.iter().all(|fold| fold[0].arms.len() == 140));
//! # Ok::<(), restive::Error>(())
//! ```

use crate::error::{Error, Result};
use crate::instance::Instance;
use crate::random::{Random, mixed, stream};
use rand::RngExt;

/// One of the three parts of a split.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Part {
    /// to learn from
    Train,
    /// to choose by
    Validation,
    /// to judge by
    Test,
}

impl Part {
    /// The three parts, in order.
    pub const ALL: [Part; 3] = [Part::Train, Part::Validation, Part::Test];

    /// train, validation, test
    pub fn name(self) -> &'static str {
        ["train", "validation", "test"][self as usize]
    }
}

/// Arms in fewer than three instances that are dealt by position, at most; more are dealt by their keys.
pub const MOST_DEALT: usize = 1_000_000;

/// The part of the arm with this key: 70/10/20 by a mix of the seed and the key, in which every bit of either counts.
///
/// Whoever has the arm deals it alike, whoever else there is. The shares are those of chance: of n arms 70 % ± 46 %/√n train.
///
/// ```
/// use restive::data::split::{Part, keyed_part};
///
/// let train = (0..10_000).filter(|key| keyed_part(7, *key) == Part::Train).count();
/// assert!((6_850..7_150).contains(&train)); // three standard deviations of chance
/// ```
pub fn keyed_part(seed: u64, key: u64) -> Part {
    // the upper bits, as a number from 0 to 9
    match (u128::from(mixed(seed, &[KEYS, key])) * 10) >> 64 {
        0..=6 => Part::Train,
        7 => Part::Validation,
        _ => Part::Test,
    }
}

/// Some arms of one instance.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Group {
    /// position of the instance
    pub instance: usize,
    /// positions of the arms within it, ascending
    pub arms: Vec<usize>,
}

impl Group {
    /// The arms of the group as an instance of their own, with a budget in proportion.
    pub fn select(&self, instances: &[Instance]) -> Instance {
        let whole = &instances[self.instance];
        if self.arms.len() == whole.arms() { whole.clone() } else { whole.select_arms(&self.arms) }
    }
}

/// Every arm in exactly one of three parts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Split {
    /// to learn from
    pub train: Vec<Group>,
    /// to choose by
    pub validation: Vec<Group>,
    /// to judge by
    pub test: Vec<Group>,
}

impl Split {
    /// 70/10/20 at random; `arms` holds the number of arms of each instance.
    pub fn seeded(arms: &[usize], seed: u64) -> Result<Self> {
        Self::dealt(arms, seed, shuffled(arms.len(), &mut stream(seed, &[INSTANCES])))
    }

    /// 70/10/20 in the order of the instances, as in the published experiments; the seed is for the arms of fewer than
    /// three instances.
    pub fn in_order(arms: &[usize], seed: u64) -> Result<Self> {
        Self::dealt(arms, seed, (0..arms.len()).collect())
    }

    /// By the keys of the arms of each instance: see [`keyed_part`]. An error where no arm is dealt to training.
    pub fn keyed(keys: &[Vec<u64>], seed: u64) -> Result<Self> {
        let parts = |keys: &Vec<u64>| keys.iter().map(|key| keyed_part(seed, *key)).collect();
        Self::given(&keys.iter().map(parts).collect::<Vec<Vec<Part>>>())
    }

    /// 70/10/20 of the clusters at random; `clusters` holds the number of each arm's cluster, by instance. No cluster is in two parts, even
    /// if it has arms of several instances.
    pub fn of_clusters(clusters: &[Vec<u32>], seed: u64) -> Result<Self> {
        let mut names: Vec<u32> = clusters.concat();
        names.sort_unstable();
        names.dedup();
        at_least("clusters to split", names.len(), 3, "at least 3")?;
        let order = shuffled(names.len(), &mut stream(seed, &[CLUSTERS]));
        let mut parts = vec![Part::Train; names.len()];
        for (part, of_part) in Part::ALL.into_iter().zip(cut(order, names.len())) {
            of_part.into_iter().for_each(|at| parts[at] = part);
        }
        let part = |name: &u32| parts[names.binary_search(name).expect("a name of the list")];
        Self::given(&clusters.iter().map(|own| own.iter().map(part).collect()).collect::<Vec<Vec<Part>>>())
    }

    /// As the data say: the part of every arm, by instance. Validation and test may be empty, training may not.
    pub fn given(parts: &[Vec<Part>]) -> Result<Self> {
        let select = |part: Part| -> Vec<Group> {
            let groups = parts.iter().enumerate().map(|(instance, parts)| Group {
                instance,
                arms: (0..parts.len()).filter(|i| parts[*i] == part).collect(),
            });
            groups.filter(|group| !group.arms.is_empty()).collect()
        };
        let [train, validation, test] = Part::ALL.map(select);
        if train.is_empty() {
            return Err(Error::Range { what: "training arms", expected: "at least 1", found: 0.0 });
        }
        Ok(Self { train, validation, test })
    }

    /// The instances of each part, in the order of [`Part::ALL`]; a part may be empty.
    pub fn cut(&self, instances: &[Instance]) -> [Vec<Instance>; 3] {
        Part::ALL.map(|part| self.part(part).iter().map(|group| group.select(instances)).collect())
    }

    /// The groups of a part.
    pub fn part(&self, part: Part) -> &[Group] {
        match part {
            Part::Train => &self.train,
            Part::Validation => &self.validation,
            Part::Test => &self.test,
        }
    }

    /// The part of every arm, by instance: what [`Split::given`] reads.
    pub fn parts(&self) -> Vec<Vec<Part>> {
        let groups = || Part::ALL.into_iter().flat_map(|part| self.part(part).iter().map(move |g| (part, g)));
        let instances = groups().map(|(_, group)| group.instance + 1).max().unwrap_or(0);
        let mut parts: Vec<Vec<(usize, Part)>> = vec![Vec::new(); instances];
        groups().for_each(|(part, group)| {
            parts[group.instance].extend(group.arms.iter().map(|arm| (*arm, part)));
        });
        parts.iter_mut().for_each(|arms| arms.sort_unstable());
        parts.into_iter().map(|arms| arms.into_iter().map(|(_, part)| part).collect()).collect()
    }

    fn dealt(arms: &[usize], seed: u64, order: Vec<usize>) -> Result<Self> {
        if arms.len() >= 3 {
            let mut parts = cut(order, arms.len()).into_iter().map(|instances| {
                let whole = |instance| Group { instance, arms: (0..arms[instance]).collect() };
                instances.into_iter().map(whole).collect::<Vec<_>>()
            });
            let [train, validation, test] = std::array::from_fn(|_| parts.next().expect("three parts"));
            return Ok(Self { train, validation, test });
        }
        let mut split = Self { train: Vec::new(), validation: Vec::new(), test: Vec::new() };
        for (instance, &n) in arms.iter().enumerate() {
            at_least("arms of an instance to split", n, 3, "at least 3")?;
            let [train, validation, test] = cut(shuffled(n, &mut stream(seed, &[ARMS, instance as u64])), n)
                .map(|arms| Group { instance, arms });
            split.train.push(train);
            split.validation.push(validation);
            split.test.push(test);
        }
        at_least("instances to split", arms.len(), 1, "at least 1")?;
        Ok(split)
    }
}

/// Cuts the groups into k parts of nearly equal size at random: whole groups where there are several (then at most as many
/// parts as groups), the arms of the group where there is one.
pub fn folds(groups: &[Group], k: usize, seed: u64) -> Result<Vec<Vec<Group>>> {
    at_least("folds", k, 2, "at least 2")?;
    let mut random = stream(seed, &[FOLDS]);
    if let [group] = groups {
        at_least("arms to cut into folds", group.arms.len(), k, "at least as many as folds")?;
        let dealt = deal(shuffled(group.arms.len(), &mut random), k);
        let chosen = |fold: Vec<usize>| fold.into_iter().map(|i| group.arms[i]).collect();
        let fold = |fold| vec![Group { instance: group.instance, arms: chosen(fold) }];
        return Ok(dealt.into_iter().map(fold).collect());
    }
    at_least("instances to cut into folds", groups.len(), 2, "at least 1")?;
    let dealt = deal(shuffled(groups.len(), &mut random), k.min(groups.len()));
    Ok(dealt.into_iter().map(|fold| fold.into_iter().map(|g| groups[g].clone()).collect()).collect())
}

/// Cuts the arms of all groups together into k parts of nearly equal size at random; a part has a group for each instance of which
/// it has arms.
pub fn arm_folds(groups: &[Group], k: usize, seed: u64) -> Result<Vec<Vec<Group>>> {
    at_least("folds", k, 2, "at least 2")?;
    let arms: Vec<(usize, usize)> =
        groups.iter().flat_map(|group| group.arms.iter().map(|arm| (group.instance, *arm))).collect();
    at_least("arms to cut into folds", arms.len(), k, "at least as many as folds")?;
    let dealt = deal(shuffled(arms.len(), &mut stream(seed, &[FOLDS])), k);
    let fold = |fold: Vec<usize>| {
        let mut parts: Vec<Group> = Vec::new();
        for (instance, arm) in fold.into_iter().map(|at| arms[at]) {
            match parts.last_mut().filter(|part| part.instance == instance) {
                Some(part) => part.arms.push(arm),
                None => parts.push(Group { instance, arms: vec![arm] }),
            }
        }
        parts
    };
    Ok(dealt.into_iter().map(fold).collect())
}

/// Like [`arm_folds`], but cuts whole clusters into k parts with nearly equal numbers of clusters; `cluster` returns the number of the
/// cluster of an arm, by instance and arm.
pub fn cluster_folds(
    groups: &[Group],
    cluster: impl Fn(usize, usize) -> u32,
    k: usize,
    seed: u64,
) -> Result<Vec<Vec<Group>>> {
    at_least("folds", k, 2, "at least 2")?;
    let arms = || groups.iter().flat_map(|group| group.arms.iter().map(move |arm| (group.instance, *arm)));
    let mut names: Vec<u32> = arms().map(|(instance, arm)| cluster(instance, arm)).collect();
    names.sort_unstable();
    names.dedup();
    at_least("clusters to cut into folds", names.len(), k, "at least as many as folds")?;
    let mut fold_of = vec![0; names.len()];
    let dealt = deal(shuffled(names.len(), &mut stream(seed, &[FOLDS, CLUSTERS])), k);
    for (fold, of_fold) in dealt.into_iter().enumerate() {
        of_fold.into_iter().for_each(|at| fold_of[at] = fold);
    }
    let mut folds: Vec<Vec<Group>> = vec![Vec::new(); k];
    for (instance, arm) in arms() {
        let at = names.binary_search(&cluster(instance, arm)).expect("a name of the list");
        let parts = &mut folds[fold_of[at]];
        match parts.last_mut().filter(|part| part.instance == instance) {
            Some(part) => part.arms.push(arm),
            None => parts.push(Group { instance, arms: vec![arm] }),
        }
    }
    Ok(folds)
}

/// Purposes of random numbers.
const INSTANCES: u64 = 20;
const ARMS: u64 = 21;
const FOLDS: u64 = 22;
const KEYS: u64 = 23;
const CLUSTERS: u64 = 24;

fn at_least(what: &'static str, found: usize, least: usize, expected: &'static str) -> Result<()> {
    if found < least {
        return Err(Error::Range { what, expected, found: found as f64 });
    }
    Ok(())
}

/// 0 … n−1 in random order.
fn shuffled(n: usize, random: &mut Random) -> Vec<usize> {
    let mut order: Vec<usize> = (0..n).collect();
    for i in (1..n).rev() {
        order.swap(i, random.random_range(0..=i));
    }
    order
}

/// The first 70 %, the next 10 % and the last 20 %, each in ascending order; none is empty where there are three or more.
fn cut(order: Vec<usize>, n: usize) -> [Vec<usize>; 3] {
    let (validation, test) = (((n + 5) / 10).max(1), ((2 * n + 5) / 10).max(1));
    let train = n - validation - test;
    let mut parts = [order[..train].to_vec(), order[train..n - test].to_vec(), order[n - test..].to_vec()];
    parts.iter_mut().for_each(|part| part.sort_unstable());
    parts
}

/// Deals cards to k players; each hand in ascending order.
fn deal(order: Vec<usize>, k: usize) -> Vec<Vec<usize>> {
    let mut hands = vec![Vec::new(); k];
    order.into_iter().enumerate().for_each(|(card, i)| hands[card % k].push(i));
    hands.iter_mut().for_each(|hand: &mut Vec<usize>| hand.sort_unstable());
    hands
}
