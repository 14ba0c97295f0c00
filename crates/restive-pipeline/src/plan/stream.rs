//! A plan of a study that passes by: as many people as there are, in bounded memory.
//!
//! A [`Roll`] holds who there is and the log, a byte for each person and step; features stay in the file. Three passes make a plan, the same to
//! the last bit as of the study in memory:
//!
//! 1. those who stand for everybody (the smallest keys) are looked at for the prices of pulls to come;
//! 2. everybody passes by: scores, counts and sums, and who can still have a place;
//! 3. those on the list, and those who stand for all in the certificate, are looked at once more.

use super::finish::{Again, Drafted};
use super::gather::{Assessed, Gathered, counted};
use super::here::{Here, of_rows};
use super::outset::{Outset, Stage};
use super::{Plan, PlanAsked};
use crate::apply::check_states;
use crate::describe::seen;
use crate::error::{Error, Result, refuse};
use crate::model::Trained;
use crate::own_record::history;
use crate::passing::{ROWS, pass, usual};
use crate::prepare::{Alike, say_gaps, say_over_budget, say_unseen};
use ndarray::{Array2, Axis};
use rayon::prelude::*;
use restive::data::encoding::{EncodedColumn, Encoding, Gap, Unseen};
use restive::data::features::Features;
use restive::planning::SAMPLE;
use restive::{Layout, Transition};
use restive_tables::{Piece, Roll, arm_key, by_name};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashMap};

/// A study that passes by, seen through a model.
pub struct Passing<'a> {
    trained: &'a Trained,
    roll: &'a Roll,
    model_name: &'a str,
    study_name: &'a str,
}

/// Facts about the features, collected while the study is streamed.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct Notes {
    alike: Alike,
    /// Number of arms with each category that no training arm had, by column of the encoding.
    unseen: BTreeMap<usize, BTreeMap<String, usize>>,
    /// Number of arms without a value, by column of the encoding for which all training arms have a value.
    gaps: BTreeMap<usize, usize>,
}

impl Notes {
    /// Adds the people of a chunk.
    pub(super) fn add(&mut self, features: &Features, encoding: &Encoding) {
        self.alike.add(features, encoding);
        let place =
            |column: &str| encoding.columns.iter().position(|learnt| learnt.name == column).unwrap_or(0);
        for Unseen { column, category, arms } in encoding.unseen(features) {
            *self.unseen.entry(place(&column)).or_default().entry(category).or_default() += arms;
        }
        for Gap { column, arms, .. } in encoding.gaps(features) {
            *self.gaps.entry(place(&column)).or_default() += arms;
        }
    }

    /// Adds the facts about other people.
    pub(super) fn merge(&mut self, other: Self) {
        self.alike.merge(other.alike);
        for (column, categories) in other.unseen {
            let here = self.unseen.entry(column).or_default();
            categories.into_iter().for_each(|(name, arms)| *here.entry(name).or_default() += arms);
        }
        other.gaps.into_iter().for_each(|(column, arms)| *self.gaps.entry(column).or_default() += arms);
    }

    /// Warnings about the features, like those for a study in memory.
    pub(super) fn warnings(&self, encoding: &Encoding) -> Vec<String> {
        let gap = |(column, learnt): (usize, &EncodedColumn)| learnt.gap(*self.gaps.get(&column)?);
        let gaps: Vec<Gap> = encoding.columns.iter().enumerate().filter_map(gap).collect();
        let mut said = say_unseen(&self.unseen(encoding));
        said.extend(say_gaps(&gaps));
        said.extend(self.alike.warnings(encoding));
        said
    }

    /// Categories that no training arm had.
    fn unseen(&self, encoding: &Encoding) -> Vec<Unseen> {
        let of = |(column, categories): (&usize, &BTreeMap<String, usize>)| -> Vec<Unseen> {
            let Some(learnt) = encoding.columns.get(*column) else { return Vec::new() };
            let one = |(category, arms): (&String, &usize)| Unseen {
                column: learnt.name.clone(),
                category: category.clone(),
                arms: *arms,
            };
            categories.iter().map(one).collect()
        };
        self.unseen.iter().flat_map(of).collect()
    }
}

/// Somebody who stands for others: her position, where she stands if a plan can do something for her, how she moves.
type Sampled = (u32, Option<u16>, Vec<f64>);

impl<'a> Passing<'a> {
    /// Whether plans of a model can be made of people who pass by: its card must say what records are worth, or they must not count.
    pub fn can_plan(trained: &Trained, asked: &PlanAsked) -> bool {
        asked.history == Some(false) || trained.model.card.own_record.is_some()
    }

