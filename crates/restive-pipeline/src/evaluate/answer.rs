//! What the evidence says, as data.

use crate::identification::Refusal;
use crate::message::Message;
use restive::evaluation::Estimate;
use restive::evidence::{Gain, Recorded};
use serde::{Deserialize, Serialize};

/// An answer, or none and why.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub enum Outcome {
    /// to both questions
    Answer(Box<EvidenceAnswer>),
    /// it would not be to be believed
    Refused {
        /// why
        #[serde(rename = "refused")]
        reason: Message,
        /// what helps
        what_to_do: Message,
    },
}

impl Outcome {
    pub(super) fn refused(reason: impl Into<Message>, what_to_do: impl Into<Message>) -> Self {
        Self::Refused { reason: reason.into(), what_to_do: what_to_do.into() }
    }
}

impl From<Refusal> for Outcome {
    fn from(Refusal { reason, what_to_do, .. }: Refusal) -> Self {
        Self::Refused { reason, what_to_do }
    }
}

/// A number with a 95 % interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Interval {
    /// the number
    pub value: f64,
    /// the lower end
    pub low: f64,
    /// the upper end
    pub high: f64,
}

impl From<Gain> for Interval {
    fn from(gain: Gain) -> Self {
        let [low, high] = gain.interval();
        Self { value: gain.value, low, high }
    }
}

impl From<Estimate> for Interval {
    fn from(Estimate { value, low, high, .. }: Estimate) -> Self {
        Self { value, low, high }
    }
}

impl Interval {
    /// In another unit.
    pub fn times(self, factor: f64) -> Self {
        Self { value: self.value * factor, low: self.low * factor, high: self.high * factor }
    }
}

/// What is known beside the evidence.
pub(crate) struct Given {
    pub unit: Option<String>,
    pub folds: Option<usize>,
    pub looks: Option<usize>,
    /// none: p by the normal law
    pub deals: Option<usize>,
    /// Whether the ranking gives all people in the same state the same number.
    pub ranks_alike: bool,
}

/// The answers. Gains are reward per 100 people over a programme of `horizon` decisions, the state after the last counted, more than
/// random pulls bring.
#[derive(Debug, Serialize)]
pub struct EvidenceAnswer {
    /// what a reward of 1 is called; none: reward
    pub unit: Option<String>,
    /// decisions of the programme
    pub horizon: usize,
    /// of later rewards
    pub discount: f64,
    /// who are judged
    pub people: usize,
    /// models of the recipe, each judged on people it never saw; none: the model itself, on people it never saw
    pub folds: Option<usize>,
    /// pulls that the answers rest on
    pub calls: usize,
    /// pulls that were logged
    pub logged_calls: usize,
    /// logged decisions
    pub decisions: usize,
    /// how pulls were made
    pub design: &'static str,
    /// Unit to which pulls are assigned, `per-person`. `None`: every decision.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub assignment: Option<&'static str>,
    /// Number of arms that change their action after their first decision, if pulls are assigned per person.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub changed: Option<usize>,
    /// Number of clusters, by which intervals are; `None` if the study declares none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub clusters: Option<usize>,
    /// what rests on recorded chances; none where the log has none that are used
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recorded: Option<RecordedAnswer>,
    /// what is taken for granted
    pub assumptions: Vec<String>,
    /// the slope of what pulls bring on the rank, over its standard error
    pub statistic: f64,
    /// that chance makes as large a slope, one-sided
    pub p: f64,
    /// how often pulls were dealt anew for p; none: by the normal law
    pub deals: Option<usize>,
    /// recipes that were judged on these people so far, this one included; none: not counted
    pub looks: Option<usize>,
    /// p times looks
    pub p_for_all_looks: Option<f64>,
    /// of the plan over random pulls
    pub gain: Interval,
    /// the same, of all judged people together
    pub total_gain: Interval,
    /// a gain that would have been found four times in five
    pub detectable: f64,
    /// what random pulls bring over none
    pub random_over_none: Interval,
    /// what the logged pulls brought over none, of all people together
    pub brought: Interval,
    /// Effect of the whole course on the sum of later rewards of a person, if pulls are assigned per person.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub course: Option<Interval>,
    /// slope of seen on predicted effects: 1 where they are as large as predicted, 0 where predictions say nothing; `None` as well if
    /// predicted effects do not differ
    #[serde(skip_serializing_if = "Option::is_none")]
    pub calibration: Option<Interval>,
    /// Whether the ranking gives all people in the same state the same number, so that it cannot be evaluated.
    #[serde(skip)]
    pub ranks_alike: bool,
    /// Whether the predicted effects of all people in the same state are equal, so that they cannot be calibrated.
    #[serde(skip)]
    pub effects_alike: bool,
    /// whether those at the top behave as the ranks say, in standard errors
    pub off_the_line: f64,
    /// the effect of a pull on the next reward by tenth of the ranking, best first
    pub deciles: Vec<Decile>,
    /// of all pulls
    pub mean_effect: Interval,
    /// policies, over random pulls
    pub policies: Vec<PolicyGain>,
}

/// What rests on chances that the log records, and whether pulls went as they were drawn.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct RecordedAnswer {
    /// decisions with recorded chances
    pub decisions: usize,
    /// pulls that the answers rest on and whose chance was recorded, above 0 and below 1
    pub calls: usize,
    /// pulls that were certain: nothing is learnt from them
    pub sure: usize,
    /// left out: listed and not pulled
    pub not_called: usize,
    /// left out: pulled and not listed
    pub unlisted: usize,
    /// left out: nobody says whether they were pulled
    pub untold: usize,
    /// the share of these three
    pub share_left_out: f64,
}

impl RecordedAnswer {
    pub(crate) fn new(found: Recorded) -> Option<Self> {
        let Recorded { decisions, calls, sure, not_called, unlisted, untold } = found;
        let share_left_out = found.share_astray();
        (decisions > 0).then_some(Self {
            decisions,
            calls,
            sure,
            not_called,
            unlisted,
            untold,
            share_left_out,
        })
    }
}

/// The effect of a pull on the next reward in a tenth of the ranking.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Decile {
    /// as ranked
    pub ranked: Interval,
    /// with people shuffled
    pub shuffled: Interval,
}

/// What a policy brings over random pulls, per 100 people.
#[derive(Debug, Clone, Serialize)]
pub struct PolicyGain {
    /// by name
    pub policy: String,
    /// over random pulls
    pub over_random: Interval,
    /// whether that is measured on the log, or simulated in the judge's world
    pub is_measured: bool,
}

impl PolicyGain {
    pub(crate) fn measured(policy: &str, over_random: Interval) -> Self {
        Self { policy: policy.into(), over_random, is_measured: true }
    }

    pub(crate) fn simulated(policy: &str, over_random: Interval) -> Self {
        Self { policy: policy.into(), over_random, is_measured: false }
    }
}
