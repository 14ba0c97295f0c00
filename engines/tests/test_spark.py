"""Spark with two executors, each a process of its own; one of them is killed in the middle."""

import os
import signal

import people
import pyarrow as pa
import pytest

import restive
import restive.arrow
import restive.spark

pyspark = pytest.importorskip("pyspark")


@pytest.fixture(scope="module")
def spark():
    os.environ.setdefault("SPARK_HOME", os.path.dirname(pyspark.__file__))
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master("local-cluster[2,1,1024]").appName("restive")
    settings = {
        "spark.ui.enabled": "false",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.sql.execution.arrow.maxRecordsPerBatch": "1500",
        "spark.executorEnv.RAYON_NUM_THREADS": "1",
        "spark.sql.shuffle.partitions": "4",
    }
    for name, value in settings.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    yield session
    session.stop()


@pytest.fixture(scope="module")
def table(spark, programme):
    # one partition has most people, one has nobody
    return spark.read.parquet(programme.people).repartition(6, "district")


def test_the_plan_is_that_of_the_program(programme, asked, table):
    assert table.rdd.getNumPartitions() == 6
    programme.check(restive.spark.plan(table, programme.model, programme.rules, study=programme.study, **asked))


def test_many_answers_are_merged_by_the_workers(programme, asked, table, monkeypatch):
    monkeypatch.setattr(restive.spark, "FEW", 2)
    programme.check(restive.spark.plan(table, programme.model, programme.rules, study=programme.study, **asked))


def test_an_executor_that_is_killed_changes_nothing_but_time(programme, asked, spark, table, monkeypatch, tmp_path):
    marker, gather = tmp_path / "killed", restive.arrow.Work.__call__

    class Killing(restive.arrow.Work):
        def __call__(self, batches):
            if self.what == "gather":
                with_marker(marker)
            return gather(self, batches)

    def with_marker(path):
        try:
            os.close(os.open(path, os.O_CREAT | os.O_EXCL))
        except FileExistsError:
            return
        # the executor: the process of Java above this worker and its daemon
        pid = os.getpid()
        while "java" not in os.readlink(f"/proc/{pid}/exe"):
            pid = int(open(f"/proc/{pid}/stat").read().rpartition(")")[2].split()[1])
        os.kill(pid, signal.SIGKILL)

    monkeypatch.setattr(restive.arrow, "Work", Killing)
    plan = restive.spark.plan(table, programme.model, programme.rules, study=programme.study, **asked)
    assert marker.exists()
    programme.check(plan)


def test_a_poisoned_batch_names_partition_row_and_reason(programme, asked, table):
    from pyspark.sql import functions as f

    poisoned = table.withColumn("state", f.when(f.col("arm") == "p00777", 9).otherwise(f.col("state").cast("int")))
    with pytest.raises(Exception, match=r"partition \d+: batch \d+: people: row \d+ \(arm p00777\), column state.*found 9") as raised:
        restive.spark.plan(poisoned, programme.model, study=programme.study, **asked)
    assert "expected a whole number from 0 to 1" in str(raised.value)


def test_scores_are_those_of_one_machine(programme, asked, table):
    scored = restive.spark.score(table, programme.model, programme.study, **asked).toArrow().sort_by("arm")
    batches = [batch for part in people.batches(programme.folder) for batch in part]
    whole = pa.Table.from_batches(batches).sort_by("arm").combine_chunks()
    truth = restive.arrow.score(programme.model, programme.study, **asked)(whole)
    for name in truth.schema.names:
        assert scored[name].to_pylist() == truth[name].to_pylist()


def test_a_model_is_that_of_one_machine(programme, table):
    found = restive.spark.train(table.cache(), programme.study, predictor="hierarchical")
    parts = people.batches(programme.folder)
    truth = restive.arrow.train(lambda work: [work(part) for part in parts], programme.study, predictor="hierarchical")
    study = restive.Study.read(programme.study)
    assert abs(found.predict(study)[0] - truth.predict(study)[0]).max() < 1e-9
