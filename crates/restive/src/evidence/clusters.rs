//! Clusters of people, such as households, and sums of influences by cluster.
//!
//! Influences of people of one cluster may depend on each other, so that variances are sums of squares over clusters. If no clusters
//! are declared, each person is one.

use super::rows::{Evidence, Group, Row};
use std::collections::HashMap;

/// Cluster of each person in the evidence.
pub(super) struct Clusters {
    /// `[people]`, numbers from 0 in the order of first members
    of: Vec<u32>,
    count: usize,
    /// Whether any instance declares clusters.
    pub is_declared: bool,
}

impl Clusters {
    /// Clusters of the arms of some groups. A number is one cluster in all groups.
    pub(super) fn new(judged: &[Group<'_>]) -> Self {
        let mut of = Vec::new();
        let mut count = 0u32;
        let mut known: HashMap<u32, u32> = HashMap::new();
        for (instance, arms) in judged {
            for &i in *arms {
                let declared = instance.clusters().map(|clusters| clusters[i]);
                let number = declared.and_then(|declared| known.get(&declared).copied()).unwrap_or(count);
                if number == count {
                    count += 1;
                    if let Some(declared) = declared {
                        known.insert(declared, number);
                    }
                }
                of.push(number);
            }
        }
        let is_declared = judged.iter().any(|(instance, _)| instance.clusters().is_some());
        Self { of, count: count as usize, is_declared }
    }

    /// Number of clusters.
    pub(super) fn count(&self) -> usize {
        self.count
    }

    /// Cluster of a person.
    pub(super) fn of(&self, person: usize) -> usize {
        self.of[person] as usize
    }
}

impl Evidence {
    /// Number of clusters of the people in the evidence; `None` if no clusters are declared.
    pub fn clusters(&self) -> Option<usize> {
        self.clusters.is_declared.then_some(self.clusters.count)
    }

    /// Sum over the rows of each cluster, `[clusters]`.
    pub(super) fn by_cluster(&self, x: impl Iterator<Item = f64>) -> Vec<f64> {
        let mut sums = vec![0.0; self.clusters.count];
        self.rows.iter().zip(x).for_each(|(row, x)| sums[self.cluster_of(row)] += x);
        sums
    }

    pub(super) fn cluster_of(&self, row: &Row) -> usize {
        self.clusters.of(row.person as usize)
    }
}
