//! One feature of the table of arms while it is read: numbers, text, or a mixture that has to be explained.

use crate::error::RowNumber;
use crate::study::table::{Cells, number};
use restive::data::features::Column;
use std::cmp::Ordering;

/// A feature while it is read.
pub(in crate::study) enum Growing {
    /// nothing but so many missing values yet
    Unknown(usize),
    Number(Vec<f64>, Seen),
    Text(Vec<Option<String>>, Seen),
    /// numbers and text
    Mixed(Kinds),
    /// text by order of `study.toml` or of Parquet's type
    Category(Vec<Option<String>>),
    /// numbers by Parquet's type
    Typed(Vec<f64>),
}

/// The row and the arm of a cell.
pub(in crate::study) type Found = (RowNumber, String);

/// The cells of one kind, numbers or text: how many, and the first of them.
#[derive(Clone)]
pub(in crate::study) struct Seen {
    count: usize,
    pub(super) place: Found,
    pub(super) cell: String,
}

/// Numbers and text in one column.
#[derive(Clone)]
pub(in crate::study) struct Kinds {
    number: Seen,
    text: Seen,
    is_text_later: bool,
}

impl Kinds {
    /// The first cell of the rarer kind, of the later one among equals, and what it should be.
    pub(super) fn culprit(&self) -> (&Seen, &'static str) {
        let is_text = match self.text.count.cmp(&self.number.count) {
            Ordering::Equal => self.is_text_later,
            order => order == Ordering::Less,
        };
        if is_text { (&self.text, NUMBER) } else { (&self.number, TEXT) }
    }
}

const NUMBER: &str =
    "a number as in most other rows (list the feature under text in study.toml if it is categories)";
const TEXT: &str =
    "text as in most other rows (list the feature under text in study.toml if it is categories)";

impl Growing {
    /// Takes in one cell; `place` says where it stands.
    pub(in crate::study) fn push(
        &mut self,
        cells: &Cells,
        row: usize,
        is_typed: bool,
        place: impl Fn() -> Found,
    ) {
        let text = match cells {
            Cells::Number(values) => {
                if let Growing::Unknown(_) = self {
                    *self = Growing::Typed(Vec::new());
                }
                let Growing::Typed(all) = self else { unreachable!("Parquet columns have one type") };
                return all.push(values[row]);
            }
            Cells::Text(_) => cells.text(row),
        };
        if let (Growing::Unknown(_), true) = (&self, is_typed) {
            *self = Growing::Category(Vec::new());
        }
        if let Growing::Category(all) = self {
            return all.push(Some(text.into()));
        }
        let number = number(text.as_bytes());
        let is_missing = number.is_some_and(f64::is_nan);
        let seen = |count| Seen { count, place: place(), cell: text.into() };
        match (&mut *self, number) {
            (Growing::Unknown(missing), _) if is_missing => *missing += 1,
            (Growing::Unknown(missing), Some(number)) => {
                let mut all = vec![f64::NAN; *missing];
                all.push(number);
                *self = Growing::Number(all, seen(1));
            }
            (Growing::Unknown(missing), None) => {
                let mut all = vec![None; *missing];
                all.push(Some(text.into()));
                *self = Growing::Text(all, seen(1));
            }
            (Growing::Number(all, kind), Some(number)) => {
                all.push(number);
                kind.count += usize::from(!is_missing);
            }
            (Growing::Text(all, _), _) if is_missing => all.push(None),
            (Growing::Text(all, kind), None) => {
                all.push(Some(text.into()));
                kind.count += 1;
            }
            (Growing::Number(_, first), None) => {
                let number = first.clone();
                *self = Growing::Mixed(Kinds { number, text: seen(1), is_text_later: true });
            }
            (Growing::Text(_, first), Some(_)) => {
                let text = first.clone();
                *self = Growing::Mixed(Kinds { number: seen(1), text, is_text_later: false });
            }
            (Growing::Mixed(_), _) if is_missing => {}
            (Growing::Mixed(kinds), Some(_)) => kinds.number.count += 1,
            (Growing::Mixed(kinds), None) => kinds.text.count += 1,
            (Growing::Category(_) | Growing::Typed(_), _) => unreachable!("done above"),
        }
    }

    /// The same kind of feature, of no arms; whether one of its numbers was infinite goes with the cells.
    pub(in crate::study) fn emptied(&self) -> Self {
        match self {
            Growing::Unknown(_) => Growing::Unknown(0),
            Growing::Number(_, seen) => Growing::Number(Vec::new(), seen.clone()),
            Growing::Text(_, seen) => Growing::Text(Vec::new(), seen.clone()),
            Growing::Mixed(kinds) => Growing::Mixed(kinds.clone()),
            Growing::Category(_) => Growing::Category(Vec::new()),
            Growing::Typed(_) => Growing::Typed(Vec::new()),
        }
    }

    /// What it holds, as [`Column::kind`] says it.
    pub(in crate::study) fn kind(&self) -> &'static str {
        match self {
            Growing::Text(..) | Growing::Category(_) => "text",
            _ => "numbers",
        }
    }

    /// Whether one of its numbers is infinite.
    pub(in crate::study) fn is_infinite(&self) -> bool {
        match self {
            Growing::Number(values, _) | Growing::Typed(values) => values.iter().any(|x| x.is_infinite()),
            _ => false,
        }
    }

    /// The column; a mixed one has been refused.
    pub(in crate::study) fn finish(self) -> Column {
        match self {
            Growing::Unknown(missing) => Column::Number(vec![f64::NAN; missing]),
            Growing::Number(values, _) | Growing::Typed(values) => Column::Number(values),
            Growing::Text(values, _) | Growing::Category(values) => Column::Text(values),
            Growing::Mixed(_) => unreachable!("refused before"),
        }
    }
}
