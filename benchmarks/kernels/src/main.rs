//! Time of one kernel of the library as JSON: `kernels NAME ARMS [SECONDS]`.
//!
//! The kernel is called once without measurement, then at least five times and for SECONDS (default 0.3). Printed are the median and the
//! smallest time of a call in seconds, the number of calls, and one number of the result, which two builds must agree on. Inputs depend only
//! on NAME and ARMS. One thread: set RAYON_NUM_THREADS=1.

mod calls;

use calls::Call;
use std::time::Instant;

/// Uniform numbers in [0, 1) (splitmix64).
struct Random(u64);

impl Random {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64
    }

    fn vector(&mut self, n: usize) -> Vec<f64> {
        (0..n).map(|_| self.next()).collect()
    }

    /// Rows of `states` numbers that are uniform on the simplex.
    fn rows(&mut self, rows: usize, states: usize) -> Vec<f64> {
        let mut p: Vec<f64> = (0..rows * states).map(|_| -f64::ln(1.0 - self.next())).collect();
        for row in p.chunks_mut(states) {
            let sum: f64 = row.iter().sum();
            row.iter_mut().for_each(|x| *x /= sum);
        }
        p
    }
}

fn prepare(name: &str, arms: usize) -> Option<Call> {
    let mut random = Random(1);
    Some(match name {
        "two-state-compact" => {
            let p = random.vector(4 * arms);
            calls::two_state(p, false, random.vector(2 * arms))
        }
        "two-state-full" => {
            let p = random.vector(4 * arms).iter().flat_map(|p| [1.0 - p, *p]).collect();
            calls::two_state(p, true, random.vector(2 * arms))
        }
        "index-5" | "index-20" | "index-100" => {
            let states = name.trim_start_matches("index-").parse().ok()?;
            let p = random.rows(arms * states * 2, states);
            calls::general(p, states, random.vector(arms * states))
        }
        "soft-top-k" => {
            let score = (0..arms).map(|_| random.vector(12).iter().sum::<f64>() - 6.0).collect();
            calls::selection(score, random.vector(arms), 0.2 * arms as f64, 0.1)
        }
        "step-published" => calls::decision_focused_step(arms, 100, true),
        "step-fluid" => calls::decision_focused_step(arms, 10, false),
        _ => return None,
    })
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (Some(name), Some(Ok(arms))) = (arguments.first(), arguments.get(1).map(|n| n.parse::<usize>()))
    else {
        eprintln!("usage: kernels NAME ARMS [SECONDS]");
        std::process::exit(2);
    };
    let seconds: f64 = arguments.get(2).and_then(|text| text.parse().ok()).unwrap_or(0.3);
    let Some(mut call) = prepare(name, arms) else {
        eprintln!("kernels: found {name}, expected the name of a kernel");
        std::process::exit(2);
    };
    let check = call();
    let (begin, mut laps) = (Instant::now(), Vec::new());
    while laps.len() < 5 || begin.elapsed().as_secs_f64() < seconds {
        let start = Instant::now();
        call();
        laps.push(start.elapsed().as_secs_f64());
    }
    laps.sort_by(f64::total_cmp);
    let (median, best, count) = (laps[laps.len() / 2], laps[0], laps.len());
    println!(r#"{{"seconds": {median:e}, "best": {best:e}, "calls": {count}, "check": {check:e}}}"#);
}
