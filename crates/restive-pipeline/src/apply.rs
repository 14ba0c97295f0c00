//! A model meets a study: what the model says of every arm.
//!
//! The study's features are encoded as the model's card says, never anew, and a study with other columns or another number
//! of states is refused with the difference named. Which arms are held out is what the study says (a column `split`) or the
//! split that the seed of the card draws, as when the model was trained.

use crate::describe::seen;
use crate::error::{Error, Result, refuse};
use crate::identification::Identification;
use crate::loss::{Loss, loss};
use crate::message::Opt;
use crate::model::Trained;
use crate::prepare;
use ndarray::Array2;
use restive::data::split::{Group, Split};
use restive::evaluation::World;
use restive::index::whittle_index;
use restive::instance::Observation;
use restive::predictor::Ensemble;
use restive::{Instance, Layout, Reward, Transition};
use restive_tables::memory::require;
use restive_tables::model::Card;
use restive_tables::{Study, StudySettings};

/// A study seen through a model.
pub struct Applied<'a> {
    /// the study
    pub study: &'a Study,
    /// the predictors
    pub ensemble: &'a Ensemble,
    /// with the features as the model reads them
    pub instances: Vec<Instance>,
    /// the predicted transitions of each instance
    pub predictions: Vec<Transition>,
    /// what should be known before the numbers are trusted
    pub notes: Vec<String>,
    /// whether the model was trained on this very study
    pub is_trained_on: bool,
    /// for messages
    pub(crate) study_name: String,
    /// of the model
    pub(crate) card: &'a Card,
}

impl Applied<'_> {
    /// Whether the log that the model was trained on shows what a call does.
    pub fn identification(&self) -> &Identification {
        &self.card.identification
    }
}

impl<'a> Applied<'a> {
    /// The study seen through the model; their names are for messages.
    pub fn new(trained: &'a Trained, study: &'a Study, model_name: &str, study_name: &str) -> Result<Self> {
        let Trained { ensemble, model } = trained;
        let misfit = || format!("{study_name} does not fit {model_name}");
        let (found, expected) = (study.settings.reward.states(), ensemble.members[0].architecture().states);
        let encoding = &model.card.encoding;
        let instances = study.instances(encoding);
        if found != expected {
            let states = format!("found {found} states, expected {expected} as at training");
            let more = instances.as_ref().err().map_or(String::new(), |error| format!("; {error}"));
            return Err(Error::at(misfit())(Error::Data(format!("{states}{more}").into())));
        }
        let instances = instances.map_err(|error| Error::at(misfit())(error.into()))?;
        let arms: usize = study.arms().iter().sum();
        let what = format!("the predicted transitions of {arms} arms of {expected} states");
        require(study_name, what, 16.0 * arms as f64 * (expected as f64).powi(2))?;
        let predict =
            |instance: &Instance| Transition::new(ensemble.predict(instance.features()), Layout::Nsas);
        let predictions = instances.iter().map(predict).collect::<restive::Result<Vec<_>>>();
        let predictions = predictions.map_err(|error| Error::at(model_name)(error.into()))?;
        let mut notes = Vec::new();
        let is_trained_on = study.has_fingerprint(&model.card.fingerprint);
        if !is_trained_on {
            notes.push("the model was trained on another study or another state of this one".into());
        }
        let trained = model.card.configuration.observation;
        let here = seen(&study.settings);
        if trained != here {
            notes.push(format!("the model was trained with {trained} observation, the study has {here}"));
        }
        notes.extend(prepare::over_budget(study));
        let features = prepare::features(study);
        notes.extend(prepare::unseen(&features, encoding));
        notes.extend(prepare::flat(&features, encoding));
        let (card, study_name) = (&model.card, study_name.to_string());
        Ok(Self { study, ensemble, instances, predictions, notes, is_trained_on, study_name, card })
    }

    /// The split that the study gives, or the one of the model's seed.
    pub fn split(&self) -> restive::Result<Split> {
        prepare::given_or_seeded(self.study, self.card.seed)
    }

