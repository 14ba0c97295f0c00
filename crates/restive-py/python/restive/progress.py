"""Where a training stands: one line on a terminal, one in a notebook, or a function of one's own."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any

# seconds between two lines
PAUSE = 0.1


def reporter(
    progress: None | bool | Callable[[float, str], Any],
) -> tuple[Callable[[float, str], Any] | None, Callable[[], None]]:
    """What to call with a share (0 to 1) and a message after every epoch, and at the end."""
    if progress is None or progress is False:
        return None, lambda: None
    if progress is True:
        line = _Notebook() if _is_notebook() else _Terminal()
        return line, line.close
    if callable(progress):
        return progress, lambda: None
    raise ValueError(f"progress: found {progress!r}, expected None, True or a function of a share and a message")


def _is_notebook() -> bool:
    """Whether IPython runs with a kernel; it is not imported for the question."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return shell is not None and hasattr(shell, "kernel")


def _words(share: float, message: str) -> str:
    return f"{100 * share:3.0f} %  {message}"


class _Terminal:
    """One line on standard error, written over and gone at the end."""

    def __init__(self) -> None:
        self.written, self.width = float("-inf"), 0

    def __call__(self, share: float, message: str) -> None:
        now = time.monotonic()
        if now - self.written < PAUSE and share < 1:
            return
        text = _words(share, message)
        sys.stderr.write("\r" + text.ljust(self.width))
        sys.stderr.flush()
        self.written, self.width = now, len(text)

    def close(self) -> None:
        if self.width:
            sys.stderr.write("\r" + " " * self.width + "\r")
            sys.stderr.flush()


class _Notebook:
    """One output that is updated in place."""

    def __init__(self) -> None:
        from IPython.display import display

        self.written = float("-inf")
        self.handle = display({"text/plain": _words(0, "")}, raw=True, display_id=True)

    def __call__(self, share: float, message: str) -> None:
        now = time.monotonic()
        if now - self.written >= PAUSE or share >= 1:
            self.handle.update({"text/plain": _words(share, message)}, raw=True)
            self.written = now

    def close(self) -> None:
        pass
