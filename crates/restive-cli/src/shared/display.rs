//! Numbers and tables for the eye.

pub(crate) use restive_pipeline::words::{counted, grouped, percent};
use std::io::{self, Write};

/// Names to the left, everything else to the right.
pub(crate) fn write_aligned(text: &mut Vec<u8>, table: &[Vec<String>]) -> io::Result<()> {
    let width = |column: usize| table.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..table[0].len()).map(width).collect();
    for row in table {
        // a width in a format string must stay below 65,536; names are cut long before, by `show::cell`
        let room = |column: usize| " ".repeat(widths[column] - row[column].chars().count());
        write!(text, "{}{}", row[0], room(0))?;
        for (column, cell) in row.iter().enumerate().skip(1) {
            write!(text, "  {}{cell}", room(column))?;
        }
        writeln!(text)?;
    }
    Ok(())
}

/// The same number of decimals for a whole table, so that its points align: about six digits of the largest.
pub(crate) struct Decimals(usize);

impl Decimals {
    const DIGITS: usize = 6;

    pub(crate) fn suiting(numbers: impl Iterator<Item = f64>) -> Self {
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

pub(crate) fn duration(seconds: f64) -> String {
    match seconds {
        s if s < 1.0 => format!("{:.1} ms", 1e3 * s),
        s if s < 120.0 => format!("{s:.2} s"),
        s => format!("{:.0} min {:02.0} s", (s / 60.0).floor(), s % 60.0),
    }
}

/// A time to wait, in a unit that suits it.
pub(crate) fn roughly(seconds: f64) -> String {
    let (count, unit) = match seconds {
        s if s < 90.0 * 60.0 => (s / 60.0, "minute"),
        s if s < 36.0 * 3600.0 => (s / 3600.0, "hour"),
        s => (s / 86_400.0, "day"),
    };
    counted(count.round().max(1.0) as u64, unit)
}

/// The most memory that the process has held, where the system says (Linux).
pub(crate) fn peak_memory() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kibibytes * 1024)
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
        let six = |largest: f64, number: f64| Decimals::suiting([largest, number].into_iter()).format(number);
        assert_eq!(six(0.35, 6.0 / 17.0), "0.352941");
        assert_eq!(six(12.0, 6.0 / 17.0), "0.3529");
        assert_eq!(six(0.35, -0.0), "0.000000");
        assert_eq!(six(0.35, 3e-9), "3.00e-9");
        assert_eq!(six(0.35, f64::NAN), "NaN");
        assert_eq!(six(5e12, 5e12), "5.00e12");
    }
}
