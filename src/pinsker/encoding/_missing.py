"""Missing and infinite values: refused by name, dropped by row, or kept as a value of their own."""

from collections.abc import Sequence

import numpy as np

from pinsker._types import BoolArray, IntArray, Missing
from pinsker.encoding._table import Table
from pinsker.encoding._wording import plural
from pinsker.exceptions import DataError, ParameterError


def usable_rows(
    tables: Sequence[Table], missing: Missing, *, target: Table | None = None
) -> IntArray:
    """Return the rows that all tables can use, or say what is in the way.

    Infinite values are always an error. Missing ones are an error under ``"error"``, cost the row
    under ``"drop"`` and are left in place under ``"category"``; but a row whose target is missing
    teaches nothing, so that there ``"category"`` is an error too.
    """
    if missing not in ("error", "drop", "category"):
        raise ParameterError(
            f"missing={missing!r} is not known: use 'error', 'drop' or 'category'."
        )
    everything = [*tables, *([] if target is None else [target])]
    n = everything[0].n_rows
    usable = np.ones(n, dtype=np.bool_)
    for table in everything:
        if np.isfinite(table.values).all():
            continue
        _refuse_infinite(table)
        gaps = np.isnan(table.values)
        if missing == "error" or (missing == "category" and table is target):
            choices = "missing='drop'" if table is target else "missing='drop', missing='category'"
            raise DataError(
                _report(table, gaps, "NaN", "missing values") + f" Use {choices}, or fill them in."
            )
        if missing == "drop":
            usable &= ~gaps.any(axis=1)
    if not usable.any():
        raise DataError(f"missing='drop' leaves no row: every one of the {n} misses some value.")
    return np.flatnonzero(usable)


def drop_note(kept: int, total: int) -> list[str]:
    """Say how many rows were dropped, if any."""
    if kept == total:
        return []
    return [f"missing='drop' left out {total - kept} of {plural(total, 'row')}"]


def _refuse_infinite(table: Table) -> None:
    infinite = np.isinf(table.values)
    if infinite.any():
        raise DataError(
            _report(table, infinite, "infinity", "infinite values")
            + " Replace them: an infinity is neither a number nor a missing value."
        )


def _report(table: Table, found: BoolArray, word: str, what: str) -> str:
    """Name the first column concerned, its rows, and how many other columns there are."""
    columns = np.flatnonzero(found.any(axis=0))
    rows = np.flatnonzero(found[:, columns[0]])
    others = len(columns) - 1
    also = f" ({plural(others, 'other column')} too)" if others else ""
    return (
        f"Input {table.label} contains {word}: column {table.names[columns[0]]!r} has {what} in "
        f"{len(rows)} of {plural(table.n_rows, 'row')}, first in row {rows[0]}{also}."
    )