    /// The study seen through the model; their names are for messages.
    pub fn new(
        trained: &'a Trained,
        roll: &'a Roll,
        model_name: &'a str,
        study_name: &'a str,
    ) -> Result<Self> {
        check_states(trained, &roll.settings, model_name, study_name)?;
        Ok(Self { trained, roll, model_name, study_name })
    }

    /// Whom to pull next, and what should be known before that is trusted.
    pub fn plan(&self, asked: &PlanAsked) -> Result<(Plan, Vec<String>)> {
        let (roll, card) = (self.roll, &self.trained.model.card);
        asked.check()?;
        if !Self::can_plan(self.trained, asked) {
            refuse!("{}: found a card that says nothing of records, expected one that does", self.model_name);
        }
        if asked.trial.is_some() {
            refuse!("trial: found people who pass by, expected them in memory");
        }
        let instances: Vec<(&str, usize)> =
            roll.instances().iter().map(|k| (k.name.as_str(), k.planned_step())).collect();
        let settings = &roll.settings;
        let history = history(|| card.own_record.clone(), asked.history, settings)?;
        let mut outset = Outset::new(asked, settings, history, card, &instances)?;
        let mut stages = std::mem::take(&mut outset.stages);
        self.find_prices(&outset, &mut stages)?;
        let (gathered, rules, notes) = self.gather(&outset, &stages)?;
        let mut plan = Plan::new(&outset);
        for (stage, gathered) in stages.iter().zip(gathered) {
            let name = |place: u32| roll.name(place as usize);
            let drafted = Drafted::new(&outset, stage, gathered, &rules, name)?;
            let details = self.again(&outset, stage, &drafted.wanted())?;
            drafted.add_to(&mut plan, &outset, stage, &details);
        }
        plan.finish();
        Ok((plan, self.notes(notes)?))
    }

    /// The first pass.
    fn find_prices(&self, outset: &Outset<'_>, stages: &mut [Stage]) -> Result<()> {
        let roll = self.roll;
        let wanted: Vec<Vec<u32>> = stages.iter().map(|stage| self.sample(stage)).collect();
        let mut sampled: Vec<Vec<Sampled>> = vec![Vec::new(); stages.len()];
        let all: Vec<u32> = wanted.concat();
        for piece in roll.some(&all)? {
            let piece = piece?;
            let Some(k) = stages.iter().position(|stage| stage.instance == piece.instance) else { continue };
            let here = self.here(outset, &stages[k], &piece)?;
            let standing = counted(&here, &outset.candidates(&here)?);
            let rows = here.transition.view();
            let person = |i: usize| {
                let row = rows.index_axis(Axis(0), i).iter().copied().collect();
                (piece.positions[i], standing[i], row)
            };
            sampled[k].extend((0..here.len()).map(person));
        }
        for (stage, mut people) in stages.iter_mut().zip(sampled) {
            people.sort_by(|a, b| by_name(roll.name(a.0 as usize), roll.name(b.0 as usize)));
            let standing: Vec<Option<u16>> = people.iter().map(|(_, state, _)| *state).collect();
            let transition =
                of_rows(outset.settings.reward.states(), people.iter().map(|(.., row)| &row[..]))?;
            let all = roll.instances()[stage.instance].people;
            stage.price = Some(outset.price(stage, &transition, &standing, all));
        }
        Ok(())
    }

    /// Those who stand for everybody of an instance.
    fn sample(&self, stage: &Stage) -> Vec<u32> {
        let roll = self.roll;
        let people = roll.instances()[stage.instance].people;
        let is_one = |place: &u32| roll.instance_of(*place as usize) == stage.instance;
        let everybody = 0..roll.people() as u32;
        if people <= SAMPLE {
            return everybody.into_par_iter().filter(is_one).collect();
        }
        // a few more than needed have keys below this; in a case out of very many, fewer
        let share = (SAMPLE as f64 + 8.0 * (SAMPLE as f64).sqrt()) / people as f64;
        for below in [(share * 2f64.powi(64)) as u64, u64::MAX] {
            let keyed = everybody
                .clone()
                .into_par_iter()
                .filter(is_one)
                .map(|place| (arm_key(&stage.name, roll.name(place as usize)), place));
            let mut keyed: Vec<(u64, u32)> = keyed.filter(|(key, _)| *key <= below).collect();
            if keyed.len() > SAMPLE {
                keyed.select_nth_unstable(SAMPLE);
                keyed.truncate(SAMPLE);
                return keyed.into_iter().map(|(_, place)| place).collect();
            }
        }
        unreachable!("there are more people than stand for them")
    }

