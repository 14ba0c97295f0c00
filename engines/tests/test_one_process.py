"""DuckDB, Polars, Dask and DataFusion: whoever has Arrow batches can run a work on them."""

import restive.arrow


def test_duckdb(programme, asked):
    import duckdb

    def run(work):
        with duckdb.connect() as connection:
            return [work(connection.sql(f"SELECT * FROM '{programme.files}'").to_arrow_reader(1000))]

    programme.check(restive.arrow.plan(run, programme.model, programme.study, programme.rules, **asked))


def test_polars(programme, asked):
    import polars as pl

    table = pl.read_parquet(programme.files)

    def run(work):
        return [work(piece.to_arrow().to_batches()) for piece in table.iter_slices(3000)]

    programme.check(restive.arrow.plan(run, programme.model, programme.study, programme.rules, **asked))


def test_dask(programme, asked):
    import dask
    import dask.dataframe as dd
    import pyarrow as pa

    table = dd.read_parquet(programme.people, dtype_backend="pyarrow")

    def run(work):
        answer = dask.delayed(lambda piece: work([pa.Table.from_pandas(piece, preserve_index=False)]))
        return dask.compute(*[answer(piece) for piece in table.to_delayed()], scheduler="threads")

    programme.check(restive.arrow.plan(run, programme.model, programme.study, programme.rules, **asked))


def test_datafusion(programme, asked):
    from datafusion import SessionContext

    table = SessionContext().read_parquet(programme.people)

    def run(work):
        return [work(batch.to_pyarrow() for batch in stream) for stream in table.execute_stream_partitioned()]

    programme.check(restive.arrow.plan(run, programme.model, programme.study, programme.rules, **asked))
