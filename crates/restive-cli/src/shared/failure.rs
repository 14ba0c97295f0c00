//! What went wrong, in one line and an exit code.

use crate::out_of_memory;
use crate::shared::say;
use clap::error::ErrorKind;
use restive_tables::Error;
use std::fmt;
use std::process::ExitCode;
use std::sync::Mutex;

const FAILURE: u8 = 1;
const USAGE: u8 = 2;

/// The command line asks for something that cannot be done, whatever the data.
#[derive(Debug)]
pub(crate) struct Usage(pub(crate) String);

impl fmt::Display for Usage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Usage {}

/// Reports a command line that could not be parsed; help and version come this way too.
pub(crate) fn usage(error: clap::Error) -> ExitCode {
    if let ErrorKind::DisplayHelp | ErrorKind::DisplayVersion = error.kind() {
        // A closed pipe (`restive --help | head -1`) is no failure.
        let _ = error.print();
        return ExitCode::SUCCESS;
    }
    if error.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand {
        let _ = error.print();
        return ExitCode::from(USAGE);
    }
    // The parser's message is some paragraphs: what is wrong, perhaps a tip, and then how to get help.
    let text = error.to_string();
    let is_about_help = |text: &&str| text.starts_with("Usage:") || text.starts_with("For more");
    let paragraphs = text.split("\n\n").map(str::trim).take_while(|text| !is_about_help(text));
    let lines: Vec<String> =
        paragraphs.map(|text| text.split_whitespace().collect::<Vec<_>>().join(" ")).collect();
    let text = lines.join("; ");
    // the standard library's words for a text that is no whole number, or a negative one
    let text = text.replace("invalid digit found in string", "expected a whole number, not negative");
    let text = text.replace("number too large to fit in target type", "expected a smaller number");
    say::line(format_args!("{}; see --help", text.trim_start_matches("error: ")));
    ExitCode::from(USAGE)
}

/// Reports a failed command.
pub(crate) fn report(error: &anyhow::Error) -> ExitCode {
    let programme = error.downcast_ref::<restive_programme::Error>();
    let pipeline = match programme {
        Some(restive_programme::Error::Pipeline(error)) => Some(&**error),
        _ => error.downcast_ref::<restive_pipeline::Error>(),
    };
    let import = match programme {
        Some(restive_programme::Error::Import(error)) => Some(&**error),
        _ => error.downcast_ref::<restive_import::Error>(),
    };
    let tables = match (programme, pipeline, import) {
        (Some(restive_programme::Error::Tables(error)), ..)
        | (_, Some(restive_pipeline::Error::Tables(error)), _)
        | (.., Some(restive_import::Error::Tables(error))) => Some(error),
        _ => error.downcast_ref::<Error>(),
    };
    let is_usage = error.is::<Usage>() || matches!(pipeline, Some(restive_pipeline::Error::Asked(_)));
    let hint = if let Some(Error::Exists { .. }) = tables { ": --force" } else { "" };
    say::line(format_args!("{error:#}{hint}"));
    ExitCode::from(match tables {
        Some(Error::Ending { .. } | Error::OutputIsInput { .. }) => USAGE,
        Some(Error::Memory { .. }) => out_of_memory::CODE,
        None if is_usage => USAGE,
        _ => FAILURE,
    })
}

static PANIC: Mutex<Option<String>> = Mutex::new(None);

/// Panics print nothing by themselves: one within a damaged file's decoder is caught and reported as a damaged
/// file, any other is a mistake of ours and is reported by [`report_panic`].
pub(crate) fn keep_panics_quiet() {
    std::panic::set_hook(Box::new(|panic| {
        if let Ok(mut kept) = PANIC.lock() {
            *kept = Some(panic.to_string());
        }
    }));
}

/// Reports a mistake of ours.
pub(crate) fn report_panic() -> ExitCode {
    let kept = PANIC.lock().ok().and_then(|mut kept| kept.take()).unwrap_or_default();
    let words: Vec<&str> = kept.split_whitespace().collect();
    say::line(format_args!("internal error, please report it: {}", words.join(" ")));
    ExitCode::from(FAILURE)
}
