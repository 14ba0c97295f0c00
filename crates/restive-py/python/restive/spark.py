"""Plans and scores of Spark data frames: ``mapInArrow`` on every partition, nothing but a few bytes to the driver.

>>> scored = restive.spark.score(people, model, "study.toml")                    # doctest: +SKIP
>>> plan = restive.spark.plan(people, model, "rules.toml", study="study.toml", step=8)    # doctest: +SKIP

A partition that fails is run again by Spark, elsewhere if need be: the plan stays what it is. What is wrong with the data names the partition,
the batch, the row and the reason. The workers need ``restive`` and ``pyarrow``.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from restive import arrow
from restive._estimator import Plan
from restive._extras import need
from restive.estimators import TwoStage

if TYPE_CHECKING:
    import os

    from pyspark.sql import DataFrame

__all__ = ["plan", "score", "train"]

#: More answers than these are merged by the workers before they come to the driver.
FEW = 64


def _partition() -> int:
    from pyspark import TaskContext

    context = TaskContext.get()
    return -1 if context is None else context.partitionId()


def _answer(work: Any, batches: Iterable[Any]) -> Any:
    """The answer of a partition as a batch of one row."""
    import pyarrow as pa

    try:
        answer = work(batches)
    except ValueError as error:
        raise ValueError(f"partition {_partition()}: {error}") from error
    return pa.RecordBatch.from_arrays([pa.array([answer], pa.binary())], names=["answer"])


def _answers(people: DataFrame, work: Any) -> list[bytes]:
    """What a pass says of every partition; what is gathered is merged on the way where there are very many."""

    def on_partition(batches: Iterator[Any]) -> Iterator[Any]:
        yield _answer(work, batches)

    def merged(batches: Iterator[Any]) -> Iterator[Any]:
        found = [answer for batch in batches for answer in batch.column(0).to_pylist()]
        if found:
            yield _answer(lambda _: work.job.merge(found), ())

    answers = people.mapInArrow(on_partition, "answer binary")
    partitions = people.rdd.getNumPartitions() if work.what == "gather" and hasattr(people, "rdd") else 0
    if partitions > FEW:
        answers = answers.repartition(math.isqrt(partitions)).mapInArrow(merged, "answer binary")
    return [bytes(row.answer) for row in answers.collect()]


def plan(
    people: DataFrame,
    model: Any,
    rules: str | os.PathLike[str] | None = None,
    *,
    study: str | os.PathLike[str],
    step: int,
    **asked: Any,
) -> Plan:
    """The plan of a table of people, that of one machine to the last bit: see :func:`restive.arrow.plan`.

    The table passes by three times; ``people.cache()`` is worth it where reading it is dear.
    """
    need("pyspark", "restive.spark", "spark")
    return arrow.plan(lambda work: _answers(people, work), model, study, rules, step=step, **asked)


def score(people: DataFrame, model: Any, study: str | os.PathLike[str], **asked: Any) -> DataFrame:
    """The table with the columns of :class:`restive.arrow.Score` behind its own."""
    need("pyspark", "restive.spark", "spark")
    from pyspark.sql.types import DoubleType, StringType, StructField, StructType

    scored = arrow.score(model, study, **asked)

    def on_partition(batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow as pa

        for number, batch in enumerate(batches):
            try:
                more = scored(batch)
            except ValueError as error:
                raise ValueError(f"partition {_partition()}, batch {number}: {error}") from error
            yield pa.RecordBatch.from_arrays(
                [*batch.columns, *more.columns], names=[*batch.schema.names, *more.schema.names]
            )

    kinds = [(field.name, StringType() if field.name in ("reason_level", "reason_effect") else DoubleType()) for field in scored.schema]
    schema = StructType([*people.schema.fields, *(StructField(name, kind) for name, kind in kinds)])
    return people.mapInArrow(on_partition, schema)


def train(people: DataFrame, study: str | os.PathLike[str], **asked: Any) -> TwoStage:
    """Fits a model to a table of people, that of one machine to 1e-9: see :func:`restive.arrow.train`.

    The table passes by some dozen times: keep it in memory if it fits.
    """
    need("pyspark", "restive.spark", "spark")
    return arrow.train(lambda work: _answers(people, work), study, **asked)
