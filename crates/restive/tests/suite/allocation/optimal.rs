//! The best list, against all lists.

use super::cases::{CAPS, Case, HARSH, MILD, Shape};
use rand::RngExt;
use rand::seq::SliceRandom;
use restive::allocation::{Allocation, Change, Method, Refusal, allocate, price};
use restive::random::stream;

const SHAPES: [Shape; 5] = [Shape::Plain, Shape::One, Shape::Nested, Shape::Two, Shape::Three];

fn check(case: &Case, context: &str) -> Option<Allocation> {
    let best = case.best();
    match (allocate(&case.problem()), best) {
        (Ok(found), Some((places, value))) => {
            assert!(case.is_kept(|i| found.chosen[i]), "{context}: a rule is broken");
            assert!((found.value - value).abs() < 1e-9, "{context}: {} {value}", found.value);
            assert!((found.value - case.value_of(|i| found.chosen[i])).abs() < 1e-12);
            assert_eq!(found.places_filled, found.chosen.iter().filter(|chosen| **chosen).count());
            assert!(!case.fill || found.places_filled == places, "{context}: places {}", found.places_filled);
            assert_eq!(found.gap, 0.0, "{context}");
            Some(found)
        }
        (Err(Refusal::Conflict(_)), None) => None,
        (found, best) => panic!("{context}: {found:?}, all lists say {best:?}"),
    }
}

#[test]
fn the_best_list_under_rules_of_every_shape() {
    let mut met = [0; 3];
    for (position, shape) in SHAPES.into_iter().enumerate() {
        for run in 0..1_500 {
            let mut random = stream(run, &[position as u64, 11]);
            let is_crossing = matches!(shape, Shape::Two | Shape::Three);
            let n = random.random_range(if is_crossing { 8..12 } else { 0..11 });
            let strict = [MILD, CAPS, HARSH][run as usize % 3];
            let case = Case::random(&mut random, n, shape, strict, false);
            if let Some(found) = check(&case, &format!("{shape:?} {run}")) {
                met[found.method as usize] += 1;
                if shape != Shape::Two && shape != Shape::Three {
                    assert_eq!(found.method, Method::Greedy);
                }
                assert!(shape != Shape::Two || found.method != Method::Integer);
            }
        }
    }
    assert!(met.iter().all(|count| *count > 200), "every method is met: {met:?}");
}

#[test]
fn the_best_list_that_can_be_paid() {
    let mut programmes = 0;
    for (position, shape) in SHAPES.into_iter().enumerate() {
        for run in 0..400 {
            let mut random = stream(run, &[position as u64, 12]);
            let case = Case::random(&mut random, 9, shape, MILD, true);
            let found = check(&case, &format!("{shape:?} {run} with costs"));
            programmes += usize::from(found.is_some_and(|found| found.method == Method::Integer));
        }
    }
    assert!(programmes > 100);
}

/// Among lists of equal value the smaller keys win: the list with the smallest sum of keys.
#[test]
fn smaller_keys_break_ties() {
    for run in 0..600 {
        let mut random = stream(run, &[13]);
        let shape = [Shape::One, Shape::Nested, Shape::Two][run as usize % 3];
        let mut case = Case::random(&mut random, 9, shape, MILD, false);
        case.value.iter_mut().for_each(|v| *v = v.round());
        case.key.iter_mut().for_each(|key| *key &= !0 << 24);
        let Ok(found) = allocate(&case.problem()) else { continue };
        let sum = |is_on: &dyn Fn(usize) -> bool| -> u128 {
            (0..9).filter(|i| is_on(*i)).map(|i| u128::from(case.key[i])).sum()
        };
        for list in 0..1u32 << 9 {
            let is_on = |i: usize| list >> i & 1 == 1;
            let is_equal = list.count_ones() as usize == found.places_filled
                && (case.value_of(is_on) - found.value).abs() < 1e-9;
            if is_equal && case.is_kept(is_on) {
                assert!(sum(&is_on) >= sum(&|i| found.chosen[i]), "{shape:?} {run}");
            }
        }
    }
}

#[test]
fn the_order_in_which_people_are_stored_changes_nothing() {
    for run in 0..400 {
        let mut random = stream(run, &[14]);
        let shape = SHAPES[run as usize % 5];
        let case = Case::random(&mut random, 12, shape, MILD, run % 7 == 0);
        let mut order: Vec<usize> = (0..12).collect();
        order.shuffle(&mut random);
        let other = case.shuffled(&order);
        match (allocate(&case.problem()), allocate(&other.problem())) {
            (Ok(a), Ok(b)) => {
                let moved: Vec<bool> = order.iter().map(|i| a.chosen[*i]).collect();
                assert_eq!(moved, b.chosen, "{shape:?} {run}");
                assert_eq!(a.value, b.value);
            }
            (Err(_), Err(_)) => {}
            (a, b) => panic!("{a:?} {b:?}"),
        }
    }
}

#[test]
fn a_price_is_the_difference_of_two_problems() {
    let mut seen = 0;
    for run in 0..400 {
        let mut random = stream(run, &[15]);
        let case = Case::random(&mut random, 8, Shape::Nested, MILD, run % 3 == 0);
        let Ok(found) = allocate(&case.problem()) else { continue };
        let mut others: Vec<(Change, Case)> = Vec::new();
        for family in 0..case.families.len() {
            let mut other = case.clone();
            other.families.remove(family);
            others.push((Change::WithoutFamily(family), other));
        }
        others.push((Change::WithoutMust, Case { must: vec![false; 8], ..case.clone() }));
        others.push((Change::WithoutCost, Case { cost: None, ..case.clone() }));
        others.push((Change::Places(7), Case { places: 7, ..case.clone() }));
        for (change, other) in others {
            let Some((places, value)) = other.best() else { continue };
            let price = price(&case.problem(), &found, change).unwrap();
            assert!((price.lost - (value - found.value)).abs() < 1e-9, "{run} {change:?}");
            if case.fill {
                assert_eq!(price.places, places as i64 - found.places_filled as i64);
            }
            seen += 1;
        }
    }
    assert!(seen > 300);
}

#[test]
fn data_that_are_none_are_refused() {
    let mut random = stream(1, &[16]);
    let case = Case::random(&mut random, 5, Shape::One, CAPS, true);
    let said = |case: &Case| match allocate(&case.problem()) {
        Err(Refusal::Data(error)) => error.to_string(),
        other => panic!("{other:?}"),
    };
    let mut other = case.clone();
    other.value[3] = f64::NAN;
    assert_eq!(said(&other), "value: entry 3: found NaN, expected a finite number");
    let mut other = case.clone();
    other.key.pop();
    assert_eq!(said(&other), "key: found shape [4], expected [5], as the values");
    let mut other = case.clone();
    other.must.pop();
    assert!(said(&other).starts_with("must: found shape [4]"));
    let mut other = case.clone();
    other.families[0].group[1] = 17;
    assert!(said(&other).starts_with("group: found 17, expected a number below "));
    let mut other = case.clone();
    other.families[0].at_most.pop();
    assert!(said(&other).starts_with("at_most: found shape "));
    let mut other = case.clone();
    other.cost.as_mut().unwrap().0[0] = -1.0;
    assert_eq!(said(&other), "cost: found -1, expected at least 0");
    let mut other = case;
    other.cost.as_mut().unwrap().1 = f64::NAN;
    assert_eq!(said(&other), "cost: found NaN, expected at least 0");
}
