"""Importance, substitutes and alternatives on fresh rows of designs with a known truth."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.model_selection import PredefinedSplit

from benchmarks.questions import draw
from pinsker import FeatureCount, FeatureSelector, ImportanceDisplay
from pinsker.exceptions import DataError, ParameterError
from pinsker.models import Linear

SETTINGS = {"models": ["linear"], "searches": ["linear"], "random_state": 0}


def with_copies(n_rows, seed):
    """Three columns that matter, noisy copies of the first two, five of noise."""
    rng = np.random.default_rng(seed)
    Z = rng.normal(size=(n_rows, 3))
    copies = Z[:, :2] + 0.1 * rng.normal(size=(n_rows, 2))
    X = np.column_stack([Z, copies, rng.normal(size=(n_rows, 5))])
    return X, Z @ [1.0, 0.7, 0.5] + 0.3 * rng.normal(size=n_rows)


@pytest.fixture(scope="module")
def selector():
    return FeatureSelector(0.1, fixed_features=[0, 1, 2], **SETTINGS).fit(*with_copies(300, 0))


def test_importance_is_the_error_without_a_column(selector):
    found = selector.importance(*with_copies(1000, 1))
    frame = found.to_frame().set_index("feature")
    assert frame["kept"].sum() == 3
    assert len(frame) == 10
    assert (frame["lower"] <= frame["importance"]).all()
    assert (frame["importance"] <= frame["upper"]).all()
    # Without x2 its variance is added to the error: 0.25 of 1 + 0.49 + 0.25 + 0.09.
    truth = 0.25 / 1.83
    assert frame.loc["x2", "lower"] < truth < frame.loc["x2", "upper"]
    noise = frame.loc[["x5", "x6", "x7", "x8", "x9"]]
    assert (noise["lower"] < 0.003).all()
    assert (noise["importance"].abs() < 0.01).all()
    assert frame.index[0] == "x0"


def test_one_band_for_all_intervals_uses_their_correlation(selector, monkeypatch):
    # Intervals of Bonferroni times sqrt(1 + n / 0.8 n) covered all columns in 99 to 100 % of runs.
    rows = with_copies(400, 1)
    found = selector.importance(*rows)
    level = 0.05 / (2 * len(found.value))
    name = "pinsker.explain._importance.simultaneous_confidence"
    monkeypatch.setattr(name, lambda *_, **__: 1 - level)
    each = selector.importance(*rows)
    half, wide = (np.subtract(one.upper, one.value) for one in (found, each))
    assert (half <= wide * (1 + 1e-9)).all()
    assert (half < 0.85 * 1.5 / 1.2 * wide).all()


def test_alternatives_pay_for_every_set_that_they_try(selector, monkeypatch):
    spent = []
    name = "pinsker.explain._importance.simultaneous_confidence"

    def noted(differences, confidence, **_):
        spent.append((1 - confidence) * differences.shape[1])
        return confidence

    monkeypatch.setattr(name, noted)
    out_of_reach = replace(selector.certificate_, budget=-1.0)
    monkeypatch.setattr(selector, "certificate_", out_of_reach)
    assert selector.alternatives(*with_copies(300, 3), n=1) == ()
    assert len(spent) > 10
    assert sum(spent) <= 0.05 + 1e-9


def test_substitutes_are_widened(selector, monkeypatch):
    rows = with_copies(600, 2)
    wide = selector.substitutes(*rows)
    monkeypatch.setattr("pinsker.holdout.HoldoutEvaluator.widening", 1.0)
    for one, narrow in zip(wide, selector.substitutes(*rows), strict=True):
        half = one.increase_upper - one.increase
        assert half == pytest.approx(Linear.widening * (narrow.increase_upper - narrow.increase))


def test_a_fit_measures_its_kept_columns_on_held_out_rows(selector):
    found = selector.importance_
    assert found.features == ("x0", "x1", "x2")
    assert found.n_rows == 300
    assert "on the rows that chose the columns" in found.notes[0]
    truth = np.array([1.0, 0.49, 0.25]) / 1.83
    assert (np.array(found.lower) < truth).all()
    assert (truth < np.array(found.upper)).all()
    rng = np.random.default_rng(1)
    X = rng.normal(size=(300, 14))
    kept = FeatureSelector(0.001, fixed_features=range(13), **SETTINGS)
    # A quick model has all rows: one fold of five was all that 13 columns got.
    assert kept.fit(X, X[:, :13].sum(axis=1) + rng.normal(size=300)).importance_.n_rows == 300
    many = FeatureSelector(0.1, fixed_features=range(21), **SETTINGS)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 22))
    assert many.fit(X, X[:, 0]).importance_ is None
    assert FeatureSelector(0.1, cv=0, **SETTINGS).fit(*with_copies(100, 0)).importance_ is None


def test_a_split_table_measures_on_the_rows_of_the_certificate():
    settings = {"models": ["linear"], "searches": ["linear"], "random_state": 0}
    split = FeatureSelector(0.02, **settings).fit(*with_copies(6000, 7))
    found = split.importance_
    assert found.n_rows == split.certificate_.n_rows == 1500
    assert found.notes == ()
    assert set(found.features) == set(split.certificate_.features)
    # Without x2 its variance is added to the error, whichever copies are kept.
    k = found.features.index("x2")
    assert found.lower[k] < 0.25 / 1.83 < found.upper[k]
    assert found.upper[k] - found.lower[k] < 0.06


def test_no_time_for_importance_is_noted():
    limited = FeatureSelector(0.1, time_limit=1e-3, **SETTINGS).fit(*with_copies(200, 0))
    assert limited.importance_ is None
    (note,) = (str(note) for note in limited.notes_ if note.kind == "time limit")
    assert note.endswith("importance")


def test_the_copy_is_named_as_substitute(selector):
    found = {one.feature: one for one in selector.substitutes(*with_copies(600, 2))}
    assert found["x0"].replacement == ("x3",)
    assert found["x1"].replacement == ("x4",)
    assert found["x0"].within_budget
    assert found["x1"].dependence > 0.3
    assert found["x2"].replacement == ()  # noise is no stand-in
    assert not found["x2"].within_budget
    assert str(found["x2"]) == "x2: none within the budget"


def test_the_best_pair_is_found_among_all():
    def parts(n_rows, seed):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(n_rows, 12))
        X[:, 0] = X[:, 4] + X[:, 9]  # neither says much alone
        return X, X[:, 0] + 0.3 * rng.normal(size=n_rows)

    whole = FeatureSelector(0.05, fixed_features=[0], **SETTINGS).fit(*parts(300, 0))
    (found,) = whole.substitutes(*parts(600, 1))
    assert set(found.replacement) == set(found.pair) == {"x4", "x9"}
    assert found.within_budget
    assert found.pair_increase_upper == found.increase_upper < 0.05
    # A slow twin: the pair whose cells of three bins say most about the bins of the column.
    X = np.argsort(np.argsort(parts(600, 1)[0], axis=0), axis=0) * 3 // 600

    def known(i, j):
        cells = np.zeros((9, 3))
        np.add.at(cells, (3 * X[:, i] + X[:, j], X[:, 0]), 1 / 600)
        outer = cells.sum(1, keepdims=True) * cells.sum(0, keepdims=True)
        return np.sum(cells * np.log(np.maximum(cells, 1e-300) / outer))

    best = max(((i, j) for i in range(1, 12) for j in range(i + 1, 12)), key=lambda ij: known(*ij))
    assert best == (4, 9)


def test_alternatives_are_other_sets_within_the_budget(selector):
    found = selector.alternatives(*with_copies(900, 3), max_overlap=0.5)
    assert found
    best = found[0]
    assert {"x3", "x4"} <= set(best.features)
    assert best.overlap <= 0.5
    assert best.increase_upper <= 0.1
    assert selector.alternatives(*with_copies(900, 3), max_overlap=0.0) == ()


@pytest.mark.parametrize("metric", ["r2", "mae"])
def test_integer_weights_are_repeated_rows(metric):
    X, y = with_copies(200, 7)
    w = np.random.default_rng(8).integers(0, 4, size=200)
    again, fold = np.repeat(np.arange(200), w), np.arange(200) % 4
    selector = FeatureSelector(0.1, metric=metric, fixed_features=[0, 1, 2], **SETTINGS)
    selector.fit(*with_copies(100, 9))
    one = selector.set_params(cv=PredefinedSplit(fold[w > 0])).importance(X, y, sample_weight=w)
    other = selector.set_params(cv=PredefinedSplit(fold[again])).importance(X[again], y[again])
    np.testing.assert_allclose(one.value, other.value, atol=1e-9)
    assert one.n_rows == (w > 0).sum()
    # Repeated rows are no further evidence.
    wide, narrow = (np.subtract(found.upper, found.lower) for found in (one, other))
    assert (wide > narrow).all()
    assert any("worth" in note for note in one.notes)


def test_weights_choose_the_substitute_and_the_alternative():
    # In each half of the rows another column is a copy of the first one.
    def halves(n, seed):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(n, 5))
        first = np.arange(n) < n // 2
        X[first, 1] = X[first, 0] + 0.1 * rng.normal(size=n // 2)
        X[~first, 2] = X[~first, 0] + 0.1 * rng.normal(size=n - n // 2)
        return X, X[:, 0] + 0.3 * rng.normal(size=n), first

    X, y, _ = halves(300, 0)
    kept = FeatureSelector(0.2, fixed_features=[0], **SETTINGS).fit(X, y)
    assert kept.get_support().nonzero()[0].tolist() == [0]
    X, y, first = halves(800, 1)
    for heavy, copy in ((first, "x1"), (~first, "x2")):
        w = np.where(heavy, 1.0, 1e-3)
        (found,) = kept.substitutes(X, y, sample_weight=w)
        assert (found.replacement, found.within_budget) == ((copy,), True)
        assert kept.alternatives(X, y, sample_weight=w)[0].features == (copy,)
    (found,) = kept.substitutes(X, y)
    assert not found.within_budget


def test_what_cannot_be_compared_is_refused(selector):
    X, y = with_copies(40, 4)
    with pytest.raises(ParameterError, match="max_overlap"):
        selector.alternatives(X, y, max_overlap=1.5)
    with pytest.raises(DataError, match="fresh rows"):
        selector.importance(X[:3], y[:3])
    counted = FeatureSelector(FeatureCount(2), **SETTINGS).fit(*with_copies(100, 5))
    with pytest.raises(ParameterError, match="with an error budget"):
        counted.substitutes(X, y)


def test_bars_with_whiskers(selector):
    pyplot = pytest.importorskip("matplotlib.pyplot")
    found = selector.importance(*with_copies(200, 6))
    display = ImportanceDisplay.from_importance(found, n_features=4)
    assert display.features[:3] == ["x0", "x1", "x2"]
    assert len(display.ax_.get_yticklabels()) == 4
    pyplot.close(display.figure_)
    own = ImportanceDisplay.from_estimator(selector)
    assert own.features == ["x0", "x1", "x2"]
    pyplot.close(own.figure_)
    unmeasured = FeatureSelector(0.1, cv=0, **SETTINGS).fit(*with_copies(100, 0))
    with pytest.raises(ParameterError, match="no importance_"):
        ImportanceDisplay.from_estimator(unmeasured)


@pytest.mark.slow
@pytest.mark.parametrize("design", ["linear", "correlated", "classes", "heavy"])
def test_intervals_cover_the_increase_of_models_of_as_many_rows(design):
    """The mean of other tables: by noise, models of 40 000 rows lose nothing, and these do."""
    kept = FeatureSelector(0.5, fixed_features=[0, 1], **SETTINGS).fit(*draw(design, 200, 0))

    def frames(first, n_tables):
        for seed in range(first, first + n_tables):
            yield kept.importance(*draw(design, 400, seed)).to_frame().set_index("feature")

    others = [frame["importance"] for frame in frames(1000, 200)]
    truth = sum(others) / len(others)
    covered = [
        bool(((frame["lower"] <= truth) & (truth <= frame["upper"])).all())
        for frame in (frame.loc[truth.index] for frame in frames(100, 120))
    ]
    assert np.mean(covered) >= 0.93
