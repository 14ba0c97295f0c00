"""From a programme's own exports to a study: ``restive import``, from files or from data frames."""

from __future__ import annotations

import datetime
import html
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from restive import _restive
from restive._frames import Table, columns
from restive.study import Study

__all__ = ["Programme", "import_study"]


@dataclass(frozen=True)
class Programme:
    """What an import made: the study, its people, and an account of every row.

    ``study`` has no name and no number of anybody in it. ``people`` has: ids, the columns that the mapping keeps for the list,
    ``joined``, ``left``, ``do_not_call``, ``is_there``. ``quarantine`` lists the rows that could not be used, with file, line and
    reason. ``summary`` is what ``restive import --json`` says.
    """

    study: Study
    summary: dict[str, Any]
    people: Table = field(repr=False)
    quarantine: Table = field(repr=False)

    def __repr__(self) -> str:
        said = self.summary
        return f"Programme({said['people']} people, {len(said['periods'])} {said['period']}s, {said['calls']} calls)"

    def __str__(self) -> str:
        lines = [repr(self), ""]
        for row in _accounts(self.summary):
            lines.append(f"{row[0]:<12}" + "".join(f"{cell:>12}" for cell in row[1:]))
        if self.summary["example"]:
            lines += ["", self.summary["example"]]
        return "\n".join([*lines, *(f"note: {note}" for note in self.summary["notes"])])

    def _repr_html_(self) -> str:
        head, *rows = _accounts(self.summary)
        cells = "".join(f"<th>{html.escape(cell)}</th>" for cell in head)
        body = "".join("<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in row) + "</tr>" for row in rows)
        said = [self.summary["example"], *(f"Note: {note}" for note in self.summary["notes"])]
        told = "".join(f"<p>{html.escape(text)}</p>" for text in said if text)
        return f"<p><b>{html.escape(repr(self))}</b></p><table><thead><tr>{cells}</tr></thead><tbody>{body}</tbody></table>{told}"


_PLACES = ("rows", "used", "repeated", "merged", "aside", "outside", "quarantined")


def _accounts(summary: dict[str, Any]) -> list[list[str]]:
    rows = [[account["source"], *(f"{account[place]:,}" for place in _PLACES)] for account in summary["accounts"]]
    return [["source", *_PLACES], *rows]


def import_study(
    mapping: str | os.PathLike[str] | Mapping[str, Any],
    frames: Mapping[str, Any] | None = None,
    *,
    out: str | os.PathLike[str] | None = None,
    pseudonymise: str | os.PathLike[str] | None = None,
    afresh: bool = False,
    format: Literal["csv", "parquet"] = "csv",
) -> Programme:
    """A study of a programme's own exports, by a mapping that says what they mean.

    ``mapping`` is the path of a ``mapping.toml``, whose files are named relative to it, or the same as nested mappings. With
    ``frames`` its files are their names: pandas or polars DataFrames, pyarrow Tables or mappings of names to arrays. With ``out`` the
    folder of the programme is written, and grown where an earlier import wrote it, unless ``afresh``. ``pseudonymise`` is the file of a
    key: ids in the study are keyed hashes then. What the keys of a mapping are is told in the guide.

    >>> import restive
    >>> made = restive.import_study(
    ...     {
    ...         "period": {"every": "week"},
    ...         "people": {"file": "registry", "id": "id", "keep": ["name"], "features": {"district": "text"}},
    ...         "events": [{"file": "messages", "person": "who", "time": "when", "value": "seconds"}],
    ...         "state": {"at_least": 30, "silence": "lowest"},
    ...         "actions": {"file": "calls", "person": "who", "time": "when"},
    ...     },
    ...     {
    ...         "registry": {"id": ["B1", "B2"], "name": ["Ada", "Ben"], "district": ["north", "south"]},
    ...         "messages": {"who": ["B1", "B2", "B1", "B2"], "when": ["2026-03-03", "2026-03-08", "2026-03-15", "2026-03-22"],
    ...                      "seconds": [45, 3, 5, 60]},
    ...         "calls": {"who": ["B2"], "when": ["2026-03-17"]},
    ...     },
    ... )
    >>> made
    Programme(2 people, 3 weeks, 1 calls)
    >>> made.study.tables().trajectories["state"].astype(int).tolist()
    [1, 0, 0, 0, 0, 1]
    """
    if isinstance(mapping, Mapping):
        text, path = "".join(f"{_key(key)} = {_toml(key, value)}\n" for key, value in mapping.items()), "mapping.toml"
    else:
        path = os.fspath(mapping)
        text = Path(path).read_text(encoding="utf-8-sig")
    tables = None
    if frames is not None:
        tables = [(name, *columns(name, frame, has_dates=True)) for name, frame in frames.items()]
    place = [None if given is None else os.fspath(given) for given in (out, pseudonymise)]
    native, said, people, quarantine = _restive.import_study(text, path, tables, *place, afresh, format)
    return Programme(Study._of(native), json.loads(said), Table.of(people), Table.of(quarantine))


def _key(key: Any) -> str:
    return json.dumps(str(key))


def _toml(name: str, value: Any) -> str:
    """A value on one line."""
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{_key(key)} = {_toml(str(key), inner)}" for key, inner in value.items()) + "}"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, datetime.date) and not isinstance(value, datetime.datetime):
        return value.isoformat()
    if isinstance(value, (str, int, float)):
        return json.dumps(value)
    if isinstance(value, Sequence):
        return "[" + ", ".join(_toml(name, inner) for inner in value) + "]"
    raise TypeError(f"mapping: {name}: found {type(value).__qualname__}, expected text, a number, a date, a list or a mapping")
