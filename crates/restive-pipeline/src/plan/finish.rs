//! From those who can still have a place to the list of an instance.

use super::ahead::{Bound, spent};
use super::certificate::{self, Certifying, PlanCertificate};
use super::choose::{Among, Choice};
use super::contender::Contender;
use super::gather::{Gathered, Tally};
use super::outset::{Outset, Stage};
use super::row::{ArmEffects, Chosen, Cut, LastSeen, PlannedArm, Worth};
use super::{Plan, PolicyName, choose};
use crate::error::{Result, refuse};
use crate::identification::Identification;
use crate::rules::people::Recency;
use ndarray::Array2;
use restive::Transition;
use restive::instance::Assignment;
use restive::simulation::Availability;
use restive_tables::{arm_key, by_name, show};

/// What is known of some people when they are looked at once more, in the order in which they were asked for.
pub(crate) struct Again {
    /// how they move, in the light of their records
    pub(crate) transition: Transition,
    /// where people are ranked by it
    pub(crate) index: Option<Array2<f64>>,
    pub(crate) recency: Vec<Recency>,
    /// what the people's table keeps of each
    pub(crate) kept: Vec<Vec<String>>,
    /// where they stand
    pub(crate) state: Vec<Option<u16>>,
    /// Availability at this decision and the chain of later ones; `None` if the log does not say.
    pub(crate) availability: Option<Availability>,
}

/// The list of an instance, before those who are on it are looked at once more.
pub(crate) struct Drafted {
    /// those who could still have a place, in the order of their names
    pub(crate) people: Vec<Contender>,
    pub(crate) choice: Choice,
    tally: Tally,
    rows: Vec<PlannedArm>,
    /// who is on the list, in its order
    listed: Vec<u32>,
    /// who stands for everybody in the certificate, in the order of their names
    sample: Vec<u32>,
}

