//! Figures as files: a chart as `NAME.svg` and `NAME.png`, ready for a paper.
//!
//! A chart names fonts and leaves the letters to the program that shows it. A figure looks the same everywhere, so its letters
//! are outlines of Noto Sans, which is compiled in: no font of the machine is ever read, and the same chart gives the same
//! bytes. What the chart tells readers who do not see it (title and description) stays in the SVG. The PNG has
//! `SCALE` pixels per unit: some 300 per inch where a figure is as wide as a page.

use anyhow::Context;
use restive_report::Chart;
use resvg::{tiny_skia, usvg};
use std::path::Path;
use std::sync::{Arc, LazyLock};

/// Pixels per unit of the chart.
const SCALE: f32 = 3.0;

/// What the first tag of a figure ends in.
const MARK: &str = " role=\"img\"";

/// Regular and bold, and nothing else.
static FONTS: LazyLock<Arc<usvg::fontdb::Database>> = LazyLock::new(|| {
    let mut fonts = usvg::fontdb::Database::new();
    fonts.load_font_data(notosans::REGULAR_TTF.to_vec());
    fonts.load_font_data(notosans::BOLD_TTF.to_vec());
    fonts.set_sans_serif_family("Noto Sans");
    Arc::new(fonts)
});

/// Writes `NAME.svg` and `NAME.png` into a folder that is there, in the place of earlier ones; with so many panels in each row (one row for a domain, one
/// column for a metric), or as many as have room.
pub fn write(chart: &Chart, columns: Option<usize>, folder: &Path, name: &str) -> anyhow::Result<()> {
    let chart = &columns.map_or_else(|| chart.svg(), |columns| chart.svg_in_columns(columns));
    let tree = parse(chart).with_context(|| format!("{name}: cannot be drawn"))?;
    let svg = outlined(&tree, chart);
    let png = pixels(&tree).with_context(|| format!("{name}: cannot be drawn"))?;
    let file = |ending: &str| folder.join(format!("{name}.{ending}"));
    restive_tables::write_files(&[(file("svg"), svg.as_bytes()), (file("png"), &png)], Some(recognise))?;
    Ok(())
}

/// Refuses a file that is no figure: an SVG marked as [`write`] marks them, or a PNG.
pub(crate) fn recognise(path: &Path) -> restive_tables::Result<()> {
    restive_tables::recognise_bytes(path, "something else", "a figure of restive", |bytes| {
        let tag = bytes.split(|byte| *byte == b'>').next().unwrap_or_default();
        let is_marked = tag.starts_with(b"<svg") && tag.ends_with(MARK.as_bytes());
        is_marked || bytes.starts_with(b"\x89PNG\r\n\x1a\n")
    })
}

/// An SVG file as a drawing, every letter with its outline beside it.
pub fn parse(chart: &str) -> anyhow::Result<usvg::Tree> {
    let options =
        usvg::Options { fontdb: FONTS.clone(), font_family: "Noto Sans".into(), ..usvg::Options::default() };
    Ok(usvg::Tree::from_str(&with_raised_minus(chart), &options)?)
}

/// Noto Sans has raised digits but no raised minus: a small one before them.
fn with_raised_minus(chart: &str) -> String {
    let (head, body) = chart.split_once("</style>").unwrap_or(("", chart));
    let mut pieces = body.split('⁻');
    let mut out = format!("{head}</style>{}", pieces.next().unwrap_or(""));
    for piece in pieces {
        let (digits, rest) =
            piece.split_at(piece.find(|c: char| !"⁰¹²³⁴⁵⁶⁷⁸⁹".contains(c)).unwrap_or(piece.len()));
        out += "<tspan font-size=\"8\" dy=\"-3.5\">−</tspan>";
        out += &format!("<tspan dy=\"3.5\">{digits}</tspan>{rest}");
    }
    out
}

/// Outlines for letters, and what the chart says in words.
fn outlined(tree: &usvg::Tree, chart: &str) -> String {
    let options =
        usvg::WriteOptions { coordinates_precision: 3, transforms_precision: 3, ..Default::default() };
    let svg = tree.to_string(&options);
    let words = chart.find("<title>").zip(chart.find("</desc>")).map_or("", |(a, b)| &chart[a..b + 7]);
    let (head, body) = svg.split_once('>').expect("a tag");
    format!("{head}{MARK}>\n    {words}{body}")
}

/// A PNG file.
fn pixels(tree: &usvg::Tree) -> anyhow::Result<Vec<u8>> {
    let size = tree.size().to_int_size().scale_by(SCALE).context("no size")?;
    let mut pixels = tiny_skia::Pixmap::new(size.width(), size.height()).context("too large")?;
    resvg::render(tree, tiny_skia::Transform::from_scale(SCALE, SCALE), &mut pixels.as_mut());
    Ok(pixels.encode_png()?)
}
