//! A small programme in which trials are run, written apart from the library: people move between two states, calls help.

use ndarray::{Array2, Array3};
use rand::RngExt;
use restive::random::stream;
use restive::trial::{Group, Parts, Record, Rule, Rules};

/// What a trial is like.
#[derive(Debug, Clone)]
pub(crate) struct Setting {
    /// of the policy and the control arm
    pub people: [usize; 2],
    /// calls a week in each arm
    pub places: [usize; 2],
    pub weeks: usize,
    /// what a call adds to the chance of the good state, at most
    pub effect: f64,
    /// the rate at which outcomes are missing in each arm
    pub missing: [f64; 2],
    /// the rate at which a person cannot be called in a week
    pub ineligible: f64,
}

impl Default for Setting {
    fn default() -> Self {
        Self {
            people: [400, 400],
            places: [40, 0],
            weeks: 6,
            effect: 0.3,
            missing: [0.0, 0.0],
            ineligible: 0.0,
        }
    }
}

/// What happened to some people under a rule: states before each decision and at the end `[n,T+1]`, calls `[n,T]`.
fn roll(
    chance: &Array3<f64>,
    noise: &Array2<f64>,
    score: &dyn Fn(usize, usize, usize) -> f64,
    who: &[usize],
    places: usize,
) -> (Array2<usize>, Array2<bool>) {
    let (n, weeks) = noise.dim();
    let mut state = Array2::zeros((n, weeks + 1));
    let mut call = Array2::from_elem((n, weeks), false);
    for &i in who {
        state[[i, 0]] = i % 2;
    }
    for t in 0..weeks {
        let key = |i: usize| score(i, state[[i, t]], t);
        let mut order: Vec<usize> = who.iter().copied().filter(|&i| !key(i).is_nan()).collect();
        order.sort_by(|&i, &j| key(j).total_cmp(&key(i)));
        order.iter().take(places).for_each(|&i| call[[i, t]] = true);
        for &i in who {
            let chance = chance[[i, state[[i, t]], usize::from(call[[i, t]])]];
            state[[i, t + 1]] = usize::from(noise[[i, t]] < chance);
        }
    }
    (state, call)
}

/// One trial: its record, and what its policy arm gained over what its people would have had under the control arm's rule.
pub(crate) fn trial(setting: &Setting, seed: u64) -> (Record, f64) {
    let mut random = stream(seed, &[4711]);
    let (n, weeks) = (setting.people[0] + setting.people[1], setting.weeks);
    // the assignment is by chance because people are
    let mut chance = Array3::zeros((n, 2, 2));
    for i in 0..n {
        let [stay, back, gain] = [0.0; 3].map(|_: f64| random.random::<f64>());
        for s in 0..2 {
            let base = if s == 1 { 0.45 + 0.5 * stay } else { 0.05 + 0.4 * back };
            chance[[i, s, 0]] = base;
            chance[[i, s, 1]] = (base + setting.effect * gain).min(1.0);
        }
    }
    let noise = Array2::from_shape_fn((n, weeks), |_| random.random::<f64>());
    let tie: Vec<f64> = (0..n).map(|_| random.random()).collect();
    let out = Array2::from_shape_fn((n, weeks), |_| random.random::<f64>() < setting.ineligible);
    // the policy calls those in the bad state who rarely come back, in steps, so that there are ties; the other whoever falls easily
    let policy = |i: usize, s: usize| ((1.0 - chance[[i, s, 0]]) * 20.0).round();
    let other = |i: usize, s: usize| ((1.0 - chance[[i, 1, 0]]) * 10.0).round() + 2.0 * (1 - s) as f64;
    let ranked = |rule: &dyn Fn(usize, usize) -> f64, i: usize, s: usize, t: usize| match out[[i, t]] {
        true => f64::NAN,
        false => rule(i, s) + 0.5 * tie[i],
    };
    let (by_policy, by_other) = (|i, s, t| ranked(&policy, i, s, t), |i, s, t| ranked(&other, i, s, t));
    let ours: Vec<usize> = (0..setting.people[0]).collect();
    let theirs: Vec<usize> = (setting.people[0]..n).collect();
    let (mut state, mut call) = roll(&chance, &noise, &by_policy, &ours, setting.places[0]);
    let (rest, calls) = roll(&chance, &noise, &by_other, &theirs, setting.places[1]);
    for &i in &theirs {
        state.row_mut(i).assign(&rest.row(i));
        call.row_mut(i).assign(&calls.row(i));
    }
    let places = setting.places[1] * setting.people[0] / setting.people[1];
    let (without, _) = roll(&chance, &noise, &by_other, &ours, places);
    let total = |state: &Array2<usize>, i: usize| (1..=weeks).map(|t| state[[i, t]] as f64).sum::<f64>();
    let truth = ours.iter().map(|&i| total(&state, i) - total(&without, i)).sum();

    let group: Vec<Group> =
        (0..n).map(|i| if i < setting.people[0] { Group::Policy } else { Group::Control }).collect();
    let outcome = Array2::from_shape_fn((n, weeks), |(i, t)| {
        let rate = setting.missing[usize::from(i >= setting.people[0])];
        if random.random::<f64>() < rate { f64::NAN } else { state[[i, t + 1]] as f64 }
    });
    let tie = Array2::from_shape_fn((n, weeks), |(i, _)| tie[i]);
    let scores = |rule: &dyn Fn(usize, usize) -> f64| {
        let score = |(i, t): (usize, usize)| if out[[i, t]] { f64::NAN } else { rule(i, state[[i, t]]) };
        Array2::from_shape_fn((n, weeks), score)
    };
    let control = Rule::of_lists(scores(&other), &tie, &call, &group, Group::Control);
    let policy = Rule::of_lists(scores(&policy), &tie, &call, &group, Group::Policy);
    // what is expected of a person who is not called, from a week on
    let mut ahead = Array3::<f64>::zeros((n, 2, weeks + 1));
    for t in (0..weeks).rev() {
        for i in 0..n {
            for s in 0..2 {
                let p = chance[[i, s, 0]];
                ahead[[i, s, t]] = p * (1.0 + ahead[[i, 1, t + 1]]) + (1.0 - p) * ahead[[i, 0, t + 1]];
            }
        }
    }
    let prognosis = Some(Array2::from_shape_fn((n, weeks), |(i, t)| ahead[[i, state[[i, t]], t]]));
    let covariates = Array2::from_shape_fn((n, 1), |(i, _)| ahead[[i, i % 2, 0]]);
    let control = (setting.places[1] > 0).then_some(control);
    let rules = Ok(Rules { policy, control, tie, prognosis });
    (Record::new(Parts { group, outcome, call, covariates, cluster: None, rules }).unwrap(), truth)
}
