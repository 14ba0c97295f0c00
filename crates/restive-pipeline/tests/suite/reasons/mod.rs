//! Reasons against the model that they speak of: sums, chances and every number that a sentence says.

mod made;
mod words;

use made::{by_auto, by_effect, people, study};
use ndarray::{Array1, Array2, Axis};
use restive::data::reference::{Reference, Typical};
use restive::history::{Carry, Gauss, Past, Rule};
use restive::instance::Observation;
use restive_pipeline::reasons::{Reason, Words, sentence};
use restive_pipeline::{Applied, Trained, latest};
use restive_tables::model::own_record::WrittenRule;
use restive_tables::{Study, StudySettings};

fn logit(p: f64) -> f64 {
    (p / (1.0 - p)).ln()
}

/// Everybody in her latest state.
fn everybody(study: &Study) -> Vec<(usize, u16)> {
    let found = latest(&study.instances[0].trajectories, Observation::Full);
    found.into_iter().enumerate().map(|(i, state)| (i, state.unwrap())).collect()
}

fn applied<'a>(trained: &'a Trained, study: &'a Study) -> Applied<'a> {
    Applied::new(trained, study, "the model", "the study").unwrap()
}

/// What the model says of encoded people: the chance of state 1 from a state under an action.
fn predicted(trained: &Trained, x: &Array1<f64>, state: usize, action: usize) -> f64 {
    let p = trained.ensemble.predict(x.view().insert_axis(Axis(0)));
    p[[0, state, action, 1]]
}

/// The rule of the card.
fn rule(trained: &Trained) -> Rule {
    match trained.model.card.own_record.clone().unwrap().rule {
        WrittenRule::Carry { passive, active, rho } => {
            Rule::Carry(Carry { strength: [passive, active], rho })
        }
        WrittenRule::Gauss { offset, slope, first, mean_first, covariance } => {
            Rule::Gauss(Gauss { offset, slope, first, mean_first, covariance })
        }
    }
}

#[test]
fn contributions_and_record_are_what_sets_her_apart_from_the_reference() {
    let study = study(&people());
    let arms = everybody(&study);
    for trained in [by_effect(), by_auto()] {
        let applied = applied(trained, &study);
        let card = &trained.model.card;
        let reference = card.reference.as_ref().expect("every training writes one").encode(&card.encoding);
        let past = Past::new(&study.instances[0].trajectories, Observation::Full);
        for history in [Some(false), Some(true)] {
            let reasons = crate::stated(applied.reasons(0, &arms, history).unwrap());
            let prediction = applied.predictions[0].view();
            let used = if history == Some(true) { rule(trained) } else { Rule::Alone };
            let transition = used.apply(&past, prediction).unwrap();
            for (reason, (i, state)) in reasons.iter().zip(&arms) {
                let (i, s) = (*i, usize::from(*state));
                let chance = |a: usize| transition.view()[[i, s, a, 1]];
                assert!((reason.chance_left_alone.value - chance(0)).abs() < 1e-12);
                assert!((reason.chance_called.value - chance(1)).abs() < 1e-12);
                let typical = [0, 1].map(|a| logit(predicted(trained, &reference, s, a)));
                let own = [0, 1].map(|a| logit(chance(a)));
                let sum = |all: &[restive_pipeline::reasons::Contribution]| -> f64 {
                    all.iter().map(|c| c.amount).sum()
                };
                let record = reason.record.map_or([0.0; 2], |record| [record.level, record.effect]);
                assert_eq!(reason.record.is_some(), history == Some(true));
                let level = own[0] - typical[0];
                let effect = (own[1] - own[0]) - (typical[1] - typical[0]);
                assert!((sum(&reason.level) + record[0] - level).abs() < 1e-9);
                assert!((sum(&reason.effect) + record[1] - effect).abs() < 1e-9);
                assert!((reason.level_difference - level).abs() < 1e-9);
                assert!((reason.effect_difference - effect).abs() < 1e-9);
                for chance in [reason.chance_left_alone, reason.chance_called] {
                    let [low, high] = chance.interval.expect("the card says how people differ");
                    assert!(0.0 < low && low < chance.value && chance.value < high && high < 1.0);
                }
            }
        }
    }
}

