"""Synthetic domains: arms whose truth is known.

`two-state` and `five-state` are the published ones: transitions drawn at random until a pull helps by a margin, features made
from them by a fixed random network, logs of random pulls. `collapsing` is the first with states that are seen at pulls only.
`maternal` is a synthetic health programme: people in groups, called in turn, one trajectory each.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from restive._restive import _generate, _generate_study
from restive.study import Study


@dataclass(frozen=True, eq=False)
class Instance:
    """N arms with what is known of them and what was logged: the unit of learning and planning.

    Axes: J trajectories, H decisions, N arms, M states, F features.
    """

    features: NDArray[np.float64]
    """[N,F]: what is known of the arms."""
    state: NDArray[np.int64]
    """[J,H+1,N]: logged states, -1 where unseen; labels s*chain + h where states are seen at pulls only."""
    action: NDArray[np.int8]
    """[J,H,N]: 1 for a pull, 0 passive, -1 where there was none."""
    propensity: NDArray[np.float64] | None
    """[J,H,N]: the probability of each logged action; None where it was not logged (a rota has none)."""
    reward: NDArray[np.float64] | None
    """[J,H,N]: what was earned, where that was logged (collapsing); None: `rewards` of the states."""
    rewards: NDArray[np.float64]
    """[M,2]: R(s, a)."""
    P: NDArray[np.float64]
    """[N,M,2,M]: the true transitions P(state, action, next state)."""
    budget: int
    """K, the arms that may be pulled at each step."""
    discount: float
    chain: int | None
    """Labels of each state where states are seen at pulls only; None where they are always seen."""

    def __repr__(self) -> str:
        trajectories, steps, arms = self.state.shape
        return (
            f"<restive.Instance of {arms} arms, {self.P.shape[1]} states, budget {self.budget}, "
            f"{trajectories} trajectories of {steps - 1} decisions>"
        )


class Instances(list[Instance]):
    """The instances of a synthetic domain: a list of :class:`Instance` that can become a study.

    ``domain``, ``seed`` and ``sizes`` say what was generated.
    """

    def __init__(self, domain: str, seed: int, sizes: dict[str, Any]) -> None:
        super().__init__(Instance(**parts) for parts in _generate(domain, seed, sizes))
        self.domain, self.seed, self.sizes = domain, seed, sizes

    def to_study(self) -> Study:
        """The same as a :class:`restive.Study`, with a column ``split`` and the truth: the one that ``restive generate`` writes."""
        return Study._of(_generate_study(self.domain, self.seed, self.sizes))


def generate(
    domain: Literal["two-state", "five-state", "collapsing", "maternal"] = "two-state",
    seed: int = 0,
    **sizes: Any,
) -> Instances:
    """Generates the instances of a synthetic domain; the same seed gives the same numbers, as the command line does.

    Parameters
    ----------
    domain : "two-state", "five-state", "collapsing" or "maternal"
    seed : int
        At least 0.
    **sizes
        What to change. Of the first three: `instances` (10), `arms` (100), `budget` (20), `horizon` (9), `trajectories` (100),
        `states`, `margin` (0.2), `feature_noise` (0), `features_kept` (16), `discount` (0.99); of `collapsing` also `chain`
        (10 labels of each state, or "infinite" with `beliefs` labels kept). Of `maternal`: `groups` (12), `people` (639),
        `budget` (18), `weeks` (7), `discount`, `stay_disengaged`, `stay_engaged`, `baseline_spread`, `effect`,
        `effect_spread`, `explained_baseline`, `explained_effect`.

    Returns
    -------
    Instances
        A list of Instance; ``.to_study()`` makes a study of them.

    Examples
    --------
    >>> import restive
    >>> instances = restive.generate("two-state", seed=7, instances=2, arms=5, budget=1, trajectories=3)
    >>> instances[1].features.shape, instances[1].state.shape, instances[1].P.shape
    ((5, 16), (3, 10, 5), (5, 2, 2, 2))
    >>> instances.to_study()
    Study(2 instances, 10 arms, 6 trajectories, features: f_00, f_01, f_02, f_03, f_04, …; states 2, budget 1, horizon 9)
    """
    return Instances(domain, seed, sizes)
