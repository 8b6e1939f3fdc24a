"""How metrics are called and shown: scores by their own name, errors as errors."""

from sklearn import metrics

from pinsker.bounds import METRIC_NAMES

#: Metrics that people know as scores, as they write them: shown as one minus the loss.
SCORES = {
    "r2": "R²",
    "roc_auc": "ROC AUC",
    "roc_auc_ovr": "ROC AUC",
    "average_precision": "average precision",
    "balanced_accuracy": "balanced accuracy",
    "f1": "F1",
    "matthews_corrcoef": "Matthews correlation",
    "concordance": "concordance",
}
#: Beginning of the name of a metric of the worst of several targets.
WORST = "worst "


def metric_words(metric: str) -> str:
    """Return what a metric is called beside its values: a score by its own name."""
    if metric.startswith(WORST):
        return f"{metric_words(metric.removeprefix(WORST))} of the worst target"
    plain_name = metric.removeprefix("neg_").replace("_", " ")
    return SCORES.get(metric) or METRIC_NAMES.get(metric, plain_name)


def best_score(metric: str) -> float | None:
    """Return what a score is subtracted from to give its error; None for what is an error itself.

    Scores of scikit-learn count from 1, those of a user's function from 0.

    Examples
    --------
    >>> best_score("roc_auc"), best_score("mse"), best_score("neg_mean_pinball_loss")
    (1.0, None, None)
    """
    metric = metric.removeprefix(WORST)
    if metric in SCORES:
        return 1.0
    if metric in METRIC_NAMES or metric == "cost" or metric.startswith("neg_"):
        return None
    known = hasattr(metrics, metric) or metric in metrics.get_scorer_names()
    return float(known and metric != "positive_likelihood_ratio")


def shown_value(metric: str, error: float) -> float:
    """Return an error as its metric is read: R² and not one minus it."""
    best = best_score(metric)
    return error if best is None else best - error
