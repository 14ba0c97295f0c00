//! The exact test of a table with two columns and any number of rows, where counts are too small for chi-square.
//!
//! Given both margins, chance deals the first column's places to the rows one after the other, each time by the
//! [hypergeometric](super::hypergeometric()) distribution of what is left. The p-value is the probability of all tables that are at most as
//! likely as the one found (Freeman and Halton 1951); for two rows it is Fisher's.
//!
//! Tables are too many to visit. Ways to the same number of places left that are equally likely so far are one way with their
//! probabilities summed (a grid of 10⁻⁹ in the logarithm); the most and the least likely continuation of each is known beforehand, so a way is
//! counted as a whole, or dropped, as soon as these agree (the network algorithm of Mehta and Patel 1983). Where more than
//! [`WAYS`] are open at once there is no answer. Good to about 10⁻⁸.

use super::Undefined;
use super::beta::ln_gamma;
use std::collections::BTreeMap;

/// The ways that may be open at once.
const WAYS: usize = 20_000;

/// Likelihoods whose logarithms are this close count as equal.
const EQUAL: f64 = 1e-7;

/// The p-value of counts by rows, in two columns; nothing where that is too long to count.
///
/// ```
/// let p = restive::statistics::exact_rows(&[[2, 0], [0, 2], [1, 1]])?.expect("a small table");
/// assert!((p - 12.0 / 20.0).abs() < 1e-12); // 8 of the 20 deals are as even as 1, 1, 1
/// # Ok::<(), restive::statistics::Undefined>(())
/// ```
pub fn exact_rows(counts: &[[u64; 2]]) -> Result<Option<f64>, Undefined> {
    let rows: Vec<[u64; 2]> = counts.iter().copied().filter(|row| row[0] + row[1] > 0).collect();
    let drawn: u64 = rows.iter().map(|row| row[0]).sum();
    let people: u64 = rows.iter().map(|row| row[0] + row[1]).sum();
    let columns = usize::from(drawn > 0) + usize::from(drawn < people);
    if rows.len() < 2 || columns < 2 {
        return Err(Undefined::OneCategory { rows: rows.len(), columns });
    }
    let size: Vec<u64> = rows.iter().map(|row| row[0] + row[1]).collect();
    // the nodes of all levels, each with as many ways out as its row has counts
    let work: f64 = size.iter().map(|n| (drawn + 1) as f64 * ((*n).min(drawn) + 1) as f64).sum();
    if work > 100.0 * WAYS as f64 {
        return Ok(None);
    }
    let whole = ln_choose(people, drawn);
    let found: f64 = rows.iter().map(|row| ln_choose(row[0] + row[1], row[0])).sum::<f64>() - whole;
    let least = onward(&size, drawn, f64::min, f64::INFINITY);
    let most = onward(&size, drawn, f64::max, f64::NEG_INFINITY);
    // by places left and logarithm of the likelihood so far, on a grid: that logarithm, and how many ways have it
    let mut open = BTreeMap::from([((drawn, 0i64), (-whole, 1.0f64))]);
    let mut p = 0.0;
    let mut after = people;
    for (level, &n) in size.iter().enumerate() {
        after -= n;
        let here: Vec<f64> = (0..=n.min(drawn)).map(|x| ln_choose(n, x)).collect();
        let rest: Vec<f64> = (0..=after.min(drawn)).map(|x| ln_choose(after, x)).collect();
        let mut next: BTreeMap<(u64, i64), (f64, f64)> = BTreeMap::new();
        for ((left, _), (so_far, ways)) in open {
            for x in left.saturating_sub(after)..=n.min(left) {
                let (log, left) = (so_far + here[x as usize], left - x);
                if log + least[level + 1][left as usize] > found + EQUAL {
                    continue;
                }
                if log + most[level + 1][left as usize] <= found + EQUAL {
                    p += ways * (log + rest[left as usize]).exp();
                    continue;
                }
                let key = (left, (log * 1e9).round() as i64);
                next.entry(key).or_insert((log, 0.0)).1 += ways;
            }
        }
        if next.len() > WAYS {
            return Ok(None);
        }
        open = next;
    }
    Ok(Some(p.min(1.0)))
}

/// By level and places left: the extreme of Σ ln C over the rows from that level on; `never` where no places are left so.
fn onward(size: &[u64], drawn: u64, pick: fn(f64, f64) -> f64, never: f64) -> Vec<Vec<f64>> {
    let mut all = vec![vec![never; drawn as usize + 1]; size.len() + 1];
    all[size.len()][0] = 0.0;
    for level in (0..size.len()).rev() {
        let here: Vec<f64> = (0..=size[level].min(drawn)).map(|x| ln_choose(size[level], x)).collect();
        for left in 0..=drawn as usize {
            let each =
                here.iter().take(left + 1).enumerate().map(|(x, here)| here + all[level + 1][left - x]);
            all[level][left] = each.fold(never, pick);
        }
    }
    all
}

/// ln C(n, k) for k at most n.
fn ln_choose(n: u64, k: u64) -> f64 {
    let ln_factorial = |x: u64| ln_gamma(x as f64 + 1.0);
    if k == 0 || k == n { 0.0 } else { ln_factorial(n) - ln_factorial(k) - ln_factorial(n - k) }
}
