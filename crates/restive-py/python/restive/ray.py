"""Plans and scores of Ray datasets: ``map_batches`` on every block, nothing but a few bytes to the driver.

>>> scored = restive.ray.score(people, model, "study.toml")                      # doctest: +SKIP
>>> plan = restive.ray.plan(people, model, "rules.toml", study="study.toml", step=8)      # doctest: +SKIP

A block that fails is run again by Ray, elsewhere if need be: the plan stays what it is. What is wrong with the data names the row, the column and
the reason. The workers need ``restive`` and ``pyarrow``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from restive import arrow
from restive._estimator import Plan
from restive._extras import need
from restive.estimators import TwoStage

if TYPE_CHECKING:
    import os

    from ray.data import Dataset

__all__ = ["plan", "score", "train"]


class _Answer:
    """The answer of a block as a table of one row."""

    def __init__(self, work: Any) -> None:
        self.work = work

    def __call__(self, block: Any) -> Any:
        import pyarrow as pa

        return pa.table({"answer": pa.array([self.work([block])], pa.large_binary())})


class _Scored:
    """A block with what the model says of its people."""

    def __init__(self, score: arrow.Score) -> None:
        self.score = score

    def __call__(self, block: Any) -> Any:
        for field, column in zip(self.score.schema, self.score(block).columns, strict=True):
            block = block.append_column(field, column)
        return block


def _answers(people: Dataset, work: Any) -> list[bytes]:
    answer = _Answer(work)
    # a function, and no class: tasks may run anywhere, as often as they must
    answers = people.map_batches(lambda block: answer(block), batch_format="pyarrow", batch_size=None)
    return [row["answer"] for row in answers.take_all()]


def plan(
    people: Dataset,
    model: Any,
    rules: str | os.PathLike[str] | None = None,
    *,
    study: str | os.PathLike[str],
    step: int,
    **asked: Any,
) -> Plan:
    """The plan of a table of people, that of one machine to the last bit: see :func:`restive.arrow.plan`.

    The table passes by three times; ``people.materialize()`` is worth it where reading it is dear.
    """
    need("ray", "restive.ray", "ray")
    return arrow.plan(lambda work: _answers(people, work), model, study, rules, step=step, **asked)


def score(people: Dataset, model: Any, study: str | os.PathLike[str], **asked: Any) -> Dataset:
    """The table with the columns of :class:`restive.arrow.Score` behind its own."""
    need("ray", "restive.ray", "ray")
    scored = _Scored(arrow.score(model, study, **asked))
    return people.map_batches(lambda block: scored(block), batch_format="pyarrow", batch_size=None)


def train(people: Dataset, study: str | os.PathLike[str], **asked: Any) -> TwoStage:
    """Fits a model to a table of people, that of one machine to 1e-9: see :func:`restive.arrow.train`.

    The table passes by some dozen times: keep it in memory if it fits.
    """
    need("ray", "restive.ray", "ray")
    return arrow.train(lambda work: _answers(people, work), study, **asked)
