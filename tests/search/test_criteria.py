"""Criteria against the slow twin, and the identities they must obey."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from oracles import criteria as oracle
from pinsker.engine import CountTables, PackedColumns
from pinsker.exceptions import ParameterError
from pinsker.search import (
    CRITERIA,
    ROUNDING,
    CriterionSearch,
    Trace,
    criterion_named,
    greedy,
    select_by_criterion,
)

# Scores are sums of at most some thirty informations below 10 nats, each within 1e-15.
CLOSE = 1e-12


def draw(seed, n_rows=150, n_columns=7, n_categories=3, n_classes=3):
    """Columns that tell of the class, repeat each other, or say nothing."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, n_classes, n_rows)
    hints = (labels[:, None] + rng.integers(0, n_categories, (n_rows, n_columns))) % n_categories
    noise = rng.integers(0, n_categories, (n_rows, n_columns))
    codes = np.where(rng.random((n_rows, n_columns)) < rng.random(n_columns), hints, noise)
    codes[:, -1] = (codes[:, 0] + (rng.random(n_rows) < 0.1)) % n_categories
    return codes, labels


class OneStep:
    """A state with given scores."""

    information = 0.0

    def __init__(self, scores):
        self.given, self.added = np.asarray(scores, dtype=float), []

    def scores(self):
        return self.given

    def add(self, column):
        self.added.append(column)


def best_of(scores):
    """Return the candidate that the loop picks."""
    state = OneStep(scores)
    greedy(state, Trace((), [0.0]), "forward", 1)
    return state.added[0]


@pytest.mark.parametrize("name", CRITERIA)
@pytest.mark.parametrize("correction", ["none", "miller-madow", "grassberger"])
def test_every_score_equals_the_oracle(name, correction, seed):
    codes, labels = draw(seed, n_rows=90, n_columns=6)
    tables = CountTables.of(PackedColumns.of(codes), labels, correction=correction)
    search = CriterionSearch(tables, criterion_named(name, beta=0.6, gamma=0.3))
    got, order = [], []
    for _ in range(4):
        got.append(search.scores())
        order.append(best_of(got[-1]))
        search.add(order[-1])
    sample = oracle.Sample(codes, labels, correction=correction)
    want = oracle.scores_along(sample, name, order, beta=0.6, gamma=0.3)
    assert_allclose(got, want, rtol=1e-9, atol=CLOSE)


@pytest.mark.parametrize("name", CRITERIA)
def test_weighted_scores_equal_the_oracle(name, seed):
    codes, labels = draw(seed, n_rows=80, n_columns=5)
    rng = np.random.default_rng(seed + 1)
    weights = rng.exponential(size=80) * (rng.random(80) < 0.7)
    path = select_by_criterion(codes, labels, name, 4, sample_weight=weights)
    sample = oracle.Sample(codes, labels, weights)
    want = oracle.scores_along(sample, name, path.order)
    assert_allclose(path.scores, np.nanmax(want, axis=1), rtol=1e-9, atol=CLOSE)
    assert_array_equal(path.order, [best_of(scores) for scores in want])


@pytest.mark.parametrize("name", CRITERIA)
def test_equal_weights_change_nothing(name, seed):
    codes, labels = draw(seed)
    plain = select_by_criterion(codes, labels, name, 5)
    weighted = select_by_criterion(codes, labels, name, 5, sample_weight=np.full(150, 0.3))
    assert_array_equal(weighted.order, plain.order)
    assert_allclose(weighted.scores, plain.scores, rtol=1e-9, atol=CLOSE)


@pytest.mark.parametrize("name", CRITERIA)
def test_permutations_change_nothing(name, seed):
    codes, labels = draw(seed, n_categories=4)
    rng = np.random.default_rng(seed + 2)
    rows, columns = rng.permutation(len(labels)), rng.permutation(codes.shape[1])
    want = select_by_criterion(codes, labels, name)
    by_rows = select_by_criterion(codes[rows], labels[rows], name)
    assert_array_equal(by_rows.order, want.order)
    assert_array_equal(by_rows.scores, want.scores)
    by_columns = select_by_criterion(codes[:, columns], labels, name)
    assert_array_equal(columns[by_columns.order], want.order)
    assert_allclose(by_columns.scores, want.scores, rtol=1e-9, atol=CLOSE)


