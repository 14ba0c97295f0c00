//! Who there is: instances and arms by name, each at the position of its row in the table of arms.
//!
//! Rows of a log are mostly in the order of the table of arms, person by person or step by step: that it is the same person as in the row
//! before, or the next one, is tried first. Where that keeps failing names are looked up by their hash, a block of rows at a time and
//! each step of the search in a loop of its own, so that the memory is asked for many of them at once.

use super::names::{Index, Names, Probe};
use crate::study::arms::Roster;
use restive::data::split::Part;
use std::collections::HashMap;
use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

/// Rows that are looked up at a time.
const BLOCK: usize = 64;
/// Guesses that may fail in a block before the next one is looked up.
const FEW: usize = 8;
/// Nobody.
pub(super) const NOBODY: u32 = u32::MAX;

/// Everybody of a study.
#[derive(Default)]
pub(super) struct People {
    names: Names,
    index: Index,
    /// by name
    pub(super) instances: Vec<String>,
    numbers: HashMap<String, u32>,
    /// what the hashes of an instance start from
    seeds: Vec<u64>,
    /// how many are in each instance
    pub(super) counts: Vec<usize>,
    /// instance, and number in it, by position; empty where there is one instance
    places: Vec<[u32; 2]>,
    /// by position, where the study says
    pub(super) parts: Option<Vec<Part>>,
}

impl People {
    /// With room for so many, which need not be right.
    pub(super) fn with_room(people: usize) -> Self {
        let mut names = Names::default();
        names.reserve(people);
        Self { names, index: Index::with_room(people), ..Self::default() }
    }

    pub(super) fn len(&self) -> usize {
        self.names.len()
    }

    pub(super) fn name(&self, position: usize) -> &str {
        self.names.name(position)
    }

    /// The instance of a position, and the number in it.
    #[inline]
    pub(super) fn place(&self, position: usize) -> (usize, usize) {
        match self.places.is_empty() {
            true => (0, position),
            false => (self.places[position][0] as usize, self.places[position][1] as usize),
        }
    }

    /// The names of the people of an instance.
    pub(super) fn names_of(&self, instance: usize) -> impl Iterator<Item = &str> {
        let is_there = move |position: &usize| self.place(*position).0 == instance;
        (0..self.len()).filter(is_there).map(|position| self.name(position))
    }

    /// The number of an instance, a new one where it is not there.
    pub(super) fn instance(&mut self, name: &str) -> usize {
        if let Some(number) = self.numbers.get(name) {
            return *number as usize;
        }
        let number = self.instances.len();
        self.numbers.insert(name.into(), number as u32);
        self.instances.push(name.into());
        self.seeds.push(xxh3_64(name.as_bytes()));
        self.counts.push(0);
        if number == 1 {
            self.places = (0..self.len() as u32).map(|position| [0, position]).collect();
        }
        number
    }

    /// The next person; false where there is one of that name in the instance already.
    pub(super) fn add(&mut self, instance: usize, name: &str) -> bool {
        if self.index.is_full() {
            self.grow();
        }
        let hash = xxh3_64_with_seed(name.as_bytes(), self.seeds[instance]);
        match self.index.find(hash, self.index.first(hash), |at| self.is(at, instance, name.as_bytes())) {
            Ok(_) => false,
            Err(slot) => {
                self.index.put(slot, hash, self.len() as u32);
                self.names.push(name);
                if !self.places.is_empty() || instance > 0 {
                    self.places.push([instance as u32, self.counts[instance] as u32]);
                }
                self.counts[instance] += 1;
                true
            }
        }
    }

    fn grow(&mut self) {
        let mut index = Index::with_room(2 * self.len().max(8));
        for position in 0..self.len() {
            let seed = self.seeds[self.place(position).0];
            let hash = xxh3_64_with_seed(self.names.bytes(position), seed);
            if let Err(slot) = index.find(hash, index.first(hash), |_| false) {
                index.put(slot, hash, position as u32);
            }
        }
        self.index = index;
    }

    /// Puts the instances in the order of their names.
    pub(super) fn sort_instances(&mut self) {
        let mut roster = Roster::default();
        self.instances.iter().for_each(|name| _ = roster.find_or_add(name));
        let (_, before) = roster.sorted();
        let mut now = vec![0; before.len()];
        before.iter().enumerate().for_each(|(k, before)| now[*before] = k as u32);
        self.instances = before.iter().map(|k| self.instances[*k].clone()).collect();
        self.counts = before.iter().map(|k| self.counts[*k]).collect();
        self.seeds = before.iter().map(|k| self.seeds[*k]).collect();
        self.numbers.values_mut().for_each(|number| *number = now[*number as usize]);
        self.places.iter_mut().for_each(|[instance, _]| *instance = now[*instance as usize]);
    }

