"""A programme's week: import, this week's list under its rules, the outcomes that close the loop."""

from __future__ import annotations

import datetime
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from restive import _restive
from restive._frames import Table, columns
from restive._html import table as table_html
from restive.study import Study

__all__ = ["Audit", "Imported", "Programme", "Verified", "Week", "import_study"]


@dataclass(frozen=True)
class Imported:
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
        return f"Imported({said['people']} people, {len(said['periods'])} {said['period']}s, {said['calls']} calls)"

    def __str__(self) -> str:
        lines = [repr(self), ""]
        for row in _accounts(self.summary):
            lines.append(f"{row[0]:<12}" + "".join(f"{cell:>12}" for cell in row[1:]))
        if self.summary["example"]:
            lines += ["", self.summary["example"]]
        return "\n".join([*lines, *(f"note: {note}" for note in self.summary["notes"])])

    def _repr_html_(self) -> str:
        head, *rows = _accounts(self.summary)
        return table_html(repr(self), head, rows, [self.summary["example"], *(f"Note: {note}" for note in self.summary["notes"])])


@dataclass(frozen=True)
class Week:
    """This week's list. ``table`` has names and numbers in it: rank, worker, chances, what a call is worth, and a reason for everybody.

    ``plan`` is its id in the ledger, or ``rehearsal``; ``said`` is what ``restive plan --json`` says, ``notes`` what should be known.
    """

    plan: str
    table: Table = field(repr=False)
    said: dict[str, Any] = field(repr=False)
    notes: list[str]

    def __repr__(self) -> str:
        return f"Week({self.plan}: {len(self.said['rows'])} people)"

    def __str__(self) -> str:
        rows = (f"{row['rank']:>4}  {arm}  {row['reason']}" for arm, row in self.said["rows"])
        return "\n".join([repr(self), *rows, *(f"note: {note}" for note in self.notes)])

    def _repr_html_(self) -> str:
        """The first twenty, without names: a notebook is passed on more easily than a list."""
        head = ("rank", "id", "left alone", "called", "worth", "why")
        rows = [
            (
                str(row["rank"]),
                arm,
                f"{row['left_alone']['value']:.0%}",
                f"{row['called']['value']:.0%}",
                f"{row['worth']:.2f}",
                row["reason"],
            )
            for arm, row in self.said["rows"][:20]
        ]
        more = len(self.said["rows"]) - len(rows)
        told = [*([f"… {more} more"] if more > 0 else []), *(f"Note: {note}" for note in self.notes)]
        return table_html(repr(self), head, rows, told)


_Path = str | os.PathLike[str]


def _files(out: _Path | Sequence[_Path] | None) -> list[str]:
    if out is None:
        return []
    return [os.fspath(out)] if isinstance(out, (str, os.PathLike)) else [os.fspath(path) for path in out]


