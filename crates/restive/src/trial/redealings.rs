//! The exchange against every deal of a few people, replayed with known potential outcomes.

use super::averaged;
use crate::random::stream;
use crate::trial::cut::Edge;
use crate::trial::difference::difference;
use crate::trial::divergence::divergence;
use crate::trial::record::{Group, Parts, Record, Rule, Rules};
use ndarray::{Array1, Array2};
use rand::RngExt;

const WEEKS: usize = 3;

/// People with everything that chance will do to them, so that a deal is all that is left to choose.
struct People {
    /// `[n,2]` by state: two rules' scores, with ties
    score: [Array2<f64>; 2],
    tie: Array1<f64>,
    /// `[n,2]`: chance of the good state, uncalled
    chance: Array2<f64>,
    noise: Array2<f64>,
    start: Vec<usize>,
    /// places of each arm
    places: [usize; 2],
}

impl People {
    fn draw(n: usize, places: [usize; 2], seed: u64) -> Self {
        let mut random = stream(seed, &[77]);
        let mut table = |columns: usize| Array2::from_shape_fn((n, columns), |_| random.random::<f64>());
        let coarse = |x: &f64| (x * 6.0).round();
        let score = [table(2).map(coarse), table(2).map(coarse)];
        let (tie, chance, noise) = (table(1).column(0).to_owned(), 0.6 * table(2), table(WEEKS));
        let start = table(1).iter().map(|x| usize::from(*x < 0.5)).collect();
        Self { score, tie, chance, noise, start, places }
    }

    /// What happens when these are in the policy arm.
    fn play(&self, is_policy: &[bool]) -> Record {
        let n = is_policy.len();
        let mut state = self.start.clone();
        let (mut outcome, mut call) = (Array2::zeros((n, WEEKS)), Array2::from_elem((n, WEEKS), false));
        let mut seen = [Array2::zeros((n, WEEKS)), Array2::zeros((n, WEEKS))];
        for t in 0..WEEKS {
            for i in 0..n {
                (0..2).for_each(|a| seen[a][[i, t]] = self.score[a][[i, state[i]]]);
            }
            for a in 0..2 {
                let mut order: Vec<usize> = (0..n).filter(|&i| is_policy[i] == (a == 0)).collect();
                let key = |i: usize| (seen[a][[i, t]], self.tie[i]);
                order.sort_by(|&i, &j| key(j).partial_cmp(&key(i)).unwrap());
                order[..self.places[a]].iter().for_each(|&i| call[[i, t]] = true);
            }
            for i in 0..n {
                let chance = self.chance[[i, state[i]]] + 0.3 * f64::from(u8::from(call[[i, t]]));
                state[i] = usize::from(self.noise[[i, t]] < chance);
                outcome[[i, t]] = state[i] as f64;
            }
        }
        let group: Vec<Group> =
            is_policy.iter().map(|p| if *p { Group::Policy } else { Group::Control }).collect();
        let tie = Array2::from_shape_fn((n, WEEKS), |(i, _)| self.tie[i]);
        let [ours, theirs] = seen;
        let policy = Rule::of_lists(ours, &tie, &call, &group, Group::Policy);
        let control = Rule::of_lists(theirs, &tie, &call, &group, Group::Control);
        let control = (self.places[1] > 0).then_some(control);
        let rules = Ok(Rules { policy, control, tie, prognosis: None });
        let covariates = Array2::zeros((n, 0));
        Record::new(Parts { group, outcome, call, covariates, cluster: None, rules }).unwrap()
    }
}

fn splits(n: usize, policy: u32) -> Vec<Vec<bool>> {
    let sets = (0u32..1 << n).filter(|set| set.count_ones() == policy);
    sets.map(|set| (0..n).map(|i| set >> i & 1 == 1).collect()).collect()
}

fn in_week(record: &Record, t: usize) -> f64 {
    let parts = record.parts();
    let mean = |group| {
        let of = (0..parts.group.len()).filter(|&i| parts.group[i] == group);
        of.map(|i| parts.outcome[[i, t]]).sum::<f64>() / record.size(group) as f64
    };
    record.size(Group::Policy) as f64 * (mean(Group::Policy) - mean(Group::Control))
}

