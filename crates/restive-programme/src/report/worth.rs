//! What the list brings: the verdict by past calls, what the model promises, and both as pictures.

use super::Report;
use super::page::fact;
use super::words::{between, of_people, percent, policy, sentence};
use restive_pipeline::words::{counted, grouped};
use restive_pipeline::{
    AtBudget, Decile, EvidenceAnswer, Interval as Range, Outcome, PlanCertificate, PolicyGain,
};
use restive_report::bars::{Bars, Group, Panel as BarsPanel, Row as BarsRow};
use restive_report::curves::{Line, Panel};
use restive_report::number::{fixed, short};
use restive_report::table::{Cell, Column, Row, Table};
use restive_report::{Axis, Block, Chart, Curves, Ink, Interval};

/// Times as many calls as now are shown.
const NEAR: usize = 3;

/// What comes first.
pub(super) fn verdict(report: &Report) -> String {
    let unit = &report.unit;
    match &report.evidence {
        None => "Whether this list finds the right people is not shown on this page: the evidence of past calls was left out (--quick).".into(),
        Some(Outcome::Refused { reason, .. }) => format!(
            "It is not shown that this list finds those for whom a call makes a difference: {}.",
            of_people(&reason.to_string())
        ),
        Some(Outcome::Answer(answer)) if answer.ranks_alike => {
            "This list ranks all people in the same state alike: among them it is not better than calls at random.".into()
        }
        Some(Outcome::Answer(answer)) => {
            let over = over(report, answer);
            match (answer.is_found(), answer.gain.low > 0.0) {
                (true, true) => format!(
                    "Calling by this list instead of at random would bring {} more {unit} per 100 people over {over}. That it finds the \
                     right people is shown by your own past calls.",
                    between(answer.gain)
                ),
                (true, false) => format!(
                    "Your own past calls show that this list finds the right people; how much more it brings than calls at random is not \
                     sure yet: {} {unit} per 100 people over {over}.",
                    between(answer.gain)
                ),
                (false, _) => format!(
                    "It is not shown that this list is better than calls at random: by your own past calls it brings {} more {unit} per 100 \
                     people over {over}, which may be chance.",
                    between(answer.gain)
                ),
            }
        }
    }
}

fn over(report: &Report, answer: &EvidenceAnswer) -> String {
    match answer.assignment {
        Some(_) => format!("all {}s after the first decision of a person", report.period),
        None => counted(answer.horizon as u64, &report.period),
    }
}

/// The few numbers that matter, and what to do.
pub(super) fn in_short(report: &Report) -> Vec<Block> {
    let mut facts = Vec::new();
    let list = &report.list;
    facts.push(fact(
        format!("{} of {}", grouped(list.listed as u64), grouped(list.could as u64)),
        "people who could be called are on the list",
    ));
    if let Some(Outcome::Answer(answer)) = report.evidence.as_ref()
        && !answer.ranks_alike
    {
        let sign = if answer.gain.value > 0.0 { "+" } else { "" };
        let shown = between(answer.gain);
        let value = shown.split(' ').next().unwrap_or_default();
        facts.push(fact(
            format!("{sign}{value}"),
            format!("more {} per 100 people than calls at random, by past calls", report.unit),
        ));
    }
    if let Some(certificate) = report.certificate() {
        let share = certificate.share.map(|share| percent(share.value.min(1.0)));
        facts.extend(share.map(|share| fact(share, "of what any list could bring, by the model")));
        facts.push(fact(
            short_amount(certificate.one_more),
            format!("more {} by one more call a {}, by the model", report.unit, report.period),
        ));
    }
    let text = match &report.evidence {
        None => "Run the report without --quick before anybody decides by it.".into(),
        Some(Outcome::Refused { what_to_do, .. }) => {
            format!("What to do: {}", sentence(&of_people(&what_to_do.to_string())))
        }
        Some(Outcome::Answer(answer)) => {
            let judged = format!(
                "Judged by {} of {} people, none of whom the model that ranked them had seen",
                counted(answer.calls as u64, "past call"),
                grouped(answer.people as u64)
            );
            match answer.is_found() {
                _ if answer.ranks_alike => {
                    format!(
                        "{judged}. What to do: train a model that tells people in the same state apart, or call at random among them."
                    )
                }
                true => {
                    format!("{judged}. What to do: call by this list, and go on drawing some places by lot.")
                }
                false => format!(
                    "{judged}. Had the gain been {} or more, it would have been found four times in five. What to do: go on with calls \
                     by lot or in turn, and look again when there are more.",
                    short_amount(answer.detectable)
                ),
            }
        }
    };
    vec![Block::Text(text), Block::Facts(facts)]
}

/// Two digits that count.
fn short_amount(x: f64) -> String {
    match x.abs() {
        size if size >= 10.0 || size == 0.0 => fixed(x, 0),
        size => fixed(x, (1.0 - size.log10().floor()).clamp(0.0, 6.0) as usize),
    }
}

