//! Arms seen only at pulls: the structured kernels against the general one on the explicit process over beliefs, long finite
//! chains against infinite ones, and what must hold for all of them.

use crate::arms::{Kind, Random, random, reward, transitions};
use ndarray::{Array4, ArrayView2, ArrayView3, Axis, s};
use rand::RngExt;
use restive::Reward;
use restive::belief::{Chain, beliefs};
use restive::index::collapsing::index;
use restive::index::{IndexStatus, Indices, general};

/// How many times the least number of arms; 100 was tried.
const TIMES: usize = 4;

/// Two-state arms as programmes and adversaries have them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Sort {
    Arbitrary,
    /// the state persists under both actions
    Positive,
    /// the state alternates under both actions
    Negative,
    /// persistent, and a pull never harms
    Natural,
    /// Dirichlet(0.1) rows
    NearDeterministic,
    /// multiples of 1/4: ties everywhere, absorbing and inert arms among them
    Quarters,
}

pub const SORTS: [Sort; 6] =
    [Sort::Arbitrary, Sort::Positive, Sort::Negative, Sort::Natural, Sort::NearDeterministic, Sort::Quarters];

/// `[N,2,2,2]`
pub fn arms(sort: Sort, n: usize, random: &mut Random) -> Array4<f64> {
    if sort == Sort::NearDeterministic {
        return transitions(Kind::Sparse, n, 2, random);
    }
    let mut p = Array4::zeros((n, 2, 2, 2));
    for i in 0..n {
        // the probability of state 1 after: 0 passive, 0 active, 1 passive, 1 active
        let mut up = [0.0; 4].map(|_: f64| match sort {
            Sort::Quarters => f64::from(random.random_range(0..5u8)) / 4.0,
            _ => random.random::<f64>(),
        });
        let mut order = |a: usize, b: usize| (up[a], up[b]) = (up[a].min(up[b]), up[a].max(up[b]));
        match sort {
            Sort::Positive => [(0, 2), (1, 3)].into_iter().for_each(|(a, b)| order(a, b)),
            Sort::Negative => [(2, 0), (3, 1)].into_iter().for_each(|(a, b)| order(a, b)),
            Sort::Natural => {
                [(0, 1), (2, 3), (0, 2), (1, 3)].into_iter().for_each(|(a, b)| order(a, b));
            }
            _ => {}
        }
        for s in 0..2 {
            for a in 0..2 {
                p[[i, s, a, 1]] = up[2 * s + a];
                p[[i, s, a, 0]] = 1.0 - up[2 * s + a];
            }
        }
    }
    p
}

/// The general kernel on the explicit process over beliefs.
fn explicit(arm: ArrayView3<f64>, reward: ArrayView2<f64>, g: f64, t: usize) -> Indices {
    let belief = beliefs(arm.insert_axis(Axis(0)), t).belief;
    let (transition, reward) = (crate::labels::dense(&belief), belief.reward(reward));
    general::index(transition.view(), reward.index_axis(Axis(0), 0), g)
}

/// The largest difference between the crossings of arm i and those of an arm alone, relative to its largest index or reward.
fn difference(found: &Indices, i: usize, truth: &Indices, span: f64) -> f64 {
    let size = truth.index.iter().chain(&truth.last).fold(span, |a, w| a.max(w.abs()));
    let pairs = found
        .index
        .row(i)
        .into_iter()
        .zip(truth.index.row(0))
        .chain(found.last.row(i).into_iter().zip(truth.last.row(0)));
    let worst = pairs.fold(0.0f64, |a, (x, y)| if x == y { a } else { a.max((x - y).abs()) });
    if worst == 0.0 { 0.0 } else { worst / size }
}

fn span(reward: ArrayView2<f64>) -> f64 {
    let (low, high) = reward.iter().fold((f64::MAX, f64::MIN), |(l, h), &r| (l.min(r), h.max(r)));
    high - low
}

