//! The pen: a few shapes of SVG, and letters that keep to their place.
//!
//! SVG does not tell how wide a text will be, so widths are estimated from the letters of DejaVu Sans, the widest of the common
//! sans-serif faces: with any other there is a little more air (an eighth with Noto Sans, the letters of figures as files).

use crate::ink::Ink;
use std::fmt::Write;

/// The size of letters in charts.
pub(super) const SIZE: f64 = 12.0;

/// Text as it may stand between tags and in attributes; characters that XML forbids are replaced.
pub(super) fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '\t' | '\n' | '\r' => out.push(' '),
            '\0'..='\x1f' | '\x7f'..='\u{9f}' | '\u{fffe}' | '\u{ffff}' => out.push('\u{fffd}'),
            other => out.push(other),
        }
    }
    out
}

/// About how wide a text is.
pub(super) fn width_of(text: &str) -> f64 {
    let one = |c: char| match c {
        'i' | 'j' | 'l' | '\'' | '.' | ',' | ':' | ';' | ' ' | 'I' => 0.34,
        'f' | 't' | 'r' | '(' | ')' | '[' | ']' | '-' | '/' | '!' => 0.41,
        'm' | 'M' | 'W' | '@' | '%' | '…' | '—' | '→' | '←' | '↔' => 1.0,
        'w' | 'N' | 'O' | 'Q' | '&' | '∞' | '+' | '=' | '<' | '>' | '−' | '×' => 0.84,
        'A'..='Z' => 0.75,
        '\u{300}'..='\u{36f}' | '\u{200b}'..='\u{200f}' => 0.0,
        '\u{2e80}'.. => 1.05,
        _ => 0.64,
    };
    SIZE * text.chars().map(one).sum::<f64>()
}

/// The text, cut with an ellipsis where it is wider.
pub(super) fn fit(text: &str, width: f64) -> String {
    if width_of(text) <= width {
        return text.into();
    }
    let mut out = String::new();
    for c in text.chars() {
        out.push(c);
        if width_of(&out) + SIZE > width {
            out.pop();
            break;
        }
    }
    out.truncate(out.trim_end().len());
    out + "…"
}

/// The text on at most so many lines, broken after a space, a hyphen or the like, the last cut where it must be.
pub(super) fn wrap(text: &str, width: f64, lines: usize) -> Vec<String> {
    if width_of(text) <= width {
        return vec![text.into()];
    }
    let mut breaks =
        text.char_indices().filter(|(_, c)| " -_,/".contains(*c)).map(|(at, c)| at + c.len_utf8());
    let fits = |at: &usize| *at < text.len() && width_of(text[..*at].trim_end()) <= width;
    // between words, if the rest has room on the next line
    let between = text.match_indices(' ').map(|(at, _)| at + 1).rfind(fits);
    let between = between.filter(|at| width_of(&text[*at..]) <= width);
    match between.or_else(|| breaks.rfind(fits)) {
        Some(at) if lines > 1 => {
            let mut out = vec![text[..at].trim_end().to_string()];
            out.extend(wrap(text[at..].trim_start(), width, lines - 1));
            out
        }
        _ => vec![fit(text, width)],
    }
}

/// The points that matter for a line drawn with a pen: all others are within a tenth of a unit (Douglas and Peucker).
pub(super) fn simplified(points: &[[f64; 2]]) -> Vec<[f64; 2]> {
    if points.len() < 3 {
        return points.to_vec();
    }
    let mut keep = vec![false; points.len()];
    (keep[0], keep[points.len() - 1]) = (true, true);
    let mut open = vec![(0, points.len() - 1)];
    while let Some((a, b)) = open.pop() {
        let ([x0, y0], [x1, y1]) = (points[a], points[b]);
        let length = (x1 - x0).hypot(y1 - y0).max(1e-9);
        let off =
            |k: usize| ((x1 - x0) * (points[k][1] - y0) - (y1 - y0) * (points[k][0] - x0)).abs() / length;
        let Some(far) = (a + 1..b).max_by(|&i, &j| off(i).total_cmp(&off(j))) else { continue };
        if off(far) > 0.1 {
            keep[far] = true;
            open.extend([(a, far), (far, b)]);
        }
    }
    points.iter().zip(keep).filter(|(_, keep)| *keep).map(|(point, _)| *point).collect()
}

/// A coordinate: one decimal is enough for any screen.
fn at(x: f64) -> String {
    let text = format!("{x:.1}");
    match text.strip_suffix(".0").unwrap_or(&text) {
        "-0" => "0".into(),
        text => text.into(),
    }
}

/// Points joined by straight lines.
pub(super) fn path(points: &[[f64; 2]]) -> String {
    let mut d = String::new();
    for (k, [x, y]) in points.iter().enumerate() {
        let _ = write!(d, "{}{} {}", if k == 0 { 'M' } else { 'L' }, at(*x), at(*y));
    }
    d
}

/// Where a text hangs on its point.
#[derive(Clone, Copy)]
pub(super) enum Anchor {
    Start,
    Middle,
    End,
}

/// What has been drawn, and how high it is.
#[derive(Default)]
pub(super) struct Drawing {
    pub body: String,
    pub height: f64,
}

impl Drawing {
    fn push(&mut self, arguments: std::fmt::Arguments<'_>) {
        self.body.write_fmt(arguments).expect("strings do not fail");
    }

    pub fn text(&mut self, class: &str, anchor: Anchor, x: f64, y: f64, text: &str) {
        let anchor = match anchor {
            Anchor::Start => "",
            Anchor::Middle => " text-anchor=\"middle\"",
            Anchor::End => " text-anchor=\"end\"",
        };
        let class = if class.is_empty() { String::new() } else { format!(" class=\"{class}\"") };
        self.push(format_args!(
            "<text{class} x=\"{}\" y=\"{}\"{anchor}>{}</text>",
            at(x),
            at(y),
            escape(text)
        ));
    }

    pub fn line(&mut self, class: &str, from: [f64; 2], to: [f64; 2]) {
        self.path(class, &path(&[from, to]), "none");
    }

    pub fn path(&mut self, class: &str, d: &str, dash: &str) {
        let dash = if dash == "none" { String::new() } else { format!(" stroke-dasharray=\"{dash}\"") };
        self.push(format_args!("<path class=\"{class}\" d=\"{d}\"{dash}/>"));
    }

    pub fn rect(&mut self, class: &str, [x, y]: [f64; 2], [width, height]: [f64; 2]) {
        let (width, height) = (at(width.max(0.0)), at(height.max(0.0)));
        self.push(format_args!(
            "<rect class=\"{class}\" x=\"{}\" y=\"{}\" width=\"{width}\" height=\"{height}\"/>",
            at(x),
            at(y)
        ));
    }

    pub fn mark(&mut self, ink: Ink, [x, y]: [f64; 2]) {
        let (x, y) = (at(x), at(y));
        self.push(format_args!(
            "<path class=\"mark\" transform=\"translate({x} {y})\" d=\"{}\"/>",
            ink.shape()
        ));
    }

    /// Opens a group in an ink; a pointer that rests on it is told the text.
    pub fn open(&mut self, class: &str, told: &str) {
        self.push(format_args!("<g class=\"{class}\">"));
        if !told.is_empty() {
            self.push(format_args!("<title>{}</title>", escape(told)));
        }
    }

    pub fn close(&mut self) {
        self.body.push_str("</g>");
    }

    /// Puts another drawing here.
    pub fn place(&mut self, x: f64, y: f64, other: &Drawing) {
        self.push(format_args!("<g transform=\"translate({} {})\">{}</g>", at(x), at(y), other.body));
    }
}
