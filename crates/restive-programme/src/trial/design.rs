//! How small an effect a trial would find, with the programme's own people, states, records and budget.
//!
//! Trials are [simulated](restive::trial::power()) whole: people move as the model says, lists take the K highest, and every estimator answers.
//! So the answer holds what a formula for two means does not: few are called, weeks of a person resemble each other, places are coupled by the
//! budget. What it takes on trust is the model; where calls do half of what the model says, half of its effect is there to be found, and the
//! table says how often that is. If the log does not identify the effect of calls, the answer says that this effect is an assumption.

use super::designed::{AtEffect, AtSize, Designed};
use super::pool::{ONE_BY_ONE, Pool, drawn_by, refused, shares, start, world};
use super::protocol::{MOST_WEEKS, Protocol};
use super::unit;
use crate::error::Result;
use crate::folder::Programme;
use crate::made::model_fingerprint;
use restive::trial::{Clusters, Design, Estimator, Group, Power, World, power};
use restive_pipeline::{Applied, Identification, Outlook, PlanAsked, Trained};
use restive_tables::{Contacts, Study, show};
use std::path::Path;

/// What is asked of a trial before it begins.
#[derive(Debug, Clone, PartialEq)]
pub struct DesignAsked {
    /// its name; absent: the first day of its first week
    pub id: Option<String>,
    /// how many lists it has
    pub weeks: usize,
    /// the share of the people in the group that lists are made of
    pub share: f64,
    /// Column of clusters, or an empty text to draw people one by one. Default: the clusters that the study declares, else people.
    pub by: Option<String>,
    /// columns of strata
    pub strata: Vec<String>,
    /// how much clusters differ, in log-odds
    pub cluster_sd: f64,
    /// simulated trials of each cell
    pub trials: usize,
    /// of the draw, and of all that is simulated
    pub seed: u64,
}

const SIZES: [f64; 4] = [0.25, 0.5, 0.75, 1.0];
const EFFECTS: [f64; 3] = [0.0, 0.5, 1.0];

/// What a trial is designed on.
struct On<'a> {
    study: &'a Study,
    contacts: Option<&'a Contacts>,
    outlook: &'a Outlook,
    identification: &'a Identification,
    /// the name of the trial where none is given
    id: String,
    noun: String,
    model: String,
}

impl Programme {
    /// What a trial of this programme's lists would find; `progress` is told how much of the simulation is done.
    pub fn design_trial(&self, asked: &DesignAsked, progress: impl FnMut(f64)) -> Result<Designed> {
        let rules = self.rules()?;
        let entry = self.model(None, &rules)?;
        let contacts = Contacts::read(&self.people())?;
        let on = self.materials(&PlanAsked::default(), rules, &entry, &contacts, None, String::new())?;
        let outlook = on.outlook()?;
        let on = On {
            study: &on.study,
            contacts: Some(&contacts),
            outlook: &outlook,
            identification: &on.trained.model.card.identification,
            id: on.when.first_day.to_string(),
            noun: on.when.noun.clone(),
            model: on.model_fingerprint.clone(),
        };
        on.design(asked, progress)
    }
}

/// The same from the folders of a model and a study.
pub fn design(
    model: &Path,
    study: &Path,
    asked: &DesignAsked,
    progress: impl FnMut(f64),
) -> Result<Designed> {
    let (trained, read) = (Trained::read(model)?, Study::read(study)?);
    let applied = Applied::new(&trained, &read, &show::path(model), &show::path(study))?;
    let outlook = applied.outlook(&PlanAsked::default())?;
    let on = On {
        study: &read,
        contacts: None,
        outlook: &outlook,
        identification: applied.identification(),
        id: "trial".into(),
        noun: "week".into(),
        model: model_fingerprint(model)?,
    };
    on.design(asked, progress)
}