@pytest.mark.parametrize("name", CRITERIA)
def test_threads_and_memory_order_change_nothing(name, seed):
    codes, labels = draw(seed)
    want = select_by_criterion(codes, labels, name)
    got = select_by_criterion(np.asfortranarray(codes.astype(np.uint8)), labels, name, n_threads=4)
    assert_array_equal(got.order, want.order)
    assert_array_equal(got.scores, want.scores)


@settings(max_examples=60)
@given(seed=st.integers(0, 10**6), n_rows=st.integers(2, 60), n_categories=st.integers(1, 6))
def test_a_duplicate_of_a_chosen_feature_gains_exactly_nothing(seed, n_rows, n_categories):
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, n_categories, (n_rows, 3))
    labels = rng.integers(0, 3, n_rows)
    renamed = rng.permutation(n_categories)[codes[:, 0]]
    tables = CountTables.of(PackedColumns.of(np.column_stack([codes, renamed])), labels)
    for name in ("cmi", "cmim", "cmim-brown"):
        search = CriterionSearch(tables, criterion_named(name))
        search.add(0)
        assert search.scores()[3] == 0.0
    # JMI's gain is I(X,W;Y) - I(W;Y): no more than the chosen feature had on its own.
    search = CriterionSearch(tables, criterion_named("jmi"))
    search.add(0)
    assert search.scores()[3] == search.relevance[0]


def test_constants_carry_nothing():
    codes, labels = draw(0)
    codes[:, 2] = 0
    for correction in ("none", "miller-madow", "grassberger"):
        for name in ("mim", "mifs", "mrmr", "cife", "icap", "condred", "cmim"):
            search = CriterionSearch(
                CountTables.of(PackedColumns.of(codes), labels, correction=correction),
                criterion_named(name),
            )
            assert search.scores()[2] == 0.0
            search.add(0)
            # The table (constant, W) is the table of W: every term cancels to the last bit.
            assert search.scores()[2] == 0.0


def test_quotient_without_redundancy_follows_relevance():
    grid = np.arange(16)
    codes = np.column_stack([grid % 2, grid // 2 % 2, grid // 4 % 2])
    labels = codes[:, 0] + (codes[:, 1] & codes[:, 2])
    path = select_by_criterion(codes, labels, "mrmr-quotient")
    assert path.order.tolist() == [0, 1, 2]
    assert np.isfinite(path.scores).all()


def test_cmi_ends_when_nothing_is_left_to_gain():
    codes, _ = draw(1)
    path = select_by_criterion(codes, codes[:, 1], "cmi", 5)
    assert path.order.tolist() == [1]


def test_xor_needs_a_joint_criterion():
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 2, (400, 6))
    labels = codes[:, 4] ^ codes[:, 5]
    codes[:, 3] = np.where(rng.random(400) < 0.8, codes[:, 4], codes[:, 3])
    # Nothing tells of the class on its own; once 4 is in, 5 tells everything.
    path = select_by_criterion(codes, labels, "cmi", 2, fixed=[4])
    assert path.order.tolist() == [4, 5]
    assert path.scores[1] == pytest.approx(np.log(2), abs=0.02)  # H of 400 fair bits


def test_fixed_columns_come_first_the_best_of_them_before_the_others():
    codes, labels = draw(3)
    relevance = select_by_criterion(codes, labels, "mim", 1).relevance
    worst = np.argsort(relevance)[:2]
    path = select_by_criterion(codes, labels, "jmi", 4, fixed=worst.tolist())
    assert path.order[:2].tolist() == worst[::-1].tolist()
    assert path.scores[0] == relevance[worst[1]]


def test_tied_scores_go_to_the_lowest_index():
    assert best_of([np.nan, 0.5, 0.5 + ROUNDING / 2]) == 1
    assert best_of([np.nan, 0.5, 0.5 + ROUNDING * 2]) == 2
    assert best_of([3e9, 3e9 * (1 + ROUNDING / 2)]) == 0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"criterion": "jim"}, r"criterion='jim' is not known: use one of mim, mifs"),
        ({"k": 0}, r"k=0 but the table has 7 columns"),
        ({"k": 8}, r"k=8 but the table has 7 columns"),
        ({"fixed": [7]}, r"fixed names column 7 but the table has 7 columns"),
        ({"fixed": [0, 1], "k": 1}, r"k=1 is less than the 2 columns that fixed names"),
    ],
)
def test_parameters_that_make_no_sense(options, message):
    codes, labels = draw(0)
    with pytest.raises(ParameterError, match=message):
        select_by_criterion(codes, labels, **options)


def test_every_name_is_known():
    assert len(set(CRITERIA)) == 16
    for name in CRITERIA:
        criterion_named(name)
