//! A plan of a study that is in memory: everybody of an instance passes by at once.

use super::choose::Choice;
use super::contender::Contender;
use super::finish::{Again, Drafted};
use super::gather::{Assessed, Gathered, counted};
use super::here::Here;
use super::outset::{Outset, Stage};
use super::recorded::RecordedScores;
use super::row::{Chosen, Eligible, Excluded};
use super::{Plan, PlanAsked};
use crate::apply::Applied;
use crate::error::Result;
use crate::latest::planned_step;
use ndarray::Axis;
use restive::allocation::tie_key;
use restive::planning::SAMPLE;
use restive::simulation::{Availability, AvailabilityChain};
use restive_tables::arm_key;
use std::collections::HashMap;

impl Applied<'_> {
    /// Whom to pull next.
    pub fn plan(&self, asked: &PlanAsked) -> Result<Plan> {
        self.plan_by(asked, None)
    }

    /// Like [`plan`](Self::plan), but chooses the arms by recorded scores: choice, draw, order and probabilities have the same bits on
    /// every processor. `recorded` collects the arms with scores that the model does not confirm.
    pub fn plan_again(&self, asked: &PlanAsked, recorded: &mut RecordedScores) -> Result<Plan> {
        self.plan_by(asked, Some(recorded))
    }

    fn plan_by(&self, asked: &PlanAsked, mut recorded: Option<&mut RecordedScores>) -> Result<Plan> {
        let study = self.study;
        let instances: Vec<(&str, usize)> = study
            .instances
            .iter()
            .map(|there| (there.name.as_str(), planned_step(&there.trajectories)))
            .collect();
        asked.check()?;
        let history = self.history(asked.history)?;
        let mut outset = Outset::new(asked, &study.settings, history, self.card, &instances)?;
        let mut plan = Plan::new(&outset);
        let stages = std::mem::take(&mut outset.stages);
        for mut stage in stages {
            self.add_instance(&mut plan, &outset, &mut stage, recorded.as_deref_mut())?;
        }
        plan.finish();
        Ok(plan)
    }

    fn add_instance(
        &self,
        plan: &mut Plan,
        outset: &Outset<'_>,
        stage: &mut Stage,
        recorded: Option<&mut RecordedScores>,
    ) -> Result<()> {
        let (there, prediction) = (&self.study.instances[stage.instance], &self.predictions[stage.instance]);
        let people = outset.asked.people.as_ref();
        let here =
            Here::new(there, prediction, &outset.rule, outset.settings.observation, people, stage.now)?;
        let candidates = outset.candidates(&here)?;
        let standing = counted(&here, &candidates);
        stage.price = Some(match here.len() > SAMPLE {
            false => outset.price(stage, &here.transition, &standing, here.len()),
            true => {
                let mut keyed: Vec<(u64, usize)> =
                    there.arms.iter().enumerate().map(|(i, arm)| (arm_key(&stage.name, arm), i)).collect();
                keyed.select_nth_unstable(SAMPLE);
                let mut sample: Vec<usize> = keyed[..SAMPLE].iter().map(|(_, i)| *i).collect();
                sample.sort_unstable();
                let standing: Vec<Option<u16>> = sample.iter().map(|i| standing[*i]).collect();
                outset.price(stage, &here.transition.select_arms(&sample), &standing, here.len())
            }
        });
        let mut assessed = Assessed::new(outset, stage, &here, candidates)?;
        if let Some(recorded) = recorded {
            recorded.replace(&there.arms, &mut assessed, outset.settings.reward.view());
        }
        let mut gathered = Gathered::new(outset);
        let places: Vec<u32> = (0..here.len() as u32).collect();
        gathered.take(outset, stage, &here, &assessed, &places)?;
        let name = |place: u32| there.arms[place as usize].as_str();
        let drafted = Drafted::new(outset, stage, gathered, &assessed.candidates.rules, name)?;
        let rows: Vec<usize> = drafted.wanted().into_iter().map(|place| place as usize).collect();
        let kept = |i: &usize| here.known.person(*i).map_or(Vec::new(), |person| person.kept.clone());
        let availability = here.is_available.as_ref().zip(AvailabilityChain::fit(&[&there.trajectories]));
        let details = Again {
            transition: here.transition.select_arms(&rows),
            index: assessed.index.as_ref().map(|table| table.select(Axis(0), &rows)),
            recency: rows.iter().map(|i| here.known.recency[*i]).collect(),
            kept: rows.iter().map(kept).collect(),
            state: rows.iter().map(|i| here.ranked[*i]).collect(),
            availability: availability.map(|(available, chain)| Availability {
                initial: rows.iter().map(|i| available[*i]).collect(),
                chain,
            }),
        };
        everybody(plan, outset, stage, &here, &assessed, &drafted.people, &drafted.choice);
        drafted.add_to(plan, outset, stage, &details);
        Ok(())
    }
}

/// Writes down what became of everybody.
fn everybody(
    plan: &mut Plan,
    outset: &Outset<'_>,
    stage: &Stage,
    here: &Here<'_>,
    assessed: &Assessed,
    people: &[Contender],
    choice: &Choice,
) {
    let candidates = &assessed.candidates;
    let by_place: HashMap<u32, usize> = people.iter().enumerate().map(|(c, one)| (one.place, c)).collect();
    for i in 0..here.len() {
        let pays = !outset.asked.only_beneficial || assessed.score[i] > 0.0 || candidates.must[i];
        let is_candidate = candidates.may(i) && pays;
        if !is_candidate && !candidates.is_apart(i) {
            let why = candidates.why_not(i, &here.known).unwrap_or_else(|| "a call does not pay".into());
            plan.excluded.push(Excluded { instance: stage.instance, arm: i, why });
            continue;
        }
        let contender = by_place.get(&(i as u32)).filter(|_| is_candidate);
        plan.eligible.push(Eligible {
            instance: stage.instance,
            arm: i,
            state: here.ranked[i].expect("candidates have a state"),
            inclusion: contender.map_or(0.0, |c| choice.inclusion[*c]),
            chosen: contender.map_or(Chosen::No, |c| choice.chosen[*c]),
            score: assessed.score[i],
            value: plan.effects.identified().map(|_| assessed.value[i]),
            tie: tie_key(outset.asked.seed, &stage.period, &here.known.arms[i]),
            is_control: candidates.is_control[i],
        });
    }
}
