"""Data frames and series of pandas, polars, pyarrow and others, read through narwhals."""

from typing import Any

from pinsker.encoding._cells import Cells, read_cells, read_levels
from pinsker.exceptions import DataError, DataTypeError

_NEVER_FRAMES = {"builtins", "numpy", "array"}


def is_frame(data: Any) -> bool:
    """Whether `data` is a frame or a series of some data frame package."""
    if type(data).__module__.partition(".")[0] in _NEVER_FRAMES:
        return False  # the common case, without importing narwhals
    import narwhals.stable.v1 as nw

    wrapped = nw.from_native(data, pass_through=True, allow_series=True)
    return isinstance(wrapped, nw.DataFrame | nw.LazyFrame | nw.Series)


def read_frame(data: Any, *, label: str, prefix: str) -> tuple[tuple[str, ...], list[Cells]]:
    """Return names and columns of a frame, or of a series."""
    import narwhals.stable.v1 as nw

    wrapped = nw.from_native(data, pass_through=True, allow_series=True)
    if isinstance(wrapped, nw.LazyFrame):
        raise DataTypeError(
            f"{label} is a lazy frame ({type(data).__module__}.{type(data).__name__}). "
            f"Collect it first: {label}.collect()."
        )
    if isinstance(wrapped, nw.Series):
        name = str(wrapped.name) if wrapped.name not in (None, "") else prefix
        return (name,), [_read_series(wrapped, name)]
    names = tuple(str(name) for name in wrapped.columns)
    repeated = sorted({name for name in names if names.count(name) > 1})
    if repeated:
        raise DataError(
            f"{label} has more than one column called {repeated[0]!r}: rename them, "
            "so that results can tell them apart."
        )
    columns = zip(names, wrapped.iter_columns(), strict=True)
    return names, [_read_series(series, name) for name, series in columns]


def _read_series(series: Any, name: str) -> Cells:
    """Read one narwhals series."""
    import narwhals.stable.v1 as nw

    if isinstance(series.dtype, nw.List | nw.Struct | nw.Array):
        raise DataTypeError(
            f"column {name!r} holds values of type {series.dtype}; "
            "each cell must be a string or a number."
        )
    if isinstance(series.dtype, nw.Categorical | nw.Enum):
        native_type = getattr(series.to_native(), "dtype", None)
        return read_levels(
            series.to_numpy(),
            series.cat.get_categories().to_list(),
            name,
            ordered=bool(getattr(native_type, "ordered", False)),
        )
    return read_cells(series.to_numpy(), name)
