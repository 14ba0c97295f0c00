//! Probabilities, against all orders of keys, fairness conditions, linear programmes and frequencies.

use super::cases::{CAPS, Case, MILD, Shape};
use microlp::{ComparisonOp, OptimizationDirection};
use rand::RngExt;
use rand::seq::SliceRandom;
use restive::allocation::{Draw, Drawn, Family, Inclusion, Method, NO_GROUP, Problem, draw, tie_key};
use restive::random::{Random, stream};

const KEYS: usize = 20_000;

fn drawn(case: &Case, explore: usize) -> Option<Drawn> {
    draw(&case.problem(), &Draw { explore, ..Draw::default() }).ok()
}

/// What every list has to be, whatever the keys.
fn check(case: &Case, found: &Drawn, explore: usize, context: &str) {
    let chosen = &found.allocation.chosen;
    assert!(case.is_kept(|i| chosen[i]), "{context}: a rule is broken");
    let lots = found.by_lot.iter().filter(|lot| **lot).count();
    assert!(lots <= explore, "{context}");
    for i in 0..chosen.len() {
        let p = found.probability[i];
        assert!((0.0..=1.0 + 1e-12).contains(&p), "{context}: {p}");
        assert!(!chosen[i] || p > 0.0, "{context}: somebody with probability 0 is on the list");
        assert!(!case.must[i] || (p == 1.0 && chosen[i] && !found.by_lot[i]), "{context}: must");
        assert!(!found.by_lot[i] || chosen[i]);
    }
    if found.inclusion == Inclusion::Exact {
        let sum: f64 = found.probability.iter().sum();
        assert!((sum - found.allocation.places_filled as f64).abs() < 1e-9, "{context}: {sum}");
    }
    if explore == 0 {
        let (places, value) = case.best().unwrap();
        assert!((found.allocation.value - value).abs() < 1e-9, "{context}: a tie cost value");
        assert!(!case.fill || found.allocation.places_filled == places, "{context}");
    }
}

/// Equal people: the same value, groups, costs, and no must-call.
fn are_equal(case: &Case, i: usize, j: usize) -> bool {
    let cost = |i: usize| case.cost.as_ref().map(|(of, _)| of[i]);
    case.value[i] == case.value[j]
        && case.must[i] == case.must[j]
        && cost(i) == cost(j)
        && case.families.iter().all(|family| family.group[i] == family.group[j])
}

fn with_fresh_keys(case: &Case, random: &mut Random) -> Case {
    Case { key: (0..case.value.len()).map(|_| random.random()).collect(), ..case.clone() }
}

#[test]
fn nested_rules_are_exact_fair_and_kept() {
    let (mut fractions, mut simulated) = (0, 0);
    for run in 0..1_500 {
        let mut random = stream(run, &[31]);
        let shape = [Shape::Plain, Shape::One, Shape::Nested][run as usize % 3];
        let case = Case::random(&mut random, 9, shape, [MILD, CAPS][run as usize / 3 % 2], false);
        let explore = random.random_range(0..3);
        let Some(found) = drawn(&case, explore) else { continue };
        let context = format!("{shape:?} {run}");
        check(&case, &found, explore, &context);
        assert_eq!(found.allocation.method, Method::Greedy);
        if found.inclusion != Inclusion::Exact {
            // only where a tie is followed by a draw under rules
            assert!(explore > 0 && shape != Shape::Plain, "{context}");
            simulated += 1;
            continue;
        }
        fractions += found.probability.iter().filter(|p| **p > 0.0 && **p < 1.0).count();
        for i in 0..9 {
            for j in (0..i).filter(|j| are_equal(&case, i, *j)) {
                // who came by rank has probability 1, and equal people may be left for the draw only if ties were exact
                let is_same = (found.probability[i] - found.probability[j]).abs() < 1e-12;
                assert!(is_same, "{context}: {i} and {j} are equal, {:?}", found.probability);
            }
        }
        let again = drawn(&with_fresh_keys(&case, &mut random), explore).unwrap();
        for (p, q) in found.probability.iter().zip(&again.probability) {
            assert!((p - q).abs() < 1e-12, "{context}: probabilities do not depend on keys");
        }
    }
    assert!(fractions > 500 && simulated > 20, "{fractions} {simulated}");
}

