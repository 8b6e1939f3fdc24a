"""How much evidence leaving features out should need: none, a standard error, or 95 %.

    python -m benchmarks.evidence glass         increase of the error on forty splits of glass
    python -m benchmarks.evidence generators    features kept at 150 rows, seeds 0 to 4

The more is required, the safer the choice, and the more features stay.
"""

import sys
import warnings

import numpy as np

from benchmarks import honesty_problems
from benchmarks.honesty_methods import BUDGETS, METHODS
from pinsker.holdout import _compare

CONFIDENCES = {"none": 0.5, "a standard error": _compare.ONE_ERROR, "95 %": 0.95}
TABLES = {
    "glass": ("real", "glass", [], range(40)),
    "generators": ("generators", None, [150], range(5)),
}


def main():
    wanted = sys.argv[1:] or list(TABLES)
    warnings.simplefilter("ignore")
    for table in wanted:
        print(f"\n{table}: increase of the error / share of features at {BUDGETS}")
        for name, confidence in CONFIDENCES.items():
            _compare.ONE_ERROR = confidence
            growth, share = measure(*TABLES[table])
            cells = "".join(f"  {g:+.3f} /{s:5.1%}" for g, s in zip(growth, share, strict=True))
            print(f"{name:<18}{cells}", flush=True)


def measure(*problems):
    """Return the mean growth and the mean share of features, one per budget."""
    growth, share = [], []
    for _, draw in honesty_problems.draws(*problems):
        table = draw()
        masks, _ = METHODS["FeatureSelector"](table)
        growth.append([table.error(mask) - table.error_all for mask in masks])
        share.append([mask.mean() for mask in masks])
    return np.mean(growth, axis=0), np.mean(share, axis=0)


if __name__ == "__main__":
    main()
