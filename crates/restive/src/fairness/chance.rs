//! Every group against chance: what the room's essay says, in numbers.

use super::row::Chance;
use super::table::{Overall, Test};
use crate::statistics::{chi_square, dealt, exact_rows, holm, normal_quantile, normal_tail, shuffled};
use ndarray::Array2;

/// The smallest count expected in a cell for which chi-square is trusted.
const EXPECTED: f64 = 5.0;

/// Whom it is about: everybody who could be called, with the group, the weeks on lists and the weeks in which a call could be.
#[derive(Debug, Default)]
pub(super) struct Callable {
    pub group: Vec<usize>,
    pub listed: Vec<u32>,
    pub could: Vec<u32>,
}

/// Per group its count against chance, and all groups at once; nothing where fewer than two groups could be called.
pub(super) fn against(callable: &Callable, groups: usize) -> (Vec<Option<Chance>>, Option<Overall>) {
    let sums = |of: &[u32]| {
        let mut sums = vec![0u64; groups];
        callable.group.iter().zip(of).for_each(|(g, x)| sums[*g] += u64::from(*x));
        sums
    };
    let (listed, could) = (sums(&callable.listed), sums(&callable.could));
    let size = sums(&vec![1; callable.group.len()]);
    if size.iter().filter(|n| **n > 0).count() < 2 {
        return (vec![None; groups], None);
    }
    let overall = listed.iter().sum::<u64>() as f64 / could.iter().sum::<u64>() as f64;
    let is_even = callable.could.windows(2).all(|pair| pair[0] == pair[1]);
    let beyond: Vec<f64> = (callable.listed.iter().zip(&callable.could))
        .map(|(x, e)| f64::from(*x) - overall * f64::from(*e))
        .collect();
    let shuffle = shuffled(&beyond, &callable.group, groups).ok();
    let one = |g: usize| {
        if size[g] == 0 {
            return None;
        }
        let exact = if is_even { dealt(&callable.listed, size[g] as usize) } else { None };
        if let Some(exact) = exact {
            let ((low, high), p) = (exact.range(), exact.p(listed[g]));
            return Some(Chance { expected: exact.expected(), low, high, p, p_corrected: p, is_exact: true });
        }
        let expected = overall * could[g] as f64;
        let error = shuffle.as_ref().map_or(0.0, |shuffle| shuffle.error[g]);
        let reach = normal_quantile(0.975) * error;
        let distance = ((listed[g] as f64 - expected).abs() - 0.5).max(0.0);
        let p = if error > 0.0 { (2.0 * normal_tail(distance / error)).min(1.0) } else { 1.0 };
        let low = (expected - reach).ceil().max(0.0) as u64;
        let high = ((expected + reach).floor() as u64).min(could[g]);
        Some(Chance { expected, low, high: high.max(low), p, p_corrected: p, is_exact: false })
    };
    let mut each: Vec<Option<Chance>> = (0..groups).map(one).collect();
    correct(each.iter_mut().flatten());
    let is_one_week = is_even && callable.could.first() == Some(&1);
    let all = match is_one_week {
        true => one_week(&listed, &size),
        false => shuffle.map(|found| Overall { p: found.p, test: Test::Shuffled }),
    };
    (each, all)
}

/// Holm's correction of the groups that are printed.
pub(super) fn correct<'a>(each: impl Iterator<Item = &'a mut Chance>) {
    let each: Vec<&mut Chance> = each.collect();
    let p: Vec<f64> = each.iter().map(|chance| chance.p).collect();
    each.into_iter().zip(holm(&p)).for_each(|(chance, p)| chance.p_corrected = p);
}

/// Counts of one week: chi-square where they are large, all tables where they are not and can be counted.
fn one_week(listed: &[u64], size: &[u64]) -> Option<Overall> {
    let counts: Vec<[u64; 2]> = listed.iter().zip(size).map(|(x, n)| [*x, n - x]).collect();
    let table = Array2::from_shape_fn((counts.len(), 2), |(g, k)| counts[g][k]);
    let approximate = chi_square(table.view()).ok()?;
    let exact = match approximate.smallest_expected < EXPECTED {
        true => exact_rows(&counts).ok().flatten(),
        false => None,
    };
    Some(match exact {
        Some(p) => Overall { p, test: Test::Exact },
        None => {
            Overall { p: approximate.p, test: Test::ChiSquare { smallest: approximate.smallest_expected } }
        }
    })
}
