//! What is settled before anybody is looked at: the policy, the places, the rule by which records count, how many steps are ahead.

use super::asked::{PlanAsked, PolicyName};
use super::candidates::Candidates;
use super::here::Here;
use super::{Ahead, Places};
use crate::apply::{Applied, RankIndex};
use crate::error::{Error, Result};
use crate::identification::Identification;
use crate::message::{Opt, message};
use crate::own_record::History;
use ndarray::Array2;
use restive::Transition;
use restive::history::Rule;
use restive::planning::prices;
use restive_tables::model::Card;
use restive_tables::{StudySettings, show};

/// What holds for everybody.
pub(crate) struct Outset<'a> {
    pub(crate) asked: &'a PlanAsked,
    pub(crate) settings: &'a StudySettings,
    /// Whether the log that the model was trained on shows what a pull does.
    pub(crate) identification: &'a Identification,
    /// how records count
    pub(crate) rule: Rule,
    pub(crate) history: Option<History>,
    pub(crate) policy: PolicyName,
    pub(crate) index: RankIndex,
    /// states from which the training saw no move
    unobserved: &'a [u16],
    pub(crate) places: Places,
    /// of the instances that are planned for
    pub(crate) stages: Vec<Stage>,
}

/// Where an instance stands.
#[derive(Debug, Clone)]
pub(crate) struct Stage {
    /// its position in the study
    pub(crate) instance: usize,
    pub(crate) name: String,
    /// the step that is planned, as column t counts
    pub(crate) now: usize,
    /// the decisions ahead, this one included
    pub(crate) steps: usize,
    /// what the period is called: with the seed it decides ties and draws
    pub(crate) period: String,
    /// `[1,H]`: of pulls at the steps ahead; none until they are found
    pub(crate) price: Option<Array2<f64>>,
}

impl<'a> Outset<'a> {
    /// Of instances with their names and the steps that are planned, in the order of the study.
    pub(crate) fn new(
        asked: &'a PlanAsked,
        settings: &'a StudySettings,
        (rule, history): (Rule, Option<History>),
        card: &'a Card,
        instances: &[(&str, usize)],
    ) -> Result<Self> {
        let identification = &card.identification;
        if let (true, Some(reason)) = (asked.only_beneficial, identification.reason()) {
            let why = format!(": effects of pulls are not identified: {reason}");
            return Err(Error::Data(message!(Opt("only-beneficial"), why)));
        }
        let mut stages = Vec::new();
        let mut is_end_known = true;
        let names = || instances.iter().map(|(name, _)| *name);
        if let Some(wanted) = asked.instance.as_deref()
            && !names().any(|name| name == wanted)
        {
            let some: Vec<String> = names().take(5).map(show::name).collect();
            let (found, some) = (show::quoted_name(wanted), some.join(", "));
            let words = format!(": found {found}, expected an instance such as {some}");
            return Err(Error::Asked(message!(Opt("instance"), words)));
        }
        for (instance, &(name, now)) in instances.iter().enumerate() {
            if asked.instance.as_deref().is_some_and(|wanted| wanted != name) {
                continue;
            }
            let left = steps_left(settings, asked, name, now)?;
            is_end_known &= left.is_some();
            stages.push(Stage {
                instance,
                name: name.into(),
                now,
                steps: left.unwrap_or(settings.horizon),
                period: asked.period.clone().unwrap_or_else(|| now.to_string()),
                price: None,
            });
        }
        let policy = asked.policy(is_end_known)?;
        let places = Places::new(asked, settings.budget);
        let index = RankIndex::new(asked.index_discount, card, settings);
        let unobserved = &card.unobserved_states;
        Ok(Self { asked, settings, identification, rule, history, policy, index, unobserved, places, stages })
    }

    /// Who of some people may have a place.
    pub(crate) fn candidates(&self, here: &Here<'_>) -> Result<Candidates> {
        let trial = self.asked.trial.as_ref();
        let available = here.is_available.as_deref();
        Candidates::new(&self.asked.rules, &here.known, &here.ranked, self.unobserved, available, trial)
    }

    /// Whether the training saw no move from a state, so that a prediction there rests on no data.
    pub(crate) fn is_unobserved(&self, state: u16) -> bool {
        self.unobserved.contains(&state)
    }

    /// The prices of pulls at the steps ahead, found on those who stand for all `people` of the instance, in the order of their names; `counted`
    /// says where those stand whom a plan can do something for.
    pub(crate) fn price(
        &self,
        stage: &Stage,
        transition: &Transition,
        counted: &[Option<u16>],
        people: usize,
    ) -> Array2<f64> {
        let share = counted.len() as f64 / people.max(1) as f64;
        let none = Array2::zeros((1, stage.steps));
        let ahead = Ahead::at(self.settings, transition, counted, stage.steps, none);
        let budget = self.places.budget as f64;
        // as many pulls for each of them as for everybody
        let budget = [if counted.len() == people { budget } else { budget * share }];
        ahead.with_programme(&budget, |programme, initial| prices(programme, initial).price)
    }
}

impl Applied<'_> {
    /// The decisions that are left in an instance at a step, this one included, where that is known.
    pub(crate) fn steps_left(&self, k: usize, asked: &PlanAsked, now: usize) -> Result<Option<usize>> {
        steps_left(&self.study.settings, asked, &self.study.instances[k].name, now)
    }
}

fn steps_left(settings: &StudySettings, asked: &PlanAsked, name: &str, now: usize) -> Result<Option<usize>> {
    if asked.remaining.is_some() {
        return Ok(asked.remaining);
    }
    let Some(ends) = settings.ends else { return Ok(None) };
    match ends.checked_sub(now).filter(|left| *left > 0) {
        Some(left) => Ok(Some(left)),
        None => {
            let name = show::name(name);
            let said = format!(
                "study.toml: ends = {ends}: found step {now} to be planned in instance {name}, expected an earlier one: the \
                 programme is over; "
            );
            Err(Error::Data(message!(said, Opt("remaining"), " N plans for N more steps")))
        }
    }
}
