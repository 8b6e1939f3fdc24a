"""Accuracy with the features kept against accuracy with all, on six public data sets.

Seventy per cent of the rows are searched with `BackwardElimination` and its defaults; an RBF SVM on
standardised columns is trained on them and tested on the rest, with all features and with those
kept at each budget. Means over ten stratified splits. One search per split serves all budgets.

    python -m experiments.real_data [--seeds 10] [--selector backward|forward] [--sets wine ORL]

wine, breast cancer and digits ship with scikit-learn; ORL, ALLAML and warpAR10P (ASU feature
selection repository) are read from the folder PINSKER_DATA, else downloaded.
"""

import argparse
import time

import numpy as np
from sklearn import datasets
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from experiments.paper_data import load_allaml, load_orl, load_warp_ar10p
from experiments.paper_files import DownloadError
from pinsker import BackwardElimination, ForwardSelection

BUDGETS = (0.05, 0.1, 0.25)
SHIPPED = ("wine", "breast_cancer", "digits")
LOADED = {"ORL": load_orl, "ALLAML": load_allaml, "warpAR10P": load_warp_ar10p}
SELECTORS = {"backward": BackwardElimination, "forward": ForwardSelection}


def load(name):
    if name in SHIPPED:
        return getattr(datasets, f"load_{name}")(return_X_y=True)
    return LOADED[name]()


def accuracy(rows, labels, new_rows, new_labels, support):
    model = make_pipeline(StandardScaler(), SVC()).fit(rows[:, support], labels)
    return model.score(new_rows[:, support], new_labels)


def one_split(X, y, seed, selector):
    """Return accuracy with all features; per budget number kept and accuracy; seconds of fit."""
    X_train, X_test, y_train, y_test = train_test_split(
        X, y, test_size=0.3, stratify=y, random_state=seed
    )
    everything = np.ones(X.shape[1], dtype=bool)
    row = [accuracy(X_train, y_train, X_test, y_test, everything)]
    started = time.perf_counter()
    fitted = selector(random_state=0).fit(X_train, y_train)
    seconds = time.perf_counter() - started
    for budget in BUDGETS:
        support = fitted.support_at(error_budget=budget)
        row += [support.sum(), accuracy(X_train, y_train, X_test, y_test, support)]
    return [*row, seconds]


def report(name, rows, n_features):
    """Print one line of the table; return the share kept at the first budget, and if all held."""
    mean = np.mean(rows, axis=0)
    cells, held = [], True
    for position, budget in enumerate(BUDGETS):
        kept, reached = mean[1 + 2 * position : 3 + 2 * position]
        within = mean[0] - reached <= budget
        held &= within
        cells.append(
            f"{kept:.1f} | {reached:.3f} | {reached - mean[0]:+.3f}{'' if within else ' !'}"
        )
    print(
        f"| {name} | {n_features} | {mean[0]:.3f} | {' | '.join(cells)} | {mean[-1]:.2f} |",
        flush=True,
    )
    return mean[1] / n_features, held


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--selector", choices=SELECTORS, default="backward")
    parser.add_argument("--sets", nargs="+", default=[*SHIPPED, *LOADED])
    options = parser.parse_args()
    heads = [f"kept at {b} | accuracy | change" for b in BUDGETS]
    print(f"| set | features | all | {' | '.join(heads)} | seconds of fit |")
    print("|---" * (4 + 3 * len(BUDGETS)) + "|")
    shares, all_held = [], True
    for name in options.sets:
        try:
            X, y = load(name)
        except DownloadError as error:
            print(f"| {name} | {error} |")
            continue
        rows = [one_split(X, y, seed, SELECTORS[options.selector]) for seed in range(options.seeds)]
        share, held = report(name, rows, X.shape[1])
        shares.append(share)
        all_held &= held
    print(f"\nshare of features kept at {BUDGETS[0]}, mean over sets: {np.mean(shares):.3f}")
    print(f"mean accuracy within every budget on every set: {'yes' if all_held else 'no'}")


if __name__ == "__main__":
    main()