/// Plain: every order of the keys, the list by hand.
#[test]
fn without_groups_all_orders_of_keys_say_the_same() {
    let values = [
        [3.0, 2.0, 2.0, 2.0, 1.0, 1.0, -1.0],
        [1.0; 7],
        [7.0, 6.0, 5.0, 4.0, 3.0, 2.0, 1.0],
        [2.0, 2.0, 0.0, 0.0, -1.0, -1.0, -1.0],
    ];
    let mut orders: Vec<[u64; 7]> = Vec::new();
    permute([0, 1, 2, 3, 4, 5, 6], 0, &mut orders);
    for (value, (places, explore), fill, must) in values.into_iter().flat_map(|value| {
        [(3, 0), (4, 2), (5, 1), (6, 3), (2, 2)].into_iter().flat_map(move |sizes| {
            [(true, 6), (false, 6), (true, 1)].map(move |(fill, must)| (value, sizes, fill, must))
        })
    }) {
        let mut case = Case {
            value: value.to_vec(),
            key: vec![0; 7],
            must: (0..7).map(|i| i == must && i != 6).collect(),
            places,
            fill,
            families: vec![],
            cost: None,
        };
        let mut hits = [0usize; 7];
        let mut stated = None;
        for order in &orders {
            case.key = order.to_vec();
            let found = drawn(&case, explore).unwrap();
            assert_eq!(found.inclusion, Inclusion::Exact);
            let list = by_hand(&case, explore);
            assert_eq!(found.allocation.chosen, list);
            list.iter().zip(&mut hits).for_each(|(on, hits)| *hits += usize::from(*on));
            stated = Some(found.probability);
        }
        for (p, hits) in stated.unwrap().iter().zip(hits) {
            let truth = hits as f64 / orders.len() as f64;
            assert!((p - truth).abs() < 1e-12, "{value:?} {places} {explore} {fill}: {p} {truth}");
        }
    }
}

fn permute(mut order: [u64; 7], from: usize, out: &mut Vec<[u64; 7]>) {
    if from == 7 {
        return out.push(order);
    }
    for k in from..7 {
        order.swap(from, k);
        permute(order, from + 1, out);
        order.swap(from, k);
    }
}

fn by_hand(case: &Case, explore: usize) -> Vec<bool> {
    let n = case.value.len();
    let mut chosen = case.must.clone();
    let musts = chosen.iter().filter(|on| **on).count();
    let explore = explore.min(case.places - musts);
    let mut order: Vec<usize> =
        (0..n).filter(|i| !case.must[*i] && (case.fill || case.value[*i] > 0.0)).collect();
    order.sort_by(|&i, &j| case.value[j].total_cmp(&case.value[i]).then(case.key[i].cmp(&case.key[j])));
    order.into_iter().take(case.places - explore - musts).for_each(|i| chosen[i] = true);
    let mut rest: Vec<usize> = (0..n).filter(|i| !chosen[*i]).collect();
    rest.sort_by_key(|i| case.key[*i]);
    rest.into_iter().take(explore).for_each(|i| chosen[i] = true);
    chosen
}

