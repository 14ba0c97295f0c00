//! Who is called: the strict policy of every method is deployed once on the test groups, on the true transitions and from the
//! logged first states, and what is known of the people it calls is put into numbers: counts, means and shares of the people
//! called at least once; of a pair of methods the share of the first's people whom the second calls as well, Welch's t-tests of
//! numbers, chi-square tests of all categories of a feature and of each against the others.
//!
//! All methods meet the same noise. A person counts once, however often called: calls to the same person are no independent
//! observations. Two methods may call the same person, which the tests, as published, take no notice of.

use crate::learn::Trained;
use crate::people::{NUMBERS, categories_of, numbers_of};
use crate::trial::Trial;
use crate::{Method, Metric, PUBLISHED_DISCOUNT};
use ndarray::{Array2, ArrayView4};
use restive::data::features::Features;
use restive::policy::Policy;
use restive::statistics::{chi_square, welch_t};

/// Whose people are compared, under the name of the pair.
pub(crate) const PAIRS: [(Method, [Method; 2]); 2] = [
    (Method::PublishedPair, [Method::DecisionFocused, Method::TwoStage]),
    (Method::RecommendedPair, [Method::DecisionFocusedRecommended, Method::TwoStageRecommended]),
];

/// Every number of every method and pair; `people` has those of the trials one after the other.
pub(crate) fn numbers(
    trials: &[Trial<'_>],
    people: &Features,
    trained: &[Trained],
) -> Vec<(Method, Metric, f64)> {
    let strict = |trial: &Trial<'_>, transition: ArrayView4<'_, f64>, discount| {
        Policy::Strict(trial.index(transition, discount))
    };
    let mut called = vec![(Method::Everyone, (0..people.arms()).collect::<Vec<usize>>())];
    called.extend(trained.iter().map(|Trained { method, predictor, discount, .. }| {
        let policy = |trial: &Trial<'_>| strict(trial, trial.predict(predictor).view(), *discount);
        (*method, whom(trials, policy))
    }));
    let oracle = whom(trials, |trial| strict(trial, trial.truth(), PUBLISHED_DISCOUNT));
    called.push((Method::Oracle, oracle));

    let mut out = Vec::new();
    let (numbers, categories) = (numbers_of(people), categories_of(people));
    for (method, whom) in &called {
        let mut push = |metric, value| out.push((*method, metric, value));
        let count = whom.len() as f64;
        push(Metric::People, count);
        for (name, values) in &numbers {
            push(Metric::Mean(name), whom.iter().map(|i| values[*i]).sum::<f64>() / count);
        }
        for feature in &categories {
            for (label, found) in feature.labels.iter().zip(feature.counts(whom)) {
                push(Metric::Share(feature.name, label), found as f64 / count);
            }
        }
    }
    for (pair, methods) in PAIRS {
        let people = |method| called.iter().find(|(found, _)| *found == method).map(|(_, whom)| whom);
        let [Some(first), Some(second)] = methods.map(people) else { continue };
        let mut push = |metric, value| out.push((pair, metric, value));
        let both = first.iter().filter(|i| second.contains(i)).count();
        push(Metric::Both, both as f64 / first.len() as f64);
        for (name, values) in numbers.iter().filter(|(name, _)| NUMBERS.contains(name)) {
            let [a, b] = [first, second].map(|whom| whom.iter().map(|i| values[*i]).collect::<Vec<f64>>());
            if let Ok(test) = welch_t(&a, &b) {
                push(Metric::P(name, None), test.p);
            }
        }
        for feature in &categories {
            let [a, b] = [first, second].map(|whom| feature.counts(whom));
            let mut test = |label, a: &[u64], b: &[u64]| {
                let table = Array2::from_shape_vec((2, a.len()), [a, b].concat()).expect("two rows");
                if let Ok(test) = chi_square(table.view()) {
                    push(Metric::P(feature.name, label), test.p);
                }
            };
            test(None, &a, &b);
            for (k, label) in feature.labels.iter().enumerate() {
                let [a, b] = [(&a, first), (&b, second)].map(|(c, whom)| [c[k], whom.len() as u64 - c[k]]);
                test(Some(*label), &a, &b);
            }
        }
    }
    out
}

/// The people called at least once, numbered through all trials.
fn whom(trials: &[Trial<'_>], policy: impl Fn(&Trial<'_>) -> Policy) -> Vec<usize> {
    let (mut all, mut before) = (Vec::new(), 0);
    for trial in trials {
        let pulls = trial.deployed(&policy(trial));
        let is_called = pulls.columns().into_iter().map(|person| person.iter().any(|pull| *pull));
        all.extend(is_called.enumerate().filter(|(_, is)| *is).map(|(i, _)| before + i));
        before += trial.instance.arms();
    }
    all
}
