//! The answer as a page that can be mailed.

use super::said::{Estimate, Fairness, Floor, Group, Table, Verdict};
use restive_report::bars::{Bars, Group as Rows, Panel, Row};
use restive_report::curves::{Curves, Line, Panel as CurvePanel};
use restive_report::table::{Cell, Column, Row as TableRow, Table as Printed};
use restive_report::{Axis, Block, Chart, Ink, Interval, Page, Section};

/// The page of an answer.
pub fn page(answer: &Fairness) -> Page {
    let mut read_it = vec![Block::Text(answer.read_it().join(" "))];
    read_it.extend(answer.is_withheld().then(|| Block::Text(answer.withheld())));
    let mut sections: Vec<Section> = answer.tables.iter().map(|table| section(answer, table)).collect();
    let floors: Vec<&Floor> = answer.floors.iter().filter(|floor| !floor.steps.is_empty()).collect();
    if !answer.floors.is_empty() {
        let mut blocks: Vec<Block> =
            answer.floors.iter().filter_map(Floor::sentence).map(Block::Text).collect();
        if !floors.is_empty() {
            blocks.push(Block::Figure {
                chart: curve(&floors),
                caption:
                    "What the list loses as a group is given more places; all other places still go by worth."
                        .into(),
            });
        }
        blocks.extend(floors.iter().filter(|floor| floor.is_asked).map(|floor| Block::Table(prices(floor))));
        sections.push(Section { heading: "What a floor would cost".into(), blocks });
    }
    sections.push(Section { heading: "How to read it".into(), blocks: read_it });
    if !answer.notes.is_empty() {
        let blocks = answer.notes.iter().cloned().map(Block::Note).collect();
        sections.push(Section { heading: "What should be known".into(), blocks });
    }
    Page {
        title: format!("Whom the lists served: {}", answer.about),
        verdict: answer.verdict(),
        sections,
        footer: format!("restive {}", env!("CARGO_PKG_VERSION")),
    }
}

fn section(answer: &Fairness, table: &Table) -> Section {
    let mut blocks = Vec::new();
    if table.groups.iter().any(|group| rate(group).is_some()) {
        blocks.push(Block::Figure {
            chart: picture(table),
            caption: "How often people were listed when they could have been; grey, where chance would put nineteen of twenty."
                .into(),
        });
    }
    blocks.push(Block::Table(places(table)));
    if table.has_effects() || table.has_reach() {
        blocks.push(Block::Table(needs(answer, table)));
    }
    Section { heading: format!("By {}", table.column), blocks }
}

fn rate(group: &Group) -> Option<(Estimate, Option<super::said::ByChance>)> {
    let lists = group.lists.as_ref()?;
    Some((lists.rate?, lists.by_chance))
}

fn picture(table: &Table) -> Chart {
    let percent = |of: Estimate| Interval::new(100.0 * of.value, 100.0 * of.low, 100.0 * of.high);
    let rows = |group: &Group| {
        let (found, chance) = rate(group)?;
        let ink = match chance.map(|chance| chance.verdict) {
            Some(Verdict::FewerThanChance) => Ink::Orange,
            _ => Ink::Blue,
        };
        let mut rows = vec![Row { name: "listed".into(), ink, value: percent(found) }];
        rows.extend(chance.map(|chance| {
            let [low, high] = chance.rates.map(|rate| 100.0 * rate);
            let middle = (low + high) / 2.0;
            Row { name: "by chance".into(), ink: Ink::Grey, value: Interval::new(middle, low, high) }
        }));
        Some(Rows { name: group.name.clone(), rows })
    };
    Chart::Bars(Bars {
        title: format!("Listed, by {}", table.column),
        panels: vec![Panel {
            title: String::new(),
            label: "% of the times that a call could be".into(),
            base: Some(0.0),
            groups: table.groups.iter().filter_map(rows).collect(),
        }],
    })
}

/// A number of a part: a dash where that is withheld, nothing where there is none.
fn number(of: Option<Option<f64>>) -> Cell {
    match of {
        None => Cell::Number(f64::NAN),
        Some(None) => Cell::text(""),
        Some(Some(x)) => Cell::Number(x),
    }
}

fn percent(of: Option<Option<f64>>) -> Cell {
    number(of.map(|x| x.map(|x| 100.0 * x)))
}

