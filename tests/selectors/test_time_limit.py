"""A time limit keeps the best set found by then; threads are as many as n_jobs allows."""

import re
import threading
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.optimize import minimize
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.datasets import load_wine
from sklearn.linear_model import LogisticRegression
from threadpoolctl import threadpool_info

from pinsker import FeatureSelector
from pinsker.encoding import encode
from pinsker.engine import Forward
from pinsker.models import predict_rows
from pinsker.search import (
    Deadline,
    KNNSearchSettings,
    TimeIsUp,
    interruptible,
    named_searches,
    search_rows,
)

X, y = load_wine(return_X_y=True)


class Clock:
    """A clock that goes on by itself: so many seconds with every look at it."""

    def __init__(self, step):
        self.now, self.step = 0.0, step

    def monotonic(self):
        self.now += self.step
        return self.now


@pytest.fixture
def clock(monkeypatch):
    clock = Clock(0.0)
    monkeypatch.setattr("pinsker.search._path.time", clock)
    return clock


def test_without_a_limit_nothing_is_left_out():
    free = FeatureSelector(models=["linear"], searches=["linear", "forward"], cv=3, random_state=0)
    limited = clone(free).set_params(time_limit=1e6).fit(X, y)
    free.fit(X, y)
    assert limited.notes_ == free.notes_
    assert set(limited.cv_results_["search"]) == set(free.cv_results_["search"])
    np.testing.assert_array_equal(limited.support_, free.support_)


def test_time_that_is_up_at_once_leaves_one_search_and_one_evaluation(clock):
    clock.step = 100.0
    selector = FeatureSelector(models=["linear"], time_limit=1.0, random_state=0).fit(X, y)
    assert set(selector.cv_results_["search"]) == {"all features", "relevance"}
    assert len(selector.cv_results_["search"]) == 2
    (note,) = [note for note in selector.notes_ if "time limit" in note]
    assert str(note).startswith(
        "the time limit of 1 s was reached: left out were suspects, search linear, search"
    )
    assert "search backward" in note
    assert "sets of relevance" in note
    assert selector.support_.any()


def test_time_that_is_up_in_the_middle_keeps_what_was_found(clock):
    clock.step = 1.0  # a second with every look: dozens of steps, searches and sets
    selector = FeatureSelector(models=["linear"], time_limit=400.0, random_state=0).fit(X, y)
    searched = set(selector.cv_results_["search"]) - {"all features"}
    assert {"relevance", "linear"} <= searched
    assert "backward" not in searched
    assert any("search backward" in note for note in selector.notes_)


def test_models_and_rows_that_take_too_long_are_left_out(clock):
    # The race of all models on all features took 132 s of a limit of 5 (50 classes, 500 columns).
    clock.step = 1.0
    models = ["linear", "extra trees"]
    selector = FeatureSelector(models=models, searches=["relevance"], time_limit=20, random_state=0)
    (note,) = [note for note in selector.fit(X, y).notes_ if "time limit" in note]
    assert "model extra trees" in note
    assert "training rows of models" in note
    # 20 targets in half a second: "met" with 1 of 100 columns, by models of 100 rows.
    (doubt,) = [note for note in selector.notes_ if "of their training rows" in note]
    assert doubt.weight == "untrue"
    (fewer,) = [note for note in selector.notes_ if note.kind == "fewer models"]
    assert fewer.weight == "doubt"
    assert "extra trees had no time to race" in fewer
    assert selector.certificate_.verdict != "met"
    assert selector.certificate_.label == "estimate"
    assert selector.certificate_.model_all == "linear"
    assert selector.support_.any()


def test_a_search_of_a_wide_table_takes_fewer_rows_when_time_is_short(clock):
    # 1000 x 2048 in half a second took 2.6 s: the first search, which is always finished, had all.
    rng = np.random.default_rng(0)
    wide = rng.normal(size=(600, 400))
    labels = (wide[:, 0] + 0.1 * rng.normal(size=600) > 0).astype(int)
    clock.step = 1.0
    selector = FeatureSelector(models=["linear"], time_limit=3.0, random_state=0)
    (note,) = [note for note in selector.fit(wide, labels).notes_ if "time limit" in note]
    assert "rows of searches" in note
    assert selector.support_[0]


