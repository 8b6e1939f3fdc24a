"""Columns of text that hold numbers or dates, written as people write them."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pandas as pd

from pinsker._notes import Note

#: Signs and codes of money, before or behind a number.
_MONEY = (
    r"[$€£¥₹₽₩₺₴₪]|(?:US|A|C|NZ|HK|S|R)\$|kr|zł|Kč|USD|EUR|GBP|JPY|CHF|CNY|INR|AUD|CAD|NZD|SEK|"
    r"NOK|DKK|PLN|CZK|HUF|BRL|MXN|ZAR|TRY|KRW|SGD|HKD|ILS|RUB|UAH"
)
#: What stands around the digits of a number.
_AROUND = re.compile(
    rf"(?P<open>\()?\s*(?P<sign>[+-])?\s*(?P<before>{_MONEY})?\s*(?P<inner>[+-])?"
    rf"(?P<digits>\d[\d.,'’ \u00a0\u202f]*|[.,]\d+)\s*(?P<behind>%|{_MONEY})?\s*(?(open)\))"
)
#: How digits are grouped: the decimal sign, and the sign between thousands.
_STYLES = {
    ".": re.compile(r"(?:\d{1,3}(?:[,'’ \u00a0\u202f]\d{3})+|\d+)?(?:\.\d+)?|\d+\."),
    ",": re.compile(r"(?:\d{1,3}(?:[.'’ \u00a0\u202f]\d{3})+|\d+)?(?:,\d+)?|\d+,"),
}
_GROUPING = re.compile(r"['’ \u00a0\u202f]")
#: 2024-05-01, perhaps with a time of day and a zone (ISO 8601).
_ISO = re.compile(
    r"\d{4}-\d{2}-\d{2}([T ]\d{2}:\d{2}(:\d{2}([.,]\d+)?)?\s?(Z|[+-]\d{2}(:?\d{2})?)?)?"
)
#: The shape of other dates: parts between signs, perhaps with a time of day.
_DATE = re.compile(
    r"(?:\d{1,4}([./-])\d{1,2}\1\d{2,4}|\d{1,2}[ -][A-Za-z]{3,9}[ -]\d{2,4}"
    r"|[A-Za-z]{3,9} \d{1,2}, ?\d{4}|[A-Za-z]{3,9}[ -]\d{4})"
    r"(?:[T ,]\s*\d{1,2}:\d{2}(?::\d{2})?(?:\s?[AaPp][Mm])?)?"
)
#: Ways to write a day; of 01/02/2024 the first that reads all values is meant.
_DAYS = (
    "%d/%m/%Y", "%m/%d/%Y", "%d.%m.%Y", "%d-%m-%Y", "%m-%d-%Y", "%Y/%m/%d", "%Y.%m.%d",
    "%d/%m/%y", "%m/%d/%y", "%d.%m.%y", "%d-%m-%y", "%m-%d-%y", "%d %b %Y", "%d %B %Y",
    "%d-%b-%Y", "%d-%B-%Y", "%d-%b-%y", "%d %b %y", "%b %d, %Y", "%B %d, %Y", "%b-%Y",
    "%b %Y", "%B %Y",
)  # fmt: skip
_TIMES = ("", " %H:%M", " %H:%M:%S", " %I:%M %p", " %I:%M:%S %p")
_PARTS = {
    "%d": "day", "%m": "month", "%b": "month", "%B": "month", "%Y": "year", "%y": "year",
}  # fmt: skip
#: A text column is called nearly numeric from this fraction of numbers on.
_NEARLY = 0.5


@dataclass(frozen=True)
class ReadColumn:
    """A column of text as what it holds."""

    values: "pd.Series[Any]"  # numbers or datetimes
    note: str = ""  # how it was read


def read_values(frame: pd.DataFrame) -> tuple[dict[str, "pd.Series[Any]"], list[Note]]:
    """Return the columns of text that hold numbers or dates as such, and notes on the reading."""
    found, notes = {}, []
    for name in text_columns(frame):
        column = frame[name]
        present = column.dropna().astype(str).str.strip()
        distinct = pd.Series(present.unique(), dtype=object)
        if not len(distinct):
            continue
        read = _dates(column, distinct) or _numbers(column, distinct)
        if read is not None:
            found[str(name)] = read.values
            notes += [Note("read as", (str(name),), {"what": read.note})] if read.note else []
        else:
            notes += _nearly_numeric(str(name), present)
    return found, notes


def text_columns(frame: pd.DataFrame) -> list[Any]:
    """Return the columns that hold text, missing values aside: pandas 2 counts them as none."""
    return [name for name in frame.columns if pd.api.types.is_string_dtype(frame[name].dropna())]


def _dates(column: "pd.Series[Any]", distinct: "pd.Series[Any]") -> ReadColumn | None:
    """Read a column of dates; those with a zone are converted to UTC, so that they compare."""
    if all(map(_ISO.fullmatch, distinct)):
        dates = pd.to_datetime(column.str.strip(), format="ISO8601", errors="coerce", utc=True)
        if dates.notna().sum() == column.notna().sum():  # else some day is on no calendar
            return ReadColumn(dates.dt.tz_localize(None))
        return None
    if not all(map(_DATE.fullmatch, distinct)):
        return None
    tidy = distinct.str.replace(r"[T,]\s*(?=\d{1,2}:)", " ", regex=True)
    tidy = tidy.str.replace(r"(?<=\d)(?=[AaPp][Mm]$)", " ", regex=True).str.replace(
        r",(?=\d)", ", ", regex=True
    )
    fitting = [
        (style, dates)
        for style in _styles(tidy)
        if (dates := pd.to_datetime(tidy, format=style, errors="coerce")).notna().all()
    ]
    if not fitting:
        return None
    style, dates = fitting[0]
    values = pd.to_datetime(column.str.strip().map(dict(zip(distinct, dates, strict=True))))
    unsure = len(fitting) > 1 and not dates.equals(fitting[1][1])
    return ReadColumn(values, _about_dates(style, distinct[0], dates[0], unsure))


def _styles(tidy: "pd.Series[Any]") -> Iterator[str]:
    """Yield the ways to write a date that suit the first value."""
    clock = tidy.iloc[0].count(":")
    half_days = tidy.iloc[0][-1:] in "mM"
    for day in _DAYS:
        for time in _TIMES:
            if time.count(":") == clock and ("%p" in time) == (half_days and clock > 0):
                yield day + time


def _about_dates(style: str, text: str, date: Any, unsure: bool) -> str:
    order = " ".join(_PARTS[part] for part in re.findall(r"%[dmbBYy]", style))
    also = "; month first would fit all values too" if unsure else ""
    return f"dates ({order}{also}): {text!r} as {date:%Y-%m-%d}"


def _numbers(column: "pd.Series[Any]", distinct: "pd.Series[Any]") -> ReadColumn | None:
    """Read a column of numbers with signs of money, percent or thousands."""
    if not _one_unit(distinct):
        return None
    for decimal in _STYLES:
        read: dict[str, float] = {}
        for text in distinct:
            if (value := to_number(text, decimal)) is None:
                break
            read[text] = value
        if len(read) == len(distinct):
            first = max(distinct, key=_decoration)
            values = column.str.strip().map(read).astype("float64")
            return ReadColumn(values, f"numbers: {first!r} as {read[first]:.15g}")
    return None


def _one_unit(distinct: "pd.Series[Any]") -> bool:
    """Return whether all values have one unit: dollars and euros, or 5 % and 0.05, are two."""
    units: set[str] = set()
    for text in distinct:
        if (found := _AROUND.fullmatch(text)) is None:
            return False
        units |= {found["before"] or found["behind"] or ""}
    return len(units) == 1 or (len(units - {""}) == 1 and "%" not in units)


def _decoration(text: str) -> int:
    """Return how many signs of a text are no digits: the value that shows most is named."""
    return sum(not sign.isdigit() for sign in text)


def to_number(text: str, decimal: str = ".") -> float | None:
    """Return the number that a text stands for, None if it is none; percents keep their unit."""
    found = _AROUND.fullmatch(text)
    if found is None:
        return None
    digits = found["digits"].strip()
    if not _STYLES[decimal].fullmatch(digits) or (found["sign"] and found["inner"]):
        return None
    plain = _GROUPING.sub("", digits).replace("," if decimal == "." else ".", "")
    value = float(plain.replace(",", "."))
    negative = found["open"] or "-" in (found["sign"], found["inner"])
    return -value if negative else value


def _nearly_numeric(name: str, present: "pd.Series[Any]") -> list[Note]:
    """Describe which values keep a column of numbers from being read as one."""
    counts = present.value_counts(sort=False)
    distinct = [text for text in counts.index if to_number(text) is None and not _is_float(text)]
    n_odd = int(counts[distinct].sum())
    if not distinct or n_odd > _NEARLY * len(present):
        return []
    shown = ", ".join(map(repr, distinct[:3])) + (" and others" if distinct[3:] else "")
    figures = {"odd": shown, "n_odd": n_odd, "n_present": len(present), "first": distinct[0]}
    return [Note("nearly numeric", (name,), figures)]


def _is_float(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
