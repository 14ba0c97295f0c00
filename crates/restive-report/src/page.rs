//! A page: a verdict in one sentence, then what it rests on.
//!
//! One file with its styles inside; the browser is told to fetch nothing and to run nothing (a content security policy), so
//! that a report can be mailed and opened anywhere. Light and dark follow the reader's screen; on paper it is light. All text is
//! escaped: names of arms come from other people's files. The page is well-formed XML as well as HTML, which is how the tests
//! read it.
//!
//! ```
//! use restive_report::{Block, Fact, Page, Section};
//!
//! let page = Page {
//!     title: "Report".into(),
//!     verdict: "Two-stage is enough.".into(),
//!     sections: vec![Section {
//!         heading: "At a glance".into(),
//!         blocks: vec![
//!             Block::Facts(vec![Fact { value: "99.2 %".into(), name: "of the way from random to oracle".into() }]),
//!             Block::Text("Arms are called <by index>.".into()),
//!             Block::Command("restive demo --out DIR".into()),
//!         ],
//!     }],
//!     footer: "".into(),
//! };
//! assert!(page.html().contains("Arms are called &lt;by index&gt;."));
//! ```

use crate::chart::Chart;
use crate::draw::escape;
use crate::ink::{COLOURS, chart_css};
use crate::table::Table;
use serde::{Deserialize, Serialize};
use std::fmt::Write;

/// A whole report.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Page {
    /// what was studied
    pub title: String,
    /// what came out, in one sentence
    pub verdict: String,
    /// from top to bottom
    pub sections: Vec<Section>,
    /// how it was made; empty: none
    pub footer: String,
}

/// A part of a page.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Section {
    /// in few words
    pub heading: String,
    /// from top to bottom
    pub blocks: Vec<Block>,
}

/// A piece of a section.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Block {
    /// a heading within a section
    Heading(String),
    /// a paragraph
    Text(String),
    /// a caveat, set apart
    Note(String),
    /// what to type
    Command(String),
    /// a few numbers in large letters
    Facts(Vec<Fact>),
    /// rows and columns
    Table(Table),
    /// side by side where there is room, and on paper; below each other on a phone
    Beside(Vec<Block>),
    /// a chart and what to see in it
    Figure {
        /// the chart
        chart: Chart,
        /// what to see in it
        caption: String,
    },
}

/// A number in large letters.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fact {
    /// with its unit
    pub value: String,
    /// what it counts
    pub name: String,
}

const STYLE: &str = include_str!("page.css");

/// What a browser may do with the page: show it.
pub(crate) const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; img-src data:";

impl Page {
    /// Whether a file is a page, of whatever content: it tells the browser what ours tell it.
    pub fn recognises(file: &[u8]) -> bool {
        let head = format!("content=\"{POLICY}\"");
        file.starts_with(b"<!DOCTYPE html>") && file.windows(head.len()).any(|text| text == head.as_bytes())
    }

    /// The whole file.
    pub fn html(&self) -> String {
        let out = format!(
            "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n<title>{}</title>\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n\
             <meta name=\"color-scheme\" content=\"light dark\"/>\n\
             <meta http-equiv=\"Content-Security-Policy\" content=\"{POLICY}\"/>\n\
             <link rel=\"icon\" href=\"data:,\"/>\n<style>\n{}{STYLE}{}</style>\n</head>\n<body>\n<main>\n",
            escape(&self.title),
            colours(),
            chart_css(),
        );
        out + &self.fragment() + "</main>\n</body>\n</html>\n"
    }

    /// What is read of it, without styles: for a place that has its own, such as a notebook.
    pub fn fragment(&self) -> String {
        let mut out = format!(
            "<header>\n<h1>{}</h1>\n<p class=\"verdict\">{}</p>\n</header>\n",
            escape(&self.title),
            escape(&self.verdict)
        );
        self.sections.iter().for_each(|section| out.push_str(&section.fragment(2)));
        if !self.footer.is_empty() {
            let _ = writeln!(out, "<footer>{}</footer>", escape(&self.footer));
        }
        out
    }
}

impl Section {
    /// The same without styles, for a page of somebody else: its heading is of that level, from 2 to 5, those within it one lower.
    pub fn fragment(&self, level: u8) -> String {
        let level = level.clamp(2, 5);
        let mut out = format!("<section>\n<h{level}>{}</h{level}>\n", escape(&self.heading));
        self.blocks.iter().for_each(|block| out.push_str(&block.html(level + 1)));
        out + "</section>\n"
    }
}

impl Block {
    fn html(&self, level: u8) -> String {
        match self {
            Block::Heading(text) => format!("<h{level}>{}</h{level}>\n", escape(text)),
            Block::Text(text) => format!("<p>{}</p>\n", escape(text)),
            Block::Note(text) => format!("<p class=\"note\" role=\"note\">{}</p>\n", escape(text)),
            Block::Command(text) => {
                let lines: Vec<String> = text.lines().map(escape).collect();
                format!("<pre tabindex=\"0\"><code>{}</code></pre>\n", lines.join("\n"))
            }
            Block::Facts(facts) => {
                let one = |f: &Fact| {
                    format!("<div><dt>{}</dt><dd>{}</dd></div>", escape(&f.name), escape(&f.value))
                };
                match facts.is_empty() {
                    true => String::new(),
                    false => {
                        format!("<dl class=\"facts\">{}</dl>\n", facts.iter().map(one).collect::<String>())
                    }
                }
            }
            Block::Table(table) => table.html(),
            Block::Beside(blocks) => {
                let column = |block: &Block| format!("<div>\n{}</div>\n", block.html(level));
                format!("<div class=\"beside\">\n{}</div>\n", blocks.iter().map(column).collect::<String>())
            }
            Block::Figure { chart, caption } => format!(
                "<figure>\n<figcaption><strong>{}</strong> <span>{}</span></figcaption>\n{}</figure>\n",
                escape(chart.title()),
                escape(caption),
                chart.fragments()
            ),
        }
    }
}

/// The colours by name, as CSS variables: light, and dark on dark screens.
pub fn colours() -> String {
    let list = |pick: fn(&(&str, &'static str, &'static str)) -> &'static str| {
        COLOURS.iter().map(|c| format!(" --{}: {};", c.0, pick(c))).collect::<String>()
    };
    format!(
        ":root {{ color-scheme: light dark;{} }}\n@media screen and (prefers-color-scheme: dark) {{ :root {{{} }} }}\n",
        list(|c| c.1),
        list(|c| c.2)
    )
}
