//! The page to print, read as XML.

use crate::{HOSTILE, hostile, odd, people};
use proptest::prelude::*;
use restive_report::Page;
use restive_report::list::*;
use roxmltree::{Document, Node, ParsingOptions};

fn parsed(page: &str) -> Document<'_> {
    let options = ParsingOptions { allow_dtd: true, ..Default::default() };
    Document::parse_with_options(page, options).unwrap_or_else(|fault| panic!("{fault}\n{page}"))
}

fn text(node: Node) -> String {
    node.descendants().filter(|n| n.is_text()).filter_map(|n| n.text()).collect()
}

fn tags<'a>(node: Node<'a, 'a>, name: &'a str) -> Vec<Node<'a, 'a>> {
    node.descendants().filter(|n| n.has_tag_name(name)).collect()
}

/// Every table is a grid: all rows are equally wide, cells that reach below counted where they reach.
fn check_grids(page: &Document) {
    for table in page.descendants().filter(|n| n.has_tag_name("table")) {
        let mut widths = Vec::new();
        let mut from_above = 0;
        for row in table.descendants().filter(|n| n.has_tag_name("tr")) {
            let cells = || row.children().filter(|n| n.is_element());
            let span =
                |cell: Node, name: &str| cell.attribute(name).map_or(1, |n| n.parse::<usize>().unwrap());
            widths.push(from_above + cells().map(|cell| span(cell, "colspan")).sum::<usize>());
            from_above = cells().filter(|cell| span(*cell, "rowspan") == 2).count();
        }
        assert!(widths.iter().all(|width| *width == widths[0]), "{widths:?}");
    }
}

#[test]
fn a_section_for_each_worker_and_a_row_for_each_person() {
    let page = html(&example());
    restive_testkit::assert_page!("list_page", &page);
    assert!(Page::recognises(page.as_bytes()), "told the browser what all pages tell it");
    let page = parsed(&page);
    check_grids(&page);
    let sections = tags(page.root(), "section");
    let names: Vec<String> = sections.iter().map(|s| text(tags(*s, "bdi")[0])).collect();
    assert_eq!(names, ["Asha", "Bina", "no worker"]);
    let heads: Vec<String> = tags(tags(sections[0], "thead")[0], "th").into_iter().map(text).collect();
    assert_eq!(heads.len(), 1 + 10);
    let rows = tags(tags(sections[0], "tbody")[0], "tr");
    let cells: Vec<String> = rows[0].children().filter(|n| n.is_element()).map(text).collect();
    assert_eq!(cells.join("|"), "m-17|Invented One|9|42\u{a0}%|2026-02-03|||||");
    assert_eq!(rows.len(), 2);
    // no reason: no second row
    assert_eq!(tags(tags(sections[1], "tbody")[0], "tr").len(), 1);
    // a link for each worker leads to the section
    let links: Vec<_> =
        tags(page.root(), "a").iter().map(|a| a.attribute("href").unwrap()[1..].to_string()).collect();
    assert_eq!(links, sections.iter().map(|s| s.attribute("id").unwrap()).collect::<Vec<_>>());
}

#[test]
fn hostile_words_are_words() {
    for nasty in HOSTILE {
        let page = html(&hostile(nasty));
        let page = parsed(&page);
        check_grids(&page);
        for node in page.descendants().filter(|n| n.is_element()) {
            assert!(!["script", "img", "iframe", "object", "form", "base"].contains(&node.tag_name().name()));
            assert!(node.attributes().all(|a| !a.name().starts_with("on") && a.name() != "src"));
        }
        let links = page.descendants().filter_map(|n| n.attribute("href"));
        assert!(links.into_iter().all(|link| link == "data:," || link.starts_with("#w")));
        let shown =
            nasty.replace(['\t', '\r'], " ").replace(['\0', '\u{b}', '\u{1f}', '\u{ffff}'], "\u{fffd}");
        assert_eq!(text(tags(page.root(), "h1")[0]), shown);
        assert_eq!(text(tags(page.root(), "title")[0]), shown);
        // two people, each with an id and six cells
        let told: Vec<Node> =
            tags(page.root(), "tbody").into_iter().flat_map(|body| tags(body, "bdi")).collect();
        assert!(told.len() == 14 && told.into_iter().all(|bdi| text(bdi) == shown));
        // nothing gets out of the string that numbers pages
        let style = text(tags(page.root(), "style")[0]);
        assert!(style.ends_with("; font: 8pt sans-serif; color: #555 } }\n"));
        assert_eq!(style.matches('{').count(), style.matches('}').count());
    }
}

#[test]
fn nobody_odd_values_directions_and_many_outcomes() {
    let mut list = example();
    list.rows.clear();
    let page = html(&list);
    assert!(tags(parsed(&page).root(), "section").is_empty());
    restive_testkit::assert_page!("list_page_without_people", &page);

    let page = html(&odd());
    check_grids(&parsed(&page));
    for shown in ["9223372036854775807", "−9223372036854775808", "<td class=\"number\">–</td>", "-005-13-40"]
    {
        assert!(page.contains(shown), "{shown}");
    }

    let mut list = people(3);
    list.direction = Direction::RightToLeft;
    list.words.language = "ur".into();
    list.outcomes = (0..9).map(|k| OutcomeCode { code: format!("o{k}"), words: format!("o{k}") }).collect();
    let page = html(&list);
    let page = parsed(&page);
    check_grids(&page);
    assert_eq!(page.root_element().attribute("dir"), Some("rtl"));
    assert_eq!(page.root_element().attribute("lang"), Some("ur"));
    assert!(page.descendants().all(|n| n.attribute("class") != Some("tick")));
    assert_eq!(
        page.descendants()
            .filter(|n| n.has_tag_name("td") && n.attribute("class") == Some("outcome"))
            .count(),
        3
    );

    // reasons alone: they are what stands in the row
    list.columns.retain(|column| column.kind == Kind::Reason);
    list.rows.iter_mut().for_each(|row| row.cells = vec![Cell::text("because")]);
    check_grids(&parsed(&html(&list)));
    list.columns.clear();
    list.rows.iter_mut().for_each(|row| row.cells.clear());
    check_grids(&parsed(&html(&list)));
}

proptest! {
    #![proptest_config(proptest::test_runner::Config { rng_seed: proptest::test_runner::RngSeed::Fixed(1), failure_persistence: None, ..Default::default() })]

    #[test]
    fn any_words_make_a_page(words in "\\PC{0,40}|[ -~\t\r\n]{0,40}|[<>&'\"\\]\u{0}-\u{9f}]{0,40}") {
        let page = html(&hostile(&words));
        check_grids(&parsed(&page));
    }
}
