//! Some people of one instance before the decision that is planned.
//!
//! Whatever a plan asks of a person is hers alone: her columns, her latest state, how she moves in the light of her own record. So people can
//! come in pieces, of any size and in any order, from memory, from a file that passes by or from a partition of a cluster, and are always
//! the same to the last bit.

use super::standing::Standing;
use crate::error::{Result, refuse};
use crate::message::Opt;
use crate::own_record::with_record;
use crate::rules::people::Known;
use ndarray::{Array4, ArrayView3, Axis, s, stack};
use restive::evaluation::Record;
use restive::history::{Past, Rule};
use restive::instance::{Counts, Observation};
use restive::{Layout, Trajectories, Transition};
use restive_tables::{Contacts, PeoplePiece, StudyInstance};

/// Some people of one instance.
pub(crate) struct Here<'a> {
    /// what rules can look at
    pub(crate) known: Known<'a>,
    /// `[N,M,2,M]`: how they move, in the light of their records
    pub(crate) transition: Transition,
    /// `[N]`: the state or label that each is ranked by; none where there is nothing
    pub(crate) ranked: Vec<Option<u16>>,
    /// `[N]`: whether that was ever seen, and does not stand for what is unknown
    pub(crate) is_seen: Vec<bool>,
    /// Whether each could be pulled at the decision that is planned, `[N]`; `None` if the log does not say.
    pub(crate) is_available: Option<Vec<bool>>,
}

impl<'a> Here<'a> {
    /// People of a study with what is predicted of them; `now` is the step that is planned.
    pub(crate) fn new(
        there: &'a StudyInstance,
        prediction: &Transition,
        rule: &Rule,
        observation: Observation,
        people: Option<&'a Contacts>,
        now: usize,
    ) -> Result<Self> {
        let log = &there.trajectories;
        let standing = Standing::new(log, observation);
        Ok(Self {
            known: Known::new(there, people, now)?,
            transition: with_record(rule, log, observation, prediction)?,
            ranked: standing.ranked().collect(),
            is_seen: standing.is_seen().collect(),
            is_available: available_at(log, now),
        })
    }

    /// People as an engine has them, with what is predicted of them.
    pub(crate) fn of_piece(piece: &'a PeoplePiece, prediction: Transition, rule: &Rule) -> Result<Self> {
        let transition = match rule {
            Rule::Alone => prediction,
            rule => rule.apply(&past(piece)?, prediction.view())?,
        };
        Ok(Self {
            known: Known::of_piece(piece),
            transition,
            ranked: piece.state.clone(),
            is_seen: piece.state.iter().map(Option::is_some).collect(),
            is_available: None,
        })
    }

    /// How many.
    pub(crate) fn len(&self) -> usize {
        self.ranked.len()
    }
}

/// Whether each arm could be pulled at a step of the last trajectory, `[N]`; a step without a row counts as available.
fn available_at(log: &Trajectories, step: usize) -> Option<Vec<bool>> {
    let available = log.available().filter(|_| step < log.steps())?;
    let latest = log.trajectories().checked_sub(1)?;
    Some(available.slice(s![latest, step, ..]).to_vec())
}

/// What their table counts of their pasts.
pub(crate) fn past(piece: &PeoplePiece) -> Result<Past> {
    let (Some(moves), Some(begins)) = (&piece.moves, &piece.begins) else {
        let why = ": found no columns moves_S_A_NEXT and begins_S in the table of people, expected them: records count in this \
                   plan; ";
        refuse!(Opt("history"), why, Opt("history"), " no plans without");
    };
    let share = |row: ndarray::ArrayView1<'_, f64>| {
        let all = row.sum();
        (row.len() == 2 && all > 0.0).then(|| row[1] / all)
    };
    // how many trajectories there were does not matter to a rule
    let record = Record::Moves(Counts::new(moves.clone(), 1));
    Ok(Past { record, first: begins.outer_iter().map(share).collect() })
}

/// The transitions of people whose rows, `[M,2,M]` each, were those of transitions before.
pub(crate) fn of_rows<'r>(states: usize, rows: impl Iterator<Item = &'r [f64]>) -> Result<Transition> {
    let views = rows.map(|row| ArrayView3::from_shape((states, 2, states), row));
    let Ok(views) = views.collect::<std::result::Result<Vec<_>, _>>() else {
        refuse!("people: found transitions of another number of states, expected those of the job");
    };
    let values = match views.is_empty() {
        true => Array4::zeros((0, states, 2, states)),
        false => stack(Axis(0), &views).expect("as long as each other"),
    };
    Ok(Transition::new(values, Layout::Nsas)?)
}
