"""What a notebook shows of an answer: a line, a small table, and notes. Plain tags, so that light and dark pages both fit."""

from __future__ import annotations

import html
from collections.abc import Sequence
from typing import Any

import numpy as np

__all__ = ["facts", "number", "table"]

#: Rows of a table that are shown.
SHOWN = 10


def table(title: str, head: Sequence[str], rows: Sequence[Sequence[str]], told: Sequence[str] = ()) -> str:
    """A title, a table and sentences below it; everything is text and escaped here."""
    cells = "".join(f"<th>{html.escape(cell)}</th>" for cell in head)
    body = "".join("<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in row) + "</tr>" for row in rows)
    said = "".join(f"<p>{html.escape(text)}</p>" for text in told if text)
    return f"<p><b>{html.escape(title)}</b></p><table><thead><tr>{cells}</tr></thead><tbody>{body}</tbody></table>{said}"


def facts(title: str, rows: Sequence[tuple[str, Any]], told: Sequence[str] = ()) -> str:
    """A title and a table of two columns: what, and how much."""
    return table(title, ("", ""), [(what, value if isinstance(value, str) else number(value)) for what, value in rows], told)


def number(cell: Any) -> str:
    """A cell of a table as text; nothing where it is missing."""
    if cell is None:
        return ""
    if isinstance(cell, (float, np.floating)):
        return "" if np.isnan(cell) else f"{cell:.6g}"
    return str(cell)


def more(count: int, what: str) -> str:
    """What is said of rows that are not shown."""
    return f"… {count - SHOWN:,} more {what}" if count > SHOWN else ""
