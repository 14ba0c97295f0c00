//! Whom to pull next: the K arms of each instance whose latest recorded state, or label, has the highest Whittle index.

use crate::apply::{Applied, indices};
use crate::error::{Error, Result};
use crate::history::History;
use crate::latest::latest;
use crate::message::{Message, Opt, message};
use crate::options::INDEX_DISCOUNT;
use crate::words::counted;
use restive::Instance;
use restive::evaluation::{Record, unknown_label};
use restive::instance::{Chain, Observation};
use restive::policy::strict::strict_top_k;
use restive_tables::{Cells, StudyInstance, recognise_table, show, write_table};
use serde::Serialize;
use std::path::Path;

/// What a plan is asked for.
#[derive(Debug, Clone, PartialEq)]
pub struct PlanAsked {
    /// arms to pull in each instance; absent: the study's budget
    pub budget: Option<usize>,
    /// whether arms where a pull does not pay are left out
    pub only_beneficial: bool,
    /// whether an arm's own record counts beside the prediction
    pub history: bool,
    /// of the index; absent: the model's, else 1 − 1/H
    pub index_discount: Option<f64>,
    /// the name of the one instance to plan for; absent: all of them
    pub instance: Option<String>,
    /// of the tie-break
    pub seed: u64,
}

impl Default for PlanAsked {
    fn default() -> Self {
        let (budget, index_discount, instance) = (None, None, None);
        Self { budget, only_beneficial: false, history: false, index_discount, instance, seed: crate::SEED }
    }
}

impl PlanAsked {
    /// Refuses numbers out of range, before any data are looked at.
    pub fn check(&self) -> Result<()> {
        INDEX_DISCOUNT.check(&self.index_discount)
    }
}

/// One arm to pull.
#[derive(Serialize)]
pub struct PlannedArm {
    /// its instance, by name
    pub instance: String,
    /// by name
    pub arm: String,
    /// what it is ranked by
    #[serde(flatten)]
    pub place: LastSeen,
    /// of its state or label
    pub index: f64,
    /// from 1
    pub rank: usize,
    /// the probability of being in the plan, over all tie-breaks
    pub inclusion: f64,
    /// whether a pull pays: the index is above 0
    pub is_beneficial: bool,
}

/// What the ranking of an arm goes by.
#[derive(Serialize)]
#[serde(untagged)]
pub enum LastSeen {
    /// the last that was observed
    State {
        /// 0 … M − 1
        state: u16,
    },
    /// absent: never seen
    Label {
        /// the last state that was seen
        last_state: Option<u16>,
        /// steps since then
        since: Option<u16>,
    },
}

impl LastSeen {
    /// Of a state, or of a label and whether it is known rather than that of arms of which nothing is.
    pub fn new(state: u16, is_known: bool, chain: Option<Chain>) -> Self {
        match chain.map(|chain| chain.beliefs() as u16) {
            None => LastSeen::State { state },
            Some(labels) => {
                let [last_state, since] = [state / labels, state % labels].map(|x| is_known.then_some(x));
                LastSeen::Label { last_state, since }
            }
        }
    }

    /// The cells of a row; none where the arm was never seen.
    pub fn cells(&self) -> Vec<Option<u16>> {
        match *self {
            LastSeen::State { state } => vec![Some(state)],
            LastSeen::Label { last_state, since } => vec![last_state, since],
        }
    }

    /// The cells of a row, in words.
    pub fn texts(&self) -> Vec<String> {
        let words = ["never seen", "–"].into_iter();
        let text = |(cell, word): (Option<u16>, &str)| cell.map_or(word.into(), |cell| cell.to_string());
        self.cells().into_iter().zip(words).map(text).collect()
    }
}

