//! The walk over prices: which state takes which action when.
//!
//! See the parent module. A [`Walk`] is one thread's memory.

use super::Change;
use crate::index::batch::Outcome;
use crate::index::general::classes::Classes;
use crate::index::{ILL_CONDITIONED, IndexStatus};
use crate::interrupt;
use crate::lu::{Lu, dot, subtract};

/// Two prices closer than this, relative to the size of the arm's prices, are one event; a slope smaller than this is none.
const TIE: f64 = 1e-12;
/// After a pivot below this or above its inverse the inverse matrix is computed anew.
const BAD_PIVOT: f64 = 1e-2;
/// A pivot below this means that the policy has no unique average reward (γ = 1, several classes).
const NO_PIVOT: f64 = 1e-12;
/// A violation of the equations above this, relative to rewards, makes it be computed anew.
const SUSPICIOUS: f64 = 1e-12;
/// Pivots between two fresh inverses.
const FRESH: usize = 32;
const NEVER: usize = usize::MAX;

/// An arm as the walk reads it.
#[derive(Clone, Copy)]
pub(super) struct Arm<'a> {
    /// `[M,A,M]`
    pub(super) p: &'a [f64],
    /// `[M,A]`
    pub(super) reward: &'a [f64],
    /// `[A]`
    pub(super) cost: &'a [f64],
    pub(super) discount: f64,
}

impl<'a> Arm<'a> {
    pub(super) fn row(&self, s: usize, a: usize, m: usize) -> &'a [f64] {
        &self.p[(s * self.cost.len() + a) * m..][..m]
    }
}

/// What the gradient of one threshold needs.
#[derive(Clone, Default)]
struct Record {
    price: f64,
    from: usize,
    to: usize,
    /// 1/β; 0 where a state is indifferent on a whole interval and has no gradient
    inverse_slope: f64,
    policy: Vec<usize>,
    /// λ
    adjoint: Vec<f64>,
    /// h, centred
    value: Vec<f64>,
}

/// One thread's memory.
pub(super) struct Walk {
    m: usize,
    /// X, `[M,M]`
    pub(super) inverse: Vec<f64>,
    lu: Lu,
    shift: Vec<f64>,
    pub(super) policy: Vec<usize>,
    /// values are u − m w
    pub(super) level: Vec<f64>,
    pub(super) slope: Vec<f64>,
    /// α and β of every state and action, `[M,A]`
    alpha: Vec<f64>,
    beta: Vec<f64>,
    candidates: Vec<f64>,
    before: Vec<usize>,
    /// the group in which a threshold was recorded, `[M,A−1]`
    recorded: Vec<usize>,
    records: Vec<Record>,
    adjoint: Vec<f64>,
    scratch: Vec<f64>,
    pub(super) changes: Vec<Change>,
    /// the price of every group, and what the policy after it costs per step from the distribution that is the shift
    pub(super) spent: Vec<(f64, f64)>,
    classes: Classes,
    /// the middle of the rewards, which changes no difference
    pub(super) middle: f64,
    /// how large the arm's prices are; the span of its rewards; its largest cost
    scale: f64,
    span: f64,
    largest: f64,
}

impl Walk {
    pub(super) fn new(m: usize, cost: &[f64], is_taped: bool) -> Self {
        let (a, row) = (cost.len(), vec![0.0; m]);
        Self {
            m,
            inverse: vec![0.0; m * m],
            lu: Lu::new(m),
            shift: row.clone(),
            policy: vec![a - 1; m],
            level: row.clone(),
            slope: row.clone(),
            alpha: vec![0.0; m * a],
            beta: vec![0.0; m * a],
            candidates: vec![0.0; m * a],
            before: vec![a - 1; m],
            recorded: vec![NEVER; m * (a - 1)],
            records: vec![Record::default(); if is_taped { m * (a - 1) } else { 0 }],
            adjoint: row.clone(),
            scratch: row,
            changes: Vec::new(),
            spent: Vec::new(),
            classes: Classes::new(m),
            middle: 0.0,
            scale: 0.0,
            span: 0.0,
            largest: cost[a - 1],
        }
    }

