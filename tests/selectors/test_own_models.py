"""Models of a user, fitted to the user's own columns as they came."""

from typing import ClassVar

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from pinsker import FeatureSelector, audit
from pinsker.exceptions import DataWarning, ParameterError

FAST = {"searches": ["relevance"], "cv": 3, "random_state": 0}


def mixed(n=150, seed=0):
    """Return a frame of several dtypes with missing values, and named classes."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "size": rng.normal(size=n),
            "color": rng.choice(["red", "green", "blue"], size=n),
            "grade": pd.Categorical(rng.choice(["a", "b"], size=n)),
            "noise": rng.normal(size=n).astype(np.float32),
            "count": rng.poisson(3, size=n),
        }
    )
    frame.loc[frame.index % 10 == 3, "noise"] = np.nan
    chance = 1 / (1 + np.exp(-(2.5 * frame["size"] + 2.0 * (frame["color"] == "red") - 0.7)))
    return frame, np.where(rng.random(n) < chance, "yes", "no")


class Spy:
    """A class with nothing but fit and predict that keeps what it was given."""

    seen: ClassVar = []

    def fit(self, X, y):
        Spy.seen.append((X, y))
        self.most = pd.Series(y).mode()[0]
        self.other = next(iter(set(y) - {self.most}))
        return self

    def predict(self, X):
        column = X["size"] if "size" in X else X.iloc[:, 0].eq("nothing")
        return np.where(column > 0, "yes", "no")


@pytest.fixture
def spied():
    Spy.seen = []
    frame, y = mixed()
    frame.index = np.arange(1000, 1150)
    selector = FeatureSelector(0.05, models=[Spy()], missing="category", **FAST).fit(frame, y)
    return frame, y, selector, list(Spy.seen)


def test_the_model_sees_exactly_the_original_columns_of_a_subset(spied):
    frame, y, selector, seen = spied
    subsets = {tuple(X.columns) for X, _ in seen}
    assert tuple(frame.columns) in subsets
    assert any(len(subset) < 5 for subset in subsets)
    for X, target in seen:
        assert isinstance(X, pd.DataFrame)
        assert set(target) <= {"yes", "no"}
        assert X.dtypes.equals(frame[list(X.columns)].dtypes)
        pd.testing.assert_frame_equal(X, frame.loc[X.index, list(X.columns)])
        np.testing.assert_array_equal(target, y[frame.index.get_indexer(X.index)])
    assert selector.support_[0]


def test_a_model_that_only_predicts_cannot_be_scored_by_ranks():
    with pytest.raises(ParameterError, match="'roc_auc' needs scores, but model 'Spy' has neither"):
        FeatureSelector(0.05, metric="roc_auc", models=[Spy()], missing="category", **FAST).fit(
            *mixed()
        )


def test_arrays_are_taken_by_position_and_groups_as_a_whole():
    class Widths(LogisticRegression):
        seen: ClassVar = []

        def fit(self, X, y):
            Widths.seen.append(X)
            return super().fit(X, y)

    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 4)) * [1, 10, 100, 1000]
    groups = {"pair": [0, 3], "b": [1], "c": [2]}
    y = (X[:, 0] + 0.3 * rng.normal(size=120) > 0).astype(int)
    FeatureSelector(0.05, models=[Widths()], feature_groups=groups, **FAST).fit(X, y)
    assert {part.shape[1] for part in Widths.seen} >= {2, 4}
    pairs = [part for part in Widths.seen if part.shape[1] == 2]
    assert any((part.std(axis=0) > [0.5, 500]).all() for part in pairs)


def pipelines():
    encode = make_column_transformer(
        (
            OneHotEncoder(handle_unknown="ignore", sparse_output=False),
            make_column_selector(dtype_exclude="number"),
        ),
        remainder="passthrough",
    )
    boosted = HistGradientBoostingClassifier(max_iter=4, min_samples_leaf=5)
    return [
        make_pipeline(encode, boosted),
        make_pipeline(
            make_column_transformer(
                (
                    OneHotEncoder(handle_unknown="ignore"),
                    make_column_selector(dtype_exclude="number"),
                ),
                (StandardScaler(), ["count"]),
            ),
            LogisticRegression(),
        ),
    ]


def test_a_pipeline_that_selects_by_kind_works_in_fit_certify_and_audit():
    frame, y = mixed(n=120)
    model = pipelines()[0]
    selector = FeatureSelector(0.1, models=[model], missing="category", **FAST).fit(frame, y)
    assert selector.certificate_.model_kept == "Pipeline"
    fresh = mixed(n=120, seed=1)
    assert selector.certify(*fresh).model_all == "Pipeline"
    assert audit(selector, model, *fresh).model == "Pipeline"


def test_a_pipeline_that_names_a_dropped_column_gets_a_clear_error():
    frame, y = mixed()
    with pytest.raises(ParameterError, match=r"select columns by kind \(make_column_selector\)"):
        FeatureSelector(0.05, models=[pipelines()[1]], missing="category", **FAST).fit(
            frame[["count", "size", "color"]], y
        )


class Copied(LogisticRegression):
    """Changes a parameter as it takes it, so that scikit-learn cannot clone it (CatBoost)."""

    def __init__(self, columns=("size",)):
        super().__init__()
        self.columns = list(columns)


class OwnError(Exception):
    """An error of a library of its own."""


class Numbers(ClassifierMixin, BaseEstimator):
    """Takes numbers, and classes 0, 1, ... alone (XGBoost)."""

    def fit(self, X, y):
        if not np.array_equal(np.unique(y), np.arange(len(np.unique(y)))):
            raise ValueError(f"Invalid classes: {np.unique(y)}")
        if any(dtype.kind not in "fiub" for dtype in getattr(X, "dtypes", [])):
            raise OwnError("no cat_features")
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return np.repeat(self.classes_[:1], len(X))


def test_a_model_that_cannot_be_cloned_is_copied():
    frame, y = mixed()
    numbers = frame[["size", "count"]]
    selector = FeatureSelector(0.1, models=[Copied()], **FAST).fit(numbers, y)
    assert selector.certificate_.model_kept == "Copied"


def test_errors_of_other_libraries_are_seen_as_errors_of_the_columns():
    frame, y = mixed()
    given = {"models": [Numbers()], "missing": "category", **FAST}
    with pytest.warns(
        DataWarning, match=r"cannot take .* \(no cat_features\): it gets text one-hot"
    ):
        FeatureSelector(0.1, **given).fit(frame, (y == "yes").astype(int))
    with pytest.raises(
        ParameterError, match=r"takes classes 0, 1, \.\.\. alone, but found 'no', 'y"
    ):
        FeatureSelector(0.1, **given).fit(frame[["size", "count"]], y)


def test_lightgbm_takes_categories_and_missing_values_as_they_are():
    lightgbm = pytest.importorskip("lightgbm")
    frame, y = mixed(n=200)
    frame["color"] = frame["color"].astype("category")
    model = lightgbm.LGBMClassifier(n_estimators=10, verbose=-1, n_jobs=1)
    selector = FeatureSelector(0.1, models=[model], missing="category", **FAST).fit(frame, y)
    assert selector.certificate_.model_kept == "LGBMClassifier"
    fresh, y_fresh = mixed(n=200, seed=1)
    fresh["color"] = fresh["color"].astype("category")
    assert audit(selector, model, fresh, y_fresh).model == "LGBMClassifier"
    given = {"sample_weight": np.arange(200) % 3 + 1.0, "metric": "roc_auc"}
    assert audit(selector, model, fresh, y_fresh, **given).error_all < 0.3


def test_a_forest_on_text_gets_a_default_encoding_and_says_so():
    frame, y = mixed()
    forest = RandomForestClassifier(n_estimators=3, random_state=0)
    with pytest.warns(DataWarning, match=r"cannot take these columns as they are .*one-hot"):
        selector = FeatureSelector(0.1, models=[forest], missing="category", **FAST).fit(frame, y)
    with pytest.warns(DataWarning, match="one-hot"):
        result = audit(selector, forest, *mixed(seed=1))
    assert result.model == "RandomForestClassifier"
    with pytest.raises(ParameterError, match=r"encodes text .* make_pipeline"):
        audit(selector, forest, frame.to_numpy(), y)


def test_a_model_gets_the_same_from_pandas_and_polars():
    frame, y = mixed()
    frame = frame.astype({"grade": str})
    results = []
    for table in (frame, pl.from_pandas(frame)):
        with pytest.warns(DataWarning, match="it gets text one-hot, and missing numbers filled"):
            selector = FeatureSelector(0.05, models=[LogisticRegression()], **FAST).fit(table, y)
        fresh, y_fresh = mixed(seed=1)
        fresh = fresh.astype({"grade": str})
        fresh = fresh if table is frame else pl.from_pandas(fresh)
        with pytest.warns(DataWarning, match="it gets text one-hot"):
            certificate = selector.certify(fresh, y_fresh)
        results.append((selector.support_.tolist(), selector.cv_results_["error"], certificate))
    (support, errors, certificate), (other_support, other_errors, other_certificate) = results
    assert support == other_support
    np.testing.assert_array_equal(errors, other_errors)
    assert certificate == other_certificate


def test_numbers_are_predicted_in_their_unit():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 3))
    y = 1000 + 50 * X[:, 0] + rng.normal(size=150)
    selector = FeatureSelector(5.0, metric="mae", models=[Ridge()], **FAST).fit(X, y)
    assert selector.get_support(indices=True).tolist() == [0]
    assert selector.certificate_.error_kept < 2


def test_a_class_that_is_no_model_is_refused():
    X, y = np.zeros((30, 2)), np.arange(30) % 2
    X[:, 0] = np.arange(30)
    for wrong in (LogisticRegression, "woods", object()):
        with pytest.raises(ParameterError, match=r"has no fit and predict|is unknown"):
            FeatureSelector(models=[wrong], **FAST).fit(X, y)
    with pytest.raises(ParameterError, match="is no classifier"):
        FeatureSelector(models=[Ridge()], **FAST).fit(X, y)


class CatModel(ClassifierMixin, BaseEstimator):
    """Refuses names in `cat_features` that are not among the columns, as CatBoost does."""

    def __init__(self, cat_features=None):
        self.cat_features = cat_features

    def fit(self, X, y):
        absent = set(self.cat_features) - set(X.columns)
        if absent:
            raise ValueError(f"no feature {absent}")
        self.classes_, counts = np.unique(y, return_counts=True)
        self.most_ = self.classes_[counts.argmax()]
        return self

    def predict(self, X):
        return np.full(len(X), self.most_)


def test_lists_of_categorical_columns_follow_the_sets():
    """CatBoost with cat_features=[names] was refused at the first set without one of them."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"a": rng.normal(size=200), "b": rng.choice(["x", "y"], 200)})
    X["c"] = X["b"].astype("category").cat.codes
    y = (X["a"] > 0).astype(int)
    models = [
        CatModel(["b"]),
        HistGradientBoostingClassifier(categorical_features=["c"], max_iter=5),
        HistGradientBoostingClassifier(categorical_features=[2], max_iter=5),
    ]
    for model in models:
        table = X if model is models[0] else X.drop(columns="b").assign(d=X["c"])
        settings = {"models": [model], "searches": ["linear"], "cv": 3, "random_state": 0}
        assert FeatureSelector(0.1, **settings).fit(table, y).certificate_.n_kept
        assert audit(["a"], model, table, y).n_kept == 1
