"""The right estimator against the truth, within the error that its sample size allows.

How the limits are set. The mean over 16 independent samples is known to sd/4, sd being their own
standard deviation; five such errors are allowed on either side (chance crosses that in 2 of 10 000
problems, and the seeds are fixed). The methods are unbiased to well below that where densities are
smooth. Where a density jumps or bends within the reach of neighbors, estimates by neighbors are
too low by a known amount, allowed below and not above: BIAS holds what was measured at *500* rows
on other seeds (40 samples), rounded up; at the 1000 rows used here it can only be smaller.
"""

import math

import numpy as np
import pytest

from pinsker import conditional_mutual_information, entropy, mutual_information
from tests.truths import information_problems

PROBLEMS = information_problems()
N_ROWS, N_SAMPLES = 1000, 16

BIAS = {
    "GN wave d=1": 0.06,
    "C1 eps=0.1": 0.10,
    "C1 eps=0.5": 0.04,
    "C1 eps=0.75": 0.04,
    "C2 1x1 nu=1": 0.02,
    "C2c nu=3": 0.01,
    "C5": 0.03,
    "C7 1.0,2.0": 0.06,
    "C7 0.2,0.3": 0.06,
    "C7 3.0,3.1": 0.05,
    "M1 m=5": 0.02,
    "M1 m=10": 0.04,
    "M6 given second": 0.09,
}


def n_columns(name):
    return sum(side.shape[1] for side in PROBLEMS[name].sample(2, 0) if side is not None)


COUNTED = [name for name in PROBLEMS if name.startswith("D") and name != "D7"]
#: Up to three columns; more are beyond what neighbors can do with 1000 rows.
NEIGHBORED = [name for name in PROBLEMS if not name.startswith("D") and n_columns(name) <= 3]
GAUSSIAN = [
    name
    for name in PROBLEMS
    if name.startswith("G") and not name.endswith(("exp", "cube", "cdf")) and "wave" not in name
]
BENT = ["G1 rho=0.75 exp", "G1 rho=0.75 cube", "G1 rho=0.75 cdf"]


def estimates(name, method, n_rows=N_ROWS):
    problem = PROBLEMS[name]
    values = []
    for number in range(N_SAMPLES):
        x, y, z = problem.sample(n_rows, number)
        sides = zip("xyz", (x, y, z), problem.kinds, strict=True)
        kinds = {side: kind for side, values, kind in sides if values is not None}
        if z is None:
            values.append(mutual_information(x, y, method=method, categorical_features=kinds))
        else:
            values.append(
                conditional_mutual_information(x, y, z, method=method, categorical_features=kinds)
            )
    return np.array(values)


def assert_close_to_truth(name, values, bias=0.0):
    truth = PROBLEMS[name].truth()
    limit = 5 * values.std(ddof=1) / math.sqrt(N_SAMPLES)
    assert truth - bias - limit <= values.mean() <= truth + limit


@pytest.mark.parametrize("name", NEIGHBORED)
def test_neighbors(name):
    assert_close_to_truth(name, estimates(name, "knn"), BIAS.get(name, 0.0))


@pytest.mark.parametrize("name", COUNTED)
def test_counting(name):
    # What is left of the bias after Grassberger's correction is of order 1/n²; without noise, as in
    # a copy, the deviation is that of the sample's own entropy.
    assert_close_to_truth(name, estimates(name, "discrete"))


@pytest.mark.parametrize("name", GAUSSIAN)
def test_gaussian(name):
    assert_close_to_truth(name, estimates(name, "gaussian", n_rows=200))


@pytest.mark.parametrize("name", [*BENT, "G4", "G6", "GN linear d=8"])
def test_copula(name):
    # Ranks of 1000 rows instead of the true margins bias the copula by about -1/n: far below.
    assert_close_to_truth(name, estimates(name, "copula"))


@pytest.mark.parametrize("name", ["G1 rho=0.6", "G5 d=2 all", "M4 shift=1.0", "M7 symbols"])
@pytest.mark.parametrize("method", ["ksg2", "gao"])
def test_relatives(name, method):
    # At 500 rows and other seeds both were within two errors of the truth, but for ksg2 on two
    # columns (+0.018, here +0.02 is allowed).
    truth, values = PROBLEMS[name].truth(), estimates(name, method)
    limit = 5 * values.std(ddof=1) / math.sqrt(N_SAMPLES) + 0.02
    assert values.mean() == pytest.approx(truth, abs=limit)


