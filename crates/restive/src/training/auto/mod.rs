//! One predictor that serves everywhere: several kinds are fitted in folds of the training arms, and those folds choose.
//!
//! **Bases.** The [hierarchical](crate::predictor::Logistic) model; the network on features as they are (unless [their sizes
//! differ](is_uneven) as money and years do); with two states also the network on [standardised](Scaling) features. Where states
//! are seen at pulls only a linear network takes the place of the hierarchical model, which is fitted to moves.
//!
//! **Folds.** Five instances or more: whole instances, at most eight folds; else eight folds of arms. Every base is fitted without
//! each fold, so that every training arm has a prediction by fits that never saw it. Networks stop by the validation arms, the
//! penalties of the hierarchical model come from all training arms once.
//!
//! **The choice** ([`Verdict`]): a [pool](pool_weights) of log-odds where, out of fold, its squared error of the next reward
//! is lower than that of the best base by more than a standard error; else the base under which moves out of fold are likeliest;
//! and the bare frequencies where even that is no better than they.
//!
//! Each base predicts by the mean of its fold fits: an ensemble that costs nothing more.

mod judge;
mod weights;

pub use judge::{BaseName, BaseVerdict, Outcome, Verdict};
pub use weights::{PoolWeights, Seen, pool_weights};

use super::config::Config;
use super::descent::{EpochReport, Fitted, Status};
use super::prepared::{Prepared, prepare};
use super::snapshot::Snapshot;
use super::two_stage::{TwoStage, mean_loss};
use crate::data::split::{Group, arm_folds, folds};
use crate::error::{Error, Result};
use crate::instance::{Instance, Observation};
use crate::predictor::logistic::FitProgress;
use crate::predictor::{Base, Penalties, Pool, Predictor, PredictorKind, Scaling, is_uneven};
use ndarray::ArrayView2;
use rayon::prelude::*;
use std::sync::Arc;

/// Folds, at most.
pub const FOLDS: usize = 8;
/// So many instances are dealt whole.
const WHOLE: usize = 5;

/// The folds of training instances: the groups that are left out of each.
pub fn auto_folds(train: &[Instance], seed: u64) -> Result<Vec<Vec<Group>>> {
    let whole = |(instance, arms): (usize, &Instance)| Group { instance, arms: (0..arms.arms()).collect() };
    let groups: Vec<Group> = train.iter().enumerate().map(whole).collect();
    if groups.len() >= WHOLE {
        return folds(&groups, FOLDS, seed);
    }
    let arms = groups.iter().map(|group| group.arms.len()).sum::<usize>();
    arm_folds(&groups, arms.min(FOLDS), seed)
}

/// The training arms without a fold, and those of the fold.
pub(super) struct Fold {
    pub train: Vec<Arc<Prepared>>,
    pub held_out: Vec<Arc<Prepared>>,
}

/// One kind of predictor, with its fits.
struct Trial {
    name: BaseName,
    config: Config,
    scaling: Option<Scaling>,
    /// of the hierarchical model: on all training arms, by the evidence
    first: Option<TwoStage>,
    /// without each fold; none where it has not begun
    fits: Vec<Option<TwoStage>>,
}

/// The training between two rounds.
pub struct Auto {
    config: Config,
    all: Vec<Arc<Prepared>>,
    validation: Vec<Arc<Prepared>>,
    pub(super) folds: Vec<Fold>,
    trials: Vec<Trial>,
    verdict: Option<Verdict>,
}

impl Auto {
    /// `config` is that of the networks; its seed also deals the folds.
    pub fn new(config: Config, train: &[Instance], validation: &[Instance]) -> Result<Self> {
        let [all, validation] = prepare(train, validation, None)?;
        let cut = cut(train, &all, config.seed, |instance| Prepared::new(instance, None))?;
        Self::from_prepared(config, all, validation, cut)
    }

    pub(super) fn from_prepared(
        config: Config,
        all: Vec<Arc<Prepared>>,
        validation: Vec<Arc<Prepared>>,
        folds: Vec<Fold>,
    ) -> Result<Self> {
        config.check()?;
        let trials = trials(&config, &all, folds.len());
        let mut auto = Self { config, all, validation, folds, trials, verdict: None };
        for t in 0..auto.trials.len() {
            auto.begin(t)?;
        }
        Ok(auto)
    }

