//! Numbers and policies as a director reads them.

use restive_pipeline::Interval;
use restive_report::number::fixed;

/// A policy as people call it.
pub(crate) fn policy(name: &str) -> &str {
    match name {
        "plan" => "this way of making lists",
        "practice" => "as it was done so far",
        "myopic" => "who gains most next time",
        "least-engaged" => "the worst off first",
        "round-robin" => "everybody in turn",
        "no-action" => "no calls at all",
        other => other,
    }
}

/// What was said of arms and pulls, said of people and calls.
pub(crate) fn of_people(said: &str) -> String {
    let word = |word: &str| {
        let letters = word.trim_matches(|c: char| !c.is_alphabetic());
        let plain = match letters {
            "arm" => "person",
            "arms" => "people",
            "" => return word.into(),
            other => return word.replace(other, &other.replace("pull", "call").replace("Pull", "Call")),
        };
        word.replace(letters, plain)
    };
    said.replace(" an arm ", " a person ").split(' ').map(word).collect::<Vec<_>>().join(" ")
}

/// As many decimals as its interval can carry.
pub(super) fn decimals(of: Interval) -> usize {
    match (of.high - of.low).abs() {
        width if width >= 10.0 => 0,
        width if width >= 0.5 => 1,
        width if width > 0.0 && width.is_finite() => (1.0 - width.log10().floor()).clamp(0.0, 6.0) as usize,
        _ => 1,
    }
}

/// `3.1 (between 1.2 and 5.0)`
pub(super) fn between(of: Interval) -> String {
    let decimals = decimals(of);
    let [value, low, high] = [of.value, of.low, of.high].map(|x| fixed(x, decimals));
    format!("{value} (between {low} and {high})")
}

/// `45 %`
pub(super) fn percent(share: f64) -> String {
    format!("{} %", fixed(100.0 * share, 0))
}

/// The first letter large.
pub(super) fn sentence(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().map(|c| c.to_uppercase().to_string()).unwrap_or_default();
    let end = if text.ends_with(['.', '?', '!']) { "" } else { "." };
    format!("{first}{}{end}", letters.as_str())
}

/// `a`, `a and b`, `a, b and c`
pub(super) fn listed(all: &[String]) -> String {
    match all {
        [] => String::new(),
        [one] => one.clone(),
        [most @ .., last] => format!("{} and {last}", most.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arms_and_pulls_are_people_and_calls() {
        let said = of_people("pulls of an arm (pulled by arms): harm – ends");
        assert_eq!(said, "calls of a person (called by people): harm – ends");
        assert_eq!(of_people("nobody  knows"), "nobody  knows");
    }

    #[test]
    fn numbers_have_as_many_decimals_as_their_interval_carries() {
        let of = |value, low, high| between(Interval { value, low, high });
        assert_eq!(of(3.12345, 1.2, 5.0), "3.1 (between 1.2 and 5.0)");
        assert_eq!(of(314.159, 120.0, 500.0), "314 (between 120 and 500)");
        assert_eq!(of(0.0314, 0.01, 0.05), "0.031 (between 0.010 and 0.050)");
    }

    #[test]
    fn lists_and_sentences_read_as_people_write() {
        let all: Vec<String> = ["a", "b", "c"].map(String::from).into();
        assert_eq!([listed(&all[..1]), listed(&all[..2]), listed(&all)], ["a", "a and b", "a, b and c"]);
        assert_eq!([sentence("élan"), sentence("x.")], ["Élan.", "X."]);
    }
}
