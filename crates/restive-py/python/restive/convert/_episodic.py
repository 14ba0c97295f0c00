"""Formats of episodes: SCOPE-RL's ``logged_dataset``, d3rlpy's ``MDPDataset``, and Minari."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from restive._extras import need
from restive._instances import Instance
from restive.convert._episodes import Episode, State, dealt, episodes, numbers, observation_names, part, whole
from restive.convert._episodes import instance as made

__all__ = ["from_d3rlpy", "from_minari", "from_scope_rl", "to_d3rlpy", "to_mdp", "to_minari", "to_scope_rl"]


def to_scope_rl(instance: Instance) -> dict[str, Any]:
    """The log as SCOPE-RL's ``logged_dataset``: a dictionary, for which SCOPE-RL is not needed.

    All its trajectories are of one length: an arm without an action at some step is refused. ``info`` says where each row comes from. Of one
    arm its self-normalised per-decision estimate is :func:`restive.cwpdis`.
    """
    found = episodes(instance, needs_propensity=True)
    h = np.shape(instance.action)[1]
    short = next((one for one in found if len(one.action) < h), None)
    if short is not None:
        raise ValueError(f"action: trajectory {short.trajectory}, arm {short.arm}: found {len(short.action)} decisions, expected {h}: trajectories of one length")
    is_last = np.tile(np.arange(h) == h - 1, len(found))
    names = observation_names(instance)
    return {
        "size": len(found) * h,
        "n_trajectories": len(found),
        "step_per_trajectory": h,
        "action_type": "discrete",
        "n_actions": 2,
        "action_dim": None,
        "action_meaning": {0: "passive", 1: "pull"},
        "action_keys": None,
        "state_dim": len(names),
        "state_keys": names,
        "state": np.concatenate([one.observations[:-1] for one in found]),
        "action": np.concatenate([one.action for one in found]),
        "reward": np.concatenate([one.reward for one in found]),
        "done": is_last,
        "terminal": is_last.copy(),
        "info": {
            "trajectory": np.repeat([one.trajectory for one in found], h),
            "arm": np.repeat([one.arm for one in found], h),
            "after": np.concatenate([one.observations[1:] for one in found]),
        },
        "pscore": np.concatenate([one.propensity for one in found]),
        "behavior_policy": "logged",
        "dataset_id": 0,
    }


def from_scope_rl(
    logged: Mapping[str, Any],
    *,
    states: int,
    budget: int,
    discount: float = 0.99,
    rewards: ArrayLike | None = None,
    chain: int | None = None,
    state: State | None = None,
    arms: int | None = None,
) -> Instance:
    """The instance of SCOPE-RL's ``logged_dataset`` with two discrete actions, of which 1 is the pull.

    What :func:`to_scope_rl` wrote comes back as it was. Otherwise each trajectory is an arm of its own, or they are those of ``arms`` arms in turn, and
    the state after the last decision is unknown. ``state`` is as for :func:`restive.convert.from_obp`.
    """
    kind = "SCOPE-RL's logged_dataset"
    if part(logged, "action_type", kind) != "discrete" or int(part(logged, "n_actions", kind)) != 2:
        raise ValueError(f"n_actions: found {logged['action_type']} {logged['n_actions']}, expected two discrete ones: passive and pull")
    count, h = (int(part(logged, name, kind)) for name in ("n_trajectories", "step_per_trajectory"))
    if count < 1 or h < 1:
        raise ValueError(f"n_trajectories: found {count} of {h} steps, expected at least one of each")
    cells = {name: part(logged, name, kind) for name in ("state", "action", "reward")} | {"pscore": logged.get("pscore")}
    rows = {name: None if cell is None else numbers(cell, name, count * h, f"step of {count} trajectories of {h}") for name, cell in cells.items()}
    observations, action = rows["state"].reshape(count, h, -1), whole(cells["action"], "action").reshape(count, h)
    reward = rows["reward"].reshape(count, h)
    pscore = None if rows["pscore"] is None else rows["pscore"].reshape(count, h)
    own = logged.get("info") or {}
    is_own = {"trajectory", "arm", "after"} <= set(own)
    if is_own:
        own = {name: numbers(own[name], f"info[{name!r}]", count * h, "row") for name in ("trajectory", "arm", "after")}
    run, arm = (own[name][::h] for name in ("trajectory", "arm")) if is_own else dealt(count, arms)
    last = own["after"].reshape(count, h, -1)[:, -1:] if is_own else np.full_like(observations[:, :1], np.nan)
    seen = np.concatenate([observations, last], axis=1)
    found = [Episode(int(run[k]), int(arm[k]), 0, seen[k], action[k], reward[k], None if pscore is None else pscore[k]) for k in range(count)]
    return made(found, states=states, budget=budget, discount=discount, rewards=rewards, chain=chain, state=state)


def to_mdp(instance: Instance) -> dict[str, NDArray[Any]]:
    """The arrays of d3rlpy's ``MDPDataset``, by its keywords: observations, actions, rewards, terminals, timeouts.

    An episode of L decisions has L + 1 rows. The last holds what was observed after the last decision, with an action and a reward of 0 that d3rlpy never
    reads: a timeout there says that the episode was cut and did not end. Propensities have no place in it.
    """
    found = episodes(instance)
    is_last = np.concatenate([np.arange(len(one.action) + 1) == len(one.action) for one in found])
    return {
        "observations": np.concatenate([one.observations for one in found]).astype(np.float32),
        "actions": np.concatenate([np.r_[one.action, 0] for one in found]),
        "rewards": np.concatenate([np.r_[one.reward, 0.0] for one in found]).astype(np.float32),
        "terminals": np.zeros(len(is_last), dtype=np.float32),
        "timeouts": is_last.astype(np.float32),
    }


def to_d3rlpy(instance: Instance) -> Any:
    """The log as d3rlpy's ``MDPDataset`` of :func:`to_mdp`, with two discrete actions; in float32, as d3rlpy has it."""
    d3rlpy = need("d3rlpy", "restive.convert.to_d3rlpy")
    return d3rlpy.dataset.MDPDataset(**to_mdp(instance), action_space=d3rlpy.ActionSpace.DISCRETE, action_size=2)


