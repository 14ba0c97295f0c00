//! Households that share a trait and a shock at each decision, and are pulled together.

use super::people::{Declarations, Person, features, live, rankings, study};
use super::{World, draw, gain};
use rand::RngExt;
use restive::random::{Random, stream};

const STREAM: u64 = 0x636c_7573;
const HOUSEHOLDS: usize = 140;
const MOST_PEOPLE: usize = 5;
const DECISIONS: usize = 10;
/// One household in so many is pulled at each decision.
const ONE_IN: usize = 4;
const HORIZON: usize = 8;
const DISCOUNT: f64 = 0.9;
const LEVELS: [f64; 2] = [0.27, 0.38];
/// Shock of a household at a decision, up or down.
const SHOCK: f64 = 0.25;
/// Part of `distance` that a household shares.
const SHARED: f64 = 0.7;

/// World of a seed.
pub fn world(has_effect: bool, seed: u64) -> World {
    let mut random = stream(seed, &[STREAM, u64::from(has_effect)]);
    let (mut people, mut household) = (Vec::new(), Vec::new());
    for home in 0..HOUSEHOLDS {
        let (hidden, far): (f64, f64) = (random.random(), random.random());
        for _ in 0..random.random_range(1..=MOST_PEOPLE) {
            let distance = SHARED * far + (1.0 - SHARED) * random.random::<f64>();
            people.push(Person::new(hidden, distance, LEVELS, has_effect, &mut random));
            household.push(home);
        }
    }
    let at_random = |_: usize, _: &[u16], random: &mut Random| -> Vec<bool> {
        let mut is_drawn = [false; HOUSEHOLDS];
        let drawn = draw((0..HOUSEHOLDS).collect(), HOUSEHOLDS / ONE_IN, random);
        drawn.into_iter().for_each(|home| is_drawn[home] = true);
        household.iter().map(|home| is_drawn[*home]).collect()
    };
    let shock = |_: usize, random: &mut Random| -> Vec<f64> {
        let of_home: Vec<f64> =
            (0..HOUSEHOLDS).map(|_| if random.random::<bool>() { SHOCK } else { -SHOCK }).collect();
        household.iter().map(|home| of_home[*home]).collect()
    };
    let log = live(&people, DECISIONS, &mut random, at_random, shock);

    let budget = people.len() / ONE_IN;
    let everyone = vec![true; people.len()];
    let programme = budget as f64 * gain::programme(HORIZON, DISCOUNT);
    let rankings = rankings(&people, has_effect, &mut random, |scores, _| {
        programme * gain::advantage(&gain::order(scores), |i| people[i].effect, budget, &everyone)
    });
    let mean_effect = people.iter().map(|person| person.effect).sum::<f64>() / people.len() as f64;
    let names = household.iter().map(|home| format!("h{home:03}")).collect();
    let declarations = Declarations {
        cluster: Some(("household", names)),
        ..Declarations::uniform(budget, HORIZON, DISCOUNT)
    };
    World { declared: study(features(&people), log, declarations), rankings, mean_effect, course: None }
}