#[test]
fn a_record_is_counted_as_it_stands_in_the_log() {
    let study = study(&people());
    let applied = applied(by_effect(), &study);
    let arms = everybody(&study);
    let log = &study.instances[0].trajectories;
    let reasons = crate::stated(applied.reasons(0, &arms, Some(true)).unwrap());
    for (reason, (i, _)) in reasons.iter().zip(&arms) {
        let record = reason.record.unwrap();
        let engaged = (0..17).filter(|t| log.state()[[0, *t, *i]] == 1).count();
        let called = (0..16).filter(|t| log.action()[[0, *t, *i]] == 1).count();
        assert_eq!([record.periods, record.good, record.calls], [17, engaged, called]);
    }
    // those who did better than others are told apart by it
    let share = |is_better: bool| {
        let records = reasons.iter().filter_map(|reason| reason.record);
        let levels: Vec<f64> =
            records.filter(|record| (record.good > 8) == is_better).map(|record| record.level).collect();
        levels.iter().sum::<f64>() / levels.len() as f64
    };
    assert!(share(true) > share(false) + 0.3);
}

#[test]
fn nobody_else_changes_a_reason() {
    let before = study(&people());
    let mut more = vec![5000];
    more.extend(people());
    let after = study(&more);
    let arms = everybody(&before);
    for trained in [by_effect(), by_auto()] {
        let reasons = crate::stated(applied(trained, &before).reasons(0, &arms, None).unwrap());
        let moved: Vec<(usize, u16)> = arms.iter().map(|(i, state)| (i + 1, *state)).collect();
        let again = applied(trained, &after);
        assert_eq!(crate::stated(again.reasons(0, &moved, None).unwrap()), reasons);
        // nor who else is asked for
        assert_eq!(crate::stated(again.reasons(0, &moved[7..9], None).unwrap()), reasons[7..9]);
        let words = Words::default();
        let said = |reasons: &[Reason]| -> Vec<String> {
            reasons.iter().map(|reason| sentence(reason, &words, None)).collect()
        };
        assert_eq!(said(&crate::stated(again.reasons(0, &moved, None).unwrap())), said(&reasons));
    }
}

/// The things of a sentence: its opening, the words before the number, the number.
fn parsed(text: &str) -> Vec<(String, String, i64)> {
    let mut things = Vec::new();
    for part in text.split(". ").filter(|part| part.contains('(')) {
        let (opening, list) = part.split_once(": ").unwrap();
        for thing in list.split(')').filter(|thing| !thing.trim_matches(['.', ' ']).is_empty()) {
            let (words, number) = thing.trim_start_matches([',', ' ']).split_once(" (").unwrap();
            let number = number.split(' ').next().unwrap();
            things.push((opening.to_string(), words.to_string(), number.parse().unwrap()));
        }
    }
    things
}

#[test]
fn every_number_of_a_sentence_is_the_model_s() {
    let (study, trained) = (study(&people()), by_effect());
    let applied = applied(trained, &study);
    let (arms, card) = (everybody(&study), &trained.model.card);
    let reference = card.reference.as_ref().unwrap().encode(&card.encoding);
    let groups = card.encoding.groups();
    let features: Array2<f64> = applied.instances[0].features().to_owned();
    let (words, mut seen) = (Words::default().for_study(&study.settings), [0; 4]);
    // without records a linear model can be asked what it would say if a column were typical
    let reasons = crate::stated(applied.reasons(0, &arms, Some(false)).unwrap());
    for (reason, (i, state)) in reasons.iter().zip(&arms) {
        let text = sentence(reason, &words, None);
        assert!(text.chars().count() <= 160, "{text}");
        let (x, s) = (features.row(*i).to_owned(), usize::from(*state));
        let chance = |x: &Array1<f64>, a: usize| predicted(trained, x, s, a);
        let effect = |x: &Array1<f64>| logit(chance(x, 1)) - logit(chance(x, 0));
        let things = parsed(&text);
        assert!(things.len() <= 3);
        for (opening, said, points) in things {
            let column = card
                .encoding
                .columns
                .iter()
                .position(|column| said.starts_with(&format!("{} is ", column.name.replace('_', " "))));
            let column = column.unwrap_or_else(|| panic!("{text}"));
            let mut typical = x.clone();
            groups[column].clone().for_each(|f| typical[f] = reference[f]);
            let openings = [
                "A call helps more than most",
                "A call helps less than most",
                "Better off anyway",
                "Worse off anyway",
            ];
            let kind = openings.iter().position(|known| *known == opening).unwrap();
            seen[kind] += 1;
            let truth = if kind < 2 {
                let without = logit(chance(&x, 1)) - (effect(&x) - effect(&typical));
                chance(&x, 1) - 1.0 / (1.0 + (-without).exp())
            } else {
                chance(&x, 0) - chance(&typical, 0)
            };
            assert!((100.0 * truth - points as f64).abs() <= 0.5 + 1e-6, "{text}: {}", 100.0 * truth);
            assert_eq!(points > 0, kind % 2 == 0, "{text}");
            let name = &card.encoding.columns[column].name;
            let value = match study.instances[0].features.column(name).unwrap() {
                restive::data::features::Column::Text(values) => values[*i].clone(),
                restive::data::features::Column::Number(values) => {
                    let x = values[*i];
                    (!x.is_nan()).then(|| restive_pipeline::words::grouped(x as u64))
                }
            };
            let told = value.map_or("not known".to_string(), |value| value);
            assert_eq!(said, format!("{} is {told}", name.replace('_', " ")));
        }
    }
    assert!(seen.iter().all(|count| *count > 5), "{seen:?}");
}