def test_a_linear_search_looks_at_the_clock(clock):
    clock.step = 1.0
    names = ["relevance", "linear"]
    selector = FeatureSelector(models=["linear"], searches=names, time_limit=20, random_state=0)
    (note,) = [note for note in selector.fit(X, y).notes_ if "time limit" in note]
    assert "search linear" in note


def test_split_tables_end_in_time_and_are_certified(clock, monkeypatch):
    monkeypatch.setattr("pinsker.holdout._rows.SPLIT_FROM", 400)
    rng = np.random.default_rng(0)
    table = rng.normal(size=(1200, 5))
    labels = (table[:, 0] + 0.3 * rng.normal(size=1200) > 0).astype(int)
    clock.step = 100.0
    selector = FeatureSelector(0.1, models=["linear"], time_limit=1.0, random_state=0)
    selector.fit(table, labels)
    searches = set(selector.cv_results_["search"])
    assert searches == {"all features", "linear"}
    assert selector.certificate_.verdict in ("met", "inconclusive")
    assert any("rows of searches, search jmi" in note for note in selector.notes_)


@pytest.mark.parametrize("step", [0.003, 0.03, 0.3, 3.0])
@pytest.mark.parametrize("n_rows", [60, 400, 900])
def test_a_set_is_there_whenever_time_is_up(clock, monkeypatch, n_rows, step):
    # 1500 x 300 in half a second was "max() arg is an empty sequence" in 0.2, 11 of 25 sizes.
    monkeypatch.setattr("pinsker.holdout._rows.SEARCH_ONCE_FROM", 300)
    monkeypatch.setattr("pinsker.holdout._rows.SPLIT_FROM", 800)
    rng = np.random.default_rng(0)
    table = rng.normal(size=(n_rows, 8))
    labels = (table[:, 0] + 0.5 * rng.normal(size=n_rows) > 0).astype(int)
    clock.step = step
    selector = FeatureSelector(models=["linear", "extra trees"], time_limit=1.0, random_state=0)
    selector.fit(table, labels)
    assert selector.support_.any()
    assert len(selector.cv_results_["search"]) > 1


def test_with_little_time_fewer_rows_of_text_are_read():
    # 200 000 x 50 took 15 s of a limit of half a second, most of them for reading.
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 9, size=(8000, 60))
    table = pd.DataFrame(codes.astype(str))
    few = {"models": ["linear"], "searches": ["linear"], "suspects": "ignore", "random_state": 0}
    selector = FeatureSelector(0.1, time_limit=0.05, **few).fit(table, codes[:, 0] > 4)
    assert any("columns were read on 1000 of 8000 rows" in note for note in selector.notes_)
    free = FeatureSelector(0.1, time_limit=1e3, **few).fit(table, codes[:, 0] > 4)
    assert not any("columns were read on" in note for note in free.notes_)


@pytest.mark.parametrize("kind", ["dask", "lazy"])
def test_tables_that_are_not_in_memory_have_time_limits_too(kind):
    table = pd.DataFrame(X).rename(columns=str).assign(y=y)
    few = {"models": ["linear"], "searches": ["linear"], "random_state": 0, "time_limit": 60}
    if kind == "dask":
        given = pytest.importorskip("dask.dataframe").from_pandas(table, npartitions=2)
        given = (given.drop(columns="y"), given["y"])
    else:
        given = (pl.from_pandas(table).lazy(), "y")
    assert FeatureSelector(0.1, **few).fit(*given).support_.any()


def test_pairs_are_not_looked_for_when_time_is_up(clock, monkeypatch):
    looked = []
    monkeypatch.setattr(
        "pinsker.search._catalog.has_hidden_pair", lambda *given: looked.append(given) or False
    )
    clock.step = 100.0
    FeatureSelector(models=["linear"], time_limit=1.0, random_state=0).fit(X, y)
    assert not looked
    FeatureSelector(models=["linear"], searches="auto", cv=2, random_state=0).fit(X, y)
    assert looked


