"""Answers of the kernels that can be kept: pickled, copied, and shown in a notebook.

An answer remembers the call that it comes from, by reference; a pickle holds the arguments, and whoever opens it computes the answer again, to
the last bit, pullback included. Arrays that were changed in between are the changed ones.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from restive import _html

__all__ = ["keep", "remembered"]

F = TypeVar("F", bound=Callable[..., Any])


def remembered(kernel: F) -> F:
    """The kernel, whose answers know how they came about."""

    @functools.wraps(kernel)
    def asked(*arguments: Any, **keywords: Any) -> Any:
        answer = kernel(*arguments, **keywords)
        answer._call = (kernel.__name__, arguments, {name: value for name, value in keywords.items() if name != "out"})
        return answer

    return asked  # type: ignore[return-value]


def _again(name: str, arguments: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
    import restive

    return getattr(restive, name)(*arguments, **keywords)


def _reduce(answer: Any) -> Any:
    call = getattr(answer, "_call", None)
    if call is None:
        raise TypeError(f"{type(answer).__name__}: found an answer of the native module itself, expected one of the functions of restive")
    return _again, call


def _itself(answer: Any) -> Any:
    """Answers do not change: a shallow copy is the same one."""
    return answer


def _repr_html_(answer: Any) -> str:
    """Its numbers, and the shapes and ranges of its arrays."""
    rows = []
    for name in dir(type(answer)):
        value = None if name.startswith("_") else getattr(answer, name)
        if isinstance(value, np.ndarray):
            finite = value[np.isfinite(value)] if value.dtype.kind == "f" else value
            spread = "" if finite.size == 0 or value.dtype.kind not in "fiub" else f"{_html.number(finite.min())} … {_html.number(finite.max())}"
            rows.append((name, f"{value.dtype} {list(value.shape)}", spread))
        elif isinstance(value, (int, float, str)):
            rows.append((name, "", _html.number(value)))
    return _html.table(repr(answer), ("", "", ""), rows)


def keep(*kinds: type) -> None:
    """Makes answers of these kinds ones that can be kept."""
    for kind in kinds:
        kind.__reduce__ = _reduce  # type: ignore[method-assign]
        kind.__copy__ = _itself  # type: ignore[attr-defined]
        kind._repr_html_ = _repr_html_  # type: ignore[attr-defined]
