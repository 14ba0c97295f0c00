//! Logs of people whose truth is known: who was called, how they moved, what of it was seen.
//!
//! | calls | whom |
//! |---|---|
//! | in turn | everybody once before anybody twice, in an order drawn anew for every log |
//! | by lot | K of those who are there, every week anew |
//! | chosen | log-odds that rise by 1 for those in state 0 and by 0.5 for each standard deviation of two features; K in all |
//!
//! **Drift.** The log-odds of the best state against the others change by so much a week, for everybody, called or not; the week in the
//! middle is that of the true transitions. **Missing.** Some states are lost, and some people join in a later week: before that they
//! have neither a state nor an action, and are not called.
//!
//! People of the programme start in what they come to when left alone, arms of a domain anywhere.

use ndarray::{Array3, ArrayView3, s};
use rand::RngExt;
use restive::instance::{Logged, NO_ACTION, Parts, UNSEEN};
use restive::random::{Random, stream};
use restive::{Instance, Trajectories};

/// The streams of these logs: no other use of a seed begins with it.
const LOGS: u64 = 0x6a75_646c;
/// What state 0, and a standard deviation of each of two features, add to the log-odds of a call.
const PREFERENCE: [f64; 3] = [1.0, 0.5, 0.5];

/// How calls come to whom they come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Calls {
    InTurn,
    ByLot,
    Chosen,
}

/// How a log comes about.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Logging {
    pub(super) calls: Calls,
    /// log-odds a week
    pub(super) drift: f64,
    /// of states that are lost
    pub(super) lost: f64,
    /// of people who join later
    pub(super) late: f64,
    /// whether people start in what they come to when left alone
    pub(super) is_settled: bool,
}

/// People with a log of their own, and where they truly began.
pub(super) struct Log {
    pub(super) instance: Instance,
    pub(super) start: Vec<u16>,
}

impl Logging {
    /// Fresh logs of people, as long as those that they have; `part` tells logs of a seed apart.
    pub(super) fn logs(&self, people: &[Instance], seed: u64, part: u64) -> restive::Result<Vec<Log>> {
        let log = |(k, instance): (usize, &Instance)| {
            self.log(instance, &mut stream(seed, &[LOGS, part, k as u64]))
        };
        people.iter().enumerate().map(log).collect()
    }

    fn log(&self, instance: &Instance, random: &mut Random) -> restive::Result<Log> {
        let truth = instance.truth().expect("synthetic instances know their truth").view();
        let (n, m, budget) = (instance.arms(), instance.states(), instance.budget());
        let decisions = instance.trajectories().steps() - 1;
        let start: Vec<u16> = (0..n)
            .map(|i| match self.is_settled {
                true => settled(truth.slice(s![i, .., .., ..]), random),
                false => random.random_range(..m) as u16,
            })
            .collect();
        let joined: Vec<usize> = (0..n)
            .map(|_| if random.random::<f64>() < self.late { random.random_range(1..decisions) } else { 0 })
            .collect();
        let mut queue = shuffled((0..n).collect(), random);
        let prefers = (self.calls == Calls::Chosen).then(|| preference(instance));

        let mut state = Array3::from_elem((1, decisions + 1, n), UNSEEN);
        let mut action = Array3::from_elem((1, decisions + 1, n), NO_ACTION);
        let mut propensity = Array3::from_elem((1, decisions + 1, n), 1.0);
        let mut now = start.clone();
        for t in 0..=decisions {
            let there: Vec<usize> = (0..n).filter(|i| joined[*i] <= t).collect();
            for i in &there {
                let is_lost = self.lost > 0.0 && random.random::<f64>() < self.lost;
                state[[0, t, *i]] = if is_lost { UNSEEN } else { now[*i] };
            }
            if t == decisions {
                break;
            }
            let called = match &prefers {
                Some(features) => chosen(features, &now, budget, random),
                None if self.calls == Calls::InTurn => in_turn(&mut queue, &joined, t, budget),
                None => shuffled(there.clone(), random).into_iter().take(budget).collect(),
            };
            let rate = budget as f64 / there.len() as f64;
            for i in there {
                action[[0, t, i]] = 0;
                propensity[[0, t, i]] = 1.0 - rate;
            }
            for i in called {
                action[[0, t, i]] = 1;
                propensity[[0, t, i]] = rate;
            }
            let shift = self.drift * (t as f64 - 0.5 * (decisions as f64 - 1.0));
            for (i, now) in now.iter_mut().enumerate() {
                let row = truth.slice(s![i, usize::from(*now), usize::from(action[[0, t, i]] == 1), ..]);
                *now = draw(row.iter().copied(), shift, random);
            }
        }
        let propensity = (self.calls == Calls::ByLot).then_some(propensity);
        let logged = Logged { state, action, propensity, reward: None, available: None };
        let trajectories = Trajectories::new(logged, m)?;
        let instance = Instance::new(Parts { trajectories, ..instance.parts().clone() })?;
        Ok(Log { instance, start })
    }
}

