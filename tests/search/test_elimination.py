"""Recursive elimination by a regularised linear model."""

import numpy as np
import pandas as pd
import pytest

from oracles.elimination import eliminate
from pinsker import FeatureSelector
from pinsker.encoding import encode
from pinsker.models import Layout
from pinsker.search import KNNSearchSettings, elimination, named_searches, search_rows


def linear_problem(n_rows, n_columns, seed, n_classes=3):
    """The first columns are worth less and less; the others are noise."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, n_columns)) * rng.uniform(0.1, 10, n_columns)
    worth = np.maximum(2.0 - 0.4 * np.arange(n_columns), 0.0)
    signal = (X / X.std(axis=0)) @ worth + 0.3 * rng.normal(size=n_rows)
    cuts = np.quantile(signal, np.arange(1, n_classes) / n_classes)
    return X, signal, np.searchsorted(cuts, signal)


@pytest.mark.parametrize("number", range(4))
@pytest.mark.parametrize("n_rows", [60, 7])
def test_the_order_is_that_of_a_slow_twin(n_rows, number):
    X, numbers, classes = linear_problem(n_rows, 9, number)
    found = elimination(encode(X, numbers, scale="standard", task="regression"))
    assert list(found.order) == eliminate(X, numbers, classes=False)
    found = elimination(encode(X, classes, scale="standard", task="classification"))
    assert list(found.order) == eliminate(X, classes, classes=True)


@pytest.mark.parametrize("n_rows", [100, 400])
def test_columns_that_matter_come_first_in_a_wide_table(n_rows):
    X, numbers, classes = linear_problem(n_rows, 300, 1, n_classes=2)
    for target in (numbers, classes):
        path = elimination(encode(X, target))
        assert sorted(path.order) == list(range(300))
        assert set(path.order[:2]) <= {0, 1, 2}
        assert path.direction == "forward"
        assert path.complete


def test_indicators_of_many_categories_are_never_all_there_at_once(monkeypatch):
    # 1900 rows of 200 columns of 1500 categories took 1.5 GB; in parts the order is the same.
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 100, size=(300, 40))
    y = (codes[:, 3] < 50).astype(int)
    X = pd.DataFrame({f"c{j}": codes[:, j].astype(str) for j in range(40)}).assign(z=codes[:, 0])
    whole = elimination(encode(X, y)).order
    expanded, plain = [], Layout.expand

    def expand(self, rows, columns):
        expanded.append(plain(self, rows, columns))
        return expanded[-1]

    monkeypatch.setattr(Layout, "expand", expand)
    monkeypatch.setattr("pinsker.search._elimination._BYTES_OF_PART", 300 * 8 * 500)
    assert elimination(encode(X, y)).order == whole
    assert sum(part.shape[1] for part in expanded) > 3500
    assert max(part.shape[1] for part in expanded) <= 600
    assert whole[0] == 3


def test_mostly_zero_columns_are_held_sparse_and_ordered_alike():
    rng = np.random.default_rng(0)
    X = rng.poisson(0.05, size=(300, 40)).astype(float)
    y = (X[:, :5].sum(axis=1) > 0).astype(int)
    sparse_order = elimination(encode(X, y)).order
    assert set(sparse_order[:5]) == set(range(5))
    moved = X.copy()
    moved[:, 20:] += 7.0  # the value that fills a column need not be zero
    assert elimination(encode(moved, y)).order == sparse_order


def test_constant_columns_leave_first():
    X, numbers, classes = linear_problem(50, 6, 3)
    X[:, 0], X[:, 4] = 5.0, -1.0
    for target in (numbers, classes):
        assert elimination(encode(X, target)).order[-2:] == (0, 4)
    assert elimination(encode(np.ones((20, 3)), np.arange(20) % 2)).order == (0, 1, 2)


def test_fixed_features_stay_in_the_model_and_come_first():
    X, _, classes = linear_problem(200, 12, 4)
    X[:, 1] = X[:, 0] + 0.01 * X[:, 1]
    free, held = elimination(encode(X, classes)), elimination(encode(X, classes), fixed=(9, 0))
    assert held.order[:2] == (9, 0)
    assert held.n_fixed == 2
    assert sorted(held.order) == list(range(12))
    assert 1 in free.order[:4]
    assert elimination(encode(X, classes), fixed=range(12)).order == tuple(range(12))


def test_categories_and_gaps_leave_as_one():
    rng = np.random.default_rng(5)
    kind = rng.choice(list("abcd"), 300)
    table = pd.DataFrame({"noise": rng.normal(size=300), "kind": kind, "gap": rng.normal(size=300)})
    y = np.isin(kind, ["a", "c"]) ^ (rng.random(300) < 0.05)
    table.loc[rng.random(300) < 0.3, "gap"] = np.nan
    path = elimination(encode(table, y, missing="auto"))
    assert path.names[path.order[0]] == "kind"
    assert sorted(path.order) == [0, 1, 2]


def test_groups_of_columns_leave_as_one():
    X, _, classes = linear_problem(300, 8, 6)
    grouped = encode(X, classes, feature_groups={"first": [0, 1], "last": [6, 7]})
    path = elimination(grouped)
    assert path.names[path.order[0]] == "first"
    assert sorted(path.order) == list(range(6))


def test_rows_of_weight_k_count_k_times():
    X, numbers, classes = linear_problem(40, 6, 7)
    weights = np.random.default_rng(7).integers(1, 4, 40)
    rows = np.repeat(np.arange(40), weights)
    for target in (numbers, classes):
        weighted = encode(X, target, scale="standard", sample_weight=weights)
        repeated = encode(X[rows], target[rows], scale="standard")
        assert elimination(weighted).order == elimination(repeated).order


def test_several_targets_and_survival_are_ordered():
    X, numbers, _ = linear_problem(150, 6, 8)
    both = np.column_stack([numbers, 1000.0 * X[:, 5]])
    assert set(elimination(encode(X, both)).order[:2]) == {0, 5}


def test_the_front_door_takes_it_by_name():
    X, _, classes = linear_problem(150, 130, 9, n_classes=2)
    _, (search,) = named_searches(["elimination"], encode(X, classes), KNNSearchSettings())
    assert len(search_rows(encode(X, classes), search)[0].order) == 130
    selector = FeatureSelector(0.1, searches=["elimination"], cv=3, random_state=0).fit(X, classes)
    assert selector.path_.n_features == 130
    assert 0 in selector.get_support(indices=True)
    assert len(selector.path_.order) == 130
    assert np.isnan(selector.path_.information[101:]).all()  # sets that were not measured
    assert np.isnan(selector.path_.bounds[101:]).all()
    assert "nan" not in selector._repr_html_()
    assert selector.support_at(error_budget=0.05).sum() >= selector.get_support().sum()
