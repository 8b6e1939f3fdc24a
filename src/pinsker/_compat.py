"""The only place that touches other packages' private parts, or packages that may be missing.

When scikit-learn moves one of these names, this file changes and no other.
"""

import json
from importlib import import_module
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple
from urllib.parse import urlsplit
from urllib.request import url2pathname

from sklearn.base import _fit_context as fit_context
from sklearn.metrics._scorer import _BaseScorer
from sklearn.utils._param_validation import (
    HasMethods,
    Interval,
    InvalidParameterError,
    Options,
    RealNotInt,
    StrOptions,
)
from sklearn.utils._set_output import _get_output_config
from sklearn.utils.validation import validate_data

from pinsker._types import Estimator, Fields, Function, ListsByName, MetricChoice, TableLike
from pinsker.exceptions import DataError, DataTypeError, MissingDependencyError, ParameterError

__all__ = [
    "HasMethods", "Interval", "InvalidParameterError", "Options", "RealNotInt", "StrOptions",
    "check_columns", "classes_of", "fit_context", "install_command", "method_of",
    "output_container", "require", "scorer_parts", "table_of", "validate_data",
]  # fmt: skip


def check_columns(estimator: Estimator, X: TableLike) -> None:
    """Check that a table has the columns of `fit`, as scikit-learn does, in our own errors."""
    try:
        validate_data(estimator, X, skip_check_array=True, reset=False)
    except Exception as error:
        if isinstance(error, KeyError):  # a dict has no first row
            raise DataTypeError(
                f"X must be a table, but is of type {type(X).__name__}. Pass an array, nested "
                "lists, or a pandas or polars frame."
            ) from error
        # Of narwhals, which scikit-learn reads names with: its place has changed over time.
        if type(error).__name__ != "DuplicateError":
            raise
        names = [str(name) for name in X.columns]
        repeated = next(name for name in names if names.count(name) > 1)
        raise DataError(
            f"more than one column is called {repeated!r}: rename them, so that results can tell "
            "them apart."
        ) from error


class ScorerParts(NamedTuple):
    """What a scorer of scikit-learn is made of."""

    function: Any  # from true and predicted values to a number
    sign: float  # -1 for a loss
    kwargs: Fields  # further arguments of the function
    response: tuple[str, ...]


def scorer_parts(scorer: MetricChoice) -> ScorerParts | None:
    """Take a scorer of ``make_scorer`` apart; None for anything else."""
    if not isinstance(scorer, _BaseScorer):
        return None
    response = scorer._response_method
    methods = (response,) if isinstance(response, str) else tuple(response)
    return ScorerParts(scorer._score_func, float(scorer._sign), dict(scorer._kwargs), methods)


def method_of(estimator: Estimator, *names: str) -> Function | None:
    """Return the first of some methods that an estimator has; scikit-learn tells by this alone."""
    return next((found for name in names if (found := getattr(estimator, name, None))), None)


def classes_of(model: Estimator, default: Any = None) -> Any:
    """Return the classes that a fitted classifier knows, in its own order."""
    return getattr(model, "classes_", default)


def output_container(estimator: Estimator) -> str:
    """Return what ``estimator.set_output(transform=...)`` asked for."""
    return str(_get_output_config("transform", estimator)["dense"])


def require(module: str, *, purpose: str, extra: str | None = None) -> ModuleType:
    """Import an optional module when it is needed, or say what to install."""
    package = module.partition(".")[0]
    try:
        return import_module(module)
    except ImportError as error:
        # The package may be there, and something that it needs not, or of another version.
        there = not isinstance(error, ModuleNotFoundError)
        if there or (error.name or package).partition(".")[0] != package:
            raise MissingDependencyError(
                f"{purpose} needs {package}, which is installed but cannot be imported ({error}). "
                f"Try: pip install --upgrade {package}"
            ) from error
        command = install_command(extra) if extra else f"pip install {package}"
        raise MissingDependencyError(
            f"{purpose} needs {package}, which is not installed. Try: {command}"
        ) from error


def table_of(columns: ListsByName, library: str) -> TableLike:
    if library not in ("pandas", "polars"):
        raise ParameterError(f"library={library!r} is not known: use 'pandas' or 'polars'.")
    return require(library, purpose=f"to_frame({library!r})").DataFrame(columns)


def install_command(extra: str) -> str:
    """Return the command that installs an extra where this installation came from."""
    try:
        noted = distribution("pinsker").read_text("direct_url.json")
    except PackageNotFoundError:  # only the folder is on the path
        noted = None
    source = json.loads(noted or "{}")
    address = source.get("url", "")
    if address.startswith("file:"):
        path = url2pathname(urlsplit(address).path)
        if Path(path).exists():  # a clone may be gone, and a wheel often is
            option = "--editable " if source.get("dir_info", {}).get("editable") else ""
            return f'pip install {option}"{path}[{extra}]"'
    elif address:
        version_control = source.get("vcs_info", {}).get("vcs")
        address = f"{version_control}+{address}" if version_control else address
        return f'pip install "pinsker[{extra}] @ {address}"'
    return f'pip install "pinsker[{extra}]"'
