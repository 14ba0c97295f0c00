//! What a batch of arms is told beside its transitions: rewards and discounts, shared by all arms or each arm's own.
//!
//! Every kernel takes either, `impl Into<Rewards>` and `impl Into<Discounts>`: a reward `[M,2]` or rewards `[N,M,2]`, a number or
//! `[N]` of them. What is shared is prepared once per thread, what is an arm's own once per arm and in the same memory, so that
//! nothing is allocated per arm.
//!
//! ```
//! use ndarray::{Array1, Array4, array};
//! use restive::index::{Algorithm, whittle_index};
//!
//! let p = Array4::from_shape_fn((2, 2, 2, 2), |(_, _, a, next)| if a == next { 0.8 } else { 0.2 });
//! let shared = array![[0.0, 0.0], [1.0, 1.0]];
//! let own = array![[[0.0, 0.0], [1.0, 1.0]], [[0.0, 0.0], [3.0, 3.0]]];
//! let one = whittle_index(p.view(), shared.view(), 0.9, Algorithm::Auto).index;
//! let two = whittle_index(p.view(), own.view(), &Array1::from_elem(2, 0.9), Algorithm::Auto).index;
//! assert_eq!(one.row(0), two.row(0));
//! assert!((two[[1, 0]] - 3.0 * one[[1, 0]]).abs() < 1e-15); // the second arm's state is worth three times as much
//! ```

use ndarray::{Array1, Array3, ArrayView1, ArrayView2, ArrayView3, CowArray, Ix1, Ix2, Ix3};

/// R(s,a) of a batch of arms.
#[derive(Debug, Clone)]
pub enum Rewards<'a> {
    /// `[M,2]`, of all arms
    Shared(CowArray<'a, f64, Ix2>),
    /// `[N,M,2]`, row-major
    PerArm(CowArray<'a, f64, Ix3>),
}

/// γ of a batch of arms.
#[derive(Debug, Clone)]
pub enum Discounts<'a> {
    /// of all arms
    Shared(f64),
    /// `[N]`, contiguous
    PerArm(CowArray<'a, f64, Ix1>),
}

impl<'a> From<ArrayView2<'a, f64>> for Rewards<'a> {
    fn from(reward: ArrayView2<'a, f64>) -> Self {
        Rewards::Shared(reward.into())
    }
}

impl<'a> From<ArrayView3<'a, f64>> for Rewards<'a> {
    /// Copied where it is not row-major.
    fn from(rewards: ArrayView3<'a, f64>) -> Self {
        Rewards::PerArm(match rewards.is_standard_layout() {
            true => rewards.into(),
            false => rewards.as_standard_layout().into_owned().into(),
        })
    }
}

impl<'a> From<&'a Array3<f64>> for Rewards<'a> {
    fn from(rewards: &'a Array3<f64>) -> Self {
        rewards.view().into()
    }
}

impl From<f64> for Discounts<'_> {
    fn from(discount: f64) -> Self {
        Discounts::Shared(discount)
    }
}

impl<'a> From<ArrayView1<'a, f64>> for Discounts<'a> {
    /// Copied where it is not contiguous.
    fn from(discounts: ArrayView1<'a, f64>) -> Self {
        Discounts::PerArm(match discounts.is_standard_layout() {
            true => discounts.into(),
            false => discounts.as_standard_layout().into_owned().into(),
        })
    }
}

impl<'a> From<&'a Array1<f64>> for Discounts<'a> {
    fn from(discounts: &'a Array1<f64>) -> Self {
        discounts.view().into()
    }
}