/// A draw is as even as it can be: whoever has less than 1 is in a full set in which nobody has more.
#[test]
fn a_draw_is_as_even_as_the_room_allows() {
    let mut seen = 0;
    for run in 0..1_000 {
        let mut random = stream(run, &[32]);
        let mut case = Case::random(&mut random, 12, Shape::Nested, CAPS, false);
        case.value.iter_mut().for_each(|v| *v += random.random::<f64>() * 1e-3);
        case.families.iter_mut().for_each(|f| f.at_least.fill(0));
        let explore = random.random_range(1..6);
        let Some(found) = drawn(&case, explore) else { continue };
        let by_rank: Vec<bool> = (0..12).map(|i| found.allocation.chosen[i] && !found.by_lot[i]).collect();
        // the sets of people, with what the places by rank leave of their caps
        let ranked = by_rank.iter().filter(|on| **on).count();
        let musts = case.must.iter().filter(|must| **must).count();
        let drawable = explore.min(case.places - musts);
        assert!(ranked + drawable <= case.places);
        let mut sets: Vec<(Vec<usize>, usize)> = vec![((0..12).collect(), drawable)];
        let loads = case.loads(|i| by_rank[i]);
        for (family, load) in case.families.iter().zip(&loads) {
            for group in 0..load.len() {
                let people = (0..12).filter(|i| family.group[*i] == group as u32).collect();
                sets.push((people, family.at_most[group] - load[group]));
            }
        }
        let p = |i: usize| if by_rank[i] { 0.0 } else { found.probability[i] };
        for (people, room) in &sets {
            let sum: f64 = people.iter().map(|i| p(*i)).sum();
            assert!(sum <= (*room).min(100) as f64 + 1e-9, "{run}");
        }
        for i in (0..12).filter(|i| !by_rank[*i] && p(*i) < 1.0 - 1e-9) {
            let holds = |(people, room): &(Vec<usize>, usize)| {
                let sum: f64 = people.iter().map(|j| p(*j)).sum();
                people.contains(&i)
                    && (sum - (*room).min(100) as f64).abs() < 1e-9
                    && people.iter().all(|j| p(*j) <= p(i) + 1e-9)
            };
            assert!(sets.iter().any(holds), "{run}: {i} could have more: {:?}", found.probability);
            seen += 1;
        }
    }
    assert!(seen > 2_000, "{seen}");
}

/// Everybody ties: the least chance is the largest that any lottery over best lists can give, by a linear programme.
#[test]
fn ties_are_shared_as_evenly_as_floors_and_caps_allow() {
    let mut seen = 0;
    for run in 0..600 {
        let mut random = stream(run, &[33]);
        let mut case = Case::random(&mut random, 9, Shape::Nested, MILD, false);
        case.value.fill(1.0);
        case.must.fill(false);
        let Some(found) = drawn(&case, 0) else { continue };
        assert_eq!(found.inclusion, Inclusion::Exact);
        let mut programme = microlp::Problem::new(OptimizationDirection::Maximize);
        let least = programme.add_var(1.0, (0.0, 1.0));
        let x: Vec<_> = (0..9).map(|_| programme.add_var(0.0, (0.0, 1.0))).collect();
        for &x in &x {
            programme.add_constraint([(x, 1.0), (least, -1.0)], ComparisonOp::Ge, 0.0);
        }
        let filled = case.best().unwrap().0 as f64;
        programme.add_constraint(x.iter().map(|x| (*x, 1.0)), ComparisonOp::Eq, filled);
        for family in &case.families {
            for group in 0..family.at_least.len() {
                let people = (0..9).filter(|i| family.group[*i] == group as u32);
                let row: Vec<_> = people.map(|i| (x[i], 1.0)).collect();
                programme.add_constraint(&row, ComparisonOp::Ge, family.at_least[group] as f64);
                programme.add_constraint(&row, ComparisonOp::Le, family.at_most[group].min(9) as f64);
            }
        }
        let truth = programme.solve().unwrap().into_solution().unwrap().objective();
        let found = found.probability.iter().fold(1.0, |least: f64, p| least.min(*p));
        // the tolerance of the linear programme
        assert!((found - truth).abs() < 1e-6, "{run}: {found} {truth}");
        seen += usize::from(truth > 0.0 && truth < 1.0);
    }
    assert!(seen > 100, "{seen}");
}

