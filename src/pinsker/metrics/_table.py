"""The table of metrics, one row each, and the theorem that ties each of them to information."""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeAlias

import numpy as np
from scipy.special import xlogy
from sklearn import metrics

from pinsker._types import Fields, FloatArray, Function, Task
from pinsker.bounds import (
    AbsoluteErrorBound,
    Bound,
    BrierBound,
    GaussianBound,
    LogLossBound,
    PaperClassificationBound,
    PaperRegressionBound,
    SharpErrorBound,
    SharpRangeBound,
    TargetFacts,
    not_negative,
    one_of,
    positive,
)
from pinsker.exceptions import ParameterError
from pinsker.metrics import _influence
from pinsker.metrics._influence import (
    JACKKNIFE_BLOCKS,
    Influence,
    MatrixFunction,
    auc_influence,
    balanced_accuracy,
    discordance,
    f_beta,
    integrated_brier,
    matthews,
    plain_score,
    precision_influence,
    ratio_score,
    skill,
)

#: A theorem, what its increases are divided by, and what they then never exceed.
Scaled: TypeAlias = tuple[Bound, float, float]


@dataclass(frozen=True)
class Known:
    """What is known of a target, and which theorem is asked for."""

    facts: TargetFacts
    limit: float  # of the error with the kept features
    constants: str
    model: str


@dataclass(frozen=True)
class Theory:
    """How a metric is tied to information, and under which settings."""

    theorem: Callable[[Known], Scaled]
    in_paper: bool = False
    is_gaussian: bool = False  # whether there is one for jointly Gaussian targets


@dataclass(frozen=True)
class InMetric(Bound):
    """A bound whose increases are divided by `scale` and never exceed `cap`, in a metric."""

    bound: Bound
    name: str
    largest_increase: float
    scale: float
    cap: float

    @property
    def theorem(self) -> str:
        return self.bound.theorem

    @property
    def metric(self) -> str:
        return self.name

    @property
    def most(self) -> float:
        return self.largest_increase

    @property
    def _cap(self) -> float:
        return self.cap

    def _growth(self, nu: FloatArray) -> FloatArray:
        return self.bound.growth(nu) / self.scale

    def _budget(self, delta: FloatArray) -> FloatArray:
        return np.asarray(self.bound.budget(delta * self.scale))


@dataclass(frozen=True)
class UnknownBound(Bound):
    """Stands in for a metric that no theorem ties to information: both directions are NaN."""

    name: str

    theorem = "none"

    @property
    def metric(self) -> str:
        return self.name

    def _growth(self, nu: FloatArray) -> FloatArray:
        return np.full_like(nu, np.nan)

    def _budget(self, delta: FloatArray) -> FloatArray:
        return np.full_like(delta, np.nan)


def error_rate(known: Known) -> Scaled:
    """Theorem C with the priors, or the printed bound alone."""
    if known.constants == "paper":
        return PaperClassificationBound(), 1.0, math.inf
    most = min(known.limit, 1.0 - (known.facts.largest_prior or 0.0))
    return SharpErrorBound(most, n_classes=known.facts.n_classes), 1.0, math.inf


def squared_error(known: Known, scale: float = 1.0) -> Scaled:
    """R2, R8, or the printed bound, in units of `scale`."""
    facts = known.facts
    if known.constants == "paper":
        return PaperRegressionBound(fact(facts.max_abs, "max_abs", "mse")), scale, math.inf
    cap = min(known.limit * scale, math.inf if facts.variance is None else facts.variance)
    if known.model == "gaussian":
        kept = max(min(cap, fact(facts.variance, "variance", "mse")), np.finfo(float).tiny)
        return GaussianBound(float(kept)), scale, cap / scale
    length = fact(facts.target_range, "target_range", "mse")
    return SharpRangeBound(length, cap), scale, cap / scale


def variance_share(known: Known) -> Scaled:
    facts = known.facts.shares or known.facts
    return squared_error(replace(known, facts=facts), fact(facts.variance, "variance", "r2"))


def log_loss(known: Known) -> Scaled:
    """L1; a density's log-loss may be negative: the error of the kept features is then no cap."""
    cap = known.limit if known.facts.task == "classification" else math.inf
    return LogLossBound(), float(known.facts.n_targets), cap


