//! Tables and objects for other programs.

use crate::{HOSTILE, hostile, odd, people};
use proptest::prelude::*;
use restive_report::list::*;
use serde_json::Value;
use std::collections::HashSet;

/// RFC 4180, letter by letter.
fn records(csv: &str) -> Vec<Vec<String>> {
    let mut out = vec![vec![String::new()]];
    let mut letters = csv.chars().peekable();
    let mut is_quoted = false;
    while let Some(c) = letters.next() {
        let record = out.last_mut().unwrap();
        match c {
            '"' if is_quoted && letters.peek() == Some(&'"') => {
                letters.next();
                record.last_mut().unwrap().push('"');
            }
            '"' => is_quoted = !is_quoted,
            ',' if !is_quoted => record.push(String::new()),
            '\r' if !is_quoted => {
                assert_eq!(letters.next(), Some('\n'));
                out.push(vec![String::new()]);
            }
            c => record.last_mut().unwrap().push(c),
        }
    }
    assert_eq!(out.pop(), Some(vec![String::new()]), "the last record ends with a line break");
    out
}

#[test]
fn csv_has_a_record_for_each_person() {
    let mut list = example();
    list.rows.reverse();
    let records = records(&csv(&list));
    assert_eq!(records[0].join(" "), "id rank worker name weeks chance since reason outcome day note plan");
    assert_eq!(records[2], ["m-4", "2", "Bina", "Invented Two", "3", "0.61", "", "", "", "", "", "2026-w12"]);
    assert_eq!(records[3], ["m-23", "3", "", "Invented Three", "", "0.35", "", "", "", "", "", "2026-w12"]);
    let odd = csv(&odd());
    assert!(odd.contains(",,9223372036854775807,0000-00-00,-005-13-40,,,,,2026-w12\r\n"), "{odd}");
    list.rows.clear();
    assert_eq!(csv(&list).lines().count(), 1);
}

#[test]
fn columns_of_the_list_give_way() {
    let mut list = example();
    for (column, name) in list.columns.iter_mut().zip(["note", "Plan", "rank", "worker", "id"]) {
        column.name = name.into();
    }
    assert!(csv(&list).starts_with("id,note_2,Plan_2,rank,worker,id_2,outcome,day,note,plan\r\n"));
    let json: Value = serde_json::from_str(&json(&list)).unwrap();
    assert_eq!(json["rows"][0]["note_2"], "Invented One");
    assert_eq!((&json["rows"][0]["id"], &json["rows"][0]["rank"]), (&"m-17".into(), &0.42.into()));
}

#[test]
fn no_cell_of_csv_is_a_formula_and_every_text_comes_back() {
    for nasty in HOSTILE {
        let list = hostile(nasty);
        for record in &records(&csv(&list))[1..] {
            for cell in record {
                let sign = cell.strip_prefix(['+', '-']);
                assert!(!cell.starts_with(['=', '@', '\t', '\r', '\n']), "{cell:?}");
                assert!(sign.is_none_or(|rest| rest.bytes().all(|b| b.is_ascii_digit())), "{cell:?}");
            }
            // as restive's tables read: one apostrophe less
            let kept: String = nasty
                .replace('\r', "\n")
                .chars()
                .filter(|c| *c == '\t' || *c == '\n' || (' '..'\u{ffff}').contains(c))
                .collect();
            assert!(record[0] == kept || record[0] == format!("'{kept}"), "{:?}", record[0]);
        }
    }
}

