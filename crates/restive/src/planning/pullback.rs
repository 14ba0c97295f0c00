//! The way back through the recursion of a programme: from its bound and its advantages to what they were computed from.
//!
//! # What it is
//! At **held prices** the dual D and the advantages A_t(s) are plain functions of transitions, rewards, start, budget and discount. With
//! y_t the cotangent of V_t, which enters as γ^from μ times that of the bound, c_t that of A_t, and pull_t the choice made at the
//! price (1 where A_t(s) > λ_t; a chance where maxima are softened), forwards in time:
//!
//! ```text
//! w_t(s, 1) = y_t(s) pull_t(s) + c_t(s)      w_t(s, 0) = y_t(s) (1 − pull_t(s)) − c_t(s)
//! dR(s, a) += w_t(s, a)     dP_a(s,·) += γ w_t(s, a) V_{t+1}     dλ_t −= Σ_s y_t(s) pull_t(s)     y_{t+1} = γ Σ_s,a w_t(s, a) P_a(s,·)
//! ```
//!
//! # What it means for prices that were found
//! At a minimum of D the prices do not change D to first order, so that the derivative of D at held prices **is** that of the smallest bound
//! (the envelope theorem), wherever that has one. D is piecewise linear and its minimum a corner, at which arms are indifferent;
//! prices found by descent lie beside it and the derivative is that of the side they lie on: exact for the bound at these prices,
//! and for the smallest bound but for the arms at the margin, whose weight is one side's instead of the mixture's.
//! Advantages feel the prices to first order; held prices leave that out. In our trials the gradient of a plan's value through held
//! prices had a cosine of 0.998 with the full one. `d_price` says how large that part would be; prices that are
//! [smooth](super::SmoothPrices) have a derivative of their own.
//!
//! O(N H M²), parallel over arms, sums in the order of the arms.

use super::arm::{in_a_row, softened};
use super::{Ending, Programme};
use crate::belief::Motion;
use crate::interrupt;
use crate::simd::{exp, ln_1p};
use ndarray::{Array2, Array3, Array4, ArrayView2, ArrayView3};
use rayon::prelude::*;

/// What cotangents of bound and advantages become on their inputs.
#[derive(Debug, Clone, PartialEq)]
pub struct PlanCotangent {
    /// `[N,M,2,M]`; rows sum to zero
    pub d_transition: Array4<f64>,
    /// `[N,M,2]`: where rewards are shared, sum over the arms
    pub d_reward: Array3<f64>,
    /// `[N,M]`
    pub d_initial: Array2<f64>,
    /// `[G,H]`
    pub d_price: Array2<f64>,
    /// `[G]`
    pub d_budget: Vec<f64>,
    /// by the discount
    pub d_discount: f64,
    /// by the temperature of a [smoothed](super::smoothed) dual; 0 at temperature 0
    pub d_temperature: f64,
}

