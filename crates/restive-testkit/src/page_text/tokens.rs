//! Tokenizer of HTML pages: tags with attributes, and text.
//!
//! It reads the well-formed pages of this workspace and does not repair a page. Elements are not closed implicitly, CDATA sections and named
//! entities other than those of XML and `&nbsp;` are kept as they are written. Any input has tokens.

use regex::{Captures, Regex};
use std::sync::LazyLock;

/// Elements without content.
const VOID: [&str; 8] = ["br", "col", "hr", "img", "input", "link", "meta", "wbr"];

/// Elements with content that has no tags.
const RAW: [&str; 4] = ["script", "style", "textarea", "title"];

pub(super) enum Token<'a> {
    Open(Tag<'a>),
    Close(String),
    Text(&'a str),
}

impl Token<'_> {
    pub(super) fn is_start_of(&self, name: &str) -> bool {
        matches!(self, Token::Open(tag) if tag.name == name && !tag.is_empty())
    }
}

pub(super) struct Tag<'a> {
    pub(super) name: String,
    attributes: &'a str,
}

impl Tag<'_> {
    /// Whether the element has no content.
    pub(super) fn is_empty(&self) -> bool {
        VOID.contains(&self.name.as_str()) || self.attributes.ends_with('/')
    }

    /// Returns the value of an attribute; empty if it has none.
    pub(super) fn value(&self, name: &str) -> Option<String> {
        static ATTRIBUTE: LazyLock<Regex> = LazyLock::new(|| {
            Regex::new(r#"([^\s=>"'/]+)(?:\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+)))?"#).unwrap()
        });
        let mut all = ATTRIBUTE.captures_iter(self.attributes);
        let found = all.find(|found| found[1].eq_ignore_ascii_case(name))?;
        Some((2..5).find_map(|k| found.get(k)).map_or(String::new(), |value| decoded(value.as_str())))
    }

    /// Returns the label for screen readers, with a colon; empty if there is none.
    pub(super) fn label(&self, name: &str) -> String {
        self.value(name).map_or(String::new(), |label| label + ": ")
    }
}

pub(super) fn tokens(html: &str) -> Vec<Token<'_>> {
    static TAG: LazyLock<Regex> = LazyLock::new(|| {
        let name = "(?<slash>/?)(?<name>[A-Za-z][A-Za-z0-9]*)";
        let attributes = r#"(?<attributes>(?:[^>"']|"[^"]*"|'[^']*')*)"#;
        Regex::new(&format!("(?s)<!--.*?(?:-->|$)|<[!?][^>]*>|<{name}{attributes}>")).unwrap()
    });
    let mut out = Vec::new();
    let mut at = 0;
    while let Some(found) = TAG.captures_at(html, at) {
        let whole = found.get(0).unwrap();
        out.push(Token::Text(&html[at..whole.start()]));
        at = whole.end();
        let (Some(name), Some(attributes)) = (found.name("name"), found.name("attributes")) else { continue };
        let name = name.as_str().to_ascii_lowercase();
        if !found["slash"].is_empty() {
            out.push(Token::Close(name));
            continue;
        }
        let end = if RAW.contains(&name.as_str()) { end_of_raw(html, at, &name) } else { at };
        out.push(Token::Open(Tag { name, attributes: attributes.as_str() }));
        out.push(Token::Text(&html[at..end]));
        at = end;
    }
    out.push(Token::Text(&html[at..]));
    out
}

fn end_of_raw(html: &str, at: usize, name: &str) -> usize {
    let length = html[at..].to_ascii_lowercase().find(&format!("</{name}"));
    length.map_or(html.len(), |length| at + length)
}

/// Returns the tokens up to the end of an element and moves behind it.
pub(super) fn content<'a, 'b>(tokens: &'a [Token<'b>], at: &mut usize, name: &str) -> &'a [Token<'b>] {
    let first = *at;
    let mut depth = 1;
    while let Some(token) = tokens.get(*at) {
        *at += 1;
        if token.is_start_of(name) {
            depth += 1;
        }
        if matches!(token, Token::Close(closed) if closed == name) {
            depth -= 1;
        }
        if depth == 0 {
            return &tokens[first..*at - 1];
        }
    }
    &tokens[first..]
}

/// Returns the content of the first element of a name.
pub(super) fn element<'a, 'b>(tokens: &'a [Token<'b>], name: &str) -> &'a [Token<'b>] {
    let start = tokens.iter().position(|token| token.is_start_of(name));
    start.map_or(&[], |start| content(tokens, &mut (start + 1), name))
}

/// Returns the text of tokens with its white space reduced to single spaces.
pub(super) fn words(tokens: &[Token]) -> String {
    let texts = tokens.iter().filter_map(|token| match token {
        Token::Text(text) => Some(decoded(text)),
        _ => None,
    });
    texts.collect::<String>().split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Returns text with the characters that entities stand for; a no-break space becomes a space.
pub(super) fn decoded(text: &str) -> String {
    static ENTITY: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"&(?:#(?<decimal>[0-9]+)|#[xX](?<hex>[0-9A-Fa-f]+)|(?<name>[A-Za-z]+));").unwrap()
    });
    const NAMES: [(&str, char); 6] =
        [("amp", '&'), ("lt", '<'), ("gt", '>'), ("quot", '"'), ("apos", '\''), ("nbsp", ' ')];
    let character = |found: &Captures| {
        let c = match (found.name("decimal"), found.name("hex")) {
            (Some(digits), _) => digits.as_str().parse().ok().and_then(char::from_u32),
            (_, Some(digits)) => u32::from_str_radix(digits.as_str(), 16).ok().and_then(char::from_u32),
            _ => NAMES.iter().find(|(name, _)| *name == &found["name"]).map(|(_, c)| *c),
        };
        c.map_or_else(|| found[0].to_string(), String::from)
    };
    ENTITY.replace_all(text, character).replace('\u{a0}', " ")
}
