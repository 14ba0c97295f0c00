"""Trials of an index policy: who gets which arm, what the trial found, and how large it has to be.

A policy calls few of many, so that comparing its arm with another is valid and nearly blind: most people of either arm were never
called. Since the rule is known, so is whom it *would* have called, and comparing like with like gives far shorter intervals.

Comparisons that find effects where there are none are not offered: the called before and after, the called against the others of
their arm, those ever called against those who could have been called in the first week.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from restive import _restive

__all__ = ["Analysis", "Effect", "analyse", "assign", "power"]

EstimatorName = Literal["adjusted subgroup", "subgroup", "exchange", "regression", "difference"]


@dataclass(frozen=True)
class Effect:
    """What the policy brought to all people of its arm together, with a 95 % interval.

    ``detectable`` is the effect that such a trial finds in four of five cases. ``per_call`` is there only where the control arm makes no calls.
    """

    estimate: float
    se: float
    low: float
    high: float
    detectable: float
    people: int
    called: int
    per_person_called: dict[str, float] | None = field(repr=False)
    per_call: dict[str, float] | None = field(repr=False)

    def __str__(self) -> str:
        return f"{self.estimate:.2f} [{self.low:.2f}, {self.high:.2f}]"


@dataclass(frozen=True)
class Analysis:
    """What a trial found. ``effects`` has an :class:`Effect` or the words of a refusal for every estimator, best first.

    ``primary`` is the estimator that counts: the one that the protocol named, else the first that is not refused. ``apart`` is how far
    the first is from the plain difference, in its standard errors; beyond 3 (``is_contradictory``) the record cannot be right. ``missing_p``
    is the p-value of outcomes missing differently in the two arms.
    """

    effects: dict[str, Effect | str] = field(repr=False)
    primary: str | None
    departs_from_protocol: bool
    apart: float | None
    is_contradictory: bool
    missing_p: float | None

    @property
    def effect(self) -> Effect | None:
        """What the estimator that counts says."""
        found = None if self.primary is None else self.effects[self.primary]
        return found if isinstance(found, Effect) else None

    def __str__(self) -> str:
        lines = (f"{'*' if name == self.primary else ' '} {name:<18}{found}" for name, found in self.effects.items())
        return "\n".join([repr(self), *lines])


def analyse(
    policy: Any,
    outcome: Any,
    called: Any,
    *,
    score: Any = None,
    tie: Any = None,
    control_score: Any = None,
    prognosis: Any = None,
    covariates: Any = None,
    cluster: Any = None,
    estimator: EstimatorName | None = None,
) -> Analysis:
    """What one trial found.

    ``policy`` [n] says who is in the arm of the policy, ``outcome`` [n,T] what the week after each decision brought (NaN: missing), ``called``
    [n,T] whom the rule of her arm assigned a call, answered or not. ``score`` and ``tie`` [n,T] are what the policy ranks by, of
    everybody on her own path, in both arms (NaN: could not be called that week; the higher tie goes first); without them only the regression
    and the difference answer. ``control_score`` is that of another policy in the control arm. ``prognosis`` [n,T] is the outcome that
    a model expects from week t on without calls, ``covariates`` [n,p] are numbers fixed before the trial, ``cluster`` [n] where clusters
    were assigned. ``estimator`` is the one that was named before the trial.

    >>> import numpy as np, restive.trial
    >>> found = restive.trial.analyse([1, 1, 0, 0], [[1, 1], [0, 1], [1, 0], [0, 0]], np.zeros((4, 2)))
    >>> found.primary, found.effect.estimate
    ('regression', 2.0)
    >>> found.effects["subgroup"]
    'found no full log of scores, ties and cuts, expected one of every week and both arms'
    """
    said = _restive.trial_analyse(
        policy, outcome, called, score, tie, control_score, prognosis, covariates, cluster, estimator
    )
    effects = {name: found if isinstance(found, str) else Effect(**found) for name, found in said.pop("effects").items()}
    return Analysis(effects, **said)


def assign(
    ids: Sequence[str],
    *,
    score: Any = None,
    stratum: Sequence[Any] | None = None,
    shares: Sequence[int] = (1, 1),
    seed: int = 0,
) -> np.ndarray:
    """The arm of everybody, by position in ``shares``: blocks of people alike in ``stratum`` and ``score``, dealt by a key of seed and id.

    The order of rows does not matter, arms have their sizes to within 1, and nothing is drawn again.

    >>> import restive.trial
    >>> arms = restive.trial.assign(["ada", "bo", "cy", "di"], score=[3.1, 0.2, 2.9, 0.3], seed=7)
    >>> bool(arms[0] != arms[2] and arms[1] != arms[3])  # neighbours by score are a pair
    True
    """
    n = len(ids)
    scores = np.zeros(n) if score is None else score
    strata = [""] * n if stratum is None else [str(value) for value in stratum]
    return np.array(_restive.trial_assign(list(ids), scores, strata, list(shares), seed), dtype=np.int64)


def power(
    transitions: Any,
    index: Any,
    *,
    weeks: int,
    budget: int | tuple[int, int],
    reward: Any = None,
    start: Any = None,
    control_index: Any = None,
    shares: tuple[int, int] = (1, 1),
    missing: float = 0.0,
    clusters: tuple[Sequence[int], float] | None = None,
    sizes: Sequence[float] = (1.0,),
    effects: Sequence[float] = (0.0, 1.0),
    trials: int = 200,
    seed: int = 0,
) -> list[dict[str, Any]]:
    """How large a trial has to be: the whole of it, ``trials`` times over, in a world that is known.

    ``transitions`` [N,M,2,M] are how people move, ``index`` [N,M] what the policy ranks by, ``reward`` [M] the outcome of a week that ends
    in a state (from 0 to 1 where nothing is said), ``start`` [N,M] where they start. ``effects`` scale what a call does: 0 is a trial
    without effect. ``clusters`` are the cluster of everybody and the standard deviation, in log-odds, of what a cluster shares. A row for every
    size, effect and estimator: the true effect, estimate, bias, standard error, coverage, rejection rate and detectable effect, each with its
    Monte-Carlo error.
    """
    rows = np.asarray(transitions, dtype=np.float64)
    arms, states = rows.shape[0], rows.shape[1]
    rewards = np.linspace(0.0, 1.0, states) if reward is None else reward
    starts = np.full((arms, states), 1.0 / states) if start is None else start
    budgets = (budget, 0) if isinstance(budget, int) else tuple(budget)
    grouped = None if clusters is None else (list(clusters[0]), float(clusters[1]))
    return _restive.trial_power(
        rows, rewards, starts, index, control_index, weeks, list(shares), list(budgets), missing, grouped, list(sizes),
        list(effects), trials, seed,
    )  # fmt: skip
