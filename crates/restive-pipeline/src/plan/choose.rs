//! Who gets a place under the rules, with which probability, and what each rule costs.
//!
//! Places go to those for whom a pull is worth most, as far as the rules allow ([`restive::allocation`]); a share of them may be kept for a
//! draw by lot among all others who may be called, so that later somebody can tell what calls do. Ties and draws are decided by a keyed
//! hash of seed, period and id, the same wherever it is computed.
//!
//! **What a rule costs** is what the list without it would be worth more: every rule is taken away in turn, and places are dealt again.
//! Draws are left aside there, and priced on their own: what the places that are drawn are expected to bring less than places by rank.
//!
//! Those who were drawn stand anywhere on the list, by their hash, and not at its end: where a list is not worked through, they must not
//! be the ones who are left.

use super::asked::PlanAsked;
use super::candidates::{Candidates, WRONG_NUMBER};
use super::row::Chosen;
use crate::error::{Error, Result};
use crate::rules::Rules;
use crate::rules::condition::Value;
use crate::rules::people::Known;
use crate::words::counted;
use rayon::prelude::*;
use restive::allocation::{
    Allocation, Conflict, Cost, Draw, Family, Inclusion, NO_GROUP, Problem, Refusal, RuleRef, allocate, draw,
    tie_key,
};
use restive_tables::show;
use serde::Serialize;
use std::collections::HashMap;

/// How many places there are, and how many of them are drawn.
pub(crate) struct Places {
    pub(crate) budget: usize,
    pub(crate) explore: usize,
}

impl Places {
    /// As asked, as the rules say, or as the study does.
    pub(crate) fn new(asked: &PlanAsked, study: usize) -> Self {
        let budget = asked.budget.or(asked.rules.budget).unwrap_or(study);
        let share = asked.explore.or(asked.rules.explore).unwrap_or(0.0);
        let explore = (share * budget as f64).round() as usize;
        // a share is never nothing
        let explore = if share > 0.0 { explore.max(1).min(budget) } else { 0 };
        Self { budget, explore }
    }
}

/// How probabilities of being on the list were found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case", tag = "found")]
pub enum Chance {
    /// by formula
    Exact,
    /// by dealing places so many times
    Simulated {
        /// deals
        repetitions: usize,
    },
}

impl Chance {
    /// Of two instances.
    pub(super) fn and(self, other: Self) -> Self {
        match (self, other) {
            (Chance::Exact, other) | (other, Chance::Exact) => other,
            (Chance::Simulated { repetitions: a }, Chance::Simulated { repetitions: b }) => {
                Chance::Simulated { repetitions: a.min(b) }
            }
        }
    }

    /// In a few words.
    pub fn words(self) -> String {
        match self {
            Chance::Exact => "exact".into(),
            Chance::Simulated { repetitions } => format!("by {} simulated deals", repetitions),
        }
    }
}

/// What a rule does, and what it costs.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RulePrice {
    /// in a few words
    pub rule: String,
    /// people whom it keeps out, where it is of that kind
    #[serde(skip_serializing_if = "Option::is_none")]
    pub keeps_out: Option<usize>,
    /// what the list would be worth more without it, in expected reward over the steps ahead; where people are ranked by an index, which
    /// is no reward, it may be a little below 0
    pub costs: f64,
    /// whether the lists that were compared are proven to be the best: otherwise costs are rough
    pub is_rough: bool,
}

/// Adds the prices of another instance.
pub(super) fn add(all: &mut Vec<RulePrice>, more: Vec<RulePrice>) {
    if all.is_empty() {
        return all.extend(more);
    }
    for (known, more) in all.iter_mut().zip(more) {
        known.costs += more.costs;
        known.is_rough |= more.is_rough;
        if let (Some(known), Some(more)) = (&mut known.keeps_out, more.keeps_out) {
            *known += more;
        }
    }
}

/// Who got a place.
pub(crate) struct Choice {
    /// who could have had one, `[N]`
    pub(crate) is_candidate: Vec<bool>,
    /// `[N]`
    pub(crate) chosen: Vec<Chosen>,
    /// `[N]`
    pub(crate) inclusion: Vec<f64>,
    /// what decides among equals, `[N]`
    pub(crate) key: Vec<u64>,
    /// those who have one, in the order of the list
    pub(crate) listed: Vec<usize>,
    /// the score of the last one who got a place by rank; 0 where nobody did
    pub(crate) last: f64,
    /// the reward that the places are expected to add
    pub(crate) value: f64,
    pub(crate) chance: Chance,
    /// how far the places by rank may be from the best ones, in what people are ranked by; 0 where that is proven
    pub(crate) gap: f64,
    pub(crate) rules: Vec<RulePrice>,
}

