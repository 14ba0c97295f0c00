//! The report of `restive demo`: one page that tells what was compared, what came out, and why the two answers differ.

use crate::compare::Method;
use crate::compare_metrics::Metric;
use crate::demo_charts::{gains, indices, learning, reach, shifts};
use crate::demo_findings::{Findings, RECOMMENDED, Standing};
use crate::display::grouped;
use crate::plan_report::Plan;
use restive::report::number::fixed;
use restive::report::table::{Cell, Column, Row};
use restive::report::{Block, Chart, Fact, Interval, Page, Section, Table};
use std::path::Path;

/// The figure that says the most.
pub(crate) fn figure(findings: &Findings<'_>) -> Chart {
    gains(findings)
}

fn text(text: impl Into<String>) -> Block {
    Block::Text(text.into())
}

fn chart(chart: Chart, caption: impl Into<String>) -> Block {
    Block::Figure { chart, caption: caption.into() }
}

pub(crate) fn page(findings: &Findings<'_>, plan: &Plan, command: &str, out: &Path) -> Page {
    let section = |heading: &str, blocks| Section { heading: heading.into(), blocks };
    let seeds: Vec<u64> = findings.runs.iter().map(|run| run.seed).collect();
    let seeds = match &seeds[..] {
        [one] => format!("seed {one}"),
        several => format!("seeds {} to {}", several[0], several[several.len() - 1]),
    };
    Page {
        title: format!("Two-stage and decision-focused learning: the {} domain", findings.name),
        verdict: findings.verdict(),
        sections: vec![
            section("What each method is worth", worth(findings)),
            section(
                "How it was learnt",
                vec![
                    text(
                        "Both trainings as published, judged on the test instances after each epoch. A lower loss is not the same as a better decision, and a higher soft value is not either.",
                    ),
                    chart(learning(findings), bands(findings)),
                ],
            ),
            section("Why the soft metric misleads", why(findings)),
            section("Whom to pull next", whom(plan)),
            section("Do it again", again(command, out)),
        ],
        footer: format!(
            "restive {}, {} domain, {seeds}. The same command gives the same numbers, with any number of threads.",
            env!("CARGO_PKG_VERSION"),
            findings.name
        ),
    }
}

