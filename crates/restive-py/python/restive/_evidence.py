"""Evidence for anybody's ranking: does it find those for whom a pull makes a difference, and what would its plan bring?

The ranking enters through its ranks alone, a number for every arm and state, wherever it comes from. It must not have been learnt
from the people of the study: nothing here can see whether it was.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from restive import _restive
from restive.study import Study

__all__ = ["evidence"]


def evidence(
    scores: ArrayLike | Sequence[ArrayLike],
    study: Study,
    *,
    behaviour: Literal["logged", "uniform", "rota", "estimated"] | None = None,
    folds: int = 5,
    deals: int | None = None,
    seed: int = 0,
) -> dict[str, Any]:
    """What the log of a study says of a ranking; as ``restive evaluate --json`` has it under ``evidence``.

    ``scores`` are ``[N,M]``, a number for each arm (in the order of the study: by name, 9 before 10) in each state, or ``[N]``
    where states do not matter; the higher is pulled first. Where the study has several instances, a list of such arrays.
    ``behaviour`` says how those who were pulled were chosen (None: as the study says). Effects of pulls come from a judge who was
    fitted, fold by fold, to other people. The answer has ``p``, ``gain`` over random pulls per 100 people, ``detectable``, ``deciles``
    and all that they rest on; or, where it would not be to be believed, ``refused`` and ``what_to_do``.

    >>> import restive
    >>> people = restive.generate("maternal", seed=3, groups=6, people=150, budget=12, effect_spread=2.0)
    >>> knows = [p.P[:, :, 1, 1] - p.P[:, :, 0, 1] for p in people]
    >>> found = evidence(knows, people.to_study(), deals=199)
    >>> found["p"] < 0.05, found["gain"]["value"] > 0
    (True, True)
    """
    if not isinstance(study, Study):
        raise TypeError(f"study: expected a restive.Study, found {type(study).__module__}.{type(study).__qualname__}")
    states, instances = int(study.settings["states"]), study.instances
    is_one = len(instances) == 1 and isinstance(scores, np.ndarray)
    tables: list[Any] = [scores] if is_one else list(scores)  # type: ignore[arg-type]
    names = [*instances, *[""] * len(tables)]
    arrays = [_table(table, states, name) for table, name in zip(tables, names, strict=False)]
    asked = {"behaviour": behaviour, "folds": folds, "deals": deals, "seed": seed}
    answer: dict[str, Any] = json.loads(_restive.evidence(study._native, arrays, asked))
    return answer


def _table(scores: Any, states: int, instance: str) -> NDArray[np.float64]:
    try:
        table = np.asarray(scores, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"scores: instance {instance}: expected numbers, found {type(scores).__name__}") from error
    if table.ndim == 1:
        table = np.repeat(table[:, None], states, axis=1)
    if table.ndim != 2:
        raise ValueError(f"scores: instance {instance}: found {table.ndim} dimensions, expected [N] or [N,{states}]")
    if not np.isfinite(table).all():
        raise ValueError(f"scores: instance {instance}: found a number that is not finite, expected finite ones")
    return np.ascontiguousarray(table)
