"""A fitted selector as plain values, and back: the one place that knows what outlives a process."""

import base64
import dataclasses
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from pinsker._notes import notes_of_fields, notes_to_fields
from pinsker._types import Fields, Selector, plain
from pinsker.bounds import TargetFacts
from pinsker.encoding import Profile, listing
from pinsker.engine import KNNSettings
from pinsker.exceptions import DataError
from pinsker.explain import Importance
from pinsker.holdout import MOST_HASHES, Certificate, CVResults, fitted_columns
from pinsker.metrics import SubgroupResult
from pinsker.search import (
    CountedPath,
    ErrorBudget,
    FeatureCount,
    ScoreJump,
    ScoreThreshold,
    SelectionPath,
    StoppingRule,
)
from pinsker.selectors._base import FitRecord, set_fitted
from pinsker.selectors._feature_selector import FeatureSelector
from pinsker.selectors._knn_selectors import (
    BackwardElimination,
    ForwardBackwardSelection,
    ForwardSelection,
)
from pinsker.selectors._linear import LinearSelection

#: How it was searched is over, and where it was: another computer may have no GPU.
_NOT_SAVED = {"verbose", "cv", "warm_start", "searches", "engine", "feature_costs"}
_SELECTORS: Fields = {
    kind.__name__: kind
    for kind in (
        FeatureSelector, BackwardElimination, ForwardSelection, ForwardBackwardSelection,
        LinearSelection,
    )
}  # fmt: skip
_RULES: Fields = {
    kind.__name__: kind for kind in (ErrorBudget, FeatureCount, ScoreJump, ScoreThreshold)
}
#: Held-out results of every set are not saved: other budgets cut the path by its own information.
_FORGOTTEN: Fields = {"cv_results_": CVResults(), "front_": [], "stability_": None}


def to_state(selector: Selector) -> Fields:
    """Return a fitted selector as values that JSON can hold."""
    importance = vars(selector).get("importance_")
    names = fitted_columns(selector)
    # Of very many the smallest, for the file is for people too.
    hashes = np.sort(selector._record.row_hashes)[:MOST_HASHES]
    state = {
        "selector": type(selector).__name__,
        "parameters": _parameters(selector),
        "task": selector.task_,
        "target_name": selector.target_name_,
        "n_rows": selector.n_samples_fit_,
        "columns": names,
        "is_named": "feature_names_in_" in vars(selector),
        "kept": [name for name, stays in zip(names, selector.support_, strict=True) if stays],
        "facts": dataclasses.asdict(selector.facts_),
        "feature_columns": selector.feature_columns_,
        "ranking": selector.ranking_,
        "path": json.loads(selector.path_.to_json()),
        "certificate": selector.certificate_.to_dict(),
        "importance": None if importance is None else dict(vars(importance)),
        **notes_to_fields(selector.notes_),
        "seed": selector._record.seed,
        "weighted": selector._record.weighted,
        "grouped": selector._record.grouped,
        "row_columns": dict(selector._record.row_columns),
        "profile": _profile_of(selector._record.profile),
        "row_hashes": base64.b64encode(hashes.astype("<u8").tobytes()).decode("ascii"),
    }
    values: Fields = plain(state)
    return values


def from_state(state: Mapping[str, Any]) -> Any:
    """Return a selector that transforms, certifies and is audited as the one that was written."""
    columns, kept = state["columns"], set(state["kept"])
    hashes = base64.b64decode(state["row_hashes"], validate=True)
    if len(hashes) % 8:
        raise DataError(f"row_hashes has {len(hashes)} bytes, and must have 8 for each row")
    parameters = dict(state["parameters"])
    if unsaved := sorted(_NOT_SAVED & set(parameters)):
        raise DataError(f"parameters holds {unsaved[0]!r}, which is not saved")
    if isinstance(parameters["error_budget"], dict):
        rule = dict(parameters["error_budget"])
        parameters["error_budget"] = _RULES[rule.pop("rule")](**rule)
    if "knn" in parameters:
        parameters["knn"] = KNNSettings(**parameters["knn"])
    selector = _SELECTORS[state["selector"]](**parameters)
    importance, facts = state.get("importance"), state["facts"]
    shares = facts.get("shares")
    kind_of_path = CountedPath if "n_counted" in state["path"] else SelectionPath
    fitted = {
        **_FORGOTTEN,
        "task_": str(state["task"]),
        "target_name_": state.get("target_name"),
        "n_samples_fit_": state.get("n_rows"),
        "n_features_in_": len(columns),
        "support_": np.asarray([name in kept for name in columns]),
        "facts_": TargetFacts(**{**facts, "shares": shares and TargetFacts(**shares)}),
        "feature_columns_": tuple(tuple(group) for group in state["feature_columns"]),
        "ranking_": np.asarray(state["ranking"], dtype=np.int64),
        "path_": kind_of_path.from_json(json.dumps(state["path"])),
        "certificate_": _read_certificate(state["certificate"]),
        "importance_": None if importance is None else _read(Importance, importance),
        "notes_": notes_of_fields(state),
        "_record": FitRecord(
            int(state["seed"]),
            row_hashes=np.frombuffer(hashes, dtype="<u8"),
            weighted=bool(state.get("weighted")),
            grouped=bool(state.get("grouped")),
            profile=_read_profile(state.get("profile")),
            row_columns=state.get("row_columns") or {},
        ),
    }
    if state.get("is_named", True):
        fitted["feature_names_in_"] = np.asarray(columns, dtype=object)
    set_fitted(selector, fitted)
    kept_features = [
        j for j, own in enumerate(selector.feature_columns_) if selector.support_[list(own)].all()
    ]
    if set(kept_features) != set(selector.path_.order[: len(kept_features)]):
        raise DataError("kept is not among the sets of the path")  # which certify tests
    selector._validate_params()
    selector._rule()
    return selector


