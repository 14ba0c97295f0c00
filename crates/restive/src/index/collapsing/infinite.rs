//! Indices on chains that never end, two observed states: closed form, a fixed number of operations per belief.
//!
//! Write b for the probability of state 1, p for that of moving there from state 0 when left alone, ρ for what the state
//! adds to it (b becomes p + ρb), b* = p/(1−ρ) for where beliefs go, q_s for the head of chain s; rewards are 0 and 1 (states
//! are renamed where state 0 earns more). Passivity moves b by ρ, a pull by q₁ − q₀.
//!
//! **Threshold.** For every subsidy it is optimal to act on the beliefs up to some point if q₁ − q₀ < ρ, and on those from
//! some point on otherwise. (Proof for ρ ≥ 0 and q₁ ≥ q₀: the slopes of the value lie between their extremes; the advantage
//! has slope γ(x − ρV′), x the difference between the heads; a sign other than that of q₁ − q₀ − ρ would contradict the
//! slope 1 + γx of active and 1 + γρV′ of passive pieces.) So at the index of b the active beliefs are those on its side, b
//! included; this is one linear equation for the subsidy, its solution is unique, and **every such arm is indexable**. For
//! negative ρ or q₁ − q₀ this is not proved; tens of thousands of random arms against long finite chains show no exception.
//!
//! **Runs.** With the active beliefs known, chain o is first active at X: 0, 1, never, or, where it comes down to b as b's
//! own chain does, a fixed number of steps (one logarithm per arm) behind or ahead of it. After b itself the next belief is
//! active or none is ever again. Sums of geometric runs are closed:
//!
//! ```text
//! Σ_{v≤X} γᵛ b_o(v) = b*·(1−γⁿ)/(1−γ) + (q_o−b*)(1−(γρ)ⁿ)/(1−γρ),  n = X+1;     for ever: (q_o + γp/(1−γ))/(1−γρ)
//! ```
//!
//! A run for ever is multiplied by 1−γ throughout, so that nothing diverges as γ → 1; at discount 1 itself the index is not
//! determined by these equations where two runs go on for ever, and no arm gets one. The two equations of the heads (see [`chains`](super::chains)) and Adv = 0 give the index, their
//! adjoint its four derivatives. Where two beliefs coincide X may be taken on either side: the index is continuous there.

use crate::index::batch::Outcome;
use crate::index::{ILL_CONDITIONED, IndexStatus};
use ndarray::ArrayView2;

/// The derivatives of an index by the probability of state 1 after: 0 passive, 0 active, 1 passive, 1 active; and by the discount.
pub(super) type Gradient = [f64; 5];

/// What all arms share.
#[derive(Debug, Clone, Copy)]
pub(super) struct Closed {
    discount: f64,
    beliefs: usize,
    /// |R(1) − R(0)|
    rise: f64,
    /// whether state 0 earns more
    is_renamed: bool,
}

/// An arm in the names of the essay.
struct Arm {
    g: f64,
    p: f64,
    rho: f64,
    q: [f64; 2],
    /// 1 − ρ, and b*; where ρ = 1 to the last digit beliefs stay, and any b* will do
    gap: f64,
    rest: f64,
    stays: bool,
    /// 1/(1−γρ)
    factor: f64,
    /// 1 where low beliefs are active, −1 where high ones are
    side: f64,
}

/// Geometric sums up to the first active position of a chain.
#[derive(Clone, Copy)]
struct Sums {
    /// X
    at: f64,
    /// γˣ and ρˣ
    discount: f64,
    decay: f64,
    /// Σ γᵛ and Σ (γρ)ᵛ for v ≤ X
    steps: f64,
    decayed: f64,
    /// (1−ρˣ)/(1−ρ), by how much p has entered the belief at X, and the same up to X: Σ γᵛ(1−ρᵛ)/(1−ρ)
    entered: f64,
    settled: f64,
    /// the derivatives of `steps` and `decayed` by γ
    d_steps: f64,
    d_decayed: f64,
}

impl Sums {
    const FIRST: Self = Self {
        at: 0.0,
        discount: 1.0,
        decay: 1.0,
        steps: 1.0,
        decayed: 1.0,
        entered: 0.0,
        settled: 0.0,
        d_steps: 0.0,
        d_decayed: 0.0,
    };

    #[inline(always)]
    fn one_later(self, arm: &Arm) -> Self {
        let (discount, entered) = (self.discount * arm.g, 1.0 + arm.rho * self.entered);
        Self {
            at: self.at + 1.0,
            discount,
            decay: self.decay * arm.rho,
            steps: 1.0 + arm.g * self.steps,
            decayed: 1.0 + arm.g * arm.rho * self.decayed,
            entered,
            settled: self.settled + discount * entered,
            d_steps: self.steps + arm.g * self.d_steps,
            d_decayed: arm.rho * (self.decayed + arm.g * self.d_decayed),
        }
    }

