"""Packages that restive can talk to and does not need: whoever asks for one that is not there is told what to install."""

from __future__ import annotations

import importlib
from typing import Any

__all__ = ["need"]


def need(package: str, what: str, extra: str | None = None) -> Any:
    """The package, imported; where it is not installed, an error that names the extra (by default as the package is called).

    A package that is there and fails for want of another one is left to say so itself.

    >>> need("nothing_like_it", "restive.example", "example")
    Traceback (most recent call last):
    ...
    ModuleNotFoundError: restive.example needs the package nothing_like_it: found none, expected it installed, pip install "restive[example]"
    """
    try:
        return importlib.import_module(package)
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != package.partition(".")[0]:
            raise
        install = f'pip install "restive[{extra or package}]"'
        message = f"{what} needs the package {package}: found none, expected it installed, {install}"
        raise ModuleNotFoundError(message, name=package) from None