/// A state that somebody with two states comes to when left alone.
fn settled(truth: ArrayView3<'_, f64>, random: &mut Random) -> u16 {
    let (rise, fall) = (truth[[0, 0, 1]], truth[[1, 0, 0]]);
    u16::from(random.random::<f64>() < rise / (rise + fall))
}

/// A state by its share, the log-odds of the last against the others moved.
fn draw(shares: impl ExactSizeIterator<Item = f64> + Clone, shift: f64, random: &mut Random) -> u16 {
    let last = shares.len() - 1;
    let moved = shares.enumerate().map(|(x, p)| if x == last { p * shift.exp() } else { p });
    let mut left = random.random::<f64>() * moved.clone().sum::<f64>();
    for (x, p) in moved.enumerate() {
        left -= p;
        if left < 0.0 {
            return x as u16;
        }
    }
    last as u16
}

/// The next of those who are there; they go to the end.
fn in_turn(queue: &mut Vec<usize>, joined: &[usize], t: usize, budget: usize) -> Vec<usize> {
    let called: Vec<usize> = queue.iter().copied().filter(|i| joined[*i] <= t).take(budget).collect();
    queue.retain(|i| !called.contains(i));
    queue.extend(&called);
    called
}

/// What two features, the first two that differ among people, add to the log-odds of a call.
fn preference(instance: &Instance) -> Vec<f64> {
    let features = instance.features();
    let varied = features.columns().into_iter().filter(|column| column.std(0.0) > 0.1);
    let mut sum = vec![0.0; instance.arms()];
    for (column, weight) in varied.zip(&PREFERENCE[1..]) {
        let (mean, sd) = (column.mean().expect("people"), column.std(0.0));
        sum.iter_mut().zip(column).for_each(|(sum, x)| *sum += weight * (x - mean) / sd);
    }
    sum
}

/// Everybody by his own log-odds, given that K are called.
fn chosen(features: &[f64], now: &[u16], budget: usize, random: &mut Random) -> Vec<usize> {
    let odds: Vec<f64> = features
        .iter()
        .zip(now)
        .map(|(x, s)| (x + if *s == 0 { PREFERENCE[0] } else { 0.0 }).exp())
        .collect();
    // a factor by which K are expected
    let expected = |factor: f64| odds.iter().map(|odds| factor * odds / (1.0 + factor * odds)).sum::<f64>();
    let (mut low, mut high) = (1e-9, 1e9);
    for _ in 0..100 {
        let middle = f64::sqrt(low * high);
        if expected(middle) < budget as f64 { low = middle } else { high = middle }
    }
    loop {
        let draw = |odds: &f64| random.random::<f64>() < low * odds / (1.0 + low * odds);
        let is_called: Vec<bool> = odds.iter().map(draw).collect();
        if is_called.iter().filter(|called| **called).count() == budget {
            return (0..now.len()).filter(|i| is_called[*i]).collect();
        }
    }
}

