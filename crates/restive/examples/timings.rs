//! Times the kernels and prints one JSON object per line: our side of the comparison in `bench/`.
//!
//! `cargo run --release -p restive --example timings [-- --quick]`; set RAYON_NUM_THREADS=1 for one thread. `seconds` is
//! the best call, `median` the median one; a call handles `n` arms. The two-state kernel writes into reused buffers.
//!
//! `-- --scale` times evaluation instead, from 10⁴ to 10⁶ arms (9 GB at most): nanoseconds per (trajectory or run, step, arm),
//! the bytes per arm that a call needs beside its inputs at its peak, and those resident then.

use ndarray::{Array1, Array2, Array3, Array4};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use restive::evaluation::{
    Behaviour, Decisions, Propensity, RatioUpTo, cwpdis, known_states, target_log_odds,
};
use restive::history::{Carry, Past, Rule, fit_carry, fit_gauss_with};
use restive::index::two_state::{self, Packing};
use restive::index::{Algorithm, bisection, differentiable_index, general};
use restive::instance::Observation;
use restive::policy::Policy;
use restive::policy::soft_top_k::soft_top_k;
use restive::simulation::{Initial, Setting, trajectories, values};
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
    if std::env::args().any(|a| a == "--scale") {
        [10_000, 100_000, 1_000_000].iter().for_each(|&n| [2, 10].iter().for_each(|&j| scale(n, j)));
        return;
    }
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
    own_rewards(&mut random);
    general_arms(is_quick, &mut random);
    selection(n, &mut random);
    records(n / 10, &mut random);
}

/// Personal posteriors of two-state arms that moved eight times and were called in one step of ten; `seconds` are for all arms.
fn records(n: usize, random: &mut Xoshiro256PlusPlus) {
    let (prediction, reward) = (arms(n, 2, random), Reward::linear(2));
    let setting = Setting {
        motion: prediction.view().into(),
        reward: (&reward).into(),
        discount: 0.99,
        budget: n / 10,
        horizon: 8,
    };
    let log = trajectories(&setting, &Initial::Uniform, &Policy::Random, 1, 1);
    let past = Past::new(&log, Observation::Full);
    let carry = Rule::Carry(Carry { strength: [16.0; 2], rho: 0.75 });
    let counts = past.record.moves().expect("seen at every step").view();
    let fit = || fit_gauss_with(counts, &past.first, prediction.view(), true, 1);
    let gauss = Rule::Gauss(fit().gauss);
    for (name, rule) in [("history-carry", carry), ("history-gauss", gauss)] {
        let apply = || drop(black_box(rule.apply(&past, prediction.view())));
        print(name, n, 2, 0.0, time(apply));
    }
    print("history-gauss-round", n, 2, 0.0, time(|| _ = black_box(fit())));
    print("history-carry-fit", n, 2, 0.0, time(|| _ = black_box(fit_carry(counts, prediction.view(), None))));
}

