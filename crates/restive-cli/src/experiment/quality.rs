//! `quality`: which training helps when the plan is deployed, in which [regime](super::quality_regimes), and what planning with
//! the arms' own history adds. Everything is a share of the way from random pulls to the oracle, in %, of the same run; so
//! differences are in points, and paired by run.

use super::page::{figure, ink, interval, p_value, text};
use super::quality_regimes::domain;
use super::quality_run::{CHOICE, FIRST_SEED, HISTORIES, compute, units};
use super::rows::{Row, names, values};
use super::units::Settings;
use super::{Experiment, Shown};
use restive::report::number::fixed;
use restive::report::table::{Cell, Column, Row as Line, Table};
use restive::report::{Bars, Block, Chart, Ink, Section, bars};
use restive::statistics::{mean, paired_t, wilcoxon};

pub(super) const EXPERIMENT: Experiment =
    Experiment { name: "quality", axis: Some("history"), units, compute, owns: |_| true, show };

/// Runs, and those of a quick look.
pub(super) const RUNS: [usize; 2] = [12, 2];

pub(super) const EXAMPLES: &str = "\
Examples:
  restive experiment quality --domain two-state --quick --runs 1 --out quality
  restive experiment report quality";

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
/// What the others are held against: two-stage training at the same index discount.
const BASE: &str = "two-stage-recommended";
const ANSWER: &str = "decision-focused-recommended";
/// In the figure and its table: what is held against two-stage training, and its name.
const AGAINST: [(&str, &str); 4] = [
    (ANSWER, "recommended − two-stage"),
    ("decision-focused-fluid", "fluid − two-stage"),
    ("decision-focused-strong", "strong − two-stage"),
    ("decision-focused-control", "control − two-stage"),
];
/// The history in the figure.
const SHOWN: usize = 9;
const LEVEL: f64 = 0.05;

/// A difference of shares, paired by run.
struct Difference {
    name: String,
    pairs: [Vec<f64>; 2],
}

impl Difference {
    /// By how much a method leads two-stage training at the same index discount.
    fn of_method(rows: &[Row], regime: &str, (method, name): (&str, &str)) -> Self {
        let pairs = [shares(rows, regime, method, 0), shares(rows, regime, BASE, 0)];
        Self { name: name.into(), pairs }
    }

    /// What a history adds to the recommended training.
    fn of_history(rows: &[Row], regime: &str, steps: usize) -> Self {
        let pairs = [shares(rows, regime, ANSWER, steps), shares(rows, regime, ANSWER, 0)];
        Self { name: format!("history {steps} − 0"), pairs }
    }

    fn points(&self) -> Vec<f64> {
        self.pairs[0].iter().zip(&self.pairs[1]).map(|(a, b)| a - b).collect()
    }

    fn p(&self) -> [Option<f64>; 2] {
        let [first, second] = &self.pairs;
        [paired_t(first, second).ok().map(|test| test.p), wilcoxon(first, second).ok().map(|test| test.p)]
    }

    /// Better, worse, or neither, by Student's test.
    fn direction(&self) -> i32 {
        let [first, second] = &self.pairs;
        match paired_t(first, second) {
            Ok(test) if test.p < LEVEL => test.difference.signum() as i32,
            _ => 0,
        }
    }
}

/// The share of the way from random to oracle of a method with so long a history, in %, by run.
fn shares(rows: &[Row], regime: &str, method: &str, history: usize) -> Vec<f64> {
    let of = |method: &str, history: usize| {
        let is_it = |row: &&Row| {
            row.domain == regime && row.method == method && row.metric != CHOICE && row.at == history as f64
        };
        rows.iter().filter(is_it).map(|row| row.value).collect::<Vec<_>>()
    };
    let (random, oracle) = (of("random", 0), of("oracle", 0));
    let all = of(method, history).into_iter().zip(random.into_iter().zip(oracle));
    all.map(|(own, (random, oracle))| 100.0 * (own - random) / (oracle - random)).collect()
}

fn with_error(values: &[f64], decimals: usize) -> String {
    match (mean(values), values) {
        (Ok(mean), _) => {
            format!("{} ± {}", fixed(mean.mean, decimals), fixed(mean.standard_error, decimals))
        }
        (Err(_), [one]) => fixed(*one, decimals),
        (Err(_), _) => "–".into(),
    }
}

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
        figure: Some((chart, Some(panels))),
        text: words(rows, &regimes) + "\n" + &said.join("\n") + "\n",
    }
}

fn runs(rows: &[Row]) -> usize {
    rows.iter().map(|row| row.run + 1).max().unwrap_or(0)
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

/// What the numbers say.
fn sentences(rows: &[Row], regimes: &[&str]) -> Vec<String> {
    let count = runs(rows);
    if count < 2 {
        return vec!["One run says nothing of luck: no differences were tested.".into()];
    }
    let found = |of: &dyn Fn(&str) -> Difference, direction: i32| -> Vec<String> {
        let there =
            regimes.iter().map(|regime| (regime, of(regime))).filter(|(_, d)| d.direction() == direction);
        there.map(|(regime, d)| format!("{regime} ({})", with_error(&d.points(), 2))).collect()
    };
    let both = |of: &dyn Fn(&str) -> Difference| {
        let [better, worse] = [1, -1].map(|direction| found(of, direction));
        let list = |all: Vec<String>| if all.is_empty() { "nowhere".into() } else { all.join(", ") };
        (better.is_empty() && worse.is_empty(), list(better), list(worse))
    };
    let (_, better, worse) = both(&|regime| Difference::of_method(rows, regime, AGAINST[0]));
    let few = if count < RUNS[0] { format!(" {count} runs are too few for a claim.") } else { String::new() };
    let mut said = vec![format!(
        "At the same index discount the recommended training is significantly better than two-stage training (p < {LEVEL}, paired t) {}; \
         significantly worse {}. Of {} regimes, {} would differ by luck alone.{few}",
        place(&better),
        place(&worse),
        regimes.len(),
        fixed(LEVEL * regimes.len() as f64, 1)
    )];
    for against in [AGAINST[1], AGAINST[2], AGAINST[3]] {
        let name = against.1.split_once(" −").map_or(against.1, |(name, _)| name);
        let (is_nothing, better, worse) = both(&|regime| Difference::of_method(rows, regime, against));
        said.push(if is_nothing {
            format!("{name} differs significantly from two-stage training in no regime.")
        } else {
            format!(
                "{name} is significantly better {}; significantly worse {}.",
                place(&better),
                place(&worse)
            )
        });
    }
    for steps in HISTORIES {
        let (_, better, worse) = both(&|regime| Difference::of_history(rows, regime, steps));
        said.push(format!(
            "A history of {steps} steps adds significantly {}; it costs significantly {}.",
            place(&better),
            place(&worse)
        ));
    }
    said
}

fn place(list: &str) -> String {
    if list == "nowhere" { list.into() } else { format!("in {list}") }
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
