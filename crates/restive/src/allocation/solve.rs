//! From a problem to a list, by the method its rules allow.

use super::conflict::conflict;
use super::dual::worth;
use super::flow::{Flowed, flow};
use super::greedy::greedy;
use super::integer::{Found, integer};
use super::problem::{Allocation, Method, Problem};
use super::ranked::{Bounds, Ranked};
use super::refusal::Refusal;
use super::structure::Structure;
use crate::error::Error;

/// Who gets the places: the list worth most under the rules, with its proof or its gap.
pub fn allocate(problem: &Problem<'_>) -> Result<Allocation, Refusal> {
    problem.check()?;
    let (ranked, bounds) = Ranked::new(problem);
    let structure = Structure::of(&ranked);
    let solved = solve(&ranked, &bounds, problem.fill, &structure)?;
    match solved {
        Some(solved) => Ok(solved.allocation(&ranked)),
        None => Err(Refusal::Conflict(conflict(&ranked, &bounds, &structure))),
    }
}

/// A list by ranks.
#[derive(Debug)]
pub(super) struct Solved {
    pub chosen: Vec<bool>,
    pub method: Method,
    pub gap: f64,
    /// the flow it comes from
    pub flowed: Option<Flowed>,
}

impl Solved {
    pub(super) fn allocation(&self, ranked: &Ranked) -> Allocation {
        Allocation {
            chosen: ranked.by_position(&self.chosen),
            value: worth(&ranked.value, &self.chosen),
            places_filled: self.chosen.iter().filter(|chosen| **chosen).count(),
            method: self.method,
            gap: self.gap,
        }
    }
}

/// The best list, or nothing where the rules cannot be met. A limit of costs that the best list keeps anyway needs no programme.
pub(super) fn solve(
    ranked: &Ranked,
    bounds: &Bounds,
    fill: bool,
    structure: &Structure,
) -> Result<Option<Solved>, Error> {
    let exact = match structure {
        Structure::Laminar(tree) => match greedy(ranked, bounds, fill, tree) {
            Some(chosen) => Some(Solved { chosen, method: Method::Greedy, gap: 0.0, flowed: None }),
            None => return Ok(None),
        },
        Structure::Two(first, second) => {
            let mut flowed = flow(ranked, &ranked.value, bounds, fill, (first, second));
            if flowed.missing > 0 {
                return Ok(None);
            }
            let chosen = std::mem::take(&mut flowed.chosen);
            Some(Solved { chosen, method: Method::Flow, gap: 0.0, flowed: Some(flowed) })
        }
        Structure::Other => None,
    };
    if let Some(solved) = exact.filter(|solved| ranked.is_affordable(&solved.chosen, bounds)) {
        return Ok(Some(solved));
    }
    match integer(ranked, bounds, fill) {
        Found::List(chosen, gap) => Ok(Some(Solved { chosen, method: Method::Integer, gap, flowed: None })),
        Found::Infeasible => Ok(None),
        Found::Unknown => Err(Error::TooLarge {
            what: "an integer programme of people in crossing groups".into(),
            needed: ranked.len() as f64,
            limit: super::integer::CORE as f64,
            unit: "people",
        }),
    }
}
