//! Pages and charts, read back as XML: what a reader will see, whatever the data and the names.

use proptest::prelude::*;
use restive_report::axis::Scale;
use restive_report::table::{Cell, Column, Row};
use restive_report::{
    Axis, Bars, Block, Chart, Curves, Distribution, Fact, Ink, Interval, Page, Section, Table, bars, curves,
    distribution,
};
use roxmltree::{Document, ParsingOptions};

const NASTY: &str = "<script>alert(\"x\")</script> & 'quoted' ]]> \u{0}\u{b}\u{1f}\u{ffff} --> ${1}";
const NAMESPACE: &str = "http://www.w3.org/2000/svg";

fn curves(name: &str, points: &[(f64, Interval)], scale: Scale) -> Chart {
    let line = |ink| curves::Line {
        name: name.into(),
        ink,
        points: points.to_vec(),
        continued: points.iter().map(|p| (p.0 * 2.0, p.1.value)).collect(),
    };
    let axis = || Axis { label: name.into(), scale };
    let panel = || curves::Panel {
        title: name.into(),
        x: axis(),
        y: axis(),
        lines: Ink::ALL.into_iter().map(line).collect(),
    };
    Chart::Curves(Curves { title: name.into(), panels: vec![panel(), panel(), panel(), panel()] })
}

fn bars(name: &str, values: &[Interval], base: Option<f64>) -> Chart {
    let row = |value: &Interval| bars::Row { name: name.into(), ink: Ink::Blue, value: *value };
    let group = || bars::Group { name: name.into(), rows: values.iter().map(row).collect() };
    let panel =
        || bars::Panel { title: name.into(), label: name.into(), base, groups: vec![group(), group()] };
    Chart::Bars(Bars { title: name.into(), panels: vec![panel(), panel()] })
}

fn distribution(name: &str, numbers: &[f64]) -> Chart {
    let sample = |ink| distribution::Sample { name: name.into(), ink, numbers: numbers.to_vec() };
    let samples = vec![sample(Ink::Blue), sample(Ink::Black)];
    let panel = distribution::Panel { title: name.into(), label: name.into(), samples };
    Chart::Distribution(Distribution { title: name.into(), panels: vec![panel] })
}

/// Every kind of chart over the same numbers.
fn charts(name: &str, numbers: &[f64]) -> Vec<Chart> {
    let values: Vec<Interval> = numbers.iter().map(|x| Interval::new(*x, x - 1.0, x + 1.0)).collect();
    let points: Vec<(f64, Interval)> = values.iter().enumerate().map(|(k, v)| (k as f64 + 1.0, *v)).collect();
    vec![
        curves(name, &points, Scale::Linear),
        curves(name, &points, Scale::Log),
        bars(name, &values, None),
        bars(name, &values, Some(0.0)),
        distribution(name, numbers),
    ]
}

fn page(name: &str, numbers: &[f64]) -> Page {
    let cell = |x: &f64| {
        Row::highlighted(vec![Cell::text(name), Cell::Number(*x), Cell::Estimate(Interval::bare(*x))])
    };
    let table = Table {
        caption: name.into(),
        columns: vec![Column::text(name), Column::number(name, 2), Column::number(name, 1)],
        rows: numbers.iter().map(cell).collect(),
    };
    let figure = |chart| Block::Figure { chart, caption: name.into() };
    let words = || name.to_string();
    let mut blocks: Vec<Block> = charts(name, numbers).into_iter().map(figure).collect();
    blocks.extend([
        Block::Text(words()),
        Block::Note(words()),
        Block::Command(words()),
        Block::Facts(vec![Fact { value: words(), name: words() }]),
        Block::Beside(vec![Block::Text(words()), Block::Table(table.clone())]),
        Block::Table(table),
    ]);
    let section = Section { heading: words(), blocks };
    Page { title: words(), verdict: words(), sections: vec![section], footer: words() }
}

fn read(text: &str) -> Document<'_> {
    let options = ParsingOptions { allow_dtd: true, ..ParsingOptions::default() };
    Document::parse_with_options(text, options).unwrap_or_else(|e| panic!("{e}"))
}

/// The words that are drawn.
fn drawn(document: &Document<'_>) -> Vec<String> {
    let texts =
        document.descendants().filter(|n| n.has_tag_name("text") || n.has_tag_name((NAMESPACE, "text")));
    texts.map(|n| n.text().unwrap_or("").to_string()).collect()
}

