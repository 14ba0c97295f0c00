"""Ray with a local cluster of two workers; one of them is killed in the middle."""

import os
import signal

import people
import pyarrow as pa
import pytest

import restive
import restive.arrow
import restive.ray

ray = pytest.importorskip("ray")


@pytest.fixture(scope="module")
def table(programme):
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, configure_logging=False)
    ray.data.DataContext.get_current().enable_progress_bars = False
    yield ray.data.read_parquet(programme.people).repartition(5).materialize()
    ray.shutdown()


def test_the_plan_is_that_of_the_program(programme, asked, table):
    programme.check(restive.ray.plan(table, programme.model, programme.rules, study=programme.study, **asked))


def test_a_worker_that_is_killed_changes_nothing_but_time(programme, asked, table, monkeypatch, tmp_path):
    marker, call = str(tmp_path / "killed"), restive.arrow.Work.__call__

    class Killing(restive.arrow.Work):
        def __call__(self, batches):
            if self.what == "gather":
                try:
                    os.close(os.open(marker, os.O_CREAT | os.O_EXCL))
                    os.kill(os.getpid(), signal.SIGKILL)
                except FileExistsError:
                    pass
            return call(self, batches)

    monkeypatch.setattr(restive.arrow, "Work", Killing)
    plan = restive.ray.plan(table, programme.model, programme.rules, study=programme.study, **asked)
    assert os.path.exists(marker)
    programme.check(plan)


def test_a_poisoned_block_names_row_and_reason(programme, asked, table):
    def poison(block):
        states = [9 if arm == "p00777" else state for arm, state in zip(block["arm"].to_pylist(), block["state"].to_pylist(), strict=True)]
        return block.set_column(block.schema.get_field_index("state"), "state", pa.array(states, pa.int64()))

    poisoned = table.map_batches(poison, batch_format="pyarrow")
    with pytest.raises(Exception, match=r"row \d+ \(arm p00777\), column state.*found 9"):
        restive.ray.plan(poisoned, programme.model, study=programme.study, **asked)


def test_scores_are_those_of_one_machine(programme, asked, table):
    scored = restive.ray.score(table, programme.model, programme.study, **asked)
    rows = {row["arm"]: row for row in scored.take_all()}
    batches = [batch for part in people.batches(programme.folder) for batch in part]
    whole = pa.Table.from_batches(batches).combine_chunks()
    truth = restive.arrow.score(programme.model, programme.study, **asked)(whole)
    for arm, index, reason in zip(whole["arm"].to_pylist(), truth["index"].to_pylist(), truth["reason_effect"].to_pylist(), strict=True):
        assert (rows[arm]["index"], rows[arm]["reason_effect"]) == (index, reason)


def test_a_model_is_that_of_one_machine(programme, table):
    found = restive.ray.train(table, programme.study, predictor="effect")
    parts = people.batches(programme.folder)
    truth = restive.arrow.train(lambda work: [work(part) for part in parts], programme.study, predictor="effect")
    study = restive.Study.read(programme.study)
    assert abs(found.predict(study)[0] - truth.predict(study)[0]).max() < 1e-9
