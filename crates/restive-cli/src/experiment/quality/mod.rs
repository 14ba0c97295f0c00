//! `quality`: which training helps when the plan is deployed, in which [regime](self::regimes), and what planning with
//! the arms' own history adds. Everything is a share of the way from random pulls to the oracle, in %, of the same run; so
//! differences are in points, and paired by run.

mod difference;
mod regimes;
mod run;

use crate::experiment::page::{figure, ink, interval, p_value, text, with_error};
use crate::experiment::rows::{Row, names, runs, values};
use crate::experiment::units::Settings;
use crate::experiment::{Experiment, Shown};
use difference::{AGAINST, ANSWER, BASE, Difference, sentences, shares};
use regimes::domain;
use restive::report::table::{Cell, Column, Row as Line, Table};
use restive::report::{Bars, Block, Chart, Ink, Section, bars};
use run::{CHOICE, FIRST_SEED, HISTORIES, compute, units};

pub(crate) const EXPERIMENT: Experiment =
    Experiment { name: "quality", axis: Some("history"), units, compute, owns: |_| true, show };

/// Runs, and those of a quick look.
pub(crate) const RUNS: [usize; 2] = [12, 2];

/// Methods, and what they are called above narrow columns.
const METHODS: [(&str, &str); 9] = [
    ("two-stage", "two-stage, published"),
    ("two-stage-converged", "two-stage, converged"),
    (BASE, "two-stage, converged, 1 − 1/H"),
    ("decision-focused", "decision-focused, published"),
    ("decision-focused-fluid", "fluid"),
    (ANSWER, "recommended"),
    ("decision-focused-strong", "strong"),
    ("decision-focused-control", "control"),
    ("oracle-matched", "oracle, 1 − 1/H"),
];
/// The history in the figure.
const SHOWN: usize = 9;
fn show(settings: &Settings, rows: &[Row]) -> Shown {
    let regimes = names(rows, |row| &row.domain);
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

fn chart(rows: &[Row], regimes: &[&str]) -> Chart {
    let domains = names(rows, |row| domain(&row.domain));
    let panel = |title: String, ink: Ink, of: &dyn Fn(&str) -> Difference| {
        let group = |domain: &&str| {
            let own = regimes.iter().filter(|regime| self::domain(regime) == *domain);
            let row = |regime: &&str| bars::Row {
                name: regime.to_string(),
                ink,
                value: interval(&of(regime).points()),
            };
            bars::Group { name: String::new(), rows: own.map(row).collect(), references: Vec::new() }
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
            let of = |regime: &str| Difference::of_method(rows, regime, *against);
            panel(against.1.into(), ink(against.0), &of)
        })
        .collect();
    let of = |regime: &str| Difference::of_history(rows, regime, SHOWN);
    panels.push(panel(format!("{SHOWN} steps of history"), Ink::Blue, &of));
    let title = "Points of the way from random to oracle, as deployed".into();
    Chart::Bars(Bars { title, panels })
}

fn values_of(rows: &[Row], regimes: &[&str]) -> Table {
    let mut columns = vec![Column::text("regime")];
    columns.extend(METHODS.map(|(_, name)| Column::text(name)));
    columns.push(Column::text("two-stage/weak/strong chosen"));
    let line = |regime: &&str| {
        let mut cells = vec![Cell::text(*regime)];
        cells.extend(METHODS.map(|(method, _)| Cell::text(with_error(&shares(rows, regime, method, 0), 1))));
        cells.push(Cell::text(chosen(rows, regime)));
        Line::new(cells)
    };
    let caption = "% of the way from random to oracle, ± standard error".into();
    Table { caption, columns, rows: regimes.iter().map(line).collect() }
}

/// How often the folds chose each candidate.
fn chosen(rows: &[Row], regime: &str) -> String {
    let choices = values(rows, regime, ANSWER, CHOICE);
    let count = |choice: f64| choices.iter().filter(|found| **found == choice).count().to_string();
    [0.0, 1.0, 2.0].map(count).join("/")
}

fn differences(rows: &[Row], regimes: &[&str]) -> Table {
    let mut lines = Vec::new();
    for regime in regimes {
        let methods = AGAINST.iter().map(|against| Difference::of_method(rows, regime, *against));
        let histories = HISTORIES.iter().map(|steps| Difference::of_history(rows, regime, *steps));
        for difference in methods.chain(histories) {
            let [t, w] = difference.p();
            let cells = vec![
                Cell::text(*regime),
                Cell::text(&*difference.name),
                Cell::text(with_error(&difference.points(), 2)),
                Cell::text(p_value(t)),
                Cell::text(p_value(w)),
            ];
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

fn words(rows: &[Row], regimes: &[&str]) -> String {
    let shown = [METHODS[0], METHODS[1], METHODS[2], METHODS[3], METHODS[4], METHODS[5], METHODS[7]];
    let short = ["published", "converged", "1 − 1/H", "DF published", "fluid", "recommended", "control"];
    let mut text = format!("{:<30}", "% to oracle");
    short.iter().for_each(|name| text += &format!("{name:>14}"));
    text += &format!("{:>20}\n", "recommended − 1−1/H");
    for regime in regimes {
        text += &format!("{regime:<30}");
        for (method, _) in shown {
            text += &format!("{:>14}", with_error(&shares(rows, regime, method, 0), 1));
        }
        let lead = Difference::of_method(rows, regime, AGAINST[0]);
        text += &format!("{:>20}\n", with_error(&lead.points(), 2));
    }
    text
}
