//! The list as one table of comma-separated values, as RFC 4180 has them.
//!
//! Columns: `id`, `rank`, `worker`, those of the list by their names, `outcome`, `day` and `note` to be filled in, `plan`. A list that
//! has columns of its own called `rank` or `worker` is not given another. Rows stand by rank. Dates are written as 2026-03-16, shares as
//! fractions, numbers with all their digits.
//!
//! A spreadsheet would run text that looks like a formula, so such text gets an apostrophe before it. The rule is that of restive's
//! tables, which take the apostrophe away again when they read: F are the texts of any number of apostrophes followed by `=`, `@`, a tab, a
//! line break, or a sign that is not followed by digits alone; a text of F is written with one apostrophe more.
//!
//! ```
//! # let mut list = restive_report::list::example();
//! list.rows[0].cells[0] = restive_report::list::Cell::text("=1+1");
//! let csv = restive_report::list::csv(&list);
//! assert!(csv.starts_with("id,rank,worker,name,weeks,chance,since,reason,outcome,day,note,plan\r\n"));
//! assert!(csv.contains("m-17,1,Asha,'=1+1,9,0.42,2026-02-03,"));
//! ```

use super::data::{Cell, List};
use super::text::clean;

/// Text as a cell.
fn append(out: &mut String, text: &str) {
    let guard = if is_formula(text) { "'" } else { "" };
    match text.contains([',', '"', '\r', '\n']) {
        true => out.extend(["\"", guard, &text.replace('"', "\"\""), "\""]),
        false => out.extend([guard, text]),
    }
}

/// Whether a text is in F.
fn is_formula(text: &str) -> bool {
    let rest = text.trim_start_matches('\'');
    match rest.strip_prefix(['+', '-']) {
        Some(number) => !number.bytes().all(|byte| byte.is_ascii_digit()),
        None => rest.starts_with(['=', '@', '\t', '\r', '\n']),
    }
}

/// The whole file.
pub fn csv(list: &List) -> String {
    let names = list.names();
    let has = |name: &str| names.iter().any(|own| own == name);
    let (rank, worker) = (!has("rank"), !has("worker"));
    let mut out = String::from("id");
    out.push_str(if rank { ",rank" } else { "" });
    out.push_str(if worker { ",worker" } else { "" });
    for name in &names {
        out.push(',');
        append(&mut out, name);
    }
    out.push_str(",outcome,day,note,plan\r\n");
    for row in list.by_rank() {
        append(&mut out, &clean(&row.id));
        if rank {
            out.push_str(&format!(",{}", row.rank));
        }
        if worker {
            out.push(',');
            append(&mut out, &clean(row.sheet.as_deref().unwrap_or("")));
        }
        for (_, cell) in list.cells(row) {
            out.push(',');
            match cell {
                Cell::Text(text) => append(&mut out, &clean(text)),
                Cell::Whole(x) => out.push_str(&x.to_string()),
                Cell::Number(x) if x.is_finite() => out.push_str(&(x + 0.0).to_string()), // + 0: −0 is 0
                Cell::Day(day) => out.push_str(&day.to_string()),
                Cell::Number(_) | Cell::None => {}
            }
        }
        out.push_str(",,,,");
        append(&mut out, &clean(&list.plan));
        out.push_str("\r\n");
    }
    out
}

#[cfg(test)]
mod tests {
    use super::is_formula;

    // the cases of the tables' own test
    #[test]
    fn formulas_are_those_of_the_tables() {
        for text in
            ["=1+1", "+1+1", "-1+1", "-2.5", "@SUM(A1)", "\t=1", "\r=1", "\n=1", "'=1", "''-a", "=", "@"]
        {
            assert!(is_formula(text), "{text:?}");
        }
        for text in ["", "Ada", "-5", "+491701234567", "-", "+", "O'Brien", "'tis", "'", "17", " =1"] {
            assert!(!is_formula(text), "{text:?}");
        }
    }
}
