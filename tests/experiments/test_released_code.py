"""The published estimator and its rules: faithful, and as far off as the published numbers."""

import numpy as np
import pytest
from sklearn.model_selection import train_test_split

from experiments.reproduce import released_code
from experiments.reproduce.problems import figure1_problem, figure2_problem
from oracles import published_estimator
from pinsker.datasets import Radial


@pytest.mark.parametrize("k", [1, 3])
def test_fast_path_is_the_slow_one(k):
    X, y = Radial(3, 5).sample(24, seed=1)
    path = released_code.published_path(X, y, k)
    removed, scores = published_estimator.backward_path(X, y, k)
    assert path.removed == tuple(removed)
    np.testing.assert_allclose(path.scores, scores, rtol=0, atol=1e-12)  # sums in another order


def test_a_path_that_ends_early_is_the_beginning_of_the_whole():
    X, y = Radial(3, 8).sample(60, seed=2)
    whole = released_code.published_path(X, y, 3)
    part = released_code.published_path(X, y, 3, enough=0.5)
    assert 1 < len(part.removed) < len(whole.removed)
    assert part.removed == whole.removed[: len(part.removed)]
    for delta in (0.3, 0.6, 1.0):
        assert released_code.size_by_error(part, delta) == released_code.size_by_error(whole, delta)


def path_of(*scores):
    return released_code.PublishedPath(len(scores) + 1, tuple(range(len(scores))), scores)


def test_budget_counts_positive_scores_and_keeps_the_one_that_breaks_it():
    path = path_of(-0.5, 0.1, 0.1, 0.5)
    # sqrt(2 * (0.1, 0.2, 0.7)) = 0.447, 0.632, 1.18
    sizes = [released_code.size_by_error(path, delta) for delta in (0.4, 0.5, 1.0, 2.0)]
    assert sizes == [4, 3, 2, 1]


def test_in_sequence_the_breaking_score_counts_again():
    path = path_of(0.1, 0.1, 0.1, 0.1)
    alone = [released_code.size_by_error(path, delta) for delta in (0.4, 0.7, 0.9)]
    # 0.1 stops 0.4; for 0.7 (0.245 nats) it counts again: 0.2, then 0.3 breaks; for 0.9 (0.405)
    # the second one again: 0.4, and the third breaks.
    assert alone == [5, 3, 1]
    assert released_code.sizes_in_sequence(path, (0.4, 0.7, 0.9)) == [5, 4, 3]


def test_the_jump_rule_looks_for_a_fall():
    rising, falling = path_of(0.1, 0.4, 0.9), path_of(0.9, 0.4, 0.1)
    assert released_code.size_by_jump(rising, 0.05) == 1  # an elbow upwards does not stop it
    assert released_code.size_by_jump(falling, 0.3) == 3
    assert released_code.size_by_score(rising, 0.4) == 3


def test_kept_leaves_out_what_went_first():
    assert path_of(0.1, 0.2, 0.3).kept(2).tolist() == [False, False, True, True]


def test_figure_one_keeps_all_thirty():
    """Published: 30 of 30 at 0.05 and 0.5 for nine useful features. The margin: 2 x the first score
    must reach 0.125 nats; it is 0.1 or more in every problem drawn."""
    for number in range(2):
        X, y, _ = figure1_problem(9, number, seed=0)
        X, _, y, _ = train_test_split(X, y, random_state=number)
        path = released_code.published_path(X, y, 3)
        assert released_code.sizes_in_sequence(path, (0.05, 0.5)) == [30, 30]


def test_figure_two_as_published():
    """Published: 14.98, 12.90, 9.14, 5.26 and 1.00 features at 0.05, 1, 2, 3 and 4; the published
    run drew other problems of the same kind (7.06 useful columns in the mean; 6.94 in the published
    tables, 6.9 in those that are drawn where there are none)."""
    deltas = (0.05, 0.5, 1.0, 1.25, 1.5, 1.75, 2.0, 2.25, 2.5, 2.75, 3.0, 4.0)
    sizes, alone = [], []
    for number in range(50):
        X, y, _ = figure2_problem(number, seed=0)
        X, _, y, _ = train_test_split(X, y, random_state=number)
        path = released_code.published_path(X, y, 3)
        sizes.append(released_code.sizes_in_sequence(path, deltas))
        alone.append(released_code.size_by_error(path, 1.0))
    mean = dict(zip(deltas, np.mean(sizes, axis=0), strict=True))
    assert mean[0.05] >= 14.9
    assert 12.0 <= np.mean(alone) <= 13.0
    # Seeded. Within one feature of the published curve, which falls by fourteen.
    for delta, published in ((1.0, 12.9), (2.0, 9.14), (3.0, 5.26), (4.0, 1.0)):
        assert mean[delta] == pytest.approx(published, abs=1.0)


def test_numbers_have_the_printed_constant():
    path = path_of(0.1, 0.1, 0.1)
    # 2 * 25 * (0.1, 0.2, 0.3) = 5, 10, 15; the sum that reaches the budget stops.
    sizes = [released_code.size_by_error(path, delta, 5.0) for delta in (4.9, 5.0, 9.0, 20.0)]
    assert sizes == [4, 4, 3, 1]
    assert released_code.sizes_in_sequence(path, (4.9, 12.0), 5.0) == [4, 3]
    assert released_code.claimed_error(0.02) == pytest.approx(0.2)