/// Groups of everybody by a limit, and what messages call them.
pub(super) struct Grouped {
    pub(super) family: Family,
    /// of each group
    names: Vec<String>,
}

/// What everybody's places are dealt by.
struct Deal<'a> {
    rules: &'a Rules,
    candidates: &'a Candidates,
    score: &'a [f64],
    value: &'a [f64],
    key: Vec<u64>,
    groups: Vec<Grouped>,
    cost: Option<Vec<f64>>,
    budget: usize,
    only_beneficial: bool,
}

/// A rule that is left out to see what it costs.
#[derive(Clone, Copy, PartialEq)]
enum Without {
    Nothing,
    KeepingOut(usize),
    Limit(usize),
    Must,
    Cost,
}

impl Choice {
    pub(crate) fn new(
        asked: &PlanAsked,
        places: &Places,
        known: &Known<'_>,
        candidates: &Candidates,
        score: &[f64],
        value: &[f64],
        period: &str,
    ) -> Result<Self> {
        let (rules, arms) = (&asked.rules, &known.there.arms);
        let n = arms.len();
        let deal = Deal {
            rules,
            candidates,
            score,
            value,
            key: arms.iter().map(|arm| tie_key(asked.seed, period, arm)).collect(),
            groups: groups(rules, known)?,
            cost: costs(rules, known)?,
            budget: places.budget,
            only_beneficial: asked.only_beneficial,
        };
        let among = deal.among(Without::Nothing);
        let drawn = deal.problem(&among, Without::Nothing, |problem| {
            let asked =
                Draw { explore: places.explore, is_reserved: true, is_given_ranks: true, ..Draw::default() };
            draw(problem, &asked)
        });
        let drawn = drawn.map_err(|refused| deal.refused(refused, &among, known))?;
        let mut choice = Self {
            is_candidate: vec![false; n],
            chosen: vec![Chosen::No; n],
            inclusion: vec![0.0; n],
            key: Vec::new(),
            listed: Vec::new(),
            last: 0.0,
            value: 0.0,
            chance: match drawn.inclusion {
                Inclusion::Exact => Chance::Exact,
                Inclusion::Simulated { repetitions } => Chance::Simulated { repetitions },
            },
            gap: drawn.allocation.gap,
            rules: Vec::new(),
        };
        for (c, &i) in among.iter().enumerate() {
            choice.is_candidate[i] = true;
            choice.inclusion[i] = drawn.probability[c];
            choice.value += drawn.probability[c] * value[i];
            choice.chosen[i] = match (drawn.allocation.chosen[c], drawn.by_lot[c]) {
                (false, _) => Chosen::No,
                (true, true) => Chosen::Draw,
                (true, false) if candidates.must[i] => Chosen::Must,
                (true, false) => Chosen::Rank,
            };
        }
        choice.order(&deal);
        let drawn = choice.chosen.iter().filter(|chosen| **chosen == Chosen::Draw).count();
        choice.rules = deal.prices(drawn, choice.value)?;
        choice.key = deal.key;
        Ok(choice)
    }

    /// The order of the list: by score, with those who were drawn anywhere between them.
    fn order(&mut self, deal: &Deal<'_>) {
        let of = |wanted: fn(Chosen) -> bool| -> Vec<usize> {
            (0..self.chosen.len()).filter(|i| wanted(self.chosen[*i])).collect()
        };
        let mut ranked = of(|chosen| matches!(chosen, Chosen::Rank | Chosen::Must));
        ranked.sort_by(|a, b| {
            let by_score = deal.score[*b].partial_cmp(&deal.score[*a]).expect("scores are numbers");
            by_score.then_with(|| deal.key[*a].cmp(&deal.key[*b]))
        });
        let mut by_rank = ranked.iter().filter(|i| self.chosen[**i] == Chosen::Rank);
        self.last = by_rank.next_back().map_or(0.0, |i| deal.score[*i]);
        let count = ranked.len() as f64;
        let place = |(k, i): (usize, usize)| ((k as f64 + 0.5) / count, i);
        let mut places: Vec<(f64, usize)> = ranked.into_iter().enumerate().map(place).collect();
        // the upper 53 bits of the hash, as a share of the list
        let lot = |i: usize| (deal.key[i] >> 11) as f64 / (1u64 << 53) as f64;
        places.extend(of(|chosen| chosen == Chosen::Draw).into_iter().map(|i| (lot(i), i)));
        places.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        self.listed = places.into_iter().map(|(_, i)| i).collect();
    }
}

