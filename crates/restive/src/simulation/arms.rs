//! Arms that move: cumulative probabilities, so that one uniform number picks where an arm goes.

use crate::belief::{Belief, Motion};
use crate::random::Random;
use rand::RngExt;

pub(super) struct Arms {
    n: usize,
    /// how many states or labels an arm has
    l: usize,
    /// T, where they are labels
    chain: Option<usize>,
    /// of states Σ_{s″≤s′} P(s, a, s″), `[N,M,2,M−1]`; of labels Σ_{y≤x} b(y), `[N,L,M−1]`: the last entry is left out
    cumulative: Vec<f64>,
    /// M − 1
    width: usize,
}

impl Arms {
    pub(super) fn new(motion: Motion<'_>) -> Self {
        let (n, l) = (motion.arms(), motion.states());
        let sums = |row: &[f64], out: &mut Vec<f64>| {
            let mut sum = 0.0;
            out.extend(row[..row.len() - 1].iter().map(|p| {
                sum += p;
                sum
            }));
        };
        let mut cumulative = Vec::new();
        let (chain, width) = match motion {
            Motion::Rows(transition) => {
                cumulative.reserve_exact(n * l * 2 * (l - 1));
                let rows = transition.as_standard_layout();
                let rows = rows.as_slice().expect("row-major").chunks_exact(l);
                rows.for_each(|row| sums(row, &mut cumulative));
                (None, l - 1)
            }
            Motion::Chains(belief) => {
                let m = belief.states();
                cumulative.reserve_exact(n * l * (m - 1));
                let rows = belief.view().to_slice().expect("row-major").chunks_exact(m);
                rows.for_each(|row| sums(row, &mut cumulative));
                (Some(belief.chain()), m - 1)
            }
        };
        Self { n, l, chain, cumulative, width }
    }

    pub(super) fn arms(&self) -> usize {
        self.n
    }

    pub(super) fn states(&self) -> usize {
        self.l
    }

    pub(super) fn uniform_states(&self, noise: &mut Random) -> Vec<u16> {
        Self::uniform(self.n, self.l, noise).collect()
    }

    /// A state of each of n arms with so many states, every one equally likely.
    pub(super) fn uniform(n: usize, states: usize, noise: &mut Random) -> impl Iterator<Item = u16> {
        (0..n).map(move |_| noise.random_range(0..states as u16))
    }

    /// Moves every arm; draws one number per arm, whatever its action.
    pub(super) fn step(&self, state: &mut [u16], pull: &[bool], noise: &mut Random) {
        for (i, (s, &pull)) in state.iter_mut().zip(pull).enumerate() {
            let uniform: f64 = noise.random();
            let at = i * self.l + usize::from(*s);
            *s = match self.chain {
                None => self.draw(2 * at + usize::from(pull), uniform),
                Some(chain) if pull => self.draw(at, uniform) * chain as u16,
                Some(chain) => Belief::later(usize::from(*s), chain) as u16,
            };
        }
    }

    /// The number of sums of a row that the draw has reached.
    #[inline(always)]
    fn draw(&self, row: usize, uniform: f64) -> u16 {
        let sums = &self.cumulative[row * self.width..][..self.width];
        sums.iter().map(|sum| u16::from(uniform >= *sum)).sum()
    }
}
