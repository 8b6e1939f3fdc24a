"""Selectors among frames, pipelines, grid searches and metadata."""

from typing import get_type_hints

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.base import clone
from sklearn.datasets import load_wine
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from pinsker import EngineSettings, KNNSettings
from pinsker.selectors import (
    BackwardElimination,
    CriterionSelection,
    FeatureSelector,
    ForwardBackwardSelection,
    ForwardSelection,
    LinearSelection,
)

EVERY = pytest.mark.parametrize("kind", [BackwardElimination, ForwardSelection, LinearSelection])
LIBRARIES = pytest.mark.parametrize("library", ["pandas", "polars"])


def mixed_frame(library, n=150):
    """Numbers, text, categories and booleans; colour and size decide the class."""
    pandas = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    colour = rng.choice(["red", "green", "blue"], size=n)
    size = rng.normal(size=n)
    y = np.where(colour == "red", "yes", np.where(size > 0, "yes", "no"))
    frame = pandas.DataFrame(
        {
            "noise": rng.normal(size=n),
            "colour": colour,
            "shape": pandas.Categorical(rng.choice(["round", "square"], size=n)),
            "size": size,
            "old": rng.random(size=n) > 0.5,
        }
    )
    if library == "polars":
        return pytest.importorskip("polars").from_pandas(frame), y
    return frame, y


@LIBRARIES
@EVERY
def test_frames_go_in_and_come_out_as_they_were(kind, library):
    frame, y = mixed_frame(library)
    selector = kind(0.05).fit(frame, y)
    small = selector.transform(frame)
    assert type(small) is type(frame)
    assert {"colour", "size"} <= set(small.columns)
    assert "noise" not in small.columns
    assert list(small.columns) == list(selector.get_feature_names_out())
    for column in small.columns:
        assert small[column].dtype == frame[column].dtype


@LIBRARIES
@pytest.mark.parametrize("asked", ["pandas", "polars"])
def test_set_output_is_followed(library, asked):
    frame, y = mixed_frame(library)
    selector = BackwardElimination().set_output(transform=asked).fit(frame, y)
    assert type(selector.transform(frame)).__module__.startswith(asked)
    values, labels = load_wine(return_X_y=True)
    small = BackwardElimination().set_output(transform=asked).fit(values, labels).transform(values)
    assert type(small).__module__.startswith(asked)


def test_index_of_a_frame_survives():
    frame, y = mixed_frame("pandas")
    frame.index = frame.index[::-1] + 1000
    small = BackwardElimination().fit(frame, y).transform(frame)
    assert small.index.equals(frame.index)


def test_arrays_stay_arrays_and_columns_must_match():
    X, y = load_wine(return_X_y=True)
    selector = BackwardElimination().fit(X, y)
    assert type(selector.transform(X)) is np.ndarray
    with pytest.raises(
        ValueError, match="X has 12 features, but BackwardElimination is expecting 13"
    ):
        selector.transform(X[:, :12])
    frame, labels = mixed_frame("pandas")
    fitted = BackwardElimination().fit(frame, labels)
    with pytest.raises(ValueError, match="feature names should match"):
        fitted.transform(frame.rename(columns={"colour": "other"}))


@LIBRARIES
def test_a_frame_with_the_kept_columns_is_enough(library):
    frame, y = mixed_frame(library)
    selector = BackwardElimination().fit(frame, y)
    small = selector.transform(frame)
    kept = list(small.columns)
    assert selector.transform(small).equals(small)
    # By name, whatever the order and whatever else is there.
    turned = selector.transform(small[kept[::-1]])
    assert list(turned.columns) == kept
    assert turned.equals(small)
    others = [name for name in frame.columns if name not in kept]
    more = selector.transform(frame[[others[0], *kept]])
    assert more.equals(small)


@LIBRARIES
def test_all_columns_in_another_order_are_refused(library):
    frame, y = mixed_frame(library)
    selector = BackwardElimination().fit(frame, y)
    with pytest.raises(ValueError, match="must be in the same order as they were in fit"):
        selector.transform(frame[list(frame.columns)[::-1]])


@LIBRARIES
def test_a_kept_column_that_is_missing_is_named(library):
    frame, y = mixed_frame(library)
    selector = BackwardElimination().fit(frame, y)
    small = selector.transform(frame)
    rest = [name for name in small.columns if name != "colour"]
    with pytest.raises(ValueError, match="or hold those that stay: 'colour' is missing"):
        selector.transform(small[rest])


def test_frames_without_text_for_names():
    X, y = load_wine(return_X_y=True)
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(X)
    selector = BackwardElimination().fit(frame, y)
    assert not hasattr(selector, "feature_names_in_")
    small = selector.transform(frame)
    assert list(small.columns) == np.flatnonzero(selector.support_).tolist()
    with pytest.raises(ValueError, match="X has 12 features, but"):
        selector.transform(frame.iloc[:, :12])


def test_missing_values_by_choice():
    frame, y = mixed_frame("pandas")
    frame.loc[:9, "size"] = np.nan
    with pytest.raises(ValueError, match="'size'"):
        BackwardElimination().fit(frame, y)
    for missing in ("drop", "category"):
        selector = BackwardElimination(missing=missing).fit(frame, y)
        assert len(selector.transform(frame)) == len(frame)


@EVERY
def test_grid_search_over_the_budget_in_a_pipeline(kind):
    X, y = load_wine(return_X_y=True)
    model = make_pipeline(StandardScaler(), kind(), SVC())
    name = f"{kind.__name__.lower()}__error_budget"
    search = GridSearchCV(model, {name: [0.05, 0.6]}, cv=3).fit(X, y)
    assert search.best_params_ == {name: 0.05}
    assert search.best_score_ > 0.8  # guessing the largest class: 0.4


