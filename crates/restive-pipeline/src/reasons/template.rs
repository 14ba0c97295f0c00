//! A sentence with named places: `"{column} is {value} {points}"`.

use restive_tables::show::quoted_name;

/// A text with places, checked.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Template(Vec<Piece>);

#[derive(Debug, Clone, PartialEq)]
enum Piece {
    Text(String),
    Place(&'static str),
}

impl Template {
    /// Reads a text that may name these places; says what is wrong with it otherwise.
    pub(super) fn parse(text: &str, places: &'static [&'static str]) -> Result<Self, String> {
        let mut pieces = Vec::new();
        let mut rest = text;
        while let Some((before, after)) = rest.split_once('{') {
            let expected = || match places {
                [] => "none here".to_string(),
                places => format!("one of {{{}}}", places.join("}, {")),
            };
            let Some((name, behind)) = after.split_once('}') else {
                return Err(format!("found {{ without }}, expected a place: {}", expected()));
            };
            let Some(place) = places.iter().find(|place| **place == name) else {
                return Err(format!("found the place {}, expected {}", quoted_name(name), expected()));
            };
            pieces.push(Piece::Text(before.into()));
            pieces.push(Piece::Place(place));
            rest = behind;
        }
        pieces.push(Piece::Text(rest.into()));
        Ok(Self(pieces))
    }

    /// A text without places.
    pub(super) fn plain(text: &str) -> Self {
        Self(vec![Piece::Text(text.into())])
    }

    /// The text, with what `value` says in its places.
    pub(super) fn fill(&self, value: impl Fn(&str) -> String) -> String {
        let text = |piece: &Piece| match piece {
            Piece::Text(text) => text.clone(),
            Piece::Place(place) => value(place),
        };
        self.0.iter().map(text).collect()
    }
}
