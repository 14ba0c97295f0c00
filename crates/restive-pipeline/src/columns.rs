//! Columns that nothing can be learnt from, however long one trains.
//!
//! An identifier has a value of its own for nearly every arm; a category with a handful of arms says nothing but what these arms
//! did. Both fit the training arms and fail the others, and both cost time: every category is a column. They are named, with
//! what to do; whether to do it is for the user.

use crate::message::{Message, Opt, message};
use crate::words::{counted, grouped};
use restive::data::features::{Column, Features};
use restive_tables::show;
use std::collections::BTreeSet;

/// Arms below which nobody can tell.
pub(crate) const FEW: usize = 20;
/// Arms that a category should have, on average.
const ARMS_PER_CATEGORY: usize = 5;
/// Whole numbers from here on, each of them once, are telephone or file numbers.
pub(crate) const LONG: f64 = 1e8;

/// One warning for each column of the training arms that `is_used` and looks like an identifier, or has more categories than
/// its arms can bear.
pub(crate) fn doubtful(training: &Features, is_used: impl Fn(&str) -> bool) -> Vec<Message> {
    let columns = training.names().iter().zip(training.columns());
    columns.filter(|(name, _)| is_used(name)).filter_map(|(name, column)| doubt(name, column)).collect()
}

/// A column that says nothing of other arms.
pub(crate) struct Suspect {
    /// arms that have it
    pub arms: usize,
    /// different values
    pub values: usize,
    /// otherwise it has more categories than its arms can bear
    pub is_identifier: bool,
}

impl Suspect {
    /// A column with so many different values among so many arms, text or serial numbers; none where nothing is wrong with that.
    pub(crate) fn new(arms: usize, values: usize, is_number: bool) -> Option<Self> {
        if arms < FEW || values * ARMS_PER_CATEGORY <= arms {
            return None;
        }
        Some(Self { arms, values, is_identifier: is_number || 2 * values > arms })
    }

    /// What should be known of a column of this name.
    pub(crate) fn warning(&self, name: &str) -> Message {
        let Self { arms, values, is_identifier } = *self;
        let name = show::name(name);
        let found = format!(
            "feature {name}: {} among {}",
            counted(values as u64, "value"),
            counted(arms as u64, "training arm")
        );
        if is_identifier {
            let why = ", which looks like an identifier: it says nothing of other arms; ";
            return message!(found, why, Opt("drop"), format!(" {name} leaves it out"));
        }
        let why = format!(
            ", fewer than {} to each: too few to learn from; group them, or ",
            grouped(ARMS_PER_CATEGORY as u64)
        );
        message!(found, why, Opt("drop"), format!(" {name}"))
    }
}

/// Whether a column looks like an identifier, or has more categories than its arms can bear.
pub(crate) fn suspect(column: &Column) -> Option<Suspect> {
    let arms = column.len() - column.missing();
    let (values, is_number) = match column {
        Column::Number(numbers) if is_serial(numbers) => (arms, true),
        Column::Number(_) => return None,
        Column::Text(texts) => (texts.iter().flatten().collect::<BTreeSet<_>>().len(), false),
    };
    Suspect::new(arms, values, is_number)
}

fn doubt(name: &str, column: &Column) -> Option<Message> {
    suspect(column).map(|suspect| suspect.warning(name))
}

/// Whole numbers, each of them once, that are close together as numbers given in turn are, or very long.
fn is_serial(numbers: &[f64]) -> bool {
    let mut known: Vec<f64> = numbers.iter().copied().filter(|x| !x.is_nan()).collect();
    known.sort_by(f64::total_cmp);
    let (Some(least), Some(most)) = (known.first(), known.last()) else { return false };
    known.iter().all(|x| x.fract() == 0.0)
        && known.windows(2).all(|pair| pair[0] != pair[1])
        && (is_close(*least, *most, known.len()) || *least >= LONG)
}

/// Whether so many numbers are as close together as numbers given in turn are.
pub(crate) fn is_close(least: f64, most: f64, known: usize) -> bool {
    most - least < 10.0 * known as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(column: Column) -> Option<String> {
        doubt("x", &column).map(|message| message.to_string())
    }

    fn text(arms: usize, categories: usize) -> Column {
        Column::Text((0..arms).map(|i| Some(format!("c{}", i % categories))).collect())
    }

    #[test]
    fn identifiers_and_crowds_of_categories_are_named() {
        let identifier = "feature x: 100 values among 100 training arms, which looks like an identifier: it says nothing of other \
                          arms; --drop x leaves it out";
        assert_eq!(said(text(100, 100)).as_deref(), Some(identifier));
        let serial = Column::Number((0..100).map(|i| f64::from(5000 + 3 * i)).collect());
        assert_eq!(said(serial).as_deref(), Some(identifier));
        let telephone = Column::Number((0..100).map(|i| 9e9 + f64::from(i * i * 7919)).collect());
        assert_eq!(said(telephone).as_deref(), Some(identifier));
        let crowd = "feature x: 30 values among 100 training arms, fewer than 5 to each: too few to learn from; group them, or --drop x";
        assert_eq!(said(text(100, 30)).as_deref(), Some(crowd));
    }

    #[test]
    fn columns_that_can_be_learnt_from_are_not() {
        let age = Column::Number((0..100).map(|i| f64::from(18 + i % 25)).collect());
        let income = Column::Number((0..100).map(|i| f64::from(1200 + i * i * 31)).collect());
        let share = Column::Number((0..100).map(|i| f64::from(i) / 100.0).collect());
        for column in [age, income, share, text(100, 20), text(15, 15)] {
            assert_eq!(said(column), None);
        }
        let mostly_missing = (0..100).map(|i| (i < 19).then(|| i.to_string())).collect();
        assert_eq!(said(Column::Text(mostly_missing)), None);
    }
}
