"""What both estimators share: parameters, fitting, predictions, plans, files."""

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

from restive._deprecated import _warn, renamed
from restive._frames import Table
from restive._restive import NativeModel, train
from restive.progress import reporter
from restive.study import Study


class Plan(Table):
    """The arms to pull, best first, by instance: columns ``instance``, ``arm``, ``state`` (or ``last_state`` and ``since``),
    ``index`` or ``advantage``, ``rank``, ``inclusion``, ``is_beneficial``, with ``to_pandas()``, ``to_polars()`` and
    ``to_arrow()``.

    ``policy`` is ``"whittle"`` (ranked by index, at ``index_discount``) or ``"horizon"`` (ranked by advantage); ``steps`` are
    the decisions planned for, over which no policy brings more than ``bound`` of expected reward, and no pull at all
    ``no_action``; ``history`` says how an arm's own record counts; ``never_observed`` counts arms that were never seen;
    ``notes`` says what should be known; ``json`` is all of it, as ``restive plan --json`` has it.
    """

    json: str
    policy: str
    budget: int
    steps: int
    index_discount: float | None
    bound: float
    no_action: float
    history: str | None
    never_observed: int
    notes: tuple[str, ...]

    @classmethod
    def _made(cls, columns: Any, facts: dict[str, Any]) -> Plan:
        """Of columns and facts; warnings are raised for whoever asked for the plan."""
        plan: Plan = cls.of(columns)
        for text in facts.pop("warnings"):
            warnings.warn(text, stacklevel=3)
        facts["notes"] = tuple(facts["notes"])
        for name, fact in facts.items():
            setattr(plan, name, fact)
        return plan


class Evaluation(Table):
    """What a model's policy is worth beside others, a row per number: columns ``policy``, ``estimator``, ``quantity`` (value,
    gain_over_random, gain_over_no_action), ``value``, ``low``, ``high``, ``ess``, ``covers``, with ``to_pandas()``,
    ``to_polars()`` and ``to_arrow()``.

    ``evidence``, ``policies``, ``loss`` and ``about`` are those of ``restive evaluate --json``: the evidence (None where the published
    estimators were asked for), numbers by policy and estimator, the predictive
    loss, and what all of it rests on, notes and warnings included. A number without its ``about`` is half the answer.
    """

    evidence: dict[str, Any] | None
    policies: dict[str, dict[str, Any]]
    loss: dict[str, float]
    about: dict[str, Any]