fn bands(findings: &Findings<'_>) -> &'static str {
    match findings.runs.len() {
        1 => "One run. The first ten epochs are all measured, then every fourth.",
        _ => {
            "Mean over the runs; the bands are 95 % intervals. The first ten epochs are all measured, then every fourth."
        }
    }
}

fn worth(findings: &Findings<'_>) -> Vec<Block> {
    let domain = findings.domain;
    let fact = |value: String, name: String| Fact { value, name };
    let signed = |d: Interval| format!("{}{}", if d.value > 0.0 { "+" } else { "" }, fixed(d.value, 1));
    let share = |method| fixed(findings.share(method).value, 1) + " %";
    let difference = "decision-focused minus two-stage, as published:";
    let matched = findings.matched_oracle();
    let runs = findings.runs.len();
    let intervals = match runs {
        1 => "One run: there are no intervals; several runs have them.".into(),
        _ => format!("Means over {runs} runs with 95 % intervals; differences are paired by run."),
    };
    let [soft, strict, recommended] = findings.sentences();
    vec![
        Block::Facts(vec![
            fact(signed(findings.soft_difference()), format!("{difference} published metric")),
            fact(signed(findings.strict_difference()), format!("{difference} deployed")),
            fact(share(Method::DecisionFocusedRecommended), "of the way from random to oracle, recommended".into()),
            fact(format!("{} of {}", domain.budget, domain.arms), format!("arms pulled at each of {} steps", domain.horizon)),
        ]),
        text(soft),
        text(strict),
        text(recommended),
        chart(gains(findings), format!("Reward of {} steps above that of random pulls. {intervals} Left, the soft policy judged from the log, as in the published experiments; right, the strict policy on the true transitions, as a programme would deploy it.", domain.horizon)),
        Block::Table(as_published(findings)),
        Block::Table(as_deployed(findings)),
        Block::Note(format!(
            "The oracle has indices at discount 0.99, as the published methods do. At {}, the discount of the recommended profile (1 − 1/{}), it would stand at {} %: nine steps are played, and indices for a longer game are not the best for them.",
            fixed(Method::TwoStageRecommended.index_discount(domain.horizon), 3), domain.horizon, fixed(matched.value, 1)
        ).replace("nine", &number_word(domain.horizon))),
    ]
}

fn number_word(n: usize) -> String {
    if n == 9 { "nine".into() } else { n.to_string() }
}

fn row(method: Method, cells: Vec<Interval>) -> Row {
    let cells = std::iter::once(Cell::text(method.words())).chain(cells.into_iter().map(Cell::Estimate));
    match method {
        Method::DecisionFocusedRecommended => Row::highlighted(cells.collect()),
        _ => Row::new(cells.collect()),
    }
}

fn as_published(findings: &Findings<'_>) -> Table {
    let metrics = [Metric::Loss, Metric::Is, Metric::Simulated];
    let one = |method: &Method| row(*method, metrics.map(|metric| findings.of(*method, metric)).into());
    Table {
        caption: "As published: predictive loss, and the soft policy judged from the log and on estimated transitions".into(),
        columns: vec![
            Column::text("method"),
            Column::number("loss", 1),
            Column::number("soft, is", 1),
            Column::number("soft, simulated", 1),
        ],
        rows: Method::ALL.iter().map(one).collect(),
    }
}

fn as_deployed(findings: &Findings<'_>) -> Table {
    let one = |method: &Method| {
        let base = if RECOMMENDED.contains(method) { Method::TwoStageRecommended } else { Method::TwoStage };
        let difference = match method {
            Method::DecisionFocused | Method::DecisionFocusedRecommended => {
                findings.difference(*method, base, Metric::StrictTrue)
            }
            _ => Interval::bare(f64::NAN),
        };
        row(*method, vec![findings.of(*method, Metric::StrictTrue), findings.share(*method), difference])
    };
    Table {
        caption: "As deployed: the strict policy on the true transitions".into(),
        columns: vec![
            Column::text("method"),
            Column::number("value", 1),
            Column::number("% of the way from random to oracle", 1),
            Column::number("minus two-stage of its kind", 1),
        ],
        rows: Method::ALL.iter().map(one).collect(),
    }
}

fn why(findings: &Findings<'_>) -> Vec<Block> {
    let [two_stage, through] = [0, 1].map(|k| reach(findings, k));
    let is_reached = two_stage.high >= through.value;
    let changed: usize =
        findings.runs.iter().flat_map(|run| run.shifted.iter().flatten()).map(|s| s.changed).sum();
    let compared: usize =
        findings.runs.iter().map(|run| run.decisions * run.shifted.iter().map(Vec::len).sum::<usize>()).sum();
    let spread = |method: Method| {
        let numbers = &findings.runs[0].index[method as usize - 1];
        restive::evaluation::moments(numbers).1.sqrt()
    };
    let middle = |method: Method| {
        let numbers = &findings.runs[0].index[method as usize - 1];
        restive::evaluation::moments(numbers).0
    };
    let above = findings.difference(Method::DecisionFocused, Method::Oracle, Metric::Is);
    let mut blocks = vec![
        text(
            "The soft policy pulls an arm with a probability that rises with its index; the temperature says how steeply. The published experiments take the temperature from the largest transport cost among the indices, 0.1 · max(w², (w + 1)²)/2. That depends on where the indices lie, not only on how they rank the arms. Add one constant to all indices, and the ranking stays, so every pull of the strict policy stays; but the soft policy becomes softer or stricter, and the published metric moves.",
        ),
        chart(
            shifts(findings),
            format!(
                "A constant was added to all indices of the two methods as published. The metric of two-stage learning moves between {} and {}, that of decision-focused learning between {} and {}. Of {} strict decisions compared, {} changed.",
                fixed(two_stage.low, 1),
                fixed(two_stage.high, 1),
                fixed(through.low, 1),
                fixed(through.high, 1),
                grouped(compared as u64),
                grouped(changed as u64)
            ),
        ),
    ];
    if Standing::of(above) == Standing::Ahead || is_reached {
        let mut words = String::from(
            "So a training that may place its indices as it likes can win the metric without ranking arms any better.",
        );
        if is_reached {
            words += &format!(
                " A constant alone lifts two-stage learning, with not one decision changed, from {} to {}; decision-focused learning as published has {}.",
                fixed(two_stage.value, 1),
                fixed(two_stage.high, 1),
                fixed(through.value, 1)
            );
        }
        if Standing::of(above) == Standing::Ahead {
            words += &format!(
                " It also scores {} more than the true transitions themselves: better knowledge of the arms cannot be the reason.",
                fixed(above.value, 1)
            );
        }
        blocks.push(text(words));
    }
    blocks.push(chart(indices(findings), format!(
        "Indices of the first test instance of the first run. Mean and standard deviation: true {} and {}, two-stage as published {} and {}, decision-focused as published {} and {}, recommended {} and {}.",
        fixed(middle(Method::Oracle), 2), fixed(spread(Method::Oracle), 2),
        fixed(middle(Method::TwoStage), 2), fixed(spread(Method::TwoStage), 2),
        fixed(middle(Method::DecisionFocused), 2), fixed(spread(Method::DecisionFocused), 2),
        fixed(middle(Method::DecisionFocusedRecommended), 2), fixed(spread(Method::DecisionFocusedRecommended), 2),
    )));
    blocks.push(text(format!(
        "The recommended training does without: its temperature is a share of the spread of the indices, which neither shifting nor stretching them changes, its value knows the competition for the budget, and it takes decision-focused learning only where folds of the training instances say that it pays. Here they answered {}.",
        findings.answers()
    )));
    blocks
}

fn whom(plan: &Plan) -> Vec<Block> {
    let instance = plan.plan.first().map_or("", |row| &row.instance);
    let one = |row: &crate::plan_report::Row| {
        let numbers = [f64::from(row.state), row.index, row.rank as f64, row.inclusion];
        Row::new(std::iter::once(Cell::text(&row.arm)).chain(numbers.map(Cell::Number)).collect())
    };
    let table = Table {
        caption: format!("Instance {instance} of the first run: {} arms to pull", plan.plan.len()),
        columns: vec![
            Column::text("arm"),
            Column::number("state", 0),
            Column::number("index", 3),
            Column::number("rank", 0),
            Column::number("pull probability", 3),
        ],
        rows: plan.plan.iter().map(one).collect(),
    };
    vec![
        text(
            "This is what a programme would take home: the arms whose latest state has the highest index, by the recommended decision-focused training. A pull probability below 1 means that arms tie for the last places and lots are drawn.",
        ),
        Block::Table(table),
    ]
}

fn again(command: &str, out: &Path) -> Vec<Block> {
    let file = |name: &str| out.join(name).display().to_string();
    vec![
        text("The same numbers, and what to do next with the study and the models that lie beside this page:"),
        Block::Command(format!(
            "{command} --force\nrestive plan {} {study}\nrestive evaluate {} {study}\nrestive train {study} --objective decision-focused --preset strong --out strong",
            file("decision-focused"), file("two-stage"), study = file("study")
        )),
        Block::Note("These arms are synthetic. On them the truth is known; in a programme it is not, and values come from logs, with wider intervals and with assumptions that the program names.".into()),
    ]
}
