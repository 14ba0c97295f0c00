"""Between the arrays of the kernels and the tables of a study, and which arms are meant by a choice.

The way in goes through the tables, so that arrays are checked as any study is. A row is made where something is known, and for the
first arm of every trajectory at every step, so that lengths survive.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, KeysView, Mapping, Sequence, ValuesView
from typing import Any

import numpy as np
from numpy.typing import NDArray

from restive._frames import columns
from restive._instances import Instance, Instances

__all__ = ["chosen_arms", "chosen_instances", "tables_of"]

#: Columns that a table of arms has beside the features.
OWN = ("instance", "arm", "split")
#: Column of clusters if no setting names it.
CLUSTER = "cluster"


def tables_of(instances: Sequence[Instance] | Instance, arms: Any, given: Mapping[str, Any]) -> tuple[Any, Any, Any, dict[str, Any]]:
    """arms, trajectories, truth and settings of a study; ``arms`` is a table that replaces the features, where it is given."""
    if isinstance(instances, Instance):
        instances = [instances]
    instances = instances if isinstance(instances, Instances) else list(instances)
    if not instances:
        raise ValueError("instances: found none, expected at least one")
    for k, one in enumerate(instances):
        if not isinstance(one, Instance):
            raise TypeError(f"instances: {k}: expected a restive.Instance, found {type(one).__module__}.{type(one).__qualname__}")
    names = [str(k) if one.name is None else one.name for k, one in enumerate(instances)]
    logs = [_log(name, one) for name, one in zip(names, instances, strict=True)]
    truths = [one.P is not None for one in instances]
    if any(truths) != all(truths):
        raise ValueError(f"P: instance {names[truths.index(False)]}: found none, expected the truth of all instances or of none")
    cluster = given.get("cluster") or getattr(instances, "settings", {}).get("cluster")
    has_clusters = any(one.clusters is not None for one in instances)
    if arms is None:
        arms = _stacked([_features(name, one, cluster or CLUSTER) for name, one in zip(names, instances, strict=True)])
        given = {**given, "cluster": cluster or CLUSTER} if has_clusters else {"cluster": None, **given}
    elif has_clusters and cluster is None:
        raise ValueError("cluster: found clusters of instances beside a table of arms, expected cluster=, the column of that table")
    truth = _stacked([_truth(name, one) for name, one in zip(names, instances, strict=True)]) if all(truths) else None
    settings = _settings(instances, names, given)
    if "text" in settings:
        features = [name for name, _ in columns("arms", arms)[1]]
        settings["text"] = [name for name in settings["text"] if name in features]
    return arms, _stacked(logs), truth, settings


def _settings(instances: Sequence[Instance], names: Sequence[str], given: Mapping[str, Any]) -> dict[str, Any]:
    """What the instances agree on, what the study that they come from says, and what is given, the last before the first."""
    first = instances[0]
    said: dict[str, Any] = {}
    for key in ("rewards", "discount", "budget", "chain"):
        for name, one in zip(names, instances, strict=True):
            if not np.array_equal(getattr(one, key), getattr(first, key)):
                raise ValueError(f"{key}: instance {name}: found {getattr(one, key)!r}, expected that of instance {names[0]}, {getattr(first, key)!r}")
        said[key] = getattr(first, key)
    said["rewards"], said["states"] = np.asarray(first.rewards).tolist(), len(first.rewards)
    said["horizon"] = max(one.state.shape[1] for one in instances) - 1
    if first.chain is None:
        del said["chain"]
    else:
        said["observation"] = "collapsing"
    said.update(getattr(instances, "settings", {}))
    said.update(given)
    if "behaviour" not in said:
        if any(one.propensity is None for one in instances):
            raise ValueError(
                "behaviour: found no propensities and nothing said, expected one of uniform, estimated, round-robin-as-uniform, none"
            )
        said["behaviour"] = "logged"
    return said


def _named(what: str, instance: str, names: Sequence[str] | None, count: int, form: Callable[[int], str] = str) -> NDArray[Any]:
    if names is not None and len(names) != count:
        raise ValueError(f"{what}: instance {instance}: found {len(names)} names, expected {count}")
    return np.array([form(i) for i in range(count)] if names is None else [str(name) for name in names], dtype=object)


def _shaped(what: str, instance: str, array: Any, shape: tuple[int | None, ...]) -> NDArray[Any]:
    found = np.asarray(array)
    fits = found.ndim == len(shape) and all(b is None or a == b for a, b in zip(found.shape, shape, strict=True))
    if not fits:
        axes = ", ".join("?" if size is None else str(size) for size in shape)
        raise ValueError(f"{what}: instance {instance}: found shape {list(found.shape)}, expected [{axes}]")
    return found


def _features(name: str, one: Instance, cluster: str) -> dict[str, NDArray[Any]]:
    """The rows of an instance's arms; ``cluster`` is the name of the column of clusters."""
    n = np.asarray(one.state).shape[-1]
    features = _shaped("features", name, one.features, (n, None))
    try:
        features = features.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"features: instance {name}: found {features.dtype} ({error}), expected numbers; text goes into a table: arms=") from None
    labels = _named("feature_names", name, one.feature_names, features.shape[1], lambda c: f"f_{c:02}")
    own = OWN if one.clusters is None else (*OWN, cluster)
    for label in labels:
        if label in own or list(labels).count(label) > 1:
            raise ValueError(f"feature_names: instance {name}: found {label!r}, expected names of their own, none of {', '.join(own)}")
    table = {"instance": np.full(n, name, dtype=object), "arm": _named("arms", name, one.arms, n)}
    table |= {label: features[:, c] for c, label in enumerate(labels)}
    if one.clusters is not None:
        if any(found is None or found != found for found in one.clusters):
            raise ValueError(f"clusters: instance {name}: found a missing name, expected the cluster of each arm")
        table[cluster] = _named("clusters", name, one.clusters, n)
    if one.split is not None:
        table["split"] = _named("split", name, one.split, n)
    return table


