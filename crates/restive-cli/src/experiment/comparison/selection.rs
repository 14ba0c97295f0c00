//! `selection`: who is called by each method on the maternal domain, in the layout of the paper's two tables, and by stage of
//! pregnancy, gestational age and poverty line. The runs are those of the [comparison].

use super::called::{EVERYONE, NUMBERS, PAIRS, POVERTY, STAGES, TRIMESTERS, pair};
use crate::experiment::page::{ink, p_value, text};
use crate::experiment::rows::{Row, names, runs, values};
use crate::experiment::units::Settings;
use crate::experiment::{Experiment, Shown, comparison, page};
use restive::data::maternal::{CHANNELS, LANGUAGES, PHONE_OWNERS};
use restive::report::number::fixed;
use restive::report::table::{Cell, Column, Row as Line, Table};
use restive::report::{Bars, Block, Chart, Interval, Section, bars};
use restive::statistics::median;

pub(crate) const EXPERIMENT: Experiment = Experiment {
    name: "selection",
    axis: None,
    units: |asked| {
        let mut units = comparison::units(asked);
        units.retain(|unit| unit.domain == DOMAIN);
        units
    },
    compute: comparison::compute,
    owns: |row| {
        let of = ["mean:", "share:", "p:"];
        ["people", "both"].contains(&row.metric.as_str()) || of.iter().any(|of| row.metric.starts_with(of))
    },
    show,
};

const DOMAIN: &str = "maternal";

fn show(_: &Settings, rows: &[Row]) -> Shown {
    let pairs: Vec<[&str; 2]> =
        PAIRS.into_iter().filter(|methods| !of(rows, &pair(*methods), "both").is_empty()).collect();
    let chart = chart(rows, &pairs);
    let lines = |lines: &[(&str, String, String)]| -> Vec<Line> {
        lines.iter().map(|(name, metric, p)| line(rows, &pairs, name, metric, p)).collect()
    };
    let continuous: Vec<_> =
        NUMBERS.iter().map(|name| (*name, format!("mean:{name}"), format!("p:{name}"))).collect();
    let mut categorical = vec![
        ("income, rupees a month", "mean:income".to_string(), "p:income".to_string()),
        ("education, level 1 to 7", "mean:education".into(), "p:education".into()),
        ("stage: has given birth", "share:stage=delivered".into(), "p:stage=delivered".into()),
    ];
    let share =
        |feature: &str, label: &str| (format!("share:{feature}={label}"), format!("p:{feature}={label}"));
    let titles: Vec<(String, (String, String))> = (LANGUAGES[..2].iter().map(|l| ("language", l)))
        .chain(PHONE_OWNERS.iter().map(|l| ("phone owner", l)))
        .chain(CHANNELS[..2].iter().map(|l| ("enrolment channel", l)))
        .map(|(feature, label)| (format!("{feature}: {label}"), share(feature, label)))
        .collect();
    categorical.extend(titles.iter().map(|(title, (metric, p))| (title.as_str(), metric.clone(), p.clone())));
    let stages: Vec<(String, (String, String))> = (STAGES.iter().map(|l| ("stage", l)))
        .chain(TRIMESTERS.iter().map(|l| ("gestation", l)))
        .chain(POVERTY[..1].iter().map(|l| ("poverty line", l)))
        .map(|(feature, label)| (format!("{feature}: {label}"), share(feature, label)))
        .collect();
    let stages: Vec<_> =
        stages.iter().map(|(title, (metric, p))| (title.as_str(), metric.clone(), p.clone())).collect();
    let table = |caption: &str, decimals, these: &[(&str, String, String)]| {
        Block::Table(Table {
            caption: format!("{caption}: medians over the runs of means or shares and of p-values"),
            columns: columns(&pairs, decimals),
            rows: lines(these),
        })
    };
    let blocks = vec![
        text(
            "These people are synthetic. Nothing here says anything about real people, or about whom a method would call among them.",
        ),
        text(about(rows, &pairs)),
        table("Continuous features of the people who are called (Welch's t-test)", 2, &continuous),
        table(
            "Categorical features (chi-square tests; of income and education over all categories)",
            2,
            &categorical,
        ),
        table("Shares by stage of pregnancy, gestational age at enrolment and poverty line", 3, &stages),
        page::figure(&chart),
    ];
    Shown {
        section: Section {
            heading: "Who is called: synthetic people, no claim about real ones".into(),
            blocks,
        },
        figure: (chart, Some(2)),
        text: words(rows, &pairs),
    }
}

fn of(rows: &[Row], method: &str, metric: &str) -> Vec<f64> {
    values(rows, DOMAIN, method, metric)
}

fn middle(rows: &[Row], method: &str, metric: &str) -> f64 {
    median(&of(rows, method, metric)).unwrap_or(f64::NAN)
}

