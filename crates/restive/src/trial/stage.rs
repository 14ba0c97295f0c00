//! One trial in a known world: people are dealt into arms, called by rank, moved by chance, and what is seen becomes a record.
//!
//! **Clusters** share a shock b ~ N(0, sd²): P(s, a, s′) is multiplied by exp(b·ρ(s′)), ρ the rewards on a scale from 0 to 1, and the row
//! divided by its sum. With two states that is a shift of the log-odds by b. The planner's prognosis does not know of it.
//!
//! **The truth** of a trial is what its policy arm had less what the same people would have had under the control arm's rule with the same
//! random numbers: not called, or called by the other policy with as many places per person as the control arm has.

use super::assign::{Unit, assign};
use super::cut::above;
use super::power::Design;
use super::record::{Group, Parts, Record, Rule, Rules};
use super::refusal::Gap;
use super::world::World;
use crate::error::Result;
use crate::random::{Random, stream};
use crate::statistics::normal_quantile;
use ndarray::{Array2, Array3, Array4, ArrayView2};
use rand::RngExt;
use rand::seq::index::sample;

/// A world at one effect, ready for trials.
pub(super) struct Stage<'a, 'w> {
    pub world: &'a World<'w>,
    pub design: &'a Design,
    pub rows: &'a Array4<f64>,
    pub prognosis: &'a Array3<f64>,
    /// the share of the people that take part
    pub size: f64,
}

/// States before each decision and at the end `[n,T+1]`, and calls `[n,T]`, of everybody; people of other arms are not moved.
struct Paths {
    state: Array2<usize>,
    call: Array2<bool>,
}

/// What a trial's chance holds for the people who take part, by their position in it.
struct Chance {
    people: Vec<usize>,
    start: Vec<usize>,
    tie: Vec<f64>,
    /// `[n,T]`
    noise: Array2<f64>,
    /// `[n,M]`: what the shock of a person's cluster makes of each next state
    tilt: Array2<f64>,
}

impl Stage<'_, '_> {
    /// One trial: its record and its truth.
    pub(super) fn trial(&self, seed: u64) -> Result<(Record, f64)> {
        let mut random = stream(seed, &[WORLD]);
        let chance = self.draw(&mut random);
        let (n, weeks) = (chance.people.len(), self.design.weeks);
        let group = self.deal(&chance, random.random())?;
        let of = |arm: Group| -> Vec<usize> { (0..n).filter(|&k| group[k] == arm).collect() };
        let (ours, theirs) = (of(Group::Policy), of(Group::Control));
        let places = self.design.budget.map(|k| (k as f64 * self.size).round() as usize);
        let index = Some(self.world.index);
        let mut paths = self.roll(&chance, &ours, index, places[0]);
        let rest = self.roll(&chance, &theirs, self.world.control, places[1]);
        for &k in &theirs {
            paths.state.row_mut(k).assign(&rest.state.row(k));
            paths.call.row_mut(k).assign(&rest.call.row(k));
        }
        let alike = places[1] as f64 * ours.len() as f64 / theirs.len().max(1) as f64;
        let without = self.roll(&chance, &ours, self.world.control, alike.round() as usize);
        let had = |paths: &Paths, k: usize| -> f64 {
            paths.state.row(k).iter().skip(1).map(|s| self.world.reward[*s]).sum()
        };
        let truth = ours.iter().map(|&k| had(&paths, k) - had(&without, k)).sum();
        let outcome = Array2::from_shape_fn((n, weeks), |(k, t)| {
            let is_missing = random.random::<f64>() < self.design.missing;
            if is_missing { f64::NAN } else { self.world.reward[paths.state[[k, t + 1]]] }
        });
        let covariates =
            Array2::from_shape_fn((n, 1), |(k, _)| self.prognosis[[chance.people[k], chance.start[k], 0]]);
        let cluster = self.design.clusters.as_ref().map(|c| chance.people.iter().map(|&i| c.of[i]).collect());
        let rules = match cluster {
            Some(_) => Err(Gap::NotLogged),
            None => Ok(self.rules(&chance, &paths, &group)),
        };
        let call = paths.call;
        Ok((Record::new(Parts { group, outcome, call, covariates, cluster, rules })?, truth))
    }

    fn draw(&self, random: &mut Random) -> Chance {
        let (n, m) = (self.world.transition.arms(), self.world.transition.states());
        let part = |all: usize| (all as f64 * self.size).round() as usize;
        let mut people: Vec<usize> = match &self.design.clusters {
            None => sample(random, n, part(n)).into_vec(),
            Some(clusters) => {
                let all = clusters.count();
                let mut is_in = vec![false; all];
                sample(random, all, part(all)).iter().for_each(|g| is_in[g] = true);
                (0..n).filter(|&i| is_in[clusters.of[i]]).collect()
            }
        };
        people.sort_unstable();
        let pick = |row: ndarray::ArrayView1<'_, f64>, at: f64| place(row.iter().copied(), at);
        let start = people.iter().map(|&i| pick(self.world.start.row(i), random.random())).collect();
        let tie = people.iter().map(|_| random.random()).collect();
        let noise = Array2::from_shape_fn((people.len(), self.design.weeks), |_| random.random());
        let mut tilt = Array2::ones((people.len(), m));
        if let Some(clusters) = &self.design.clusters {
            let mut normal = || normal_quantile(random.random::<f64>().clamp(1e-12, 1.0 - 1e-12));
            let shock: Vec<f64> = (0..clusters.count()).map(|_| clusters.sd * normal()).collect();
            let low = self.world.reward.iter().copied().fold(f64::INFINITY, f64::min);
            let high = self.world.reward.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let scale = if high > low { high - low } else { 1.0 };
            for (k, &i) in people.iter().enumerate() {
                for s in 0..m {
                    tilt[[k, s]] = (shock[clusters.of[i]] * (self.world.reward[s] - low) / scale).exp();
                }
            }
        }
        Chance { people, start, tie, noise, tilt }
    }

