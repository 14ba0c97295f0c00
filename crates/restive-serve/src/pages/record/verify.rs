//! The whole record verified, by a job: every row, everything that plans were made of, and every plan made again.

use crate::desk::{App, Checked};
use crate::look::answer::{Answer, see};
use crate::look::base::Base;
use crate::look::refusal::Refusal;
use crate::look::words::Words;
use crate::security::role::Planner;
use axum::Form;
use axum::extract::State;
use restive_programme::{Again, Programme, Verified, VerifyAsked};
use serde::Deserialize;

/// What the job is called.
pub(super) const KIND: &str = "job.verify";
/// How much of what is wrong is named.
const NAMED: usize = 5;

#[derive(Deserialize)]
pub(crate) struct Asked {
    #[serde(default)]
    head: String,
}

/// Begins to verify.
pub(crate) async fn start(
    Planner(session): Planner,
    State(desk): State<App>,
    base: Base,
    Form(asked): Form<Asked>,
) -> Answer {
    let head = Some(asked.head.trim().to_lowercase()).filter(|head| !head.is_empty());
    let is_link =
        |head: &String| (8..=64).contains(&head.len()) && head.bytes().all(|c| c.is_ascii_hexdigit());
    if head.as_ref().is_some_and(|head| !is_link(head)) {
        return Err(Refusal::form(base.w.t("record.head_wrong")));
    }
    let w = base.w;
    let at = desk.start(&session, KIND, "/record", false, move |desk, progress| {
        progress.say(0.0, "");
        let programme = Programme::open(desk.folder())?;
        let asked = VerifyAsked { head, ..VerifyAsked::default() };
        let verified = programme.verify(&asked, |k, n| {
            progress.say(k as f64 / n.max(1) as f64, &w.f2("record.verify_at", "k", k + 1, "n", n));
        })?;
        let said = said(&verified, asked.head.is_some(), w);
        // it holds for the record up to this link
        let stamp = verified.head.clone().unwrap_or_default();
        desk.answers.verified.put(stamp, Checked { said: said.clone(), language: w.code.into() });
        Ok(said)
    });
    see(&at)
}

/// The verdict, in words.
fn said(verified: &Verified, had_head: bool, w: &Words) -> String {
    let count = |is: fn(&Again) -> bool| verified.plans.iter().filter(|plan| is(&plan.again)).count();
    let same = count(|again| *again == Again::Same);
    let nothing = count(|again| *again == Again::NothingKept);
    let mut all = Vec::new();
    match verified.is_well() {
        true => {
            all.push(w.f2("record.well", "n", verified.plans.len(), "same", same));
            if nothing > 0 {
                all.push(w.f1("record.nothing_kept", "n", nothing));
            }
            if had_head {
                all.push(w.t("record.head_known").into());
            }
        }
        false => {
            let faults = verified.faults.iter().map(|fault| {
                w.f2(
                    "record.fault",
                    "found",
                    format!("{}: {}", fault.subject, fault.found),
                    "expected",
                    &fault.expected,
                )
            });
            let plans = verified.plans.iter().filter(|plan| !plan.again.is_well());
            let plans = plans.map(|plan| format!("{}: {}", plan.plan, wrong(&plan.again, w)));
            let wrong: Vec<String> = faults.chain(plans).collect();
            all.push(w.n("record.not_well", wrong.len()));
            all.extend(wrong.iter().take(NAMED).cloned());
            if wrong.len() > NAMED {
                all.push(w.f1("record.more", "n", wrong.len() - NAMED));
            }
        }
    }
    if !verified.notes.is_empty() {
        all.push(w.t("record.unfinished").into());
    }
    if let Some(head) = &verified.head {
        all.push(w.f2("record.links", "n", verified.links, "head", head));
    }
    all.join(" ")
}

/// What is wrong with a plan.
fn wrong(again: &Again, w: &Words) -> String {
    match again {
        Again::Lost(what) => w.f1("record.lost", "what", what.join("; ")),
        Again::Differs(what) => w.f1("record.differs", "what", what.join("; ")),
        Again::Refused(why) => w.f1("record.refused", "why", why),
        Again::Same | Again::Kept | Again::NothingKept => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use restive_programme::PlanAgain;

    #[test]
    fn what_is_wrong_is_named() {
        let plan = |again| PlanAgain { plan: "2026-03-16".into(), other_version: None, again };
        let well = Verified {
            links: 3,
            head: Some("ab".into()),
            faults: vec![],
            notes: vec![],
            plans: vec![plan(Again::Same)],
        };
        let w = Words::of("en");
        assert!(said(&well, true, w).starts_with("All is well: 1 "), "{}", said(&well, true, w));
        let lost = Again::Lost(vec!["study/arms.parquet is missing".into()]);
        let bad = Verified { plans: vec![plan(Again::Same), plan(lost)], ..well };
        let text = said(&bad, false, w);
        assert!(text.contains("2026-03-16: ") && text.contains("study/arms.parquet is missing"), "{text}");
        assert!(!text.contains("All is well"), "{text}");
    }
}
