"""How often is "met" wrong where the true error increase equals the budget?

    python benchmarks/calibration.py --runs 200 --jobs 16
    python benchmarks/calibration.py --seeds tuning --runs 50     while a rule is being chosen

Every run is stored under benchmarks/results/calibration, keyed to the code of the package and of
this benchmark: a benchmark can be stopped and gone on with. Rules and constants were chosen on the
tuning seeds only; tables are printed from the reporting seeds, which nothing was chosen on.

"fit" is a search with an evaluation: below 5000 rows a cross-validated estimate, from there on a
certificate on rows of its own. "certify" tests the order that is right, cut where the edge is lost,
on fresh rows. "band" is "met" for any of ten budgets, tried one after the other, that is wrong.
"power": the same with a budget of twice the true increase.
"""

import argparse
import hashlib
import json
import os
import time
import warnings
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(variable, "1")

import numpy as np  # noqa: E402

try:
    from benchmarks.calibration_designs import DESIGNS, RARE
except ImportError:  # run as a script
    from calibration_designs import DESIGNS, RARE

from pinsker import FeatureCount, FeatureSelector  # noqa: E402

ROOT = Path(__file__).resolve().parents[1]
RESULTS = ROOT / "benchmarks" / "results" / "calibration"
REPORTING_SEEDS, TUNING_SEEDS = 1_000_000, 2_000_000
SIZES = (300, 1000, 6000)
SMALL = 60  # rows of the figure that certificates of fewer than 100 rows print
SPLIT_FROM = 5000
KINDS = ("fit", "certify", "power")
_EQUAL = 1e-9


def one_run(task):
    """Return what one run says and what is true."""
    kind, name, n_rows, seed = task
    design = RARE if name == RARE.name else DESIGNS[name]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if kind == "fit":
            return fit(design, n_rows, seed)
        factor = 2.0 if kind == "power" else 1.0
        budget = 0.05 if design is RARE else factor * design.edge
        return certify(design, budget, n_rows, seed)


def fit(design, n_rows, seed):
    """Search and evaluate at the edge; then look at ten other budgets."""
    X, y, groups = design.draw(n_rows, seed)
    selector = FeatureSelector(
        design.edge, metric=design.metric, models=design.models, n_jobs=1, random_state=seed
    )
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
        "wrong": met and true >= certificate.budget * (1 - _EQUAL),
        "useful": met and certificate.n_kept < design.n_features,
        "all_certified": met and certificate.n_kept <= len(design.costs) - 1,
        "covered": bool(true <= certificate.rare_rows),
    }


def rows_for_power(design):
    """Return the rows that the rule of thumb asks for: (1.64 + 0.84)² v / d²."""
    X, y, _ = design.draw(20_000, TUNING_SEEDS - 1)
    test_X, test_y, groups = design.draw(20_000, TUNING_SEEDS - 2)
    selector = known_order(design)
    models = selector.set_params(error_budget=design.edge)
    both = models.certify(
        _stack(X, test_X),
        np.r_[y, test_y],
        groups=None if groups is None else np.arange(40_000) // 5,
    )
    spread = (both.increase_upper - both.increase) / 1.645  # standard error at 40 000 rows
    return int((1.64 + 0.84) ** 2 * spread**2 * 40_000 / design.edge**2)


def _stack(one, other):
    if hasattr(one, "iloc"):
        import pandas as pd

        return pd.concat([one, other], ignore_index=True)
    return np.r_[one, other]


def wanted_tasks(options):
    """Return the tasks, the cheap ones first."""
    base = TUNING_SEEDS if options.seeds == "tuning" else REPORTING_SEEDS
    names = options.designs.split(",") if options.designs else list(DESIGNS)
    tasks = []
    for n_rows in options.sizes:
        for kind in options.kinds:
            for number, name in enumerate(names):
                seeds = range(base + 10_000 * number, base + 10_000 * number + options.runs)
                tasks += [(kind, name, n_rows, seed) for seed in seeds]
    if "certify" in options.kinds:
        seeds = range(base + 900_000, base + 900_000 + options.runs)
        tasks += [("certify", RARE.name, 150, seed) for seed in seeds]
        for number, name in enumerate(names):
            seeds = range(base + 500_000 + 10_000 * number, base + 500_000 + 10_000 * number
                          + options.runs)  # fmt: skip
            tasks += [("certify", name, SMALL, seed) for seed in seeds]
    return tasks