    /// Begins the fits of a trial that can begin.
    fn begin(&mut self, t: usize) -> Result<()> {
        let Self { all, validation, folds, trials, .. } = self;
        let trial = &mut trials[t];
        let scale = |arms: &[Arc<Prepared>]| scaled(arms, trial.scaling.as_ref());
        let validation = scale(validation);
        if let PredictorKind::Hierarchical { penalties } = &trial.config.kind {
            let Some(first) = &trial.first else {
                trial.first = Some(TwoStage::from_prepared(trial.config.clone(), scale(all), validation)?);
                return Ok(());
            };
            if !first.is_finished() || *penalties != Penalties::Evidence {
                return Ok(());
            }
            let Predictor::Logistic(model) = first.best() else { unreachable!("fitted by Newton's method") };
            let penalties = Penalties::Fixed(model.penalties().expect("a fit has penalties"));
            trial.config.kind = PredictorKind::Hierarchical { penalties };
        }
        for (fold, fit) in folds.iter().zip(&mut trial.fits) {
            let train = scale(&fold.train);
            *fit = Some(TwoStage::from_prepared(trial.config.clone(), train, validation.clone())?);
        }
        Ok(())
    }

    /// Every fit that is not at its end advances by one epoch; once all are, the choice is made.
    pub fn round(&mut self) {
        assert!(!self.is_finished(), "training is finished");
        let fits = self.trials.iter_mut().flat_map(Trial::fits_mut).filter(|fit| !fit.is_finished());
        let fits: Vec<&mut TwoStage> = fits.collect();
        fits.into_par_iter().for_each(|fit| {
            fit.advance();
        });
        self.begin_what_can();
        let is_done = self.trials.iter().all(Trial::is_done);
        if is_done {
            self.verdict = Some(self.judge());
        }
    }

    fn begin_what_can(&mut self) {
        for t in 0..self.trials.len() {
            let trial = &self.trials[t];
            let is_waiting = trial.fits.iter().any(Option::is_none);
            if is_waiting && trial.first.as_ref().is_some_and(TwoStage::is_finished) {
                self.begin(t).expect("kinds and instances were checked when training began");
            }
        }
    }

    fn judge(&self) -> Verdict {
        let names: Vec<BaseName> = self.trials.iter().map(|trial| trial.name).collect();
        let predict = |k: usize| {
            let held_out = &self.folds[k].held_out;
            self.trials.iter().map(|trial| trial.predict(k, held_out)).collect::<Vec<_>>()
        };
        let predictions: Vec<_> = (0..self.folds.len()).into_par_iter().map(predict).collect();
        judge::judge(&names, &self.folds, &predictions)
    }

    /// Whether there is nothing left to do.
    pub fn is_finished(&self) -> bool {
        self.verdict.is_some()
    }

    /// What was chosen and why, once it is.
    pub fn verdict(&self) -> Option<&Verdict> {
        self.verdict.as_ref()
    }

    /// How many epochs were made, and how many there will be at most.
    pub fn progress(&self) -> (usize, usize) {
        let count = |(made, most): (usize, usize), trial: &Trial| {
            let waiting = trial.fits.iter().filter(|fit| fit.is_none()).count();
            let fits = trial.first.iter().chain(trial.fits.iter().flatten());
            fits.fold((made, most + waiting), |(made, most), fit| {
                let (now, last) = fit.progress();
                (made + now, most + if fit.is_finished() { now } else { last })
            })
        };
        self.trials.iter().fold((0, 0), count)
    }

    /// How far the penalties of the hierarchical model have come, while they are sought.
    pub fn fitting(&self) -> Option<FitProgress> {
        self.trials.iter().find_map(|trial| trial.first.as_ref()?.fitting())
    }

    /// The predictor that was chosen; before that, the first fit as it stands.
    pub fn predictor(&self) -> Predictor {
        match &self.verdict {
            Some(verdict) => {
                self.chosen(verdict, |trial, _| trial.fits.iter().flatten().map(TwoStage::best).collect())
            }
            None => {
                let mut fits = self
                    .trials
                    .iter()
                    .flat_map(|trial| trial.first.iter().chain(trial.fits.iter().flatten()));
                fits.next().expect("a base").predictor().clone()
            }
        }
    }

    /// The chosen pool of the fits without fold k alone: it never saw the arms of that fold.
    pub(super) fn without(&self, k: usize) -> Predictor {
        let verdict = self.verdict.as_ref().expect("finished");
        self.chosen(verdict, |trial, _| trial.fits[k].iter().map(TwoStage::best).collect())
    }

