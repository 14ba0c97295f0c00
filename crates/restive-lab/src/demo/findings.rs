//! What the runs of a comparison show together: means over the runs with Student's intervals, paired differences, and what they
//! say in plain sentences. Every word that judges is chosen by the numbers.

use crate::compare::Comparison;
use crate::{DomainName, Method, Metric};
use restive::data::domain::Domain;
use restive::evaluation::{Covers, Estimate};
use restive::training::Choice;
use restive_report::Interval;
use restive_report::number::fixed;
use serde_json::{Value, json};

/// What is compared, in the order of tables.
pub(crate) const METHODS: [Method; 6] = [
    Method::Random,
    Method::TwoStage,
    Method::DecisionFocused,
    Method::TwoStageRecommended,
    Method::DecisionFocusedRecommended,
    Method::Oracle,
];

/// The runs, and what was run.
pub struct Findings<'a> {
    /// the domain
    pub name: DomainName,
    /// its sizes
    pub domain: &'a Domain,
    pub(crate) runs: &'a [Comparison],
    /// how many test instances a run has
    pub(crate) trials: usize,
    /// all indices of some methods in the first trial of the first run, at the published discount
    pub(crate) index: &'a [(Method, Vec<f64>)],
}

/// What a method is worth in a run.
pub(crate) fn value(run: &Comparison, method: Method, metric: Metric) -> f64 {
    let (_, worth) =
        run.worth.iter().find(|(found, _)| *found == method).expect("a method of the comparison");
    worth[Metric::WORTH.iter().position(|found| *found == metric).expect("a metric of worth")]
}

/// Where a value as deployed stands on the way from random pulls (0) to the oracle (1).
fn share(run: &Comparison, strict_true: f64) -> f64 {
    let [random, oracle] =
        [Method::Random, Method::Oracle].map(|method| value(run, method, Metric::StrictTrue));
    (strict_true - random) / (oracle - random)
}

/// The mean over runs with its interval; with a single run there is none.
pub(crate) fn over_runs(values: &[f64]) -> Interval {
    let mean = Estimate::mean(values, Covers::Rollouts);
    Interval::new(mean.value, mean.low, mean.high)
}

/// How one method stands to another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Standing {
    Ahead,
    Behind,
    /// the interval has zero inside, or there is none
    Open,
}

impl Standing {
    pub(crate) fn new(difference: Interval) -> Self {
        match difference {
            d if d.low > 0.0 => Standing::Ahead,
            d if d.high < 0.0 => Standing::Behind,
            _ => Standing::Open,
        }
    }
}

/// What a plan brings where it is deployed, in rewards of a group.
pub struct Brought {
    /// without a plan: pulls at random
    pub random: Interval,
    /// by the recommended training
    pub plan: Interval,
    /// by someone who knows the true transitions
    pub oracle: Interval,
    /// the plan above random pulls, paired by run
    pub gain: Interval,
    /// the plan on the way from random pulls to the oracle, in per cent
    pub share: Interval,
}