/// Index and pullback of 5,000 arms with rewards and discounts of their own beside the same arms with one of each: `ratio` says how
/// many times as long the first take, calls taking turns.
fn own_rewards(random: &mut Xoshiro256PlusPlus) {
    let n = 5_000;
    for m in [2, 5] {
        let (p, algorithm) = (arms(n, m, random), Algorithm::Auto.resolve(m));
        let rewards = Array3::from_shape_simple_fn((n, m, 2), || random.random::<f64>());
        let discounts = Array1::from_shape_simple_fn(n, || 0.9 + 0.09 * random.random::<f64>());
        let d_index = Array2::from_shape_simple_fn((n, m), || random.random::<f64>() - 0.5);
        let reward = Reward::linear(m);
        let shared = || {
            let solved = differentiable_index(p.view(), reward.view(), 0.95, algorithm);
            drop(black_box(solved.pullback_per_arm(d_index.view())));
        };
        let own = || {
            let solved = differentiable_index(p.view(), &rewards, &discounts, algorithm);
            drop(black_box(solved.pullback_per_arm(d_index.view())));
        };
        let (mut ratios, mut best) = (Vec::new(), [f64::INFINITY; 2]);
        for _ in 0..21 {
            let seconds = [&shared as &dyn Fn(), &own].map(|call| {
                let start = Instant::now();
                call();
                start.elapsed().as_secs_f64()
            });
            best = [best[0].min(seconds[0]), best[1].min(seconds[1])];
            ratios.push(seconds[1] / seconds[0]);
        }
        ratios.sort_by(f64::total_cmp);
        println!(
            "{}",
            json!({"kernel": "own-rewards", "n": n, "m": m, "shared": best[0], "own": best[1], "ratio": ratios[10]})
        );
    }
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
        let timing = time(|| {
            let (p, index, d_p) = (black_box(&p), &mut index, &mut d_p);
            black_box(two_state::index_and_pullback_into(p, packing, reward.view(), g, &d_index, index, d_p));
        });
        print(&format!("{name}-fused"), n, 2, g, timing);
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

/// A number of /proc/self/status in bytes: VmRSS is resident now, VmHWM at most since the last [`forget_peak`].
fn memory(key: &str) -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("Linux");
    let line = status.lines().find_map(|line| line.strip_prefix(key)).expect("a line of that name");
    let kibibytes = line.trim_matches(|c: char| !c.is_ascii_digit());
    1024.0 * kibibytes.parse::<f64>().expect("a number")
}

fn forget_peak() {
    std::fs::write("/proc/self/clear_refs", "5").expect("Linux");
}

/// Importance sampling and simulation of N two-state arms, 9 decisions, J trajectories or runs.
fn scale(n: usize, j: usize) {
    let (horizon, budget) = (9, n / 5);
    let p = arms(n, 2, &mut Xoshiro256PlusPlus::seed_from_u64(1));
    let reward = Reward::linear(2);
    let table = two_state::index(p.view(), reward.view(), 0.9).index;
    let [strict, soft] = [Policy::Strict(table.clone()), Policy::Soft(table, 0.1)];
    let setting =
        Setting { motion: p.view().into(), reward: (&reward).into(), discount: 0.99, budget, horizon };
    let measure = |kernel: &str, call: &mut dyn FnMut()| {
        let before = memory("VmRSS:");
        forget_peak();
        call();
        let peak = memory("VmHWM:");
        let seconds = (0..3).map(|_| {
            let start = Instant::now();
            call();
            start.elapsed().as_secs_f64()
        });
        let ns = 1e9 * seconds.fold(f64::INFINITY, f64::min) / (n * j * horizon) as f64;
        let (own, all) = ((peak - before) / n as f64, peak / n as f64);
        println!("{n:8} {j:3}  {kernel:<24} {ns:8.2} {own:14.0} {all:14.0}");
    };
    if (n, j) == (10_000, 2) {
        println!(
            "{:>8} {:>3}  {:<24} {:>8} {:>14} {:>14}",
            "N", "J", "call", "ns", "own bytes/arm", "bytes/arm"
        );
    }
    for (name, policy) in [("simulate, strict", &strict), ("simulate, soft", &soft)] {
        measure(name, &mut || drop(black_box(values(&setting, &Initial::Uniform, policy, j, 1))));
    }
    let log = trajectories(&setting, &Initial::Uniform, &Policy::Random, j, 1);
    let propensity = Propensity::new(&log, Behaviour::Logged, budget).expect("simulated");
    measure("decisions", &mut || drop(black_box(Decisions::new(&log, &reward, &propensity))));
    let decisions = Decisions::new(&log, &reward, &propensity);
    let states = known_states(&log, Observation::Full);
    drop((log, propensity));
    measure("target log-odds, soft", &mut || drop(black_box(target_log_odds(states.view(), &soft, budget))));
    let target = target_log_odds(states.view(), &soft, budget);
    let forward = || cwpdis(&decisions, target.view(), 0.99, RatioUpTo::ThisStep);
    measure("cwpdis", &mut || drop(black_box(forward())));
    measure("cwpdis and pullback", &mut || drop(black_box(forward().pullback(1.0))));
    let solved = forward();
    measure("cwpdis, one resample", &mut || {
        black_box(solved.resampled(&vec![1.0; j]));
    });
}
