//! Clusters: are arms with the same value of a column pulled together?
//!
//! If arms are assigned at random one by one, a pair of arms of a group disagrees at a decision with probability e_i(1 − e_j) + e_j(1 − e_i).
//! Over all pairs of n arms this sums to E(n − E) − Σ e(1 − e), where E is the sum of their chances e. In the log, k pulls of n arms
//! disagree in k(n − k) pairs. Only arms with a recorded action at the decision count.

use super::decisions::Decisions;
use restive::data::features::Column;
use restive_tables::Study;
use std::collections::HashMap;

/// Minimum of pairs that are expected to disagree.
const LEAST_EXPECTED: f64 = 20.0;
/// Maximum of pairs that disagree, as a share of the expected ones, of arms that are pulled together.
const MOST_OBSERVED: f64 = 0.05;
/// Maximum of the mean size of a group: larger groups are no clusters, because turns and choices by a column pull them together.
const LARGEST_MEAN: f64 = 50.0;
/// Minimum number of groups with two or more arms.
const LEAST_GROUPS: usize = 10;

/// Column of the table of arms whose groups are pulled together.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Agreement {
    /// Name of the column.
    pub(crate) column: String,
    /// Expected number of pairs of a group that disagree at a decision, if arms were assigned at random one by one.
    pub(crate) expected: f64,
    /// Number of such pairs in the log.
    pub(crate) observed: f64,
}

impl Agreement {
    fn is_together(&self) -> bool {
        self.expected >= LEAST_EXPECTED && self.observed <= MOST_OBSERVED * self.expected
    }
}

/// Columns of the table of arms that group arms.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Agreements {
    /// Number of columns that were tested.
    pub(crate) columns: usize,
    /// Column whose groups are pulled together; of several the one with the most pairs.
    pub(crate) together: Option<Agreement>,
}

impl Agreements {
    /// Tests all columns of the table of arms that group arms; `decisions`: of each instance of the study.
    pub(super) fn find(study: &Study, decisions: &[Decisions<'_>]) -> Self {
        let mut all = Self::default();
        let Some(first) = study.instances.first() else { return all };
        for (c, name) in first.features.names().iter().enumerate() {
            let columns = study.instances.iter().map(|instance| &instance.features.columns()[c]);
            let Some(groups) = columns.map(numbered).collect::<Option<Vec<_>>>() else { continue };
            if !are_clusters(&groups) {
                continue;
            }
            all.columns += 1;
            let (mut expected, mut observed) = (0.0, 0.0);
            for (decisions, groups) in decisions.iter().zip(&groups) {
                let found = disagreements(decisions, groups);
                (expected, observed) = (expected + found[0], observed + found[1]);
            }
            let found = Agreement { column: name.clone(), expected, observed };
            let has_more = all.together.as_ref().is_none_or(|other| found.expected > other.expected);
            if found.is_together() && has_more {
                all.together = Some(found);
            }
        }
        all
    }
}

/// Group of each arm by its value, `[N]`; `None` if the column contains numbers that are not integers.
fn numbered(column: &Column) -> Option<Vec<Option<u32>>> {
    fn number<K: std::hash::Hash + Eq>(values: impl Iterator<Item = Option<K>>) -> Vec<Option<u32>> {
        let mut known: HashMap<K, u32> = HashMap::new();
        let of = |value: Option<K>| {
            let next = known.len() as u32;
            value.map(|value| *known.entry(value).or_insert(next))
        };
        values.map(of).collect()
    }
    match column {
        Column::Text(values) => Some(number(values.iter().map(|value| value.as_deref()))),
        Column::Number(values) => {
            let is_integer = |x: &f64| x.is_nan() || x.fract() == 0.0;
            let value = |x: &f64| (!x.is_nan()).then(|| (x + 0.0).to_bits());
            values.iter().all(is_integer).then(|| number(values.iter().map(value)))
        }
    }
}

/// Whether groups are of the size of clusters; groups of different instances are different groups.
fn are_clusters(groups: &[Vec<Option<u32>>]) -> bool {
    let (mut arms, mut all, mut shared) = (0usize, 0usize, 0usize);
    for groups in groups {
        let mut sizes = vec![0usize; count(groups)];
        groups.iter().flatten().for_each(|group| sizes[*group as usize] += 1);
        arms += sizes.iter().sum::<usize>();
        all += sizes.len();
        shared += sizes.iter().filter(|size| **size > 1).count();
    }
    let mean = arms as f64 / all.max(1) as f64;
    shared >= LEAST_GROUPS && mean <= LARGEST_MEAN
}

fn count(groups: &[Option<u32>]) -> usize {
    groups.iter().flatten().max().map_or(0, |last| *last as usize + 1)
}

/// Arms of a group at a decision.
#[derive(Clone, Copy, Default)]
struct Tally {
    arms: f64,
    pulls: f64,
    /// Σ e
    chance: f64,
    /// Σ e(1 − e)
    variance: f64,
}

/// Pairs of a group that are expected to be pulled differently, and those in the log, over all decisions.
fn disagreements(decisions: &Decisions<'_>, groups: &[Option<u32>]) -> [f64; 2] {
    let mut of_group = vec![Tally::default(); count(groups)];
    let mut pairs = [0.0, 0.0];
    for d in 0..decisions.len() {
        of_group.fill(Tally::default());
        for (arm, group) in groups.iter().enumerate() {
            let (Some(group), Some(pulled)) = (group, decisions.pulled(d, arm)) else { continue };
            let e = decisions.chance(d, arm);
            let tally = &mut of_group[*group as usize];
            tally.arms += 1.0;
            tally.pulls += f64::from(u8::from(pulled));
            tally.chance += e;
            tally.variance += e * (1.0 - e);
        }
        for Tally { arms, pulls, chance, variance } in &of_group {
            pairs[0] += chance * (arms - chance) - variance;
            pairs[1] += pulls * (arms - pulls);
        }
    }
    pairs
}

#[cfg(test)]
mod tests {
    use super::super::decisions::log_of;
    use super::*;
    use ndarray::{Array2, array};
    use restive::instance::{Assignment, NO_ACTION};

