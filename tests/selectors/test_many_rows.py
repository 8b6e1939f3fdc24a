"""Of very many rows some are drawn; the fit is that of these rows, in memory and on Dask."""

import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

from pinsker import BackwardElimination, FeatureSelector
from pinsker.exceptions import DataError, DataTypeError
from pinsker.holdout import audit

N, MOST = 7000, 5200
NOTE = (
    "columns were read on 5200 of 7000 rows, drawn at random: what is missing or infinite in the "
    "others is not seen"
)
QUICK = {"models": ["linear"], "searches": ["linear", "relevance"], "random_state": 3}


@pytest.fixture(autouse=True)
def few_are_many(monkeypatch):
    monkeypatch.setattr("pinsker.selectors._feature_selector.MOST_READ", MOST)
    monkeypatch.setattr("pinsker.selectors._evaluated.MOST_CERTIFIED", 300)


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(N, 5)), columns=list("abcde"))
    frame["color"] = rng.choice(["red", "green"], size=N)
    score = frame["a"] + (frame["color"] == "red") + 0.7 * rng.normal(size=N)
    frame["y"] = np.where(score > 0.5, "yes", "no")
    return frame


@pytest.fixture
def dd():
    dask = pytest.importorskip("dask", reason="needs pinsker[dask]")
    with dask.config.set(scheduler="synchronous"):
        yield pytest.importorskip("dask.dataframe")


def by_hand(X, y, seed):
    """Draw as the selector does: every (n / m)-th row of the classes, each of them shuffled."""
    rng = np.random.default_rng(seed)
    order = sorted(rng.permutation(N).tolist(), key=lambda row: y.iloc[row])
    start = rng.random()
    rows = sorted(order[int((i + start) * (N / MOST))] for i in range(MOST))
    return X.iloc[rows], y.iloc[rows]


def test_the_fit_is_that_of_the_rows_drawn(table):
    X, y = table.drop(columns=["y"]), table["y"]
    drawn = FeatureSelector(**QUICK).fit(X, y)
    twin = FeatureSelector(**QUICK).fit(*by_hand(X, y, drawn._record.seed))
    assert drawn.path_ == twin.path_
    np.testing.assert_array_equal(drawn.support_, twin.support_)
    for name, values in drawn.cv_results_.items():
        np.testing.assert_equal(list(values), list(twin.cv_results_[name]))
    assert list(map(str, drawn.notes_)) == [NOTE, *map(str, twin.notes_)]
    assert drawn.certificate_.rows == f"{twin.certificate_.rows} (of 5200 drawn from 7000)"
    assert drawn.certificate_.increase_upper == twin.certificate_.increase_upper
    assert drawn.n_features_in_ == 6
    assert drawn.feature_names_in_.tolist() == [*"abcde", "color"]


def test_every_row_is_read_where_folds_are_given_or_none(table):
    X, y = table.drop(columns=["y"]), table["y"]
    folds = [(np.arange(0, N, 2), np.arange(1, N, 2))]
    for cv in (0, folds):
        selector = FeatureSelector(**QUICK, cv=cv).fit(X, y)
        assert NOTE not in list(map(str, selector.notes_))
        assert "drawn" not in selector.certificate_.rows


def test_fresh_rows_are_drawn_too(table):
    X, y = table.drop(columns=["y"]), table["y"]
    selector = FeatureSelector(**QUICK).fit(X.iloc[:600], y.iloc[:600])
    certificate = selector.certify(X.iloc[600:], y.iloc[600:])
    assert certificate.n_rows == 300
    assert certificate.rows == "fresh rows (of 300 drawn from 6400)"
    assert str(certificate.notes[0]).startswith("columns were read on 300 of 6400 rows")
    assert "drawn" not in selector.certify(X.iloc[-300:], y.iloc[-300:]).rows


