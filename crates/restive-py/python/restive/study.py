"""A study: everything about a decision problem with data, checked.

The tables are those of a study folder, as data frames of whichever kind, and the keywords are the settings of its
``study.toml``; the checks and their messages are those of the command line. A message names the table, the row (from 0), the arm,
the column, what was found and what is expected.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np

from restive._frames import Table, Tables, columns
from restive._restive import NativeStudy

__all__ = ["Study"]


class Study:
    """Arms with features, and what was logged of them.

    Parameters
    ----------
    arms
        One row per arm: ``arm``, perhaps ``instance`` and ``split`` (train, validation, test); every other column is a feature,
        numbers or text. A pandas or polars DataFrame, a pyarrow Table, or a mapping of names to arrays; so are the others.
    trajectories
        One row per trajectory, step and arm: ``trajectory``, ``t`` (from 0 or 1), ``arm``, ``state``, ``action`` (0 or 1), perhaps
        ``instance``, ``propensity``, ``reward``, ``order``. A trajectory of H decisions has H + 1 steps, the last without an action. A
        state that was not observed is missing. Rows may come in any order: arms and trajectories stand in the order of their names, or
        trajectories as the numbers of ``order`` say.
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
            "behaviour": behaviour, "text": text, "silenced": silenced,
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
