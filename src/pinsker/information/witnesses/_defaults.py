"""Which witnesses are asked when nobody names any."""

from collections.abc import Sequence
from typing import Any, Literal

from sklearn.base import is_classifier, is_regressor
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.linear_model import LogisticRegression, Ridge

from pinsker._types import Task
from pinsker.exceptions import ParameterError
from pinsker.information.witnesses._fast import RadialMachine, RandomisedTrees
from pinsker.information.witnesses._witness import Witness

#: From so many rows on, a kernel machine (quadratic in rows) makes way for boosted trees.
LARGE = 5000
#: A witness need not be polished: the temperature makes up for the last digits.
_ROUGHLY = 1e-2


def default_witnesses(task: Task, n_rows: int, seed: int = 0) -> tuple[Witness, ...]:
    """Return the witnesses for a task and a number of rows.

    A machine with radial kernel, extremely randomised trees and a regularised linear model: smooth,
    rough and simple. For many rows boosted trees and the linear model.

    Examples
    --------
    >>> [witness.name for witness in default_witnesses("classification", 300)]
    ['radial machine', 'extra trees', 'linear']
    >>> [witness.name for witness in default_witnesses("regression", 10**6)]
    ['boosted trees', 'linear']
    """
    classes = task == "classification"
    linear = Witness("linear", LogisticRegression(tol=_ROUGHLY) if classes else Ridge())
    if n_rows >= LARGE:
        boosted = HistGradientBoostingClassifier if classes else HistGradientBoostingRegressor
        model = boosted(max_iter=100, early_stopping=False, random_state=seed)
        return Witness("boosted trees", model), linear
    return RadialMachine(), RandomisedTrees(seed=seed), linear


def named_witnesses(
    witnesses: Literal["auto"] | Sequence[Any], task: Task, n_rows: int, seed: int = 0
) -> tuple[Witness, ...]:
    """Return the witnesses a user asked for.

    Parameters
    ----------
    witnesses : "auto" or sequence
        Names of default witnesses, estimators, or (name, estimator) pairs.
    task, n_rows, seed
        As in `default_witnesses`.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> named_witnesses([LogisticRegression()], "classification", 100)[0].name
    'LogisticRegression'
    """
    if isinstance(witnesses, str):
        if witnesses != "auto":
            raise ParameterError(f"witnesses={witnesses!r}: use 'auto' or a list of estimators.")
        return default_witnesses(task, n_rows, seed)
    named = tuple(_named(item, task, seed) for item in witnesses)
    if not named:
        raise ParameterError("witnesses is empty: name at least one estimator, or use 'auto'.")
    names = [witness.name for witness in named]
    if repeated := sorted({name for name in names if names.count(name) > 1}):
        raise ParameterError(
            f"witnesses holds {repeated[0]!r} twice: tell them apart by (name, model) pairs."
        )
    return named


def _named(item: Any, task: Task, seed: int) -> Witness:
    if isinstance(item, Witness):
        return item
    if isinstance(item, str):
        ours = [*default_witnesses(task, 0, seed), *default_witnesses(task, LARGE, seed)]
        known = {witness.name: witness for witness in ours}
        if item not in known:
            listed = ", ".join(repr(name) for name in known)
            raise ParameterError(f"witness {item!r} is unknown: use {listed}, or an estimator.")
        return known[item]
    name, model = item if isinstance(item, tuple) else (type(item).__name__, item)
    fits = is_classifier(model) if task == "classification" else is_regressor(model)
    if not fits:
        needed = "classifier" if task == "classification" else "regressor"
        raise ParameterError(
            f"witness {name!r} ({type(model).__name__}) is no {needed}, but the task is {task}."
        )
    return Witness(str(name), model)
