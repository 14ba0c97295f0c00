//! What the differences say in sentences.

use super::difference::{Difference, HISTORIES, LEVEL, PARTS, TRAININGS, against_best, over};
use crate::Regime;
use crate::experiment::page::with_error;
use crate::experiment::quality;
use crate::experiment::rows::{Row, runs};
use restive_report::number::fixed;

/// What the numbers say.
pub(super) fn sentences(rows: &[Row], regimes: &[Regime]) -> Vec<String> {
    let count = runs(rows);
    if count < 2 {
        return vec!["One run says nothing of noise: no differences were tested.".into()];
    }
    let few = if count < quality::RUNS[0] {
        format!(" {count} runs are too few for a claim.")
    } else {
        String::new()
    };
    let recommended = over(rows, regimes, TRAININGS[0]);
    let mut said = vec![format!(
        "At the same index discount the recommended training is significantly better than two-stage training (p < {LEVEL}, paired t) {}; \
         significantly worse {}. Of {} regimes, {} would differ by chance alone.{few}",
        places(&recommended, 1),
        places(&recommended, -1),
        regimes.len(),
        fixed(LEVEL * regimes.len() as f64, 1)
    )];
    for comparison in &TRAININGS[1..] {
        let name = comparison.name.split_once(" −").map_or(comparison.name, |(name, _)| name);
        let found = over(rows, regimes, *comparison);
        said.push(if found.iter().all(|difference| difference.direction() == 0) {
            format!("{name} differs significantly from two-stage training in no regime.")
        } else {
            format!(
                "{name} is significantly better {}; significantly worse {}.",
                places(&found, 1),
                places(&found, -1)
            )
        });
    }
    for (steps, comparison) in HISTORIES {
        let found = over(rows, regimes, comparison);
        said.push(format!(
            "A history of {steps} steps adds significantly {}; it costs significantly {}.",
            places(&found, 1),
            places(&found, -1)
        ));
    }
    let best: Vec<Difference> =
        against_best(rows, regimes).into_iter().map(|(_, difference)| difference).collect();
    if !best.is_empty() {
        said.push(format!(
            "On {} data sets the default (auto, planned for the horizon) was held against the single predictor that is best with hindsight, \
             planned by a Whittle index: significantly better {}; significantly worse {}. After Holm's correction better {}, worse {}.",
            best.len(),
            places(&best, 1),
            places(&best, -1),
            corrected_places(&best, 1),
            corrected_places(&best, -1)
        ));
    }
    for comparison in PARTS {
        let (name, found) = (comparison.name, over(rows, regimes, comparison));
        let is_nothing = found.iter().all(|difference| difference.direction() == 0);
        said.push(match found.len() {
            0 => continue,
            _ if is_nothing => format!("{name}: no significant difference in any regime."),
            many => format!(
                "{name}: significantly more {}; significantly less {}. After Holm's correction over {many} regimes more {}, less {}.",
                places(&found, 1),
                places(&found, -1),
                corrected_places(&found, 1),
                corrected_places(&found, -1)
            ),
        });
    }
    said
}

/// In which regimes, by how many points.
fn places(found: &[Difference], direction: i32) -> String {
    let there = found.iter().filter(|difference| difference.direction() == direction);
    listed(
        there.map(|found| format!("{} ({})", found.regime.name(), with_error(&found.points(), 2))).collect(),
    )
}

/// The same after the correction.
fn corrected_places(found: &[Difference], direction: i32) -> String {
    let there = found.iter().filter(|difference| difference.corrected_direction() == direction);
    listed(there.map(|found| found.regime.name().to_string()).collect())
}

fn listed(names: Vec<String>) -> String {
    if names.is_empty() { "nowhere".into() } else { format!("in {}", names.join(", ")) }
}
