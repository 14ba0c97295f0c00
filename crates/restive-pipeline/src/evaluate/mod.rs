//! What a model's policy is worth: first the evidence, then what it and others would bring, by every estimator that applies.
//!
//! | file | what happens there |
//! |---|---|
//! | `asked` | what may be asked for, with its defaults |
//! | `subjects` | who is judged, and what models that never saw them say of them |
//! | `evidence`, `answer` | the two questions that come first, and when there is no answer |
//! | `effort` | how much is drawn of few people, and of many |
//! | `judges` | models of moves, fitted to other people, for evidence and for simulations |
//! | `log` | the arms that judge, and how likely each logged action was |
//! | `policies` | what is judged |
//! | `about` | what the scores rest on, in words |
//! | `sentences` | the evidence in words, the same for every face |
//! | `compare` | which of several recipes |
//! | `evaluated` | the answer |

mod about;
mod answer;
mod asked;
mod compare;
mod effort;
mod evaluated;
mod evidence;
mod judges;
mod log;
mod policies;
mod sentences;
mod subjects;

pub use answer::{Decile, EvidenceAnswer, Interval, Outcome, PolicyGain, RecordedAnswer};
pub use asked::{EstimatorsName, EvaluateAsked, JudgedPart, RatioName, StartName};
pub use compare::{Compared, ComparedRecipe, compare};
pub use evaluated::{AboutEstimator, AboutEvaluation, Evaluated, EvaluatedQuantity};
pub use evidence::evidence_of_scores;
pub use sentences::signed;

use crate::apply::Applied;
use crate::cross_fit::FoldProgress;
use crate::error::Error;
use crate::identification;
use crate::loss::loss;
use crate::message::{Message, Opt, message};
use crate::recipe::{recipe_key, recipe_words};
use about::{is_labelled, judges_by, logged_decisions, notes, warnings};
use answer::Given;
use effort::Effort;
use evidence::{Gathered, are_alike};
use judges::JudgedWorld;
use log::Source;
use ndarray::Array3;
use restive::data::split::Group;
use restive::evaluation::{
    Behaviour, Case, Estimator, Evaluation, EvaluationSettings, Foreseen, Hindrance, RatioUpTo, Score, Start,
    evaluate,
};
use restive::instance::Assignment;
use restive::{Instance, Transition};
use restive_tables::Looks;
use subjects::Subjects;

