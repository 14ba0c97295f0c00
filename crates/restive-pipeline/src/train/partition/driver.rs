//! Whoever drives a training of partitions: what to ask next, and the model in the end.

use super::job::{Stage, TrainJob};
use super::part::{Instances, Judged, TrainPart};
use crate::asked::Asked;
use crate::card::member_history;
use crate::describe::describe;
use crate::error::{Error, Result, refuse};
use crate::identification::Identification;
use crate::message::{Message, Opt};
use crate::model::{self, Trained};
use crate::nothing::{Compared, cause, is_judged_by_profile};
use crate::passing::Surveyed;
use crate::prepare::refuse_unknown;
use crate::resolve::{Material, refuse_too_little, resolve, say_unobserved, unobserved_states};
use crate::train::{PassingTraining, notes, require_room};
use ndarray::Axis;
use restive::data::split::Part;
use restive::evaluation::{Record, frequencies};
use restive::instance::Counts;
use restive::predictor::logistic::{self, FitStatus, Form};
use restive::predictor::{Architecture, Ensemble, Predictor, PredictorKind, are_uneven};
use restive::training::{EpochReport, Finished, Fitted, Method, Status};
use restive_tables::StudySettings;
use restive_tables::model::configuration::{Dealt, PartSize, SplitOrigin};
use restive_tables::model::history::{Losses, PartLoss};
use restive_tables::model::{Card, History, Model, PredictorCard};
use std::path::Path;

/// A training of partitions, on its way.
pub struct PartitionTraining {
    asked: Asked,
    settings: StudySettings,
    settings_text: String,
    origin: String,
    now: Now,
    /// what should be known of the data
    pub warnings: Vec<Message>,
}

/// Where it stands.
enum Now {
    Surveying,
    Fitting {
        known: Box<Known>,
        passing: Box<logistic::Passing>,
    },
    Judging {
        known: Box<Known>,
        trained: Box<Trained>,
        status: Status,
    },
    Done(Box<Model>),
    /// an answer could not be taken
    Over,
}

/// What is known once people were surveyed.
struct Known {
    card: Card,
    method: Method,
    surveyed: Surveyed,
    instances: Instances,
    sizes: Vec<f64>,
}

impl PartitionTraining {
    /// Of the text of a study.toml; `origin` is what the card calls the people.
    pub fn new(settings: &str, asked: Asked, origin: &str) -> Result<Self> {
        asked.check()?;
        if !PassingTraining::can_train(&asked) {
            refuse!(
                Opt("predictor"),
                ": found another, expected effect or hierarchical, by likelihood: others need people in one place"
            );
        }
        let settings_text = settings.to_string();
        TrainJob::new(settings, asked.seed, Stage::Survey)?;
        let settings = StudySettings::from_text(Path::new("study.toml"), settings)?;
        let (origin, now, warnings) = (origin.into(), Now::Surveying, Vec::new());
        Ok(Self { asked, settings, settings_text, origin, now, warnings })
    }

    /// What to ask of every partition next; none once the model is there.
    pub fn job(&self) -> Result<Option<TrainJob>> {
        let stage = match &self.now {
            Now::Surveying => Stage::Survey,
            Now::Fitting { known, passing } => {
                let question = passing.question().expect("a fit on its way asks").clone();
                Stage::Question { card: Box::new(known.card.clone()), question: Box::new(question) }
            }
            Now::Judging { known, trained, .. } => {
                let frequencies = known.frequencies().iter().copied().collect();
                Stage::Judge { trained: trained.clone(), frequencies }
            }
            Now::Done(_) => return Ok(None),
            Now::Over => {
                refuse!("training: found an answer that could not be taken, expected a new training")
            }
        };
        TrainJob::new(&self.settings_text, self.asked.seed, stage).map(Some)
    }

