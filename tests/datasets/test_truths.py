"""The truths: against numbers worked out elsewhere, and against the data the problems draw."""

import json
import math
from dataclasses import replace

import numpy as np
import pytest

from pinsker.testing import BivariateNormal, information_problems

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

#: Reference file's name -> ours.
REFERENCE = {
    "G1 bivariate normal rho=0.3": "G1 rho=0.3",
    "G1 bivariate normal rho=0.99": "G1 rho=0.99",
    "MS contDep rho=.8 (dz=9 indep)": "G1 rho=0.8 given 9",
    "G2b chain I(X;Y) = .5 ln(3/2)": "G2 chain",
    "G2c chain I(X;Y|Z)": "G2 chain given z",
    "G3b collider I(X;Y|Z)": "G3 collider given z",
    "G4 trivariate (.6,.5,.5): -.5ln(1-rho_xy.z^2)": "G4",
    "G5 y=sum_i x_i/sqrt d + e(var 1), I(X_1..d;Y)": "G5 d=5 all",
    "G5b same, I(X_1;Y|X_2..d), d=20": "G5 d=20",
    "G5c same, I(X_1;Y), d=20": "G5 d=20 first",
    "G6 ennemi four gaussians I(x;y|z1,z2)": "G6",
    "G7 Frenzel-Pompe three gaussians I(x;y|z)": "G7",
    "C1 additive uniform eps=0.1": "C1 eps=0.1",
    "C1 additive uniform eps=0.75": "C1 eps=0.75",
    "C2 Student-t identity 1x1 nu=2": "C2 1x1 nu=2",
    "C2 Student-t identity 1x1 nu=5": "C2 1x1 nu=5",
    "C2 Student-t identity 2x2 nu=2": "C2 2x2 nu=2",
    "C2 Student-t identity 3x3 nu=2": "C2 3x3 nu=2",
    "C2 Student-t identity 5x5 nu=3": "C2 5x5 nu=3",
    "C2b Student-t nu=3 trivariate identity: I(X;Y|Z)": "C2c nu=3",
    "C3 Gamma-Exponential theta=3.0: psi(th+1)-ln th": "C3 theta=3",
    "C5 uniform on the unit disc: ln pi ... ": "C5",
    "C6 exp/cube/cdf maps of bivariate normal rho=.75": "G1 rho=0.75 cdf",
    "C7 X~Exp(3), Y=X+Exp(3.1): gamma+ln((b-a)/a)+psi(b/(b-a))": "C7 3.0,3.1",
    "D1 MS discDep .4/.1": "D1",
    "D4 AND of 2 fair bits: I(X1;Y)": "D4 first",
    "D6 noisy XOR eps=.1: I(X;Y|Z)": "D6",
    "M1 Gao/MS corrUnif m=10: ln m-(m-1)/m ln2": "M1 m=10",
    "M2 zero-inflated Poisson p=0.15 EXACT": "M2 p=0.15",
    "M2 zero-inflated Poisson p=0.5 EXACT": "M2 p=0.5",
    'M3 half N(rho=.8)+half disc(.4/.1), MS "mixture" EXACT': "M3",
    "M3b Gao17 exp I: half N(.9)+half disc(.45/.05) EXACT": "M3b",
    "M4 Y=+-1 fair, X|Y~N(Y mu,1), mu=2.0": "M4 shift=2.0",
    "M5 logistic y|x~Bern(sigmoid(5.0 x)), x~N(0,1)": "M5 slope=5.0",
    "M8 sklearn test: X~Bern, Y|0~U(-1,1), Y|1~U(0,2), p=0.7": "M8 p=0.7",
}


@pytest.mark.parametrize("name", KNOWN)
def test_truth_equals_known_value(name):
    assert PROBLEMS[name].truth() == pytest.approx(KNOWN[name], abs=6e-7)


def test_truths_equal_the_reference_file(data_folder):
    reference = json.loads((data_folder / "ground_truths.json").read_text())
    for theirs, ours in REFERENCE.items():
        # The file's quadratures have a tolerance of about 1e-10.
        assert PROBLEMS[ours].truth() == pytest.approx(reference[theirs], abs=1e-9), theirs


def test_values_that_were_published_and_are_wrong_stay_wrong(data_folder):
    reference = json.loads((data_folder / "ground_truths.json").read_text())
    for p in (0.15, 0.3, 0.5):
        published = reference[f"M2 .. p={p} published (1-p)(2ln2-gamma-S)"]
        assert published - PROBLEMS[f"M2 p={p}"].truth() > 0.02
    coded = reference["M3 value coded in knncmi/simulations.py:117"]
    assert PROBLEMS["M3"].truth() - coded > 0.3


def test_wrong_published_values_written_out():
    # The same without the file: (1 - p) I(0), and a quarter of a logarithm too little.
    assert (1 - 0.15) * PROBLEMS["M2 p=0.0"].truth() == pytest.approx(0.256058, abs=1e-6)
    assert PROBLEMS["M2 p=0.15"].truth() == pytest.approx(0.229776, abs=1e-6)
    assert PROBLEMS["M3"].truth() - 0.743939 > 0.3


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