class Programme:
    """The folder of a programme, which ``restive import`` or :func:`import_study` with ``out`` fills.

    ``rules.toml`` in it says how many may be called, who may not and how many of whom; ``words.toml`` has the words of lists and reasons;
    ``models/`` its models, of which the newest is used; ``ledger.db`` the record of every list, with everybody's probability and every
    outcome. :meth:`init` writes the first two to be edited.
    """

    def __init__(self, path: _Path) -> None:
        self.path = Path(path)
        self.status()

    def __repr__(self) -> str:
        return f"Programme({str(self.path)!r})"

    def __str__(self) -> str:
        return "\n".join(f"{name:<10}{words}" for name, words in self._lines())

    def _repr_html_(self) -> str:
        return table_html(repr(self), ("", ""), self._lines(), self.status()["warnings"])

    def _lines(self) -> list[tuple[str, str]]:
        return _restive.programme_status(os.fspath(self.path))[1]

    @property
    def study(self) -> Study:
        """The study as the last import left it."""
        return Study.read(self.path)

    def status(self) -> dict[str, Any]:
        """Where the programme stands: what ``restive programme status --json`` says."""
        return json.loads(_restive.programme_status(os.fspath(self.path))[0])

    def init(self) -> list[Path]:
        """Writes ``rules.toml`` and ``words.toml`` to be edited, and begins the ledger; which of them were not there."""
        return [Path(path) for path in _restive.programme_init(os.fspath(self.path))]

    def new_model(self) -> Path:
        """The folder for a model that is trained today: ``model.save(programme.new_model())``."""
        return Path(_restive.programme_new_model(os.fspath(self.path)))

    def plan(
        self,
        *,
        budget: int | None = None,
        explore: float | None = None,
        rules: _Path | None = None,
        model: str | None = None,
        policy: Literal["whittle", "horizon"] | None = None,
        remaining: int | None = None,
        history: bool | None = None,
        only_beneficial: bool = False,
        index_discount: float | None = None,
        seed: int = 0,
        again: bool = False,
        rehearse: bool = False,
        out: _Path | Sequence[_Path] | None = None,
        system: Literal["commcare", "cht", "fhir"] | None = None,
        replace: bool = False,
    ) -> Week:
        """This week's list: made under the programme's rules, recorded in its ledger, and written to ``out``.

        ``out`` ends in ``.xlsx``, ``.html``, ``.csv``, ``.parquet`` or ``.json``; ``system`` writes for another system. A week has one list:
        ``again`` makes another as long as no outcome has come, ``rehearse`` records nothing. ``explore`` is the share of places that is
        drawn by lot.
        """
        place = None if rules is None else os.fspath(rules)
        said, columns_, notes = _restive.programme_plan(
            os.fspath(self.path), budget, explore, place, model, policy, remaining, history, only_beneficial, index_discount,
            seed, again, rehearse, _files(out), system, replace,
        )  # fmt: skip
        parsed = json.loads(said)
        return Week(parsed["record"]["id"], Table.of(columns_), parsed, notes)

    def list(
        self,
        plan: str | None = None,
        *,
        out: _Path | Sequence[_Path] | None = None,
        system: Literal["commcare", "cht", "fhir"] | None = None,
        replace: bool = False,
    ) -> Table:
        """A recorded list, the latest or another, with changes by hand; written to ``out`` too."""
        return Table.of(_restive.programme_list(os.fspath(self.path), plan, _files(out), system, replace)[1])

    def outcomes(self, *files: _Path, plan: str | None = None, day_format: str | None = None) -> dict[str, Any]:
        """Reads filled-in lists back, and records what came of every call: what ``restive outcomes --json`` says.

        ``problems`` lists the rows that were not used, each with its place. Files may be partial, late and given twice.
        """
        names = [os.fspath(file) for file in files]
        return json.loads(_restive.programme_outcomes(os.fspath(self.path), names, plan, day_format))

    def add(self, id: str, *, who: str, why: str, plan: str | None = None) -> str:
        """Puts somebody on the latest list, or that of another plan; who decided it and why is recorded."""
        return _restive.programme_change(os.fspath(self.path), True, id, who, why, plan)

    def remove(self, id: str, *, who: str, why: str, plan: str | None = None) -> str:
        """Takes somebody off the latest list, or that of another plan."""
        return _restive.programme_change(os.fspath(self.path), False, id, who, why, plan)

    def fairness(
        self,
        by: str | Sequence[str] = (),
        *,
        cross: Sequence[tuple[str, str]] = (),
        plan: str | None = None,
        last: int | None = None,
        least: int = 10,
        floor: Mapping[str, str] | None = None,
        out: _Path | None = None,
        replace: bool = False,
    ) -> dict[str, Any]:
        """Whom the lists served, group by group, against chance and the population: what ``restive fairness --json`` says.

        ``by`` are columns, ``cross`` pairs of them, ``last`` how many lists; counts of fewer than ``least`` people are withheld with all
        from which they could be worked out. ``floor`` prices a floor on the places of a group, as ``{"district": "south"}``.
        """
        columns_ = [by] if isinstance(by, str) else list(by)
        floors = [] if floor is None else [(column, str(value)) for column, value in floor.items()]
        place = None if out is None else os.fspath(out)
        said, verdict = _restive.programme_fairness(
            os.fspath(self.path), columns_, [tuple(pair) for pair in cross], plan, last, least, floors, place, replace
        )
        return {"verdict": verdict, **json.loads(said)}

    def report(
        self,
        out: _Path,
        *,
        model: str | None = None,
        by: str | Sequence[str] = (),
        quick: bool = False,
        seed: int = 0,
        replace: bool = False,
    ) -> dict[str, Any]:
        """One page for a director: whom to call, why, what it brings, what is unknown. Its facts: what ``restive report --json`` says.

        ``quick`` leaves out the evidence of past calls, which takes as long as an evaluation and is counted as a look.
        """
        columns_ = [by] if isinstance(by, str) else list(by)
        said, verdict = _restive.programme_report(
            os.fspath(self.path), os.fspath(out), model, columns_, quick, seed, replace
        )
        return {"verdict": verdict, **json.loads(said)}

    @property
    def audit(self) -> Audit:
        """What was decided, looked at later: ``programme.audit.verify()``."""
        return Audit(self.path)


class Audit:
    """Plans on record: every list, whether it can be made again, and why names came and went."""

    def __init__(self, path: _Path) -> None:
        self.path = Path(path)

    def __repr__(self) -> str:
        return f"Audit({str(self.path)!r})"

    def plans(self) -> list[dict[str, Any]]:
        """Every plan on record, oldest first: what ``restive audit list --json`` says."""
        return json.loads(_restive.programme_audit_list(os.fspath(self.path)))

    def show(self, plan: str | None = None) -> dict[str, Any]:
        """One plan, the latest or another, with its certificate and what it was made of: what ``restive audit show --json`` says."""
        return json.loads(_restive.programme_audit_show(os.fspath(self.path), plan))

    def verify(self, plan: str | None = None, *, head: str | None = None, quick: bool = False) -> Verified:
        """Whether nothing on record was changed, and every plan (or one) comes out the same when it is made again.

        ``head`` is a link that was noted before; ``quick`` makes no plan again.
        """
        said, is_well = _restive.programme_audit_verify(os.fspath(self.path), plan, head, quick)
        return Verified(is_well, json.loads(said))

    def diff(self, before: str | None = None, after: str | None = None) -> dict[str, Any]:
        """One list against another, the last two or others: ``came`` and ``went`` have a reason for everybody."""
        return json.loads(_restive.programme_audit_diff(os.fspath(self.path), before, after))


@dataclass(frozen=True)
class Verified:
    """What a look at the record found: true where all is well. ``said`` is what ``restive audit verify --json`` says."""

    is_well: bool
    said: dict[str, Any] = field(repr=False)

    def __bool__(self) -> bool:
        return self.is_well

    def __str__(self) -> str:
        plans = (f"{plan['plan']}: {plan['found']} {plan.get('details', '')}".rstrip() for plan in self.said["plans"])
        faults = (f"{fault['subject']}: found {fault['found']}, expected {fault['expected']}" for fault in self.said["faults"])
        return "\n".join([repr(self), *faults, *plans])


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
) -> Imported:
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
    Imported(2 people, 3 weeks, 1 calls)
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
    return Imported(Study._of(native), json.loads(said), Table.of(people), Table.of(quarantine))


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
