//! Who can be dropped: against all lists, and against lists and chances with everybody.

use super::cases::{CAPS, Case, HARSH, MILD, Shape};
use rand::RngExt;
use rand::seq::SliceRandom;
use restive::allocation::{Contest, Draw, Family, Inclusion, Method, NO_GROUP, allocate, draw};
use restive::random::{Random, stream};
use std::collections::HashMap;

const SHAPES: [Shape; 5] = [Shape::Plain, Shape::One, Shape::Nested, Shape::Two, Shape::Three];

/// What no rule can tell apart: groups, cost, must-call.
type Class = (Vec<u32>, u64, bool);

fn class(case: &Case, i: usize) -> Class {
    let groups = case.families.iter().map(|family| family.group[i]).collect();
    (groups, case.cost.as_ref().map_or(0, |(of, _)| of[i].to_bits()), case.must[i])
}

/// The places that a class can have: by the smallest cap of its groups, or by the largest, so that no group seems to have fewer people than its cap.
fn most(case: &Case, i: usize, by_largest: bool) -> usize {
    let of = case.families.iter().filter(|family| family.group[i] != NO_GROUP);
    let caps = of.map(|family| family.at_most[family.group[i] as usize]).filter(|cap| *cap != usize::MAX);
    let cap = if by_largest { caps.max() } else { caps.min() };
    cap.unwrap_or(usize::MAX).min(case.places)
}

/// Who is left, ascending, of people offered in this order in these many parts.
fn left(case: &Case, order: &[usize], parts: usize, by_largest: bool, random: &mut Random) -> Vec<usize> {
    let mut contests: Vec<Contest<Class, usize>> = (0..parts).map(|_| Contest::new()).collect();
    for &i in order {
        let part = random.random_range(0..parts);
        contests[part].offer(class(case, i), most(case, i, by_largest), case.value[i], i);
    }
    contests.shuffle(random);
    while contests.len() > 1 {
        let last = contests.pop().unwrap();
        let other = random.random_range(0..contests.len());
        contests[other].merge(last);
    }
    let only = contests.pop().unwrap();
    let held = only.len();
    let mut people: Vec<usize> = only.into_people().map(|(_, _, i)| i).collect();
    assert!(people.len() <= held);
    people.sort_unstable();
    people
}

/// The same by sorting.
fn by_sorting(case: &Case, by_largest: bool) -> Vec<usize> {
    let mut classes: HashMap<Class, Vec<f64>> = HashMap::new();
    (0..case.value.len()).for_each(|i| classes.entry(class(case, i)).or_default().push(case.value[i]));
    classes.values_mut().for_each(|values| values.sort_by(|a, b| b.total_cmp(a)));
    let is_left = |i: &usize| {
        let values = &classes[&class(case, *i)];
        values.get(most(case, *i, by_largest)).is_none_or(|last| case.value[*i] >= *last)
    };
    (0..case.value.len()).filter(is_left).collect()
}

fn selected(case: &Case, people: &[usize]) -> Case {
    let mut less = case.clone();
    less.value = people.iter().map(|i| case.value[*i]).collect();
    less.key = people.iter().map(|i| case.key[*i]).collect();
    less.must = people.iter().map(|i| case.must[*i]).collect();
    for (family, before) in less.families.iter_mut().zip(&case.families) {
        family.group = people.iter().map(|i| before.group[*i]).collect();
    }
    if let (Some((of, _)), Some((before, _))) = (&mut less.cost, &case.cost) {
        *of = people.iter().map(|i| before[*i]).collect();
    }
    less
}

#[test]
fn who_is_left_does_not_depend_on_order_or_parts() {
    for run in 0..600 {
        let mut random = stream(run, &[71]);
        let shape = SHAPES[run as usize % 5];
        let n = random.random_range(0..200);
        let case = Case::random(&mut random, n, shape, CAPS, run % 4 == 0);
        let case = Case { places: case.places.min(random.random_range(0..20)), ..case };
        let by_largest = run % 2 == 0;
        let truth = by_sorting(&case, by_largest);
        let mut order: Vec<usize> = (0..n).collect();
        for parts in [1, 2, 7] {
            order.shuffle(&mut random);
            assert_eq!(left(&case, &order, parts, by_largest, &mut random), truth, "{shape:?} {run} {parts}");
        }
    }
}

