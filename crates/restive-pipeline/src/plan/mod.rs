//! Whom to pull next: the K arms of each instance that rank highest in their latest recorded state, or label.
//!
//! | policy | ranks by | where |
//! |---|---|---|
//! | whittle | the Whittle index, the price at which a pull would just pay | the programme has no end |
//! | horizon | the advantage of a pull now over none, given the prices of later pulls ([`restive::planning`]) | the steps that are left are known |
//!
//! Either way the plan says what no policy could exceed from here on ([`Bound`]).
//!
//! | file | what happens there |
//! |---|---|
//! | `asked` | what a plan may be asked for |
//! | `standing`, `ahead` | where everybody stands; what a pull is worth over the steps ahead |
//! | `candidates` | who may have a place, and which rules keep the others out |
//! | `certificate` | how far the plan comes towards what no policy exceeds, and what more or fewer pulls would bring |
//! | `choose` | who gets a place under the rules, with which probability, and what each rule costs |
//! | `limits` | the rules' limits and costs, for whoever deals places anew |
//! | `outlook` | how everybody is expected to move, for trials |
//! | `row`, `write` | one person of the list; the list as a table |

mod ahead;
mod asked;
mod candidates;
mod certificate;
mod choose;
mod limits;
mod outlook;
mod row;
mod standing;
mod write;

pub use ahead::Bound;
pub use asked::{InTrial, PlanAsked, PolicyName};
pub use certificate::{AtBudget, Nouns, PlanCertificate};
pub use choose::{Chance, RulePrice};
pub use limits::Limits;
pub use outlook::Outlook;
pub use row::{Chosen, Cut, Eligible, Excluded, LastSeen, Place, PlannedArm, Worth};

use crate::apply::{Applied, indices};
use crate::error::{Error, Result};
use crate::latest::planned_step;
use crate::message::{Message, Opt, message};
use crate::own_record::{History, with_record};
use crate::rules::people::Known;
use crate::words::{counted, grouped};
pub(crate) use ahead::Ahead;
use candidates::Candidates;
use choose::{Choice, Places};
use restive_tables::{arm_key, show};
use serde::Serialize;
pub(crate) use standing::Standing;

