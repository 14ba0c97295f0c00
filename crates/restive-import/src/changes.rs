//! What an import changed of the past: states and actions that an earlier one had told otherwise.

use crate::align::Aligned;
use crate::dates::iso_day;
use crate::mapping::Mapping;
use crate::programme::Previous;
use restive::instance::{NO_ACTION, UNSEEN};
use restive_tables::Cells;
use std::collections::HashMap;

/// One thing that is told otherwise now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// the first day of the period
    pub period: String,
    /// the person
    pub arm: String,
    /// `state` or `action`
    pub what: &'static str,
    /// as it was told; empty: not known
    pub before: String,
    /// as it is told now
    pub now: String,
}

/// Compares with the study of the earlier import, person by person and period by period. Periods and people that are new are no
/// changes.
pub(crate) fn compare(
    mapping: &Mapping,
    previous: &Previous,
    arms: &[String],
    aligned: &Aligned,
) -> Vec<Change> {
    let Some(old) = previous.study.instances.first() else { return Vec::new() };
    let places: HashMap<&str, usize> = arms.iter().enumerate().map(|(i, arm)| (arm.as_str(), i)).collect();
    let logged = &old.trajectories;
    let (state, action) = (logged.state(), logged.action());
    let mut changes = Vec::new();
    for t in 0..logged.steps() {
        let Some(period) = previous.summary.periods.get(t) else { break };
        let p = period.number - aligned.first;
        if !(0..aligned.periods() as i64).contains(&p) {
            continue;
        }
        let p = p as usize;
        let start = iso_day(mapping.every.start(period.number));
        for (was, arm) in old.arms.iter().enumerate() {
            let Some(&i) = places.get(arm.as_str()) else { continue };
            let mut told = |what: &'static str, before: Option<u16>, now: Option<u16>| {
                if before != now {
                    let shown = |x: Option<u16>| x.map_or(String::new(), |x| x.to_string());
                    let (before, now) = (shown(before), shown(now));
                    changes.push(Change { period: start.clone(), arm: arm.clone(), what, before, now });
                }
            };
            let known = |s: u16| Some(s).filter(|s| *s != UNSEEN);
            told("state", known(state[[0, t, was]]), known(aligned.state[[0, p, i]]));
            // the last row of a study has no actions yet
            if t + 1 < logged.steps() && p + 1 < aligned.periods() {
                let known = |a: u8| Some(u16::from(a)).filter(|a| *a != u16::from(NO_ACTION));
                told("action", known(action[[0, t, was]]), known(aligned.action[[0, p, i]]));
            }
        }
    }
    changes
}

pub(crate) fn columns(changes: &[Change]) -> Vec<(&'static str, Cells)> {
    let text = |cell: fn(&Change) -> String| Cells::Text(changes.iter().map(cell).collect());
    vec![
        ("period", text(|c| c.period.clone())),
        ("arm", text(|c| c.arm.clone())),
        ("what", text(|c| c.what.into())),
        ("before", text(|c| c.before.clone())),
        ("now", text(|c| c.now.clone())),
    ]
}
