"""How many columns do rules keep on the same losses, and how often is what they keep too small?

    python benchmarks/power.py                  the table, 300 runs of each cell
    python benchmarks/power.py --runs 1000 --repeats 10
    python benchmarks/power.py --edge           budgets at the true increase of a size
    python benchmarks/power.py --serial         rows in time: blocks of neighbors at the edge
    python benchmarks/power.py --plan           power at the number of rows that is planned
    python benchmarks/power.py --tables         the same, planned from tables of 500 rows

Columns in their true order, nested sets, a least-squares classifier with ridge 1, 5 stratified
folds. "today": one draw of folds, band over all sizes times 1.2. P1: losses averaged over draws of
folds, limit = larger of 1.2 times t or Hall and of Clopper and Pearson's, the band over all sizes.
P2: the same limits at 95 % each from the largest size down to the first failure. "split":
`shown_sets`, which divides the error probability between both, with several shares
of the sequence. Printed: columns kept, and per cent of runs in which the true increase of what is
kept, of models fitted to four fifths of the rows, is at the budget or above.

``--serial``: y = x0 + 0.8 x1 + 0.4 x2 + u, all AR(r), squared error of least squares in 5 folds in
time, without x2. Wrong: the limit is below the increase that these models have in expectation
("own"), or the Bayes increase 0.16; "called": among the runs that `serial_blocks` finds enough.
``--plan``: power in six designs at `rows_needed`, with the variance and the increase known; limits
of independent pairs and of cross-fitting.
"""

import argparse
import warnings
from functools import cache, partial

import numpy as np
from scipy.signal import lfilter
from scipy.special import expit

from benchmarks.calibration_designs import DESIGNS as CALIBRATION
from benchmarks.shown_sets import shown_sets
from pinsker import FeatureCount, FeatureSelector, plan_rows
from pinsker.bounds import (
    paired_difference,
    rows_needed,
    serial_blocks,
    simultaneous_confidence,
)
from pinsker.models import HoldoutModel

DESIGNS = {
    "sparse": np.array([2, 1.5, 1, 0.8, 0.6, 0, 0, 0, 0, 0]),
    "dense": np.array([1.2, 1, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2]),
}
CELLS = (
    ("sparse", 150, 0.05),
    ("sparse", 300, 0.02),
    ("sparse", 600, 0.02),
    ("sparse", 1000, 0.01),
    ("dense", 300, 0.02),
)
SHARES = (0.3, 0.5, 0.8, 1.0)
REPORTING_SEED, TRUTH_SEED = 1_000_000, 7
WIDENING = HoldoutModel.widening


def draw(design, n_rows, rng):
    X = rng.normal(size=(n_rows, len(DESIGNS[design])))
    return X, rng.random(n_rows) < expit(X @ DESIGNS[design])


def fits(X, y, masks):
    """Return weights of every mask of training rows and every size: (masks, sizes, columns)."""
    d = X.shape[1]
    signs = 2.0 * y - 1.0
    Z = np.column_stack([X, np.ones(len(X))])
    gram = np.einsum("ri,ij,ik->rjk", masks, Z, Z, optimize=True)
    cross = np.einsum("ri,ij,i->rj", masks, Z, signs, optimize=True)
    weights = np.zeros((len(masks), d, d + 1))
    for size in range(1, d + 1):
        used = [*range(size), d]
        system = gram[:, used][:, :, used] + np.diag([1.0] * size + [0.0])
        weights[:, size - 1, used] = np.linalg.solve(system, cross[:, used, None])[..., 0]
    return weights


def fold_numbers(y, repeats, rng, n_folds=5):
    """Return stratified folds of several draws: (repeats, rows)."""
    folds = np.empty((repeats, len(y)), dtype=int)
    for one in folds:
        for label in (False, True):
            rows = rng.permutation(np.flatnonzero(y == label))
            one[rows] = (np.arange(len(rows)) + label * 2) % n_folds
    return folds


def cross_fitted_losses(X, y, folds):
    """Return zero-one losses: (repeats, rows, sizes)."""
    repeats, n = folds.shape
    n_folds = folds.max() + 1
    masks = (folds[:, None, :] != np.arange(n_folds)[:, None]).reshape(-1, n).astype(float)
    weights = fits(X, y, masks).reshape(repeats, n_folds, X.shape[1], -1)
    Z = np.column_stack([X, np.ones(n)])
    losses = np.empty((repeats, n, X.shape[1]))
    for r in range(repeats):
        for k in range(n_folds):
            test = folds[r] == k
            losses[r, test] = ((Z[test] @ weights[r, k].T) > 0) != y[test, None]
    return losses