    fn text(values: &[&str]) -> Column {
        Column::Text(
            values.iter().map(|value| Some(value.to_string()).filter(|value| !value.is_empty())).collect(),
        )
    }

    #[test]
    fn groups_are_values_of_text_and_integers() {
        assert_eq!(numbered(&text(&["a", "b", "", "a"])), Some(vec![Some(0), Some(1), None, Some(0)]));
        assert_eq!(
            numbered(&Column::Number(vec![7.0, f64::NAN, 8.0, 7.0])),
            Some(vec![Some(0), None, Some(1), Some(0)])
        );
        assert_eq!(numbered(&Column::Number(vec![7.0, 7.5])), None);
    }

    #[test]
    fn pairs_that_disagree_are_counted_and_expected() {
        // one decision, two groups of two and three, 3 of 5 arms pulled; a third group has one arm
        let none = NO_ACTION;
        let log = log_of(array![[1, 0, 1, 1, 0, none], [none, none, none, none, none, none]]);
        let decisions = Decisions::new(&log, Assignment::PerDecision);
        let groups = [Some(0), Some(0), Some(1), Some(1), Some(1), Some(0)];
        let [expected, observed] = disagreements(&decisions, &groups);
        // 1 + 3 pairs, each with 2 · 0.6 · 0.4
        assert!((expected - 4.0 * 0.48).abs() < 1e-12, "{expected}");
        assert_eq!(observed, 1.0 + 2.0);
    }

    #[test]
    fn groups_of_the_size_of_clusters_are_tested() {
        let groups =
            |size: u32, arms: u32| -> Vec<Option<u32>> { (0..arms).map(|i| Some(i / size)).collect() };
        assert!(are_clusters(&[groups(2, 20)]));
        assert!(are_clusters(&[groups(2, 10), groups(2, 10)]));
        assert!(!are_clusters(&[groups(2, 18)]), "nine groups");
        assert!(!are_clusters(&[groups(60, 1200)]), "large groups");
        assert!(!are_clusters(&[groups(1, 100)]), "names");
        // a sample of arms contains few members of each group
        let sample: Vec<Option<u32>> = (0..200).map(|i| Some(if i < 20 { i / 2 } else { i })).collect();
        assert!(are_clusters(&[sample]));
    }

    #[test]
    fn arms_that_are_always_pulled_together_are_clusters() {
        // 40 groups of two, every other one pulled: 40 pairs, half of which random assignment would have split
        let log = log_of(Array2::from_shape_fn(
            (2, 80),
            |(t, i)| if t == 1 { NO_ACTION } else { (i / 2 % 2) as u8 },
        ));
        let decisions = Decisions::new(&log, Assignment::PerDecision);
        let groups: Vec<Option<u32>> = (0..80).map(|i| Some(i / 2)).collect();
        let [expected, observed] = disagreements(&decisions, &groups);
        let found = Agreement { column: "household".into(), expected, observed };
        assert!((expected - 20.0).abs() < 1e-9 && observed == 0.0);
        assert!(Agreement { expected: 20.0, ..found.clone() }.is_together());
        assert!(!Agreement { observed: 1.1, expected: 20.0, ..found.clone() }.is_together());
        assert!(!Agreement { expected: 19.9, ..found }.is_together());
    }
}
