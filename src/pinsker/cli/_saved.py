"""A selection on disk: what `pinsker select --json` writes and other commands read."""

import base64
import json
import re
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from pinsker import __version__
from pinsker._notes import Notes, notes_to_fields
from pinsker._types import Fields, Selector, Unchecked, plain
from pinsker.cli._formats import TextStyle
from pinsker.cli._tables import InputTable
from pinsker.exceptions import DataError, PinskerError
from pinsker.report import sentence, to_html
from pinsker.selectors import from_state, to_state

SCHEMA = 2  # the version that is written
MOST_BYTES = 2**26  # bytes of a file at most: 100 000 columns take about a tenth of that
_DEEPEST = 20  # lists and objects within each other: a selection has five
_TYPES: dict[str, tuple[type, ...]] = {
    "object": (dict,), "array": (list,), "string": (str,), "integer": (int,),
    "number": (int, float), "boolean": (bool,), "null": (type(None),),
}  # fmt: skip


@dataclass(frozen=True, eq=False)
class Outcome:
    """A fitted selector with its table."""

    table: InputTable  # the table
    selector: Selector  # fitted to it
    task: str  # kind of the target
    seconds: float  # time that `fit` took
    notes: Notes = ()
    interrupted: bool = False  # whether the user ended it
    stability: Any = None  # how much choices on folds or halves of the rows agree

    @property
    def kept(self) -> list[str]:
        """Names of the columns that stay, in the order of the table."""
        names, support = self.table.features.columns, self.selector.get_support()
        return [name for name, stays in zip(names, support, strict=True) if stays]


@dataclass(frozen=True, eq=False)
class SavedSelection:
    """A selection that was read back."""

    selector: Selector  # certifies, transforms and is audited as the one that was fitted
    targets: tuple[str, ...]  # the columns to predict
    event: str | None
    task: str  # kind of the target
    columns: list[str]  # the columns that the selector was fitted to
    style: TextStyle  # how the table was read

    @property
    def features(self) -> list[str]:
        """Names of the features that were kept, the most important first."""
        path, support = self.selector.path_, self.selector.support_
        columns = self.selector.feature_columns_
        return [path.names[j] for j in path.order if support[list(columns[j])].all()]