    /// Solves one arm: first and last thresholds (`[M,A−1]` each), its changes, and the records where they are kept.
    pub(super) fn run(&mut self, arm: &Arm<'_>, threshold: &mut [f64], last: &mut [f64]) -> Outcome {
        threshold.fill(f64::NAN);
        last.fill(f64::NAN);
        let m = self.m;
        self.shift.fill(0.0);
        (0..m).for_each(|s| subtract(&mut self.shift, -1.0 / m as f64, arm.row(s, arm.cost.len() - 1, m)));
        let found = self.walk(arm, f64::INFINITY, threshold, last);
        let Some(mut outcome) = found else {
            threshold.fill(f64::NAN);
            last.fill(f64::NAN);
            self.changes.clear();
            self.recorded.fill(NEVER);
            return Outcome::UNDETERMINED;
        };
        let size = threshold.iter().fold(self.span / self.largest, |size, w| size.max(w.abs()));
        outcome.residual = if outcome.residual == 0.0 { 0.0 } else { outcome.residual / size };
        if !(outcome.residual <= ILL_CONDITIONED) {
            outcome.status = IndexStatus::IllConditioned;
        }
        outcome
    }

    /// The best policy of an arm at a price, with values relative to `shift`·values; false where it has none.
    pub(super) fn at(&mut self, arm: &Arm<'_>, shift: &[f64], price: f64, spare: &mut [f64]) -> bool {
        self.shift.copy_from_slice(shift);
        let (threshold, last) = spare.split_at_mut(self.recorded.len());
        self.walk(arm, price, threshold, last).is_some()
    }

    /// Walks from −∞ up to a price, its own events included; the residual is not yet relative. None where the path is lost.
    fn walk(
        &mut self,
        arm: &Arm<'_>,
        until: f64,
        threshold: &mut [f64],
        last: &mut [f64],
    ) -> Option<Outcome> {
        let (m, a) = (self.m, arm.cost.len());
        let (low, high) = arm.reward.iter().fold((f64::MAX, f64::MIN), |(l, h), &r| (l.min(r), h.max(r)));
        (self.middle, self.span) = (low + 0.5 * (high - low), high - low);
        self.policy.fill(a - 1);
        self.before.fill(a - 1);
        self.recorded.fill(NEVER);
        self.changes.clear();
        self.spent.clear();
        self.refresh(arm)?;
        self.scale = self.alpha.iter().fold(self.span, |scale, alpha| scale.max(alpha.abs())) / self.largest;
        let mut outcome = Outcome { is_indexable: true, status: IndexStatus::Exact, residual: 0.0 };
        let (mut price, mut group, mut groups) = (f64::NEG_INFINITY, f64::NEG_INFINITY, 0);
        for pivots in 1.. {
            interrupt::check();
            let next = self.next_event(arm, price);
            let slack = TIE * next.abs().max(self.scale);
            if next > until || (next == f64::INFINITY && self.policy.iter().all(|b| *b == 0)) {
                break;
            }
            if next == f64::INFINITY || pivots > 50 * m * a + 100 {
                return None;
            }
            if next > group + slack {
                outcome.is_indexable &= self.close_group(group, last, a);
                (group, groups) = (next, groups + 1);
            }
            let k = self.candidates.iter().position(|&c| c <= next + slack)?;
            price = next;
            let error = self.pivot(arm, k / a, k % a, price, groups, threshold)?;
            outcome.residual = outcome.residual.max(error);
            if pivots % FRESH == 0 {
                self.refresh(arm)?;
            }
        }
        outcome.is_indexable &= self.close_group(group, last, a);
        Some(outcome)
    }

    /// The smallest price, from this one on, at which an action becomes as good as that of the policy and better beyond.
    fn next_event(&mut self, arm: &Arm<'_>, price: f64) -> f64 {
        let a = arm.cost.len();
        let (flat, zero) = (TIE * self.largest, TIE * self.largest * price.abs().max(self.scale));
        let mut next = f64::INFINITY;
        for s in 0..self.m {
            for b in 0..a {
                let k = s * a + b;
                let (alpha, beta) = (self.alpha[k], self.beta[k]);
                self.candidates[k] = if b == self.policy[s] {
                    f64::INFINITY
                } else if beta < -flat {
                    (alpha / beta).max(price)
                } else if b < self.policy[s] && beta <= flat && (alpha - price * beta).abs() <= zero {
                    price // as good on a whole interval, and cheaper
                } else {
                    f64::INFINITY
                };
                next = next.min(self.candidates[k]);
            }
        }
        next
    }

