"""A selection on disk: what `pinsker select --json` writes and other commands read."""

import base64
import dataclasses
import json
from pathlib import Path
from typing import Any

import numpy as np

from pinsker import __version__
from pinsker._types import AnyArray, plain
from pinsker.bounds import TargetFacts
from pinsker.cli._fitting import DIRECTIONS, Outcome
from pinsker.cli._schema import MOST_BYTES, check, check_parts, parse, schema
from pinsker.engine import KNNSettings
from pinsker.exceptions import DataError, PinskerError
from pinsker.holdout import MOST_HASHES, Certificate
from pinsker.search import (
    ErrorBudget,
    FeatureCount,
    ScoreJump,
    ScoreThreshold,
    SelectionPath,
    StoppingRule,
)
from pinsker.selectors import FitRecord

#: The version that is written.
SCHEMA = 2
#: How it was searched is over, and where it was: another computer may have no GPU.
_NOT_SAVED = {"verbose", "cv", "warm_start", "searches", "engine", "feature_costs"}
_SELECTORS = {kind.__name__: kind for kind in DIRECTIONS.values()}
_RULES: dict[str, Any] = {
    kind.__name__: kind for kind in (ErrorBudget, FeatureCount, ScoreJump, ScoreThreshold)
}


@dataclasses.dataclass(frozen=True, eq=False)
class SavedSelection:
    """A selection that was read back."""

    selector: Any  # certifies, transforms and is audited as the one that was fitted
    targets: tuple[str, ...]  # the columns to predict
    event: str | None
    task: str  # kind of the target
    columns: list[str]  # the columns that the selector was fitted to

    @property
    def features(self) -> list[str]:
        """Names of the features that were kept, the most important first."""
        path, support = self.selector.path_, self.selector.support_
        columns = self.selector.feature_columns_
        return [path.names[j] for j in path.order if support[list(columns[j])].all()]


