"""Instances as the kernels take them: arrays, with the names under which a study knows them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from restive._html import table
from restive._restive import _generate, _generate_study

if TYPE_CHECKING:
    from restive.study import Study

__all__ = ["Instance", "Instances"]


@dataclass(frozen=True, eq=False, kw_only=True)
class Instance:
    """N arms with what is known of them and what was logged: the unit of learning and planning.

    Axes: J trajectories, H decisions, N arms, M states, F features. What has a default may be left out, here and in
    :meth:`restive.Study.from_arrays`: names are numbers then, and features ``f_00``, ``f_01``, ….
    """

    features: NDArray[np.float64]
    """[N,F]: what is known of the arms."""
    state: NDArray[np.int64]
    """[J,H+1,N]: logged states, -1 where unseen; labels s*chain + h where states are seen at pulls only."""
    action: NDArray[np.int8]
    """[J,H,N]: 1 for a pull, 0 passive, -1 where there was none."""
    propensity: NDArray[np.float64] | None = None
    """[J,H,N]: the probability of each logged action; None where it was not logged (a rota has none)."""
    reward: NDArray[np.float64] | None = None
    """[J,H,N]: what was earned, where that was logged (collapsing); None: `rewards` of the states."""
    available: NDArray[np.bool_] | None = None
    """[J,H+1,N]: whether each arm could be pulled, the last step included; [J,H,N]: at the last step each could. None: always."""
    rewards: NDArray[np.float64]
    """[M,2]: R(s, a)."""
    P: NDArray[np.float64] | None = None
    """[N,M,2,M]: the true transitions P(state, action, next state), where they are known."""
    budget: int
    """K, the arms that may be pulled at each step."""
    discount: float
    chain: int | None = None
    """Labels of each state where states are seen at pulls only; None where they are always seen."""
    name: str | None = None
    """What the instance is called."""
    arms: list[str] | None = None
    """[N]: what the arms are called, in the order of their names."""
    trajectories: list[str] | None = None
    """[J]: what the trajectories are called, from the first to the latest."""
    feature_names: list[str] | None = None
    """[F]: what the features are called."""
    split: list[str] | None = None
    """[N]: the part of each arm (train, validation, test), where the study says."""
    clusters: list[str] | None = None
    """[N]: name of the cluster of each arm, such as its household; equal names are one cluster, in all instances. None: each arm is one."""
    last: dict[str, Any] | None = None
    """``action``, ``propensity``, ``reward``, [J,N]: what was logged at the last step, whose outcome is not known; None where nothing was."""

    def __repr__(self) -> str:
        trajectories, steps, arms = self.state.shape
        return (
            f"<restive.Instance of {arms} arms, {self.rewards.shape[0]} states, budget {self.budget}, "
            f"{trajectories} trajectories of {steps - 1} decisions>"
        )

    def _repr_html_(self) -> str:
        arrays = {name: value for name, value in vars(self).items() if isinstance(value, np.ndarray)}
        rows = [(name, str(list(value.shape)), str(value.dtype)) for name, value in arrays.items()]
        return table(repr(self), ("array", "shape", "type"), rows)


class Instances(list[Instance]):
    """A list of :class:`Instance` that can become a study: what :func:`restive.generate` and ``study.to_arrays()`` give.

    ``settings`` are those of the study that they come from, by the keys of ``study.toml``; ``domain``, ``seed`` and ``sizes`` say what was
    generated (None of a study).
    """

    def __init__(self, instances: Iterable[Instance] = (), settings: dict[str, Any] | None = None) -> None:
        super().__init__(instances)
        self.settings = dict(settings or {})
        self.domain: str | None = None
        self.seed: int | None = None
        self.sizes: dict[str, Any] | None = None
        self._generated: tuple[Instance, ...] = ()

    @classmethod
    def generated(cls, domain: str, seed: int, sizes: dict[str, Any]) -> Instances:
        """Those of a synthetic domain."""
        made = cls(Instance(**parts) for parts in _generate(domain, seed, sizes))
        made.domain, made.seed, made.sizes, made._generated = domain, seed, sizes, tuple(made)
        return made

    def __getitem__(self, key: Any) -> Any:
        found = super().__getitem__(key)
        return Instances(found, self.settings) if isinstance(key, slice) else found

    def to_study(self, **settings: Any) -> Study:
        """The same as a :class:`restive.Study`.

        Of what was generated it is the one that ``restive generate`` writes, with a column ``split``, the truth, and names of features;
        otherwise, and where settings are given, that of :meth:`restive.Study.from_arrays`.
        """
        from restive.study import Study

        is_whole = len(self) == len(self._generated) and all(a is b for a, b in zip(self, self._generated, strict=True))
        if self.domain is not None and is_whole and not settings:
            return Study._of(_generate_study(self.domain, self.seed, self.sizes))
        return Study.from_arrays(self, **settings)

    def _repr_html_(self) -> str:
        sizes = lambda one: (one.features.shape[0], one.state.shape[0], one.state.shape[1] - 1, one.features.shape[1])
        rows = [(one.name or str(k), *map(str, sizes(one))) for k, one in enumerate(self)]
        title = f"{len(self)} instances" + (f" of {self.domain}, seed {self.seed}" if self.domain else "")
        return table(title, ("instance", "arms", "trajectories", "decisions", "features"), rows)
