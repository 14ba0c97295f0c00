//! Times the kernels and prints one JSON object per line: our side of the comparison in `bench/`.
//!
//! `cargo run --release -p restive --example timings [-- --quick]`; set RAYON_NUM_THREADS=1 for one thread. `seconds` is
//! the best call, `median` the median one; a call handles `n` arms. The two-state kernel writes into reused buffers.

use ndarray::{Array2, Array4};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use restive::index::two_state::{self, Packing};
use restive::index::{bisection, general};
use restive::policy::soft_top_k::soft_top_k;
use restive::{Layout, Reward, Transition};
use serde_json::json;
use std::hint::black_box;
use std::time::Instant;

/// Best and median seconds per call: at least five calls, about half a second in all.
fn time(mut call: impl FnMut()) -> (f64, f64) {
    call();
    let begin = Instant::now();
    let mut seconds = Vec::new();
    while seconds.len() < 5 || begin.elapsed().as_secs_f64() < 0.5 {
        let start = Instant::now();
        call();
        seconds.push(start.elapsed().as_secs_f64());
    }
    seconds.sort_by(f64::total_cmp);
    (seconds[0], seconds[seconds.len() / 2])
}

fn print(kernel: &str, n: usize, m: usize, discount: f64, (seconds, median): (f64, f64)) {
    println!(
        "{}",
        json!({"kernel": kernel, "n": n, "m": m, "discount": discount, "seconds": seconds, "median": median})
    );
}

/// N arms with rows uniform on the simplex.
fn arms(n: usize, m: usize, random: &mut Xoshiro256PlusPlus) -> Transition {
    let mut p = Array4::from_shape_simple_fn((n, m, 2, m), || -f64::ln(1.0 - random.random::<f64>()));
    p.rows_mut().into_iter().for_each(|mut row| row /= row.sum());
    Transition::new(p, Layout::Nsas).expect("rows sum to 1")
}

fn main() {
    let is_quick = std::env::args().any(|a| a == "--quick");
    let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
    let n = if is_quick { 100_000 } else { 1_000_000 };

    let from: Vec<f64> = (0..8 * n).map(|_| random.random()).collect();
    let mut to = vec![0.0; 8 * n];
    let copied = time(|| black_box(&mut to[..]).copy_from_slice(black_box(&from)));
    let rate = 2.0 * 64.0 * n as f64 / copied.0 / 1e9; // read and written
    println!(
        "{}",
        json!({"kernel": "copy", "n": n, "m": 2, "discount": 0.0, "seconds": copied.0, "median": copied.1, "gb_per_s": rate})
    );

    two_states(n, &mut random);
    general_arms(is_quick, &mut random);
    selection(n, &mut random);
}

fn two_states(n: usize, random: &mut Xoshiro256PlusPlus) {
    let (reward, g) = (Reward::linear(2), 0.99);
    let d_index: Vec<f64> = (0..2 * n).map(|_| random.random::<f64>() - 0.5).collect();
    let mut index = vec![0.0; 2 * n];
    for (name, packing) in [("two-state-compact", Packing::Compact), ("two-state-full", Packing::Full)] {
        let compact: Vec<f64> = (0..4 * n).map(|_| random.random()).collect();
        let p: Vec<f64> = match packing {
            Packing::Compact => compact,
            Packing::Full => compact.iter().flat_map(|p| [1.0 - p, *p]).collect(),
        };
        let mut d_p = vec![0.0; p.len()];
        let timing = time(|| {
            two_state::index_into(black_box(&p), packing, reward.view(), g, &mut index);
            black_box(two_state::pullback_into(&p, packing, reward.view(), g, &d_index, &mut d_p));
        });
        print(name, n, 2, g, timing);
    }
}

fn general_arms(is_quick: bool, random: &mut Xoshiro256PlusPlus) {
    let sizes: &[(usize, usize)] = if is_quick {
        &[(5, 1000), (20, 50), (100, 4)]
    } else {
        &[(5, 1000), (20, 200), (100, 10), (1000, 1)]
    };
    for &(m, n) in sizes {
        let p = arms(n, m, random);
        let reward = Reward::linear(m);
        let c = Array2::from_shape_simple_fn((n, m), || random.random::<f64>() - 0.5);
        for g in if m == 5 { vec![0.9, 0.99] } else { vec![0.99] } {
            print(
                "general-forward",
                n,
                m,
                g,
                time(|| drop(black_box(general::index(p.view(), reward.view(), g)))),
            );
            let both = || {
                drop(black_box(general::differentiable_index(p.view(), reward.view(), g).pullback(c.view())))
            };
            print("general", n, m, g, time(both));
        }
        if m == 5 {
            let textbook =
                |g| bisection::differentiable_index(p.view(), reward.view(), g, Default::default());
            print("bisection", n, m, 0.9, time(|| drop(black_box(textbook(0.9).pullback(c.view())))));
        }
    }
}

fn selection(n: usize, random: &mut Xoshiro256PlusPlus) {
    // scores with standard deviation 1, K = N/5, temperature 0.1
    let score: Vec<f64> =
        (0..n).map(|_| (0..12).map(|_| random.random::<f64>()).sum::<f64>() - 6.0).collect();
    let d_pull: Vec<f64> = (0..n).map(|_| random.random::<f64>() - 0.5).collect();
    let budget = 0.2 * n as f64;
    print("soft-top-k-forward", n, 1, 0.0, time(|| drop(black_box(soft_top_k(&score, budget, 0.1)))));
    print(
        "soft-top-k",
        n,
        1,
        0.0,
        time(|| drop(black_box(soft_top_k(&score, budget, 0.1).pullback(&d_pull)))),
    );
}
