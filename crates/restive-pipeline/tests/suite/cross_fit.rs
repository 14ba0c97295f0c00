//! Everybody is judged by a model that never saw them.

use ndarray::s;
use rayon::ThreadPoolBuilder;
use restive::Trajectories;
use restive::data::domain::Domain;
use restive::data::features::{Column, Features};
use restive::data::split::Group;
use restive::instance::{Logged, UNSEEN};
use restive_pipeline::generate::Synthetic;
use restive_pipeline::{
    Applied, Asked, Error, FoldModel, FoldProgress, PredictorName, Training, cross_fit, prepare,
};
use restive_tables::Study;
use restive_tables::model::Card;

fn study(instances: usize, arms: usize) -> Study {
    let domain = Domain { instances, arms, budget: 4, horizon: 5, trajectories: 6, ..Domain::two_state() };
    Synthetic::TwoState(domain).study(5).unwrap()
}

fn card(study: &Study, asked: &Asked) -> Card {
    Training::new(study, asked, "a test").unwrap().card
}

fn fit(card: &Card, study: &Study, folds: usize, threads: usize) -> Vec<FoldModel> {
    let pool = ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    let people = prepare::every_arm(study);
    cross_fit(card, study, &people, folds, 7, Some(&pool), |_| Ok::<_, Error>(())).unwrap()
}

/// The same study, some arms of which did the contrary.
fn altered(study: &Study, groups: &[Group]) -> Study {
    let mut altered = study.clone();
    for group in groups {
        let log = &study.instances[group.instance].trajectories;
        let mut state = log.state().to_owned();
        for arm in &group.arms {
            let seen = state.slice_mut(s![.., .., *arm]);
            seen.into_iter().filter(|state| **state != UNSEEN).for_each(|state| *state = 1 - *state);
        }
        let (action, propensity) = (log.action().to_owned(), log.propensity().map(|p| p.to_owned()));
        let logged = Logged { state, action, propensity, reward: None, available: None };
        altered.instances[group.instance].trajectories = Trajectories::new(logged, 2).unwrap();
    }
    altered
}

#[test]
fn models_do_not_depend_on_those_they_judge_nor_on_threads() {
    let network = Asked { predictor: Some(PredictorName::Linear), epochs: Some(40), ..Asked::default() };
    // folds of whole instances, and of the arms of one instance
    for (study, asked) in [
        (study(4, 12), Asked { epochs: Some(2), seed: 3, ..Asked::default() }),
        (study(4, 12), network.clone()),
        (study(1, 60), network),
    ] {
        let card = card(&study, &asked);
        let models = fit(&card, &study, 2, 1);
        let again = fit(&card, &study, 2, 2);
        let other = fit(&card, &altered(&study, &models[0].judged), 2, 2);
        let all: usize = models.iter().flat_map(|model| &model.judged).map(|group| group.arms.len()).sum();
        assert_eq!(all, study.arms().iter().sum::<usize>());
        for (fold, model) in models.iter().enumerate() {
            assert_eq!(model.judged, again[fold].judged);
            assert_eq!(model.trained.model, again[fold].trained.model, "threads");
            let split = &model.trained.model.card.configuration.split;
            let judged: usize = model.judged.iter().map(|group| group.arms.len()).sum();
            assert_eq!((split.test.arms, split.train.arms + split.validation.arms), (judged, all - judged));
        }
        let weights = |models: &[FoldModel], fold: usize| models[fold].trained.model.weights.clone();
        assert_eq!(weights(&models, 0), weights(&other, 0), "it never saw them");
        assert_ne!(weights(&models, 1), weights(&other, 1), "this one learnt from them");
    }
}

#[test]
fn people_outside_are_not_learnt_from() {
    let study = study(1, 60);
    let card =
        card(&study, &Asked { predictor: Some(PredictorName::Linear), epochs: Some(9), ..Asked::default() });
    let split = prepare::split(&study, 0).unwrap();
    let people = [split.train.clone(), split.validation.clone()].concat();
    let fit = |study: &Study| cross_fit(&card, study, &people, 2, 7, None, |_| Ok::<_, Error>(())).unwrap();
    let (models, other) = (fit(&study), fit(&altered(&study, &split.test)));
    for (model, other) in models.iter().zip(&other) {
        assert_eq!(model.trained.model.weights, other.trained.model.weights);
        let is_outside = |group: &Group| group.arms.iter().any(|arm| split.test[0].arms.contains(arm));
        assert!(!model.judged.iter().any(is_outside), "nor are they judged");
    }
}