/// What a cotangent of the [`bound`](super::bound()) and one of the [`advantages`](super::advantages()) (`[H,N,M]`) at prices `[G,H]` become; the prices
/// are held. At a temperature above 0, of the [smoothed](super::smoothed) dual and its advantages.
///
/// ```
/// use ndarray::array;
/// use restive::Reward;
/// use restive::planning::{Ending, Programme, prices, pullback};
///
/// let p = array![[[[0.9, 0.1], [0.3, 0.7]], [[0.4, 0.6], [0.1, 0.9]]]];
/// let (reward, start) = (Reward::linear(2), array![[1.0, 0.0]]);
/// let programme = Programme {
///     motion: p.view().into(),
///     reward: (&reward).into(),
///     discount: 1.0,
///     horizon: 3,
///     ending: Ending::State,
///     group: None,
///     budget: &[0.5],
///     presence: None,
/// };
/// let found = prices(&programme, start.view());
/// let d = pullback(&programme, start.view(), found.price.view(), 0.0, 1.0, None);
/// assert!(d.d_initial[[0, 1]] > d.d_initial[[0, 0]]); // who starts well earns more
/// assert!(d.d_budget[0] > 0.0); // and a pull more a step is worth its prices
/// ```
pub fn pullback(
    programme: &Programme<'_>,
    initial: ArrayView2<'_, f64>,
    price: ArrayView2<'_, f64>,
    temperature: f64,
    d_bound: f64,
    d_advantage: Option<ArrayView3<'_, f64>>,
) -> PlanCotangent {
    programme.check();
    programme.check_initial(initial);
    programme.check_price(price);
    let (n, m, h) = (programme.motion.arms(), programme.motion.states(), programme.horizon);
    assert!(d_advantage.is_none_or(|d| d.dim() == (h, n, m)), "d_advantage: [H,N,M]");
    let mut d = by_arm(
        programme,
        || Memory::new(m, h),
        |memory, i, p, part| {
            let arm = Arm { p, i, programme, temperature };
            let span = programme.span(i);
            memory.backward(&arm, price);
            let weight = programme.weight(span.start);
            let entered = &memory.value[span.start * m..][..m];
            let mut worth = 0.0;
            for s in 0..m {
                memory.y[s] = d_bound * weight * initial[[i, s]];
                part.d_initial[s] = d_bound * weight * entered[s];
                worth += initial[[i, s]] * entered[s];
            }
            part.d_shared[h] = d_bound * power(programme.discount, span.start) * worth;
            let c = |t: usize, s: usize| d_advantage.map_or(0.0, |d| d[[t, i, s]]);
            memory.forward(&arm, c, part);
        },
    );
    for (g, budget) in programme.budget.iter().enumerate() {
        for t in 0..h {
            d.d_price[[g, t]] += d_bound * budget * programme.weight(t);
            d.d_budget[g] += d_bound * programme.weight(t) * price[[g, t]];
            d.d_discount += d_bound * budget * price[[g, t]] * power(programme.discount, t);
        }
    }
    d
}

/// What one arm adds to a cotangent.
pub(super) struct Part<'a> {
    /// `[M,2,M]`
    pub(super) d_transition: &'a mut [f64],
    /// `[M,2]`
    pub(super) d_reward: &'a mut [f64],
    /// `[M]`
    pub(super) d_initial: &'a mut [f64],
    /// `[H + 2]`: prices, then discount, then temperature
    pub(super) d_shared: &'a mut [f64],
}

