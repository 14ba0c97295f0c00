//! What a person's own record is worth on the synthetic maternal programme, and whether held-out people say so.
//!
//!     cargo run --release -p restive --example history -- [SEEDS] [FIRST SEED] [PER CENT THAT FEATURES EXPLAIN]
//!
//! An effect model is trained on nine groups; a rule is learnt on predictions of people that their model had not seen, either of one
//! group or of all nine (three folds of groups), and applied to the other three groups. Values are those of the strict policy on the true transitions from
//! where the log ends, at the index discount 1 − 1/H, as points of the way from random calls to the oracle.

use ndarray::{Array4, ArrayView4, Axis, concatenate, s};
use restive::data::maternal::Maternal;
use restive::history::{Carry, HeldOut, HistoryLead, Learnt, Past, Rule, learn};
use restive::index::{Algorithm, whittle_index};
use restive::policy::Policy;
use restive::predictor::logistic::{Precision, fit};
use restive::simulation::{Initial, Setting, values};
use restive::{Instance, Reward, statistics};
use std::time::Instant;

const RUNS: usize = 100;
const WEEKS: usize = 7;

fn main() -> restive::Result<()> {
    let asked: Vec<u64> = std::env::args().skip(1).map(|text| text.parse().expect("a number")).collect();
    let (seeds, first) = (asked.first().copied().unwrap_or(4), asked.get(1).copied().unwrap_or(0));
    let names = [
        "prediction alone",
        "every row apart",
        "carry",
        "gauss",
        "as learnt on one group",
        "as learnt on nine",
    ];
    let mut all = Vec::new();
    for seed in first..first + seeds {
        let programme = match asked.get(2).map(|percent| *percent as f64 / 100.0) {
            Some(share) => {
                Maternal { explained_baseline: share, explained_effect: share, ..Maternal::default() }
            }
            None => Maternal::default(),
        };
        let groups = programme.generate(seed)?.instances;
        let (known, test) = groups.split_at(9);
        let fold = |k: usize| predicted(&without(known, 3 * k), &known[3 * k..3 * k + 3]);
        let held_out: Vec<Array4<f64>> = (0..3).flat_map(fold).collect();
        let start = Instant::now();
        let many = learnt(known, &held_out);
        let seconds = start.elapsed().as_secs_f64();
        let one = learnt(&known[8..], &held_out[8..]);
        println!("seed {seed}: one group: {}", said(&one));
        println!("        nine groups: {}; {seconds:.1} s", said(&many));
        let gauss = many.gauss.map_or(Rule::Alone, |fit| Rule::Gauss(fit.gauss));
        let carry = many.carry.carry;
        let apart = Rule::Carry(Carry { rho: 0.0, ..carry });
        let rules = [Rule::Alone, apart, Rule::Carry(carry), gauss, one.rule, many.rule];
        all.push(points(test, &predicted(&known.iter().collect::<Vec<_>>(), test), rules)?);
    }
    for (k, name) in names.iter().enumerate() {
        let scores: Vec<f64> = all.iter().map(|run| run[k]).collect();
        let gains: Vec<f64> = all.iter().map(|run| run[k] - run[0]).collect();
        if let (Ok(score), Ok(gain)) = (statistics::mean(&scores), statistics::mean(&gains)) {
            println!("{name:<24} {:6.1}   {:+.1} ± {:.1}", score.mean, gain.mean, gain.standard_error);
        }
    }
    Ok(())
}

/// The groups but for three.
fn without(groups: &[Instance], from: usize) -> Vec<&Instance> {
    groups[..from].iter().chain(&groups[from + 3..]).collect()
}

/// What an effect model of some groups predicts of others.
fn predicted(train: &[&Instance], groups: &[Instance]) -> Vec<Array4<f64>> {
    let features: Vec<_> = train.iter().map(|group| group.features()).collect();
    let counts: Vec<_> = train.iter().map(|group| group.trajectories().counts()).collect();
    let counts: Vec<_> = counts.iter().map(|counts| counts.view()).collect();
    let features = concatenate(Axis(0), &features).expect("as many features");
    let counts = concatenate(Axis(0), &counts).expect("as many states");
    let effect = fit(features.view(), counts.view(), Precision::DEFAULT, None).expect("a fit").model;
    groups.iter().map(|group| effect.predict(group.features())).collect()
}

fn learnt(groups: &[Instance], predictions: &[Array4<f64>]) -> Learnt {
    let held_out = groups.iter().zip(predictions).map(|(group, prediction)| HeldOut {
        log: group.trajectories(),
        observation: group.observation(),
        prediction: prediction.view(),
    });
    learn(&held_out.collect::<Vec<_>>(), Some(1.0))
}

fn said(learnt: &Learnt) -> String {
    let lead = |lead: HistoryLead| {
        let [called, all] =
            [lead.called, lead.all].map(|lead| lead.map_or(f64::NAN, |l| l.mean / l.standard_error));
        format!("lead in standard errors {called:.1} on calls, {all:.1} on all")
    };
    let name = match learnt.rule {
        Rule::Alone => "alone",
        Rule::Carry(_) => "carry",
        Rule::Gauss(_) => "gauss",
    };
    let t = learnt.gauss.map_or(0.0, |fit| fit.t);
    format!(
        "{name}; b {t:.1}; carry {}; gauss {}; {} called later",
        lead(learnt.carry_lead),
        learnt.gauss_lead.map_or("none".into(), lead),
        learnt.rests_on.called_later
    )
}

/// Points of each rule, over the groups.
fn points(groups: &[Instance], predictions: &[Array4<f64>], rules: [Rule; 6]) -> restive::Result<[f64; 6]> {
    let mut sums = [0.0; 8];
    for (group, prediction) in groups.iter().zip(predictions) {
        let past = Past::new(group.trajectories(), group.observation());
        sums[0] += value(group, &Policy::Random);
        sums[1] += value(group, &strict(group.truth().expect("synthetic").view()));
        for (k, rule) in rules.iter().enumerate() {
            sums[2 + k] += value(group, &strict(rule.apply(&past, prediction.view())?.view()));
        }
    }
    Ok([2, 3, 4, 5, 6, 7].map(|k| 100.0 * (sums[k] - sums[0]) / (sums[1] - sums[0])))
}

fn strict(transition: ArrayView4<'_, f64>) -> Policy {
    let discount = 1.0 - 1.0 / WEEKS as f64;
    Policy::Strict(whittle_index(transition, Reward::linear(2).view(), discount, Algorithm::Auto).index)
}

/// The value of a policy for a group on its true transitions, from the states in which its log ended.
fn value(group: &Instance, policy: &Policy) -> f64 {
    let setting = Setting {
        motion: group.truth().expect("synthetic").view().into(),
        reward: group.reward().into(),
        discount: group.discount(),
        budget: group.budget(),
        horizon: WEEKS,
    };
    let now = group.trajectories().state().slice(s![.., -1, ..]).to_owned();
    values(&setting, &Initial::States(now), policy, RUNS, 5).mean().expect("some runs")
}
