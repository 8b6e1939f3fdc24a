"""By how much is the mean of cross-fitted differences wider than its rows alone say?

    python benchmarks/widening.py --runs 200
    python benchmarks/widening.py --models linear,svm --designs classes --sizes 300

Printed for every model: the standard deviation, over tables, of the mean paired difference between
all columns and all but x2 in 5 folds, divided by the root of the mean squared standard error of its
rows. Models of folds share their rows, and a model that follows single rows closely makes losses of
different folds depend on each other. What models declare (`HoldoutModel.widening`) comes from here.
"""

import argparse
import warnings

import numpy as np
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor

from pinsker.encoding import encode
from pinsker.holdout import HoldoutEvaluator, make_folds
from pinsker.metrics import Metric
from pinsker.models import named_models

MODELS = ("linear", "linear ranks", "svm", "extra trees", "boosted trees", "forest", "neighbor")
DESIGNS = ("classes", "numbers", "ring")
TUNING_SEED = 8_000_000


def draw(design, n_rows, rng):
    X = rng.normal(size=(n_rows, 6))
    if design == "numbers":
        return X, X[:, 0] + 0.8 * X[:, 1] + 0.5 * X[:, 2] + rng.normal(size=n_rows)
    score = 1.5 * X[:, 0] + X[:, 1] + 0.7 * X[:, 2]
    if design == "ring":
        score = 2.0 * (X[:, 0] ** 2 + X[:, 1] ** 2 - 1.4) + X[:, 2]
    return X, (score + rng.logistic(size=n_rows) > 0).astype(int)


def model_of(name, task):
    if name == "neighbor":
        name = (KNeighborsClassifier if task == "classification" else KNeighborsRegressor)(1)
    return named_models([name], task, 0)


def factor(name, design, n_rows, runs):
    """Return the factor, and its Monte-Carlo error."""
    means, squares = [], []
    for run in range(runs):
        X, y = draw(design, n_rows, np.random.default_rng([TUNING_SEED, run]))
        encoded = encode(X, y)
        metric = Metric("error" if encoded.target.labels is not None else "r2")
        folds = make_folds(encoded, 5, run)
        model = model_of(name, encoded.target.task)
        evaluator = HoldoutEvaluator(encoded, folds, model, metric, table=X)
        sets = [(0, 1, 2, 3, 4, 5), (0, 1, 3, 4, 5)]
        every, less = evaluator.evaluate([[one] * len(folds) for one in sets])
        gaps = less.losses - every.losses
        means.append(gaps.mean())
        squares.append(gaps.var(ddof=1) / len(gaps))
    found = np.std(means, ddof=1) / np.sqrt(np.mean(squares))
    return found, found / np.sqrt(2 * runs)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--models", default=",".join(MODELS))
    parser.add_argument("--designs", default=",".join(DESIGNS))
    parser.add_argument("--sizes", default="150,300,1000")
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    print(f"{'model':<16}{'design':<10}{'rows':>6}  factor")
    for name in asked.models.split(","):
        for design in asked.designs.split(","):
            for n_rows in map(int, asked.sizes.split(",")):
                found, error = factor(name, design, n_rows, asked.runs)
                print(f"{name:<16}{design:<10}{n_rows:>6}  {found:.2f} ± {error:.2f}", flush=True)


if __name__ == "__main__":
    main()
