"""What both estimators share: parameters, fitting, predictions, plans, files."""

from __future__ import annotations

import inspect
import json
import os
import secrets
import tempfile
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Literal, overload

import numpy as np
from numpy.typing import NDArray

from restive._arrays import OWN
from restive._checked import count
from restive._deprecated import _warn, renamed
from restive._frames import columns, is_frame
from restive._html import facts, number
from restive._plan import Evaluation, Plan
from restive._restive import NativeModel, NativeStudy, train
from restive._unfitted import not_fitted
from restive._units import Units
from restive.progress import reporter
from restive.study import Study


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
        seed: int | None = 0,
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
    def random_state(self) -> int | None:
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

    def fit(self, study: Study | Units, y: None = None) -> Estimator:
        """Trains on a study; returns the estimator.

        Sets ``configuration_`` (what decided the training, as the card of the model has it), ``history_`` (losses by epoch, and
        what the folds chose), ``feature_names_`` and ``n_features_in_`` (the columns of the encoded features), and ``seed_``: with
        ``seed=None`` the one that was drawn. Ctrl-C ends it between two epochs, and the estimator stays as it was.
        """
        asked = self.get_params()
        if asked["seed"] is None:
            asked["seed"] = secrets.randbits(63)  # other tools read the card, and not all of them have 64 bits
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
        self.__dict__.pop("_folder_", None)  # that of an earlier model
        configuration, history, predictor = (json.loads(text) for text in model.card())
        self.configuration_, self.history_ = configuration, history
        self.n_features_in_ = predictor["features"]
        self.feature_names_ = model.reads()[2]
        self.seed_ = configuration["seed"]

    def _fitted(self) -> NativeModel:
        model: NativeModel | None = getattr(self, "_model_", None)
        if model is None:
            raise not_fitted(f"this {type(self).__name__} has not been fitted; call fit or load first")
        return model

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_model_")

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import Tags, TargetTags  # only scikit-learn asks

        return Tags(estimator_type=None, target_tags=TargetTags(required=False), no_validation=True)

    def __getstate__(self) -> dict[str, Any]:
        state = dict(self.__dict__)
        state.pop("_folder_", None)  # on another machine another model may lie there
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

    @overload
    def predict(self, arms: Study | Units) -> list[NDArray[np.float64]]: ...
    @overload
    def predict(self, arms: Any) -> NDArray[np.float64]: ...
    @renamed(study="arms")
    def predict(self, arms: Any) -> Any:
        """The transitions of arms.

        Of a study: a list with one array ``[N,M,2,M]`` for each of ``study.instances``, its arms in the order of their names, as the
        tables of the study have them. Of features alone, without any record: one array ``[N,M,2,M]`` in the order of the rows, which are those of a
        table (a data frame of any kind or a mapping; the columns that the model was trained on, perhaps ``arm``, ``instance``, ``split``),
        or of an array ``[N,F]`` with the columns of ``feature_names_``, already encoded as ``study.to_arrays(model)`` does.

        >>> import restive
        >>> study = restive.generate("two-state", seed=7, instances=4, arms=10, budget=2, trajectories=5).to_study()
        >>> model = restive.TwoStage(epochs=2).fit(study)
        >>> newcomers = {name: column[:3] for name, column in study.tables().arms.items() if name.startswith("f_")}
        >>> model.predict(newcomers).shape
        (3, 2, 2, 2)
        """
        model = self._fitted()
        if isinstance(arms, (Study, Units)):
            return model.predict(_native(arms), "the study")
        if is_frame(arms):
            return _of_table(model, arms)
        return model.predict_encoded(arms)

    def score(
        self, study: Study | Units, y: None = None, part: Literal["train", "validation", "test", "all"] | None = None
    ) -> float:
        """The mean log-likelihood per transition (per sighting, where states are seen at pulls only) of a part; higher is better.

        The parts are as the study's column ``split`` says, otherwise as the seed of the training deals them: on the study of the
        training, "test" are arms that were not learnt from, and that is what is scored where nothing is said. Of ``study.units()``, a fold that was
        held out, everything is. Knowing nothing scores −ln M.
        """
        part = part or ("all" if isinstance(study, Units) else "test")
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
        budget, seed = None if budget is None else count("budget", budget), count("seed", seed)
        columns, facts = self._fitted().plan(
            _native(study),
            budget,
            policy,
            None if remaining is None else count("remaining", remaining),
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
        A refusal that was found only after models were fitted holds from then on: plans of this estimator state no effects, and it
        is written into the folder that the model was loaded from or saved into.
        """
        asked = {
            "estimators": estimators, "part": part, "folds": folds, "start": start, "deals": deals, "index_discount": index_discount, "temperature": temperature, "behaviour": behaviour, "ratio": ratio,
            "runs": runs, "resamples": resamples, "seed": seed,
        }  # fmt: skip
        columns, answer, warned, refused = self._fitted().evaluate(_native(study), asked, getattr(self, "_folder_", None))
        if refused is not None:
            self._model_ = refused
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
        self._folder_ = os.path.abspath(folder)

    @classmethod
    def load(cls, folder: str | os.PathLike[str]) -> Any:
        """The estimator of a model that ``save`` or ``restive train`` wrote, with the parameters on its card."""
        from restive.estimators import load

        estimator = load(folder)
        if not isinstance(estimator, cls):
            found = type(estimator).__name__
            raise ValueError(f"{os.fspath(folder)}: found a model of {found}, expected one of {cls.__name__}")
        return estimator

    def _repr_html_(self) -> str:
        if not self.__sklearn_is_fitted__():
            return facts(repr(self), [("fitted", "no")])
        said = [(name.replace("_", " "), number(value)) for name, value in self.configuration_.items() if not isinstance(value, (dict, list))]
        return facts(repr(self), [*said, ("encoded features", str(self.n_features_in_))])

    def __repr__(self) -> str:
        defaults = inspect.signature(type(self).__init__).parameters
        said = (f"{name}={value!r}" for name, value in self.get_params().items() if repr(value) != repr(defaults[name].default))
        return f"{type(self).__name__}({', '.join(said)})"


def _of_table(model: NativeModel, frame: Any) -> NDArray[np.float64]:
    """Predictions of a table of features: a study in which nothing has happened yet."""
    rows, named = columns("arms", frame)
    states = json.loads(model.card()[2])["states"]
    if rows == 0:
        return np.empty((0, states, 2, states))
    reads, dropped, _ = model.reads()
    features = [(name, cells) for name, cells in named if name not in OWN and name not in dropped]
    there = {name for name, _ in features}
    text = json.dumps([name for name, is_text in reads if is_text and name in there], ensure_ascii=False)
    settings = f'states = {states}\ndiscount = 1.0\nbudget = 0\nhorizon = 1\nbehaviour = "none"\ntext = {text}\n'
    nothing = {"trajectory": ["0"], "t": [0], "arm": ["0"], "state": [None], "action": [None]}
    newcomers = NativeStudy.from_tables(settings, (rows, [("arm", np.arange(rows)), *features]), columns("trajectories", nothing), None)
    return model.predict(newcomers, "the table of arms")[0]


def _native(study: Study | Units) -> Any:
    if isinstance(study, Units):
        study = study.study
    if not isinstance(study, Study):
        raise TypeError(f"study: expected a restive.Study, found {type(study).__module__}.{type(study).__qualname__}")
    return study._native
