//! A training whose people pass by: as many as there are, in bounded memory.
//!
//! The logistic models are fitted by sums over people ([`restive::predictor::logistic::Passing`]), so that nobody need stay. A
//! [`Roll`] keeps who there is and the log; features come from the file, as often as they are asked for:
//!
//! 1. a survey: what the encoding learns of training arms, how often people moved, what should be known of the columns;
//! 2. for every step of the fit one pass (`fit`), ten or so of the effect model, some dozens of the hierarchical one;
//! 3. a pass that judges all three parts (`judge`), and a look at some validation arms for what their records are worth (`record`).
//!
//! The model is the one that [`Training`](super::Training) makes in memory: split, warnings and refusals are the same, numbers agree to what
//! rounding leaves. They do not depend on the number of threads. Fits do not depend on the seed, so
//! that there is one member.

mod fit;
mod judge;
mod parts;
mod record;

use super::{Progressed, Step, notes, require_room, say_fitting, say_losses};
use crate::asked::Asked;
use crate::card::member_history;
use crate::describe::describe;
use crate::error::{Error, Result};
use crate::identification::identify_roll;
use crate::message::Message;
use crate::model;
use crate::passing::Surveyed;
use crate::prepare::refuse_unknown;
use crate::resolve::{Material, refuse_too_little, resolve, say_unobserved, unobserved_states};
use judge::Judged;
use ndarray::{Array3, Axis};
use parts::Parts;
use rayon::ThreadPool;
use restive::data::split::Part;
use restive::predictor::logistic::{self, FitStatus, Form};
use restive::predictor::{Architecture, Ensemble, Precision, Predictor, PredictorKind};
use restive::training::{EpochReport, Finished, Fitted, Method, Status};
use restive_tables::Roll;
use restive_tables::model::configuration::{Objective, PredictorName};
use restive_tables::model::history::{Losses, MemberHistory};
use restive_tables::model::{Card, History, Model, PredictorCard};
use std::sync::Mutex;
use std::time::Instant;

/// Passes of a fit as they usually are, each of which takes about as long as the first one: with one penalty, with each that held-out arms may choose, with those of the evidence.
const PASSES: [f64; 3] = [12.0, 40.0, 30.0];

/// A training of people who pass by that could begin.
pub struct PassingTraining {
    /// of the model to be, without its history
    pub card: Card,
    /// what should be known of the data
    pub warnings: Vec<Message>,
    roll: Roll,
    parts: Parts,
    method: Method,
    form: Form,
    /// of all arms of a part, `[M,2,M]`
    moves: [Array3<f64>; 3],
    /// of encoded features
    sizes: Vec<f64>,
    /// seconds of the first pass
    first_pass: f64,
    /// what was judged last, and how
    judged: Mutex<Option<(Predictor, Judged)>>,
}

/// A training of people who pass by, or people who cannot pass by.
pub enum Begun {
    /// as it could begin
    Passing(Box<PassingTraining>),
    /// they have so many encoded features that they must be in memory to be learnt from
    TooWide,
}

impl PassingTraining {
    /// Whether what is asked for can be learnt from people who pass by: a logistic model, by likelihood.
    pub fn can_train(asked: &Asked) -> bool {
        asked.objective == Objective::TwoStage
            && matches!(asked.predictor(), PredictorName::Effect | PredictorName::Hierarchical)
    }

    /// Resolves and checks what is asked for; `origin` is what the card calls the study.
    pub fn begin(roll: Roll, asked: &Asked, origin: &str) -> Result<Begun> {
        asked.check()?;
        let start = Instant::now();
        let parts = Parts::new(&roll, asked.seed)?;
        refuse_unknown(&asked.drop, &roll.features().map(|(name, _)| name).collect::<Vec<_>>())?;
        let surveyed = Surveyed::new(&roll, &parts.of)?;
        let first_pass = start.elapsed().as_secs_f64();
        let encoding = surveyed.encoding(asked.standardise(), &asked.drop)?;
        let reference = surveyed.learnt.reference(&encoding);
        let method = resolve(asked, &[], roll.settings.horizon);
        let material = Material {
            is_collapsing: false,
            seen: surveyed.moves[Part::Train as usize].sum(),
            pulls: surveyed.moves[Part::Train as usize].index_axis(Axis(1), 1).sum(),
            unobserved_states: unobserved_states(surveyed.moves[Part::Train as usize].view()),
            has_validation: parts.instances(Part::Validation).next().is_some(),
        };
        refuse_too_little(&method, &material)?;
        let kind = method.config().kind.clone();
        let form: Form = match kind {
            PredictorKind::Effect { precision } => precision.into(),
            PredictorKind::Hierarchical { penalties } => penalties.into(),
            PredictorKind::Network { .. } | PredictorKind::Pool { .. } => {
                return Err(Error::Data(
                    "found a network, expected a logistic model: others need people in memory".into(),
                ));
            }
        };
        let states = roll.settings.reward.states();
        let architecture = Architecture { features: encoding.width(), states, kind };
        require_room(&architecture, asked, origin)?;
        match logistic::Passing::new(encoding.width(), states, form) {
            Err(restive::Error::Unsuitable { .. }) => return Ok(Begun::TooWide),
            other => drop(other?),
        }
        let mut warnings = surveyed.doubtful(&roll, &parts.of, &asked.drop)?;
        warnings.extend(surveyed.unseen(&encoding).into_iter().map(Message::from));
        warnings.extend(say_unobserved(&material.unobserved_states));
        let card = Card {
            restive: env!("CARGO_PKG_VERSION").into(),
            predictor: PredictorCard::new(&architecture, asked.ensemble),
            configuration: describe(asked, &method, &roll.settings, parts.dealt()),
            encoding,
            reference: Some(reference),
            seed: asked.seed,
            fingerprint: roll.fingerprint()?,
            identification: identify_roll(&roll, &asked.drop),
            history: History::default(),
            own_record: None,
            unobserved_states: material.unobserved_states,
            notes: notes(&roll.settings, origin),
        };
        let sizes = surveyed.sizes(&card.encoding);
        Ok(Begun::Passing(Box::new(Self {
            card,
            warnings,
            parts,
            method,
            form,
            moves: surveyed.moves,
            sizes,
            first_pass,
            judged: Mutex::new(None),
            roll,
        })))
    }