def fact(value: float | None, name: str, metric: str) -> float:
    """Return a fact that a metric cannot do without."""
    if value is None:
        raise ParameterError(f"metric={metric!r} needs facts.{name}, which is not known.")
    return positive(value, f"facts.{name}")


#: How a standard error was found, as certificates name it.
MEAN = "mean over rows"
DELONG = "DeLong's placements"
DELTA = "influence values (delta method)"
ROWS_LEFT_OUT = "jackknife over rows"
BLOCKS_LEFT_OUT = f"jackknife over {JACKKNIFE_BLOCKS} blocks of rows"
GROUPS_LEFT_OUT = f"jackknife over groups of rows, {JACKKNIFE_BLOCKS} blocks of them at most"

#: Beginning of the name of a metric of the worst of several targets.
WORST = "worst "

_CLASSES: tuple[Task, ...] = ("classification",)
_NUMBERS: tuple[Task, ...] = ("regression",)
_TIMES: tuple[Task, ...] = ("survival",)
_OF_CLUSTERS = "compares clusterings: it is no score of a classifier"
_OF_LABEL_SETS = "is for several labels per row"
_OF_ONE_ROW = "is the error of a single row: no sample bounds it"


@dataclass(frozen=True)
class MetricRow:
    """What is known of a metric."""

    name: str  # in certificates; that of the scorer if scikit-learn has one
    tasks: tuple[Task, ...] = ()
    words: str = ""  # beside its values; the name without underscores if empty
    aliases: tuple[str, ...] = ()
    best: float | None = None  # what a score is subtracted from to give its error; None: an error
    error_words: str = ""  # what the error of a score is called; that of its values if empty
    refused: str = ""  # why no budget can be in it
    # Budgets and bounds
    largest_increase: float = math.inf  # where a budget ends
    largest_loss: float | Callable[[TargetFacts], float] = math.inf  # of a row
    counts: bool = False  # whether a loss is 0 or 1
    root_unit: str = ""  # of squared errors: the unit of their roots, which few rows decide less
    theory: Theory | None = None  # None: held-out rows alone decide
    # One of our own: the losses of rows, of each task (influence values of censored times)
    losses: tuple[Callable[[Any], Any], ...] = ()
    needs: str = "probabilities"  # of a classifier: "predictions", "scores" or "probabilities"
    # One of scikit-learn's: how much each row moves its function, where that is known
    function: Callable[..., float] | None = None
    influence: Callable[..., Influence] | None = None
    method: str = BLOCKS_LEFT_OUT  # how its standard error is found
    covers: Callable[[Fields], bool] = lambda _: True  # arguments that the influence knows
    needs_every_class: bool = False
    wrong_values: Callable[[FloatArray, FloatArray], str] | None = None
    matrix: MatrixFunction | None = None  # as a score of confusion matrices

    def __post_init__(self) -> None:
        words = self.words or self.name.removeprefix("neg_").replace("_", " ")
        object.__setattr__(self, "words", words)
        object.__setattr__(self, "error_words", self.error_words or words)

    @property
    def is_bounded(self) -> bool:
        """Whether the losses of rows have a limit for any target."""
        return isinstance(self.largest_loss, float) and math.isfinite(self.largest_loss)

    def largest_loss_of(self, facts: TargetFacts) -> float:
        return (
            self.largest_loss if isinstance(self.largest_loss, float) else self.largest_loss(facts)
        )

    def losses_of(self, task: Task) -> Callable[[Any], Any]:
        return self.losses[self.tasks.index(task)]


def _range(facts: TargetFacts) -> float:
    return math.inf if facts.target_range is None or not facts.variance else facts.target_range


def _range_in_deviations(facts: TargetFacts) -> float:
    known = facts.shares or facts
    return _range(known) ** 2 / (known.variance or 1.0)


def _mean(function: Function, **more: Any) -> MetricRow:
    known = {"name": f"neg_{function.__name__}", "influence": _influence.rowwise(function)}
    return MetricRow(tasks=_NUMBERS, function=function, method=MEAN, **{**known, **more})


_class_score = partial(MetricRow, tasks=_CLASSES, best=1.0)
_number_score = partial(MetricRow, tasks=_NUMBERS, method=DELTA)

