//! What is said of groups: the answer, as JSON has it. What is withheld is not there.

use restive::fairness as room;
use restive::statistics::{Mean, Proportion};
use restive_pipeline::Identification;
use serde::Serialize;

/// The corrected p-value below which a count is beyond chance.
const BEYOND: f64 = 0.05;

/// Whom lists served.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Fairness {
    /// what it is about, in a few words
    pub about: String,
    /// the plans, by their ids; none of a model and a study
    pub plans: Vec<String>,
    /// the plans of the period before, as many; none: there are not as many
    pub before: Vec<String>,
    /// what calls bring
    pub unit: String,
    /// people below which a count is withheld
    pub least: u64,
    /// groups that got fewer places than chance gives, beyond chance
    pub passed_over: Vec<Named>,
    /// a table for every column and every crossing
    pub tables: Vec<Table>,
    /// what floors cost
    pub floors: Vec<Floor>,
    /// Whether effects of calls are stated, namely the expected rewards without a call and the rewards that calls add.
    pub effects: Identification,
    /// what should be known
    pub notes: Vec<String>,
    /// the columns by which these people could be grouped
    #[serde(skip)]
    pub columns: Vec<String>,
}

/// A group by its name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Named {
    /// the column, or two of them
    pub column: String,
    /// the value
    pub group: String,
}

/// The groups of a column, or of two crossed.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Table {
    /// its name; of a crossing both, with a × between
    pub column: String,
    /// one each
    pub groups: Vec<Group>,
    /// everybody
    pub all: Group,
    /// probability of rates as unequal by chance; absent where something is withheld
    #[serde(skip_serializing_if = "Option::is_none")]
    pub p: Option<f64>,
    /// the lowest rate by the highest; absent where something is withheld
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lowest_to_highest: Option<f64>,
    /// whether something is
    pub is_withheld: bool,
}

/// One group. Parts that are withheld are absent.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Group {
    /// its name
    pub name: String,
    /// who is in it
    #[serde(skip_serializing_if = "Option::is_none")]
    pub population: Option<Population>,
    /// who was on lists
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lists: Option<Lists>,
    /// its places against chance; of places that are withheld only where that leaves them open
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verdict: Option<Verdict>,
    /// who was reached
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reach: Option<Reach>,
}

/// Who is in a group.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Population {
    /// people of the programme who have not left
    pub people: u64,
    /// of these, who could be called
    pub could: u64,
    /// the part of all people
    pub share: Option<f64>,
    /// the reward that is expected of one of them next period, left alone: the lower, the worse off; absent if effects are not stated
    #[serde(skip_serializing_if = "Option::is_none")]
    pub left_alone: Option<Estimate>,
}

/// Who of a group was on lists.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Lists {
    /// people who were, at least once
    pub people: u64,
    /// their places, over all lists
    pub places: u64,
    /// the part of all places
    pub share: Option<f64>,
    /// places by times that a call could be
    pub rate: Option<Estimate>,
    /// the rate by that of all other groups together
    pub to_others: Option<Estimate>,
    /// places that chance would have given
    pub by_chance: Option<ByChance>,
    /// what the calls are predicted to bring; absent if effects are not stated
    #[serde(skip_serializing_if = "Option::is_none")]
    pub worth: Option<f64>,
    /// the same per person who was listed
    #[serde(skip_serializing_if = "Option::is_none")]
    pub worth_each: Option<Estimate>,
    /// the rate less that of the period before
    #[serde(skip_serializing_if = "Option::is_none")]
    pub change: Option<Estimate>,
}

/// Places that chance would have given a group.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct ByChance {
    /// on average
    pub expected: f64,
    /// lower end of the 95 % range
    pub low: u64,
    /// upper end
    pub high: u64,
    /// the range as rates
    pub rates: [f64; 2],
    /// probability of a count as unlikely, corrected for the groups of the table
    pub p: f64,
    /// what that says
    pub verdict: Verdict,
}

/// A count against chance.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// beyond chance, upwards
    MoreThanChance,
    /// beyond chance, downwards
    FewerThanChance,
    /// chance does as much
    AsByChance,
}

impl Verdict {
    /// In words.
    pub fn words(self) -> &'static str {
        match self {
            Verdict::MoreThanChance => "more than chance",
            Verdict::FewerThanChance => "fewer than chance",
            Verdict::AsByChance => "as by chance",
        }
    }
}

/// Who of a group was reached.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Reach {
    /// listed people of whom an outcome is known
    pub heard: u64,
    /// people reached
    pub people: u64,
    /// times reached by times with an outcome
    pub rate: Option<Estimate>,
}

/// A number with its 95 % interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Estimate {
    /// the number
    pub value: f64,
    /// lower end
    pub low: f64,
    /// upper end
    pub high: f64,
}

/// What floors for one group cost: places of the last list, dealt anew.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Floor {
    /// the column
    pub column: String,
    /// the group
    pub group: String,
    /// whether somebody asked for it, rather than that the group was passed over
    pub is_asked: bool,
    /// its places without a floor
    pub places: usize,
    /// all places
    pub of: usize,
    /// the places that chance would give it; absent where nobody else could be called
    pub by_chance: Option<f64>,
    /// the highest floor that the rules leave room for
    pub most: usize,
    /// what the list is worth without a floor, in what it is ranked by
    pub value: f64,
    /// what that is: the unit of what calls bring, or the index
    pub unit: String,
    /// whether people are ranked by an index, which is no reward
    pub is_index: bool,
    /// rising floors
    pub steps: Vec<FloorStep>,
}