def code_key():
    """Return a hash of all that a run depends on."""
    digest = hashlib.blake2b(digest_size=8)
    files = [*sorted((ROOT / "src" / "pinsker").rglob("*.py")), Path(__file__),
             Path(__file__).with_name("calibration_designs.py")]  # fmt: skip
    for file in files:
        digest.update(file.read_bytes())
    return digest.hexdigest()


def collect(options):
    """Run what is not stored yet; return all results by task."""
    RESULTS.mkdir(parents=True, exist_ok=True)
    path = RESULTS / f"{options.key or code_key()}.jsonl"
    known = {}
    if path.exists():
        for line in path.read_text().splitlines():
            entry = json.loads(line)
            known[tuple(entry["task"])] = entry["result"]
    tasks = wanted_tasks(options)
    new = [task for task in tasks if task not in known]
    started = time.monotonic()
    with path.open("a") as file, ProcessPoolExecutor(options.jobs) as pool:
        waiting = {pool.submit(one_run, task): task for task in new}
        for done in as_completed(waiting):
            task = waiting[done]
            known[task] = done.result()
            file.write(json.dumps({"task": task, "result": known[task]}) + "\n")
            file.flush()
            if time.monotonic() - started > options.seconds:
                pool.shutdown(cancel_futures=True)
                break
    return {task: known[task] for task in tasks if task in known}


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
    pick = lambda kind, name, n: [r for (k, d, m, _), r in found.items()  # noqa: E731
                                  if (k, d, m) == (kind, name, n)]  # fmt: skip
    yield "wrong 'met' where the true increase equals the budget, in % (± Monte-Carlo error)"
    yield f"{'design':<18}{'rows':>6}{'fit':>14}{'band':>14}{'certify':>14}{'power':>14}  runs"
    worst = {}
    for n_rows in options.sizes:
        for name in names:
            fits, certified, power = (pick(kind, name, n_rows) for kind in KINDS)
            cells = [shares(fits, "wrong"), shares(fits, "band_wrong"), shares(certified, "wrong")]
            yield (
                f"{name:<18}{n_rows:>6}" + "".join(f"{cell:>14}" for cell in cells)
                + f"{shares(power, 'all_certified'):>14}  {len(fits)}/{len(certified)}/{len(power)}"
            )  # fmt: skip
            evaluated = "split" if n_rows >= SPLIT_FROM else "cross-validated"
            for kind, runs in ((f"fit ({evaluated})", fits), ("certify", certified)):
                if runs:
                    share = float(np.mean([run["wrong"] for run in runs]))
                    worst[kind] = max(worst.get(kind, 0.0), share)
    for kind, share in worst.items():
        yield f"largest share of wrong 'met', {kind}: {100 * share:.1f} %"
    small = [shares(pick("certify", name, SMALL), "wrong").strip() for name in names]
    yield f"certify on {SMALL} rows, wrong: {', '.join(small)}"
    rare = pick("certify", RARE.name, 150)
    wrong = [run for run in rare if run["wrong"]]
    covered = sum(run["covered"] for run in wrong)
    yield (
        f"rare effect, 150 rows: wrong {shares(rare, 'wrong').strip()} %; of {len(wrong)} wrong "
        f"ones {covered} carry a rare-rows line that covers the truth"
    )


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--runs", type=int, default=200, help="of each design and size")
    parser.add_argument("--jobs", type=int, default=1, help="processes, of one thread each")
    parser.add_argument("--sizes", default="300,1000,6000", help="numbers of rows")
    parser.add_argument("--designs", help="comma-separated names")
    parser.add_argument("--kinds", default=",".join(KINDS), help="comma-separated")
    parser.add_argument("--seeds", choices=["reporting", "tuning"], default="reporting")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="stop after so long")
    parser.add_argument("--key", help="go on with the runs of another state of the code")
    parser.add_argument("--rule-of-thumb", action="store_true", help="print rows for 80 % power")
    options = parser.parse_args()
    options.sizes = [int(n) for n in options.sizes.split(",")]
    options.kinds = options.kinds.split(",")
    if options.rule_of_thumb:
        for design in DESIGNS.values():
            print(f"{design.name:<18}{rows_for_power(design):>8} rows for a power of 80 %")
        return
    for line in table(collect(options), options):
        print(line, flush=True)


if __name__ == "__main__":
    main()
