//! More people than can be enumerated: against linear programmes, whose optima are whole where rules nest or two systems cross, and,
//! on demand, how long it takes.

use super::cases::Case;
use microlp::{ComparisonOp, OptimizationDirection};
use rand::RngExt;
use restive::allocation::{Draw, Family, Method, NO_GROUP, allocate, draw};
use restive::random::{Random, stream};
use std::time::Instant;

fn groups(random: &mut Random, n: usize, count: u32) -> Vec<u32> {
    (0..n).map(|_| random.random_range(0..count)).collect()
}

fn case(random: &mut Random, n: usize, places: usize, families: Vec<Family>) -> Case {
    Case {
        value: (0..n).map(|_| random.random::<f64>() - 0.1).collect(),
        key: (0..n).map(|_| random.random()).collect(),
        must: (0..n).map(|_| random.random::<f64>() < 0.002).collect(),
        places,
        fill: false,
        families,
        cost: None,
    }
}

fn family(group: Vec<u32>, count: usize, at_least: usize, at_most: usize) -> Family {
    Family { group, at_least: vec![at_least; count], at_most: vec![at_most; count] }
}

/// The value of the best fractional list.
fn relaxed(case: &Case) -> f64 {
    let mut programme = microlp::Problem::new(OptimizationDirection::Maximize);
    let low = |must: bool| if must { 1.0 } else { 0.0 };
    let x: Vec<_> =
        case.value.iter().zip(&case.must).map(|(v, must)| programme.add_var(*v, (low(*must), 1.0))).collect();
    programme.add_constraint(x.iter().map(|x| (*x, 1.0)), ComparisonOp::Le, case.places as f64);
    for family in &case.families {
        let mut rows = vec![Vec::new(); family.at_least.len()];
        for (i, g) in family.group.iter().enumerate().filter(|(_, g)| **g != NO_GROUP) {
            rows[*g as usize].push((x[i], 1.0));
        }
        for (group, row) in rows.iter().enumerate().filter(|(_, row)| !row.is_empty()) {
            programme.add_constraint(row, ComparisonOp::Ge, family.at_least[group] as f64);
            programme.add_constraint(row, ComparisonOp::Le, family.at_most[group].min(row.len()) as f64);
        }
    }
    programme.solve().unwrap().into_solution().unwrap().objective()
}

#[test]
fn nested_and_crossing_rules_reach_the_linear_programme() {
    for run in 0..6 {
        let mut random = stream(run, &[41]);
        let n = 400;
        let household = groups(&mut random, n, 150);
        let worker: Vec<u32> = household.iter().map(|h| h / 10).collect();
        let centre = groups(&mut random, n, 6);
        let nested = vec![family(household, 150, 0, 1), family(worker, 15, 2, 5)];
        let one = case(&mut random, n, 60, nested.clone());
        let crossing = [nested, vec![family(centre, 6, 5, 12)]].concat();
        let two = Case { families: crossing, ..one.clone() };
        for (case, method) in [(one, Method::Greedy), (two, Method::Flow)] {
            let Ok(found) = allocate(&case.problem()) else { continue };
            assert_eq!(found.method, method);
            assert!(case.is_kept(|i| found.chosen[i]));
            let truth = relaxed(&case);
            // the tolerance of the linear programme
            assert!((found.value - truth).abs() < 1e-5, "{run} {method:?}: {} {truth}", found.value);
        }
    }
}

/// Three crossing families with more people than a programme takes: between a list that is kept and a bound that holds.
#[test]
fn programmes_of_many_people_are_within_their_gap() {
    let mut proven = 0;
    for run in 0..5 {
        let mut random = stream(run, &[42]);
        let n = 800;
        let families = [(20, 2, 6), (8, 3, 14), (5, 4, 30)]
            .map(|(count, least, most)| family(groups(&mut random, n, count), count as usize, least, most));
        let case = case(&mut random, n, 80, families.to_vec());
        let found = allocate(&case.problem()).unwrap();
        assert_eq!(found.method, Method::Integer);
        assert!(case.is_kept(|i| found.chosen[i]));
        let bound = relaxed(&case);
        assert!(found.value <= bound + 1e-6, "{run}");
        // what is claimed to be out of reach must not be less than a list that is known: two families alone, where all are kept
        assert!(found.gap >= 0.0 && found.gap < 0.02 * bound, "{run}: {} of {bound}", found.gap);
        proven += usize::from(found.gap == 0.0);
    }
    assert!(proven > 0, "{proven}");
}

