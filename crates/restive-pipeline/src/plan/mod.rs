//! Whom to pull next: the K arms of each instance that rank highest in their latest recorded state, or label.
//!
//! | policy | ranks by | where |
//! |---|---|---|
//! | whittle | the Whittle index, the price at which a pull would just pay | the programme has no end |
//! | horizon | the advantage of a pull now over none, given the prices of later pulls ([`restive::planning`]) | the steps that are left are known |
//!
//! Either way the plan says what no policy could exceed from here on ([`Bound`]).

mod ahead;
mod asked;

pub use ahead::Bound;
pub use asked::{PlanAsked, PolicyName};

use crate::apply::{Applied, indices};
use crate::error::{Error, Result};
use crate::latest::{latest, planned_step};
use crate::message::{Message, Opt, message};
use crate::own_record::{History, with_record};
use crate::words::counted;
pub(crate) use ahead::Ahead;
use restive::Trajectories;
use restive::evaluation::unknown_label;
use restive::instance::{Chain, Observation};
use restive::policy::strict::strict_top_k;
use restive_tables::{
    Cells, Contacts, StudyInstance, arm_key, recognise_table, show, write_private_table, write_table,
};
use serde::Serialize;
use std::path::Path;

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
    /// what a pull is worth there
    #[serde(flatten)]
    pub worth: Worth,
    /// from 1
    pub rank: usize,
    /// the probability of being in the plan, over all tie-breaks
    pub inclusion: f64,
    /// whether a pull pays: that is above 0
    pub is_beneficial: bool,
    /// what the people's table keeps for the list: it goes into the table that is written and is never printed
    #[serde(skip)]
    pub kept: Vec<String>,
}

/// What a pull is worth in a state or label.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Worth {
    /// the price at which it would just pay
    Index(f64),
    /// the reward that it adds until the end, given what later pulls cost
    Advantage(f64),
}

impl Worth {
    /// The number.
    pub fn value(self) -> f64 {
        let (Worth::Index(value) | Worth::Advantage(value)) = self;
        value
    }
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
    /// what arms are ranked by
    pub policy: PolicyName,
    /// K, of each instance
    pub budget: usize,
    /// decisions that are planned for, this one included: those that are left, or the study's horizon where there is no end; the
    /// fewest and the most of an instance
    pub steps: [usize; 2],
    /// of the index; none where arms are not ranked by one
    #[serde(skip_serializing_if = "Option::is_none")]
    pub index_discount: Option<f64>,
    /// how an arm's own record counts beside the prediction
    #[serde(skip_serializing_if = "Option::is_none")]
    pub history: Option<History>,
    /// what no policy exceeds over these steps
    pub bound: Bound,
    /// arms that were never seen: without a state they are left out, without a label they have that of [`unknown_label`](restive::evaluation::unknown_label)
    pub never_observed: usize,
    /// arms without a single price for a pull
    #[serde(skip)]
    pub not_indexable: usize,
    /// whether arms are ranked by labels, because states are seen at pulls only
    #[serde(skip)]
    pub is_labelled: bool,
    /// arms that have left or must not be called
    pub not_to_be_called: usize,
    /// what [`PlannedArm::kept`] holds: columns of the people's table
    #[serde(skip)]
    pub kept_columns: Vec<String>,
    /// best first, instance by instance
    pub plan: Vec<PlannedArm>,
}

