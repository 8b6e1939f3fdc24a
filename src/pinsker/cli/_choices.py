"""From the text of an option to the value that a selector takes."""

import csv
import difflib
import re
from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Literal

from pinsker.encoding import Kind
from pinsker.exceptions import DataError, ParameterError
from pinsker.search import FeatureCount, ScoreJump, ScoreThreshold, StoppingRule

_MEMORY = re.compile(r"(\d+(?:\.\d+)?)\s*([kmgt]?)(?:i?b)?", re.IGNORECASE)
_KINDS = [kind.value for kind in Kind if kind is not Kind.BOOLEAN]
#: Longer names are cut in messages.
_LONGEST_NAME = 80
_POWERS = {"": 0, "k": 1, "m": 2, "g": 3, "t": 4}
_PERCENT = re.compile(r"(\d+(?:[.,]\d+)?)\s*%")
_TIME = re.compile(r"(\d+(?:\.\d+)?)\s*(s|sec|m|min|h)?", re.IGNORECASE)
_SECONDS = {"": 1, "s": 1, "sec": 1, "m": 60, "min": 60, "h": 3600}


def parse_stop(text: str) -> StoppingRule:
    """Read a stopping rule."""
    name, _, number = (part.strip() for part in text.partition("="))
    try:
        if name == "features":
            return FeatureCount(int(number))
        if name in ("score", "jump"):
            return (ScoreThreshold if name == "score" else ScoreJump)(float(number))
    except ValueError as error:
        if isinstance(error, ParameterError):
            raise
    raise ParameterError(
        f"--stop {text!r} is not understood: use features=5, score=0.01 or jump=0.02."
    )


def parse_memory(text: str) -> int:
    """Read an amount of memory, in powers of 1024."""
    found = _MEMORY.fullmatch(text.strip())
    if found is None or float(found[1]) == 0:
        raise ParameterError(f"--memory {text!r} is not understood: use for example 500M or 2G.")
    return int(float(found[1]) * 1024 ** _POWERS[found[2].lower()])


def parse_time(text: str) -> float:
    """Read a time in seconds."""
    found = _TIME.fullmatch(text.strip())
    if found is None or float(found[1]) == 0:
        raise ParameterError(f"--time-limit {text!r} is not understood: use for example 60s or 2m.")
    return float(found[1]) * _SECONDS[(found[2] or "").lower()]


def parse_budget(text: str | None) -> float | None:
    """Read an error budget."""
    if text is None:
        return None
    try:
        return float(text)
    except ValueError as error:
        hint = "use a number in the metric, as 0.05"
        if found := _PERCENT.fullmatch(text.strip()):
            share = f"{float(found[1].replace(',', '.')) / 100:g}"
            hint = f"for {text.strip()} of an error rate or of the variance write {share}"
        raise ParameterError(f"--error-budget {text!r} is no number: {hint}.") from error


def parse_columns(texts: Iterable[str], names: Sequence[str], option: str) -> list[str]:
    """Read names of columns, separated by commas or given one by one; ``*`` stands for anything."""
    found: list[str] = []
    for text in texts:
        # A name may hold a comma itself: the whole text is tried first.
        for part in [text] if text in names else text.split(","):
            found += _matching(part.strip(), names, option)
    return list(dict.fromkeys(found))


def parse_names(texts: Iterable[str], known: Sequence[str], option: str) -> list[str] | None:
    """Read names out of a list, separated by commas or given one by one; None for none."""
    names = [name.strip() for text in texts for name in text.split(",")]
    for name in names:
        if name not in known:
            raise ParameterError(f"{option}: {name!r} is not one of {', '.join(map(repr, known))}.")
    return list(dict.fromkeys(names)) or None


def parse_groups(texts: Iterable[str], names: Sequence[str]) -> dict[str, list[str]] | None:
    """Read groups of columns, each as ``name=first,second``."""
    groups: dict[str, list[str]] = {}
    for text in texts:
        name, equals, columns = text.partition("=")
        if not (equals and name.strip() and columns.strip()):
            raise ParameterError(
                f"--feature-groups {text!r} is not understood: use name=first,second, for example "
                "colour=red,green,blue or colour=colour_*."
            )
        groups[name.strip()] = parse_columns([columns], names, "--feature-groups")
    return groups or None


def read_costs(path: str, names: Sequence[str]) -> dict[str | tuple[str, ...], float]:
    """Read prices of columns from a CSV file of two columns; ``a;b`` share one price."""
    try:
        text = Path(path).read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"--costs {path!r} cannot be read: {error}.") from error
    costs: dict[str | tuple[str, ...], float] = {}
    for number, row in enumerate(csv.reader(text.splitlines()), start=1):
        if not row:
            continue
        try:
            price = float(row[1])
        except (IndexError, ValueError) as error:
            if number == 1 and len(row) > 1:
                continue  # names of the two columns
            raise DataError(
                f"--costs {path!r}, line {number}: {','.join(row)!r} is no column and its price."
            ) from error
        parts = [row[0]] if row[0] in names else row[0].split(";")
        found = tuple(find_column(part.strip(), names, "--costs") for part in parts)
        costs[found[0] if len(found) == 1 else found] = price
    return costs


def parse_kinds(
    texts: Iterable[str], names: Sequence[str]
) -> dict[str, str] | Literal["from_dtype"]:
    """Read kinds of columns, each as ``column=kind``; those of the other columns are detected."""
    kinds: dict[str, str] = {}
    for text in texts:
        columns, _, kind = text.rpartition("=")
        if kind not in _KINDS:
            raise ParameterError(
                f"--kind {text!r} is not understood: use COLUMN=KIND with one of "
                f"{', '.join(_KINDS)}."
            )
        kinds |= dict.fromkeys(parse_columns([columns], names, "--kind"), kind)
    return kinds or "from_dtype"


def find_column(name: str, names: Sequence[str], option: str) -> str:
    """Return the column of this name, or raise with the names there are."""
    if name in names:
        return name
    if len(name) > _LONGEST_NAME:
        shown = f"{name[:_LONGEST_NAME]!r}... ({len(name)} characters)"
        raise ParameterError(f"{option}: there is no column of the long name {shown}.")
    alike = difflib.get_close_matches(name.lower(), [n.lower() for n in names], n=1, cutoff=0.6)
    meant = [n for n in names if n.lower() == alike[0]] if alike else []
    if meant:
        advice = f"Did you mean {meant[0]!r}?"
    else:
        more = f" and {len(names) - 6} more" if len(names) > 6 else ""
        advice = f"There are {', '.join(map(repr, names[:6]))}{more}."
    raise ParameterError(f"{option}: there is no column {name!r}. {advice}")


def _matching(pattern: str, names: Sequence[str], option: str) -> list[str]:
    if pattern in names or "*" not in pattern:
        return [find_column(pattern, names, option)]
    found = [name for name in names if fnmatchcase(name, pattern.replace("[", "[[]"))]
    if not found:
        raise ParameterError(f"{option}: no column matches {pattern!r}.")
    return found