/// What one floor costs.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FloorStep {
    /// the places that the group gets at least
    pub floor: usize,
    /// the value lost
    pub lost: f64,
    /// in per cent
    pub percent: Option<f64>,
    /// places that other groups have more or fewer; those of which nothing may be told are summed, without a name
    pub change: Vec<(Option<String>, i64)>,
    /// whether both lists are proven the best
    pub is_proven: bool,
}

impl Floor {
    /// The step that gives the group what chance would, or the last one where the rules leave less; nothing where it has that anyway.
    pub fn fair(&self) -> Option<&FloorStep> {
        let wanted = self.by_chance?.round();
        let steps = self.steps.iter();
        steps
            .clone()
            .find(|step| step.floor as f64 >= wanted)
            .or(self.steps.last())
            .filter(|_| (self.places as f64) < wanted)
    }
}

impl Table {
    /// Whether outcomes of somebody are known, or withheld.
    pub fn has_reach(&self) -> bool {
        self.all.reach.as_ref().is_none_or(|reach| reach.heard > 0)
    }

    /// Whether lists of the period before are told beside these.
    pub fn has_change(&self) -> bool {
        self.groups.iter().any(|group| group.lists.as_ref().is_some_and(|lists| lists.change.is_some()))
    }

    /// Combines a printable table with the complete one. The verdict on a withheld count is stated only if at least `least` values of the
    /// count remain possible.
    pub(super) fn new(column: String, table: &room::Table, whole: &room::Table, least: u64) -> Self {
        let group = |(printed, whole): (&room::Row, &room::Row)| Group::new(printed, whole, least);
        let groups: Vec<Group> = table.rows.iter().zip(&whole.rows).map(group).collect();
        let all = Group::new(&table.total, &whole.total, least);
        let is_whole =
            |group: &Group| group.population.is_some() && group.lists.is_some() && group.reach.is_some();
        let is_withheld = !groups.iter().chain([&all]).all(is_whole);
        Self {
            column,
            is_withheld,
            groups,
            all,
            p: table.overall.map(|overall| overall.p),
            lowest_to_highest: table.lowest_to_highest,
        }
    }
}

impl Table {
    /// The table without expected effects of calls.
    pub(super) fn without_effects(mut self) -> Self {
        for group in self.groups.iter_mut().chain([&mut self.all]) {
            group.population.iter_mut().for_each(|of| of.left_alone = None);
            group.lists.iter_mut().for_each(|of| (of.worth, of.worth_each) = (None, None));
        }
        self
    }

    /// Whether the table contains expected effects of calls.
    pub fn has_effects(&self) -> bool {
        let all = self.groups.iter().chain([&self.all]);
        all.into_iter().any(|group| group.lists.as_ref().is_some_and(|of| of.worth.is_some()))
    }
}

impl Group {
    fn new(row: &room::Row, whole: &room::Row, least: u64) -> Self {
        let weeks = row.population.as_ref().map_or(0, |of| of.could_weeks);
        let chance = whole.lists.as_ref().and_then(|of| Some(ByChance::new(&of.chance?, of.weeks, weeks)));
        let is_open = |chance: &ByChance| {
            row.lists.is_some() || row.population.is_some() && chance.leaves_open(weeks) >= least
        };
        Self {
            verdict: chance.filter(is_open).map(|chance| chance.verdict),
            name: row.name.clone(),
            population: row.population.as_ref().map(|of| Population {
                people: of.people,
                could: of.could,
                share: of.share_of_people,
                left_alone: of.need.map(Estimate::from),
            }),
            lists: row.lists.as_ref().map(|of| Lists {
                people: of.people,
                places: of.weeks,
                share: of.share,
                rate: of.rate.map(Estimate::from),
                to_others: of.to_others.map(|of| Estimate { value: of.ratio, low: of.low, high: of.high }),
                by_chance: of.chance.map(|chance| ByChance::new(&chance, of.weeks, weeks)),
                worth: Some(of.benefit),
                worth_each: of.benefit_per_listed.map(Estimate::from),
                change: of.change.map(|change| change.difference).map(|of| Estimate {
                    value: of.difference,
                    low: of.low,
                    high: of.high,
                }),
            }),
            reach: row.reach.as_ref().map(|of| Reach {
                heard: of.heard,
                people: of.people,
                rate: of.rate.map(Estimate::from),
            }),
        }
    }

    /// Whether it got fewer places than chance gives.
    pub fn is_passed_over(&self) -> bool {
        self.verdict == Some(Verdict::FewerThanChance)
    }
}

impl ByChance {
    fn new(chance: &room::Chance, places: u64, could: u64) -> Self {
        let verdict = match chance.p_corrected < BEYOND {
            true if places as f64 > chance.expected => Verdict::MoreThanChance,
            true => Verdict::FewerThanChance,
            false => Verdict::AsByChance,
        };
        let rate = |count: u64| count as f64 / could.max(1) as f64;
        Self {
            expected: chance.expected,
            low: chance.low,
            high: chance.high,
            rates: [rate(chance.low), rate(chance.high)],
            p: chance.p_corrected,
            verdict,
        }
    }
}

impl ByChance {
    /// How many counts of places the verdict alone leaves possible, where there could be so many.
    fn leaves_open(&self, could: u64) -> u64 {
        match self.verdict {
            Verdict::FewerThanChance => self.low,
            Verdict::MoreThanChance => could.saturating_sub(self.high),
            Verdict::AsByChance => self.high - self.low + 1,
        }
    }
}

impl From<Proportion> for Estimate {
    fn from(of: Proportion) -> Self {
        Self { value: of.share, low: of.low, high: of.high }
    }
}

impl From<Mean> for Estimate {
    fn from(of: Mean) -> Self {
        Self { value: of.mean, low: of.low, high: of.high }
    }
}