pub(super) fn shuffled(mut order: Vec<usize>, random: &mut Random) -> Vec<usize> {
    for i in (1..order.len()).rev() {
        order.swap(i, random.random_range(0..=i));
    }
    order
}

#[cfg(test)]
mod tests {
    use super::*;
    use restive::data::maternal::Maternal;

    const PLAIN: Logging =
        Logging { calls: Calls::ByLot, drift: 0.0, lost: 0.0, late: 0.0, is_settled: true };

    fn people() -> Vec<Instance> {
        Maternal { groups: 2, people: 400, budget: 12, ..Maternal::default() }.generate(5).unwrap().instances
    }

    fn logs(logging: Logging, part: u64) -> Vec<Log> {
        logging.logs(&people(), 9, part).unwrap()
    }

    /// Who was called when.
    fn calls(log: &Log) -> Vec<(usize, usize)> {
        let action = log.instance.trajectories().action();
        action.indexed_iter().filter(|(_, a)| **a == 1).map(|((_, t, i), _)| (t, i)).collect()
    }

    #[test]
    fn turns_are_taken_in_another_order_in_every_log() {
        let in_turn = Logging { calls: Calls::InTurn, ..PLAIN };
        let [first, second] = [1, 2].map(|part| logs(in_turn, part));
        for (first, second) in first.iter().zip(&second) {
            let mut called: Vec<usize> = calls(first).into_iter().map(|(_, i)| i).collect();
            assert_ne!(called, calls(second).into_iter().map(|(_, i)| i).collect::<Vec<_>>());
            called.sort_unstable();
            called.dedup();
            assert_eq!(called.len(), 7 * 12);
        }
        assert_eq!(calls(&first[0]), calls(&logs(in_turn, 1)[0]));
    }

    #[test]
    fn states_that_are_lost_and_people_who_join_later_have_no_record() {
        let missing = Logging { lost: 0.2, late: 0.2, ..PLAIN };
        for log in logs(missing, 1) {
            let (trajectories, start) = (log.instance.trajectories(), &log.start);
            let (state, action) = (trajectories.state(), trajectories.action());
            let late: Vec<usize> = (0..400).filter(|i| action[[0, 0, *i]] == NO_ACTION).collect();
            assert!((40..=120).contains(&late.len()), "{}", late.len());
            for i in late {
                let joined = (0..7).find(|t| action[[0, *t, i]] != NO_ACTION).unwrap();
                assert!((0..joined).all(|t| state[[0, t, i]] == UNSEEN));
                assert!((joined..7).all(|t| action[[0, t, i]] != NO_ACTION));
            }
            assert!((0..400).all(|i| [UNSEEN, start[i]].contains(&state[[0, 0, i]])));
            assert!(trajectories.pulls().iter().take(7).all(|calls| *calls == 12));
        }
    }

    #[test]
    fn drift_and_choice_leave_their_marks() {
        let engaged = |log: &Log, t: usize| {
            let state = log.instance.trajectories().state();
            (0..400).filter(|i| state[[0, t, *i]] == 1).count() as f64 / 400.0
        };
        let drifting = logs(Logging { drift: -0.5, ..PLAIN }, 1);
        assert!(drifting.iter().all(|log| engaged(log, 7) < engaged(log, 3) - 0.05));
        for log in logs(Logging { calls: Calls::Chosen, ..PLAIN }, 1) {
            let state = log.instance.trajectories().state();
            let called = calls(&log);
            assert_eq!(called.len(), 7 * 12);
            let low = called.iter().filter(|(t, i)| state[[0, *t, *i]] == 0).count() as f64 / 84.0;
            let all = state.slice(s![0, ..7, ..]).iter().filter(|s| **s == 0).count() as f64 / 2800.0;
            assert!(low > all + 0.05, "{low} {all}");
        }
    }
}
