//! What was learnt: from how much, how well, and what moves the worth of a call.
//!
//! How well is said as a chance: that which the model gave, on average, to what people who were not learnt from did next, beside the chance that the
//! bare frequencies of moves and blind guessing gave it. Averages are geometric: exp(−loss), the loss per move being −ln P.
//!
//! What moves the worth of a call is what columns contribute to its effect ([`Reason::effect`]), in percentage points, on average over people
//! whatever the sign; for whom a call does most and least is told by groups of at least ten.

use super::groups::Groupings;
use super::source::ReportSource;
use super::words::of_people;
use restive::fairness::LEAST;
use restive_pipeline::StudyContents;
use restive_pipeline::reasons::Reason;
use serde::Serialize;
use std::collections::BTreeMap;

/// The most columns that are told of.
const MOST: usize = 4;
/// Points below which a column does not move anything.
const WORTH_SAYING: f64 = 0.5;

/// What was learnt.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Learnt {
    /// people of the study
    pub people: usize,
    /// periods with decisions
    pub periods: usize,
    /// calls
    pub calls: u64,
    /// the chance that was given to what happened next: by the model, by bare frequencies, by guessing; absent where the card does not say
    pub chance: Option<[f64; 3]>,
    /// what people's own records are worth; absent where nobody was asked
    pub record: Option<Record>,
    /// what a call does in each state
    pub by_state: Vec<ByState>,
    /// what moves the effect of a call, the most first
    pub moves: Vec<Moves>,
}

/// What people's own records are worth beside a prediction.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Record {
    /// whether plans listen to them
    pub helps: bool,
    /// why
    pub why: String,
}

/// What a call does in a state, by the model: average chances of a good state next.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ByState {
    /// what it is called
    pub state: String,
    /// who is in it, of those looked at
    pub people: usize,
    /// left alone
    pub left_alone: f64,
    /// called
    pub called: f64,
}

/// How a column moves the effect of a call.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Moves {
    /// what it is called
    pub column: String,
    /// percentage points, on average
    pub points: f64,
    /// for whom a call does most, and by how many points more than for a typical person
    pub most: (String, f64),
    /// for whom it does least
    pub least: (String, f64),
}

impl ReportSource {
    pub(super) fn learnt(&self, groupings: &Groupings, reasons: Option<&[(usize, Reason)]>) -> Learnt {
        let contents = StudyContents::new(&self.study);
        let card = &self.trained.model.card;
        let record = card.own_record.as_ref();
        let reasons = reasons.unwrap_or_default();
        Learnt {
            people: contents.arms,
            periods: contents.decision_steps,
            calls: contents.pulls,
            chance: self.chance(),
            record: record.map(|record| Record { helps: record.helps, why: of_people(&record.why) }),
            by_state: self.by_state(reasons),
            moves: moves(groupings, reasons),
        }
    }

    /// What the model gave to what happened, beside frequencies and guessing.
    fn chance(&self) -> Option<[f64; 3]> {
        let card = &self.trained.model.card;
        let chosen = card.history.members.first().and_then(|member| member.choice.as_ref());
        let by_folds = chosen.and_then(|choice| choice.loss.zip(choice.frequencies_loss));
        let loss = card.history.loss.as_ref();
        let by_validation =
            loss.and_then(|loss| loss.validation.and_then(|part| part.per_transition).zip(loss.frequencies));
        let (model, frequencies) = by_folds.or(by_validation)?;
        Some([(-model).exp(), (-frequencies).exp(), 1.0 / card.predictor.states.max(1) as f64])
    }

    fn by_state(&self, reasons: &[(usize, Reason)]) -> Vec<ByState> {
        let mut sums: BTreeMap<u16, (usize, f64, f64)> = BTreeMap::new();
        for (i, reason) in reasons {
            let sum = sums.entry(self.list.people[*i].state).or_default();
            *sum = (sum.0 + 1, sum.1 + reason.chance_left_alone.value, sum.2 + reason.chance_called.value);
        }
        let many = sums.into_iter().filter(|(_, (people, ..))| *people as u64 >= LEAST);
        many.map(|(state, (people, alone, called))| ByState {
            state: self.state(state),
            people,
            left_alone: alone / people as f64,
            called: called / people as f64,
        })
        .collect()
    }
}

/// The columns that move the effect of a call, the most first.
fn moves(groupings: &Groupings, reasons: &[(usize, Reason)]) -> Vec<Moves> {
    let Some((_, first)) = reasons.first() else { return Vec::new() };
    let mut all = Vec::new();
    for (c, contribution) in first.effect.iter().enumerate() {
        let Some(grouping) = groupings.all.iter().find(|g| g.column == contribution.column) else { continue };
        let points = |reason: &Reason| reason.effect_points(reason.effect[c].amount);
        let size = reasons.iter().map(|(_, reason)| points(reason).abs()).sum::<f64>() / reasons.len() as f64;
        let mut sums: BTreeMap<&str, (u64, f64)> = BTreeMap::new();
        for (i, reason) in reasons {
            let sum = sums.entry(grouping.name_of(*i)).or_default();
            *sum = (sum.0 + 1, sum.1 + points(reason));
        }
        let many = sums.into_iter().filter(|(_, (people, _))| *people >= LEAST);
        let means: Vec<(String, f64)> =
            many.map(|(name, (people, sum))| (name.to_string(), sum / people as f64)).collect();
        let most = means.iter().max_by(|a, b| a.1.total_cmp(&b.1));
        let least = means.iter().min_by(|a, b| a.1.total_cmp(&b.1));
        if let (Some(most), Some(least)) = (most, least)
            && most != least
            && size >= WORTH_SAYING
        {
            let (most, least) = (most.clone(), least.clone());
            all.push(Moves { column: grouping.called.clone(), points: size, most, least });
        }
    }
    all.sort_by(|a, b| b.points.total_cmp(&a.points));
    all.truncate(MOST);
    all
}
