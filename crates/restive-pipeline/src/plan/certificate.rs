//! How far the plan comes towards what no policy exceeds, and what more or fewer pulls would bring ([`restive::evaluation::certificate`]).
//!
//! Those are counted whom a plan can do something for: who has left, must not be called or is left alone by a trial earns the same under
//! any plan. At the first decision those are pulled who are on the list, whatever rules made it; from then on the ranking decides, within the
//! budget and without rules. Of many people a sample stands for all, of those on the list and of the others in proportion, by the smallest
//! keys; what is simulated on it is told as of everybody.

use crate::evaluate::Interval;
use crate::words::{counted, grouped};
use ndarray::{Array2, Axis};
use restive::evaluation::{Budgeted, Certified, World};
use restive::statistics::Mean;
use restive::{Instance, Transition};
use restive_tables::arm_key;
use serde::{Deserialize, Serialize};

/// People that are simulated, at most.
const MOST: usize = 2_000;
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

/// The plan of an instance.
pub(super) struct Certifying<'a> {
    pub(super) instance: &'a Instance,
    pub(super) transition: &'a Transition,
    pub(super) name: &'a str,
    pub(super) arms: &'a [String],
    /// none where a plan can do nothing
    pub(super) state: &'a [Option<u16>],
    pub(super) listed: &'a [usize],
    pub(super) index: Option<&'a Array2<f64>>,
    pub(super) budget: usize,
    pub(super) steps: usize,
    pub(super) seed: u64,
}

/// What the plan of an instance promises; none where there is nobody.
pub(super) fn certify(plan: &Certifying<'_>) -> Option<PlanCertificate> {
    let people: Vec<usize> = (0..plan.state.len()).filter(|i| plan.state[*i].is_some()).collect();
    if people.is_empty() || plan.steps == 0 {
        return None;
    }
    let labels = plan.instance.labels();
    let most = (TABLE / (plan.steps * labels)).clamp(LEAST, MOST);
    let mut is_listed = vec![false; plan.state.len()];
    plan.listed.iter().for_each(|i| is_listed[*i] = true);
    let chosen = sample(plan, &people, &is_listed, most);
    let scale = people.len() as f64 / chosen.len() as f64;
    let budget = (plan.budget.min(people.len()) as f64 / scale).round() as usize;
    let transition = plan.transition.select_arms(&chosen);
    let world = World::new(plan.instance.observation(), plan.instance.reward(), &transition);
    let state: Vec<u16> = chosen.iter().map(|i| plan.state[*i].expect("only those with one")).collect();
    let first: Vec<bool> = chosen.iter().map(|i| is_listed[*i]).collect();
    let index = plan.index.map(|table| table.select(Axis(0), &chosen));
    let certified = Certified {
        world: &world,
        discount: plan.instance.discount(),
        budget,
        steps: plan.steps,
        state: &state,
        first: Some(&first),
        index: index.as_ref().map(|table| table.view()),
    };
    let found = certified.certificate(plan.seed);
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
    Some(PlanCertificate {
        people: people.len(),
        simulated: chosen.len(),
        steps: plan.steps,
        no_action: found.no_action * scale,
        bound: found.bound * scale,
        value: scaled(found.value),
        share: found.share().map(whole),
        heuristic: None,
        one_more: found.one_more,
        enough: all(found.enough),
        curve: found.curve.iter().map(at).collect(),
    })
}

/// Those who stand for all: in proportion of those on the list and of the others, in the order of the study.
fn sample(plan: &Certifying<'_>, people: &[usize], is_listed: &[bool], most: usize) -> Vec<usize> {
    if people.len() <= most {
        return people.to_vec();
    }
    let part = most as f64 / people.len() as f64;
    let mut chosen = Vec::with_capacity(most + 1);
    for listed in [true, false] {
        let mut some: Vec<(u64, usize)> = people
            .iter()
            .filter(|i| is_listed[**i] == listed)
            .map(|i| (arm_key(plan.name, &plan.arms[*i]), *i))
            .collect();
        some.sort_unstable();
        let count = (some.len() as f64 * part).round() as usize;
        chosen.extend(some.into_iter().take(count).map(|(_, i)| i));
    }
    chosen.sort_unstable();
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
