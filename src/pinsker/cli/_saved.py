"""A selection on disk: what `pinsker select --json` writes and other commands read."""

import dataclasses
import json
import math
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from pinsker import __version__, selection
from pinsker.bounds import TargetFacts
from pinsker.cli._selecting import Outcome
from pinsker.exceptions import DataError
from pinsker.selection import SelectionPath, StoppingRule

#: The version that is written.
SCHEMA = 1
#: Also not where it was searched: another machine may have no GPU.
_NOT_SAVED = {"verbose", "witnesses", "cv", "warm_start", "paths", "engine", "client"}


def to_json(outcome: Outcome) -> str:
    """Return everything about a selection that outlives the process, as JSON text."""
    selector = outcome.selector
    content = {
        "pinsker": __version__,
        "schema": SCHEMA,
        "source": outcome.sheet.source,
        "target": outcome.sheet.target,
        "task": outcome.task,
        "columns": list(outcome.sheet.features.columns),
        "kept": outcome.kept,
        "selector": type(selector).__name__,
        "parameters": _parameters(selector),
        "facts": dataclasses.asdict(selector.facts_),
        "units": [list(columns) for columns in selector.feature_columns_],
        "ranking": selector.ranking_.tolist(),
        "path": json.loads(selector.path_.to_json()),
        "certificate": certificate_fields(selector.certificate_),
        "notes": list(outcome.notes),
        "seconds": round(outcome.seconds, 3),
    }
    return json.dumps(_plain(content), indent=1, ensure_ascii=False, allow_nan=False) + "\n"


@dataclasses.dataclass(frozen=True, eq=False)
class Saved:
    """A selection that was read back.

    Attributes
    ----------
    selector : selector
        Can certify, transform and be audited as the one that was fitted.
    target : str
        The column to predict.
    task : {"classification", "regression"}
        How it was understood.
    columns : list of str
        The columns that the selector was fitted to.
    """

    selector: Any
    target: str
    task: str
    columns: list[str]


def read_selection(path: str) -> Saved:
    """Restore a selection that was saved."""
    content = _content(path)
    try:
        return Saved(
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


def certificate_fields(certificate: Any) -> dict[str, Any]:
    """Return a certificate, or the evidence of a path, as plain values."""
    if hasattr(certificate, "to_dict"):
        return dict(certificate.to_dict())
    fields = dataclasses.asdict(certificate)
    return {**fields, "rule": str(certificate.rule)}


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
    selector.feature_columns_ = tuple(tuple(unit) for unit in content["units"])
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


def _plain(value: Any) -> Any:
    """Return what JSON can hold: numbers that are not finite become null."""
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, str) or not isinstance(value, Iterable):
        if isinstance(value, np.generic):
            return _plain(value.item())
        return None if isinstance(value, float) and not math.isfinite(value) else value
    return [_plain(item) for item in value]