def _truth(name: str, one: Instance) -> dict[str, NDArray[Any]]:
    n, m = np.asarray(one.state).shape[-1], len(one.rewards)
    P = _shaped("P", name, one.P, (n, m, 2, m))
    table = {"instance": np.full(n, name, dtype=object), "arm": _named("arms", name, one.arms, n)}
    return table | {f"p_{s}_{a}_{to}": P[:, s, a, to] for s in range(m) for a in range(2) for to in range(m)}


def _log(name: str, one: Instance) -> dict[str, NDArray[Any]]:
    """The rows of an instance's trajectories."""
    state = _shaped("state", name, one.state, (None, None, None))
    j, steps, n = state.shape
    if 0 in state.shape:
        raise ValueError(f"state: instance {name}: found shape {[j, steps, n]}, expected at least one trajectory, step and arm")
    decided = (j, steps - 1, n)

    def longer(what: str, array: Any, fill: Any) -> NDArray[np.float64]:
        """Decisions as steps, with what was logged at the last."""
        all_steps = np.full((j, steps, n), fill, dtype=np.float64)
        all_steps[:, :-1] = _shaped(what, name, array, decided)
        if one.last is not None and one.last.get(what) is not None:
            all_steps[:, -1] = _shaped(f"last: {what}", name, one.last[what], (j, n))
        return all_steps

    action = longer("action", one.action, -1)
    reward = None if one.reward is None else longer("reward", one.reward, np.nan)
    is_known = (state != -1) | (action != -1)
    if reward is not None:
        is_known |= ~np.isnan(reward)
    available = _available(name, one, (j, steps, n))
    if available is not None:
        is_known |= ~available
    is_known[:, :, 0] = True
    at = np.nonzero(is_known)
    run, t, arm = at
    none = lambda cells: np.where(cells == -1, np.nan, cells)  # what was not observed
    table = {
        "instance": np.full(len(t), name, dtype=object),
        "trajectory": _named("trajectories", name, one.trajectories, j)[run],
        "t": t,
        "arm": _named("arms", name, one.arms, n)[arm],
    }
    if one.chain is None:
        table["state"] = none(state[at].astype(np.float64))
    else:
        label = none(state.astype(np.float64))
        seen = np.full(label.shape, np.nan)  # what a pull saw is what the next label begins with
        seen[:, :-1] = np.where(action[:, :-1] == 1, label[:, 1:] // one.chain, np.nan)
        table |= {"last_state": label[at] // one.chain, "since": label[at] % one.chain, "state": seen[at]}
    table["action"] = none(action[at])
    if one.propensity is not None:
        table["propensity"] = np.where(action == -1, np.nan, longer("propensity", one.propensity, np.nan))[at]
    if reward is not None:
        table["reward"] = reward[at]
    if available is not None:
        table["available"] = available[at].astype(np.int64)
    table["order"] = run
    return table


def _available(name: str, one: Instance, shape: tuple[int, int, int]) -> NDArray[np.bool_] | None:
    """Availability at every step; at a last step that is left out each arm counts as available."""
    if one.available is None:
        return None
    found, (j, steps, n) = np.asarray(one.available), shape
    decided = (j, steps - 1, n)
    found = _shaped("available", name, found, decided if found.shape == decided else shape)
    if not np.isin(found, (0, 1)).all():
        raise ValueError(f"available: instance {name}: found {found[~np.isin(found, (0, 1))][0]!r}, expected 0 or 1")
    all_steps = np.ones(shape, dtype=bool)
    all_steps[:, : found.shape[1]] = found == 1
    return all_steps


def _stacked(tables: Sequence[dict[str, NDArray[Any]]]) -> dict[str, NDArray[Any]]:
    """One table of several; where only some have a column, it is missing in the others."""
    names = dict.fromkeys(name for one in tables for name in one)

    def cells(one: dict[str, NDArray[Any]], name: str) -> NDArray[Any]:
        rows = len(one["instance"])
        if name in one:
            return one[name]
        if name in ("propensity", "reward", "last_state", "since"):
            return np.full(rows, np.nan)
        if name == "available":
            return np.ones(rows, dtype=np.int64)
        raise ValueError(f"instance {one['instance'][0]}: found no column {name}, expected what the other instances have")

    return {name: np.concatenate([cells(one, name) for one in tables]) for name in names}


def chosen_instances(names: Sequence[str], choice: Any) -> NDArray[np.bool_]:
    """The mask of a choice of instances: names, a mask, or a function of a name."""
    if callable(choice):
        return np.array([bool(choice(name)) for name in names])
    return _mask("instances", names, choice, names)


def chosen_arms(table: Mapping[str, Any], choice: Any) -> NDArray[np.bool_]:
    """The mask of a choice of arms: names, a mask over the rows of the table of arms, or a function of that table that gives one of these."""
    return _mask("arms", table["arm"], choice(table) if callable(choice) else choice, table["arm"])


def _mask(what: str, all_names: Iterable[str], choice: Any, rows: Sequence[str]) -> NDArray[np.bool_]:
    if isinstance(choice, (str, int, np.integer)) and not isinstance(choice, bool):
        choice = [choice]
    found = np.asarray(list(choice) if isinstance(choice, (set, frozenset, Iterator, KeysView, ValuesView)) else choice)
    if found.shape == (0,) and found.dtype != bool:
        raise ValueError(f"{what}: found none that are kept, expected at least one")
    if found.dtype == bool:
        if found.shape != (len(rows),):
            raise ValueError(f"{what}: found a mask of shape {list(found.shape)}, expected [{len(rows)}]")
        return found
    if found.ndim != 1 or found.dtype.kind not in "OUTiu":
        raise ValueError(f"{what}: found {found.dtype} {list(found.shape)}, expected names, a mask of [{len(rows)}] or a function")
    wanted, known = [str(name) for name in found], set(all_names)
    for name in wanted:
        if name not in known:
            raise ValueError(f"{what}: found {name!r}, which the study does not have, expected its names")
    kept = set(wanted)
    return np.array([name in kept for name in rows], dtype=bool)
