//! Words of an HTML page as plain text, for snapshots: without a browser, without styles and scripts.
//!
//! | element | text |
//! |---|---|
//! | title, headings | `title: …`, `# …` to `###### …` |
//! | paragraph, caption, legend, other blocks | one line each |
//! | list item, term and description | `- …`, `term: description` |
//! | row of a table | one line, cells separated by ` \| ` |
//! | link, button | `[…]`, `[[…]]` |
//! | text field, password, check box | `{value}`, `{*}`, `[x]` or `[ ]` |
//! | choice | `{first \| *selected* \| third}`, groups as `group: …` |
//! | drawing | `(picture: label; description; drawn words)`; a second drawing of a chart is left out |
//! | navigation, form or section with a label for screen readers | `(label)` |
//!
//! A link, button or field with a label for screen readers begins with it: `[label: …]`. Scripts, styles, hidden fields and elements with
//! `hidden` or `aria-hidden` have no text.
//!
//! Not handled: an element without text that is never closed hides the rest of the page, nested tables become rows of one table. Any input
//! returns a text.

mod tokens;

use crate::snapshot::Masks;
use tokens::{Tag, Token, content, decoded, element, tokens, words};

/// Columns of a snapshot.
const WIDTH: usize = 80;

/// Elements within a line.
const INLINE: [&str; 18] = [
    "a", "abbr", "b", "bdi", "button", "code", "em", "i", "label", "mark", "progress", "q", "small", "span",
    "strong", "sub", "sup", "time",
];

/// Elements with their own rule for their whole content.
const WHOLE: [&str; 6] = ["script", "select", "style", "svg", "textarea", "title"];

/// Compares the words of a page with the snapshot of a name; a third argument replaces the [`Masks`].
#[macro_export]
macro_rules! assert_page {
    ($name:expr, $html:expr) => {
        $crate::assert_page!($name, $html, $crate::Masks::new())
    };
    ($name:expr, $html:expr, $masks:expr) => {
        $crate::snapshot_settings()
            .bind(|| $crate::insta::assert_snapshot!($name, $crate::page_text::page_snapshot($html, &$masks)))
    };
}

/// Returns the words of a page with masks, in lines of at most 80 characters.
pub fn page_snapshot(html: &str, masks: &Masks) -> String {
    wrapped(&masks.apply(&page_text(html)), WIDTH)
}

/// Returns text with its long lines continued in lines with an indent of two; words are not divided.
pub fn wrapped(text: &str, width: usize) -> String {
    let mut out = String::new();
    for line in text.lines() {
        let mut column = 0;
        for (k, word) in line.split(' ').enumerate() {
            let length = word.chars().count();
            if k > 0 && column + 1 + length > width {
                out += "\n  ";
                column = 2;
            } else if k > 0 {
                out.push(' ');
                column += 1;
            }
            out += word;
            column += length;
        }
        out.push('\n');
    }
    out
}

/// Returns the words of a page; see the module for the layout.
pub fn page_text(html: &str) -> String {
    let tokens = tokens(html);
    let mut writer = Writer::default();
    let (mut at, mut is_after_element) = (0, false);
    while let Some(token) = tokens.get(at) {
        at += 1;
        match token {
            Token::Text("") => continue,
            Token::Text(text) => {
                writer.text(text);
                is_after_element = false;
            }
            Token::Close(name) => {
                writer.close(name);
                is_after_element = true;
            }
            Token::Open(tag) => {
                let is_inline = INLINE.contains(&tag.name.as_str());
                if is_after_element && is_inline {
                    writer.text(" ");
                }
                let is_hidden =
                    tag.value("hidden").is_some() || tag.value("aria-hidden").as_deref() == Some("true");
                let is_whole = is_hidden || WHOLE.contains(&tag.name.as_str());
                let content: &[Token] = match is_whole && !tag.is_empty() {
                    true => content(&tokens, &mut at, &tag.name),
                    false => &[],
                };
                if !is_hidden {
                    writer.open(tag, content);
                }
                is_after_element = is_whole;
            }
        }
    }
    writer.cells = None;
    writer.end_line();
    writer.lines.join("\n").trim().to_string() + "\n"
}

#[derive(Default)]
struct Writer {
    lines: Vec<String>,
    line: String,
    /// Number of cells so far in the current row of a table.
    cells: Option<usize>,
    is_preformatted: bool,
    last_picture: String,
}

impl Writer {
    fn text(&mut self, text: &str) {
        for c in decoded(text).chars() {
            match c {
                '\n' if self.is_preformatted => self.end_line(),
                c if !c.is_whitespace() || self.is_preformatted => self.line.push(c),
                _ if self.line.is_empty() || self.line.ends_with([' ', '[', '(']) => {}
                _ => self.line.push(' '),
            }
        }
    }

    /// Ends a block; within a row the next block follows in its line.
    fn end_line(&mut self) {
        let is_mark_only = self.line == "- " || self.line.trim_start_matches('#') == " ";
        if self.cells.is_some() {
            self.text(" ");
        } else if !is_mark_only {
            let line = std::mem::take(&mut self.line);
            if !line.trim().is_empty() {
                self.lines.push(line.trim_end().into());
            }
        }
    }

