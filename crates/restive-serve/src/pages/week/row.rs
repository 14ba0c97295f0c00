//! One person as the table has her, and one change by hand as it is told.

use crate::look::chance;
use crate::look::spoken;
use crate::look::words::Words;
use restive_programme::{Backdrop, Done, Draft, DraftRow, ListChange};
use restive_tables::Contact;

/// Which of a programme's own columns are which.
pub(crate) struct Columns<'a> {
    backdrop: &'a Backdrop,
    /// by the name that filters have for it: the position among what is kept
    known: Vec<(&'static str, usize)>,
    pub(crate) names: bool,
}

/// What programmes call them.
const CALLED: [(&str, &[&str]); 5] = [
    ("name", &["name", "full_name", "nombre"]),
    (
        "phone",
        &["phone", "phone_number", "mobile", "telephone", "msisdn", "telefono", "teléfono", "movil", "móvil"],
    ),
    ("centre", &["centre", "center", "ward", "district", "clinic", "area", "village"]),
    ("language", &["language", "lang", "idioma"]),
    ("household", &["household", "household_id", "family", "house"]),
];

impl<'a> Columns<'a> {
    pub(crate) fn of(backdrop: &'a Backdrop, draft: &Draft, names: bool) -> Self {
        let kept = &backdrop.contacts.kept;
        let worker = draft.worker.as_ref().and_then(|name| kept.iter().position(|one| one == name));
        let mut known: Vec<(&'static str, usize)> = worker.map(|k| ("worker", k)).into_iter().collect();
        for (name, called) in CALLED {
            let found = kept.iter().position(|one| called.contains(&one.to_lowercase().as_str()));
            known.extend(found.filter(|k| Some(*k) != worker).map(|k| (name, k)));
        }
        Self { backdrop, known, names }
    }

    fn at(&self, name: &str) -> Option<usize> {
        self.known.iter().find(|(known, _)| *known == name).map(|(_, k)| *k)
    }

    /// What the programme calls a column; nothing where it has none.
    pub(crate) fn label(&self, name: &str) -> Option<&'a str> {
        self.at(name).map(|k| self.backdrop.contacts.kept[k].as_str())
    }

    /// What a column has of somebody; empty where there is none.
    pub(crate) fn cell<'r>(&self, name: &str, row: &'r DraftRow) -> &'r str {
        self.cell_of(name, &row.contact)
    }

    /// The same of somebody who need not be on the list.
    pub(crate) fn cell_of<'r>(&self, name: &str, contact: &'r Contact) -> &'r str {
        self.at(name).and_then(|k| contact.kept.get(k)).map_or("", String::as_str)
    }

    /// The columns that the table shows beside the name.
    pub(crate) fn shown(&self) -> Vec<(&'static str, &'a str)> {
        ["worker", "centre", "language", "household"]
            .into_iter()
            .filter_map(|name| self.label(name).map(|label| (name, label)))
            .collect()
    }

    /// Her state, in the words of the mapping.
    pub(crate) fn state(&self, row: &DraftRow) -> String {
        let Some(state) = row.said.as_ref().and_then(|said| said.state) else { return String::new() };
        self.backdrop.states.get(usize::from(state)).cloned().unwrap_or_else(|| state.to_string())
    }

    /// Her state, as filters have it.
    pub(crate) fn state_value(&self, row: &DraftRow) -> String {
        row.said.as_ref().and_then(|said| said.state).map_or(String::new(), |state| state.to_string())
    }
}

/// One person.
pub(crate) struct RowView<'a> {
    pub(crate) place: usize,
    pub(crate) id: &'a str,
    pub(crate) name: &'a str,
    pub(crate) cells: Vec<&'a str>,
    pub(crate) state: String,
    pub(crate) reason: String,
    /// picture, left alone, called; nothing where nothing was computed
    pub(crate) chances: Option<(String, String, String)>,
    pub(crate) worth: String,
    pub(crate) last_call: String,
    pub(crate) tags: Vec<&'a str>,
    pub(crate) by_hand: Option<String>,
    pub(crate) outcome: Option<String>,
    /// for addresses
    pub(crate) encoded: String,
}

impl<'a> RowView<'a> {
    pub(crate) fn new(place: usize, row: &'a DraftRow, columns: &Columns<'a>, w: &'static Words) -> Self {
        let said = row.said.as_ref();
        let percent = |share: f64| format!("{:.0} %", 100.0 * share);
        let effects = said.and_then(|said| said.effects.as_ref());
        let chances = effects.map(|effects| {
            let (alone, called) = (percent(effects.left_alone.value), percent(effects.called.value));
            let label = w.f2("week.chances_label", "alone", &alone, "called", &called);
            (chance::svg(&effects.left_alone, &effects.called, &label), alone, called)
        });
        let mut tags = Vec::new();
        for (is, key) in [
            (row.is_new, "week.new"),
            (row.is_overdue, "week.overdue"),
            (said.is_some_and(|said| said.chosen == "draw"), "week.drawn"),
            (said.is_some_and(|said| said.chosen == "must"), "week.must"),
        ] {
            tags.extend(is.then(|| w.t(key)));
        }
        let by_hand = row.by_hand.as_ref().filter(|change| change.done != Done::Removed);
        Self {
            place,
            id: &row.contact.id,
            name: if columns.names { columns.cell("name", row) } else { "" },
            cells: columns.shown().iter().map(|(name, _)| columns.cell(name, row)).collect(),
            state: columns.state(row),
            reason: said.map_or(String::new(), |said| spoken::reason(&said.reason(), w)),
            chances,
            worth: effects.map_or(String::new(), |effects| format!("{:.2}", effects.worth)),
            last_call: said.and_then(|said| said.last_call).map_or(String::new(), |day| day.to_string()),
            tags,
            by_hand: by_hand.map(|change| told(change, w)),
            outcome: row.outcome.as_ref().map(|outcome| spoken::code(outcome.code, w)),
            encoded: super::filter::encoded(&row.contact.id),
        }
    }
}

/// Who did it and why.
pub(crate) fn told(change: &ListChange, w: &Words) -> String {
    let key = match change.done {
        Done::Added => "week.added_by",
        Done::Removed => "week.removed_by",
        Done::MovedUp => "week.moved_by",
        Done::Final => "week.final_by",
    };
    w.f2(key, "who", &change.who, "why", &change.why)
}

/// A change by hand, as it is told.
pub(crate) struct Said<'a> {
    pub(crate) at: String,
    pub(crate) id: &'a str,
    pub(crate) told: String,
}

impl<'a> Said<'a> {
    pub(crate) fn of(change: &ListChange, backdrop: &'a Backdrop, w: &Words) -> Self {
        let person = change.arm.as_deref().and_then(|arm| backdrop.contacts.person(arm).ok());
        let at = change.at.replace('T', " ").replace('Z', " UTC");
        Self { at, id: person.map_or("", |person| &person.id), told: told(change, w) }
    }
}
