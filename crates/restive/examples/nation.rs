//! The selection step of a nation, simulated: a hundred million people in partitions that never meet, caps for every worker, one list.
//!
//! `cargo run --release -p restive --example nation -- PEOPLE PARTITIONS WORKERS PLACES DEALT`
//! where DEALT is `lot` (everybody anywhere) or `worker` (the people of a worker are in one partition).
//!
//! Every partition offers its people to a [`Contest`] and sends whoever can still have a place: 40 bytes each, as plans of partitions do. Answers
//! are merged in a tree of fan-in √PARTITIONS, as an engine's workers would. Seconds are of this machine's cores, one partition after the other
//! on each; bytes are what a network would carry. In the end everybody is looked at once more: nobody who was left out may be worth more than the last
//! of her worker while her worker has places, or than the last of all.

use rayon::prelude::*;
use restive::allocation::{Contest, Family, Problem, allocate};
use std::time::Instant;

/// A person on her way: place, cell, score, value, rules, state.
const BYTES: usize = 40;

/// What is told apart: the worker; and what is kept of a person: who she is.
type Kept = Contest<u32, u64>;

struct Nation {
    people: u64,
    partitions: u64,
    workers: u64,
    by_worker: bool,
}

impl Nation {
    /// The people of a partition: who, whose, and what a call is worth.
    fn partition(&self, number: u64) -> impl Iterator<Item = (u64, u32, f64)> + '_ {
        let share = self.people / self.partitions;
        (number * share..(number + 1) * share).map(move |person| {
            let worker = match self.by_worker {
                true => person * self.workers / self.people,
                false => mix(person) % self.workers,
            };
            // workers differ in how much their people gain
            let gain = 0.5 + (mix(worker ^ 0xabcd) >> 11) as f64 / (1u64 << 53) as f64;
            let x = (mix(person ^ 0x1234_5678_9abc) >> 11) as f64 / (1u64 << 53) as f64;
            (person, worker as u32, gain * x * x)
        })
    }
}

/// SplitMix64
fn mix(x: u64) -> u64 {
    let mut z = x.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

fn main() {
    let asked: Vec<String> = std::env::args().skip(1).collect();
    let [people, partitions, workers, places, dealt] = &asked[..] else {
        panic!("expected PEOPLE PARTITIONS WORKERS PLACES DEALT, found {asked:?}")
    };
    let [people, partitions, workers, places] =
        [people, partitions, workers, places].map(|text| text.parse::<u64>().expect("a whole number"));
    let nation = Nation { people, partitions, workers, by_worker: dealt == "worker" };
    let cap = (places * 5 / 4 / workers) as usize;

    let start = Instant::now();
    let offered = |number: u64| {
        let mut kept = Kept::new();
        nation.partition(number).for_each(|(person, worker, value)| kept.offer(worker, cap, value, person));
        // settled, as it would be sent
        let mut sent = Kept::new();
        kept.into_people().for_each(|(worker, value, person)| sent.offer(worker, cap, value, person));
        sent
    };
    // a level of the tree at a time: the answers of some partitions are merged before the others are asked
    let fan = partitions.isqrt().max(2);
    let (mut first, mut second, mut all) = (0, 0, Kept::new());
    let (mut gathering, mut merging) = (0.0, 0.0);
    for from in (0..partitions).step_by(fan as usize) {
        let begun = Instant::now();
        let answers: Vec<Kept> = (from..partitions.min(from + fan)).into_par_iter().map(offered).collect();
        gathering += begun.elapsed().as_secs_f64();
        let begun = Instant::now();
        first += answers.iter().map(Kept::len).sum::<usize>();
        let mut merged = Kept::new();
        answers.into_iter().for_each(|answer| merged.merge(answer));
        let mut sent = Kept::new();
        merged.into_people().for_each(|(worker, value, person)| sent.offer(worker, cap, value, person));
        second += sent.len();
        all.merge(sent);
        merging += begun.elapsed().as_secs_f64();
    }
    let contenders: Vec<(u32, f64, u64)> = all.into_people().collect();

    let begun = Instant::now();
    let family = Family {
        group: contenders.iter().map(|(worker, ..)| *worker).collect(),
        at_least: vec![0; workers as usize],
        at_most: vec![cap; workers as usize],
    };
    let problem = Problem {
        value: &contenders.iter().map(|(_, value, _)| *value).collect::<Vec<_>>(),
        key: &contenders.iter().map(|(.., person)| mix(*person)).collect::<Vec<_>>(),
        must: &vec![false; contenders.len()],
        places: places as usize,
        fill: true,
        families: &[family],
        cost: None,
    };
    let list = allocate(&problem).expect("caps can be met");
    let dealing = begun.elapsed().as_secs_f64();

    // the last of all, and the last of every worker
    let (mut last, mut taken) = (f64::INFINITY, vec![(0, f64::INFINITY); workers as usize]);
    for ((worker, value, _), chosen) in contenders.iter().zip(&list.chosen) {
        if *chosen {
            last = last.min(*value);
            let (count, least) = &mut taken[*worker as usize];
            (*count, *least) = (*count + 1, value.min(*least));
        }
    }
    let chosen: std::collections::HashSet<u64> = contenders
        .iter()
        .zip(&list.chosen)
        .filter(|(_, chosen)| **chosen)
        .map(|((.., person), _)| *person)
        .collect();
    let wronged: u64 = (0..partitions)
        .into_par_iter()
        .map(|number| {
            let is_wronged = |(person, worker, value): &(u64, u32, f64)| {
                let (count, least) = taken[*worker as usize];
                let bar = if count < cap { last } else { least };
                *value > bar && !chosen.contains(person)
            };
            nation.partition(number).filter(is_wronged).count() as u64
        })
        .sum();
    assert_eq!((wronged, chosen.len() as u64), (0, places));
    println!(
        "{people} people, {partitions} partitions dealt by {dealt}, {workers} workers with at most {cap} places each, {places} places"
    );
    println!("gathered            {gathering:8.1} s   {:.0} ns a person", 1e9 * gathering / people as f64);
    println!("sent by partitions  {first:>12} people  {:8.1} MB", (first * BYTES) as f64 / 1e6);
    println!("merged              {merging:8.1} s   {fan} at a time");
    println!("sent to the driver  {second:>12} people  {:8.1} MB", (second * BYTES) as f64 / 1e6);
    println!("contenders          {:>12}", contenders.len());
    println!("places dealt        {dealing:8.1} s");
    println!("nobody was wronged; {:.1} s in all, with that check", start.elapsed().as_secs_f64());
}
