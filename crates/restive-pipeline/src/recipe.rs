//! The recipe of a model: what training would have to be asked for to train it again, on other arms.
//!
//! A card tells what training came to, in numbers, and some of these follow from the data: how many epochs, at which learning rate. To
//! hand those on would be to train by the data of others. So an option counts as asked for only where the profile would have come to
//! something else. For epochs and learning rate the card says whether they were; where one of an earlier version does not, the rule is
//! the same, with a training part of the size that the card tells. (Its number of trajectories no card tells: of the two learning rates
//! that follow from it either counts as the profile's.)
//!
//! Two models with the same [`recipe_key`] are the same recipe, whatever they were trained on.

use crate::asked::{Asked, temperature};
use crate::describe::PUBLISHED_DISCOUNT;
use crate::error::{Error, Result, refuse};
use restive::data::encoding::Standardise;
use restive::policy::Temperature;
use restive::predictor::{Precision, PredictorKind};
use restive::training::{Config, Decision, Protocol, Rate};
use restive_tables::model::Card;
use restive_tables::model::configuration::{
    Configuration, Objective, Precision as WrittenPrecision, PredictorName, Preset, Profile, Seen, StepOption,
};
use restive_tables::{show, texts_key};

impl Asked {
    /// What a training was asked for, by the card of its model; what the profile says by itself is absent.
    pub fn from_card(card: &Card) -> Result<Self> {
        let told = &card.configuration;
        let mut asked = Asked {
            objective: told.objective,
            profile: told.profile,
            ensemble: told.ensemble,
            seed: card.seed,
            drop: told.drop.clone(),
            precision: precision(told)?,
            preset: told.preset.filter(|preset| *preset != Preset::Select),
            ..Asked::default()
        };
        asked.predictor = Some(told.predictor).filter(|predictor| *predictor != asked.predictor());
        let standardise = if told.standardise { Standardise::Yes } else { Standardise::No };
        asked.standardise = (standardise != asked.standardise()).then_some(told.standardise);
        asked.steps(card);
        asked.decision(told)?;
        asked.check().map_err(Error::at("card: configuration"))?;
        Ok(asked)
    }

    /// The layers of a network and the gradient steps.
    fn steps(&mut self, card: &Card) {
        let told = &card.configuration;
        let protocol = match told.observation {
            Seen::Full => Protocol::FullyObserved,
            Seen::Collapsing => Protocol::Collapsing,
        };
        let (usual, is_by_trajectories) = match told.profile {
            Profile::Recommended => {
                // a card knows how many arms there were in all: instances of one size, as far as it says
                let (instances, arms) = (told.split.train.instances, told.split.train.arms);
                let (_, epochs) = Config::passes(&vec![arms / instances.max(1); instances]);
                (Config { epochs, ..Config::recommended(&[]) }, true)
            }
            Profile::Published => (Config::published_in(protocol), false),
            Profile::Paper => (Config::paper_in(protocol), false),
        };
        if let PredictorKind::Network { hidden, dropout } = &usual.kind
            && matches!(told.predictor, PredictorName::Network | PredictorName::Auto)
        {
            self.hidden = told.hidden.clone().filter(|found| found != hidden);
            self.dropout = told.dropout.filter(|found| found != dropout);
        }
        let Some(steps) = &told.steps else { return };
        // those of the versions whose cards do not say
        let (Rate::Constant(rate) | Rate::Cosine(rate)) = usual.rate;
        let rates = match (is_by_trajectories, card.predictor.states) {
            (false, _) => vec![rate],
            (true, ..5) => vec![0.01, 0.03],
            (true, _) => vec![0.003],
        };
        let is_asked = |option: StepOption, is_other: bool| {
            steps.asked.as_ref().map_or(is_other, |asked| asked.contains(&option))
        };
        self.epochs = is_asked(StepOption::Epochs, steps.epochs != usual.epochs).then_some(steps.epochs);
        self.learning_rate = is_asked(StepOption::LearningRate, !rates.contains(&steps.learning_rate))
            .then_some(steps.learning_rate);
    }

