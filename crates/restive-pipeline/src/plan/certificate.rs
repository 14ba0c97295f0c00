//! How far the plan comes towards what no policy exceeds, and what more or fewer pulls would bring ([`restive::evaluation::certificate`]).
//!
//! Those are counted whom a plan can do something for: who has left, must not be called or is left alone by a trial earns the same under
//! any plan. At the first decision those are pulled who are on the list, whatever rules made it; from then on the ranking decides, within the
//! budget and without rules. Of many people a sample stands for all, of those on the list and of the others in proportion, by the smallest
//! keys; what is simulated on it is told as of everybody.

use crate::evaluate::Interval;
use crate::words::{counted, grouped};
use ndarray::ArrayView2;
use restive::Transition;
use restive::evaluation::{Budgeted, Certified, World};
use restive::simulation::Availability;
use restive::statistics::Mean;
use restive_tables::StudySettings;
use serde::{Deserialize, Serialize};
use std::collections::HashSet;

/// People that are simulated, at most.
pub(super) const MOST: usize = 2_000;
/// Numbers in the tables that people are ranked by, about: at all steps, for everybody, in every state.
const TABLE: usize = 4_000_000;
/// However large the tables are.
const LEAST: usize = 100;

/// What a plan promises, by the transitions that it was made with.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PlanCertificate {
    /// people whom the plan can do something for
    pub people: usize,
    /// those who were simulated
    pub simulated: usize,
    /// the decisions ahead, this one included; the most of an instance
    pub steps: usize,
    /// the expected reward without a pull
    pub no_action: f64,
    /// what no policy within the budget exceeds
    pub bound: f64,
    /// what the plan reaches, with a 95 % interval for the noise of the simulation
    pub value: Interval,
    /// how far that is on the way from no action to the bound; none where nothing can be gained
    pub share: Option<Interval>,
    /// people who have no single price for a pull, so that their rank is a heuristic; none where they are not ranked by an index
    pub heuristic: Option<usize>,
    /// what one more pull at every decision adds to the bound
    pub one_more: f64,
    /// pulls at a decision beyond which more bring nothing
    pub enough: usize,
    /// more and fewer pulls, fewest first
    pub curve: Vec<AtBudget>,
}

/// What so many pulls a decision bring.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AtBudget {
    /// pulls a decision, in each instance
    pub budget: usize,
    /// what no policy exceeds
    pub bound: f64,
    /// what the ranking reaches
    pub value: Interval,
}

/// What a plan calls things: arms are pulled at decisions, people called in weeks.
#[derive(Debug, Clone, Copy)]
pub struct Nouns<'a> {
    /// one pull: "pull", "call"
    pub pull: &'a str,
    /// one decision: "decision", "week"
    pub step: &'a str,
    /// one of those planned for, and several: "arm", "arms"
    pub people: [&'a str; 2],
    /// what is counted: "reward", "engaged weeks"
    pub unit: &'a str,
}

impl PlanCertificate {
    /// What it says, each with its name.
    pub fn lines(&self, nouns: Nouns<'_>) -> Vec<(String, String)> {
        let Nouns { pull, step, people: [one, several], unit } = nouns;
        let steps = counted(self.steps as u64, step);
        let people = match self.people {
            1 => format!("1 {one}"),
            people => format!("{} {several}", grouped(people as u64)),
        };
        let sampled = match self.simulated < self.people {
            true => format!(", simulated on {}", grouped(self.simulated as u64)),
            false => String::new(),
        };
        let reach = match self.share {
            None if self.one_more > 0.0 => format!("there are no {pull}s"),
            None => format!("a {pull} changes nothing that counts, by this model"),
            Some(Interval { value, low, high }) => format!(
                "{:.1} % [{:.1}, {:.1}], simulated, of the way from no {pull}s to what no plan could exceed: from {} to {} {unit} over {steps}, for \
                 {people}{sampled}",
                // no plan passes the bound: what is beyond it is noise of the simulation
                100.0 * value.min(1.0),
                100.0 * low.min(1.0),
                100.0 * high.min(1.0),
                amount(self.no_action),
                amount(self.bound)
            ),
        };
        let more = match self.one_more > 0.0 {
            true => format!("worth {} {unit} more over {steps}", small(self.one_more)),
            false => "worth nothing more".into(),
        };
        let enough = match self.enough {
            0 => format!("; no {pull} gains anything"),
            enough => format!("; beyond {} a {step} nothing is gained", counted(enough as u64, pull)),
        };
        let mut lines =
            vec![("comes".into(), reach), (format!("one more {pull} a {step}"), format!("{more}{enough}"))];
        if let Some(count) = self.heuristic {
            let said = match count {
                0 => "nobody".into(),
                count => format!(
                    "{} of {people} ({:.1} %): their rank is a heuristic",
                    grouped(count as u64),
                    100.0 * count as f64 / self.people.max(1) as f64
                ),
            };
            lines.push(("without an exact index".into(), said));
        }
        lines
    }
}

/// To a tenth, thousands apart.
fn amount(x: f64) -> String {
    let tenths = (x.abs() * 10.0).round();
    let sign = if x < 0.0 && tenths > 0.0 { "-" } else { "" };
    format!("{sign}{}.{}", grouped((tenths / 10.0) as u64), (tenths % 10.0) as u64)
}