    /// State s takes action b: records its thresholds and updates X; the error that rounding may have made, or none where the policy
    /// has no unique average reward.
    fn pivot(
        &mut self,
        arm: &Arm<'_>,
        s: usize,
        b: usize,
        price: f64,
        group: usize,
        threshold: &mut [f64],
    ) -> Option<f64> {
        let (m, a, g) = (self.m, arm.cost.len(), arm.discount);
        let from = self.policy[s];
        // λ = γ d X
        self.adjoint.fill(0.0);
        for ((to, x), q) in arm.row(s, b, m).iter().zip(self.inverse.chunks_exact(m)).zip(arm.row(s, from, m))
        {
            subtract(&mut self.adjoint, -g * (to - q), x);
        }
        let pivot = 1.0 - self.adjoint[s];
        if !(pivot > NO_PIVOT) {
            return None;
        }
        let beta = self.beta[s * a + b];
        let is_flat = beta >= -TIE * self.largest;
        let mut error = 0.0;
        for k in b.min(from)..b.max(from) {
            let at = s * (a - 1) + k;
            if b > from {
                if self.recorded[at] == group {
                    self.recorded[at] = NEVER;
                }
            } else if self.recorded[at] == NEVER {
                self.recorded[at] = group;
                threshold[at] = price;
                if !self.records.is_empty() {
                    self.record(at, from, b, price, if is_flat { 0.0 } else { 1.0 / beta });
                }
                if !is_flat {
                    error = self.error(price, beta);
                }
            }
        }
        let scale = 1.0 / pivot;
        for x in self.inverse.chunks_exact_mut(m) {
            let own = x[s] * scale;
            subtract(x, -own, &self.adjoint);
        }
        self.policy[s] = b;
        if g == 1.0 && !self.classes.is_unichain(|s| arm.row(s, self.policy[s], m)) {
            return None;
        }
        if !(BAD_PIVOT..=1.0 / BAD_PIVOT).contains(&pivot) {
            self.refresh(arm)?;
            return Some(error);
        }
        self.evaluate(arm);
        if self.violation(arm, price) > SUSPICIOUS * self.span.max(price.abs() * self.largest) {
            self.refresh(arm)?;
            error = error.max(self.violation(arm, price) / beta.abs().max(TIE));
        }
        Some(error)
    }

    /// How far the price of the event may be off: what rounding of the equations can do, ε Σ|ν| (span of the values).
    fn error(&self, price: f64, beta: f64) -> f64 {
        let values = self.level.iter().zip(&self.slope).map(|(u, w)| u - price * w);
        let (low, high) = values.fold((f64::MAX, f64::MIN), |(l, h), v| (l.min(v), h.max(v)));
        let adjoint: f64 = self.adjoint.iter().map(|x| x.abs()).sum();
        f64::EPSILON * (adjoint + 2.0) * (high - low) / beta.abs()
    }

    fn record(&mut self, at: usize, from: usize, to: usize, price: f64, inverse_slope: f64) {
        let record = &mut self.records[at];
        (record.price, record.from, record.to, record.inverse_slope) = (price, from, to, inverse_slope);
        record.policy.clone_from(&self.policy);
        record.adjoint.clone_from(&self.adjoint);
        record.value.clear();
        record.value.extend(self.level.iter().zip(&self.slope).map(|(u, w)| u - price * w));
        let mean = record.value.iter().sum::<f64>() / self.m as f64;
        record.value.iter_mut().for_each(|value| *value -= mean);
    }

    /// Ends a group at this price; false where the best action of a state has become costlier.
    fn close_group(&mut self, price: f64, last: &mut [f64], a: usize) -> bool {
        self.spent.push((price, dot(&self.shift, &self.slope)));
        let mut fell = true;
        for (s, (before, &now)) in self.before.iter_mut().zip(&self.policy).enumerate() {
            if now != *before {
                self.changes.push(Change { price, state: s, action: now });
                fell &= now < *before;
                (now..*before).for_each(|k| last[s * (a - 1) + k] = price);
                *before = now;
            }
        }
        fell
    }