    /// At any X, for 0 < ρ < 1.
    fn new(at: f64, arm: &Arm) -> Self {
        let (log, log_decay) = (arm.g.ln(), (-arm.gap).ln_1p());
        let (discount, decay) = ((at * log).exp(), (at * log_decay).exp());
        let next = discount * arm.g;
        let steps = if arm.g < 1.0 { -((at + 1.0) * log).exp_m1() / (1.0 - arm.g) } else { at + 1.0 };
        let decayed = (1.0 - next * decay * arm.rho) * arm.factor;
        let entered = -(at * log_decay).exp_m1() / arm.gap;
        // two forms of one sum; the one with the larger denominator loses fewer digits
        let settled = if arm.gap >= 1.0 - arm.g {
            (steps - decayed) / arm.gap
        } else {
            (arm.g * (1.0 - discount * decay) * arm.factor - next * entered) / (1.0 - arm.g)
        };
        let d_steps = (steps - (at + 1.0) * discount) / (1.0 - arm.g);
        let d_decayed = arm.rho * (decayed - (at + 1.0) * discount * decay) * arm.factor;
        Self { at, discount, decay, steps, decayed, entered, settled, d_steps, d_decayed }
    }
}

/// A run: A, D, C, E of the equations, multiplied by `unit`; the derivatives of A and E by p, ρ and the first belief, and those
/// of `unit`, A, D, C and E by γ.
struct Run {
    unit: f64,
    reward: f64,
    steps: f64,
    passive: f64,
    link: f64,
    d_reward: [f64; 3],
    d_link: [f64; 3],
    by_discount: [f64; 5],
}

impl Run {
    /// From belief `from` on, active at X.
    #[inline(always)]
    fn until(sums: Sums, from: f64, arm: &Arm) -> Self {
        let Sums { at, discount, decay, steps, decayed, entered, settled, d_steps, d_decayed } = sums;
        let away = from - arm.rest;
        let end = arm.rest + decay * away;
        let next = discount * arm.g;
        let bent = arm.g * (decayed - (at + 1.0) * discount * decay) * arm.factor;
        // Xρˣ⁻¹
        let fallen = if at <= 1.0 { at } else { at * decay / arm.rho };
        let d_discount = if at <= 1.0 { at } else { at * discount / arm.g };
        let d_end = [entered, arm.rest * entered + away * fallen, decay];
        Self {
            unit: 1.0,
            reward: arm.rest * steps + away * decayed,
            steps,
            passive: steps - discount,
            link: next * end,
            d_reward: [settled, arm.rest * settled + away * bent, decayed],
            d_link: d_end.map(|d| next * d),
            by_discount: [
                0.0,
                arm.rest * d_steps + away * d_decayed,
                d_steps,
                d_steps - d_discount,
                (at + 1.0) * discount * end,
            ],
        }
    }

    /// From belief `from` on, for ever.
    #[inline(always)]
    fn for_ever(from: f64, arm: &Arm) -> Self {
        let unit = 1.0 - arm.g;
        let reward = (unit * from + arm.g * arm.p) * arm.factor;
        let d_reward = [arm.g * arm.factor, arm.g * reward * arm.factor, unit * arm.factor];
        let by_discount = [-1.0, (arm.p - from + reward * arm.rho) * arm.factor, 0.0, 0.0, 0.0];
        Self { unit, reward, steps: 1.0, passive: 1.0, link: 0.0, d_reward, d_link: [0.0; 3], by_discount }
    }
}

