//! The recommended training: two-stage first, through the decision only where that has shown its worth.
//!
//! Decision-focused training pays where the predictor cannot express the data and there are enough arms to see it; elsewhere it
//! fits seed. So the data decide, between *two-stage* and two [presets](Choice), *weak* and *strong*, that begin where
//! two-stage training ended:
//!
//! 1. The training instances are cut into folds (one instance each, at most [`Recipe::FOLDS`]; groups of arms where there is a
//!    single instance). On all but one fold, and once on everything, two-stage training runs to its end; the validation
//!    instances say when to stop, and what its predictions are worth beside an arm's own record
//!    ([`fit_strength`](crate::evaluation::fit_strength)).
//! 2. On all but one fold both presets are trained, and each candidate's value is taken on the fold that was left out: that of the
//!    [plan](crate::planning) for the horizon that its predictions lead to, which is what will be deployed; in the
//!    [mean field](crate::evaluation::fluid_by_step), nearly strict (temperature 0.02 of the spread of each step), on
//!    transitions smoothed by the two-stage predictions of that fold's training.
//! 3. The better preset is chosen if it leads two-stage training by more than one standard error over the folds; it is then
//!    trained on everything. Otherwise two-stage training is enough, and its predictor is the answer.
//!
//! Where the first stage is [`Auto`], its folds are those of the selection: each begins with the pool that was chosen, of the
//! fits that never saw the fold. A preset that wins is trained from one fit of each chosen base to everything.
//!
//! All folds advance side by side, one epoch per [`Selection::round`], each as it would alone: the answer is the same for
//! any number of threads, and between two rounds everything can be saved as a [`Snapshot`] and restored.
//!
//! ```
//! use restive::data::domain::Domain;
//! use restive::training::{Choice, Config, Recipe, Selection};
//!
//! let domain = Domain { instances: 4, arms: 20, budget: 4, trajectories: 10, ..Domain::two_state() };
//! let instances = domain.generate(1)?;
//! let (train, validation) = instances.split_at(3);
//! let two_stage = Config { epochs: 30, ..Config::recommended(train) };
//! let mut selection = Selection::new(Recipe::new(two_stage, 9), train, validation)?;
//! while !selection.is_finished() {
//!     selection.round();
//! }
//! let selected = selection.finish();
//! assert_eq!(selected.verdict.folds.len(), 3);
//! # Ok::<(), restive::Error>(())
//! ```

use super::auto::{self, Again, Auto, Fold, Outcome, prepared_folds};
use super::candidates::Candidates;
use super::decision_focused::DecisionFocused;
use super::descent::{EpochReport, Fitted};
use super::prepared::{Prepared, prepare};
use super::recipe::{Choice, Recipe};
use super::snapshot::Snapshot;
use crate::data::split::{Group, folds};
use crate::error::{Error, Result};
use crate::evaluation::moments;
use crate::instance::Instance;
use crate::predictor::Predictor;
use crate::predictor::logistic::FitProgress;
use rayon::prelude::*;
use std::sync::Arc;

/// What the folds said.
#[derive(Debug, Clone, PartialEq)]
pub struct Verdict {
    /// the candidate whose predictor is the answer
    pub choice: Choice,
    /// of each fold, the value per arm of each candidate in the order of [`Choice::ALL`]; empty where nothing was compared
    pub folds: Vec<[f64; 3]>,
    /// by how much weak and strong lead two-stage training: mean over the folds and its standard error; none where nothing
    /// was compared
    pub leads: Option<[(f64, f64); 2]>,
    /// how many transitions a two-stage prediction is worth beside an arm's own, for each action
    pub strength: [f64; 2],
}

/// The end of the recommended training.
#[derive(Debug, Clone, PartialEq)]
pub struct Selected {
    /// of the chosen candidate: the answer
    pub fitted: Fitted,
    /// of two-stage training on the same instances
    pub two_stage: Fitted,
    /// why
    pub verdict: Verdict,
}

/// The recommended training between two rounds.
pub struct Selection {
    recipe: Recipe,
    /// a first stage that chooses among predictors
    auto: Option<AutoFirst>,
    /// on all instances; none before the first stage has chosen
    main: Option<Candidates>,
    folds: Vec<Candidates>,
    verdict: Option<Verdict>,
}

/// A first stage that chooses, and what it is needed for later.
struct AutoFirst {
    auto: Auto,
    all: Vec<Arc<Prepared>>,
    validation: Vec<Arc<Prepared>>,
    /// the chosen bases on their way to a fit of everything
    again: Option<Again>,
    /// whether training through the decision has what it begins with
    is_ready: bool,
}