def to_json(outcome: Outcome) -> str:
    """Return everything about a selection that outlives the process, as JSON text."""
    selector = outcome.selector
    content = {
        "pinsker": __version__,
        "schema": SCHEMA,
        "source": outcome.table.source,
        "target": _one_or_list(outcome.table.targets),
        "event": outcome.table.event,
        "task": outcome.task,
        "columns": list(outcome.table.features.columns),
        "kept": outcome.kept,
        "selector": type(selector).__name__,
        "parameters": _parameters(selector),
        "facts": dataclasses.asdict(selector.facts_),
        "feature_columns": [list(columns) for columns in selector.feature_columns_],
        "ranking": selector.ranking_,
        "path": json.loads(selector.path_.to_json()),
        "certificate": selector.certificate_.to_dict(),
        "seed": selector._record.seed,
        "row_hashes": _hashes_text(selector._record.row_hashes),
        "stability": None if outcome.stability is None else outcome.stability.to_dict(),
        "importance": _importance(selector),
        "notes": list(outcome.notes),
        "seconds": round(outcome.seconds, 3),
    }
    return json.dumps(plain(content), indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def _importance(selector: Any) -> dict[str, Any] | None:
    """Return what each kept column is worth, if it was measured."""
    found = getattr(selector, "importance_", None)
    return None if found is None else dataclasses.asdict(found)


def read_selection(path: str) -> SavedSelection:
    """Restore a selection that was saved; nothing in the file is run."""
    text = _bytes(path)
    try:
        content = parse(text)
        if not isinstance(content, dict) or content.get("schema") != SCHEMA:
            raise DataError(f"it is not of version {SCHEMA}")
        check(content, schema())
        check_parts(content)
        selector = _restored(content)
        _check_kept(selector)
        selector._validate_params()
        selector._rule()
    except (LookupError, TypeError, AttributeError, ValueError, ArithmeticError) as error:
        found = (
            str(error) if isinstance(error, PinskerError) else f"{type(error).__name__}: {error}"
        )
        raise DataError(
            f"{path!r} is not a saved selection that this version of pinsker can read "
            f"({found.rstrip('.')}). Write one with pinsker select --json."
        ) from error
    targets, event = _targets(content["target"]), content.get("event")
    return SavedSelection(selector, targets, event, content["task"], content["columns"])


def _one_or_list(names: tuple[str, ...]) -> str | list[str]:
    return names[0] if len(names) == 1 else list(names)


def _targets(saved: Any) -> tuple[str, ...]:
    """Return the names of the targets; one is text."""
    return (saved,) if isinstance(saved, str) else tuple(str(name) for name in saved)


def _restored(content: dict[str, Any]) -> Any:
    """Return a selector that transforms, certifies and is audited as the one that was fitted."""
    parameters = dict(content["parameters"])
    if unsaved := sorted(_NOT_SAVED & set(parameters)):
        raise DataError(f"parameters holds {unsaved[0]!r}, which is not saved")
    if isinstance(parameters["error_budget"], dict):
        rule = dict(parameters["error_budget"])
        parameters["error_budget"] = _RULES[rule.pop("rule")](**rule)
    if "knn" in parameters:
        parameters["knn"] = KNNSettings(**parameters["knn"])
    columns, kept = content["columns"], set(content["kept"])
    selector = _SELECTORS[content["selector"]](**parameters)
    fitted = {
        "path_": SelectionPath.from_json(json.dumps(content["path"])),
        "facts_": _facts(content["facts"]),
        "task_": str(content["task"]),
        "feature_columns_": tuple(tuple(group) for group in content["feature_columns"]),
        "ranking_": np.asarray(content["ranking"], dtype=np.int64),
        "support_": np.asarray([name in kept for name in columns]),
        "certificate_": _certificate(content["certificate"]),
        "cv_results_": {},
        "notes_": tuple(content["notes"]),
        "n_features_in_": len(columns),
        "feature_names_in_": np.asarray(columns, dtype=object),
        # Other budgets cut the path by its own information.
        "_record": FitRecord(int(content["seed"]), None, _read_hashes(content["row_hashes"])),
    }
    for name, value in fitted.items():
        setattr(selector, name, value)
    return selector


def _check_kept(selector: Any) -> None:
    """Refuse kept columns that are not the first of the path: certify tests sets of the path."""
    path, columns = selector.path_, selector.feature_columns_
    kept = [j for j, own in enumerate(columns) if selector.support_[list(own)].all()]
    if set(kept) != set(path.order[: len(kept)]):
        raise DataError("kept is not among the sets of the path")


def _facts(saved: dict[str, Any]) -> TargetFacts:
    shares = saved.pop("shares", None)
    return TargetFacts(**saved, shares=None if shares is None else TargetFacts(**shares))


def _hashes_text(hashes: AnyArray) -> str:
    """Return hashes of rows as text: of very many the smallest, for the file is for people too."""
    smallest = np.sort(hashes)[:MOST_HASHES]
    return base64.b64encode(smallest.astype("<u8").tobytes()).decode("ascii")


def _read_hashes(text: str) -> AnyArray:
    content = base64.b64decode(text, validate=True)
    if len(content) % 8:
        raise DataError(f"row_hashes has {len(content)} bytes, and must have 8 for each row")
    return np.frombuffer(content, dtype="<u8")


def _certificate(saved: dict[str, Any]) -> Certificate:
    """Read a certificate; null was a number that JSON cannot hold."""
    values = {field.name: saved[field.name] for field in dataclasses.fields(Certificate)}
    values |= {name: float("nan") for name, value in values.items() if value is None}
    texts = {name: tuple(values[name]) for name in ("features", "notes")}
    return Certificate(**{**values, **texts})


def _bytes(path: str) -> bytes:
    try:
        with Path(path).open("rb") as handle:
            return handle.read(MOST_BYTES + 1)
    except FileNotFoundError as error:
        raise DataError(f"there is no file {path!r}.") from error
    except OSError as error:
        raise DataError(f"{path!r} cannot be read: {error.strerror}.") from error


def _parameters(selector: Any) -> dict[str, Any]:
    """Return the budget, and the parameters that differ from the defaults."""
    defaults = type(selector)().get_params(deep=False)
    changed: dict[str, Any] = {"error_budget": selector.error_budget}
    for name, value in selector.get_params(deep=False).items():
        if name in _NOT_SAVED or value is None or value is defaults[name]:
            continue
        if isinstance(value, StoppingRule):
            rule: Any = value  # every rule is a dataclass, which the base class does not say
            changed[name] = {"rule": type(value).__name__, **dataclasses.asdict(rule)}
        else:
            changed[name] = value.get_params() if isinstance(value, KNNSettings) else value
    return changed