    /// The number of an instance that is there.
    pub(super) fn find_instance(&self, name: &str) -> Option<usize> {
        self.numbers.get(name).map(|number| *number as usize)
    }

    #[inline]
    fn is(&self, position: usize, instance: usize, name: &[u8]) -> bool {
        self.names.bytes(position) == name && self.place(position).0 == instance
    }

    #[inline]
    fn look_up(&self, instance: usize, name: &[u8]) -> u32 {
        let hash = xxh3_64_with_seed(name, self.seeds[instance]);
        self.index.find(hash, self.index.first(hash), |at| self.is(at, instance, name)).unwrap_or(NOBODY)
    }

    /// The position of one person.
    pub(super) fn find(&self, instance: usize, name: &str) -> Option<usize> {
        let found = self.look_up(instance, name.as_bytes());
        (found != NOBODY).then_some(found as usize)
    }

    /// The positions of many, [`NOBODY`] where there is none: `row` says the instance and the name that each row has.
    pub(super) fn find_all<'a>(&self, rows: usize, row: impl Fn(usize) -> (usize, &'a [u8])) -> Vec<u32> {
        let mut found = vec![NOBODY; rows];
        let (mut last, mut is_guessed) = (0, true);
        for (block, found) in found.chunks_mut(BLOCK).enumerate() {
            let start = block * BLOCK;
            let failed = match is_guessed {
                true => self.guess(found, &mut last, |i| row(start + i)),
                false => self.search(found, &mut last, |i| row(start + i)),
            };
            is_guessed = failed <= FEW;
        }
        found
    }

    /// Tries the person of the row before and the next one; how often that failed.
    fn guess<'a>(
        &self,
        found: &mut [u32],
        last: &mut usize,
        row: impl Fn(usize) -> (usize, &'a [u8]),
    ) -> usize {
        let mut failed = 0;
        for (i, found) in found.iter_mut().enumerate() {
            let (instance, name) = row(i);
            let mut guesses = [*last, *last + 1].into_iter();
            *found = match guesses.find(|at| *at < self.len() && self.is(*at, instance, name)) {
                Some(position) => position as u32,
                None => {
                    failed += 1;
                    self.look_up(instance, name)
                }
            };
            if *found != NOBODY {
                *last = *found as usize;
            }
        }
        failed
    }

    /// Looks all of a block up; how many of them a guess would not have found.
    fn search<'a>(
        &self,
        found: &mut [u32],
        last: &mut usize,
        row: impl Fn(usize) -> (usize, &'a [u8]),
    ) -> usize {
        let mut first: [(u64, Probe); BLOCK] = [(0, (0, None)); BLOCK];
        let rows = found.len();
        for (i, first) in first[..rows].iter_mut().enumerate() {
            let (instance, name) = row(i);
            let hash = xxh3_64_with_seed(name, self.seeds[instance]);
            *first = (hash, self.index.first(hash));
        }
        let mut names: [&[u8]; BLOCK] = [&[]; BLOCK];
        for (name, (_, (_, position))) in names[..rows].iter_mut().zip(&first) {
            *name = position.map_or(&[], |position| self.names.bytes(position as usize));
        }
        // the first byte of each: so that all of them are on their way from memory before the first one is compared
        let mut heads = [None; BLOCK];
        for (head, name) in heads[..rows].iter_mut().zip(&names) {
            *head = name.first().copied();
        }
        let mut failed = 0;
        for (i, found) in found.iter_mut().enumerate() {
            let (instance, name) = row(i);
            let (hash, probe) = first[i];
            *found = match probe.1 {
                Some(position)
                    if heads[i] == name.first().copied()
                        && names[i] == name
                        && self.place(position as usize).0 == instance =>
                {
                    position
                }
                _ => self.index.find(hash, probe, |at| self.is(at, instance, name)).unwrap_or(NOBODY),
            };
            failed += usize::from(*found as usize != *last && *found as usize != *last + 1);
            if *found != NOBODY {
                *last = *found as usize;
            }
        }
        failed
    }
}
