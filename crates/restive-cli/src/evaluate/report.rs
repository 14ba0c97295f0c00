//! The scores of an evaluation, as text or as a table with one row per number.

use super::evidence;
use crate::shared::display::{Decimals, counted, write_aligned};
use restive::evaluation::{Estimate, Estimator, Score};
use restive_pipeline::{Evaluated, EvaluatedQuantity};
use restive_tables::show::path as shown;
use restive_tables::{Cells, recognise_table, write_table as write_cells};
use std::io::{self, Write};
use std::path::Path;

const COLUMNS: [&str; 8] = ["policy", "estimator", "quantity", "value", "low", "high", "ess", "covers"];

/// Refuses a table that holds no scores.
pub(crate) fn recognise(path: &Path) -> restive_tables::Result<()> {
    recognise_table(path, "scores", |columns| columns == COLUMNS)
}

/// One row per number.
pub(crate) fn write_table(evaluated: &Evaluated, path: &Path, replace: bool) -> restive_tables::Result<()> {
    let rows = evaluated.quantities();
    let words = |cell: fn(&EvaluatedQuantity<'_>) -> String| Cells::Text(rows.iter().map(cell).collect());
    let numbers =
        |cell: fn(&Estimate) -> f64| Cells::Number(rows.iter().map(|row| cell(&row.estimate)).collect());
    let cells = [
        words(|row| row.policy.into()),
        words(|row| row.estimator.name().into()),
        words(|row| row.quantity.into()),
        numbers(|estimate| estimate.value),
        numbers(|estimate| estimate.low),
        numbers(|estimate| estimate.high),
        numbers(|estimate| estimate.effective_sample_size.unwrap_or(f64::NAN)),
        words(|row| row.estimate.covers.words().into()),
    ];
    write_cells(path, replace.then_some(recognise), COLUMNS.into_iter().zip(cells).collect())
}

/// Estimators that are shown: all where they are what was asked for, else the truth and what is behind the evidence's table.
fn is_shown(evaluated: &Evaluated, estimator: Estimator) -> bool {
    match evaluated.evidence {
        None => true,
        Some(_) => matches!(estimator, Estimator::Fluid | Estimator::True),
    }
}

pub(crate) fn write_text(
    evaluated: &Evaluated,
    text: &mut Vec<u8>,
    wrote: &[Option<&Path>],
) -> io::Result<()> {
    let Evaluated { evidence, loss, about, uninformed_loss, is_labelled, .. } = evaluated;
    evidence.iter().try_for_each(|outcome| evidence::write(text, outcome))?;
    for estimator in Estimator::ALL {
        let name = estimator.name();
        let Some(rests_on) = about.estimators.get(name).filter(|_| is_shown(evaluated, estimator)) else {
            continue;
        };
        let (judges_by, covers) = (rests_on.judges_by, rests_on.intervals_cover);
        writeln!(text, "{name}: {judges_by}; 95 % intervals cover {covers}")?;
        write_aligned(text, &table(&evaluated.by_estimator(estimator)))?;
        writeln!(text)?;
    }
    writeln!(
        text,
        "predictive loss  {:.3} per trajectory, {:.4} per {} (knowing nothing: {uninformed_loss:.4})",
        loss.per_trajectory,
        loss.per_transition,
        if *is_labelled { "sighting" } else { "transition" },
    )?;
    let [least, most] = about.budget;
    let budget = if least == most { least.to_string() } else { format!("{least} to {most}") };
    let (instances, arms) = (counted(about.instances as u64, "instance"), counted(about.arms as u64, "arm"));
    let part =
        if about.part == "folds" { "everybody in folds".to_string() } else { format!("{} part", about.part) };
    write!(text, "judged on        {part}: {instances}, {arms}, budget {budget}; ")?;
    match about.index_discount {
        Some(discount) => writeln!(text, "index discount {discount:.4}")?,
        None => writeln!(text, "index of one decision")?,
    }
    let decisions = counted(about.horizon as u64, "decision");
    if !evaluated.policies.is_empty() {
        writeln!(
            text,
            "deployment       {decisions} from {}; values are expected reward of all arms over them; -horizon plans for their end",
            if about.start == "today" { "today's states" } else { "the first states" }
        )?;
    }
    if evidence.is_none() {
        writeln!(text, "propensities     {}", about.propensities)?;
        for assumption in &about.assumptions {
            writeln!(text, "assumption       {assumption}")?;
        }
    }
    wrote.iter().flatten().try_for_each(|out| writeln!(text, "wrote            {}", shown(out)))
}

/// A share of the largest value below which a number is rounding.
const NOISE: f64 = 1e-11;

/// One row per policy.
fn table(rows: &[(&str, &Score)]) -> Vec<Vec<String>> {
    let has_size = rows.iter().any(|(_, score)| score.value.effective_sample_size.is_some());
    let estimates = rows.iter().flat_map(|(_, score)| {
        [Some(score.value), score.gain_over_random, score.gain_over_no_action].into_iter().flatten()
    });
    let decimals = Decimals::suiting(estimates.flat_map(|e| [e.value, e.low, e.high]));
    // differences of values that are equal but for the order of their sums
    let noise = NOISE * rows.iter().fold(0.0, |most: f64, (_, score)| most.max(score.value.value.abs()));
    let number = |x: f64| match x {
        x if x.is_nan() => "–".to_string(),
        x => decimals.format(if x.abs() < noise { 0.0 } else { x }),
    };
    let interval = |e: &Estimate| format!("[{}, {}]", number(e.low), number(e.high));
    let mut header = vec!["policy".to_string(), "value".into(), "interval".into()];
    header.extend(has_size.then(|| "ess".into()));
    header.extend(["over random", "interval", "over no action", "interval"].map(String::from));
    let mut table = vec![header];
    for (name, score) in rows {
        let mut row = vec![name.to_string(), number(score.value.value), interval(&score.value)];
        if has_size {
            row.push(score.value.effective_sample_size.map_or("–".into(), |size| format!("{size:.1}")));
        }
        for gain in [score.gain_over_random, score.gain_over_no_action] {
            match gain {
                Some(gain) => row.extend([number(gain.value), interval(&gain)]),
                None => row.extend(["–".to_string(), "–".to_string()]),
            }
        }
        table.push(row);
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;
    use restive::evaluation::Covers;

    #[test]
    fn rounding_is_shown_as_nothing() {
        let estimate = |value: f64, low, high| Estimate {
            value,
            low,
            high,
            effective_sample_size: None,
            covers: Covers::Arms,
        };
        let score = Score {
            estimator: Estimator::Fluid,
            value: estimate(41.5, 40.0, 43.0),
            gain_over_random: Some(estimate(-8.88e-16, -1.7e-15, 2.1e-15)),
            gain_over_no_action: Some(estimate(1e-7, 0.5, f64::NAN)),
            dropped: 0,
            without_overlap: 0,
        };
        let shown = &table(&[("random", &score)])[1];
        assert_eq!(shown[3..5], ["0.0000", "[0.0000, 0.0000]"]);
        assert_eq!(shown[5..], ["1.00e-7", "[0.5000, –]"]);
    }
}
