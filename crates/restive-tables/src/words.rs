//! Counts and shares in words.

/// 1234567 → 1,234,567
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// 1 arm, 2 arms
pub fn counted(count: u64, what: &str) -> String {
    format!("{} {what}{}", grouped(count), if count == 1 { "" } else { "s" })
}

/// Two digits, and never 0 % for something that happened.
pub fn percent(share: f64) -> String {
    match 100.0 * share {
        p if p > 0.0 && p < 0.01 => "under 0.01 %".into(),
        p if p < 10.0 => format!("{p:.2} %"),
        p => format!("{p:.1} %"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_well() {
        assert_eq!([0, 12, 999, 1000, 1234567].map(grouped), ["0", "12", "999", "1,000", "1,234,567"]);
        assert_eq!([1, 2000].map(|n| counted(n, "arm")), ["1 arm", "2,000 arms"]);
        assert_eq!([0.0, 1e-6, 0.004, 0.25].map(percent), ["0.00 %", "under 0.01 %", "0.40 %", "25.0 %"]);
    }
}
