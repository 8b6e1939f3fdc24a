"""What columns are: which are meant, groups of them, dates and numbers in text, and kinds."""

import re
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence, Sized
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from itertools import product
from typing import Any, Literal, TypeAlias

import numpy as np

from pinsker._notes import Note
from pinsker._types import AnyArray, BoolArray, ColumnChoice, FloatArray, IntArray
from pinsker.encoding._encoded import Encoded, Kind, listing
from pinsker.encoding._read import Origin, RawTable, column_blocks, numbers_note, read_times
from pinsker.exceptions import ParameterError

FeatureGroups: TypeAlias = Mapping[Any, Sequence[Any]] | Sequence[Any]
_not_groups = partial(ParameterError, parameter="feature_groups")
_refused = partial(ParameterError, parameter="categorical_features")


def find_columns(columns: Iterable[Any], names: Sequence[str], parameter: str) -> list[int]:
    position = {name: j for j, name in enumerate(names)}
    refused = partial(ParameterError, parameter=parameter)
    found = []
    for key in columns:
        if isinstance(key, str) and key in position:
            found.append(position[key])
        elif isinstance(key, int | np.integer) and not isinstance(key, bool):
            if not 0 <= key < len(names):
                raise refused(
                    f"{parameter} names column {key}, but columns are numbered 0 to "
                    f"{len(names) - 1}."
                )
            found.append(int(key))
        else:
            raise refused(
                f"{parameter} names column {key!r}, which does not exist; the columns are "
                f"{listing(names)}."
            )
    return found


def find_features(encoded: Encoded, items: Iterable[Any] | None, parameter: str) -> tuple[int, ...]:
    """Return the features that columns (by name or position) and groups (by name) belong to."""
    of_name = {name: feature for feature, name in enumerate(encoded.feature_names)}
    of_column = {j: f for f, columns in enumerate(encoded.feature_columns) for j in columns}
    names = encoded.given_names or encoded.columns.names
    found = set()
    for item in () if items is None else items:
        if isinstance(item, str) and item in of_name:
            found.add(of_name[item])
        else:
            (column,) = find_columns([item], names, parameter)
            if column in of_column:  # others were left out, which a note says
                found.add(of_column[column])
    return tuple(sorted(found))


def make_features(
    names: Sequence[str], feature_groups: FeatureGroups | None
) -> tuple[tuple[tuple[int, ...], ...], tuple[str, ...]]:
    """Return the columns of each feature, in order of first columns, and the features' names."""
    members = {} if feature_groups is None else _members(names, feature_groups)
    group_of = {j: label for label, columns in members.items() for j in columns}
    features: list[tuple[int, ...]] = []
    feature_names: list[str] = []
    for j, name in enumerate(names):
        label = group_of.get(j)
        if label is None:
            features.append((j,))
            feature_names.append(name)
        elif members[label][0] == j:
            features.append(tuple(members[label]))
            feature_names.append(str(label))
    repeated = sorted(name for name, times in Counter(feature_names).items() if times > 1)
    if repeated:
        raise _not_groups(
            f"feature groups and columns share the name {listing(repeated)}: rename the group."
        )
    return tuple(features), tuple(feature_names)


def _members(names: Sequence[str], feature_groups: FeatureGroups) -> dict[Any, list[int]]:
    members: dict[Any, list[int]] = {}
    if isinstance(feature_groups, Mapping):
        taken: dict[int, Any] = {}
        for label, named in feature_groups.items():
            listed = [named] if isinstance(named, str) else named
            columns = find_columns(listed, names, "feature_groups")
            if not columns:
                raise _not_groups(f"group {label!r} has no columns: leave it out.")
            for j in columns:
                if j in taken:
                    raise _not_groups(
                        f"column {names[j]!r} is in group {taken[j]!r} and again in {label!r}: "
                        "a column belongs to one group at most."
                    )
                taken[j] = label
            members[label] = sorted(columns)
        return members
    if isinstance(feature_groups, str) or not isinstance(feature_groups, Sized):
        raise _not_groups(
            f"feature_groups is of type {type(feature_groups).__name__}: pass a dict of name to "
            "columns, or one label per column."
        )
    if len(feature_groups) != len(names):
        raise _not_groups(
            f"feature_groups has {len(feature_groups)} labels, but there are {len(names)} columns: "
            "give each column one, None for a column of its own."
        )
    for j, label in enumerate(feature_groups):
        if not isinstance(label, Hashable):
            raise _not_groups(
                f"feature_groups has {label!r} for column {names[j]!r}: give each column one label "
                "(text or a number), or pass a dict of name to columns."
            )
        if label is not None:
            members.setdefault(label, []).append(j)
    return members


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
        return isinstance(next(iter(self.values.values())), datetime)


