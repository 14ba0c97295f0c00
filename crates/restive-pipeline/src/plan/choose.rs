//! Who gets a place under the rules, with which probability, and what each rule costs.
//!
//! Places go to those for whom a pull is worth most, as far as the rules allow ([`restive::allocation`]); a share of them may be kept for a
//! draw by lot among all others who may be called, so that later somebody can tell what calls do. Ties and draws are decided by a keyed
//! hash of seed, period and id, the same wherever it is computed.
//!
//! **What a rule costs** is what the list without it would be worth more: every rule is taken away in turn, and places are dealt again.
//! Draws are left aside there, and priced on their own: what the places that are drawn are expected to bring less than places by rank.
//!
//! People drawn by lot stand at random places of the list, each set of places with the same probability: lists are worked through from the
//! top and not always to the end. Places have a [hash of their own](place_key), because the draw takes the smallest hashes of ties.
//!
//! The share that is drawn is a share of the places that can be filled under the rules: with a budget above what caps allow, it would
//! otherwise be lost.

use super::asked::{PlanAsked, PricingProgress};
use super::candidates::WRONG_NUMBER;
use super::contender::{Cells, Contender};
use super::row::{Chosen, Cut, Place};
use crate::error::{Error, Result};
use crate::rules::Rules;
use crate::words::counted;
use rayon::prelude::*;
use restive::allocation::{
    Allocation, Conflict, Cost, Draw, Family, Inclusion, Problem, Refusal, RuleRef, allocate, draw,
    place_key, tie_key,
};
use restive_tables::show;
use serde::Serialize;
use std::sync::{Mutex, PoisonError};

/// Number of places, and the share of them that is drawn.
pub(crate) struct Places {
    pub(crate) budget: usize,
    share: f64,
}

impl Places {
    /// As asked, as the rules say, or as the study does.
    pub(crate) fn new(asked: &PlanAsked, study: usize) -> Self {
        let budget = asked.budget.or(asked.rules.budget).unwrap_or(study);
        Self { budget, share: asked.explore.or(asked.rules.explore).unwrap_or(0.0) }
    }

    /// Whether places are drawn.
    pub(crate) fn are_drawn(&self) -> bool {
        self.share > 0.0
    }

    /// Number of places that are drawn, of those that can be filled; at least one if any are drawn.
    pub(crate) fn explore(&self, filled: usize) -> usize {
        match self.are_drawn() {
            true => ((self.share * filled as f64).round() as usize).max(1).min(filled),
            false => 0,
        }
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
    /// Its cost in expected effects; `None` if effects are not stated.
    #[serde(flatten)]
    pub cost: Option<RuleCost>,
}

/// Cost of a rule in expected effects.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct RuleCost {
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
        if let (Some(known), Some(more)) = (&mut known.cost, more.cost) {
            known.costs += more.costs;
            known.is_rough |= more.is_rough;
        }
        if let (Some(known), Some(more)) = (&mut known.keeps_out, more.keeps_out) {
            *known += more;
        }
    }
}

/// Who got a place, of those who could still have one.
pub(crate) struct Choice {
    /// `[N]`: whether she may have one; the others could if a rule were not there
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

/// Those who can still have a place, in the order of their names.
pub(crate) struct Among<'a> {
    pub(crate) people: &'a [Contender],
    pub(crate) cells: &'a Cells,
    /// by name, `[N]`
    pub(crate) names: &'a [&'a str],
    /// what keeps people out, in a few words, and how many each keeps out
    pub(crate) keeping_out: &'a [(String, usize)],
}

