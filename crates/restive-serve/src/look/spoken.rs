//! What is on record in English, in the language of a page: outcomes, why somebody is on a list, what a rule is called and what it costs.
//!
//! Such phrases are put together of a few pieces of the library's and of the programme's own words, and are on record as they were said. The pieces
//! stand in the table of words, in English exactly as the library has them, and are exchanged; columns, values and numbers stay. A programme
//! that has words of its own for reasons is left with them.

use super::words::Words;
use restive_programme::Code;

/// The pieces of a reason.
const REASON: [&str; 14] = [
    "spoken.helps_more",
    "spoken.helps_less",
    "spoken.better",
    "spoken.worse",
    "spoken.alike",
    "spoken.not_known",
    "spoken.points",
    "spoken.point",
    "spoken.own_record",
    "spoken.above",
    "spoken.below",
    "spoken.last",
    "spoken.drawn",
    "spoken.must",
];

/// The pieces of a rule's name; what has another within it comes first.
const RULE: [&str; 12] = [
    "spoken.cost_at_most",
    "spoken.at_most",
    "spoken.at_least",
    "spoken.of_others",
    "spoken.leave_out",
    "spoken.must_call",
    "spoken.lots",
    "spoken.lot",
    "spoken.periods_any",
    "spoken.period_any",
    "spoken.periods_after",
    "spoken.period_after",
];

/// The pieces of a price.
const PRICE: [&str; 6] = [
    "spoken.costs_nothing",
    "spoken.costs_about",
    "spoken.costs",
    "spoken.keeps_out",
    "spoken.people",
    "spoken.person",
];

/// The keys of an outcome: its word, and what a button says.
pub(crate) fn code_keys(code: Code) -> (&'static str, &'static str) {
    match code {
        Code::Reached => ("outcomes.reached", "outcomes.reached_says"),
        Code::NoAnswer => ("outcomes.no_answer", "outcomes.no_answer_says"),
        Code::NotFound => ("outcomes.not_found", "outcomes.not_found_says"),
        Code::WrongNumber => ("outcomes.wrong_number", "outcomes.wrong_number_says"),
        Code::Refused => ("outcomes.refused", "outcomes.refused_says"),
        Code::Moved => ("outcomes.moved", "outcomes.moved_says"),
        Code::Later => ("outcomes.later", "outcomes.later_says"),
        Code::NotCalled => ("outcomes.not_called", "outcomes.not_called_says"),
    }
}

/// An outcome within a sentence or a table.
pub(crate) fn code(code: Code, w: &Words) -> String {
    w.t(code_keys(code).0).to_lowercase()
}

/// Why somebody is on a list.
pub(crate) fn reason(text: &str, w: &Words) -> String {
    if w.code == "en" {
        return text.into();
    }
    let text = exchanged(text.into(), &REASON, w);
    // a thing is a column, what somebody has there, and points in brackets
    let is = [Words::of("en").t("spoken.is"), w.t("spoken.is")];
    let things: Vec<String> = text.split(" (").map(|part| part.replacen(is[0], is[1], 1)).collect();
    counted(&things.join(" ("), w)
}

/// What a rule is called.
pub(crate) fn rule(text: &str, w: &Words) -> String {
    if w.code == "en" { text.into() } else { counted(&exchanged(text.into(), &RULE, w), w) }
}

/// What a rule costs.
pub(crate) fn price(text: &str, w: &Words) -> String {
    if w.code == "en" { text.into() } else { exchanged(text.into(), &PRICE, w) }
}

fn exchanged(text: String, keys: &[&'static str], w: &Words) -> String {
    let mut pieces: Vec<(&str, &str)> = keys.iter().map(|key| (Words::of("en").t(key), w.t(key))).collect();
    // of two that begin alike the longer; and nothing that was exchanged is looked at again
    pieces.sort_by_key(|(english, _)| std::cmp::Reverse(english.len()));
    let (mut rest, mut new) = (text.as_str(), String::with_capacity(text.len()));
    while let Some(next) = rest.chars().next() {
        match pieces.iter().find(|(english, _)| !english.is_empty() && rest.starts_with(english)) {
            Some((english, other)) => {
                new.push_str(other);
                rest = &rest[english.len()..];
            }
            None => {
                new.push(next);
                rest = &rest[next.len_utf8()..];
            }
        }
    }
    new
}

/// So many of so many, and so many of a group.
fn counted(text: &str, w: &Words) -> String {
    let (english, other) = (Words::of("en").t("spoken.of"), w.t("spoken.of"));
    let mut parts = text.split(english);
    let mut new = parts.next().unwrap_or_default().to_string();
    for part in parts {
        let is_number = new.ends_with(|c: char| c.is_ascii_digit());
        new.extend([if is_number { other } else { english }, part]);
    }
    new
}

#[cfg(test)]
mod tests {
    use super::*;
    use restive_pipeline::reasons::Words as Reasons;

    #[test]
    fn english_pieces_are_those_of_the_library() {
        let w = Words::of("en");
        for key in REASON.iter().chain(&["spoken.is"]) {
            // points stand in a place of their own, in brackets
            let piece = w.t(key).trim_end_matches(" (");
            assert!(Reasons::ENGLISH.contains(piece), "{key}: {piece}");
        }
        let text = "A call helps more than most: age is 31 (+4 points). Own record, good weeks: 3 of 8 (+1).";
        assert_eq!(reason(text, w), text);
        assert_eq!(
            (rule("worker: at most 3", w), price("costs nothing", w)),
            ("worker: at most 3".into(), "costs nothing".into())
        );
        assert_eq!(code(Code::NoAnswer, w), "no answer");
    }

    #[test]
    fn phrases_of_the_record_are_said_in_another_language() {
        let w = Words::of("es");
        for (english, spanish) in [
            (
                "A call helps more than most: age is 31 (+4 points), education is not known (-2). 0.12 above the last place.",
                "Una llamada ayuda más que a la mayoría: age es 31 (+4 puntos), education no se sabe (-2). 0.12 por encima del último lugar.",
            ),
            (
                "Drawn by lot, to learn what calls do. Much like a typical person. Own record, buenas semanas: 3 of 8 (+1 point).",
                "Por sorteo, para aprender qué logran las llamadas. Muy parecida a una persona típica. Historial propio, buenas semanas: 3 de 8 (+1 punto).",
            ),
            // a programme's own words stay
            ("Sie wohnt weit weg von hier.", "Sie wohnt weit weg von hier."),
        ] {
            assert_eq!(reason(english, w), spanish);
        }
        for (english, spanish) in [
            (
                "worker: at least 2 of Asha, at least 1 of others, at most 15",
                "worker: al menos 2 de Asha, al menos 1 de los demás, como máximo 15",
            ),
            ("leave out: 2 periods after a call", "dejar fuera: 2 periodos tras una llamada"),
            ("1 place drawn by lot", "1 plaza por sorteo"),
            ("cost at most 600", "coste máximo de 600"),
        ] {
            assert_eq!(rule(english, w), spanish);
        }
        assert_eq!(
            price("costs about 0.20 semanas, keeps out 3 people", w),
            "cuesta cerca de 0.20 semanas, deja fuera a 3 personas"
        );
        assert_eq!(price("costs nothing, keeps out 1 person", w), "no cuesta nada, deja fuera a 1 persona");
        assert_eq!(code(Code::WrongNumber, w), "número equivocado");
    }
}
