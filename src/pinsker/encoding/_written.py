"""Text that holds dates or numbers, written as people write them: what it stands for."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

import numpy as np

from pinsker._types import BoolArray
from pinsker.encoding._cells import Origin, numbers_note, read_times
from pinsker.encoding._read import RawTable

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


@dataclass(frozen=True)
class Written:
    """What the different texts of a column stand for."""

    values: dict[str, float] | dict[str, datetime]  # by the text without spaces around it
    note: str = ""  # how they were read
    bare: bool = False  # integers without any sign, which may be codes

    @property
    def are_dates(self) -> bool:
        """Whether the values are dates, not numbers."""
        return isinstance(next(iter(self.values.values())), datetime)


def read_written(texts: Sequence[Any]) -> Written | None:
    """Return the dates or numbers that all of some texts stand for; None if one is neither."""
    if not all(isinstance(text, str) for text in texts):
        return None
    distinct = list(dict.fromkeys(text.strip() for text in texts))
    return (_iso_dates(distinct) or _dates(distinct) or _numbers(distinct)) if distinct else None


def with_written_values(table: RawTable, declared: BoolArray) -> RawTable:
    """Return a table whose columns of text are dates or numbers where all of their cells are.

    Columns that are declared categories stay so, and bare integers too: text is how users say that
    a number is a code.
    """
    values, origins, categories = table.values, list(table.origins), list(table.categories)
    notes = list(table.notes)
    for j, (name, known) in enumerate(zip(table.names, table.categories, strict=True)):
        if known is None or origins[j] is not Origin.TEXT or declared[j]:
            continue
        read = read_written(known.tolist())
        if read is None or read.bare:
            continue
        meant = [read.values[text.strip()] for text in known]
        codes = np.where(np.isnan(values[:, j]), len(known), values[:, j]).astype(np.int64)
        if read.are_dates:
            cells = read_times(np.array([*meant, None], dtype="M8[us]")[codes], name)
            column, origins[j], note = cells.values, Origin.TIME, cells.note
        else:
            column, origins[j], note = np.array([*meant, np.nan])[codes], Origin.NUMBER, ""
        values = values.copy(order="F") if values is table.values else values
        values[:, j], categories[j] = column, None
        notes = [one for one in notes if one != numbers_note(known, name)]
        notes += [f"column {name!r} is read as {read.note}" if read.note else note]
    return replace(
        table, values=values, origins=tuple(origins), categories=tuple(categories),
        notes=tuple(notes),
    )  # fmt: skip


def _iso_dates(distinct: Sequence[str]) -> Written | None:
    """Read dates of ISO 8601; those with a zone are converted to UTC, so that they compare."""
    if not all(map(_ISO.fullmatch, distinct)):
        return None
    try:
        dates = [datetime.fromisoformat(re.sub(r"\s(?=[Z+-])", "", text)) for text in distinct]
        naive = [one.astimezone(UTC).replace(tzinfo=None) if one.tzinfo else one for one in dates]
    except (ValueError, OverflowError):  # some day is on no calendar
        return None
    return Written(dict(zip(distinct, naive, strict=True)))


def _dates(distinct: Sequence[str]) -> Written | None:
    """Read dates in the first of the usual styles that reads all of them."""
    if not all(map(_DATE.fullmatch, distinct)):
        return None
    spaced = [_spaced(text) for text in distinct]
    fitting = [(style, dates) for style in _styles(spaced[0]) if (dates := _parsed(spaced, style))]
    if not fitting:
        return None
    style, dates = fitting[0]
    order = " ".join(_PARTS[part] for part in re.findall(r"%[dmbBYy]", style))
    unsure = len(fitting) > 1 and dates != fitting[1][1]
    also = "; month first would fit all values too" if unsure else ""
    note = f"dates ({order}{also}): {distinct[0]!r} as {dates[0]:%Y-%m-%d}"
    return Written(dict(zip(distinct, dates, strict=True)), note)


def _spaced(text: str) -> str:
    """Return a date with one space before its time of day, AM or PM, and a year behind a comma."""
    text = re.sub(r"[T,]\s*(?=\d{1,2}:)", " ", text)
    return re.sub(r",(?=\d)", ", ", re.sub(r"(?<=\d)(?=[AaPp][Mm]$)", " ", text))


def _styles(text: str) -> Iterator[str]:
    """Yield the ways to write a date that suit a text."""
    clock = text.count(":")
    half_days = text[-1:] in "mM"
    for day in _DAYS:
        for time in _TIMES:
            if time.count(":") == clock and ("%p" in time) == (half_days and clock > 0):
                yield day + time


def _parsed(texts: Sequence[str], style: str) -> list[datetime]:
    """Return the dates that texts stand for in a style; none if one of them has another style."""
    try:
        return [datetime.strptime(text, style) for text in texts]
    except ValueError:
        return []


def _numbers(distinct: Sequence[str]) -> Written | None:
    """Read numbers with signs of money, percent or thousands."""
    if not _one_unit(distinct):
        return None
    for decimal in _STYLES:
        read: dict[str, float] = {}
        for text in distinct:
            if (value := written_number(text, decimal)) is None:
                break
            read[text] = value
        if len(read) == len(distinct):
            shown = max(distinct, key=_decoration)
            note = f"numbers: {shown!r} as {read[shown]:.15g}"
            return Written(read, note, bare=_decoration(shown) == 0)
    return None


def _one_unit(distinct: Sequence[str]) -> bool:
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


def written_number(text: str, decimal: str = ".") -> float | None:
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
