//! What a plan keeps of the people of an instance as they pass by: who can still have a place, counts, and sums that do not depend on the
//! order in which they came.

use super::candidates::Candidates;
use super::contender::{Cells, Contender, Contenders, Sent};
use super::here::Here;
use super::outset::{Outset, Stage};
use super::{Ahead, PolicyName};
use crate::error::Result;
use crate::rules::Rules;
use crate::rules::condition::Value;
use crate::rules::people::Known;
use ndarray::Array2;
use restive::allocation::NO_GROUP;
use restive::bytes::{Reader, Writer};
use restive::sum::ExactSum;
use restive_tables::{arm_key, show};
use std::collections::{BTreeSet, BinaryHeap, HashMap};

/// What a plan thinks of some people.
pub(crate) struct Assessed {
    /// `[N]`: what they are ranked by, where they stand; 0 where there is nothing
    pub(crate) score: Vec<f64>,
    /// `[N]`: what a pull is worth over the steps ahead, likewise
    pub(crate) value: Vec<f64>,
    /// `[N,L]`: where they are ranked by an index, in every state or label
    pub(crate) index: Option<Array2<f64>>,
    /// who may have a place
    pub(crate) candidates: Candidates,
    /// `[N]`: where those stand whom a plan can do something for
    pub(crate) counted: Vec<Option<u16>>,
    /// `[N]`: each one's part of what no policy exceeds, and of what comes without a pull
    worths: [Vec<f64>; 2],
    not_indexable: usize,
}

impl Assessed {
    /// What a plan thinks of these people, of whom `candidates` says who may have a place.
    pub(crate) fn new(
        outset: &Outset<'_>,
        stage: &Stage,
        here: &Here<'_>,
        candidates: Candidates,
    ) -> Result<Self> {
        let settings = outset.settings;
        let counted = counted(here, &candidates);
        let (mut worths, mut value) = ([Vec::new(), Vec::new()], vec![0.0; here.len()]);
        let at = |table: &Array2<f64>| -> Vec<f64> {
            let value = |(i, state): (usize, &Option<u16>)| state.map_or(0.0, |s| table[[i, usize::from(s)]]);
            here.ranked.iter().enumerate().map(value).collect()
        };
        if let Some(price) = &stage.price {
            let ahead = Ahead::at(settings, &here.transition, &counted, stage.steps, price.clone());
            value = at(&ahead.advantage());
            worths = [ahead.worths(), ahead.idle()];
        }
        let (index, not_indexable) = match outset.policy {
            PolicyName::Horizon => (None, 0),
            PolicyName::Whittle => {
                let (table, not) =
                    outset.index.table(&here.transition, &settings.reward, settings.observation)?;
                (Some(table), not)
            }
        };
        let score = index.as_ref().map_or_else(|| value.clone(), at);
        Ok(Self { score, value, index, candidates, counted, worths, not_indexable })
    }
}

/// Where those stand whom a plan can do something for.
pub(crate) fn counted(here: &Here<'_>, candidates: &Candidates) -> Vec<Option<u16>> {
    let is_callable = candidates.is_callable();
    here.ranked.iter().zip(is_callable).map(|(state, is)| state.filter(|_| is)).collect()
}

/// What is kept of the people of an instance.
pub(crate) struct Gathered {
    /// those who can still have a place
    pub(crate) contenders: Contenders,
    /// what counts of everybody
    pub(crate) tally: Tally,
    /// of those whom a plan can do something for, the smallest keys: who may stand for all in the certificate
    smallest: BinaryHeap<(u64, u32)>,
    /// how many of these are kept
    most_keys: usize,
}

/// Counts and sums over everybody of an instance.
#[derive(Debug, Clone, Default)]
pub(crate) struct Tally {
    /// people
    pub(crate) people: usize,
    /// those whom a plan can do something for
    pub(crate) counted: usize,
    pub(crate) never_observed: usize,
    pub(crate) not_indexable: usize,
    pub(crate) gone: usize,
    pub(crate) not_to_be_called: usize,
    pub(crate) unobserved: usize,
    /// Number of people who are not available at this decision; 0 for streams and partitions.
    pub(crate) unavailable: usize,
    /// people whom each rule keeps out
    pub(crate) kept_out: Vec<usize>,
    /// parts of what no policy exceeds, and of what comes without a pull
    pub(crate) worths: [ExactSum; 2],
    /// ids that the rules name, of people who are there
    pub(crate) found: BTreeSet<String>,
    /// values that limits name, of people who are there: by limit
    pub(crate) valued: BTreeSet<(usize, String)>,
}