impl Drafted {
    /// `name` says what people of the instance are called, by place; `keeping_out` what keeps people out, in a few words.
    pub(crate) fn new<'n>(
        outset: &Outset<'_>,
        stage: &Stage,
        gathered: Gathered,
        keeping_out: &[String],
        name: impl Fn(u32) -> &'n str,
    ) -> Result<Self> {
        let smallest = gathered.smallest();
        let Gathered { contenders, tally, .. } = gathered;
        let (mut people, cells) = contenders.finish();
        tally.check(&outset.asked.rules, &cells)?;
        people.sort_by(|a, b| by_name(name(a.place), name(b.place)));
        let names: Vec<&str> = people.iter().map(|one| name(one.place)).collect();
        if let Some(twice) = names.windows(2).find(|pair| pair[0] == pair[1]) {
            let (arm, instance) = (show::name(twice[0]), show::name(&stage.name));
            refuse!("people: instance {instance}: found {arm} twice, expected one row a person");
        }
        let kept_out =
            |(k, rule): (usize, &String)| (rule.clone(), tally.kept_out.get(k).copied().unwrap_or(0));
        let keeping_out: Vec<(String, usize)> = keeping_out.iter().enumerate().map(kept_out).collect();
        let among = Among { people: &people, cells: &cells, names: &names, keeping_out: &keeping_out };
        let choice = Choice::new(outset.asked, &outset.places, &among, &stage.period)?;
        let chain = outset.settings.observation.chain();
        let is_identified = *outset.identification == Identification::Identified;
        let worth = |score: f64| match outset.policy {
            _ if !is_identified => Worth::Score(score + 0.0),
            PolicyName::Whittle => Worth::Index(score + 0.0),
            PolicyName::Horizon => Worth::Advantage(score + 0.0),
        };
        let effects = |i: usize| ArmEffects {
            value: people[i].value + 0.0,
            is_beneficial: people[i].score > 0.0,
            margin: people[i].score - choice.last,
        };
        let row = |(rank, &i): (usize, &usize)| PlannedArm {
            instance: stage.name.clone(),
            arm: names[i].into(),
            place: LastSeen::new(people[i].state, people[i].is_seen, chain),
            recency: Recency::default(),
            worth: worth(people[i].score),
            effects: is_identified.then(|| effects(i)),
            rank: rank + 1,
            inclusion: choice.inclusion[i],
            chosen: choice.chosen[i],
            kept: Vec::new(),
        };
        let rows: Vec<PlannedArm> = choice.listed.iter().enumerate().map(row).collect();
        let listed: Vec<u32> = choice.listed.iter().map(|i| people[*i].place).collect();
        let mut keyed: Vec<(u64, u32)> =
            listed.iter().map(|place| (arm_key(&stage.name, name(*place)), *place)).collect();
        keyed.sort_unstable();
        let by_key: Vec<u32> = keyed.into_iter().map(|(_, place)| place).collect();
        let mut sample = certificate::sample(outset.settings, stage.steps, tally.counted, &by_key, &smallest);
        sample.sort_by(|a, b| by_name(name(*a), name(*b)));
        Ok(Self { people, choice, tally, rows, listed, sample })
    }

    /// Who is to be looked at once more: those on the list, then those who stand for everybody.
    pub(crate) fn wanted(&self) -> Vec<u32> {
        self.listed.iter().chain(&self.sample).copied().collect()
    }

    /// Adds this list to a plan; `details` are of those who were [wanted](Self::wanted), in their order.
    pub(crate) fn add_to(self, plan: &mut Plan, outset: &Outset<'_>, stage: &Stage, details: &Again) {
        let Self { people, mut choice, tally, mut rows, listed, sample } = self;
        for (row, (recency, kept)) in rows.iter_mut().zip(details.recency.iter().zip(&details.kept)) {
            row.recency = *recency;
            row.kept = kept.clone();
        }
        plan.steps = [plan.steps[0].min(stage.steps), plan.steps[1].max(stage.steps)];
        if let Some(effects) = plan.effects.identified_mut() {
            let certificate = certified(outset, stage, &tally, &listed, &sample, details);
            let budget = outset.places.budget as f64;
            let spent =
                stage.price.as_ref().map_or(0.0, |price| spent(price, outset.settings.discount, budget));
            effects.bound.add(&Bound {
                any_policy: tally.worths[0].value() + spent,
                no_action: tally.worths[1].value(),
                arms: tally.counted,
            });
            effects.certificate = certificate::add(effects.certificate.take(), certificate);
            effects.value += choice.value;
        }
        plan.never_observed += tally.never_observed;
        plan.not_indexable += tally.not_indexable;
        plan.gone += tally.gone;
        plan.not_to_be_called += tally.not_to_be_called;
        plan.unobserved += tally.unobserved;
        plan.unavailable += tally.unavailable;
        plan.chance = plan.chance.and(choice.chance);
        plan.gap += choice.gap;
        plan.drawn += choice.chosen.iter().filter(|chosen| **chosen == Chosen::Draw).count();
        let is_plain = !outset.places.are_drawn() && outset.asked.rules.is_by_rank_alone();
        let cut: Cut = choice.cut(&people, is_plain);
        plan.cuts.push(cut);
        if plan.effects.identified().is_none() {
            choice.rules.iter_mut().for_each(|rule| rule.cost = None);
        }
        choose::add(&mut plan.rules, choice.rules);
        plan.plan.extend(rows);
    }
}

/// What the list promises; none where there is nobody.
fn certified(
    outset: &Outset<'_>,
    stage: &Stage,
    tally: &Tally,
    listed: &[u32],
    sample: &[u32],
    details: &Again,
) -> Option<PlanCertificate> {
    // a certificate simulates a choice at every decision
    let is_course = outset.settings.assignment == Assignment::PerPerson;
    if sample.is_empty() || stage.steps == 0 || is_course {
        return None;
    }
    let rows: Vec<usize> = (listed.len()..listed.len() + sample.len()).collect();
    let on_list: std::collections::HashSet<u32> = listed.iter().copied().collect();
    let is_listed: Vec<bool> = sample.iter().map(|place| on_list.contains(place)).collect();
    let state: Vec<u16> = rows
        .iter()
        .map(|row| details.state[*row].expect("whom a plan can do something for has one"))
        .collect();
    let transition = details.transition.select_arms(&rows);
    let index = details.index.as_ref().map(|table| table.select(ndarray::Axis(0), &rows));
    Some(certificate::certify(&Certifying {
        settings: outset.settings,
        transition: &transition,
        state: &state,
        is_listed: &is_listed,
        index: index.as_ref().map(|table| table.view()),
        people: tally.counted,
        budget: outset.places.budget,
        steps: stage.steps,
        availability: details.availability.as_ref().map(|all| Availability {
            initial: rows.iter().map(|row| all.initial[*row]).collect(),
            chain: all.chain,
        }),
        seed: outset.asked.seed,
    }))
}
