//! What was asked for can be told from the card of the model to be, and asked for again.

use restive::data::domain::Domain;
use restive::policy::Temperature;
use restive::predictor::Precision;
use restive_pipeline::generate::Synthetic;
use restive_pipeline::{
    Asked, Objective, PRECISION_CAP, PredictorName, Preset, Profile, Training, ValueName, recipe_key,
    recipe_words,
};
use restive_tables::Study;
use restive_tables::model::Card;
use std::collections::HashSet;

fn small(domain: Domain) -> Domain {
    Domain { instances: 6, arms: 10, budget: 2, horizon: 5, trajectories: 6, ..domain }
}

fn card(study: &Study, asked: &Asked) -> Card {
    Training::new(study, asked, "a test").unwrap_or_else(|error| panic!("{asked:?}: {error}")).card
}

/// As an earlier version would have written it.
fn older(mut card: Card) -> Card {
    card.configuration.steps.iter_mut().for_each(|steps| steps.asked = None);
    card
}

/// All of one kind, none of which is said twice.
fn varied() -> Vec<Asked> {
    let plain = Asked::default();
    let named = |predictor| Asked { predictor: Some(predictor), ..Asked::default() };
    let through = Asked { objective: Objective::DecisionFocused, ..Asked::default() };
    let profile = |profile| Asked { profile, ..Asked::default() };
    vec![
        plain.clone(),
        Asked { seed: u64::MAX, ..plain.clone() },
        Asked { hidden: Some(vec![8, 4]), dropout: Some(0.25), ..plain.clone() },
        Asked { epochs: Some(17), ..plain.clone() },
        Asked { learning_rate: Some(1.0 / 3.0), ..plain.clone() },
        Asked { index_discount: Some(0.7), ..plain.clone() },
        Asked { drop: vec!["f_02".into(), "f_00".into()], ..plain.clone() },
        named(PredictorName::Network),
        Asked { hidden: Some(vec![]), ..named(PredictorName::Network) },
        Asked { ensemble: 3, standardise: Some(false), epochs: Some(5), ..named(PredictorName::Network) },
        named(PredictorName::Linear),
        Asked { learning_rate: Some(0.02), ..named(PredictorName::Linear) },
        named(PredictorName::Effect),
        Asked { precision: Some(Precision::Fixed(7.5)), ..named(PredictorName::Effect) },
        Asked { precision: Some(Precision::HeldOut { cap: PRECISION_CAP }), ..named(PredictorName::Effect) },
        Asked { standardise: Some(false), ..named(PredictorName::Effect) },
        named(PredictorName::Hierarchical),
        profile(Profile::Published),
        profile(Profile::Paper),
        Asked { dropout: Some(0.2), ..profile(Profile::Published) },
        Asked { dropout: Some(0.0), standardise: Some(true), ..profile(Profile::Paper) },
        Asked { index_discount: Some(0.9), epochs: Some(9), ..profile(Profile::Published) },
        through.clone(),
        Asked { preset: Some(Preset::Weak), value: Some(ValueName::Fluid), ..through.clone() },
        Asked {
            preset: Some(Preset::Strong),
            temperature: Some(Temperature::Absolute(0.3)),
            ..through.clone()
        },
        Asked { value: Some(ValueName::Is), temperature: Some(Temperature::Spread(0.25)), ..through.clone() },
        Asked { predictor: Some(PredictorName::Effect), index_discount: Some(0.95), ..through.clone() },
        Asked { profile: Profile::Published, ..through.clone() },
        Asked { profile: Profile::Paper, value: Some(ValueName::Decomposed), ..through.clone() },
        Asked {
            profile: Profile::Published,
            predictor: Some(PredictorName::Effect),
            epochs: Some(4),
            ..through
        },
    ]
}

#[test]
fn what_was_asked_for_comes_back_from_the_card() {
    let study = Synthetic::TwoState(small(Domain::two_state())).study(1).unwrap();
    let mut keys = HashSet::new();
    for asked in varied() {
        let (card, names) = (card(&study, &asked), study.instances[0].features.names());
        assert!(asked.drop.iter().all(|name| names.contains(name)), "{names:?}");
        assert_eq!(Asked::from_card(&card).unwrap(), asked);
        // a card that does not say which steps were asked for: none of these has what the profile would have come to
        assert_eq!(Asked::from_card(&older(card.clone())).unwrap(), asked);
        assert!(keys.insert(recipe_key(&card).unwrap()), "the key of another: {asked:?}");
    }
    assert!(keys.iter().all(|key| key.len() == 32 && key.bytes().all(|b| b.is_ascii_hexdigit())));
}

