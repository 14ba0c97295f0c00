//! An evaluation has the library's numbers, and says what they rest on.

use crate::learnt;
use restive::evaluation::{Case, EvaluationSettings, evaluate, likelihood};
use restive::index::{Algorithm, whittle_index};
use restive::policy::{Policy, Temperature};
use restive_pipeline::{
    Applied, BehaviourName, Error, EstimatorsName, EvaluateAsked, Evaluated, JudgedPart, RatioName,
};
use restive_tables::Study;

const FEW: (usize, usize) = (50, 20);

fn few() -> EvaluateAsked {
    EvaluateAsked {
        estimators: EstimatorsName::Published,
        runs: Some(FEW.0),
        resamples: Some(FEW.1),
        ..EvaluateAsked::default()
    }
}

fn published(applied: &Applied<'_>, asked: &EvaluateAsked) -> Result<Evaluated, Error> {
    applied.evaluate(asked, None, |_| Ok(()))
}

#[test]
fn the_numbers_are_the_librarys() {
    let (trained, study) = learnt();
    let applied = Applied::new(&trained, &study, "the model", "the study").unwrap();
    let evaluated = published(&applied, &EvaluateAsked { seed: 9, ..few() }).unwrap();

    // the last of four instances is the one to judge by
    let instance = &study.instances(&trained.model.card.encoding).unwrap()[3];
    let prediction = trained.ensemble.predict(instance.features());
    let table = whittle_index(prediction.view(), instance.reward().view(), 0.8, Algorithm::Auto).index;
    let softness = Temperature::Spread(0.1).resolve(table.as_slice().unwrap());
    let policies = vec![
        ("no-action".to_string(), Policy::NoAction),
        ("random".to_string(), Policy::Random),
        ("model-soft".to_string(), Policy::Soft(table.clone(), softness)),
        ("model-strict".to_string(), Policy::Strict(table)),
    ];
    let settings =
        EvaluationSettings { runs: FEW.0, resamples: FEW.1, seed: 9, ..EvaluationSettings::new(5) };
    let expected = evaluate(&[Case { instance, policies, prediction: None }], &settings).unwrap();
    for (name, scores) in &expected.policies {
        let (_, found) = evaluated.policies.iter().find(|(found, _)| found == name).unwrap();
        assert_eq!(found, scores, "{name}");
    }
    let counts = instance.trajectories().counts();
    let loss = likelihood(&counts, prediction.view());
    assert!((evaluated.loss.per_transition - loss.per_transition).abs() < 1e-12);
    assert_eq!(
        (evaluated.about.part, evaluated.about.arms, evaluated.about.index_discount),
        ("test", 12, Some(0.8))
    );
    assert_eq!(evaluated.uninformed_loss, 2f64.ln());
}

#[test]
fn rows_and_json_hold_the_same_numbers() {
    let (trained, study) = learnt();
    let applied = Applied::new(&trained, &study, "the model", "the study").unwrap();
    let evaluated = published(&applied, &EvaluateAsked { part: Some(JudgedPart::All), ..few() }).unwrap();
    let json = serde_json::to_value(&evaluated).unwrap();
    let rows = evaluated.quantities();
    assert_eq!(rows.len(), 11 * 4 * 3, "policies, estimators, and a value with two gains");
    for row in rows {
        let score = &json["policies"][row.policy][row.estimator.name()];
        let estimate = if row.quantity == "value" { score } else { &score[row.quantity] };
        let numbers = ["value", "low", "high"].map(|number| estimate[number].as_f64().unwrap());
        assert_eq!(numbers, [row.estimate.value, row.estimate.low, row.estimate.high]);
    }
    assert_eq!(json["about"]["arms"], 48);
    assert_eq!(json["loss"].as_object().unwrap().len(), 2);
}

#[test]
fn propensities_come_from_where_they_are_asked_to() {
    let (trained, mut study) = learnt();
    let names = |study: &Study, behaviour: Option<BehaviourName>| -> (Vec<&'static str>, String) {
        let applied = Applied::new(&trained, study, "the model", "the study").unwrap();
        let asked = EvaluateAsked { behaviour, ratio: RatioName::PreviousStep, ..few() };
        let about = published(&applied, &asked).unwrap().about;
        (about.estimators.into_keys().collect::<Vec<_>>(), about.warnings.concat())
    };
    for behaviour in [None, Some(BehaviourName::Uniform), Some(BehaviourName::Estimated)] {
        assert_eq!(names(&study, behaviour).0, ["fluid", "is", "simulated", "true"]);
    }
    assert_eq!(names(&study, Some(BehaviourName::None)).0, ["fluid", "simulated", "true"]);
    // everybody may be pulled, so that leaving someone alone cannot have been chance
    study.settings.budget = 12;
    let (estimators, warnings) = names(&study, Some(BehaviourName::Uniform));
    assert_eq!(estimators, ["fluid", "simulated", "true"]);
    assert!(warnings.contains("is and segmented are absent"), "{warnings}");
}

#[test]
fn what_cannot_be_judged_is_refused() {
    for asked in [
        EvaluateAsked { runs: Some(1), ..few() },
        EvaluateAsked { resamples: Some(0), ..few() },
        EvaluateAsked { index_discount: Some(1.5), ..few() },
    ] {
        assert!(matches!(asked.check(), Err(Error::Asked(_))), "{asked:?}");
    }
    let (trained, mut study) = learnt();
    study.instances.truncate(2); // both are to train on
    let applied = Applied::new(&trained, &study, "the model", "the study").unwrap();
    let refusal = published(&applied, &few()).unwrap_err().to_string();
    assert!(refusal.contains("found no arms, expected some"), "{refusal}");
    assert!(published(&applied, &EvaluateAsked { part: Some(JudgedPart::Train), ..few() }).is_ok());
}
