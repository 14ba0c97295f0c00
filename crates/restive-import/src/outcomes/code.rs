//! What can become of a planned call, in a word: the codes that a sheet is filled in with.

use crate::planned::Contact;

/// What became of a planned call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum OutcomeCode {
    /// she was spoken to
    Reached,
    /// nobody answered
    NoAnswer,
    /// nobody there knew her, or nobody was there
    NotFound,
    /// the number is somebody else's
    WrongNumber,
    /// she does not want to be called
    Refused,
    /// she lives elsewhere now
    Moved,
    /// she asked to be called another time
    Later,
    /// no call was made
    NotCalled,
}

impl OutcomeCode {
    /// All of them, in the order in which they are shown.
    pub const ALL: [Self; 8] = [
        Self::Reached,
        Self::NoAnswer,
        Self::NotFound,
        Self::WrongNumber,
        Self::Refused,
        Self::Moved,
        Self::Later,
        Self::NotCalled,
    ];

    /// The code.
    pub const fn name(self) -> &'static str {
        ["reached", "no answer", "not found", "wrong number", "refused", "moved", "later", "not called"]
            [self as usize]
    }

    /// Whether there was a call, and whether what it was for took place.
    pub const fn contact(self) -> Contact {
        match self {
            Self::Reached => Contact::Reached,
            Self::NotCalled => Contact::NotCalled,
            _ => Contact::NotReached,
        }
    }

    /// The code of a cell: its name in any spelling, or a translation (a word and its code).
    pub fn parse(cell: &str, translations: &[(String, Self)]) -> Option<Self> {
        let plain = plain(cell);
        let named = Self::ALL.into_iter().find(|code| self::plain(code.name()) == plain);
        named.or_else(|| {
            translations.iter().find(|(word, _)| self::plain(word) == plain).map(|(_, code)| *code)
        })
    }
}

/// Text without capitals, white space, underscores and hyphens.
pub(super) fn plain(text: &str) -> String {
    let kept =
        text.chars().filter(|c| !c.is_whitespace() && !matches!(c, '_' | '-' | '\u{2010}'..='\u{2015}'));
    kept.flat_map(char::to_lowercase).collect()
}
