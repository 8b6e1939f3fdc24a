"""Tables with missing values, as they come: the default of the front door."""

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression

from pinsker import FeatureCount, FeatureSelector, ForwardSelection, LinearSelection
from pinsker.exceptions import DataError


def scattered(n_rows=240, seed=0):
    """Return columns with gaps of which two matter, and classes without a gap."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 4))
    y = np.where(X[:, 0] + X[:, 1] > 0, "yes", "no").astype(object)
    frame = pd.DataFrame(X, columns=list("abcd"))
    frame["city"] = rng.choice(["Rome", "Bonn", None], n_rows)
    frame[["a", "c"]] = frame[["a", "c"]].mask(rng.random((n_rows, 2)) < 0.1)
    return frame, y


def test_a_table_with_gaps_is_taken_as_it_is():
    X, y = scattered()
    y[[3, 7]] = None
    selector = FeatureSelector(0.1, random_state=0).fit(X, y)
    assert set(selector.get_feature_names_out()) == {"a", "b"}
    assert selector.certificate_.n_rows == 238
    assert str(selector.notes_[0]) == "2 of 240 rows have no target and were left out"
    assert str(selector.notes_[1]).startswith(
        "missing values count as a value of their own: 'city' ("
    )
    pd.testing.assert_frame_equal(
        selector.set_output(transform="pandas").transform(X), X[["a", "b"]]
    )


def test_dtypes_with_missing_values_of_their_own():
    X, y = scattered(120)
    y[5] = None
    kinds = {"cv": 3, "random_state": 0, "models": ["linear"], "searches": ["linear"]}
    plain = FeatureSelector(0.1, **kinds).fit(X, y)
    nullable = FeatureSelector(0.1, **kinds).fit(X.convert_dtypes(), pd.Series(y).convert_dtypes())
    np.testing.assert_array_equal(plain.support_, nullable.support_)
    assert plain.certificate_.increase_upper == nullable.certificate_.increase_upper


def test_rows_without_a_target_are_left_out_with_their_groups_and_weights():
    X, y = scattered(120)
    groups, weights = np.arange(120) // 4, np.ones(120)
    gone = np.array([5, 50])
    y[gone] = None
    rest = np.setdiff1d(np.arange(120), gone)
    kinds = {"cv": 3, "random_state": 0, "models": ["linear"], "searches": ["linear"]}
    all_rows = FeatureSelector(0.1, **kinds).fit(X, y, groups=groups, sample_weight=weights)
    some = FeatureSelector(0.1, **kinds).fit(
        X.iloc[rest], y[rest], groups=groups[rest], sample_weight=weights[rest]
    )
    assert all_rows.certificate_.increase_upper == some.certificate_.increase_upper
    np.testing.assert_array_equal(all_rows.support_, some.support_)


def telling(n_rows=300, seed=1):
    """Return a column whose values say nothing and whose gaps say much, beside noise."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n_rows)
    X = rng.normal(size=(n_rows, 4))
    X[rng.random(n_rows) < np.where(y == 1, 0.85, 0.1), 2] = np.nan
    return X, y


@pytest.mark.parametrize("models", ["auto", ["linear"], ["boosted trees"]])
def test_a_column_whose_gaps_tell_the_target_is_kept(models):
    X, y = telling()
    selector = FeatureSelector(0.05, models=models, random_state=0).fit(X, y)
    assert selector.get_support().tolist() == [False, False, True, False]
    assert selector.certificate_.error_kept < 0.2


@pytest.mark.parametrize(
    "model", [HistGradientBoostingClassifier(max_iter=20), LogisticRegression()]
)
@pytest.mark.filterwarnings("ignore:model 'own' cannot take:pinsker.exceptions.DataWarning")
def test_models_of_a_user_get_the_gaps_themselves_or_filled_and_marked(model):
    X, y = telling()
    frame = pd.DataFrame(X, columns=list("abcd"))
    selector = FeatureSelector(
        0.1, models=[("own", model)], searches=["linear"], cv=3, random_state=0
    ).fit(frame, y)
    assert selector.get_feature_names_out().tolist() == ["c"]


def test_the_same_bits_where_nothing_is_missing():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(150, 4))
    y = X[:, 0] + 0.3 * rng.normal(size=150)
    auto, error = (FeatureSelector(missing=m, random_state=0).fit(X, y) for m in ("auto", "error"))
    assert auto.certificate_ == error.certificate_
    assert auto.notes_ == error.notes_
    np.testing.assert_array_equal(auto.cv_results_["error"], error.cv_results_["error"])


def test_a_single_search_refuses_gaps_unless_it_may_use_them():
    X, y = telling(80)
    with pytest.raises(DataError, match="contains NaN: column 'x2' has missing values"):
        ForwardSelection().fit(X, y)
    assert ForwardSelection(missing="auto").fit(X, y).path_.order[0] == 2


def test_a_linear_search_marks_what_is_missing():
    X, y = telling(120)
    path = LinearSelection(missing="auto", categorical_features="none").fit(X, y).path_
    assert path.order[0] == 2
    filled = np.where(np.isnan(X), np.nanmean(X[:, 2]), X)
    design = np.column_stack([np.ones(120), filled, np.isnan(X[:, 2])])
    left = y - design @ np.linalg.lstsq(design, y, rcond=None)[0]
    share = np.square(left).sum() / np.square(y - y.mean()).sum()
    assert path.information[0] == pytest.approx(-0.5 * np.log(share), abs=1e-9)


def test_gaps_go_back_with_their_columns():
    """scikit-learn's own refuses them: "Input contains NaN", and of pd.NA "is ambiguous"."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(100, 3)), columns=list("abc"))
    X.loc[::7, "a"] = np.nan
    selector = LinearSelection(FeatureCount(1), missing="category").fit(X, X["a"].fillna(0) > 0)
    kept = selector.transform(X)
    assert list(kept.columns) == ["a"]
    plain = selector.inverse_transform(kept)
    np.testing.assert_array_equal(plain[:, 0], X["a"])
    assert not plain[:, 1:].any()
    cells = selector.inverse_transform(kept.astype(object).where(kept.notna(), pd.NA))
    assert cells[0, 0] is pd.NA
    assert cells[1, 0] == X["a"][1]
    X["b"] = pd.date_range("2020-01-01", periods=100)
    both = LinearSelection(FeatureCount(2), fixed_features=["b"], missing="category")
    back = both.fit(X, X["a"].fillna(0) > 0).inverse_transform(both.transform(X))
    assert back[1, 1] == X["b"][1]
    sparse = X[["a"]].fillna(1.0).astype(pd.SparseDtype(float, np.nan))  # its fill value is no 0
    selector = LinearSelection(FeatureCount(1)).fit(sparse, X["a"].fillna(0) > 0)
    np.testing.assert_array_equal(selector.inverse_transform(selector.transform(sparse)), sparse)