/// The arms to pull, and what the choice rests on.
#[derive(Serialize)]
pub struct Plan {
    /// K, of each instance
    pub budget: usize,
    /// of the index
    pub index_discount: f64,
    /// what a prediction is worth beside an arm's own record, where that counts
    #[serde(skip_serializing_if = "Option::is_none")]
    pub history: Option<History>,
    /// arms that were never seen: without a state they are left out, without a label they have that of [`unknown_label`](restive::evaluation::unknown_label)
    pub never_observed: usize,
    /// arms without a single price for a pull
    #[serde(skip)]
    pub not_indexable: usize,
    /// whether arms are ranked by labels, because states are seen at pulls only
    #[serde(skip)]
    pub is_labelled: bool,
    /// best first, instance by instance
    pub plan: Vec<PlannedArm>,
}

impl Applied<'_> {
    /// Whom to pull next.
    pub fn plan(&self, asked: &PlanAsked) -> Result<Plan> {
        asked.check()?;
        let chosen = asked.instance.as_deref().map(|name| self.instance(name)).transpose()?;
        let observation = self.study.settings.observation;
        let history = asked.history.then(|| self.history());
        let strength = history.as_ref().map(|history| history.strength.map(|strength| strength.value));
        let discount = self.index_discount(asked.index_discount);
        let budget = asked.budget.unwrap_or(self.study.settings.budget);
        let mut plan = Plan {
            budget,
            index_discount: discount,
            history,
            never_observed: 0,
            not_indexable: 0,
            is_labelled: observation.chain().is_some(),
            plan: Vec::new(),
        };
        let is_chosen = |k: &usize| chosen.is_none_or(|chosen| chosen == *k);
        for k in (0..self.instances.len()).filter(is_chosen) {
            let (table, not) = indices_of(&self.instances[k], self, k, strength, discount)?;
            plan.not_indexable += not;
            let seed = asked.seed.wrapping_add(k as u64);
            let (arms, never_observed) = pulls(&self.study.instances[k], &table, observation, budget, seed);
            plan.never_observed += never_observed;
            plan.plan.extend(arms.into_iter().filter(|arm| arm.is_beneficial || !asked.only_beneficial));
        }
        Ok(plan)
    }

    /// The position of an instance.
    fn instance(&self, name: &str) -> Result<usize> {
        let mut names = self.study.instances.iter().map(|instance| instance.name.as_str());
        names.clone().position(|known| known == name).ok_or_else(|| {
            let some: Vec<String> = names.by_ref().take(5).map(show::name).collect();
            let (found, some) = (show::quoted_name(name), some.join(", "));
            let words = format!(": found {found}, expected an instance such as {some}");
            Error::Asked(message!(Opt("instance"), words))
        })
    }
}

/// The columns of what a ranking goes by: a state, or a label where states are seen at pulls only.
const STATE: &[&str] = &["state"];
const LABEL: &[&str] = &["last_state", "since"];

