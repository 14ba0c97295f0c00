//! Everybody as tables for engines: a folder of Parquet files, one row for each person.
//!
//! | column | what it holds |
//! |---|---|
//! | `instance`, `arm` | names |
//! | the features, `split` | as the table of arms has them |
//! | `state` | the last state that was seen; null: never seen |
//! | `last_seen`, `last_call` | periods since then and since the last call, 0 in the one that has just ended; null: never |
//! | `calls` | calls so far |
//! | `moves_S_A_NEXT` | how often the person went from state S under action A to state NEXT |
//! | `begins_S` | trajectories whose first seen state is S |
//!
//! Trajectories follow each other without a gap, and the call of a step is made in the period of the next. People are dealt to the
//! files piece by piece, so that a file is written by a thread of its own and holds the same rows in every run.

use super::super::people_table::{begins_column, is_own_column, moves_column};
use super::{Piece, Roll};
use crate::error::{Error, Result};
use crate::write::folder::FolderDraft;
use crate::write::parquet::refused;
use arrow_array::{ArrayRef, Float64Array, RecordBatch, StringArray, UInt32Array};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use parquet::arrow::ArrowWriter;
use parquet::basic::Compression;
use parquet::file::properties::WriterProperties;
use restive::data::features::Column;
use restive::instance::{NO_ACTION, UNSEEN};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, sync_channel};

/// People of a piece, and of a row group.
const ROWS: usize = 1 << 15;
const GROUP: usize = 1 << 17;
/// What the log knows, before moves and begins.
const LOGGED: [&str; 4] = ["state", "last_seen", "last_call", "calls"];

/// Writes everybody into so many files `part-0000.parquet`, … of a folder, which appears when it is complete.
pub fn write_people(roll: &Roll, out: &Path, files: usize) -> Result<()> {
    let schema = schema(roll, out)?;
    let draft = FolderDraft::create(out, None)?;
    let files: Vec<String> = (0..files.max(1)).map(|file| format!("part-{file:04}.parquet")).collect();
    std::thread::scope(|scope| {
        let mut writers = Vec::new();
        for name in &files {
            let (pieces, received) = sync_channel::<Piece>(1);
            let (file, path, schema) = (draft.file(name), out.join(name), schema.clone());
            writers.push((Some(pieces), scope.spawn(move || write(roll, &file, path, schema, received))));
        }
        let mut outcome = Ok(());
        for (number, piece) in roll.pieces(ROWS)?.enumerate() {
            let sent = piece.map(|piece| {
                let writer = &writers[number % files.len()].0;
                writer.as_ref().is_some_and(|writer| writer.send(piece).is_ok())
            });
            match sent {
                Ok(true) => {}
                Ok(false) => break, // the writer says why
                Err(error) => {
                    outcome = Err(error);
                    break;
                }
            }
        }
        for (pieces, _) in &mut writers {
            *pieces = None;
        }
        for (_, writer) in writers {
            let said = writer.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            outcome = outcome.and(said);
        }
        outcome
    })?;
    draft.put_in_place()
}

/// The columns of the table.
fn schema(roll: &Roll, out: &Path) -> Result<SchemaRef> {
    let m = roll.settings.reward.states();
    let mut fields = vec![("instance".to_string(), DataType::Utf8), ("arm".into(), DataType::Utf8)];
    fields.extend(roll.features().map(|(name, kind)| match kind {
        "text" => (name.to_string(), DataType::Utf8),
        _ => (name.into(), DataType::Float64),
    }));
    let features = fields.len();
    fields.extend(roll.people.parts.iter().map(|_| ("split".into(), DataType::Utf8)));
    let moves = (0..2 * m * m).map(|at| moves_column(at / (2 * m), at / m % 2, at % m));
    let begins = (0..m).map(begins_column);
    let logged = LOGGED.map(String::from).into_iter().chain(moves).chain(begins);
    fields.extend(logged.map(|name| (name, DataType::UInt32)));
    if let Some((name, _)) = fields[2..features].iter().find(|(name, _)| is_own_column(name)) {
        let found = format!("a feature called {}", crate::show::name(name));
        return Err(Error::content(
            out,
            "",
            found,
            "another name: in a table of people that has a meaning of its own",
        ));
    }
    let fields = fields.into_iter().map(|(name, kind)| Field::new(name, kind, true));
    Ok(Arc::new(Schema::new(fields.collect::<Vec<_>>())))
}