@cache
def true_increase(design, n_rows, runs=150, n_test=40_000):
    """Return the expected increase of every size, of models fitted to four fifths of the rows."""
    rng = np.random.default_rng(TRUTH_SEED)
    test, _ = draw(design, n_test, rng)
    chance = expit(test @ DESIGNS[design])
    Z = np.column_stack([test, np.ones(n_test)])
    errors = []
    for _ in range(runs):
        X, y = draw(design, round(0.8 * n_rows), rng)
        positive = Z @ fits(X, y, np.ones((1, len(y))))[0].T > 0
        errors.append(np.where(positive, 1 - chance[:, None], chance[:, None]).mean(axis=0))
    errors = np.mean(errors, axis=0)
    return errors - errors[-1]


def smallest(shown):
    """Return the smallest size shown, all columns where none is; sizes are 1, 2, ..."""
    found = np.flatnonzero(shown)
    return int(found[0]) + 1 if len(found) else len(shown)


def rules(losses, budget, widening=WIDENING):
    """Return the size that every rule keeps."""
    d = losses.shape[2]
    once = losses[0] - losses[0, :, -1:]
    mean = losses.mean(axis=0)
    averaged = mean - mean[:, -1:]
    limit = partial(paired_difference, counts=True, widening=widening)
    down = range(d - 2, -1, -1)
    each = simultaneous_confidence(once[:, :-1])
    kept = {}
    narrow = [paired_difference(column, each, counts=True) for column in once.T[:-1]]
    today = [one.mean + widening * (one.upper - one.mean) <= budget for one in narrow]
    kept["today"] = smallest([*today, True])
    names = {"P2": 1.0, "step-down": 0.0} | {f"split {share:g}": share for share in SHARES[:-1]}
    each = simultaneous_confidence(averaged[:, :-1])
    band = [limit(column, each).upper <= budget for column in averaged.T[:-1]]
    kept["P1"] = smallest([*band, True])
    for name, share in names.items():
        known = {"sequence": down if share else (), "of_sequence": share, "limit": limit}
        kept[name] = smallest([*shown_sets(averaged[:, :-1], budget, **known).shown, True])
    return kept


def cell(design, n_rows, budget, runs, repeats, widening=WIDENING):
    truth = true_increase(design, n_rows)
    sizes, wrong = {}, {}
    for run in range(runs):
        rng = np.random.default_rng([REPORTING_SEED, run])
        X, y = draw(design, n_rows, rng)
        losses = cross_fitted_losses(X, y, fold_numbers(y, repeats, rng))
        for name, size in rules(losses, budget, widening).items():
            sizes.setdefault(name, []).append(size)
            wrong.setdefault(name, []).append(truth[size - 1] >= budget)
    return {
        name: (np.mean(sizes[name]), 100 * np.mean(wrong[name]), 100 * np.std(wrong[name]))
        for name in sizes
    }


def edges(n_rows):
    """Return cells whose budget is the true increase of a size: where a rule errs most."""
    for design in DESIGNS:
        truth = true_increase(design, n_rows)
        for size in (3, 4, 6):
            if truth[size - 1] > 0.004:
                yield design, n_rows, float(truth[size - 1])


def serial_table(n_rows, r, rng, n_folds=5):
    """Return squared errors without x2 minus those with it, and their expectation."""
    noise = rng.normal(size=(n_rows + 300, 4)) * np.sqrt(1 - r**2)
    table = lfilter([1.0], [1.0, -r], noise, axis=0)[300:]
    truth = np.array([1.0, 0.8, 0.4, 0.0])
    Z = np.column_stack([table[:, :3], np.ones(n_rows)])
    y = Z @ truth + table[:, 3]
    size = n_rows // (n_folds + 1)
    found, expected = [], []
    for k in range(n_folds):
        start = n_rows - (n_folds - k) * size
        test = slice(start, start + size)
        losses = []
        for used in ([0, 1, 2, 3], [0, 1, 3]):
            weights = np.zeros(4)
            weights[used] = np.linalg.lstsq(Z[:start, used], y[:start], rcond=None)[0]
            losses.append((y[test] - Z[test] @ weights) ** 2)
            expected.append((-1) ** (len(used) == 4) * np.sum((weights - truth) ** 2))
        found.append(losses[1] - losses[0])
    return np.concatenate(found), sum(expected) / n_folds


def serial(runs):
    print(f"{runs} runs: rows, r, effective rows, wrong % (independent rows; blocks: own, 0.16;")
    print("share called enough, wrong % of all runs among those)")
    for n_rows, r in ((300, 0.5), (1000, 0.0), (1000, 0.5), (1000, 0.8), (1000, 0.9), (3000, 0.9)):
        drawn = [serial_table(n_rows, r, np.random.default_rng([11, k])) for k in range(runs)]
        own = np.mean([expected for _, expected in drawn])
        rows = []
        for d, _ in drawn:
            blocks = serial_blocks(d)
            plain = paired_difference(d, widening=WIDENING).upper
            upper = paired_difference(d, clusters=blocks.clusters, widening=WIDENING).upper
            rows.append((blocks.n_effective, plain < own, upper < own, upper < 0.16, blocks.enough,
                         blocks.enough and upper < own))  # fmt: skip
        shown = np.array(rows, dtype=float).mean(axis=0)
        print(
            f"{n_rows:5} {r:.1f} {shown[0]:6.0f}  "
            + "  ".join(f"{100 * x:5.1f}" for x in shown[1:])
        )


