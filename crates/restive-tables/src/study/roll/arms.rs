//! The names of a table of arms, read once; its features stay in the file.
//!
//! Of Parquet the columns of names are decoded, and `split`; what kind a feature is, its type says. Text is parsed whole in
//! any case: whether a feature is numbers or text is found here, and its cells are forgotten batch by batch.

use super::people::People;
use crate::error::{Error, Result};
use crate::memory::require;
use crate::read::steady::Steady;
use crate::study::arms::{self, Growing, Header, ONLY, refuse_long};
use crate::study::table::{Batch, Cells, Origin, Table, Want};
use restive::data::split::Part;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

/// Bytes that a person takes, whose name is not long: the name, where it starts, and two slots of the index.
const BYTES: f64 = 32.0;

/// Bytes of a table by which its rows are estimated.
const HEAD: u64 = 1 << 18;

/// The table of arms, as far as it is kept.
pub(super) struct ArmsFile {
    pub(super) path: PathBuf,
    pub(super) header: Header,
    /// the kinds of the features, without their cells
    pub(super) kinds: Vec<Growing>,
    /// whether a type says what a feature is
    pub(super) is_typed: bool,
    /// the file as it was when the names were read
    pub(super) steady: Option<Steady>,
}

pub(super) fn read(path: &Path, text: &[String]) -> Result<(People, ArmsFile)> {
    let table = Table::open(Origin::File(path))?;
    let header = Header::find(&table, text, None)?;
    let is_typed = table.is_parquet();
    let mut wanted = header.named();
    let first_feature = wanted.len();
    if is_typed {
        table.check(&header.wanted())?;
    } else {
        wanted.extend(header.wanted());
    }
    let steady = table.steady().map(Steady::copy).transpose()?;
    // a table of text may have far fewer rows than its bytes allow
    let room = if is_typed { table.most_rows() as usize } else { 0 };
    require(path.display(), format!("the names of {room} people"), BYTES * room as f64)?;
    let mut names = NamesReader {
        path,
        people: People::with_room(room),
        kinds: if is_typed { typed(&table, &header) } else { header.growing() },
        is_infinite: vec![false; header.names.len()],
        header,
        first_feature,
        unasked: 0,
    };
    let mut ahead = table.decode_ahead(wanted, None, steady.as_ref())?;
    while let Some(batch) = ahead.next_batch()? {
        names.take(&batch, is_typed)?;
    }
    let NamesReader { mut people, kinds, is_infinite, header, .. } = names;
    arms::refuse_mixed(path, &kinds, &header.names)?;
    if let Some(column) = is_infinite.iter().position(|is_infinite| *is_infinite) {
        return Err(infinite(path, &header.names[column]));
    }
    people.sort_instances();
    Ok((people, ArmsFile { path: path.into(), header, kinds, is_typed, steady }))
}

/// The kinds of features that have types.
fn typed(table: &Table, header: &Header) -> Vec<Growing> {
    let kind = |(column, want): &(usize, Want)| match *want == Want::Name || table.is_text(*column) {
        true => Growing::Category(Vec::new()),
        false => Growing::Typed(Vec::new()),
    };
    header.wanted().iter().map(kind).collect()
}

/// An infinite number in a feature.
pub(super) fn infinite(path: &Path, name: &str) -> Error {
    let fault = restive::error::FeatureFault::Infinite { arm: 0 };
    arms::infinite(path, restive::Error::Feature { column: name.into(), fault }, &[])
}

struct NamesReader<'a> {
    path: &'a Path,
    people: People,
    header: Header,
    kinds: Vec<Growing>,
    is_infinite: Vec<bool>,
    /// where the features stand among the wanted columns
    first_feature: usize,
    /// people since it was last asked whether memory has room
    unasked: usize,
}

impl NamesReader<'_> {
    fn take(&mut self, batch: &Batch, is_typed: bool) -> Result<()> {
        let (path, header) = (self.path, &self.header);
        let mut last: Option<(&str, usize)> = None;
        for row in 0..batch.rows {
            let name = batch.cells[0].text(row);
            let bad = |column: &str, found: &str, expected| {
                let arm = Some(name.to_string()).filter(|name| !name.is_empty());
                Err(arms::bad_cell(path, batch.row(row), arm, column, found, expected))
            };
            if name.is_empty() {
                return bad("arm", "", "a name");
            }
            if name.len() > crate::names::LONGEST {
                refuse_long(path, || batch.row(row), "arm", name)?;
            }
            let instance = header.instance.map_or(ONLY, |_| batch.cells[1].text(row));
            refuse_long(path, || batch.row(row), "instance", instance)?;
            for (name, cells) in header.names.iter().zip(&batch.cells[self.first_feature..]) {
                if let Cells::Text(_) = cells {
                    refuse_long(path, || batch.row(row), name, cells.text(row))?;
                }
            }
            let k = match last {
                Some((name, k)) if name == instance => k,
                _ if instance.is_empty() => return bad("instance", "", "a name"),
                _ => self.people.instance(instance),
            };
            last = Some((instance, k));
            if !self.people.add(k, name) {
                return Err(arms::second(path, batch.row(row), name, instance));
            }
            if header.split.is_some() {
                let found = batch.cells[self.first_feature - 1].text(row);
                match Part::ALL.into_iter().find(|part| part.name() == found) {
                    Some(part) => self.people.parts.get_or_insert_default().push(part),
                    None => return bad("split", found, "train, validation or test"),
                }
            }
            let features = self.kinds.iter_mut().zip(&batch.cells[self.first_feature..]);
            for (kind, cells) in features {
                kind.push(cells, row, is_typed, || (batch.row(row), name.to_string()));
            }
        }
        if !is_typed {
            for (kind, is_infinite) in self.kinds.iter_mut().zip(&mut self.is_infinite) {
                *is_infinite |= kind.is_infinite();
                *kind = kind.emptied();
            }
        }
        self.unasked += batch.rows;
        if self.people.len() >= super::people::NOBODY as usize - (1 << 20) {
            return Err(Error::content(path, "", "more than four billion people", "fewer"));
        }
        if !is_typed && self.unasked >= 1 << 20 {
            require(
                path.display(),
                format!("the names of {} more people", self.unasked),
                BYTES * self.unasked as f64,
            )?;
            self.unasked = 0;
        }
        Ok(())
    }
}

/// The rows of a table of text, by its size and its first lines.
pub(super) fn estimate(path: &Path) -> Result<u64> {
    let file = File::open(path).map_err(Error::io(path, "open"))?;
    let size = file.metadata().map_err(Error::io(path, "open"))?.len();
    let mut head = Vec::new();
    file.take(HEAD).read_to_end(&mut head).map_err(Error::io(path, "read"))?;
    let lines = head.iter().filter(|byte| **byte == b'\n').count() as u64;
    if head.len() as u64 == size {
        let is_open = head.last().is_some_and(|byte| *byte != b'\n');
        return Ok((lines + u64::from(is_open)).saturating_sub(1));
    }
    Ok((size as f64 * lines as f64 / head.len() as f64) as u64)
}