impl Plan {
    /// The columns of what the ranking goes by.
    pub fn columns(&self) -> &'static [&'static str] {
        if self.is_labelled { LABEL } else { STATE }
    }

    /// Refuses a table that is no plan.
    pub fn recognise(path: &Path) -> restive_tables::Result<()> {
        recognise_table(path, "a plan", |columns| {
            let end = ["index", "rank", "inclusion", "is_beneficial"];
            let place = columns.strip_prefix(&["instance", "arm"]).and_then(|rest| rest.strip_suffix(&end));
            place.is_some_and(|place| [STATE, LABEL].contains(&place))
        })
    }

    /// Writes a table, `.csv` or `.parquet`. One that is there is replaced only where `replace` is set and it
    /// [is](Self::recognise) a plan.
    pub fn write(&self, path: &Path, replace: bool) -> restive_tables::Result<()> {
        let rows = self.plan.iter();
        let mut columns = vec![
            ("instance", Cells::Text(rows.clone().map(|row| row.instance.clone()).collect())),
            ("arm", Cells::Text(rows.clone().map(|row| row.arm.clone()).collect())),
        ];
        let place =
            |c: usize| Cells::Whole(rows.clone().map(|row| row.place.cells()[c].map(i32::from)).collect());
        columns.extend(self.columns().iter().enumerate().map(|(c, name)| (*name, place(c))));
        columns.extend([
            ("index", Cells::Number(rows.clone().map(|row| row.index).collect())),
            ("rank", Cells::Whole(rows.clone().map(|row| Some(row.rank as i32)).collect())),
            ("inclusion", Cells::Number(rows.clone().map(|row| row.inclusion).collect())),
            ("is_beneficial", Cells::Truth(rows.clone().map(|row| row.is_beneficial).collect())),
        ]);
        write_table(path, replace.then_some(Self::recognise), columns)
    }

    /// What became of arms that were never seen, where there are any.
    pub fn note(&self) -> Option<String> {
        let arms = counted(self.never_observed as u64, "arm");
        let note = match self.is_labelled {
            false => format!("{arms} never observed, left out: without a state there is no index"),
            true => format!(
                "{arms} never seen, ranked as last seen longer ago than the chain remembers; the columns last_state and \
                 since say what was known of an arm before the log"
            ),
        };
        (self.never_observed > 0).then_some(note)
    }

    /// What should be known before the plan is trusted.
    pub fn warnings(&self) -> Vec<Message> {
        let mut warnings: Vec<Message> = self.history.iter().flat_map(History::warnings).collect();
        if self.not_indexable > 0 {
            let arms = counted(self.not_indexable as u64, "arm");
            warnings.push(format!("{arms} not indexable: their ranking is a heuristic").into());
        }
        warnings
    }
}

/// The arms of an instance to pull, by their indices (`[N,L]`) in their latest states or labels, best first; and how many arms
/// were never seen. `seed` breaks ties.
pub fn pulls(
    there: &StudyInstance,
    table: &ndarray::Array2<f64>,
    observation: Observation,
    budget: usize,
    seed: u64,
) -> (Vec<PlannedArm>, usize) {
    let latest = latest(&there.trajectories, observation);
    let chain = observation.chain();
    let unknown = chain.map(|chain| unknown_label(&there.trajectories, chain));
    // (arm, what it is ranked by)
    let ranked = latest.iter().enumerate().filter_map(|(i, state)| Some((i, state.or(unknown)?)));
    let ranked: Vec<(usize, u16)> = ranked.collect();
    let score: Vec<f64> = ranked.iter().map(|&(i, state)| table[[i, usize::from(state)]]).collect();
    let top = strict_top_k(&score, budget, seed);
    let mut pulled: Vec<usize> = (0..ranked.len()).filter(|c| top.pull[*c]).collect();
    // stable: equal indices stay in the order of names
    pulled.sort_by(|a, b| score[*b].partial_cmp(&score[*a]).expect("indices are numbers"));
    let arms = pulled.into_iter().enumerate().map(|(rank, c)| PlannedArm {
        instance: there.name.clone(),
        arm: there.arms[ranked[c].0].clone(),
        place: LastSeen::new(ranked[c].1, latest[ranked[c].0].is_some(), chain),
        index: score[c] + 0.0,
        rank: rank + 1,
        inclusion: top.inclusion[c],
        is_beneficial: score[c] > 0.0,
    });
    (arms.collect(), latest.iter().filter(|state| state.is_none()).count())
}

/// The indices of an instance, on the prediction alone or smoothed with the arms' own records.
fn indices_of(
    instance: &Instance,
    applied: &Applied<'_>,
    k: usize,
    strength: Option<[f64; 2]>,
    discount: f64,
) -> Result<(ndarray::Array2<f64>, usize)> {
    let (prediction, reward) = (&applied.predictions[k], instance.reward().view());
    match strength {
        None => indices(prediction.view(), reward, discount, instance.observation()),
        Some(strength) => {
            let own = Record::new(instance).transition(Some((prediction.view(), strength)));
            indices(own.view(), reward, discount, instance.observation())
        }
    }
}
