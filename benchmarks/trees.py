"""Our trees beside scikit-learn's forest of the same settings: milliseconds of one fit.

And why it tries all columns in a node: its error where 5 of 200 columns matter.

python -m benchmarks.trees
"""

import time

import numpy as np
from sklearn.ensemble import ExtraTreesClassifier

from pinsker.engine import class_probabilities
from tests.truths import selection_problems

N_COLUMNS, N_TREES, REPEATS = 15, 64, 7


def main():
    print(f"{'rows':>6}{'ours, ms':>10}{'scikit-learn, ms':>18}{'ratio':>7}")
    for n_rows in (120, 400, 1200):
        rng = np.random.default_rng(0)
        train, test = (rng.normal(size=(n, N_COLUMNS)) for n in (n_rows, n_rows // 4))
        labels = (train[:, 0] * train[:, 1] > 0).astype(np.int64)
        mine = shortest(ours, train, labels, test)
        other = shortest(theirs, train, labels, test)
        print(f"{n_rows:>6}{mine:>10.1f}{other:>18.1f}{other / mine:>7.1f}")
    print_errors()


def print_errors():
    """Errors on fresh rows by the number of columns tried in a node, as many trees each."""
    problem = selection_problems()["FewOfMany"]
    print(f"\n{'seed':>6}{'square root tried':>19}{'all tried':>11}")
    for seed in range(3):
        train, labels = problem.sample(500, seed=2 * seed)
        test, truth = problem.sample(4000, seed=2 * seed + 1)
        errors = [
            np.mean(forest_of(train, labels, test, tried).argmax(axis=1) != truth)
            for tried in (int(np.sqrt(train.shape[1])), train.shape[1])
        ]
        print(f"{seed:>6}{errors[0]:>19.3f}{errors[1]:>11.3f}")


def ours(train, labels, test):
    return forest_of(train, labels, test, N_COLUMNS)


def forest_of(train, labels, test, tried):
    settings = {"n_trees": N_TREES, "min_leaf": 2, "n_candidates": tried, "seed": 0}
    return class_probabilities(train, labels, test, 2, **settings)


def theirs(train, labels, test):
    forest = ExtraTreesClassifier(N_TREES, min_samples_leaf=2, max_features=None, random_state=0)
    return forest.fit(train, labels).predict_proba(test)


def shortest(fit, *table):
    """Processor time of the fastest of several runs, in milliseconds; the first is not counted."""
    fit(*table)
    times = []
    for _ in range(REPEATS):
        started = time.process_time()
        fit(*table)
        times.append(time.process_time() - started)
    return 1e3 * min(times)


if __name__ == "__main__":
    main()
