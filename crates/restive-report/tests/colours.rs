//! Colours that can be read: the contrast of every ink on every ground.

use restive_report::Page;

/// Relative luminance of `#rrggbb`, as defined by WCAG 2.
fn luminance(colour: &str) -> f64 {
    let channel = |k: usize| {
        let c = f64::from(u8::from_str_radix(&colour[k..k + 2], 16).unwrap()) / 255.0;
        if c <= 0.040_45 { c / 12.92 } else { ((c + 0.055) / 1.055).powf(2.4) }
    };
    0.2126 * channel(1) + 0.7152 * channel(3) + 0.0722 * channel(5)
}

#[test]
fn colours_reach_the_contrast_of_level_aa() {
    let page =
        Page { title: "p".into(), verdict: String::new(), sections: Vec::new(), footer: String::new() };
    let html = page.html();
    let blocks: Vec<&str> =
        html.split(":root {").skip(1).take(2).map(|b| b.split('}').next().unwrap()).collect();
    assert_eq!(blocks.len(), 2, "light and dark");
    for block in blocks {
        let colour = |name: &str| {
            let (_, rest) = block.split_once(&format!("--{name}: ")).unwrap();
            luminance(&rest[..7])
        };
        for ground in ["paper", "panel"] {
            for ink in ["text", "muted", "blue", "orange", "green", "purple", "grey", "black"] {
                let (a, b) = (colour(ground).max(colour(ink)), colour(ground).min(colour(ink)));
                let contrast = (a + 0.05) / (b + 0.05);
                // inks are lines and shapes, for which 3 would do
                assert!(
                    contrast >= if ink == "grey" { 4.0 } else { 4.5 },
                    "{ink} on {ground}: {contrast:.2}"
                );
            }
        }
    }
}
