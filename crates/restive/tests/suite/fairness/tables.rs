//! Tables, by hand and against all deals.

use super::cases::{Case, groups, random_groups};
use rand::RngExt;
use restive::fairness::{Groups, Lists, Row, Test, cross, describe, table};
use restive::random::stream;
use restive::statistics::{proportion, proportion_difference, welch_t};

fn lists(row: &Row) -> &Lists {
    row.lists.as_ref().unwrap()
}

#[test]
fn a_week_worked_by_hand() {
    // ten people: 0–3 rural, 4–8 urban, 9 not known; 8 left the programme, 7 could not be called
    let of = [0, 0, 0, 0, 1, 1, 1, 1, 1].map(Some).into_iter().chain([None]).collect::<Vec<_>>();
    let place = Groups::new(vec!["rural".into(), "urban".into()], &of, "not known").unwrap();
    let case = Case {
        enrolled: vec![true, true, true, true, true, true, true, true, false, true],
        could: vec![1, 1, 1, 1, 1, 1, 1, 0, 0, 1],
        listed: vec![1, 0, 0, 0, 1, 1, 0, 0, 0, 1],
        outcomes: vec![1, 0, 0, 0, 1, 1, 0, 0, 0, 0],
        reached: vec![0, 0, 0, 0, 1, 1, 0, 0, 0, 0],
        benefit: vec![0.5, 0.0, 0.0, 0.0, 0.25, 0.75, 0.0, 0.0, 0.0, 0.125],
        need: vec![0.2, 0.4, 0.2, 0.4, 0.6, 0.8, 0.6, 0.8, 0.0, 0.5],
    };
    let found = table(&place, &case.period(), None).unwrap();
    let names: Vec<&str> = found.rows.iter().map(|row| row.name.as_str()).collect();
    assert_eq!(names, ["rural", "urban", "not known"]);
    let urban = &found.rows[1];
    let population = urban.population.unwrap();
    assert_eq!((population.people, population.could, population.could_weeks), (4, 3, 3));
    assert_eq!((population.share_of_people, population.share_of_could), (Some(4.0 / 9.0), Some(3.0 / 8.0)));
    assert!((population.need.unwrap().mean - 0.7).abs() < 1e-15);
    let said = lists(urban);
    assert_eq!((said.people, said.weeks, said.share), (2, 2, Some(0.5)));
    assert_eq!(said.rate, Some(proportion(2, 3).unwrap()));
    assert!((said.to_overall.unwrap() - 4.0 / 3.0).abs() < 1e-15);
    // the others: two of five
    assert!((said.to_others.unwrap().ratio - 5.0 / 3.0).abs() < 1e-15);
    assert_eq!((said.benefit, said.benefit_per_listed.unwrap().mean), (1.0, 0.5));
    assert_eq!(said.benefit_per_person.unwrap().mean, 0.25);
    // four of eight dealt, three urban: C(3,x)C(5,4−x)/70 = 5, 30, 30, 5 of 70
    let chance = said.chance.unwrap();
    assert!(chance.is_exact && (chance.p - 1.0).abs() < 1e-12 && (chance.expected - 1.5).abs() < 1e-12);
    assert_eq!((chance.low, chance.high), (0, 3));
    let reach = urban.reach.unwrap();
    assert_eq!((reach.heard, reach.people, reach.rate), (2, 2, Some(proportion(2, 2).unwrap())));
    // not known: one of one; rural 1/4, the lowest
    assert_eq!(found.lowest_to_highest, Some(0.25));
    assert_eq!(found.total.population.unwrap().people, 9);
    assert_eq!(lists(&found.total).weeks, 4);
    // all tables (x, y, z) of sizes 4, 3, 1 with sum 4: weights C(4,x)C(3,y)C(1,z); found 4·3·1 = 12; as rare or rarer: all but the
    // 18s of (2,2,0), (2,1,1): (1,3,0) 4, (3,1,0) 12, (4,0,0) 1, (0,3,1) 1, (1,2,1) 12, (3,0,1) 4
    let overall = found.overall.unwrap();
    assert_eq!(overall.test, Test::Exact);
    assert!((overall.p - 34.0 / 70.0).abs() < 1e-8, "{overall:?}");
}