def read_written(texts: Sequence[Any]) -> Written | None:
    """Return the dates or numbers that all of some texts stand for; None if one is neither."""
    if not all(isinstance(text, str) for text in texts):
        return None
    distinct = list(dict.fromkeys(text.strip() for text in texts))
    return (_iso_dates(distinct) or _dates(distinct) or _numbers(distinct)) if distinct else None


def with_written_values(table: RawTable, declared: BoolArray) -> RawTable:
    """Read columns of text that hold dates or numbers; bare integers as text are meant as codes."""
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
            column, origins[j], note = np.array([*meant, np.nan])[codes], Origin.NUMBER, None
        values = values.copy(order="F") if values is table.values else values
        values[:, j], categories[j] = column, None
        notes = [one for one in notes if one != numbers_note(known, name)]
        note = Note("read as", (name,), {"what": read.note}) if read.note else note
        notes += [note] if note else []
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
    if not all(map(_DATE.fullmatch, distinct)):
        return None
    # One space before a time of day, AM or PM, and a year behind a comma.
    spaced = [re.sub(r"[T,]\s*(?=\d{1,2}:)", " ", text) for text in distinct]
    spaced = [re.sub(r"(?<=\d)(?=[AaPp][Mm]$)", " ", text) for text in spaced]
    spaced = [re.sub(r",(?=\d)", ", ", text) for text in spaced]
    clock, half_days = spaced[0].count(":"), spaced[0][-1:] in "mM"
    fitting = []
    for style in (day + time for day, time in product(_DAYS, _TIMES)):
        if style.count(":") == clock and ("%p" in style) == (half_days and clock > 0):
            with suppress(ValueError):
                fitting.append((style, [datetime.strptime(text, style) for text in spaced]))
    if not fitting:
        return None
    style, dates = fitting[0]
    order = " ".join(_PARTS[part] for part in re.findall(r"%[dmbBYy]", style))
    unsure = len(fitting) > 1 and dates != fitting[1][1]
    also = "; month first would fit all values too" if unsure else ""
    note = f"dates ({order}{also}): {distinct[0]!r} as {dates[0]:%Y-%m-%d}"
    return Written(dict(zip(distinct, dates, strict=True)), note)


def _numbers(distinct: Sequence[str]) -> Written | None:
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


#: Integers are a count when there are at most this many different ones ...
MOST_COUNT_VALUES = 100
#: ... and each stands for this many rows on average. Fewer repeats and they may as well be
#: measurements that were rounded. Two different values are always a count.
ROWS_PER_COUNT_VALUE = 3

CategoricalFeatures: TypeAlias = (
    Literal["from_dtype", "none", "all"] | bool | Sequence[Any] | Mapping[Any, Any] | AnyArray
)


def choose_kinds(
    table: RawTable,
    categorical_features: CategoricalFeatures = "from_dtype",
    n_rows: int | None = None,
) -> tuple[tuple[Kind, ...], list[Note]]:
    declared = categorical_features if isinstance(categorical_features, Mapping) else {}
    by_type = isinstance(categorical_features, str) and categorical_features == "from_dtype"
    if by_type or isinstance(categorical_features, Mapping):
        integer, n = are_integers(table.values), n_rows or table.n_rows
        kinds = [_kind_if(table, j, None, integer[j]) for j in range(table.n_columns)]
        counts = zip(kinds, table.origins, strict=True)
        unsure = [j for j, one in enumerate(counts) if one == (Kind.COUNT, Origin.NUMBER)]
        doubts: dict[str, list[str]] = {"count": [], "continuous": []}
        most, distinct = most_count_values(n), count_distinct(table.values[:, unsure])
        for j, n_values in zip(unsure, distinct, strict=True):
            if n_values > most:
                kinds[j] = Kind.CONTINUOUS
            if most / 2 < n_values <= 2 * most and 2 < n_values < n:
                doubts[kinds[j].value].append(table.names[j])
        skipped = set()
        for key, own in declared.items():
            (j,) = find_columns([key], table.names, "categorical_features")
            if problem := _why_not(table, j, own):
                raise _refused(f"categorical_features declares column {table.names[j]!r} {problem}")
            kinds[j] = Kind(own)
            skipped.add(table.names[j])
        notes = []  # one per guess, however many columns it concerns
        for kind, found in doubts.items():
            if names := [name for name in found if name not in skipped]:
                about = {"repeats": "many" if kind == "count" else "few", "kind": kind}
                notes.append(Note("doubtful kind", tuple(names), about))
        return tuple(kinds), notes
    marked = _marks(categorical_features, table)
    integer = are_integers(table.values)
    return tuple(_kind_if(table, j, marked[j], integer[j]) for j in range(table.n_columns)), []


