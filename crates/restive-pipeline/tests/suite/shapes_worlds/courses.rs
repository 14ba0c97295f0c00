//! Pulls that are assigned once per person and last for all decisions.

use super::people::{Declarations, Person, features, live, rankings, study};
use super::{World, draw, gain};
use rand::RngExt;
use restive::instance::Assignment;
use restive::random::{Random, stream};

const STREAM: u64 = 0x636f_7572;
const PEOPLE: usize = 600;
const DECISIONS: usize = 12;
/// People whose course begins at the first decision.
const PULLS: usize = 300;
const DISCOUNT: f64 = 0.95;
const LEVELS: [f64; 2] = [0.15, 0.55];

/// World of a seed.
pub fn world(has_effect: bool, seed: u64) -> World {
    let mut random = stream(seed, &[STREAM, u64::from(has_effect)]);
    let mut people = Vec::with_capacity(PEOPLE);
    for _ in 0..PEOPLE {
        let (hidden, distance) = (random.random(), random.random());
        people.push(Person::new(hidden, distance, LEVELS, has_effect, &mut random));
    }
    let mut pulled = vec![false; PEOPLE];
    draw((0..PEOPLE).collect(), PULLS, &mut random).into_iter().for_each(|i| pulled[i] = true);
    let once = |_: usize, _: &[u16], _: &mut Random| pulled.clone();
    let log = live(&people, DECISIONS, &mut random, once, |_, _| vec![0.0; PEOPLE]);

    let mean_effect = people.iter().map(|person| person.effect).sum::<f64>() / PEOPLE as f64;
    let course = gain::course(DECISIONS, DISCOUNT);
    let everyone = vec![true; PEOPLE];
    let rankings = rankings(&people, has_effect, &mut random, |scores, _| {
        let advantage = gain::advantage(&gain::order(scores), |i| people[i].effect, PULLS, &everyone);
        PULLS as f64 * course * advantage
    });
    let declarations = Declarations {
        assignment: Assignment::PerPerson,
        ..Declarations::uniform(PULLS, DECISIONS, DISCOUNT)
    };
    let course = Some(course * mean_effect);
    World { declared: study(features(&people), log, declarations), rankings, mean_effect, course }
}