def test_gao_with_a_condition_is_a_difference():
    x, y, z = PROBLEMS["G3 collider given z"].sample(300, 0)
    whole = mutual_information(np.hstack([x, z]), y, method="gao")
    part = mutual_information(z, y, method="gao")
    found = conditional_mutual_information(x, y, z, method="gao")
    assert found == pytest.approx(whole - part, abs=1e-12)


@pytest.mark.parametrize("name", ["G2 chain given z", "G3 collider given z"])
def test_ksg2_with_a_condition(name):
    # The form in the literature is 0.05 too high at any number of rows; this one is not.
    truth, values = PROBLEMS[name].truth(), estimates(name, "ksg2")
    limit = 5 * values.std(ddof=1) / math.sqrt(N_SAMPLES) + 0.005
    assert values.mean() == pytest.approx(truth, abs=limit)


@pytest.mark.filterwarnings("ignore::pinsker.exceptions.UnreliableEstimateWarning")
def test_neighbors_beat_counting_where_cells_are_sparse():
    # 2 rows per cell, truth 0: counting is 0.25 too high, Grassberger 0.06. Digammas of counts of
    # one to four rows put neighbors a little low (-0.04 at 4000 rows), never as far off.
    by_neighbors = abs(estimates("D7", "knn").mean())
    x, y, z = PROBLEMS["D7"].sample(N_ROWS, 0)
    counted = conditional_mutual_information(x, y, z, method="discrete", correction="none")
    assert counted > 0.2
    assert by_neighbors < counted / 4


@pytest.mark.filterwarnings("ignore::pinsker.exceptions.UnreliableEstimateWarning")
def test_known_to_be_low_in_many_columns():
    # 16 columns and 1000 rows: neighbors show a quarter of the truth, and never too much.
    values = estimates("GN linear d=16", "knn")
    truth = PROBLEMS["GN linear d=16"].truth()
    assert 0.1 * truth < values.mean() < 0.5 * truth


def test_estimates_get_better_with_more_rows():
    truth = PROBLEMS["M6 given second"].truth()
    few = estimates("M6 given second", "knn", 300).mean() - truth
    many = estimates("M6 given second", "knn", 2000).mean() - truth
    assert few < many < 0


# --- entropy, in closed form

ENTROPIES = {
    "normal": (lambda rng, n: 3 * rng.normal(size=(n, 1)), math.log(3) + 1.4189385332046727),
    "uniform": (lambda rng, n: rng.uniform(0, 4, size=(n, 1)), math.log(4)),
    "exponential": (lambda rng, n: rng.exponential(size=(n, 1)), 1.0),
    "two normals": (lambda rng, n: rng.normal(size=(n, 2)) * [1, 100], 2.837877066 + math.log(100)),
}


@pytest.mark.parametrize("name", ENTROPIES)
def test_differential_entropy(name):
    draw, truth = ENTROPIES[name]
    values = np.array([entropy(draw(np.random.default_rng(i), N_ROWS)) for i in range(N_SAMPLES)])
    # Edges of the uniform and curvature cost about (2/n)^(1/d) of a nat: 0.01 here.
    limit = 5 * values.std(ddof=1) / math.sqrt(N_SAMPLES) + 0.01
    assert values.mean() == pytest.approx(truth, abs=limit)


def test_entropy_of_mixed_columns():
    # A fair coin, and a normal column whose spread is 1 or 5: ln 2 + h(1) / 2 + h(5) / 2.
    truth = math.log(2) + 1.4189385332046727 + 0.5 * math.log(5)
    values = []
    for number in range(N_SAMPLES):
        rng = np.random.default_rng(number)
        coin = rng.integers(0, 2, size=N_ROWS)
        number_column = rng.normal(size=N_ROWS) * np.where(coin == 1, 5.0, 1.0)
        values.append(entropy(np.column_stack([coin, number_column])))
    limit = 5 * np.std(values, ddof=1) / math.sqrt(N_SAMPLES)
    assert np.mean(values) == pytest.approx(truth, abs=limit)
