"""Tables that another engine holds: the same paths, draws and audits as in memory."""

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression, RidgeCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from pinsker import (
    CostMatrix,
    CriterionSelection,
    FeatureCount,
    FeatureSelector,
    PermutationTest,
    audit,
)
from pinsker.exceptions import DataError, DataTypeError, DataWarning, ParameterError

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
    certified = found.certify(fresh, "the target")
    if engine == "arrow":  # can be scanned once
        assert certified.n_rows == 300
        assert "of 300 drawn from 900" in certified.rows
        return
    assert certified.n_rows == 600
    assert "fitted to 300 of the rows, drawn at random, and compared on the other 600" in str(
        certified.notes[-1]
    )


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
    late = y[300:].sort_values().index  # so that there are batches of one class
    known = audit(selector, model, X.loc[late], y[late], **{**given, "X_train": X[:300]})
    found = audit(selector, model, held(X.loc[late], y[late], engine), "the target", **given)
    names = ("n_rows", "error_all", "error_kept", "increase", "increase_lower", "increase_upper")
    for name in (*names, "gain_lower"):
        assert getattr(found, name) == pytest.approx(getattr(known, name), rel=1e-12, abs=1e-12)


def fitted_and_fresh(metric, monkeypatch, n=1500):
    """Return a selector of 300 rows, and others of which 400 train and the rest evaluate."""
    monkeypatch.setattr("pinsker.encoding._stream._BATCH", 170)
    monkeypatch.setattr("pinsker.selectors._evaluated.MOST_CERTIFIED", 400)
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(300 + n, 4)), columns=list("abcd"))
    X["text"] = rng.choice(list("xyz"), 300 + n)
    shown = X["a"] + 0.5 * X["b"] + (X["text"] == "x") + rng.normal(size=300 + n)
    y = (shown if metric in ("r2", "mae") else (shown > 0).astype(int)).rename("the target")
    settings = {"models": ["linear"], "searches": ["linear"], "cv": 3, "random_state": 0}
    selector = FeatureSelector(0.4, metric=metric, **settings).fit(X[:300], y[:300])
    assert 0 < selector.get_support().sum() < 5
    return selector, X[300:].reset_index(drop=True), y[300:].reset_index(drop=True)


@pytest.mark.parametrize("engine", ["polars", "duckdb", "connection"])
@pytest.mark.parametrize("metric", ["error", "brier", "r2", "mae"])
def test_certify_compares_models_on_every_row(engine, metric, monkeypatch):
    from pinsker.encoding import draw_from_stream

    selector, X, y = fitted_and_fresh(metric, monkeypatch)
    y = y.where(np.arange(len(y)) != 7) if engine == "polars" else y  # a row without a target
    stream = held(X, y, "polars" if engine == "polars" else "duckdb")
    if engine == "connection":
        connection = duckdb.connect()
        connection.register("rows", pd.concat([X, y], axis=1))
        stream = connection
    found = selector.certify(stream, "the target")
    train = draw_from_stream(stream, "the target", 400, selector._record.seed, "auto").rows
    rest = np.setdiff1d(np.flatnonzero(y.notna()), train)
    assert (found.n_rows, len(train)) == (len(rest), 400)
    # The twin: both models on all rows in memory at once.
    linear = (
        LogisticRegression() if metric in ("error", "brier") else RidgeCV(np.logspace(-2, 6, 9))
    )
    model = make_pipeline(StandardScaler(), linear)
    given = {"X_train": X.loc[train], "y_train": y.loc[train], "confidence": found.confidence}
    with pytest.warns(DataWarning, match="text one-hot"):
        known = audit(selector, model, X.loc[rest], y.loc[rest], metric=metric, **given)
    names = ("error_all", "error_kept", "increase", "increase_lower", "increase_upper")
    for name in (*names, "gain_lower"):
        assert getattr(found, name) == pytest.approx(getattr(known, name), rel=1e-12, abs=1e-12)
    # Models that see the dropped columns of other rows, here one by one.
    order = np.random.default_rng(selector._record.seed).permutation(400)
    gone = [name for name in X if name not in selector.get_feature_names_out()]
    old, new, whole = X.loc[train], X.loc[rest].copy(), X.loc[train].copy()
    for name in gone:
        whole[name], new[name] = (old[name].to_numpy()[one] for one in (order, order[rest % 400]))
    with pytest.warns(DataWarning, match="text one-hot"):
        other = audit(
            list(range(5)), model, new, y.loc[rest], metric=metric, **{**given, "X_train": whole}
        )
    assert found.excess == pytest.approx(other.error_all - known.error_all, rel=1e-9, abs=1e-12)
    assert found.excess_upper > found.excess
    assert found.verdict == "met"
    assert (found.label, found.passed) == ("certificate", None)
    assert selector.with_certified(found).certificate_ is found
    assert "note: models were fitted to 400 of the rows" in str(found)