fn printed(
    table: &Table,
    caption: &str,
    columns: Vec<Column>,
    cells: impl Fn(&Group) -> Vec<Cell>,
) -> Printed {
    let row = |group: &Group| {
        let cells = std::iter::once(Cell::text(group.name.clone())).chain(cells(group)).collect();
        if group.is_passed_over() { TableRow::highlighted(cells) } else { TableRow::new(cells) }
    };
    let columns = std::iter::once(Column::text(table.column.clone())).chain(columns).collect();
    let rows = table.groups.iter().chain([&table.all]).map(row).collect();
    Printed { caption: caption.into(), columns, rows }
}

fn places(table: &Table) -> Printed {
    let columns = vec![
        Column::number("people", 0),
        Column::number("% of all", 0),
        Column::number("places", 0),
        Column::number("% of places", 0),
        Column::text("by chance"),
        Column::text("verdict"),
    ];
    printed(table, "Places", columns, |group| {
        let (population, lists) = (group.population.as_ref(), group.lists.as_ref());
        let chance = lists.map(|lists| lists.by_chance);
        let range = |chance: super::said::ByChance| format!("{}–{}", chance.low, chance.high);
        vec![
            number(population.map(|of| Some(of.people as f64))),
            percent(population.map(|of| of.share)),
            number(lists.map(|of| Some(of.places as f64))),
            percent(lists.map(|of| of.share)),
            Cell::text(chance.map_or("–".into(), |chance| chance.map_or(String::new(), range))),
            Cell::text(match group.verdict {
                Some(Verdict::MoreThanChance) => "more",
                Some(Verdict::FewerThanChance) => "fewer",
                Some(Verdict::AsByChance) => "as by chance",
                None if lists.is_none() => "–",
                None => "",
            }),
        ]
    })
}

fn needs(answer: &Fairness, table: &Table) -> Printed {
    let has_reach = table.has_reach();
    let has_effects = table.has_effects();
    let mut columns: Vec<Column> = has_effects.then(|| Column::number("left alone", 2)).into_iter().collect();
    columns.extend(has_reach.then(|| Column::number("% reached", 0)));
    columns.extend(has_effects.then(|| Column::number(format!("a call brings, {}", answer.unit), 2)));
    let caption = if has_effects { "Need, reach and worth" } else { "Reach" };
    printed(table, caption, columns, |group| {
        let (population, lists, reach) =
            (group.population.as_ref(), group.lists.as_ref(), group.reach.as_ref());
        let mut cells: Vec<Cell> = Vec::new();
        cells.extend(has_effects.then(|| number(population.map(|of| of.left_alone.map(|of| of.value)))));
        cells.extend(has_reach.then(|| percent(reach.map(|of| of.rate.map(|rate| rate.value)))));
        cells.extend(has_effects.then(|| number(lists.map(|of| of.worth_each.map(|of| of.value)))));
        cells
    })
}

fn curve(floors: &[&Floor]) -> Chart {
    let inks = Ink::ALL.iter().cycle();
    let line = |(floor, ink): (&&Floor, &Ink)| {
        let of = floor.of.max(1) as f64;
        let point = |places: usize, lost: f64| (100.0 * places as f64 / of, Interval::bare(lost));
        let steps = floor.steps.iter().filter_map(|step| Some(point(step.floor, step.percent?)));
        Line {
            name: format!("{} {}", floor.column, floor.group),
            ink: *ink,
            points: std::iter::once(point(floor.places, 0.0)).chain(steps).collect(),
            continued: Vec::new(),
        }
    };
    Chart::Curves(Curves {
        title: "The price of a floor".into(),
        panels: vec![CurvePanel {
            title: String::new(),
            x: Axis::linear("% of places for the group"),
            y: Axis::linear("% of the list's worth lost"),
            lines: floors.iter().zip(inks).map(line).collect(),
        }],
    })
}

fn prices(floor: &Floor) -> Printed {
    let row = |step: &super::said::FloorStep| {
        TableRow::new(vec![
            Cell::text(format!("at least {}", step.floor)),
            Cell::Number(step.lost),
            Cell::Number(step.percent.unwrap_or(f64::NAN)),
            Cell::text(step.pays()),
        ])
    };
    Printed {
        caption: format!(
            "{} {}: {} of {} places without a floor",
            floor.column, floor.group, floor.places, floor.of
        ),
        columns: vec![
            Column::text("places"),
            Column::number(format!("lost, {}", floor.unit), 2),
            Column::number("% lost", 2),
            Column::text("places of others"),
        ],
        rows: floor.steps.iter().map(row).collect(),
    }
}
