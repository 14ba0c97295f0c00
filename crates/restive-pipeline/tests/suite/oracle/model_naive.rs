//! Facts of a model that follow from the rows of its study, computed from the maps of the naive reader.

use restive::data::encoding::ColumnKind;
use restive_pipeline::Trained;
use restive_testkit::naive_study::{NaiveArm, NaiveStudy, Value};

const PARTS: [&str; 3] = ["train", "validation", "test"];

/// Number of transitions of the arms with a property: steps with a state and an action that a step with a state follows.
fn transitions(naive: &NaiveStudy, is_counted: impl Fn(&NaiveArm) -> bool) -> u64 {
    let mut count = 0;
    for ((instance, trajectory, arm, t), step) in &naive.steps {
        let next = (instance.clone(), trajectory.clone(), arm.clone(), t + 1);
        let has_next = naive.steps.get(&next).is_some_and(|next| next.state.is_some());
        let is_move = step.state.is_some() && step.action.is_some() && has_next;
        count += u64::from(is_move && is_counted(&naive.arms[&(instance.clone(), arm.clone())]));
    }
    count
}

/// Checks numbers of transitions and, if the study says which arms are learnt from, the encoding.
pub fn assert_model(trained: &Trained, naive: &NaiveStudy, context: &str) {
    let card = &trained.model.card;
    let loss = card.history.loss.unwrap();
    let found = [loss.train, loss.validation, loss.test].map(|loss| loss.map_or(0, |loss| loss.transitions));
    assert_eq!(found.iter().sum::<u64>(), transitions(naive, |_| true), "{context}");
    if naive.arms.values().any(|arm| arm.split.is_none()) {
        return;
    }
    assert_eq!(
        found,
        PARTS.map(|part| transitions(naive, |arm| arm.split.as_deref() == Some(part))),
        "{context}"
    );
    let train: Vec<&NaiveArm> =
        naive.arms.values().filter(|arm| arm.split.as_deref() == Some("train")).collect();
    for column in &card.encoding.columns {
        let c = naive.features.iter().position(|name| *name == column.name).unwrap();
        let values: Vec<&Value> = train.iter().map(|arm| &arm.features[c]).collect();
        assert_eq!(column.has_missing, values.contains(&&Value::Missing), "{context}: {}", column.name);
        let numbers: Vec<f64> = values
            .iter()
            .filter_map(|value| if let Value::Number(x) = value { Some(*x) } else { None })
            .collect();
        let mean = numbers.iter().sum::<f64>() / numbers.len() as f64;
        let sd = (numbers.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / numbers.len() as f64).sqrt();
        // sums of a few hundred numbers, in another order
        let is_near = |a: f64, b: f64| (a - b).abs() <= 1e-11 * b.abs().max(1.0);
        let is_as_counted = match &column.kind {
            ColumnKind::Number { mean: m, sd: s } => is_near(*m, mean) && is_near(*s, sd),
            ColumnKind::Binary { mean: m } => {
                is_near(*m, mean) && numbers.iter().all(|x| [0.0, 1.0].contains(x))
            }
            ColumnKind::Text { categories } => {
                let texts = values.iter().filter_map(|value| match value {
                    Value::Text(text) => Some(text.clone()),
                    _ => None,
                });
                let mut texts: Vec<String> = texts.collect();
                texts.sort();
                texts.dedup();
                *categories == texts
            }
        };
        assert!(is_as_counted, "{context}: {}: found {:?}", column.name, column.kind);
    }
}
