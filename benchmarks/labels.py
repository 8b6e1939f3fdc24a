"""Labels that are not needed to audit a selection by error rate, on six tables.

    python -m benchmarks.labels

Half of the rows choose columns and train a forest, the other half tests it.
"""

import numpy as np
from sklearn.base import clone
from sklearn.datasets import (
    load_breast_cancer,
    load_digits,
    load_iris,
    load_wine,
    make_classification,
)
from sklearn.ensemble import RandomForestClassifier

from pinsker import FeatureSelector, audit, rows_to_label


def tables():
    for load in (load_breast_cancer, load_wine, load_iris, load_digits):
        yield load.__name__.removeprefix("load_"), *load(return_X_y=True)
    yield "dense, 4000 x 20", *make_classification(4000, 20, n_informative=10, random_state=0)
    few = {"n_informative": 4, "n_redundant": 0, "flip_y": 0.1, "random_state": 1}
    yield "noisy, 4000 x 40", *make_classification(4000, 40, **few)


def main():
    for name, X, y in tables():
        order = np.random.default_rng(0).permutation(len(y))
        half = len(y) // 2
        old, new = order[:half], order[half:]
        selector = FeatureSelector(0.05, models=["linear"], random_state=0).fit(X[old], y[old])
        model = RandomForestClassifier(random_state=0)
        train = {"X_train": X[old], "y_train": y[old]}
        pair = [clone(model).fit(table, y[old]) for table in (X[old], selector.transform(X[old]))]
        plan = rows_to_label(selector, *pair, X[new])
        full, some = audit(selector, model, X[new], y[new], **train), plan.audit(X[new], y[new])
        apart = abs(full.increase_upper - some.increase_upper)
        columns = f"{selector.get_support().sum():2} of {X.shape[1]} columns"
        print(f"{name:18} {len(new):5} rows, {columns}: "
              f"{len(plan.rows):4} labels needed, {plan.n_saved / len(new):4.0%} saved; bound "
              f"{some.increase_upper:.4f}, apart by {apart:.0e}")  # fmt: skip


if __name__ == "__main__":
    main()