    /// About how many seconds the training will take.
    pub fn estimate(&self) -> f64 {
        let passes = match self.form {
            Form::Effect(Precision::Fixed(_)) => PASSES[0],
            Form::Effect(Precision::HeldOut { .. }) => PASSES[1],
            Form::Hierarchical(_) => PASSES[2],
        };
        passes * self.first_pass
    }

    /// Trains what is left to train, on the threads of `pool` (none: rayon's own); `visit` hears of every step, in the thread
    /// that calls.
    pub fn run<E: From<Error>>(
        &self,
        mut progressed: Progressed,
        pool: Option<&ThreadPool>,
        mut visit: impl FnMut(Step<'_>) -> std::result::Result<(), E>,
    ) -> std::result::Result<Progressed, E> {
        if !progressed.members.is_empty() {
            return Ok(progressed);
        }
        let mut step = |share: f64, message: String, epoch: Option<(&'static str, EpochReport)>| {
            let progressed = &mut progressed;
            visit(Step { member: 0, share, message, epoch, is_done: false, fit: None, progressed })
        };
        let fitted =
            self.fit(pool, |progress| step(progress.share.min(0.99), say_fitting(progress), None))?;
        let status = match fitted.status {
            FitStatus::Converged => Status::Converged,
            FitStatus::NotConverged => Status::NotConverged,
        };
        let predictor = Predictor::Logistic(fitted.model);
        let judged = on(pool, || self.judged_once(&Ensemble { members: vec![predictor.clone()] }))?;
        let report = EpochReport {
            epoch: 0,
            train_loss: self.mean_loss(&judged, Part::Train).unwrap_or(f64::NAN),
            validation_loss: self.mean_loss(&judged, Part::Validation),
            train_value: None,
            learning_rate: 0.0,
            is_best: true,
        };
        step(1.0, format!("epoch 1, {}", say_losses(&report)), Some(("two-stage", report)))?;
        let fitted = Fitted { predictor, history: vec![report], status };
        on(pool, || self.refuse_worse_than_nothing(&fitted, &judged))?;
        let trained = Finished { fitted, choice: None, selection: None };
        progressed.now = None;
        progressed.histories.push(member_history(self.method.config().seed, &trained));
        progressed.members.push(trained.fitted.predictor);
        visit(Step::done(0, 1.0, &mut progressed))?;
        Ok(progressed)
    }

    /// The model of the finished members.
    pub fn model(&self, members: Vec<Predictor>, histories: Vec<MemberHistory>) -> Result<Model> {
        let ensemble = Ensemble { members };
        let mut card = self.card.clone();
        card.predictor = PredictorCard::new(&ensemble.members[0].architecture(), ensemble.members.len());
        card.own_record = self.own_record(&ensemble)?;
        card.history = History { members: histories, loss: Some(self.losses(&ensemble)?) };
        Ok(Model { card, weights: model::weights(&ensemble) })
    }

    /// The losses of the three parts under an ensemble.
    pub fn losses(&self, ensemble: &Ensemble) -> Result<Losses> {
        Ok(self.losses_of(&self.judged_once(ensemble)?))
    }

    /// What a pass says of an ensemble, which has one member; made once.
    fn judged_once(&self, ensemble: &Ensemble) -> Result<Judged> {
        let only = &ensemble.members[0];
        let mut last = self.judged.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        if let Some((_, judged)) = last.as_ref().filter(|(known, _)| known == only) {
            return Ok(judged.clone());
        }
        let judged = self.judge(ensemble)?;
        *last = Some((only.clone(), judged.clone()));
        Ok(judged)
    }
}

/// On the threads of a pool, where there is one.
fn on<T: Send>(pool: Option<&ThreadPool>, work: impl FnOnce() -> T + Send) -> T {
    match pool {
        Some(pool) => pool.install(work),
        None => work(),
    }
}
