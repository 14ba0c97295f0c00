//! Values as functions of a whole world: the fluid value of tables that change from step to step and the decomposed value, their
//! gradients by everything they are computed from against finite differences.

use crate::arms::{Kind, random, reward, transitions};
use crate::gradients::{AGREEMENT, derivative, tangent, uniform};
use ndarray::{Array2, Array3, Array4, Axis};
use rand::RngExt;
use restive::RewardView;
use restive::evaluation::{MeanField, Relaxation, decomposed, fluid_by_step, fluid_of_tables};

/// Everything that a value is computed from.
#[derive(Clone)]
struct World {
    transition: Array4<f64>,
    /// `[N,M,2]`
    reward: Array3<f64>,
    initial: Array2<f64>,
    /// `[S,N,M]`
    index: Array3<f64>,
    /// budget, temperature, discount, charge
    numbers: [f64; 4],
    mass: Array2<f64>,
}

impl World {
    fn field(&self) -> MeanField<'_> {
        MeanField {
            motion: self.transition.view().into(),
            reward: RewardView::by_arm(self.reward.view()),
            initial: self.initial.view(),
            discount: self.numbers[2],
            budget: self.numbers[0],
        }
    }

    fn any(n: usize, m: usize, tables: usize, budget: f64, discount: f64, seed: u64) -> Self {
        let mut random = random(seed);
        let mut masses = || {
            let mut mass = Array2::from_shape_simple_fn((n, m), || 0.1 + random.random::<f64>());
            mass.rows_mut().into_iter().for_each(|mut row| row /= row.sum());
            mass
        };
        let (initial, mass) = (masses(), masses());
        let shared = reward(m, true, &mut random);
        let reward = Array3::from_shape_fn((n, m, 2), |(i, s, a)| shared[[s, a]] * (1.0 + 0.1 * i as f64));
        let transition = transitions(Kind::Dense, n, m, &mut random);
        let index = Array3::from_shape_simple_fn((tables, n, m), || 0.3 * uniform(&mut random));
        Self { transition, reward, initial, index, numbers: [budget, 0.1, discount, 0.2], mass }
    }

    /// A direction for each input, the rows of transitions and distributions keeping their sums.
    fn direction(&self, seed: u64) -> Self {
        let mut random = random(seed);
        let transition = tangent(&self.transition, 1e-4, &mut random);
        let mut initial = self.initial.mapv(|_| uniform(&mut random));
        initial.rows_mut().into_iter().for_each(|mut row| row -= row.mean().unwrap());
        Self {
            transition,
            initial,
            reward: self.reward.mapv(|_| uniform(&mut random)),
            index: self.index.mapv(|_| uniform(&mut random)),
            numbers: self.numbers.map(|_| uniform(&mut random)),
            mass: self.mass.mapv(|_| uniform(&mut random)),
        }
    }

    fn moved(&self, by: &Self, which: usize, t: f64) -> Self {
        let mut moved = self.clone();
        match which {
            0 => moved.transition.scaled_add(t, &by.transition),
            1 => moved.reward.scaled_add(t, &by.reward),
            2 => moved.initial.scaled_add(t, &by.initial),
            3 => moved.index.scaled_add(t, &by.index),
            4 => moved.mass.scaled_add(t, &by.mass),
            k => moved.numbers[k - 5] += t * by.numbers[k - 5],
        }
        moved
    }

    /// Holds what a pullback says along a direction against differences of a value.
    fn check(&self, by: &Self, found: &[f64], value: impl Fn(&World) -> f64) {
        const INPUTS: [&str; 9] = [
            "transition",
            "reward",
            "initial",
            "index",
            "mass",
            "budget",
            "temperature",
            "discount",
            "charge",
        ];
        for (k, found) in found.iter().enumerate() {
            let truth = derivative(|t| value(&self.moved(by, k, t)), 1e-4);
            assert!(
                (found - truth).abs() <= AGREEMENT * (1.0 + found.abs()),
                "{}: {found} not {truth}",
                INPUTS[k]
            );
        }
    }
}

#[test]
fn the_fluid_value_of_tables_has_the_gradient_of_its_value() {
    for (n, m, tables, budget, horizon) in
        [(5, 2, 6, 2.0, 6), (4, 3, 3, 1.5, 7), (6, 4, 9, 2.5, 4), (3, 2, 1, 1.0, 5)]
    {
        let world = World::any(n, m, tables, budget, 0.95, 321 + n as u64);
        let value = |world: &World| {
            fluid_of_tables(world.index.view(), &world.field(), world.numbers[1], horizon).value
        };
        let solved = fluid_of_tables(world.index.view(), &world.field(), 0.1, horizon);
        let by_step = fluid_by_step(world.index.view(), &world.field(), &vec![0.1; tables], horizon);
        assert_eq!(solved.value, by_step);
        let (d, by) = (solved.pullback_by_step(1.0), world.direction(5));
        let used = tables.min(horizon);
        assert_eq!(d.d_index.len_of(Axis(0)), used);
        let found = [
            (d.d_transition.as_ref().unwrap() * &by.transition).sum(),
            (&d.d_reward * &by.reward).sum(),
            (&d.d_initial * &by.initial).sum(),
            (&d.d_index * &by.index.slice(ndarray::s![..used, .., ..])).sum(),
            0.0,
            d.d_budget * by.numbers[0],
            d.d_temperature * by.numbers[1],
            d.d_discount * by.numbers[2],
            0.0,
        ];
        world.check(&by, &found, value);
    }
}

#[test]
fn the_decomposed_value_has_the_gradient_of_its_value_by_everything() {
    for (n, m, budget, discount) in
        [(5, 2, 2.0, 0.9), (4, 3, 1.5, 0.5), (300, 2, 60.0, 0.95), (6, 5, 2.5, 0.99)]
    {
        let world = World::any(n, m, 1, budget, discount, 331 + n as u64);
        let value = |world: &World| {
            let relaxation = Relaxation { charge: world.numbers[3], mass: world.mass.clone() };
            let index = world.index.index_axis(Axis(0), 0);
            decomposed(index, &world.field(), world.numbers[1], &relaxation).value
        };
        let relaxation = Relaxation { charge: 0.2, mass: world.mass.clone() };
        let solved = decomposed(world.index.index_axis(Axis(0), 0), &world.field(), 0.1, &relaxation);
        let (d, by) = (solved.pullback_to_world(&world.field(), 1.0), world.direction(6));
        let alone = solved.pullback(1.0);
        assert_eq!((&d.d_index, d.d_temperature), (&alone.d_index, alone.d_temperature));
        assert!(d.d_transition.rows().into_iter().all(|row| row.sum().abs() < 1e-12));
        let found = [
            (&d.d_transition * &by.transition).sum(),
            (&d.d_reward * &by.reward).sum(),
            (&d.d_initial * &by.initial).sum(),
            (&d.d_index * &by.index.index_axis(Axis(0), 0)).sum(),
            (&d.d_mass * &by.mass).sum(),
            d.d_budget * by.numbers[0],
            d.d_temperature * by.numbers[1],
            d.d_discount * by.numbers[2],
            d.d_charge * by.numbers[3],
        ];
        world.check(&by, &found, value);
    }
}
