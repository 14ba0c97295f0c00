"""What a model answers: whom to pull, and what that is worth; tables with what they rest on."""

from __future__ import annotations

import warnings
from typing import Any

from restive._frames import Table

__all__ = ["Evaluation", "Plan"]


class Plan(Table):
    """The arms to pull, best first, by instance: columns ``instance``, ``arm``, ``state`` (or ``last_state`` and ``since``),
    ``index`` or ``advantage``, ``rank``, ``inclusion``, ``is_beneficial``, with ``to_pandas()``, ``to_polars()`` and
    ``to_arrow()``. If the log does not show what a pull does, ``score`` (the order of the model) stands for ``index`` or ``advantage``,
    ``is_beneficial`` is absent, ``bound`` and ``no_action`` are None, and ``effects`` says why; otherwise ``effects`` is None.

    ``policy`` is ``"whittle"`` (ranked by index, at ``index_discount``) or ``"horizon"`` (ranked by advantage); ``steps`` are
    the decisions planned for, over which no policy brings more than ``bound`` of expected reward, and no pull at all
    ``no_action``; ``history`` says how an arm's own record counts; ``never_observed`` counts arms that were never seen;
    ``notes`` says what should be known; ``json`` is all of it, as ``restive plan --json`` has it.
    """

    json: str
    policy: str
    budget: int
    steps: int
    index_discount: float | None
    effects: str | None
    bound: float | None
    no_action: float | None
    history: str | None
    never_observed: int
    notes: tuple[str, ...]

    def _told(self) -> list[str]:
        if self.effects is not None:
            return [f"Effects of pulls: {self.effects}.", *self.notes]
        by = "Whittle index" if self.policy == "whittle" else "advantage until the end"
        said = f"Ranked by {by}; no policy brings more than {self.bound:.6g} in {self.steps} steps, no pull at all {self.no_action:.6g}."
        return [said, *self.notes]

    @classmethod
    def _made(cls, columns: Any, facts: dict[str, Any]) -> Plan:
        """Of columns and facts; warnings are raised for whoever asked for the plan."""
        plan: Plan = cls.of(columns)
        for text in facts.pop("warnings"):
            warnings.warn(text, stacklevel=3)
        facts["notes"] = tuple(facts["notes"])
        for name, fact in facts.items():
            setattr(plan, name, fact)
        return plan


class Evaluation(Table):
    """What a model's policy is worth beside others, a row per number: columns ``policy``, ``estimator``, ``quantity`` (value,
    gain_over_random, gain_over_no_action), ``value``, ``low``, ``high``, ``ess``, ``covers``, with ``to_pandas()``,
    ``to_polars()`` and ``to_arrow()``.

    ``evidence``, ``policies``, ``loss`` and ``about`` are those of ``restive evaluate --json``: the evidence (None where the published
    estimators were asked for), numbers by policy and estimator, the predictive
    loss, and what all of it rests on, notes and warnings included. A number without its ``about`` is half the answer.
    """

    evidence: dict[str, Any] | None
    policies: dict[str, dict[str, Any]]
    loss: dict[str, float]
    about: dict[str, Any]

    def _told(self) -> list[str]:
        return [str(note) for name in ("notes", "warnings") for note in self.about.get(name, ())]
