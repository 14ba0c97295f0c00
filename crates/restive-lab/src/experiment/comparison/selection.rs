//! `selection`: who is called by each method on the maternal domain, in the layout of the paper's two tables, and by stage of
//! pregnancy, gestational age and poverty line. The runs are those of the [comparison](super).

use super::called::PAIRS;
use super::{compute, units};
use crate::experiment::page::{aligned, figure, p_value, text};
use crate::experiment::rows::{Key, Row, distinct, runs, values};
use crate::experiment::units::Settings;
use crate::experiment::{Experiment, Shown};
use crate::people::{NUMBERS, POVERTY, STAGES, TRIMESTERS};
use crate::{Method, Metric, Regime};
use restive::data::maternal::{CHANNELS, LANGUAGES, PHONE_OWNERS};
use restive::statistics::median;
use restive_report::number::fixed;
use restive_report::table::{Cell, Column, Row as Line, Table};
use restive_report::{Bars, Block, Chart, Interval, Section, bars};

pub(crate) const EXPERIMENT: Experiment = Experiment {
    name: "selection",
    axis: None,
    units: |asked| {
        let mut units = units(asked);
        units.retain(|unit| unit.regime == Regime::Maternal);
        units
    },
    compute,
    owns: |key| {
        use Metric::{Both, Mean, P, People, Share};
        matches!(key.metric, People | Both | Mean(_) | Share(..) | P(..))
    },
    show,
};

/// A pair of methods under its name.
type Pair = (Method, [Method; 2]);

fn show(_: &Settings, rows: &[Row]) -> Shown {
    let pairs: Vec<Pair> =
        PAIRS.into_iter().filter(|(pair, _)| !numbers(rows, *pair, Metric::Both).is_empty()).collect();
    let chart = chart(rows, &pairs);
    let table = |caption: &str, decimals, features: Vec<(String, Metric, Metric)>| {
        Block::Table(Table {
            caption: format!("{caption}: medians over the runs of means or shares and of p-values"),
            columns: columns(&pairs, decimals),
            rows: features.into_iter().map(|feature| line(rows, &pairs, feature)).collect(),
        })
    };
    let mean = |feature: &'static str, title: &str| {
        (title.to_string(), Metric::Mean(feature), Metric::P(feature, None))
    };
    let share = |feature: &'static str, label: &'static str, title: String| {
        (title, Metric::Share(feature, label), Metric::P(feature, Some(label)))
    };
    let each = |feature: &'static str, labels: &[&'static str]| {
        labels.iter().map(|label| share(feature, label, format!("{feature}: {label}"))).collect::<Vec<_>>()
    };
    let blocks = vec![
        text(
            "These people are synthetic. Nothing here says anything about real people, or about whom a method would call among them.",
        ),
        text(about(rows, &pairs)),
        table(
            "Continuous features of the people who are called (Welch's t-test)",
            2,
            NUMBERS.map(|name| mean(name, name)).into(),
        ),
        table(
            "Categorical features (chi-square tests; of income and education over all categories)",
            2,
            [
                vec![
                    mean("income", "income, rupees a month"),
                    mean("education", "education, level 1 to 7"),
                    share("stage", STAGES[1], "stage: has given birth".into()),
                ],
                each("language", &LANGUAGES[..2]),
                each("phone owner", &PHONE_OWNERS),
                each("enrolment channel", &CHANNELS[..2]),
            ]
            .concat(),
        ),
        table(
            "Shares by stage of pregnancy, gestational age at enrolment and poverty line",
            3,
            [each("stage", &STAGES), each("gestation", &TRIMESTERS), each("poverty line", &POVERTY[..1])]
                .concat(),
        ),
        figure(&chart),
    ];
    Shown {
        section: Section {
            heading: "Who is called: synthetic people, no claim about real ones".into(),
            blocks,
        },
        figure: (chart, Some(2)),
        text: words(rows),
    }
}

fn numbers(rows: &[Row], method: Method, metric: Metric) -> Vec<f64> {
    values(rows, Key::new(Regime::Maternal, method, metric))
}

fn middle(rows: &[Row], method: Method, metric: Metric) -> f64 {
    median(&numbers(rows, method, metric)).unwrap_or(f64::NAN)
}

