//! Numbers and tables for the eye.

use restive::index::{Indices, Status};
pub(crate) use restive_pipeline::words::{grouped, percent};
use restive_tables::ArmNames;
use std::io::{self, Write};

/// States shown in full; of more, the first few and the last.
const STATES_SHOWN: usize = 8;

/// The first arms of a file, kept to be shown.
pub(crate) struct Preview {
    rows: usize,
    /// of the indices
    labels: Vec<String>,
    arms: Vec<Shown>,
}

/// One arm, kept to be shown.
struct Shown {
    name: String,
    index: Vec<f64>,
    last: Vec<f64>,
    is_indexable: &'static str,
    status: Status,
    residual: f64,
}

impl Preview {
    pub(crate) fn new(rows: usize, labels: Vec<String>) -> Self {
        Self { rows, labels, arms: Vec::new() }
    }

    pub(crate) fn add(&mut self, names: &ArmNames, solved: &Indices) {
        let room = self.rows.saturating_sub(self.arms.len());
        self.arms.extend((0..solved.status.len().min(room)).map(|i| Shown {
            name: names.name(i),
            index: solved.index.row(i).to_vec(),
            last: solved.last.row(i).to_vec(),
            is_indexable: match solved.verdict(i) {
                Some(true) => "yes",
                Some(false) => "no",
                None => "unknown",
            },
            status: solved.status[i],
            residual: solved.residual[i],
        }));
    }

    /// Writes the table, and how many arms it leaves out.
    pub(crate) fn write(&self, text: &mut Vec<u8>, arms: u64, is_verbose: bool) -> io::Result<()> {
        if self.arms.is_empty() {
            return Ok(());
        }
        let states = self.labels.len();
        let numbers = self.arms.iter().flat_map(|arm| arm.index.iter().chain(&arm.last));
        let decimals = Decimals::of(numbers.copied());
        let mut table = vec![header(&self.labels, is_verbose)];
        table.extend(self.arms.iter().map(|arm| {
            let mut row = vec![arm.name.escape_debug().to_string()];
            row.extend(by_state(states, |s| decimals.format(arm.index[s])));
            row.push(arm.is_indexable.into());
            if is_verbose {
                row.extend(by_state(states, |s| decimals.format(arm.last[s])));
                row.extend([arm.status.name().into(), residual(arm.residual)]);
            }
            row
        }));
        write_aligned(text, &table)?;
        match arms - self.arms.len() as u64 {
            0 => writeln!(text),
            more => writeln!(text, "… {} more; --out FILE writes all, --rows N shows more\n", grouped(more)),
        }
    }
}

fn header(labels: &[String], is_verbose: bool) -> Vec<String> {
    let states = labels.len();
    let mut header = vec!["arm".into()];
    header.extend(by_state(states, |s| format!("w_{}", labels[s])));
    header.push("is_indexable".into());
    if is_verbose {
        header.extend(by_state(states, |s| format!("last_{}", labels[s])));
        header.extend(["status".into(), "residual".into()]);
    }
    header
}

/// One cell per state, or dots in the place of those in the middle.
fn by_state(states: usize, cell: impl Fn(usize) -> String) -> Vec<String> {
    if states <= STATES_SHOWN {
        return (0..states).map(cell).collect();
    }
    let mut cells: Vec<String> = (0..STATES_SHOWN - 2).map(&cell).collect();
    cells.extend(["…".into(), cell(states - 1)]);
    cells
}

/// Names to the left, everything else to the right.
pub(crate) fn write_aligned(text: &mut Vec<u8>, table: &[Vec<String>]) -> io::Result<()> {
    let width = |column: usize| table.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..table[0].len()).map(width).collect();
    for row in table {
        write!(text, "{:<width$}", row[0], width = widths[0])?;
        for (cell, width) in row.iter().zip(&widths).skip(1) {
            write!(text, "  {cell:>width$}")?;
        }
        writeln!(text)?;
    }
    Ok(())
}

/// The same number of decimals for a whole table, so that its points align: about six digits of the largest.
pub(crate) struct Decimals(usize);

impl Decimals {
    const DIGITS: usize = 6;

    pub(crate) fn of(numbers: impl Iterator<Item = f64>) -> Self {
        let largest = numbers.filter(|x| x.is_finite()).fold(0.0, |most: f64, x| most.max(x.abs()));
        let before_point = if largest < 1.0 { 0 } else { largest.log10().floor() as usize + 1 };
        Self(Self::DIGITS.saturating_sub(before_point).max(1))
    }

    pub(crate) fn format(&self, number: f64) -> String {
        let is_lost = number != 0.0 && number.abs() < 0.5 * 10f64.powi(-(self.0 as i32));
        if is_lost || (number.is_finite() && number.abs() >= 1e9) {
            return format!("{number:.2e}");
        }
        // Adding 0 turns −0 into 0.
        format!("{:.*}", self.0, number + 0.0)
    }
}

fn residual(residual: f64) -> String {
    if residual == 0.0 { "0".into() } else { format!("{residual:.1e}") }
}

pub(crate) fn duration(seconds: f64) -> String {
    match seconds {
        s if s < 1.0 => format!("{:.1} ms", 1e3 * s),
        s if s < 120.0 => format!("{s:.2} s"),
        s => format!("{:.0} min {:02.0} s", (s / 60.0).floor(), s % 60.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_well() {
        assert_eq!([0.0031, 2.0, 125.0].map(duration), ["3.1 ms", "2.00 s", "2 min 05 s"]);
    }

    #[test]
    fn decimals_suit_the_largest_number() {
        let six = |largest: f64, number: f64| Decimals::of([largest, number].into_iter()).format(number);
        assert_eq!(six(0.35, 6.0 / 17.0), "0.352941");
        assert_eq!(six(12.0, 6.0 / 17.0), "0.3529");
        assert_eq!(six(0.35, -0.0), "0.000000");
        assert_eq!(six(0.35, 3e-9), "3.00e-9");
        assert_eq!(six(0.35, f64::NAN), "NaN");
        assert_eq!(six(5e12, 5e12), "5.00e12");
    }
}
