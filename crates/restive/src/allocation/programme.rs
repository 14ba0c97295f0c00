//! A few people as an integer programme, the others as they are.
//!
//! One binary unknown per free person; a row for each set that holds one, for K and for the costs. Values and costs are scaled by
//! their largest. The search ends at a number of nodes, never by the clock, so that it can be repeated.

use super::ranked::{Bounds, Ranked};
use microlp::{ComparisonOp, Error, OptimizationDirection, Problem, SolutionStatus, SolveOptions, Variable};

/// The nodes of a search at most.
const NODES: u64 = 2_000;

/// What a search found.
#[derive(Debug)]
pub(super) enum Solved {
    /// no list keeps the rules
    Infeasible,
    /// the best list
    Optimal(Vec<bool>),
    /// a list, and what no list of these unknowns can be worth more than
    Feasible(Vec<bool>, f64),
    /// the search ended before it knew
    Unknown,
}

/// The best list that differs from `fixed` in the `free` people only, for these values.
pub(super) fn programme(
    ranked: &Ranked,
    value: &[f64],
    bounds: &Bounds,
    least_filled: usize,
    free: &[usize],
    fixed: &[bool],
) -> Solved {
    let mut is_free = vec![false; ranked.len()];
    free.iter().for_each(|&rank| is_free[rank] = true);
    let is_fixed = |rank: usize| fixed[rank] && !is_free[rank];
    let mut load = vec![0usize; ranked.sets.len()];
    let (mut filled, mut spent, mut worth) = (0, 0.0, 0.0);
    for rank in (0..ranked.len()).filter(|rank| is_fixed(*rank)) {
        ranked.sets_of(rank).for_each(|set| load[set] += 1);
        filled += 1;
        spent += ranked.cost.as_ref().map_or(0.0, |cost| cost[rank]);
        worth += value[rank];
    }
    let scale = largest(free.iter().map(|&rank| value[rank]));
    let mut problem = Problem::new(OptimizationDirection::Maximize);
    let mut rows: Vec<Vec<(Variable, f64)>> = vec![Vec::new(); ranked.sets.len()];
    let mut unknowns = Vec::with_capacity(free.len());
    for &rank in free {
        let unknown = problem.add_binary_var(value[rank] / scale);
        ranked.sets_of(rank).for_each(|set| rows[set].push((unknown, 1.0)));
        unknowns.push(unknown);
    }
    for (set, row) in rows.iter().enumerate() {
        if load[set] > bounds.at_most[set] || load[set] + row.len() < bounds.at_least[set] {
            return Solved::Infeasible;
        }
        if bounds.at_most[set] - load[set] < row.len() {
            problem.add_constraint(row, ComparisonOp::Le, (bounds.at_most[set] - load[set]) as f64);
        }
        if bounds.at_least[set] > load[set] {
            problem.add_constraint(row, ComparisonOp::Ge, (bounds.at_least[set] - load[set]) as f64);
        }
    }
    let all = || unknowns.iter().map(|unknown| (*unknown, 1.0));
    if filled > bounds.places || filled + free.len() < least_filled {
        return Solved::Infeasible;
    }
    if bounds.places - filled < free.len() {
        problem.add_constraint(all(), ComparisonOp::Le, (bounds.places - filled) as f64);
    }
    if least_filled > filled {
        problem.add_constraint(all(), ComparisonOp::Ge, (least_filled - filled) as f64);
    }
    if let Some(cost) = ranked.cost.as_ref().filter(|_| bounds.most_cost.is_finite()) {
        let unit = largest(free.iter().map(|&rank| cost[rank]));
        let left = bounds.most_cost * (1.0 + 1e-9) - spent;
        if left < 0.0 {
            return Solved::Infeasible;
        }
        let row = unknowns.iter().zip(free).filter(|(_, rank)| cost[**rank] > 0.0);
        let row = row.map(|(unknown, rank)| (*unknown, cost[*rank] / unit));
        problem.add_constraint(row.collect::<Vec<_>>(), ComparisonOp::Le, left / unit);
    }
    let mut chosen: Vec<bool> = (0..ranked.len()).map(is_fixed).collect();
    if free.is_empty() {
        return if ranked.is_kept(&chosen, bounds) { Solved::Optimal(chosen) } else { Solved::Infeasible };
    }
    let mut options = SolveOptions::default();
    options.node_limit = Some(NODES);
    let solution = match problem.solve_with(options).map(|outcome| outcome.into_solution()) {
        Ok(Ok(solution)) => solution,
        Err(Error::Infeasible) => return Solved::Infeasible,
        _ => return Solved::Unknown,
    };
    free.iter().zip(&unknowns).for_each(|(rank, unknown)| chosen[*rank] = solution.var_value(*unknown) > 0.5);
    let is_filled = chosen.iter().filter(|chosen| **chosen).count() >= least_filled;
    if !is_filled || !ranked.is_kept(&chosen, bounds) {
        return Solved::Unknown;
    }
    match (solution.status(), solution.stats().best_bound) {
        (SolutionStatus::Optimal, _) => Solved::Optimal(chosen),
        (_, bound) => Solved::Feasible(chosen, bound.map_or(f64::INFINITY, |bound| worth + bound * scale)),
    }
}

