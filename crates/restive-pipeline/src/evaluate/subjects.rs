//! Who is judged, and what models that never saw them say of them.
//!
//! **Folds**: everybody, each by a model of the same recipe that was trained without them; what is judged is the recipe. **Test,
//! validation**: some people by the model as it is, which did not learn from them (it may have been chosen by the latter).

use super::asked::{EstimatorsName, EvaluateAsked, JudgedPart};
use crate::apply::Applied;
use crate::cross_fit::{FoldProgress, cross_fit};
use crate::error::Error;
use crate::plan::PlanAsked;
use ndarray::{Array3, Array4};
use restive::data::split::{Group, Part};
use restive::{Layout, Transition};
use restive_tables::{People, Study};

/// Those who are judged.
pub(super) struct Subjects {
    /// by the model that judges them
    pub folds: Vec<JudgedFold>,
    /// for the count of looks
    pub people: People,
    /// the instances of simulations: whole ones, or parts
    pub groups: Vec<Group>,
    /// of each of these groups
    pub predictions: Vec<Transition>,
}

/// People who are ranked by one model.
pub(super) struct JudgedFold {
    /// by instance
    pub groups: Vec<Group>,
    /// what a plan would rank them by, `[1 or D,n,M]` for each group
    pub ranked: Vec<Array3<f64>>,
    /// of each group
    pub predictions: Vec<Transition>,
}

impl JudgedFold {
    /// The folds of people, each by a model of the recipe that was trained without them.
    pub(super) fn all<E: From<Error>>(
        applied: &Applied<'_>,
        people: &[Group],
        asked: &EvaluateAsked,
        visit: impl FnMut(FoldProgress) -> Result<(), E>,
    ) -> Result<Vec<Self>, E> {
        let models = cross_fit(applied.card, applied.study, people, asked.folds, asked.seed, None, visit)?;
        let mut folds = Vec::with_capacity(models.len());
        for (k, model) in models.into_iter().enumerate() {
            let name = format!("the model without fold {}", k + 1);
            let there = Applied::new(&model.trained, applied.study, &name, &applied.study_name)?;
            folds.push(Self::new(&there, model.judged, asked)?);
        }
        Ok(folds)
    }

    pub(super) fn new(
        applied: &Applied<'_>,
        groups: Vec<Group>,
        asked: &EvaluateAsked,
    ) -> Result<Self, Error> {
        let plan = PlanAsked { index_discount: asked.index_discount, ..PlanAsked::default() };
        let ranked = groups.iter().map(|group| applied.ranked(group, &plan)).collect::<Result<_, _>>()?;
        let predictions = groups.iter().map(|group| applied.prediction(group)).collect();
        Ok(Self { groups, ranked, predictions })
    }
}

impl Subjects {
    pub(super) fn new<E: From<Error>>(
        applied: &Applied<'_>,
        asked: &EvaluateAsked,
        visit: impl FnMut(FoldProgress) -> Result<(), E>,
    ) -> Result<Self, E> {
        if asked.part() != JudgedPart::Folds {
            return Ok(Self::as_it_is(applied, asked)?);
        }
        let groups = applied.groups(asked.part())?;
        let folds = JudgedFold::all(applied, &groups, asked, visit)?;
        let predictions = groups.iter().map(|group| stitched(group, &folds)).collect();
        Ok(Self { folds, people: People::all(), groups, predictions })
    }

    /// A part, by the model as it is.
    pub(super) fn as_it_is(applied: &Applied<'_>, asked: &EvaluateAsked) -> Result<Self, Error> {
        let part = asked.part();
        let groups = applied.groups(part)?;
        let predictions = groups.iter().map(|group| applied.prediction(group)).collect();
        let folds = match asked.estimators {
            EstimatorsName::Judged => vec![JudgedFold::new(applied, groups.clone(), asked)?],
            EstimatorsName::Published => Vec::new(),
        };
        Ok(Self { folds, people: people(applied, part), groups, predictions })
    }

    /// What a pull is predicted to add to the next reward, `[1,n,M]` for each group of the folds.
    pub(super) fn effects(&self, applied: &Applied<'_>) -> Vec<Array3<f64>> {
        let reward = applied.study.settings.reward.view();
        let effect = |prediction: &Transition| {
            let p = prediction.view();
            let (n, m, _, _) = p.dim();
            Array3::from_shape_fn((1, n, m), |(_, i, s)| {
                (0..m).map(|next| (p[[i, s, 1, next]] - p[[i, s, 0, next]]) * reward[[next, 0]]).sum()
            })
        };
        self.folds.iter().flat_map(|fold| fold.predictions.iter().map(effect)).collect()
    }
}

/// The predictions of a whole instance, each arm's by the model that never saw it.
fn stitched(whole: &Group, folds: &[JudgedFold]) -> Transition {
    let states = folds[0].predictions[0].states();
    let mut all = Array4::zeros((whole.arms.len(), states, 2, states));
    for fold in folds {
        for (group, own) in fold.groups.iter().zip(&fold.predictions) {
            for (arm, own) in
                group.arms.iter().zip(own.view().outer_iter()).filter(|_| group.instance == whole.instance)
            {
                all.index_axis_mut(ndarray::Axis(0), *arm).assign(&own);
            }
        }
    }
    Transition::new(all, Layout::Nsas).expect("rows of checked predictions")
}

/// Who a part is, for the count of looks.
fn people(applied: &Applied<'_>, part: JudgedPart) -> People {
    let of = |part: Part| people_of(applied.study, applied.card.seed, &[part]);
    match part {
        JudgedPart::Folds | JudgedPart::All => People::all(),
        JudgedPart::Test => of(Part::Test),
        JudgedPart::Validation => of(Part::Validation),
        JudgedPart::Train => of(Part::Train),
    }
}

/// The people of some parts of the split that the study gives, or that a seed draws.
pub(super) fn people_of(study: &Study, seed: u64, parts: &[Part]) -> People {
    match study.given_split() {
        Some(_) => People::of("given", parts),
        None => People::of(&format!("seed {seed}"), parts),
    }
}
