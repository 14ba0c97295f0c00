//! How often the people of a study were looked at: `looks.csv` in its folder, one row for each recipe and the people it was judged on.
//!
//! Whoever judges many recipes on the same people and keeps the best has learnt from them, and the best of many looks better than it is.
//! So every judgement leaves a row, and the number of recipes that were judged on [overlapping](People::overlaps) people so far is a fact
//! that intervals can be widened by. To judge the same recipe on the same people again is no new look.
//!
//! | column | what it holds |
//! |---|---|
//! | `recipe` | what was judged: 32 hexadecimal digits that name a recipe of training, or a word |
//! | `people` | on whom ([`People`]) |
//! | `what` | the recipe in words, for people who read the table |
//!
//! The table is beside the study and no part of it: neither its fingerprint nor a model knows of it. Of two programs that judge at the
//! same time the later writes last, and the other's row may be missing; the table is whole in any case.

use super::people::{self, People};
use super::table::{Batch, Origin, Table, Want};
use crate::error::{Error, Place, Result};
use crate::own::recognise_table;
use crate::show::{self, quoted};
use crate::write::{Cells, write_table};
use std::collections::HashSet;
use std::path::{Path, PathBuf};

/// The file.
pub(super) const LOOKS: &str = "looks.csv";
/// Its columns.
pub(super) const COLUMNS: [&str; 3] = ["recipe", "people", "what"];

/// What was judged in a study so far.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Looks {
    rows: Vec<Look>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Look {
    recipe: String,
    people: People,
    what: String,
}

impl Looks {
    /// The file of a study's folder.
    pub fn path(folder: &Path) -> PathBuf {
        folder.join(LOOKS)
    }

    /// What the folder of a study says; nothing was judged where there is no table.
    pub fn read(folder: &Path) -> Result<Self> {
        let path = Self::path(folder);
        if !path.exists() {
            return Ok(Self::default());
        }
        let mut table = Table::open(Origin::File(&path))?;
        let columns = COLUMNS.map(|name| table.need(name));
        let mut wanted = Vec::new();
        for column in columns {
            wanted.push((column?, Want::Name));
        }
        // a column more would be lost when the table is written again
        if let Some(more) = table.header().iter().find(|name| !COLUMNS.contains(&name.as_str())) {
            let expected = format!("{} and nothing else", COLUMNS.join(", "));
            return Err(Error::content(&path, "header", format!("a column {}", show::name(more)), expected));
        }
        table.select(wanted)?;
        let mut rows = Vec::new();
        while let Some(batch) = table.next_batch()? {
            for row in 0..batch.rows {
                rows.push(look(&path, &batch, row)?);
            }
        }
        Ok(Self { rows })
    }

    /// Notes that a recipe (32 hexadecimal digits or a word) is judged on some people, unless that is known already. Returns how
    /// many recipes were judged on overlapping people so far, this one included.
    pub fn look(&mut self, recipe: &str, people: &People, what: &str) -> usize {
        assert!(is_word(recipe), "recipe: a word, found {recipe:?}");
        if !self.rows.iter().any(|look| look.recipe == recipe && look.people == *people) {
            let (recipe, people, what) = (recipe.into(), people.clone(), what.into());
            self.rows.push(Look { recipe, people, what });
        }
        let overlapping = self.rows.iter().filter(|look| look.people.overlaps(people));
        overlapping.map(|look| look.recipe.as_str()).collect::<HashSet<_>>().len()
    }

    /// Writes the table into the folder of a study, whole or not at all; what is there is replaced only where it
    /// [is](Self::recognise) a table of looks. Where nothing was judged there is nothing to write.
    pub fn write(&self, folder: &Path) -> Result<()> {
        if self.rows.is_empty() {
            return Ok(());
        }
        let cells = |text: fn(&Look) -> String| Cells::Text(self.rows.iter().map(text).collect());
        let columns = [
            cells(|look| look.recipe.clone()),
            cells(|look| look.people.to_string()),
            cells(|look| look.what.clone()),
        ];
        write_table(&Self::path(folder), Some(Self::recognise), COLUMNS.into_iter().zip(columns).collect())
    }

    /// Refuses a file that is no table of looks.
    pub fn recognise(path: &Path) -> Result<()> {
        recognise_table(path, "a table of looks", |columns| columns == COLUMNS)
    }
}

/// One row, checked.
fn look(path: &Path, batch: &Batch, row: usize) -> Result<Look> {
    let [recipe, people, what] = std::array::from_fn(|column| batch.cells[column].text(row));
    let wrong = |column: usize, found: &str, expected: &'static str| Error::Cell {
        path: path.into(),
        place: Place { row: batch.row(row), arm: None },
        column: COLUMNS[column].into(),
        found: if found.is_empty() { "an empty cell".into() } else { quoted(found.as_bytes()) },
        expected,
    };
    if !is_word(recipe) {
        return Err(wrong(0, recipe, "32 hexadecimal digits or a word"));
    }
    let people = people.parse().map_err(|_| wrong(1, people, people::EXPECTED))?;
    Ok(Look { recipe: recipe.into(), people, what: what.into() })
}

fn is_word(text: &str) -> bool {
    !text.is_empty() && !text.contains(|c: char| c.is_whitespace() || show::is_hostile(c))
}
