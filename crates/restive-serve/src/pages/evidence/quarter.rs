//! What came of the lists of the last quarter, from the record: counts, and nothing that anybody believes.

use restive_programme::WeekTold;

/// Lists of a quarter, where there is one each week.
pub(super) const WEEKS: usize = 13;

/// What came of the last lists.
pub(super) struct Quarter {
    /// the latest first
    pub(super) weeks: Vec<WeekTold>,
    /// on lists, with an outcome, called, answered, reached
    pub(super) all: [usize; 5],
}

impl Quarter {
    pub(super) fn of(mut weeks: Vec<WeekTold>) -> Self {
        weeks.reverse();
        let sum = |of: fn(&WeekTold) -> usize| weeks.iter().map(of).sum::<usize>();
        let all = [
            sum(|week| week.listed),
            sum(|week| week.told),
            sum(|week| week.called),
            sum(|week| week.answered),
            sum(|week| week.reached),
        ];
        Self { weeks, all }
    }

    /// The part of calls by which somebody was reached, in per cent; empty where there was none.
    pub(super) fn share(&self, reached: &usize, called: &usize) -> String {
        match called {
            0 => String::new(),
            called => format!("{:.0} %", 100.0 * *reached as f64 / *called as f64),
        }
    }
}