impl Selection {
    /// Needs validation instances: they say what predictions are worth.
    pub fn new(recipe: Recipe, train: &[Instance], validation: &[Instance]) -> Result<Self> {
        recipe.decision.check()?;
        if validation.is_empty() {
            let expected =
                "at least one, to say what predictions are worth beside an arm's own record".into();
            return Err(Error::Unsuitable { what: "validation instances", found: "none".into(), expected });
        }
        let decision = Some(&recipe.decision);
        let [all, validation] = prepare(train, validation, decision)?;
        if recipe.is_auto {
            let seed = recipe.two_stage.seed;
            let cut = auto::cut(train, &all, seed, |instance| Prepared::new(instance, decision))?;
            let auto = Auto::from_prepared(recipe.two_stage.clone(), all.clone(), validation.clone(), cut)?;
            let auto = Some(AutoFirst { auto, all, validation, again: None, is_ready: false });
            return Ok(Self { recipe, auto, main: None, folds: vec![], verdict: None });
        }
        let cut = if recipe.choice.is_some() { vec![] } else { cut(train, recipe.two_stage.seed)? };
        let begin = |train, held_out| Candidates::new(&recipe, train, validation.clone(), held_out);
        let folds = prepared_folds(train, &all, cut, |instance| Prepared::new(instance, decision))?;
        let folds = folds.into_iter().map(|fold| begin(fold.train, fold.held_out)).collect::<Result<_>>()?;
        let main = Some(begin(all.clone(), vec![])?);
        Ok(Self { recipe, auto: None, main, folds, verdict: None })
    }

    /// Every training that is not at its end advances by one epoch; once all folds are, the candidate is chosen.
    pub fn round(&mut self) {
        assert!(!self.is_finished(), "training is finished");
        if let Some(first) = self.auto.as_mut().filter(|first| !first.auto.is_finished()) {
            first.auto.round();
            if first.auto.is_finished() {
                self.begin_candidates();
            }
            return;
        }
        let recipe = &self.recipe;
        if self.verdict.is_none() {
            let main = self.main.iter_mut().map(|main| (main, &[][..]));
            let sets = main.chain(self.folds.iter_mut().map(|fold| (fold, &Choice::PRESETS[..])));
            let sets: Vec<_> = sets.collect();
            sets.into_par_iter().for_each(|(candidates, presets)| candidates.advance(recipe, presets));
            self.judge_if_done();
        } else if let Some(again) = self.again() {
            again.advance();
            self.begin_preset();
        } else {
            let wanted = self.wanted();
            self.main.as_mut().expect("begun").advance(&self.recipe, &wanted);
        }
    }

    /// The candidates of what the first stage chose.
    fn begin_candidates(&mut self) {
        let AutoFirst { auto, all, validation, .. } = self.auto.as_ref().expect("a first stage that chooses");
        let fitted = auto.finish();
        let is_worth_it = auto.verdict().is_some_and(|verdict| verdict.outcome != Outcome::Frequencies);
        if self.recipe.choice.is_none() && is_worth_it && auto.folds.len() > 1 {
            let fold = |(k, fold): (usize, &Fold)| {
                let fitted = Fitted { predictor: auto.without(k), ..fitted.clone() };
                Candidates::ready(fitted, fold.train.clone(), validation.clone(), fold.held_out.clone())
            };
            self.folds = auto.folds.iter().enumerate().map(fold).collect();
        }
        self.main = Some(Candidates::ready(fitted, all.clone(), validation.clone(), vec![]));
        self.judge_if_done();
    }

    fn judge_if_done(&mut self) {
        let is_done = self.main.as_ref().is_some_and(|main| main.is_done(&[]))
            && self.folds.iter().all(|fold| fold.is_done(&Choice::PRESETS));
        if is_done {
            self.verdict = Some(self.judge());
            self.begin_again();
        }
    }

    /// Where a preset won: the chosen bases, to be fitted to everything.
    fn begin_again(&mut self) {
        let is_wanted = !self.wanted().is_empty();
        if let Some(first) = self.auto.as_mut().filter(|_| is_wanted) {
            first.again = Some(first.auto.again().expect("bases that were fitted in folds"));
        }
    }

    /// The fits to everything that are still on their way.
    fn again(&mut self) -> Option<&mut Again> {
        self.auto.as_mut().filter(|first| !first.is_ready)?.again.as_mut()
    }

