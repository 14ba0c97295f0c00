//! Facts of a plan that follow from the rows of its study, computed from the maps of the naive reader.

use super::plan_cases::{PlanCase, named};
use restive_pipeline::{Chosen, LastSeen, Plan, PlannedArm};
use restive_testkit::naive_study::{ArmKey, NaiveStudy, Value};
use std::collections::BTreeMap;

/// One arm of a study with one trajectory per instance.
#[derive(Default)]
struct NaiveArm {
    /// Last state that was seen.
    state: Option<usize>,
    /// Steps from then to the planned step.
    last_seen: Option<usize>,
    /// Steps from the end of the last call to the planned step.
    last_call: Option<usize>,
    calls: usize,
    age: Option<i64>,
    district: String,
    own: f64,
}

fn arms(naive: &NaiveStudy) -> BTreeMap<ArmKey, NaiveArm> {
    let column = |name: &str| naive.features.iter().position(|other| other == name).unwrap();
    let [age, district, own] = ["age", "district", "own"].map(column);
    let mut arms = BTreeMap::new();
    for (key, arm) in &naive.arms {
        let (Value::Text(district), Value::Number(own)) = (&arm.features[district], &arm.features[own])
        else {
            panic!("{key:?}: found a missing value, expected a district and a number")
        };
        let age = match arm.features[age] {
            Value::Number(age) => Some(age as i64),
            _ => None,
        };
        arms.insert(
            key.clone(),
            NaiveArm { age, district: district.clone(), own: *own, ..NaiveArm::default() },
        );
    }
    let mut now: BTreeMap<&String, usize> = BTreeMap::new();
    for ((instance, _, _, t), step) in &naive.steps {
        let next = if step.action.is_some() { t + 1 } else { 0 };
        let now = now.entry(instance).or_default();
        *now = next.max(*now);
    }
    // steps of an arm are in the order of time
    for ((instance, _, arm, t), step) in &naive.steps {
        let now = now[instance];
        let arm = arms.get_mut(&(instance.clone(), arm.clone())).unwrap();
        if step.state.is_some() {
            (arm.state, arm.last_seen) = (step.state, Some(now - t));
        }
        if step.action == Some(1) {
            arm.last_call = Some(now - (t + 1));
            arm.calls += 1;
        }
    }
    arms
}

/// Step that is planned: the one after the last action.
pub fn planned_step(naive: &NaiveStudy) -> usize {
    naive.steps.iter().filter(|(_, step)| step.action.is_some()).map(|((.., t), _)| t + 1).max().unwrap()
}

/// Checks the policy, states, counts and rules of a plan.
pub fn assert_plan(plan: &Plan, naive: &NaiveStudy, case: &PlanCase, context: &str) {
    assert_eq!(plan.policy, case.policy, "{context}");
    if case.is_labelled() {
        return assert_labels(plan, naive, context);
    }
    let is_planned =
        |(key, _): &(&ArmKey, &NaiveArm)| case.asked.instance.as_ref().is_none_or(|k| *k == key.0);
    let arms = arms(naive);
    let all: Vec<(&ArmKey, &NaiveArm)> = arms.iter().filter(is_planned).collect();
    let seen = || all.iter().map(|(_, arm)| *arm).filter(|arm| arm.state.is_some());
    assert_eq!(
        (plan.effects.identified().unwrap().bound.arms, plan.never_observed),
        (seen().count(), all.len() - seen().count()),
        "{context}"
    );
    assert_eq!(
        plan.effects.identified().unwrap().certificate.as_ref().unwrap().people,
        seen().count(),
        "{context}"
    );
    let budget = naive.settings["budget"].as_integer().unwrap() as usize;
    let mut lists: BTreeMap<&String, Vec<(&PlannedArm, &NaiveArm)>> = BTreeMap::new();
    for row in &plan.plan {
        let arm = &arms[&(row.instance.clone(), row.arm.clone())];
        let LastSeen::State { state } = row.place else { panic!("a study without labels") };
        let recency = (row.recency.last_seen, row.recency.last_call, row.recency.calls);
        assert_eq!(Some(usize::from(state)), arm.state, "{context}: {}", row.arm);
        assert_eq!(recency, (arm.last_seen, arm.last_call, arm.calls), "{context}: {}", row.arm);
        let list = lists.entry(&row.instance).or_default();
        list.push((row, arm));
        assert_eq!(row.rank, list.len(), "{context}");
    }
    let keeps_out = plan.rules.iter().find_map(|rule| rule.keeps_out);
    for list in lists.values() {
        assert!(list.len() <= budget, "{context}");
        assert!(case.kind != 0 || case.asked.only_beneficial || list.len() == budget, "{context}");
        assert_rules(case, list, naive.arms.len(), context);
    }
    let kept_out = match case.kind {
        2 => Some(1),
        3 => Some(seen().filter(|arm| arm.last_seen.unwrap() >= 3).count()),
        5 => Some(seen().filter(|arm| arm.last_call.is_some_and(|ago| ago < 2)).count()),
        _ => None,
    };
    assert_eq!(keeps_out, kept_out, "{context}");
}

