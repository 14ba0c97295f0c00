//! One arm: the pieces of every step, the first and last crossings of every state, and the way back.
//!
//! See the parent module. The pieces of step t lie in order of the subsidy, the first from −∞; each remembers the piece of step t + 1
//! that it is a part of. A state's crossings are kept as a stack: one that comes within rounding of the one before undoes it, so that
//! an advantage that touches zero where pieces meet neither makes an index nor a verdict.

use super::super::Ending;
use crate::interrupt;

/// A crossing within this of the one before, relative to rewards and subsidy, undoes it; a slope smaller than this is none.
const TIE: f64 = 1e-12;
/// Crossings this close make one piece.
const SAME: f64 = 4.0 * f64::EPSILON;
/// How many times the pieces of an indexable arm are followed.
const MOST: usize = 64;

/// An arm as the walk reads it.
pub(super) struct Arm<'a> {
    /// `[M,2,M]`
    pub(super) p: &'a [f64],
    /// `[M,2]`
    pub(super) reward: &'a [f64],
    pub(super) discount: f64,
    pub(super) ending: Ending,
}

impl Arm<'_> {
    /// P(s, a, ·)
    fn row(&self, s: usize, a: usize, m: usize) -> &[f64] {
        &self.p[(2 * s + a) * m..][..m]
    }
}

/// The pieces of one step.
#[derive(Default)]
struct Step {
    /// where each begins
    start: Vec<f64>,
    /// the piece of the next step that it is a part of
    within: Vec<usize>,
    /// `[pieces,M]`
    is_passive: Vec<bool>,
    /// V_t = u + m w, relative to their means: `[pieces,M]` each
    level: Vec<f64>,
    slope: Vec<f64>,
}

/// One state at one step: its crossings so far, and where the first lies.
#[derive(Default)]
struct Crossings {
    at: Vec<f64>,
    /// the piece of the next step in which the first crossing lies
    piece: usize,
    /// β there
    slope: f64,
}

/// One thread's memory.
pub(super) struct Pieces {
    m: usize,
    /// `[H + 1]`
    steps: Vec<Step>,
    /// `[H,M]`
    crossings: Vec<Crossings>,
    /// what is expected of the next step: of its level and of its slope, passive and active, `[M,4]`
    ahead: Vec<[f64; 4]>,
    now: Vec<bool>,
    events: Vec<(f64, usize)>,
    /// for the way back: `[M]` each
    value: Vec<f64>,
    weight: Vec<f64>,
    next_weight: Vec<f64>,
}

impl Pieces {
    pub(super) fn new(m: usize, horizon: usize) -> Self {
        Self {
            m,
            steps: (0..=horizon).map(|_| Step::default()).collect(),
            crossings: (0..horizon * m).map(|_| Crossings::default()).collect(),
            ahead: vec![[0.0; 4]; m],
            now: vec![false; m],
            events: Vec::with_capacity(m),
            value: vec![0.0; m],
            weight: vec![0.0; m],
            next_weight: vec![0.0; m],
        }
    }

    /// Walks the arm from its last step to its first; whether it is indexable, or none where its pieces are too many.
    pub(super) fn solve(&mut self, arm: &Arm<'_>) -> Option<bool> {
        let (m, horizon) = (self.m, self.steps.len() - 1);
        let (low, high) = arm.reward.iter().fold((f64::MAX, f64::MIN), |(l, h), &r| (l.min(r), h.max(r)));
        let span = high - low;
        let end = &mut self.steps[horizon];
        end.clear();
        end.start.push(f64::NEG_INFINITY);
        end.level.extend((0..m).map(|s| match arm.ending {
            Ending::Nothing => 0.0,
            Ending::State => arm.reward[2 * s],
        }));
        end.slope.resize(m, 0.0);
        centre(&mut end.level);
        for t in (0..horizon).rev() {
            interrupt::check();
            self.step(arm, t, span);
            if self.steps[t].start.len() > MOST * (1 + (horizon - t) * m) {
                return None;
            }
        }
        Some(self.crossings.iter().all(|crossings| crossings.at.len() == 1))
    }

