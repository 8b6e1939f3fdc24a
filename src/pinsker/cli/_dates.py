"""Dates written as text: told by their form, read as moments."""

import re
from typing import Any

import pandas as pd

#: 2024-05-01, perhaps with a time of day and a zone (ISO 8601).
_DATE = re.compile(
    r"\d{4}-\d{2}-\d{2}([T ]\d{2}:\d{2}(:\d{2}([.,]\d+)?)?\s?(Z|[+-]\d{2}(:?\d{2})?)?)?"
)


def read_dates(frame: pd.DataFrame) -> dict[str, "pd.Series[Any]"]:
    """Return the columns of text that hold nothing but ISO dates, as dates.

    As text every date would be a level of its own, and say nothing about the next. Moments with a
    zone are told in UTC, so that those of several zones can be compared. Other ways to write dates
    are left alone: 01/02/2024 is two days.
    """
    found = {}
    for name in frame.columns:
        column = frame[name]
        if not pd.api.types.is_string_dtype(column):
            continue
        present = column.dropna().astype(str)
        if len(present) and all(map(_DATE.fullmatch, present.unique())):
            dates = pd.to_datetime(column, format="ISO8601", errors="coerce", utc=True)
            if dates.notna().sum() == len(present):  # else some day is on no calendar
                found[str(name)] = dates.dt.tz_localize(None)
    return found
