//! All that a worker needs to answer for a partition, as plain bytes.

use super::super::asked::{PlanAsked, PolicyName};
use super::super::here::Here;
use super::super::outset::Outset;
use crate::apply::check_states;
use crate::error::{Error, Result, refuse};
use crate::model::Trained;
use crate::own_record::history;
use crate::passing::refuse_unsupported;
use crate::rules::Rules;
use arrow_array::RecordBatch;
use ndarray::Array2;
use restive::bytes::{Reader, Writer};
use restive::instance::Observation;
use restive::{Layout, Transition};
use restive_tables::model::Model;
use restive_tables::{PeopleColumns, PeoplePiece, StudySettings};
use serde::{Deserialize, Serialize};
use std::path::Path;

const NAME: &str = "plan job 1";
/// What messages call the settings, the model and the table.
const SETTINGS: &str = "study.toml";
const MODEL: &str = "the model";
const PEOPLE: &str = "the people";

/// A plan to be made of partitions.
#[derive(Clone)]
pub struct PlanJob {
    pub(crate) trained: Trained,
    pub(crate) settings: StudySettings,
    settings_text: String,
    pub(crate) asked: PlanAsked,
    /// the step that is planned, as column t counts from 0
    pub(super) step: usize,
    /// once they are known
    pub(super) priced: Option<Vec<Priced>>,
    /// what is read of a table
    features: Vec<String>,
    beside: Vec<String>,
}

/// An instance whose pulls have their prices.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Priced {
    pub(super) name: String,
    /// how many people there were
    pub(super) people: u64,
    pub(super) price: Vec<f64>,
}

/// What is asked for, as it travels.
#[derive(Serialize, Deserialize)]
struct Written {
    budget: Option<usize>,
    policy: Option<String>,
    remaining: Option<usize>,
    only_beneficial: bool,
    history: Option<bool>,
    index_discount: Option<f64>,
    instance: Option<String>,
    seed: u64,
    explore: Option<f64>,
    period: Option<String>,
    rules_path: String,
    rules: String,
    step: usize,
    priced: Option<Vec<Priced>>,
}

impl PlanJob {
    /// Of a model and the text of a study.toml; `step` is the one that is planned, as column t of the log counts from 0.
    pub fn new(trained: Trained, settings: &str, asked: PlanAsked, step: usize) -> Result<Self> {
        asked.check()?;
        let settings_text = settings.to_string();
        let settings = StudySettings::from_text(Path::new(SETTINGS), settings)?;
        if settings.observation != Observation::Full {
            refuse!(
                "study.toml: found states that are seen at pulls only, expected states seen at every step: a table of people has no labels"
            );
        }
        refuse_unsupported(&settings)?;
        if asked.people.is_some() || asked.trial.is_some() {
            refuse!(
                "plan: found a table of contacts or a trial, expected neither: columns of the people say who may be called"
            );
        }
        check_states(&trained, &settings, MODEL, PEOPLE)?;
        let card = &trained.model.card;
        let features = card.encoding.columns.iter().map(|column| column.name.clone()).collect();
        let beside = asked.rules.columns().into_iter().map(String::from).collect();
        let job = Self { trained, settings, settings_text, asked, step, priced: None, features, beside };
        job.outset(&job.asked.instance.iter().map(String::as_str).collect::<Vec<_>>())?;
        Ok(job)
    }

