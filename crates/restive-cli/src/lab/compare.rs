//! Two-stage and decision-focused learning side by side, for one seed.
//!
//! A run draws the instances of a domain from its seed, deals them in order (7 to train on, 1 to validate, 2 to test on, as
//! published), trains both ways as published and as recommended, and measures all of them, random pulls and the oracle on the
//! test instances, by every [metric](crate::lab::metrics). Numbers are means over the test instances.
//!
//! Nothing here reads, writes or prints; a run is the same for every number of threads.

use crate::lab::learn;
use crate::lab::metrics::{Metric, PUBLISHED_DISCOUNT, TestInstance, mean, published_policy};
use restive::Instance;
use restive::data::domain::Domain;
use restive::data::split::{Part, Split};
use restive::evaluation::Behaviour;
use restive::policy::Policy;
use restive::predictor::Predictor;
use restive::training::{Config, Decision, Protocol, Recipe, Selected, Snapshot};

/// What is compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Method {
    /// K of N arms at random
    Random,
    /// as published
    TwoStage,
    /// as published
    DecisionFocused,
    /// to convergence, the index discount matched to the horizon
    TwoStageRecommended,
    /// the same, and through the decision where the folds say so
    DecisionFocusedRecommended,
    /// knows the true transitions
    Oracle,
}

impl Method {
    pub(crate) const ALL: [Method; 6] = [
        Method::Random,
        Method::TwoStage,
        Method::DecisionFocused,
        Method::TwoStageRecommended,
        Method::DecisionFocusedRecommended,
        Method::Oracle,
    ];

    /// The word used in tables of raw numbers.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Method::Random => "random",
            Method::TwoStage => "two-stage",
            Method::DecisionFocused => "decision-focused",
            Method::TwoStageRecommended => "two-stage-recommended",
            Method::DecisionFocusedRecommended => "decision-focused-recommended",
            Method::Oracle => "oracle",
        }
    }

    /// For people.
    pub(crate) const fn words(self) -> &'static str {
        match self {
            Method::Random => "random",
            Method::TwoStage => "two-stage, as published",
            Method::DecisionFocused => "decision-focused, as published",
            Method::TwoStageRecommended => "two-stage, recommended",
            Method::DecisionFocusedRecommended => "decision-focused, recommended",
            Method::Oracle => "oracle",
        }
    }

    /// The discount of the index with which the method is deployed.
    pub(crate) fn index_discount(self, horizon: usize) -> f64 {
        match self {
            Method::TwoStageRecommended | Method::DecisionFocusedRecommended => {
                Decision::recommended(horizon).index_discount
            }
            _ => PUBLISHED_DISCOUNT,
        }
    }
}

/// How training as published went on the test instances.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CurvePoint {
    pub(crate) epoch: usize,
    pub(crate) loss: f64,
    pub(crate) is: f64,
    pub(crate) strict_true: f64,
}

/// What becomes of a method as published when a constant is added to all of its indices.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Shifted {
    pub(crate) constant: f64,
    /// the published metric
    pub(crate) is: f64,
    /// pulls of the strict policy in the logged states that are not what they were
    pub(crate) changed: usize,
}

/// One seed.
pub(crate) struct Run {
    pub(crate) seed: u64,
    /// by method, by metric
    pub(crate) values: [[f64; 5]; 6],
    /// `strict_true` of the oracle at the recommended index discount
    pub(crate) matched_oracle: f64,
    /// of two-stage and decision-focused training as published
    pub(crate) curves: [Vec<CurvePoint>; 2],
    /// of the same two, and how many decisions there were
    pub(crate) shifted: [Vec<Shifted>; 2],
    pub(crate) decisions: usize,
    /// by method from two-stage on: all indices of the first test instance, at the published discount
    pub(crate) index: Vec<Vec<f64>>,
    /// the recommended training
    pub(crate) selected: Selected,
    /// its state at the end
    pub(crate) snapshot: Snapshot,
    pub(crate) instances: Vec<Instance>,
}

impl Run {
    pub(crate) fn value(&self, method: Method, metric: Metric) -> f64 {
        self.values[method as usize][metric as usize]
    }

    /// Where a method stands on the way from random pulls (0) to the oracle (1), as deployed.
    pub(crate) fn share(&self, method: Method) -> f64 {
        self.share_of(self.value(method, Metric::StrictTrue))
    }

    pub(crate) fn share_of(&self, strict_true: f64) -> f64 {
        let of = |method| self.value(method, Metric::StrictTrue);
        (strict_true - of(Method::Random)) / (of(Method::Oracle) - of(Method::Random))
    }
}

/// Instances in order: to train on, to validate, to test on.
pub(crate) fn parts(instances: &[Instance], seed: u64) -> restive::Result<[Vec<Instance>; 3]> {
    let arms: Vec<usize> = instances.iter().map(Instance::arms).collect();
    let split = Split::in_order(&arms, seed)?;
    Ok(Part::ALL.map(|part| split.part(part).iter().map(|group| group.select(instances)).collect()))
}

/// The recommended training of a comparison.
fn recipe(train: &[Instance], horizon: usize, seed: u64) -> Recipe {
    Recipe::new(Config { seed, ..Config::recommended(train) }, horizon)
}

