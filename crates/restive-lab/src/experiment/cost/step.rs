//! A step as in the textbook: the published objective, with the indices of [`bisection`] and its linear systems.
//!
//! The library trains by exact indices only. Here the same chain is put together from its public pieces with the paper's contender in
//! the place of the index; a test holds its gradient to that of the library.

use ndarray::{Array2, ArrayView3, s};
use restive::Instance;
use restive::evaluation::{Decisions, Propensity, RatioUpTo, Record, cwpdis, known_states};
use restive::index::bisection;
use restive::policy::soft_top_k::soft_top_k_many;
use restive::predictor::Predictor;
use restive::training::Decision;

/// An instance with what all steps share.
pub(crate) struct BisectionStep<'a> {
    instance: &'a Instance,
    record: Record,
    decisions: Decisions,
    /// `[J·H,N]`
    states: Array2<u16>,
}

impl<'a> BisectionStep<'a> {
    /// Of several trajectories, whose states are seen.
    pub(crate) fn new(instance: &'a Instance, decision: &Decision) -> restive::Result<Self> {
        let log = instance.trajectories();
        let propensity = Propensity::new(log, decision.behaviour, instance.budget())?;
        let decisions = Decisions::new(log, instance.reward(), &propensity);
        let (j, h, n) = decisions.dim();
        let states = known_states(log, instance.observation());
        let states = states.slice(s![.., ..h, ..]).as_standard_layout().into_owned();
        let states = states.into_shape_with_order((j * h, n)).expect("J·H rows");
        Ok(Self { instance, record: Record::new(instance), decisions, states })
    }

    /// The gradient of (value_weight · CWPDIS − loss_weight · loss)/N by the parameters.
    pub(crate) fn gradient(
        &self,
        decision: &Decision,
        tolerance: bisection::Tolerance,
        predictor: &Predictor,
    ) -> Vec<f64> {
        let (instance, (j, h, n)) = (self.instance, self.decisions.dim());
        // w → P → W → π → Eval
        let forward = predictor.forward(instance.features());
        let transition = forward.transition.view();
        let reward = instance.reward().view();
        let solved = bisection::differentiable_index(transition, reward, decision.index_discount, tolerance);
        let index = solved.indices.index.view();
        let flat = index.as_slice().expect("standard layout");
        let temperature = decision.temperature.resolve(flat);
        let soft = soft_top_k_many(index, self.states.view(), instance.budget() as f64, temperature);
        let log_odds = ArrayView3::from_shape((j, h, n), soft.log_odds.as_slice().expect("standard layout"));
        let judged =
            cwpdis(&self.decisions, log_odds.expect("J·H rows"), instance.discount(), RatioUpTo::ThisStep);
        let loss = self.record.loss(transition);
        // Eval → π → W → P → w
        let d_log_odds = judged.pullback(1.0).d_log_odds.into_shape_with_order((j * h, n)).expect("J·H rows");
        let mut d = soft.pullback(d_log_odds.view());
        let d_flat = d.d_index.as_slice_mut().expect("standard layout");
        decision.temperature.pullback_into(d.d_temperature, flat, d_flat);
        d.d_index *= decision.value_weight / n as f64;
        let d_transition = solved.pullback(d.d_index.view()).d_transition
            + loss.pullback(-decision.loss_weight / n as f64).d_transition;
        forward.pullback(d_transition.view()).d_params
    }
}

#[cfg(test)]
mod tests {
    use super::super::random_instance;
    use super::*;
    use restive::training::{Config, DecisionFocused};

    #[test]
    fn both_roads_give_one_gradient() {
        for (n, m) in [(20, 2), (12, 4)] {
            let instance = random_instance(n, m, 3).unwrap();
            let decision = Decision::published(9);
            let data = std::slice::from_ref(&instance);
            let training =
                DecisionFocused::new(Config::published(), decision.clone(), None, data, &[]).unwrap();
            let fast = training.objective(training.predictor(), 0, 0).gradient;
            let step = BisectionStep::new(&instance, &decision).unwrap();
            let slow = step.gradient(&decision, bisection::Tolerance::default(), training.predictor());
            let scale = fast.iter().fold(0.0f64, |a, d| a.max(d.abs()));
            assert!(scale > 0.0);
            for (a, b) in fast.iter().zip(&slow) {
                // the systems give the index to rounding where the right equations were selected
                assert!((a - b).abs() < 1e-9 * scale, "{m} states: {a} and {b} of {scale}");
            }
        }
    }
}
