//! Those who can still have a place, and the cells that decide who competes with whom.
//!
//! A *cell* is what rules can tell people apart by: their group under every limit, and what a call to them costs. Of a cell that can have at
//! most m places an optimal list takes the best, so that all others can be forgotten as people pass by ([`restive::allocation::Contest`]). What a rule
//! costs is asked of lists without it, on which others may stand: each such question is a *view* of its own, with its own cells and its own
//! contest.
//!
//! | view | who is in it | cells |
//! |---|---|---|
//! | the list | who may be called | all limits, the cost |
//! | without a rule that keeps people out | whom nothing but this rule keeps out | all limits, the cost |
//! | without a limit | who may be called | the other limits, the cost |
//! | without the cost | who may be called | all limits |
//!
//! Who has to be called is never forgotten. Where places are drawn by lot nobody is who may be called: everybody has a chance.

use crate::rules::{Limit, Rules};
use restive::allocation::{Contest, Family, NO_GROUP};
use restive::bytes::{Reader, Writer};
use restive_tables::by_name;
use std::collections::HashMap;

/// Stands for every group, where a limit does not count.
const ANY: u32 = NO_GROUP - 1;

/// Somebody who can still have a place.
#[derive(Debug, Clone)]
pub(crate) struct Contender {
    /// among the people of her source
    pub(crate) place: u32,
    /// of [`Cells`]
    pub(crate) cell: u32,
    /// what people are ranked by
    pub(crate) score: f64,
    /// what a pull is worth over the steps ahead
    pub(crate) value: f64,
    /// the rules that keep her out, a bit each
    pub(crate) out_by: u64,
    /// what she is ranked by: a state, or a label
    pub(crate) state: u16,
    /// whether that was ever seen
    pub(crate) is_seen: bool,
    /// whether she has to be called
    pub(crate) must: bool,
}

/// What rules can tell people apart by.
#[derive(Debug, Clone, Default)]
pub(crate) struct Cells {
    /// of each limit, the names of groups as they were met
    names: Vec<Vec<String>>,
    numbers: Vec<HashMap<String, u32>>,
    /// groups under every limit, and the bits of the cost
    cells: Vec<(Vec<u32>, u64)>,
    /// by cost, then by groups
    known: HashMap<u64, HashMap<Vec<u32>, u32>>,
}

impl Cells {
    pub(crate) fn new(limits: usize) -> Self {
        Self { names: vec![Vec::new(); limits], numbers: vec![HashMap::new(); limits], ..Self::default() }
    }

    /// The number of a group under a limit.
    fn group(&mut self, limit: usize, name: &str) -> u32 {
        if let Some(number) = self.numbers[limit].get(name) {
            return *number;
        }
        let number = self.names[limit].len() as u32;
        self.names[limit].push(name.into());
        self.numbers[limit].insert(name.into(), number);
        number
    }

    /// The number of a cell.
    fn cell(&mut self, groups: &[u32], cost: u64) -> u32 {
        let alike = self.known.entry(cost).or_default();
        if let Some(number) = alike.get(groups) {
            return *number;
        }
        let number = self.cells.len() as u32;
        self.cells.push((groups.to_vec(), cost));
        alike.insert(groups.to_vec(), number);
        number
    }

    /// What other pieces call cells, in the words of this one: `[cells of the other]`.
    fn adopt(&mut self, other: &Self) -> Vec<u32> {
        let groups: Vec<Vec<u32>> = other
            .names
            .iter()
            .enumerate()
            .map(|(limit, names)| names.iter().map(|name| self.group(limit, name)).collect())
            .collect();
        let cell = |(of, cost): &(Vec<u32>, u64)| {
            let here: Vec<u32> = of
                .iter()
                .enumerate()
                .map(|(limit, group)| if *group >= ANY { *group } else { groups[limit][*group as usize] })
                .collect();
            self.cell(&here, *cost)
        };
        other.cells.iter().map(cell).collect()
    }

    /// The names of the groups under a limit, in their order.
    pub(crate) fn names(&self, limit: usize) -> Vec<&str> {
        let mut names: Vec<&str> = self.names[limit].iter().map(String::as_str).collect();
        names.sort_by(|a, b| by_name(a, b));
        names
    }

    /// The group of a cell under a limit, as it was met.
    pub(crate) fn group_of(&self, cell: u32, limit: usize) -> u32 {
        self.cells[cell as usize].0[limit]
    }

    /// What a call to people of a cell costs.
    pub(crate) fn cost(&self, cell: u32) -> f64 {
        f64::from_bits(self.cells[cell as usize].1)
    }

