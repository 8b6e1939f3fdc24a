"""A fitted selector for other systems: a column gather in ONNX, a certificate in MLflow."""

import json
import math

import numpy as np
from sklearn.utils.validation import check_is_fitted

from pinsker import selectors
from pinsker._compat import require
from pinsker._types import Selector, Unchecked
from pinsker.exceptions import DataError
from pinsker.report._html import to_html
from pinsker.report._summary import summarise

_SELECTORS = (
    selectors.FeatureSelector, selectors.BackwardElimination, selectors.ForwardSelection,
    selectors.ForwardBackwardSelection, selectors.LinearSelection, selectors.CriterionSelection,
)  # fmt: skip
#: Figures of a certificate that are logged as metrics, where they are numbers.
_FIGURES = (
    "budget", "n_rows", "n_kept", "n_features", "error_all", "error_kept", "error_none", "increase",
    "increase_lower", "increase_upper", "resolvable", "rows_needed",
)  # fmt: skip


def register_onnx() -> None:
    """Tell skl2onnx how a fitted selector of this package is converted: as a gather of columns.

    Call it once before ``skl2onnx.to_onnx`` of a pipeline with a selector.

    Examples
    --------
    >>> register_onnx()                                        # doctest: +SKIP
    >>> onnx = skl2onnx.to_onnx(pipeline, X[:1])               # doctest: +SKIP
    """
    skl2onnx = require("skl2onnx", purpose="register_onnx")
    for kind in _SELECTORS:
        skl2onnx.update_registered_converter(kind, f"Pinsker{kind.__name__}", _shape, _convert)


def _shape(operator: Unchecked) -> None:
    first = operator.inputs[0]
    n_kept = int(operator.raw_operator.get_support().sum())
    operator.outputs[0].type = type(first.type)([first.get_first_dimension(), n_kept])


def _convert(scope: Unchecked, operator: Unchecked, container: Unchecked) -> None:
    """Add a gather of the kept columns; columns that come one by one are joined first."""
    kept = np.flatnonzero(operator.raw_operator.get_support())
    if not len(kept):
        raise DataError("no column is kept: an ONNX graph without any cannot be made.")
    given = [one.full_name for one in operator.inputs]
    joined = given[0]
    if len(given) > 1:
        joined = scope.get_unique_variable_name("joined")
        container.add_node("Concat", given, joined, op_version=13, axis=1)
    columns, integers = scope.get_unique_variable_name("kept"), 7  # TensorProto.INT64
    container.add_initializer(columns, integers, [len(kept)], kept.tolist())
    output = operator.outputs[0].full_name
    container.add_node("Gather", [joined, columns], output, op_version=13, axis=1)


def log_certificate(selector: Selector, *, folder: str = "pinsker", page: bool = True) -> None:
    """Log the certificate of a fitted selector to the active run of MLflow.

    Parameters
    ----------
    selector : fitted selector
        Whose certificate is logged: as JSON, its figures as metrics "pinsker.increase" and so on,
        verdict and kept columns as tags and text.
    folder : str, default="pinsker"
        Folder of the artifacts.
    page : bool, default=True
        Whether the page of `report` is an artifact too.

    Examples
    --------
    >>> with mlflow.start_run():                               # doctest: +SKIP
    ...     log_certificate(selector)
    """
    check_is_fitted(selector)
    mlflow = require("mlflow", purpose="log_certificate")
    certificate, figures = selector.certificate_, selector.certificate_.to_dict()
    mlflow.log_dict(json.loads(certificate.to_json()), f"{folder}/certificate.json")
    mlflow.log_text("".join(f"{name}\n" for name in certificate.features), f"{folder}/kept.txt")
    known = {name: float(figures[name]) for name in _FIGURES}
    mlflow.log_metrics({f"pinsker.{name}": n for name, n in known.items() if math.isfinite(n)})
    mlflow.set_tags({"pinsker.verdict": certificate.verdict, "pinsker.label": certificate.label})
    if page:
        mlflow.log_text(to_html(summarise(selector)), f"{folder}/report.html")
