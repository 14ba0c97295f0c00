//! The loops over contiguous arms whose rewards or discounts are their own.
//!
//! The closed form is that of `kernel`; what is different is what an arm reads (up to five more numbers) and writes (the
//! cotangents of its own reward and discount, where arms that share them only add to a sum). What all arms share after all is
//! spread over a tile of arms on the stack, so that there is one loop for the three ways to mix.

use super::Packing;
use super::kernel::{Shared, TILE, index_of, pack, pull_back};
use crate::index::{Discounts, Rewards};
use crate::simd::for_cpu;

/// Rewards and discounts of some consecutive arms, in memory that kernels can walk over.
#[derive(Clone, Copy)]
pub(super) struct Own<'a> {
    /// `[n,2,2]`, or `[2,2]` of all
    reward: &'a [f64],
    /// `[n]`, or `[1]` of all
    discount: &'a [f64],
    /// how far the next arm's numbers are: 0 where all arms have the same
    reward_step: usize,
    discount_step: usize,
}

/// A shared reward or discount in memory of its own, for [`Own`] to point at.
pub(super) struct Spread {
    reward: [f64; 4],
    discount: [f64; 1],
}

impl Spread {
    pub(super) fn new(rewards: &Rewards<'_>, discounts: &Discounts<'_>) -> Self {
        let reward = match rewards {
            Rewards::Shared(r) => [r[[0, 0]], r[[0, 1]], r[[1, 0]], r[[1, 1]]],
            Rewards::PerArm(_) => [0.0; 4],
        };
        let discount = match discounts {
            Discounts::Shared(discount) => [*discount],
            Discounts::PerArm(_) => [0.0],
        };
        Self { reward, discount }
    }
}

impl<'a> Own<'a> {
    pub(super) fn new(rewards: &'a Rewards<'_>, discounts: &'a Discounts<'_>, spread: &'a Spread) -> Self {
        let (reward, reward_step) = match rewards {
            Rewards::Shared(_) => (&spread.reward[..], 0),
            Rewards::PerArm(rewards) => (rewards.as_slice().expect("row-major"), 4),
        };
        let (discount, discount_step) = match discounts {
            Discounts::Shared(_) => (&spread.discount[..], 0),
            Discounts::PerArm(discounts) => (discounts.as_slice().expect("contiguous"), 1),
        };
        Self { reward, discount, reward_step, discount_step }
    }

    /// Those of the arms from `first` on.
    pub(super) fn from(self, first: usize) -> Self {
        let (reward, discount) =
            (&self.reward[first * self.reward_step..], &self.discount[first * self.discount_step..]);
        Self { reward, discount, ..self }
    }
}

/// A tile of arms on the stack: probabilities, rewards and discounts.
struct Tile {
    p: [f64; 4 * TILE],
    reward: [f64; 4 * TILE],
    discount: [f64; TILE],
}

impl Tile {
    #[inline(always)]
    fn new(own: Own<'_>) -> Self {
        let mut tile = Self { p: [0.0; 4 * TILE], reward: [0.0; 4 * TILE], discount: [0.0; TILE] };
        if own.reward_step == 0 {
            tile.reward.chunks_exact_mut(4).for_each(|r| r.copy_from_slice(&own.reward[..4]));
        }
        if own.discount_step == 0 {
            tile.discount.fill(own.discount[0]);
        }
        tile
    }

    /// Takes up the arms of one tile, the first of which is arm `first`.
    #[inline(always)]
    fn load(&mut self, p: &[f64], packing: Packing, own: Own<'_>, first: usize) {
        let arms = p.len() / packing.width();
        match packing {
            Packing::Compact => self.p[..4 * arms].copy_from_slice(p),
            Packing::Full => pack(p, &mut self.p[..4 * arms]),
        }
        if own.reward_step != 0 {
            self.reward[..4 * arms].copy_from_slice(&own.reward[4 * first..][..4 * arms]);
        }
        if own.discount_step != 0 {
            self.discount[..arms].copy_from_slice(&own.discount[first..][..arms]);
        }
    }
}

#[inline(always)]
fn index_loop(p: &[f64], packing: Packing, own: Own<'_>, index: &mut [f64]) {
    let mut tile = Tile::new(own);
    let tiles = p.chunks(packing.width() * TILE).zip(index.chunks_mut(2 * TILE));
    for (k, (p, index)) in tiles.enumerate() {
        tile.load(p, packing, own, k * TILE);
        let arms = tile.p.chunks_exact(4).zip(tile.reward.chunks_exact(4)).zip(&tile.discount);
        for (((p, r), g), w) in arms.zip(index.chunks_exact_mut(2)) {
            w.copy_from_slice(&index_of([p[0], p[1], p[2], p[3]], Shared::of([r[0], r[1], r[2], r[3]], *g)));
        }
    }
}

/// Where the cotangents of consecutive arms go: the caller's memory.
#[derive(Debug)]
pub struct Cotangents<'a> {
    /// in the packing of the transitions
    pub d_transition: &'a mut [f64],
    /// `[N,2,2]`
    pub d_reward: &'a mut [f64],
    /// `[N]`
    pub d_discount: &'a mut [f64],
}

#[inline(always)]
fn pullback_loop(p: &[f64], packing: Packing, own: Own<'_>, d_index: &[f64], out: Cotangents<'_>) {
    let (mut tile, mut d_p) = (Tile::new(own), [0.0; 4 * TILE]);
    let Cotangents { d_transition, d_reward, d_discount } = out;
    let width = packing.width();
    let tiles =
        p.chunks(width * TILE).zip(d_index.chunks(2 * TILE)).zip(d_transition.chunks_mut(width * TILE));
    let own_out = d_reward.chunks_mut(4 * TILE).zip(d_discount.chunks_mut(TILE));
    for (k, (((p, c), d_transition), (d_reward, d_discount))) in tiles.zip(own_out).enumerate() {
        tile.load(p, packing, own, k * TILE);
        let arms = tile.p.chunks_exact(4).zip(tile.reward.chunks_exact(4)).zip(&tile.discount);
        let d_arms = d_p.chunks_exact_mut(4).zip(d_reward.chunks_exact_mut(4)).zip(d_discount);
        for ((((p, r), g), c), ((d, d_reward), d_discount)) in arms.zip(c.chunks_exact(2)).zip(d_arms) {
            let shared = Shared::of([r[0], r[1], r[2], r[3]], *g);
            let (_, d_arm, [lower, upper, by_discount, c0, c1]) =
                pull_back([p[0], p[1], p[2], p[3]], [c[0], c[1]], shared);
            d.copy_from_slice(&d_arm);
            d_reward.copy_from_slice(&[-c0 - upper, c0 - lower, upper - c1, c1 + lower]);
            *d_discount = by_discount;
        }
        match packing {
            Packing::Compact => d_transition.copy_from_slice(&d_p[..p.len()]),
            Packing::Full => {
                for (d, row) in d_p.iter().zip(d_transition.chunks_exact_mut(2)) {
                    row.copy_from_slice(&[-0.5 * d, 0.5 * d]);
                }
            }
        }
    }
}

for_cpu!(pub(super) fn index_own_arms(p: &[f64], packing: Packing, own: Own<'_>, index: &mut [f64]) = index_loop);
for_cpu!(pub(super) fn pull_back_own_arms(p: &[f64], packing: Packing, own: Own<'_>, c: &[f64], out: Cotangents<'_>) = pullback_loop);
