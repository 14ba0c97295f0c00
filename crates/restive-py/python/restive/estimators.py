"""Estimators: a study in, transitions and plans out, with the conventions of scikit-learn.

``fit`` trains what ``restive train`` trains, by the same code: the same study, parameters and seed give the same weights, bit for
bit, and a folder that ``save`` writes is one that ``restive plan`` reads. Parameters are only kept at construction and checked by
``fit``; ``get_params`` and ``set_params`` are what ``sklearn.base.clone`` and friends ask for. Nothing here needs scikit-learn.

A study is dealt into three parts: as its column ``split`` says, otherwise 70/10/20 at random by ``seed``. The first is
learnt from, the second says when to stop, the third is only measured.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from typing import Any, Literal

from restive._deprecated import renamed
from restive._estimator import Estimator, Evaluation, Plan
from restive._restive import NativeModel, options

__all__ = ["DecisionFocused", "Evaluation", "Plan", "TwoStage", "load"]


class TwoStage(Estimator):
    """Fits the transitions by their likelihood; planning with them comes afterwards.

    Parameters
    ----------
{parameters}
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

{parameters}

    ``index_discount`` is also that of the decision.
    """

    _objective = "decision-focused"

    @renamed(random_state="seed")
    def __init__(
        self,
        *,
        value: Literal["is", "fluid", "decomposed"] | None = None,
        preset: Literal["select", "weak", "strong"] | None = None,
        temperature: str | None = None,
        profile: Literal["recommended", "published", "paper"] = "recommended",
        predictor: Literal["auto", "network", "linear", "effect", "hierarchical"] | None = None,
        index_discount: float | None = None,
        epochs: int | None = None,
        learning_rate: float | None = None,
        hidden: Sequence[int] | None = None,
        dropout: float | None = None,
        precision: float | Literal["held-out"] | None = None,
        ensemble: int = 1,
        standardise: bool | None = None,
        drop: Sequence[str] = (),
        seed: int | None = 0,
        progress: None | bool | Callable[[float, str], Any] = None,
    ) -> None:
        super().__init__(
            profile=profile, predictor=predictor, index_discount=index_discount, epochs=epochs, learning_rate=learning_rate,
            hidden=hidden, dropout=dropout, precision=precision, ensemble=ensemble, standardise=standardise, drop=drop,
            seed=seed, progress=progress,
        )  # fmt: skip
        self.value = value
        self.preset = preset
        self.temperature = temperature


def _describe(estimator: type[Estimator], *names: str) -> None:
    """Parameters are described once, for the command line and for Python."""
    described = options()
    shown = (f"    {name}\n        {described[name]}." for name in names)
    estimator.__doc__ = (estimator.__doc__ or "").replace("{parameters}", "\n".join(shown))


_describe(
    TwoStage, "profile", "predictor", "index_discount", "epochs", "learning_rate", "hidden", "dropout", "precision", "ensemble",
    "standardise", "drop", "seed",
)  # fmt: skip
_describe(DecisionFocused, "value", "preset", "temperature")


def load(folder: str | os.PathLike[str]) -> TwoStage | DecisionFocused:
    """The estimator of a model that ``save`` or ``restive train`` wrote, with the parameters on its card."""
    model = NativeModel.load(os.fspath(folder))
    said = json.loads(model.card()[0])
    kind = DecisionFocused if said.get("objective") == "decision-focused" else TwoStage
    # what the card states of a predictor that has no such setting
    foreign = {"auto": ("standardise",), "network": ()}.get(said.get("predictor"), ("hidden", "dropout"))
    for name in foreign:
        said.pop(name, None)
    estimator = kind(**{name: said[name] for name in kind._names() if said.get(name) is not None})
    estimator._take(model)
    estimator._folder_ = os.path.abspath(folder)
    return estimator
