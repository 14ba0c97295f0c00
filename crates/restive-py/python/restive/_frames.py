"""Data frames as columns, and columns as data frames.

Whatever holds named columns may come in: pandas and polars data frames, pyarrow tables, mappings of names to arrays. Each
column becomes a NumPy array of numbers, truths or objects; what is missing is NaN or None. Nothing is imported for that: a frame
brings its own methods. Columns go out as NumPy arrays, and as the frames of whichever package is asked for.
"""

from __future__ import annotations

import datetime
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from restive import _html
from restive._extras import need

# whole numbers, also where some are missing
WHOLE = {"t", "state", "action", "last_state", "since", "rank"}


def is_frame(frame: Any) -> bool:
    """Whether something holds named columns: a data frame of whichever kind, or a mapping."""
    package = type(frame).__module__.partition(".")[0]
    named = {"pandas": "columns", "polars": "get_columns", "pyarrow": "column_names"}
    return isinstance(frame, Mapping) or (package in named and hasattr(frame, named[package]))


def columns(what: str, frame: Any, has_dates: bool = False) -> tuple[int, list[tuple[str, Any]]]:
    """The rows and the columns of a frame; a column that cannot be read is the name of its type.

    Where dates have a place in the table, they become text with the year first.
    """
    package = type(frame).__module__.partition(".")[0]
    if package == "pandas" and hasattr(frame, "columns"):
        raw, convert = [(str(name), frame.iloc[:, k]) for k, name in enumerate(frame.columns)], _of_pandas
    elif package == "polars" and hasattr(frame, "get_columns"):
        raw, convert = [(series.name, series) for series in frame.get_columns()], _of_polars
    elif package == "pyarrow" and hasattr(frame, "column_names"):
        raw, convert = [(name, frame.column(k)) for k, name in enumerate(frame.column_names)], _of_arrow
    elif isinstance(frame, Mapping):
        raw, convert = [(str(name), column) for name, column in frame.items()], _of_any
    else:
        raise TypeError(
            f"{what}: expected a pandas or polars DataFrame, a pyarrow Table or a mapping of names to arrays, "
            f"found {type(frame).__module__}.{type(frame).__qualname__}"
        )
    arrays = [(name, _converted(what, name, column, convert)) for name, column in raw]
    plain = [(name, _plain(what, name, _dated(column) if has_dates else column)) for name, column in arrays]
    read = [column for _, column in plain if not isinstance(column, str)]
    return (len(read[0]) if read else 0), plain


def _converted(what: str, name: str, column: Any, convert: Callable[[Any], Any]) -> NDArray[Any]:
    try:
        return np.asanyarray(convert(column))
    except Exception as error:  # whatever the frame's package raises
        raise ValueError(f"{what}: column {name}: cannot be read as an array: {error}") from error


def _dated(column: NDArray[Any]) -> NDArray[Any]:
    """Dates and times as text with the year first, the rest as it is."""
    if column.dtype.kind == "M":
        text = np.datetime_as_string(column.astype("datetime64[s]")).astype(object)
        return np.where(np.isnat(column), None, text)
    if column.dtype.kind == "O" and any(isinstance(cell, datetime.date) for cell in column):
        return np.array([cell.isoformat() if isinstance(cell, datetime.date) else cell for cell in column], dtype=object)
    return column


def _of_polars(series: Any) -> Any:
    return series.to_numpy()


def _of_pandas(series: Any) -> Any:
    if isinstance(series.dtype, np.dtype):
        return series.to_numpy()
    kind = getattr(series.dtype, "kind", "O")
    if kind in "iuf" and series.hasnans:
        return series.to_numpy(dtype="float64", na_value=np.nan)
    if kind in "iufb" and not series.hasnans:
        return series.to_numpy(dtype=getattr(series.dtype, "numpy_dtype", None))
    return series.to_numpy() if kind in "Mm" else series.to_numpy(dtype=object, na_value=None)


