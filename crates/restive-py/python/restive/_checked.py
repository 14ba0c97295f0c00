"""Numbers that a caller hands over, checked."""

from __future__ import annotations

import operator
from typing import Any

__all__ = ["count"]


def count(what: str, value: Any) -> int:
    """A whole number, not negative, that fits into 64 bits."""
    try:
        found = operator.index(value)
    except TypeError:
        found = -1
    if not 0 <= found < 2**64:
        expected = "a whole number, not negative" if found < 0 else "a whole number below 2^64"
        raise ValueError(f"{what}: found {value!r}, expected {expected}")
    return found
