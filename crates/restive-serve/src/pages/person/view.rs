//! What the page says of a person, in words.

use super::said::{SaidView, percent, worth};
use super::strip::{self, Mark};
use crate::desk::Snapshot;
use crate::look::spoken;
use crate::look::words::Words;
use crate::pages::week::{Columns, encoded};
use crate::security::role::Role;
use restive_pipeline::Effects;
use restive_programme::{Hold, Person, PersonPlace, PersonWeek, Silent, not_stated_of_people};

/// What the page says.
pub(super) struct PersonView<'a> {
    pub(super) id: &'a str,
    /// empty for whoever may not see it
    pub(super) name: &'a str,
    /// what is kept of her, as label and text
    pub(super) kept: Vec<(&'a str, &'a str)>,
    pub(super) strip: String,
    pub(super) weeks: Vec<WeekView>,
    pub(super) said: Option<SaidView<'a>>,
    /// why the model says nothing; empty where it does
    pub(super) silent: String,
    pub(super) holds: Vec<String>,
    pub(super) standing: String,
    pub(super) places: Vec<PlaceView<'a>>,
    pub(super) unit: &'a str,
    /// what a planner may do on the list: what to ask for, and its word
    pub(super) edits: Vec<(String, &'static str)>,
}

impl PersonView<'_> {
    /// Whether any list stated the value of a call to the person.
    pub(super) fn has_worth(&self) -> bool {
        self.places.iter().any(|one| one.place.worth.is_some())
    }
}

/// A week.
pub(super) struct WeekView {
    pub(super) day: String,
    pub(super) state: String,
    pub(super) is_listed: bool,
    pub(super) call: String,
}

/// Her part in a plan.
pub(super) struct PlaceView<'a> {
    pub(super) place: &'a PersonPlace,
    pub(super) day: String,
    pub(super) stood: String,
    pub(super) rank: String,
    pub(super) probability: String,
    pub(super) worth: String,
    pub(super) outcome: String,
    pub(super) by_hand: Vec<String>,
}

impl<'a> PersonView<'a> {
    pub(super) fn new(snapshot: &'a Snapshot, person: &'a Person, role: Role, w: &'static Words) -> Self {
        let (contact, backdrop) = (&person.contact, &snapshot.backdrop);
        let cell = |label: &str| {
            let place = backdrop.contacts.kept.iter().position(|kept| kept == label);
            place.and_then(|k| contact.kept.get(k)).map_or("", String::as_str)
        };
        let columns = snapshot.draft.as_deref().map(|draft| Columns::of(backdrop, draft, true));
        let label = |name: &str| columns.as_ref().and_then(|columns| columns.label(name));
        let shown = ["worker", "centre", "language", "household", "phone"];
        let kept: Vec<(&str, &str)> = match role {
            // what else a programme keeps may be anything
            Role::Viewer => {
                shown[..4].iter().filter_map(|name| label(name)).map(|label| (label, cell(label))).collect()
            }
            _ => {
                let name = label("name");
                let all =
                    backdrop.contacts.kept.iter().map(String::as_str).filter(|kept| Some(*kept) != name);
                all.map(|label| (label, cell(label))).collect()
            }
        };
        let weeks = strip::drawn(person);
        let good = |week: &&PersonWeek| {
            week.state.is_some_and(|state| person.good.get(usize::from(state)).copied().unwrap_or(false))
        };
        let called = |week: &&PersonWeek| matches!(strip::mark(week), Mark::Called | Mark::NoAnswer);
        let label_of = w
            .f2("person.strip_label", "n", weeks.len(), "good", weeks.iter().filter(good).count())
            .replace("{calls}", &weeks.iter().filter(called).count().to_string());
        let latest = person.places.first();
        let (said, silent) = match &person.said {
            Ok(said) => match &said.effects {
                Effects::Identified(effects) => {
                    (Some(SaidView::new(person, said, effects, latest, w)), String::new())
                }
                Effects::Withheld(why) => {
                    let said = not_stated_of_people(why).unwrap_or_default();
                    (None, w.f1("person.not_stated", "why", said))
                }
            },
            Err(Silent::NoModel) => (None, w.t("person.no_model").into()),
            Err(Silent::NeverSeen) => (None, w.t("person.never_seen").into()),
            Err(Silent::Misfit(why)) => (None, w.f1("person.misfit", "why", why)),
        };
        Self {
            id: &contact.id,
            name: if role == Role::Viewer { "" } else { label("name").map_or("", cell) },
            kept: kept.into_iter().filter(|(_, text)| !text.is_empty()).collect(),
            strip: if weeks.is_empty() { String::new() } else { strip::svg(person, &label_of) },
            weeks: weeks.iter().rev().map(|week| WeekView::new(person, week, w)).collect(),
            said,
            silent,
            holds: person.holds.iter().map(|hold| held(hold, w)).collect(),
            standing: latest.map_or(String::new(), |place| standing(place, w)),
            places: person.places.iter().map(|place| PlaceView::new(place, w)).collect(),
            unit: backdrop.unit.as_deref().unwrap_or(""),
            edits: edits(snapshot, person, role),
        }
    }
}

