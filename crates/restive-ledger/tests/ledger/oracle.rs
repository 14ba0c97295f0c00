//! The chain once more, by straightforward code, from what stands in the file.

use rusqlite::Connection;
use rusqlite::types::Value;
use sha2::{Digest, Sha256};

/// The bytes of a value, as the package says that they are.
fn bytes(value: &Value) -> Vec<u8> {
    match value {
        Value::Null => vec![0],
        Value::Integer(x) => [vec![1], x.to_le_bytes().to_vec()].concat(),
        Value::Real(x) => [vec![2], x.to_bits().to_le_bytes().to_vec()].concat(),
        Value::Text(text) => {
            [vec![3], (text.len() as u64).to_le_bytes().to_vec(), text.clone().into_bytes()].concat()
        }
        Value::Blob(_) => unreachable!("no table has one"),
    }
}

fn text(text: &str) -> Vec<u8> {
    bytes(&Value::Text(text.into()))
}

fn sha(parts: &[Vec<u8>]) -> Vec<u8> {
    Sha256::digest(parts.concat()).to_vec()
}

pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// All rows of an answer.
pub fn rows(connection: &Connection, sql: &str) -> Vec<Vec<Value>> {
    let mut statement = connection.prepare(sql).unwrap();
    let columns = statement.column_count();
    let read = |row: &rusqlite::Row<'_>| (0..columns).map(|column| row.get(column)).collect();
    statement.query_map([], read).unwrap().map(Result::unwrap).collect()
}

fn row_digest(table: &str, row: &[Value]) -> Vec<u8> {
    let mut parts = vec![text(&format!("restive ledger 3 {table}"))];
    parts.extend(row.iter().map(bytes));
    sha(&parts)
}

fn list_digest(table: &str, rows: &[Vec<Value>]) -> Vec<u8> {
    let mut parts = vec![text(&format!("restive ledger 3 list of {table}"))];
    parts.extend(rows.iter().map(|row| row_digest(table, row)));
    parts.push(bytes(&Value::Integer(rows.len() as i64)));
    sha(&parts)
}

fn whole_digest(name: &str, parts: &[Vec<u8>]) -> String {
    let mut all = vec![text(&format!("restive ledger 3 {name}"))];
    all.extend(parts.iter().map(|part| text(&hex(part))));
    hex(&sha(&all))
}

/// The digest of a plan, from its rows.
pub fn plan_digest(connection: &Connection, id: &str) -> String {
    let plan = rows(
        connection,
        &format!(
            "SELECT number, id, made_at, period, period_start, period_end, restive, model, model_fingerprint, \
             study_fingerprint, words_fingerprint, rules, policy, budget, places, explore_places, seed, steps, inclusion, \
             value, summary, people, asked, inputs, certificate, trial, cuts FROM plans WHERE id = '{id}'"
        ),
    );
    let of = format!("WHERE plan = (SELECT number FROM plans WHERE id = '{id}') ORDER BY arm");
    let people = rows(
        connection,
        &format!(
            r#"SELECT arm, probability, how, rank, state, value, "group", "row", score, tie, trial FROM people {of}"#
        ),
    );
    let excluded = rows(connection, &format!("SELECT arm, why FROM excluded {of}"));
    let parts =
        [row_digest("plans", &plan[0]), list_digest("people", &people), list_digest("excluded", &excluded)];
    whole_digest("plan", &parts)
}

/// The digest of a trial, from its rows.
pub fn trial_digest(connection: &Connection, id: &str) -> String {
    let trial = rows(
        connection,
        &format!(
            "SELECT number, id, made_at, starts, weeks, protocol, protocol_digest, seed FROM trials WHERE id = '{id}'"
        ),
    );
    let assigned = rows(
        connection,
        &format!(
            r#"SELECT arm, "group", stratum, cluster FROM assigned
            WHERE trial = (SELECT number FROM trials WHERE id = '{id}') ORDER BY arm"#
        ),
    );
    whole_digest("trial", &[row_digest("trials", &trial[0]), list_digest("assigned", &assigned)])
}

/// The digest of an event with this content.
pub fn event_digest(content: &str) -> String {
    hex(&sha(&[text("restive ledger 3 event"), text(content)]))
}

/// A link, given the one before it.
pub fn link(before: Option<&str>, number: i64, told: [&str; 4]) -> String {
    let before = before.map_or(vec![0], text);
    let mut parts = vec![text("restive ledger 3 link"), before, bytes(&Value::Integer(number))];
    parts.extend(told.map(text));
    hex(&sha(&parts))
}

pub fn word(value: &Value) -> &str {
    let Value::Text(text) = value else { panic!("{value:?}") };
    text
}

/// The digest and the link of every link, computed anew.
pub fn chain(connection: &Connection) -> Vec<(String, String)> {
    let mut links: Vec<(String, String)> = Vec::new();
    for (number, row) in
        (1..).zip(rows(connection, "SELECT at, event, subject, content, number FROM chain ORDER BY number"))
    {
        let [at, event, subject, content] = [0, 1, 2, 3].map(|column| word(&row[column]));
        assert_eq!(row[4], Value::Integer(number));
        let digest = match event {
            "plan" | "sealed plan" => plan_digest(connection, subject),
            "trial" => trial_digest(connection, subject),
            _ => event_digest(content),
        };
        let before = links.last().map(|(_, link)| link.as_str());
        let link = link(before, number, [at, event, subject, &digest]);
        links.push((digest, link));
    }
    links
}