#[test]
fn the_record_of_a_sentence_is_hers() {
    let (study, trained) = (study(&people()), by_effect());
    let applied = applied(trained, &study);
    let arms = everybody(&study);
    let words = Words::default().for_study(&study.settings);
    let mut said = 0;
    for reason in crate::stated(applied.reasons(0, &arms, Some(true)).unwrap()) {
        let text = sentence(&reason, &words, Some(0.083));
        assert!(text.ends_with(" 0.083 above the last place.") && text.chars().count() <= 160, "{text}");
        let Some((_, record)) = text.split_once("Own record, engaged weeks: ") else { continue };
        said += 1;
        let numbers: Vec<&str> = record.split([' ', '(', ')']).collect();
        let counts = reason.record.unwrap();
        assert_eq!([numbers[0], numbers[2]], [counts.good.to_string(), counts.periods.to_string()]);
        let points: f64 = numbers[4].parse().unwrap();
        let without = 1.0 / (1.0 + (counts.level - logit(reason.chance_left_alone.value)).exp());
        let truth = 100.0 * (reason.chance_left_alone.value - without);
        assert!((truth - points).abs() <= 0.5 + 1e-9, "{text}: {truth}");
    }
    assert!(said > 100);
}

#[test]
fn a_card_without_a_reference_or_a_record_says_what_it_can() {
    let (study, mut trained) = (study(&people()), by_effect().clone());
    trained.model.card.reference = None;
    let arms = everybody(&study);
    let reasons = crate::stated(applied(&trained, &study).reasons(0, &arms, Some(false)).unwrap());
    let typical = Reference::of_encoding(&trained.model.card.encoding);
    assert_eq!(typical.columns[2], Typical::NoneOfTheKnown);
    let reference = typical.encode(&trained.model.card.encoding);
    for (reason, (_, state)) in reasons.iter().zip(&arms) {
        assert_eq!(reason.level[2].reference_text, None);
        let level = logit(reason.chance_left_alone.value)
            - logit(predicted(&trained, &reference, usize::from(*state), 0));
        assert!((reason.level_difference - level).abs() < 1e-9);
    }
    // where the card says nothing of how people differ, and nobody is asked, there is no interval
    trained.model.card.own_record = None;
    let reasons = crate::stated(applied(&trained, &study).reasons(0, &arms, Some(false)).unwrap());
    assert!(reasons.iter().all(|reason| reason.chance_called.interval.is_none()));
}

#[test]
fn states_that_are_all_alike_have_no_reasons() {
    let mut study = study(&people());
    study.settings =
        StudySettings { reward: restive::Reward::of_state(&[1.0, 1.0]).unwrap(), ..study.settings };
    let refused = applied(by_effect(), &study).reasons(0, &[(0, 1)], None).unwrap_err().to_string();
    assert!(refused.contains("found the reward 1 in every state"), "{refused}");
}

/// Printed, to be read: `cargo test --test suite reasons_to_read -- --ignored --nocapture`.
#[test]
#[ignore = "to be read by a person"]
fn reasons_to_read() {
    let study = study(&people());
    let applied = applied(by_auto(), &study);
    let words = Words::default().for_study(&study.settings);
    for (k, reason) in
        crate::stated(applied.reasons(0, &everybody(&study)[..12], None).unwrap()).iter().enumerate()
    {
        let said = sentence(reason, &words, (k % 3 != 0).then_some(0.05 * (k as f64 - 4.0)));
        println!("{:.2} → {:.2}  {said}", reason.chance_left_alone.value, reason.chance_called.value);
    }
}
