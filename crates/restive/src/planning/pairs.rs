//! The recursion of [one arm](super::arm) for eight arms of two states side by side, one in each lane of a vector.
//!
//! The formulas, and for each arm the arithmetic, are those of `arm.rs`; only the sums over arms are made in another order: lane by
//! lane, and the lanes at the end. An arm outside its steps keeps its values and its masses. A block that is not full is
//! filled up with arms without mass.

use super::arm::softened;
use super::{Ending, Programme};
use crate::simd::for_cpu;

const LANES: usize = 8;
/// A number of each arm.
type Lanes = [f64; LANES];

/// Arms of two states, `[N,2,2,2]`, with where they start, `[N,2]`.
#[derive(Clone, Copy)]
pub(super) struct Pairs<'a, 'b> {
    programme: &'a Programme<'b>,
    p: &'a [f64],
    initial: &'a [f64],
    weights: &'a [f64],
}

/// Eight arms.
struct Block {
    /// P(s, a, s′), in that order
    p: [Lanes; 8],
    /// R(s, a)
    reward: [Lanes; 4],
    /// the masses with which they enter
    start: [Lanes; 2],
    /// γ^from, and the steps from..until in which they are there
    weight: Lanes,
    from: Lanes,
    until: Lanes,
}

impl<'a, 'b> Pairs<'a, 'b> {
    pub(super) fn new(
        programme: &'a Programme<'b>,
        p: &'a [f64],
        initial: &'a [f64],
        weights: &'a [f64],
    ) -> Self {
        Self { programme, p, initial, weights }
    }

    /// γ^from ⟨μ, V⟩ of each of some arms, not smoothed: the same bits whichever arms stand beside it.
    pub(super) fn worths(self, members: &[usize], price: &[f64]) -> Vec<f64> {
        let mut worths = vec![0.0; members.len()];
        strict(self, members, price, &mut worths);
        worths
    }

    /// Σ γ^from ⟨μ, V⟩ of some arms, smoothed; adds the expected pulls to `pulls` `[H]`.
    pub(super) fn gradient(
        self,
        members: &[usize],
        price: &[f64],
        temperature: f64,
        pulls: &mut [f64],
    ) -> f64 {
        let (mut sums, mut pulled) = ([0.0; LANES], vec![[0.0; LANES]; price.len()]);
        let mut chances = vec![[[0.0; LANES]; 2]; price.len()];
        soft(self, members, price, temperature, &mut chances, &mut sums, &mut pulled);
        pulls.iter_mut().zip(&pulled).for_each(|(pulls, lanes)| *pulls += lanes.iter().sum::<f64>());
        sums.iter().sum()
    }

    #[inline(always)]
    fn block(self, members: &[usize]) -> Block {
        let mut block = Block {
            p: [[0.0; LANES]; 8],
            reward: [[0.0; LANES]; 4],
            start: [[0.0; LANES]; 2],
            weight: [0.0; LANES],
            from: [0.0; LANES],
            until: [0.0; LANES],
        };
        for (lane, &i) in members.iter().enumerate() {
            let (p, reward) = (&self.p[8 * i..][..8], &self.programme.reward.arm(i)[..4]);
            (0..8).for_each(|k| block.p[k][lane] = p[k]);
            (0..4).for_each(|k| block.reward[k][lane] = reward[k]);
            (0..2).for_each(|s| block.start[s][lane] = self.initial[2 * i + s]);
            let span = self.programme.span(i);
            if !span.is_empty() {
                block.weight[lane] = self.weights[span.start];
                (block.from[lane], block.until[lane]) = (span.start as f64, span.end as f64);
            }
        }
        block
    }
}

impl Block {
    #[inline(always)]
    fn is_here(&self, lane: usize, t: usize) -> bool {
        self.from[lane] <= t as f64 && (t as f64) < self.until[lane]
    }

