"""Draw the picture of the README: the path, the bound, and what a model really loses.

python examples/readme_figure.py [docs/_static/readme.png]
"""

import sys

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from pinsker import BackwardElimination

BUDGET = 0.05
BLUE, RED, GREY = "#2563eb", "#b91c1c", "#64748b"


def measured_growth(path, X_train, X_test, y_train, y_test):
    """Return by how much the error of a model grows on rows left out, for each size."""
    model = make_pipeline(StandardScaler(), SVC())

    def right(columns):
        return model.fit(X_train[:, columns], y_train).predict(X_test[:, columns]) == y_test

    with_all = right(list(range(X_train.shape[1]))).astype(float)
    sizes = np.arange(1, X_train.shape[1] + 1)
    lost = np.array([with_all - right(list(path.set_at(size))) for size in sizes])
    return sizes, lost.mean(axis=1), 1.645 * lost.std(axis=1, ddof=1) / np.sqrt(lost.shape[1])


def main(target):
    X, y = load_breast_cancer(return_X_y=True)
    split = train_test_split(X, y, test_size=0.3, stratify=y, random_state=0)
    selector = BackwardElimination(error_budget=BUDGET).fit(split[0], split[2])
    path, size = selector.path_, int(selector.support_.sum())

    plt.rcParams.update({"font.size": 11, "axes.spines.top": False, "axes.spines.right": False})
    fig, (left, right) = plt.subplots(1, 2, figsize=(10, 3.7), layout="constrained")
    left.plot(path.sizes, path.information, ".-", color=BLUE)
    left.set(xlabel="columns kept", ylabel="nats", ylim=(0, 0.65), xlim=(-0.5, 30.5))
    left.set_title("Information about the target", loc="left", weight="bold")
    left.axvline(size, color=GREY, linestyle=":")
    left.annotate(f"{size} columns stay", (size, 0.05), (size + 0.7, 0.05), color=GREY)

    # A set loses no more than the smaller sets that it contains: the least bound of those counts.
    bounds = np.minimum.accumulate(np.array(path.bounds)[::-1])
    right.plot(path.sizes[::-1], bounds, color=BLUE, label="bound from the information lost")
    sizes, growth, half = measured_growth(path, *split)
    right.errorbar(
        sizes,
        growth,
        half,
        fmt=".",
        color="black",
        elinewidth=0.8,
        label="SVM on 171 rows left out",
    )
    right.axhline(BUDGET, color=RED, linestyle="--", label=f"budget {BUDGET}")
    right.axvline(size, color=GREY, linestyle=":")
    right.set(xlabel="columns kept", ylim=(-0.03, 0.25), xlim=(-0.5, 30.5), ylabel="added error")
    right.set_title("Growth of the error rate", loc="left", weight="bold")
    right.legend(loc="upper right", frameon=False)
    fig.savefig(target, dpi=110)


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "docs/_static/readme.png")
