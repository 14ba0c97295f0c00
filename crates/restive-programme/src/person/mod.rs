//! One person: her weeks, what the model says of her and why, what would change it, and her place on the lists over time.
//!
//! | file | what it answers |
//! |---|---|
//! | `weeks` | what was seen of her and done, week by week |
//! | `said` | her chances with a call and without, what sets her apart, and what they would be in another state |
//! | `places` | her part in every plan on record |
//! | `hold` | what keeps her off the next list, and until when |
//!
//! What is read of the study and the model is read once, into a [`Casebook`]: it changes with an import or a training. Of the ledger only her
//! own rows are read. So a programme of a hundred thousand people tells of one of them in a moment.

mod hold;
mod places;
mod said;
mod weeks;

pub use hold::Hold;
pub use places::PersonPlace;
pub use said::{InState, PersonEffects, PersonSaid, Share};
pub use weeks::PersonWeek;

use crate::draft::Backdrop;
use crate::error::Result;
use crate::folder::Programme;
use jiff::civil::Date;
use restive_ledger::Ledger;
use restive_pipeline::reasons::Words;
use restive_pipeline::{Rules, Trained};
use restive_tables::{Contact, Study};

/// What is read once for questions about single people.
pub struct Casebook {
    study: Study,
    /// by name; none where there is none yet
    model: Option<(String, Trained)>,
    rules: Rules,
    words: Words,
    /// the first day of the period of each row of the study
    days: Vec<Option<Date>>,
}

/// One person.
#[derive(Debug, Clone)]
pub struct Person {
    /// what is kept of her
    pub contact: Contact,
    /// from the first to the last
    pub weeks: Vec<PersonWeek>,
    /// the names of states; none where the mapping has none
    pub states: Vec<String>,
    /// which of the states are good
    pub good: Vec<bool>,
    /// what the model says of her now, or why it says nothing
    pub said: std::result::Result<PersonSaid, Silent>,
    /// her part in every plan on record, the latest first
    pub places: Vec<PersonPlace>,
    /// what keeps her off the next list
    pub holds: Vec<Hold>,
}

/// Why a model says nothing of somebody.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Silent {
    /// there is no model
    NoModel,
    /// she was never seen in a state
    NeverSeen,
    /// the model does not fit the study, and why
    Misfit(String),
}

impl Person {
    /// Whether any list has or had her: those are the people of whom a page tells without being asked for them by id.
    pub fn was_listed(&self) -> bool {
        self.places.iter().any(PersonPlace::was_listed)
    }

    /// What a state is called.
    pub fn state_name(&self, state: u16) -> String {
        self.states.get(usize::from(state)).cloned().unwrap_or_else(|| state.to_string())
    }
}

impl Programme {
    /// What is read once for questions about single people.
    pub fn casebook(&self) -> Result<Casebook> {
        let rules = self.rules()?;
        let model = match self.models()?.is_empty() {
            true => None,
            false => {
                let entry = self.model(None, &rules)?;
                Some((entry.name, Trained::read(&entry.folder)?))
            }
        };
        let study = Study::read(&self.study())?;
        let words = self.words()?.for_study(&study.settings);
        let days = self.summary.periods.iter().map(|row| row.state_from.parse().ok()).collect();
        Ok(Casebook { study, model, rules, words, days })
    }

    /// The person with an id; nobody where no one has it.
    pub fn person(&self, backdrop: &Backdrop, book: &Casebook, id: &str) -> Result<Option<Person>> {
        let Some(arm) = backdrop.contacts.arm(id) else { return Ok(None) };
        let contact = backdrop.contacts.person(arm)?.clone();
        let places = match self.ledger().exists() {
            true => places::read(self, &Ledger::read(&self.ledger())?, arm)?,
            false => Vec::new(),
        };
        let position =
            book.study.instances.first().and_then(|there| there.arms.iter().position(|one| one == arm));
        let weeks = weeks::weeks(book, position, &places);
        let said = match (&book.model, position) {
            (None, _) => Err(Silent::NoModel),
            (_, None) => Err(Silent::NeverSeen),
            (Some((name, trained)), Some(position)) => {
                said::said(book, name, trained, position, places.first())
            }
        };
        let good = restive_pipeline::reasons::good_states(&book.study.settings).unwrap_or_default();
        let holds = hold::holds(self, book, &contact, position, places.first())?;
        Ok(Some(Person { contact, weeks, states: backdrop.states.clone(), good, said, places, holds }))
    }
}