def test_a_search_is_given_up_between_two_steps(clock):
    deadline = Deadline(10.0)
    on_step = deadline.checked(None)
    clock.step = 100.0
    assert on_step(None) is None  # it does not hold yet
    deadline.part = 1.0
    with pytest.raises(TimeIsUp):
        on_step(None)
    assert Deadline().checked(None) is None


def n_threads():
    """Return how many threads the system counts for this process."""
    found = re.search(r"Threads:\s+(\d+)", Path("/proc/self/status").read_text())
    return int(found[1])


class CountingModel(ClassifierMixin, BaseEstimator):
    """Counts the fits that run at once, and the threads of BLAS and OpenMP in each."""

    running, most, pools, threads = [], 0, set(), 0
    lock = threading.Lock()

    def fit(self, X, y):
        cls = type(self)
        with cls.lock:
            cls.running.append(1)
            cls.most = max(cls.most, len(cls.running))
            cls.threads = max(cls.threads, n_threads())
            cls.pools |= {pool["num_threads"] for pool in threadpool_info()}
        np.linalg.svd(np.random.default_rng(0).normal(size=(80, 80)))
        self.classes_, counts = np.unique(y, return_counts=True)
        self.prior_ = counts / counts.sum()
        with cls.lock:
            cls.running.pop()
        return self

    def predict_proba(self, X):
        return np.tile(self.prior_, (len(X), 1))

    def predict(self, X):
        return np.repeat(self.classes_[self.prior_.argmax()], len(X))


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="threads are counted on Linux")
@pytest.mark.parametrize("n_jobs", [1, 3])
def test_no_more_threads_than_jobs(n_jobs, monkeypatch):
    few = {"models": [CountingModel()], "searches": ["linear", "relevance"], "cv": 3}
    pools = set()
    plain = FeatureSelector._read

    def read(self, *data, **rows):
        pools.update(pool["num_threads"] for pool in threadpool_info())
        return plain(self, *data, **rows)

    monkeypatch.setattr(FeatureSelector, "_read", read)
    monkeypatch.setattr(CountingModel, "most", 0)
    monkeypatch.setattr(CountingModel, "threads", 0)
    monkeypatch.setattr(CountingModel, "pools", set())
    FeatureSelector(**few, n_jobs=n_jobs).fit(X, y)
    before = n_threads()  # with the idle threads that BLAS and OpenMP keep
    FeatureSelector(**few, n_jobs=n_jobs).fit(X, y)
    assert pools == CountingModel.pools == {1}
    assert CountingModel.most <= n_jobs
    # The calling thread waits while `n_jobs` work; joblib's pool has three to manage them.
    assert CountingModel.threads <= before + (0 if n_jobs == 1 else n_jobs + 3)


@pytest.mark.parametrize("step", [0.01, 1.0])
def test_searches_after_a_slow_first_one_take_fewer_rows(clock, step):
    """1900 x 200 text of 1500 categories took 13.9 s of 5: six searches of 2 s, none given up."""
    rng = np.random.default_rng(0)
    narrow = rng.normal(size=(900, 3))  # so few cells that their number leaves all rows in
    labels = (narrow[:, 0] > 0).astype(int)
    clock.step = step  # with every look of the search at the clock
    selector = FeatureSelector(models=["linear"], searches=["linear"], time_limit=10.0)
    selector.fit(narrow, labels)
    said = [str(note) for note in selector.notes_ if "time limit" in note]
    assert any("rows of searches" in note for note in said) == (step == 1.0)
    assert selector.support_[0]