fn about(rows: &[Row], pairs: &[Pair]) -> String {
    let runs = runs(rows);
    let said: Vec<String> = (pairs.iter())
        .map(|(pair, methods)| {
            let [first, second] = methods.map(|method| middle(rows, method, Metric::People));
            let both = 100.0 * middle(rows, *pair, Metric::Both);
            let [name, other] = methods.map(Method::name);
            format!("{name} calls {first:.0} people and {other} {second:.0}; {both:.0} % of the former are called by the latter too")
        })
        .collect();
    format!(
        "{runs} runs. In each, the strict policy of every method is deployed once for seven weeks on the test groups, on the true \
         transitions, from the logged first states and with the same noise. A person counts once, however often called: {}. Every run has a \
         table and tests of its own, of which medians over the runs are shown: all runs thrown together would be a sample of a size that \
         no programme has. Which features matter is drawn anew in every run, so no direction can be expected over the runs, and the paper's \
         (earlier in pregnancy, fewer who have given birth) cannot be confirmed or refuted; what can be seen is how often the methods \
         differ. Gestational age is that at enrolment: the first trimester ends with week 13, the second with week 27.",
        said.join("; ")
    )
}

fn columns(pairs: &[Pair], decimals: usize) -> Vec<Column> {
    let mut columns = vec![Column::text("feature")];
    for (_, [focused, first]) in pairs {
        columns.extend([first, focused].map(|method| Column::number(method.name(), decimals)));
        columns.extend([Column::text("p"), Column::number("% of runs with p < 0.05", 0)]);
    }
    columns.push(Column::number(Method::Everyone.name(), decimals));
    columns
}

fn line(rows: &[Row], pairs: &[Pair], (title, metric, p): (String, Metric, Metric)) -> Line {
    let mut cells = vec![Cell::text(title)];
    for (pair, [focused, first]) in pairs {
        cells.extend([first, focused].map(|method| Cell::Number(middle(rows, *method, metric))));
        let p = numbers(rows, *pair, p);
        let below = p.iter().filter(|p| **p < 0.05).count();
        cells.push(Cell::text(p_value(median(&p).ok())));
        cells.push(Cell::Number(100.0 * below as f64 / p.len() as f64));
    }
    cells.push(Cell::Number(middle(rows, Method::Everyone, metric)));
    Line::new(cells)
}

/// Shares with the middle half of the runs.
fn chart(rows: &[Row], pairs: &[Pair]) -> Chart {
    let mut methods: Vec<Method> =
        pairs.iter().flat_map(|(_, [focused, first])| [*first, *focused]).collect();
    methods.extend([Method::Oracle, Method::Everyone]);
    let panel = |(title, metric): (&str, Metric)| {
        let row = |method: &Method| bars::Row {
            name: method.name().into(),
            ink: method.ink(),
            value: halves(&numbers(rows, *method, metric)),
        };
        let rows = methods.iter().map(row).collect();
        bars::Panel {
            title: title.into(),
            label: "% of the people called".into(),
            base: Some(0.0),
            groups: vec![bars::Group { name: String::new(), rows }],
        }
    };
    let panels = [
        ("has given birth", Metric::Share("stage", STAGES[1])),
        ("enrolled in the first trimester", Metric::Share("gestation", TRIMESTERS[0])),
        ("enrolled in the third trimester", Metric::Share("gestation", TRIMESTERS[2])),
        ("below the poverty line", Metric::Share("poverty line", POVERTY[0])),
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

fn words(rows: &[Row]) -> String {
    let shown = [
        ("people", Metric::People),
        ("age", Metric::Mean("age")),
        ("weeks", Metric::Mean("weeks pregnant at enrolment")),
        ("delivered", Metric::Share("stage", STAGES[1])),
        ("poor", Metric::Share("poverty line", POVERTY[0])),
    ];
    let mut out = String::from("who is called (synthetic people), medians over the runs\n");
    out += &aligned("", 30, shown.map(|(name, _)| name.into()), 12);
    let is_pair = |method: &Method| PAIRS.iter().any(|(pair, _)| pair == method);
    for method in distinct(rows, |key| key.method).into_iter().filter(|method| !is_pair(method)) {
        let cells = shown.map(|(_, metric)| fixed(middle(rows, method, metric), 2));
        out += &format!("\n{}", aligned(method.name(), 30, cells, 12));
    }
    out + "\n"
}
