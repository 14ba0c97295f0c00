//! The evidence as a page: the answers, the picture, the table.
//!
//! The library speaks of pulls, and so does the page that `restive evaluate` writes; a planner's page says the same of calls.

use crate::report::words::{of_people, policy};
use restive_pipeline::{Decile, Evaluated, EvidenceAnswer, Interval as Range, Outcome, signed};
use restive_report::bars::{Bars, Group, Panel, Row};
use restive_report::table::{Cell, Column, Row as TableRow, Table};
use restive_report::{Block, Chart, Ink, Interval, Page, Section};

/// In whose words something is said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Terms {
    /// pulls, and policies by their names
    Library,
    /// calls, and what policies do
    People,
}

impl Terms {
    /// What the library says, in these words.
    pub fn say(self, text: &str) -> String {
        match self {
            Terms::Library => text.into(),
            Terms::People => of_people(text),
        }
    }

    /// A policy as people call it.
    pub fn policy(self, name: &str) -> &str {
        match (self, name) {
            (Terms::People, name) => policy(name),
            (_, "plan") => "the plan",
            (_, "practice") => "what was done",
            (_, "least-engaged") => "poorest state first",
            (_, "round-robin") => "everybody in turn",
            (_, "no-action") => "no pulls",
            (_, other) => other,
        }
    }
}

/// The page of an evaluation; `study` is what it is called.
pub fn page(evaluated: &Evaluated, study: &str, terms: Terms) -> Page {
    let (verdict, sections) = match &evaluated.evidence {
        Some(Outcome::Answer(answer)) if answer.ranks_alike => {
            (terms.say(&format!("{}.", answer.found())), answered(answer, terms))
        }
        Some(Outcome::Answer(answer)) => {
            let finds = if answer.is_found() { "finds" } else { "is not shown to find" };
            let gain = signed(answer.gain);
            let verdict = format!(
                "The ranking {finds} those for whom a pull makes a difference; its plan would bring {gain} {} per 100 people more than \
                 random pulls.",
                answer.unit()
            );
            (terms.say(&verdict), answered(answer, terms))
        }
        Some(Outcome::Refused { reason, what_to_do }) => {
            let blocks = vec![Block::Note(terms.say(&format!("What to do: {what_to_do}.")))];
            (terms.say(&format!("No answer: {reason}.")), vec![Section { heading: "Why".into(), blocks }])
        }
        None => ("The published estimators are no evidence.".into(), Vec::new()),
    };
    let footer = format!("restive {}, seed {}", env!("CARGO_PKG_VERSION"), evaluated.about.seed);
    Page { title: format!("Evidence: {study}"), verdict, sections, footer }
}

fn answered(answer: &EvidenceAnswer, terms: Terms) -> Vec<Section> {
    let say = |text: String| Block::Text(terms.say(&text));
    let question = |heading: &str, blocks: Vec<Block>| Section { heading: terms.say(heading), blocks };
    let mut rests_on =
        vec![say(format!("Counted: {}.", answer.counted())), say(format!("Judged: {}.", answer.judged()))];
    rests_on.extend(answer.assumptions.iter().map(|granted| say(format!("Taken for granted: {granted}."))));
    rests_on.extend(answer.course().map(|said| say(format!("Course: {said}."))));
    rests_on.extend(answer.calibrated().map(|said| say(format!("Calibration: {said}."))));
    rests_on.extend(answer.cautions().iter().map(|said| Block::Note(terms.say(said))));
    let mut brings = vec![say(answer.brings())];
    if !answer.policies.is_empty() {
        brings.push(Block::Table(table(answer, terms)));
    }
    brings.push(say(format!("Random pulls bring {}.", answer.random())));
    vec![
        question(
            "Does the ranking find those for whom a pull makes a difference?",
            vec![
                say(answer.found()),
                Block::Figure {
                    chart: picture(answer, terms),
                    caption: "A ranking that finds them has long bars at the top and short ones at the bottom; shuffled, all are alike but for \
                              chance. Lines are 95 % intervals."
                        .into(),
                },
            ],
        ),
        question("How much more than random pulls would the plan bring?", brings),
        question("What it rests on", rests_on),
    ]
}

fn picture(answer: &EvidenceAnswer, terms: Terms) -> Chart {
    let group = |title: &str, ink, of: fn(&Decile) -> Range| {
        let row = |(k, decile): (usize, &Decile)| Row {
            name: match k {
                0 => "best tenth".into(),
                9 => "last tenth".into(),
                k => (k + 1).to_string(),
            },
            ink,
            value: interval(of(decile)),
        };
        Panel {
            title: title.into(),
            label: terms.say("effect of a pull on the next reward"),
            base: Some(0.0),
            groups: vec![Group {
                name: String::new(),
                rows: answer.deciles.iter().enumerate().map(row).collect(),
            }],
        }
    };
    Chart::Bars(Bars {
        title: terms.say("What a pull does, by place in the ranking"),
        panels: vec![
            group("as ranked", Ink::Blue, |decile| decile.ranked),
            group("with people shuffled", Ink::Grey, |decile| decile.shuffled),
        ],
    })
}

fn table(answer: &EvidenceAnswer, terms: Terms) -> Table {
    let row = |policy: &restive_pipeline::PolicyGain| {
        let how = if policy.is_measured { "measured on the log" } else { "simulated by the judge" };
        let cells = vec![
            Cell::text(terms.policy(&policy.policy)),
            Cell::Estimate(interval(policy.over_random)),
            Cell::text(how),
        ];
        if policy.policy == "plan" { TableRow::highlighted(cells) } else { TableRow::new(cells) }
    };
    Table {
        caption: terms.say(&format!("Over random pulls: {}", answer.counted())),
        columns: vec![
            Column::text(match terms {
                Terms::Library => "policy",
                Terms::People => "whom to call",
            }),
            Column::number(answer.unit(), 2),
            Column::text("how it is known"),
        ],
        rows: answer.policies.iter().map(row).collect(),
    }
}

fn interval(of: Range) -> Interval {
    Interval::new(of.value, of.low, of.high)
}
