"""scikit-learn's metadata routing: sample_weight and groups through pipelines and searches."""

from typing import ClassVar

import numpy as np
import pytest
import sklearn
from sklearn import config_context
from sklearn.exceptions import UnsetMetadataPassedError
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, GroupKFold, KFold
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.fixes import parse_version

from pinsker import FeatureSelector
from pinsker.exceptions import ParameterError


class Groups(GroupKFold):
    """Notes the groups that it gets."""

    seen: ClassVar[list] = []

    def split(self, X, y=None, groups=None):
        self.seen.append(groups)
        return super().split(X, y, groups)


class Noting(LogisticRegression):
    """Notes whether it gets weights."""

    seen: ClassVar[list] = []

    def fit(self, X, y, sample_weight=None):
        self.seen.append(sample_weight is not None)
        return super().fit(X, y, sample_weight)


def table(n=120):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 4))
    y = X[:, 0] + 0.5 * rng.normal(size=n) > 0
    return X, y, rng.integers(1, 4, size=n), np.arange(n) // 2


@pytest.fixture(autouse=True)
def _routing():
    Groups.seen.clear()
    Noting.seen.clear()
    with config_context(enable_metadata_routing=True):
        yield


def selector(**settings):
    quick = {"searches": ["linear"], "models": ["linear"], "random_state": 0}
    return FeatureSelector(0.1, **(quick | settings))


def test_a_request_is_needed_inside_of_a_pipeline():
    X, y, w, groups = table()
    pipe = make_pipeline(selector(), LogisticRegression().set_fit_request(sample_weight=True))
    with pytest.raises(UnsetMetadataPassedError, match=r"FeatureSelector\.fit"):
        pipe.fit(X, y, sample_weight=w)
    pipe[0].set_fit_request(sample_weight=False)
    assert pipe.fit(X, y, sample_weight=w)[0].certificate_.verdict == "met"
    assert not any("weight" in note for note in pipe[0].notes_)
    pipe[0].set_fit_request(sample_weight=True, groups=True)
    pipe.fit(X, y, sample_weight=w, groups=groups)
    assert any("weight" in note for note in pipe[0].notes_)
    assert pipe[0].certificate_.n_groups == 60


def test_groups_reach_a_splitter_that_requests_them():
    X, y, _, groups = table()
    selector(cv=Groups(3)).fit(X, y, groups=groups)
    assert all(len(one) == 120 for one in Groups.seen)
    found = selector(cv=KFold(3)).fit(X, y, groups=groups)  # no warning: it gets none
    assert found.certificate_.n_groups == 60
    with pytest.raises(ParameterError, match="does not divide"):
        selector(cv=GroupKFold(3)).fit(X, y)


def test_weights_reach_models_that_request_them():
    X, y, w, _ = table()
    with pytest.raises(UnsetMetadataPassedError, match=r"Noting\.fit"):
        selector(models=[Noting()]).fit(X, y, sample_weight=w)
    selector(models=[Noting().set_fit_request(sample_weight=True)]).fit(X, y, sample_weight=w)
    assert any(Noting.seen)
    Noting.seen.clear()
    declined = Noting().set_fit_request(sample_weight=False)
    selector(models=[("own", declined)]).fit(X, y, sample_weight=w)
    assert not any(Noting.seen)
    asking = Noting().set_fit_request(sample_weight=True)
    asking_too = StandardScaler().set_fit_request(sample_weight=False)
    pipe = make_pipeline(asking_too, asking)
    Noting.seen.clear()
    selector(models=[pipe], n_jobs=2).fit(X, y, sample_weight=w)  # threads know the routing too
    assert any(Noting.seen)


@pytest.mark.skipif(
    parse_version(sklearn.__version__) < parse_version("1.7"),
    reason="scikit-learn 1.6 does not route to the score of a pipeline",
)
def test_grid_search_passes_both_on():
    X, y, w, groups = table()
    inner = selector(cv=Groups(3)).set_fit_request(sample_weight=True, groups=True)
    model = LogisticRegression().set_fit_request(sample_weight=True)
    model.set_score_request(sample_weight=True)
    pipe = Pipeline([("select", inner), ("model", model)])
    search = GridSearchCV(pipe, {"select__error_budget": [0.02, 0.2]}, cv=GroupKFold(2))
    search.fit(X, y, sample_weight=w, groups=groups)
    chosen = search.best_estimator_["select"]
    assert chosen.certificate_.n_groups == 60
    assert any("weight" in note for note in chosen.notes_)
    assert {len(one) for one in Groups.seen} == {60, 120}


def test_without_routing_a_pipeline_passes_by_names():
    X, y, w, groups = table()
    with config_context(enable_metadata_routing=False):
        pipe = make_pipeline(selector(cv=GroupKFold(3)), LogisticRegression())
        pipe.fit(
            X, y, featureselector__sample_weight=w, featureselector__groups=groups,
            logisticregression__sample_weight=w,
        )  # fmt: skip
    assert pipe[0].certificate_.n_groups == 60