    /// The groups under every limit, numbered by their names, whatever the order in which they were met; and these names. `met` says in which
    /// group everybody is under a limit, as they were met.
    pub(crate) fn families(
        &self,
        limits: &[Limit],
        met: impl Fn(usize) -> Vec<u32>,
    ) -> Vec<(Family, Vec<String>)> {
        let family = |(k, limit): (usize, &Limit)| {
            let mut order: Vec<u32> = (0..self.names[k].len() as u32).collect();
            order.sort_by(|a, b| self.names[k][*a as usize].cmp(&self.names[k][*b as usize]));
            let mut number = vec![0; order.len()];
            order.iter().enumerate().for_each(|(rank, group)| number[*group as usize] = rank as u32);
            let names: Vec<String> =
                order.iter().map(|group| self.names[k][*group as usize].clone()).collect();
            let group = |group: u32| if group == NO_GROUP { NO_GROUP } else { number[group as usize] };
            let family = Family {
                group: met(k).into_iter().map(group).collect(),
                at_least: names.iter().map(|name| limit.at_least.of(name).unwrap_or(0)).collect(),
                at_most: names.iter().map(|name| limit.at_most.of(name).unwrap_or(usize::MAX)).collect(),
            };
            (family, names)
        };
        limits.iter().enumerate().map(family).collect()
    }
}

/// A list that is asked for: that of the plan, or one without a rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum View {
    List,
    WithoutKeepingOut(u32),
    WithoutLimit(u32),
    WithoutCost,
}

/// A view of a cell, the cell that stands for it there, and the places that it can have.
type Class = ((View, u32), usize);

/// Everybody who can still have a place, on the list or without a rule.
pub(crate) struct Contenders {
    cells: Cells,
    contest: Contest<(View, u32), Contender>,
    /// who has to be called; where places are drawn by lot, everybody who may be
    always: Vec<Contender>,
    /// of each limit, the caps of its groups
    caps: Vec<Vec<usize>>,
    /// of each cell that somebody has: the list, then the lists without a rule
    classes: HashMap<u32, Vec<Class>>,
    has_cost: bool,
    is_drawn: bool,
    places: usize,
}

/// What can be sent from one machine to another.
pub(crate) struct Sent {
    cells: Cells,
    pub(crate) people: Vec<Contender>,
}

impl Sent {
    pub(crate) fn write(&self, writer: &mut Writer) {
        for names in &self.cells.names {
            writer.count(names.len());
            names.iter().for_each(|name| writer.text(name));
        }
        writer.count(self.cells.cells.len());
        for (groups, cost) in &self.cells.cells {
            groups.iter().for_each(|group| writer.whole(u64::from(*group)));
            writer.whole(*cost);
        }
        writer.count(self.people.len());
        for one in &self.people {
            let flags = u64::from(one.is_seen) | u64::from(one.must) << 1 | u64::from(one.state) << 2;
            writer.whole(u64::from(one.place) | u64::from(one.cell) << 32);
            writer.whole(flags);
            writer.whole(one.out_by);
            writer.number(one.score);
            writer.number(one.value);
        }
    }

    /// What was written of people of so many names, under these rules.
    pub(crate) fn read(reader: &mut Reader<'_>, names: usize, rules: &Rules) -> restive::Result<Self> {
        let limits = rules.limits.len();
        let mut cells = Cells::new(limits);
        for limit in 0..limits {
            for number in 0..reader.count()? {
                let name = reader.text()?;
                if cells.group(limit, &name) as usize != number {
                    return Err(reader.refuse("a group twice"));
                }
            }
        }
        for number in 0..reader.count()? {
            let mut groups = Vec::with_capacity(limits);
            for limit in 0..limits {
                let group =
                    u32::try_from(reader.whole()?).map_err(|_| reader.refuse("a group that is none"))?;
                if group < ANY && group as usize >= cells.names[limit].len() {
                    return Err(reader.refuse("a group that is none"));
                }
                groups.push(group);
            }
            let cost = reader.whole()?;
            if cells.cell(&groups, cost) as usize != number {
                return Err(reader.refuse("a cell twice"));
            }
        }
        let mut people = Vec::new();
        for _ in 0..reader.count()? {
            let (at, flags, out_by) = (reader.whole()?, reader.whole()?, reader.whole()?);
            let (score, value) = (reader.number()?, reader.number()?);
            let (place, cell) = (at as u32, (at >> 32) as u32);
            let is_possible = (place as usize) < names && (cell as usize) < cells.cells.len();
            if !is_possible || out_by.count_ones() > 1 || flags >> 18 != 0 || score.is_nan() {
                return Err(reader.refuse("somebody who cannot be"));
            }
            let (is_seen, must, state) = (flags & 1 == 1, flags >> 1 & 1 == 1, (flags >> 2) as u16);
            people.push(Contender { place, cell, score, value, out_by, state, is_seen, must });
        }
        Ok(Self { cells, people })
    }
}

