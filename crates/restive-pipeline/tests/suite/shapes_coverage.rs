//! A dozen simulated worlds of each shape: evidence rejects and covers as often as it should, and shapes that a study does not declare are
//! named. `examples/shapes.rs` does the same with hundreds of worlds.
//!
//! **Bounds.** Of n worlds with a fault of probability p each, more than k have one with probability below [`CHANCE`], where k is the
//! smallest such number: 3 of 12 and 2 of 6 at p = .05. Faults are a rejection at .05 without an effect, a 95 % interval that
//! misses, a shape that is not detected (in at most .05 of worlds), a shape found in a log without one.

use crate::shapes_worlds::answers::{Figures, of_declared, of_honest, of_undeclared};
use crate::shapes_worlds::shares::{Share, Shares};
use crate::shapes_worlds::{Honest, Shape, World, honest};
use rayon::prelude::*;
use restive_pipeline::EvaluateAsked;

const WORLDS: u64 = 12;
/// Probability of a fault.
const FAULT: f64 = 0.05;
/// Probability of more faults than a bound allows.
const CHANCE: f64 = 0.005;

/// Few exchanges of pulls: p below .05 has probability .04.
fn asked(seed: u64) -> EvaluateAsked {
    EvaluateAsked { seed, deals: Some(99), ..EvaluateAsked::default() }
}

/// Most faults of `n` worlds.
fn most(n: usize) -> usize {
    // P(X = 0), then P(X = k + 1) from P(X = k)
    let (mut probability, mut above, mut k) = ((1.0 - FAULT).powi(n as i32), 1.0, 0);
    loop {
        above -= probability;
        if above < CHANCE {
            return k;
        }
        probability *= (n - k) as f64 / (k + 1) as f64 * FAULT / (1.0 - FAULT);
        k += 1;
    }
}

/// Figures of a dozen worlds, half of them with an effect.
fn shares(figures: impl Fn(u64, bool) -> Figures + Send + Sync) -> Shares {
    let world = |seed: u64| figures(seed, seed % 2 == 1);
    Shares::new((0..WORLDS).into_par_iter().map(world).collect::<Vec<_>>())
}

#[track_caller]
fn assert_rare(name: &str, share: Share, is_fault: bool) {
    let faults = if is_fault { share.hits } else { share.worlds - share.hits };
    assert!(share.worlds > 0, "{name}: no world");
    assert!(faults <= most(share.worlds), "{name}: {faults} faults of {} worlds", share.worlds);
}

#[test]
fn bounds_are_those_of_the_binomial_distribution() {
    // P(X > 3) of 12 is .0022, P(X > 2) is .0196; P(X > 2) of 6 is .0022, P(X > 1) is .0328
    assert_eq!([most(12), most(6)], [3, 2]);
}

#[test]
fn declared_shapes_reject_and_cover_as_often_as_they_should() {
    for shape in Shape::ALL {
        let found =
            shares(|seed, has_effect| of_declared(&World::new(shape, has_effect, seed), &asked(seed)));
        for rejected in ["rejected", "rejected by noise"] {
            assert_rare(&format!("{}, {rejected}", shape.name()), found.get(rejected), true);
        }
        for covered in ["answered", "effect covered", "gain covered"] {
            assert_rare(&format!("{}, {covered}", shape.name()), found.get(covered), false);
        }
        if shape == Shape::Lasting {
            assert_rare("course covered", found.get("course covered"), false);
        }
    }
}

#[test]
fn undeclared_shapes_are_named_and_no_effect_is_found() {
    for shape in Shape::ALL {
        let world =
            |seed, has_effect| of_undeclared(&World::new(shape, has_effect, seed), shape, &asked(seed));
        let found = shares(world);
        assert_rare(&format!("{}, detected", shape.name()), found.get("detected"), false);
        assert_rare(&format!("{}, yes", shape.name()), found.get("yes"), true);
    }
}

#[test]
fn logs_without_a_shape_are_not_accused() {
    for kind in Honest::ALL {
        let world = |seed: u64, has_effect| {
            let (study, scores) = honest(kind, has_effect, seed);
            of_honest(&study, &scores, &asked(seed))
        };
        let found = shares(world);
        assert_rare(&format!("{}, false alarm", kind.name()), found.get("false alarm"), true);
        // the check of balance takes the rounds of a rota for independent, although they repeat one order, and objects too often
        if !matches!(kind, Honest::Rota | Honest::RotaByWard) {
            assert_rare(&format!("{}, refused otherwise", kind.name()), found.get("refused otherwise"), true);
        }
    }
}
