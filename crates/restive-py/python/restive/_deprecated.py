"""Names that were used before there was one word for each thing: they work, and warn."""

from __future__ import annotations

import functools
import sys
import warnings
from collections.abc import Callable
from typing import Any, TypeVar

F = TypeVar("F", bound=Callable[..., Any])


def _warn(old: str, new: str) -> None:
    warnings.warn(f"{old} is called {new} now; the old name will go", DeprecationWarning, stacklevel=3)


def renamed(**names: str) -> Callable[[F], F]:
    """A function that still takes keywords by their old names: ``renamed(old="new")``."""

    def decorate(function: F) -> F:
        @functools.wraps(function)
        def wrapper(*arguments: Any, **keywords: Any) -> Any:
            for old, new in names.items():
                if old in keywords:
                    if new in keywords:
                        raise TypeError(f"{new}: found {old} beside it, which is its old name; expected one of them")
                    _warn(old, new)
                    keywords[new] = keywords.pop(old)
            return function(*arguments, **keywords)

        return wrapper  # type: ignore[return-value]

    return decorate


def renamed_attribute(module: str, **names: str) -> Callable[[str], Any]:
    """The ``__getattr__`` of a module whose members were renamed."""

    def attribute(name: str) -> Any:
        if name in names:
            _warn(f"{module}.{name}", f"{module}.{names[name]}")
            return getattr(sys.modules[module], names[name])
        raise AttributeError(f"module {module!r} has no attribute {name!r}")

    return attribute