    /// The second pass: what is kept of every instance, the rules that keep people out, and what is learnt of the features.
    fn gather(&self, outset: &Outset<'_>, stages: &[Stage]) -> Result<(Vec<Gathered>, Vec<String>, Notes)> {
        let encoding = &self.trained.model.card.encoding;
        let mut all: Vec<Gathered> = stages.iter().map(|_| Gathered::new(outset)).collect();
        let (mut rules, mut notes) = (Vec::new(), Notes::default());
        let make = |piece: Piece| {
            let mut notes = Notes::default();
            notes.add(&piece.there.features, encoding);
            let Some(k) = stages.iter().position(|stage| stage.instance == piece.instance) else {
                return Ok((notes, None));
            };
            let here = self.here(outset, &stages[k], &piece)?;
            let candidates = outset.candidates(&here)?;
            let assessed = Assessed::new(outset, &stages[k], &here, candidates)?;
            let mut gathered = Gathered::new(outset);
            gathered.take(outset, &stages[k], &here, &assessed, &piece.positions)?;
            Ok((notes, Some((k, gathered.send(), assessed.candidates.rules))))
        };
        pass(self.roll.pieces(ROWS)?, usual(), make, |(more, gathered)| {
            notes.merge(more);
            if let Some((k, (sent, tally, smallest), words)) = gathered {
                all[k].receive(&outset.asked.rules, sent, tally, smallest, 0);
                rules = words;
            }
            Ok(())
        })?;
        Ok((all, rules, notes))
    }

    /// The third pass: some people of an instance once more, in this order.
    fn again(&self, outset: &Outset<'_>, stage: &Stage, places: &[u32]) -> Result<Again> {
        let mut wanted: HashMap<u32, Vec<usize>> = HashMap::new();
        places.iter().enumerate().for_each(|(at, place)| wanted.entry(*place).or_default().push(at));
        let n = places.len();
        let mut rows = vec![Vec::new(); n];
        let mut index: Vec<Vec<f64>> = vec![Vec::new(); n];
        let (mut recency, mut kept, mut state) =
            (vec![Default::default(); n], vec![Vec::new(); n], vec![None; n]);
        for piece in self.roll.some(places)? {
            let piece = piece?;
            let here = self.here(outset, stage, &piece)?;
            let assessed = Assessed::new(outset, stage, &here, outset.candidates(&here)?)?;
            for (i, place) in piece.positions.iter().enumerate() {
                for &at in &wanted[place] {
                    rows[at] = here.transition.view().index_axis(Axis(0), i).iter().copied().collect();
                    index[at] = assessed.index.as_ref().map_or(Vec::new(), |table| table.row(i).to_vec());
                    recency[at] = here.known.recency[i];
                    kept[at] = here.known.person(i).map_or(Vec::new(), |person| person.kept.clone());
                    state[at] = here.ranked[i];
                }
            }
        }
        let has_index = index.first().is_some_and(|row| !row.is_empty());
        let width = index.first().map_or(0, Vec::len);
        let index = has_index
            .then(|| Array2::from_shape_vec((n, width), index.concat()).expect("as long as each other"));
        let transition =
            of_rows(outset.settings.reward.states(), rows.iter().map(|row: &Vec<f64>| &row[..]))?;
        Ok(Again { transition, index, recency, kept, state, availability: None })
    }

    /// Some people as a plan knows them.
    fn here<'p>(&'p self, outset: &'p Outset<'_>, stage: &Stage, piece: &'p Piece) -> Result<Here<'p>> {
        let Self { trained, model_name, study_name, .. } = self;
        let misfit = || format!("{study_name} does not fit {model_name}");
        let features = piece.there.encode(&trained.model.card.encoding);
        let features = features.map_err(|error| Error::at(misfit())(error.into()))?;
        let prediction = Transition::new(trained.ensemble.predict(features.view()), Layout::Nsas)
            .map_err(|error| Error::at(*model_name)(error.into()))?;
        let observation = outset.settings.observation;
        Here::new(
            &piece.there,
            &prediction,
            &outset.rule,
            observation,
            outset.asked.people.as_ref(),
            stage.now,
        )
    }

    /// Warnings about the plan, like those for a study in memory.
    fn notes(&self, found: Notes) -> Result<Vec<String>> {
        let (roll, card) = (self.roll, &self.trained.model.card);
        let mut notes = Vec::new();
        if roll.fingerprint()? != card.fingerprint {
            notes.push("the model was trained on another study or another state of this one".into());
        }
        let (trained, here) = (card.configuration.observation, seen(&roll.settings));
        if trained != here {
            notes.push(format!("the model was trained with {trained} observation, the study has {here}"));
        }
        notes.extend(roll.over_budget().map(|over| say_over_budget(over, roll.settings.budget)));
        notes.extend(found.warnings(&card.encoding));
        Ok(notes)
    }
}