def _of_arrow(column: Any) -> Any:
    if hasattr(column.type, "index_type"):  # categories
        column = column.combine_chunks().dictionary_decode()
    return column.to_numpy(zero_copy_only=False) if not hasattr(column, "num_chunks") else column.to_numpy()


def _of_any(column: Any) -> Any:
    if isinstance(column, np.ndarray):
        return column
    if hasattr(column, "__array__"):
        return np.asarray(column)
    try:
        # a list of numbers and text must not become text
        cells = list(column)
        is_mixed = any(isinstance(cell, str) or cell is None for cell in cells)
        return np.asarray(cells, dtype=object if is_mixed else None)
    except (TypeError, ValueError):
        return np.asarray(column, dtype=object)


def _plain(what: str, name: str, column: NDArray[Any]) -> Any:
    """float64, int64, uint64, bool or objects, contiguous; otherwise the name of the type."""
    if column.ndim != 1:
        raise ValueError(f"{what}: column {name}: found an array of shape {column.shape}, expected one axis")
    if isinstance(column, np.ma.MaskedArray):
        column = np.where(np.ma.getmaskarray(column), None, column.data.astype(object)) if column.mask.any() else column.data
    kind = column.dtype.kind
    if kind == "f":
        return np.ascontiguousarray(column, dtype=np.float64)
    if kind in "iu":
        return np.ascontiguousarray(column, dtype=np.int64 if kind == "i" else np.uint64)
    if kind == "b":
        return np.ascontiguousarray(column)
    if kind in "OUT":
        return np.ascontiguousarray(column.astype(object))
    return str(column.dtype)


class Table(dict[str, NDArray[Any]]):
    """Columns by name, as NumPy arrays of one length; text is an array of objects, a missing number is NaN.

    >>> table = Table(arm=np.array(["Ada", "Ben"], dtype=object), state=np.array([0.0, np.nan]))
    >>> table["state"].shape
    (2,)
    """

    @classmethod
    def of(cls, named: list[tuple[str, Any]]) -> Any:
        """From (name, cells), where cells are an array or a list of text."""
        return cls((name, np.array(cells, dtype=object) if isinstance(cells, list) else cells) for name, cells in named)

    def _told(self) -> list[str]:
        """What a notebook says below the table."""
        return []

    def _repr_html_(self) -> str:
        rows = len(next(iter(self.values()))) if self else 0
        cells = [[_html.number(column[i]) for column in self.values()] for i in range(min(rows, _html.SHOWN))]
        title = f"{type(self).__name__}: {rows:,} {'row' if rows == 1 else 'rows'}"
        return _html.table(title, list(self), cells, [_html.more(rows, "rows"), *self._told()])

    def to_pandas(self) -> Any:
        """A pandas DataFrame; whole numbers of which some are missing are of its nullable type."""
        pd = need("pandas", "to_pandas()")

        frame = pd.DataFrame(dict(self))
        whole = [name for name in frame.columns if name in WHOLE and frame[name].dtype.kind == "f"]
        return frame.astype({name: "Int64" for name in whole})

    def to_polars(self) -> Any:
        """A polars DataFrame; what is missing is null."""
        pl = need("polars", "to_polars()")

        series = []
        for name, cells in self.items():
            if cells.dtype == object:
                series.append(pl.Series(name, list(cells), dtype=pl.String))
            else:
                one = pl.Series(name, cells, nan_to_null=True)
                series.append(one.cast(pl.Int64) if name in WHOLE else one)
        return pl.DataFrame(series)

    def to_arrow(self) -> Any:
        """A pyarrow Table; what is missing is null."""
        pa = need("pyarrow", "to_arrow()", "arrow")

        def array(name: str, cells: NDArray[Any]) -> Any:
            if cells.dtype == object:
                return pa.array(list(cells), type=pa.string())
            one = pa.array(cells, from_pandas=True)
            return one.cast(pa.int64()) if name in WHOLE else one

        return pa.table({name: array(name, cells) for name, cells in self.items()})


class Tables(NamedTuple):
    """The tables of a study."""

    arms: Any
    trajectories: Any
    truth: Any = None
