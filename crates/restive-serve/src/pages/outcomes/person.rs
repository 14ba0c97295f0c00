//! One person as a caller has her: who she is, how to call her, why, and what is known so far.

use super::round::Round;
use crate::look::spoken;
use crate::look::words::Words;
use restive_programme::{Code, Done, DraftRow, Outcome, seen};

/// One person.
pub(super) struct Person<'a> {
    pub(super) id: &'a str,
    pub(super) name: &'a str,
    /// as it is written, and as a telephone dials it
    pub(super) phone: Option<(&'a str, String)>,
    /// what else is known: name and value
    pub(super) facts: Vec<(&'a str, String)>,
    pub(super) reason: String,
    /// what somebody wrote who put her on the list or moved her up
    pub(super) by_hand: Option<&'a str>,
    pub(super) tags: Vec<&'a str>,
    pub(super) known: Option<Known>,
    /// what whoever tells has seen
    pub(super) seen: String,
    /// her place among those who are shown, from 1
    pub(super) place: usize,
}

/// What is known of a place.
pub(super) struct Known {
    pub(super) word: String,
    pub(super) day: String,
    pub(super) note: String,
    /// who told it, and when
    pub(super) source: String,
    pub(super) at: String,
}

/// A big button.
pub(super) struct Button {
    pub(super) code: &'static str,
    pub(super) word: String,
    /// what it says, as whoever calls would say it
    pub(super) says: &'static str,
}

impl Round {
    /// The word of a code: the programme's own where it has one, else that of the page's language.
    pub(super) fn word(&self, code: Code, w: &Words) -> String {
        let own = self.draft.list.outcomes.iter().find(|one| one.code == code.word());
        let own = own.map(|one| one.words.as_str()).filter(|words| *words != code.word().replace('_', " "));
        own.map_or_else(|| w.t(spoken::code_keys(code).0).to_string(), Into::into)
    }

    /// All buttons.
    pub(super) fn buttons(&self, w: &'static Words) -> Vec<Button> {
        let button = |code: &Code| Button {
            code: code.word(),
            word: self.word(*code, w),
            says: w.t(spoken::code_keys(*code).1),
        };
        Code::ALL.iter().map(button).collect()
    }

    /// What is known of a place.
    pub(super) fn known(&self, outcome: &Outcome, w: &Words) -> Known {
        Known {
            word: self.word(outcome.code, w),
            day: outcome.day.clone().unwrap_or_default(),
            note: outcome.note.clone().unwrap_or_default(),
            source: outcome.source.clone(),
            at: outcome.received_at.replace('T', " ").replace('Z', " UTC"),
        }
    }

    /// One person, who has that place among those who are shown.
    pub(super) fn view<'a>(&'a self, row: &'a DraftRow, place: usize, w: &'static Words) -> Person<'a> {
        let columns = self.columns();
        let said = row.said.as_ref();
        // a caller knows whose they are
        let labels = columns.shown().into_iter().filter(|(name, _)| *name != "worker" || self.is_planner());
        let kept = labels.map(|(name, label)| (label, columns.cell(name, row).to_string()));
        let day = |day: Option<jiff::civil::Date>| day.map_or(String::new(), |day| day.to_string());
        let outcome = said.and_then(|said| said.last_outcome.as_deref()).unwrap_or("");
        let outcome = Code::from_word(outcome).map_or_else(|| outcome.to_string(), |code| self.word(code, w));
        let facts = kept.chain([
            (w.t("outcomes.state"), columns.state(row)),
            (w.t("outcomes.last_call"), day(said.and_then(|said| said.last_call))),
            (w.t("outcomes.last_outcome"), outcome),
        ]);
        let phone = Some(columns.cell("phone", row)).filter(|phone| !phone.trim().is_empty());
        let dialled = |phone: &str| phone.chars().filter(|c| c.is_ascii_digit() || *c == '+').collect();
        let mut tags = Vec::new();
        tags.extend(row.is_new.then(|| w.t("outcomes.new")));
        tags.extend(row.is_overdue.then(|| w.t("outcomes.overdue")));
        let by_hand = row.by_hand.as_ref().filter(|change| change.done != Done::Removed);
        Person {
            id: &row.contact.id,
            name: columns.cell("name", row),
            phone: phone.map(|phone| (phone, dialled(phone))),
            facts: facts.filter(|(_, value)| !value.is_empty()).collect(),
            reason: said.map_or(String::new(), |said| spoken::reason(&said.reason(), w)),
            by_hand: by_hand.map(|change| change.why.as_str()).filter(|why| !why.is_empty()),
            tags,
            known: row.outcome.as_ref().map(|one| self.known(one, w)),
            seen: seen(row.outcome.as_deref()),
            place,
        }
    }
}
