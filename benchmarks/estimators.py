"""One estimate of (conditional) mutual information, against every peer of the same convention.

    pip install -e ".[bench]"
    python benchmarks/estimators.py            # the table of docs/benchmarks.md
    python benchmarks/estimators.py --quick    # fewer repeats
    python benchmarks/estimators.py --cpu      # one thread each, CPU time: for a busy machine

All get the same standardized columns, three neighbours and two threads, and must return the same
number of nats; it is printed. Peers differ in the fifth digit because they add noise against ties.
pinsker is timed twice: the public function, and the array layer below it, which is what the
selectors use. Calls take turns, and the shortest of each counts: the machine is never faster than
it is.

Not in the table: npeet_plus for classes, which takes the difference of two entropies, and
tigramite's CMIknnMixed, which counts closed balls: other estimators, other numbers.
"""

import argparse
import os
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version

import numpy as np

import pinsker
from pinsker.encoding import NOMINAL_STEP
from pinsker.information._estimators import knn_terms
from tables import heading, print_row

K = 3
#: Seconds after which a package gets no further turn in a case.
PATIENCE = 5.0
#: Peers add noise of up to 1e-6 standard deviations; it moves a mean by less than this many nats.
SAME = 2e-4


@dataclass(frozen=True)
class Case:
    """One estimate: rows, conditioning columns, whether y is classes, the ratio asked for."""

    n_rows: int
    n_conditions: int
    classes: bool
    at_least: float

    @property
    def title(self):
        given = f"given {self.n_conditions}" if self.n_conditions else "no condition"
        return f"{'classes' if self.classes else 'numbers'}, {given}, {self.n_rows} rows"


CASES = [Case(10_000, n, classes, 5.0) for classes in (False, True) for n in (0, 1, 3)] + [
    Case(2_000, 99, classes, 20.0) for classes in (False, True)
]


@dataclass(frozen=True)
class Data:
    """x and y are (n, 1), z is (n, d), all standardized; y is 0, 1, 2 for classes."""

    x: np.ndarray
    y: np.ndarray
    z: np.ndarray
    classes: bool
    threads: int

    @property
    def condition(self):
        return self.z if self.z.shape[1] else None

    @property
    def metric_y(self):
        return self.y * NOMINAL_STEP if self.classes else self.y


def draw(case, threads, seed=0):
    rng = np.random.default_rng(seed)
    z = rng.normal(size=(case.n_rows, case.n_conditions))
    shared = z.sum(axis=1, keepdims=True) / np.sqrt(max(1, case.n_conditions))
    x = shared + rng.normal(size=(case.n_rows, 1))
    y = x + shared + rng.normal(size=(case.n_rows, 1))
    y = np.digitize(y, np.quantile(y, [0.3, 0.6])).astype(float) if case.classes else scaled(y)
    return Data(scaled(x), y, scaled(z), case.classes, threads)


def scaled(columns):
    return np.ascontiguousarray((columns - columns.mean(axis=0)) / columns.std(axis=0))


def ours(data):
    options = {"method": "knn", "n_neighbors": K, "scale": "none", "n_jobs": data.threads}
    options["categorical_features"] = {"y": "nominal"} if data.classes else "continuous"
    if data.condition is None:
        return pinsker.mutual_information(data.x, data.y, **options)
    return pinsker.conditional_mutual_information(data.x, data.y, data.z, **options)


def our_arrays(data):
    return knn_terms(data.x, data.metric_y, data.condition, k=K, n_threads=data.threads).value


def scikit_learn(data):
    from sklearn.feature_selection import mutual_info_classif, mutual_info_regression

    if data.condition is not None:
        return None
    estimate = mutual_info_classif if data.classes else mutual_info_regression
    # Its n_jobs are processes, one a column: there is one column.
    options = {"discrete_features": False, "n_neighbors": K, "random_state": 0}
    return estimate(data.x, data.y[:, 0], **options)[0]


def ennemi(data):
    import ennemi

    y = data.y[:, 0].astype(int) if data.classes else data.y[:, 0]
    options = {"discrete_y": data.classes, "preprocess": False, "max_threads": data.threads}
    return ennemi.estimate_mi(y, data.x[:, 0], k=K, cond=data.condition, **options)[0, 0]


