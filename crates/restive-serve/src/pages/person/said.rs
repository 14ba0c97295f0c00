//! What the model says of a person, in numbers with their units.

use crate::look::chance;
use crate::look::spoken;
use crate::look::words::Words;
use restive_programme::{Chance, Person, PersonEffects, PersonPlace, PersonSaid, Share};

/// What the model says.
pub(super) struct SaidView<'a> {
    pub(super) said: &'a PersonSaid,
    pub(super) reason: String,
    pub(super) state: String,
    pub(super) picture: String,
    pub(super) alone: String,
    pub(super) called: String,
    pub(super) worth: Option<(String, u32)>,
    pub(super) shares: Vec<ShareView<'a>>,
    pub(super) record: Option<[String; 2]>,
    pub(super) states: Vec<StateView>,
}

/// A share of the reason.
pub(super) struct ShareView<'a> {
    pub(super) column: String,
    pub(super) value: &'a str,
    pub(super) typical: &'a str,
    pub(super) alone: String,
    pub(super) call: String,
}

/// What it would be in a state.
pub(super) struct StateView {
    pub(super) name: String,
    pub(super) is_now: bool,
    pub(super) alone: String,
    pub(super) called: String,
    pub(super) adds: String,
    /// empty where it cannot be told
    pub(super) enough: &'static str,
}

pub(super) fn percent(share: f64) -> String {
    format!("{:.0} %", 100.0 * share)
}

fn with_interval(chance: &Chance, w: &Words) -> String {
    match chance.interval_text() {
        text if text.is_empty() => percent(chance.value),
        text => w.f2("person.chance", "chance", percent(chance.value), "interval", text),
    }
}

/// With a minus that is as wide as a plus.
fn minus(number: String) -> String {
    number.replace('-', "−")
}

pub(super) fn worth(value: f64) -> String {
    // what rounds to nothing has no sign
    minus(format!("{:.2}", if value.abs() < 0.005 { 0.0 } else { value }))
}

/// Points with their sign; nothing where they round to none.
fn points(points: f64, w: &Words) -> String {
    match points.round() {
        0.0 => "–".into(),
        round => {
            let key = if round.abs() == 1.0 { "person.point" } else { "person.points" };
            w.f1(key, "n", minus(format!("{round:+.0}")))
        }
    }
}

impl<'a> SaidView<'a> {
    pub(super) fn new(
        person: &Person,
        said: &'a PersonSaid,
        effects: &'a PersonEffects,
        latest: Option<&PersonPlace>,
        w: &'static Words,
    ) -> Self {
        let label = w.f2(
            "week.chances_label",
            "alone",
            percent(effects.left_alone.value),
            "called",
            percent(effects.called.value),
        );
        let share = |share: &'a Share| ShareView {
            column: share.column.replace('_', " "),
            value: share.value.as_deref().unwrap_or("–"),
            typical: share.typical.as_deref().unwrap_or("–"),
            alone: points(share.alone, w),
            call: points(share.call, w),
        };
        let states = effects.in_states.iter().map(|one| StateView {
            name: person.state_name(one.state),
            is_now: one.state == said.state,
            alone: with_interval(&one.left_alone, w),
            called: with_interval(&one.called, w),
            adds: points(100.0 * (one.called.value - one.left_alone.value), w),
            enough: one
                .is_enough
                .map_or("", |is| w.t(if is { "person.enough" } else { "person.not_enough" })),
        });
        Self {
            reason: spoken::reason(&effects.reason, w),
            said,
            state: person.state_name(said.state),
            picture: chance::svg(&effects.left_alone, &effects.called, &label),
            alone: with_interval(&effects.left_alone, w),
            called: with_interval(&effects.called, w),
            worth: latest.and_then(|place| Some((worth(place.worth?), place.steps))),
            shares: effects.shares.iter().map(share).collect(),
            record: effects.record.map(|both| both.map(|one| points(one, w))),
            states: states.collect(),
        }
    }
}
