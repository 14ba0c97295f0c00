//! The kernels over the sizes that matter: `cargo bench -p restive`. Timings decide nothing; `bench/` compares with peers.

use divan::Bencher;
use ndarray::{Array2, Array4};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use restive::index::two_state::{Packing, index_into, pullback_into};
use restive::index::{bisection, general};
use restive::policy::soft_top_k::{soft_top_k, soft_top_k_many};
use restive::{Layout, Reward, Transition};

fn main() {
    divan::main();
}

fn random() -> Xoshiro256PlusPlus {
    Xoshiro256PlusPlus::seed_from_u64(1)
}

fn arms(n: usize, m: usize) -> Transition {
    let mut random = random();
    let mut p = Array4::from_shape_simple_fn((n, m, 2, m), || -f64::ln(1.0 - random.random::<f64>()));
    p.rows_mut().into_iter().for_each(|mut row| row /= row.sum());
    Transition::new(p, Layout::Nsas).expect("rows sum to 1")
}

/// Index and pullback of N two-state arms, into reused buffers.
#[divan::bench(consts = [100, 1_000, 10_000, 100_000, 1_000_000, 10_000_000], args = [Packing::Compact, Packing::Full])]
fn two_state<const N: usize>(bencher: Bencher, packing: Packing) {
    let (mut random, reward) = (random(), Reward::linear(2));
    let p: Vec<f64> =
        (0..packing.width() * N / 4).flat_map(|_| [0.3, 0.7].map(|_| random.random())).collect();
    let p: Vec<f64> = p.iter().cycle().take(packing.width() * N).copied().collect();
    let (c, mut index, mut d_p) = (vec![1.0; 2 * N], vec![0.0; 2 * N], vec![0.0; packing.width() * N]);
    bencher.counter(divan::counter::ItemsCount::new(N)).bench_local(|| {
        index_into(&p, packing, reward.view(), 0.99, &mut index);
        pullback_into(&p, packing, reward.view(), 0.99, &c, &mut d_p)
    });
}

/// All indices of one arm, forward only.
#[divan::bench(args = [2, 3, 5, 10, 20, 50, 100, 200, 500, 1000], sample_count = 10)]
fn general_forward(bencher: Bencher, m: usize) {
    let (p, reward) = (arms(1, m), Reward::linear(m));
    bencher.bench(|| general::index(p.view(), reward.view(), 0.99));
}

/// All indices of one arm and their pullback.
#[divan::bench(args = [2, 3, 5, 10, 20, 50, 100, 200, 500, 1000], sample_count = 10)]
fn general_with_pullback(bencher: Bencher, m: usize) {
    let (p, reward, c) = (arms(1, m), Reward::linear(m), Array2::ones((1, m)));
    bencher.bench(|| general::differentiable_index(p.view(), reward.view(), 0.99).pullback(c.view()));
}

/// The paper's road, one arm.
#[divan::bench(args = [2, 5, 10, 20], sample_count = 5)]
fn bisection_with_pullback(bencher: Bencher, m: usize) {
    let (p, reward, c) = (arms(1, m), Reward::linear(m), Array2::ones((1, m)));
    bencher.bench(|| {
        bisection::differentiable_index(p.view(), reward.view(), 0.9, Default::default()).pullback(c.view())
    });
}

/// Soft top-k of N scores and its pullback.
#[divan::bench(args = [100, 1_000, 10_000, 100_000, 1_000_000])]
fn soft(bencher: Bencher, n: usize) {
    let mut random = random();
    let score: Vec<f64> = (0..n).map(|_| random.random()).collect();
    let c: Vec<f64> = (0..n).map(|_| random.random()).collect();
    bencher
        .counter(divan::counter::ItemsCount::new(n))
        .bench(|| soft_top_k(&score, 0.2 * n as f64, 0.03).pullback(&c));
}

/// The 900 selections of the published protocol: 100 trajectories of 9 steps over 100 arms, and their pullback.
#[divan::bench]
fn soft_many(bencher: Bencher) {
    let mut random = random();
    let table = Array2::from_shape_simple_fn((100, 2), || random.random::<f64>());
    let state = Array2::from_shape_simple_fn((900, 100), || random.random_range(0..2u16));
    let c = Array2::from_shape_simple_fn((900, 100), || random.random::<f64>());
    bencher.bench(|| soft_top_k_many(table.view(), state.view(), 20.0, 0.03).pullback(c.view()));
}
