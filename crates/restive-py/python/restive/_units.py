"""The arms or the instances of a study as rows that can be dealt: what scikit-learn's splitters and searches take for ``X``.

A study is no array: what is held out are people (or whole groups of them) with all their records. Here are as many rows as there are arms or
instances; choosing rows gives the study of those. The column ``split`` is left out, because folds take its place; a fold of arms keeps a budget in
proportion, as parts of a training do.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from restive._html import SHOWN, more, table

if TYPE_CHECKING:
    from restive.study import Study

__all__ = ["Units"]


class Units:
    """The rows of a study, for ``cross_val_score``, ``GridSearchCV`` and every splitter; made by ``study.units()``.

    ``study`` is the study of the rows; ``names`` are those of the arms or instances, ``groups`` the instance of each row, for splitters that
    keep groups together. An estimator that is fitted on a fold deals it 70/10/20 by its seed; the score of a fold is that of
    all its arms.

    >>> import restive
    >>> from sklearn.model_selection import KFold, cross_val_score
    >>> study = restive.generate("two-state", seed=7, instances=8, arms=10, budget=2, trajectories=5).to_study()
    >>> cross_val_score(restive.TwoStage(predictor="effect"), study.units("instances"), cv=KFold(2)).shape
    (2,)
    """

    def __init__(self, study: Study, over: Literal["arms", "instances"], chosen: NDArray[np.intp] | None = None) -> None:
        if over not in ("arms", "instances"):
            raise ValueError(f"over: found {over!r}, expected 'arms' or 'instances'")
        self._whole, self.over = study, over
        sizes = [n for _, n, _, _ in study._native.instances()]
        count = sum(sizes) if over == "arms" else len(sizes)
        self._sizes = np.array(sizes)
        self._chosen = np.arange(count) if chosen is None else chosen

    @property
    def shape(self) -> tuple[int]:
        """The rows."""
        return (len(self._chosen),)

    def __len__(self) -> int:
        return len(self._chosen)

    def __getitem__(self, rows: Any) -> Units:
        """Some of the rows: numbers, a mask or a slice."""
        if isinstance(rows, tuple) and len(rows) == 2 and rows[1] is Ellipsis:  # as scikit-learn asks
            rows = rows[0]
        chosen = np.atleast_1d(self._chosen[rows])
        if chosen.ndim != 1 or len(np.unique(chosen)) != len(chosen):
            raise ValueError("rows: found one more than once, expected each of them at most once")
        return Units(self._whole, self.over, chosen)

    @property
    def _instance(self) -> NDArray[np.intp]:
        """The position of the instance of each row."""
        return np.repeat(np.arange(len(self._sizes)), self._sizes)[self._chosen] if self.over == "arms" else self._chosen

    @property
    def groups(self) -> NDArray[Any]:
        """The instance of each row, by name."""
        return np.array(self._whole.instances, dtype=object)[self._instance]

    @property
    def names(self) -> NDArray[Any]:
        """What the rows are called: arms, or instances."""
        if self.over == "instances":
            return self.groups
        return np.array(dict(self._whole._native.tables()[0])["arm"], dtype=object)[self._chosen]

    @property
    def study(self) -> Study:
        """The study of the rows."""
        is_kept = np.zeros(int(self._sizes.sum()), dtype=bool)
        if self.over == "instances":
            is_kept = np.repeat(np.isin(np.arange(len(self._sizes)), self._chosen), self._sizes)
        else:
            is_kept[self._chosen] = True
        budget = int(self._whole.settings["budget"])
        if self.over == "arms" and budget > 0:
            kept = np.bincount(self._instance, minlength=len(self._sizes))
            share = budget * kept[kept > 0] / self._sizes[kept > 0]
            budget = int(np.maximum(1, np.floor(share + 0.5)).min())
        return self._whole._select(is_kept, budget, False)

    def __repr__(self) -> str:
        return f"<restive.Units: {len(self):,} {self.over} of {self._whole!r}>"

    def _repr_html_(self) -> str:
        head = ("arm", "instance") if self.over == "arms" else ("instance", "arms")
        first = self._chosen[:SHOWN]
        groups = np.array(self._whole.instances, dtype=object)[self._instance[:SHOWN]]
        beside = groups if self.over == "arms" else [f"{size:,}" for size in self._sizes[first]]
        rows = [(str(name), str(cell)) for name, cell in zip(self.names[:SHOWN], beside, strict=True)]
        return table(repr(self), head, rows, [more(len(self), self.over)])