/// What everybody's places are dealt by.
struct Deal<'a> {
    rules: &'a Rules,
    among: &'a Among<'a>,
    key: Vec<u64>,
    /// of every limit, and what messages call the groups
    groups: Vec<(Family, Vec<String>)>,
    cost: Option<Vec<f64>>,
    budget: usize,
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
    pub(crate) fn new(asked: &PlanAsked, places: &Places, among: &Among<'_>, period: &str) -> Result<Self> {
        let rules = &asked.rules;
        let people = among.people;
        let n = people.len();
        let deal = Deal {
            rules,
            among,
            key: among.names.iter().map(|arm| tie_key(asked.seed, period, arm)).collect(),
            groups: among.cells.families(&rules.limits, |limit| {
                people.iter().map(|one| among.cells.group_of(one.cell, limit)).collect()
            }),
            cost: rules.cost.as_ref().map(|_| people.iter().map(|one| among.cells.cost(one.cell)).collect()),
            budget: places.budget,
        };
        let candidates = deal.candidates(Without::Nothing);
        let drawn = deal.problem(&candidates, Without::Nothing, |problem| {
            let filled = match places.are_drawn() {
                true => allocate(problem)?.places_filled,
                false => problem.places,
            };
            let explore = places.explore(filled);
            let asked = Draw { explore, is_reserved: true, is_given_ranks: true, ..Draw::default() };
            draw(&Problem { places: filled, ..*problem }, &asked)
        });
        let drawn = drawn.map_err(|refused| deal.refused(refused, &candidates))?;
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
        for (c, &i) in candidates.iter().enumerate() {
            choice.is_candidate[i] = true;
            choice.inclusion[i] = drawn.probability[c];
            choice.value += drawn.probability[c] * people[i].value;
            choice.chosen[i] = match (drawn.allocation.chosen[c], drawn.by_lot[c]) {
                (false, _) => Chosen::No,
                (true, true) => Chosen::Draw,
                (true, false) if people[i].must => Chosen::Must,
                (true, false) => Chosen::Rank,
            };
        }
        choice.order(&deal);
        let drawn = choice.chosen.iter().filter(|chosen| **chosen == Chosen::Draw).count();
        choice.rules = deal.prices(drawn, choice.value, &asked.pricing)?;
        choice.key = deal.key;
        Ok(choice)
    }

    /// Where the list ends; `is_plain` where rank alone decided.
    pub(crate) fn cut(&self, people: &[Contender], is_plain: bool) -> Cut {
        // higher scores first, then smaller keys
        let order = |a: &Place, b: &Place| b.score.total_cmp(&a.score).then(a.tie.cmp(&b.tie));
        let places = |is_one: &dyn Fn(usize) -> bool| -> Vec<Place> {
            let of = |i: usize| Place { score: people[i].score, tie: self.key[i] };
            (0..people.len()).filter(|i| is_one(*i)).map(of).collect()
        };
        let last = places(&|i| self.chosen[i] == Chosen::Rank);
        let next = places(&|i| self.is_candidate[i] && self.chosen[i] == Chosen::No);
        Cut { last: last.into_iter().max_by(order), next: next.into_iter().min_by(order), is_plain }
    }

    /// The order of the list: people drawn by lot at random places, and at the others the rest by score.
    fn order(&mut self, deal: &Deal<'_>) {
        let is_ranked = |i: usize| matches!(self.chosen[i], Chosen::Rank | Chosen::Must);
        let score = |i: usize| deal.among.people[i].score;
        let mut places: Vec<usize> =
            (0..self.chosen.len()).filter(|i| self.chosen[*i] != Chosen::No).collect();
        let mut ranked: Vec<usize> = places.iter().copied().filter(|i| is_ranked(*i)).collect();
        ranked.sort_by(|a, b| {
            let by_score = score(*b).partial_cmp(&score(*a)).expect("scores are numbers");
            by_score.then_with(|| deal.key[*a].cmp(&deal.key[*b]))
        });
        let mut by_rank = ranked.iter().filter(|i| self.chosen[**i] == Chosen::Rank);
        self.last = by_rank.next_back().map_or(0.0, |i| score(*i));
        // shuffled with the people drawn, whose places stay
        places.sort_by_key(|i| (place_key(deal.key[*i]), *i));
        let mut ranked = ranked.into_iter();
        self.listed = places
            .into_iter()
            .map(|i| if is_ranked(i) { ranked.next().expect("a place for each") } else { i })
            .collect();
    }
}