@pytest.mark.parametrize("slow_from", [2, 10, 40, 60])
def test_fits_that_are_slower_than_forecast_end_in_time(clock, monkeypatch, slow_from):
    """A text table took 10.4 s of 2: the forecast of a model was wrong, and its fits went on."""
    rng = np.random.default_rng(0)
    table = rng.normal(size=(900, 6))
    labels = (table[:, 0] + table[:, 1] + rng.normal(size=900) > 0).astype(int)
    plain, fits = predict_rows, []

    def slow(data, model, train, *given):
        fits.append(len(train))
        clock.now += len(train) * (1e-6 if len(fits) < slow_from else 1e-3)
        return plain(data, model, train, *given)

    monkeypatch.setattr("pinsker.holdout._evaluate.predict_rows", slow)
    monkeypatch.setattr("pinsker.models._fit.predict_rows", slow)  # of the last pass
    models = ["linear", "extra trees"]
    selector = FeatureSelector(0.05, models=models, time_limit=10.0, random_state=0)
    selector.fit(table, labels)
    assert len(fits) > slow_from
    assert clock.now <= 1.2 * 10.0 + 1.0
    assert selector.support_.any()
    (note,) = [note for note in selector.notes_ if "time limit" in note]
    assert ("a race of the models" in note) == (slow_from <= 10)
    few = [note for note in selector.notes_ if note.kind == "few training rows"]
    assert len(few) == (slow_from <= 10)
    if few:
        assert selector.certificate_.model_all in models
        assert selector.certificate_.label == "estimate"


class SlowModel(LogisticRegression):
    """A model that lets a clock go on: by seconds of a fit, of 1000 rows cubed, of predictions."""

    clock, fixed, cubic, predicting = None, 0.0, 0.0, 0.0

    def fit(self, X, y, sample_weight=None):
        type(self).clock.now += self.fixed + self.cubic * (len(X) / 1000) ** 3
        return super().fit(X, y, sample_weight)

    def predict_proba(self, X):
        type(self).clock.now += self.predicting * len(X) / 1000
        return super().predict_proba(X)


@pytest.fixture
def slow(clock, monkeypatch):
    """Return what makes a slow model; time goes on in its fits alone."""

    def made(**seconds):
        kind = type("SlowModel", (SlowModel,), {"clock": clock, **seconds})
        monkeypatch.setitem(globals(), "SlowModel", kind)
        return kind()

    return made


def two_of_six(n_rows):
    rng = np.random.default_rng(0)
    table = rng.normal(size=(n_rows, 6))
    return table, (table[:, 0] + table[:, 1] + rng.normal(size=n_rows) > 0).astype(int)


@pytest.mark.parametrize(
    ("limit", "seconds"),
    [(10.0, {"cubic": 5.0}), (2.0, {"fixed": 0.3}), (2.0, {"fixed": 0.02, "predicting": 6.0})],
    ids=["in rows", "in every fit", "in predicting"],
)
def test_models_of_users_that_are_slow_end_in_time(clock, slow, limit, seconds):
    """Finished fits were thrown away: 33.3 s of 10, 5.0 and 12.4 s of 2."""
    few = {"searches": ["relevance", "linear"], "random_state": 0}
    selector = FeatureSelector(models=[slow(**seconds)], time_limit=limit, **few)
    selector.fit(*two_of_six(900))
    assert clock.now <= 1.2 * limit + 1.0
    assert selector.support_.any()
    assert selector.certificate_.label == "estimate"


@pytest.mark.parametrize("order", [1, -1])
def test_a_slow_model_does_not_hide_others(clock, slow, order):
    """With the slow one first the others were not timed: 5.2 s of 4, and all features kept."""
    models = [("slow", slow(fixed=0.3)), "linear"][::order]
    few = {"searches": ["relevance"], "random_state": 0}
    selector = FeatureSelector(models=models, time_limit=4.0, **few).fit(*two_of_six(900))
    assert clock.now <= 1.2 * 4.0 + 1.0
    assert selector.certificate_.model_all == "linear"
    assert selector.support_.sum() < 6


def test_overhead_of_small_fits_is_not_multiplied(clock, slow):
    """Seconds of 200 rows times rows over 200 left out models that were done in time."""
    models = [("slow", slow(fixed=0.05)), "linear"]
    few = {"searches": ["relevance"], "random_state": 0}
    selector = FeatureSelector(models=models, time_limit=4.0, **few).fit(*two_of_six(1900))
    assert not [note for note in selector.notes_ if note.kind == "fewer models"]


