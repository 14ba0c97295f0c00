"""What the data of a study can and cannot answer: the checks of ``restive doctor``."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path

from restive import _restive
from restive.study import Study

__all__ = ["Doctor", "Finding", "doctor"]


@dataclass(frozen=True)
class Finding:
    """What one check found; ``silenced`` is why it does not count, where the study says so."""

    name: str
    severity: str
    found: str
    what_to_do: str | None = None
    silenced: str | None = None

    def __str__(self) -> str:
        lines = [f"{'silenced' if self.silenced else self.severity:<8}  {self.name}: {self.found}"]
        if self.what_to_do:
            lines.append(f"{'':<10}What to do: {self.what_to_do}.")
        if self.silenced:
            lines.append(f"{'':<10}Silenced: {self.silenced}")
        return "\n".join(lines)


@dataclass(frozen=True)
class Doctor:
    """The findings of all checks, by severity, those that are silenced last.

    ``worst`` is the gravest that counts ("fine", "note", "warning", "serious"), and ``exit_code`` what the command ends with:
    2 for a serious finding, 1 for a warning, 0 otherwise.
    """

    findings: list[Finding]
    worst: str
    exit_code: int
    verdict: str
    _page: str = field(repr=False, compare=False)
    _fragment: str = field(repr=False, compare=False)

    def __getitem__(self, name: str) -> Finding:
        """The finding of a check, by its name."""
        for finding in self.findings:
            if finding.name == name:
                return finding
        raise KeyError(name)

    def __str__(self) -> str:
        return "\n".join([self.verdict, "", *map(str, self.findings)])

    def _repr_html_(self) -> str:
        return self._fragment

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the page of ``restive doctor --out``; a file that is there is not replaced."""
        with Path(path).open("x", encoding="utf-8") as file:
            file.write(self._page)


def doctor(study: Study) -> Doctor:
    """What the data of a study can and cannot answer, in plain words, by severity, with what to do.

    >>> import restive
    >>> found = restive.doctor(restive.generate("maternal", seed=3, groups=6, people=150, budget=12).to_study())
    >>> found["chosen"].found[:7], found["alignment"].severity in ("fine", "note")
    ('In turn', True)
    """
    if not isinstance(study, Study):
        raise TypeError(f"study: expected a restive.Study, found {type(study).__module__}.{type(study).__qualname__}")
    name = str(study.settings.get("name", "a study"))
    rows, worst, code, verdict, page, fragment = _restive.doctor(study._native, name)
    return Doctor([Finding(*row) for row in rows], worst, code, verdict, page, fragment)
