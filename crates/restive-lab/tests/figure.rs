//! Charts of every kind, drawn as files: letters are outlines, none touch, and the same chart gives the same bytes.

use restive_lab::figure::{parse, write};
use restive_report::{Axis, Bars, Chart, Curves, Distribution, Ink, Interval, bars, curves, distribution};
use resvg::tiny_skia;
use resvg::usvg::{self, Group, Node, Rect};
use std::path::Path;

const METHODS: [&str; 8] = [
    "no-action",
    "random",
    "two-stage",
    "decision-focused",
    "two-stage, recommended",
    "decision-focused, recommended",
    "decision-focused, strict objective, warm start",
    "oracle",
];
const DOMAINS: [&str; 4] = ["two-state", "five-state", "collapsing", "programme-like"];
const METRICS: [(&str, &str, f64); 5] = [
    ("loss", "nats per trajectory", 431.2),
    ("is", "reward, soft policy as published", 348.4),
    ("simulated", "reward, soft policy", 341.7),
    ("strict_simulated", "reward, strict policy", 0.0123),
    ("strict_true", "reward, strict policy in the true chain", 1_269_000.0),
];

fn ink(k: usize) -> Ink {
    Ink::ALL[k % Ink::ALL.len()]
}

fn bars_grid() -> Chart {
    let panel = |(d, (m, metric)): (usize, (usize, &(&str, &str, f64)))| {
        let value = |k: usize| metric.2 * (1.0 + 0.02 * ((3 * k + 5 * d + 7 * m) as f64).sin());
        let row = |(k, name): (usize, &&str)| bars::Row {
            name: (*name).into(),
            ink: ink(k),
            value: Interval::new(value(k), value(k) - 0.004 * metric.2, value(k) + 0.005 * metric.2),
        };
        bars::Panel {
            title: format!("{}: {}", DOMAINS[d], metric.0),
            label: metric.1.into(),
            base: None,
            groups: vec![bars::Group {
                name: String::new(),
                rows: METHODS.iter().enumerate().map(row).collect(),
            }],
        }
    };
    let panels = (0..4).flat_map(|d| METRICS.iter().enumerate().map(move |m| (d, m))).map(panel).collect();
    Chart::Bars(Bars { title: "What each method is worth, by domain and metric".into(), panels })
}

fn curves_grid() -> Chart {
    let panel = |(d, (m, metric)): (usize, (usize, &(&str, &str, f64)))| {
        let line = |(k, name): (usize, &&str)| {
            let at =
                |x: f64| metric.2 * (1.0 + 0.3 * (-x / (4.0 + k as f64 + d as f64)).exp() + 0.02 * k as f64);
            let reach = 0.01 * metric.2 * (1.0 + m as f64);
            let point = |x: f64| (x, Interval::new(at(x), at(x) - reach, at(x) + reach));
            curves::Line {
                name: (*name).into(),
                ink: ink(k),
                points: (0..50).map(f64::from).map(point).collect(),
                continued: vec![],
            }
        };
        curves::Panel {
            title: format!("{}: {}", DOMAINS[d], metric.0),
            x: Axis::linear("epoch"),
            y: Axis::linear(metric.1),
            lines: METHODS[1..7].iter().enumerate().map(line).collect(),
        }
    };
    let panels =
        (0..4).flat_map(|d| METRICS[..3].iter().enumerate().map(move |m| (d, m))).map(panel).collect();
    Chart::Curves(Curves { title: "Learning curves, by domain and metric".into(), panels })
}

fn cost() -> Chart {
    let line = |(k, name): (usize, &&str)| {
        let at = |n: f64| 2e-6 * (1.0 + k as f64) * n.powf(1.0 + 0.25 * k as f64);
        let points = [1e2, 1e3, 1e4, 1e5].map(|n| (n, Interval::new(at(n), 0.8 * at(n), 1.25 * at(n))));
        curves::Line {
            name: (*name).into(),
            ink: ink(k),
            points: points.into(),
            continued: [1e5, 1e6, 1e7].map(|n| (n, at(n))).into(),
        }
    };
    let panel = |title: &str| curves::Panel {
        title: title.into(),
        x: Axis::log("arms"),
        y: Axis::log("seconds"),
        lines: METHODS[2..6].iter().enumerate().map(line).collect(),
    };
    let panels = vec![panel("Time to train"), panel("Time to plan")];
    Chart::Curves(Curves { title: "What it costs, measured and continued".into(), panels })
}

fn indices() -> Chart {
    let sample = |(k, name): (usize, &&str)| distribution::Sample {
        name: (*name).into(),
        ink: ink(k),
        numbers: (0..400)
            .map(|i| 0.2 * k as f64 + (f64::from(i) * 0.7).sin() * (1.0 + 0.1 * k as f64))
            .collect(),
    };
    let panel = |title: &str| distribution::Panel {
        title: title.into(),
        label: "Whittle index, discount 0.99".into(),
        samples: METHODS[2..].iter().enumerate().map(sample).collect(),
    };
    let panels = vec![panel("not engaged"), panel("engaged")];
    Chart::Distribution(Distribution { title: "How the indices are distributed".into(), panels })
}

fn gains() -> Chart {
    let row = |(k, name): (usize, &&str)| bars::Row {
        name: (*name).into(),
        ink: ink(k),
        value: Interval::new(k as f64 * 6.1 - 9.0, k as f64 * 6.1 - 12.0, k as f64 * 6.1 - 5.0),
    };
    let panel = |title: &str| bars::Panel {
        title: title.into(),
        label: "reward gained over random pulls".into(),
        base: Some(0.0),
        groups: vec![bars::Group {
            name: String::new(),
            rows: METHODS.iter().enumerate().map(row).collect(),
        }],
    };
    let panels = vec![panel("Soft policy, as published (is)"), panel("Strict policy, as deployed")];
    Chart::Bars(Bars { title: "Gain over random pulls".into(), panels })
}

