"""How often is "met" wrong where the true error increase equals the budget?

    python benchmarks/calibration.py --jobs 2
    python benchmarks/calibration.py --seeds tuning --runs 50     while a rule is being chosen
    python benchmarks/calibration.py --seeds 3000000 --runs 1200 --kinds certify \\
        --designs interaction --sizes 300                         a closer look at one cell

Every cell of the table has 100 runs, and 100 more until the Monte-Carlo error is two points.
Every run is stored under benchmarks/results/calibration, keyed to the code of the package and of
this benchmark: a benchmark can be stopped and gone on with. Rules and constants were chosen on the
tuning seeds only; tables are printed from the reporting seeds, which nothing was chosen on.

"fit" is a search with an evaluation: below 5000 rows a cross-validated estimate, from there on a
certificate on rows of its own. "certify" tests the order that is right, cut where the edge is lost,
on fresh rows. "band" is "met" for any of ten budgets, tried one after the other, that is wrong.
"audit" cross-validates a linear model on fresh rows: wrong where its bound is below the increase
that it has on average, and the model predicts clearly better than none (an "estimate" if not).
"importance" measures the kept columns on fresh rows: wrong where not all of its intervals hold the
averages. Designs at the edge that all default models judge are those of edge.py:
name them, as --designs "skewed,26 classes,serial".
"power": certify with a budget of twice the true increase, at the number of rows that the rule of
thumb asks for 80 %.
"""

import argparse
import os
import time
import warnings
from pathlib import Path

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(variable, "1")

import numpy as np  # noqa: E402

try:
    from benchmarks.calibration_designs import DESIGNS, RARE, design_of
    from benchmarks.calibration_metrics import rows_of
    from benchmarks.edge import DESIGNS as AT_EDGE
    from benchmarks.stored_runs import code_key, collect
except ImportError:  # run as a script
    from calibration_designs import DESIGNS, RARE, design_of
    from calibration_metrics import rows_of
    from edge import DESIGNS as AT_EDGE
    from stored_runs import code_key, collect

from sklearn.linear_model import LinearRegression, LogisticRegression  # noqa: E402

from pinsker import FeatureCount, FeatureSelector, audit  # noqa: E402
from pinsker.exceptions import DataError  # noqa: E402

SEEDS = {"reporting": 1_000_000, "tuning": 2_000_000}
REPORTING_SEEDS, TUNING_SEEDS = SEEDS.values()
SIZES = (300, 1000, 6000)
SMALL = 60  # rows of the figure that certificates of fewer than 100 rows print
SPLIT_FROM = 5000
KINDS = ("fit", "certify", "power")
BY_AVERAGE = ("audit", "importance")
RUNS, MOST_RUNS = 100, 300  # of a cell: as many as bring the Monte-Carlo error to two points
LARGEST_ERROR = 0.02
CHUNK, CHUNKS = 250, 20  # rows that tell how many are needed, and how often they are drawn
_EQUAL = 1e-9