    /// Once the chosen bases are fitted to everything, training through the decision begins with them.
    fn begin_preset(&mut self) {
        let Some(first) = &mut self.auto else { return };
        let Some(again) = first.again.as_ref().filter(|again| again.is_finished()) else { return };
        let predictor = first.auto.pool_of(again);
        let fitted = Fitted { predictor, ..first.auto.finish() };
        self.main = Some(Candidates::ready(fitted, first.all.clone(), first.validation.clone(), vec![]));
        first.is_ready = true;
    }

    /// Whether there is nothing left to do.
    pub fn is_finished(&self) -> bool {
        let wanted = self.wanted();
        let is_ready = wanted.is_empty() || self.auto.as_ref().is_none_or(|first| first.is_ready);
        self.verdict.is_some() && is_ready && self.main.as_ref().is_some_and(|main| main.is_done(&wanted))
    }

    /// What the folds of a first stage that chooses said, once they have.
    pub fn choice(&self) -> Option<&auto::Verdict> {
        self.auto.as_ref()?.auto.verdict()
    }

    /// What the folds said, once they have.
    pub fn verdict(&self) -> Option<&Verdict> {
        self.verdict.as_ref()
    }

    /// How many epochs were made, and how many there will be at most.
    pub fn progress(&self) -> (usize, usize) {
        let epochs = |preset: Choice, instances: usize| self.recipe.preset(preset, instances).0.epochs;
        let count = |candidates: &Candidates, presets: &[Choice]| {
            let (last, most) = candidates.first.progress();
            let first = if candidates.first.is_finished() { (last, last) } else { (last, most) };
            presets.iter().fold(first, |(made, most), preset| {
                let now = candidates.preset(*preset).map_or(0, |training| training.history().len());
                (made + now, most + epochs(*preset, candidates.train.len()))
            })
        };
        let last = match &self.verdict {
            None if self.recipe.choice.is_none() => vec![Choice::Strong],
            _ => self.wanted(),
        };
        let mut parts: Vec<(usize, usize)> =
            self.folds.iter().map(|fold| count(fold, &Choice::PRESETS)).collect();
        parts.extend(self.main.iter().map(|main| count(main, &last)));
        if let Some(AutoFirst { auto, all, again, .. }) = &self.auto {
            parts.push(auto.progress());
            if self.main.is_none() && self.recipe.choice.is_none() {
                let preset = |choice: &Choice| epochs(*choice, all.len());
                parts.push((0, auto.folds.len() * Choice::PRESETS.iter().map(preset).sum::<usize>()));
            }
            let fits = again.iter().flat_map(|again| again.fits.iter().flatten());
            parts.extend(fits.map(|fit| match fit.progress() {
                (made, _) if fit.is_finished() => (made, made),
                both => both,
            }));
        }
        parts.into_iter().fold((0, 0), |sum, part| (sum.0 + part.0, sum.1 + part.1))
    }

    /// How far the fit of a logistic model to all instances has come, while it is on its way.
    pub fn fitting(&self) -> Option<FitProgress> {
        let of_auto = self.auto.as_ref().and_then(|first| first.auto.fitting());
        of_auto.or_else(|| self.main.as_ref()?.first.fitting())
    }

    /// The last epoch of the training on all instances, and the name of its stage.
    pub fn last_epoch(&self) -> Option<(&'static str, EpochReport)> {
        let main = self.main.as_ref()?;
        let last = |preset: &Choice| Some((preset.name(), *main.preset(*preset)?.history().last()?));
        let first = main.first.history().last();
        let through = Choice::PRESETS.iter().rev().find_map(last);
        through.or(first.map(|report| (Choice::TwoStage.name(), *report)))
    }

    /// The predictor of that epoch, or the untrained one.
    pub fn predictor(&self) -> Predictor {
        match (&self.main, &self.auto) {
            (Some(main), _) => {
                let through = Choice::PRESETS.iter().rev().find_map(|preset| main.preset(*preset));
                through.map_or(main.first.predictor(), DecisionFocused::predictor).clone()
            }
            (None, Some(first)) => first.auto.predictor(),
            (None, None) => unreachable!("candidates begin where no first stage chooses"),
        }
    }

