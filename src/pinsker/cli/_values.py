"""Columns of a table that hold dates or numbers as text, and those that nearly do."""

from typing import Any

import pandas as pd

from pinsker.encoding import read_written, written_number

#: A text column is called nearly numeric from this fraction of numbers on.
_NEARLY = 0.5


def read_values(frame: pd.DataFrame) -> tuple[dict[str, "pd.Series[Any]"], list[str]]:
    """Return the columns of text that hold numbers or dates as such, and notes on the reading."""
    found, notes = {}, []
    for name in text_columns(frame):
        column = frame[name].str.strip()
        present = column.dropna()
        read = read_written(present.unique().tolist())
        if read is not None:
            values = column.map(read.values)
            dates = read.are_dates
            found[str(name)] = pd.to_datetime(values) if dates else values.astype("float64")
            notes += [f"column {name!r} is read as {read.note}"] if read.note else []
        else:
            notes += _nearly_numeric(str(name), present)
    return found, notes


def text_columns(frame: pd.DataFrame) -> list[Any]:
    """Return the columns that hold text, missing values aside: pandas 2 counts them as none."""
    return [name for name in frame.columns if pd.api.types.is_string_dtype(frame[name].dropna())]


def _nearly_numeric(name: str, present: "pd.Series[Any]") -> list[str]:
    """Describe which values keep a column of numbers from being read as one."""
    counts = present.value_counts(sort=False)
    distinct = [
        text for text in counts.index if written_number(text) is None and not _is_float(text)
    ]
    n_odd = int(counts[distinct].sum())
    if not distinct or n_odd > _NEARLY * len(present):
        return []
    shown = ", ".join(map(repr, distinct[:3])) + (" and others" if distinct[3:] else "")
    note = (
        f"column {name!r} is read as categories, not numbers, because of {shown} in {n_odd} of "
        f"{len(present)} values; if that means missing, use --na '{distinct[0]}'"
    )
    return [note]


def _is_float(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
