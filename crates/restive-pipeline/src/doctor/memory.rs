//! `memory`: does the past beyond the current state foretell the next one?
//!
//! Moves are counted twice: n(s, a, s′), and n(s₋, s, a, s′) with the state before. Twice the gain in log-likelihood is χ² with f degrees
//! of freedom where the state is all that matters; less f/2, which chance alone would give, and per move it is what a longer memory would
//! add. As a share of −ln P per move it says how much. People who differ in what the state does not show look like memory too.

use super::finding::{Finding, Severity};
use super::log::{Log, seen};
use crate::words::percent;
use restive::instance::NO_ACTION;
use std::collections::BTreeMap;

const NAME: &str = "memory";
/// Moves below which nobody can tell.
const FEW: u64 = 200;

pub(super) fn memory(log: &Log<'_>) -> Finding {
    if !log.is_full {
        return Finding::collapsing(NAME);
    }
    // (s, a) → s₋ → s′ → how often
    let mut counts = BTreeMap::<(usize, u8), BTreeMap<usize, BTreeMap<usize, u64>>>::new();
    let m = log.states;
    // dense where that is small, which is nearly always
    let mut dense = if m <= 16 { vec![0u64; m * m * m * 2] } else { Vec::new() };
    for moment in log.moments() {
        let (Some((before, _)), Some(next)) = (moment.before, moment.next) else { continue };
        for (((&before, &s), &a), &next) in before.iter().zip(&moment.state).zip(&moment.action).zip(&next) {
            if let (Some(before), Some(s), Some(next)) = (seen(before), seen(s), seen(next))
                && a != NO_ACTION
            {
                match dense.is_empty() {
                    false => dense[((s * 2 + usize::from(a)) * m + before) * m + next] += 1,
                    true => {
                        *counts
                            .entry((s, a))
                            .or_default()
                            .entry(before)
                            .or_default()
                            .entry(next)
                            .or_default() += 1
                    }
                }
            }
        }
    }
    for (cell, count) in dense.iter().enumerate().filter(|(_, count)| **count > 0) {
        let (next, before, a, s) = (cell % m, cell / m % m, cell / (m * m) % 2, cell / (m * m * 2));
        *counts.entry((s, a as u8)).or_default().entry(before).or_default().entry(next).or_default() += count;
    }
    let (mut gain, mut base, mut freedom, mut moves) = (0.0, 0.0, 0.0, 0u64);
    for by_past in counts.values() {
        let mut all = BTreeMap::<usize, u64>::new();
        by_past.values().flatten().for_each(|(next, count)| *all.entry(*next).or_default() += count);
        let together = likelihood(&all);
        base -= together;
        gain += by_past.values().map(likelihood).sum::<f64>() - together;
        freedom += ((by_past.len() - 1) * (all.len() - 1)) as f64;
        moves += all.values().sum::<u64>();
    }
    if moves < FEW || freedom == 0.0 || base <= 0.0 {
        return Finding::note(
            NAME,
            format!(
                "Cannot tell: {moves} moves with a state before them, expected at least {FEW} that differ."
            ),
        );
    }
    let z = (2.0 * gain - freedom) / (2.0 * freedom).sqrt();
    let share = ((gain - 0.5 * freedom) / base).max(0.0);
    let added = ((gain - 0.5 * freedom) / moves as f64).max(0.0);
    let found = format!(
        "The state before the current one would explain {} more of the next one ({added:.4} nats per move of {:.3}; z = {z:.1}).",
        percent(share),
        base / moves as f64
    );
    let what = "add what makes people differ as features, a state that says for how long, or let training weigh a person's own record (history)";
    match z > 4.0 {
        true if share > 0.05 => Finding::new(NAME, Severity::Warning, found, what),
        true if share > 0.01 => Finding::new(NAME, Severity::Note, found, what),
        _ => Finding::fine(NAME, found),
    }
}

/// Σ n ln(n/N)
fn likelihood(counts: &BTreeMap<usize, u64>) -> f64 {
    let all = counts.values().sum::<u64>() as f64;
    counts.values().map(|count| *count as f64 * (*count as f64 / all).ln()).sum()
}
