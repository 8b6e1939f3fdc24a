"""Do the limits of a difference of scores hold? Sixteen metrics, fixed models, known truth.

Two models with fixed scores (nothing is fitted) predict rows of a known distribution. The truth is
their difference on two million rows. In each run both are scored on n rows and the two one-sided
95 % limits of the difference are computed as certificates do; each should hold the truth in 95 %
of the runs, and in 93 % at least of 400.

    python benchmarks/calibration.py --metrics                    the table of docs/benchmarks.md
    python -m benchmarks.calibration_metrics --seeds tuning --runs 3000 --rows 500

Rules were chosen on the tuning seeds; tables are printed from the reporting seeds.
"""

import argparse
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from sklearn.metrics import make_scorer, mean_pinball_loss, roc_auc_score

from pinsker import CostMatrix
from pinsker.metrics import Metric

_MANY = 2_000_000
_PARTS = 20
REPORTING_SEEDS, TUNING_SEEDS = 1_000_000, 2_000_000


def area(y_true: Any, y_score: Any, sample_weight: Any = None) -> float:
    """AUC as a function of which nothing is known: by the jackknife."""
    return float(roc_auc_score(y_true, y_score, sample_weight=sample_weight))


OF_CLASSES: dict[str, Any] = {
    "error": "error",
    "log-loss": "log-loss",
    "roc_auc": "roc_auc",
    "average_precision": "average_precision",
    "f1": "f1",
    "balanced_accuracy": "balanced_accuracy",
    "matthews_corrcoef": "matthews_corrcoef",
    "CostMatrix 1:20": CostMatrix([[0, 1], [20, 0]]),
}
#: By the jackknife, a hundred times as slow: last.
OWN: dict[str, Any] = {"own function (AUC)": area}
OF_THREE: dict[str, Any] = {
    "roc_auc_ovr, 3 classes": "roc_auc_ovr",
    "f1_macro, 3 classes": "f1_macro",
}
OF_NUMBERS: dict[str, Any] = {
    "r2": "r2",
    "neg_root_mean_squared_error": "neg_root_mean_squared_error",
    "neg_median_absolute_error": "neg_median_absolute_error",
    "explained_variance": "explained_variance",
    "pinball loss, 0.9": make_scorer(mean_pinball_loss, alpha=0.9, greater_is_better=False),
}


def binary(n: int, rng: np.random.Generator) -> tuple[Any, list[Any]]:
    """Return labels, and log-probabilities of a model of two signals and of a model of one."""
    signals = rng.normal(size=(n, 2))
    odds = 2.0 * signals[:, 0] + signals[:, 1] - 3.4
    labels = (rng.random(n) < 1 / (1 + np.exp(-odds))).astype(np.int64)
    scores = [odds, 1.8 * signals[:, 0] - 3.0]
    return labels, [-np.logaddexp(0.0, np.column_stack([s, -s])) for s in scores]


def three(n: int, rng: np.random.Generator) -> tuple[Any, list[Any]]:
    """Return labels of three classes, and log-probabilities of two models."""
    labels = rng.choice(3, size=n, p=[0.1, 0.3, 0.6])
    scores = 1.2 * (labels[:, None] == np.arange(3)) + rng.normal(size=(n, 3))
    worse = scores + 0.7 * rng.normal(size=(n, 3))
    return labels, [s - np.log(np.exp(s).sum(axis=1, keepdims=True)) for s in (scores, worse)]


def numbers(n: int, rng: np.random.Generator) -> tuple[Any, list[Any]]:
    """Return heavy-tailed targets, and predictions of two models."""
    signals = rng.normal(size=(n, 2))
    true = signals[:, 0] + 0.4 * signals[:, 1] + 0.5 * rng.standard_t(6, size=n)
    return true[:, None], [
        (signals[:, 0] + 0.4 * signals[:, 1])[:, None],
        signals[:, :1],
    ]


def losses_of(metric: Metric, true: Any, predicted: Any) -> Any:
    """Return the values of the rows, whatever the target."""
    if true.ndim == 2:
        # The unit of "r2" is the variance of the whole target, known here.
        return metric.of_numbers(predicted, true, np.array([[-1.0], [1.0]]) * np.sqrt(1.535))
    return metric.of_classes(predicted, true)


def coverage(
    metric: Metric, draw: Callable[..., Any], truth: float, n: int, seeds: range
) -> tuple[float, float]:
    """Return how often the upper and the lower limit hold the truth."""
    upper = lower = 0
    for seed in seeds:
        true, models = draw(n, np.random.default_rng(seed))
        full, less = (losses_of(metric, true, one) for one in models)
        found = metric.increase(less, full, 0.95)
        upper += found.upper >= truth
        lower += found.lower <= truth
    return upper / len(seeds), lower / len(seeds)


def true_difference(spec: Any, draw: Callable[..., Any]) -> float:
    """Return the difference of the two models on many rows."""
    # An own function is the AUC: the same number, without the jackknife.
    known = Metric("roc_auc" if spec is area else spec)
    rng = np.random.default_rng(12345)
    truths = []
    for _ in range(_PARTS):
        true, models = draw(_MANY // _PARTS, rng)
        full, less = (losses_of(known, true, one).mean() for one in models)
        truths.append(less - full)
    return float(np.mean(truths))


def rows_of(sizes: list[int], seeds: range) -> Iterator[str]:
    """Yield the lines of the table."""
    heads = " | ".join(f"upper, n={n} | lower, n={n}" for n in sizes)
    yield f"| metric | standard error | true difference | {heads} |"
    yield "|---|---|---|" + "---|---|" * len(sizes)
    designs = [(OF_CLASSES, binary), (OF_THREE, three), (OF_NUMBERS, numbers), (OWN, binary)]
    for metrics, draw in designs:
        for name, spec in metrics.items():
            metric, truth, cells = Metric(spec), true_difference(spec, draw), []
            method = metric.method("regression" if draw is numbers else "classification")
            for n in sizes:
                upper, lower = coverage(metric, draw, truth, n, seeds)
                cells += [f"{upper:.3f}", f"{lower:.3f}"]
            yield f"| {name} | {method} | {truth:+.4f} | {' | '.join(cells)} |"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--runs", type=int, default=400)
    parser.add_argument("--rows", type=int, nargs="+", default=[500, 3000])
    parser.add_argument("--seeds", choices=["reporting", "tuning"], default="reporting")
    given = parser.parse_args()
    first = TUNING_SEEDS if given.seeds == "tuning" else REPORTING_SEEDS
    for line in rows_of(given.rows, range(first, first + given.runs)):
        print(line, flush=True)


if __name__ == "__main__":
    main()