def from_d3rlpy(
    dataset: Any,
    *,
    states: int,
    budget: int,
    discount: float = 0.99,
    rewards: ArrayLike | None = None,
    chain: int | None = None,
    state: State | None = None,
    arms: int | None = None,
) -> Instance:
    """The instance of a dataset with ``episodes`` of ``observations``, ``actions``, ``rewards`` and ``terminated``, as d3rlpy has them.

    Each episode is an arm of its own, or they are those of ``arms`` arms in turn, which is how :func:`to_d3rlpy` writes them. Of an episode that did not
    terminate the last row is an observation alone; of one that did, what came after the last decision is unknown. Without
    propensities there is no importance sampling. ``state`` is as for :func:`restive.convert.from_obp`.
    """
    if not hasattr(dataset, "episodes"):
        raise TypeError(f"dataset: found {type(dataset).__name__}, expected one with episodes, as d3rlpy has them")
    all_episodes = _episodes(dataset.episodes, "observations", "actions", "rewards", "terminated")
    run, arm = dealt(len(all_episodes), arms)
    found = []
    for k, one in enumerate(all_episodes):
        seen = np.asarray(one.observations, dtype=np.float64)
        action, reward = whole(one.actions, "actions"), np.asarray(one.rewards, dtype=np.float64).reshape(-1)
        if one.terminated:
            seen = np.concatenate([seen, np.full_like(seen[:1], np.nan)])
        else:
            action, reward = action[:-1], reward[:-1]
        found.append(Episode(int(run[k]), int(arm[k]), 0, seen, action, reward, None))
    return made(found, states=states, budget=budget, discount=discount, rewards=rewards, chain=chain, state=state)


def to_minari(instance: Instance, dataset_id: str, **more: Any) -> Any:
    """Writes the log as a Minari dataset of that id, and returns it; ``more`` goes to ``minari.create_dataset_from_buffers``.

    Each episode is truncated, never terminated; ``infos`` have trajectory, arm and step of each row and, where they were logged, propensities (1 in the
    last row, which has no decision).
    """
    minari = need("minari", "restive.convert.to_minari")
    from gymnasium import spaces
    from minari.data_collector import EpisodeBuffer

    found = episodes(instance)
    buffers = []
    for k, one in enumerate(found):
        rows = len(one.action) + 1
        infos: dict[str, Any] = {"trajectory": np.full(rows, one.trajectory), "arm": np.full(rows, one.arm), "step": one.first + np.arange(rows)}
        if one.propensity is not None:
            infos["propensity"] = np.r_[one.propensity, 1.0]
        is_last = np.arange(rows - 1) == rows - 2
        buffers.append(
            EpisodeBuffer(
                id=k, observations=one.observations, actions=one.action, rewards=list(one.reward),
                terminations=[False] * (rows - 1), truncations=is_last.tolist(), infos=infos,
            )
        )  # fmt: skip
    shown = spaces.Box(-np.inf, np.inf, (found[0].observations.shape[1],), np.float64)
    return minari.create_dataset_from_buffers(dataset_id, buffers, observation_space=shown, action_space=spaces.Discrete(2), **more)


def from_minari(
    dataset: Any,
    *,
    states: int,
    budget: int,
    discount: float = 0.99,
    rewards: ArrayLike | None = None,
    chain: int | None = None,
    state: State | None = None,
    arms: int | None = None,
) -> Instance:
    """The instance of a Minari dataset, or of its episodes, with two actions, of which 1 is the pull.

    What :func:`to_minari` wrote comes back as it was. Otherwise each episode is an arm of its own, or they are those of ``arms`` arms in turn.
    ``infos["propensity"]`` counts where it is there. ``state`` is as for :func:`restive.convert.from_obp`.
    """
    all_episodes: Iterable[Any] = dataset.iterate_episodes() if hasattr(dataset, "iterate_episodes") else dataset
    all_episodes = _episodes(all_episodes, "observations", "actions", "rewards", "infos")
    run, arm = dealt(len(all_episodes), arms)
    found = []
    for k, one in enumerate(all_episodes):
        action, infos = whole(one.actions, "actions"), one.infos or {}
        is_own = {"trajectory", "arm", "step"} <= set(infos)
        if not len(action):
            raise ValueError(f"actions: episode {k}: found none, expected at least one")
        place = [int(np.asarray(infos[name])[0]) for name in ("trajectory", "arm", "step")] if is_own else [int(run[k]), int(arm[k]), 0]
        chance = np.asarray(infos["propensity"], dtype=np.float64)[: len(action)] if "propensity" in infos else None
        seen, reward = np.asarray(one.observations, dtype=np.float64), np.asarray(one.rewards, dtype=np.float64)
        found.append(Episode(place[0], place[1], place[2], seen, action, reward, chance))
    return made(found, states=states, budget=budget, discount=discount, rewards=rewards, chain=chain, state=state)


def _episodes(found: Iterable[Any], *names: str) -> list[Any]:
    """All episodes, each with what it has to have."""
    found = list(found)
    if not found:
        raise ValueError("episodes: found none, expected at least one")
    for k, one in enumerate(found):
        for name in names:
            if not hasattr(one, name):
                raise TypeError(f"episode {k}: found {type(one).__name__} without {name}, expected {', '.join(names)}")
    return found
