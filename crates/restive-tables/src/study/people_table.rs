//! People as engines have them: one row each, with what is known of her, where she stands and what her record counts.
//!
//! | column | meaning |
//! |---|---|
//! | `instance` | may be left out where there is one |
//! | `arm` | what she is called |
//! | `split` | perhaps: train, validation, test |
//! | `state` | the last state that was seen; empty: never |
//! | `last_seen`, `last_call`, `calls` | periods ago, 0 in the one that has just ended (empty: never); calls so far; all three may be left out |
//! | `moves_S_A_NEXT` | how often she was seen to move from S under action A to NEXT; together or not at all |
//! | `begins_S` | trajectories in which S was the first state that was seen; likewise |
//! | `do_not_call`, `is_there`, `last_outcome` | perhaps: whether she must not be called; whether she has joined and not left; what came of her last call |
//! | any other | a feature, or a column that rules look at |
//!
//! It is what a log comes down to for a plan or for a fit of moves: a record batch of such rows can be scored wherever it is, and a partition
//! of a table by the machine that holds it. Rows count from 0 in their batch.

use super::arms::ONLY;
use super::contacts::Contact;
use super::refused;
use super::table::{Batch, Cells, Origin, Table, Want};
use crate::error::{Error, Place, Result};
use crate::show;
use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, RecordBatch, StringArray};
use arrow_schema::{DataType, Field, Schema};
use ndarray::{Array2, Array4};
use restive::data::encoding::Encoding;
use restive::data::features::{Column, Features};
use restive::data::split::Part;
use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

/// Columns with a meaning of their own, beside those of counts.
const OWN: [&str; 10] = [
    "instance",
    "arm",
    "split",
    "state",
    "last_seen",
    "last_call",
    "calls",
    "do_not_call",
    "is_there",
    "last_outcome",
];

/// What messages call the table.
const TABLE: &str = "people";

/// Some people of one instance.
#[derive(Debug, Clone)]
pub struct PeoplePiece {
    /// of the study
    pub instance: String,
    /// by name, `[N]`
    pub arms: Vec<String>,
    /// `[N]`: their rows in the batch, from 0
    pub rows: Vec<u32>,
    /// what predictions go by
    pub features: Features,
    /// other columns, for rules
    pub beside: Features,
    /// where the table says
    pub split: Option<Vec<Part>>,
    /// `[N]`: the last one that was seen
    pub state: Vec<Option<u16>>,
    /// `[N]`: periods since then
    pub last_seen: Vec<Option<usize>>,
    /// `[N]`: periods since the last call
    pub last_call: Vec<Option<usize>>,
    /// `[N]`: calls so far
    pub calls: Vec<usize>,
    /// whether the table has `last_seen`, `last_call` and `calls`
    pub has_recency: [bool; 3],
    /// `[N]`: who may be called, where the table says
    pub contacts: Option<Vec<Contact>>,
    /// `[N,M,2,M]`; none where the table has no such columns
    pub moves: Option<Array4<f64>>,
    /// `[N,M]`; likewise
    pub begins: Option<Array2<f64>>,
}

/// What is read of a table of people.
#[derive(Debug, Clone, Copy)]
pub struct PeopleColumns<'a> {
    /// M
    pub states: usize,
    /// the features, by name; none: every column without a meaning of its own
    pub features: Option<&'a [String]>,
    /// columns that are categories though they look like numbers
    pub text: &'a [String],
    /// columns that rules look at
    pub beside: &'a [String],
}

/// The name of the column that counts moves.
pub fn moves_column(from: usize, action: usize, to: usize) -> String {
    format!("moves_{from}_{action}_{to}")
}

/// The name of the column that counts beginnings.
pub fn begins_column(state: usize) -> String {
    format!("begins_{state}")
}

/// Whether a column has a meaning of its own in a table of people.
pub fn is_own_column(name: &str) -> bool {
    OWN.contains(&name) || name.starts_with("moves_") || name.starts_with("begins_")
}

impl PeoplePiece {
    /// The people of a batch, by instance in the order in which they come.
    pub fn read(batch: &RecordBatch, wanted: &PeopleColumns<'_>) -> Result<Vec<PeoplePiece>> {
        Self::read_some(batch, wanted, |_, _| true)
    }

