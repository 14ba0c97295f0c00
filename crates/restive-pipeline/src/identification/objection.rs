//! Checks of a declared assignment against the log: whether turns were taken, how many pulls can be compared, and whether pulled people
//! differ from the others by what is known of them before the decision.

use super::Identification;
use super::assignment::design_words;
use crate::message::{Message, Opt, message};
use crate::words::{counted, grouped};
use restive::Instance;
use restive::data::encoding::Encoding;
use restive::evidence::{Design, Evidence, MOST_SCORE, Ranking};
use restive::statistics::{normal_quantile, normal_tail};
use restive_tables::{Study, show};

/// Number of pulls that can be compared, at least.
pub const LEAST_CALLS: usize = 200;
/// Share of pulls out of turn above which turns were not taken.
const OUT_OF_TURN: f64 = 0.05;
/// Remedy if no table shows what the choice looked at, as a clause.
pub(crate) const BY_LOT: &str =
    "draw a share of the places at random (explore in rules.toml), or plan a trial";

/// Reason why effects of pulls are not identified, and the remedy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// The reason, as a clause.
    pub reason: Message,
    /// The remedy, as a clause.
    pub what_to_do: Message,
    /// Whether the log could not be checked, instead of contradicting the assignment.
    pub is_unknown: bool,
}

impl Refusal {
    /// The log contradicts the declared assignment.
    pub(super) fn contradicted(reason: impl Into<Message>, what_to_do: impl Into<Message>) -> Self {
        Self { reason: reason.into(), what_to_do: what_to_do.into(), is_unknown: false }
    }

    /// The log cannot be checked.
    pub(super) fn unknown(reason: impl Into<Message>, what_to_do: impl Into<Message>) -> Self {
        Self { is_unknown: true, ..Self::contradicted(reason, what_to_do) }
    }

    /// Both reasons; the remedy of the other, or both.
    fn with(self, other: &Self, has_both_remedies: bool) -> Self {
        let reason = self.reason.and("; ").and(other.reason.clone());
        let what_to_do = match has_both_remedies {
            true => self.what_to_do.and("; ").and(other.what_to_do.clone()),
            false => other.what_to_do.clone(),
        };
        Self { reason, what_to_do, ..self }
    }

    /// As a card and results have it.
    pub fn identification(&self) -> Identification {
        let reason = self.reason.to_string();
        if self.is_unknown {
            Identification::Unknown { reason }
        } else {
            Identification::NotIdentified { reason }
        }
    }

    /// Adds the size of the sample, if not all people were read.
    pub(super) fn of_sample(self, looked_at: Option<String>) -> Self {
        match looked_at {
            None => self,
            Some(words) => Self { reason: self.reason.and(words), ..self },
        }
    }
}

/// Size of the sample in words; `None` if all people were read.
pub(super) fn looked_at_words(evidence: &Evidence, study: &Study) -> Option<String> {
    let (some, all) = (evidence.people(), study.arms().iter().sum::<usize>());
    (some < all).then(|| {
        format!(
            " (looked at {} people of {}, drawn by their names)",
            grouped(some as u64),
            grouped(all as u64)
        )
    })
}

