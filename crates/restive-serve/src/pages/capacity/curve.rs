//! What more and fewer calls would bring, as a picture: what no list could exceed, what lists like this one reach, where one is now, and where
//! the numbers that were tried lead.

use crate::look::words::Words;
use restive_pipeline::{AtBudget, Interval as Range, PlanCertificate};
use restive_programme::{Draft, WhatIf};
use restive_report::curves::{Line, Panel};
use restive_report::{Axis, Block, Chart, Curves, Ink, Interval, Section};

/// Times as many calls as now are shown: far beyond, everything else would be a dot.
const NEAR: usize = 3;

/// The picture, with its heading; nothing where nothing is known.
pub(super) fn figure(
    now: Option<(&PlanCertificate, &Draft)>,
    tried: Option<&WhatIf>,
    unit: &str,
    period: &str,
    w: &Words,
) -> String {
    let then = tried.and_then(|tried| {
        Some((tried.effects.identified()?.certificate.as_ref()?, tried.turned.numbers.first().copied()?))
    });
    let now = now.map(|(certificate, draft)| (certificate, draft.record.facts.budget as usize));
    let Some((certificate, budget)) = then.or(now) else { return String::new() };
    let more = |of: &PlanCertificate, range: Range| {
        Interval::new(range.value - of.no_action, range.low - of.no_action, range.high - of.no_action)
    };
    let most = NEAR * budget.max(now.map_or(0, |(_, budget)| budget)).max(1);
    let near: Vec<&AtBudget> = certificate.curve.iter().filter(|at| at.budget <= most).collect();
    let reached = near.iter().map(|at| (at.budget as f64, more(certificate, at.value))).collect();
    let bound =
        near.iter().map(|at| (at.budget as f64, Interval::bare(at.bound - certificate.no_action))).collect();
    let line = |key: &str, ink, points| Line { name: w.t(key).into(), ink, points, continued: Vec::new() };
    let mut lines = vec![
        line("capacity.curve_bound", Ink::Grey, bound),
        line("capacity.curve_lists", Ink::Blue, reached),
    ];
    for (found, key, ink) in
        [(now, "capacity.curve_now", Ink::Orange), (then, "capacity.curve_tried", Ink::Purple)]
    {
        if let Some((of, budget)) = found {
            let gain = of.value.value - of.no_action;
            lines.push(line(key, ink, vec![(budget as f64, Interval::bare(gain))]));
        }
    }
    let chart = Chart::Curves(Curves {
        title: w.t("capacity.curve").into(),
        panels: vec![Panel {
            title: String::new(),
            x: Axis::linear(w.f1("capacity.curve_x", "period", period)),
            y: Axis::linear(w.f1("capacity.curve_y", "unit", unit)),
            lines,
        }],
    });
    let caption = w.f1("capacity.curve_caption", "n", certificate.steps);
    Section { heading: w.t("capacity.curve_title").into(), blocks: vec![Block::Figure { chart, caption }] }
        .fragment(2)
}