/// Compares a batch with the explicit process; returns the worst difference and the arms that are not indexable.
fn compare(p: &Array4<f64>, r: ArrayView2<f64>, g: f64, t: usize, what: &str) -> (f64, usize) {
    let found = index(p.view(), r, g, Chain::Finite(t));
    let (mut worst, mut not_indexable) = (0.0f64, 0);
    for i in 0..p.len_of(Axis(0)) {
        let arm = p.index_axis(Axis(0), i);
        let truth = explicit(arm, r, g, t);
        let error = difference(&found, i, &truth, span(r));
        let context = || {
            format!(
                "{what} T={t} γ={g} arm {i}: {error:e}, {:?} and {:?}, residuals {:e} and {:e}\n{arm:?}\n{r:?}",
                found.status[i], truth.status[0], found.residual[i], truth.residual[0]
            )
        };
        assert!(error <= 1e-9, "{}", context());
        assert_eq!(found.verdict(i), truth.verdict(0), "{}", context());
        assert_eq!(found.status[i], IndexStatus::Exact, "{}", context());
        worst = worst.max(error);
        not_indexable += usize::from(!truth.is_indexable[0]);
    }
    (worst, not_indexable)
}

#[test]
fn finite_chains_equal_the_general_kernel_on_the_explicit_process() {
    let mut random = random(60);
    let r = Reward::linear(2);
    let (mut seen, mut not_indexable, mut worst) = (0, 0, 0.0f64);
    for (t, n) in [(1, 60), (2, 100), (3, 100), (5, 60), (10, 60), (20, 15), (50, 3), (100, 1), (200, 1)] {
        for sort in SORTS {
            for g in [0.5, 0.9, 0.99] {
                let n = n * TIMES;
                let p = arms(sort, n, &mut random);
                let (error, not) = compare(&p, r.view(), g, t, &format!("{sort:?}"));
                (seen, not_indexable, worst) = (seen + n, not_indexable + not, worst.max(error));
            }
        }
    }
    println!("{seen} arms, {not_indexable} not indexable, worst difference {worst:e}");
    assert!(not_indexable > 50, "the test must see arms that are not indexable: {not_indexable}");
}

#[test]
fn other_rewards_and_more_observed_states_equal_the_general_kernel() {
    let mut random = random(61);
    let (mut seen, mut not_indexable, mut worst) = (0, 0, 0.0f64);
    for (m, t, n) in [
        (1, 3, 5),
        (2, 4, 40),
        (2, 10, 15),
        (3, 2, 40),
        (3, 6, 25),
        (3, 20, 4),
        (5, 3, 20),
        (5, 10, 5),
        (5, 30, 1),
        (9, 4, 5),
    ] {
        for kind in [Kind::Dense, Kind::Sparse, Kind::Deterministic, Kind::NearEqual] {
            for g in [0.5, 0.9, 0.99] {
                for depends_on_action in [false, true] {
                    let n = n * TIMES;
                    let p = transitions(kind, n, m, &mut random);
                    let r = reward(m, depends_on_action, &mut random);
                    let (error, not) = compare(&p, r.view(), g, t, &format!("{kind:?} M={m}"));
                    (seen, not_indexable, worst) = (seen + n, not_indexable + not, worst.max(error));
                }
            }
        }
    }
    println!("{seen} arms, {not_indexable} not indexable, worst difference {worst:e}");
    assert!(not_indexable > 20, "{not_indexable}");
}

/// |P₀(1→1) − P₀(0→1)|: how slowly beliefs settle.
fn memory(arm: ArrayView3<f64>) -> f64 {
    (arm[[1, 0, 1]] - arm[[0, 0, 1]]).abs()
}