/// That a file holds no number that is none, and fetches nothing.
fn assert_sound(text: &str) {
    let document = read(text);
    for node in document.descendants().filter(|n| n.is_element()) {
        let tag = node.tag_name().name();
        assert!(
            !["script", "img", "iframe", "object", "foreignObject", "use", "image"].contains(&tag),
            "<{tag}>"
        );
        for attribute in node.attributes() {
            let (name, value) = (attribute.name(), attribute.value());
            assert!(!name.starts_with("on") && name != "src" && name != "style", "{name}={value}");
            assert!(name != "href" || value == "data:,", "{name}={value}");
            if ["d", "x", "y", "width", "height", "viewBox", "transform", "points"].contains(&name) {
                assert!(!value.contains("NaN") && !value.contains("inf"), "{name}={value}");
            }
            if ["width", "height"].contains(&name) && !value.ends_with('%') {
                assert!(value.parse::<f64>().unwrap() >= 0.0, "{name}={value}");
            }
        }
    }
    assert!(!text.replace(NAMESPACE, "").contains("://"), "an address");
    for word in ["url(", "@import", "javascript:"] {
        assert!(!text.contains(word), "{word}");
    }
}

#[test]
fn nasty_names_are_shown_and_never_obeyed() {
    let page = page(NASTY, &[1.0, 2.0, 4.0]);
    let html = page.html();
    assert_sound(&html);
    let document = read(&html);
    let shown: String =
        document.descendants().filter(|n| n.has_tag_name("h2")).filter_map(|n| n.text()).collect();
    let (begin, _) = NASTY.split_once('\u{0}').unwrap();
    assert!(shown.starts_with(begin), "{shown}");
    let heading = document.descendants().find(|n| n.attribute("scope") == Some("row")).unwrap();
    assert!(heading.text().unwrap().starts_with(begin));
    for chart in charts(NASTY, &[1.0, 2.0, 4.0]) {
        assert_sound(&chart.svg());
    }
}

#[test]
fn what_is_not_a_number_is_left_out_and_said() {
    let (nan, inf) = (f64::NAN, f64::INFINITY);
    for numbers in [&[][..], &[nan], &[nan, inf, -inf]] {
        for chart in charts("empty", numbers) {
            let svg = chart.svg();
            assert_sound(&svg);
            assert!(drawn(&read(&svg)).iter().any(|t| t == "no data"), "{numbers:?}: {svg}");
        }
        assert_sound(&page("empty", numbers).html());
    }
    let some = [1.0, nan, 3.0, inf, 5.0, f64::MAX, f64::MIN_POSITIVE, 0.0, -2.0];
    for chart in charts("some", &some) {
        assert_sound(&chart.svg());
    }
    let svg = distribution("some", &some).svg();
    assert!(drawn(&read(&svg)).iter().any(|t| t.starts_with("n = 6 of 9")), "{svg}");
    let empty = Table { caption: "c".into(), columns: vec![Column::text("a")], rows: vec![] };
    assert!(empty.html().contains("no data"));
    for chart in [
        Chart::Curves(Curves { title: "t".into(), panels: vec![] }),
        Chart::Distribution(Distribution { title: "t".into(), panels: vec![] }),
    ] {
        assert!(chart.svg().contains("no data"));
    }
}

#[test]
fn a_line_breaks_where_a_number_is_missing() {
    let point = |x: f64, y: f64| (x, Interval::bare(y));
    let points = [point(0.0, 1.0), point(1.0, 2.0), point(2.0, f64::NAN), point(3.0, 4.0), point(4.0, 1.0)];
    let line = curves::Line { name: "a".into(), ink: Ink::Green, points: points.to_vec(), continued: vec![] };
    let panel =
        curves::Panel { title: "".into(), x: Axis::linear("x"), y: Axis::linear("y"), lines: vec![line] };
    let svg = Chart::Curves(Curves { title: "t".into(), panels: vec![panel] }).svg();
    let document = read(&svg);
    let of = |class: &str| document.descendants().filter(|n| n.attribute("class") == Some(class)).count();
    assert_eq!(of("line"), 2 + 1, "two stretches and the legend");
    assert_eq!(of("mark"), 4 + 1, "a shape for each number that is there, and the legend");
    assert_eq!(of("band"), 0, "no interval, no band");
}

