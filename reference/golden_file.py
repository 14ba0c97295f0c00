"""Golden files: JSON that says where its numbers come from, one case per line so that a change reads well in a
diff.

Inputs are doubles, written so that reading them gives the same bits. Outputs are the doubles nearest to the
high-precision numbers (or what a package returned).

Transitions are drawn on a grid of multiples of 2⁻⁴⁸, each row adding up to 1 exactly and not merely to
rounding; tangent directions likewise to 0. Otherwise the answer at discount γ would depend on the row-sum
error divided by 1 − γ, and a golden number would be a matter of how one normalises.
"""

import json
import pathlib

import numpy as np

GRID = 2.0**48


def on_simplex(row):
    """The nearby point of the grid whose entries sum to 1 exactly."""
    row = np.round(np.asarray(row, dtype=float) * GRID) / GRID
    row[np.argmax(row)] += 1.0 - row.sum()
    assert row.sum() == 1.0 and row.min() >= 0.0
    return row


def draw_transition(rng, m, concentration):
    """`[M,2,M]` with Dirichlet rows; concentration 0 means deterministic rows."""
    if concentration == 0:
        return np.eye(m)[rng.integers(m, size=(m, 2))]
    rows = rng.dirichlet(np.full(m, concentration), size=2 * m)
    return np.array([on_simplex(row) for row in rows]).reshape(m, 2, m)


def write(name, source, configuration, cases):
    """`golden/NAME.json`; `cases` is a list of dictionaries."""
    head = {"source": source, "command": "reference/generate", "configuration": configuration}
    lines = ",\n".join("  " + json.dumps(case, allow_nan=False) for case in cases)
    text = json.dumps(head, indent=1, ensure_ascii=False)[:-2] + ',\n "cases": [\n' + lines + "\n ]\n}\n"
    json.loads(text)
    path = pathlib.Path(__file__).parent / "golden" / f"{name}.json"
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)
    print(f"golden/{name}.json: {len(cases)} cases, {len(text) / 1000:.0f} kB")