#[test]
fn a_contest_holds_few_and_turns_the_others_away() {
    let mut random = stream(3, &[72]);
    let mut contest = Contest::new();
    let mut most_held = 0;
    for i in 0..200_000u32 {
        contest.offer(i % 3, 50, random.random::<f64>(), i);
        most_held = most_held.max(contest.len());
    }
    assert!(most_held <= 3 * 102, "{most_held}");
    assert_eq!(contest.into_people().count(), 3 * 51);
    // who is worth no number is for the list to refuse
    let mut contest = Contest::new();
    [1.0, f64::NAN, 2.0, 3.0, -f64::NAN, 0.5].into_iter().for_each(|x| contest.offer((), 1, x, ()));
    assert_eq!(contest.into_people().filter(|(_, x, _)| x.is_nan()).count(), 2);
    let nobody: Contest<u8, u8> = Contest::new();
    assert!(nobody.is_empty() && nobody.into_people().next().is_none());
}

#[test]
fn whoever_is_dropped_is_on_no_optimal_list() {
    let mut dropped = 0;
    for run in 0..2_000 {
        let mut random = stream(run, &[73]);
        let shape = SHAPES[run as usize % 5];
        let strict = [MILD, CAPS, HARSH][run as usize / 5 % 3];
        let case = Case::random(&mut random, 9, shape, strict, run % 4 == 0);
        let case = Case { places: case.places.min(random.random_range(1..6)), ..case };
        let people = by_sorting(&case, false);
        let best = case.best();
        assert_eq!(selected(&case, &people).best(), best, "{shape:?} {run}");
        let Some((places, value)) = best else { continue };
        let others: Vec<usize> = (0..9).filter(|i| !people.contains(i)).collect();
        dropped += others.len();
        for list in (0..1u32 << 9).filter(|list| others.iter().any(|i| list >> i & 1 == 1)) {
            let is_on = |i: usize| list >> i & 1 == 1;
            let is_as_good =
                case.value_of(is_on) >= value - 1e-9 && (!case.fill || list.count_ones() as usize == places);
            assert!(!is_as_good || !case.is_kept(is_on), "{shape:?} {run}: {list:b}");
        }
    }
    assert!(dropped > 500, "{dropped}");
}

/// Lists and chances with everybody, and with those who are left.
#[test]
fn lists_and_chances_are_those_of_everybody() {
    let (mut fewer, mut chances, mut simulated, mut programmes) = (0, 0, 0, 0);
    for run in 0..6_000 {
        let mut random = stream(run, &[74]);
        let shape = SHAPES[run as usize % 5];
        let strict = [MILD, CAPS, HARSH][run as usize / 5 % 3];
        let n = random.random_range(8..28);
        let case = Case::random(&mut random, n, shape, strict, run % 6 == 0);
        let case = Case { places: case.places.min(random.random_range(1..12)), ..case };
        let people = by_sorting(&case, true);
        let less = selected(&case, &people);
        let context = format!("{shape:?} {run}");
        let (all, some) = match (allocate(&case.problem()), allocate(&less.problem())) {
            (Ok(all), Ok(some)) => (all, some),
            (Err(_), Err(_)) => continue,
            other => panic!("{context}: {other:?}"),
        };
        assert_eq!(all.method, some.method, "{context}");
        if all.method == Method::Integer {
            programmes += 1;
            assert!((all.value - some.value).abs() <= 1e-9 + all.gap + some.gap, "{context}");
            continue;
        }
        fewer += n - people.len();
        let chosen: Vec<bool> = people.iter().map(|i| all.chosen[*i]).collect();
        assert_eq!((all.value.to_bits(), &chosen), (some.value.to_bits(), &some.chosen), "{context}");
        let rule = Draw { repetitions: 30, ..Draw::default() };
        let [all, some] = [&case, &less].map(|case| draw(&case.problem(), &rule).unwrap());
        assert_eq!(all.inclusion, some.inclusion, "{context}");
        let chosen: Vec<bool> = people.iter().map(|i| all.allocation.chosen[*i]).collect();
        assert_eq!(chosen, some.allocation.chosen, "{context}");
        let probability: Vec<f64> = people.iter().map(|i| all.probability[*i]).collect();
        assert_eq!(probability, some.probability, "{context}");
        let of_dropped = (0..n).filter(|i| !people.contains(i)).map(|i| all.probability[i]);
        assert!(of_dropped.into_iter().all(|p| p == 0.0), "{context}");
        chances += probability.iter().filter(|p| **p > 0.0 && **p < 1.0).count();
        simulated += usize::from(all.inclusion != Inclusion::Exact);
    }
    assert!(
        fewer > 5_000 && chances > 1_000 && simulated > 100 && programmes > 300,
        "{fewer} {chances} {simulated} {programmes}"
    );
}

