//! The largest things of a reason, in a sentence or two.
//!
//! Things are contributions to the effect of a call, contributions to the level, and her own record (by what it does to the level). Those
//! of at least half a [point](super) stand in the order of their size; the first three are said, fewer where the text would be longer than
//! 160 characters, one message of a telephone. What a call does comes first, then how she does without one, then her record, and last her place.

use super::{Contribution, Reason, Words};

/// The most things that are said.
const MOST: usize = 3;
/// Characters that a text should not be longer than.
const LONGEST: usize = 160;
/// Points below which a thing is not worth saying: they would round to 0.
const LEAST: f64 = 0.5;

/// Where a thing is said.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Said {
    HelpsMore,
    HelpsLess,
    Better,
    Worse,
    Record,
}

/// Something that sets her apart.
struct Thing<'a> {
    said: Said,
    points: f64,
    /// none: her record
    contribution: Option<&'a Contribution>,
}

/// A reason in words; `margin` is how far her score is above that of the last place on the list.
pub fn sentence(reason: &Reason, words: &Words, margin: Option<f64>) -> String {
    let mut things = things(reason);
    things.truncate(MOST);
    loop {
        let text = said(reason, words, &things, margin);
        if text.chars().count() <= LONGEST || things.len() <= 1 {
            return text;
        }
        things.pop();
    }
}

/// All things, the largest first; of equals the effect before the level, and columns in their order.
fn things(reason: &Reason) -> Vec<Thing<'_>> {
    let effect = reason.effect.iter().map(|contribution| {
        let points = reason.effect_points(contribution.amount);
        let said = if points > 0.0 { Said::HelpsMore } else { Said::HelpsLess };
        Thing { said, points, contribution: Some(contribution) }
    });
    let level = reason.level.iter().map(|contribution| {
        let points = reason.level_points(contribution.amount);
        let said = if points > 0.0 { Said::Better } else { Said::Worse };
        Thing { said, points, contribution: Some(contribution) }
    });
    let record = reason.record.iter().filter(|record| record.periods > 0).map(|record| Thing {
        said: Said::Record,
        points: reason.level_points(record.level),
        contribution: None,
    });
    let all = effect.chain(level).chain(record);
    let mut things: Vec<Thing<'_>> = all.filter(|thing| thing.points.abs() >= LEAST).collect();
    things.sort_by(|one, other| other.points.abs().total_cmp(&one.points.abs()));
    things
}

fn said(reason: &Reason, words: &Words, things: &[Thing<'_>], margin: Option<f64>) -> String {
    let mut is_first = true;
    // the first number says what it counts
    let mut points = |points: f64| {
        let key = match (is_first, points.round().abs() == 1.0) {
            (true, true) => "one_point",
            (true, false) => "points",
            (false, _) => "more_points",
        };
        is_first = false;
        words.say(key, |_| format!("{:+.0}", points))
    };
    let mut sentences = Vec::new();
    let lists = [
        (Said::HelpsMore, "helps_more"),
        (Said::HelpsLess, "helps_less"),
        (Said::Better, "better"),
        (Said::Worse, "worse"),
    ];
    for (place, key) in lists {
        let own = things.iter().filter(|thing| thing.said == place);
        let own =
            own.filter_map(|thing| Some(contributed(thing.contribution?, words, &points(thing.points))));
        let list: Vec<String> = own.collect();
        if !list.is_empty() {
            let list = list.join(", ");
            sentences.push(words.say(key, |_| list.clone()));
        }
    }
    if sentences.is_empty() {
        sentences.push(words.say("alike", |_| String::new()));
    }
    let record = things.iter().find(|thing| thing.said == Said::Record);
    if let (Some(thing), Some(record)) = (record, &reason.record) {
        let points = points(thing.points);
        let unit = words.say("unit", |_| String::new());
        sentences.push(words.say("record", |place| match place {
            "good" => record.good.to_string(),
            "periods" => record.periods.to_string(),
            "calls" => record.calls.to_string(),
            "unit" => unit.clone(),
            _ => points.clone(),
        }));
    }
    if let Some(margin) = margin.filter(|margin| margin.is_finite()) {
        let key = match margin {
            m if m > 0.0 => "above",
            m if m < 0.0 => "below",
            _ => "last",
        };
        sentences.push(words.say(key, |_| two_digits(margin.abs())));
    }
    sentences.join(" ")
}

fn contributed(contribution: &Contribution, words: &Words, points: &str) -> String {
    let Contribution { column, value_text, reference_text, .. } = contribution;
    let fill = |place: &str| match place {
        "column" => words.column(column),
        "value" => value_text.as_ref().map_or_else(String::new, |text| words.value(column, text)),
        "reference" => reference_text.as_ref().map_or_else(String::new, |text| words.value(column, text)),
        _ => points.to_string(),
    };
    match (value_text, words.thing(column)) {
        (None, _) => words.say("missing", fill),
        (Some(_), Some(own)) => own.fill(fill),
        (Some(_), None) => words.say("thing", fill),
    }
}

/// 0.083, 1.2, 14
fn two_digits(x: f64) -> String {
    let decimals = (1.0 - x.log10().floor()).clamp(0.0, 6.0) as usize;
    format!("{x:.decimals$}")
}