#[test]
fn infinite_chains_equal_long_finite_ones() {
    let mut random = random(62);
    let (mut seen, mut worst) = (0, 0.0f64);
    let n = 25; // beliefs
    for sort in SORTS {
        for g in [0.5, 0.9, 0.99] {
            for r in [[0.0, 1.0], [0.7, -0.4]] {
                let r = Reward::of_state(&r).unwrap();
                let count = 60 * TIMES;
                let p = arms(sort, count, &mut random);
                let found = index(p.view(), r.view(), g, Chain::Infinite { beliefs: n });
                for i in 0..count {
                    let arm = p.index_axis(Axis(0), i);
                    // long enough for beliefs to settle to the last digit; or they never move
                    let m = memory(arm);
                    let long = if m == 1.0 || m == 0.0 { 60 } else { (-37.0 / m.ln()).ceil() as usize + n };
                    if long > 400 {
                        continue;
                    }
                    let truth = index(p.slice(s![i..=i, .., .., ..]), r.view(), g, Chain::Finite(long));
                    assert_eq!(
                        (found.verdict(i), found.status[i]),
                        (Some(true), IndexStatus::Exact),
                        "{sort:?} γ={g} {} {arm:?}",
                        found.index.row(i)
                    );
                    for s in 0..2 {
                        for h in 0..n {
                            let (w, t) = (found.index[[i, s * n + h]], truth.index[[0, s * long + h]]);
                            let error =
                                (w - t).abs() / truth.index.iter().fold(1.0f64, |a, w| a.max(w.abs()));
                            let frozen = m == 1.0 && arm[[0, 0, 1]] == 1.0; // alternates for ever: freezing is felt
                            // indices closer than 1e-12 of the arm's scale, 1/(1 − γ), are taken as ties, and slopes on either
                            // side of one differ by as much again
                            let tie = if matches!(sort, Sort::NearDeterministic | Sort::Quarters) {
                                1e-12 / (1.0 - g) / (1.0 - g)
                            } else {
                                0.0
                            };
                            assert!(
                                error <= tie.max(1e-9) || frozen,
                                "{sort:?} γ={g} ({s},{h}): {w} not {t}, T={long}\n{arm:?} {:?}",
                                r.view()
                            );
                            if !frozen {
                                worst = worst.max(error);
                            }
                        }
                    }
                    seen += 1;
                }
            }
        }
    }
    println!("{seen} arms, worst difference {worst:e}");
    assert!(seen > 1500, "{seen}");
}

#[test]
fn invariants_hold() {
    let mut random = random(65);
    let n = 50;
    let chains = [Chain::Finite(7), Chain::Infinite { beliefs: 7 }];
    let p = arms(Sort::Arbitrary, n, &mut random);
    let r = Reward::of_state(&[0.25, 0.75]).unwrap();
    let shifted = Reward::of_state(&[0.25 + 1024.0, 0.75 + 1024.0]).unwrap();
    let mut inert = p.clone();
    let passive = inert.slice(s![.., .., 0, ..]).to_owned();
    inert.slice_mut(s![.., .., 1, ..]).assign(&passive);
    for chain in chains {
        let here = index(p.view(), r.view(), 0.9, chain);
        assert_eq!(here, index(p.view(), shifted.view(), 0.9, chain), "a constant added to the reward");
        // a pull that changes nothing shows the state, which is worth nothing; but where the last belief is frozen it keeps the
        // expected reward from standing still, and is worth that
        let nothing = index(inert.view(), r.view(), 0.9, chain);
        match chain {
            Chain::Infinite { .. } => assert!(nothing.index.iter().all(|w| w.abs() < 1e-12)),
            Chain::Finite(_) => assert!(nothing.index.iter().any(|w| w.abs() > 1e-6)),
        }
        // renaming the states renames the chains
        let renamed = p.slice(s![.., ..;-1, .., ..;-1]);
        let back = Reward::of_state(&[0.75, 0.25]).unwrap();
        let other = index(renamed, back.view(), 0.9, chain).index;
        for i in 0..n {
            for h in 0..7 {
                for s in 0..2 {
                    let (a, b) = (here.index[[i, s * 7 + h]], other[[i, (1 - s) * 7 + h]]);
                    assert!((a - b).abs() < 1e-12, "{a} {b}");
                }
            }
        }
        // batch = loop, whatever the number of threads
        let one = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
        assert_eq!(one.install(|| index(p.view(), r.view(), 0.9, chain)), here);
        for i in 0..n {
            let alone = index(p.slice(s![i..=i, .., .., ..]), r.view(), 0.9, chain);
            assert_eq!(alone.index.row(0), here.index.row(i));
        }
    }
}
