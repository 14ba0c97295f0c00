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
//! | `asked`, `outset` | what a plan may be asked for; what is settled before anybody is looked at |
//! | `standing`, `here` | where people stand; some people as a plan knows them |
//! | `ahead` | what a pull is worth over the steps ahead |
//! | `candidates` | who may have a place, and which rules keep the others out |
//! | `certificate` | how far the plan comes towards what no policy exceeds, and what more or fewer pulls would bring |
//! | `gather`, `contender` | what is kept of people as they pass by; who can still have a place |
//! | `memory`, `stream`, `folder` | a study that is in memory; one that passes by; which of them a folder is |
//! | `partition` | people who lie in partitions that never meet |
//! | `recorded` | recorded scores, from which an audit makes a plan again |
//! | `finish` | from those who can still have a place to the list |
//! | `choose` | who gets a place under the rules, with which probability, and what each rule costs |
//! | `limits` | the rules' limits and costs, for whoever deals places anew |
//! | `outlook` | how everybody is expected to move, for trials |
//! | `row`, `write` | one person of the list; the list as a table |

mod ahead;
mod asked;
pub(crate) mod candidates;
mod certificate;
mod choose;
mod contender;
mod finish;
mod folder;
mod gather;
mod here;
mod limits;
mod memory;
mod outlook;
mod outset;
pub mod partition;
mod recorded;
mod row;
mod standing;
mod stream;
mod write;

pub use ahead::Bound;
pub use asked::{InTrial, PlanAsked, PolicyName, PricingProgress};
pub use certificate::{AtBudget, Nouns, PlanCertificate};
pub use choose::RuleCost;
pub use choose::{Chance, RulePrice};
pub use folder::{MOST_IN_MEMORY, is_large};
pub use limits::Limits;
pub use outlook::Outlook;
pub use recorded::{RecordedScores, is_rounding};
pub use row::{ArmEffects, Chosen, Cut, Eligible, Excluded, LastSeen, Place, PlannedArm, Worth};
pub use stream::Passing;

use crate::identification::Effects;
use crate::message::Message;
use crate::own_record::History;
use crate::words::{counted, grouped};
pub(crate) use ahead::Ahead;
use candidates::Candidates;
use choose::Places;
use outset::Outset;
use serde::Serialize;
pub(crate) use standing::Standing;

/// Name of the number that arms are ranked by if effects are not stated: the order of the model.
pub(crate) const SCORE: &str = "score";

/// Expected effects of the pulls of a plan.
#[derive(Debug, Clone, Default, Serialize)]
pub struct PlanEffects {
    /// what no policy exceeds over the steps ahead
    pub bound: Bound,
    /// how far the plan comes towards that; none where nobody is planned for
    #[serde(skip_serializing_if = "Option::is_none")]
    pub certificate: Option<PlanCertificate>,
    /// the reward that these pulls are expected to add over the steps ahead
    pub value: f64,
}

/// The arms to pull, and what the choice rests on.
#[derive(Serialize)]
pub struct Plan {
    /// what arms are ranked by
    pub policy: PolicyName,
    /// K, of each instance
    pub budget: usize,
    /// of these, to be drawn by lot in each instance if all can be filled
    pub explore: usize,
    /// those that were
    pub drawn: usize,
    /// how far the places by rank may be from the best ones under the rules, in what arms are ranked by; 0 where they are proven to be
    pub gap: f64,
    /// decisions that are planned for, this one included: those that are left, or the study's horizon where there is no end; the
    /// fewest and the most of an instance
    pub steps: [usize; 2],
    /// Discount of the index; `None` if arms are not ranked by an index, or by the index of one decision.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub index_discount: Option<f64>,
    /// how an arm's own record counts beside the prediction
    #[serde(skip_serializing_if = "Option::is_none")]
    pub history: Option<History>,
    /// Expected effects of the pulls, or why they are not stated.
    #[serde(flatten)]
    pub effects: Effects<PlanEffects>,
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
    /// Number of arms that are left out because the training saw no transition from their state.
    #[serde(skip_serializing_if = "is_zero")]
    pub unobserved: usize,
    /// Number of arms that are left out because they are not available at this decision.
    #[serde(skip_serializing_if = "is_zero")]
    pub unavailable: usize,
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

impl Plan {
    /// Nobody yet.
    fn new(outset: &Outset<'_>) -> Self {
        let Outset { asked, settings, policy, places, .. } = outset;
        Self {
            policy: *policy,
            budget: places.budget,
            explore: places.explore(places.budget),
            drawn: 0,
            gap: 0.0,
            steps: [usize::MAX, 0],
            index_discount: outset.index.discount().filter(|_| *policy == PolicyName::Whittle),
            history: outset.history.clone(),
            effects: Effects::new(outset.identification, PlanEffects::default()),
            chance: Chance::Exact,
            rules: Vec::new(),
            never_observed: 0,
            not_indexable: 0,
            is_labelled: settings.observation.chain().is_some(),
            gone: 0,
            not_to_be_called: 0,
            unobserved: 0,
            unavailable: 0,
            kept_columns: asked.people.as_ref().map_or(Vec::new(), |people| people.kept.clone()),
            eligible: Vec::new(),
            excluded: Vec::new(),
            cuts: Vec::new(),
            plan: Vec::new(),
        }
    }

    /// Once every instance is in it.
    fn finish(&mut self) {
        if self.steps[0] == usize::MAX {
            self.steps = [0, 0];
        }
        let certificate = self.effects.identified_mut().and_then(|effects| effects.certificate.as_mut());
        if let (PolicyName::Whittle, Some(certificate)) = (self.policy, certificate) {
            certificate.heuristic = Some(self.not_indexable);
        }
    }
}

impl Plan {
    /// Name of the number that arms are ranked by: `score`, the order of the model, if effects are not stated.
    pub fn score_name(&self) -> &'static str {
        self.effects.identified().map_or(SCORE, |_| self.policy.worth())
    }

    /// What became of people who must not be called, where there are any.
    pub fn left_out(&self) -> Option<String> {
        let count = self.gone + self.not_to_be_called + self.unavailable;
        let [all, gone, never] = [count, self.gone, self.not_to_be_called].map(|count| grouped(count as u64));
        let unavailable = match self.unavailable {
            0 => String::new(),
            count => format!(", {} not available at this decision", grouped(count as u64)),
        };
        (count > 0)
            .then(|| format!("{all} left out: {gone} gone by now, {never} not to be called{unavailable}"))
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
        if self.unobserved > 0 {
            let arms = counted(self.unobserved as u64, "arm");
            warnings.push(
                format!(
                    "{arms} left out: the training saw no move from their state, so that nothing is known of what a pull does there; \
                     train again when the log has such moves"
                )
                .into(),
            );
        }
        if self.not_indexable > 0 {
            let arms = counted(self.not_indexable as u64, "arm");
            warnings.push(format!("{arms} not indexable: their ranking is a heuristic").into());
        }
        warnings
    }
}

#[allow(clippy::trivially_copy_pass_by_ref)]
fn is_zero(count: &usize) -> bool {
    *count == 0
}
