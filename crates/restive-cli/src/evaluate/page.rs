//! The evidence as a page that can be mailed: the answers, the picture, the table.

use super::evidence::name;
use restive_pipeline::{Decile, Evaluated, EvidenceAnswer, Interval as Range, Outcome, signed};
use restive_report::bars::{Bars, Group, Panel, Row};
use restive_report::table::{Cell, Column, Row as TableRow, Table};
use restive_report::{Block, Chart, Ink, Interval, Page, Section};

/// The page of an evaluation; `study` is what it is called.
pub(super) fn page(evaluated: &Evaluated, study: &str) -> Page {
    let (verdict, sections) = match &evaluated.evidence {
        Some(Outcome::Answer(answer)) => {
            let finds = if answer.is_found() { "finds" } else { "is not shown to find" };
            let gain = signed(answer.gain);
            let verdict = format!(
                "The ranking {finds} those for whom a pull makes a difference; its plan would bring {gain} {} per 100 people more than \
                 random pulls.",
                answer.unit()
            );
            (verdict, answered(answer))
        }
        Some(Outcome::Refused { reason, what_to_do }) => {
            let blocks = vec![Block::Note(format!("What to do: {what_to_do}."))];
            (format!("No answer: {reason}."), vec![Section { heading: "Why".into(), blocks }])
        }
        None => ("The published estimators are no evidence.".into(), Vec::new()),
    };
    let footer = format!("restive {}, seed {}", env!("CARGO_PKG_VERSION"), evaluated.about.seed);
    Page { title: format!("Evidence: {study}"), verdict, sections, footer }
}

fn answered(answer: &EvidenceAnswer) -> Vec<Section> {
    let question = |heading: &str, blocks: Vec<Block>| Section { heading: heading.into(), blocks };
    let mut rests_on = vec![
        Block::Text(format!("Counted: {}.", answer.counted())),
        Block::Text(format!("Judged: {}.", answer.judged())),
    ];
    rests_on.extend(
        answer.assumptions.iter().map(|granted| Block::Text(format!("Taken for granted: {granted}."))),
    );
    rests_on.extend(answer.calibrated().map(|said| Block::Text(format!("Calibration: {said}."))));
    rests_on.extend(answer.cautions().into_iter().map(Block::Note));
    vec![
        question(
            "Does the ranking find those for whom a pull makes a difference?",
            vec![
                Block::Text(answer.found()),
                Block::Figure {
                    chart: picture(answer),
                    caption: "A ranking that finds them has long bars at the top and short ones at the bottom; shuffled, all are alike but for \
                              chance. Lines are 95 % intervals."
                        .into(),
                },
            ],
        ),
        question(
            "How much more than random pulls would the plan bring?",
            vec![
                Block::Text(answer.brings()),
                Block::Table(table(answer)),
                Block::Text(format!("Random pulls bring {}.", answer.random())),
            ],
        ),
        question("What it rests on", rests_on),
    ]
}

fn picture(answer: &EvidenceAnswer) -> Chart {
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
            label: "effect of a pull on the next reward".into(),
            base: Some(0.0),
            groups: vec![Group {
                name: String::new(),
                rows: answer.deciles.iter().enumerate().map(row).collect(),
            }],
        }
    };
    Chart::Bars(Bars {
        title: "What a pull does, by place in the ranking".into(),
        panels: vec![
            group("as ranked", Ink::Blue, |decile| decile.ranked),
            group("with people shuffled", Ink::Grey, |decile| decile.shuffled),
        ],
    })
}

fn table(answer: &EvidenceAnswer) -> Table {
    let row = |policy: &restive_pipeline::PolicyGain| {
        let how = if policy.is_measured { "measured on the log" } else { "simulated by the judge" };
        let cells = vec![
            Cell::text(name(&policy.policy)),
            Cell::Estimate(interval(policy.over_random)),
            Cell::text(how),
        ];
        if policy.policy == "plan" { TableRow::highlighted(cells) } else { TableRow::new(cells) }
    };
    Table {
        caption: format!("Over random pulls: {}", answer.counted()),
        columns: vec![
            Column::text("policy"),
            Column::number(answer.unit(), 2),
            Column::text("how it is known"),
        ],
        rows: answer.policies.iter().map(row).collect(),
    }
}

fn interval(of: Range) -> Interval {
    Interval::new(of.value, of.low, of.high)
}
