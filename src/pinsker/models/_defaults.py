"""The default models: RBF SVM, extra trees, boosted trees, and which is used when."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.svm import SVC, SVR

from pinsker._compat import method_of, require
from pinsker._types import AnyArray, Estimator, Fields, FloatArray, IntArray, Task, Unchecked
from pinsker.engine import BoostSettings, boosted_scores, class_probabilities, mean_values
from pinsker.exceptions import ParameterError
from pinsker.models._design import LayoutName, code_by_frequency
from pinsker.models._fit import log_softmax
from pinsker.models._model import (
    FitRows,
    HoldoutModel,
    Linear,
    LinearRanks,
    log_probabilities,
    mean_pair_margins,
    without_advice,
)
from pinsker.models._raw import RawModel, survival_models, task_of_model

#: Of more rows than this the SVM, whose time is quadratic in rows, does not race.
LARGE_TABLE = 2000
#: Boosted trees of full strength: as many rounds as rows set aside ask for. Stopped after 6, on 56
#: real tables they err as those of scikit-learn do with the same settings (.250 and .214, theirs
#: .251 and .223), in a fifth of the time, below 300 rows in a twentieth (benchmarks/boosting.py).
_BOOSTED = BoostSettings(n_rounds=300, n_leaves=15, min_leaf=10, patience=20, n_bins=128, rate=0.1)
#: Few rounds, where a class is too rare to set rows aside; faster ones, at a rate of .25, overshot
#: (a log-loss of .71 instead of .47 on 29 tuning tables).
_FEW: BoostSettings = {**_BOOSTED, "n_rounds": 30}
#: Rounds of the boosted trees that are fitted to all rows, as scikit-learn's and LightGBM's are:
#: where a column names what rows repeat (children, districts), the log-loss asks for too few. The
#: better of both on each of 40 and 38 tuning tables errs .182 and .380, the first .188 and .390.
_ALL_ROUNDS = 100
#: Share of the rows that is set aside.
_SET_ASIDE = 0.15
#: Rows of the rarest class that early stopping needs: some of each class are set aside.
_LEAST_TO_STOP = 3
#: Every target is a fit: above both, of targets and of rows times them, linear models race alone.
_MOST_TARGETS, _MOST_FITTED = 5, 10_000
#: Above this many cells times classes extra trees are half as many, for all sets of a table.
_MANY_CLASSES = 50_000_000
#: The models that race, from the cheapest on.
_RACING = ("linear", "linear ranks", "svm", "extra trees", "boosted trees")
#: Other inverse penalties of the logistic regression that race.
_OTHER_C = (0.03, 30.0)
#: Models of other libraries by name: module, classifier and regressor, settings.
_OTHER_LIBRARIES: dict[str, tuple[str, tuple[str, str], Fields]] = {
    "lightgbm": ("lightgbm", ("LGBMClassifier", "LGBMRegressor"), {"verbose": -1, "n_jobs": 1}),
    "xgboost": ("xgboost", ("XGBClassifier", "XGBRegressor"), {"n_jobs": 1}),
    "catboost": (
        "catboost",
        ("CatBoostClassifier", "CatBoostRegressor"),
        {"verbose": False, "thread_count": 1, "allow_writing_files": False},
    ),
}
#: Names that a user may list.
MODELS = (*_RACING, "forest", *_OTHER_LIBRARIES, "cox", "survival forest")
#: This many columns are tried in every node of a tree; of more a third, but at most twice as many:
#: the customary square root are mostly irrelevant ones (benchmarks/trees.py).
_TRIED = 64
#: From this many columns on, a matrix product is faster than the distances of libsvm (measured).
_MANY_COLUMNS = 8
#: Margins of one-versus-one machines are computed for this many bytes of test rows at a time: 600
#: classes have 179 700 of them in every row.
_BYTES_OF_MARGINS = 2**24
#: Rows of a kernel that are finished at a time.
_KERNEL_ROWS = 128


@dataclass(frozen=True, eq=False)
class RBFSVM(HoldoutModel):
    """A support vector machine with the RBF kernel ``exp(-gamma |x - x'|²)``."""

    most_rows: ClassVar[float] = LARGE_TABLE
    widening: ClassVar[float] = 1.25
    name: str = "svm"

    def _scores_of_present(self, rows: FitRows, labels: IntArray, n_classes: int) -> FloatArray:
        kernel, gamma, train, test = _kernel(rows)
        svm = SVC(kernel=kernel, gamma=gamma, decision_function_shape="ovo")
        with without_advice():
            svm.fit(train, labels, sample_weight=rows.weights)
        if n_classes == 2:
            margins = np.asarray(svm.decision_function(test), dtype=np.float64)
            return np.column_stack([-margins, margins])
        n_parts = 1 + 4 * n_classes * (n_classes - 1) * len(test) // _BYTES_OF_MARGINS
        parts = np.array_split(test, min(n_parts, len(test)))
        means = [mean_pair_margins(svm.decision_function(part), n_classes) for part in parts]
        return np.concatenate(means)

    def _predictions_of_scaled(self, rows: FitRows, values: FloatArray) -> FloatArray:
        kernel, gamma, train, test = _kernel(rows)
        svm = SVR(kernel=kernel, gamma=gamma, C=10.0).fit(train, values, sample_weight=rows.weights)
        return np.asarray(svm.predict(test))


@dataclass(frozen=True, eq=False)
class ExtraTrees(HoldoutModel):
    """Extremely randomized trees with at least two rows in a leaf."""

    most_cells: ClassVar[float] = 4e6  # 2 s a fit for 976 rows of 4862 columns
    layout: ClassVar[LayoutName] = "mixed"
    takes_weights: ClassVar[bool] = False
    name: str = "extra trees"
    n_trees: int = 64
    seed: int = 0

    def _scores_of_present(self, rows: FitRows, labels: IntArray, n_classes: int) -> FloatArray:
        train, test, *_ = rows.ordered_by_class(labels, n_classes)
        probabilities = class_probabilities(train, labels, test, n_classes, **self._settings(train))
        return log_probabilities(probabilities, len(train))

    def _predictions_of_scaled(self, rows: FitRows, values: FloatArray) -> FloatArray:
        train, test, *_ = rows.ordered(values[:, None])
        return mean_values(train, values, test, **self._settings(train))

    def _settings(self, train: FloatArray) -> dict[str, int]:
        n_columns = train.shape[1]
        tried = min(n_columns, max(_TRIED, min(n_columns // 3, 2 * _TRIED)))
        own = {"n_trees": self.n_trees, "min_leaf": 2, "seed": self.seed}
        return {**own, "n_candidates": tried}


@dataclass(frozen=True, eq=False)
class BoostedTrees(HoldoutModel):
    """Boosted trees, with splits of categories and of missing values of their own."""

    layout: ClassVar[LayoutName] = "coded"
    most_classes: ClassVar[float] = 20
    most_columns: ClassVar[float] = 1500  # the histograms of more may take 150 MB
    name: str = "boosted trees"
    seed: int = 0
    n_rounds: int = 0  # on all rows; 0: as many as rows that are set aside ask for

    def as_estimator(self, task: Task) -> Estimator:
        """Return scikit-learn's with the same settings: the kernel's trees do not stay fitted."""
        classes = task == "classification"
        boosted = HistGradientBoostingClassifier if classes else HistGradientBoostingRegressor
        return boosted(
            max_iter=self.n_rounds or _BOOSTED["n_rounds"], max_leaf_nodes=_BOOSTED["n_leaves"],
            min_samples_leaf=_BOOSTED["min_leaf"], n_iter_no_change=_BOOSTED["patience"],
            early_stopping=not self.n_rounds, validation_fraction=_SET_ASIDE,
            random_state=self.seed,
        )  # fmt: skip

    def _scores_of_present(self, rows: FitRows, labels: IntArray, n_classes: int) -> FloatArray:
        scores = self._boosted(rows, labels, n_classes)
        if n_classes == 2:
            scores = np.hstack([np.zeros((len(scores), 1)), scores])
        return log_probabilities(np.exp(log_softmax(scores)), rows.n_train)

    def _predictions_of_scaled(self, rows: FitRows, values: FloatArray) -> FloatArray:
        return self._boosted(rows, values, 0)[:, 0]

    def _boosted(self, rows: FitRows, target: AnyArray, n_classes: int) -> FloatArray:
        n, settings = len(rows.train), _BOOSTED
        train, test = code_by_frequency(rows.train, rows.test, rows.categorical)
        weights = np.ones(n) if rows.weights is None else rows.weights
        # Rows at even distances in the order of the target are set aside, to say when to end.
        order = np.random.default_rng(self.seed).permutation(n)
        order = order[np.argsort(target[order], kind="stable")]
        aside = np.diff(np.floor(_SET_ASIDE * np.arange(n + 1))) > 0
        if self.n_rounds:
            aside[:], settings = False, {**_BOOSTED, "n_rounds": self.n_rounds}
        elif n_classes and np.bincount(target).min() < _LEAST_TO_STOP:
            aside[:], settings = False, _FEW
        order = np.concatenate([order[~aside], order[aside]])
        known = (train[order], target[order], test, rows.categorical, weights[order])
        return boosted_scores(*known, n_classes=n_classes, n_fit=int(np.sum(~aside)), **settings)


@dataclass(frozen=True, eq=False)
class OrderedCategories(HoldoutModel):
    """An estimator of numbers: columns of many categories are ordered by the target before."""

    layout: ClassVar[LayoutName] = "mixed"

    def _scores_of_present(self, rows: FitRows, labels: IntArray, n_classes: int) -> FloatArray:
        ordered = rows.ordered_by_class(labels, n_classes)
        return super()._scores_of_present(ordered, labels, n_classes)

    def _predictions_of_scaled(self, rows: FitRows, values: FloatArray) -> FloatArray:
        return super()._predictions_of_scaled(rows.ordered(values[:, None]), values)


def _kernel(rows: FitRows) -> tuple[str, Any, FloatArray, FloatArray]:
    """Return the input of an SVM: the columns themselves, or the kernel between the rows."""
    train, test, _, weights = rows
    n_columns, spread = train.shape[1], float(train.var())
    if weights is not None and spread > 0.0:  # that of rows repeated so often
        each = np.repeat(weights, n_columns)
        mean = np.average(train.ravel(), weights=each)
        spread = float(np.average((train.ravel() - mean) ** 2, weights=each))
    if spread == 0.0:
        return "rbf", "scale", train, test
    gamma = 1.0 / (n_columns * spread)
    if n_columns < _MANY_COLUMNS:
        return "rbf", "scale" if weights is None else gamma, train, test
    kernels = _rbf_kernel(train, train, gamma), _rbf_kernel(test, train, gamma)
    return "precomputed", "scale", *kernels


def _rbf_kernel(rows: FloatArray, others: FloatArray, gamma: float) -> FloatArray:
    # Not scikit-learn's rbf_kernel: its checks make a fit to 100 rows 1.4 to 1.5 times as long.
    kernel = np.asarray(rows @ others.T)
    kernel *= 2.0
    own, squares = np.sum(rows**2, axis=1), np.sum(others**2, axis=1)
    for start in range(0, len(rows), _KERNEL_ROWS):  # in place: no second array of this size
        part = kernel[start : start + _KERNEL_ROWS]
        np.subtract(own[start : start + _KERNEL_ROWS, None] + squares, part, out=part)
        np.maximum(part, 0.0, out=part)  # rounding can leave less than zero
        part *= -gamma
        np.exp(part, out=part)
    return kernel


def default_models(
    task: Task, n_rows: int, seed: int = 0, *, n_classes: int = 0, n_columns: int = 0,
    n_targets: int = 1, weighted: bool = False,
) -> tuple[HoldoutModel, ...]:  # fmt: skip
    if task == "survival":
        return survival_models(seed)
    models = [_by_name(name, task, seed) for name in _RACING]
    if n_rows * n_columns * n_classes > _MANY_CLASSES:
        trees = _RACING.index("extra trees")
        models[trees] = ExtraTrees(seed=seed, n_trees=ExtraTrees.n_trees // 2)
    if task == "classification":
        models[1:1] = [Linear(f"linear (C={c:g})", C=c) for c in _OTHER_C]
    every = f"boosted trees ({_ALL_ROUNDS} rounds)"
    models.append(BoostedTrees(every, seed=seed, n_rounds=_ALL_ROUNDS))
    return tuple(
        model
        for model in models
        if n_rows <= model.most_rows
        and n_classes <= model.most_classes
        and n_columns <= model.most_columns
        and n_rows * n_columns <= model.most_cells
        and (model.takes_weights or not weighted)
        and (model.is_quick or n_targets <= _MOST_TARGETS or n_rows * n_targets <= _MOST_FITTED)
    )


def named_models(
    models: str | Sequence[Any], task: Task, n_rows: int, seed: int = 0, **limits: Any
) -> tuple[HoldoutModel, ...]:
    """Return the models that a user named; "auto" those that `default_models` limits to a table."""
    if models == "auto":
        return default_models(task, n_rows, seed, **limits)
    listed = [models] if isinstance(models, str) else models
    named = tuple(_named(item, task, seed) for item in listed)
    if not named:
        raise ParameterError("models is empty: name at least one estimator, or use 'auto'.")
    names = [model.name for model in named]
    if repeated := sorted({name for name in names if names.count(name) > 1}):
        raise ParameterError(
            f"models holds {repeated[0]!r} twice: tell them apart by (name, model) pairs."
        )
    return named


def _by_name(name: str, task: Task, seed: int) -> HoldoutModel:
    if task == "survival":
        known = {model.name: model for model in survival_models(seed)}
        if name in known:
            return known[name]
        raise _unknown(name, known)
    classes = task == "classification"
    if name in _OTHER_LIBRARIES:
        module, kinds, settings = _OTHER_LIBRARIES[name]
        library = require(module, purpose=f"models={name!r}")
        estimator = getattr(library, kinds[0] if classes else kinds[1])
        return OrderedCategories(name, estimator(random_state=seed, **settings))
    if name == "forest":
        forest = RandomForestClassifier if classes else RandomForestRegressor
        return OrderedCategories(name, forest(random_state=seed))
    ours = (Linear(), LinearRanks(), RBFSVM(), ExtraTrees(seed=seed), BoostedTrees(seed=seed))
    own: dict[str, HoldoutModel] = {model.name: model for model in ours}
    if name not in own:
        raise _unknown(name, [*own, "forest", *_OTHER_LIBRARIES])
    return own[name]


def _unknown(name: str, known: Iterable[str]) -> ParameterError:
    listed = ", ".join(map(repr, known))
    return ParameterError(f"model {name!r} is unknown: use 'auto', {listed}, or an estimator.")


def _named(item: Unchecked, task: Task, seed: int) -> HoldoutModel:
    if isinstance(item, HoldoutModel):
        return item
    if isinstance(item, str):
        return _by_name(item, task, seed)
    name, model = item if isinstance(item, tuple) else (type(item).__name__, item)
    if isinstance(model, type) or not (method_of(model, "fit") and method_of(model, "predict")):
        raise ParameterError(
            f"model {name!r} ({model!r}) has no fit and predict: pass an estimator.",
            parameter="models",
        )
    if task_of_model(model) not in (task, None):
        needed = {"classification": "classifier", "regression": "regressor"}.get(task, "model")
        raise ParameterError(
            f"model {name!r} ({type(model).__name__}) is no {needed}, but the task is {task}."
        )
    return RawModel(str(name), model)