impl Deal<'_> {
    /// Who may have a place if a rule were not there.
    fn among(&self, without: Without) -> Vec<usize> {
        let may = |i: usize| match without {
            Without::KeepingOut(rule) => self.candidates.may_without(i, rule),
            _ => self.candidates.may(i),
        };
        let pays = |i: usize| !self.only_beneficial || self.score[i] > 0.0 || self.candidates.must[i];
        (0..self.score.len()).filter(|i| may(*i) && pays(*i)).collect()
    }

    /// Deals places among some people.
    fn problem<T>(
        &self,
        among: &[usize],
        without: Without,
        solve: impl FnOnce(&Problem<'_>) -> std::result::Result<T, Refusal>,
    ) -> std::result::Result<T, Refusal> {
        let of = |all: &[f64]| -> Vec<f64> { among.iter().map(|i| all[*i]).collect() };
        let value = of(self.score);
        let key: Vec<u64> = among.iter().map(|i| self.key[*i]).collect();
        let must: Vec<bool> =
            among.iter().map(|i| self.candidates.must[*i] && without != Without::Must).collect();
        let kept = |k: &usize| without != Without::Limit(*k);
        let families: Vec<Family> = (0..self.groups.len())
            .filter(kept)
            .map(|k| {
                let family = &self.groups[k].family;
                Family { group: among.iter().map(|i| family.group[*i]).collect(), ..family.clone() }
            })
            .collect();
        let cost = self.cost.as_deref().filter(|_| without != Without::Cost).map(of);
        let most = self.rules.cost.as_ref().map_or(0.0, |cost| cost.at_most);
        solve(&Problem {
            value: &value,
            key: &key,
            must: &must,
            places: self.budget,
            fill: true,
            families: &families,
            cost: cost.as_deref().map(|of| Cost { of, most }),
        })
    }

    /// What the places by rank are worth without a rule.
    fn worth(&self, without: Without) -> std::result::Result<(f64, bool), Refusal> {
        let among = self.among(without);
        let Allocation { chosen, gap, .. } = self.problem(&among, without, allocate)?;
        let worth = among.iter().zip(chosen).filter(|(_, chosen)| *chosen).map(|(i, _)| self.value[*i]).sum();
        Ok((worth, gap > 0.0))
    }

    /// What each rule costs; `expected` is what the list with its draws is worth.
    fn prices(&self, drawn: usize, expected: f64) -> Result<Vec<RulePrice>> {
        let keeping = (0..self.candidates.rules.len()).map(Without::KeepingOut);
        let limits = (0..self.groups.len()).map(Without::Limit);
        let must = (!self.rules.must_call.is_empty()).then_some(Without::Must);
        let cost = self.cost.is_some().then_some(Without::Cost);
        let all: Vec<Without> = keeping.chain(limits).chain(must).chain(cost).collect();
        // the rule that holds unless another is written is not said to be there where it keeps nobody out
        let is_idle = |rule: &Without| match rule {
            Without::KeepingOut(k) => {
                self.candidates.kept_out(*k) == 0 && self.candidates.rules[*k] == WRONG_NUMBER
            }
            _ => false,
        };
        let all: Vec<Without> = all.into_iter().filter(|rule| !is_idle(rule)).collect();
        if all.is_empty() && drawn == 0 {
            return Ok(Vec::new());
        }
        let (with_all, is_rough) = self.worth(Without::Nothing).map_err(unexpected)?;
        let price = |without: &Without| -> Result<RulePrice> {
            let (worth, is_rough_without) = self.worth(*without).map_err(unexpected)?;
            let costs = worth - with_all;
            let (rule, keeps_out) = match *without {
                Without::KeepingOut(k) => {
                    (format!("leave out: {}", self.candidates.rules[k]), Some(self.candidates.kept_out(k)))
                }
                Without::Limit(k) => (self.rules.limits[k].words(), None),
                Without::Must => (format!("must call {}", self.rules.must_call.len()), None),
                Without::Cost => {
                    let most = self.rules.cost.as_ref().map_or(0.0, |cost| cost.at_most);
                    (format!("cost at most {most}"), None)
                }
                Without::Nothing => unreachable!("every price is of a rule"),
            };
            Ok(RulePrice { rule, keeps_out, costs: costs + 0.0, is_rough: is_rough || is_rough_without })
        };
        let mut prices: Vec<RulePrice> = all.par_iter().map(price).collect::<Result<_>>()?;
        if drawn > 0 {
            let rule = format!("{} drawn by lot", counted(drawn as u64, "place"));
            prices.push(RulePrice { rule, keeps_out: None, costs: with_all - expected, is_rough });
        }
        Ok(prices)
    }

    /// Why places cannot be dealt, in words.
    fn refused(&self, refused: Refusal, among: &[usize], known: &Known<'_>) -> Error {
        let path = show::path(self.rules.path());
        let Conflict { rules, missing, .. } = match refused {
            Refusal::Conflict(conflict) => conflict,
            Refusal::Data(error) => return error.into(),
        };
        let name = |rule: &RuleRef| match rule {
            RuleRef::Places => format!("budget {}", self.budget),
            RuleRef::AtLeast { family, group } => self.bound(*family, *group, true),
            RuleRef::AtMost { family, group } => self.bound(*family, *group, false),
            RuleRef::Must { people } => {
                let names: Vec<String> =
                    people.iter().map(|person| show::name(&known.there.arms[among[*person]])).collect();
                format!("must_call {}", names.join(", "))
            }
            RuleRef::Cost => {
                let most = self.rules.cost.as_ref().map_or(0.0, |cost| cost.at_most);
                format!("cost at most {most}")
            }
        };
        let all: Vec<String> = rules.iter().map(name).collect();
        let missing = counted(missing as u64, "place");
        Error::Data(
            format!(
                "{path}: found rules that cannot all be met: {}; over all rules {missing} missing, expected rules that leave enough",
                all.join("; ")
            )
            .into(),
        )
    }

    fn bound(&self, family: usize, group: usize, is_floor: bool) -> String {
        let Grouped { family: of, names } = &self.groups[family];
        let by = show::name(&self.rules.limits[family].by);
        let (word, bound) = match is_floor {
            true => ("at least", of.at_least[group]),
            false => ("at most", of.at_most[group]),
        };
        format!("{by} {}: {word} {bound}", show::name(&names[group]))
    }
}