class Estimator:
    """What both ways of training share."""

    _objective: str

    @renamed(random_state="seed")
    def __init__(
        self,
        *,
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
        seed: int = 0,
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
        self.seed = seed
        self.progress = progress

    @property
    def random_state(self) -> int:
        """The old name of ``seed``."""
        return self.seed

    @classmethod
    def _names(cls) -> list[str]:
        return [name for name in inspect.signature(cls.__init__).parameters if name != "self"]

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parameters, by name; ``deep`` is there for scikit-learn."""
        return {name: getattr(self, name) for name in self._names()}

    def set_params(self, **params: Any) -> Estimator:
        """Sets parameters; returns the estimator."""
        known = self._names()
        if "random_state" in params and "seed" not in params:
            _warn("random_state", "seed")
            params["seed"] = params.pop("random_state")
        for name in params:
            if name not in known:
                raise ValueError(f"{name}: no parameter of {type(self).__name__}, expected one of {', '.join(known)}")
        for name, value in params.items():
            setattr(self, name, value)
        return self

    def fit(self, study: Study, y: None = None) -> Estimator:
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
        model: NativeModel | None = getattr(self, "_model_", None)
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
        """The transitions of the arms of every instance: a list with one array ``[N,M,2,M]`` for each of ``study.instances``, its arms
        in the order of their names, as the tables of the study have them.
        """
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
        history: bool | None = None,
        only_beneficial: bool = False,
        index_discount: float | None = None,
        instance: str | None = None,
        seed: int = 0,
        *,
        policy: Literal["whittle", "horizon"] | None = None,
        remaining: int | None = None,
    ) -> Plan:
        """Whom to pull next: the ``budget`` arms of each instance that rank highest in their latest state.

        ``budget`` is the study's unless given. ``remaining`` are the decisions that are left, this one included (None: as
        ``ends`` of the study says, if it does); where that is known arms are ranked by the advantage of a pull until the end
        (``policy="horizon"``), otherwise by their Whittle index (``policy="whittle"``). ``history`` says whether an arm's own
        record counts beside the prediction (None: where that helped on arms the model had not learnt from);
        ``only_beneficial`` leaves out arms where a pull does not pay; ``index_discount`` is the model's unless given (where it has
        none, 1 − 1/H); ``instance`` names the one to plan for; ``seed`` breaks ties. The answer is that of ``restive plan``.
        """
        budget, seed = None if budget is None else _count("budget", budget), _count("seed", seed)
        columns, facts = self._fitted().plan(
            _native(study),
            budget,
            policy,
            None if remaining is None else _count("remaining", remaining),
            None if history is None else bool(history),
            bool(only_beneficial),
            index_discount,
            instance,
            seed,
        )
        return Plan._made(columns, facts)

    def evaluate(
        self,
        study: Study,
        *,
        estimators: Literal["judged", "published"] = "judged",
        part: Literal["folds", "test", "validation", "train", "all"] | None = None,
        folds: int = 5,
        start: Literal["today", "first"] | None = None,
        deals: int | None = None,
        index_discount: float | None = None,
        temperature: str = "spread:0.1",
        behaviour: Literal["logged", "uniform", "rota", "estimated", "none"] | None = None,
        ratio: Literal["this-step", "previous-step"] = "this-step",
        runs: int | None = None,
        resamples: int | None = None,
        seed: int = 0,
    ) -> Evaluation:
        """Does the ranking find those for whom a pull makes a difference, and what would its plan bring?

        ``evidence`` of the answer has both: ``p``, ``gain``, ``detectable``, ``deciles`` and what they rest on, or ``refused`` and
        ``what_to_do``. People are judged by models that never saw them: by default the recipe of this one is trained anew without each
        of ``folds`` folds; ``part`` "test" judges the model as it is. ``deals`` is how often pulls are dealt anew for p, ``start`` where
        simulations begin (None: today's states). Looks at a study that was read from a folder are counted there.

        ``estimators`` "published" gives those of the paper, on the test part; ``index_discount`` is the model's unless given; ``temperature`` is that
        of the soft policies; ``behaviour`` says where propensities come from (None: as the study says), ``ratio`` which decisions
        enter a ratio of importance sampling; ``runs`` are simulated, ``resamples`` are those of the bootstrap (None, like ``deals``: 200, 200
        and 999, fewer of more than 20,000 people, and said in the notes), and ``seed`` draws
        all random numbers. The answer is that of ``restive evaluate``, number for number; what must not be overlooked is warned of.
        """
        asked = {
            "estimators": estimators, "part": part, "folds": folds, "start": start, "deals": deals, "index_discount": index_discount, "temperature": temperature, "behaviour": behaviour, "ratio": ratio,
            "runs": runs, "resamples": resamples, "seed": seed,
        }  # fmt: skip
        columns, answer, warned = self._fitted().evaluate(_native(study), asked)
        evaluation: Evaluation = Evaluation.of(columns)
        evaluation.evidence = None
        for name, part_of_answer in json.loads(answer).items():
            setattr(evaluation, name, part_of_answer)
        for text in warned:
            warnings.warn(text, stacklevel=2)
        return evaluation

    def save(self, folder: str | os.PathLike[str], replace: bool = False) -> None:
        """Writes the model as ``restive train`` does: a folder that appears whole.

        One that is there is replaced only with ``replace``, and only where it is a model and nothing else.
        """
        self._fitted().save(os.fspath(folder), replace)

    @classmethod
    def load(cls, folder: str | os.PathLike[str]) -> Any:
        """The estimator of a model that ``save`` or ``restive train`` wrote, with the parameters on its card."""
        from restive.estimators import load

        estimator = load(folder)
        if not isinstance(estimator, cls):
            found = type(estimator).__name__
            raise ValueError(f"{os.fspath(folder)}: found a model of {found}, expected one of {cls.__name__}")
        return estimator

    def __repr__(self) -> str:
        defaults = inspect.signature(type(self).__init__).parameters
        said = (f"{name}={value!r}" for name, value in self.get_params().items() if repr(value) != repr(defaults[name].default))
        return f"{type(self).__name__}({', '.join(said)})"


def _native(study: Study) -> Any:
    if not isinstance(study, Study):
        raise TypeError(f"study: expected a restive.Study, found {type(study).__module__}.{type(study).__qualname__}")
    return study._native


def _count(what: str, value: Any) -> int:
    try:
        count = operator.index(value)
    except TypeError:
        count = -1
    if not 0 <= count < 2**64:
        expected = "a whole number, not negative" if count < 0 else "a whole number below 2^64"
        raise ValueError(f"{what}: found {value!r}, expected {expected}")
    return count
