//! Every column of every row of a ledger, and a hand that changes it behind the back of the triggers.

use crate::made;
use crate::oracle::{rows, word};
use restive_ledger::{Fault, Ledger};
use rusqlite::types::Value;
use rusqlite::{Connection, params_from_iter};
use std::path::Path;

/// Changes a copy behind the back of its triggers, which are put back afterwards, and says what is found then.
pub fn forge(base: &Path, change: impl FnOnce(&Connection)) -> Vec<Fault> {
    let (_folder, path) = made::place();
    std::fs::copy(base, &path).unwrap();
    let hand = Connection::open(&path).unwrap();
    hand.execute_batch(
        "PRAGMA foreign_keys = OFF; PRAGMA ignore_check_constraints = ON; PRAGMA synchronous = OFF",
    )
    .unwrap();
    let triggers = rows(&hand, "SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'");
    for trigger in &triggers {
        hand.execute_batch(&format!("DROP TRIGGER {}", word(&trigger[0]))).unwrap();
    }
    change(&hand);
    for trigger in &triggers {
        hand.execute_batch(word(&trigger[1])).unwrap();
    }
    drop(hand);
    Ledger::read(&path).unwrap().verify().unwrap().faults
}

/// One column of one row.
pub struct Cell {
    pub table: &'static str,
    pub key: Vec<(&'static str, Value)>,
    pub column: String,
    pub value: Value,
    pub kind: String,
}

const TABLES: [(&str, &[&str]); 9] = [
    ("plans", &["number"]),
    ("people", &["plan", "arm"]),
    ("excluded", &["plan", "arm"]),
    ("overrides", &["number"]),
    ("outcomes", &["plan", "arm"]),
    ("amended", &["number"]),
    ("trials", &["number"]),
    ("assigned", &["trial", "arm"]),
    ("chain", &["number"]),
];

/// Every one there is.
pub fn cells(path: &Path) -> Vec<Cell> {
    let connection = Connection::open(path).unwrap();
    let mut cells = Vec::new();
    for (table, keys) in TABLES {
        let columns = rows(&connection, &format!("SELECT name, type FROM pragma_table_info('{table}')"));
        for row in rows(&connection, &format!("SELECT * FROM {table}")) {
            let at = |name: &str| columns.iter().position(|column| word(&column[0]) == name).unwrap();
            let key: Vec<_> = keys.iter().map(|key| (*key, row[at(key)].clone())).collect();
            for (value, column) in row.iter().zip(&columns) {
                let (column, kind) = (word(&column[0]).to_string(), word(&column[1]).to_string());
                cells.push(Cell { table, key: key.clone(), column, value: value.clone(), kind });
            }
        }
    }
    cells
}

impl Cell {
    /// The condition that finds its row, and what goes into it.
    pub fn at(&self) -> (String, Vec<Value>) {
        let conditions: Vec<_> = self.key.iter().map(|(key, _)| format!("{key} = ?")).collect();
        (conditions.join(" AND "), self.key.iter().map(|(_, value)| value.clone()).collect())
    }

    /// Something else that the column may hold.
    pub fn another(&self) -> Vec<Value> {
        let mut others = match &self.value {
            Value::Null => vec![],
            Value::Integer(x) => vec![Value::Integer(x ^ (1 << 20))],
            Value::Real(x) => vec![Value::Real(f64::from_bits(x.to_bits() ^ 1))],
            Value::Text(text) => vec![Value::Text(format!("{text} forged"))],
            Value::Blob(_) => unreachable!(),
        };
        match (self.kind.as_str(), &self.value) {
            ("TEXT", Value::Null) => others.push(Value::Text(String::new())),
            ("INTEGER", Value::Null) => others.push(Value::Integer(0)),
            ("REAL", Value::Null) => others.push(Value::Real(0.0)),
            _ => {}
        }
        // what may be absent, absent: a person's rank, group, row; an outcome's day and note
        if matches!(
            self.column.as_str(),
            "rank" | "group" | "row" | "day" | "note" | "score" | "tie" | "trial" | "how"
        ) && !matches!((self.table, &self.value), (_, Value::Null) | ("assigned", _))
        {
            others.push(Value::Null);
        }
        others
    }

    /// What a fault must name: the plan or the trial, and the person.
    pub fn names(&self, path: &Path) -> Vec<String> {
        let connection = Connection::open(path).unwrap();
        let (at, given) = self.at();
        let one = |sql: String| -> String {
            connection.query_row(&sql, params_from_iter(given.iter()), |row| row.get(0)).unwrap()
        };
        let table = self.table;
        let plan =
            || one(format!("SELECT id FROM plans WHERE number = (SELECT plan FROM {table} WHERE {at})"));
        let arm = || format!("{:?}", one(format!("SELECT arm FROM {table} WHERE {at}")));
        match table {
            "plans" => vec![format!("plan {}", one(format!("SELECT id FROM plans WHERE {at}")))],
            "trials" => vec![format!("trial {}", one(format!("SELECT id FROM trials WHERE {at}")))],
            "chain" => vec![],
            "assigned" => {
                let sql =
                    format!("SELECT id FROM trials WHERE number = (SELECT trial FROM assigned WHERE {at})");
                vec![format!("trial {}", one(sql)), arm()]
            }
            _ => vec![format!("plan {}", plan()), arm()],
        }
    }
}