impl Closed {
    pub(super) fn new((reward, discount): (ArrayView2<'_, f64>, f64), beliefs: usize) -> Self {
        let rise = reward[[1, 0]] - reward[[0, 0]];
        Self { discount, beliefs, rise: rise.abs(), is_renamed: rise < 0.0 }
    }

    fn arm(&self, p: &[f64]) -> Arm {
        // p is [2,2,2]: from, action, to
        let [up, down] = if self.is_renamed { [p[4], p[1]] } else { [p[1], p[4]] };
        let q = if self.is_renamed { [p[6], p[2]] } else { [p[3], p[7]] };
        let (g, gap) = (self.discount, up + down);
        let rho = 1.0 - gap;
        let stays = rho == 1.0;
        let rest = if stays { 0.5 } else { up / gap };
        let side = if q[1] - q[0] < rho { 1.0 } else { -1.0 };
        Arm { g, p: up, rho, q, gap, rest, stays, factor: 1.0 / (1.0 - g * rho), side }
    }

    /// Solves one arm (`[2,2,2]`): writes its indices, `[2·n]`, and their gradients, `[2·n]`, where there is room.
    pub(super) fn run(
        &self,
        arm: &[f64],
        index: &mut [f64],
        mut gradient: Option<&mut [Gradient]>,
    ) -> Outcome {
        let arm = self.arm(arm);
        let (mut amplification, mut largest, mut spread) = (0.0f64, 0.0f64, 1.0f64);
        for chain in 0..2 {
            let place = if self.is_renamed { 1 - chain } else { chain } * self.beliefs;
            let gradient = gradient.as_deref_mut().map(|all| &mut all[place..][..self.beliefs]);
            let error = self.run_chain(&arm, chain, &mut index[place..][..self.beliefs], gradient);
            amplification = amplification.max(error.0);
            spread = spread.max(error.1);
        }
        for w in index.iter_mut() {
            largest = largest.max(w.abs());
            *w *= self.rise;
        }
        // at discount 1 two runs for ever leave 0/0: the limit exists, but this does not compute it
        if self.discount >= 1.0 || index.iter().any(|w| !w.is_finite()) {
            index.fill(f64::NAN);
            if let Some(all) = gradient {
                all.fill([0.0; 5]);
            }
            return Outcome::UNDETERMINED;
        }
        let residual = f64::EPSILON * amplification * spread.max(largest) / largest.max(1.0);
        let status =
            if residual <= ILL_CONDITIONED { IndexStatus::Exact } else { IndexStatus::IllConditioned };
        Outcome { is_indexable: true, status, residual }
    }

    /// The indices of one chain, for rewards 0 and 1; returns how they amplify errors and how far values are apart.
    fn run_chain(
        &self,
        arm: &Arm,
        chain: usize,
        index: &mut [f64],
        mut gradient: Option<&mut [Gradient]>,
    ) -> (f64, f64) {
        let (own, other) = (arm.q[chain], arm.q[1 - chain]);
        let (own_away, other_away) = (arm.side * (own - arm.rest), arm.side * (other - arm.rest));
        // where both chains come down to b: how many steps after its own chain the other one is there
        let comes_down = !arm.stays && arm.rho > 0.0 && own_away > 0.0;
        let lag = match comes_down && other_away > 0.0 {
            true => ((own_away / other_away).ln() / (-arm.gap).ln_1p()).ceil(),
            false => f64::NEG_INFINITY,
        };
        let second = Sums::FIRST.one_later(arm);
        let (mut sums, mut behind) = (Sums::FIRST, if lag > 0.0 { Sums::new(lag, arm) } else { Sums::FIRST });
        // the belief and its derivatives by p, ρ and the head
        let (mut b, mut d_b) = (own, [0.0, 0.0, 1.0]);
        let (mut amplification, mut spread) = (0.0f64, 0.0f64);
        let mut away = own_away;
        for (h, w) in index.iter_mut().enumerate() {
            let next = arm.p + arm.rho * b;
            let d_next = [1.0 + arm.rho * d_b[0], b + arm.rho * d_b[1], arm.rho * d_b[2]];
            let own_sums = match own_away > 0.0 && !arm.stays {
                true if arm.rho > 0.0 => sums,
                true if h > 0 => second,
                _ => Sums::FIRST,
            };
            let other_sums = if comes_down {
                // never above b where it starts below it
                Some(if h as f64 + lag > 0.0 { behind } else { Sums::FIRST })
            } else if arm.side * other <= arm.side * b {
                Some(Sums::FIRST)
            } else if arm.rho <= 0.0 && arm.side * (arm.p + arm.rho * other) <= arm.side * b {
                Some(second)
            } else {
                None
            };
            let own_run = Run::until(own_sums, own, arm);
            let other_run = match other_sums {
                Some(sums) => Run::until(sums, other, arm),
                None => Run::for_ever(other, arm),
            };
            let after = match arm.stays || away >= 0.0 {
                true => Run::until(Sums::FIRST, next, arm),
                false => Run::for_ever(next, arm),
            };
            let heads = if chain == 0 { [&own_run, &other_run] } else { [&other_run, &own_run] };
            let solved = solve(arm.g, b, heads, &after);
            *w = solved.index;
            amplification = amplification.max(solved.amplification);
            spread = spread.max(solved.x.abs());
            if let Some(gradient) = gradient.as_deref_mut() {
                gradient[h] = self.gradient(arm, chain, &solved, heads, &after, (b, d_b, d_next));
            }
            if h as f64 + 1.0 + lag > 0.0 {
                behind = behind.one_later(arm);
            }
            sums = sums.one_later(arm);
            (b, d_b) = (next, d_next);
            away = if arm.rho > 0.0 {
                away
            } else if arm.rho < 0.0 {
                -away
            } else {
                0.0
            };
        }
        (amplification, spread)
    }

    /// Through the advantage at its zero: dW = [γx db − γ(dA + x dE) + Σ inflow (dA_s + x dE_s)]/β.
    #[inline(always)]
    fn gradient(
        &self,
        arm: &Arm,
        chain: usize,
        solved: &Solved,
        heads: [&Run; 2],
        after: &Run,
        (b, d_b, d_next): (f64, [f64; 3], [f64; 3]),
    ) -> Gradient {
        let x = solved.x;
        let weight = |run: &Run, k: usize| run.d_reward[k] + x * run.d_link[k];
        let own = arm.g * after.unit * x;
        let by_next = -arm.g * weight(after, 2);
        let mut d = [0.0; 2]; // by p, ρ
        for (k, d) in d.iter_mut().enumerate() {
            *d = own * d_b[k] + by_next * d_next[k] - arm.g * weight(after, k);
            *d += solved.inflow[0] * weight(heads[0], k) + solved.inflow[1] * weight(heads[1], k);
        }
        let mut d_q = [0, 1].map(|o| solved.inflow[o] * weight(heads[o], 2));
        d_q[chain] += own * d_b[2] + by_next * d_next[2];
        let scale = self.rise * solved.inverse_slope;
        let [d_p, d_rho] = d.map(|d| d * scale);
        let [d_q0, d_q1] = d_q.map(|d| d * scale);
        let d_g = scale * solved.by_discount(arm.g, b, heads, after);
        match self.is_renamed {
            false => [d_p - d_rho, d_q0, d_rho, d_q1, d_g],
            true => [-d_rho, -d_q1, d_rho - d_p, -d_q0, d_g],
        }
    }
}

/// One belief solved.
struct Solved {
    index: f64,
    inverse_slope: f64,
    /// the value of head 1 less that of head 0, and the gain, at the index
    x: f64,
    gain: f64,
    inflow: [f64; 2],
    amplification: f64,
}

#[inline(always)]
fn solve(g: f64, b: f64, [h0, h1]: [&Run; 2], after: &Run) -> Solved {
    let diagonal = h1.unit - h1.link;
    let inverse = 1.0 / (h0.steps * diagonal + h0.link * h1.steps);
    let heads = |r0: f64, r1: f64| {
        [(diagonal * r0 + h0.link * r1) * inverse, (h0.steps * r1 - h1.steps * r0) * inverse]
    };
    let [gain, x] = heads(h0.reward, h1.reward);
    let [gain_slope, x_slope] = heads(h0.passive, h1.passive);
    let f = after.unit * b - after.link;
    let alpha = g * (f * x + after.steps * gain - after.reward);
    let beta = after.unit - g * (f * x_slope + after.steps * gain_slope - after.passive);
    let (inverse_slope, index) = (1.0 / beta, alpha / beta);
    let inflow = [
        g * (after.steps * diagonal - h1.steps * f) * inverse,
        g * (h0.steps * f + h0.link * after.steps) * inverse,
    ];
    let visits = inflow[0].abs() * h0.steps + inflow[1].abs() * h1.steps + g * after.steps;
    let amplification = (visits + 2.0 * after.unit) * inverse_slope.abs();
    let (x, gain) = (x + index * x_slope, gain + index * gain_slope);
    Solved { index, inverse_slope, x, gain, inflow, amplification }
}

impl Solved {
    /// What γ itself does to the advantage at the index, with what it does to the equations of the heads.
    #[inline(always)]
    fn by_discount(&self, g: f64, b: f64, heads: [&Run; 2], after: &Run) -> f64 {
        let Self { index, x, gain, inflow, .. } = *self;
        // of A + m·C − G·D + x·E
        let run =
            |[_, reward, steps, passive, link]: [f64; 5]| reward + index * passive - gain * steps + x * link;
        let ahead =
            (after.unit * b - after.link) * x + after.steps * gain - after.reward - index * after.passive;
        let d_unit = after.by_discount[0];
        let own = ahead + g * (d_unit * b * x - run(after.by_discount)) - d_unit * index;
        own + inflow[0] * run(heads[0].by_discount)
            + inflow[1] * (run(heads[1].by_discount) - heads[1].by_discount[0] * x)
    }
}
