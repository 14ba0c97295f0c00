"""Seconds and resident memory of one plan by people and engine, beside reading the same table with the engine alone.

    scripts/test-engines --collect-only -q        # once: installs the engines
    target/python/engines/bin/python bench/scale.py 100000 1000000 [--engines memory stream duckdb …] [--out FILE]

For every number of people a study of 8 periods and 16 features is made (its example large_study), a hierarchical model is trained on the smallest one,
and the people are written as Parquet in 4 files, one of which has most of them. Rules cap and floor the places of fifty districts and leave out who was
called lately. Every engine runs in a process of its own: first everything is read and summed (the floor), then the
plan is made. Lists must be the same, number for number. Seconds are those of a clock; of engines that run in the process those of its processors are
kept too (`floor_cpu`, `plan_cpu`). Resident memory is the largest of the process and of its children.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
BINARIES = Path(os.environ.get("RESTIVE_BINARIES", ROOT / "target/debug"))
PROGRAM = BINARIES / "restive"
ENGINES = ["program", "pyarrow", "duckdb", "polars", "dask", "datafusion", "ray", "spark"]
STEP = 8
RULES = """\
[[limit]]
by = "district"
at_most = {most}
at_least = {least}

[[cool_down]]
periods = 3
"""


def reader(engine: str, people: str):
    """What reads and sums everything, and what runs a work on every partition."""
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.dataset as ds

    def summed(batches) -> float:
        return sum(pc.sum(column).as_py() or 0 for batch in batches for column in batch.columns if pa.types.is_floating(column.type))

    if engine == "pyarrow":
        files = sorted(Path(people).glob("*.parquet"))
        return (
            lambda: sum(summed(ds.dataset(file).to_batches()) for file in files),
            lambda work: [work(ds.dataset(file).to_batches()) for file in files],
        )
    if engine == "duckdb":
        import duckdb

        connection = duckdb.connect()
        stream = lambda: connection.sql(f"SELECT * FROM '{people}/*.parquet'").to_arrow_reader(65_536)  # noqa: E731
        return (lambda: summed(stream())), (lambda work: [work(stream())])
    if engine == "polars":
        import polars as pl

        files = sorted(Path(people).glob("*.parquet"))
        batches = lambda file: pl.read_parquet(file).to_arrow().to_batches()  # noqa: E731
        return (
            lambda: sum(summed(batches(file)) for file in files),
            lambda work: [work(batches(file)) for file in files],
        )
    if engine == "dask":
        import dask
        import dask.dataframe as dd

        table = dd.read_parquet(people, dtype_backend="pyarrow")
        each = lambda f: dask.compute(  # noqa: E731
            *[dask.delayed(lambda part: f(pa.Table.from_pandas(part, preserve_index=False).to_batches()))(part) for part in table.to_delayed()],
            scheduler="threads", num_workers=2,
        )  # fmt: skip
        return (lambda: sum(each(summed))), each
    if engine == "datafusion":
        from datafusion import SessionContext

        table = SessionContext().read_parquet(people)
        each = lambda f: [f(batch.to_pyarrow() for batch in stream) for stream in table.execute_stream_partitioned()]  # noqa: E731
        return (lambda: sum(each(summed))), each
    raise ValueError(engine)


def of_engine(engine: str, folder: Path) -> dict[str, object]:
    """In a process of its own: the floor, and the plan."""
    import restive.arrow

    people, model, study = str(folder / "people"), folder / "model", folder / "study"
    begun, processor = time.perf_counter(), {}
    if engine == "spark":
        import pyspark

        os.environ.setdefault("SPARK_HOME", os.path.dirname(pyspark.__file__))
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
        from pyspark.sql import SparkSession

        import restive.spark

        builder = SparkSession.builder.master("local-cluster[2,1,2048]").config("spark.ui.enabled", "false")
        for name, value in {
            "spark.driver.bindAddress": "127.0.0.1",
            "spark.driver.host": "127.0.0.1",
            "spark.executorEnv.RAYON_NUM_THREADS": "1",
            "spark.sql.execution.arrow.maxRecordsPerBatch": "65536",
            "spark.driver.memory": "2g",
        }.items():
            builder = builder.config(name, value)
        spark = builder.getOrCreate()
        spark.sparkContext.setLogLevel("ERROR")
        table = spark.read.parquet(people)
        started = time.perf_counter()

        def floor(batches):
            import pyarrow as pa
            import pyarrow.compute as pc

            total = sum(pc.sum(c).as_py() or 0 for batch in batches for c in batch.columns if pa.types.is_floating(c.type))
            yield pa.RecordBatch.from_arrays([pa.array([float(total)])], names=["total"])

        table.mapInArrow(floor, "total double").collect()
        read = time.perf_counter()
        plan = restive.spark.plan(table, model, folder / "rules.toml", study=study, step=STEP)
    elif engine == "ray":
        import ray

        import restive.ray

        ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, configure_logging=False)
        ray.data.DataContext.get_current().enable_progress_bars = False
        table = ray.data.read_parquet(people)
        started = time.perf_counter()

        def floor(block):
            import pyarrow as pa
            import pyarrow.compute as pc

            return pa.table({"total": [float(sum(pc.sum(c).as_py() or 0 for c in block.columns if pa.types.is_floating(c.type)))]})

        table.map_batches(floor, batch_format="pyarrow", batch_size=None).take_all()
        read = time.perf_counter()
        plan = restive.ray.plan(table, model, folder / "rules.toml", study=study, step=STEP)
    else:
        floor, run = reader(engine, people)
        started, busy = time.perf_counter(), [time.process_time()]
        floor()
        read = time.perf_counter()
        busy.append(time.process_time())
        plan = restive.arrow.plan(run, model, study, folder / "rules.toml", step=STEP)
        busy.append(time.process_time())
        # of an engine in this process: what a machine that has other things to do changes little
        processor = {"floor_cpu": busy[1] - busy[0], "plan_cpu": busy[2] - busy[1]}
    done = time.perf_counter()
    most = max(resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    (folder / f"{engine}.json").write_text(plan.json)
    return {"start": started - begun, "floor": read - started, "plan": done - read, **processor, "rss_mib": most / 1024}


def of_program(folder: Path) -> dict[str, object]:
    """The study itself, by `restive plan`."""
    begun = time.perf_counter()
    command = [PROGRAM, "plan", folder / "model", folder / "study", "--rules", folder / "rules.toml", "--json"]
    said = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    done = time.perf_counter()
    (folder / "program.json").write_text(said)
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return {"start": 0.0, "floor": None, "plan": done - begun, "plan_cpu": used.ru_utime + used.ru_stime, "rss_mib": used.ru_maxrss / 1024}


def people_of(folder: Path) -> None:
    """The people of a study as Parquet: most of them in one file."""
    import pyarrow.parquet as pq

    whole = folder / "whole"
    subprocess.run([PROGRAM, "study", folder / "study", "--people", whole, "--files", "8"], check=True, capture_output=True)
    files = sorted(whole.glob("*.parquet"))
    (folder / "people").mkdir()
    for number, some in enumerate([files[:5], files[5:6], files[6:7], files[7:]]):
        with pq.ParquetWriter(folder / "people" / f"part-{number}.parquet", pq.read_schema(some[0])) as writer:
            for file in some:
                for batch in pq.ParquetFile(file).iter_batches(131_072):
                    writer.write_batch(batch)
    for file in files:
        file.unlink()
    whole.rmdir()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("people", type=int, nargs="*", default=[100_000, 1_000_000])
    parser.add_argument("--engines", nargs="+", default=ENGINES, choices=ENGINES)
    parser.add_argument("--folder", type=Path, help="where studies are made and kept (default: a temporary folder)")
    parser.add_argument("--out", type=Path, help="append a line of JSON for each measurement")
    parser.add_argument("--one", nargs=2, metavar=("ENGINE", "FOLDER"), help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.one:
        engine, folder = asked.one
        print(json.dumps(of_program(Path(folder)) if engine == "program" else of_engine(engine, Path(folder))))
        return
    with tempfile.TemporaryDirectory() as temporary:
        home = asked.folder or Path(temporary)
        model = None
        print(f"{'people':>12} {'engine':<11} {'start s':>8} {'floor s':>8} {'plan s':>8} {'ours':>6} {'MiB':>7}  list")
        for people in sorted(asked.people):
            folder = home / str(people)
            if not (folder / "people").exists():
                folder.mkdir(parents=True, exist_ok=True)
                subprocess.run([BINARIES / "examples/large_study", folder / "study", str(people), "8", "16", "1", "shuffled"], check=True)
                people_of(folder)
                places = people // 50
                (folder / "rules.toml").write_text(RULES.format(most=places // 20, least=places // 200))
            if model is None:
                model = folder / "model"
                if not model.exists():
                    command = [PROGRAM, "train", folder / "study", "--predictor", "hierarchical", "--out", model]
                    subprocess.run(command, check=True, capture_output=True)
            elif not (folder / "model").exists():
                (folder / "model").symlink_to(model.resolve())
            truth = None
            for engine in asked.engines:
                said = subprocess.run([sys.executable, __file__, "--one", engine, folder], capture_output=True, text=True)
                if said.returncode:
                    print(f"{people:>12,} {engine:<11} failed: {said.stderr.strip().splitlines()[-1][:150]}")
                    continue
                found = json.loads(said.stdout.strip().splitlines()[-1])
                plan = json.loads((folder / f"{engine}.json").read_text())
                truth = truth or plan
                same = "same" if plan == truth else "DIFFERENT"
                floor = "" if found["floor"] is None else f"{found['floor']:.2f}"
                # three passes read three times
                ours = "" if found["floor"] is None else f"{100 * max(0.0, 1 - 3 * found['floor'] / found['plan']):.0f} %"
                row = f"{people:>12,} {engine:<11} {found['start']:>8.2f} {floor:>8} {found['plan']:>8.2f} {ours:>6} {found['rss_mib']:>7.0f}  {same}"
                print(row, flush=True)
                if asked.out:
                    with asked.out.open("a") as out:
                        out.write(json.dumps({"people": people, "engine": engine, "list": same, **found}) + "\n")


if __name__ == "__main__":
    main()
