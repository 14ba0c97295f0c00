//! What a study can and cannot answer, as a page that can be mailed and that the desk shows.

use restive_pipeline::{Doctor, Finding};
use restive_report::Page;
use restive_report::findings::{self, Listed};

/// The page of a study; `name` is what it is called.
pub fn findings_page(doctor: &Doctor, name: &str) -> Page {
    let listed = |finding: &Finding| Listed {
        name: finding.name.into(),
        found: finding.found.clone(),
        what_to_do: finding.what_to_do.as_ref().map(|what| what.to_string()),
        silenced: finding.silenced.clone(),
    };
    let groups = doctor.groups().into_iter();
    let groups = groups.map(|(heading, found)| (heading.into(), found.into_iter().map(listed).collect()));
    let footer = format!("restive {}", env!("CARGO_PKG_VERSION"));
    findings::page(format!("Doctor: {name}"), doctor.verdict(), groups.collect(), footer)
}