KNN_KINDS = pytest.mark.parametrize(
    "kind", [BackwardElimination, ForwardSelection, ForwardBackwardSelection, FeatureSelector]
)


@KNN_KINDS
def test_parameters_reach_into_the_settings(kind):
    selector = kind()
    params = selector.get_params()
    assert params["knn"] is None
    assert params["knn__n_neighbors"] == 3
    assert params["engine"] == params["engine__name"] == "auto"
    assert params["engine__max_memory"] is None
    assert "knn__n_neighbors" not in selector.get_params(deep=False)
    selector.set_params(knn__n_neighbors=5, engine__max_memory=10**9, error_budget=0.2)
    assert selector.knn == KNNSettings(n_neighbors=5)
    assert selector.engine == EngineSettings(max_memory=10**9)
    assert selector.error_budget == 0.2
    # An object and a part of it: the part is set in the new object.
    selector.set_params(knn=KNNSettings(scale="none"), knn__n_neighbors=7)
    assert selector.knn == KNNSettings(n_neighbors=7, scale="none")
    selector.set_params(engine="local", engine__max_memory=10**8)
    assert selector.engine == EngineSettings("local", max_memory=10**8)


def test_types_of_parameters_can_be_read():
    for kind in (BackwardElimination, CriterionSelection, FeatureSelector, LinearSelection):
        assert {"return", *kind().get_params(deep=False)} == {*get_type_hints(kind.__init__)}


@KNN_KINDS
def test_clones_share_the_settings(kind):
    selector = kind(knn=KNNSettings(n_neighbors=5), engine=EngineSettings("local"))
    copied = clone(selector)
    assert copied.get_params() == selector.get_params()
    copied.set_params(knn__n_neighbors=9)
    assert selector.get_params()["knn__n_neighbors"] == 5  # frozen: the other keeps its own


@pytest.mark.parametrize("name", ["knn__neighbors", "engine__memory", "nonsense", "models__x"])
def test_parameters_that_do_not_exist(name):
    with pytest.raises((ValueError, AttributeError)):
        BackwardElimination().set_params(**{name: 1})


@pytest.mark.parametrize("kind", [LinearSelection, CriterionSelection])
def test_selectors_without_neighbors_have_no_such_settings(kind):
    assert not [name for name in kind().get_params() if name.startswith(("knn", "engine"))]
    with pytest.raises(ValueError, match="Invalid parameter 'knn'"):
        kind().set_params(knn__n_neighbors=5)


def test_grid_search_over_neighbors_and_memory():
    X, y = load_wine(return_X_y=True)
    model = make_pipeline(BackwardElimination(0.1), SVC())
    grid = {
        "backwardelimination__knn__n_neighbors": [3, 8],
        "backwardelimination__engine__max_memory": [10**8, None],
    }
    search = GridSearchCV(model, grid, cv=2).fit(X, y)
    chosen = search.best_estimator_[0]
    name = "backwardelimination__knn__n_neighbors"
    assert chosen.knn == KNNSettings(n_neighbors=search.best_params_[name])
    scores = search.cv_results_["mean_test_score"].reshape(2, 2)  # memory first
    np.testing.assert_array_equal(scores[0], scores[1])  # it changes no choice


def test_pipeline_names_its_features():
    X, y = load_wine(return_X_y=True, as_frame=True)
    model = make_pipeline(StandardScaler(), BackwardElimination(0.1)).set_output(transform="pandas")
    small = model.fit_transform(X, y)
    assert list(small.columns) == list(model.get_feature_names_out())


def test_metadata_routing_passes_by():
    X, y = load_wine(return_X_y=True)
    with sklearn.config_context(enable_metadata_routing=True):
        svm = SVC().set_fit_request(sample_weight=True)
        model = make_pipeline(
            StandardScaler().set_fit_request(sample_weight=True), BackwardElimination(0.1), svm
        )
        model.fit(X, y, sample_weight=np.ones(len(y)))
        assert model.score(X, y) > 0.8
        assert BackwardElimination().get_metadata_routing() is not None


def test_html_and_text_representation():
    assert repr(BackwardElimination(error_budget=0.1)) == "BackwardElimination(error_budget=0.1)"
    assert "BackwardElimination" in BackwardElimination()._repr_html_()


def test_a_wrong_engine_is_not_forgotten_when_a_part_is_set():
    X, y = load_wine(return_X_y=True)
    with pytest.raises(ValueError, match="gpu"):
        BackwardElimination(engine="gpu").set_params(engine__max_memory=10**9).fit(X, y)


@pytest.mark.parametrize("before", [True, False])
def test_a_pipeline_with_skrub(before):
    skrub = pytest.importorskip("skrub")
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"a": rng.normal(size=200), "b": rng.normal(size=200)})
    X["city"] = rng.choice(["Oslo", "Rome", "Lima"], 200)
    y = (X["a"] + (X["city"] == "Rome") > 0.3).astype(int)
    selector = FeatureSelector(0.1, models=["linear"], searches=["linear"], random_state=0)
    steps = [skrub.TableVectorizer(), selector] if before else [selector, skrub.TableVectorizer()]
    model = make_pipeline(*steps, LogisticRegression()).fit(X, y)
    assert model.score(X, y) > 0.85
    assert "b" not in model[:2].get_feature_names_out()
