"""The truths: against numbers worked out elsewhere, and against the data the problems draw."""

import math
from dataclasses import replace

import numpy as np
import pytest

from tests.truths import BivariateNormal, information_problems

PROBLEMS = information_problems()

#: Six digits, from the formulas by hand or other people's programs; not from this package.
KNOWN = {
    "G1 rho=0.6": 0.223144,
    "G1 rho=0.75": 0.413339,
    "G1 rho=0.9": 0.830366,
    "G1 rho=0.99": 1.958518,
    "G1 rho=0.75 exp": 0.413339,
    "G1 rho=0.8 given 5": 0.510826,
    "G2 chain": 0.202733,
    "G2 chain given z": 0.0,
    "G3 collider": 0.0,
    "G3 collider given z": 0.143841,
    "G4": 0.122808,
    "G5 d=2": 0.202733,
    "G5 d=5": 0.091161,
    "G5 d=10": 0.047655,
    "G5 d=20": 0.024395,
    "G5 d=10 all": 0.346574,
    "G5 d=10 first": 0.025647,
    "G6": 0.649641,
    "G7": 0.129756,
    "GN linear d=1": 0.346574,
    "GN wave d=16": 0.346574,
    "C1 eps=0.1": 1.709438,
    "C1 eps=0.5": 0.5,
    "C1 eps=0.75": 0.333333,
    "C2 1x1 nu=1": 0.224171,
    "C2 2x2 nu=1": 0.431946,
    "C2 3x3 nu=3": 0.178712,
    "C2 5x5 nu=2": 0.448151,
    "C2c nu=3": 0.025643,
    "C3 theta=1": 0.422784,
    "C3 theta=2": 0.229637,
    "C3 theta=3": 0.157505,
    "C5": 0.144730,
    "C7 1.0,2.0": 1.0,
    "C7 0.2,0.3": 0.806853,
    "D1": 0.192745,
    "D2 xor": 0.0,
    "D2 xor given z": 0.693147,
    "D3": 0.368064,
    "D4 first": 0.215762,
    "D4 first given second": 0.346574,
    "D4 both": 0.562335,
    "D5": 1.609438,
    "D6": 0.368064,
    "D7": 0.0,
    "M1 m=3": 0.636514,
    "M1 m=5": 1.054920,
    "M1 m=10": 1.678753,
    "M2 p=0.0": 0.301245,
    "M2 p=0.15": 0.229776,
    "M2 p=0.3": 0.175677,
    "M2 p=0.5": 0.116384,
    "M3": 1.044932,
    "M3b": 1.292362,
    "M4 shift=0.5": 0.111421,
    "M4 shift=1.0": 0.336831,
    "M4 shift=2.0": 0.632720,
    "M5 slope=1.0": 0.093709,
    "M5 slope=2.0": 0.231138,
    "M5 slope=5.0": 0.451221,
    "M6": 0.0,
    "M6 given second": 0.693147,
    "M7": 0.0,
    "M7 symbols": 0.0,
    "M8 p=0.3": 0.305432,
    "M8 p=0.5": 0.346574,
}

#: Worked out by quadrature elsewhere, to about 1e-10; not from this package.
REFERENCE = {
    "G1 rho=0.3": 0.0471553397356,
    "G1 rho=0.99": 1.95851777363,
    "G1 rho=0.8 given 9": 0.510825623766,
    "G2 chain": 0.202732554054,
    "G2 chain given z": 0.0,
    "G3 collider given z": 0.143841036226,
    "G4": 0.122808203583,
    "G5 d=5 all": 0.34657359028,
    "G5 d=20": 0.0243950820847,
    "G5 d=20 first": 0.0126589039921,
    "G6": 0.649641492065,
    "G7": 0.129755597743,
    "C1 eps=0.1": 1.70943791243,
    "C1 eps=0.75": 0.333333333333,
    "C2 1x1 nu=2": 0.0826813919108,
    "C2 1x1 nu=5": 0.0171282784194,
    "C2 2x2 nu=2": 0.19314718056,
    "C2 3x3 nu=2": 0.290921922683,
    "C2 5x5 nu=3": 0.298543622653,
    "C2c nu=3": 0.025642967348,
    "C3 theta=3": 0.157505379764,
    "C5": 0.144729885849,
    "G1 rho=0.75 cdf": 0.413339286592,
    "C7 3.0,3.1": 0.593789749258,
    "D1": 0.192744757022,
    "D4 first": 0.215761554339,
    "D6": 0.368064207168,
    "M1 m=10": 1.67875263049,
    "M2 p=0.15": 0.229775958544,
    "M2 p=0.5": 0.116383941015,
    "M3": 1.04493237095,
    "M3b": 1.29236208585,
    "M4 shift=2.0": 0.632720193737,
    "M5 slope=5.0": 0.451221126577,
    "M8 p=0.7": 0.305432151027,
}