def declared_categories(table: RawTable, categorical_features: CategoricalFeatures) -> BoolArray:
    if isinstance(categorical_features, Mapping):
        kinds = categorical_features.items()
        return _marks([key for key, kind in kinds if kind in (Kind.NOMINAL, Kind.BOOLEAN)], table)
    if isinstance(categorical_features, str) and categorical_features == "from_dtype":
        return np.zeros(table.n_columns, dtype=np.bool_)
    return _marks(categorical_features, table)


def are_integers(values: FloatArray) -> BoolArray:
    integer = np.empty(values.shape[1], dtype=np.bool_)
    for some in column_blocks(values.shape):
        block = values[:, some]
        integer[some] = ((np.floor(block) == block) | np.isnan(block)).all(axis=0)
    return integer


def count_distinct(values: FloatArray) -> IntArray:
    """Return for each column the number of different values; missing ones are not counted."""
    distinct = np.empty(values.shape[1], dtype=np.int64)
    for some in column_blocks(values.shape):
        ordered = np.sort(values[:, some], axis=0)  # NaN last
        with np.errstate(invalid="ignore"):
            steps = ordered[1:] > ordered[:-1]  # never true next to a NaN
        distinct[some] = steps.sum(axis=0) + ~np.isnan(ordered[0])
    return distinct


def most_count_values(n_rows: int) -> int:
    return max(2, min(n_rows // ROWS_PER_COUNT_VALUE, MOST_COUNT_VALUES))


def _kind_if(table: RawTable, j: int, marked: bool | None, integer: bool) -> Kind:
    """Kind of column j when it is marked discrete, not marked, or (None) to be guessed."""
    origin = table.origins[j]
    if origin is Origin.BOOLEAN:
        return Kind.BOOLEAN
    if origin is Origin.ORDERED:
        return Kind.COUNT
    if origin in (Origin.CATEGORY, Origin.TEXT):
        return Kind.NOMINAL
    if marked is None:
        return Kind.COUNT if integer and origin is Origin.NUMBER else Kind.CONTINUOUS
    if not marked:
        return Kind.CONTINUOUS
    return Kind.COUNT if integer else Kind.NOMINAL


def _marks(categorical_features: ColumnChoice, table: RawTable) -> BoolArray:
    if isinstance(categorical_features, bool) or (
        isinstance(categorical_features, str) and categorical_features in ("none", "all")
    ):
        return np.full(table.n_columns, categorical_features in ("all", True))
    if isinstance(categorical_features, str) or not isinstance(categorical_features, Iterable):
        raise _refused(
            f"categorical_features={categorical_features!r} is not known: use 'from_dtype', "
            "'none', 'all', a mask with one entry per column, a list of columns, or a dict of "
            "column to kind."
        )
    marked = list(categorical_features)
    if marked and all(isinstance(mark, bool | np.bool_) for mark in marked):
        if len(marked) != table.n_columns:
            raise _refused(
                f"categorical_features is a mask of {len(marked)} entries, but {table.label} has "
                f"{table.n_columns} columns."
            )
        return np.array(marked, dtype=np.bool_)
    marks = np.zeros(table.n_columns, dtype=np.bool_)
    marks[find_columns(marked, table.names, "categorical_features")] = True
    return marks


def _why_not(table: RawTable, j: int, declared: ColumnChoice) -> str:
    if declared not in tuple(Kind):
        return f"{declared!r}; kinds are {listing(tuple(Kind))}."
    kind, origin = Kind(declared), table.origins[j]
    if kind.is_numeric and origin is Origin.TEXT:
        return (
            f"{kind.value!r}, but it holds text, which has no order: make it numbers or ordered "
            "categories first."
        )
    if kind is Kind.CONTINUOUS and origin in (Origin.CATEGORY, Origin.ORDERED):
        return (
            f"'continuous', but it holds {origin.value}: use 'count' for their order or 'nominal'."
        )
    if kind is Kind.BOOLEAN and count_distinct(table.values[:, [j]])[0] > 2:
        return "'boolean', but it has more than two values."
    return ""