impl Applied<'_> {
    /// Whom to pull next.
    pub fn plan(&self, asked: &PlanAsked) -> Result<Plan> {
        asked.check()?;
        let chosen = asked.instance.as_deref().map(|name| self.instance(name)).transpose()?;
        let observation = self.study.settings.observation;
        let (rule, history) = self.history(asked.history)?;
        let discount = self.index_discount(asked.index_discount);
        let budget = asked.budget.unwrap_or(self.study.settings.budget);
        let is_chosen = |k: &usize| chosen.is_none_or(|chosen| chosen == *k);
        let planned: Vec<usize> = (0..self.instances.len()).filter(is_chosen).collect();
        let mut all = Vec::new();
        for &k in &planned {
            all.push(self.steps_left(k, asked, planned_step(&self.study.instances[k].trajectories))?);
        }
        let policy = asked.policy(all.iter().all(Option::is_some))?;
        let mut plan = Plan {
            policy,
            budget,
            steps: [usize::MAX, 0],
            index_discount: (policy == PolicyName::Whittle).then_some(discount),
            history,
            bound: Bound::default(),
            never_observed: 0,
            not_indexable: 0,
            is_labelled: observation.chain().is_some(),
            not_to_be_called: 0,
            kept_columns: Vec::new(),
            plan: Vec::new(),
        };
        for (&k, left) in planned.iter().zip(&all) {
            let (instance, there) = (&self.instances[k], &self.study.instances[k]);
            let transition = with_record(&rule, &there.trajectories, observation, &self.predictions[k])?;
            let steps = left.unwrap_or(self.study.settings.horizon);
            plan.steps = [plan.steps[0].min(steps), plan.steps[1].max(steps)];
            let mut standing = Standing::new(&there.trajectories, observation);
            let keys = || there.arms.iter().map(|arm| arm_key(&there.name, arm)).collect();
            let ahead = Ahead::new(instance, &transition, &standing, budget as f64, steps, keys);
            plan.bound.add(&ahead.bound());
            let table = match policy {
                PolicyName::Horizon => ahead.advantage(),
                PolicyName::Whittle => {
                    let reward = instance.reward().view();
                    let (table, not) = indices(transition.view(), reward, discount, observation)?;
                    plan.not_indexable += not;
                    table
                }
            };
            plan.never_observed += standing.never_observed();
            if let Some(people) = &asked.people {
                plan.not_to_be_called += standing.leave_out(there, people)?;
            }
            let seed = asked.seed.wrapping_add(k as u64);
            let arms = standing.pulls(there, &table, policy, budget, seed);
            plan.plan.extend(arms.into_iter().filter(|arm| arm.is_beneficial || !asked.only_beneficial));
        }
        if planned.is_empty() {
            plan.steps = [0, 0];
        }
        if let Some(people) = &asked.people {
            plan.kept_columns = people.kept.clone();
            for row in &mut plan.plan {
                row.kept = people.kept(&row.arm)?.to_vec();
            }
        }
        Ok(plan)
    }

    /// The decisions that are left in an instance at a step, this one included, where that is known.
    pub(crate) fn steps_left(&self, k: usize, asked: &PlanAsked, now: usize) -> Result<Option<usize>> {
        if asked.remaining.is_some() {
            return Ok(asked.remaining);
        }
        let Some(ends) = self.study.settings.ends else { return Ok(None) };
        match ends.checked_sub(now).filter(|left| *left > 0) {
            Some(left) => Ok(Some(left)),
            None => {
                let name = show::name(&self.study.instances[k].name);
                let said = format!(
                    "study.toml: ends = {ends}: found step {now} to be planned in instance {name}, expected an earlier one: the \
                     programme is over; "
                );
                Err(Error::Data(message!(said, Opt("remaining"), " N plans for N more steps")))
            }
        }
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
            let end = |worth| [worth, "rank", "inclusion", "is_beneficial"];
            let rest = columns.strip_prefix(&["instance", "arm"]);
            let place = |policy: PolicyName| rest.and_then(|rest| rest.strip_suffix(&end(policy.worth())));
            // what is kept of people for the list stands before
            let is_known = |place: &[&str]| [STATE, LABEL].iter().any(|known| place.ends_with(known));
            PolicyName::ALL.iter().any(|policy| place(*policy).is_some_and(is_known))
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
        let kept = |c: usize| Cells::Text(rows.clone().map(|row| row.kept[c].clone()).collect());
        columns.extend(self.kept_columns.iter().enumerate().map(|(c, name)| (name.as_str(), kept(c))));
        let place =
            |c: usize| Cells::Whole(rows.clone().map(|row| row.place.cells()[c].map(i32::from)).collect());
        columns.extend(self.columns().iter().enumerate().map(|(c, name)| (*name, place(c))));
        columns.extend([
            (self.policy.worth(), Cells::Number(rows.clone().map(|row| row.worth.value()).collect())),
            ("rank", Cells::Whole(rows.clone().map(|row| Some(row.rank as i32)).collect())),
            ("inclusion", Cells::Number(rows.clone().map(|row| row.inclusion).collect())),
            ("is_beneficial", Cells::Truth(rows.clone().map(|row| row.is_beneficial).collect())),
        ]);
        // a list with names is for the eyes of its owner
        match self.kept_columns.is_empty() {
            true => write_table(path, replace.then_some(Self::recognise), columns),
            false => {
                let columns: Vec<(&str, &Cells)> =
                    columns.iter().map(|(name, cells)| (*name, cells)).collect();
                write_private_table(path, replace.then_some(Self::recognise), &columns)
            }
        }
    }

    /// What became of people who must not be called, where there are any.
    pub fn left_out(&self) -> Option<String> {
        let arms = counted(self.not_to_be_called as u64, "arm");
        (self.not_to_be_called > 0).then(|| format!("{arms} left out: gone by now, or not to be called"))
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

/// Where the arms of an instance stand at the step that is planned.
pub(crate) struct Standing {
    /// the latest state or label of each arm, none where it was never seen
    latest: Vec<Option<u16>>,
    /// what stands for the label of arms that were never seen
    unknown: Option<u16>,
    chain: Option<Chain>,
    /// whom no plan may name
    is_out: Vec<bool>,
}

impl Standing {
    pub(crate) fn new(log: &Trajectories, observation: Observation) -> Self {
        let chain = observation.chain();
        let unknown = chain.map(|chain| unknown_label(log, chain));
        Self { latest: latest(log, observation), unknown, chain, is_out: vec![false; log.arms()] }
    }

    /// What each arm is ranked by; none where there is nothing.
    fn ranked(&self) -> impl Iterator<Item = Option<u16>> {
        self.latest.iter().map(|state| state.or(self.unknown))
    }

    /// Takes those out who must not be called or are not there; how many of them would have been ranked.
    fn leave_out(&mut self, there: &StudyInstance, people: &Contacts) -> Result<usize> {
        let mut count = 0;
        for (i, arm) in there.arms.iter().enumerate() {
            if !people.may_be_called(arm)? {
                count += usize::from(self.latest[i].or(self.unknown).is_some());
                self.is_out[i] = true;
            }
        }
        Ok(count)
    }

    fn never_observed(&self) -> usize {
        self.latest.iter().filter(|state| state.is_none()).count()
    }

    /// The arms to pull, by a table of what a pull is worth in every state or label (`[N,L]`), best first. `seed` breaks ties.
    fn pulls(
        &self,
        there: &StudyInstance,
        table: &ndarray::Array2<f64>,
        policy: PolicyName,
        budget: usize,
        seed: u64,
    ) -> Vec<PlannedArm> {
        // (arm, what it is ranked by)
        let ranked = self.ranked().enumerate().filter(|(i, _)| !self.is_out[*i]);
        let ranked: Vec<(usize, u16)> = ranked.filter_map(|(i, state)| Some((i, state?))).collect();
        let score: Vec<f64> = ranked.iter().map(|&(i, state)| table[[i, usize::from(state)]]).collect();
        let top = strict_top_k(&score, budget, seed);
        let mut pulled: Vec<usize> = (0..ranked.len()).filter(|c| top.pull[*c]).collect();
        // stable: equal ones stay in the order of names
        pulled.sort_by(|a, b| score[*b].partial_cmp(&score[*a]).expect("worths are numbers"));
        let arms = pulled.into_iter().enumerate().map(|(rank, c)| PlannedArm {
            instance: there.name.clone(),
            arm: there.arms[ranked[c].0].clone(),
            place: LastSeen::new(ranked[c].1, self.latest[ranked[c].0].is_some(), self.chain),
            worth: match policy {
                PolicyName::Whittle => Worth::Index(score[c] + 0.0),
                PolicyName::Horizon => Worth::Advantage(score[c] + 0.0),
            },
            rank: rank + 1,
            inclusion: top.inclusion[c],
            is_beneficial: score[c] > 0.0,
            kept: Vec::new(),
        });
        arms.collect()
    }
}
