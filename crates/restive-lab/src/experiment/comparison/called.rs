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
use ndarray::ArrayView4;
use restive::data::features::Features;
use restive::fairness::{Groups, compare, describe};
use restive::policy::Policy;

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
    let groupings: Vec<&Groups> = categories.iter().map(|feature| &feature.groups).collect();
    let values: Vec<&[f64]> = numbers.iter().map(|(_, values)| values.as_slice()).collect();
    for (method, whom) in &called {
        let mut push = |metric, value| out.push((*method, metric, value));
        push(Metric::People, whom.len() as f64);
        let said = describe(whom, &values, &groupings);
        for ((name, _), mean) in numbers.iter().zip(said.means) {
            push(Metric::Mean(name), mean);
        }
        for (feature, shares) in categories.iter().zip(said.shares) {
            for (label, share) in feature.labels.iter().zip(shares) {
                push(Metric::Share(feature.name, label), share);
            }
        }
    }
    let tested: Vec<_> = numbers.iter().filter(|(name, _)| NUMBERS.contains(name)).collect();
    let values: Vec<&[f64]> = tested.iter().map(|(_, values)| values.as_slice()).collect();
    for (pair, methods) in PAIRS {
        let people = |method| called.iter().find(|(found, _)| *found == method).map(|(_, whom)| whom);
        let [Some(first), Some(second)] = methods.map(people) else { continue };
        let mut push = |metric, value| out.push((pair, metric, value));
        let said = compare([first, second], &values, &groupings);
        push(Metric::Both, said.both);
        for ((name, _), test) in tested.iter().zip(said.numbers) {
            if let Some(test) = test {
                push(Metric::P(name, None), test.p);
            }
        }
        for ((feature, all), each) in categories.iter().zip(said.groupings).zip(said.groups) {
            let labels = feature.labels.iter().copied().map(Some);
            for (label, test) in [None].into_iter().chain(labels).zip([all].into_iter().chain(each)) {
                if let Some(test) = test {
                    push(Metric::P(feature.name, label), test.p);
                }
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