impl Tally {
    /// Both together.
    pub(crate) fn merge(&mut self, other: Self) {
        self.people += other.people;
        self.counted += other.counted;
        self.never_observed += other.never_observed;
        self.not_indexable += other.not_indexable;
        self.gone += other.gone;
        self.not_to_be_called += other.not_to_be_called;
        self.unobserved += other.unobserved;
        self.unavailable += other.unavailable;
        self.kept_out.resize(self.kept_out.len().max(other.kept_out.len()), 0);
        self.kept_out.iter_mut().zip(other.kept_out).for_each(|(here, there)| *here += there);
        self.worths.iter_mut().zip(&other.worths).for_each(|(here, there)| here.merge(there));
        self.found.extend(other.found);
        self.valued.extend(other.valued);
    }

    pub(crate) fn write(&self, writer: &mut Writer) {
        let counts = [
            self.people,
            self.counted,
            self.never_observed,
            self.not_indexable,
            self.gone,
            self.not_to_be_called,
            self.unobserved,
            self.kept_out.len(),
        ];
        counts.iter().chain(&self.kept_out).for_each(|count| writer.count(*count));
        self.worths.iter().for_each(|sum| writer.bytes(&sum.to_bytes()));
        writer.count(self.found.len());
        self.found.iter().for_each(|id| writer.text(id));
        writer.count(self.valued.len());
        for (limit, value) in &self.valued {
            writer.count(*limit);
            writer.text(value);
        }
    }

    pub(crate) fn read(reader: &mut Reader<'_>) -> restive::Result<Self> {
        let mut tally = Self {
            people: reader.count()?,
            counted: reader.count()?,
            never_observed: reader.count()?,
            not_indexable: reader.count()?,
            gone: reader.count()?,
            not_to_be_called: reader.count()?,
            unobserved: reader.count()?,
            ..Self::default()
        };
        for _ in 0..reader.count()? {
            tally.kept_out.push(reader.count()?);
        }
        for sum in &mut tally.worths {
            let bytes = reader.bytes()?;
            *sum = ExactSum::from_bytes(bytes).ok_or_else(|| reader.refuse("a sum that is none"))?;
        }
        for _ in 0..reader.count()? {
            tally.found.insert(reader.text()?);
        }
        for _ in 0..reader.count()? {
            let limit = reader.count()?;
            tally.valued.insert((limit, reader.text()?));
        }
        Ok(tally)
    }

    /// Refuses rules that name somebody, or a value, that nobody has.
    pub(crate) fn check(&self, rules: &Rules, cells: &Cells) -> Result<()> {
        let named = [("must_call", &rules.must_call), ("never_call", &rules.never_call)];
        for (what, ids) in named {
            if let Some(id) = ids.iter().find(|id| !self.found.contains(*id)) {
                return Err(super::candidates::nobody(rules, what, id));
            }
        }
        for (k, limit) in rules.limits.iter().enumerate() {
            let mut named = limit.at_least.named.keys().chain(limit.at_most.named.keys());
            if let Some(unknown) = named.find(|name| !self.valued.contains(&(k, name.to_string()))) {
                let some: Vec<String> = cells.names(k).into_iter().take(8).map(show::name).collect();
                let found = format!(
                    "limit by {}: found nobody with {}, expected a value such as {}",
                    show::name(&limit.by),
                    show::name(unknown),
                    some.join(", ")
                );
                return Err(rules.fault(limit.at, found));
            }
        }
        Ok(())
    }
}

impl Gathered {
    /// Nobody yet.
    pub(crate) fn new(outset: &Outset<'_>) -> Self {
        let rules = &outset.asked.rules;
        let places = &outset.places;
        Self {
            contenders: Contenders::new(rules, places.budget, places.are_drawn()),
            tally: Tally::default(),
            smallest: BinaryHeap::new(),
            most_keys: super::certificate::MOST + places.budget,
        }
    }

