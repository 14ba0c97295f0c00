//! One arm at given prices: its values backwards in time, its expected pulls forwards.
//!
//! ```text
//! A_t(s) = R(s,1) − R(s,0) + γ (P₁ − P₀)(s,·) V_{t+1}        V_t(s) = Q_t(s, passive) + e ln(1 + exp((A_t(s) − λ_t)/e))
//! pull_t(s) = σ((A_t(s) − λ_t)/e)                            μ_{t+1} = (μ_t pull_t) P₁ + (μ_t (1 − pull_t)) P₀
//! ```
//!
//! At temperature e = 0 the value is the greater of both, and a pull pays where A_t(s) > λ_t. The derivative of V_0 by λ_t is
//! −γ^t ⟨μ_t, pull_t⟩. O(H M²), or O(H L M) along chains, in memory that the arms of a chunk share.

use super::{Ending, Programme};
use crate::belief::{Belief, Motion};
use crate::simd::{exp, ln_1p};
use ndarray::{ArrayView, Dimension};
use std::borrow::Cow;

/// The arms of a programme, their transitions in a row.
pub(super) struct Arms<'a> {
    pub(super) programme: Programme<'a>,
    /// `[N,L,2,L]`
    rows: Option<Cow<'a, [f64]>>,
}

/// What the recursion of one arm needs, for as many arms as there are.
pub(super) struct Memory {
    /// `[L]`: after [`Arms::backward`] the values where the arm enters
    pub(super) value: Vec<f64>,
    next: Vec<f64>,
    /// `[H,L]`
    pull: Vec<f64>,
}

impl Memory {
    pub(super) fn new(programme: &Programme<'_>) -> Self {
        let l = programme.motion.states();
        Self { value: vec![0.0; l], next: vec![0.0; l], pull: vec![0.0; programme.horizon * l] }
    }
}

/// How one arm moves.
#[derive(Clone, Copy)]
enum Moves<'a> {
    /// `[L,2,L]`
    Rows(&'a [f64]),
    /// `[L,M]`, and the labels of each chain
    Chains(&'a [f64], usize),
}

impl Moves<'_> {
    /// What is expected of the next step in state s of l, passive and active.
    #[inline(always)]
    fn ahead(self, s: usize, next: &[f64]) -> [f64; 2] {
        let l = next.len();
        match self {
            Moves::Rows(p) => {
                let (passive, active) = p[2 * s * l..][..2 * l].split_at(l);
                let mut sums = [0.0; 2];
                for to in 0..l {
                    sums[0] += passive[to] * next[to];
                    sums[1] += active[to] * next[to];
                }
                sums
            }
            Moves::Chains(belief, chain) => {
                let m = l / chain;
                let seen = belief[s * m..][..m].iter().zip(next.iter().step_by(chain));
                [next[Belief::later(s, chain)], seen.map(|(b, next)| b * next).sum()]
            }
        }
    }

    /// Adds to `next` where passive and active masses in state s go.
    #[inline(always)]
    fn push(self, s: usize, [passive, active]: [f64; 2], next: &mut [f64]) {
        let l = next.len();
        match self {
            Moves::Rows(p) => {
                let rows = &p[2 * s * l..][..2 * l];
                for to in 0..l {
                    next[to] += passive * rows[to] + active * rows[l + to];
                }
            }
            Moves::Chains(belief, chain) => {
                let m = l / chain;
                next[Belief::later(s, chain)] += passive;
                next.iter_mut().step_by(chain).zip(&belief[s * m..][..m]).for_each(|(x, b)| *x += active * b);
            }
        }
    }
}

impl<'a> Arms<'a> {
    pub(super) fn new(programme: &Programme<'a>) -> Self {
        programme.check();
        let rows = match programme.motion {
            Motion::Rows(transition) => Some(in_a_row(transition)),
            Motion::Chains(_) => None,
        };
        Self { programme: *programme, rows }
    }

    /// The transitions of arms with two states, `[N,2,2,2]`; none where they have more.
    pub(super) fn pairs(&self) -> Option<&[f64]> {
        self.rows.as_deref().filter(|_| self.programme.motion.states() == 2)
    }

    fn moves(&self, i: usize) -> Moves<'_> {
        match (&self.rows, self.programme.motion) {
            (Some(rows), _) => {
                let l = self.programme.motion.states();
                Moves::Rows(&rows[2 * i * l * l..][..2 * l * l])
            }
            (None, Motion::Chains(belief)) => Moves::Chains(belief.arm(i), belief.chain()),
            (None, Motion::Rows(_)) => unreachable!("rows were laid out"),
        }
    }

    /// The values of arm i where it enters, at prices `[H]`, into `memory.value`; `each(t, s, A_t(s))` sees the advantages.
    pub(super) fn backward(
        &self,
        i: usize,
        price: &[f64],
        temperature: f64,
        memory: &mut Memory,
        mut each: impl FnMut(usize, usize, f64),
    ) {
        let &Programme { discount, ending, reward, .. } = &self.programme;
        let (span, moves, reward) = (self.programme.span(i), self.moves(i), reward.arm(i));
        let Memory { value, next, pull } = memory;
        let l = value.len();
        match ending {
            Ending::State if !span.is_empty() => (0..l).for_each(|s| value[s] = reward[2 * s]),
            _ => value.fill(0.0),
        }
        for t in span.rev() {
            std::mem::swap(value, next);
            for s in 0..l {
                let [passive, active] = moves.ahead(s, next);
                let passive = reward[2 * s] + discount * passive;
                let advantage = reward[2 * s + 1] + discount * active - passive;
                let (rise, chance) = softened(advantage - price[t], temperature);
                value[s] = passive + rise;
                pull[t * l + s] = chance;
                each(t, s, advantage);
            }
        }
    }

    /// After [`backward`](Self::backward): adds the expected pulls of arm i, which enters with masses `start`, to `pulls` `[H]`.
    pub(super) fn forward(&self, i: usize, start: &[f64], memory: &mut Memory, pulls: &mut [f64]) {
        let moves = self.moves(i);
        let Memory { value: mass, next, pull } = memory;
        mass.copy_from_slice(start);
        for t in self.programme.span(i) {
            next.fill(0.0);
            for (s, (mass, pull)) in mass.iter().zip(&pull[t * start.len()..]).enumerate() {
                let active = mass * pull;
                pulls[t] += active;
                moves.push(s, [mass - active, active], next);
            }
            std::mem::swap(mass, next);
        }
    }
}

/// The numbers of an array in order, copied only where they lie otherwise.
pub(super) fn in_a_row<D: Dimension>(array: ArrayView<'_, f64, D>) -> Cow<'_, [f64]> {
    array.to_slice().map_or_else(|| Cow::Owned(array.iter().copied().collect()), Cow::Borrowed)
}

/// What the choice to pull adds to the value where pulling gains x, and the chance of a pull.
#[inline(always)]
pub(super) fn softened(x: f64, temperature: f64) -> (f64, f64) {
    if temperature == 0.0 {
        return (x.max(0.0), f64::from(x > 0.0));
    }
    let tail = exp(-(x / temperature).abs());
    let likelier = 1.0 / (1.0 + tail);
    (x.max(0.0) + temperature * ln_1p(tail), if x > 0.0 { likelier } else { tail * likelier })
}