impl Rewards<'_> {
    /// M.
    pub fn states(&self) -> usize {
        match self {
            Rewards::Shared(reward) => reward.nrows(),
            Rewards::PerArm(rewards) => rewards.shape()[1],
        }
    }

    /// Those of arm i, `[M,2]`.
    pub fn of(&self, i: usize) -> ArrayView2<'_, f64> {
        match self {
            Rewards::Shared(reward) => reward.view(),
            Rewards::PerArm(rewards) => rewards.index_axis(ndarray::Axis(0), i),
        }
    }

    /// Every reward that there is, `[M,2]` each.
    pub(super) fn distinct(&self) -> impl Iterator<Item = ArrayView2<'_, f64>> {
        let many = match self {
            Rewards::Shared(_) => 1,
            Rewards::PerArm(rewards) => rewards.shape()[0],
        };
        (0..many).map(|i| self.of(i))
    }

    /// The same, to be looked at for as long as this is.
    pub fn borrow(&self) -> Rewards<'_> {
        match self {
            Rewards::Shared(reward) => Rewards::Shared(reward.view().into()),
            Rewards::PerArm(rewards) => Rewards::PerArm(rewards.view().into()),
        }
    }

    /// The same, to be kept for as long as one likes.
    pub fn into_owned(self) -> Rewards<'static> {
        match self {
            Rewards::Shared(reward) => Rewards::Shared(reward.into_owned().into()),
            Rewards::PerArm(rewards) => Rewards::PerArm(rewards.into_owned().into()),
        }
    }

    /// Asserts the shape for so many arms; returns M.
    pub(super) fn check(&self, arms: usize) -> usize {
        let m = self.states();
        match self {
            Rewards::Shared(reward) => assert!(m > 0 && reward.ncols() == 2, "reward: [M,2]"),
            Rewards::PerArm(rewards) => {
                assert!(m > 0 && rewards.dim() == (arms, m, 2), "reward: [N,M,2]");
            }
        }
        m
    }
}

impl Discounts<'_> {
    /// That of arm i.
    pub fn of(&self, i: usize) -> f64 {
        match self {
            Discounts::Shared(discount) => *discount,
            Discounts::PerArm(discounts) => discounts[i],
        }
    }

    /// The largest; 0 where there is no arm.
    pub fn largest(&self) -> f64 {
        match self {
            Discounts::Shared(discount) => *discount,
            Discounts::PerArm(discounts) => discounts.iter().fold(0.0, |most, g| g.max(most)),
        }
    }

    /// The same, to be looked at for as long as this is.
    pub fn borrow(&self) -> Discounts<'_> {
        match self {
            Discounts::Shared(discount) => Discounts::Shared(*discount),
            Discounts::PerArm(discounts) => Discounts::PerArm(discounts.view().into()),
        }
    }

    /// The same, to be kept for as long as one likes.
    pub fn into_owned(self) -> Discounts<'static> {
        match self {
            Discounts::Shared(discount) => Discounts::Shared(discount),
            Discounts::PerArm(discounts) => Discounts::PerArm(discounts.into_owned().into()),
        }
    }

    /// Asserts the shape for so many arms.
    pub(super) fn check(&self, arms: usize) {
        if let Discounts::PerArm(discounts) = self {
            assert_eq!(discounts.len(), arms, "discount: [N]");
        }
    }
}

/// Both together, as the loops over arms take them.
#[derive(Debug, Clone)]
pub(super) struct Inputs<'a> {
    pub(super) rewards: Rewards<'a>,
    pub(super) discounts: Discounts<'a>,
}

impl<'a> Inputs<'a> {
    pub(super) fn new(rewards: impl Into<Rewards<'a>>, discounts: impl Into<Discounts<'a>>) -> Self {
        Self { rewards: rewards.into(), discounts: discounts.into() }
    }

    /// Whether one preparation serves all arms.
    pub(super) fn is_shared(&self) -> bool {
        matches!((&self.rewards, &self.discounts), (Rewards::Shared(_), Discounts::Shared(_)))
    }

    /// Reward and discount of arm i.
    pub(super) fn of(&self, i: usize) -> (ArrayView2<'_, f64>, f64) {
        (self.rewards.of(i), self.discounts.of(i))
    }

    /// Asserts both shapes for so many arms; returns M.
    pub(super) fn check(&self, arms: usize) -> usize {
        self.discounts.check(arms);
        self.rewards.check(arms)
    }

    pub(super) fn into_owned(self) -> Inputs<'static> {
        Inputs { rewards: self.rewards.into_owned(), discounts: self.discounts.into_owned() }
    }
}
