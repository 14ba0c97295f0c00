//! What came of a call.
//!
//! | code | a call was made | contact | |
//! |---|---|---|---|
//! | `reached` | yes | yes | the person was spoken with |
//! | `refused` | yes | yes | the person answered and wanted no talk |
//! | `later` | yes | yes | the person answered and asked for another time |
//! | `no_answer` | yes | | nobody answered |
//! | `not_found` | yes | | a visit, and nobody was there |
//! | `wrong_number` | yes | | somebody else answered |
//! | `moved` | yes | | somebody else told that the person has moved |
//! | `not_called` | | | no call was made |
//!
//! A contact is what surveys count as one: the person was there and answered, whatever the answer was.

use crate::words::words;
use serde::Serialize;

/// What came of a call, in a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Code {
    /// the person was spoken with
    Reached,
    /// nobody answered
    NoAnswer,
    /// a visit, and nobody was there
    NotFound,
    /// somebody else answered
    WrongNumber,
    /// the person answered and wanted no talk
    Refused,
    /// somebody else told that the person has moved
    Moved,
    /// the person answered and asked for another time
    Later,
    /// no call was made
    NotCalled,
}

words!(Code {
    Reached: "reached",
    NoAnswer: "no_answer",
    NotFound: "not_found",
    WrongNumber: "wrong_number",
    Refused: "refused",
    Moved: "moved",
    Later: "later",
    NotCalled: "not_called",
});

impl Code {
    /// Whether a call was made.
    pub fn is_call(self) -> bool {
        self != Self::NotCalled
    }

    /// Whether the person answered.
    pub fn is_contact(self) -> bool {
        matches!(self, Self::Reached | Self::Refused | Self::Later)
    }
}

/// What came of one person's place on a list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Outcome {
    /// the plan
    pub plan: String,
    /// who
    pub arm: String,
    /// what came of it
    pub code: Code,
    /// on which day, where that is known
    pub day: Option<String>,
    /// what whoever made the call wrote beside it
    pub note: Option<String>,
    /// the file that it came in
    pub source: String,
    /// when it came
    pub received_at: String,
}

impl Outcome {
    /// What holds after a later word on the same person and plan; nothing where that says nothing new. The same code again says what
    /// it says: a day or a note that it leaves out stays. Another code is another story, and takes the whole place.
    pub(crate) fn amended_by(&self, later: &Outcome) -> Option<Outcome> {
        let mut now = later.clone();
        if self.code == later.code {
            now.day = now.day.or_else(|| self.day.clone());
            now.note = now.note.or_else(|| self.note.clone());
            if (&now.day, &now.note) == (&self.day, &self.note) {
                return None;
            }
        }
        Some(now)
    }
}

/// What became of outcomes that came in.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Received {
    /// how many are the first of their person and plan
    pub new: usize,
    /// how many say what was known
    pub same: usize,
    /// how many say otherwise, and hold now
    pub amended: usize,
    /// which of them (from 0) tell of a call to somebody who was not on the list; they count above as well
    pub outside_list: Vec<usize>,
    /// those that were not recorded
    pub problems: Vec<Problem>,
}

/// An outcome that was not recorded.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, thiserror::Error)]
#[error("plan {plan:?}, {arm:?}: found {found}, expected {expected}")]
pub struct Problem {
    /// which one, from 0
    pub entry: usize,
    /// its plan
    pub plan: String,
    /// its person
    pub arm: String,
    /// what is wrong with it
    pub found: String,
    /// what would not be
    pub expected: &'static str,
}
