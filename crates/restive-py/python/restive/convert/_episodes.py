"""What all formats share: the episodes of an instance, one for each arm of each trajectory, and an instance from episodes."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from restive._instances import Instance

__all__ = ["Episode", "State", "episodes", "indicators", "instance", "observation_names"]

#: Which states observations [L,D] stand for: integers [L], -1 where unknown.
State = Callable[[NDArray[np.float64]], ArrayLike]


@dataclass(frozen=True)
class Episode:
    """Decisions of one arm that follow each other."""

    trajectory: int
    arm: int
    first: int
    """The step of the first decision."""
    observations: NDArray[np.float64]
    """[L+1,D]: before each decision, and after the last."""
    action: NDArray[np.int64]
    """[L]"""
    reward: NDArray[np.float64]
    """[L]"""
    propensity: NDArray[np.float64] | None
    """[L]"""


def indicators(state: NDArray[Any], count: int) -> NDArray[np.float64]:
    """[...,count]: 1 in the place of each state, all 0 where it is -1."""
    return (np.asarray(state)[..., None] == np.arange(count)).astype(np.float64)


def observation_names(one: Instance) -> list[str]:
    """What the columns of an observation are called."""
    chain = one.chain or 1
    states = [f"state = {s}" if chain == 1 else f"last seen {s // chain}, {s % chain} ago" for s in range(len(one.rewards) * chain)]
    return states + (one.feature_names or [f"f_{c:02}" for c in range(one.features.shape[1])])


def rewards_of(one: Instance) -> NDArray[np.float64]:
    """[J,H,N]: the reward of every decision, NaN where it is not known."""
    if one.reward is not None:
        return np.asarray(one.reward, dtype=np.float64)
    if one.chain is not None:
        return np.full(np.shape(one.action), np.nan)  # labels are no states
    state, action = np.asarray(one.state)[:, :-1], np.asarray(one.action).astype(np.int64)
    return np.where((state < 0) | (action < 0), np.nan, np.asarray(one.rewards)[state, action])


def episodes(one: Instance, needs_propensity: bool = False) -> list[Episode]:
    """The episodes of an instance: trajectory by trajectory, arm by arm; a step without an action ends one."""
    if not isinstance(one, Instance):
        raise TypeError(f"instance: expected a restive.Instance, found {type(one).__module__}.{type(one).__qualname__}")
    if needs_propensity and one.propensity is None:
        raise ValueError("propensity: found none, expected that of every decision: importance sampling divides by it")
    reward, chain = rewards_of(one), one.chain or 1
    shown = indicators(one.state, len(one.rewards) * chain)  # [J,T,N,M]
    found = []
    j, h, n = np.shape(one.action)
    for run in range(j):
        for arm in range(n):
            is_decided = np.r_[False, np.asarray(one.action)[run, :, arm] >= 0, False]
            edges = np.flatnonzero(is_decided[1:] != is_decided[:-1]).reshape(-1, 2)
            for first, end in edges:
                cut = (run, slice(first, end), arm)
                if np.isnan(reward[cut]).any():
                    step = first + int(np.isnan(reward[cut]).argmax())
                    raise ValueError(f"reward: trajectory {run}, step {step}, arm {arm}: found none, expected one for every decision")
                known = np.repeat(one.features[arm][None], end - first + 1, axis=0)
                found.append(
                    Episode(
                        run, arm, int(first), np.hstack([shown[run, first : end + 1, arm], known]),
                        np.asarray(one.action)[cut].astype(np.int64), reward[cut],
                        None if one.propensity is None else np.asarray(one.propensity)[cut].astype(np.float64),
                    )
                )  # fmt: skip
    if not found:
        raise ValueError("action: found no decision, expected at least one")
    return found


def dealt(count: int, arms: int | None) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Trajectory and arm of logs that do not say: each an arm of its own, or in turn to so many arms."""
    if arms is None:
        return np.zeros(count, dtype=np.int64), np.arange(count)
    if arms < 1 or count % arms:
        raise ValueError(f"arms: found {arms}, expected a divisor of the {count} episodes: as many of each arm")
    return np.arange(count) // arms, np.arange(count) % arms


def part(log: Any, name: str, kind: str) -> Any:
    """What a dictionary holds under a name."""
    if not isinstance(log, Mapping):
        raise TypeError(f"log: found {type(log).__name__}, expected a dictionary: {kind}")
    if name not in log:
        raise ValueError(f"{name}: found none, expected that of {kind}, in which there are {', '.join(map(repr, log)) or 'no keys'}")
    return log[name]


