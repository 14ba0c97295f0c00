//! Random programmes of every kind, owned, and their arms written out as plain tables.

use crate::arms::{Kind, Random, reward, transitions};
use ndarray::{Array2, Array3, Array4, Axis};
use rand::RngExt;
use restive::belief::{Belief, Motion, beliefs};
use restive::planning::{Ending, Programme};
use restive::{Reward, RewardView};
use std::ops::Range;

pub struct Owned {
    pub transition: Array4<f64>,
    /// where states are seen at pulls only
    pub belief: Option<Belief>,
    /// `[N,L,2]`
    pub reward: Array3<f64>,
    pub discount: f64,
    pub horizon: usize,
    pub ending: Ending,
    pub group: Option<Vec<usize>>,
    pub budget: Vec<f64>,
    pub presence: Option<Vec<Range<usize>>>,
    /// `[N,L]`
    pub initial: Array2<f64>,
}

impl Owned {
    /// N two- or M-state arms with one budget and a reward R(s) that all share.
    pub fn plain(n: usize, m: usize, horizon: usize, budget: f64, random: &mut Random) -> Self {
        let transition = transitions(Kind::Dense, n, m, random);
        let shared = Reward::linear(m);
        let reward = Array3::from_shape_fn((n, m, 2), |(_, s, a)| shared.view()[[s, a]]);
        let initial = masses(n, m, random);
        let (ending, budget) = (Ending::Nothing, vec![budget]);
        let (belief, group, presence) = (None, None, None);
        Self { transition, belief, reward, discount: 0.99, horizon, ending, group, budget, presence, initial }
    }

    /// Anything: states or labels, R(s) or R(s, a), groups or none, arms that come and go.
    pub fn any(random: &mut Random) -> Self {
        let (n, m, horizon) =
            (random.random_range(2..5), random.random_range(2..4), random.random_range(1..6));
        let mut made = Self::plain(n, m, horizon, f64::from(random.random_range(0..3)), random);
        made.discount = [0.8, 0.99, 1.0][random.random_range(0..3)];
        let rewards = reward(m, random.random_bool(0.5), random);
        made.reward = Array3::from_shape_fn((n, m, 2), |(_, s, a)| rewards[[s, a]]);
        if n < 4 && m == 2 && random.random_bool(0.3) {
            let belief = beliefs(made.transition.view(), 2).belief;
            made.reward = belief.reward(rewards.view());
            (made.initial, made.belief) = (masses(n, 4, random), Some(belief));
        }
        if random.random_bool(0.5) {
            made.ending = Ending::State;
        }
        if random.random_bool(0.4) {
            made.group = Some((0..n).map(|_| random.random_range(0..2)).collect());
            made.budget = vec![1.0, f64::from(random.random_range(0..2))];
        }
        if random.random_bool(0.4) {
            let range = |_| random.random_range(0..horizon)..random.random_range(0..horizon + 2);
            made.presence = Some((0..n).map(range).collect());
        }
        made
    }

    pub fn programme(&self) -> Programme<'_> {
        Programme {
            motion: self.motion(),
            reward: RewardView::by_arm(self.reward.view()),
            discount: self.discount,
            horizon: self.horizon,
            ending: self.ending,
            group: self.group.as_deref(),
            budget: &self.budget,
            presence: self.presence.as_deref(),
        }
    }

    pub fn motion(&self) -> Motion<'_> {
        self.belief.as_ref().map_or(self.transition.view().into(), Motion::from)
    }

    /// `[N,L,2,L]`, whatever moves.
    pub fn explicit(&self) -> Array4<f64> {
        let Some(belief) = &self.belief else { return self.transition.clone() };
        let arms: Vec<_> = (0..belief.arms()).map(|i| belief.explicit(i)).collect();
        ndarray::concatenate(Axis(0), &arms.iter().map(|arm| arm.view()).collect::<Vec<_>>()).unwrap()
    }

    pub fn group_of(&self, i: usize) -> usize {
        self.group.as_ref().map_or(0, |group| group[i])
    }

    /// The steps of arm i: from the first, before the second.
    pub fn steps(&self, i: usize) -> (usize, usize) {
        match &self.presence {
            None => (0, self.horizon),
            Some(presence) => (presence[i].start, presence[i].end.min(self.horizon)),
        }
    }

    pub fn is_here(&self, i: usize, t: usize) -> bool {
        let (from, until) = self.steps(i);
        from <= t && t < until
    }

    /// What arm i has from being in state s after its last step.
    pub fn end(&self, i: usize, s: usize) -> f64 {
        if self.ending == Ending::State { self.reward[[i, s, 0]] } else { 0.0 }
    }
}

/// `[N,M]`: some arms in a known state, the others spread.
fn masses(n: usize, m: usize, random: &mut Random) -> Array2<f64> {
    let mut mass = Array2::from_shape_simple_fn((n, m), || random.random::<f64>());
    for mut row in mass.rows_mut() {
        if random.random_bool(0.5) {
            let s = random.random_range(0..m);
            row.iter_mut().enumerate().for_each(|(k, x)| *x = if k == s { 1.0 } else { 0.0 });
        }
        row /= row.sum();
    }
    mass
}
