//! People who can be pulled at some decisions only, by a two-state chain that the hidden trait moves.

use super::people::{Declarations, Person, features, live, rankings, study};
use super::{World, draw, gain};
use ndarray::Array2;
use rand::RngExt;
use restive::random::{Random, stream};
use restive_tables::StudyBehaviour;

const STREAM: u64 = 0x6176_6169;
const PEOPLE: usize = 500;
const DECISIONS: usize = 12;
/// Pulls at each decision; about 280 people can be pulled.
const PULLS: usize = 180;
const HORIZON: usize = 8;
const DISCOUNT: f64 = 0.9;
const LEVELS: [f64; 2] = [0.15, 0.55];
/// Probability of being available again, after an available decision and after another, by trait from 0 to 1.
const STAYS: [f64; 2] = [0.8, 0.95];
const RETURNS: [f64; 2] = [0.05, 0.3];
/// Draws of who is available, for the truth.
const DRAWS: usize = 400;

/// Availability of a person.
struct Chain {
    stays: f64,
    returns: f64,
}

impl Chain {
    fn new(hidden: f64) -> Self {
        let between = |[low, high]: [f64; 2]| low + (high - low) * hidden;
        Self { stays: between(STAYS), returns: between(RETURNS) }
    }

    fn first(&self, random: &mut Random) -> bool {
        random.random::<f64>() < self.returns / (self.returns + 1.0 - self.stays)
    }

    fn next(&self, is_available: bool, random: &mut Random) -> bool {
        random.random::<f64>() < if is_available { self.stays } else { self.returns }
    }
}

/// World in which `behaviour` is declared; the pulls are drawn at random among the people who are available.
pub fn world(behaviour: StudyBehaviour, has_effect: bool, seed: u64) -> World {
    let mut random = stream(seed, &[STREAM, u64::from(has_effect)]);
    let hidden: Vec<f64> = (0..PEOPLE).map(|_| random.random()).collect();
    let chains: Vec<Chain> = hidden.iter().map(|hidden| Chain::new(*hidden)).collect();
    let mut people = Vec::with_capacity(PEOPLE);
    for hidden in &hidden {
        let distance = random.random();
        people.push(Person::new(*hidden, distance, LEVELS, has_effect, &mut random));
    }
    let mut available = Array2::from_elem((DECISIONS + 1, PEOPLE), false);
    for (i, chain) in chains.iter().enumerate() {
        available[[0, i]] = chain.first(&mut random);
        for t in 1..=DECISIONS {
            available[[t, i]] = chain.next(available[[t - 1, i]], &mut random);
        }
    }
    let at_random = |t: usize, _: &[u16], random: &mut Random| {
        let there = (0..PEOPLE).filter(|i| available[[t, *i]]).collect();
        let mut pulled = vec![false; PEOPLE];
        draw(there, PULLS, random).into_iter().for_each(|i| pulled[i] = true);
        pulled
    };
    let log = live(&people, DECISIONS, &mut random, at_random, |_, _| vec![0.0; PEOPLE]);

    let rows = (0..DECISIONS).flat_map(|t| (0..PEOPLE).map(move |i| (t, i)));
    let effects: Vec<f64> =
        rows.filter(|(t, i)| available[[*t, *i]]).map(|(_, i)| people[i].effect).collect();
    let mean_effect = effects.iter().sum::<f64>() / effects.len() as f64;
    let programme = PULLS as f64 * gain::programme(HORIZON, DISCOUNT);
    let rankings = rankings(&people, has_effect, &mut random, |scores, random| {
        let order = gain::order(scores);
        let one = |_| {
            let there: Vec<bool> = chains.iter().map(|chain| chain.first(random)).collect();
            gain::advantage(&order, |i| people[i].effect, PULLS, &there)
        };
        programme * (0..DRAWS).map(one).sum::<f64>() / DRAWS as f64
    });
    let declarations = Declarations {
        behaviour,
        available: Some(available),
        ..Declarations::uniform(PULLS, HORIZON, DISCOUNT)
    };
    World { declared: study(features(&people), log, declarations), rankings, mean_effect, course: None }
}
