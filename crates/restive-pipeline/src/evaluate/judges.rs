//! The judges: for every fold of people one who was fitted to all the others, and their world for simulations.
//!
//! A judge looks at all features, standardised, but for those that were left out of training. Where a log says little of an arm, the
//! world is the judge's; where it says much, the arm's own moves count beside it, as far as
//! [held-out moves](restive::evaluation::strength) say that they should.

use super::subjects::JudgedFold;
use crate::error::{Error, Result};
use crate::prepare;
use ndarray::{Array4, Axis};
use rayon::prelude::*;
use restive::data::encoding::Standardise;
use restive::data::split::Group;
use restive::evaluation::{Record, strength};
use restive::evidence::Judge;
use restive::{Instance, Layout, Transition};
use restive_tables::Study;

/// Judges, and people as they see them.
pub(crate) struct Judges {
    /// whole ones
    pub instances: Vec<Instance>,
    /// one for each fold
    pub judges: Vec<Judge>,
}

impl Judges {
    /// Fits a judge to everybody but the people of each fold; without the features of `drop`.
    pub(crate) fn fit(study: &Study, drop: &[String], folds: &[&[Group]]) -> Result<Self> {
        let encoding = prepare::encoding(study, &prepare::every_arm(study), Standardise::Yes, drop)?;
        let instances = study.instances(&encoding)?;
        let fit = |fold: &&[Group]| {
            let rest = (0..instances.len()).map(|k| {
                let is_judged = |arm: &usize| {
                    fold.iter().any(|group| group.instance == k && group.arms.binary_search(arm).is_ok())
                };
                (0..instances[k].arms()).filter(|arm| !is_judged(arm)).collect::<Vec<usize>>()
            });
            let rest: Vec<Vec<usize>> = rest.collect();
            let total = rest.iter().map(Vec::len).sum();
            let others = rest.iter().enumerate().filter(|(_, arms)| !arms.is_empty());
            // nobody is copied who would not be looked at
            let others: Vec<Instance> =
                others.map(|(k, arms)| instances[k].select_arms(&Judge::evenly(arms, total))).collect();
            Judge::fit(&others).map_err(|error| Error::at("the judge")(error.into()))
        };
        let judges = folds.par_iter().map(fit).collect::<Result<_>>()?;
        Ok(Self { instances, judges })
    }

    /// The world of a group: of its arms, those of fold k by judge k.
    pub(super) fn world<'a>(&'a self, whole: &Group, folds: &'a [JudgedFold]) -> JudgedWorld<'a> {
        let instance = &self.instances[whole.instance];
        let mut parts = Vec::new();
        for (fold, judge) in folds.iter().zip(&self.judges) {
            for group in fold.groups.iter().filter(|group| group.instance == whole.instance) {
                let places: Vec<usize> = group
                    .arms
                    .iter()
                    .map(|arm| whole.arms.binary_search(arm).expect("an arm of the group"))
                    .collect();
                parts.push(Seen { judge, people: instance.select_arms(&group.arms), places });
            }
        }
        let world =
            JudgedWorld { arms: whole.arms.len(), states: instance.states(), parts, strength: [0.0; 2] };
        let by_features = world.stitched(|seen| seen.judge.transition_by_features(&seen.people));
        let record = Record::new(&instance.select_arms(&whole.arms));
        let strength = strength(&[(&record, by_features.view())]).map(|strength| strength.value);
        JudgedWorld { strength, ..world }
    }
}

/// Some people and their judge.
struct Seen<'a> {
    judge: &'a Judge,
    people: Instance,
    places: Vec<usize>,
}

/// The transitions of a group of arms in the eyes of their judges.
pub(super) struct JudgedWorld<'a> {
    arms: usize,
    states: usize,
    parts: Vec<Seen<'a>>,
    /// how many logged moves they are worth, for each action
    pub strength: [f64; 2],
}

impl JudgedWorld<'_> {
    /// As the judges are.
    pub(super) fn transition(&self) -> Transition {
        self.stitched(|seen| seen.judge.transition(&seen.people))
    }

    /// As they might be.
    pub(super) fn drawn(&self, seed: u64) -> Transition {
        self.stitched(|seen| seen.judge.drawn(seed).transition(&seen.people))
    }

    fn stitched(&self, of: impl Fn(&Seen<'_>) -> Transition) -> Transition {
        let mut all = Array4::zeros((self.arms, self.states, 2, self.states));
        for seen in &self.parts {
            let own = of(seen);
            for (place, own) in seen.places.iter().zip(own.view().outer_iter()) {
                all.index_axis_mut(Axis(0), *place).assign(&own);
            }
        }
        Transition::new(all, Layout::Nsas).expect("rows of checked transitions")
    }
}