#[test]
fn weeks_of_the_same_people_are_not_more_people() {
    for run in 0..40 {
        let mut random = stream(run, &[71]);
        let n = random.random_range(8..30);
        let once: Vec<u32> = (0..n).map(|_| random.random_range(0..2)).collect();
        let twelve: Vec<u32> = once.iter().map(|x| 12 * x).collect();
        let of = groups(&random_groups(&mut random, n, 3), 3);
        let [one, many] = [Case::listed(1, &once), Case::listed(12, &twelve)];
        let [one, many] = [one, many].map(|case| table(&of, &case.period(), None).unwrap());
        for (a, b) in one.rows.iter().zip(&many.rows) {
            let (Some(p), Some(q)) = (lists(a).rate, lists(b).rate) else { continue };
            assert_eq!(p.share, q.share);
            assert!((p.of - q.of).abs() < 1.0 + 1e-9 && q.of <= p.of, "{p:?} {q:?}");
            let (p, q) = (lists(a).chance.unwrap(), lists(b).chance.unwrap());
            assert!((p.p - q.p).abs() < 1e-9 && (12.0 * p.expected - q.expected).abs() < 1e-9, "{p:?} {q:?}");
            assert_eq!((12 * p.low, 12 * p.high), (q.low, q.high));
        }
    }
}

#[test]
fn chance_over_weeks_is_that_of_all_ways_to_pick_people() {
    let mut unequal = 0;
    for run in 0..60 {
        let mut random = stream(run, &[72]);
        let n = random.random_range(5..11);
        let of = random_groups(&mut random, n, 2);
        let size = of.iter().filter(|g| **g == 0).count();
        if size == 0 || size == n {
            continue;
        }
        let mut case = Case::listed(4, &(0..n).map(|_| random.random_range(0..5)).collect::<Vec<_>>());
        let is_even = run % 2 == 0;
        if !is_even {
            case.could = case.listed.iter().map(|x| random.random_range(*x..5).max(1)).collect();
        }
        let (sum, weeks) = (case.listed.iter().sum::<u32>(), case.could.iter().sum::<u32>());
        let overall = f64::from(sum) / f64::from(weeks);
        let beyond = |i: usize| f64::from(case.listed[i]) - overall * f64::from(case.could[i]);
        let deals: Vec<f64> = (0..1u32 << n)
            .filter(|mask| mask.count_ones() as usize == size)
            .map(|mask| (0..n).filter(|i| mask >> i & 1 == 1).map(beyond).sum())
            .collect();
        let found: f64 = (0..n).filter(|i| of[*i] == 0).map(beyond).sum();
        let said = lists(&table(&groups(&of, 2), &case.period(), None).unwrap().rows[0]).chance.unwrap();
        if is_even || case.could.iter().all(|e| *e == case.could[0]) {
            let count = |x: f64| deals.iter().filter(|d| (**d - x).abs() < 1e-9).count();
            let rare =
                deals.iter().filter(|d| count(**d) <= count(found)).count() as f64 / deals.len() as f64;
            assert!(said.is_exact && (said.p - rare).abs() < 1e-9, "{said:?} {rare}");
        } else {
            // the normal distribution with the deals' own standard deviation
            let error = (deals.iter().map(|d| d * d).sum::<f64>() / deals.len() as f64).sqrt();
            let weeks: u32 = (0..n).filter(|i| of[*i] == 0).map(|i| case.could[i]).sum();
            let expected = overall * f64::from(weeks);
            assert!(!said.is_exact && (said.expected - expected).abs() < 1e-9);
            let reach = 1.959_963_984_540_054 * error;
            assert_eq!(said.low, (expected - reach).ceil().max(0.0) as u64);
            unequal += usize::from(said.p < 0.9);
        }
    }
    assert!(unequal > 5, "{unequal}");
}