/// Name, chart, columns.
fn samples() -> Vec<(&'static str, Chart, Option<usize>)> {
    vec![
        ("bars-grid", bars_grid(), Some(5)),
        ("bars-flow", bars_grid(), None),
        ("curves-grid", curves_grid(), Some(3)),
        ("cost", cost(), None),
        ("indices", indices(), None),
        ("gains", gains(), None),
        ("nothing", Chart::Bars(Bars { title: "Nothing yet".into(), panels: vec![] }), None),
    ]
}

fn svg_of(chart: &Chart, columns: Option<usize>) -> String {
    columns.map_or_else(|| chart.svg(), |columns| chart.svg_in_columns(columns))
}

/// What is drawn of every text, and the text.
fn texts(group: &Group, found: &mut Vec<(Rect, String)>) {
    for node in group.children() {
        match node {
            Node::Group(group) => texts(group, found),
            Node::Text(text) => {
                let words = text.chunks().iter().map(|chunk| chunk.text()).collect();
                found.push((text.flattened().abs_bounding_box(), words));
            }
            _ => {}
        }
    }
}

#[test]
fn no_two_labels_touch_and_none_leaves_the_sheet() {
    for (name, chart, columns) in samples() {
        let tree = parse(&svg_of(&chart, columns)).unwrap();
        let mut found = Vec::new();
        texts(tree.root(), &mut found);
        assert!(!found.is_empty(), "{name}");
        for (k, (a, words)) in found.iter().enumerate() {
            let inside =
                a.left() >= 0.0 && a.right() <= tree.size().width() && a.bottom() <= tree.size().height();
            assert!(inside, "{name}: {words} leaves the sheet: {a:?}");
            for (b, others) in &found[..k] {
                // a unit of air beside
                let apart = a.left() > b.right() + 1.0
                    || b.left() > a.right() + 1.0
                    || a.top() >= b.bottom()
                    || b.top() >= a.bottom();
                assert!(apart, "{name}: {words} and {others} touch: {a:?} {b:?}");
            }
        }
    }
}

#[test]
fn every_sample_is_outlines_and_pixels_and_twice_the_same() {
    let folders = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
    for (name, chart, columns) in samples() {
        let [(svg, png), again] = folders.each_ref().map(|folder| {
            write(&chart, columns, folder.path(), name).unwrap();
            let read = |ending| std::fs::read(folder.path().join(format!("{name}.{ending}"))).unwrap();
            (read("svg"), read("png"))
        });
        assert!((&svg, &png) == (&again.0, &again.1), "{name}: other bytes");
        let svg = String::from_utf8(svg).unwrap();
        for word in ["<text", "<tspan", "font-family", "<style", "<image"] {
            assert!(!svg.contains(word), "{name}: {word}");
        }
        let document = usvg::roxmltree::Document::parse(&svg).unwrap();
        let told = |tag| document.descendants().find(|n| n.has_tag_name(tag)).and_then(|n| n.text());
        assert_eq!(told("title"), Some(chart.title()));
        let words = document.descendants().find(|n| n.has_tag_name("desc"));
        assert!(words.is_some() && document.root_element().attribute("role") == Some("img"));

        assert!(png.starts_with(b"\x89PNG\r\n\x1a\n"), "{name}");
        let pixels = tiny_skia::Pixmap::decode_png(&png).unwrap();
        let size = |side| document.root_element().attribute(side).unwrap().parse::<u32>().unwrap();
        assert_eq!([pixels.width(), pixels.height()], [3 * size("width"), 3 * size("height")], "{name}");
        let all = pixels.pixels();
        let dark = all.iter().filter(|p| p.red() < 128).count();
        assert!(dark > 1000 && dark < all.len() / 4, "{name}: {dark} of {}", all.len());
        assert!(all.iter().all(|p| p.alpha() == 255), "{name}: paper is white, not transparent");
    }
    if let Some(keep) = std::env::var_os("RESTIVE_FIGURES") {
        for file in std::fs::read_dir(folders[0].path()).unwrap() {
            let file = file.unwrap();
            std::fs::copy(file.path(), Path::new(&keep).join(file.file_name())).unwrap();
        }
    }
}

#[test]
fn every_letter_that_charts_use_is_in_the_font() {
    let words = "0123456789−×…–∞⁰¹²³⁴⁵⁶⁷⁸⁹⁻%[](),.;:/_+=<>&'|#@→ÄÖÜßéñγπ";
    let chart = |title: &str| Chart::Bars(Bars { title: title.into(), panels: vec![] }).svg();
    let missing = |svg: &str| {
        let mut found = Vec::new();
        glyphs(parse(svg).unwrap().root(), &mut found);
        found.into_iter().filter(|(id, _)| *id == 0).map(|(_, text)| text).collect::<Vec<_>>()
    };
    assert_eq!(missing(&chart(words)), Vec::<String>::new());
    assert_eq!(missing(&chart("a \u{13000} hieroglyph")), ["\u{13000}"]);
    for (name, chart, columns) in samples() {
        assert_eq!(missing(&svg_of(&chart, columns)), Vec::<String>::new(), "{name}");
    }
}

/// The glyph of every letter; 0 is the box for a missing one.
fn glyphs(group: &Group, found: &mut Vec<(u32, String)>) {
    for node in group.children() {
        match node {
            Node::Group(group) => glyphs(group, found),
            Node::Text(text) => {
                let all = text.layouted().iter().flat_map(|span| &span.positioned_glyphs);
                found.extend(all.map(|glyph| (glyph.id.0, glyph.text.clone())));
            }
            _ => {}
        }
    }
}