def test_an_interrupted_race_keeps_its_fits(clock, slow, monkeypatch):
    """It began again with the first model on all rows."""
    with interruptible() as interrupt:
        models, fits = [("slow", slow(fixed=5.0)), "linear"], []
        plain = predict_rows

        def counted(data, model, *given):
            fits.append(model.name)
            if len(fits) == 4:
                interrupt.set()
            return plain(data, model, *given)

        monkeypatch.setattr("pinsker.holdout._evaluate.predict_rows", counted)
        few = {"searches": ["relevance"], "random_state": 0}
        selector = FeatureSelector(models=models, **few).fit(*two_of_six(900))
    assert fits.count("slow") <= 2, fits
    assert any(note.kind == "interrupted" for note in selector.notes_)
    assert selector.certificate_.model_all == "linear"


@pytest.mark.parametrize("limit", [2.0, 4.0, 8.0])
def test_a_certificate_of_fresh_rows_ends_in_time(clock, slow, monkeypatch, limit):
    """25 000 x 40 with an SVM took 14.0 s of 8: the certificate did not look, on all rows."""
    monkeypatch.setattr("pinsker.holdout._rows.SPLIT_FROM", 400)
    models, few = [slow(cubic=5.0)], {"searches": ["relevance"], "random_state": 0}
    selector = FeatureSelector(0.1, models=models, time_limit=limit, **few)
    selector.fit(*two_of_six(3000))
    assert clock.now <= 1.2 * limit + 1.0
    assert selector.certificate_.label == "estimate"


def test_folds_that_had_no_time_to_be_searched_take_the_first_order(clock, monkeypatch):
    """400 searches for LeaveOneOut took 4.5 s of a limit of 2: none of the first could end."""
    plain, searched = search_rows, []

    def slow_search(*given):
        searched.append(given)
        clock.now += 1.0
        return plain(*given)

    monkeypatch.setattr("pinsker.holdout._sizes.search_rows", slow_search)
    few = {"models": ["linear"], "searches": ["relevance"], "cv": 8, "random_state": 0}
    selector = FeatureSelector(time_limit=6.0, **few).fit(*two_of_six(400))
    assert len(searched) <= 4
    assert clock.now <= 1.2 * 6.0 + 1.0
    (doubt,) = [note for note in selector.notes_ if note.kind == "rows judge themselves"]
    assert doubt.weight == "untrue"
    assert "2 of 8 folds" in doubt
    assert selector.certificate_.verdict != "met"


def test_an_elimination_ends_in_time(clock, monkeypatch):
    """4900 x 490 text took 10.2 s for one elimination, at a limit of 0.5."""
    fitted = []

    def fit(*given, **how):
        fitted.append(given)
        clock.now += 1.0
        return minimize(*given, **how)

    monkeypatch.setattr("pinsker.search._elimination.minimize", fit)
    few = {"models": ["linear"], "searches": ["elimination"], "random_state": 0}
    selector = FeatureSelector(time_limit=2.0, **few).fit(*two_of_six(400))
    assert len(fitted) == 1
    assert selector.path_.n_features == 6
    assert clock.now <= 1.2 * 2.0 + 1.0


def test_with_more_indicators_than_rows_counts_come_first(clock):
    codes = np.random.default_rng(0).integers(0, 250, (300, 12)).astype(str)
    table = pd.DataFrame({f"c{j}": codes[:, j] for j in range(12)})
    problem = encode(table, codes[:, 0] > "2")
    settings = KNNSearchSettings(deadline=Deadline(1.0))
    found = named_searches(["elimination", "cmim"], problem, settings)[1]
    assert [search.names[0] for search in found] == ["cmim", "elimination"]


@pytest.mark.parametrize("n_rows", [8, 300])
def test_without_held_out_rows_a_limit_ends_the_search(clock, monkeypatch, n_rows):
    """3000 x 150 took 18 s of 1, without a word; an interrupt raised `TimeIsUp` from fit."""
    clock.step = 1.0
    cv, names = (0, ["backward"]) if n_rows > 8 else (5, "auto")
    few = {"cv": cv, "searches": names, "random_state": 0, "time_limit": 4.0}
    table, labels = two_of_six(n_rows)
    selector = FeatureSelector(**few).fit(table, np.arange(n_rows) % 2 if n_rows == 8 else labels)
    assert not selector.path_.complete
    assert any("time limit" in note for note in selector.notes_)
    assert selector.support_.any()
    assert selector.certificate_.verdict != "met"
    with interruptible() as interrupt:
        interrupt.set()
        few["time_limit"] = None
        selector = FeatureSelector(**few).fit(table, np.arange(n_rows) % 2)
    assert any(note.kind == "interrupted" for note in selector.notes_)


