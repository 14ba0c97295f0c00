//! Cells that are not empty and hold no value: errors of a spreadsheet, and formulas without a stored result.
//!
//! An error is known by its text, so that `#REF!` in a CSV file counts like the error cell of the workbook that it was saved from. The
//! names of errors depend on the language of the spreadsheet (`#WERT!`, `#¡VALOR!`): a cell is one if it begins with `#`, continues in
//! capitals and ends with `!` or `?`, or is one of the few others.

/// Text of a formula whose result the workbook does not hold.
pub(super) const NOT_CALCULATED: &str = "#NOT_CALCULATED!";

/// Reason why a cell holds no value, if it holds an error.
pub(crate) fn cell_error(cell: &str) -> Option<String> {
    match cell {
        NOT_CALCULATED => Some("a formula without a stored result".into()),
        cell if is_error(cell) => Some(format!("the error {cell}")),
        _ => None,
    }
}

fn is_error(cell: &str) -> bool {
    const OTHERS: [&str; 4] = ["#N/A", "#N/D", "#NV", "#GETTING_DATA"];
    const LONGEST: usize = 24;
    if let Some(number) = cell.strip_prefix("Err:") {
        return number.len() == 3 && number.bytes().all(|byte| byte.is_ascii_digit());
    }
    let Some(rest) = cell.strip_prefix('#').filter(|rest| rest.len() <= LONGEST) else { return false };
    let Some(name) = rest.strip_suffix(['!', '?']) else { return OTHERS.contains(&cell) };
    let name = name.trim_start_matches(['¡', '¿']);
    let is_part = |c: char| c.is_uppercase() || c.is_ascii_digit() || matches!(c, '/' | '_');
    name.chars().filter(|c| c.is_uppercase()).count() >= 2 && name.chars().all(is_part)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_are_known_in_every_language_and_other_text_is_none() {
        let errors = [
            "#NULL!",
            "#DIV/0!",
            "#VALUE!",
            "#REF!",
            "#NAME?",
            "#NUM!",
            "#N/A",
            "#GETTING_DATA",
            "#SPILL!",
            "#CALC!",
            "#WERT!",
            "#BEZUG!",
            "#NV",
            "#VALEUR!",
            "#NOM?",
            "#¡VALOR!",
            "#¿NOMBRE?",
            "#N/D",
            "#NÚM!",
            "#ERROR!",
            "Err:502",
        ];
        for cell in errors {
            assert_eq!(cell_error(cell), Some(format!("the error {cell}")));
        }
        assert_eq!(cell_error(NOT_CALCULATED).as_deref(), Some("a formula without a stored result"));
        for cell in [
            "", "#", "#1", "#12!", "#1!", "# REF!", "#ref!", "REF!", "N/A", "NA", "#Asha!", "#CALLED",
            "Err:no",
        ] {
            assert_eq!(cell_error(cell), None, "{cell}");
        }
    }
}
