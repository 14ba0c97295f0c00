//! Where a week's list ends: the last person called and the first not called.
//!
//! A rule calls its K highest by (score, tie). Somebody of the other arm *would have been called* where she is strictly above the
//! cut; which of the two cuts is meant is an [`Edge`]. Where everybody who could be called was called, the list had room, and
//! the cut is −∞; where nobody was called there was no place, and it is +∞.

/// Which end of the gap between the called and the others is the cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Edge {
    /// the last called, for exchanges: whoever is not above her could have stood in the other arm and no list would have changed
    LastCalled,
    /// the first not called, for subgroups: given her, the called and those of the other arm above her are alike
    FirstNotCalled,
}

/// The end of one week's list, each as (score, tie).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Cut {
    /// of the last called
    pub last_called: (f64, f64),
    /// of the first who could have been called and was not
    pub first_not_called: (f64, f64),
}

impl Cut {
    /// Everybody who could be called was called.
    pub const EVERYBODY: Cut = Cut { last_called: LOWEST, first_not_called: LOWEST };
    /// Nobody was called.
    pub const NOBODY: Cut = Cut { last_called: HIGHEST, first_not_called: HIGHEST };

    /// The cut of a list: score, tie and whether called of everybody in the arm; a score of NaN could not be called.
    ///
    /// ```
    /// use restive::trial::Cut;
    ///
    /// let list = [(0.9, 0.1, true), (0.5, 0.7, true), (0.5, 0.2, false), (f64::NAN, 0.5, false)];
    /// let cut = Cut::of(list);
    /// assert_eq!((cut.last_called, cut.first_not_called), ((0.5, 0.7), (0.5, 0.2)));
    /// assert_eq!(Cut::of(list[..2].iter().copied()), Cut::EVERYBODY);
    /// ```
    pub fn of(list: impl IntoIterator<Item = (f64, f64, bool)>) -> Self {
        let (mut last, mut first, mut calls, mut others) = (HIGHEST, LOWEST, 0, 0);
        for (score, tie, is_called) in list {
            if score.is_nan() {
                continue;
            }
            if is_called {
                calls += 1;
                if above(last.0, last.1, (score, tie)) {
                    last = (score, tie);
                }
            } else {
                others += 1;
                if above(score, tie, first) {
                    first = (score, tie);
                }
            }
        }
        match (calls, others) {
            (0, _) => Self::NOBODY,
            (_, 0) => Self::EVERYBODY,
            _ => Self { last_called: last, first_not_called: first },
        }
    }

    /// The cut at an edge.
    pub(super) fn at(&self, edge: Edge) -> (f64, f64) {
        match edge {
            Edge::LastCalled => self.last_called,
            Edge::FirstNotCalled => self.first_not_called,
        }
    }
}

const LOWEST: (f64, f64) = (f64::NEG_INFINITY, f64::NEG_INFINITY);
const HIGHEST: (f64, f64) = (f64::INFINITY, f64::INFINITY);

/// Whether a score and a tie are strictly above a cut; a score of NaN is not.
pub(super) fn above(score: f64, tie: f64, cut: (f64, f64)) -> bool {
    score > cut.0 || (score == cut.0 && tie > cut.1)
}
