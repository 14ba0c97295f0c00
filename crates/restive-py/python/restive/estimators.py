"""Estimators: a study in, transitions and plans out, with the conventions of scikit-learn.

``fit`` trains what ``restive train`` trains, by the same code: the same study, parameters and seed give the same weights, bit for
bit, and a folder that ``save`` writes is one that ``restive plan`` reads. Parameters are only kept at construction and checked by
``fit``; ``get_params`` and ``set_params`` are what ``sklearn.base.clone`` and friends ask for. Nothing here needs scikit-learn.

A study is dealt into three parts: as its column ``split`` says, otherwise 70/10/20 at random by ``random_state``. The first is
learnt from, the second says when to stop, the third is only measured.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from typing import Any, Literal

from restive._estimator import Estimator, Plan
from restive._restive import NativeModel

__all__ = ["DecisionFocused", "Plan", "TwoStage", "load"]


class TwoStage(Estimator):
    """Fits the transitions by their likelihood; planning with them comes afterwards.

    Parameters
    ----------
    profile
        Where the settings come from that are not given: "recommended" (to convergence, the best validation loss is kept),
        "published" (50 epochs, no dropout) or "paper" (50 epochs, dropout 0.2).
    predictor
        "network", "linear" (no hidden layers) or "effect" (a logistic model in which a pull is a shrunken shift: for few pulls).
    index_discount
        Of the index, for plans with the model; None: 1 − 1/H of the study ("published", "paper": 0.99).
    epochs, learning_rate, hidden, dropout
        Passes at most; step size of Adam; units of each hidden layer, such as ``(64,)``; share of them left out in each step.
    precision
        How firmly "effect" holds a pull to do the same for all arms: a number, or "held-out" to choose it on the validation part.
    ensemble
        Average that many fits, which differ in their seed.
    standardise, drop
        Whether numbers are scaled to mean 0 and standard deviation 1 (None: for "effect" only); features to leave out.
    random_state
        Seed of the split, the initial parameters and the dropout: a whole number, `--seed` of the command line.
    progress
        True for one line on the terminal or in the notebook, or a function of a share (0 to 1) and a message, called after every epoch.

    >>> TwoStage(epochs=20, drop=("district",))
    TwoStage(epochs=20, drop=('district',))
    """

    _objective = "two-stage"


class DecisionFocused(Estimator):
    """Trains through the decision: for the value of the plan that the transitions lead to.

    As recommended it begins where two-stage training ends; where it does not prove better on folds of the training arms, the answer
    is that two-stage is enough (``history_["members"][0]["selection"]``). With ``profile="published"`` it is the paper's, from
    scratch. Parameters are those of :class:`TwoStage` and:

    value
        What is maximised: "decomposed", "fluid" or "is" (importance sampling on the log); None: "decomposed" ("published",
        "paper": "is").
    preset
        How far it may go from the two-stage predictions: "select" (as the folds say), "weak" or "strong".
    temperature
        Softness of the policy that is trained through: "spread:X" (of the indices' standard deviation), "published:X", "absolute:X".

    ``index_discount`` is also that of the decision.
    """

    _objective = "decision-focused"

    def __init__(
        self,
        *,
        value: Literal["is", "fluid", "decomposed"] | None = None,
        preset: Literal["select", "weak", "strong"] | None = None,
        temperature: str | None = None,
        profile: Literal["recommended", "published", "paper"] = "recommended",
        predictor: Literal["network", "linear", "effect"] = "network",
        index_discount: float | None = None,
        epochs: int | None = None,
        learning_rate: float | None = None,
        hidden: Sequence[int] | None = None,
        dropout: float | None = None,
        precision: float | Literal["held-out"] | None = None,
        ensemble: int = 1,
        standardise: bool | None = None,
        drop: Sequence[str] = (),
        random_state: int = 0,
        progress: None | bool | Callable[[float, str], Any] = None,
    ) -> None:
        super().__init__(
            profile=profile, predictor=predictor, index_discount=index_discount, epochs=epochs, learning_rate=learning_rate,
            hidden=hidden, dropout=dropout, precision=precision, ensemble=ensemble, standardise=standardise, drop=drop,
            random_state=random_state, progress=progress,
        )  # fmt: skip
        self.value = value
        self.preset = preset
        self.temperature = temperature


def load(folder: str | os.PathLike[str]) -> TwoStage | DecisionFocused:
    """The estimator of a model that ``save`` or ``restive train`` wrote, with the parameters on its card."""
    model = NativeModel.load(os.fspath(folder))
    said = json.loads(model.card()[0])
    kind = DecisionFocused if said.get("objective") == "decision-focused" else TwoStage
    said["random_state"] = said.get("seed", 0)
    if said.get("predictor") != "network":
        for name in ("hidden", "dropout"):
            said.pop(name, None)
    estimator = kind(**{name: said[name] for name in kind._names() if said.get(name) is not None})
    estimator._take(model)
    return estimator