def test_no_other_model_takes_the_place_of_one_that_cannot_stay_fitted(monkeypatch):
    # A linear model said "met" of 90 000 rows where extra trees had shown an increase of .22.
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(3000, 3)), columns=["a", "b", "c"])
    y = pd.Series((X.a + 2.0 * np.sign(X.b * X.c) > 0).astype(int), name="y")
    order = [("given", ["a", "b", "c"])]
    models = ["linear", "extra trees"]
    selector = FeatureSelector(FeatureCount(1), models=models, searches=order, random_state=0)
    selector.fit(X[:300], y[:300]).set_params(error_budget=0.02)
    monkeypatch.setattr("pinsker.selectors._evaluated.MOST_CERTIFIED", 800)
    found = selector.certify(held(X[300:], y[300:], "polars"), "y")
    assert (found.n_rows, found.verdict) == (800, "not met")


def test_what_sums_cannot_tell_is_drawn(monkeypatch):
    selector, X, y = fitted_and_fresh("error", monkeypatch)
    stream = held(X, y, "polars")
    grouped = selector.certify(stream, "the target", subgroups="text")
    assert (grouped.n_rows, len(grouped.subgroups)) == (400, 4)
    labels = np.arange(1500) // 2
    assert selector.certify(stream, "the target", groups=labels).n_groups > 300
    few = selector.certify(held(X[:700], y[:700], "polars"), "the target")
    assert few.n_rows == 400  # not twice as many as train
    ranked = FeatureSelector(0.3, metric="roc_auc", models=["linear"], random_state=0)
    assert ranked.fit(X[:300], y[:300]).certify(stream, "the target").n_rows == 400


def test_scans_that_differ_are_refused(monkeypatch):
    selector, X, y = fitted_and_fresh("error", monkeypatch)
    connection = duckdb.connect()
    connection.register("rows", pd.concat([X, y], axis=1))
    with pytest.raises(DataError, match="or its rows in another order than the scan before"):
        selector.certify((connection, "FROM rows ORDER BY random()"), "the target")


def test_connections_say_which_rows_are_meant():
    X, y = table(1)
    connection = duckdb.connect()
    whole = pd.concat([X, y], axis=1).drop(columns="gaps")
    connection.register("some rows", whole)
    known = CriterionSelection("jmi", 2).fit(connection.table("some rows"), "the target").path_
    assert CriterionSelection("jmi", 2).fit(connection, "the target").path_ == known
    connection.execute("CREATE TABLE others AS SELECT 1 AS a")
    for named in ("some rows", 'SELECT * FROM "some rows";'):
        assert CriterionSelection("jmi", 2).fit((connection, named), "the target").path_ == known
    for wrong in (connection, (connection,), (connection, 3), (connection, "others", "more")):
        with pytest.raises(DataTypeError, match="it holds 'others', 'some rows': say which rows"):
            CriterionSelection().fit(wrong, "the target")
    with pytest.raises(DataError, match=r"cannot read 'other' .*: it holds 'others', 'some rows'"):
        FeatureSelector().fit((connection, "other"), "the target")
    with pytest.raises(DataError, match="cannot read 'DROP TABLE others'"):
        FeatureSelector().fit((connection, "DROP TABLE others"), "the target")
    assert connection.table("others").fetchall() == [(1,)]
    with pytest.raises(DataTypeError, match="it holds no table: say which rows"):
        FeatureSelector().fit(duckdb.connect(), "the target")


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
    costs = {"metric": CostMatrix([[0, 1, 1], [2, 0, 1], [1, 1, 0]]), "X_train": X, "y_train": y}
    refused = pytest.raises(ParameterError, match="a CostMatrix needs the rows in memory")
    with pytest.warns(DataWarning, match="text one-hot"), refused:
        audit(selector, HistGradientBoostingClassifier(), frame, "the target", **costs)
