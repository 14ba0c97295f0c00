//! `few-calls`: how small an effect could be noticed. From the slope of the next state on the call, within step and state: an effect of
//! 2.8 standard errors is found four times in five by a test that errs once in twenty. Between two halves of people each effect has √2
//! of the error, and their difference twice: an individual effect needs four times the calls of an average one.

use super::finding::{Finding, Severity};
use super::log::Log;
use crate::identification::LEAST_CALLS;
use crate::words::grouped;
use restive::evidence::Alignment;

const NAME: &str = "few-calls";
/// Standard errors of an effect that is found four times in five.
const FOUND: f64 = 2.8;

pub(super) fn few_calls(log: &Log<'_>, rows: Option<&Alignment>) -> Finding {
    let pulls = log.pulls();
    let calls = grouped(pulls as u64);
    let what = "go on calling by lot or in turn; until then trust averages over all, and rank by what is known to matter";
    if pulls == 0 {
        return Finding::new(
            NAME,
            Severity::Serious,
            "Nobody was ever called: nothing can be learnt of what a call does.",
            what,
        );
    }
    let least = LEAST_CALLS;
    let Some(rows) = rows else {
        let found = format!("{calls} calls; an individual effect asks for at least {least}.");
        return match pulls < least {
            true => Finding::new(NAME, Severity::Warning, found, what),
            false => Finding::note(
                NAME,
                found
                    + " How small an effect could be noticed is not known where states are seen at calls only.",
            ),
        };
    };
    let Some(next) = &rows.next else {
        let found = format!(
            "{calls} calls, and no comparison: at no step were some called and others in the same state not."
        );
        return Finding::new(NAME, Severity::Warning, found, what);
    };
    let (average, halves) = (100.0 * FOUND * next.error, 100.0 * FOUND * 2.0 * next.error);
    let found = format!(
        "With {calls} calls one could notice an effect of at least {average:.1} points on the next state on average, and a difference of \
         {halves:.1} points between two halves of people (of 100 from the worst state to the best, four times in five)."
    );
    match () {
        () if pulls < least || halves > 20.0 => Finding::new(NAME, Severity::Warning, found, what),
        () if halves > 10.0 => Finding::note(NAME, found),
        () => Finding::fine(NAME, found),
    }
}