#: Our own come first, and of each task the default.
_ROWS = (
    MetricRow(
        "error", _CLASSES, "error rate", ("accuracy",), needs="predictions", counts=True,
        largest_increase=SharpErrorBound.most, largest_loss=1.0,
        theory=Theory(error_rate, in_paper=True),
        losses=(lambda rows: 1.0 * (rows.scores.argmax(axis=1) != rows.labels),),
    ),
    _number_score(
        "r2", words="R²", best=1.0, error_words="share of the target's variance",
        root_unit="standard deviations of the target",
        largest_increase=1.0, largest_loss=_range_in_deviations,
        theory=Theory(variance_share, in_paper=True, is_gaussian=True),
        losses=(lambda rows: rows.shares.mean(axis=1),), function=metrics.r2_score,
        influence=lambda rows: skill(rows.mean(rows.gaps**2), rows.variance(rows.true)),
    ),
    _mean(
        metrics.mean_squared_error, name="mse", words="mean squared error",
        aliases=("neg_mean_squared_error",), largest_loss=lambda facts: _range(facts) ** 2,
        root_unit="the target's unit",
        theory=Theory(squared_error, in_paper=True, is_gaussian=True),
        losses=(lambda rows: rows.squares.mean(axis=1),),
    ),
    MetricRow(
        "log-loss", (*_CLASSES, *_NUMBERS), "log-loss (nats)",
        ("neg_log_loss", "log_loss", "logloss"),
        theory=Theory(log_loss, is_gaussian=True),
        losses=(
            lambda rows: -rows.own(rows.log_probabilities),
            lambda rows: -rows.log_likelihood / rows.values.shape[1],
        ),
        function=metrics.log_loss, influence=_influence.mean_log_loss, method=MEAN,
    ),
    MetricRow(
        "brier", _CLASSES, "Brier score", largest_increase=BrierBound.most, largest_loss=2.0,
        theory=Theory(lambda known: (BrierBound(known.facts.n_classes), 1.0, known.limit)),
        losses=(lambda rows: rows.squares,),
    ),
    _mean(
        metrics.mean_absolute_error, name="mae", words="mean absolute error",
        aliases=("neg_mean_absolute_error",), largest_loss=_range,
        # Of several targets by the root mean square of the ranges, which is at least their mean.
        theory=Theory(lambda known: (
            AbsoluteErrorBound(fact(known.facts.target_range, "target_range", "mae")), 1.0,
            known.limit,
        )),
        losses=(lambda rows: np.sqrt(rows.squares).mean(axis=1),),
    ),
    MetricRow(
        "concordance", _TIMES, best=1.0, error_words="share of pairs in the wrong order",
        losses=(discordance,),
    ),
    MetricRow("integrated_brier", _TIMES, "integrated Brier score", losses=(integrated_brier,)),
    MetricRow("cost", _CLASSES),  # of a `CostMatrix`
    # Scorers of scikit-learn for classes
    _class_score(
        "roc_auc", words="ROC AUC", aliases=("auc",), function=metrics.roc_auc_score,
        influence=_influence.of_ranks(auc_influence), method=DELONG, covers=_influence.is_plain_auc,
        needs_every_class=True,
    ),
    _class_score(
        "gini", words="Gini coefficient", function=_influence.gini, method=DELONG,
        influence=_influence.of_ranks(_influence.gini_influence), needs_every_class=True,
    ),
    _class_score("roc_auc_ovr", words="ROC AUC"),
    _class_score(
        "average_precision", function=metrics.average_precision_score,
        influence=_influence.of_ranks(precision_influence), method=ROWS_LEFT_OUT,
        covers=_influence.are_averaged, needs_every_class=True,
    ),
    MetricRow(
        "neg_brier_score", _CLASSES, function=metrics.brier_score_loss,
        influence=_influence.mean_brier, method=MEAN,
    ),
    _class_score(
        "d2_log_loss_score", function=metrics.d2_log_loss_score,
        influence=_influence.against_frequencies(_influence.mean_log_loss), method=DELTA,
    ),
    _class_score(  # of later versions of scikit-learn
        "d2_brier_score", function=vars(metrics).get("d2_brier_score"),
        influence=_influence.against_frequencies(_influence.mean_brier), method=DELTA,
    ),
    _class_score(
        "balanced_accuracy", function=metrics.balanced_accuracy_score,
        matrix=plain_score(balanced_accuracy),
    ),
    _class_score(
        "matthews_corrcoef", words="Matthews correlation", function=metrics.matthews_corrcoef,
        matrix=plain_score(matthews),
    ),
    _class_score("f1", words="F1", function=metrics.f1_score, matrix=ratio_score(f_beta)),
    _class_score("fbeta_score", function=metrics.fbeta_score, matrix=ratio_score(f_beta, "beta")),
    _class_score(
        "precision", function=metrics.precision_score,
        matrix=ratio_score(lambda hits, _missed, called, _: (hits, hits + called)),
    ),
    _class_score(
        "recall", function=metrics.recall_score,
        matrix=ratio_score(lambda hits, missed, _called, _: (hits, hits + missed)),
    ),
    _class_score(
        "jaccard", function=metrics.jaccard_score,
        matrix=ratio_score(lambda hits, missed, called, _: (hits, hits + missed + called)),
    ),
    MetricRow("positive_likelihood_ratio", _CLASSES, best=0.0),  # has no best value
    # Scorers of scikit-learn for numbers
    _number_score(
        "neg_root_mean_squared_error", aliases=("rmse",),
        function=metrics.root_mean_squared_error,
        influence=_influence.rooted(metrics.mean_squared_error),
    ),
    _number_score(
        "neg_root_mean_squared_log_error", function=metrics.root_mean_squared_log_error,
        influence=_influence.rooted(metrics.mean_squared_log_error),
        wrong_values=_influence.not_of_logarithms,
    ),
    _mean(metrics.mean_squared_log_error, wrong_values=_influence.not_of_logarithms),
    _mean(metrics.mean_absolute_percentage_error),
    _mean(metrics.mean_pinball_loss),
    _mean(
        metrics.mean_poisson_deviance, wrong_values=_influence.not_positive,
        influence=lambda rows: rows.mean(
            2 * (xlogy(rows.true, rows.true / rows.predicted) - rows.true + rows.predicted)
        ),
    ),
    _mean(
        metrics.mean_gamma_deviance, wrong_values=_influence.not_positive,
        influence=lambda rows: rows.mean(
            2 * (np.log(rows.predicted / rows.true) + rows.true / rows.predicted - 1)
        ),
    ),
    _number_score(
        "neg_median_absolute_error", function=metrics.median_absolute_error,
        influence=lambda rows: rows.median(np.abs(rows.gaps)),
    ),
    _number_score(
        "explained_variance", best=1.0, function=metrics.explained_variance_score,
        influence=lambda rows: skill(rows.variance(rows.gaps), rows.variance(rows.true)),
    ),
    _number_score(  # the median is best for them: that it moves changes nothing to first order
        "d2_absolute_error_score", best=1.0, function=metrics.d2_absolute_error_score,
        influence=lambda rows: skill(
            rows.mean(np.abs(rows.gaps)), rows.mean(np.abs(rows.true - rows.median(rows.true)[0]))
        ),
    ),
    # Scorers that no budget can be in
    *(
        MetricRow(f"{name}_score", refused=_OF_CLUSTERS)
        for name in (
            "adjusted_mutual_info", "adjusted_rand", "completeness", "fowlkes_mallows",
            "homogeneity", "mutual_info", "normalized_mutual_info", "rand", "v_measure",
        )
    ),
    *(
        MetricRow(f"{name}_samples", refused=_OF_LABEL_SETS)
        for name in ("f1", "jaccard", "precision", "recall")
    ),
    *(MetricRow(name, refused=_OF_ONE_ROW) for name in ("max_error", "neg_max_error")),
)  # fmt: skip
_BY_NAME = {row.name: row for row in _ROWS}
_BY_FUNCTION = {row.function: row for row in _ROWS if row.function is not None}