/// Fewer rules can be met where all can, but for a programme too large to say so.
fn unexpected(refused: Refusal) -> Error {
    match refused {
        Refusal::Data(error) => error.into(),
        Refusal::Conflict(_) => {
            Error::Data("rules: found that all can be met and fewer cannot, expected both".into())
        }
    }
}

/// The groups of every limit.
pub(super) fn groups(rules: &Rules, known: &Known<'_>) -> Result<Vec<Grouped>> {
    let one = |limit: &crate::rules::Limit| {
        let place = known.find(rules, limit.at, &limit.by)?;
        let mut names: Vec<String> = Vec::new();
        let mut numbers: HashMap<String, u32> = HashMap::new();
        let mut group = Vec::with_capacity(known.there.arms.len());
        for i in 0..known.there.arms.len() {
            let value = known.value(place, i);
            if value == Value::Missing {
                group.push(NO_GROUP);
                continue;
            }
            let name = value.to_string();
            let next = names.len() as u32;
            let number = *numbers.entry(name.clone()).or_insert(next);
            if number == next {
                names.push(name);
            }
            group.push(number);
        }
        let named = limit.at_least.named.keys().chain(limit.at_most.named.keys());
        if let Some(unknown) = named.into_iter().find(|name| !numbers.contains_key(*name)) {
            let some: Vec<String> = names.iter().take(8).map(|name| show::name(name)).collect();
            let found = format!(
                "limit by {}: found nobody with {}, expected a value such as {}",
                show::name(&limit.by),
                show::name(unknown),
                some.join(", ")
            );
            return Err(rules.fault(limit.at, found));
        }
        let at_least = names.iter().map(|name| limit.at_least.of(name).unwrap_or(0)).collect();
        let at_most = names.iter().map(|name| limit.at_most.of(name).unwrap_or(usize::MAX)).collect();
        Ok(Grouped { family: Family { group, at_least, at_most }, names })
    };
    rules.limits.iter().map(one).collect()
}

/// What a call to each person costs.
pub(super) fn costs(rules: &Rules, known: &Known<'_>) -> Result<Option<Vec<f64>>> {
    let Some(cost) = &rules.cost else { return Ok(None) };
    let n = known.there.arms.len();
    let Some(column) = &cost.column else { return Ok(Some(vec![cost.each; n])) };
    let place = known.find(rules, cost.at, column)?;
    let one = |i: usize| match known.value(place, i) {
        Value::Number(x) if x >= 0.0 => Ok(x),
        other => {
            let found = match other {
                Value::Missing => "nothing".into(),
                other => show::quoted_name(&other.to_string()),
            };
            let (column, arm) = (show::name(column), show::name(&known.there.arms[i]));
            let said =
                format!("cost: column {column}: found {found} for {arm}, expected a number of at least 0");
            Err(rules.fault(cost.at, said))
        }
    };
    (0..n).map(one).collect::<Result<_>>().map(Some)
}