    /// As bytes, to be sent to partitions.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        let asked = &self.asked;
        let written = Written {
            budget: asked.budget,
            policy: asked.policy.map(|policy| policy.name().into()),
            remaining: asked.remaining,
            only_beneficial: asked.only_beneficial,
            history: asked.history,
            index_discount: asked.index_discount,
            instance: asked.instance.clone(),
            seed: asked.seed,
            explore: asked.explore,
            period: asked.period.clone(),
            rules_path: asked.rules.path().display().to_string(),
            rules: asked.rules.text.clone(),
            step: self.step,
            priced: self.priced.clone(),
        };
        let mut writer = Writer::new(NAME);
        writer.text(&self.settings_text);
        writer.text(&serde_json::to_string(&written).expect("plain values"));
        writer.bytes(&self.trained.model.to_bytes(Path::new(MODEL))?);
        Ok(writer.finish())
    }

    /// And back.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        let mut reader = Reader::new(NAME, bytes)?;
        let (settings, written) = (reader.text()?, reader.text()?);
        let model = Model::from_bytes(Path::new(MODEL), reader.bytes()?)?;
        let written: Written = serde_json::from_str(&written).map_err(|_| reader.refuse("other words"))?;
        reader.finish()?;
        let policy = |name: String| name.parse::<PolicyName>().map_err(|found| Error::Data(found.into()));
        let rules = match written.rules.is_empty() {
            true => Rules::default(),
            false => Rules::parse(Path::new(&written.rules_path), &written.rules)?,
        };
        let asked = PlanAsked {
            budget: written.budget,
            policy: written.policy.map(policy).transpose()?,
            remaining: written.remaining,
            only_beneficial: written.only_beneficial,
            history: written.history,
            index_discount: written.index_discount,
            instance: written.instance,
            seed: written.seed,
            explore: written.explore,
            period: written.period,
            rules,
            ..PlanAsked::default()
        };
        let mut job = Self::new(Trained::new(model)?, &settings, asked, written.step)?;
        job.priced = written.priced;
        Ok(job)
    }

    /// What is settled before anybody is looked at, for these instances.
    pub(super) fn outset(&self, instances: &[&str]) -> Result<Outset<'_>> {
        let card = &self.trained.model.card;
        let history = history(|| card.own_record.clone(), self.asked.history, &self.settings)?;
        let instances: Vec<(&str, usize)> = instances.iter().map(|name| (*name, self.step)).collect();
        Outset::new(&self.asked, &self.settings, history, card, &instances)
    }

    /// The same once prices are known, and the prices of every instance with it.
    pub(super) fn outset_with_prices(&self) -> Result<Outset<'_>> {
        let Some(priced) = &self.priced else {
            refuse!("plan: found no prices of pulls, expected those of a sample of everybody");
        };
        let names: Vec<&str> = priced.iter().map(|instance| instance.name.as_str()).collect();
        let mut outset = self.outset(&names)?;
        for stage in &mut outset.stages {
            let price = &priced[stage.instance].price;
            if price.len() != stage.steps {
                refuse!("plan: found prices of {} steps, expected those of {}", price.len(), stage.steps);
            }
            let price = Array2::from_shape_vec((1, price.len()), price.clone()).expect("one row");
            stage.price = Some(price);
        }
        Ok(outset)
    }

    /// The people of a batch who are planned for, by instance; `is_wanted` says of whom anything is read.
    pub(super) fn pieces(
        &self,
        batch: &RecordBatch,
        is_wanted: impl Fn(&str, &str) -> bool,
    ) -> Result<Vec<PeoplePiece>> {
        let wanted = PeopleColumns {
            states: self.settings.reward.states(),
            features: Some(&self.features),
            text: &self.settings.text,
            beside: &self.beside,
        };
        let mut pieces = PeoplePiece::read_some(batch, &wanted, is_wanted)?;
        if let Some(instance) = &self.asked.instance {
            pieces.retain(|piece| piece.instance == *instance);
        }
        Ok(pieces)
    }

    /// What the model says of some people.
    pub(crate) fn predict(&self, piece: &PeoplePiece) -> Result<Transition> {
        let features = piece.encode(&self.trained.model.card.encoding)?;
        Transition::new(self.trained.ensemble.predict(features.view()), Layout::Nsas)
            .map_err(|error| Error::at(MODEL)(error.into()))
    }

    /// Some people as a plan knows them.
    pub(super) fn here<'a>(&self, outset: &Outset<'_>, piece: &'a PeoplePiece) -> Result<Here<'a>> {
        Here::of_piece(piece, self.predict(piece)?, &outset.rule)
    }
}