/// By how much floors and must-calls have to be lowered in all, with these people free and nobody else chosen; nothing where the
/// search did not find out.
pub(super) fn missing(ranked: &Ranked, bounds: &Bounds, free: &[usize]) -> Option<usize> {
    let mut problem = Problem::new(OptimizationDirection::Maximize);
    let mut rows: Vec<Vec<(Variable, f64)>> = vec![Vec::new(); ranked.sets.len()];
    let mut all = Vec::with_capacity(free.len());
    for &rank in free {
        let unknown = problem.add_binary_var(f64::from(bounds.must[rank]));
        ranked.sets_of(rank).for_each(|set| rows[set].push((unknown, 1.0)));
        all.push((unknown, 1.0));
    }
    let mut wanted = bounds.must.iter().filter(|must| **must).count();
    for (set, mut row) in rows.into_iter().enumerate() {
        let (least, most) = (bounds.at_least[set], bounds.at_most[set]);
        if most < row.len() {
            problem.add_constraint(&row, ComparisonOp::Le, most as f64);
        }
        wanted += least;
        if least > 0 {
            // what is served: at most the floor, at most the places
            let served = problem.add_integer_var(1.0, (0, i32::try_from(least).unwrap_or(i32::MAX)));
            row.push((served, -1.0));
            problem.add_constraint(row, ComparisonOp::Ge, 0.0);
        }
    }
    if let Some(cost) = ranked.cost.as_ref().filter(|_| bounds.most_cost.is_finite()) {
        let unit = largest(free.iter().map(|&rank| cost[rank]));
        let row = all.iter().zip(free).filter(|(_, rank)| cost[**rank] > 0.0);
        let row = row.map(|((unknown, _), rank)| (*unknown, cost[*rank] / unit));
        let most = bounds.most_cost * (1.0 + 1e-9) / unit;
        problem.add_constraint(row.collect::<Vec<_>>(), ComparisonOp::Le, most);
    }
    problem.add_constraint(all, ComparisonOp::Le, bounds.places as f64);
    let mut options = SolveOptions::default();
    options.node_limit = Some(NODES);
    let solution = problem.solve_with(options).ok()?.into_solution().ok()?;
    Some(wanted.saturating_sub(solution.objective().round() as usize))
}

/// The largest size of some numbers, or 1.
fn largest(numbers: impl Iterator<Item = f64>) -> f64 {
    let largest = numbers.fold(0.0, |largest: f64, x| largest.max(x.abs()));
    if largest > 0.0 { largest } else { 1.0 }
}
