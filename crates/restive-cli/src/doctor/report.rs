//! The findings as text or JSON.

use restive_pipeline::{Doctor, Finding};
use restive_tables::show::{cell, path, plain};
use serde::Serialize;
use std::io::{self, Write};
use std::path::Path;

#[derive(Serialize)]
pub(super) struct Json<'a> {
    study: String,
    exit_code: u8,
    verdict: String,
    #[serde(flatten)]
    doctor: &'a Doctor,
}

impl<'a> Json<'a> {
    pub(super) fn new(study: &Path, doctor: &'a Doctor) -> Self {
        let (exit_code, verdict) = (doctor.exit_code(), doctor.verdict());
        Self { study: study.display().to_string(), exit_code, verdict, doctor }
    }
}

pub(super) fn write_text(
    doctor: &Doctor,
    study: &str,
    wrote: Option<&Path>,
    text: &mut Vec<u8>,
) -> io::Result<()> {
    writeln!(text, "{}\n{}\n", cell(study), doctor.verdict())?;
    for finding in &doctor.findings {
        write_one(finding, text)?;
    }
    match wrote {
        Some(wrote) => writeln!(text, "\nPage: {}", path(wrote)),
        None => Ok(()),
    }
}

fn write_one(finding: &Finding, text: &mut Vec<u8>) -> io::Result<()> {
    let severity = match &finding.silenced {
        Some(_) => "silenced",
        None => finding.severity.name(),
    };
    writeln!(text, "{severity:<8}  {:<19}  {}", finding.name, plain(&finding.found))?;
    if let Some(what) = &finding.what_to_do {
        writeln!(text, "{:<31}What to do: {what}.", "")?;
    }
    match &finding.silenced {
        Some(why) => writeln!(text, "{:<31}Silenced: {}", "", plain(why)),
        None => Ok(()),
    }
}
