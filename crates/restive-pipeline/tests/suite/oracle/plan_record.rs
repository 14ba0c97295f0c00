//! A plan as JSON: names and order of the list, scores, margins, sums, use of own records, prices of rules, the certificate, notes and
//! warnings.

use restive_pipeline::{
    ArmEffects, AtBudget, Chance, LastSeen, Place, Plan, PlanCertificate, RuleCost, RulePrice,
};
use serde_json::{Value, json};

/// Relative tolerance of the numbers of a plan.
pub fn tolerance(_: &str) -> f64 {
    1e-9
}

/// Record of a plan with its notes. A row of the list is: instance, arm, how it was chosen, state or label, score, value, probability,
/// margin, whether a pull is beneficial.
pub fn record(plan: &Plan, notes: &[String]) -> Value {
    let rows = plan.plan.iter().map(|row| {
        let place = match row.place {
            LastSeen::State { state } => json!(state),
            LastSeen::Label { last_state, since } => json!([last_state, since]),
        };
        let (chosen, score) = (row.chosen.name(), row.worth.value());
        let ArmEffects { value, is_beneficial, margin } =
            row.effects.expect("cards of these cases are identified");
        json!([row.instance, row.arm, chosen, place, score, value, row.inclusion, margin, is_beneficial])
    });
    let place =
        |place: &Option<Place>| place.map(|place| json!([place.score, format!("{:016x}", place.tie)]));
    let cuts = plan.cuts.iter().map(|cut| json!([place(&cut.last), place(&cut.next), cut.is_plain]));
    let price = |RulePrice { rule, keeps_out, cost }: &RulePrice| {
        let RuleCost { costs, is_rough } = cost.expect("cards of these cases are identified");
        json!([rule, keeps_out, costs, is_rough])
    };
    let effects = plan.effects.identified().expect("cards of these cases are identified");
    let repetitions = match plan.chance {
        Chance::Exact => None,
        Chance::Simulated { repetitions } => Some(repetitions),
    };
    json!({
        "list": rows.collect::<Vec<_>>(),
        "cuts": cuts.collect::<Vec<_>>(),
        "policy": plan.policy.name(),
        "discount": plan.index_discount,
        "steps": plan.steps,
        "places": [plan.budget, plan.explore, plan.drawn],
        "repetitions": repetitions,
        "history": plan.history,
        "notes": notes,
        "warnings": plan.warnings(),
        "gap": plan.gap,
        "value": effects.value,
        "bound": [effects.bound.any_policy, effects.bound.no_action],
        "arms": [effects.bound.arms, plan.never_observed, plan.not_indexable, plan.gone, plan.not_to_be_called],
        "rules": plan.rules.iter().map(price).collect::<Vec<_>>(),
        "certificate": effects.certificate.as_ref().map(certificate),
    })
}

fn certificate(found: &PlanCertificate) -> Value {
    let curve =
        found.curve.iter().map(|AtBudget { budget, bound, value }| json!([budget, bound, value.value]));
    json!({
        "people": [found.people, found.simulated],
        "steps": found.steps,
        "bound": [found.no_action, found.bound],
        "value": [found.value.low, found.value.value, found.value.high],
        "share": found.share.map(|share| [share.low, share.value, share.high]),
        "heuristic": found.heuristic,
        "one_more": found.one_more,
        "enough": found.enough,
        "curve": curve.collect::<Vec<_>>(),
    })
}
