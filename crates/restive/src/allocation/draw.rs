//! Lists by rank and by lot, with the probability that each person is on them.

use super::conflict::conflict;
use super::dual::worth;
use super::flow::flow;
use super::greedy::Filling;
use super::integer::{Found, integer};
use super::key::fresh;
use super::lot::{Listed, general, laminar};
use super::problem::{Allocation, Method, Problem};
use super::ranked::{Bounds, Ranked};
use super::refusal::Refusal;
use super::structure::Structure;
use crate::interrupt;
use std::collections::HashMap;

/// How chance comes in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Draw {
    /// E, how many of the K places are kept for a draw among everybody whom rank did not choose
    pub explore: usize,
    /// R, how often the list is made again where probabilities are simulated
    pub repetitions: usize,
    /// whether the draw has a part of its own of every cap and of the costs, ⌊E/K of it⌋, that places by rank leave it: otherwise nobody is drawn
    /// in a group that rank fills
    pub is_reserved: bool,
    /// whether probabilities that would have to be simulated over all ties are given who got a place by rank, where there is a draw. That is
    /// all that evidence needs, and it needs no list to be made again
    pub is_given_ranks: bool,
}

impl Default for Draw {
    fn default() -> Self {
        Self { explore: 0, repetitions: 1_000, is_reserved: false, is_given_ranks: false }
    }
}

/// A list with the probability of everybody to be on it.
#[derive(Debug, Clone, PartialEq)]
pub struct Drawn {
    /// the list; its gap is that of the places by rank
    pub allocation: Allocation,
    /// `[N]`: whether a place was won in the draw
    pub by_lot: Vec<bool>,
    /// `[N]`: the probability to be on the list, over all keys
    pub probability: Vec<f64>,
    /// where the probabilities come from
    pub inclusion: Inclusion,
}

/// Where probabilities come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Inclusion {
    /// they are those of the procedure, up to rounding
    Exact,
    /// the list was made this many times more with fresh keys, and each probability is a mean over these lists and the one that stands:
    /// nobody on the list has probability 0
    Simulated {
        /// the lists made with fresh keys
        repetitions: usize,
    },
}

/// Who gets the places, by rank and by lot.
///
/// The first K − E places go by rank under all rules, must-calls and floors included; the other E are drawn among everybody else, as
/// evenly as caps, K and costs allow, whatever their value. Where floors and must-calls need more than K − E places, they have them,
/// and fewer are drawn; where costs leave no list of K − E places, nothing is.
pub fn draw(problem: &Problem<'_>, draw: &Draw) -> Result<Drawn, Refusal> {
    problem.check()?;
    let (ranked, bounds) = Ranked::new(problem);
    let structure = Structure::of(&ranked);
    let Some(explore) = affordable(&ranked, &bounds, &structure, draw.explore.min(bounds.places)) else {
        return Err(Refusal::Conflict(conflict(&ranked, &bounds, &structure)));
    };
    let list = |ranked: &Ranked, bounds: &Bounds, structure: &Structure, fixed: Option<&[bool]>| {
        // all rules hold for the places by rank, and there are fewer of these
        let fewer = Bounds { places: bounds.places - explore, ..bounds.clone() };
        let made = |by_rank: &Bounds| match structure {
            Structure::Laminar(tree) if ranked.cost.is_none() => {
                Ok(laminar(ranked, [by_rank, bounds], problem.fill, explore, tree))
            }
            _ => general(ranked, [by_rank, bounds], problem.fill, explore, structure, fixed),
        };
        // floors may need what would be kept for the draw
        let kept = match draw.is_reserved && explore > 0 {
            true => made(&reserved(ranked, bounds, &fewer))?,
            false => None,
        };
        match kept {
            Some(listed) => Ok(Some(listed)),
            None => made(&fewer),
        }
    };
    let Some(listed) = list(&ranked, &bounds, &structure, None)? else {
        return match explore {
            0 => Err(Refusal::Conflict(conflict(&ranked, &bounds, &structure))),
            // the costs may ask for more places than floors and must-calls alone
            _ => self::draw(problem, &Draw { explore: 0, ..*draw }),
        };
    };
    let mut probability = ranked.by_position(&listed.chance);
    let mut inclusion = Inclusion::Exact;
    let is_given = draw.is_given_ranks && explore > 0;
    // what was dealt without costs among nested groups is exact, given the ranks
    let is_exact = listed.is_exact || is_given && listed.is_exact_given_ranks;
    if !is_exact {
        let repetitions = draw.repetitions.min(limit(&ranked, &bounds, &listed, is_given));
        let by_rank: Vec<bool> = (0..ranked.len()).map(|i| listed.chosen[i] && !listed.by_lot[i]).collect();
        let mut same = ranked.clone();
        for repetition in 0..repetitions as u64 {
            interrupt::check();
            let again = if listed.is_tied && !is_given {
                // fresh keys give fresh ranks, and with them another tree
                let key: Vec<u64> = problem.key.iter().map(|key| fresh(*key, repetition)).collect();
                let (ranked, bounds) = Ranked::new(&Problem { key: &key, ..*problem });
                let again = list(&ranked, &bounds, &Structure::of(&ranked), None)?;
                again.map(|again| ranked.by_position(&again.chance))
            } else {
                // only the lot is drawn again
                same.key.iter_mut().zip(&ranked.key).for_each(|(new, key)| *new = fresh(*key, repetition));
                let again = list(&same, &bounds, &structure, Some(&by_rank))?;
                again.map(|again| ranked.by_position(&again.chance))
            };
            let chance = again.into_iter().flatten();
            probability.iter_mut().zip(chance).for_each(|(sum, chance)| *sum += chance);
        }
        probability.iter_mut().for_each(|sum| *sum /= (repetitions + 1) as f64);
        if !listed.is_tied || is_given {
            even_out(&ranked, &by_rank, &mut probability);
        }
        inclusion = Inclusion::Simulated { repetitions };
    }
    // means and shares of rooms may exceed 1 by their rounding
    probability.iter_mut().for_each(|p| *p = p.min(1.0));
    Ok(Drawn {
        allocation: Allocation {
            value: worth(&ranked.value, &listed.chosen),
            places_filled: listed.chosen.iter().filter(|chosen| **chosen).count(),
            chosen: ranked.by_position(&listed.chosen),
            method: listed.method,
            gap: listed.gap,
        },
        by_lot: ranked.by_position(&listed.by_lot),
        probability,
        inclusion,
    })
}