    /// Values where the arms enter; `keep(t, s, chances)` sees the pulls, 0 for arms that are not there.
    #[inline(always)]
    fn backward(
        &self,
        programme: &Programme<'_>,
        price: &[f64],
        temperature: f64,
        mut keep: impl FnMut(usize, usize, Lanes),
    ) -> [Lanes; 2] {
        let discount = programme.discount;
        let mut value = match programme.ending {
            Ending::Nothing => [[0.0; LANES]; 2],
            Ending::State => [self.reward[0], self.reward[2]],
        };
        for t in (0..price.len()).rev() {
            let next = value;
            for s in 0..2 {
                let mut chance = [0.0; LANES];
                for lane in 0..LANES {
                    let ahead = |a: usize| {
                        let row = [self.p[4 * s + 2 * a][lane], self.p[4 * s + 2 * a + 1][lane]];
                        self.reward[2 * s + a][lane]
                            + discount * (row[0] * next[0][lane] + row[1] * next[1][lane])
                    };
                    let passive = ahead(0);
                    let (rise, pull) = softened(ahead(1) - passive - price[t], temperature);
                    let is_here = self.is_here(lane, t);
                    value[s][lane] = if is_here { passive + rise } else { next[s][lane] };
                    chance[lane] = if is_here { pull } else { 0.0 };
                }
                keep(t, s, chance);
            }
        }
        value
    }

    #[inline(always)]
    fn earned(&self, value: &[Lanes; 2]) -> Lanes {
        let mut earned = [0.0; LANES];
        for lane in 0..LANES {
            let [here, there] = [0, 1].map(|s| self.start[s][lane] * value[s][lane]);
            earned[lane] = self.weight[lane] * (here + there);
        }
        earned
    }

    #[inline(always)]
    fn forward(&self, chances: &[[Lanes; 2]], pulled: &mut [Lanes]) {
        let mut mass = self.start;
        for (t, (chance, pulled)) in chances.iter().zip(pulled).enumerate() {
            for lane in 0..LANES {
                let active = [0, 1].map(|s| mass[s][lane] * chance[s][lane]);
                let passive = [0, 1].map(|s| mass[s][lane] - active[s]);
                pulled[lane] += active[0] + active[1];
                for to in 0..2 {
                    let arrive = |s: usize| {
                        passive[s] * self.p[4 * s + to][lane] + active[s] * self.p[4 * s + 2 + to][lane]
                    };
                    let arrived = arrive(0) + arrive(1);
                    mass[to][lane] = if self.is_here(lane, t) { arrived } else { mass[to][lane] };
                }
            }
        }
    }
}

#[inline(always)]
fn strict_loop(pairs: Pairs<'_, '_>, members: &[usize], price: &[f64], worths: &mut [f64]) {
    for (members, worths) in members.chunks(LANES).zip(worths.chunks_mut(LANES)) {
        let block = pairs.block(members);
        let earned = block.earned(&block.backward(pairs.programme, price, 0.0, |_, _, _| ()));
        worths.copy_from_slice(&earned[..worths.len()]);
    }
}

#[inline(always)]
fn soft_loop(
    pairs: Pairs<'_, '_>,
    members: &[usize],
    price: &[f64],
    temperature: f64,
    chances: &mut [[Lanes; 2]],
    sums: &mut Lanes,
    pulled: &mut [Lanes],
) {
    for members in members.chunks(LANES) {
        let block = pairs.block(members);
        let value =
            block.backward(pairs.programme, price, temperature, |t, s, chance| chances[t][s] = chance);
        let earned = block.earned(&value);
        (0..LANES).for_each(|lane| sums[lane] += earned[lane]);
        block.forward(chances, pulled);
    }
}

for_cpu! {
    fn strict(pairs: Pairs<'_, '_>, members: &[usize], price: &[f64], worths: &mut [f64]) = strict_loop
}
for_cpu! {
    fn soft(
        pairs: Pairs<'_, '_>,
        members: &[usize],
        price: &[f64],
        temperature: f64,
        chances: &mut [[Lanes; 2]],
        sums: &mut Lanes,
        pulled: &mut [Lanes],
    ) = soft_loop
}