#[test]
fn json_is_typed_and_in_order() {
    let text = json(&example());
    let list: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(
        (&list["plan"], &list["start"], &list["end"]),
        (&"2026-w12".into(), &"2026-03-16".into(), &"2026-03-22".into())
    );
    assert_eq!(
        list["columns"][4],
        serde_json::json!({ "name": "reason", "heading": "why", "kind": "reason" })
    );
    assert_eq!(list["outcomes"][1], serde_json::json!({ "code": "no-answer", "words": "no answer" }));
    assert_eq!(
        list["rows"][1],
        serde_json::json!({ "id": "m-4", "rank": 2, "worker": "Bina", "name": "Invented Two", "weeks": 3, "chance": 0.61, "since": null, "reason": null, "outcome": null, "day": null, "note": null, "plan": "2026-w12" })
    );
    assert_eq!(list["rows"][2]["worker"], Value::Null);
    let line = text.lines().find(|line| line.contains("m-4")).unwrap();
    let at: Vec<usize> = [
        "id", "rank", "worker", "name", "weeks", "chance", "since", "reason", "outcome", "day", "note",
        "plan",
    ]
    .iter()
    .map(|name| line.find(&format!("\"{name}\":")).unwrap())
    .collect();
    assert!(at.is_sorted());
    assert_eq!(text, json(&example()));
    let odd: Value = serde_json::from_str(&json(&odd())).unwrap();
    assert_eq!((&odd["rows"][0]["a"], &odd["rows"][0]["b"]), (&Value::Null, &i64::MAX.into()));
    assert_eq!(odd["rows"][2]["d"], 1e300);
}

#[test]
fn the_toolkit_calls_those_of_high_levels_first() {
    let mut list = people(5);
    list.rows[4].cells = vec![Cell::None, Cell::None, Cell::None, Cell::None, Cell::text("a\nreason")];
    let again = list.rows[2].clone();
    list.rows.push(again);
    let all: Value = serde_json::from_str(&cht(&list)).unwrap();
    assert_eq!(
        all[0],
        serde_json::json!({ "contact_id": "p1", "plan": "2026-w12", "start": "2026-03-16", "end": "2026-03-22",
        "priority": { "level": 5, "label": "a reason" } })
    );
    let levels: Vec<i64> =
        all.as_array().unwrap().iter().map(|p| p["priority"]["level"].as_i64().unwrap()).collect();
    assert_eq!(levels, [5, 4, 3, 2, 1]);
    list.rows.clear();
    assert_eq!(cht(&list), "[]\n");
}

/// Nothing in FHIR may be empty.
fn check_full(value: &Value) {
    match value {
        Value::Array(all) => assert!(
            !all.is_empty() && {
                all.iter().for_each(check_full);
                true
            }
        ),
        Value::Object(all) => assert!(
            !all.is_empty() && {
                all.values().for_each(check_full);
                true
            }
        ),
        Value::String(text) => assert!(!text.trim().is_empty()),
        other => panic!("{other}: no element used here holds this"),
    }
}

/// What %XX stand for.
fn decoded(text: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    while let [first, more @ ..] = rest {
        if *first == b'%' {
            bytes.push(u8::from_str_radix(std::str::from_utf8(&more[..2]).unwrap(), 16).unwrap());
            rest = &more[2..];
        } else {
            bytes.push(*first);
            rest = more;
        }
    }
    String::from_utf8(bytes).unwrap()
}

#[test]
fn fhir_has_a_task_for_each_person() {
    let bundle: Value = serde_json::from_str(&fhir(&example())).unwrap();
    check_full(&bundle);
    assert_eq!((&bundle["resourceType"], &bundle["type"]), (&"Bundle".into(), &"transaction".into()));
    assert_eq!(
        bundle["entry"][0],
        serde_json::json!({
            "resource": {
                "resourceType": "Task",
                "identifier": [{ "system": "urn:restive:task", "value": "2026-w12/m-17" }],
                "groupIdentifier": { "system": "urn:restive:plan", "value": "2026-w12" },
                "status": "requested",
                "intent": "order",
                "priority": "asap",
                "description": "Stopped listening five weeks ago; a call brought people like her back.",
                "for": { "reference": "Patient/m-17" },
                "executionPeriod": { "start": "2026-03-16", "end": "2026-03-22" },
                "owner": { "display": "Asha" },
            },
            "request": {
                "method": "POST",
                "url": "Task",
                "ifNoneExist": "identifier=urn%3Arestive%3Atask%7C2026-w12%2Fm-17",
            },
        })
    );
    let priorities: Vec<&Value> =
        bundle["entry"].as_array().unwrap().iter().map(|e| &e["resource"]["priority"]).collect();
    assert_eq!(priorities, ["asap", "urgent", "routine"]);
    assert!(bundle["entry"][2]["resource"].get("owner").is_none());
    let nobody: Value = serde_json::from_str(&fhir(&people(0))).unwrap();
    assert_eq!(nobody, serde_json::json!({ "resourceType": "Bundle", "type": "transaction" }));
}

