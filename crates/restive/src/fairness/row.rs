//! What is said of one group, in three parts that are printed or withheld as wholes.
//!
//! A rate with what it is of gives a count, and Wilson's interval with its middle gives what it is of. So nothing of a part is printed where
//! one of its counts must not be known, and a part is not printed without the parts before it.

use crate::statistics::{Difference, Mean, Proportion, Ratio};

/// One group.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// its name
    pub name: String,
    /// who is in it; nothing where withheld
    pub population: Option<Population>,
    /// who was listed; nothing where withheld
    pub lists: Option<Lists>,
    /// who was reached; nothing where withheld
    pub reach: Option<Reach>,
}

/// Who is in a group.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Population {
    /// people in the programme
    pub people: u64,
    /// of these, who could be called in some week
    pub could: u64,
    /// person-weeks in which a call could be
    pub could_weeks: u64,
    /// the part of all people
    pub share_of_people: Option<f64>,
    /// the part of all person-weeks in which a call could be
    pub share_of_could: Option<f64>,
    /// what is expected of them without a call, with a t-interval over people; nothing for fewer than two
    pub need: Option<Mean>,
}

/// Who of a group was listed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Lists {
    /// people listed in some week
    pub people: u64,
    /// person-weeks on lists
    pub weeks: u64,
    /// the part of all places
    pub share: Option<f64>,
    /// person-weeks on lists by those in which a call could be, with an interval by person; nothing where none could be
    pub rate: Option<Proportion>,
    /// against places dealt at random; nothing where only one group could be called
    pub chance: Option<Chance>,
    /// the rate by everybody's
    pub to_overall: Option<f64>,
    /// the rate by that of all other groups together: below four fifths is a common mark of adverse impact
    pub to_others: Option<Ratio>,
    /// what the calls are predicted to bring, in all
    pub benefit: f64,
    /// the same per person listed, with a t-interval over people; nothing for fewer than two
    pub benefit_per_listed: Option<Mean>,
    /// the same per person of the group
    pub benefit_per_person: Option<Mean>,
    /// the rate against that of the last period
    pub change: Option<Change>,
}

/// What chance would have given a group.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Chance {
    /// person-weeks expected
    pub expected: f64,
    /// lower end of the 95 % range
    pub low: u64,
    /// upper end of the 95 % range
    pub high: u64,
    /// probability of a count as unlikely
    pub p: f64,
    /// the same, corrected for the groups of the table that are printed
    pub p_corrected: f64,
    /// whether all deals were counted, or the normal distribution stands for them
    pub is_exact: bool,
}

/// A rate and that of the last period, of the groups as they are now.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Change {
    /// the last period's rate
    pub before: Proportion,
    /// people who could be called then
    pub could_before: u64,
    /// of these, people listed then
    pub listed_before: u64,
    /// this rate less the last, with an interval that knows who is in both
    pub difference: Difference,
}

/// Who of a group was reached.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Reach {
    /// people listed of whom an outcome is known
    pub heard: u64,
    /// person-weeks on lists with an outcome
    pub heard_weeks: u64,
    /// people reached in some week
    pub people: u64,
    /// person-weeks reached
    pub weeks: u64,
    /// of the person-weeks with an outcome, with an interval by person; nothing where there is none
    pub rate: Option<Proportion>,
}
