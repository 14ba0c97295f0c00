//! Inks: a method keeps its ink through all charts of a page.
//!
//! An ink is a colour, a dash and a shape. The colours are distinguishable to colour-blind readers (they follow Okabe and Ito,
//! darkened until they reach a contrast of 4.5 : 1 on paper, lightened for a dark screen); dash and shape remain when a page is
//! printed in black and white.
//!
//! ```
//! use restive_report::Ink;
//! assert_eq!(Ink::ALL.len(), 6);
//! ```

use serde::{Deserialize, Serialize};

/// How a method is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Ink {
    /// solid, circles
    Blue,
    /// dashed, squares
    Orange,
    /// dash-dotted, triangles
    Green,
    /// short dashes, diamonds
    Purple,
    /// dotted, triangles that stand on their tips
    Grey,
    /// long dashes, crosses; the colour of the text
    Black,
}

impl Ink {
    /// All of them, the most different ones first.
    pub const ALL: [Ink; 6] = [Ink::Blue, Ink::Orange, Ink::Green, Ink::Purple, Ink::Grey, Ink::Black];

    pub(super) const fn class(self) -> &'static str {
        match self {
            Ink::Blue => "blue",
            Ink::Orange => "orange",
            Ink::Green => "green",
            Ink::Purple => "purple",
            Ink::Grey => "grey",
            Ink::Black => "black",
        }
    }

    pub(super) const fn dash(self) -> &'static str {
        match self {
            Ink::Blue => "none",
            Ink::Orange => "7 3",
            Ink::Green => "8 3 2 3",
            Ink::Purple => "4 2",
            Ink::Grey => "2 3",
            Ink::Black => "12 4",
        }
    }

    /// The outline of the shape about the origin, about 8 units wide.
    pub(super) const fn shape(self) -> &'static str {
        match self {
            Ink::Blue => "M-4 0a4 4 0 1 0 8 0a4 4 0 1 0 -8 0Z",
            Ink::Orange => "M-3.6 -3.6H3.6V3.6H-3.6Z",
            Ink::Green => "M0 -4.8L4.5 3.4H-4.5Z",
            Ink::Purple => "M0 -5L5 0L0 5L-5 0Z",
            Ink::Grey => "M0 4.8L4.5 -3.4H-4.5Z",
            Ink::Black => {
                "M-4.4 -3L-3 -4.4L0 -1.4L3 -4.4L4.4 -3L1.4 0L4.4 3L3 4.4L0 1.4L-3 4.4L-4.4 3L-1.4 0Z"
            }
        }
    }
}

/// Name, on paper, on a dark screen.
pub(super) const COLOURS: [(&str, &str, &str); 11] = [
    ("paper", "#ffffff", "#14171b"),
    ("panel", "#f4f6f8", "#1d2127"),
    ("text", "#1a1e23", "#e7eaee"),
    ("muted", "#58616c", "#a2abb6"),
    ("rule", "#d8dde3", "#363d46"),
    ("blue", "#0b63a5", "#6db6f0"),
    ("orange", "#b4510a", "#f3a45c"),
    ("green", "#0c7658", "#5ecba4"),
    ("purple", "#8a4391", "#d39bd8"),
    ("grey", "#6a737e", "#98a2ae"),
    ("black", "#1a1e23", "#e7eaee"),
];

const CHART: &str = include_str!("chart.css");

/// The styles of charts, colours by name: the page around them says which.
pub const fn chart_css() -> &'static str {
    CHART
}

/// The styles of charts on paper, every colour spelt out: not every program that draws SVG knows variables.
pub(super) fn chart_css_on_paper() -> String {
    COLOURS
        .iter()
        .fold(CHART.to_string(), |css, (name, light, _)| css.replace(&format!("var(--{name})"), light))
}
