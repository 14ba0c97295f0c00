//! `numbers-as-text`: columns of text whose values are mostly numbers, written with a decimal comma, separators of thousands, a currency or
//! a unit. As text every number is a category of its own. Where a column is text on purpose, `text` in study.toml says so.

use super::columns::listed;
use super::finding::{Finding, Severity};
use super::log::Log;
use crate::words::percent;
use restive::data::features::Column;
use restive_tables::show;

const NAME: &str = "numbers-as-text";

pub(super) fn numbers_as_text(log: &Log<'_>) -> Finding {
    let declared = &log.study.settings.text;
    let mut said = Vec::new();
    for (name, column) in log.known.features.iter().flat_map(|all| all.names().iter().zip(all.columns())) {
        let Column::Text(values) = column else { continue };
        let known = values.iter().flatten().count();
        let numbers = values.iter().flatten().filter(|text| is_number(text)).count();
        if !declared.contains(name) && known > 0 && numbers * 5 >= known * 4 {
            said.push(format!(
                "{} ({} of its values)",
                show::name(name),
                percent(numbers as f64 / known as f64)
            ));
        }
    }
    match said.is_empty() {
        true => Finding::fine(NAME, "No column of text is made of numbers."),
        false => Finding::new(
            NAME,
            Severity::Warning,
            format!("Numbers that are read as text: {}.", listed(&said)),
            "write numbers with a point and nothing else, and leave cells empty where there is none; or name the column in text in study.toml",
        ),
    }
}

/// Digits, perhaps with a sign, a currency or per cent, separators of thousands, one decimal point or comma.
fn is_number(text: &str) -> bool {
    let is_dress =
        |c: char| c.is_whitespace() || matches!(c, '$' | '€' | '£' | '¥' | '₹' | '%' | '+' | '-' | '−');
    let words = ["Rs.", "Rs", "INR", "USD", "EUR", "GBP", "KSh"];
    let mut bare = text.trim_matches(is_dress);
    for word in words {
        bare = bare
            .strip_prefix(word)
            .or_else(|| bare.strip_suffix(word))
            .unwrap_or(bare)
            .trim_matches(is_dress);
    }
    let parts: Vec<&str> = bare.split([',', '.', '\'', ' ', '\u{a0}', '\u{202f}']).collect();
    let is_digits = |part: &&str| !part.is_empty() && part.bytes().all(|c| c.is_ascii_digit());
    let middle = parts.len().saturating_sub(1).max(1);
    parts.iter().all(is_digits)
        && parts[1..middle].iter().all(|part| part.len() == 3)
        // more than one separator: the first group is of thousands as well
        && (parts.len() < 3 || parts[0].len() <= 3)
        // and dates have a last part of four
        && (parts.len() < 3 || parts[parts.len() - 1].len() <= 3)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_numbers_however_they_are_dressed() {
        for number in
            ["12", "3,5", "1.234,50", "1,234,567", "₹ 12 000", "Rs. 500", "-4", "45 %", "1'000", "12.5"]
        {
            assert!(is_number(number), "{number}");
        }
        for text in ["", "18-24", "12.03.2024", "n/a", "ward 2", "1e5", "under 20", "-", "+", "1,,2", "10:30"]
        {
            assert!(!is_number(text), "{text}");
        }
    }
}
