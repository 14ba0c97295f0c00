"""Synthetic domains: arms whose truth is known.

`two-state` and `five-state` are the published ones: transitions drawn at random until a pull helps by a margin, features made
from them by a fixed random network, logs of random pulls. `collapsing` is the first with states that are seen at pulls only.
`maternal` is a synthetic health programme: people in groups, called in turn, one trajectory each.
"""

from __future__ import annotations

import secrets
from typing import Any, Literal

from restive._checked import count
from restive._instances import Instance, Instances

__all__ = ["Instance", "Instances", "generate"]


def generate(
    domain: Literal["two-state", "five-state", "collapsing", "maternal"] = "two-state",
    seed: int | None = 0,
    **sizes: Any,
) -> Instances:
    """Generates the instances of a synthetic domain; the same seed gives the same numbers, as the command line does.

    Parameters
    ----------
    domain : "two-state", "five-state", "collapsing" or "maternal"
    seed : int or None
        At least 0; None draws one, which ``.seed`` of the answer keeps.
    **sizes
        What to change. Of the first three: `instances` (10), `arms` (100), `budget` (20), `horizon` (9), `trajectories` (100),
        `states`, `margin` (0.2), `feature_noise` (0), `features_kept` (16), `discount` (0.99); of `collapsing` also `chain`
        (10 labels of each state, or "infinite" with `beliefs` labels kept). Of `maternal`: `groups` (12), `people` (639),
        `budget` (18), `weeks` (7), `discount`, `stay_disengaged`, `stay_engaged`, `baseline_spread`, `effect`,
        `effect_spread`, `explained_baseline`, `explained_effect`.

    Returns
    -------
    Instances
        A list of Instance; ``.to_study()`` makes a study of them, and ``.to_arrays()`` of that gives the arrays again.

    Examples
    --------
    >>> import restive
    >>> instances = restive.generate("two-state", seed=7, instances=2, arms=5, budget=1, trajectories=3)
    >>> instances[1].features.shape, instances[1].state.shape, instances[1].P.shape
    ((5, 16), (3, 10, 5), (5, 2, 2, 2))
    >>> instances.to_study()
    Study(2 instances, 10 arms, 6 trajectories, features: f_00, f_01, f_02, f_03, f_04, …; states 2, budget 1, horizon 9)
    """
    # other tools may read the seed, and not all of them have 64 bits
    return Instances.generated(domain, secrets.randbits(63) if seed is None else count("seed", seed), sizes)
