"""A small programme as engines have it: a study, a model, and its people in several Parquet files.

Used by the tests of Arrow batches and by those of the engines; large enough that every rule binds, with ties, words, gaps, people who were
never seen, and partitions of very different sizes.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import restive

STEP = 6
RULES = """\
explore = 0.0
must_call = ["p00011"]
never_call = ["p00012"]

[[limit]]
by = "worker"
at_most = 9
at_least = 1

[[limit]]
by = "district"
at_most = { north = 30, "*" = 40 }

[[cool_down]]
periods = 2
"""


def make(folder: Path, people: int = 4000, files: int = 5, seed: int = 3) -> tuple[restive.TwoStage, restive.Study]:
    """Writes ``study/``, ``rules.toml``, ``model/`` and ``people/``; the fitted model and the study."""
    draw = np.random.default_rng(seed)
    names = [f"p{k:05d}" for k in draw.permutation(people)]
    age = draw.integers(18, 45, people).astype(float)
    district = draw.choice(["north", "south", "east"], people, p=[0.6, 0.3, 0.1])
    worker = np.array([f"w{k:02d}" for k in draw.integers(0, 12, people)])
    states = np.full((STEP + 1, people), 2, dtype=int)
    actions = (draw.random((STEP, people)) < 0.1).astype(int)
    actions[:, names.index("p00011")] = 0  # who has to be called was not called lately
    states[0] = draw.random(people) < 0.4
    for t in range(STEP):
        odds = -1.2 + 0.06 * (age - 30) + 1.6 * states[t] + actions[t] * (0.9 + 0.05 * (age - 30)) - 0.5 * (district == "north")
        states[t + 1] = draw.random(people) < 1 / (1 + np.exp(-odds))
    is_seen = draw.random(people) > 0.01
    is_seen[names.index("p00011")] = True
    keep = np.flatnonzero(is_seen)
    arms = {"arm": names, "age": age, "district": district.tolist(), "worker": worker.tolist()}
    rows = [(t, i) for t in range(STEP + 1) for i in keep]
    draw.shuffle(rows)
    table = {
        "trajectory": ["1"] * len(rows),
        "t": [t for t, _ in rows],
        "arm": [names[i] for _, i in rows],
        "state": [int(states[t, i]) for t, i in rows],
        "action": [int(actions[t, i]) if t < STEP else None for t, i in rows],
    }
    study = restive.Study(arms, table, states=2, discount=0.95, budget=people // 40, horizon=8, behaviour="uniform", ends=14)
    study.write(folder / "study")
    (folder / "rules.toml").write_text(RULES)
    model = restive.TwoStage(predictor="hierarchical").fit(study)
    model.save(folder / "model")
    (folder / "people").mkdir()
    table = people_table(arms, states, actions, is_seen)
    # most people are in one file
    ends = [0, *np.sort(draw.integers(0, people // 4, files - 1)).tolist(), people]
    for file, (first, end) in enumerate(zip(ends, ends[1:], strict=False)):
        pq.write_table(table.slice(first, end - first), folder / "people" / f"part-{file}.parquet", row_group_size=700)
    return model, study


def people_table(arms: dict[str, object], states: np.ndarray, actions: np.ndarray, is_seen: np.ndarray) -> pa.Table:
    """What the log comes down to, by hand: a row for each person."""
    people = len(is_seen)

    def known(values: np.ndarray) -> pa.Array:
        return pa.array(values.astype(float), mask=~is_seen).cast(pa.uint32(), safe=False)

    columns = {name: pa.array(values) for name, values in arms.items()}
    columns["state"] = known(states[-1])
    columns["last_seen"] = known(np.zeros(people))
    calls = actions.sum(0) * is_seen
    last = np.array([max((t for t in range(STEP) if actions[t, i]), default=-1) for i in range(people)])
    columns["last_call"] = pa.array([int(STEP - 1 - t) if t >= 0 and seen else None for t, seen in zip(last, is_seen, strict=True)], pa.uint32())
    columns["calls"] = pa.array(calls.astype(np.uint32))
    for s in range(2):
        for a in range(2):
            for after in range(2):
                count = ((states[:-1] == s) & (actions == a) & (states[1:] == after)).sum(0) * is_seen
                columns[f"moves_{s}_{a}_{after}"] = pa.array(count.astype(np.uint32))
    for s in range(2):
        columns[f"begins_{s}"] = pa.array(((states[0] == s) * is_seen).astype(np.uint32))
    return pa.table(columns)


def batches(folder: Path, rows: int = 300) -> list[list[pa.RecordBatch]]:
    """The record batches of every file."""
    return [pq.read_table(path).to_batches(max_chunksize=rows) for path in sorted((folder / "people").glob("*.parquet"))]