    /// Takes what all partitions answered, merged.
    pub fn answer(&mut self, part: TrainPart) -> Result<()> {
        self.now = match (std::mem::replace(&mut self.now, Now::Over), part) {
            (Now::Surveying, TrainPart::Survey(all)) => {
                let Some([learnt, others]) = all.seen else {
                    return Err(Error::Data("people: found nobody, expected at least one row".into()));
                };
                let origin = if all.is_given { SplitOrigin::Study } else { SplitOrigin::Seed };
                let known = self.known(Surveyed::of(learnt, others, all.moves), all.instances, origin)?;
                let Architecture { features, states, .. } = known.architecture();
                let passing = logistic::Passing::new(features, states, form(&known.method)?)?;
                Now::Fitting { known: Box::new(known), passing: Box::new(passing) }
            }
            (Now::Fitting { known, mut passing }, TrainPart::Sums(sums)) => {
                passing.answer(sums)?;
                match passing.question() {
                    Some(_) => Now::Fitting { known, passing },
                    None => {
                        let fit = passing.finish();
                        let status = match fit.status {
                            FitStatus::Converged => Status::Converged,
                            FitStatus::NotConverged => Status::NotConverged,
                        };
                        let ensemble = Ensemble { members: vec![Predictor::Logistic(fit.model)] };
                        let mut card = known.card.clone();
                        card.predictor = PredictorCard::new(&ensemble.members[0].architecture(), 1);
                        let trained = Trained::new(Model { card, weights: model::weights(&ensemble) })?;
                        Now::Judging { known, trained: Box::new(trained), status }
                    }
                }
            }
            (Now::Judging { known, trained, status }, TrainPart::Judged(judged)) => {
                Now::Done(Box::new(known.model(*trained, status, &judged)?))
            }
            _ => refuse!("training: found the answer to another pass, expected one to this"),
        };
        Ok(())
    }

    /// How far it has come, from 0 to 1.
    pub fn share(&self) -> f64 {
        match &self.now {
            Now::Surveying | Now::Over => 0.0,
            Now::Fitting { passing, .. } => passing.progress().share.min(0.99),
            Now::Judging { .. } => 0.99,
            Now::Done(_) => 1.0,
        }
    }

    /// The model, once there is nothing left to ask.
    pub fn finish(self) -> Result<Model> {
        match self.now {
            Now::Done(model) => Ok(*model),
            _ => refuse!("training: found passes that are left, expected all answers"),
        }
    }

    /// What is known once people were surveyed: everything but the fit.
    fn known(&mut self, surveyed: Surveyed, instances: Instances, origin: SplitOrigin) -> Result<Known> {
        let asked = &self.asked;
        let names: Vec<&str> = surveyed.learnt.names().collect();
        refuse_unknown(&asked.drop, &names)?;
        let encoding = surveyed.encoding(asked.standardise(), &asked.drop)?;
        let method = resolve(asked, &[], self.settings.horizon);
        let moves = &surveyed.moves[Part::Train as usize];
        let count = |part: Part| instances.values().map(move |(people, _)| people[part as usize]);
        let material = Material {
            is_collapsing: false,
            seen: moves.sum(),
            pulls: moves.index_axis(Axis(1), 1).sum(),
            unobserved_states: unobserved_states(moves.view()),
            has_validation: count(Part::Validation).any(|people| people > 0),
        };
        refuse_too_little(&method, &material)?;
        let architecture = Architecture {
            features: encoding.width(),
            states: self.settings.reward.states(),
            kind: method.config().kind.clone(),
        };
        require_room(&architecture, asked, &self.origin)?;
        self.warnings = surveyed.unseen(&encoding).into_iter().map(Message::from).collect();
        self.warnings.extend(say_unobserved(&material.unobserved_states));
        let [train, validation, test] = Part::ALL.map(|part| PartSize {
            instances: count(part).filter(|people| *people > 0).count(),
            arms: count(part).sum::<u64>() as usize,
        });
        let card = Card {
            restive: env!("CARGO_PKG_VERSION").into(),
            predictor: PredictorCard::new(&architecture, 1),
            configuration: describe(
                asked,
                &method,
                &self.settings,
                Dealt { origin, train, validation, test },
            ),
            reference: Some(surveyed.learnt.reference(&encoding)),
            seed: asked.seed,
            // partitions have none
            fingerprint: String::new(),
            identification: Identification::Unknown {
                reason: "the table does not say when people were called, so that nobody can check how calls were assigned"
                    .into(),
            },
            history: History::default(),
            own_record: None,
            unobserved_states: material.unobserved_states,
            notes: notes(&self.settings, &self.origin),
            encoding,
        };
        let sizes = surveyed.sizes(&card.encoding);
        Ok(Known { card, method, surveyed, instances, sizes })
    }
}