    /// X, values and gains of the policy, anew; none where it has no unique average reward.
    fn refresh(&mut self, arm: &Arm<'_>) -> Option<()> {
        let (m, g) = (self.m, arm.discount);
        for s in 0..m {
            let row = arm.row(s, self.policy[s], m);
            let out = &mut self.lu.factors[s * m..][..m];
            for ((out, p), shift) in out.iter_mut().zip(row).zip(&self.shift) {
                *out = g * (shift - p);
            }
            out[s] += 1.0;
        }
        let is_average = g == 1.0;
        if !self.lu.factor() || (is_average && !self.classes.is_unichain(|s| arm.row(s, self.policy[s], m))) {
            return None;
        }
        self.inverse.fill(0.0);
        (0..m).for_each(|s| self.inverse[s * m + s] = 1.0);
        self.lu.solve_rows(&mut self.inverse);
        self.evaluate(arm);
        Some(())
    }

    /// Values and gains of the policy, by X.
    fn evaluate(&mut self, arm: &Arm<'_>) {
        let (m, a, g) = (self.m, arm.cost.len(), arm.discount);
        for s in 0..m {
            self.scratch[s] = arm.reward[s * a + self.policy[s]] - self.middle;
        }
        (0..m).for_each(|s| self.level[s] = dot(&self.inverse[s * m..][..m], &self.scratch));
        (0..m).for_each(|s| self.scratch[s] = arm.cost[self.policy[s]]);
        (0..m).for_each(|s| self.slope[s] = dot(&self.inverse[s * m..][..m], &self.scratch));
        for s in 0..m {
            let now = self.policy[s];
            let own = arm.row(s, now, m);
            for b in 0..a {
                let (mut level, mut slope) = (0.0, 0.0);
                for (to, (p, q)) in arm.row(s, b, m).iter().zip(own).enumerate() {
                    level += (p - q) * self.level[to];
                    slope += (p - q) * self.slope[to];
                }
                self.alpha[s * a + b] = arm.reward[s * a + b] - arm.reward[s * a + now] + g * level;
                self.beta[s * a + b] = arm.cost[b] - arm.cost[now] + g * slope;
            }
        }
    }

    /// The largest violation of the equations of the values at a price.
    fn violation(&mut self, arm: &Arm<'_>, price: f64) -> f64 {
        let (m, a, g) = (self.m, arm.cost.len(), arm.discount);
        let Self { scratch, level, slope, .. } = self;
        scratch.iter_mut().zip(level.iter().zip(&*slope)).for_each(|(h, (u, w))| *h = u - price * w);
        let shift = dot(&self.shift, &self.scratch);
        let mut worst = 0.0f64;
        for s in 0..m {
            let now = self.policy[s];
            let earned = arm.reward[s * a + now] - self.middle - price * arm.cost[now];
            let ahead = dot(arm.row(s, now, m), &self.scratch) - shift;
            worst = worst.max((earned + g * ahead - self.scratch[s]).abs());
        }
        worst
    }

    /// After [`run`](Self::run) with records: adds Σ c dm to d_transition `[M,A,M]`, d_reward `[M,A]` and, for costs and discount, `shared` `[A + 1]`.
    pub(super) fn pull_back(
        &self,
        arm: &Arm<'_>,
        c: &[f64],
        d_transition: &mut [f64],
        d_reward: &mut [f64],
        shared: &mut [f64],
    ) {
        let (m, a) = (self.m, arm.cost.len());
        for (at, (&c, record)) in c.iter().zip(&self.records).enumerate() {
            if c == 0.0 || self.recorded[at] == NEVER {
                continue;
            }
            let (s, own) = (at / (a - 1), c * record.inverse_slope);
            let mut spread = |x: usize, b: usize, nu: f64| {
                d_reward[x * a + b] += nu;
                shared[b] -= record.price * nu;
                shared[a] += nu * dot(arm.row(x, b, m), &record.value);
                subtract(&mut d_transition[(x * a + b) * m..][..m], -arm.discount * nu, &record.value);
            };
            for (x, (&b, lambda)) in record.policy.iter().zip(&record.adjoint).enumerate() {
                spread(x, b, own * lambda);
            }
            spread(s, record.to, own);
            spread(s, record.from, -own);
        }
    }
}
