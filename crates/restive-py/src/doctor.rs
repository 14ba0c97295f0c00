//! What a study can and cannot answer: the inner half of `restive.doctor`.

use crate::refusal::keywords;
use crate::study::NativeStudy;
use crate::threads::run;
use pyo3::prelude::*;
use restive_pipeline::{Doctor, Finding};
use restive_report::findings::{self, Listed};

/// A finding: name, severity, what was found, what to do, why it does not count.
type Row = (&'static str, &'static str, String, Option<String>, Option<String>);

fn what_to_do(finding: &Finding) -> Option<String> {
    finding.what_to_do.as_ref().map(keywords)
}

/// The findings, the worst severity, the exit code, the verdict, and a page: whole, and without styles.
type Answer = (Vec<Row>, &'static str, u8, String, String, String);

/// Looks a study through; `name` is what it is called.
#[pyfunction]
pub(crate) fn doctor(py: Python<'_>, study: &NativeStudy, name: &str) -> PyResult<Answer> {
    let doctor = run(py, || Doctor::new(&study.study))?;
    let row = |finding: &Finding| {
        let (found, why) = (finding.found.clone(), finding.silenced.clone());
        (finding.name, finding.severity.name(), found, what_to_do(finding), why)
    };
    let listed = |finding: &Finding| Listed {
        name: finding.name.into(),
        found: finding.found.clone(),
        what_to_do: what_to_do(finding),
        silenced: finding.silenced.clone(),
    };
    let groups = doctor.groups().into_iter();
    let groups = groups.map(|(heading, found)| (heading.into(), found.into_iter().map(listed).collect()));
    let footer = format!("restive {}", env!("CARGO_PKG_VERSION"));
    let page = findings::page(format!("Doctor: {name}"), doctor.verdict(), groups.collect(), footer);
    let rows = doctor.findings.iter().map(row).collect();
    Ok((rows, doctor.worst.name(), doctor.exit_code(), doctor.verdict(), page.html(), page.fragment()))
}

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(doctor, module)?)
}