    /// Every arm, by instance.
    pub fn all(&self) -> Vec<Group> {
        prepare::every_arm(self.study)
    }

    /// The instances of groups, with the features as the model reads them.
    pub fn select(&self, groups: &[Group]) -> Vec<Instance> {
        groups.iter().map(|group| group.select(&self.instances)).collect()
    }

    /// The predicted transitions of a group.
    pub fn prediction(&self, group: &Group) -> Transition {
        self.predictions[group.instance].select_arms(&group.arms)
    }

    /// The predictive loss of groups.
    pub fn loss(&self, groups: &[Group]) -> Loss {
        let predictions: Vec<Transition> = groups.iter().map(|group| self.prediction(group)).collect();
        loss(&self.select(groups), &predictions.iter().map(Transition::view).collect::<Vec<_>>())
    }

    /// Index that arms are ranked by; `asked` is its discount, if the caller requires one.
    pub fn index(&self, asked: Option<f64>) -> RankIndex {
        RankIndex::new(asked, self.card, &self.study.settings)
    }
}

/// Refuses people of another number of states than the model knows; the names are for messages.
pub(crate) fn check_states(
    trained: &Trained,
    settings: &StudySettings,
    model_name: &str,
    study_name: &str,
) -> Result<()> {
    let (found, expected) = (settings.reward.states(), trained.ensemble.members[0].architecture().states);
    if found == expected {
        return Ok(());
    }
    let states = format!("found {found} states, expected {expected} as at training");
    Err(Error::at(format!("{study_name} does not fit {model_name}"))(Error::Data(states.into())))
}

/// The index that arms are ranked by.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum RankIndex {
    /// The Whittle index of a programme without an end, at this discount.
    Whittle(f64),
    /// The Whittle index of a programme of one decision: the reward that a pull adds at this step and, at this discount, at the next.
    OneDecision(f64),
}

impl RankIndex {
    /// Selects the discount: `asked`, or else the one that the model was trained for, or else 1 − 1/H. Without the first two and with
    /// H = 1, the index is that of one decision, at the discount of the study.
    pub(crate) fn new(asked: Option<f64>, card: &Card, settings: &StudySettings) -> Self {
        let trained = card.configuration.index_discount.filter(|discount| (0.0..=1.0).contains(discount));
        match (asked.or(trained), settings.horizon) {
            (Some(discount), _) => RankIndex::Whittle(discount),
            (None, 1) => RankIndex::OneDecision(settings.discount),
            (None, horizon) => RankIndex::Whittle(1.0 - 1.0 / horizon as f64),
        }
    }

    /// The discount of the programme without an end; `None` for one decision.
    pub fn discount(self) -> Option<f64> {
        match self {
            RankIndex::Whittle(discount) => Some(discount),
            RankIndex::OneDecision(_) => None,
        }
    }

    /// The indices of all arms and states, or labels if states are seen at pulls only, and the number of arms that are not indexable.
    ///
    /// # Errors
    /// If an arm has no index at the discount.
    pub fn table(
        self,
        transition: &Transition,
        reward: &Reward,
        observation: Observation,
    ) -> Result<(Array2<f64>, usize)> {
        let discount = match self {
            RankIndex::Whittle(discount) => discount,
            RankIndex::OneDecision(discount) => {
                return Ok((World::new(observation, reward, transition).myopic_index(discount), 0));
            }
        };
        let solved = whittle_index(transition.view(), reward.view(), discount, observation);
        let has_none = |i: &usize| solved.index.row(*i).iter().any(|w| w.is_nan());
        if let Some(arm) = (0..solved.status.len()).find(has_none) {
            let found = format!("arm {arm}: found no index at a discount of {discount}; another ");
            refuse!(found, Opt("index-discount"), " may have one");
        }
        let not = (0..solved.status.len()).filter(|i| solved.verdict(*i) == Some(false)).count();
        Ok((solved.index, not))
    }
}