def test_a_limit_does_not_change_which_path_is_searched():
    few = {"cv": 0, "random_state": 0}
    free, limited = (
        FeatureSelector(**few, time_limit=limit).fit(*two_of_six(200)) for limit in (None, 1e7)
    )
    assert free.path_ == limited.path_


def test_starved_models_leave_no_features_out(clock, slow):
    """1900 x 200 text at 2 s kept one column, though its models had learned nothing."""
    rng = np.random.default_rng(0)
    models = [slow(cubic=50.0)]
    few = {"searches": ["relevance"], "random_state": 0}
    selector = FeatureSelector(models=models, time_limit=2.0, **few)
    selector.fit(rng.normal(size=(900, 6)), rng.integers(0, 2, 900))
    assert any(note.kind == "few training rows" for note in selector.notes_)
    assert selector.certificate_.verdict == "not shown to be predictable"
    assert selector.support_.all()


def test_suspects_are_looked_for_while_there_is_time(clock):
    clock.step = 1.0
    table = np.column_stack([y, *X.T[:8], np.arange(len(y))])
    few = {"models": ["linear"], "searches": ["relevance"], "random_state": 0}
    selector = FeatureSelector(time_limit=14.0, **few).fit(table, y)
    (note,) = [note for note in selector.notes_ if "time limit" in note]
    assert "left out were suspects" in note
    assert [note.columns for note in selector.notes_ if note.kind == "suspect"] == [("x0",)]


@pytest.mark.parametrize("limit", [None, 2.0, 6.0, 1e6])
def test_the_information_of_one_path_ends_in_time(clock, monkeypatch, limit):
    """1900 x 100 with 20 targets took 11 s of 2: a search was left out, the other had all rows."""
    measured = []

    class SlowForward(Forward):
        def __init__(self, *given, **how):
            super().__init__(*given, **how)
            measured.append(len(self.plan.queries))
            clock.now += 0.01 * measured[-1]

    monkeypatch.setattr("pinsker.search._knn.Forward", SlowForward)
    few = {"models": ["linear"], "searches": [("mine", range(6))], "random_state": 0}
    selector = FeatureSelector(time_limit=limit, **few).fit(*two_of_six(900))
    short = any("rows of information" in note for note in selector.notes_)
    assert short == (limit in (2.0, 6.0))
    assert measured == {None: [500], 2.0: [50, 75], 6.0: [50, 275], 1e6: [50, 500]}[limit]
    assert limit is None or clock.now <= 1.2 * limit + 1.0


def test_a_path_without_held_out_rows_says_what_it_was_measured_on(clock, monkeypatch):
    """2.0 s of a limit of 2, with 50 of 3000 rows and 20 of 60 sets, had no note."""
    clock.step = 0.01
    order = [("mine", range(6))]
    selector = FeatureSelector(cv=0, searches=order, suspects="ignore", time_limit=0.1)
    selector.fit(*two_of_six(900))
    (note,) = [note for note in selector.notes_ if note.kind == "time limit"]
    assert "rows of information, information of sets" in note
    assert note in selector.certificate_.notes


@pytest.mark.parametrize("limit", [1.0, 2.0, 4.0])
def test_scores_of_a_slow_metric_end_in_time(clock, limit):
    """Fits looked at the clock, scores did not: each calls a function of the user 100 times."""

    def accuracy(y_true, y_score):
        clock.now += 0.003
        return float(np.mean(y_true == (y_score > 0.5)))

    few = {"models": ["linear", "svm", "extra trees"], "searches": ["linear"], "random_state": 0}
    selector = FeatureSelector(metric=accuracy, time_limit=limit, **few).fit(*two_of_six(400))
    assert clock.now <= 1.2 * limit + 1.0
    assert any(note.kind == "time limit" for note in selector.notes_)