#[test]
fn change_knows_who_is_in_both_periods() {
    let of = groups(&[0; 40], 1);
    let first: Vec<u32> = (0..40).map(|i| u32::from(i < 8)).collect();
    let second: Vec<u32> = (0..40).map(|i| u32::from((4..16).contains(&i))).collect();
    let (now, last) = (Case::listed(1, &second), Case::listed(1, &first));
    let said = lists(&table(&of, &now.period(), Some(&last.period())).unwrap().rows[0]).change.unwrap();
    assert_eq!((said.could_before, said.listed_before), (40, 8));
    // the two lists as 0 and 1 of the same people: phi = (n·both − x·y)/√(x(n−x)y(n−y)) = (160 − 96)/√(12·28·8·32)
    let phi = 64.0 / f64::sqrt(12.0 * 28.0 * 8.0 * 32.0);
    let truth = proportion_difference(&proportion(12, 40).unwrap(), &proportion(8, 40).unwrap(), phi);
    assert!((said.difference.low - truth.low).abs() < 1e-12, "{said:?} {truth:?}");
    assert!((said.difference.high - truth.high).abs() < 1e-12);
    // other people in each period: Newcombe as published
    let half = |is_now: bool| {
        let mut case = Case::listed(
            1,
            &(0..40).map(|i| u32::from(i % 20 < 5 && (i < 20) == is_now)).collect::<Vec<_>>(),
        );
        (0..40).filter(|i| (*i < 20) != is_now).for_each(|i| case.could[i] = 0);
        case
    };
    let said = table(&of, &half(true).period(), Some(&half(false).period())).unwrap();
    let truth = proportion_difference(&proportion(5, 20).unwrap(), &proportion(5, 20).unwrap(), 0.0);
    assert_eq!(lists(&said.rows[0]).change.unwrap().difference, truth);
}

#[test]
fn what_cannot_be_is_refused() {
    assert!(Groups::new(vec!["a".into()], &[Some(0), Some(1)], "").is_err());
    let of = groups(&[0, 1, 0], 2);
    let good = Case::listed(1, &[1, 0, 1]);
    assert!(table(&of, &good.period(), None).is_ok());
    let spoiled: [fn(&mut Case); 6] = [
        |case| case.listed[1] = 2,
        |case| case.outcomes[1] = 1,
        |case| case.reached[0] = 1,
        |case| case.enrolled[0] = false,
        |case| case.need[2] = f64::NAN,
        |case| case.benefit[1] = 1.0,
    ];
    for spoil in spoiled {
        let mut case = good.clone();
        spoil(&mut case);
        assert!(table(&of, &case.period(), None).is_err());
        assert!(table(&of, &good.period(), Some(&case.period())).is_err());
    }
    assert!(table(&groups(&[0, 1], 2), &good.period(), None).is_err());
    // nobody at all is an answer
    let nobody = table(&groups(&[], 2), &Case::default().period(), None).unwrap();
    assert!(nobody.overall.is_none() && lists(&nobody.rows[0]).rate.is_none());
}

#[test]
fn crossings_and_descriptions_count_everybody_once() {
    let (a, b) = (groups(&[0, 1, 1, 0, 2], 3), groups(&[1, 0, 1, 1, 0], 2));
    let both = cross(&a, &b);
    assert_eq!(both.pairs().unwrap(), [[0, 1], [1, 0], [1, 1], [2, 0]]);
    assert_eq!(both.of(), [0, 1, 2, 0, 3]);
    assert_eq!(both.counts(&[0, 3, 4]), [2, 0, 0, 1]);
    let values = [1.0, 2.0, 4.0, 8.0, 16.0];
    let said = describe(&[0, 3, 4], &[&values], &[&a]);
    assert_eq!((said.means, said.shares), (vec![25.0 / 3.0], vec![vec![2.0 / 3.0, 0.0, 1.0 / 3.0]]));
    let found = restive::fairness::compare([&[0, 3, 4], &[0, 1, 2]], &[&values], &[&a, &b]);
    assert_eq!(found.both, 1.0 / 3.0);
    assert_eq!(found.numbers[0], welch_t(&[1.0, 8.0, 16.0], &[1.0, 2.0, 4.0]).ok());
    // rows (2, 0, 1) and (1, 2, 0): χ² = (½² + ½²)/1.5 + (1 + 1)/1 + (½² + ½²)/½
    assert!((found.groupings[0].unwrap().statistic - (1.0 / 3.0 + 2.0 + 1.0)).abs() < 1e-12);
    // the first group against the others: (2, 1), (1, 2)
    assert!((found.groups[0][0].unwrap().statistic - 2.0 / 3.0).abs() < 1e-12);
}