    /// The pool that was chosen, each base with the fits that `fits(trial, position)` says.
    fn chosen(&self, verdict: &Verdict, fits: impl Fn(&Trial, usize) -> Vec<Predictor>) -> Predictor {
        if verdict.outcome == Outcome::Frequencies {
            return judge::nothing_known(&self.all);
        }
        let used =
            self.trials.iter().zip(&verdict.bases).enumerate().filter(|(_, (_, base))| base.weight > 0.0);
        let base = |(at, (trial, base)): (usize, (&Trial, &BaseVerdict))| Base {
            weight: base.weight,
            scaling: trial.scaling.clone(),
            fits: fits(trial, at),
        };
        Predictor::Pool(Pool::new(used.map(base).collect()).expect("weights of a pool"))
    }

    /// The bases that were chosen, to be fitted to all training arms: what decision-focused training starts from.
    pub(super) fn again(&self) -> Result<Again> {
        let verdict = self.verdict.as_ref().expect("finished");
        let fit = |(trial, base): (&Trial, &BaseVerdict)| -> Result<Option<TwoStage>> {
            if base.weight == 0.0 || verdict.outcome == Outcome::Frequencies {
                return Ok(None);
            }
            let scale = |arms: &[Arc<Prepared>]| scaled(arms, trial.scaling.as_ref());
            TwoStage::from_prepared(trial.config.clone(), scale(&self.all), scale(&self.validation)).map(Some)
        };
        let fits = self.trials.iter().zip(&verdict.bases).map(fit).collect::<Result<_>>()?;
        Ok(Again { fits })
    }

    /// The pool of bases that were fitted to all training arms.
    pub(super) fn pool_of(&self, again: &Again) -> Predictor {
        let verdict = self.verdict.as_ref().expect("finished");
        self.chosen(verdict, |_, at| again.fits[at].iter().map(TwoStage::best).collect())
    }

    /// The predictor that was chosen, and how it does on the validation instances.
    pub fn finish(&self) -> Fitted {
        let predictor = self.predictor();
        let report = EpochReport {
            epoch: 0,
            train_loss: mean_loss(&predictor, &self.all).expect("at least one instance"),
            validation_loss: mean_loss(&predictor, &self.validation),
            train_value: None,
            learning_rate: 0.0,
            is_best: true,
        };
        let mut statuses =
            self.trials.iter().flat_map(|trial| trial.fits.iter().flatten()).map(TwoStage::status);
        let is_bad = |status| matches!(status, Status::Diverged | Status::NotConverged);
        let status = statuses.find(|status| is_bad(*status)).unwrap_or(Status::Completed);
        Fitted { predictor, history: vec![report], status }
    }

    /// The state of training, to be saved.
    pub fn snapshot(&self) -> Snapshot {
        let mut all = Snapshot { numbers: vec![], counts: vec![] };
        for trial in &self.trials {
            let name = trial.name.name();
            trial.first.iter().for_each(|first| all.extend(&format!("{name}.first"), first.snapshot()));
            for (k, fit) in trial.fits.iter().enumerate() {
                fit.iter().for_each(|fit| all.extend(&format!("{name}.fold_{k}"), fit.snapshot()));
            }
        }
        all
    }

    /// Goes on where a snapshot of the same training left off.
    pub fn restore(&mut self, snapshot: &Snapshot) -> Result<()> {
        for trial in &mut self.trials {
            let part = snapshot.part(&format!("{}.first", trial.name.name()));
            if let Some(first) = trial.first.as_mut().filter(|_| !part.counts.is_empty()) {
                first.restore(&part)?;
            }
        }
        self.begin_what_can();
        for trial in &mut self.trials {
            for (k, fit) in trial.fits.iter_mut().enumerate() {
                let part = snapshot.part(&format!("{}.fold_{k}", trial.name.name()));
                if let Some(fit) = fit.as_mut().filter(|_| !part.counts.is_empty()) {
                    fit.restore(&part)?;
                }
            }
        }
        if self.trials.iter().all(Trial::is_done) {
            self.verdict = Some(self.judge());
        }
        Ok(())
    }

    /// Of the networks.
    pub fn config(&self) -> &Config {
        &self.config
    }
}

/// The chosen bases on their way to a fit of all training arms.
pub(super) struct Again {
    /// of each base; none where it was not chosen
    pub fits: Vec<Option<TwoStage>>,
}

impl Again {
    pub(super) fn is_finished(&self) -> bool {
        self.fits.iter().flatten().all(TwoStage::is_finished)
    }

    pub(super) fn advance(&mut self) {
        let fits: Vec<_> = self.fits.iter_mut().flatten().filter(|fit| !fit.is_finished()).collect();
        fits.into_par_iter().for_each(|fit| {
            fit.advance();
        });
    }
}

