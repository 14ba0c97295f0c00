//! Beliefs, and the explicit Markov decision process over them.
//!
//! For tests, and for people who want to look: the kernels of this room never build it.
//!
//! ```
//! use restive::index::collapsing::belief_mdp;
//!
//! // P[state][action][next]
//! let arm = ndarray::array![[[0.9, 0.1], [0.3, 0.7]], [[0.5, 0.5], [0.2, 0.8]]];
//! let reward = ndarray::array![[0.0, 0.0], [1.0, 1.0]];
//! let (transition, reward) = belief_mdp(arm.view(), reward.view(), 3);
//! assert_eq!(transition[[0, 0, 1]], 1.0); // left alone, (0, 0) becomes (0, 1)
//! assert_eq!(transition[[0, 1, 3]], 0.7); // a pull finds state 1 with the probability of the belief
//! assert_eq!(reward[[0, 0]], 0.7);
//! ```

use ndarray::{Array1, Array2, Array3, ArrayView2, ArrayView3, s};

/// The beliefs `b(s,h) = P₁[s]·P₀ʰ` of an arm (`[M,2,M]`), `[M,T,M]`: what is believed of the state h steps after a pull that
/// found state s and moved the arm.
pub fn beliefs(arm: ArrayView3<'_, f64>, beliefs: usize) -> Array3<f64> {
    let m = arm.len_of(ndarray::Axis(0));
    assert_eq!(arm.shape(), [m, 2, m], "arm: [M,2,M]");
    assert!(beliefs > 0, "a chain has at least one belief");
    let passive: ArrayView2<'_, f64> = arm.slice(s![.., 0, ..]);
    let mut out = Array3::zeros((m, beliefs, m));
    for state in 0..m {
        let mut belief: Array1<f64> = arm.slice(s![state, 1, ..]).to_owned();
        for h in 0..beliefs {
            out.slice_mut(s![state, h, ..]).assign(&belief);
            belief = belief.dot(&passive);
        }
    }
    out
}

/// An arm (`[M,2,M]`) with reward `[M,2]` whose state is seen only at pulls, as a process over its M·T beliefs: transitions
/// `[M·T,2,M·T]` and expected rewards `[M·T,2]`, belief (s,h) at s·T + h; the last belief of a chain stays as it is.
pub fn belief_mdp(
    arm: ArrayView3<'_, f64>,
    reward: ArrayView2<'_, f64>,
    beliefs: usize,
) -> (Array3<f64>, Array2<f64>) {
    let belief = self::beliefs(arm, beliefs);
    let m = reward.nrows();
    assert_eq!(belief.shape()[0], m, "reward: [M,2]");
    let positions = m * beliefs;
    let mut transition = Array3::zeros((positions, 2, positions));
    let mut expected = Array2::zeros((positions, 2));
    for state in 0..m {
        for h in 0..beliefs {
            let u = state * beliefs + h;
            let here: ndarray::ArrayView1<'_, f64> = belief.slice(s![state, h, ..]);
            transition[[u, 0, if h + 1 < beliefs { u + 1 } else { u }]] = 1.0;
            for found in 0..m {
                transition[[u, 1, found * beliefs]] = here[found];
            }
            expected.row_mut(u).assign(&here.dot(&reward));
        }
    }
    (transition, expected)
}
