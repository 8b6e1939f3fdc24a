"""The table of metrics, one row each: everything that is known of a metric stands there once."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from scipy.special import xlogy
from sklearn import metrics

from pinsker._types import FloatArray, Task
from pinsker.bounds import BrierBound, SharpErrorBound, TargetFacts
from pinsker.metrics import _losses, _theories
from pinsker.metrics._confusion import (
    MatrixFunction,
    balanced_accuracy,
    f_beta,
    matthews,
    plain_score,
    ratio_score,
)
from pinsker.metrics._influence import (
    JACKKNIFE_BLOCKS,
    Influence,
    auc_influence,
    precision_influence,
)
from pinsker.metrics._losses import skill
from pinsker.metrics._survival import discordance, integrated_brier
from pinsker.metrics._theories import Theory

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
    theory: Theory | None = None  # None: held-out rows alone decide
    # One of our own: the losses of rows, of each task (influence values of censored times)
    losses: tuple[Callable[[Any], Any], ...] = ()
    needs: str = "probabilities"  # of a classifier: "predictions", "scores" or "probabilities"
    # One of scikit-learn's: how much each row moves its function, where that is known
    function: Callable[..., float] | None = None
    influence: Callable[..., Influence] | None = None
    method: str = BLOCKS_LEFT_OUT  # how its standard error is found
    covers: Callable[[dict[str, Any]], bool] = lambda _: True  # arguments that the influence knows
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
        """Return the largest loss of a row."""
        return (
            self.largest_loss if isinstance(self.largest_loss, float) else self.largest_loss(facts)
        )

    def losses_of(self, task: Task) -> Callable[[Any], Any]:
        """Return the losses of rows of a task."""
        return self.losses[self.tasks.index(task)]


def _range(facts: TargetFacts) -> float:
    return math.inf if facts.target_range is None or not facts.variance else facts.target_range


def _range_in_deviations(facts: TargetFacts) -> float:
    known = facts.shares or facts
    return _range(known) ** 2 / (known.variance or 1.0)


def _mean(function: Callable[..., Any], **more: Any) -> MetricRow:
    """Return the row of a mean loss of numbers of scikit-learn."""
    known = {"name": f"neg_{function.__name__}", "influence": _losses.rowwise(function)}
    return MetricRow(tasks=_NUMBERS, function=function, method=MEAN, **{**known, **more})


_class_score = partial(MetricRow, tasks=_CLASSES, best=1.0)
_number_score = partial(MetricRow, tasks=_NUMBERS, method=DELTA)

#: Our own come first, and of each task the default.
_ROWS = (
    MetricRow(
        "error", _CLASSES, "error rate", ("accuracy",), needs="predictions", counts=True,
        largest_increase=SharpErrorBound.most, largest_loss=1.0,
        theory=Theory(_theories.error_rate, in_paper=True),
        losses=(lambda rows: 1.0 * (rows.scores.argmax(axis=1) != rows.labels),),
    ),
    _number_score(
        "r2", words="R²", best=1.0, error_words="share of the target's variance",
        largest_increase=1.0, largest_loss=_range_in_deviations,
        theory=Theory(_theories.variance_share, in_paper=True, is_gaussian=True),
        losses=(lambda rows: rows.shares.mean(axis=1),), function=metrics.r2_score,
        influence=lambda rows: skill(rows.mean(rows.gaps**2), rows.variance(rows.true)),
    ),
    _mean(
        metrics.mean_squared_error, name="mse", words="mean squared error",
        aliases=("neg_mean_squared_error",), largest_loss=lambda facts: _range(facts) ** 2,
        theory=Theory(_theories.squared_error, in_paper=True, is_gaussian=True),
        losses=(lambda rows: rows.squares.mean(axis=1),),
    ),
    MetricRow(
        "log-loss", (*_CLASSES, *_NUMBERS), "log-loss (nats)",
        ("neg_log_loss", "log_loss", "logloss"),
        theory=Theory(_theories.log_loss, is_gaussian=True),
        losses=(
            lambda rows: -rows.own(rows.log_probabilities),
            lambda rows: -rows.log_likelihood / rows.values.shape[1],
        ),
        function=metrics.log_loss, influence=_losses.mean_log_loss, method=MEAN,
    ),
    MetricRow(
        "brier", _CLASSES, "Brier score", largest_increase=BrierBound.most, largest_loss=2.0,
        theory=Theory(_theories.brier), losses=(lambda rows: rows.squares,),
    ),
    _mean(
        metrics.mean_absolute_error, name="mae", words="mean absolute error",
        aliases=("neg_mean_absolute_error",), largest_loss=_range,
        theory=Theory(_theories.absolute_error),
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
        influence=_losses.of_ranks(auc_influence), method=DELONG, covers=_losses.is_plain_auc,
        needs_every_class=True,
    ),
    _class_score("roc_auc_ovr", words="ROC AUC"),
    _class_score(
        "average_precision", function=metrics.average_precision_score,
        influence=_losses.of_ranks(precision_influence), method=ROWS_LEFT_OUT,
        covers=_losses.are_averaged, needs_every_class=True,
    ),
    MetricRow(
        "neg_brier_score", _CLASSES, function=metrics.brier_score_loss,
        influence=_losses.mean_brier, method=MEAN,
    ),
    _class_score(
        "d2_log_loss_score", function=metrics.d2_log_loss_score,
        influence=_losses.against_frequencies(_losses.mean_log_loss), method=DELTA,
    ),
    _class_score(  # of later versions of scikit-learn
        "d2_brier_score", function=vars(metrics).get("d2_brier_score"),
        influence=_losses.against_frequencies(_losses.mean_brier), method=DELTA,
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
        influence=_losses.rooted(metrics.mean_squared_error),
    ),
    _number_score(
        "neg_root_mean_squared_log_error", function=metrics.root_mean_squared_log_error,
        influence=_losses.rooted(metrics.mean_squared_log_error),
        wrong_values=_losses.not_of_logarithms,
    ),
    _mean(metrics.mean_squared_log_error, wrong_values=_losses.not_of_logarithms),
    _mean(metrics.mean_absolute_percentage_error),
    _mean(metrics.mean_pinball_loss),
    _mean(
        metrics.mean_poisson_deviance, wrong_values=_losses.not_positive,
        influence=lambda rows: rows.mean(
            2 * (xlogy(rows.true, rows.true / rows.predicted) - rows.true + rows.predicted)
        ),
    ),
    _mean(
        metrics.mean_gamma_deviance, wrong_values=_losses.not_positive,
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
    """Return what is known of the metric of a name, as certificates have it.

    Examples
    --------
    >>> metric_row("roc_auc").best, metric_row("mse").best, metric_row("worst r2").words
    (1.0, None, 'R² of the worst target')
    """
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


def function_row(function: Callable[..., Any]) -> MetricRow:
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


def change_text(metric: str, increase: float) -> str:
    """Return an error increase as a change of what is shown."""
    falls = (increase < 0.0) != (best_score(metric) is not None)
    return f"{metric_words(metric)} {'falls' if falls else 'rises'} by {abs(increase):.4f}"
