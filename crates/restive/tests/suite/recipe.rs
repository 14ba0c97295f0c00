//! The recommended training: interrupted anywhere, on any number of threads, it ends in the same predictor; and it gains where the
//! predictor cannot express the data.

use ndarray::Array4;
use restive::data::domain::Domain;
use restive::index::{Algorithm, whittle_index};
use restive::instance::Instance;
use restive::policy::Policy;
use restive::predictor::{Precision, PredictorKind};
use restive::simulation::{Initial, Setting, values};
use restive::training::{Choice, Config, Recipe, Selected, Selection, Value};

fn small(instances: usize, arms: usize) -> Vec<Instance> {
    let domain =
        Domain { instances, arms, budget: arms / 5, horizon: 5, trajectories: 4, ..Domain::two_state() };
    domain.generate(5).unwrap()
}

fn recipe(kind: PredictorKind, value: Value) -> Recipe {
    let two_stage = Config { kind, epochs: 12, ..Config::recommended(&[]) };
    let mut recipe = Recipe::new(two_stage, 5);
    recipe.decision.value = value;
    recipe
}

fn kinds() -> [PredictorKind; 3] {
    [
        PredictorKind::Network { hidden: vec![6], dropout: 0.1 },
        PredictorKind::Network { hidden: vec![], dropout: 0.0 },
        PredictorKind::Effect { precision: Precision::DEFAULT },
    ]
}

fn run(mut selection: Selection) -> Selected {
    while !selection.is_finished() {
        selection.round();
    }
    selection.finish()
}

#[test]
fn interrupted_anywhere_it_ends_in_the_same_predictor() {
    let all = small(4, 20);
    let (train, validation) = all.split_at(3);
    for (kind, value) in kinds().into_iter().zip(Value::ALL) {
        for choice in [None, Some(Choice::Weak)] {
            let recipe = Recipe { choice, ..recipe(kind.clone(), value) };
            let whole = run(Selection::new(recipe.clone(), train, validation).unwrap());
            assert_eq!(whole.verdict.folds.len(), if choice.is_none() { 3 } else { 0 });
            let mut halted = Selection::new(recipe.clone(), train, validation).unwrap();
            let mut rounds = 0;
            while !halted.is_finished() {
                halted.round();
                rounds += 1;
                // every few rounds everything is dropped but the snapshot
                if rounds % 37 == 5 || rounds < 4 {
                    let snapshot = halted.snapshot();
                    halted = Selection::new(recipe.clone(), train, validation).unwrap();
                    halted.restore(&snapshot).unwrap();
                }
            }
            let (made, most) = halted.progress();
            assert!(made > 0 && made <= most, "{made} of {most}");
            assert!(halted.finish() == whole, "{value:?} {choice:?}");
        }
    }
}

#[test]
fn threads_do_not_matter() {
    let all = small(4, 20);
    let (train, validation) = all.split_at(3);
    let on = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(
            || run(Selection::new(recipe(kinds()[0].clone(), Value::Is), train, validation).unwrap()),
        )
    };
    let one = on(1);
    assert_eq!(one, on(2));
    assert_eq!(one, on(3));
}

#[test]
fn a_single_instance_is_cut_into_groups_of_arms() {
    let all = small(1, 60);
    let arms: Vec<usize> = (0..50).collect();
    let train = [all[0].select_arms(&arms)];
    let validation = [all[0].select_arms(&(50..60).collect::<Vec<_>>())];
    let recipe = recipe(kinds()[1].clone(), Value::Decomposed);
    let selected = run(Selection::new(recipe.clone(), &train, &validation).unwrap());
    assert_eq!(selected.verdict.folds.len(), 5);
    assert!(selected.verdict.folds.iter().flatten().all(|value| value.is_finite() && *value > 0.0));
    // too few arms to compare on: two-stage training is the answer
    let few = [all[0].select_arms(&arms[..12])];
    let selected = run(Selection::new(recipe.clone(), &few, &validation).unwrap());
    assert!(selected.verdict.folds.is_empty());
    assert_eq!((selected.verdict.choice, selected.fitted), (Choice::TwoStage, selected.two_stage));
    let refused = Selection::new(recipe, &train, &[]).err().unwrap().to_string();
    assert!(refused.contains("validation instances"), "{refused}");
}

#[test]
fn the_choice_is_the_better_preset_where_it_leads_by_more_than_a_standard_error() {
    let all = small(5, 30);
    let (train, validation) = all.split_at(4);
    for seed in 0..3 {
        let mut recipe = recipe(kinds()[1].clone(), Value::Decomposed);
        recipe.two_stage.seed = seed;
        let verdict = run(Selection::new(recipe, train, validation).unwrap()).verdict;
        let lead = |k: usize| {
            let leads: Vec<f64> = verdict.folds.iter().map(|values| values[k] - values[0]).collect();
            let mean = leads.iter().sum::<f64>() / leads.len() as f64;
            let square = leads.iter().map(|lead| (lead - mean).powi(2)).sum::<f64>();
            (mean, (square / (leads.len() - 1) as f64 / leads.len() as f64).sqrt())
        };
        let (weak, strong) = (lead(1), lead(2));
        let (best, choice) = if strong.0 > weak.0 { (strong, Choice::Strong) } else { (weak, Choice::Weak) };
        assert_eq!(verdict.choice, if best.0 > best.1 { choice } else { Choice::TwoStage });
        for (found, truth) in verdict.leads.unwrap().iter().zip([weak, strong]) {
            assert!((found.0 - truth.0).abs() < 1e-12 && (found.1 - truth.1).abs() < 1e-12);
        }
    }
}

/// The value over the test instances of the strict policy on the true transitions.
fn deployed(test: &[Instance], predict: impl Fn(&Instance) -> Array4<f64>, discount: f64) -> f64 {
    let one = |instance: &Instance| {
        let index =
            whittle_index(predict(instance).view(), instance.reward().view(), discount, Algorithm::Auto)
                .index;
        let setting = Setting {
            motion: instance.truth().unwrap().view().into(),
            reward: instance.reward().into(),
            discount: instance.discount(),
            budget: instance.budget(),
            horizon: 9,
        };
        values(&setting, &Initial::Uniform, &Policy::Strict(index), 500, 9).mean().unwrap()
    };
    test.iter().map(one).sum::<f64>()
}

/// The first two seeds of the third regime of docs/MEASUREMENTS.md, where the gain over twenty is several standard errors: the
/// selection may keep two-stage training, but must not lose by it, and gains in sum.
#[test]
fn with_too_few_features_training_through_the_decision_pays() {
    let mut gain = 0.0;
    for seed in [100, 101] {
        let domain = Domain { features_kept: 4, ..Domain::two_state() };
        let all = domain.generate(seed).unwrap();
        let (train, validation, test) = (&all[..7], &all[7..8], &all[8..]);
        let kind = PredictorKind::Network { hidden: vec![], dropout: 0.0 };
        let recipe = Recipe::new(Config { kind, seed, ..Config::recommended(train) }, 9);
        let discount = recipe.decision.index_discount;
        let selected = run(Selection::new(recipe, train, validation).unwrap());
        let [before, after] = [&selected.two_stage, &selected.fitted]
            .map(|fitted| deployed(test, |i| fitted.predictor.predict(i.features()), discount));
        assert!(after >= before, "seed {seed}: {:?} {before:.1} {after:.1}", selected.verdict.choice);
        gain += after - before;
    }
    assert!(gain > 0.0, "two-stage training was kept twice");
}