impl Deal<'_> {
    /// Who may have a place if a rule were not there.
    fn candidates(&self, without: Without) -> Vec<usize> {
        let people = self.among.people;
        let may = |i: &usize| match without {
            Without::KeepingOut(rule) => people[*i].out_by & !(1 << rule) == 0,
            _ => people[*i].out_by == 0,
        };
        (0..people.len()).filter(may).collect()
    }

    /// Deals places among some people.
    fn problem<T>(
        &self,
        among: &[usize],
        without: Without,
        solve: impl FnOnce(&Problem<'_>) -> std::result::Result<T, Refusal>,
    ) -> std::result::Result<T, Refusal> {
        let people = self.among.people;
        let value: Vec<f64> = among.iter().map(|i| people[*i].score).collect();
        let key: Vec<u64> = among.iter().map(|i| self.key[*i]).collect();
        let must: Vec<bool> = among.iter().map(|i| people[*i].must && without != Without::Must).collect();
        let kept = |k: &usize| without != Without::Limit(*k);
        let families: Vec<Family> = (0..self.groups.len())
            .filter(kept)
            .map(|k| {
                let family = &self.groups[k].0;
                Family { group: among.iter().map(|i| family.group[*i]).collect(), ..family.clone() }
            })
            .collect();
        let of = |cost: &[f64]| -> Vec<f64> { among.iter().map(|i| cost[*i]).collect() };
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
        let among = self.candidates(without);
        let Allocation { chosen, gap, .. } = self.problem(&among, without, allocate)?;
        let chosen = among.iter().zip(chosen).filter(|(_, chosen)| *chosen);
        let worth = chosen.map(|(i, _)| self.among.people[*i].value).sum();
        Ok((worth, gap > 0.0))
    }

    /// What each rule costs; `expected` is what the list with its draws is worth.
    fn prices(&self, drawn: usize, expected: f64, progress: &PricingProgress) -> Result<Vec<RulePrice>> {
        let keeping_out = self.among.keeping_out;
        let keeping = (0..keeping_out.len()).map(Without::KeepingOut);
        let limits = (0..self.groups.len()).map(Without::Limit);
        let must = (!self.rules.must_call.is_empty()).then_some(Without::Must);
        let cost = self.cost.is_some().then_some(Without::Cost);
        let all: Vec<Without> = keeping.chain(limits).chain(must).chain(cost).collect();
        // the rule that holds unless another is written is not said to be there where it keeps nobody out
        let is_idle = |rule: &Without| match rule {
            Without::KeepingOut(k) => keeping_out[*k].1 == 0 && keeping_out[*k].0 == WRONG_NUMBER,
            _ => false,
        };
        let all: Vec<Without> = all.into_iter().filter(|rule| !is_idle(rule)).collect();
        if all.is_empty() && drawn == 0 {
            return Ok(Vec::new());
        }
        let (with_all, is_rough) = self.worth(Without::Nothing).map_err(unexpected)?;
        let priced = Mutex::new(0);
        let price = |without: &Without| -> Result<RulePrice> {
            let (worth, is_rough_without) = self.worth(*without).map_err(unexpected)?;
            let mut priced = priced.lock().unwrap_or_else(PoisonError::into_inner);
            *priced += 1;
            progress.report(*priced, all.len());
            drop(priced);
            let costs = worth - with_all;
            let (rule, keeps_out) = match *without {
                Without::KeepingOut(k) => {
                    let (rule, people) = &keeping_out[k];
                    (format!("leave out: {rule}"), Some(*people))
                }
                Without::Limit(k) => (self.rules.limits[k].words(), None),
                Without::Must => (format!("must call {}", self.rules.must_call.len()), None),
                Without::Cost => {
                    let most = self.rules.cost.as_ref().map_or(0.0, |cost| cost.at_most);
                    (format!("cost at most {most}"), None)
                }
                Without::Nothing => unreachable!("every price is of a rule"),
            };
            let cost = RuleCost { costs: costs + 0.0, is_rough: is_rough || is_rough_without };
            Ok(RulePrice { rule, keeps_out, cost: Some(cost) })
        };
        let mut prices: Vec<RulePrice> = all.par_iter().map(price).collect::<Result<_>>()?;
        if drawn > 0 {
            let rule = format!("{} drawn by lot", counted(drawn as u64, "place"));
            let cost = Some(RuleCost { costs: with_all - expected, is_rough });
            prices.push(RulePrice { rule, keeps_out: None, cost });
        }
        Ok(prices)
    }

    /// Why places cannot be dealt, in words.
    fn refused(&self, refused: Refusal, among: &[usize]) -> Error {
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
                    people.iter().map(|person| show::name(self.among.names[among[*person]])).collect();
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
        let (of, names) = &self.groups[family];
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
