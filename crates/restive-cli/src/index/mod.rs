//! `restive index`: arms in, indices out.
//!
//! Reading, computing and writing overlap: one thread decodes the next batch and one encodes the last, while
//! all threads compute the batch between them. Two batches at most wait in line, so that memory stays bounded,
//! and they stay in order, so that the result does not depend on the number of threads.

mod arguments;
mod observation;
mod preview;
mod solve;
mod summary;

use crate::shared::failure::Usage;
use crate::shared::progress::Progress;
use crate::shared::say;
pub(crate) use arguments::IndexArguments;
use observation::{chain, labels};
use preview::Preview;
use restive::index::Indices;
use restive_tables::show::name;
use restive_tables::{ArmNames, ArmReader, Detail, Format, IndexWriter, refuse_input};
use solve::{Question, Tally};
use std::panic::resume_unwind;
use std::sync::mpsc::sync_channel;
use std::thread;
use std::time::Instant;
use summary::IndexSummary;

/// Batches that may wait between two threads.
const WAITING: usize = 1;

pub(crate) fn run(arguments: &IndexArguments) -> anyhow::Result<()> {
    let start = Instant::now();
    refuse_contradictions(arguments)?;
    crate::shared::begin::use_threads(arguments.threads)?;
    let answers = chain(arguments)?.map_or(1, |chain| chain.beliefs());
    let reader = ArmReader::open_for(&arguments.arms, arguments.layout.into(), answers)?;
    let question = Question::new(arguments, reader.states())?;
    let (states, has_names) = (reader.states(), reader.has_names());
    let labels = labels(states, question.chain());
    let ignored = first_few(reader.ignored());
    let shown = if arguments.out.is_none() && !arguments.json { arguments.rows } else { 0 };
    let mut preview = Preview::new(shown, labels.clone());
    let tally = match &arguments.out {
        None => stream(reader, &question, |names, solved| {
            preview.add(names, solved);
            Ok(())
        })?,
        Some(out) => {
            let detail = if arguments.verbose { Detail::Full } else { Detail::Short };
            let mut writer = IndexWriter::create(out, arguments.force, &labels, detail, reader.arm_type())?;
            let tally = stream(reader, &question, |names, solved| writer.write(names, solved))?;
            writer.finish()?;
            tally
        }
    };

    let summary = IndexSummary::new(arguments, &question, states, tally, start.elapsed());
    match arguments.json {
        true => say::print_json(&summary)?,
        false => say::print(|text| {
            preview.write(text, summary.arms(), arguments.verbose)?;
            summary.write_line(text)
        })?,
    }
    if !ignored.is_empty() {
        say::note(format_args!("{}: columns not used: {ignored}", arguments.arms.display()));
    }
    if has_names && arguments.out.as_ref().is_some_and(|out| Format::of(out).is_ok_and(|f| f == Format::Npy))
    {
        say::note("a .npy file has no room for the arms' names; its rows are in the order of the input");
    }
    summary.warnings().iter().for_each(say::warning);
    Ok(())
}

/// The first few names, and how many there are besides.
fn first_few(names: &[String]) -> String {
    const SHOWN: usize = 8;
    let shown = names.iter().take(SHOWN).map(|ignored| name(ignored)).collect::<Vec<_>>().join(", ");
    match names.len().saturating_sub(SHOWN) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

/// What the command line says against itself, found before any file is opened.
fn refuse_contradictions(arguments: &IndexArguments) -> anyhow::Result<()> {
    use arguments::{Algorithm, Layout};
    let refuse = |message: &str| Err(Usage(message.into()).into());
    let input = Format::of(&arguments.arms)?;
    chain(arguments)?;
    if arguments.layout == Layout::Nass && input != Format::Npy {
        return refuse("--layout nass: a table names its columns; the layout is for .npy arrays");
    }
    if arguments.tolerance.is_some() && arguments.algorithm != Algorithm::Bisection {
        return refuse("--tolerance: the other algorithms are exact; it needs --algorithm bisection");
    }
    if let Some(out) = &arguments.out {
        if Format::of(out)? == Format::Npy && arguments.verbose {
            return refuse("--verbose: a .npy file has no room for more columns; write .csv or .parquet");
        }
        for output in IndexWriter::outputs(out)? {
            refuse_input(&output, &arguments.arms, &[])?;
        }
    }
    Ok(())
}

/// Reads, solves and writes all arms; counts what came out.
fn stream(
    mut reader: ArmReader,
    question: &Question,
    mut write: impl FnMut(&ArmNames, &Indices) -> restive_tables::Result<()> + Send,
) -> anyhow::Result<Tally> {
    let progress = Progress::new("arms");
    thread::scope(|scope| {
        let (arms_in, arms_out) = sync_channel(WAITING);
        let (solved_in, solved_out) = sync_channel::<(ArmNames, Indices)>(WAITING);
        // A thread that fails hangs up, and its neighbours stop at their next batch.
        let reading = scope.spawn(move || {
            while let Some(batch) = reader.next_batch()? {
                if arms_in.send(batch).is_err() {
                    break;
                }
            }
            restive_tables::Result::Ok(())
        });
        let writing =
            scope.spawn(move || solved_out.iter().try_for_each(|(names, solved)| write(&names, &solved)));

        let mut tally = Tally::default();
        for batch in arms_out {
            let solved = question.solve(batch.probabilities);
            tally.add(&solved);
            progress.update(batch.share_read, tally.arms);
            if solved_in.send((batch.names, solved)).is_err() {
                break;
            }
        }
        drop(solved_in);
        let (written, read) = (writing.join(), reading.join());
        read.unwrap_or_else(|panic| resume_unwind(panic))?;
        written.unwrap_or_else(|panic| resume_unwind(panic))?;
        Ok(tally)
    })
}
