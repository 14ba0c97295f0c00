"""Which temperature serves learning through the plan: the table of docs/python-torch.md.

    target/python/full/bin/python bench/soft_temperature.py [FIRST LAST]     seeds, 1 to 20 unless said; 15 minutes on a core

Needs restive and PyTorch, as `scripts/test-python` installs them. The learning is that page's own, from its notebook; what changes is the
temperature. Strict plans are simulated on the truth, the same noise for all of them; differences are paired by seed.
"""

import sys
from pathlib import Path

import numpy as np
import restive
import torch

NOTEBOOK = Path(__file__).resolve().parent.parent / "notebooks" / "learn_through_the_plan.py"
PUBLISHED = "0.05 * torch.maximum(index**2, (index + 1) ** 2).max()"
T_95 = {20: 2.093}  # Student's, of 19 degrees of freedom


def page(seed, temperature):
    """The notebook's definitions, with a seed and a temperature of ours."""
    text = NOTEBOOK.read_text(encoding="utf-8").split("# %% [markdown]\n# By the published metric")[0]
    assert PUBLISHED in text and "seed=1" in text
    text = text.replace(PUBLISHED, temperature).replace("seed=1", f"seed={seed}")
    scope = {}
    exec(compile(text.split("two_stage, decision_focused =")[0], NOTEBOOK, "exec"), scope)
    return scope


def deployed(tables, test):
    """The mean value of the strict plans with these tables of indices."""
    runs = [
        restive.simulate(instance.P, instance.budget, "strict", table, horizon=9, rollouts=400).values.mean()
        for instance, table in zip(test, tables, strict=True)
    ]
    return float(np.mean(runs))


def strict(scope, value_weight, loss_weight):
    network = scope["learn"](value_weight, loss_weight, scope["lessons"])
    with torch.no_grad():
        arms = [network(torch.tensor(each.features)).unflatten(-1, (2, 2, 2)).softmax(-1) for each in scope["test"]]
    return deployed([restive.whittle_index(P.numpy()).index for P in arms], scope["test"])


def main(first=1, last=20):
    spreads = {f"{factor} * index.std()": f"{factor} * index.std()" for factor in (0.1, 0.3, 1.0, 3.0, 10.0)}
    values = {}
    for seed in range(first, last + 1):
        scope = page(seed, PUBLISHED)
        found = {"two-stage": strict(scope, 0.0, 1.0), "as published": strict(scope, 0.9, 0.1)}
        for name, temperature in spreads.items():
            found[name] = strict(page(seed, temperature), 0.9, 0.1)
        found["3.0 * index.std(), no loss"] = strict(page(seed, spreads["3.0 * index.std()"]), 1.0, 0.0)
        truth = [restive.whittle_index(instance.P).index for instance in scope["test"]]
        found["true indices"] = deployed(truth, scope["test"])
        for name, value in found.items():
            values.setdefault(name, []).append(value)
        print(seed, {name: round(value, 1) for name, value in found.items()}, file=sys.stderr, flush=True)
    two_stage = np.array(values["two-stage"])
    for name, found in values.items():
        more = np.array(found) - two_stage
        half = T_95.get(len(more), 1.96) * more.std(ddof=1) / np.sqrt(len(more))
        print(f"{name:28} {np.mean(found):6.1f}   more than two-stage {more.mean():6.1f} ± {half:.1f}")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:3]))