    /// Those of them of whom `is_wanted` says so, by the names of instance and arm; of the others nothing else is read.
    pub fn read_some(
        batch: &RecordBatch,
        wanted: &PeopleColumns<'_>,
        is_wanted: impl Fn(&str, &str) -> bool,
    ) -> Result<Vec<PeoplePiece>> {
        if batch.num_rows() == 0 {
            return Ok(Vec::new());
        }
        let batch = plain(batch);
        let path = Path::new(TABLE);
        let mut table = Table::open(Origin::Memory(path, &batch))?;
        let columns = Reading::new(&mut table, wanted)?;
        let mut growing: Vec<Growing> = Vec::new();
        let mut numbers: HashMap<String, usize> = HashMap::new();
        let mut first = 0;
        while let Some(batch) = table.next_batch()? {
            for row in 0..batch.rows {
                let instance = match columns.instance {
                    None => ONLY,
                    Some(c) => batch.cells[c].text(row),
                };
                if instance.is_empty() {
                    return Err(fault(&batch, row, "", "instance", "an empty cell", "a name"));
                }
                if !is_wanted(instance, batch.cells[columns.arm].text(row)) {
                    continue;
                }
                let k = match numbers.get(instance) {
                    Some(k) => *k,
                    None => {
                        numbers.insert(instance.into(), growing.len());
                        growing.push(Growing::new(instance, &columns, &batch));
                        growing.len() - 1
                    }
                };
                growing[k].push(&columns, &batch, row, first)?;
            }
            first += batch.rows;
        }
        growing.into_iter().map(|one| one.finish(&columns)).collect()
    }
}

impl PeoplePiece {
    /// The features as numbers, `[N,F]`.
    pub fn encode(&self, encoding: &Encoding) -> Result<Array2<f64>> {
        encoding.encode(&self.features).map_err(|fault| refused(&self.instance, fault))
    }
}

/// Where columns stand among the wanted ones.
struct Reading {
    states: usize,
    instance: Option<usize>,
    arm: usize,
    split: Option<usize>,
    state: usize,
    last_seen: Option<usize>,
    last_call: Option<usize>,
    calls: Option<usize>,
    do_not_call: Option<usize>,
    is_there: Option<usize>,
    last_outcome: Option<usize>,
    /// of moves, then of beginnings
    moves: Option<usize>,
    begins: Option<usize>,
    features: Vec<(String, usize)>,
    beside: Vec<(String, usize)>,
}

impl Reading {
    fn new(table: &mut Table, wanted: &PeopleColumns<'_>) -> Result<Self> {
        let mut all: Vec<(usize, Want)> = Vec::new();
        let mut take = |column: usize, want: Want| {
            all.push((column, want));
            all.len() - 1
        };
        let arm = take(table.need("arm")?, Want::Name);
        let state = take(table.need("state")?, Want::Number);
        let [instance, split] =
            ["instance", "split"].map(|name| table.find(name).map(|column| (column, Want::Name)));
        let last_outcome = table.find("last_outcome").map(|column| (column, Want::Name));
        let [last_seen, last_call, calls, do_not_call, is_there] =
            ["last_seen", "last_call", "calls", "do_not_call", "is_there"]
                .map(|name| table.find(name).map(|column| (column, Want::Number)));
        let mut place = |found: Option<(usize, Want)>| found.map(|(column, want)| take(column, want));
        let [instance, split, last_outcome] = [instance, split, last_outcome].map(&mut place);
        let [last_seen, last_call, calls] = [last_seen, last_call, calls].map(&mut place);
        let [do_not_call, is_there] = [do_not_call, is_there].map(&mut place);
        let m = wanted.states;
        let names = |names: Vec<String>, table: &Table| -> Result<Option<Vec<usize>>> {
            let found: Vec<Option<usize>> = names.iter().map(|name| table.find(name)).collect();
            if found.iter().all(Option::is_none) {
                return Ok(None);
            }
            let absent = names.iter().zip(&found).find(|(_, found)| found.is_none());
            match absent {
                None => Ok(Some(found.into_iter().flatten().collect())),
                Some((name, _)) => {
                    let found = format!("no column {name}, and others of its kind");
                    Err(Error::content(Path::new(TABLE), "header", found, "all of them, or none"))
                }
            }
        };
        let cells = (0..m).flat_map(|s| (0..2).flat_map(move |a| (0..m).map(move |next| (s, a, next))));
        let moves = names(cells.map(|(s, a, next)| moves_column(s, a, next)).collect(), table)?;
        let begins = names((0..m).map(begins_column).collect(), table)?;
        let mut take_all = |columns: Option<Vec<usize>>| {
            columns.map(|columns| {
                let places: Vec<usize> =
                    columns.into_iter().map(|column| take(column, Want::Number)).collect();
                places[0]
            })
        };
        let (moves, begins) = (take_all(moves), take_all(begins));
        let want = |name: &String| if wanted.text.contains(name) { Want::Name } else { Want::Any };
        let header = table.header().to_vec();
        let is_feature = |name: &String| match wanted.features {
            Some(features) => features.contains(name),
            None => !is_own_column(name) && !wanted.beside.contains(name),
        };
        let named = |is_one: &dyn Fn(&String) -> bool, all: &mut Vec<(usize, Want)>| {
            let mut found = Vec::new();
            for (column, name) in header.iter().enumerate().filter(|(_, name)| is_one(name)) {
                all.push((column, want(name)));
                found.push((name.clone(), all.len() - 1));
            }
            found
        };
        let features = named(&is_feature, &mut all);
        let beside = named(&|name| wanted.beside.contains(name) && !is_own_column(name), &mut all);
        table.select(all)?;
        Ok(Self {
            states: m,
            instance,
            arm,
            split,
            state,
            last_seen,
            last_call,
            calls,
            do_not_call,
            is_there,
            last_outcome,
            moves,
            begins,
            features,
            beside,
        })
    }

