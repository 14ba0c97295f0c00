//! Which of several recipes: each is trained anew in the same folds of people, and all are held against each other on the same log.
//!
//! People are those of the training and validation parts, so that the test people are still unseen when the choice is made. Two
//! rankings differ by the difference of their plans, whose noise is mostly shared; where recipes are many, the largest difference
//! is large by chance, and p-values are corrected by Holm's rule. Recipes that chance alone could have put in this order are said to
//! be so.

use super::answer::{Interval, Outcome};
use super::asked::EvaluateAsked;
use super::evidence::Gathered;
use super::subjects::{JudgedFold, people_of};
use crate::apply::Applied;
use crate::cross_fit::FoldProgress;
use crate::error::Error;
use crate::identification::{self, Identification};
use crate::prepare;
use crate::recipe::{recipe_key, recipe_words};
use ndarray::Array3;
use restive::data::split::{Group, Part};
use restive::evidence::Ranking;
use restive::statistics::{holm, normal_tail};
use restive_tables::Looks;
use serde::Serialize;

/// One recipe among others.
#[derive(Debug, Serialize)]
pub struct ComparedRecipe {
    /// the folder or name of its model
    pub model: String,
    /// in a few words
    pub recipe: String,
    /// of its plan over random pulls, per 100 people
    pub gain: Interval,
    /// one-sided, that chance makes as large a slope
    pub p: f64,
    /// what the first brings more, per 100 people; none of the first itself
    #[serde(skip_serializing_if = "Option::is_none")]
    pub behind: Option<Interval>,
    /// two-sided, that the difference is chance, for all pairs with the first (Holm)
    #[serde(skip_serializing_if = "Option::is_none")]
    pub p_behind: Option<f64>,
}

/// Recipes in the order of their gains, or why there is no order.
#[derive(Debug, Serialize)]
pub struct Compared {
    /// best first; empty where there is no answer
    pub recipes: Vec<ComparedRecipe>,
    /// why there is no answer
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refused: Option<Outcome>,
    /// Refusals by the position of the model, as in [`Evaluated::refusal`](super::Evaluated::refusal).
    #[serde(skip)]
    pub refusals: Vec<(usize, Identification)>,
    /// what a reward of 1 is called
    pub unit: Option<String>,
    /// decisions of a programme
    pub horizon: usize,
    /// who were judged
    pub people: usize,
    /// of them
    pub folds: usize,
    /// pulls that the answers rest on
    pub calls: usize,
    /// recipes that were judged on these people so far, these included; none: not counted
    pub looks: Option<usize>,
}

impl Compared {
    /// Whether the first is told apart from all others.
    pub fn is_decided(&self) -> bool {
        self.recipes.len() > 1
            && self.recipes.iter().skip(1).all(|recipe| recipe.p_behind.is_some_and(|p| p < 0.05))
    }
}

/// Holds the recipes of models against each other on the folds of a study's training and validation people; `models` are of the same
/// study.
pub fn compare<E: From<Error>>(
    models: &[(String, Applied<'_>)],
    asked: &EvaluateAsked,
    mut looks: Option<&mut Looks>,
    mut visit: impl FnMut(&str, FoldProgress) -> std::result::Result<(), E>,
) -> std::result::Result<Compared, E> {
    asked.check()?;
    let study = models[0].1.study;
    let split = prepare::given_or_seeded(study, asked.seed).map_err(Error::from)?;
    let people: Vec<Group> =
        split.part(Part::Train).iter().chain(split.part(Part::Validation)).cloned().collect();
    let mut compared = Compared {
        recipes: Vec::new(),
        refused: None,
        refusals: Vec::new(),
        unit: study.settings.unit.clone(),
        horizon: study.settings.horizon,
        people: 0,
        folds: asked.folds,
        calls: 0,
        looks: None,
    };
    // what one recipe leaves out may not be left to a judge of all
    let drop: Vec<String> =
        models.iter().flat_map(|(_, applied)| applied.card.configuration.drop.iter().cloned()).collect();
    let design = match identification::check(study, &drop, asked.behaviour)? {
        Ok(design) => design,
        Err(refusal) => return Ok(Compared { refused: Some(refusal.into()), ..compared }),
    };
    let mut all: Vec<Vec<Array3<f64>>> = Vec::new();
    let mut judged: Vec<Vec<Group>> = Vec::new();
    for (k, (name, applied)) in models.iter().enumerate() {
        let share = |within: f64| (k as f64 + within) / models.len() as f64;
        let folds = JudgedFold::all(applied, &people, asked, |progress| {
            visit(name, FoldProgress { share: share(progress.share), ..progress })
        })?;
        // the same folds for every recipe
        judged = folds.iter().map(|fold| fold.groups.clone()).collect();
        all.push(folds.into_iter().flat_map(|fold| fold.ranked).collect());
    }
    let folds: Vec<&[Group]> = judged.iter().map(Vec::as_slice).collect();
    let gathered = Gathered::new(study, &drop, &folds, design, asked.seed)?;
    let evidence = &gathered.evidence;
    compared.people = evidence.people();
    compared.calls = evidence.calls();
    let rankings: Vec<Ranking> =
        all.iter().map(|tables| evidence.ranking(tables)).collect::<Result<_, _>>().map_err(Error::from)?;
    let refusals =
        rankings.iter().enumerate().filter_map(|(k, ranking)| Some((k, gathered.refusal(ranking)?)));
    let refusals: Vec<_> = refusals.collect();
    if let Some((_, refusal)) = refusals.first() {
        let is_declared = asked.behaviour.is_none();
        compared.refused = Some(refusal.clone().into());
        compared.refusals.extend(
            refusals.iter().filter(|_| is_declared).map(|(k, refusal)| (*k, refusal.identification())),
        );
        return Ok(compared);
    }
    let whom = people_of(study, asked.seed, &[Part::Train, Part::Validation]);
    for (_, applied) in models {
        if let Some(looks) = &mut looks {
            let key = recipe_key(applied.card)?;
            compared.looks = Some(looks.look(&key, &whom, &recipe_words(applied.card)));
        }
    }
    let mut order: Vec<usize> = (0..models.len()).collect();
    order.sort_by(|a, b| rankings[*b].plan.value.total_cmp(&rankings[*a].plan.value));
    let best = &rankings[order[0]];
    let differences: Vec<_> = order[1..].iter().map(|k| best.less(&rankings[*k])).collect();
    let two_sided = |gain: &restive::evidence::Gain| match gain.error > 0.0 {
        true => 2.0 * normal_tail((gain.value / gain.error).abs()),
        false => 1.0,
    };
    let corrected = holm(&differences.iter().map(two_sided).collect::<Vec<_>>());
    for (rank, k) in order.iter().enumerate() {
        let (name, applied) = &models[*k];
        let behind = rank.checked_sub(1).map(|at| differences[at].times(gathered.per_hundred).into());
        compared.recipes.push(ComparedRecipe {
            model: name.clone(),
            recipe: recipe_words(applied.card),
            gain: rankings[*k].plan.times(gathered.per_hundred).into(),
            p: rankings[*k].p,
            behind,
            p_behind: rank.checked_sub(1).map(|at| corrected[at]),
        });
    }
    Ok(compared)
}