    /// The pieces of step t, from those of t + 1.
    fn step(&mut self, arm: &Arm<'_>, t: usize, span: f64) {
        let (m, g) = (self.m, arm.discount);
        let Self { steps, crossings, ahead, now, events, .. } = self;
        let crossings = &mut crossings[t * m..][..m];
        let (here, later) = steps.split_at_mut(t + 1);
        let (here, next) = (&mut here[t], &later[0]);
        here.clear();
        crossings.iter_mut().for_each(|crossings| crossings.at.clear());
        now.fill(false);
        for (j, &low) in next.start.iter().enumerate() {
            let high = next.start.get(j + 1).copied().unwrap_or(f64::INFINITY);
            let (level, slope) = (next.level(j, m), next.slope(j, m));
            events.clear();
            for s in 0..m {
                let [passive, active] = [0, 1].map(|a| arm.row(s, a, m));
                let mut sums = [0.0; 4];
                for to in 0..m {
                    sums[0] += passive[to] * level[to];
                    sums[1] += active[to] * level[to];
                    sums[2] += passive[to] * slope[to];
                    sums[3] += active[to] * slope[to];
                }
                ahead[s] = sums;
                let alpha = arm.reward[2 * s + 1] - arm.reward[2 * s] + g * (sums[1] - sums[0]);
                let beta = 1.0 - g * (sums[3] - sums[2]);
                let falls = if now[s] { -beta } else { beta };
                let zero = TIE * span.max(low.abs());
                let at = if falls > TIE {
                    (alpha / beta).max(low)
                } else if !now[s] && falls.abs() <= TIE && (alpha - low * beta).abs() <= zero {
                    low // indifferent from here on
                } else {
                    continue;
                };
                if at < high {
                    events.push((at, s));
                    crossings[s].cross(at, TIE * span.max(at.abs()), j, if beta > TIE { beta } else { 0.0 });
                }
            }
            events.sort_unstable_by(|a, b| a.partial_cmp(b).expect("numbers"));
            // a piece from where the one of the next step begins, and one from each crossing
            let (mut begin, mut k) = (low, 0);
            loop {
                let same = begin + SAME * span.max(begin.abs());
                while k < events.len() && events[k].0 <= same {
                    now[events[k].1] ^= true;
                    k += 1;
                }
                here.push(arm, j, begin, now, ahead);
                if k == events.len() {
                    break;
                }
                begin = events[k].0;
            }
        }
    }

    /// Writes first and last crossings, `[H,M]` each; NaN where the arm could not be followed.
    pub(super) fn write(&self, index: &mut [f64], last: &mut [f64], is_known: bool) {
        for ((index, last), crossings) in index.iter_mut().zip(last).zip(&self.crossings) {
            // every other crossing is one into passivity, the last among them
            (*index, *last) = match &crossings.at[..] {
                [first, .., last] if is_known => (*first, *last),
                [only] if is_known => (*only, *only),
                _ => (f64::NAN, f64::NAN),
            };
        }
    }

    /// After [`solve`](Self::solve): adds Σ c(t, s) dW_t(s) to d_transition `[M,2,M]` and d_reward `[M,2]`; returns that of the discount.
    pub(super) fn pull_back(
        &mut self,
        arm: &Arm<'_>,
        c: impl Fn(usize, usize) -> f64,
        d_transition: &mut [f64],
        d_reward: &mut [f64],
    ) -> f64 {
        let (m, horizon) = (self.m, self.steps.len() - 1);
        let mut d_discount = 0.0;
        for t in 0..horizon {
            for s in 0..m {
                let crossings = &self.crossings[t * m + s];
                let c = c(t, s);
                if c != 0.0 && crossings.slope > 0.0 {
                    let (subsidy, piece) = (crossings.at[0], crossings.piece);
                    let own = c / crossings.slope;
                    self.weight.fill(0.0);
                    self.value_of(t + 1, piece, subsidy);
                    for (a, own) in [(0, -own), (1, own)] {
                        d_discount += self.spread(arm, s, a, own, d_transition, d_reward);
                    }
                    std::mem::swap(&mut self.weight, &mut self.next_weight);
                    d_discount += self.follow(arm, t + 1, piece, subsidy, d_transition, d_reward);
                }
            }
        }
        d_transition.iter_mut().for_each(|d| *d *= arm.discount);
        d_discount
    }

