"""The numbers that Rust's tests assert too: `reference/golden`, written by slow Python in high precision."""

import json
from pathlib import Path

GOLDEN = Path(__file__).resolve().parents[3] / "reference" / "golden"


def cases(name):
    """The cases of a golden file; its head says where they come from."""
    return json.loads((GOLDEN / f"{name}.json").read_text(encoding="utf-8"))["cases"]