/// Over 20,000 fresh keys, lists come as often as is stated.
#[test]
fn frequencies_are_the_stated_probabilities() {
    let mut cases = 0;
    for run in 0..400 {
        let mut random = stream(run, &[34]);
        let mut case = Case::random(&mut random, 10, Shape::Nested, MILD, false);
        let explore = [0, 2][run as usize % 2];
        if explore == 0 {
            case.value.iter_mut().for_each(|v| *v = v.round());
        }
        let Some(found) = drawn(&case, explore) else { continue };
        let open = found.probability.iter().filter(|p| **p > 0.0 && **p < 1.0).count();
        if found.inclusion != Inclusion::Exact || open < 5 {
            continue;
        }
        frequencies(&case, &found.probability, explore, 0.0, &mut random, &format!("{run}"));
        cases += 1;
        if cases == 12 {
            return;
        }
    }
    panic!("{cases} cases of probabilities between 0 and 1");
}

/// Holds how often people are on lists with fresh keys against what is stated, which has an error of its own where it was simulated.
fn frequencies(case: &Case, stated: &[f64], explore: usize, share: f64, random: &mut Random, context: &str) {
    let mut hits = vec![0usize; stated.len()];
    for _ in 0..KEYS {
        let case = with_fresh_keys(case, random);
        let request = Draw { explore, repetitions: 0, ..Draw::default() };
        let found = draw(&case.problem(), &request).unwrap();
        assert!(case.is_kept(|i| found.allocation.chosen[i]), "{context}");
        found.allocation.chosen.iter().zip(&mut hits).for_each(|(on, hits)| *hits += usize::from(*on));
    }
    for (i, (&p, &hits)) in stated.iter().zip(&hits).enumerate() {
        let seen = hits as f64 / KEYS as f64;
        let variance = (seen * (1.0 - seen)).max(p * (1.0 - p));
        let error = (variance * (1.0 / KEYS as f64 + share)).sqrt() + share;
        assert!((seen - p).abs() <= 5.0 * error + 1e-12, "{context}: person {i}: seen {seen}, stated {p}");
    }
}

#[test]
fn simulated_probabilities_are_those_of_many_keys() {
    let mut seen = 0;
    for (run, shape) in [Shape::Two, Shape::Nested, Shape::Two, Shape::Three].into_iter().enumerate() {
        for attempt in 0..200 {
            let mut random = stream(attempt, &[35, run as u64]);
            let mut case = Case::random(&mut random, 9, shape, CAPS, false);
            case.value.iter_mut().for_each(|v| *v = v.round());
            let explore = [2, 2, 0, 1][run];
            let Some(found) = drawn(&case, explore) else { continue };
            let Inclusion::Simulated { repetitions } = found.inclusion else { continue };
            if shape == Shape::Three && found.allocation.method != Method::Integer {
                continue;
            }
            let share = 1.0 / (repetitions + 1) as f64;
            if shape != Shape::Three {
                frequencies(&case, &found.probability, explore, share, &mut random, &format!("{shape:?}"));
                assert_eq!(repetitions, 1_000);
            }
            check(&case, &found, explore, &format!("{shape:?}"));
            seen += 1;
            break;
        }
    }
    assert_eq!(seen, 4);
}

/// Where a crossing list is called certain, fresh keys do not change it.
#[test]
fn certain_lists_under_crossing_rules_do_not_depend_on_keys() {
    let (mut certain, mut open) = (0, 0);
    for run in 0..500 {
        let mut random = stream(run, &[36]);
        let case = Case::random(&mut random, 10, Shape::Two, MILD, false);
        let request = Draw { explore: 0, repetitions: 5, ..Draw::default() };
        let Ok(found) = draw(&case.problem(), &request) else { continue };
        if found.allocation.method != Method::Flow {
            continue;
        }
        // all lists as good as the one found
        let best = case.best().unwrap();
        let equal = (0..1u32 << 10).filter(|list| {
            let is_on = |i: usize| list >> i & 1 == 1;
            let filled = list.count_ones() as usize;
            (case.value_of(is_on) - best.1).abs() < 1e-12
                && filled == found.allocation.places_filled
                && case.is_kept(is_on)
        });
        let equal = equal.count();
        match found.inclusion {
            Inclusion::Exact => assert_eq!(equal, 1, "{run}"),
            Inclusion::Simulated { .. } => assert!(equal > 1, "{run}"),
        }
        if equal == 1 { certain += 1 } else { open += 1 }
    }
    assert!(certain > 50 && open > 50, "{certain} {open}");
}

