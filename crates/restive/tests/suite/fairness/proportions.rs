//! Shares and exact tests, against mpmath with 40 digits, Python's fractions, all deals, and binomial sums.
//!
//! The numbers come from the formulas of the essays written out: z = √2·erfinv(0.95), Wilson as (p + z²/2n ± z√(p(1−p)/n + z²/4n²))/(1 + z²/n),
//! Newcombe by square and add, Katz as exp(ln r ± z√(1/x − 1/n + 1/y − 1/m)); p-values as sums of `Fraction(comb(…))`.

use proptest::prelude::*;
use restive::statistics::{
    dealt, exact_rows, fisher, hypergeometric, proportion, proportion_difference, proportion_ratio, shuffled,
};

fn assert_near(found: f64, truth: f64, tolerance: f64) {
    assert!((found - truth).abs() <= tolerance * truth.abs().max(1e-300), "{found} not {truth}");
}

#[test]
#[allow(clippy::excessive_precision)]
fn intervals_equal_forty_digit_arithmetic() {
    let wilson = [
        (0, 1, 0.0, 0.793450685622762612032499932352),
        (1, 1, 0.206549314377237387967500067648, 1.0),
        (0, 20, 0.0, 0.161125158052819387149055088366),
        (3, 7, 0.158219855251469688430897216364, 0.749541635472342805250571959852),
        (81, 263, 0.255288519878274225774718025684, 0.366209576982800070147383361748),
        (15, 148, 0.0623863995307362797921454925273, 0.160487241723308038922286775357),
        (29, 29, 0.883030201500259232854674818537, 1.0),
        (123456, 1000003, 0.122812327959642150225333073644, 0.124101824246173981207875062882),
    ];
    for (x, n, low, high) in wilson {
        let said = proportion(x, n).unwrap();
        // the ends are a difference of numbers of size 1
        assert!((said.low - low).abs() < 1e-15 && (said.high - high).abs() < 1e-15, "{x}/{n}: {said:?}");
    }
    let newcombe = [
        ((56, 70), (48, 80), 0.0, 0.0524314724023648778957733398346, 0.333872654036905976425446587368),
        ((9, 10), (3, 10), 0.0, 0.170522723934502875949547830577, 0.809017973535487984425018942104),
        ((10, 10), (0, 20), 0.0, 0.679086037141914672635877455942, 1.0),
        ((0, 10), (0, 10), 0.0, -0.277532799862889252715331318613, 0.277532799862889252715331318613),
        ((30, 50), (25, 60), 0.5, 0.0507970798864640870004685600182, 0.303497863564489364488925492867),
    ];
    for (a, b, correlation, low, high) in newcombe {
        let [a, b] = [a, b].map(|(x, n)| proportion(x, n).unwrap());
        let said = proportion_difference(&a, &b, correlation);
        assert!((said.low - low).abs() < 1e-14 && (said.high - high).abs() < 1e-14, "{said:?}");
    }
    let katz = [
        ((48, 80), (60, 80), 0.642573426367553380411917588703, 0.995995124818496034411438586103),
        ((5, 30), (40, 100), 0.180711779670156983019350605953, 0.960707218024158017475595136456),
        ((0, 25), (10, 50), 0.0, 1.54583851429217734881424317812),
        ((20, 20), (10, 20), 1.27966517937672198348748116427, 2.97874119312720421999958985179),
    ];
    for (a, b, low, high) in katz {
        let [p, q] = [a, b].map(|(x, n)| proportion(x, n).unwrap());
        let said = proportion_ratio(&p, &q).unwrap();
        assert_near(said.low, low, 1e-13);
        assert_near(said.high, high, 1e-13);
        assert_near(said.ratio, (a.0 * b.1) as f64 / (a.1 * b.0) as f64, 1e-15);
    }
    assert!(proportion(0, 0).is_err());
    assert!(proportion_ratio(&proportion(1, 2).unwrap(), &proportion(0, 2).unwrap()).is_err());
}

/// P(X = x) of a binomial X, by multiplication.
fn binomial(n: u64, p: f64) -> Vec<f64> {
    let mut chance = vec![1.0];
    for _ in 0..n {
        let mut next = vec![0.0; chance.len() + 1];
        for (x, c) in chance.iter().enumerate() {
            next[x] += c * (1.0 - p);
            next[x + 1] += c * p;
        }
        chance = next;
    }
    chance
}

#[test]
fn intervals_hold_the_truth_as_often_as_they_say() {
    for n in [10, 20, 50, 120] {
        let said: Vec<_> = (0..=n).map(|x| proportion(x, n).unwrap()).collect();
        let covered = |p: f64| -> f64 {
            let chances = binomial(n, p).into_iter().zip(&said);
            chances.filter(|(_, s)| s.low <= p && p <= s.high).map(|(chance, _)| chance).sum()
        };
        let all: Vec<f64> = (1..200).map(|k| covered(f64::from(k) / 200.0)).collect();
        let mean = all.iter().sum::<f64>() / all.len() as f64;
        assert!((0.94..0.965).contains(&mean), "{n}: {mean}");
        // Wilson's worst is near p = z²/2n… (Agresti and Coull 1998: about 0.83)
        assert!(all.iter().all(|c| *c > 0.82), "{n}");
    }
    let (n, m) = (20, 30);
    let difference =
        |x, y| proportion_difference(&proportion(x, n).unwrap(), &proportion(y, m).unwrap(), 0.0);
    let (mut sum, mut worst, mut cases) = (0.0, 1.0f64, 0.0);
    for p in (1..10).map(|k| f64::from(k) / 10.0) {
        for q in (1..10).map(|k| f64::from(k) / 10.0 - 0.03) {
            let (a, b) = (binomial(n, p), binomial(m, q));
            let mut covered = 0.0;
            for (x, a) in a.iter().enumerate() {
                for (y, b) in b.iter().enumerate() {
                    let said = difference(x as u64, y as u64);
                    covered += if said.low <= p - q && p - q <= said.high { a * b } else { 0.0 };
                }
            }
            (sum, worst, cases) = (sum + covered, worst.min(covered), cases + 1.0);
        }
    }
    assert!((0.945..0.97).contains(&(sum / cases)) && worst > 0.90, "{} {worst}", sum / cases);
}