def npeet_plus(data):
    from npeet_plus import mi

    return None if data.classes else mi(data.x, data.y, z=data.condition, k=K, base=np.e)


def tigramite(data):
    from tigramite.independence_tests.cmiknn import CMIknn

    if data.classes:
        return None
    columns = np.hstack([data.x, data.y, data.z]).T.copy()
    codes = np.array([0, 1] + [2] * data.z.shape[1])
    estimator = CMIknn(knn=K, transform="standardize", workers=data.threads, seed=0)
    return estimator.get_dependence_measure(columns, codes)


PEERS: dict[str, Callable[[Data], float | None]] = {
    "scikit-learn": scikit_learn,
    "ennemi": ennemi,
    "npeet_plus": npeet_plus,
    "tigramite": tigramite,
}


def installed():
    """The peers that can be imported; the others are named."""
    found = {}
    for name, estimate in PEERS.items():
        try:
            print(f"{name} {version(name)}", end="; ")
            found[name] = estimate
        except PackageNotFoundError:
            print(f"{name} is not installed and left out", end="; ")
    print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}")
    return found


def measure(case, peers, repeats, threads, clock):
    """Shortest seconds and value of everyone who can estimate this case."""
    data = draw(case, threads)
    everyone = {"pinsker": ours, "arrays": our_arrays, **peers}
    values = {name: estimate(data) for name, estimate in everyone.items()}  # also warms up
    able = {name: value for name, value in values.items() if value is not None}
    seconds = {name: [] for name in able}
    for turn in range(repeats):
        for name, past in seconds.items():
            if turn and sum(past) > PATIENCE:
                continue
            # Short calls are easily disturbed, so they get more turns.
            for _ in range(10 if name in ("pinsker", "arrays") else 1):
                start = clock()
                everyone[name](data)
                past.append(clock() - start)
    return able, {name: min(past) for name, past in seconds.items()}


def report(case, values, seconds):
    """One row of the table: times in milliseconds, values in nats, ratios to the fastest peer."""
    peers = [name for name in values if name in PEERS]
    fastest = min(peers, key=lambda name: seconds[name])
    same = all(abs(values[name] - values["pinsker"]) < SAME for name in values)
    ratio = seconds[fastest] / seconds["pinsker"]
    print_row(
        case.title,
        f"{values['pinsker']:.4f}{'' if same else ' (NOT THE SAME)'}",
        f"**{seconds['pinsker'] * 1e3:.1f}**",
        f"{seconds['arrays'] * 1e3:.1f}",
        *(f"{seconds[name] * 1e3:.0f}" if name in values else "" for name in PEERS),
        f"**{ratio:.1f}**{'' if ratio >= case.at_least else f' (under {case.at_least:.0f})'}",
        f"{seconds[fastest] / seconds['arrays']:.1f}",
    )
    return {name: values[name] for name in peers}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="fewer repeats")
    parser.add_argument("--cpu", action="store_true", help="one thread each, CPU time")
    parser.add_argument("--only", default="", help="cases whose title holds these words")
    asked = parser.parse_args()
    repeats = 2 if asked.quick else 12
    threads, clock = (1, time.process_time) if asked.cpu else (2, time.perf_counter)
    warnings.simplefilter("ignore")  # 99 conditions are too many for 2000 rows, as pinsker says
    peers = installed()
    columns = ["nats", "pinsker", "its arrays", *PEERS, "ratio", "of the arrays"]
    unit = (
        "CPU milliseconds for one estimate, one thread" if asked.cpu else "milliseconds, two cores"
    )
    heading(f"Estimators: {unit}", "case", *columns)
    values = {}
    for case in (case for case in CASES if asked.only in case.title):
        values[case.title] = report(case, *measure(case, peers, repeats, threads, clock))
    heading("What the peers returned, in nats", "case", *PEERS)
    for title, found in values.items():
        print_row(title, *(f"{found[name]:.6f}" if name in found else "" for name in PEERS))


if __name__ == "__main__":
    main()