#[test]
fn the_order_in_which_people_are_stored_changes_no_draw() {
    for run in 0..300 {
        let mut random = stream(run, &[37]);
        let shape = [Shape::Plain, Shape::One, Shape::Nested, Shape::Two][run as usize % 4];
        let case = Case::random(&mut random, 12, shape, MILD, false);
        let mut order: Vec<usize> = (0..12).collect();
        order.shuffle(&mut random);
        let request = Draw { explore: run as usize % 3, repetitions: 10, ..Draw::default() };
        let one = draw(&case.problem(), &request);
        let other = draw(&case.shuffled(&order).problem(), &request);
        let (Ok(one), Ok(other)) = (one, other) else { continue };
        for (i, &from) in order.iter().enumerate() {
            assert_eq!(one.allocation.chosen[from], other.allocation.chosen[i], "{shape:?} {run}");
            assert_eq!(one.by_lot[from], other.by_lot[i]);
            assert!((one.probability[from] - other.probability[i]).abs() < 1e-12);
        }
    }
}

/// Floors, must-calls, caps and costs hold after a draw under rules of every shape, and there is a list wherever there is one.
#[test]
fn rules_hold_after_every_draw() {
    let mut lots = 0;
    for run in 0..500 {
        let mut random = stream(run, &[38]);
        let shape = [Shape::One, Shape::Nested, Shape::Two, Shape::Three][run as usize % 4];
        let case = Case::random(&mut random, 9, shape, MILD, run % 2 == 0);
        let explore = random.random_range(1..4);
        match draw(&case.problem(), &Draw { explore, repetitions: 3, ..Draw::default() }) {
            Ok(found) => {
                check(&case, &found, explore, &format!("{shape:?} {run}"));
                lots += found.by_lot.iter().filter(|lot| **lot).count();
            }
            Err(_) => assert!(case.best().is_none(), "{shape:?} {run}"),
        }
    }
    assert!(lots > 200, "{lots}");
}

/// Hand-worked: 2 and 3 places for 4 equal people, two of whom share a household with one place.
#[test]
fn a_household_shares_its_place() {
    let case = Case {
        value: vec![1.0; 4],
        key: vec![4, 3, 2, 1],
        must: vec![false; 4],
        places: 2,
        fill: true,
        families: vec![Family { group: vec![0, 0, NO_GROUP, NO_GROUP], at_least: vec![0], at_most: vec![1] }],
        cost: None,
    };
    let found = drawn(&case, 0).unwrap();
    assert_eq!(found.probability, [0.5; 4]);
    let found = drawn(&Case { places: 3, ..case }, 0).unwrap();
    assert_eq!(found.probability, [0.5, 0.5, 1.0, 1.0]);
}

/// A draw with a part of its own of every cap, and chances given who got a place by rank.
fn reserved(problem: &Problem<'_>, explore: usize) -> Drawn {
    let request = Draw { explore, is_reserved: true, is_given_ranks: true, ..Draw::default() };
    draw(problem, &request).unwrap()
}

