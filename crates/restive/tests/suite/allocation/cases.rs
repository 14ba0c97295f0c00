//! Small problems, and all their lists.

use rand::RngExt;
use restive::allocation::{Cost, Family, NO_GROUP, Problem};
use restive::random::Random;

/// How the groups of the families lie to each other.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Shape {
    Plain,
    One,
    Nested,
    Two,
    Three,
}

/// A problem that owns its arrays.
#[derive(Debug, Clone)]
pub struct Case {
    pub value: Vec<f64>,
    pub key: Vec<u64>,
    pub must: Vec<bool>,
    pub places: usize,
    pub fill: bool,
    pub families: Vec<Family>,
    pub cost: Option<(Vec<f64>, f64)>,
}

/// How likely floors, must-calls and low caps are.
#[derive(Debug, Clone, Copy)]
pub struct Strictness {
    pub floor: f64,
    pub must: f64,
    pub cap: f64,
}

pub const MILD: Strictness = Strictness { floor: 0.15, must: 0.08, cap: 0.6 };
pub const HARSH: Strictness = Strictness { floor: 0.6, must: 0.3, cap: 0.8 };
pub const CAPS: Strictness = Strictness { floor: 0.0, must: 0.05, cap: 0.9 };

impl Case {
    pub fn problem(&self) -> Problem<'_> {
        Problem {
            value: &self.value,
            key: &self.key,
            must: &self.must,
            places: self.places,
            fill: self.fill,
            families: &self.families,
            cost: self.cost.as_ref().map(|(of, most)| Cost { of, most: *most }),
        }
    }

    pub fn random(random: &mut Random, n: usize, shape: Shape, strict: Strictness, with_cost: bool) -> Self {
        // few different values tie, many hardly ever do
        let levels = [2.0, 4.0, 1e6][random.random_range(0..3)];
        let value = (0..n)
            .map(|_| ((random.random::<f64>() * 1.4 - 0.4) * levels).round() / levels.min(4.0))
            .collect();
        let partition = |random: &mut Random, groups: u32, none: f64| -> Vec<u32> {
            (0..n)
                .map(
                    |_| if random.random::<f64>() < none { NO_GROUP } else { random.random_range(0..groups) },
                )
                .collect()
        };
        let mut groups: Vec<Vec<u32>> = Vec::new();
        match shape {
            Shape::Plain => {}
            Shape::One => groups.push(partition(random, 3, 0.2)),
            Shape::Nested => {
                let inner = partition(random, 5, 0.15);
                let outer: Vec<u32> = inner
                    .iter()
                    .map(|&g| if g == NO_GROUP { random.random_range(0..3) } else { g % 2 })
                    .collect();
                let mut outermost: Vec<u32> =
                    outer.iter().map(|&g| if g == 2 { NO_GROUP } else { 0 }).collect();
                outermost.iter_mut().zip(&outer).for_each(|(o, g)| {
                    if *g == 2 {
                        *o = 1
                    }
                });
                groups.extend([inner, outer, outermost]);
                let drop = random.random_range(0..4);
                if drop < 3 {
                    groups.remove(drop);
                }
                if random.random::<bool>() {
                    groups.reverse();
                }
            }
            Shape::Two => {
                groups.push(partition(random, 3, 0.1));
                groups.push(partition(random, 3, 0.1));
                if random.random::<bool>() {
                    // nested in the second
                    let finer = groups[1].clone();
                    groups.push(
                        finer
                            .iter()
                            .map(|&g| if g == NO_GROUP { g } else { 2 * g + random.random_range(0..2) })
                            .collect(),
                    );
                }
            }
            Shape::Three => (0..3).for_each(|_| groups.push(partition(random, 3, 0.1))),
        }
        let families = groups
            .into_iter()
            .map(|group| {
                let count = group.iter().filter(|g| **g != NO_GROUP).max().map_or(1, |g| *g as usize + 1);
                let floor = |random: &mut Random| {
                    if random.random::<f64>() < strict.floor { random.random_range(1..3) } else { 0 }
                };
                let cap = |random: &mut Random| {
                    if random.random::<f64>() < strict.cap {
                        random.random_range(usize::from(strict.must < 0.2)..4)
                    } else {
                        usize::MAX
                    }
                };
                Family {
                    at_least: (0..count).map(|_| floor(random)).collect(),
                    at_most: (0..count).map(|_| cap(random)).collect(),
                    group,
                }
            })
            .collect();
        let cost = with_cost.then(|| {
            let of: Vec<f64> = (0..n).map(|_| f64::from(random.random_range(0..5u32))).collect();
            (of, f64::from(random.random_range(1..12u32)))
        });
        Self {
            value,
            key: (0..n).map(|_| random.random()).collect(),
            must: (0..n).map(|_| random.random::<f64>() < strict.must).collect(),
            places: random.random_range(if strict.must > 0.2 { 0..=n } else { n / 3..=n }),
            fill: random.random(),
            families,
            cost,
        }
    }

    /// The same people in another order: who was at `order[i]` is at i.
    pub fn shuffled(&self, order: &[usize]) -> Self {
        let mut other = self.clone();
        for (i, &from) in order.iter().enumerate() {
            (other.value[i], other.key[i], other.must[i]) =
                (self.value[from], self.key[from], self.must[from]);
            for (family, before) in other.families.iter_mut().zip(&self.families) {
                family.group[i] = before.group[from];
            }
            if let (Some((of, _)), Some((before, _))) = (&mut other.cost, &self.cost) {
                of[i] = before[from];
            }
        }
        other
    }

    /// The places of each group of each family on a list.
    pub fn loads(&self, is_on: impl Fn(usize) -> bool) -> Vec<Vec<usize>> {
        let load = |family: &Family| {
            let mut load = vec![0; family.at_least.len()];
            let people = family.group.iter().enumerate().filter(|(i, g)| **g != NO_GROUP && is_on(*i));
            people.for_each(|(_, g)| load[*g as usize] += 1);
            load
        };
        self.families.iter().map(load).collect()
    }

    pub fn is_kept(&self, is_on: impl Fn(usize) -> bool + Copy) -> bool {
        let people = 0..self.value.len();
        let loads = self.loads(is_on);
        let within = self.families.iter().zip(&loads).all(|(family, load)| {
            (0..load.len()).all(|g| load[g] >= family.at_least[g] && load[g] <= family.at_most[g])
        });
        let spent: f64 = self
            .cost
            .as_ref()
            .map_or(0.0, |(of, _)| people.clone().filter(|i| is_on(*i)).map(|i| of[i]).sum());
        within
            && people.clone().filter(|i| is_on(*i)).count() <= self.places
            && people.clone().all(|i| is_on(i) || !self.must[i])
            && self.cost.as_ref().is_none_or(|(_, most)| spent <= *most)
    }

    pub fn value_of(&self, is_on: impl Fn(usize) -> bool) -> f64 {
        (0..self.value.len()).filter(|i| is_on(*i)).map(|i| self.value[i]).sum()
    }

    /// The places filled and the value of the best list, by trying all.
    pub fn best(&self) -> Option<(usize, f64)> {
        let mut best: Option<(usize, f64)> = None;
        for list in 0..1u32 << self.value.len() {
            let is_on = |i: usize| list >> i & 1 == 1;
            if !self.is_kept(is_on) {
                continue;
            }
            let found = (list.count_ones() as usize, self.value_of(is_on));
            let is_better = |old: &(usize, f64)| match self.fill {
                true => found.0 > old.0 || found.0 == old.0 && found.1 > old.1,
                false => found.1 > old.1,
            };
            if best.as_ref().is_none_or(is_better) {
                best = Some(found);
            }
        }
        best
    }
}
