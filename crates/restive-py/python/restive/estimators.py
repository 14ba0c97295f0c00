"""Estimators: a study in, transitions and plans out, with the conventions of scikit-learn.

``fit`` trains what ``restive train`` trains, by the same code: the same study, parameters and seed give the same weights, bit for
bit, and a folder that ``save`` writes is one that ``restive plan`` reads. Parameters are only kept at construction and checked by
``fit``; ``get_params`` and ``set_params`` are what ``sklearn.base.clone`` and friends ask for. Nothing here needs scikit-learn.

A study is dealt into three parts: as its column ``split`` says, otherwise 70/10/20 at random by ``random_state``. The first is
learnt from, the second says when to stop, the third is only measured.
"""

from __future__ import annotations

import inspect
import json
import operator
import os
import tempfile
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from restive._frames import Table
from restive._restive import NativeModel, train
from restive.progress import reporter
from restive.study import Study

__all__ = ["DecisionFocused", "Plan", "TwoStage", "load"]


class Plan(Table):
    """The arms to pull, best first, by instance: columns ``instance``, ``arm``, ``state`` (or ``last_state`` and ``since``),
    ``index``, ``rank``, ``inclusion``, ``is_beneficial``, with ``to_pandas()``, ``to_polars()`` and ``to_arrow()``.

    ``budget`` and ``index_discount`` are those of the plan; ``history`` says what a prediction was worth beside an arm's own
    record, where that counted; ``never_observed`` counts arms that were never seen; ``notes`` says what should be known.
    """

    budget: int
    index_discount: float
    history: str | None
    never_observed: int
    notes: tuple[str, ...]