def one_run(task):
    """Return what one run says and what is true."""
    kind, name, n_rows, seed = task
    design = design_of(name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if kind == "fit":
            return fit(design, n_rows, seed)
        if kind in BY_AVERAGE:
            return (audited if kind == "audit" else important)(design, n_rows, seed)
        factor = 2.0 if kind == "power" else 1.0
        budget = 0.05 if design is RARE else factor * design.edge
        try:
            return certify(design, budget, n_rows, seed)
        except DataError:  # 60 rows with no row of the rare class: nothing was certified
            no = dict.fromkeys(("wrong", "useful", "all_certified"), False)
            return {"verdict": "refused", "n_kept": 0, "true": 0.0, "covered": True, **no}


def fit(design, n_rows, seed):
    """Search and evaluate at the edge; then look at ten other budgets."""
    X, y, groups = design.draw(n_rows, seed)
    selector = FeatureSelector(
        design.edge, metric=design.metric, models=design.models, cv=design.cv, n_jobs=1,
        random_state=seed,
    )  # fmt: skip
    selector.fit(X, y, groups=groups)
    found = outcome(design, selector.certificate_, selector)
    band = [outcome(design, selector.certificate_at(error_budget=b), selector)
            for b in design.budgets]  # fmt: skip
    return {**found, "band_wrong": any(one["wrong"] for one in band)}


def certify(design, budget, n_rows, seed):
    """Certify the right order, cut where the edge is lost, on fresh rows."""
    selector = known_order(design)
    selector.set_params(error_budget=budget, random_state=seed)
    X, y, groups = design.draw(n_rows, seed)
    return outcome(design, selector.certify(X, y, groups=groups), selector)


def audited(design, n_rows, seed):
    """Cross-validate a linear model on fresh rows, without training rows."""
    X, y, groups = design.draw(n_rows, seed)
    selector = known_order(design)
    classes = selector.task_ == "classification"
    model = LogisticRegression() if classes else LinearRegression()
    found = audit(selector, model, X, y, metric=design.metric, cv=design.cv, groups=groups)
    # Models that predict no better than none have a verdict of their own, weak ones a label.
    claims = found.gain_lower > 0.0 and found.label != "estimate"
    upper = found.increase_upper if claims else np.inf
    return {"value": [found.increase], "upper": [upper], "lower": [-np.inf]}


def important(design, n_rows, seed):
    """Measure what the kept columns are worth on fresh rows."""
    selector = known_order(design)
    selector.set_params(error_budget=design.edge, cv=design.cv, random_state=seed)
    X, y, groups = design.draw(n_rows, seed)
    found = selector.importance(X, y, groups=groups)
    kept = np.array(found.kept)
    return {
        name: np.array(getattr(found, name))[kept].tolist() for name in ("value", "lower", "upper")
    }


_FITTED = {}


def known_order(design):
    """Return a selector that keeps all that matters but the edge; fitted once a process."""
    if design.name not in _FITTED:
        X, y, groups = design.draw(100, REPORTING_SEEDS - 1)
        selector = FeatureSelector(
            FeatureCount(len(design.costs) - 1), metric=design.metric, models=design.models,
            searches=[("right", design.order)], cv=0, n_jobs=1, random_state=0,
        )  # fmt: skip
        _FITTED[design.name] = selector.fit(X, y, groups=groups)
    return _FITTED[design.name]


def outcome(design, certificate, selector):
    """Compare a certificate with the truth about its set."""
    names = list(selector.path_.names)
    kept = [names.index(name) for name in certificate.features]
    true = design.increase(kept)
    met = certificate.verdict == "met"
    return {
        "verdict": certificate.verdict,
        "n_kept": certificate.n_kept,
        "true": true,
        "wrong": met
        and certificate.label != "estimate"
        and true >= certificate.budget * (1 - _EQUAL),
        "labelled": met and certificate.label == "estimate",
        "useful": met and certificate.n_kept < design.n_features,
        "all_certified": met and certificate.n_kept <= len(design.costs) - 1,
        "covered": bool(true <= certificate.rare_rows),
    }


def rows_for_power(design):
    """Return the rows that the rule of thumb asks for: (1.64 + 0.84)² v / d².

    v is known after a first chunk: of two increases that must be within the budget, against all
    features and against shuffled ones, the larger variance counts. d is the distance from the true
    increase to the budget.
    """
    selector = known_order(design)
    selector.set_params(error_budget=0.99, random_state=0)  # all sets pass
    variances = []
    for seed in range(TUNING_SEEDS - CHUNKS, TUNING_SEEDS):
        X, y, groups = design.draw(CHUNK, seed)
        found = selector.certify(X, y, groups=groups)
        reach = max(found.increase_upper - found.increase, found.excess_upper - found.excess)
        variances.append(CHUNK * (reach / 1.645) ** 2)
    return max(int((1.64 + 0.84) ** 2 * np.mean(variances) / design.edge**2), 100)


def wanted_cells(options):
    """Return (kind, design, rows) and the first seed of each, the cheap ones first."""
    base = SEEDS[options.seeds] if options.seeds in SEEDS else int(options.seeds)
    names = options.designs.split(",") if options.designs else list(DESIGNS)
    first = {name: base + 10_000 * number for number, name in enumerate([*DESIGNS, *AT_EDGE])}
    cells = {}
    if "certify" in options.kinds and not options.designs:
        cells |= {("certify", name, SMALL): first[name] + 500_000 for name in names}
        cells["certify", RARE.name, 150] = base + 900_000
    if "power" in options.kinds:
        cells |= {("power", name, rows_for_power(design_of(name))): first[name] for name in names}
    for kind in ("certify", "fit", *BY_AVERAGE):
        if kind in options.kinds:
            cells |= {(kind, name, n): first[name] for n in options.sizes for name in names}
    return cells


def run_all(options):
    """Run what is not stored yet, and more where chance leaves much open; return all results."""
    files = [Path(__file__).with_name(name) for name in ("calibration_designs.py", "edge.py")]
    key = options.key or code_key(__file__, *files)
    cells, ends = wanted_cells(options), time.monotonic() + options.seconds
    n_runs = dict.fromkeys(cells, options.runs)
    while True:
        tasks = [(*cell, cells[cell] + run) for cell in cells for run in range(n_runs[cell])]
        known = collect(
            tasks, one_run, "calibration", key, options.jobs, ends - time.monotonic()
        )  # fmt: skip
        found = {cell: [known[task] for task in tasks if task[:3] == cell and task in known]
                 for cell in cells}  # fmt: skip
        more = [cell for cell in cells
                if len(found[cell]) == n_runs[cell] < MOST_RUNS
                and unsettled(found[cell], options.runs)]  # fmt: skip
        if not more or time.monotonic() > ends:
            return found
        n_runs |= {cell: n_runs[cell] + options.runs for cell in more}


def unsettled(runs, fewest):
    """Tell whether the Monte-Carlo error of a share is above two points."""
    if fewest < RUNS:  # a quick look
        return False
    worst = max(sum(run.get(key, 0) for run in runs) for key in ("wrong", "band_wrong"))
    share = (worst + 1) / (len(runs) + 2)
    return np.sqrt(share * (1 - share) / len(runs)) > LARGEST_ERROR


def shares(runs, key):
    """Return a share and its Monte-Carlo standard error, as text."""
    values = np.array([run[key] for run in runs], dtype=float)
    if not len(values):
        return f"{'–':>13}"
    error = np.sqrt(max(values.mean() * (1 - values.mean()), 0.25 / len(values) ** 2) / len(values))
    return f"{100 * values.mean():>6.1f} ± {100 * error:<4.1f}"


def table(found, options):
    """Yield the lines of the tables."""
    names = options.designs.split(",") if options.designs else list(DESIGNS)
    yield "wrong 'met' where the true increase equals the budget, in % (± Monte-Carlo error)"
    yield f"{'design':<18}{'rows':>6}{'fit':>14}{'band':>14}{'certify':>14}  runs"
    worst = {}
    for n_rows in options.sizes:
        for name in names:
            fits, certified = (found.get((kind, name, n_rows), []) for kind in KINDS[:2])
            cells = [shares(fits, "wrong"), shares(fits, "band_wrong"), shares(certified, "wrong")]
            text = "".join(f"{cell:>14}" for cell in cells)
            yield f"{name:<18}{n_rows:>6}{text}  {len(fits)}/{len(certified)}"
            evaluated = "split" if n_rows >= SPLIT_FROM else "cross-validated"
            for kind, runs in ((f"fit ({evaluated})", fits), ("certify", certified)):
                worst.setdefault(kind, []).append([run["wrong"] for run in runs])
    for kind, name, n_rows in found:
        if kind in BY_AVERAGE:
            yield f"{kind:<12}{name:<24}{n_rows:>6}  {by_average(found[kind, name, n_rows])}"
    for kind, lists in worst.items():
        largest = max((np.mean(one) for one in lists if one), default=None)
        if largest is None:
            continue
        every = [wrong for one in lists for wrong in one]
        yield f"{kind}: at most {100 * largest:.1f} %; {sum(every)} of {len(every)} in all"
    for kind, name, n_rows in found:
        runs = found[kind, name, n_rows]
        if kind == "power":
            share = shares(runs, "all_certified").strip()
            yield f"power, budget twice the increase: {name:<18}{n_rows:>6} rows  {share} %"
        if n_rows == SMALL:
            yield f"certify on {SMALL} rows, wrong: {name:<18}{shares(runs, 'wrong').strip()} %"
    if ("certify", RARE.name, 150) in found:
        yield from rare_lines(found["certify", RARE.name, 150])


def by_average(runs):
    """Return the share of runs with an interval that does not hold the average of all runs."""
    value, lower, upper = (
        np.array([run[name] for run in runs], dtype=float) for name in ("value", "lower", "upper")
    )
    truth = value.mean(axis=0)
    wrong = ((lower > truth) | (upper < truth)).any(axis=1)
    text = shares([{"wrong": one} for one in wrong], "wrong").strip()
    return f"wrong {text} %; above zero {100 * np.mean(lower > 0, axis=0).round(3)} %"


def rare_lines(runs):
    """Yield what became of the rare effect."""
    wrong = [run for run in runs if run["wrong"]]
    covered = sum(run["covered"] for run in wrong)
    yield (
        f"rare effect, 150 rows: wrong {shares(runs, 'wrong').strip()} %; of {len(wrong)} wrong "
        f"ones {covered} carry a rare-rows line that covers the truth"
    )


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--runs", type=int, default=RUNS, help="of each design and size")
    parser.add_argument("--jobs", type=int, default=1, help="processes, of one thread each")
    parser.add_argument("--sizes", default="300,1000,6000", help="numbers of rows")
    parser.add_argument(
        "--designs", help="comma-separated names; not the few rows, not the rare effect"
    )
    parser.add_argument("--kinds", default=",".join(KINDS), help="comma-separated")
    parser.add_argument("--seeds", default="reporting", help="or tuning, or the first of others")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="stop after so long")
    parser.add_argument("--key", help="go on with the runs of another state of the code")
    parser.add_argument("--metrics", action="store_true", help="coverage of other metrics instead")
    options = parser.parse_args()
    if options.metrics:
        for line in rows_of([500, 3000], range(REPORTING_SEEDS, REPORTING_SEEDS + 400)):
            print(line, flush=True)
        return
    options.sizes = [int(n) for n in options.sizes.split(",")]
    options.kinds = options.kinds.split(",")
    for line in table(run_all(options), options):
        print(line, flush=True)


if __name__ == "__main__":
    main()
