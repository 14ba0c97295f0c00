//! A training: everything that decides its outcome is resolved first and becomes the card of the model to be; then the members
//! of the ensemble are trained one after the other, epoch by epoch, with someone to look on.
//!
//! Whoever looks on may end the training between two epochs by an error of his own, and may keep a snapshot to go on from.

use crate::asked::Asked;
use crate::card::losses;
use crate::describe::describe;
use crate::error::Result;
use crate::method::{Fit, Method};
use crate::resolve::{refuse_too_little, resolve};
use crate::{model, prepare};
use rayon::ThreadPool;
use restive::Instance;
use restive::predictor::{Architecture, Ensemble, Predictor};
use restive::training::{EpochReport, Snapshot, Value as DecisionValue};
use restive_tables::Study;
use restive_tables::model::{Card, Model};
use serde_json::{Value, json};

/// A training that could begin.
pub struct Training {
    /// how it is done
    pub method: Method,
    /// of the model to be, without its history
    pub card: Card,
    /// the encoded instances to train on, to validate and to test on
    pub parts: [Vec<Instance>; 3],
    /// what should be known of the data
    pub warnings: Vec<String>,
    members: usize,
}

/// What has been trained so far.
#[derive(Default)]
pub struct Progressed {
    /// the finished members
    pub members: Vec<Predictor>,
    /// how each of them went, as the card will say it
    pub histories: Vec<Value>,
    /// the member in training
    pub now: Option<Snapshot>,
}

/// A training between two epochs, or at the end of a member.
pub struct Step<'a> {
    /// which member
    pub member: usize,
    /// how much of the whole is done, from 0 to 1
    pub share: f64,
    /// what there is to say of it
    pub message: String,
    /// the stage and the epoch that was just made on all instances, if one was
    pub epoch: Option<(&'static str, EpochReport)>,
    /// the member in training; none: it has just been finished
    pub fit: Option<&'a Fit>,
    /// the finished members, and a place for a snapshot of this one
    pub progressed: &'a mut Progressed,
}

impl Training {
    /// Resolves and checks what is asked for; `origin` is what the card calls the study.
    pub fn new(study: &Study, asked: &Asked, origin: &str) -> Result<Self> {
        asked.check()?;
        let split = prepare::split(study, asked.seed)?;
        let encoding = prepare::encoding(study, &split, asked.standardise(), &asked.drop)?;
        let mut parts = prepare::parts(study, &split, &encoding, false)?;
        let method = resolve(asked, &parts[0], study.settings.horizon);
        let is_by_log = method.decision().is_some_and(|decision| decision.value == DecisionValue::Is);
        if is_by_log {
            parts = prepare::parts(study, &split, &encoding, true)?;
        }
        refuse_too_little(&method, &parts)?;
        let mut warnings = prepare::unseen(study, &encoding);
        warnings.extend(prepare::rewards_at_pulls(&parts[0]).filter(|_| is_by_log));
        let architecture = Architecture {
            features: encoding.width(),
            states: parts[0][0].states(),
            kind: method.config().kind.clone(),
        };
        let name = study.settings.name.as_ref().map_or(String::new(), |name| format!(" ({name})"));
        let card = Card {
            restive: env!("CARGO_PKG_VERSION").into(),
            predictor: model::describe(&architecture, asked.ensemble),
            configuration: describe(asked, &method, study, &split),
            encoding,
            seed: asked.seed,
            fingerprint: study.fingerprint(),
            history: Value::Null,
            notes: format!("trained on {origin}{name}"),
        };
        Ok(Self { method, card, parts, warnings, members: asked.ensemble })
    }

    /// Trains what is left to train, on the threads of `pool` (none: rayon's own); `visit` hears of every step, in the thread
    /// that calls.
    pub fn run<E: From<crate::Error>>(
        &self,
        mut progressed: Progressed,
        pool: Option<&ThreadPool>,
        mut visit: impl FnMut(Step<'_>) -> std::result::Result<(), E>,
    ) -> std::result::Result<Progressed, E> {
        let [train, validation, _] = &self.parts;
        for member in progressed.members.len()..self.members {
            let method = self.method.member(member, &progressed.histories);
            let (seed, epochs) = (method.config().seed, method.config().epochs);
            let snapshot = progressed.now.take();
            let mut fit =
                within(pool, || Fit::new(method, train, validation, snapshot)).map_err(crate::Error::from)?;
            let share = |within: f64| (member as f64 + within) / self.members as f64;
            while !fit.is_finished() {
                let epoch = within(pool, || fit.advance());
                let (within, message) = fit.progress(epochs);
                let progressed = &mut progressed;
                visit(Step { member, share: share(within), message, epoch, fit: Some(&fit), progressed })?;
            }
            let (predictor, history) = fit.finish(seed);
            progressed.now = None;
            progressed.histories.push(history);
            progressed.members.push(predictor);
            let message = format!("fit {} is complete", member + 1);
            let progressed = &mut progressed;
            visit(Step { member, share: share(1.0), message, epoch: None, fit: None, progressed })?;
        }
        Ok(progressed)
    }

    /// The model of the finished members.
    pub fn model(&self, members: Vec<Predictor>, histories: Vec<Value>) -> Model {
        let ensemble = Ensemble { members };
        let mut card = self.card.clone();
        card.predictor = model::describe(&ensemble.members[0].architecture(), ensemble.members.len());
        card.history = json!({"members": histories, "loss": losses(&ensemble, &self.parts)});
        Model { card, weights: model::weights(&ensemble) }
    }
}

fn within<T: Send>(pool: Option<&ThreadPool>, work: impl FnOnce() -> T + Send) -> T {
    match pool {
        Some(pool) => pool.install(work),
        None => work(),
    }
}