/// By the smallest cap fewer are left. Lists are the same; so are chances that are exact with everybody.
#[test]
fn by_the_smallest_cap_lists_are_those_of_everybody() {
    let (mut fewer, mut other_lists) = (0, 0);
    for run in 0..6_000 {
        let mut random = stream(run, &[75]);
        let shape = [Shape::Nested, Shape::Two, Shape::Three][run as usize % 3];
        let strict = [MILD, CAPS, HARSH][run as usize / 3 % 3];
        let n = random.random_range(12..40);
        let case = Case::random(&mut random, n, shape, strict, run % 6 == 0);
        let case = Case { places: case.places.min(random.random_range(2..10)), ..case };
        let people = by_sorting(&case, false);
        let less = selected(&case, &people);
        let context = format!("{shape:?} {run}");
        let (all, some) = match (allocate(&case.problem()), allocate(&less.problem())) {
            (Ok(all), Ok(some)) => (all, some),
            (Err(_), Err(_)) => continue,
            other => panic!("{context}: {other:?}"),
        };
        fewer += n - people.len();
        assert!((all.value - some.value).abs() <= 1e-9 + all.gap + some.gap, "{context}");
        assert_eq!(all.places_filled, some.places_filled, "{context}");
        if [all.method, some.method].contains(&Method::Integer) {
            continue;
        }
        let chosen: Vec<bool> = people.iter().map(|i| all.chosen[*i]).collect();
        assert_eq!(chosen, some.chosen, "{context}");
        let rule = Draw { repetitions: 30, ..Draw::default() };
        let [all, some] = [&case, &less].map(|case| draw(&case.problem(), &rule).unwrap());
        if all.inclusion == Inclusion::Exact {
            assert_eq!(some.inclusion, Inclusion::Exact, "{context}");
            for (k, &i) in people.iter().enumerate() {
                assert!((all.probability[i] - some.probability[k]).abs() < 1e-12, "{context}");
            }
        }
        let chosen: Vec<bool> = people.iter().map(|i| all.allocation.chosen[*i]).collect();
        other_lists += usize::from(chosen != some.allocation.chosen);
    }
    // that draws may come out otherwise, as the essay warns, is met
    assert!(fewer > 5_000 && other_lists > 0, "{fewer} {other_lists}");
}

/// Two districts of five places cross two households of one place. Of each household two stay in a district, which has four people then:
/// its cap is idle, and what crossed is nested.
#[test]
fn by_the_smallest_cap_a_rule_may_become_idle() {
    let family = |group: fn(u32) -> u32, cap: usize| Family {
        group: (0..12).map(group).collect(),
        at_least: vec![0; 2],
        at_most: vec![cap; 2],
    };
    let case = Case {
        value: (0..12).map(|i| 1.0 + f64::from(i) / 16.0).collect(),
        key: (0..12).collect(),
        must: vec![false; 12],
        places: 8,
        fill: true,
        families: vec![family(|i| i % 2, 5), family(|i| i / 2 % 2, 1)],
        cost: None,
    };
    let people = by_sorting(&case, false);
    assert_eq!(people.len(), 8);
    let [all, some] = [case.clone(), selected(&case, &people)].map(|case| allocate(&case.problem()).unwrap());
    assert_eq!((all.method, some.method), (Method::Flow, Method::Greedy));
    let chosen: Vec<bool> = people.iter().map(|i| all.chosen[*i]).collect();
    assert_eq!((all.value, chosen), (some.value, some.chosen));
}
