//! One person's three periods, in a sentence: so that a reader sees what a row of the study means.

use crate::align::{Aligned, Summed};
use crate::dates::{DAY, in_words, iso_day};
use crate::mapping::{Mapping, Measure};
use crate::records::{ACTIONS, Record};
use crate::registry::Registry;
use restive::instance::UNSEEN;
use restive_tables::show;

/// The sentence; none where nobody was called between two known states.
pub(crate) fn tell(
    mapping: &Mapping,
    registry: &Registry,
    aligned: &Aligned,
    records: &[Record],
) -> Option<String> {
    let (state, action) = (&aligned.state, &aligned.action);
    let mut found: Option<(usize, usize)> = None;
    'all: for t in 0..aligned.periods().saturating_sub(1) {
        for i in 0..registry.len() {
            let (before, after) = (state[[0, t, i]], state[[0, t + 1, i]]);
            if action[[0, t, i]] == 1 && before != UNSEEN && after != UNSEEN {
                found = found.or(Some((t, i)));
                // one whose state rose says most
                if after > before {
                    found = Some((t, i));
                    break 'all;
                }
            }
        }
    }
    let (t, i) = found?;
    let every = mapping.every;
    let start = |p: usize| every.start(aligned.first + p as i64);
    let own = |r: &&Record| r.person as usize == i;
    let within = |p: usize| move |r: &&Record| (start(p)..start(p + 1)).contains(&r.time.div_euclid(DAY));
    let because = |p: usize| {
        let is_event = |r: &&Record| r.log != ACTIONS && mapping.state.from.contains(&usize::from(r.log));
        let values: Vec<f64> =
            records.iter().filter(own).filter(within(p)).filter(is_event).map(|r| r.value).collect();
        let days = format!("{} to {}", iso_day(start(p)), iso_day(start(p + 1) - 1));
        if values.is_empty() {
            return format!("because there is no record of {days}");
        }
        let what = match mapping.state.measure {
            Measure::Count => "the count".into(),
            Measure::Last => "the last value".into(),
            measure => format!("the {}", measure.name()),
        };
        let mut summed = Summed::NONE;
        values.iter().for_each(|value| summed.add(*value));
        let measured = summed.measure(mapping.state.measure);
        let measured = (measured * 100.0).round() / 100.0;
        let thresholds: Vec<String> = mapping.state.at_least.iter().map(f64::to_string).collect();
        let records = restive_tables::words::counted(values.len() as u64, "record");
        format!("because {what} of {records} of {days} is {measured} (at least {})", thresholds.join(", "))
    };
    let named = |p: usize| &mapping.state.names[usize::from(state[[0, p, i]])];
    let call = records
        .iter()
        .filter(own)
        .filter(within(t + 1))
        .find(|r| r.log == ACTIONS && mapping.actions.is_call(r.value));
    let called = call.map_or_else(
        || "called as planned".to_string(),
        |call| format!("called on {}", in_words(call.time.div_euclid(DAY))),
    );
    Some(format!(
        "Person {}: on {} {}, {}; {called}; on {} {}, {}. Row {t} of the study has the first state and the call, row {} the second \
         state.",
        show::name(&registry.arms[i]),
        in_words(start(t + 1)),
        named(t),
        because(t),
        in_words(start(t + 2)),
        named(t + 1),
        because(t + 1),
        t + 1
    ))
}