@pytest.mark.parametrize("name", KNOWN)
def test_truth_equals_known_value(name):
    assert PROBLEMS[name].truth() == pytest.approx(KNOWN[name], abs=6e-7)


@pytest.mark.parametrize("name", REFERENCE)
def test_truth_equals_the_reference(name):
    # Quadratures have a tolerance of about 1e-10.
    assert PROBLEMS[name].truth() == pytest.approx(REFERENCE[name], abs=1e-9)


def test_values_that_were_published_and_are_wrong_stay_wrong():
    for p, published in ((0.15, 0.256058057), (0.3, 0.210871341), (0.5, 0.150622387)):
        assert (1 - p) * PROBLEMS["M2 p=0.0"].truth() == pytest.approx(published, abs=1e-9)
        assert published - PROBLEMS[f"M2 p={p}"].truth() > 0.02
    coded = 0.74393917  # in knncmi/simulations.py, line 117
    assert PROBLEMS["M3"].truth() - coded > 0.3


def test_ross_square_wave_to_the_digits_printed():
    assert PROBLEMS["M10"].truth() / math.log(2) == pytest.approx(0.14587, abs=5e-6)


@pytest.mark.parametrize("name", PROBLEMS)
def test_samples_have_the_shapes_and_seeds_they_promise(name):
    problem = PROBLEMS[name]
    x, y, z = problem.sample(17, seed=3)
    again = problem.sample(17, seed=3)
    other = problem.sample(17, seed=4)
    for side, kind in zip((x, y, z), problem.kinds, strict=True):
        if side is not None:
            assert side.shape[0] == 17
            assert side.ndim == 2
            assert (side.dtype.kind == "f") == (kind == "continuous")
    np.testing.assert_array_equal(x, again.x)
    np.testing.assert_array_equal(y, again.y)
    assert not (np.array_equal(x, other.x) and np.array_equal(y, other.y))


def test_problems_are_values():
    assert BivariateNormal(0.6) == BivariateNormal(0.6)
    assert len(set(PROBLEMS.values())) >= len(PROBLEMS) - 3
    with pytest.raises(AttributeError):
        BivariateNormal(0.6).rho = 0.7


@pytest.mark.parametrize(
    ("problem", "density_ratio"),
    [
        (
            replace(PROBLEMS["C2 1x1 nu=1"], degrees=3, n_x=2),
            lambda p, x, y: _student(p, np.hstack([x, y])) - _student(p, x) - _student(p, y),
        ),
        (
            BivariateNormal(0.75),
            lambda p, x, y: (
                -0.5 * math.log(1 - p.rho**2)
                + ((p.rho * x * y) - 0.5 * p.rho**2 * (x**2 + y**2)).ravel() / (1 - p.rho**2)
            ),
        ),
    ],
)
def test_truth_is_the_mean_log_density_ratio_of_the_sample(problem, density_ratio):
    x, y, _ = problem.sample(40_000, seed=11)
    ratios = density_ratio(problem, x, y)
    # Monte Carlo: five standard errors of the mean.
    assert ratios.mean() == pytest.approx(problem.truth(), abs=5 * ratios.std() / 200)


def _student(problem, rows):
    """Log-density of a Student t with identity dispersion."""
    nu, d = problem.degrees, rows.shape[1]
    constant = math.lgamma((nu + d) / 2) - math.lgamma(nu / 2) - d / 2 * math.log(nu * math.pi)
    return constant - (nu + d) / 2 * np.log1p((rows**2).sum(axis=1) / nu)


def test_uniform_classes_by_hand():
    # Disjoint intervals: the column tells the class, ln 2 nats.
    apart = replace(PROBLEMS["M8 p=0.5"], intervals=((0.0, 1.0), (2.0, 3.0)))
    assert apart.truth() == pytest.approx(math.log(2), abs=1e-12)
    same = replace(PROBLEMS["M8 p=0.5"], intervals=((0.0, 1.0), (0.0, 1.0)))
    assert same.truth() == pytest.approx(0.0, abs=1e-12)


def test_samples_have_the_covariance_asked_for():
    problem = PROBLEMS["G6"]
    x, y, z = problem.sample(50_000, seed=0)
    found = np.cov(np.hstack([x, y, z]).T)
    # An entry's standard error is sqrt((s_ij² + s_ii s_jj) / n) <= 0.038 here: five of them.
    np.testing.assert_allclose(found, np.array(problem.covariance), atol=0.19)
