//! Words of every kind of section of a report.

use restive_report::table::{Cell, Column, Row};
use restive_report::{
    Axis, Bars, Block, Chart, Curves, Distribution, Fact, Ink, Interval, Page, Section, Table, bars, curves,
    distribution,
};
use restive_testkit::assert_page;

#[test]
fn sections_have_their_words() {
    let interval = |value: f64| Interval::new(value, value - 0.5, value + 1.0);
    let table = Table {
        caption: "Called people".into(),
        columns: vec![Column::text("place"), Column::number("people", 0), Column::number("good weeks", 2)],
        rows: vec![
            Row::new(vec![
                Cell::text("North & <West>"),
                Cell::Number(1_234.0),
                Cell::Estimate(interval(2.5)),
            ]),
            Row::highlighted(vec![
                Cell::text("South"),
                Cell::Number(f64::NAN),
                Cell::Estimate(Interval::bare(-0.125)),
            ]),
        ],
    };
    let fact = |value: &str, name: &str| Fact { value: value.into(), name: name.into() };
    let figure = |chart: Chart| vec![Block::Figure { chart, caption: "The words below the chart.".into() }];
    let line = |name: &str, ink, first: f64| curves::Line {
        name: name.into(),
        ink,
        points: vec![(1.0, interval(first)), (2.0, interval(first + 1.0))],
        continued: vec![(4.0, first + 2.0)],
    };
    let curves_panel = curves::Panel {
        title: "All people".into(),
        x: Axis::linear("calls a week"),
        y: Axis::linear("good weeks"),
        lines: vec![line("this list", Ink::Blue, 1.5), line("no list could bring more", Ink::Black, 2.5)],
    };
    let bars_row = |name: &str, ink, value| bars::Row { name: name.into(), ink, value: interval(value) };
    let bars_panel = bars::Panel {
        title: "Good weeks by rule".into(),
        label: "good weeks".into(),
        base: Some(0.0),
        groups: vec![bars::Group {
            name: "North".into(),
            rows: vec![bars_row("with the cap", Ink::Blue, 1.5), bars_row("without it", Ink::Orange, 2.5)],
        }],
    };
    let sample = |name: &str, ink, numbers: &[f64]| distribution::Sample {
        name: name.into(),
        ink,
        numbers: numbers.into(),
    };
    let distribution_panel = distribution::Panel {
        title: "Differences of seeds".into(),
        label: "good weeks".into(),
        samples: vec![
            sample("some", Ink::Blue, &[1.0, 2.0, 2.5, 4.0]),
            sample("none", Ink::Black, &[f64::NAN]),
        ],
    };
    let curves = |panels| Chart::Curves(Curves { title: "Good weeks by calls".into(), panels });
    let distribution = |panels| Chart::Distribution(Distribution { title: "Differences".into(), panels });
    let empty =
        Table { caption: "An empty table".into(), columns: vec![Column::text("place")], rows: vec![] };
    let kinds: [(&str, Vec<Block>); 6] = [
        (
            "text",
            vec![
                Block::Facts(vec![fact("98 %", "of the people"), fact("12", "weeks")]),
                Block::Heading("Heading of a part".into()),
                Block::Text("A paragraph with \"quotes\" & <brackets>.".into()),
                Block::Note("A caveat.".into()),
                Block::Command("restive plan\n  --budget 5".into()),
            ],
        ),
        (
            "tables",
            vec![
                Block::Table(table.clone()),
                Block::Beside(vec![Block::Text("left".into()), Block::Table(table)]),
            ],
        ),
        ("curves", figure(curves(vec![curves_panel]))),
        ("bars", figure(Chart::Bars(Bars { title: "Good weeks".into(), panels: vec![bars_panel] }))),
        ("distribution", figure(distribution(vec![distribution_panel]))),
        (
            "without_data",
            [vec![Block::Table(empty)], figure(curves(vec![])), figure(distribution(vec![]))].concat(),
        ),
    ];
    for (name, blocks) in kinds {
        let section = Section { heading: "Heading of the section".into(), blocks };
        assert_page!(format!("report_{name}").as_str(), &section.fragment(2));
    }
    let page = Page {
        title: "Title".into(),
        verdict: "A verdict in one sentence.".into(),
        sections: vec![Section {
            heading: "Section".into(),
            blocks: vec![Block::Text("A paragraph.".into())],
        }],
        footer: "The footer.".into(),
    };
    assert_page!("report_page", &page.html());
}