    fn empty_line(&mut self) {
        if self.cells.is_none() && self.lines.last().is_some_and(|line| !line.is_empty()) {
            self.lines.push(String::new());
        }
    }

    /// Starts a block with a mark.
    fn mark(&mut self, mark: &str) {
        if self.cells.is_none() {
            self.line = mark.into();
        }
    }

    /// Writes text as one block.
    fn block(&mut self, text: &str) {
        self.end_line();
        self.line += text;
        self.end_line();
    }

    fn open(&mut self, tag: &Tag, content: &[Token]) {
        let name = tag.name.as_str();
        match name {
            "script" | "style" | "dd" => {}
            "title" => self.block(&format!("title: {}", words(content))),
            "svg" => self.picture(tag, content),
            "img" => self.line += &format!("(picture: {})", tag.value("alt").unwrap_or_default()),
            "input" => self.input(tag),
            "select" => self.field(tag, &choices(content)),
            "textarea" => self.field(tag, &words(content)),
            "a" => self.line += &format!("[{}", tag.label("aria-label")),
            "button" => self.line += &format!("[[{}", tag.label("aria-label")),
            "td" | "th" => {
                if self.cells.is_some_and(|cells| cells > 0) {
                    self.line.truncate(self.line.trim_end().len());
                    self.line += " | ";
                }
                self.cells = self.cells.map(|cells| cells + 1);
            }
            _ if INLINE.contains(&name) => {}
            _ => self.open_block(tag),
        }
    }

    fn open_block(&mut self, tag: &Tag) {
        self.end_block(&tag.name);
        match tag.name.as_str() {
            "h1" | "h2" | "h3" | "h4" | "h5" | "h6" => {
                self.empty_line();
                self.mark(&("#".repeat(usize::from(tag.name.as_bytes()[1] - b'0')) + " "));
            }
            "table" => self.empty_line(),
            "tr" => self.cells = Some(0),
            "li" => self.mark("- "),
            "pre" => self.is_preformatted = true,
            "nav" | "form" | "section" => {
                if let Some(label) = tag.value("aria-label") {
                    self.block(&format!("({label})"));
                }
            }
            _ => {}
        }
    }

    fn close(&mut self, name: &str) {
        match name {
            "a" => self.close_mark("]"),
            "button" => self.close_mark("]]"),
            "dt" => self.line += ": ",
            "td" | "th" => {}
            _ if INLINE.contains(&name) => {}
            _ => {
                self.end_block(name);
                self.is_preformatted &= name != "pre";
                if name == "table" {
                    self.empty_line();
                }
            }
        }
    }

    fn close_mark(&mut self, mark: &str) {
        self.line.truncate(self.line.trim_end().len());
        self.line += mark;
    }

    fn end_block(&mut self, name: &str) {
        if ["tr", "thead", "tbody", "tfoot", "table"].contains(&name) {
            self.cells = None;
        }
        self.end_line();
    }

    fn input(&mut self, tag: &Tag) {
        let value = tag.value("value").or(tag.value("placeholder")).unwrap_or_default();
        match tag.value("type").as_deref() {
            Some("hidden") => {}
            Some("checkbox" | "radio") => {
                self.line += if tag.value("checked").is_some() { "[x]" } else { "[ ]" };
            }
            Some("submit") => self.line += &format!("[[{value}]]"),
            Some("password") => self.field(tag, "*"),
            _ => self.field(tag, &value),
        }
    }

    fn field(&mut self, tag: &Tag, value: &str) {
        self.text(" ");
        self.line += &format!("{{{}{value}}}", tag.label("aria-label"));
    }

    fn picture(&mut self, tag: &Tag, content: &[Token]) {
        let description = words(element(content, "desc"));
        let head = [tag.value("aria-label").unwrap_or_default(), description];
        // a chart is drawn twice: for wide and for narrow screens
        let last = std::mem::replace(&mut self.last_picture, head.concat());
        if last == head.concat() && !head[1].is_empty() {
            return;
        }
        let mut parts: Vec<String> = head.into_iter().filter(|text| !text.is_empty()).collect();
        for k in 0..content.len() {
            if content[k].is_start_of("text") {
                let drawn = words(element(&content[k..], "text"));
                if drawn.contains(char::is_alphabetic) && !parts.contains(&drawn) {
                    parts.push(drawn);
                }
            }
        }
        self.line += &format!("(picture: {})", parts.join("; "));
    }
}

fn choices(tokens: &[Token]) -> String {
    let mut out: Vec<String> = Vec::new();
    let mut group = String::new();
    for (k, token) in tokens.iter().enumerate() {
        match token {
            Token::Open(tag) if tag.name == "optgroup" => group = tag.label("label"),
            Token::Open(tag) if tag.name == "option" => {
                let mut option = words(element(&tokens[k..], "option"));
                if tag.value("selected").is_some() {
                    option = format!("*{option}*");
                }
                out.push(std::mem::take(&mut group) + &option);
            }
            _ => {}
        }
    }
    out.join(" | ")
}
