//! What a trial found, in words.

use super::gather::Gathered;
use super::protocol::Protocol;
use super::record::Weekly;
use crate::status::people_counted;
use restive::trial::{Analysis, Estimator, Refusal};
use restive_pipeline::words::counted;
use restive_tables::show;

/// Why an estimator does not answer, in the words of the programme.
pub(super) fn refusal(why: &Refusal, estimator: Estimator, gathered: &Gathered, weekly: &Weekly) -> String {
    let name =
        |person: &usize| gathered.people.get(*person).map_or(String::new(), |one| show::name(&one.arm));
    match why {
        Refusal::Gap(_) if !weekly.gaps.is_empty() => weekly.gaps.join("; "),
        Refusal::Gap(_) if estimator == Estimator::Adjusted && weekly.no_prognosis.is_some() => {
            let why = weekly.no_prognosis.as_deref().unwrap_or_default();
            format!("nobody can say what the model expected before: {why}")
        }
        Refusal::NotByRule { person, week, is_called } => format!(
            "person {}, week {}: found {}, expected what score, tie and cut say",
            name(person),
            week + 1,
            if *is_called { "a call" } else { "no call" }
        ),
        Refusal::NoPrognosis { person, week } => {
            format!("found no expectation of person {} in week {}, expected one", name(person), week + 1)
        }
        other => other.to_string(),
    }
}

/// What came out, in one sentence.
pub(super) fn sentence(
    analysis: &Analysis,
    protocol: &Protocol,
    weeks: usize,
    noun: &str,
    people: usize,
) -> String {
    let Some(effect) = analysis.primary_effect() else {
        return "Nothing can be said: every estimator is refused.".into();
    };
    let decimals = if effect.estimate.abs().max(effect.se) < 10.0 { 1 } else { 0 };
    let number = |x: f64| format!("{:.decimals$}", x + 0.0).replace("-0.0", "0.0");
    let more = if effect.estimate < 0.0 { "fewer" } else { "more" };
    let each = effect.per_person_called().map_or(String::new(), |each| {
        format!("; per person called {:.2} [{:.2}, {:.2}]", each.estimate + 0.0, each.low, each.high)
    });
    let doubt = match effect.is_beyond_zero() {
        true => "",
        false => " The interval holds 0: that calls do nothing is not ruled out.",
    };
    format!(
        "The calls brought {} {more} {} over {} to the {} who could be called [{}, {}]{each}.{doubt}",
        number(effect.estimate.abs()),
        show::plain(&protocol.counts),
        counted(weeks as u64, noun),
        people_counted(people),
        number(effect.low),
        number(effect.high)
    )
}

/// What should make a reader hesitate.
pub(super) fn flags(analysis: &Analysis, protocol: &Protocol) -> Vec<String> {
    let mut all = Vec::new();
    if analysis.departs_from_protocol {
        let instead = analysis.primary.map_or("none", Estimator::name);
        all.push(format!(
            "the registered estimator, {}, is refused; {instead} stands in its place, which was not agreed on",
            protocol.primary.name()
        ));
    }
    if let Some(apart) = analysis.apart.filter(|_| analysis.is_contradictory()) {
        all.push(format!(
            "the first estimator and the plain difference are {apart:.1} standard errors apart: something in the record is not as it was said \
             to be, and neither should be trusted"
        ));
    }
    if let Some(missing) = analysis.missing.as_ref().filter(|missing| missing.is_different()) {
        all.push(format!(
            "outcomes are missing more often in one group ({:.1} % in the list group, {:.1} % in the control group, p {:.4}): if those who are \
             not seen fare otherwise, every estimate is off",
            100.0 * missing.share[0],
            100.0 * missing.share[1],
            missing.test.p
        ));
    }
    all
}
