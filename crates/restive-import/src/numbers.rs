//! Numbers as people write them: `1,250.5`, `₹ 12,500`, `1.250,50 €`, `1 250`.
//!
//! The sign of the decimals is declared (`decimal = ","`), never guessed: `1,250` is a thousand or one and a quarter. Whatever groups
//! the digits must group them as somebody does: in threes, or in India's two and two and three.

/// The number in a cell, where it is one.
pub(crate) fn number(cell: &str, decimal: u8) -> Option<f64> {
    if let (b'.', Ok(number)) = (decimal, cell.parse::<f64>()) {
        return Some(number).filter(|x| x.is_finite());
    }
    let text = without_money(cell)?;
    let (sign, text) = match text.strip_prefix(['-', '−']) {
        Some(rest) => (-1.0, without_money(rest)?),
        None => (1.0, text.strip_prefix('+').unwrap_or(text)),
    };
    let (whole, fraction) = match text.split_once(decimal as char) {
        Some((whole, fraction)) => (whole, Some(fraction)),
        None => (text, None),
    };
    if fraction.is_some_and(|digits| !digits.bytes().all(|byte| byte.is_ascii_digit())) {
        return None;
    }
    let is_separator = |c: char| {
        c != decimal as char
            && matches!(c, ',' | '.' | '\'' | '’' | '_' | ' ' | '\u{a0}' | '\u{202f}' | '\u{2009}')
    };
    let groups: Vec<&str> = whole.split(is_separator).collect();
    let are_digits = groups.iter().all(|group| group.bytes().all(|byte| byte.is_ascii_digit()));
    let [first, middle @ .., last] = &groups[..] else {
        return plain(sign, whole, fraction).filter(|_| are_digits);
    };
    let is_grouped = (1..=3).contains(&first.len())
        && last.len() == 3
        && (middle.iter().all(|group| group.len() == 3) || middle.iter().all(|group| group.len() == 2));
    (are_digits && is_grouped).then(|| plain(sign, &groups.concat(), fraction))?
}

/// What is left without a sign or a short name of a currency, or `%`, at either end; none where other words stand there: `B01` and
/// `Grade 5` are no numbers.
fn without_money(cell: &str) -> Option<&str> {
    const NAMES: [&str; 22] = [
        "rs", "inr", "usd", "eur", "gbp", "kes", "ksh", "tzs", "tsh", "ugx", "ush", "rwf", "frw", "ngn",
        "ghs", "bdt", "tk", "pkr", "npr", "etb", "zar", "fcfa",
    ];
    let is_sign =
        |c: char| matches!(c, '₹' | '$' | '€' | '£' | '¥' | '₦' | '₵' | '₱' | '৳' | '%') || c.is_whitespace();
    let is_name = |word: &str| NAMES.iter().any(|name| name.eq_ignore_ascii_case(word));
    let cell = cell.trim_matches(is_sign);
    let rest = cell.trim_start_matches(char::is_alphabetic);
    let (before, rest) = cell.split_at(cell.len() - rest.len());
    let kept = rest.trim_end_matches(char::is_alphabetic);
    let after = &rest[kept.len()..];
    if !(before.is_empty() || is_name(before)) || !(after.is_empty() || is_name(after)) {
        return None;
    }
    let kept = if before.is_empty() { kept } else { kept.trim_start_matches('.') };
    Some(kept.trim_matches(is_sign))
}

fn plain(sign: f64, whole: &str, fraction: Option<&str>) -> Option<f64> {
    let text = format!("{whole}.{}", fraction.unwrap_or_default());
    text.parse::<f64>().ok().map(|number| sign * number).filter(|number| number.is_finite())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_as_people_write_them() {
        for (cell, decimal, expected) in [
            ("12", b'.', 12.0),
            ("-1.5e3", b'.', -1500.0),
            ("1,250.5", b'.', 1250.5),
            ("₹ 12,500", b'.', 12_500.0),
            ("Rs. 1,25,000", b'.', 125_000.0),
            ("1.250,50 €", b',', 1250.5),
            ("₹ 12.500,50", b',', 12_500.5),
            ("0,75", b',', 0.75),
            ("1 250", b',', 1250.0),
            ("45 %", b'.', 45.0),
            ("-₹3", b'.', -3.0),
        ] {
            assert_eq!(number(cell, decimal), Some(expected), "{cell}");
        }
        for (cell, decimal) in [
            ("", b'.'),
            ("12,5", b'.'),
            ("1.25", b','),
            ("1,2500", b'.'),
            ("12-5", b'.'),
            ("about 3 or 4", b'.'),
            ("B01", b'.'),
            ("Grade 5", b'.'),
            ("5 kg", b'.'),
            ("₹", b'.'),
            ("inf", b'.'),
            ("1,,000", b'.'),
        ] {
            assert_eq!(number(cell, decimal), None, "{cell}");
        }
    }
}