/// A cotangent made arm by arm, `of(memory, i, transitions [M,2,M], part)`; what arms share is summed in their order.
pub(super) fn by_arm<T>(
    programme: &Programme<'_>,
    memory: impl Fn() -> T + Sync + Send,
    of: impl Fn(&mut T, usize, &[f64], Part<'_>) + Sync + Send,
) -> PlanCotangent {
    let Motion::Rows(transition) = programme.motion else {
        panic!("motion: transitions [N,M,2,M]; beliefs have no cotangent")
    };
    let (n, m, h) = (programme.motion.arms(), programme.motion.states(), programme.horizon);
    let mut d = PlanCotangent {
        d_transition: Array4::zeros((n, m, 2, m)),
        d_reward: Array3::zeros((n, m, 2)),
        d_initial: Array2::zeros((n, m)),
        d_price: Array2::zeros((programme.groups(), h)),
        d_budget: vec![0.0; programme.groups()],
        d_discount: 0.0,
        d_temperature: 0.0,
    };
    let rows = in_a_row(transition);
    let mut shared = vec![0.0; n * (h + 2)];
    let outputs = (d.d_transition.as_slice_mut().expect("row-major").par_chunks_mut(2 * m * m))
        .zip(d.d_reward.as_slice_mut().expect("row-major").par_chunks_mut(2 * m))
        .zip(d.d_initial.as_slice_mut().expect("row-major").par_chunks_mut(m))
        .zip(shared.par_chunks_mut(h + 2));
    (rows.par_chunks(2 * m * m).zip(outputs))
        .enumerate()
        .with_min_len((50_000 / (h * m * m)).clamp(1, 1024))
        .for_each_init(memory, |memory, (i, (p, (((d_transition, d_reward), d_initial), d_shared)))| {
            interrupt::check();
            of(memory, i, p, Part { d_transition, d_reward, d_initial, d_shared });
        });
    for (i, shared) in shared.chunks_exact(h + 2).enumerate() {
        let mut row = d.d_price.row_mut(programme.group_of(i));
        row.iter_mut().zip(shared).for_each(|(d, part)| *d += part);
        d.d_discount += shared[h];
        d.d_temperature += shared[h + 1];
    }
    d
}

/// What a softened choice between two values that differ by `gap` gains by each unit of temperature: its entropy.
#[inline(always)]
pub(super) fn entropy(gap: f64, temperature: f64) -> f64 {
    let far = (gap / temperature).abs();
    let tail = exp(-far);
    if temperature == 0.0 || tail == 0.0 { 0.0 } else { ln_1p(tail) + far * tail / (1.0 + tail) }
}

/// d γ^t/dγ
pub(super) fn power(discount: f64, t: usize) -> f64 {
    if t == 0 { 0.0 } else { t as f64 * discount.powi(t as i32 - 1) }
}

/// One arm of a programme.
struct Arm<'a, 'b> {
    /// `[M,2,M]`
    p: &'a [f64],
    i: usize,
    programme: &'a Programme<'b>,
    temperature: f64,
}

/// One thread's memory.
struct Memory {
    /// V_t, `[H + 1,M]`
    value: Vec<f64>,
    /// `[H,M]`
    pull: Vec<f64>,
    /// `[H,M]`: of the choices
    entropy: Vec<f64>,
    y: Vec<f64>,
    next: Vec<f64>,
    centred: Vec<f64>,
}

impl Memory {
    fn new(m: usize, h: usize) -> Self {
        let row = vec![0.0; m];
        Self {
            value: vec![0.0; (h + 1) * m],
            pull: vec![0.0; h * m],
            entropy: vec![0.0; h * m],
            y: row.clone(),
            next: row.clone(),
            centred: row,
        }
    }

    /// Values and pulls of every step in which the arm is there.
    fn backward(&mut self, arm: &Arm<'_, '_>, price: ArrayView2<'_, f64>) {
        let m = self.y.len();
        let Programme { discount, ending, reward, .. } = *arm.programme;
        let (span, reward) = (arm.programme.span(arm.i), reward.arm(arm.i));
        self.value.fill(0.0);
        if ending == Ending::State && !span.is_empty() {
            (0..m).for_each(|s| self.value[span.end * m + s] = reward[2 * s]);
        }
        for t in span.rev() {
            let (here, next) = self.value.split_at_mut((t + 1) * m);
            let price = price[[arm.programme.group_of(arm.i), t]];
            for s in 0..m {
                let [passive, active] = [0, 1].map(|a| {
                    let row = &arm.p[(2 * s + a) * m..][..m];
                    reward[2 * s + a] + discount * row.iter().zip(&next[..m]).map(|(p, v)| p * v).sum::<f64>()
                });
                let gap = active - passive - price;
                let (rise, pull) = softened(gap, arm.temperature);
                here[t * m + s] = passive + rise;
                self.pull[t * m + s] = pull;
                self.entropy[t * m + s] = entropy(gap, arm.temperature);
            }
        }
    }

    /// From the cotangent of the first values, in `y`, and those of the advantages.
    fn forward(&mut self, arm: &Arm<'_, '_>, c: impl Fn(usize, usize) -> f64, part: Part<'_>) {
        let m = self.y.len();
        let Part { d_transition, d_reward, d_shared, .. } = part;
        let (d_price, d_settings) = d_shared.split_at_mut(arm.programme.horizon);
        let (span, g) = (arm.programme.span(arm.i), arm.programme.discount);
        for t in span.clone() {
            let later = &self.value[(t + 1) * m..][..m];
            let mean = later.iter().sum::<f64>() / m as f64;
            self.centred.iter_mut().zip(later).for_each(|(centred, value)| *centred = value - mean);
            self.next.fill(0.0);
            for s in 0..m {
                let (pull, own) = (self.pull[t * m + s], c(t, s));
                d_price[t] -= self.y[s] * pull;
                d_settings[1] += self.y[s] * self.entropy[t * m + s];
                for (a, w) in [(0, self.y[s] * (1.0 - pull) - own), (1, self.y[s] * pull + own)] {
                    d_reward[2 * s + a] += w;
                    let (row, d_row) =
                        (&arm.p[(2 * s + a) * m..][..m], &mut d_transition[(2 * s + a) * m..][..m]);
                    for to in 0..m {
                        d_settings[0] += w * row[to] * later[to];
                        d_row[to] += g * w * self.centred[to];
                        self.next[to] += g * w * row[to];
                    }
                }
            }
            std::mem::swap(&mut self.y, &mut self.next);
        }
        if arm.programme.ending == Ending::State && !span.is_empty() {
            self.y.iter().enumerate().for_each(|(s, y)| d_reward[2 * s] += y);
        }
    }
}