#[test]
fn what_the_profile_says_anyway_comes_back_as_the_same_training() {
    let study = Synthetic::TwoState(small(Domain::two_state())).study(1).unwrap();
    let through = Asked { objective: Objective::DecisionFocused, ..Asked::default() };
    let pairs = [
        (
            Asked { predictor: Some(PredictorName::Auto), hidden: Some(vec![64]), ..Asked::default() },
            Asked::default(),
        ),
        (
            Asked { preset: Some(Preset::Select), value: Some(ValueName::Decomposed), ..through.clone() },
            through.clone(),
        ),
        (
            Asked {
                temperature: Some(Temperature::Spread(0.1)),
                index_discount: Some(0.8),
                ..through.clone()
            },
            through,
        ),
        (
            Asked {
                precision: Some(Precision::DEFAULT),
                predictor: Some(PredictorName::Effect),
                ..Asked::default()
            },
            Asked { predictor: Some(PredictorName::Effect), ..Asked::default() },
        ),
    ];
    for (spelt, plain) in pairs {
        let (was, expected) = (card(&study, &spelt), card(&study, &plain));
        let again = Asked::from_card(&was).unwrap();
        assert_eq!((&again, &was), (&plain, &expected));
        assert_eq!(recipe_key(&was).unwrap(), recipe_key(&expected).unwrap());
    }
    // steps that were asked for are kept for other data, even where these data lead to the same
    let usual = card(&study, &Asked::default()).configuration.steps.unwrap();
    let asked =
        Asked { epochs: Some(usual.epochs), learning_rate: Some(usual.learning_rate), ..Asked::default() };
    let spelt = card(&study, &asked);
    assert_eq!(Asked::from_card(&spelt).unwrap(), asked);
    assert_eq!(Asked::from_card(&older(spelt.clone())).unwrap(), Asked::default());
    assert_ne!(recipe_key(&spelt).unwrap(), recipe_key(&older(spelt)).unwrap());
}

#[test]
fn every_domain_gives_its_recipes_back() {
    let few = |domain| Domain { trajectories: 2, ..small(domain) };
    let domains = [
        Synthetic::TwoState(few(Domain::two_state())),
        Synthetic::FiveState(small(Domain::five_state())),
        Synthetic::Collapsing(small(Domain::collapsing())),
    ];
    let profiles = [Profile::Recommended, Profile::Published, Profile::Paper];
    let recipe = |profile| {
        [Objective::TwoStage, Objective::DecisionFocused].map(|objective| Asked {
            objective,
            profile,
            ..Asked::default()
        })
    };
    for domain in domains {
        let study = domain.study(2).unwrap();
        for asked in profiles.into_iter().flat_map(recipe) {
            let card = card(&study, &asked);
            assert_eq!(Asked::from_card(&card).unwrap(), asked);
            assert_eq!(Asked::from_card(&older(card)).unwrap(), asked);
        }
    }
}

#[test]
fn the_key_is_of_the_recipe_and_not_of_the_data() {
    let [one, other] =
        [1, 2].map(|seed| Synthetic::TwoState(small(Domain::two_state())).study(seed).unwrap());
    let asked = Asked { drop: vec!["f_00".into(), "f_02".into()], seed: 3, ..Asked::default() };
    let turned = Asked { drop: vec!["f_02".into(), "f_00".into()], ..asked.clone() };
    let keys = [card(&one, &asked), card(&other, &turned)].map(|card| recipe_key(&card).unwrap());
    assert_eq!(keys[0], keys[1]);
    assert_eq!(recipe_words(&card(&one, &asked)), "auto, two-stage, seed 3");
    let mut damaged = card(&one, &Asked { objective: Objective::DecisionFocused, ..asked });
    damaged.configuration.decision.as_mut().unwrap().temperature = "warm".into();
    let said = recipe_key(&damaged).unwrap_err().to_string();
    assert!(said.contains("temperature: found \"warm\", expected one such as spread:0.1"), "{said}");
}