#[test]
fn a_row_is_drawn_where_its_number_says() {
    let values = [10.0, 20.0, 15.0].map(|x| Interval::new(x, x - 1.0, x + 2.0));
    let rows: Vec<bars::Row> =
        values.iter().map(|value| bars::Row { name: "r".into(), ink: Ink::Purple, value: *value }).collect();
    let group = bars::Group { name: "".into(), rows };
    let panel = bars::Panel { title: "".into(), label: "".into(), base: None, groups: vec![group] };
    let svg = Chart::Bars(Bars { title: "".into(), panels: vec![panel] }).svg();
    let document = read(&svg);
    let marks: Vec<f64> = document
        .descendants()
        .filter(|n| n.attribute("class") == Some("mark"))
        .map(|n| {
            let place = n.attribute("transform").unwrap().trim_start_matches("translate(");
            place.split(' ').next().unwrap().parse().unwrap()
        })
        .collect();
    // coordinates have one decimal
    assert!((marks[2] - (marks[0] + marks[1]) / 2.0).abs() <= 0.11, "{marks:?}");
    let unit = (marks[1] - marks[0]) / 10.0;
    let whisker = document.descendants().find(|n| n.attribute("class") == Some("whisker")).unwrap();
    let ends: Vec<f64> = whisker.attribute("d").unwrap()[1..]
        .split('L')
        .map(|p| p.split(' ').next().unwrap().parse().unwrap())
        .collect();
    assert!((marks[0] - ends[0] - unit).abs() <= 0.11 && (ends[1] - marks[0] - 2.0 * unit).abs() <= 0.11);
}

#[test]
fn histograms_count_every_number_once() {
    // 60 numbers in [0, 1), 40 in [3, 4): bins of width 0.2 over [0, 4): heights by the outline
    let numbers: Vec<f64> =
        (0..60).map(|k| f64::from(k) / 60.0).chain((0..40).map(|k| 3.0 + f64::from(k) / 40.0)).collect();
    let svg = distribution("d", &numbers).svg();
    let document = read(&svg);
    let area = document.descendants().find(|n| n.attribute("class") == Some("area")).unwrap();
    let outline: Vec<[f64; 2]> = area.attribute("d").unwrap()[1..]
        .trim_end_matches('Z')
        .split('L')
        .map(|p| p.split_once(' ').map(|(x, y)| [x.parse().unwrap(), y.parse().unwrap()]).unwrap())
        .collect();
    let floor = outline[0][1];
    let area: Vec<(f64, f64)> = outline[1..outline.len() - 1]
        .chunks(2)
        .map(|top| ((top[0][0] + top[1][0]) / 2.0, (top[1][0] - top[0][0]) * (floor - top[0][1])))
        .collect();
    let middle = (outline[0][0] + outline[outline.len() - 1][0]) / 2.0;
    let whole: f64 = area.iter().map(|a| a.1).sum();
    let left: f64 = area.iter().filter(|a| a.0 < middle).map(|a| a.1).sum();
    assert!(
        (left / whole - 0.6).abs() < 0.01,
        "{left} of {whole}: one decimal in heights of some fifty units"
    );
}

#[test]
fn charts_speak_to_readers_who_do_not_see_them() {
    let html = page("a name", &[348.35, 2.0]).html();
    let document = read(&html);
    let charts: Vec<_> = document.descendants().filter(|n| n.has_tag_name("svg")).collect();
    assert_eq!(charts.len(), 10, "five charts, each for a desk and for a phone");
    for chart in charts {
        assert_eq!(chart.attribute("role"), Some("img"));
        assert_eq!(chart.attribute("aria-label"), Some("a name"));
        let told = chart.children().find(|n| n.has_tag_name("desc")).unwrap().text().unwrap();
        assert!(told.contains("a name") && (told.contains("348.4") || told.contains("175.2")), "{told}");
    }
    assert_eq!(document.root_element().attribute("lang"), Some("en"));
    for cell in document.descendants().filter(|n| n.has_tag_name("th")) {
        assert!(["row", "col"].contains(&cell.attribute("scope").unwrap()));
    }
}

#[test]
fn a_chart_of_its_own_spells_out_its_colours() {
    for chart in charts("a", &[1.0, 3.0]) {
        let svg = chart.svg();
        assert!(!svg.contains("var(") && svg.starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\""));
    }
}

/// Where the panels of a chart stand: the places of their outermost groups.
fn places(svg: &str) -> Vec<[f64; 2]> {
    let document = read(svg);
    let sheet = document.root_element().children().find(|n| n.has_tag_name((NAMESPACE, "g"))).unwrap();
    let place = |n: roxmltree::Node<'_, '_>| {
        let moved = n.attribute("transform")?.strip_prefix("translate(")?.trim_end_matches(')');
        moved.split_once(' ').map(|(x, y)| [x.parse().unwrap(), y.parse().unwrap()])
    };
    sheet.children().filter_map(place).collect()
}