def to_json(outcome: Outcome, summary: Fields | None = None) -> str:
    """Return what outlives the process, as JSON text; what its page is made of is packed."""
    table, targets, packed = outcome.table, outcome.table.targets, None
    if summary is not None:
        page = zlib.compress(json.dumps(plain(summary), allow_nan=False).encode())
        packed = base64.b64encode(page).decode("ascii")
    content = {
        "pinsker": __version__, "schema": SCHEMA, "source": table.source,
        "target": targets[0] if len(targets) == 1 else list(targets), "event": table.event,
        "style": vars(table.style),
        **to_state(outcome.selector),
        "task": outcome.task,  # a linear search takes classes for numbers
        "stability": None if outcome.stability is None else outcome.stability.to_dict(),
        **notes_to_fields(outcome.notes),
        "notes": [sentence(note, "command") for note in outcome.notes],
        "seconds": round(outcome.seconds, 3),
        "summary": packed,
    }  # fmt: skip
    return json.dumps(plain(content), indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def read_selection(path: str) -> SavedSelection:
    """Restore a selection that was saved; nothing in the file is run."""
    text = _bytes(path)
    with _explained(path):
        content = _content(text)
        selector, style = from_state(content), TextStyle(**content.get("style", {}))
    target, event = content["target"], content.get("event")
    targets = (target,) if isinstance(target, str) else tuple(target)
    return SavedSelection(selector, targets, event, content["task"], content["columns"], style)


def read_page(path: str) -> str:
    text = _bytes(path)
    with _explained(path):
        packed = _content(text).get("summary")
        if packed is None:
            raise DataError("it was saved without its page")
        unpacked = zlib.decompressobj().decompress(base64.b64decode(packed), MOST_BYTES)
        return to_html(json.loads(unpacked))


def _content(text: bytes) -> Fields:
    content = parse(text)
    if not isinstance(content, dict) or content.get("schema") != SCHEMA:
        raise DataError(f"it is not of version {SCHEMA}")
    check(content, schema())
    check_parts(content)
    return content


@contextmanager
def _explained(path: str) -> Iterator[None]:
    """Name the file in what is wrong with it."""
    try:
        yield
    except Exception as error:  # anything may be wrong with a file that someone has changed
        own = isinstance(error, PinskerError)
        found = str(error) if own else f"{type(error).__name__}: {error}"
        raise DataError(
            f"{path!r} is not a saved selection that this version of pinsker can read "
            f"({found.rstrip('.')}). Write one with pinsker select --json."
        ) from error


def _bytes(path: str) -> bytes:
    try:
        with Path(path).open("rb") as handle:
            return handle.read(MOST_BYTES + 1)
    except FileNotFoundError as error:
        raise DataError(f"there is no file {path!r}.") from error
    except OSError as error:
        raise DataError(f"{path!r} cannot be read: {error.strerror}.") from error


@cache
def schema() -> Fields:
    text = files("pinsker.cli").joinpath("selection.schema.json").read_text(encoding="utf-8")
    return dict(json.loads(text))


def parse(text: bytes) -> Any:
    """Read JSON of limited size and depth, without NaN, infinities and names that are repeated."""
    if len(text) > MOST_BYTES:
        raise DataError(f"it has {len(text)} bytes, more than any selection ({MOST_BYTES})")
    try:
        content = json.loads(
            text.decode("utf-8"), parse_constant=_refuse_constant, object_pairs_hook=_once
        )
    except RecursionError as error:
        raise DataError("its lists lie too deep within each other") from error
    except ValueError as error:  # JSONDecodeError and UnicodeDecodeError are among these
        raise DataError(str(error)) from error
    _check_depth(content, _DEEPEST)
    return content


def check(value: Unchecked, rules: Fields, place: str = "") -> None:
    """Refuse a value that a schema does not allow."""
    where = place or "it"
    _check_type(value, rules, where)
    allowed = [rules["const"]] if "const" in rules else rules.get("enum")
    same = (type(one) is type(value) and one == value for one in allowed or ())
    if allowed is not None and not any(same):
        listed = ", ".join(map(repr, allowed))
        raise DataError(f"{where} is {_shown(value)}, and must be one of {listed}")
    if isinstance(value, (int, float)):
        least, most = rules.get("minimum", float("-inf")), rules.get("maximum", float("inf"))
        if not least <= value <= most:
            raise DataError(f"{where} is {_shown(value)}, and must be from {least} to {most}")
    if isinstance(value, str):
        least, most = rules.get("minLength", 0), rules.get("maxLength", MOST_BYTES)
        if not least <= len(value) <= most:
            size = f"{len(value)} characters, and must have {least} to {most}"
            raise DataError(f"{where} has {size}")
        if "pattern" in rules and not re.search(rules["pattern"], value):
            raise DataError(f"{where} is {_shown(value)}, and must match {rules['pattern']}")
    if isinstance(value, list):
        if len(value) < rules.get("minItems", 0):
            raise DataError(f"{where} is empty")
        for number, item in enumerate(value):
            check(item, rules.get("items", {}), f"{place}/{number}")
    if isinstance(value, dict):
        for name in rules.get("required", ()):
            if name not in value:
                raise DataError(f"{where} lacks {name!r}")
        for name, own in rules.get("properties", {}).items():
            if name in value:
                check(value[name], own, f"{place}/{name}")


def check_parts(content: Fields) -> None:
    """Refuse a selection whose parts do not belong together."""
    columns, kept = content["columns"], set(content["kept"])
    features, names = content["feature_columns"], content["path"]["names"]
    # Columns that were left out before the search belong to no feature.
    named = [column for feature in features for column in feature]
    own = content["selector"] == "LinearSelection"  # it treats classes as numbers
    target, event = content["target"], content.get("event")
    targets = {target, event} if isinstance(target, str) else {*target, event}
    wrong = {
        "columns repeats a name": len(set(columns)) < len(columns),
        "target is among the columns": bool(targets & set(columns)),
        "kept names a column that is not there": not kept <= set(columns),
        "feature_columns repeats a column": len(set(named)) < len(named),
        "feature_columns names a column that is not there": any(j >= len(columns) for j in named),
        "ranking has another length than columns": len(content["ranking"]) != len(columns),
        "path/names has another length than feature_columns": len(names) != len(features),
        "path/names repeats a name": len(set(names)) < len(names),
        "path/names and columns name other features": len(names) == len(features)
        and not _are_named(content),
        "task and facts/task differ": not own and content["task"] != content["facts"]["task"],
    }
    _refuse(wrong)
    _check_path(content["path"])
    larger = content["certificate"].get("passed")
    if larger is not None:
        check(larger, schema()["properties"]["certificate"], "/certificate/passed")
    whole = {columns[j] for one in features for j in one if {columns[k] for k in one} <= kept}
    _refuse({
        "kept divides a group of columns": kept != whole,
        "certificate/features names a feature that is not there": not (
            set(content["certificate"]["features"]) <= set(names)
        ),
    })  # fmt: skip


def _are_named(content: Fields) -> bool:
    """Return whether each feature has the name of its one column, or of its group of columns."""
    columns, groups = content["columns"], content["parameters"].get("feature_groups")
    groups = groups if isinstance(groups, dict) else {}
    of_feature = zip(content["path"]["names"], content["feature_columns"], strict=True)
    for name, own in of_feature:
        named = [columns[j] for j in own if j < len(columns)]
        if named != [name] and not set(named) <= set(groups.get(name) or ()):
            return False
    return True


def _check_path(path: Fields) -> None:
    """Refuse moves that cannot follow from the start."""
    n, moves, backward = len(path["names"]), path["moves"], path["direction"] == "backward"
    start = path.get("start")
    start = (list(range(n)) if backward else []) if start is None else start
    first = set(start)
    _refuse({
        "path/start names a feature that is not there": any(j >= n for j in start),
        "path/start repeats a feature": len(first) < len(start),
        "path/moves names a feature that is not there": any(j >= n for j in moves),
        "path/moves repeats a feature": len(set(moves)) < len(moves),
        "path/moves does not follow from path/start": any((j in first) != backward for j in moves),
        "path/n_fixed is more than there are features": path.get("n_fixed", 0) > n,
    })  # fmt: skip


def _refuse(wrong: dict[str, bool]) -> None:
    for text, is_so in wrong.items():
        if is_so:
            raise DataError(text)


def _check_type(value: Unchecked, rules: Fields, where: str) -> None:
    names = rules.get("type", ())
    names = [names] if isinstance(names, str) else names
    kinds = tuple(kind for name in names for kind in _TYPES[name])
    is_number_like = isinstance(value, bool) and bool not in kinds  # True is an int in Python
    if names and (is_number_like or not isinstance(value, kinds)):
        wanted = " or ".join(names)
        raise DataError(f"{where} is {_shown(value)}, and must be of type {wanted}")


def _shown(value: Unchecked) -> str:
    text = repr(value)
    return text if len(text) <= 40 else f"{text[:37]}..."


def _check_depth(value: Unchecked, left: int) -> None:
    if left == 0:
        raise DataError("its lists lie too deep within each other")
    items = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    for item in items:
        if isinstance(item, (dict, list)):
            _check_depth(item, left - 1)


def _once(pairs: list[tuple[str, Any]]) -> Fields:
    """Return an object, none of whose names is repeated: readers differ in which one they take."""
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        repeated = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"{_shown(repeated)} is repeated")
    return found


def _refuse_constant(text: str) -> Any:
    raise ValueError(f"{text} is no JSON")