impl Findings<'_> {
    /// What the plan of the recommended training brings.
    pub fn brought(&self) -> Brought {
        let plan = Method::DecisionFocusedRecommended;
        let deployed = |method| self.worth(method, Metric::StrictTrue);
        Brought {
            random: deployed(Method::Random),
            plan: deployed(plan),
            oracle: deployed(Method::Oracle),
            gain: self.difference(plan, Method::Random, Metric::StrictTrue),
            share: self.share(plan),
        }
    }

    /// The trainings, and how far each goes from random pulls to the oracle where it is deployed, in per cent.
    pub fn trainings(&self) -> [(&'static str, Interval); 4] {
        let ([two_stage, through], [published, focused]) = (Method::RECOMMENDED, Method::PROFILE);
        [through, two_stage, focused, published].map(|method| (method.words(), self.share(method)))
    }

    /// How many runs there are.
    pub fn count(&self) -> usize {
        self.runs.len()
    }

    /// A metric of a method.
    pub(crate) fn worth(&self, method: Method, metric: Metric) -> Interval {
        self.over(|run| value(run, method, metric))
    }

    pub(crate) fn over(&self, number: impl Fn(&Comparison) -> f64) -> Interval {
        over_runs(&self.runs.iter().map(number).collect::<Vec<_>>())
    }

    /// The share of the way from random pulls to the oracle, in per cent.
    pub(crate) fn share(&self, method: Method) -> Interval {
        self.over(|run| 100.0 * share(run, value(run, method, Metric::StrictTrue)))
    }

    /// The same of the oracle at the recommended index discount.
    pub(crate) fn matched_oracle(&self) -> Interval {
        self.over(|run| 100.0 * share(run, run.matched_oracle))
    }

    /// Paired by run.
    pub(crate) fn difference(&self, method: Method, to: Method, metric: Metric) -> Interval {
        self.over(|run| value(run, method, metric) - value(run, to, metric))
    }

    /// How often each candidate was chosen, in the order of [`Choice::ALL`].
    pub(crate) fn chosen(&self) -> [usize; 3] {
        Choice::ALL.map(|choice| self.runs.iter().filter(|run| run.selected.verdict.choice == choice).count())
    }

    /// What the selection answered, in how many runs.
    pub(crate) fn answers(&self) -> String {
        let [two_stage, weak, strong] = self.chosen();
        let n = self.runs.len();
        let all = [(two_stage, "\"two-stage is enough\""), (weak, "\"weak\""), (strong, "\"strong\"")];
        let said: Vec<String> = (all.iter().filter(|(count, _)| *count > 0))
            .map(|(count, answer)| {
                format!("{answer} in {count} of {n} {}", if n == 1 { "run" } else { "runs" })
            })
            .collect();
        said.join(", ")
    }

    /// Ahead of or behind, by how much, and how sure that is.
    fn standing(&self, difference: Interval, decimals: usize) -> String {
        let size = |x: f64| fixed(x.abs(), decimals);
        let ends = |a: f64, b: f64| format!("[{}, {}]", fixed(a, decimals), fixed(b, decimals));
        let d = difference;
        if !d.has_ends() {
            let word = if d.value < 0.0 { "behind" } else { "ahead of" };
            return format!("{word} two-stage by {} (one run, so no interval)", size(d.value));
        }
        match Standing::new(d) {
            Standing::Ahead => format!("ahead of two-stage by {} {}", size(d.value), ends(d.low, d.high)),
            Standing::Behind => format!("behind two-stage by {} {}", size(d.value), ends(-d.high, -d.low)),
            Standing::Open => format!(
                "not distinguishable from two-stage ({}{} {})",
                if d.value > 0.0 { "+" } else { "" },
                fixed(d.value, decimals),
                ends(d.low, d.high)
            ),
        }
    }

    pub(crate) fn soft_difference(&self) -> Interval {
        self.difference(Method::DecisionFocused, Method::TwoStage, Metric::Is)
    }

    pub(crate) fn strict_difference(&self) -> Interval {
        self.difference(Method::DecisionFocused, Method::TwoStage, Metric::StrictTrue)
    }

    /// What the numbers show.
    pub(crate) fn sentences(&self) -> [String; 3] {
        let (soft, strict) = (self.soft_difference(), self.strict_difference());
        let above = self.difference(Method::DecisionFocused, Method::Oracle, Metric::Is);
        let beyond = match Standing::new(above) {
            Standing::Ahead => {
                format!(", and {} above the oracle, which knows the true transitions", fixed(above.value, 1))
            }
            _ => String::new(),
        };
        let consequence = match (Standing::new(soft), Standing::new(strict)) {
            (Standing::Ahead, Standing::Ahead) => ": here the gain survives deployment",
            (Standing::Ahead, Standing::Behind) => ": the gain is one of the metric, not of the decisions",
            (Standing::Ahead, Standing::Open) if self.runs.len() > 1 => {
                ": of the gain in the metric none shows in the decisions"
            }
            (_, Standing::Ahead) => ": the published metric does not see it",
            _ => "",
        };
        let share = |method| percent(self.share(method));
        let [two_stage, through] = Method::RECOMMENDED.map(share);
        [
            format!(
                "By the published metric (soft policy, is), decision-focused learning as published is {}{beyond}.",
                self.standing(soft, 1)
            ),
            format!(
                "Deployed, by the strict top {} on the true transitions, it is {}{consequence}.",
                self.domain.budget,
                self.standing(strict, 1)
            ),
            format!(
                "As recommended, two-stage goes {two_stage} and decision-focused {through} of the way from random to oracle \
                 (as published: {} and {}); the selection over folds answered {}.",
                share(Method::TwoStage),
                share(Method::DecisionFocused),
                self.answers()
            ),
        ]
    }

    /// The same in two sentences.
    pub(crate) fn verdict(&self) -> String {
        format!(
            "{} The recommended training goes {} of the way from random pulls to the oracle.",
            self.metric_verdict(),
            percent(self.share(Method::DecisionFocusedRecommended))
        )
    }

    /// The published metric and deployment, in one sentence.
    pub fn metric_verdict(&self) -> String {
        let by = |d: Interval| fixed(d.value.abs(), 1);
        let is_one = self.runs.len() == 1;
        let standing = |d: Interval| match (Standing::new(d), is_one) {
            (Standing::Open, true) if d.value < 0.0 => Standing::Behind,
            (Standing::Open, true) => Standing::Ahead,
            (standing, _) => standing,
        };
        let (soft, strict) = (self.soft_difference(), self.strict_difference());
        let first = match standing(soft) {
            Standing::Ahead => format!("wins the published metric by {}", by(soft)),
            Standing::Behind => format!("loses the published metric by {}", by(soft)),
            Standing::Open => "neither wins nor loses the published metric".into(),
        };
        let is_same = standing(soft) == standing(strict);
        let second = match standing(strict) {
            Standing::Ahead => format!("{} wins {} when its plan is deployed", and(is_same), by(strict)),
            Standing::Behind => format!("{} loses {} when its plan is deployed", and(is_same), by(strict)),
            Standing::Open => {
                let and = and(standing(soft) != Standing::Ahead);
                format!("{and} shows no difference beyond chance when its plan is deployed")
            }
        };
        let once = if is_one { "In this one run, decision-focused" } else { "Decision-focused" };
        format!("{once} learning as published {first} {second}.")
    }

    /// All numbers.
    pub fn json(&self) -> Value {
        let interval = |i: Interval| json!({"mean": i.value, "low": i.low, "high": i.high});
        let method = |method: Method| {
            let mut all = json!({
                "method": method.name(),
                "index_discount": method.index_discount(self.domain.horizon),
                "share_of_way_to_oracle": interval(self.over(|run| share(run, value(run, method, Metric::StrictTrue)))),
            });
            Metric::WORTH.iter().for_each(|m| all[m.to_string()] = interval(self.worth(method, *m)));
            all
        };
        let pairs = [
            (Method::DecisionFocused, Method::TwoStage),
            (Method::DecisionFocusedRecommended, Method::TwoStageRecommended),
            (Method::TwoStageRecommended, Method::TwoStage),
        ];
        let difference = |(method, to): (Method, Method)| {
            let mut all = json!({"method": method.name(), "to": to.name()});
            Metric::WORTH.iter().for_each(|m| all[m.to_string()] = interval(self.difference(method, to, *m)));
            all
        };
        let run = |run: &Comparison| {
            let mut all = json!({"seed": run.seed, "selection": run.selected.verdict.choice.name()});
            for method in METHODS {
                for metric in Metric::WORTH {
                    all["values"][method.name()][metric.to_string()] = value(run, method, metric).into();
                }
            }
            all["values"]["oracle-matched"]["strict_true"] = run.matched_oracle.into();
            all
        };
        let domain = self.domain;
        json!({
            "domain": self.name.name(),
            "sizes": {
                "states": domain.states, "instances": domain.instances, "arms": domain.arms,
                "budget": domain.budget, "horizon": domain.horizon, "trajectories": domain.trajectories,
            },
            "methods": METHODS.map(method),
            "differences": pairs.map(difference),
            "oracle_matched_share": interval(self.over(|run| share(run, run.matched_oracle))),
            "selection": Choice::ALL.iter().zip(self.chosen()).map(|(c, n)| (c.name(), n)).collect::<std::collections::BTreeMap<_, _>>(),
            "runs": self.runs.iter().map(run).collect::<Vec<_>>(),
            "findings": self.sentences(),
        })
    }
}

fn and(is_same: bool) -> &'static str {
    if is_same { "and" } else { "but" }
}

fn percent(share: Interval) -> String {
    format!("{} %", fixed(share.value, 1))
}
