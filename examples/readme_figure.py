"""Draw the picture of the README: what each search offers at each size, on held-out rows.

python examples/readme_figure.py [docs/_static/readme.png]
"""

import sys

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split

from pinsker import FeatureSelector

BUDGET = 0.05
COLOURS = {
    "forward-backward": "#2563eb",
    "backward": "#d97706",
    "forward": "#059669",
    "linear": "#7c3aed",
    "relevance": "#94a3b8",
}


def main(target):
    X, y = load_breast_cancer(return_X_y=True)
    X_train, _, y_train, _ = train_test_split(X, y, test_size=0.3, stratify=y, random_state=0)
    selector = FeatureSelector(error_budget=BUDGET, random_state=0).fit(X_train, y_train)
    size = int(selector.support_.sum())

    plt.rcParams.update({"font.size": 11, "axes.spines.top": False, "axes.spines.right": False})
    fig, (left, right) = plt.subplots(1, 2, figsize=(10, 3.8), layout="constrained")
    results = selector.cv_results_
    for name, colour in COLOURS.items():
        rows = np.flatnonzero(results["search"] == name)
        rows = rows[np.argsort(results["n_features"][rows])]
        sizes = results["n_features"][rows]
        left.plot(sizes, results["information"][rows], ".-", color=colour, label=name)
        right.plot(sizes, results["excess_upper"][rows], ".-", color=colour)
    everything = results["information"][0]
    left.axhline(everything, color="black", linewidth=0.8, linestyle=":")
    left.annotate("all 30 columns", (29, everything + 0.008), ha="right", fontsize=10)
    left.set(xlabel="columns kept", ylabel="nats", ylim=(0.35, 0.65))
    left.set_title("Information, on held-out rows", loc="left", weight="bold")
    left.legend(loc="lower right", frameon=False, fontsize=10)
    right.axhline(BUDGET, color="#b91c1c", linestyle="--")
    right.annotate("budget", (29, BUDGET + 0.002), ha="right", color="#b91c1c")
    chosen = selector.certificate_
    right.plot(size, chosen.excess_upper, "o", color="black", fillstyle="none", markersize=13)
    right.annotate(
        f"kept: {size} columns",
        (size + 0.4, chosen.excess_upper + 0.004),
        (7, 0.09),
        arrowprops={"arrowstyle": "-", "color": "black", "linewidth": 0.8},
    )
    right.set(xlabel="columns kept", ylabel="error rate", ylim=(0, 0.13))
    right.set_title("Error increase: upper bound (95 %)", loc="left", weight="bold")
    fig.savefig(target, dpi=110)


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "docs/_static/readme.png")