def paired_losses(design, n_rows, rng):
    """Return differences of one set with a known mean; the six designs of ``--plan``."""
    e, x = rng.normal(size=(2, n_rows))
    u = rng.random(n_rows)
    if design.startswith("counts"):
        worse, better = (float(part) for part in design.split()[1:])
        return (u < worse).astype(float) - (u > 1 - better)
    if design == "squared errors":
        return 0.4 * e * x + 0.04 * x**2
    if design == "heavy tails":
        return 0.4 * rng.standard_t(5, n_rows) * x + 0.04 * x**2
    return np.log1p(np.exp(-1.0 - e)) - np.log1p(np.exp(-1.0 - e - 0.3 * x))  # log-loss


PLANNED = {
    "counts 0.03 0.025": 0.02,
    "counts 0.02 0.02": 0.02,
    "counts 0.004 0.002": 0.01,
    "squared errors": 0.1,
    "heavy tails": 0.1,
    "log-loss": 0.02,
}


def plan(runs):
    print(f"{runs} runs: design, budget, rows planned, power %")
    for design, budget in PLANNED.items():
        many = paired_losses(design, 2_000_000, np.random.default_rng(5))
        counts = design.startswith("counts")
        rows = int(rows_needed(many.var(), budget, many.mean(), counts=counts))
        shown = [
            paired_difference(
                paired_losses(design, rows, np.random.default_rng([12, k])), counts=counts
            ).upper
            <= budget
            for k in range(runs)
        ]
        print(f"{design:20} {budget:.2f} {rows:6} {100 * np.mean(shown):5.1f}")


TABLES = ("gaussian dense", "gaussian sparse", "heavy-tailed", "mixed kinds", "interaction",
          "radial")  # fmt: skip


def plan_tables(runs, n_first=500, each=5):
    """Plan from tables of 500 rows; certify the set that is planned on fresh rows."""
    print(f"{runs} runs: design, budget, rows planned (quartiles), power %")
    warnings.simplefilter("ignore")
    for name in TABLES:
        design, rows, shown = CALIBRATION[name], [], []
        known = {"metric": design.metric, "models": design.models, "n_jobs": 1, "random_state": 0}
        known["searches"] = [("right", design.order)]
        budget = 3.0 * design.edge
        for k in range(-(-runs // each)):
            X, y, _ = design.draw(n_first, 6_000_000 + k)
            found = plan_rows(
                X, y, error_budget=budget, selector=FeatureSelector(suspects="ignore", **known)
            )
            if not np.isfinite(found.rows[0]):
                continue
            rows.append(int(found.rows[0]))
            kept = FeatureSelector(FeatureCount(found.n_kept[0]), cv=0, **known).fit(X, y)
            kept.set_params(error_budget=budget, cv=5)
            for j in range(each):
                fresh = design.draw(rows[-1], 7_000_000 + each * k + j)[:2]
                shown.append(kept.certify(*fresh).verdict == "met")
        quartiles = " ".join(f"{one:6.0f}" for one in np.quantile(rows, [0.25, 0.5, 0.75]))
        print(f"{name:20} {budget:.3f} {quartiles} {100 * np.mean(shown):6.1f}", flush=True)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--runs", type=int, default=300, help="of each cell")
    parser.add_argument("--repeats", type=int, default=5, help="draws of folds")
    parser.add_argument("--widening", type=float, default=WIDENING, help="of limits")
    parser.add_argument("--edge", action="store_true", help="budgets at the true increase")
    parser.add_argument("--serial", action="store_true", help="rows in time")
    parser.add_argument("--plan", action="store_true", help="rows that are planned")
    parser.add_argument("--tables", action="store_true", help="rows planned from tables")
    asked = parser.parse_args()
    for wanted, table in ((asked.serial, serial), (asked.plan, plan), (asked.tables, plan_tables)):
        if wanted:
            table(asked.runs)
            return
    cells = [*edges(150), *edges(300), *edges(1000)] if asked.edge else CELLS
    print(f"{asked.runs} runs, {asked.repeats} draws of folds: columns kept (wrong, %)")
    for one in cells:
        found = cell(*one, asked.runs, asked.repeats, asked.widening)
        shown = "  ".join(
            f"{name} {size:.2f} ({wrong:.1f} ± {spread / asked.runs**0.5:.1f})"
            for name, (size, wrong, spread) in found.items()
        )
        print(f"{one[0]:7} {one[1]:5} {one[2]:.4f}  {shown}", flush=True)


if __name__ == "__main__":
    main()