/// A third family that says nothing about the best list: the best list of the other two is known.
#[test]
fn programmes_find_the_list_that_a_flow_finds() {
    for run in 0..4 {
        let mut random = stream(run, &[43]);
        let n = 700;
        let two = [(20, 1, 5), (8, 3, 12)]
            .map(|(count, least, most)| family(groups(&mut random, n, count), count as usize, least, most));
        let mut case = case(&mut random, n, 70, two.to_vec());
        let known = allocate(&case.problem()).unwrap();
        assert_eq!(known.method, Method::Flow);
        let third = groups(&mut random, n, 5);
        let mut load = vec![0; 5];
        (0..n).filter(|i| known.chosen[*i]).for_each(|i| load[third[i] as usize] += 1);
        case.families.push(Family { group: third, at_least: vec![0; 5], at_most: load });
        let found = allocate(&case.problem()).unwrap();
        assert_eq!(found.method, Method::Integer);
        assert!(case.is_kept(|i| found.chosen[i]));
        assert!(found.value <= known.value + 1e-9, "{run}");
        assert!(
            found.value + found.gap >= known.value - 1e-9,
            "{run}: {} {} {}",
            found.value,
            found.gap,
            known.value
        );
    }
}

fn programme(n: usize) -> Case {
    let mut random = stream(n as u64, &[44]);
    let workers = n / 200;
    let household: Vec<u32> = (0..n).map(|i| i as u32 / 2).collect();
    let worker: Vec<u32> = (0..n).map(|i| (i / 2 % workers) as u32).collect();
    let families = vec![family(worker, workers, 0, 12), family(household, n.div_ceil(2), 0, 1)];
    let mut case = Case { fill: true, ..case(&mut random, n, n / 20, families) };
    // two must-calls in a household of one place would be a conflict
    case.must.iter_mut().skip(1).step_by(2).for_each(|must| *must = false);
    case
}

#[test]
#[ignore = "prints how long it takes"]
fn how_long_it_takes() {
    for n in [10_000, 100_000, 1_000_000] {
        let case = programme(n);
        let start = Instant::now();
        let found = allocate(&case.problem()).unwrap();
        let listed = start.elapsed();
        let drawn = draw(&case.problem(), &Draw { explore: n / 200, ..Draw::default() }).unwrap();
        println!("{n} people: {listed:?}, with a draw {:?} {:?}", start.elapsed() - listed, drawn.inclusion);
        assert_eq!(found.places_filled, n / 20);
    }
    let mut random = stream(1, &[45]);
    let n = 100_000;
    let families = vec![
        family(groups(&mut random, n, 500), 500, 2, 12),
        family(groups(&mut random, n, 50), 50, 20, 110),
    ];
    let mut case = case(&mut random, n, 5_000, families);
    let start = Instant::now();
    let found = allocate(&case.problem()).unwrap();
    println!("{n} people, 500 × 50 groups: {:?} {:?}", start.elapsed(), found.method);
    let start = Instant::now();
    let drawn = draw(&case.problem(), &Draw { explore: 500, ..Draw::default() }).unwrap();
    println!("with a draw: {:?} {:?}", start.elapsed(), drawn.inclusion);
    case.families.push(family(groups(&mut random, n, 20), 20, 100, 300));
    let start = Instant::now();
    let found = allocate(&case.problem()).unwrap();
    println!(
        "and 20 groups more: {:?} {:?}, gap {} of {}",
        start.elapsed(),
        found.method,
        found.gap,
        found.value
    );
}
