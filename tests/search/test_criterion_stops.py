"""Where a search by criterion ends: counts, scores, budgets, chance."""

import numpy as np
import pytest
from scipy.stats import binom
from sklearn.datasets import load_breast_cancer

import pinsker
from pinsker.exceptions import DataError, ParameterError
from pinsker.search import (
    CountedPath,
    ErrorBudget,
    FeatureCount,
    PermutationTest,
    ScoreThreshold,
    SelectionPath,
)
from pinsker.selectors import CriterionSelection


def noisy_votes(n_rows=3000, n_noise=3, seed=0):
    """Three bits vote for the class, nine times out of ten; the other columns are noise."""
    rng = np.random.default_rng(seed)
    bits = rng.integers(0, 2, (n_rows, 3))
    wrong = rng.random(n_rows) < 0.1
    y = (bits.sum(axis=1) > 1) ^ wrong
    return np.column_stack([bits, rng.integers(0, 2, (n_rows, n_noise))]), y.astype(int)


def test_a_score_threshold_ends_the_search():
    X, y = noisy_votes()
    selector = CriterionSelection("cmi", stop=ScoreThreshold(0.02)).fit(X, y)
    assert selector.get_support(indices=True).tolist() == [0, 1, 2]
    assert len(selector.path_.moves) == 4  # the one that failed is on the path, and none after it


def test_the_information_of_the_chosen_set_is_counted():
    X, y = noisy_votes()
    path = CriterionSelection("mrmr").fit(X, y).path_
    for size in range(1, 7):
        columns = X[:, list(path.set_at(size))]
        want = pinsker.mutual_information(
            columns, y, method="discrete", correction="none", categorical_features=True
        )
        assert path.information_at(size) == pytest.approx(want, abs=1e-12)
    assert path.n_counted == 6


def test_an_error_budget_on_a_table_that_is_filled():
    X, y = noisy_votes()
    selector = CriterionSelection("cmi", stop=ErrorBudget(0.1)).fit(X, y)
    assert selector.get_support(indices=True).tolist() == [0, 1, 2]
    assert selector.certificate_.bound <= 0.1
    assert selector.certificate_.rows == "those of the search itself: counts of binned columns"
    assert selector.certificate_.verdict == "not tested"
    # 64 cells of noise cost (64 - 8)/2n nats, about .01; a budget of 1 % error allows .0002.
    assert selector.support_at(error_budget=0.01).sum() > 3


def test_cells_that_are_not_filled_are_not_counted():
    X, y = load_breast_cancer(return_X_y=True)
    selector = CriterionSelection("jmi", 6).fit(X, y)
    path = selector.path_
    assert path.n_counted == 4
    occupied = [len(np.unique(selector.binning_.codes[:, path.order[:s]], axis=0)) for s in (4, 5)]
    assert 569 / occupied[0] >= 5 > 569 / occupied[1]
    assert path.information[5:] == (path.information[4],) * 2
    assert any("sets of more than 4 features is not counted" in n for n in selector.notes_)
    entropy = -sum(p * np.log(p) for p in np.bincount(y) / len(y))
    assert path.full_information == pytest.approx(entropy, abs=1e-12)
    assert "losses against the target's entropy" in selector.certificate_.rows
    assert selector.certificate_.information_lost == pytest.approx(
        entropy - path.information[4], abs=1e-12
    )


def test_a_budget_that_counting_cannot_check_is_refused():
    X, y = load_breast_cancer(return_X_y=True)
    message = r"cannot be checked by counting: with more than 4 features the rows do not fill"
    with pytest.raises(DataError, match=message):
        CriterionSelection("jmi", stop=ErrorBudget(0.05)).fit(X, y)
    with pytest.raises(DataError, match=message):
        CriterionSelection("jmi").fit(X, y).support_at(error_budget=ErrorBudget(0.05))


def test_a_budget_met_before_cells_run_empty_is_accepted():
    rng = np.random.default_rng(1)
    X = rng.integers(0, 5, (300, 20))
    y = (X[:, 7] > 1).astype(int)
    selector = CriterionSelection("cmim", stop=ErrorBudget(0.02)).fit(X, y)
    assert selector.get_support(indices=True).tolist() == [7]
    assert selector.certificate_.information_lost == pytest.approx(0.0, abs=1e-12)


def test_counts_of_features_end_the_search_there():
    X, y = noisy_votes()
    selector = CriterionSelection("jmi", stop=FeatureCount(2)).fit(X, y)
    assert len(selector.path_.moves) == 2


def test_the_permutation_test_keeps_what_chance_does_not_explain():
    X, y = noisy_votes(n_rows=600, n_noise=20)
    for criterion in ("jmi", "mrmr", "cmim"):
        selector = CriterionSelection(criterion, stop=PermutationTest()).fit(X, y)
        assert selector.get_support(indices=True).tolist() == [0, 1, 2]
        path = selector.path_
        assert len(path.p_values) == len(path.moves) == 4
        assert path.p_values[:3] == (0.01,) * 3
        assert path.p_values[3] > 0.05
    assert CountedPath.from_json(path.to_json()) == path


def test_the_permutation_test_lets_noise_in_as_seldom_as_it_says():
    level, n_runs = 0.1, 120
    wrong = 0
    for seed in range(n_runs):
        rng = np.random.default_rng(seed)
        X, y = rng.integers(0, 4, (60, 8)), rng.integers(0, 2, 60)
        rule = PermutationTest(level, n_permutations=9, seed=seed)
        path = CriterionSelection("jmi", stop=rule).fit(X, y).path_
        wrong += path.p_values[0] <= level
    # The test is exact: a rate above 1 in 10 would show up as more than this but once in a million.
    assert 0 < wrong <= binom.isf(1e-6, n_runs, level)


def test_features_that_must_stay_are_not_tested():
    X, y = noisy_votes(n_rows=300, n_noise=4)
    rule = PermutationTest(n_permutations=19)
    selector = CriterionSelection("jmi", stop=rule, fixed_features=[5]).fit(X, y)
    assert selector.support_[5]
    assert selector.support_[:3].all()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"level": 0.0}, r"level=0.0 is not between 0 and 1"),
        ({"n_permutations": 0}, r"n_permutations=0 is not an integer"),
        ({"n_permutations": 10}, r"at least 0.0909, so none is below level=0.05: use "),
    ],
)
def test_permutation_tests_that_make_no_sense(options, message):
    with pytest.raises(ParameterError, match=message):
        PermutationTest(**options)


def test_a_path_without_p_values_is_not_tested():
    path = SelectionPath("forward", ("a",), (0,), (0.5,), (0.0, 0.5))
    with pytest.raises(
        ParameterError, match=r"PermutationTest reads p-values, and this path has none"
    ):
        PermutationTest().size(path)
