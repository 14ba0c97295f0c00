//! Snapshots of words and layout: settings of `insta` and masks of everything that may differ between runs.
//!
//! | text | mask |
//! |---|---|
//! | durations, rates, amounts of memory | `<duration>`, `<rate>`, `<memory>` |
//! | hexadecimal digests of at least 12 digits | `<digest>` |
//! | version of the workspace | `<version>` |
//! | temporary folders, folder of the repository | `<folder>`, `<root>` |
//! | date of today, times of day | `<today>`, `<time>` |
//! | numbers | two significant digits, then `#`: `0.352941` is `0.35####` |
//!
//! Numbers keep their width, so that tables stay aligned. Digits within names (`p_0_1`, `B12345`) and other dates are kept. A snapshot is
//! never the only test of a number.
//!
//! `cargo test` never changes a snapshot: one that differs fails and is written to a file `.snap.new` next to the old one, except in CI or with
//! `INSTA_UPDATE=no`. `INSTA_UPDATE=always` or `cargo insta review` accepts it.

use regex::{Captures, Regex};
use std::path::Path;
use std::sync::LazyLock;

/// Significant digits that a masked number keeps.
const DIGITS: usize = 2;

/// Masks in the order in which they apply; see the module for the table.
#[derive(Debug, Clone)]
pub struct Masks(Vec<(Regex, String)>);

impl Default for Masks {
    fn default() -> Self {
        Self::new()
    }
}

impl Masks {
    /// Creates the masks of the table of this module.
    pub fn new() -> Self {
        Self(standard().clone())
    }

    /// Adds a mask before the others; `replacement` may contain `$1`.
    ///
    /// # Panics
    /// If `pattern` is not a regular expression.
    pub fn pattern(mut self, pattern: &str, replacement: &str) -> Self {
        self.0.insert(0, (Regex::new(pattern).unwrap(), replacement.into()));
        self
    }

    /// Masks a path.
    pub fn path(self, path: &Path, replacement: &str) -> Self {
        self.pattern(&regex::escape(&path.to_string_lossy()), replacement)
    }

    /// Masks all dates as `<date>`: for output whose dates depend on today.
    pub fn dates(self) -> Self {
        self.pattern(r"\b\d{4}-\d\d-\d\d\b", "<date>")
    }

    /// Returns the text with its masks.
    pub fn apply(&self, text: &str) -> String {
        let replace = |text: String, (pattern, replacement): &(Regex, String)| {
            pattern.replace_all(&text, replacement.as_str()).into_owned()
        };
        round_numbers(&self.0.iter().fold(text.to_string(), replace))
    }
}

/// Returns text with the masks of [`Masks::new`].
pub fn masked(text: &str) -> String {
    Masks::new().apply(text)
}

