//! A training: everything that decides its outcome is resolved first and becomes the card of the model to be; then the members
//! of the ensemble are trained one after the other, epoch by epoch, with someone to look on.
//!
//! Where the arms are: in memory ([`Training`]), or passing by in pieces, as many as there are ([`PassingTraining`]); of the study in a
//! folder [`FolderTraining`] decides; in partitions that never meet ([`partition`]).
//!
//! Whoever looks on may end the training between two epochs by an error of his own, and may keep a snapshot to go on from.

mod folder;
pub mod partition;
mod passing;

pub use folder::FolderTraining;
pub use passing::{Begun, PassingTraining};

use crate::asked::Asked;
use crate::card::{chosen, losses, member_history};
use crate::describe::{dealt, describe};
use crate::error::Result;
use crate::identification::{Identification, identify};
use crate::message::Message;
use crate::model::parameters;
use crate::own_record::heard_of;
use crate::resolve::{Material, refuse_too_little, resolve, say_unobserved};
use crate::{columns, model, prepare};
use rayon::ThreadPool;
use restive::Instance;
use restive::data::reference::Reference;
use restive::data::split::Group;
use restive::predictor::logistic::FitProgress;
use restive::predictor::{Architecture, Ensemble, Predictor};
use restive::training::{Choice, EpochReport, Fit, Method, Snapshot, Value};
use restive_tables::memory::require;
use restive_tables::model::history::MemberHistory;
use restive_tables::model::{Card, History, Model, PredictorCard};
use restive_tables::{Study, StudySettings};

/// A training that could begin.
pub struct Training {
    /// how it is done
    pub method: Method,
    /// of the model to be, without its history
    pub card: Card,
    /// the encoded instances to train on, to validate and to test on
    pub parts: [Vec<Instance>; 3],
    /// what should be known of the data
    pub warnings: Vec<Message>,
    members: usize,
    /// the validation arms that say what records are worth, where not all of them are asked
    pub(crate) heard: Option<Vec<Instance>>,
    /// whether a model that held-out arms refute is refused; a fold's is judged by others instead
    refuses: bool,
}

/// What has been trained so far.
#[derive(Default)]
pub struct Progressed {
    /// the finished members
    pub members: Vec<Predictor>,
    /// how each of them went, as the card will say it
    pub histories: Vec<MemberHistory>,
    /// the member in training
    pub now: Option<Snapshot>,
}

/// A training between two epochs or steps of a fit, or at the end of a member.
pub struct Step<'a> {
    /// which member
    pub member: usize,
    /// how much of the whole is done, from 0 to 1
    pub share: f64,
    /// what there is to say of it
    pub message: String,
    /// the stage and the epoch that was just made on all instances, if one was
    pub epoch: Option<(&'static str, EpochReport)>,
    /// whether the member has just been finished
    pub is_done: bool,
    /// the member in training, where one could go on from its snapshot
    pub fit: Option<&'a Fit>,
    /// the finished members, and a place for a snapshot of this one
    pub progressed: &'a mut Progressed,
}

impl Training {
    /// Resolves and checks what is asked for; `origin` is what the card calls the study.
    pub fn new(study: &Study, asked: &Asked, origin: &str) -> Result<Self> {
        let mut training = Self::reading(study, asked, origin, None)?;
        training.card.identification = identify(study, &asked.drop);
        Ok(training)
    }

    /// The same with features read as those of `readers` need it, whoever is learnt from: categories, gaps and scales are theirs. What
    /// comes of it is judged by others, so that nothing is refused for what few validation arms say.
    pub(crate) fn reading(
        study: &Study,
        asked: &Asked,
        origin: &str,
        readers: Option<&[Group]>,
    ) -> Result<Self> {
        asked.check()?;
        let split = prepare::split(study, asked.seed)?;
        let refuses = readers.is_none();
        let readers = readers.unwrap_or(&split.train);
        let encoding = prepare::encoding(study, readers, asked.standardise(), &asked.drop)?;
        let reference = Reference::new(&study.features(readers), &encoding);
        let mut instances = study.instances(&encoding)?;
        let mut parts = split.cut(&instances);
        let method = resolve(asked, &parts[0], study.settings.horizon);
        let is_by_log = method.decision().is_some_and(|decision| decision.value == Value::Is);
        if is_by_log {
            prepare::weigh(study, &mut instances)?;
            parts = split.cut(&instances);
        }
        let material = Material::new(&parts);
        refuse_too_little(&method, &material)?;
        let kept = |name: &str| !asked.drop.iter().any(|dropped| dropped == name);
        let mut warnings = columns::doubtful(&study.features(&split.train), kept);
        warnings.extend(prepare::unseen(&prepare::features(study), &encoding).into_iter().map(Message::from));
        warnings.extend(say_unobserved(&material.unobserved_states));
        let rewards = prepare::rewards_at_pulls(&parts[0]).filter(|_| is_by_log);
        warnings.extend(rewards.map(Message::from));
        let architecture = Architecture {
            features: encoding.width(),
            states: parts[0][0].states(),
            kind: method.config().kind.clone(),
        };
        require_room(&architecture, asked, origin)?;
        let heard = heard_of(study, &split.validation)
            .map(|groups| groups.iter().map(|group| group.select(&instances)).collect());
        let card = Card {
            restive: env!("CARGO_PKG_VERSION").into(),
            predictor: PredictorCard::new(&architecture, asked.ensemble),
            configuration: describe(asked, &method, &study.settings, dealt(study, &split)),
            encoding,
            reference: Some(reference),
            seed: asked.seed,
            fingerprint: study.fingerprint(),
            identification: Identification::Unknown {
                reason: "a model of a fold: the log was not checked".into(),
            },
            history: History::default(),
            own_record: None,
            unobserved_states: material.unobserved_states,
            notes: notes(&study.settings, origin),
        };
        Ok(Self { method, card, parts, warnings, members: asked.ensemble, heard, refuses })
    }