fn write(roll: &Roll, file: &Path, path: PathBuf, schema: SchemaRef, pieces: Receiver<Piece>) -> Result<()> {
    let properties = WriterProperties::builder()
        .set_compression(Compression::SNAPPY)
        .set_max_row_group_row_count(Some(GROUP))
        .set_created_by(concat!("restive ", env!("CARGO_PKG_VERSION")).into())
        .build();
    let file = File::create(file).map_err(Error::io(&path, "write"))?;
    let mut writer = ArrowWriter::try_new(file, schema.clone(), Some(properties)).map_err(refused(&path))?;
    for piece in pieces {
        let cells =
            cells(&piece, roll.instances[piece.instance].planned_step(), roll.settings.reward.states());
        let batch = RecordBatch::try_new(schema.clone(), cells).expect("the columns of the schema");
        writer.write(&batch).map_err(refused(&path))?;
    }
    writer.close().map(drop).map_err(refused(&path))
}

/// The cells of a piece, in the order of the columns; `now` is the step that is planned.
fn cells(piece: &Piece, now: usize, m: usize) -> Vec<ArrayRef> {
    let there = &piece.there;
    let n = there.arms.len();
    let mut cells: Vec<ArrayRef> = vec![
        Arc::new(StringArray::from_iter_values(std::iter::repeat_n(&there.name, n))),
        Arc::new(StringArray::from_iter_values(&there.arms)),
    ];
    cells.extend(there.features.columns().iter().map(|column| -> ArrayRef {
        match column {
            Column::Number(values) => {
                Arc::new(Float64Array::from_iter(values.iter().map(|x| (!x.is_nan()).then_some(*x))))
            }
            Column::Text(values) => Arc::new(StringArray::from_iter(values)),
        }
    }));
    cells.extend(there.split.iter().map(|parts| -> ArrayRef {
        Arc::new(StringArray::from_iter_values(parts.iter().map(|part| part.name())))
    }));
    let Logs { last, calls, moves, begins } = Logs::new(there, now, m);
    cells.extend(last.into_iter().map(|values| -> ArrayRef { Arc::new(UInt32Array::from(values)) }));
    let counts = std::iter::once(calls).chain(moves).chain(begins);
    cells.extend(counts.map(|values| -> ArrayRef { Arc::new(UInt32Array::from(values)) }));
    cells
}

/// What the logs of people say, `[n]` each.
struct Logs {
    /// state, last_seen, last_call
    last: [Vec<Option<u32>>; 3],
    calls: Vec<u32>,
    /// `[M·2·M]`
    moves: Vec<Vec<u32>>,
    /// `[M]`
    begins: Vec<Vec<u32>>,
}

impl Logs {
    fn new(there: &crate::StudyInstance, now: usize, m: usize) -> Self {
        let (state, action) = (there.trajectories.state(), there.trajectories.action());
        let (trajectories, steps, n) = state.dim();
        let mut logs = Self {
            last: [vec![None; n], vec![None; n], vec![None; n]],
            calls: vec![0; n],
            moves: vec![vec![0; n]; 2 * m * m],
            begins: vec![vec![0; n]; m],
        };
        // periods from the end of a step of a trajectory to now
        let since = |j: usize, t: usize| ((trajectories - 1 - j) * steps + now.saturating_sub(t)) as u32;
        for j in 0..trajectories {
            let mut has_begun = vec![false; n];
            for t in 0..steps {
                for i in 0..n {
                    let (s, a) = (state[[j, t, i]], action[[j, t, i]]);
                    if s != UNSEEN {
                        (logs.last[0][i], logs.last[1][i]) = (Some(s.into()), Some(since(j, t)));
                        if !std::mem::replace(&mut has_begun[i], true) {
                            logs.begins[usize::from(s)][i] += 1;
                        }
                        let next = if t + 1 < steps { state[[j, t + 1, i]] } else { UNSEEN };
                        if a != NO_ACTION && next != UNSEEN {
                            let of = (2 * usize::from(s) + usize::from(a)) * m + usize::from(next);
                            logs.moves[of][i] += 1;
                        }
                    }
                    if a == 1 {
                        logs.last[2][i] = Some(since(j, t + 1));
                        logs.calls[i] += 1;
                    }
                }
            }
        }
        logs
    }
}