/// Checks labels and counts of a plan of arms whose states are observed at pulls only.
fn assert_labels(plan: &Plan, naive: &NaiveStudy, context: &str) {
    let (arms, now) = (arms(naive), planned_step(naive));
    let label = |(instance, arm): &ArmKey| {
        let step = naive.steps.get(&(instance.clone(), "1".into(), arm.clone(), now));
        step.map_or((None, None), |step| (step.state, step.since))
    };
    let unknown = arms.keys().filter(|key| label(key).0.is_none()).count();
    assert_eq!(
        (plan.effects.identified().unwrap().bound.arms, plan.never_observed),
        (arms.len(), unknown),
        "{context}"
    );
    for row in &plan.plan {
        let key = (row.instance.clone(), row.arm.clone());
        let LastSeen::Label { last_state, since } = row.place else { panic!("a study with labels") };
        let found = (last_state.map(usize::from), since.map(usize::from));
        assert_eq!(found, label(&key), "{context}: {}", row.arm);
        let arm = &arms[&key];
        assert_eq!((row.recency.last_call, row.recency.calls), (arm.last_call, arm.calls), "{context}");
    }
}

/// Checks the rules of a case on the list of an instance.
fn assert_rules(case: &PlanCase, list: &[(&PlannedArm, &NaiveArm)], arms: usize, context: &str) {
    let most = |of: &dyn Fn(&NaiveArm) -> Option<String>| {
        let mut counts = BTreeMap::<String, usize>::new();
        list.iter().filter_map(|(_, arm)| of(arm)).for_each(|group| *counts.entry(group).or_default() += 1);
        counts
    };
    let districts = most(&|arm| Some(arm.district.clone()));
    let largest = |counts: &BTreeMap<String, usize>| counts.values().copied().max().unwrap_or(0);
    let is_kept = match case.kind {
        0 => true,
        1 => {
            // a learnable study has two districts
            let has_floor = districts.len() == 2;
            has_floor && districts.get("north").is_none_or(|count| *count <= 2) && largest(&districts) <= 4
        }
        2 => {
            let [one, other, never] = named(arms);
            let is_must = |name: &String| {
                list.iter()
                    .any(|(row, _)| row.arm == *name && row.chosen == Chosen::Must && row.inclusion == 1.0)
            };
            is_must(&one) && is_must(&other) && list.iter().all(|(row, _)| row.arm != never)
        }
        3 => {
            let ages = most(&|arm| arm.age.map(|age| age.to_string()));
            let is_recent = list.iter().all(|(_, arm)| arm.last_seen.unwrap() < 3);
            largest(&districts) <= 3 && largest(&ages) <= 1 && is_recent
        }
        4 => largest(&districts) <= 4 && list.iter().map(|(_, arm)| arm.own).sum::<f64>() <= 3.0,
        _ => {
            let is_rested = list.iter().all(|(_, arm)| arm.last_call.is_none_or(|ago| ago >= 2));
            let is_drawn = list.iter().any(|(row, _)| row.chosen == Chosen::Draw);
            largest(&districts) <= 4 && is_rested && is_drawn
        }
    };
    assert!(is_kept, "{context}: found a list against the rules");
}