#[test]
#[allow(clippy::excessive_precision)]
fn exact_tests_equal_fractions() {
    let hyper = [
        ((8, 4, 4), 4, 0.0285714285714285714285714285714, (1, 3)),
        ((100, 30, 20), 12, 0.00213264230970081764109827562896, (3, 10)),
        ((1000, 313, 200), 41, 0.000172634077794722031567788528255, (51, 74)),
        ((5000, 700, 400), 90, 0.00000179479943121375431868297000277, (43, 69)),
        ((20, 20, 7), 7, 1.0, (7, 7)),
        ((60, 7, 30), 0, 0.010542535074203227637661179142, (1, 6)),
    ];
    for ((people, group, drawn), count, p, range) in hyper {
        let said = hypergeometric(people, group, drawn);
        assert_near(said.p(count), p, 1e-12);
        assert_eq!(said.range(), range);
        assert_near(said.expected(), (group * drawn) as f64 / people as f64, 1e-12);
    }
    let rows: [(&[[u64; 2]], f64); 5] = [
        (&[[2, 0], [0, 2], [1, 1]], 0.6),
        (&[[3, 9], [1, 14], [6, 5]], 0.0278752253943126498459737662567),
        (&[[0, 5], [4, 2], [1, 9], [3, 3]], 0.0246275463666768014594101550623),
        (&[[7, 1], [2, 6]], 0.0405594405594405594405594405594),
        (&[[10, 20], [3, 30], [1, 4], [2, 2], [0, 3]], 0.0581986015908609489959725126034),
    ];
    for (counts, p) in rows {
        // the grid on which equal ways meet is 1e-9
        assert_near(exact_rows(counts).unwrap().unwrap(), p, 1e-8);
    }
    assert_near(fisher([[7, 1], [2, 6]]).unwrap(), 0.0405594405594405594405594405594, 1e-13);
    assert!(fisher([[3, 0], [4, 0]]).is_err() && exact_rows(&[[3, 1], [0, 0]]).is_err());
}

/// The sums of all subsets of this size.
fn all_sums(numbers: &[u32], size: usize) -> Vec<u64> {
    let subsets = (0..1u32 << numbers.len()).filter(|mask| mask.count_ones() as usize == size);
    let sum =
        |mask: u32| (0..numbers.len()).filter(|i| mask >> i & 1 == 1).map(|i| u64::from(numbers[i])).sum();
    subsets.map(sum).collect()
}

proptest! {
    #[test]
    fn a_groups_sum_is_that_of_all_subsets(numbers in prop::collection::vec(0u32..5, 1..11), part in 0.0..1.0f64) {
        let size = (part * (numbers.len() + 1) as f64) as usize;
        let sums = all_sums(&numbers, size);
        let said = dealt(&numbers, size).unwrap();
        let count = |x: u64| sums.iter().filter(|s| **s == x).count();
        for x in 0..=numbers.iter().sum::<u32>() as u64 {
            let share = count(x) as f64 / sums.len() as f64;
            prop_assert!((said.probability(x) - share).abs() < 1e-12);
            let as_rare = sums.iter().filter(|s| count(**s) <= count(x)).count() as f64 / sums.len() as f64;
            if count(x) > 0 {
                prop_assert!((said.p(x) - as_rare).abs() < 1e-12);
            }
        }
        let (low, high) = said.range();
        let beyond = |is: &dyn Fn(u64) -> bool| sums.iter().filter(|s| is(**s)).count() as f64 / sums.len() as f64;
        prop_assert!(beyond(&|s| s < low) <= 0.025 + 1e-12 && beyond(&|s| s > high) <= 0.025 + 1e-12);
        prop_assert!(beyond(&|s| s <= low) > 0.025 - 1e-12 && beyond(&|s| s >= high) > 0.025 - 1e-12);
    }

    #[test]
    fn a_shuffled_sum_has_the_moments_of_all_subsets(numbers in prop::collection::vec(0u32..5, 3..10), size in 1usize..3) {
        let group: Vec<usize> = (0..numbers.len()).map(|i| usize::from(i >= size)).collect();
        let values: Vec<f64> = numbers.iter().map(|x| f64::from(*x)).collect();
        let Ok(said) = shuffled(&values, &group, 2) else {
            prop_assert!(numbers.iter().all(|x| *x == numbers[0]));
            return Ok(());
        };
        let sums: Vec<f64> = all_sums(&numbers, size).into_iter().map(|s| s as f64).collect();
        let mean = sums.iter().sum::<f64>() / sums.len() as f64;
        let variance = sums.iter().map(|s| (s - mean) * (s - mean)).sum::<f64>() / sums.len() as f64;
        let found: f64 = values[..size].iter().sum();
        prop_assert!((said.deviation[0] - (found - mean)).abs() < 1e-12);
        prop_assert!((said.error[0] - variance.sqrt()).abs() < 1e-12);
        // with two groups the statistic is the square of the standardised sum
        prop_assert!((said.statistic - (found - mean).powi(2) / variance).abs() < 1e-9);
    }
}