#[test]
fn whoever_looks_on_hears_how_far_it_is_and_may_end_it() {
    #[derive(Debug)]
    struct Enough;
    impl From<Error> for Enough {
        fn from(error: Error) -> Self {
            panic!("{error}")
        }
    }
    let study = study(2, 20);
    let card =
        card(&study, &Asked { predictor: Some(PredictorName::Linear), epochs: Some(3), ..Asked::default() });
    let people = prepare::every_arm(&study);
    let mut heard: Vec<FoldProgress> = Vec::new();
    let models = cross_fit(&card, &study, &people, 4, 7, None, |progress| {
        heard.push(progress);
        Ok::<_, Enough>(())
    });
    assert_eq!(models.unwrap().len(), 4);
    assert!(heard.is_sorted_by(|one, next| one.share <= next.share && one.fold <= next.fold));
    let last = heard.last().unwrap();
    assert_eq!((last.fold, last.folds, last.share), (3, 4, 1.0));
    assert!(heard.iter().all(|progress| !progress.message.is_empty()));
    let ended = cross_fit(&card, &study, &people, 4, 7, None, |progress| match progress.fold {
        2.. => Err(Enough),
        _ => Ok(()),
    });
    assert!(ended.is_err());
}

#[test]
fn a_gap_or_category_that_only_the_judged_have_is_no_stranger() {
    let known = study(1, 60);
    // one arm misses its age, and one is from a village of its own
    let with = |gap: bool| {
        let features = &known.instances[0].features;
        let mut columns: Vec<(String, Column)> =
            features.names().iter().cloned().zip(features.columns().iter().cloned()).collect();
        let age = (0..60).map(|i| if gap && i == 17 { f64::NAN } else { f64::from(i) });
        columns.push(("age".into(), Column::Number(age.collect())));
        let village = |i: usize| if gap && i == 3 { "far" } else { ["north", "south"][i % 2] };
        columns.push(("village".into(), Column::Text((0..60).map(|i| Some(village(i).into())).collect())));
        let mut study = known.clone();
        study.instances[0].features = Features::new(60, columns).unwrap();
        study
    };
    let asked = Asked { predictor: Some(PredictorName::Linear), epochs: Some(3), ..Asked::default() };
    let study = with(true);
    for model in fit(&card(&with(false), &asked), &study, 5, 2) {
        Applied::new(&model.trained, &study, "a fold", "the study").unwrap();
    }
}

#[test]
fn a_fold_that_cannot_be_trained_is_named() {
    let study = study(1, 60);
    let card =
        card(&study, &Asked { predictor: Some(PredictorName::Linear), epochs: Some(9), ..Asked::default() });
    let people = prepare::every_arm(&study);
    let fit = |card: &Card, study: &Study, folds: usize| {
        let fitted = cross_fit(card, study, &people, folds, 7, None, |_| Ok::<_, Error>(()));
        fitted.map(drop).unwrap_err().to_string()
    };
    // nobody was ever pulled
    let mut idle = study.clone();
    let log = idle.instances[0].trajectories.clone();
    let action = log.action().mapv(|action| if action == 1 { 0 } else { action });
    let logged =
        Logged { state: log.state().to_owned(), action, propensity: None, reward: None, available: None };
    idle.instances[0].trajectories = Trajectories::new(logged, 2).unwrap();
    let said = fit(&card, &idle, 3);
    assert!(said.starts_with("fold 1 of 3: training part: found no pull among"), "{said}");
    assert!(said.ends_with("or judge the model on those that it never saw, --part test"), "{said}");
    let said = fit(&card, &study, 1);
    assert!(said.starts_with("folds: folds: found 1, expected at least 2"), "{said}");
}