/// To three significant digits.
fn small(x: f64) -> String {
    let decimals = (2.0 - x.abs().log10().floor()).clamp(0.0, 6.0) as usize;
    format!("{x:.decimals$}")
}

/// Those who stand for all whom a plan of an instance can do something for.
pub(super) struct Certifying<'a> {
    pub(super) settings: &'a StudySettings,
    /// `[n,M,2,M]`
    pub(super) transition: &'a Transition,
    /// `[n]`
    pub(super) state: &'a [u16],
    /// `[n]`: whether they are on the list
    pub(super) is_listed: &'a [bool],
    /// `[n,L]`, where people are ranked by it
    pub(super) index: Option<ArrayView2<'a, f64>>,
    /// all of them
    pub(super) people: usize,
    pub(super) budget: usize,
    pub(super) steps: usize,
    /// `None`: all are available at every decision.
    pub(super) availability: Option<Availability>,
    pub(super) seed: u64,
}

/// What the plan of an instance promises.
pub(super) fn certify(plan: &Certifying<'_>) -> PlanCertificate {
    let scale = plan.people as f64 / plan.state.len() as f64;
    let budget = (plan.budget.min(plan.people) as f64 / scale).round() as usize;
    let world = World::new(plan.settings.observation, &plan.settings.reward, plan.transition);
    let certified = Certified {
        world: &world,
        discount: plan.settings.discount,
        budget,
        steps: plan.steps,
        state: plan.state,
        first: Some(plan.is_listed),
        index: plan.index,
    };
    let found = match &plan.availability {
        None => certified.certificate(plan.seed),
        Some(availability) => certified.certificate_available(availability, plan.seed),
    };
    let scaled = |Mean { mean, low, high, .. }: Mean| Interval {
        value: mean * scale,
        low: low * scale,
        high: high * scale,
    };
    let all = |budget: usize| (budget as f64 * scale).round() as usize;
    let at = |Budgeted { budget, bound, value }: &Budgeted| AtBudget {
        budget: all(*budget),
        bound: bound * scale,
        value: scaled(*value),
    };
    let whole = |Mean { mean, low, high, .. }: Mean| Interval { value: mean, low, high };
    PlanCertificate {
        people: plan.people,
        simulated: plan.state.len(),
        steps: plan.steps,
        no_action: found.no_action * scale,
        bound: found.bound * scale,
        value: scaled(found.value),
        share: found.share().map(whole),
        heuristic: None,
        one_more: found.one_more,
        enough: all(found.enough),
        curve: found.curve.iter().map(at).collect(),
    }
}

/// Those who stand for `people`: in proportion of those on the list and of the others, by the smallest keys. `listed` and `smallest` are in the
/// order of their keys; `smallest` has all people, or as many as may be needed.
pub(super) fn sample(
    settings: &StudySettings,
    steps: usize,
    people: usize,
    listed: &[u32],
    smallest: &[u32],
) -> Vec<u32> {
    let labels = settings.observation.labels(settings.reward.states());
    let most = (TABLE / (steps * labels)).clamp(LEAST, MOST);
    if people <= most {
        return smallest.to_vec();
    }
    let part = most as f64 / people as f64;
    let count = |of: usize| (of as f64 * part).round() as usize;
    let is_listed: HashSet<u32> = listed.iter().copied().collect();
    let others = smallest.iter().filter(|place| !is_listed.contains(place));
    let mut chosen: Vec<u32> = listed[..count(listed.len())].to_vec();
    chosen.extend(others.take(count(people - listed.len())));
    chosen
}

/// Of two instances together, whose simulations know nothing of each other.
pub(super) fn add(all: Option<PlanCertificate>, more: Option<PlanCertificate>) -> Option<PlanCertificate> {
    let (mut all, more) = match (all, more) {
        (Some(all), Some(more)) => (all, more),
        (all, more) => return all.or(more),
    };
    all.people += more.people;
    all.simulated += more.simulated;
    all.steps = all.steps.max(more.steps);
    all.no_action += more.no_action;
    all.bound += more.bound;
    all.value = sum(all.value, more.value);
    let way = all.bound - all.no_action;
    let part = |x: f64| (x - all.no_action) / way;
    all.share = (all.share.is_some() || more.share.is_some()).then(|| Interval {
        value: part(all.value.value),
        low: part(all.value.low),
        high: part(all.value.high),
    });
    all.one_more += more.one_more;
    all.enough = all.enough.max(more.enough);
    // only budgets that both were asked for
    all.curve.retain_mut(|here| match more.curve.iter().find(|there| there.budget == here.budget) {
        None => false,
        Some(there) => {
            here.bound += there.bound;
            here.value = sum(here.value, there.value);
            true
        }
    });
    Some(all)
}

fn sum(a: Interval, b: Interval) -> Interval {
    let reach = |below: bool| match below {
        true => (a.value - a.low).hypot(b.value - b.low),
        false => (a.high - a.value).hypot(b.high - b.value),
    };
    let value = a.value + b.value;
    Interval { value, low: value - reach(true), high: value + reach(false) }
}