#: Other names of metrics.
ALIASES = {alias: row.name for row in _ROWS for alias in row.aliases}
#: Our own metrics of each task, the default first.
METRICS: dict[Task, tuple[str, ...]] = {
    task: tuple(row.name for row in _ROWS if row.losses and task in row.tasks)
    for task in (*_CLASSES, *_NUMBERS, *_TIMES)
}


def metric_row(name: str) -> MetricRow:
    """Return what is known of the metric of a name, as certificates have it."""
    if name.startswith(WORST):
        one = metric_row(name.removeprefix(WORST))
        return MetricRow(name, words=f"{one.words} of the worst target", best=one.best)
    return _BY_NAME.get(name) or unlisted_row(name)


def unlisted_row(name: str) -> MetricRow:
    """Return the row of a score that is not in the table: a scorer's, or a user's function."""
    if name.startswith("neg_"):
        return MetricRow(name)
    known = name in vars(metrics) or name in metrics.get_scorer_names()
    return MetricRow(name, best=float(known))


def function_row(function: Function) -> MetricRow:
    """Return what is known of a function of scikit-learn; nothing for a user's."""
    return _BY_FUNCTION.get(function) or MetricRow("")


def metric_words(metric: str) -> str:
    """Return what a metric is called beside its values: a score by its own name."""
    return metric_row(metric).words


