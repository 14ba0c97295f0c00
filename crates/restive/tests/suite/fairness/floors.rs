//! Prices of floors, against all lists.

use super::cases::{groups, random_groups};
use rand::RngExt;
use restive::allocation::{Family, NO_GROUP, Problem, Refusal};
use restive::fairness::floor_prices;
use restive::random::stream;

/// The most value of a list under the rules and a floor, with as many places filled as can be where they must.
fn best(problem: &Problem<'_>, of: &[u32], group: u32, floor: usize) -> Option<(usize, f64)> {
    let n = of.len();
    let mut best: Option<(usize, f64)> = None;
    for mask in 0..1u32 << n {
        let on = || (0..n).filter(|i| mask >> i & 1 == 1);
        let kept = problem.families.iter().all(|family| {
            (0..family.at_least.len()).all(|g| {
                let load = on().filter(|i| family.group[*i] == g as u32).count();
                (family.at_least[g]..=family.at_most[g]).contains(&load)
            })
        });
        let is_long = on().count() > problem.places || on().filter(|i| of[*i] == group).count() < floor;
        if !kept || is_long || (0..n).any(|i| problem.must[i] && mask >> i & 1 == 0) {
            continue;
        }
        let found = (if problem.fill { on().count() } else { 0 }, on().map(|i| problem.value[i]).sum());
        if best.is_none_or(|best| found.0 > best.0 || (found.0 == best.0 && found.1 > best.1)) {
            best = Some(found);
        }
    }
    best
}

#[test]
fn floors_cost_what_all_lists_say() {
    let (mut priced, mut limited) = (0, 0);
    for run in 0..400 {
        let mut random = stream(run, &[73]);
        let n = random.random_range(3..10);
        let value: Vec<f64> = (0..n).map(|_| f64::from(random.random_range(-1..9)) / 4.0).collect();
        let key: Vec<u64> = (0..n).map(|_| random.random()).collect();
        let must: Vec<bool> = (0..n).map(|_| random.random::<f64>() < 0.1).collect();
        let of = random_groups(&mut random, n, 3);
        // another rule that crosses the groups, or is nested in them
        let rule: Vec<u32> = match run % 3 {
            0 => vec![NO_GROUP; n],
            1 => of.clone(),
            _ => random_groups(&mut random, n, 2),
        };
        let caps = vec![random.random_range(1..4), random.random_range(1..4), 4];
        let families = [Family { group: rule, at_least: vec![0, 0, 0], at_most: caps }];
        let places = random.random_range(1..n);
        let fill = random.random();
        let problem =
            Problem { value: &value, key: &key, must: &must, places, fill, families: &families, cost: None };
        let found = match floor_prices(&problem, &groups(&of, 3), 1, 100) {
            Ok(found) => found,
            Err(Refusal::Conflict(_)) => {
                assert!(best(&problem, &of, 1, 0).is_none());
                continue;
            }
            Err(other) => panic!("{other}"),
        };
        let free = best(&problem, &of, 1, 0).unwrap();
        assert!((found.value - free.1).abs() < 1e-9);
        assert!(
            best(&problem, &of, 1, found.most).is_some() && best(&problem, &of, 1, found.most + 1).is_none()
        );
        assert_eq!(found.floors.len(), found.most - found.places[1]);
        limited += usize::from(found.most < of.iter().filter(|g| **g == 1).count().min(places));
        let mut before = (0.0, 0.0);
        for (k, step) in found.floors.iter().enumerate() {
            assert_eq!(step.floor, found.places[1] + k + 1);
            let (filled, value) = best(&problem, &of, 1, step.floor).unwrap();
            assert!((step.lost - (free.1 - value)).abs() < 1e-9 && step.gap == 0.0, "{run}: {step:?}");
            let now: Vec<i64> = step.change.iter().zip(&found.places).map(|(d, p)| d + *p as i64).collect();
            assert!(now[1] >= step.floor as i64 && now.iter().all(|p| *p >= 0));
            assert!(!fill || now.iter().sum::<i64>() == filled as i64);
            if run % 3 < 2 {
                // nested rules: every further place costs at least as much as the one before
                let more = step.lost - before.0;
                assert!(more > before.1 - 1e-9, "{run}: {:?}", found.floors);
                before = (step.lost, more);
            }
            priced += 1;
        }
    }
    assert!(priced > 150 && limited > 10, "{priced} {limited}");
}

#[test]
fn few_steps_end_at_the_highest_floor() {
    let of = groups(&[0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1], 2);
    let value: Vec<f64> = (0..14).map(f64::from).collect();
    let key: Vec<u64> = (0..14).collect();
    let problem = Problem {
        value: &value,
        key: &key,
        must: &[false; 14],
        places: 7,
        fill: true,
        families: &[],
        cost: None,
    };
    let found = floor_prices(&problem, &of, 0, 3).unwrap();
    assert_eq!(found.floors.iter().map(|step| step.floor).collect::<Vec<_>>(), [3, 5, 7]);
    // 13 … 7 become 6 … 0
    assert_eq!((found.floors[2].lost, found.floors[2].percent), (49.0, Some(70.0)));
    assert_eq!(found.floors[2].change, [7, -7]);
    assert!(floor_prices(&problem, &of, 0, 0).unwrap().floors.is_empty());
    assert!(floor_prices(&problem, &of, 2, 3).is_err());
    assert!(floor_prices(&problem, &groups(&[0, 1], 2), 0, 3).is_err());
}
