"""Tables that another engine holds: the same paths, draws and audits as in memory."""

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LinearRegression, LogisticRegression

from pinsker import CriterionSelection, FeatureSelector, PermutationTest, audit
from pinsker.exceptions import DataError, DataTypeError, ParameterError

pl = pytest.importorskip("polars")
duckdb = pytest.importorskip("duckdb")

CRITERIA = ["jmi", "cmim", "mrmr", "mifs", "cife", "icap", "disr", "jmim", "condred", "cmi"]


def table(number, n=400):
    """Return a table with ties, gaps and several kinds of columns."""
    rng = np.random.default_rng(number)
    X = pd.DataFrame(
        {
            "rounded": rng.normal(size=n).round(number % 3),
            "count": rng.integers(0, 3 + number, n),
            'text, "quoted"': rng.choice(list("xyz"), n),
            "flag": rng.random(n) < 0.3,
            "gaps": np.where(rng.random(n) < 0.2, np.nan, rng.normal(size=n)),
            "skewed": rng.exponential(size=n) ** 2,
        }
    )
    shown = X["rounded"] + 0.5 * X["flag"] + 0.3 * X["gaps"].fillna(1) + rng.normal(size=n)
    y = shown if number % 4 == 0 else pd.cut(shown, 2 + number % 3, labels=False).astype(str)
    return X, y.rename("the target")


def held(X, y, engine):
    whole = pd.concat([X, y], axis=1)
    return pl.from_pandas(whole).lazy() if engine == "polars" else duckdb.from_df(whole)


#: Twenty tables; a few of them in every run.
TABLES = [pytest.param(k, marks=[pytest.mark.slow] if k > 5 else []) for k in range(20)]


@pytest.mark.parametrize("number", TABLES)
def test_paths_are_those_of_memory(number):
    X, y = table(number)
    how = {"missing": "category", "binning": ("frequency", "width", "mdl")[number % 3]}
    how["correction"] = ("none", "miller-madow")[number % 2]
    name = CRITERIA[number % len(CRITERIA)]
    known = CriterionSelection(name, 3, **how).fit(X, y)
    for engine in ("polars", "duckdb"):
        found = CriterionSelection(name, 3, **how).fit(held(X, y, engine), "the target")
        for part in ("moves", "scores", "information"):
            assert getattr(found.path_, part) == getattr(known.path_, part)
        assert found.get_feature_names_out().tolist() == known.get_feature_names_out().tolist()
        assert found.certificate_.n_rows == known.certificate_.n_rows
        if engine == "polars":
            reduced = found.transform(held(X, y, engine)).collect()
            assert reduced.columns == found.get_feature_names_out().tolist()


def test_groups_of_columns_and_dropped_rows():
    X, y = table(1)
    y = y.where(np.arange(400) > 4)
    how = {"feature_groups": {"both": ["rounded", "flag"]}, "missing": "drop"}
    known = CriterionSelection("jmi", 3, **how).fit(X, y)
    for engine in ("polars", "duckdb"):
        found = CriterionSelection("jmi", 3, **how).fit(held(X, y, engine), "the target")
        assert found.path_.scores == known.path_.scores
        assert found.certificate_.n_rows == known.certificate_.n_rows < 330


@pytest.mark.parametrize("engine", ["polars", "duckdb", "arrow"])
def test_rows_are_drawn_in_one_scan(engine, monkeypatch):
    X, y = table(1, 600)
    stream = held(X, y, engine)
    if engine == "arrow":
        stream = stream.to_arrow_reader(100)
    settings = {"models": ["linear"], "searches": ["linear"], "cv": 3, "random_state": 0}
    found = FeatureSelector(0.3, **settings).fit(stream, "the target")
    known = FeatureSelector(0.3, **settings).fit(X, y)
    assert found.get_feature_names_out().tolist() == known.get_feature_names_out().tolist()
    assert found.certificate_.n_rows == 600
    monkeypatch.setattr("pinsker.selectors._evaluated.MOST_CERTIFIED", 300)
    fresh = held(*table(5, 900), engine)
    if engine == "arrow":
        fresh = fresh.to_arrow_reader(100)
    certified = found.certify(fresh, "the target") if table(5)[1].dtype == y.dtype else None
    if certified is not None:
        assert certified.n_rows == 300
        assert "of 300 drawn from 900" in certified.rows


def test_every_row_has_the_same_chance():
    from pinsker.encoding import draw_from_stream

    frame = pl.DataFrame({"a": np.arange(1000), "y": [0.0, 1.0] * 500}).lazy()
    often = np.zeros(1000)
    for number in range(100):
        often[draw_from_stream(frame, "y", 100, number, "auto").X["a"].to_numpy()] += 1
    assert often.sum() == 100 * 100
    # Each is binomial(100, 0.1): mean 10, deviation 3; six of those are never seen in 1000.
    assert abs(often - 10).max() < 18


@pytest.mark.parametrize("engine", ["polars", "duckdb"])
@pytest.mark.parametrize("metric", ["error", "brier", "r2"])
def test_audits_in_batches_have_the_totals_of_memory(engine, metric, monkeypatch):
    monkeypatch.setattr("pinsker.encoding._stream._BATCH", 170)
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(900, 3)), columns=list("abc"))
    shown = X["a"] + 0.5 * X["b"] + rng.normal(size=900)
    y = (shown if metric == "r2" else (shown > 0).astype(int)).rename("the target")
    model = LinearRegression() if metric == "r2" else LogisticRegression()
    settings = {"models": ["linear"], "searches": ["linear"], "cv": 3, "random_state": 0}
    selector = FeatureSelector(0.4, **settings).fit(X[:300], y[:300])
    given = {"X_train": X[:300], "y_train": y[:300], "metric": metric}
    if engine == "polars":
        given["X_train"] = pl.from_pandas(X[:300])
    known = audit(selector, model, X[300:], y[300:], **{**given, "X_train": X[:300]})
    found = audit(selector, model, held(X[300:], y[300:], engine), "the target", **given)
    names = ("n_rows", "error_all", "error_kept", "increase", "increase_lower", "increase_upper")
    for name in names:
        assert getattr(found, name) == pytest.approx(getattr(known, name), rel=1e-9, abs=1e-12)


def test_wrong_use_is_refused():
    X, y = table(1)
    frame, relation = held(X, y, "polars"), held(X, y, "duckdb")
    with pytest.raises(DataTypeError, match="X is a LazyFrame, but y is of type Series"):
        CriterionSelection().fit(frame, y)
    with pytest.raises(DataError, match="y='other' is not a column of X"):
        CriterionSelection().fit(relation, "other")
    for one in (frame, relation):
        with pytest.raises(DataError, match="column 'gaps' has missing values in 87 of 400 rows"):
            CriterionSelection().fit(one, "the target")
    with pytest.raises(DataTypeError, match="can be scanned once"):
        CriterionSelection().fit(relation.to_arrow_reader(100), "the target")
    with pytest.raises(ParameterError, match="PermutationTest needs all rows in memory"):
        CriterionSelection(stop=PermutationTest()).fit(frame, "the target")
    times = pl.DataFrame({"t": [pd.Timestamp("2026-01-01")] * 9, "y": list("aabbccaab")}).lazy()
    with pytest.raises(DataTypeError, match="column 't' of X holds times"):
        CriterionSelection().fit(times, "y")
    selector = FeatureSelector(0.4, models=["linear"], searches=["linear"], cv=3).fit(X, y)
    with pytest.raises(ParameterError, match="pass X_train and y_train"):
        audit(selector, LogisticRegression(), frame, "the target")