def best_score(metric: str) -> float | None:
    """Return what a score is subtracted from to give its error; None for an error itself."""
    return metric_row(metric).best


def shown_value(metric: str, error: float) -> float:
    """Return an error as its metric is read: R² and not one minus it."""
    best = best_score(metric)
    return error if best is None else best - error


def bound_for(
    metric: str,
    facts: TargetFacts,
    *,
    error_limit: float | None = None,
    constants: str = "sharp",
    model: str = "bounded",
) -> Bound:
    r"""Return the bound on the increase of a metric, for a target of which some facts are known.

    ====================  ===========================================  ======================
    metric                increase of                                  bound
    ====================  ===========================================  ======================
    ``"error"``           error rate                                   Theorem C
    ``"r2"``              mean squared error / variance                R2, or R8 (gaussian)
    ``"mse"``             mean squared error                           R2, or R8 (gaussian)
    ``"log-loss"``        log-loss, in nats                            identity L1
    ``"brier"``           Brier score, summed over classes             L2
    ``"mae"``             mean absolute error                          L3
    ====================  ===========================================  ======================

    Of several targets it is the mean increase over targets. Proofs: ``docs/bounds.md``.

    Parameters
    ----------
    metric : str
        One of the above that fits the task, see ``METRICS``.
    facts : TargetFacts
        Facts about the target; the range of a sample is a lower estimate of the target's range.
    error_limit : float, optional
        Upper limit on the Bayes risk with the *kept* features, in `metric`: no increase exceeds it.
    constants : {"sharp", "paper"}
        "paper": the printed :math:`\sqrt{2\nu}` and :math:`2 B^2 \nu`, and no other fact.
    model : {"bounded", "gaussian"}
        Regression: whether target and features are taken for jointly Gaussian.

    Returns
    -------
    Bound
        Its ``growth(nu)`` is in `metric`, its ``budget(delta)`` takes an increase in `metric`.

    Examples
    --------
    >>> from pinsker.bounds import TargetFacts
    >>> coin = TargetFacts("classification", n_classes=2, largest_prior=0.7)
    >>> bound = bound_for("error", coin)
    >>> round(bound.budget(0.05), 5), round(bound.growth(0.00837), 4)
    (0.00837, 0.05)
    """
    one_of(constants, ("sharp", "paper"), "constants")
    one_of(model, ("bounded", "gaussian"), "model")
    row, known = metric_row(metric), METRICS[facts.task]
    if metric not in known or row.theory is None:
        listed = ", ".join(repr(name) for name in known)
        raise ParameterError(f"metric={metric!r} does not fit a {facts.task} target; use {listed}.")
    if constants == "paper" and not row.theory.in_paper:
        raise ParameterError(
            f"the paper has no bound for metric={metric!r}; use constants='sharp'."
        )
    if model == "gaussian" and (constants == "paper" or not row.theory.is_gaussian):
        raise ParameterError(
            f"model='gaussian' does not go with metric={metric!r} and constants={constants!r}: "
            "it is for squared error and log-loss of a regression target, with sharp constants."
        )
    limit = not_negative(error_limit, "error_limit")
    bound, scale, cap = row.theory.theorem(Known(facts, limit, constants, model))
    return InMetric(bound, metric, row.largest_increase, scale, cap)
