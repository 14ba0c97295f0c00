//! What a floor costs: the value lost as a group's places are raised, and who pays.
//!
//! The places are dealt without the floor, and once more for each floor from what the group has to the most that the other rules leave it; all
//! other rules stay. Where groups are nested the value is concave in the floor: every further place costs at least as much as the one before. Crossing rules may
//! need an integer programme, whose gap is then a part of the answer.

use super::groups::Groups;
use crate::allocation::{Allocation, Family, NO_GROUP, Problem, Refusal, allocate};
use crate::error::Error;
use crate::interrupt;

/// What floors for one group cost.
#[derive(Debug, Clone, PartialEq)]
pub struct FloorPrices {
    /// what the list is worth without a floor
    pub value: f64,
    /// the places of every group without a floor
    pub places: Vec<usize>,
    /// the highest floor that the other rules leave room for
    pub most: usize,
    /// rising floors, each above what the group has anyway; none where it can have no more
    pub floors: Vec<FloorPrice>,
}

/// What one floor costs.
#[derive(Debug, Clone, PartialEq)]
pub struct FloorPrice {
    /// the places that the group gets at least
    pub floor: usize,
    /// the value lost
    pub lost: f64,
    /// the same in per cent of the value without a floor; nothing where that is not above 0
    pub percent: Option<f64>,
    /// how many places every group has more, or fewer, than without a floor
    pub change: Vec<i64>,
    /// the value lost is at most this much less: 0 where both lists are proven the best
    pub gap: f64,
}

/// What it costs to give a group more places, in at most `steps` steps up to the most it can have.
///
/// ```
/// use restive::allocation::Problem;
/// use restive::fairness::{Groups, floor_prices};
///
/// let groups = Groups::new(vec!["rural".into(), "urban".into()], &[Some(0), Some(0), Some(1), Some(1)], "")?;
/// let problem = Problem {
///     value: &[0.3, 0.1, 0.9, 0.8],
///     key: &[0, 1, 2, 3],
///     must: &[false; 4],
///     places: 2,
///     fill: true,
///     families: &[],
///     cost: None,
/// };
/// let prices = floor_prices(&problem, &groups, 0, 10)?;
/// let lost: Vec<f64> = prices.floors.iter().map(|floor| floor.lost).collect();
/// assert!((lost[0] - 0.5).abs() < 1e-12 && (lost[1] - 1.3).abs() < 1e-12);
/// assert_eq!(prices.floors[0].change, [1, -1]);
/// # Ok::<(), restive::allocation::Refusal>(())
/// ```
pub fn floor_prices(
    problem: &Problem<'_>,
    groups: &Groups,
    group: usize,
    steps: usize,
) -> Result<FloorPrices, Refusal> {
    let (people, known) = (groups.of().len(), groups.names().len());
    if people != problem.value.len() {
        let expected = format!("[{people}], as the groups");
        return Err(Error::Shape { what: "value", expected, found: vec![problem.value.len()] }.into());
    }
    if group >= known {
        let expected = format!("a number below {known}");
        return Err(Error::Unsuitable { what: "group", found: group.to_string(), expected }.into());
    }
    let is_inside = |g: &u32| *g as usize == group;
    let size = groups.of().iter().filter(|g| is_inside(g)).count();
    let member = |g: &u32| if is_inside(g) { 0 } else { NO_GROUP };
    let mut families = problem.families.to_vec();
    families.push(Family {
        group: groups.of().iter().map(member).collect(),
        at_least: vec![0],
        at_most: vec![usize::MAX],
    });
    let places = |list: &Allocation| {
        let mut places = vec![0; known];
        let chosen = groups.of().iter().zip(&list.chosen).filter(|(_, chosen)| **chosen);
        chosen.for_each(|(g, _)| places[*g as usize] += 1);
        places
    };
    let free = allocate(problem)?;
    let before = places(&free);
    let mut with = |floor: usize| {
        interrupt::check();
        if let Some(last) = families.last_mut() {
            last.at_least[0] = floor;
        }
        match allocate(&Problem { families: &families, ..*problem }) {
            Ok(list) => Ok(Some(list)),
            Err(Refusal::Conflict(_)) => Ok(None),
            Err(other) => Err(other),
        }
    };
    // a floor that can be kept leaves all lower ones
    let (mut most, mut beyond) = (before[group], size.min(problem.places) + 1);
    let mut next = beyond - 1;
    while beyond > most + 1 {
        *(if with(next)?.is_some() { &mut most } else { &mut beyond }) = next;
        next = most + (beyond - most) / 2;
    }
    let more = most - before[group];
    let mut at: Vec<usize> =
        (1..=steps.min(more)).map(|k| before[group] + (k * more).div_ceil(steps.min(more))).collect();
    at.dedup();
    let mut floors = Vec::with_capacity(at.len());
    for floor in at {
        let Some(list) = with(floor)? else { continue };
        let lost = free.value - list.value;
        let change =
            places(&list).iter().zip(&before).map(|(now, then)| *now as i64 - *then as i64).collect();
        let percent = (free.value > 0.0).then(|| 100.0 * lost / free.value);
        floors.push(FloorPrice { floor, lost, percent, change, gap: free.gap.max(list.gap) });
    }
    Ok(FloorPrices { value: free.value, places: before, most, floors })
}
