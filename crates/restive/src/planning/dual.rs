//! The dual D(λ) of a programme: a bound on every policy, and, smoothed, a function with a gradient.
//!
//! ```text
//! D(λ) = Σ_i γ^from_i ⟨μ_i, V_i⟩ + Σ_g K_g Σ_t γ^t λ_gt        dD/dλ_gt = γ^t (K_g − expected pulls of group g at t)
//! ```
//!
//! with V_i the [values](super::arm) of arm i where it enters, at step `from`. Any λ ≥ 0 gives a bound, but for rounding.
//!
//! What each arm adds, its [worth](worths), depends on nobody else, and [`bound`] adds worths without rounding ([`ExactSum`]): whoever
//! has the arms in pieces, in whatever order, merges the sums of the pieces, adds what is [spent], and has the same bits.
//! Inside the descent, and where D is smoothed, arms are taken in chunks of fixed size and summed in order: the bits are the same for any
//! number of threads.

use super::Programme;
use super::arm::{Arms, Memory, in_a_row};
use super::pairs::Pairs;
use crate::interrupt;
use crate::sum::ExactSum;
use ndarray::{Array2, ArrayView1, ArrayView2};
use rayon::prelude::*;
use std::borrow::Cow;

/// Arms per chunk; part of the arithmetic, because sums are made chunk by chunk.
const CHUNK: usize = 1024;

/// The smoothed dual and its gradient.
#[derive(Debug, Clone, PartialEq)]
pub struct Smoothed {
    /// D, smoothed: above the exact one
    pub value: f64,
    /// `[G,H]`
    pub d_price: Array2<f64>,
}

/// The dual of a programme whose arms start with masses `[N,L]`, at prices `[G,H]`: what no policy within the budgets can exceed.
pub fn bound(programme: &Programme<'_>, initial: ArrayView2<'_, f64>, price: ArrayView2<'_, f64>) -> f64 {
    let mut sum: ExactSum = worths(programme, initial, price).into_iter().collect();
    sum.add(spent(programme, price));
    sum.value()
}

/// What each arm adds to the dual at prices `[G,H]`, `[N]`: γ^from ⟨μ, V⟩, of arms that start (or enter) with masses `[N,L]`. The worth of
/// an arm has the same bits whichever arms stand beside it.
pub fn worths(
    programme: &Programme<'_>,
    initial: ArrayView2<'_, f64>,
    price: ArrayView2<'_, f64>,
) -> Vec<f64> {
    programme.check_price(price);
    let dual = Dual::new(programme, initial);
    let rows: Vec<Vec<f64>> = price.rows().into_iter().map(|row| row.to_vec()).collect();
    let groups: Vec<_> = programme.members().into_iter().zip(&rows).collect();
    let found: Vec<Vec<Vec<f64>>> = groups
        .par_iter()
        .map(|(members, price)| in_chunks(members, |members| dual.worths(members, price)))
        .collect();
    let mut worths = vec![0.0; programme.motion.arms()];
    for ((members, _), found) in groups.iter().zip(found) {
        members.iter().zip(found.into_iter().flatten()).for_each(|(&i, worth)| worths[i] = worth);
    }
    worths
}

/// What the budgets are worth at prices `[G,H]`, Σ_g K_g Σ_t γ^t λ_gt: the part of the dual that is no arm's.
pub fn spent(programme: &Programme<'_>, price: ArrayView2<'_, f64>) -> f64 {
    programme.check_price(price);
    let weights = programme.weights();
    let each = price.rows().into_iter().zip(programme.budget);
    each.map(|(price, budget)| budget * weighed(price.iter().copied(), &weights)).sum()
}

/// Σ_t γ^t λ_t
fn weighed(price: impl Iterator<Item = f64>, weights: &[f64]) -> f64 {
    price.zip(weights).map(|(price, weight)| price * weight).sum()
}

/// The dual with every maximum softened at a temperature, and its gradient by the prices; a subgradient at temperature 0.
pub fn smoothed(
    programme: &Programme<'_>,
    initial: ArrayView2<'_, f64>,
    price: ArrayView2<'_, f64>,
    temperature: f64,
) -> Smoothed {
    programme.check_price(price);
    assert!(temperature >= 0.0, "temperature: at least 0, not {temperature}");
    let dual = Dual::new(programme, initial);
    let mut found = Smoothed { value: 0.0, d_price: Array2::zeros(price.raw_dim()) };
    for (g, members) in programme.members().into_iter().enumerate() {
        let (value, d_price) =
            dual.gradient(&members, &price.row(g).to_vec(), programme.budget[g], temperature);
        found.value += value;
        found.d_price.row_mut(g).assign(&ArrayView1::from(&d_price));
    }
    found
}

/// The dual of one group of arms at a time.
pub(super) struct Dual<'a, 'b> {
    arms: Arms<'a>,
    /// `[N,L]`
    initial: Cow<'b, [f64]>,
    weights: Vec<f64>,
}