impl Trial {
    fn fits_mut(&mut self) -> impl Iterator<Item = &mut TwoStage> {
        self.first.iter_mut().chain(self.fits.iter_mut().flatten())
    }

    fn is_done(&self) -> bool {
        self.fits.iter().all(|fit| fit.as_ref().is_some_and(TwoStage::is_finished))
    }

    /// What the fit without fold k says of arms.
    fn predict(&self, k: usize, arms: &[Arc<Prepared>]) -> Vec<ndarray::Array4<f64>> {
        let fit = self.fits[k].as_ref().expect("finished").best();
        scaled(arms, self.scaling.as_ref()).iter().map(|arms| fit.predict(arms.features.view())).collect()
    }
}

/// The bases that suit some training arms.
fn trials(config: &Config, all: &[Arc<Prepared>], folds: usize) -> Vec<Trial> {
    let features: Vec<ArrayView2<'_, f64>> = all.iter().map(|arms| arms.features.view()).collect();
    let scaling = Scaling::learn(&features);
    let (is_scaled, is_even) = (!scaling.is_identity(), !is_uneven(&features));
    let scaling = is_scaled.then_some(scaling);
    let is_full = all[0].observation == Observation::Full;
    let kind = |kind: PredictorKind| Config { kind, ..config.clone() };
    let hierarchical = || kind(PredictorKind::Hierarchical { penalties: Penalties::Evidence });
    let linear = || kind(PredictorKind::Network { hidden: vec![], dropout: 0.0 });
    let mut bases = Vec::new();
    match is_full {
        true => bases.push((BaseName::Hierarchical, hierarchical(), scaling.clone())),
        false => bases.push((BaseName::Linear, linear(), scaling.clone())),
    }
    if is_even || !is_scaled {
        bases.push((BaseName::Network, config.clone(), None));
    }
    if is_scaled && (!is_even || all[0].reward.states() == 2) {
        bases.push((BaseName::StandardisedNetwork, config.clone(), scaling));
    }
    let trial = |(name, config, scaling)| {
        let fits = (0..folds).map(|_| None).collect();
        Trial { name, config, scaling, first: None, fits }
    };
    bases.into_iter().map(trial).collect()
}

/// The same arms with scaled features.
fn scaled(arms: &[Arc<Prepared>], scaling: Option<&Scaling>) -> Vec<Arc<Prepared>> {
    let Some(scaling) = scaling else { return arms.to_vec() };
    let one = |arms: &Arc<Prepared>| Arc::new(arms.with_features(scaling.apply(arms.features.view())));
    arms.iter().map(one).collect()
}

/// The folds of this training, prepared.
pub(super) fn cut(
    train: &[Instance],
    all: &[Arc<Prepared>],
    seed: u64,
    prepare: impl Fn(&Instance) -> Result<Prepared>,
) -> Result<Vec<Fold>> {
    let arms: usize = train.iter().map(Instance::arms).sum();
    if arms < 2 {
        let (found, expected) = (format!("{arms}"), "at least 2, to hold one against the other".into());
        return Err(Error::Unsuitable { what: "training arms", found, expected });
    }
    prepared_folds(train, all, auto_folds(train, seed)?, prepare)
}

/// Folds by the groups that are left out of each, prepared; instances that are left whole are shared with `all`.
pub(super) fn prepared_folds(
    train: &[Instance],
    all: &[Arc<Prepared>],
    left_out: Vec<Vec<Group>>,
    prepare: impl Fn(&Instance) -> Result<Prepared>,
) -> Result<Vec<Fold>> {
    let fold = |out: Vec<Group>| -> Result<Fold> {
        let mut fold = Fold { train: vec![], held_out: vec![] };
        for (instance, whole) in train.iter().enumerate() {
            let left_out = out.iter().find(|group| group.instance == instance);
            let Some(group) = left_out else {
                fold.train.push(all[instance].clone());
                continue;
            };
            if group.arms.len() == whole.arms() {
                fold.held_out.push(all[instance].clone());
                continue;
            }
            let rest = (0..whole.arms()).filter(|i| group.arms.binary_search(i).is_err()).collect();
            let rest = Group { instance, arms: rest };
            fold.train.push(Arc::new(prepare(&rest.select(train))?));
            fold.held_out.push(Arc::new(prepare(&group.select(train))?));
        }
        Ok(fold)
    };
    left_out.into_iter().map(fold).collect()
}
