"""A small version of benchmarks/calibration.py: exact counts on fixed seeds.

Seeds are fixed, so that the counts repeat; the limits are those that a share of 5 % (10 % for
cross-validated estimates) crosses once in a million, ``binom.isf(1e-6, n, p)``.
"""

import numpy as np
import pytest
from scipy.stats import binom

from benchmarks import calibration
from benchmarks.calibration_designs import DESIGNS, RARE


def runs(kind, name, n_rows, count):
    return [calibration.one_run((kind, name, n_rows, seed)) for seed in range(count)]


def test_truths_by_a_large_sample():
    # The construction against a least-squares fit of 200 000 rows: three digits.
    design = DESIGNS["gaussian dense"]
    X, y, _ = design.draw(200_000, 0)
    for kept in (design.order, design.order[:-1], design.order[:-2]):
        residual = y - X[:, kept] @ np.linalg.lstsq(X[:, kept], y, rcond=None)[0]
        full = y - X @ np.linalg.lstsq(X, y, rcond=None)[0]
        found = (residual.var() - full.var()) / y.var()
        assert found == pytest.approx(design.increase(kept), abs=2e-3)


def test_every_design_has_an_edge():
    assert len(DESIGNS) >= 6
    for design in DESIGNS.values():
        kept = design.order[: len(design.costs) - 1]
        assert design.increase(kept) == pytest.approx(design.edge)
        assert design.increase(design.order[: len(design.costs)]) == 0.0
        assert len(design.budgets) == 10
        X, y, _ = design.draw(50, 0)
        assert X.shape == (50, design.n_features)
        assert len(y) == 50


@pytest.mark.slow
@pytest.mark.parametrize("name", DESIGNS)
def test_certify_at_the_edge(name):
    found = runs("certify", name, 300, 60)
    assert sum(run["wrong"] for run in found) <= binom.isf(1e-6, 60, 0.05)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["gaussian dense", "imbalanced 5 %", "mixed kinds"])
def test_fit_at_the_edge(name):
    found = runs("fit", name, 300, 30)
    assert sum(run["wrong"] for run in found) <= binom.isf(1e-6, 30, 0.1)
    assert sum(run["band_wrong"] for run in found) <= binom.isf(1e-6, 30, 0.1)


@pytest.mark.slow
def test_half_the_budget_is_shown_to_be_met():
    found = runs("power", "gaussian dense", 1000, 40)
    assert sum(run["all_certified"] for run in found) >= 40 - binom.isf(1e-6, 40, 0.2)


@pytest.mark.slow
def test_rare_effects_are_covered():
    found = [calibration.one_run(("certify", RARE.name, 150, seed)) for seed in range(40)]
    assert all(run["covered"] for run in found if run["wrong"])