    /// Of the ensemble.
    pub(crate) fn members(&self) -> usize {
        self.members
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
            let method = self.method.member(member, progressed.histories.first().and_then(chosen));
            let seed = method.config().seed;
            let snapshot = progressed.now.take();
            let begin = || -> restive::Result<Fit> {
                let mut fit = Fit::new(method, train, validation)?;
                snapshot.map_or(Ok(()), |snapshot| fit.restore(&snapshot)).map(|()| fit)
            };
            let begun = match pool {
                Some(pool) => pool.install(begin),
                None => begin(),
            };
            let mut fit = begun.map_err(crate::Error::from)?;
            let share = |within: f64| (member as f64 + within) / self.members as f64;
            fit.run(pool, |fit, epoch| {
                let (share, message) = (share(fit.share()), message(fit));
                let progressed = &mut progressed;
                visit(Step { member, share, message, epoch, is_done: false, fit: Some(fit), progressed })
            })?;
            let trained = fit.finish();
            if self.refuses {
                self.refuse_worse_than_nothing(&trained)?;
            }
            progressed.now = None;
            progressed.histories.push(member_history(seed, &trained));
            progressed.members.push(trained.fitted.predictor);
            visit(Step::done(member, share(1.0), &mut progressed))?;
        }
        Ok(progressed)
    }

    /// The model of the finished members.
    pub fn model(&self, members: Vec<Predictor>, histories: Vec<MemberHistory>) -> Model {
        let ensemble = Ensemble { members };
        let mut card = self.card.clone();
        card.predictor = PredictorCard::new(&ensemble.members[0].architecture(), ensemble.members.len());
        card.own_record = self.own_record(&ensemble, &histories);
        card.history = History { members: histories, loss: Some(losses(&ensemble, &self.parts)) };
        Model { card, weights: model::weights(&ensemble) }
    }
}

impl<'a> Step<'a> {
    /// At the end of a member.
    fn done(member: usize, share: f64, progressed: &'a mut Progressed) -> Self {
        let message = format!("fit {} is complete", member + 1);
        Self { member, share, message, epoch: None, is_done: true, fit: None, progressed }
    }
}

/// Asks memory for the parameters, their gradient, the two moments of Adam, those that are kept, and the members that are done.
fn require_room(architecture: &Architecture, asked: &Asked, origin: &str) -> Result<()> {
    let copies = 5.0 + asked.ensemble as f64 - 1.0;
    let parameters = parameters(architecture);
    require(origin, format!("{parameters} parameters and their gradients"), 8.0 * copies * parameters)?;
    Ok(())
}

/// What a card says of where its model comes from.
fn notes(settings: &StudySettings, origin: &str) -> String {
    let name = settings.name.as_ref().map_or(String::new(), |name| format!(" ({name})"));
    format!("trained on {origin}{name}")
}

/// What there is to say of a training on its way.
fn message(fit: &Fit) -> String {
    if let Some(progress) = fit.fitting() {
        return say_fitting(progress);
    }
    let losses = fit.last_epoch().map_or(String::new(), |report| say_losses(&report));
    let (made, _) = fit.progress();
    match fit {
        Fit::TwoStage(_) | Fit::DecisionFocused(_) => format!("epoch {made}, {losses}"),
        Fit::Auto(_) => format!("every predictor in folds: {made} epochs"),
        Fit::Recommended(_) if losses.is_empty() => format!("every predictor in folds: {made} epochs"),
        Fit::Recommended(_) => {
            let stage = match fit.verdict().map(|verdict| verdict.choice) {
                None => "all candidates".into(),
                Some(Choice::TwoStage) => "two-stage is enough".to_string(),
                Some(choice) => format!("{} on all instances", choice.name()),
            };
            format!("{stage}: {made} epochs, {losses}")
        }
    }
}

/// What there is to say of a logistic model on its way.
fn say_fitting(FitProgress { steps, gradient, .. }: FitProgress) -> String {
    format!("logistic model: step {}, largest derivative {gradient:.1e}", steps + 1)
}

/// And of the losses after an epoch.
fn say_losses(report: &EpochReport) -> String {
    let loss = report.validation_loss.unwrap_or(report.train_loss);
    let which = if report.validation_loss.is_some() { "validation" } else { "training" };
    let value = report.train_value.map_or(String::new(), |value| format!("value {value:.2}, "));
    format!("{value}{which} loss {loss:.3}")
}