/// The arms to pull, and what the choice rests on.
#[derive(Serialize)]
pub struct Plan {
    /// what arms are ranked by
    pub policy: PolicyName,
    /// K, of each instance
    pub budget: usize,
    /// of these, to be drawn by lot in each instance
    pub explore: usize,
    /// those that were
    pub drawn: usize,
    /// how far the places by rank may be from the best ones under the rules, in what arms are ranked by; 0 where they are proven to be
    pub gap: f64,
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
    /// how far the plan comes towards that; none where nobody is planned for
    #[serde(skip_serializing_if = "Option::is_none")]
    pub certificate: Option<PlanCertificate>,
    /// the reward that these pulls are expected to add over the steps ahead
    pub value: f64,
    /// how probabilities of being in the plan were found
    pub chance: Chance,
    /// what each rule does and costs
    pub rules: Vec<RulePrice>,
    /// arms that were never seen: without a state they are left out, without a label they have that of [`unknown_label`](restive::evaluation::unknown_label)
    pub never_observed: usize,
    /// arms without a single price for a pull
    #[serde(skip)]
    pub not_indexable: usize,
    /// whether arms are ranked by labels, because states are seen at pulls only
    #[serde(skip)]
    pub is_labelled: bool,
    /// arms that have left
    pub gone: usize,
    /// arms that must not be called
    pub not_to_be_called: usize,
    /// what [`PlannedArm::kept`] holds: columns of the people's table
    #[serde(skip)]
    pub kept_columns: Vec<String>,
    /// everybody who could have been in the plan or is left alone by a trial, instance by instance, in the order of the study
    #[serde(skip)]
    pub eligible: Vec<Eligible>,
    /// everybody else
    #[serde(skip)]
    pub excluded: Vec<Excluded>,
    /// where the list of each instance ends
    #[serde(skip)]
    pub cuts: Vec<Cut>,
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
        let places = Places::new(asked, self.study.settings.budget);
        let is_chosen = |k: &usize| chosen.is_none_or(|chosen| chosen == *k);
        let planned: Vec<usize> = (0..self.instances.len()).filter(is_chosen).collect();
        let mut all = Vec::new();
        for &k in &planned {
            all.push(self.steps_left(k, asked, planned_step(&self.study.instances[k].trajectories))?);
        }
        let policy = asked.policy(all.iter().all(Option::is_some))?;
        let mut plan = Plan {
            policy,
            budget: places.budget,
            explore: places.explore,
            drawn: 0,
            gap: 0.0,
            steps: [usize::MAX, 0],
            index_discount: (policy == PolicyName::Whittle).then_some(discount),
            history,
            bound: Bound::default(),
            certificate: None,
            value: 0.0,
            chance: Chance::Exact,
            rules: Vec::new(),
            never_observed: 0,
            not_indexable: 0,
            is_labelled: observation.chain().is_some(),
            gone: 0,
            not_to_be_called: 0,
            kept_columns: asked.people.as_ref().map_or(Vec::new(), |people| people.kept.clone()),
            eligible: Vec::new(),
            excluded: Vec::new(),
            cuts: Vec::new(),
            plan: Vec::new(),
        };
        for (&k, left) in planned.iter().zip(&all) {
            let (instance, there) = (&self.instances[k], &self.study.instances[k]);
            let transition = with_record(&rule, &there.trajectories, observation, &self.predictions[k])?;
            let steps = left.unwrap_or(self.study.settings.horizon);
            plan.steps = [plan.steps[0].min(steps), plan.steps[1].max(steps)];
            let standing = Standing::new(&there.trajectories, observation);
            let now = planned_step(&there.trajectories);
            let known = Known::new(there, asked.people.as_ref(), now)?;
            let ranked: Vec<Option<u16>> = standing.ranked().collect();
            let is_known: Vec<bool> = ranked.iter().map(Option::is_some).collect();
            let candidates = Candidates::new(&asked.rules, &known, &is_known, asked.trial.as_ref())?;
            let keys = || there.arms.iter().map(|arm| arm_key(&there.name, arm)).collect();
            let is_callable = candidates.is_callable();
            let counted: Vec<Option<u16>> =
                ranked.iter().zip(&is_callable).map(|(state, is)| state.filter(|_| *is)).collect();
            let ahead = Ahead::new(instance, &transition, &counted, places.budget as f64, steps, keys);
            plan.bound.add(&ahead.bound());
            let advantage = ahead.advantage();
            let index = match policy {
                PolicyName::Horizon => None,
                PolicyName::Whittle => {
                    let reward = instance.reward().view();
                    let (table, not) = indices(transition.view(), reward, discount, observation)?;
                    plan.not_indexable += not;
                    Some(table)
                }
            };
            plan.never_observed += standing.never_observed();
            plan.gone += candidates.gone;
            plan.not_to_be_called += candidates.not_to_be_called;
            let at = |table: &ndarray::Array2<f64>| -> Vec<f64> {
                let value =
                    |(i, state): (usize, &Option<u16>)| state.map_or(0.0, |s| table[[i, usize::from(s)]]);
                ranked.iter().enumerate().map(value).collect()
            };
            let value = at(&advantage);
            let score = index.as_ref().map_or_else(|| value.clone(), at);
            let period = asked.period.clone().unwrap_or_else(|| now.to_string());
            let choice = Choice::new(asked, &places, &known, &candidates, &score, &value, &period)?;
            plan.chance = plan.chance.and(choice.chance);
            plan.value += choice.value;
            plan.gap += choice.gap;
            plan.drawn += choice.chosen.iter().filter(|chosen| **chosen == Chosen::Draw).count();
            choose::add(&mut plan.rules, choice.rules);
            let certificate = certificate::certify(&certificate::Certifying {
                instance,
                transition: &transition,
                name: &there.name,
                arms: &there.arms,
                state: &counted,
                listed: &choice.listed,
                index: index.as_ref(),
                budget: places.budget,
                steps,
                seed: asked.seed,
            });
            plan.certificate = certificate::add(plan.certificate.take(), certificate);
            plan.cuts.push(Cut {
                last: cut_at(&score, &choice.key, |i| choice.chosen[i] == Chosen::Rank, true),
                next: cut_at(
                    &score,
                    &choice.key,
                    |i| choice.is_candidate[i] && choice.chosen[i] == Chosen::No,
                    false,
                ),
                is_plain: places.explore == 0 && asked.rules.is_by_rank_alone(),
            });
            let worth = |i: usize| match policy {
                PolicyName::Whittle => Worth::Index(score[i] + 0.0),
                PolicyName::Horizon => Worth::Advantage(score[i] + 0.0),
            };
            for (rank, &i) in choice.listed.iter().enumerate() {
                plan.plan.push(PlannedArm {
                    instance: there.name.clone(),
                    arm: there.arms[i].clone(),
                    place: standing.last_seen(i, ranked[i].expect("candidates have a state")),
                    recency: known.recency[i],
                    worth: worth(i),
                    value: value[i] + 0.0,
                    rank: rank + 1,
                    inclusion: choice.inclusion[i],
                    chosen: choice.chosen[i],
                    is_beneficial: score[i] > 0.0,
                    margin: score[i] - choice.last,
                    kept: known.person(i).map_or(Vec::new(), |person| person.kept.clone()),
                });
            }
            let is_chosen_from = |i: &usize| choice.is_candidate[*i] || candidates.is_apart(*i);
            let eligible = (0..there.arms.len()).filter(is_chosen_from);
            let others = (0..there.arms.len()).filter(|i| !is_chosen_from(i));
            plan.excluded.extend(others.map(|i| Excluded {
                instance: k,
                arm: i,
                why: candidates.why_not(i, &known).unwrap_or_else(|| "a call does not pay".into()),
            }));
            plan.eligible.extend(eligible.map(|i| Eligible {
                instance: k,
                arm: i,
                state: ranked[i].expect("candidates have a state"),
                inclusion: choice.inclusion[i],
                chosen: choice.chosen[i],
                score: score[i],
                value: value[i],
                tie: choice.key[i],
                is_control: candidates.is_control[i],
            }));
        }
        if planned.is_empty() {
            plan.steps = [0, 0];
        }
        if let (PolicyName::Whittle, Some(certificate)) = (policy, &mut plan.certificate) {
            certificate.heuristic = Some(plan.not_indexable);
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

/// The lowest place in the ranking of some people, or the highest.
fn cut_at(score: &[f64], key: &[u64], is_one: impl Fn(usize) -> bool, is_lowest: bool) -> Option<Place> {
    let places = (0..score.len()).filter(|i| is_one(*i)).map(|i| Place { score: score[i], tie: key[i] });
    // higher scores first, then smaller keys
    let order = |a: &Place, b: &Place| b.score.total_cmp(&a.score).then(a.tie.cmp(&b.tie));
    if is_lowest { places.max_by(order) } else { places.min_by(order) }
}

impl Plan {
    /// What became of people who must not be called, where there are any.
    pub fn left_out(&self) -> Option<String> {
        let count = self.gone + self.not_to_be_called;
        let [all, gone, never] = [count, self.gone, self.not_to_be_called].map(|count| grouped(count as u64));
        (count > 0).then(|| format!("{all} left out: {gone} gone by now, {never} not to be called"))
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
        if self.drawn == 0 && self.explore > 0 {
            warnings.push("nobody was drawn by lot: the rules leave no place for it".into());
        }
        if self.plan.is_empty() && self.budget > 0 {
            warnings.push("nobody is on the list: nobody may be called under these rules".into());
        }
        if self.not_indexable > 0 {
            let arms = counted(self.not_indexable as u64, "arm");
            warnings.push(format!("{arms} not indexable: their ranking is a heuristic").into());
        }
        warnings
    }
}