@pytest.mark.filterwarnings("ignore:.*test rows are among")
def test_a_dask_frame(table, dd):
    parts = dd.from_pandas(table, npartitions=6, sort=False)
    selector = FeatureSelector(**QUICK).fit(parts, "y")
    keys = [
        np.random.default_rng([selector._record.seed, number]).random(len(part))
        for number, part in enumerate(parts.partitions)
    ]
    rows = np.sort(np.argsort(np.concatenate(keys))[:MOST])
    X, y = table.drop(columns=["y"]), table["y"]
    twin = FeatureSelector(**QUICK).fit(X.iloc[rows], y.iloc[rows])
    assert selector.path_ == twin.path_
    assert list(map(str, selector.notes_)) == [NOTE, *map(str, twin.notes_)]
    assert selector.feature_names_in_.tolist() == [*"abcde", "color"]
    small = selector.transform(parts)
    assert list(small.columns) == selector.get_feature_names_out().tolist()
    with pytest.raises(DataError, match="300 of 300 rows are rows of the fit"):
        selector.certify(parts, "y")  # the same keys are the smallest
    certificate = selector.certify(parts.assign(b=parts["b"] + 1.0), "y")
    assert certificate.n_rows == 300
    model = LogisticRegression()
    numbers = FeatureSelector(**QUICK).fit(parts[[*"abcde", "y"]], "y")
    result = audit(numbers, model, parts[list("abcde")], parts["y"])
    assert result.n_rows == N  # all: no more than 150 000


def test_a_dask_array(table, dd):
    arrays = pytest.importorskip("dask.array")
    values = table[list("abcde")].to_numpy()
    y = (table["y"] == "yes").to_numpy()
    X = arrays.from_array(values, chunks=(2000, 5))
    selector = FeatureSelector(**QUICK).fit(X, arrays.from_array(y, chunks=1000))
    assert str(selector.notes_[0]) == NOTE
    assert selector.n_features_in_ == 5
    kept = selector.transform(X)
    np.testing.assert_array_equal(kept.compute(), values[:, selector.support_])
    with pytest.raises(ValueError, match="X has 4 features, but FeatureSelector is expecting 5"):
        selector.transform(X[:, :4])


def test_few_rows_of_a_dask_frame_are_all_used(table, dd):
    few = table.iloc[:500]
    X, y = few.drop(columns=["y"]), few["y"]
    there = FeatureSelector(**QUICK).fit(dd.from_pandas(few, npartitions=3, sort=False), "y")
    here = FeatureSelector(**QUICK).fit(X, y)
    assert there.path_ == here.path_
    assert there.notes_ == here.notes_
    assert there.certificate_ == here.certificate_


def test_selectors_that_need_every_row_refuse_dask(table, dd):
    parts = dd.from_pandas(table, npartitions=2, sort=False)
    for selector in (BackwardElimination(), FeatureSelector(cv=0)):
        with pytest.raises(DataTypeError, match=r"X is a Dask DataFrame.* Pass X.compute\(\)"):
            selector.fit(parts.drop(columns=["y"]), parts["y"])


MEMORY = """
import numpy as np
from pinsker import FeatureSelector

def held(field):
    with open("/proc/self/status", encoding="ascii") as lines:
        return next(int(line.split()[1]) for line in lines if line.startswith(field)) / 1024

rng = np.random.default_rng(0)
X = np.empty((1_000_000, 100))
for rows in np.split(X, 100):
    rows[:] = rng.normal(size=rows.shape)
y = (X[:, 0] * X[:, 1] + X[:, 2] + rng.normal(size=len(X)) > 0).astype(int)
before = held("VmRSS")
selector = FeatureSelector(0.05, random_state=0, n_jobs=1).fit(X, y)
assert selector.get_support(indices=True).tolist() == [0, 1, 2]
print(held("VmHWM") - before)
"""


@pytest.mark.slow
def test_a_million_rows_take_less_than_a_gigabyte():
    done = subprocess.run(
        [sys.executable, "-c", MEMORY], capture_output=True, text=True, check=True, timeout=600
    )
    assert float(done.stdout) < 1000
