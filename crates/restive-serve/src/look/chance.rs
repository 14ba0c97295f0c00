//! Two chances as a small picture: left alone and called, each with its interval, on one scale from 0 to 100 %.
//!
//! Left alone is a hollow mark on a dashed line, called a filled one on a solid line, so that it needs no colour. The numbers stand beside it
//! as text; to a screen reader the picture is its label.

use restive_programme::Chance;

/// The width of the scale.
const WIDTH: f64 = 96.0;
/// Beside it on both sides.
const MARGIN: f64 = 5.0;

/// A picture, as SVG.
pub(crate) fn svg(alone: &Chance, called: &Chance, label: &str) -> String {
    let x = |share: f64| {
        let share = if share.is_finite() { share.clamp(0.0, 1.0) } else { 0.0 };
        MARGIN + WIDTH * share
    };
    let row = |chance: &Chance, y: f64, class: &str| {
        let line = chance.interval.map_or(String::new(), |[low, high]| {
            format!(
                "<line class=\"{class}-line\" x1=\"{:.1}\" x2=\"{:.1}\" y1=\"{y}\" y2=\"{y}\"/>",
                x(low),
                x(high)
            )
        });
        format!("{line}<circle class=\"{class}\" cx=\"{:.1}\" cy=\"{y}\" r=\"3.5\"/>", x(chance.value))
    };
    let ticks: String = [0.0, 0.5, 1.0]
        .map(|share| {
            format!("<line class=\"tick\" x1=\"{0:.1}\" x2=\"{0:.1}\" y1=\"1\" y2=\"25\"/>", x(share))
        })
        .concat();
    format!(
        "<svg class=\"chances\" viewBox=\"0 0 {} 26\" width=\"{0}\" height=\"26\" role=\"img\" aria-label=\"{}\">{ticks}{}{}</svg>",
        WIDTH + 2.0 * MARGIN,
        escape(label),
        row(alone, 8.0, "alone"),
        row(called, 18.0, "called"),
    )
}

pub(crate) fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_chance_can_be_drawn() {
        let odd = Chance { value: f64::NAN, interval: Some([-1.0, f64::INFINITY]) };
        let text = svg(&odd, &Chance { value: 0.5, interval: None }, "\"<b>");
        assert!(text.contains("&quot;&lt;b&gt;") && !text.contains("NaN") && !text.contains("inf"), "{text}");
        assert!(text.contains("cx=\"53.0\""), "{text}");
    }
}