/// One seed from beginning to end; `progress` hears the share that is done.
pub(crate) fn run(domain: &Domain, seed: u64, progress: impl Fn(f64)) -> restive::Result<Run> {
    let instances = domain.generate(seed)?;
    let [train, validation, test] = parts(&instances, seed)?;
    // every test instance of every seed has luck of its own
    let luck = |k: usize| seed.wrapping_mul(test.len() as u64).wrapping_add(k as u64);
    let tests = test
        .iter()
        .enumerate()
        .map(|(k, i)| TestInstance::new(i, Behaviour::Logged, luck(k)))
        .collect::<restive::Result<Vec<_>>>()?;
    let config = Config { seed, ..Config::published_in(Protocol::of_domain(domain.observation)) };
    let horizon = domain.horizon;

    let both = [&train[..], &validation[..]];
    let curve = |points: &mut Vec<CurvePoint>, epoch: usize, predictor: &Predictor| {
        points.extend(curve_point(&tests, predictor, epoch, config.epochs));
        (epoch + 1) as f64 / config.epochs as f64
    };
    let (mut two_stage_curve, mut through_curve) = (Vec::new(), Vec::new());
    let first = learn::two_stage(config.clone(), both, |epoch, predictor| {
        progress(0.1 * curve(&mut two_stage_curve, epoch, predictor));
    })?;
    let decision = Decision::published(horizon);
    let through = learn::decision_focused(config.clone(), decision, None, both, |epoch, predictor| {
        progress(0.1 + 0.2 * curve(&mut through_curve, epoch, predictor));
    })?;
    let (selected, snapshot) =
        learn::recommended(recipe(&train, horizon, seed), both, |share| progress(0.3 + 0.65 * share))?;

    let trained = [&first, &through, &selected.two_stage.predictor, &selected.fitted.predictor];
    let mut values = [[0.0; 5]; 6];
    let mut index = vec![Vec::new(); 5];
    for (k, test) in tests.iter().enumerate() {
        for method in Method::ALL {
            let discount = method.index_discount(horizon);
            let transition = match method {
                Method::Random => None,
                Method::Oracle => Some(test.truth().to_owned()),
                _ => Some(trained[method as usize - 1].predict(test.instance().features())),
            };
            let metrics = match &transition {
                None => test.blind(&Policy::Random),
                Some(transition) => test.metrics(transition.view(), discount),
            };
            let sums = &mut values[method as usize];
            sums.iter_mut().zip(metrics).for_each(|(sum, x)| *sum += x / tests.len() as f64);
            if let Some(transition) = transition.filter(|_| k == 0) {
                let table = test.index(transition.view(), PUBLISHED_DISCOUNT);
                index[method as usize - 1] = table.iter().copied().collect();
            }
        }
    }
    let matched = Method::TwoStageRecommended.index_discount(horizon);
    let matched_oracle =
        mean(&tests, |test| test.on_the_truth(&Policy::Strict(test.index(test.truth(), matched))));
    let shifted = [shift(&tests, &first), shift(&tests, &through)];
    let decisions = test.iter().map(|i| i.trajectories().trajectories() * horizon * i.arms()).sum();
    progress(1.0);
    let curves = [two_stage_curve, through_curve];
    Ok(Run { seed, values, matched_oracle, curves, shifted, decisions, index, selected, snapshot, instances })
}

/// Whether a learning curve has a point at an epoch: at every one of the first ten, at every fourth from then on, and at the last.
pub(crate) fn is_on_curve(epoch: usize, epochs: usize) -> bool {
    epoch <= 10 || epoch.is_multiple_of(4) || epoch + 1 == epochs
}

/// The metrics of a training on its way, at the epochs of a curve.
fn curve_point(
    tests: &[TestInstance<'_>],
    predictor: &Predictor,
    epoch: usize,
    epochs: usize,
) -> Option<CurvePoint> {
    if !is_on_curve(epoch, epochs) {
        return None;
    }
    let one = |test: &TestInstance<'_>| {
        let transition = predictor.predict(test.instance().features());
        let index = test.index(transition.view(), PUBLISHED_DISCOUNT);
        let is = test.is(&published_policy(index.clone()));
        [test.loss(transition.view()), is, test.on_the_truth(&Policy::Strict(index))]
    };
    let all: Vec<[f64; 3]> = tests.iter().map(one).collect();
    let mean = |k: usize| all.iter().map(|x| x[k]).sum::<f64>() / all.len() as f64;
    Some(CurvePoint { epoch, loss: mean(0), is: mean(1), strict_true: mean(2) })
}

/// Adds constants to all indices of a method, a quarter apart.
pub(crate) fn shift(tests: &[TestInstance<'_>], predictor: &Predictor) -> Vec<Shifted> {
    let tables: Vec<_> = (tests.iter())
        .map(|test| {
            let transition = predictor.predict(test.instance().features());
            let table = test.index(transition.view(), PUBLISHED_DISCOUNT);
            let pulls = test.pulls(&Policy::Strict(table.clone()));
            (test, table, pulls)
        })
        .collect();
    let one = |k: i32| {
        let constant = f64::from(k) / 4.0;
        let (mut is, mut changed) = (0.0, 0);
        for (test, table, before) in &tables {
            let moved = table + constant;
            is += test.is(&published_policy(moved.clone())) / tables.len() as f64;
            let pulls = test.pulls(&Policy::Strict(moved));
            changed += pulls.iter().zip(before).filter(|(now, was)| now != was).count();
        }
        Shifted { constant, is, changed }
    };
    (-8..=8).map(one).collect()
}
