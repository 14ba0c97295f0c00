//! What indices of arms seen only at pulls cost, with their pullback, against the length of the chain: the two structured
//! kernels, the general kernel on the explicit process over beliefs, and bisection on it. Two observed states, one thread.
//!
//! `cargo run --release -p restive-lab --example collapsing_cost [-- FILE.svg]` prints a table, and draws the figure where one is
//! named. Best of several calls, each on as many arms as make it last some milliseconds.

use ndarray::{Array2, Array4, Axis, s};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use restive::Reward;
use restive::belief::{Chain, beliefs};
use restive::index::collapsing::differentiable_index;
use restive::index::{bisection, general};
use restive_report::curves::{Line, Panel};
use restive_report::{Axis as Scaled, Chart, Curves, Ink, Interval};
use std::hint::black_box;
use std::time::Instant;

const DISCOUNT: f64 = 0.99;
const LENGTHS: [usize; 9] = [2, 5, 10, 20, 50, 100, 200, 500, 1000];
/// Beyond these the explicit process takes too long.
const GENERAL_UP_TO: usize = 500;
const BISECTION_UP_TO: usize = 20;

/// Persistent arms on which a pull never harms, `[N,2,2,2]`.
fn arms(n: usize) -> Array4<f64> {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
    let mut p = Array4::zeros((n, 2, 2, 2));
    for mut arm in p.outer_iter_mut() {
        let mut up: [f64; 4] = std::array::from_fn(|_| random.random());
        up.sort_by(f64::total_cmp);
        for (k, up) in up.into_iter().enumerate() {
            // 0 passive, then either, then 1 active
            let (s, a) = [(0, 0), (0, 1), (1, 0), (1, 1)][k];
            arm[[s, a, 1]] = up;
            arm[[s, a, 0]] = 1.0 - up;
        }
    }
    p
}

/// Rows uniform on the simplex, `[N,M,2,M]`.
fn dense(n: usize, m: usize) -> Array4<f64> {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(2);
    let mut p = Array4::from_shape_simple_fn((n, m, 2, m), || -f64::ln(1.0 - random.random::<f64>()));
    p.rows_mut().into_iter().for_each(|mut row| row /= row.sum());
    p
}

/// Microseconds per arm: the best of at least five calls in about half a second.
fn time(arms: usize, mut call: impl FnMut()) -> f64 {
    call();
    let (begin, mut best, mut calls) = (Instant::now(), f64::INFINITY, 0);
    while calls < 5 || begin.elapsed().as_secs_f64() < 0.5 {
        let start = Instant::now();
        call();
        best = best.min(start.elapsed().as_secs_f64());
        calls += 1;
        if begin.elapsed().as_secs_f64() > 20.0 {
            break;
        }
    }
    1e6 * best / arms as f64
}

/// Index and pullback of the explicit processes of some arms.
fn explicit(p: &Array4<f64>, n: usize, t: usize, is_bisection: bool) -> f64 {
    let m = p.shape()[1];
    let reward = Reward::linear(m);
    // the reward of a process depends on its arm, so that arms go one by one
    let processes: Vec<(Array4<f64>, Array2<f64>)> = (0..n)
        .map(|i| {
            let belief = beliefs(p.slice(s![i..i + 1, .., .., ..]), t).belief;
            (belief.explicit(0), belief.reward(reward.view()).index_axis_move(Axis(0), 0))
        })
        .collect();
    let c = Array2::ones((1, m * t));
    time(n, || {
        for (p, r) in &processes {
            if is_bisection {
                let solved =
                    bisection::differentiable_index(p.view(), r.view(), DISCOUNT, Default::default());
                black_box(solved.pullback(c.view()));
            } else {
                black_box(general::differentiable_index(p.view(), r.view(), DISCOUNT).pullback(c.view()));
            }
        }
    })
}

fn structured(p: &Array4<f64>, n: usize, chain: Chain) -> f64 {
    let m = p.shape()[1];
    let (reward, c) = (Reward::linear(m), Array2::ones((n, m * chain.beliefs())));
    let p = p.slice(s![..n, .., .., ..]);
    time(n, || {
        black_box(differentiable_index(p, reward.view(), DISCOUNT, chain).pullback(c.view()));
    })
}

fn cell(x: Option<f64>) -> String {
    x.map_or("–".into(), |x| if x < 100.0 { format!("{x:.2}") } else { format!("{x:.0}") })
}

fn main() -> std::io::Result<()> {
    let one = rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("a thread");
    let p = arms(1000);
    println!("µs per arm, index and pullback, two observed states, discount {DISCOUNT}, one thread");
    println!(
        "{:>5} {:>10} {:>10} {:>12} {:>12} {:>15} {:>16} {:>17}",
        "T",
        "infinite",
        "finite",
        "general",
        "bisection",
        "general/finite",
        "bisection/finite",
        "general/infinite"
    );
    let mut measured: [Vec<(f64, f64)>; 4] = Default::default();
    for t in LENGTHS {
        let n = (200_000 / (t * t)).clamp(2, 1000);
        let few = (20_000 / (t * t * t)).clamp(1, 50);
        let row = one.install(|| {
            [
                Some(structured(&p, 1000, Chain::Infinite { beliefs: t })),
                Some(structured(&p, n, Chain::Finite(t))),
                (t <= GENERAL_UP_TO).then(|| explicit(&p, few, t, false)),
                (t <= BISECTION_UP_TO).then(|| explicit(&p, 1, t, true)),
            ]
        });
        let over = |a: Option<f64>, b: Option<f64>| Some(a? / b?);
        println!(
            "{t:>5} {:>10} {:>10} {:>12} {:>12} {:>15} {:>16} {:>17}",
            cell(row[0]),
            cell(row[1]),
            cell(row[2]),
            cell(row[3]),
            cell(over(row[2], row[1])),
            cell(over(row[3], row[1])),
            cell(over(row[2], row[0]))
        );
        for (line, x) in measured.iter_mut().zip(row) {
            line.extend(x.map(|x| (t as f64, x)));
        }
    }
    println!(
        "\nmore observed states, finite chains\n{:>5} {:>5} {:>10} {:>12} {:>15}",
        "M", "T", "finite", "general", "general/finite"
    );
    for (m, t) in [(3, 10), (3, 50), (5, 10), (5, 30), (10, 10)] {
        let p = dense(20, m);
        let (finite, general) =
            one.install(|| (structured(&p, 20, Chain::Finite(t)), explicit(&p, 2, t, false)));
        println!("{m:>5} {t:>5} {finite:>10.1} {general:>12.0} {:>15.1}", general / finite);
    }
    let Some(file) = std::env::args().nth(1) else { return Ok(()) };
    let names = ["infinite chain", "finite chain", "general kernel", "bisection"];
    let inks = [Ink::Blue, Ink::Orange, Ink::Green, Ink::Grey];
    let lines = measured.into_iter().zip(names.into_iter().zip(inks)).map(|(points, (name, ink))| Line {
        name: name.into(),
        ink,
        points: points.into_iter().map(|(t, x)| (t, Interval::bare(x))).collect(),
        continued: vec![],
    });
    let chart = Chart::Curves(Curves {
        title: "Indices of arms seen only at pulls: cost of index and gradient".into(),
        panels: vec![Panel {
            title: String::new(),
            x: Scaled::log("beliefs per chain, T"),
            y: Scaled::log("µs per arm, one thread"),
            lines: lines.collect(),
        }],
    });
    std::fs::write(file, chart.svg())
}
