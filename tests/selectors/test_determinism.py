"""The same bits wherever and however often a fit runs: threads, processes, hashes, row order."""

import json
import os
import platform
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from pinsker import (
    BackwardElimination,
    CriterionSelection,
    FeatureSelector,
    ForwardSelection,
    LinearSelection,
)

#: A fit and a text of all its figures, as a file that a process of its own can import.
FIT = """
import numpy as np
import pandas as pd
from pinsker import FeatureSelector

def fit(n_jobs=1):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(90, 4)), columns=list("abcd"))
    frame["city"] = rng.choice(["Rome", "Bonn", "Lyon"], 90)
    y = np.where(frame["a"] + (frame["city"] == "Rome") + 0.3 * rng.normal(size=90) > 0, "y", "n")
    selector = FeatureSelector(
        0.1, searches=["backward", "linear", "jmi"], models=["linear", "extra trees"], cv=2,
        n_jobs=n_jobs, random_state=0,
    ).fit(frame, y)
    figures = {name: np.asarray(values).tolist() for name, values in selector.cv_results_.items()}
    return repr((figures, selector.path_, str(selector.certificate_), selector.support_.tolist()))
"""
#: Prints how many texts there were, and the text itself if all were the same.
EVERYWHERE = """
import multiprocessing, warnings
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from joblib import Parallel, delayed
from a_fit import fit

def main():
    warnings.simplefilter("ignore")  # fork with threads is what is tried here
    found = [fit(), fit(n_jobs=2)]
    for kind in ("spawn", "fork"):
        if kind in multiprocessing.get_all_start_methods():
            context = multiprocessing.get_context(kind)
            with ProcessPoolExecutor(1, mp_context=context) as pool:
                found.append(pool.submit(fit, 2).result(timeout=120))
    found += Parallel(n_jobs=2)(delayed(fit)(1) for _ in range(2))
    found += Parallel(n_jobs=2, prefer="threads")(delayed(fit)(2) for _ in range(2))
    with ThreadPoolExecutor(2) as threads:
        found += threads.map(fit, (1, 2))
    assert len(set(found)) == 1, set(found)
    print(len(found), found[0])

if __name__ == "__main__":
    main()
"""


#: Prints the kernels of BLAS, what is kept of small tables, and figures that must not change.
KERNELS = """
import json
import numpy as np
import pandas as pd
from threadpoolctl import threadpool_info
from pinsker import BackwardElimination, CriterionSelection, FeatureSelector

def tables():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 6))
    yield "classes", X, (X[:, 0] + X[:, 3] + 0.3 * rng.normal(size=120) > 0).astype(int)
    yield "numbers", X, X[:, 1] + X[:, 2] ** 2 + 0.3 * rng.normal(size=120)
    yield "two targets", X, X[:, [0, 4]] + 0.3 * rng.normal(size=(120, 2))
    yield "three classes", X, np.digitize(X[:, 5] + 0.2 * rng.normal(size=120), [-0.5, 0.5])
    copied = np.column_stack([X, X[:, 0], X[:, 1] + X[:, 2]])
    yield "copies", copied, X[:, 0] + X[:, 1] + X[:, 2] + 0.3 * rng.normal(size=120)
    text = pd.DataFrame({"city": rng.choice(list("abcdefgh"), 120), "x": X[:, 0], "z": X[:, 1]})
    yield "text", text, (text["city"] < "d") ^ (rng.random(120) < 0.1)
    wide = rng.normal(size=(70, 130))
    yield "wide", wide, (wide[:, 3] - wide[:, 7] > 0).astype(int)

kept, figures, exact = {}, {}, {}
for name, X, y in tables():
    selector = FeatureSelector(0.1, cv=3, n_jobs=1, random_state=0).fit(X, y)
    certificate = selector.certificate_
    kept[name] = [np.flatnonzero(selector.support_).tolist(), certificate.verdict]
    figures[name] = [certificate.error_all, certificate.error_kept, certificate.increase_upper]
    if name in ("classes", "numbers"):
        by_neighbors = BackwardElimination().fit(X, y).path_
        by_counts = CriterionSelection("jmi", 3).fit(X, y).path_
        exact[name] = [repr(one.information) for one in (by_neighbors, by_counts)]
blas = [one for one in threadpool_info() if one["user_api"] == "blas"]
blas = sorted(str(one.get("architecture")) for one in blas)
print(json.dumps([blas, kept, figures, exact]))
"""


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "a_fit.py").write_text(FIT)
    (tmp_path / "everywhere.py").write_text(EVERYWHERE)
    return tmp_path