fn standard() -> &'static Vec<(Regex, String)> {
    static ALL: LazyLock<Vec<(Regex, String)>> = LazyLock::new(|| {
        let temporary = regex::escape(std::env::temp_dir().to_string_lossy().trim_end_matches('/'));
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap();
        let version = regex::escape(env!("CARGO_PKG_VERSION"));
        let today = jiff::Zoned::now().date();
        let utc = jiff::Timestamp::now().to_zoned(jiff::tz::TimeZone::UTC).date();
        let amount = r"\b\d+(?:[.,]\d+)*";
        let all = [
            (format!(r"{temporary}/\.tmp\w+"), "<folder>"),
            (regex::escape(&root.to_string_lossy()), "<root>"),
            (r#""(\w*seconds)": ?[-\d.e]+"#.into(), r#""$1": "<duration>""#),
            (r#""(\w*_per_second)": ?[-\d.e]+"#.into(), r#""$1": "<rate>""#),
            (r#""(\w*memory_bytes)": ?\d+"#.into(), r#""$1": "<memory>""#),
            (r"\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?Z?".into(), "<time>"),
            (format!(r"\b(?:{today}|{utc})\b"), "<today>"),
            (r"\b[0-9a-f]{12,}\b".into(), "<digest>"),
            (format!(r"\b{version}\b"), "<version>"),
            (format!(r"{amount}(?: (?:thousand|million|billion))?(?: \w+)?(?: per second|/s)\b"), "<rate>"),
            (format!(r"{amount} ?(?:ns|µs|ms|s|min|h|seconds?|minutes?|hours?)\b"), "<duration>"),
            (format!(r"{amount} ?(?:[kKMGT]i?B|B|bytes?)\b"), "<memory>"),
        ];
        let compiled =
            all.map(|(pattern, mask): (String, &str)| (Regex::new(&pattern).unwrap(), mask.into()));
        compiled.into()
    });
    &ALL
}

/// Replaces the digits of numbers after the first two significant ones by `#`.
fn round_numbers(text: &str) -> String {
    // names and dates come first: their digits are kept
    static TOKEN: LazyLock<Regex> = LazyLock::new(|| {
        let number = r"\d+(?:,\d{3})*(?:\.\d+)?(?:e[-+]?\d+)?";
        Regex::new(&format!(r"[\p{{Alphabetic}}_]\w*|\b\d{{4}}-\d\d-\d\d\b|(?<number>{number})")).unwrap()
    });
    let mask = |found: &Captures| match found.name("number") {
        Some(number) => round(number.as_str()),
        None => found[0].to_string(),
    };
    TOKEN.replace_all(text, mask).into_owned()
}

fn round(number: &str) -> String {
    let (digits, exponent) = number.split_at(number.find('e').unwrap_or(number.len()));
    let mut significant = 0;
    let mask = |c: char| {
        if !c.is_ascii_digit() {
            return c;
        }
        significant += usize::from(significant > 0 || c != '0');
        if significant > DIGITS { '#' } else { c }
    };
    digits.chars().map(mask).collect::<String>() + exponent
}

/// Returns the settings of snapshots: files `snapshots/NAME.snap` in the folder of the test, without expression and module.
pub fn snapshot_settings() -> insta::Settings {
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path("snapshots");
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings
}

/// Compares text, masked by [`masked`], with the snapshot of a name; a third argument replaces the [`Masks`].
#[macro_export]
macro_rules! assert_snapshot {
    ($name:expr, $text:expr) => {
        $crate::assert_snapshot!($name, $text, $crate::Masks::new())
    };
    ($name:expr, $text:expr, $masks:expr) => {
        $crate::snapshot_settings().bind(|| $crate::insta::assert_snapshot!($name, $masks.apply($text)))
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_keep_two_significant_digits_and_their_width() {
        for (number, expected) in [
            ("0.352941", "0.35####"),
            ("-12.75", "-12.##"),
            ("0.00123", "0.0012#"),
            ("7", "7"),
            ("240", "24#"),
            ("1.234e-7", "1.2##e-7"),
            ("1,234,567", "1,2##,###"),
            ("[0.25, 0.333]", "[0.25, 0.33#]"),
            ("p_0_123 B12345 caf\u{e9}123", "p_0_123 B12345 caf\u{e9}123"),
            ("100 %", "10# %"),
        ] {
            assert_eq!(masked(number), expected);
        }
    }

    #[test]
    fn numbers_that_agree_in_two_digits_have_one_mask() {
        assert_eq!(masked("0.3512"), masked("0.3587"));
        assert_ne!(masked("0.3512"), masked("0.3612"));
        assert_ne!(masked("0.3512"), masked("0.35121"));
    }

    #[test]
    fn values_that_differ_between_runs_are_masked() {
        let today = jiff::Zoned::now().date();
        let text = format!(
            "5 arms in 1.25 s, 12 million arms per second, 3.4 MB; restive {}, {}; made {today}, listed 2026-01-05 at 2026-01-05T10:11:12Z",
            env!("CARGO_PKG_VERSION"),
            "0123456789abcdef".repeat(4),
        );
        let expected = "5 arms in <duration>, <rate>, <memory>; restive <version>, <digest>; made <today>, listed 2026-01-05 at <time>";
        assert_eq!(masked(&text), expected);
        let json = r#"{"seconds": 0.12, "arms_per_second": 1e6, "peak_memory_bytes": 12345, "arms": 5}"#;
        let expected = r#"{"seconds": "<duration>", "arms_per_second": "<rate>", "peak_memory_bytes": "<memory>", "arms": 5}"#;
        assert_eq!(masked(json), expected);
        let folder = crate::Folder::new();
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
        let text = format!("{}: no file; {}", folder.path("a.csv").display(), root.display());
        assert_eq!(masked(&text), "<folder>/a.csv: no file; <root>/crates/restive-testkit/src");
    }

    #[test]
    fn further_masks_come_first() {
        let masks = Masks::new().dates().pattern(r"seed (\d+)", "seed <$1>");
        assert_eq!(masks.apply("2020-02-03, seed 123"), "<date>, seed <12#>");
    }
}