#[test]
fn a_grid_has_as_many_panels_in_a_row_as_it_is_told() {
    let row = |name: &str| bars::Row { name: name.into(), ink: Ink::Blue, value: Interval::bare(1.0) };
    let panel = |k: usize, names: [&str; 2]| bars::Panel {
        title: format!("domain {}: a metric with a name that is rather long {k}", k / 5),
        label: "reward".into(),
        base: None,
        groups: vec![bars::Group { name: String::new(), rows: names.map(row).into() }],
    };
    let grid = |other: &str| {
        let panels =
            (0..20).map(|k| panel(k, ["two-stage", if k == 7 { other } else { "oracle" }])).collect();
        Chart::Bars(Bars { title: "t".into(), panels }).svg_in_columns(5)
    };
    // the same rows everywhere: four rows, each with its names and five panels, all as far apart
    let svg = grid("oracle");
    let found = places(&svg);
    assert_eq!(found.len(), 4 * 6);
    for row in found.chunks(6) {
        assert!(row.iter().all(|place| place[1] == row[0][1]) && row[0][0] == 0.0, "{row:?}");
        let steps: Vec<f64> = row[1..].windows(2).map(|w| w[1][0] - w[0][0]).collect();
        assert!(
            steps.iter().all(|step| (step - steps[0]).abs() < 0.21),
            "{steps:?}: coordinates have one decimal"
        );
        assert_eq!(row[1][0], found[1][0]);
    }
    let document = read(&svg);
    assert_eq!(drawn(&document).iter().filter(|t| *t == "two-stage").count(), 4);
    let marks: Vec<&str> = document
        .descendants()
        .filter(|n| n.attribute("class") == Some("mark"))
        .map(|n| n.attribute("transform").unwrap().trim_end_matches(')').split_once(' ').unwrap().1)
        .collect();
    assert!(marks[..10].chunks(2).all(|pair| pair == &marks[..2]), "{marks:?}");
    // another name in one panel: each has its own
    let svg = grid("another");
    assert_eq!(places(&svg).len(), 20);
    assert_eq!(drawn(&read(&svg)).iter().filter(|t| *t == "two-stage").count(), 20);
    for chart in charts("some", &[1.0, 3.0]).iter().chain(&charts("none", &[])) {
        for columns in 0..6 {
            assert_sound(&chart.svg_in_columns(columns));
        }
    }
}

#[test]
fn a_thousand_epochs_cost_little_more_than_fifty() {
    let of = |n: u32| {
        let points: Vec<_> = (0..n)
            .map(|k| f64::from(k) / f64::from(n))
            .map(|x| (x, Interval::new((-5.0 * x).exp(), (-5.0 * x).exp() - 0.1, (-5.0 * x).exp() + 0.1)))
            .collect();
        curves("c", &points, Scale::Linear).svg().len()
    };
    assert!(of(5000) < 2 * of(50), "{} {}", of(5000), of(50));
}

#[test]
fn labels_of_a_logarithmic_axis_tell_their_numbers() {
    let labels = |from: f64, to: f64| {
        let points = [(from, Interval::bare(from)), (to, Interval::bare(to))];
        drawn(&read(&curves("c", &points, Scale::Log).svg()))
    };
    let wide = labels(1e-4, 1e4);
    for label in ["10⁻⁴", "10⁰", "10⁴"] {
        assert!(wide.iter().any(|t| t == label), "{label}: {wide:?}");
    }
    let narrow = labels(0.01, 1e4);
    for label in ["0.01", "1", "10,000"] {
        assert!(narrow.iter().any(|t| t == label), "{label}: {narrow:?}");
    }
    assert!(!wide.iter().chain(&narrow).any(|t| t == "0.000" || t == "1.00"), "{wide:?} {narrow:?}");
}

proptest! {
    /// Whatever the numbers and the names: well-formed, no NaN in the drawing, the same bytes again.
    #[test]
    fn every_page_is_sound(numbers in prop::collection::vec(prop_oneof![any::<f64>(), -5.0..5.0f64], 0..12), name in ".{0,60}") {
        prop_assume!(!name.contains("://") && !name.contains("url(") && !name.contains("@import"));
        let page = page(&name, &numbers);
        let html = page.html();
        assert_sound(&html);
        prop_assert_eq!(html, page.html());
        for chart in charts(&name, &numbers) {
            assert_sound(&chart.svg());
        }
    }
}