#[test]
fn what_is_kept_for_the_draw_is_drawn_in_groups_that_rank_would_fill() {
    // 120 people in three groups of caps 10, 10 and 12; the first two would fill their caps by rank; values tie in pairs
    let group: Vec<u32> = (0..120).map(|i| i as u32 / 40).collect();
    let value: Vec<f64> = (0..120).map(|i| 10.0 - (i / 40) as f64 - (i / 2) as f64 / 100.0).collect();
    let families = [Family { group: group.clone(), at_least: vec![0; 3], at_most: vec![10, 10, 12] }];
    let must = vec![false; 120];
    let (mut counts, deals) = (vec![0u32; 120], 4_000u64);
    let mut first: Option<Drawn> = None;
    for deal in 0..deals {
        let key: Vec<u64> = (0..120).map(|i| tie_key(deal, "w", &format!("p{i}"))).collect();
        let problem = Problem {
            value: &value,
            key: &key,
            must: &must,
            places: 30,
            fill: true,
            families: &families,
            cost: None,
        };
        let drawn = reserved(&problem, 6);
        assert_eq!((drawn.allocation.places_filled, drawn.inclusion), (30, Inclusion::Exact));
        let load =
            |g: usize| (0..120).filter(|i| group[*i] as usize == g && drawn.allocation.chosen[*i]).count();
        assert!(load(0) <= 10 && load(1) <= 10 && load(2) <= 12);
        // by rank 8 of each of the first two groups, whose caps leave 2 to the draw
        assert!(
            (0..2).all(|g| (0..120).filter(|i| group[*i] as usize == g && drawn.by_lot[*i]).count() <= 2)
        );
        assert!((drawn.probability.iter().sum::<f64>() - 30.0).abs() < 1e-9);
        drawn.by_lot.iter().zip(&mut counts).for_each(|(lot, count)| *count += u32::from(*lot));
        first.get_or_insert(drawn);
    }
    let first = first.unwrap();
    // nobody is without a chance, and those whom no tie decides about are drawn as often as it says
    assert!(first.probability.iter().all(|p| *p > 0.0));
    for i in (0..120).filter(|i| (20..40).contains(i) || (60..80).contains(i) || *i >= 100) {
        let (p, found) = (first.probability[i], f64::from(counts[i]) / deals as f64);
        let error = (p * (1.0 - p) / deals as f64).sqrt();
        assert!((found - p).abs() < 5.0 * error, "{i}: {found} {p}");
    }
}

#[test]
fn simulated_chances_of_the_draw_are_the_same_for_people_of_the_same_groups() {
    // two crossing families: chances have to be simulated
    let n = 300;
    let families = [7u32, 5].map(|groups| Family {
        group: (0..n as u32).map(|i| i % groups).collect(),
        at_least: vec![0; groups as usize],
        at_most: vec![60 / groups as usize; groups as usize],
    });
    let value: Vec<f64> = (0..n).map(|i| ((i * 37) % 50) as f64).collect();
    let (must, deals) = (vec![false; n], 300);
    let mut counts = vec![0u32; n];
    let mut probability = vec![0.0; n];
    for deal in 0..deals {
        let key: Vec<u64> = (0..n).map(|i| tie_key(deal, "w", &format!("p{i}"))).collect();
        let problem = Problem {
            value: &value,
            key: &key,
            must: &must,
            places: 40,
            fill: true,
            families: &families,
            cost: None,
        };
        let drawn =
            draw(&problem, &Draw { explore: 10, repetitions: 200, is_reserved: true, is_given_ranks: true })
                .unwrap();
        assert!(matches!(drawn.inclusion, Inclusion::Simulated { repetitions: 200 }));
        let rank = |i: &usize| drawn.allocation.chosen[*i] && !drawn.by_lot[*i];
        for i in (0..n).filter(|i| !rank(i)) {
            for j in (i + 1..n).filter(|j| !rank(j) && j % 7 == i % 7 && j % 5 == i % 5) {
                assert_eq!(drawn.probability[i], drawn.probability[j]);
            }
        }
        assert!((0..n).filter(rank).all(|i| drawn.probability[i] == 1.0));
        drawn.allocation.chosen.iter().zip(&mut counts).for_each(|(on, count)| *count += u32::from(*on));
        drawn.probability.iter().zip(&mut probability).for_each(|(p, sum)| *sum += p / deals as f64);
    }
    // over all keys, chances given the ranks have the mean of the frequencies
    let off: f64 = (0..n)
        .map(|i| {
            let (p, found) = (probability[i], f64::from(counts[i]) / deals as f64);
            (found - p) / (p * (1.0 - p) / deals as f64).sqrt().max(1e-3)
        })
        .map(|z| z * z)
        .sum::<f64>()
        / n as f64;
    assert!(off < 1.5, "{off}");
}
