"""Selectors among frames, pipelines, grid searches and metadata."""

import numpy as np
import pytest
import sklearn
from sklearn.datasets import load_wine
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from pinsker.selection import BackwardElimination, ForwardSelection, LinearElimination

EVERY = pytest.mark.parametrize("kind", [BackwardElimination, ForwardSelection, LinearElimination])
LIBRARIES = pytest.mark.parametrize("library", ["pandas", "polars"])


def mixed_frame(library, n=150):
    """Numbers, text, categories and truth values; colour and size tell the class."""
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
def test_set_output_is_obeyed(library, asked):
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
        fitted.transform(frame.rename(columns={"noise": "other"}))


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


def test_pipeline_names_its_features():
    X, y = load_wine(return_X_y=True, as_frame=True)
    model = make_pipeline(StandardScaler(), BackwardElimination(0.1)).set_output(transform="pandas")
    small = model.fit_transform(X, y)
    assert list(small.columns) == list(model.get_feature_names_out())


def test_metadata_routing_passes_by():
    X, y = load_wine(return_X_y=True)
    with sklearn.config_context(enable_metadata_routing=True):
        machine = SVC().set_fit_request(sample_weight=True)
        model = make_pipeline(
            StandardScaler().set_fit_request(sample_weight=True), BackwardElimination(0.1), machine
        )
        model.fit(X, y, sample_weight=np.ones(len(y)))
        assert model.score(X, y) > 0.8
        assert BackwardElimination().get_metadata_routing() is not None


def test_html_and_text_representation():
    assert repr(BackwardElimination(error_budget=0.1)) == "BackwardElimination(error_budget=0.1)"
    assert "BackwardElimination" in BackwardElimination()._repr_html_()
