//! The list as FHIR R4: a transaction that creates a Task for each person.
//!
//! What is used of the standard (release 4.0.1, the pages on Task, Bundle, Reference, search and the value set *request priority*):
//!
//! | element | holds |
//! |---|---|
//! | `identifier` | system `urn:restive:task`, value plan/id, each percent-encoded, so that no two are the same |
//! | `groupIdentifier` | system `urn:restive:plan`, the plan |
//! | `status`, `intent` | `requested`, `order` |
//! | `priority` | by thirds of the list `asap`, `urgent`, `routine`: in the value set *asap* is above *urgent* |
//! | `description` | the reason |
//! | `for` | `Patient/id`; an id that no resource can have becomes `identifier.value`, of type Patient |
//! | `executionPeriod` | first and last day |
//! | `owner.display` | the worker |
//!
//! Every entry is a conditional create: `ifNoneExist` asks for the identifier, so sending the same list twice creates nothing twice. The
//! standard allows no empty arrays and no empty texts: what is empty is left out, and a bundle for nobody has no `entry`.
//!
//! ```
//! let fhir = restive_report::list::fhir(&restive_report::list::example());
//! let bundle: serde_json::Value = serde_json::from_str(&fhir)?;
//! assert_eq!(bundle["entry"][0]["resource"]["for"]["reference"], "Patient/m-17");
//! assert_eq!(bundle["entry"][0]["request"]["ifNoneExist"], "identifier=urn%3Arestive%3Atask%7C2026-w12%2Fm-17");
//! # Ok::<(), serde_json::Error>(())
//! ```

use super::data::List;
use super::json::{lines, object, text};
use super::order::Placed;
use super::text::{clean, line};

const TASK: &str = "urn:restive:task";
const PLAN: &str = "urn:restive:plan";

/// Whether a resource may have this id.
fn is_id(id: &str) -> bool {
    (1..=64).contains(&id.len()) && id.bytes().all(|b| b.is_ascii_alphanumeric() || b"-.".contains(&b))
}

/// As it may stand in a query: all but letters, digits and `-._~` as %XX.
fn encoded(text: &str) -> String {
    let one = |b: u8| match b {
        b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => char::from(b).to_string(),
        b => format!("%{b:02X}"),
    };
    text.bytes().map(one).collect()
}

fn entry(list: &List, p: &Placed) -> String {
    let key = format!("{}/{}", encoded(&list.plan), encoded(&p.row.id));
    let identifier = |system: &str, value: &str| object(&[("system", text(system)), ("value", text(value))]);
    let patient = match is_id(&p.row.id) {
        true => object(&[("reference", text(format!("Patient/{}", p.row.id)))]),
        false => {
            object(&[("type", text("Patient")), ("identifier", object(&[("value", text(clean(&p.row.id)))]))])
        }
    };
    let period = object(&[("start", text(list.start.to_string())), ("end", text(list.end.to_string()))]);
    let mut task = vec![
        ("resourceType", text("Task")),
        ("identifier", format!("[{}]", identifier(TASK, &key))),
        ("status", text("requested")),
        ("intent", text("order")),
        ("priority", text(["asap", "urgent", "routine"][p.third])),
    ];
    let plan = line(&list.plan);
    if !plan.is_empty() {
        task.insert(2, ("groupIdentifier", identifier(PLAN, &plan)));
    }
    let reason = line(list.reason(p.row));
    if !reason.is_empty() {
        task.push(("description", text(reason)));
    }
    task.extend([("for", patient), ("executionPeriod", period)]);
    let worker = line(p.row.sheet.as_deref().unwrap_or(""));
    if !worker.is_empty() {
        task.push(("owner", object(&[("display", text(worker))])));
    }
    let asked = format!("identifier={}", encoded(&format!("{TASK}|{key}")));
    let request = [("method", text("POST")), ("url", text("Task")), ("ifNoneExist", text(asked))];
    object(&[("resource", object(&task)), ("request", object(&request))])
}

/// The whole file.
pub fn fhir(list: &List) -> String {
    let people = list.people();
    let mut bundle = vec![("resourceType", text("Bundle")), ("type", text("transaction"))];
    if !people.is_empty() {
        bundle.push(("entry", lines(people.iter().map(|p| entry(list, p)))));
    }
    object(&bundle) + "\n"
}