    /// Some people pass by, whose places among those of their source are these.
    pub(crate) fn take(
        &mut self,
        outset: &Outset<'_>,
        stage: &Stage,
        here: &Here<'_>,
        assessed: &Assessed,
        places: &[u32],
    ) -> Result<()> {
        let (rules, known, candidates) = (&outset.asked.rules, &here.known, &assessed.candidates);
        let Self { contenders, tally, .. } = self;
        tally.people += here.len();
        tally.counted += assessed.counted.iter().flatten().count();
        tally.never_observed += here.is_seen.iter().filter(|is| !**is).count();
        tally.not_indexable += assessed.not_indexable;
        tally.gone += candidates.gone;
        tally.not_to_be_called += candidates.not_to_be_called;
        tally.unobserved += candidates.unobserved;
        tally.unavailable += candidates.unavailable;
        tally.kept_out.resize(candidates.rules.len(), 0);
        tally.kept_out.iter_mut().enumerate().for_each(|(k, count)| *count += candidates.kept_out(k));
        for (sum, parts) in tally.worths.iter_mut().zip(&assessed.worths) {
            parts.iter().for_each(|part| sum.add(*part));
        }
        tally.found.extend(candidates.named.iter().cloned());
        let groups = groups(contenders, &mut tally.valued, rules, known)?;
        let costs = costs(rules, known)?;
        let mut of = vec![NO_GROUP; groups.len()];
        for i in 0..here.len() {
            if assessed.counted[i].is_some() {
                self.key(arm_key(&stage.name, &known.arms[i]), places[i]);
            }
            let out_by = candidates.out_by[i];
            let is_close = candidates.is_close(i) && out_by.count_ones() <= 1;
            let must = candidates.must[i];
            let pays = !outset.asked.only_beneficial || assessed.score[i] > 0.0 || must;
            if !is_close || !pays {
                continue;
            }
            of.iter_mut().zip(&groups).for_each(|(of, groups)| *of = groups[i]);
            let cell = self.contenders.cell(&of, costs.as_ref().map_or(0.0, |costs| costs[i]));
            self.contenders.offer(Contender {
                place: places[i],
                cell,
                score: assessed.score[i],
                value: assessed.value[i],
                out_by,
                state: here.ranked[i].expect("whoever may be called has one"),
                is_seen: here.is_seen[i],
                must,
            });
        }
        Ok(())
    }

    /// To be sent: who can still have a place, counts and sums, the smallest keys.
    pub(crate) fn send(self) -> (Sent, Tally, Vec<(u64, u32)>) {
        (self.contenders.send(), self.tally, self.smallest.into_vec())
    }

    /// Takes over what another piece gathered, whose places are counted on from `first`.
    pub(crate) fn receive(
        &mut self,
        rules: &Rules,
        sent: Sent,
        tally: Tally,
        smallest: Vec<(u64, u32)>,
        first: u32,
    ) {
        self.contenders.merge(rules, sent, first);
        self.tally.merge(tally);
        smallest.into_iter().for_each(|(key, place)| self.key(key, place + first));
    }

    fn key(&mut self, key: u64, place: u32) {
        if self.smallest.len() < self.most_keys {
            self.smallest.push((key, place));
        } else if let Some(mut largest) = self.smallest.peek_mut()
            && (key, place) < *largest
        {
            *largest = (key, place);
        }
    }

    /// The people of the smallest keys among those whom a plan can do something for, smallest first.
    pub(crate) fn smallest(&self) -> Vec<u32> {
        let mut all: Vec<(u64, u32)> = self.smallest.iter().copied().collect();
        all.sort_unstable();
        all.into_iter().map(|(_, place)| place).collect()
    }
}

/// `[limits][N]`: the groups of everybody under every limit; `valued` hears of values that limits name.
pub(super) fn groups(
    contenders: &mut Contenders,
    valued: &mut BTreeSet<(usize, String)>,
    rules: &Rules,
    known: &Known<'_>,
) -> Result<Vec<Vec<u32>>> {
    let mut all = Vec::with_capacity(rules.limits.len());
    for (k, limit) in rules.limits.iter().enumerate() {
        let place = known.find(rules, limit.at, &limit.by)?;
        let mut numbers: HashMap<String, u32> = HashMap::new();
        let mut groups = Vec::with_capacity(known.arms.len());
        for i in 0..known.arms.len() {
            let value = known.value(place, i);
            if value == Value::Missing {
                groups.push(NO_GROUP);
                continue;
            }
            let name = value.to_string();
            groups.push(match numbers.get(&name) {
                Some(number) => *number,
                None => {
                    let number = contenders.group(rules, k, &name);
                    if [&limit.at_least, &limit.at_most].iter().any(|of| of.named.contains_key(&name)) {
                        valued.insert((k, name.clone()));
                    }
                    numbers.insert(name, number);
                    number
                }
            });
        }
        all.push(groups);
    }
    Ok(all)
}

/// What a call to each person costs.
pub(crate) fn costs(rules: &Rules, known: &Known<'_>) -> Result<Option<Vec<f64>>> {
    let Some(cost) = &rules.cost else { return Ok(None) };
    let n = known.arms.len();
    let Some(column) = &cost.column else { return Ok(Some(vec![cost.each; n])) };
    let place = known.find(rules, cost.at, column)?;
    let one = |i: usize| match known.value(place, i) {
        Value::Number(x) if x >= 0.0 => Ok(x),
        other => {
            let found = match other {
                Value::Missing => "nothing".into(),
                other => show::quoted_name(&other.to_string()),
            };
            let (column, arm) = (show::name(column), show::name(&known.arms[i]));
            let said =
                format!("cost: column {column}: found {found} for {arm}, expected a number of at least 0");
            Err(rules.fault(cost.at, said))
        }
    };
    (0..n).map(one).collect::<Result<_>>().map(Some)
}
