//! The present list beside what was tried: a few numbers, what every rule costs, who would come in and who would drop out.

use crate::desk::Snapshot;
use crate::look::spoken;
use crate::look::words::Words;
use restive_pipeline::PlanCertificate;
use restive_programme::{Capacity, Draft, WhatIf};
use restive_report::number::fixed;

/// People who are named.
const MOST: usize = 200;

/// Tables with what holds now, and what would with the numbers that were tried.
pub(super) struct Rows {
    /// name, now, then
    pub(super) facts: Vec<(String, String, String)>,
    /// rule, its price now, its price then
    pub(super) prices: Vec<(String, String, String)>,
}

/// Somebody who would come in or drop out.
pub(super) struct Name<'a> {
    pub(super) id: &'a str,
    pub(super) name: &'a str,
}

/// The names of people; nobody's where names are not to be seen.
pub(super) fn names<'a>(snapshot: &'a Snapshot, arms: &[String], may_see: bool) -> Vec<Name<'a>> {
    let contacts = &snapshot.backdrop.contacts;
    let column = contacts.kept.iter().position(|one| one.eq_ignore_ascii_case("name"));
    let name = |arm: &String| {
        let contact = contacts.person(arm).ok()?;
        let name = column.and_then(|k| contact.kept.get(k)).map_or("", String::as_str);
        Some(Name { id: &contact.id, name })
    };
    if may_see { arms.iter().take(MOST).filter_map(name).collect() } else { Vec::new() }
}

/// The tables.
pub(super) fn rows(
    draft: Option<&Draft>,
    now: Option<&PlanCertificate>,
    tried: Option<&WhatIf>,
    unit: &str,
    w: &Words,
) -> Rows {
    let none = || "–".to_string();
    let [present, after] = [draft.map(|draft| &draft.effects), tried.map(|tried| &tried.effects)]
        .map(|effects| effects.and_then(|effects| effects.identified()));
    let then = after.and_then(|effects| effects.certificate.as_ref());
    let pair = |name: String, now: Option<String>, then: Option<String>| {
        (name, now.unwrap_or_else(none), then.unwrap_or_else(none))
    };
    let facts = draft.map(|draft| &draft.record.facts);
    let both =
        |name: String, value: fn(&PlanCertificate) -> String| pair(name, now.map(value), then.map(value));
    let share = |one: &PlanCertificate| match one.share {
        None => "–".into(),
        // no list passes the bound: what is beyond it is noise of the simulation
        Some(share) => format!("{} %", fixed(100.0 * share.value.min(1.0), 1)),
    };
    let mut facts = vec![
        pair(
            w.t("capacity.places").into(),
            draft.map(|draft| draft.rows.len().to_string()),
            tried.map(|one| one.places.to_string()),
        ),
        pair(
            w.t("capacity.lots").into(),
            facts.map(|facts| facts.explore_places.to_string()),
            tried.map(|one| one.drawn.to_string()),
        ),
    ];
    let effects = [
        pair(
            w.f1("capacity.adds", "unit", unit),
            present.map(|effects| fixed(effects.value, 1)),
            after.map(|effects| fixed(effects.value, 1)),
        ),
        both(w.f1("capacity.gain", "unit", unit), |one| fixed(one.value.value - one.no_action, 1)),
        both(w.t("capacity.way").into(), share),
        both(w.f1("capacity.one_more", "unit", unit), |one| fixed(one.one_more, 2)),
        both(w.t("capacity.enough").into(), |one| one.enough.to_string()),
    ];
    if present.or(after).is_some() {
        facts.extend(effects);
    }
    let before = draft.map(|draft| Capacity::prices(&draft.list.summary)).unwrap_or_default();
    let after = tried.map_or(&[][..], |tried| &tried.prices);
    let said = |(rule, now, then): (String, String, String)| {
        (spoken::rule(&rule, w), spoken::price(&now, w), spoken::price(&then, w))
    };
    let prices = prices(&before, after, tried.is_some()).into_iter().map(said).collect();
    Rows { facts, prices }
}

/// What rules cost now and then. Rules come in their order, so that where there are as many they are the same, but for their numbers.
fn prices(
    before: &[(String, String)],
    after: &[(String, String)],
    has_after: bool,
) -> Vec<(String, String, String)> {
    if has_after && before.len() == after.len() {
        let both = before.iter().zip(after).map(|((old, now), (new, then))| {
            let rule = if old == new { old.clone() } else { format!("{old} → {new}") };
            (rule, now.clone(), then.clone())
        });
        return both.collect();
    }
    let find = |all: &[(String, String)], rule: &str| {
        all.iter().find(|(name, _)| name == rule).map_or("–".into(), |(_, price)| price.clone())
    };
    let known = before.iter().map(|(rule, price)| (rule.clone(), price.clone(), find(after, rule)));
    let new = after.iter().filter(|(rule, _)| !before.iter().any(|(name, _)| name == rule));
    known.chain(new.map(|(rule, price)| (rule.clone(), "–".into(), price.clone()))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs(all: &[(&str, &str)]) -> Vec<(String, String)> {
        all.iter().map(|(rule, price)| (rule.to_string(), price.to_string())).collect()
    }

    #[test]
    fn rules_stand_beside_themselves_whatever_their_numbers() {
        let before = pairs(&[("worker: at most 3", "costs 1"), ("lots", "costs 2")]);
        let after = pairs(&[("worker: at most 4", "costs nothing"), ("lots", "costs 3")]);
        let both = prices(&before, &after, true);
        assert_eq!(both[0].0, "worker: at most 3 → worker: at most 4");
        assert_eq!((both[1].1.as_str(), both[1].2.as_str()), ("costs 2", "costs 3"));
        let fewer = prices(&before, &after[1..], true);
        assert_eq!((fewer[0].2.as_str(), fewer[1].2.as_str()), ("–", "costs 3"));
        assert_eq!(prices(&before, &[], false).len(), 2);
    }
}