class _Estimator:
    """What both ways of training share."""

    _objective: str

    def __init__(
        self,
        *,
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
        self.profile = profile
        self.predictor = predictor
        self.index_discount = index_discount
        self.epochs = epochs
        self.learning_rate = learning_rate
        self.hidden = hidden
        self.dropout = dropout
        self.precision = precision
        self.ensemble = ensemble
        self.standardise = standardise
        self.drop = drop
        self.random_state = random_state
        self.progress = progress

    @classmethod
    def _names(cls) -> list[str]:
        return [name for name in inspect.signature(cls.__init__).parameters if name != "self"]

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parameters, by name; ``deep`` is there for scikit-learn."""
        return {name: getattr(self, name) for name in self._names()}

    def set_params(self, **params: Any) -> _Estimator:
        """Sets parameters; returns the estimator."""
        known = self._names()
        for name in params:
            if name not in known:
                raise ValueError(f"{name}: no parameter of {type(self).__name__}, expected one of {', '.join(known)}")
        for name, value in params.items():
            setattr(self, name, value)
        return self

    def fit(self, study: Study, y: None = None) -> _Estimator:
        """Trains on a study; returns the estimator.

        Sets ``configuration_`` (what decided the training, as the card of the model has it), ``history_`` (losses by epoch, and
        what the folds chose) and ``n_features_in_`` (columns of the encoded features). Ctrl-C ends it between two epochs, and the
        estimator stays as it was.
        """
        asked = self.get_params()
        visit, close = reporter(asked.pop("progress"))
        try:
            model, warned = train(_native(study), {"objective": self._objective, **asked}, visit)
        finally:
            close()
        self._take(model)
        for text in warned:
            warnings.warn(text, stacklevel=2)
        return self

    def _take(self, model: NativeModel) -> None:
        self._model_ = model
        configuration, history, predictor = (json.loads(text) for text in model.card())
        self.configuration_, self.history_ = configuration, history
        self.n_features_in_ = predictor["features"]

    def _fitted(self) -> NativeModel:
        model = getattr(self, "_model_", None)
        if model is None:
            raise ValueError(f"this {type(self).__name__} has not been fitted; call fit or load first")
        return model

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_model_")

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import Tags, TargetTags  # only scikit-learn asks

        return Tags(estimator_type=None, target_tags=TargetTags(required=False), no_validation=True)

    def __getstate__(self) -> dict[str, Any]:
        state = dict(self.__dict__)
        if "_model_" in state:
            with tempfile.TemporaryDirectory() as folder:
                state["_model_"].save(folder, True)
                state["_model_"] = {file.name: file.read_bytes() for file in Path(folder).iterdir()}
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        if "_model_" in state:
            with tempfile.TemporaryDirectory() as folder:
                for name, contents in state["_model_"].items():
                    Path(folder, name).write_bytes(contents)
                self._model_ = NativeModel.load(folder)

    def predict(self, study: Study) -> list[NDArray[np.float64]]:
        """The transitions of the arms of every instance: a list with one array ``[N,M,2,M]`` for each of ``study.instances``."""
        return self._fitted().predict(_native(study))

    def score(self, study: Study, y: None = None, part: Literal["train", "validation", "test", "all"] = "test") -> float:
        """The mean log-likelihood per transition (per sighting, where states are seen at pulls only) of a part; higher is better.

        The parts are as the study's column ``split`` says, otherwise as the seed of the training deals them: on the study of the
        training, "test" are arms that were not learnt from. Knowing nothing scores −ln M.
        """
        return self._fitted().score(_native(study), part)

    def plan(
        self,
        study: Study,
        budget: int | None = None,
        history: bool = False,
        only_beneficial: bool = False,
        index_discount: float | None = None,
        seed: int = 1,
    ) -> Plan:
        """Whom to pull next: the ``budget`` arms of each instance whose latest state has the highest Whittle index.

        ``budget`` is the study's unless given; ``history`` lets an arm's own record count beside the prediction;
        ``only_beneficial`` leaves out arms where a pull does not pay; ``index_discount`` is the model's unless given (where it has
        none, 1 − 1/H); ``seed`` draws the lots for ties. The answer is that of ``restive plan``.
        """
        budget, seed = None if budget is None else _count("budget", budget), _count("seed", seed)
        columns, facts = self._fitted().plan(
            _native(study), budget, bool(history), bool(only_beneficial), index_discount, seed
        )
        plan = Plan.of(columns)
        for text in facts.pop("warnings"):
            warnings.warn(text, stacklevel=2)
        facts["notes"] = tuple(facts["notes"])
        for name, fact in facts.items():
            setattr(plan, name, fact)
        return plan

    def save(self, folder: str | os.PathLike[str], replace: bool = False) -> None:
        """Writes the model as ``restive train`` does: a folder that appears whole. One that is there is replaced only with ``replace``."""
        self._fitted().save(os.fspath(folder), replace)

    @classmethod
    def load(cls, folder: str | os.PathLike[str]) -> Any:
        """The estimator of a model that ``save`` or ``restive train`` wrote, with the parameters on its card."""
        estimator = load(folder)
        if not isinstance(estimator, cls):
            found = type(estimator).__name__
            raise ValueError(f"{os.fspath(folder)}: found a model of {found}, expected one of {cls.__name__}")
        return estimator

    def __repr__(self) -> str:
        defaults = inspect.signature(type(self).__init__).parameters
        said = (f"{name}={value!r}" for name, value in self.get_params().items() if value != defaults[name].default)
        return f"{type(self).__name__}({', '.join(said)})"


class TwoStage(_Estimator):
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


class DecisionFocused(_Estimator):
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


def _native(study: Study) -> Any:
    if not isinstance(study, Study):
        raise TypeError(f"study: expected a restive.Study, found {type(study).__module__}.{type(study).__qualname__}")
    return study._native


def _count(what: str, value: Any) -> int:
    try:
        count = operator.index(value)
    except TypeError:
        count = -1
    if not 0 <= count < 2**63:
        raise ValueError(f"{what}: found {value!r}, expected a whole number, not negative")
    return count