def run(folder, *arguments, seed_of_hashes="0", **more):
    own = {"PYTHONHASHSEED": seed_of_hashes, "OMP_NUM_THREADS": "1", **more}
    done = subprocess.run(
        [sys.executable, *arguments],
        cwd=folder, env={**os.environ, **own},
        capture_output=True, text=True, timeout=900, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.slow
def test_processes_threads_and_hashes_change_nothing(folder):
    n_fits, _, figures = run(folder, "everywhere.py").partition(" ")
    assert int(n_fits) >= 9
    for seed in ("1", "2"):
        again = run(folder, "-c", "import a_fit; print(a_fit.fit())", seed_of_hashes=seed)
        assert again == figures


@pytest.mark.skipif(platform.machine() not in ("x86_64", "AMD64"), reason="kernels of x86")
def test_another_kernel_of_blas_keeps_the_same_features(folder):
    # docs/versions.md: last digits of figures may change, and what ties to the last digits.
    own, other = (
        json.loads(run(folder, "-W", "ignore", "-c", KERNELS, **kernel))
        for kernel in ({}, {"OPENBLAS_CORETYPE": "Nehalem"})
    )
    if own[0] == other[0]:
        pytest.skip(f"no other kernel of BLAS: {own[0]}")
    assert own[1] == other[1]
    for name, figures in own[2].items():
        if name == "three classes":
            continue  # logistic regressions of these stop early, after other steps
        # Models stop at a gradient of 1e-4 or so, after as many steps: they agree to less.
        np.testing.assert_allclose(figures, other[2][name], rtol=1e-5, atol=1e-7, err_msg=name)
    assert own[3] == other[3]  # neighbors and counts are integers


def small(seed=0, n_rows=80):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 5))
    return X, (X[:, 0] + X[:, 3] + 0.3 * rng.normal(size=n_rows) > 0).astype(int)


def test_two_fits_at_once_in_two_threads():
    def fit(seed):
        selector = FeatureSelector(
            0.1, searches=["backward", "linear"], models=["linear"], cv=2, n_jobs=2, random_state=0
        ).fit(*small(seed))
        return {name: list(values) for name, values in selector.cv_results_.items()}

    alone = [fit(seed) for seed in (0, 1)]
    with ThreadPoolExecutor(2) as threads:
        together = list(threads.map(fit, (0, 1, 0, 1)))
    for found, wanted in zip(together, alone * 2, strict=True):
        np.testing.assert_equal(found, wanted)


@pytest.mark.parametrize(
    "selector",
    [BackwardElimination(), ForwardSelection(), CriterionSelection("jmi", 3)],
    ids=lambda selector: type(selector).__name__,
)
def test_a_search_gives_the_same_bits_for_rows_in_any_order(selector):
    X, y = small()
    X = X.round(1)
    order = np.random.default_rng(1).permutation(len(X))
    first = selector.fit(X, y).path_
    second = selector.fit(X[order], y[order]).path_
    assert (second.moves, second.scores) == (first.moves, first.scores)
    assert second.information == first.information


def test_a_linear_search_gives_the_same_order_for_rows_in_any_order():
    # Sums of floating-point numbers depend on their order in the last digits.
    X, y = small()
    order = np.random.default_rng(1).permutation(len(X))
    first, second = (LinearSelection().fit(X[o], y[o]).path_ for o in (slice(None), order))
    assert second.order == first.order
    np.testing.assert_allclose(second.information, first.information, rtol=1e-10)