fn about(rows: &[Row], pairs: &[[&str; 2]]) -> String {
    let runs = runs(rows);
    let said: Vec<String> = (pairs.iter())
        .map(|methods| {
            let [first, second] = methods.map(|method| middle(rows, method, "people"));
            let both = 100.0 * middle(rows, &pair(*methods), "both");
            let [name, other] = methods;
            format!("{name} calls {first:.0} people and {other} {second:.0}; {both:.0} % of the former are called by the latter too")
        })
        .collect();
    format!(
        "{runs} runs. In each, the strict policy of every method is deployed once for seven weeks on the test groups, on the true \
         transitions, from the logged first states and with the same luck. A person counts once, however often called: {}. Every run has a \
         table and tests of its own, of which medians over the runs are shown: all runs thrown together would be a sample of a size that \
         no programme has. Which features matter is drawn anew in every run, so no direction can be expected over the runs, and the paper's \
         (earlier in pregnancy, fewer who have given birth) cannot be confirmed or refuted; what can be seen is how often the methods \
         differ. Gestational age is that at enrolment: the first trimester ends with week 13, the second with week 27.",
        said.join("; ")
    )
}

fn columns(pairs: &[[&str; 2]], decimals: usize) -> Vec<Column> {
    let mut columns = vec![Column::text("feature")];
    for [focused, first] in pairs {
        columns.extend([*first, *focused].map(|method| Column::number(method, decimals)));
        columns.extend([Column::text("p"), Column::number("% of runs with p < 0.05", 0)]);
    }
    columns.push(Column::number(EVERYONE, decimals));
    columns
}

fn line(rows: &[Row], pairs: &[[&str; 2]], name: &str, metric: &str, p: &str) -> Line {
    let mut cells = vec![Cell::text(name)];
    for [focused, first] in pairs {
        cells.extend([*first, *focused].map(|method| Cell::Number(middle(rows, method, metric))));
        let p = of(rows, &pair([focused, first]), p);
        let below = p.iter().filter(|p| **p < 0.05).count();
        cells.push(Cell::text(p_value(median(&p).ok())));
        cells.push(Cell::Number(100.0 * below as f64 / p.len() as f64));
    }
    cells.push(Cell::Number(middle(rows, EVERYONE, metric)));
    Line::new(cells)
}

/// Shares with the middle half of the runs.
fn chart(rows: &[Row], pairs: &[[&str; 2]]) -> Chart {
    let methods: Vec<&str> = pairs.iter().flat_map(|[focused, first]| [*first, *focused]).collect();
    let panel = |(title, metric): (&str, &str)| {
        let row = |method: &&str| bars::Row {
            name: method.to_string(),
            ink: ink(method),
            value: halves(&of(rows, method, metric)),
        };
        let rows = methods.iter().chain(&["oracle", EVERYONE]).map(row).collect();
        bars::Panel {
            title: title.into(),
            label: "% of the people called".into(),
            base: Some(0.0),
            groups: vec![bars::Group { name: String::new(), rows, references: Vec::new() }],
        }
    };
    let panels = [
        ("has given birth", "share:stage=delivered"),
        ("enrolled in the first trimester", "share:gestation=first trimester"),
        ("enrolled in the third trimester", "share:gestation=third trimester"),
        ("below the poverty line", "share:poverty line=below"),
    ];
    Chart::Bars(Bars {
        title: "Who is called (synthetic people): median and middle half of the runs".into(),
        panels: panels.map(panel).into(),
    })
}

/// Median and quartiles, in percent.
fn halves(values: &[f64]) -> Interval {
    let mut sorted: Vec<f64> = values.iter().map(|value| 100.0 * value).collect();
    sorted.sort_by(f64::total_cmp);
    let Ok(middle) = median(&sorted) else { return Interval::bare(f64::NAN) };
    let at = |share: f64| {
        let place = share * (sorted.len() - 1) as f64;
        let (low, part) = (place.floor() as usize, place.fract());
        sorted[low] + part * (sorted[(low + 1).min(sorted.len() - 1)] - sorted[low])
    };
    match sorted.len() {
        1 => Interval::bare(middle),
        _ => Interval::new(middle, at(0.25), at(0.75)),
    }
}

fn words(rows: &[Row], pairs: &[[&str; 2]]) -> String {
    let methods: Vec<&str> = names(rows, |row| &row.method)
        .into_iter()
        .filter(|method| !pairs.iter().any(|methods| pair(*methods) == *method))
        .collect();
    let mut out = format!("who is called (synthetic people), medians over the runs\n{:<30}", "");
    let shown = [
        ("people", "people"),
        ("age", "mean:age"),
        ("weeks", "mean:weeks pregnant at enrolment"),
        ("delivered", "share:stage=delivered"),
        ("poor", "share:poverty line=below"),
    ];
    shown.iter().for_each(|(name, _)| out += &format!("{name:>12}"));
    for method in methods {
        out += &format!("\n{method:<30}");
        shown
            .iter()
            .for_each(|(_, metric)| out += &format!("{:>12}", fixed(middle(rows, method, metric), 2)));
    }
    out + "\n"
}