def numbers(cells: Any, what: str, rows: int, of: str) -> NDArray[np.float64]:
    """Numbers, as many of them (or as many rows) as there are decisions."""
    try:
        found = np.asarray(cells, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{what}: found what are no numbers ({error}), expected {rows} of them, one for each {of}") from None
    if found.ndim == 0 or len(found) != rows:
        raise ValueError(f"{what}: found shape {list(found.shape)}, expected {rows} rows, one for each {of}")
    return found


def _check(found: Sequence[Episode]) -> None:
    """Whether episodes fit together, and each of them with itself."""
    if not found:
        raise ValueError("episodes: found none, expected at least one")
    width = np.shape(found[0].observations)[1:]
    for one in found:
        where = f"trajectory {one.trajectory}, arm {one.arm}"
        if min(one.trajectory, one.arm, one.first) < 0:
            raise ValueError(f"{where}: found numbers below 0 or a first step {one.first}, expected them from 0")
        if np.ndim(one.observations) != 2 or np.shape(one.observations)[1:] != width:
            raise ValueError(f"observations: {where}: found shape {list(np.shape(one.observations))}, expected rows of {width[0] if width else 'several'} columns")
        rows = {"observations": len(one.action) + 1, "reward": len(one.action), "propensity": len(one.action)}
        for name, expected in rows.items():
            cells = getattr(one, name)
            if cells is not None and len(cells) != expected:
                raise ValueError(f"{name}: {where}: found {len(cells)}, expected {expected} for {len(one.action)} decisions")
    if not any(len(one.action) for one in found):
        raise ValueError("action: found no decision, expected at least one")


def instance(
    found: Sequence[Episode],
    *,
    states: int,
    budget: int,
    discount: float,
    rewards: ArrayLike | None,
    chain: int | None,
    state: State | None,
) -> Instance:
    """The instance of episodes."""
    _check(found)
    count = states * (chain or 1)
    j, n = (max(getattr(one, name) for one in found) + 1 for name in ("trajectory", "arm"))
    h = max(one.first + len(one.action) for one in found)
    shape = (j, h, n)
    table = np.linspace(0.0, 1.0, states) if rewards is None else np.asarray(rewards, dtype=np.float64)
    table = np.stack([table, table], axis=1) if table.ndim == 1 else table
    log = np.full((j, h + 1, n), -1, dtype=np.int64)
    action, reward, propensity = np.full(shape, -1, dtype=np.int8), np.full(shape, np.nan), np.ones(shape)
    has_propensity = all(one.propensity is not None for one in found)
    features: list[NDArray[np.float64] | None] = [None] * n
    moved = False
    for one in found:
        seen, known = _read(one.observations, count, state)
        end = one.first + len(one.action)
        log[one.trajectory, one.first : end + 1, one.arm] = seen
        cut = (one.trajectory, slice(one.first, end), one.arm)
        if (action[cut] >= 0).any():
            step = one.first + int((action[cut] >= 0).argmax())
            raise ValueError(f"action: trajectory {one.trajectory}, step {step}, arm {one.arm}: found two, expected one")
        action[cut], reward[cut] = one.action, one.reward
        if has_propensity:
            propensity[cut] = one.propensity
        first = features[one.arm]
        first = known[0] if first is None else first
        features[one.arm] = first
        moved |= not (known == first).all()
    if any(known is None for known in features):
        raise ValueError(f"arms: found none of {features.index(None)}, expected every arm below {n}")
    if moved:
        warnings.warn("features differ between the steps of an arm: those of its first step count", stacklevel=3)
    is_decided = action >= 0
    at = np.where(is_decided, action, 0)
    # rewards that are those of the table need not be kept
    by_table = chain is None and (log[:, :-1][is_decided] >= 0).all() and (reward == table[log[:, :-1], at])[is_decided].all()
    return Instance(
        features=np.array(features), state=log, action=action, propensity=propensity if has_propensity else None,
        reward=None if by_table else reward, rewards=table, budget=budget, discount=discount, chain=chain,
    )  # fmt: skip


def _read(observations: NDArray[np.float64], count: int, state: State | None) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """The state of each observation, and the features of those that are there: nothing but NaN stands for what was not recorded."""
    is_there = ~np.isnan(observations).all(axis=1)
    there, seen = observations[is_there], np.full(len(observations), -1, dtype=np.int64)
    if state is not None:
        found = np.asarray(state(there))
        if found.shape != (len(there),) or found.dtype.kind not in "iu" or (found >= count).any() or (found < -1).any():
            raise ValueError(f"state: found {found.dtype} {list(found.shape)}, expected [{len(there)}] states below {count}, -1 where unknown")
        seen[is_there] = found
        return seen, there
    shown = there[:, :count]
    if shown.shape[1] < count or not (np.isin(shown, (0.0, 1.0)).all() and (shown.sum(axis=1) <= 1).all()):
        raise ValueError(
            f"observations: found {there.shape[1]} columns of which the first {count} are no indicators of a state, expected those; "
            "say which state they stand for by state="
        )
    seen[is_there] = np.where(shown.any(axis=1), shown.argmax(axis=1), -1)
    return seen, there[:, count:]


def whole(cells: Iterable[Any], what: str) -> NDArray[np.int64]:
    """Actions as 0 and 1."""
    found = np.asarray(cells)
    found = found.reshape(len(found)) if found.ndim == 2 and found.shape[1] == 1 else found
    if found.ndim != 1 or not np.isin(found, (0, 1)).all():
        raise ValueError(f"{what}: found shape {list(found.shape)} or other numbers, expected 0 (passive) and 1 (pull), one for each decision")
    return found.astype(np.int64)