    /// Whether the table says who may be called.
    fn has_contacts(&self) -> bool {
        self.do_not_call.is_some() || self.is_there.is_some() || self.last_outcome.is_some()
    }
}

/// The people of an instance while they are read.
struct Growing {
    instance: String,
    arms: Vec<String>,
    rows: Vec<u32>,
    features: Vec<Column>,
    beside: Vec<Column>,
    split: Vec<Part>,
    state: Vec<Option<u16>>,
    recency: [Vec<Option<usize>>; 3],
    contacts: Vec<Contact>,
    counts: [Vec<f64>; 2],
}

impl Growing {
    fn new(instance: &str, columns: &Reading, batch: &Batch) -> Self {
        let column = |(_, c): &(String, usize)| match batch.cells[*c] {
            Cells::Text(_) => Column::Text(Vec::new()),
            Cells::Number(_) => Column::Number(Vec::new()),
        };
        Self {
            instance: instance.into(),
            arms: Vec::new(),
            rows: Vec::new(),
            features: columns.features.iter().map(column).collect(),
            beside: columns.beside.iter().map(column).collect(),
            split: Vec::new(),
            state: Vec::new(),
            recency: [const { Vec::new() }; 3],
            contacts: Vec::new(),
            counts: [const { Vec::new() }; 2],
        }
    }

    /// A row of a batch that begins with the row `first` of the table.
    fn push(&mut self, columns: &Reading, batch: &Batch, row: usize, first: usize) -> Result<()> {
        let arm = batch.cells[columns.arm].text(row);
        let bad =
            |column: &str, found: String, expected: String| fault(batch, row, arm, column, &found, &expected);
        if arm.is_empty() {
            return Err(bad("arm", "an empty cell".into(), "a name".into()));
        }
        self.arms.push(arm.into());
        self.rows.push((first + row) as u32);
        let whole = |column: &str, place: Option<usize>, end: f64| -> Result<Option<usize>> {
            let Some(place) = place else { return Ok(None) };
            let x = batch.cells[place].number(row);
            match x {
                x if x.is_nan() => Ok(None),
                x if x.fract() == 0.0 && (0.0..end).contains(&x) => Ok(Some(x as usize)),
                x => Err(bad(
                    column,
                    x.to_string(),
                    format!("a whole number from 0 to {}, or an empty cell", end - 1.0),
                )),
            }
        };
        let state = whole("state", Some(columns.state), columns.states as f64)?;
        self.state.push(state.map(|state| state as u16));
        let most = f64::from(u32::MAX);
        let recency =
            [("last_seen", columns.last_seen), ("last_call", columns.last_call), ("calls", columns.calls)];
        for (all, (name, place)) in self.recency.iter_mut().zip(recency) {
            all.push(whole(name, place, most)?);
        }
        if columns.has_contacts() {
            let is = |column: &str, place: Option<usize>, otherwise: bool| -> Result<bool> {
                Ok(whole(column, place, 2.0)?.map_or(otherwise, |found| found == 1))
            };
            let last_outcome = columns.last_outcome.map_or("", |place| batch.cells[place].text(row));
            self.contacts.push(Contact {
                do_not_call: is("do_not_call", columns.do_not_call, false)?,
                is_there: is("is_there", columns.is_there, true)?,
                last_outcome: last_outcome.into(),
                ..Contact::default()
            });
        }
        if let Some(place) = columns.split {
            let found = batch.cells[place].text(row);
            let part = Part::ALL.into_iter().find(|part| part.name() == found);
            self.split.push(
                part.ok_or_else(|| {
                    bad("split", show::quoted_name(found), "train, validation or test".into())
                })?,
            );
        }
        let m = columns.states;
        for ((all, first), count) in
            self.counts.iter_mut().zip([columns.moves, columns.begins]).zip([2 * m * m, m])
        {
            let Some(first) = first else { continue };
            for place in first..first + count {
                let x = batch.cells[place].number(row);
                if !(x >= 0.0 && x.fract() == 0.0 && x < most) {
                    let found = if x.is_nan() { "an empty cell".into() } else { x.to_string() };
                    return Err(bad("moves and begins", found, "whole numbers of at least 0".into()));
                }
                all.push(x);
            }
        }
        let columns = columns.features.iter().chain(&columns.beside);
        for (column, (_, place)) in self.features.iter_mut().chain(&mut self.beside).zip(columns) {
            match (column, &batch.cells[*place]) {
                (Column::Number(all), cells @ Cells::Number(_)) => all.push(cells.number(row)),
                (Column::Text(all), cells) => {
                    all.push(Some(cells.text(row)).filter(|text| !text.is_empty()).map(String::from))
                }
                (Column::Number(_), Cells::Text(_)) => unreachable!("a column has one type"),
            }
        }
        Ok(())
    }

