"""Data frames and series of pandas, polars, pyarrow and others, read through narwhals."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from pinsker.encoding._cells import Cells, read_cells, read_levels
from pinsker.exceptions import DataError, DataTypeError

_NEVER_FRAMES = {"builtins", "numpy", "array"}


def is_frame(data: Any) -> bool:
    """Whether `data` is a frame or a series of some data frame package."""
    if type(data).__module__.partition(".")[0] in _NEVER_FRAMES:
        return False  # the common case, without importing narwhals
    import narwhals.stable.v1 as nw

    return isinstance(_wrap(data), nw.DataFrame | nw.LazyFrame | nw.Series)


def read_frame(data: Any, *, label: str, prefix: str) -> tuple[tuple[str, ...], list[Cells]]:
    """Return names and columns of a frame, or of a series."""
    import narwhals.stable.v1 as nw

    wrapped = _wrap(data)
    if isinstance(wrapped, nw.LazyFrame):
        raise DataTypeError(
            f"{label} is a lazy frame ({type(data).__module__}.{type(data).__name__}). "
            f"Collect it first: {label}.collect()."
        )
    if isinstance(wrapped, nw.Series):
        name = str(wrapped.name) if wrapped.name not in (None, "") else prefix
        return (name,), [_read_series(wrapped, name)]
    names = tuple(str(name) for name in wrapped.columns)
    if len(set(names)) < len(names):
        raise DataError(_repeated(names))
    columns = zip(names, wrapped.columns, strict=True)
    return names, [_read_series(wrapped.get_column(key), name) for name, key in columns]


def _wrap(data: Any) -> Any:
    import narwhals.stable.v1 as nw

    try:
        return nw.from_native(data, pass_through=True, allow_series=True)
    except ValueError as error:  # its subclass for repeated names changed places over time
        names = [str(name) for name in getattr(data, "columns", ())]
        if len(set(names)) == len(names):
            raise
        raise DataError(_repeated(names)) from error


def _repeated(names: Sequence[str]) -> str:
    repeated = next(name for j, name in enumerate(names) if name in names[:j])
    return (
        f"more than one column is called {repeated!r}: rename them, so that results can tell them "
        "apart."
    )


def _read_series(series: Any, name: str) -> Cells:
    """Read one narwhals series."""
    import narwhals.stable.v1 as nw

    dtype, native = series.dtype, series.to_native()
    if isinstance(dtype, nw.List | nw.Struct | nw.Array):
        raise DataTypeError(
            f"column {name!r} holds values of type {dtype}; each cell must be a string or a number."
        )
    if isinstance(dtype, nw.Enum):
        categories = series.cat.get_categories().to_list()
        note = f"the order of Enum column {name!r} is not used; to use it, declare it a 'count'"
        return replace(read_levels(series.to_numpy(), categories, name), note=note)
    native_type: Any = getattr(native, "dtype", None)
    if isinstance(dtype, nw.Categorical) and hasattr(native_type, "ordered"):  # pandas
        categories, ordered = native_type.categories.tolist(), bool(native_type.ordered)
        return read_levels(series.to_numpy(), categories, name, ordered=ordered)
    # The other categorical types number their levels as they meet them: that order means nothing.
    return read_cells(series.to_numpy(), name)
