//! What is measured.

use crate::Method;
use crate::people::{FEATURES, plain};
use std::fmt;
use std::str::FromStr;

/// Of what a number is. Features and categories are those of the maternal programme.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Metric {
    /// predictive, per trajectory
    Loss,
    /// CWPDIS of the soft policy, at the published temperature; the segmented variant where there is one trajectory
    Is,
    /// rollouts of the same soft policy on transitions counted in the test log
    Simulated,
    /// rollouts of the strict policy on the same transitions
    StrictSimulated,
    /// rollouts of the strict policy on the true transitions: what a programme would get
    StrictTrue,
    /// `is` when a constant is added to all indices
    IsShifted,
    /// strict pulls that such a constant changes
    Changed,
    /// the exact value, by dynamic programming over joint states
    Exact,
    /// whether a joint training met a plan or a gradient that was not found
    IsNotConverged,
    Seconds,
    /// how many times too large a joint problem is
    Refused,
    /// what the folds chose: 0 two-stage, 1 weak, 2 strong
    Choice,
    /// what the folds of several predictors chose: 0 hierarchical, 1 linear, 2 network, 3 network on standardised features, 4 a pool
    /// of several, 5 none but bare frequencies
    Base,
    /// how the arms' own records count, as held-out arms say: 0 not at all, 1 by carrying, 2 by the Gaussian rule
    Rule,
    /// called at least once
    People,
    /// of a pair of methods: the share of the first's people whom the second calls as well
    Both,
    /// what the plan of a ranking truly brings over random pulls, and the standard error of the rollouts that say so
    Truth,
    TruthError,
    /// the part of it that comes of whom is called among people in the same state
    TruthWithin,
    /// the same as one log says it: what is shown, along the line, by the top
    Plan,
    PlanError,
    Gain,
    GainError,
    Top,
    TopError,
    /// that chance would have found as much: by the normal law, by calls dealt anew
    PNormal,
    PRedealt,
    /// whether the called were out of balance with the others
    Objected,
    /// those that evidence rests on
    Calls,
    /// that were judged
    Groups,
    /// the gain of a ranking less that of another, and its standard error
    Less(Method),
    LessError(Method),
    /// of a unit, told in the row that ends it
    Rows,
    /// the mean of a feature over the people called
    Mean(&'static str),
    /// the share of a category among them
    Share(&'static str, &'static str),
    /// of a pair: the p-value of a feature, or of one of its categories against the others
    P(&'static str, Option<&'static str>),
}

/// Those with a word of their own.
const WORDS: [(Metric, &str); 31] = [
    (Metric::Loss, "loss"),
    (Metric::Is, "is"),
    (Metric::Simulated, "simulated"),
    (Metric::StrictSimulated, "strict_simulated"),
    (Metric::StrictTrue, "strict_true"),
    (Metric::IsShifted, "is_shifted"),
    (Metric::Changed, "changed"),
    (Metric::Exact, "exact"),
    (Metric::IsNotConverged, "is_not_converged"),
    (Metric::Seconds, "seconds"),
    (Metric::Refused, "refused"),
    (Metric::Choice, "choice"),
    (Metric::Base, "base"),
    (Metric::Rule, "rule"),
    (Metric::People, "people"),
    (Metric::Both, "both"),
    (Metric::Truth, "truth"),
    (Metric::TruthError, "truth_error"),
    (Metric::TruthWithin, "truth_within"),
    (Metric::Plan, "plan"),
    (Metric::PlanError, "plan_error"),
    (Metric::Gain, "gain"),
    (Metric::GainError, "gain_error"),
    (Metric::Top, "top"),
    (Metric::TopError, "top_error"),
    (Metric::PNormal, "p_normal"),
    (Metric::PRedealt, "p_redealt"),
    (Metric::Objected, "objected"),
    (Metric::Calls, "calls"),
    (Metric::Groups, "groups"),
    (Metric::Rows, "rows"),
];

impl Metric {
    /// What a method is worth on a test instance.
    pub(crate) const WORTH: [Metric; 5] =
        [Metric::Loss, Metric::Is, Metric::Simulated, Metric::StrictSimulated, Metric::StrictTrue];
}

impl fmt::Display for Metric {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Metric::Less(other) => write!(f, "less:{}", other.name()),
            Metric::LessError(other) => write!(f, "less_error:{}", other.name()),
            Metric::Mean(feature) => write!(f, "mean:{feature}"),
            Metric::Share(feature, category) => write!(f, "share:{feature}={}", plain(category)),
            Metric::P(feature, None) => write!(f, "p:{feature}"),
            Metric::P(feature, Some(category)) => write!(f, "p:{feature}={}", plain(category)),
            word => {
                let (_, name) = WORDS.iter().find(|(metric, _)| metric == word).expect("listed");
                f.pad(name)
            }
        }
    }
}

impl FromStr for Metric {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let of_people = || {
            let (kind, rest) = text.split_once(':')?;
            let (name, label) =
                rest.split_once('=').map_or((rest, None), |(name, label)| (name, Some(label)));
            let (feature, categories) = FEATURES.iter().find(|(feature, _)| *feature == name)?;
            let found = label.map(|label| categories.iter().find(|known| plain(known) == label));
            match (kind, found) {
                ("mean", None) => Some(Metric::Mean(feature)),
                ("share", Some(Some(category))) => Some(Metric::Share(feature, category)),
                ("p", None) => Some(Metric::P(feature, None)),
                ("p", Some(Some(category))) => Some(Metric::P(feature, Some(category))),
                _ => None,
            }
        };
        let of_two = || {
            let (kind, other) = text.split_once(':')?;
            let other = other.parse().ok()?;
            match kind {
                "less" => Some(Metric::Less(other)),
                "less_error" => Some(Metric::LessError(other)),
                _ => None,
            }
        };
        let word = WORDS.iter().find(|(_, name)| *name == text).map(|(metric, _)| *metric);
        word.or_else(of_two)
            .or_else(of_people)
            .ok_or_else(|| format!("found {text:?}, expected the name of a metric"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_metric_is_read_back_by_its_name() {
        let words = WORDS.iter().map(|(metric, _)| *metric);
        let of_features = FEATURES.iter().flat_map(|(feature, categories)| {
            let shares = categories
                .iter()
                .flat_map(|category| [Metric::Share(feature, category), Metric::P(feature, Some(category))]);
            [Metric::Mean(feature), Metric::P(feature, None)].into_iter().chain(shares)
        });
        let of_two = [Metric::Less(Method::Auto), Metric::LessError(Method::Auto)];
        let all: Vec<Metric> = words.chain(of_features).chain(of_two).collect();
        assert!(all.len() > 80);
        for metric in all {
            assert_eq!(metric.to_string().parse(), Ok(metric), "{metric}");
            assert!(!metric.to_string().contains(','));
        }
        assert!("share:income=riches".parse::<Metric>().unwrap_err().contains("riches"));
    }
}