/// The first objection to a design: to turns, to the number of pulls, or the largest to balance.
///
/// `feature` is the difference by a feature, if any, and `availability` the refusal because pulls come in runs.
pub(crate) fn objection(
    evidence: &Evidence,
    design: Design,
    ranking: Option<&Ranking>,
    feature: Option<(String, f64)>,
    availability: Option<&Refusal>,
) -> Option<Refusal> {
    let (logged, out_of_turn) = (evidence.logged_calls(), evidence.out_of_turn());
    if design == Design::Rota && out_of_turn as f64 > OUT_OF_TURN * logged as f64 {
        let turn = counted(out_of_turn as u64, "pull");
        return Some(Refusal::contradicted(
            format!("{turn} of {} out of turn: that was no rota", grouped(logged as u64)),
            message!("say how it was: ", Opt("behaviour"), " uniform or estimated"),
        ));
    }
    let calls = evidence.calls();
    if calls < LEAST_CALLS {
        let found = format!(
            "{} of people who might as well not have been pulled, with a next state that was seen; expected at least {LEAST_CALLS}",
            counted(calls as u64, "pull")
        );
        let refusal =
            Refusal::unknown(found, "go on with pulls by lot or in turn, and judge when there are more");
        // enough pulls, of people with whom nobody can be compared
        return Some(Refusal { is_unknown: logged < LEAST_CALLS, ..refusal });
    }
    let balance = evidence.balance(ranking).objection().map(|(what, score)| (what.to_string(), score));
    let largest =
        balance.into_iter().chain(feature).max_by(|one, other| one.1.abs().total_cmp(&other.1.abs()));
    let Some((what, score)) = largest else { return availability.cloned() };
    let refusal = unbalanced(design, &what, score);
    Some(match (&what[..], availability) {
        (_, None) | ("seen next states", _) => refusal,
        // turns, which runs contradict
        ("earlier calls", _) if score < 0.0 => refusal,
        (what, Some(availability)) => {
            let is_of_the_past = matches!(what, "earlier states" | "earlier calls");
            refusal.with(availability, !is_of_the_past && design != Design::Estimated)
        }
    })
}

/// The largest difference by a feature, if chance rarely makes a larger one among all features.
///
/// Turns are left out: an order that goes by a feature calls the same people in every round, so that their number does not count.
pub(super) fn feature_difference(
    evidence: &Evidence,
    design: Design,
    people: &[(&Instance, &[usize])],
    encoding: &Encoding,
) -> Option<(String, f64)> {
    if design == Design::Rota || encoding.width() == 0 {
        return None;
    }
    let most = -normal_quantile(normal_tail(MOST_SCORE) / encoding.width() as f64);
    let score = |column: usize| {
        let of = |(instance, arms): &(&Instance, &[usize])| {
            arms.iter().map(|arm| instance.features()[[*arm, column]]).collect::<Vec<_>>()
        };
        evidence.balance_by_person(&people.iter().flat_map(of).collect::<Vec<_>>())
    };
    let scores = encoding
        .columns
        .iter()
        .zip(encoding.groups())
        .flat_map(|(column, group)| group.map(move |place| (&column.name, place)));
    let (name, score) = scores
        .map(|(name, place)| (name, score(place)))
        .max_by(|one, other| one.1.abs().total_cmp(&other.1.abs()))?;
    (score.abs() > most).then(|| (format!("feature {}", show::name(name)), score))
}

fn unbalanced(design: Design, what: &str, score: f64) -> Refusal {
    let reason = format!(
        "those who were pulled differ from the others in {what} by {:.1} standard errors: they were chosen, and not {}",
        score.abs(),
        design_words(design)
    );
    let what_to_do = match (design, what) {
        (Design::Uniform, "earlier calls") if score < 0.0 => {
            message!("if everybody was pulled in turn, say ", Opt("behaviour"), " rota")
        }
        // a column of the table of arms is known at the start
        (_, "earlier states" | "earlier calls") => {
            message!(
                "the choice looked at what happened before, which no column of the table of arms can show: ",
                BY_LOT
            )
        }
        (Design::Estimated, _) => message!(
            BY_LOT,
            "; or add to the table of arms what the choice looked at, if that is known at the start"
        ),
        (_, "seen next states") => message!(
            "see why next states are missing more often of some than of others: a week that is recorded for those who were pulled only \
             tells nothing"
        ),
        _ => message!(
            "if the choice looked at states or features, say ",
            Opt("behaviour"),
            " estimated; if it looked at anything else, add it to the table of arms first"
        ),
    };
    Refusal::contradicted(reason, what_to_do)
}
