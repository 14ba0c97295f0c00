//! [Learning](super::learn) a rule where states are seen at pulls only.

use super::learn::{judged, on_fold};
use super::sighted::{Halves, fit};
use super::{FOLDS, HeldOut, HistoryLead, Learnt, RestsOn, Rule};
use crate::instance::Observation;
use crate::statistics::mean;

pub(super) fn learn(held_out: &[HeldOut<'_>], rho: Option<f64>) -> Learnt {
    let is_collapsing = |h: &HeldOut<'_>| matches!(h.observation, Observation::Collapsing(_));
    assert!(held_out.iter().all(is_collapsing), "states are seen at every step in every log, or in none");
    let folds: Vec<Vec<Halves>> = (0..FOLDS)
        .map(|fold| {
            on_fold(
                held_out,
                fold,
                |h, arms| if arms.is_empty() { vec![] } else { vec![Halves::new(h, arms)] },
            )
        })
        .collect();
    let all: Vec<&Halves> = folds.iter().flatten().collect();
    let mut leads = Vec::new();
    for fold in 0..FOLDS {
        let others: Vec<&Halves> =
            folds.iter().enumerate().filter(|(k, _)| *k != fold).flat_map(|(_, halves)| halves).collect();
        let fitted = fit(&others, rho).carry;
        folds[fold].iter().for_each(|halves| leads.extend(halves.leads(&fitted)));
    }
    let carry = fit(&all, rho);
    let judged_on = |n: &[f64; 2]| n[0] > 0.0 && n[1] > 0.0;
    let sightings =
        |which: usize| all.iter().map(|halves| halves.sightings()[which]).sum::<f64>().round() as usize;
    let rests_on = RestsOn {
        arms: leads.iter().filter(|(_, n)| n[0] + n[1] > 0.0).count(),
        moves: sightings(0),
        called: sightings(1),
        called_later: leads.iter().filter(|(_, n)| judged_on(n)).count(),
    };
    let numbers: Vec<f64> = leads.iter().filter(|(_, n)| n[1] > 0.0).map(|(lead, _)| *lead).collect();
    let seen = mean(&numbers).ok();
    let carry_lead = HistoryLead { called: seen, all: seen };
    let (rule, candidate, why) = judged(&[(Rule::Carry(carry.carry), carry_lead)], rests_on);
    Learnt { rule, candidate, why, carry, carry_lead, gauss: None, gauss_lead: None, rests_on }
}
