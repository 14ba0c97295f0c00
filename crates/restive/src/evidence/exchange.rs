//! Calls that were assigned to whole clusters, and their exchange between clusters.
//!
//! Under such an assignment, only permutations that keep the calls of a cluster together are as likely as the logged calls. At each
//! decision the calls are exchanged between clusters with the same number of eligible members and the same propensity; in a rota, whole schedules between
//! clusters with the same number of members. Members of a cluster in different groups are exchanged within their groups.

use super::design::{Deal, Design};
use super::redeal::{ENOUGH, SAME, shuffle};
use super::rows::{Evidence, GroupRows};
use crate::random::Random;
use rand::RngExt;
use std::collections::HashMap;

/// Clusters of a group between which calls may be exchanged.
pub(super) enum Exchange {
    /// By decision.
    Calls(Vec<Vec<Class>>),
    /// All decisions of a cluster together.
    Schedules(Vec<Class>),
}

/// Clusters that are equally likely to be called.
pub(super) struct Class {
    /// Propensity; NaN if it is a share, which every permutation keeps.
    chance: f64,
    /// Arms of each cluster, at least one, and as many in every cluster.
    clusters: Vec<Vec<usize>>,
}

impl Evidence {
    /// Exchanges of all groups; `None` if no clusters are declared, or if calls were not assigned to whole clusters.
    pub(super) fn exchanges(&self) -> Option<Vec<Exchange>> {
        if !self.clusters.is_declared {
            return None;
        }
        let exchange = |group: &GroupRows| {
            let of: Vec<usize> = group.people.clone().map(|person| self.clusters.of(person)).collect();
            Exchange::new(&group.deal, &of, self.settings.design)
        };
        self.groups.iter().map(exchange).collect()
    }
}

impl Exchange {
    /// `of`: the cluster of each person of the group.
    fn new(deal: &Deal, of: &[usize], design: Design) -> Option<Self> {
        let decisions = deal.is_called.nrows();
        if design == Design::Rota {
            let clusters = members(0..of.len(), of);
            let is_one = |d: usize, cluster: &[usize]| {
                let at = |i: usize| (deal.is_called[[d, i]], deal.is_eligible[[d, i]]);
                cluster.iter().all(|i| at(*i) == at(cluster[0]))
            };
            let is_whole = (0..decisions).all(|d| clusters.iter().all(|cluster| is_one(d, cluster)));
            return is_whole.then(|| Self::Schedules(classes(clusters, |_| f64::NAN)));
        }
        let at_decision = |d: usize| {
            let chance = |i: usize| deal.chance_of_redeal(design, [d, i]);
            // a call that was certain or impossible stays as it is
            let is_drawn = |i: &usize| deal.is_eligible[[d, *i]] && !(chance(*i) <= 0.0 || chance(*i) >= 1.0);
            let clusters = members((0..of.len()).filter(is_drawn), of);
            let is_one = |cluster: &Vec<usize>| {
                let (called, first) = (deal.is_called[[d, cluster[0]]], chance(cluster[0]));
                let is_like =
                    |i: &usize| deal.is_called[[d, *i]] == called && !((chance(*i) - first).abs() >= SAME);
                cluster.iter().all(is_like)
            };
            clusters.iter().all(is_one).then(|| classes(clusters, |cluster| chance(cluster[0])))
        };
        (0..decisions).map(at_decision).collect::<Option<Vec<_>>>().map(Self::Calls)
    }

    /// Exchanges the calls of `deal`.
    pub(super) fn apply(&self, deal: &mut Deal, random: &mut Random) {
        match self {
            Self::Calls(decisions) => {
                for (d, classes) in decisions.iter().enumerate() {
                    classes.iter().for_each(|class| class.exchange_calls(deal, d, random));
                }
            }
            Self::Schedules(classes) => {
                classes.iter().for_each(|class| class.exchange_schedules(deal, random));
            }
        }
    }
}

impl Class {
    fn exchange_calls(&self, deal: &mut Deal, d: usize, random: &mut Random) {
        let calls: Vec<bool> = self.clusters.iter().map(|cluster| deal.is_called[[d, cluster[0]]]).collect();
        let mut set = |cluster: &[usize], call: bool| {
            cluster.iter().for_each(|i| deal.is_called[[d, *i]] = call);
        };
        if self.chance < 1.0 && self.clusters.len() < ENOUGH {
            for cluster in &self.clusters {
                set(cluster, random.random::<f64>() < self.chance);
            }
            return;
        }
        let mut order: Vec<usize> = (0..self.clusters.len()).collect();
        shuffle(&mut order, random);
        for (to, call) in order.into_iter().zip(calls) {
            set(&self.clusters[to], call);
        }
    }

    fn exchange_schedules(&self, deal: &mut Deal, random: &mut Random) {
        let mut order: Vec<usize> = (0..self.clusters.len()).collect();
        shuffle(&mut order, random);
        let (called, eligible) = (deal.is_called.clone(), deal.is_eligible.clone());
        for (to, from) in self.clusters.iter().zip(order) {
            for (i, from) in to.iter().zip(&self.clusters[from]) {
                deal.is_called.column_mut(*i).assign(&called.column(*from));
                deal.is_eligible.column_mut(*i).assign(&eligible.column(*from));
            }
        }
    }
}

/// Clusters of some people, in the order of their first members.
fn members(people: impl Iterator<Item = usize>, of: &[usize]) -> Vec<Vec<usize>> {
    let mut places: HashMap<usize, usize> = HashMap::new();
    let mut clusters: Vec<Vec<usize>> = Vec::new();
    for i in people {
        let place = *places.entry(of[i]).or_insert(clusters.len());
        if place == clusters.len() {
            clusters.push(Vec::new());
        }
        clusters[place].push(i);
    }
    clusters
}

/// Clusters by size and propensity.
fn classes(clusters: Vec<Vec<usize>>, chance: impl Fn(&[usize]) -> f64) -> Vec<Class> {
    let mut all: Vec<(f64, Vec<usize>)> =
        clusters.into_iter().map(|cluster| (chance(&cluster), cluster)).collect();
    all.sort_by(|a, b| a.1.len().cmp(&b.1.len()).then(a.0.total_cmp(&b.0)));
    let mut classes: Vec<Class> = Vec::new();
    let mut last = f64::NAN;
    for (chance, cluster) in all {
        match classes.last_mut() {
            Some(class) if class.clusters[0].len() == cluster.len() && !((chance - last).abs() >= SAME) => {
                class.clusters.push(cluster);
            }
            _ => classes.push(Class { chance, clusters: vec![cluster] }),
        }
        last = chance;
    }
    classes
}

#[cfg(test)]
#[path = "exchange_tests.rs"]
mod tests;
