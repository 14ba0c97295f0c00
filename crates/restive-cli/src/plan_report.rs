//! What `restive plan` answers: rows of a table, text or JSON.

use crate::display::{Decimals, grouped, write_aligned};
use crate::history::History;
use crate::summary::counted;
use restive::instance::Chain;
use restive_tables::{Cells, write_table};
use serde::Serialize;
use std::io::{self, Write};
use std::path::Path;

/// One arm to pull.
#[derive(Serialize)]
pub(crate) struct Row {
    pub(crate) instance: String,
    pub(crate) arm: String,
    #[serde(flatten)]
    pub(crate) place: LastSeen,
    pub(crate) index: f64,
    pub(crate) rank: usize,
    pub(crate) inclusion: f64,
    pub(crate) is_beneficial: bool,
}

/// What the ranking of an arm goes by.
#[derive(Serialize)]
#[serde(untagged)]
pub(crate) enum LastSeen {
    State {
        state: u16,
    },
    /// absent: never seen
    Label {
        last_state: Option<u16>,
        since: Option<u16>,
    },
}

impl LastSeen {
    /// Of a state, or of a label and whether it is known rather than that of arms of which nothing is.
    pub(crate) fn new(state: u16, is_known: bool, chain: Option<Chain>) -> Self {
        match chain.map(|chain| chain.beliefs() as u16) {
            None => LastSeen::State { state },
            Some(labels) => {
                let [last_state, since] = [state / labels, state % labels].map(|x| is_known.then_some(x));
                LastSeen::Label { last_state, since }
            }
        }
    }

    /// The words above the cells.
    pub(crate) fn header(is_labelled: bool) -> &'static [&'static str] {
        if is_labelled { &["last state", "since"] } else { &["state"] }
    }

    /// The cells of a row; none where the arm was never seen.
    pub(crate) fn cells(&self) -> Vec<Option<u16>> {
        match *self {
            LastSeen::State { state } => vec![Some(state)],
            LastSeen::Label { last_state, since } => vec![last_state, since],
        }
    }

    /// The cells of a row, in words.
    pub(crate) fn texts(&self) -> Vec<String> {
        let words = ["never seen", "–"].into_iter();
        let text = |(cell, word): (Option<u16>, &str)| cell.map_or(word.into(), |cell| cell.to_string());
        self.cells().into_iter().zip(words).map(text).collect()
    }
}

/// The arms to pull, and what the choice rests on.
#[derive(Serialize)]
pub(crate) struct Plan {
    /// K, of each instance
    pub(crate) budget: usize,
    pub(crate) index_discount: f64,
    /// what a prediction is worth beside an arm's own record, where that counts
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) history: Option<History>,
    /// arms that were never seen: without a state they are left out, without a label they have that of [`unknown_label`](restive::evaluation::unknown_label)
    pub(crate) never_observed: usize,
    /// whether arms are ranked by labels, because states are seen at pulls only
    #[serde(skip)]
    pub(crate) is_labelled: bool,
    pub(crate) plan: Vec<Row>,
}

impl Plan {
    /// The columns of what the ranking goes by.
    fn columns(&self) -> &'static [&'static str] {
        if self.is_labelled { &["last_state", "since"] } else { &["state"] }
    }

    /// As a table, `.csv` or `.parquet`.
    pub(crate) fn write_table(&self, path: &Path) -> restive_tables::Result<()> {
        let rows = self.plan.iter();
        let mut columns = vec![
            ("instance", Cells::Text(rows.clone().map(|row| row.instance.clone()).collect())),
            ("arm", Cells::Text(rows.clone().map(|row| row.arm.clone()).collect())),
        ];
        let place =
            |c: usize| Cells::Whole(rows.clone().map(|row| row.place.cells()[c].map(i32::from)).collect());
        columns.extend(self.columns().iter().enumerate().map(|(c, name)| (*name, place(c))));
        columns.extend([
            ("index", Cells::Number(rows.clone().map(|row| row.index).collect())),
            ("rank", Cells::Whole(rows.clone().map(|row| Some(row.rank as i32)).collect())),
            ("inclusion", Cells::Number(rows.clone().map(|row| row.inclusion).collect())),
            ("is_beneficial", Cells::Truth(rows.clone().map(|row| row.is_beneficial).collect())),
        ]);
        write_table(path, columns)
    }

    /// As text: the first rows, and a summary.
    pub(crate) fn write_text(&self, text: &mut Vec<u8>, rows: usize, out: Option<&Path>) -> io::Result<()> {
        let shown = &self.plan[..self.plan.len().min(rows)];
        if !shown.is_empty() {
            let decimals = Decimals::of(shown.iter().map(|row| row.index));
            let rest = ["index", "rank", "inclusion", "is_beneficial"];
            let header = [&["instance", "arm"], self.columns(), &rest].concat();
            let mut table = vec![header.into_iter().map(String::from).collect::<Vec<_>>()];
            table.extend(shown.iter().map(|row| {
                let mut cells =
                    vec![row.instance.escape_debug().to_string(), row.arm.escape_debug().to_string()];
                cells.extend(row.place.texts());
                cells.extend([
                    decimals.format(row.index),
                    row.rank.to_string(),
                    format!("{:.3}", row.inclusion),
                    if row.is_beneficial { "yes" } else { "not beneficial" }.into(),
                ]);
                cells
            }));
            write_aligned(text, &table)?;
            match (self.plan.len() - shown.len()) as u64 {
                0 => writeln!(text)?,
                more => {
                    writeln!(text, "… {} more; --out FILE writes all, --rows N shows more\n", grouped(more))?;
                }
            }
        }
        let without = self.plan.iter().filter(|row| !row.is_beneficial).count();
        write!(text, "{} to pull", counted(self.plan.len() as u64, "arm"))?;
        if without > 0 {
            write!(text, ", {} of them not beneficial", grouped(without as u64))?;
        }
        write!(text, "; budget {} per instance, index discount {:.4}", self.budget, self.index_discount)?;
        match out {
            Some(out) => writeln!(text, "; wrote {}", out.display())?,
            None => writeln!(text)?,
        }
        self.history.iter().try_for_each(|history| writeln!(text, "{history}"))
    }
}
