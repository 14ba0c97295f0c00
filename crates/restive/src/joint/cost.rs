//! What a joint problem costs, before any of it is made.
//!
//! One *sweep* takes the expectation of a vector over all joint actions: P_a is a product of arms, so it is applied arm by arm, M
//! multiply-adds per joint state, and joint actions that begin alike share their beginning (`tree`). With E edges of that
//! tree a sweep takes 2·M·M^N·E operations, and C(N, K) exponentials per joint state where the maximum is soft. A dense matrix
//! per joint action would take 2·M^(2N)·C(N, K).

use super::Planner;
use crate::error::{Error, Result};

/// Sweeps of one implicit gradient step, the last of which costs three: 25 to 65 at γ = 0.99 on the published domain, and more for arms
/// that forget their states slowly.
const IMPLICIT: f64 = 70.0;
/// Vectors beside those of the joint actions: a basis of the linear solver and some more.
const VECTORS: f64 = 48.0;
/// Operations of one exponential.
const EXPONENTIAL: f64 = 30.0;

/// The sizes of a joint problem. Numbers are `f64` because they may be beyond any machine.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Cost {
    /// M^N
    pub joint_states: f64,
    /// C(N, K)
    pub joint_actions: f64,
    /// E, edges of the tree of joint actions
    pub edges: f64,
    /// memory of one gradient step
    pub bytes: f64,
    /// operations of one sweep
    pub sweep: f64,
    arms: usize,
    states: usize,
    budget: usize,
}

/// What a joint problem may cost.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Limit {
    /// memory, in bytes
    pub bytes: f64,
    /// operations of one gradient step
    pub operations: f64,
}

impl Default for Limit {
    /// 4 GB, and 10¹² operations: some minutes of one core.
    fn default() -> Self {
        Self { bytes: 4e9, operations: 1e12 }
    }
}

impl Cost {
    /// Of N arms with M states and K pulls.
    ///
    /// ```
    /// use restive::joint::Cost;
    ///
    /// let cost = Cost::new(20, 2, 3);
    /// assert_eq!((cost.joint_states, cost.joint_actions), (1048576.0, 1140.0));
    /// assert!(cost.edges < 20.0 * 1140.0 / 3.0); // beginnings are shared
    /// ```
    pub fn new(arms: usize, states: usize, budget: usize) -> Self {
        let joint_states = (states as f64).powf(arms as f64);
        let joint_actions = choose(arms, budget);
        let mut edges = 0.0;
        for level in 1..=arms {
            for pulls in budget.saturating_sub(arms - level)..=budget.min(level) {
                edges += choose(level, pulls);
            }
        }
        let bytes = 8.0 * joint_states * (3.0 * joint_actions + 2.0 * arms as f64 + VECTORS);
        let sweep = joint_states * (2.0 * states as f64 * edges + EXPONENTIAL * joint_actions);
        Self { joint_states, joint_actions, edges, bytes, sweep, arms, states, budget }
    }

    /// Operations of one gradient step. The backward pass costs three sweeps where the forward pass costs one.
    pub fn step(&self, planner: Planner) -> f64 {
        match planner {
            Planner::Implicit => IMPLICIT * self.sweep,
            Planner::Unrolled { sweeps } => 4.0 * sweeps as f64 * self.sweep,
        }
    }

    /// Refuses what does not fit in memory.
    pub fn check(&self, limit: &Limit) -> Result<()> {
        self.refuse(self.bytes, limit.bytes, "bytes of memory")
    }

    /// Refuses a gradient step that does not fit in memory (the tape of unrolled sweeps counts) or time.
    pub fn check_step(&self, planner: Planner, limit: &Limit) -> Result<()> {
        let tape = match planner {
            Planner::Implicit => 0.0,
            Planner::Unrolled { sweeps } => 8.0 * sweeps as f64 * self.joint_states,
        };
        self.refuse(self.bytes + tape, limit.bytes, "bytes of memory")?;
        self.refuse(self.step(planner), limit.operations, "operations per gradient step")
    }

    fn refuse(&self, needed: f64, limit: f64, unit: &'static str) -> Result<()> {
        if needed <= limit {
            return Ok(());
        }
        let what = format!(
            "joint problem of {} arms with {} states and {} pulls ({:.1e} joint states, {:.1e} joint actions)",
            self.arms, self.states, self.budget, self.joint_states, self.joint_actions
        );
        Err(Error::TooLarge { what, needed, limit, unit })
    }
}

/// C(n, k)
fn choose(n: usize, k: usize) -> f64 {
    if k > n {
        return 0.0;
    }
    // exact while it is below 2⁵³: every partial product is a binomial coefficient
    (0..k.min(n - k)).fold(1.0, |c, i| c * (n - i) as f64 / (i + 1) as f64)
}
