//! Groups dealt anew: is a group's sum that of people picked at random?
//!
//! Everybody has a number, the times they were on a list, and weeks of the same person are not independent. What is exchanged is
//! therefore people: of all ways to give the groups' sizes to these people, how many have a sum as far out?
//!
//! **One group, exactly.** The sum of n of N whole numbers drawn without replacement, person by person: with s places of the group filled
//! after i people, the next is in it with probability (n − s)/(N − i). [`dealt`] is that distribution, where the table of sizes and
//! sums is small enough. With numbers 0 and 1 it is the hypergeometric one.
//!
//! **All groups, for many people.** Let d be numbers with mean 0 and variance S² (N − 1 below). The sum D_g over a group of n_g has the
//! variance n_g(N − n_g)/N · S², and Σ D_g²/(n_g S²) has a chi-square distribution with G − 1 degrees of freedom, nearly. With
//! numbers 0 and 1 it is Pearson's χ² times (N − 1)/N.

use super::hypergeometric::{Dealt, hypergeometric};
use super::{Undefined, check, tails};

/// Steps that the exact distribution may take.
const STEPS: u64 = 20_000_000;

/// The sum over `group` people picked at random from these, each with a whole number; nothing where that is too long to count.
///
/// ```
/// use restive::statistics::dealt;
///
/// // two of 3, 1, 0, 0: sums 4, 3, 3, 1, 1, 0
/// let sums = dealt(&[3, 1, 0, 0], 2).expect("a small case");
/// assert!((sums.probability(3) - 2.0 / 6.0).abs() < 1e-15 && (sums.p(4) - 2.0 / 6.0).abs() < 1e-15);
/// ```
pub fn dealt(numbers: &[u32], group: usize) -> Option<Dealt> {
    assert!(group <= numbers.len(), "a group of these people");
    let (people, most) = (numbers.len(), numbers.iter().copied().max().unwrap_or(0));
    let total: u64 = numbers.iter().map(|x| u64::from(*x)).sum();
    if most <= 1 {
        return Some(hypergeometric(people as u64, group as u64, total));
    }
    // who is not in the group is a group too
    let size = group.min(people - group);
    let sums = total.min(size as u64 * u64::from(most));
    let steps = (people as u64).checked_mul(size as u64 + 1)?.checked_mul(sums + 1)?;
    if steps > STEPS {
        return None;
    }
    let width = sums as usize + 1;
    let mut chance = vec![0.0; (size + 1) * width];
    chance[0] = 1.0;
    for (i, &x) in numbers.iter().enumerate() {
        for s in (0..=size.min(i)).rev() {
            let joins = (size - s) as f64 / (people - i) as f64;
            for sum in (0..width).rev() {
                let here = chance[s * width + sum];
                if here > 0.0 {
                    chance[s * width + sum] = here * (1.0 - joins).max(0.0);
                    if joins > 0.0 {
                        chance[(s + 1) * width + sum + x as usize] += here * joins;
                    }
                }
            }
        }
    }
    let mut last = chance.split_off(size * width);
    if size == group {
        return Some(Dealt::new(0, last));
    }
    last.reverse();
    Some(Dealt::new(total - sums, last))
}

/// Sums of groups against those of people picked at random.
#[derive(Debug, Clone, PartialEq)]
pub struct Shuffled {
    /// per group, how far its sum is from what its size lets expect
    pub deviation: Vec<f64>,
    /// per group, the standard deviation of that over all ways to deal the groups
    pub error: Vec<f64>,
    /// Σ D²/(n S²)
    pub statistic: f64,
    /// groups with people, less one
    pub freedom: usize,
    /// probability of a statistic as large where groups are dealt at random
    pub p: f64,
}

/// The test of all groups at once: everybody's number and group, below `groups`.
///
/// ```
/// let test = restive::statistics::shuffled(&[1.0, 1.0, 0.0, 0.0, 0.0, 1.0], &[0, 0, 0, 1, 1, 1], 2)?;
/// assert!((test.deviation[0] - 0.5).abs() < 1e-15 && (test.statistic - 5.0 / 9.0).abs() < 1e-12);
/// # Ok::<(), restive::statistics::Undefined>(())
/// ```
pub fn shuffled(numbers: &[f64], group: &[usize], groups: usize) -> Result<Shuffled, Undefined> {
    assert_eq!(numbers.len(), group.len(), "a number and a group for everybody");
    check(numbers, 2)?;
    let (mean, variance) = super::mean::moments(numbers);
    let (mut sum, mut size) = (vec![0.0; groups], vec![0.0; groups]);
    for (x, &g) in numbers.iter().zip(group) {
        sum[g] += x - mean;
        size[g] += 1.0;
    }
    let kept = size.iter().filter(|n| **n > 0.0).count();
    if kept < 2 {
        return Err(Undefined::OneCategory { rows: kept, columns: 2 });
    }
    if variance == 0.0 {
        return Err(Undefined::NoSpread);
    }
    let n = numbers.len() as f64;
    let error = size.iter().map(|s| (s * (n - s) / n * variance).sqrt()).collect();
    let square = |(d, s): (&f64, &f64)| if *s > 0.0 { d * d / (s * variance) } else { 0.0 };
    let statistic = sum.iter().zip(&size).map(square).sum();
    let freedom = kept - 1;
    Ok(Shuffled { deviation: sum, error, statistic, freedom, p: tails::chi_square(statistic, freedom) })
}
