//! What happened to everybody in a period of one or more weeks.

use crate::error::{Error, Result};

/// A period, one entry per person in every array.
#[derive(Debug, Clone, Copy)]
pub struct Period<'a> {
    /// `[N]`: who was in the programme at all; others count nowhere
    pub enrolled: &'a [bool],
    /// `[N]`: the weeks in which each could be called
    pub could: &'a [u32],
    /// `[N]`: of these, the weeks in which each was on the list
    pub listed: &'a [u32],
    /// `[N]`: of these, the weeks of which the outcome is known
    pub outcomes: &'a [u32],
    /// `[N]`: of these, the weeks in which each was reached
    pub reached: &'a [u32],
    /// `[N]`: what the model says that the calls of the listed weeks bring, summed; 0 for who was not listed
    pub benefit: &'a [f64],
    /// `[N]`: what the model expects of each without a call: the lower, the worse off
    pub need: &'a [f64],
}

impl Period<'_> {
    /// Whether the arrays are what the fields promise, for `people`.
    pub(super) fn check(&self, people: usize) -> Result<()> {
        let lengths = [
            ("enrolled", self.enrolled.len()),
            ("could", self.could.len()),
            ("listed", self.listed.len()),
            ("outcomes", self.outcomes.len()),
            ("reached", self.reached.len()),
            ("benefit", self.benefit.len()),
            ("need", self.need.len()),
        ];
        if let Some((what, found)) = lengths.into_iter().find(|(_, length)| *length != people) {
            let expected = format!("[{people}], as the groups");
            return Err(Error::Shape { what, expected, found: vec![found] });
        }
        for (what, numbers) in [("benefit", self.benefit), ("need", self.need)] {
            if let Some(position) = numbers.iter().position(|x| !x.is_finite()) {
                return Err(Error::NotFinite { what, position, found: numbers[position] });
            }
        }
        for i in 0..people {
            let chain = [
                ("could", if self.enrolled[i] { u32::MAX } else { 0 }, self.could[i], "those enrolled"),
                ("listed", self.could[i], self.listed[i], "those in which a call could be"),
                ("outcomes", self.listed[i], self.outcomes[i], "those listed"),
                ("reached", self.outcomes[i], self.reached[i], "those with an outcome"),
            ];
            if let Some((what, most, found, of)) = chain.into_iter().find(|(_, most, found, _)| found > most)
            {
                return Err(Error::Unsuitable {
                    what,
                    found: format!("{found} weeks for person {i}"),
                    expected: format!("at most {most}, {of}"),
                });
            }
            if self.listed[i] == 0 && self.benefit[i] != 0.0 {
                return Err(Error::Unsuitable {
                    what: "benefit",
                    found: format!("{} for person {i}, who was not listed", self.benefit[i]),
                    expected: "0".into(),
                });
            }
        }
        Ok(())
    }
}