    /// The way back of `weight`, the cotangent of the values of step t, along the policy of a piece of it.
    fn follow(
        &mut self,
        arm: &Arm<'_>,
        mut t: usize,
        mut piece: usize,
        subsidy: f64,
        d_transition: &mut [f64],
        d_reward: &mut [f64],
    ) -> f64 {
        let (m, horizon) = (self.m, self.steps.len() - 1);
        let mut d_discount = 0.0;
        while t < horizon {
            let within = self.steps[t].within[piece];
            self.value_of(t + 1, within, subsidy);
            self.next_weight.fill(0.0);
            for s in 0..m {
                let a = usize::from(!self.steps[t].is_passive[piece * m + s]);
                d_discount += self.spread(arm, s, a, self.weight[s], d_transition, d_reward);
            }
            std::mem::swap(&mut self.weight, &mut self.next_weight);
            (t, piece) = (t + 1, within);
        }
        if arm.ending == Ending::State {
            self.weight.iter().enumerate().for_each(|(s, weight)| d_reward[2 * s] += weight);
        }
        self.weight.fill(0.0);
        self.next_weight.fill(0.0);
        d_discount
    }

    /// V_t on a piece, at a subsidy, into `value`.
    fn value_of(&mut self, t: usize, piece: usize, subsidy: f64) {
        let pair = self.steps[t].level(piece, self.m).iter().zip(self.steps[t].slope(piece, self.m));
        self.value.iter_mut().zip(pair).for_each(|(value, (level, slope))| *value = level + subsidy * slope);
    }

    /// What a cotangent of Q(s, a) becomes, with the next values in `value`: on reward, transitions (γ is left out) and `next_weight`;
    /// returns that of the discount.
    fn spread(
        &mut self,
        arm: &Arm<'_>,
        s: usize,
        a: usize,
        weight: f64,
        d_transition: &mut [f64],
        d_reward: &mut [f64],
    ) -> f64 {
        let m = self.m;
        d_reward[2 * s + a] += weight;
        let (row, d_row) = (arm.row(s, a, m), &mut d_transition[(2 * s + a) * m..][..m]);
        let mut expected = 0.0;
        for to in 0..m {
            expected += row[to] * self.value[to];
            d_row[to] += weight * self.value[to];
            self.next_weight[to] += arm.discount * weight * row[to];
        }
        weight * expected
    }
}

impl Step {
    fn clear(&mut self) {
        self.start.clear();
        self.within.clear();
        self.is_passive.clear();
        self.level.clear();
        self.slope.clear();
    }

    fn level(&self, piece: usize, m: usize) -> &[f64] {
        &self.level[piece * m..][..m]
    }

    fn slope(&self, piece: usize, m: usize) -> &[f64] {
        &self.slope[piece * m..][..m]
    }

    /// One more piece, with these actions.
    fn push(&mut self, arm: &Arm<'_>, within: usize, start: f64, is_passive: &[bool], ahead: &[[f64; 4]]) {
        let (m, g, first) = (is_passive.len(), arm.discount, self.level.len());
        self.start.push(start);
        self.within.push(within);
        self.is_passive.extend_from_slice(is_passive);
        for s in 0..m {
            let a = usize::from(!is_passive[s]);
            self.level.push(arm.reward[2 * s + a] + g * ahead[s][a]);
            self.slope.push(f64::from(is_passive[s]) + g * ahead[s][2 + a]);
        }
        centre(&mut self.level[first..]);
        centre(&mut self.slope[first..]);
    }
}

impl Crossings {
    fn cross(&mut self, at: f64, slack: f64, piece: usize, slope: f64) {
        if self.at.last().is_some_and(|before| at - before <= slack) {
            self.at.pop();
            return;
        }
        if self.at.is_empty() {
            (self.piece, self.slope) = (piece, slope);
        }
        self.at.push(at);
    }
}

fn centre(values: &mut [f64]) {
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    values.iter_mut().for_each(|value| *value -= mean);
}
