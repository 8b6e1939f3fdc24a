"""A selection on disk: what `pinsker select --json` writes and other commands read."""

import dataclasses
import json
from pathlib import Path
from typing import Any

import numpy as np

from pinsker import __version__, selection
from pinsker._types import plain
from pinsker.bounds import TargetFacts
from pinsker.cli._fitting import Outcome
from pinsker.exceptions import DataError
from pinsker.selection import SelectionPath, StoppingRule

#: The version that is written.
SCHEMA = 2
#: Not where it was searched either: another machine may have no GPU.
_NOT_SAVED = {"verbose", "witnesses", "cv", "warm_start", "paths", "engine", "client"}


@dataclasses.dataclass(frozen=True, eq=False)
class SavedSelection:
    """A selection that was read back.

    Attributes
    ----------
    selector : selector
        Certifies, transforms and is audited as the one that was fitted.
    target : str
        The column to predict.
    task : {"classification", "regression"}
        Kind of the target.
    columns : list of str
        The columns that the selector was fitted to.
    """

    selector: Any
    target: str
    task: str
    columns: list[str]


def to_json(outcome: Outcome) -> str:
    """Return everything about a selection that outlives the process, as JSON text."""
    selector = outcome.result.selector
    content = {
        "pinsker": __version__,
        "schema": SCHEMA,
        "source": outcome.table.source,
        "target": outcome.table.target,
        "task": outcome.task,
        "columns": list(outcome.table.features.columns),
        "kept": outcome.kept,
        "selector": type(selector).__name__,
        "parameters": _parameters(selector),
        "facts": dataclasses.asdict(selector.facts_),
        "feature_columns": [list(columns) for columns in outcome.result.feature_columns],
        "ranking": selector.ranking_,
        "path": json.loads(selector.path_.to_json()),
        "certificate": outcome.result.certificate_fields,
        "notes": list(outcome.notes),
        "seconds": round(outcome.seconds, 3),
    }
    return json.dumps(plain(content), indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def read_selection(path: str) -> SavedSelection:
    """Restore a selection that was saved."""
    content = _content(path)
    try:
        return SavedSelection(
            _restored(content),
            str(content["target"]),
            str(content["task"]),
            [str(name) for name in content["columns"]],
        )
    except (KeyError, TypeError, AttributeError) as error:
        raise DataError(
            f"{path!r} is not a selection that this version of pinsker can read "
            f"({type(error).__name__}: {error}). Write it again with pinsker select --json."
        ) from error


def _restored(content: dict[str, Any]) -> Any:
    parameters = dict(content["parameters"])
    if parameters.get("stop") is not None:
        rule = dict(parameters["stop"])
        parameters["stop"] = getattr(selection, rule.pop("rule"))(**rule)
    selector = getattr(selection, content["selector"])(**parameters)
    columns = content["columns"]
    kept = set(content["kept"])
    selector.path_ = SelectionPath.from_json(json.dumps(content["path"]))
    selector.facts_ = TargetFacts(**content["facts"])
    selector.feature_columns_ = tuple(tuple(columns) for columns in content["feature_columns"])
    selector.ranking_ = np.asarray(content["ranking"], dtype=np.int64)
    selector.support_ = np.asarray([name in kept for name in columns])
    selector.n_features_in_ = len(columns)
    selector.feature_names_in_ = np.asarray(columns, dtype=object)
    selector.notes_ = tuple(content["notes"])
    return selector


def _content(path: str) -> dict[str, Any]:
    try:
        content = json.loads(Path(path).read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise DataError(f"there is no file {path!r}.") from error
    except (OSError, UnicodeDecodeError, json.JSONDecodeError) as error:
        raise DataError(
            f"{path!r} is not a saved selection: {error}. Write one with pinsker select --json."
        ) from error
    schema = content.get("schema") if isinstance(content, dict) else None
    if schema != SCHEMA or "selector" not in content:
        raise DataError(f"{path!r} is not a saved selection. Write one with pinsker select --json.")
    return dict(content)


def _parameters(selector: Any) -> dict[str, Any]:
    """Return the parameters that differ from the defaults."""
    defaults = type(selector)().get_params(deep=False)
    changed = {}
    for name, value in selector.get_params(deep=False).items():
        if name in _NOT_SAVED or value is None or value is defaults[name]:
            continue
        if isinstance(value, StoppingRule):
            fields = dataclasses.asdict(value)  # type: ignore[call-overload]
            changed[name] = {"rule": type(value).__name__, **fields}
        else:
            changed[name] = value
    return changed