    /// The predictor that was chosen, beside that of two-stage training.
    pub fn finish(self) -> Selected {
        assert!(self.is_finished(), "training is not finished");
        let wanted = self.wanted();
        let verdict = self.verdict.expect("finished");
        let Candidates { first, presets, .. } = self.main.expect("finished");
        let two_stage = match &self.auto {
            Some(auto) => auto.auto.finish(),
            None => first.finish(),
        };
        let [weak, strong] = presets;
        let chosen = match wanted.first() {
            None | Some(Choice::TwoStage) => None,
            Some(Choice::Weak) => weak,
            Some(Choice::Strong) => strong,
        };
        let fitted = chosen.map_or_else(|| two_stage.clone(), DecisionFocused::finish);
        Selected { fitted, two_stage, verdict }
    }

    /// The state of training, to be saved.
    pub fn snapshot(&self) -> Snapshot {
        let mut all = Snapshot { numbers: vec![], counts: vec![] };
        if let Some(first) = &self.auto {
            all.extend("auto", first.auto.snapshot());
            let fits = first.again.iter().flat_map(|again| again.fits.iter().enumerate());
            for (b, fit) in fits {
                fit.iter().for_each(|fit| all.extend(&format!("again_{b}"), fit.snapshot()));
            }
        }
        self.main.iter().for_each(|main| main.save("main", &mut all));
        self.folds.iter().enumerate().for_each(|(k, fold)| fold.save(&format!("fold_{k}"), &mut all));
        all
    }

    /// Goes on where a snapshot of the same training left off.
    pub fn restore(&mut self, snapshot: &Snapshot) -> Result<()> {
        if let Some(first) = &mut self.auto {
            first.auto.restore(&snapshot.part("auto"))?;
            if !first.auto.is_finished() {
                return Ok(());
            }
            self.begin_candidates();
        } else if let Some(main) = &mut self.main {
            main.load("main", snapshot, &self.recipe)?;
        }
        for (k, fold) in self.folds.iter_mut().enumerate() {
            fold.load(&format!("fold_{k}"), snapshot, &self.recipe)?;
        }
        self.judge_if_done();
        if let Some(again) = self.again() {
            for (b, fit) in again.fits.iter_mut().enumerate() {
                let part = snapshot.part(&format!("again_{b}"));
                if let Some(fit) = fit.as_mut().filter(|_| !part.counts.is_empty()) {
                    fit.restore(&part)?;
                }
            }
            self.begin_preset();
            if let (Some(main), true) =
                (&mut self.main, self.auto.as_ref().is_some_and(|first| first.is_ready))
            {
                main.load("main", snapshot, &self.recipe)?;
            }
        }
        Ok(())
    }

    /// The presets to be trained on all instances.
    fn wanted(&self) -> Vec<Choice> {
        let choice = self.verdict.as_ref().map(|verdict| verdict.choice);
        choice.filter(|choice| *choice != Choice::TwoStage).into_iter().collect()
    }

    fn judge(&mut self) -> Verdict {
        let strength = self.main.as_mut().expect("begun").prior().strength;
        let recipe = &self.recipe;
        let folds: Vec<[f64; 3]> = self.folds.par_iter_mut().map(|fold| fold.values(recipe)).collect();
        let lead = |k: usize| {
            let leads: Vec<f64> = folds.iter().map(|values| values[k] - values[0]).collect();
            let (mean, variance) = moments(&leads);
            (mean, (variance / leads.len() as f64).sqrt())
        };
        let leads = (folds.len() > 1).then(|| [lead(1), lead(2)]);
        // more than a standard error, and more than rounding and the tolerance of thresholds could make
        let size = folds.iter().map(|values| values[0].abs()).fold(0.0, f64::max);
        let is_lead = |(mean, error): (f64, f64)| mean > error && mean > 1e-6 * size;
        let best = |leads: [(f64, f64); 2]| if leads[1].0 > leads[0].0 { 1 } else { 0 };
        let choice = match (recipe.choice, leads) {
            (Some(choice), _) => choice,
            (None, Some(leads)) if is_lead(leads[best(leads)]) => Choice::PRESETS[best(leads)],
            _ => Choice::TwoStage,
        };
        Verdict { choice, folds, leads, strength }
    }
}

/// Folds of the training instances; none where there are too few arms to compare on.
fn cut(train: &[Instance], seed: u64) -> Result<Vec<Vec<Group>>> {
    let whole = |(instance, arms): (usize, &Instance)| Group { instance, arms: (0..arms.arms()).collect() };
    let groups: Vec<Group> = train.iter().enumerate().map(whole).collect();
    let most = match train {
        [single] => single.arms() / Recipe::ARMS_PER_FOLD,
        several => several.len(),
    };
    match most.min(Recipe::FOLDS) {
        0 | 1 => Ok(vec![]),
        k => folds(&groups, k, seed),
    }
}
