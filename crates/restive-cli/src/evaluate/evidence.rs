//! The evidence as text: the two questions, their answers, and the picture.

use crate::shared::display::write_aligned;
use restive_pipeline::{EvidenceAnswer, Interval, Outcome, signed};
use restive_programme::evidence::Terms;
use std::io::{self, Write};

/// The most cells of a bar.
const WIDTH: f64 = 24.0;

pub(super) fn write(text: &mut Vec<u8>, outcome: &Outcome) -> io::Result<()> {
    match outcome {
        Outcome::Answer(answer) => write_answer(text, answer),
        Outcome::Refused { reason, what_to_do } => {
            writeln!(text, "No answer: {reason}.")?;
            writeln!(text, "What to do: {what_to_do}.\n")
        }
    }
}

fn write_answer(text: &mut Vec<u8>, answer: &EvidenceAnswer) -> io::Result<()> {
    writeln!(text, "counted  {}", answer.counted())?;
    writeln!(text, "judged   {}", answer.judged())?;
    for assumption in &answer.assumptions {
        writeln!(text, "granted  {assumption}")?;
    }
    writeln!(
        text,
        "\nDoes the ranking find those for whom a pull makes a difference?\n  {}\n",
        answer.found()
    )?;
    write_deciles(text, answer)?;
    writeln!(text, "\nHow much more than random pulls would the plan bring?\n  {}\n", answer.brings())?;
    let mut table =
        vec![vec!["over random pulls".to_string(), answer.unit().into(), "interval".into(), "".into()]];
    for row in &answer.policies {
        let of = row.over_random;
        let how = if row.is_measured { "measured on the log" } else { "simulated by the judge" };
        let shown = signed(of);
        let (value, interval) = shown.split_once(' ').expect("a value and an interval");
        table.push(vec![
            Terms::Library.policy(&row.policy).into(),
            value.into(),
            interval.into(),
            how.into(),
        ]);
    }
    if table.len() > 1 {
        write_aligned(text, &table)?;
    }
    writeln!(text, "\nrandom pulls  {}", answer.random())?;
    if let Some(course) = answer.course() {
        writeln!(text, "course        {course}")?;
    }
    if let Some(calibrated) = answer.calibrated() {
        writeln!(text, "calibration   {calibrated}")?;
    }
    for caution in answer.cautions() {
        writeln!(text, "caution       {caution}")?;
    }
    writeln!(text)
}

fn write_deciles(text: &mut Vec<u8>, answer: &EvidenceAnswer) -> io::Result<()> {
    writeln!(
        text,
        "  effect of a pull on the next reward by tenth of the ranking, best first; · the same with people shuffled"
    )?;
    let finite = |of: &Interval| of.value.is_finite();
    let most = answer.deciles.iter().flat_map(|decile| [decile.ranked, decile.shuffled]);
    let most = most.filter(finite).fold(1e-12, |most: f64, of| most.max(of.value.abs()));
    for (k, decile) in answer.deciles.iter().enumerate() {
        let bar = bar(decile.ranked.value / most, decile.shuffled.value / most);
        let shown = if finite(&decile.ranked) {
            let of = decile.ranked;
            format!("{:+.3} [{:+.3}, {:+.3}]", of.value, of.low, of.high)
        } else {
            "nobody".into()
        };
        writeln!(text, "  {:>2}  {shown:<24} {bar}", k + 1)?;
    }
    let mean = answer.mean_effect;
    writeln!(text, "  all {:+.3} [{:+.3}, {:+.3}]", mean.value, mean.low, mean.high)
}

/// A bar from nothing to a share of the width, with a dot where chance ends.
fn bar(share: f64, chance: f64) -> String {
    let cell = |share: f64| (share.clamp(0.0, 1.0) * WIDTH).round() as usize;
    let mut cells: Vec<char> = vec![' '; WIDTH as usize + 1];
    if share.is_finite() {
        cells[..cell(share)].fill('█');
    }
    if chance.is_finite() {
        cells[cell(chance)] = '·';
    }
    cells.into_iter().collect::<String>().trim_end().to_string()
}