/// How the model is held.
fn form(method: &Method) -> Result<Form> {
    match method.config().kind {
        PredictorKind::Effect { precision } => Ok(precision.into()),
        PredictorKind::Hierarchical { penalties } => Ok(penalties.into()),
        PredictorKind::Network { .. } | PredictorKind::Pool { .. } => {
            refuse!("found a network, expected a logistic model: others need people in one place")
        }
    }
}

impl Known {
    fn architecture(&self) -> Architecture {
        Architecture {
            features: self.card.encoding.width(),
            states: self.card.predictor.states,
            kind: self.method.config().kind.clone(),
        }
    }

    /// How everybody moves who is known to nobody, `[M,2,M]`.
    fn frequencies(&self) -> ndarray::Array3<f64> {
        let moves = self.surveyed.moves[Part::Train as usize].clone().insert_axis(Axis(0));
        frequencies(&[&Record::Moves(Counts::new(moves, 1))])
    }

    /// The model, judged; an error where held-out arms refute it.
    fn model(&self, trained: Trained, status: Status, judged: &Judged) -> Result<Model> {
        let loss = |part: Part| {
            let there = self.instances.iter().filter(|(_, (people, _))| people[part as usize] > 0);
            let one = |(name, (_, trajectories)): (&String, &([u64; 3], u64))| {
                judged.losses.get(name).map_or(0.0, |losses| losses[part as usize])
                    / (*trajectories).max(1) as f64
            };
            let count = there.clone().count();
            (count > 0).then(|| there.map(one).sum::<f64>() / count as f64)
        };
        let report = EpochReport {
            epoch: 0,
            train_loss: loss(Part::Train).unwrap_or(f64::NAN),
            validation_loss: loss(Part::Validation),
            train_value: None,
            learning_rate: 0.0,
            is_best: true,
        };
        let fitted = Fitted { predictor: trained.ensemble.members[0].clone(), history: vec![report], status };
        let configuration = &self.card.configuration;
        if is_judged_by_profile(configuration.profile) && loss(Part::Validation).is_some() {
            let seen = self.surveyed.moves[Part::Train as usize].sum();
            let is_uneven = || are_uneven(self.sizes.iter().copied());
            Compared::new(&judged.groups)
                .refuse_worse(configuration.predictor, || cause(&fitted, is_uneven, seen))?;
        }
        let [train, validation, test] = Part::ALL.map(|part| {
            let transitions = self.surveyed.moves[part as usize].sum();
            let total: f64 = judged.losses.values().map(|losses| losses[part as usize]).sum();
            Some(PartLoss {
                per_trajectory: Some(loss(part)?),
                per_transition: Some(total / transitions),
                transitions: transitions as u64,
            })
        });
        let moves: f64 = judged.groups.iter().map(|group| group[2]).sum();
        let bare = judged.groups.iter().map(|group| group[1]).sum::<f64>() / moves;
        let frequencies = Some(bare).filter(|loss| loss.is_finite());
        let finished = Finished { fitted, choice: None, selection: None };
        let mut model = trained.model;
        model.card.history = History {
            members: vec![member_history(self.method.config().seed, &finished)],
            loss: Some(Losses { train, validation, test, frequencies }),
        };
        Ok(model)
    }
}
