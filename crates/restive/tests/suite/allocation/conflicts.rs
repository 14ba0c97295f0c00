//! Conflicts, against all sets of rules.
//!
//! Every list breaks some rules. A set of rules is in conflict if it has one of them for every list.

use super::cases::{Case, HARSH, Shape};
use rand::RngExt;
use restive::allocation::{Conflict, NO_GROUP, Refusal, RuleRef, allocate};
use restive::random::stream;

/// All rules of a case, each must-call alone.
fn rules(case: &Case) -> Vec<RuleRef> {
    let mut rules = vec![RuleRef::Places];
    for (family, rule) in case.families.iter().enumerate() {
        for group in 0..rule.at_least.len() {
            rules.push(RuleRef::AtMost { family, group });
            if rule.at_least[group] > 0 {
                rules.push(RuleRef::AtLeast { family, group });
            }
        }
    }
    rules.extend((0..case.must.len()).filter(|i| case.must[*i]).map(|i| RuleRef::Must { people: vec![i] }));
    if case.cost.is_some() {
        rules.push(RuleRef::Cost);
    }
    rules
}

/// For each list the rules that it breaks, without those that hold another's.
fn broken(case: &Case, rules: &[RuleRef]) -> Vec<u64> {
    let mut all: Vec<u64> = Vec::new();
    for list in 0..1u32 << case.value.len() {
        let is_on = |i: usize| list >> i & 1 == 1;
        let loads = case.loads(is_on);
        let is_broken = |rule: &RuleRef| match rule {
            RuleRef::Places => list.count_ones() as usize > case.places,
            RuleRef::AtLeast { family, group } => {
                loads[*family][*group] < case.families[*family].at_least[*group]
            }
            RuleRef::AtMost { family, group } => {
                loads[*family][*group] > case.families[*family].at_most[*group]
            }
            RuleRef::Must { people } => !is_on(people[0]),
            RuleRef::Cost => {
                let (of, most) = case.cost.as_ref().unwrap();
                (0..of.len()).filter(|i| is_on(*i)).map(|i| of[i]).sum::<f64>() > *most
            }
        };
        all.push((0..rules.len()).filter(|k| is_broken(&rules[*k])).map(|k| 1 << k).sum());
    }
    all.sort_unstable_by_key(|mask: &u64| mask.count_ones());
    let mut least: Vec<u64> = Vec::new();
    for mask in all {
        if !least.iter().any(|other| other & mask == *other) {
            least.push(mask);
        }
    }
    least
}

/// The size of the smallest set that has a rule in each.
fn smallest(sets: &[u64], chosen: u64, most: usize) -> bool {
    match sets.iter().find(|set| **set & chosen == 0) {
        None => true,
        Some(_) if most == 0 => false,
        Some(open) => {
            (0..64).filter(|k| open >> k & 1 == 1).any(|k| smallest(sets, chosen | 1 << k, most - 1))
        }
    }
}

/// By how much floors and must-calls are lowered at least.
fn missing(case: &Case) -> usize {
    let mut loose = case.clone();
    loose.must.fill(false);
    loose.families.iter_mut().for_each(|family| family.at_least.fill(0));
    let mut least = usize::MAX;
    for list in 0..1u32 << case.value.len() {
        let is_on = |i: usize| list >> i & 1 == 1;
        if !loose.is_kept(is_on) {
            continue;
        }
        let loads = case.loads(is_on);
        let floors: usize = case
            .families
            .iter()
            .zip(&loads)
            .map(|(f, load)| (0..load.len()).map(|g| f.at_least[g].saturating_sub(load[g])).sum::<usize>())
            .sum();
        let musts = (0..case.must.len()).filter(|i| case.must[*i] && !is_on(*i)).count();
        least = least.min(floors + musts);
    }
    least
}

fn check(case: &Case, found: &Conflict, context: &str) {
    let rules = rules(case);
    let mut mask = 0u64;
    let mut add = |rule: RuleRef| {
        let k =
            rules.iter().position(|other| *other == rule).unwrap_or_else(|| panic!("{context}: {rule:?}"));
        mask |= 1 << k;
    };
    for rule in &found.rules {
        match rule {
            RuleRef::Must { people } => people.iter().for_each(|i| add(RuleRef::Must { people: vec![*i] })),
            rule => add(rule.clone()),
        }
    }
    let broken = broken(case, &rules);
    let is_conflict = |mask: u64| broken.iter().all(|list| list & mask != 0);
    assert!(is_conflict(mask), "{context}: the rules can be met: {found:?}");
    for k in (0..rules.len()).filter(|k| mask >> k & 1 == 1) {
        assert!(!is_conflict(mask & !(1 << k)), "{context}: {:?} is not needed: {found:?}", rules[k]);
    }
    if found.is_smallest {
        let size = mask.count_ones() as usize;
        assert!(!smallest(&broken, 0, size - 1), "{context}: there is a smaller one than {found:?}");
    }
    assert_eq!(found.missing, missing(case), "{context}: {found:?}");
}

#[test]
fn conflicts_are_irreducible_smallest_and_counted() {
    let mut seen = 0;
    for (position, shape) in
        [Shape::Plain, Shape::One, Shape::Nested, Shape::Two, Shape::Three].into_iter().enumerate()
    {
        for run in 0..500 {
            let mut random = stream(run, &[position as u64, 21]);
            let n = random.random_range(1..9);
            let case = Case::random(&mut random, n, shape, HARSH, false);
            if let Err(Refusal::Conflict(found)) = allocate(&case.problem()) {
                check(&case, &found, &format!("{shape:?} {run}"));
                assert!(found.is_smallest);
                seen += 1;
            }
        }
    }
    assert!(seen > 1_000, "{seen}");
}

#[test]
fn conflicts_over_costs() {
    let mut seen = 0;
    for run in 0..300 {
        let mut random = stream(run, &[22]);
        let shape = [Shape::Nested, Shape::Two, Shape::Three][run as usize % 3];
        let mut case = Case::random(&mut random, 7, shape, HARSH, true);
        case.families.iter_mut().for_each(|family| family.at_most.fill(usize::MAX));
        case.places = 7;
        if let Err(Refusal::Conflict(found)) = allocate(&case.problem()) {
            check(&case, &found, &format!("{shape:?} {run} with costs"));
            seen += usize::from(found.rules.contains(&RuleRef::Cost));
        }
    }
    assert!(seen > 30, "{seen}");
}

/// Hand-worked: a household with a cap of 1 in which two must be called; and 16 must-calls for 15 places.
#[test]
fn the_conflicts_that_planners_make() {
    let mut case = Case {
        value: vec![1.0; 20],
        key: (0..20).collect(),
        must: vec![false; 20],
        places: 15,
        fill: true,
        families: vec![],
        cost: None,
    };
    case.must[..16].fill(true);
    let conflict = |case: &Case| match allocate(&case.problem()) {
        Err(Refusal::Conflict(conflict)) => conflict,
        other => panic!("{other:?}"),
    };
    let found = conflict(&case);
    assert_eq!(found.rules, [RuleRef::Places, RuleRef::Must { people: (0..16).collect() }]);
    assert_eq!((found.missing, found.is_smallest), (1, true));
    let mut group = vec![NO_GROUP; 20];
    (group[3], group[7]) = (0, 0);
    case.families = vec![restive::allocation::Family { group, at_least: vec![0], at_most: vec![1] }];
    let found = conflict(&case);
    let people = vec![3, 7];
    assert_eq!(found.rules, [RuleRef::AtMost { family: 0, group: 0 }, RuleRef::Must { people }]);
    assert_eq!(found.missing, 1);
}