#[test]
fn ids_that_no_resource_can_have_are_identifiers() {
    let mut list = people(7);
    let ids = ["A-z.09", &"x".repeat(64), &"x".repeat(65), "a_b", "a b", "é", "a/b|c,d$e\\"];
    list.rows.iter_mut().zip(ids).for_each(|(row, id)| row.id = id.into());
    list.rows.iter_mut().enumerate().for_each(|(k, row)| row.rank = k + 1);
    let bundle: Value = serde_json::from_str(&fhir(&list)).unwrap();
    check_full(&bundle);
    for (k, id) in ids.iter().enumerate() {
        let task = &bundle["entry"][k]["resource"];
        match k {
            0 | 1 => assert_eq!(task["for"], serde_json::json!({ "reference": format!("Patient/{id}") })),
            _ => assert_eq!(
                task["for"],
                serde_json::json!({ "type": "Patient", "identifier": { "value": id } })
            ),
        }
        // what is asked for is what is created, and no letter of it means anything to a search
        let asked = bundle["entry"][k]["request"]["ifNoneExist"].as_str().unwrap();
        let query = asked.strip_prefix("identifier=").unwrap();
        assert!(query.bytes().all(|b| b.is_ascii_alphanumeric() || b"-._~%".contains(&b)));
        let value = task["identifier"][0]["value"].as_str().unwrap();
        assert_eq!(decoded(query), format!("urn:restive:task|{value}"));
        assert!(!value.contains(['|', ',', '$', '\\']));
    }
}

#[test]
fn tasks_of_two_plans_are_never_the_same() {
    let mut seen = HashSet::new();
    for (plan, id) in [("a/b", "c"), ("a", "b/c"), ("a%2Fb", "c"), ("a", "b%2Fc"), ("", "a/b/c")] {
        let mut list = people(1);
        list.plan = plan.into();
        list.rows[0].id = id.into();
        let bundle: Value = serde_json::from_str(&fhir(&list)).unwrap();
        check_full(&bundle);
        assert!(seen.insert(bundle["entry"][0]["resource"]["identifier"][0]["value"].to_string()));
    }
}

proptest! {
    #![proptest_config(proptest::test_runner::Config { rng_seed: proptest::test_runner::RngSeed::Fixed(1), failure_persistence: None, ..Default::default() })]

    #[test]
    fn any_words_are_read_by_others(words in "\\PC{0,40}|[ -~\t\r\n]{0,40}|[<>&'\",;=+@-]{0,9}|[\u{0}-\u{9f}]{0,40}") {
        let list = hostile(&words);
        let all: Value = serde_json::from_str(&json(&list)).unwrap();
        prop_assert_eq!(&all["title"], &words);
        prop_assert_eq!(all["rows"][0].as_object().unwrap().len(), 13);
        let records = records(&csv(&list));
        prop_assert!(records.len() == 3 && records.iter().all(|record| record.len() == records[0].len()));
        let names: HashSet<String> = records[0].iter().map(|name| name.to_lowercase()).collect();
        prop_assert_eq!(names.len(), records[0].len());
        check_full(&serde_json::from_str(&fhir(&list)).unwrap());
        serde_json::from_str::<Value>(&cht(&list)).unwrap();
    }
}