    fn finish(self, columns: &Reading) -> Result<PeoplePiece> {
        let (n, m) = (self.arms.len(), columns.states);
        let features = |names: &[(String, usize)], all: Vec<Column>| {
            let named = names.iter().map(|(name, _)| name.clone()).zip(all).collect();
            Features::new(n, named)
                .map_err(|error| Error::Instance { instance: self.instance.clone(), fault: error.into() })
        };
        let [last_seen, last_call, calls] = self.recency;
        let [moves, begins] = self.counts;
        Ok(PeoplePiece {
            features: features(&columns.features, self.features)?,
            beside: features(&columns.beside, self.beside)?,
            split: columns.split.map(|_| self.split),
            state: self.state,
            last_seen,
            last_call,
            calls: calls.into_iter().map(|calls| calls.unwrap_or(0)).collect(),
            has_recency: [columns.last_seen, columns.last_call, columns.calls].map(|place| place.is_some()),
            contacts: columns.has_contacts().then_some(self.contacts),
            moves: columns.moves.map(|_| Array4::from_shape_vec((n, m, 2, m), moves).expect("one row each")),
            begins: columns.begins.map(|_| Array2::from_shape_vec((n, m), begins).expect("one row each")),
            arms: self.arms,
            rows: self.rows,
            instance: self.instance,
        })
    }
}

fn fault(batch: &Batch, row: usize, arm: &str, column: &str, found: &str, expected: &str) -> Error {
    let arm = Some(arm.to_string()).filter(|arm| !arm.is_empty());
    let place = format!("{}, column {column}", Place { row: batch.row(row), arm });
    Error::content(Path::new(TABLE), place, found, expected)
}

/// Text of every kind as one kind: engines have large, dictionary-coded and viewed text.
fn plain(batch: &RecordBatch) -> RecordBatch {
    let one = |array: &ArrayRef| -> ArrayRef {
        match array.data_type() {
            DataType::LargeUtf8 => Arc::new(array.as_string::<i64>().iter().collect::<StringArray>()),
            DataType::Utf8View => Arc::new(array.as_string_view().iter().collect::<StringArray>()),
            DataType::Dictionary(_, _) => words(array).unwrap_or_else(|| array.clone()),
            _ => array.clone(),
        }
    };
    let arrays: Vec<ArrayRef> = batch.columns().iter().map(one).collect();
    let fields = batch.schema_ref().fields().iter().zip(&arrays);
    let fields: Vec<Field> =
        fields.map(|(field, array)| Field::new(field.name(), array.data_type().clone(), true)).collect();
    RecordBatch::try_new(Arc::new(Schema::new(fields)), arrays).expect("as long as before")
}

/// The text of a dictionary of text.
fn words(array: &ArrayRef) -> Option<ArrayRef> {
    let coded = array.as_any_dictionary_opt()?;
    let values = coded.values();
    let text: Vec<Option<String>> = match values.data_type() {
        DataType::Utf8 => values.as_string::<i32>().iter().map(|text| text.map(String::from)).collect(),
        DataType::LargeUtf8 => values.as_string::<i64>().iter().map(|text| text.map(String::from)).collect(),
        DataType::Utf8View => values.as_string_view().iter().map(|text| text.map(String::from)).collect(),
        _ => return None,
    };
    let keys = coded.normalized_keys();
    let word = |row: usize| if array.is_null(row) { None } else { text.get(keys[row])?.as_deref() };
    Some(Arc::new((0..array.len()).map(word).collect::<StringArray>()))
}