impl On<'_> {
    fn design(&self, asked: &DesignAsked, mut progress: impl FnMut(f64)) -> Result<Designed> {
        if !(1..=MOST_WEEKS).contains(&asked.weeks) {
            return Err(refused(format!("weeks: found {}, expected 1 to {MOST_WEEKS}", asked.weeks)));
        }
        let pool = Pool::new(
            self.study,
            self.contacts,
            self.outlook,
            asked.weeks,
            drawn_by(self.study, asked.by.as_deref()),
            &asked.strata,
        )?;
        let groups = pool.draw(asked.share, asked.seed)?;
        let count = |group| groups.iter().filter(|one| **one == group).count();
        let groups = [count(Group::Policy), count(Group::Control)];
        let cluster = pool.cluster.as_deref().map(Pool::numbers);
        let clusters = cluster.as_ref().map(|of| of.iter().max().map_or(0, |last| last + 1));
        let strata = pool
            .stratum
            .as_deref()
            .map_or(1, |names| Pool::numbers(names).into_iter().max().map_or(1, |last| last + 1));
        let transition = self.outlook.transition.select_arms(&pool.people);
        let select = |table: &ndarray::Array2<f64>| table.select(ndarray::Axis(0), &pool.people);
        let (start, index) = (select(&start(self.outlook)), select(&self.outlook.score));
        let world = World {
            transition: &transition,
            start: start.view(),
            index: index.view(),
            ..world(self.outlook, start.view())
        };
        let design = |size: f64| -> Result<Design> {
            Ok(Design {
                weeks: asked.weeks,
                shares: shares(asked.share)?,
                budget: [self.outlook.budget, 0],
                missing: 0.0,
                clusters: cluster.clone().map(|of| Clusters { of, sd: asked.cluster_sd }),
                sizes: vec![size],
            })
        };
        let cells: Vec<(f64, f64)> = EFFECTS
            .iter()
            .map(|effect| (1.0, *effect))
            .chain(SIZES[..3].iter().map(|size| (*size, 1.0)))
            .collect();
        let mut found: Vec<Vec<Power>> = Vec::new();
        for (k, (size, effect)) in cells.iter().enumerate() {
            progress(k as f64 / cells.len() as f64);
            let answer = power(&world, &design(*size)?, &[*effect], asked.trials, asked.seed);
            found.push(answer.map_err(restive_pipeline::Error::from)?);
        }
        let at = |cell: usize, estimator: Estimator| &found[cell][estimator as usize];
        let estimators = Estimator::ALL.map(|estimator| {
            let whole = at(2, estimator);
            AtEffect {
                estimator,
                detectable: known(whole.detectable),
                detectable_per_person_called: whole.detectable_per_person_called.and_then(known),
                power: [0, 1, 2].map(|cell| known(at(cell, estimator).rejection.value)),
                answered: whole.answered,
                refused: whole.refused.map(|why| why.to_string()),
            }
        });
        // by the rules of this programme only the plain comparisons will answer
        let may = |estimator: Estimator| self.outlook.is_by_rank_alone || estimator >= Estimator::Lin;
        let stands = |estimator: &&Estimator| {
            may(**estimator)
                && (0..cells.len()).take(3).all(|cell| at(cell, **estimator).answered == asked.trials)
        };
        let primary = Estimator::ALL.iter().find(stands).copied().unwrap_or(Estimator::Difference);
        let size = |(size, cell): (f64, usize)| {
            let power = at(cell, primary);
            AtSize {
                size,
                people: (pool.people.len() as f64 * size).round() as usize,
                detectable: known(power.detectable),
                detectable_per_person_called: power.detectable_per_person_called.and_then(known),
                power: known(power.rejection.value),
            }
        };
        let sizes = SIZES.into_iter().zip([3, 4, 5, 2]).map(size).collect();
        let whole = at(2, primary);
        let called = known(whole.called).unwrap_or(0.0);
        let mut designed = Designed {
            people: pool.people.len(),
            groups,
            clusters,
            strata,
            budget: self.outlook.budget,
            noun: self.noun.clone(),
            called,
            would_be_called: called * groups[1] as f64 / groups[0] as f64,
            effects: self.identification.clone(),
            expected: whole.truth.value,
            estimators: estimators.into(),
            sizes,
            trials: asked.trials,
            protocol: Protocol {
                id: asked.id.clone().unwrap_or_else(|| self.id.clone()),
                weeks: asked.weeks,
                share: asked.share,
                by: self.written_by(asked),
                strata: asked.strata.clone(),
                primary,
                counts: unit(self.study),
                rewards: self.outlook.reward.clone(),
                detectable: known(at(2, primary).detectable),
                seed: asked.seed,
                model: self.model.clone(),
            },
            warnings: Vec::new(),
        };
        designed.warnings = designed.warnings(self.outlook, asked.cluster_sd);
        Ok(designed)
    }
}

impl On<'_> {
    /// Value of `by` in the plan: the column by which groups are drawn, or that people are drawn although clusters are declared.
    fn written_by(&self, asked: &DesignAsked) -> Option<String> {
        let declared = self.study.settings.cluster.as_ref();
        match drawn_by(self.study, asked.by.as_deref()) {
            Some(column) => Some(column.into()),
            None => declared.map(|_| ONE_BY_ONE.into()),
        }
    }
}

/// A figure that is there.
fn known(x: f64) -> Option<f64> {
    x.is_finite().then_some(x)
}
