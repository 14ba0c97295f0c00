//! The way back through a programme's recursion, against finite differences of bound, advantages and linear programmes.

use crate::arms::random;
use crate::gradients::{AGREEMENT, derivative, tangent, uniform};
use crate::planning::relaxed_optimum;
use crate::planning_programme::Owned;
use ndarray::{Array2, Array3, Array4};
use rand::RngExt;
use restive::planning::{advantages, bound, prices, pullback, smoothed};

/// Where a programme moves to along one direction for each of its inputs.
struct Directions {
    transition: Array4<f64>,
    reward: Array3<f64>,
    initial: Array2<f64>,
    budget: Vec<f64>,
    price: Array2<f64>,
    discount: f64,
}

impl Directions {
    fn moved(&self, owned: &Owned, price: &Array2<f64>, which: usize, t: f64) -> (Owned, Array2<f64>) {
        let at = |k: usize| if k == which { t } else { 0.0 };
        let moved = Owned {
            transition: &owned.transition + &(&self.transition * at(0)),
            reward: &owned.reward + &(&self.reward * at(1)),
            initial: &owned.initial + &(&self.initial * at(2)),
            budget: owned.budget.iter().zip(&self.budget).map(|(k, d)| k + d * at(3)).collect(),
            discount: owned.discount + self.discount * at(5),
            belief: None,
            horizon: owned.horizon,
            ending: owned.ending,
            group: owned.group.clone(),
            presence: owned.presence.clone(),
        };
        (moved, price + &(&self.price * at(4)))
    }
}

const INPUTS: [&str; 6] = ["transition", "reward", "initial", "budget", "price", "discount"];

#[test]
fn the_way_back_is_the_derivative_at_held_prices() {
    let mut random = random(311);
    let (mut checked, h) = (0, 1e-5);
    while checked < 60 {
        let mut owned = Owned::any(&mut random);
        if owned.belief.is_some() {
            continue;
        }
        owned.budget.iter_mut().for_each(|budget| *budget += 0.3);
        let (n, m, steps) = (owned.transition.shape()[0], owned.transition.shape()[1], owned.horizon);
        let price =
            Array2::from_shape_simple_fn((owned.budget.len(), steps), || 0.1 + random.random::<f64>());
        let c = Array3::from_shape_simple_fn((steps, n, m), || uniform(&mut random));
        let directions = Directions {
            transition: tangent(&owned.transition, h, &mut random),
            reward: Array3::from_shape_simple_fn((n, m, 2), || uniform(&mut random)),
            initial: Array2::from_shape_simple_fn((n, m), || uniform(&mut random)),
            budget: owned.budget.iter().map(|_| uniform(&mut random)).collect(),
            price: Array2::from_shape_simple_fn(price.raw_dim(), || uniform(&mut random)),
            discount: -0.5,
        };
        // all in one function: the bound (or what is smoothed of it) and the advantages, of which there are none to smooth
        for temperature in [0.0, 0.07] {
            let value = |owned: &Owned, price: &Array2<f64>| match temperature {
                0.0 => {
                    let found = advantages(&owned.programme(), price.view());
                    bound(&owned.programme(), owned.initial.view(), price.view()) + (&found * &c).sum()
                }
                _ => smoothed(&owned.programme(), owned.initial.view(), price.view(), temperature).value,
            };
            let pulls = |owned: &Owned, price: &Array2<f64>| -> Vec<bool> {
                let found = advantages(&owned.programme(), price.view());
                found.indexed_iter().map(|((t, i, _), a)| *a > price[[owned.group_of(i), t]]).collect()
            };
            let here = pulls(&owned, &price);
            let is_smooth = (0..6).all(|k| {
                [-h, h].iter().all(|&t| {
                    let (owned, price) = directions.moved(&owned, &price, k, t);
                    pulls(&owned, &price) == here
                })
            });
            if temperature == 0.0 && !is_smooth {
                continue; // a kink in between
            }
            let c = (temperature == 0.0).then_some(c.view());
            let d = pullback(&owned.programme(), owned.initial.view(), price.view(), temperature, 1.0, c);
            let along = [
                (&d.d_transition * &directions.transition).sum(),
                (&d.d_reward * &directions.reward).sum(),
                (&d.d_initial * &directions.initial).sum(),
                d.d_budget.iter().zip(&directions.budget).map(|(a, b)| a * b).sum(),
                (&d.d_price * &directions.price).sum(),
                d.d_discount * directions.discount,
            ];
            for (k, found) in along.into_iter().enumerate() {
                let truth = derivative(
                    |t| {
                        let (owned, price) = directions.moved(&owned, &price, k, t);
                        value(&owned, &price)
                    },
                    h,
                );
                // values of size 10 over steps of 1e-5: differences are good to 1e-9
                let size = 1.0 + found.abs();
                let say = format!("{} at temperature {temperature}: {found} not {truth}", INPUTS[k]);
                assert!((found - truth).abs() <= AGREEMENT * size, "{say}");
            }
            assert!(d.d_transition.rows().into_iter().all(|row| row.sum().abs() < 1e-12));
            checked += 1;
        }
    }
}

/// At the smallest bound the prices move nothing: the derivative at held prices is that of the linear programme's optimum. Its corner is a
/// mixture of policies, which the softened choice at a low temperature approaches; the strict one is right up to the arms at the
/// margin, of which there are about as many as there are steps.
#[test]
fn the_envelope_has_the_derivative_of_the_linear_programme() {
    let mut random = random(312);
    let (mut soft_error, mut strict_error, mut total) = (0.0, 0.0, 0.0);
    for _ in 0..6 {
        let owned = Owned::plain(12, 2, 4, 3.0, &mut random);
        let found = prices(&owned.programme(), owned.initial.view());
        for _ in 0..3 {
            let (h, reward) = (1e-4, Array3::from_shape_simple_fn((12, 2, 2), || uniform(&mut random)));
            let truth = derivative(
                |t| {
                    let mut moved = Owned::plain(12, 2, 4, 3.0, &mut crate::arms::random(1));
                    moved.transition = owned.transition.clone();
                    moved.initial = owned.initial.clone();
                    moved.reward = &owned.reward + &(&reward * t);
                    relaxed_optimum(&moved)
                },
                h,
            );
            let along = |temperature: f64| {
                let programme = owned.programme();
                let d =
                    pullback(&programme, owned.initial.view(), found.price.view(), temperature, 1.0, None);
                (&d.d_reward * &reward).sum()
            };
            soft_error += (along(0.002) - truth).abs();
            strict_error += (along(0.0) - truth).abs();
            total += truth.abs();
        }
    }
    assert!(soft_error < 0.1 * total, "{soft_error} of {total}");
    assert!(strict_error < 0.25 * total, "{strict_error} of {total}");
}
