"""Draw the picture of the README: the error increase by number of columns, and what each is worth.

python examples/readme_figure.py [docs/_static/readme.png]
"""

import sys

import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split

from pinsker import FeatureSelector
from pinsker.report import ImportanceDisplay


def main(target):
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    X_train, _, y_train, _ = train_test_split(X, y, test_size=0.3, stratify=y, random_state=0)
    selector = FeatureSelector(error_budget=0.05, random_state=0).fit(X_train, y_train)

    plt.rcParams.update({"font.size": 11})
    fig, (left, right) = plt.subplots(
        1, 2, figsize=(10, 3.8), layout="constrained", width_ratios=(3, 2)
    )
    selector.plot(ax=left)
    left.set(ylim=(-0.03, 0.16), xlim=(0, 31))
    handles, labels = left.get_legend_handles_labels()
    shown = [pair for pair in zip(handles, labels, strict=True) if "no features" not in pair[1]]
    left.legend(*zip(*shown, strict=True), frameon=False, fontsize=10, ncols=2, loc="upper right")
    left.set_title("What fewer columns cost", loc="left", weight="bold")
    ImportanceDisplay.from_estimator(selector, ax=right)
    right.legend().remove()
    right.locator_params(axis="x", nbins=4)
    right.set_title("What each is worth", loc="left", weight="bold")
    fig.savefig(target, dpi=110)


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "docs/_static/readme.png")