    fn deal(&self, chance: &Chance, seed: u64) -> Result<Vec<Group>> {
        let score = |k: usize| self.prognosis[[chance.people[k], chance.start[k], 0]];
        let n = chance.people.len();
        let unit_of: Vec<usize> = match &self.design.clusters {
            None => (0..n).collect(),
            Some(clusters) => chance.people.iter().map(|&i| clusters.of[i]).collect(),
        };
        let count = unit_of.iter().max().map_or(0, |last| last + 1);
        let mut sums = vec![(0.0, 0.0); count];
        for k in 0..n {
            sums[unit_of[k]].0 += score(k);
            sums[unit_of[k]].1 += 1.0;
        }
        let taking: Vec<usize> = (0..count).filter(|&u| sums[u].1 > 0.0).collect();
        let ids: Vec<String> = taking.iter().map(usize::to_string).collect();
        let units: Vec<Unit> = taking
            .iter()
            .zip(&ids)
            .map(|(&u, id)| Unit { id, stratum: 0, score: sums[u].0 / sums[u].1 })
            .collect();
        let mut arm = vec![0; count];
        for (u, a) in taking.iter().zip(assign(&units, &self.design.shares, seed)?) {
            arm[*u] = a;
        }
        let group = |u: usize| if arm[u] == 0 { Group::Policy } else { Group::Control };
        Ok(unit_of.into_iter().map(group).collect())
    }

    fn roll(
        &self,
        chance: &Chance,
        who: &[usize],
        index: Option<ArrayView2<'_, f64>>,
        places: usize,
    ) -> Paths {
        let (n, weeks) = (chance.people.len(), self.design.weeks);
        let mut state = Array2::zeros((n, weeks + 1));
        let mut call = Array2::from_elem((n, weeks), false);
        who.iter().for_each(|&k| state[[k, 0]] = chance.start[k]);
        for t in 0..weeks {
            if let Some(index) = index.filter(|_| places > 0) {
                let key = |k: usize| (index[[chance.people[k], state[[k, t]]]], chance.tie[k]);
                let mut order = who.to_vec();
                if places < order.len() {
                    let higher = |&a: &usize, &b: &usize| match above(key(a).0, key(a).1, key(b)) {
                        true => std::cmp::Ordering::Less,
                        false if key(a) == key(b) => a.cmp(&b),
                        false => std::cmp::Ordering::Greater,
                    };
                    order.select_nth_unstable_by(places - 1, higher);
                }
                order.iter().take(places).for_each(|&k| call[[k, t]] = true);
            }
            for &k in who {
                let action = usize::from(call[[k, t]]);
                let row = self.rows.slice(ndarray::s![chance.people[k], state[[k, t]], action, ..]);
                let weights = row.iter().zip(chance.tilt.row(k)).map(|(p, tilt)| p * tilt);
                state[[k, t + 1]] = place(weights, chance.noise[[k, t]]);
            }
        }
        Paths { state, call }
    }

    fn rules(&self, chance: &Chance, paths: &Paths, group: &[Group]) -> Rules {
        let shape = paths.call.dim();
        let tie = Array2::from_shape_fn(shape, |(k, _)| chance.tie[k]);
        let rule = |index: ArrayView2<'_, f64>, own| {
            let score = Array2::from_shape_fn(shape, |(k, t)| index[[chance.people[k], paths.state[[k, t]]]]);
            Rule::of_lists(score, &tie, &paths.call, group, own)
        };
        let prognosis =
            Array2::from_shape_fn(shape, |(k, t)| self.prognosis[[chance.people[k], paths.state[[k, t]], t]]);
        Rules {
            policy: rule(self.world.index, Group::Policy),
            control: self.world.control.map(|index| rule(index, Group::Control)),
            prognosis: Some(prognosis),
            tie,
        }
    }
}

/// Where a number between 0 and 1 falls among weights.
fn place(weights: impl Iterator<Item = f64> + Clone, at: f64) -> usize {
    let at = at * weights.clone().sum::<f64>();
    let (mut sum, mut last) = (0.0, 0);
    for (s, weight) in weights.enumerate().filter(|(_, weight)| *weight > 0.0) {
        sum += weight;
        last = s;
        if at < sum {
            break;
        }
    }
    last
}

const WORLD: u64 = 0x7472_6961_6c00_0001;
