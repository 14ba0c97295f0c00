"""A study: everything about a decision problem with data, checked.

The tables are those of a study folder, as data frames of whichever kind, and the keywords are the settings of its
``study.toml``; the checks and their messages are those of the command line. A message names the table, the row (from 0), the arm,
the column, what was found and what is expected.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from restive._arrays import chosen_arms, chosen_instances, tables_of
from restive._checked import count
from restive._frames import Table, Tables, columns
from restive._html import SHOWN, more, table
from restive._instances import Instance, Instances
from restive._restive import NativeStudy
from restive._units import Units

if TYPE_CHECKING:
    from restive._estimator import Estimator

__all__ = ["Study"]


class Study:
    """Arms with features, and what was logged of them.

    Parameters
    ----------
    arms
        One row per arm: ``arm``, perhaps ``instance`` and ``split`` (train, validation, test), and the column of clusters if ``cluster``
        names one; every other column is a feature, numbers or text. A pandas or polars DataFrame, a pyarrow Table, or a mapping of names
        to arrays; so are the others.
    trajectories
        One row per trajectory, step and arm: ``trajectory``, ``t`` (from 0 or 1), ``arm``, ``state``, ``action`` (0 or 1), perhaps
        ``instance``, ``propensity``, ``reward``, ``available``, ``order``. ``available`` is 0 or 1 in every row: whether the arm could be
        pulled at that decision. A pull without availability is refused, and the propensity of such a row is not read. A trajectory of H
        decisions has H + 1 steps, the last without an action. A state that was not observed is missing. Rows may come in any order: arms
        and trajectories are in the order of their names, or trajectories in the order of the numbers in ``order``.
    truth
        The true transitions, where the data are synthetic: ``arm`` and ``p_S_A_NEXT``.
    states
        M; may be left out where ``rewards`` are given.
    rewards
        What a step in each state is worth, ``[M]`` or ``[M,2]`` (passive, active); default s/(M−1).
    discount, budget, horizon
        Per step, from 0 to 1; arms that may be pulled per step and instance; decisions of a deployment.
    behaviour
        Where propensities come from: "logged" (the column), "uniform", "estimated", "round-robin-as-uniform", or "none":
        no importance sampling.
    observation
        "full", or "collapsing": states are seen at pulls only. Then ``chain`` (labels kept of each state, or "infinite"), perhaps
        ``beliefs`` (labels kept of an infinite chain) and ``rows`` ("pulls": an arm without a row was left alone).
    cluster
        Column of ``arms`` with the cluster of each arm, such as its household: text or integers, none missing. It is not a feature.
        Requires ``observation="full"``.
    assignment
        "per-decision" (default), or "per-person": pulls are assigned at random once per arm and last for several decisions. "per-person"
        requires ``observation="full"`` and the behaviour "uniform", "logged" or "estimated".
    text
        Features that are categories though they look like numbers.
    ends
        The step at which the programme is over, as column ``t`` counts, where there is one.
    unit
        What a reward of 1 is called: "engaged weeks".
    silenced
        Checks of :func:`restive.doctor` that do not count, by name, each with its reason.
    name, notes
        Whatever should be remembered.

    >>> study = Study(
    ...     arms={"arm": ["Ada", "Ben"], "age": [31, 24]},
    ...     trajectories={
    ...         "trajectory": [1, 1, 1, 1],
    ...         "t": [0, 0, 1, 1],
    ...         "arm": ["Ada", "Ben", "Ada", "Ben"],
    ...         "state": [0, 1, 1, 0],
    ...         "action": [1, 0, None, None],
    ...     },
    ...     states=2, discount=0.9, budget=1, horizon=9, behaviour="uniform",
    ... )
    >>> study
    Study(1 instance, 2 arms, 1 trajectory, features: age; states 2, budget 1, horizon 9)
    """

    _native: NativeStudy

    def __init__(
        self,
        arms: Any,
        trajectories: Any,
        truth: Any = None,
        *,
        discount: float,
        budget: int,
        horizon: int,
        behaviour: str,
        states: int | None = None,
        rewards: Sequence[Any] | None = None,
        observation: Literal["full", "collapsing"] | None = None,
        chain: int | Literal["infinite"] | None = None,
        beliefs: int | None = None,
        rows: Literal["all", "pulls"] | None = None,
        cluster: str | None = None,
        assignment: Literal["per-decision", "per-person"] | None = None,
        text: Sequence[str] | None = None,
        name: str | None = None,
        notes: str | None = None,
        unit: str | None = None,
        ends: int | None = None,
        silenced: Mapping[str, str] | None = None,
    ) -> None:
        if states is None:
            if rewards is None:
                raise ValueError("states: found neither states nor rewards, expected one of them")
            states = len(rewards)
        settings = {
            "name": name, "notes": notes, "unit": unit, "states": states, "rewards": rewards, "discount": discount, "budget": budget,
            "horizon": horizon, "ends": ends, "observation": observation, "chain": chain, "beliefs": beliefs, "rows": rows,
            "behaviour": behaviour, "cluster": cluster, "assignment": assignment, "text": text, "silenced": silenced,
        }  # fmt: skip
        said = "".join(f"{key} = {_toml(key, value)}\n" for key, value in settings.items() if value is not None)
        self._native = NativeStudy.from_tables(
            said,
            columns("arms", arms),
            columns("trajectories", trajectories),
            None if truth is None else columns("truth", truth),
        )

    @classmethod
    def read(cls, folder: str | os.PathLike[str]) -> Study:
        """The study in a folder, checked: study.toml, arms, trajectories and perhaps truth (.csv or .parquet)."""
        return cls._of(NativeStudy.read(os.fspath(folder)))

    @classmethod
    def _of(cls, native: NativeStudy) -> Study:
        study = cls.__new__(cls)
        study._native = native
        return study

    def write(
        self, folder: str | os.PathLike[str], format: Literal["csv", "parquet"] = "csv", replace: bool = False
    ) -> None:
        """Writes the folder of the study, whole or not at all.

        One that is there is replaced only with ``replace``, and only where it is a study and nothing else.
        """
        self._native.write(os.fspath(folder), format, replace)

    def tables(self) -> Tables:
        """arms, trajectories and truth (or None) as columns: mappings of names to NumPy arrays."""
        return Tables(*(None if table is None else Table.of(table) for table in self._native.tables()))

    def to_pandas(self) -> Tables:
        """arms, trajectories and truth (or None) as pandas DataFrames; ``Study(*study.to_pandas(), **study.settings)`` is the study."""
        return Tables(*(table and table.to_pandas() for table in self.tables()))

    def to_polars(self) -> Tables:
        """The same as polars DataFrames."""
        return Tables(*(table and table.to_polars() for table in self.tables()))

    def to_arrow(self) -> Tables:
        """The same as pyarrow Tables."""
        return Tables(*(table and table.to_arrow() for table in self.tables()))

    def to_arrays(self, model: Estimator | None = None) -> Instances:
        """The instances as arrays of the kernels: a list of :class:`restive.Instance`, with their names.

        Features are numbers then. With a fitted ``model`` they are encoded as its predictor reads them; without one a column of numbers
        passes through, one of text becomes a column of 0 and 1 for each category, and where something is missing a number becomes the
        mean of the others, with an indicator behind it. ``Study.from_arrays(study.to_arrays())`` is the study again, with the same
        fingerprint, unless it has text or missing features: those stay the encoded columns, or hand over the table as it was,
        ``Study.from_arrays(study.to_arrays(), arms=study.tables().arms)``.

        >>> import restive
        >>> study = restive.generate("two-state", seed=7, instances=2, arms=5, budget=1, trajectories=3).to_study()
        >>> one = study.to_arrays()[1]
        >>> one.state.shape, one.P.shape, one.feature_names[:2]
        ((3, 10, 5), (5, 2, 2, 2), ['f_00', 'f_01'])
        >>> restive.whittle_index(one.P, one.rewards, one.discount).index.shape
        (5, 2)
        >>> Study.from_arrays(study.to_arrays()) == study
        True
        """
        names, instances = self._native.arrays(None if model is None else model._fitted())
        return Instances((Instance(**parts, feature_names=list(names)) for parts in instances), self.settings)

    @classmethod
    def from_arrays(cls, instances: Sequence[Instance] | Instance, arms: Any = None, **settings: Any) -> Study:
        """The study of instances as arrays (or of one), checked as any other.

        Rewards, discount and budget are taken from the instances, which must agree. The horizon is the length of the log. The result of
        ``study.to_arrays()`` keeps the other settings of its study; keywords of :class:`Study` replace them.
        Without propensities ``behaviour`` is required. ``arms`` is a table that takes the place of the features. Clusters become
        the column ``cluster`` of the table of arms, under the name that the setting ``cluster`` gives, and availability becomes the column
        ``available`` of the trajectories.

        >>> import numpy as np, restive
        >>> log = restive.simulate([[0.2, 0.8, 0.5, 0.5]] * 3, 1, "random", horizon=4, rollouts=2, keep_trajectories=True)
        >>> one = restive.Instance(
        ...     features=np.eye(3), state=log.state.astype(int), action=log.action, propensity=log.propensity,
        ...     rewards=np.array([[0.0, 0.0], [1.0, 1.0]]), budget=1, discount=0.9,
        ... )
        >>> Study.from_arrays([one], unit="visits")
        Study(1 instance, 3 arms, 2 trajectories, features: f_00, f_01, f_02; states 2, budget 1, horizon 4)

        Arms of two clusters, the last of which could not be pulled at every decision:

        >>> import dataclasses
        >>> available = np.ones(log.state.shape, dtype=bool)
        >>> available[:, :-1, 2] = log.action[:, :, 2] == 1
        >>> declared = dataclasses.replace(one, available=available, clusters=["north", "north", "south"])
        >>> Study.from_arrays(declared).settings["cluster"]
        'cluster'
        """
        *tables, said = tables_of(instances, arms, settings)
        return cls(*tables, **said)

    def subset(self, arms: Any = None, instances: Any = None, *, budget: int | None = None) -> Study:
        """The study of some arms, of some instances, or both; settings are kept.

        ``instances`` are names, a mask in the order of ``study.instances``, or a function of a name; ``arms`` are names (in whichever
        instance), a mask over the rows of ``study.tables().arms``, or a function of that table that gives names or a mask. An instance of which
        no arm is kept is left out. ``budget`` is that of the study unless given, and no instance may have fewer arms. Where behaviour
        is "uniform", chances are counted anew among those who are kept; logged ones stay what they are.

        >>> import restive
        >>> study = restive.generate("two-state", seed=7, instances=3, arms=6, budget=2, trajectories=3).to_study()
        >>> study.subset(instances=["0", "2"]).instances
        ('0', '2')
        >>> study.subset(arms=lambda arms: np.isin(arms["arm"], ["0", "3"]), instances="0", budget=1)
        Study(1 instance, 2 arms, 3 trajectories, features: f_00, f_01, f_02, f_03, f_04, …; states 2, budget 1, horizon 9)
        """
        sizes, names = [n for _, n, _, _ in self._native.instances()], self.instances
        is_kept = np.ones(len(names), dtype=bool) if instances is None else chosen_instances(names, instances)
        is_kept = np.repeat(is_kept, sizes)
        if arms is not None:
            is_kept &= chosen_arms(Table.of(self._native.tables()[0]), arms)
        return self._select(is_kept, budget, True)

    def _select(self, is_kept: NDArray[np.bool_], budget: int | None, split: bool) -> Study:
        """The arms of a mask over all of them; ``split`` says whether that column is kept."""
        if not is_kept.any():
            raise ValueError("arms: found none that are kept, expected at least one")
        budget = self.settings["budget"] if budget is None else count("budget", budget)
        chosen, first = [], 0
        for k, (_, n, _, _) in enumerate(self._native.instances()):
            kept = np.flatnonzero(is_kept[first : first + n]).tolist()
            chosen += [(k, kept)] if kept else []
            first += n
        return Study._of(self._native.select(chosen, budget, split))

    def units(self, over: Literal["arms", "instances"] = "arms") -> Units:
        """Its arms, or its instances, as rows that scikit-learn can deal into folds: see :class:`restive.Units`."""
        return Units(self, over)

    @property
    def settings(self) -> dict[str, Any]:
        """What study.toml says, by its keys."""
        return self._native.settings()

    @property
    def fingerprint(self) -> str:
        """The hash of the contents, 32 hexadecimal digits: the same for files and frames and on every machine."""
        return self._native.fingerprint

    @property
    def instances(self) -> tuple[str, ...]:
        """The names of the instances, in their order: numbers within names count as numbers, ``9`` before ``10``."""
        return tuple(name for name, *_ in self._native.instances())

    def __reduce__(self) -> Any:
        return _restored, (tuple(self.tables()), self.settings)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Study) and self.fingerprint == other.fingerprint

    def __hash__(self) -> int:
        return hash(self.fingerprint)

    def _repr_html_(self) -> str:
        instances, settings = self._native.instances(), self.settings
        rows = [(name, *(f"{size:,}" for size in sizes)) for name, *sizes in instances[:SHOWN]]
        said = ", ".join(f"{key} {value}" for key, value in settings.items() if key not in ("name", "notes", "text", "silenced"))
        told = [more(len(instances), "instances"), said, settings.get("notes", "")]
        title = f"{settings['name']}: {self!r}" if "name" in settings else repr(self)
        return table(title, ("instance", "arms", "trajectories", "steps"), rows, told)

    def __repr__(self) -> str:
        def counted(count: int, one: str, more: str) -> str:
            return f"{count:,} {one if count == 1 else more}"

        instances, settings = self._native.instances(), self.settings
        features = self._native.features()
        shown = ", ".join(features[:5]) + (", …" if len(features) > 5 else "")
        return (
            f"Study({counted(len(instances), 'instance', 'instances')}, "
            f"{counted(sum(arms for _, arms, _, _ in instances), 'arm', 'arms')}, "
            f"{counted(sum(runs for _, _, runs, _ in instances), 'trajectory', 'trajectories')}, "
            f"features: {shown or 'none'}; states {settings['states']}, budget {settings['budget']}, "
            f"horizon {settings['horizon']})"
        )


def _restored(tables: tuple[Any, ...], settings: dict[str, Any]) -> Study:
    return Study(*tables, **settings)


def _toml(key: str, value: Any) -> str:
    """A setting as study.toml has it."""
    if isinstance(value, np.generic) or (isinstance(value, np.ndarray) and value.ndim <= 2):
        value = value.tolist()
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, (int, float)):
        return repr(value)
    if key == "silenced" and isinstance(value, Mapping):
        return f"{{ {', '.join(f'{_toml(key, str(name))} = {_toml(key, one)}' for name, one in value.items())} }}"
    if isinstance(value, Sequence):
        return f"[{', '.join(_toml(key, one) for one in value)}]"
    raise ValueError(f"{key}: found {type(value).__name__}, expected a number, text or a list of them")
