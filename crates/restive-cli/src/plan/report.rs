//! What `restive plan` answers, as text.

use crate::shared::display::counted;
use crate::shared::display::{Decimals, grouped, write_aligned};
use restive_pipeline::Plan;
use restive_tables::show::{cell, path};
use std::io::{self, Write};
use std::path::Path;

/// As text: the first rows, and a summary.
pub(crate) fn write_text(plan: &Plan, text: &mut Vec<u8>, rows: usize, out: Option<&Path>) -> io::Result<()> {
    let shown = &plan.plan[..plan.plan.len().min(rows)];
    if !shown.is_empty() {
        let decimals = Decimals::suiting(shown.iter().map(|row| row.index));
        let rest = ["index", "rank", "inclusion", "is_beneficial"];
        let header = [&["instance", "arm"], plan.columns(), &rest].concat();
        let mut table = vec![header.into_iter().map(String::from).collect::<Vec<_>>()];
        table.extend(shown.iter().map(|row| {
            let mut cells = vec![cell(&row.instance), cell(&row.arm)];
            cells.extend(row.place.texts());
            cells.extend([
                decimals.format(row.index),
                row.rank.to_string(),
                format!("{:.3}", row.inclusion),
                if row.is_beneficial { "yes" } else { "not beneficial" }.into(),
            ]);
            cells
        }));
        write_aligned(text, &table)?;
        match (plan.plan.len() - shown.len()) as u64 {
            0 => writeln!(text)?,
            more => {
                writeln!(text, "… {} more; --out FILE writes all, --rows N shows more\n", grouped(more))?;
            }
        }
    }
    let without = plan.plan.iter().filter(|row| !row.is_beneficial).count();
    write!(text, "{} to pull", counted(plan.plan.len() as u64, "arm"))?;
    if without > 0 {
        write!(text, ", {} of them not beneficial", grouped(without as u64))?;
    }
    write!(text, "; budget {} per instance, index discount {:.4}", plan.budget, plan.index_discount)?;
    match out {
        Some(out) => writeln!(text, "; wrote {}", path(out))?,
        None => writeln!(text)?,
    }
    plan.history.iter().try_for_each(|history| writeln!(text, "{history}"))
}