#[test]
fn without_calls_in_control_it_is_the_average_over_all_deals_with_the_same_calls() {
    let mut others = 0;
    for (seed, n, policy) in [(0, 10, 5), (1, 10, 5), (2, 9, 6), (3, 11, 5)] {
        let people = People::draw(n, [2, 0], seed);
        let deals = splits(n, policy);
        let plays: Vec<Record> = deals.iter().map(|deal| people.play(deal)).collect();
        for record in plays.iter().step_by(17) {
            let mut expected = 0.0;
            for t in 0..WEEKS {
                // every deal whose calls have been the same until this week
                let so_far = |record: &Record| record.parts().call.slice(ndarray::s![.., ..=t]).to_owned();
                let same: Vec<f64> = plays
                    .iter()
                    .filter(|other| so_far(other) == so_far(record))
                    .map(|other| in_week(other, t))
                    .collect();
                others += same.len() - 1;
                expected += same.iter().sum::<f64>() / same.len() as f64;
            }
            let found = averaged(record, &divergence(record, Edge::LastCalled).unwrap()).unwrap().estimate;
            assert!((found - expected).abs() < 1e-9, "seed {seed}: {found} {expected}");
        }
    }
    assert!(others > 100, "deals that differ: {others}");
}

#[test]
fn against_another_policy_it_is_the_average_over_re_dealings_within_like_calls() {
    let mut others = 0;
    for (seed, n, policy, places) in
        [(0, 10, 5, [2, 2]), (1, 10, 5, [3, 2]), (2, 9, 6, [4, 2]), (3, 10, 5, [2, 1])]
    {
        let people = People::draw(n, places, seed);
        let deals = splits(n, policy);
        let plays: Vec<Record> = deals.iter().map(|deal| people.play(deal)).collect();
        let weeks: Vec<_> = plays.iter().map(|r| divergence(r, Edge::LastCalled).unwrap()).collect();
        for (deal, (record, parted)) in deals.iter().zip(plays.iter().zip(&weeks)).step_by(7) {
            let mut expected = 0.0;
            for t in 0..WEEKS {
                let call = &record.parts().call;
                // whoever has diverged stays; as many of each kind of calls so far stay in each arm
                let kind = |i: usize| (0..=t).map(|s| usize::from(call[[i, s]]) << s).sum::<usize>();
                let count = |deal: &[bool], k: usize| {
                    (0..n).filter(|&i| parted.week[i] > t && deal[i] && kind(i) == k).count()
                };
                let is_valid = |other: &[bool]| {
                    (0..n).all(|i| parted.week[i] > t || other[i] == deal[i])
                        && (0..1 << WEEKS).all(|k| count(other, k) == count(deal, k))
                };
                let mut same = Vec::new();
                for (_, replay) in deals.iter().zip(&plays).filter(|(other, _)| is_valid(other)) {
                    let so_far = ndarray::s![.., ..=t];
                    assert_eq!(replay.parts().call.slice(so_far), call.slice(so_far), "lists as they were");
                    same.push(in_week(replay, t));
                }
                others += same.len() - 1;
                expected += same.iter().sum::<f64>() / same.len() as f64;
            }
            let found = averaged(record, parted).unwrap().estimate;
            assert!((found - expected).abs() < 1e-9, "seed {seed}: {found} {expected}");
        }
    }
    assert!(others > 100, "deals that differ: {others}");
}

#[test]
fn over_all_deals_it_means_what_the_difference_means() {
    for (seed, n, policy, places) in
        [(0, 10, 5, [2, 0]), (1, 9, 6, [2, 0]), (2, 10, 5, [2, 2]), (3, 10, 4, [1, 2]), (4, 9, 5, [3, 1])]
    {
        let people = People::draw(n, places, seed);
        let plays: Vec<Record> = splits(n, policy).iter().map(|deal| people.play(deal)).collect();
        let mean = |of: &dyn Fn(&Record) -> f64| plays.iter().map(of).sum::<f64>() / plays.len() as f64;
        let exchanged = mean(&|r| averaged(r, &divergence(r, Edge::LastCalled).unwrap()).unwrap().estimate);
        let plain = mean(&|r| difference(r).unwrap().estimate);
        assert!((exchanged - plain).abs() < 1e-9, "seed {seed}: {exchanged} {plain}");
    }
}