impl Applied<'_> {
    /// Judges the model's policy and others. `looks`, where they are counted, hear of it; `visit` hears of the models of folds on their
    /// way, and may end it by an error of his own.
    pub fn evaluate<E: From<Error>>(
        &self,
        asked: &EvaluateAsked,
        looks: Option<&mut Looks>,
        visit: impl FnMut(FoldProgress) -> std::result::Result<(), E>,
    ) -> std::result::Result<Evaluated, E> {
        asked.check()?;
        if asked.estimators == EstimatorsName::Published {
            if asked.part() == JudgedPart::Folds {
                let why = " folds: the published estimators judge the model as it is; it needs ";
                return Err(Error::Asked(message!(Opt("part"), why, Opt("part"), " test")).into());
            }
            if self.is_per_person() {
                let why = " published: found assignment = \"per-person\" in study.toml, expected pulls that are assigned at every decision, as \
                           these estimators take them; ";
                return Err(
                    Error::Data(message!(Opt("estimators"), why, Opt("estimators"), " judged")).into()
                );
            }
            return Ok(self.values(asked, &Subjects::as_it_is(self, asked)?, None)?);
        }
        // without evidence there is no world to simulate in either
        if let Some(refused) = self.whom_it_knows(asked.part()) {
            return Ok(self.unsimulated(asked, refused)?);
        }
        let drop = &self.card.configuration.drop;
        let design = match identification::check(self.study, drop, asked.behaviour)? {
            Ok(design) => design,
            Err(refusal) => return Ok(self.unsimulated(asked, refusal.into())?),
        };
        let subjects = Subjects::new(self, asked, visit)?;
        let folds: Vec<&[Group]> = subjects.folds.iter().map(|fold| fold.groups.as_slice()).collect();
        let gathered = Gathered::new(self.study, drop, &folds, design, asked.seed)?;
        let evidence = &gathered.evidence;
        let tables: Vec<Array3<f64>> =
            subjects.folds.iter().flat_map(|fold| fold.ranked.iter().cloned()).collect();
        let ranking = evidence.ranking(&tables).map_err(Error::from)?;
        if let Some(refusal) = gathered.refusal(&ranking) {
            let found = refusal.identification();
            let mut evaluated = self.unsimulated(asked, refusal.into())?;
            evaluated.refusal = asked.behaviour.is_none().then_some(found);
            return Ok(evaluated);
        }
        let key = recipe_key(self.card)?;
        let looks = looks.map(|looks| looks.look(&key, &subjects.people, &recipe_words(self.card)));
        let given = Given {
            unit: self.study.settings.unit.clone(),
            folds: (asked.part() == JudgedPart::Folds).then_some(subjects.folds.len()),
            looks,
            deals: asked.dealt(evidence.people(), evidence.calls()),
            ranks_alike: are_alike(&tables),
        };
        let mut answer = gathered.answer(&ranking, given);
        let effects = subjects.effects(self);
        answer.effects_alike = are_alike(&effects);
        if !answer.effects_alike {
            answer.calibration = Some(evidence.calibration(&effects).map_err(Error::from)?.into());
            let myopic = evidence.ranking(&effects).map_err(Error::from)?.plan.times(gathered.per_hundred);
            answer.policies.push(PolicyGain::measured("myopic", myopic.into()));
        }
        if self.is_per_person() {
            let mut evaluated = self.unsimulated(asked, Outcome::Answer(Box::new(answer)))?;
            let note = "pulls are assigned once per person and last, but simulated policies choose at every decision: their gains are not \
                        stated";
            evaluated.about.notes.push(note.into());
            return Ok(evaluated);
        }
        let mut evaluated = self.values(asked, &subjects, Some(&gathered))?;
        let simulated = ["least-engaged", "round-robin", "no-action"];
        let per_hundred = 100.0 / evaluated.about.arms as f64 * evaluated.about.instances as f64;
        for policy in simulated {
            let found =
                evaluated.by_estimator(Estimator::Fluid).into_iter().find(|(name, _)| *name == policy);
            let Some(gain) = found.and_then(|(_, score)| score.gain_over_random) else { continue };
            answer.policies.push(PolicyGain::simulated(policy, Interval::from(gain).times(per_hundred)));
        }
        evaluated.evidence = Some(Outcome::Answer(Box::new(answer)));
        Ok(evaluated)
    }

    /// Why the model cannot be judged on these people, if it cannot: it may have learnt from them.
    fn whom_it_knows(&self, part: JudgedPart) -> Option<Outcome> {
        let retrain = || {
            message!(
                Opt("part"),
                " folds trains the recipe anew without those whom it is judged on; ",
                Opt("part"),
                " test judges this model on people it never saw"
            )
        };
        match part {
            JudgedPart::Folds => None,
            JudgedPart::Train => Some(Outcome::refused("the model was learnt from these people", retrain())),
            JudgedPart::All if self.is_trained_on => {
                Some(Outcome::refused("the model was learnt from some of these people", retrain()))
            }
            // another study: that none of its people was learnt from is said as an assumption
            JudgedPart::All => None,
            JudgedPart::Test | JudgedPart::Validation => {
                let is_known = self.is_trained_on || self.study.given_split().is_some();
                (!is_known).then(|| {
                    Outcome::refused(
                        "the study is another, or has changed since the model was trained, and does not say who was learnt from",
                        message!(
                            Opt("part"),
                            " folds trains the recipe anew; or let a column split in the table of arms say who was held out"
                        ),
                    )
                })
            }
        }
    }

    /// Whether pulls are assigned per person, as the study declares.
    fn is_per_person(&self) -> bool {
        self.study.settings.assignment == Assignment::PerPerson
    }

    /// An outcome with the loss, without simulations.
    fn unsimulated(&self, asked: &EvaluateAsked, outcome: Outcome) -> crate::Result<Evaluated> {
        let groups = self.groups(asked.part())?;
        let judged = self.select(&groups);
        let predictions: Vec<Transition> = groups.iter().map(|group| self.prediction(group)).collect();
        let views: Vec<_> = predictions.iter().map(Transition::view).collect();
        let source = Source::new(self, asked.behaviour)?;
        let settings = self.settings(asked, None, &judged);
        let mut about = self.about(asked, source, &settings, &judged, None);
        about.notes = notes(self, asked, source, &groups, &judged, 0);
        Ok(Evaluated {
            evidence: Some(outcome),
            refusal: None,
            policies: Vec::new(),
            loss: loss(&judged, &views),
            uninformed_loss: (judged[0].states() as f64).ln(),
            is_labelled: is_labelled(&judged),
            about,
        })
    }

    /// What policies are worth, by every estimator that applies; simulated in the world of judges, or as published.
    fn values(
        &self,
        asked: &EvaluateAsked,
        subjects: &Subjects,
        gathered: Option<&Gathered>,
    ) -> crate::Result<Evaluated> {
        let Subjects { groups, predictions, .. } = subjects;
        let source = Source::new(self, asked.behaviour)?;
        let is_weighed = gathered.is_none();
        let weighed = match is_weighed {
            true => self.with_propensities(groups, source.behaviour)?,
            false => Some(self.select(groups)),
        };
        let hindrance = weighed.is_none().then_some(Hindrance::Impossible);
        let judged = weighed.unwrap_or_else(|| self.select(groups));
        let has_truth = judged.iter().all(|instance| instance.truth().is_some());
        let behaviour =
            source.behaviour.filter(|_| is_weighed && hindrance.is_none()).map(|_| Behaviour::Logged);
        let settings = self.settings(asked, behaviour, &judged);
        let index = self.index(asked.index_discount);
        let worlds: Vec<JudgedWorld<'_>> = gathered.map_or(Vec::new(), |gathered| {
            groups.iter().map(|group| gathered.judges.world(group, &subjects.folds)).collect()
        });
        let foreseen: Vec<Transition> = worlds.iter().map(JudgedWorld::transition).collect();
        let draws: Vec<_> = worlds.iter().map(|world| |seed: u64| world.drawn(seed)).collect();
        let (mut cases, mut not_indexable) = (Vec::new(), 0);
        for (k, (instance, prediction)) in judged.iter().zip(predictions).enumerate() {
            let truth = instance.truth().filter(|_| has_truth);
            let (policies, not) = policies::policies(
                instance,
                prediction,
                truth,
                index,
                is_weighed.then_some(asked.temperature),
                settings.horizon,
                settings.start,
            )?;
            not_indexable += not;
            let prediction = worlds.get(k).map(|world| Foreseen {
                transition: &foreseen[k],
                strength: world.strength,
                drawn: Some(&draws[k]),
            });
            cases.push(Case { instance, policies, prediction });
        }
        let evaluation =
            evaluate(&cases, &settings).map_err(|error| Error::at(self.study_name.as_str())(error.into()))?;
        let hindrance = hindrance.or(evaluation.evidence.hindrance);
        let views: Vec<_> = predictions.iter().map(Transition::view).collect();
        let mut about = self.about(asked, source, &settings, &judged, Some(&evaluation));
        about.warnings = warnings(&evaluation, source, hindrance, &judged, is_weighed);
        about.notes = notes(self, asked, source, groups, &judged, not_indexable);
        about.notes.extend(asked.spared(about.arms).map(Message::from));
        Ok(Evaluated {
            evidence: None,
            refusal: None,
            loss: loss(&judged, &views),
            uninformed_loss: (judged[0].states() as f64).ln(),
            is_labelled: is_labelled(&judged),
            policies: evaluation.policies,
            about,
        })
    }

    fn settings(
        &self,
        asked: &EvaluateAsked,
        behaviour: Option<Behaviour>,
        judged: &[Instance],
    ) -> EvaluationSettings {
        let Effort { runs, resamples, ends } = asked.effort(judged.iter().map(Instance::arms).sum());
        EvaluationSettings {
            behaviour,
            ratio_up_to: match asked.ratio {
                RatioName::ThisStep => RatioUpTo::ThisStep,
                RatioName::PreviousStep => RatioUpTo::PreviousStep,
            },
            start: match asked.start() {
                StartName::Today => Start::Latest,
                StartName::First => Start::First,
            },
            runs,
            // the noise of few runs is taken off again; worlds are drawn anew in every resample, which matters more
            runs_per_resample: match asked.estimators {
                EstimatorsName::Judged => 2,
                EstimatorsName::Published => 20,
            },
            resamples,
            ends,
            seed: asked.seed,
            ..EvaluationSettings::new(self.study.settings.horizon)
        }
    }

    /// What the numbers rest on; warnings and notes are still to be said.
    fn about(
        &self,
        asked: &EvaluateAsked,
        source: Source,
        settings: &EvaluationSettings,
        judged: &[Instance],
        evaluation: Option<&Evaluation>,
    ) -> AboutEvaluation {
        AboutEvaluation {
            judged_by: asked.estimators.name(),
            start: asked.start().name(),
            part: asked.part().name(),
            instances: judged.len(),
            arms: judged.iter().map(Instance::arms).sum(),
            budget: budgets(judged),
            discount: judged[0].discount(),
            index_discount: self.index(asked.index_discount).discount(),
            temperature: asked.temperature.to_string(),
            horizon: settings.horizon,
            logged_decisions: logged_decisions(judged),
            runs: settings.runs,
            resamples: settings.resamples,
            seed: settings.seed,
            ratio: asked.ratio.name(),
            propensities: source.words(),
            assumptions: source.assumptions(),
            estimators: evaluation.map_or_else(Default::default, |found| estimators(found, asked.estimators)),
            warnings: Vec::new(),
            notes: Vec::new(),
        }
    }
}

/// The smallest and the largest budget of an instance.
fn budgets(judged: &[Instance]) -> [usize; 2] {
    let budgets = judged.iter().map(Instance::budget);
    [budgets.clone().min().unwrap_or(0), budgets.max().unwrap_or(0)]
}

/// What the numbers of each estimator rest on.
fn estimators(
    evaluation: &Evaluation,
    name: EstimatorsName,
) -> std::collections::BTreeMap<&'static str, AboutEstimator> {
    let about = |score: &Score| AboutEstimator {
        judges_by: judges_by(score.estimator, name),
        intervals_cover: score.value.covers.words(),
    };
    let scores = evaluation.policies.iter().flat_map(|(_, scores)| scores);
    scores.map(|score| (score.estimator.name(), about(score))).collect()
}
