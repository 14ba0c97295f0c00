//! `quality`: which training helps when the plan is deployed, in which [regime](self::regimes), and what planning with
//! the arms' own history adds. Everything is a share of the way from random pulls to the oracle, in %, of the same run; so
//! differences are in points, and paired by run.

mod difference;
mod regimes;
mod run;

use crate::experiment::page::{aligned, figure, interval, text, with_error};
use crate::experiment::rows::{Key, Row, distinct, runs, values};
use crate::experiment::units::Settings;
use crate::experiment::{Experiment, Shown};
use crate::{DomainName, Method, Metric, Regime};
use difference::{AGAINST, Difference, sentences, shares};
use restive_report::table::{Cell, Column, Row as Line, Table};
use restive_report::{Bars, Block, Chart, Ink, Section, bars};
use run::{FIRST_SEED, HISTORIES, compute, units};

pub(crate) const EXPERIMENT: Experiment =
    Experiment { name: "quality", axis: Some("history"), units, compute, owns: |_| true, show };

/// Runs, and those of a quick look.
pub(crate) const RUNS: [usize; 2] = [12, 2];

/// Methods, and what they are called above narrow columns.
const METHODS: [(Method, &str); 9] = [
    (Method::TwoStage, "two-stage, published"),
    (Method::TwoStageConverged, "two-stage, converged"),
    (Method::TwoStageRecommended, "two-stage, converged, 1 − 1/H"),
    (Method::DecisionFocused, "decision-focused, published"),
    (Method::DecisionFocusedFluid, "fluid"),
    (Method::DecisionFocusedRecommended, "recommended"),
    (Method::DecisionFocusedStrong, "strong"),
    (Method::DecisionFocusedControl, "control"),
    (Method::OracleMatched, "oracle, 1 − 1/H"),
];
/// The history in the figure.
const SHOWN: usize = 9;

fn show(settings: &Settings, rows: &[Row]) -> Shown {
    let regimes = distinct(rows, |key| key.regime);
    let said = sentences(rows, &regimes);
    let chart = chart(rows, &regimes);
    let mut blocks = vec![text(about(settings, rows))];
    blocks.extend(said.iter().map(text));
    blocks.push(figure(&chart));
    blocks.push(Block::Table(values_of(rows, &regimes)));
    blocks.push(Block::Table(differences(rows, &regimes)));
    let panels = AGAINST.len() + 1;
    Shown {
        section: Section { heading: "Which training helps as deployed".into(), blocks },
        figure: (chart, Some(panels)),
        text: words(rows, &regimes) + "\n" + &said.join("\n") + "\n",
    }
}

fn about(settings: &Settings, rows: &[Row]) -> String {
    format!(
        "{} runs of every regime, with seeds from {} that no other experiment has. Every number is the value of the strict top K on the true \
         transitions of test instances, as a share of the way from random pulls to the oracle (indices of the true transitions at discount \
         0.99), ± its standard error over the runs. Published trainings plan with index discount 0.99, the others, but for one column, with \
         1 − 1/H. recommended: what folds of the training instances chose between two-stage training, weak and strong. strong: the \
         strong preset whatever the folds said. control: the same in a world in which all two-stage predictions are true, so that no data speak. \
         history: predictions weighed against so many logged steps of each test arm.",
        runs(rows),
        settings.seed.wrapping_add(FIRST_SEED),
    )
}

fn chart(rows: &[Row], regimes: &[Regime]) -> Chart {
    let domains = distinct(rows, |key| key.regime.domain());
    let panel = |title: String, ink: Ink, lead: &dyn Fn(Regime) -> Difference| {
        let group = |domain: &DomainName| {
            let own = regimes.iter().filter(|regime| regime.domain() == *domain);
            let row = |regime: &Regime| bars::Row {
                name: regime.name().into(),
                ink,
                value: interval(&lead(*regime).points()),
            };
            bars::Group { name: String::new(), rows: own.map(row).collect() }
        };
        bars::Panel {
            title,
            label: "points".into(),
            base: Some(0.0),
            groups: domains.iter().map(group).collect(),
        }
    };
    let mut panels: Vec<bars::Panel> = AGAINST
        .iter()
        .map(|against| {
            let lead = |regime: Regime| Difference::of_method(rows, regime, *against);
            panel(against.1.into(), against.0.ink(), &lead)
        })
        .collect();
    let lead = |regime: Regime| Difference::of_history(rows, regime, SHOWN);
    panels.push(panel(format!("{SHOWN} steps of history"), Ink::Blue, &lead));
    let title = "Points of the way from random to oracle, as deployed".into();
    Chart::Bars(Bars { title, panels })
}

fn values_of(rows: &[Row], regimes: &[Regime]) -> Table {
    let mut columns = vec![Column::text("regime")];
    columns.extend(METHODS.map(|(_, name)| Column::text(name)));
    columns.push(Column::text("two-stage/weak/strong chosen"));
    let line = |regime: &Regime| {
        let mut cells = vec![Cell::text(regime.name())];
        cells.extend(METHODS.map(|(method, _)| Cell::text(with_error(&shares(rows, *regime, method, 0), 1))));
        cells.push(Cell::text(chosen(rows, *regime)));
        Line::new(cells)
    };
    let caption = "% of the way from random to oracle, ± standard error".into();
    Table { caption, columns, rows: regimes.iter().map(line).collect() }
}

/// How often the folds chose each candidate.
fn chosen(rows: &[Row], regime: Regime) -> String {
    let answer = Key::new(regime, Method::DecisionFocusedRecommended, Metric::Choice);
    let choices = values(rows, answer.at(0.0));
    let count = |choice: f64| choices.iter().filter(|found| **found == choice).count().to_string();
    [0.0, 1.0, 2.0].map(count).join("/")
}

fn differences(rows: &[Row], regimes: &[Regime]) -> Table {
    let mut lines = Vec::new();
    for regime in regimes {
        let methods = AGAINST.iter().map(|against| Difference::of_method(rows, *regime, *against));
        let histories = HISTORIES.iter().map(|steps| Difference::of_history(rows, *regime, *steps));
        for difference in methods.chain(histories) {
            let points = with_error(&difference.points(), 2);
            let names = [regime.name(), &difference.name, &points].map(Cell::text);
            let cells = names.into_iter().chain(difference.p()).collect();
            lines.push(if difference.direction() == 0 { Line::new(cells) } else { Line::highlighted(cells) });
        }
    }
    let columns = ["regime", "difference", "points ± standard error", "p (t)", "p (Wilcoxon)"];
    Table {
        caption: "Paired differences at index discount 1 − 1/H; marked where p (t) < 0.05".into(),
        columns: columns.map(Column::text).into(),
        rows: lines,
    }
}

fn words(rows: &[Row], regimes: &[Regime]) -> String {
    let shown = [METHODS[0], METHODS[1], METHODS[2], METHODS[3], METHODS[4], METHODS[5], METHODS[7]];
    let short = ["published", "converged", "1 − 1/H", "DF published", "fluid", "recommended", "control"];
    let header = aligned("% to oracle", 30, short.map(String::from), 14);
    let mut text = format!("{header}{:>20}\n", "recommended − 1−1/H");
    for regime in regimes {
        let cells = shown.map(|(method, _)| with_error(&shares(rows, *regime, method, 0), 1));
        let lead = Difference::of_method(rows, *regime, AGAINST[0]);
        let line = aligned(regime.name(), 30, cells, 14);
        text += &format!("{line}{:>20}\n", with_error(&lead.points(), 2));
    }
    text
}
