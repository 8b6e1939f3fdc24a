"""Rare classes: does a budget in AUC keep the columns that matter, and hold on fresh rows?

Three designs with 2 to 10 % positive rows. A selector with ``metric="roc_auc"`` and budget 0.01
is fitted to `n` rows; then logistic regression and boosted trees are fitted to fresh rows with all
and with the kept columns, and compared on others. The better of the two on all columns is the
reference. Beside it the same with the error rate.

``python -m benchmarks.imbalance --runs 100 --rows 6000``
"""

import argparse

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score

from benchmarks.tables import heading, print_row
from pinsker import FeatureSelector

BUDGET = 0.01


def additive(n, rng):
    """2 % positive; four of twelve columns matter."""
    X = rng.normal(size=(n, 12))
    return X, X[:, :4] @ [1.6, 1.2, 0.9, 0.7] - 6.2, 4


def interaction(n, rng):
    """5 % positive; two of ten columns matter by their product, one by itself."""
    X = rng.normal(size=(n, 10))
    return X, 1.8 * X[:, 0] * X[:, 1] + 1.2 * X[:, 2] - 4.6, 3


def redundant(n, rng):
    """10 % positive; two signals, each in three noisy copies, and six columns of noise."""
    signals = rng.normal(size=(n, 2))
    copies = np.repeat(signals, 3, axis=1) + 0.5 * rng.normal(size=(n, 6))
    X = np.column_stack([signals, copies, rng.normal(size=(n, 6))])
    return X, signals @ [1.8, 1.2] - 3.4, 2


def draw(design, n, seed):
    """Return a table, its classes, and how many columns matter (the first ones)."""
    rng = np.random.default_rng(seed)
    X, odds, n_matter = design(n, rng)
    return X, (rng.random(n) < 1 / (1 + np.exp(-odds))).astype(int), n_matter


def auc_of(columns, train, test):
    """Return the better AUC of two models with some columns."""
    models = LogisticRegression(max_iter=500), HistGradientBoostingClassifier(random_state=0)
    fitted = [model.fit(train[0][:, columns], train[1]) for model in models]
    scores = [model.predict_proba(test[0][:, columns])[:, 1] for model in fitted]
    return max(roc_auc_score(test[1], score) for score in scores)


def one_run(design, metric, n, seed):
    """Return columns kept, whether all that matter are kept, and the AUC lost on fresh rows."""
    X, y, n_matter = draw(design, n, seed)
    selector = FeatureSelector(BUDGET, metric=metric, random_state=seed).fit(X, y)
    train, test = (draw(design, 40_000, 10_000 + 2 * seed + k)[:2] for k in (0, 1))
    kept = np.flatnonzero(selector.support_)
    lost = auc_of(np.arange(X.shape[1]), train, test) - auc_of(kept, train, test)
    return len(kept), bool(selector.support_[:n_matter].all()), lost


def main():
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--rows", type=int, default=6000)
    given = parser.parse_args()
    columns = ("design", "metric", "kept", "all that matter", "AUC lost", "within 0.01")
    heading(f"Rare classes, {given.rows} rows, {given.runs} runs", *columns)
    for design in (additive, interaction, redundant):
        for metric in ("roc_auc", "error"):
            runs = [one_run(design, metric, given.rows, seed) for seed in range(given.runs)]
            kept, matter, lost = (np.array(values) for values in zip(*runs, strict=True))
            within = np.mean(lost <= BUDGET)
            print_row(
                design.__name__, metric, f"{kept.mean():.1f}", f"{matter.mean():.2f}",
                f"{lost.mean():.4f} (largest {lost.max():.4f})", f"{within:.2f}",
            )  # fmt: skip


if __name__ == "__main__":
    main()