impl<'a, 'b> Dual<'a, 'b> {
    pub(super) fn new(programme: &Programme<'a>, initial: ArrayView2<'b, f64>) -> Self {
        let arms = Arms::new(programme);
        programme.check_initial(initial);
        Self { arms, initial: in_a_row(initial), weights: programme.weights() }
    }

    /// D of some arms with a budget, not smoothed.
    pub(super) fn value(&self, members: &[usize], price: &[f64], budget: f64) -> f64 {
        let sums = in_chunks(members, |members| by_lanes(&self.worths(members, price)));
        sums.iter().sum::<f64>() + budget * weighed(price.iter().copied(), &self.weights)
    }

    /// γ^from ⟨μ, V⟩ of each of some arms.
    fn worths(&self, members: &[usize], price: &[f64]) -> Vec<f64> {
        if let Some(p) = self.arms.pairs() {
            return Pairs::new(&self.arms.programme, p, &self.initial, &self.weights).worths(members, price);
        }
        let mut memory = Memory::new(&self.arms.programme);
        let arms = members.iter().map(|&i| {
            self.arms.backward(i, price, 0.0, &mut memory, |_, _, _| ());
            self.earned(i, &memory.value)
        });
        arms.collect()
    }

    /// D of some arms with a budget, smoothed, and its gradient by the prices `[H]`.
    pub(super) fn gradient(
        &self,
        members: &[usize],
        price: &[f64],
        budget: f64,
        temperature: f64,
    ) -> (f64, Vec<f64>) {
        let horizon = price.len();
        let parts = in_chunks(members, |members| {
            let mut pulls = vec![0.0; horizon];
            if let Some(p) = self.arms.pairs() {
                let pairs = Pairs::new(&self.arms.programme, p, &self.initial, &self.weights);
                return (pairs.gradient(members, price, temperature, &mut pulls), pulls);
            }
            let mut memory = Memory::new(&self.arms.programme);
            let mut value = 0.0;
            for &i in members {
                self.arms.backward(i, price, temperature, &mut memory, |_, _, _| ());
                value += self.earned(i, &memory.value);
                self.arms.forward(i, self.start(i), &mut memory, &mut pulls);
            }
            (value, pulls)
        });
        let mut value = budget * weighed(price.iter().copied(), &self.weights);
        let mut d_price = vec![budget; horizon];
        for (part, pulls) in parts {
            value += part;
            d_price.iter_mut().zip(&pulls).for_each(|(d, pulls)| *d -= pulls);
        }
        d_price.iter_mut().zip(&self.weights).for_each(|(d, weight)| *d *= weight);
        (value, d_price)
    }

    /// The largest advantage of a pull of some arms where pulls are free: at any step, and at the last, which no price changes.
    pub(super) fn largest_advantages(&self, members: &[usize]) -> [f64; 2] {
        let horizon = self.arms.programme.horizon;
        let free = vec![0.0; horizon];
        let chunks = in_chunks(members, |members| {
            let mut memory = Memory::new(&self.arms.programme);
            let mut largest = [0.0f64; 2];
            for &i in members {
                self.arms.backward(i, &free, 0.0, &mut memory, |t, _, advantage| {
                    largest[0] = largest[0].max(advantage);
                    largest[1] = largest[1].max(if t + 1 == horizon { advantage } else { 0.0 });
                });
            }
            largest
        });
        chunks.iter().fold([0.0; 2], |a, b| [a[0].max(b[0]), a[1].max(b[1])])
    }

    /// What arm i is worth at the start of the programme, with these values where it enters.
    fn earned(&self, i: usize, value: &[f64]) -> f64 {
        let weight = self.weights.get(self.arms.programme.span(i).start).copied().unwrap_or(0.0);
        weight * self.start(i).iter().zip(value).map(|(mass, value)| mass * value).sum::<f64>()
    }

    fn start(&self, i: usize) -> &[f64] {
        let l = self.arms.programme.motion.states();
        &self.initial[i * l..][..l]
    }
}

/// The sum of some numbers, eight running sums side by side.
fn by_lanes(numbers: &[f64]) -> f64 {
    let mut sums = [0.0; 8];
    for block in numbers.chunks(sums.len()) {
        sums.iter_mut().zip(block).for_each(|(sum, x)| *sum += x);
    }
    sums.iter().sum()
}

/// `f` of every chunk of arms, in order; on this thread where there is only one.
pub(super) fn in_chunks<T: Send>(members: &[usize], f: impl Fn(&[usize]) -> T + Sync) -> Vec<T> {
    let f = |members: &[usize]| {
        interrupt::check();
        f(members)
    };
    if members.len() > CHUNK {
        members.par_chunks(CHUNK).map(f).collect()
    } else {
        members.chunks(CHUNK).map(f).collect()
    }
}
