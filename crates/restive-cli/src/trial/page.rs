//! The result of a trial as a page that can be mailed.

use super::analyse::{INTERIM, about};
use restive_programme::{Analysed, EffectLine};
use restive_report::bars::{Bars, Group, Panel, Row};
use restive_report::table::{Cell, Column, Row as TableRow, Table};
use restive_report::{Block, Chart, Fact, Ink, Interval, Page, Section};

/// The page of a trial.
pub(super) fn page(analysed: &Analysed) -> Page {
    let interim = if analysed.interim { format!("{INTERIM}. ") } else { String::new() };
    let section = |heading: &str, blocks: Vec<Block>| Section { heading: heading.into(), blocks };
    let mut brought = Vec::new();
    if let Some(found) = analysed.effects.iter().find(|line| line.is_primary).and_then(|line| line.found) {
        let fact = |value: String, name: &str| Fact { value, name: name.into() };
        let unit = &analysed.protocol.counts;
        let mut facts = vec![fact(format!("{:.1}", found.estimate), &format!("{unit} in all"))];
        facts.extend(found.per_person_called.map(|[x, ..]| fact(format!("{x:.2}"), "per person called")));
        facts.extend(found.per_call.map(|[x, ..]| fact(format!("{x:.2}"), "per call")));
        facts.push(fact(format!("{:.1}", found.detectable), "would have been found in four of five trials"));
        brought.push(Block::Facts(facts));
    }
    brought.push(Block::Figure {
        chart: chart(analysed),
        caption: "Every estimator that answers, with its 95 % interval: all of them estimate the same number. Blue is the one that counts.".into(),
    });
    brought.push(Block::Table(table(analysed)));
    let refused = analysed.effects.iter().filter_map(|line| Some((line.estimator, line.refused.as_ref()?)));
    brought.extend(refused.map(|(name, why)| Block::Text(format!("{name} is refused: {why}."))));
    let mut sections = vec![section("What the calls brought", brought)];
    if !analysed.flags.is_empty() {
        sections.push(section("Caution", analysed.flags.iter().cloned().map(Block::Note).collect()));
    }
    let mut rests: Vec<Block> = about(analysed).into_iter().map(Block::Text).collect();
    rests.extend(analysed.deviations.iter().map(|line| Block::Note(format!("Not as planned: {line}."))));
    if analysed.deviations.is_empty() {
        rests.push(Block::Text("Everything was done as planned.".into()));
    }
    rests.push(Block::Text(analysed.withheld.into()));
    sections.push(section("What it rests on", rests));
    Page {
        title: format!("Trial: {}{}", analysed.protocol.id, if analysed.interim { " (INTERIM)" } else { "" }),
        verdict: format!("{interim}{}", analysed.sentence),
        sections,
        footer: format!("restive {}", env!("CARGO_PKG_VERSION")),
    }
}

fn interval(line: &EffectLine) -> Option<Interval> {
    let found = line.found?;
    Some(Interval::new(found.estimate, found.interval[0], found.interval[1]))
}

fn chart(analysed: &Analysed) -> Chart {
    let row = |line: &EffectLine| {
        let ink = if line.is_primary { Ink::Blue } else { Ink::Grey };
        Some(Row { name: line.estimator.into(), ink, value: interval(line)? })
    };
    Chart::Bars(Bars {
        title: "What the calls brought, by estimator".into(),
        panels: vec![Panel {
            title: String::new(),
            label: format!("{} in all", analysed.protocol.counts),
            base: Some(0.0),
            groups: vec![Group {
                name: String::new(),
                rows: analysed.effects.iter().filter_map(row).collect(),
            }],
        }],
    })
}

fn table(analysed: &Analysed) -> Table {
    let row = |line: &EffectLine| {
        let cells = match (interval(line), line.found) {
            (Some(value), Some(found)) => vec![
                Cell::text(line.estimator),
                Cell::Estimate(value),
                Cell::text(found.per_person_called.map_or("–".into(), |[x, ..]| format!("{x:.2}"))),
                Cell::text(format!("{:.1}", found.detectable)),
            ],
            _ => vec![Cell::text(line.estimator), Cell::text("refused"), Cell::text("–"), Cell::text("–")],
        };
        if line.is_primary { TableRow::highlighted(cells) } else { TableRow::new(cells) }
    };
    Table {
        caption: "All estimators".into(),
        columns: vec![
            Column::text("estimator"),
            Column::number(&analysed.protocol.counts, 1),
            Column::text("per person called"),
            Column::text("finds in four of five"),
        ],
        rows: analysed.effects.iter().map(row).collect(),
    }
}
