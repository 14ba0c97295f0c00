"""Plans and scores of Arrow record batches, wherever they are: in a stream, a warehouse, the partitions of a cluster.

A table of people has one row each: ``arm``, perhaps ``instance``; the features that the model learnt from; ``state``, the last one that
was seen (null: never); perhaps ``last_seen``, ``last_call`` (periods ago, 0 in the one that has just ended) and ``calls``; where records count,
``moves_S_A_NEXT`` and ``begins_S``; perhaps ``do_not_call``, ``is_there`` and ``last_outcome``; and whatever columns the rules look at.
``restive study STUDY --people OUT`` writes it from a study, as Parquet in several files.

:func:`score` says what the model says of each of them. :func:`plan` makes the plan of one machine, to the last bit, of partitions that never
meet: whoever runs a function on every partition can do it, and :mod:`restive.spark` and :mod:`restive.ray` are short because of that.

>>> def run(work):                                # a very small engine: two partitions, one after the other
...     return [work(partition) for partition in partitions]
>>> plan = restive.arrow.plan(run, model, "study.toml", step=8)    # doctest: +SKIP
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from restive._estimator import Estimator, Plan
from restive._extras import need
from restive._restive import NativeJob, NativeModel, NativeTraining
from restive.estimators import TwoStage
from restive.progress import reporter

if TYPE_CHECKING:
    import pyarrow

__all__ = ["Job", "Score", "TrainWork", "Work", "plan", "score", "train"]

#: What an engine has to do: call a function with the batches of every partition, and bring back the bytes that it returns.
Run = Callable[[Callable[[Iterable[Any]], bytes]], Iterable[bytes]]


def _pyarrow() -> Any:
    return need("pyarrow", "restive.arrow", "arrow")


def _sent(batch: Any) -> bytes:
    """The bytes of an Arrow stream of one batch."""
    pa = _pyarrow()
    if isinstance(batch, pa.Table):
        batch = batch.combine_chunks()
        pieces = batch.to_batches()
        batch = pieces[0] if pieces else pa.RecordBatch.from_pylist([], schema=batch.schema)
    if not isinstance(batch, pa.RecordBatch):
        raise TypeError(f"batch: found {type(batch).__module__}.{type(batch).__qualname__}, expected a pyarrow RecordBatch or Table")
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, batch.schema) as writer:
        writer.write_batch(batch)
    return bytes(sink.getvalue())


def _model(model: Any) -> NativeModel:
    if isinstance(model, Estimator):
        return model._fitted()
    if isinstance(model, (str, os.PathLike)):
        return NativeModel.load(os.fspath(model))
    raise TypeError(f"model: found {type(model).__qualname__}, expected a fitted estimator or the folder of a model")


def _settings(study: str | os.PathLike[str]) -> str:
    """The text of a study.toml: of its file, or of the folder that it is in."""
    path = Path(study)
    return (path / "study.toml" if path.is_dir() else path).read_text(encoding="utf-8")


def _rules(rules: str | os.PathLike[str] | None) -> tuple[str, str] | None:
    return None if rules is None else (os.fspath(rules), Path(rules).read_text(encoding="utf-8"))


class Job:
    """A plan to be made of partitions: the model, the settings, the rules; a few hundred kilobytes that travel by pickle.

    The passes, in this order: :meth:`sample` on every partition, :meth:`priced` of the answers; :meth:`gather` on every partition,
    :meth:`draft` of the answers; :meth:`details` on every partition, then ``finish`` of the draft. :func:`plan` does all that.
    """

    def __init__(
        self,
        model: Any,
        study: str | os.PathLike[str],
        rules: str | os.PathLike[str] | None = None,
        *,
        step: int = 0,
        budget: int | None = None,
        policy: Literal["whittle", "horizon"] | None = None,
        remaining: int | None = None,
        history: bool | None = None,
        only_beneficial: bool = False,
        index_discount: float | None = None,
        instance: str | None = None,
        explore: float | None = None,
        period: str | None = None,
        seed: int = 0,
    ) -> None:
        self._native = NativeJob(
            _model(model), _settings(study), _rules(rules), step, budget, policy, remaining, history, only_beneficial,
            index_discount, instance, explore, period, seed,
        )  # fmt: skip

    @classmethod
    def from_bytes(cls, data: bytes) -> Job:
        """What :meth:`to_bytes` wrote."""
        job = cls.__new__(cls)
        job._native = NativeJob.from_bytes(data)
        return job

    def to_bytes(self) -> bytes:
        """All of it, to be sent."""
        return self._native.to_bytes()

    def __reduce__(self) -> tuple[Any, ...]:
        return Job.from_bytes, (self.to_bytes(),)

    def score(self, batch: pyarrow.RecordBatch) -> pyarrow.RecordBatch:
        """What the model says of the people of a batch, a row for each of theirs, in their order."""
        pa = _pyarrow()
        with pa.ipc.open_stream(self._native.score(_sent(batch))) as reader:
            return reader.read_next_batch()

    def sample(self, batches: Iterable[Any]) -> bytes:
        """Those of a partition who may stand for everybody."""
        return self._native.sample(_stream(batches))

    def priced(self, answers: Iterable[bytes]) -> Job:
        """The job with the prices of pulls to come."""
        job = Job.__new__(Job)
        job._native = self._native.priced([bytes(answer) for answer in answers])
        return job

    def gather(self, batches: Iterable[Any]) -> bytes:
        """Counts, exact sums, and those of a partition who can still have a place."""
        return self._native.gather(_stream(batches))

    def merge(self, answers: Iterable[bytes]) -> bytes:
        """The answers of several partitions to :meth:`gather`, as one."""
        return self._native.merge([bytes(answer) for answer in answers])

    def draft(self, answers: Iterable[bytes]) -> Any:
        """Deals the places; ``wanted()`` says who is to be looked at once more, ``finish(answers)`` makes the plan."""
        return self._native.draft([bytes(answer) for answer in answers])

    def details(self, wanted: bytes, batches: Iterable[Any]) -> bytes:
        """Those of a partition who are wanted, once more."""
        return self._native.details(wanted, _stream(batches))


def _stream(batches: Iterable[Any]) -> Iterator[bytes]:
    return (_sent(batch) for batch in batches)


class Score:
    """What a model says of people: call it with a record batch. Picklable; a pure function of each row.

    Columns of the answer: ``index``, ``value`` (null where prices are not known), ``chance_left_alone``, ``chance_called``,
    ``reason_level_points``, ``reason_effect_points``, ``reason_level``, ``reason_effect``. ``schema`` says their types.
    """

    def __init__(self, job: Job) -> None:
        self.job = job

    def __call__(self, batch: pyarrow.RecordBatch) -> pyarrow.RecordBatch:
        return self.job.score(batch)

    @property
    def schema(self) -> pyarrow.Schema:
        """Of the answer."""
        pa = _pyarrow()
        numbers = ["index", "value", "chance_left_alone", "chance_called", "reason_level_points", "reason_effect_points"]
        words = ["reason_level", "reason_effect"]
        return pa.schema([(name, pa.float64()) for name in numbers] + [(name, pa.string()) for name in words])

    def with_prices(self, batches: Iterable[Any]) -> Score:
        """The same with ``value``: given what later calls cost, found on these people, who stand for everybody."""
        return Score(self.job.priced([self.job.sample(batches)]))


def score(
    model: Any,
    study: str | os.PathLike[str],
    *,
    step: int = 0,
    remaining: int | None = None,
    history: bool | None = None,
    index_discount: float | None = None,
) -> Score:
    """A function of record batches of people: what the model says of each of them.

    ``model`` is a fitted estimator or the folder of a model, ``study`` a study.toml or its folder: states, rewards, discount, horizon.
    """
    return Score(Job(model, study, step=step, remaining=remaining, history=history, index_discount=index_discount))


class Work:
    """One pass on one partition: call it with the record batches of the partition; the answer is a few bytes.

    It travels by pickle, and calling it twice, or again elsewhere, changes nothing.
    """

    def __init__(self, job: Job, what: Literal["sample", "gather", "details"], wanted: bytes | None = None) -> None:
        self.job, self.what, self.wanted = job, what, wanted

    def __call__(self, batches: Iterable[Any]) -> bytes:
        if self.what == "details":
            return self.job.details(self.wanted or b"", batches)
        return getattr(self.job, self.what)(batches)


class TrainWork:
    """One pass of a training on one partition, as :class:`Work` is of a plan."""

    what = "train"

    def __init__(self, job: bytes) -> None:
        self.job = job

    def __call__(self, batches: Iterable[Any]) -> bytes:
        return NativeTraining.pass_(self.job, _stream(batches))


def train(
    run: Run,
    study: str | os.PathLike[str],
    *,
    predictor: Literal["effect", "hierarchical"] = "hierarchical",
    progress: None | bool | Callable[[float, str], Any] = None,
    **asked: Any,
) -> TwoStage:
    """Fits a model to people in partitions that never meet: gradients and curvatures are summed, one pass for every step of Newton.

    ``run`` is that of :func:`plan`; it is asked some dozen times. The weights are those of one machine, to 1e-9. The table needs ``moves_S_A_NEXT``;
    a column ``split`` says who is learnt from, otherwise people are dealt by a hash of ``seed`` and their names. Other keywords are those of
    :class:`restive.TwoStage`. The table does not say when people moved, so that plans with the model go by predictions and not by records.
    """
    estimator = TwoStage(predictor=predictor, **asked)
    params = estimator.get_params()
    params.pop("progress")
    training = NativeTraining(_settings(study), {"objective": "two-stage", **params})
    visit, close = reporter(progress)
    try:
        passes = 0
        while (job := training.job()) is not None:
            share = training.answer([bytes(answer) for answer in run(TrainWork(job))])
            passes += 1
            if visit is not None:
                visit(share, f"{passes} passes")
    finally:
        close()
    model, warned = training.finish()
    estimator._take(model)
    for text in warned:
        warnings.warn(text, stacklevel=2)
    return estimator


def plan(
    run: Run,
    model: Any,
    study: str | os.PathLike[str],
    rules: str | os.PathLike[str] | None = None,
    *,
    step: int,
    **asked: Any,
) -> Plan:
    """The plan of one machine, of people in partitions that never meet.

    ``run`` calls a :class:`Work` with the record batches of every partition and brings back its answers, in any order; it is asked three
    times. ``model`` is a fitted estimator or the folder of a model, ``study`` a study.toml or its folder, ``rules`` a rules.toml. ``step``
    is the one that is planned, as column t of the log counts from 0: it decides ties (with ``seed``, or call it ``period``) and, where the study
    says when it ends, how many are left. Other keywords are those of :meth:`restive.TwoStage.plan`, and ``explore``.
    """
    job = Job(model, study, rules, step=step, **asked)
    job = job.priced(run(Work(job, "sample")))
    draft = job.draft(run(Work(job, "gather")))
    columns, facts = draft.finish([bytes(answer) for answer in run(Work(job, "details", draft.wanted()))])
    return Plan._made(columns, facts)