/// The rules of the places by rank, less what is kept for the draw; floors and must-calls have what they need.
fn reserved(ranked: &Ranked, bounds: &Bounds, fewer: &Bounds) -> Bounds {
    let explore = bounds.places - fewer.places;
    let mut needed = bounds.at_least.clone();
    let mut must = vec![0; needed.len()];
    for rank in (0..ranked.len()).filter(|rank| bounds.must[*rank]) {
        ranked.sets_of(rank).for_each(|set| must[set] += 1);
    }
    needed.iter_mut().zip(must).for_each(|(needed, must)| *needed = (*needed).max(must));
    let part = |cap: usize| (cap as u128 * explore as u128 / bounds.places.max(1) as u128) as usize;
    let kept = |(cap, needed): (&usize, &usize)| (cap - part(*cap)).max((*needed).min(*cap));
    Bounds {
        at_most: bounds.at_most.iter().zip(&needed).map(kept).collect(),
        most_cost: bounds.most_cost * (fewer.places as f64 / bounds.places.max(1) as f64),
        ..fewer.clone()
    }
}

/// People of the same groups at the same cost have the same chance in the draw: their simulated chances are one number, and do not depend
/// on which of them was drawn.
fn even_out(ranked: &Ranked, by_rank: &[bool], probability: &mut [f64]) {
    let mut cells: HashMap<(Vec<usize>, u64), (f64, usize)> = HashMap::new();
    let cell = |rank: usize| {
        let cost = ranked.cost.as_ref().map_or(0, |cost| (cost[rank] + 0.0).to_bits());
        (ranked.sets_of(rank).collect::<Vec<usize>>(), cost)
    };
    let drawn = || (0..ranked.len()).filter(|rank| !by_rank[*rank]);
    for rank in drawn() {
        let sum = cells.entry(cell(rank)).or_default();
        *sum = (sum.0 + probability[ranked.order[rank] as usize], sum.1 + 1);
    }
    for rank in drawn() {
        let (sum, people) = cells[&cell(rank)];
        probability[ranked.order[rank] as usize] = sum / people as f64;
    }
}

/// How many places can be drawn beside floors and must-calls; nothing where the rules cannot be met at all.
fn affordable(ranked: &Ranked, bounds: &Bounds, structure: &Structure, explore: usize) -> Option<usize> {
    let least = match structure {
        Structure::Laminar(tree) => Filling::new(tree, bounds)?.load[0] as usize,
        Structure::Two(first, second) => {
            let found = flow(ranked, &vec![-1.0; ranked.len()], bounds, false, (first, second));
            if found.missing > 0 {
                return None;
            }
            found.chosen.iter().filter(|chosen| **chosen).count()
        }
        Structure::Other => {
            let mut each = ranked.clone();
            each.value.fill(-1.0);
            match integer(&each, bounds, false) {
                Found::List(chosen, _) => chosen.iter().filter(|chosen| **chosen).count(),
                Found::Infeasible => return None,
                Found::Unknown => bounds.places,
            }
        }
    };
    Some(explore.min(bounds.places - least.min(bounds.places)))
}

/// How many repetitions a problem of this size can have: a matter of its numbers, never of the clock.
fn limit(ranked: &Ranked, bounds: &Bounds, listed: &Listed, is_given: bool) -> usize {
    let people = ranked.len().max(1);
    let work = match listed.method {
        _ if !listed.is_tied || is_given => people,
        Method::Greedy => people,
        Method::Flow => people + bounds.places * people / 100,
        Method::Integer => people * 5_000,
    };
    (20_000_000 / work).max(20)
}
