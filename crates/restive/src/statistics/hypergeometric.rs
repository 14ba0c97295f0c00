//! Places dealt at random: how many would a group have by chance?
//!
//! Of N people n are in a group, and k places are dealt with equal chances. The group's count X is hypergeometric,
//! P(x) = C(n, x)·C(N − n, k − x)/C(N, k). Nothing is approximated: probabilities run from the mode, where they are called 1, outwards by
//! P(x + 1)/P(x) = (n − x)(k − x)/((x + 1)(N − n − k + x + 1)), and are divided by their sum. So no digits are lost to large factorials.
//!
//! The p-value is the probability of all counts that are at most as likely as the one found (Fisher's exact test of a 2 × 2
//! table); likelihoods within 10⁻⁷ of each other count as equal. The range leaves out at most 2.5 % on either side.

use super::Undefined;

/// The distribution of a whole number of places under chance.
#[derive(Debug, Clone, PartialEq)]
pub struct Dealt {
    /// the smallest count that can be
    first: u64,
    /// the probabilities of `first`, `first` + 1, …
    chance: Vec<f64>,
}

impl Dealt {
    pub(super) fn new(first: u64, mut weight: Vec<f64>) -> Self {
        let sum: f64 = weight.iter().sum();
        weight.iter_mut().for_each(|w| *w /= sum);
        Self { first, chance: weight }
    }

    /// P(X = count)
    pub fn probability(&self, count: u64) -> f64 {
        let place = count.checked_sub(self.first).and_then(|place| usize::try_from(place).ok());
        place.and_then(|place| self.chance.get(place)).copied().unwrap_or(0.0)
    }

    /// The mean.
    pub fn expected(&self) -> f64 {
        self.first as f64 + self.chance.iter().enumerate().map(|(x, p)| x as f64 * p).sum::<f64>()
    }

    /// The shortest range with at most 2.5 % below it and at most 2.5 % above it.
    pub fn range(&self) -> (u64, u64) {
        let beyond = |chances: &mut dyn Iterator<Item = &f64>| {
            let mut sum = 0.0;
            chances
                .take_while(|p| {
                    sum += **p;
                    sum <= 0.025
                })
                .count() as u64
        };
        let last = self.first + self.chance.len() as u64 - 1;
        let (below, above) = (beyond(&mut self.chance.iter()), beyond(&mut self.chance.iter().rev()));
        (self.first + below, last - above)
    }

    /// The probability of all counts that are at most as likely as this one.
    pub fn p(&self, count: u64) -> f64 {
        let limit = self.probability(count) * (1.0 + 1e-7);
        self.chance.iter().filter(|p| **p <= limit).sum::<f64>().min(1.0)
    }
}

/// How many of `drawn` places go to `group` people when they are dealt among `people`.
///
/// ```
/// use restive::statistics::hypergeometric;
///
/// // Fisher's lady: four of eight cups had milk first, and she named all four
/// let guesses = hypergeometric(8, 4, 4);
/// assert!((guesses.probability(4) - 1.0 / 70.0).abs() < 1e-16 && (guesses.p(4) - 2.0 / 70.0).abs() < 1e-16);
/// assert_eq!((guesses.expected(), guesses.range()), (2.0, (1, 3)));
/// ```
pub fn hypergeometric(people: u64, group: u64, drawn: u64) -> Dealt {
    assert!(group <= people && drawn <= people, "a group and places of these people");
    let (first, last) = (drawn.saturating_sub(people - group), group.min(drawn));
    let (n, k, others) = (group as f64, drawn as f64, (people - group) as f64);
    // P(x + 1)/P(x)
    let ratio = |x: u64| {
        let x = x as f64;
        (n - x) * (k - x) / ((x + 1.0) * (others - k + x + 1.0))
    };
    let mode = (((n + 1.0) * (k + 1.0) / (people as f64 + 2.0)) as u64).clamp(first, last);
    let mut weight = vec![0.0; (last - first + 1) as usize];
    weight[(mode - first) as usize] = 1.0;
    for x in mode..last {
        weight[(x + 1 - first) as usize] = weight[(x - first) as usize] * ratio(x);
    }
    for x in (first..mode).rev() {
        weight[(x - first) as usize] = weight[(x + 1 - first) as usize] / ratio(x);
    }
    Dealt::new(first, weight)
}

/// Fisher's exact test of a 2 × 2 table of counts: its p-value.
///
/// ```
/// let p = restive::statistics::fisher([[3, 1], [1, 3]])?;
/// assert!((p - 34.0 / 70.0).abs() < 1e-15);
/// # Ok::<(), restive::statistics::Undefined>(())
/// ```
pub fn fisher(counts: [[u64; 2]; 2]) -> Result<f64, Undefined> {
    let [[a, b], [c, d]] = counts;
    let some = |lines: [u64; 2]| lines.iter().filter(|sum| **sum > 0).count();
    let (rows, columns) = (some([a + b, c + d]), some([a + c, b + d]));
    if rows < 2 || columns < 2 {
        return Err(Undefined::OneCategory { rows, columns });
    }
    Ok(hypergeometric(a + b + c + d, a + b, a + c).p(a))
}
