//! Her weeks as a strip: how high her state was, and below it whether she was on the list, was called, and answered.
//!
//! Every week is a column. The bar is the state: the higher the better, solid where it is a good one, hatched by an outline where it is not,
//! and a dotted line where nobody knows. The mark below is a full circle for a call that was answered (or of which only the call is known), an open one for a call
//! without an answer, a square for a place on the list without a call. Nothing is told by colour alone, and the table beside it has every
//! week in words: to a screen reader the picture is its label.

use restive_programme::{Person, PersonWeek};
use std::fmt::Write;

/// The width of a week.
const STEP: f64 = 20.0;
/// The highest bar.
const HIGH: f64 = 44.0;
/// How many weeks are drawn.
pub(super) const MOST: usize = 52;

/// What happened in a week beside her state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mark {
    /// she was called, and answered where that is known
    Called,
    /// she was called and did not answer
    NoAnswer,
    /// she was on the list, and no call is known
    Listed,
    /// nothing
    None,
}

/// What happened in a week.
pub(super) fn mark(week: &PersonWeek) -> Mark {
    match (week.outcome, week.is_called) {
        (Some(code), _) if code.is_contact() => Mark::Called,
        (Some(code), _) if code.is_call() => Mark::NoAnswer,
        (None, Some(true)) => Mark::Called,
        _ if week.is_listed => Mark::Listed,
        _ => Mark::None,
    }
}

/// The last weeks that are drawn.
pub(super) fn drawn(person: &Person) -> &[PersonWeek] {
    &person.weeks[person.weeks.len().saturating_sub(MOST)..]
}

/// The strip, as SVG; `label` is what it says.
pub(super) fn svg(person: &Person, label: &str) -> String {
    let weeks = drawn(person);
    let width = STEP * weeks.len() as f64 + 8.0;
    let levels = person.good.len().max(2) as f64;
    let mut out = format!(
        "<svg class=\"strip\" viewBox=\"0 0 {width} 90\" width=\"{width}\" height=\"90\" role=\"img\" aria-label=\"{}\">",
        crate::look::chance::escape(label)
    );
    let _ = write!(out, "<line class=\"base\" x1=\"0\" x2=\"{width}\" y1=\"50.5\" y2=\"50.5\"/>");
    for (k, week) in weeks.iter().enumerate() {
        let (x, middle) = (4.0 + STEP * k as f64, 4.0 + STEP * (k as f64 + 0.5));
        match week.state {
            Some(state) => {
                let height = HIGH * (f64::from(state) + 1.0) / levels;
                let is_good = person.good.get(usize::from(state)).copied().unwrap_or(false);
                let class = if is_good { "good" } else { "other" };
                let _ = write!(
                    out,
                    "<rect class=\"{class}\" x=\"{:.1}\" y=\"{:.1}\" width=\"{}\" height=\"{height:.1}\"/>",
                    x + 3.0,
                    50.0 - height,
                    STEP - 6.0
                );
            }
            None => {
                let _ = write!(
                    out,
                    "<line class=\"unknown\" x1=\"{0:.1}\" x2=\"{0:.1}\" y1=\"8\" y2=\"48\"/>",
                    middle
                );
            }
        }
        match mark(week) {
            Mark::Called => {
                _ = write!(out, "<circle class=\"reached\" cx=\"{middle:.1}\" cy=\"62\" r=\"5\"/>")
            }
            Mark::NoAnswer => {
                _ = write!(out, "<circle class=\"tried\" cx=\"{middle:.1}\" cy=\"62\" r=\"5\"/>")
            }
            Mark::Listed => {
                let _ = write!(
                    out,
                    "<rect class=\"tried\" x=\"{:.1}\" y=\"57.5\" width=\"9\" height=\"9\"/>",
                    middle - 4.5
                );
            }
            Mark::None => {}
        }
        // from the last week back, so that the day that matters most has its label
        let is_told = (weeks.len() - 1 - k).is_multiple_of(4) && k > 0;
        if let Some(day) = week.first_day.filter(|_| is_told) {
            let end = x + STEP;
            let _ = write!(
                out,
                "<text x=\"{end:.1}\" y=\"85\" text-anchor=\"end\">{}</text>",
                day.strftime("%-d.%-m.")
            );
        }
    }
    out + "</svg>"
}

#[cfg(test)]
mod tests {
    use super::*;
    use restive_programme::Code;

    #[test]
    fn a_week_has_the_mark_of_what_is_known_best() {
        let week =
            PersonWeek { first_day: None, state: None, is_called: None, is_listed: false, outcome: None };
        assert_eq!(mark(&week), Mark::None);
        assert_eq!(mark(&PersonWeek { is_listed: true, ..week.clone() }), Mark::Listed);
        assert_eq!(mark(&PersonWeek { is_called: Some(true), ..week.clone() }), Mark::Called);
        let told =
            |code| PersonWeek { is_listed: true, is_called: Some(true), outcome: Some(code), ..week.clone() };
        assert_eq!(mark(&told(Code::NoAnswer)), Mark::NoAnswer);
        assert_eq!(mark(&told(Code::Refused)), Mark::Called);
        assert_eq!(mark(&told(Code::NotCalled)), Mark::Listed);
    }
}
