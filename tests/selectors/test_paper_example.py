"""The paper's Example 1: information drops one of two features, a linear model keeps both."""

import numpy as np
import pytest

from pinsker.selectors import BackwardElimination, ForwardSelection, LinearSelection


@pytest.fixture(scope="module")
def example():
    z = np.random.default_rng(0).normal(size=400)
    # a is scaled like sd(e^Z)/sd(Z): with a = b = 1 and a wide Z, X1 would be lost in X2.
    return np.column_stack([z, np.exp(z)]), np.exp(z).std() / z.std() * z + np.exp(z)


@pytest.mark.parametrize("kind", [BackwardElimination, ForwardSelection])
def test_information_drops_one(kind, example):
    assert kind(0.05).fit(*example).get_support().sum() == 1


def test_for_the_ranks_the_two_are_one(example):
    path = BackwardElimination(0.0).fit(*example).path_
    assert path.scores[0] == 0.0
    assert path.moves[0] == 1


@pytest.mark.parametrize("direction", ["backward", "forward"])
def test_the_linear_model_keeps_both(direction, example):
    selector = LinearSelection(0.05, direction=direction).fit(*example)
    assert selector.get_support().all()
    # Without X2 the linear model would lose what of it X1 does not explain.
    X, y = example
    r = np.corrcoef(X.T)[0, 1]
    lost = (1 - r**2) * np.var(X[:, 1]) / np.var(y)
    assert selector.path_.bound_at(1) == pytest.approx(lost, rel=1e-9)