impl Contenders {
    /// For so many places; `is_drawn` where some of them are drawn by lot.
    pub(crate) fn new(rules: &Rules, places: usize, is_drawn: bool) -> Self {
        let limits = rules.limits.len();
        Self {
            cells: Cells::new(limits),
            contest: Contest::new(),
            always: Vec::new(),
            caps: vec![Vec::new(); limits],
            classes: HashMap::new(),
            has_cost: rules.cost.is_some(),
            is_drawn,
            places,
        }
    }

    /// The number of a group under a limit.
    pub(crate) fn group(&mut self, rules: &Rules, limit: usize, name: &str) -> u32 {
        let number = self.cells.group(limit, name);
        self.remember_caps(rules);
        number
    }

    fn remember_caps(&mut self, rules: &Rules) {
        for (limit, caps) in self.caps.iter_mut().enumerate() {
            let names = &self.cells.names[limit][caps.len()..];
            caps.extend(names.iter().map(|name| rules.limits[limit].at_most.of(name).unwrap_or(usize::MAX)));
        }
    }

    /// The number of a cell: the groups of its people under every limit, and what a call to them costs.
    pub(crate) fn cell(&mut self, groups: &[u32], cost: f64) -> u32 {
        self.cells.cell(groups, (cost + 0.0).to_bits())
    }

    /// Somebody passes by; at most one rule keeps her out.
    pub(crate) fn offer(&mut self, one: Contender) {
        if one.must || self.is_drawn && one.out_by == 0 {
            return self.always.push(one);
        }
        if !self.classes.contains_key(&one.cell) {
            let classes = self.classes_of(one.cell);
            self.classes.insert(one.cell, classes);
        }
        let classes = &self.classes[&one.cell];
        if one.out_by != 0 {
            let view = View::WithoutKeepingOut(one.out_by.trailing_zeros());
            return self.contest.offer((view, one.cell), classes[0].1, one.score, one);
        }
        for (class, most) in classes {
            self.contest.offer(*class, *most, one.score, one.clone());
        }
    }

    fn classes_of(&mut self, cell: u32) -> Vec<Class> {
        let (groups, cost) = self.cells.cells[cell as usize].clone();
        let mut classes = vec![((View::List, cell), self.most(&groups, None))];
        for limit in 0..groups.len() {
            let mut others = groups.clone();
            others[limit] = ANY;
            let others = self.cells.cell(&others, cost);
            classes.push(((View::WithoutLimit(limit as u32), others), self.most(&groups, Some(limit))));
        }
        if self.has_cost {
            classes.push(((View::WithoutCost, self.cells.cell(&groups, 0)), self.most(&groups, None)));
        }
        classes
    }

    /// The places that people of these groups can have, one limit left out.
    fn most(&self, groups: &[u32], without: Option<usize>) -> usize {
        let cap = |(limit, group): (usize, &u32)| match *group {
            NO_GROUP => usize::MAX,
            _ if without == Some(limit) => usize::MAX,
            group => self.caps[limit][group as usize],
        };
        groups.iter().enumerate().map(cap).min().unwrap_or(usize::MAX).min(self.places)
    }

    /// Those of another piece, whose `place` is counted on from `first`.
    pub(crate) fn merge(&mut self, rules: &Rules, sent: Sent, first: u32) {
        let cells = self.cells.adopt(&sent.cells);
        self.remember_caps(rules);
        for mut one in sent.people {
            one.cell = cells[one.cell as usize];
            one.place += first;
            self.offer(one);
        }
    }

    /// To be sent.
    pub(crate) fn send(self) -> Sent {
        let (people, cells) = self.finish();
        Sent { cells, people }
    }

    /// Everybody who is left, each once, by place, and the cells.
    pub(crate) fn finish(self) -> (Vec<Contender>, Cells) {
        let mut people = self.always;
        people.extend(self.contest.into_people().map(|(_, _, one)| one));
        people.sort_by_key(|one| one.place);
        people.dedup_by_key(|one| one.place);
        (people, self.cells)
    }
}
