"""Which models are asked when nobody names any."""

from collections.abc import Sequence
from typing import Any, Literal

from sklearn.base import is_classifier, is_regressor
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.linear_model import LogisticRegression, Ridge

from pinsker._types import Task
from pinsker.exceptions import ParameterError
from pinsker.information.models._fast import RBFSVM, ExtraTrees
from pinsker.information.models._model import HoldoutModel

#: From so many rows on, a kernel machine (quadratic in rows) makes way for boosted trees.
LARGE_TABLE = 5000
#: A model need not be polished: the temperature makes up for the last digits.
_ROUGHLY = 1e-2


def default_models(task: Task, n_rows: int, seed: int = 0) -> tuple[HoldoutModel, ...]:
    """Return the models for a task and a number of rows.

    A machine with radial kernel, extremely randomised trees and a regularised linear model: smooth,
    rough and simple. For many rows boosted trees and the linear model.

    Examples
    --------
    >>> [model.name for model in default_models("classification", 300)]
    ['svm', 'extra trees', 'linear']
    >>> [model.name for model in default_models("regression", 10**6)]
    ['boosted trees', 'linear']
    """
    classes = task == "classification"
    linear = HoldoutModel("linear", LogisticRegression(tol=_ROUGHLY) if classes else Ridge())
    if n_rows >= LARGE_TABLE:
        boosted = HistGradientBoostingClassifier if classes else HistGradientBoostingRegressor
        model = boosted(max_iter=100, early_stopping=False, random_state=seed)
        return HoldoutModel("boosted trees", model), linear
    return RBFSVM(), ExtraTrees(seed=seed), linear


def named_models(
    models: Literal["auto"] | Sequence[Any], task: Task, n_rows: int, seed: int = 0
) -> tuple[HoldoutModel, ...]:
    """Return the models a user asked for.

    Parameters
    ----------
    models : "auto" or sequence
        Names of default models, estimators, or (name, estimator) pairs.
    task, n_rows, seed
        As in `default_models`.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> named_models([LogisticRegression()], "classification", 100)[0].name
    'LogisticRegression'
    """
    if isinstance(models, str):
        if models != "auto":
            raise ParameterError(f"models={models!r}: use 'auto' or a list of estimators.")
        return default_models(task, n_rows, seed)
    named = tuple(_named(item, task, seed) for item in models)
    if not named:
        raise ParameterError("models is empty: name at least one estimator, or use 'auto'.")
    names = [model.name for model in named]
    if repeated := sorted({name for name in names if names.count(name) > 1}):
        raise ParameterError(
            f"models holds {repeated[0]!r} twice: tell them apart by (name, model) pairs."
        )
    return named


def _named(item: Any, task: Task, seed: int) -> HoldoutModel:
    if isinstance(item, HoldoutModel):
        return item
    if isinstance(item, str):
        ours = [*default_models(task, 0, seed), *default_models(task, LARGE_TABLE, seed)]
        known = {model.name: model for model in ours}
        if item not in known:
            listed = ", ".join(repr(name) for name in known)
            raise ParameterError(f"model {item!r} is unknown: use {listed}, or an estimator.")
        return known[item]
    name, model = item if isinstance(item, tuple) else (type(item).__name__, item)
    fits = is_classifier(model) if task == "classification" else is_regressor(model)
    if not fits:
        needed = "classifier" if task == "classification" else "regressor"
        raise ParameterError(
            f"model {name!r} ({type(model).__name__}) is no {needed}, but the task is {task}."
        )
    return HoldoutModel(str(name), model)