def _parameters(selector: Selector) -> Fields:
    """Return the budget, and the parameters that differ from the defaults."""
    defaults = type(selector)().get_params(deep=False)
    changed: Fields = {"error_budget": selector.error_budget}
    for name, value in selector.get_params(deep=False).items():
        if name in _NOT_SAVED or value is None or value is defaults[name]:
            continue
        if isinstance(value, StoppingRule):
            rule: Any = value  # every rule is a dataclass, which the base class does not say
            changed[name] = {"rule": type(value).__name__, **dataclasses.asdict(rule)}
        else:
            changed[name] = value.get_params() if isinstance(value, KNNSettings) else value
    return changed


def _read_certificate(saved: Mapping[str, Any]) -> Certificate:
    listed = tuple(_read(SubgroupResult, one) for one in saved.get("subgroups", ()))
    larger = saved.get("passed")
    passed = None if larger is None else _read_certificate(larger)
    certificate: Certificate = _read(Certificate, {**saved, "subgroups": [], "passed": None})
    return dataclasses.replace(certificate, subgroups=listed, passed=passed)


def _read(kind: Any, saved: Mapping[str, Any]) -> Any:
    """Read a dataclass: null was a number that JSON cannot hold; what is absent is newer."""

    def value(found: Any) -> Any:
        if isinstance(found, list):
            return tuple(value(one) for one in found)
        return math.nan if found is None else found

    fields = (field for field in dataclasses.fields(kind) if field.name in saved)
    known = {field.name: field.default for field in fields}
    absent = {name for name, default in known.items() if default is None and saved[name] is None}
    found = {name: value(saved[name]) for name in known if name not in absent}
    if "notes" in found:
        found["notes"] = notes_of_fields(saved)
    return kind(**found)


def _profile_of(profile: Profile | None) -> Fields | None:
    """Return a profile with what belongs to a column in one place."""
    if profile is None:
        return None
    return {
        "n_rows": profile.n_rows, "columns": _columns_of(profile), "compared": profile.compared,
        "classes": profile.classes, "unhashed": profile.unhashed,
        "targets": _columns_of(profile.targets) if profile.targets else [],
    }  # fmt: skip


def _columns_of(profile: Profile) -> list[Fields]:
    return [
        {"name": name, "bins": bins, "shares": np.round(profile.shares[name], 5).tolist(),
         "mode": round(profile.modes[name], 5)}
        for name, bins in profile.bins.items()
    ]  # fmt: skip


def _read_profile(saved: Mapping[str, Any] | None) -> Profile | None:
    if saved is None:
        return None
    n_rows, numbers = int(saved["n_rows"]), None
    if saved["targets"]:
        numbers = _profile_from(n_rows, saved["targets"], [one["name"] for one in saved["targets"]])
    classes = tuple(tuple(own) for own in saved["classes"])
    profile = _profile_from(n_rows, saved["columns"], saved["compared"])
    return replace(profile, classes=classes, targets=numbers, unhashed=tuple(saved["unhashed"]))


def _profile_from(n_rows: int, saved: Sequence[Fields], compared: Sequence[str]) -> Profile:
    columns = {own["name"]: own for own in saved}
    for own in columns.values():
        if len(own["shares"]) != len(own["bins"]) + 2:
            raise DataError("profile has another number of shares than of bins")
        if len({isinstance(end, str) for end in own["bins"]}) > 1:
            raise DataError("profile has bins of text and of numbers in one column")
    if strange := [name for name in compared if name not in columns]:
        raise DataError(f"profile compares columns that it does not have ({listing(strange)})")
    bins = {name: tuple(own["bins"]) for name, own in columns.items()}
    shares = {name: tuple(own["shares"]) for name, own in columns.items()}
    modes = {name: float(own["mode"]) for name, own in columns.items()}
    return Profile(n_rows, bins, shares, modes, tuple(compared))