/// Policies over random calls, what calls did by place in the ranking, and what more or fewer calls would bring.
pub(super) fn brings(report: &Report) -> Vec<Block> {
    let (mut blocks, mut pictures) = (Vec::new(), Vec::new());
    match &report.evidence {
        Some(Outcome::Answer(answer)) => {
            let (top, last) = (answer.deciles.first(), answer.deciles.last());
            let ends = top.zip(last).filter(|(a, b)| a.ranked.value.is_finite() && b.ranked.value.is_finite());
            let ends = ends.map(|(top, last)| {
                format!(
                    "In your own past calls, a call to the tenth whom the list would call first brought {} {} in the next {}, one to the last \
                     tenth {}.",
                    signed(top.ranked.value),
                    report.unit,
                    report.period,
                    signed(last.ranked.value)
                )
            });
            blocks.extend(ends.map(Block::Text));
            let caption = tenths_caption(answer, &report.period);
            pictures.push(Block::Figure { chart: tenths(answer), caption });
            if !answer.policies.is_empty() {
                blocks.push(Block::Table(policies(report, answer)));
            }
        }
        _ if report.effects.identified().is_none() => blocks.extend(report.not_stated().map(Block::Text)),
        Some(Outcome::Refused { .. }) => {}
        None => blocks.push(Block::Text(
            "The evidence of past calls was left out; what follows is the model's own belief, which nobody has checked.".into(),
        )),
    }
    if let Some(certificate) = report.certificate() {
        pictures.push(Block::Figure {
            chart: by_budget(report, certificate),
            caption: by_budget_caption(report, certificate),
        });
    }
    blocks.push(Block::Beside(pictures));
    blocks
}

fn signed(x: f64) -> String {
    let sign = if x > 0.0 { "+" } else { "" };
    format!("{sign}{}", fixed(x, 2))
}

fn interval(of: Range) -> Interval {
    Interval::new(of.value, of.low, of.high)
}

fn tenths(answer: &EvidenceAnswer) -> Chart {
    let row = |(k, decile): (usize, &Decile)| BarsRow {
        name: match k {
            0 => "called first".into(),
            9 => "called last".into(),
            k => (k + 1).to_string(),
        },
        ink: Ink::Blue,
        value: interval(decile.ranked),
    };
    let rows = answer.deciles.iter().enumerate().map(row).collect();
    Chart::Bars(Bars {
        title: "What past calls did, by tenth of the ranking".into(),
        panels: vec![BarsPanel {
            title: String::new(),
            label: "what a call changed".into(),
            base: Some(0.0),
            groups: vec![Group { name: String::new(), rows }],
        }],
    })
}

fn tenths_caption(answer: &EvidenceAnswer, period: &str) -> String {
    let unit = answer.unit();
    format!(
        "A list that finds the right people has long bars at the top and short ones at the bottom. Bars: {unit} in the next {period}; \
         lines: where the truth is, nineteen times in twenty."
    )
}

fn policies(report: &Report, answer: &EvidenceAnswer) -> Table {
    let row = |found: &PolicyGain| {
        let how = if found.is_measured { "measured on past calls" } else { "simulated" };
        let cells = vec![
            Cell::text(policy(&found.policy)),
            Cell::Estimate(interval(found.over_random)),
            Cell::text(how),
        ];
        if found.policy == "plan" { Row::highlighted(cells) } else { Row::new(cells) }
    };
    Table {
        caption: format!(
            "More than calls at random: {} per 100 people over {}",
            report.unit,
            over(report, answer)
        ),
        columns: vec![
            Column::text("whom to call"),
            Column::number("more", 1),
            Column::text("how it is known"),
        ],
        rows: answer.policies.iter().map(row).collect(),
    }
}

fn by_budget(report: &Report, certificate: &PlanCertificate) -> Chart {
    let none = certificate.no_action;
    let value = |of: Range| Interval::new(of.value - none, of.low - none, of.high - none);
    // far beyond what can be called now everything else would be a dot
    let near = |at: &&AtBudget| at.budget <= NEAR * report.budget.max(1);
    let curve: Vec<&AtBudget> = certificate.curve.iter().filter(near).collect();
    let reached = curve.iter().map(|at| (at.budget as f64, value(at.value))).collect();
    let bound = curve.iter().map(|at| (at.budget as f64, Interval::bare(at.bound - none))).collect();
    let line = |name: &str, ink, points| Line { name: name.into(), ink, points, continued: Vec::new() };
    Chart::Curves(Curves {
        title: "What more or fewer calls would bring, by the model".into(),
        panels: vec![Panel {
            title: String::new(),
            x: Axis::linear(format!("calls a {}", report.period)),
            y: Axis::linear(format!("more {} than without calls", report.unit)),
            lines: vec![
                line("no list could bring more", Ink::Grey, bound),
                line("this way of making lists", Ink::Blue, reached),
            ],
        }],
    })
}

fn by_budget_caption(report: &Report, certificate: &PlanCertificate) -> String {
    let period = &report.period;
    let gain = short(certificate.value.value - certificate.no_action);
    let enough = match certificate.enough {
        0 => "no call gains anything".into(),
        enough => format!("beyond {} a {period} nothing is gained", counted(enough as u64, "call")),
    };
    format!(
        "The model believes: {} a {period}, as now, bring {gain} {} more than none over {}; one more a {period} adds {}; {enough}.",
        counted(report.budget as u64, "call"),
        report.unit,
        counted(certificate.steps as u64, period),
        short_amount(certificate.one_more)
    )
}