    /// The decision that training went through, and the discount of the index.
    fn decision(&mut self, told: &Configuration) -> Result<()> {
        let Some(decision) = &told.decision else {
            self.index_discount = told
                .index_discount
                .filter(|found| told.profile == Profile::Recommended || *found != PUBLISHED_DISCOUNT);
            return Ok(());
        };
        let usual = match told.profile {
            Profile::Recommended => Decision::recommended(decision.horizon),
            Profile::Published => Decision::published(decision.horizon),
            Profile::Paper => Decision::paper(decision.horizon),
        };
        let Ok(softness) = temperature(&decision.temperature) else {
            let found = show::quoted_name(&decision.temperature);
            refuse!("card: configuration: temperature: found {found}, expected one such as spread:0.1");
        };
        self.value = Some(decision.value).filter(|value| value.name() != usual.value.name());
        self.temperature = Some(softness).filter(|softness| *softness != usual.temperature);
        self.index_discount = told.index_discount.filter(|found| *found != usual.index_discount);
        Ok(())
    }
}

/// The precision of the effect model, where it is not the usual one.
fn precision(told: &Configuration) -> Result<Option<Precision>> {
    let found = match (&told.precision, told.precision_cap) {
        (None, _) => None,
        (Some(WrittenPrecision::Fixed(precision)), _) => Some(Precision::Fixed(*precision)),
        (Some(WrittenPrecision::Chosen(how)), Some(cap)) if how == "held-out" => {
            Some(Precision::HeldOut { cap })
        }
        (Some(WrittenPrecision::Chosen(how)), _) => {
            let found = show::quoted_name(how);
            refuse!(
                "card: configuration: precision: found {found}, expected a number, or held-out with a cap"
            );
        }
    };
    Ok(found.filter(|precision| *precision != Precision::DEFAULT))
}

/// A short name for the recipe of a model, seed included: 32 hexadecimal digits, the same on every machine.
pub fn recipe_key(card: &Card) -> Result<String> {
    let asked = Asked::from_card(card)?;
    let through = |temperature: Temperature| temperature.to_string();
    let precision = |precision: Precision| match precision {
        Precision::Fixed(precision) => precision.to_string(),
        Precision::HeldOut { cap } => format!("held-out up to {cap}"),
    };
    let layers = |hidden: &Vec<usize>| hidden.iter().map(usize::to_string).collect::<Vec<_>>().join(",");
    let whole = [
        ("objective", Some(asked.objective.to_string())),
        ("profile", Some(asked.profile.to_string())),
        ("predictor", Some(asked.predictor().to_string())),
        ("ensemble", Some(asked.ensemble.to_string())),
        ("seed", Some(asked.seed.to_string())),
        ("value", asked.value.map(|value| value.to_string())),
        ("preset", asked.preset.map(|preset| preset.to_string())),
        ("index-discount", asked.index_discount.map(|discount| discount.to_string())),
        ("temperature", asked.temperature.map(through)),
        ("epochs", asked.epochs.map(|epochs| epochs.to_string())),
        ("learning-rate", asked.learning_rate.map(|rate| rate.to_string())),
        ("hidden", asked.hidden.as_ref().map(layers)),
        ("dropout", asked.dropout.map(|dropout| dropout.to_string())),
        ("precision", asked.precision.map(precision)),
        ("standardise", asked.standardise.map(|is| is.to_string())),
    ];
    let mut drop = asked.drop.clone();
    drop.sort();
    drop.dedup();
    let dropped = drop.into_iter().map(|name| ("drop", Some(name)));
    let said: Vec<(&str, String)> =
        whole.into_iter().chain(dropped).filter_map(|(option, said)| Some((option, said?))).collect();
    let texts = said.iter().flat_map(|(option, said)| [*option, said.as_str()]);
    Ok(texts_key(["restive recipe 1"].into_iter().chain(texts)))
}

/// A recipe in a few words: `auto, two-stage, seed 3`.
pub fn recipe_words(card: &Card) -> String {
    let Configuration { objective, predictor, profile, .. } = &card.configuration;
    let profile = match profile {
        Profile::Recommended => String::new(),
        Profile::Published | Profile::Paper => format!(", {profile}"),
    };
    let preset = card.configuration.preset.filter(|_| *objective == Objective::DecisionFocused);
    let preset = preset.map_or(String::new(), |preset| format!(" {preset}"));
    format!("{predictor}, {objective}{preset}{profile}, seed {}", card.seed)
}