/// What a planner may do with her on a list that is not final.
fn edits(snapshot: &Snapshot, person: &Person, role: Role) -> Vec<(String, &'static str)> {
    let draft = snapshot.draft.as_deref().filter(|draft| draft.is_final().is_none() && role == Role::Planner);
    let Some(draft) = draft else { return Vec::new() };
    let id = &person.contact.id;
    let link = |edit: &str| format!("/week/edit?do={edit}&id={}", encoded(id));
    match draft.rows.iter().any(|row| row.contact.id == *id) {
        true => vec![(link("up"), "week.up"), (link("out"), "week.out")],
        false if person.holds.is_empty() => vec![(link("add"), "person.add")],
        false => Vec::new(),
    }
}

/// What keeps her off the next list.
fn held(hold: &Hold, w: &Words) -> String {
    match hold {
        Hold::NotToBeCalled => w.t("person.hold_never").into(),
        Hold::Gone => w.t("person.hold_gone").into(),
        Hold::Never => w.t("person.hold_rules").into(),
        Hold::WrongNumber => w.t("person.hold_wrong").into(),
        Hold::CoolDown(Some(day)) => w.f1("person.hold_cool", "day", day),
        Hold::CoolDown(None) => w.t("person.hold_cool_long").into(),
        Hold::Trial => w.t("person.hold_trial").into(),
        Hold::Rule(why) => w.f1("person.hold_rule", "why", why),
    }
}

/// Where she stood when the latest list was made.
fn standing(place: &PersonPlace, w: &Words) -> String {
    match place.planned.as_ref().and_then(|planned| planned.rank) {
        Some(rank) => w
            .f2("person.standing", "rank", rank, "people", place.people)
            .replace("{places}", &place.listed.to_string()),
        None => String::new(),
    }
}

impl WeekView {
    fn new(person: &Person, week: &PersonWeek, w: &Words) -> Self {
        let call = match (week.outcome, strip::mark(week)) {
            (Some(code), _) => spoken::code(code, w),
            (None, Mark::Called) => w.t("person.was_called").into(),
            (None, Mark::Listed) => w.t("person.no_outcome").into(),
            _ => String::new(),
        };
        Self {
            day: week.first_day.map_or("?".into(), |day| day.to_string()),
            state: week.state.map_or(w.t("person.not_seen").into(), |state| person.state_name(state)),
            is_listed: week.is_listed,
            call,
        }
    }
}

impl<'a> PlaceView<'a> {
    fn new(place: &'a PersonPlace, w: &'static Words) -> Self {
        let how = match place.row.as_ref().map(|row| row.chosen.as_str()) {
            Some("draw") => w.t("person.by_lot"),
            Some("must") => w.t("person.by_must"),
            _ => "",
        };
        let stood = match (&place.row, place.is_listed, &place.excluded) {
            (Some(row), true, _) => {
                let said = w.f2("person.place_of", "place", row.rank, "places", place.listed);
                if how.is_empty() { said } else { format!("{said}, {how}") }
            }
            (Some(_), false, _) => w.t("person.place_out").into(),
            (None, true, _) => w.t("person.place_added").into(),
            (None, false, Some(why)) => w.f1("person.place_rule", "why", spoken::rule(why, w)),
            (None, false, None) if place.is_control() => w.t("person.place_trial").into(),
            (None, false, None) => w.t("person.place_none").into(),
        };
        let planned = place.planned.as_ref();
        Self {
            place,
            day: place.first_day.map_or_else(|| place.plan.clone(), |day| day.to_string()),
            stood,
            rank: planned
                .and_then(|planned| planned.rank)
                .map_or(String::new(), |rank| w.f2("person.place_of", "place", rank, "places", place.people)),
            probability: planned.map_or(String::new(), |planned| percent(planned.probability)),
            worth: place.worth.map_or(String::new(), worth),
            outcome: place.outcome.as_ref().map_or(String::new(), |outcome| spoken::code(outcome.code, w)),
            by_hand: place.changes.iter().map(|change| crate::pages::week::told(change, w)).collect(),
        }
    }
}
